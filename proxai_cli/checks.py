"""What the checks of the protocols have in common: looking into documents that may have any shape."""

from collections.abc import Iterable, Iterator
from typing import Any

from . import text
from .context import Finding
from .errors import NotReadable

Path = tuple[str | int, ...]


def objects(value: Any) -> list[tuple[int, dict[str, Any]]]:
    """The objects in a list, each with its position; none where there is no list."""
    return [(at, each) for at, each in enumerate(value) if isinstance(each, dict)] if isinstance(value, list) else []


def inside(value: Any, *keys: str) -> Any:
    """What stands below these keys, None where one of them is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def none_left(body: dict[str, Any], key: str) -> Iterator[Finding]:
    """The finding about a list that must hold something."""
    if body.get(key) == []:
        yield Finding("invalid-shape", (key,), "expected at least one, found an empty list")


def root_ref(schema: Any, *path: str | int) -> Iterator[Finding]:
    """The finding about a schema that is a reference at its root."""
    if isinstance(schema, dict) and "$ref" in schema:
        yield Finding("root-ref", path)


def arguments(said: Any, *path: str | int) -> Iterator[Finding]:
    """The finding about the text of a call's arguments that is no JSON; no arguments at all are none."""
    if isinstance(said, str) and said.strip():
        try:
            text.loads(said)
        except NotReadable:
            yield Finding("bad-arguments", path)


class Pairs:
    """Tool calls and their results. Every call must have its result before anything else is said, and the reverse.

    Ids that are no strings belong to the schema; nothing is said of them here.
    """

    def __init__(self) -> None:
        self.open: dict[str, Path] = {}

    def call(self, id: Any, *path: str | int) -> None:
        if isinstance(id, str):
            self.open[id] = path

    def result(self, id: Any, *path: str | int) -> Iterator[Finding]:
        if isinstance(id, str) and self.open.pop(id, None) is None:
            yield Finding("unpaired-tool", path, "this result has no call before it; the API refuses that")

    def end(self) -> Iterator[Finding]:
        """Nothing more can answer what is open."""
        for path in self.open.values():
            yield Finding("unpaired-tool", path, "this call has no result; the API refuses that")
        self.open = {}


def sum_of(usage: Any, total: str, parts: Iterable[str], *path: str | int) -> Iterator[Finding]:
    """The finding about a total that is another number than the sum of its parts."""
    said = [inside(usage, key) for key in (total, *parts)]
    if all(isinstance(count, int) for count in said) and said[0] != sum(said[1:]):
        yield Finding("usage-mismatch", (*path, total), f"{said[0]} in all, but the parts are {sum(said[1:])}")
