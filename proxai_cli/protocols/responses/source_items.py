"""How far the items of a stream have come: their parts, and whether a text is the sum of its pieces."""

from collections.abc import Iterable
from typing import Any

# What a message holds: the kind of part, and the key of its text.
MESSAGE_PARTS = {"output_text": ("text", "text"), "refusal": ("refusal", "refusal")}


def _sha256(data: bytes = b"") -> Any:
    # Loading it takes a tenth of the time in which the program starts, and only streams of this protocol need it.
    from hashlib import sha256

    return sha256(data)


class Sum:
    """Does a text equal the pieces that came before? Keeps their digest and length, not the pieces.

    Counts in the units of UTF-16, in which a character that was cut into two surrogates is the same as the whole one.
    """

    def __init__(self) -> None:
        self.digest, self.length = _sha256(), 0

    def feed(self, piece: str) -> None:
        units = piece.encode("utf-16-le", "surrogatepass")
        self.digest.update(units)
        self.length += len(units)

    def rest(self, whole: str) -> str | None:
        """What a text says beyond the pieces; None where it begins in another way."""
        units = whole.encode("utf-16-le", "surrogatepass")
        if _sha256(units[: self.length]).digest() != self.digest.digest():
            return None
        return units[self.length :].decode("utf-16-le", "surrogatepass")


class Part:
    """A part of an item under way: its number in the IR, how many pieces and how many entries of other terms it had."""

    def __init__(self, number: int, kind: str) -> None:
        self.number, self.kind, self.done = number, kind, False
        self.pieces = 0
        self.told: dict[str, int] = {}


class Item:
    """An output item: its type, its parts and the sums of its texts by place, and whether it is done, and closed.

    `number` is kept for its first part: parts stand in the order of their items, however late one says anything.
    """

    def __init__(self, id: Any, kind: str, number: int) -> None:
        self.id, self.kind = id, kind
        self.number: int | None = number
        self.parts: dict[Any, Part] = {}
        self.sums: dict[tuple[str, Any], Sum] = {}
        self.said: set[str] = set()
        self.done = self.closed = False

    def ready(self) -> bool:
        """Are all parts of a message done, so that it may close although nobody said that it is?"""
        return bool(self.parts) and all(part.done for part in self.parts.values())


def index_of(event: dict[str, Any], key: str) -> int | None:
    """A position that an event names, if it names one."""
    index = event.get(key)
    return index if isinstance(index, int) and not isinstance(index, bool) else None


def texts_of(home: dict[str, Any]) -> Iterable[tuple[Any, str]]:
    """The texts of an item by the places that their pieces had."""
    for key in ("arguments", "input"):
        if isinstance(home.get(key), str):
            yield "", home[key]
    for listed in ("content", "summary"):
        entries = home.get(listed)
        for at, entry in enumerate(entries if isinstance(entries, list) else []):
            kind = entry.get("type") if isinstance(entry, dict) else None
            name, key = MESSAGE_PARTS.get(str(kind), (listed, "text"))
            if isinstance(entry, dict) and isinstance(entry.get(key), str):
                yield (name, at), entry[key]
