"""JSON text taken apart as it arrives: the values that follow one another, or the elements of one list inside it.

Only brackets and strings are looked at; whether a value can be read shows when it is. Held is the value at hand.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from .. import text
from ..errors import NotReadable, Place

_BLANKS = re.compile(rb"[ \t\n\r]*+")
_BETWEEN = re.compile(rb"[ \t\n\r,]*+")
# All that is not a bracket, with the strings that are whole.
_NO_BRACKET = re.compile(rb'[^"\[\]{}]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"\[\]{}]*+)*+', re.DOTALL)
_IN_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_SCALAR = re.compile(rb'[^ \t\n\r,"\[\]{}]*+')

_AGAIN = "the text is cut or damaged: capture it again"

Piece = tuple[bytes, Place]


class Scanner:
    """State: the text from the value at hand on, where in it to go on, and the line and byte at which it begins."""

    def __init__(self, pieces: Iterable[bytes], start: Place) -> None:
        self.data, self.at = bytearray(), 0
        self._arriving = iter(pieces)
        self._line, self._byte = start.line or 1, start.byte or 0

    def next(self, blanks: re.Pattern[bytes] = _BLANKS) -> bytes:
        """The first byte of what comes after the blanks, nothing at the end."""
        while True:
            found = blanks.match(self.data, self.at)
            self.at = found.end() if found else self.at
            if self.at < len(self.data) or not self._more():
                return self._mark()

    def forget(self) -> None:
        """Let go what lies behind."""
        self._line += self.data.count(b"\n", 0, self.at)
        self._byte += self.at
        del self.data[: self.at]
        self.at = 0

    def place(self) -> Place:
        self.forget()
        return Place(line=self._line, byte=self._byte)

    def pass_value(self) -> bool:
        """Go behind the value that begins here; False where the text ends inside it, or behind the bracket that makes
        it too deep to be read."""
        if self._mark() not in (b'"', b"{", b"["):
            self.at += 1
            while True:
                self.at = self._end_of(_SCALAR)
                if self.at < len(self.data) or not self._more():
                    return True
        depth = 0
        while True:
            self.at = self._end_of(_NO_BRACKET) if depth else self.at
            mark = self._mark()
            if not mark:
                if not self._more():
                    return False
                continue
            self.at += 1
            if mark == b'"':
                if not self._pass_string():
                    return False
            else:
                depth += 1 if mark in (b"{", b"[") else -1
            if depth <= 0 or depth > text.MAX_DEPTH:
                return depth <= 0

    def _pass_string(self) -> bool:
        while True:
            self.at = self._end_of(_IN_STRING)
            if self._mark() == b'"':
                self.at += 1
                return True
            if not self._more():
                self.at = len(self.data)
                return False

    def _mark(self) -> bytes:
        return bytes(self.data[self.at : self.at + 1])

    def _end_of(self, pattern: re.Pattern[bytes]) -> int:
        found = pattern.match(self.data, self.at)
        return found.end() if found else self.at

    def _more(self) -> bool:
        piece = next(self._arriving, None)
        if piece is None:
            return False
        self.data += piece
        return True

    def rest(self) -> Iterator[bytes]:
        """All that is held, and what is still to come."""
        return chain([bytes(self.data)], self._arriving)

    def taken(self) -> Piece:
        """The value that begins here, and where; also one that is cut."""
        place = self.place()
        self.pass_value()
        return bytes(self.data[: self.at]), place

    def element(self) -> Piece:
        """The same for a value that must be whole. Raises `bad-json`."""
        place = self.place()
        if not self.pass_value():
            if self.next():
                raise NotReadable("bad-json", f"nested deeper than {text.MAX_DEPTH} levels", place, _AGAIN)
            raise _cut(self._end())
        return bytes(self.data[: self.at]), place

    def _end(self) -> Place:
        self.at = len(self.data)
        return self.place()

    def expect(self, mark: bytes) -> None:
        found = self.next()
        if found == mark:
            self.at += 1
            return
        place = self.place()
        raise _cut(place) if not found else NotReadable("bad-json", f"expected '{mark.decode()}'", place, _AGAIN)


def following(pieces: Iterable[bytes], start: Place) -> Iterator[Piece]:
    """Values that follow one another, each with its place. What is no JSON between them stands for itself."""
    scanner = Scanner(pieces, start)
    while scanner.next():
        yield scanner.taken()


def elements(pieces: Iterable[bytes], start: Place, *path: str) -> Iterator[Piece]:
    """The elements of the list that stands under these keys. Raises `bad-json` where the text is cut or broken, or goes
    on behind it."""
    scanner = Scanner(pieces, start)
    for key in path:
        scanner.expect(b"{")
        while True:
            if scanner.next(_BETWEEN) != b'"':
                scanner.expect(b'"')
            name, place = scanner.element()
            scanner.expect(b":")
            if not scanner.next():
                raise _cut(scanner.place())
            if _read(name, place) == key:
                break
            scanner.element()
    scanner.expect(b"[")
    while scanner.next(_BETWEEN) != b"]":
        if scanner.at >= len(scanner.data):
            raise _cut(scanner.place())
        yield scanner.element()
    scanner.at += 1
    _end(scanner, len(path))


def _end(scanner: Scanner, depth: int) -> None:
    """What stands behind the list: the rest of so many objects around it, and nothing more. Raises `bad-json`."""
    for _ in range(depth):
        while scanner.next(_BETWEEN) == b'"':
            scanner.element()
            scanner.expect(b":")
            if scanner.next():
                scanner.element()
        scanner.expect(b"}")
    if scanner.next():
        raise NotReadable("bad-json", text.FOLLOWED, scanner.place(), "keep each container in a file of its own")


def _read(name: bytes, place: Place) -> object:
    try:
        return text.loads(name)
    except NotReadable as fault:
        raise fault.at(line=place.line, byte=place.byte) from None


def first_of(pieces: Iterable[bytes]) -> tuple[bool, Iterator[bytes]]:
    """Whether another value follows the first one of a text; and the text again."""
    scanner = Scanner(pieces, Place())
    scanner.next()
    scanner.pass_value()
    return bool(scanner.next()), scanner.rest()


def first_element(pieces: Iterable[bytes], marked: int) -> tuple[bytes, Iterator[bytes]]:
    """The first element of a list that begins behind so many bytes, if it is an object; and the text again."""
    scanner = Scanner(pieces, Place())
    scanner.at = marked if scanner.next() else 0
    scanner.expect(b"[")
    if scanner.next() != b"{":
        return b"", scanner.rest()
    start = scanner.at
    scanner.pass_value()
    return bytes(scanner.data[start : scanner.at]), scanner.rest()


def _cut(place: Place) -> NotReadable:
    return NotReadable("bad-json", "the text ends before its end", place, _AGAIN)
