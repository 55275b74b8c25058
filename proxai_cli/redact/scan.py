"""The last look at what was written: is a secret in it after all? Knows nothing of how it was made.

Looked for are the secrets that were replaced (as they are, and as JSON, URLs and base64 spell them) and whatever looks
like one; in the text as it stands, in every value, in what values hold, and in the pieces of a text put together.
"""

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus, unquote

from .. import text as json
from ..errors import NotReadable
from ..ir.events import joined
from ..wire import sse
from ..wire.http import Unwrapper
from ..wire.packing import undone
from . import secrets

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_DEEPEST = 8
# What a text that arrives in pieces stands below.
_IN_PIECES = {"delta", "content_block", "choices", "token", "tokens"}
_TOKEN = ("rank", None)


# Kinds that are known by what stands before them. In JSON that is a key, of which more is known than its last word.
_BY_NEIGHBOURS = {kind.name for kind in secrets.KINDS if not kind.own}


class View(NamedTuple):
    """A text to look at; is it a value by itself, or the spelling of several?"""

    text: str
    is_value: bool


def leaks(data: bytes, hidden: Iterable[str], kept: Iterable[str] = (), words: Iterable[str] = ()) -> bool:
    """Is any of these values in the file, or anything that looks like a secret and was not kept on demand?

    Words are values that count only where they stand whole in a text."""
    plain = undone(data)
    unwrapper = Unwrapper()
    body = b"".join(piece.data for piece in unwrapper.feed(plain) + unwrapper.close())
    looked = re.compile("|".join(re.escape(form) for value in hidden for form in _forms(value)) or r"(?!)")
    whole = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words)) or '(?!)'})(?!\w)")
    allowed = "\n".join(kept)
    seen: set[str] = set()
    raw = View(plain.decode("utf-8", "replace"), False)
    for view in (raw, *_views(body.decode("utf-8", "surrogateescape"), 0, seen)):
        said = view.text
        if looked.search(said):
            return True
        if view.is_value and any(found[0] not in allowed for found in whole.finditer(said)):
            return True
        for hit in secrets.found(said):
            counts = view.is_value or hit.kind not in _BY_NEIGHBOURS
            if counts and secrets.is_live(said, hit) and said[hit.body : hit.end] not in allowed:
                return True
    return False


def _forms(value: str) -> set[str]:
    """How a value may be spelled."""
    data = value.encode("utf-8", "surrogatepass")
    escapes = "".join(char if char.isascii() else f"\\u{ord(char):04x}" for char in value)
    forms = {value, json.dumps(value).decode()[1:-1], escapes}
    if value.isprintable():
        forms |= {quote(value, safe=""), quote(value), quote_plus(value)}
    for before in range(3):
        # What does not depend on the bytes around it.
        coded = b64encode(b"\0" * before + data).decode().rstrip("=")
        whole = coded[(0, 2, 3)[before] : len(coded) - (1 if (before + len(data)) % 3 else 0)]
        if len(whole) >= 10:
            forms |= {whole, whole.replace("+", "-").replace("/", "_")}
    return {form for form in forms if form}


def _views(text: str, depth: int, seen: set[str]) -> Iterator[View]:
    """All that a text says, at every depth; each is looked at once."""
    if text in seen:
        return
    seen.add(text)
    values = _values(text) if depth < _DEEPEST else []
    yield View(text, not values and text.lstrip()[:1] not in ("{", "["))
    pieces: dict[Any, list[str]] = {}
    for number, value in enumerate(values):
        for path, said in _strings(value, (number,)):
            if not _IN_PIECES.isdisjoint(path):
                pieces.setdefault(tuple(step for step in path if isinstance(step, (str, tuple))), []).append(said)
            yield from _views(said, depth + 1, seen)
            if "%" in said:
                yield View(unquote(said), True)
    yield from (View(joined(said), True) for said in pieces.values() if len(said) > 1)
    if not values and _BASE64.fullmatch(text):
        try:
            plain = b64decode(
                text + "=" * (-len(text) % 4), altchars=b"-_" if re.search("[-_]", text) else None
            ).decode()
        except (binascii.Error, ValueError):
            return
        yield from _views(plain, depth + 1, seen)


def _values(text: str) -> list[Any]:
    """The JSON values in a text: one, many in lines, or those of a stream."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            return [json.loads(text)]
        except NotReadable:
            lines = [line for line in text.split("\n") if line.strip()]
    else:
        data = text.encode("utf-8", "replace")
        if b":" not in data or not sse.looks_like_a_stream(data):
            return []
        reader = sse.Reader()
        return [event.value for event in reader.feed(data) + reader.close() if not event.fault]
    values = []
    for line in lines:
        try:
            values.append(json.loads(line))
        except NotReadable:
            continue
    return values


def _strings(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Every text of a value, keys too, each with its path, on which the numbers stand that tell things apart."""
    todo = [(value, path)]
    while todo:
        node, here = todo.pop()
        if isinstance(node, str):
            yield here, node
        elif isinstance(node, dict):
            own = tuple((key, said) for key, said in node.items() if key.endswith("index") and isinstance(said, int))
            if "logprob" in node:  # a token, or an alternative to one, which its rank tells
                here = (*here, ("rank", here[-1]) if _TOKEN in here else _TOKEN)
            here = (*here, own) if own else here
            for key, inner in reversed(node.items()):
                yield (*here, key, "?"), key
                todo.append((inner, (*here, key)))
        elif isinstance(node, list):
            todo += [(inner, (*here, at)) for at, inner in reversed(list(enumerate(node)))]
