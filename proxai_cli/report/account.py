"""From a ledger to what a report says: changes, sums, findings; one item for each document. Nothing here prints.

Changes are the entries of a ledger that are not `carried`. In a stream a path begins with the event's type or number;
here it is the path inside the event's data, with `*` for each position, and events are told by their numbers, from 1.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from .. import text
from ..ledger import CARRIED, CHANGED, DROPPED, SYNTHESIZED, Entry, Path, get
from ..reasons import ERRORS, FINDINGS, LEVELS, REASONS

# The states of what does not count against a run.
FORGIVEN = ("known", "allowed")
_POSITION = re.compile(r"(?<=/)[0-9]+(?=/|$)")

FATES = {"source": (CARRIED, CHANGED, DROPPED), "target": (CARRIED, CHANGED, SYNTHESIZED)}


class Row(NamedTuple):
    """An entry; of a stream also the first and the last event that it speaks of, the first value described, and where
    the first stands."""

    fate: str
    source: Path | None
    target: Path | None
    why: str | None
    level: str | None
    ours: int
    theirs: int
    events: tuple[int, int] | None = None
    before: dict[str, Any] | None = None
    place: dict[str, int] | None = None


class Change(NamedTuple):
    """One change of a report; `before` and `after` describe the values where the report may.

    `avoidable` is told of what somebody else's translation did. `state` (new, known, allowed, denied) and `rule` say
    how a policy judged it.
    """

    op: str
    source: Path | None
    target: Path | None
    reason: str
    level: str
    leaves: int
    events: tuple[int, int] | None = None
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None
    place: dict[str, int] | None = None
    avoidable: bool | None = None
    state: str = "new"
    rule: str | None = None


class Found(NamedTuple):
    """One finding or error of a report; `layer` is empty for errors that have none."""

    code: str
    level: str
    text: str
    layer: str = ""
    at: str | None = None
    place: dict[str, int] | None = None
    state: str = "new"


class Side(NamedTuple):
    """Source or target of a document; whatever is not known is None."""

    protocol: str
    kind: str
    sure: str | None = None
    evidence: tuple[str, ...] = ()
    model: str | None = None
    bytes: int | None = None
    leaves: int | None = None
    events: int | None = None


class Counts(NamedTuple):
    """Leaves on each side: all that there are, counted by themselves, and those of each fate."""

    source: dict[str, int]
    target: dict[str, int]

    @property
    def balanced(self) -> bool:
        """The first law: what there is equals what is accounted for, on both sides."""
        return all(side["leaves"] == sum(side.values()) - side["leaves"] for side in self)

    def fates(self, side: str) -> dict[str, int]:
        """The fates on a side, with their leaves: those that every account has, and others that there are."""
        numbers = self.source if side == "source" else self.target
        return {fate: numbers[fate] for fate in numbers if fate in FATES[side] or (numbers[fate] and fate != "leaves")}


class View(NamedTuple):
    """Both documents whole, for a report that shows them side by side: of a body its value, of a stream the list of its
    events; and every entry of the account, with the event's position in its list as the first step of a stream's paths.

    Values that the report may not tell are hidden already (`view.hidden`). `by`, where a stream became a stream, says
    for each target event which source event let it out; the number behind the last one is the stream's end.
    """

    source: Any
    target: Any
    entries: tuple[Entry, ...]
    by: tuple[int, ...] = ()


class Item(NamedTuple):
    """What a report says of one document. `status` is ok, cut, failed or skipped.

    `view` is there only where a report shows whole documents, `against` only where two are compared: the second's path.
    """

    path: str
    container: str
    source: Side | None = None
    target: Side | None = None
    status: str = "ok"
    counts: Counts | None = None
    changes: tuple[Change, ...] = ()
    findings: tuple[Found, ...] = ()
    record: int | None = None
    label: str | None = None
    view: View | None = None
    against: str | None = None

    @property
    def said(self) -> "list[Change | Found]":
        """All changes, then all findings."""
        return [*self.changes, *self.findings]

    @property
    def pair(self) -> tuple[str | None, str | None, str | None]:
        """Source protocol, target protocol and kind."""
        source, target = self.source, self.target
        return source and source.protocol, target and target.protocol, source and source.kind


class Verdict(NamedTuple):
    """How a run ends: its exit code, whether all of every input was looked at, what it fails on; and of a policy its
    file, the baseline, the rules that fitted nothing or expired, and the baseline's entries that were not met."""

    exit: int
    complete: bool
    fail_on: str
    policy: str | None = None
    baseline: str | None = None
    unused_rules: tuple[str, ...] = ()
    expired_rules: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


class Report(NamedTuple):
    """One run, for whoever writes it down in a form: the command, its items, how it ends, our version."""

    command: str
    items: Collection[Item]
    verdict: Verdict
    tool: str


def rows_of_body(entries: Iterable[Entry]) -> Iterator[Row]:
    return (Row(*entry) for entry in entries)


def rows_of_stream(
    account: dict[tuple[Any, ...], list[int]],
    before: dict[tuple[Any, ...], dict[str, Any]],
    places: dict[tuple[Any, ...], dict[str, int]],
) -> Iterator[Row]:
    """The account of a `StreamTranslator`, with the first value of each line and its place where they are known."""
    for key, (ours, theirs, first, last) in account.items():
        fate, source, target, why, level = key
        ways = source and source[1:], target and target[1:]
        events = (first + 1, last + 1)
        yield Row(fate, *ways, why, level, ours, theirs, events, before.get(key), places.get(key))


def rows_of_collected(entries: Iterable[Entry]) -> Iterator[Row]:
    """Entries whose source is a list of events."""
    for entry in entries:
        number = entry.source[0] + 1 if entry.source else None
        events = (number, number) if number else None
        yield Row(*entry._replace(source=_pattern(entry.source and entry.source[1:])), events)


def rows_of_exploded(entries: Iterable[Entry]) -> Iterator[Row]:
    """Entries whose target is a list of events."""
    for entry in entries:
        number = entry.target[0].number + 1 if entry.target else None
        events = (number, number) if number else None
        yield Row(*entry._replace(target=_pattern(entry.target and entry.target[1:])), events)


def counts_of(rows: Iterable[Row], source_leaves: int, target_leaves: int, apart: Iterable[str] = ()) -> Counts:
    """The sums of an account beside the leaves that were counted without it; `apart` are further fates."""
    source = {"leaves": source_leaves, **dict.fromkeys((*FATES["source"], *apart), 0)}
    target = {"leaves": target_leaves, **dict.fromkeys((*FATES["target"], *apart), 0)}
    for row in rows:
        if row.fate in source:
            source[row.fate] += row.ours
        if row.fate in target:
            target[row.fate] += row.theirs
    return Counts(source, target)


def changes_of(rows: Iterable[Row]) -> list[Change]:
    """The rows that are changes; those that say the same of the same places are one."""
    found: dict[tuple[Any, ...], Change] = {}
    for row in rows:
        if row.fate == CARRIED or row.why is None or row.level is None:
            continue
        leaves = row.ours or row.theirs or 1
        change = Change(row.fate, row.source, row.target, row.why, row.level, leaves, row.events, row.before)
        change = change._replace(place=row.place)
        key = change[:5]
        if key in found:
            before = found[key]
            change = before._replace(leaves=before.leaves + change.leaves, events=_span(before.events, change.events))
        found[key] = change
    return list(found.values())


def _span(one: tuple[int, int] | None, other: tuple[int, int] | None) -> tuple[int, int] | None:
    if one is None or other is None:
        return one or other
    return min(one[0], other[0]), max(one[1], other[1])


def _pattern(path: Path | None) -> Path | None:
    return path and tuple("*" if isinstance(key, int) else key for key in path)


def pointer(path: Path | None) -> str | None:
    """A path as JSON Pointer."""
    return None if path is None else text.pointer(path)


def pattern(path: Path | None) -> str | None:
    """A path as JSON Pointer with `*` for each position: the same for whatever stands at the same kind of place."""
    return pointer(_pattern(path))


def fingerprint(pair: tuple[str | None, str | None, str | None], said: Change | Found) -> str:
    """16 hex digits that name a change whatever the file, its length and its texts (`design/cli.md`, The report).

    Of a finding the op is `found`, its code stands for the reason and its place for the source.
    """
    from hashlib import sha256

    named = (said.op, said.reason) if isinstance(said, Change) else ("found", said.code)
    return sha256(text.dumps([*pair, *named, *places(said)])).hexdigest()[:16]


def places(said: Change | Found) -> tuple[str | None, str | None]:
    """Where it is in source and target, with `*` for each position."""
    if isinstance(said, Change):
        return pattern(said.source), pattern(said.target)
    return said.at and _POSITION.sub("*", said.at), None


class Same(NamedTuple):
    """What has one fingerprint and was judged alike: the first of it, with its item; and of all of it the leaves (of
    findings how many there are) and the documents."""

    fingerprint: str
    said: Change | Found
    item: Item
    leaves: int
    documents: int


def told_once(items: Iterable[Item]) -> list[Same]:
    """Changes and findings by fingerprint: what was denied first, then the most severe (of these what could have been
    avoided), and what counts for nothing (known, allowed) last."""
    found: dict[tuple[Any, ...], Same] = {}
    homes: dict[tuple[Any, ...], int] = {}
    for number, item in enumerate(items):
        for said in item.said:
            mark, leaves = fingerprint(item.pair, said), said.leaves if isinstance(said, Change) else 1
            key = (mark, said.level, *_judgement(said))
            first = found.setdefault(key, Same(mark, said, item, 0, 0))
            is_new = homes.get(key) != number
            homes[key] = number
            found[key] = first._replace(leaves=first.leaves + leaves, documents=first.documents + is_new)
    return sorted(found.values(), key=lambda same: _order(same.said))


def _order(said: Change | Found) -> tuple[bool, bool, int, bool]:
    avoidable = isinstance(said, Change) and said.avoidable is True
    return *_standing(said.state), -LEVELS.index(said.level), not avoidable


def _standing(state: str) -> tuple[bool, bool]:
    """The place of a state among others: denied, new, and then what counts for nothing."""
    return state in FORGIVEN, state != "denied"


def _judgement(said: Change | Found) -> tuple[Any, ...]:
    return (said.state, said.rule, said.avoidable) if isinstance(said, Change) else (said.state,)


def severity(said: Change | Found) -> int:
    """The place of its level among LEVELS; what a rule denies counts at least as much as a risk."""
    level = LEVELS.index(said.level)
    return max(level, LEVELS.index("risk")) if said.state == "denied" else level


def is_failure(said: Change | Found) -> bool:
    """Is it an error, for which the document (or the rest of it) was not looked at?"""
    return isinstance(said, Found) and said.code in ERRORS


def described(value: Any, how: str, known: frozenset[str]) -> dict[str, Any]:
    """A captured value as a report may tell it: `short` tells numbers, booleans and known words, else the size."""
    if value is None:
        return {"type": "null"}
    if isinstance(value, bool):
        return {"type": "boolean", "value": value}
    if isinstance(value, (int, float)):
        return {"type": "number", "value": value}
    kind = "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"
    said = {"type": kind, "size": len(value)}
    if how == "full" or (isinstance(value, str) and value in known):
        said["value"] = value
    return said


def with_values(
    changes: Iterable[Change], source: Any, target: Any, how: str, known: frozenset[str]
) -> Iterator[Change]:
    """The changes with the values before and after, where source or target are bodies (None: not to be looked into)."""
    if how == "none":
        yield from changes
        return
    for change in changes:
        said: dict[str, Any] = {}
        if source is not None and change.source is not None:
            said["before"] = described(get(source, change.source), how, known)
        if target is not None and change.target is not None and change.op != DROPPED:
            said["after"] = described(get(target, change.target), how, known)
        yield change._replace(**said)


def finding(code: str, at: str | None = None, place: dict[str, int] | None = None) -> Found:
    """A finding, or an error told as one, with the sentence and level of its code."""
    if code in FINDINGS:
        notice = FINDINGS[code]
        return Found(code, notice.level, notice.text, notice.layer, at, place)
    return Found(code, "risk", ERRORS[code].text, "", at, place)


def sentence(said: Change | Found) -> str:
    """What a change or finding means to the person who lost something."""
    if isinstance(said, Found):
        return said.text
    return REASONS[said.reason].text if said.reason in REASONS else ""


def code(said: Change | Found) -> str:
    """The reason of a change, the code of a finding."""
    return said.reason if isinstance(said, Change) else said.code


def levels_of(changes: Iterable[Change]) -> dict[str, int]:
    """How many leaves the changes of each level speak of."""
    levels = dict.fromkeys(LEVELS, 0)
    for change in changes:
        levels[change.level] += change.leaves
    return levels


class Together:
    """The records of one input as one item: sums, and changes and findings of the same kind as one each.

    State: what was added so far; it grows with the kinds, not with the records.
    """

    def __init__(self) -> None:
        self.statuses: Counter[str] = Counter()
        self._first: Item | None = None
        self._counts: dict[str, dict[str, int]] = {"source": {}, "target": {}}
        self._changes: dict[Change, int] = {}
        self._findings: dict[Found, int] = {}

    def add(self, item: Item) -> None:
        self._first = self._first or item
        self.statuses[item.status] += 1
        for name, sums in self._counts.items():
            for key, count in (getattr(item.counts, name) if item.counts else {}).items():
                sums[key] = sums.get(key, 0) + count
        for change in item.changes:
            places = _pattern(change.source), _pattern(change.target)
            kind = Change(change.op, *places, change.reason, change.level, 1, state=change.state)
            self._changes[kind] = self._changes.get(kind, 0) + change.leaves
        for found in item.findings:
            seen = found._replace(at=found.at and _POSITION.sub("*", found.at), place=None)
            self._findings[seen] = self._findings.get(seen, 0) + 1

    @property
    def item(self) -> Item:
        """What was added, as one; there must have been something."""
        assert self._first is not None
        findings = (
            found if count == 1 else found._replace(text=f"{found.text} ({count} times)")
            for found, count in self._findings.items()
        )
        return self._first._replace(
            record=None,
            counts=Counts(**self._counts),
            changes=tuple(kind._replace(leaves=leaves) for kind, leaves in self._changes.items()),
            findings=tuple(findings),
        )


def together(items: Iterable[Item]) -> Item:
    """Several items as one."""
    whole = Together()
    for item in items:
        whole.add(item)
    return whole.item


class Group(NamedTuple):
    """Changes for one reason that were judged alike: the kinds of places with their leaves, and all leaves together."""

    level: str
    reason: str
    op: str
    state: str
    places: dict[str, int]
    leaves: int

    @property
    def text(self) -> str:
        """What the reason means."""
        return REASONS[self.reason].text if self.reason in REASONS else ""


def groups(changes: Iterable[Change]) -> list[Group]:
    """Changes by level, reason, op and state: what was denied first, then the most severe, and what counts for nothing
    last."""
    found: dict[tuple[str, str, str, str], list[Change]] = {}
    for change in changes:
        found.setdefault((change.level, change.reason, change.op, change.state), []).append(change)
    told = [Group(*key, kinds_of_places(these), sum(one.leaves for one in these)) for key, these in found.items()]
    return sorted(told, key=lambda group: (*_standing(group.state), -LEVELS.index(group.level)))


def kinds_of_places(changes: Iterable[Change]) -> dict[str, int]:
    """Where changes stand, in the source or else in the target, with their leaves: the places of one kind as one, with
    `*` for each position; a place that is the only one of its kind by itself."""
    kinds: dict[str, Counter[str]] = {}
    for change in changes:
        path = change.source if change.source is not None else change.target
        kinds.setdefault(pattern(path) or "", Counter())[pointer(path) or ""] += change.leaves
    return {kind if len(exact) > 1 else next(iter(exact)): exact.total() for kind, exact in kinds.items()}
