"""What somebody else's translation did, for the screen: what it could have kept stands first.

Changes of such an account say whether they were avoidable.
"""

from collections.abc import Iterable, Iterator

from ..ledger import CHANGED, DROPPED, IGNORED, SYNTHESIZED, VOLATILE
from ..reasons import LEVELS
from .account import Change, Found, Item, kinds_of_places, pointer
from .forms import Shown
from .grid import grid
from .lines import counted, how_sure, judgement, name, safe, says, sums, sums_within, where

# What stands above the changes that somebody else could have avoided, by what was done.
AVOIDABLE = {
    DROPPED: "avoidable: the gateway lost it, the target has a place for it",
    CHANGED: "avoidable: the gateway changed it, the target can say the same",
    SYNTHESIZED: "avoidable: the gateway added it, nothing asks for it",
}
UNAVOIDABLE = "unavoidable"
INDENT = 4


def told(item: Item, shown: Shown, forgiven: str = "") -> list[str]:
    """One pair of documents in lines; `forgiven` says how much of it is not in the item.

    What was only put in because the target demands it is left to `verbose`.
    """
    verbose = shown.verbose
    lines = [_head(item)]
    if verbose and item.source:
        lines += [f"  evidence: {safe(one)}" for one in item.source.evidence]
    blamed = sorted((change for change in item.changes if change.avoidable), key=_severity)
    others = [change for change in item.changes if not change.avoidable]
    demanded = [change for change in others if change.op == SYNTHESIZED and change.level == "note" and not verbose]
    rest = [change for change in others if verbose or change.op != SYNTHESIZED or change.level != "note"]
    parts = {title: _rows((each for each in blamed if each.op == op), item) for op, title in AVOIDABLE.items()}
    parts[UNAVOIDABLE] = _grouped(rest)
    for title, rows in parts.items():
        if rows:
            lines += [f"  {title}", *_columns(rows, shown.room)]
    if demanded:
        lines.append(f"  {sum(change.leaves for change in demanded)} that the target demands (-v)")
    for found in item.findings:
        lines.append(f"  {found.level}  {found.code}  {where(found)}{safe(found.text)}" + _judged(found))
    lines += [f"  {forgiven}"] if forgiven else []
    if item.counts:
        lines += _not_compared(item.counts.source, item.counts.target)
        if shown.sums:
            whole = sums(item.counts, "source", "target")
            lines += [whole] if shown.room is None else sums_within(item.counts, shown.room)
    first = next(iter([*blamed, *sorted(rest, key=_severity)]), None)
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
    for change in changes:
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
    groups: dict[tuple[str, str, str], list[Change]] = {}
    for change in sorted(changes, key=_severity):
        groups.setdefault((change.level, change.op, _joined("", change)), []).append(change)
    return [
        (level, op, safe(place or "/") + (f" ({count})" if count > 1 else ""), tail)
        for (level, op, tail), these in groups.items()
        for place, count in kinds_of_places(these).items()
    ]


def _columns(rows: list[tuple[str, str, str, str]], room: int | None) -> list[str]:
    told = grid(("",) * 4, rows, width=None if room is None else room - INDENT)[1:]
    return [" " * INDENT + line for row in told for line in row.splitlines()]
