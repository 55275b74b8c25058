"""The command line: what goes where, exit codes, errors, detection, options; and what starting it costs."""

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import proxai_cli
from proxai_cli import text
from proxai_cli.cli import app, faults
from proxai_cli.cli.choices import CHOICES
from proxai_cli.cli.options import plain
from proxai_cli.cli.places import offsets
from proxai_cli.errors import ProxaiError
from proxai_cli.reasons import ERRORS, FINDINGS, REASONS
from proxai_cli.report.forms import WRITERS
from proxai_cli.schemas import ours, written

from .calls import Done, answered

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = jsonschema.Draft202012Validator(ours("report"))

REQUEST = {
    "model": "gpt-x",
    "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "words that are private"}],
    "seed": 7,
    "metadata": {"team": "a", "trace": "b"},
}
TIE = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]}
REPLY = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "content": [{"type": "text", "text": "Hello you"}],
    "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 3, "output_tokens": 2},
}  # fmt: skip
HEAD = '"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-x"'


def chunk(delta: str, finish: str = "null") -> str:
    return f'data: {{{HEAD},"choices":[{{"index":0,"delta":{delta},"finish_reason":{finish}}}]}}\n\n'


HEL = chunk('{"role":"assistant","content":"Hel"}')
STREAM = HEL + chunk('{"content":"lo"}') + chunk("{}", '"stop"') + "data: [DONE]\n\n"
CUT = HEL + chunk('{"content":"lo"}')
BAD = (
    HEL
    + 'data: {"id":"c1" "object":"private"}\n\n'
    + chunk('{"content":"lo"}')
    + chunk("{}", '"stop"')
    + "data: [DONE]\n\n"
)


Proxai = Callable[..., Done]


@pytest.fixture
def proxai(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Proxai:
    """Answers calls in a folder that holds `files`, with stdin from a file."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, said in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(said if isinstance(said, bytes) else said.encode())

    def call(*words: str, stdin: str | bytes = "") -> Done:
        return answered(list(words), stdin if isinstance(stdin, bytes) else stdin.encode(), tmp_path)

    return call


def dumped(value: Any) -> str:
    return text.dumps(value).decode()


FILES: dict[str, Any] = {
    "req.json": dumped(REQUEST),
    "tie.json": dumped(TIE),
    "reply.json": dumped(REPLY),
    "s.sse": STREAM,
    "cut.sse": CUT,
    "bad.sse": BAD,
    "bad.json": '{"model": "m",\n "messages": [{"role": "user" "content": "private words"}]}',
    "lines.jsonl": dumped(REQUEST) + "\n" + dumped({**REQUEST, "seed": 8}) + "\n",
    "mixed.jsonl": dumped(REQUEST) + '\n{"role" "private"}\n' + dumped(REQUEST) + "\n",
    "some/b.json": dumped(REQUEST),
    "some/a/c.json": dumped(REQUEST),
    "some/.hidden.json": "no json",
    "nothing.json": "",
    "prose.txt": "Dear private reader,\n",
    "same.json": dumped({**REQUEST, "seed": None, "metadata": None}),
}


# The document and what is said about it


def test_the_document_goes_to_stdout_and_the_rest_to_stderr(proxai: Proxai) -> None:
    done = proxai("convert", "req.json", "--to", "messages")
    assert done.code == 0 and done.value["system"] and done.out.endswith(b"}\n") and done.out.count(b"\n") == 1
    first, *losses, left, last = done.err.splitlines()
    assert left == "  note  1 leaf in which nothing is lost (-v)"
    assert re.fullmatch(r"req\.json: chat request -> messages \(certain: .+\)", first)
    assert losses == [
        "  loss  no-equivalent       dropped      /seed, /metadata/team, /metadata/trace (3)",
        "  note  default-max-tokens  synthesized  /max_tokens",
    ]
    sums = re.fullmatch(r"source 8 = (\d+) carried \+ (\d+) changed \+ (\d+) dropped; details: (.+)", last)
    assert sums and sum(map(int, sums.groups()[:3])) == 8
    assert sums[4] == "proxai diff req.json --to messages"


@pytest.mark.parametrize(("quiet", "lines"), [("-q", 0), ("-qq", 0)])
def test_quiet(proxai: Proxai, quiet: str, lines: int) -> None:
    done = proxai("convert", "req.json", "--to", "messages", quiet)
    assert done.err.count("\n") == lines and done.value


def test_verbose_tells_notes_and_evidence(proxai: Proxai) -> None:
    done = proxai("convert", "req.json", "--to", "messages", "-v")
    assert "  evidence: " in done.err
    assert len(done.err.splitlines()) > len(proxai("convert", "req.json", "--to", "messages").err.splitlines())


def test_the_details_can_be_copied(proxai: Proxai) -> None:
    done = proxai(
        "convert",
        "tie.json",
        "--from",
        "chat",
        "--to",
        "messages",
        "--set",
        "tool-error-prefix=a b",
        "--request",
        "req.json",
    )
    command = "proxai diff tie.json --to messages --from chat --request req.json --set 'tool-error-prefix=a b'"
    assert done.code == 0 and (command in done.err) is ("details" in done.err)
    done = proxai("convert", "--from", "chat", "--to", "messages", stdin=dumped(REQUEST))
    assert done.value and "details" not in done.err and done.err.startswith("stdin: ")


def test_the_same_kind_comes_out(proxai: Proxai) -> None:
    assert proxai("convert", "reply.json", "--to", "chat").value["choices"][0]["message"]["content"] == "Hello you"
    assert proxai("convert", "req.json", "--to", "chat").out == dumped(REQUEST).encode() + b"\n"
    assert proxai("convert", "s.sse", "--to", "chat").out == STREAM.encode()


def test_convert_and_stream_write_the_same_bytes(proxai: Proxai) -> None:
    one = proxai("convert", "s.sse", "--to", "messages")
    for other in (
        proxai("stream", "s.sse", "--to", "messages"),
        proxai("stream", "--to", "messages", stdin=STREAM),
        proxai("convert", "-", "--to", "messages", stdin=STREAM.replace("\n", "\r\n")),
    ):
        assert other.out == one.out and other.code == 0
    first, loss, _, _ = proxai("stream", "--to", "messages", stdin=STREAM).err.splitlines()
    assert first == "stdin: chat stream -> messages, 4 events, complete, 1 loss"
    assert loss == "  loss  no-equivalent  dropped      /created"


NEWCOMERS: list[tuple[list[str], int, str]] = [
    (["convert", "req.json", "--to", "anthropic"], 2, "try: --to messages\n"),
    (["convert", "req.json", "--to", "Claude"], 2, "try: --to messages\n"),
    (["convert", "req.json", "--from", "openai", "--to", "messages"], 2, "try: --from chat   or   --from responses\n"),
    (["validate", "req.json", "--as", "anthropic"], 2, "try: --as messages\n"),
    (["convert", "req.json", "--to", "gemini"], 2, "try: proxai convert --help\n"),
    (["diff", "req.json", "--to", "messages", "--report", "foo:r.txt"], 2, "FORM is one of table, tree, lines, json,"),
    (["map", "/seed"], 2, "try: proxai map chat messages --field /seed\n"),
    (["collect", "reply.json"], 3, "error[wrong-kind] reply.json: this is a messages response, no stream\n"),
    (["convert", "none.json", "--from", "messages", "--to", "chat"], 3, "try: --kind request, response, stream or error"),
    (["convert", "req.json", "--from", "responses", "--to", "messages"], 3, "--from says responses, the body says chat: "),
]  # fmt: skip


@pytest.mark.parametrize(("words", "code", "said"), NEWCOMERS, ids=[" ".join(each[0]) for each in NEWCOMERS])
def test_what_a_newcomer_types_is_answered_with_what_was_meant(
    proxai: Proxai, words: list[str], code: int, said: str
) -> None:
    Path("none.json").write_text('{"x": 1}')
    done = proxai(*words)
    assert done.code == code and said in done.err
    assert all(len(line) <= 130 for line in done.err.splitlines())


def test_files_of_ours_in_a_directory_are_skipped_and_counted(proxai: Proxai) -> None:
    Path("all").mkdir()
    for name in ("req.json", "s.sse"):
        Path("all", name).write_bytes(Path(name).read_bytes())
    Path("all/proxai.toml").write_text('to = "messages"\n')
    forms = ["json", "jsonl", "sarif", "gitlab", "junit", "markdown", "html"]
    reports = [word for form in forms for word in ("--report", f"{form}:all/r.{form}")]
    proxai("diff", "req.json", "--to", "messages", *reports, "--baseline", "all/known.json", "--write-baseline")
    proxai("convert", "req.json", "--to", "messages", "--side", "all/side.json")
    assert len(list(Path("all").iterdir())) == 12
    done = proxai("inspect", "all")
    assert done.code == 0 and len(done.out.splitlines()) == 4
    assert done.err == "proxai: note: 10 files of proxai skipped\n"
    assert "10 files of proxai skipped" in proxai("convert", "all", "--to", "messages", "-o", "out/").err
    assert sorted(path.name for path in Path("out").iterdir()) == ["req.json", "s.sse"]
    assert proxai("diff", "all", "all").code == 0
    assert proxai("diff", "--merge", "all/r.json", "--format", "json").value["totals"]["items"] == 1


def test_a_directory_of_nothing_else_holds_no_capture(proxai: Proxai) -> None:
    Path("mine").mkdir()
    Path("mine/proxai.toml").write_text('to = "messages"\n')
    done = proxai("inspect", "mine")
    assert done.code == 3 and "there is no capture, only files of proxai, in the directory 'mine'" in done.err


@pytest.mark.parametrize("said", ['to = "messages"\n', "# so\n[tool.x]\n# so\na = 1\n", "[[rule]]\nid = 'x'\n"])
def test_toml_is_no_json_lines(proxai: Proxai, said: str) -> None:
    Path("x.toml").write_text(said)
    done = proxai("inspect", "x.toml")
    assert done.code == 3 and done.err.count("error[") == 1 and "this is TOML, a file of settings" in done.err


def test_a_whole_exchange_is_called_one(proxai: Proxai) -> None:
    body = text.loads(Path("req.json").read_bytes())
    Path("call.json").write_bytes(
        text.dumps({"method": "POST", "url": "/v1/chat/completions", "headers": {}, "body": body})
    )
    assert proxai("inspect", "call.json").out.splitlines()[1].split()[2:4] == [b"chat", b"exchange"]


def test_a_stream_needs_a_stream(proxai: Proxai) -> None:
    done = proxai("stream", "reply.json", "--to", "chat")
    assert done.code == 3 and done.out == b"" and "error[wrong-kind]" in done.err and "try: proxai explode" in done.err


def test_each_event_is_out_before_the_next_is_read() -> None:
    command = [sys.executable, "-m", "proxai_cli", "stream", "--to", "messages"]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=buffered) as live:
        assert live.stdin and live.stdout
        patience = threading.Timer(30, live.kill)
        patience.start()
        first, second, rest = STREAM.split("\n\n", 2)
        for event, word in ((first, b'"Hel"'), (second, b'"lo"')):
            live.stdin.write(event.encode() + b"\n\n")
            live.stdin.flush()
            seen = b""
            while word not in seen:
                piece = os.read(live.stdout.fileno(), 65536)
                assert piece, "nothing came before the next event was sent"
                seen += piece
        live.stdin.write(rest.encode())
        live.stdin.close()
        assert b"message_stop" in live.stdout.read() and live.wait() == 0
        patience.cancel()


# Inputs and outputs


def test_many_documents_are_json_lines(proxai: Proxai) -> None:
    done = proxai("convert", "lines.jsonl", "--to", "messages")
    assert len(done.out.splitlines()) == 2
    first, loss, *_, last = done.err.splitlines()
    assert first == "lines.jsonl: 2 records, 2 done, 0 failed, 0 left out"
    assert loss == "  loss  no-equivalent       dropped      /seed, /metadata/team, /metadata/trace (6)"
    assert last.startswith("source 16 = ") and last.endswith("details: proxai diff lines.jsonl --to messages")
    done = proxai("convert", "some", "--to", "messages", "--indent", "2")
    assert len(done.out.splitlines()) == 2, "hidden files are skipped"
    assert done.err.index("some/a/c.json") < done.err.index("some/b.json"), "in order"
    assert len(proxai("convert", "some/*.json", "--to", "messages").out.splitlines()) == 1, "a pattern of ours"


def test_into_a_directory(proxai: Proxai) -> None:
    assert proxai("convert", "some", "lines.jsonl", "s.sse", "--to", "messages", "-o", "out").code == 0
    assert sorted(str(path) for path in Path("out").rglob("*") if path.is_file()) == [
        "out/a/c.json", "out/b.json", "out/lines.jsonl", "out/s.sse",
    ]  # fmt: skip
    assert len(Path("out/lines.jsonl").read_bytes().splitlines()) == 2
    assert proxai("collect", "s.sse", "-o", "new/").code == 0 and Path("new/s.json").exists()
    assert proxai("explode", "reply.json", "-o", "new/").code == 0 and Path("new/reply.sse").exists()


def test_into_a_file(proxai: Proxai) -> None:
    assert proxai("convert", "req.json", "--to", "messages", "-o", "deep/er/out.json").out == b""
    assert Path("deep/er/out.json").read_bytes().startswith(b'{\n  "model"'), "indented"
    proxai("convert", "req.json", "--to", "messages", "-o", "out.json", "--indent", "0")
    assert Path("out.json").read_bytes().count(b"\n") == 1
    assert proxai("convert", "req.json", "--to", "messages", "-o", "/dev/null").code == 0
    assert not Path("/dev/null").is_file()


WRONG_OUTPUTS = [
    (["convert", "req.json", "--to", "messages", "-o", "req.json"], 2, "would be overwritten"),
    (["convert", "some", "--to", "messages", "-o", "some"], 2, "would be overwritten"),
    (["diff", "tie.json", "req.json", "--to", "messages", "--report", "json:./req.json"], 2, "would be overwritten"),
    (["convert", "some/b.json", "./some/b.json", "--to", "messages", "-o", "out"], 2, "two documents"),
    (["convert", "s.sse", "cut.sse", "--to", "messages"], 2, "several streams"),
    (["convert", "req.json", "--to", "messages", "-o", "req.json/x.json"], 4, "cannot be written"),
    (["convert", "req.json", "--to", "messages", "--report", "req.json/r.json"], 4, "cannot be written"),
    (["convert", "req.json", "--to", "messages", "--report", "json:-"], 2, "stdout is for the document"),
    (["convert", "req.json", "--to", "messages", "--indent", "x"], 2, "takes a number"),
    (["convert", "req.json", "--to", "messages", "--side", "x", "--report", "json:x"], 2, "would be one file"),
    (["convert", "req.json", "--to", "messages", "-o", "new/", "--report", "new/req.json"], 2, "would be one file"),
    (["explode", "reply.json", "-o", "new/", "--report", "json:./new/reply.sse"], 2, "would be one file"),
    (["diff", "req.json", "--to", "messages", "--report", "json:-"], 2, "json has to be alone on stdout"),
    (["diff", "req.json", "--to", "messages", "--format", "jsonl", "--report", "lines:-"], 2, "alone on stdout"),
    (["validate", "s.sse", "--format", "none", "--report", "sarif:-", "--report", "html:-"], 2, "alone on stdout"),
    (["diff", "req.json", "--to", "messages", "--baseline", "req.json", "--write-baseline"], 2, "name another place"),
]

# Options that would say nothing about what is asked.
IDLE = [
    (["diff", "req.json", "--to", "messages", "--volatile"], "--volatile does nothing here: with --to"),
    (["diff", "req.json", "--to", "messages", "--ignore", "/seed"], "--ignore does nothing here"),
    (["diff", "req.json", "--to", "messages", "--pair-by", "/id"], "--pair-by does nothing here"),
    (["diff", "req.json", "req.json", "--repair"], "--repair does nothing here: between two captures"),
    (["diff", "--merge", "req.json", "--pick", "3"], "--pick does nothing here: --merge"),
    (["diff", "--merge", "req.json", "--values", "full"], "--values does nothing here"),
    (["diff", "--merge", "req.json", "--jobs", "2"], "--jobs does nothing here"),
    (["diff", "req.json", "--to", "messages", "--format", "json", "--by", "file"], "--by groups the table"),
    (["validate", "s.sse", "--layer", "shape", "--profile", "serde"], "--profile is about the layer client"),
]


@pytest.mark.parametrize(("words", "said"), IDLE, ids=lambda each: str(each)[-40:])
def test_an_option_that_would_do_nothing_is_a_mistake(proxai: Proxai, words: list[str], said: str) -> None:
    done = proxai(*words)
    assert done.code == 2 and said in done.err and not done.out


def test_pairs_are_compared_alone_and_that_is_said(proxai: Proxai) -> None:
    done = proxai("diff", "req.json", "req.json", "-j", "2")
    assert done.code == 0 and "compared in one process" in done.err


@pytest.mark.parametrize(("words", "code", "said"), WRONG_OUTPUTS, ids=lambda each: str(each)[-40:])
def test_wrong_outputs(proxai: Proxai, words: list[str], code: int, said: str) -> None:
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file() and path.name != ".stdin"}
    done = proxai(*words)
    assert done.code == code and said in done.err
    after = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file() and path.name != ".stdin"}
    assert after == before, "nothing was written over, nothing is left behind"


def test_half_a_document_is_never_written(proxai: Proxai, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("out.sse").write_bytes(b"before")
    calls = []

    def interrupted(*_: Any) -> bytes:
        calls.append(1)
        raise KeyboardInterrupt

    monkeypatch.setattr("proxai_cli.pipe.Pipe.feed", interrupted)
    done = proxai("stream", "s.sse", "--to", "messages", "-o", "out.sse")
    assert calls and done.code == 130 and done.err == "proxai: interrupted; what was finished is written\n"
    assert Path("out.sse").read_bytes() == b"before" and not list(Path().glob("*.part"))


# Exit codes, errors, what is told of them

CODES = [
    (["convert", "req.json", "--to", "messages"], 0, None),
    (["convert", "req.json", "--to", "messages", "--fail-on", "loss"], 1, None),
    (["convert", "req.json", "--to", "messages", "--fail-on", "risk"], 0, None),
    (["diff", "req.json", "--to", "messages"], 1, None),
    (["diff", "req.json", "--to", "messages", "--fail-on", "never"], 0, None),
    (["diff", "same.json", "--to", "messages"], 0, None),
    (["diff", "same.json", "--to", "messages", "--fail-on", "note"], 1, None),
    (["convert", "req.json"], 2, "bad-call"),
    (["diff", "req.json"], 2, "bad-call"),
    (["convert", "req.json", "--to", "massages"], 2, "bad-call"),
    (["convert", "req.json", "--two", "messages"], 2, "bad-call"),
    (["convert", "req.json", "--to"], 2, "bad-call"),
    (["convrt", "req.json"], 2, "bad-call"),
    (["stream", "s.sse", "cut.sse", "--to", "messages"], 2, "bad-call"),
    (["convert", "req.json", "--to", "messages", "--set", "keep-reasonin=true"], 2, "bad-call"),
    (["convert", "req.json", "--to", "messages", "--set", "system=maybe"], 2, "bad-call"),
    (["convert", "req.json", "--to", "messages", "--report", "x.unheard"], 2, "bad-call"),
    (["convert", "missing.json", "--to", "messages"], 3, "unreadable"),
    (["convert", "bad.json", "--to", "messages"], 3, "bad-json"),
    (["convert", "nothing.json", "--to", "messages"], 3, "empty"),
    (["convert", "prose.txt", "--to", "messages"], 3, "bad-json"),
    (["convert", "tie.json", "--to", "responses"], 3, "ambiguous"),
    (["convert", "req.json", "--from", "responses", "--to", "messages"], 3, "wrong-protocol"),
    (["convert", "-", "--to", "messages"], 3, "empty"),
    (["convert", "cut.sse", "--to", "messages"], 3, "truncated"),
    (["diff", "cut.sse", "--to", "messages", "--fail-on", "never"], 3, "truncated"),
    (["collect", "cut.sse"], 3, "truncated"),
    (["collect", "cut.sse", "--partial"], 3, "truncated"),
    (["explode", "req.json"], 3, "unrecognised"),
    (["explode", "s.sse"], 3, "wrong-kind"),
    (["convert", "reply.json", "--to", "responses", "--request", "missing.json"], 3, "unreadable"),
    (["collect", "reply.json"], 3, "wrong-kind"),
    (["convert", "req.json", "--kind", "stream", "--to", "messages"], 3, "wrong-kind"),
    (["inspect", "req.json", "tie.json"], 3, "ambiguous"),
    (["inspect", "req.json"], 0, None),
    (["map", "unheard-of"], 2, "bad-call"),
    (["map", "chat", "claude"], 2, "bad-call"),
    (["map", "--schema", "sides"], 2, "bad-call"),
]


@pytest.mark.parametrize(
    ("words", "code", "error"), CODES, ids=lambda each: " ".join(each) if isinstance(each, list) else ""
)
def test_exit_codes(proxai: Proxai, words: list[str], code: int, error: str | None) -> None:
    done = proxai(*words)
    told = re.findall(r"^proxai: error\[([a-z-]+)\]", done.err, re.M)
    assert done.code == code, done.err
    assert told == ([error] if error else []), done.err
    assert "Traceback" not in done.err and "private" not in done.err
    if error:
        assert ERRORS[error].exit == code


def test_a_mistake_offers_the_nearest(proxai: Proxai) -> None:
    assert (
        "try: --set keep-reasoning=…"
        in proxai("convert", "req.json", "--to", "chat", "--set", "keep-reasonin=true").err
    )
    assert "'convert'" in proxai("convrt").err
    assert "--to" in proxai("convert", "req.json", "--too", "chat").err
    assert "try: proxai map no-equivalent" in proxai("map", "no-equivalnt").err


def test_an_error_shows_the_place_and_no_captured_text(proxai: Proxai) -> None:
    done = proxai("convert", "bad.json", "--to", "messages")
    assert done.out == b""
    assert done.err.splitlines()[:3] == [
        "proxai: error[bad-json] bad.json:2:31 (byte 45): expected ',' or '}'",
        '   "messages": [{"role": "user" "content": "…"}]}',
        "                                ^",
    ]
    done = proxai("stream", "bad.sse", "--to", "messages")
    lines = done.err.splitlines()
    assert re.fullmatch(r"proxai: error\[bad-json\] bad\.sse:3:18 \(byte \d+, event 2\): expected ',' or '}'", lines[0])
    assert lines[1:3] == ['  data: {"id":"…" "object":"…"}', " " * 18 + "^"]
    assert b'"Hel"' in done.out and b'"lo"' not in done.out and done.code == 3, "what came before is written"


def test_a_bad_event_is_left_out_where_that_is_asked_for(proxai: Proxai) -> None:
    done = proxai("stream", "bad.sse", "--to", "messages", "--on-error", "skip")
    assert b'"lo"' in done.out and b"message_stop" in done.out and done.code == 3
    assert "complete" not in done.err, "a run that could not look is never clean"


def test_a_bad_record_is_left_out_where_that_is_asked_for(proxai: Proxai) -> None:
    assert len(proxai("convert", "mixed.jsonl", "--to", "messages").out.splitlines()) == 1
    done = proxai("convert", "mixed.jsonl", "--to", "messages", "--on-error", "skip", "--report", "r.json")
    assert len(done.out.splitlines()) == 2 and done.code == 3 and "mixed.jsonl:2:9 " in done.err
    said = text.loads(Path("r.json").read_bytes())
    assert [item["status"] for item in said["items"]] == ["ok", "skipped", "ok"]
    assert [item["input"]["record"] for item in said["items"]] == [1, 2, 3]
    assert said["verdict"] == {"exit": 3, "complete": False, "fail_on": "never"}


def test_after_the_first_bad_input_nothing_is_read(proxai: Proxai) -> None:
    assert proxai("convert", "req.json", "bad.json", "req.json", "--to", "chat", "-o", "-").out.count(b"\n") == 1
    assert (
        proxai("convert", "req.json", "bad.json", "req.json", "--to", "chat", "--on-error", "skip").out.count(b"\n")
        == 2
    )


def test_several_errors_of_one_code_are_folded(proxai: Proxai) -> None:
    Path("many.jsonl").write_text(dumped(REQUEST) + "\n" + '{"a" 1}\n' * 9)
    done = proxai("convert", "many.jsonl", "--to", "messages", "--on-error", "skip", "-q")
    assert done.err.count("error[bad-json] many") == 5 and "proxai: 4 more of error[bad-json]" in done.err


def test_the_greatest_code_counts(proxai: Proxai) -> None:
    assert proxai("diff", "req.json", "cut.sse", "--to", "messages").code == 3
    done = proxai("diff", "req.json", "cut.sse", "--to", "messages", "--report", "req.json/x.json")
    assert done.code == 4


def test_errors_as_data(proxai: Proxai) -> None:
    done = proxai("convert", "bad.json", "--to", "messages", "--format", "json")
    first = text.loads(done.err.splitlines()[0])
    assert first["error"] == "bad-json" and first["place"] == {"line": 2, "column": 31, "byte": 45}
    Path("many.jsonl").write_text(dumped(REQUEST) + "\n" + '{"a" 1}\n' * 9)
    done = proxai("convert", "many.jsonl", "--to", "messages", "--on-error", "skip", "--format", "json")
    told = [text.loads(line) for line in done.err.splitlines()]
    assert [each.get("error") for each in told] == ["bad-json"] * 6 + [None], "five, how many more, the report"
    assert told[5] == {"error": "bad-json", "more": 4} and told[6]["totals"]["skipped"] == 9
    for words in (["convert", "req.json"], ["convert", "req.json", "--too", "chat"], ["nothing"]):
        for form in (["--format", "json"], ["--format=jsonl"]):
            done = proxai(*words, *form)
            assert done.code == 2 and text.loads(done.err)["error"] == "bad-call", done.err


def test_every_error_says_what_to_do_and_none_leads_in_a_circle(proxai: Proxai) -> None:
    for code, failure in ERRORS.items():
        told = faults.told(ProxaiError(code, "no"))
        assert told[-1] == f"  try: {failure.action}" and "proxai map" not in told[-1]
        assert failure.action in proxai("map", code).out.decode()
    assert faults.told(ProxaiError("bad-json", "no", hint="this"))[-1] == "  try: this"


SHOWN = [
    (b'{"role": "user", "n": -12, "x": [1, 22]', '  {"role": "user", "n": -12, "…": [1, …]'),
    (b'"is "4111111111111111" or 555-1234 ok', '  "…"…"…'),
    (b"Call 5551234, or +1 (555) 123", "  … …, … +… (…) …"),
]


@pytest.mark.parametrize(("line", "shown"), SHOWN)
def test_the_line_of_an_error_holds_no_captured_text(line: bytes, shown: str) -> None:
    assert faults.told(ProxaiError("bad-json", "no"), "x", line)[1] == shown


def test_a_line_that_is_empty_is_not_shown(proxai: Proxai) -> None:
    for blank in ("", " ", "\n \n"):
        Path("nothing.json").write_text(blank)
        lines = proxai("convert", "nothing.json", "--to", "messages").err.splitlines()
        assert [line.split(":")[0].strip() for line in lines] == ["proxai", "try"], lines


REPORTS = [
    (["--report", "a.json", "--report", "json:./a.json"], "two outputs would be one file"),
    (["--report", "sarif:"], "names no file"),
    (["--report", "a.txt"], "cannot tell the form"),
    (["--report", "none:a"], "cannot tell the form"),
    (["--report", "json:req.json"], "would be overwritten"),
]


@pytest.mark.parametrize(("words", "said"), REPORTS, ids=str)
def test_reports_that_cannot_be(proxai: Proxai, words: list[str], said: str) -> None:
    before = Path("req.json").read_bytes()
    done = proxai("diff", "req.json", "--to", "messages", *words)
    assert done.code == 2 and said in done.err, done.err
    assert Path("req.json").read_bytes() == before


def test_stdout_is_for_the_document_or_for_reports(proxai: Proxai) -> None:
    assert "stdout is for the document" in proxai("convert", "req.json", "--to", "messages", "--report", "json:-").err
    done = proxai("convert", "req.json", "--to", "messages", "-o", "x.json", "--report", "x.json")
    assert done.code == 2 and not Path("x.json").exists()
    words = [
        "--report",
        "github:-",
        "--report",
        "out/x.sarif",
        "--report",
        "C:\\x.md",
        "--report",
        "json:y",
        "--format",
        "none",
    ]
    done = proxai("diff", "req.json", "--to", "messages", *words)
    lines = done.out.decode().splitlines()
    assert done.code == 1 and all(line.startswith("::") for line in lines)
    assert lines[-1].startswith("::notice title=proxai::") and lines[-1].endswith("; report: out/x.sarif, C:\\x.md, y")
    assert text.loads(Path("out/x.sarif").read_bytes())["runs"][0]["results"] and text.loads(Path("y").read_bytes())
    assert Path("C:\\x.md").read_text().startswith("### proxai diff: ")


def test_a_report_in_a_file_has_no_colour_of_the_screen(proxai: Proxai) -> None:
    done = proxai(
        "diff", "req.json", "--to", "messages", "--color", "always", "--report", "table:t", "--report", "tree:t2"
    )
    assert b"\x1b[" in done.out and b"\x1b[" not in Path("t").read_bytes() + Path("t2").read_bytes()


def test_our_own_mistake_is_told_without_captured_text(proxai: Proxai, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise ValueError("private words")

    monkeypatch.setattr("proxai_cli.cli.translating.translate", broken)
    done = proxai("convert", "req.json", "--to", "messages", "--report", "r.json")
    assert done.code == 70 and done.out == b"" and "private" not in done.err
    assert re.search(
        r"error\[internal\] req\.json: internal error \(ValueError in proxai_cli\.[a-z_.]+:\d+\)|in test_cli", done.err
    )
    assert text.loads(Path("r.json").read_bytes())["items"][0]["findings"][0]["code"] == "internal"
    done = proxai("convert", "req.json", "--to", "messages", "--debug")
    assert "Traceback" in done.err and "may hold captured text" in done.err


def test_an_account_with_a_hole_is_our_mistake(proxai: Proxai, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxai_cli.cli.translating.size", lambda _: 1)
    done = proxai("convert", "req.json", "--to", "messages")
    assert done.code == 70 and done.out == b"" and "error[internal]" in done.err


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    many = tmp_path / "many.jsonl"
    many.write_text((dumped(REQUEST) + "\n") * 2000)
    with subprocess.Popen(
        [sys.executable, "-m", "proxai_cli", "convert", str(many), "--to", "messages", "-q"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as live:  # fmt: skip
        assert live.stdout and live.stderr
        live.stdout.readline()
        live.stdout.close()
        assert live.stderr.read() == b"" and live.wait() == 141


# What the shell does to stdin and stdout: how the call ends, and what is said.
SHELLED = [
    ("--version >/dev/full", 4, "stdout cannot be written: no space"),
    ("--help >/dev/full", 4, "stdout cannot be written: no space"),
    ("map >/dev/full", 4, "stdout cannot be written: no space"),
    ("diff req.json --to messages --fail-on never --report r.json >/dev/full", 4, "stdout cannot be written: no space"),
    ("convert req.json --to messages -q >/dev/full", 4, "stdout cannot be written: no space"),
    ("convert req.json --to messages -o /dev/full", 4, "/dev/full cannot be written"),
    ("convert req.json --to messages --report json:/dev/full -q", 4, "/dev/full cannot be written"),
    ("convert req.json --to messages -q >&-", 4, "stdout is closed"),
    ("diff req.json --to messages --fail-on never >&-", 4, "stdout is closed"),
    ("convert --to messages <&-", 3, "stdin is closed"),
    ("convert req.json --to messages 2>&-", 0, ""),
    ("convert none.json --to messages 2>/dev/full", 3, ""),
    ("--help | true; exit ${PIPESTATUS[0]}", 141, ""),
]


@pytest.mark.parametrize(("words", "code", "said"), SHELLED)
def test_what_cannot_be_written_or_read_is_told(tmp_path: Path, words: str, code: int, said: str) -> None:
    (tmp_path / "req.json").write_text(dumped(REQUEST))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", f"{shlex.quote(sys.executable)} -m proxai_cli {words}"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code and said in done.stderr and "Traceback" not in done.stderr
    assert "--report r.json" not in words or (tmp_path / "r.json").exists()


def test_ctrl_c(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "proxai_cli", "stream", "--to", "messages", "-o", str(tmp_path / "out.sse")],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as live:  # fmt: skip
        assert live.stdin and live.stderr
        live.stdin.write(HEL.encode())
        live.stdin.flush()
        until = time.monotonic() + 20
        while not list(tmp_path.glob(".out.sse.*.part")) and time.monotonic() < until:
            time.sleep(0.02)
        live.send_signal(signal.SIGINT)
        assert live.wait() == 130 and live.stderr.read() == b"proxai: interrupted; what was finished is written\n"
    assert list(tmp_path.iterdir()) == []


# Detection


def test_how_sure_it_is(proxai: Proxai) -> None:
    assert "(certain: " in proxai("convert", "req.json", "--to", "messages").err
    assert "(told: " in proxai("convert", "tie.json", "--from", "chat", "--to", "messages").err
    likely = dumped({**TIE, "model": "gpt-9"})
    done = proxai("convert", "--to", "messages", "-q", stdin=likely)
    assert re.fullmatch(r"proxai: note: -: likely chat \(.+\); --from settles it\n", done.err)
    assert proxai("convert", "--to", "messages", "-qq", stdin=likely).err == ""
    many = proxai("convert", "--to", "messages", "-q", stdin=(likely.strip() + "\n") * 9).err.splitlines()
    assert [line for line in many if "settles it" not in line] == [
        "proxai: note: 4 more are only likely; --from settles them"
    ]


def test_a_tie(proxai: Proxai) -> None:
    done = proxai("convert", "tie.json", "--to", "responses")
    lines = done.err.splitlines()
    assert lines[0] == "proxai: error[ambiguous] tie.json: fits chat and messages"
    assert "Nothing in it belongs to one of them only." in lines[1]
    assert lines[2] == "  try: --from chat   or   --from messages"


def test_what_is_told_is_checked(proxai: Proxai) -> None:
    done = proxai("convert", "reply.json", "--from", "chat", "--to", "responses")
    assert "--from says chat, the body says messages" in done.err and "try: --from messages" in done.err
    assert proxai("stream", "s.sse", "--from", "messages", "--to", "responses").code == 3


# collect and explode


def test_collect_and_explode(proxai: Proxai) -> None:
    body = proxai("collect", "s.sse").value
    assert body["choices"][0]["message"]["content"] == "Hello" and body["object"] == "chat.completion"
    assert proxai("collect", "s.sse", "--to", "messages").value["content"] == [{"type": "text", "text": "Hello"}]
    sent = proxai("explode", "reply.json", "--pieces", "2")
    assert sent.out.count(b"text_delta") == 5
    assert proxai("collect", stdin=sent.out).value == REPLY
    assert proxai("explode", "reply.json", "--pieces", "whole").out.count(b"text_delta") == 1
    assert proxai("explode", "reply.json", "--pieces", "0").code == 2


def test_what_there_is_of_a_cut_stream(proxai: Proxai) -> None:
    assert proxai("collect", "cut.sse").out == b""
    done = proxai("collect", "cut.sse", "--partial", "--report", "r.json")
    assert done.code == 3 and done.value["choices"][0]["message"]["content"] == "Hello"
    assert text.loads(Path("r.json").read_bytes())["items"][0]["status"] == "cut"
    done = proxai("convert", "cut.sse", "--to", "messages", "--repair")
    assert done.code == 3 and b"message_stop" in done.out and "stream-was-cut" in done.err


# diff, its report, and reports of all commands


def test_diff_writes_nothing_but_the_report(proxai: Proxai) -> None:
    done = proxai("diff", "req.json", "--to", "messages")
    said = done.out.decode()
    assert done.err == "" and "\x1b" not in said
    assert said.index("no-equivalent") < said.index("default-max-tokens")
    assert "/metadata/team" in said and re.search(r"source 8 = \d carried \+ \d changed \+ \d dropped", said)
    assert proxai("diff", "req.json", "--to", "messages", "--color", "always").out.count(b"\x1b[") > 2
    assert proxai("diff", "req.json", "--to", "messages", "--format", "none").out == b""


def test_the_lines_of_diff_name_places(proxai: Proxai) -> None:
    Path("nice.json").write_bytes(text.dumps(REQUEST, indent=2))
    lines = proxai("diff", "nice.json", "--to", "messages", "--format", "lines").out.decode().splitlines()
    text_of = Path("nice.json").read_text().splitlines()
    (seed,) = [line for line in lines if " /seed" in line]
    _, line, column, _ = seed.split(":", 3)
    assert text_of[int(line) - 1][int(column) - 1 :].startswith('"seed"')
    assert seed.split(": ", 1)[1].startswith("loss no-equivalent dropped /seed: ")


def test_convert_and_diff_tell_the_same(proxai: Proxai) -> None:
    for name in ("req.json", "s.sse", "reply.json"):
        proxai("convert", name, "--to", "responses", "--report", "one.json", "-o", "out.json")
        proxai("diff", name, "--to", "responses", "--report", "other.json")
        one, other = (text.loads(Path(path).read_bytes()) for path in ("one.json", "other.json"))
        assert one["items"] == other["items"] and one["totals"] == other["totals"]


@pytest.mark.parametrize("command", ["convert", "stream", "collect", "explode", "diff", "inspect"])
@pytest.mark.parametrize(
    "name", ["req.json", "reply.json", "s.sse", "cut.sse", "bad.sse", "bad.json", "lines.jsonl", "tie.json"]
)
def test_every_report_is_what_its_schema_asks_for(proxai: Proxai, command: str, name: str) -> None:
    to = [] if command in ("collect", "explode", "inspect") else ["--to", "responses"]
    done = proxai(command, name, *to, "--report", "r.json", "--report", "jsonl:r.lines", "--report", "r.md")
    said = text.loads(Path("r.json").read_bytes())
    SCHEMA.validate(said)
    assert said["verdict"]["exit"] == done.code and said["command"] == command
    assert said["verdict"]["complete"] is (done.code != 3)
    *items, rest = map(text.loads, Path("r.lines").read_bytes().splitlines())
    assert {**rest, "items": items} == said and Path("r.md").exists()
    for item in said["items"]:
        assert item["status"] == "ok" or item["findings"]
        for side, counts in (item["counts"] or {}).items():
            if side != "levels":
                assert counts["leaves"] == sum(counts.values()) - counts["leaves"]
    assert b"private" not in Path("r.json").read_bytes() + Path("r.lines").read_bytes() + Path("r.md").read_bytes()


def test_the_form_of_the_report_changes_no_exit_code(proxai: Proxai) -> None:
    for form in ("auto", *WRITERS, "none"):
        assert proxai("diff", "req.json", "--to", "messages", "--format", form).code == 1
        assert proxai("diff", "req.json", "bad.json", "--to", "messages", "--report", f"{form}:r").code == (
            2 if form in ("auto", "none") else 3
        )
        done = proxai("convert", "req.json", "--to", "messages", "--format", form)
        assert done.code == 0 and done.value["system"], "the document is not mixed with its report"


# inspect and map


def test_inspect(proxai: Proxai) -> None:
    done = proxai("inspect", "req.json", "s.sse", "cut.sse", "reply.json")
    lines = done.out.decode().splitlines()
    assert lines[0].split()[:5] == ["capture", "container", "protocol", "kind", "sure"]
    assert lines[1].split()[:6] == ["req.json", "json", "chat", "request", "certain", "gpt-x"]
    assert "complete, 4 events" in lines[2] and "cut after event 2" in lines[3] and "private" not in done.out.decode()
    assert lines[-1] == "next: proxai convert req.json --to messages" and done.code == 3
    said = proxai("inspect", "req.json", "--format", "json").value
    assert said["items"][0]["source"] | {"evidence": [], "bytes": 0} == {
        "protocol": "chat", "kind": "request", "sure": "certain", "model": "gpt-x", "leaves": 8, "evidence": [], "bytes": 0,
    }  # fmt: skip
    assert len(proxai("inspect", "req.json", "-v").out.splitlines()) > len(
        proxai("inspect", "req.json").out.splitlines()
    )


def test_rows_fit_into_a_screen_and_stay_whole_in_a_pipe(proxai: Proxai, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = (["map", "--reasons"], ["map", "--choices"], ["map", "chat", "messages"], ["inspect", "."])
    piped = [proxai(*words).out.decode().splitlines() for words in calls]
    assert all(max(map(len, lines)) > 80 for lines in piped)
    for columns in (80, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        for words, lines in zip(calls, piped, strict=True):
            shown = proxai(*words).out.decode().splitlines()
            assert max(map(len, shown)) <= columns and len(shown) >= len(lines) + (columns == 80), words
    monkeypatch.setenv("COLUMNS", "1")
    assert all(proxai(*words).out for words in calls)


def test_inspect_goes_on(proxai: Proxai) -> None:
    done = proxai("inspect", "bad.json", "tie.json", "req.json")
    assert [line.split()[-1] for line in done.out.decode().splitlines()[1:3]] == ["bad-json", "ambiguous"]
    assert "certain" in done.out.decode() and done.code == 3


def test_map(proxai: Proxai) -> None:
    assert b"OpenAI Responses" in proxai("map").out
    assert proxai("map", "foreign-signature").out.startswith(b"foreign-signature (reason, risk, since 0.1)\n  Only")
    found = proxai("map", "chat", "messages", "--field", "/seed", "--kind", "request", "--format", "json").value
    assert [(row["chat"], row["messages"], row["reason"], row["level"]) for row in found] == [
        ("/seed", "", "no-equivalent", "loss")
    ]
    assert proxai("map", "chat", "messages", "--field", "/no_such").code == 2
    assert proxai("map", "chat", "responses", "--format", "markdown").out.startswith(
        b"| kind | of | chat | responses |"
    )
    codes = {row["code"] for row in proxai("map", "--reasons", "--format", "json").value}
    assert codes == REASONS.keys() | FINDINGS.keys() | ERRORS.keys()
    assert [row["choice"] for row in proxai("map", "--choices", "--format", "json").value] == list(CHOICES)
    assert proxai("map", "--schema", "report").out == written("report")


# Help, version, and the two ways to read a call


def test_help_has_examples_and_fits(proxai: Proxai, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--help"], *([name, "-h"] for name in app.COMMANDS)):
        assert app.main(words) == 0
        said = capsys.readouterr().out
        assert max(map(len, said.splitlines())) <= 80
        if words[0] != "--help":
            assert said.index("  proxai" if words[0] != "stream" else "  curl") < said.index("Options:")
    assert proxai().code == 2 and "proxai convert req.json" in proxai().err


def test_version(proxai: Proxai) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "proxai_cli", "--version"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"proxai {proxai_cli.__version__}\n"
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == proxai_cli.__version__
    assert proxai("convert", "--version").out.decode() == done.stdout


CALLS = [
    "a.json --to chat",
    "a.json b.json -t chat -o out/ -q",
    "- --to=chat -qq --set a=b --set c=d",
    "-qv a.json --report json:x --report y.md --fail-on risk",
    "a.json --repair --interleave --indent 2 --from chat --kind request",
]


@pytest.mark.parametrize("words", CALLS)
def test_typer_reads_a_plain_call_the_same_way(words: str) -> None:
    from proxai_cli.cli.typer_app import read

    command = app.command("convert")
    quick = plain(command, words.split())
    assert quick is not None
    slow = read([command], ["convert", *words.split()])
    assert not isinstance(slow, int) and (slow.words, slow.values) == (quick.words, quick.values)


NOT_PLAIN = [
    "--help",
    "a --unknown",
    "a --to",
    "a --to chart",
    "-z",
    "-tchat a",
    "--repair=yes",
    "a -- --to",
    "--t chat",
]


@pytest.mark.parametrize("words", NOT_PLAIN)
def test_what_is_not_plain_is_left_to_typer(words: str) -> None:
    assert plain(app.command("convert"), words.split()) is None


def test_no_command_waits_for_a_person_to_type(proxai: Proxai, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxai_cli.cli.screen.is_terminal", lambda _: True)
    done = proxai("convert", "--to", "chat")
    assert done.code == 2 and "stdin is a terminal" in done.err


COLOURS = [
    ("auto", {}, True, True), ("auto", {}, False, False), ("always", {"NO_COLOR": "1"}, False, True),
    ("never", {"FORCE_COLOR": "1"}, True, False), ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
    ("auto", {"FORCE_COLOR": "1", "TERM": "dumb"}, False, True), ("auto", {"TERM": "dumb"}, True, False),
]  # fmt: skip


@pytest.mark.parametrize(("when", "environment", "terminal", "colour"), COLOURS)
def test_colour(
    monkeypatch: pytest.MonkeyPatch, when: str, environment: dict[str, str], terminal: bool, colour: bool
) -> None:
    from proxai_cli.cli import screen

    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("proxai_cli.cli.screen.is_terminal", lambda _: terminal)
    assert screen.coloured(when, None) is colour


@pytest.mark.parametrize(
    ("said", "path", "at"),
    [
        ('{"a": 1}', ("a",), 1),
        ('{"a": [1, {"b": 2}]}', ("a", 1, "b"), 11),
        ('{"a": [1, {"b": 2}]}', ("a", 1), 10),
        ('{"a": [[], {}, "x"]}', ("a", 2), 15),
        ('{"a": {}, "b": []}', ("b",), 10),
        ('{"a": {}, "b": []}', ("a",), 1),
        (r'{"a\"{": {"\u0062": "}"}, "c": 1}', ('a"{', "b"), 10),
        (r'{"a\"{": {"\u0062": "}"}, "c": 1}', ("c",), 26),
        ('{"a": 1, "a": 2}', ("a",), 9),
    ],
)
def test_offsets(said: str, path: tuple[Any, ...], at: int) -> None:
    assert offsets(said.encode(), {path}) == {path: at}


# What starting costs

HEAVY = (
    "typer",
    "rich",
    "jsonschema",
    "ijson",
    "yaml",
    "asyncio",
    "multiprocessing",
    "concurrent",
    "gzip",
    "zlib",
    "zstandard",
    "bz2",
    "lzma",
)


OTHER_ROOMS = ("proxai_cli.exchange", "proxai_cli.endpoints", "proxai_cli.side", "proxai_cli.cli.way_back")


@pytest.mark.parametrize(
    "words",
    [
        ["convert", "req.json", "--to", "messages"],
        ["stream", "s.sse", "--to", "messages"],
        ["convert", "running.json", "--to", "chat"],
    ],
)
def test_a_plain_call_loads_only_what_it_needs(proxai: Proxai, words: list[str]) -> None:
    code = f"import sys; from proxai_cli.cli.app import main; main({words}); print(*sys.modules, file=sys.stderr)"
    Path("running.json").write_bytes(proxai("convert", "reply.json", "--to", "responses").out)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    modules = done.stderr.splitlines()[-1].split()
    assert done.stdout and not {name.partition(".")[0] for name in modules} & set(HEAVY)
    assert not set(modules) & set(OTHER_ROOMS)


def test_the_version_loads_nothing() -> None:
    code = "import sys; sys.argv[1:] = ['--version']; from proxai_cli.__main__ import main; main(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"typing", "re", "enum", "msgspec"} & set(done.stdout.split())


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="needs the processor time of one child")
def test_starting_is_cheap(proxai: Proxai) -> None:
    """Processor time, the least of several runs, and once more if it is too much: a busy machine can only add to it."""
    program = "import sys; from proxai_cli.__main__ import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def cost(*words: str) -> float:
        def once() -> float:
            child = subprocess.Popen(
                [sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
            )
            used = os.wait4(child.pid, 0)[2]
            child.returncode = 0
            return used.ru_utime + used.ru_stime

        return min(once() for _ in range(7))

    def ratio(*words: str) -> float:
        return cost("-c", program, *words) / cost("-c", "pass")

    assert ratio("--version") <= 2
    call = ("convert", "req.json", "--to", "messages")
    assert any(ratio(*call) <= 10 for _ in range(4))


def test_what_was_not_looked_at_is_told(proxai: Proxai) -> None:
    Path("lines.jsonl").write_bytes(
        dumped(REQUEST).encode().strip() + b"\n{no json\n" + dumped(REQUEST).encode().strip() + b"\n"
    )
    words = ["convert", "lines.jsonl", "--to", "messages", "-q"]
    assert "what comes after that was not looked at" in proxai(*words).err
    assert "not looked at" not in proxai(*words, "--on-error", "skip").err
