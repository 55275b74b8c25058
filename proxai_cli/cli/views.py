"""Both documents whole, for a report that shows them side by side; nothing is kept where none was asked for."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..context import Context
from ..ir.events import DONE
from ..ledger import Entry, Path
from ..protocols import PROTOCOLS
from ..report.account import View
from ..report.view import END, UNREADABLE, hidden
from ..schemas import words
from ..translate import At, StreamTranslator

Hide = Callable[[Any], Any]


def hiding(how: str, known: frozenset[str]) -> Hide:
    """What makes a document, or an event, one that may be shown as `--values` says.

    A page with whole documents has room for all words of the protocols' published schemas, such as the types of events.
    """
    if how == "short":
        known = known.union(*map(words, PROTOCOLS))
    return lambda value: END if value is DONE else hidden(value, how, known)


def of_bodies(source: Any, target: Any, entries: Iterable[Entry], hide: Hide) -> View:
    """Two bodies."""
    return View(hide(source), hide(target), tuple(entries))


def of_collected(events: list[Any], body: Any, entries: Iterable[Entry], hide: Hide) -> View:
    """A stream's events, and the body that they became."""
    places = _objects(events)
    said = (entry._replace(source=_placed(entry.source, places)) for entry in entries)
    return View([hide(event) for event in events], hide(body), tuple(said))


def of_exploded(body: Any, events: list[Any], entries: Iterable[Entry], hide: Hide) -> View:
    """A body, and the events that it became."""
    places = _objects(events)
    said = (entry._replace(target=_placed(entry.target, places)) for entry in entries)
    return View(hide(body), [hide(event) for event in events], tuple(said))


class Watched(StreamTranslator):
    """A translator that keeps what it was fed, what it wrote, and every entry of its account."""

    def __init__(self, source: str, target: str, context: Context, repair: bool, hide: Hide) -> None:
        super().__init__(source, target, context, repair)
        self.hide = hide
        self.fed: list[Any] = []
        self.out: list[Any] = []
        self.by: list[int] = []
        self.entries: list[Entry] = []

    def feed(self, event: Any, name: str = "") -> list[Any]:
        number, shown = self.number, self.hide(event)
        written = super().feed(event, name)
        self.fed += [UNREADABLE] * (number - len(self.fed))
        self.fed.append(shown)
        return self._kept(written, number)

    def close(self) -> list[Any]:
        self.fed += [UNREADABLE] * (self.number - len(self.fed))
        return self._kept(super().close(), len(self.fed))

    def _kept(self, written: list[Any], number: int) -> list[Any]:
        self.out += map(self.hide, written)
        self.by += [number] * len(written)
        return written

    def _count(self, entries: list[Entry]) -> None:
        super()._count(entries)
        self.entries += entries

    def view(self) -> View:
        """Both streams, when all has gone through."""
        ours, theirs = range(len(self.fed) + 1), _objects(self.out)
        said = (
            entry._replace(source=_placed(entry.source, ours), target=_placed(entry.target, theirs))
            for entry in self.entries
        )
        return View(self.fed, self.out, tuple(said), tuple(self.by))


def _objects(events: list[Any]) -> list[int]:
    """The positions of a stream's objects: entries count these only."""
    return [at for at, event in enumerate(events) if event is not DONE and event != END]


def _placed(path: Path | None, places: Sequence[int]) -> Path | None:
    """A path whose first step, the number of an event, is the event's position instead."""
    if not path:
        return path
    number = path[0].number if isinstance(path[0], At) else path[0]
    return (places[number], *path[1:])
