"""Long reports on a terminal go through a pager, and nothing else does: calls in a real terminal of a few lines."""

import os
import sys
from pathlib import Path

import pytest

from .terminal import seen

ROOT = Path(__file__).resolve().parent.parent


def screen(words: list[str], rows: int = 24, **environment: str) -> str:
    """What a person sees of a call in a terminal of that height."""

    def begin() -> None:
        import fcntl
        import struct
        import termios

        os.chdir(ROOT)
        named = ("PAGER", "PROXAI_PAGER", "COLUMNS", "LINES")
        plain = {key: value for key, value in os.environ.items() if key not in named}
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 100, 0, 0))
        os.execvpe(sys.executable, [sys.executable, "-m", "proxai_cli", *words], {**plain, **environment})

    return seen(begin).replace("\r\n", "\n")


MARK = "sed s/^/paged:/"
LONG = ["map", "chat", "messages"]


@pytest.mark.parametrize(
    "names", [{"PROXAI_PAGER": MARK}, {"PAGER": MARK}, {"PROXAI_PAGER": MARK, "PAGER": "false"}], ids=str
)
def test_a_long_report_is_paged(names: dict[str, str]) -> None:
    shown = screen(LONG, **names).splitlines()
    assert len(shown) > 24
    assert all(line.startswith("paged:") for line in shown)


@pytest.mark.parametrize(
    ("words", "rows", "pager"),
    [
        (["map"], 24, MARK),  # short
        ([*LONG, "--no-pager"], 24, MARK),
        (LONG, 24, ""),  # set, but to nothing
        (LONG, 24, "no-such-pager"),  # cannot be started: the report is shown all the same
        (LONG, 9999, MARK),
    ],
)
def test_it_is_shown_without(words: list[str], rows: int, pager: str) -> None:
    shown = screen(words, rows, PROXAI_PAGER=pager)
    assert "paged:" not in shown
    assert "chat" in shown


def test_a_pager_that_is_left_early_is_no_fault() -> None:
    assert screen(LONG, PROXAI_PAGER="head -1").count("\n") == 1


def test_never_where_stdout_is_no_terminal() -> None:
    import subprocess

    done = subprocess.run(
        [sys.executable, "-m", "proxai_cli", *LONG],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, "PAGER": MARK},
    )
    assert "paged:" not in done.stdout


def test_diff_and_inspect_are_paged() -> None:
    body = "fixtures/chat/sampling-and-metadata/request.json"
    for words in (["diff", body, "--to", "messages"], ["inspect", *[body] * 3]):
        assert "paged:" in screen(words, 3, PROXAI_PAGER=MARK)
