"""What somebody else's translation did: a document that went in, held against the one that came out.

Ours is made of the first by our own translation, with its whole account, and held against the second in the IR. What
became of a leaf is then read off in two steps: where our translation puts it, and whether the second says it there. So
whatever is missing or other in the second is either what our translation loses, too, for a reason that it knows, or
somebody's fault.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from .. import text
from ..context import Context
from ..errors import NotThatProtocol
from ..ir.nodes import Node, nodes_of
from ..ir.terms import IMPLIED, TERMS
from ..ledger import (
    CARRIED,
    CHANGED,
    DROPPED,
    IGNORED,
    SYNTHESIZED,
    VOLATILE,
    Entry,
    From,
    Leaf,
    Path,
    get,
    leaves_said,
    restore,
)
from ..protocols import PROTOCOLS
from ..reasons import level
from ..translate import kind_of, translate
from .alignment import (
    DIFFERS,
    JOINED,
    MOVED,
    RENAMED,
    RESPELLED,
    Alignment,
    Document,
    Lone,
    Match,
    is_one_number,
    says_nothing,
    scalars,
)

__all__ = ["Capture", "Difference", "compare"]

# What stands for any value of its kind: another one there is as good.
NEUTRAL = frozenset(
    {"default-max-tokens", "made-id", "missing-result", "no-time", "no-usage", "placeholder", "position", "separator"}
)
# So deep a whole object is told as one.
FOLDED_TO = 8


class Capture(NamedTuple):
    """A parsed body with its protocol and kind (`request`, `response` or `error`)."""

    value: Any
    protocol: str
    kind: str


class Difference(NamedTuple):
    """One line of the account from the first document to the second; fates are those of a ledger, VOLATILE and IGNORED.

    `target` of what is dropped and avoidable is where our own translation would have put it.
    """

    fate: str
    source: Path | None
    target: Path | None
    why: str | None
    level: str | None
    ours: int
    theirs: int
    avoidable: bool | None = None


def compare(
    first: Capture,
    second: Capture,
    context: Context | None = None,
    volatile: bool = False,
    left_out: Callable[[Path], bool] = lambda path: False,
) -> list[Difference]:
    """The account from `first` to `second`; what our own translation notices is not told. Pure.

    With `volatile` what is made anew for every call is compared, too; `left_out` says of a path of either document
    whether it is not to be looked at. Raises `NotThatProtocol` where the kinds differ or a value is not of its
    protocol, and what our own translation raises.
    """
    context = context or Context()
    done = translate(first.value, first.protocol, second.protocol, first.kind, context)
    kind = kind_of(done.value, first.kind)
    if kind != second.kind:
        raise NotThatProtocol(
            "wrong-kind",
            f"the first is of kind {first.kind}, the second {second.kind}; only what is of one kind is compared",
            hint="proxai inspect   tells what each of them is",
        )
    ours = _read(restore(done.value, From(())), second.protocol, kind, context)
    theirs = _read(second.value, second.protocol, kind, context)
    source = _read(first.value, first.protocol, first.kind, context)
    way = _Way(source, theirs, Alignment(ours, theirs, volatile), done.ledger.entries)
    way.leave_out(left_out, volatile)
    return way.account()


def _read(value: Any, protocol: str, kind: str, context: Context) -> Document:
    return Document(value, PROTOCOLS[protocol].read[kind](value, context.fresh()))


class _Feed(NamedTuple):
    """One place of our translation that a leaf feeds, and the reason for which it is changed there."""

    why: str | None
    level: str | None
    at: Path
    leaves: tuple[Path, ...]


class _Way:
    """From the first document over our own translation of it to the second."""

    def __init__(self, source: Document, theirs: Document, alignment: Alignment, entries: Iterable[Entry]) -> None:
        self.source, self.theirs, self.alignment = source, theirs, alignment
        self.feeds: dict[Path, list[_Feed]] = {}
        self.fed: dict[Path, Path] = {}
        self.gone: dict[Path, Entry] = {}
        self.made: dict[Path, Entry] = {}
        for entry in entries:
            self._take(entry)
        self.found: dict[Path, tuple[Path, ...]] = {}
        self.hidden: tuple[dict[Path, str], dict[Path, str]] = {}, {}
        self.made_anew: set[Path] = set()
        self.filled: set[Path] = set()
        self.silent = {
            path
            for node in nodes_of(source.node)
            if says_nothing(node)
            for leaf, _ in leaves_said(node)
            for path in source.scalars(leaf)
        }
        self._find_kept()

    def _take(self, entry: Entry) -> None:
        """What our own translation did to each leaf."""
        here = () if entry.source is None else tuple(scalars(get(self.source.value, entry.source), entry.source))
        at = entry.target
        there = () if at is None else tuple(scalars(get(self.alignment.ours.value, at), at))
        if entry.fate == DROPPED:
            self.gone.update(dict.fromkeys(here, entry))
        elif entry.fate == SYNTHESIZED:
            self.made.update(dict.fromkeys(there, entry))
        elif entry.fate == CARRIED and len(here) == len(there):
            for one, two in zip(here, there, strict=True):
                self.feeds.setdefault(one, []).append(_Feed(None, None, two, (two,)))
                self.fed[two] = one
        else:
            for one in here:
                self.feeds.setdefault(one, []).append(_Feed(entry.why, entry.level, at or (), there))
            self.fed.update(dict.fromkeys(there, here[0]))

    def _find_kept(self) -> None:
        """What our own translation drops or joins, and the second says all the same, in the terms of the first."""
        matched, reached = self.alignment.matched, self.alignment.reached
        there: dict[Any, list[tuple[Node, tuple[Path, ...]]]] = {}
        for key, node, paths in reversed(list(_said(self.theirs))):
            if paths and not any(path in reached for path in paths):
                there.setdefault(key, []).append((node, paths))
        taken: set[Path] = set()
        for key, _, paths in _said(self.source) if there else ():
            fed = [path for path in paths if path in self.feeds]
            if any(leaf in matched for path in fed for feed in self.feeds[path] for leaf in feed.leaves):
                continue
            waiting = there.get(key, [])
            while waiting and waiting[-1][1][0] in taken:
                waiting.pop()
            if paths and waiting and paths[0] not in self.found:
                node, kept = waiting.pop()
                taken.add(kept[0])
                alike = len(paths) == len(kept)
                self.found.update((path, (kept[at],) if alike else kept) for at, path in enumerate(paths))
                self._implied(node)

    def _implied(self, node: Node) -> None:
        """What a node of the second says only because it must."""
        words = [said for name, said in node.says.items() if name in IMPLIED and isinstance(said, Leaf)]
        for path in self.theirs.scalars(*words):
            self.alignment.extra[path] = Lone("required-by-target", False)

    def leave_out(self, left_out: Callable[[Path], bool], volatile: bool) -> None:
        """Hide the leaves that are not to be looked at, and what stands for them on the other side."""
        here, there = self.hidden
        self.made_anew = set() if volatile else self.alignment.ours.volatile()
        if not volatile:
            here |= dict.fromkeys(self.source.volatile(), VOLATILE)
            there |= dict.fromkeys(self.theirs.volatile(), VOLATILE)
        there |= {path: IGNORED for path in scalars(self.theirs.value) if left_out(path)}
        for path in scalars(self.source.value):
            feeds = self.feeds.get(path, ())
            hidden = [
                next(filter(None, (self._hidden(leaf, left_out) for leaf in feed.leaves)), None) for feed in feeds
            ]
            why = IGNORED if left_out(path) else hidden[0] if hidden and all(hidden) else None
            if why:
                here[path] = why
            elif any(hidden):  # what stands at several places is looked at where it may be
                self.feeds[path] = [feed for feed, is_hidden in zip(feeds, hidden, strict=True) if not is_hidden]

    def _hidden(self, leaf: Path, left_out: Callable[[Path], bool]) -> str | None:
        """Why a leaf of ours, or what says it in the second, is not to be looked at."""
        match = self.alignment.matched.get(leaf)
        if left_out(leaf):
            return IGNORED
        if leaf in self.made_anew:
            return VOLATILE
        if match is None:
            return None
        return VOLATILE if match.how == RENAMED else next(filter(None, map(self.hidden[1].get, match.there)), None)

    # --- the account

    def account(self) -> list[Difference]:
        """Every leaf of both documents once."""
        here = [line for path in scalars(self.source.value) for line in self._of(path)]
        there = [self._beside(path) for path in scalars(self.theirs.value) if path not in self.filled]
        return [*_folded(here, self.source.value, DROPPED), *_folded(there, self.theirs.value, SYNTHESIZED)]

    def _of(self, path: Path) -> list[Difference]:
        """What became of one leaf of the first."""
        feeds = self.feeds.get(path, [])
        if path in self.hidden[0]:
            there = [leaf for feed in feeds for each in feed.leaves for leaf in self._there(each)]
            return [Difference(self.hidden[0][path], path, None, None, None, 1, self._fill(there))]
        if path in self.found:
            return [self._elsewhere(path, self.found[path])]
        if not feeds:
            entry = self.gone[path]
            why, grade = ("target-default", "note") if path in self.silent else (entry.why, entry.level)
            return [Difference(DROPPED, path, None, why, grade, 1, 0, False)]
        told = sorted((self._by(path, feed) for feed in feeds), key=lambda line: _RANK[line.fate, line.avoidable])
        first, *more = told
        lines = [first._replace(ours=1)]
        gone = [line for line in more if line.fate == DROPPED and line.avoidable and first.fate != DROPPED]
        return lines + [line for line in more if line.theirs] + gone

    def _by(self, path: Path, feed: _Feed) -> Difference:
        """What became of a leaf at one of the places where ours has it."""
        matches = [self.alignment.matched.get(leaf) for leaf in feed.leaves]
        said = [match for match in matches if match is not None]
        there = [leaf for match in said for leaf in match.there]
        if not said:
            alone = [self.alignment.lost[leaf] for leaf in feed.leaves]
            why = _excuse(alone[0]) if all(map(_excuse, alone)) else None
            reason = why or "not-carried"
            said_level = level(reason, any(each.weighs for each in alone))
            return Difference(DROPPED, path, None if why else feed.at, reason, said_level, 0, 0, not why)
        if any(match.how == JOINED for match in said):
            why = "merged-boundary"
            return Difference(CHANGED, path, _common(there), why, level(why), 0, self._fill(there), True)
        odd = [match for match in said if match.how in (MOVED, DIFFERS) or self._is_rounded(path, feed, match)]
        if odd or len(said) < len(matches):
            at = odd[0].there[0] if odd and odd[0].there else _holder(feed, matches) or _common(there)
            weighs = any(match.weighs for match in said)
            return Difference(CHANGED, path, at, "differs", level("differs", weighs), 0, self._fill(there), True)
        respelled = any(match.how == RESPELLED for match in said)
        why = feed.why or ("respelled" if respelled else None)
        if why is None:
            return Difference(CARRIED, path, _common(there), None, None, 0, self._fill(there))
        said_level = feed.level or level(why)
        return Difference(CHANGED, path, _common(there), why, said_level, 0, self._fill(there), False)

    def _is_rounded(self, path: Path, feed: _Feed, match: Match) -> bool:
        """Is it another number, which only a reader takes for the same, where ours has it as it was?"""
        if match.how != RESPELLED or feed.why is not None or len(match.there) != 1:
            return False
        one, two = get(self.source.value, path), get(self.theirs.value, match.there[0])
        return all(isinstance(each, (int, float)) for each in (one, two)) and not is_one_number(one, two)

    def _elsewhere(self, path: Path, there: tuple[Path, ...]) -> Difference:
        """A leaf that the second says in its own way."""
        one, two = get(self.source.value, path), get(self.theirs.value, there[0])
        if len(there) == 1 and text.same(one, two):
            return Difference(CARRIED, path, there[0], None, None, 1, self._fill(there))
        return Difference(CHANGED, path, _common(there), "respelled", level("respelled"), 1, self._fill(there), False)

    def _beside(self, path: Path) -> Difference:
        """A leaf of the second that no leaf of the first became."""
        if path in self.hidden[1]:
            return Difference(self.hidden[1][path], None, path, None, None, 0, 1)
        here = self.alignment.reached.get(path)
        match = self.alignment.matched.get(here) if here is not None else None
        if here is not None and match is not None:
            same = match.how not in (JOINED, DIFFERS)
            entry = self.made.get(here)
            if entry is not None and (same or entry.why in NEUTRAL):
                return Difference(SYNTHESIZED, None, path, entry.why, entry.level, 0, 1, False)
            if same and here in self.fed:
                return Difference(CARRIED, self.fed[here], path, None, None, 0, 1)
            return Difference(SYNTHESIZED, None, path, "added", level("added", match.weighs), 0, 1, True)
        alone = self.alignment.extra.get(path)
        why = alone and _excuse(alone)
        if why:
            return Difference(SYNTHESIZED, None, path, why, level(why), 0, 1, False)
        weighs = alone is not None and alone.weighs
        return Difference(SYNTHESIZED, None, path, "added", level("added", weighs), 0, 1, True)

    def _there(self, leaf: Path) -> tuple[Path, ...]:
        match = self.alignment.matched.get(leaf)
        return match.there if match else ()

    def _fill(self, there: Iterable[Path]) -> int:
        """How many of these leaves of the second are accounted for only now."""
        new = {path for path in there if path not in self.filled}
        self.filled |= new
        return len(new)


def _holder(feed: _Feed, matches: list[Match | None]) -> Path | None:
    """The object of the second document that stands for the one that a leaf feeds."""
    for leaf, match in zip(feed.leaves, matches, strict=True):
        inside = leaf[len(feed.at) :]
        if match and inside and match.there and match.there[0][-len(inside) :] == inside:
            return match.there[0][: -len(inside)]
    return None


def _excuse(alone: Lone) -> str | None:
    """The reason for which nothing is missing where a leaf has no partner."""
    return alone.why if alone.why and level(alone.why) == "note" else None


# What is said best of a leaf that stands at several places is said of it.
_RANK = {(CARRIED, None): 0, (CHANGED, False): 1, (CHANGED, True): 2, (DROPPED, False): 3, (DROPPED, True): 4}


def _said(document: Document) -> Iterator[tuple[Any, Node, tuple[Path, ...]]]:
    """What is said under a term, and under its own name, as keys; with its node and the leaves that say it. Words of a
    conversation speak for themselves; other values only where there is but one node of their kind."""
    for node in nodes_of(document.node):
        single = node.kind in ("request", "reply", "usage", "error")
        known = [(name, said) for name, said in node.says.items() if name in TERMS and isinstance(said, Leaf)]
        for name, said in (*known, *(("", leaf) for leaf in node.extras.values())):
            telling = isinstance(said.value, str) and len(said.value) >= TELLING and name not in IMPLIED
            if single or telling:
                value, paths = _key(said), document.scalars(said)
                yield from (((node.kind, each, value), node, paths) for each in (name, ("", said.key)) if each)


# A text of so many characters is not in two documents by chance.
TELLING = 8


def _key(leaf: Leaf) -> Any:
    return leaf.value if isinstance(leaf.value, str) else text.dumps(leaf.value)


def _common(paths: list[Path] | tuple[Path, ...]) -> Path:
    """The place that holds all of these."""
    first, last = min(paths, key=_order), max(paths, key=_order)
    at = 0
    while at < min(len(first), len(last)) and first[at] == last[at]:
        at += 1
    return first[:at]


def _order(path: Path) -> list[str]:
    return [str(step) for step in path]


def _folded(lines: list[Difference], value: Any, fate: str) -> list[Difference]:
    """The account with what happened to all of an object or list told once, of the object or list.

    A note about a leaf of what is gone as a whole says nothing more. What is gone at one of its places only is not gone
    with what is around it: it counts no leaf.
    """
    sizes = Counter(at for path in scalars(value) for at in _around(path))
    of_fate = [line for line in lines if line.fate == fate and line.ours + line.theirs]
    counts = Counter((at, _told(line)) for line in of_fate for at in _around(_place(line, fate)))
    places: dict[Any, set[Path | None]] = {}
    for line in of_fate:
        for at in _around(_place(line, fate)):
            places.setdefault((at, _told(line)), set()).add(line.target)
    whole: dict[Path, tuple[Any, ...]] = {}
    for (at, told), count in counts.items():
        several = fate == DROPPED and told != NOTED and len(places[at, told]) > 1
        notes = counts[at, NOTED] if several else 0
        if count + notes == sizes[at] and whole.get(at, NOTED) == NOTED:
            whole[at] = told
    found: dict[Any, Difference] = {}
    for number, line in enumerate(lines):
        is_whole = line.fate == fate and line.ours + line.theirs
        at = next((at for at in _around(_place(line, fate)) if at in whole), ()) if is_whole else ()
        if not at:
            found[number] = line
            continue
        before = found.get(at, line._replace(ours=0, theirs=0))
        best = line if _told(before) == NOTED else before
        found[at] = best._replace(
            source=at if fate == DROPPED else None,
            target=at if fate == SYNTHESIZED else _would_be(before.target, line.target),
            ours=before.ours + line.ours,
            theirs=before.theirs + line.theirs,
        )
    return list(found.values())


NOTED = ("note", False)


def _told(line: Difference) -> tuple[Any, ...]:
    """What is told of a leaf, by which leaves are told together; all that costs nothing is alike."""
    return NOTED if (line.level, line.avoidable) == NOTED else (line.why, line.level, line.avoidable)


def _place(line: Difference, fate: str) -> Path:
    return (line.source if fate == DROPPED else line.target) or ()


def _around(path: Path) -> list[Path]:
    """The objects and lists that a leaf stands in, the widest first."""
    return [path[:at] for at in range(1, min(len(path), FOLDED_TO))]


def _would_be(one: Path | None, other: Path | None) -> Path | None:
    if one is None or other is None:
        return one or other
    return _common((one, other)) or one
