"""Every property that the official types name has a rule, or a stated gap: none ends as a key that no table knew."""

from typing import Any

import pytest

from proxai_cli import PROTOCOLS, Context, StreamTranslator, text, translate
from proxai_cli.errors import ProxaiError
from proxai_cli.ir.nodes import Node
from proxai_cli.ledger import Leaf, size

from .examples import Example, Examples

BODIES = [(protocol, kind) for protocol in PROTOCOLS for kind in ("request", "response", "error")]


def extras(said: Any) -> list[tuple[str, Leaf]]:
    """The leaves that no table knew, with the kind of node that holds them."""
    found: list[tuple[str, Leaf]] = []
    todo = [said]
    while todo:
        said = todo.pop()
        if isinstance(said, Node):
            found += [(said.kind, leaf) for leaf in said.extras.values()]
            todo += [*said.says.values(), *(each for each, _ in said.asides)]
        elif isinstance(said, (list, tuple)):
            todo += said
    return found


def unknown_at(example: Example, node: Node) -> bool:
    """Is the property of this example, or what it stands in, held as a key that no table knew?"""
    homes: dict[tuple[int, Any], int] = {}
    home = example.document
    for depth, key in enumerate(example.path):
        homes[id(home), key] = depth
        home = home[key]
    return any((id(leaf.home), leaf.key) in homes for _, leaf in extras(node))


@pytest.mark.parametrize(("protocol", "kind"), BODIES)
def test_every_property_has_a_rule(protocol: str, kind: str) -> None:
    missing = set()
    for example in Examples(protocol, kind).all():
        try:
            node = PROTOCOLS[protocol].read[kind](example.document, Context().fresh())
        except ProxaiError:
            continue
        if unknown_at(example, node):
            missing.add(f"{example.owner}.{example.name}")
    assert not missing, f"{len(missing)} without a rule: {sorted(missing)}"


def whole(document: Any, protocol: str, kind: str) -> Any:
    """The document with what any target needs beside the property that matters: a message, an end."""
    conversation = "input" if protocol == "responses" else "messages"
    if kind == "request" and isinstance(document.get(conversation, []), list):
        return {**document, conversation: [*document.get(conversation, []), {"role": "user", "content": "x"}]}
    if kind == "response" and protocol == "messages" and document.get("stop_reason") is None:
        return {**document, "stop_reason": "end_turn"}
    return document


@pytest.mark.parametrize("target", PROTOCOLS)
@pytest.mark.parametrize(("protocol", "kind"), BODIES)
def test_every_property_is_accounted_for(protocol: str, kind: str, target: str) -> None:
    wrong, refused = set(), set()
    for example in Examples(protocol, kind).all():
        name = f"{example.owner}.{example.name}"
        document = whole(example.document, protocol, kind)
        try:
            done = translate(document, protocol, target, kind, Context(choices={"model": "m"}))
        except ProxaiError as error:
            refused.add((error.code, name))
            continue
        entries = done.ledger.entries
        wrong |= {(entry.why, name) for entry in entries if entry.level == "unexplained"}
        wrong |= {(entry.why, name) for entry in entries if entry.why in ("not-yet", "unknown-field")}
        if sum(entry.ours for entry in entries) != size(document):
            wrong.add(("unbalanced", name))
        if sum(entry.theirs for entry in entries) != size(done.value):
            wrong.add(("unbalanced target", name))
    assert not wrong, f"{len(wrong)}: {sorted(wrong, key=str)}"
    assert {code for code, _ in refused} <= {"still-running"}, sorted(refused)
    assert len(refused) <= 2, sorted(refused)


def test_the_walk_finds_what_is_missing() -> None:
    """A key that no table knows is seen by the walk that must see it."""
    document = {"model": "m", "messages": [{"role": "user", "content": "x", "unheard_of": 1}]}
    node = PROTOCOLS["chat"].read["request"](document, Context().fresh())
    assert unknown_at(Example("", "", ("messages", 0, "unheard_of"), document), node)
    assert text.dumps(document)


# What must be open before an event of that kind may come.
OPENED = {
    "output_text": "message",
    "refusal": "message",
    "content_part": "message",
    "reasoning": "reasoning",
    "reasoning_text": "reasoning",
    "reasoning_summary_text": "reasoning",
    "reasoning_summary_part": "reasoning",
    "function_call_arguments": "function_call",
    "custom_tool_call_input": "custom_tool_call",
    "web_search_call": "web_search_call",
    "file_search_call": "file_search_call",
    "code_interpreter_call": "code_interpreter_call",
    "code_interpreter_call_code": "code_interpreter_call",
    "image_generation_call": "image_generation_call",
    "mcp_call": "mcp_call",
    "mcp_call_arguments": "mcp_call",
    "mcp_list_tools": "mcp_list_tools",
    "shell_call_command": "shell_call",
    "shell_call_output_content": "shell_call_output",
    "apply_patch_call_operation_diff": "apply_patch_call",
}
BLOCKS = {
    "text_delta": {"type": "text", "text": ""},
    "citations_delta": {"type": "text", "text": ""},
    "thinking_delta": {"type": "thinking", "thinking": "", "signature": ""},
    "signature_delta": {"type": "thinking", "thinking": "", "signature": ""},
    "input_json_delta": {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}},
    "compaction_delta": {"type": "compaction", "content": None},
}


def before(protocol: str, event: Any) -> list[Any]:
    """The events that must have come before this one."""
    kind = event.get("type", "")
    if protocol == "messages" and kind != "message_start":
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
        usage = {"input_tokens": 1, "output_tokens": 1}
        events: list[Any] = [{"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}}]
        if kind.startswith("content_block_") and kind != "content_block_start":
            block = BLOCKS.get(event.get("delta", {}).get("type"), BLOCKS["text_delta"])
            events.append({"type": "content_block_start", "index": event["index"], "content_block": dict(block)})
        return events
    if protocol == "responses" and kind != "response.created":
        response = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": "in_progress"}
        events = [{"type": "response.created", "sequence_number": 0, "response": {**response, "output": []}}]
        item = OPENED.get(kind.removeprefix("response.").rsplit(".", 1)[0]) or OPENED.get((*kind.split("."), "")[1])
        if kind == "response.output_item.done":
            item = event["item"]["type"]
        if item:
            added = {
                "type": item,
                "id": event.get("item_id", "item_1"),
                "call_id": "call_1",
                "name": "look",
                "status": "x",
            }
            place = event.get("output_index", 0)
            events.append({"type": "response.output_item.added", "output_index": place, "item": added})
        return events
    return []


@pytest.mark.parametrize("target", PROTOCOLS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_property_of_an_event_is_accounted_for(protocol: str, target: str) -> None:
    wrong, seen, refused = set(), 0, set()
    for example in Examples(protocol, "stream").all():
        name = f"{example.owner}.{example.name}"
        indexes = [choice["index"] for choice in example.document.get("choices", []) if "index" in choice]
        context = Context(choices={"choice": str(indexes[0])} if indexes else {})
        translator = StreamTranslator(protocol, target, context)
        try:
            for event in [*before(protocol, example.document), example.document]:
                translator.feed(event)
            translator.close()
        except ProxaiError as error:
            refused.add((error.code, example.document.get("type"), name))
            continue
        seen += 1
        unknown = ("not-yet", "unknown-field", "unclaimed", "out-of-nowhere")
        wrong |= {(why, name) for _, _, _, why, _ in translator.account if why in unknown}
    assert not wrong, f"{len(wrong)} of {seen}: {sorted(wrong, key=str)}"
    assert len(refused) < seen / 10, f"{len(refused)} refused: {sorted(refused, key=str)}"
