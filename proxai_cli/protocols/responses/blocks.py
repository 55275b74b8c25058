"""Parts under way in a Responses stream as target: the events of an item from its beginning to its end.

Source: `spec/streams.md` §3.1. An item's leaves are settled as they come, so closing events repeat them: texts for the
reason `sum-of-pieces`, all else for `stream-shape`.
"""

from copy import deepcopy
from typing import Any, Protocol

from ...context import Context
from ...ir.events import joined
from ...ir.nodes import Node
from ...ir.values import as_text
from ...ledger import Leaf, Ledger, Writer
from .asked import Asked, unwrapped
from .collected import put_back
from .hosted import Kind, begin_hosted, end_hosted, write_body
from .ids import Ids, write_call_id
from .items import lost
from .output import (
    asked_for,
    citation_url,
    is_summary,
    write_citation,
    write_result,
)
from .parts import write_call
from .tables import CITATIONS, CLIENT_CALLS, ITEM, NAME, OUTPUT_TEXT, REFUSAL, write_entries
from .values import parsed

_SHAPE, _SUM = "stream-shape", "sum-of-pieces"
_SUMMED = ("content", "summary", "arguments", "input", "output")


class Stream(Protocol):
    """What blocks need of the encoder that they belong to."""

    ledger: Ledger
    context: Context
    asked: Asked
    ids: Ids

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
        w.make("item_id", self.value["id"], _SHAPE)
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
                item.make(key, deepcopy(value), _SUM if key in _SUMMED else _SHAPE)
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


class Message(Item):
    """A message of which parts come; it ends when no further part can come."""

    def __init__(self, stream: Stream, node: Node) -> None:
        super().__init__(stream)
        item = self.added()
        self.envelope(item, node, stream.context)
        if "id" not in item.value:
            item.make("id", stream.ids.make("msg"), "made-id")
        for key, value in (("type", "message"), ("status", "in_progress"), ("content", []), ("role", "assistant")):
            if key not in item.value:
                item.make(key, value, _SHAPE)
        item.order(("id", "type", "status", "role", "content"))
        self.begun(item, status="completed")
        self.open, self.over = 0, False

    def part_closed(self) -> None:
        """One of its parts is whole."""
        self.open -= 1
        if self.over and not self.open:
            self.done()

    def end(self) -> None:
        """No further part will begin; it is done as soon as its open parts are."""
        self.over = True
        if not self.open:
            self.done()


class TextBlock(Block):
    """A text or refusal, one part of a message."""

    def __init__(self, stream: Stream, message: Message, node: Node) -> None:
        super().__init__(stream)
        self.message, self.kind = message, node.kind
        self.name, self.key, self.table = (
            ("output_text", "text", OUTPUT_TEXT) if node.kind == "text" else ("refusal", "refusal", REFUSAL)
        )
        self.at = len(message.value["content"])
        message.open += 1
        self.pieces: list[str] = []
        self.citations: list[Node] = []
        self.logprobs: list[Any] = []
        message.value["content"].append(self._part())
        w = message.event("response.content_part.added", content_index=self.at)
        part = w.object("part")
        kind = node.get("type")
        if kind is not None:
            part.put("type", kind if kind.value == self.name else kind.to(self.name, "respelled"))
        for key, value in self._part().items():
            if key not in part.value:
                part.make(key, value, _SHAPE)
        self.told: list[Leaf] = []
        self._rest(node)

    def _rest(self, node: Node) -> None:
        """What a part says beyond text, citations and log probabilities: at home at its end, else lost."""
        rest = node.but("type", "item", "part_logprobs", "citations", "text")
        self.rest = rest if node.protocol == NAME else None
        if self.rest is None:
            lost(rest, self.ledger)
        late: dict[str, Any] = {term: node.says[term] for term in ("citations", "part_logprobs") if term in node.says}
        self.say(Node(node.kind, node.protocol, None, late))
        text = node.get("text")
        if text is not None:
            self.delta(text, None)

    def _part(self) -> dict[str, Any]:
        part: dict[str, Any] = {"type": self.name, self.key: joined(self.pieces)}
        if self.kind == "text":
            part["annotations"] = []
        return part

    def delta(self, leaf: Leaf, said: Node | None) -> None:
        logprobs = said.says.get("part_logprobs", []) if said is not None else []
        if said is not None:
            lost(said, self.ledger, ("part_logprobs",))
        if leaf.value == "" and not logprobs:
            self.ledger.drop(leaf, "noise")
            return
        w = self.message.event(f"response.{self.name}.delta", content_index=self.at)
        w.put("delta", leaf)
        self.pieces.append(leaf.value)
        if self.kind != "text":
            self.ledger.drop(logprobs, "no-equivalent")
        elif logprobs:
            write_entries(logprobs, w, "logprobs", self.context)
            self.logprobs += [each.value for each in logprobs]
        else:
            w.make("logprobs", [], _SHAPE)

    def say(self, node: Node) -> None:
        """Citations wait for the whole text; log probabilities that come late are told at the end."""
        found = node.says.get("citations", [])
        for citation in found:
            if self.kind == "text" and (node.protocol == NAME or citation_url(citation) is not None):
                self.citations.append(citation)
                self.ledger.keep(citation)
            else:
                lost(citation, self.ledger)
        late = node.says.get("part_logprobs", [])
        if self.kind == "text":
            self.told += late
            self.ledger.keep(late)
        else:
            self.ledger.drop(late, "no-equivalent")
        lost(node.but("citations", "part_logprobs"), self.ledger)

    def close(self) -> None:
        part = self._part()
        at = {"content_index": self.at}
        for number, citation in enumerate(self.citations):
            w = self.message.event("response.output_text.annotation.added", **at, annotation_index=number)
            annotation = w.object("annotation")
            if citation.home is not None and citation.protocol == NAME:
                CITATIONS["url_citation"].write(citation, annotation, self.context)
            else:
                write_citation(citation, part["text"], annotation, self.context)
            part["annotations"].append(deepcopy(annotation.value))
        w = self.message.event(f"response.{self.name}.done", **at)
        w.make(self.key, part[self.key], _SUM)
        if self.kind == "text":
            self._all_logprobs(w, part)
        self._done(part)
        self.message.value["content"][self.at] = part
        self.message.part_closed()

    def _all_logprobs(self, w: Writer, part: dict[str, Any]) -> None:
        if self.told:
            write_entries(self.told, w, "logprobs", self.context)
        else:
            w.make("logprobs", deepcopy(self.logprobs), _SUM if self.logprobs else _SHAPE)
        if w.value["logprobs"]:
            part["logprobs"] = deepcopy(w.value["logprobs"])

    def _done(self, part: dict[str, Any]) -> None:
        w = self.message.event("response.content_part.done", content_index=self.at).object("part")
        if self.rest is not None:
            put_back(self.rest, self.table, w, self.context, ("type", "text", "citations", "part_logprobs"))
            for key in list(w.value):
                if key in ("type", *part):
                    del w.value[key]
            part.update({key: value for key, value in deepcopy(w.value).items() if key not in part})
        for key, value in part.items():
            if key not in w.value:
                w.make(key, deepcopy(value), _SUM if key != "type" else _SHAPE)

    def cut(self) -> None:
        self.ledger.drop([self.citations, self.told], "not-terminal")
        self.message.let_go()


class ThoughtBlock(Block):
    """Reasoning: full text as content, or what may be a summary as summary."""

    EVENTS = {  # noqa: RUF012
        "content": ("response.content_part", "response.reasoning_text", "content_index", "reasoning_text"),
        "summary": (
            "response.reasoning_summary_part",
            "response.reasoning_summary_text",
            "summary_index",
            "summary_text",
        ),
    }

    def __init__(self, stream: Stream, node: Node) -> None:
        super().__init__(stream)
        self.own = node.protocol == NAME
        self.item = Item(stream)
        where = None if self.own else "summary" if is_summary(node) else "content"
        item = self.item.added()
        self.item.envelope(item, node, self.context)
        if "id" not in item.value:
            item.make("id", stream.ids.make("rs"), "made-id")
        item.make("type", "reasoning", _SHAPE)
        item.make("summary", [], _SHAPE)
        if where == "content":
            item.make("content", [], _SHAPE)
        if not self.own:
            item.make("status", "in_progress", _SHAPE)
        self.item.begun(item, **({} if self.own else {"status": "completed"}))
        self.where: str | None = None
        self.pieces: list[str] = []
        if where == "content":  # an empty one says that the text was withheld
            self._begin(where)
        self.say(node.but("item", "type", "text"))
        self.ledger.drop(node.get("type"), _SHAPE)
        text = node.get("text")
        if text is not None:
            self.delta(text, None)

    def _begin(self, where: str) -> None:
        """An entry of the summary or of the content begins."""
        self._end()
        self.where, self.pieces = where, []
        part, _, at, word = self.EVENTS[where]
        entries = self.item.value.setdefault(where, [])
        w = self.item.event(f"{part}.added", **{at: len(entries)}).object("part")
        w.make("type", word, _SHAPE)
        w.make("text", "", _SHAPE)
        entries.append({"type": word, "text": ""})

    def _end(self) -> None:
        if self.where is None:
            return
        part, text, at, word = self.EVENTS[self.where]
        entries = self.item.value[self.where]
        entry = {"type": word, "text": joined(self.pieces)}
        place, entries[-1] = {at: len(entries) - 1}, entry
        self.item.event(f"{text}.done", **place).make("text", entry["text"], _SUM)
        w = self.item.event(f"{part}.done", **place).object("part")
        w.make("type", word, _SHAPE)
        w.make("text", entry["text"], _SUM)
        self.where = None

    def delta(self, leaf: Leaf, said: Node | None) -> None:
        if said is not None:
            lost(said, self.ledger)
        if not self.own:
            self._piece(leaf)
        elif not self.item.value.get("content") and not self.item.value.get("summary"):
            for each in (Leaf(leaf.home, leaf.key), *leaf.joined):
                self._begin("summary" if each.home.get("type") == "summary_text" else "content")
                self._piece(each)

    def _piece(self, leaf: Leaf) -> None:
        if leaf.value == "":
            self.ledger.drop(leaf, "noise")
            return
        if self.where is None:
            self._begin("summary")
        where = self.where or "summary"
        _, text, at, _ = self.EVENTS[where]
        w = self.item.event(f"{text}.delta", **{at: len(self.item.value[where]) - 1})
        w.put("delta", leaf)
        self.pieces.append(leaf.value)

    def say(self, node: Node) -> None:
        """A signature is said with the finished item."""
        signature = node.get("signature")
        if signature is not None:
            self.item.keep("encrypted_content", signature)
        for leaf in node.says.get("summary", []) if self.own else []:
            self._begin("summary")
            self._piece(leaf)
        lost(node.but("signature", *(["summary"] if self.own else [])), self.ledger)

    def close(self) -> None:
        self._end()
        self.item.done()

    def cut(self) -> None:
        self.item.let_go()


class RedactedBlock(Block):
    """Reasoning that only its vendor can read: no content."""

    def __init__(self, stream: Stream, node: Node) -> None:
        super().__init__(stream)
        self.item = Item(stream)
        item = self.item.added()
        item.make("id", stream.ids.make("rs"), "made-id")
        item.make("type", "reasoning", _SHAPE)
        item.make("summary", [], _SHAPE)
        if "data" in node.says:
            item.put("encrypted_content", node.says["data"])
        lost(node, self.ledger, ("data",))
        self.item.begun(item)

    def delta(self, leaf: Leaf, said: Node | None) -> None:
        self.ledger.drop([leaf, said], "noise")

    def close(self) -> None:
        self.item.done()


class CallBlock(Block):
    """A call of a function or of a free-text tool.

    One of a free-text tool that comes back wrapped into an object is unwrapped as a whole (`spec/requests.md` §7.1).
    """

    def __init__(self, stream: Stream, node: Node) -> None:
        super().__init__(stream)
        self.unwraps = node.protocol != NAME and stream.asked.is_custom(node)
        custom = node.kind == "custom_call" or self.unwraps
        self.key, self.name = (
            ("input", "custom_tool_call_input") if custom else ("arguments", "function_call_arguments")
        )
        self.own = node.protocol == NAME
        self.pieces: list[str] = []
        self.waiting: list[Leaf] = []
        first = node.get("input" if node.kind == "custom_call" else "arguments")
        said = asked_for(node.but("arguments", "input"), stream.asked)
        said.kind = "custom_call" if custom else "tool_call"
        self.item = Item(stream)
        item = self.item.added()
        self.item.envelope(item, node, self.context)
        if "id" not in item.value:
            write_call_id(said, item, stream.ids, self.context)
        item.make(self.key, "", _SHAPE)
        write_call(said.but("item"), item, self.context)
        if not self.own:
            self.ledger.drop(node.get("item"), "no-equivalent")
            item.make("status", "in_progress", _SHAPE)
        self.item.begun(item, **({} if self.own else {"status": "completed"}))
        if first is not None:
            self.delta(as_text(first), None)

    def delta(self, leaf: Leaf, said: Node | None) -> None:
        if said is not None:
            lost(said, self.ledger)
        if leaf.value == "":
            self.ledger.drop(leaf, "noise")
        elif self.unwraps:
            self.waiting.append(leaf)
            self.ledger.keep(leaf)
        else:
            self._piece(leaf)

    def _piece(self, leaf: Leaf) -> None:
        self.item.event(f"response.{self.name}.delta").put("delta", leaf)
        self.pieces.append(leaf.value)

    def _unwrapped(self) -> None:
        """All pieces of a wrapped text as one; what is no wrapping goes out as it is."""
        pieces, self.waiting = self.waiting, []
        if not pieces:
            return
        whole = pieces[0].to(joined([piece.value for piece in pieces]), "pieces-joined", pieces[1:])
        self._piece(unwrapped(whole, parsed(whole.value)) or whole)

    def close(self) -> None:
        self._unwrapped()
        if not self.pieces and self.key == "arguments" and not self.own:
            self.item.event(f"response.{self.name}.delta").make("delta", "{}", "empty-arguments")
            self.pieces.append("{}")
        self.item.value[self.key] = joined(self.pieces)
        self.item.event(f"response.{self.name}.done").make(self.key, self.item.value[self.key], _SUM)
        self.item.done()

    def cut(self) -> None:
        self._unwrapped()
        self.item.let_go()


class HostedBlock(Block):
    """A call that the vendor ran: it begins at once; what it asked and got is written when it is whole."""

    def __init__(self, stream: Stream, node: Node, kind: Kind) -> None:
        super().__init__(stream)
        self.kind, self.node = kind, node.but()
        self.pieces: list[Leaf] = []
        self.item = Item(stream)
        item = self.item.added()
        begin_hosted(node, kind, item, self.context)
        if kind.type == "mcp_call":
            for key, value in (("server_label", node.value("server", "")), ("name", node.value("name", ""))):
                item.make(key, value, _SHAPE)
        for key, value in kind.running.items():
            item.make(key, deepcopy(value), _SHAPE)
        item.make("status", "in_progress", _SHAPE)
        self.item.begun(item)
        for name in kind.before:
            self.item.event(f"response.{name}")
        self.ledger.keep(self.node)

    def delta(self, leaf: Leaf, said: Node | None) -> None:
        self.pieces.append(leaf)
        self.ledger.keep([leaf, said])

    def say(self, node: Node) -> None:
        """The result, as soon as it is known."""
        self.node.says.update(node.says)
        self.ledger.keep(node)
        lost(node, self.ledger, tuple(node.says))

    def close(self) -> None:
        if self.pieces:
            self.ledger.drop(self.node.get("arguments"), "duplicate")
            text = joined([piece.value for piece in self.pieces])
            self.node.says["arguments"] = self.pieces[0].to(text, "pieces-joined", self.pieces[1:])
        item = Writer(self.ledger, {})
        write_body(self.node, item, self.kind)
        end_hosted(self.node, item)
        for key in ("id", "type"):
            item.make(key, self.item.value[key], _SHAPE)
        item.order(("id", "type"))
        if self.kind.text is not None:
            key, name = self.kind.text
            self.item.event(f"response.{name}.delta").make("delta", item.value[key], _SUM)
            self.item.event(f"response.{name}.done").make(key, item.value[key], _SUM)
        for name in self.kind.after:
            failed = self.kind.type == "mcp_call" and item.value["status"] == "failed"
            self.item.event(f"response.{'mcp_call.failed' if failed else name}")
        self.item.value = deepcopy(item.value)
        self.item.done_as(item)

    def cut(self) -> None:
        self.ledger.drop([self.node, self.pieces], "not-terminal")


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
        item.make("type", "function_call_output", _SHAPE)
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
