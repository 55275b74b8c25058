"""A run judged by a policy and a baseline: states of items, what is said of rules and entries, the baseline anew.

Rules and entries are judged in `policy.py`; here are items, files, words, and the clock: a rule that expires needs
today's date, which is read once, from SOURCE_DATE_EPOCH where that is set, else in UTC.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from typing import Any

from .. import policy
from ..errors import ProxaiError
from ..policy import Case, Judge, Known, Policy
from ..reasons import LEVELS
from ..report.account import Change, Found, Item, fingerprint, places, pointer
from ..report.lines import counted, safe
from .inputs import read_again
from .outputs import write_file

FOLDED_AFTER = 5


class Standing:
    """What a run is judged by: a policy (which may be empty) and a baseline.

    State: the judge of the run.
    """

    def __init__(
        self,
        said: Policy | None,
        place: str | None,
        baseline: str | None,
        is_anew: bool,
        is_whole: bool,
        unmatched: list[str],
    ) -> None:
        """`is_anew` says that the baseline is to be written, `is_whole` that the run is about all that the policy is
        for, so that rules and entries which do nothing are told; `unmatched` are patterns of the policy that no file
        matches. Raises `bad-policy` where the baseline is none."""
        self.policy, self.place, self.baseline = said or Policy(), place, baseline
        self.is_anew, self.is_whole, self.unmatched = is_anew, is_whole, unmatched
        self.known = _known(baseline, is_anew) if baseline else []
        self.today = today() if any(rule.expires for rule in self.policy.rules) else None
        self.judge = Judge()

    def judged(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items with the state of each change and finding."""
        self.judge = Judge(self.policy.rules, self.known, self.today)
        return map(self._item, items)

    def _item(self, item: Item) -> Item:
        file = self._file(item.path)
        changes, findings = list[Change](), list[Found]()
        for change in item.changes:
            case = _case(item, change, change.reason, change.op, change.leaves, file)
            state, rule = self.judge.judged(case)
            changes.append(change._replace(state=state, rule=rule))
        for found in item.findings:
            state, _ = self.judge.judged(_case(item, found, found.code, policy.FOUND, 1, file))
            findings.append(found._replace(state=state))
        return item._replace(changes=tuple(changes), findings=tuple(findings))

    def _file(self, path: str) -> str:
        """A capture's path as seen from the policy's folder."""
        if self.place is None or path == "-":
            return path
        try:
            return os.path.relpath(path, os.path.dirname(self.place) or ".").replace(os.sep, "/")
        except ValueError:
            return path

    def verdict(self, complete: bool) -> dict[str, Any]:
        """The parts of a report's verdict that it is about; `complete` says that all of every input was read."""
        return {
            "policy": self.place,
            "baseline": self.baseline,
            "unused_rules": tuple(self._unused(complete)),
            "expired_rules": tuple(self.judge.expired),
            "gone": tuple(entry.fingerprint for entry in self._gone(complete)),
        }

    def _unused(self, complete: bool) -> list[str]:
        """Rules that fitted nothing, which nobody knows of a run that could not look everywhere."""
        return self.judge.unused if self.is_whole and complete else []

    def _gone(self, complete: bool) -> list[Known]:
        """What was not met, which nobody knows of a run that could not look everywhere."""
        return self.judge.gone if self.is_whole and complete else []

    def notes(self, complete: bool) -> Iterator[str]:
        """What must be known of patterns, rules and entries that did nothing."""
        yield from (f"{self.place}: no file matches {each}" for each in self.unmatched)
        for rules, what in ((self.judge.expired, "expired"), (self._unused(complete), "fitted nothing")):
            if rules:
                yield f"{self.place}: {counted(len(rules), 'rule')} {what} ({safe(', '.join(rules))})"
        gone = self._gone(complete)
        for entry in gone[:FOLDED_AFTER]:
            yield f"gone from {self.baseline}: {entry.reason} {entry.op} {_place(entry)} {_way(entry)}".rstrip()
        if len(gone) > FOLDED_AFTER:
            yield f"{len(gone) - FOLDED_AFTER} more gone from {self.baseline}; --write-baseline strikes them out"
        more = list(self._more())
        yield from more[:FOLDED_AFTER]
        if len(more) > FOLDED_AFTER:
            yield f"{len(more) - FOLDED_AFTER} more are known, but more than before; --write-baseline counts them anew"

    def _more(self) -> Iterator[str]:
        """What is known and met more often than the baseline says, but for notes, in which nothing is lost."""
        met, levels = Counter[str](), dict[str, str]()
        for case, judgement in self.judge.cases:
            if judgement.state == policy.KNOWN:
                met[case.fingerprint] += case.leaves
                levels[case.fingerprint] = case.level
        for entry in self.known:
            count = met[entry.fingerprint]
            if count > entry.leaves and levels[entry.fingerprint] != LEVELS[0]:
                in_all = f"({counted(count, 'leaf')}, {entry.leaves} in the baseline)"
                yield f"known, but more than before: {_place(entry)} {in_all}"

    def rewrite(self, captures: int, verbose: bool) -> list[str]:
        """Write the baseline anew, and judge by it from now on; the lines that say what was taken in and struck out.

        Notes are only counted, unless all is to be told. Raises `not-written`.
        """
        assert self.baseline is not None
        before, known = self.known, policy.taken(self.judge.cases)
        write_file(self.baseline, policy.written(known))
        self.known = known
        levels = {case.fingerprint: case.level for case, _ in self.judge.cases}
        was, now = ({entry.fingerprint for entry in each} for each in (before, known))
        came = [("+", levels[each.fingerprint], each) for each in known if each.fingerprint not in was]
        went = [("-", each.level, each) for each in before if each.fingerprint not in now]
        sum_of = f"{self.baseline}: {len(known)} known (+{len(came)} -{len(went)}) from {counted(captures, 'capture')}"
        return [*_told(came, verbose), *_told(went, verbose), sum_of]


def today() -> date:
    """The day in UTC, or that of SOURCE_DATE_EPOCH, for runs that are to be repeated."""
    told = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        return (datetime.fromtimestamp(int(told), UTC) if told else datetime.now(UTC)).date()
    except (ValueError, OverflowError, OSError):
        raise ProxaiError(
            "bad-call", "SOURCE_DATE_EPOCH is no time in seconds", hint="unset SOURCE_DATE_EPOCH"
        ) from None


def _known(place: str, is_anew: bool) -> list[Known]:
    """The entries of a baseline; one that is to be written need not be there."""
    if is_anew and not os.path.isfile(place):
        return []
    try:
        return policy.read_baseline(read_again(place))
    except ProxaiError as error:
        is_there = os.path.lexists(place)
        hint = "name another place for the baseline, or remove this file" if is_anew else error.hint
        said = error.message if is_there else "there is no such baseline yet"
        problem = ProxaiError("bad-policy", said, error.place, hint=hint or "proxai diff --write-baseline")
        problem.path = place
        raise problem from None


def _case(item: Item, said: Change | Found, code: str, op: str, leaves: int, file: str) -> Case:
    exact = (pointer(said.source), pointer(said.target)) if isinstance(said, Change) else (said.at, None)
    return Case(code, op, exact, places(said), item.pair, file, said.level, fingerprint(item.pair, said), leaves)


def _told(entries: list[tuple[str, str, Known]], verbose: bool) -> list[str]:
    """One line for each entry (sign, level, entry) that came or went, the most severe first."""
    rows = []
    for sign, level, entry in sorted(entries, key=lambda one: -LEVELS.index(one[1])):
        if verbose or level != LEVELS[0]:
            end = counted(entry.leaves, "leaf") if sign == "+" else "(not met any more)"
            rows.append((f"{sign} {level}", entry.reason, entry.op, _place(entry), _way(entry), end))
    widths = [max((len(row[at]) for row in rows), default=0) for at in range(5)]
    lines = ["  ".join(f"{cell:{width}}" for cell, width in zip(row, [*widths, 0], strict=True)) for row in rows]
    left = len(entries) - len(rows)
    return (
        [*lines, f"{entries[0][0]} {counted(left, 'note')}, in which nothing is lost (-v lists them)"]
        if left
        else lines
    )


def _place(entry: Known) -> str:
    return " -> ".join(safe(each or "/") for each in (entry.source, entry.target) if each is not None)


def _way(entry: Known) -> str:
    """`chat -> messages request`."""
    source, target, kind = entry.pair
    return " ".join(filter(None, [" -> ".join(filter(None, [source, target])), kind]))
