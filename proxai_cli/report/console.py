"""The account as a table for the screen. Only here `rich` is known, and loaded when a table is asked for."""

import io
from collections import Counter
from collections.abc import Collection
from typing import TYPE_CHECKING, Literal

from ..reasons import LEVELS
from .account import FORGIVEN, Change, Found, Group, Item, Report, code, groups, told_once
from .account import places as places_of
from .forms import Shown
from .grid import wrapped
from .json import totals
from .lines import counted, how_sure, is_judged, judgement, name, safe, sums_within, told_together, way
from .lines import where as where_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

STYLE = {"note": "cyan", "loss": "yellow", "risk": "bold red", "unexplained": "bold magenta"}
SHOWN = 8
# From so many columns on, what a change means has one of its own, and from so many on its reason and op.
ROOMY, NARROW = 110, 72
NARROWEST = 16


def formed(report: Report, shown: Shown) -> bytes:
    """A run as tables: one for each document, or one for all of them by file or path."""
    console, out = screen(shown.width, shown.color)
    told = told_once(report.items)
    judged = is_judged(report, told)
    if shown.by == "reason":
        _by_reason(console, report, shown, judged)
    else:
        console.print(by_file(report.items) if shown.by == "file" else by_path(report.items, shown.width))
    if shown.by != "reason" or judged or len(report.items) > 1:
        console.print(told_together(report, told), soft_wrap=True)
    return out.getvalue().encode()


def _by_reason(console: "Console", report: Report, shown: Shown, judged: bool) -> None:
    """Each document with its changes by reason, the most severe first, its findings, and its sums.

    Unless all is to be shown, what is known or allowed is only counted; of a run that is judged so are the documents in
    which there is nothing else.
    """
    left = printed = 0
    for item in report.items:
        counting = item if shown.verbose else _counting(item)
        if judged and not shown.verbose and not counting.said:
            left += 1
            continue
        if printed:
            console.print()
        printed += 1
        _item(console, counting, shown, _forgiven(item) if len(counting.said) < len(item.said) else "")
    if left:
        if printed:
            console.print()
        console.print(f"{counted(left, 'document')} with nothing new (-v shows what is known or allowed)")


def _counting(item: Item) -> Item:
    """An item without what counts for nothing."""
    changes = tuple(change for change in item.changes if change.state not in FORGIVEN)
    return item._replace(changes=changes, findings=tuple(one for one in item.findings if one.state not in FORGIVEN))


def _forgiven(item: Item) -> str:
    states = Counter(same.said.state for same in told_once([item]))
    return ", ".join(f"{states[state]} {state}" for state in FORGIVEN if states[state]) + " (-v)"


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


def _item(console: "Console", item: Item, shown: Shown, forgiven: str) -> None:
    """One document; `forgiven` says how much of it is not shown."""
    from rich.text import Text

    if item.against is not None:
        from . import comparison

        for line in comparison.told(item, shown, forgiven):
            console.print(Text(line), soft_wrap=True)
        return
    console.print(Text("   ".join(said for said in (name(item), way(item), how_sure(item)) if said)))
    if shown.verbose and item.source:
        for one in item.source.evidence:
            console.print(Text(f"  evidence: {safe(one)}"))
    found = groups(item.changes)
    if found:
        console.print(_changes(found, shown.width))
    for finding in item.findings:
        level, judged = Text(finding.level, style=STYLE[finding.level]), judgement(finding)
        told = f"  {finding.code}  {where_of(finding)}{safe(finding.text)}" + (f" [{judged}]" if judged else "")
        console.print(Text.assemble("  ", level, told))
    if forgiven:
        console.print(Text(f"  {forgiven}"))
    if item.counts and shown.sums:
        for line in sums_within(item.counts, shown.width):
            console.print(Text(line))
    if found:
        console.print(Text(f"proxai map {found[0].reason}   explains"))


def _changes(found: list[Group], width: int) -> "Table":
    """Groups of changes as a table. On a narrow screen places, and below them what that means, share one column; on a
    very narrow one with the reason and op, too."""
    from rich.table import Table
    from rich.text import Text

    heads = ["level", *(["reason", "op"] if width >= NARROW else [])]
    heads += ["state"] if any(group.state != "new" for group in found) else []
    cells = [[str(getattr(group, head)) for head in heads] for group in found]
    rest = width - sum(max(map(len, column)) + 3 for column in zip(heads, *cells, strict=True)) - 4
    rows = Table()
    for head in heads:
        rows.add_column(head, no_wrap=True)
    is_roomy = width >= ROOMY
    wide = max(NARROWEST, rest * 3 // 5 if is_roomy else rest)
    rows.add_column("place" if is_roomy else "place, and what that means", overflow="fold", max_width=wide)
    if is_roomy:
        rows.add_column("what that means")
    for group, (level, *others) in zip(found, cells, strict=True):
        where = Text(places(group.places, wide))
        if width < NARROW:
            where = Text(f"{group.reason} {group.op}\n").append_text(where)
        if not is_roomy:
            where.append(f"\n{group.text}", style="dim")
        rows.add_row(Text(level, style=STYLE[level]), *others, where, *([Text(group.text)] if is_roomy else []))
    return rows


def places(leaves: dict[str, int], width: int) -> str:
    """Kinds of places, each with the number of its leaves where there are several; long ones go on below, indented."""
    told: list[str] = []
    for place, count in list(leaves.items())[:SHOWN]:
        told += wrapped(safe(place) + (f" ({count})" if count > 1 else ""), width)
    rest = list(leaves.values())[SHOWN:]
    return "\n".join([*told, *([f"… {len(rest)} more ({sum(rest)})"] if rest else [])])
