"""Where an exchange as captured holds credentials: for whoever keeps the capture itself (`spec/decisions.md` §1)."""

from collections.abc import Iterator
from typing import Any

from ..endpoints.address import covered as covered_url
from ..ledger import Path
from .credentials import covered_head, covered_value
from .heads import keys_of
from .texts import HALVES


def covered_places(value: Any) -> dict[Path, str]:
    """The texts of an exchange that hold credentials, by path, each with what may stand there instead."""
    halves: dict[Path, Any] = {(name,): value[name] for name in HALVES if isinstance(value.get(name), dict)}
    found: dict[Path, str] = {}
    for path, half in (halves or {(): value}).items():
        for place, said, shown in _told(half):
            if said != shown:
                found[(*path, *place)] = shown
    return found


def _told(half: dict[str, Any]) -> Iterator[tuple[Path, str, str]]:
    url, head = half.get("url"), half.get("headers")
    if isinstance(url, str):
        yield ("url",), url, covered_url(url)
    if isinstance(head, str):
        yield ("headers",), head, covered_head(head)
    elif isinstance(head, dict):
        for name, value in head.items():
            if isinstance(value, str):
                yield ("headers", name), value, covered_value(name, value)
            elif isinstance(value, list):
                for at, each in enumerate(value):
                    if isinstance(each, str):
                        yield ("headers", name, at), each, covered_value(name, each)
    elif isinstance(head, list):
        for at, pair in enumerate(head):
            keys = keys_of(pair)
            if isinstance(pair, str):
                yield ("headers", at), pair, covered_head(pair)
            elif keys is not None:
                yield ("headers", at, keys[1]), pair[keys[1]], covered_value(pair[keys[0]], pair[keys[1]])
