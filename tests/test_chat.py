"""Chat Completions: what its decoder reads of dialects and broken streams, and what its encoder makes of the others."""

from typing import Any

import pytest

from proxai_cli import Context, StreamTranslator, collect, explode, translate
from proxai_cli.errors import NotPossible, OutOfOrder, ProxaiError
from proxai_cli.ir.events import DONE, Close, Delta, Fail, Finish, Open, Say, Start
from proxai_cli.ledger import Ledger
from proxai_cli.protocols import PROTOCOLS

from .accounts import fault

CHAT = PROTOCOLS["chat"]


def chunk(delta: Any = None, **more: Any) -> dict[str, Any]:
    """A chunk with one choice, or with none where there is no delta."""
    beside = {key: more.pop(key) for key in ("usage", "id", "choices") if key in more}
    choices = [] if delta is None else [{"index": more.pop("index", 0), "delta": delta, **more}]
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices} | beside


def call(
    index: int | None = None, id: str | None = None, name: str | None = None, arguments: str | None = None
) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    piece = {"index": index, "id": id, "type": "function" if name else None, "function": function}
    return {"tool_calls": [{key: value for key, value in piece.items() if value is not None}]}


def decoded(events: list[Any], **choices: str) -> tuple[list[str], list[str]]:
    """The IR events of a chat stream, each as a short text, and the findings."""
    context = Context(choices=choices).fresh()
    decoder = CHAT.Decoder(Ledger(), context)
    said = [one for event in events for one in decoder.feed(event)] + decoder.close()
    return [short(one) for one in said], [finding.code for finding in context.findings]


def short(event: Any) -> str:
    match event:
        case Start(node):
            return f"start {node.value('id')}"
        case Open(number, node):
            return " ".join(
                ["open", str(number), node.kind, *filter(None, [node.value("call_id"), node.value("name")])]
            )
        case Delta(number, leaf, _):
            return f"delta {number} {leaf.value}"
        case Say(number, node):
            return f"say {number} {' '.join(map(str, [*node.says, *node.extras]))}"
        case Close(number):
            return f"close {number}"
        case Finish(node):
            return f"finish {node.value('stop_reason')}{' usage' if 'usage' in node.says else ''}"
        case Fail(node):
            return f"fail {node.value('message')}"
    return type(event).__name__.lower()


STOP = chunk({}, finish_reason="stop")
USAGE = chunk(usage={"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3})
USED = chunk({}, usage={"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3})
ENDED = ["finish end", "done"]
DETAIL = {"type": "reasoning.text", "index": 0}

STREAMS: dict[str, tuple[list[Any], list[str], list[str]]] = {
    "text": ([chunk({"content": "a"}), STOP, DONE], ["start c", "open 0 text", "delta 0 a", "close 0", *ENDED], []),
    "order within a chunk": (
        [chunk({"tool_calls": call(0, "t", "f")["tool_calls"], "refusal": "r", "content": "c", "reasoning": "h"}), STOP, DONE],
        ["start c", "open 0 thinking", "delta 0 h", "close 0", "open 1 text", "delta 1 c", "close 1",
         "open 2 refusal", "delta 2 r", "close 2", "open 3 tool_call t f", "close 3", *ENDED],
        [],
    ),
    "text that resumes": (
        [chunk({"content": "a"}), chunk({"reasoning_content": "h"}), chunk({"content": "b"}), STOP, DONE],
        ["start c", "open 0 text", "delta 0 a", "close 0", "open 1 thinking", "delta 1 h", "close 1",
         "open 2 text", "delta 2 b", "close 2", *ENDED],
        [],
    ),
    "two dialects and a signature": (
        [chunk({"reasoning": "h", "reasoning_details": [DETAIL | {"text": "h"}]}),
         chunk({"reasoning_details": [DETAIL | {"signature": "s"}]}), STOP, DONE],
        ["start c", "open 0 thinking", "delta 0 h", "say 0 plain_text", "say 0 signature", "close 0", *ENDED],
        [],
    ),
    "encrypted reasoning": (
        [chunk({"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]}), STOP, DONE],
        ["start c", "open 0 redacted", "close 0", *ENDED],
        [],
    ),
    "content that is a list": (
        [chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "h"}]}, {"type": "text", "text": "a"}]}),
         STOP, DONE],
        ["start c", "open 0 thinking", "delta 0 h", "close 0", "open 1 text", "delta 1 a", "close 1", *ENDED],
        [],
    ),
    "interleaved calls": (
        [chunk(call(0, "t", "f")), chunk(call(1, "u", "g", "{")), chunk(call(0, arguments="{}")), chunk(call(1, arguments="}")),
         STOP, DONE],
        ["start c", "open 0 tool_call t f", "open 1 tool_call u g", "delta 1 {", "delta 0 {}", "delta 1 }", "close 0", "close 1",
         *ENDED],
        [],
    ),
    "every call is number 0": (
        [chunk(call(0, "t", "f", "{}")), chunk(call(0, "u", "g", "{}")), STOP, DONE],
        ["start c", "open 0 tool_call t f", "delta 0 {}", "open 1 tool_call u g", "delta 1 {}", "close 0", "close 1", *ENDED],
        ["index-reused"],
    ),
    "no index": (
        [chunk(call(None, "t", "f")), chunk(call(arguments="{")), chunk(call(None, "u", "g")), chunk(call(None, "t", arguments="}")),
         STOP, DONE],
        ["start c", "open 0 tool_call t f", "delta 0 {", "open 1 tool_call u g", "delta 0 }", "close 0", "close 1", *ENDED],
        [],
    ),
    "no id": (
        [chunk(call(0, None, "f", "{}")), chunk(call(1, "", "g")), STOP, DONE],
        ["start c", "open 0 tool_call call_0 f", "delta 0 {}", "open 1 tool_call call_1 g", "close 0", "close 1", *ENDED],
        [],
    ),
    "id and name again": (
        [chunk(call(0, "t", "f", "{")), chunk(call(0, "t", "f", "}")), STOP, DONE],
        ["start c", "open 0 tool_call t f", "delta 0 {", "delta 0 }", "close 0", *ENDED],
        [],
    ),
    "function_call": (
        [chunk({"function_call": {"name": "f", "arguments": ""}}), chunk({"function_call": {"arguments": "{}"}}),
         chunk({}, finish_reason="function_call"), DONE],
        ["start c", "open 0 tool_call call_fn_0 f", "delta 0 {}", "close 0", "finish tool_calls", "done"],
        [],
    ),
    "Azure begins without a choice": (
        [chunk(id=""), chunk({"role": "assistant", "content": "a"}), STOP, DONE],
        ["start c", "open 0 text", "delta 0 a", "close 0", *ENDED],
        [],
    ),
    "usage alone": ([chunk({"content": "a"}), STOP, USAGE, DONE],
                    ["start c", "open 0 text", "delta 0 a", "close 0", "finish end usage", "done"], []),
    "usage beside the finish": ([chunk({"content": "a"}), STOP, USED, DONE],
                                ["start c", "open 0 text", "delta 0 a", "close 0", "finish end usage", "done"], []),
    "usage alone is the last word": (
        [chunk({}), USAGE, chunk({}) | {"usage": {"prompt_tokens": 9}}, STOP, DONE],
        ["start c", "finish end usage", "done"],
        ["usage-early"],
    ),
    "usage too early": ([chunk({}), USAGE, STOP, DONE], ["start c", "finish end usage", "done"], ["usage-early"]),
    "usage too late": ([chunk({}), STOP, USAGE, USAGE, DONE], ["start c", "finish end usage", "done"], ["usage-late"]),
    "an empty finish_reason": ([chunk({}, finish_reason=""), STOP, DONE], ["start c", *ENDED], []),
    "the same finish again": ([chunk({}), STOP, STOP, DONE], ["start c", *ENDED], []),
    "text after the finish": ([chunk({}), STOP, chunk({"content": "a"}), DONE],
                              ["start c", "open 0 text", "delta 0 a", "close 0", *ENDED], ["after-finish"]),
    "a stop string that matched": ([chunk({}, finish_reason="stop", matched_stop="END"), DONE],
                                   ["start c", "finish stop_sequence", "done"], []),
    "a stop token": ([chunk({}, finish_reason="stop", stop_reason=7), DONE], ["start c", *ENDED], []),
    "no last line": ([chunk({}), STOP], ["start c", *ENDED], ["no-done"]),
    "no finish": ([chunk({"content": "a"}), DONE], ["start c", "open 0 text", "delta 0 a"], []),
    "another id": ([chunk({}), chunk({}, id="d"), STOP, DONE], ["start c", *ENDED], ["id-changes"]),
    "an error": ([chunk({"content": "a"}), {"error": {"message": "no"}}, DONE],
                 ["start c", "open 0 text", "delta 0 a", "fail no"], []),
    "an error within a chunk": ([chunk({}, finish_reason="error") | {"error": {"message": "no"}}], ["fail no"], []),
    "annotations before their text": (
        [chunk({"annotations": [{"type": "url_citation", "url_citation": {"url": "u"}}]}), chunk({"content": "a"}), STOP, DONE],
        ["start c", "open 0 text", "say 0 citations", "delta 0 a", "close 0", *ENDED],
        [],
    ),
    "another choice": ([chunk({"content": "a"}), chunk({"content": "b"}, index=1), STOP, DONE],
                       ["start c", "open 0 text", "delta 0 a", "close 0", *ENDED], []),
}  # fmt: skip


@pytest.mark.parametrize(("events", "said", "findings"), STREAMS.values(), ids=STREAMS)
def test_what_a_stream_says(events: list[Any], said: list[str], findings: list[str]) -> None:
    assert decoded(events) == (said, findings)


@pytest.mark.parametrize(
    ("events", "code"),
    [
        ([chunk(call(0, "t", None, "{}"))], "orphan-delta"),
        ([chunk(call(None, None, None, "{}"))], "orphan-delta"),
        ([chunk({}), STOP, DONE, chunk({})], "event-order"),
    ],
)
def test_what_a_stream_may_not_say(events: list[Any], code: str) -> None:
    with pytest.raises(OutOfOrder) as raised:
        decoded(events)
    assert raised.value.code == code


def test_all_choices_at_home() -> None:
    events = [
        chunk({"content": "a"}),
        chunk({"content": "b"}, index=1),
        chunk({}, index=1, finish_reason="length"),
        STOP,
        DONE,
    ]
    choices = collect(events, "chat").value["choices"]
    seen = [(one["index"], one["message"]["content"], one["finish_reason"]) for one in choices]
    assert seen == [(0, "a", "stop"), (1, "b", "length")]


def written(source: str, events: list[Any], **given: Any) -> list[Any]:
    translator = StreamTranslator(source, "chat", Context(**given))
    return [one for event in events for one in translator.feed(event)] + translator.close()


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def message(*blocks: list[dict[str, Any]], stop: str = "end_turn") -> list[dict[str, Any]]:
    """A Messages stream of these blocks."""
    usage = {"input_tokens": 2, "output_tokens": 0}
    start = {"id": "m", "type": "message", "role": "assistant", "model": "x", "content": [], "usage": usage}
    return [
        {"type": "message_start", "message": start},
        *(event for one in blocks for event in one),
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]


THOUGHT = {"type": "thinking", "thinking": ""}
TEXT = {"type": "text", "text": ""}
SEARCH = {"type": "web_search_result_location", "url": "u", "title": None, "cited_text": "b", "encrypted_index": "e"}


def deltas(chunks: list[Any]) -> list[dict[str, Any]]:
    """The deltas of all chunks but the first, which has the role, and the finish."""
    return [
        one["choices"][0]["delta"]
        for one in chunks[1:]
        if one is not DONE and one["choices"] and one["choices"][0]["delta"]
    ]


def test_chunks_of_reasoning_text_and_calls() -> None:
    thoughts = [block(at, THOUGHT, {"type": "thinking_delta", "thinking": "h"}, {"type": "signature_delta", "signature": "s"})
                for at in (0, 1)]  # fmt: skip
    tool = block(3, {"type": "tool_use", "id": "t", "name": "f", "input": {}})
    chunks = written(
        "messages", message(*thoughts, block(2, TEXT, {"type": "text_delta", "text": "a"}), tool, stop="tool_use")
    )
    assert deltas(chunks) == [
        {"reasoning_content": "h"},
        {"reasoning_content": "\n\n"},
        {"reasoning_content": "h"},
        {"content": "a"},
        {"tool_calls": [{"index": 0, "id": "t", "type": "function", "function": {"name": "f", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]},
    ]
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant"}
    assert chunks[-3]["choices"][0]["finish_reason"] == "tool_calls"
    assert chunks[-2]["usage"] == {"prompt_tokens": 2, "completion_tokens": 5, "total_tokens": 7}
    assert chunks[-1] is DONE


@pytest.mark.parametrize(
    ("dialect", "said"),
    [
        ("reasoning", [{"reasoning": "h"}]),
        ("reasoning_details", [
            {"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "h"}]},
            {"reasoning_details": [{"type": "reasoning.text", "index": 0, "signature": "s"}]},
        ]),
        ("none", []),
    ],
)  # fmt: skip
def test_reasoning_dialects(dialect: str, said: list[Any]) -> None:
    pieces = {"type": "thinking_delta", "thinking": "h"}, {"type": "signature_delta", "signature": "s"}
    chunks = written("messages", message(block(0, THOUGHT, *pieces)), choices={"reasoning-dialect": dialect})
    assert deltas(chunks) == said


def test_annotations_stand_in_one_chunk_before_the_finish() -> None:
    cite = {"type": "citations_delta", "citation": SEARCH}
    one = block(0, TEXT, {"type": "text_delta", "text": "aba"}, cite)
    two = block(1, TEXT, {"type": "text_delta", "text": "xbx"}, cite)
    chunks = written("messages", message(one, two))
    spans = [(each["index"], each["url_citation"]["start_index"], each["url_citation"]["end_index"])
             for each in deltas(chunks)[-1]["annotations"]]  # fmt: skip
    assert spans == [(0, 1, 2), (1, 4, 5)]
    assert deltas(chunks)[-1]["annotations"][0]["url_citation"]["title"] == ""


def test_a_paired_request_tells_names_free_text_and_usage() -> None:
    long = "n" * 60 + "." * 10
    tools = [{"type": "custom", "custom": {"name": "free"}}, {"type": "function", "function": {"name": long}}]
    legal = translate(
        {"model": "m", "messages": [{"role": "user", "content": "q"}], "tools": tools}, "chat", "messages", "request"
    )
    name = legal.value["tools"][1]["name"]
    wrapped = [{"type": "input_json_delta", "partial_json": piece} for piece in ('{"input":"a', '\\n"}')]
    blocks = (
        block(0, {"type": "tool_use", "id": "t", "name": "free", "input": {}}, *wrapped),
        block(1, {"type": "tool_use", "id": "u", "name": name, "input": {}}),
    )
    chunks = written("messages", message(*blocks), request={"tools": tools}, request_protocol="chat")
    calls = [delta["tool_calls"][0] for delta in deltas(chunks)]
    assert calls[0] == {"index": 0, "id": "t", "type": "custom", "custom": {"name": "free", "input": ""}}
    assert calls[1] == {"index": 0, "custom": {"input": "a\n"}}
    assert calls[2]["function"]["name"] == long
    assert not any("usage" in one for one in chunks if one is not DONE)


def test_a_cut_stream_gets_its_end_only_on_request() -> None:
    cut = message(block(0, TEXT, {"type": "text_delta", "text": "a"}))[:3]
    assert [one["choices"][0]["finish_reason"] for one in written("messages", cut)] == [None, None]
    translator = StreamTranslator("messages", "chat", repair=True)
    chunks = [one for event in cut for one in translator.feed(event)] + translator.close()
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop" and chunks[-1] is DONE


USER = {"role": "user", "content": "q"}
REQUESTS: dict[str, tuple[str, dict[str, Any], dict[str, str], list[dict[str, Any]]]] = {
    "results before what else the user says": (
        "messages",
        {"messages": [
            USER,
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}]},
            {"role": "user", "content": [
                {"type": "text", "text": "x"},
                {"type": "tool_result", "tool_use_id": "t", "content": [
                    {"type": "text", "text": "r"}, {"type": "image", "source": {"type": "url", "url": "i"}}]}]}]},
        {},
        [
            USER,
            {"role": "assistant",
             "tool_calls": [{"id": "t", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}]},
            {"role": "tool", "tool_call_id": "t", "content": [{"type": "text", "text": "r"}]},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "i"}}]},
            {"role": "user", "content": [{"type": "text", "text": "x"}]},
        ],
    ),
    "a failed result, with a word before it": (
        "messages",
        {"messages": [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "r", "is_error": True}]}]},
        {"tool-error-prefix": "Error: "},
        [
            {"role": "assistant", "tool_calls": [{"id": "t", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "t", "content": "Error: r"},
        ],
    ),
    "system in pieces": (
        "messages",
        {"system": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "messages": [USER]},
        {},
        [{"role": "system", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, USER],
    ),
    "system joined": (
        "messages",
        {"system": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "messages": [USER]},
        {"system": "join"},
        [{"role": "system", "content": "a\n\nb"}, USER],
    ),
    "roles merged": (
        "messages",
        {"messages": [USER, USER]},
        {"merge-roles": "true"},
        [{"role": "user", "content": [{"type": "text", "text": "q"}, {"type": "text", "text": "q"}]}],
    ),
    "reasoning kept": (
        "messages",
        {"messages": [USER, {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "h", "signature": "s"}, {"type": "text", "text": "a"}]}]},
        {"keep-reasoning": "true"},
        [USER, {"role": "assistant", "reasoning_content": "h", "content": "a"}],
    ),
    "nothing but what has no place": (
        "messages",
        {"messages": [{"role": "user", "content": [{"type": "document", "source": {"type": "url", "url": "u"}}]}]},
        {},
        [{"role": "user", "content": "[file omitted]"}],
    ),
    "documents as texts, with their cache marks": (
        "messages",
        {"messages": [{"role": "user", "content": [
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "d"},
             "cache_control": {"type": "ephemeral", "ttl": "1h"}}]}]},
        {},
        [{"role": "user", "content": [
            {"type": "text", "text": "d", "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"}}]}],
    ),
    "an assistant's run of items": (
        "responses",
        {"instructions": "i", "input": [
            {"type": "message", "role": "assistant", "id": "m", "status": "completed",
             "content": [{"type": "output_text", "text": "a", "annotations": []}, {"type": "refusal", "refusal": "r"}]},
            {"type": "custom_tool_call", "call_id": "c", "name": "g", "input": "free"},
            {"type": "custom_tool_call_output", "call_id": "c", "output": "o"}]},
        {},
        [
            {"role": "system", "content": "i"},
            {"role": "assistant", "content": "a", "refusal": "r",
             "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "g", "input": "free"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "o"},
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "request_", "choices", "messages"), REQUESTS.values(), ids=REQUESTS)
def test_messages(
    source: str, request_: dict[str, Any], choices: dict[str, str], messages: list[dict[str, Any]]
) -> None:
    body = {"model": "m", **request_} | ({"max_tokens": 9} if source == "messages" else {})
    done = translate(body, source, "chat", "request", Context(choices=choices))
    assert done.value["messages"] == messages
    assert fault(body, done.value, done.ledger.entries) is None


TOOL = {"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": True}
TOOLS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a choice without tools": ({"tool_choice": "auto", "parallel_tool_calls": True}, {}),
    "a hosted choice": ({"tools": [TOOL], "tool_choice": {"type": "mcp", "server_label": "l"}}, {}),
    "one of the tools": (
        {"tools": [TOOL], "tool_choice": {"type": "function", "name": "f"}},
        {"tool_choice": {"type": "function", "function": {"name": "f"}}},
    ),
    "some of the tools": (
        {"tools": [TOOL], "tool_choice": {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "f"}]}},
        {"tool_choice": {"type": "allowed_tools",
                         "allowed_tools": {"mode": "required", "tools": [{"type": "function", "function": {"name": "f"}}]}}},
    ),
    "web search": (
        {"tools": [{"type": "web_search", "user_location": {"type": "approximate", "city": "Oslo"}}]},
        {"web_search_options": {"user_location": {"type": "approximate", "approximate": {"city": "Oslo"}}}},
    ),
    "web search without settings": ({"tools": [{"type": "web_search"}]}, {"web_search_options": {}}),
}  # fmt: skip


@pytest.mark.parametrize(("asked", "said"), TOOLS.values(), ids=TOOLS)
def test_tools_and_their_choice(asked: dict[str, Any], said: dict[str, Any]) -> None:
    body = {"model": "m", "input": "q", **asked}
    done = translate(body, "responses", "chat", "request")
    keys = ("tool_choice", "web_search_options", "parallel_tool_calls")
    assert {key: done.value[key] for key in keys if key in done.value} == said
    assert fault(body, done.value, done.ledger.entries) is None


def test_calls_without_ids_are_paired_with_their_results() -> None:
    body = {"model": "m", "messages": [
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "1"},
        {"role": "assistant", "content": None, "tool_calls": [{"type": "function", "function": {"name": "g", "arguments": "{}"}}]},
        {"role": "tool", "content": "2"}]}  # fmt: skip
    done = translate(body, "chat", "responses", "request")
    ids = [item["call_id"] for item in done.value["input"] if "call_id" in item]
    assert ids == ["call_fn_0", "call_fn_0", "call_0", "call_0"]
    assert fault(body, done.value, done.ledger.entries) is None


@pytest.mark.parametrize(
    ("body", "kind", "code"),
    [
        ({"messages": []}, "request", "empty"),
        ({"messages": [USER]}, "request", "no-model"),
        ({}, "response", "unrecognised"),
    ],
)
def test_what_cannot_be_written(body: dict[str, Any], kind: str, code: str) -> None:
    with pytest.raises(ProxaiError) as raised:
        translate(body, "messages" if kind == "request" else "chat", "chat", kind)
    assert raised.value.code == code


def test_a_body_is_a_stream_and_back() -> None:
    reply = {
        "id": "c", "object": "chat.completion", "created": 1, "model": "m", "vendor": "v",
        "choices": [{"index": 0, "finish_reason": "stop", "native_reason": "n", "matched_stop": "END", "message": {
            "role": "assistant", "content": "a b", "refusal": None,
            "reasoning_details": [{"type": "reasoning.text", "text": "h", "signature": "s", "index": 0}],
            "function_call": {"name": "f", "arguments": "{}"}, "extra": [1]}}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    }  # fmt: skip
    assert collect(explode(reply, "chat").value, "chat").value == reply


@pytest.mark.parametrize("target", ["chat", "responses"])
def test_a_total_of_what_is_known(target: str) -> None:
    events = [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "a"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    translator = StreamTranslator("messages", target)
    out = [event for each in events for event in translator.feed(each) if isinstance(event, dict)]
    usage = next(u for u in ((event.get("response") or event).get("usage") for event in reversed(out)) if u)
    assert usage["total_tokens"] == 5


def test_a_choice_that_is_not_there_is_an_error() -> None:
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    choice = {"index": 0, "message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}
    context = Context(choices={"choice": "9"})
    with pytest.raises(NotPossible) as caught:
        translate({**body, "choices": [choice]}, "chat", "messages", "response", context)
    assert caught.value.code == "empty" and "choice 9" in caught.value.message
