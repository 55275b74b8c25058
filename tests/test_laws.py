"""The laws of the house, each over every fixture and over the whole corpus beside the project."""

import copy
import random
from typing import Any

import pytest

from proxai_cli import PROTOCOLS, Context, Pipe, StreamTranslator, collect, explode, text, translate
from proxai_cli.errors import ProxaiError
from proxai_cli.ir.events import DONE
from proxai_cli.ledger import (
    CARRIED,
    CHANGED,
    DROPPED,
    SYNTHESIZED,
    Entry,
    From,
    Leaf,
    Ledger,
    leaves_said,
    recipe,
    restore,
    size,
)
from proxai_cli.translate import At

from .accounts import JUNK, mutants, places_of
from .accounts import fault as fault_of
from .captures import Capture, body, corpus, events, fault, fixtures, wire
from .judges import complaint
from .refused import MAY_BE_INVALID, MAY_DIFFER, REFUSED, REFUSED_BY

ALL = [*fixtures(), *corpus()]
BODIES = [each for each in ALL if each.kind != "stream"]
STREAMS = [each for each in ALL if each.kind == "stream"]


def over(captures: list[Capture]) -> Any:
    return pytest.mark.parametrize("capture", captures, ids=lambda each: each.label)


def refused(capture: Capture) -> Any:
    """The code with which a file must be refused, whatever the target; None for one that is translated."""
    return REFUSED.get(capture.label)


def refused_by(capture: Capture, target: str) -> Any:
    """The code with which this one target must be refused."""
    return REFUSED.get(capture.label) or REFUSED_BY.get((capture.label, target))


def sums(entries: list[Entry]) -> tuple[int, int]:
    """Leaves of the source and of the target that an account speaks of."""
    return sum(entry.ours for entry in entries), sum(entry.theirs for entry in entries)


def holes(entries: list[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.level == "unexplained"]


class Watched(StreamTranslator):
    """A translator that keeps every entry with the number of its event."""

    def __init__(self, source: str, target: str) -> None:
        self.all: list[Entry] = []
        super().__init__(source, target)

    def _count(self, entries: list[Entry]) -> None:
        self.all += entries
        super()._count(entries)


def streamed(source: str, target: str, fed: list[Any]) -> tuple[list[Any], Watched, ProxaiError | None]:
    """What a stream becomes, with its account, up to the error that ends it."""
    translator, out = Watched(source, target), list[Any]()
    error = None
    try:
        for event in fed:
            out += translator.feed(event)
    except ProxaiError as problem:
        error = problem
    out += translator.close()
    return out, translator, error


def test_there_is_something_to_look_at() -> None:
    assert len([each for each in ALL if not each.label.startswith("corpus")]) >= 80


@over(BODIES)
@pytest.mark.parametrize("target", PROTOCOLS)
def test_bodies(capture: Capture, target: str) -> None:
    """Balance, rebuilding, purity, steadiness, nothing unexplained, validity: of each body to each protocol."""
    if refused_by(capture, target):
        with pytest.raises(ProxaiError) as caught:
            translate(body(capture), capture.protocol, target, capture.kind)
        assert caught.value.code == refused_by(capture, target)
        return
    source = body(capture)
    before = text.dumps(source)
    done = translate(source, capture.protocol, target, capture.kind)
    entries = done.ledger.entries
    assert sums(entries) == (size(source), size(done.value)), "both sides balance"
    assert not holes(entries), "nothing unexplained"
    assert text.dumps(source) == before, "the source is never altered"
    assert text.dumps(restore(done.value, recipe(source, entries))) == before, "the account rebuilds the source"
    again = translate(copy.deepcopy(source), capture.protocol, target, capture.kind)
    assert text.dumps(again.value) == text.dumps(done.value) and again.ledger.entries == entries, "steady"
    if target == capture.protocol:
        assert text.dumps(done.value) == before, "the same protocol is identity"
        assert {entry.fate for entry in entries} <= {CARRIED}
    elif complaint(capture.protocol, capture.kind, source) is None:
        failed = capture.kind == "response" and set(done.value) <= {"error", "type", "request_id"}
        said = complaint(target, "error" if failed else capture.kind, done.value)
        assert said is None or (capture.label, target) in MAY_BE_INVALID, said


@over(BODIES)
def test_decoding_a_body_loses_nothing(capture: Capture) -> None:
    """Every leaf of the source is held by the node that it was read into."""
    try:
        node = PROTOCOLS[capture.protocol].read[capture.kind](body(capture), Context().fresh())
    except ProxaiError:
        assert refused(capture)
        return
    held = {(id(leaf.home), leaf.key) for leaf, _ in leaves_said(node)}
    assert not _not_held(body(capture), held)


def _not_held(value: Any, held: set[tuple[int, Any]]) -> list[tuple[Any, ...]]:
    lost, todo = [], [(value, ())]
    while todo:
        node, path = todo.pop()
        for key, inner in node.items() if isinstance(node, dict) else enumerate(node):
            if (id(node), key) in held:
                continue
            if inner and isinstance(inner, (dict, list)):
                todo.append((inner, (*path, key)))
            else:
                lost.append((*path, key))
    return lost


@over(STREAMS)
@pytest.mark.parametrize("target", PROTOCOLS)
def test_streams(capture: Capture, target: str) -> None:
    """The same laws for each stream to each protocol, event by event."""
    fed = events(capture)
    before = [text.dumps(event) for event in wire(fed)]
    out, translator, error = streamed(capture.protocol, target, fed)
    ended = fault(capture) or (error.code if error else None if translator.complete else "truncated")
    assert ended == refused(capture)
    entries, written = translator.all, wire(out)
    assert not holes(entries), "nothing unexplained"
    fed_leaves = sum(size(event) for event in wire(fed)[: translator.number])
    if error is None:
        assert sums(entries) == (fed_leaves, sum(map(size, written))), "both sides balance"
        assert [sum(line[at] for line in translator.account.values()) for at in (0, 1)] == list(sums(entries))
        rebuilt = restore(written, _stream_recipe(fed, entries))
        assert [text.dumps(rebuilt[at]) for at, event in enumerate(fed) if event is not DONE] == before
    assert [text.dumps(event) for event in wire(fed)] == before, "the source is never altered"
    if target == capture.protocol:
        assert [text.dumps(event) for event in written] == before[: len(written)], "the same protocol is identity"
    elif refused(capture) is None and complaint(capture.protocol, "stream", wire(fed)) is None:
        said = complaint(target, "stream", written)
        assert said is None or (capture.label, target) in MAY_BE_INVALID, said


def _stream_recipe(fed: list[Any], entries: list[Entry]) -> Any:
    def numbers(path: Any) -> Any:
        return path and tuple(key.number if isinstance(key, At) else key for key in path)

    source = [event if isinstance(event, dict) else {} for event in fed]
    return recipe(
        source, [entry._replace(source=numbers(entry.source), target=numbers(entry.target)) for entry in entries]
    )


@over(STREAMS)
@pytest.mark.parametrize("target", PROTOCOLS)
def test_no_cut_matters(capture: Capture, target: str) -> None:
    data = capture.data
    whole = _piped(capture.protocol, target, [data])
    cuts = random.Random(capture.label)
    places = sorted(cuts.randrange(len(data) + 1) for _ in range(40))
    assert (
        _piped(capture.protocol, target, [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)])
        == whole
    )
    if len(data) < 6000:
        assert _piped(capture.protocol, target, [data[at : at + 1] for at in range(len(data))]) == whole


def _piped(source: str, target: str, pieces: list[bytes]) -> tuple[bytes, str | None, Any]:
    """Output, error code and account of a stream fed in these pieces."""
    pipe = Pipe(source, target)
    out = b"".join(map(pipe.feed, pieces)) + pipe.close()
    return out, pipe.error and pipe.error.code, pipe.translator.account


@over(STREAMS)
def test_decoding_a_stream_loses_only_framing(capture: Capture) -> None:
    """Collected to a body of its own protocol, a stream gives up only what is a note."""
    if refused(capture):
        return
    done = collect(events(capture), capture.protocol)
    dropped = [entry for entry in done.ledger.entries if entry.fate == DROPPED]
    lost = {(entry.why, entry.source) for entry in dropped if entry.level != "note"}
    assert not lost
    assert not holes(done.ledger.entries)
    assert sums(done.ledger.entries) == (sum(map(size, wire(events(capture)))), size(done.value))


PAIRS = [
    (each, each._replace(path=each.path.with_name("response.json"), kind="response"))
    for each in STREAMS
    if each.path.name == "stream.sse" and each.path.with_name("response.json").exists()
]


@pytest.mark.parametrize("target", PROTOCOLS)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0].label)
def test_a_stream_is_its_body(pair: tuple[Capture, Capture], target: str) -> None:
    """A collected stream translates to what the body of the same reply translates to."""
    stream, plain = pair
    collected = collect(events(stream), stream.protocol, target)
    translated = translate(body(plain), plain.protocol, target, "response")
    if (stream.label, target) not in MAY_DIFFER:
        assert _normal(collected.value) == _normal(translated.value)


@pytest.mark.parametrize("target", PROTOCOLS)
@over([each for each in BODIES if each.kind == "response"])
def test_an_exploded_reply_is_its_body(capture: Capture, target: str) -> None:
    """A reply sent out as a stream and collected again is the translated reply."""
    if refused_by(capture, target):
        return
    sent = explode(body(capture), capture.protocol, target)
    assert not holes(sent.ledger.entries)
    assert sums(sent.ledger.entries) == (size(body(capture)), sum(map(size, wire(sent.value))))
    translated = translate(body(capture), capture.protocol, target, "response").value
    if (capture.label, target) not in MAY_DIFFER:
        assert _normal(collect(sent.value, target).value) == _normal(translated)


def _normal(value: Any) -> Any:
    """A document up to what a stream and its body may differ in (`spec/streams.md` §10): null, empty or absent, and
    the spacing of arguments."""
    if isinstance(value, dict):
        said = {key: _arguments(key, _normal(inner)) for key, inner in sorted(value.items())}
        return {key: inner for key, inner in said.items() if inner not in (None, [], "")}
    if isinstance(value, list):
        return [_normal(inner) for inner in value]
    return value


def _arguments(key: str, value: Any) -> Any:
    if key != "arguments" or not isinstance(value, str):
        return value
    try:
        return text.loads(value)
    except ProxaiError:
        return value


@over([each for each in BODIES if not each.label.startswith("corpus")])
@pytest.mark.parametrize("target", PROTOCOLS)
def test_junk_anywhere_is_accounted_for(capture: Capture, target: str) -> None:
    """Whatever stands at a place, and whatever key is thrown in: an account that balances, or our own error."""
    for mutant in mutants(body(capture), capture.label + target, 60):
        try:
            done = translate(mutant, capture.protocol, target, capture.kind)
        except ProxaiError:
            continue
        assert not (said := fault_of(mutant, done.value, done.ledger.entries)), (said, mutant)


@over([each for each in STREAMS if not each.label.startswith("corpus")])
@pytest.mark.parametrize("target", PROTOCOLS)
def test_junk_in_a_stream_is_accounted_for(capture: Capture, target: str) -> None:
    chance = random.Random(capture.label + target)
    for _ in range(25):
        fed = copy.deepcopy(wire(events(capture)))
        at = chance.randrange(len(fed))
        path = chance.choice(list(places_of(fed[at])))
        home: Any = fed[at]
        for key in path[:-1]:
            home = home[key]
        home[path[-1]] = copy.deepcopy(chance.choice(JUNK))
        if chance.random() < 0.2:
            del fed[chance.randrange(len(fed))]
        out, translator, error = streamed(capture.protocol, target, fed)
        assert not holes(translator.all), text.dumps(fed[at]).decode()
        if error is None:
            assert sums(translator.all) == (sum(map(size, fed)), sum(map(size, wire(out))))


def test_the_laws_can_fail() -> None:
    """An account with a hole, or a claim from nowhere, is seen."""
    source = {"said": 1, "forgotten": 2}
    ledger = Ledger()
    ledger.drop(Leaf(source, "said"), "no-equivalent")
    assert [entry.why for entry in holes(ledger.settle(source, [{}]))] == ["unclaimed"]
    target: dict[str, Any] = {"made": 1}
    ledger.claim(Leaf({"elsewhere": 1}, "elsewhere"), target, "made", None)
    ledger.drop([Leaf(source, "said"), Leaf(source, "forgotten")], "no-equivalent")
    assert [entry.why for entry in holes(ledger.settle(source, [target]))] == ["out-of-nowhere"]
    assert {CARRIED, CHANGED, DROPPED, SYNTHESIZED} and From(()).path == ()
