"""JSON Schemas that the package holds: those of what we write, the published ones, and whether a value fits one."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from . import text

# Where those of what we write and read stand.
OURS = {
    "report": "report/report.schema.json",
    "baseline": "baseline.schema.json",
    "side": "side.schema.json",
}


def written(name: str) -> bytes:
    """The text of one of OURS."""
    return _file(OURS[name])


@cache
def ours(name: str) -> dict[str, Any]:
    """One of OURS. It is kept, so nobody may change it."""
    said: dict[str, Any] = text.loads(written(name))
    return said


@cache
def published(protocol: str) -> dict[str, Any]:
    """The schema of a protocol: `kinds` holds that of each kind of document. It is kept, so nobody may change it."""
    said: dict[str, Any] = text.loads(_file(f"protocols/{protocol}/schema.json"))
    return said


@cache
def words(protocol: str) -> frozenset[str]:
    """Every word that the schemas of a protocol have for a value. They are no captured text."""
    return words_in(published(protocol))


def words_in(*schemas: Any) -> frozenset[str]:
    """Every word that these have for a value."""
    return frozenset(word for each in _objects(*schemas) for word in listed(each) if isinstance(word, str))


@cache
def names(protocol: str) -> frozenset[str]:
    """The names of all properties in the schemas of a protocol."""
    found = (each.get("properties") for each in _objects(published(protocol)))
    return frozenset(name for properties in found if isinstance(properties, dict) for name in properties)


def _objects(*values: Any) -> Iterator[dict[str, Any]]:
    """Every object in these, however deep."""
    todo = list(values)
    while todo:
        said = todo.pop()
        if isinstance(said, dict):
            yield said
            todo += said.values()
        elif isinstance(said, list):
            todo += said


def listed(schema: dict[str, Any]) -> list[Any]:
    """The values of an enumeration. (A property may be called `enum`, too.)"""
    said = schema.get("enum", [])
    return [*(said if isinstance(said, list) else ()), *([schema["const"]] if is_const(schema) else ())]


def is_const(schema: dict[str, Any]) -> bool:
    """Does it take one value only? (A property may be called `const`, too.)"""
    return "const" in schema and not isinstance(schema["const"], dict)


def _file(place: str) -> bytes:
    from importlib.resources import files

    return files(__package__).joinpath(place).read_bytes()


def misfit(value: Any, schema: dict[str, Any]) -> str | None:
    """The place (a pointer) at which a value does not fit a schema, None where it fits."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    found = best_match(Draft202012Validator(schema).iter_errors(value))
    return None if found is None else text.pointer(list(found.absolute_path))
