"""`proxai diff A B`: one pair of captures, or the pairs of two directories or of two files of records."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

from .. import text
from ..bulk import spread
from ..compare import Capture, Difference, compare
from ..context import Finding
from ..errors import NotReadable, NotThatProtocol, OutOfOrder, Place, ProxaiError
from ..ir.events import DONE
from ..ledger import CARRIED, CHANGED, DROPPED, IGNORED, SYNTHESIZED, VOLATILE, Entry, Path, get, size
from ..pipe import events
from ..report.account import Change, Item, Side, counts_of, finding, rows_of_body, with_values
from ..report.json import Unbalanced
from ..report.lines import safe
from ..translate import Translation, collect, kind_of
from .documents import Document, Told, told_by
from .inputs import STDIN, Input, inputs
from .options import Call, globs_of, pointer_of
from .outputs import spare
from .parts import Part, Reading, opened, parsed, reading, records
from .run import Run
from .translating import How, Outcome, bare_item, found_of, hiding_for, how, in_input, model_of, side_of, words_told

# What records are told apart by where nothing else is said.
NAMES = ("custom_id", "id")


class Way(NamedTuple):
    """How two captures are compared: what is known of the first and of the second, and what is not looked at."""

    told: Told
    how: How
    volatile: bool
    left_out: Callable[[Path], bool]


class Whole(NamedTuple):
    """A document as one body; of a stream also the place of each event, and the event of each leaf of the body."""

    document: Document
    value: Any
    kind: str
    length: int
    places: list[Place]
    events: dict[Path, int]


def compare_captures(call: Call) -> int:
    """Tell what became of the first capture, or of each of its documents, in the second. Raises `bad-call`."""
    if len(call.words) != 2:
        raise ProxaiError(
            "bad-call",
            "without --to, diff compares two captures",
            hint="proxai diff CAPTURE... --to P   or   proxai diff A B",
        )
    first, second = call.words
    if first == second == STDIN:
        raise ProxaiError("bad-call", "stdin can be only one of the two captures", hint="proxai diff A -")
    ignored, key = _ignored(call), _key(call.pair_by)
    run, told = Run(call, to_stdout=True), told_by(call)
    if not spread(call.jobs, call.engine).is_alone:
        run.note("two captures, or pairs of them, are compared in one process; --jobs and --engine speed up diff --to")
    way = Way(told, how(call, told.context)._replace(places=True), call.volatile, ignored)
    ours, theirs = inputs([first]), inputs([second])
    for place in run.places:
        spare(place, [*ours, *theirs])
    names, reads = _Names(key, call.pair_by), reading(call)._replace(bare=True)
    for one, two in _paired(ours, theirs):
        done = _unpaired(run, one, reads) if two is None else _compared(run, way, one, two, names, reads)
        if not done and call.on_error != "skip":
            break
    if names.pointer and names.looked and not names.met:
        run.note(f"no record has a name at {safe(names.pointer)} (--pair-by); they are paired by their number")
    if run.complete and not any(item.counts for item in run.items):
        said = "nothing was compared: no document has a partner on the other side"
        hint = "name two files, directories with files of the same names, or --pair-by POINTER"
        run.tell(ProxaiError("empty", said, hint=hint), first)
    return run.finish()


class _Names:
    """Records' names, by which they are paired. State: whether records were looked at, and whether any has a name."""

    def __init__(self, key: Callable[[Any], Any], pointer: str | None) -> None:
        self._key, self.pointer = key, pointer
        self.looked = self.met = False

    def of(self, record: Part) -> Any:
        """The name of a record, None where it has none."""
        name = self._key(record.value[0]) if record.value else None
        self.looked = self.looked or record.record is not None
        self.met = self.met or name is not None
        return name


def _unpaired(run: Run, input: Input, how: Reading) -> bool:
    """Tell of an input without a partner; was it at least readable?"""
    try:
        for record in records(input, how):
            if record.fault:
                raise record.fault
            if record.pieces is not None:
                deque(record.pieces, maxlen=0)
            elif not record.foreign:
                parsed(record)
    except ProxaiError as error:
        run.fail(error, input, None)
        return False
    run.items.append(_alone(Part(input, "unknown")))
    return True


def _ignored(call: Call) -> Callable[[Path], bool]:
    """Whether a path, or anything that it stands in, fits a pattern. Raises `bad-call`."""
    globs = globs_of(call, "ignore")

    def fits(path: Path) -> bool:
        return any(glob.fits(text.pointer(path[:at])) for glob in globs for at in range(1, len(path) + 1))

    return fits


def _key(pointer: str | None) -> Callable[[Any], Any]:
    """What a record is told apart by, or None. Raises `bad-call`."""
    if pointer is None:
        return lambda record: (
            next(filter(None, (_scalar(record.get(name)) for name in NAMES)), None)
            if isinstance(record, dict)
            else None
        )
    steps = text.steps(pointer_of(pointer, "pair-by"))

    def key(record: Any) -> Any:
        for step in steps:
            if isinstance(record, list) and step.isdigit() and int(step) < len(record):
                record = record[int(step)]
            else:
                record = record.get(step) if isinstance(record, dict) else None
        return _scalar(record)

    return key


def _scalar(value: Any) -> Any:
    return value if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None


def _paired(ours: list[Input], theirs: list[Input]) -> Iterator[tuple[Input, Input | None]]:
    """Inputs by their names below the two places, else by their names without suffix; single ones belong together.

    One of either side that has no partner comes alone.
    """
    if len(ours) == len(theirs) == 1:
        yield ours[0], theirs[0]
        return
    there, bare = {each.name: each for each in theirs}, dict[str, list[Input]]()
    names = {each.name for each in ours}
    for each in theirs:
        if each.name not in names:
            bare.setdefault(_stem(each.name), []).append(each)
    taken = set[str]()
    for each in ours:
        like = bare.get(_stem(each.name), [])
        partner = there.get(each.name) or (like[0] if len(like) == 1 and like[0].name not in taken else None)
        if partner is not None:
            taken.add(partner.name)
        yield each, partner
    for each in theirs:
        if each.name not in taken:
            yield each, None


def _stem(name: str) -> str:
    folder, slash, last = name.rpartition("/")
    return folder + slash + (last.rpartition(".")[0] or last)


def _compared(run: Run, way: Way, one: Input, two: Input, names: _Names, how: Reading) -> bool:
    """Compare the documents of two inputs; was all of it done?"""
    skip, done = run.call.on_error == "skip", True

    def failed(error: Exception, input: Input, part: Part | None) -> None:
        nonlocal done
        done = False
        run.fail(error, input, part)

    def documents(input: Input) -> Iterator[_Record]:
        for record in records(input, how):
            known = _known(record)
            name = names.of(known)
            for part in opened(known, how):
                if part.foreign:
                    run.foreign.leave(part, part.foreign)
                else:
                    yield _Record(part, b"".join(part.pieces or ()), name)

    try:
        there = list(documents(two))
    except ProxaiError as error:
        failed(error, two, None)
        return False
    try:
        arriving = documents(one)
        here = list(islice(arriving, 2))
        single = len(here) == len(there) == 1
        pairs = [(here[0], there[0])] if single else _joined(chain(here, arriving), there)
        for mine, other in pairs:
            if other is not None:
                try:
                    run.add(_outcome(run, way, mine, other), one)
                except _OfSecond as error:
                    failed(error.fault, two, other.part)
                except Exception as error:
                    failed(error, one, mine.part)
            elif mine.part.fault:
                failed(mine.part.fault, mine.part.input, mine.part)
            else:
                run.items.append(_alone(mine.part))
            if not done and not skip:
                return False
    except ProxaiError as error:
        failed(error, one, None)
    return done


class _Record(NamedTuple):
    """A part, the bytes of its stream, and what the record that it stands in is told apart by."""

    part: Part
    data: bytes
    name: Any

    @property
    def fresh(self) -> Part:
        """The part, to be read once more."""
        return self.part._replace(pieces=iter([self.data])) if self.part.pieces is not None else self.part


def _known(record: Part) -> Part:
    """A record with its value, or with what is wrong with it, which is told when it is compared."""
    if record.pieces is not None or record.fault or record.foreign:
        return record
    try:
        return record._replace(value=parsed(record))
    except NotReadable as fault:
        return record._replace(fault=fault)


def _joined(ours: Iterable[_Record], theirs: list[_Record]) -> Iterator[tuple[_Record, _Record | None]]:
    """Records of the same name and of the same pointer in it; those without a name by their number.

    One of either side that has no partner comes alone.
    """

    def named(record: _Record, at: int) -> tuple[Any, ...]:
        return ("number", at) if record.name is None else ("name", record.name, record.part.inside)

    open_ones: dict[tuple[Any, ...], deque[_Record]] = {}
    for at, record in enumerate(theirs):
        open_ones.setdefault(named(record, at), deque()).append(record)
    met = set[int]()
    for at, record in enumerate(ours):
        waiting = open_ones.get(named(record, at))
        other = waiting.popleft() if waiting else None
        met.add(id(other))
        yield record, other
    for record in theirs:
        if id(record) not in met:
            yield record, None


def _alone(part: Part) -> Item:
    """The item of a document that has no partner."""
    place = None if part.place.line is None else {"line": part.place.line}
    found = finding("unpaired-file", place=place)
    return Item(part.input.path, part.container, status="skipped", record=part.record, findings=(found,))


class _OfSecond(Exception):
    """What is wrong with the second document."""

    def __init__(self, fault: ProxaiError) -> None:
        super().__init__(fault.message)
        self.fault = fault


def _outcome(run: Run, way: Way, mine: _Record, other: _Record) -> Outcome:
    """Two documents compared."""
    first = _whole(way.told.recognised(mine.fresh))
    try:
        second = _whole(_second(run, way, first.document, other))
    except ProxaiError as fault:
        raise _OfSecond(fault) from None
    one, two = (Capture(each.value, each.document.protocol, each.kind) for each in (first, second))
    account = compare(one, two, way.how.context_of(first.document), way.volatile, way.left_out)
    return Outcome(None, _item(first, second, account, way.how))


def _second(run: Run, way: Way, first: Document, other: _Record) -> Document:
    """The second document; one that fits several protocols is taken for one of the first's, and that is told."""
    told = Told(None, None, way.told.context)
    try:
        return told.recognised(other.fresh)
    except NotThatProtocol as error:
        if error.code != "ambiguous":
            raise
    document = told._replace(protocol=first.protocol).recognised(other.fresh)
    run.note(
        f"{document.part.input.path}: fits several protocols; taken for {first.protocol}, as {first.part.input.path}"
    )
    return document


def _whole(document: Document) -> Whole:
    """A document as one body. Raises what a stream ends with before its end, and `unrecognised` for what is no body."""
    if not document.is_reply_or_request:
        what = "a whole exchange" if document.is_exchange else f"of a call that creates no reply ({document.endpoint})"
        raise NotThatProtocol(
            "wrong-kind", f"this is {what}; bodies are compared", hint="--at POINTER   names the bodies in it"
        )
    if document.part.pieces is None:
        return Whole(document, document.value, document.kind, len(document.part.body), [], {})
    data = b"".join(document.part.pieces)
    found = events(data, document.protocol)
    if found.errors:
        raise _uncut(found.errors[0])
    try:
        done = collect(found.values, document.protocol)
    except OutOfOrder as error:
        raise _uncut(error) from None
    _without_made_nulls(done)
    places = [place for value, place in zip(found.values, found.places, strict=True) if value is not DONE]
    said_by = {entry.target: entry.source[0] for entry in done.ledger.entries if entry.target and entry.source}
    return Whole(document, done.value, kind_of(done.value, "response"), len(data), places, said_by)


def _uncut(error: ProxaiError) -> ProxaiError:
    """What ends a stream, with what to do where a cut one cannot be compared."""
    if error.code == "truncated":
        error.hint = "capture it again, from its first event to its last"
    return error


def _without_made_nulls(collected: Translation) -> None:
    """Take out of a collected body the null that stands there only for the sake of its shape."""
    for entry in collected.ledger.entries:
        if entry.fate == SYNTHESIZED and entry.target and isinstance(entry.target[-1], str):
            home = get(collected.value, entry.target[:-1])
            if home[entry.target[-1]] is None:
                del home[entry.target[-1]]


def _item(first: Whole, second: Whole, account: list[Difference], how: How) -> Item:
    """The item of a pair. Raises `Unbalanced` where its account does not add up: that is a fault of ours."""
    entries = [Entry(*each[:7]) for each in account]
    counts = counts_of(rows_of_body(entries), size(first.value), size(second.value), (VOLATILE, IGNORED))
    item = bare_item(first.document)._replace(
        source=_side(first), target=_side(second), counts=counts, against=_named(second.document.part)
    )
    if not counts.balanced:
        raise Unbalanced(item.path)
    if how.whole:
        from .views import of_bodies

        item = item._replace(view=of_bodies(first.value, second.value, entries, hiding_for(how)))
    changes: Iterable[Change] = [
        Change(each.fate, each.source, each.target, each.why, each.level, each.ours or each.theirs or 1)._replace(
            avoidable=each.avoidable
        )
        for each in account
        if each.fate in (DROPPED, CHANGED, SYNTHESIZED) and each.why and each.level
    ]
    changes = with_values(changes, first.value, second.value, how.values, _words(first, second, how))
    changes = [_at_event(change, first) for change in changes] if first.places else in_input(changes, first.document)
    findings = [*first.document.findings, *second.document.findings, *_strangers(item)]
    return item._replace(changes=tuple(changes), findings=tuple(map(found_of, findings)))


def _words(first: Whole, second: Whole, how: How) -> frozenset[str]:
    """The captured words that may be told of both sides: those of their protocols, and the models' names."""
    if how.values != "short":
        return frozenset()
    from ..schemas import words

    models = filter(None, (model_of(each.value) for each in (first, second)))
    return words_told(how).union(models, *(words(each.document.protocol) for each in (first, second)))


def _strangers(item: Item) -> Iterator[Finding]:
    """Two documents that share hardly anything may be no pair."""
    assert item.counts is not None
    leaves, carried = item.counts.source["leaves"], item.counts.source[CARRIED]
    if leaves > 10 and carried * 10 < leaves:
        yield Finding("hardly-alike")


def _named(part: Part) -> str:
    return part.input.path + (f"#{part.record}" if part.record is not None else "")


def _side(whole: Whole) -> Side:
    events = len(whole.places) or None
    return side_of(whole.document, model_of(whole.value), whole.length, size(whole.value), events)


def _at_event(change: Change, whole: Whole) -> Change:
    """A change of a collected body with the event that said it."""
    path = change.source
    number = None
    while path is not None and number is None and path:
        number, path = whole.events.get(path), path[:-1]
    if number is None:
        return change
    return change._replace(place=whole.places[number].numbers, events=(number + 1, number + 1))
