"""What a capture holds, and how its file is called, steers no terminal, no CI server and no reader of a report.

Every text below goes through every command, as keys, values, names, ids, types of events and names of files; each form
of the report is then read by a parser of its own, and must have the structure that is ours.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from proxai_cli import text
from proxai_cli.cli.app import COMMANDS
from proxai_cli.cli.app import command as command_of
from proxai_cli.reasons import ERRORS, FINDINGS, LEVELS, REASONS
from proxai_cli.report.forms import WRITERS

from .calls import Done, answered
from .small import answer, ask, said_text, stream_of

# A word that nobody says stands in each, by which it is found again.
MARK = "qzx"
EVIL = {
    "colours": f"\x1b[31m{MARK}\x1b]0;title\x07\x1b[2J",
    "c1": f"\x9b31m{MARK}\x85\x90\x7f",
    "directions": f"\u202e{MARK}\u2066\u200f\u061c\ufeff",
    "lines": f"a\nb\r\nc\u2028d\u2029{MARK}\x0b\x0c",
    "markup": f"[bold red]{MARK}[/bold red][link=javascript:1]x[/link]",
    "unclosed markup": f"[/] [/{MARK}] \\[",
    "command": f"::error file=a,line=1::{MARK}",
    "command on a line": f"\n  ::add-mask::{MARK}\r::stop-commands::x",
    "old command": f"##[error]{MARK} ###[group]x",
    "other command": f"##vso[task.setvariable variable=a]{MARK}",
    "teamcity": f"##teamcity[message text='{MARK}']",
    "percents": f"%0A::error::{MARK}%25%2C,a=b:c",
    "xml": f"]]><{MARK} a='1'>&amp;&#0;<!--<![CDATA[\"",
    "html": f"<script>{MARK}</script><img src=x onerror=1></details></table></style>",
    "table": f"| {MARK} `` ` \\| \\` | --- |",
    "link": f"[{MARK}](javascript:alert(1)) ![x](y) [a]: b https://example.com/ {{0}}",
    "mention": f"@{MARK} #1 **b** _c_ ~~d~~ $a$ - [ ] {MARK}",
    "nul": f"\x00{MARK}\x01",
    "half a pair": f"\ud800{MARK}\udcff\uffff",
}
# What no name of a file can hold; a byte that is no UTF-8 can, and is read as a surrogate from DC80 to DCFF.
NO_NAME = re.compile("[/\x00\ud800-\udc7f\udd00-\udfff]")
TEXT_FORMS = ("table", "tree", "lines")
STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
ORDERS = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)
OURS = re.compile(
    r"^::(error|warning|notice) ((?:(?:file|line|col|title)=[^,:]*)(?:,(?:file|line|col|title)=[^,:]*)*)::(.*)$"
)
LINE = re.compile(rf"^.*:\d+:\d+: ({'|'.join(LEVELS)}) [a-z-]+ (dropped|changed|synthesized|found) .*: .+$")


def captures(evil: str) -> dict[str, bytes]:
    """Captures that hold the text wherever one can; and some that cannot be read."""
    call = {"id": evil, "type": "function", "function": {"name": evil, "arguments": evil}}
    turns: list[Any] = [
        {"role": "user", "content": evil, "name": evil, evil: [evil]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": evil, "content": evil},
    ]
    tool = {"type": "function", "function": {"name": evil, "parameters": {"type": "object", evil: evil}}}
    metadata = {evil: evil, "b": evil}
    request = ask("chat", *turns, model=evil, metadata=metadata, tools=[tool], seed=7, stop=[evil], user=evil) | {
        evil: evil
    }
    reply = answer("messages", said_text("messages", evil), model=evil, id=evil) | {evil: {evil: evil}}
    events = stream_of(answer("messages", said_text("messages", "Hi"), model=evil, id=evil), "messages")
    events.insert(1, {"type": evil, evil: evil})
    head = {"method": "POST", "url": evil, "headers": {evil: evil, "x-request-id": evil}, "body": request}
    raw = evil.encode("utf-8", "surrogatepass")
    on_a_line = re.sub(rb"[\r\n]", b" ", raw)
    return {
        "request": text.dumps(request),
        "reply": text.dumps(reply),
        "stream": b"".join(b"event: %b\ndata: %b\n\n" % (on_a_line, text.dumps(event)) for event in events),
        "cut": b"".join(b": %b\ndata: %b\n\n" % (on_a_line, text.dumps(event)) for event in events[:-2]),
        "broken stream": text.dumps(events[0]).join([b"data: ", b"\n\ndata: {"]) + raw + b"\n\n",
        "exchange": text.dumps({"request": head}),
        "many": text.dumps({"custom_id": evil, "body": request}) + b"\n" + text.dumps({evil: evil}) + b"\n",
        "bad": text.dumps({"model": evil})[:-1] + b' "' + raw + b'" ' + raw + b"}",
        "prose": raw,
        "unknown": text.dumps({evil: evil}),
        "likely": text.dumps(ask("chat", model="gpt-x", max_tokens=5)),
        "har": text.dumps(
            {"log": {"version": "1.2", "entries": [*_entries(evil, request), *_entries(evil, {evil: evil})]}}
        ),
    }


def _entries(evil: str, body: Any) -> list[Any]:
    """A call of a HAR, and one that is none of ours."""
    posted = {"mimeType": "application/json", "text": text.dumps(body).decode()}
    headers = [{"name": evil, "value": evil}]
    request = {"method": "POST", "url": f"https://x/v1/chat/completions?{evil}", "headers": headers, "postData": posted}
    content = {"mimeType": evil, "text": evil}
    response = {"status": 200, "statusText": evil, "headers": headers, "content": content}
    foreign = {"method": evil, "url": evil, "headers": headers}
    return [{"request": request, "response": response}, {"request": foreign, "response": response}]


NAMED = (
    "request",
    "reply",
    "stream",
    "cut",
    "broken stream",
    "exchange",
    "many",
    "bad",
    "prose",
    "unknown",
    "likely",
    "har",
)
CALLS: dict[str, list[tuple[list[str], tuple[str, ...]]]] = {
    "convert": [(["--to", "messages", "-o", "out/"], NAMED), (["--to", "responses", "-o", "out/", "-v"], NAMED[:3])],
    "stream": [(["--to", "chat", "-o", "out"], (name,)) for name in ("stream", "cut", "broken stream")],
    "collect": [(["--to", "chat", "-o", "out"], (name,)) for name in ("stream", "cut")],
    "explode": [(["--to", "chat", "-o", "out"], ("reply",))],
    "diff": [
        (["--to", "messages"], NAMED),
        (["--to", "chat", "--repair", "--by", "path"], ("reply", "cut")),
        (["--to", "chat", "--by", "file", "--baseline", "base", "--write-baseline"], ("reply", "har")),
        ([], ("request", "likely")),
        ([], ("reply", "stream")),
    ],
    "validate": [([], NAMED)],
    "inspect": [(["-v"], NAMED)],
    "redact": [(["-o", "out/", "--salt", "x"], NAMED[:3])],
    "map": [],
}


def clean(said: str) -> str:
    """What was said, where it steers nothing."""
    assert not STEERING.search(said), repr(STEERING.search(said))
    assert not ORDERS.search(said), said[: ORDERS.search(said).end() + 50]  # type: ignore[union-attr]
    return said


def placed(folder: Path, evil: str) -> dict[str, str]:
    """Write the captures to files whose names hold the text, too; the name of each."""
    names = {}
    for kind, data in captures(evil).items():
        name = f"{NO_NAME.sub('', evil)}.{kind}"
        (folder / name).write_bytes(data)
        names[kind] = name
    return names


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def calls(folder: Path, evil: str, values: str) -> Iterator[tuple[Done, dict[str, str]]]:
    """Every call with every report; the answer, and each report by its form."""
    names = placed(folder, evil)
    for command in COMMANDS:
        for options, kinds in CALLS.get(command, [([], NAMED)]):
            words = [command, *(names[kind] for kind in kinds), *options]
            forms = WRITERS if "report" in {option.name for option in command_of(command).options} else ()
            words += ["--values", values, "--on-error", "skip"] if forms else []
            done = answered([*words, *(f"--report={form}:reports/{form}" for form in forms)], folder=folder)
            assert done.code in ((0, 3, 4) if command == "redact" else (0, 1, 3)), (words, done.err)
            yield done, {form: (folder / "reports" / form).read_bytes().decode() for form in forms}


@pytest.mark.parametrize(
    ("name", "values"), [*((name, "full") for name in EVIL), ("colours", "none"), ("old command", "short")]
)
def test_what_is_captured_steers_nobody(folder: Path, name: str, values: str) -> None:
    shown = 0
    for done, reports in calls(folder, EVIL[name], values):
        clean(done.err + done.out.decode())
        if not reports:
            continue
        for form in TEXT_FORMS:
            shown += MARK in clean(reports[form])
        report = text.loads(clean(reports["json"]))
        said = [each for item in report["items"] for each in [*item["changes"], *item["findings"]]]
        assert [LINE.match(line) is None for line in reports["lines"].splitlines()] == [False] * len(said)
        assert len(clean(reports["jsonl"]).splitlines()) == len(report["items"]) + 1
        in_github(reports["github"])
        assert len(text.loads(clean(reports["gitlab"]))) == len(said)
        in_sarif(text.loads(clean(reports["sarif"])))
        in_junit(clean(reports["junit"]))
        in_markdown(clean(reports["markdown"]))
        in_html(reports["html"], full=values == "full")
    assert shown, "the text is in no report: nothing was tried"


def in_github(said: str) -> None:
    assert not STEERING.search(said)
    for line in said.splitlines():
        found = OURS.match(line)
        assert found, line
        title = re.search("title=([^,]*)", found[2])
        assert title and title[1] in {"proxai", *REASONS, *FINDINGS, *ERRORS}
        assert not ORDERS.search(found[3])


def in_sarif(said: Any) -> None:
    (run,) = said["runs"]
    told = [each["message"]["text"] for each in run["results"]]
    told += [each["message"]["text"] for each in run["invocations"][0]["toolExecutionNotifications"]]
    assert not [each for each in told if re.search(r"(?<!\\)(?:\\\\)*\]\(|(?<!\{)(?:\{\{)*\{\d", each)]
    uris = [each["location"]["uri"] for each in run["artifacts"]]
    assert all(re.fullmatch(r"(?:[\w.~/-]|%[0-9A-F]{2})+", uri, re.ASCII) for uri in uris), uris


def in_junit(said: str) -> None:
    root = ElementTree.fromstring(said)
    parts = {"testsuites", "testsuite", "properties", "property", "testcase", "failure", "error", "skipped"}
    assert {each.tag for each in root.iter()} <= parts | {"system-out", "system-err"}
    for suite in root:
        assert [int(suite.get(key, "")) for key in ("failures", "errors", "skipped")] == [
            len(suite.findall(f"testcase/{kind}")) for kind in ("failure", "error", "skipped")
        ]


def in_markdown(said: str) -> None:
    """Outside of code spans nothing is captured; so there is no mention and no link, whoever reads it."""
    from markdown_it import MarkdownIt

    blocks = MarkdownIt("commonmark", {"html": True}).enable("table").parse(said)
    tokens = [*blocks, *(child for block in blocks for child in block.children or ())]
    kinds = {token.type for token in tokens}
    assert not kinds & {"link_open", "image", "html_inline", "fence", "code_block", "blockquote_open"}, kinds
    for token in tokens:
        if token.type == "html_block":
            assert re.fullmatch(r"(<details><summary>\d+ more</summary>|</details>)\n?", token.content), token.content
        elif token.type not in ("code_inline", "inline"):
            assert MARK not in token.content, token
    columns = {len(row) for row in _rows(blocks)}
    assert len(columns) <= 1, columns


def _rows(blocks: list[Any]) -> list[list[str]]:
    rows: list[list[str]] = []
    for token in blocks:
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("td_open", "th_open"):
            rows[-1].append(token.type)
    return rows


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.handlers: set[str] = set()
        self.scripts = ""
        self.inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.inside = tag
        self.handlers |= {name for name, _ in attrs if name.startswith("on") or name in ("src", "a")}
        self.handlers |= {name for name, value in attrs if "javascript:" in (value or "").lower() and name in ("href",)}

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside in ("script", "style"):
            self.scripts += data


def in_html(said: str, full: bool) -> None:
    """No element, handler or script of the page is captured."""
    page = _Tags()
    page.feed(said)
    assert not page.tags & {MARK, "img"} and not page.handlers and MARK not in page.scripts
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", said)


@pytest.mark.parametrize("name", EVIL)
def test_the_words_of_a_call_steer_nobody(folder: Path, name: str) -> None:
    evil = re.sub("[\x00\ud800-\udfff]", "", EVIL[name])
    (folder / "req.json").write_bytes(text.dumps(ask("chat", seed=1)))
    for words in (
        [evil],
        ["convert", evil, "--to", "messages"],
        ["convert", "req.json", "--to", evil],
        ["convert", "req.json", f"--{evil}"],
        ["convert", "req.json", "--to", "messages", "--set", evil],
        ["convert", "req.json", "--to", "messages", "--set", f"{evil}={evil}"],
        ["convert", "req.json", "--to", "messages", "--request", evil],
        ["convert", "req.json", "--to", "messages", "--back", evil],
        ["convert", "req.json", "--to", "messages", "-o", f"req.json/{evil}"],
        ["diff", "req.json", "--to", "messages", "--report", evil],
        ["diff", "req.json", "--to", "messages", "--report", f"json:req.json/{evil}"],
        ["diff", "req.json", "--to", "messages", "--config", evil],
        ["diff", "req.json", "--to", "messages", "--baseline", evil],
        ["map", evil],
        ["map", evil, "chat"],
        ["map", "chat", "messages", "--field", evil],
    ):
        for form in ([], ["--format", "json"]):
            done = answered([*words, *form], folder=folder)
            assert done.code and done.err, words
            clean(done.err)
            if form:
                assert [text.loads(line) for line in done.err.splitlines()], words


@pytest.mark.parametrize("command", ["convert", "collect", "explode", "stream"])
@pytest.mark.parametrize("name", EVIL)
def test_a_document_steers_no_terminal(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, command: str) -> None:
    monkeypatch.setattr("proxai_cli.cli.screen.is_terminal", lambda _: True)
    kind = {"convert": "request", "explode": "reply"}.get(command, "stream")
    file = placed(folder, EVIL[name])[kind]
    words = [command, file, "--to", "chat" if kind != "request" else "messages", "--color", "never"]
    done = answered([*words, *(["--keep-comments"] if command == "stream" else [])], folder=folder)
    assert done.code == 0 and not STEERING.search(done.out.decode()) and not ORDERS.search(clean(done.err))
    again = answered([*words, "-o", "out"], folder=folder)
    assert again.code == 0
    if command in ("convert", "collect"):
        assert text.same(text.loads(done.out), text.loads((folder / "out").read_bytes()))


@pytest.mark.parametrize("name", EVIL)
def test_colours_are_ours(folder: Path, name: str) -> None:
    names = placed(folder, EVIL[name])
    words = [names[kind] for kind in NAMED]
    for form in ("table", "tree"):
        done = answered(
            ["diff", *words, "--to", "messages", "--color", "always", "--format", form, "--on-error", "skip"],
            folder=folder,
        )
        assert b"\x1b[" in done.out and b"\x1b[31mqzx" not in done.out
        clean(re.sub(r"\x1b\[[0-9;]*m", "", done.out.decode()))
