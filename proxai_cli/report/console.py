"""The account as a table for the screen. Only here `rich` is known, and loaded when a table is asked for."""

import io
import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Literal

from ..reasons import LEVELS
from .account import Change, Found, Item, Report, code, groups, told_once
from .account import places as places_of
from .forms import Shown
from .json import totals
from .lines import how_sure, judgement, name, safe, sums, told_together, way
from .lines import where as where_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

STYLE = {"note": "cyan", "loss": "yellow", "risk": "bold red", "unexplained": "bold magenta"}
SHOWN = 8
NARROWEST, BORDERS = 16, 16


def formed(report: Report, shown: Shown) -> bytes:
    """A run as tables: one for each document, or one for all of them by file or path."""
    if shown.by == "reason":
        return table(report.items, shown.width, shown.color, shown.verbose).encode()
    console, out = screen(shown.width, shown.color)
    console.print(by_file(report.items) if shown.by == "file" else by_path(report.items, shown.width))
    console.print(told_together(report, told_once(report.items)))
    return out.getvalue().encode()


def table(items: Iterable[Item], width: int, color: bool, verbose: bool = False) -> str:
    """Each document with its changes by reason, the most severe first, its findings, and its sums."""
    console, out = screen(width, color)
    for number, item in enumerate(items):
        if number:
            console.print()
        _item(console, item, verbose)
    return out.getvalue()


def screen(width: int, color: bool) -> "tuple[Console, io.StringIO]":
    """A console that takes no text for markup, and what is printed on it."""
    from rich.console import Console

    out = io.StringIO()
    system: Literal["standard"] | None = "standard" if color else None
    console = Console(
        file=out, width=width, force_terminal=color, color_system=system, highlight=False, emoji=False, markup=False
    )
    return console, out


def by_file(items: Collection[Item]) -> "Table":
    """A row for each file: how many documents are in it, and how many leaves (and findings) of each level."""
    from rich.text import Text

    files: dict[str, list[Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    rows = _table("file", "documents", *reversed(LEVELS))
    for documents in files.values():
        leaves = totals(documents)
        counts = [Text(str(leaves[level] or ""), style=STYLE[level]) for level in reversed(LEVELS)]
        rows.add_row(Text(name(documents[0]._replace(record=None))), str(len(documents)), *counts)
    return rows


def by_path(items: Collection[Item], width: int) -> "Table":
    """A row for whatever happened to each kind of place, with its leaves where there are several."""
    from rich.text import Text

    told = sorted(told_once(items), key=lambda same: _place(same.said))
    heads = ("level", "reason", *(["state"] if any(same.said.state != "new" for same in told) else []), "documents")
    cells = [
        [said.level, code(said), *([said.state] if "state" in heads else []), str(documents)]
        for _, said, _, _, documents in told
    ]
    wide = width - sum(max(map(len, column)) + 3 for column in zip(heads, *cells, strict=True)) - 4
    rows = _table("place", *heads)
    for same, (level, *rest) in zip(told, cells, strict=True):
        where = places({_place(same.said): same.leaves}, max(NARROWEST, wide))
        rows.add_row(Text(where), Text(level, style=STYLE[level]), *rest)
    return rows


def _place(said: Change | Found) -> str:
    """Where it is in the source, else in the target."""
    return next((place for place in places_of(said) if place is not None), "") or "/"


def _table(first: str, *heads: str) -> "Table":
    """A table whose first column alone is folded, and whose last ones are numbers."""
    from rich.table import Table

    rows = Table()
    rows.add_column(first, overflow="fold")
    for head in heads:
        rows.add_column(head, justify="right" if head in ("documents", *LEVELS) else "left", no_wrap=True)
    return rows


def _item(console: "Console", item: Item, verbose: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    if item.against is not None:
        from . import comparison

        for line in comparison.told(item, verbose):
            console.print(Text(line), soft_wrap=True)
        return
    console.print(Text("   ".join(said for said in (name(item), way(item), how_sure(item)) if said)))
    if verbose and item.source:
        for one in item.source.evidence:
            console.print(Text(f"  evidence: {safe(one)}"))
    found = groups(item.changes)
    if found:
        rows = Table()
        heads = ("level", "reason", "op", *(["state"] if any(group.state != "new" for group in found) else []))
        cells = [[getattr(group, head) for head in heads] for group in found]
        for head in heads:
            rows.add_column(head, no_wrap=True)
        taken = sum(max(map(len, column)) for column in zip(*cells, strict=True)) + BORDERS
        wide = max(NARROWEST, (console.width - taken) * 3 // 5)
        rows.add_column("place", overflow="fold", max_width=wide)
        rows.add_column("what that means")
        for group, (level, *rest) in zip(found, cells, strict=True):
            where = Text(places(group.places, wide))
            rows.add_row(Text(level, style=STYLE[level]), *rest, where, Text(group.text))
        console.print(rows)
    for finding in item.findings:
        level, judged = Text(finding.level, style=STYLE[finding.level]), judgement(finding)
        told = f"  {finding.code}  {where_of(finding)}{safe(finding.text)}" + (f" [{judged}]" if judged else "")
        console.print(Text.assemble("  ", level, told))
    if item.counts:
        console.print(Text(sums(item.counts, "source", "target")))
    if found:
        console.print(Text(f"proxai map {found[0].reason}   explains"))


def places(leaves: dict[str, int], width: int) -> str:
    """Kinds of places, each with the number of its leaves where there are several; long ones go on below, indented."""
    told: list[str] = []
    for place, count in list(leaves.items())[:SHOWN]:
        told.append("")
        for step in re.findall("/[^/]*", safe(place) + (f" ({count})" if count > 1 else "")):
            if told[-1].strip() and len(told[-1]) + len(step) > width:
                told.append(" ")
            told[-1] += step
    rest = list(leaves.values())[SHOWN:]
    return "\n".join([*told, *([f"… {len(rest)} more ({sum(rest)})"] if rest else [])])
