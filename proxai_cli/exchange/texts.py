"""Bodies and heads that stand in a capture as text: read into values, and written again in the form they came in.

The account of an exchange speaks of the values: the events of a stream, the keys of a JSON text, the lines of a list.
"""

import re
from typing import Any, NamedTuple

from .. import text
from ..errors import NotReadable
from ..ir.events import DONE
from ..pipe import events
from ..protocols import PROTOCOLS
from ..wire import sse

HALVES = ("request", "response")
# The last line of a chat stream, in a list of events.
END = "[DONE]"

JSON, LINES, STREAM = "json", "lines", "stream"


class Spelled(NamedTuple):
    """A body that was given as text: its form, the text, and the value that was read from it."""

    form: str
    text: str
    value: Any


def opened(value: Any, protocol: str) -> tuple[Any, dict[str, Spelled]]:
    """An exchange whose bodies are values and whose raw heads are pairs, and what was text, by half (`""` if alone).

    A text that is neither JSON nor a stream stays as it is. Raises `NotReadable` for a stream that cannot be read.
    """
    spelled: dict[str, Spelled] = {}
    if not isinstance(value, dict):
        return value, spelled
    if not any(isinstance(value.get(half), dict) for half in HALVES):
        return _opened(value, "", protocol, spelled), spelled
    read = {
        key: _opened(half, key, protocol, spelled) if key in HALVES and isinstance(half, dict) else half
        for key, half in value.items()
    }
    return read, spelled


def closed(value: Any, spelled: dict[str, Spelled], protocol: str) -> Any:
    """An exchange with its bodies as text again, where they were given so, and are still there."""
    for name, given in spelled.items():
        half = value.get(name) if name else value
        if not isinstance(half, dict) or "body" not in half:
            continue
        body = half["body"]
        half["body"] = given.text if text.same(body, given.value) else _written(body, given.form, protocol)
    return value


def _opened(half: dict[str, Any], name: str, protocol: str, spelled: dict[str, Spelled]) -> dict[str, Any]:
    read = dict(half)
    head = half.get("headers")
    if isinstance(head, list) and head and all(isinstance(line, str) for line in head):
        head = "\n".join(head)
    if isinstance(head, str):
        read["headers"] = parsed_head(head)
    body = half.get("body")
    found = _read(body, protocol) if isinstance(body, str) and body.strip() else None
    if found is not None:
        read["body"], spelled[name] = found.value, found
    return read


def _read(body: str, protocol: str) -> Spelled | None:
    data = body.encode("utf-8", "surrogatepass")
    if sse.looks_like_a_stream(data):
        found = events(data, protocol)
        if found.errors and found.errors[0].code != "truncated":  # that it lacks its end shows when it is translated
            raise found.errors[0]
        return Spelled(STREAM, body, [END if event is DONE else event for event in found.values])
    try:
        return Spelled(JSON, body, text.loads(data))
    except NotReadable:
        pass
    try:
        return Spelled(LINES, body, [text.loads(line) for line in body.split("\n") if line.strip()])
    except NotReadable:
        return None


def _written(body: Any, form: str, protocol: str) -> str:
    if form == STREAM and isinstance(body, list):
        named = PROTOCOLS[protocol].named
        return b"".join(sse.write(DONE if event == END else event, named) for event in body).decode("utf-8", "replace")
    if form == LINES and isinstance(body, list):
        return "".join(text.dumps(line).decode() + "\n" for line in body)
    return text.dumps(body).decode()


def parsed_head(raw: str) -> list[list[str]]:
    """A raw head as pairs; lines that are no header (the first one, mostly) are left out."""
    pairs = []
    for line in re.split(r"\r\n|\n|\r", raw):
        name, colon, value = line.partition(":")
        if colon and name and not re.search(r"[ \t/]", name):
            pairs.append([name, value.strip(" \t")])
    return pairs
