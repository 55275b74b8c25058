"""What every endpoint is given and gives: the way that a document goes, and how an endpoint describes itself."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ..context import Context
from ..errors import NotThatProtocol
from ..ledger import Leaf, Writer
from ..tables import Table
from .address import VENDOR


class Way(NamedTuple):
    """From which protocol to which, what kind of document (`request` or `response`), and what else is known."""

    source: str
    target: str
    kind: str
    context: Context

    @property
    def ours(self) -> str:
        return VENDOR[self.source]

    @property
    def theirs(self) -> str:
        return VENDOR[self.target]


# Writes, under the same key of the writer's object, what the value at that key of a source object becomes.
Carry = Callable[[Any, Any, Writer, Way], None]


class Endpoint(NamedTuple):
    """One call beside the creation of replies.

    `carry` translates a body in place. `knows` says by its own markers which kind a body is, or None where it is none
    of this endpoint's. `tables` are its rules by name.
    """

    name: str
    title: str
    carry: Carry
    knows: Callable[[Any], str | None]
    tables: dict[str, Table]


def unrecognised(what: str) -> NotThatProtocol:
    """The error for a body of another shape; `what` is a sentence's beginning: what was looked for."""
    return NotThatProtocol("unrecognised", f"{what}; this is something else")


def whole(home: Any, key: Any, w: Writer) -> None:
    """A value that goes out as it came in."""
    w.put(key, Leaf(home, key))
