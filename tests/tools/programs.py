"""What tests need beside Python: installed from Debian's packages where that can be done, else said to be missing.

    python -m tests.tools.programs

Tests whose program is missing are skipped, so this never fails.
"""

import os
import shutil
import subprocess
import sys
from typing import NamedTuple


class Program(NamedTuple):
    """Names that it goes by (any one is enough), the packages that hold it, and the tests that need it."""

    names: tuple[str, ...]
    packages: tuple[str, ...]
    tests: str


PROGRAMS = (
    Program(("chromium", "chromium-browser", "google-chrome"), ("chromium",), "the HTML report in a browser"),
    Program(("chromedriver",), ("chromium-driver",), "the HTML report in a browser"),
    Program(("mandoc",), ("mandoc",), "the manual pages, as a linter reads them"),
    Program(("zsh",), ("zsh",), "completion in zsh"),
    Program(("fish",), ("fish",), "completion in fish"),
)
INSTALL = ("apt-get", "install", "-y", "-qq", "--no-install-recommends")
# Seconds: long enough for a slow mirror. After one that does not answer nothing more is asked, for a run must not hang.
PATIENCE = 180
LATE = "no answer in time"


def missing() -> list[Program]:
    """Those of which no name is found."""
    return [program for program in PROGRAMS if not any(map(shutil.which, program.names))]


def obstacle() -> str:
    """Why nothing can be installed here; empty where it can."""
    if sys.platform != "linux" or not shutil.which("apt-get"):
        return "there is no apt-get here"
    return "" if os.geteuid() == 0 else "only root may install it"


def quietly(*words: str) -> str:
    """Run a command; why it failed, in one line, or nothing."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            words,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return LATE
    except OSError as fault:
        return type(fault).__name__
    said = (done.stderr.strip() or done.stdout.strip() or f"exit {done.returncode}").splitlines()
    return "" if done.returncode == 0 else said[-1]


def main() -> None:
    """Install what is missing; one line for each program."""
    wanted, why = missing(), obstacle()
    is_fresh = False
    for program in PROGRAMS:
        name = program.names[0]
        if program not in wanted:
            print(f"{name}: found")
            continue
        fault = why or quietly(*INSTALL, *program.packages)
        if fault and not why and not is_fresh and fault != LATE:  # the list of packages may be missing or old
            is_fresh, fault = True, quietly("apt-get", "update", "-qq")
            fault = fault if fault == LATE else quietly(*INSTALL, *program.packages)
        why = why or (LATE if fault == LATE else "")
        if program in missing():
            print(f"{name}: missing ({fault or 'its package has no such program'}); skipped: {program.tests}")
        else:
            print(f"{name}: installed")


if __name__ == "__main__":
    main()
