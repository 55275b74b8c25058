"""From an input to documents that are recognised: protocol, kind, how sure, and what they hold."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

from .. import text
from ..context import Context, Finding
from ..errors import NotReadable, NotThatProtocol, Place, ProxaiError
from ..wire import sse
from ..wire.capture import captures
from ..wire.detect import AMBIGUOUS, CERTAIN, Detection, detect_events, detect_value
from .choices import chosen
from .inputs import Input, pieces, read
from .options import Call

TOLD = "told"
LONGEST_HEAD = 1 << 16


class Part(NamedTuple):
    """What may be a document of an input: a body's bytes, or a stream's as they arrive; and where it begins."""

    input: Input
    container: str
    body: bytes = b""
    pieces: Iterator[bytes] | None = None
    record: int | None = None
    place: Place = Place()


class Document(NamedTuple):
    """A part that is recognised: `value` is a parsed body, None for a stream, whose bytes are `part.pieces`."""

    part: Part
    protocol: str
    kind: str
    sure: str
    evidence: tuple[str, ...]
    value: Any = None
    findings: tuple[Finding, ...] = ()


class Told(NamedTuple):
    """What a call says about its inputs: protocol and kind (None: find out), and the context of translations."""

    protocol: str | None
    kind: str | None
    context: Context


def told_by(call: Call) -> Told:
    """Raises `bad-call` for an unknown choice, and what reading the request raises."""
    context = Context(choices=chosen(call.set))
    if call.request:
        try:
            request = text.read(next(captures(read(call.request))).body)[0]
        except ProxaiError as error:
            raise NotReadable(error.code, f"the request {call.request!r}: {error.message}", error.place) from None
        found = detect_value(request, call.request)
        context = context._replace(request=request, request_protocol=found.protocol)
    protocol, kind = call.values["from"], call.kind
    return Told(None if protocol == "auto" else protocol, None if kind == "auto" else kind, context)


def parts(input: Input) -> Iterator[Part]:
    """What is in an input. A plain stream is not read further than it takes to know it for one.

    Raises `NotReadable`.
    """
    arriving = pieces(input.path)
    beginning = b""
    for piece in arriving:
        beginning += piece
        if sse.looks_like_a_stream(beginning):
            yield Part(input, "sse", pieces=chain([beginning], arriving))
            return
        if beginning.lstrip()[:1] in (b"{", b"[") or len(beginning) > LONGEST_HEAD:
            break
    for capture in captures(beginning + b"".join(arriving)):
        if sse.looks_like_a_stream(capture.body):
            yield Part(input, capture.container, pieces=iter([capture.body]), place=capture.place)
        else:
            yield Part(input, capture.container, capture.body, record=capture.record, place=capture.place)


def recognised(part: Part, told: Told) -> Document:
    """Find out what a part is, or check what was told of it.

    Raises `NotReadable`, and `NotThatProtocol`: `unrecognised`, `ambiguous`, `wrong-protocol`.
    """
    if told.kind and (told.kind == "stream") != (part.pieces is not None):
        raise NotThatProtocol(
            "unrecognised", f"--kind says {told.kind}, but this is {'a body' if part.body else 'a stream'}"
        )
    if part.pieces is not None:
        seen: list[bytes] = []
        # What is told needs only to be checked: the first event is enough, and the stream goes on at once.
        detection = detect_events(islice(_events(part.pieces, seen), 1 if told.protocol else None))
        part = part._replace(pieces=chain(seen, part.pieces))
        return Document(part, *_settled(detection, told, "stream"))
    try:
        value, findings = text.read(part.body)
    except NotReadable as fault:
        fault.place = _moved(fault.place, part.place)
        raise
    detection = detect_value(value, part.input.name)
    noticed = tuple(Finding(code, _moved(place, part.place)) for code, place in findings)
    return Document(part, *_settled(detection, told), value, noticed)


def _events(arriving: Iterable[bytes], seen: list[bytes]) -> Iterator[sse.Event]:
    reader = sse.Reader()
    for piece in arriving:
        seen.append(piece)
        yield from reader.feed(piece)
    yield from reader.close()


def _settled(found: Detection, told: Told, kind: str = "") -> tuple[str, str, str, tuple[str, ...]]:
    """Protocol, kind, how sure, evidence."""
    kind = told.kind or kind or found.kind or ""
    if told.protocol:
        if found.sure and told.protocol not in found.candidates:
            raise NotThatProtocol(
                "wrong-protocol",
                f"--from says {told.protocol}, the body says {found.protocol or ' or '.join(found.candidates)}: "
                + "; ".join(found.evidence[:3]),
                hint=f"--from {found.candidates[0]}",
            )
        if not kind:
            raise NotThatProtocol(
                "unrecognised", f"this is no document of {told.protocol} that is known", hint="--kind request"
            )
        return told.protocol, kind, TOLD, found.evidence
    if found.sure == AMBIGUOUS:
        fits = " and ".join(found.candidates)
        raise NotThatProtocol(
            "ambiguous",
            f"fits {fits}\nBoth allow: {'; '.join(found.evidence[:4])}. Nothing in it belongs to one of them only.",
            hint="   or   ".join(f"--from {name}" for name in found.candidates),
        )
    if found.protocol is None or not kind:
        raise NotThatProtocol(
            "unrecognised", f"no known protocol: {'; '.join(found.evidence)}", hint="--from P, if you know it"
        )
    return found.protocol, kind, found.sure or CERTAIN, found.evidence


def _moved(place: Place, start: Place) -> Place:
    """A place inside a part as a place in its input."""
    line, byte = (start.line or 1) - 1, start.byte or 0
    moved: dict[str, Any] = {}
    if place.line is not None:
        moved["line"] = place.line + line
    if place.byte is not None:
        moved["byte"] = place.byte + byte
    return place._replace(**moved)


def no_stream(document: Document) -> ProxaiError:
    """What to say where a stream is needed and a body came."""
    return NotThatProtocol(
        "unrecognised",
        f"this is a {document.protocol} {document.kind}, no stream",
        hint="proxai explode" if document.kind == "response" else "proxai convert",
    )
