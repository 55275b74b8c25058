"""The report as data: the form that `report.schema.json` beside this file describes, as one document or by lines."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from .. import text
from ..reasons import LEVELS
from .account import Change, Found, Item, Report, Side, fingerprint, is_failure, levels_of, pointer, sentence
from .forms import Shown

FORM = 1


class Unbalanced(Exception):
    """An account that does not obey the first law must not be written."""


def data(report: Report) -> dict[str, Any]:
    """A whole run. Raises `Unbalanced` if the sums of an item do not add up."""
    totals = _Totals()
    items = [_item(item) for item in totals.watched(report.items)]
    head, *rest = _rest(report, totals).items()
    return dict([head, *rest[:2], ("items", items), *rest[2:]])


def _rest(report: Report, totals: "_Totals") -> dict[str, Any]:
    """All but the items, when these have been gone through."""
    return {
        "proxai_report": FORM,
        "tool": report.tool,
        "command": report.command,
        "totals": totals.said,
        "verdict": {key: value for key, value in report.verdict._asdict().items() if value not in (None, ())},
    }


def totals(items: Iterable[Item]) -> dict[str, int]:
    """Of each level the leaves that were changed, and one for each finding."""
    sums = _Totals()
    for _ in sums.watched(items):
        pass
    return sums.levels


class _Totals:
    """Sums over items, taken while somebody goes through them."""

    def __init__(self) -> None:
        self._statuses, self._states = Counter[str](), Counter[str]()
        self.levels = dict.fromkeys(LEVELS, 0)

    def watched(self, items: Iterable[Item]) -> Iterator[Item]:
        for item in items:
            self._statuses[item.status] += 1
            self._states.update(change.state for change in item.changes)
            for level, count in levels_of(item.changes).items():
                self.levels[level] += count
            for found in item.findings:
                self.levels[found.level] += 1
            yield item

    @property
    def said(self) -> dict[str, Any]:
        return {
            "items": self._statuses.total(),
            "failed": self._statuses["failed"] + self._statuses["cut"],
            "skipped": self._statuses["skipped"],
            "levels": self.levels,
            "new": self._states["new"] + self._states["denied"],
            "known": self._states["known"],
            "allowed": self._states["allowed"],
        }


def document(report: Report, shown: Shown) -> bytes:
    """A report as one JSON text."""
    return written(data(report), shown.indent)


def lines(report: Report, shown: Shown) -> Iterator[bytes]:
    """A report by lines: each item is one, and the last holds the rest. Holds one item at a time."""
    totals = _Totals()
    for item in totals.watched(report.items):
        yield written(_item(item))
    yield written(_rest(report, totals))


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
