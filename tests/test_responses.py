"""OpenAI Responses: items as turns, rows of the mapping, lifecycles of its streams, and broken ones."""

from typing import Any

import pytest

from proxai_cli import Context, StreamTranslator, collect, explode, text, translate
from proxai_cli.errors import OutOfOrder, ProxaiError
from proxai_cli.ir.events import DONE, Close, Delta, Fail, Finish, Open, Say, Start
from proxai_cli.ledger import Ledger
from proxai_cli.protocols import PROTOCOLS

from .accounts import fault

RESPONSES = PROTOCOLS["responses"]
USER = {"role": "user", "content": "Hello"}


def translated(value: Any, source: str, target: str, kind: str, request: Any = None, **choices: str) -> Any:
    """The target of a body, whose account holds."""
    named = {name.replace("_", "-"): choice for name, choice in choices.items()}
    context = Context(choices=named, request=request, request_protocol="responses" if request else None)
    done = translate(value, source, target, kind, context)
    assert fault(value, done.value, done.ledger.entries) is None
    return done.value


def reasons(value: Any, source: str, target: str, kind: str, **choices: str) -> dict[str, str]:
    """Why each leaf of the source that has a reason is not as it was."""
    context = Context(choices={name.replace("_", "-"): choice for name, choice in choices.items()})
    entries = translate(value, source, target, kind, context).ledger.entries
    return {".".join(map(str, entry.source)): str(entry.why) for entry in entries if entry.source and entry.why}


# Requests as target


def from_chat(*messages: Any, choices: dict[str, str] | None = None, **fields: Any) -> Any:
    value = {"model": "m", "messages": list(messages) or [USER], **fields}
    return translated(value, "chat", "responses", "request", **(choices or {}))


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({}, {"store": False}),
        ({"store": True}, {"store": True}),
        ({"max_completion_tokens": 5}, {"max_output_tokens": 5}),
        ({"logprobs": True, "top_logprobs": 3}, {"include": ["message.output_text.logprobs"], "top_logprobs": 3}),
        ({"logprobs": False}, {"include": None}),
        ({"reasoning_effort": "low", "verbosity": "high"}, {"reasoning": {"effort": "low"}, "text": {"verbosity": "high"}}),
        ({"response_format": {"type": "text"}}, {"text": {"format": {"type": "text"}}}),
        ({"stop": ["END"], "seed": 1, "n": 1}, {"stop": None, "seed": None, "n": None}),
        (
            {"tools": [{"type": "function", "function": {"name": "f"}}]},
            {"tools": [{"type": "function", "name": "f", "parameters": None, "strict": False}]},
        ),
        (
            {
                "tools": [
                    {
                        "type": "custom",
                        "custom": {
                            "name": "c",
                            "format": {"type": "grammar", "grammar": {"definition": "d", "syntax": "lark"}},
                        },
                    }
                ]
            },
            {
                "tools": [
                    {"type": "custom", "name": "c", "format": {"type": "grammar", "syntax": "lark", "definition": "d"}}
                ]
            },
        ),
        ({"tool_choice": {"type": "custom", "custom": {"name": "c"}}}, {"tool_choice": {"type": "custom", "name": "c"}}),
        (
            {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "f"}}]}}},
            {"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]}},
        ),
    ],
)  # fmt: skip
def test_fields_of_chat(fields: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert {key: from_chat(**fields).get(key) for key in wanted} == wanted


def test_one_string_of_the_system_is_the_instructions() -> None:
    made = from_chat({"role": "system", "content": "Be brief."}, {"role": "developer", "content": "Now."}, USER)
    assert made["instructions"] == "Be brief."
    assert [item["role"] for item in made["input"]] == ["developer", "user"]


def test_leading_system_texts_may_be_joined() -> None:
    messages = {"role": "system", "content": "One."}, {"role": "developer", "content": "Two."}, USER
    made = from_chat(*messages, choices={"system": "join"})
    assert (made["instructions"], len(made["input"])) == ("One.\n\nTwo.", 1)


def test_a_turn_with_calls_becomes_items_and_long_ids_stay_paired() -> None:
    long = "call_" + "x" * 90
    function = {"name": "f", "arguments": '{"a":1}'}
    made = from_chat(
        {
            "role": "assistant",
            "content": "Wait.",
            "tool_calls": [{"id": long, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": long, "content": "done"},
    )
    message, call, output = made["input"]
    assert message == {"type": "message", "role": "assistant", "content": "Wait."}
    assert (call["type"], call["arguments"], "id" in call) == ("function_call", '{"a":1}', False)
    assert len(call["call_id"]) == 64 and output["call_id"] == call["call_id"]
    assert (output["type"], output["output"]) == ("function_call_output", "done")


def test_parts_of_an_assistant_need_an_envelope() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "b"}]
    (item,) = from_chat({"role": "assistant", "content": parts})["input"]
    assert (item["id"], item["status"]) == ("msg_0", "completed")
    assert item["content"] == [
        {"type": "output_text", "annotations": [], "text": "a"},
        {"type": "refusal", "refusal": "b"},
    ]


def test_media_that_is_dropped_leaves_a_note_in_an_empty_turn() -> None:
    audio = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}}
    (item,) = from_chat({"role": "user", "content": [audio]})["input"]
    assert item["content"] == [{"type": "input_text", "text": "[audio omitted]"}]


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"max_tokens": 0}, {"prompt_cache_options": {"prewarm": True}, "max_output_tokens": None}),
        ({"system": [{"type": "text", "text": "s"}]}, {"instructions": "s"}),
        ({"system": "s"}, {"instructions": "s"}),
        (
            {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}},
            {
                "text": {
                    "format": {"type": "json_schema", "name": "output", "strict": True, "schema": {"type": "object"}}
                }
            },
        ),
        (
            {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "max"}},
            {"reasoning": {"effort": "max", "summary": "auto"}},
        ),
        (
            {"tools": [{"type": "web_search_20250305", "name": "web_search", "allowed_domains": ["a.example"]}]},
            {"tools": [{"type": "web_search", "filters": {"allowed_domains": ["a.example"]}}]},
        ),
        (
            {"tools": [{"type": "code_execution_20250825", "name": "code_execution"}]},
            {"tools": [{"type": "code_interpreter", "container": {"type": "auto"}}]},
        ),
        ({"tools": [{"type": "memory_20250818", "name": "memory"}]}, {"tools": None}),
        ({"cache_control": {"type": "ephemeral", "ttl": "1h"}}, {"prompt_cache_options": {"mode": "implicit", "ttl": "12h"}}),
    ],
)  # fmt: skip
def test_fields_of_messages(fields: dict[str, Any], wanted: dict[str, Any]) -> None:
    value = {"model": "m", "max_tokens": 9, "messages": [USER], **fields}
    made = translated(value, "messages", "responses", "request")
    assert {key: made.get(key) for key in wanted} == wanted


def test_cache_marks_become_breakpoints_unless_unwanted() -> None:
    block = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    value = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": [block]}]}
    ((part,),) = [item["content"] for item in translated(value, "messages", "responses", "request")["input"]]
    assert part["prompt_cache_breakpoint"] == {"mode": "explicit", "ttl": "12h"}
    ((part,),) = [
        item["content"] for item in translated(value, "messages", "responses", "request", cache_marks="false")["input"]
    ]
    assert "prompt_cache_breakpoint" not in part


def test_thinking_of_another_vendor_is_left_out_unless_it_is_wanted() -> None:
    turn = {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "t", "signature": "s"}, {"type": "text", "text": "a"}],
    }
    value = {"model": "m", "max_tokens": 9, "messages": [USER, turn, USER]}
    assert reasons(value, "messages", "responses", "request")["messages.1.content.0.thinking"] == "foreign-signature"
    made = translated(value, "messages", "responses", "request", keep_reasoning="true")
    assert made["input"][1]["content"] == [{"type": "reasoning_text", "text": "t"}]
    assert made["input"][1]["encrypted_content"] == "s"


# Requests as source


def turns(*items: Any, **fields: Any) -> list[str]:
    """The turns of a request, each as its role and its parts."""
    request = RESPONSES.read["request"]({"model": "m", "input": list(items), **fields}, Context().fresh())
    return [
        f"{turn.value('role', '-')}: {' '.join(part.kind for part in turn.parts())}" for turn in request.says["turns"]
    ]


CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": "o"}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "t", "annotations": []}]}
THOUGHT = {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "s"}]}


@pytest.mark.parametrize(
    ("items", "wanted"),
    [
        ([USER, USER], ["user: text", "user: text"]),
        ([THOUGHT, SAID, CALL, SAID], ["assistant: thinking text tool_call text"]),
        ([CALL, CALL, OUTPUT, OUTPUT, USER], ["-: tool_call tool_call", "-: tool_result tool_result", "user: text"]),
        ([CALL, {"type": "item_reference", "id": "x"}, CALL], ["-: tool_call tool_call"]),
        ([{"type": "computer_call", "call_id": "c", "action": {"type": "wait"}}], ["-: tool_call"]),
        ([{"type": "web_search_call", "id": "ws"}], ["-: hosted_call"]),
        ([{"type": "unheard_of"}, 7, None], ["-: other"]),
        ([{"role": "critic", "content": "x"}], ["user: text"]),
    ],
)
def test_items_become_turns(items: list[Any], wanted: list[str]) -> None:
    assert turns(*items) == wanted


def test_tools_of_a_namespace_stand_for_themselves() -> None:
    namespace = {"type": "namespace", "name": "n", "description": "d", "tools": [{"type": "function", "name": "f"}]}
    made = translated({"model": "m", "input": "x", "tools": [namespace]}, "responses", "chat", "request")
    assert [tool["function"]["name"] for tool in made["tools"]] == ["n__f"]


def test_state_on_the_server_is_told_as_lost() -> None:
    value = {
        "model": "m",
        "input": [USER, {"type": "item_reference", "id": "x"}],
        "previous_response_id": "r",
        "truncation": "disabled",
    }
    why = reasons(value, "responses", "chat", "request")
    assert (why["previous_response_id"], why["input.1.id"], why["truncation"]) == (
        "stateful-reference", "stateful-reference", "target-default",
    )  # fmt: skip


# Replies


def reply(*output: Any, **fields: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "completed",
        "output": list(output),
    } | fields


def chat_reply(message: dict[str, Any], reason: str = "stop") -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", **message}}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def message_reply(*content: Any, reason: str = "end_turn", **fields: Any) -> dict[str, Any]:
    usage = {"input_tokens": 1, "output_tokens": 2}
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": list(content), "stop_reason": reason, "stop_sequence": None, "usage": usage} | fields  # fmt: skip


def test_each_block_is_an_item_with_an_id_of_its_kind() -> None:
    blocks = [{"type": "text", "text": each} for each in "ab"]
    thoughts = [{"type": "thinking", "thinking": "t", "signature": "s"}, {"type": "redacted_thinking", "data": "d"}]
    made = translated(message_reply(*thoughts, *blocks), "messages", "responses", "response")
    assert [item["id"] for item in made["output"]] == [
        "rs_resp_msg_1", "rs_resp_msg_1_1", "msg_resp_msg_1", "msg_resp_msg_1_1",
    ]  # fmt: skip
    assert made["output"][1] == {"id": "rs_resp_msg_1_1", "type": "reasoning", "summary": [], "encrypted_content": "d"}


def test_a_reply_repeats_its_request() -> None:
    tools = [{"type": "function", "name": "f", "parameters": None, "strict": False}]
    made = translated(
        chat_reply({"content": "x"}), "chat", "responses", "response", {"tools": tools, "temperature": 0.5}
    )
    assert (made["tools"], made["temperature"], made["tool_choice"]) == (tools, 0.5, "auto")


def test_a_free_text_tool_comes_back_unwrapped() -> None:
    request = {"tools": [{"type": "custom", "name": "c"}]}
    block = {"type": "tool_use", "id": "toolu_1", "name": "c", "input": {"input": "ls"}}
    made = translated(message_reply(block, reason="tool_use"), "messages", "responses", "response", request)
    assert (made["output"][0]["type"], made["output"][0]["input"]) == ("custom_tool_call", "ls")


@pytest.mark.parametrize(
    ("reason", "status", "details"),
    [
        ("stop", "completed", None),
        ("tool_calls", "completed", None),
        ("length", "incomplete", {"reason": "max_output_tokens"}),
        ("content_filter", "incomplete", {"reason": "content_filter"}),
        ("unheard_of", "completed", None),
    ],
)
def test_reasons_of_chat_as_status(reason: str, status: str, details: Any) -> None:
    made = translated(chat_reply({"content": "x"}, reason), "chat", "responses", "response")
    assert (made["status"], made["incomplete_details"]) == (status, details)


@pytest.mark.parametrize(
    ("fields", "output", "reason"),
    [
        ({}, [SAID], "stop"),
        ({}, [SAID, CALL], "tool_calls"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, [SAID], "length"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_messages"}}, [SAID], "length"),
        ({"status": "incomplete", "incomplete_details": {"reason": "steered"}}, [SAID], "stop"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, [SAID], "content_filter"),
        ({"status": "incomplete"}, [SAID], "length"),
    ],
)
def test_status_as_reason_of_chat(fields: dict[str, Any], output: list[Any], reason: str) -> None:
    made = translated(reply(*output, **fields), "responses", "chat", "response")
    assert made["choices"][0]["finish_reason"] == reason


@pytest.mark.parametrize("target", ["chat", "messages"])
def test_a_failed_response_is_an_error(target: str) -> None:
    failed = reply(status="failed", error={"code": "rate_limit_exceeded", "message": "slowly"})
    made = translated(failed, "responses", target, "response")
    assert (made["error"]["type"], made["error"]["message"]) == ("rate_limit_error", "slowly")


def test_a_refusal_after_a_text_belongs_to_its_item() -> None:
    made = translated(chat_reply({"content": "a", "refusal": "no"}), "chat", "responses", "response")
    (item,) = made["output"]
    assert [part["type"] for part in item["content"]] == ["output_text", "refusal"]


def test_citations_span_their_block_or_the_quote_that_stands_there_once() -> None:
    cited = {"type": "web_search_result_location", "url": "https://a.example", "title": None, "encrypted_index": "e"}
    block = {
        "type": "text",
        "text": "Rain fell.",
        "citations": [{**cited, "cited_text": "fell"}, {**cited, "cited_text": "x"}],
    }
    made = translated(message_reply(block), "messages", "responses", "response")
    first, second = made["output"][0]["content"][0]["annotations"]
    assert (first["start_index"], first["end_index"], first["title"]) == (5, 9, "")
    assert (second["start_index"], second["end_index"]) == (0, 10)


# Streams as source


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}" if kind != "error" else kind, **fields}


def started(**fields: Any) -> dict[str, Any]:
    return event("created", response=reply(status="in_progress", **fields))


def added(item: dict[str, Any], index: int = 0) -> dict[str, Any]:
    return event("output_item.added", output_index=index, item=item)


def done(item: dict[str, Any], index: int = 0) -> dict[str, Any]:
    return event("output_item.done", output_index=index, item=item)


def completed(*output: Any, **fields: Any) -> dict[str, Any]:
    return event("completed", response=reply(*output, **fields))


MESSAGE = {"id": "msg_1", "type": "message", "status": "in_progress", "role": "assistant", "content": []}
WHOLE = {**MESSAGE, "status": "completed", "content": [{"type": "output_text", "text": "ab", "annotations": []}]}
PART = event(
    "content_part.added", output_index=0, content_index=0, part={"type": "output_text", "text": "", "annotations": []}
)
CALLED = {"id": "fc_1", "type": "function_call", "call_id": "c", "name": "f", "arguments": ""}


def piece(value: str, **fields: Any) -> dict[str, Any]:
    return event("output_text.delta", **{"output_index": 0, "content_index": 0, "delta": value, **fields})


def closing(value: str) -> dict[str, Any]:
    return event("output_text.done", output_index=0, content_index=0, text=value)


def decoded(events: list[Any]) -> tuple[list[str], list[str]]:
    """The IR events of a stream, each as a short text, and the findings."""
    context = Context().fresh()
    decoder = RESPONSES.Decoder(Ledger(), context)
    said = [one for each in events for one in decoder.feed(each)] + decoder.close()
    worth = [one for one in said if not isinstance(one, Say) or one.node.says]  # a set-aside leaf alone says nothing
    return [short(one) for one in worth], [finding.code for finding in context.findings]


def short(event: Any) -> str:
    match event:
        case Start(node):
            return f"start {node.value('id')}"
        case Open(number, node):
            return f"open {number} {node.kind}"
        case Delta(number, leaf, _):
            return f"delta {number} {leaf.value}"
        case Say(number, node):
            return f"say {number} {' '.join(node.says)}"
        case Close(number):
            return f"close {number}"
        case Finish(node):
            return f"finish {node.value('stop_reason')}"
        case Fail(node):
            return f"fail {node.value('message')}"
    return type(event).__name__.lower()


TEXT = ["open 0 text", "delta 0 a", "delta 0 b", "say 0 item", "close 0"]
END = ["finish end", "done"]


@pytest.mark.parametrize(
    ("events", "wanted", "findings"),
    [
        ([added(MESSAGE), PART, piece("a"), piece("b"), closing("ab"), done(WHOLE)], TEXT, []),
        ([added(MESSAGE), piece("a"), piece("b"), done(WHOLE)], TEXT, ["no-part"]),
        ([added(MESSAGE), PART, piece("a"), closing("ab"), done(WHOLE)], TEXT, []),
        ([added(MESSAGE), PART, piece("a"), piece("b"), closing("zz"), done(WHOLE)], TEXT, ["pieces-differ"]),
        ([added(MESSAGE), done(WHOLE)], ["open 0 text", "delta 0 ab", "say 0 item", "close 0"], []),
        ([added(MESSAGE), PART, piece(""), piece("ab"), done(WHOLE)], ["open 0 text", "delta 0 ab", "say 0 item", "close 0"], []),
        ([event("queued", response=reply(status="queued")), event("unheard_of", x=1)], [], ["unknown-event"]),
        ([event("web_search_call.searching", item_id="x", output_index=3)], [], []),
    ],
)  # fmt: skip
def test_texts_of_a_stream(events: list[Any], wanted: list[str], findings: list[str]) -> None:
    assert decoded(
        [started(), *events, completed(WHOLE)] if "open" in " ".join(wanted) else [started(), *events, completed()]
    ) == (
        ["start resp_1", *wanted, *END],
        findings,
    )


@pytest.mark.parametrize(
    ("events", "wanted", "findings"),
    [
        ([added(CALLED), event("function_call_arguments.delta", output_index=0, delta="{}")], ["open 0 tool_call", "delta 0 {}", "close 0"], ["open-at-end"]),
        ([added(CALLED), event("function_call_arguments.done", output_index=0, arguments="{}")], ["open 0 tool_call", "delta 0 {}", "close 0"], ["open-at-end"]),
    ],
)  # fmt: skip
def test_calls_of_a_stream(events: list[Any], wanted: list[str], findings: list[str]) -> None:
    assert decoded([started(), *events, completed()]) == (
        ["start resp_1", *wanted, "finish tool_calls", "done"],
        findings,
    )


def test_items_that_only_the_snapshot_has_are_told() -> None:
    said, findings = decoded([started(), completed(WHOLE)])
    assert said == ["start resp_1", "open 0 text", "delta 0 ab", "close 0", *END]
    assert findings == ["snapshot-extra"]


def test_reasoning_opens_with_its_first_piece_and_tells_its_parts_apart() -> None:
    item = {"id": "rs_1", "type": "reasoning", "summary": []}
    pieces = [
        event("reasoning_summary_text.delta", output_index=0, summary_index=at, delta=each)
        for at, each in enumerate("xy")
    ]
    summary = [{"type": "summary_text", "text": each} for each in "xy"]
    said, _ = decoded(
        [started(), added(item), *pieces, done({**item, "summary": summary, "encrypted_content": "e"}), completed()]
    )
    assert said[1:-2] == [
        "open 0 thinking",
        "delta 0 x",
        "delta 0 \n\n",
        "delta 0 y",
        "say 0 signature item",
        "close 0",
    ]
    secret, _ = decoded([started(), added(item), done({**item, "encrypted_content": "e"}), completed()])
    assert secret[1:-2] == ["open 0 redacted", "close 0"]


@pytest.mark.parametrize(
    ("numbers", "findings"),
    [((0, 1, 2), []), ((7, 8, 9), []), ((0, 1, 3), ["seq-gap"]), ((0, 2, 1), ["seq-gap", "seq-back"]), ((0, 0, 1), ["seq-back"])],
)  # fmt: skip
def test_numbers_of_events(numbers: tuple[int, ...], findings: list[str]) -> None:
    events = [started(), event("in_progress", response=reply(status="in_progress")), completed()]
    assert decoded([{**each, "sequence_number": at} for each, at in zip(events, numbers, strict=True)])[1] == findings


@pytest.mark.parametrize(
    ("events", "code"),
    [
        ([started(), added(MESSAGE), added({**MESSAGE, "id": "other"})], "dup-start"),
        ([started(), added(MESSAGE), added(MESSAGE, 1)], "dup-start"),
        ([started(), piece("a")], "orphan-delta"),
        ([started(), done(WHOLE)], "stop-unopened"),
        ([started(), added(CALLED), piece("a")], "delta-kind"),
        ([started(), {**started(), "response": reply(id="resp_2")}], "event-order"),
        ([started(), completed(), piece("a")], "event-order"),
    ],
)
def test_events_out_of_order(events: list[Any], code: str) -> None:
    with pytest.raises(OutOfOrder) as caught:
        decoded(events)
    assert caught.value.code == code


@pytest.mark.parametrize(
    "end",
    [
        event("failed", response=reply(status="failed", error={"code": "server_error", "message": "gone"})),
        event("error", message="gone", code=None),
    ],
)
def test_nothing_follows_an_error(end: dict[str, Any]) -> None:
    said, _ = decoded([started(), end, completed()])
    assert said == ["start resp_1", "fail gone"]


def test_a_stream_of_nothing_but_its_end_is_read() -> None:
    assert decoded([completed(WHOLE)])[0][0] == "start resp_1"
    assert decoded([added(MESSAGE), piece("a")])[0][:2] == ["start unknown", "open 0 text"]


# Streams as target


def chunk(delta: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": delta, **fields}],
    }


def called(index: int, arguments: str = "", **fields: Any) -> dict[str, Any]:
    return {
        "tool_calls": [
            {
                "index": index,
                **fields,
                "function": {"name": "f", "arguments": arguments} if fields else {"arguments": arguments},
            }
        ]
    }


STOP = chunk({}, finish_reason="stop")


def streamed(source: str, events: list[Any], repair: bool = False, request: Any = None, **choices: str) -> list[Any]:
    """What a stream becomes, both sides balanced, nothing unexplained."""
    named = {name.replace("_", "-"): choice for name, choice in choices.items()}
    context = Context(choices=named, request=request, request_protocol="responses" if request else None)
    translator = StreamTranslator(source, "responses", context, repair)
    written = [one for each in events for one in translator.feed(each)] + translator.close()
    assert not [line for line in translator.account if line[4] == "unexplained"]
    return written


def kinds(events: list[Any]) -> list[str]:
    return [each["type"].removeprefix("response.") for each in events]


OPENED = ["created", "in_progress"]
ITEM = ["output_item.added", "content_part.added"]
CLOSED = ["output_text.done", "content_part.done", "output_item.done"]


def test_the_whole_lifecycle_of_a_text() -> None:
    made = streamed("chat", [chunk({"role": "assistant", "content": "a"}), chunk({"content": "b"}), STOP, DONE])
    assert kinds(made) == [*OPENED, *ITEM, "output_text.delta", "output_text.delta", *CLOSED, "completed"]
    assert [each["sequence_number"] for each in made] == list(range(len(made)))
    last = made[-1]["response"]
    assert (last["status"], last["output"][0]["content"][0]["text"]) == ("completed", "ab")
    assert made[-2]["item"] == last["output"][0]


def test_a_refusal_goes_on_with_the_message_of_the_text() -> None:
    made = streamed("chat", [chunk({"content": "a"}), chunk({"refusal": "no"}), STOP, DONE])
    assert kinds(made).count("output_item.added") == 1
    assert [part["type"] for part in made[-1]["response"]["output"][0]["content"]] == ["output_text", "refusal"]


def test_reasoning_of_chat_is_a_summary_and_of_messages_full() -> None:
    made = streamed("chat", [chunk({"reasoning_content": "t"}), chunk({"content": "a"}), STOP, DONE])
    assert kinds(made)[2:6] == [
        "output_item.added", "reasoning_summary_part.added", "reasoning_summary_text.delta", "reasoning_summary_text.done",
    ]  # fmt: skip
    full = explode(
        message_reply({"type": "thinking", "thinking": "t", "signature": "s"}), "messages", "responses"
    ).value
    assert kinds(full)[2:5] == ["output_item.added", "content_part.added", "reasoning_text.delta"]
    assert full[-1]["response"]["output"][0]["encrypted_content"] == "s"


def test_calls_interleave_and_end_with_the_whole_text() -> None:
    chunks = [
        chunk(called(0, id="x", type="function")),
        chunk(called(1, id="y", type="function")),
        chunk(called(0, '{"a":')),
        chunk(called(1, "{}")),
        chunk(called(0, "1}")),
        chunk({}, finish_reason="tool_calls"),
        DONE,
    ]
    made = streamed("chat", chunks)
    deltas = [(each["output_index"], each["delta"]) for each in made if "delta" in each]
    assert deltas == [(0, '{"a":'), (1, "{}"), (0, "1}")]
    assert [item["arguments"] for item in made[-1]["response"]["output"]] == ['{"a":1}', "{}"]


def test_a_call_without_arguments_says_an_empty_object() -> None:
    made = streamed("chat", [chunk(called(0, id="x", type="function")), STOP, DONE])
    assert [each["delta"] for each in made if "delta" in each] == ["{}"]


def test_a_wrapped_free_text_is_unwrapped_as_a_whole() -> None:
    request = {"tools": [{"type": "custom", "name": "c"}]}
    block = {"type": "tool_use", "id": "toolu_1", "name": "c", "input": {"input": 'say "x"'}}
    source = explode(message_reply(block, reason="tool_use"), "messages", pieces="3").value
    made = streamed("messages", source, request=request)
    assert [each["delta"] for each in made if "delta" in each] == ['say "x"']
    assert "custom_tool_call_input.done" in kinds(made)


def test_an_error_keeps_what_is_finished_and_closes_nothing() -> None:
    error = {"error": {"message": "busy", "type": "rate_limit_error", "param": None, "code": None}}
    made = streamed("chat", [chunk({"content": "a"}), error])
    assert kinds(made) == [*OPENED, *ITEM, "output_text.delta", "failed"]
    last = made[-1]["response"]
    assert (last["status"], last["output"], last["error"]["code"]) == ("failed", [], "rate_limit_exceeded")
    assert streamed("chat", [error])[0] | {"sequence_number": 0} == {
        "type": "error", "sequence_number": 0, "code": "rate_limit_error", "message": "busy", "param": None,
    }  # fmt: skip
    assert kinds(streamed("chat", [chunk({"content": "a"}), error], stream_errors="false"))[-1] == "output_text.delta"


def test_a_cut_stream_gets_no_end_unless_it_is_repaired() -> None:
    cut = [chunk({"content": "a"})]
    assert kinds(streamed("chat", cut)) == [*OPENED, *ITEM, "output_text.delta"]
    repaired = streamed("chat", cut, repair=True)
    assert kinds(repaired)[-4:] == [*CLOSED, "incomplete"]
    assert repaired[-1]["response"]["incomplete_details"] is None


@pytest.mark.parametrize("pieces", ["whole", "words", "2"])
def test_a_reply_of_every_kind_of_item_comes_back(pieces: str) -> None:
    logprobs = [{"token": "ab", "logprob": -0.5, "bytes": [97], "top_logprobs": []}]
    cited = {"type": "url_citation", "url": "https://a.example", "title": "A", "start_index": 0, "end_index": 2}
    part = {"type": "output_text", "text": "ab cd", "annotations": [cited], "logprobs": logprobs}
    body = reply(
        {
            "id": "rs_1",
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": each} for each in ("x y", "z")],
        },
        {"id": "rs_2", "type": "reasoning", "summary": [], "encrypted_content": "e"},
        {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "q"}},
        {**WHOLE, "content": [part, {"type": "refusal", "refusal": "no way"}]},
        {**CALLED, "arguments": '{"a": 1}', "status": "completed"},
        {"id": "ctc_1", "type": "custom_tool_call", "call_id": "d", "name": "c", "input": "ls -l"},
        {"id": "x", "type": "unheard_of", "z": [1]},
        error=None,
        incomplete_details=None,
        tools=[],
        usage={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
    )
    events = explode(body, "responses", pieces=pieces).value
    assert collect(events, "responses").value == body


def test_junk_that_is_no_response_is_refused() -> None:
    for kind in ("request", "response", "error"):
        for value in (None, [], "x", 1, {}):
            with pytest.raises(ProxaiError):
                translate(value, "responses", "chat", kind)
    assert text.dumps(translate({"input": "x", "zzz": [{}]}, "responses", "responses", "request").value)


TOOL = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}, "strict": True}
CHOICE = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]}
NESTED = {
    "type": "allowed_tools",
    "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "f"}}]},
}
FAILED = {"status": "failed", "error": {"code": "server_error", "message": "no"}}
RESULTS = [
    {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c", "output": "x"},
    {"role": "user", "content": "y"},
]
ORPHAN = {"type": "function_call_output", "call_id": "z", "output": "o"}


def asked(**fields: Any) -> dict[str, Any]:
    return {"model": "m", "input": "x", **fields}


@pytest.mark.parametrize(
    ("value", "target", "kind", "place", "why"),
    [
        (asked(tools=[TOOL], tool_choice=CHOICE), "chat", "request", "tool_choice.type", None),
        (asked(parallel_tool_calls=True), "messages", "request", "parallel_tool_calls", "target-default"),
        (asked(parallel_tool_calls=False), "messages", "request", "parallel_tool_calls", "no-equivalent"),
        (asked(tool_choice="auto"), "messages", "request", "tool_choice", "target-default"),
        (asked(tool_choice="required"), "messages", "request", "tool_choice", "target-rejects"),
        (
            asked(tools=[TOOL], tool_choice="none", parallel_tool_calls=True),
            "messages", "request", "parallel_tool_calls", "target-default",
        ),
        (
            asked(tools=[{"type": "code_interpreter", "container": {"type": "auto"}}]),
            "messages", "request", "tools.0.container", "target-default",
        ),
        (
            asked(tools=[{"type": "code_interpreter", "container": "cntr_1"}]),
            "messages", "request", "tools.0.container", "foreign-id",
        ),
        (asked(input=RESULTS), "messages", "request", "input.2.role", None),
        (asked(input=[*RESULTS[:2], ORPHAN]), "messages", "request", "input.2.call_id", "stateful-reference"),
        (asked(input=[*RESULTS[:2], ORPHAN]), "chat", "request", "input.2.call_id", "stateful-reference"),
        (asked(metadata={}), "messages", "request", "metadata", "target-default"),
        (asked(context_management=[]), "messages", "request", "context_management", "target-default"),
        (reply(WHOLE), "chat", "response", "output.0.type", "target-default"),
        (reply(WHOLE), "chat", "response", "output.0.role", "target-default"),
        (reply(WHOLE), "chat", "response", "output.0.id", "no-equivalent"),
        (reply(WHOLE), "messages", "response", "output.0.type", "target-default"),
        (reply(WHOLE), "messages", "response", "output.0.role", "target-default"),
        (reply(WHOLE, metadata={}), "messages", "response", "metadata", "target-default"),
        (reply(**FAILED), "messages", "response", "error.code", "respelled"),
    ],
)  # fmt: skip
def test_why_a_leaf_is_not_as_it_was(value: Any, target: str, kind: str, place: str, why: str | None) -> None:
    assert reasons(value, "responses", target, kind).get(place) == why


def test_the_type_of_a_choice_among_tools_is_carried_from_chat() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    value = {"model": "m", "messages": [USER], "tools": [tool], "tool_choice": NESTED}
    assert "tool_choice.type" not in reasons(value, "chat", "responses", "request")
    assert translated(value, "chat", "responses", "request")["tool_choice"] == CHOICE


def test_an_interleaved_stream_of_calls_has_no_late_pieces_in_messages() -> None:
    calls = [
        {"type": "function_call", "id": f"fc_{n}", "call_id": f"c{n}", "name": "f", "arguments": ""} for n in (0, 1)
    ]
    done = [{**each, "arguments": "{}", "status": "completed"} for each in calls]
    events = [
        {"type": "response.created", "response": reply(status="in_progress")},
        *({"type": "response.output_item.added", "output_index": n, "item": each} for n, each in enumerate(calls)),
        *(
            {"type": "response.function_call_arguments.delta", "output_index": n, "item_id": f"fc_{n}", "delta": "{}"}
            for n in (0, 1)
        ),
        *({"type": "response.output_item.done", "output_index": n, "item": each} for n, each in enumerate(done)),
        {"type": "response.completed", "response": reply(*done)},
    ]
    translator = StreamTranslator("responses", "messages")
    for event in events:
        translator.feed(event)
    assert not translator.findings
    assert "late-piece" not in {why for _, _, _, why, _ in translator.account}


def test_a_compaction_is_one_in_messages_too() -> None:
    value = reply({"type": "compaction", "id": "cmp_1", "encrypted_content": "e"})
    made = translated(value, "responses", "messages", "response")
    assert made["content"] == [{"type": "compaction", "encrypted_content": "e"}]
    sent = explode(value, "responses", "messages").value
    assert collect(sent, "messages").value["content"] == made["content"]
    history = {"model": "m", "input": [USER, *value["output"], USER]}
    assert reasons(history, "responses", "messages", "request")["input.1.encrypted_content"] == "foreign-signature"


@pytest.mark.parametrize("content", [None, ""])
def test_a_message_of_chat_of_which_nothing_is_left_is_told(content: str | None) -> None:
    value = {"model": "m", "messages": [USER, {"role": "assistant", "content": content}, USER]}
    done = translate(value, "chat", "responses", "request")
    assert len(done.value["input"]) == 2
    assert [finding.code for finding in done.findings] == ["empty-turn"]
