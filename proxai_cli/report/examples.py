"""The smallest documents that hold one property each, for every property that a protocol's published schema names.

What becomes of a field is not declared anywhere; it shows when such a document is translated.
"""

import copy
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from .. import text
from ..ledger import Path
from ..schemas import published

# A text that means nothing.
SAMPLE = "x"
_SCALARS: dict[str, list[Any]] = {
    "string": [SAMPLE], "integer": [1, 2], "number": [0.5], "boolean": [True, False], "null": [None], "object": [{}],
}  # fmt: skip
# Values that are more than any text, by the name of the property.
_VALUES: dict[str, Any] = {
    "arguments": "{}",
    "data": "AAAA",
    "file_data": "data:application/pdf;base64,AAAA",
    "file_url": "https://example.com/a.pdf",
    "image_url": "https://example.com/a.png",
    "url": "https://example.com/a.png",
}
# Values at which the fate of a property may change, by type or name: beyond limits, empty, blank, of other forms.
_PROBES: dict[str, list[Any]] = {
    "string": ["", " ", "a b", "u@example.com", SAMPLE * 200], "integer": [0, 100_000], "number": [0, 2],
}  # fmt: skip
_PROBES_OF: dict[str, list[Any]] = {
    **{key: ["data:image/png;base64,AAAA", "data:image/bmp;base64,AAAA", ""] for key in ("url", "image_url")},
    "file_data": ["data:text/plain,a", "data:audio/wav;base64,AAAA"],
    "media_type": ["image/jpg", "image/bmp"],
    "arguments": ["", "no JSON"],
    "ttl": ["1h", "12h"],
}
_LONG = 20  # entries of a list
_ASKED = {"role": "user", "content": "hi"}
_FUNCTION = {"name": "f", "arguments": "{}"}
_SCHEMA = {"type": "object"}

# What a document needs, besides its own property, to be one that an API would take.
_WHOLE: dict[tuple[str, str], dict[str, Any]] = {
    ("chat", "request"): {"model": "m", "messages": [_ASKED]},
    ("responses", "request"): {"model": "m", "input": [_ASKED]},
    ("messages", "request"): {"model": "m", "max_tokens": 1, "messages": [_ASKED]},
    ("responses", "response"): {"status": "completed"},
    ("messages", "response"): {"stop_reason": "end_turn"},
}
# What is said about tools is said of some tool.
_ABOUT_TOOLS = ("tool_choice", "parallel_tool_calls", "function_call")
_TOOLS: dict[str, dict[str, Any]] = {
    "chat": {"type": "function", "function": {"name": SAMPLE, "parameters": _SCHEMA}},
    "responses": {"type": "function", "name": SAMPLE, "parameters": _SCHEMA},
    "messages": {"name": SAMPLE, "input_schema": _SCHEMA},
}
# The list of a conversation, and the call that a result in it answers.
_TURNS = {
    "chat": (
        "messages",
        {"role": "assistant", "tool_calls": [{"id": SAMPLE, "type": "function", "function": _FUNCTION}]},
    ),
    "responses": ("input", {"type": "function_call", "call_id": SAMPLE, **_FUNCTION}),
    "messages": (
        "messages",
        {"role": "assistant", "content": [{"type": "tool_use", "id": SAMPLE, "name": "f", "input": {}}]},
    ),
}  # fmt: skip


# The way to a place in a document: each object's schema with the key that is entered, None for a list.
Route = list[tuple[Any, Any]]


class Example(NamedTuple):
    """The path of a property, and a document in which it stands."""

    path: Path
    document: Any


def examples(protocol: str, kind: str, probing: bool = False) -> Iterator[Example]:
    """Documents of a kind: one for each property, and of a property with words of its own one for each word.

    `probing` adds documents with values at which the fate of a property may change. Types are walked breadth first;
    each stands once in each type that holds it, at its shortest path.
    """
    walk = _Walk(published(protocol)["$defs"])
    seen: set[tuple[str, str]] = set()
    todo: deque[tuple[str, Any, Path, Route]] = deque([("", published(protocol)["kinds"][kind], (), [])])
    while todo:
        holder, place, path, route = todo.popleft()
        for owner, found in walk.variants(place):
            if found.get("type") == "array" and "items" in found:
                todo.append((holder, found["items"], (*path, 0), [*route, (None, None)]))
            elif "properties" in found and (holder, owner) not in seen:
                seen.add((holder, owner))
                properties: dict[str, Any] = found["properties"]
                for key, inner in properties.items():
                    here = [*route, (found, key)]
                    for value in [*walk.values(inner, key), *(walk.probes(inner, key) if probing else ())]:
                        yield _completed(Example((*path, key), walk.document(here, value)), protocol, kind)
                    todo.append((owner, inner, (*path, key), here))
            elif isinstance(found.get("additionalProperties"), dict):
                free: dict[str, Any] = {"properties": {}}
                todo.append((owner, found["additionalProperties"], (*path, "key"), [*route, (free, "key")]))


def _completed(example: Example, protocol: str, kind: str) -> Example:
    """An example with what a document of its kind needs besides, and a result with the call that it answers."""
    path: Path = example.path
    document = copy.deepcopy(example.document)
    for key, value in _WHOLE.get((protocol, kind), {}).items():
        if path[:1] != (key,):
            document[key] = value
        elif isinstance(document[key], list):
            document[key].append(_ASKED)
    if kind == "request" and path[0] in _ABOUT_TOOLS:
        document["tools"] = [_TOOLS[protocol]]
    turns, call = _TURNS[protocol]
    if kind == "request" and path[:2] == (turns, 0) and _answers(document[turns][0]):
        document[turns].insert(0, call)
        path = (turns, 1, *path[2:])
    return Example(path, document)


def _answers(turn: Any) -> bool:
    """Is it, or does it hold, the result of a call?"""
    blocks = turn.get("content") if isinstance(turn.get("content"), list) else []
    return turn.get("role") == "tool" or any(
        isinstance(each, dict) and each.get("type") in ("function_call_output", "tool_result")
        for each in [turn, *blocks]
    )


class _Walk:
    """A way through the definitions of one schema."""

    def __init__(self, definitions: dict[str, Any]) -> None:
        self.definitions = definitions

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

    def values(self, place: Any, name: str) -> list[Any]:
        """Each word that a property of this name takes, or some small values."""
        said = [found for _, found in self.variants(place) if found.get("type") != "null"]
        words = [word for found in said for word in found.get("enum", [])]
        if words or not said:
            return words or [None]
        first = said[0]
        if first.get("type") in ("array", "object") or "const" in first or "properties" in first:
            return [self.small(first)]
        return [_VALUES[name]] if name in _VALUES else _SCALARS[first.get("type", "string")]

    def probes(self, place: Any, name: str) -> Iterator[Any]:
        """Further values of a property of this name, if any text or number will do for it, or a list of these."""
        for _, found in self.variants(place):
            if "enum" in found or "const" in found:
                continue
            if found.get("type") in _PROBES:
                yield from _PROBES_OF.get(name, _PROBES[found["type"]])
            elif found.get("type") == "array" and self.small(found.get("items", {})) == SAMPLE:
                yield from ([SAMPLE], ["", " ", SAMPLE], [f"{SAMPLE}{at}" for at in range(_LONG)])

    def small(self, place: Any, name: str = "") -> Any:
        """The smallest value that the schema takes; of several variants the first that is not null."""
        found: Any = next((each for _, each in self.variants(place) if each.get("type") != "null"), {"type": "null"})
        if "const" in found:
            return found["const"]
        if "enum" in found:
            return found["enum"][0]
        if "properties" in found:
            known = found["properties"]
            return {key: self.small(known[key], key) for key in found.get("required", []) if key in known}
        if found.get("type") == "object":
            return {"key": SAMPLE}
        if found.get("type") == "array":
            return [self.small(found["items"])] if found.get("items") else [SAMPLE]
        return _VALUES[name] if name in _VALUES else _SCALARS[found.get("type", "string")][0]

    def document(self, route: Route, value: Any) -> Any:
        """The document in which a value stands at the end of a route."""
        for found, key in reversed(route):
            value = [value] if found is None else {**self.small(found), key: value}
        return value
