"""`proxai inspect`: what is in a file: container, protocol, kind, how sure. Content is never shown."""

import re
import shlex
from collections.abc import Collection, Sequence

from ..report.account import Item
from ..report.grid import grid
from ..report.lines import name, safe, what
from . import screen
from .documents import Document, told_by
from .inputs import inputs_of
from .options import CAPTURES, PAGER, SOURCE, WHOLE, Call, Command, telling
from .run import Run
from .translating import how, inspected

HEADS = ("container", "protocol", "kind", "sure", "model", "size", "state")


def run(call: Call) -> int:
    """Tell what every capture is; all are looked at, whatever fails."""
    given, urls = inputs_of(call), dict[int, str]()
    run, told = Run(call, to_stdout=True), told_by(call)
    way = how(call, told.context)._replace(target=None)

    def table(items: Collection[Item], verbose: bool) -> str:
        skipped = [(path, run.foreign.told(path)) for path in run.foreign.paths()]
        return listing(items, verbose, urls, skipped)

    run.table = table

    def work(document: Document) -> None:
        head = document.part.head
        if head and head.url:
            urls[len(run.items)] = shown_url(head.url)
        run.add(inspected(document, way), document.part.input)

    run.each(given, told.recognised, work, go_on=True)
    return run.finish()


def shown_url(url: str) -> str:
    """A URL without what may be secret in it: a name, and the query."""
    return safe(re.sub(r"//[^/@]*@", "//", re.split(r"[?#]", url)[0]))


def listing(items: Collection[Item], verbose: bool, urls: dict[int, str], skipped: list[tuple[str, str]]) -> str:
    """One line for each capture, with `verbose` its evidence; what was skipped; then the command that may come next."""
    paths = {item.path for item in items}
    numbered = len(paths) == 1 and any(item.record is not None for item in items)
    heads = ("#" if numbered else "capture", *HEADS)
    rows = [(_number(item) if numbered else name(item), *_row(item)) for item in items]
    told, below = _with_urls(heads, rows, [urls.get(at, "") for at in range(len(rows))] if urls else [])
    lines = told[:1]
    for item, line, url in zip(items, told[1:], below, strict=True):
        lines += [line, *([f"  {url}"] if url else [])]
        if verbose and item.source:
            lines += [f"  {safe(one)}" for one in item.source.evidence]
    lines += [said if len(paths) == 1 else f"{safe(path)}: {said}" for path, said in skipped]
    known = [item for item in items if item.source and item.path != "-"]
    streams = [item for item in known if numbered and item.source and item.source.kind == "stream"]
    first = next(iter([*streams, *known]), None)
    if first and first.source:
        to = "messages" if first.source.protocol != "messages" else "chat"
        alone = sum(item.path == first.path for item in items) == 1
        pick = "" if first.record is None or alone else f" --pick {first.record}"
        lines.append(f"next: proxai convert {safe(shlex.quote(first.path))}{pick} --to {to}")
    return "\n".join(lines) + "\n"


def _with_urls(heads: Sequence[str], rows: list[tuple[str, ...]], urls: list[str]) -> tuple[list[str], list[str]]:
    """The table; the URLs are its last column, or what is to stand below each row where the screen has no room."""
    width = screen.room()
    if urls:
        told = grid([*heads, "url"], [(*row, url) for row, url in zip(rows, urls, strict=True)], widest=60)
        if width is None or max(map(len, told)) <= width:
            return told, [""] * len(rows)
    return grid(heads, rows, widest=60, width=width), urls or [""] * len(rows)


def _number(item: Item) -> str:
    return "" if item.record is None else str(item.record)


def _row(item: Item) -> tuple[str, ...]:
    source = item.source
    if source is None:
        return item.container, "?", "?", "", "", "", item.findings[0].code if item.findings else item.status
    state = "complete" if item.status == "ok" else "cut"
    if source.events is not None:
        state = f"complete, {source.events} events" if item.status == "ok" else f"cut after event {source.events}"
    return (
        item.container,
        source.protocol,
        what(item),
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
