"""Where the leaves of a JSON text stand: line, column and byte, for reports that name them."""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable
from typing import Any

from .. import text
from ..errors import Place
from ..ledger import Path
from ..report.account import Change

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[{}\[\],:]|[^\s{}\[\],:"]++')


def placed(changes: Iterable[Change], data: bytes, start: Place) -> list[Change]:
    """The changes with the place of their source, for a text that begins at this place of its input."""
    changes = list(changes)
    bytes_of = offsets(data, {change.source for change in changes if change.source is not None})
    place = _counted(data, start)
    return [
        change._replace(place=place(bytes_of[change.source])) if change.source in bytes_of else change
        for change in changes
    ]


def nearest(paths: Collection[Path], data: bytes, start: Place) -> dict[Path, dict[str, int]]:
    """The place of each of these paths; of one that is missing in the text, that of the nearest above it."""
    known = offsets(data, {path[:length] for path in paths for length in range(len(path) + 1)})
    place = _counted(data, start)
    return {
        path: place(next(known[path[:length]] for length in range(len(path), -1, -1) if path[:length] in known))
        for path in paths
        if known
    }


def _counted(data: bytes, start: Place) -> Callable[[int], dict[str, int]]:
    """The function that gives the place of a byte of a text that begins at this place of its input."""
    lines = [0, *(found.end() for found in re.finditer(rb"\n", data))]

    def place(at: int) -> dict[str, int]:
        line = bisect_right(lines, at)
        column = len(data[lines[line - 1] : at].decode("utf-8", "replace")) + 1
        return {"line": line + (start.line or 1) - 1, "column": column, "byte": at + (start.byte or 0)}

    return place


def replaced(data: bytes, values: dict[Path, Any]) -> bytes:
    """The text with other values at these paths, which now hold scalars; all else as it was."""
    pieces, done = list[bytes](), 0
    for path, at in sorted(offsets(data, set(values)).items(), key=lambda found: found[1]):
        tokens = _TOKEN.finditer(data, at)
        token = next(tokens)
        if isinstance(path[-1], str):
            next(tokens)  # the colon behind a key
            token = next(tokens)
        pieces += [data[done : token.start()], text.dumps(values[path])]
        done = token.end()
    return b"".join([*pieces, data[done:]])


def offsets(data: bytes, wanted: set[Path]) -> dict[Path, int]:
    """Of these paths the bytes at which their keys, or elements of lists, begin. The text must be sound JSON."""
    found: dict[Path, int] = {}
    path: list[Any] = []
    key = False  # does the next token name a member?
    start: int | None = None
    for token in _TOKEN.finditer(data):
        mark = token[0]
        if mark == b":":
            key = False
        elif mark == b",":
            if isinstance(path[-1], int):
                path[-1] += 1
            else:
                key = True
        elif mark in (b"}", b"]"):
            path.pop()
            key = False
        elif key:
            path[-1], start = text.loads(mark), token.start()
        else:
            here = tuple(path)
            if here in wanted:
                found[here] = token.start() if start is None or not path or isinstance(path[-1], int) else start
            if mark in (b"{", b"["):
                path.append(None if mark == b"{" else 0)
                key = mark == b"{"
    return found
