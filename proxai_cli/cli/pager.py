"""What is longer than the terminal goes through a pager: `$PROXAI_PAGER`, else `$PAGER`, else `less -FRX`."""

import os
import sys

from . import screen

USUAL = "less -FRX"


def show(data: bytes, wanted: bool = True) -> None:
    """Write a report to stdout, through a pager if a person would have to scroll."""
    command = _command() if wanted and screen.is_terminal(sys.stdout) and _is_long(data) else ""
    if not command or not _paged(command, data):
        screen.out(data)


def _command() -> str:
    """The pager that is asked for; empty for none."""
    for name in ("PROXAI_PAGER", "PAGER"):
        if name in os.environ:
            return os.environ[name].strip()
    return USUAL


def _is_long(data: bytes) -> bool:
    """Are there more lines than the terminal shows, with those that it would break counted as it breaks them?"""
    import shutil

    columns, rows = shutil.get_terminal_size()
    lines = data.decode("utf-8", "replace").splitlines()
    return sum(1 + max(0, len(line) - 1) // max(1, columns) for line in lines) >= rows


def _paged(command: str, data: bytes) -> bool:
    """Let a pager show it; False where it cannot be started, or shows nothing.

    A pager that is left before its end takes no more: that is no fault. Ctrl-C is the pager's while it shows.
    """
    import shlex
    import signal
    import subprocess

    try:
        pager = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE)
    except (OSError, ValueError, IndexError):
        return False
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        pager.communicate(data)
    finally:
        signal.signal(signal.SIGINT, before)
    return pager.returncode not in (126, 127)
