"""Responses events in, IR events out. Source: `spec/streams.md` §6, §7 and §9."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

from ...context import Context
from ...errors import OutOfOrder
from ...ir.events import Close, Delta, Done, Event, Fail, Finish, Open, Say, Start
from ...ir.nodes import Node
from ...ir.values import as_text
from ...ledger import Leaf, Ledger, made
from ...tables import unknown
from .error import read_failure
from .items import (
    BETWEEN,
    envelope,
    kind_of,
    read_answer_item,
    read_call,
    read_message,
    read_part,
    read_reasoning,
    told_apart,
)
from .response import CLIENT_PARTS, finish, read_reply
from .source_items import MESSAGE_PARTS, Item, Part, Sum, index_of, texts_of
from .tables import CALLS, NAME, read_citation

# Keys of an event that tell where its payload belongs, or fill it up.
FRAMING = {
    "type": "stream-shape",
    "sequence_number": "position",
    "output_index": "position",
    "content_index": "position",
    "summary_index": "position",
    "annotation_index": "position",
    "item_id": "position",
    "obfuscation": "noise",
}
# Events about what other events say as well, by the reason for dropping what they hold.
PASSING: dict[str, tuple[str, ...]] = {
    "duplicate": (
        "reasoning_summary_part.added",
        "reasoning_summary_part.done",
        "mcp_call_arguments.delta",
        "mcp_call_arguments.done",
        "code_interpreter_call_code.delta",
        "code_interpreter_call_code.done",
        "shell_call_command.added",
        "shell_call_command.delta",
        "shell_call_command.done",
        "shell_call_output_content.delta",
        "shell_call_output_content.done",
    ),
    "unsupported-media": ("audio.delta", "audio.done", "audio.transcript.delta", "audio.transcript.done"),
    "not-terminal": (
        "image_generation_call.in_progress",
        "image_generation_call.generating",
        "image_generation_call.partial_image",
        "image_generation_call.completed",
        "web_search_call.in_progress",
        "web_search_call.searching",
        "web_search_call.completed",
        "file_search_call.in_progress",
        "file_search_call.searching",
        "file_search_call.completed",
        "code_interpreter_call.in_progress",
        "code_interpreter_call.interpreting",
        "code_interpreter_call.completed",
        "mcp_call.in_progress",
        "mcp_call.completed",
        "mcp_call.failed",
        "mcp_list_tools.in_progress",
        "mcp_list_tools.completed",
        "mcp_list_tools.failed",
        "compaction.compacting",
    ),
}
STARTING: tuple[tuple[str, str, Any], ...] = (
    ("id", "id", str),
    ("model", "model", str),
    ("created_at", "created", (int, float)),
)


class Decoder:
    """Responses events in, IR events out.

    State: the items by `output_index` and id, of finished ones no more than digests of their texts. The parts of a
    message close with their item, whose envelope is said then. Raises `OutOfOrder` for what `spec/streams.md` §9 lists.
    """

    def __init__(self, ledger: Ledger, context: Context) -> None:
        self.ledger, self.context = ledger, context
        self.id: Any = None
        self.items: list[Item] = []
        self.may_close: list[Item] = []  # messages of which a part was done
        self.by_index: dict[Any, Item] = {}
        self.by_id: dict[Any, Item] = {}
        self.number = 0
        self.sequence: int | None = None
        self.calls = False
        self.started = self.ended = self.failed = False

    def feed(self, event: Any) -> list[Event]:
        """What one event says."""
        if not isinstance(event, dict):
            return []
        if self.failed or not event:
            self._drop(event, "noise")
            return []
        kind = event.get("type")
        kind = kind if isinstance(kind, str) else ""
        if self.ended:
            raise OutOfOrder("event-order", "an event stands after the terminal one, the last of a stream")
        handler = HANDLERS.get(kind) or (STEERING if kind.startswith("response.steer.") else UNKNOWN)
        self._frame(event, handler.payload)
        begun = [] if kind in BEGINNINGS else self._begin(event if "response" in handler.payload else {})
        item = self._found(event) if handler.late else None
        if handler.late and item is not None and item.closed:
            self._drop(event, handler.late, FRAMING)
            return begun
        try:
            return [*begun, *handler.says(self, event)]
        except OutOfOrder:
            self.started = self.started and not begun  # an event that is left out begins nothing
            raise

    def close(self) -> list[Event]:
        """A stream without its terminal event is cut: nothing is invented."""
        return []

    # What every event has

    def _frame(self, event: dict[str, Any], payload: Iterable[str]) -> None:
        for key in event:
            if key not in payload:
                self.ledger.drop(Leaf(event, key), FRAMING.get(key, "unknown-field"))
        number = event.get("sequence_number")
        if not isinstance(number, int) or isinstance(number, bool):
            return
        if self.sequence is not None and number != self.sequence + 1:
            code = "seq-gap" if number > self.sequence else "seq-back"
            self.context.find(code, None, f"expected {self.sequence + 1}, got {number}")
        self.sequence = number

    def _begin(self, event: dict[str, Any]) -> list[Event]:
        """A stream that lacks its first event is read all the same; its terminal event may know the id."""
        if self.started:
            return []
        self.context.find("no-start")
        neutral = {"id": "unknown", "model": "", "created": 0}
        response = event.get("response")
        reply = self._reply(response if isinstance(response, dict) else {})
        for term, value in neutral.items():
            reply.says.setdefault(term, made(value, "required-by-target"))
        return [Start(reply)]

    def _reply(self, response: dict[str, Any]) -> Node:
        """What is said of a reply at its beginning."""
        self.started, self.id = True, response.get("id")
        reply = Node("reply", NAME)
        for key, term, kind in STARTING:
            if isinstance(response.get(key), kind):
                reply.says[term] = Leaf(response, key)
        return reply

    def _drop(self, home: dict[str, Any], why: str, but: Iterable[str] = ()) -> None:
        for key in home:
            if key not in but:
                self.ledger.drop(Leaf(home, key), why)

    # The response

    def start(self, event: dict[str, Any]) -> list[Event]:
        """`response.created`, or the first event that has a running response."""
        response = event.get("response")
        if not isinstance(response, dict):
            self._drop(event, "unknown-field", FRAMING)
            return self._begin({})
        if self.started:
            if event.get("type") == "response.created" and response.get("id") != self.id:
                raise OutOfOrder("event-order", "a second `response.created` with another id stands within the stream")
            self._same_id(response)
            self._drop(response, "not-terminal")
            self._empty(event, "response")
            return []
        reply = self._reply(response)
        self._drop(response, "not-terminal", [leaf.key for leaf in reply.says.values()])
        self._empty(event, "response")
        return [Start(reply)]

    def _empty(self, event: dict[str, Any], key: str) -> None:
        """An empty object is a leaf itself."""
        if event[key] in ({}, []):
            self.ledger.drop(Leaf(event, key), "not-terminal")

    def _same_id(self, response: dict[str, Any]) -> None:
        if "id" in response and self.id is not None and response["id"] != self.id:
            self.context.find("id-changes")

    def end(self, event: dict[str, Any]) -> list[Event]:
        """`response.completed` or `response.incomplete`: what its snapshot says beyond the events, then the finish."""
        response = event.get("response")
        if not isinstance(response, dict) or not response:
            self._drop(event, "unknown-field", FRAMING)
            response = {}
        self._same_id(response)
        reply = read_reply(response, self.context)
        if "error" in reply.says:
            return self.fail(event)
        output = reply.says.pop("parts", None)
        said = self._snapshot(output) if output is not None else []
        said += self._end_all()
        node = Node("finish", NAME, None, reply.says)
        node.extras, node.asides = reply.extras, reply.asides
        for term in ("id", "model", "created", "type"):
            if term in node.says:
                node.asides.append((node.says.pop(term), "stream-shape" if term == "type" else "duplicate"))
        finish(node, [Node("tool_call", NAME)] if self.calls else [], self.context)
        self.ended = True
        return [*said, Finish(node), Done()]

    def _snapshot(self, output: Leaf) -> list[Event]:
        """The items of the terminal event: nothing new, or what the stream left out."""
        said: list[Event] = []
        if not output.value:
            self.ledger.drop(output, "duplicate")
        for at, home in enumerate(output.value):
            if not isinstance(home, dict) or not home:
                self.ledger.drop(Leaf(output.value, at), "unknown-field")
                continue
            item = self._known(home, at)
            if item is None:
                self.context.find("snapshot-extra")
                said += self._whole(self._register(home, None), home)
            elif item.closed:
                self._repeated(item, home)
            else:
                self.context.find("open-at-end")
                said += self._item_done(item, home)
        return said

    def _known(self, home: dict[str, Any], at: int) -> Item | None:
        """The item of the stream that a snapshot's item is: by id, else by place and type."""
        there = self.by_index.get(at)
        named = self.by_id.get(home["id"]) if isinstance(home.get("id"), str) else None
        item = there if named is None or (there is not None and there.id == named.id) else named
        return item if item is not None and item.kind == kind_of(home) else None

    def _repeated(self, item: Item, home: dict[str, Any]) -> None:
        """A finished item once more: `duplicate`, if its texts are the sum of the pieces."""
        for place, text in texts_of(home):
            sum_of_pieces = item.sums.get(place)
            if sum_of_pieces is not None and sum_of_pieces.rest(text) != "":
                self.context.find("pieces-differ")
        self._drop(home, "duplicate")

    def _end_all(self) -> list[Event]:
        said: list[Event] = []
        for item in self.items:
            if not item.closed and item.parts:
                self.context.find("open-at-end")
            said += self._close(item)
        return said

    def fail(self, event: dict[str, Any]) -> list[Event]:
        """`response.failed`, or an `error` event; nothing that follows counts."""
        self.failed = True
        return [Fail(read_failure(event, self.ledger, self.context))]

    # Items

    def _found(self, event: dict[str, Any]) -> Item | None:
        """The item that an event is about, by its id, else by its place; one that names neither is about the last."""
        item = self.by_id.get(event["item_id"]) if isinstance(event.get("item_id"), str) else None
        index = index_of(event, "output_index")
        item = item or (self.by_index.get(index) if index is not None else None)
        if item is None and self.items and "item_id" not in event and "output_index" not in event:
            item = self.items[-1]
        return item

    def _item(self, event: dict[str, Any], kinds: Iterable[str]) -> Item:
        """The item that a piece is for."""
        item = self._found(event)
        if item is None:
            raise OutOfOrder("orphan-delta", "a piece is for an output item that was not added")
        if item.kind not in kinds:
            raise OutOfOrder("delta-kind", "a piece is for an output item of another kind")
        return item

    def _register(self, home: dict[str, Any], index: int | None) -> Item:
        item = Item(home.get("id"), kind_of(home), self.number)
        self.number += 1
        self.items.append(item)
        if isinstance(item.id, str):
            self.by_id[item.id] = item
        if index is not None:
            self.by_index[index] = item
        return item

    def item_added(self, event: dict[str, Any]) -> list[Event]:
        """An item begins; what a call says at once opens its part."""
        home, index = event.get("item"), index_of(event, "output_index")
        if not isinstance(home, dict) or not home:
            self._drop(event, "unknown-field", FRAMING)
            return []
        named = self.by_id.get(home["id"]) if isinstance(home.get("id"), str) else None
        if (named is not None and not named.closed) or (index is not None and index in self.by_index):
            raise OutOfOrder("dup-start", "an output item is added under an id or index that was used already")
        said = [close for item in self.may_close if item.ready() for close in self._close(item)]
        self.may_close = []
        item = self._register(home, index)
        if item.kind not in CALLS:
            self._drop(home, "stream-shape")
            return said
        call = read_call(home, item.kind, self.context)
        self.ledger.drop(call.says.pop("item", None), "not-terminal")
        return [*said, *self._open_call(item, call)]

    def _open_call(self, item: Item, call: Node) -> list[Event]:
        """A call's part, with its first piece if there is one already."""
        key = "arguments" if call.kind == "tool_call" else "input"
        first = call.says.pop(key, None)
        call.home, self.calls = None, True
        item.said = set(call.says)
        part = self._part(item, None, call.kind)
        return [Open(part.number, call), *(self._piece(item, part, "", as_text(first)) if first is not None else [])]

    def _part(self, item: Item, place: Any, kind: str) -> Part:
        item.parts[place] = part = Part(self._number(item), kind)
        return part

    def _number(self, item: Item) -> int:
        """The number of a new part of an item."""
        number, item.number = item.number, None
        if number is None:
            number, self.number = self.number, self.number + 1
        return number

    def _piece(self, item: Item, part: Part, place: Any, leaf: Leaf, said: Node | None = None) -> list[Event]:
        """More text of a part; `place` tells apart the texts of one item."""
        if not isinstance(leaf.value, str):
            self.ledger.drop(leaf, "target-default" if leaf.value is None else "unknown-field")
            self.ledger.drop(said, "unknown-field")
            return []
        if not leaf.value and said is None:
            self.ledger.drop(leaf, "noise")
            return []
        item.sums.setdefault(place, Sum()).feed(leaf.value)
        part.pieces += 1
        return [Delta(part.number, leaf, said)]

    def item_done(self, event: dict[str, Any]) -> list[Event]:
        """An item is whole."""
        home, index = event.get("item"), index_of(event, "output_index")
        if not isinstance(home, dict) or not home:
            self._drop(event, "unknown-field", FRAMING)
            return []
        item = self.by_id.get(home["id"]) if isinstance(home.get("id"), str) else None
        item = item or (self.by_index.get(index) if index is not None else None)
        if item is None or item.done:
            raise OutOfOrder("stop-unopened", "an output item is done that is not open")
        if item.closed:
            item.done = True
            self._repeated(item, home)
            return []
        return self._item_done(item, home)

    def _item_done(self, item: Item, home: dict[str, Any]) -> list[Event]:
        if item.kind == "message":
            said = self._message_done(item, home)
        elif item.kind == "reasoning":
            said = self._reasoning_done(item, home)
        elif item.kind in CALLS:
            said = self._call_done(item, home)
        else:
            return self._whole(item, home)
        item.done = True
        return [*said, *self._close(item)]

    def _close(self, item: Item) -> list[Event]:
        parts = [] if item.closed else list(item.parts.values())
        item.closed = True
        return [Close(part.number) for part in parts]

    def _whole(self, item: Item, home: dict[str, Any]) -> list[Event]:
        """An item of which no pieces came, all at once."""
        item.done = item.closed = True
        said: list[Event] = []
        for part in read_answer_item(home, self.context):
            self.calls = self.calls or part.kind in CLIENT_PARTS or part.value("service") == "mcp_approval_request"
            said += self._all_of(item, part)
        return said

    def _all_of(self, item: Item, part: Node) -> list[Event]:
        """One whole part as events."""
        number = self._number(item)
        key = {"text": "text", "refusal": "text", "thinking": "text", "tool_call": "arguments", "custom_call": "input"}
        text = part.get(key.get(part.kind, ""))
        late = Node(part.kind, NAME, None, {term: part.says[term] for term in LATE if term in part.says})
        opening = part.but(*LATE, *([key[part.kind]] if text is not None else []))
        said: list[Event] = [Open(number, opening)]
        if text is not None:
            said.append(Delta(number, as_text(text)))
        if late.says:
            said.append(Say(number, late))
        return [*said, Close(number)]

    # Messages

    def part_added(self, event: dict[str, Any]) -> list[Event]:
        """A text or refusal begins; a part of reasoning says nothing yet."""
        home = event.get("part")
        if not isinstance(home, dict) or not home:
            self._drop(event, "unknown-field", FRAMING)
            return []
        item, place = self._item(event, ("message", "reasoning")), index_of(event, "content_index")
        if place in item.parts and item.kind == "message":
            raise OutOfOrder("dup-start", "a part is added under an index that was used already")
        kind = str(home.get("type"))
        if item.kind != "message" or kind not in MESSAGE_PARTS:
            self._drop(home, "stream-shape")
            return []
        name, key = MESSAGE_PARTS[kind]
        part = self._part(item, place, name)
        self._drop(home, "stream-shape", ("type", key))
        opened: list[Event] = [Open(part.number, Node(name, NAME, None, {"type": Leaf(home, "type")}))]
        return [*opened, *(self._piece(item, part, (name, place), Leaf(home, key)) if key in home else [])]

    def _message_part(self, event: dict[str, Any], kind: str) -> tuple[Item, Part, list[Event]]:
        """The part that a piece is for, opened on the fly where it was not added."""
        item, place = self._item(event, ("message",)), index_of(event, "content_index")
        found = item.parts.get(place)
        if found is not None and found.kind == kind:
            return item, found, []
        if found is not None:
            raise OutOfOrder("delta-kind", "a piece is for a part of another kind")
        self.context.find("no-part")
        part = self._part(item, place, kind)
        return item, part, [Open(part.number, Node(kind, NAME))]

    def text_piece(self, event: dict[str, Any], kind: str) -> list[Event]:
        """More of a text or refusal."""
        item, part, said = self._message_part(event, kind)
        place = (kind, index_of(event, "content_index"))
        with_piece = self._logprobs(event, part, kind)
        leaf = Leaf(event, "delta") if "delta" in event else None
        return [*said, *(self._piece(item, part, place, leaf, with_piece) if leaf is not None else [])]

    def _logprobs(self, home: dict[str, Any], part: Part, kind: str) -> Node | None:
        """Log probabilities that were not told yet."""
        found = home.get("logprobs")
        if "logprobs" not in home:
            return None
        if not isinstance(found, list) or not found or kind != "text":
            self.ledger.drop(Leaf(home, "logprobs"), "noise" if not found else "unknown-field")
            return None
        part.told["part_logprobs"] = part.told.get("part_logprobs", 0) + len(found)
        return Node(kind, NAME, None, {"part_logprobs": [Leaf(found, at) for at in range(len(found))]})

    def text_whole(self, event: dict[str, Any], kind: str) -> list[Event]:
        """A text or refusal that should be the sum of its pieces."""
        if kind not in event:  # the text stands under the word for its kind
            self._drop(event, "unknown-field", FRAMING)
            return []
        item, part, said = self._message_part(event, kind)
        place = (kind, index_of(event, "content_index"))
        said += self._closing_text(item, part, place, Leaf(event, kind))
        return said + self._late_logprobs(event, part, kind)

    def _late_logprobs(self, home: dict[str, Any], part: Part, kind: str) -> list[Event]:
        if "logprobs" not in home:
            return []
        if "part_logprobs" in part.told:
            self.ledger.drop(Leaf(home, "logprobs"), "duplicate")
            return []
        late = self._logprobs(home, part, kind)
        return [Say(part.number, late)] if late else []

    def _closing_text(self, item: Item, part: Part, place: Any, leaf: Leaf) -> list[Event]:
        """A text that should be the sum of its pieces: what it says beyond them is a piece, too (`pieces-differ`)."""
        if not isinstance(leaf.value, str):
            self.ledger.drop(leaf, "target-default" if leaf.value is None else "unknown-field")
            return []
        rest = item.sums.get(place, Sum()).rest(leaf.value)
        if rest and not item.closed:
            return self._piece(item, part, place, leaf.to(rest, "pieces-joined") if part.pieces else leaf)
        if rest is None:
            self.context.find("pieces-differ")
        self.ledger.drop(leaf, "duplicate" if rest == "" else "late-piece")
        return []

    def annotation(self, event: dict[str, Any]) -> list[Event]:
        """One citation of a text."""
        home = event.get("annotation")
        if not isinstance(home, dict) or not home:
            self._drop(event, "unknown-field", FRAMING)
            return []
        _, part, said = self._message_part(event, "text")
        part.told["citations"] = part.told.get("citations", 0) + 1
        return [*said, Say(part.number, Node("text", NAME, None, {"citations": [read_citation(home, self.context)]}))]

    def part_done(self, event: dict[str, Any]) -> list[Event]:
        """A part is whole; it closes with its item."""
        home = event.get("part")
        if not isinstance(home, dict) or not home:
            self._drop(event, "unknown-field", FRAMING)
            return []
        item = self._item(event, ("message", "reasoning"))
        place = index_of(event, "content_index")
        known = item.parts.get(place)
        if item.kind == "message" and known is None and str(home.get("type")) in MESSAGE_PARTS:
            raise OutOfOrder("stop-unopened", "a part is done that is not open")
        if item.kind != "message" or known is None:
            self._drop(home, "duplicate")
            return []
        known.done = True
        self.may_close.append(item)
        return self._part_whole(item, place, read_part(home, self.context))

    def _part_whole(self, item: Item, place: Any, node: Node) -> list[Event]:
        """A finished part: only what was not said before is news."""
        part = item.parts[place]
        if node.kind != part.kind:
            self.ledger.drop(node, "duplicate")
            return []
        node.home = None
        self.ledger.drop(node.says.pop("type", None), "duplicate")
        text = node.says.pop("text", None)
        said = self._closing_text(item, part, (part.kind, place), text) if text is not None else []
        for term in ("citations", "part_logprobs"):
            listed, count = node.says.pop(term, []), part.told.get(term, 0)
            self.ledger.drop(listed[:count], "duplicate")
            if listed[count:]:
                node.says[term], part.told[term] = listed[count:], len(listed)
        if node.says or node.extras or node.asides:
            said.append(Say(part.number, node))
        return said

    def _message_done(self, item: Item, home: dict[str, Any]) -> list[Event]:
        """The envelope of a message, and whatever of its parts was not said before."""
        message = read_message(home, self.context)
        if not item.parts and not message.parts():
            return self._nothing(item, home)
        said: list[Event] = []
        for at, node in enumerate(told_apart(message.parts())):
            place = None if at == 0 and None in item.parts else at
            if place in item.parts:
                said += self._part_whole(item, place, node)
            else:
                said += self._late_part(item, at, node)
        first = next(iter(item.parts.values()))
        return [*said, Say(first.number, Node(first.kind, NAME, None, {"item": envelope(message)}))]

    def _nothing(self, item: Item, home: dict[str, Any]) -> list[Event]:
        """A message without parts is kept whole."""
        number = self._number(item)
        return [Open(number, unknown(home, NAME)), Close(number)]

    def _late_part(self, item: Item, at: int, part: Node) -> list[Event]:
        """A part of which no event spoke before its item was done; it stays open until the item closes."""
        said = self._all_of(item, part)
        opened = said[0]
        assert isinstance(opened, Open)
        item.parts[at] = Part(opened.number, part.kind)
        text = part.value("text")
        if isinstance(text, str):
            item.sums.setdefault((part.kind, at), Sum()).feed(text)
        return said[:-1]

    # Reasoning

    def thought(self, event: dict[str, Any], kind: str, key: str) -> list[Event]:
        """A piece of the `content` or `summary` of reasoning, or a text that sums its pieces up."""
        item, index = self._item(event, ("reasoning",)), index_of(event, f"{kind}_index")
        if key not in event:
            return []
        leaf, place = Leaf(event, key), (kind, index)
        if key == "text" and place in item.sums and isinstance(leaf.value, str):
            return self._closing_text(item, item.parts[None], place, leaf)
        if not isinstance(leaf.value, str) or not leaf.value:
            self.ledger.drop(leaf, "noise" if leaf.value == "" else "unknown-field")
            return []
        if kind == "summary" and any(said == "content" for said, _ in item.sums):
            item.sums.setdefault(place, Sum()).feed(leaf.value)
            self.ledger.drop(leaf, "duplicate")
            return []
        said: list[Event] = []
        if None not in item.parts:
            said.append(Open(self._part(item, None, "thinking").number, Node("thinking", NAME)))
        elif place not in item.sums:
            said.append(Delta(item.parts[None].number, made(BETWEEN, "separator")))
        return [*said, *self._piece(item, item.parts[None], place, leaf)]

    def _reasoning_done(self, item: Item, home: dict[str, Any]) -> list[Event]:
        part = item.parts.get(None)
        node = read_reasoning(home, self.context)
        if part is None:
            item.closed = True
            return self._all_of(item, node)
        for place, text in texts_of(home):
            if place in item.sums and item.sums[place].rest(text) != "":
                self.context.find("pieces-differ")
        node.home = None
        if node.kind == "redacted":
            node.says["signature"] = node.says.pop("data")
        node.kind = "thinking"
        self.ledger.drop(
            [node.says.pop(term) for term in ("text", "summary", "type") if term in node.says], "duplicate"
        )
        return [Say(part.number, node)] if node.says or node.asides or node.extras else []

    # Calls

    def call_piece(self, event: dict[str, Any]) -> list[Event]:
        """More of the arguments or input of a call."""
        item = self._item(event, CALLS)
        return self._piece(item, item.parts[None], "", Leaf(event, "delta")) if "delta" in event else []

    def whole_call(self, event: dict[str, Any], key: str) -> list[Event]:
        """The arguments or input of a call, which should be the sum of its pieces."""
        item = self._item(event, CALLS)
        if "name" in event:
            self.ledger.drop(Leaf(event, "name"), "duplicate")
        return self._closing_text(item, item.parts[None], "", Leaf(event, key)) if key in event else []

    def _call_done(self, item: Item, home: dict[str, Any]) -> list[Event]:
        part, call = item.parts[None], read_call(home, item.kind, self.context)
        whole = call.says.pop("arguments" if call.kind == "tool_call" else "input", None)
        said = self._closing_text(item, part, "", as_text(whole)) if whole is not None else []
        self.ledger.drop([call.says.pop(term) for term in item.said if term in call.says], "duplicate")
        call.home = None
        return [*said, *([Say(part.number, call)] if call.says or call.extras or call.asides else [])]


LATE = ("signature", "citations", "part_logprobs")


class Handler(NamedTuple):
    """What reads an event, the keys that it accounts for, and the reason to drop them where the item is closed."""

    says: Callable[[Decoder, dict[str, Any]], list[Event]]
    payload: tuple[str, ...] = ()
    late: str = ""


def _unknown(decoder: Decoder, event: dict[str, Any]) -> list[Event]:
    decoder.context.find("unknown-event")
    return []


def _passing(why: str) -> Handler:
    """An event about what other events say as well; its keys of its own are dropped for this reason."""

    def says(decoder: Decoder, event: dict[str, Any]) -> list[Event]:
        decoder._drop(event, why, FRAMING)
        return []

    return Handler(says)


BEGINNINGS = ("response.created", "response.queued", "response.in_progress", "error")
UNKNOWN = Handler(_unknown)
STEERING = _passing("not-terminal")
HANDLERS: dict[str, Handler] = {
    **{f"response.{name}": _passing(why) for why, names in PASSING.items() for name in names},
    "response.created": Handler(Decoder.start, ("response",)),
    "response.queued": Handler(Decoder.start, ("response",)),
    "response.in_progress": Handler(Decoder.start, ("response",)),
    "response.output_item.added": Handler(Decoder.item_added, ("item",)),
    "response.output_item.done": Handler(Decoder.item_done, ("item",)),
    "response.content_part.added": Handler(Decoder.part_added, ("part",), "late-piece"),
    "response.content_part.done": Handler(Decoder.part_done, ("part",), "duplicate"),
    "response.output_text.delta": Handler(
        partial(Decoder.text_piece, kind="text"), ("delta", "logprobs"), "late-piece"
    ),
    "response.output_text.done": Handler(partial(Decoder.text_whole, kind="text"), ("text", "logprobs"), "duplicate"),
    "response.output_text.annotation.added": Handler(Decoder.annotation, ("annotation",), "late-piece"),
    "response.refusal.delta": Handler(partial(Decoder.text_piece, kind="refusal"), ("delta",), "late-piece"),
    "response.refusal.done": Handler(partial(Decoder.text_whole, kind="refusal"), ("refusal",), "duplicate"),
    "response.reasoning_text.delta": Handler(
        partial(Decoder.thought, kind="content", key="delta"), ("delta",), "late-piece"
    ),
    "response.reasoning_text.done": Handler(
        partial(Decoder.thought, kind="content", key="text"), ("text",), "duplicate"
    ),
    "response.reasoning_summary_text.delta": Handler(
        partial(Decoder.thought, kind="summary", key="delta"), ("delta",), "late-piece"
    ),
    "response.reasoning_summary_text.done": Handler(
        partial(Decoder.thought, kind="summary", key="text"), ("text",), "duplicate"
    ),
    "response.function_call_arguments.delta": Handler(Decoder.call_piece, ("delta",), "late-piece"),
    "response.function_call_arguments.done": Handler(
        partial(Decoder.whole_call, key="arguments"), ("arguments", "name"), "duplicate"
    ),
    "response.custom_tool_call_input.delta": Handler(Decoder.call_piece, ("delta",), "late-piece"),
    "response.custom_tool_call_input.done": Handler(partial(Decoder.whole_call, key="input"), ("input",), "duplicate"),
    "response.completed": Handler(Decoder.end, ("response",)),
    "response.incomplete": Handler(Decoder.end, ("response",)),
    "response.failed": Handler(Decoder.fail, ("response",)),
    "error": Handler(Decoder.fail, ("error", "code", "message", "param")),
}
