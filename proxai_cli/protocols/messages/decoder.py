"""The way in of a Messages stream: Messages events in, IR events out (`spec/streams.md` §4, §9)."""

from typing import Any

from ...context import Context
from ...errors import NotThatProtocol, OutOfOrder
from ...ir.events import FINISHING, PIECES, Close, Delta, Done, Event, Fail, Finish, Open, Say, Start
from ...ir.nodes import Node
from ...ir.values import as_text
from ...ledger import Leaf, Ledger
from ...tables import other
from . import tables
from .error import read_error
from .response import read_end, take_usage
from .tables import MESSAGE_DELTA, NAME, REPLY, lift, read_block, read_citation

# The key of a delta's payload, and the blocks that it fits.
DELTAS = {
    "text_delta": ("text", ("text",)),
    "thinking_delta": ("thinking", ("thinking",)),
    "signature_delta": ("signature", ("thinking",)),
    "citations_delta": ("citation", ("text",)),
    "input_json_delta": ("partial_json", ("tool_use", "server_tool_use", "mcp_tool_use")),
    "compaction_delta": ("content", ("compaction",)),
}
# Blocks of which a value arrives in pieces.
GROWING = ("text", "thinking", "tool_use", "server_tool_use", "mcp_tool_use")


class _Block:
    """An open content block: the number of its part, its type, and what it can say only at its end."""

    def __init__(self, number: int, type: str | None) -> None:
        self.number, self.type = number, type
        self.signature: Leaf | None = None
        self.start: Leaf | None = None  # what its start says of what grows, as long as no piece of it came


class Decoder:
    """Messages events in, IR events out. State: the open blocks by index, and what is said only at the end.

    Usage of the beginning is kept and said once, with the finish, which is said at `message_delta`. Raises
    `OutOfOrder` for what `spec/streams.md` §9 lists.
    """

    def __init__(self, ledger: Ledger, context: Context) -> None:
        self.ledger, self.context = ledger, context
        self.id: Any = None
        self.blocks: dict[int, _Block] = {}
        self.ended: set[int] = set()
        self.parts = 0
        self.late = Node("finish", NAME)
        self.counts: dict[str, Any] = {}  # of the usage that was said with the finish
        self.started = self.finished = self.done = self.failed = False

    def feed(self, event: Any) -> list[Event]:
        """What one event says."""
        if not isinstance(event, dict):
            return []
        kind = kind_of(event)
        if self.failed or kind == "ping" or (not event and self.done):
            self._drop(event, "noise")
            return []
        if "type" in event:
            self.ledger.drop(Leaf(event, "type"), "stream-shape")
        if kind == "completion":
            raise NotThatProtocol("old-version", "these are events of the API of 2023-01-01, with whole completions")
        if self.done:
            raise OutOfOrder("event-order", "an event stands after `message_stop`, the last one of a stream")
        if kind == "error":
            return self._error(event)
        if kind not in HANDLERS:
            self.context.find("unknown-event")
            self._drop(event, "unknown-field")
            return []
        said = HANDLERS[kind](self, event)
        return [*self._beginning(), *said]

    def close(self) -> list[Event]:
        """The end of the capture: complete if the finish was said."""
        if self.failed or self.done:
            return []
        if self.finished:
            self.context.find("no-done")
            self.done = True
            return [*self._end_all(), Done()]
        self._let_go()
        return []

    def _beginning(self) -> list[Event]:
        """A stream that lacks its first event is read all the same."""
        if self.started:
            return []
        self.started = True
        self.context.find("no-start")
        return [Start(Node("reply", NAME))]

    def _start(self, event: dict[str, Any]) -> list[Event]:
        message = event.get("message")
        if self.started:
            if isinstance(message, dict) and message.get("id") != self.id:
                raise OutOfOrder("event-order", "a second `message_start` with another id stands within the stream")
            self._drop(event, "duplicate")
            return []
        self.started = True
        if not isinstance(message, dict) or not message:
            self._drop(event, "unknown-field")
            return [Start(Node("reply", NAME))]
        self._leave(event, "message")
        self.id = message.get("id")
        reply = REPLY.read(message, self.context)
        reply.home = None
        lift(reply, "details")
        parts = reply.says.pop("parts", [])
        self._keep(Node("finish", NAME, None, {key: reply.says.pop(key) for key in FINISHING if key in reply.says}))
        return [Start(reply), *(said for part in parts for said in self._whole(part))]

    def _whole(self, part: Node) -> list[Event]:
        number, self.parts = self.parts, self.parts + 1
        return [Open(number, part), Close(number)]

    def _keep(self, late: Node) -> None:
        """What the reply will say at its end; later words replace earlier ones, counts one by one."""
        _merge(self.late, late)
        self.ledger.keep(self.late)

    def _open(self, event: dict[str, Any]) -> list[Event]:
        index, home = self._index(event, "content_block"), event.get("content_block")
        if index in self.blocks or index in self.ended:
            raise OutOfOrder("dup-start", "a block starts under an index that was used already")
        if not isinstance(home, dict) or not home:
            self.blocks[index] = block = _Block(self.parts, None)
            self.parts += 1
            part = other(event, "content_block", NAME) if "content_block" in event else Node("other", NAME)
            return [Open(block.number, part)]
        part = read_block(home, self.context)
        block = _Block(self.parts, home["type"] if isinstance(home.get("type"), str) else None)
        self.blocks[index], self.parts = block, self.parts + 1
        return self._opened(block, part)

    def _opened(self, block: _Block, part: Node) -> list[Event]:
        """A block begins; what it says already of a growing text is its first piece."""
        if block.type == "compaction":
            part.home = None
        if block.type not in GROWING:
            return [Open(block.number, part)]
        part.home = None
        said: list[Event] = []
        key = PIECES[part.kind]
        first = part.says.pop(key, None)
        if first is not None and (key == "arguments" or (part.kind == "thinking" and not first.value)):
            block.start = first
            self.ledger.keep(first)
        elif first is not None and first.value:
            said.append(Delta(block.number, first))
        else:
            self.ledger.drop(first, "stream-shape")
        late = part.says.pop("citations", None)
        if late:
            said.append(Say(block.number, Node(part.kind, NAME, None, {"citations": late})))
        self._sign(block, part.says.pop("signature", None))
        return [Open(block.number, part), *said]

    def _sign(self, block: _Block, signature: Leaf | None) -> None:
        """A signature is said at the end of its block; the last one counts."""
        if signature is None:
            return
        if not signature.value:
            self.ledger.drop(signature, "stream-shape")
            return
        self.ledger.drop(block.signature, "duplicate")
        block.signature = signature
        self.ledger.keep(signature)

    def _piece(self, event: dict[str, Any]) -> list[Event]:
        index, delta = self._index(event, "delta"), event.get("delta")
        block = self.blocks.get(index)
        if block is None:
            raise OutOfOrder("orphan-delta", "a delta is for a block that is not open")
        kind = delta.get("type") if isinstance(delta, dict) else None
        if not isinstance(delta, dict) or not isinstance(kind, str) or kind not in DELTAS:
            self.context.find("unknown-event")
            self.ledger.drop(Leaf(event, "delta") if "delta" in event else None, "unknown-field")
            return []
        key, fitting = DELTAS[kind]
        if block.type not in fitting and block.type in tables.BLOCKS:
            raise OutOfOrder("delta-kind", f"a `{kind}` is for a block of another kind")
        self.ledger.drop(Leaf(delta, "type"), "stream-shape")
        if kind == "compaction_delta":
            said = tables.BLOCKS["compaction"].read(delta, self.context)
            said.home = None
            said.says.pop("service")  # the delta's own type, dropped already
            return [Say(block.number, said)]
        for name in delta:
            if name not in ("type", key):
                self.ledger.drop(Leaf(delta, name), "no-equivalent" if name == "estimated_tokens" else "unknown-field")
        return self._grown(block, kind, Leaf(delta, key)) if key in delta else []

    def _grown(self, block: _Block, kind: str, leaf: Leaf) -> list[Event]:
        if kind == "citations_delta" and isinstance(leaf.value, dict) and leaf.value and block.type == "text":
            cited = read_citation(leaf.value, self.context)
            return [Say(block.number, Node("text", NAME, None, {"citations": [cited]}))]
        if not isinstance(leaf.value, str) or block.type not in GROWING:
            self.ledger.drop(leaf, "target-default" if leaf.value is None else "unknown-field")
        elif kind == "signature_delta":
            self._sign(block, leaf)
        elif not leaf.value:
            self.ledger.drop(leaf, "noise")
        else:
            self._begun(block)
            return [Delta(block.number, leaf)]
        return []

    def _begun(self, block: _Block) -> None:
        """The first piece replaces what the start says."""
        if block.start is not None:
            self.ledger.drop(block.start, "stream-shape" if not block.start.value else "duplicate")
            block.start = None

    def _stop(self, event: dict[str, Any]) -> list[Event]:
        index = self._index(event)
        block = self.blocks.pop(index, None)
        if block is None:
            raise OutOfOrder("stop-unopened", "a block stops that is not open")
        self.ended.add(index)
        return self._ended(block)

    def _ended(self, block: _Block) -> list[Event]:
        said: list[Event] = []
        if block.start is not None:
            empty = block.start.value == {}
            said.append(Delta(block.number, block.start.to("{}", "empty-arguments") if empty else as_text(block.start)))
            block.start = None
        if block.signature is not None:
            said.append(Say(block.number, Node("thinking", NAME, None, {"signature": block.signature})))
            block.signature = None
        return [*said, Close(block.number)]

    def _finish(self, event: dict[str, Any]) -> list[Event]:
        finish = MESSAGE_DELTA.read(event, self.context)
        finish.home = None
        finish.extras.pop("type", None)  # dropped already
        lift(finish, "delta")
        lift(finish, "details")
        if finish.get("stop_reason") is None and not self.finished:
            self._keep(finish)
            return []
        return [*self._end_all(), Finish(self._said_late(finish))]

    def _said_late(self, finish: Node) -> Node:
        """The finish with what was kept for it."""
        late, self.late, self.finished = self.late, Node("finish", NAME), True
        _merge(late, finish)
        read_end(late)
        usage = late.get("usage")
        if usage is not None:
            take_usage(late, usage, self.counts)
        return late

    def _end_all(self) -> list[Event]:
        """The reply ends: so do blocks that were left open."""
        said: list[Event] = []
        if self.blocks:
            self.context.find("open-at-end")
        for index in list(self.blocks):
            self.ended.add(index)
            said += self._ended(self.blocks.pop(index))
        return said

    def _last(self, event: dict[str, Any]) -> list[Event]:
        self._leave(event)
        said = self._end_all()
        if not self.finished:
            said.append(Finish(self._said_late(Node("finish", NAME))))
        self.done = True
        return [*said, Done()]

    def _error(self, event: dict[str, Any]) -> list[Event]:
        self.failed = True
        self._let_go()
        error = read_error(event, self.context)
        error.says.pop("type", None)  # of the event, and dropped with it
        return [Fail(error)]

    def _let_go(self) -> None:
        self.ledger.drop(self.late, "not-terminal")
        self.late = Node("finish", NAME)
        for block in self.blocks.values():
            self.ledger.drop([leaf for leaf in (block.signature, block.start) if leaf is not None], "not-terminal")
            block.signature = block.start = None

    def _index(self, event: dict[str, Any], *known: str) -> int:
        """The index of the block that an event is about; one that has none is about the last block."""
        self._leave(event, "index", *known)
        if "index" in event:
            self.ledger.drop(Leaf(event, "index"), "position")
        index = event.get("index")
        if isinstance(index, int) and not isinstance(index, bool):
            return index
        return self.parts if "content_block" in known else max(self.blocks, default=-1)

    def _leave(self, event: dict[str, Any], *known: str) -> None:
        for key in event:
            if key not in ("type", *known):
                self.ledger.drop(Leaf(event, key), "unknown-field")

    def _drop(self, event: dict[str, Any], why: str) -> None:
        for key in event:
            self.ledger.drop(Leaf(event, key), why)


HANDLERS = {
    "message_start": Decoder._start,
    "content_block_start": Decoder._open,
    "content_block_delta": Decoder._piece,
    "content_block_stop": Decoder._stop,
    "message_delta": Decoder._finish,
    "message_stop": Decoder._last,
}


def kind_of(event: dict[str, Any]) -> Any:
    """An event's type; of one that does not say it, what its keys look like."""
    kind = event.get("type")
    if isinstance(kind, str):
        return kind
    for key, guess in (
        ("error", "error"),
        ("completion", "completion"),
        ("message", "message_start"),
        ("content_block", "content_block_start"),
    ):
        if key in event:
            return guess
    if "delta" in event:
        return "content_block_delta" if "index" in event else "message_delta"
    return "content_block_stop" if "index" in event else None


def _merge(node: Node, more: Node) -> None:
    """Let a node say what another says, too; a later word replaces the earlier one, counts one by one."""
    for name, said in more.says.items():
        before = node.says.get(name)
        if isinstance(before, Node) and isinstance(said, Node):
            _merge(before, said)
            continue
        if before is not None:
            node.asides.append((before, "not-terminal"))
        node.says[name] = said
    node.asides += [(node.extras[key], "not-terminal") for key in more.extras if key in node.extras]
    node.extras.update(more.extras)
    node.asides += more.asides
