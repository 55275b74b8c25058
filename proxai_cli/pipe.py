"""Streams as bytes: a Pipe translates them as they arrive; `collect` and `explode` take and give whole ones."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from . import text
from .context import Context, Finding
from .errors import NotReadable, NotThatProtocol, OutOfOrder, Place, ProxaiError
from .ir.events import DONE
from .ledger import CARRIED, size
from .protocols import PROTOCOLS
from .translate import StreamTranslator, Translation, pattern
from .translate import collect as collect_events
from .translate import explode as explode_value
from .wire import sse

FOUND_AT_MOST = 100
RECENT = 256


class Pipe:
    """A captured stream in, in any cut; the target's stream out, each event as soon as it can be written.

    `feed` and `close` never raise for what is wrong with a capture: they give back what could be translated before
    it, and `error` says what was wrong (a `ProxaiError` with its place). From then on nothing is read any more. With
    `skip` a bad event is left out instead, each with its own line in `errors`. A stream that ends before its end has
    the error `truncated`; with `repair` the target is ended properly all the same (`spec/streams.md` §9). `comment`
    says what is written for a comment line of the source; without it nothing is.

    `bytes` counts what was fed, `read` and `written` events, `source_leaves` and `target_leaves` their leaves. The
    account is `translator.account`; for each of its lines that is a change `samples` holds the first value of it, and
    `places` where the event stands that it was first met in.
    """

    def __init__(
        self,
        source: str,
        target: str,
        context: Context | None = None,
        repair: bool = False,
        skip: bool = False,
        comment: Callable[[bytes], bytes] | None = None,
    ) -> None:
        self.translator = StreamTranslator(source, target, context, repair)
        self.errors: list[ProxaiError] = []
        self.skip, self.ended = skip, False
        self.bytes = self.read = self.written = self.source_leaves = self.target_leaves = 0
        self.first: Any = None
        self.samples: dict[tuple[Any, ...], Any] = {}
        self.places: dict[tuple[Any, ...], Place] = {}
        self._comment = comment
        self._reader = sse.Reader(PROTOCOLS[source].named, comments=comment is not None)
        self._named = {"source": PROTOCOLS[source].named, "target": PROTOCOLS[target].named}
        self._noticed: list[Finding] = []
        self._told: Counter[str] = Counter()
        self._place = Place()
        self._recent: dict[int, Place] = {}  # of the last events, since leaves may be settled after their event

    @property
    def error(self) -> ProxaiError | None:
        """What ended the stream or, with `skip`, the first thing that was left out."""
        return self.errors[0] if self.errors else None

    @property
    def findings(self) -> list[Finding]:
        """What was noticed about the bytes and about the stream, of each code the first FOUND_AT_MOST."""
        return [*(Finding(*found) for found in self._reader.findings), *self._noticed]

    def feed(self, data: bytes) -> bytes:
        """What these further bytes of the source become; empty where no event is whole yet."""
        return b"".join(self.pieces(data))

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """The same, what each event becomes by itself."""
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(
                f"a Pipe is fed the bytes of a stream, not {type(data).__name__}; StreamTranslator takes events"
            )
        if not self.ended:
            self.bytes += len(data)
            yield from self._translated(self._reader.feed(data))

    def close(self) -> bytes:
        """What is still to be written at the end of the source."""
        if self.ended:
            return b""
        rest = b"".join(self._translated(self._reader.close()))
        return rest if self.ended else rest + self._end()

    def _translated(self, events: list[sse.Event]) -> Iterator[bytes]:
        for event in events:
            if self.ended:
                return
            if event.comment is not None and self._comment is not None:
                yield self._comment(event.comment)
                continue
            self._place = self._recent[self.translator.number] = event.place
            self._recent.pop(self.translator.number - RECENT, None)
            self.read += 1
            try:
                value = self._value(event)
                fed = leaves(value)
                lines = len(self.translator.account)
                name = event.name or ""
                yield self._written(self.translator.feed(value, name), name if self.translator.home else "")
                self.source_leaves += fed
                if len(self.translator.account) > lines:
                    self._sample(value)
            except ProxaiError as error:
                self.errors.append(error.at(line=event.place.line, byte=event.place.byte, event=event.place.event))
                self._leave_out()
                if not self.skip or error.code == "truncated":
                    yield self._end()
            self._note()

    def _value(self, event: sse.Event) -> Any:
        """What a decoder takes. Raises what is wrong with the event."""
        if event.fault:
            raise event.fault
        value = with_type(event) if self._named["source"] and not self.translator.home else event.value
        if value is not DONE and not isinstance(value, dict):
            raise NotThatProtocol("unrecognised", "the event is no JSON object")
        self.first = value if self.first is None else self.first
        return value

    def _sample(self, event: Any) -> None:
        """Keep value and place of what this event changes in a way that was not met before."""
        for fate, source, target, why, level, _, _ in self.translator.ledger.entries:
            key = fate, pattern(source), pattern(target), why, level
            if fate == CARRIED or key in self.places:
                continue
            number = self.translator.number - 1 if source is None else source[0].number
            if number in self._recent:
                self.places[key] = self._recent[number]
            if source is None or number != self.translator.number - 1:
                continue
            value = event
            for step in source[1:]:
                value = value[step]
            self.samples[key] = value

    def _leave_out(self) -> None:
        """Forget what a decoder said about an event before it gave up."""
        self.translator.ledger.clear()
        self.translator.number += 1

    def _end(self) -> bytes:
        """The end of the source, or of what can be read of it: what waits is written, nothing is invented."""
        self.ended = True
        try:
            rest = self._written(self.translator.close())
        except ProxaiError as error:
            rest = b""
            self.errors.append(error)
        if not self.read:
            self.errors.append(NotReadable("empty", "there is no event in it"))
        elif not self.translator.complete and not self.errors:
            self.errors.append(
                OutOfOrder(
                    "truncated",
                    f"the stream ends before its end, after event {self.read}",
                    self._place._replace(column=None),
                    "capture it again, from its first event to its last"
                    if self.translator.repair
                    else "`proxai convert --repair` ends it properly, and says what was added",
                )
            )
        self._note()
        return rest

    def _written(self, events: list[Any], name: str = "") -> bytes:
        self.written += len(events)
        self.target_leaves += sum(map(leaves, events))
        return b"".join(sse.write(event, self._named["target"], name) for event in events)

    def _note(self) -> None:
        """Take over what the translator noticed, with the place of the event; memory must not grow with the stream."""
        found = self.translator.findings
        for code, place, said in found:
            self._told[code] += 1
            if self._told[code] <= FOUND_AT_MOST:
                self._noticed.append(Finding(code, self._place if place is None else place, said))
        found.clear()


class Events(NamedTuple):
    """The parsed events of a whole stream, what was noticed about its bytes, and what ended it before its end; and
    where each of the events stands."""

    values: list[Any]
    findings: list[Finding]
    errors: list[ProxaiError]
    places: list[Place]


def events(data: bytes, protocol: str, skip: bool = False) -> Events:
    """A captured stream as parsed events, up to the first that cannot be read; with `skip` without those."""
    named = PROTOCOLS[protocol].named
    reader = sse.Reader(named)
    values, errors, places = list[Any](), list[ProxaiError](), list[Place]()
    for event in [*reader.feed(data), *reader.close()]:
        if event.fault is None:
            values.append(with_type(event) if named else event.value)
            places.append(event.place)
            continue
        errors.append(event.fault)
        if not skip:
            break
    return Events(values, [Finding(*found) for found in reader.findings], errors, places)


def with_type(event: sse.Event) -> Any:
    """An event's value; a type that stands only in the event's name is put into it, where decoders look for it."""
    value = event.value
    if isinstance(value, dict) and "type" not in value and event.name and event.type == event.name:
        return {"type": event.name, **value}
    return value


def leaves(event: Any) -> int:
    """The leaves of an event; one without keys is one, as every empty object."""
    return 0 if event is DONE else size(event)


def collect(
    stream: list[Any] | bytes, protocol: str, target: str | None = None, context: Context | None = None
) -> Translation:
    """A stream, as bytes or as parsed events, as one body of its own protocol or of another.

    Raises `NotReadable`, `OutOfOrder` or `NotThatProtocol` where the stream cannot be read to its end.
    """
    if not isinstance(stream, bytes):
        return collect_events(stream, protocol, target, context)
    found = events(stream, protocol)
    if found.errors:
        raise found.errors[0]
    done = collect_events(found.values, protocol, target, context)
    return done._replace(findings=[*found.findings, *done.findings])


def explode(
    body: Any, protocol: str, target: str | None = None, context: Context | None = None, pieces: str = "words"
) -> Translation:
    """A response body, as bytes or as a parsed value, as the events of a stream; see `written` for their bytes."""
    if not isinstance(body, bytes):
        return explode_value(body, protocol, target, context, pieces)
    value, noticed = text.read(body)
    done = explode_value(value, protocol, target, context, pieces)
    return done._replace(findings=[*(Finding(*found) for found in noticed), *done.findings])


def written(stream: list[Any], protocol: str) -> bytes:
    """The events of a stream of that protocol as they go over the wire."""
    return b"".join(sse.write(event, PROTOCOLS[protocol].named) for event in stream)
