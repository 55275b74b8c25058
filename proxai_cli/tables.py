"""Rules as data, and their engine: what protocols merely name differently.

Reading loops over what is there, so no key can be passed over; writing loops over what was said, so no term can be.
`proxai map` prints these same tables.
"""

from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any, NamedTuple

from .context import Context
from .ir.nodes import Node
from .ir.terms import term
from .ledger import Leaf, Ledger, Writer

Read = Callable[[Leaf, Context], Any]
Write = Callable[[Any, Context], "Leaf | Dropped"]
WriteNested = Callable[[Any, Writer, str, Context], None]

# Shapes that a rule may ask of a value; what has another shape is kept as an extra, as a key that no table knew.
TEXT, FLAG, NUMBER, LIST, OBJECT = "text", "flag", "number", "list", "object"


def fits(value: Any, shape: str | None) -> bool:
    """Has the value the shape that a rule asks for? No shape takes any value."""
    if shape is None:
        return True
    if shape == NUMBER:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    kinds: dict[str, type] = {TEXT: str, FLAG: bool, LIST: list, OBJECT: dict}
    return any(isinstance(value, kinds[one]) for one in shape.split())


class Field(NamedTuple):
    """A name that means a term. `read` turns the leaf into the IR's words, `write` back into this protocol's.

    `shape` is one of the shapes above, or several with blanks between.
    """

    name: str
    term: str
    shape: str | None = None
    read: Read | None = None
    write: Write | None = None


class Nested(NamedTuple):
    """A key with structure of its own: `read` gives a node or a list of nodes, `write` builds them under the key.

    A `write` of None says that the codec arranges this term by itself.
    """

    name: str
    term: str
    shape: str
    read: Read
    write: WriteNested | None = None


class Word(NamedTuple):
    """A discriminator: under this name stands always the same word of this protocol (`type: "tool_use"`)."""

    name: str
    word: str
    term: str = "type"


class Gap(NamedTuple):
    """A term that this protocol has no name for, where the term's own reason is not exact enough."""

    term: str
    why: str


class Must(NamedTuple):
    """A key that this protocol will not do without, with the neutral value."""

    name: str
    value: Any
    why: str = "required-by-target"


Rule = Field | Nested | Word | Gap | Must


class Table:
    """The rules for one kind of object of one protocol; `kind` is the kind of node that it reads."""

    def __init__(self, kind: str, protocol: str, *rules: Rule) -> None:
        self.kind, self.protocol, self.rules = kind, protocol, rules
        self.by_name: dict[str, Field | Nested | Word] = {}
        self.by_term: dict[str, Field | Nested | Word | Gap] = {}
        self.names = list(dict.fromkeys(rule.name for rule in rules if not isinstance(rule, Gap)))
        for rule in rules:
            if isinstance(rule, (Field, Nested, Word)):
                self.by_name.setdefault(rule.name, rule)
            if not isinstance(rule, Must):
                self.by_term.setdefault(rule.term, rule)
        self.rank = {
            rule: at for at, rule in reversed(list(enumerate(rules))) if isinstance(rule, (Field, Nested, Word))
        }

    def read(self, home: dict[str, Any], context: Context) -> Node:
        """An object as a node. Every key ends in a term, in the extras, or aside.

        Null says nothing and is set aside (`target-default`); of two names for one term the one whose rule stands
        first speaks, the other is set aside as `duplicate`; a value whose shape no rule expects is an extra.
        """
        node = Node(self.kind, self.protocol, home)
        spoke: dict[str, int] = {}
        for key in home:
            rule, leaf = self.by_name.get(key), Leaf(home, key)
            if leaf.value is None:
                node.asides.append((leaf, "target-default"))
            elif rule is None or not fits(leaf.value, TEXT if isinstance(rule, Word) else rule.shape):
                node.extras[key] = leaf
            elif isinstance(rule, Nested) and not leaf.value:
                node.asides.append((leaf, "target-default"))  # an empty list or object with structure says nothing
            elif rule.term in spoke:
                before, now = node.says[rule.term], self._said(rule, leaf, context)
                if self.rank[rule] < spoke[rule.term]:
                    node.says[rule.term], spoke[rule.term], now = now, self.rank[rule], before
                node.asides.append((now, "duplicate"))
            else:
                node.says[rule.term] = self._said(rule, leaf, context)
                spoke[rule.term] = self.rank[rule]
        return node

    def _said(self, rule: Field | Nested | Word, leaf: Leaf, context: Context) -> Any:
        return leaf if isinstance(rule, Word) or rule.read is None else rule.read(leaf, context)

    def write(self, node: Node, w: Writer, context: Context, but: Iterable[str] = ()) -> None:
        """Write what a node says; terms in `but` are left to the caller, who must write or drop them.

        At home (a node of this protocol) an object goes out as it came in: same keys, order, values; one put together
        from pieces is written through the rules with every leaf as it was said.
        """
        home = node.protocol == self.protocol
        if home and node.home is not None:
            for key in node.home:
                w.put(key, Leaf(node.home, key))
            return
        for name, said in node.says.items():
            if name not in but:
                self._write(name, said, w, context, home)
        arranged = [self.by_term[name] for name in but if name in node.says and name in self.by_term]
        later = {rule.name for rule in arranged if not isinstance(rule, Gap)}
        self.rest(node, w, home, context.chosen("keep-unknown"), later)
        for rule in self.rules:
            if isinstance(rule, Must) and rule.name not in w.value:
                w.make(rule.name, rule.value, rule.why)
            elif isinstance(rule, Word) and rule.name not in w.value and rule.term not in but:
                w.make(rule.name, rule.word, "required-by-target")
        w.order(self.names)

    def _write(self, name: str, said: Any, w: Writer, context: Context, home: bool) -> None:
        rule = self.by_term.get(name)
        if isinstance(rule, Nested):
            if rule.write:
                rule.write(said, w, rule.name, context)
            else:
                w.ledger.drop(said, "not-yet", term(name).steers)
        elif isinstance(rule, Word) and isinstance(said, Leaf):
            w.put(rule.name, said if said.value == rule.word else said.to(rule.word, "respelled"))
        elif isinstance(rule, Field) and isinstance(said, Leaf):
            if home:
                w.put(rule.name, said.raw())
                return
            leaf = rule.write(said, context) if rule.write else said
            if isinstance(leaf, Dropped):
                w.ledger.drop(said, leaf.why, term(name).steers)
            else:
                w.put(rule.name, leaf)
        elif isinstance(rule, Gap):
            w.ledger.drop(said, rule.why, term(name).steers)
        else:
            drop_term(name, said, w.ledger)

    def rest(self, node: Node, w: Writer, home: bool = False, keep: bool = False, later: Container[str] = ()) -> None:
        """What no table knew, and what was set aside. To keep it is to write what this table does not know either.

        `later` are keys that the caller will write.
        """
        for key, leaf in node.extras.items():
            if home and key not in w.value and key not in later:
                w.put(key, leaf)
            elif keep and isinstance(key, str) and key not in w.value and key not in self.names:
                w.put(key, leaf.to(leaf.value, "unknown-field"))
            else:
                w.ledger.drop(leaf, "unknown-field")
        for said, why in node.asides:
            w.ledger.drop(said, why)


class Inner(NamedTuple):
    """A key whose object says terms of the node that it stands in (`stream_options: {include_usage}`).

    A required one is written even if it says nothing.
    """

    name: str
    table: Table
    required: bool = False


class Deep(Table):
    """A table of which some keys are `Inner`.

    What no rule knows inside stands in the extras under the pair (key, inner key). An inner object in which nothing
    would be said is not written.
    """

    def __init__(self, kind: str, protocol: str, *rules: Rule | Inner) -> None:
        super().__init__(kind, protocol, *(rule for rule in rules if not isinstance(rule, Inner)))
        self.inner = [rule for rule in rules if isinstance(rule, Inner)]
        self.names = list(dict.fromkeys(rule.name for rule in rules if not isinstance(rule, Gap)))

    def read(self, home: dict[str, Any], context: Context) -> Node:
        node = super().read(home, context)
        for name, table, _ in self.inner:
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
        inside = [(each, _handed_down(outer, *each[:2], (*but, *self.by_term))) for each in self.inner]
        for (name, _, _), inner in inside:
            if name in outer.extras and (inner.says or inner.extras):
                w.ledger.drop(outer.extras.pop(name), "unknown-field")
        super().write(outer, w, context, but)
        for (name, table, required), inner in inside:
            if inner.says or inner.extras or required:
                under = Writer(w.ledger, {})
                table.write(inner, under, context)
                if under.value:
                    w.value[name] = under.value
        w.order(self.names)


def terms_of(table: Table) -> set[str]:
    """Every term that a table has a rule for, inner ones included."""
    inner = [each.table for each in table.inner] if isinstance(table, Deep) else []
    own = {rule.term for rule in table.rules if not isinstance(rule, Must)}
    return own.union(*map(terms_of, inner))


def _take_over(node: Node, name: str, inner: Node) -> None:
    for word, said in inner.says.items():
        if word in node.says:
            node.asides.append((said, "duplicate"))
        else:
            node.says[word] = said
    node.extras.update({(name, key): leaf for key, leaf in inner.extras.items()})
    node.asides += inner.asides


def _handed_down(outer: Node, name: str, table: Table, but: Iterable[str]) -> Node:
    """What of a node stands inside, taken out of it."""
    inner, kept = Node(table.kind, outer.protocol), set(but)
    for word in [word for word in outer.says if word in terms_of(table) and word not in kept]:
        inner.says[word] = outer.says.pop(word)
    for key in [key for key in outer.extras if isinstance(key, tuple) and key[0] == name]:
        inner.extras[key[1]] = outer.extras.pop(key)
    return inner


class Dropped(NamedTuple):
    """What a rule's `write` gives back when the value itself has no place in this protocol, with the reason."""

    why: str


def drop_term(name: str, said: Any, ledger: Ledger) -> None:
    """Drop a term that a protocol has no name for, for the term's own reason.

    What stands around the parts of an item is no loss as a whole: each of its terms has a reason of its own. An empty
    list or object says nothing.
    """
    if isinstance(said, Node) and said.kind == "item":
        for inner, each in said.says.items():
            drop_term(inner, each, ledger)
        ledger.drop(list(said.extras.values()), "unknown-field")
        for each, why in said.asides:
            ledger.drop(each, why)
        return
    why = term(name).why
    empty = isinstance(said, Leaf) and isinstance(said.value, (list, dict)) and not said.value
    ledger.drop(said, "target-default" if empty and why == "no-equivalent" else why, term(name).steers)


def nodes(leaf: Leaf, read: Callable[[dict[str, Any]], Node | list[Node]], protocol: str) -> list[Node]:
    """The elements of a list as nodes; what is no object becomes a node `other` that holds it as an extra."""
    found: list[Node] = []
    for position, element in enumerate(leaf.value):
        if isinstance(element, dict) and element:
            said = read(element)
            found += said if isinstance(said, list) else [said]
        else:
            found.append(other(leaf.value, position, protocol))
    return found


def other(home: Any, key: Any, protocol: str) -> Node:
    """A value of a shape that nobody expected, kept whole."""
    node = Node("other", protocol)
    node.extras[key] = Leaf(home, key)
    return node


def unknown(home: dict[str, Any], protocol: str) -> Node:
    """An object of a type that nobody knows: a node `other` with each key an extra."""
    node = Node("other", protocol, home)
    node.extras = {key: Leaf(home, key) for key in home}
    return node


class Protocol(NamedTuple):
    """What a protocol folder gives to the program.

    `read[kind](value, context) -> Node` and `write[kind](node, writer, context)` for the kinds `request`, `response`
    and `error`; `Decoder(ledger, context)` and `Encoder(ledger, context)` for streams, both with `feed` and `close`;
    `tables` by name, for `proxai map`; `markers` for detection; `named` says whether its events carry names, `repeats`
    whether its replies repeat their request.
    """

    name: str
    title: str
    read: dict[str, Callable[[Any, Context], Node]]
    write: dict[str, Callable[[Node, Writer, Context], None]]
    Decoder: Any
    Encoder: Any
    tables: dict[str, Table]
    markers: Any
    named: bool
    repeats: bool = False


def rules(protocol: Protocol) -> Iterator[tuple[str, Rule]]:
    """Every rule of a protocol with the name of its table."""
    for name, table in protocol.tables.items():
        for rule in table.rules:
            yield name, rule
