"""Streams: chunks in, IR events out, and back.

Source: `spec/streams.md`.
"""

from typing import Any

from ...context import Context
from ...errors import OutOfOrder
from ...ir.events import DONE, PIECES, Close, Delta, Done, Event, Fail, Finish, Open, Say, Start
from ...ir.nodes import Node
from ...ir.turns import CALLS
from ...ir.values import as_text
from ...ledger import Leaf, Ledger, Writer, made
from .citations import placed, write_citations
from .error import read_error, write_error
from .parts import LOST, dialect_of, forget, is_legacy, of_kind, write_call, write_detail, write_legacy_call
from .response import (
    alternatives,
    read_sound,
    read_stop,
    write_envelope,
    write_extras,
    write_logprobs,
    write_role,
    write_sound,
    write_stop,
)
from .tables import CHOICE, CHUNK, NAME, SPOKEN, gathered, write_usage

# Keys of a chunk that only pad it.
PADDING = ("obfuscation", "p")
# What a reply may say of itself as late as with its finish.
LATE_TERMS = ("service_tier", "system_fingerprint", "metadata", "moderation")


class Decoder:
    """Chunks in, IR events out.

    State: what the chunks say of the reply as a whole (its start waits for the first choice); one `_Choice` for each
    choice that is read; the usage, kept until the finish is said. The finish waits for the usage: it is said at a chunk that has no choice, at
    `[DONE]`, or at `close()`. Raises `OutOfOrder`: `orphan-delta`, `event-order`.
    """

    def __init__(self, ledger: Ledger, context: Context) -> None:
        self.ledger, self.context = ledger, context
        self.reply = Node("reply", NAME)
        self.told: dict[Any, Any] = {}
        self.choices: dict[int, _Choice] = {}
        self.usage: Node | None = None
        self.parts = 0
        self.started = self.announced = self.ended = self.done = self.failed = False
        self.continued = False
        wanted = context.choice("choice", "0")
        self.wanted = None if wanted == "all" else int(wanted) if wanted.isdecimal() else 0

    def feed(self, chunk: Any) -> list[Event]:
        """What one chunk says; `DONE` for the `[DONE]` line."""
        if chunk is DONE:
            return self._last_word()
        if not isinstance(chunk, dict):
            return []
        if self.failed:
            self._drop(chunk, "noise")
            return []
        if self.done:
            raise OutOfOrder("event-order", "a chunk stands after `[DONE]`, the last word of a stream")
        if chunk.get("error") or chunk.get("object") == "error":
            return self._fail(chunk)
        node = CHUNK.read(chunk, self.context)
        for name in PADDING:
            self.ledger.drop(node.extras.pop(name, None), "noise")
        choices = self._choices_of(node)
        usage = node.says.pop("usage", None)
        events = self._envelope(node, bool(choices))
        for leaf in choices:
            events += self._choice(leaf)
        self.announced = self.started
        return [*events, *self._counted(usage, not choices)]

    def close(self) -> list[Event]:
        """The end of the capture: complete if the choice had its finish."""
        if self.done or self.failed:
            return []
        if self._finished():
            self.context.find("no-done")
            return self._last_word()
        self._let_go()
        return []

    def say(self, node: Node) -> list[Event]:
        """What is said late of the reply as a whole."""
        return [Say(None, node)] if node.says or node.extras else []

    def after_finish(self) -> None:
        """Content or another reason after the finish, which is told once."""
        if not self.continued:
            self.context.find("after-finish")
        self.continued = True

    def next_part(self) -> int:
        self.parts += 1
        return self.parts - 1

    def _drop(self, chunk: dict[str, Any], why: str) -> None:
        self.ledger.drop([Leaf(chunk, key) for key in chunk], why)

    def _choices_of(self, node: Node) -> list[Leaf]:
        """The choices of a chunk that are objects."""
        leaf = node.extras.get("choices")
        if leaf is None or not isinstance(leaf.value, list):
            return []
        del node.extras["choices"]
        if not leaf.value:
            self.ledger.drop(leaf, "stream-shape")
        all_of_them = [Leaf(leaf.value, at) for at in range(len(leaf.value))]
        whole = [one for one in all_of_them if isinstance(one.value, dict) and one.value]
        self.ledger.drop([one for one in all_of_them if one not in whole], "unknown-field")
        return whole

    def _envelope(self, node: Node, begins: bool) -> list[Event]:
        """What a chunk says of the reply: the first word stands, and it waits for the first choice."""
        self._drop_asides(node)
        news = Node("reply", NAME)
        for store, fresh in ((node.says, news.says), (node.extras, news.extras)):
            for key, leaf in store.items():
                if leaf.value in ("", 0) and not self.started:
                    self.ledger.drop(leaf, "noise")
                elif key in self.told:
                    self._again(key, leaf)
                else:
                    self.told[key], fresh[key] = leaf.value, leaf
        if self.started:
            return self.say(news)
        self.reply.says.update(news.says)
        self.reply.extras.update(news.extras)
        if not begins:
            self.ledger.keep(news)
            return []
        self.started = True
        if "id" not in self.told or "model" not in self.told:
            self.context.find("no-start")
        return [Start(self.reply)]

    def _again(self, key: Any, leaf: Leaf) -> None:
        """The same said again, or something else, which does not count."""
        if key in ("id", "model") and leaf.value and leaf.value != self.told[key]:
            self.told[key] = leaf.value
            self.context.find("id-changes")
        self.ledger.drop(leaf, "stream-shape" if key == "type" else "duplicate")

    def _drop_asides(self, node: Node) -> None:
        for said, why in node.asides:
            self.ledger.drop(said, why)

    def _choice(self, leaf: Leaf) -> list[Event]:
        index = leaf.value.get("index")
        number = index if isinstance(index, int) and not isinstance(index, bool) else 0
        if self.wanted is not None and number != self.wanted:
            self.ledger.drop(leaf, "single-candidate")
            return []
        if self.ended:
            self.after_finish()
            self.ledger.drop(leaf, "late-piece")
            return []
        choice = self.choices.setdefault(number, _Choice(self, number))
        return choice.feed(leaf.value)

    def _counted(self, usage: Node | None, alone: bool) -> list[Event]:
        """Usage: the last word counts, and a chunk for it alone says that the reply is over."""
        if usage is not None and self.ended:
            self.context.find("usage-late")
            self.ledger.drop(usage, "duplicate")
        elif usage is not None:
            self.ledger.drop(self.usage, "duplicate")
            self.usage = usage
            self.ledger.keep(usage)
            if alone and not self._finished():
                self.context.find("usage-early")
        return self._end() if usage is not None and alone and self._finished() else []

    def _finished(self) -> bool:
        return bool(self.choices) and all(choice.finish is not None for choice in self.choices.values())

    def _end(self) -> list[Event]:
        """Close what is open and say the finish, once."""
        if self.ended:
            return []
        self.ended = True
        first, *others = (choice for _, choice in sorted(self.choices.items()))
        finish = first.finish or Node("finish", NAME)
        if self.usage is not None:
            finish.says["usage"] = self.usage
        if others:
            finish.says["choices"] = [choice.finish for choice in others]
        return [*(event for choice in self.choices.values() for event in choice.close()), Finish(finish)]

    def _last_word(self) -> list[Event]:
        if self.done or self.failed or not self._finished():
            return []
        events = [*self._end(), Done()]
        self.done = True
        return events

    def _fail(self, chunk: dict[str, Any]) -> list[Event]:
        self.failed = True
        node = read_error(chunk, self.context)
        node.home = None  # what else stands in the chunk is not the error's
        for key in ("choices", *CHUNK.by_name):
            self.ledger.drop(node.extras.pop(key, None), "not-terminal")
        self._let_go()
        return [Fail(node)]

    def _let_go(self) -> None:
        """Nothing that waited will be said."""
        for choice in self.choices.values():
            self.ledger.drop([choice.finish, *choice.early], "not-terminal")
        self.ledger.drop(self.usage, "not-terminal")
        if not self.started:
            self.ledger.drop(self.reply, "not-terminal")


class _Choice:
    """One choice of a stream: its open parts by slot, what was told of each, its calls, and its finish.

    Text and reasoning end when a piece of another kind arrives, and are a new part when they resume; a call ends at
    the finish.
    """

    def __init__(self, decoder: Decoder, number: int) -> None:
        self.decoder, self.ledger, self.context, self.number = decoder, decoder.ledger, decoder.context, number
        self.open: dict[Any, int] = {}
        self.told: dict[Any, Any] = {}
        self.calls: list[_Call] = []
        self.by_index: dict[int, _Call] = {}
        self.finish: Node | None = None
        self.spoken = False
        self.texts = 0
        self.early: list[Node] = []
        self.deprecated: Any = None
        self.index: Leaf | None = None

    def feed(self, choice: dict[str, Any]) -> list[Event]:
        node = CHOICE.read(choice, self.context)
        self.index = node.says.pop("choice", None)
        self.ledger.drop(self.index, "position")
        delta, said = node.extras.get("delta"), Node("reply", NAME, None, node.says)
        if delta is not None and isinstance(delta.value, dict):
            del node.extras["delta"]
        said.extras = {("choices", key, self.number): leaf for key, leaf in node.extras.items()}
        said.asides = node.asides
        read_stop(said, self.number)
        ending = {
            term: said.says.pop(term) for term in ("stop_reason", "stop_sequence", "stop_token") if term in said.says
        }
        probabilities = self._probabilities(said)
        events = []
        if delta is not None and isinstance(delta.value, dict):
            events = self._delta(delta.value, said, probabilities)
        for kind, leaves in probabilities.items():
            events += self._unspoken(kind, leaves)
        if delta is not None and delta.value == {}:
            self.ledger.drop(delta, "noise")
        self._drop_asides(said)
        return [*events, *self._late(said), *self._finish(ending)]

    def close(self) -> list[Event]:
        """Nothing more is said."""
        self.ledger.drop(self.early, "late-piece")
        self.early = []
        return [Close(self.open.pop(slot)) for slot in list(self.open)]

    def _drop_asides(self, node: Node) -> None:
        for said, why in node.asides:
            self.ledger.drop(said, why)

    def _late(self, said: Node) -> list[Event]:
        """What else a chunk says of the choice or its message, if it was not told before."""
        news = Node("reply", NAME)
        for store, fresh in ((said.says, news.says), (said.extras, news.extras)):
            for key, leaf in store.items():
                if isinstance(leaf, Leaf) and key in self.told and self.told[key] == leaf.value:
                    self.ledger.drop(leaf, "duplicate")
                else:
                    fresh[key] = leaf
                    self.told[key] = leaf.value if isinstance(leaf, Leaf) else None
        return self.decoder.say(news)

    def _finish(self, ending: dict[str, Any]) -> list[Event]:
        """The reason of the end, once; a second one changes nothing."""
        if not ending:
            return []
        if self.finish is None and "stop_reason" in ending:
            self.finish = Node("finish", NAME, None, ending)
            if self.number and self.decoder.wanted is None:
                self.finish.says["choice"] = made(self.number, "position")
            self.ledger.keep(self.finish)
            return self.close()
        if "stop_reason" not in ending:
            return self._late(Node("reply", NAME, None, ending))
        same = self.finish is not None and self.finish.value("stop_reason") == ending["stop_reason"].value
        if not same:
            self.decoder.after_finish()
        self.ledger.drop(list(ending.values()), "duplicate" if same else "late-piece")
        return []

    # --- deltas

    def _delta(self, delta: dict[str, Any], said: Node, probabilities: dict[str, list[Leaf]]) -> list[Event]:
        """The pieces of one delta: reasoning, content, refusal, calls."""
        node = SPOKEN.read(delta, self.context)
        parts = gathered(node, self.context)
        self.spoken = self.spoken or any(part.value("text") for part in of_kind(parts, "text"))
        self.deprecated = delta.get("function_call")
        sound = node.extras.get("audio")
        if sound is not None and isinstance(sound.value, dict) and sound.value:
            del node.extras["audio"]
            parts = read_sound(sound.value, said, parts, self.spoken)
        self._role(node, said)
        said.extras.update({("message", key, self.number): leaf for key, leaf in node.extras.items()})
        self._drop_asides(node)
        events: list[Event] = []
        for part in parts:
            events += self._piece(part, probabilities)
        if events and self.finish is not None:
            self.decoder.after_finish()
        return [*events, *self._cited(node.says.get("citations", []))]

    def _role(self, node: Node, said: Node) -> None:
        """The role is said once, with the start if it comes with it."""
        role = node.says.pop("role", None)
        if role is None:
            return
        if "role" in self.decoder.told:
            self.ledger.drop(role, "duplicate")
            return
        self.decoder.told["role"] = role.value
        said_by = said if self.decoder.announced else self.decoder.reply
        said_by.says["role"] = role

    def _probabilities(self, said: Node) -> dict[str, list[Leaf]]:
        """Log probabilities of this chunk, by the kind of part that they belong to."""
        found = {}
        for term, kind in (("text_logprobs", "text"), ("refusal_logprobs", "refusal")):
            leaf = said.says.pop(term, None)
            if leaf is not None and leaf.value:
                found[kind] = [Leaf(leaf.value, at) for at in range(len(leaf.value))]
            else:
                self.ledger.drop(leaf, "noise")
        return found

    def _unspoken(self, kind: str, leaves: list[Leaf]) -> list[Event]:
        """Log probabilities that came without a piece of text."""
        if kind in self.open:
            return [Say(self.open[kind], Node(kind, NAME, None, {"part_logprobs": leaves}))]
        return self.decoder.say(Node("reply", NAME, None, {f"{kind}_logprobs": leaves}))

    def _piece(self, part: Node, probabilities: dict[str, list[Leaf]]) -> list[Event]:
        self._drop_asides(part)
        part.asides = []
        if part.kind in CALLS:
            return self._call(part)
        if part.kind in ("text", "refusal", "thinking"):
            return self._text(part, probabilities)
        number = self.decoder.next_part()
        part.home = None
        return [*self._turn_to(None), Open(number, self._marked(part)), Close(number)]

    def _text(self, part: Node, probabilities: dict[str, list[Leaf]]) -> list[Event]:
        """More of a text, refusal or thinking; an empty piece says nothing unless something comes with it."""
        slot = (part.kind, part.value("detail_index")) if "detail_index" in part.says else part.kind
        leaf, signature = part.says.pop("text", None), part.says.pop("signature", None)
        if not _of_details(part):
            self.ledger.drop(part.says.pop("type", None), "stream-shape")
        leaves = probabilities.pop(part.kind, None) if leaf is not None else None
        if leaf is not None and not leaf.value and not leaves:
            self.ledger.drop(leaf, "noise")
            leaf = None
        if leaf is None and signature is None:
            self.ledger.drop(part, "noise")
            return []
        events = self._turn_to(slot)
        if slot in self.open:
            events += self._more(slot, part)
        else:
            events += self._opened(slot, part)
        number = self.open[slot]
        if leaf is not None:
            events.append(
                Delta(number, leaf, Node(part.kind, NAME, None, {"part_logprobs": leaves}) if leaves else None)
            )
        if signature is not None:
            events.append(Say(number, Node(part.kind, NAME, None, {"signature": signature})))
        return events

    def _opened(self, slot: Any, part: Node) -> list[Event]:
        """A part begins; what it says so far need not be told again."""
        self.open[slot] = self.decoder.next_part()
        opening = Node(part.kind, NAME, None, dict(part.says))
        opening.extras = dict(part.extras)
        for key, leaf in (*part.says.items(), *part.extras.items()):
            self.told[slot, key] = leaf.value
        events: list[Event] = [Open(self.open[slot], self._marked(opening))]
        if slot == "text":
            self.texts += 1
            early, self.early = self.early, []
            return [*events, *self._cited(early)]
        return events

    def _marked(self, part: Node) -> Node:
        """A part of another choice than the first says so."""
        if self.number and self.decoder.wanted is None and self.index is not None:
            part.says["choice"] = self.index.to(self.index.value, "position")
            self.index = None
        elif self.number and self.decoder.wanted is None:
            part.says["choice"] = made(self.number, "position")
        return part

    def _more(self, slot: Any, part: Node) -> list[Event]:
        """What a later piece says besides its text: nothing new, or late terms."""
        news = Node(part.kind, NAME)
        for store, fresh in ((part.says, news.says), (part.extras, news.extras)):
            for key, leaf in store.items():
                if self.told.get((slot, key)) == leaf.value:
                    self.ledger.drop(leaf, "stream-shape" if key == "type" else "duplicate")
                else:
                    self.told[slot, key], fresh[key] = leaf.value, leaf
        return [Say(self.open[slot], news)] if news.says or news.extras else []

    def _turn_to(self, slot: Any) -> list[Event]:
        """Text and reasoning end when something else begins."""
        over = [other for other in self.open if other != slot and not isinstance(other, _Call)]
        return [Close(self.open.pop(other)) for other in over]

    def _cited(self, citations: list[Node]) -> list[Event]:
        """Citations belong to the text that is open, or to the first one; to a text that is over they come too late."""
        if not citations:
            return []
        if "text" in self.open:
            return [Say(self.open["text"], Node("text", NAME, None, {"citations": citations}))]
        if self.texts or self.finish is not None:
            self.ledger.drop(citations, "late-piece")
        else:
            self.early += citations
            self.ledger.keep(citations)
        return []

    # --- calls

    def _call(self, part: Node) -> list[Event]:
        """A fragment of a call: the first one has its name, and its id unless that is made up."""
        leaf = part.says.pop("arguments" if part.kind == "tool_call" else "input", None)
        call = self._known(part)
        if call is None:
            call, events = self._begun(part)
        else:
            self.ledger.drop([part.says.pop(term, None) for term in ("call_id", "name")], "duplicate")
            self.ledger.drop(part.says.pop("type", None), "stream-shape")
            events = [*self._turn_to(call), *self._more(call, part)]
        if leaf is None:
            return events
        leaf = as_text(leaf)
        if not leaf.value:
            self.ledger.drop(leaf, "noise")
            return events
        if call not in self.open:
            self.ledger.drop(leaf, "late-piece")
            return events
        return [*events, Delta(self.open[call], leaf)]

    def _legacy(self, part: Node) -> bool:
        """Is this a piece of a call in the deprecated form?"""
        return part.home is not None and part.home is self.deprecated

    def _known(self, part: Node) -> "_Call | None":
        """The call that a fragment belongs to, or None for a new one."""
        home, id = part.home or {}, part.value("call_id")
        index = home.get("index")
        if self._legacy(part):
            return next((call for call in self.calls if call.legacy), None)
        if isinstance(index, int):
            call = self.by_index.get(index)
            if call is not None and id and call.id and id != call.id:
                self.context.find("index-reused")
                return None
            return call
        if id:
            return next((call for call in self.calls if call.id == id), None)
        if not self.calls and not part.value("name"):
            raise OutOfOrder("orphan-delta", "a piece of a tool call comes before any call has begun")
        return self.calls[-1] if self.calls and not part.value("name") else None

    def _begun(self, part: Node) -> tuple["_Call", list[Event]]:
        if not part.value("name"):
            raise OutOfOrder("orphan-delta", "the first piece of a tool call has no name")
        if not part.value("call_id"):
            self.ledger.drop(part.says.pop("call_id", None), "noise")
            name = "call_fn_0" if self._legacy(part) else f"call_{len(self.calls)}"
            part.says = {"call_id": made(name, "made-id"), **part.says}
        call = _Call(part.value("call_id"), self._legacy(part))
        self.calls.append(call)
        index = (part.home or {}).get("index")
        if isinstance(index, int):
            self.by_index[index] = call
        return call, [*self._turn_to(call), *self._opened(call, part)]


class _Call:
    """A call that has begun; it is its own slot."""

    def __init__(self, id: Any, legacy: bool) -> None:
        self.id, self.legacy = id, legacy


def _of_details(part: Node) -> bool:
    return str(part.value("type")).startswith("reasoning.")


class Encoder:
    """IR events in, chunks out.

    State: the envelope that every chunk repeats; each open part with its text and the length of the content before it;
    the numbers of calls; citations, which wait for the finish.
    """

    def __init__(self, ledger: Ledger, context: Context) -> None:
        self.ledger, self.context = ledger, context
        self.dialect = context.choice("reasoning-dialect", "reasoning_content")
        self.head: dict[str, Any] = {}
        self.parts: dict[int, _Part] = {}
        self.citations: list[Node] = []
        self.calls = self.details = self.length = 0
        self.last = ""
        self.token: Leaf | None = None
        self.thought = self.finished = False
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
                self.out.append(DONE)
            case Fail(node):
                self._fail(node)
        return self.out

    def close(self) -> list[Any]:
        """The stream was cut: citations that waited are told, and no end is invented."""
        self.out = []
        for number in list(self.parts):
            self._gather(self.parts.pop(number))
        self._cite()
        return self.out

    # --- chunks

    def _chunk(self) -> Writer:
        w = Writer(self.ledger, {})
        self.out.append(w.value)
        for key, value in self.head.items():
            w.make(key, value, "stream-shape")
        return w

    def _choice(self) -> Writer:
        """The choice of a new chunk."""
        choice = self._chunk().list("choices").item()
        choice.make("index", 0, "position")
        return choice

    def _delta(self, probabilities: dict[str, list[Leaf]] | None = None) -> Writer:
        """The delta of a new chunk, with log probabilities beside it if there are any."""
        choice = self._choice()
        delta = choice.object("delta")
        if probabilities:
            write_logprobs(probabilities.get("text", []), probabilities.get("refusal", []), choice)
        choice.make("finish_reason", None, "stream-shape")
        return delta

    # --- the reply

    def _start(self, node: Node) -> None:
        w = Writer(self.ledger, {})
        write_envelope(node.but("usage"), w, self.context, CHUNK)
        self.ledger.drop(node.get("usage"), "duplicate")
        self.head = {key: w.value[key] for key in ("id", "object", "created", "model")}
        choice = w.list("choices").item()
        choice.make("index", 0, "position")
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
            self._delta({part.kind: leaves})
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
        late = Node("reply", node.protocol, None, {term: node.says[term] for term in LATE_TERMS if term in node.says})
        chunk = self._chunk()
        CHUNK.write(late, chunk, self.context)
        choice = chunk.list("choices").item()
        choice.make("index", 0, "position")
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
        if not self._wants_usage():
            self.ledger.drop(usage, "target-default")
            return
        chunk = self._chunk()
        chunk.make("choices", [], "stream-shape")
        write_usage(usage, chunk, "usage", self.context)

    def _wants_usage(self) -> bool:
        request = self.context.request
        if self.context.request_protocol == NAME and isinstance(request, dict):
            options = request.get("stream_options")
            return isinstance(options, dict) and options.get("include_usage") is True
        return self.context.chosen("usage-chunk", True)

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
        self.ledger.drop([self.citations, *(part.citations for part in self.parts.values())], "not-terminal")
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
            part.lost = LOST.get(node.kind, "no-equivalent")
            self.ledger.drop(node, part.lost, True)
        first = node.get("text") if not part.lost and node.kind in PIECES else None
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
            self._delta({part.kind: probabilities}).put("content" if part.kind == "text" else "refusal", leaf)
            part.text.append(leaf.value)
            self.length += len(leaf.value) if part.kind == "text" else 0

    def _close(self, number: int) -> None:
        part = self.parts.pop(number)
        if part.kind == "tool_call" and not part.text and not part.home:
            self._fragment(part, "function").make("arguments", "{}", "empty-arguments")
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
        """Reasoning that is told in details has its entry at once; elsewhere only its text is told."""
        if dialect_of(node, self.dialect) == "reasoning_details":
            part.detail, self.details = self.details, self.details + 1
            write_detail(node.but("text"), self._delta().list("reasoning_details").item(), part.detail, self.context)
        elif node.kind == "redacted" or self.dialect == "none":
            part.lost = "no-equivalent"
            self.ledger.drop(node, "no-equivalent")
        else:
            part.name = dialect_of(node, self.dialect)
            self.ledger.drop(node.get("signature"), "no-equivalent")
            forget(node, self.ledger, ("text", "signature"))

    def _thought(self, part: "_Part", leaf: Leaf) -> None:
        if part.detail is not None:
            self._detail(part).put("text", leaf)
            return
        if self.thought and not part.text:
            self._delta().make(part.name, "\n\n", "separator")
        self.thought = True
        part.text.append("…")
        self._delta().put(part.name, leaf)

    def _detail(self, part: "_Part") -> Writer:
        """One more piece of an entry of `reasoning_details`."""
        w = self._delta().list("reasoning_details").item()
        w.make("type", "reasoning.text", "stream-shape")
        w.make("index", part.detail, "position")
        return w

    # --- calls

    def _begin_call(self, part: "_Part", node: Node) -> None:
        """The first fragment of a call, with its id and name."""
        part.legacy = is_legacy(node)
        key = "arguments" if node.kind == "tool_call" else "input"
        first, said = node.get(key), node.but(key)
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
        """More of a call's arguments, or of a custom tool's input."""
        leaf = as_text(leaf)
        if not leaf.value:
            self.ledger.drop(leaf, "noise")
            return
        part.text.append("…")
        if part.legacy:
            self._delta().object("function_call").put("arguments", leaf)
        elif part.kind == "tool_call":
            self._fragment(part, "function").put("arguments", leaf)
        else:
            self._fragment(part, "custom").put("input", leaf)

    def _fragment(self, part: "_Part", key: str) -> Writer:
        item = self._delta().list("tool_calls").item()
        item.make("index", part.number, "position")
        return item.object(key)


class _Part:
    """An open part of the target: its kind, what was told of it, and why nothing is, if it has no place."""

    def __init__(self, node: Node, base: int) -> None:
        self.kind, self.home, self.base = node.kind, node.protocol == NAME, base
        self.text: list[str] = []
        self.citations: list[Node] = []
        self.probabilities: list[Leaf] = []
        self.lost = self.name = ""
        self.detail: int | None = None
        self.number = 0
        self.legacy = False
