"""The account: leaves under way, a writer that notes every value it is given, and the ledger that settles both sides.

Knows no protocol. A leaf remembers the object and key it was taken from, so nobody passes paths about: when all is
written, the ledger walks source and target and finds for each leaf what became of it. Paths are tuples of keys and
positions.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from .reasons import level

CARRIED, CHANGED, DROPPED, SYNTHESIZED = "carried", "changed", "dropped", "synthesized"
# Leaves of two captures that are not to be compared: made anew for every call, or left out by whoever asks.
VOLATILE, IGNORED = "volatile", "ignored"

Path = tuple[Any, ...]
Spot = tuple[int, Any]

# A reason that only tells how a value was read or joined does not hold where the value comes out as it went in.
_NOTHING_HAPPENED = {"respelled", "pieces-joined", "json-parse", "json-dump", "one-to-list", "data-url", "wrap-id"}


class Leaf:
    """One value under way: the object and key it was taken from, what it says now, and why that differs.

    `joined` are other leaves that are said together with this one.
    """

    __slots__ = ("home", "joined", "key", "value", "why")

    def __init__(self, home: Any, key: Any) -> None:
        self.home, self.key, self.value = home, key, home[key]
        self.why: str | None = None
        self.joined: tuple[Leaf, ...] = ()

    def to(self, value: Any, why: str, joined: Iterable["Leaf"] = ()) -> "Leaf":
        """The same leaf (and those joined to it) saying something else, for a stated reason."""
        leaf = Leaf.__new__(Leaf)
        leaf.home, leaf.key, leaf.value = self.home, self.key, value
        leaf.why = why if self.home is not None else self.why  # what we made stays made for the reason it was made
        leaf.joined = (*self.joined, *(each for other in joined for each in (other, *other.joined)))
        return leaf

    def raw(self) -> "Leaf":
        """The leaf as its home said it; of joined ones what they say together."""
        return self if self.joined or self.home is None else Leaf(self.home, self.key)

    def __repr__(self) -> str:
        return f"Leaf({self.key!r}, {self.value!r}, {self.why!r})"


def made(value: Any, why: str) -> Leaf:
    """A value of our own on the way to a target: no source place holds it."""
    leaf = Leaf.__new__(Leaf)
    leaf.home, leaf.key, leaf.value, leaf.why, leaf.joined = None, None, value, why, ()
    return leaf


class Entry(NamedTuple):
    """One line of the ledger: fate, two paths, a reason with its level, leaves on either side."""

    fate: str
    source: Path | None
    target: Path | None
    why: str | None
    level: str | None
    ours: int
    theirs: int


class Writer:
    """Builds one target object or list; a value enters by `put` (a leaf) or `make` (our own), there is no other way."""

    __slots__ = ("ledger", "value")

    def __init__(self, ledger: "Ledger", value: Any) -> None:
        self.ledger, self.value = ledger, value

    def put(self, key: Any, leaf: Leaf) -> None:
        """Write what a leaf says, and claim for it the place where it stands now."""
        self._set(key, leaf.value)
        if leaf.home is None:
            self.ledger.made.append((self.value, key, leaf.why or "required-by-target"))
        else:
            self.ledger.claim(leaf, self.value, key, _why(leaf))
        for other in leaf.joined:
            if other.home is not None:
                self.ledger.claim(other, self.value, key, leaf.why or "merged-boundary")

    def make(self, key: Any, value: Any, why: str) -> None:
        """Write a value of our own."""
        self._set(key, value)
        self.ledger.made.append((self.value, key, why))

    def append(self, leaf: Leaf) -> None:
        """Write a leaf as the next element of a list."""
        self.value.append(None)
        self.put(len(self.value) - 1, leaf)

    def object(self, key: Any) -> "Writer":
        """A new object under this key. An object in which nothing is written must be made with `make(key, {}, why)`."""
        return self._open(key, {})

    def list(self, key: Any) -> "Writer":
        """A new list under this key; like `object`, not for one that stays empty."""
        return self._open(key, [])

    def item(self) -> "Writer":
        """A new object as the next element of a list."""
        self.value.append({})
        return Writer(self.ledger, self.value[-1])

    def order(self, keys: Iterable[Any]) -> None:
        """Put the keys into this order; keys not named stand last."""
        known = [key for key in dict.fromkeys(keys) if key in self.value]
        for key in [*known, *(key for key in list(self.value) if key not in set(known))]:
            self.value[key] = self.value.pop(key)

    def _open(self, key: Any, value: Any) -> "Writer":
        self._set(key, value)
        return Writer(self.ledger, value)

    def _set(self, key: Any, value: Any) -> None:
        self.value[key] = value


def _why(leaf: Leaf) -> str | None:
    if leaf.why in _NOTHING_HAPPENED and not leaf.joined and _alike(leaf.value, leaf.home[leaf.key]):
        return None
    return leaf.why


def _alike(one: Any, other: Any) -> bool:
    """Equal scalars of one type, or the very same object: enough to say that nothing happened."""
    return one is other or (type(one) is type(other) and not isinstance(one, (dict, list)) and bool(one == other))


class Ledger:
    """Claims are made while writing; `settle` turns them into entries and misses nothing.

    A body is settled once, a stream once per source event. A leaf whose fate a later event decides is kept, with its
    path, until an event that holds it is written or somebody drops it. `steers` says whether what is accounted for
    can steer a reply at all: a request can, a reply cannot.
    """

    def __init__(self, steers: bool = False) -> None:
        self.steers = steers
        self.kept: dict[Spot, tuple[Any, Path, int]] = {}  # holding the source object keeps its id its own
        self.kept_objects: dict[Spot, None] = {}  # those of the kept that are objects or lists
        self.entries: list[Entry] = []
        self.clear()

    def clear(self) -> None:
        self.claims: dict[Spot, list[tuple[Any, Any, str | None, Any]]] = {}
        self.made: list[tuple[Any, Any, str]] = []
        self.gone: dict[Spot, tuple[str, Any]] = {}
        self.steering: set[Spot] = set()
        self.keeping: set[Spot] = set()

    def claim(self, leaf: Leaf, home: Any, key: Any, why: str | None) -> None:
        """This target place holds that leaf; `why` is None where it is unchanged."""
        self.claims.setdefault((id(leaf.home), leaf.key), []).append((home, key, why, leaf.home))

    def drop(self, said: Any, why: str, steers: bool = False) -> None:
        """A leaf, a node with all it says, or a list of these, will not be in the target.

        What a decoder set aside keeps the reason that it was given there.
        """
        for leaf, reason in leaves_said(said):
            if leaf.home is None:
                continue
            spot = id(leaf.home), leaf.key
            self.gone[spot] = reason or why, leaf.home
            if steers:
                self.steering.add(spot)

    def keep(self, said: Any) -> None:
        """What becomes of these leaves is for a later event to say."""
        for leaf, _ in leaves_said(said):
            if leaf.home is not None:
                self.keeping.add((id(leaf.home), leaf.key))

    def settle(
        self,
        source: Any,
        targets: list[Any],
        source_root: Path = (),
        target_root: Callable[[int], Path] = lambda at: (),
    ) -> list[Entry]:
        """One body and [its target], or one stream event and the events written for it; `target_root(n)` begins the
        paths of the n-th target."""
        self.entries, self.places, met = [], {}, set[Spot]()
        self.filled: set[tuple[int, Any]] = set()
        self.touched = {home for home, _ in (*self.claims, *self.gone)}
        for at, target in enumerate(targets):
            self._places(target, target_root(at))
        for spot in [*self.claims, *self.gone]:
            if spot in self.kept:  # from an earlier event, and settled now
                _, path, leaves = self.kept.pop(spot)
                self.kept_objects.pop(spot, None)
                self._enter(spot, path, leaves, met)
        for spot in [spot for spot in self.kept_objects if self._is_touched(self.kept[spot][0][spot[1]])]:
            node, path, _ = self.kept.pop(spot)  # a part of it is settled now, and so is the rest
            self.kept_objects.pop(spot, None)
            self._walk(node[spot[1]], path, met)
        self._walk(source, source_root, met)
        for spot in self.claims.keys() - met:  # a leaf of nothing at hand: a codec's fault, and seen
            self.made += [(home, key, "out-of-nowhere") for home, key, _, _ in self.claims[spot]]
        for home, key, why in self.made:
            self._entry(SYNTHESIZED, None, (*self.places[id(home)], key), why, 0, self._fill(home, key))
        self.clear()
        return self.entries

    def close(self) -> list[Entry]:
        """After a stream: what is kept still was forgotten by a codec."""
        self.entries = []
        for _, path, leaves in self.kept.values():
            self._entry(DROPPED, path, None, "unclaimed", leaves, 0)
        self.kept.clear()
        self.kept_objects.clear()
        return self.entries

    def _walk(self, source: Any, path: Path, met: set[Spot]) -> None:
        todo = _spots(source, path)
        while todo:
            node, key, path = todo.pop()
            spot, value = (id(node), key), node[key]
            if spot in self.claims or spot in self.gone:
                self._enter(spot, path, size(value), met)
            elif spot in self.keeping and not self._is_touched(value):
                self.kept[spot] = (node, path, size(value))
                if isinstance(value, (dict, list)):
                    self.kept_objects[spot] = None
            elif value and isinstance(value, (dict, list)):
                todo += _spots(value, path)
            else:
                self._entry(DROPPED, path, None, "unclaimed", 1, 0)  # unexplained

    def _is_touched(self, value: Any) -> bool:
        """Is anything within an object or list claimed or dropped?"""
        todo = [value]
        while todo:
            node = todo.pop()
            if isinstance(node, (dict, list)):
                if id(node) in self.touched:
                    return True
                todo += node.values() if isinstance(node, dict) else node
        return False

    def _enter(self, spot: Spot, path: Path, ours: int, met: set[Spot]) -> None:
        met.add(spot)
        steers = spot in self.steering
        if spot not in self.claims:
            self._entry(DROPPED, path, None, self.gone[spot][0], ours, 0, steers)
            return
        for home, key, why, _ in sorted(self.claims[spot], key=lambda claim: claim[2] is not None):
            fate = CHANGED if why else CARRIED
            self._entry(fate, path, (*self.places[id(home)], key), why, ours, self._fill(home, key), steers)
            ours = 0  # a leaf that feeds two places counts once

    def _entry(
        self,
        fate: str,
        source: Path | None,
        target: Path | None,
        why: str | None,
        ours: int,
        theirs: int,
        steers: bool = False,
    ) -> None:
        said = level(why, steers and self.steers) if why else None
        self.entries.append(Entry(fate, source, target, why, said, ours, theirs))

    def _fill(self, home: Any, key: Any) -> int:
        """The leaves at this target place, for the first to claim it: joined leaves fill it once."""
        if (id(home), key) in self.filled:
            return 0
        self.filled.add((id(home), key))
        return size(home[key])

    def _places(self, target: Any, path: Path) -> None:
        todo = [(target, path)]
        while todo:
            node, path = todo.pop()
            self.places[id(node)] = path
            todo += [(value, (*path, key)) for key, value in members(node) if isinstance(value, (dict, list))]

    places: dict[int, Path]
    touched: set[int]


def leaves_said(said: Any) -> Iterator[tuple[Leaf, str | None]]:
    """A leaf and those joined to it, or all that a node or a list of these says; with the reason of what is aside."""
    todo = [(said, None)]
    while todo:
        said, why = todo.pop()
        if isinstance(said, Leaf):
            yield said, why
            if said.joined:
                todo += [(other, why) for other in said.joined]
        elif isinstance(said, (list, tuple)):
            todo += [(each, why) for each in said]
        elif said is not None:
            todo += [(each, why) for each in (*said.says.values(), *said.extras.values())]
            todo += [(each, why or reason) for each, reason in said.asides]


def members(node: Any) -> Iterable[tuple[Any, Any]]:
    """The keys and values of an object, the positions and values of a list."""
    return node.items() if isinstance(node, dict) else enumerate(node)


def homes(value: Any) -> dict[int, Path]:
    """The path of every object and list in a value, and of itself, by its identity."""
    found: dict[int, Path] = {id(value): ()}
    todo = [value]
    while todo:
        home = todo.pop()
        for key, inner in members(home):
            if isinstance(inner, (dict, list)):
                found[id(inner)] = (*found[id(home)], key)
                todo.append(inner)
    return found


def _spots(node: Any, path: Path) -> list[tuple[Any, Any, Path]]:
    """The members of an object or list with their paths, last first, as a stack wants them."""
    return [(node, key, (*path, key)) for key in reversed(node if isinstance(node, dict) else range(len(node)))]


def size(value: Any) -> int:
    """How many leaves; an empty list or object is one."""
    if not value or not isinstance(value, (dict, list)):
        return 1
    count, todo = 0, [value]
    while todo:
        value = todo.pop()
        if value and isinstance(value, (dict, list)):
            todo += value.values() if isinstance(value, dict) else value
        else:
            count += 1
    return count


class From(NamedTuple):
    """In a recipe: the target holds this node unchanged, at that path."""

    path: Path


def recipe(source: Any, entries: Iterable[Entry]) -> Any:
    """The source, with `From(path)` for each node that the target holds unchanged."""
    held = {entry.source: From(entry.target or ()) for entry in reversed(list(entries)) if entry.fate == CARRIED}
    return rebuilt(source, held.get)


def restore(target: Any, recipe: Any) -> Any:
    """The source again, from the target and the recipe; knows no protocol."""
    return rebuilt(recipe, lambda path, node: get(target, node.path) if isinstance(node, From) else node)


def rebuilt(value: Any, put: Callable[[Path, Any], Any]) -> Any:
    """A copy of a value in which `put` may say what stands at a path."""
    out: dict[str, Any] = {}
    todo: list[tuple[Any, Any, Any, Path]] = [(out, "", value, ())]
    while todo:
        home, key, node, path = todo.pop()
        node = put(path, node)
        if isinstance(node, (dict, list)):
            home[key] = dict.fromkeys(node) if isinstance(node, dict) else [None] * len(node)
            todo += [(home[key], name, inner, (*path, name)) for name, inner in members(node)]
        else:
            home[key] = node
    return out[""]


def get(value: Any, path: Path) -> Any:
    """What stands at a path."""
    for key in path:
        value = value[key]
    return value
