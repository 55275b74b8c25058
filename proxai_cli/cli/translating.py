"""What a command does to one document: the target document, and the item of the report that tells what became of it."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from .. import text
from ..context import Context, Finding
from ..errors import Place, ProxaiError
from ..ir.events import DONE
from ..ledger import size
from ..pipe import Events, Pipe, events, leaves, written
from ..report.account import (
    Change,
    Found,
    Item,
    Row,
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
from ..translate import StreamTranslator, Translation, collect, explode, kind_of, translate
from .documents import Document, asked
from .faults import known_words
from .options import Call
from .parts import in_part, located
from .places import placed


class How(NamedTuple):
    """How documents are translated: the target (None: its own protocol), what is known besides, and the switches.

    `values` says which captured values a report may tell, `places` whether it tells where in a body they stand, and
    `whole` whether it shows both documents whole.
    """

    target: str | None
    context: Context
    repair: bool = False
    skip: bool = False
    values: str = "short"
    places: bool = False
    pieces: str = "words"
    whole: bool = False

    def to(self, document: Document) -> str:
        """The target of a document."""
        return self.target or document.protocol

    def context_of(self, document: Document) -> Context:
        """The context of one document: also the headers, and the request, that were captured with it."""
        context, head = self.context, document.part.head
        if context.request is None:
            request, protocol = asked(document)
            context = context._replace(request=request, request_protocol=protocol)
        return context._replace(headers=head.headers) if head else context


class Outcome(NamedTuple):
    """A target document, its item, and what could not be translated (which the item has as findings, too)."""

    value: Any
    item: Item
    errors: tuple[ProxaiError, ...] = ()


def how(call: Call, context: Context) -> How:
    """What the options of a call say; a command that does not have one of them leaves it as it is."""
    given = call.values
    switches = {name: "true" for name in ("interleave", "partial", "repair") if given.get(name)}
    return How(
        target=given.get("to"),
        context=context._replace(choices=context.choices | switches),
        repair=bool(given.get("repair")),
        skip=call.on_error == "skip",
        values=given["values"],
        places=bool(call.report),
        pieces=given.get("pieces") or "words",
        whole=call.format == "html" or any(said.startswith("html:") or said.endswith(".html") for said in call.report),
    )


def bodies(document: Document, how: How) -> Iterator[Outcome]:
    """A body; of a reply that has several choices, all of which are wanted, one for each (`spec/responses.md` §12)."""
    listed = document.value.get("choices") if isinstance(document.value, dict) else None
    numbers = _numbers_of(listed) if isinstance(listed, list) and document.kind == "response" else []
    for each in _one_by_one(document, how, numbers):
        yield body(document, each)


def _one_by_one(document: Document, how: How, numbers: list[int]) -> Iterator[How]:
    """How a reply is translated; where all of its choices are wanted, once for each."""
    choices = how.context.choices
    if choices.get("choice") != "all" or how.to(document) == document.protocol or len(numbers) < 2:
        yield how
        return
    if document.part.envelope:
        raise ProxaiError(
            "bad-call", "a record has one place for each body, and choice=all gives several", hint="--envelope bare"
        )
    for number in numbers:
        yield how._replace(context=how.context._replace(choices=choices | {"choice": f"all/{number}"}))


def _numbers_of(choices: list[Any]) -> list[int]:
    """What choices are selected by: the index that each says, else its place."""
    said = [each.get("index", at) for at, each in enumerate(choices) if isinstance(each, dict)]
    return list(dict.fromkeys(each for each in said if type(each) is int and each >= 0))


def body(document: Document, how: How) -> Outcome:
    """A body, or a whole exchange, in another protocol, of the same kind (a reply that failed may become an error)."""
    done = translated(document, how.to(document), how.context_of(document))
    before, after = accounted(document, document.value), accounted(document, done.value, how.to(document))
    rows = list(rows_of_body(done.ledger.entries))
    source = side_of(document, leaves=size(before))
    target = Side(how.to(document), _kind(document, done.value), leaves=size(after))
    shown = _without_credentials(document, how) if how.values == "full" else before
    changes: Iterable[Change] = with_values(changes_of(rows), shown, after, how.values, words_told(how))
    if how.places:
        changes = in_input(changes, document)
    errors = tuple(_as_error(noticed, how) for noticed in done.findings if noticed.code == "truncated")
    noticed = [each for each in done.findings if each.code != "truncated"]
    item = _item(document, source, target, rows, changes, [*document.findings, *noticed], errors)
    if how.whole:
        from .views import of_bodies

        item = item._replace(view=of_bodies(shown, after, done.ledger.entries, hiding_for(how)))
    return Outcome(done.value, item, errors)


def _as_error(noticed: Finding, how: How) -> ProxaiError:
    """What went wrong inside an exchange that was translated all the same."""
    place, end = Place(pointer=text.pointer(noticed.place or ())), "`proxai convert --repair` ends it properly"
    hint = "capture it again, from its first event to its last" if how.repair else end
    return ProxaiError(noticed.code, "the stream inside it ends before its end", place, hint)


def hiding_for(how: How) -> Callable[[Any], Any]:
    """What makes a whole document one that a report may show."""
    from .views import hiding

    return hiding(how.values, words_told(how))


def translated(document: Document, target: str, context: Context) -> Translation:
    """A body or exchange in another protocol, with the account of it."""
    if document.is_exchange:
        from ..exchange import translate_exchange

        return translate_exchange(document.value, document.protocol, target, context)
    if document.endpoint:
        from ..endpoints import translate_endpoint

        return translate_endpoint(document.value, document.protocol, target, document.endpoint, document.kind, context)
    return translate(document.value, document.protocol, target, document.kind, context)


def accounted(document: Document, value: Any, protocol: str = "") -> Any:
    """The value whose leaves an account speaks of: of an exchange its bodies as values, though they stand as text."""
    if not document.is_exchange:
        return value
    from ..exchange import opened

    return opened(value, protocol or document.protocol)[0]


def _without_credentials(document: Document, how: How) -> Any:
    """The source as a report may tell it: an exchange goes home without its credentials, unless they are wanted."""
    if not document.is_exchange:
        return document.value
    return accounted(document, translated(document, document.protocol, how.context).value)


def pipe(document: Document, how: How, comment: Callable[[bytes], bytes] | None = None) -> Pipe:
    """A pipe for a stream; `through` runs it. `comment` says what becomes of comment lines."""
    ends = document.protocol, how.to(document)
    made = Pipe(*ends, how.context_of(document), how.repair, how.skip, comment)
    if how.whole:
        from .views import Watched

        made.translator = Watched(*ends, how.context_of(document), how.repair, hiding_for(how))
    return made


def through(document: Document, pipe: Pipe, one_by_one: bool = False) -> Iterator[bytes]:
    """The target's stream, each piece as soon as it can be written; `one_by_one` gives what came together apart."""
    for piece in document.part.pieces or ():
        if one_by_one:
            yield from pipe.pieces(piece)
        else:
            yield pipe.feed(piece)
        if pipe.ended:
            return
    yield pipe.close()


def piped(document: Document, pipe: Pipe, how: How) -> Outcome:
    """What became of a stream, when all of it has gone through its pipe."""
    samples, known = {} if how.values == "none" else pipe.samples, words_told(how)
    before = {key: described(value, how.values, known) for key, value in samples.items()}
    places = {key: in_part(place, document.part).numbers for key, place in pipe.places.items()}
    for error in pipe.errors:
        located(error, document.part)
    rows = list(rows_of_stream(pipe.translator.account, before, places))
    source = side_of(document, model_of(pipe.first), pipe.bytes, pipe.source_leaves, pipe.read)
    target = Side(how.to(document), "stream", leaves=pipe.target_leaves, events=pipe.written)
    item = _item(document, source, target, rows, changes_of(rows), pipe.findings, pipe.errors)
    if how.skip and pipe.translator.complete and pipe.errors:
        item = item._replace(status="skipped")
    if how.whole:
        from .views import Watched

        item = item._replace(view=pipe.translator.view() if isinstance(pipe.translator, Watched) else None)
    return Outcome(None, item, tuple(pipe.errors))


def collected(document: Document, how: How) -> Iterator[Outcome]:
    """A stream as one body, or as one for each of its choices, if all of them are wanted.

    Raises what the stream ends with before its end, unless what there is was asked for (`partial`).
    """
    data = b"".join(document.part.pieces or ())
    found = events(data, document.protocol, how.skip)
    listed = [event.get("choices") for event in found.values if isinstance(event, dict)]
    numbers = _numbers_of(
        [
            {"index": 0, **each}
            for choices in listed
            if isinstance(choices, list)
            for each in choices
            if isinstance(each, dict)
        ]
    )
    for each in _one_by_one(document, how, sorted(numbers)):
        yield _collected(document, each, data, found)


def _collected(document: Document, how: How, data: bytes, found: Events) -> Outcome:
    errors, partial = list(found.errors), how.context.chosen("partial")
    if errors and not partial and not how.skip:
        raise errors[0]
    done = collect(found.values, document.protocol, how.to(document), how.context_of(document))
    if partial and not errors and not _is_complete(found.values, document.protocol):
        errors.append(ProxaiError("truncated", "the stream ends before its end", Place(event=len(found.values))))
    rows = list(rows_of_collected(done.ledger.entries))
    values = [event for event in found.values if event is not DONE]
    source = side_of(document, model_of(values[0]), len(data), sum(map(leaves, values)), len(found.values))
    target = Side(how.to(document), _kind(document, done.value), leaves=size(done.value))
    changes = with_values(changes_of(rows), None, done.value, how.values, words_told(how))
    item = _item(document, source, target, rows, changes, [*found.findings, *done.findings], errors)
    if how.whole:
        from .views import of_collected

        item = item._replace(view=of_collected(found.values, done.value, done.ledger.entries, hiding_for(how)))
    return Outcome(done.value, item, tuple(errors))


def exploded(document: Document, how: How) -> Outcome:
    """A reply as a stream; the value is its bytes."""
    done = explode(document.value, document.protocol, how.to(document), how.context_of(document), how.pieces)
    rows = list(rows_of_exploded(done.ledger.entries))
    values = [event for event in done.value if event is not DONE]
    source = side_of(document, leaves=size(document.value))
    target = Side(how.to(document), "stream", leaves=sum(map(leaves, values)), events=len(done.value))
    changes = with_values(changes_of(rows), document.value, None, how.values, words_told(how))
    item = _item(document, source, target, rows, changes, [*document.findings, *done.findings])
    if how.whole:
        from .views import of_exploded

        item = item._replace(view=of_exploded(document.value, done.value, done.ledger.entries, hiding_for(how)))
    return Outcome(written(done.value, target.protocol), item)


def inspected(document: Document, how: How) -> Outcome:
    """What a document is, without translating it; a stream is read to its end."""
    if document.part.pieces is None:
        source = side_of(document, leaves=size(accounted(document, document.value)))
        told = tuple(map(found_of, document.findings))
        return Outcome(None, bare_item(document)._replace(source=source, findings=told))
    how = how._replace(whole=False)
    way_through = pipe(document, how)
    for _ in through(document, way_through):
        pass
    outcome = piped(document, way_through, how)
    return outcome._replace(item=outcome.item._replace(target=None, counts=None, changes=()))


def side_of(
    document: Document, model: str | None = None, length: int = 0, leaves: int | None = None, events: int | None = None
) -> Side:
    """The source's side; what a stream's bytes say of it comes from whoever read them."""
    return Side(
        document.protocol,
        document.kind,
        document.sure,
        document.evidence,
        model or document.model or model_of(document.value),
        length or len(document.part.body),
        leaves,
        events,
    )


def found_of(noticed: Finding) -> Found:
    """A finding of a translation as the report tells it."""
    place = noticed.place
    if isinstance(place, Place):
        found = finding(noticed.code, place.pointer or None, place.numbers or None)
    elif isinstance(place, tuple):
        found = finding(noticed.code, text.pointer(place))
    else:
        found = finding(noticed.code, place if isinstance(place, str) and place.startswith("/") else None)
    return found._replace(text=noticed.said) if noticed.said else found


def failure(error: ProxaiError) -> Found:
    """An error as the report tells it: the sentence of its code, and its place."""
    return finding(error.code, error.place.pointer or None, error.place.numbers or None)


def _item(
    document: Document,
    source: Side,
    target: Side,
    rows: list[Row],
    changes: Iterable[Change],
    findings: Iterable[Finding],
    errors: Iterable[ProxaiError] = (),
) -> Item:
    """The item of a document. Raises `Unbalanced` where its account does not add up: that is a fault of ours."""
    counts = counts_of(rows, source.leaves or 0, target.leaves or 0)
    if not counts.balanced:
        raise Unbalanced(document.part.input.path)
    failures = [*map(failure, errors)]
    return bare_item(document)._replace(
        source=source,
        target=target,
        status="cut" if failures else "ok",
        counts=counts,
        changes=tuple(changes),
        findings=(*map(found_of, findings), *failures),
    )


def in_input(changes: Iterable[Change], document: Document) -> list[Change]:
    """The changes of a body with their places in the input; where it does not stand there as it is, the line of its
    record."""
    part = document.part
    found = placed(changes, part.body, part.place)
    if not part.inside:
        return found
    line = {"line": part.place.line or 1}
    return [change._replace(place=line if change.place else None) for change in found]


def bare_item(document: Document) -> Item:
    """An item that says of a document only where it stands."""
    part = document.part
    label = " ".join(filter(None, (part.label, document.endpoint)))
    return Item(part.input.path, part.container, record=part.record, label=label or None)


def _kind(document: Document, value: Any) -> str:
    """What came of it; of a reply (or its stream, collected) an error where the target says failures that way."""
    if not document.is_reply_or_request or document.kind not in ("response", "stream"):
        return document.kind
    return kind_of(value, "response")


def model_of(value: Any) -> str | None:
    """The model that a body, or the first event of a stream, names."""
    homes = [value, *(value.get(key) for key in ("message", "response"))] if isinstance(value, dict) else []
    return next(
        (home["model"] for home in homes if isinstance(home, dict) and isinstance(home.get("model"), str)), None
    )


def _is_complete(stream: list[Any], protocol: str) -> bool:
    """Does a stream say its own last word?"""
    translator = StreamTranslator(protocol, protocol)
    for event in stream:
        translator.feed(event)
    translator.close()
    return translator.complete


def words_told(how: How) -> frozenset[str]:
    """The captured words that a report may tell."""
    return known_words() if how.values == "short" else frozenset()
