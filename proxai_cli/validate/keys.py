"""Fields of a request that its protocol does not have: misspelled ones, most of the time."""

from functools import cache
from typing import Any

from .. import schemas
from ..context import Context, Finding
from ..errors import ProxaiError, nearest
from ..ir.nodes import nodes_of
from ..ledger import Path, homes
from ..protocols import PROTOCOLS
from ..tables import Gap, rules

# So like a name must be for it to be meant, of 1: a letter lost or doubled, not a field of another vendor.
NEAR = 0.8


def unknown_keys(value: Any, protocol: str) -> list[Finding]:
    """Each field that neither the schema nor a dialect has, with the nearest name that there is."""
    try:
        request = PROTOCOLS[protocol].read["request"](value, Context().fresh())
    except ProxaiError:
        return []  # what is no request has its own faults
    known, paths = names(protocol), homes(value)
    places = {
        (*paths[id(leaf.home)], leaf.key)
        for node in nodes_of(request)
        if node.kind != "other"
        for leaf in node.extras.values()
        if isinstance(leaf.key, str) and leaf.key not in known and id(leaf.home) in paths
    }
    order = {path: at for at, path in enumerate(paths.values())}
    return [_found(place, known) for place in sorted(places, key=lambda place: (order[place[:-1]], place[-1]))]


def _found(place: Path, known: frozenset[str]) -> Finding:
    near = nearest(str(place[-1]), known, NEAR)
    said = "the protocol has no field of this name, and the API refuses the call"
    return Finding("unknown-key", place, f"{said}; did you mean `{near}`?" if near else said)


@cache
def names(protocol: str) -> frozenset[str]:
    """Every field that the schema of a protocol or one of its tables names."""
    ruled = {rule.name for _, rule in rules(PROTOCOLS[protocol]) if not isinstance(rule, Gap)}
    return schemas.names(protocol).union(ruled)
