"""Hosted tools between Responses and Messages: every row of `spec/responses.md` §6, as body and as stream."""

from typing import Any

import pytest

from proxai_cli import collect

from .judges import complaint
from .small import answer, ask, reasons, stream_of, streamed, told, wire

SUMMARY = {"type": "compaction", "content": None, "encrypted_content": "e"}
COMPACTION = {"id": "cmp_1", "type": "compaction", "encrypted_content": "e"}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
REMOTE = {"name": "tide", "description": "Tides", "input_schema": SCHEMA}
LISTING = {"type": "mcp_tool_listing", "mcp_server_name": "sea", "tools": [REMOTE]}
LISTED = {"id": "mcpl_1", "type": "mcp_list_tools", "server_label": "sea", "tools": [REMOTE | {"annotations": {"a": 1}}]}
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


def both_ways(said: list[Any], source: str, target: str) -> Any:
    """The parts of a translated reply; as body and as stream they are the same, and the official types take them."""
    reply = answer(source, said)
    body = told(reply, source, target, "response").value
    events, _ = streamed(stream_of(reply, source), source, target)
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
