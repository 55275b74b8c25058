"""What stands in containers beside our documents (images, pages, calls of other APIs): left aside, and counted."""

from collections import Counter

from ..errors import NotThatProtocol, ProxaiError
from .parts import CALLS, Part, creates_reply

OTHER_API = "other API"
_MANY = {"html": "html", "line of a transcript": "lines of a transcript", "other": "others", "empty": "empty"}


class Foreign:
    """State: of each input the entries that were left aside, and what they are; and those with something of ours."""

    def __init__(self) -> None:
        self._left: dict[str, dict[int | None, str]] = {}
        self._ours: dict[str, set[int | None]] = {}

    def leave(self, part: Part, what: str) -> None:
        self._left.setdefault(part.input.path, {}).setdefault(part.entry, what)

    def take(self, part: Part) -> None:
        """Something of this entry is ours, so it is not left aside whatever else stands in it."""
        if part.record is not None and part.container in CALLS:
            self._ours.setdefault(part.input.path, set()).add(part.entry)

    def told(self, path: str) -> str:
        """`3 other entries skipped (2 images, 1 html)`, or nothing."""
        ours = self._ours.get(path, set())
        kinds = Counter(what for entry, what in self._left.get(path, {}).items() if entry not in ours)
        if not kinds:
            return ""
        listed = ", ".join(
            f"{count} {what if count == 1 else _MANY.get(what, what + 's')}" for what, count in kinds.items()
        )
        return f"{kinds.total()} other entr{'y' if kinds.total() == 1 else 'ies'} skipped ({listed})"

    def paths(self) -> list[str]:
        return [path for path in self._left if self.told(path)]

    def nothing_else(self, path: str) -> ProxaiError:
        """What to say where there is nothing of ours in an input."""
        return NotThatProtocol("unrecognised", f"nothing in it is a call that is known: {self.told(path)}")


def is_elsewhere(error: Exception, part: Part) -> bool:
    """Is this the body of a call that creates no reply, of an API that is not known?"""
    told = isinstance(error, ProxaiError) and error.code in ("unrecognised", "wrong-kind")
    if not told or part.container not in CALLS:
        return False
    return part.head is not None and bool(part.head.url) and not creates_reply(part.head)
