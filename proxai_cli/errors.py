"""What can go wrong: five classes under one, each a sentence for the person who has the problem.

Codes stand in `spec/reasons.md` §3. Losing something is not an error; it is an entry of the ledger.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple


class Place(NamedTuple):
    """Where in an input something is, None where not known. Lines, columns and events count from 1, bytes from 0."""

    line: int | None = None
    column: int | None = None
    byte: int | None = None
    event: int | None = None
    pointer: str | None = None

    @property
    def numbers(self) -> dict[str, int]:
        """All that is known of it but the pointer."""
        return {key: value for key, value in self._asdict().items() if isinstance(value, int)}


class ProxaiError(Exception):
    """An input could not be translated (from here on).

    `code` is one of `spec/reasons.md` §3, `message` says what is wrong without any captured value,
    `place` where, and `hint` the one thing to do about it. `path` names the file where that is no capture.
    """

    path = ""

    def __init__(self, code: str, message: str, place: Place | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.place, self.hint = code, message, place or Place(), hint

    def __reduce__(self) -> Any:
        """All of it, for an error that comes from another process."""
        return type(self), (self.code, self.message, self.place, self.hint)

    def at(self, **known: Any) -> "ProxaiError":
        """The same error with more of its place filled in, by whoever knows it."""
        missing = {key: value for key, value in known.items() if getattr(self.place, key) is None}
        self.place = self.place._replace(**missing)
        return self


class NotReadable(ProxaiError):
    """No JSON, no SSE, no text: the bytes themselves are at fault."""


class NotThatProtocol(ProxaiError):
    """Valid JSON of another shape than what was looked for."""


class OutOfOrder(ProxaiError):
    """A stream event, or an end, that the state of the stream does not allow."""


class NotPossible(ProxaiError):
    """No target can be made of this source."""


class NotThatSideFile(ProxaiError):
    """The side file belongs to another document."""


def nearest(word: str, words: Iterable[str], like: float = 0.6) -> str:
    """For a hint: which of these words was most likely meant; empty if none is near."""
    from difflib import get_close_matches

    return "".join(get_close_matches(word, list(words), 1, like))
