"""Where captures come from: files, directories, patterns, stdin."""

import os
import re
import sys
from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from ..errors import NotReadable, ProxaiError
from ..report.lines import counted
from ..wire.packing import is_packed, undone
from . import screen
from .faults import AS_DATA
from .options import Call
from .own import is_own

STDIN = "-"
PIECE = 1 << 16


class Collecting(Protocol):
    """What takes the bytes of an input, as they are read."""

    def append(self, piece: bytes, /) -> None: ...


class Input(NamedTuple):
    """One file, or stdin: its path as given, with `/` between names, and the name that it has below `-o DIR/`.

    `read` takes its bytes, as they are read, for whoever needs the input itself. `asked` is the input beside it that
    holds the request which it answers.
    """

    path: str
    name: str
    read: "Collecting | None" = None
    asked: str = ""


def inputs_of(call: Call) -> list[Input]:
    """The inputs of a call. Raises `bad-call` rather than waiting for somebody to type a capture."""
    if not call.words and screen.is_terminal(sys.stdin):
        raise ProxaiError(
            "bad-call", "no capture is named, and stdin is a terminal", hint=f"proxai {call.command} --help"
        )
    if call.values.get("merge"):
        return inputs(call.words, own=True)
    found = inputs(call.words)
    left = sum(map(len, map(_own_below, filter(os.path.isdir, call.words))))
    if left and call.quiet < 2 and call.values.get("format") not in AS_DATA:
        screen.say(f"proxai: note: {counted(left, 'file')} of proxai skipped")
    return found


def inputs(words: list[str], own: bool = False) -> list[Input]:
    """What the words of a call name; none is stdin. Directories are walked in order, without hidden files, and without
    those of proxai itself unless they are asked for (`own`)."""
    found: list[Input] = []
    for word in words or [STDIN]:
        if word == STDIN:
            found.append(Input(STDIN, "stdin"))
        elif os.path.isdir(word):
            found += _captures_below(word, own)
        elif not os.path.lexists(word) and any(mark in word for mark in "*?["):
            found += _matching(word)
        else:
            found.append(Input(_slashes(word), os.path.basename(word)))
    paths = {each.path for each in found}
    return [_with_request(each, paths) for each in found]


_ANSWER = re.compile(r"(.*?)(?:response|stream|answer)\.(?:json|sse|txt)", re.DOTALL)


def _with_request(input: Input, paths: set[str]) -> Input:
    """An answer with the request of its name that is an input too: `x.request.json` and `x.response.json`, or
    `request.json` and `response.sse` in one folder."""
    folder, slash, name = input.path.rpartition("/")
    found = _ANSWER.fullmatch(name)
    if found is None or not (found[1] == "" or found[1][-1] in ".-_"):
        return input
    asked = f"{folder}{slash}{found[1]}request.json"
    return input._replace(asked=asked) if asked in paths else input


def _captures_below(folder: str, own: bool) -> list[Input]:
    """The files in a directory, which must have some."""
    found = _below(folder)
    captures = found if own else [each for each in found if not is_own(each.path)]
    if not captures:
        what = "no capture, only files of proxai," if found else "no file"
        raise NotReadable("unreadable", f"there is {what} in the directory {_slashes(folder)!r}")
    return captures


def _own_below(folder: str) -> list[Input]:
    return [each for each in _below(folder) if is_own(each.path)]


def _below(folder: str) -> list[Input]:
    found: list[Input] = []
    for home, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = [os.path.join(home, name) for name in names if not name.startswith(".")]
        found += [Input(_slashes(path), _slashes(os.path.relpath(path, folder))) for path in paths]
    return sorted(found)


def _matching(word: str) -> list[Input]:
    from glob import glob

    paths = [path for path in sorted(glob(word, recursive=True)) if os.path.isfile(path)]
    if not paths:
        raise NotReadable("unreadable", f"no file matches {word!r}")
    return [Input(_slashes(path), os.path.basename(path)) for path in paths]


def _slashes(path: str) -> str:
    return path.replace(os.sep, "/")


def pieces(input: Input) -> Iterator[bytes]:
    """The bytes of a file, or of stdin, as they arrive: whatever is there is given at once, and nothing is read ahead.

    Raises `unreadable`.
    """
    path = input.path
    if path == STDIN and sys.stdin is None:
        raise NotReadable("unreadable", "stdin is closed", hint="name a file, or pipe something in")
    try:
        handle = sys.stdin.fileno() if path == STDIN else os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:
        raise _unreadable(error) from None
    try:
        while piece := os.read(handle, PIECE):
            if input.read is not None:
                input.read.append(piece)
            yield piece
    except OSError as error:
        raise _unreadable(error) from None
    finally:
        if path != STDIN:
            os.close(handle)


def read(path: str) -> bytes:
    """All of a file, or of stdin. Raises `unreadable`."""
    return b"".join(pieces(Input(path, "")))


def read_again(path: str) -> bytes:
    """All of a file that proxai wrote, without what a redirect or an editor put around it. Raises `unreadable`."""
    return undone(read(path)).removeprefix(BOM_UTF8)


def line_at(path: str, byte: int | None) -> bytes | None:
    """The line of a file that holds this byte; None for stdin, which cannot be read twice, and for what is packed."""
    if path == STDIN or byte is None:
        return None
    try:
        with open(path, "rb") as file:
            if is_packed(file.read(4)):
                return None
            start = max(0, byte - PIECE)
            file.seek(start)
            data = file.read(2 * PIECE)
    except OSError:
        return None
    at = byte - start
    begin = max(data.rfind(b"\n", 0, at), data.rfind(b"\r", 0, at)) + 1
    ends = [end for end in (data.find(b"\n", at), data.find(b"\r", at)) if end >= 0]
    return data[begin : min(ends, default=len(data))]


def _unreadable(error: Exception) -> NotReadable:
    why = error.strerror if isinstance(error, OSError) and error.strerror else "it cannot be opened"
    return NotReadable("unreadable", f"cannot be read: {why[:1].lower()}{why[1:]}")
