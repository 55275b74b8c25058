"""`proxai validate`: is this what the protocol allows, and what clients accept?"""

from collections.abc import Collection, Iterable

from ..context import Finding
from ..errors import NotThatProtocol, Place, ProxaiError
from ..reasons import LEVELS
from ..report.account import Found, Item
from ..report.grid import grid
from ..report.lines import counted, how_sure, name, safe, what
from ..validate.profiles import LAYERS, PROFILES, Wanted, layer_of
from . import screen
from .documents import TOLD, Document, Told, told_by
from .inputs import inputs_of
from .options import CAPTURES, PAGER, PROTOCOL_WORDS, SOURCE, WHOLE, Call, Command, Option, telling
from .parts import Part, in_part, located, parsed
from .places import nearest
from .run import Run
from .translating import Outcome, bare_item, found_of, model_of, side_of

LIST = "list"
SHOWN = 4


def run(call: Call) -> int:
    """Hold every capture to its protocol; all are looked at, whatever is found."""
    if call.profile == LIST:
        screen.out(_profiles(call.verbose).encode())
        return 0
    given, told = inputs_of(call), told_by(call)
    for layer in call.layer:
        if layer not in LAYERS:
            raise ProxaiError("bad-call", f"there is no layer {layer!r}", hint=f"--layer {', '.join(LAYERS)}")
    if call.profile and call.layer and "client" not in call.layer:
        raise ProxaiError(
            "bad-call", "--profile is about the layer client, which --layer leaves out", hint="--layer client"
        )
    wanted = Wanted(tuple(layer for layer in LAYERS if not call.layer or layer in call.layer), call.profile)
    run = Run(call, to_stdout=True, table=lambda items, verbose: listing(items, wanted, verbose))

    def recognise(part: Part) -> Document:
        return _taken_as(part, told, call.values["as"])

    def work(document: Document) -> None:
        run.add(validated(document, wanted), document.part.input)

    run.each(given, recognise, work, go_on=True)
    return run.finish()


def _taken_as(part: Part, told: Told, protocol: str | None) -> Document:
    """A part as a document of the protocol that it is to be held to; without one, of its own.

    Raises what `recognised` does, but not that it looks like another protocol.
    """
    if protocol is None:
        return told.recognised(part)
    if part.pieces is not None and told.kind in (None, "stream"):
        return Document(part, protocol, "stream", TOLD, ())
    try:
        return told._replace(protocol=protocol).recognised(part)
    except NotThatProtocol:
        pass
    try:
        document = told.recognised(part)
        said = f"its words are those of {document.protocol}: {'; '.join(document.evidence[:3])}"
    except NotThatProtocol as error:
        if told.kind is None:
            error.hint = f"--as {protocol} --kind request, if it is one"
            raise
        value, noticed = parsed(part)
        document = Document(part, protocol, told.kind, TOLD, (), value, noticed)
        said = "it has not what one is known by"
    found = Finding("invalid-shape", (), f"no {protocol} {document.kind}: {said}")
    return document._replace(protocol=protocol, sure=TOLD, findings=(*document.findings, found))


def validated(document: Document, wanted: Wanted) -> Outcome:
    """What is wrong with a document. Raises `unrecognised` for the calls that there is no schema of."""
    from ..validate import StreamValidator, validate
    from ..validate.exchange import named_by, validate_exchange

    noticed = [found for found in document.findings if wanted.has(found.code)]
    errors, events, first, size = list[ProxaiError](), None, None, 0
    batch = _batch(document, wanted) if document.endpoint else None
    if batch is not None:
        noticed += batch
    elif document.endpoint:
        said = f"the {document.kind} of a call that creates no reply ({document.endpoint})"
        raise NotThatProtocol("unrecognised", f"not checked: {said} has no schema here", hint="proxai inspect")
    elif document.part.pieces is not None:
        stream = StreamValidator(document.protocol, wanted)
        for piece in document.part.pieces:
            stream.feed(piece)
        stream.close()
        noticed, errors = [*noticed, *stream.findings], [located(error, document.part) for error in stream.errors]
        events, first, size = stream.events, stream.first, stream.bytes
    elif document.is_exchange:
        checked = validate_exchange(document.value, document.protocol, wanted)
        noticed, errors, events = [*noticed, *checked.findings], checked.errors, checked.events
    else:
        head = document.part.head
        noticed += validate(
            document.value, document.protocol, document.kind, wanted, named_by(head.url) if head else ()
        )
    found = [each._replace(layer=layer_of(each.code)) for each in _placed(noticed, document)]
    item = bare_item(document)._replace(
        source=side_of(document, model_of(first), size, events=events),
        status="ok" if not errors else "cut" if any(error.code == "truncated" for error in errors) else "skipped",
        findings=tuple(found),
    )
    return Outcome(None, item, tuple(errors))


def _batch(document: Document, wanted: Wanted) -> list[Finding] | None:
    """What is wrong with the bodies that a batch holds; None where it is no batch, or holds none."""
    from ..endpoints.address import BATCHES
    from ..validate.batch import validate_batch

    is_alone = document.endpoint == BATCHES and not document.is_exchange
    return validate_batch(document.value, document.protocol, wanted) if is_alone else None


def _placed(noticed: Iterable[Finding], document: Document) -> list[Found]:
    """Findings as the report tells them, with the place in the input of the event, or of what they are about in a body;
    of a body that does not stand there as it is, the line of its record."""
    noticed, part = list(noticed), document.part
    paths = {each.place for each in noticed if type(each.place) is tuple}
    places = nearest(paths, part.body, part.place) if paths and part.body and not part.inside else {}
    found = list[Found]()
    for each in noticed:
        place = in_part(each.place, part) if isinstance(each.place, Place) else part.place
        found.append(found_of(each)._replace(place=places.get(each.place, place.numbers) or None))
    return found


def listing(items: Collection[Item], wanted: Wanted, verbose: bool) -> str:
    """Each capture with what was found, one row for what is the same at several places; then how much of each level."""
    lines, rows = list[str](), list[tuple[str, ...]]()
    for item in items:
        rows_of_item = _rows(item.findings) if item.source else []
        rows += rows_of_item
        lines.append(_headed(item, wanted, verbose))
        if verbose and item.source:
            lines += [f"  evidence: {safe(one)}" for one in item.source.evidence]
        lines += ["  " + line for line in grid(("", "", "", "", ""), rows_of_item)[1:]]
    sums = [(level, sum(row[0] == level for row in rows)) for level in reversed(LEVELS)]
    valid = sum(item.status == "ok" and not item.findings for item in items)
    unread = sum(item.source is None for item in items)
    said = [f"{len(items)} captures", *([f"{valid} {_clean(wanted)}"] if valid else [])] if len(items) > 1 else []
    said += [f"{unread} not checked"] if unread else []
    said += [f"{counted(count, level)}" for level, count in sums if count]
    return "\n".join([*lines, *([", ".join(said)] if said else [])]) + "\n"


def _headed(item: Item, wanted: Wanted, verbose: bool) -> str:
    """What a capture is; that it is valid is said only if all of it was read."""
    if item.source is None:
        return f"{name(item)}: not checked ({', '.join(found.code for found in item.findings)})"
    said = [f"{name(item)}: {item.source.protocol} {what(item)}"]
    said += [f"{item.source.events} events"] if item.source.events is not None else []
    said += {"ok": [], "cut": ["cut"]}.get(item.status, ["not all of it could be read"])
    sure = f" ({how_sure(item)})" if item.source.sure == "likely" or verbose else ""
    return ", ".join(said) + sure + (f": {_clean(wanted)}" if item.status == "ok" and not item.findings else "")


def _clean(wanted: Wanted) -> str:
    """What may be said where nothing was found."""
    if wanted.layers == LAYERS and wanted.profile is None:
        return "valid"
    return f"nothing found ({', '.join(wanted.layers)}{f'; {wanted.profile}' if wanted.profile else ''})"


def _rows(findings: Iterable[Found]) -> list[tuple[str, ...]]:
    """Level, layer, code, place and text, the most severe first; what is the same of several events is told once."""
    found: dict[tuple[str, ...], list[int]] = {}
    for each in findings:
        place = each.place or {}
        where = "" if "event" in place or each.at else f"line {place['line']}" if "line" in place else ""
        key = (each.level, each.layer, each.code, each.at or where, each.text)
        found.setdefault(key, []).extend([place["event"]] if "event" in place else [])
    rows = [
        (level, layer, code, " ".join(filter(None, [_numbers(events), safe(at)])), safe(text.rstrip(".")))
        for (level, layer, code, at, text), events in found.items()
    ]
    return sorted(rows, key=lambda row: -LEVELS.index(row[0]))


def _numbers(events: list[int]) -> str:
    """`event 3, 41-44`; of many only the first."""
    spans: list[list[int]] = []
    for number in sorted(set(events)):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    told = [str(first) if first == last else f"{first}-{last}" for first, last in spans[:SHOWN]]
    more = ["…"] if len(spans) > SHOWN else []
    return "event " + ", ".join([*told, *more]) if told else ""


def _profiles(verbose: bool) -> str:
    """The profiles; with `verbose` what breaks each, and how that is known."""
    rows = [(key, profile.title) for key, profile in PROFILES.items()]
    lines = list[str]()
    for line, profile in zip(grid(("", ""), rows)[1:], PROFILES.values(), strict=True):
        lines.append(line)
        if verbose:
            lines += ["  " + each for each in grid(("", ""), list(profile.breaks.items()))[1:]]
    return "\n".join(lines) + "\n"


COMMAND = Command(
    "validate",
    "Is this what the protocol allows, and what clients accept?",
    ("proxai validate gw.sse", "proxai validate captures/ --layer order --layer client --profile openai-go"),
    CAPTURES,
    (
        Option("as", "hold it to this protocol, not to its own", "", "P", PROTOCOL_WORDS),
        Option("layer", "look at this alone; repeatable", "", "LAYER", LAYERS, many=True),
        Option("profile", "of the third layer, what breaks this client", "", "NAME", (LIST, *PROFILES)),
        *SOURCE,
        PAGER,
        *telling("risk"),
    ),
    run,
    WHOLE,
)
