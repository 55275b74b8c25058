"""Rows of text as aligned columns, which may have to fit into a width, or as a Markdown table."""

import re
from collections.abc import Sequence
from itertools import zip_longest

# No column is made narrower than this for the sake of a width.
NARROWEST = 8
GAP = "  "


def grid(heads: Sequence[str], rows: Sequence[Sequence[str]], widest: int = 40, width: int | None = None) -> list[str]:
    """Rows as text, the heading first; every column but the last is padded.

    Each is one line, in which a cell that is wider than `widest` pushes the rest, unless they have to fit into a width:
    then the widest columns are cut down, and what does not fit goes on below, in its column.
    """
    table = [list(heads), *map(list, rows)]
    natural = [max(len(row[at]) for row in table) for at in range(len(heads))]
    if width is None or sum(natural) + len(GAP) * (len(natural) - 1) <= width:
        return [_line(row, [min(widest, each) for each in natural]) for row in table]
    words = [max(_longest(row[at]) for row in table) for at in range(len(heads))]
    widths = _cut(natural, words, width - len(GAP) * (len(natural) - 1))
    told = []
    for row in table:
        cells = [wrapped(cell, wide) for cell, wide in zip(row, widths, strict=True)]
        told.append("\n".join(_line(line, widths) for line in zip_longest(*cells, fillvalue="")))
    return told


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return GAP.join(f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()


def _cut(widths: Sequence[int], words: Sequence[int], room: int) -> list[int]:
    """The widths, of which the widest are cut down until all fit; words, too, where that is not enough."""
    for longest in range(max(words), NARROWEST - 1, -1):
        least = [min(word, longest) for word in words]
        for cap in range(max(widths), NARROWEST - 1, -1):
            cut = [max(min(wide, cap), low) for wide, low in zip(widths, least, strict=True)]
            if sum(cut) <= room:
                return cut
    return [min(wide, NARROWEST) for wide in widths]


_PIECE = re.compile(r"/[^\s/]*|[^\s/]+|\s+")


def _longest(said: str) -> int:
    """The columns that a text needs for nothing in it to be cut but between words and steps."""
    return min(len(said), 1 + max(map(len, _PIECE.findall(said)), default=0))


def wrapped(said: str, width: int) -> list[str]:
    """A text in lines: cut between words and before the steps of a path, inside of one only where it is wider than the
    line. Each line but the first is indented by one."""
    if len(said) <= width:
        return [said]
    room, lines = max(1, width - 1), [""]
    for piece in (whole[at : at + room] for whole in _PIECE.findall(said) for at in range(0, len(whole), room)):
        if lines[-1].strip() and len(lines[-1] + piece.rstrip()) > width:
            lines.append(" " + piece.lstrip())
        else:
            lines[-1] += piece
    return [line.rstrip() for line in lines if line.strip()] or [""]


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The same as a Markdown table."""
    table = [heads, ["---"] * len(heads), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in table]
