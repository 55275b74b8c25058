"""Heads as captured, read and written: an object of names and values, or a list of pairs where names repeat.

Names are compared without case and keep their spelling and order; what is no header is kept apart (`odd`).
"""

from typing import Any, NamedTuple

from ..context import Context
from ..ledger import Leaf, Writer
from .credentials import covered

# Where name and value stand in a pair: `[name, value]`, or `{"name": …, "value": …}` as archives have it.
Keys = tuple[Any, Any]
LIST_PAIR: Keys = (0, 1)
OBJECT_PAIR: Keys = ("name", "value")


class Header(NamedTuple):
    """One captured header: its name in lower case, the leaf of its value, and its spelling.

    In a list of pairs the name is a leaf, too. `listed` says that it is one of several values under one key.
    """

    name: str
    value: Leaf
    spelled: str
    named: Leaf | None = None
    keys: Keys = LIST_PAIR
    listed: bool = False

    def leaves(self) -> list[Leaf]:
        return [self.value] if self.named is None else [self.named, self.value]


class Head(NamedTuple):
    """All headers of one half in their order, and what else stood among them."""

    headers: list[Header]
    odd: list[Leaf]

    def values(self) -> dict[str, str]:
        """The value of each name in lower case; several are joined by commas, as HTTP has it."""
        said: dict[str, str] = {}
        for header in self.headers:
            before = said.get(header.name)
            said[header.name] = header.value.value if before is None else f"{before}, {header.value.value}"
        return said


def read_head(half: dict[str, Any]) -> Head:
    """The headers of a request or response; whatever stands there."""
    found = half.get("headers")
    headers: list[Header] = []
    odd: list[Leaf] = []
    if isinstance(found, dict) and found:
        for key, value in found.items():
            if isinstance(value, str):
                headers.append(Header(key.lower(), Leaf(found, key), key))
            elif isinstance(value, list) and value and all(isinstance(each, str) for each in value):
                headers += [Header(key.lower(), Leaf(value, at), key, listed=True) for at in range(len(value))]
            else:
                odd.append(Leaf(found, key))
    elif isinstance(found, list) and found:
        for at, pair in enumerate(found):
            keys = keys_of(pair)
            if keys is None:
                odd.append(Leaf(found, at))
            else:
                name, value = Leaf(pair, keys[0]), Leaf(pair, keys[1])
                headers.append(Header(name.value.lower(), value, name.value, name, keys))
                odd += [Leaf(pair, key) for key in pair if key not in keys] if isinstance(pair, dict) else []
    elif "headers" in half:
        odd.append(Leaf(half, "headers"))
    return Head(headers, odd)


def keys_of(pair: Any) -> Keys | None:
    """Where a pair has its name and its value; None where it is none."""
    keys = LIST_PAIR if isinstance(pair, list) and len(pair) == 2 else OBJECT_PAIR
    known = isinstance(pair, list) if keys is LIST_PAIR else isinstance(pair, dict) and set(keys) <= set(pair)
    return keys if known and all(isinstance(pair[key], str) for key in keys) else None


class HeadWriter:
    """Writes the headers of one half in the form in which they were captured.

    State: the names that stand in the target already, so that two headers that mean one become one.
    """

    def __init__(self, w: Writer, half: dict[str, Any]) -> None:
        found = half.get("headers")
        self.pairs = isinstance(found, list)
        self.keys = next((keys for keys in map(keys_of, found) if keys), LIST_PAIR) if isinstance(found, list) else None
        self.home, self.w = w, w.list("headers") if self.pairs else w.object("headers")
        self.names: set[str] = set()

    def put(self, header: Header, name: str, value: Leaf) -> None:
        """A header under a name, which is written as the source spelled it where it is the same."""
        spelled = header.spelled if name == header.name else name
        taken = name in self.names if name != header.name else self._taken(header)
        if taken:
            for leaf in header.leaves():
                self.w.ledger.drop(leaf, "duplicate")
            return
        self.names.add(name)
        if header.named is not None:
            named = header.named if spelled == header.spelled else header.named.to(spelled, "respelled")
            pair = self._pair(header.keys)
            for key, leaf in zip(header.keys, (named, value), strict=True):
                pair.put(key, leaf)
        elif header.listed:
            values = self.w.value.get(spelled)
            inner = self.w.list(spelled) if values is None else Writer(self.w.ledger, values)
            inner.append(value)
        else:
            self.w.put(spelled, value)

    def make(self, name: str, value: str, why: str) -> None:
        """A header of our own, unless there is one of that name."""
        if name in self.names:
            return
        self.names.add(name)
        if self.keys is None:
            self.w.make(name, value, why)
            return
        pair = self._pair(self.keys)
        for key, said in zip(self.keys, (name, value), strict=True):
            pair.make(key, said, why)

    def add(self, name: str, leaf: Leaf) -> None:
        """A header that the source said elsewhere, unless there is one of that name."""
        if name in self.names:
            self.w.ledger.drop(leaf, "duplicate")
            return
        self.names.add(name)
        if self.keys is None:
            self.w.put(name, leaf)
            return
        pair = self._pair(self.keys)
        pair.make(self.keys[0], name, "required-by-target")
        pair.put(self.keys[1], leaf)

    def close(self) -> None:
        """An object or list that stayed empty is a leaf of its own."""
        if not self.w.value:
            self.home.make("headers", self.w.value, "required-by-target")

    def _taken(self, header: Header) -> bool:
        before = None if self.pairs else self.w.value.get(header.spelled)
        return before is not None and not (header.listed and isinstance(before, list))

    def _pair(self, keys: Keys) -> Writer:
        self.w.value.append(None)
        at = len(self.w.value) - 1
        if keys is OBJECT_PAIR:
            return self.w.object(at)
        pair = self.w.list(at)
        pair.value += [None, None]
        return pair


def copy_head(half: dict[str, Any], w: Writer, context: Context) -> None:
    """Headers as they came in, but for credentials."""
    found = half["headers"]
    if isinstance(found, dict) and found:
        said = w.object("headers")
        for key, value in found.items():
            if isinstance(value, list) and value:
                listed = said.list(key)
                for at in range(len(value)):
                    listed.append(covered(key.lower(), Leaf(value, at), context))
            else:
                said.put(key, covered(key.lower(), Leaf(found, key), context))
    elif isinstance(found, list) and found:
        listed = w.list("headers")
        for at, pair in enumerate(found):
            keys = keys_of(pair)
            value = None if keys is None else covered(pair[keys[0]].lower(), Leaf(pair, keys[1]), context)
            if value is None or value.why is None:
                listed.append(Leaf(found, at))
            else:
                _write_pair(pair, listed, value)
    else:
        w.put("headers", Leaf(half, "headers"))


def _write_pair(pair: Any, listed: Writer, value: Leaf) -> None:
    """A pair with this for its value, all else as it was."""
    listed.value.append(None)
    at = len(listed.value) - 1
    inner = listed.object(at) if isinstance(pair, dict) else listed.list(at)
    for key in pair if isinstance(pair, dict) else range(len(pair)):
        leaf = value if key == value.key else Leaf(pair, key)
        if isinstance(pair, dict):
            inner.put(key, leaf)
        else:
            inner.append(leaf)
