"""The judges judged: over the recorded traffic, over documents with a fault, and over replies known to be equal."""

import json
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from . import clients
from .clients import equal, events_in, read_body, read_events, read_stream, seen_in
from .judges import complaint
from .seen import Custom, NoJson, Seen
from .shared import SHARED

PROTOCOLS = ("chat", "responses", "messages")
recorded = pytest.mark.skipif(SHARED is None, reason="needs the recorded traffic of the shared folder")

# Where the index and the judges differ on purpose.
LOST_BLANK_LINES = {"chat/stream/openai-php-001.sse"}  # The index takes events without blank lines between for no JSON.
ERROR_FRAMES = {  # The index holds the last frame, an error, to the type of a chunk; the client raises it as an error.
    "chat/stream/openai-php-002.sse",
    "chat/stream/pydantic-ai-045.sse",
    "chat/stream/pydantic-ai-046.sse",
}
# The index was made before the types came to require this count of Responses usage; elsewhere it may be missing.
NEW_COUNT = "input_tokens_details.cache_write_tokens: Field required"

# Replies that the client's own helper cannot put together: the first word of what it does, and why.
HELPER_FAILS = {
    "chat/stream/dd-trace-py-012.sse": ("usage", "takes the usage of the last chunk, and it stands in an earlier one"),
    "chat/stream/pydantic-ai-052.sse": ("usage", "takes the usage of the last chunk, and it stands in an earlier one"),
    "chat/stream/logfire-004.sse": ("raises", "wants an index in each entry of reasoning_details"),
    "chat/stream/pydantic-ai-088.sse": ("raises", "wants an index in each entry of annotations"),
    "responses/stream/openai-php-005.sse": ("stop", "drops the last event, which no empty line ends"),
}


def rows(protocol: str, kind: str) -> list[dict]:
    lines = (SHARED / "corpus" / "index.jsonl").read_text().splitlines()
    return [row for row in map(json.loads, lines) if (row["protocol"], row["kind"]) == (protocol, kind)]


def parsed(kind: str, data: bytes):
    return events_in(data) if kind == "stream" else json.loads(data)


def with_new_count(value):
    """A document in which the count that became required later is nought where it is missing."""
    if isinstance(value, list):
        return [with_new_count(one) for one in value]
    if not isinstance(value, dict):
        return value
    value = {key: with_new_count(one) for key, one in value.items()}
    if isinstance(value.get("input_tokens_details"), dict):
        value["input_tokens_details"].setdefault("cache_write_tokens", 0)
    return value


@recorded
@pytest.mark.parametrize("kind", ["request", "response", "stream", "error"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_verdict_on_recorded_traffic_is_that_of_its_index(protocol, kind):
    wrong = []
    for row in rows(protocol, kind):
        try:
            value = parsed(kind, (SHARED / "corpus" / row["file"]).read_bytes())
        except ValueError:
            why = "not JSON"
        else:
            why = complaint(protocol, kind, value)
            if why and why.endswith(NEW_COUNT):
                why = complaint(protocol, kind, with_new_count(value))
        if (why is None) != (row["valid"] or row["file"] in LOST_BLANK_LINES | ERROR_FRAMES):
            wrong.append((row["file"], row.get("why"), why))
    assert rows(protocol, kind)
    assert not wrong


@recorded
@pytest.mark.parametrize("kind", ["response", "stream", "error"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_client_sees_in_recorded_traffic_what_is_in_it(protocol, kind):
    wrong = {}
    for row in rows(protocol, kind):
        if not row["valid"]:
            continue
        data = (SHARED / "corpus" / row["file"]).read_bytes()
        source = seen_in(protocol, kind, parsed(kind, data))
        try:
            seen = read_stream(protocol, data) if kind == "stream" else read_body(protocol, kind, data)
        except RuntimeError as error:
            wrong[row["file"]] = f"raises: {error}"
        else:
            if differences := equal(protocol, source, protocol, seen):
                wrong[row["file"]] = differences[0]
        if row["file"] in HELPER_FAILS and data.endswith(b"\n\n"):
            assert not equal(protocol, source, protocol, read_events(protocol, data)), row["file"]
    found = {file: said.split(":")[0] for file, said in wrong.items()}
    assert found == {file: did for file, (did, _) in HELPER_FAILS.items() if file.startswith(f"{protocol}/{kind}/")}


PING = {"type": "ping"}
CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []}
TOOL = {"type": "function", "function": {"name": "f"}}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
FUNCTION = {"type": "function", "name": "f", "parameters": {}, "strict": True}
ASK = {"model": "m", "messages": [{"role": "user", "content": "Hi"}, {"role": "user", "content": "Hi"}]}
ITEMS = [{"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}]
OUTPUT = {"type": "function_call_output", "call_id": "1", "output": "2"}
ANSWER = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": []}
RESPONSE = {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": []}
RESPONSE |= {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
USAGE = {"input_tokens": 1, "output_tokens": 1}
MESSAGE = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": USAGE}
MESSAGE |= {"stop_reason": "end_turn"}
FAULT = {"message": "No.", "type": "invalid_request_error", "param": None, "code": None}
CREATED = {"type": "response.created", "sequence_number": 0, "response": RESPONSE}
DELTA = {"type": "response.refusal.delta", "item_id": "i", "output_index": 0, "content_index": 0, "delta": "No"}
DELTA |= {"sequence_number": 1}

# Protocol, kind, a good document, the place in it that is put out of order, what is put there, where the complaint is.
MISSING = object()
FAULTS = [
    ("chat", "request", ASK, ["model"], MISSING, "model"),
    ("chat", "request", ASK, ["messages", 1, "content"], 5, "messages.1"),
    ("chat", "request", ASK, ["messages", 1, "role"], "robot", "messages.1"),
    ("chat", "request", ASK | {"tools": [TOOL, TOOL]}, ["tools", 1, "function", "name"], MISSING, "tools.1"),
    ("chat", "request", ASK, ["temperature"], "1", "temperature"),
    ("chat", "request", ASK | {"stream": True}, ["stream"], "yes", "stream"),
    ("responses", "request", {"input": ITEMS}, ["input", 0, "content", 0, "text"], MISSING, "input.0"),
    ("responses", "request", {"input": [*ITEMS, OUTPUT]}, ["input", 1, "output"], MISSING, "input.1"),
    ("responses", "request", {"tools": [FUNCTION, FUNCTION]}, ["tools", 1, "strict"], MISSING, "tools.1"),
    ("messages", "request", ASK | {"max_tokens": 5}, ["max_tokens"], MISSING, "max_tokens"),
    ("messages", "request", ASK | {"max_tokens": 5}, ["max_tokens"], 5.5, "max_tokens"),
    (
        "messages",
        "request",
        {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": [IMAGE, IMAGE]}]},
        ["messages", 0, "content", 1, "source", "media_type"],
        "image/bmp",
        "messages.0",
    ),
    ("chat", "response", ANSWER, ["choices"], MISSING, "choices"),
    ("chat", "response", ANSWER, ["created"], "1", "created"),
    ("chat", "response", ANSWER, ["choices"], [{"index": 0, "message": {"role": "assistant"}}], "choices.0"),
    ("responses", "response", RESPONSE, ["tools"], MISSING, "tools"),
    ("responses", "response", RESPONSE, ["output"], [{"type": "function_call", "name": "f"}], "output.0"),
    ("messages", "response", MESSAGE, ["usage", "output_tokens"], MISSING, "usage.output_tokens"),
    ("messages", "response", MESSAGE, ["stop_reason"], "stop", "stop_reason"),
    ("messages", "response", MESSAGE, ["content"], [{"type": "text"}], "content.0"),
    ("chat", "stream", [CHUNK, CHUNK], [1, "id"], MISSING, "1.id"),
    ("chat", "stream", [CHUNK, {"error": FAULT}], [1, "error", "message"], MISSING, "1.message"),
    ("responses", "stream", [CREATED, DELTA], [1, "item_id"], MISSING, "1."),
    ("responses", "stream", [CREATED, DELTA], [1, "type"], "response.never", "1."),
    ("messages", "stream", [PING, {"type": "message_start", "message": MESSAGE}], [1, "message", "id"], MISSING, "1."),
    ("messages", "stream", [PING, {"type": "error", "error": FAULT}], [1, "error", "type"], "odd", "1.error"),
    ("chat", "error", {"error": FAULT}, ["error", "message"], MISSING, "message"),
    ("responses", "error", {"error": FAULT}, ["error"], MISSING, "error"),
    ("messages", "error", {"type": "error", "error": FAULT}, ["type"], MISSING, "type"),
]


@pytest.mark.parametrize(("protocol", "kind", "good", "place", "fault", "where"), FAULTS)
def test_a_fault_is_refused_with_its_place(protocol, kind, good, place, fault, where):
    assert complaint(protocol, kind, good) is None
    bad = json.loads(json.dumps(good))
    home = bad
    for key in place[:-1]:
        home = home[key]
    if fault is MISSING:
        del home[place[-1]]
    else:
        home[place[-1]] = fault
    assert complaint(protocol, kind, bad).startswith(where)


def test_beta_types_are_asked_where_the_plain_ones_refuse():
    block = {"type": "mcp_tool_use", "id": "u", "name": "f", "server_name": "s", "input": {}}
    assert complaint("messages", "response", MESSAGE | {"content": [block]}) is None
    assert complaint("messages", "response", MESSAGE | {"content": [{**block, "id": 1}]})


def test_a_lone_surrogate_is_no_complaint():
    assert complaint("chat", "request", {**ASK, "user": "\ud83d"}) is None


# One reply in each protocol, with the numbers of the worked example in spec/responses.md §10.
CALL = {"name": "add", "arguments": '{"a": 1, "b": [2.5, null]}'}
CHAT_REPLY = {
    **ANSWER,
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": "One moment.",
                "reasoning_content": "Add them.\n\nThen tell.",
                "tool_calls": [{"id": "1", "type": "function", "function": CALL}],
            },
        }
    ],
    "usage": {
        "prompt_tokens": 6120,
        "completion_tokens": 350,
        "total_tokens": 6470,
        "prompt_tokens_details": {"cached_tokens": 5000, "cache_write_tokens": 1000},
        "completion_tokens_details": {"reasoning_tokens": 200},
    },
}
RESPONSES_REPLY = {
    **RESPONSE,
    "status": "completed",
    "output": [
        {"type": "reasoning", "id": "r0", "summary": [{"type": "summary_text", "text": "Add them."}]},
        {"type": "reasoning", "id": "r1", "summary": [], "content": [{"type": "reasoning_text", "text": "Then tell."}]},
        {
            "type": "message",
            "id": "m0",
            "role": "assistant",
            "status": "completed",
            "content": [
                {"type": "output_text", "text": "One ", "annotations": []},
                {"type": "output_text", "text": "moment.", "annotations": []},
            ],
        },
        {"type": "function_call", "id": "1", "call_id": "1", **CALL},
    ],
    "usage": {
        "input_tokens": 6120,
        "output_tokens": 350,
        "total_tokens": 6470,
        "input_tokens_details": {"cached_tokens": 5000, "cache_write_tokens": 1000},
        "output_tokens_details": {"reasoning_tokens": 200},
    },
}
MESSAGES_REPLY = {
    **MESSAGE,
    "stop_reason": "tool_use",
    "content": [
        {"type": "thinking", "thinking": "Add them.", "signature": ""},
        {"type": "thinking", "thinking": "Then tell.", "signature": ""},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": "One moment."},
        {"type": "tool_use", "id": "1", "name": "add", "input": {"b": [2.5, None], "a": 1}},
    ],
    "usage": {
        "input_tokens": 120,
        "cache_creation_input_tokens": 1000,
        "cache_read_input_tokens": 5000,
        "output_tokens": 350,
        "output_tokens_details": {"thinking_tokens": 200},
    },
}
REPLIES = {"chat": CHAT_REPLY, "responses": RESPONSES_REPLY, "messages": MESSAGES_REPLY}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_client_sees_every_part_of_a_reply(protocol):
    assert complaint(protocol, "response", REPLIES[protocol]) is None
    seen = read_body(protocol, "response", json.dumps(REPLIES[protocol]).encode())
    assert seen == seen_in(protocol, "response", REPLIES[protocol])
    assert seen.text == "One moment."
    assert seen.calls == [("add", {"a": 1, "b": [2.5, None]})]
    assert "\n\n".join(seen.reasoning) == "Add them.\n\nThen tell."
    assert seen.stop == {"chat": "tool_calls", "responses": "completed", "messages": "tool_use"}[protocol]
    assert seen.usage == {
        "input": 6120,
        "cached": 5000,
        "written": 1000,
        "output": 350,
        "reasoning": 200,
        "total": 6470,
    }


@pytest.mark.parametrize(("source", "target"), list(permutations(PROTOCOLS, 2)))
def test_what_is_equal_is_equal_and_what_is_not_is_told(source, target):
    ours, theirs = (seen_in(protocol, "response", REPLIES[protocol]) for protocol in (source, target))
    if source == "chat":  # One text there may be several blocks, which are then not parted by more than they say.
        theirs.reasoning = ["Add them.\n\n", "Then tell."]
    assert equal(source, ours, target, theirs) == []
    faults = {
        "text": "One moment",
        "calls": [("add", {"a": 1, "b": [2.5]})],
        "reasoning": ["Add them."],
        "refusal": "No.",
        "stop": "length",
        "usage": {**theirs.usage, "cached": 0},
        "error": {"type": "server_error", "code": None, "message": "Down."},
    }
    for name, fault in faults.items():
        differences = equal(source, ours, target, replace(theirs, **{name: fault}))
        assert [one.split(":")[0] for one in differences] == [name]


# Source, what is seen there, target, its stop: the rows of spec/responses.md §4 and §9 that are not one word for one.
CALLED = [("f", {})]
STOPS = [
    ("chat", {"stop": "stop", "calls": CALLED}, "messages", "tool_use"),
    ("chat", {"stop": "stop", "calls": CALLED}, "responses", "completed"),
    ("chat", {"stop": "stop", "refusal": "No.", "wording": True}, "messages", "refusal"),
    ("chat", {"stop": "stop", "stop_string": "END"}, "messages", "stop_sequence"),
    ("chat", {"stop": "eos"}, "messages", "end_turn"),
    ("chat", {"stop": "eos"}, "responses", "completed"),
    ("responses", {"stop": "completed", "calls": CALLED}, "chat", "tool_calls"),
    ("responses", {"stop": "completed", "calls": CALLED}, "messages", "tool_use"),
    ("responses", {"stop": "completed", "refusal": "No.", "wording": True}, "messages", "refusal"),
    ("responses", {"stop": "incomplete/max_messages"}, "messages", "max_tokens"),
    ("messages", {"stop": "refusal", "refusal": "No.", "wording": True}, "chat", "stop"),
    ("messages", {"stop": "refusal", "refusal": "No.", "wording": True}, "responses", "completed"),
    ("messages", {"stop": "refusal", "refusal": "Policy."}, "chat", "content_filter"),
    ("messages", {"stop": "pause_turn"}, "chat", "stop"),
    ("messages", {"stop": "end_turn", "calls": CALLED}, "chat", "stop"),
    ("messages", {"stop": "odd"}, "responses", "completed"),
]


@pytest.mark.parametrize(("source", "seen", "target", "stop"), STOPS)
def test_a_stop_is_held_to_the_tables(source, seen, target, stop):
    theirs = Seen(**{**seen, "stop": stop})
    assert equal(source, Seen(**seen), target, theirs) == []
    assert equal(source, Seen(**seen), target, replace(theirs, stop="pause_turn"))


def test_an_action_for_the_client_is_a_call_to_messages_alone():
    action = {"type": "exec", "command": ["ls"], "env": {}}
    item = {"type": "local_shell_call", "id": "1", "call_id": "1", "status": "completed", "action": action}
    source = read_body(
        "responses", "response", json.dumps({**RESPONSE, "status": "completed", "output": [item]}).encode()
    )
    assert equal("responses", source, "chat", Seen(stop="tool_calls")) == []
    assert equal("responses", source, "messages", Seen(stop="tool_use", calls=[("bash", action)])) == []
    assert equal("responses", source, "messages", Seen(stop="tool_use"))


def test_calls_that_the_target_writes_otherwise():
    free, cut = Seen(calls=[("f", Custom("x"))]), Seen(calls=[("f", NoJson("{"))])
    assert equal("chat", free, "messages", Seen(calls=[("f", {"input": "x"})])) == []
    assert equal("chat", free, "messages", Seen(calls=[("f", {"input": "y"})]))
    assert equal("responses", cut, "messages", Seen(calls=[("f", {"_raw": "{"})])) == []
    assert equal("messages", Seen(calls=[("f", {"_raw": "{"})]), "chat", cut) == []
    assert equal("chat", replace(cut, kind="stream"), "messages", cut) == []
    # The digits are those of `printf a.b | sha256sum`.
    assert equal("messages", Seen(calls=[("a.b", {})]), "chat", Seen(calls=[("a_b_2e7336dc", {})])) == []
    assert equal("messages", Seen(calls=[("a.b", {})]), "chat", Seen(calls=[("a_b", {})]))


def event_stream(protocol: str, events: list) -> bytes:
    frames = [
        (f"event: {event['type']}\n" if protocol != "chat" else "") + f"data: {json.dumps(event)}\n\n"
        for event in events
    ]
    return "".join([*frames, "data: [DONE]\n\n" if protocol == "chat" else ""]).encode()


def chunk(delta: dict, finish: str | None = None) -> dict:
    return CHUNK | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call_piece(index: int, arguments: str, **more: str) -> dict:
    function = {"arguments": arguments, **({"name": "f"} if more else {})}
    return {"tool_calls": [{"index": index, "function": function, **more}]}


CHAT_CALLS = [
    chunk({"role": "assistant", "reasoning_content": "Hm"}),
    chunk(call_piece(0, '{"a":', id="1", type="function")),
    chunk(call_piece(1, "", id="2", type="function")),
    chunk(call_piece(0, " 1}")),
    chunk({}, "tool_calls"),
    CHUNK | {"usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}},
]
STARTED = {"type": "message_start", "message": MESSAGE}
OPENED = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
SAID = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}}
ENDED = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}}
ITEM = {"type": "message", "id": "i", "role": "assistant", "status": "in_progress", "content": []}
ADDED = {"type": "response.output_item.added", "output_index": 0, "sequence_number": 1, "item": ITEM}
PART = {"type": "response.content_part.added", "output_index": 0, "content_index": 0, "item_id": "i"}
PART |= {"sequence_number": 2, "part": {"type": "output_text", "text": "", "annotations": []}}
TEXT = {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "item_id": "i", "delta": "Hi"}
TEXT |= {"sequence_number": 3, "logprobs": []}
ENDING = ITEM | {"status": "completed", "content": [{"type": "output_text", "text": "Hi", "annotations": []}]}
COMPLETED = {"type": "response.completed", "sequence_number": 4}
COMPLETED |= {"response": RESPONSE | {"status": "completed", "output": [ENDING]}}

WAYS = [
    ("chat", CHAT_CALLS, "helper", {"calls": [("f", {"a": 1}), ("f", {})], "reasoning": ["Hm"], "stop": "tool_calls"}),
    ("chat", [chunk({"content": "Hi"}, "length")], "create", {"text": "Hi", "stop": "length"}),
    ("chat", [chunk({"content": "Hi"}), {"error": FAULT}], "create", {"text": "Hi", "stop": None}),
    ("responses", [CREATED, ADDED, PART, TEXT, COMPLETED], "helper", {"text": "Hi", "stop": "completed"}),
    ("responses", [CREATED, ADDED, PART, TEXT], "create", {"text": "Hi", "stop": None}),
    ("messages", [STARTED, PING, OPENED, SAID, ENDED], "helper", {"text": "Hi", "stop": "end_turn"}),
    ("messages", [STARTED, OPENED, SAID, {"type": "error", "error": FAULT}], "create", {"text": "Hi"}),
]


@pytest.mark.parametrize(("protocol", "events", "way", "parts"), WAYS)
def test_a_stream_is_read_by_the_helper_where_that_can_finish(protocol, events, way, parts):
    seen = read_stream(protocol, event_stream(protocol, events))
    assert seen.way == way
    assert {name: getattr(seen, name) for name in parts} == parts
    assert equal(protocol, seen_in(protocol, "stream", events), protocol, seen) == []
    assert (seen.error is not None) == ("error" in str(events[-1]))


def test_pieces_that_do_not_add_up_to_the_final_reply_are_told():
    events = [CREATED, ADDED, PART, TEXT | {"delta": "Ho"}, COMPLETED]
    seen = read_stream("responses", event_stream("responses", events))
    source = replace(seen, text="Hi", live=None)
    differences = equal("responses", source, "responses", seen)
    assert [one.split(":")[0] for one in differences] == ["live text"]


@pytest.mark.parametrize(
    ("protocol", "events"),
    [
        ("responses", [CREATED, ADDED, TEXT, COMPLETED]),  # no part was added
        ("responses", [ADDED, PART, TEXT, COMPLETED]),  # no response was created
        ("messages", [STARTED, OPENED | {"index": 1}, SAID | {"index": 1}, ENDED]),  # a gap in the indexes
        ("chat", [CHAT_CALLS[0], chunk(call_piece(1, "{}", id="1", type="function")), *CHAT_CALLS[4:]]),  # the same
    ],
)
def test_a_fault_that_makes_the_helper_raise_is_not_hidden(protocol, events):
    with pytest.raises((RuntimeError, IndexError)):
        read_stream(protocol, event_stream(protocol, events))


@pytest.mark.parametrize(
    ("ours", "theirs", "type_", "code"),
    [
        ("messages", "chat", "rate_limit_error", "rate_limit_exceeded"),
        ("chat", "messages", "invalid_request_error", None),
    ],
)
def test_an_error_is_raised_by_the_client_and_compared(ours, theirs, type_, code):
    fault = {"type": "rate_limit_error", "message": "Slow."} if ours == "messages" else {**FAULT, "message": "Slow."}
    source = seen_in(ours, "error", {"type": "error", "error": fault})
    body = {"type": "error", "error": {"type": type_, "code": code, "param": None, "message": "Slow."}}
    seen = read_body(theirs, "error", json.dumps(body).encode(), 429)
    assert seen.way == "error"
    assert equal(ours, source, theirs, seen) == []
    for name, value in (("message", "Fast."), ("type", "odd")):
        assert equal(ours, source, theirs, replace(seen, error={**seen.error, name: value}))


def test_no_proxy_of_the_environment_is_asked(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    clients.client.cache_clear()
    for protocol in PROTOCOLS:
        assert read_body(protocol, "response", json.dumps(REPLIES[protocol]).encode()).text == "One moment."
    clients.client.cache_clear()


def test_the_shared_folder_is_found_or_is_none():
    assert SHARED is None or (isinstance(SHARED, Path) and (SHARED / "corpus").is_dir())
