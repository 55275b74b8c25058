"""What somebody else's translation did, for the screen: what it could have kept stands first.

Changes of such an account say whether they were avoidable.
"""

from collections.abc import Iterable, Iterator

from ..ledger import CHANGED, DROPPED, IGNORED, SYNTHESIZED, VOLATILE
from ..reasons import LEVELS
from .account import Change, Found, Item, pattern, pointer
from .lines import counted, how_sure, judgement, name, safe, says, sums, where

AVOIDABLE = "avoidable: the gateway lost it, the target has a place for it"
UNAVOIDABLE = "unavoidable"


def told(item: Item, verbose: bool = False) -> list[str]:
    """One pair of documents in lines. What was only put in because the target demands it is left to `verbose`."""
    lines = [_head(item)]
    if verbose and item.source:
        lines += [f"  evidence: {safe(one)}" for one in item.source.evidence]
    blamed = [change for change in item.changes if change.avoidable]
    others = [change for change in item.changes if not change.avoidable]
    demanded = [change for change in others if change.op == SYNTHESIZED and change.level == "note" and not verbose]
    shown = [change for change in others if verbose or change.op != SYNTHESIZED or change.level != "note"]
    for title, rows in ((AVOIDABLE, _rows(blamed, item)), (UNAVOIDABLE, _grouped(shown))):
        if rows:
            lines += [f"  {title}", *_columns(rows)]
    if demanded:
        lines.append(f"  {sum(change.leaves for change in demanded)} that the target demands (-v)")
    for found in item.findings:
        lines.append(f"  {found.level}  {found.code}  {where(found)}{safe(found.text)}" + _judged(found))
    if item.counts:
        lines += _not_compared(item.counts.source, item.counts.target)
        lines.append(sums(item.counts, "source", "target"))
    first = next(iter(sorted([*blamed, *shown], key=_severity)), None)
    return lines + ([f"proxai map {first.reason}   explains"] if first else [])


def _head(item: Item) -> str:
    """Both documents, and how sure it is what the second is where that is not certain (of the first it is told)."""
    source, target = item.source, item.target
    if source is None or target is None:
        return name(item)
    kinds = source.kind != target.kind
    sides = [f"{side.protocol} {side.kind}" if kinds else side.protocol for side in (source, target)]
    doubt = f"  (the second is {how_sure(item._replace(source=target))})" if target.sure == "likely" else ""
    second = name(item._replace(path=item.against or "", record=None))
    return f"{name(item)} ({sides[0]}) -> {second} ({sides[1]}){doubt}"


def _not_compared(source: dict[str, int], target: dict[str, int]) -> Iterator[str]:
    for fate, word, why in ((VOLATILE, "volatile field", "(--volatile)"), (IGNORED, "field", "left out (--ignore)")):
        count = source.get(fate) or target.get(fate, 0)
        if count:
            yield f"  not compared: {counted(count, word)} {why}"


def _severity(change: Change) -> tuple[bool, int]:
    return not change.avoidable, -LEVELS.index(change.level)


def _rows(changes: Iterable[Change], item: Item) -> list[tuple[str, str, str, str]]:
    """Level, what happened, where, and what was to be expected there."""
    rows = []
    for change in sorted(changes, key=_severity):
        source, target = (
            safe(pointer(path) or "/") if path is not None else "" for path in (change.source, change.target)
        )
        place = source or target
        if change.op == CHANGED and source != target:
            place = f"{source} -> {target}"
        count = f" ({change.leaves})" if change.leaves > 1 else ""
        expected = f"would be {target}" if change.op == DROPPED and target and target != source else ""
        rows.append((change.level, change.op, place + count, _joined(expected or says(change, item), change)))
    return rows


def _joined(expected: str, change: Change) -> str:
    return (expected or change.reason) + _judged(change._replace(avoidable=None))


def _judged(said: Change | Found) -> str:
    judged = judgement(said)
    return f" [{judged}]" if judged else ""


def _grouped(changes: Iterable[Change]) -> list[tuple[str, str, str, str]]:
    """The same of kinds of places."""
    groups: dict[tuple[str, str, str, str], int] = {}
    for change in sorted(changes, key=_severity):
        place = pattern(change.source if change.source is not None else change.target) or "/"
        key = change.level, change.op, place, _joined("", change)
        groups[key] = groups.get(key, 0) + change.leaves
    return [
        (level, op, safe(place) + (f" ({count})" if count > 1 else ""), tail)
        for (level, op, place, tail), count in groups.items()
    ]


WIDEST = 40


def _columns(rows: list[tuple[str, str, str, str]]) -> list[str]:
    widths = [min(WIDEST, max(len(row[at]) for row in rows)) for at in range(3)]
    return [
        "    " + "  ".join(f"{cell:{width}}" for cell, width in zip(row, [*widths, 0], strict=True)).rstrip()
        for row in rows
    ]
