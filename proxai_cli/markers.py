"""Markers: by what a document is known to be of a protocol and kind. Each protocol lists its own, as data."""

from fnmatch import fnmatchcase
from functools import cache
from typing import Any, NamedTuple

OWN = "own"  # nobody else says this: enough to be certain
SHAPE = "shape"  # without this it is no such document, whatever else it says
DEMAND = "demand"  # asked for as well, unless an own marker speaks
HABIT = "habit"  # a sign that decides between protocols that fit equally well


class Marker(NamedTuple):
    """Something that stands at `path` in a document of a kind (`request`, `response`, `stream`, `error`).

    A path is keys with dots between them, `[]` for any element of a list and `[0]` for its first, `|` between paths
    that will do as well.
    Of what stands there and is not null, `words` asks for one of these texts (`gpt*` is a pattern), `shape` for a
    type; nothing asked, nothing more is needed. `absent` turns it round: there must be nothing of the sort.
    """

    kind: str
    path: str
    words: tuple[str, ...] = ()
    shape: type | None = None
    weight: str = OWN
    absent: bool = False

    def holds(self, document: Any) -> bool:
        return any(self._stands_at(path, document) for path in self.path.split("|")) is not self.absent

    def found(self, document: Any) -> list[str]:
        """Those of the paths at which there is what is asked for."""
        return [path for path in self.path.split("|") if self._stands_at(path, document)]

    def _stands_at(self, path: str, document: Any) -> bool:
        return any(map(self._fits, values_at(document, path)))

    def _fits(self, value: Any) -> bool:
        if self.words:
            return isinstance(value, str) and any(fnmatchcase(value, word) for word in self.words)
        return value is not None and (self.shape is None or isinstance(value, self.shape))

    def __str__(self) -> str:
        """What it says, in words: for `-v` and the report."""
        if self.absent:
            return f"has no {self.path}"
        path = self.path.replace("|", " or ")
        if not self.words:
            return f"has {path}"
        return f"{path} is {' or '.join(self.words[:3])}{' or the like' if len(self.words) > 3 else ''}"


def values_at(document: Any, path: str) -> list[Any]:
    """Everything that stands at a path of the form above, without alternatives."""
    found = [document]
    for key, elements in _steps(path):
        found = [value[key] for value in found if isinstance(value, dict) and key in value]
        if elements is not None:
            found = [element for value in found if isinstance(value, list) for element in value[elements]]
    return found


@cache
def _steps(path: str) -> list[tuple[str, slice | None]]:
    """The keys of a path, each with those elements of the list at it that are meant, if any."""
    elements = {"": None, "]": slice(None), "0]": slice(1)}
    parted = (step.partition("[") for step in path.split("."))
    return [(key, elements[inside]) for key, _, inside in parted]
