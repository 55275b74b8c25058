"""Every property that the official types name has a rule, or a stated gap: none ends as a key that no table knew."""

from typing import Any

import pytest

from proxai_cli import PROTOCOLS, Context, text, translate
from proxai_cli.errors import ProxaiError
from proxai_cli.ir.nodes import Node
from proxai_cli.ledger import Leaf, size

from .examples import Example, Examples

BODIES = [(protocol, kind) for protocol in PROTOCOLS for kind in ("request", "response", "error")]


def extras(said: Any) -> list[tuple[str, Leaf]]:
    """The leaves that no table knew, with the kind of node that holds them."""
    found: list[tuple[str, Leaf]] = []
    todo = [said]
    while todo:
        said = todo.pop()
        if isinstance(said, Node):
            found += [(said.kind, leaf) for leaf in said.extras.values()]
            todo += [*said.says.values(), *(each for each, _ in said.asides)]
        elif isinstance(said, (list, tuple)):
            todo += said
    return found


def unknown_at(example: Example, node: Node) -> bool:
    """Is the property of this example, or what it stands in, held as a key that no table knew?"""
    homes: dict[tuple[int, Any], int] = {}
    home = example.document
    for depth, key in enumerate(example.path):
        homes[id(home), key] = depth
        home = home[key]
    return any((id(leaf.home), leaf.key) in homes for _, leaf in extras(node))


@pytest.mark.parametrize(("protocol", "kind"), BODIES)
def test_every_property_has_a_rule(protocol: str, kind: str) -> None:
    missing = set()
    for example in Examples(protocol, kind).all():
        try:
            node = PROTOCOLS[protocol].read[kind](example.document, Context().fresh())
        except ProxaiError:
            continue
        if unknown_at(example, node):
            missing.add(f"{example.owner}.{example.name}")
    assert not missing, f"{len(missing)} without a rule: {sorted(missing)}"


@pytest.mark.parametrize("target", PROTOCOLS)
@pytest.mark.parametrize(("protocol", "kind"), BODIES)
def test_every_property_is_accounted_for(protocol: str, kind: str, target: str) -> None:
    wrong = set()
    for example in Examples(protocol, kind).all():
        name = f"{example.owner}.{example.name}"
        try:
            done = translate(example.document, protocol, target, kind)
        except ProxaiError:
            continue
        entries = done.ledger.entries
        wrong |= {(entry.why, name) for entry in entries if entry.level == "unexplained"}
        wrong |= {(entry.why, name) for entry in entries if entry.why in ("not-yet", "unknown-field")}
        if sum(entry.ours for entry in entries) != size(example.document):
            wrong.add(("unbalanced", name))
        if sum(entry.theirs for entry in entries) != size(done.value):
            wrong.add(("unbalanced target", name))
    assert not wrong, f"{len(wrong)}: {sorted(wrong, key=str)}"


def test_the_walk_finds_what_is_missing() -> None:
    """A key that no table knows is seen by the walk that must see it."""
    document = {"model": "m", "messages": [{"role": "user", "content": "x", "unheard_of": 1}]}
    node = PROTOCOLS["chat"].read["request"](document, Context().fresh())
    assert unknown_at(Example("", "", ("messages", 0, "unheard_of"), document), node)
    assert text.dumps(document)
