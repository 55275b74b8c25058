"""Two documents of one protocol, held against each other in the IR: what says the same, what differs, what one lacks.

Nodes are paired by what they say and terms by their names, so that another arrangement that means the same is no
difference: a lone text or a list of one, instructions in the conversation or before it, two turns or one. Leaves that
no rule understands are paired by where they stand.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from .. import text
from ..ir.events import PIECES
from ..ir.nodes import Node, has_more, nodes_of
from ..ir.terms import ACTED_ON, ENVELOPE, IMPLIED, LINKING, ORDERED, VOLATILE, term
from ..ir.values import as_object
from ..ledger import Leaf, Path, get, homes, leaves_said, members
from .sequences import Keys, in_any_order, in_order

# How the second document says a leaf of the first.
SAME, RESPELLED, RENAMED, MOVED, JOINED, DIFFERS = "same", "respelled", "renamed", "moved", "joined", "differs"


class Match(NamedTuple):
    """A leaf that both say: how, where in the other document, and whether the model or the client goes by it."""

    how: str
    there: tuple[Path, ...]
    weighs: bool


class Lone(NamedTuple):
    """A leaf that only one of them says. `why` is the reason for which nothing is missing, if that is so."""

    why: str | None
    weighs: bool


class Document:
    """A value and the node it was read into, with the path of every object and list, and of every leaf."""

    def __init__(self, value: Any, node: Node) -> None:
        self.value, self.node = value, node
        self.paths = homes(value)

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


def _volatile(node: Node) -> list[Leaf]:
    return [said for name, said in node.says.items() if name in VOLATILE and isinstance(said, Leaf)]


def scalars(value: Any, path: Path = ()) -> Iterator[Path]:
    """The paths of all leaves of a value, in their order."""
    if not value or not isinstance(value, (dict, list)):
        yield path
        return
    todo = [(value, path)]
    while todo:
        node, path = todo.pop()
        if node and isinstance(node, (dict, list)):
            todo += [(inner, (*path, key)) for key, inner in reversed(list(members(node)))]
        else:
            yield path


class _Spoken(NamedTuple):
    """One part of a conversation with its turn and role; of a turn without parts the turn itself."""

    turn: Node
    part: Node | None
    role: str
    placed: bool


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
        self._is_request = ours.node.kind == "request"
        self._homes: dict[Path, Path] = {(): ()}
        self._node(ours.node, theirs.node)
        self._name_links()
        self._by_place()

    # --- nodes

    def _node(self, ours: Node, theirs: Node, but: Iterable[str] = ()) -> None:
        """Two nodes that stand for each other."""
        here, there = self.ours.paths.get(id(ours.home)), self.theirs.paths.get(id(theirs.home))
        if here is not None and there is not None:
            self._homes.setdefault(here, there)
        talk = {"instructions", "turns"} if ours.kind == "request" and "turns" in {*ours.says, *theirs.says} else set()
        if talk:
            self._conversation(ours, theirs)
        for name in dict.fromkeys([*ours.says, *theirs.says]):
            if name in but or name in talk:
                continue
            one, two = ours.says.get(name), theirs.says.get(name)
            if isinstance(one, Leaf) and isinstance(two, Leaf):
                self._leaf(name, one, two, self._weighs(name, ours if _is_emptied(name, ours, theirs) else None))
            elif isinstance(one, Node) and isinstance(two, Node):
                self._node(one, two)
            elif isinstance(one, list) and isinstance(two, list):
                self._list(name, one, two)
            else:
                self._lose(name, one, name in IMPLIED and theirs.home is None)
                self._add(name, two, name in IMPLIED and ours.home is None)
        self._rest(ours, self._lose)
        self._rest(theirs, self._add)

    def _rest(self, node: Node, note: Callable[..., None]) -> None:
        """What no term of a node says."""
        for leaf in node.extras.values():
            note("", leaf)
        for said, why in node.asides:
            note("", said, why=why)

    def _list(self, name: str, ours: list[Any], theirs: list[Any]) -> None:
        """Two lists of nodes, or of leaves, under one term."""
        if not all(isinstance(each, Node) for each in (*ours, *theirs)):
            for one, two in zip(ours, theirs, strict=False):
                if isinstance(one, Leaf) and isinstance(two, Leaf):
                    self._leaf(name, one, two, self._weighs(name))
                else:
                    self._alone(name, [one], [two])
            shorter = min(len(ours), len(theirs))
            self._alone(name, ours[shorter:], theirs[shorter:])
            return
        mine, other = [self._keys(each) for each in ours], [self._keys(each) for each in theirs]
        pairs, moved = _pairs(mine, other, name in ORDERED)
        for at, there in pairs.items():
            self._moved(at in moved, ours[at], theirs[there])
        left, right = _open(pairs, ours, theirs)
        self._alone(name, [ours[at] for at in left], [theirs[at] for at in right])

    def _moved(self, moved: bool, ours: Node, theirs: Node, but: Iterable[str] = ()) -> None:
        before, self._moving = self._moving, self._moving or moved
        self._node(ours, theirs, but)
        self._moving = before

    def _alone(self, name: str, ours: list[Any], theirs: list[Any]) -> None:
        """What has no partner, with all that it says."""
        for said in ours:
            self._lose(name, said)
        for said in theirs:
            self._add(name, said)

    # --- the conversation

    def _conversation(self, ours: Node, theirs: Node) -> None:
        """All that is said, part by part, whatever turn it stands in; then the turns of the parts that are paired."""
        mine, other = _spoken(ours), _spoken(theirs)
        pairs, moved = _pairs(list(map(self._spoken_keys, mine)), list(map(self._spoken_keys, other)), True)
        parts = [each.part for each in mine]
        for at, there in list(pairs.items()):
            for beside in self._join(parts, at, other[there].part, pairs):
                pairs[beside] = there
        met: tuple[set[int], set[int]] = set(), set()
        for at, there in sorted(pairs.items()):
            one, two = mine[at], other[there]
            if one.part is not None and two.part is not None:
                self._moved(at in moved, one.part, two.part)
            if id(one.turn) not in met[0] or id(two.turn) not in met[1]:
                self._turns(at in moved, one, two)
            met[0].add(id(one.turn))
            met[1].add(id(two.turn))
        open_ones = _open(pairs, mine, other)
        left, right = [mine[at] for at in open_ones[0]], [other[at] for at in open_ones[1]]
        self._alone("parts", [each.part for each in left], [each.part for each in right])
        self._empty_turns(_firsts(left, met[0]), _firsts(right, met[1]))

    def _join(self, ours: list[Node | None], at: int, theirs: Node | None, pairs: dict[int, int]) -> list[int]:
        """Texts beside one of ours that have no partner and are, together with it, the text of theirs."""
        words = _words(theirs)
        if theirs is None or words is None or _words(ours[at]) in (None, words):
            return []
        first, last = at, at + 1
        while first and first - 1 not in pairs and _words(ours[first - 1]) is not None:
            first -= 1
        while last < len(ours) and last not in pairs and _words(ours[last]) is not None:
            last += 1
        run = [part for part in ours[first:last] if part is not None]
        if len(run) < 2 or not _is_joined(words, [_words(part) or "" for part in run]):
            return []
        for part in run:
            self._put(JOINED, self.ours.scalars(part.says["text"]), self.theirs.scalars(theirs.says["text"]), True)
        return [each for each in range(first, last) if each != at]

    def _turns(self, moved: bool, ours: _Spoken, theirs: _Spoken) -> None:
        """Two turns whose parts belong together; where a turn stands may say its role."""
        if (ours.placed or theirs.placed) and ours.role == theirs.role:
            self._lose("role", ours.turn.get("role"), True)
            self._add("role", theirs.turn.get("role"), True)
            self._moved(moved, ours.turn, theirs.turn, ("parts", "role"))
        else:
            self._moved(moved, ours.turn, theirs.turn, ("parts",))

    def _empty_turns(self, ours: list[_Spoken], theirs: list[_Spoken]) -> None:
        """Turns of which no part has a partner."""
        pairs = in_order([(each.role,) for each in ours], [(each.role,) for each in theirs])
        for at, there in pairs.items():
            self._turns(False, ours[at], theirs[there])
        left, right = _open(pairs, ours, theirs)
        self._alone(
            "turns", [ours[at].turn.but("parts") for at in left], [theirs[at].turn.but("parts") for at in right]
        )

    # --- keys

    def _spoken_keys(self, spoken: _Spoken) -> Keys:
        turn, part, role = spoken.turn, spoken.part, spoken.role
        if part is None:
            return (role, self._print(turn)), (role, "turn"), "turn", (role, "turn"), "turn", "turn", "turn"
        whole, main, rough, nameless, kind = self._keys(part)
        return (role, whole), (role, main), main, (role, rough), rough, nameless, kind

    def _keys(self, node: Node) -> Keys:
        """All that a node says; its main words alone; its kind with the name that it goes by; all but the name."""
        main = node.get(PIECES.get(node.kind, "text"))
        name = node.value("name") if isinstance(node.get("name"), Leaf) else None
        service = node.value("service") if isinstance(node.get("service"), Leaf) else None
        rough = (node.kind, _hashable(name), _hashable(service))
        whole = self._print(node)
        words = (rough, _print_of("text", main)) if isinstance(main, Leaf) else whole
        return whole, words, rough, self._said_by(node, "name"), node.kind

    def _print(self, node: Node) -> Hashable:
        """What a node says, in a form that is the same for all nodes that say it, without what is made anew."""
        known = self._prints.get(id(node))
        if known is None:
            known = self._prints[id(node)] = self._said_by(node)
        return known

    def _said_by(self, node: Node, but: str = "") -> Hashable:
        says = [
            (name, self._said(name, said))
            for name, said in sorted(node.says.items())
            if name not in VOLATILE | LINKING | IMPLIED and name not in ("item", but)
        ]
        extras = sorted((str(key), text.dumps(leaf.value)) for key, leaf in node.extras.items())
        return node.kind, tuple(says), tuple(extras)

    def _said(self, name: str, said: Any) -> Hashable:
        if isinstance(said, Leaf):
            return _print_of(name, said)
        if isinstance(said, Node):
            return self._print(said)
        return tuple(self._said(name, each) for each in said) if isinstance(said, (list, tuple)) else None

    # --- leaves

    def _weighs(self, name: str, gone: Any = None) -> bool:
        """May the model (of a request) or the client (of a reply) behave otherwise where this term is not the same, or
        what is `gone` under it is missing?"""
        if self._is_request:
            return term(name).steers
        return term(name).acts or (isinstance(gone, Node) and gone.kind in ACTED_ON)

    def _leaf(self, name: str, ours: Leaf, theirs: Leaf, weighs: bool) -> None:
        """Two leaves of one term."""
        if name in LINKING:
            self._links.append((ours, theirs))
        alike = _print_of(name, ours) == _print_of(name, theirs)
        if ours.joined or theirs.joined:
            here, there = self.ours.scalars(ours), self.theirs.scalars(theirs)
            beside = {path[-1]: path for path in there}
            names = {path[-1] for path in here}
            if alike or len(names) < len(here) or len(beside) < len(there) or not names & set(beside):
                self._put(SAME if alike else DIFFERS, here, there, weighs)
            else:  # several counts that are summed up: each by itself
                for path in here:
                    self._same_place(path, beside.pop(path[-1], None), weighs)
                self.extra.update(dict.fromkeys(beside.values(), Lone(None, weighs)))
        else:
            self._raw(name, ours, theirs, alike, weighs)

    def _raw(self, name: str, ours: Leaf, theirs: Leaf, alike: bool, weighs: bool) -> None:
        """What stands at two places of the documents, inner leaf by inner leaf; `alike` says that it means the same."""
        here, there = self.ours.place(ours), self.theirs.place(theirs)
        if here is None or there is None:
            self._put(SAME if alike else DIFFERS, self.ours.scalars(ours), self.theirs.scalars(theirs), weighs)
            return
        if alike:
            equal = text.same(ours.home[ours.key], theirs.home[theirs.key])
            self._put(SAME if equal else RESPELLED, self.ours.scalars(ours), self.theirs.scalars(theirs), weighs)
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
                how = _held(one, two, name)
                self._put(how, tuple(scalars(one, here)), tuple(scalars(two, there)), weighs)
                continue
            todo += [((*here, key), (*there, other)) for key, other in keys.items()]
            for key, inner in members(one):
                if key not in keys:
                    self.lost.update(dict.fromkeys(scalars(inner, (*here, key)), Lone(None, weighs)))
            met = set(keys.values())
            for key, inner in members(two):
                if key not in met:
                    self.extra.update(dict.fromkeys(scalars(inner, (*there, key)), Lone(None, weighs)))

    def _put(self, how: str, ours: tuple[Path, ...], theirs: tuple[Path, ...], weighs: bool) -> None:
        if not ours or not theirs:  # one of them means it without saying it
            alone = Lone("target-default" if how == SAME else None, weighs)
            for into, paths in ((self.lost, ours), (self.extra, theirs)):
                into.update((path, alone) for path in paths if path not in into)
            return
        if self._moving and how in (SAME, RESPELLED):
            how = MOVED
        if len(ours) == len(theirs) and how == SAME:
            for here, there in zip(ours, theirs, strict=True):
                self.matched.setdefault(here, Match(how, (there,), weighs))
                self.reached.setdefault(there, here)
            return
        for here in ours:
            self.matched.setdefault(here, Match(how, theirs, weighs))
        for there in theirs:
            self.reached.setdefault(there, ours[0])

    def _lose(self, name: str, said: Any, implied: bool = False, why: str | None = None) -> None:
        """What only ours says under a term; nothing is missing where it is implied, or set aside for a `why`."""
        self._note(self.ours, self.lost, name, said, "target-default" if implied else why)

    def _add(self, name: str, said: Any, implied: bool = False, why: str | None = None) -> None:
        """What only theirs says."""
        self._note(self.theirs, self.extra, name, said, "target-default" if implied else why)

    def _note(self, document: Document, into: dict[Path, Lone], name: str, said: Any, why: str | None) -> None:
        if isinstance(said, Node) and said.kind == "item":  # what stands around the parts of an item
            for inner, each in said.says.items():
                self._note(document, into, inner, each, "target-default" if inner in ENVELOPE else why)
            said = [*said.extras.values(), *(each for each, _ in said.asides)]
        elif isinstance(said, list):
            for each in said:
                self._note(document, into, name, each, why)
            return
        elif isinstance(said, Node) and says_nothing(said):
            why = "target-default"
        for leaf, aside in leaves_said(said):
            for path in document.scalars(leaf):
                into.setdefault(path, Lone(aside or why, self._weighs(name, said)))

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
        for (ours, theirs), (one, two) in zip(self._links, values, strict=True):
            if one != two and theirs.value and len(forth[one]) == len(back[two]) == 1:
                for path in self.ours.scalars(ours):
                    if path in self.matched:
                        self.matched[path] = self.matched[path]._replace(how=RENAMED)

    def _same_place(self, here: Path, there: Path | None, weighs: bool) -> None:
        if there is None:
            self.lost.setdefault(here, Lone(None, weighs))
            return
        how = _held(get(self.ours.value, here), get(self.theirs.value, there))
        self._put(how, (here,), (there,), weighs)

    def _both_say_nothing(self, here: Path, there: Path) -> bool:
        """Is nothing missing on either side, as where an empty text stands here and null there?"""
        alone, other = self.lost[here], self.extra.get(there)
        differ = not text.same(get(self.ours.value, here), get(self.theirs.value, there))
        return differ and bool(alone.why and other and other.why)

    def _by_place(self) -> None:
        """Leaves without a partner are paired by where they stand in objects that stand for each other."""
        open_ones = {path for path in scalars(self.theirs.value) if path not in self.reached}
        for here in scalars(self.ours.value):
            if here in self.matched:
                continue
            alone = self.lost.setdefault(here, Lone(None, False))
            at = next(at for at in range(len(here), -1, -1) if here[:at] in self._homes)
            there = (*self._homes[here[:at]], *here[at:])
            if there in open_ones and not self._both_say_nothing(here, there):
                self._same_place(here, there, alone.weighs)
        for there in open_ones:
            if there not in self.reached:
                self.extra.setdefault(there, Lone(None, False))


def _pairs(ours: list[Keys], theirs: list[Keys], ordered: bool) -> tuple[dict[int, int], set[int]]:
    """Pairs of positions, and those of ours that say the same at another place of an order that means something.

    The last key is the kind, which pairs nothing but what is as many on both sides and of a kind, or of none.
    """
    kinds = [keys[-1] for keys in ours], [keys[-1] for keys in theirs]
    mine, other = [keys[:-1] for keys in ours], [keys[:-1] for keys in theirs]
    pairs = in_order(mine, other) if ordered else in_any_order(mine, other)
    away: dict[int, int] = {}
    if ordered:
        left, right = _open(pairs, mine, other)
        found = in_any_order([mine[at][:1] for at in left], [other[at][:1] for at in right])
        away = {left[one]: right[two] for one, two in found.items()}
    left, right = _open(pairs | away, mine, other)
    if len(left) == len(right):
        for one, two in zip(left, right, strict=True):
            if kinds[0][one] == kinds[1][two] or "other" in (kinds[0][one], kinds[1][two]):
                pairs[one] = two
    return pairs | away, set(away)


def _open(pairs: dict[int, int], ours: Sequence[Any], theirs: Sequence[Any]) -> tuple[list[int], list[int]]:
    """The positions on both sides that are in no pair."""
    taken = set(pairs.values())
    return [at for at in range(len(ours)) if at not in pairs], [at for at in range(len(theirs)) if at not in taken]


def says_nothing(node: Node) -> bool:
    """Is it an empty text, and no more? Beside a call it means what no text means."""
    return node.kind == "text" and node.value("text") == "" and not has_more(node, ("text", "type", "item"))


def _is_emptied(name: str, ours: Node, theirs: Node) -> bool:
    """Is what ours is there for an empty text in theirs?"""
    return name == PIECES.get(ours.kind) and bool(ours.value(name)) and theirs.value(name) in ("", None)


def _listed(ours: list[Any], theirs: list[Any]) -> Iterable[tuple[int, int]]:
    """The elements of two lists that stand for each other: one by one, or where one list is longer by what they say."""
    if len(ours) == len(theirs):
        return ((at, at) for at in range(len(ours)))
    keys = [[(text.dumps(each), type(each).__name__) for each in listed] for listed in (ours, theirs)]
    return in_order(*keys).items()


def _held(one: Any, two: Any, name: str = "") -> str:
    """One value held against another. 1.0 is 1, but not to what reads a call's arguments."""
    if text.same(one, two):
        return SAME
    return RESPELLED if name != "arguments" and is_one_number(one, two) else DIFFERS


def is_one_number(one: Any, two: Any) -> bool:
    """Are these one number, whatever its spelling?"""
    numbers = all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in (one, two))
    return numbers and bool(one == two)


def _words(part: Node | None) -> str | None:
    """The words of a text."""
    said = part.get("text") if part is not None and part.kind == "text" else None
    return said.value if isinstance(said, Leaf) and isinstance(said.value, str) and said.value else None


def _is_joined(words: str, pieces: list[str]) -> bool:
    """Are these pieces, with only white space between them, the whole text?"""
    end = 0
    for piece in pieces:
        start = words.find(piece, end)
        if start < 0 or words[end:start].strip():
            return False
        end = start + len(piece)
    return not words[end:].strip()


def _firsts(spoken: list[_Spoken], met: set[int]) -> list[_Spoken]:
    """The first of each turn that is not met yet."""
    turns = {id(each.turn): each for each in reversed(spoken) if id(each.turn) not in met}
    return [each for each in spoken if turns.get(id(each.turn)) is each]


def _spoken(node: Node) -> list[_Spoken]:
    found = []
    for name, usual in (("instructions", "system"), ("turns", "user")):
        for turn in node.says.get(name, []):
            role = turn.value("role", usual) if isinstance(turn.get("role"), Leaf) else usual
            placed = name == "instructions"
            found += [_Spoken(turn, part, str(role), placed) for part in turn.says.get("parts") or [None]]
    return found


def _print_of(name: str, leaf: Leaf) -> Hashable:
    """What a leaf says as a key; arguments as the object that they spell."""
    return _hashable(as_object(leaf).value if name == "arguments" else leaf.value)


def _hashable(value: Any) -> Hashable:
    return value if isinstance(value, str) else text.dumps(value)
