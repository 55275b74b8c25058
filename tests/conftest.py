"""Options of the test run, and a word about what is skipped for want of the folder beside the project."""

from typing import Any

from .shared import SHARED


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
