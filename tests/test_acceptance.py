"""Whole stories: streams as excerpts print them, the lifecycle of events, a client's loop, an adapter's scenarios.

Source: `spec/decisions.md` §3 and §4; the minimal clients know nothing but the key by which a protocol joins pieces.
"""

from typing import Any

import pytest

from proxai_cli import Pipe, collect, text
from proxai_cli.cli import app
from proxai_cli.endpoints import translate_endpoint
from proxai_cli.errors import NotPossible, ProxaiError
from proxai_cli.exchange import translate_exchange
from proxai_cli.ir.events import DONE
from proxai_cli.pipe import with_type
from proxai_cli.wire.sse import Reader

from .small import SIX, THREE, USER, answer, ask, at, context, findings, reasons, stream_of, streamed, told, wire

# Excerpts without beginning and end: no type in the data, lines that go on indented, blank lines left out.

EXCERPTS = {
    "messages": """event: content_block_start
data: {"index":0, "content_block":{"type":"text","text":""}}

event: content_block_start
data: {"index":1, "content_block":{"type":"tool_use","id":"toolu_w","name":"wind","input":{}}}

event: content_block_start
data: {"index":2, "content_block":{"type":"tool_use","id":"toolu_r","name":"rain","input":{}}}

event: content_block_delta
data: {"index":0, "delta":{"type":"text_delta","text":"One moment"}}

event: content_block_delta
data: {"index":1, "delta":{"type":"input_json_delta","partial_json":"{\\"at\\":"}}

event: content_block_delta
data: {"index":2, "delta":{"type":"input_json_delta","partial_json":"{\\"in\\":"}}

event: content_block_delta
data: {"index":1, "delta":{"type":"input_json_delta","partial_json":"\\"Oslo\\"}"}}

event: content_block_delta
data: {"index":2, "delta":{"type":"input_json_delta","partial_json":"\\"Bergen\\"}"}}

event: content_block_stop
data: {"index":0}
event: content_block_stop
data: {"index":1}
event: content_block_stop
data: {"index":2}
""",
    "responses": """event: response.output_item.added
data: {"sequence_number":2, "output_index":0,
       "item":{"type":"message","id":"msg_7","status":"in_progress","content":[]}}

event: response.output_text.delta
data: {"sequence_number":3, "item_id":"msg_7", "output_index":0, "delta":"One moment"}

event: response.output_item.added
data: {"sequence_number":4, "output_index":1,
       "item":{"type":"function_call","id":"fc_w","call_id":"call_w",
               "name":"wind","arguments":""}}

event: response.output_item.added
data: {"sequence_number":5, "output_index":2,
       "item":{"type":"function_call","id":"fc_r","call_id":"call_r",
               "name":"rain","arguments":""}}

event: response.function_call_arguments.delta
data: {"sequence_number":6, "item_id":"fc_w", "output_index":1, "delta":"{\\"at\\":"}

event: response.function_call_arguments.delta
data: {"sequence_number":7, "item_id":"fc_r", "output_index":2, "delta":"{\\"in\\":"}

event: response.function_call_arguments.delta
data: {"sequence_number":8, "item_id":"fc_w", "output_index":1, "delta":"\\"Oslo\\"}"}

event: response.function_call_arguments.delta
data: {"sequence_number":9, "item_id":"fc_r", "output_index":2, "delta":"\\"Bergen\\"}"}
""",
    "chat": """data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"One moment"}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[
        {"index":0,"id":"call_w","type":"function",
         "function":{"name":"wind","arguments":""}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[
        {"index":1,"id":"call_r","type":"function",
         "function":{"name":"rain","arguments":""}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[
        {"index":0,"function":{"arguments":"{\\"at\\":"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[
        {"index":1,"function":{"arguments":"{\\"in\\":"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[
        {"index":0,"function":{"arguments":"\\"Oslo\\"}"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[
        {"index":1,"function":{"arguments":"\\"Bergen\\"}"}}]}}]}
""",
}
SAID = ("One moment", [("wind", '{"at":"Oslo"}'), ("rain", '{"in":"Bergen"}')])


def by_index(events: list[Any]) -> tuple[str, list[tuple[str, str]]]:
    """Messages: a block is known by its index."""
    open_blocks: dict[int, list[str]] = {}
    for event in events:
        if event["type"] == "content_block_start":
            block = event["content_block"]
            open_blocks[event["index"]] = [block["type"], block.get("name", ""), ""]
        elif event["type"] == "content_block_delta":
            delta = event["delta"]
            open_blocks[event["index"]][2] += delta.get("text", "") + delta.get("partial_json", "")
    texts = [piece for kind, _, piece in open_blocks.values() if kind == "text"]
    return "".join(texts), [(name, piece) for kind, name, piece in open_blocks.values() if kind == "tool_use"]


def by_item(events: list[Any]) -> tuple[str, list[tuple[str, str]]]:
    """Responses: an item is known by its id."""
    items: dict[str, list[str]] = {}
    for event in events:
        if event["type"] == "response.output_item.added":
            item = event["item"]
            items[item["id"]] = [item["type"], item.get("name", ""), ""]
        elif event["type"] in ("response.output_text.delta", "response.function_call_arguments.delta"):
            items[event["item_id"]][2] += event["delta"]
    texts = [piece for kind, _, piece in items.values() if kind == "message"]
    return "".join(texts), [(name, piece) for kind, name, piece in items.values() if kind == "function_call"]


def by_call(chunks: list[Any]) -> tuple[str, list[tuple[str, str]]]:
    """Chat: a call is known by its index; text has nothing to be known by."""
    said, calls = "", dict[int, list[str]]()
    for chunk in chunks:
        for choice in chunk["choices"]:
            said += choice["delta"].get("content") or ""
            for call in choice["delta"].get("tool_calls", []):
                slot = calls.setdefault(call["index"], [call["function"].get("name", ""), ""])
                slot[1] += call["function"].get("arguments", "")
    return said, [(name, piece) for name, piece in calls.values()]


CLIENTS = {"messages": by_index, "responses": by_item, "chat": by_call}


@pytest.mark.parametrize(("source", "target"), [*SIX, *((protocol, protocol) for protocol in THREE)])
def test_excerpts_are_translated(source: str, target: str) -> None:
    """Nothing is lost where the ends are missing, which is told."""
    pipe = Pipe(source, target)
    out = pipe.feed(EXCERPTS[source].encode()) + pipe.close()
    read = Reader(named=target != "chat")
    events = [with_type(event) for event in [*read.feed(out), *read.close()]]
    assert CLIENTS[target](wire(events)) == SAID
    assert [error.code for error in pipe.errors] == ["truncated"]
    noticed = {finding.code for finding in pipe.findings}
    assert "no-start" in noticed
    assert ("continuation-line" in noticed) == (source != "messages")
    assert ("no-part" in noticed) == (source == "responses")


# Event tables: what each event of one protocol becomes (streams.md §4, §5, §7).

DELTA = "content_block_delta"
LIFE = [
    ({"type": "message_start", "message": {**answer("messages", []), "stop_reason": None}}, ["created", "in_progress"], ["role"]),
    ({"type": "ping"}, [], []),
    ({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}, ["output_item.added", "content_part.added"], []),
    ({"type": DELTA, "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm"}}, ["reasoning_text.delta"], ["reasoning_content"]),
    ({"type": DELTA, "index": 0, "delta": {"type": "signature_delta", "signature": "s"}}, [], []),
    ({"type": "content_block_stop", "index": 0}, ["reasoning_text.done", "content_part.done", "output_item.done"], []),
    ({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}, ["output_item.added", "content_part.added"], []),
    ({"type": DELTA, "index": 1, "delta": {"type": "text_delta", "text": "A"}}, ["output_text.delta"], ["content"]),
    ({"type": "content_block_stop", "index": 1}, ["output_text.done", "content_part.done", "output_item.done"], []),
    ({"type": "content_block_start", "index": 2, "content_block": {"type": "redacted_thinking", "data": "d"}}, ["output_item.added"], []),
    ({"type": "content_block_stop", "index": 2}, ["output_item.done"], []),
    ({"type": "content_block_start", "index": 3, "content_block": {"type": "tool_use", "id": "t", "name": "f", "input": {}}}, ["output_item.added"], ["tool_calls"]),
    ({"type": DELTA, "index": 3, "delta": {"type": "input_json_delta", "partial_json": ""}}, [], []),
    ({"type": DELTA, "index": 3, "delta": {"type": "input_json_delta", "partial_json": '{"x":1}'}}, ["function_call_arguments.delta"], ["tool_calls"]),
    ({"type": "content_block_stop", "index": 3}, ["function_call_arguments.done", "output_item.done"], []),
    ({"type": "content_block_start", "index": 4, "content_block": {"type": "tool_use", "id": "u", "name": "g", "input": {}}}, ["output_item.added"], ["tool_calls"]),
    ({"type": "content_block_stop", "index": 4}, ["function_call_arguments.delta", "function_call_arguments.done", "output_item.done"], ["tool_calls"]),
    ({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": {"output_tokens": 9}}, [], ["finish", "usage"]),
    ({"type": "message_stop"}, ["completed"], ["[DONE]"]),
]  # fmt: skip


def delta_of(chunk: Any) -> str:
    """The one thing that a chunk says."""
    if chunk is DONE:
        return "[DONE]"
    if not chunk["choices"]:
        return "usage"
    (choice,) = chunk["choices"]
    return next(iter(choice["delta"]), "finish")


@pytest.mark.parametrize("target", ["responses", "chat"])
def test_each_event_of_messages(target: str) -> None:
    from proxai_cli import StreamTranslator

    translator = StreamTranslator("messages", target)
    for event, in_responses, in_chat in LIFE:
        out = translator.feed(event)
        if target == "responses":
            assert [one["type"].removeprefix("response.") for one in out] == in_responses, event
        else:
            assert list(map(delta_of, out)) == in_chat, event
    assert translator.close() == [] and translator.complete


def test_identifiers_of_each_protocol() -> None:
    """Places count from 0 over what is there; a call keeps the index that it got first."""
    out, _ = streamed([event for event, _, _ in LIFE], "messages", "responses")
    assert [event["output_index"] for event in out if event["type"] == "response.output_item.added"] == [0, 1, 2, 3, 4]
    assert {event["content_index"] for event in out if "content_index" in event} == {0}
    chunks, _ = streamed([event for event, _, _ in LIFE], "messages", "chat")
    calls = [
        call for chunk in wire(chunks) for choice in chunk["choices"] for call in choice["delta"].get("tool_calls", [])
    ]
    assert [call["index"] for call in calls] == [0, 0, 1, 1]
    assert [call.get("id") for call in calls] == ["t", None, "u", None]


# Errors of the state machine.

START, TEXT = LIFE[0][0], {**LIFE[6][0], "index": 0}
CREATED = {"type": "response.created", "response": answer("responses", [], "in_progress", usage=None)}
ADDED = {
    "type": "response.output_item.added",
    "output_index": 0,
    "item": {"type": "message", "id": "m", "role": "assistant", "content": []},
}
CALLED = {
    "type": "response.output_item.added",
    "output_index": 0,
    "item": {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": ""},
}
ENDED = {"type": "response.completed", "response": answer("responses", [])}


def text_delta(index: int = 0) -> dict[str, Any]:
    return {"type": DELTA, "index": index, "delta": {"type": "text_delta", "text": "A"}}


CLOSED = {"id": "c", "model": "m", "created": 1, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}


def piece(**call: Any) -> dict[str, Any]:
    return {"id": "c", "model": "m", "created": 1, "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}


WRONG = [
    ("messages", [START, TEXT, TEXT], "dup-start"),
    ("messages", [START, text_delta()], "orphan-delta"),
    ("messages", [START, {"type": "content_block_stop", "index": 0}], "stop-unopened"),
    *(
        ("messages", [START, {**TEXT, "content_block": block}, {**text_delta(), "delta": delta}], "delta-kind")
        for block, delta in (
            (TEXT["content_block"], {"type": "thinking_delta", "thinking": "x"}), (TEXT["content_block"], {"type": "signature_delta", "signature": "x"}),
            (TEXT["content_block"], {"type": "input_json_delta", "partial_json": "{}"}), (LIFE[2][0]["content_block"], {"type": "text_delta", "text": "x"}),
            (LIFE[11][0]["content_block"], {"type": "text_delta", "text": "x"}), (LIFE[9][0]["content_block"], {"type": "thinking_delta", "thinking": "x"}),
        )
    ),
    ("messages", [START, LIFE[-2][0], LIFE[-1][0], TEXT], "event-order"),
    ("responses", [CREATED, ADDED, ADDED], "dup-start"),
    ("responses", [CREATED, {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0, "delta": "A"}], "orphan-delta"),
    ("responses", [CREATED, {"type": "response.output_item.done", "output_index": 3, "item": {**ADDED["item"], "id": "other"}}], "stop-unopened"),
    ("responses", [CREATED, CALLED, {"type": "response.output_text.delta", "item_id": "fc", "output_index": 0, "content_index": 0, "delta": "A"}], "delta-kind"),
    ("responses", [CREATED, ADDED, {"type": "response.function_call_arguments.delta", "item_id": "m", "output_index": 0, "delta": "{}"}], "delta-kind"),
    ("responses", [CREATED, {**CREATED, "response": {**CREATED["response"], "id": "resp_2"}}], "event-order"),
    ("responses", [CREATED, ENDED, ADDED], "event-order"),
    ("chat", [piece(index=0, function={"arguments": "{"})], "orphan-delta"),
    ("chat", [piece(index=0, id="a", type="function", function={"name": "f", "arguments": ""}), CLOSED, DONE, piece(index=0)], "event-order"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "events", "code"), WRONG)
def test_what_the_state_does_not_allow(source: str, events: list[Any], code: str) -> None:
    with pytest.raises(ProxaiError) as caught:
        for target in THREE:
            if target != source:
                streamed(events, source, target)
    assert caught.value.code == code and caught.value.message


@pytest.mark.parametrize(
    ("numbers", "told_of"), [((2, 3), []), ((0, 3), ["expected 1, got 3"]), ((4, 4), ["expected 5, got 4"])]
)
def test_text_of_the_sequence_gap(numbers: tuple[int, ...], told_of: list[str]) -> None:
    events = [{**CREATED, "sequence_number": numbers[0]}, {**ENDED, "sequence_number": numbers[1]}]
    _, translator = streamed(events, "responses", "chat")
    assert [finding.said for finding in translator.findings if finding.code in ("seq-gap", "seq-back")] == told_of


# A client's loop: after translation it asks for a tool exactly where it did before.

RESULT = {
    "chat": lambda reply: at(reply, "choices", 0, "finish_reason") == "tool_calls",
    "responses": lambda reply: any(item["type"] in ("function_call", "custom_tool_call") for item in reply["output"]),
    "messages": lambda reply: reply["stop_reason"] == "tool_use",
}
CALL = {
    "chat": {"tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
    "responses": [
        {"type": "function_call", "id": "fc_c", "call_id": "c", "name": "f", "arguments": "{}", "status": "completed"}
    ],
    "messages": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}],
}
WORDS = {
    "chat": {"content": "A"},
    "responses": [
        {
            "type": "message",
            "id": "m",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "A", "annotations": []}],
        }
    ],
    "messages": [{"type": "text", "text": "A"}],
}


@pytest.mark.parametrize(("source", "target"), SIX)
def test_the_loop_condition_holds(source: str, target: str) -> None:
    stop = {"chat": "tool_calls", "messages": "tool_use"}.get(source)
    for reply, asks in ((answer(source, CALL[source], stop), True), (answer(source, WORDS[source]), False)):
        assert RESULT[source](reply) is asks
        assert RESULT[target](told(reply, source, target, "response").value) is asks
        out, _ = streamed(stream_of(reply, source), source, target)
        assert RESULT[target](collect(out, target).value) is asks


# Names of one thing in three protocols.

SCHEMA = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"], "additionalProperties": False}
FORMAT = {"type": "object", "properties": {}}
SAME: dict[str, dict[str, dict[str, Any]]] = {
    "limit": {"chat": {"max_completion_tokens": 50}, "responses": {"max_output_tokens": 50}, "messages": {"max_tokens": 50}},
    "sampling": {"chat": {"temperature": 0.5, "top_p": 0.9}, "responses": {"temperature": 0.5, "top_p": 0.9}, "messages": {"temperature": 0.5, "top_p": 0.9}},
    "end user": {"chat": {"safety_identifier": "u"}, "responses": {"safety_identifier": "u"}, "messages": {"metadata": {"user_id": "u"}}},
    "effort": {"chat": {"reasoning_effort": "low"}, "responses": {"reasoning": {"effort": "low"}}, "messages": {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}},
    "tools": {
        "chat": {"tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA, "strict": True}}]},
        "responses": {"tools": [{"type": "function", "name": "f", "description": "d", "parameters": SCHEMA, "strict": True}]},
        "messages": {"tools": [{"name": "f", "description": "d", "input_schema": SCHEMA, "strict": True}]},
    },
    **{
        f"choice {word}": {
            "chat": {"tools": [{"type": "function", "function": {"name": "f", "parameters": SCHEMA, "strict": True}}], "tool_choice": chat},
            "responses": {"tools": [{"type": "function", "name": "f", "parameters": SCHEMA, "strict": True}], "tool_choice": responses},
            "messages": {"tools": [{"name": "f", "input_schema": SCHEMA, "strict": True}], "tool_choice": messages},
        }
        for word, chat, responses, messages in (
            ("auto", "auto", "auto", {"type": "auto"}), ("any", "required", "required", {"type": "any"}), ("none", "none", "none", {"type": "none"}),
            ("one", {"type": "function", "function": {"name": "f"}}, {"type": "function", "name": "f"}, {"type": "tool", "name": "f"}),
        )
    },
    "one at a time": {
        "chat": {"tools": [{"type": "function", "function": {"name": "f", "parameters": SCHEMA, "strict": True}}], "tool_choice": "auto", "parallel_tool_calls": False},
        "responses": {"tools": [{"type": "function", "name": "f", "parameters": SCHEMA, "strict": True}], "tool_choice": "auto", "parallel_tool_calls": False},
        "messages": {"tools": [{"name": "f", "input_schema": SCHEMA, "strict": True}], "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
    },
    "format": {
        "chat": {"response_format": {"type": "json_schema", "json_schema": {"name": "output", "strict": True, "schema": FORMAT}}},
        "responses": {"text": {"format": {"type": "json_schema", "name": "output", "strict": True, "schema": FORMAT}}},
        "messages": {"output_config": {"format": {"type": "json_schema", "schema": FORMAT}}},
    },
    "implicit caching": {
        "chat": {"prompt_cache_options": {"mode": "implicit"}}, "responses": {"prompt_cache_options": {"mode": "implicit"}}, "messages": {"cache_control": {"type": "ephemeral"}},
    },
    "tier": {"chat": {"service_tier": "default"}, "responses": {"service_tier": "default"}, "messages": {"service_tier": "standard_only"}},
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize(("source", "target"), SIX)
def test_one_thing_by_its_names(name: str, source: str, target: str) -> None:
    value = told(ask(source, **SAME[name][source]), source, target).value
    assert {key: value.get(key) for key in SAME[name][target]} == SAME[name][target]


LOOP = {
    "chat": ask(
        "chat", USER, {"role": "assistant", "content": None, **CALL["chat"]}, {"role": "tool", "tool_call_id": "c", "content": "18"}
    )["messages"],
    "responses": ask(
        "responses", USER, {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}, {"type": "function_call_output", "call_id": "c", "output": "18"}
    )["input"],
    "messages": ask(
        "messages", USER, {"role": "assistant", "content": CALL["messages"]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "18"}]}
    )["messages"],
}  # fmt: skip


@pytest.mark.parametrize(("source", "target"), SIX)
def test_a_call_and_its_result(source: str, target: str) -> None:
    value = told(ask(source, *LOOP[source]), source, target).value
    found = value["input" if target == "responses" else "messages"]
    for turn in found:
        turn.pop("type", None) if turn.get("type") == "message" else None
    assert [{key: said for key, said in turn.items() if said is not None} for turn in found] == [
        {key: said for key, said in turn.items() if said is not None} for turn in LOOP[target]
    ]


# An adapter's scenarios.


def test_headers_and_address() -> None:
    """A key is a Bearer token here and a header of its own there; either is read as either."""
    show = context({"credentials": "true"})
    there = {
        "method": "POST",
        "url": "https://api.openai.com/v1/chat/completions",
        "headers": {"Authorization": "Bearer k", "Content-Type": "application/json", "OpenAI-Organization": "org-1"},
        "body": ask("chat"),
    }
    value = translate_exchange(there, "chat", "messages", show).value
    heads = {name.lower(): said for name, said in value["headers"].items()}
    assert value["url"] == "https://api.anthropic.com/v1/messages"
    assert (heads["x-api-key"], heads["anthropic-version"], "openai-organization" in heads) == (
        "k",
        "2023-06-01",
        False,
    )
    for head in ({"x-api-key": "k"}, {"Authorization": "Bearer k"}):
        captured = {
            "method": "POST",
            "url": "https://api.anthropic.com/v1/messages",
            "headers": {**head, "anthropic-version": "2023-06-01"},
            "body": ask("messages"),
        }
        for target, url in (
            ("chat", "https://api.openai.com/v1/chat/completions"),
            ("responses", "https://api.openai.com/v1/responses"),
        ):
            value = translate_exchange(captured, "messages", target, show).value
            heads = {name.lower(): said for name, said in value["headers"].items()}
            assert value["url"] == url and heads["authorization"] == "Bearer k" and "anthropic-version" not in heads


DEPRECATED = [
    ({"max_tokens": 7}, "max_tokens", 7),
    ({"max_tokens": 7, "max_completion_tokens": 8}, "max_tokens", 8),
    ({"stop": "END"}, "stop_sequences", ["END"]),
    ({"functions": [{"name": "f", "parameters": FORMAT}]}, "tools", [{"name": "f", "input_schema": FORMAT}]),
    (
        {"functions": [{"name": "old", "parameters": FORMAT}], "tools": [{"type": "function", "function": {"name": "f", "parameters": FORMAT}}]},
        "tools", [{"name": "f", "input_schema": FORMAT}],
    ),
    ({"functions": [{"name": "f", "parameters": FORMAT}], "function_call": {"name": "f"}}, "tool_choice", {"type": "tool", "name": "f"}),
    ({"user": "u"}, "metadata", {"user_id": "u"}),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "key", "seen"), DEPRECATED)
def test_deprecated_fields(fields: dict[str, Any], key: str, seen: Any) -> None:
    assert told(ask("chat", **fields), "chat", "messages").value[key] == seen


def test_the_model_may_be_replaced() -> None:
    for source, target in SIX:
        assert told(ask(source), source, target, choices={"model": "other"}).value["model"] == "other"


def test_a_first_chunk_begins_the_message() -> None:
    """Role, text, reasoning and calls open blocks; the first piece of a call has its id and name."""
    reply = answer("chat", {"content": "A", "reasoning_content": "Hm", **CALL["chat"]}, "tool_calls")
    out, _ = streamed(stream_of(reply, "chat"), "chat", "messages")
    assert out[0]["type"] == "message_start" and out[0]["message"]["model"] == "m"
    opened = [event["content_block"]["type"] for event in out if event["type"] == "content_block_start"]
    assert opened == ["thinking", "text", "tool_use"]
    assert [event["type"] for event in out[-2:]] == ["message_delta", "message_stop"]
    assert sum(event["type"] == "message_delta" for event in out) == 1
    assert out[-2]["delta"]["stop_reason"] == "tool_use" and out[-2]["usage"]["output_tokens"] == 2


@pytest.mark.parametrize("target", ["responses", "messages"])
def test_characters_cut_at_every_byte(target: str) -> None:
    words = "né 日本 \U0001f600\u2028"
    data = b"".join(
        b"data: " + (text.dumps(event) if event is not DONE else b"[DONE]") + b"\n\n"
        for event in stream_of(answer("chat", {"content": words}), "chat")
    )
    whole = Pipe("chat", target)
    wanted = whole.feed(data) + whole.close()
    for cut in (place for place, byte in enumerate(data) if byte >= 0x80):
        pipe = Pipe("chat", target)
        assert pipe.feed(data[:cut]) + pipe.feed(data[cut:]) + pipe.close() == wanted


@pytest.mark.parametrize("target", ["chat", "responses"])
def test_an_error_body(target: str) -> None:
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": "Bad"}}
    assert told(error, "messages", target, "error").value == {
        "error": {"message": "Bad", "type": "invalid_request_error", "param": None, "code": None}
    }


def test_other_endpoints() -> None:
    """Models go both ways; vectors and rankings only among their own kind."""
    models = {"object": "list", "data": [{"id": "m", "object": "model", "created": 0, "owned_by": "x"}]}
    value = translate_endpoint(models, "chat", "messages", "models", "response").value
    assert [each["id"] for each in value["data"]] == ["m"] and value["data"][0]["created_at"] == "1970-01-01T00:00:00Z"
    for endpoint, body in (
        ("embeddings", {"model": "m", "input": "A"}),
        ("rerank", {"model": "m", "query": "q", "documents": ["d"]}),
    ):
        assert translate_endpoint(body, "chat", "chat", endpoint, "request").value == body
        with pytest.raises(NotPossible) as caught:
            translate_endpoint(body, "chat", "messages", endpoint, "request")
        assert caught.value.code == "no-endpoint"


# What sources say and the interfaces of today do otherwise (§3), where no decision above has it.


def test_what_has_changed_since() -> None:
    tools = [{"type": "function", "function": {"name": "f", "parameters": FORMAT}}]
    effort = told(
        ask("messages", tools=[{"name": "f", "input_schema": FORMAT}], output_config={"effort": "low"}),
        "messages",
        "chat",
    )
    assert "tools-with-effort" in findings(effort) and effort.value["reasoning_effort"] == "low"
    assert "tools-with-effort" not in findings(told(ask("chat", tools=tools), "chat", "responses"))
    image = {
        "role": "user",
        "content": [{"type": "image_url", "image_url": {"url": "https://a.example/a.png", "detail": "original"}}],
    }
    assert told(ask("chat", image), "chat", "responses").value["input"][0]["content"][0]["detail"] == "original"
    padded = told(ask("chat", stream=True, stream_options={"include_obfuscation": False}), "chat", "responses").value
    assert padded["stream_options"] == {"include_obfuscation": False}
    again = told(padded, "responses", "chat").value
    assert again["stream_options"] == {"include_obfuscation": False, "include_usage": True}


def test_a_refusal_is_a_part_and_an_image_is_an_item() -> None:
    value = told(answer("chat", {"refusal": "No."}), "chat", "responses", "response").value
    (item,) = value["output"]
    assert item["type"] == "message" and item["content"] == [{"type": "refusal", "refusal": "No."}]
    drawn = answer(
        "responses",
        [{"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "AAAA"}, *WORDS["responses"]],
    )
    for target in ("chat", "messages"):
        done = told(drawn, "responses", target, "response")
        assert reasons(done, "output", 0, "result")[0] == ("dropped", "hosted-tool") and b"AAAA" not in text.dumps(
            done.value
        )


def test_item_ids_in_requests_are_left_out() -> None:
    """Only ids that the vendor gave are taken back there."""
    for source in ("chat", "messages"):
        calls = [
            item
            for item in told(ask(source, *LOOP[source]), source, "responses").value["input"]
            if item.get("type") == "function_call"
        ]
        assert calls and "id" not in calls[0]


def test_the_report_tells_of_the_gap(tmp_path: Any, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    events = [{**CREATED, "sequence_number": 0}, {**ENDED, "sequence_number": 5}]
    path = tmp_path / "gap.sse"
    path.write_bytes(
        b"".join(b"event: " + event["type"].encode() + b"\ndata: " + text.dumps(event) + b"\n\n" for event in events)
    )
    app.main(["convert", str(path), "--to", "chat", "--report", f"json:{tmp_path / 'report'}"])
    capsysbinary.readouterr()
    (item,) = text.loads((tmp_path / "report").read_bytes())["items"]
    assert "expected 1, got 5" in [found["text"] for found in item["findings"]]
