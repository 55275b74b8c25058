"""Two documents side by side as HTML: one row for each leaf, by its fate, with links to its partners and reasons.

All that comes from a capture goes through `said`, which lets nothing be markup.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby, islice
from typing import Any, NamedTuple

from .. import text
from ..ledger import CARRIED, CHANGED, DROPPED, IGNORED, SYNTHESIZED, VOLATILE, Path
from ..reasons import REASONS
from .account import Item, Side, View, pattern
from .lines import counted, safe
from .twigs import Link, Pane, Twig, leaves_of, letters, panes
from .view import END, Hidden

SIGNS = {CARRIED: "=", CHANGED: "≠", DROPPED: "−", SYNTHESIZED: "+", VOLATILE: "·", IGNORED: "·"}
LEVEL_SIGNS = {"note": "·", "loss": "▽", "risk": "▲", "unexplained": "?"}
ARROWS = {"s": "→", "t": "←"}
LONGEST, PREVIEW = 2000, 40
PREVIEWED = ("type", "role")
# A part without any change is folded if it has more leaves than this; so are events alike that are more than these.
FOLDED, ALIKE = 12, 3
# A leaf may be joined from many: the script is told of so many of them.
LINKS = 200
# A document with more leaves is not laid out at all.
LARGEST = 200_000


class Room:
    """How many rows the page may still hold."""

    def __init__(self, rows: int) -> None:
        self.left = rows


def side_by_side(item: Item, number: int, room: Room) -> Iterator[str]:
    """Both documents of an item, as trees or as a timeline of events; nothing for an item without a view."""
    view = item.view
    if view is None or item.source is None or item.target is None or item.counts is None:
        return
    if max(item.counts.source["leaves"], item.counts.target["leaves"]) > LARGEST:
        yield tag("p", "Documents of this size are not shown whole; the sums count all of them.", class_="cut")
        return
    ours, theirs = panes(item, view, number)
    taken = ours.settle(room.left // 2)
    room.left -= taken + theirs.settle(room.left - taken)
    for pane, side in ((ours, item.source), (theirs, item.target)):
        if pane.left_out:
            name = "source" if pane is ours else "target"
            yield tag(
                "p",
                f"Of the {name}’s {side.leaves} leaves {pane.left_out} are not shown, for want of room: carried ones "
                "first. The sums count all.",
                class_="cut",
            )
    if ours.events and theirs.events:
        yield from _timeline(item, view, ours, theirs)
        return
    sides = [
        tag(
            "section",
            _heading(name, side, item),
            tag("ul", *_shown(pane, other), class_="tree"),
            class_=f"pane {name}",
            data_side=name,
            aria_label=f"{name}: {side.protocol} {side.kind}",
        )
        for name, side, pane, other in (("source", item.source, ours, theirs), ("target", item.target, theirs, ours))
    ]
    yield tag("div", *sides, class_="panes")


def _heading(name: str, side: Side, item: Item) -> str:
    kind = "exchange" if item.container == "exchange" else side.kind
    told = [f"{side.protocol} {kind}", counted(side.leaves or 0, "leaf")]
    told += [counted(side.events, "event")] if side.events is not None else []
    return tag("h3", tag("b", name), " ", said(" · ".join(told)))


def _shown(pane: Pane, other: Pane) -> Iterator[str]:
    """The rows of a pane: of a stream its events, those alike folded."""
    if not pane.events:
        yield from _rows(pane, other, pane.root)
        return
    shown = [event for event in pane.root.inner if event.id]
    for events in _runs([(_likeness(event), event) for event in shown]):
        cards = [tag("li", _card(pane, other, event), class_="event", data_has=event.has) for event in events]
        if len(events) <= ALIKE:
            yield from cards
        else:
            summary = _run_summary(pane, events)
            inner = tag("details", tag("summary", *summary), tag("ul", *cards))
            yield tag("li", inner, class_="run", data_has=_has(events))
    yield from _more(len(pane.root.inner) - len(shown), "event")


def _rows(pane: Pane, other: Pane, twig: Twig) -> Iterator[str]:
    shown = [each for each in twig.inner if each.id]
    for each in shown:
        yield _branch(pane, other, each) if each.inner else tag("li", _leaf(pane, other, each), data_has=each.has)
    if len(shown) < len(twig.inner):
        yield from _more(sum(each.leaves for each in twig.inner if not each.id), "leaf")


def _more(count: int, word: str) -> Iterator[str]:
    if count:
        yield tag("li", f"… and {counted(count, word)} not shown", class_="cut")


def _branch(pane: Pane, other: Pane, twig: Twig) -> str:
    brackets = "[]" if isinstance(twig.value, list) else "{}"
    size = tag("span", f"{brackets[0]}{len(twig.value)}{brackets[1]}", class_="size")
    summary = tag("summary", _key(twig.key), size, _preview(twig.value), _fates(twig.fates), id=twig.id)
    folded = set(twig.fates) == {CARRIED} and twig.leaves > FOLDED
    inner = tag("details", summary, tag("ul", *_rows(pane, other, twig)), open=not folded)
    return tag("li", inner, data_has=twig.has)


def _preview(value: Any) -> str:
    """The word by which an object is told from others."""
    words = [value.get(name) for name in PREVIEWED] if isinstance(value, dict) else []
    word = next((word for word in words if isinstance(word, str)), "")
    return tag("span", said(word[:PREVIEW]), class_="preview") if word else ""


def _key(key: str) -> str:
    return tag("bdi", said(_cut(key)), class_="key")


def _fates(fates: Counter[str]) -> str:
    """How many leaves of each fate."""
    told = [tag("i", f"{fates[fate]}{sign}", class_=fate) for fate, sign in SIGNS.items() if fates[fate]]
    words = ", ".join(f"{fates[fate]} {fate}" for fate in SIGNS if fates[fate])
    return tag("span", *told, class_="fates", title=words) if told else ""


def _leaf(pane: Pane, other: Pane, twig: Twig) -> str:
    """A leaf's row: a link to its first partner, or else to its reason."""
    ends = [_partner(other, link, twig.rest) for link in twig.links]
    first = next((there.id for _, there in ends if there), "")
    why = next((link.why for link in twig.links if link.why), "")
    shown, kind = _value(twig.value)
    data = ";".join(
        " ".join((link.fate, link.why or "-", link.level or "-", there.id if there else "-", link.note or "-"))
        for link, (_, there) in islice(zip(twig.links, ends, strict=True), LINKS)
    )
    at = pane.where(twig.path)
    told = [(link, _places(other, at, paths)) for link, paths in _together(twig.links, [path for path, _ in ends])]
    words = [_told(link, place) for link, place in told] or [IGNORED]
    sentences = dict.fromkeys(REASONS[link.why].text for link in twig.links if link.why in REASONS)
    return tag(
        "a",
        tag("span", SIGNS[twig.fate], class_="sign"),
        _key(twig.key),
        tag("bdi", said(shown), class_=f"value {kind}"),
        *_because(told, ARROWS[pane.name[0]]),
        id=twig.id,
        class_=f"leaf {twig.fate}{' lost' if twig.worst else ''}",
        href=f"#{first}" if first else f"#why-{why}" if why else None,
        tabindex=None if first or why else "0",
        title=" ".join(sentences) or None,
        aria_label=f"{at}: {shown[:PREVIEW]}; {'; '.join(words)}",
        data_at=at,
        data_links=data or None,
    )


def _together(links: Sequence[Link], paths: list[Path | None]) -> Iterator[tuple[Link, list[Path]]]:
    """The links that say the same of several places (a text was joined from pieces, or cut in pieces) as one."""
    found: dict[Link, list[Path]] = {}
    for link, path in zip(links, paths, strict=True):
        found.setdefault(link._replace(other=None), []).extend([] if path is None else [path])
    yield from found.items()


def _places(other: Pane, at: str, paths: list[Path]) -> str:
    """The places on the other side, in short; nothing where it is the place on this side."""
    places = [other.where(path) for path in paths]
    if len(places) < 2:
        return "" if places == [at] else "".join(places)
    return f"{places[0]} and {len(places) - 1} more"


def _partner(other: Pane, link: Link, rest: Path) -> tuple[Path | None, Twig | None]:
    """Where a leaf stands on the other side, and the row there; inside of what was carried whole the same leaf."""
    if link.other is None:
        return None, None
    path = (*link.other, *rest) if link.fate == CARRIED else link.other
    return path, other.places.get(path) or other.places.get(link.other)


def _told(link: Link, place: str) -> str:
    """An entry in words."""
    because = f" because of {link.why}, {link.level}" if link.why else ""
    note = f", {link.note}" if link.note else ""
    return link.fate + (f" at {place}" if place else "") + because + note


def _because(told: list[tuple[Link, str]], arrow: str) -> Iterator[str]:
    """What stands at the end of a row: the other places, the reason and its level."""
    parts: list[str] = []
    for link, place in told:
        would = "would be " if link.fate == DROPPED else ""
        parts += [tag("bdi", f"{arrow} {would}{said(place)}", class_="place")] if place else []
        parts += [tag("span", said(link.why), class_="why"), level(link.level)] if link.why else []
        parts += [tag("em", link.note, class_=f"note-{link.note}")] if link.note else []
    if parts:
        yield tag("span", *parts, class_="because")


def level(name: str, count: int | None = None) -> str:
    """A level by sign, word and colour."""
    words = name if count is None else counted(count, name)
    return tag("b", f"{LEVEL_SIGNS[name]} {words}", class_=f"level {name}{' none' if count == 0 else ''}")


def _value(value: Any) -> tuple[str, str]:
    """A value as it is shown, and what it is."""
    if isinstance(value, Hidden):
        size = "" if value.size is None else f", {counted(value.size, 'character')}"
        return ("text" if value.type == "string" else value.type) + size, "hidden"
    kind = "string" if isinstance(value, str) else "word" if value is None or isinstance(value, bool) else "number"
    return _cut(text.dumps(value).decode()), kind if not isinstance(value, (dict, list)) else "word"


def _cut(shown: str) -> str:
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]} … {len(shown) - LONGEST} more characters"


class _Step(NamedTuple):
    """A source event (None: the end of the stream) and the target events that it let out."""

    event: Twig | None
    became: list[Twig]

    @property
    def events(self) -> list[Twig]:
        return [*([self.event] if self.event else []), *self.became]


def _timeline(item: Item, view: View, ours: Pane, theirs: Pane) -> Iterator[str]:
    became: dict[int, list[Twig]] = {}
    for event, number in zip(theirs.root.inner, view.by, strict=True):
        became.setdefault(number, []).append(event)
    steps = [_Step(event, became.get(at, [])) for at, event in enumerate(ours.root.inner)]
    steps += [_Step(None, became[len(steps)])] if len(steps) in became else []
    shown = [step for step in steps if any(event.id for event in step.events)]
    if item.source and item.target:
        yield tag("div", _heading("source", item.source, item), _heading("target", item.target, item), class_="heads")
    rows: list[str] = []
    for run in _runs([(_likeness(*step.events, step.event is None), step) for step in shown]):
        made = [tag("li", *_step(step, ours, theirs), class_="step", data_has=_has(step.events)) for step in run]
        if len(run) <= ALIKE:
            rows += made
            continue
        cells = (
            tag("span", *_run_summary(ours, [step.event for step in run if step.event]), class_="cell source"),
            tag("span", *_run_summary(theirs, [each for step in run for each in step.became]), class_="cell target"),
        )
        inner = tag("details", tag("summary", *cells), tag("ol", *made))
        rows.append(tag("li", inner, class_="run", data_has=_has(each for step in run for each in step.events)))
    yield tag("ol", *rows, *_more(len(steps) - len(shown), "event"), class_="timeline")


def _step(step: _Step, ours: Pane, theirs: Pane) -> Iterator[str]:
    source = _card(ours, theirs, step.event) if step.event else tag("p", "the end of the stream", class_="nothing")
    target = [_card(theirs, ours, event) for event in step.became if event.id]
    hidden = len(step.became) - len(target)
    target += [tag("p", f"… and {counted(hidden, 'event')} not shown", class_="cut")] if hidden else []
    yield tag("div", source, class_="cell source", data_side="source")
    nothing = tag("p", "nothing goes out here", class_="nothing")
    yield tag("div", *(target or [nothing]), class_="cell target", data_side="target")


def _card(pane: Pane, other: Pane, event: Twig) -> str:
    """An event: its number, type, what it says, and its leaves folded, unless something in it is lost."""
    number = tag("span", str(event.path[0] + 1), class_="nth")
    if not event.fates:
        words = "the end mark [DONE]" if event.value == END else "could not be read"
        return tag("p", number, words, id=event.id or None, class_="card plain")
    if not event.inner:  # an empty object
        return tag("div", number, _leaf(pane, other, event), class_="card plain")
    summary = tag("summary", number, _title(pane, event), _fates(event.fates), id=event.id)
    rows = tag("ul", *_rows(pane, other, event), class_="tree")
    return tag("details", summary, rows, class_="card", open=event.worst > 0)


def _type(event: Twig) -> str:
    kind = event.value.get("type") if isinstance(event.value, dict) else event.value
    return kind if isinstance(kind, str) else ""


def _title(pane: Pane, event: Twig) -> str:
    """The type of an event, and the first values of it that others do not have."""
    told = [tag("b", said(_type(event)))] if _type(event) else []
    told += [
        tag("span", tag("bdi", said(_name(leaf))), " ", said(_value(leaf.value)[0][:PREVIEW]))
        for leaf in _news(pane, event)[: 3 - len(told)]
    ]
    return tag("span", *told, class_="title")


def _news(pane: Pane, event: Twig) -> list[Twig]:
    """The leaves of an event that say what is not said in each: those that reach the other side, or of an event without
    a type all."""
    found = [leaf for leaf in leaves_of(event) if leaf.key != "type" and pattern(leaf.path[1:]) in pane.varying]
    return [leaf for leaf in found if leaf.fate in (CARRIED, CHANGED)] or ([] if _type(event) else found)


def _name(leaf: Twig) -> str:
    return next((key[:PREVIEW] for key in reversed(leaf.path) if isinstance(key, str)), "")


def _run_summary(pane: Pane, events: list[Twig]) -> Iterator[str]:
    """Events that are alike, in one line."""
    if not events:
        yield tag("span", "nothing goes out here", class_="nothing")
        return
    fates: Counter[str] = Counter()
    for event in events:
        fates += event.fates
    yield tag("span", f"{events[0].path[0] + 1}–{events[-1].path[0] + 1}", class_="nth")
    types = " ".join(filter(None, dict.fromkeys(map(_type, events)))) or ", ".join(
        map(_name, _news(pane, events[0])[:2])
    )
    yield tag("span", tag("b", said(types or "alike")), f" × {len(events)}", class_="title")
    yield _fates(fates)


def _likeness(*events: Twig | bool) -> list[Any]:
    """What is the same for events that are alike: type, and of each kind of place the fate and reasons."""
    return [
        event
        if isinstance(event, bool)
        else (
            _type(event),
            [(pattern(leaf.path[1:]), leaf.fate, [link.why for link in leaf.links]) for leaf in leaves_of(event)],
        )
        for event in events
    ]


def _runs(steps: list[tuple[Any, Any]]) -> Iterator[list[Any]]:
    """Neighbours that are alike together."""
    for _, run in groupby(steps, key=lambda step: step[0]):
        yield [step for _, step in run]


def _has(events: Iterable[Twig]) -> str:
    return letters({fate for event in events for fate in event.fates})


def said(captured: str) -> str:
    """A text as HTML that shows it and does nothing else."""
    return escape(safe(captured))


def tag(name: str, *inner: str, **attributes: str | bool | None) -> str:
    """An element around HTML; what the attributes say is escaped here."""
    told = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{said(value)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return f"<{name}{told}>{''.join(inner)}</{name}>"
