"""The tools that read the code agree with it."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize(
    "tool",
    [
        ["ruff", "check", "proxai_cli", "tests"],
        ["ruff", "format", "--check", "proxai_cli", "tests"],
        ["mypy", "--strict", "proxai_cli"],
    ],
    ids=" ".join,
)
def test_clean(tool: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", *tool], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
