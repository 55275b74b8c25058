"""Calls in a real terminal: what a person sees of them."""

import os
from collections.abc import Callable

import pytest

pty = pytest.importorskip("pty", reason="there is no terminal to be had on this system")


def seen(begin: Callable[[], object]) -> str:
    """All that a process shows in a terminal of its own; `begin`, in that process, becomes the program."""
    child, terminal = pty.fork()
    if child == 0:
        try:
            begin()
        finally:
            os._exit(1)
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 1 << 16)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(terminal)
    os.waitpid(child, 0)
    return shown.decode()
