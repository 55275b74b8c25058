"""The report as data: the form that `report.schema.json` beside this file describes, as one document or by lines."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from .. import text
from ..reasons import LEVELS
from .account import Change, Found, Item, Report, Side, fingerprint, is_failure, levels_of, pointer, sentence
from .forms import Shown

FORM = 1


class Unbalanced(Exception):
    """An account that does not obey the first law must not be written."""


def schema() -> bytes:
    """The JSON Schema of a report."""
    from importlib.resources import files

    return files(__package__).joinpath("report.schema.json").read_bytes()


def data(report: Report) -> dict[str, Any]:
    """A whole run. Raises `Unbalanced` if the sums of an item do not add up."""
    items = report.items
    states = Counter(change.state for item in items for change in item.changes)
    return {
        "proxai_report": FORM,
        "tool": report.tool,
        "command": report.command,
        "items": [_item(item) for item in items],
        "totals": {
            "items": len(items),
            "failed": sum(item.status in ("failed", "cut") for item in items),
            "skipped": sum(item.status == "skipped" for item in items),
            "levels": totals(items),
            "new": states["new"] + states["denied"],
            "known": states["known"],
            "allowed": states["allowed"],
        },
        "verdict": {key: value for key, value in report.verdict._asdict().items() if value not in (None, ())},
    }


def totals(items: Iterable[Item]) -> dict[str, int]:
    """Of each level the leaves that were changed, and one for each finding."""
    sums = dict.fromkeys(LEVELS, 0)
    for item in items:
        for level, count in levels_of(item.changes).items():
            sums[level] += count
        for found in item.findings:
            sums[found.level] += 1
    return sums


def document(report: Report, shown: Shown) -> bytes:
    """A report as one JSON text."""
    return written(data(report), shown.indent)


def lines(report: Report, shown: Shown) -> bytes:
    """A report by lines: each item is one, and the last holds the rest."""
    said = data(report)
    rest = {key: value for key, value in said.items() if key != "items"}
    return b"".join(written(line) for line in [*said["items"], rest])


def written(value: Any, indent: int | None = None) -> bytes:
    """JSON text with a final newline, without anything that could steer a terminal or be an order to a CI server."""
    return text.harmless(text.dumps(value, indent)) + b"\n"


def _item(item: Item) -> dict[str, Any]:
    if item.counts is not None and not item.counts.balanced:
        raise Unbalanced(item.path)
    return {
        "input": {
            "path": item.path,
            "container": item.container,
            "record": item.record,
            "label": item.label or item.against,
        },
        "source": _side(item.source),
        "target": _side(item.target),
        "status": item.status,
        "counts": item.counts and {**item.counts._asdict(), "levels": levels_of(item.changes)},
        "changes": [_change(change, item) for change in item.changes],
        "findings": [_finding(found, item) for found in item.findings],
    }


def _side(side: Side | None) -> dict[str, Any] | None:
    return side and {key: value for key, value in side._asdict().items() if value is not None and value != ()}


def _change(change: Change, item: Item) -> dict[str, Any]:
    known = {
        "op": change.op,
        "source": pointer(change.source),
        "target": pointer(change.target),
        "reason": change.reason,
        "text": sentence(change),
        "level": change.level,
        "count": change.leaves,
        "fingerprint": fingerprint(item.pair, change),
        "state": change.state,
    }
    more = {
        "avoidable": change.avoidable,
        "before": change.before,
        "after": change.after,
        "place": change.place,
        "events": change.events,
        "rule": change.rule,
    }
    return known | {key: value for key, value in more.items() if value is not None}


def _finding(found: Found, item: Item) -> dict[str, Any]:
    known = {"code": found.code, "level": found.level, "text": found.text}
    more = {
        "layer": found.layer or None,
        "at": found.at,
        "place": found.place,
        "fingerprint": None if is_failure(found) else fingerprint(item.pair, found),
        "state": None if is_failure(found) else found.state,
    }
    return known | {key: value for key, value in more.items() if value is not None}
