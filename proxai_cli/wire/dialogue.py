"""HTTP messages one after another: requests and answers of a raw export, of a stream that `tshark` followed, or of a
transcript of `curl -v`."""

import re
from collections.abc import Iterator
from itertools import chain, pairwise, zip_longest
from typing import NamedTuple

from ..errors import Place
from .calls import Capture, Message, of_call
from .http import Head, Unwrapper, read_head
from .packing import MAX_SIZE

CONTAINER, CURL = "http", "curl"

_MESSAGE = re.compile(rb"^(?:HTTP/\d(?:\.\d)? \d{3}\b|[A-Z]{3,8} \S+ HTTP/\d)", re.MULTILINE)
_LENGTH = re.compile(rb"^(\t?)(\d{1,12})\r?\n", re.MULTILINE)
_SAID = re.compile(rb"[*<>{}] ?[^\n]*(?:\n|\Z)")


class _Said(NamedTuple):
    head: Head
    body: bytes


def captures(data: bytes, max_size: int = MAX_SIZE) -> Iterator[Capture]:
    """The documents of messages that follow one another; one that stands alone has no number."""
    yield from _paired(CONTAINER, _messages(data), max_size)


def _messages(data: bytes) -> list[_Said]:
    starts = [found.start() for found in _MESSAGE.finditer(data)]
    found = [_said(data[start:end]) for start, end in pairwise([*starts, len(data)])]
    return [said for said in found if said is not None]


def captures_of_followed(data: bytes, max_size: int = MAX_SIZE) -> Iterator[Capture]:
    """The documents of a stream that was followed: pieces of both sides, each behind its length."""
    sides: dict[bool, list[bytes]] = {}
    at = data.find(b"Node 1:")
    while found := _LENGTH.search(data, at):
        sides.setdefault(bool(found[1]), []).append(data[found.end() : found.end() + int(found[2])])
        at = found.end() + int(found[2])
    asked, answered = (_messages(b"".join(sides.get(side, []))) for side in (False, True))
    # Each side is a row of messages, and they belong together in their order.
    rows = [said for pair in zip_longest(asked, answered) for said in pair if said is not None]
    yield from _paired(CONTAINER, rows, max_size)


def captures_of_curl(data: bytes, max_size: int = MAX_SIZE) -> Iterator[Capture]:
    """The documents of a transcript. What was sent as a body does not stand in it; answers do, without a mark."""
    found, head, body = list[_Said](), list[bytes](), list[bytes]()
    mark = b""

    def told() -> None:
        known = read_head(b"".join(head) + b"\r\n") if head else None
        if known is not None and not (known.status is not None and known.status < 200):
            plain = b"".join(body)
            found.append(_Said(known, _unwrapped(plain)))
        head.clear()
        body.clear()

    for line in data.splitlines(keepends=True):
        kind = line[:1] if _SAID.fullmatch(line) and line[:2].rstrip() in (b"*", b"<", b">", b"{", b"}") else b""
        if kind in (b"<", b">"):
            said = line[2:] if line[1:2] == b" " else line[1:]
            if kind != mark or _MESSAGE.match(said):
                if _MESSAGE.match(said):
                    told()
                mark = kind
            head.append(said) if said.strip() else None
        elif not kind:
            body.append(line)
    told()
    yield from _paired(CURL, found, max_size)


def _said(data: bytes) -> _Said | None:
    head = read_head(data)
    if head is None or (head.status is not None and head.status < 200):
        return None
    unwrapper = Unwrapper()
    return _Said(head, b"".join(piece.data for piece in unwrapper.feed(data) + unwrapper.close()))


def _unwrapped(body: bytes) -> bytes:
    unwrapper = Unwrapper()
    return b"".join(piece.data for piece in unwrapper.feed(body) + unwrapper.close())


def _paired(container: str, found: list[_Said], max_size: int) -> Iterator[Capture]:
    """Each request with the answer that comes after it."""
    calls: list[tuple[Message | None, Message | None]] = []
    for said in found:
        half = Message(said.head, said.body)
        if said.head.status is None:
            calls.append((half, None))
        elif calls and calls[-1][1] is None:
            calls[-1] = calls[-1][0], half
        else:
            calls.append((None, half))
    place = Place(line=1, byte=0)
    documents = chain.from_iterable(
        of_call(container, number, asked, answer, place, max_size) for number, (asked, answer) in enumerate(calls)
    )
    kept = [one for one in documents if one.foreign != "empty"]
    if len(kept) == 1:
        kept = [kept[0]._replace(record=None)]
    yield from kept
