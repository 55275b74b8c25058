"""The forms that a report can have; only the room of the one that is asked for is loaded."""

from collections.abc import Iterable
from importlib import import_module
from typing import NamedTuple

from .account import Report

# Of each form the room beside this one that writes it, and the function: of a report and how it is shown, its bytes.
WRITERS = {
    "table": ("console", "formed"),
    "tree": ("tree", "formed"),
    "lines": ("lines", "formed"),
    "json": ("json", "document"),
    "jsonl": ("json", "lines"),
    "github": ("github", "formed"),
    "gitlab": ("gitlab", "formed"),
    "sarif": ("sarif", "formed"),
    "junit": ("junit", "formed"),
    "markdown": ("markdown", "formed"),
    "html": ("html", "formed"),
}
# Those that are whole documents, which a program reads to their end.
DOCUMENTS = frozenset({"json", "jsonl", "gitlab", "sarif", "junit", "html"})
SUFFIXES = {".json": "json", ".jsonl": "jsonl", ".md": "markdown", ".sarif": "sarif", ".xml": "junit", ".html": "html"}


class Shown(NamedTuple):
    """How a report is shown: columns and colour of the screen, every note or not, what its changes are grouped by
    (reason, file or path), in which files else the same report is told, and how far JSON is indented (None: one line).

    `room` are the columns into which rows without borders have to fit (None: each is one line), `sums` says whether the
    screen tells the sums of each document.
    """

    width: int = 80
    color: bool = False
    verbose: bool = False
    by: str = "reason"
    elsewhere: tuple[str, ...] = ()
    indent: int | None = 2
    room: int | None = None
    sums: bool = True


def formed(form: str, report: Report, shown: Shown) -> Iterable[bytes]:
    """A report in one of the forms, in pieces where it may be longer than memory."""
    room, function = WRITERS[form]
    written: bytes | Iterable[bytes] = getattr(import_module(f".{room}", __package__), function)(report, shown)
    return [written] if isinstance(written, bytes) else written
