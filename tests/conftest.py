"""Options of the test run, and a word about what is skipped for want of the folder beside the project."""

import os
from typing import Any

from .shared import SHARED


def pytest_configure() -> None:
    """No screen is so wide as a parallel run says; a test that needs one says it by itself."""
    os.environ.pop("COLUMNS", None)


def pytest_addoption(parser: Any) -> None:
    parser.addoption(
        "--accept", action="store_true", help="write the expected files anew; read the diff before committing it"
    )


def pytest_report_header() -> str:
    return (
        "corpus and cases: found"
        if SHARED
        else "corpus and cases: NOT FOUND, their tests are skipped (set PROXAI_SHARED)"
    )
