"""HTTP messages one after another: requests and answers of a raw export, of a stream that `tshark` followed, or of a
transcript of `curl -v`."""

import re
from collections.abc import Iterator
from itertools import chain, pairwise, zip_longest
from typing import NamedTuple

from ..errors import Place
from .calls import Capture, Message, of_call
from .http import Head, read_head, unwrapped
from .packing import MAX_SIZE

CONTAINER, CURL = "http", "curl"

START = Place(line=1, byte=0)

_FIRST_LINE = re.compile(rb"HTTP/\d(?:\.\d)? \d{3}\b|[A-Z]{3,8} \S+ HTTP/\d")
_MESSAGE = re.compile(rb"^(?:" + _FIRST_LINE.pattern + rb")", re.MULTILINE)
_HEAD = re.compile(rb"(?:[^\n]*[^\r\n][^\n]*\n)*+\r?\n")
_TOLD_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,12})[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)
_LENGTH = re.compile(rb"^(\t?)(\d{1,12})\r?\n", re.MULTILINE)
# What `curl -v` says behind a body that does not end in a new line.
_NOTE = re.compile(rb"\* (?:Connection #\d|Closing connection|shutting down connection)[^\n]*\n?\Z")
_SAID = re.compile(rb"[*<>{}] ?[^\n]*(?:\n|\Z)")


class _Said(NamedTuple):
    """A message: its head, its body without framing, and where that begins."""

    head: Head
    body: bytes
    place: Place


def captures(data: bytes, max_size: int = MAX_SIZE) -> Iterator[Capture]:
    """The documents of messages that follow one another; one that stands alone has no number."""
    yield from _paired(CONTAINER, _messages(data), max_size)


def _messages(data: bytes) -> list[_Said]:
    found, line, seen = list[_Said](), 1, 0
    for start, end in pairwise([*_starts(data), len(data)]):
        line, seen = line + data.count(b"\n", seen, start), start
        message = data[start:end]
        head = read_head(message)
        if head is None or not _is_final(head):
            continue
        body, place = _unwrapped(message)
        found.append(_Said(head, body, Place(line=line + (place.line or 1) - 1, byte=start + (place.byte or 0))))
    return found


def _starts(data: bytes) -> Iterator[int]:
    """Where messages begin: with a line, or right behind a body whose head tells its length."""
    at = 0
    while found := _FIRST_LINE.match(data, at) or _MESSAGE.search(data, at):
        yield found.start()
        at = found.end()
        head = _HEAD.match(data, found.start())
        length = _TOLD_LENGTH.search(head[0]) if head else None
        if head and length:
            # It is that of the body as it came, and a tool may have unpacked it since.
            end = head.end() + int(length[1])
            at = end if end == len(data) or _FIRST_LINE.match(data, end) else at


def _is_final(head: Head) -> bool:
    return head.status is None or head.status >= 200


def captures_of_followed(data: bytes, max_size: int = MAX_SIZE) -> Iterator[Capture]:
    """The documents of a stream that was followed: pieces of both sides, each behind its length."""
    sides: dict[bool, list[bytes]] = {}
    at = data.find(b"Node 1:")
    while found := _LENGTH.search(data, at):
        sides.setdefault(bool(found[1]), []).append(data[found.end() : found.end() + int(found[2])])
        at = found.end() + int(found[2])
    asked, answered = (_messages(b"".join(sides.get(side, []))) for side in (False, True))
    # Each side is a row of messages, and they belong together in their order. Where pieces stood is not known any more.
    rows = [said._replace(place=START) for pair in zip_longest(asked, answered) for said in pair if said is not None]
    yield from _paired(CONTAINER, rows, max_size)


def captures_of_curl(data: bytes, max_size: int = MAX_SIZE) -> Iterator[Capture]:
    """The documents of a transcript. What was sent as a body does not stand in it; answers do, without a mark."""
    found, head, body = list[_Said](), list[bytes](), list[bytes]()
    mark, begin = b"", START

    def told() -> None:
        known = read_head(b"".join(head) + b"\r\n") if head else None
        if known is not None and _is_final(known):
            found.append(_Said(known, _unwrapped(_NOTE.sub(b"", b"".join(body)))[0], begin))
        head.clear()
        body.clear()

    byte = 0
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        byte += len(line)
        kind = line[:1] if _SAID.fullmatch(line) and line[:2].rstrip() in (b"*", b"<", b">", b"{", b"}") else b""
        if kind in (b"<", b">"):
            said = line[2:] if line[1:2] == b" " else line[1:]
            if kind != mark or _MESSAGE.match(said):
                if _MESSAGE.match(said):
                    told()
                mark = kind
            head.append(said) if said.strip() else None
        elif not kind:
            begin = begin if body else Place(line=number, byte=byte - len(line))
            body.append(line)
    told()
    yield from _paired(CURL, found, max_size)


def _unwrapped(message: bytes) -> tuple[bytes, Place]:
    """What a message holds, and where in it."""
    found = list(unwrapped([message]))
    place = Place(line=1 + found[0].framing, byte=found[0].byte) if found else START
    return b"".join(piece.data for piece in found), place


def _paired(container: str, found: list[_Said], max_size: int) -> Iterator[Capture]:
    """Each request with the answer that comes after it."""
    calls: list[tuple[Message | None, Message | None]] = []
    for said in found:
        half = Message(said.head, said.body, place=said.place)
        if said.head.status is None:
            calls.append((half, None))
        elif calls and calls[-1][1] is None:
            calls[-1] = calls[-1][0], half
        else:
            calls.append((None, half))
    documents = chain.from_iterable(
        of_call(container, number, asked, answer, START, max_size) for number, (asked, answer) in enumerate(calls)
    )
    kept = [one for one in documents if one.foreign != "empty"]
    if len(kept) == 1:
        kept = [kept[0]._replace(record=None)]
    yield from kept
