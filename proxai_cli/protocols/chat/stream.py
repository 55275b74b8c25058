"""Streams: chunks in, IR events out, and back."""

from typing import Any

from ...context import Context
from ...ledger import Ledger


class Decoder:
    def __init__(self, ledger: Ledger, context: Context) -> None:
        self.ledger, self.context = ledger, context

    def feed(self, event: Any) -> list[Any]:
        return []

    def close(self) -> list[Any]:
        return []


class Encoder:
    def __init__(self, ledger: Ledger, context: Context) -> None:
        self.ledger, self.context = ledger, context

    def feed(self, event: Any) -> list[Any]:
        return []

    def close(self) -> list[Any]:
        return []
