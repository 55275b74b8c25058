"""`proxai inspect`: what is in a file: container, protocol, kind, how sure. Content is never shown."""

import shlex

from ..report.account import Item
from ..report.grid import grid
from ..report.lines import name, safe
from .convert import asked
from .documents import Document, told_by
from .options import CAPTURES, PAGER, SOURCE, WHOLE, Call, Command, telling
from .run import Run
from .translating import how, inspected

HEADS = ("capture", "container", "protocol", "kind", "sure", "model", "size", "state")


def run(call: Call) -> int:
    """Tell what every capture is; all are looked at, whatever fails."""
    given = asked(call)
    run, told = Run(call, to_stdout=True, table=listing), told_by(call)
    way = how(call, told.context)._replace(target=None)

    def work(document: Document) -> None:
        run.add(inspected(document, way), document.part.input)

    run.each(given, told.recognised, work, go_on=True)
    return run.finish()


def listing(items: list[Item], verbose: bool) -> str:
    """One line for each capture, with `verbose` its evidence; then the command that may come next."""
    told = grid(HEADS, [_row(item) for item in items], widest=60)
    lines = told[:1]
    for item, line in zip(items, told[1:], strict=True):
        lines.append(line)
        if verbose and item.source:
            lines += [f"  {safe(one)}" for one in item.source.evidence]
    known = next((item for item in items if item.source and item.path != "-"), None)
    if known and known.source:
        to = "messages" if known.source.protocol != "messages" else "chat"
        lines.append(f"next: proxai convert {shlex.quote(known.path)} --to {to}")
    return "\n".join(lines) + "\n"


def _row(item: Item) -> tuple[str, ...]:
    source = item.source
    if source is None:
        return (
            name(item),
            item.container,
            "?",
            "?",
            "",
            "",
            "",
            item.findings[0].code if item.findings else item.status,
        )
    state = "complete" if item.status == "ok" else "cut"
    if source.events is not None:
        state = f"complete, {source.events} events" if item.status == "ok" else f"cut after event {source.events}"
    return (
        name(item),
        item.container,
        source.protocol,
        f"{item.label} {source.kind}" if item.label else source.kind,
        source.sure or "",
        safe(source.model or ""),
        _size(source.bytes or 0),
        state if source.events is not None else f"complete, {source.leaves} leaves",
    )


def _size(count: int) -> str:
    return (
        f"{count} B"
        if count < 1000
        else f"{count / 1000:.0f} kB"
        if count < 1_000_000
        else f"{count / 1_000_000:.1f} MB"
    )


COMMAND = Command(
    "inspect",
    "What is in this file: container, protocol, kind, how sure.",
    ("proxai inspect capture.json", "proxai inspect captures/ -v"),
    CAPTURES,
    (*SOURCE, PAGER, *telling("never")),
    run,
    WHOLE,
)
