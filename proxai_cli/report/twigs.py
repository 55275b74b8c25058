"""Two documents side by side as twigs: each leaf with its fates, its partners on the other side, and its place."""

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from typing import Any, NamedTuple

from ..ledger import CARRIED, CHANGED, DROPPED, IGNORED, SYNTHESIZED, VOLATILE, Entry, Path, members
from ..reasons import LEVELS
from .account import Item, Side, View, pattern, pointer

# By which the page tells what it shows; what `diff A B` did not compare is always shown.
LETTERS = {CARRIED: "c", CHANGED: "x", DROPPED: "d", SYNTHESIZED: "s", VOLATILE: "u", IGNORED: "u"}

# Browsers do not nest without end: what stands deeper is one flat list.
DEEPEST = 40


class Link(NamedTuple):
    """What an entry says of a leaf: its fate and why, the place on the other side, and how a policy judged it."""

    fate: str
    why: str
    level: str
    other: Path | None
    note: str


class Twig:
    """A leaf or a part with leaves: what is said of it, and the fates of all leaves in it. `id` is empty where there
    is no room for it on the page."""

    __slots__ = ("fates", "id", "inner", "key", "links", "path", "rest", "value", "worst")

    def __init__(self, key: str, value: Any, path: Path, links: Sequence[Link], start: int) -> None:
        self.key, self.value, self.path, self.links = key, value, path, links
        self.rest = path[start:]  # below the place that the links speak of
        self.inner: list[Twig] = []
        self.fates: Counter[str] = Counter()
        self.worst = 0
        self.id = ""

    @property
    def fate(self) -> str:
        return self.links[0].fate if self.links else IGNORED

    @property
    def has(self) -> str:
        """The letters of the fates in it, by which it is shown or not."""
        return letters(self.fates)

    @property
    def leaves(self) -> int:
        return sum(self.fates.values())


class Pane:
    """One side: its twigs, and those that have a place on the page by their paths."""

    def __init__(self, name: str, value: Any, links: dict[Path, list[Link]], events: bool) -> None:
        self.name, self.links, self.events = name, links, events
        self.places: dict[Path, Twig] = {}
        self.left_out = 0
        self.root = self._twig("", value, (), (), 0)
        self.varying = varying(self.root.inner) if events else frozenset[Any]()

    def _twig(self, key: str, value: Any, path: Path, links: Sequence[Link], start: int) -> Twig:
        if path in self.links:
            links, start = self.links[path], len(path)
        twig = Twig(key, value, path, links, start)
        if _is_branch(value):
            inner = self._flat(value, path, links, start) if len(path) > DEEPEST else self._members(twig, start)
            for each in inner:
                twig.inner.append(each)
                twig.fates += each.fates
                twig.worst = max(twig.worst, each.worst)
        elif not self.events or len(path) > 1 or (path and isinstance(value, dict)):
            twig.fates[twig.fate] = 1
            twig.worst = max((LEVELS.index(link.level) for link in links if link.level), default=0)
        return twig

    def _members(self, twig: Twig, start: int) -> Iterator[Twig]:
        for key, value in members(twig.value):
            yield self._twig(str(key), value, (*twig.path, key), twig.links, start)

    def _flat(self, value: Any, path: Path, links: Sequence[Link], start: int) -> Iterator[Twig]:
        """The leaves of a part, each with its whole way as its key."""
        todo = [(value, path, links, start)]
        while todo:
            value, below, links, start = todo.pop()
            if below in self.links:
                links, start = self.links[below], len(below)
            if _is_branch(value):
                todo += reversed([(inner, (*below, key), links, start) for key, inner in members(value)])
            else:
                yield self._twig("/".join(map(str, below[len(path) :])), value, below, links, start)

    def settle(self, room: int) -> int:
        """Give a place to as many leaves as there is room for, carried ones last; how many have one."""
        changed = min(room, self.root.leaves - self.root.fates[CARRIED])
        left = {True: room - changed, False: changed}  # by whether a leaf is carried
        self._settle(self.root, left)
        self.left_out = self.root.leaves - (room - sum(left.values()))
        return room - sum(left.values())

    def _settle(self, twig: Twig, left: dict[bool, int]) -> bool:
        if twig.inner:
            shown = [self._settle(each, left) for each in twig.inner]
            if not any(shown):
                return False
        elif twig.fates:
            is_carried = twig.fate == CARRIED
            if not left[is_carried]:
                return False
            left[is_carried] -= 1
        twig.id = f"{self.name}-{len(self.places)}"
        self.places[twig.path] = twig
        return True

    def where(self, path: Path) -> str:
        """A path as it is told: of a stream the number of the event, and the path in it."""
        if self.events and path:
            return f"event {path[0] + 1} {pointer(path[1:])}".rstrip()
        return pointer(path) or "/"


def letters(fates: Container[str]) -> str:
    """The letters of some fates, in their order."""
    return "".join(dict.fromkeys(letter for fate, letter in LETTERS.items() if fate in fates))


def _is_branch(value: Any) -> bool:
    return bool(value) and isinstance(value, (dict, list))


def varying(events: list[Twig]) -> frozenset[Any]:
    """The kinds of places where an event says what others do not: with other values, or missing in most of them."""
    found: dict[Any, set[Any]] = {}
    counts: Counter[Any] = Counter()
    for leaf in (leaf for event in events for leaf in leaves_of(event)):
        place = pattern(leaf.path[1:])
        found.setdefault(place, set()).add(repr(leaf.value))
        counts[place] += 1
    return frozenset(place for place, values in found.items() if len(values) > 1 or counts[place] * 2 <= len(events))


def leaves_of(twig: Twig) -> Iterator[Twig]:
    todo = [twig]
    while todo:
        twig = todo.pop()
        todo += reversed(twig.inner)
        if not twig.inner and twig.fates:
            yield twig


def panes(item: Item, view: View, number: int) -> tuple[Pane, Pane]:
    """Both sides of the item with this number on the page."""
    events = (
        isinstance(view.source, list) and _is_stream(item.source),
        isinstance(view.target, list) and _is_stream(item.target),
    )
    notes = _notes(item)
    sides: tuple[dict[Path, list[Link]], dict[Path, list[Link]]] = {}, {}
    # Of several entries of one place the first counts its leaves: it is the fate.
    for entry in view.entries:
        note = notes.get(_judged(entry, events), "") if notes else ""
        link = Link(entry.fate, entry.why or "", entry.level or "", entry.target, note)
        if entry.source is not None:
            sides[0].setdefault(entry.source, []).append(link)
        if entry.target is not None and entry.fate != DROPPED:  # of what is dropped it is only where it would stand
            sides[1].setdefault(entry.target, []).append(link._replace(other=entry.source))
    ours = Pane(f"s{number}", view.source, sides[0], events[0])
    return ours, Pane(f"t{number}", view.target, sides[1], events[1])


def _is_stream(side: Side | None) -> bool:
    return side is not None and side.kind == "stream"


def _notes(item: Item) -> dict[tuple[str | None, ...], str]:
    """What a policy, or a comparison with our own translation, says of changes."""
    found: dict[tuple[str | None, ...], str] = {}
    for change in item.changes:
        note = change.state if change.state != "new" else ""
        if not note and change.avoidable is not None:
            note = "avoidable" if change.avoidable else "unavoidable"
        if note:
            found[change.op, change.reason, pointer(change.source), pointer(change.target)] = note
    return found


def _judged(entry: Entry, events: tuple[bool, bool]) -> tuple[str | None, ...]:
    """By what an entry is found among the changes: in a stream these are told by the kind of place."""
    places = [
        path if path is None else pattern(path[1:]) if is_stream else pointer(path)
        for path, is_stream in zip((entry.source, entry.target), events, strict=True)
    ]
    return (entry.fate, entry.why, *places)
