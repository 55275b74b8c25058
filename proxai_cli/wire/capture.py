"""Capture files: what a file is made of, and the documents in it.

Compression and UTF-16 are undone by their first bytes; places are then those of the text. Containers are known by how
they begin: one JSON body, JSON values in lines, one after another or in one list, an event stream, HTTP messages, and
what tools keep of calls (HAR, cassettes, transcripts, logs), each of which has a room beside this one. What is known
and not read is told by name and refused.

All is read piecewise: held is the record at hand. (A single body or stream is one record; transcripts, logs and YAML
are read whole.)
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import chain

from .. import text
from ..errors import NotReadable, Place
from . import sse
from .calls import PAGE, Capture
from .http import LONGEST_HEAD, Head, Unwrapper, read_head, unwrapped
from .packing import MAX_SIZE, begun, unpacked

BEGINNING = 1 << 14


def captures(data: bytes | Iterable[bytes], max_size: int = MAX_SIZE, records: bool = False) -> Iterator[Capture]:
    """The documents in a file. JSON is only taken apart here; whether a body can be read shows when it is.

    `records` says that the elements of a list are records whatever they look like.

    Raises `NotReadable`: `empty`; `unreadable` for what is binary, damaged, a container that is not read, or comes to
    more than `max_size` bytes; `bad-json` for text that is neither JSON nor a stream, and for a container that is cut.
    """
    source = _Source(unpacked([data] if isinstance(data, bytes) else data, max_size))
    last = None
    try:
        for capture in _captures(source, max_size, records):
            if last is not None:
                yield last
                last = None
            # Of what was cut the last record may be but a piece.
            if source.fault is None:
                yield capture
            else:
                last = capture
    except NotReadable as fault:
        if last is not None:
            yield last
        raise (source.fault or fault) from None
    if source.fault is not None:
        raise source.fault


class _Source:
    """What arrives, up to where it cannot be read; so that looking ahead does not lose what came before."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces = pieces
        self.fault: NotReadable | None = None

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self.pieces
        except NotReadable as fault:
            self.fault = fault


def _captures(source: Iterable[bytes], max_size: int, records: bool) -> Iterator[Capture]:
    start, pieces = begun(source, LONGEST_HEAD)
    head = read_head(start)
    if head is not None and (head.method is not None or _goes_on(start)):
        from .dialogue import captures as dialogue

        yield from _not_empty(dialogue(b"".join(pieces), max_size), "nothing")
        return
    place, arriving = _unwrapped(pieces)
    if place.byte:
        arriving = unpacked(arriving, max_size)
    beginning, arriving = _begun(arriving)
    _refuse_foreign(beginning)
    yield from _read(beginning, arriving, place, head, max_size, records)


def _goes_on(start: bytes) -> bool:
    """Whether another message follows the body of an HTTP message."""
    unwrapper = Unwrapper()
    body = b"".join(piece.data for piece in unwrapper.feed(start))
    return (
        not sse.looks_like_a_stream(body) and re.search(rb"^HTTP/\d(?:\.\d)? \d{3}\b", body, re.MULTILINE) is not None
    )


def _read(
    beginning: bytes, pieces: Iterable[bytes], place: Place, head: Head | None, max_size: int, records: bool
) -> Iterator[Capture]:
    bare = beginning.removeprefix(text.BYTE_ORDER_MARK).lstrip()
    marked = len(text.BYTE_ORDER_MARK) if beginning.startswith(text.BYTE_ORDER_MARK) else 0
    inner = place._replace(byte=(place.byte or 0) + marked)
    if sse.looks_like_a_stream(beginning):
        yield Capture("http" if place.byte else "sse", None, b"".join(pieces), place, head)
    elif HAR.match(bare) and not records:
        from . import har

        yield from har.captures(_behind(pieces, marked), inner, max_size)
    elif (found := CASSETTE.match(bare)) and not records:
        from . import cassette

        yield from cassette.captures(_behind(pieces, marked), inner, found[1].decode(), max_size)
    elif _YAML_CASSETTE.match(bare):
        from . import cassette

        yield from cassette.captures_of_yaml(b"".join(pieces), place, max_size)
    elif _CURL.match(bare):
        from . import dialogue

        yield from _not_empty(dialogue.captures_of_curl(b"".join(pieces), max_size), "no answer that has a body")
    elif _FOLLOWED.match(bare):
        from . import dialogue

        yield from _not_empty(dialogue.captures_of_followed(b"".join(pieces), max_size), "no message")
    elif _LOG.match(bare):
        from . import sections

        yield from _not_empty(sections.captures(b"".join(pieces), max_size), "no section with a body")
    else:
        for capture in _json(pieces, place, marked, bare.startswith(b"["), records):
            container = "http" if place.byte and capture.record is None else capture.container
            yield capture._replace(container=container, head=head)


def _json(pieces: Iterable[bytes], place: Place, marked: int, listed: bool, records: bool) -> Iterator[Capture]:
    """One JSON body, or the records of a list, of lines, or that follow one another."""
    inner = place._replace(byte=(place.byte or 0) + marked)
    if listed:
        is_list, pieces = _is_list_of_records(pieces, marked, records)
        if is_list:
            from .values import elements

            yield from _numbered("array", elements(_behind(pieces, marked), inner))
            return
    line, rest = _line(pieces)
    second, rest = _line(rest)
    if not second.strip() and not _BESIDE.search(line):
        yield Capture("json", None, line + second, place)
        return
    damage, pieces = _fault(line), chain([line, second], rest)
    if not second.strip() and (damage is None or damage.message != text.FOLLOWED):
        yield Capture("json", None, line + second, place)
        return
    # A first line that is damaged does not make the rest of the lines unreadable.
    goes_on = second.lstrip().startswith(b'{"') and _fault(second) is None
    if damage is None or (goes_on and not damage.hint and damage.message != text.FOLLOWED):
        yield from _numbered("jsonl", _lines(pieces, place))
        return
    from .values import first_of, following

    followed, pieces = first_of(_behind(pieces, marked))
    if followed:
        yield from _numbered("jsonl", following(pieces, inner))
        return
    data = (text.BYTE_ORDER_MARK if marked else b"") + b"".join(pieces)
    if goes_on and _fault(data) is not None:
        yield from _numbered("jsonl", _lines([data], place))
    else:
        yield Capture("json", None, data, place)


def _numbered(container: str, found: Iterable[tuple[bytes, Place]]) -> Iterator[Capture]:
    return (Capture(container, number, data, place) for number, (data, place) in enumerate(found, 1))


def _is_list_of_records(pieces: Iterable[bytes], marked: int, records: bool) -> tuple[bool, Iterable[bytes]]:
    """Whether the elements of a list stand for themselves, by the first of them; and the text again.

    The requests of a batch belong together, and so do the events of a stream.
    """
    from .values import first_element

    if records:
        return True, pieces
    first, pieces = first_element(pieces, marked)
    if not first or _fault(first) is not None:
        return False, pieces
    value = text.loads(first)
    from .detect import detect_events

    event = sse.Event(value, None, Place())
    return "custom_id" not in value and detect_events([event]).sure is None, pieces


def _unwrapped(pieces: Iterable[bytes]) -> tuple[Place, Iterable[bytes]]:
    """Where the body of an HTTP message begins, and its bytes; or those that were given, if it is none."""
    bodies = unwrapped(pieces)
    first = next(bodies, None)
    if first is None:
        return Place(line=1, byte=0), []
    return Place(line=1 + first.framing, byte=first.byte), chain([first.data], (each.data for each in bodies))


def _begun(pieces: Iterable[bytes]) -> tuple[bytes, Iterable[bytes]]:
    """The beginning of a text, up to something that is not blank; and the text again."""
    beginning, pieces = begun(pieces, BEGINNING)
    count = BEGINNING
    while len(beginning) >= count and not beginning.removeprefix(text.BYTE_ORDER_MARK).strip():
        count *= 2
        beginning, pieces = begun(pieces, count)
    return beginning[: max(count, BEGINNING)], pieces


def _behind(pieces: Iterable[bytes], count: int) -> Iterator[bytes]:
    """A text without its first bytes."""
    for piece in pieces:
        yield piece[count:]
        count = max(0, count - len(piece))


def _line(pieces: Iterable[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """A text up to the end of its first line that is not blank; and what follows that."""
    arriving, seen, start, filled = iter(pieces), bytearray(), 0, False
    for piece in arriving:
        seen += piece
        while end := seen.find(b"\n", start) + 1:
            filled = filled or bool(seen[start:end].strip())
            if filled:
                return bytes(seen[:end]), chain([bytes(seen[end:])], arriving)
            start = end
        filled, start = filled or bool(seen[start:].strip()), len(seen)
    return bytes(seen), arriving


def _lines(pieces: Iterable[bytes], place: Place) -> Iterator[tuple[bytes, Place]]:
    """The lines of a text that are not blank, each with its end and its place."""
    number, byte = place.line or 1, place.byte or 0
    for line in _cut(pieces):
        if line.strip():
            yield line, Place(line=number, byte=byte)
        number, byte = number + 1, byte + len(line)


def _cut(pieces: Iterable[bytes]) -> Iterator[bytes]:
    held: list[bytes] = []
    for piece in pieces:
        start = 0
        while end := piece.find(b"\n", start) + 1:
            yield b"".join([*held, piece[start:end]])
            held.clear()
            start = end
        held.append(piece[start:])
    yield b"".join(held)


def _fault(data: bytes) -> NotReadable | None:
    try:
        text.read(data)
    except NotReadable as fault:
        return fault
    return None


def _not_empty(found: Iterator[Capture], what: str) -> Iterator[Capture]:
    first = next(found, None)
    if first is None:
        raise NotReadable("empty", f"there is {what} in it", Place(line=1, column=1, byte=0), "capture the call again")
    yield from chain([first], found)


def _nothing() -> NotReadable:
    return NotReadable("empty", "there is nothing in it", Place(line=1, column=1, byte=0), "capture the call again")


HAR = re.compile(rb'\{\s*"log"\s*:\s*\{')
CASSETTE = re.compile(rb'\{(?:\s*"\w+"\s*:\s*(?:"[^"]*"|[\w.]+)\s*,)*\s*"((?:http_)?interactions)"\s*:\s*\[')
_YAML_CASSETTE = re.compile(rb"(?:(?:#|---|[a-z_]+: )[^\n]*\n\s*+)*+(?:http_)?interactions:(?:\s|\Z)")
# Progress, if curl was told to show it, stands in front, or between the lines.
_CURL = re.compile(rb"(?:% Total[^\n]*\n[^\n]*\n(?:[ \d][^\n]*[\r\n]+)*)?[*<>] ")
_FOLLOWED = re.compile(rb"={20,}\s+Follow: ")
_LOG = re.compile(rb"=== ?[A-Z]")
# Within one value this stands in strings alone.
_BESIDE = re.compile(rb"[}\]]\s*+[{\[]")

# Comments, at most one header of a table, a key with its value.
_REMARKS = rb"(?:#[^\n]*\n\s*+)*+"
_TOML = (
    _REMARKS + rb"(?:\[\[?[A-Za-z_][\w.-]*\]\]?[^\n]*\n\s*+" + _REMARKS + rb")?[A-Za-z_][\w-]*[ \t]*=[ \t]*[\"'\[{\dtf]"
)

# Containers that are known and not read: their beginning, what they are, and what to do.
FOREIGN = (
    (rb"PK\x03\x04", "a zip archive or a spreadsheet", "unpack it, or export it as JSON lines"),
    (rb"SQLite format 3", "a database", "export the table as JSON lines: sqlite3 -json FILE 'select ...'"),
    (rb"\xd4\xc3\xb2\xa1|\xa1\xb2\xc3\xd4|\n\r\r\n", "a packet capture", "tshark -r FILE -q -z follow,http,ascii,0"),
    (_TOML, "TOML, a file of settings", "name the captures themselves"),
    (rb"\d+:\d+:\w+[;,]", "a flow file", "mitmdump -nr FILE --set hardump=FILE.har"),
)
_START_OF_JSON = re.compile(rb'[\[{"\-0-9tfn](?!\0)')
_NO_TEXT = re.compile("[\x00-\x08\x0e-\x1f\udc80-\udcff]")


def _refuse_foreign(beginning: bytes) -> None:
    """Raises for what can be none of the containers that are read, by its first bytes."""
    beginning = beginning.removeprefix(text.BYTE_ORDER_MARK)
    start = Place(line=1, column=1, byte=0)
    for mark, what, hint in FOREIGN:
        if re.match(mark, beginning) or re.match(mark, beginning.lstrip()):
            raise NotReadable("unreadable", f"this is {what}, which is not read", start, hint)
    bare = beginning.lstrip()
    if not bare:
        raise _nothing()
    readable = (_START_OF_JSON, _YAML_CASSETTE, _CURL, _FOLLOWED, _LOG)
    if any(mark.match(bare) for mark in readable) or sse.looks_like_a_stream(beginning):
        return
    characters = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode(beginning)
    if _NO_TEXT.search(characters):
        raise NotReadable("unreadable", "this is binary, no text", start, "save the body as it went over the wire")
    what = "HTML, a page of a server in between" if PAGE.match(beginning) else "plain text"
    raise NotReadable("bad-json", f"neither JSON nor an event stream, but {what}", start, "capture the call again")


def holds_calls(beginning: bytes) -> bool:
    """Whether a file that begins so is a container of calls, which may hold bodies and streams side by side."""
    bare = beginning[:BEGINNING].removeprefix(text.BYTE_ORDER_MARK).lstrip()
    head = read_head(beginning)
    known = (HAR, CASSETTE, _YAML_CASSETTE, _CURL, _FOLLOWED, _LOG)
    return any(mark.match(bare) for mark in known) or (head is not None and head.method is not None)
