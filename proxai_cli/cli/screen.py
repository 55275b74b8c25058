"""The terminal: what is said to whom, in which colours. Bytes go out as UTF-8 with `\\n`, whatever the locale."""

import os
import sys
from collections.abc import Callable
from typing import Any

from .. import text
from ..errors import ProxaiError
from ..report.lines import safe

# What has to be done before anything is written: something on the screen may be in the way.
beforehand: Callable[[], None] | None = None


def out(data: bytes) -> None:
    """Something to stdout, flushed at once. Raises `not-written`."""
    if sys.stdout is None and data:
        raise ProxaiError("not-written", "stdout is closed", hint="-o FILE, or leave >&- out")
    try:
        _write(sys.stdout, data)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ProxaiError(
            "not-written", f"stdout cannot be written: {(error.strerror or 'no more room').lower()}"
        ) from None


def document(data: bytes) -> None:
    """A document (JSON, or a stream of it), to stdout; on a terminal the same values without what could steer it."""
    out(text.harmless(data) if is_terminal(sys.stdout) else data)


def err(data: bytes) -> None:
    """A report, to stderr; where that cannot be written there is nobody to tell."""
    try:
        _write(sys.stderr, data)
    except BrokenPipeError:
        raise
    except OSError:
        pass


def say(*lines: str) -> None:
    """Something about the document, to stderr; whatever is in a line, it steers neither a terminal nor a CI server."""
    err("".join(safe(line) + "\n" for line in lines).encode())


def stream(stdout: bool) -> Any:
    """The one or the other."""
    return sys.stdout if stdout else sys.stderr


def _write(stream: Any, data: bytes) -> None:
    if beforehand is not None:
        beforehand()
    if stream is None:
        return
    stream.flush()
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(data.decode("utf-8", "replace"))
        stream.flush()
        return
    buffer.write(data)
    buffer.flush()


def is_terminal(stream: Any) -> bool:
    """Is there a person at this end?"""
    return stream is not None and stream.isatty()


def coloured(when: str, stream: Any) -> bool:
    """`--color`, then NO_COLOR, then FORCE_COLOR, then TERM=dumb, then: is it a terminal?"""
    if when != "auto":
        return when == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return os.environ.get("TERM") != "dumb" and is_terminal(stream)


def room(to_stdout: bool = True) -> int | None:
    """Columns into which rows have to fit; None where each stays one line, for a program that reads them."""
    return width() if is_terminal(stream(to_stdout)) or os.environ.get("COLUMNS", "").isdigit() else None


def width() -> int:
    """Columns of the screen, 80 where there is none."""
    import shutil

    return shutil.get_terminal_size((80, 24)).columns
