"""The account as lines of text: the summary of a translation, and one line for each change, for grep and editors."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator

from .. import text
from ..ledger import CHANGED, SYNTHESIZED, Path
from ..reasons import LEVELS
from .account import (
    Change,
    Counts,
    Found,
    Item,
    Report,
    Same,
    Together,
    code,
    groups,
    is_failure,
    levels_of,
    pointer,
    sentence,
)
from .forms import Shown

SHOWN = 3


# What CI servers obey in a log: `::` at the beginning of a line, `##[` and `##vso[` anywhere in one.
_ORDERS = re.compile(r"::|##(?=\w*\[)")


def safe(said: str) -> str:
    """A text without anything that could steer a terminal or the CI server that shows a log.

    What is not printable is shown by its escape; so is one letter of what would be an order.
    """
    if not said.isprintable():
        said = "".join(
            char if char.isprintable() else char.encode("unicode_escape", "backslashreplace").decode() for char in said
        )
    return _ORDERS.sub(lambda order: f"{order[0][0]}\\x{ord(order[0][1]):02x}", said)


# Words whose plural is not with `s`.
_PLURALS = {"leaf": "leaves", "loss": "losses", "unexplained": "unexplained"}


def counted(number: int, word: str) -> str:
    """A number with its word: `1 leaf`, `2 leaves`."""
    return f"{number} {word if number == 1 else _PLURALS.get(word, f'{word}s')}"


def summary(item: Item, details: str = "", verbose: bool = False) -> list[str]:
    """What became of one document, in a few lines: its sides, one line for each reason, the sums.

    Notes are left out, but for what was added to a request, since that acts; `verbose` shows all, and the evidence.
    `details` is the command that shows everything.
    """
    if item.source is None or item.target is None:
        return []
    if item.counts is None:
        return [f"{name(item)}: {way(item)} ({safe('; '.join(item.source.evidence))})", *_account(item, verbose)]
    is_stream = item.source.kind == item.target.kind == "stream" and item.source.events is not None
    told = [f"{name(item)}: {way(item)}{_state(item) if is_stream else f' ({how_sure(item)})'}"]
    if verbose:
        told += [f"  evidence: {safe(one)}" for one in item.source.evidence]
    shown = _account(item, verbose)
    if shown or verbose or not is_stream:
        shown += _left(item.changes, verbose)
        shown.append(sums(item.counts, "source") + (f"; details: {safe(details)}" if details and item.changes else ""))
    return told + shown


def summary_of_records(records: Together, details: str = "", verbose: bool = False) -> list[str]:
    """The same for all records of one input together."""
    whole, count = records.item, records.statuses.total()
    done, skipped = records.statuses["ok"], records.statuses["skipped"]
    told = [f"{name(whole)}: {count} records, {done} done, {count - done - skipped} failed, {skipped} left out"]
    if whole.counts and whole.counts.source:
        told += [*_account(whole, verbose), *_left(whole.changes, verbose)]
        told.append(sums(whole.counts, "source") + (f"; details: {safe(details)}" if details and whole.changes else ""))
    return told


def _account(item: Item, verbose: bool) -> list[str]:
    """One line for each reason, and for each finding, that is worth one."""
    shown = [
        group
        for group in groups(item.changes)
        if verbose
        or group.level != "note"
        or (group.op == SYNTHESIZED and item.source is not None and item.source.kind == "request")
    ]
    reasons = max((len(group.reason) for group in shown), default=0)
    levels = max((len(group.level) for group in shown), default=0)
    told = [
        f"  {group.level:{levels}}  {group.reason:{reasons}}  {group.op:11}  {_places(group.places, group.leaves)}"
        for group in shown
    ]
    return told + [
        f"  {found.level}  {found.code}  {where(found)}{safe(found.text)}" for found in _severe(item.findings, verbose)
    ]


def _left(changes: Iterable[Change], verbose: bool) -> list[str]:
    """The notes of the source that have no line, so that whoever adds up the lines comes to the sums."""
    leaves = sum(each.leaves for each in changes if each.level == "note" and each.op != SYNTHESIZED)
    return [f"  note  {counted(leaves, 'leaf')} in which nothing is lost (-v)"] if leaves and not verbose else []


def _severe(findings: Iterable[Found], verbose: bool) -> list[Found]:
    return [found for found in findings if verbose or found.level != "note"]


def where(found: Found) -> str:
    """The place of a finding as the beginning of a line, or nothing."""
    place = found.place or {}
    said = [f"event {place['event']}"] if "event" in place else [f"line {place['line']}"] if "line" in place else []
    return " ".join([*said, *([safe(found.at)] if found.at else [])]) + (": " if said or found.at else "")


def name(item: Item) -> str:
    """The document's name on a screen: path, and record where there are several."""
    path = "stdin" if item.path == "-" else safe(item.path)
    return path if item.record is None else f"{path}#{item.record}"


def way(item: Item) -> str:
    """From what to what; the kind again only where it changes."""
    source, target = item.source, item.target
    if source is None:
        return ""
    said = f"{source.protocol} {what(item)}"
    if target is None:
        return said
    kind = "" if target.kind == source.kind else f" {target.kind}"
    return f"{said} -> {target.protocol}{kind}"


def what(item: Item) -> str:
    """What a document is: its kind, behind the call that it belongs to where that creates no reply; or an exchange."""
    if item.source is None:
        return ""
    words = [safe(item.label or ""), "exchange" if item.container == "exchange" else item.source.kind]
    return " ".join(filter(None, words))


def how_sure(item: Item) -> str:
    """How sure the protocol is, with the first piece of evidence."""
    if item.source is None or not item.source.sure:
        return ""
    evidence = f": {safe(item.source.evidence[0])}" if item.source.evidence else ""
    return item.source.sure + evidence


def _state(item: Item) -> str:
    """How a stream ended, in numbers."""
    levels = levels_of(item.changes)
    losses = sum(levels[level] for level in LEVELS if level != "note")
    left_out = sum(map(is_failure, item.findings))
    state = {"ok": "complete", "cut": "cut", "skipped": f"{left_out} left out"}[item.status]
    events = item.source.events if item.source else 0
    return f", {events} events, {state}, {counted(losses, 'loss')}"


def _places(places: dict[str, int], count: int) -> str:
    shown = ", ".join(safe(place) for place in list(places)[:SHOWN])
    more = f", … {counted(len(places) - SHOWN, 'more place')}" if len(places) > SHOWN else ""
    return shown + more + (f" ({count})" if count > 1 else "")


def sums(counts: Counts, *sides: str) -> str:
    """`source 41 = 33 carried + 6 changed + 2 dropped`, and the same of the target where it is asked for."""
    told = []
    for side in sides:
        leaves = (counts.source if side == "source" else counts.target)["leaves"]
        parts = " + ".join(f"{count} {fate}" for fate, count in counts.fates(side).items())
        told.append(f"{side} {leaves} = {parts}")
    return " · ".join(told)


def sums_within(counts: Counts, width: int) -> list[str]:
    """The sums of both sides in one line, or in one each where they do not fit."""
    whole = sums(counts, "source", "target")
    return [whole] if len(whole) <= width else [sums(counts, side) for side in ("source", "target")]


def formed(report: Report, shown: Shown) -> bytes:
    """One line for each change and finding of a run."""
    return "".join(line + "\n" for item in report.items for line in changes(item)).encode()


def changes(item: Item, these: Iterable[Change | Found] | None = None) -> Iterator[str]:
    """`file:line:column: level reason op source -> target: text` for each change and finding, or for these."""
    for said in item.said if these is None else these:
        start, judged = _position(item, said.place or {}), judgement(said)
        end = (says(said, item) or safe(sentence(said))) + (f" [{judged}]" if judged else "")
        yield f"{start}: {said.level} {code(said)} {happened(said)}: {end}"


def says(change: Change | Found, item: Item) -> str:
    """What two documents say of one thing, as far as a report may tell it: `the stream says 0, the body 256`."""
    if not isinstance(change, Change) or not change.avoidable or change.op != CHANGED:
        return ""
    before, after = change.before or {}, change.after or {}
    if "value" not in before or "value" not in after:
        return ""
    kinds = [side.kind if side else "" for side in (item.source, item.target)]
    one, other = ("the stream", "the body") if kinds == ["stream", "response"] else ("the first", "the second")
    if kinds == ["response", "stream"]:
        one, other = other, one
    return f"{one} says {_value(before['value'])}, {other} {_value(after['value'])}"


def _value(value: object) -> str:
    return safe(text.dumps(value).decode())


Places = Callable[[Path | None], str | None]


def happened(said: Change | Found, leaves: int = 0, places: Places = pointer) -> str:
    """`dropped /stop (2)`, `changed /a -> /b`, `found /a`: what happened to which place.

    `leaves` is their number where it is not that of this change alone, `places` how a path is told.
    """
    return f"{said.op if isinstance(said, Change) else 'found'} {places_of(said, leaves, places)}"


def places_of(said: Change | Found, leaves: int = 0, places: Places = pointer) -> str:
    """`/stop (2)`, `/a -> /b`: its places alone."""
    if isinstance(said, Found):
        return safe(said.at or "/")
    way = " -> ".join(safe(places(path) or "/") for path in (said.source, said.target) if path is not None)
    leaves = leaves or said.leaves
    return way + (f" ({leaves})" if leaves > 1 else "")


def message(said: Change | Found, leaves: int = 0, places: Places = pointer) -> str:
    """The whole of it for one cell or annotation: what happened to which place, what that means, how it was judged."""
    nowhere = isinstance(said, Found) and not said.at
    told = sentence(said) if nowhere else f"{happened(said, leaves, places)}: {sentence(said)}"
    judged = judgement(said)
    return safe(told) + (f" [{judged}]" if judged else "")


def is_judged(report: Report, told: Iterable[Same]) -> bool:
    """Was a run, of which this is told, judged by a policy or a baseline?"""
    return bool(report.verdict.policy or report.verdict.baseline) or any(same.said.state != "new" for same in told)


def told_together(report: Report, told: Collection[Same]) -> str:
    """A run, of which this is told, in one line: what was not read, rules, and how much of it there is.

    Where it was judged that is how much is new (notes apart), denied, known, allowed; else how much is of each level.
    """
    verdict = report.verdict
    these = [same.said for same in told if not is_failure(same.said)]
    states = Counter(said.state for said in these if said.state != "new")
    new = Counter(said.level for said in these if said.state == "new")
    notes = new.pop("note", 0)
    if is_judged(report, told):
        parts = [f"{new.total()} new"]
        parts += [f"{states[state]} {state}" for state in ("denied", "known", "allowed") if states[state]]
    else:
        parts = [counted(new[level], level) for level in reversed(LEVELS) if new[level]] or ["0 losses"]
    parts += [counted(notes, "note")] if notes else []
    rules = {"expired": verdict.expired_rules, "fitted nothing": verdict.unused_rules}
    parts += [
        f"{counted(len(names), 'rule')} {what} ({safe(', '.join(names))})" for what, names in rules.items() if names
    ]
    parts += [f"{len(verdict.gone)} gone"] if verdict.gone else []
    statuses = Counter(item.status for item in report.items)
    words = {"failed": "failed", "cut": "cut", "skipped": "left out"}
    parts += [f"{statuses[status]} {word}" for status, word in words.items() if statuses[status]]
    return ", ".join(parts) + ("" if verdict.complete else "; not all was looked at")


def judgement(said: Change | Found) -> str:
    """How a policy judged it, and whether the translation could have done otherwise; empty for what is merely new."""
    told: list[str] = []
    if isinstance(said, Change) and said.avoidable is not None:
        told.append("avoidable" if said.avoidable else "unavoidable")
    rule = said.rule if isinstance(said, Change) else None
    if said.state != "new":
        told.append(f"{said.state} by {safe(rule)}" if rule else said.state)
    return ", ".join(told)


def _position(item: Item, place: dict[str, int]) -> str:
    path = "-" if item.path == "-" else safe(item.path)
    return f"{path}:{place.get('line', 1)}:{place.get('column', 1)}"
