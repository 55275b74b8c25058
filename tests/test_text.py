"""The one door to JSON: nothing is lost on the way in and out, faults have a place, and size costs nothing."""

import copy
import math
import pickle
import re
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxai_cli import text
from proxai_cli.errors import NotReadable, Place
from proxai_cli.text import Number, dumps, loads, read, same

from .shared import SHARED

PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
# A high half before a low one is the character itself once it is written and read, so it is no value of its own.
strings = st.text(st.characters(exclude_categories=())).filter(lambda string: not PAIR.search(string))
numbers = st.from_regex(r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
values = st.recursive(
    st.none() | st.booleans() | numbers.map(loads) | st.integers() | strings,
    lambda inner: st.lists(inner) | st.dictionaries(strings, inner),
)


@given(values)
def test_every_value_comes_back(value: Any) -> None:
    assert same(loads(dumps(value)), value)
    assert same(loads(dumps(value, indent=2)), value)
    assert read(dumps(value)) == (value, [])


@given(numbers)
def test_every_number_keeps_its_spelling(number: str) -> None:
    assert dumps(loads(number)) == number.encode()
    assert dumps(loads(f'{{"a":[{number}]}}'), 1).count(number.encode()) == 1


@given(values)
def test_the_careful_way_is_the_quick_way(value: Any) -> None:
    """Minus zero makes the reader careful, half a pair the writer; the rest of the document is the same for both."""
    assert same(loads(b"[-0," + dumps(value) + b"]")[1], value)
    for indent in (None, 2):
        both = [dumps(["x", value], indent), dumps(["\ud800", value], indent)]
        assert both[1].replace(rb"\ud800", b"x", 1) == both[0]


@given(st.binary() | st.text('{}[]",:\\1-0é '))
def test_whatever_comes_there_is_a_value_or_a_fault_with_a_place(data: bytes | str) -> None:
    for way in (loads, read):
        data = data.encode() if isinstance(data, str) else data
        try:
            way(data)
        except NotReadable as fault:
            assert fault.code in ("bad-json", "empty")
            assert fault.place.byte is not None and 0 <= fault.place.byte <= len(data)


@pytest.mark.parametrize(
    "kept",
    [
        "1.10",
        "1e400",
        "-1e400",
        "1E5",
        "-0",
        "-0.0",
        "0.1e-7",
        "9007199254740993",
        "18446744073709551616",
        "9" * 4301,
        "-" + "9" * 10_000,
        "1." + "9" * 9_999,
        '"\\ud83d"',
        '"\\ude00\\ud83d"',
        '"\u2028\u2029\x7f\x85"',
        '"\U0001f30a"',
        '{"":{"a/b":1,"a~b":2}}',
        "[]",
        "{}",
        "true",
        '"\\u0000"',
        '["\\ud800",-0,1.10]',
        '{"b":1,"a":2}',
    ],
    ids=lambda kept: kept[:20],
)
def test_what_must_survive(kept: str) -> None:
    data = kept.encode()
    assert dumps(loads(data)) == data
    assert dumps(loads(kept)) == data
    assert dumps(read(data)[0]) == data


def test_a_half_pair_that_stands_for_itself() -> None:
    assert loads('{"a":"\ud83d"}') == {"a": "\ud83d"}
    assert dumps({"a": "\ud83d", "b": "é\u2028"}) == '{"a":"\\ud83d","b":"é\u2028"}'.encode()


FAULTS: list[tuple[bytes, str, int, int, int]] = [
    (b"", "empty", 1, 1, 0),
    (b" \n ", "empty", 2, 2, 3),
    (b"[1,]", "bad-json", 1, 4, 3),
    (b"[1 2]", "bad-json", 1, 4, 3),
    (b'{"a" 1}', "bad-json", 1, 6, 5),
    (b'{"a":1,}', "bad-json", 1, 8, 7),
    (b"{1:2}", "bad-json", 1, 2, 1),
    ('{"é":\n "é", x}'.encode(), "bad-json", 2, 7, 14),
    (b"[NaN]", "bad-json", 1, 2, 1),
    (b"-Infinity", "bad-json", 1, 1, 0),
    (b"[01]", "bad-json", 1, 3, 2),
    (b"[1] x", "bad-json", 1, 5, 4),
    (b'["\t"]', "bad-json", 1, 3, 2),
    (b'["\\x"]', "bad-json", 1, 3, 2),
    (b'["a', "bad-json", 1, 4, 3),
    (b'["a\\u12', "bad-json", 1, 8, 7),
    (b"[tru", "bad-json", 1, 5, 4),
    (b"[1.", "bad-json", 1, 4, 3),
    (b'{"a":1\xff}', "bad-json", 1, 7, 6),
    (b"[" + b"9" * 10_001 + b"]", "number-too-long", 1, 2, 1),
    (b"[0." + b"9" * 10_000 + b"]", "number-too-long", 1, 2, 1),
]


@pytest.mark.parametrize(("data", "code", "line", "column", "byte"), FAULTS, ids=lambda part: repr(part)[:20])
@pytest.mark.parametrize("way", [loads, read])
def test_a_fault_has_its_place(
    way: Callable[[bytes], Any], data: bytes, code: str, line: int, column: int, byte: int
) -> None:
    with pytest.raises(NotReadable) as caught:
        way(data)
    assert (caught.value.code, caught.value.place) == (code, Place(line, column, byte))


def test_after_a_mark_places_are_those_of_the_file() -> None:
    with pytest.raises(NotReadable) as caught:
        read(b"\xef\xbb\xbf[1 2]")
    assert caught.value.place.byte == 6


NOTICED: list[tuple[bytes, Any, list[tuple[str, Place]]]] = [
    (b'\xef\xbb\xbf{"a":1}', {"a": 1}, [("byte-order-mark", Place(1, 1, 0))]),
    (
        b'{"a":"caf\xe9","b":"\xe2\x80"}',
        {"a": "caf\ufffd", "b": "\ufffd"},
        [("invalid-utf8", Place(1, 6, 5)), ("invalid-utf8", Place(1, 17, 16))],
    ),
    (b'{"a\xff":1}', {"a\ufffd": 1}, [("invalid-utf8", Place(1, 2, 1))]),
    (b'{"a":1,"b":2,"a":3}', {"a": 3, "b": 2}, [("twice-the-same-key", Place(1, 14, 13, pointer=""))]),
    (
        b'{"x/y":[0,{"~":{"k":1,\n"k":2}}]}',
        {"x/y": [0, {"~": {"k": 2}}]},
        [("twice-the-same-key", Place(2, 1, 23, pointer="/x~1y/1/~0"))],
    ),
    (b'{"a\\\\":1,"a\\\\":2}', {"a\\": 2}, [("twice-the-same-key", Place(1, 10, 9, pointer=""))]),
    (b'{"a\\\\":1,"b":1,"b":2}', {"a\\": 1, "b": 2}, [("twice-the-same-key", Place(1, 16, 15, pointer=""))]),
    (b'{"a":1,"\\u0061":2}', {"a": 2}, [("twice-the-same-key", Place(1, 8, 7, pointer=""))]),
    (b'{"a":"{\\"b\\":1,\\"b\\":2}","c":"\\\\\\":"}', {"a": '{"b":1,"b":2}', "c": '\\":'}, []),
]


@pytest.mark.parametrize(("data", "value", "findings"), NOTICED, ids=lambda part: repr(part)[:30])
def test_what_is_noticed(data: bytes, value: Any, findings: list[tuple[str, Place]]) -> None:
    assert read(data) == (value, findings)


def test_loads_takes_no_invalid_utf8() -> None:
    with pytest.raises(NotReadable, match="UTF-8"):
        loads(b'{"a":"\xff"}')


@given(st.dictionaries(strings, st.none() | strings | st.lists(strings), min_size=1, max_size=5), st.data())
def test_every_doubled_key_is_found(home: dict[str, Any], data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(list(home)))
    doubled = dumps(home)[:-1] + b"," + dumps(key) + b":null}"
    value, findings = read(dumps([doubled.decode()])[:-1] + b"," + doubled + b"]")
    assert same(value[1], home | {key: None})
    assert [(code, place.pointer) for code, place in findings] == [("twice-the-same-key", "/1")]


def under(depth: int, call: Callable[[], Any]) -> Any:
    return call() if depth == 0 else under(depth - 1, call)


@pytest.mark.parametrize("caller", [0, 800])
@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_depth_is_refused_where_it_is_stated_whoever_calls(caller: int, opening: str) -> None:
    closing = "]" if opening == "[" else "}"
    nested = {
        depth: opening * (depth - 1) + opening[0] + closing * depth for depth in (text.MAX_DEPTH, text.MAX_DEPTH + 1)
    }
    deepest = under(caller, lambda: loads(nested[text.MAX_DEPTH]))
    assert under(caller, lambda: dumps(deepest)).decode() == nested[text.MAX_DEPTH]
    assert under(caller, lambda: same(deepest, read(nested[text.MAX_DEPTH].encode())[0]))
    for way in (loads, read):
        with pytest.raises(NotReadable, match="nested more than 500 deep") as caught:
            under(caller, lambda way=way: way(nested[text.MAX_DEPTH + 1].encode()))
        assert caught.value.place.byte == text.MAX_DEPTH * len(opening)


def test_what_is_written_may_be_deeper() -> None:
    value: Any = []
    for _ in range(5_000):
        value = [value]
    assert dumps(value) == b"[" * 5_001 + b"]" * 5_001
    assert same(value, copy.copy(value))


@pytest.mark.parametrize("unit", [b"[", b'{"a":', b'[{"a":[1,', b"[ "])
def test_brackets_without_end_are_looked_at_no_further(unit: bytes) -> None:
    data = unit * (20_000_000 // len(unit))
    tracemalloc.start()
    with pytest.raises(NotReadable, match="nested more than 500 deep") as fault:
        read(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert fault.value.place.byte is not None and fault.value.place.byte <= 500 * len(unit)
    assert peak < 8_000_000


def test_many_findings_cost_one_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    data, walked, place = b'{"a":0' + b',"a":0' * 20_000 + b"}", list[int](), text._Careful._place

    def counted(self: text._Careful, at: int, pointer: str | None = None) -> Place:
        walked.append(at - self.seen)
        return place(self, at, pointer)

    monkeypatch.setattr(text._Careful, "_place", counted)
    assert len(read(data)[1]) == len(walked) == 20_000
    assert sum(walked) <= len(data)


SAME = [(1, 1), (loads("1.10"), loads("1.10")), ({"a": [1, None]}, {"a": [1, None]}), (loads("0.5"), 0.5)]
NOT_SAME = [
    (True, 1),
    (1, True),
    (False, 0),
    (None, False),
    (1, 1.0),
    (loads("1"), loads("1.0")),
    (loads("1.10"), loads("1.1")),
    (loads("-0"), loads("0")),
    (loads("1e400"), loads("1e401")),
    (loads("1e5"), loads("1E5")),
    ("1", 1),
    ([], {}),
    ({"a": 1, "b": 1}, {"b": 1, "a": 1}),
    ([1, 2], [1]),
    ({"a": 1}, {"a": 1, "b": 2}),
    ({"a": [True]}, {"a": [1]}),
    (loads("9" * 5000), loads("9" * 4999 + "8")),
]


def test_same_is_exact() -> None:
    assert all(same(one, other) and same(other, one) for one, other in SAME)
    assert not [pair for pair in NOT_SAME if same(*pair) or same(*reversed(pair))]


def test_a_number_calculates_and_travels() -> None:
    number = loads("1.10")
    assert number == 1.1 and isinstance(number, float) and not math.isnan(number)
    for twin in (copy.deepcopy(number), pickle.loads(pickle.dumps(number))):
        assert isinstance(twin, Number) and twin.text == "1.10"


def test_no_value_but_json_is_written() -> None:
    with pytest.raises(TypeError):
        dumps({"a": object()})


def test_values_that_follow_one_another() -> None:
    data = b'{"a":1}\n{"b":\n2} [3]x{'
    assert text.split(data) == [b'{"a":1}\n', b'{"b":\n2} ', b"[3]", b"x{"]
    assert text.split(b"") == []


def test_pointers_escape_their_own_marks() -> None:
    assert text.pointer(["a/b", 0, "~", ""]) == "/a~1b/0/~0/"


@pytest.mark.skipif(SHARED is None, reason="no corpus beside the project")
def test_recorded_bodies_come_back() -> None:
    assert SHARED
    for path in sorted((SHARED / "corpus").glob("*/*/*.json")):
        value, findings = read(path.read_bytes())
        assert findings == [], path
        assert same(loads(dumps(value)), value) and same(loads(dumps(value, 2)), value), path
