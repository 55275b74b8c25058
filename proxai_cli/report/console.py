"""The account as a table for the screen. Only here `rich` is known, and loaded when a table is asked for."""

import io
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from .account import Item, Report, groups
from .forms import Shown
from .lines import how_sure, name, safe, sums, way, where

if TYPE_CHECKING:
    from rich.console import Console

STYLE = {"note": "cyan", "loss": "yellow", "risk": "bold red", "unexplained": "bold magenta"}
SHOWN = 8
NARROWEST, BORDERS = 16, 16


def formed(report: Report, shown: Shown) -> bytes:
    """A run as tables."""
    return table(report.items, shown.width, shown.color, shown.verbose).encode()


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


def _item(console: "Console", item: Item, verbose: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    console.print(Text("   ".join(said for said in (name(item), way(item), how_sure(item)) if said)))
    if verbose and item.source:
        for one in item.source.evidence:
            console.print(Text(f"  evidence: {safe(one)}"))
    found = groups(item.changes)
    if found:
        rows = Table()
        for name_of in ("level", "reason", "op"):
            rows.add_column(name_of, no_wrap=True)
        heads = [(group.level, group.reason, group.op) for group in found]
        taken = sum(max(map(len, column)) for column in zip(*heads, strict=True)) + BORDERS
        wide = max(NARROWEST, (console.width - taken) * 3 // 5)
        rows.add_column("place", overflow="fold", max_width=wide)
        rows.add_column("what that means")
        for group in found:
            level = Text(group.level, style=STYLE[group.level])
            rows.add_row(level, group.reason, group.op, Text(places(group.places, wide)), Text(group.text))
        console.print(rows)
    for finding in item.findings:
        level = Text(finding.level, style=STYLE[finding.level])
        console.print(Text.assemble("  ", level, f"  {finding.code}  {where(finding)}{safe(finding.text)}"))
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
