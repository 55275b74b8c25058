"""Capture files: what a file is made of, and the documents in it.

Compression and UTF-16 are undone by their first bytes; places are then those of the text. Read are one JSON body, one
event stream, either with its HTTP message around it, and JSON values in lines or one after another. Other containers
(HAR, cassettes, transcripts, ...) are told by name and refused.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import NamedTuple

from .. import text
from ..errors import NotReadable, Place
from . import sse
from .http import Head, Unwrapper, read_head

MAX_SIZE = 4 << 30


class Capture(NamedTuple):
    """One document: the container it stands in (`json`, `sse`, `http`, `jsonl`), its number there (from 1, or None
    for the only one), its bytes, where they begin, and the head of its HTTP message."""

    container: str
    record: int | None
    body: bytes
    place: Place
    head: Head | None = None


def captures(data: bytes, max_size: int = MAX_SIZE) -> Iterator[Capture]:
    """The documents in a file. JSON is only taken apart here; whether a body can be read shows when it is.

    Raises `NotReadable`: `empty`; `unreadable` for what is binary, damaged, a container that is not read, or unpacks
    to more than `max_size` bytes; `bad-json` for text that is neither JSON nor a stream.
    """
    data = undone(data, max_size)
    body, place = _unwrapped(data)
    http = len(body) < len(data)
    head = read_head(data) if http else None
    body = undone(body, max_size) if http else body
    _refuse_foreign(body)
    stream = sse.looks_like_a_stream(body)
    parts = None if stream else _parts(body)
    if parts is None:
        yield Capture("http" if http else "sse" if stream else "json", None, body, place, head)
        return
    number, line, byte = 0, place.line or 1, place.byte or 0
    for part in parts:
        if part.strip():
            number += 1
            yield Capture("jsonl", number, part, Place(line=line, byte=byte), head)
        line, byte = line + part.count(b"\n"), byte + len(part)


def undone(data: bytes, max_size: int = MAX_SIZE) -> bytes:
    """A file without its compression, as UTF-8. Raises `unreadable`."""
    if data.startswith(b"\x1f\x8b"):
        import gzip
        import zlib

        try:
            with gzip.GzipFile(fileobj=BytesIO(data)) as file:
                data = file.read(max_size + 1)
        except (OSError, EOFError, zlib.error):
            raise NotReadable(
                "unreadable",
                "the gzip data is cut or damaged",
                hint="fetch the file again, or unpack what there is of it with `gzip -dc`",
            ) from None
        if len(data) > max_size:
            raise NotReadable("unreadable", f"it unpacks to more than {max_size} bytes", hint="--max-size BYTES")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return data.decode("utf-16").encode()
        except UnicodeError:
            raise NotReadable("unreadable", "the UTF-16 text is cut or damaged", hint="save it as UTF-8") from None
    return data


def _unwrapped(data: bytes) -> tuple[bytes, Place]:
    """The body of an HTTP message, or what was given, if it is none; and where it begins."""
    unwrapper = Unwrapper()
    pieces = unwrapper.feed(data) + unwrapper.close()
    if not pieces:
        return b"", Place(line=1, byte=0)
    body = pieces[0].data if len(pieces) == 1 else b"".join(piece.data for piece in pieces)
    return body, Place(line=1 + pieces[0].framing, byte=pieces[0].byte)


def _parts(body: bytes) -> Iterable[bytes] | None:
    """The pieces that together are the text, each with one JSON value or blank; None where there is but one value."""
    first, _, rest = body.partition(b"\n")
    if not rest.strip():
        return None
    lines = (found.group() for found in re.finditer(rb"[^\n]*\n|[^\n]+", body))
    if _fault(first) is None:
        return lines
    fault = _fault(body)
    if fault is None:
        return None
    if fault.message == text.FOLLOWED:
        return text.split(body)
    # A first line that is damaged does not make the rest of the lines unreadable.
    second = rest.lstrip().partition(b"\n")[0]
    return lines if second.startswith(b'{"') and _fault(second) is None else None


def _fault(data: bytes) -> NotReadable | None:
    try:
        text.read(data)
    except NotReadable as fault:
        return fault
    return None


# Containers that are known and not read: their beginning, what they are, and what to do.
FOREIGN = (
    (rb'\{\s*"log"\s*:\s*\{', "a HAR archive", "save the body of the call that you want as a file of its own"),
    (
        rb'\{\s*"(?:http_)?interactions"\s*:|(?:---\s+)?(?:version: .*\s+)?(?:http_)?interactions:',
        "a cassette",
        "save the body of the call that you want as a file of its own",
    ),
    (rb"[*<>] ", "a transcript of `curl -v`", "save the answer itself: curl -N -o FILE"),
    (rb"=== ?[A-Z]", "a log of a gateway", "save the body that you want as a file of its own"),
    (rb"\(\xb5/\xfd", "zstd data", "unpack it: zstd -dc FILE | proxai ..."),
    (rb"PK\x03\x04", "a zip archive or a spreadsheet", "unpack it, or export it as JSON lines"),
    (rb"SQLite format 3", "a database", "export the table as JSON lines: sqlite3 -json FILE 'select ...'"),
    (rb"\xd4\xc3\xb2\xa1|\xa1\xb2\xc3\xd4|\n\r\r\n", "a packet capture", "tshark -r FILE -q -z follow,http,ascii,0"),
    (rb"\d+:\d+:\w+[;,]", "a flow file", "mitmdump -nr FILE --set hardump=FILE.har"),
)
_START_OF_JSON = re.compile(rb'[\[{"\-0-9tfn](?!\0)')
BEGINNING = 1 << 12
_NO_TEXT = re.compile("[\x00-\x08\x0e-\x1f\udc80-\udcff]")


def _refuse_foreign(body: bytes) -> None:
    """Raises for what can be neither JSON nor a stream, by its first bytes."""
    beginning = body[:BEGINNING].removeprefix(text.BYTE_ORDER_MARK)
    start = Place(line=1, column=1, byte=0)
    for mark, what, hint in FOREIGN:
        if re.match(mark, beginning) or re.match(mark, beginning.lstrip()):
            raise NotReadable("unreadable", f"this is {what}, which is not read", start, hint)
    if not body.removeprefix(text.BYTE_ORDER_MARK).strip():
        raise NotReadable("empty", "there is nothing in it", start, "capture the call again")
    if not beginning.strip() or _START_OF_JSON.match(beginning.lstrip()) or sse.looks_like_a_stream(body):
        return
    characters = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode(beginning)
    if _NO_TEXT.search(characters):
        raise NotReadable("unreadable", "this is binary, no text", start, "save the body as it went over the wire")
    html = re.match(rb"\s*<(?:!doctype )?html", beginning, re.IGNORECASE)
    what = "HTML, a page of a server in between" if html else "plain text"
    raise NotReadable("bad-json", f"neither JSON nor an event stream, but {what}", start, "capture the call again")
