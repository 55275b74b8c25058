"""Node: a thing said by a request or reply, in the words of no protocol."""

from collections.abc import Iterable, Iterator
from typing import Any


class Node:
    """A thing said: its terms, the keys that no table knew, what was set aside, and the object it was read from.

    `kind` is a word of `terms.KINDS`; `says` maps a term to a leaf, a node, or a list of nodes; `extras` maps
    unknown keys to their leaves; `asides` are leaves (or nodes) whose fate needs no target to be known, each with the
    reason for which it is dropped: null where null says nothing, the older of two names for one term. `home` is the
    source object, or None for a node put together from several.
    """

    __slots__ = ("asides", "extras", "home", "kind", "protocol", "says")

    def __init__(self, kind: str, protocol: str, home: Any = None, says: dict[str, Any] | None = None) -> None:
        self.kind, self.protocol, self.home = kind, protocol, home
        self.says: dict[str, Any] = says or {}
        self.extras: dict[Any, Any] = {}
        self.asides: list[tuple[Any, str]] = []

    def get(self, term: str) -> Any:
        """What is said under a term, or None."""
        return self.says.get(term)

    def value(self, term: str, default: Any = None) -> Any:
        """The value of the leaf under a term, or the default."""
        leaf = self.says.get(term)
        return default if leaf is None else leaf.value

    def parts(self) -> list["Node"]:
        """The parts of a turn, reply or tool result."""
        parts: list[Node] = self.says.get("parts", [])
        return parts

    def but(self, *terms: str) -> "Node":
        """The same node without these terms; nothing of the original changes."""
        other = Node(self.kind, self.protocol, self.home, {k: v for k, v in self.says.items() if k not in terms})
        other.extras, other.asides = dict(self.extras), list(self.asides)
        return other

    def plain(self) -> Any:
        """The one text leaf of a turn or tool result whose content was a lone string; else None."""
        parts = self.parts()
        if len(parts) == 1 and parts[0].kind == "text" and parts[0].home is None and not has_more(parts[0], ("text",)):
            return parts[0].get("text")
        return None

    def __repr__(self) -> str:
        return f"Node({self.kind!r}, {self.says!r})"


def has_more(node: Node, terms: Iterable[str]) -> bool:
    """Does the node say anything besides these terms?"""
    return bool(set(node.says) - set(terms)) or bool(node.extras)


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
