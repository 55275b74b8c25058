"""The way back: with the side file a source returns as it was, and of an edited target all that was not touched."""

import copy
import random
from typing import Any

import pytest

from proxai_cli import PROTOCOLS, StreamTranslator, side, text, translate
from proxai_cli.errors import NotThatSideFile, ProxaiError
from proxai_cli.ledger import CARRIED
from proxai_cli.translate import At

from .captures import Capture, body, corpus, events, fixtures

ALL = [*fixtures(), *corpus()]
PAIRS = [(each, target) for each in ALL for target in PROTOCOLS if target != each.protocol]
BODIES = [(each, target) for each, target in PAIRS if each.kind != "stream"]
STREAMS = [(each, target) for each, target in PAIRS if each.kind == "stream"]


def over(pairs: Any) -> Any:
    return pytest.mark.parametrize(("capture", "target"), pairs, ids=lambda said: getattr(said, "label", said))


def there(capture: Capture, target: str) -> tuple[Any, Any, side.Side]:
    """The parsed source, its target, and the side file as it is read again."""
    if capture.kind == "stream":
        source = events(capture)
        translator, value = StreamTranslator(capture.protocol, target), list[Any]()
        try:
            for event in source:
                value += translator.feed(event)
            value += translator.close()
        except ProxaiError as error:
            pytest.skip(f"refused: {error.code}")
    else:
        try:
            source = body(capture)
            value = translate(source, capture.protocol, target, capture.kind).value
        except ProxaiError as error:
            pytest.skip(f"refused: {error.code}")
    kept = side.keep(side.Side(capture.data, capture.protocol, target, capture.kind, {}), value)
    return source, value, side.read(kept)


@over(PAIRS)
def test_an_unedited_target_comes_back_byte_for_byte(capture: Capture, target: str) -> None:
    source, value, kept = there(capture, target)
    came = side.back(kept, source, copy.deepcopy(value))
    assert came.data == capture.data and not came.findings


@over(BODIES)
def test_what_was_not_touched_comes_back(capture: Capture, target: str) -> None:
    """One text in the target is edited: the source comes back with that text edited and all else as it was."""
    source, value, kept = there(capture, target)
    done = translate(source, capture.protocol, target, capture.kind)
    carried = [
        entry
        for entry in done.ledger.entries
        if entry.fate == CARRIED
        and isinstance(at(value, entry.target), str)
        and at(value, entry.target) not in ("", "user")
    ]
    texts = [
        entry for entry in carried if (entry.target or ("",))[-1] in ("text", "content", "name", "model", "message")
    ]
    if not texts:
        return
    entry = random.Random(capture.label).choice(texts)
    edited = copy.deepcopy(value)
    put(edited, entry.target, at(value, entry.target) + "-edited")
    came = side.back(kept, source, edited)
    wanted = copy.deepcopy(source)
    put(wanted, entry.source, at(source, entry.source) + "-edited")
    assert text.dumps(came.value, indent=1) == text.dumps(wanted, indent=1)


@over(BODIES)
def test_the_merge_of_nothing_changes_nothing(capture: Capture, target: str) -> None:
    """Were an unedited target merged as an edited one is, the source would be the same."""
    source, value, kept = there(capture, target)
    came = side.merged(kept, source, copy.deepcopy(value))
    assert text.dumps(came.value) == text.dumps(source) and not came.findings


@over([pair for pair in STREAMS if not pair[0].label.startswith("corpus")])
def test_of_an_edited_stream_the_rest_comes_back(capture: Capture, target: str) -> None:
    source, value, kept = there(capture, target)
    came = side.merged(kept, source, copy.deepcopy(value))
    whole = [event for event in source if isinstance(event, dict)]
    assert text.dumps([event for event in came.value if isinstance(event, dict)]) == text.dumps(whole)


def test_a_message_that_was_added_and_one_that_was_taken_out() -> None:
    source = {
        "model": "m",
        "seed": 7,
        "messages": [
            {"role": "user", "content": "one", "name": "ada"},
            {"role": "assistant", "content": "two"},
            {"role": "user", "content": "three"},
        ],
    }
    done = translate(source, "chat", "messages", "request")
    kept = side.read(side.keep(side.Side(b"{}", "chat", "messages", "request", {}), done.value))
    edited = copy.deepcopy(done.value)
    del edited["messages"][1]
    edited["messages"].append({"role": "assistant", "content": "new"})
    came = side.back(kept, source, edited)
    assert came.value["messages"] == [
        source["messages"][0],
        source["messages"][2],
        {"role": "assistant", "content": "new"},
    ]
    assert came.value["seed"] == 7
    assert set(came.value) == set(source)


def test_what_no_longer_fits_is_listed() -> None:
    source = {
        "model": "m",
        "messages": [{"role": "user", "content": "one", "name": "ada"}, {"role": "user", "content": "b"}],
    }
    done = translate(source, "chat", "messages", "request")
    kept = side.read(side.keep(side.Side(b"{}", "chat", "messages", "request", {}), done.value))
    edited = copy.deepcopy(done.value)
    del edited["messages"][0]
    came = side.back(kept, source, edited)
    assert [(finding.code, finding.place) for finding in came.findings] == [("side-stale", "/messages/0/name")]


@pytest.mark.parametrize("data", [b"", b"{}", b'{"proxai_side": 1}', b"[]", b'"x"', b"\x00"])
def test_another_file_is_no_side_file(data: bytes) -> None:
    with pytest.raises(NotThatSideFile):
        side.read(data)


def test_a_damaged_side_file_is_refused() -> None:
    whole = side.keep(side.Side(b'{"model": "m"}', "chat", "messages", "request", {}), {"model": "m"})
    assert side.read(whole).source == b'{"model": "m"}'
    with pytest.raises(NotThatSideFile):
        side.read(whole.replace(b'"source_digest": "', b'"source_digest": "0'))


def at(value: Any, path: Any) -> Any:
    for key in path or ():
        value = value[key.number if isinstance(key, At) else key]
    return value


def put(value: Any, path: Any, new: Any) -> None:
    at(value, path[:-1])[path[-1]] = new
