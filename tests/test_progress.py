"""How far a run is shows on a terminal, after a while, and nowhere else; nothing that is said gets lost in it."""

import os
import re
import sys
from pathlib import Path

import pytest

from proxai_cli import text

from .captures import FIXTURES
from .terminal import seen

LINE = text.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}], "seed": 1}) + b"\n"
IMPATIENT = """
import sys
from proxai_cli.cli import app, progress
progress.PATIENCE = progress.EVERY = {patience}
if len(sys.argv) > 1:
    sys.exit(app.main(sys.argv[1:]))
"""


def screen(folder: Path, words: list[str], patience: float = 0.0, to_terminal: bool = False, **environment: str) -> str:
    """What a call says on a terminal, to which its document goes only if that is asked for."""
    (folder / "lines.jsonl").write_bytes(LINE * 30 + b"{no json\n" + LINE * 30)

    def begin() -> None:
        os.chdir(folder)
        if not to_terminal:
            os.dup2(os.open("stdout", os.O_WRONLY | os.O_CREAT), 1)
        known = {**os.environ, "PYTHONPATH": str(FIXTURES.parent), "COLUMNS": "120", "TERM": "xterm", **environment}
        os.execve(sys.executable, [sys.executable, "-c", IMPATIENT.format(patience=patience), *words], known)

    return seen(begin)


CONVERT = ["convert", "lines.jsonl", "--to", "messages", "--on-error", "skip"]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_it_tells_records_bytes_and_how_much_is_left(tmp_path: Path, jobs: str) -> None:
    shown = screen(tmp_path, [*CONVERT, "-j", jobs])
    # What is said stands on lines of its own, and the bar is gone at the end.
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).replace("\r\n", "\n")
    assert re.search(r"converting ━+ +\d+% \d+ records .*(bytes|kB) .*[-\d]:[-\d]{2}", plain)
    assert "proxai: error[bad-json] lines.jsonl:31" in plain
    assert plain.rstrip().splitlines()[-1].startswith("source ")
    assert (tmp_path / "stdout").read_bytes().count(b"\n") == 60


@pytest.mark.parametrize(
    ("words", "how"),
    [
        (CONVERT, {"patience": 60.0}),
        ([*CONVERT, "-q"], {}),
        (CONVERT, {"TERM": "dumb"}),
        (CONVERT, {"to_terminal": True}),
    ],
    ids=["soon done", "quiet", "dumb terminal", "the document is on the screen"],
)
def test_it_is_not_in_the_way(tmp_path: Path, words: list[str], how: dict) -> None:  # type: ignore[type-arg]
    assert "converting" not in screen(tmp_path, words, **how)
