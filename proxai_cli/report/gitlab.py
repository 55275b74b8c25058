"""The account as a code quality report of GitLab: one entry for each change and finding."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from .account import FORGIVEN, Change, Found, Item, Report, code, fingerprint, severity
from .forms import Shown
from .json import written
from .lines import message, safe

SEVERITIES = ("info", "minor", "major", "major")


def formed(report: Report, shown: Shown) -> bytes:
    """A run as the JSON that `artifacts:reports:codequality` takes."""
    return written(list(_entries(report)), shown.indent)


def _entries(report: Report) -> Iterator[dict[str, Any]]:
    """GitLab takes entries of one fingerprint for one entry. So the first of them has ours, and the next ones ours with
    their number: one change more is one new entry, and no other moves."""
    seen: Counter[str] = Counter()
    for item in report.items:
        for said in item.said:
            mark = fingerprint(item.pair, said)
            seen[mark] += 1
            yield {
                "description": message(said),
                "check_name": code(said),
                "fingerprint": mark if seen[mark] == 1 else f"{mark}-{seen[mark]}",
                "severity": SEVERITIES[0 if said.state in FORGIVEN else severity(said)],
                "location": {"path": _path(item), "lines": {"begin": _line(said)}},
            }


def _path(item: Item) -> str:
    return "stdin" if item.path == "-" else safe(item.path.removeprefix("./"))


def _line(said: Change | Found) -> int:
    return (said.place or {}).get("line", 1)
