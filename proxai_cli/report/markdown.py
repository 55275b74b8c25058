"""The account as Markdown for a comment: one row for each fingerprint, five open and the rest folded."""

from collections.abc import Iterable

from ..reasons import LEVELS
from .account import Change, Item, Report, fingerprint, pattern, sentence
from .forms import Shown
from .lines import name, safe, sums, way

OPEN = 5
LIMIT = 60_000
HEAD = "| level | reason | op | source | target | leaves | what that means |\n" + "| --- " * 7 + "|\n"


def formed(report: Report, shown: Shown) -> bytes:
    """A run as Markdown."""
    return markdown(report.items).encode()


def markdown(items: Iterable[Item]) -> str:
    """A report of at most LIMIT bytes; what does not fit is said to be left out."""
    told, size, left = list[str](), 0, 0
    for item in items:
        section = _section(item)
        size += len(section.encode())
        if size > LIMIT - 200:
            left += 1
        else:
            told.append(section)
    more = f"\n… and {left} more documents, which do not fit in a comment.\n" if left else ""
    return "\n".join(told) + more


def _section(item: Item) -> str:
    rows = list(_rows(item))
    title = f"### {_cell(name(item))}: {way(item) or item.status}\n\n"
    opened = HEAD + "".join(rows[:OPEN]) if rows else ""
    folded = f"\n<details><summary>{len(rows) - OPEN} more</summary>\n\n{HEAD}{''.join(rows[OPEN:])}\n</details>\n"
    found = "".join(f"\n- **{each.level}** `{each.code}` {_cell(each.text)}" for each in item.findings)
    total = f"\n{sums(item.counts, 'source', 'target')}\n" if item.counts else ""
    return title + opened + (folded if len(rows) > OPEN else "") + (found + "\n" if found else "") + total


def _rows(item: Item) -> Iterable[str]:
    merged: dict[str, tuple[Change, int]] = {}
    for change in sorted(item.changes, key=lambda change: -LEVELS.index(change.level)):
        mark = fingerprint(item.pair, change)
        first, count = merged.get(mark, (change, 0))
        merged[mark] = first, count + change.leaves
    for change, count in merged.values():
        source, target = _place(pattern(change.source)), _place(pattern(change.target))
        cells = (change.level, change.reason, change.op, source, target, str(count), _cell(sentence(change)))
        yield f"| {' | '.join(cells)} |\n"


def _place(pointer: str | None) -> str:
    return "" if pointer is None else f"`{_cell(pointer).replace('`', '´')}`"


def _cell(said: str) -> str:
    """A text that cannot leave its cell or begin a tag."""
    return safe(said).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("|", "\\|")
