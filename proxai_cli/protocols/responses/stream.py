"""Responses streams: events in, IR events out, and back. Source: `spec/streams.md`."""

from typing import Any


class Decoder:
    def __init__(self, ledger: Any, context: Any) -> None: ...
    def feed(self, event: Any) -> list[Any]:
        return []

    def close(self) -> list[Any]:
        return []


class Encoder(Decoder): ...
