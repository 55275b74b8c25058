"""Two documents of one protocol, held against each other in the IR: what says the same, what differs, what one lacks.

Nodes are paired by what they say and terms by their names, so that another arrangement that means the same is no
difference: a lone text or a list of one, instructions in the conversation or before it, two turns or one. Leaves that
no rule understands are paired by where they stand.
"""

from collections.abc import Hashable, Iterable, Iterator
from typing import Any, NamedTuple

from .. import text
from ..ir.events import PIECES
from ..ir.nodes import Node
from ..ir.terms import IMPLIED, LINKING, ORDERED, VOLATILE, term
from ..ir.values import as_object
from ..ledger import Leaf, Path, get, leaves_said, members
from .sequences import Keys, in_any_order, in_order

# How the second document says a leaf of the first.
SAME, RESPELLED, RENAMED, MOVED, DIFFERS = "same", "respelled", "renamed", "moved", "differs"


class Match(NamedTuple):
    """A leaf that both say: how, where in the other document, and whether it steers the reply."""

    how: str
    there: tuple[Path, ...]
    steers: bool


class Lone(NamedTuple):
    """A leaf that only one of them says. `why` is the reason for which nothing is missing, if that is so."""

    why: str | None
    steers: bool


class Document:
    """A value and the node it was read into, with the path of every object and list, and of every leaf."""

    def __init__(self, value: Any, node: Node) -> None:
        self.value, self.node = value, node
        self.paths: dict[int, Path] = {id(value): ()}
        todo = [value]
        while todo:
            home = todo.pop()
            for key, inner in members(home):
                if isinstance(inner, (dict, list)):
                    self.paths[id(inner)] = (*self.paths[id(home)], key)
                    todo.append(inner)

    def place(self, leaf: Leaf) -> Path | None:
        """Where a leaf stands; None for one that a reader made."""
        home = self.paths.get(id(leaf.home)) if leaf.home is not None else None
        return None if home is None else (*home, leaf.key)

    def scalars(self, *leaves: Leaf) -> tuple[Path, ...]:
        """The paths of all scalars in these leaves and those that are joined to them."""
        found: list[Path] = []
        for leaf in leaves:
            for each in (leaf, *leaf.joined):
                place = self.place(each)
                if place is not None:
                    found += scalars(each.home[each.key], place)
        return tuple(dict.fromkeys(found))

    def volatile(self) -> set[Path]:
        """The paths of what is made anew for every call."""
        return {path for node in nodes_of(self.node) for path in self.scalars(*_volatile(node))}


def nodes_of(node: Node) -> Iterator[Node]:
    """A node and all nodes that it says, those set aside too."""
    todo: list[Any] = [node]
    while todo:
        said = todo.pop()
        if isinstance(said, Node):
            yield said
            todo += [*said.says.values(), *(each for each, _ in said.asides)]
        elif isinstance(said, (list, tuple)):
            todo += said


def _volatile(node: Node) -> list[Leaf]:
    return [said for name, said in node.says.items() if name in VOLATILE and isinstance(said, Leaf)]


def scalars(value: Any, path: Path = ()) -> Iterator[Path]:
    """The paths of all leaves of a value, in their order."""
    todo = [(value, path)]
    while todo:
        node, path = todo.pop()
        if node and isinstance(node, (dict, list)):
            todo += [(inner, (*path, key)) for key, inner in reversed(list(members(node)))]
        else:
            yield path


class _Single(NamedTuple):
    """A leaf of one node that has no partner under its term."""

    leaf: Leaf
    why: str | None
    steers: bool


class _Spoken(NamedTuple):
    """One part of a conversation with its turn and role; of a turn without parts the turn itself."""

    turn: Node
    part: Node | None
    role: str


class Alignment:
    """Holds `ours` against `theirs`, and tells it by the paths of leaves.

    `matched`, `lost` and `extra` speak of paths of ours, of ours, and of theirs; `reached` maps a path of theirs to
    the path of ours that it says.
    """

    def __init__(self, ours: Document, theirs: Document, volatile: bool = False) -> None:
        self.ours, self.theirs, self.volatile = ours, theirs, volatile
        self.matched: dict[Path, Match] = {}
        self.lost: dict[Path, Lone] = {}
        self.extra: dict[Path, Lone] = {}
        self.reached: dict[Path, Path] = {}
        self._prints: dict[int, Hashable] = {}
        self._links: list[tuple[Leaf, Leaf]] = []
        self._moving = False
        self._node(ours.node, theirs.node)
        self._name_links()
        self._by_place()

    # --- nodes

    def _node(self, ours: Node, theirs: Node, but: Iterable[str] = ()) -> None:
        """Two nodes that stand for each other."""
        mine, other = list[_Single](), list[_Single]()
        talk = {"instructions", "turns"} if ours.kind == "request" and "turns" in {*ours.says, *theirs.says} else set()
        if talk:
            self._conversation(ours, theirs)
        for name in dict.fromkeys([*ours.says, *theirs.says]):
            if name in but or name in talk:
                continue
            one, two = ours.says.get(name), theirs.says.get(name)
            if isinstance(one, Leaf) and isinstance(two, Leaf) and (one.home is None) == (two.home is None):
                self._leaf(name, one, two)
            elif isinstance(one, Node) and isinstance(two, Node):
                self._node(one, two)
            elif isinstance(one, list) and isinstance(two, list):
                self._list(name, one, two)
            else:
                mine += _singles(name, one)
                other += _singles(name, two)
        mine += _rest(ours)
        other += _rest(theirs)
        there = {self._beside(self.theirs, theirs, single): single for single in other}
        for single in mine:
            partner = there.pop(self._beside(self.ours, ours, single), None)
            if partner is None:
                self._lose(single)
            else:
                self._raw(single.leaf, partner.leaf, single.steers or partner.steers)
        for single in there.values():
            self._add(single)

    def _beside(self, document: Document, node: Node, single: _Single) -> Hashable:
        """A key for what stands at the same place of two nodes."""
        place, home = document.place(single.leaf), document.paths.get(id(node.home))
        if place is None:
            return id(single)
        inside = node.home is not None and home is not None and place[: len(home)] == home
        return place[len(home) :] if inside and home is not None else place[-1:]

    def _list(self, name: str, ours: list[Any], theirs: list[Any]) -> None:
        """Two lists of nodes, or of leaves, under one term."""
        if not all(isinstance(each, Node) for each in (*ours, *theirs)):
            for one, two in zip(ours, theirs, strict=False):
                if isinstance(one, Leaf) and isinstance(two, Leaf):
                    self._leaf(name, one, two)
                else:
                    self._alone(name, [one], [two])
            shorter = min(len(ours), len(theirs))
            self._alone(name, ours[shorter:], theirs[shorter:])
            return
        mine, other = [self._keys(each) for each in ours], [self._keys(each) for each in theirs]
        pairs, moved = _pairs(mine, other, name in ORDERED)
        for at, there in pairs.items():
            self._moved(at in moved, ours[at], theirs[there])
        taken = set(pairs.values())
        self._alone(
            name,
            [each for at, each in enumerate(ours) if at not in pairs],
            [each for at, each in enumerate(theirs) if at not in taken],
        )

    def _moved(self, moved: bool, ours: Node, theirs: Node, but: Iterable[str] = ()) -> None:
        before, self._moving = self._moving, self._moving or moved
        self._node(ours, theirs, but)
        self._moving = before

    def _alone(self, name: str, ours: list[Any], theirs: list[Any]) -> None:
        """What has no partner, with all that it says."""
        for said in ours:
            for single in _singles(name, said, True):
                self._lose(single)
        for said in theirs:
            for single in _singles(name, said, True):
                self._add(single)

    # --- the conversation

    def _conversation(self, ours: Node, theirs: Node) -> None:
        """All that is said, part by part, whatever turn it stands in; then the turns of the parts that are paired."""
        mine, other = _spoken(ours), _spoken(theirs)
        pairs, moved = _pairs(list(map(self._spoken_keys, mine)), list(map(self._spoken_keys, other)), True)
        met: set[tuple[int, int]] = set()
        paired_turns: tuple[set[int], set[int]] = set(), set()
        for at, there in pairs.items():
            one, two = mine[at], other[there]
            if one.part is not None and two.part is not None:
                self._moved(at in moved, one.part, two.part)
            if id(one.turn) not in paired_turns[0] or id(two.turn) not in paired_turns[1]:
                met.add((at, there))
            paired_turns[0].add(id(one.turn))
            paired_turns[1].add(id(two.turn))
        for at, there in sorted(met):
            self._moved(at in moved, mine[at].turn, other[there].turn, ("parts",))
        taken = set(pairs.values())
        self._unpaired(mine, set(pairs), paired_turns[0], self._lose)
        self._unpaired(other, taken, paired_turns[1], self._add)

    def _unpaired(self, spoken: list[_Spoken], paired: set[int], turns: set[int], note: Any) -> None:
        told: set[int] = set()
        for at, (turn, part, _) in enumerate(spoken):
            if at in paired:
                continue
            alone = id(turn) not in turns
            if part is not None:
                for single in _singles("parts", part, True):
                    note(single)
            if alone and id(turn) not in told:
                told.add(id(turn))
                for single in _singles("turns", turn.but("parts"), True):
                    note(single)

    def _spoken_keys(self, spoken: _Spoken) -> Keys:
        turn, part, role = spoken
        if part is None:
            return (role, self._print(turn)), (role, "turn"), "turn", (role, "turn"), "turn"
        whole, main, rough = self._keys(part)
        return (role, whole), (role, main), main, (role, rough), rough

    # --- keys

    def _keys(self, node: Node) -> Keys:
        """All that a node says; its main words alone; its kind with the name that it goes by."""
        main = node.get(PIECES.get(node.kind, "text"))
        name = node.value("name") if isinstance(node.get("name"), Leaf) else None
        service = node.value("service") if isinstance(node.get("service"), Leaf) else None
        rough = (node.kind, _hashable(name), _hashable(service))
        whole = self._print(node)
        return whole, (rough, _print_of("text", main)) if isinstance(main, Leaf) else whole, rough

    def _print(self, node: Node) -> Hashable:
        """What a node says, in a form that is the same for all nodes that say it, without what is made anew."""
        known = self._prints.get(id(node))
        if known is None:
            says = [
                (name, self._said(name, said))
                for name, said in sorted(node.says.items())
                if name not in VOLATILE | LINKING | IMPLIED and name != "item"
            ]
            extras = sorted((str(key), text.dumps(leaf.value)) for key, leaf in node.extras.items())
            known = self._prints[id(node)] = (node.kind, tuple(says), tuple(extras))
        return known

    def _said(self, name: str, said: Any) -> Hashable:
        if isinstance(said, Leaf):
            return _print_of(name, said)
        if isinstance(said, Node):
            return self._print(said)
        return tuple(self._said(name, each) for each in said) if isinstance(said, (list, tuple)) else None

    # --- leaves

    def _leaf(self, name: str, ours: Leaf, theirs: Leaf) -> None:
        """Two leaves of one term."""
        steers = term(name).steers
        if name in LINKING:
            self._links.append((ours, theirs))
        alike = _print_of(name, ours) == _print_of(name, theirs)
        if ours.joined or theirs.joined:
            self._put(SAME if alike else DIFFERS, self.ours.scalars(ours), self.theirs.scalars(theirs), steers)
        else:
            self._raw(ours, theirs, steers, alike)

    def _raw(self, ours: Leaf, theirs: Leaf, steers: bool, alike: bool = False) -> None:
        """What stands at two places of the documents, inner leaf by inner leaf; `alike` says that it means the same."""
        here, there = self.ours.place(ours), self.theirs.place(theirs)
        if here is None or there is None:
            self._lose(_Single(ours, None, steers))
            self._add(_Single(theirs, None, steers))
            return
        if alike:
            equal = text.same(ours.home[ours.key], theirs.home[theirs.key])
            self._put(SAME if equal else RESPELLED, self.ours.scalars(ours), self.theirs.scalars(theirs), steers)
            return
        todo = [(here, there)]
        while todo:
            here, there = todo.pop()
            one, two = get(self.ours.value, here), get(self.theirs.value, there)
            if isinstance(one, dict) and isinstance(two, dict) and one and two:
                keys = {key: key for key in one if key in two}
            elif isinstance(one, list) and isinstance(two, list) and one and two:
                keys = dict(_listed(one, two))
            else:
                how = SAME if text.same(one, two) else DIFFERS
                self._put(how, tuple(scalars(one, here)), tuple(scalars(two, there)), steers)
                continue
            todo += [((*here, key), (*there, other)) for key, other in keys.items()]
            for key, inner in members(one):
                if key not in keys:
                    self.lost.update(dict.fromkeys(scalars(inner, (*here, key)), Lone(None, steers)))
            met = set(keys.values())
            for key, inner in members(two):
                if key not in met:
                    self.extra.update(dict.fromkeys(scalars(inner, (*there, key)), Lone(None, steers)))

    def _put(self, how: str, ours: tuple[Path, ...], theirs: tuple[Path, ...], steers: bool) -> None:
        if self._moving and how in (SAME, RESPELLED):
            how = MOVED
        if len(ours) == len(theirs) and how == SAME:
            for here, there in zip(ours, theirs, strict=True):
                self.matched.setdefault(here, Match(how, (there,), steers))
                self.reached.setdefault(there, here)
            return
        for here in ours:
            self.matched.setdefault(here, Match(how, theirs, steers))
        for there in theirs if ours else ():
            self.reached.setdefault(there, ours[0])

    def _lose(self, single: _Single) -> None:
        for path in self.ours.scalars(single.leaf):
            self.lost.setdefault(path, Lone(single.why, single.steers))

    def _add(self, single: _Single) -> None:
        for path in self.theirs.scalars(single.leaf):
            self.extra.setdefault(path, Lone(single.why, single.steers))

    def _name_links(self) -> None:
        """Links whose names differ, but consistently, are only named otherwise."""
        if self.volatile:
            return
        forth: dict[Hashable, set[Hashable]] = {}
        back: dict[Hashable, set[Hashable]] = {}
        values = [(_print_of("", one), _print_of("", two)) for one, two in self._links]
        for one, two in values:
            forth.setdefault(one, set()).add(two)
            back.setdefault(two, set()).add(one)
        for (ours, _), (one, two) in zip(self._links, values, strict=True):
            if one != two and len(forth[one]) == len(back[two]) == 1:
                for path in self.ours.scalars(ours):
                    if path in self.matched:
                        self.matched[path] = self.matched[path]._replace(how=RENAMED)

    def _by_place(self) -> None:
        """Leaves that no node holds are paired by where they stand."""
        theirs = {path for path in scalars(self.theirs.value) if path not in self.reached and path not in self.extra}
        for path in scalars(self.ours.value):
            if path in self.matched or path in self.lost:
                continue
            if path in theirs:
                equal = text.same(get(self.ours.value, path), get(self.theirs.value, path))
                self._put(SAME if equal else DIFFERS, (path,), (path,), False)
            else:
                self.lost[path] = Lone(None, False)
        for path in theirs:
            if path not in self.reached:
                self.extra[path] = Lone(None, False)


def _pairs(ours: list[Keys], theirs: list[Keys], ordered: bool) -> tuple[dict[int, int], set[int]]:
    """Pairs of positions, and those of ours that say the same at another place of an order that means something."""
    if not ordered:
        return in_any_order(ours, theirs), set()
    pairs = in_order(ours, theirs)
    taken = set(pairs.values())
    left = [at for at in range(len(ours)) if at not in pairs]
    right = [at for at in range(len(theirs)) if at not in taken]
    moved = in_any_order([ours[at][:1] for at in left], [theirs[at][:1] for at in right])
    away = {left[mine]: right[other] for mine, other in moved.items()}
    return pairs | away, set(away)


def _listed(ours: list[Any], theirs: list[Any]) -> Iterable[tuple[int, int]]:
    """The elements of two lists that stand for each other: one by one, or where one list is longer by what they say."""
    if len(ours) == len(theirs):
        return ((at, at) for at in range(len(ours)))
    keys = [[(text.dumps(each), type(each).__name__) for each in listed] for listed in (ours, theirs)]
    return in_order(*keys).items()


def _spoken(node: Node) -> list[_Spoken]:
    found = []
    for name, usual in (("instructions", "system"), ("turns", "user")):
        for turn in node.says.get(name, []):
            role = turn.value("role", usual) if isinstance(turn.get("role"), Leaf) else usual
            found += [_Spoken(turn, part, str(role)) for part in turn.says.get("parts") or [None]]
    return found


def _singles(name: str, said: Any, whole: bool = False) -> list[_Single]:
    """The leaves of what has no partner. `whole` says that its node has none either, so that all of it is missing."""
    if said is None:
        return []
    implied = name in IMPLIED and not whole
    steers = term(name).steers
    found = []
    for leaf, why in leaves_said(said):
        noted = why or ("target-default" if implied else None)
        found.append(_Single(leaf, noted, steers))
    if isinstance(said, Node) and said.kind == "item" and not whole:
        words = {id(each) for name, each in said.says.items() if name in IMPLIED}
        found = [each._replace(why="target-default") if id(each.leaf) in words else each for each in found]
    return found


def _rest(node: Node) -> list[_Single]:
    """The leaves of a node that no term holds."""
    extras = [_Single(leaf, None, False) for leaf in node.extras.values()]
    return extras + [_Single(leaf, why, False) for said, why in node.asides for leaf, _ in leaves_said(said)]


def _print_of(name: str, leaf: Leaf) -> Hashable:
    """What a leaf says as a key; arguments as the object that they spell."""
    return _hashable(as_object(leaf).value if name == "arguments" else leaf.value)


def _hashable(value: Any) -> Hashable:
    return value if isinstance(value, str) else text.dumps(value)
