"""Rows of text as aligned columns, or as a Markdown table."""

from collections.abc import Sequence


def grid(heads: Sequence[str], rows: Sequence[Sequence[str]], widest: int = 40) -> list[str]:
    """Lines with a heading; every column but the last is padded, one that is wider than `widest` pushes its own row."""
    table = [list(heads), *map(list, rows)]
    widths = [min(widest, max(len(row[at]) for row in table)) for at in range(len(heads))]
    return ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The same as a Markdown table."""
    table = [heads, ["---"] * len(heads), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in table]
