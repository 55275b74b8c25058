"""Hosted tools between Responses and Messages: every row of `spec/responses.md` §6, as body and as stream."""

from copy import deepcopy
from typing import Any

import pytest

from proxai_cli import collect, explode

from .judges import complaint
from .small import answer, ask, message, reasons, stream_of, streamed, told, wire

SUMMARY = {"type": "compaction", "content": None, "encrypted_content": "e"}
COMPACTION = {"id": "cmp_1", "type": "compaction", "encrypted_content": "e"}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
REMOTE = {"name": "tide", "description": "Tides", "input_schema": SCHEMA}
LISTING = {"type": "mcp_tool_listing", "mcp_server_name": "sea", "tools": [REMOTE]}
LISTED = {
    "id": "mcpl_1",
    "type": "mcp_list_tools",
    "server_label": "sea",
    "tools": [REMOTE | {"annotations": {"a": 1}}],
}
SEARCH = [
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "tool_search_tool_bm25", "input": {"query": "tides"}},
    {
        "type": "tool_search_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": {
            "type": "tool_search_tool_search_result",
            "tool_references": [{"type": "tool_reference", "tool_name": "tide"}],
        },
    },
]
TIDE = {"type": "function", "name": "tide", "description": "Tides", "parameters": SCHEMA, "strict": True}
SPACE = {"type": "namespace", "name": "sea", "description": "Sea", "tools": [TIDE, TIDE | {"name": "wave"}]}


def asked(id: str = "tsc_1", call_id: str | None = None, **fields: Any) -> dict[str, Any]:
    said = {"execution": "server", "status": "completed", "arguments": {"query": "tides"}}
    return {"id": id, "type": "tool_search_call", "call_id": call_id, **said, **fields}


def found(*tools: Any, call_id: str | None = None, **fields: Any) -> dict[str, Any]:
    said = {"id": "tso_1", "type": "tool_search_output", "call_id": call_id, "execution": "server"}
    return {**said, "status": "completed", "tools": list(tools), **fields}


def both_ways(said: list[Any], source: str, target: str, **known: Any) -> Any:
    """The parts of a translated reply; as body and as stream they are the same, and the official types take them."""
    reply = answer(source, said)
    body = told(reply, source, target, "response", **known).value
    events, _ = streamed(stream_of(reply, source), source, target, **known)
    collected = collect(events, target).value
    key = "content" if target == "messages" else "output"
    assert complaint(target, "response", body) is None
    assert complaint(target, "stream", wire(events)) is None
    assert collected[key] == body[key]
    return body[key]


def test_a_compaction_and_back() -> None:
    (item,) = both_ways([SUMMARY], "messages", "responses")
    assert item == {"id": "cmp_resp_msg_1", "type": "compaction", "encrypted_content": "e"}
    assert both_ways([COMPACTION], "responses", "messages") == [{"type": "compaction", "encrypted_content": "e"}]


def test_what_comes_with_a_compaction_has_no_place() -> None:
    reply = answer("messages", [SUMMARY | {"content": "so far", "signature": "s", "tool_changes": []}])
    done = told(reply, "messages", "responses", "response")
    assert reasons(done, "content", 0, "content") == [("dropped", "no-equivalent")]
    assert reasons(done, "content", 0, "signature") == [("dropped", "foreign-signature")]
    assert [item["encrypted_content"] for item in done.value["output"]] == ["e"]


def compacted(*deltas: dict[str, Any]) -> list[Any]:
    """A stream in which a compaction arrives in these deltas."""
    empty = {"type": "compaction", "content": None, "encrypted_content": None}
    first, _, _, *last = stream_of(answer("messages", [SUMMARY]), "messages")
    return [
        first,
        {"type": "content_block_start", "index": 0, "content_block": empty},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "compaction_delta", **each}}
            for each in deltas
        ),
        {"type": "content_block_stop", "index": 0},
        *last,
    ]


def test_a_compaction_in_pieces() -> None:
    fed = compacted({"content": "so far", "encrypted_content": None}, {"content": None, "encrypted_content": "e"})
    out, _ = streamed(fed, "messages", "responses")
    assert [event["type"].removeprefix("response.") for event in out[2:6]] == [
        "output_item.added", "compaction.compacting", "output_item.done", "completed",
    ]  # fmt: skip
    assert out[4]["item"]["encrypted_content"] == "e"
    assert complaint("responses", "stream", out) is None
    assert collect(fed, "messages").value["content"] == [SUMMARY | {"content": "so far"}]


def test_a_compaction_said_twice_counts_once() -> None:
    out, _ = streamed(compacted({"encrypted_content": "d"}, {"encrypted_content": "e"}), "messages", "responses")
    assert out[-1]["response"]["output"][0]["encrypted_content"] == "e"
    assert len([event for event in out if event["type"] == "response.compaction.compacting"]) == 1


def test_a_compaction_in_a_stream_that_is_cut() -> None:
    _, translator = streamed(compacted({"encrypted_content": "e"})[:3], "messages", "responses")
    assert "not-terminal" in {why for _, _, _, why, _ in translator.account}


@pytest.mark.parametrize(
    ("source", "target", "part"), [("messages", "responses", SUMMARY), ("responses", "messages", COMPACTION)]
)
def test_a_compaction_of_another_vendor_has_no_place_in_a_request(source: str, target: str, part: Any) -> None:
    user = {"role": "user", "content": "Hi"}
    turn = {"role": "assistant", "content": [part]} if source == "messages" else part
    done = told(ask(source, user, turn, user), source, target)
    place = ("messages", 1, "content", 0) if source == "messages" else ("input", 1)
    assert reasons(done, *place, "encrypted_content") == [("dropped", "foreign-signature")]


def test_a_listing_of_remote_tools_and_back() -> None:
    (item,) = both_ways([LISTING], "messages", "responses")
    assert item == {"id": "mcpl_resp_msg_1", "type": "mcp_list_tools", "server_label": "sea", "tools": [REMOTE]}
    assert both_ways([LISTED], "responses", "messages") == [LISTING]
    done = told(answer("responses", [LISTED | {"error": "late"}]), "responses", "messages", "response")
    assert reasons(done, "output", 0, "tools", 0, "annotations") == [("dropped", "no-equivalent")]
    assert reasons(done, "output", 0, "error") == [("dropped", "no-equivalent")]


def test_the_events_of_a_listing() -> None:
    out, _ = streamed(stream_of(answer("messages", [LISTING]), "messages"), "messages", "responses")
    kinds = [event["type"].removeprefix("response.") for event in out[2:6]]
    assert kinds == ["output_item.added", "mcp_list_tools.in_progress", "mcp_list_tools.completed", "output_item.done"]
    assert out[2]["item"] == {"id": "mcpl_resp_msg_1", "type": "mcp_list_tools", "server_label": "sea", "tools": []}


@pytest.mark.parametrize("tools", [[], [7], [{"name": 7}], [REMOTE | {"input_schema": None}]])
def test_listings_with_little_in_them(tools: list[Any]) -> None:
    both_ways([LISTING | {"tools": tools}], "messages", "responses")
    both_ways([LISTED | {"tools": tools}], "responses", "messages")


def test_of_a_server_that_could_not_be_asked_nothing_is_listed() -> None:
    done = told(answer("responses", [LISTED | {"tools": [], "error": "down"}]), "responses", "messages", "response")
    assert done.value["content"] == []


def test_a_search_for_tools_and_back() -> None:
    call, output = both_ways(SEARCH, "messages", "responses")
    assert call == asked("tsc_srvtoolu_1")
    assert output == found({"type": "function", "name": "tide", "parameters": None, "strict": False}, id=output["id"])
    assert both_ways([call, output], "responses", "messages") == SEARCH


def test_what_a_search_found_goes_by_its_names() -> None:
    call, result = both_ways([asked(), found(TIDE, SPACE, {"type": "web_search"}, 7)], "responses", "messages")
    assert (call["id"], result["tool_use_id"]) == ("tsc_1", "tsc_1")
    names = [each["tool_name"] for each in result["content"]["tool_references"]]
    assert names == ["tide", "sea__tide", "sea__wave"]
    done = told(answer("responses", [asked(), found(TIDE)]), "responses", "messages", "response")
    assert reasons(done, "output", 1, "tools", 0, "parameters") == [("dropped", "no-equivalent")]


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_each_search_gets_what_it_found(order: tuple[str, str]) -> None:
    calls = [asked(f"tsc_{each}", each) for each in "ab"]
    blocks = both_ways([*calls, *(found(TIDE, call_id=each) for each in order)], "responses", "messages")
    assert [block["tool_use_id"] for block in blocks[2:]] == [f"tsc_{each}" for each in order]


def test_what_no_search_found_has_no_place() -> None:
    assert both_ways([found(TIDE)], "responses", "messages") == []
    assert both_ways([asked(execution="client"), found(TIDE, execution="client")], "responses", "messages") == []


def test_a_search_that_failed_or_goes_on() -> None:
    error = {"type": "tool_search_tool_result_error", "error_code": "unavailable", "error_message": None}
    failed = [SEARCH[0], SEARCH[1] | {"content": error}]
    (item,) = both_ways(failed, "messages", "responses")
    assert item["status"] == "incomplete"
    call, result = both_ways([item], "responses", "messages")
    assert result["content"]["error_code"] == "unavailable" and result["tool_use_id"] == call["id"]
    (item,) = both_ways(SEARCH[:1], "messages", "responses")
    assert item["status"] == "in_progress"


RESULT = "tool_search_tool_result"


@pytest.mark.parametrize(
    ("behind", "kinds"),
    [
        ([], [RESULT]),
        ([message("t")], [RESULT, "text"]),
        ([asked("tsc_2", "b"), found(TIDE, call_id="b"), message("t")], ["server_tool_use", RESULT, RESULT, "text"]),
    ],
)
def test_a_search_that_is_over_found_nothing_if_nobody_says_what(behind: list[Any], kinds: list[str]) -> None:
    call, *others = both_ways([asked(call_id="a"), *behind], "responses", "messages")
    assert [block["type"] for block in others] == kinds
    (own,) = [block for block in others if block.get("tool_use_id") == call["id"]]
    assert own["content"] == {"type": "tool_search_tool_search_result", "tool_references": []}
    running = both_ways([asked(call_id="a", status="in_progress"), *behind], "responses", "messages")
    assert len(running) == len(others)


def test_a_search_in_a_request() -> None:
    user = {"role": "user", "content": "Hi"}
    value = told(ask("messages", user, {"role": "assistant", "content": SEARCH}, user), "messages", "responses").value
    assert [item["type"] for item in value["input"]] == ["message", "tool_search_call", "tool_search_output", "message"]
    assert complaint("responses", "request", value) is None
    value = told(ask("responses", *value["input"]), "responses", "messages").value
    assert value["messages"][1]["content"] == SEARCH
    assert complaint("messages", "request", value) is None


def test_the_first_query_that_is_one_is_asked() -> None:
    action = {"type": "search", "query": "", "queries": ["tides", "waves"]}
    item = {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": action}
    call, _ = both_ways([item], "responses", "messages")
    assert call["input"] == {"query": "tides"}


def test_a_reply_of_messages_may_say_nothing() -> None:
    assert both_ways([], "messages", "responses") == []


def searched(id: str, url: str) -> list[Any]:
    page = {"type": "web_search_result", "url": url, "title": "", "encrypted_content": "", "page_age": None}
    use = {"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": url}}
    return [use, {"type": "web_search_tool_result", "tool_use_id": id, "content": [page]}]


@pytest.mark.parametrize("order", [(0, 2, 1, 3), (0, 2, 3, 1), (0, 1, 2, 3), (0, 4, 2, 1, 4, 3), (0, 2, 4, 1)])
def test_a_result_belongs_to_its_call_wherever_it_stands(order: tuple[int, ...]) -> None:
    blocks = [*searched("srvtoolu_1", "https://a"), *searched("srvtoolu_2", "https://b"), {"type": "text", "text": "t"}]
    calls = {1: "completed", 3: "completed" if 3 in order else "in_progress"}
    items = both_ways([blocks[at] for at in order], "messages", "responses")
    found = [item for item in items if item["type"] == "web_search_call"]
    assert [item["status"] for item in found] == list(calls.values())
    assert [[each["url"] for each in item["action"].get("sources", [])] for item in found] == [
        ["https://a"], ["https://b"] if 3 in order else [],
    ]  # fmt: skip


def test_a_result_that_answers_no_call_or_an_answered_one_has_no_place() -> None:
    use, result = searched("srvtoolu_1", "https://a")
    assert len(both_ways([use, result, deepcopy(result)], "messages", "responses")) == 1
    assert both_ways([result], "messages", "responses") == []


def test_a_result_in_a_later_turn_of_a_request() -> None:
    user, (use, result) = {"role": "user", "content": "Hi"}, searched("srvtoolu_1", "https://a")
    turns = [{"role": "assistant", "content": [each]} for each in (use, result)]
    value = told(ask("messages", user, *turns, user), "messages", "responses").value
    assert [item["type"] for item in value["input"]] == ["message", "web_search_call", "message"]
    assert value["input"][1]["status"] == "completed"


@pytest.mark.parametrize(("cut", "status"), [(3, None), (4, "in_progress"), (5, "completed"), (6, "completed")])
def test_a_hosted_call_in_a_stream_that_is_cut(cut: int, status: str | None) -> None:
    fed = stream_of(answer("messages", searched("srvtoolu_1", "https://a")), "messages")
    assert [event["type"] for event in fed[3:6]] == ["content_block_stop", "content_block_start", "content_block_stop"]
    out, _ = streamed(fed[:cut], "messages", "responses")
    done = [event["item"]["status"] for event in out if event["type"] == "response.output_item.done"]
    assert done == ([] if status is None else [status])


def ran(id: str) -> list[Any]:
    result = {"type": "code_execution_result", "stdout": "1", "stderr": "", "return_code": 0, "content": []}
    return [
        {"type": "server_tool_use", "id": id, "name": "code_execution", "input": {"code": "print(1)"}},
        {"type": "code_execution_tool_result", "tool_use_id": id, "content": result},
    ]


CONTAINER = {"id": "container_1", "expires_at": "2026-05-11T15:01:02Z"}


def test_code_says_the_container_it_ran_in() -> None:
    reply = answer("messages", [*ran("srvtoolu_1"), *ran("srvtoolu_2")], container=CONTAINER)
    done = told(reply, "messages", "responses", "response")
    assert [item["container_id"] for item in done.value["output"]] == ["container_1"] * 2
    assert reasons(done, "container", "expires_at") == [("dropped", "foreign-id")]
    assert complaint("responses", "response", done.value) is None
    sent = explode(reply, "messages", "responses").value
    added = [event["item"] for event in sent if event["type"] == "response.output_item.added"]
    assert [item["container_id"] for item in added] == ["container_1"] * 2
    assert collect(sent, "responses").value["output"] == done.value["output"]


def test_a_container_that_a_stream_says_at_its_end_is_in_its_last_event() -> None:
    fed = stream_of(answer("messages", [*ran("srvtoolu_1"), *ran("srvtoolu_2")]), "messages")
    fed[-2]["delta"]["container"] = CONTAINER
    out, translator = streamed(fed, "messages", "responses")
    assert [event["item"]["container_id"] for event in out if event["type"] == "response.output_item.done"] == ["", ""]
    assert [item["container_id"] for item in out[-1]["response"]["output"]] == ["container_1"] * 2
    assert complaint("responses", "stream", out) is None
    assert not {why for _, _, _, why, level in translator.account if level == "unexplained"}


@pytest.mark.parametrize("container", [None, {}, {"id": 7}, "container_1", CONTAINER])
def test_a_container_in_which_no_code_ran_is_lost(container: Any) -> None:
    fed = stream_of(answer("messages", [{"type": "text", "text": "t"}]), "messages")
    fed[-2]["delta"]["container"] = container
    _, translator = streamed(fed, "messages", "responses")
    assert not {why for _, _, _, why, level in translator.account if level == "unexplained"}
    told(answer("messages", [], container=container), "messages", "responses", "response")


PATCH = {"type": "create_file", "path": "a", "diff": "b"}
RUN = {"type": "exec", "command": ["ls"], "env": {}}
CLICK = {"type": "click", "x": 1, "y": 2, "button": "left"}


def use(name: str, input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "toolu_1", "name": name, "input": input}


@pytest.mark.parametrize(
    ("tool", "name", "input", "item"),
    [
        ("computer", "computer", CLICK, {"type": "computer_call", "action": CLICK}),
        ("computer", "computer", {"actions": [CLICK]}, {"type": "computer_call", "actions": [CLICK]}),
        ("shell", "bash", {"commands": ["ls"]}, {"type": "shell_call", "action": {"commands": ["ls"]}}),
        ("shell", "bash", {"command": "ls"}, {"type": "shell_call", "action": {"commands": ["ls"]}}),
        ("local_shell", "bash", RUN, {"type": "local_shell_call", "action": RUN}),
        ("apply_patch", "apply_patch", PATCH, {"type": "apply_patch_call", "operation": PATCH}),
        ("computer", "computer", {"action": "screenshot"}, {"type": "function_call"}),
        ("computer", "computer", {"actions": [{"type": "click"}]}, {"type": "function_call"}),
        ("shell", "bash", {"restart": True}, {"type": "function_call"}),
        ("apply_patch", "apply_patch", {}, {"type": "function_call"}),
        ("shell", "computer", CLICK, {"type": "function_call"}),
    ],
)
def test_a_call_of_a_tool_that_the_request_has_is_an_item_of_its_own(
    tool: str, name: str, input: Any, item: dict[str, Any]
) -> None:
    asked = {"request": ask("responses", tools=[{"type": tool}]), "request_protocol": "responses"}
    (found,) = both_ways([use(name, input)], "messages", "responses", **asked)
    assert found | item == found and found["call_id"] == "toolu_1" and found["status"] == "completed"
    (unasked,) = both_ways([use(name, input)], "messages", "responses")
    assert unasked["type"] == "function_call"
    if item["type"] != "function_call" and input != {"command": "ls"}:
        assert both_ways([found], "responses", "messages") == [use(name, input)]


def test_a_function_of_the_same_name_is_a_function() -> None:
    tools = [{"type": "computer"}, {"type": "function", "name": "computer", "parameters": {}, "strict": False}]
    asked = {"request": ask("responses", tools=tools), "request_protocol": "responses"}
    (found,) = both_ways([use("computer", CLICK)], "messages", "responses", **asked)
    assert found["type"] == "function_call"


def test_a_call_of_a_tool_of_the_vendor_that_was_asked_by_messages() -> None:
    tools = [{"type": "bash_20250124", "name": "bash"}]
    asked = {"request": ask("messages", tools=tools), "request_protocol": "messages"}
    (found,) = both_ways([use("bash", {"command": "ls"})], "messages", "responses", **asked)
    assert found["type"] == "shell_call"


@pytest.mark.parametrize("tools", [[{"type": {}}], [{"type": ["computer"], "name": []}], [7], {}, None])
def test_odd_tools_of_a_request_say_nothing(tools: Any) -> None:
    asked = {"request": ask("responses", tools=tools), "request_protocol": "responses"}
    reply = answer("messages", [use("computer", CLICK)])
    assert [item["type"] for item in told(reply, "messages", "responses", "response", **asked).value["output"]] == [
        "function_call"
    ]
