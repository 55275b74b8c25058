"""The mapping as `proxai map` shows it: not what somebody declared, but what the code does with each field."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from .. import text
from ..errors import ProxaiError
from ..ir.terms import TERMS, term
from ..ledger import Path, get
from ..protocols import PROTOCOLS
from ..reasons import ERRORS, FINDINGS, REASONS, level
from ..schemas import names
from ..tables import Field, Gap, Must, Nested, Protocol, Word
from .examples import SAMPLE, Example, examples

# Kinds of nodes that only one kind of document holds; all others stand in requests and in replies.
ONLY = {
    "request": {
        "request",
        "function_tool",
        "custom_tool",
        "hosted_tool",
        "tool_choice",
        "format",
        "cache_mark",
        "tool_result",
    },
    "response": {"reply", "usage", "citation", "finish"},
    "error": {"error"},
}
WHOLE = ("request", "reply")
# Said of a key whose object or list is taken apart: the lines of its own tables tell where the parts go.
IN_PARTS = "(in parts)"


# How many kinds of objects a line names.
NAMED = 3

Translate = Callable[[Any, str, str, str], Any]


class Line(NamedTuple):
    """What becomes of one field of the source in one way.

    `kind` is that of the document, `of` the types of the objects that have the field, `place` its JSON Pointer with `*`
    for each position; `there` is its place in the target, empty where it has none.
    """

    kind: str
    of: tuple[str, ...]
    place: str
    there: str
    reason: str
    level: str

    @property
    def note(self) -> str:
        """What the reason means."""
        known = REASONS.get(self.reason) or ERRORS.get(self.reason)
        return known.text if known else ""

    @property
    def types(self) -> str:
        """The types in short."""
        return ", ".join(self.of[:NAMED]) + (f", … {len(self.of) - NAMED} more" if len(self.of) > NAMED else "")


def mapping(source: str, target: str, translate: Translate, kind: str = "", field: str = "") -> list[Line]:
    """Every field of the source, and what becomes of it: as it shows when the smallest document with it is translated.

    Fields of dialects, which no published schema names, are told by the tables. `kind` narrows to a kind of document
    (a stream holds the fields of a response), `field` (a JSON Pointer, or its end) to a field.
    """
    kinds = ("request", "response", "error") if not kind else ("response" if kind == "stream" else kind,)
    wanted = [step for step in field.split("/") if step and step != "*" and not step.isdigit()]
    told: list[Line] = []
    for each in kinds:
        found: dict[tuple[str, str, str, str], list[str]] = {}
        for example in examples(source, each, probing=True):
            place = _pattern(example.path)
            if not wanted or _words(place)[-len(wanted) :] == wanted:
                of = _type_of(example, each)
                for there, why, grade in _fates(example, source, target, each, translate):
                    types = found.setdefault((place, there, why, grade), [])
                    types += [] if of in types else [of]
        told += _as_tree([Line(each, tuple(types), *said) for said, types in found.items()])
        dialects = dict.fromkeys(_dialects(source, target, each))
        told += [line for line in dialects if not wanted or _words(line.place)[-len(wanted) :] == wanted]
    return told


def _as_tree(lines: list[Line]) -> list[Line]:
    """The lines in the order of their first appearance, but what is inside of something behind it."""
    order: dict[str, int] = {}
    for line in lines:
        for prefix in _prefixes(line.place):
            order.setdefault(prefix, len(order))
    return sorted(lines, key=lambda line: [order[prefix] for prefix in _prefixes(line.place)])


def _prefixes(place: str) -> list[str]:
    return [place[: step.end()] for step in re.finditer("/[^/]*", place)]


def _fates(
    example: Example, source: str, target: str, kind: str, translate: Translate
) -> Iterator[tuple[str, str, str]]:
    """Where in the target the value of an example stands, for which reason, and of which level that is."""
    path = example.path
    try:
        entries = translate(example.document, source, target, kind).ledger.entries
    except ProxaiError as error:
        yield "", error.code, "refused"
        return
    ours = [entry for entry in entries if entry.source is not None and _touches(entry.source, path)]
    if _is_taken_apart(get(example.document, path)) and any(entry.target is not None for entry in ours):
        yield IN_PARTS, "", ""
        return
    for _, said, there, why, grade, *_ in ours:
        rest = path[len(said) :] if there is not None and why is None else ()
        yield "" if there is None else _pattern((*there, *rest)), why or "", grade or ""


def _touches(one: Path, other: Path) -> bool:
    """Is the one inside the other, or the other inside the one?"""
    length = min(len(one), len(other))
    return one[:length] == other[:length]


def _is_taken_apart(value: Any) -> bool:
    """Does a value hold objects, whose fields have lines of their own?"""
    return bool(value) and (
        isinstance(value, dict) or (isinstance(value, list) and any(isinstance(each, (dict, list)) for each in value))
    )


def _type_of(example: Example, kind: str) -> str:
    """By what the object that has the field is told from others."""
    home = get(example.document, example.path[:-1])
    said = [home.get(key) for key in ("type", "role")] if isinstance(home, dict) and len(example.path) > 1 else []
    return next(
        (word for word in said if isinstance(word, str) and word != SAMPLE), kind if len(example.path) == 1 else ""
    )


def _pattern(path: Path) -> str:
    return text.pointer(["*" if isinstance(key, int) else key for key in path])


def _words(place: str) -> list[str]:
    return [step for step in place.split("/") if step and step != "*"]


def _dialects(source: str, target: str, kind: str) -> Iterator[Line]:
    """What the tables of a kind have besides the published schema, joined with the target by its term."""
    known = names(source)
    for table in PROTOCOLS[source].tables.values():
        alone = {other for other, nodes in ONLY.items() if table.kind in nodes}
        for rule in table.rules:
            if isinstance(rule, Gap | Must) or rule.name in known or kind not in (alone or {"request", "response"}):
                continue
            there, why = _there(PROTOCOLS[target], table.kind, rule.term)
            grade = level(why, term(rule.term).steers) if why else ""
            yield Line(kind, (table.kind,), f"…/{rule.name}", there, why, grade)


def _there(target: Protocol, kind: str, said: str) -> tuple[str, str]:
    """The name by which the target says a term in this kind of node, or why it does not."""
    tables = [table for table in target.tables.values() if table.kind == kind]
    wider = [table for table in target.tables.values() if kind in WHOLE or table.kind in WHOLE]
    for table in [*tables, *wider]:
        rule = table.by_term.get(said)
        if isinstance(rule, Field | Nested | Word):
            return f"…/{rule.name}", ""
    gaps = [rule.why for table in tables if isinstance(rule := table.by_term.get(said), Gap)]
    return "", gaps[0] if gaps else term(said).why


def protocols() -> list[tuple[str, str, str, str]]:
    """Name, title, kinds and number of rules of each protocol."""
    return [
        (
            name,
            each.title,
            ", ".join([*each.read, "stream"]),
            str(sum(len(table.rules) for table in each.tables.values())),
        )
        for name, each in PROTOCOLS.items()
    ]


# What to do about a code, by its level; its own sentence may say more.
ADVICE = {
    "note": "Nothing is lost, and there is nothing to do.",
    "loss": "The target does not tell this; keep the source, or a side file (`proxai convert --side`) to come back.",
    "risk": "Look at each place before the target is sent: proxai diff CAPTURE --to P --format lines",
    "loss*": "Look at each place before the target is sent: proxai diff CAPTURE --to P --format lines",
    "unexplained": "Report it, with the command and the name of the field.",
}
# What somebody else's translation did is for them to mend.
COMPARED = dict.fromkeys(
    ("added", "differs", "not-carried"), "Tell whoever translated it, with each place: proxai diff A B --format lines"
)
# What to do about a finding, by the layer where it is seen.
FOUND = {
    "client": "The translation went on; clients that are strict may stop at this.",
    "": "The translation went on; look at the place that is named with it.",
}
SINCE = "0.1"


class Code(NamedTuple):
    """A code in full: what it is said of, its level (or exit code), its sentence, what to do, and since when it is."""

    code: str
    what: str
    level: str
    text: str
    advice: str
    since: str = SINCE


def codes() -> list[Code]:
    """Every reason, finding and error."""
    told = [
        Code(code, "reason", each.level, each.text, COMPARED.get(code, ADVICE[each.level]))
        for code, each in REASONS.items()
    ]
    told += [
        Code(code, f"finding, {each.layer}", each.level, each.text, FOUND.get(each.layer, FOUND[""]))
        for code, each in FINDINGS.items()
    ]
    return told + [
        Code(code, "error", f"exit {each.exit}", each.text, f"Try: {each.action}.") for code, each in ERRORS.items()
    ]


# The ways on which an example of a reason is looked for: those first whose documents are fewest.
_WAYS = (
    ("request", "chat", "messages"),
    ("request", "chat", "responses"),
    ("response", "chat", "messages"),
    ("response", "responses", "chat"),
    ("request", "responses", "messages"),
    ("response", "messages", "chat"),
    ("request", "messages", "chat"),
)
# Reasons that no small document shows: those of streams, of choices among several, of a paired request, of `diff A B`.
NOT_SHOWN = {
    "added", "differs", "from-request", "late-piece", "noise", "not-carried", "not-yet", "out-of-nowhere",
    "pieces-joined", "redacted", "room-for-thinking", "separator", "single-candidate", "stream-shape",
    "stream-was-cut", "sum-of-pieces", "unclaimed",
}  # fmt: skip
_LONGEST = 40


class Showing(NamedTuple):
    """An example of a reason: a kind of document, both protocols, and both places with what stands there."""

    code: str
    kind: str
    source: str
    target: str
    here: str
    there: str

    def __str__(self) -> str:
        here, there = (f" {place}" if place else "" for place in (self.here, self.there))
        return f"{self.source} {self.kind}{here} -> {self.target}{there or ', nowhere'}"


def showings(translate: Translate) -> Iterator[Showing]:
    """An example of each reason that a small document shows, from the first that does."""
    told: set[str] = set()
    for kind, source, target in _WAYS:
        for example in examples(source, kind, probing=True):
            try:
                done = translate(example.document, source, target, kind)
            except ProxaiError:
                continue
            for entry in done.ledger.entries:
                if entry.why and entry.why not in told:
                    told.add(entry.why)
                    here = _told(example.document, entry.source)
                    yield Showing(entry.why, kind, source, target, here, _told(done.value, entry.target))


def _told(document: Any, path: Path | None) -> str:
    if path is None:
        return ""
    value = text.dumps(get(document, path)).decode()
    return f"{text.pointer(path)} {value if len(value) <= _LONGEST else value[:_LONGEST] + ' …'}"


@cache
def kept() -> dict[str, Showing]:
    """The examples as `tests/tools/make_showings` has written them down, since finding them takes seconds."""
    said = text.loads(files(__package__).joinpath("showings.json").read_bytes())
    return {code: Showing(code, *each) for code, each in said.items()}


def explained(code: str) -> list[str]:
    """A code in full, the terms that are lost for it, and an example; empty where there is no such code."""
    found = [each for each in codes() if each.code == code]
    told: list[str] = []
    for each in found:
        told += [f"{each.code} ({each.what}, {each.level}, since {each.since})", f"  {each.text}"]
    if code in REASONS and REASONS[code].level == "loss*":
        told.append(
            "  loss*: a risk for what steers the reply (instructions, content, tools, limits, sampling), else a loss."
        )
    lost = [name for name, each in TERMS.items() if each.why == code]
    if found and lost and code != "no-equivalent":
        told.append(f"  Said of: {', '.join(lost)}.")
    if code in kept():
        told.append(f"  Example: {kept()[code]}")
    return told + [f"  {each.advice}" for each in found]
