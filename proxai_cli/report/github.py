"""The account as workflow commands, which GitHub shows as annotations: one for each fingerprint, errors first."""

from .account import FORGIVEN, Report, Same, code, pattern, severity, told_once
from .forms import Shown
from .lines import message, safe, told_together

KINDS = ("notice", "warning", "error", "error")
# GitHub shows so many annotations of a kind for one step. The last notice is the summary.
SHOWN = {"error": 10, "warning": 10, "notice": 9}


def formed(report: Report, shown: Shown) -> bytes:
    """One command for what is new or denied, the most severe first, and one that sums up the run.

    Where there are more of a kind than are shown, the last one says how many, and where they are told.
    """
    told = told_once(report.items)
    counting = [same for same in told if same.said.state not in FORGIVEN]
    elsewhere = f"report: {', '.join(map(safe, shown.elsewhere))}" if shown.elsewhere else ""
    lines = []
    for kind, room in SHOWN.items():
        these = [same for same in counting if KINDS[severity(same.said)] == kind]
        fitting = these if len(these) <= room else these[: room - 1]
        lines += [_annotation(kind, same) for same in fitting]
        if len(fitting) < len(these):
            more = f"{len(these) - len(fitting)} more {kind}s; {elsewhere or '--report FILE.json tells all'}"
            lines.append(command(kind, more, title="proxai"))
    summed = told_together(report, told) + (f"; {elsewhere}" if elsewhere else "")
    return "".join([*lines, command("notice", summed, title="proxai")]).encode()


def command(name: str, data: str, **properties: str) -> str:
    """A workflow command as a line of its own, escaped as GitHub's runner undoes it."""
    said = ",".join(f"{key}={_escaped(value, property=True)}" for key, value in properties.items())
    return f"::{name} {said}::{_escaped(data)}\n"


def _annotation(kind: str, same: Same) -> str:
    said, item, place = same.said, same.item, same.said.place or {}
    told = message(said, same.leaves, pattern) + (f" In {same.documents} documents." if same.documents > 1 else "")
    known = {"file": "" if item.path == "-" else safe(item.path.removeprefix("./"))}
    known |= {"line": str(place.get("line", "")), "col": str(place.get("column", "")), "title": code(said)}
    return command(kind, told, **{key: value for key, value in known.items() if value})


def _escaped(said: str, property: bool = False) -> str:
    said = said.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return said.replace(":", "%3A").replace(",", "%2C") if property else said
