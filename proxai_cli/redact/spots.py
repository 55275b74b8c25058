"""Where the values of a JSON text or stream stand in it, so that they can be replaced and all else stays as it is.

A text that is cut or broken is read as far as it goes: nothing in it may be overlooked.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from .. import text as json
from ..errors import NotReadable
from ..ir.events import joined
from ..ledger import Path

STRING, NUMBER, BARE = "string", "number", "bare"

_TOKEN = re.compile(r'"(?:[^"\\]|\\.?)*+"?|[{}\[\],:]|[^\s{}\[\],:"]++', re.DOTALL)
_ESCAPE = re.compile(r"""\\u[0-9a-fA-F]{4}|\\["\\/bfnrt]""")
_ESCAPES = {"\\n": "\n", "\\r": "\r", "\\t": "\t", "\\b": "\b", "\\f": "\f"}
_NUMBER = re.compile(r"-?\d[\d.eE+-]*")
_LITERALS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")


class Spot(NamedTuple):
    """A scalar: where it begins and ends (of a string without its quotes), its path, what it says, what it is."""

    start: int
    end: int
    path: Path
    value: str
    kind: str


class Record(NamedTuple):
    """One JSON text of a document: its scalars, with places in the document, and its value (None: not readable)."""

    spots: list[Spot]
    value: Any


def record(text: str, offset: int = 0) -> Record:
    """The record that a text holds, which begins at this place of a document."""
    try:
        value = json.loads(text)
    except NotReadable:
        value = None
    return Record(list(_spots(text, offset)), value)


def _spots(text: str, offset: int) -> Iterator[Spot]:
    path: list[Any] = []
    key_next = False
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark[0] == '"':
            closed = len(mark) > 1 and mark[-1] == '"'
            inner = mark[1:-1] if closed else mark[1:]
            if key_next and closed:
                path[-1], key_next = unescaped(inner), False
            else:
                start = offset + token.start() + 1
                yield Spot(start, start + len(inner), tuple(path), unescaped(inner), STRING)
        elif mark == ":":
            key_next = False
        elif mark == ",":
            if path and isinstance(path[-1], int):
                path[-1] += 1
            else:
                key_next = bool(path)
        elif mark in ("{", "["):
            path.append(None if mark == "{" else 0)
            key_next = mark == "{"
        elif mark in ("}", "]"):
            del path[-1:]
            key_next = False
        elif mark not in _LITERALS:
            kind = NUMBER if _NUMBER.fullmatch(mark) else BARE
            yield Spot(offset + token.start(), offset + token.end(), tuple(path), mark, kind)


def unescaped(raw: str) -> str:
    """What the inside of a JSON string says."""
    return raw if "\\" not in raw else joined([_ESCAPE.sub(lambda found: _said(found[0]), raw)])


def _said(unit: str) -> str:
    if unit.startswith("\\u") and len(unit) == 6:
        return chr(int(unit[2:], 16))
    return _ESCAPES.get(unit, unit[1:] if len(unit) > 1 else unit)


def escaped(raw: str, new: str) -> str:
    """The inside of a JSON string with another text of the same length, each character spelled as the old one was."""
    if "\\" not in raw:
        return new
    data, at, done, out = new.encode("utf-16-le", "surrogatepass"), 0, 0, list[str]()
    for found in _ESCAPE.finditer(raw):
        end = at + len(raw[done : found.start()].encode("utf-16-le", "surrogatepass"))
        now = data[end : end + 2].decode("utf-16-le", "surrogatepass")
        out.append(data[at:end].decode("utf-16-le", "surrogatepass"))
        if now == _said(found[0]):
            out.append(found[0])
        else:
            out.append(f"\\u{ord(now):04x}" if found[0].startswith("\\u") else now)
        at, done = end + 2, found.end()
    return "".join([*out, data[at:].decode("utf-16-le", "surrogatepass")])


def halves(text: str) -> list[str]:
    """The characters of a text as JSON counts them: those beyond U+FFFF are two."""
    if text.isascii():
        return list(text)
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(data), 2)]


def is_json(text: str) -> bool:
    """Is this an object or list, or the beginning of one? (A stream may be cut in the middle of arguments.)"""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except NotReadable as fault:
        return fault.place.byte == len(text.encode("utf-8", "surrogatepass"))
    return True


_LINE = re.compile(r"[^\r\n]*(?:\r\n|[\r\n]|\Z)")
_DATA = re.compile(r"\ufeff?data:? ?")
_FRAMING = re.compile(r"\ufeff?(?:event|id|retry)(?::|[\r\n]|\Z)")


class Stream(NamedTuple):
    """A stream of events: one record for each data, and the places of what stands beside them (comments)."""

    records: list[Record]
    beside: list[tuple[int, int]]


def stream(text: str) -> Stream:
    """The data of an event stream, and what is neither data nor framing."""
    out, frame = Stream([], []), list[tuple[int, int]]()
    for line in _LINE.finditer(text):
        said, start = line[0].rstrip("\r\n"), line.start()
        end, data = start + len(said), _DATA.match(said)
        if not said:
            out.records.extend(_framed(text, frame))
            frame = []
        elif data:
            frame.append((start + data.end(), end))
        elif said.startswith(":") or not (frame or _FRAMING.match(said)):
            out.beside.append((start, end))
        elif not _FRAMING.match(said):
            frame.append((start, end))
    out.records.extend(_framed(text, frame))
    return out


def _framed(text: str, frame: list[tuple[int, int]]) -> Iterator[Record]:
    """The data of one frame: a value over all its lines, or else one in each (where empty lines were lost)."""
    if len(frame) > 1:
        start, end = frame[0][0], frame[-1][1]
        blanked, at = "", start
        for begin, stop in frame:
            blanked += " " * (begin - at) + text[begin:stop]
            at = stop
        whole = record(blanked + " " * (end - at), start)
        if whole.value is not None:
            yield whole
            return
    for begin, stop in frame:
        data = text[begin:stop]
        if data.strip() != "[DONE]":
            yield record(data, begin)
