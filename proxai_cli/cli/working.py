"""What is done to the parts of an input, one after the other, and who is told what came of each."""

from collections.abc import Callable, Iterator
from typing import Protocol

from .documents import Document
from .foreign import OTHER_API, is_elsewhere
from .inputs import Input
from .parts import Part
from .translating import Outcome


class Teller(Protocol):
    """Who is told: a run, or what writes down for one. `goes_on` says whether it ends with the first that fails."""

    goes_on: bool

    def take(self, part: Part) -> None:
        """A part is one of our documents."""

    def leave(self, part: Part, what: str) -> None:
        """A part is something foreign."""

    def fail(self, error: Exception, input: Input, part: Part | None) -> None:
        """An input or part could not be translated."""

    def add(self, outcome: Outcome, input: Input) -> None:
        """A document was translated."""


def worked(
    input: Input,
    found: Iterator[Part],
    recognise: Callable[[Part], Document],
    work: Callable[[Document], None],
    teller: Teller,
) -> bool:
    """Do the work for every part of an input; False where the run has to end with it."""
    while True:
        part = None
        try:
            part = next(found, None)
            if part is None:
                return True
            if part.foreign:
                teller.leave(part, part.foreign)
                continue
            document = recognise(part)
            teller.take(part)
            work(document)
        except BrokenPipeError:
            raise
        except Exception as error:
            if part and is_elsewhere(error, part):
                teller.leave(part, OTHER_API)
                continue
            teller.fail(error, input, part)
            if not teller.goes_on:
                return False
            if part is None:
                return True
