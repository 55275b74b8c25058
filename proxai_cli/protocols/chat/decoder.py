"""Chunks of Chat Completions in, IR events out.

Source: `spec/streams.md`.
"""

import re
from typing import Any

from ...context import Context
from ...errors import NotPossible, OutOfOrder
from ...ir.events import DONE, Close, Delta, Done, Event, Fail, Finish, Open, Say, Start
from ...ir.nodes import Node
from ...ir.turns import CALLS
from ...ir.values import as_text
from ...ledger import Leaf, Ledger, made
from .error import read_error
from .parts import of_kind
from .response import read_sound, read_stop, tell_apart
from .tables import CHOICE, CHUNK, NAME, SPOKEN, gathered

# Keys of a chunk that only pad it.
PADDING = ("obfuscation", "p")


def drop_asides(node: Node, ledger: Ledger) -> None:
    """Settle what a table set aside."""
    for said, why in node.asides:
        ledger.drop(said, why)


class Decoder:
    """Chunks in, IR events out.

    State: what the chunks say of the reply as a whole (its start waits for the first choice); one `_Choice` for each
    choice that is read; the usage, kept until the finish is said. The finish waits for the usage: it is said at a
    chunk that has no choice, at `[DONE]`, or at `close()`. Raises `OutOfOrder`: `orphan-delta`, `event-order`; and
    `NotPossible` (`empty`) at the end, where the choice that is wanted was not there.
    """

    def __init__(self, ledger: Ledger, context: Context) -> None:
        self.ledger, self.context = ledger, context
        self.reply = Node("reply", NAME)
        self.told: dict[Any, Any] = {}
        self.choices: dict[int, _Choice] = {}
        self.usage: Node | None = None
        self.counted = False  # by a chunk for it alone
        self.others = False  # there are choices that were not wanted
        self.parts = 0
        self.started = self.announced = self.ended = self.done = self.failed = False
        self.found: set[str] = set()
        wanted = context.choice("choice", "0").removeprefix("all/")
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
        self._refuse_others()
        return []

    def _refuse_others(self) -> None:
        """Raises `empty` where the stream is that of other choices than the one that is wanted, as a body's is."""
        if self.others and not self.choices:
            self.failed = True
            raise NotPossible("empty", f"the reply has no choice {self.wanted}", hint="--set choice=0, or all")

    def say(self, node: Node) -> list[Event]:
        """What is said late of the reply as a whole."""
        return [Say(None, node)] if node.says or node.extras else []

    def after_finish(self) -> None:
        """Content or another reason after the finish."""
        self._find("after-finish")

    def _find(self, code: str) -> None:
        """A finding that is told once for the whole stream."""
        if code not in self.found:
            self.context.find(code)
        self.found.add(code)

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
        drop_asides(node, self.ledger)
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
        tell_apart(self.reply, self.context)
        if "id" not in self.told or "model" not in self.told:
            self.context.find("no-start")
        return [Start(self.reply)]

    def _again(self, key: Any, leaf: Leaf) -> None:
        """The same said again, or something else, which does not count."""
        if key in ("id", "model") and leaf.value and leaf.value != self.told[key]:
            self._find("id-changes")
        self.ledger.drop(leaf, "stream-shape" if key == "type" else "duplicate")

    def _choice(self, leaf: Leaf) -> list[Event]:
        index = leaf.value.get("index")
        number = index if type(index) is int and index >= 0 else 0
        if self.wanted is not None and number != self.wanted:
            self.ledger.drop(leaf, "single-candidate")
            self.others = True
            return []
        if self.ended:
            self.after_finish()
            self.ledger.drop(leaf, "late-piece")
            return []
        choice = self.choices.setdefault(number, _Choice(self, number))
        return choice.feed(leaf.value)

    def _counted(self, usage: Node | None, alone: bool) -> list[Event]:
        """Usage: the last word counts, that of a chunk for it alone first; such a chunk says that the reply is over."""
        if usage is not None and self.ended:
            self.context.find("usage-late")
            self.ledger.drop(usage, "duplicate")
        elif usage is not None and self.counted and not alone:
            self.ledger.drop(usage, "duplicate")
        elif usage is not None:
            self.ledger.drop(self.usage, "duplicate")
            self.usage, self.counted = usage, alone
            self.ledger.keep(usage)
            if alone and not self._finished():
                self.context.find("usage-early")
        over = all(choice.finish is not None for choice in self.choices.values())
        return self._end() if usage is not None and alone and over and self._finished() else []

    def _finished(self) -> bool:
        """Has a choice its finish? Some servers give it to the first of several alone."""
        return any(choice.finish is not None for choice in self.choices.values())

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
            finish.says["choices"] = [choice.finish for choice in others if choice.finish is not None]
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
        if not self.announced:  # the start may have been lost with the event that was refused
            self.ledger.drop(self.reply, "not-terminal")


class _Choice:
    """One choice of a stream: its open parts by slot, what was told of each, its calls, and its finish.

    Text and reasoning end when a piece of another kind arrives, and are a new part when they resume; a call ends at
    the finish.
    """

    def __init__(self, decoder: Decoder, number: int) -> None:
        self.decoder, self.ledger, self.context, self.number = decoder, decoder.ledger, decoder.context, number
        self.open: dict[Any, int] = {}
        self.passing: list[Any] = []  # what is open of text and reasoning
        self.told: dict[Any, Any] = {}
        self.calls: list[_Call] = []
        self.by_index: dict[int, _Call] = {}
        self.finish: Node | None = None
        self.spoken = False
        self.texts: list[_Text] = []
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
        ending: dict[str, Any] = {
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
        drop_asides(said, self.ledger)
        return [*events, *self._late(said), *self._finish(ending)]

    def close(self) -> list[Event]:
        """Nothing more is said."""
        self.ledger.drop(self.early, "late-piece")
        self.early = []
        self.passing = []
        return [Close(self.open.pop(slot)) for slot in list(self.open)]

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
        parts = read_sound(node, said, parts, self.spoken)
        self._role(node, said)
        said.extras.update({("message", key, self.number): leaf for key, leaf in node.extras.items()})
        drop_asides(node, self.ledger)
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
        drop_asides(part, self.ledger)
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
        plain = part.says.pop("plain_text", [])
        if not _of_details(part):
            self.ledger.drop(part.says.pop("type", None), "stream-shape")
        leaves = probabilities.pop(part.kind, None) if leaf is not None else None
        if leaf is not None and not leaf.value and not leaves:
            self.ledger.drop(leaf, "noise")
            leaf = None
        if leaf is None and signature is None:
            self.ledger.drop([part, *plain], "noise")
            return []
        events = self._turn_to(slot)
        if slot in self.open:
            events += self._more(slot, part)
        else:
            events += self._opened(slot, part)
        number = self.open[slot]
        if leaf is not None:
            if slot == "text":
                self.texts[-1].grow(leaf.value)
            said = Node(part.kind, NAME, None, {"part_logprobs": leaves}) if leaves else None
            events.append(Delta(number, leaf, said))
        if plain:
            events.append(Say(number, Node(part.kind, NAME, None, {"plain_text": plain})))
        if signature is not None:
            events.append(Say(number, Node(part.kind, NAME, None, {"signature": signature})))
        return events

    def _opened(self, slot: Any, part: Node) -> list[Event]:
        """A part begins; what it says so far need not be told again."""
        self.open[slot] = self.decoder.next_part()
        if not isinstance(slot, _Call):
            self.passing.append(slot)
        opening = Node(part.kind, NAME, None, dict(part.says))
        opening.extras = dict(part.extras)
        for key, leaf in (*part.says.items(), *part.extras.items()):
            self.told[slot, key] = leaf.value
        events: list[Event] = [Open(self.open[slot], self._marked(opening))]
        if slot == "text":
            self.texts.append(_Text(self.open[slot], self.texts[-1].end if self.texts else 0))
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
        over = [other for other in self.passing if other != slot]
        self.passing = [slot] if slot in self.passing else []
        return [Close(self.open.pop(other)) for other in over]

    def _cited(self, citations: list[Node]) -> list[Event]:
        """Citations are said of the text that they name by their place, else of the last one, be it over already; those
        that come before any text wait for the first one."""
        events: list[Event] = []
        for citation in citations:
            citation.home = None  # its number is of the stream, and no body has it
            if self.texts:
                text = next((text for text in reversed(self.texts) if text.holds(citation)), self.texts[-1])
                events.append(Say(text.number, Node("text", NAME, None, {"citations": [text.placed(citation)]})))
            elif self.finish is None:
                self.early.append(citation)
                self.ledger.keep(citation)
            else:
                self.ledger.drop(citation, "late-piece")
        return events

    # --- calls

    def _call(self, part: Node) -> list[Event]:
        """A fragment of a call: the first one has its name, and its id unless that is made up."""
        leaf = part.says.pop("arguments" if part.kind == "tool_call" else "input", None)
        call = self._known(part)
        if call is None:
            call, events = self._begun(part)
        elif call in self.open:
            self.ledger.drop([part.says.pop(term, None) for term in ("call_id", "name")], "duplicate")
            self.ledger.drop(part.says.pop("type", None), "stream-shape")
            events = [*self._turn_to(call), *self._more(call, part)]
        else:
            self.decoder.after_finish()
            self.ledger.drop([leaf, part], "late-piece")
            return []
        if leaf is None:
            return events
        leaf = as_text(leaf)
        if leaf.value:
            return [*events, Delta(self.open[call], leaf)]
        self.ledger.drop(leaf, "noise")
        return events

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
            if call is None or not id or call.id in (None, "", id):
                return call
            self.context.find("index-reused")
            return None
        if id:
            return next((call for call in self.calls if call.id == id), None)
        if not self.calls and not part.value("name"):
            raise OutOfOrder("orphan-delta", "a piece of a tool call comes before any call has begun")
        return self.calls[-1] if self.calls and not part.value("name") else None

    def _begun(self, part: Node) -> tuple["_Call", list[Event]]:
        if not part.value("name"):
            raise OutOfOrder("orphan-delta", "the first piece of a tool call has no name")
        call = _Call(part.value("call_id"), self._legacy(part))
        if not call.id:
            self.ledger.drop(part.says.pop("call_id", None), "noise")
            name = "call_fn_0" if call.legacy else f"call_{len(self.calls)}"
            part.says = {"call_id": made(name, "made-id"), **part.says}
        self.calls.append(call)
        index = (part.home or {}).get("index")
        if isinstance(index, int):
            self.by_index[index] = call
        return call, [*self._turn_to(call), *self._opened(call, part)]


class _Call:
    """A call that has begun, with the id that the server gave to it; it is its own slot."""

    def __init__(self, id: Any, legacy: bool) -> None:
        self.id, self.legacy = id, legacy


_SECOND_HALF = re.compile("[\udc00-\udfff]")


class _Text:
    """A text of a choice: the number of its part, and where in the whole content it begins and ends so far."""

    def __init__(self, number: int, begin: int) -> None:
        self.number, self.begin, self.end = number, begin, begin

    def grow(self, piece: str) -> None:
        # Of a character that is cut into two surrogates the second adds nothing.
        self.end += len(piece) - len(_SECOND_HALF.findall(piece))

    def holds(self, citation: Node) -> bool:
        start = citation.value("start_index")
        return isinstance(start, int) and self.begin <= start < self.end

    def placed(self, citation: Node) -> Node:
        """The citation with its place counted from the beginning of this text."""
        for term in ("start_index", "end_index") if self.begin else ():
            leaf = citation.get(term)
            if leaf is not None and isinstance(leaf.value, int) and leaf.value >= self.begin:
                citation.says[term] = leaf.to(leaf.value - self.begin, "merged-boundary")
        return citation


def _of_details(part: Node) -> bool:
    return str(part.value("type")).startswith("reasoning.")
