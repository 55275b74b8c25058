"""Batches: the bodies in their lines, each held to what it is. The lines themselves have no schema here."""

from typing import Any

from ..context import Finding
from ..endpoints.address import ANTHROPIC, VENDOR
from ..endpoints.batches.bodies import bodies, illegal_ids
from . import validate
from .profiles import EVERYTHING, Wanted


def validate_batch(value: Any, protocol: str, wanted: Wanted = EVERYTHING) -> list[Finding] | None:
    """What is wrong with the bodies of a batch; None where it holds none."""
    found, count = list[Finding](), 0
    if VENDOR[protocol] == ANTHROPIC and wanted.has("illegal-custom-id"):
        found += [Finding("illegal-custom-id", path) for path in illegal_ids(value)]
    for kind, path in bodies(value):
        body, count = value, count + 1
        for step in path:
            body = body[step]
        found += [each._replace(place=(*path, *each.place)) for each in validate(body, protocol, kind, wanted)]
    return found if count else None
