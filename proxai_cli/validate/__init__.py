"""Is this what its protocol allows, and what clients accept? Pure: values or bytes in, findings out.

Three layers. `shape`: the JSON Schema of a body or event, and what the API is known to refuse beyond it. `order`: the
grammar of a stream. `client`: what is allowed and still breaks a widely used client (`profiles.py` says which). What a
reader notices about the text itself is of the layer `input`, and always told. What is peculiar to a protocol stands in
its folder, in `schema.json` and `checks.py`.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .. import text
from ..checks import arguments
from ..context import Context, Finding
from ..errors import NotReadable, OutOfOrder, Place, ProxaiError
from ..ir.events import DONE, Close, Delta, Done, Fail, Open, joined
from ..ledger import Ledger
from ..pipe import with_type
from ..protocols import PROTOCOLS
from ..wire.sse import Event
from .frames import Frames
from .keys import unknown_keys
from .profiles import EVERYTHING, Wanted

if TYPE_CHECKING:
    from .shape import Fault, Shape

FOUND_AT_MOST = 100


_LIKE_A_TYPE = re.compile(r"[a-z]+([._][a-z0-9]+){0,7}")


def checks_of(protocol: str) -> Any:
    """The checks of a protocol's folder."""
    return import_module(f"..protocols.{protocol}.checks", __name__)


def _shape_of(protocol: str) -> "Shape":
    """The schemas of a protocol; loaded only where something is held to them."""
    from .shape import shape_of

    return shape_of(protocol)


def validate(
    value: Any, protocol: str, kind: str, wanted: Wanted = EVERYTHING, elsewhere: Collection[str] = ()
) -> list[Finding]:
    """What is wrong with a body (`request`, `response` or `error`); the place of a finding is its path.

    Keys that stand `elsewhere`, as in the URL, may be missing at the top.
    """
    checks = checks_of(protocol)
    refused = list(getattr(checks, kind)(value)) if isinstance(value, dict) and kind in ("request", "response") else []
    refused = [found for found in refused if wanted.has(found.code)]
    if "shape" not in wanted.layers:
        return refused
    refused += unknown_keys(value, protocol) if kind == "request" else []
    # A schema that is a reference lacks its type, and that is one fault.
    explained = [found.place for found in refused if found.code == "root-ref"]
    faults = [
        fault
        for fault in _faults(protocol, kind, value)
        if not any(fault.path[: len(path)] == path for path in explained)
        and not (fault.keyword == "required" and len(fault.path) == 1 and fault.path[0] in elsewhere)
    ]
    return [*(Finding(_code(fault, checks), fault.path, fault.said) for fault in faults), *refused]


def _faults(protocol: str, kind: str, value: Any) -> list["Fault"]:
    """The faults of the shape, but for what is missing because it was invented later."""
    later = checks_of(protocol).LATER
    return [
        fault
        for fault in _shape_of(protocol).faults(kind, value)
        if not (fault.keyword == "required" and any(fault.path[-len(end) :] == end for end in later))
    ]


def _code(fault: "Fault", checks: Any) -> str:
    return "unknown-stop" if fault.keyword == "enum" and fault.path[-1] in checks.STOPS else "invalid-shape"


class StreamValidator:
    """A stream's bytes in, in any cut; findings out, which have the place of their event.

    `findings` holds of each code the first FOUND_AT_MOST, so that memory does not grow with the stream, and how many
    there are besides. `errors` are what could not be read: an event, or the end that is missing. A stream is read to
    its end whatever is found. `first` is the first event; `bytes` and `events` count what was read.
    """

    def __init__(self, protocol: str, wanted: Wanted = EVERYTHING) -> None:
        self.protocol, self.wanted, self.checks = protocol, wanted, checks_of(protocol)
        self.findings: list[Finding] = []
        self.errors: list[ProxaiError] = []
        self.first: Any = None
        self.bytes = self.events = 0
        self._counted: Counter[str] = Counter()
        self._frames = Frames()
        self._named = PROTOCOLS[protocol].named
        self._ledger, self._context = Ledger(), Context(choices={"choice": "all"}).fresh()
        self._decoder = PROTOCOLS[protocol].Decoder(self._ledger, self._context)
        self._grammar = self.checks.Grammar()
        self._complete = self._failed = False
        self._calls: dict[int, list[str]] = {}
        self._place = Place()

    def feed(self, data: bytes) -> None:
        self.bytes += len(data)
        self._take(self._frames.feed(data))

    def take(self, values: Iterable[Any]) -> None:
        """The same of events that are parsed already; how they stood in their stream is not known."""
        for value in values:
            name = value.get("type") if isinstance(value, dict) else None
            self._read(Event(value, name, Place(event=self.events + 1)))

    def close(self) -> None:
        """The end of the capture: what it lacks."""
        self._take(self._frames.close())
        self._say(self._decoded(None), self._place._replace(column=None))
        if not self.events:
            self._fail(NotReadable("empty", "there is no event in it"))
        elif not self._complete and not any(error.code == "truncated" for error in self.errors):
            said = f"the stream ends before its end, after event {self.events}"
            self._fail(OutOfOrder("truncated", said, self._place, "capture it again, from its first event to its last"))
        elif self._complete and not self._failed and not self._grammar.usage:
            self._note(Finding("usage-missing"))
        for code, count in self._counted.items():
            if count > FOUND_AT_MOST:
                self.findings.append(Finding(code, None, f"{count - FOUND_AT_MOST} more of these are not listed"))

    def _read(self, event: Event) -> None:
        """One event, in all layers."""
        self._place, self.events = event.place, self.events + 1
        if event.fault:
            self._fail(event.fault)
            return
        value = with_type(event) if self._named else event.value
        self.first = value if self.first is None else self.first
        if value is not DONE and not isinstance(value, dict):
            self._note(Finding("invalid-shape", self._at(()), f"expected an object, found {self._told(value)}"))
            return
        found = [*self._decoded(value), *self._grammar.feed(value)]
        if isinstance(value, dict):
            found += [*(_names(event) if self._named else ()), *self._shape(value, {each.code for each in found})]
        self._say(found, event.place)

    def _shape(self, event: dict[str, Any], codes: set[str]) -> Iterator[Finding]:
        """The faults of an event's shape; a type that nobody knows is told as that."""
        kind = self.checks.event_kind(event)
        if kind is None or "shape" not in self.wanted.layers or "unknown-event" in codes:
            return
        for fault in _faults(self.protocol, kind, event):
            yield Finding(_code(fault, self.checks), fault.path, fault.said)

    def _decoded(self, value: Any) -> list[Finding]:
        """What the decoder says of an event, or (None) of the end."""
        found: list[Finding] = []
        try:
            for said in self._decoder.close() if value is None else self._decoder.feed(value):
                self._failed = self._failed or isinstance(said, Fail)
                self._complete = self._complete or isinstance(said, (Done, Fail))
                found += self._arguments(said)
        except OutOfOrder as error:
            found.append(Finding(error.code, None, error.message))
        found += [_spelled(each, value, _shape_of(self.protocol).words) for each in self._context.findings]
        self._context.findings.clear()
        self._ledger.clear()
        return found

    def _arguments(self, said: Any) -> Iterator[Finding]:
        """What is wrong with the arguments of a call that is whole now."""
        match said:
            case Open(number, node) if node.kind == "tool_call":
                self._calls[number] = []
            case Delta(number, leaf, _) if number in self._calls:
                self._calls[number].append(str(leaf.value))
            case Close(number) if number in self._calls:
                for found in arguments(joined(self._calls.pop(number))):
                    yield found._replace(place=None)

    def _told(self, value: Any) -> str:
        return _shape_of(self.protocol).told(value)

    def _take(self, events: list[Event]) -> None:
        """Events, and what the reader noticed, in the order in which they stand."""
        noticed, self._frames.findings = self._frames.findings, []
        noticed.reverse()
        for event in events:
            while noticed and (noticed[-1][1].byte or 0) < (event.place.byte or 0):
                self._note(Finding(*noticed.pop()))
            self._read(event)
        for found in reversed(noticed):
            self._note(Finding(*found))

    def _say(self, found: Iterable[Finding], place: Place) -> None:
        for each in found:
            self._note(each._replace(place=place if each.place is None else self._at(each.place)))

    def _at(self, path: Any) -> Place:
        return path if isinstance(path, Place) else self._place._replace(column=None, pointer=text.pointer(path))

    def _fail(self, error: ProxaiError) -> None:
        self.errors.append(error.at(line=self._place.line, byte=self._place.byte, event=self._place.event))
        self._note(Finding(error.code, error.place, error.message))

    def _note(self, found: Finding) -> None:
        if not self.wanted.has(found.code):
            return
        self._counted[found.code] += 1
        if self._counted[found.code] <= FOUND_AT_MOST:
            self.findings.append(found)


def _spelled(found: Finding, event: Any, words: frozenset[str]) -> Finding:
    """An unknown type is named if it is a word as types are."""
    kind = event.get("type") if isinstance(event, dict) else None
    if found.code != "unknown-event" or not isinstance(kind, str) or not _LIKE_A_TYPE.fullmatch(kind):
        return found
    if kind in words:
        return found._replace(said=f"{kind} holds a type that is not part of the protocol; strict clients stop here")
    return found._replace(said=f"{kind} is not part of the protocol; strict clients stop here")


def _names(event: Event) -> Iterator[Finding]:
    """An event's name must be the type in its data."""
    said = event.value.get("type")
    if "type" not in event.value and event.name:
        yield Finding("event-name", None, "the data has no `type`; clients that go by it miss this event")
    elif event.name is None and said is not None:
        yield Finding("event-name", None, "the event has no name; clients that go by it miss this event")
    elif said != event.name:
        yield Finding("event-name", None, "the name is not the type in the data; clients go by one or the other")
