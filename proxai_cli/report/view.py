"""Documents whole, as a report may show them: what it may not tell stands by its type and length."""

from typing import Any, NamedTuple

from ..ledger import Path, rebuilt
from .account import described

# How the mark that ends a stream, and an event that could not be read, stand in the list of a stream's events.
END, UNREADABLE = "[DONE]", None


class Hidden(NamedTuple):
    """A value that is not told: its type and, of a text, how many characters it has."""

    type: str
    size: int | None = None


def hidden(value: Any, how: str, known: frozenset[str]) -> Any:
    """A copy of a document in which each value that may not be told (`--values`) is `Hidden`; all keys stay."""
    return rebuilt(value, lambda path, node: _told(path, node, how, known))


def _told(path: Path, node: Any, how: str, known: frozenset[str]) -> Any:
    if isinstance(node, (dict, list)):
        return node
    said = described(node, how, known)
    if how != "none" and (node is None or "value" in said):
        return node
    return Hidden(said["type"], said.get("size"))
