"""The log of a gateway in text with section marks: what a client sent, what the gateway sent on, and both answers.

`=== REQUEST INFO ===` (or `=== REQUEST ===` with the line of the call), `=== HEADERS ===`, `=== REQUEST BODY ===`, and
`=== RESPONSE ===` or `=== RESPONSE BODY ===` are the client's side;
`=== API REQUEST n ===` and `=== API RESPONSE n ===` are the side of the server above, with `Headers:` and `Body:`.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..errors import Place
from .calls import Capture, Message, of_call
from .http import Head, headers_of
from .packing import MAX_SIZE

CONTAINER = "gateway log"
CLIENT, UPSTREAM = "client", "upstream"

_MARK = re.compile(rb"^=== ?([A-Z][A-Z ]*?) ?(\d*)(?: \([^\n]*\))? ?===[ \t]*\r?$\n?", re.MULTILINE)
# A body begins behind `Body:`, or with the first line that is no field.
_BODY = re.compile(rb"^Body:[ \t]*\r?\n|^(?=[ \t]*[{\[<]|(?:data|event|id|retry)?:)", re.MULTILINE)
_ASKED = re.compile(r"([A-Z]+) (\S+)\s*")
START = Place(line=1, byte=0)


class Section(NamedTuple):
    """One section: its name and number, its text, and where that begins."""

    name: str
    number: str
    data: bytes
    place: Place

    def parted(self) -> tuple[bytes, bytes, Place]:
        """The fields above the body, the body, and where that begins."""
        found = _BODY.search(self.data)
        start, end = (found.start(), found.end()) if found else (len(self.data), len(self.data))
        line = (self.place.line or 1) + self.data.count(b"\n", 0, end)
        return self.data[:start], self.data[end:], Place(line=line, byte=(self.place.byte or 0) + end)


def captures(data: bytes, max_size: int = MAX_SIZE) -> Iterator[Capture]:
    """The documents of a log: the client's call first, then each call to the server above."""
    client: dict[str, Section] = {}
    upstream: dict[str, dict[str, Section]] = {}
    for section in _sections(data):
        if section.name in ("API REQUEST", "API RESPONSE"):
            upstream.setdefault(section.number or "1", {})[section.name] = section
        else:
            client.setdefault(section.name, section)
    calls = [(CLIENT, _client_request(client), _answer(client.get("RESPONSE BODY", client.get("RESPONSE"))))]
    for call in upstream.values():
        calls.append((UPSTREAM, _upstream_request(call.get("API REQUEST")), _answer(call.get("API RESPONSE"))))
    for number, (label, asked, answer) in enumerate(calls):
        documents = of_call(CONTAINER, number, asked, answer, START, max_size, label)
        yield from (one for one in documents if one.foreign != "empty")


def _sections(data: bytes) -> list[Section]:
    marks = list(_MARK.finditer(data))
    ends = [*(mark.start() for mark in marks[1:]), len(data)]
    found, line, seen = list[Section](), 1, 0
    for mark, end in zip(marks, ends, strict=False):
        line, seen = line + data.count(b"\n", seen, mark.end()), mark.end()
        found.append(Section(mark[1].decode(), mark[2].decode(), data[seen:end], Place(line=line, byte=seen)))
    return found


def _client_request(client: dict[str, Section]) -> Message | None:
    body = client.get("REQUEST BODY")
    if body is None:
        return None
    info, headers = (_fields(client[name].data) if name in client else {} for name in ("REQUEST INFO", "HEADERS"))
    first = _ASKED.match(client["REQUEST"].data.decode("utf-8", "replace")) if "REQUEST" in client else None
    method, url = info.get("method", first and first[1]), info.get("url", first and first[2])
    return Message(Head(method, url, None, headers), body.data, place=body.place)


def _upstream_request(section: Section | None) -> Message | None:
    if section is None:
        return None
    head, body, place = section.parted()
    said, first = _fields(head), _ASKED.match(head.decode("utf-8", "replace").lstrip())
    method, url = said.get("http method", first and first[1]), said.get("upstream url", first and first[2])
    return Message(Head(method, url, None, _headers(head)), body, place=place)


def _answer(section: Section | None) -> Message | None:
    if section is None:
        return None
    head, body, place = section.parted()
    status = _fields(head).get("status", "").partition(" ")[0]
    number = int(status) if status.isascii() and status.isdigit() and len(status) == 3 else None
    return Message(Head(None, None, number, _headers(head)), body, place=place)


def _fields(data: bytes) -> dict[str, str]:
    lines = data.decode("utf-8", "replace").splitlines()
    return headers_of(
        (name, value) for name, colon, value in (line.partition(":") for line in lines) if colon and value.strip()
    )


def _headers(head: bytes) -> dict[str, str]:
    """The headers proper: behind `Headers:` where that stands, else every field."""
    _, mark, behind = head.partition(b"Headers:")
    return _fields(behind if mark else head)
