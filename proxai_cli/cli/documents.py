"""From an input to documents that are recognised: protocol, kind, how sure, and what they hold."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

from .. import text
from ..context import Context, Finding
from ..errors import NotReadable, NotThatProtocol, ProxaiError
from ..wire import sse
from ..wire.capture import captures
from ..wire.detect import AMBIGUOUS, CERTAIN, LIKELY, Detection, detect_events, detect_value
from ..wire.http import Head
from .choices import chosen
from .inputs import read
from .options import Call
from .parts import CALLS, Part, parsed

TOLD = "told"
EXCHANGE = "exchange"


class Document(NamedTuple):
    """A part that is recognised: `value` is a parsed body, None for a stream, whose bytes are `part.pieces`.

    In the container `exchange` the value is a whole exchange, and the kind that of its answer. `endpoint` is the call
    of what belongs to none that creates a reply. `model` is what the bodies of an exchange name.
    """

    part: Part
    protocol: str
    kind: str
    sure: str
    evidence: tuple[str, ...]
    value: Any = None
    findings: tuple[Finding, ...] = ()
    endpoint: str | None = None
    model: str | None = None

    @property
    def is_exchange(self) -> bool:
        return self.part.container == EXCHANGE

    @property
    def is_reply_or_request(self) -> bool:
        """Is it a body (or stream) by itself, of a call that creates a reply?"""
        return not self.is_exchange and self.endpoint is None


class Told(NamedTuple):
    """What a call says about its inputs: protocol and kind (None: find out), and the context of translations."""

    protocol: str | None
    kind: str | None
    context: Context

    def recognised(self, part: Part) -> Document:
        """Find out what a part is, or check what was told of it.

        Raises `NotReadable`, and `NotThatProtocol`: `unrecognised`, `ambiguous`, `wrong-protocol`, `old-version`.
        """
        return _recognised(part, self)


def told_by(call: Call) -> Told:
    """Raises `bad-call` for an unknown choice, and what reading the request raises."""
    context = Context(choices=chosen(call.set))
    if call.request:
        try:
            request, protocol = _request(call.request)
        except ProxaiError as error:
            raise NotReadable(error.code, f"the request {call.request!r}: {error.message}", error.place) from None
        context = context._replace(request=request, request_protocol=protocol)
    protocol, kind = call.values["from"], call.kind
    return Told(None if protocol == "auto" else protocol, None if kind == "auto" else kind, context)


def _request(path: str) -> tuple[Any, str | None]:
    """A paired request, also one in an exchange or behind its head, and its protocol."""
    capture = next(captures(read(path)))
    value = text.read(capture.body)[0]
    if _may_be_exchange(value):
        from ..exchange import is_exchange, opened

        if is_exchange(value):
            whole = opened(value, "chat")[0]
            value = whole.get("request", whole).get("body")
    return value, _by_head(detect_value(value, path), capture.head).protocol


def _recognised(part: Part, told: Told) -> Document:
    if part.fault:
        raise part.fault
    if told.kind and (told.kind == "stream") != (part.pieces is not None):
        raise NotThatProtocol(
            "wrong-kind", f"--kind says {told.kind}, but this is {'a body' if part.body else 'a stream'}"
        )
    if part.pieces is not None:
        seen: list[bytes] = []
        # What is told needs only to be checked: the first event is enough, and the stream goes on at once.
        detection = detect_events(islice(_events(part.pieces, seen), 1 if told.protocol else None))
        part = part._replace(pieces=chain(seen, part.pieces))
        return _with_head(Document(part, *_settled(_by_head(detection, part.head), told, "stream")))
    value, noticed = parsed(part)
    if part.slot and part.slot.notes:
        noticed = (*noticed, Finding("not-wire-traffic"))
    if not told.kind and not part.slot and part.container not in CALLS and _may_be_exchange(value):
        from ..exchange import is_exchange, known

        if is_exchange(value):
            part = part._replace(container=EXCHANGE)
            found = known(value, part.input.name)
            return Document(part, *_settled(found.detection, told), value, noticed, found.endpoint, found.model)
    found_body = detect_value(value, part.input.name)
    endpoint = None if told.kind and told.protocol else _endpoint(value, found_body, part.head)
    if endpoint is not None:
        name, detection = endpoint
        return _with_head(Document(part, *_settled(detection, told), value, noticed, name))
    found_body = _by_rival(_by_head(found_body, part.head), part)
    return _with_head(Document(part, *_settled(found_body, told), value, noticed))


def _by_rival(found: Detection, part: Part) -> Detection:
    """What is known with what the body beside it says, where that leaves nothing open."""
    rival = part.slot.rival if part.slot else None
    if found.sure != AMBIGUOUS or rival not in found.candidates:
        return found
    return found._replace(protocol=rival, sure=LIKELY, evidence=(f"its answer is of {rival}",))


def asked(document: Document) -> tuple[Any, str | None]:
    """The request beside a document, and its protocol; nothing where there is none, or none that can be read."""
    part = document.part.asked
    if part is None or document.kind == "request" or document.is_exchange:
        return None, None
    try:
        value = text.read(part.body)[0]
    except NotReadable:
        return None, None
    found = _by_head(detect_value(value), part.head)
    if not isinstance(value, dict) or found.kind != "request":
        return None, None
    return value, found.protocol or (document.protocol if document.protocol in found.candidates else None)


def _may_be_exchange(value: Any) -> bool:
    """A look that costs nothing; the exchanges' own room is loaded only for what passes it."""
    if not isinstance(value, dict):
        return False
    halves = [value, value.get("request"), value.get("response")]
    return any(isinstance(half, dict) and ("url" in half or type(half.get("status")) is int) for half in halves)


def _by_head(found: Detection, head: Head | None) -> Detection:
    """What is known with what URL and headers say besides."""
    if head is None:
        return found
    from ..exchange.evidence import evidence
    from ..exchange.known import settled

    return settled(found, evidence(head.url, head.headers))


def _with_head(document: Document) -> Document:
    """A document with the finding that its head speaks of another protocol."""
    head = document.part.head
    if head is None:
        return document
    from ..exchange.evidence import evidence

    if document.protocol in evidence(head.url, head.headers).protocols:
        return document
    return document._replace(findings=(*document.findings, Finding("address-says-otherwise")))


def _endpoint(value: Any, found: Detection, head: Head | None) -> tuple[str, Detection] | None:
    """The call of a body that no protocol knows as the request or reply of its own, or whose URL is of another call."""
    if found.fault == "old-version" or (found.sure is not None and (head is None or not head.url)):
        return None
    from ..endpoints import ENDPOINTS, address, known_by_body
    from ..endpoints.failures import is_error
    from ..endpoints.whose import spoken
    from ..exchange.evidence import evidence
    from ..exchange.known import of_endpoint

    known = known_by_body(value) if found.sure is None else None
    side = "response" if head and head.status is not None else "request"
    name, kind = (known[0].name, known[1]) if known else (address(head.url or "").call if head else "", side)
    if name not in ENDPOINTS or is_error(value):
        return None
    told = evidence(head.url, head.headers) if head else None
    return name, of_endpoint(name, kind, [spoken(name, value)], told)


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
                + "".join(found.evidence[:1]).partition(" or ")[0],
                hint=f"--from {found.candidates[0]}",
            )
        if not kind:
            raise NotThatProtocol(
                "unrecognised",
                f"this is no document of {told.protocol} that is known",
                hint="--kind request, response, stream or error, if it is one",
            )
        return told.protocol, kind, TOLD, found.evidence
    if found.sure == AMBIGUOUS:
        fits = " and ".join(found.candidates)
        raise NotThatProtocol(
            "ambiguous",
            f"fits {fits}\nBoth allow: {'; '.join(found.evidence[:4])}. Nothing in it belongs to one of them only.",
            hint="   or   ".join(f"--from {name}" for name in found.candidates),
        )
    if found.fault == "old-version":
        raise NotThatProtocol(
            found.fault,
            f"an old form, which is not read: {'; '.join(found.evidence)}",
            hint="capture the call of today",
        )
    if found.protocol is None or not kind:
        raise NotThatProtocol(
            "unrecognised", f"no known protocol: {'; '.join(found.evidence)}", hint="--from P, if you know it"
        )
    return found.protocol, kind, found.sure or CERTAIN, found.evidence


def no_stream(document: Document) -> ProxaiError:
    """What to say where a stream is needed and something else came."""
    what = _whole(document) or f"a {document.protocol} {document.kind}, no stream"
    is_reply = document.is_reply_or_request and document.kind == "response"
    return NotThatProtocol("wrong-kind", f"this is {what}", hint=_instead(document, is_reply))


def _instead(document: Document, is_reply: bool) -> str:
    if document.part.record is not None:
        return "--pick NUMBER, as `proxai inspect` lists them"
    return "proxai explode" if is_reply else "proxai convert"


def no_reply(document: Document) -> ProxaiError:
    """What to say where the body of a reply is needed and something else came."""
    if document.part.pieces is not None:
        return NotThatProtocol("wrong-kind", f"this is a {document.protocol} stream already", hint="proxai stream")
    return NotThatProtocol("wrong-kind", f"this is {_whole(document)}", hint="proxai convert")


def _whole(document: Document) -> str:
    if document.is_exchange:
        return "a whole exchange, which goes through as one"
    if document.endpoint:
        return f"the {document.kind} of a call that creates no reply ({document.endpoint})"
    return ""
