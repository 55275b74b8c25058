"""What was decided where sources disagree (`spec/decisions.md`), each decision by a table of small documents.

The way back (D1) has tests of its own, and so have the choices of §2 and the trips of §1.
"""

import hashlib
import re
from typing import Any

import pytest

from proxai_cli import Pipe, collect, explode, text, translate
from proxai_cli.cli import app
from proxai_cli.errors import NotPossible, ProxaiError
from proxai_cli.ir.events import DONE
from proxai_cli.pipe import written

from .small import USER, answer, ask, at, findings, reasons, stream_of, streamed, told, wire

THREE = ("chat", "responses", "messages")
SIX = [(source, target) for source in THREE for target in THREE if source != target]
TOOL = {
    "chat": {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}},
    "responses": {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}, "strict": False},
    "messages": {"name": "f", "input_schema": {"type": "object", "properties": {}}},
}


def message(*parts: Any, id: str = "msg_r") -> dict[str, Any]:
    """A Responses message item with these texts, or parts."""
    content = [
        {"type": "output_text", "annotations": [], "text": part} if isinstance(part, str) else part for part in parts
    ]
    return {"id": id, "type": "message", "status": "completed", "role": "assistant", "content": content}


def said_text(protocol: str, words: str) -> Any:
    """What a reply with one text has as its content."""
    return {"chat": {"content": words}, "responses": [message(words)], "messages": [{"type": "text", "text": words}]}[
        protocol
    ]


def called(protocol: str, arguments: str = '{"x":1}', id: str = "call_1") -> Any:
    """What a reply with one call has as its content."""
    return {
        "chat": {"tool_calls": [{"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}}]},
        "responses": [
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": id,
                "name": "f",
                "arguments": arguments,
                "status": "completed",
            }
        ],
        "messages": [{"type": "tool_use", "id": id, "name": "f", "input": parsed(arguments)}],
    }[protocol]


def parsed(arguments: str) -> Any:
    try:
        return text.loads(arguments)
    except ProxaiError:
        return None


def with_call(protocol: str, arguments: str = "{}", id: str = "call_1", result: str | None = "r") -> dict[str, Any]:
    """A request whose history holds a call, with its result unless that is None."""
    said = called(protocol, arguments, id)
    if protocol == "responses":
        back = [{"type": "function_call_output", "call_id": id, "output": result}]
        return ask(protocol, USER, *said, *(back if result is not None else []))
    call = (
        {"role": "assistant", "content": None, **said} if protocol == "chat" else {"role": "assistant", "content": said}
    )
    answered = (
        {"role": "tool", "tool_call_id": id, "content": result}
        if protocol == "chat"
        else {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": result}]}
    )
    return ask(protocol, USER, call, *([answered] if result is not None else []))


def stop_of(protocol: str, value: Any) -> Any:
    """The word for the end of a reply, in Responses with its reason; of an error body its code or type."""
    if value.get("error"):
        return "error", value["error"].get("code") or value["error"]["type"]
    if protocol == "chat":
        return at(value, "choices", 0, "finish_reason")
    if protocol == "messages":
        return value["stop_reason"]
    reason = at(value, "incomplete_details", "reason")
    return f"{value['status']}/{reason}" if reason else value["status"]


def ends(source: str, target: str, document: Any) -> tuple[Any, list[str]]:
    """How a reply ends in the target, or the code with which it is refused; and what was noticed."""
    try:
        done = told(document, source, target, "response")
    except NotPossible as error:
        return error.code, []
    return stop_of(target, done.value), findings(done)


# D2: degrade, and say so; what the target refuses is never written.


def test_exit_codes(tmp_path: Any, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    (tmp_path / "a.json").write_bytes(text.dumps(ask("chat", seed=7)))
    call = ["convert", str(tmp_path / "a.json"), "--to", "messages"]
    for more, code in (([], 0), (["--fail-on", "loss"], 1), (["--fail-on", "risk"], 0)):
        assert app.main([*call, *more]) == code
        assert text.loads(capsysbinary.readouterr().out)["messages"] == [USER]


def test_no_silent_drop() -> None:
    done = told(ask("chat", {**USER, "name": "ada"}, seed=7, frequency_penalty=0.5, novelty=1), "chat", "messages")
    dropped = {entry.source: (entry.why, entry.level) for entry in done.ledger.entries if entry.fate == "dropped"}
    assert dropped == {
        ("messages", 0, "name"): ("no-equivalent", "loss"),
        ("seed",): ("no-equivalent", "loss"),
        ("frequency_penalty",): ("no-equivalent", "risk"),
        ("novelty",): ("unknown-field", "loss"),
    }


def shortened(old: str, limit: int) -> str:
    """What stands for an id of legal characters that is too long, or for one that has others."""
    mark = "_" + hashlib.sha256(old.encode()).hexdigest()[:8]
    return re.sub("[^A-Za-z0-9_-]", "_", old)[-(limit - len(mark)) :] + mark


@pytest.mark.parametrize(
    ("source", "target", "document", "place", "seen", "why"),
    [
        ("chat", "messages", ask("chat", {"role": "assistant", "content": "", **called("chat", "{}")}), ("messages", 0, "content", 0, "type"), "tool_use", "target-rejects"),
        ("chat", "messages", ask("chat", stop=["END", " "]), ("stop_sequences",), ["END"], "target-rejects"),
        ("chat", "messages", ask("chat", user="a@b.example"), ("metadata",), None, "target-rejects"),
        ("chat", "messages", with_call("chat", id="call:1"), ("messages", 1, "content", 0, "id"), shortened("call:1", 4096), "legal-id"),
        ("messages", "chat", with_call("messages", result=None), ("messages", 2, "content"), "[no result in the capture]", "missing-result"),
        ("messages", "chat", ask("messages", stop_sequences=list("abcde")), ("stop",), list("abcd"), "target-rejects"),
        ("messages", "responses", ask("messages", metadata={"user_id": "u" * 130}), ("safety_identifier",), shortened("u" * 130, 128), "legal-id"),
        ("responses", "messages", ask("responses", {"type": "function_call_output", "call_id": "c", "output": "o"}), ("messages", 0, "content"), "o", "orphan-result"),
    ],
)  # fmt: skip
def test_what_is_refused_is_not_written(
    source: str, target: str, document: Any, place: Any, seen: Any, why: str
) -> None:
    done = told(document, source, target)
    assert at(done.value, *place) == seen
    assert why in {entry.why for entry in done.ledger.entries}


# D3: sources may interleave, what goes to Messages does not, unless --interleave asks for it.


def fragment(index: int, arguments: str, name: str | None = None) -> dict[str, Any]:
    """A chunk with one piece of a call; the first names it."""
    first = {"id": f"call_{name}", "type": "function"} if name else {}
    function = {"name": name, "arguments": arguments} if name else {"arguments": arguments}
    return chunk({"tool_calls": [{"index": index, **first, "function": function}]})


def chunk(delta: Any, stop: str | None = None, **more: Any) -> dict[str, Any]:
    choices = [{"index": 0, "delta": delta, "finish_reason": stop}]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 5,
        "model": "m",
        "choices": choices,
        **more,
    }


CROSSED = [
    chunk({"role": "assistant", "content": "Looking"}),
    fragment(0, "", "wind"),
    fragment(1, "", "rain"),
    fragment(0, '{"at":'),
    fragment(1, '{"in":'),
    fragment(0, '"Oslo"}'),
    fragment(1, '"Bergen"}'),
    chunk({}, "tool_calls"),
    DONE,
]


def blocks(events: list[Any]) -> list[tuple[str, int]]:
    """The events of blocks in a Messages stream: `+` for a start, `.` for a delta, `-` for a stop, and the index."""
    marks = {"content_block_start": "+", "content_block_delta": ".", "content_block_stop": "-"}
    return [(marks[event["type"]], event["index"]) for event in events if event["type"] in marks]


def test_stream_chat_interleaved_tools() -> None:
    whole, _ = streamed(CROSSED, "chat", "messages")
    crossed, _ = streamed(CROSSED, "chat", "messages", {"interleave": "true"})
    spelled = lambda events: " ".join(f"{mark}{index}" for mark, index in blocks(events))  # noqa: E731
    assert spelled(whole) == "+0 .0 -0 +1 .1 .1 -1 +2 .2 .2 -2"
    assert spelled(crossed) == "+0 .0 -0 +1 +2 .1 .2 .1 .2 -1 -2"
    assert collect(whole, "messages").value == collect(crossed, "messages").value


def test_sdk_accumulate_messages() -> None:
    clients = pytest.importorskip("tests.clients")
    for choices in ({}, {"interleave": "true"}):
        out, _ = streamed(CROSSED, "chat", "messages", choices)
        seen = clients.read_events("messages", written(out, "messages"))
        assert (seen.text, seen.calls) == ("Looking", [("wind", {"at": "Oslo"}), ("rain", {"in": "Bergen"})])


@pytest.mark.parametrize("choices", [{}, {"interleave": "true"}])
def test_index_contiguous(choices: dict[str, str]) -> None:
    """Also from sources whose own indexes have gaps."""
    gaps = [
        chunk({"role": "assistant"}),
        fragment(7, "{}", "wind"),
        fragment(3, "{}", "rain"),
        chunk({}, "tool_calls"),
        DONE,
    ]
    out, _ = streamed(gaps, "chat", "messages", choices)
    assert [index for mark, index in blocks(out) if mark == "+"] == [0, 1]


# D4: two versions of the Messages API.


@pytest.mark.parametrize(
    ("heat", "version", "seen", "why"),
    [
        (0.5, "2023-06-01", 0.5, None),
        (1.5, "2023-06-01", 1, "clamp-temperature"),
        (0.5, "2026-10-21", None, "target-rejects"),
        (1, "2026-10-21", None, "target-rejects"),
    ],
)
def test_temperature_profiles(heat: float, version: str, seen: Any, why: str | None) -> None:
    for known in ({"choices": {"anthropic-version": version}}, {"headers": {"anthropic-version": version}}):
        done = told(ask("chat", temperature=heat), "chat", "messages", **known)
        assert done.value.get("temperature") == seen
        assert reasons(done, "temperature")[0][1] == why


def test_top_k_both_ways() -> None:
    for target in ("chat", "responses"):
        done = told(ask("messages", top_k=5), "messages", target)
        assert reasons(done, "top_k") == [("dropped", "no-equivalent")] and "top_k" not in done.value
    assert told(ask("messages", top_k=5), "messages", "messages").value["top_k"] == 5
    for version, seen in (("2023-06-01", 0.5), ("2026-10-21", None)):
        done = told(ask("responses", top_p=0.5), "responses", "messages", choices={"anthropic-version": version})
        assert done.value.get("top_p") == seen


# D5, D6: instructions keep their place and their boundaries.


@pytest.mark.parametrize(("source", "target"), SIX)
def test_mid_system_position(source: str, target: str) -> None:
    value = told(ask(source, USER, {"role": "system", "content": "Late"}, USER), source, target).value
    home = "input" if target == "responses" else "messages"
    assert [(turn["role"], turn["content"]) for turn in value[home]] == [
        ("user", "Hi"),
        ("system", "Late"),
        ("user", "Hi"),
    ]


def test_system_blocks_boundaries() -> None:
    head = [{"role": role, "content": words} for role, words in (("system", "A"), ("developer", "B"))]
    there = told(ask("chat", *head, USER), "chat", "messages")
    assert there.value["system"] == [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]
    assert reasons(there, "messages", 1, "role")[0][1] == "role-merge"
    marked = [{"type": "text", "text": "A", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "B"}]
    for target in ("chat", "responses"):
        value = told(ask("messages", system=marked), "messages", target).value
        parts = at(value, "input" if target == "responses" else "messages", 0, "content")
        assert [(part["text"], "prompt_cache_breakpoint" in part) for part in parts] == [("A", True), ("B", False)]
        assert told(value, target, "messages").value["system"] == marked


# D7: a model's refusal is its own words, a classifier's stop is a cut.

WORDS, TOLD = "I will not.", "Stopped for safety."
REFUSED = {
    "chat": answer("chat", {"content": "A", "refusal": WORDS}),
    "responses": answer("responses", [message("A"), message({"type": "refusal", "refusal": WORDS})]),
    "messages": answer(
        "messages",
        [{"type": "text", "text": "A"}, {"type": "text", "text": WORDS}],
        "refusal",
        stop_details={"type": "refusal", "category": None, "explanation": WORDS},
    ),
}
STOPPED = {
    "chat": answer("chat", {"content": "A", "refusal": TOLD}, "content_filter"),
    "responses": answer(
        "responses",
        [message("A", {"type": "refusal", "refusal": TOLD})],
        "incomplete",
        incomplete_details={"reason": "content_filter"},
    ),
    "messages": answer(
        "messages",
        [{"type": "text", "text": "A"}],
        "refusal",
        stop_details={"type": "refusal", "category": None, "explanation": TOLD},
    ),
}


def refusal_in(protocol: str, value: Any) -> tuple[Any, ...]:
    """How a reply ends, its texts, its refusals, and what explains a stop."""
    if protocol == "chat":
        said = value["choices"][0]["message"]
        return stop_of(protocol, value), [said["content"]], [said["refusal"]]
    if protocol == "messages":
        texts = [block["text"] for block in value["content"]]
        return stop_of(protocol, value), texts, [value["stop_details"]["explanation"]]
    parts = [part for item in value["output"] for part in item["content"]]
    said = [[part[name] for part in parts if name in part] for name in ("text", "refusal")]
    return stop_of(protocol, value), *said


@pytest.mark.parametrize(("source", "target"), SIX)
@pytest.mark.parametrize("replies", [REFUSED, STOPPED], ids=["wording", "stop"])
def test_refusal_six_directions(replies: Any, source: str, target: str) -> None:
    value = told(replies[source], source, target, "response").value
    assert refusal_in(target, value) == refusal_in(target, replies[target])
    if target == "messages" and replies is REFUSED:
        assert value["content"][-1]["text"] == value["stop_details"]["explanation"]


@pytest.mark.parametrize(("source", "target"), SIX)
@pytest.mark.parametrize("replies", [REFUSED, STOPPED], ids=["wording", "stop"])
def test_refusal_roundtrip(replies: Any, source: str, target: str) -> None:
    there = told(replies[source], source, target, "response").value
    assert refusal_in(source, told(there, target, source, "response").value) == refusal_in(source, replies[source])


# D8: free-text tools are wrapped for Messages, and come out again.

GRAMMAR = {"definition": "start: /a+/", "syntax": "lark"}
CUSTOM = {
    "chat": {"type": "custom", "custom": {"name": "sql", "format": {"type": "grammar", "grammar": GRAMMAR}}},
    "responses": {"type": "custom", "name": "sql", "format": {"type": "grammar", **GRAMMAR}},
}
FREE = 'SELECT "a\\b"\n\tFROM \u2028'


@pytest.mark.parametrize("source", ["chat", "responses"])
def test_custom_tool_wrap(source: str) -> None:
    request = ask(source, tools=[CUSTOM[source]])
    done = told(request, source, "messages")
    (tool,) = done.value["tools"]
    assert tool["name"] == "sql" and tool["input_schema"]["properties"] == {"input": {"type": "string"}}
    assert tool["input_schema"]["required"] == ["input"]
    assert "wrap-custom" in {entry.why for entry in done.ledger.entries}
    reply = answer("messages", [{"type": "tool_use", "id": "t", "name": "sql", "input": {"input": FREE}}], "tool_use")
    back = told(reply, "messages", source, "response", request=request, request_protocol=source).value
    call = back["choices"][0]["message"]["tool_calls"][0] if source == "chat" else back["output"][0]
    assert (call["custom"] if source == "chat" else call)["input"] == FREE
    assert call["type"] == ("custom" if source == "chat" else "custom_tool_call")
    assert told(back, source, "messages", "response").value["content"][0]["input"] == {"input": FREE}


@pytest.mark.parametrize("source", ["chat", "responses"])
@pytest.mark.parametrize("pieces", ["1", "3", "whole"])
def test_custom_tool_stream_escape(source: str, pieces: str) -> None:
    """Quotes, backslashes and line ends stay what they are, wherever the text is cut."""
    said = {
        "chat": {"tool_calls": [{"id": "t", "type": "custom", "custom": {"name": "sql", "input": FREE}}]},
        "responses": [
            {
                "type": "custom_tool_call",
                "id": "ctc_1",
                "call_id": "t",
                "name": "sql",
                "input": FREE,
                "status": "completed",
            }
        ],
    }
    fed = explode(answer(source, said[source], "tool_calls" if source == "chat" else None), source, pieces=pieces).value
    out, _ = streamed(fed, source, "messages")
    sent = "".join(event["delta"]["partial_json"] for event in out if event["type"] == "content_block_delta")
    assert text.loads(sent) == {"input": FREE}


# D9: arguments that are no object are wrapped; numbers keep their digits.


@pytest.mark.parametrize("arguments", ["not json", "[1]", '"x"', "1", "{", '{"a":1} rest'])
@pytest.mark.parametrize("source", ["chat", "responses"])
def test_bad_arguments_roundtrip(source: str, arguments: str) -> None:
    there = told(with_call(source, arguments), source, "messages")
    (call,) = there.value["messages"][1]["content"]
    assert call["input"] == {"_raw": arguments}
    assert ("raw-arguments", "risk") in {(entry.why, entry.level) for entry in there.ledger.entries}
    back = told(there.value, "messages", source).value
    call = back["messages"][1]["tool_calls"][0]["function"] if source == "chat" else back["input"][1]
    assert call["arguments"] == arguments


NUMBERS = '{"a":1.10,"b":1e400,"c":-0,"d":123456789012345678901234567890,"e":1E5,"f":0.1e-7}'


@pytest.mark.parametrize("source", ["chat", "responses"])
def test_numbers_survive(source: str) -> None:
    there = translate(text.loads(text.dumps(with_call(source, NUMBERS))), source, "messages", "request").value
    assert NUMBERS.encode() in text.dumps(there)
    back = translate(text.loads(text.dumps(there)), "messages", source, "request").value
    call = back["messages"][1]["tool_calls"][0]["function"] if source == "chat" else back["input"][1]
    assert call["arguments"] == NUMBERS
    with pytest.raises(ProxaiError) as caught:
        text.loads(NUMBERS.replace("1.10", "1" * 10_001))
    assert caught.value.code == "number-too-long"


# D10, D23, D25: every row of the tables of `spec/responses.md` §9.

ACTION = {"id": "i_1", "call_id": "c_1", "status": "completed"}
ENDS: list[tuple[str, Any, dict[str, Any], list[str]]] = [
    ("messages", answer("messages", said_text("messages", "A"), "end_turn"), {"chat": "stop", "responses": "completed"}, []),
    ("messages", answer("messages", said_text("messages", "A"), "stop_sequence", stop_sequence="X"), {"chat": "stop", "responses": "completed"}, []),
    ("messages", answer("messages", said_text("messages", "A"), "max_tokens"), {"chat": "length", "responses": "incomplete/max_output_tokens"}, []),
    ("messages", answer("messages", called("messages"), "tool_use"), {"chat": "tool_calls", "responses": "completed"}, []),
    ("messages", answer("messages", said_text("messages", "A"), "pause_turn"), {"chat": "stop", "responses": "completed"}, ["paused-turn"]),
    ("messages", answer("messages", said_text("messages", "A"), "refusal"), {"chat": "content_filter", "responses": "incomplete/content_filter"}, []),
    ("messages", answer("messages", said_text("messages", "A"), "model_context_window_exceeded"), {"chat": "length", "responses": "incomplete/max_output_tokens"}, []),
    ("messages", answer("messages", said_text("messages", "A"), "compaction"), {"chat": "stop", "responses": "completed"}, []),
    ("messages", answer("messages", said_text("messages", "A")) | {"stop_reason": None}, {"chat": "still-running", "responses": "in_progress"}, []),
    ("messages", answer("messages", said_text("messages", "A"), "novel"), {"chat": "stop", "responses": "completed"}, ["unknown-stop"]),
    ("chat", answer("chat", said_text("chat", "A"), "stop"), {"messages": "end_turn", "responses": "completed"}, []),
    ("chat", answer("chat", called("chat"), "stop"), {"messages": "tool_use", "responses": "completed"}, []),
    ("chat", answer("chat", {"refusal": WORDS}, "stop"), {"messages": "refusal", "responses": "completed"}, []),
    ("chat", answer("chat", said_text("chat", "A"), "length"), {"messages": "max_tokens", "responses": "incomplete/max_output_tokens"}, []),
    ("chat", answer("chat", called("chat"), "tool_calls"), {"messages": "tool_use", "responses": "completed"}, []),
    ("chat", answer("chat", {"function_call": {"name": "f", "arguments": "{}"}}, "function_call"), {"messages": "tool_use", "responses": "completed"}, []),
    ("chat", answer("chat", said_text("chat", "A"), "content_filter"), {"messages": "refusal", "responses": "incomplete/content_filter"}, []),
    ("chat", answer("chat", said_text("chat", "A"), "novel"), {"messages": "end_turn", "responses": "completed"}, ["unknown-stop"]),
    ("responses", answer("responses", called("responses")), {"chat": "tool_calls", "messages": "tool_use"}, []),
    ("responses", answer("responses", [{"type": "custom_tool_call", **ACTION, "name": "f", "input": "i"}]), {"chat": "tool_calls", "messages": "tool_use"}, []),
    ("responses", answer("responses", [{"type": "computer_call", **ACTION, "action": {"type": "wait"}, "pending_safety_checks": []}]), {"chat": "tool_calls", "messages": "tool_use"}, []),
    ("responses", answer("responses", [{"type": "shell_call", **ACTION, "action": {"commands": ["ls"]}, "environment": {"type": "local"}}]), {"chat": "tool_calls", "messages": "tool_use"}, []),
    ("responses", answer("responses", [{"type": "apply_patch_call", **ACTION, "operation": {"type": "delete_file", "path": "a"}}]), {"chat": "tool_calls", "messages": "tool_use"}, []),
    ("responses", answer("responses", [{"type": "local_shell_call", **ACTION, "action": {"type": "exec", "command": ["ls"], "env": {}}}]), {"chat": "tool_calls", "messages": "tool_use"}, []),
    ("responses", answer("responses", [{"type": "mcp_approval_request", "id": "a", "server_label": "s", "name": "f", "arguments": "{}"}]), {"chat": "tool_calls", "messages": "tool_use"}, []),
    ("responses", answer("responses", [message({"type": "refusal", "refusal": WORDS})]), {"chat": "stop", "messages": "refusal"}, []),
    ("responses", answer("responses", said_text("responses", "A")), {"chat": "stop", "messages": "end_turn"}, []),
    *(
        ("responses", answer("responses", said_text("responses", "A"), "incomplete", incomplete_details={"reason": reason} if reason else None), {"chat": chat, "messages": messages}, [])
        for reason, chat, messages in (
            ("max_output_tokens", "length", "max_tokens"), ("content_filter", "content_filter", "refusal"),
            ("max_messages", "length", "max_tokens"), ("steered", "stop", "end_turn"), (None, "length", "max_tokens"),
        )
    ),
    ("responses", answer("responses", [], "failed", error={"code": "server_error", "message": "Down"}), {"chat": ("error", "server_error"), "messages": ("error", "api_error")}, []),
    ("responses", answer("responses", [], "cancelled"), {"chat": ("error", "cancelled"), "messages": ("error", "api_error")}, []),
    ("responses", answer("responses", [], "queued"), {"chat": "still-running", "messages": "still-running"}, []),
    ("responses", answer("responses", [], "in_progress"), {"chat": "still-running", "messages": "still-running"}, []),
]  # fmt: skip


@pytest.mark.parametrize(("source", "document", "wanted", "noticed"), ENDS)
def test_stop_reason_table(source: str, document: Any, wanted: dict[str, Any], noticed: list[str]) -> None:
    for target, word in wanted.items():
        found, codes = ends(source, target, document)
        assert found == word
        assert [code for code in codes if code in ("paused-turn", "unknown-stop")] == noticed


@pytest.mark.parametrize(("source", "document", "wanted", "noticed"), ENDS)
def test_stop_reason_table_in_streams(source: str, document: Any, wanted: dict[str, Any], noticed: list[str]) -> None:
    for target, word in wanted.items():
        if word in ("still-running", "in_progress"):
            continue
        out, translator = streamed(stream_of(document, source), source, target)
        assert translator.complete
        if word[0] != "error":
            assert stop_of(target, collect(out, target).value) == (
                # A refusal is text before its stop says what it is (streams.md §7).
                {"chat": "content_filter", "responses": "incomplete/content_filter"}[target]
                if word == "refusal" and target != "messages"
                else word
            )


def test_a_matched_stop_string() -> None:
    for matched, seen in (("END", ("stop_sequence", "END")), (128001, ("end_turn", None))):
        reply = answer("chat", said_text("chat", "A"))
        reply["choices"][0]["matched_stop"] = matched
        value = told(reply, "chat", "messages", "response").value
        assert (value["stop_reason"], value["stop_sequence"]) == seen
        assert stop_of("responses", told(reply, "chat", "responses", "response").value) == "completed"
    reply = answer("chat", said_text("chat", "A"))
    for running in ("", None):
        reply["choices"][0]["finish_reason"] = running
        for target in ("messages", "responses"):
            assert ends("chat", target, reply)[0] in ("still-running", "in_progress")


def test_stop_with_tools() -> None:
    done = told(answer("chat", called("chat"), "stop"), "chat", "messages", "response")
    assert reasons(done, "choices", 0, "finish_reason") == [("changed", "stop-with-tools")]


@pytest.mark.parametrize("target", ["chat", "messages"])
def test_failed_to_error(target: str) -> None:
    broken = answer(
        "responses", said_text("responses", "A"), "failed", error={"code": "rate_limit_exceeded", "message": "Slow"}
    )
    done = told(broken, "responses", target, "response")
    assert at(done.value, "error", "message") == "Slow"
    assert at(done.value, "error", "type") == "rate_limit_error"
    gone = [entry for entry in done.ledger.entries if entry.source and entry.source[0] == "output"]
    assert gone and {entry.why for entry in gone} == {"not-terminal"}
    out, _ = streamed(stream_of(broken, "responses"), "responses", target)
    assert at(wire(out)[-1], "error", "message") == "Slow"


# D11: the worked example of `spec/responses.md` §10.

COUNTED = {
    "messages": {
        "input_tokens": 120,
        "cache_creation_input_tokens": 1000,
        "cache_read_input_tokens": 5000,
        "output_tokens": 350,
        "output_tokens_details": {"thinking_tokens": 200},
    },
    "chat": {
        "prompt_tokens": 6120,
        "prompt_tokens_details": {"cached_tokens": 5000, "cache_write_tokens": 1000},
        "completion_tokens": 350,
        "completion_tokens_details": {"reasoning_tokens": 200},
        "total_tokens": 6470,
    },
    "responses": {
        "input_tokens": 6120,
        "input_tokens_details": {"cached_tokens": 5000, "cache_write_tokens": 1000},
        "output_tokens": 350,
        "output_tokens_details": {"reasoning_tokens": 200},
        "total_tokens": 6470,
    },
}


def counted(protocol: str) -> dict[str, Any]:
    return answer(protocol, said_text(protocol, "A"), usage=COUNTED[protocol])


@pytest.mark.parametrize(("source", "target"), SIX)
def test_usage_worked_example_six(source: str, target: str) -> None:
    assert told(counted(source), source, target, "response").value["usage"] == COUNTED[target]
    out, _ = streamed(stream_of(counted(source), source), source, target)
    assert collect(out, target).value["usage"] == COUNTED[target]


def test_usage_negative() -> None:
    usage = {
        "prompt_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 5},
        "completion_tokens": 1,
        "total_tokens": 9,
    }
    done = told(answer("chat", said_text("chat", "A"), usage=usage), "chat", "messages", "response")
    assert done.value["usage"]["input_tokens"] == 0
    assert "usage-mismatch" in findings(done)
    assert reasons(done, "usage", "total_tokens") == [("dropped", "no-equivalent")]


def test_usage_absent() -> None:
    bare = {key: value for key, value in answer("chat", said_text("chat", "A")).items() if key != "usage"}
    zeros = told(bare, "chat", "messages", "response")
    assert zeros.value["usage"] == {"input_tokens": 0, "output_tokens": 0}
    assert "no-usage" in {entry.why for entry in zeros.ledger.entries}
    assert told(bare, "chat", "responses", "response").value.get("usage") is None


# D12, D13: one item for each block; ids come from the reply's id, or are the call's with a prefix.

MIXED = answer(
    "messages",
    [
        {"type": "thinking", "thinking": "Hm", "signature": "s"},
        {"type": "text", "text": "A"},
        {"type": "text", "text": "B"},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}},
        {"type": "redacted_thinking", "data": "d"},
    ],
    "tool_use",
)
IDS = ["rs_resp_msg_1", "msg_resp_msg_1", "msg_resp_msg_1_1", "fc_toolu_1", "rs_resp_msg_1_1"]


def test_item_ids_exact() -> None:
    value = told(MIXED, "messages", "responses", "response").value
    assert value["id"] == "resp_msg_1" and [item["id"] for item in value["output"]] == IDS
    assert value["output"][3]["call_id"] == "toolu_1"


def test_multi_text_blocks() -> None:
    value = told(MIXED, "messages", "responses", "response").value
    parts = [item["content"] for item in value["output"] if item["type"] == "message"]
    assert [[part["text"] for part in content] for content in parts] == [["A"], ["B"]]
    back = told(value, "responses", "messages", "response").value
    assert back["content"] == MIXED["content"] and back["id"] == "msg_1"
    joined = told(MIXED, "messages", "chat", "response")
    assert at(joined.value, "choices", 0, "message", "content") == "AB"
    assert reasons(joined, "content", 1, "text")[0][1] == "merged-boundary"


def test_stream_equals_body() -> None:
    for source, document in (
        ("messages", MIXED),
        ("chat", answer("chat", {"content": "A", **called("chat")}, "tool_calls")),
    ):
        out, _ = streamed(stream_of(document, source), source, "responses")
        wanted = told(document, source, "responses", "response").value["output"]
        assert [item["id"] for item in out[-1]["response"]["output"]] == [item["id"] for item in wanted]
        added = [event["item"]["id"] for event in out if event["type"] == "response.output_item.added"]
        assert added == [item["id"] for item in wanted]


# D14: events without which the official client raises.


@pytest.mark.parametrize("source", ["chat", "messages"])
def test_sdk_accumulate_responses(source: str) -> None:
    clients = pytest.importorskip("tests.clients")
    content = {"chat": {"content": "A", "reasoning_content": "Hm", **called("chat")}, "messages": MIXED["content"][:4]}
    document = answer(source, content[source], "tool_calls" if source == "chat" else "tool_use")
    out, _ = streamed(stream_of(document, source), source, "responses")
    kinds = [event["type"] for event in out]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    for delta, added in (
        ("response.output_text.delta", "response.content_part.added"),
        ("response.function_call_arguments.delta", "response.output_item.added"),
    ):
        assert kinds.index(added) < kinds.index(delta)
    assert [event["sequence_number"] for event in out] == list(range(len(out)))
    seen = clients.read_stream("responses", written(out, "responses"))
    assert seen.way == "helper" and seen.calls[0][0] == "f" and seen.text in ("A", "AB")


# D15, D16, D17: signatures travel with reasoning; in requests reasoning of another vendor does not travel.


@pytest.mark.parametrize(
    ("block", "item"),
    [
        ({"type": "thinking", "thinking": "Hm", "signature": "s"}, {"content": [{"type": "reasoning_text", "text": "Hm"}], "encrypted_content": "s"}),
        ({"type": "thinking", "thinking": "", "signature": "s"}, {"content": [{"type": "reasoning_text", "text": ""}], "encrypted_content": "s"}),
        ({"type": "redacted_thinking", "data": "d"}, {"content": None, "encrypted_content": "d"}),
    ],
    ids=["signed", "omitted", "redacted"],
)  # fmt: skip
def test_signature_roundtrip_and_redacted_vs_omitted(block: Any, item: dict[str, Any]) -> None:
    reply = answer("messages", [block])
    there = told(reply, "messages", "responses", "response").value
    assert {key: there["output"][0].get(key) for key in item} == item and there["output"][0]["summary"] == []
    assert told(there, "responses", "messages", "response").value["content"] == [block]
    out, _ = streamed(stream_of(reply, "messages"), "messages", "responses")
    assert out[-1]["response"]["output"] == there["output"]
    back, _ = streamed(out, "responses", "messages")
    assert collect(back, "messages").value["content"] == [block]


@pytest.mark.parametrize(("source", "target"), [pair for pair in SIX if pair[0] != "chat"])
def test_reasoning_in_history(source: str, target: str) -> None:
    thought = {
        "messages": [
            {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": "Hm", "signature": "s"}, {"type": "text", "text": "A"}],
            }
        ],
        "responses": [
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "Hm"}],
                "encrypted_content": "e",
            },
            {"type": "message", "role": "assistant", "content": "A"},
        ],
    }
    done = told(ask(source, USER, *thought[source], USER), source, target)
    assert b"Hm" not in text.dumps(done.value)
    dropped = [entry for entry in done.ledger.entries if entry.why == "foreign-signature"]
    assert dropped and {entry.level for entry in dropped} == {"risk"}


@pytest.mark.parametrize(
    ("said", "signature"),
    [
        ({"reasoning_content": "Hm"}, ""),
        ({"reasoning": "Hm"}, ""),
        ({"reasoning": "Hm", "reasoning_content": "Hm"}, ""),
        ({"reasoning_details": [{"type": "reasoning.text", "text": "Hm", "signature": "s"}]}, "s"),
        ({"reasoning": "other", "reasoning_details": [{"type": "reasoning.summary", "summary": "Hm"}]}, ""),
    ],
)
def test_reasoning_dialects(said: dict[str, Any], signature: str) -> None:
    reply = answer("chat", {**said, "content": "A"})
    thought = {"type": "thinking", "thinking": "Hm", "signature": signature}
    assert told(reply, "chat", "messages", "response").value["content"] == [thought, {"type": "text", "text": "A"}]
    (item, _) = told(reply, "chat", "responses", "response").value["output"]
    assert item["summary"] == [{"type": "summary_text", "text": "Hm"}]
    hidden = answer("chat", {"reasoning_details": [{"type": "reasoning.encrypted", "data": "d"}], "content": "A"})
    assert told(hidden, "chat", "messages", "response").value["content"][0] == {
        "type": "redacted_thinking",
        "data": "d",
    }


# D18: effort and thinking.


@pytest.mark.parametrize("source", ["chat", "responses"])
@pytest.mark.parametrize("word", ["none", "minimal", "low", "medium", "high", "xhigh", "max"])
def test_effort_table_roundtrip(source: str, word: str) -> None:
    fields = {"reasoning_effort": word} if source == "chat" else {"reasoning": {"effort": word}}
    value = told(ask(source, **fields), source, "messages").value
    wanted = {
        "none": ({"type": "disabled"}, None),
        "minimal": ({"type": "disabled"}, {"effort": "low"}),
    }.get(word, ({"type": "adaptive"}, {"effort": word}))
    assert (value.get("thinking"), value.get("output_config")) == wanted
    back = told(value, "messages", source).value
    assert {key: back[key] for key in fields} == fields


@pytest.mark.parametrize(
    ("budget", "word"),
    [
        (1024, "low"),
        (2047, "low"),
        (2048, "medium"),
        (8191, "medium"),
        (8192, "high"),
        (32767, "high"),
        (32768, "xhigh"),
    ],
)
def test_budget_thresholds(budget: int, word: str) -> None:
    done = told(ask("messages", thinking={"type": "enabled", "budget_tokens": budget}), "messages", "chat")
    assert done.value["reasoning_effort"] == word
    assert reasons(done, "thinking", "budget_tokens") == [("changed", "budget-to-effort")]


# D19: a citation is about its whole block, or about its quote where that stands in it exactly once.


@pytest.mark.parametrize(
    ("words", "quote", "span"),
    [
        ("One two three", "from the source", (0, 13)),
        ("One two three", "two", (4, 7)),
        ("two and two", "two", (0, 11)),
        ("\U0001f600 two", "two", (2, 5)),
        ("e\u0301 \U0001f468\u200d\U0001f469 two", "absent", (0, 10)),
    ],
)
def test_citation_spans_and_unicode(words: str, quote: str, span: tuple[int, int]) -> None:
    """Offsets are code points; in chat they count from the beginning of the joined content."""
    cited = {
        "type": "web_search_result_location",
        "url": "https://a.example",
        "title": None,
        "cited_text": quote,
        "encrypted_index": "x",
    }
    first = {"type": "text", "text": "Before. "}
    reply = answer("messages", [first, {"type": "text", "text": words, "citations": [cited]}])
    part = told(reply, "messages", "responses", "response").value["output"][1]["content"][0]
    (note,) = part["annotations"]
    assert (note["start_index"], note["end_index"], note["title"]) == (*span, "")
    said = told(reply, "messages", "chat", "response").value["choices"][0]["message"]
    (note,) = said["annotations"]
    start, end = note["url_citation"]["start_index"], note["url_citation"]["end_index"]
    assert (start, end) == (span[0] + 8, span[1] + 8)
    assert said["content"][start:end] == words[slice(*span)]
    for target in ("responses", "chat"):
        out, _ = streamed(stream_of(reply, "messages"), "messages", target)
        assert collect(out, target).value == told(reply, "messages", target, "response").value


# D20: an error in a stream is told.


@pytest.mark.parametrize(("source", "target"), SIX)
def test_stream_error_six(source: str, target: str) -> None:
    fed = stream_of(answer(source, said_text(source, "A")), source)
    cut = next(at for at, event in enumerate(fed) if "A" in str(event)) + 1
    errors = {
        "chat": {"error": {"message": "Down", "type": "server_error", "param": None, "code": None}},
        "responses": {
            "type": "error",
            "code": "server_error",
            "message": "Down",
            "param": None,
            "sequence_number": cut,
        },
        "messages": {"type": "error", "error": {"type": "api_error", "message": "Down"}},
    }
    out, translator = streamed([*fed[:cut], errors[source]], source, target)
    last = out[-1]
    assert translator.complete and DONE not in out
    found = at(last, "response", "error") if target == "responses" else last["error"]
    assert found["message"] == "Down"
    assert last.get("type") == {"chat": None, "responses": "response.failed", "messages": "error"}[target]
    closing = ("content_block_stop", "message_delta", "response.output_item.done", "response.completed")
    assert not [event for event in out if event.get("type") in closing]


# D21: a stream that ends too early is told and not completed, unless it is to be repaired.

LAST = {"chat": b"[DONE]", "responses": b"response.completed", "messages": b"message_stop"}


@pytest.mark.parametrize(("source", "target"), [("chat", "messages"), ("responses", "chat"), ("messages", "responses")])
def test_truncate_at_every_byte(source: str, target: str) -> None:
    whole = written(stream_of(answer(source, said_text(source, "Æ")), source), source)
    finish = {"chat": b'"finish_reason":"stop"', "responses": b"response.completed", "messages": b"message_delta"}[
        source
    ]
    finished = whole.index(b"\n\n", whole.index(finish))
    complete = piped(source, target, whole)[0]
    for cut in range(len(whole)):
        out, codes = piped(source, target, whole[:cut])
        assert codes in ([], ["truncated"], ["empty"])
        assert (LAST[target] in out) == (cut >= finished)
        if cut < finished:
            assert codes and complete.startswith(out[: out.rfind(b"\n\n", 0, -2) + 2])


def piped(source: str, target: str, data: bytes, repair: bool = False) -> tuple[bytes, list[str]]:
    pipe = Pipe(source, target, repair=repair)
    out = pipe.feed(data) + pipe.close()
    return out, [error.code for error in pipe.errors]


@pytest.mark.parametrize(("source", "target"), SIX)
def test_repair(source: str, target: str) -> None:
    """The end is made, and said to be; never one that asks for a tool to be run."""
    for said, words in ((said_text(source, "Æ"), ""), (called(source, '{"x":12}'), "tool")):
        events = stream_of(answer(source, said, "tool_calls" if words and source == "chat" else None), source)
        cut = next(at for at, event in enumerate(events) if "Æ" in str(event) or "12" in str(event)) + 1
        for torn in (b"", b'data: {"type":'):
            out, codes = piped(source, target, written(events[:cut], source) + torn, repair=True)
            assert codes == ["truncated"]
            value = collect(out, target).value
            assert stop_of(target, value) in ("stop", "incomplete", "end_turn", "incomplete/max_output_tokens")


# D22: a request that did not ask for it is not stored.


@pytest.mark.parametrize(
    ("source", "fields", "seen"), [("chat", {}, False), ("chat", {"store": True}, True), ("messages", {}, False)]
)
def test_store_default(source: str, fields: dict[str, Any], seen: bool) -> None:
    done = told(ask(source, **fields), source, "responses")
    assert done.value["store"] is seen
    assert ("store-default" in {entry.why for entry in done.ledger.entries}) is not fields.get("store", False)
    assert "store" not in told(ask(source), source, "messages" if source == "chat" else "chat").value


# D24: of several choices one is the reply.

TWO = answer("chat", {})
TWO["choices"] = [
    {"index": number, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
    for number, said in enumerate(("A", "B"))
]


@pytest.mark.parametrize("target", ["responses", "messages"])
def test_choices_select(target: str) -> None:
    for choice, other in (("0", 1), ("1", 0)):
        done = told(TWO, "chat", target, "response", {"choice": choice})
        gone = [entry for entry in done.ledger.entries if entry.source and entry.source[:2] == ("choices", other)]
        assert gone and {entry.why for entry in gone} == {"single-candidate"}
        out, _ = streamed(stream_of(TWO, "chat"), "chat", target, {"choice": choice})
        wanted = "AB"[int(choice)]
        assert wanted in str(out) and f"'{'BA'[int(choice)]}'" not in str(out)


def test_choices_all() -> None:
    assert told(TWO, "chat", "chat", "response").value == TWO
    choices = collect(stream_of(TWO, "chat"), "chat").value["choices"]
    assert [(one["index"], one["message"]["content"], one["finish_reason"]) for one in choices] == [
        (0, "A", "stop"),
        (1, "B", "stop"),
    ]
    with pytest.raises(NotPossible) as caught:
        told({**TWO, "choices": []}, "chat", "messages", "response")
    assert caught.value.code == "empty"


# D26: cache marks.


@pytest.mark.parametrize("target", ["chat", "responses"])
@pytest.mark.parametrize(("life", "theirs"), [(None, None), ("5m", None), ("1h", "12h")])
def test_cache_marks_both_ways(target: str, life: str | None, theirs: str | None) -> None:
    mark = {"type": "ephemeral", **({"ttl": life} if life else {})}
    marked = {"type": "text", "text": "A", "cache_control": mark}
    request = ask(
        "messages", {"role": "user", "content": [marked]}, tools=[{**TOOL["messages"], "cache_control": {**mark}}]
    )
    done = told(request, "messages", target)
    part = at(done.value, "input" if target == "responses" else "messages", 0, "content", 0)
    assert part["prompt_cache_breakpoint"] == {"mode": "explicit", **({"ttl": theirs} if theirs else {})}
    assert reasons(done, "tools", 0, "cache_control", "type")[0][0] == "dropped"
    back = told(done.value, target, "messages").value["messages"][0]["content"][0]
    assert back["cache_control"] == {"type": "ephemeral", **({"ttl": "1h"} if life == "1h" else {})}


# D27: file ids of another vendor.


@pytest.mark.parametrize(
    ("source", "target", "part", "place", "why"),
    [
        ("chat", "messages", {"type": "file", "file": {"file_id": "file_1"}}, ("source",), None),
        ("responses", "messages", {"type": "input_file", "file_id": "file_1"}, ("source",), None),
        ("responses", "messages", {"type": "input_image", "file_id": "file_1", "detail": "auto"}, ("source",), None),
        ("messages", "responses", {"type": "image", "source": {"type": "file", "file_id": "file_1"}}, ("file_id",), None),
        ("messages", "chat", {"type": "document", "source": {"type": "file", "file_id": "file_1"}}, ("file",), None),
        ("messages", "chat", {"type": "image", "source": {"type": "file", "file_id": "file_1"}}, (), "foreign-id"),
        ("responses", "chat", {"type": "input_image", "file_id": "file_1", "detail": "auto"}, (), "foreign-id"),
    ],
)  # fmt: skip
def test_file_ids(source: str, target: str, part: Any, place: tuple[str, ...], why: str | None) -> None:
    done = told(
        ask(
            source,
            {
                "role": "user",
                "content": [part, {"type": "input_text" if source == "responses" else "text", "text": "A"}],
            },
        ),
        source,
        target,
    )
    content = at(done.value, "input" if target == "responses" else "messages", 0, "content")
    if why:
        assert why in {entry.why for entry in done.ledger.entries} and b"file_1" not in text.dumps(done.value)
    else:
        assert "file_1" in str(at(content[0], *place)) and "foreign-id-kept" in findings(done)


# D29: hosted tools in pairs (searches for tools, listings and compactions: tests/test_hosted.py).


def hosted(item: Any, *blocks_of: Any) -> tuple[Any, list[Any]]:
    return item, list(blocks_of)


def use(name: str, given: Any, id: str = "srvtoolu_1") -> dict[str, Any]:
    return {"type": "server_tool_use", "id": id, "name": name, "input": given}


def result(kind: str, content: Any, id: str = "srvtoolu_1") -> dict[str, Any]:
    return {"type": f"{kind}_tool_result", "tool_use_id": id, "content": content}


FOUND = [{"type": "web_search_result", "url": "https://a.example", "title": "", "encrypted_content": ""}]
RAN = {"type": "code_execution_result", "stdout": "2", "stderr": "", "return_code": 0, "content": []}
PAIRS = {
    "search": hosted(
        {"id": "ws_srvtoolu_1", "type": "web_search_call", "status": "completed",
         "action": {"type": "search", "query": "q", "sources": [{"type": "url", "url": "https://a.example"}]}},
        use("web_search", {"query": "q"}), result("web_search", FOUND),
    ),
    "page": hosted(
        {"id": "ws_srvtoolu_1", "type": "web_search_call", "status": "in_progress", "action": {"type": "open_page", "url": "https://a.example"}},
        use("web_fetch", {"url": "https://a.example"}),
    ),
    "code": hosted(
        {"id": "ci_srvtoolu_1", "type": "code_interpreter_call", "status": "completed", "code": "1+1", "container_id": "", "outputs": [{"type": "logs", "logs": "2"}]},
        use("code_execution", {"code": "1+1"}), result("code_execution", RAN),
    ),
    "mcp": hosted(
        {"id": "mcp_mcptoolu_1", "type": "mcp_call", "status": "completed", "server_label": "s", "name": "f", "arguments": '{"x":1}', "output": "o"},
        {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "f", "server_name": "s", "input": {"x": 1}},
        {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": [{"type": "text", "text": "o"}]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_hosted_items_table(name: str) -> None:
    item, pair = PAIRS[name]
    there = told(answer("messages", [*pair, {"type": "text", "text": "A"}]), "messages", "responses", "response").value
    assert there["output"][0] == item
    back = told(answer("responses", [item, message("A")]), "responses", "messages", "response").value
    assert back["content"] == [*pair, {"type": "text", "text": "A"}]
    for source, target, document in (
        ("messages", "responses", answer("messages", pair)),
        ("responses", "messages", answer("responses", [item])),
    ):
        out, _ = streamed(stream_of(document, source), source, target)
        key = "output" if target == "responses" else "content"
        assert collect(out, target).value[key] == told(document, source, target, "response").value[key]


@pytest.mark.parametrize("name", PAIRS)
def test_hosted_items_have_no_place_in_chat(name: str) -> None:
    item, pair = PAIRS[name]
    for source, said in (("responses", [item, message("A")]), ("messages", [*pair, {"type": "text", "text": "A"}])):
        done = told(answer(source, said), source, "chat", "response")
        assert at(done.value, "choices", 0, "message", "content") == "A"
        assert "hosted-tool" in {entry.why for entry in done.ledger.entries}


def test_client_calls_are_tool_uses() -> None:
    rows = [
        ({"type": "computer_call", **ACTION, "action": {"type": "wait"}, "pending_safety_checks": []}, "computer", {"type": "wait"}),
        ({"type": "local_shell_call", **ACTION, "action": {"type": "exec", "command": ["ls"], "env": {}}}, "bash", {"type": "exec", "command": ["ls"], "env": {}}),
        ({"type": "shell_call", **ACTION, "action": {"commands": ["ls"]}}, "bash", {"commands": ["ls"]}),
        ({"type": "apply_patch_call", **ACTION, "operation": {"type": "delete_file", "path": "a"}}, "apply_patch", {"type": "delete_file", "path": "a"}),
    ]  # fmt: skip
    for item, name, given in rows:
        (block,) = told(answer("responses", [item]), "responses", "messages", "response").value["content"]
        assert (block["type"], block["name"], block["input"]) == ("tool_use", name, given)


# D30: objects as text.


@pytest.mark.parametrize(
    ("given", "spelled"),
    [
        ('{"b":1,"a":2}', '{"b":1,"a":2}'),
        ('{ "a" : [ 1 , 2.50 ] }', '{"a":[1,2.50]}'),
        ('{"é":"ü\\u0000\\"/"}', '{"é":"ü\\u0000\\"/"}'),
        ("{}", "{}"),
    ],
)
@pytest.mark.parametrize("target", ["chat", "responses"])
def test_json_dump_exact(target: str, given: str, spelled: str) -> None:
    value = told(with_call("messages", given), "messages", target).value
    call = value["messages"][1]["tool_calls"][0]["function"] if target == "chat" else value["input"][1]
    assert call["arguments"] == spelled
