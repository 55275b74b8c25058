"""`convert --side` and `--back` as calls: there and back over everything that was captured, and what is edited or wrong."""

import copy
from pathlib import Path
from typing import Any

import pytest

from proxai_cli import PROTOCOLS, text

from .calls import Done, answered
from .captures import FIXTURES, Capture, corpus, fixtures

# Everywhere else, and the fixtures also home.
WAYS = [
    *((each, target) for each in fixtures() for target in PROTOCOLS),
    *((each, target) for each in corpus() for target in PROTOCOLS if target != each.protocol),
]
TOOLS = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
REQUEST = {
    "model": "gpt-x",
    "seed": 7,
    "messages": [
        {"role": "user", "content": "private one", "name": "ada"},
        {"role": "assistant", "content": "private two"},
        {"role": "user", "content": "private three", "name": "bob"},
    ],
    "tools": [TOOLS],
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, value: Any) -> None:
    Path(name).write_bytes(value if isinstance(value, bytes) else text.dumps(value))


def call(*words: str) -> Done:
    return answered(list(words))


def there(source: str, to: str, *words: str) -> Done:
    return call("convert", source, "--to", to, "--side", "side.json", "-o", "target", *words)


def back(*words: str) -> Done:
    return call("convert", "target", "--back", "side.json", "-o", "again", *words)


@pytest.mark.parametrize(("capture", "target"), WAYS, ids=lambda said: getattr(said, "label", said))
def test_there_and_back_byte_for_byte(capture: Capture, target: str) -> None:
    done = there(str(capture.path), target, "--from", capture.protocol, "--kind", capture.kind)
    if not Path("side.json").exists():
        assert done.code == 3 and not Path("target").exists(), "no target, no side file"
        return
    assert "side.json holds the capture, and is as private as that" in done.err
    came = back()
    assert Path("again").read_bytes() == capture.data, came.err
    assert came.code == done.code, "what was cut or damaged is not whole for having come back"
    assert "side-stale" not in came.err


STREAM = (FIXTURES / "chat" / "two-tools-in-parallel" / "stream.sse").read_bytes()
LAYOUTS = {
    "indented": text.dumps(REQUEST, indent=3) + b"\n\n",
    "behind a mark": b"\xef\xbb\xbf" + text.dumps(REQUEST),
    "in UTF-16": text.dumps(REQUEST).decode().encode("utf-16"),
    "one key twice": b'{"model":"a",' + text.dumps(REQUEST)[1:],
    "behind a head": b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n\r\n" + text.dumps(REQUEST),
    "a stream with CRLF": STREAM.replace(b"\n", b"\r\n"),
    "a stream with comments": b": hi\n\n" + STREAM,
    "a stream behind a head": b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + STREAM,
    "a stream without its end": STREAM.rpartition(b"data: [DONE]")[0].rstrip(),
    "a stream that is cut": STREAM[: len(STREAM) // 2],
}


@pytest.mark.parametrize("data", LAYOUTS.values(), ids=LAYOUTS)
def test_what_only_the_bytes_say_comes_back(data: bytes) -> None:
    write("source", data)
    there("source", "messages")
    back()
    assert Path("again").read_bytes() == data


def test_compressed_captures_come_back_compressed() -> None:
    import gzip

    write("source", gzip.compress(text.dumps(REQUEST)))
    there("source", "responses")
    assert back("--to", "chat").code == 0
    assert Path("again").read_bytes() == Path("source").read_bytes()


def test_the_target_may_be_laid_out_anew() -> None:
    write("source", REQUEST)
    there("source", "messages")
    write("target", text.dumps(text.loads(Path("target").read_bytes()), indent=8))
    assert "unedited" in back().err
    assert Path("again").read_bytes() == text.dumps(REQUEST)


@pytest.mark.parametrize("options", [[], ["--set", "model=other"], ["--set", "system=join"], ["--request", "asked"]])
@pytest.mark.parametrize("target", ["responses", "messages"])
def test_what_was_edited_comes_back_edited(target: str, options: list[str]) -> None:
    """And what the target has no place for (the names, the seed) comes back with what was not touched."""
    write("source", REQUEST)
    write("asked", REQUEST)
    there("source", target, *options)
    write("target", Path("target").read_bytes().replace(b"private two", b"another"))
    done = back("--report", "report.json")
    wanted = copy.deepcopy(REQUEST)
    wanted["messages"][1]["content"] = "another"
    assert text.loads(Path("again").read_bytes()) == wanted and done.code == 0
    assert "edited since" in done.err and "side-stale" not in done.err
    assert text.loads(Path("report.json").read_bytes())["items"][0]["findings"] == []


def test_the_model_of_the_target_may_be_edited() -> None:
    write("source", REQUEST)
    there("source", "messages", "--set", "model=claude-a")
    write("target", Path("target").read_bytes().replace(b"claude-a", b"claude-b"))
    back()
    assert text.loads(Path("again").read_bytes()) == {**REQUEST, "model": "claude-b"}


def test_what_no_longer_fits_is_told() -> None:
    write("source", REQUEST)
    there("source", "messages")
    edited = text.loads(Path("target").read_bytes())
    del edited["messages"][2]
    write("target", edited)
    done = back("--report", "report.json", "--fail-on", "loss")
    assert done.code == 1 and "  loss  side-stale  /messages/2/name: " in done.err and "private" not in done.err
    (item,) = text.loads(Path("report.json").read_bytes())["items"]
    assert [(found["code"], found["at"]) for found in item["findings"]] == [("side-stale", "/messages/2/name")]
    assert item["counts"] is None and (item["source"]["protocol"], item["target"]["protocol"]) == ("messages", "chat")
    assert text.loads(Path("again").read_bytes())["messages"] == REQUEST["messages"][:2]


def test_an_edited_stream_comes_back_as_a_stream() -> None:
    source = FIXTURES / "chat" / "plain-text" / "stream.sse"
    there(str(source), "messages")
    lines = Path("target").read_bytes().split(b"\n")
    at = next(at for at, line in enumerate(lines) if b"text_delta" in line and line.startswith(b"data"))
    event = text.loads(lines[at].removeprefix(b"data: "))
    said, event["delta"]["text"] = event["delta"]["text"], "other words"
    lines[at] = b"data: " + text.dumps(event)
    write("target", b"\n".join(lines))
    assert back().code == 0
    spelled, other = text.dumps(said), text.dumps("other words")
    assert Path("again").read_bytes() == source.read_bytes().replace(b'"content":' + spelled, b'"content":' + other, 1)


def test_a_tie_is_settled_by_the_side_file() -> None:
    write("source", {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]})
    assert there("source", "messages").code == 3
    assert there("source", "messages", "--from", "chat").code == 0
    assert call("convert", "target", "--to", "chat").code == 3, "the target is a tie, too"
    assert back().code == 0


def test_a_reply_that_became_an_error_comes_back() -> None:
    failed = FIXTURES / "responses" / "failed" / "response.json"
    source = failed if failed.exists() else next((FIXTURES / "responses").glob("*/response.json"))
    there(str(source), "chat")
    back()
    assert Path("again").read_bytes() == source.read_bytes()


def test_the_choices_of_the_way_there_count() -> None:
    write("source", REQUEST)
    there("source", "messages", "--set", "max-tokens=99")
    write("target", Path("target").read_bytes().replace(b"private one", b"another"))
    assert back().code == 0
    assert "max_tokens" not in text.loads(Path("again").read_bytes())


def test_a_damaged_stream_of_which_events_were_left_out() -> None:
    first, rest = STREAM.split(b"\n\n", 1)
    write("source", first + b'\n\ndata: {"a" 1}\n\ndata: 7\n\n' + rest)
    done = there("source", "messages", "--on-error", "skip")
    assert done.code == 3 and "2 left out" in done.err
    assert back().code == 3 and Path("again").read_bytes() == Path("source").read_bytes()
    write("target", Path("target").read_bytes().replace(b"get_weather", b"other_name", 1))
    assert back().code in (0, 3) and "wrong-side-file" not in back().err


def test_a_stream_that_was_ended_comes_back_cut() -> None:
    write("source", STREAM[: len(STREAM) // 2].rpartition(b"\n\n")[0] + b"\n\n")
    assert there("source", "messages", "--repair").code == 3
    assert back().code == 3 and Path("again").read_bytes() == Path("source").read_bytes()


# What is wrong

SECOND = {**REQUEST, "model": "other", "messages": [{"role": "user", "content": "something else"}]}
SECOND["tools"] = [{"type": "function", "function": {"name": "g", "parameters": {}}}]


def other(name: str) -> Any:
    """A target that the side file does not belong to."""
    if name == "stream":
        return STREAM
    if name == "reply":
        return (FIXTURES / "messages" / "plain-text" / "response.json").read_bytes()
    if name == "source":
        return REQUEST
    if name == "another":
        write("second", SECOND)
        return call("convert", "second", "--to", "messages").out
    return {"request": {"url": "/v1/messages", "method": "POST", "body": REQUEST}}


@pytest.mark.parametrize("name", ["stream", "reply", "source", "another", "exchange"])
def test_a_side_file_of_another_document(name: str) -> None:
    write("source", REQUEST)
    there("source", "messages")
    write("target", other(name))
    done = back()
    assert done.code == 3 and "error[wrong-side-file]" in done.err and "try: " in done.err
    assert not Path("again").exists() and "private" not in done.err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["convert", "target", "--to", "responses", "--back", "side.json"], 3, "--to says responses"),
        (["convert", "target", "--from", "chat", "--back", "side.json"], 3, "--from says chat"),
        (["convert", "target", "--back", "source"], 3, "wrong-side-file"),
        (["convert", "target", "--back", "missing"], 3, "wrong-side-file"),
        (["convert", "target", "target", "--back", "side.json"], 2, "several"),
        (["convert", "target", "--back", "side.json", "--set", "system=join"], 2, "--set"),
        (["convert", "target", "--back", "side.json", "--kind", "request"], 2, "--kind"),
        (["convert", "target", "--back", "side.json", "--repair"], 2, "--repair"),
        (["convert", "source", "--to", "responses", "--side", "x.json", "--back", "side.json"], 2, "together"),
        (["convert", "target", "--back", "side.json", "--side", "x.json"], 2, "do not go together"),
        (["convert", "source", "source", "--to", "messages", "--side", "x.json"], 2, "several"),
        (["convert", "lines", "--to", "messages", "--side", "x.json"], 2, "several"),
        (["convert", "source", "--to", "messages", "--side", "-"], 2, "stdout is for the document"),
        (["convert", "source", "--to", "messages", "--side", "source"], 2, "would be overwritten"),
        (["convert", "source", "--to", "messages", "--side", "x.json", "-o", "x.json"], 2, "two documents"),
        (["convert", "source", "--to", "messages", "--side", "source/x.json"], 4, "cannot be written"),
        (["convert", "source", "--to", "messages", "--side", "x.json", "-o", "source/out"], 4, "cannot be written"),
        (["convert", "broken", "--to", "messages", "--side", "x.json"], 3, "bad-json"),
    ],
    ids=lambda said: " ".join(said) if isinstance(said, list) else "",
)
def test_wrong_calls(words: list[str], code: int, said: str) -> None:
    write("source", REQUEST)
    write("broken", b'{"model" "private"}')
    write("lines", text.dumps(REQUEST) + b"\n" + text.dumps(REQUEST) + b"\n")
    there("source", "messages")
    done = call(*words)
    assert done.code == code and said in done.err and "Traceback" not in done.err and "private" not in done.err
    assert not Path("x.json").exists() and Path("source").read_bytes() == text.dumps(REQUEST)


def test_several_choices_have_no_side_file() -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}
    reply = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice, {**choice, "index": 1}],
    }
    write("source", reply)
    done = there("source", "messages", "--set", "choice=all")
    assert done.code == 2 and "several" in done.err and not Path("side.json").exists()
    there("source", "messages")
    assert back().code == 0 and Path("again").read_bytes() == text.dumps(reply)


def test_the_report_is_written_where_the_side_file_is_not() -> None:
    write("source", REQUEST)
    done = call("convert", "source", "--to", "messages", "--side", "source/x.json", "--report", "report.json")
    assert done.code == 4 and text.loads(Path("report.json").read_bytes())["verdict"]["exit"] == 4


def test_a_side_file_of_another_mapping() -> None:
    """What this version makes of the source is not what was written then."""
    write("source", REQUEST)
    there("source", "messages")
    kept = text.loads(Path("side.json").read_bytes())
    write("side.json", {**kept, "target_digest": "0" * 64, "version": "0.0.9"})
    done = back()
    assert done.code == 3 and "version 0.0.9" in done.err


def test_quiet() -> None:
    write("source", REQUEST)
    assert (
        there("source", "messages", "-q").err
        == "proxai: note: side.json holds the capture, and is as private as that\n"
    )
    assert there("source", "messages", "-qq").err == ""


def test_several_documents_have_a_side_file_each() -> None:
    Path("captures/inner").mkdir(parents=True)
    write("captures/a.json", REQUEST)
    write("captures/inner/b.json", {**REQUEST, "seed": 8})
    write("captures/c.sse", STREAM)
    done = call("convert", "captures", "--to", "messages", "-o", "out/", "--side", "sides/")
    assert done.code == 0 and "the files in sides/ hold the captures" in done.err
    assert sorted(str(path) for path in Path("sides").rglob("*.json")) == [
        "sides/a.json.side.json", "sides/c.sse.side.json", "sides/inner/b.json.side.json",
    ]  # fmt: skip
    assert call("convert", "out", "--back", "sides/", "-o", "again/").code == 0
    for name in ("a.json", "inner/b.json", "c.sse"):
        assert Path("again", name).read_bytes() == Path("captures", name).read_bytes()


def test_an_input_without_its_side_file() -> None:
    Path("captures").mkdir()
    write("captures/a.json", REQUEST)
    write("captures/b.json", REQUEST)
    call("convert", "captures", "--to", "messages", "-o", "out/", "--side", "sides/")
    Path("sides/b.json.side.json").unlink()
    done = call("convert", "out", "--back", "sides/", "-o", "again/", "--on-error", "skip")
    assert done.code == 3 and "sides/b.json.side.json" in done.err and Path("again/a.json").exists()
