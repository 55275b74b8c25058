"""Values in forms that more than one protocol needs: arguments, data URLs, names and ids within a target's limits."""

import re
from typing import Any, NamedTuple

from .. import text
from ..errors import NotReadable

RAW = "_raw"


def as_object(leaf: Any) -> Any:
    """Arguments as an object (`spec/requests.md` §7.3): text is parsed, no text is `{}`, anything else is wrapped."""
    if isinstance(leaf.value, dict):
        return leaf
    if not leaf.value:
        return leaf.to({}, "empty-arguments")
    try:
        value = text.loads(leaf.value) if isinstance(leaf.value, str) else None
    except NotReadable:
        value = None
    if isinstance(value, dict):
        return leaf.to(value, "json-parse")
    return leaf.to({RAW: leaf.value}, "raw-arguments")


def as_text(leaf: Any) -> Any:
    """Arguments as JSON text: compact, keys in the source's order; what `as_object` wrapped is unwrapped."""
    value = leaf.value
    if isinstance(value, str):
        return leaf
    if isinstance(value, dict) and list(value) == [RAW] and isinstance(value[RAW], str):
        return leaf.to(value[RAW], "raw-arguments")
    return leaf.to(text.dumps(value).decode(), "json-dump")


def whole_schema(schema: Any, context: Any) -> Any:
    """A schema without a reference at its root, which no API takes; it stays as it is unless expanding is chosen.

    Source: `spec/requests.md` §7.1.
    """
    root = schema.value.get("$ref") if isinstance(schema.value, dict) else None
    if root is None:
        return schema
    there: Any = schema.value
    for step in root[2:].split("/") if isinstance(root, str) and root.startswith("#/") else [None]:
        there = there.get(step) if isinstance(there, dict) else None
    if not context.chosen("inline-refs") or not isinstance(there, dict) or "$ref" in there:
        context.find("root-ref")
        return schema
    return schema.to({**there, **{key: said for key, said in schema.value.items() if key != "$ref"}}, "respelled")


class DataUrl(NamedTuple):
    """A data URL in its pieces; `data` is base64, or plain text where the URL says no base64."""

    media_type: str
    data: str
    base64: bool


_DATA_URL = re.compile(r"data:([^;,]*)((?:;[^;,]*)*),", re.IGNORECASE)


def data_url(url: str) -> DataUrl | None:
    """The pieces of a data URL, or None where it is another URL."""
    head = _DATA_URL.match(url)
    if not head:
        return None
    flags = [flag.strip().lower() for flag in head[2].split(";")]
    return DataUrl(head[1].lower() or "text/plain", url[head.end() :], "base64" in flags)


def legal(value: str, limit: int, allowed: str = r"[A-Za-z0-9_-]") -> str:
    """A name or id that a target takes (`spec/requests.md` §7.1); the value itself where it is legal already.

    The new one depends on the old one alone, so two stay two and other captures of the same traffic agree.
    """
    if len(value) <= limit and re.fullmatch(f"(?:{allowed})+", value):
        return value
    from hashlib import sha256

    mark = "_" + sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    clean = "".join(char if re.fullmatch(allowed, char) else "_" for char in value)
    return clean[-(limit - len(mark)) :] + mark


class Brackets:
    """Is JSON text that arrives in pieces a whole object? Counts brackets; knows strings and escapes."""

    def __init__(self) -> None:
        self.depth, self.inside, self.escaped, self.whole = 0, False, False, False

    def feed(self, piece: str) -> None:
        for mark in re.findall(r'["\\{}\[\]]|[^"\\{}\[\]]+', piece):
            if self.escaped:
                self.escaped = False  # of a longer mark only the first character was escaped; it opens nothing
            elif mark == "\\":
                self.escaped = self.inside
            elif mark == '"':
                self.inside = not self.inside
            elif not self.inside and mark in ("{", "["):
                self.depth += 1
            elif not self.inside and mark in ("}", "]"):
                self.depth -= 1
                self.whole = self.whole or (self.depth == 0 and mark == "}")


class Spelling(NamedTuple):
    """Words of a protocol and the canonical ones, both ways; where several words mean one, the first is written."""

    to_canonical: dict[str, str]
    from_canonical: dict[str, str]


def spelling(*pairs: tuple[str, str]) -> Spelling:
    """`spelling((theirs, canonical), …)`; a word that comes more than once means what it stands first with."""
    forth: dict[str, str] = {}
    back: dict[str, str] = {}
    for theirs, canonical in pairs:
        forth.setdefault(theirs, canonical)
        back.setdefault(canonical, theirs)
    return Spelling(forth, back)


WRAPPINGS = ("resp_", "chatcmpl_", "msg_")


def wrapped_id(leaf: Any, prefix: str, own: str) -> Any:
    """A reply's id with the target's prefix (`spec/responses.md` §1.1); `own` is how the target's ids begin.

    A prefix that this rule itself put before an id of the target comes off again, so ids survive A→B→A.
    """
    value = leaf.value
    if not isinstance(value, str) or value.startswith(own):
        return leaf
    for wrapping in WRAPPINGS:
        if value.startswith(wrapping + own):
            return leaf.to(value[len(wrapping) :], "wrap-id")
    return leaf.to(prefix + value, "wrap-id")
