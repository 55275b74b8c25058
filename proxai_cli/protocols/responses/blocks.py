"""Parts that grow in a Responses stream as target: the events of each from its beginning to its end.

Source: `spec/streams.md` §3.1.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from ...ir.asked import unwrapped
from ...ir.events import add, joined
from ...ir.nodes import Node
from ...ir.values import as_text
from ...ledger import Leaf, Writer, made
from .citations import citation_url, write_citation
from .client_calls import client_call, write_client_call
from .collected import put_back
from .hosted import Kind, answered, begin_hosted, end_hosted, write_body
from .ids import write_call_id
from .items import lost
from .output import (
    asked_for,
    is_item_of_its_own,
    is_summary,
)
from .parts import write_call
from .tables import CITATIONS, NAME, OUTPUT_TEXT, REFUSAL, write_entries
from .target_items import SHAPE, SUM, Block, Item, Stream
from .values import parsed


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
                item.make(key, value, SHAPE)
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
        self.message, self.kind, self.alone = message, node.kind, is_item_of_its_own(node)
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
                part.make(key, value, SHAPE)
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
            w.make("logprobs", [], SHAPE)

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
        w.make(self.key, part[self.key], SUM)
        if self.kind == "text":
            self._all_logprobs(w, part)
        self._done(part)
        self.message.value["content"][self.at] = part
        self.message.part_closed()

    def _all_logprobs(self, w: Writer, part: dict[str, Any]) -> None:
        if self.told:
            write_entries(self.told, w, "logprobs", self.context)
        else:
            w.make("logprobs", deepcopy(self.logprobs), SUM if self.logprobs else SHAPE)
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
                w.make(key, deepcopy(value), SUM if key != "type" else SHAPE)

    def cut(self) -> None:
        self.ledger.drop([self.citations, self.told], "not-terminal")
        self.message.let_go()


class OtherBlock(Block):
    """A part of a message that nobody knows, all at once."""

    alone = False

    def __init__(self, stream: Stream, message: Message, node: Node) -> None:
        super().__init__(stream)
        self.message, self.at = message, len(message.value["content"])
        message.open += 1
        part = message.event("response.content_part.added", content_index=self.at).object("part")
        for leaf in node.extras.values():
            part.put(leaf.key, leaf)
        message.value["content"].append(deepcopy(part.value))

    def delta(self, leaf: Leaf, said: Node | None) -> None:
        self.ledger.drop([leaf, said], "noise")

    def close(self) -> None:
        w = self.message.event("response.content_part.done", content_index=self.at)
        w.make("part", deepcopy(self.message.value["content"][self.at]), SUM)
        self.message.part_closed()

    def cut(self) -> None:
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
        item.make("type", "reasoning", SHAPE)
        item.make("summary", [], SHAPE)
        if where == "content":
            item.make("content", [], SHAPE)
        if not self.own:
            item.make("status", "in_progress", SHAPE)
        self.item.begun(item, **({} if self.own else {"status": "completed"}))
        self.where: str | None = None
        self.pieces: list[str] = []
        if where == "content":  # an empty one says that the text was withheld
            self._begin(where)
        self.say(node.but("item", "type", "text"))
        self.ledger.drop(node.get("type"), SHAPE)
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
        w.make("type", word, SHAPE)
        w.make("text", "", SHAPE)
        entries.append({"type": word, "text": ""})

    def _end(self) -> None:
        if self.where is None:
            return
        part, text, at, word = self.EVENTS[self.where]
        entries = self.item.value[self.where]
        entry = {"type": word, "text": joined(self.pieces)}
        place, entries[-1] = {at: len(entries) - 1}, entry
        self.item.event(f"{text}.done", **place).make("text", entry["text"], SUM)
        w = self.item.event(f"{part}.done", **place).object("part")
        w.make("type", word, SHAPE)
        w.make("text", entry["text"], SUM)
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
        item.make("type", "reasoning", SHAPE)
        item.make("summary", [], SHAPE)
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
        self.unwraps = node.protocol != NAME and stream.asked.is_free(node)
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
        item.make(self.key, "", SHAPE)
        write_call(said.but("item"), item, self.context)
        if not self.own:
            self.ledger.drop(node.get("item"), "no-equivalent")
            item.make("status", "in_progress", SHAPE)
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
        self.item.event(f"response.{self.name}.done").make(self.key, self.item.value[self.key], SUM)
        self.item.done()

    def cut(self) -> None:
        self._unwrapped()
        self.item.let_go()


class ClientCallBlock(Block):
    """A call that may be of a tool which the vendor defines: what it does says so, and that is known at its end."""

    def __init__(self, stream: Stream, node: Node) -> None:
        super().__init__(stream)
        self.node, self.pieces = node, list[tuple[Leaf, Node | None]]()
        self.ledger.keep(node)

    def delta(self, leaf: Leaf, said: Node | None) -> None:
        self.pieces.append((leaf, said))
        self.ledger.keep([leaf, said])

    def close(self) -> None:
        said = self.node.but()
        leaves = [leaf for leaf, _ in self.pieces]
        if leaves:
            text = joined([leaf.value for leaf in leaves])
            said.says["arguments"] = leaves[0].to(text, "pieces-joined", leaves[1:])
        action = client_call(said, self.stream.asked)
        if action is None:
            self._as_function()
            return
        self.ledger.drop([more for _, more in self.pieces], "no-equivalent")
        item = Item(self.stream)
        whole = item.added()
        write_client_call(action, whole, self.stream.ids, self.context, "in_progress")
        item.begun(whole, status="completed")
        item.done()

    def _as_function(self) -> None:
        call = CallBlock(self.stream, self.node)
        for leaf, said in self.pieces:
            call.delta(leaf, said)
        call.close()

    def cut(self) -> None:
        self.ledger.drop([self.node, *(each for piece in self.pieces for each in piece)], "not-terminal")


class HostedBlock(Block):
    """A call that the vendor ran: it begins at once; what it asked and got is written when both are known.

    `awaited` says that its result is not whole, `told` that it has come.
    """

    def __init__(self, stream: Stream, node: Node, kind: Kind) -> None:
        super().__init__(stream)
        self.kind, self.node = kind, node.but()
        self.awaited, self.told, self.whole = not kind.terms and "result" not in node.says, False, False
        self.pieces: list[Leaf] = []
        self.item = Item(stream)
        item = self.item.added()
        begin_hosted(node, kind, item, self.context, stream.ids.make)
        for key, term in SHOWN.get(kind.type, ()):
            item.make(key, node.value(term, ""), SHAPE)
        for key, value in kind.running.items():
            item.make(key, deepcopy(value), SHAPE)
        if "container_id" in kind.running and stream.container is not None:
            item.put("container_id", stream.container)
            self.node.says["container_id"] = stream.container = made(stream.container.value, SHAPE)
        if not kind.terms:
            item.make("status", "in_progress", SHAPE)
        self.item.begun(item)
        for name in kind.before:
            self.item.event(f"response.{name}")
        self.ledger.keep(self.node)

    def delta(self, leaf: Leaf, said: Node | None) -> None:
        self.pieces.append(leaf)
        self.ledger.keep([leaf, said])

    def say(self, node: Node) -> None:
        """The result, as soon as it is known."""
        add(self.node, node)
        self.ledger.keep(node)

    def close(self) -> None:
        self.whole = True
        if not self.awaited:
            self._end()

    def answered(self) -> None:
        """Its result is whole, or will not come."""
        if self.awaited and self.whole:
            self._end()
        self.awaited = False

    def _end(self) -> None:
        if self.pieces:
            self.ledger.drop(self.node.get("arguments"), "duplicate")
            text = joined([piece.value for piece in self.pieces])
            self.node.says["arguments"] = self.pieces[0].to(text, "pieces-joined", self.pieces[1:])
        item = Writer(self.ledger, {})
        write_body(self.node, item, self.kind)
        end_hosted(self.node, item, self.kind)
        for key in ("id", "type"):
            item.make(key, self.item.value[key], SHAPE)
        item.order(("id", "type"))
        if self.kind.text is not None:
            key, name = self.kind.text
            self.item.event(f"response.{name}.delta").make("delta", item.value[key], SUM)
            self.item.event(f"response.{name}.done").make(key, item.value[key], SUM)
        for name in self.kind.after:
            if name.endswith(".completed") and item.value.get("status") == "in_progress":
                continue  # its result is still to come, in another reply
            failed = self.kind.type == "mcp_call" and item.value["status"] == "failed"
            self.item.event(f"response.{'mcp_call.failed' if failed else name}")
        self.item.value = deepcopy(item.value)
        self.item.done_as(item)
        if self.kind.answer is not None and answered(self.node):
            self._answer(self.kind.answer)

    def _answer(self, write: Callable[[Node, Writer], None]) -> None:
        """The result, where it is an item of its own."""
        answer, item = Item(self.stream), Writer(self.ledger, {})
        write(self.node, item)
        begun = answer.added()
        begun.make("id", self.stream.ids.make("tso"), "made-id")
        for key, value in item.value.items():
            begun.make(key, {"status": "in_progress", "tools": []}.get(key, value), SHAPE)
        item.make("id", begun.value["id"], SHAPE)
        item.order(["id"])
        answer.value = deepcopy(item.value)
        answer.done_as(item)

    def cut(self) -> None:
        self.ledger.drop([self.node, self.pieces], "not-terminal")


class AnswerBlock(Block):
    """What a hosted call gave back, which its item says."""

    def __init__(self, stream: Stream, node: Node, call: HostedBlock) -> None:
        super().__init__(stream)
        self.call, call.told = call, True
        call.say(Node("hosted_call", node.protocol, None, {"result": node}))

    def delta(self, leaf: Leaf, said: Node | None) -> None:
        self.ledger.drop([leaf, said], "noise")

    def close(self) -> None:
        self.call.answered()


# What a call says at once of the server that runs it, by the type of its item.
SHOWN = {
    "mcp_call": (("server_label", "server"), ("name", "name")),
    "mcp_list_tools": (("server_label", "server"),),
}
