"""What a command does to one document: the target's bytes, and the item of the report that tells what became of it."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .. import text
from ..context import Context, Finding
from ..errors import Place, ProxaiError
from ..ir.events import DONE
from ..ledger import size
from ..pipe import Pipe, events, leaves, written
from ..report.account import (
    Change,
    Counts,
    Found,
    Item,
    Side,
    changes_of,
    counts_of,
    described,
    finding,
    rows_of_body,
    rows_of_collected,
    rows_of_exploded,
    rows_of_stream,
    with_values,
)
from ..report.json import Unbalanced
from ..translate import StreamTranslator, Translation, collect, explode, translate
from .documents import Document
from .faults import known_words
from .options import Call
from .places import placed


class How(NamedTuple):
    """How documents are translated: the target (None: its own protocol), what is known besides, and the switches."""

    target: str | None
    context: Context
    repair: bool = False
    skip: bool = False
    values: str = "short"
    places: bool = False
    pieces: str = "words"


class Outcome(NamedTuple):
    """A target document, its item, and what could not be translated (the item has it as findings, too)."""

    value: Any
    item: Item
    errors: tuple[ProxaiError, ...] = ()


def how(call: Call, context: Context) -> How:
    """What the options of a call say; a command without some of them leaves those as they are."""
    given = call.values
    choices = {"interleave": "true"} if given.get("interleave") else {}
    choices |= {"partial": "true"} if given.get("partial") else {}
    context = context._replace(choices=context.choices | choices)
    return How(
        given.get("to"),
        context,
        bool(given.get("repair")),
        call.on_error == "skip",
        call.values["values"],
        bool(call.report),
        given.get("pieces") or "words",
    )


def beginning(document: Document, size_of: int | None = None) -> Item:
    """The item of a document that nothing was done to yet."""
    part = document.part
    model = document.value.get("model") if isinstance(document.value, dict) else None
    source = Side(
        document.protocol,
        document.kind,
        document.sure,
        document.evidence,
        model if isinstance(model, str) else None,
        len(part.body) or size_of,
    )
    return Item(part.input.path, part.container, source, record=part.record)


def body(document: Document, how: How) -> Outcome:
    """A body in another protocol, of the same kind (a reply that failed may become an error)."""
    target = how.target or document.protocol
    done = translate(document.value, document.protocol, target, document.kind, how.context)
    rows = list(rows_of_body(done.ledger.entries))
    counts = counts_of(rows, size(document.value), size(done.value))
    kind = "error" if document.kind == "response" and _failed(done.value) else document.kind
    item = beginning(document)._replace(target=Side(target, kind, leaves=counts.target["leaves"]))
    changes: Iterable[Change] = with_values(changes_of(rows), document.value, done.value, how.values, _words(how))
    if how.places:
        changes = placed(changes, document.part.body, document.part.place)
    return Outcome(done.value, _settled(item, counts, changes, [*document.findings, *done.findings]))


def _failed(value: Any) -> bool:
    return isinstance(value.get("error"), dict) and not {"choices", "output", "content"} & set(value)


def pipe(document: Document, how: How) -> Pipe:
    """A pipe for a stream; `through` runs it."""
    return Pipe(document.protocol, how.target or document.protocol, how.context, how.repair, how.skip)


def through(document: Document, pipe: Pipe) -> Iterator[bytes]:
    """The target's stream, each piece as soon as it can be written."""
    for piece in document.part.pieces or ():
        yield pipe.feed(piece)
        if pipe.ended:
            return
    yield pipe.close()


def piped(document: Document, pipe: Pipe, how: How) -> Outcome:
    """What became of a stream, when all of it has gone through its pipe."""
    known = _words(how)
    samples = {} if how.values == "none" else pipe.samples
    before = {key: described(value, how.values, known) for key, value in samples.items()}
    rows = list(rows_of_stream(pipe.translator.account, before))
    counts = counts_of(rows, pipe.source_leaves, pipe.target_leaves)
    item = beginning(document, pipe.bytes)
    source = _sides(item)._replace(model=_model(pipe.first), leaves=pipe.source_leaves, events=pipe.read)
    target = Side(how.target or document.protocol, "stream", leaves=pipe.target_leaves, events=pipe.written)
    item = item._replace(source=source, target=target, status="cut" if pipe.errors else "ok")
    return Outcome(None, _settled(item, counts, changes_of(rows), pipe.findings, pipe.errors), tuple(pipe.errors))


def collected(document: Document, how: How) -> Outcome:
    """A stream as one body. Raises what the stream ends with, unless what there is was asked for."""
    target = how.target or document.protocol
    data = b"".join(document.part.pieces or ())
    found = events(data, document.protocol, how.skip)
    partial = how.context.chosen("partial")
    if found.errors and not partial and not how.skip:
        raise found.errors[0]
    done = collect(found.values, document.protocol, target, how.context)
    values = [event for event in found.values if event is not DONE]
    errors = list(found.errors)
    if not errors and not is_complete(found.values, document.protocol):
        errors.append(ProxaiError("truncated", "the stream ends before its end", Place(event=len(found.values))))
    rows = list(rows_of_collected(done.ledger.entries))
    counts = counts_of(rows, sum(map(leaves, values)), size(done.value))
    item = beginning(document, len(data))
    source = _sides(item)._replace(
        model=_model(values[0] if values else None), leaves=counts.source["leaves"], events=len(found.values)
    )
    kind = "error" if _failed(done.value) else "response"
    item = item._replace(
        source=source, target=Side(target, kind, leaves=counts.target["leaves"]), status="cut" if errors else "ok"
    )
    changes = with_values(changes_of(rows), None, done.value, how.values, _words(how))
    return Outcome(
        done.value, _settled(item, counts, changes, [*found.findings, *done.findings], errors), tuple(errors)
    )


def is_complete(stream: list[Any], protocol: str) -> bool:
    """Does a stream say its own last word?"""
    translator = StreamTranslator(protocol, protocol)
    for event in stream:
        translator.feed(event)
    translator.close()
    return translator.complete


def exploded(document: Document, how: How) -> Outcome:
    """A reply as a stream; the value is its bytes."""
    target = how.target or document.protocol
    done: Translation = explode(document.value, document.protocol, target, how.context, how.pieces)
    values = [event for event in done.value if event is not DONE]
    rows = list(rows_of_exploded(done.ledger.entries))
    counts = counts_of(rows, size(document.value), sum(map(leaves, values)))
    side = Side(target, "stream", leaves=counts.target["leaves"], events=len(done.value))
    changes = with_values(changes_of(rows), document.value, None, how.values, _words(how))
    item = beginning(document)._replace(target=side)
    return Outcome(written(done.value, target), _settled(item, counts, changes, [*document.findings, *done.findings]))


def _settled(
    item: Item, counts: Counts, changes: Iterable[Any], findings: Iterable[Finding], errors: Iterable[ProxaiError] = ()
) -> Item:
    """An item with its account. Raises `Unbalanced` where the account does not add up: that is a fault of ours."""
    if not counts.balanced:
        raise Unbalanced(item.path)
    told = [*map(found_of, findings), *map(failure, errors)]
    return item._replace(
        source=_sides(item)._replace(leaves=counts.source["leaves"]),
        counts=counts,
        changes=tuple(changes),
        findings=tuple(told),
    )


def _sides(item: Item) -> Side:
    assert item.source is not None
    return item.source


def _model(event: Any) -> str | None:
    """The model that the first event of a stream names."""
    homes = [event, *(event.get(key) for key in ("message", "response"))] if isinstance(event, dict) else []
    return next(
        (home["model"] for home in homes if isinstance(home, dict) and isinstance(home.get("model"), str)), None
    )


def _words(how: How) -> frozenset[str]:
    return known_words() if how.values == "short" else frozenset()


def found_of(noticed: Finding) -> Found:
    """A finding of a translation as the report tells it."""
    place = noticed.place
    if isinstance(place, Place):
        return finding(noticed.code, place.pointer or None, _numbers(place))
    if isinstance(place, tuple):
        return finding(noticed.code, text.pointer(place))
    return finding(noticed.code, place if isinstance(place, str) and place.startswith("/") else None)


def failure(error: ProxaiError) -> Found:
    """An error as the report tells it: the sentence of its code, not its message."""
    return finding(error.code, error.place.pointer or None, _numbers(error.place))


def _numbers(place: Place) -> dict[str, int] | None:
    known = {key: value for key, value in place._asdict().items() if key != "pointer" and value is not None}
    return known or None
