"""Messages: rows of the mapping that no capture shows alone."""

from typing import Any

import pytest

from proxai_cli import Context, StreamTranslator, collect, explode, translate
from proxai_cli.errors import ProxaiError
from proxai_cli.ir.events import DONE
from proxai_cli.ledger import size

USER = [{"role": "user", "content": "Hello"}]
TOOLS = [{"type": "function", "function": {"name": "wind", "parameters": {"type": "object", "properties": {}}}}]
FORCED = {"type": "function", "function": {"name": "wind"}}


def said(value: Any, source: str, target: str, kind: str, **choices: str) -> tuple[Any, dict[tuple[Any, ...], str]]:
    """The target, and the reason for each source or target path that has one; both sides are balanced first."""
    context = Context(choices={name.replace("_", "-"): choice for name, choice in choices.items()})
    done = translate(value, source, target, kind, context)
    entries = done.ledger.entries
    assert sum(entry.ours for entry in entries) == size(value)
    assert sum(entry.theirs for entry in entries) == size(done.value)
    assert not [entry for entry in entries if entry.level == "unexplained"]
    return done.value, {
        path: entry.why for entry in entries if entry.why for path in (entry.source, entry.target) if path
    }


def from_chat(choices: dict[str, str] | None = None, **fields: Any) -> tuple[Any, dict[tuple[Any, ...], str]]:
    return said({"model": "m", "messages": USER} | fields, "chat", "messages", "request", **(choices or {}))


def to_responses(**fields: Any) -> tuple[Any, dict[tuple[Any, ...], str]]:
    request = {"model": "m", "max_tokens": 9, "messages": USER} | fields
    return said(request, "messages", "responses", "request")


@pytest.mark.parametrize(
    ("fields", "choices", "wanted"),
    [
        ({}, {}, {"max_tokens": 4096}),
        ({}, {"max_tokens": "50"}, {"max_tokens": 50}),
        ({"max_tokens": 7, "max_completion_tokens": 8}, {}, {"max_tokens": 8}),
        ({"temperature": 1.5}, {}, {"temperature": 1}),
        ({"temperature": 0.5}, {"anthropic_version": "2026-10-21"}, {"temperature": None}),
        ({"temperature": 0.5, "reasoning_effort": "low"}, {}, {"temperature": None}),
        ({"temperature": 1, "reasoning_effort": "low"}, {}, {"temperature": 1}),
        ({"stop": "END"}, {}, {"stop_sequences": ["END"]}),
        ({"stop": ["END", " ", ""]}, {}, {"stop_sequences": ["END"]}),
        ({"reasoning_effort": "none"}, {}, {"thinking": {"type": "disabled"}, "output_config": None}),
        ({"reasoning_effort": "minimal"}, {}, {"thinking": {"type": "disabled"}, "output_config": {"effort": "low"}}),
        ({"reasoning_effort": "max"}, {}, {"thinking": {"type": "adaptive"}, "output_config": {"effort": "max"}}),
        (
            {"reasoning_effort": "low"},
            {"thinking": "effort-only"},
            {"thinking": None, "output_config": {"effort": "low"}},
        ),
        (
            {"reasoning_effort": "high", "max_tokens": 100},
            {"thinking": "budget"},
            {"thinking": {"type": "enabled", "budget_tokens": 16384}, "max_tokens": 16484},
        ),
        (
            {"reasoning_effort": "high", "tools": TOOLS, "tool_choice": "required"},
            {},
            {"thinking": None, "output_config": {"effort": "high"}, "tool_choice": {"type": "any"}},
        ),
        ({"tools": TOOLS, "tool_choice": FORCED}, {}, {"tool_choice": {"type": "tool", "name": "wind"}}),
        (
            {"tools": TOOLS, "parallel_tool_calls": False},
            {},
            {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
        ),
        ({"tools": TOOLS, "parallel_tool_calls": True}, {}, {"tool_choice": None}),
        ({"tool_choice": "auto"}, {}, {"tool_choice": None}),
        ({"service_tier": "default"}, {}, {"service_tier": "standard_only"}),
        ({"service_tier": "fast"}, {}, {"service_tier": None, "speed": "fast"}),
        ({"service_tier": "priority"}, {}, {"service_tier": "auto"}),
        ({"service_tier": "flex"}, {}, {"service_tier": None}),
        ({"user": "u1", "safety_identifier": "s1"}, {}, {"metadata": {"user_id": "s1"}}),
        ({"metadata": {"user_id": "u2", "team": "t"}}, {}, {"metadata": {"user_id": "u2"}}),
        ({"user": "who@example.org"}, {}, {"metadata": None}),
        ({"response_format": {"type": "json_object"}}, {}, {"output_config": None}),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "strict": True}}},
            {},
            {"output_config": {"format": {"type": "json_schema", "schema": {}}}},
        ),
        ({"prompt_cache_options": {"mode": "implicit"}}, {}, {"cache_control": {"type": "ephemeral"}}),
        ({"web_search_options": {}}, {}, {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}),
    ],
)
def test_fields_of_a_request(fields: dict[str, Any], choices: dict[str, str], wanted: dict[str, Any]) -> None:
    value, _ = from_chat(choices, **fields)
    assert {name: value.get(name) for name in wanted} == wanted


@pytest.mark.parametrize(
    ("fields", "reasoning"),
    [
        ({}, None),
        ({"thinking": {"type": "disabled"}}, {"effort": "none"}),
        ({"thinking": {"type": "disabled"}, "output_config": {"effort": "low"}}, {"effort": "minimal"}),
        ({"thinking": {"type": "disabled"}, "output_config": {"effort": "high"}}, {"effort": "high"}),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, {"effort": "low"}),
        ({"thinking": {"type": "enabled", "budget_tokens": 2048}}, {"effort": "medium"}),
        ({"thinking": {"type": "enabled", "budget_tokens": 8192}}, {"effort": "high"}),
        ({"thinking": {"type": "enabled", "budget_tokens": 32768}}, {"effort": "xhigh"}),
        (
            {"thinking": {"type": "enabled", "budget_tokens": 1024}, "output_config": {"effort": "max"}},
            {"effort": "max"},
        ),
        ({"thinking": {"type": "adaptive"}}, {"effort": "high"}),
        ({"thinking": {"type": "between_tools"}}, {"effort": "high"}),
        ({"thinking": {"type": "adaptive", "display": "summarized"}}, {"effort": "high", "summary": "auto"}),
    ],
)
def test_effort(fields: dict[str, Any], reasoning: dict[str, Any] | None) -> None:
    value, _ = to_responses(**fields)
    assert value.get("reasoning") == reasoning


CALL = {"id": "c1", "type": "function", "function": {"name": "wind", "arguments": "{}"}}
ANSWER = {"role": "tool", "tool_call_id": "c1", "content": "calm"}


@pytest.mark.parametrize(
    ("messages", "choices", "wanted"),
    [
        (  # instructions: in front, in place, elsewhere
            [{"role": "system", "content": "A"}, *USER, {"role": "developer", "content": "B"}, *USER],
            {},
            {"system": "A", "messages": [*USER, {"role": "system", "content": "B"}, *USER]},
        ),
        (
            [{"role": "system", "content": "A"}, *USER, {"role": "system", "content": "B"}, *USER],
            {"mid_system": "hoist"},
            {"system": [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}], "messages": [*USER, *USER]},
        ),
        (
            [{"role": "system", "content": "A"}, {"role": "developer", "content": "B"}, *USER],
            {"system": "join"},
            {"system": "A\n\nB", "messages": USER},
        ),
        (  # results first, and what the user says behind them in the same turn
            [*USER, {"role": "assistant", "content": "", "tool_calls": [CALL]}, ANSWER, *USER],
            {},
            {
                "messages": [
                    *USER,
                    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "wind", "input": {}}]},
                    {
                        "role": "user",
                        "content": [
                            {"type": "tool_result", "tool_use_id": "c1", "content": "calm"},
                            {"type": "text", "text": "Hello"},
                        ],
                    },
                ]
            },
        ),
        (
            [*USER, *USER],
            {"merge_roles": "true"},
            {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}] * 2}]},
        ),
        (  # media that have no place
            [{"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}]}],
            {},
            {"messages": [{"role": "user", "content": [{"type": "text", "text": "[audio omitted]"}]}]},
        ),
    ],
)
def test_conversation(messages: list[Any], choices: dict[str, str], wanted: dict[str, Any]) -> None:
    value, _ = from_chat(choices, messages=messages)
    assert {name: value.get(name) for name in wanted} == wanted


@pytest.mark.parametrize(
    ("part", "block"),
    [
        (
            {"type": "image_url", "image_url": {"url": "data:image/jpg;base64,AAAA"}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "AAAA"}},
        ),
        (
            {"type": "file", "file": {"file_data": "data:text/csv;base64,YSxi", "filename": "t.csv"}},
            {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": "a,b"},
                "title": "t.csv",
            },
        ),
        (
            {"type": "file", "file": {"file_id": "f1"}},
            {"type": "document", "source": {"type": "file", "file_id": "f1"}},
        ),
        (
            {"type": "text", "text": "x", "prompt_cache_breakpoint": {"mode": "explicit"}},
            {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}},
        ),
    ],
)
def test_parts(part: Any, block: Any) -> None:
    value, _ = from_chat(messages=[{"role": "user", "content": [part]}])
    assert value["messages"][0]["content"] == [block]


def test_an_empty_conversation_is_refused() -> None:
    with pytest.raises(ProxaiError) as caught:
        from_chat(messages=[{"role": "user", "content": ""}])
    assert caught.value.code == "empty"


START = {
    "type": "message_start",
    "message": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 1},
    },
}
TEXT = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Oh"}}
STOP = {"type": "content_block_stop", "index": 0}
END = {
    "type": "message_delta",
    "delta": {"stop_reason": "end_turn", "stop_sequence": None},
    "usage": {"output_tokens": 9},
}
LAST = {"type": "message_stop"}


def delta(kind: str, key: str, value: Any, index: int = 0) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, key: value}}


@pytest.mark.parametrize(
    ("events", "code"),
    [
        ([START, TEXT, TEXT], "dup-start"),
        ([START, TEXT, STOP, TEXT], "dup-start"),
        ([START, delta("text_delta", "text", "x")], "orphan-delta"),
        ([START, STOP], "stop-unopened"),
        ([START, TEXT, delta("input_json_delta", "partial_json", "{}")], "delta-kind"),
        ([START, {**START, "message": {**START["message"], "id": "msg_2"}}], "event-order"),
        ([START, END, LAST, TEXT], "event-order"),
        ([{"completion": "Hi", "stop_reason": None}], "old-version"),
        ([START, TEXT], "truncated"),
    ],
)
def test_streams_that_break_the_rules(events: list[Any], code: str) -> None:
    with pytest.raises(ProxaiError) as caught:
        collect(events, "messages")
    assert caught.value.code == code


def test_text_of_a_start_and_usage_of_both_ends() -> None:
    done = collect([START, TEXT, delta("text_delta", "text", " no"), STOP, END, LAST], "messages", "chat")
    assert done.value["choices"][0]["message"]["content"] == "Oh no"
    usage = done.value["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (7, 9)
    assert usage["prompt_tokens_details"]["cached_tokens"] == 2


def chunk(**fields: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": fields.pop("delta", {}), "finish_reason": fields.pop("finish_reason", None)}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **fields}


def call_piece(index: int, arguments: str, **first: Any) -> dict[str, Any]:
    name = {"name": first.pop("name")} if first else {}
    return chunk(delta={"tool_calls": [{"index": index, **first, "function": {**name, "arguments": arguments}}]})


def streamed(chunks: list[Any], **choices: str) -> list[Any]:
    translator = StreamTranslator("chat", "messages", Context(choices=choices))
    out = [event for each in chunks for event in translator.feed(each)] + translator.close()
    assert not [key for key in translator.account if key[4] == "unexplained"]
    return out


INTERLEAVED = [
    call_piece(0, '{"a"', id="a", type="function", name="one"),
    call_piece(1, '{"b"', id="b", type="function", name="two"),
    call_piece(0, ":1}"),
    call_piece(1, ":2}"),
    call_piece(0, " "),
    chunk(finish_reason="tool_calls"),
    DONE,
]


def test_one_block_is_open_at_a_time() -> None:
    """A call ends as soon as its arguments are whole, and the next one, which waited, begins."""
    kinds = [(event["type"], event["index"]) for event in streamed(INTERLEAVED) if "index" in event]
    assert kinds == [
        ("content_block_start", 0),
        ("content_block_delta", 0),
        ("content_block_delta", 0),
        ("content_block_stop", 0),
        ("content_block_start", 1),
        ("content_block_delta", 1),
        ("content_block_delta", 1),
        ("content_block_stop", 1),
    ]


def test_interleaving_on_demand() -> None:
    out = streamed(INTERLEAVED, interleave="true")
    kinds = [(event["type"][14:], event["index"]) for event in out if "index" in event]
    assert kinds[:5] == [("start", 0), ("delta", 0), ("start", 1), ("delta", 1), ("delta", 0)]


def test_free_text_of_a_custom_tool_is_wrapped_piece_by_piece() -> None:
    def piece(text: str, **first: Any) -> dict[str, Any]:
        name = {"name": first.pop("name")} if first else {}
        return chunk(delta={"tool_calls": [{"index": 0, **first, "custom": {**name, "input": text}}]})

    out = streamed(
        [piece('say "', id="a", type="custom", name="sh"), piece('hi"\n'), chunk(finish_reason="tool_calls"), DONE]
    )
    pieces = [event["delta"]["partial_json"] for event in out if event["type"] == "content_block_delta"]
    assert "".join(pieces) == '{"input":"say \\"hi\\"\\n"}'


def test_a_refusal_is_its_own_explanation() -> None:
    out = streamed(
        [chunk(delta={"refusal": "I won"}), chunk(delta={"refusal": "'t."}), chunk(finish_reason="stop"), DONE]
    )
    end = next(event for event in out if event["type"] == "message_delta")["delta"]
    assert (end["stop_reason"], end["stop_details"]["explanation"]) == ("refusal", "I won't.")


def test_an_error_ends_the_stream() -> None:
    out = streamed(
        [chunk(delta={"content": "Half"}), {"error": {"message": "lost", "type": "server_error", "code": None}}]
    )
    assert [event["type"] for event in out][-1] == "error"
    assert out[-1]["error"] == {"type": "api_error", "message": "lost"}


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": "invalid_api_key", "type": "invalid_request_error"}, "authentication_error"),
        ({"code": "insufficient_quota", "type": "insufficient_quota"}, "billing_error"),
        ({"code": "model_not_found", "type": "invalid_request_error"}, "not_found_error"),
        ({"code": None, "type": "rate_limit_error"}, "rate_limit_error"),
        ({"code": "timeout", "type": "server_error"}, "timeout_error"),
        ({"code": 529, "type": None}, "overloaded_error"),
        ({"code": None, "type": "server_error"}, "api_error"),
        ({"code": None, "type": "something_new"}, "api_error"),
    ],
)
def test_errors(error: dict[str, Any], kind: str) -> None:
    value, _ = said({"error": {"message": "no", "param": None} | error}, "chat", "messages", "error")
    assert value == {"type": "error", "error": {"type": kind, "message": "no"}}


def test_the_cause_of_an_error_comes_back() -> None:
    body = {"type": "error", "error": {"type": "rate_limit_error", "message": "no"}}
    body["error"]["details"] = {"error_code": "ramp_limit_exceeded"}  # type: ignore[index]
    there, _ = said(body, "messages", "chat", "error")
    assert there["error"]["code"] == "ramp_limit_exceeded"
    back, _ = said(there, "chat", "messages", "error")
    assert back == body


def test_what_a_choice_is_of_is_told_in_another_word() -> None:
    value, why = from_chat(tools=TOOLS, tool_choice=FORCED)
    assert value["tool_choice"] == {"type": "tool", "name": "wind"}
    assert why["tool_choice", "type"] == "respelled"


def test_what_cites_is_told_in_another_word() -> None:
    cited = {"type": "url_citation", "url_citation": {"url": "https://a.example", "title": "A"}}
    message = {"role": "assistant", "content": "Yes.", "annotations": [cited]}
    reply = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m"}
    reply["choices"] = [{"index": 0, "message": message, "finish_reason": "stop"}]
    value, why = said(reply, "chat", "messages", "response")
    assert value["content"][0]["citations"][0]["type"] == "web_search_result_location"
    assert why["choices", 0, "message", "annotations", 0, "type"] == "respelled"


REPLY = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "a"}],
}
COUNTS = {"input_tokens": 1, "output_tokens": 1}


@pytest.mark.parametrize("target", ["chat", "responses"])
@pytest.mark.parametrize(("reason", "code"), [("pause_turn", "paused-turn"), ("new_one", "unknown-stop")])
def test_what_is_found_of_an_end_is_told_once(reason: str, code: str, target: str) -> None:
    done = translate(REPLY | {"stop_reason": reason, "usage": COUNTS}, "messages", target, "response")
    assert [finding.code for finding in done.findings] == [code]


def test_an_end_that_nobody_knows() -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "new_one"}
    reply = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    done = translate(reply, "chat", "messages", "response")
    assert done.value["stop_reason"] == "end_turn"
    assert [finding.code for finding in done.findings] == ["unknown-stop"]


@pytest.mark.parametrize("target", ["chat", "responses"])
def test_the_role_of_a_turn_goes_on_behind_its_results(target: str) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "wind", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "5"}
    answers = {"role": "user", "content": [result, {"type": "text", "text": "So?"}]}
    request = {"model": "m", "max_tokens": 9}
    request["messages"] = [*USER, {"role": "assistant", "content": [call]}, answers]  # type: ignore[assignment]
    value, why = said(request, "messages", target, "request")
    place = "messages" if target == "chat" else "input"
    assert value[place][-1]["role"] == "user"
    assert (place, len(value[place]) - 1, "role") not in why


@pytest.mark.parametrize("target", ["chat", "responses"])
def test_instructions_at_the_beginning_of_a_turn_leave_no_empty_one(target: str) -> None:
    block = {"type": "mid_conv_system", "content": [{"type": "text", "text": "Be brief."}]}
    request = {"model": "m", "max_tokens": 9}
    request["messages"] = [{"role": "user", "content": [block, {"type": "text", "text": "Hi"}]}]  # type: ignore[assignment]
    done = translate(request, "messages", target, "request")
    assert [turn["role"] for turn in done.value["messages" if target == "chat" else "input"]] == ["system", "user"]
    assert not done.findings


def test_a_paused_search_is_not_completed() -> None:
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
    events = [
        {"type": "message_start", "message": REPLY | {"content": [], "stop_reason": None, "usage": COUNTS}},
        {"type": "content_block_start", "index": 0, "content_block": search},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "pause_turn"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    translator = StreamTranslator("messages", "responses")
    out = [event for each in events for event in translator.feed(each)]
    assert "response.web_search_call.completed" not in [event["type"] for event in out]
    done = next(event for event in out if event["type"] == "response.output_item.done")
    assert done["item"]["status"] == "in_progress"


def test_the_type_of_what_becomes_plain_text_is_no_loss() -> None:
    plain = {"type": "text", "media_type": "text/plain", "data": "a"}
    document = {"type": "document", "source": plain, "title": "A"}
    _, why = to_responses(messages=[{"role": "user", "content": [document]}])
    assert why["messages", 0, "content", 0, "type"] == "target-default"
    assert why["messages", 0, "content", 0, "title"] == "no-equivalent"
    texts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    request = {"model": "m", "max_tokens": 9, "messages": USER, "system": texts}
    value, why = said(request, "messages", "responses", "request", system="join")
    assert (value["instructions"], why["system", 1, "type"]) == ("a\n\nb", "target-default")


@pytest.mark.parametrize("target", ["chat", "responses"])
def test_a_reply_of_which_nothing_is_left_is_told(target: str) -> None:
    block = {"type": "new_block", "y": 2}
    body = REPLY | {"content": [block], "stop_reason": "end_turn", "usage": COUNTS}
    assert [finding.code for finding in translate(body, "messages", target, "response").findings] == ["empty-reply"]
    translator = StreamTranslator("messages", target)
    for event in explode(body, "messages").value:
        translator.feed(event)
    assert [finding.code for finding in translator.findings] == ["empty-reply"]


def test_what_becomes_the_users_is_merged_with_the_users() -> None:
    turns = [*USER, {"role": "developer", "content": "Be brief."}, *USER]
    value, _ = from_chat({"mid_system": "user", "merge_roles": "true"}, messages=turns)
    assert [turn["role"] for turn in value["messages"]] == ["user"]


def test_the_end_of_a_stream_is_in_the_order_of_a_body() -> None:
    out = streamed([chunk(delta={"content": "a"}), chunk(finish_reason="content_filter"), DONE])
    delta = next(event for event in out if event["type"] == "message_delta")["delta"]
    assert list(delta) == ["stop_reason", "stop_sequence", "stop_details"]
