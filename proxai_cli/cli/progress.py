"""How far a long run is: a line on the terminal, once it takes longer than a second, for whoever waits."""

import os
import sys
import time
from collections.abc import Collection
from typing import Any

from . import screen
from .inputs import Input
from .options import Call

PATIENCE = 1.0  # seconds until there is anything to see
EVERY = 0.1  # seconds between two looks
DOING = {"convert": "converting", "diff": "comparing"}


class Progress:
    """State: bytes read and records done so far, and the bar, where it is shown."""

    def __init__(self, doing: str, total: int | None) -> None:
        self.doing, self.total = doing, total
        self.bytes = self.records = 0
        self._due = time.monotonic() + PATIENCE
        self._bar: Any = None
        self._is_shown = False

    def append(self, piece: bytes) -> None:
        """These bytes were read: so it can stand where inputs collect theirs."""
        self.bytes += len(piece)

    def done(self) -> None:
        """A record is done."""
        self.records += 1
        now = time.monotonic()
        if now >= self._due:
            self._due = now + EVERY
            self._show()

    def _show(self) -> None:
        if self._bar is None:
            self._bar = _bar()
            self._task = self._bar.add_task(self.doing, total=self.total, records="0")
        told = f"{self.records:,}".replace(",", " ")
        self._bar.update(self._task, completed=self.bytes, records=told)
        if not self._is_shown:
            self._bar.start()
            self._is_shown, screen.beforehand = True, self.hide

    def hide(self) -> None:
        """Take it off the screen, so that something can be said; it comes again by itself."""
        if self._is_shown:
            self._is_shown, screen.beforehand = False, None
            self._bar.stop()


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        FileSizeColumn,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )
    from rich.progress import Progress as Bar

    return Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[records]} records"),
        FileSizeColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def watching(call: Call, inputs: Collection[Input]) -> Progress | None:
    """Progress for a call, where somebody sees it: on a terminal that is not full of the document itself."""
    output = call.values.get("output") or "-"
    hidden = call.quiet or os.environ.get("TERM") == "dumb" or not screen.is_terminal(sys.stderr)
    if call.command not in DOING or hidden or (output == "-" and screen.is_terminal(sys.stdout)):
        return None
    sizes = [os.path.getsize(each.path) if os.path.isfile(each.path) else None for each in inputs]
    total = sum(size or 0 for size in sizes) if None not in sizes else None
    return Progress(DOING[call.command], total)
