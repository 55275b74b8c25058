"""The way out of a Messages stream: IR events in, Messages events out (`spec/streams.md` §3 to §9)."""

from collections.abc import Callable
from typing import Any

from ...context import Context
from ...ir.events import FINISHING, LATE, PIECES, Close, Delta, Done, Event, Fail, Finish, Open, Say, Start, joined
from ...ir.nodes import Node
from ...ir.values import Brackets, as_text
from ...ledger import Leaf, Ledger, Writer, made
from ...tables import drop_term
from ...text import dumps
from . import tables
from .error import write_error
from .hosted import Searches, hosted, input_text, leave
from .parts import BEGINNINGS, EMPTY, NO_BLOCK, is_url_citation, restore_asides, write_at_home, write_citation
from .response import CALLS, NULLS, write_end, write_id, write_reply, write_usage
from .tables import NAME, REPLY


class _Part:
    """A part under way: its kind, what it said at its start, and its block, once there is one."""

    def __init__(self, node: Node) -> None:
        self.node, self.kind = node, node.kind
        self.index: int | None = None
        self.text: list[str] = []  # of a text: what citations cite is found in it
        self.wrapped = False  # of a free-text call: the text's beginning is written
        self.json = Brackets()
        self.custom = node.kind == "custom_call"
        self.citations: list[Node] = []  # written at its end, when all of the text is known
        self.arguments: list[Leaf] = []  # of a hosted call of another protocol, which is written when it is whole

    @property
    def is_hosted(self) -> bool:
        """Is it a hosted call of another protocol?"""
        return self.kind == "hosted_call" and self.node.protocol != NAME

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
        self.searches = Searches()
        self.started = self.finished = self.called = False
        self.refusal: list[str] = []
        self.tier: Any = None  # as it was written into the reply's start
        self.late_tier: Leaf | None = None  # as it was said since

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
                self._say_late(node)
            case Open() | Delta() | Say() | Close():
                self._part(event)
        return self.out

    def close(self) -> list[Any]:
        """A stream that was cut: what waits is written."""
        self.out = []
        while self.waiting:
            self._next()
        for part in self.parts.values():
            if part.index is not None:
                self._cite_all(part)
        self._let_go()
        return self.out

    def _let_go(self) -> None:
        """Of what is kept nothing will be written any more."""
        for events in self.waiting.values():
            for event in events:
                self.ledger.drop(_held(event), "not-terminal")
        for part in self.parts.values():
            if part.index is None:
                self.ledger.drop([part.node, part.arguments], "not-terminal")
            self.ledger.drop(part.citations, "not-terminal")
        self.ledger.drop(self.late_tier, "not-terminal")

    # The reply

    def _start(self, node: Node) -> None:
        if self.started:
            self.ledger.drop(node, "duplicate")
            return
        self.started = True
        reply = node.but("parts", *FINISHING)
        reply.home = None
        message = self._event("message_start").object("message")
        write_reply(reply, message, self.context, ("id", "service_tier", "tool_usage"))
        write_id(reply, message)
        message.make("content", [], "stream-shape")
        write_usage(node, message, self.context)
        self.tier = node.value("service_tier") if "service_tier" in message.value["usage"] else None
        if reply.protocol == NAME:
            restore_asides(reply, message)
        for key in NULLS[:2] if reply.protocol == NAME else NULLS:
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
        self._stop_all()
        self._end_searches(None)
        if not self.blocks:
            self.context.find("empty-reply")
        w = self._event("message_delta")
        delta = w.object("delta")
        refusal = made("".join(self.refusal), "sum-of-pieces") if self.refusal else None
        write_end(node, delta, self.context, refusal, self.called and node.protocol != "repair")
        if "stop_sequence" not in delta.value:
            delta.make("stop_sequence", None, "stream-shape")
        delta.order(tables.END.names)
        if node.get("service_tier") is not None:
            self._say_late(Node("reply", node.protocol, None, {"service_tier": node.says["service_tier"]}))
        said = node.but("service_tier")
        if self.late_tier is not None:
            said.says["service_tier"], self.late_tier = self.late_tier, None
        self.finished = True
        write_usage(said, w, self.context)
        self._leave(node.but(*FINISHING, "service_tier", "tool_usage"))

    def _say_late(self, node: Node) -> None:
        """Of what is said of a reply after its start the service tier has a place, at the end."""
        tier = node.get("service_tier")
        if tier is not None and self.tier is None and self.late_tier is None and not self.finished:
            self.late_tier = tier
            self.ledger.keep(tier)
        elif tier is not None:
            said = self.tier if self.late_tier is None else self.late_tier.value
            self.ledger.drop(tier, "duplicate" if tier.value == said else "no-equivalent")
        self._leave(node.but("service_tier"))

    def _leave(self, node: Node) -> None:
        """Late words of a reply that have no place here."""
        for name, said in node.says.items():
            drop_term(name, said, self.ledger)
        self.ledger.drop(list(node.extras.values()), "unknown-field")
        for said, why in node.asides:
            self.ledger.drop(said, why)

    def _fail(self, node: Node) -> None:
        self._let_go()
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
        elif number not in self.parts and number not in self.waiting and not isinstance(event, Open):
            self.ledger.drop(_held(event), "late-piece")  # of a part whose start was refused
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
        # While it waits, its citations may come behind its end.
        for event in sorted(self.waiting.pop(next(iter(self.waiting))), key=lambda event: isinstance(event, Close)):
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
        elif isinstance(event, Say) and not any(name in LATE for name in event.node.says):
            self._leave(event.node)  # of what has no place here nothing is late
        elif not isinstance(event, Close):
            self.context.find("pieces-differ")
            self.ledger.drop(_held(event), "late-piece")

    def _block(self, event: Any) -> None:
        match event:
            case Open(number, node):
                self._end_searches(node)
                self.open, self.parts[number] = number, _Part(self.searches.told(node))
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
        late.says = {name: part.node.says[name] for name in LATE if name in part.node.says}
        part.node = part.node.but(*([key] if key else []), *LATE)
        part.node.home = None
        if part.is_hosted or (part.kind in EMPTY_IS_NOTHING and part.node.protocol != NAME and first is None):
            self.ledger.keep([part.node, late])
        else:
            self._begin(part)
        if first is not None:
            self._grow(part, first)
        if late.says:
            self._say(part, late)

    def _begin(self, part: _Part) -> None:
        part.index, self.blocks = self.blocks, self.blocks + 1
        if part.kind == "refusal":
            self.refusal = []  # the explanation repeats the last one
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
        if part.is_hosted:
            part.arguments.append(leaf)
            self.ledger.keep(leaf)
            return
        leaf = as_text(leaf) if part.kind in ("tool_call", "hosted_call") else leaf
        if not isinstance(leaf.value, str) or not leaf.value:
            self.ledger.drop(leaf, "noise")
            return
        if part.index is None:
            self._begin(part)
        kind, key = DELTA_OF[part.kind]
        if part.custom:
            leaf = leaf.to(("" if part.wrapped else WRAP[0]) + dumps(leaf.value).decode()[1:-1], "wrap-custom")
            part.wrapped = True
        elif part.kind == "text":
            part.text.append(leaf.value)
        elif part.kind == "refusal":
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
                part.citations += said
                self.ledger.keep(said)
            else:
                drop_term(name, said, self.ledger)
        self._leave(node.but(*node.says))

    def _cite_all(self, part: _Part) -> None:
        for citation in part.citations:
            self._cite(part, citation)
        part.citations = []

    def _cite(self, part: _Part, citation: Node) -> None:
        if part.kind != "text" or not (citation.protocol == NAME or is_url_citation(citation)):
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
        if part.is_hosted:
            self._hosted(part)
            return
        if part.index is None:
            self.ledger.drop([part.node, *part.citations], "target-default")
            return
        self._cite_all(part)
        if part.custom:
            rest = WRAP[1] if part.wrapped else "".join(WRAP)
            self._delta(part, "input_json_delta").make("partial_json", rest, "wrap-custom")
        self._event("content_block_stop", part.index)

    def _whole(self, fill: Callable[[Writer], None], piece: Leaf | None = None) -> None:
        """A block from its start to its stop, with at most one piece."""
        index, self.blocks = self.blocks, self.blocks + 1
        fill(self._event("content_block_start", index).object("content_block"))
        if piece is not None:
            delta = self._event("content_block_delta", index).object("delta")
            delta.make("type", "input_json_delta", "stream-shape")
            delta.put("partial_json", piece)
        self._event("content_block_stop", index)

    def _hosted(self, part: _Part) -> None:
        """A hosted call and what it gave back, each as a block."""
        node = part.node
        if part.arguments:
            first, *others = part.arguments
            whole = joined([leaf.value for leaf in part.arguments]) if others else first.value
            node.says["arguments"] = first.to(whole, "pieces-joined", others) if others else first
        call = hosted(node, self.ledger)
        if call is None:
            self.ledger.drop(node, "hosted-tool")
            return

        def begin(block: Writer) -> None:
            call.begin(block)
            if call.input is not None:
                block.make("input", {}, "stream-shape")

        self._whole(begin, input_text(call))
        if call.result is not None:
            self._whole(call.result)
        leave(node, call, self.ledger)

    def _end_searches(self, next: Node | None) -> None:
        """Before the next part, or at the end: what is left to say of searches for tools."""
        for found in self.searches.over(next):
            self._hosted(_Part(found))

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
