"""Items of a stream as target, and the simplest blocks: parts that have no place here, or that know no pieces.

Source: `spec/streams.md` §3.1. An item's leaves are settled as they come, so its end repeats them: texts for the
reason `sum-of-pieces`, all else for `stream-shape`.
"""

from copy import deepcopy
from typing import Any, Protocol

from ...context import Context
from ...ir.nodes import Node
from ...ledger import Leaf, Ledger, Writer
from .asked import Asked
from .collected import put_back
from .ids import Ids
from .items import lost
from .output import write_result
from .tables import CLIENT_CALLS, ITEM, NAME

SHAPE, SUM = "stream-shape", "sum-of-pieces"
_SUMMED = ("content", "summary", "arguments", "input", "output")


class Stream(Protocol):
    """What blocks need of the encoder that they belong to; `container` is the id of the one in which code runs."""

    ledger: Ledger
    context: Context
    asked: Asked
    ids: Ids
    container: Leaf | None

    def event(self, kind: str) -> Writer: ...

    def new_item(self, item: "Item") -> int: ...


class Item:
    """An output item: its place, what it says at its end, and the leaves that are said no sooner."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.index = stream.new_item(self)
        self.value: dict[str, Any] = {}
        self.late: dict[str, Leaf] = {}
        self.finished = False

    def added(self) -> Writer:
        """The event that begins the item; gives the item, to be written. `begun` must follow."""
        w = self.stream.event("response.output_item.added")
        w.make("output_index", self.index, "position")
        return w.object("item")

    def begun(self, written: Writer, **final: Any) -> None:
        """The item was written; at its end it says this instead."""
        self.value.update(deepcopy(written.value))
        self.value.update(final)

    def event(self, kind: str, **at: int) -> Writer:
        """An event about the item, with positions inside it."""
        w = self.stream.event(kind)
        w.make("item_id", self.value["id"], SHAPE)
        w.make("output_index", self.index, "position")
        for key, position in at.items():
            w.make(key, position, "position")
        return w

    def keep(self, key: str, leaf: Leaf) -> None:
        """A leaf that the item says at its end; a later one takes its place."""
        if key in self.late:
            self.stream.ledger.drop(self.late[key], "duplicate")
        self.late[key] = leaf
        self.stream.ledger.keep(leaf)

    def done(self) -> None:
        """The event that ends the item."""
        w = self.stream.event("response.output_item.done")
        w.make("output_index", self.index, "position")
        item = w.object("item")
        self.value.update({key: leaf.value for key, leaf in self.late.items()})
        for key, value in self.value.items():
            if key in self.late:
                item.put(key, self.late[key])
            else:
                item.make(key, deepcopy(value), SUM if key in _SUMMED else SHAPE)
        self.late, self.finished = {}, True

    def done_as(self, item: Writer) -> None:
        """The event that ends the item, which is written already."""
        w = self.stream.event("response.output_item.done")
        w.make("output_index", self.index, "position")
        w.value["item"] = item.value
        self.finished = True

    def let_go(self) -> None:
        self.stream.ledger.drop(list(self.late.values()), "not-terminal")
        self.late = {}

    def envelope(self, item: Writer, node: Node, context: Context) -> None:
        """The envelope that an item of this protocol had; its status belongs to its end."""
        said = node.get("item")
        if said is None or node.protocol != NAME:
            return
        status = said.get("status")
        if status is not None:
            self.keep("status", status)
        put_back(said.but("status"), ITEM, item, context)


class Block:
    """A part under way. `cut` lets go of what waits, where the stream ends too early."""

    def __init__(self, stream: Stream) -> None:
        self.stream, self.ledger, self.context = stream, stream.ledger, stream.context

    def delta(self, leaf: Leaf, said: Node | None) -> None:
        raise NotImplementedError

    def say(self, node: Node) -> None:
        lost(node, self.ledger)

    def close(self) -> None:
        raise NotImplementedError

    def cut(self) -> None:
        pass


class LostBlock(Block):
    """A part that has no place here."""

    def __init__(self, stream: Stream, node: Node, why: str | None) -> None:
        super().__init__(stream)
        self.why = why
        lost(node, self.ledger, why=why)

    def delta(self, leaf: Leaf, said: Node | None) -> None:
        self.ledger.drop([leaf, said], self.why or "no-equivalent")

    def say(self, node: Node) -> None:
        lost(node, self.ledger, why=self.why)

    def close(self) -> None:
        pass


class WholeBlock(Block):
    """An item that is written all at once."""

    def __init__(self, stream: Stream, home: dict[str, Any]) -> None:
        super().__init__(stream)
        self.item = Item(stream)
        item = self.item.added()
        for key in home:
            item.put(key, Leaf(home, key))
        self.item.begun(item)

    def delta(self, leaf: Leaf, said: Node | None) -> None:
        """Its leaf is in the item already."""

    def say(self, node: Node) -> None:
        """So is this."""

    def close(self) -> None:
        self.item.done()


class ResultBlock(Block):
    """What a tool gave back inside the reply, all at once."""

    def __init__(self, stream: Stream, node: Node) -> None:
        super().__init__(stream)
        self.item = Item(stream)
        item = self.item.added()
        item.make("id", stream.ids.make("fco"), "made-id")
        item.make("type", "function_call_output", SHAPE)
        write_result(node, item, self.context)
        self.item.begun(item)

    def delta(self, leaf: Leaf, said: Node | None) -> None:
        self.ledger.drop([leaf, said], "noise")

    def close(self) -> None:
        self.item.done()


def whole_item(part: Node) -> dict[str, Any] | None:
    """The item of this protocol that a part was read from, if it is one that knows no pieces."""
    if part.protocol != NAME:
        return None
    name = part.get("name")
    client = part.kind == "tool_call" and name is not None and name.raw().value in CLIENT_CALLS
    if part.kind not in ("other", "hosted_call", "tool_result", "redacted") and not client:
        return None
    leaves = [said for said in (*part.says.values(), *part.extras.values()) if isinstance(said, Leaf)]
    home = next((leaf.home for leaf in leaves if isinstance(leaf.home, dict)), None)
    return home if home is not None and "type" in home else None
