"""Calls as containers keep them: a request and its answer, each with its head and its body, as captures that belong
together."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from .. import text
from ..errors import NotReadable, Place
from . import sse
from .http import Head, headers_of
from .packing import MAX_SIZE, inflated, undone

# What stands at the top of records around bodies, and not of the documents themselves.
OF_ASKED = ("request", "request_body", "requestBody", "RequestBody", "raw_request", "proxy_server_request", "req")
OF_ANSWERED = ("response", "response_body", "responseBody", "ResponseBody", "raw_response", "res", "events")
OF_RECORDS = frozenset((*OF_ASKED, *OF_ANSWERED, "attributes", "resourceLogs", "resource_logs", "body", "custom_id"))
OF_SESSIONS = frozenset(("uuid", "sessionId", "leafUuid", "parentUuid"))

Fault = tuple[str, str, Place, str]


class Capture(NamedTuple):
    """One document, or what might be one, in plain values.

    `container` is what it stands in (`json`, `sse`, `http`, `jsonl`, `har`, ...), `record` its number there, or None
    for the only one: lines count from 1; of calls the request has an even number and the answer the odd one that
    follows, from 0. `body` are its bytes. They begin at `place`; where they do not stand in the file as they are,
    `inside` is the pointer of the value that holds them, and `place` that of the record around it.

    `head` is that of its HTTP message; an answer's names the URL that was asked. `asked` is the request that it
    answers, `label` a word that tells it from others, `foreign` what it is if it is none of our documents (an image).
    `fault` is why it cannot be read, as the words of `NotReadable`.
    """

    container: str
    record: int | None
    body: bytes
    place: Place
    head: Head | None = None
    label: str = ""
    inside: str = ""
    asked: Any = None
    foreign: str = ""
    fault: Fault | None = None

    @property
    def error(self) -> NotReadable | None:
        return NotReadable(*self.fault) if self.fault else None


class Message(NamedTuple):
    """One half of a call: its head, and its body with the pointer of the value that holds it, or where it begins if
    it stands in the file as it is."""

    head: Head
    body: bytes
    inside: str = ""
    fault: Fault | None = None
    place: Place | None = None


def head_of(
    method: Any = None, url: Any = None, status: Any = None, headers: Iterable[tuple[str, str]] | Mapping[str, Any] = ()
) -> Head:
    """A head from what a container says; what is not of the right kind is left out."""
    if isinstance(headers, Mapping):
        headers = [
            (name, each) for name, value in headers.items() for each in (value if isinstance(value, list) else [value])
        ]
    pairs = ((name, value) for name, value in headers if isinstance(name, str) and isinstance(value, str))
    return Head(
        method if isinstance(method, str) else None,
        url if isinstance(url, str) else None,
        status if type(status) is int else None,
        headers_of(pairs),
    )


def of_call(
    container: str,
    number: int,
    request: Message | None,
    answer: Message | None,
    place: Place,
    max_size: int = MAX_SIZE,
    label: str = "",
) -> Iterator[Capture]:
    """The captures of one call of a container, of which `number` is its place among all calls."""
    asked, url = None, request.head.url if request else None
    if request is not None:
        asked = _capture(container, 2 * number, request, place, max_size)._replace(label=label)
        if asked.body.strip() or asked.fault:
            yield asked
        if asked.fault or asked.foreign or not asked.body.strip():
            asked = None
    if answer is not None:
        answer = answer._replace(head=answer.head._replace(url=url))
        found = _capture(container, 2 * number + 1, answer, place, max_size)
        yield found._replace(asked=asked, label=label)


def bytes_of(said: str, base64: bool, inside: str) -> tuple[bytes, Fault | None]:
    """The bytes of a body that is kept as text, or why it cannot be read."""
    if not base64:
        return said.encode("utf-8", "surrogatepass"), None
    from binascii import Error, a2b_base64

    try:
        # One recorder keeps a packed body as a list of the pieces in which it came.
        chunks = text.loads(said) if said.startswith("[") else [said]
        return b"".join(a2b_base64("".join(chunk.split()), strict_mode=True) for chunk in chunks), None
    except (Error, ValueError, AttributeError, NotReadable):
        return b"", ("unreadable", "the base64 text of a body is cut or damaged", Place(pointer=inside), AGAIN)


def object_at(value: Any, key: str) -> dict[str, Any]:
    """The object that a container has under a key; an empty one where it has none."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def damaged(container: str, number: int, fault: NotReadable, at: str, place: Place) -> Capture:
    """A call that cannot be read at all, at this pointer."""
    where = Place(line=place.line, byte=place.byte, pointer=at)
    return Capture(container, 2 * number, b"", place, fault=(fault.code, fault.message, where, fault.hint))


def _capture(container: str, record: int, message: Message, place: Place, max_size: int) -> Capture:
    body, fault = message.body, message.fault
    try:
        body = undone(body, max_size)
        if message.head.headers.get("content-encoding", "").lower() == "deflate" and not _is_text(body):
            body = inflated(body, max_size)
        if not _is_text(body) and "br" in message.head.headers.get("content-encoding", "").split(", "):
            raise NotReadable("unreadable", "this body is packed with brotli, which is not read", hint=_PLAINLY)
    except NotReadable as error:
        fault = error.code, error.message, Place(pointer=message.inside), error.hint
    kind = "" if fault else kind_of_foreign(body, message.head.headers.get("content-type", ""))
    return Capture(
        container,
        record,
        b"" if kind else body,
        message.place or place,
        message.head,
        inside=message.inside,
        foreign=kind,
        fault=fault,
    )


AGAIN = "export the archive again"
_PLAINLY = "capture it unpacked: curl --compressed"
_START = re.compile(rb'\s*(?:\xef\xbb\xbf)?\s*[{\["]')
_PICTURE = re.compile(rb"\x89PNG|\xff\xd8\xff|GIF8|RIFF....WEBP|\s*<svg")
PAGE = re.compile(rb"\s*<(?:!doctype )?html", re.IGNORECASE)
_MEDIA = (
    ("image/", "image"),
    ("text/html", "html"),
    ("javascript", "script"),
    ("text/css", "style sheet"),
    ("font", "font"),
    ("audio/", "sound"),
    ("video/", "film"),
)


def kind_of_foreign(body: bytes, media: str) -> str:
    """What a body is that is neither JSON nor a stream, by its media type and its first bytes; else nothing."""
    if _is_text(body):
        return ""
    if not body.strip():
        return "empty"
    if _PICTURE.match(body):
        return "image"
    if PAGE.match(body):
        return "html"
    media = media.lower()
    known = next((kind for mark, kind in _MEDIA if mark in media), "")
    return known or ("" if "json" in media or "event-stream" in media else "other")


def _is_text(body: bytes) -> bool:
    return _START.match(body) is not None or sse.looks_like_a_stream(body)
