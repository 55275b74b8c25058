"""Batches: the bodies in their lines, each held to what it is. The lines themselves have no schema here."""

from typing import Any

from ..context import Finding
from ..endpoints.batches.bodies import bodies
from . import validate
from .profiles import EVERYTHING, Wanted


def validate_batch(value: Any, protocol: str, wanted: Wanted = EVERYTHING) -> list[Finding] | None:
    """What is wrong with the bodies of a batch; None where it holds none."""
    found, count = list[Finding](), 0
    for kind, path in bodies(value):
        body, count = value, count + 1
        for step in path:
            body = body[step]
        found += [each._replace(place=(*path, *each.place)) for each in validate(body, protocol, kind, wanted)]
    return found if count else None
