"""HTTP/1 framing that a capture left around a body: heads in front of it, chunk sizes inside it."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

_HEAD = re.compile(rb"HTTP/\d(?:\.\d)? \d{3}\b|[A-Z]+ \S+ HTTP/\d")
_SIZE = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;.*)?\r\n")
_MAY_BE_FRAMING = re.compile(rb"[A-Z]+(?:[ /].*)?|[0-9a-fA-F]{1,8}[ \t]*(?:;.*)?\r?")
_LONGEST_LINE = 1 << 14
LONGEST_HEAD = 1 << 18


class Piece(NamedTuple):
    """A piece of a body: the byte at which it stands in the capture, the lines of framing before it, and its bytes."""

    byte: int
    framing: int
    data: bytes


class Head(NamedTuple):
    """A head as captured: method and URL of a request, or the status of an answer, and its headers.

    Names are in lower case; several values of one name are joined by commas. A URL that is a path alone has the host
    that the headers name in front.
    """

    method: str | None
    url: str | None
    status: int | None
    headers: dict[str, str]


class Unwrapper:
    """A capture in, fed in any cut; out comes its body without heads (also interim ones) and chunk sizes.

    What is no HTTP passes as it is. Chunk sizes are known by themselves, since tools keep the header that announces
    them and take them out, or the reverse; where a size does not fit, the rest passes as it is.
    State: the step that is due, the beginning of a line that is still incomplete, and the lines of the last head.
    """

    def __init__(self) -> None:
        self.head: list[bytes] = []
        self._step: Callable[[Unwrapper, list[Piece]], bool] = Unwrapper._start  # unbound, or each would hold itself
        self._waiting, self._at = b"", 0
        self._byte = self._framing = self._left = 0

    def feed(self, data: bytes) -> list[Piece]:
        pieces: list[Piece] = []
        self._waiting += data
        while self._at < len(self._waiting) and self._step(self, pieces):
            pass
        self._waiting, self._at = self._waiting[self._at :], 0
        return pieces

    def close(self) -> list[Piece]:
        """What was held back because it might have been the beginning of a head."""
        pieces: list[Piece] = []
        if self._waiting and self._step == Unwrapper._start:
            self._plain(pieces)
        return pieces

    def _start(self, pieces: list[Piece]) -> bool:
        line = self._line()
        if line is None and _MAY_BE_FRAMING.fullmatch(self._waiting, self._at):
            return False
        line = line or b""
        if _HEAD.match(line):
            self.head, self._step = [], Unwrapper._head
        else:
            self._step = Unwrapper._size if _SIZE.fullmatch(line) else Unwrapper._plain
        return True

    def _head(self, pieces: list[Piece]) -> bool:
        """A head, or what may follow the last chunk: lines up to an empty one."""
        line = self._line()
        if line is None:
            return False
        self._skip(len(line))
        if line.strip():
            self.head.append(line)
        else:
            self._step = Unwrapper._start
        return True

    def _size(self, pieces: list[Piece]) -> bool:
        line = self._line()
        if line is None:
            return False
        size = _SIZE.fullmatch(line)
        if size is None:
            self._step = Unwrapper._plain
            return True
        self._skip(len(line))
        self._left = int(size[1], 16)
        self._step = Unwrapper._chunk if self._left else Unwrapper._head
        return True

    def _chunk(self, pieces: list[Piece]) -> bool:
        count = min(self._left, len(self._waiting) - self._at)
        self._give(count, pieces)
        self._left -= count
        if not self._left:
            self._step = Unwrapper._after_chunk
        return True

    def _after_chunk(self, pieces: list[Piece]) -> bool:
        end = self._waiting[self._at : self._at + 2]
        if end == b"\r":
            return False
        if end == b"\r\n":
            self._skip(2)
            self._step = Unwrapper._size
        else:
            self._step = Unwrapper._plain
        return True

    def _plain(self, pieces: list[Piece]) -> bool:
        self._give(len(self._waiting) - self._at, pieces)
        return True

    def _line(self) -> bytes | None:
        """The next line with its end; a beginning that is too long for a line of framing; or None: wait for more."""
        end = self._waiting.find(b"\n", self._at, self._at + _LONGEST_LINE) + 1
        if not end and len(self._waiting) - self._at < _LONGEST_LINE:
            return None
        return self._waiting[self._at : end or self._at + _LONGEST_LINE]

    def _skip(self, count: int) -> None:
        self._framing += self._waiting.count(b"\n", self._at, self._at + count)
        self._pass(count)

    def _give(self, count: int, pieces: list[Piece]) -> None:
        pieces.append(Piece(self._byte, self._framing, self._waiting[self._at : self._at + count]))
        self._pass(count)

    def _pass(self, count: int) -> None:
        self._byte += count
        self._at += count


def unwrapped(pieces: Iterable[bytes]) -> Iterator[Piece]:
    """The body of a capture, whose bytes come in these pieces, without its framing."""
    unwrapper = Unwrapper()
    for piece in pieces:
        yield from unwrapper.feed(piece)
    yield from unwrapper.close()


def read_head(data: bytes) -> Head | None:
    """The head that stands in front of a capture's body; of several the last. None where there is none."""
    unwrapper = Unwrapper()
    unwrapper.feed(data[:LONGEST_HEAD])
    if not unwrapper.head:
        return None
    first, *lines = [line.decode("utf-8", "replace").strip() for line in unwrapper.head]
    headers = headers_of((name, value) for name, colon, value in (line.partition(":") for line in lines) if colon)
    words = first.split()
    if words[0].startswith("HTTP/"):
        return Head(None, None, int(words[1][:3]), headers)
    host = headers.get("host")
    return Head(words[0], f"//{host}{words[1]}" if host and words[1].startswith("/") else words[1], None, headers)


def headers_of(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Headers by their names in lower case, those of one name joined."""
    headers: dict[str, str] = {}
    for name, value in pairs:
        key, said = name.strip().lower(), value.strip()
        if key:
            headers[key] = f"{headers[key]}, {said}" if key in headers else said
    return headers


def start_of_body(data: bytes) -> int:
    """Where the body of a capture begins, behind heads and the first chunk size."""
    pieces = Unwrapper().feed(data[:LONGEST_HEAD])
    return pieces[0].byte if pieces else 0
