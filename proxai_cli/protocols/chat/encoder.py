"""IR events in, chunks of Chat Completions out.

Source: `spec/streams.md`.
"""

from typing import Any

from ...context import Context
from ...ir.events import DONE, Close, Delta, Done, Event, Fail, Finish, Open, Say, Start
from ...ir.nodes import Node
from ...ir.turns import CALLS
from ...ir.values import as_text
from ...ledger import Leaf, Ledger, Writer
from .asked import Asked, text_of_call
from .citations import placed, write_citations
from .error import write_error
from .parts import dialect_of, forget, is_legacy, why_lost, write_call, write_detail, write_legacy_call
from .response import (
    alternatives,
    write_envelope,
    write_extras,
    write_logprobs,
    write_role,
    write_sound,
    write_stop,
)
from .tables import CHUNK, DIALECTS, NAME, joined, write_usage

# What a reply may say of itself as late as with its finish.
LATE_TERMS = ("service_tier", "system_fingerprint", "metadata", "moderation")


class Encoder:
    """IR events in, chunks out.

    State: the envelope that every chunk repeats; each open part with its text and the length of the content before it;
    the numbers of calls; citations, which wait for the finish.
    """

    def __init__(self, ledger: Ledger, context: Context) -> None:
        self.ledger, self.context = ledger, context
        self.asked = Asked(context)
        self.dialect = context.choice("reasoning-dialect", "reasoning_content")
        self.head: dict[str, Any] = {}
        self.parts: dict[int, _Part] = {}
        self.citations: list[Node] = []
        self.calls = self.details = self.length = 0
        self.last = ""
        self.token: Leaf | None = None
        self.thought = self.spoke = self.finished = False
        self.out: list[Any] = []

    def feed(self, event: Event) -> list[Any]:
        """The chunks that say one event; `DONE` stands for the `[DONE]` line."""
        self.out = []
        match event:
            case Start(node):
                self._start(node)
            case Open(number, node):
                self._open(number, node)
            case Delta(number, leaf, said):
                self._piece(self.parts[number], leaf, said)
            case Say(number, node):
                self._say(number, node)
            case Close(number):
                self._close(number)
            case Finish(node):
                self._finish(node)
            case Done():
                self._cite()  # what was cited behind the finish
                self.out.append(DONE)
            case Fail(node):
                self._fail(node)
        return self.out

    def close(self) -> list[Any]:
        """The stream was cut: citations that waited are told, and no end is invented."""
        self.out = []
        for number in list(self.parts):
            self._close(number, whole=False)
        self._cite()
        return self.out

    # --- chunks

    def _chunk(self) -> Writer:
        w = Writer(self.ledger, {})
        self.out.append(w.value)
        for key, value in self.head.items():
            w.make(key, value, "stream-shape")
        return w

    def _choice(self, chunk: Writer) -> Writer:
        """The one choice of a chunk."""
        choice = chunk.list("choices").item()
        choice.make("index", 0, "position")
        return choice

    def _delta(self, probabilities: dict[str, list[Leaf]] | None = None) -> Writer:
        """The delta of a new chunk, with log probabilities beside it if there are any."""
        self.spoke = True
        choice = self._choice(self._chunk())
        delta = choice.object("delta")
        self._end_choice(choice, probabilities or {})
        return delta

    def _end_choice(self, choice: Writer, probabilities: dict[str, list[Leaf]]) -> None:
        write_logprobs(probabilities.get("text", []), probabilities.get("refusal", []), choice)
        choice.make("finish_reason", None, "stream-shape")

    # --- the reply

    def _start(self, node: Node) -> None:
        w = Writer(self.ledger, {})
        write_envelope(node.but("usage"), w, self.context, CHUNK)
        self.ledger.drop(node.get("usage"), "duplicate")
        self.head = {key: w.value[key] for key in ("id", "object", "created", "model")}
        choice = self._choice(w)
        delta = choice.object("delta")
        choice.make("finish_reason", None, "stream-shape")
        self.out.append(w.value)
        first = alternatives(node)[0]
        write_role(first, delta)
        write_extras(first, "message", delta)
        write_extras(first, "choices", choice)
        self.token = node.get("stop_token")
        write_sound(first, [], delta)
        w.order(("id", "object", "created", "model"))
        for term in ("error", "category", "text_logprobs", "refusal_logprobs"):
            self.ledger.drop(node.get(term), "no-equivalent")
        for leaf in node.says.get("choices", []):
            self._other(leaf)

    def _other(self, leaf: Leaf) -> None:
        """Another choice of a body that is told as a stream, in one chunk."""
        w = self._chunk().list("choices").item()
        for key, value in leaf.value.items() if isinstance(leaf.value, dict) else ():
            if key != "message" or not isinstance(value, dict):
                w.put(key, Leaf(leaf.value, key))
                continue
            delta = w.object("delta")
            for name in value:
                delta.put(name, Leaf(value, name))

    def _say(self, number: int | None, node: Node) -> None:
        """Late terms: citations wait for the finish, a signature has a place in one dialect."""
        part = None if number is None else self.parts.get(number)
        if part is None or part.lost:
            forget(node, self.ledger)
            return
        citations, signature = node.says.get("citations", []), node.get("signature")
        self.ledger.keep(citations)
        part.citations += citations
        if signature is not None and part.detail is not None:
            self._detail(part).put("signature", signature)
        elif signature is not None:
            self.ledger.drop(signature, "no-equivalent")
        leaves = node.says.get("part_logprobs", [])
        if leaves:
            choice = self._choice(self._chunk())
            choice.make("delta", {}, "stream-shape")
            self._end_choice(choice, {part.kind: leaves})
        forget(node, self.ledger, ("citations", "signature", "part_logprobs"))

    def _finish(self, node: Node) -> None:
        """Citations, explanation, the reason of the end, usage; a second finish comes too late."""
        if self.finished:
            self.context.find("usage-late")
            self.ledger.drop(node, "duplicate")
            return
        self.finished = True
        for number in list(self.parts):
            self._close(number)
        self._cite()
        self._explain(node.get("explanation"))
        if not self.spoke and node.protocol != NAME:
            self.context.find("empty-reply")
        late = Node("reply", node.protocol, None, {term: node.says[term] for term in LATE_TERMS if term in node.says})
        chunk = self._chunk()
        CHUNK.write(late, chunk, self.context)
        choice = self._choice(chunk)
        choice.make("delta", {}, "stream-shape")
        if self.token is not None:
            node.says["stop_token"] = self.token
        write_stop(node, choice, self.context, True)
        self._count(node.get("usage"))
        forget(node, self.ledger, ("usage", "explanation", "stop_reason", "stop_sequence", "stop_token", *LATE_TERMS))

    def _explain(self, leaf: Leaf | None) -> None:
        """The vendor's words on a filtered reply, unless they are the last text again (`spec/streams.md` §7)."""
        if leaf is None:
            return
        if leaf.value == self.last:
            self.ledger.drop(leaf, "duplicate")
        else:
            self._delta().put("refusal", leaf)

    def _count(self, usage: Node | None) -> None:
        """The one usage chunk, unless it is not wanted."""
        if usage is None:
            return
        if not self.asked.wants_usage() or not self.context.chosen("usage-chunk", True):
            self.ledger.drop(usage, "target-default")
            return
        chunk = self._chunk()
        chunk.make("choices", [], "stream-shape")
        write_usage(usage, chunk, "usage", self.context)

    def _cite(self) -> None:
        """All annotations in one chunk (`spec/streams.md` §3)."""
        if not self.citations:
            return
        if self.context.chosen("annotations", True):
            write_citations(self.citations, self._delta(), self.context, indexed=True)
        else:
            self.ledger.drop(self.citations, "no-equivalent")
        self.citations = []

    def _fail(self, node: Node) -> None:
        """An error ends the stream; what waited is not told."""
        self.ledger.drop([self.citations, *(part.waiting() for part in self.parts.values())], "not-terminal")
        self.citations, self.parts = [], {}
        if not self.context.chosen("stream-errors", True):
            self.ledger.drop(node, "no-equivalent")
            return
        w = Writer(self.ledger, {})
        write_error(node, w, self.context)
        self.out.append(w.value)

    # --- parts

    def _open(self, number: int, node: Node) -> None:
        part = self.parts[number] = _Part(node, self.length)
        if node.kind in CALLS:
            self._begin_call(part, node)
        elif node.kind in ("thinking", "redacted"):
            self._begin_thought(part, node)
        elif node.kind in ("text", "refusal"):
            part.probabilities = node.says.get("part_logprobs", [])
            part.citations = node.says.get("citations", [])
            self.ledger.keep(part.citations)
            forget(node, self.ledger, ("text", "part_logprobs", "citations"))
        else:
            part.lost = why_lost(node)
            self.ledger.drop(node, part.lost, True)
        first = node.get("text") if node.kind in ("text", "refusal", "thinking") else None
        if first is not None:
            self._piece(part, first, None)

    def _piece(self, part: "_Part", leaf: Leaf, said: Node | None) -> None:
        probabilities = [*part.probabilities, *(said.says.get("part_logprobs", []) if said else [])]
        part.probabilities = []
        if said:
            forget(said, self.ledger, ("part_logprobs",))
        if part.lost:
            self.ledger.drop(leaf, part.lost, True)
        elif part.kind in CALLS:
            self._argument(part, leaf)
        elif not isinstance(leaf.value, str):
            self.ledger.drop([leaf, *probabilities], "unknown-field", True)
        elif not leaf.value and not probabilities:
            self.ledger.drop(leaf, "noise")
        elif part.kind == "thinking":
            self._thought(part, leaf)
        else:
            self._spoken(part, leaf, self._delta({part.kind: probabilities}))
            part.text.append(leaf.value)
            self.length += len(leaf.value) if part.kind == "text" else 0

    def _spoken(self, part: "_Part", leaf: Leaf, delta: Writer) -> None:
        if part.home and leaf.key == "transcript":
            delta.object("audio").put("transcript", leaf)
        else:
            delta.put("content" if part.kind == "text" else "refusal", leaf)

    def _close(self, number: int, whole: bool = True) -> None:
        """A part ends; one that was cut gets no end of ours."""
        part = self.parts.pop(number)
        if part.kind in CALLS and (whole or part.held):
            self._end_call(part)
        if part.opening is not None:
            self._detail(part)
        if part.kind == "text" and part.text:
            self.last = "".join(part.text)
        self._gather(part)

    def _gather(self, part: "_Part") -> None:
        """The citations of a part, with their places in the whole content."""
        for citation in part.citations:
            said = placed(citation, "".join(part.text), part.base)
            if said is None:
                self.ledger.drop(citation, "no-equivalent")
            else:
                self.citations.append(said)

    # --- reasoning

    def _begin_thought(self, part: "_Part", node: Node) -> None:
        """Reasoning that is told in details begins with its first piece; elsewhere only its text is told."""
        if dialect_of(node, self.dialect) == "reasoning_details":
            part.detail, self.details = self.details, self.details + 1
            if node.value("type") == "reasoning.summary":
                part.word, part.name = "reasoning.summary", "summary"
            part.opening = node.but("text")
            self.ledger.keep(part.opening)
        elif node.kind == "redacted" or self.dialect == "none":
            part.lost = "no-equivalent"
            self.ledger.drop(node, "no-equivalent")
        else:
            part.name = dialect_of(node, self.dialect)
            self.ledger.drop(node.get("signature"), "no-equivalent")
            forget(node, self.ledger, ("text", "signature"))

    def _thought(self, part: "_Part", leaf: Leaf) -> None:
        if part.detail is not None:
            self._detail(part).put(part.name, leaf)
            return
        if part.home and leaf.key in DIALECTS:
            part.name = leaf.key
        if self.thought and not part.told:
            self._delta().make(part.name, "\n\n", "separator")
        self.thought = part.told = True
        self._delta().put(part.name, leaf)

    def _detail(self, part: "_Part") -> Writer:
        """The first or one more piece of an entry of `reasoning_details`."""
        delta = self._delta()
        w = delta.list("reasoning_details").item()
        if part.opening is not None:
            for leaf in part.opening.says.get("plain_text", []):
                delta.put(leaf.key, leaf)
            write_detail(part.opening, w, part.detail or 0, self.context)
            part.opening = None
        else:
            w.make("type", part.word, "stream-shape")
            w.make("index", part.detail, "position")
        return w

    # --- calls

    def _begin_call(self, part: "_Part", node: Node) -> None:
        """The first fragment of a call, with its id and name."""
        key = "arguments" if node.kind == "tool_call" else "input"
        first, said = node.get(key), self.asked.renamed(node.but(key))
        part.legacy, part.free = is_legacy(node), self.asked.is_free(said)
        if part.free:
            said = said.but()
            said.kind = "custom_call"
        part.key = "custom" if said.kind == "custom_call" else "function"
        if part.legacy:
            write_legacy_call(said, self._delta())
        else:
            part.number, self.calls = self.calls, self.calls + 1
            item = self._delta().list("tool_calls").item()
            item.make("index", part.number, "position")
            write_call(said, item, part.number, self.context)
            item.order(("index", "id", "type"))
        if first is not None:
            self._argument(part, first)

    def _argument(self, part: "_Part", leaf: Leaf) -> None:
        """More of a call's arguments, or of a free-text tool's input; what is wrapped waits until it is whole."""
        leaf = as_text(leaf)
        if not leaf.value:
            self.ledger.drop(leaf, "noise")
        elif part.free:
            part.held.append(leaf)
            self.ledger.keep(leaf)
        else:
            part.told = True
            self._fragment(part).put("arguments" if part.kind == "tool_call" else "input", leaf)

    def _end_call(self, part: "_Part") -> None:
        """A call of a function has arguments; the input of a free-text tool is told now if it came wrapped."""
        if part.free and part.held:
            self._fragment(part).put("input", text_of_call(joined(part.held, "", "pieces-joined")))
        elif part.kind == "tool_call" and not part.told and not part.free and not part.home:
            self._fragment(part).make("arguments", "{}", "empty-arguments")

    def _fragment(self, part: "_Part") -> Writer:
        """The object that holds more of a call."""
        if part.legacy:
            return self._delta().object("function_call")
        item = self._delta().list("tool_calls").item()
        item.make("index", part.number, "position")
        return item.object(part.key)


class _Part:
    """An open part of the target: what was told of it, what of it waits, and why it is not told, if it has no place."""

    def __init__(self, node: Node, base: int) -> None:
        self.kind, self.home, self.base = node.kind, node.protocol == NAME, base
        self.lost = ""
        self.told = False
        self.text: list[str] = []
        self.citations: list[Node] = []
        self.probabilities: list[Leaf] = []
        # of reasoning: its name, and of a detail its number, type and beginning
        self.name = "text"
        self.detail: int | None = None
        self.word = "reasoning.text"
        self.opening: Node | None = None
        # of a call: its number, the name of its inner object, its form, and pieces of a wrapped input
        self.number = 0
        self.key = "function"
        self.legacy = self.free = False
        self.held: list[Leaf] = []

    def waiting(self) -> list[Any]:
        """What was kept for later."""
        return [self.citations, self.opening, self.held]
