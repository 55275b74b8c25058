"""The account as Markdown for a comment: one row for each fingerprint, five open and the rest folded."""

import re
from collections.abc import Iterable

from .account import Change, Report, Same, code, is_failure, pattern, sentence, together, told_once
from .forms import Shown
from .lines import judgement, name, safe, sums, told_together, way

OPEN = 5
# A comment takes 65 536 characters on GitHub; what is around the rows needs some, too.
LIMIT = 60_000
AROUND = 2_000
NAMED = 20


def formed(report: Report, shown: Shown) -> bytes:
    """A run as Markdown of at most LIMIT bytes; what does not fit is said to be left out.

    What is captured stands in code spans only, where nothing is markup, a mention or a link.
    """
    told = told_once(report.items)
    heads = ["level", "reason", "op", "source", "target", "leaves", *(["documents"] if len(report.items) > 1 else [])]
    head = f"| {' | '.join([*heads, 'what that means'])} |\n" + "| --- " * (len(heads) + 1) + "|\n"
    failed = [
        f"- {_code(name(item))}: {found.text}" for item in report.items for found in item.findings if is_failure(found)
    ]
    rows = [_row(same, len(heads) > 6) for same in told if not is_failure(same.said)]
    named = failed[:NAMED] + ([f"- … and {len(failed) - NAMED} more"] if len(failed) > NAMED else [])
    room = LIMIT - AROUND - sum(len(line.encode()) for line in named)
    fitting = rows[: _fitting(rows, room)]
    parts = [f"### proxai {report.command}: {_text(told_together(report, told))}\n\n"]
    parts += [
        f"{_code(name(item))}: {way(item)}\n\n" for item in report.items if item.source and len(report.items) == 1
    ]
    if fitting:
        parts.append(head + "".join(fitting[:OPEN]) + "\n")
    if fitting[OPEN:]:
        summary = f"<details><summary>{len(fitting) - OPEN} more</summary>\n\n"
        parts.append(summary + head + "".join(fitting[OPEN:]) + "\n</details>\n\n")
    if len(fitting) < len(rows):
        parts.append(f"… and {len(rows) - len(fitting)} more, which do not fit in a comment.\n\n")
    parts += [line + "\n" for line in named] + (["\n"] if named else [])
    counted = [item for item in report.items if item.counts]
    if counted and (counts := together(counted).counts):
        parts.append(sums(counts, "source", "target") + "\n")
    return "".join(parts).rstrip("\n").encode() + b"\n"


def _fitting(rows: Iterable[str], room: int) -> int:
    count = 0
    for row in rows:
        room -= len(row.encode())
        if room < 0:
            break
        count += 1
    return count


def _row(same: Same, with_documents: bool) -> str:
    said = same.said
    cells = [said.level, code(said)]
    if isinstance(said, Change):
        cells += [said.op, _code(pattern(said.source)), _code(pattern(said.target))]
    else:
        cells += ["found", _code(said.at), ""]
    cells += [str(same.leaves), *([str(same.documents)] if with_documents else [])]
    told, judged = sentence(said) if isinstance(said, Change) else _text(said.text), judgement(said)
    return f"| {' | '.join([*cells, told + (f' ({_text(judged)})' if judged else '')])} |\n"


def _code(said: str | None) -> str:
    """A text as a code span that it cannot leave, nor the cell around it."""
    return "`" + re.sub("[|`<]", lambda found: f"\\x{ord(found[0]):02x}", safe(said)) + "`" if said else ""


def _text(said: str) -> str:
    """A text of ours that holds names: what could be markup in it is escaped."""
    return re.sub(r"""[^\w\s.,;:()'"?=%-]|_""", lambda found: f"&#{ord(found[0])};", safe(said))
