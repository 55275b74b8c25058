"""Documents made from a protocol's schema: one for each property that any of its types names."""

from collections import deque
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from proxai_cli import text
from tests.captures import FIXTURES

PROTOCOLS = FIXTURES.parent / "proxai_cli" / "protocols"
SCALARS: dict[str, Any] = {"string": "text", "integer": 1, "number": 0.5, "boolean": True, "null": None, "object": {}}


class Example(NamedTuple):
    """A document with one property in it that matters: its owner's name, its own, the path to it, and the document."""

    owner: str
    name: str
    path: tuple[Any, ...]
    document: Any


@cache
def schema(protocol: str) -> dict[str, Any]:
    said: dict[str, Any] = text.loads(Path(PROTOCOLS / protocol / "schema.json").read_bytes())
    return said


class Examples:
    """Walks the schemas of one protocol and kind, breadth first, so that each property is met at its shortest path."""

    def __init__(self, protocol: str, kind: str) -> None:
        whole = schema(protocol)
        self.definitions, self.root = whole["$defs"], whole["kinds"][kind]

    def all(self) -> Iterator[Example]:
        seen: set[str] = set()
        todo: deque[tuple[Any, tuple[Any, ...], list[tuple[Any, Any]]]] = deque([(self.root, (), [])])
        while todo:
            place, path, route = todo.popleft()
            for owner, found in self.variants(place):
                name = f"{owner}"
                if found.get("type") == "array" and "items" in found:
                    todo.append((found["items"], (*path, 0), [*route, (None, None)]))
                elif "properties" in found:
                    if name in seen:
                        continue
                    seen.add(name)
                    for key, inner in found["properties"].items():
                        here = [*route, (found, key)]
                        for value in self.values(inner):
                            yield Example(name, key, (*path, key), self.document(here, value))
                        todo.append((inner, (*path, key), here))
                elif isinstance(found.get("additionalProperties"), dict):
                    todo.append((found["additionalProperties"], (*path, "key"), [*route, ({"properties": {}}, "key")]))

    def variants(self, place: Any, owner: str = "") -> Iterator[tuple[str, Any]]:
        """The schemas behind references and unions, each with its name."""
        if "$ref" in place:
            name = place["$ref"].rsplit("/", 1)[-1]
            yield from self.variants(self.definitions[name], name)
        elif "anyOf" in place or "oneOf" in place:
            for each in place.get("anyOf") or place["oneOf"]:
                yield from self.variants(each, owner)
        else:
            yield owner or text.dumps(sorted(place.get("properties", {}))).decode(), place

    def values(self, place: Any) -> Iterator[Any]:
        """One value for each scalar variant, or one small value where the variants are objects."""
        said = [found for _, found in self.variants(place) if found.get("type") != "null"]
        words = [word for found in said for word in found.get("enum", [])]
        yield from words or [self.small(place)]

    def small(self, place: Any) -> Any:
        """The smallest value that the schema takes; of several variants the first that is not null."""
        found = next((each for _, each in self.variants(place) if each.get("type") != "null"), {"type": "null"})
        if "const" in found:
            return found["const"]
        if "enum" in found:
            return found["enum"][0]
        if "properties" in found:
            known = found["properties"]
            return {key: self.small(known[key]) for key in found.get("required", []) if key in known}
        if found.get("type") == "object":
            return {"key": "text"}
        if found.get("type") == "array":
            return [self.small(found["items"])] if found.get("items") else ["text"]
        return SCALARS.get(found["type"], "text") if "type" in found else {"key": "text"}  # no type takes anything

    def document(self, route: list[tuple[Any, Any]], value: Any) -> Any:
        for found, key in reversed(route):
            value = [value] if found is None else {**self.small(found), key: value}
        return value
