"""Texts that arrive in pieces: which values of which events belong together, and how a text is cut again.

An event says that it holds a piece: below `delta`, or in the start of a block. Which text it belongs to is told by the
indexes around it. Log probabilities hold a text token by token.
"""

from collections.abc import Sequence
from typing import Any

from ..ir.events import joined
from ..ledger import Path
from .spots import halves

TOKEN = "token"
_PIECES = ("delta", "content_block")
# The old form of streams, whose chunks are like their bodies.
_CHOICES = ("choices",)
_TOKENS = "tokens"
_MARKS = {TOKEN, _TOKENS, *_PIECES, *_CHOICES}
# What is said whole, with every piece; and whose values are, too.
_WHOLE = {"type", "id", "role", "name", "object", "model", "format"}
_WHOLE_BELOW = {"annotations", "annotation", "citations", "citation"}


def thread(path: Path, chain: Sequence[Any]) -> tuple[Any, ...] | None:
    """What the values of one text have in common; None for a value that is no piece. `chain` are the values on
    the way, from the list of records on."""
    if _MARKS.isdisjoint(path):
        return None
    found = [at for at, step in enumerate(path) if step in _PIECES or (step in _CHOICES and path[-1] == "text")]
    if _is_token(path, chain):
        names = [_index(chain[at + 1]) if isinstance(step, int) else step for at, step in enumerate(path[:-1])]
        # The alternatives to tokens spell texts of their own, one for each rank.
        rank = path[-2] if any(isinstance(home, dict) and "logprob" in home for home in chain[:-1]) else None
        return (TOKEN, _type(chain[1]), *names, rank)
    if not found or path[-1] in _WHOLE or not _WHOLE_BELOW.isdisjoint(path):
        return None
    start = next((at for at in found if path[at] in _PIECES), found[0])
    event = _event(path[:start], chain)
    name = [
        "*" if at == event else step if at < event else _number(step, chain[at + 1])
        for at, step in enumerate(path[:start])
    ]
    inside_piece = [
        _number(step, chain[at + 1] if at + 1 < len(chain) else None) if isinstance(step, int) else step
        for at, step in enumerate(path[start + 1 :], start + 1)
    ]
    around = chain[event + 1]
    indexes = sorted(
        (key, value)
        for key, value in (around.items() if isinstance(around, dict) else ())
        if (key.endswith("index") and isinstance(value, int)) or (key == "item_id" and isinstance(value, str))
    )
    return (*name, None if inside_piece else _type(around), *indexes, *inside_piece)


def _is_token(path: Path, chain: Sequence[Any]) -> bool:
    """Is it a token of log probabilities: in an object with its own, or, in their old form, in a list of tokens?"""
    if path[-1] == TOKEN:
        return isinstance(chain[-1], dict) and "logprob" in chain[-1]
    return path[-2:-1] == (_TOKENS,) and isinstance(chain[-2], dict) and "token_logprobs" in chain[-2]


def _type(here: Any) -> str | None:
    said = here.get("type") if isinstance(here, dict) else None
    return said if isinstance(said, str) else None


def _event(path: Path, chain: Sequence[Any]) -> int:
    """Which step leads to the event: the last element of a list that has a type, or no number of its own."""
    for at in range(len(path) - 1, -1, -1):
        here = chain[at + 1]
        if not isinstance(path[at], int) or not isinstance(here, dict):
            continue
        if _type(here) or not isinstance(here.get("index"), int):
            return at
    return 0


def _number(step: Any, here: Any) -> Any:
    """An element by its own number, which says more than its place."""
    if not isinstance(step, int) or not isinstance(here, dict):
        return step
    index = here.get("index")
    return index if isinstance(index, int) else step


def _index(here: Any) -> Any:
    index = here.get("index") if isinstance(here, dict) and "logprob" not in here else None
    return index if isinstance(index, int) else "*"


def cut(whole: str, pieces: list[str]) -> list[str]:
    """A text of the same length as these pieces together, cut where they were."""
    units, at, out = halves(whole), 0, []
    for piece in pieces:
        count = len(halves(piece))
        out.append(joined(units[at : at + count]))
        at += count
    return out
