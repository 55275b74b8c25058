"""Parts that were put together from a stream of this protocol, as output items: everything as it was said."""

from typing import Any

from ...context import Context
from ...ir.nodes import Node
from ...ledger import Leaf, Writer
from ...tables import Table
from .tables import CALLS, ITEM, OUTPUT_TEXT, REASONING, REFUSAL, URL_CITATION, write_entries

# What stands within a message, and is no item of its own.
IN_MESSAGE = ("text", "refusal", "other_part")
_SHAPE = "stream-shape"


def write_output(parts: list[Node], items: Writer, context: Context) -> None:
    """All parts; those of one message stand together, the first has its envelope."""
    content: Writer | None = None
    for part in parts:
        if part.kind in IN_MESSAGE:
            content = _message(part, items, context) if content is None or "item" in part.says else content
            _content(part, content.item(), context)
            continue
        content = None
        if part.home is not None:
            copy(part, items.item())
        elif part.kind == "thinking":
            _reasoning(part, items.item(), context)
        else:
            _call(part, items.item(), context)


def copy(node: Node, w: Writer) -> None:
    """An object that came whole."""
    for key in node.home:
        w.put(key, Leaf(node.home, key))


def put_back(node: Node, table: Table, w: Writer, context: Context, but: tuple[str, ...] = ()) -> None:
    """What a node says, under the keys that it had, and what was set aside for others' sake."""
    table.write(node, w, context, but)
    for said, _ in node.asides:
        known = isinstance(said, Leaf) and (said.key in table.by_name or (said.value is None and table is OUTPUT_TEXT))
        if known and said.key not in w.value:
            w.put(said.key, Leaf(said.home, said.key))


def _message(first: Node, items: Writer, context: Context) -> Writer:
    item = items.item()
    _envelope(first, item, context, {"type": "message", "status": "completed", "role": "assistant"})
    return item.list("content")


def _envelope(part: Node, item: Writer, context: Context, needed: dict[str, str]) -> None:
    said = part.get("item")
    if said is not None:
        put_back(said, ITEM, item, context)
    for key, value in needed.items():
        if key not in item.value:
            item.make(key, value, _SHAPE)


def _content(part: Node, w: Writer, context: Context) -> None:
    if part.home is not None:
        copy(part, w)
        return
    table, key = (OUTPUT_TEXT, "text") if part.kind == "text" else (REFUSAL, "refusal")
    said = part.but("item", "citations", "part_logprobs")
    if part.says.get("citations"):
        annotations = w.list("annotations")
        for citation in part.says["citations"]:
            URL_CITATION.write(citation, annotations.item(), context)
    if part.says.get("part_logprobs"):
        write_entries(part.says["part_logprobs"], w, "logprobs", context)
    put_back(said, table, w, context)
    if key not in w.value:
        w.make(key, "", _SHAPE)
    w.order(table.names)


def _reasoning(part: Node, item: Writer, context: Context) -> None:
    """The pieces of a thought belong to entries of its summary or content: their events say which."""
    texts: dict[str, dict[Any, list[Leaf]]] = {"summary": {}, "content": {}}
    text = part.get("text")
    for piece in () if text is None else (_alone(text), *text.joined):
        if isinstance(piece.home, dict):
            kind = "summary" if "summary_index" in piece.home else "content"
            texts[kind].setdefault(piece.home.get(f"{kind}_index"), []).append(piece)
    for leaf in part.says.get("summary", []):
        texts["summary"].setdefault(len(texts["summary"]), []).append(leaf)
    for kind, word in (("summary", "summary_text"), ("content", "reasoning_text")):
        if texts[kind]:
            entries = item.list(kind)
            for pieces in texts[kind].values():
                entry = entries.item()
                entry.make("type", word, _SHAPE)
                entry.put("text", _together(pieces))
    _envelope(part, item, context, {})
    put_back(part.but("item", "text", "summary"), REASONING, item, context)
    if "summary" not in item.value:
        item.make("summary", [], _SHAPE)
    item.order(REASONING.names)


def _alone(text: Leaf) -> Leaf:
    """The first of joined pieces by itself."""
    return Leaf(text.home, text.key) if text.joined else text


def _together(pieces: list[Leaf]) -> Leaf:
    if len(pieces) == 1:
        return pieces[0]
    return pieces[0].to("".join(piece.value for piece in pieces), "pieces-joined", pieces[1:])


def _call(part: Node, item: Writer, context: Context) -> None:
    kind = "custom_tool_call" if part.kind == "custom_call" else "function_call"
    _envelope(part, item, context, {})
    put_back(part.but("item"), CALLS[kind], item, context)
    key = "input" if part.kind == "custom_call" else "arguments"
    if key not in item.value:
        item.make(key, "", _SHAPE)
    item.order(CALLS[kind].names)
