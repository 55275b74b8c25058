"""Binary event streams (`application/vnd.amazon.eventstream`), as clouds send them, as server-sent events.

A frame is: its length, the length of its headers, a checksum of both, headers, payload, a checksum of all. The payload
of an event is JSON, or JSON that holds the event's own as base64 under `bytes`; padding beside that says nothing.
"""

import struct
from base64 import b64decode
from collections.abc import Iterable, Iterator
from typing import Any
from zlib import crc32

from .. import text
from ..errors import NotReadable

PRELUDE = 12
_CHECKSUM = 4
_LONGEST_FRAME, _LONGEST_HEADERS = 1 << 24, 1 << 17
_STRING = 7  # the only type of header that such streams use; of the others by their number, how long they are
_LENGTHS = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
# A frame that is cut is told as an event that is cut.
_CUT = b"data: {"


def begins(data: bytes) -> bool:
    """Do bytes begin with a frame?"""
    if len(data) < PRELUDE:
        return False
    whole, headers, checksum = struct.unpack(">III", data[:PRELUDE])
    lengths_fit = PRELUDE + headers + _CHECKSUM <= whole <= _LONGEST_FRAME and headers <= _LONGEST_HEADERS
    return lengths_fit and bool(crc32(data[:8]) == checksum)


def as_sse(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The events of frames in any cut, each as soon as it is whole.

    Raises `unreadable` where a checksum does not fit; what stands before that is given all the same.
    """
    waiting, at = b"", 0
    for piece in pieces:
        waiting, at = waiting[at:] + piece, 0
        while len(waiting) - at >= PRELUDE:
            if not begins(waiting[at : at + PRELUDE]):
                raise _damaged()
            end = at + int.from_bytes(waiting[at : at + 4], "big")
            if len(waiting) < end:
                break
            frame, at = waiting[at:end], end
            if crc32(frame[:-_CHECKSUM]) != int.from_bytes(frame[-_CHECKSUM:], "big"):
                raise _damaged()
            yield _event(frame)
    if at < len(waiting):
        yield _CUT


def _event(frame: bytes) -> bytes:
    end = PRELUDE + int.from_bytes(frame[4:8], "big")
    headers, payload = dict(_headers(frame[PRELUDE:end])), frame[end:-_CHECKSUM]
    name, data = headers.get(":event-type", ""), payload
    said = _loaded(payload)
    if headers.get(":message-type") in ("exception", "error"):
        fault = headers.get(":exception-type") or headers.get(":error-code") or "error"
        message = said.get("message", headers.get(":error-message", "")) if isinstance(said, dict) else ""
        name, data = "error", text.dumps({"type": "error", "error": {"type": fault, "message": message}})
    elif isinstance(said, dict) and isinstance(said.get("bytes"), str):
        data = _decoded(said["bytes"])
        inner = _loaded(data)
        kind = inner.get("type") if isinstance(inner, dict) else None
        name = kind if isinstance(kind, str) else ""
    line = b"data: " + data.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n\n"
    return b"event: " + name.encode() + b"\n" + line if name and not {"\r", "\n"} & set(name) else line


def _headers(data: bytes) -> Iterator[tuple[str, str]]:
    """The headers that are text."""
    at = 0
    while at < len(data):
        name, kind, at = (
            data[at + 1 : at + 1 + data[at]],
            data[at + 1 + data[at] : at + 2 + data[at]],
            at + 2 + data[at],
        )
        if not kind:
            raise _damaged()
        length = _LENGTHS.get(kind[0])
        if length is None:
            length, at = int.from_bytes(data[at : at + 2], "big"), at + 2
        if kind[0] == _STRING:
            yield name.decode("utf-8", "replace"), data[at : at + length].decode("utf-8", "replace")
        at += length


def _loaded(data: bytes) -> Any:
    try:
        return text.loads(data)
    except NotReadable:
        return None


def _decoded(said: str) -> bytes:
    try:
        return b64decode(said, validate=True)
    except ValueError:
        raise _damaged() from None


def _damaged() -> NotReadable:
    return NotReadable("unreadable", "the binary event stream is damaged", hint="capture the call again")
