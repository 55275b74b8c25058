"""What was decided about replies (`spec/decisions.md`), each decision by a table of small documents."""

import copy
from typing import Any

import pytest

from proxai_cli import collect, explode, text
from proxai_cli.errors import NotPossible
from proxai_cli.ir.events import DONE

from .small import (
    SIX,
    answer,
    ask,
    at,
    called,
    findings,
    message,
    reasons,
    said_text,
    stop_of,
    stream_of,
    streamed,
    told,
    wire,
)


def ends(source: str, target: str, document: Any) -> tuple[Any, list[str]]:
    """How a reply ends in the target, or the code with which it is refused; and what was noticed."""
    try:
        done = told(document, source, target, "response")
    except NotPossible as error:
        return error.code, []
    return stop_of(target, done.value), findings(done)


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
    assert list(findings(done)).count("usage-mismatch") == 1
    assert reasons(done, "usage", "total_tokens") == [("dropped", "no-equivalent")]


def test_of_usage_that_differs_the_chunk_for_it_alone_counts() -> None:
    """`spec/streams.md` §5: also where another one comes behind it."""
    fed = stream_of(answer("chat", said_text("chat", "A")), "chat")
    at_end = next(at for at, event in enumerate(fed) if event is not DONE and event.get("usage"))
    fed.insert(at_end - 1, copy.deepcopy(fed[at_end]))
    fed[at_end]["usage"] = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    del fed[at_end + 1]
    out, _ = streamed(fed, "chat", "messages")
    assert collect(out, "messages").value["usage"]["output_tokens"] == 2


def test_a_stream_of_a_reply_without_a_choice_is_none() -> None:
    body = {**answer("chat", said_text("chat", "A")), "choices": []}
    for target in ("chat", "messages", "responses"):
        with pytest.raises(NotPossible) as caught:
            explode(body, "chat", target)
        assert caught.value.code == "empty"


@pytest.mark.parametrize(("code", "written"), [(429, "429"), ("slow_down", "slow_down"), (None, None)])
def test_a_code_of_an_error_is_a_text(code: Any, written: Any) -> None:
    done = told({"error": {"message": "m", "type": "t", "code": code}}, "chat", "responses", "error")
    assert done.value["error"]["code"] == written


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


# D15, D17: signatures travel with reasoning, and chat has dialects for it.


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
