"""Holds a document to its protocol's JSON Schema, and names the deepest place that is wrong, each fault once.

The schemas are full of unions. Which member was meant is told by the words that tell members apart (`type`, `role`,
`object`), so a fault is told of that member alone. Nothing that is said holds a captured value.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from .. import text
from ..schemas import is_const, listed, published, words_in

MARKS = ("type", "role", "object")
SHOWN = 8
Schema = dict[str, Any]


class Fault(NamedTuple):
    """What is wrong at a place: the keyword of the schema that is not met (`required`, `enum` for a word, `type`), and
    a sentence."""

    path: tuple[str | int, ...]
    keyword: str
    said: str


@cache
def shape_of(protocol: str) -> "Shape":
    """The schemas of a protocol, read once."""
    return Shape(published(protocol))


class Shape:
    """The schemas of one protocol by kind: `request`, `response`, `stream` (one event), `error`."""

    def __init__(self, whole: Schema) -> None:
        self.kinds: dict[str, Schema] = whole["kinds"]
        self.definitions: dict[str, Schema] = whole["$defs"]
        self.unions: dict[int, list[Schema]] = {}
        keywords = {
            "$ref": lambda validator, name, value, _: validator.descend(value, self.resolved({"$ref": name})),
            "anyOf": self._union,
            "oneOf": self._union,
            "type": self._scalar,
            "enum": self._scalar,
            "const": self._scalar,
            "required": _required,
        }
        self.validator: Any = extend(Draft202012Validator, keywords)  # type: ignore[no-untyped-call]

    def faults(self, kind: str, value: Any) -> list[Fault]:
        """Everything that is wrong with a document of that kind."""
        return [
            Fault(tuple(error.path), str(error.validator), error.message)
            for error in self.validator(self.kinds[kind]).iter_errors(value)
        ]

    def resolved(self, schema: Schema) -> Schema:
        """The schema behind references."""
        while "$ref" in schema:
            schema = self.definitions[schema["$ref"].rsplit("/", 1)[-1]]
        return schema

    def members(self, schema: Schema) -> list[Schema]:
        """The members of a union, or the schema itself; kept, for a stream asks for the same ones at every event."""
        if id(schema) not in self.unions:
            self.unions[id(schema)] = self.opened([schema])
        return self.unions[id(schema)]

    def opened(self, schemas: Iterable[Schema]) -> list[Schema]:
        """The schemas behind references and unions, also unions in unions."""
        found, todo = list[Schema](), deque(schemas)
        while todo:
            schema = self.resolved(todo.popleft())
            inner = schema.get("anyOf") or schema.get("oneOf")
            if inner:
                todo.extendleft(reversed(inner))
            else:
                found.append(schema)
        return found

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word that the schemas have for a value. They are no captured text."""
        return words_in(self.kinds, self.definitions)

    # Keywords

    def _scalar(self, _: Any, keyword: Any, value: Any, schema: Schema) -> Iterator[ValidationError]:
        """`type`, `enum` and `const` together, told once."""
        if not (keyword is schema.get("type") and _has_words(schema)) and not _fits(schema, value):
            yield self._unmet([schema], value)

    def _union(self, validator: Any, _: Any, value: Any, schema: Schema) -> Iterator[ValidationError]:
        members = self.members(schema)
        of_type = [each for each in members if _has_type(each, value)]
        if not of_type:
            yield self._unmet(members, value)
        elif isinstance(value, (dict, list)):
            yield from self._meant(validator, of_type, value)
        elif not any(_fits(each, value) for each in of_type):
            yield self._unmet(members, value)

    def _meant(self, validator: Any, members: list[Schema], value: Any) -> list[ValidationError]:
        """The faults of the member that was meant: its marks fit, and of several it has the fewest faults."""
        for mark in MARKS if isinstance(value, dict) else ():
            naming = [each for each in members if mark in each.get("properties", ())]
            if mark in value:
                fitting = [each for each in naming if self._takes(each["properties"][mark], value[mark])]
            else:
                fitting = [each for each in members if mark not in each.get("required", ())]
            fitting += [each for each in members if "properties" not in each and each not in fitting]
            if not fitting and naming:
                words = [each["properties"][mark] for each in naming]
                return [self._unmet(words, value[mark], mark) if mark in value else self._missing(words, mark)]
            if mark in value or mark == MARKS[0]:
                members = fitting or members
        best: tuple[tuple[int, ...], list[ValidationError]] = ((), [])
        named = isinstance(value, dict) and MARKS[0] in value
        for each in members:
            faults = list(validator.descend(value, each))
            if not faults:
                return self._beside(validator, each, members, value) if named else []
            rank = _rank(each, value, faults)
            best = best if best[1] and best[0] <= rank else (rank, faults)
        return best[1]

    def _beside(
        self, validator: Any, taken: Schema, members: list[Schema], value: dict[str, Any]
    ) -> list[ValidationError]:
        """The faults of keys that the member without a fault does not know, and no member which knows them takes."""
        known, found = taken.get("properties", {}), list[ValidationError]()
        for key in value if known and len(members) > 1 else ():
            takers = [each["properties"][key] for each in members if key in each.get("properties", ())]
            if takers and key not in known:
                told: list[list[ValidationError]] = [
                    list(validator.descend(value[key], schema, path=key)) for schema in takers
                ]
                found += sorted(told, key=len)[0]
        return found

    def _takes(self, schema: Schema, value: Any) -> bool:
        return any(_fits(each, value) for each in self.members(schema))

    # Sentences

    def _unmet(self, schemas: list[Schema], value: Any, *path: str) -> ValidationError:
        words = [word for each in self.opened(schemas) for word in listed(each)]
        is_word = isinstance(value, str) and any(isinstance(word, str) for word in words)
        found = "another string" if is_word and value and value not in self.words else self.told(value)
        said = f"expected {self.expected(schemas)}, found {found}"
        return ValidationError(said, "enum" if is_word else "type", path)

    def _missing(self, schemas: list[Schema], key: str) -> ValidationError:
        return ValidationError(f"required, but missing; expected {self.expected(schemas)}", "required", [key])

    def told(self, value: Any) -> str:
        """What a value is, in words of ours; itself only where the schemas know it."""
        if isinstance(value, str):
            return f"`{value}`" if value in self.words else "a string" if value else "an empty string"
        return next(told for said, (told, is_it) in TYPES.items() if is_it(value))

    def expected(self, schemas: Iterable[Schema]) -> str:
        """What any of these takes, in words."""
        words, types = dict[str, None](), dict[str, None]()
        for each in self.opened(schemas):
            words |= dict.fromkeys(f"`{word}`" if isinstance(word, str) else TRUTH[word] for word in listed(each))
            if not _has_words(each):
                types[TYPES[each["type"]][0] if "type" in each else "anything"] = None
        told = [*list(words)[:SHOWN], *(["…"] if len(words) > SHOWN else []), *types]
        return " or ".join(filter(None, [", ".join(told[:-1]), told[-1]]))


def _required(_: Any, keys: list[str], value: Any, schema: Schema) -> Iterator[ValidationError]:
    for key in keys if isinstance(value, dict) else ():
        if key not in value:
            yield ValidationError("required, but missing", "required", [key])


def _is_whole(value: Any) -> bool:
    """Is it an integer, also one that is too long for the interpreter?"""
    if isinstance(value, text.Number):
        return value.text.lstrip("-").isdigit()
    return isinstance(value, int) and not isinstance(value, bool)


TYPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "null": ("null", lambda value: value is None),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "integer": ("a whole number", _is_whole),
    "number": ("a number", lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)),
    "string": ("a string", lambda value: isinstance(value, str)),
    "array": ("a list", lambda value: isinstance(value, list)),
    "object": ("an object", lambda value: isinstance(value, dict)),
}


TRUTH = {True: "true", False: "false"}


def _has_words(schema: Schema) -> bool:
    return isinstance(schema.get("enum"), list) or is_const(schema)


def _has_type(schema: Schema, value: Any) -> bool:
    if "type" in schema:
        return TYPES[schema["type"]][1](value)
    return not _has_words(schema) or any(type(word) is type(value) for word in listed(schema))


def _fits(schema: Schema, value: Any) -> bool:
    """Has it the type, and is it one of the words, if there are any?"""
    words = listed(schema)
    return _has_type(schema, value) and (
        not _has_words(schema) or any(type(word) is type(value) and word == value for word in words)
    )


def _rank(member: Schema, value: Any, faults: list[ValidationError]) -> tuple[int, ...]:
    """How little a member seems to be meant: by words that it does not know, keys that it does not know, faults, and
    how high up they are."""
    strange = sum(bool(fault.path) and fault.path[-1] in MARKS and fault.validator == "enum" for fault in faults)
    known = sum(key in member.get("properties", ()) for key in value) if isinstance(value, dict) else 0
    return strange, -known, len(faults), -max(len(fault.path) for fault in faults)
