"""Streams of Messages: events in, IR events out, and back (`spec/streams.md`)."""

from typing import Any

from ...context import Context
from ...errors import NotThatProtocol, OutOfOrder
from ...ir.events import FINISHING, LATE, PIECES, Close, Delta, Done, Event, Fail, Finish, Open, Say, Start
from ...ir.nodes import Node
from ...ir.terms import term
from ...ir.values import Brackets, as_text
from ...ledger import Leaf, Ledger, Writer, made
from ...tables import other
from ...text import dumps
from . import tables
from .blocks import BEGINNINGS, EMPTY, NO_BLOCK, is_url_citation, restore_asides, write_at_home, write_citation
from .error import read_error, write_error
from .response import CALLS, read_end, take_usage, write_end, write_id, write_usage
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
# The key of a block whose value arrives in pieces.
GROWING = {
    "text": "text",
    "thinking": "thinking",
    "tool_use": "input",
    "server_tool_use": "input",
    "mcp_tool_use": "input",
}


class _Block:
    """An open content block: the number of its part, its type, and what it can say only at its end."""

    def __init__(self, number: int, type: Any, id: Any) -> None:
        self.number, self.type, self.id = number, type, id
        self.signature: Leaf | None = None
        self.start: Leaf | None = None  # what its start says of what grows, as long as no piece of it came
        self.result = False  # it tells what an earlier call gave back


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
        self.call: _Block | None = None  # a hosted call that has ended, and whose result may be the next block
        self.late = Node("finish", NAME)
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
        if kind == "error":
            return self._error(event)
        if self.done:
            raise OutOfOrder("event-order", "an event stands after `message_stop`, the last one of a stream")
        if kind not in HANDLERS:
            self.context.find("unknown-event")
            self._drop(event, "unknown-field")
            return []
        return [*self._beginning(kind), *HANDLERS[kind](self, event)]

    def close(self) -> list[Event]:
        """The end of the capture: complete if the finish was said."""
        if self.failed or self.done:
            return []
        if self.finished:
            self.context.find("no-done")
            self.done = True
            return [*self._end_call(), Done()]
        self._let_go()
        return self._end_call()

    def _beginning(self, kind: Any) -> list[Event]:
        """A stream that lacks its first event is read all the same."""
        if self.started or kind == "message_start":
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
        if not isinstance(message, dict):
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
        if not isinstance(home, dict):
            self.blocks[index] = block = _Block(self.parts, None, None)
            self.parts += 1
            part = other(event, "content_block", NAME) if "content_block" in event else Node("other", NAME)
            return [*self._end_call(), Open(block.number, part)]
        part = read_block(home, self.context)
        if self.call is not None and part.kind == "hosted_result" and part.value("call_id") == self.call.id:
            block, self.call = self.call, None
            block.result, self.blocks[index] = True, block
            return [Say(block.number, Node("hosted_call", NAME, None, {"result": part}))]
        block = _Block(self.parts, home.get("type"), part.value("id") if part.kind == "hosted_call" else None)
        self.blocks[index], self.parts = block, self.parts + 1
        return [*self._end_call(), *self._opened(block, part)]

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
            said = Node("hosted_call", NAME)
            said.extras = {name: Leaf(delta, name) for name in delta if name != "type"}
            return [Say(block.number, said)]
        for name in delta:
            if name not in ("type", key):
                self.ledger.drop(Leaf(delta, name), "no-equivalent" if name == "estimated_tokens" else "unknown-field")
        return self._grown(block, kind, Leaf(delta, key)) if key in delta else []

    def _grown(self, block: _Block, kind: str, leaf: Leaf) -> list[Event]:
        if kind == "citations_delta" and isinstance(leaf.value, dict) and leaf.value:
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
        if block.id is not None and not block.result:
            self.call = block
            return said
        return [*said, Close(block.number)]

    def _end_call(self) -> list[Event]:
        """A hosted call without a result behind it is whole now."""
        call, self.call = self.call, None
        return [] if call is None else [Close(call.number)]

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
        read_end(late, self.context)
        usage = late.get("usage")
        if usage is not None:
            take_usage(late, usage)
        return late

    def _end_all(self) -> list[Event]:
        """The reply ends: so do blocks that were left open."""
        said = self._end_call()
        if self.blocks:
            self.context.find("open-at-end")
        for index in list(self.blocks):
            self.ended.add(index)
            said += [*self._ended(self.blocks.pop(index)), *self._end_call()]
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
    node.extras.update(more.extras)
    node.asides += more.asides


class _Part:
    """A part under way: its kind, what it said at its start, and its block, once there is one."""

    def __init__(self, node: Node) -> None:
        self.node, self.kind = node, node.kind
        self.index: int | None = None
        self.text: list[str] = []
        self.json = Brackets()
        self.custom = node.kind == "custom_call"
        self.result: Node | None = None

    @property
    def whole(self) -> bool:
        """Is it a call whose arguments are a whole object?"""
        return self.kind == "tool_call" and self.json.whole


class Encoder:
    """IR events in, Messages events out. State: the open block, the parts that wait for it to end, the finish.

    One block is open at a time; what belongs to a later one waits (`spec/streams.md` §5), unless `interleave` is
    chosen. While others wait, a call ends as soon as its arguments are a whole object. A text block starts with its
    first piece, for an empty one has no place here.
    """

    def __init__(self, ledger: Ledger, context: Context) -> None:
        self.ledger, self.context = ledger, context
        self.interleave = context.chosen("interleave")
        self.out: list[dict[str, Any]] = []
        self.parts: dict[int, _Part] = {}
        self.open: int | None = None
        self.waiting: dict[int, list[Event]] = {}
        self.early: set[int] = set()
        self.void: dict[int, str] = {}
        self.blocks = 0
        self.started = self.finished = self.called = False
        self.refusal: list[str] = []
        self.tier: Any = None

    def feed(self, event: Event) -> list[Any]:
        """What one IR event becomes."""
        self.out = []
        match event:
            case Start(node):
                self._start(node)
            case Finish(node):
                self._finish(node)
            case Done():
                self._event("message_stop")
            case Fail(node):
                self._fail(node)
            case Say(None, node):
                self._leave(node)
            case Open() | Delta() | Say() | Close():
                self._part(event)
        return self.out

    def close(self) -> list[Any]:
        """A stream that was cut: what waits is written."""
        self.out = []
        while self.waiting:
            self._next()
        for number, part in self.parts.items():
            if part.index is None and number not in self.void:
                self.ledger.drop(part.node, "target-default")
        return self.out

    # The reply

    def _start(self, node: Node) -> None:
        if self.started:
            self.ledger.drop(node, "duplicate")
            return
        self.started = True
        reply = node.but("parts", *FINISHING)
        reply.home = None
        message = self._event("message_start").object("message")
        REPLY.write(reply, message, self.context, but=("id", "service_tier"))
        write_id(reply, message)
        message.make("content", [], "stream-shape")
        write_usage(node, message, self.context)
        self.tier = node.value("service_tier")
        if reply.protocol == NAME:
            restore_asides(reply, message)
        for key in ("stop_reason", "stop_sequence"):
            if key not in message.value:
                message.make(key, None, "stream-shape")
        self.ledger.drop([node.says[key] for key in FINISHING if key in node.says and key != "usage"], "not-terminal")
        message.order(REPLY.names)

    def _finish(self, node: Node) -> None:
        if self.finished:
            if node.get("usage") is not None:
                self.context.find("usage-late")
            self.ledger.drop(node, "late-piece")
            return
        self.finished = True
        self._stop_all()
        w = self._event("message_delta")
        delta = w.object("delta")
        refusal = made("".join(self.refusal), "sum-of-pieces") if self.refusal else None
        write_end(node, delta, self.context, refusal, self.called and node.protocol != "repair")
        if "stop_sequence" not in delta.value:
            delta.make("stop_sequence", None, "stream-shape")
        tier = node.get("service_tier")
        if tier is not None and self.tier is not None:
            self.ledger.drop(tier, "duplicate" if tier.value == self.tier else "no-equivalent")
            node = node.but("service_tier")
        write_usage(node, w, self.context)
        self._leave(node.but(*FINISHING, "service_tier"))

    def _leave(self, node: Node) -> None:
        """Late words of a reply that have no place here."""
        for name, said in node.says.items():
            self.ledger.drop(said, term(name).why)
        self.ledger.drop(list(node.extras.values()), "unknown-field")
        for said, why in node.asides:
            self.ledger.drop(said, why)

    def _fail(self, node: Node) -> None:
        for events in self.waiting.values():
            for event in events:
                self.ledger.drop(_held(event), "not-terminal")
        self.ledger.drop([part.node for part in self.parts.values() if part.index is None], "not-terminal")
        self.ledger.drop([part.result for part in self.parts.values() if part.result is not None], "not-terminal")
        if self.context.chosen("stream-errors", True):
            w = Writer(self.ledger, {})
            self.out.append(w.value)
            write_error(node, w, self.context)
        else:
            self.ledger.drop(node, "not-terminal")

    # Parts

    def _part(self, event: Any) -> None:
        number = event.number
        if isinstance(event, Open) and not _has_block(event.node):
            self.void[number] = NO_BLOCK.get(event.node.kind, "unknown-field")
        if number in self.void:
            self.ledger.drop(_held(event), self.void[number])
        elif number in self.early:
            self._after_its_end(event)
        elif self.interleave or self.open in (None, number):
            self._block(event)
        else:
            self.waiting.setdefault(number, []).append(event)
            self.ledger.keep(_held(event))
        while self.waiting and self._is_free():
            self._next()

    def _is_free(self) -> bool:
        """May the next part begin?"""
        return self.open is None or self.parts[self.open].whole

    def _next(self) -> None:
        """The next part that waits; the one that is open ends for it."""
        if self.open is not None:
            self.early.add(self.open)
            self._stop(self.open)
        for event in self.waiting.pop(next(iter(self.waiting))):
            self._block(event)

    def _stop_all(self) -> None:
        while self.waiting:
            self._next()
        for number in list(self.parts):
            self._stop(number)

    def _after_its_end(self, event: Any) -> None:
        """A call that was ended early says more: blanks mean nothing, anything else is lost and said."""
        if isinstance(event, Delta) and not event.leaf.value.strip():
            self.ledger.drop(_held(event), "noise")
        elif not isinstance(event, Close):
            self.context.find("pieces-differ")
            self.ledger.drop(_held(event), "late-piece")

    def _block(self, event: Any) -> None:
        match event:
            case Open(number, node):
                self.open, self.parts[number] = number, _Part(node)
                self._open(self.parts[number])
            case Delta(number, leaf, said):
                self.ledger.drop(said, "no-equivalent")
                self._grow(self.parts[number], leaf)
            case Say(int() as number, node):
                self._say(self.parts[number], node)
            case Close(number):
                self._stop(number)

    def _open(self, part: _Part) -> None:
        """A part begins. What it says already of its pieces or of its end comes right behind its start."""
        self.called = self.called or part.kind in CALLS
        key = PIECES.get(part.kind)
        first = part.node.says.get(key) if key else None
        late = Node(part.kind, part.node.protocol)
        late.says = {name: part.node.says[name] for name in AT_END if name in part.node.says}
        part.node = part.node.but(*([key] if key else []), *AT_END)
        part.node.home = None
        if part.kind in EMPTY_IS_NOTHING and part.node.protocol != NAME and first is None:
            self.ledger.keep([part.node, late])
        else:
            self._begin(part)
        if first is not None:
            self._grow(part, first)
        if late.says:
            self._say(part, late)

    def _begin(self, part: _Part) -> None:
        part.index, self.blocks = self.blocks, self.blocks + 1
        block = self._event("content_block_start", part.index).object("content_block")
        if part.node.protocol == NAME:
            write_at_home(part.node, block, self.context)
        else:
            BEGINNINGS[part.kind](part.node, block, self.context)
            for key, value in EMPTY.get(part.kind, {}).items():
                if key not in block.value:
                    block.make(key, value(), "stream-shape")
        block.order(KEYS)

    def _grow(self, part: _Part, leaf: Leaf) -> None:
        """One more piece of a part."""
        leaf = as_text(leaf) if part.kind in ("tool_call", "hosted_call") else leaf
        if not isinstance(leaf.value, str) or not leaf.value:
            self.ledger.drop(leaf, "noise")
            return
        if part.index is None:
            self._begin(part)
        kind, key = DELTA_OF[part.kind]
        if part.custom:
            leaf = leaf.to(("" if part.text else WRAP[0]) + dumps(leaf.value).decode()[1:-1], "wrap-custom")
        part.text.append(leaf.value)
        if part.kind == "refusal":
            self.refusal.append(leaf.value)
        elif part.kind == "tool_call":
            part.json.feed(leaf.value)
        self._delta(part, kind).put(key, leaf)

    def _delta(self, part: _Part, kind: str) -> Writer:
        delta = self._event("content_block_delta", part.index).object("delta")
        delta.make("type", kind, "stream-shape")
        return delta

    def _say(self, part: _Part, node: Node) -> None:
        """What an open part says at its end."""
        for name, said in node.says.items():
            if name == "signature" and part.kind == "thinking":
                self._delta(part, "signature_delta").put("signature", said.raw() if node.protocol == NAME else said)
            elif name == "citations":
                for citation in said:
                    self._cite(part, citation)
            elif name == "result" and node.protocol == NAME:
                part.result = said
                self.ledger.keep(said)
            else:
                self.ledger.drop(said, term(name).why)
        self._leave(node.but(*node.says))

    def _cite(self, part: _Part, citation: Node) -> None:
        if part.index is None or part.kind != "text" or not (citation.protocol == NAME or is_url_citation(citation)):
            self.ledger.drop(citation, "no-equivalent")
            return
        w = self._delta(part, "citations_delta").object("citation")
        if citation.protocol == NAME:
            tables.CITATION.write(citation, w, self.context)
        else:
            write_citation(citation, "".join(part.text), w, self.context)

    def _stop(self, number: int) -> None:
        part = self.parts.pop(number)
        self.open = None if self.open == number else self.open
        if part.index is None:
            self.ledger.drop(part.node, "target-default")
            return
        if part.custom:
            rest = WRAP[1] if part.text else "".join(WRAP)
            self._delta(part, "input_json_delta").make("partial_json", rest, "wrap-custom")
        self._event("content_block_stop", part.index)
        if part.result is not None:
            block = self._event("content_block_start", self.blocks).object("content_block")
            write_at_home(part.result, block, self.context)
            self._event("content_block_stop", self.blocks)
            self.blocks += 1

    def _event(self, kind: str, index: int | None = None) -> Writer:
        w = Writer(self.ledger, {})
        self.out.append(w.value)
        w.make("type", kind, "stream-shape")
        if index is not None:
            w.make("index", index, "position")
        return w


# What a delta of a part is called, and the key of its piece.
DELTA_OF = {
    "text": ("text_delta", "text"),
    "refusal": ("text_delta", "text"),
    "thinking": ("thinking_delta", "thinking"),
    "tool_call": ("input_json_delta", "partial_json"),
    "custom_call": ("input_json_delta", "partial_json"),
    "hosted_call": ("input_json_delta", "partial_json"),
}
EMPTY_IS_NOTHING = ("text", "refusal")
AT_END = (*LATE, "result")
KEYS = ("type", "id", "name", "text", "thinking", "signature", "input")
WRAP = ('{"input":"', '"}')


def _has_block(node: Node) -> bool:
    return node.protocol == NAME or node.kind in BEGINNINGS


def _held(event: Any) -> list[Any]:
    """All that an event says."""
    match event:
        case Delta(_, leaf, said):
            return [leaf] if said is None else [leaf, said]
        case Open(_, node) | Say(_, node):
            return [node]
    return []
