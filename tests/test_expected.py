"""Every fixture to every other protocol is what a person has read and accepted (`--accept` writes it anew)."""

from pathlib import Path
from typing import Any

import pytest

from proxai_cli import PROTOCOLS, StreamTranslator, text, translate
from proxai_cli.errors import ProxaiError
from proxai_cli.ledger import CARRIED
from proxai_cli.translate import pattern
from proxai_cli.wire.sse import write

from .captures import FIXTURES, Capture, body, events, fixtures

ALL = [(each, target) for each in fixtures() for target in PROTOCOLS if target != each.protocol]


@pytest.mark.parametrize(("capture", "target"), ALL, ids=lambda said: getattr(said, "label", said))
def test_expected(capture: Capture, target: str, request: pytest.FixtureRequest) -> None:
    folder = FIXTURES / "expected" / f"{capture.protocol}-{target}" / capture.path.parent.name
    document, account = _translated(capture, target)
    found = {folder / capture.path.name: document, folder / f"{capture.path.stem}.ledger.json": account}
    if request.config.getoption("--accept"):
        folder.mkdir(parents=True, exist_ok=True)
        for path, data in found.items():
            path.write_bytes(data)
    for path, data in found.items():
        assert path.exists(), f"{path.name} was never accepted: run with --accept and read it"
        assert path.read_bytes() == data


def test_no_expected_file_is_left_over() -> None:
    wanted = set()
    for capture, target in ALL:
        folder = FIXTURES / "expected" / f"{capture.protocol}-{target}" / capture.path.parent.name
        wanted |= {folder / capture.path.name, folder / f"{capture.path.stem}.ledger.json"}
    assert {path for path in (FIXTURES / "expected").rglob("*") if path.is_file()} == wanted


def _translated(capture: Capture, target: str) -> tuple[bytes, bytes]:
    """The target document as it would be written, and its account without what was carried, as JSON."""
    if capture.kind == "stream":
        return _streamed(capture, target)
    try:
        done = translate(body(capture), capture.protocol, target, capture.kind)
    except ProxaiError as error:
        return b"", _lines([["error", error.code]], [])
    entries = done.ledger.entries
    lines = [
        [entry.fate, _pointer(entry.source), _pointer(entry.target), entry.why, entry.level, entry.ours, entry.theirs]
        for entry in entries
        if entry.fate != CARRIED
    ]
    carried = sum(entry.ours for entry in entries if entry.fate == CARRIED)
    return text.dumps(done.value, indent=2) + b"\n", _lines([["carried", carried], *lines], done.findings)


def _streamed(capture: Capture, target: str) -> tuple[bytes, bytes]:
    translator, out = StreamTranslator(capture.protocol, target), list[Any]()
    end: list[list[Any]] = []
    try:
        for event in events(capture):
            out += translator.feed(event)
    except ProxaiError as error:
        end = [["error", error.code]]
    out += translator.close()
    if not translator.complete and not end:
        end = [["error", "truncated"]]
    lines: list[list[Any]] = []
    carried = 0
    for (fate, source, target_path, why, level), numbers in translator.account.items():
        if fate == CARRIED:
            carried += numbers[0]
        else:
            lines.append([fate, _pointer(pattern(source)), _pointer(pattern(target_path)), why, level, *numbers])
    document = b"".join(write(event, PROTOCOLS[target].named) for event in out)
    return document, _lines([["carried", carried], *lines, *end], translator.findings)


def _pointer(path: Any) -> str | None:
    return None if path is None else text.pointer(path)


def _lines(rows: list[Any], findings: list[Any]) -> bytes:
    rows = [*rows, *(["finding", finding.code] for finding in findings)]
    return b"[\n" + b",\n".join(text.dumps(row) for row in rows) + b"\n]\n"


def test_the_folder_of_expected_files_is_named_for_its_pair() -> None:
    pairs = {f"{one}-{other}" for one in PROTOCOLS for other in PROTOCOLS if one != other}
    assert {path.name for path in Path(FIXTURES / "expected").iterdir()} == pairs
