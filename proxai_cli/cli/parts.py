"""From an input to its parts: what may be a document, as its container holds it, with what belongs to it."""

import os
import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any, NamedTuple

from .. import text
from ..context import Finding
from ..errors import NotPossible, NotReadable, Place, ProxaiError
from ..wire import sse
from ..wire.calls import OF_ASKED, OF_RECORDS, OF_SESSIONS, Capture
from ..wire.capture import captures, holds_calls
from ..wire.http import Head, read_head
from ..wire.packing import MAX_SIZE, begun, unpacked
from .inputs import Input, pieces, read
from .options import Call, pointer_of

LONGEST_HEAD = 1 << 16

# Containers of whole calls: of each the request has an even number, and the answer the odd one behind it.
CALLS = ("har", "cassette", "http", "curl", "gateway log")
# Containers of JSON values, which may be records around bodies.
VALUES = ("json", "jsonl", "array")


class Reading(NamedTuple):
    """How inputs are taken apart: where in a record bodies are, which documents are wanted, how much an input may hold,
    and whether bodies are wanted without what stands around them."""

    at: tuple[str, ...] = ()
    picks: "Callable[[Part], bool] | None" = None
    max_size: int = MAX_SIZE
    bare: bool = False


AS_IT_IS = Reading()


class Envelope:
    """A record around bodies, while they are translated. State: the record, and how many of its bodies are in it."""

    def __init__(self, record: Any, count: int) -> None:
        self.record, self.count, self.done = record, count, 0

    def put(self, slot: Any, body: Any, named: bool) -> bool:
        """Put a translated body in the place of its own; is the record whole now?"""
        from ..wire.records import put

        self.record = put(self.record, slot, body, named)
        self.done += 1
        return self.done == self.count


class Part(NamedTuple):
    """What may be a document of an input: a body's bytes, or a stream's as they arrive; where it begins, and the head
    of its HTTP message.

    `record`, `label`, `inside`, `asked` (the request, with `body` and `head`) and `foreign` are those of its capture;
    `fault` is why it cannot be read. `value` is the parsed body with what was noticed, where it is known already.
    `slot` is its place in the record `envelope`.
    """

    input: Input
    container: str
    body: bytes = b""
    pieces: Iterator[bytes] | None = None
    record: int | None = None
    place: Place = Place()
    head: Head | None = None
    label: str = ""
    inside: str = ""
    asked: Any = None
    foreign: str = ""
    fault: ProxaiError | None = None
    value: tuple[Any, tuple[Finding, ...]] | None = None
    slot: Any = None
    envelope: Envelope | None = None

    @property
    def entry(self) -> int | None:
        """The number of the call, or of the record, that it is part of."""
        return self.record // 2 if self.record is not None and self.container in CALLS else self.record


def reading(call: Call) -> Reading:
    """What a call says about it. Raises `bad-call`."""
    given = call.values
    pick, size = given.get("pick"), given.get("max_size")
    return Reading(
        tuple(pointer_of(said, "at") for said in given.get("at") or ()),
        _picks(pick) if pick else None,
        _size(size) if size else MAX_SIZE,
        given.get("envelope") == "bare",
    )


def _picks(said: str) -> "Callable[[Part], bool]":
    """Whether a part is wanted, by its number or its URL."""
    found = re.fullmatch(r"(\d{1,18})(?:-(\d{1,18}))?", said, re.ASCII)
    if found is None:
        if "/" not in said and "*" not in said:
            raise ProxaiError("bad-call", f"--pick does not know {said!r}", hint="--pick 7, 3-9 or '*/v1/messages*'")
        return lambda part: any(fnmatchcase(url, said) for url in _urls(part))
    first, last = int(found[1]), int(found[2] or found[1])
    # The only document of an input is its first, however one counts.
    return lambda part: first <= part.record <= last if part.record is not None else first <= 1


def _urls(part: Part) -> list[str]:
    """The URLs that are captured with a part: in its head, or in the record that it is."""
    found: list[Any] = [part.head.url] if part.head else []
    if part.container in VALUES and b'"url"' in part.body:
        try:
            value = parsed(part)[0]
        except NotReadable:
            value = None
        homes = [value, *(value.get(key) for key in OF_ASKED)] if isinstance(value, dict) else []
        found += [home.get("url") for home in homes if isinstance(home, dict)]
    return [url for url in found if isinstance(url, str)]


_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}


def _size(said: str) -> int:
    found = re.fullmatch(r"(\d{1,15}) ?([A-Za-z]*)", said, re.ASCII)
    if found is None or found[2].upper() not in _UNITS:
        raise ProxaiError("bad-call", f"--max-size takes a number of bytes, not {said!r}", hint="--max-size 2GiB")
    return int(found[1]) * _UNITS[found[2].upper()]


def parts(input: Input, how: Reading = AS_IT_IS) -> Iterator[Part]:
    """What is in an input, with the bodies of records taken out of them.

    Raises `NotReadable`.
    """
    for part in records(input, how):
        yield from opened(part, how)


def records(input: Input, how: Reading = AS_IT_IS) -> Iterator[Part]:
    """What is in an input, records as they are. A plain stream is not read further than it takes to know it for one.

    Raises `NotReadable`.
    """
    arriving = unpacked(pieces(input), how.max_size)
    beginning = b""
    for piece in arriving:
        beginning += piece
        if sse.looks_like_a_stream(beginning):
            stream = chain([beginning], arriving)
            found = Part(input, "sse", pieces=stream, head=read_head(beginning), asked=_asked(input, how))
            yield from _picked(iter([found]), how)
            return
        if beginning.lstrip()[:1] in (b"{", b"[") or len(beginning) > LONGEST_HEAD:
            break
    found_parts = (
        _part(input, each, how) for each in captures(chain([beginning], arriving), how.max_size, bool(how.at))
    )
    yield from _picked(_without_doubles(found_parts), how)


def entries(data: bytes, input: Input, how: Reading) -> set[int]:
    """The numbers of the wanted entries of an input, which holds these bytes; none where it is one document.

    Raises `NotReadable`.
    """
    found = (_part(input, each, how) for each in captures(data, how.max_size, bool(how.at)))
    return {part.entry for part in _picked(found, how) if part.entry is not None}


def _part(input: Input, capture: Capture, how: Reading) -> Part:
    part = Part(
        input,
        capture.container,
        record=capture.record,
        place=capture.place,
        head=capture.head,
        label=capture.label,
        inside=capture.inside,
        asked=capture.asked or (_asked(input, how) if capture.record is None else None),
        foreign=capture.foreign,
        fault=capture.error,
    )
    if part.foreign in ("html", "other") and creates_reply(part.head):
        what = "a page" if part.foreign == "html" else "plain text"
        fault = NotReadable("bad-json", f"neither JSON nor an event stream, but {what}", hint="capture the call again")
        return part._replace(foreign="", fault=fault)
    if part.foreign == "empty" and part.asked is not None and _would_reply(part.head):
        fault = NotReadable("empty", "what came back was not kept", hint="export the calls with their content")
        return part._replace(foreign="", fault=fault)
    if sse.looks_like_a_stream(capture.body):
        return part._replace(pieces=iter([capture.body]))
    return part._replace(body=capture.body)


def _would_reply(head: Head | None) -> bool:
    """Is this the answer to a call that creates a reply, and no word of the transport (a redirect)?"""
    return creates_reply(head) and (head is None or head.status is None or head.status < 300)


def creates_reply(head: Head | None) -> bool:
    """Does the URL say that this is a call which creates a reply?"""
    if head is None or not head.url:
        return False
    from ..endpoints.address import CREATE, address

    return address(head.url).call == CREATE


def _asked(input: Input, how: Reading) -> Capture | None:
    """The request in the file beside the input, where that is one of the inputs too."""
    return next(captures(read(input.asked), how.max_size), None) if input.asked else None


def _without_doubles(found: Iterator[Part]) -> Iterator[Part]:
    """The parts of an input; of a batch a line whose id was used before cannot be read."""
    seen = set[str]()
    for part in found:
        if part.container not in ("jsonl", "array") or b'"custom_id"' not in part.body:
            yield part
            continue
        try:
            value = _read(part)
        except NotReadable:
            yield part
            continue
        name = _batch_id(value[0])
        yield part._replace(value=value, fault=_twice() if name in seen else None)
        if name is not None:
            seen.add(name)


def _twice() -> ProxaiError:
    return NotPossible(
        "dup-custom-id",
        "two requests of the batch have the same `custom_id`, so their results could not be told apart",
        Place(pointer="/custom_id"),
        "give each request an id of its own",
    )


def _batch_id(value: Any) -> str | None:
    """The id of a request of a batch; results are not told apart by who reads them."""
    if not isinstance(value, dict) or {"result", "response", "error"} & set(value):
        return None
    name = value.get("custom_id")
    return name if isinstance(name, str) else None


def _picked(found: Iterator[Part], how: Reading) -> Iterator[Part]:
    """Those that are wanted. Raises `empty` where there is none."""
    count = 0
    for part in found:
        if how.picks is None or how.picks(part):
            count += 1
            yield part
    if not count:
        what, hint = ("that --pick names", "proxai inspect FILE") if how.picks else ("in it", "capture the call again")
        raise NotReadable("empty", f"there is nothing {what}", hint=hint)


def holds_streams_and_more(inputs: list[Input], how: Reading) -> bool:
    """Whether several documents would come out, and streams among them; as far as files can be looked at beforehand."""
    for input in (each._replace(read=None) for each in inputs if os.path.isfile(each.path)):
        try:
            beginning = begun(unpacked(pieces(input), how.max_size), LONGEST_HEAD)[0]
            if sse.looks_like_a_stream(beginning):
                found = [True]
            elif holds_calls(beginning):
                found = [part.pieces is not None for part in records(input, how) if not part.foreign]
            else:
                continue
        except ProxaiError:
            continue
        if any(found) and len(found) + len(inputs) > 2:
            return True
    return False


def opened(part: Part, how: Reading = AS_IT_IS) -> Iterator[Part]:
    """A part, or the bodies in it, if it is a record around bodies that are known."""
    if part.pieces is not None or part.fault or part.foreign or part.container not in VALUES:
        yield part
        return
    try:
        part = part._replace(value=part.value or _read(part))
    except NotReadable:
        # It is told when somebody wants to know what the part is.
        yield part
        return
    value = part.value[0] if part.value else None
    if not how.at and not _looks_like_record(value):
        yield part
        return
    from ..wire.records import NOTE, is_note, may_be_record, slots

    found = []
    if how.at or may_be_record(value, how.bare):
        try:
            found = slots(value, how.at)
        except NotReadable as fault:
            yield part._replace(fault=fault)
            return
    if not found:
        yield part._replace(foreign=NOTE) if isinstance(value, dict) and is_note(value) else part
        return
    envelope, asked = None if how.bare else Envelope(value, len(found)), part.asked
    for slot in found:
        inner = part._replace(
            head=slot.head or part.head,
            inside=text.pointer(slot.path),
            asked=asked,
            value=None,
            slot=slot,
            envelope=envelope,
        )
        inner = inner._replace(body=b"", pieces=iter([slot.body])) if slot.is_stream else inner._replace(body=slot.body)
        asked = asked or (None if slot.is_stream else inner)
        yield inner


def _looks_like_record(value: Any) -> bool:
    if isinstance(value, dict):
        known = not OF_RECORDS.isdisjoint(value) or not OF_SESSIONS.isdisjoint(value)
        return known or "payload" in value or ("input" in value and "output" in value)
    return isinstance(value, list)


def parsed(part: Part) -> tuple[Any, tuple[Finding, ...]]:
    """The value of a body, and what was noticed about its text. Raises `NotReadable`."""
    return part.value or _read(part)


def _read(part: Part) -> tuple[Any, tuple[Finding, ...]]:
    try:
        value, findings = text.read(part.body)
    except NotReadable as fault:
        if not part.inside:
            fault.place = moved(fault.place, part.place)
        raise
    if part.inside:
        return value, tuple(Finding(code, part.inside + (place.pointer or "")) for code, place in findings)
    return value, tuple(Finding(code, moved(place, part.place)) for code, place in findings)


def located(error: ProxaiError, part: Part) -> ProxaiError:
    """An error with its place in a part as a place in the input: the line of the record, and the pointer inside."""
    error.place = in_part(error.place, part)
    return error.at(line=part.place.line) if part.record is not None else error


def in_part(place: Place, part: Part) -> Place:
    """A place that a part's reader tells, as a place in the input."""
    if part.inside:
        pointer = place.pointer or ""
        pointer = pointer if pointer.startswith(part.inside) else part.inside + pointer
        return Place(line=part.place.line, event=place.event, pointer=pointer)
    return moved(place, part.place) if part.pieces is not None else place


def moved(place: Place, start: Place) -> Place:
    """A place inside a part as a place in its input."""
    line, byte = (start.line or 1) - 1, start.byte or 0
    changed: dict[str, Any] = {}
    if place.line is not None:
        changed["line"] = place.line + line
    if place.byte is not None:
        changed["byte"] = place.byte + byte
    return place._replace(**changed)
