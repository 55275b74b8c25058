"""Bad input gets an error with its place, or a finding; never a traceback, and nothing is lost silently."""

import subprocess
import sys
from pathlib import Path

import pytest

from proxai_cli import text

from .captures import FIXTURES
from .refused import REFUSED

CODES = {
    "binary.bin": "unreadable",
    "cut-body.json": "bad-json",
    "empty.json": "empty",
    "invalid-utf8-outside-strings.json": "bad-json",
    "no-protocol.json": "unrecognised",
    "not-json.json": "bad-json",
    "not-sse.sse": "bad-json",
    "tie.json": "ambiguous",
}
FINDINGS = {
    "byte-order-mark.json": "byte-order-mark",
    "event-name-differs.sse": "event-name",
    "invalid-utf8-inside-string.json": "invalid-utf8",
    "same-key-twice.json": "twice-the-same-key",
    "sequence-gap.sse": "seq-gap",
}


def proxai(*words: str, data: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "proxai_cli", *words], input=data, capture_output=True, check=False)


def target_of(name: str) -> str:
    return "messages" if "messages" not in name else "chat"


def test_each_refused_fixture_is_listed() -> None:
    assert {path.name for path in (FIXTURES / "refused").iterdir()} == set(CODES)
    assert {path.name for path in (FIXTURES / "noticed").iterdir()} == set(FINDINGS)


@pytest.mark.parametrize("name", CODES)
def test_refused(name: str) -> None:
    done = proxai("convert", str(FIXTURES / "refused" / name), "--to", "responses")
    said = done.stderr.decode()
    assert done.returncode == 3 and done.stdout == b""
    assert said.startswith(f"proxai: error[{CODES[name]}]") and "try:" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("name", FINDINGS)
def test_noticed(name: str, tmp_path: Path) -> None:
    """The translation goes on, and the report tells what was seen."""
    report = tmp_path / "report.json"
    source = str(FIXTURES / "noticed" / name)
    done = proxai("convert", source, "--to", "chat", "--report", str(report))
    if b"different" in done.stderr or done.returncode == 2:
        done = proxai("convert", source, "--to", "messages", "--report", str(report))
    assert done.returncode == 0 and done.stdout
    items = text.loads(report.read_bytes())["items"]
    assert FINDINGS[name] in [finding["code"] for finding in items[0]["findings"]]


GENERATED = {
    "brackets": (b"[" * 20_000_000, "bad-json"),
    "braces": (b'{"a":' * 5_000_000, "bad-json"),
    "digits": (
        b'{"model":"m","messages":[{"role":"user","content":"x"}],"seed":' + b"1" * 10_001 + b"}",
        "number-too-long",
    ),
    "nothing": (b"", "empty"),
    "blanks": (b"  \n\n \n", "empty"),
    "nulls": (b"\x00" * 100, "unreadable"),
    "a list": (b"[1,2,3]", "unrecognised"),
    "a scalar": (b"42", "unrecognised"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "unreadable"),
    "an event that is no JSON": (b"data: {\n\n", "bad-json"),
}


@pytest.mark.parametrize("name", GENERATED)
def test_generated(name: str) -> None:
    data, code = GENERATED[name]
    done = proxai("convert", "--to", "messages", "-", data=data)
    said = done.stderr.decode()
    assert done.returncode == 3, said
    assert f"error[{code}]" in said or (code == "bad-json" and "error[" in said), said[:300]
    assert "Traceback" not in said and len(said) < 2000


SURVIVES = [
    r'"\ud83d"',
    "9007199254740993",
    "123456789012345678901234567890",
    "1" * 9000,
    "-0",
    "1.10",
    "1e400",
    '"a\u2028b"',
    '{"": 1}',
    '{"a/b~c": {"~": "/"}}',
]


@pytest.mark.parametrize("value", SURVIVES, ids=lambda value: value[:12])
def test_survives(value: str) -> None:
    """What other tools change comes out as it went in, through an argument string too."""
    arguments = text.dumps(f'{{"value":{value}}}').decode()
    function = f'{{"name":"f","arguments":{arguments}}}'
    call = f'{{"id":"call_1","type":"function","function":{function}}}'
    turns = f'[{{"role":"user","content":"x"}},{{"role":"assistant","content":null,"tool_calls":[{call}]}},'
    turns += '{"role":"tool","tool_call_id":"call_1","content":"y"}]'
    schema = f'{{"type":"object","x":{value}}}'
    tools = f'[{{"type":"function","function":{{"name":"f","parameters":{schema}}}}}]'
    body = f'{{"model":"m","messages":{turns},"tools":{tools}}}'.encode()
    there = proxai("convert", "--to", "messages", "--from", "chat", "--indent", "0", "-", data=body)
    assert there.returncode == 0, there.stderr
    compact = value.replace(": ", ":").encode()
    assert there.stdout.replace(b": ", b":").count(compact) >= 2
    back = proxai("convert", "--to", "chat", "--from", "messages", "-", data=there.stdout)
    assert back.returncode == 0, back.stderr
    again = text.loads(back.stdout)
    made = next(turn for turn in again["messages"] if turn.get("tool_calls"))["tool_calls"][0]
    assert made["function"]["arguments"] == f'{{"value":{compact.decode()}}}'


def test_the_list_of_refused_captures_names_known_codes() -> None:
    from proxai_cli.reasons import ERRORS

    assert set(REFUSED.values()) | set(CODES.values()) <= set(ERRORS)
