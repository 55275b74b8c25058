"""`--jobs` changes nothing but the time: same documents, same screen, same report, same exit code."""

import gc
import shutil
import sys
from pathlib import Path

import pytest

from proxai_cli import bulk, text
from proxai_cli.cli import items
from proxai_cli.cli.run import Run
from proxai_cli.report.account import Item

from .calls import Done, answered
from .captures import FIXTURES

CALLS = FIXTURES / "calls"
REPORT = "report.json"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # The other processes find the program where the tests do.
    monkeypatch.setenv("PYTHONPATH", str(FIXTURES.parent))


def call(*words: str) -> tuple[Done, dict[str, bytes]]:
    """A call, and the files that it wrote."""
    for place in (Path("out"), Path(REPORT)):
        shutil.rmtree(place, ignore_errors=True) if place.is_dir() else place.unlink(missing_ok=True)
    done = answered(list(words))
    written = [path for path in [Path(REPORT), *Path("out").rglob("*")] if path.is_file()]
    return done, {str(path): path.read_bytes() for path in written}


def lines(*values: object) -> str:
    Path("lines.jsonl").write_bytes(b"".join(text.dumps(value) + b"\n" for value in values))
    return "lines.jsonl"


REQUEST = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "seed": 1}
BATCH = [
    {"custom_id": f"r{number}", "method": "POST", "url": "/v1/chat/completions", "body": REQUEST} for number in range(3)
]


@pytest.mark.parametrize(
    "words",
    [
        ["convert", str(CALLS / "batch.jsonl"), "--to", "messages", "--on-error", "skip"],
        ["convert", str(CALLS / "batch.jsonl"), "--to", "messages"],  # stops at the first bad record
        ["convert", str(FIXTURES / "chat"), "--to", "messages", "-o", "out/", "--on-error", "skip"],
        ["convert", str(CALLS / "traffic.har"), "--to", "chat", "-o", "out/", "--on-error", "skip"],
        ["convert", str(CALLS / "s.sse"), "--to", "messages"],
        ["convert", str(CALLS / "req.json"), "--to", "messages"],
        ["convert", "missing.json", "--to", "messages"],
        ["convert", str(CALLS / "hi.json"), str(CALLS / "req.json"), "--to", "responses"],
        ["diff", str(CALLS / "batch.jsonl"), "--to", "responses", "--on-error", "skip", "--format", "lines"],
        ["diff", str(FIXTURES / "messages"), "--to", "chat", "--format", "lines"],
    ],
    ids=lambda words: " ".join(word.removeprefix(f"{FIXTURES}/") for word in words),
)
def test_jobs_change_nothing(words: list[str]) -> None:
    report = ["--report", REPORT]
    alone, spread = call(*words, *report), call(*words, *report, "-j", "2")
    assert alone == spread
    assert alone[1][REPORT]


@pytest.mark.parametrize("envelope", ["keep", "bare"])
def test_records_keep_their_envelopes(envelope: str) -> None:
    words = ["convert", lines(*BATCH, BATCH[0]), "--to", "messages", "--envelope", envelope, "--on-error", "skip"]
    alone, spread = call(*words), call(*words, "--jobs", "2")
    assert alone == spread
    assert alone[0].code == 3 and "dup-custom-id" in alone[0].err and alone[0].out.count(b"\n") == 3


def test_a_mistake_of_ours_is_told_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from proxai_cli.cli import spreading

    monkeypatch.setattr(spreading, "opened", None)
    act = spreading.Act("fail", (RuntimeError("private"), None, None))
    from proxai_cli.cli.options import Call

    sent = spreading._sent(act, Call("convert", [], {"debug": False}))
    assert sent.said[0].code == "internal" and "private" not in str(sent.said[0])


def test_a_bad_number_is_a_bad_call() -> None:
    done, _ = call("convert", lines(REQUEST, REQUEST), "--to", "messages", "-j", "many")
    assert done.code == 2 and done.out == b""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_no_more_is_held_than_is_at_work(jobs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    held, count = 20, 300
    monkeypatch.setattr(items, "HELD", held)
    monkeypatch.setattr(bulk, "BATCH", 8)
    most, keep = 0, Run._keep

    def kept(run: Run, item: Item) -> None:
        nonlocal most
        keep(run, item)
        if len(run.items) % 50 == 0:
            most = max(most, sum(isinstance(each, Item) for each in gc.get_objects()))

    monkeypatch.setattr(Run, "_keep", kept)
    gc.collect()
    before = sum(isinstance(each, Item) for each in gc.get_objects())
    lines(*[REQUEST] * count)
    words = f"convert lines.jsonl --to messages -j {jobs} --report out/report.jsonl -o out/o.jsonl".split()
    assert answered(words).code == 0
    assert Path("out/report.jsonl").read_bytes().count(b"\n") == count + 1
    assert held <= most - before <= held + 8 * bulk.WAITING * 2 + 8


def test_ray_gives_the_same() -> None:
    pytest.importorskip("ray.data", reason="the extra proxai[ray] is not installed")
    words = ["convert", str(CALLS / "batch.jsonl"), "--to", "messages", "--on-error", "skip"]
    assert call(*words) == call(*words, "--engine", "ray")


def test_without_ray_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    done, _ = call("convert", lines(REQUEST, REQUEST), "--to", "messages", "--engine", "ray")
    assert done.code == 2 and "proxai[ray]" in done.err
