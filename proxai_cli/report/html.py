"""A run as one page to look at and to send round: both documents side by side, every leaf coloured by its fate.

The page holds all it needs and asks for nothing; what may run in it is named by its hash.
"""

from base64 import b64encode
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import accumulate, islice

from ..reasons import ERRORS, FINDINGS, LEVELS, REASONS
from .account import FATES, Counts, Found, Group, Item, Report, groups, told_once
from .forms import Shown
from .json import totals
from .lines import counted, how_sure, is_judged, name, told_together, way
from .panes import SIGNS, Room, level, said, side_by_side, tag

# Rows for leaves on the page, and documents on it: browsers get slow with more.
ROWS, DOCUMENTS = 20_000, 500
PLACES = 6
ENDS = {
    0: "The run passes: nothing has the level {} or a higher one",
    1: "The run fails: something has the level {} or a higher one",
    2: "The call was wrong",
    3: "Something could not be read to its end",
    4: "An output could not be written",
    70: "The program made a mistake",
}


def formed(report: Report, shown: Shown) -> bytes:
    """A run as an HTML document."""
    body = "\n".join(_body(report))
    return "\n".join(
        ["<!DOCTYPE html>", '<html lang="en">', *_head(report), "<body>", body, "</body>", "</html>", ""]
    ).encode()


def _head(report: Report) -> Iterator[str]:
    style, script = part("page.css"), part("page.js")
    policy = (
        f"default-src 'none'; style-src '{hashed(style)}'; script-src '{hashed(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    yield "<head>"
    yield '<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="color-scheme" content="light dark">'
    yield '<meta name="referrer" content="no-referrer">'
    yield tag("title", said(f"{_title(report)} – proxai {report.command}"))
    yield f"<style>{style}</style>"
    yield f"<script>{script}</script>"
    yield "</head>"


@cache
def part(name: str) -> str:
    """A part of the page that stands in a file beside this one."""
    return files(__package__).joinpath(name).read_text("utf-8")


def hashed(inline: str) -> str:
    """What a Content-Security-Policy calls an inline style or script by."""
    return "sha256-" + b64encode(sha256(inline.encode()).digest()).decode()


def _title(report: Report) -> str:
    return _name(next(iter(report.items))) if len(report.items) == 1 else f"{len(report.items)} documents"


def _name(item: Item) -> str:
    return f"{name(item)} → {item.against}" if item.against else name(item)


def _body(report: Report) -> Iterator[str]:
    items = report.items
    counts = [item.counts for item in items if item.counts]
    yield tag("header", *_top(report))
    if any(item.view for item in items):
        yield _filter(counts)
    if len(items) > 1:
        yield from _index(items)
    room = Room(ROWS)
    yield "<main>"
    for number, item in enumerate(islice(items, DOCUMENTS)):
        yield tag("section", *_item(item, number, room, len(items) > 1), id=f"document-{number}", class_="document")
    if len(items) > DOCUMENTS:
        yield tag("p", f"… and {counted(len(items) - DOCUMENTS, 'document')} not shown.", class_="cut")
    yield "</main>"
    yield from _glossary(items)
    yield _status()


def _top(report: Report) -> Iterator[str]:
    items = report.items
    yield tag("p", tag("b", "proxai"), said(f" {report.tool} · {report.command}"), class_="brand")
    yield tag("h1", said(_title(report)))
    if len(items) == 1:
        yield from _way(next(iter(items)))
    yield from _verdict(report)


def _way(item: Item) -> Iterator[str]:
    told = [tag("b", said(way(item) or item.container).replace("-&gt;", "→"))]
    told += [said(how_sure(item))] if how_sure(item) else []
    told += [said(f"model {item.source.model}")] if item.source and item.source.model and item.counts is None else []
    told += [tag("b", said(item.status), class_="status")] if item.status != "ok" else []
    yield tag("p", " · ".join(told), class_="way")


def _verdict(report: Report) -> Iterator[str]:
    """How the run ended; one that could not look at everything is never called clean."""
    verdict, levels = report.verdict, totals(report.items)
    yield tag("p", *(level(name, levels[name]) for name in reversed(LEVELS)), class_="levels")
    told = _blamed(report.items) or [_ended(report)]
    told += [] if verdict.complete else ["Not all of the input was looked at."]
    lists = {
        "policy": [verdict.policy] if verdict.policy else [],
        "baseline": [verdict.baseline] if verdict.baseline else [],
        "rules that fitted nothing": verdict.unused_rules,
        "rules that expired": verdict.expired_rules,
        "in the baseline, not met any more": verdict.gone,
    }
    told += [f"{title.capitalize()}: {', '.join(names)}." for title, names in lists.items() if names]
    yield tag("p", said(" ".join(told)), class_="verdict" if verdict.exit == 0 and verdict.complete else "verdict bad")


def _ended(report: Report) -> str:
    """How the run ended; of one that was judged also what of it is new, known or allowed."""
    verdict, told = report.verdict, told_once(report.items)
    end = ENDS.get(verdict.exit, "See the errors").format(verdict.fail_on)
    end = "Done" if verdict.exit == 0 and verdict.fail_on == "never" else end
    if is_judged(report, told):
        end = f"{end.partition(':')[0]}: {told_together(report, told)}"
    return f"{end} (exit code {verdict.exit})."


def _blamed(items: Collection[Item]) -> list[str]:
    """Whose the losses are, where somebody else's translation was looked at."""
    if not any(item.against for item in items):
        return []
    lost = [change for item in items for change in item.changes if change.level != "note"]
    theirs = sum(change.leaves for change in lost if change.avoidable)
    nobodys = sum(change.leaves for change in lost) - theirs
    if not lost:
        return ["Nothing is lost."] if all(item.status == "ok" for item in items) else []
    said = [f"{counted(theirs, 'loss')} {'is' if theirs == 1 else 'are'} the gateway's"] if theirs else []
    said += [f"{nobodys if theirs else counted(nobodys, 'loss')} cannot be helped"] if nobodys else []
    return [", ".join(said) + "."]


def _filter(counts: list[Counts]) -> str:
    """What of the rows is shown; without scripts, too."""
    fates = dict.fromkeys((*FATES["source"], *FATES["target"]))
    sums = {fate: sum({**each.target, **each.source}[fate] for each in counts) for fate in fates}
    boxes = [
        tag(
            "label",
            f'<input type="checkbox" id="show-{fate}" checked>',
            tag("span", f"{SIGNS[fate]} {count} {fate}", class_=fate),
        )
        for fate, count in sums.items()
    ]
    hints = (
        tag("span", "Each leaf is a link to its partner on the other side, or to its reason.", class_="still"),
        tag(
            "span",
            "Point at a leaf, or move: ",
            *(tag("kbd", key) for key in ("↑", "↓", "←", "→")),
            ", ",
            tag("kbd", "Enter"),
            " to the partner, ",
            tag("kbd", "n"),
            " ",
            tag("kbd", "p"),
            " next and previous loss",
            class_="moving",
        ),
    )
    return tag(
        "nav",
        tag("div", *boxes, class_="fates-shown"),
        tag("p", *hints, class_="hint"),
        class_="bar",
        aria_label="Shown",
    )


def _index(items: Collection[Item]) -> Iterator[str]:
    rows = []
    for number, item in enumerate(islice(items, DOCUMENTS)):
        rows.append(
            (
                tag("a", said(_name(item)), href=f"#document-{number}"),
                said(way(item) or item.container).replace("-&gt;", "→"),
                said(item.status),
                " ".join(level(name, count) for name, count in reversed(totals([item]).items()) if count),
            )
        )
    yield tag("div", _table(("document", "way", "status", "levels"), rows), class_="index")


def _item(item: Item, number: int, room: Room, with_title: bool) -> Iterator[str]:
    if with_title:
        yield tag("h2", said(_name(item)))
        yield from _way(item)
    if item.counts:
        yield _balance(item.counts)
    if item.findings:
        yield tag("h3", "Findings")
        yield tag("ul", *map(_finding, item.findings), class_="findings")
    if item.changes:
        yield from _groups(item)
    yield from side_by_side(item, number, room)


def _balance(counts: Counts) -> str:
    """The sums of both sides, as a line of words and as a bar."""
    sides = []
    for side, numbers in zip(("source", "target"), counts, strict=True):
        fates = counts.fates(side)
        terms = [tag("b", f"{count} {fate}", class_=fate) for fate, count in fates.items()]
        starts = accumulate(fates.values(), initial=0)
        parts = [
            f'<rect class="{fate}" x="{start}" width="{count}" height="1"/>'
            for (fate, count), start in zip(fates.items(), starts, strict=False)
        ]
        shape = f"0 0 {numbers['leaves'] or 1} 1"
        bar = tag("svg", *parts, class_="balance", viewBox=shape, preserveAspectRatio="none", aria_hidden="true")
        sides.append(tag("div", tag("p", f"{side} {numbers['leaves']} = ", " + ".join(terms)), bar))
    return tag("div", *sides, class_="sums")


def _finding(found: Found) -> str:
    place = found.place or {}
    told = [f"{key} {value}" for key, value in place.items() if key in ("line", "event")]
    told += [found.at] if found.at else []
    return tag(
        "li",
        level(found.level),
        " ",
        tag("a", said(found.code), href=f"#why-{found.code}"),
        " ",
        tag("bdi", said(" ".join(told)), class_="place") if told else "",
        " ",
        said(found.text),
    )


def _groups(item: Item) -> Iterator[str]:
    """The changes by reason, the most severe first, notes folded; with all places where the documents are not shown.

    What somebody else could have avoided stands apart, and first.
    """
    lost = [change for change in item.changes if change.level != "note" or change.avoidable]
    notes = [change for change in item.changes if change.level == "note" and not change.avoidable]
    parts = {"Changes by reason": lost}
    if item.against is not None:
        parts = {
            "Avoidable: the gateway did it, and need not have": [change for change in lost if change.avoidable],
            "Unavoidable: the target has no place for it": [change for change in lost if not change.avoidable],
        }
    parts["Notes by reason, where nothing is lost"] = notes
    for title, changes in parts.items():
        rows, is_open = groups(changes), changes is not notes
        if rows:
            cells = (_group(group, PLACES if item.view else None) for group in rows)
            table = _table(("level", "reason", "fate", "leaves", "places"), cells)
            leaves = counted(sum(group.leaves for group in rows), "leaf")
            summary = tag("summary", tag("b", title), f" · {leaves}")
            yield tag("details", summary, table, class_="reasons", open=is_open or not item.view)


def _group(group: Group, most: int | None) -> tuple[str, ...]:
    places = [f"{place or '/'}{f' ({count})' if count > 1 else ''}" for place, count in group.places.items()]
    shown = [tag("bdi", said(place)) for place in places[:most]]
    shown += [f"… and {counted(len(places) - len(shown), 'place')} more"] if len(shown) < len(places) else []
    return (
        level(group.level),
        tag("a", said(group.reason), href=f"#why-{group.reason}"),
        tag("span", f"{SIGNS[group.op]} {group.op}", class_=group.op),
        str(group.leaves),
        ", ".join(shown),
    )


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = tag("tr", *(tag("th", title, scope="col") for title in heads))
    body = (tag("tr", *(tag("td", cell) for cell in row)) for row in rows)
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="wide")


def _glossary(items: Iterable[Item]) -> Iterator[str]:
    """Every reason and finding of the page with its sentence: what links lead to, and where the script looks it up."""
    codes = dict.fromkeys(change.reason for item in items for change in item.changes)
    codes |= dict.fromkeys(found.code for item in items for found in item.findings)
    if not codes:
        return
    told = []
    for code in sorted(codes):
        known = REASONS.get(code) or FINDINGS.get(code) or ERRORS.get(code)
        told += [tag("dt", said(code), id=f"why-{code}"), tag("dd", said(known.text if known else ""))]
    more = tag("p", "More about each: ", tag("code", "proxai map CODE"), class_="hint")
    yield tag("section", tag("h2", "What the reasons mean"), tag("dl", *told), more, class_="glossary")


def _status() -> str:
    """Where the script tells about the leaf that is pointed at."""
    return tag("div", tag("p", class_="first"), tag("p", class_="second"), id="status", role="status", hidden=True)
