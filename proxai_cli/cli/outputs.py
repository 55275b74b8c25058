"""Where documents go: stdout, a file, or a directory. A file is written beside its place, and renamed when whole."""

import os
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import copy
from typing import Any, TypeVar

from ..errors import ProxaiError
from . import screen
from .inputs import STDIN, Input

STDOUT = "-"
ENDINGS = (".json", ".sse", ".txt", ".log")
Given = TypeVar("Given")


class Output:
    """What `-o` names, for these inputs; `ending` is that of the outputs where a command changes the kind.

    Several documents of one input go to one output, one after another. State: the file that is being written.
    Raises `bad-call` where an input would be overwritten, or two outputs are one file, and `not-written`.
    """

    def __init__(self, path: str, inputs: list[Input], ending: str = "") -> None:
        self.path, self.ending, self.several = path, ending, len(inputs) > 1
        self._inputs = inputs
        self.folder = path != STDOUT and (path.endswith(("/", os.sep)) or self.several or os.path.isdir(path))
        self._file: File | None = None
        self._apart: set[str] = set()
        places = [self.place(each) for each in inputs]
        apart(places, inputs, "one call for each")
        self._shared = set(places)

    def planned(self) -> "Output":
        """The same places, for a process that writes nothing."""
        plan = copy(self)
        plan._inputs, plan._file = [], None
        return plan

    def place(self, input: Input) -> str:
        """Where the documents of an input go."""
        if not self.folder:
            return self.path
        stem, ending = os.path.splitext(input.name)
        name = (stem if ending in ENDINGS else input.name) + self.ending if self.ending else input.name
        return os.path.join(self.path, name)

    def write(self, input: Input, pieces: Iterable[bytes]) -> None:
        """Write a document as its pieces come."""
        place = self.place(input)
        if place == STDOUT:
            for piece in pieces:
                if piece:
                    _guarded("stdout", screen.document, piece)
            return
        if place not in self._shared:
            # A document with a file of its own.
            if place in self._apart:
                raise ProxaiError("bad-call", f"two documents would go to {place!r}", hint="one call for each")
            spare(place, self._inputs)
            self._apart.add(place)
            write_file(place, pieces)
            return
        if self._file is None or self._file.place != place:
            self.finish()
            self._file = File(place)
        try:
            for piece in pieces:
                self._file.write(piece)
        except BaseException:
            self._file.discard()
            self._file = None
            raise

    def finish(self) -> None:
        """Put the file that was written to its place."""
        if self._file:
            self._file.finish()
        self._file = None

    def __enter__(self) -> "Output":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.finish()
        elif self._file:
            self._file.discard()


class File:
    """A file that appears at its place only when it is finished; devices and pipes are written straight.

    Raises `not-written`.
    """

    def __init__(self, place: str) -> None:
        self.place = place
        straight = os.path.exists(place) and not os.path.isfile(place)
        # A link stays one: what is written is the file that it leads to.
        self._real = os.path.realpath(place) if os.path.islink(place) else place
        folder, name = os.path.split(self._real)
        self._beside = None if straight else os.path.join(folder, f".{name}.{os.getpid()}.part")
        if folder:
            _guarded(place, os.makedirs, folder, 0o777, True)
        self._file: Any = _guarded(place, open, self._beside or place, "xb" if self._beside else "wb")

    def write(self, piece: bytes) -> None:
        _guarded(self.place, self._file.write, piece)
        _guarded(self.place, self._file.flush)

    def written(self) -> bytes:
        """All that was written so far, read again."""
        file: Any = _guarded(self.place, open, self._beside or self.place, "rb")
        with file:
            return bytes(file.read())

    def finish(self) -> None:
        _guarded(self.place, self._file.close)
        if self._beside:
            _guarded(self.place, os.replace, self._beside, self._real)

    def discard(self) -> None:
        with suppress(OSError):  # what could not be written cannot be written now either
            self._file.close()
        if self._beside:
            os.unlink(self._beside)


def write_file(place: str, data: bytes | Iterable[bytes]) -> None:
    """Write a whole file. Raises `not-written`."""
    file = File(place)
    try:
        for piece in [data] if isinstance(data, bytes) else data:
            file.write(piece)
        file.finish()
    except BaseException:
        file.discard()
        raise


def _guarded(place: str, act: Callable[..., Given], *said: Any) -> Given:
    try:
        return act(*said)
    except BrokenPipeError:
        raise
    except OSError as error:
        why = error.strerror or "it cannot be opened"
        raise ProxaiError("not-written", f"{place} cannot be written: {why[:1].lower()}{why[1:]}") from None


def apart(places: list[str], inputs: list[Input], hint: str) -> None:
    """Raises `bad-call` where two documents would go to one of these places, or one to that of an input."""
    for place, count in Counter(places).items():
        if count > 1 and place != STDOUT:
            raise ProxaiError("bad-call", f"two documents would go to {place!r}", hint=hint)
    files = {_file(each.path) for each in inputs if each.path != STDIN} - {None}
    for place in places:
        if place != STDOUT and _file(place) in files:
            raise ProxaiError("bad-call", f"the input {place!r} would be overwritten", hint="name another place")


def spare(place: str, inputs: list[Input]) -> None:
    """Raises `bad-call` where this place is that of an input."""
    apart([place], inputs, "")


def _file(path: str) -> tuple[int, int] | None:
    """By what a file is known, whatever leads to it; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
