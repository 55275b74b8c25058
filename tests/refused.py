"""Captures that must be refused, with the code; and targets that the official types need not take, with the reason."""

REFUSED: dict[str, str] = {}

MAY_BE_INVALID: dict[tuple[str, str], str] = {}
