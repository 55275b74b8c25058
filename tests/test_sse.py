"""Event streams: every rule of the framing, any cut, faults that leave the rest readable, memory that stays flat."""

import random
import tracemalloc
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxai_cli import text
from proxai_cli.errors import Place
from proxai_cli.ir.events import DONE
from proxai_cli.wire.sse import TOLD_AT_MOST, Event, Reader, looks_like_a_stream, write

from .shared import SHARED


def heard(pieces: list[bytes], named: bool = False) -> tuple[list[Any], list[tuple[str, Place]]]:
    """All that a reader says about a stream in these pieces, in a form that can be compared."""
    reader = Reader(named)
    events = [event for piece in pieces for event in reader.feed(piece)] + reader.close()
    return [(event.value, event.name, event.place, said(event)) for event in events], reader.findings


def said(event: Event) -> Any:
    return event.fault and (event.fault.code, event.fault.message, event.fault.place)


def values(data: bytes) -> list[Any]:
    return [event[3][0] if event[3] else event[0] for event in heard([data])[0]]


def codes(data: bytes, named: bool = False) -> list[str]:
    return [code for code, _ in heard([data], named)[1]]


A, B = {"a": 1}, {"b": [2]}
RULES: dict[str, tuple[bytes, list[Any]]] = {
    "lines end in LF": (b'data: {"a":1}\n\ndata: {"b":[2]}\n\n', [A, B]),
    "in CRLF": (b'data: {"a":1}\r\n\r\ndata: {"b":[2]}\r\n\r\n', [A, B]),
    "in CR": (b'data: {"a":1}\r\rdata: {"b":[2]}\r\r', [A, B]),
    "in all of them": (b'data: {"a":1}\n\r\ndata: {"b":[2]}\r\n\n', [A, B]),
    "in nothing else": ('data: {"a":"\u2028\u2029\x85"}\n\n'.encode(), [{"a": "\u2028\u2029\x85"}]),
    "no blank after the colon": (b'data:{"a":1}\n\n', [A]),
    "only one blank is taken": (b'data:  "x"\n\n', ["x"]),
    "comments and other fields": (b': hi\n\nid: 7\nretry: 3\ndata: {"a":1}\nid\n:\n\n:\n\n', [A]),
    "unknown fields beside whole data": (b'data: {"a":1}\nfoo: {\nbar\n\n', [A]),
    "lines of data are joined": (b'data: {"a":\ndata: 1}\n\ndata: {"b"\ndata:\ndata: :[2]}\n\n', [A, B]),
    "a line break inside a value": (b'data: {\ndata:   "a": 1\ndata: }\n\n', [A]),
    "continued lines": (b'data: {"a":\n   1\n}\n\ndata: {"b":[2]}\n\n', [A, B]),
    "empty data and null carry nothing": (b'data\n\ndata:\n\ndata: \n\ndata: null\n\ndata: {"a":1}\n\n', [A]),
    "the end mark": (b'data: {"a":1}\n\ndata: [DONE]\n\n', [A, DONE]),
    "the last one needs no empty line": (b'data: {"a":1}\n\ndata: {"b":[2]}\n', [A, B]),
    "nor a line end": (b'data: {"a":1}\n\ndata: {"b":[2]}', [A, B]),
    "nor has the end mark": (b'data: {"a":1}\n\ndata: [DONE]', [A, DONE]),
    "a byte-order mark": (b'\xef\xbb\xbfdata: {"a":1}\n\n', [A]),
    "a mark between two captures": (b'data: {"a":1}\n\n\xef\xbb\xbfdata: {"b":[2]}\n\n', [A, B]),
    "lost blank lines": (b'data: {"a":1}\ndata: {"b":[2]}\ndata: [DONE]\n', [A, B, DONE]),
    "lost blank lines, one unreadable": (b'data: {"a" 1}\ndata: {"b":[2]}\n\n', ["bad-json", B]),
    "lost blank lines, the last one cut": (b'data: {"a":\ndata: {"a":1}\ndata: {"b":', ["bad-json", A, "truncated"]),
    "unreadable data": (b'data: {"a" 1}\n\ndata: hello\n\ndata: {"b":[2]}\n\n', ["bad-json", "bad-json", B]),
    "a line of a log that was cut": (b'data: {"a":\n\ndata: {"b":[2]}\n\n', ["bad-json", B]),
    "cut inside data": (b'data: {"a":1}\n\ndata: {"b":[2', [A, "truncated"]),
    "cut inside a character": (b'data: {"a":1}\n\ndata: {"b":"\xc3', [A, "truncated"]),
    "cut inside the end mark": (b'data: {"a":1}\n\ndata: [DO', [A, "truncated"]),
    "cut inside a literal": (b'data: {"a":1}\n\ndata: {"b":tr', [A, "truncated"]),
    "cut after half of the data": (b'data: {"a":1}\n\ndata: {"b":\n', [A, "truncated"]),
    "cut before data": (b'data: {"a":1}\n\ndata: ', [A, "truncated"]),
    "cut inside a field": (b'data: {"a":1}\n\nda', [A, "truncated"]),
    "cut inside a field of an event": (b'data: {"a":1}\n\ndata: {"b":\nda', [A, "truncated"]),
    "cut after a name": (b'data: {"a":1}\n\nevent: b\n', [A, "truncated"]),
    "cut inside a name": (b'event: a\ndata: {"a":1}\nevent: b', [A, "truncated"]),
    "wrong at the end is not cut": (b'data: {"a" 1}', ["bad-json"]),
    "a cut comment is no event": (b'data: {"a":1}\n\n: keep', [A]),
    "nothing": (b"", []),
    "a head": (b'HTTP/1.1 200 OK\r\nDate: x\r\n\r\ndata: {"a":1}\n\n', [A]),
    "a head of version 2": (b'HTTP/2 200 \r\nx: y\r\n\r\ndata: {"a":1}\n\n', [A]),
    "interim heads": (b'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\ndata: {"a":1}\n\n', [A]),
    "chunk sizes": (b'HTTP/1.1 200 OK\r\n\r\n9\r\ndata: {"a\r\n6;x=y\r\n":1}\n\n\r\n0\r\nt: 1\r\n\r\n', [A]),
    "chunk sizes without a head": (b'F\r\ndata: {"a":1}\n\n\r\n11\r\ndata: {"b":[2]}\n\n\r\n0\r\n\r\n', [A, B]),
    "chunks that are cut": (b'F\r\ndata: {"a":1}\n\n\r\n11\r\ndata: {"b', [A, "truncated"]),
    "a chunk size that does not fit": (b'F\r\ndata: {"a":1}\n\ndata: {"b":[2]}\n\n', [A, B]),
    "a size that went missing": (b'F\r\ndata: {"a":1}\n\n\r\ndata: {"b":[2]}\n\n', [A, B]),
}


@pytest.mark.parametrize("rule", RULES)
def test_rules_of_the_framing(rule: str) -> None:
    data, expected = RULES[rule]
    assert values(data) == expected
    assert heard([data[at : at + 1] for at in range(len(data))]) == heard([data])


FINDINGS: dict[str, tuple[bytes, list[tuple[str, Place]]]] = {
    "a byte-order mark": (b'\xef\xbb\xbfdata: {"a":1}\n\n', [("byte-order-mark", Place(1, 1, 0))]),
    "lost blank lines": (b'data: {"a":1}\ndata: {"b":2}\n\n', [("lost-blank-lines", Place(1, byte=0, event=1))]),
    "lost, and one is unreadable": (b'data: {"a" 1}\ndata: {"b":2}\n\n', [("lost-blank-lines", Place(1, byte=0))]),
    "a continued line": (b':\ndata: {"a":\n 1}\n\n', [("continuation-line", Place(2, byte=2))]),
    "one key twice": (b'data: {}\n\ndata: {"a":1,\ndata: "a":2}\n\n', [("twice-the-same-key", Place(4, 7, 30, 2, ""))]),
    "a key twice after a mark": (
        b'\xef\xbb\xbfdata:{"a":1,"a":2}\n\n',
        [("byte-order-mark", Place(1, 1, 0)), ("twice-the-same-key", Place(1, 13, 15, 1, ""))],
    ),
    "invalid UTF-8": (b'data: {"a":"\xff"}\n\n', [("invalid-utf8", Place(1, 12, 11, 1))]),
}


@pytest.mark.parametrize("what", FINDINGS)
def test_findings_have_their_place(what: str) -> None:
    data, expected = FINDINGS[what]
    assert heard([data])[1] == expected


def test_a_fault_has_its_place_in_the_capture() -> None:
    data = b'HTTP/1.1 200 OK\r\n\r\n: hi\n\ndata: {"a":1}\n\nevent: x\ndata: {"b":\ndata:   2 3}\n\ndata: {"c":4}\n\n'
    events, _ = heard([data])
    assert [event[0] for event in events] == [{"a": 1}, None, {"c": 4}]
    at = data.index(b"3}")
    assert events[1][3] == ("bad-json", "expected ',' or '}'", Place(line=9, column=11, byte=at, event=2))
    assert events[1][2] == Place(line=8, byte=data.index(b'data: {"b"'), event=2)
    assert events[2][2] == Place(line=11, byte=data.index(b'data: {"c"'), event=3)


def test_a_cut_event_is_told_with_its_beginning() -> None:
    events, _ = heard([b'data: {"a":1}\n\nevent: x\ndata: {"b":'])
    assert events[1][3] == ("truncated", "the stream ends inside an event", Place(line=4, byte=24, event=2))


@pytest.mark.parametrize("data", [b'data: {"a":1}\r\r', b'event: x\rdata: {"a":1}\r\r', b'F\r\ndata: {"a":1}\n\n'])
def test_nothing_waits_for_more_than_it_needs(data: bytes) -> None:
    reader = Reader()
    assert [event.value for at in range(len(data)) for event in reader.feed(data[at : at + 1])] == [A]


def test_what_only_begins_like_a_head_is_not_kept_for_ever() -> None:
    reader = Reader()
    reader.feed(b"HTTP " + b"x" * 20_000)
    assert [event.value for event in reader.feed(b'\rdata: {"a":1}\r\r')] == [A]


def test_names() -> None:
    data = (
        b'event: a\ndata: {"type":"a"}\n\ndata: {"type":"b"}\n\nevent: c\ndata: {}\n\nevent: d\ndata: {"type":"e"}\n\n'
        b'data: {"type":"f"}\nevent: f\n\nevent:\ndata: {"type":3}\n\ndata: [DONE]\n\n'
    )
    reader = Reader(named=True)
    events = reader.feed(data)
    assert [event.name for event in events] == ["a", None, "c", "d", "f", None, None]
    assert [event.type for event in events] == ["a", "b", "c", "e", "f", None, None]
    assert [(code, place.event) for code, place in reader.findings] == [
        ("event-name", number) for number in (2, 3, 4, 6)
    ]
    assert codes(data, named=False) == []


def test_names_where_blank_lines_are_lost() -> None:
    data = (
        b'event: a\ndata: {"type":"a"}\nevent: b\ndata: {"type" "b"}\nevent: c\ndata: {"type":"c"}\n\n'
        b'event: d\ndata:\ndata: {"type":"d"}\n\n'
    )
    events, findings = heard([data], named=True)
    assert [event[1] for event in events] == ["a", "b", "c", "d"]
    assert [event[3] and event[3][0] for event in events] == [None, "bad-json", None, None]
    assert [code for code, _ in findings] == ["lost-blank-lines"] * 2


def test_each_event_comes_with_the_byte_that_ends_it() -> None:
    reader = Reader()
    assert reader.feed(b'data: {"a":1}\n') == []
    assert [event.value for event in reader.feed(b"\n")] == [A]
    assert reader.feed(b'data: {"b":[2]}\r\n\r') != []
    assert reader.feed(b"\n") == []
    assert [event.value for event in reader.feed(b'data: {"a":1}\ndata: {"b":[2]}\n')] == [A]
    assert [event.value for event in reader.close()] == [B]


ends = st.sampled_from(["\n", "\r\n", "\r"])
data_lines = st.sampled_from(
    [
        'data: {"type":"a","text":"é\u2028🌊"}',
        'data:{"b":[1.10,-0]}',
        "data: [DONE]",
        "data: null",
        "data:",
        'data: {"c":',
        "data: 1}",
        ' "d":2}',
        "event: a",
        "event:",
        ": hi",
        "id: 1",
        'data: {"e" 1}',
        "junk",
        'data: {"a":1,"a":2}',
        "HTTP/1.1 200 OK",
        "1f",
    ]
)
streams = st.lists(st.tuples(data_lines, ends, st.sampled_from(["", "\n", "\r\n", "\r"]))).map(
    lambda lines: "".join(map("".join, lines)).encode()
)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    borders = [0, *sorted(place for place in places if place < len(data)), len(data)]
    return [data[start:end] for start, end in pairwise(borders)]


@given(streams, st.booleans(), st.lists(st.integers(0, 400)), st.booleans(), st.integers(1, 40))
@settings(max_examples=300)
def test_no_cut_matters(data: bytes, mark: bool, places: list[int], chunked: bool, size: int) -> None:
    if mark:
        data = b"\xef\xbb\xbf" + data
    if chunked:
        chunks = [data[at : at + size] for at in range(0, len(data), size)]
        data = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in [*chunks, b""])
    whole = heard([data], named=True)
    assert heard(cut(data, places), named=True) == whole
    assert heard([data[at : at + 1] for at in range(len(data))], named=True) == whole


@given(
    st.lists(st.tuples(st.sampled_from([A, B, {"type": "x", "t": "é\u2028\n"}, DONE, {"type": "a\nb"}]), st.booleans()))
)
def test_what_is_written_is_read(events: list[tuple[Any, bool]]) -> None:
    data = b"".join(write(value, named) for value, named in events)
    assert values(data) == [value for value, _ in events]


def test_how_events_are_written() -> None:
    assert (
        write({"type": "ping", "n": text.loads("1.10")}, named=True)
        == b'event: ping\ndata: {"type":"ping","n":1.10}\n\n'
    )
    assert write({"type": "ping"}, named=False) == b'data: {"type":"ping"}\n\n'
    assert write({"a": "\u2028\n"}, named=True) == 'data: {"a":"\u2028\\n"}\n\n'.encode()
    assert write({"type": "a\ndata: 1"}, named=True) == b'data: {"type":"a\\ndata: 1"}\n\n'
    assert write(DONE, named=True) == b"data: [DONE]\n\n"


@pytest.mark.parametrize(
    ("data", "is_one"),
    [
        (b"data: 1", True),
        (b"\n\r\n event: x", True),
        (b"id:1\n", True),
        (b"retry: 1\n", True),
        (b": hi", True),
        (b"\xef\xbb\xbfdata:x", True),
        (b"HTTP/1.1 200 OK\r\n\r\nevent: x\n", True),
        (b"F\r\ndata: {}\n", True),
        (b"", False),
        (b'{"data":1}', False),
        (b"database: x", False),
        (b"data", False),
        (b"HTTP/1.1 200 OK\r\n\r\n{}", False),
    ],
)
def test_what_looks_like_a_stream(data: bytes, is_one: bool) -> None:
    assert looks_like_a_stream(data) is is_one


def test_memory_does_not_grow_with_the_stream() -> None:
    """Also where every event has something to notice, and where no empty line is left."""
    reader = Reader(named=True)
    piece = b'data: {"type":"content_block_delta","delta":{"text":"Hello","text":"there"}}\n' * 100
    reader.feed(piece)
    tracemalloc.start()
    for _ in range(50):
        assert len(reader.feed(piece)) == 100
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 500_000
    assert len(reader.findings) == 3 * TOLD_AT_MOST


@pytest.mark.parametrize(
    "lines",
    [
        [b'data: {"a":"' + b"x" * 150_000 + b'"}\n\n'],
        [b"data: [\n"] * 15_000,
        [b'data: {"a":\n', *[b'data: {"b":1},\n'] * 15_000],
        [b"data: {\n", *[b" x\n"] * 15_000, *[b"data: {\n"] * 400],
        [b'data: {"a":1}\n'] * 15_000,
    ],
    ids=["one line", "brackets", "joined lines", "continued lines", "lost blank lines"],
)
def test_work_is_in_proportion(lines: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """However lines have to be joined and taken apart, no byte is read as JSON more than a few times."""
    data, parsed, read = b"".join(lines), list[int](), text.read
    monkeypatch.setattr(text, "read", lambda said: parsed.append(len(said)) or read(said))
    heard([data[at : at + 1] for at in range(len(data))])
    assert sum(parsed) < 3 * len(data)


@pytest.mark.skipif(SHARED is None, reason="no corpus beside the project")
@pytest.mark.parametrize("protocol", ["chat", "responses", "messages"])
def test_recorded_streams(protocol: str) -> None:
    assert SHARED
    cuts = random.Random(7)
    for path in sorted((SHARED / "corpus" / protocol / "stream").iterdir()):
        data = path.read_bytes()
        whole = heard([data], named=protocol != "chat")
        faults = [event[3] for event in whole[0] if event[3]]
        assert whole[0] and (not faults or path.name == "semantic-kernel-004.sse"), path
        assert heard(cut(data, [cuts.randrange(len(data)) for _ in range(200)]), named=protocol != "chat") == whole, (
            path
        )
        written = b"".join(write(event[0], protocol != "chat") for event in whole[0] if not event[3])
        assert values(written) == [event[0] for event in whole[0] if not event[3]], path
