"""What an item of a Responses document holds: items as parts, and the objects inside them.

A part that began an item says its envelope under `item` (node `item`: `item_id`, `type`, `status`, `role`, `phase`).
Source: `spec/requests.md` §5 to §7, `spec/responses.md` §2 to §6.
"""

from collections.abc import Iterable
from typing import Any

from ...context import Context
from ...ir.nodes import Node
from ...ir.terms import term
from ...ledger import Leaf, Ledger
from ...tables import drop_term, nodes, other, unknown
from .tables import CALLS, CLIENT_CALL, CLIENT_CALLS, HOSTED_ITEMS, MESSAGE, NAME, OUTPUTS, PARTS, REASONING, SCREENSHOT

BETWEEN = "\n\n"  # what stands between pieces of reasoning that have one place

_ENVELOPE = ("item_id", "type", "status", "role", "phase")


def kind_of(item: dict[str, Any]) -> str:
    """An item's type; a message may leave it out, and so may a reference, which has nothing but its id."""
    kind = item.get("type")
    if isinstance(kind, str):
        return kind
    return "message" if "role" in item else "item_reference" if list(item) == ["id"] else ""


def read_parts(leaf: Leaf, context: Context) -> list[Node]:
    """Content or output: a string, or a list of parts."""
    if isinstance(leaf.value, str):
        return [Node("text", NAME, None, {"text": leaf})]
    if isinstance(leaf.value, list):
        return nodes(leaf, lambda part: read_part(part, context), NAME)
    return [other(leaf.home, leaf.key, NAME)]


def read_part(part: dict[str, Any], context: Context) -> Node:
    """One content part; a type that nobody knows is kept whole."""
    kind = part.get("type")
    table = PARTS.get(kind) if isinstance(kind, str) else None
    return table.read(part, context) if table else unknown(part, NAME)


def read_message(item: dict[str, Any], context: Context) -> Node:
    """A message item as a node `message`: the terms of its envelope, and `parts`."""
    message = MESSAGE.read(item, context)
    content = message.says.pop("content", None)
    message.says["parts"] = []
    if content is not None and content.value == []:
        message.asides.append((content, "target-default"))
    elif content is not None:
        message.says["parts"] = read_parts(content, context)
    return message


def message_parts(item: dict[str, Any], context: Context) -> list[Node]:
    """The parts of an assistant's message, the first with the message's envelope; one without parts is kept whole."""
    message = read_message(item, context)
    parts = told_apart(message.parts())
    said = envelope(message)
    if not parts:
        return [unknown(item, NAME)]
    if said.says or said.extras or said.asides:
        parts[0].says["item"] = said
    return parts


def told_apart(parts: list[Node]) -> list[Node]:
    """The parts of a message; those that nobody knows are no items."""
    for part in parts:
        part.kind = "other_part" if part.kind == "other" else part.kind
    return parts


def envelope(message: Node) -> Node:
    """What a message says beside its parts."""
    item = Node("item", NAME, None, {key: message.says[key] for key in _ENVELOPE if key in message.says})
    item.extras, item.asides = message.extras, message.asides
    return item


def with_envelope(part: Node) -> Node:
    """A part that was read from an item of its own, with the item's id and status under `item`."""
    said: dict[str, Any] = {key: part.says.pop(key) for key in ("item_id", "status") if key in part.says}
    if said:
        part.says["item"] = Node("item", NAME, None, said)
    return part


def read_call(item: dict[str, Any], kind: str, context: Context) -> Node:
    """A call of a function or of a free-text tool."""
    return with_envelope(CALLS[kind].read(item, context))


def read_reasoning(item: dict[str, Any], context: Context) -> Node:
    """A reasoning item as one thinking part: its text is the content, else the summary (`spec/responses.md` §3).

    With nothing but encrypted content it is `redacted`.
    """
    part = REASONING.read(item, context)
    content, summary = (_texts(part, part.says.pop(key, None)) for key in ("content", "summary"))
    texts = content or summary
    if texts:
        part.says["text"] = joined(texts)
        if content and summary:
            part.says["summary"] = summary
    elif "signature" in part.says:
        part.kind = "redacted"
        part.says["data"] = part.says.pop("signature")
    return with_envelope(part)


def joined(texts: list[Leaf]) -> Leaf:
    """Several pieces of reasoning as one, with a blank line between."""
    if len(texts) == 1:
        return texts[0]
    return texts[0].to(BETWEEN.join(text.value for text in texts), "merged-boundary", texts[1:])


def _texts(part: Node, leaf: Leaf | None) -> list[Leaf]:
    """The texts of a list of summary or content entries; all else in it is set aside."""
    found: list[Leaf] = []
    if leaf is None or not leaf.value:
        part.asides += [(leaf, "target-default")] if leaf is not None else []
        return found
    for at, entry in enumerate(leaf.value):
        if not isinstance(entry, dict) or not entry:
            part.asides.append((Leaf(leaf.value, at), "unknown-field"))
            continue
        for key, value in entry.items():
            if key == "text" and isinstance(value, str):
                found.append(Leaf(entry, key))
            else:
                part.asides.append((Leaf(entry, key), "target-default" if key == "type" else "unknown-field"))
    return found


def read_result(item: dict[str, Any], context: Context) -> Node:
    """What a tool gave back: call_id, parts, envelope."""
    part = OUTPUTS[kind_of(item)].read(item, context)
    output = part.says.pop("output", None)
    if kind_of(item) == "local_shell_call_output" and "call_id" not in part.says and "item_id" in part.says:
        part.says["call_id"] = part.says.pop("item_id")
    part.says["parts"] = _results(part, output, context) if output is not None else []
    return with_envelope(part)


def _results(part: Node, output: Leaf, context: Context) -> list[Node]:
    if output.value in ([], {}):
        part.asides.append((output, "target-default"))
        return []
    if isinstance(output.value, dict):
        return [_screenshot(output.value)]
    found = read_parts(output, context)
    return [text for each in found for text in _streams(each)]


def _screenshot(output: dict[str, Any]) -> Node:
    """The output of a computer: an image, spelled `computer_screenshot`."""
    image = SCREENSHOT.read(output, Context())
    return image if image.says else unknown(output, NAME)


def _streams(part: Node) -> list[Node]:
    """The output of a shell as texts; any other part as it is."""
    texts = [
        part.extras.pop(key) for key in ("stdout", "stderr") if part.kind == "other" and _is_text(part.extras.get(key))
    ]
    if not texts:
        return [part]
    found = [Node("text", NAME, None, {"text": text}) for text in texts]
    found[0].asides = [(leaf, "no-equivalent") for leaf in part.extras.values()]
    return found


def _is_text(leaf: Leaf | None) -> bool:
    return leaf is not None and isinstance(leaf.value, str)


def is_client_call(item: dict[str, Any]) -> bool:
    """Does the client run it: a computer, a patch, or a shell that is not in the vendor's container?"""
    environment = item.get("environment")
    elsewhere = isinstance(environment, dict) and environment.get("type") not in (None, "local")
    return kind_of(item) in CLIENT_CALLS and not elsewhere


def read_answer_item(item: dict[str, Any], context: Context) -> list[Node]:
    """The parts of an item that the assistant said."""
    kind = kind_of(item)
    if kind == "message":
        return message_parts(item, context)
    if kind == "reasoning":
        return [read_reasoning(item, context)]
    if kind in CALLS:
        return [read_call(item, kind, context)]
    if kind in OUTPUTS:
        return [read_result(item, context)]
    if is_client_call(item):
        return [with_envelope(CLIENT_CALL.read(item, context))]
    if kind in HOSTED_ITEMS:
        return [HOSTED_ITEMS[kind].read(item, context)]
    return [unknown(item, NAME)]


def lost(node: Node, ledger: Ledger, but: Iterable[str] = (), why: str | None = None) -> None:
    """Drop what a node says, each term for its own reason (or for the given one), and what no table knew."""
    for name, said in node.says.items():
        if name in but:
            continue
        if why is None:
            drop_term(name, said, ledger)
        else:
            ledger.drop(said, why, term(name).steers)
    for leaf in node.extras.values():
        ledger.drop(leaf, why or "unknown-field")
    for said, reason in node.asides:
        ledger.drop(said, reason)
