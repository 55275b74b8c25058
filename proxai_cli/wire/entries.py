"""The entries of a container where they stand in its bytes, so that some can be taken out of it."""

import re
from collections.abc import Collection
from itertools import chain
from typing import NamedTuple

from .. import text
from ..errors import NotReadable, Place
from .capture import CASSETTE, HAR, captures
from .values import elements


class Entry(NamedTuple):
    """A call, counted from 0, or a value, counted from 1: where it begins and where it ends."""

    number: int
    start: int
    end: int


def entries(data: bytes) -> list[Entry]:
    """The entries of a container without compression: calls of a HAR or of a cassette in JSON, lines, elements of a
    list. There are none in what is one document.

    Raises `NotReadable` where the container is cut or broken, and for one whose entries do not stand for themselves.
    """
    marked = len(text.BYTE_ORDER_MARK) if data.startswith(text.BYTE_ORDER_MARK) else 0
    bare = data[marked:].lstrip()
    cassette = CASSETTE.match(bare)
    keys = ("log", "entries") if HAR.match(bare) else (cassette[1].decode(),) if cassette else ()
    if keys:
        found = elements([data[marked:]], Place(line=1, byte=marked), *keys)
        return [_entry(number, body, place) for number, (body, place) in enumerate(found)]
    first = next(rest := captures(data), None)
    if first is None or first.record is None:
        return []
    if first.head is not None or first.container not in ("jsonl", "array"):
        raise NotReadable(
            "unreadable",
            "only from a HAR, a cassette in JSON, JSON lines or a list, without HTTP heads, entries are picked",
            Place(line=1, column=1, byte=0),
            "leave out --pick, or save what you want to pick as a file of its own",
        )
    return [_entry(each.record or 0, each.body, each.place) for each in chain([first], rest)]


def _entry(number: int, body: bytes, place: Place) -> Entry:
    start = place.byte or 0
    return Entry(number, start, start + len(body))


def only(data: bytes, found: list[Entry], wanted: Collection[int]) -> bytes:
    """A container with the wanted ones of its entries, each with what separates it from those before."""
    out = [data[: found[0].start]]
    for before, entry in zip([None, *found], found, strict=False):
        if entry.number in wanted:
            out.append(data[before.end if before and len(out) > 1 else entry.start : entry.end])
    return b"".join([*out, data[found[-1].end :]])


def blanked(data: bytes, found: list[Entry], wanted: Collection[int]) -> bytes:
    """A container with a number in place of each entry that is not wanted, so that the others keep their places."""
    out, at = list[bytes](), 0
    for entry in found:
        if entry.number not in wanted:
            out += [data[at : entry.start], b"0", re.sub(rb"[^\r\n]", b" ", data[entry.start + 1 : entry.end])]
            at = entry.end
    return b"".join([*out, data[at:]])
