"""The front door: pure functions, values in, values and their whole account out."""

from typing import Any, NamedTuple

from .context import Context, Finding
from .errors import NotPossible, OutOfOrder, ProxaiError
from .ir.events import DONE, Collector, Done, Event, Fail, Progress
from .ir.events import explode as exploded
from .ledger import CARRIED, DROPPED, Entry, Leaf, Ledger, Path, Writer
from .protocols import PROTOCOLS


class Translation(NamedTuple):
    """A target document, its whole account (`ledger.entries`), and what was noticed."""

    value: Any
    ledger: Ledger
    findings: list[Finding]


class At(NamedTuple):
    """The first step of a path in a stream: the number of the event, from 0, and its type."""

    number: int
    type: str


def translate(value: Any, source: str, target: str, kind: str, context: Context | None = None) -> Translation:
    """One body (`kind` is `request`, `response` or `error`) in; one body, its whole account and findings out. Pure.

    A reply that failed becomes an error body where the target says failures that way (`spec/responses.md` §9).
    Raises `NotThatProtocol` where the value is no object of that shape, `NotPossible` where no target can be made, and
    `bad-call` for a protocol or kind that is none.
    """
    reader, writer = PROTOCOLS[source].read, PROTOCOLS[target].write
    if kind not in reader:
        said = f"a body is of kind {', '.join(reader)}, not {kind!r}"
        raise ProxaiError("bad-call", said, hint="of a stream the events are translated, by StreamTranslator or Pipe")
    context = (context or Context()).fresh()
    ledger = Ledger(steers=kind == "request")
    w = Writer(ledger, {})
    writer[kind](reader[kind](value, context), w, paired(context, target))
    ledger.settle(value, [w.value])
    return Translation(w.value, ledger, context.findings)


# The keys that hold what a reply says, in whatever protocol; an error body has none of them.
_REPLIES = frozenset({"choices", "output", "content"})


def kind_of(value: Any, kind: str) -> str:
    """The kind of what a document of that kind became: of a reply that failed it may be an error."""
    failed = kind == "response" and isinstance(value, dict) and isinstance(value.get("error"), dict)
    return "error" if failed and _REPLIES.isdisjoint(value) else kind


def paired(context: Context, target: str) -> Context:
    """The context of an encoder: a paired request in the words of a target that repeats it (`spec/responses.md` §1.2).

    One that cannot be translated says nothing.
    """
    if context.request is None or not PROTOCOLS[target].repeats or context.request_protocol in (None, target):
        return context
    try:
        asked = translate(context.request, context.request_protocol, target, "request", Context(context.choices))
    except ProxaiError:
        return context._replace(request=None)
    return context._replace(request=asked.value, request_protocol=target)


class StreamTranslator:
    """Parsed events in, events out, each settled when it is fed.

    An event is a dict, or `DONE` for the `[DONE]` line; one that is handed to `feed` belongs to the translator.
    State: decoder, encoder, ledger, and the account as sums by pattern: `account` maps (fate, source pattern, target
    pattern, reason, level) to [source leaves, target leaves, first event, last event]. `complete` says whether the
    source said its own last word (or an error). To its own protocol a stream goes out as it came in.
    """

    def __init__(self, source: str, target: str, context: Context | None = None, repair: bool = False) -> None:
        self.context = _with_one_choice((context or Context()).fresh(), source == target)
        self.ledger = Ledger()
        self.home = source == target
        self.checked = Ledger()  # at home the decoder only checks; what it says of leaves is forgotten
        self.decoder = PROTOCOLS[source].Decoder(self.checked if self.home else self.ledger, self.context)
        self.encoder = PROTOCOLS[target].Encoder(self.ledger, paired(self.context, target))
        self.repair, self.number, self.written = repair, 0, 0
        self.progress = Progress()
        self.account: dict[tuple[Any, ...], list[int]] = {}

    @property
    def complete(self) -> bool:
        return self.progress.complete

    @property
    def findings(self) -> list[Finding]:
        return self.context.findings

    def feed(self, event: Any, name: str = "") -> list[Any]:
        """What one source event becomes. Raises `OutOfOrder` or `NotThatProtocol` where the stream ends here.

        At home, where the data stays as it came, `name` is the event's name for data that has no type.
        """
        typeless = self.home and name and isinstance(event, dict) and "type" not in event
        said = self.decoder.feed({"type": name, **event} if typeless else event)
        self.progress.note(said)
        if self.home:
            self.checked.clear()
            return self._settled(event, self._copied(event))
        return self._settled(event, self._encoded(said))

    def close(self) -> list[Any]:
        """What is still to be written at the end of the source, with or without its own last word.

        A stream that was cut is ended here only where `repair` was asked for (`spec/streams.md` §9).
        """
        try:
            last = self.decoder.close()
        except ProxaiError:
            self._settled(None, [])  # what was let go before is accounted for all the same
            self._count(self.ledger.close())
            raise
        said = [] if self.home else last
        self.progress.note(last)
        written = self._encoded(said)
        if not self.complete and not self.home:
            if self.repair:
                written += self._encoded(self.progress.ending())
            written += self.encoder.close()
        out = self._settled(None, written)
        self._count(self.ledger.close())
        return out

    def _encoded(self, said: list[Event]) -> list[Any]:
        return [wire for event in said for wire in self.encoder.feed(event)]

    def _copied(self, event: Any) -> list[Any]:
        if not isinstance(event, dict):
            return [event]
        w = Writer(self.ledger, {})
        for key in event:
            w.put(key, Leaf(event, key))
        return [w.value]

    def _settled(self, event: Any, written: list[Any]) -> list[Any]:
        source = event if isinstance(event, dict) else {}
        values = [wire for wire in written if isinstance(wire, dict)]
        begin, number = self.written, self.number
        entries = self.ledger.settle(
            source, values, (At(number, event_type(source)),), lambda at: (At(begin + at, event_type(values[at])),)
        )
        if event == {}:
            entries.append(self._empty(begin if values else None))
        self._count(entries)
        self.number += 1
        self.written += len(values)
        return written

    def _empty(self, written: int | None) -> Entry:
        """An event that is an empty object is one leaf itself: carried at home, elsewhere filler."""
        path: Path = (At(self.number, "chunk"),)
        if written is None:
            return Entry(DROPPED, path, None, "noise", "note", 1, 0)
        return Entry(CARRIED, path, (At(written, "chunk"),), None, None, 1, 1)

    def _count(self, entries: list[Entry]) -> None:
        for fate, source, target, why, level, ours, theirs in entries:
            key = fate, pattern(source), pattern(target), why, level
            first = source[0].number if source else self.number
            line = self.account.setdefault(key, [0, 0, first, first])
            line[0], line[1] = line[0] + ours, line[1] + theirs
            line[2], line[3] = min(line[2], first), max(line[3], first)


def _with_one_choice(context: Context, home: bool) -> Context:
    """Alternatives are never merged: elsewhere than at home a stream is that of one, the first unless named."""
    if home or context.choice("choice") != "all":
        return context
    return context._replace(choices={**context.choices, "choice": "0"})


def event_type(event: dict[str, Any]) -> str:
    """An event's own type, or `chunk` where the protocol gives it none."""
    kind = event.get("type")
    return kind if isinstance(kind, str) else "error" if "error" in event else "chunk"


def pattern(path: Path | None) -> Path | None:
    """A path of a stream with the event's type in place of its number, and `*` for each position."""
    if not path:
        return path
    first, *rest = path
    begin = first.type if isinstance(first, At) else "*" if isinstance(first, int) else first
    return (begin, *["*" if isinstance(key, int) else key for key in rest])


def collect(events: list[Any], protocol: str, target: str | None = None, context: Context | None = None) -> Translation:
    """A stream's parsed events as one body, of the same protocol or of another; settled once over all events.

    Raises what the decoder raises, and `OutOfOrder` (`truncated`) where the stream ends before its end.
    """
    home = target in (None, protocol)
    context = _with_one_choice((context or Context()).fresh(), home)
    if home and "choice" not in context.choices:
        context = context._replace(choices={**context.choices, "choice": "all"})  # at home nothing is selected
    ledger, collector = Ledger(), Collector()
    decoder = PROTOCOLS[protocol].Decoder(ledger, context)
    complete = False
    for number, event in enumerate(events):
        try:
            said = decoder.feed(event)
        except OutOfOrder as error:
            raise error.at(event=number + 1) from None
        for one in said:
            collector.feed(one)
            complete = complete or isinstance(one, (Done, Fail))
    for one in decoder.close():
        collector.feed(one)
        complete = complete or isinstance(one, (Done, Fail))
    if not complete and not context.chosen("partial"):
        raise OutOfOrder("truncated", "the stream ends before its end", hint="--partial writes what there is")
    reply, w = collector.close(), Writer(ledger, {})
    to, context = PROTOCOLS[target or protocol], paired(context, target or protocol)
    failed = collector.failure
    if failed is not None:
        to.write["error"](failed, w, context)
        if reply is not None:
            ledger.drop(reply, "not-terminal")
    elif reply is not None:
        to.write["response"](reply, w, context)
    else:
        raise OutOfOrder("empty", "the stream holds no reply", hint="look at it with `proxai inspect`")
    ledger.keeping.clear()
    fed = [event for event in events if event is not DONE]
    ledger.drop([Leaf(fed, at) for at, event in enumerate(fed) if event == {}], "noise")
    ledger.settle(fed, [w.value])
    return Translation(w.value, ledger, context.findings)


def explode(
    body: Any, protocol: str, target: str | None = None, context: Context | None = None, pieces: str = "words"
) -> Translation:
    """A response body as the list of a stream's events (`DONE` for the `[DONE]` line), of the same protocol or another.

    `pieces` says how texts are cut: `whole`, `words`, or a number of characters. Raises `NotPossible` (`empty`) for a
    reply without a choice, and what reading the body raises.
    """
    context = (context or Context()).fresh()
    ledger = Ledger()
    to = PROTOCOLS[target or protocol]
    reply = PROTOCOLS[protocol].read["response"](body, context)
    if "parts" not in reply.says and reply.get("error") is None:
        raise NotPossible("empty", "the reply holds no choice", hint="look at it with `proxai inspect`")
    encoder = to.Encoder(ledger, paired(context, to.name))
    written: list[Any] = []
    if reply.get("error") is not None:
        ledger.drop(reply.but("error"), "not-terminal")
        written += encoder.feed(Fail(reply.says["error"]))
    else:
        for event in exploded(reply, pieces):
            written += encoder.feed(event)
    ledger.keeping.clear()
    values = [wire for wire in written if isinstance(wire, dict)]
    ledger.settle(body, values, (), lambda at: (At(at, event_type(values[at])),))
    return Translation(written, ledger, context.findings)
