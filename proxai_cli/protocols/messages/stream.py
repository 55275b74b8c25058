"""Streams of Messages."""

from typing import Any

from ...context import Context
from ...ledger import Ledger


class Decoder:
    """Events in, IR events out."""

    def __init__(self, ledger: Ledger, context: Context) -> None:
        self.ledger, self.context = ledger, context

    def feed(self, event: Any) -> list[Any]:
        return []

    def close(self) -> list[Any]:
        return []


class Encoder:
    """IR events in, events out."""

    def __init__(self, ledger: Ledger, context: Context) -> None:
        self.ledger, self.context = ledger, context

    def feed(self, event: Any) -> list[Any]:
        return []

    def close(self) -> list[Any]:
        return []
