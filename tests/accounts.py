"""What must hold for the account of any translation, whatever was translated; and junk to throw at a document."""

import copy
import random
from collections.abc import Iterator
from typing import Any

from proxai_cli import text
from proxai_cli.ledger import Entry, recipe, restore, size

JUNK: list[Any] = [
    None,
    {},
    [],
    "",
    "junk",
    0,
    -1,
    1.5,
    True,
    float("inf"),
    10**30,
    ["junk"],
    [None],
    {"type": "junk"},
    {"object": "model"},
    [{"type": "junk", "junk": [{}]}],
    [[]],
]


def fault(source: Any, target: Any, entries: list[Entry]) -> str | None:
    """What is wrong with an account, or None: both sides balance, nothing is unexplained, it rebuilds the source."""
    holes = [(entry.source, entry.target, entry.why) for entry in entries if entry.level == "unexplained"]
    if holes:
        return f"unexplained: {holes[:3]}"
    sums = sum(entry.ours for entry in entries), sum(entry.theirs for entry in entries)
    if sums != (size(source), size(target)):
        return f"the account says {sums}, the documents have {(size(source), size(target))} leaves"
    if not text.same(restore(target, recipe(source, entries)), source):
        return "the account does not rebuild the source"
    return None


def mutants(value: Any, seed: str, count: int) -> Iterator[Any]:
    """Copies of a document, each with junk at one of its places, or with a key that nobody knows."""
    chance = random.Random(seed)
    places = list(places_of(value))
    for _ in range(count):
        mutant = copy.deepcopy(value)
        path = chance.choice(places)
        home = mutant
        for key in path[:-1]:
            home = home[key]
        if chance.random() < 0.3 and isinstance(home, dict):
            home["unheard_of"] = copy.deepcopy(chance.choice(JUNK))
        else:
            home[path[-1]] = copy.deepcopy(chance.choice(JUNK))
        yield mutant


def places_of(value: Any) -> Iterator[tuple[Any, ...]]:
    """The paths of everything in a document."""
    todo: list[tuple[Any, tuple[Any, ...]]] = [(value, ())]
    while todo:
        node, path = todo.pop()
        if path:
            yield path
        if isinstance(node, dict):
            todo += [(inner, (*path, key)) for key, inner in node.items()]
        elif isinstance(node, list):
            todo += [(inner, (*path, at)) for at, inner in enumerate(node)]
