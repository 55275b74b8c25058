"""When events go out: stamps, paces and comments of `stream` and `explode`, by a clock that the tests wind."""

import time
from pathlib import Path

import pytest

from proxai_cli.pipe import Pipe

from .calls import answered

HEAD = '{"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-x","choices":[{"index":0,"delta":'
CHUNKS = [
    HEAD + '{"role":"assistant","content":"a"}}]}',
    HEAD + '{"content":"b"}}]}',
    HEAD + '{},"finish_reason":"stop"}]}',
    "[DONE]",
]


def stream(*between: str) -> bytes:
    """The chunks, each behind what stands before it."""
    before = [*between, *[""] * (len(CHUNKS) - len(between))]
    return "".join(f"{said}data: {chunk}\n\n" for said, chunk in zip(before, CHUNKS, strict=True)).encode()


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was slept each time; nothing else makes time go by."""
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(round(seconds, 6))

    monkeypatch.setattr(time, "monotonic", lambda: 100 + sum(slept))
    monkeypatch.setattr(time, "sleep", sleep)
    return slept


def call(tmp_path: Path, given: bytes, *words: str) -> bytes:
    done = answered(["stream", "--to", "chat", *words], given, tmp_path)
    assert done.code == 0, done.err
    return done.out


def test_each_event_waits_for_the_one_before(tmp_path: Path, naps: list[float]) -> None:
    assert call(tmp_path, stream(), "--pace", "250") == call(tmp_path, stream())
    assert naps == [0.25] * 3


def test_stamps_tell_when_events_came_and_are_waited_for(tmp_path: Path, naps: list[float]) -> None:
    stamped = call(tmp_path, stream(), "--pace", "250", "--stamp")
    assert [line for line in stamped.decode().splitlines() if line.startswith(":")] == [
        ": t=+0.000",
        ": t=+0.250",
        ": t=+0.500",
        ": t=+0.750",
    ]
    naps.clear()
    assert call(tmp_path, stamped, "--pace", "recorded") == call(tmp_path, stream())
    assert naps == [0, 0.25, 0.25, 0.25]
    naps.clear()
    assert call(tmp_path, stamped, "--pace", "recorded", "--stamp") == stamped


def test_a_comment_that_only_looks_like_a_stamp_is_not_waited_for(tmp_path: Path, naps: list[float]) -> None:
    call(tmp_path, stream(f": t=+{'9' * 25}.0\n", f": t=+{'9' * 4000}\n"), "--pace", "recorded")
    assert not naps


def test_what_comes_together_has_one_stamp(tmp_path: Path, naps: list[float]) -> None:
    assert call(tmp_path, stream(), "--stamp").count(b": t=") == 1


def test_comments_pass_where_they_are_kept(tmp_path: Path) -> None:
    given = stream("", ": keep-alive\n\n", ":\n\n")
    assert b":" not in call(tmp_path, given).replace(b"data:", b"").replace(b'":', b"")
    kept = call(tmp_path, given, "--keep-comments")
    assert [line for line in kept.split(b"\n\n") if line.startswith(b":")] == [b": keep-alive", b": "]
    assert kept.index(b": keep-alive") < kept.index(b'"content":"b"')


def test_comments_change_no_account() -> None:
    given = stream(": one\n", "", ": two\n\n")
    plain, kept = Pipe("chat", "messages"), Pipe("chat", "messages", comment=lambda said: b"")
    assert plain.feed(given) + plain.close() == kept.feed(given) + kept.close()
    assert plain.translator.account == kept.translator.account
    assert (plain.read, plain.source_leaves) == (kept.read, kept.source_leaves)


def test_explode_at_a_pace(tmp_path: Path, naps: list[float]) -> None:
    reply = b'{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"one two"},"finish_reason":"stop"}]}'
    plain = answered(["explode"], reply, tmp_path)
    assert answered(["explode", "--pace", "20"], reply, tmp_path).out == plain.out
    assert naps == [0.02] * (plain.out.count(b"\n\n") - 1)


@pytest.mark.parametrize(
    "words",
    [
        ["stream", "--to", "chat", "--pace", "soon"],
        ["stream", "--to", "chat", "--pace", "-1"],
        ["explode", "--pace", "x"],
    ],
    ids=" ".join,
)
def test_a_bad_pace_is_a_bad_call(tmp_path: Path, words: list[str]) -> None:
    done = answered(words, stream(), tmp_path)
    assert (done.code, done.out) == (2, b"")
    assert "--pace" in done.err
