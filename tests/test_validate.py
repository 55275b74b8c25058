"""Validation: what is found in recorded traffic, where exactly a fault is, what is asked for, and what a person reads."""

import copy
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from proxai_cli import text
from proxai_cli.context import Finding
from proxai_cli.protocols import PROTOCOLS
from proxai_cli.reasons import ERRORS, FINDINGS
from proxai_cli.schemas import ours
from proxai_cli.validate import FOUND_AT_MOST, StreamValidator, validate
from proxai_cli.validate.batch import validate_batch
from proxai_cli.validate.exchange import validate_exchange
from proxai_cli.validate.profiles import EVERYTHING, LAYERS, PROFILES, Wanted, layer_of
from proxai_cli.validate.shape import MARKS, shape_of
from proxai_cli.wire import sse

from .calls import Done, answered
from .captures import FIXTURES, Capture, corpus, fixtures
from .examples import Examples, schema
from .found import FOUND
from .shared import SHARED
from .small import answer, ask
from .small import called as called_at_once
from .test_judges import ERROR_FRAMES, LOST_BLANK_LINES

SCHEMA = jsonschema.Draft202012Validator(ours("report"))
EXPECTED = {name: tuple(codes.split()) for codes, names in FOUND.items() for name in names.split()}
recorded = pytest.mark.skipif(SHARED is None, reason="needs the recorded traffic of the shared folder")


def streamed(data: bytes, protocol: str, wanted: Wanted = EVERYTHING) -> StreamValidator:
    stream = StreamValidator(protocol, wanted)
    stream.feed(data)
    stream.close()
    return stream


def found(data: bytes, protocol: str, kind: str, wanted: Wanted = EVERYTHING) -> list[Finding]:
    if kind == "stream":
        return streamed(data, protocol, wanted).findings
    return validate(text.read(data)[0], protocol, kind, wanted)


def codes(findings: list[Finding]) -> tuple[str, ...]:
    return tuple(sorted({each.code for each in findings}))


# What is found in recorded traffic


def cases() -> Iterator[tuple[str, str, str, bytes]]:
    for path in sorted((SHARED / "cases").glob("*/case.json")) if SHARED else ():
        case, given = text.loads(path.read_bytes()), next(path.parent.glob("input.*"))
        if case["kind"] != "detect":
            kind = "stream" if given.suffix == ".sse" else case["kind"]
            yield f"cases/{path.parent.name}", case["from"], kind, given.read_bytes()


def captured(captures: Iterator[Capture]) -> Iterator[tuple[str, str, str, bytes]]:
    for each in captures:
        name = each.label.removeprefix("corpus/") if each.label.startswith("corpus/") else f"fixtures/{each.label}"
        if each.path.suffix != ".txt":  # no JSON
            yield name, each.protocol, each.kind, each.data


@pytest.mark.parametrize(
    "where", ["fixtures", pytest.param("corpus", marks=recorded), pytest.param("cases", marks=recorded)]
)
def test_every_fault_is_found_and_nothing_else(where: str) -> None:
    files = {"fixtures": lambda: captured(fixtures()), "corpus": lambda: captured(corpus()), "cases": cases}[where]()
    seen = {name: codes(found(data, protocol, kind)) for name, protocol, kind, data in files}
    assert len(seen) > 90
    assert {name: said for name, said in seen.items() if said} == {
        name: said for name, said in EXPECTED.items() if name in seen
    }
    if where == "corpus":
        named = {name for name in EXPECTED if not name.startswith(("fixtures/", "cases/"))}
        assert named <= seen.keys()


@recorded
def test_the_shape_is_judged_as_the_official_types_judge_it() -> None:
    assert SHARED is not None
    rows = {row["file"]: row for row in map(text.loads, (SHARED / "corpus" / "index.jsonl").read_bytes().splitlines())}
    shape = Wanted(("shape",))
    wrong = []
    for name, protocol, kind, data in captured(corpus()):
        said = {each.code for each in found(data, protocol, kind, shape)} & {
            "invalid-shape",
            "unknown-stop",
            "bad-json",
        }
        if bool(said) is bool(rows[name]["valid"]) and name not in LOST_BLANK_LINES | ERROR_FRAMES:
            wrong.append(name)
    # The API refused these two, though the types take them.
    assert wrong == ["chat/request/envoy-ai-gateway-002.json"]


def written() -> Iterator[tuple[str, str, str, bytes]]:
    for path in sorted((FIXTURES / "expected").glob("*/*/*")):
        if not path.name.endswith(".ledger.json"):
            name = path.relative_to(FIXTURES / "expected").as_posix()
            failed = path.parent.name == "failed-response" and path.stem == "response"
            yield name, path.parent.parent.name.partition("-")[2], "error" if failed else path.stem, path.read_bytes()


def test_what_we_write_is_valid_in_all_layers() -> None:
    seen = {name: codes(found(data, protocol, kind)) for name, protocol, kind, data in written()}
    said = {name: each for name, each in seen.items() if each}
    cut = {name: ("truncated",) for name in seen if name.endswith("cut-inside-arguments/stream.sse")}
    assert len(seen) > 150 and len(cut) == 6
    assert said == cut | {
        "chat-responses/usage-chunk-missing/stream.sse": ("usage-missing",),  # the source has none
        "responses-chat/custom-tool-with-grammar/stream.sse": (
            "invalid-shape",
        ),  # the chunk type has no free-text call
    }


# Where exactly


WRONG = (5.5, "no such word", [[]], {"no such key": 1}, True)
MISSING = object()


def broken(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    document = copy.deepcopy(document)
    home = document
    for step in path[:-1]:
        home = home[step]
    if value is MISSING:
        del home[path[-1]]
    else:
        home[path[-1]] = value
    return document


@pytest.mark.parametrize(("protocol", "kind"), [(name, kind) for name in PROTOCOLS for kind in schema(name)["kinds"]])
def test_one_broken_property_is_one_fault_at_its_pointer(protocol: str, kind: str) -> None:
    """Over documents made from the schema, by the plain rules of JSON Schema, which say no more than whether."""
    shape, plain = shape_of(protocol), schema(protocol)
    whole = jsonschema.Draft202012Validator({**plain["kinds"][kind], "$defs": plain["$defs"]})
    every = {"request": 90, "response": 60, "stream": 70}[kind] if protocol != "chat" and kind != "error" else 3
    tried = 0
    for example in islice(Examples(protocol, kind).all(), None, None, every):
        if shape.faults(kind, example.document):
            continue  # the example itself is none: a map of something else than text
        for value in (*WRONG, MISSING):
            if value is MISSING and example.name in MARKS:
                continue  # what is meant is another member then
            document = broken(example.document, example.path, value)
            faults = shape.faults(kind, document)
            assert bool(faults) is not whole.is_valid(document), (example, value)
            tried += bool(faults)
            assert all(fault.path[: len(example.path)] == example.path for fault in faults), (example, value, faults)
            if not isinstance(value, (dict, list)):
                assert [fault.path for fault in faults] in ([], [example.path]), (example, value, faults)
    assert tried > 15


ASK = {"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}
LOOK = {
    "role": "user",
    "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/bmp", "data": ""}}],
}
DEEPEST = [
    ("chat", "request", {**ASK, "tools": [{"type": "function"}]}, "/tools/0/function", "required, but missing"),
    ("chat", "request", {**ASK, "stream": "yes"}, "/stream", "expected false or null, found a string"),
    ("chat", "request", {**ASK, "temperature": "1"}, "/temperature", "expected a number or null, found a string"),
    ("chat", "request", {**ASK, "messages": [{"role": "robot"}]}, "/messages/0/role", None),
    ("chat", "request", {**ASK, "messages": [{"content": "x"}]}, "/messages/0/role", None),
    ("chat", "request", {**ASK, "messages": "x"}, "/messages", "expected a list, found a string"),
    (
        "messages",
        "request",
        {"model": "m", "max_tokens": 1, "messages": [LOOK]},
        "/messages/0/content/0/source/media_type",
        "expected `image/jpeg`, `image/png`, `image/gif` or `image/webp`, found another string",
    ),
    ("messages", "request", {"model": "m", "max_tokens": 5.5, "messages": []}, "/max_tokens", None),
    ("responses", "request", {"input": [{"type": "function_call_output", "call_id": "c"}]}, "/input/0/output", None),
    ("responses", "request", {"input": [{"type": "hologram"}]}, "/input/0/type", None),
    (
        "responses",
        "request",
        {"input": [{"role": "user", "content": [{"type": "input_text"}]}]},
        "/input/0/content/0/text",
        None,
    ),
]


@pytest.mark.parametrize(("protocol", "kind", "value", "at", "said"), DEEPEST)
def test_the_deepest_place_is_named(protocol: str, kind: str, value: Any, at: str, said: str | None) -> None:
    faults = shape_of(protocol).faults(kind, value)
    assert [text.pointer(fault.path) for fault in faults] == [at]
    assert said is None or faults[0].said == said


@pytest.mark.parametrize(("mark", "path"), [([1], ()), ({"type": "x"}, ("type",)), ({"type": "ephemeral"}, None)])
def test_a_key_that_another_form_of_the_block_does_not_know_is_looked_at(mark: Any, path: Any) -> None:
    """A text of a reply, which may come back in a request, has any key."""
    block = {"type": "text", "text": "Hi", "cache_control": mark}
    found = validate(ask("messages", {"role": "user", "content": [block]}), "messages", "request")
    place = ("messages", 0, "content", 0, "cache_control")
    assert [each.place for each in found] == ([] if path is None else [(*place, *path)])


def test_a_member_that_takes_any_key_is_not_ruled_out_by_a_mark() -> None:
    schema = {"type": "object", "properties": 5}  # the types take any mapping as a schema
    assert not validate({**MESSAGES, "tools": [{"name": "f", "input_schema": schema}]}, "messages", "request")


def test_no_captured_value_is_told() -> None:
    secret = "hunter2 in the clear"
    for value in ({**ASK, "tool_choice": secret}, {**ASK, "messages": [{"role": secret}]}, {**ASK, "stream": secret}):
        assert secret not in repr(validate(value, "chat", "request"))
    stream = streamed(f'event: {secret}\ndata: {{"type":"{secret}"}}\n\n'.encode(), "responses")
    assert "unknown-event" in codes(stream.findings) and secret not in repr(stream.findings)


# What an API refuses beyond the shape

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"$ref": "#/$defs/a"}}}
CALL = {
    "role": "assistant",
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}],
}
RESULT = {"role": "tool", "tool_call_id": "c", "content": ""}
USER = {"role": "user", "content": "x"}
MARKED = {"type": "text", "text": "x", "prompt_cache_breakpoint": {"mode": "explicit"}}
TAKEN = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
GIVEN = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}
CACHED = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 3}
CHAT: dict[str, Any] = {"model": "m", "messages": [USER]}
RESPONSES: dict[str, Any] = {"model": "m", "input": "x"}
MESSAGES: dict[str, Any] = {"model": "claude-haiku-4-5", "max_tokens": 9, "messages": [USER]}
ANSWER = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
SPOKEN = {
    "index": 0,
    "finish_reason": "stop",
    "logprobs": None,
    "message": {"role": "assistant", "content": "x", "refusal": None},
}
TOKENS = {"input_tokens": 1, "output_tokens": 1}
MESSAGE = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": "end_turn"}
MESSAGE |= {"stop_sequence": None, "usage": TOKENS}


def replied(arguments: str, stop: str = "tool_calls") -> dict[str, Any]:
    return answer("chat", {"refusal": None, **called_at_once("chat", arguments)}, stop)


REFUSED = [
    ("chat", "request", {**CHAT, "messages": [USER, CALL]}, "unpaired-tool", ("messages", 1, "tool_calls", 0, "id")),
    ("chat", "request", {**CHAT, "messages": [USER, CALL, USER, RESULT]}, "unpaired-tool", ("messages", 1, "tool_calls", 0, "id")),
    ("chat", "request", {**CHAT, "messages": [USER, CALL, USER, RESULT]}, "unpaired-tool", ("messages", 3, "tool_call_id")),
    ("chat", "request", {**CHAT, "messages": [USER, RESULT]}, "unpaired-tool", ("messages", 1, "tool_call_id")),
    ("chat", "request", {**CHAT, "messages": [USER, CALL, RESULT]}, None, None),
    ("chat", "request", {**CHAT, "tools": [TOOL]}, "root-ref", ("tools", 0, "function", "parameters")),
    (
        "chat",
        "request",
        {**CHAT, "tool_choice": {"type": "function", "function": {"name": "g"}}},
        "unknown-choice",
        ("tool_choice", "function", "name"),
    ),
    ("chat", "request", {**CHAT, "model": "o3", "temperature": 0}, "model-refuses", ("model",)),
    ("chat", "request", {**CHAT, "metadata": {"k": "v" * 513}}, "too-long", ("metadata",)),
    ("chat", "request", {**CHAT, "messages": [{**USER, "content": [MARKED] * 5}]}, "too-many-cache-marks", ("messages",)),
    (
        "chat",
        "request",
        {**CHAT, "model": "gpt-5.4", "reasoning_effort": "low", "tools": [{"type": "function", "function": {"name": "f"}}]},
        "tools-with-effort",
        ("reasoning_effort",),
    ),
    ("chat", "request", {**CHAT, "messages": []}, "invalid-shape", ("messages",)),
    ("chat", "response", {**ANSWER, "choices": [], "usage": None}, "empty-reply", ("choices",)),
    ("chat", "response", {**ANSWER, "choices": [SPOKEN]}, "usage-missing", ("usage",)),
    ("chat", "response", {**ANSWER, "choices": [SPOKEN], "usage": USAGE}, "usage-mismatch", ("usage", "total_tokens")),
    (
        "chat",
        "response",
        {**ANSWER, "choices": [{**SPOKEN, "finish_reason": "eos"}], "usage": None},
        "unknown-stop",
        ("choices", 0, "finish_reason"),
    ),
    ("responses", "request", {"input": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": ""}]}, "unpaired-tool", ("input", 0, "call_id")),
    ("responses", "request", {"input": [{"type": "function_call_output", "call_id": "c", "output": ""}]}, "unpaired-tool", ("input", 0, "call_id")),
    (
        "responses",
        "request",
        {"previous_response_id": "r", "input": [{"type": "function_call_output", "call_id": "c", "output": ""}]},
        None,
        None,
    ),
    (
        "responses",
        "request",
        {**RESPONSES, "tools": [{"type": "function", "name": "f", "strict": True, "parameters": {"$ref": "#"}}]},
        "root-ref",
        ("tools", 0, "parameters"),
    ),
    ("responses", "request", {**RESPONSES, "tool_choice": {"type": "function", "name": "f"}}, "unknown-choice", ("tool_choice", "name")),
    ("messages", "request", {**MESSAGES, "messages": [USER, {"role": "assistant", "content": [TAKEN]}]}, "unpaired-tool", ("messages", 1, "content", 0, "id")),
    ("messages", "request", {**MESSAGES, "messages": [USER, GIVEN]}, "unpaired-tool", ("messages", 1, "content", 0, "tool_use_id")),
    ("messages", "request", {**MESSAGES, "messages": [USER, {"role": "assistant", "content": [TAKEN]}, GIVEN]}, None, None),
    ("messages", "request", {**MESSAGES, "tools": [{"name": "f", "input_schema": {"$ref": "#"}}]}, "root-ref", ("tools", 0, "input_schema")),
    ("messages", "request", {**MESSAGES, "tool_choice": {"type": "tool", "name": "f"}}, "unknown-choice", ("tool_choice", "name")),
    ("messages", "request", {**MESSAGES, "system": [CACHED] * 5}, "too-many-cache-marks", ()),
    ("messages", "request", {**MESSAGES, "messages": [USER, {"role": "assistant", "content": "a "}]}, "prefill-space", ("messages", 1, "content")),
    ("messages", "request", {**MESSAGES, "messages": [USER, {"role": "assistant", "content": "a"}]}, None, None),
    ("messages", "request", {**MESSAGES, "model": "claude-opus-4-6", "messages": [USER, {"role": "assistant", "content": "a"}]}, "prefill", ("messages", 1)),
    ("messages", "request", {**MESSAGES, "messages": [{**USER, "content": ""}]}, "empty-turn", ("messages", 0, "content")),
    ("messages", "request", {**MESSAGES, "messages": [USER, {"role": "assistant", "content": ""}]}, None, None),
    ("messages", "response", MESSAGE, "empty-reply", ("content",)),
    ("messages", "response", {**MESSAGE, "content": [TAKEN]}, "end-with-calls", ("stop_reason",)),
    ("messages", "response", {**MESSAGE, "content": [TAKEN], "stop_reason": "tool_use"}, None, None),
    ("chat", "response", replied('{"a":1}'), None, None),
    ("chat", "response", replied(""), None, None),
    ("chat", "response", replied('{"a":'), "bad-arguments", ("choices", 0, "message", "tool_calls", 0, "function", "arguments")),
    ("chat", "response", replied("", "stop"), "stop-with-calls", ("choices", 0, "finish_reason")),
    ("chat", "request", {**CHAT, "temprature": 1}, "unknown-key", ("temprature",)),
    ("chat", "request", {**CHAT, "messages": [{**USER, "nmae": "x"}]}, "unknown-key", ("messages", 0, "nmae")),
    ("chat", "request", {**CHAT, "thinking": {"type": "enabled"}}, None, None),
    ("responses", "request", {**RESPONSES, "reasoning": {"efort": "low"}}, "unknown-key", ("reasoning", "efort")),
    ("responses", "request", {**RESPONSES, "metadata": {"efort": "low"}}, None, None),
    ("messages", "request", {**MESSAGES, "max_token": 9}, "unknown-key", ("max_token",)),
    ("messages", "response", {**MESSAGE, "content": [TAKEN], "stop_reason": "tool_use", "newer": 1}, None, None),
    ("messages", "response", {**MESSAGE, "content": [{"type": "text", "text": "x", "citations": None}], "stop_reason": "eos"}, "unknown-stop", ("stop_reason",)),
]  # fmt: skip


@pytest.mark.parametrize(("protocol", "kind", "value", "code", "path"), REFUSED)
def test_what_an_api_refuses(protocol: str, kind: str, value: Any, code: str | None, path: Any) -> None:
    said = validate(value, protocol, kind)
    if code is None:
        assert not said
    else:
        assert (code, path) in [(each.code, each.place) for each in said]
        assert {each.code for each in said} <= {code, "usage-missing"} and len(set(said)) == len(said)


def test_arguments_are_json_and_free_text_is_none() -> None:
    reply = text.loads((FIXTURES / "responses" / "two-tools-in-parallel" / "response.json").read_bytes())
    at = next(at for at, item in enumerate(reply["output"]) if item["type"] == "function_call")
    free = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "f", "input": "no JSON"}
    assert not validate({**reply, "output": [*reply["output"], free]}, "responses", "response")
    reply["output"][at]["arguments"] = '{"a":'
    said = validate(reply, "responses", "response")
    assert [(each.code, each.place) for each in said] == [("bad-arguments", ("output", at, "arguments"))]


def test_the_nearest_name_is_told_if_there_is_one_and_the_schemas_know_it() -> None:
    keys = {"temprature": "temperature", "hunter2": "", "max_completion_token": "max_completion_tokens"}
    said = validate({**CHAT, **dict.fromkeys(keys, 1)}, "chat", "request")
    assert [each.place for each in said] == [(key,) for key in sorted(keys)]
    for each in said:
        name = keys[each.place[0]]
        assert each.said.endswith(f"; did you mean `{name}`?" if name else "refuses the call")


@pytest.mark.parametrize(
    "junk", [None, 5, [], "x", {}, [5], {"messages": 5, "input": [None, {"content": [7]}], "tools": {}}]
)
@pytest.mark.parametrize("kind", ["request", "response", "error"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_any_shape_is_borne(protocol: str, kind: str, junk: Any) -> None:
    assert all(each.code in FINDINGS for each in validate(junk, protocol, kind))


# The order of a stream, and what clients make of it


def events_of(name: str) -> list[str]:
    return [each + "\n\n" for each in (FIXTURES / name / "stream.sse").read_text().split("\n\n") if each]


HEAD = '"id":"c","object":"chat.completion.chunk","created":1,"model":"m"'


def chunk(delta: str, finish: str = "null", more: str = "") -> str:
    return f'data: {{{HEAD},"choices":[{{"index":0,"delta":{delta},"finish_reason":{finish}}}]{more}}}\n\n'


DONE = "data: [DONE]\n\n"
COUNTS = f'data: {{{HEAD},"choices":[],"usage":{{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}}}\n\n'
SAID = [chunk('{"role":"assistant","content":"He"}'), chunk('{"content":"y"}'), chunk("{}", '"stop"'), COUNTS, DONE]


def called(index: int, more: str = "") -> str:
    return chunk(f'{{"tool_calls":[{{"index":{index},{more}"function":{{"arguments":"{{}}"}}}}]}}')


TOLD = [chunk("{}", '"tool_calls"'), COUNTS, DONE]
NEW = '"id":"a","type":"function",'
BEGUN = chunk('{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]}')
LATE = chunk('{"tool_calls":[{"index":1,"id":"a","type":"function","function":{"name":"f","arguments":""}}]}')
M = events_of("messages/two-tools-in-parallel")
R = events_of("responses/two-tools-in-parallel")


def at(events: list[str], word: str, number: int = 0) -> int:
    return [place for place, each in enumerate(events) if f'"type":"{word}"' in each][number]


def without(events: list[str], word: str, number: int = 0) -> list[str]:
    place = at(events, word, number)
    return events[:place] + events[place + 1 :]


def put_in(events: list[str], place: int, *new: str) -> list[str]:
    return events[:place] + list(new) + events[place:]


def swapped(events: list[str], place: int, old: str, new: str) -> list[str]:
    assert old in events[place]
    return [*events[:place], events[place].replace(old, new), *events[place + 1 :]]


STRANGE = 'event: codex.rate_limits\ndata: {"type":"codex.rate_limits"}\n\n'
DELTA = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"odd_delta"}}\n\n'
START, STOP, PIECE = "content_block_start", "content_block_stop", "content_block_delta"
ORDERS: list[tuple[str, list[str], dict[str, list[int]]]] = [
    ("chat", SAID, {}),
    ("chat", SAID[:-1], {"no-done": [4]}),
    ("chat", [*SAID, DONE], {"extra-done": [6]}),
    ("chat", [*SAID, SAID[1]], {"event-order": [6]}),
    ("chat", SAID[:2], {"truncated": [2]}),
    ("chat", put_in(SAID, 3, SAID[1]), {"after-finish": [4]}),
    ("chat", [*SAID[:3], DONE], {"usage-missing": []}),
    ("chat", put_in(SAID, 1, COUNTS), {"usage-early": [2]}),
    ("chat", swapped(SAID, 1, '"id":"c"', '"id":"d"'), {"id-changes": [2]}),
    ("chat", [BEGUN, called(0, NEW), *TOLD], {"call-repeats": [2]}),
    ("chat", [BEGUN, called(0), *TOLD], {}),
    ("chat", [called(0), *TOLD], {"orphan-delta": [1]}),
    ("chat", [LATE, *TOLD], {"index-gap": [1]}),
    ("chat", [BEGUN, *TOLD], {}),
    ("chat", [BEGUN, called(0).replace("{}", "{"), *TOLD], {"bad-arguments": [3]}),
    ("chat", [BEGUN, *SAID[2:]], {"stop-with-calls": [2]}),
    ("chat", put_in(SAID, 1, ": wait\n\n", ": wait\n\n"), {"keep-alive-event": [2, 2]}),
    ("chat", put_in(SAID, 1, "data:\n\n"), {"empty-event": [2]}),
    ("chat", put_in(SAID, 1, "event: ping\n\n"), {"empty-event": [2]}),
    ("chat", put_in(SAID, 1, "data: null\n\n"), {"empty-event": [2]}),
    ("chat", put_in(SAID, 1, "retry: 3\n\n"), {"keep-alive-event": [2]}),
    ("chat", put_in(SAID, 1, ": wait\n"), {}),
    ("chat", put_in(SAID, 1, "id: 1\n"), {}),
    ("chat", [": wait\n" + SAID[0] + "\n", *SAID[1:]], {}),
    ("chat", put_in(SAID, 1, 'data: {"id" 5}\n\n'), {"bad-json": [2]}),
    ("chat", put_in(SAID, 1, "data: 5\n\n"), {"invalid-shape": [2]}),
    ("chat", [SAID[0], 'data: {"error":{"message":"m","type":"t","param":null,"code":null}}\n\n'], {}),
    ("chat", [SAID[0], 'data: {"error":{"type":"t","param":null,"code":null}}\n\n'], {"invalid-shape": [2]}),
    ("messages", M, {}),
    ("messages", M[1:], {"no-start": [1]}),
    ("messages", M[:-1], {"no-done": [14]}),
    ("messages", M[:-2], {"truncated": [13]}),
    ("messages", [*M, M[-1]], {"event-order": [16]}),
    ("messages", [*M, DONE], {"extra-done": [16]}),
    ("messages", without(M, "message_delta"), {"event-order": [14]}),
    ("messages", without(M, STOP, 1), {"open-at-end": [13]}),
    ("messages", without(M, STOP), {"blocks-overlap": [7], "open-at-end": [13]}),
    ("messages", put_in(M, 2, M[1]), {"dup-start": [3]}),
    ("messages", put_in(M, at(M, STOP), M[at(M, PIECE, 4)]), {"orphan-delta": [7]}),
    ("messages", put_in(M, at(M, STOP) + 1, M[at(M, STOP)]), {"stop-unopened": [8]}),
    ("messages", [each.replace('"index":1', '"index":2') for each in M], {"index-gap": [8]}),
    ("messages", without(M, PIECE, 2), {"bad-arguments": [6]}),
    ("messages", [*M[:2], *M[6:]], {}),
    ("messages", swapped(M, 13, '"tool_use"', '"end_turn"'), {"end-with-calls": [14]}),
    ("messages", put_in(M, 14, *(each.replace('"index":1', '"index":2') for each in M[7:13])), {"after-finish": [15, 16, 17, 18, 19, 20]}),
    ("messages", put_in(M, 2, STRANGE), {"unknown-event": [3]}),
    ("messages", put_in(M, 2, DELTA), {"unknown-event": [3]}),
    ("messages", swapped(M, 3, f"event: {PIECE}\n", ""), {"event-name": [4]}),
    ("messages", swapped(M, 3, f"event: {PIECE}\n", "event: message\n"), {"event-name": [4]}),
    ("messages", swapped(M, 3, f'"type":"{PIECE}",', ""), {"event-name": [4]}),
    ("messages", swapped(M, 3, "input_json_delta", "text_delta"), {"delta-kind": [4], "invalid-shape": [4]}),
    ("responses", R, {}),
    ("responses", R[1:], {"no-start": []}),
    ("responses", R[:-1], {"truncated": [len(R) - 1]}),
    ("responses", [*R, R[2]], {"event-order": [len(R) + 1]}),
    ("responses", without(R, "response.in_progress"), {"seq-gap": [2]}),
    ("responses", put_in(R, 2, R[1]), {"seq-back": [3]}),
    ("responses", put_in(R, 3, STRANGE), {"unknown-event": [4]}),
    ("responses", [*R, DONE], {"extra-done": [len(R) + 1]}),
]  # fmt: skip


@pytest.mark.parametrize(("protocol", "events", "expected"), ORDERS)
def test_the_grammar_of_a_stream(protocol: str, events: list[str], expected: dict[str, list[int]]) -> None:
    stream = streamed("".join(events).encode(), protocol)
    said: dict[str, list[int]] = {}
    for each in stream.findings:
        said.setdefault(each.code, []).extend([each.place.event] if each.place and each.place.event else [])
    assert said.keys() == expected.keys()
    assert {code: said[code] for code, numbers in expected.items() if numbers} == {
        code: numbers for code, numbers in expected.items() if numbers
    }


def test_closing_events_that_say_something_else() -> None:
    plain = events_of("responses/plain-text")
    done = at(plain, "response.output_text.done")
    last = text.loads(plain[-1].partition("data: ")[2])
    last["response"]["output"] = []
    short = [*plain[:-1], f"event: response.completed\ndata: {text.dumps(last).decode()}\n\n"]
    assert codes(streamed("".join(short).encode(), "responses").findings) == ("snapshot-short",)
    other = swapped(plain, done, '"text":"', '"text":"No. ')
    assert codes(streamed("".join(other).encode(), "responses").findings) == ("pieces-differ",)
    late = at(plain, "response.output_item.done")
    renamed = swapped(plain, late, '"item":{"id":"', '"item":{"id":"x')
    assert codes(streamed("".join(renamed).encode(), "responses").findings) == ("id-changes",)
    bare = without(plain, "response.content_part.added")
    assert {"no-part"} <= set(codes(streamed("".join(bare).encode(), "responses").findings))


@pytest.mark.parametrize("cut", [1, 7])
def test_no_cut_matters(cut: int) -> None:
    data = "".join(put_in(SAID, 1, ": wait\n\n", "data: {}\n\n")).encode()
    stream = StreamValidator("chat")
    for start in range(0, len(data), cut):
        stream.feed(data[start : start + cut])
    stream.close()
    assert stream.findings == streamed(data, "chat").findings and stream.findings


def test_findings_are_bounded() -> None:
    stream = streamed("".join([SAID[0], *["data: {}\n\n"] * 500]).encode(), "chat")
    said = [each.said for each in stream.findings if each.code == "invalid-shape"]
    assert len(said) == FOUND_AT_MOST + 1 and said[-1] == "2400 more of these are not listed"
    assert stream.events == 501


def test_parsed_events_are_held_to_the_same() -> None:
    reader = sse.Reader()
    stream = StreamValidator("messages")
    stream.take(event.value for event in reader.feed("".join(without(M, STOP, 1)).encode()))
    stream.close()
    assert codes(stream.findings) == ("open-at-end",)


# What is asked for


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_is_told_alone(layer: str) -> None:
    odd = put_in(swapped(R, 3, '"output_index":0', '"output_index":"0"'), 3, STRANGE, R[1])
    everything = streamed("".join(odd).encode(), "responses").findings
    assert {layer_of(each.code) for each in everything} == set(LAYERS)
    alone = streamed("".join(odd).encode(), "responses", Wanted((layer,))).findings
    assert alone == [each for each in everything if layer_of(each.code) == layer]


def test_profiles_narrow_the_third_layer() -> None:
    odd = "".join(put_in(SAID, 1, ": wait\n\n", "data:\n\n")).encode()
    assert codes(streamed(odd, "chat").findings) == ("empty-event", "keep-alive-event")
    assert codes(streamed(odd, "chat", Wanted(profile="openai-node")).findings) == ("empty-event",)
    assert codes(streamed(odd, "chat", Wanted(profile="langchain")).findings) == ()


def test_profiles_are_about_findings_of_the_third_layer() -> None:
    told = {code for profile in PROFILES.values() for code in profile.breaks}
    assert all(FINDINGS[code].layer == "client" for code in told)
    assert {code for code, notice in FINDINGS.items() if notice.layer == "client"} - told == {
        "extra-done",
        "end-with-calls",
        "stop-with-calls",
    }
    assert all(layer_of(code) in (*LAYERS, "input") for code in (*FINDINGS, *ERRORS))


# What is said of official clients is what they do.
AGAIN = '{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]}'
BREAKS = [
    ("openai-python", "chat", put_in(SAID, 1, "data:\n\n"), "empty-event"),
    ("openai-python", "responses", put_in(R, 1, "event: x\n\n"), "empty-event"),
    ("openai-python", "chat", ["id: 1\n" + SAID[0], ": wait\n\n", *SAID[1:]], "keep-alive-event"),
    ("openai-python", "chat", put_in(SAID, 1, "retry: 3\n\n"), "keep-alive-event"),
    ("openai-python", "chat", [BEGUN, chunk(AGAIN), *SAID[2:]], "call-repeats"),
    ("anthropic-python", "messages", swapped(M, 4, f"event: {PIECE}\n", ""), "event-name"),
]


@pytest.mark.parametrize(("profile", "protocol", "events", "code"), BREAKS)
def test_the_official_clients_fail_where_their_profiles_say_so(
    profile: str, protocol: str, events: list[str], code: str
) -> None:
    from .clients import events_in, read_events, read_stream, seen_in

    data = "".join(events).encode()
    assert code in PROFILES[profile].breaks
    assert code in codes(streamed(data, protocol, Wanted(profile=profile)).findings)
    try:
        seen = read_stream(protocol, data) if code == "call-repeats" else read_events(protocol, data)
    except ValueError:
        return
    ours = seen_in(protocol, "stream", [each for each in events_in(data) if each])
    assert (seen.text, seen.calls) != (ours.text, ours.calls)


# Exchanges


def exchange(**more: Any) -> dict[str, Any]:
    asked = {"method": "POST", "url": "https://api.example/v1/chat/completions", "headers": {}, "body": CHAT}
    return {"request": asked, "response": {"status": 200, "headers": {}, "body": "".join(SAID), **more}}


def test_both_bodies_of_an_exchange_are_looked_at() -> None:
    checked = validate_exchange(exchange(), "chat")
    assert (checked.findings, checked.errors, checked.events) == ([], [], 5)
    wrong = exchange(body={**ANSWER, "choices": [{**SPOKEN, "index": "0"}], "usage": None})
    wrong["request"]["body"] = {**CHAT, "temperature": "hot"}
    said = {(each.code, text.pointer(each.place)) for each in validate_exchange(wrong, "chat").findings}
    assert said == {
        ("invalid-shape", "/request/body/temperature"),
        ("invalid-shape", "/response/body/choices/0/index"),
        ("usage-missing", "/response/body/usage"),
    }
    assert validate_exchange(exchange(body="<html>", status=502), "chat").errors
    assert codes(validate_exchange(exchange(body="".join(SAID[:2])), "chat").findings) == ("truncated",)


def test_a_model_may_stand_in_the_url() -> None:
    asked = {"method": "POST", "headers": {}, "body": {"messages": [USER]}}
    url = "https://x.openai.azure.com/openai/deployments/g/chat/completions?api-version=2024-10-21"
    assert not validate_exchange({**asked, "url": url}, "chat").findings
    assert codes(validate_exchange({**asked, "url": "/v1/chat/completions"}, "chat").findings) == ("invalid-shape",)


def test_ids_of_a_batch() -> None:
    lines = {"requests": [{"custom_id": name, "params": MESSAGES} for name in ("a-1", "a 1")]}
    said = [(each.code, each.place) for each in validate_batch(lines, "messages") or ()]
    assert said == [("illegal-custom-id", ("requests", 1, "custom_id"))]
    assert validate_batch({"requests": []}, "messages") is None and validate_batch({"object": "batch"}, "chat") is None


# The command

LINE = {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": CHAT}
BATCH = [LINE, {**LINE, "custom_id": "b", "body": {**CHAT, "seed": "x"}}, {**LINE, "url": "/v1/embeddings"}]
ASKED = {"method": "POST", "url": "https://api.openai.com/v1/chat/completions", "headers": []}
ASKED |= {"postData": {"mimeType": "application/json", "text": text.dumps({**CHAT, "seed": "x"}, indent=1).decode()}}
SSE = {"content": {"mimeType": "text/event-stream", "text": "".join(SAID[:1] * 2 + SAID)}, "status": 200, "headers": []}
ENTRY = {"startedDateTime": "2026-01-01T00:00:00Z", "time": 1, "request": ASKED, "response": SSE}
HAR = {"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": [ENTRY]}}

Proxai = Callable[..., Done]


@pytest.fixture
def proxai(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Proxai:
    """Answers calls in a folder that holds these captures."""
    monkeypatch.chdir(tmp_path)
    gateway = without(put_in(put_in(R, 2, STRANGE), 5, STRANGE, ": wait\n\n"), "response.in_progress")
    for name, said in {
        "gw.sse": "".join(gateway),
        "good.sse": "".join(SAID),
        "cut.sse": "".join(SAID[:2]),
        "request.json": text.dumps(CHAT).decode(),
        "wrong.json": text.dumps({**CHAT, "tools": [{"type": "function"}], "temperature": "hot"}, indent=2).decode(),
        "models.json": '{"object":"list","data":[{"id":"m","object":"model","created":1,"owned_by":"x"}]}',
        "prose.txt": "Dear reader,\n",
        "batch.jsonl": "".join(text.dumps(each).decode() + "\n" for each in BATCH),
        "call.har": text.dumps(HAR, indent=1).decode(),
        "tie.json": text.dumps({"model": "m", "max_tokens": 5, "messages": [USER]}).decode(),
        "pair.json": text.dumps(exchange()).decode(),
    }.items():
        (tmp_path / name).write_text(said)

    def call(*words: str) -> Done:
        return answered(["validate", *words], b"", tmp_path)

    return call


def test_will_clients_accept_this_stream(proxai: Proxai) -> None:
    done = proxai("gw.sse")
    first, *rows, last = done.out.decode().splitlines()
    assert first == f"gw.sse: responses stream, {len(R) + 1} events"
    assert [row.split(maxsplit=3)[:3] for row in rows] == [
        ["risk", "client", "unknown-event"],
        ["risk", "order", "seq-gap"],
        ["note", "client", "keep-alive-event"],
    ]
    assert "event 2, 5 " in rows[0] and rows[0].endswith(
        "codex.rate_limits is not part of the protocol; strict clients stop here"
    )
    assert last == "2 risks, 1 note" and done.code == 1 and not done.err


def test_valid_is_said_only_of_what_was_read(proxai: Proxai) -> None:
    done = proxai("good.sse", "request.json", "--from", "chat")
    assert done.code == 0 and done.out.decode().splitlines() == [
        "good.sse: chat stream, 5 events: valid",
        "request.json: chat request: valid",
        "2 captures, 2 valid",
    ]
    cut = proxai("cut.sse")
    assert cut.code == 3 and "valid" not in cut.out.decode() and "error[truncated]" in cut.err
    assert cut.out.startswith(b"cut.sse: chat stream, 2 events, cut\n  risk  order  truncated  event 2 ")
    narrowed = proxai("cut.sse", "--layer", "shape")
    assert narrowed.code == 3 and "nothing found" not in narrowed.out.decode()
    assert (
        b"good.sse: chat stream, 5 events: nothing found (client; openai-go)"
        in proxai("good.sse", "--layer", "client", "--profile", "openai-go").out
    )
    for name in ("models.json", "prose.txt", "tie.json"):
        done = proxai(name)
        assert done.code == 3 and b"not checked" in done.out and b"valid" not in done.out, name


def test_all_captures_are_looked_at(proxai: Proxai) -> None:
    done = proxai("prose.txt", "wrong.json", "good.sse")
    assert done.code == 3 and done.out.decode().splitlines()[-1] == "3 captures, 1 valid, 1 not checked, 2 risks"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["wrong.json"], 1),
        (["wrong.json", "--fail-on", "never"], 0),
        (["wrong.json", "--layer", "order"], 0),
        (["gw.sse", "--layer", "client", "--profile", "langchain"], 0),
        (["gw.sse", "--profile", "serde"], 1),
        (["tie.json", "--as", "messages"], 0),
        (["tie.json", "--as", "responses"], 3),
        (["tie.json", "--as", "responses", "--kind", "request"], 1),
        (["good.sse", "--as", "messages"], 3),
        (["pair.json"], 0),
        (["good.sse", "--layer", "colour"], 2),
        (["good.sse", "--profile", "nobody"], 2),
    ],
)
def test_exit_codes(proxai: Proxai, words: list[str], code: int) -> None:
    assert proxai(*words).code == code


def test_bodies_are_looked_at_where_they_stand(proxai: Proxai) -> None:
    first, second, row, third, last = proxai("batch.jsonl").out.decode().splitlines()
    assert first == "batch.jsonl#1: chat batches request: valid" and second == "batch.jsonl#2: chat batches request"
    assert row.split()[:4] == ["risk", "shape", "invalid-shape", "/body/seed"] and "not checked" in third
    assert last == "3 captures, 1 valid, 1 not checked, 1 risk"
    done = proxai("call.har", "--format", "json")
    asked, answer = done.value["items"]
    assert [each["at"] for each in asked["findings"]] == ["/seed"] and done.code == 1
    assert asked["findings"][0]["place"]["line"] > 1 and answer["source"]["events"] == 7 and not answer["findings"]


def test_held_to_another_protocol(proxai: Proxai) -> None:
    said = proxai("gw.sse", "--as", "chat").out.decode()
    assert said.startswith("gw.sse: chat stream") and "/choices" in said
    done = proxai("wrong.json", "--as", "responses")
    assert done.code == 1 and "its words are those of chat" in done.out.decode()


def test_profiles_are_listed(proxai: Proxai) -> None:
    done = proxai("--profile", "list")
    assert done.code == 0 and [line.split()[0] for line in done.out.decode().splitlines()] == list(PROFILES)
    assert "openai/openai-go#651" in proxai("--profile", "list", "-v").out.decode()


def test_the_report_obeys_its_schema_and_names_places(proxai: Proxai) -> None:
    done = proxai("wrong.json", "gw.sse", "--format", "json")
    value = done.value
    SCHEMA.validate(value)
    assert value["command"] == "validate" and value["verdict"]["exit"] == done.code == 1
    wrong, gateway = value["items"]
    assert all(item["target"] is None and item["counts"] is None and not item["changes"] for item in value["items"])
    assert [(each["layer"], each["at"], each["place"]["line"]) for each in wrong["findings"]] == [
        ("shape", "/tools/0/function", 10),
        ("shape", "/temperature", 13),
    ] or sorted(each["at"] for each in wrong["findings"]) == ["/temperature", "/tools/0/function"]
    assert gateway["source"]["events"] == len(R) + 1
    assert {each["layer"] for each in gateway["findings"]} == {"client", "order"}
    lines = proxai("wrong.json", "--format", "lines").out.decode().splitlines()
    assert all(line.startswith("wrong.json:") and ": risk invalid-shape found /" in line for line in lines)
