"""The public bug reports beside the project, run by the program that comes with them."""

import subprocess
import sys

import pytest

from .shared import SHARED


@pytest.mark.skipif(SHARED is None, reason="no shared folder with the cases beside the project")
def test_cases() -> None:
    assert SHARED is not None
    ours = f"{sys.executable} -m proxai_cli"
    call = [sys.executable, str(SHARED / "cases" / "check_cases.py"), str(SHARED / "cases")]
    call += ["--convert", f"{ours} convert {{input}} --from {{from}} --to {{to}}"]
    call += ["--stream", f"{ours} stream {{input}} --from {{from}} --to {{to}}"]
    call += ["--inspect", f"{ours} inspect {{input}} --format json"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "Traceback" not in done.stdout + done.stderr
