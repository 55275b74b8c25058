"""Calls of the program in this process: what a person types, what comes back."""

import io
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from proxai_cli import text
from proxai_cli.cli import app


class Done(NamedTuple):
    """How a call ended."""

    code: int
    out: bytes
    err: str

    @property
    def value(self) -> Any:
        return text.loads(self.out)


def answered(words: list[str], stdin: bytes = b"", folder: Path = Path()) -> Done:
    """Answer a call in the working directory, with stdin from a file in this folder."""
    (folder / ".stdin").write_bytes(stdin)
    out, err = io.BytesIO(), io.BytesIO()
    with open(folder / ".stdin", "rb") as given, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(given))
        patch.setattr(sys, "stdout", io.TextIOWrapper(out))
        patch.setattr(sys, "stderr", io.TextIOWrapper(err))
        code = app.main(words)
        return Done(code, out.getvalue(), err.getvalue().decode())
