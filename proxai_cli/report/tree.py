"""The account as a tree for the screen: a document, its reasons, the places. `rich` is loaded when it is asked for."""

from itertools import groupby

from .account import Change, Item, Report, Same, pattern, sentence, told_once
from .console import STYLE, screen
from .forms import Shown
from .lines import how_sure, judgement, message, name, places_of, safe, sums, way


def formed(report: Report, shown: Shown) -> bytes:
    """A run as one tree for each document, the most severe reason first, with its sums at the end."""
    from rich.text import Text
    from rich.tree import Tree

    console, out = screen(shown.width, shown.color)
    for item in report.items:
        root = Tree(Text("   ".join(said for said in (name(item), way(item), how_sure(item)) if said)))
        for evidence in item.source.evidence if shown.verbose and item.source else ():
            root.add(Text(f"evidence: {safe(evidence)}"))
        for (level, reason, op), these in groupby(_changes(item), key=_head):
            head = Text.assemble((level, STYLE[level]), f"  {reason}  {op}")
            branch = root.add(head)
            for number, same in enumerate(these):
                if not number:
                    head.append(f": {sentence(same.said)}")
                judged = judgement(same.said)
                branch.add(Text(places_of(same.said, same.leaves, pattern) + (f" [{judged}]" if judged else "")))
        for found in item.findings:
            root.add(Text.assemble((found.level, STYLE[found.level]), f"  {found.code}  {message(found)}"))
        if item.counts:
            root.add(Text(sums(item.counts, "source", "target")))
        console.print(root)
    return out.getvalue().encode()


def _changes(item: Item) -> list[Same]:
    """The changes of a document by fingerprint, those of one reason together."""
    found = [same for same in told_once([item]) if isinstance(same.said, Change)]
    order = {head: number for number, head in enumerate(dict.fromkeys(map(_head, found)))}
    return sorted(found, key=lambda same: order[_head(same)])


def _head(same: Same) -> tuple[str, str, str]:
    said = same.said
    return (said.level, said.reason, said.op) if isinstance(said, Change) else (said.level, said.code, "found")
