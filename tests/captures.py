"""The captures that the laws run over: our fixtures, and the corpus beside the project where it is."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from proxai_cli import PROTOCOLS, text
from proxai_cli.ir.events import DONE
from proxai_cli.wire.sse import Event, Reader

from .shared import SHARED

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
KINDS = ("request", "response", "stream", "error")


class Capture(NamedTuple):
    """One file that holds one document of a known protocol and kind."""

    label: str
    path: Path
    protocol: str
    kind: str

    @property
    def data(self) -> bytes:
        return self.path.read_bytes()


def fixtures() -> Iterator[Capture]:
    for protocol in PROTOCOLS:
        for path in sorted((FIXTURES / protocol).glob("*/*")):
            if path.stem in KINDS:
                yield Capture(f"{protocol}/{path.parent.name}/{path.name}", path, protocol, path.stem)


def corpus() -> Iterator[Capture]:
    if SHARED is None:
        return
    for protocol in PROTOCOLS:
        for kind in KINDS:
            for path in sorted((SHARED / "corpus" / protocol / kind).iterdir()):
                yield Capture(f"corpus/{protocol}/{kind}/{path.name}", path, protocol, kind)


@cache
def body(capture: Capture) -> Any:
    return text.read(capture.data)[0]


def events(capture: Capture) -> list[Any]:
    """The parsed events of a stream, freshly read, for a translator may keep them; up to one that cannot be read."""
    return [event.value for event in _read(capture) if not event.fault]


def fault(capture: Capture) -> str | None:
    """The code of the first event that cannot be read."""
    return next((event.fault.code for event in _read(capture) if event.fault), None)


def _read(capture: Capture) -> list[Event]:
    reader = Reader(named=PROTOCOLS[capture.protocol].named)
    found = [*reader.feed(capture.data), *reader.close()]
    bad = next((at for at, event in enumerate(found) if event.fault), len(found))
    return found[: bad + 1]


def wire(events: list[Any]) -> list[Any]:
    """The events without the `[DONE]` line."""
    return [event for event in events if event is not DONE]
