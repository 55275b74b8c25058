"""Patterns as people write them: `*` is one step of a path, or a part of one, `**` any number of steps.

One kind for JSON Pointers (`/messages/*/content`, `/metadata/trace_*`, `/tools/**`) and for file paths; a path of one
step is a plain word, so codes are matched by it, too.
"""

from collections.abc import Callable
from fnmatch import translate
from re import compile
from typing import Any

_MANY = "**"


class Glob:
    """One pattern; `fits` says whether a path is one of those that it means.

    Raises `ValueError`, with the sentence to tell, for a pattern that means nothing.
    """

    def __init__(self, said: str) -> None:
        self.said = said
        self._steps = [None if step == _MANY else _step(step) for step in said.split("/")]

    def fits(self, path: str) -> bool:
        """Does the whole path fit? A step `*` of a path (any position) is fitted by a step `*` alone."""
        at = {0}
        for step in path.split("/"):
            at = {after for before in self._reached(at) for after in self._moved(before, step)}
        return len(self._steps) in self._reached(at)

    def _reached(self, at: set[int]) -> set[int]:
        """Where in the pattern one may be without a further step: `**` may be none."""
        reached = set(at)
        for place, step in enumerate(self._steps):
            if place in reached and step is None:
                reached.add(place + 1)
        return reached

    def _moved(self, place: int, step: str) -> list[int]:
        if place == len(self._steps):
            return []
        wanted = self._steps[place]
        if wanted is None:
            return [place]
        return [place + 1] if wanted(step) else []


def pointer_glob(said: str) -> Glob:
    """A pattern over JSON Pointers. Raises `ValueError`."""
    if not said.startswith("/"):
        raise ValueError("begins with / (a JSON Pointer, in which * is one step and ** any number)")
    return Glob(said)


def _step(said: str) -> Callable[[str], Any]:
    """The test of one step; only `*` has a meaning of its own in it."""
    if _MANY in said:
        raise ValueError("has ** only as a whole step, as in /tools/**")
    return compile(translate(said.replace("[", "[[]").replace("?", "[?]"))).match
