"""Tables for objects that hold some of their terms in objects of their own (`stream_options: {include_usage}`)."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from ...context import Context
from ...ir.nodes import Node
from ...ledger import Writer
from ...tables import Gap, Must, Rule, Table


class Inner(NamedTuple):
    """A key whose object says terms of the node that it stands in."""

    name: str
    table: Table


class Deep(Table):
    """A table of which some keys are `Inner`.

    What no rule knows inside stands in the extras under the pair (key, inner key). An inner object in which nothing
    would be said is not written.
    """

    def __init__(self, kind: str, protocol: str, *rules: Rule | Inner) -> None:
        super().__init__(kind, protocol, *(rule for rule in rules if not isinstance(rule, Inner)))
        self.inner = {rule.name: rule.table for rule in rules if isinstance(rule, Inner)}
        self.names = [rule.name for rule in rules if not isinstance(rule, Gap)]

    def read(self, home: dict[str, Any], context: Context) -> Node:
        node = super().read(home, context)
        for name, table in self.inner.items():
            leaf = node.extras.get(name)
            if leaf is None or not isinstance(leaf.value, dict):
                continue
            del node.extras[name]
            if leaf.value:
                _take_over(node, name, table.read(leaf.value, context))
            else:
                node.asides.append((leaf, "target-default"))
        return node

    def write(self, node: Node, w: Writer, context: Context, but: Iterable[str] = ()) -> None:
        if node.protocol == self.protocol and node.home is not None:
            super().write(node, w, context, but)
            return
        outer = node.but()
        inside = [
            (name, table, _handed_down(outer, name, table, (*but, *self.by_term))) for name, table in self.inner.items()
        ]
        for name, _, inner in inside:
            if name in outer.extras and (inner.says or inner.extras):
                w.ledger.drop(outer.extras.pop(name), "unknown-field")
        super().write(outer, w, context, but)
        for name, table, inner in inside:
            if inner.says or inner.extras:
                under = Writer(w.ledger, {})
                table.write(inner, under, context)
                if under.value:
                    w.value[name] = under.value
        w.order(self.names)


def terms_of(table: Table) -> set[str]:
    """Every term that a table has a rule for, inner ones included."""
    inner = table.inner.values() if isinstance(table, Deep) else ()
    own = {rule.term for rule in table.rules if not isinstance(rule, Must)}
    return own.union(*map(terms_of, inner))


def _take_over(node: Node, name: str, inner: Node) -> None:
    for term, said in inner.says.items():
        if term in node.says:
            node.asides.append((said, "duplicate"))
        else:
            node.says[term] = said
    node.extras.update({(name, key): leaf for key, leaf in inner.extras.items()})
    node.asides += inner.asides


def _handed_down(outer: Node, name: str, table: Table, but: Iterable[str]) -> Node:
    """What of a node stands inside, taken out of it."""
    inner, kept = Node(table.kind, outer.protocol), set(but)
    for term in [term for term in outer.says if term in terms_of(table) and term not in kept]:
        inner.says[term] = outer.says.pop(term)
    for key in [key for key in outer.extras if isinstance(key, tuple) and key[0] == name]:
        inner.extras[key[1]] = outer.extras.pop(key)
    return inner
