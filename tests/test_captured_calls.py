"""Whole exchanges, HTTP messages and calls that create no reply, as the commands take them."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from proxai_cli import PROTOCOLS, text
from proxai_cli.exchange import opened
from proxai_cli.schemas import ours

from .calls import Done, answered
from .captures import FIXTURES
from .test_exchange import WITHOUT, exchanges, recorded

SCHEMA = jsonschema.Draft202012Validator(ours("report"))
# Secrets of the fixtures, which are made up.
SECRETS = (
    b"notARealKey", b"notReal", b"wrongKey", b"0123456789abcdef", b"topsecret", b"pa55w0rd", b"fe5f80", b"__cf_bm", b"_cfuvid",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def call(*words: str) -> Done:
    return answered(list(words))


def write(name: str, value: Any) -> None:
    Path(name).write_bytes(value if isinstance(value, bytes) else text.dumps(value))


def report() -> dict[str, Any]:
    said: dict[str, Any] = text.loads(Path("report.json").read_bytes())
    SCHEMA.validate(said)
    return said


def secrets_in(*names: str) -> list[bytes]:
    data = b"".join(Path(name).read_bytes() for name in names)
    return [word for word in SECRETS if word in data]


# Exchanges

EXCHANGES = pytest.mark.parametrize("exchange", exchanges(), ids=lambda each: each.label)
# Nothing in them tells whose call it is, or which of OpenAI's protocols.
SILENT = ("chat/key-in-the-url", "responses/model")


@EXCHANGES
@pytest.mark.parametrize("target", PROTOCOLS)
def test_an_exchange_goes_through_as_one(exchange: Any, target: str) -> None:
    told = ["--from", exchange.protocol] if exchange.label in SILENT else []
    done = call(
        "convert",
        str(exchange.path),
        "--to",
        target,
        "-o",
        "out.json",
        "--report",
        "report.json",
        "--values",
        "full",
        *told,
    )
    if target in WITHOUT.get(exchange.label, []):
        assert done.code == 3 and "error[no-endpoint]" in done.err and not Path("out.json").exists()
        return
    assert done.code == 0 and not secrets_in("out.json", "report.json"), done.err
    (item,) = report()["items"]
    assert item["input"]["container"] == "exchange" and item["status"] == "ok"
    assert (item["source"]["protocol"], item["target"]["protocol"]) == (exchange.protocol, target)
    for side in ("source", "target"):
        counts = item["counts"][side]
        assert counts["leaves"] == sum(counts.values()) - counts["leaves"] > 0
    assert f" exchange -> {target} (" in done.err
    written = text.loads(Path("out.json").read_bytes())
    assert set(written) == set(exchange.value)


@EXCHANGES
@pytest.mark.parametrize("target", PROTOCOLS)
@pytest.mark.parametrize("shown", [False, True])
def test_an_exchange_comes_back(exchange: Any, target: str, shown: bool) -> None:
    """Byte for byte; without `--set credentials=true` neither target nor side file hold a credential."""
    told = ["--from", exchange.protocol] if exchange.label in SILENT else []
    told += ["--set", "credentials=true"] if shown else []
    call("convert", str(exchange.path), "--to", target, "--side", "side.json", "-o", "target", *told)
    if target in WITHOUT.get(exchange.label, []):
        assert not Path("side.json").exists()
        return
    done = call("convert", "target", "--back", "side.json", "-o", "again")
    assert done.code == 0, done.err
    before, after = exchange.path.read_bytes(), Path("again").read_bytes()
    if shown:
        assert after == before
        return
    assert not secrets_in("target", "again")
    masked = after.replace(b"<redacted>", b"")
    assert before.split(b"\n")[0] == after.split(b"\n")[0] and len(masked) <= len(before)
    if not [word for word in SECRETS if word in before]:
        assert after == before


def test_an_edited_exchange_comes_back_with_what_was_edited() -> None:
    source = FIXTURES / "exchange" / "chat" / "rate-limits.json"
    call("convert", str(source), "--to", "messages", "--side", "side.json", "-o", "target", "--set", "credentials=true")
    value = text.loads(Path("target").read_bytes())
    value["response"]["body"]["content"][0]["text"] = "another answer"
    write("target", value)
    done = call("convert", "target", "--back", "side.json", "-o", "again")
    assert done.code == 0, done.err
    wanted = text.loads(source.read_bytes())
    wanted["response"]["body"]["choices"][0]["message"]["content"] = "another answer"
    assert text.same(text.loads(Path("again").read_bytes()), wanted)


def test_bodies_in_text_stay_in_text_on_the_way_back() -> None:
    source = FIXTURES / "exchange" / "chat" / "streamed-text.json"
    call("convert", str(source), "--to", "messages", "--side", "side.json", "-o", "target", "--set", "credentials=true")
    value = text.loads(Path("target").read_bytes())
    asked = value["request"]["body"]
    before = text.loads(asked)["messages"][0]["content"] if isinstance(asked, str) else asked["messages"][0]["content"]
    said = before if isinstance(before, str) else before[0]["text"]
    write("target", Path("target").read_bytes().replace(text.dumps(said)[1:-1], b"another question"))
    assert call("convert", "target", "--back", "side.json", "-o", "again").code == 0
    again, wanted = (
        text.loads(Path("again").read_bytes()),
        source.read_bytes().replace(text.dumps(said)[1:-1], b"another question"),
    )
    assert text.same(opened(again, "chat")[0], opened(text.loads(wanted), "chat")[0])
    assert isinstance(again["response"]["body"], str)


@pytest.mark.parametrize(("label", "value"), recorded(), ids=lambda each: each if isinstance(each, str) else "")
def test_recorded_exchanges(label: str, value: Any) -> None:
    """Each is translated, or refused for a reason that is told; what is inspected is what is converted."""
    write("in.json", value)
    done = call("convert", "in.json", "--to", "responses", "-o", "out.json", "--report", "report.json")
    codes = {found["code"] for item in report()["items"] for found in item["findings"] if item["status"] == "failed"}
    assert done.code in (0, 3) and "internal" not in done.err
    assert codes <= {"no-endpoint", "unrecognised", "ambiguous", "empty", "old-version", "wrong-url"}, done.err
    assert call("inspect", "in.json").code in (0, 3)


ASK = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "private"}]}
REPLY = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "content": [{"type": "text", "text": "Hello you"}],
    "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 3, "output_tokens": 2},
}  # fmt: skip
KNOWN = [
    # what it is, the exchange, protocol, kind and how sure
    ("a request by its URL", {"url": "/v1/messages", "method": "POST", "body": ASK}, ("messages", "request", "likely")),
    ("a request by its header", {"url": "/x", "headers": {"anthropic-version": "2023-06-01"}, "body": ASK}, ("messages", "request", "likely")),
    ("a request by its host", {"url": "https://api.openai.com/x", "body": ASK, "headers": {}}, ("chat", "request", "likely")),
    ("a request by its answer", {"request": {"url": "/x", "body": ASK}, "response": {"status": 200, "body": REPLY}}, ("messages", "response", "certain")),
    ("an answer alone", {"status": 200, "body": REPLY}, ("messages", "response", "certain")),
    ("an answer in text", {"status": 200, "body": text.dumps(REPLY).decode()}, ("messages", "response", "certain")),
    ("an answer that failed", {"status": 529, "body": {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}}, ("messages", "error", "certain")),
    ("a call of the other vendor's address", {"url": "/v1/chat/completions", "method": "POST", "body": {**ASK, "system": "x"}}, ("messages", "request", "certain")),
]  # fmt: skip


@pytest.mark.parametrize(("value", "known"), [row[1:] for row in KNOWN], ids=[row[0] for row in KNOWN])
def test_how_an_exchange_is_known(value: Any, known: tuple[str, ...]) -> None:
    write("in.json", value)
    call("inspect", "in.json", "--report", "report.json")
    (item,) = report()["items"]
    assert tuple(item["source"][name] for name in ("protocol", "kind", "sure")) == known
    assert item["input"]["container"] == "exchange"


def test_a_tie_of_an_exchange_is_told() -> None:
    write("in.json", {"url": "/x", "method": "POST", "body": ASK})
    done = call("convert", "in.json", "--to", "responses")
    assert done.code == 3 and "error[ambiguous]" in done.err and "private" not in done.err
    assert call("convert", "in.json", "--to", "responses", "--from", "chat").value["body"]["input"]


@pytest.mark.parametrize(
    "value",
    [
        {**REPLY, "status": "completed"},
        {"type": "response.created", "response": {"id": "r", "status": "in_progress"}},
        {"request": "x", "response": None},
        {"url": 5, "body": {}},
        {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {**ASK, "seed": 1}},
        {"custom_id": "a", "id": "b", "response": {"status_code": 200, "body": {}}, "error": None},
    ],
)
def test_what_is_no_exchange(value: Any) -> None:
    write("in.json", value)
    call("inspect", "in.json", "--report", "report.json")
    assert report()["items"][0]["input"]["container"] == "json"


def test_the_body_beats_the_address() -> None:
    write("in.json", {"url": "/v1/chat/completions", "method": "POST", "body": {**ASK, "system": "x"}})
    done = call("convert", "in.json", "--to", "responses", "--report", "report.json")
    assert "address-says-otherwise" in {found["code"] for found in report()["items"][0]["findings"]}
    assert done.value["url"] == "/v1/responses"


@pytest.mark.parametrize("command", ["stream", "collect", "explode"])
def test_commands_for_one_body_or_stream_refuse_an_exchange(command: str) -> None:
    source = str(FIXTURES / "exchange" / "chat" / "rate-limits.json")
    done = call(command, source, *(["--to", "chat"] if command == "stream" else []))
    assert done.code == 3 and "whole exchange" in done.err and "try: proxai convert" in done.err


def test_lines_of_exchanges() -> None:
    line = text.dumps(text.loads((FIXTURES / "exchange" / "chat" / "rate-limits.json").read_bytes()))
    write("log.jsonl", line + b"\n" + line + b"\n")
    done = call("convert", "log.jsonl", "--to", "messages")
    assert [set(text.loads(one)) for one in done.out.splitlines()] == [{"request", "response"}] * 2


def test_the_request_of_an_exchange_may_be_the_paired_one() -> None:
    write(
        "asked.json",
        {
            "request": {
                "url": "/v1/responses",
                "method": "POST",
                "body": {"model": "m", "input": "hi", "temperature": 0.5},
            },
            "response": None,
        },
    )
    write("reply.json", REPLY)
    done = call("convert", "reply.json", "--to", "responses", "--request", "asked.json")
    assert done.value["temperature"] == 0.5


@pytest.mark.parametrize("command", ["convert", "explode"])
def test_a_reply_that_repeats_its_request(command: str) -> None:
    """The paired request is told in the words of the target, whatever its own protocol (`spec/responses.md` §1.2)."""
    write("asked.json", {**ASK, "temperature": 0.5, "tools": [{"name": "f", "input_schema": {"type": "object"}}]})
    write("reply.json", REPLY)
    done = call(command, "reply.json", "--to", "responses", "--request", "asked.json", "--report", "report.json")
    body = done.value if command == "convert" else text.loads(done.out.rstrip().rpartition(b"data: ")[2])["response"]
    assert (body["temperature"], body["max_output_tokens"], body["tools"][0]["name"]) == (0.5, 5, "f")
    assert "from-request" in {change["reason"] for change in report()["items"][0]["changes"]}
    assert call(command, "reply.json", "--to", "chat", "--request", "asked.json").code == 0


# HTTP messages

HEAD = (
    b"POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer sk-notARealKey\r\nContent-Type: application/json\r\n%s\r\n"
)
ANSWER = b"HTTP/2 200 \r\ndate: Sun, 06 Nov 1994 08:49:37 GMT\r\nset-cookie: notReal=1; path=/\r\n%s\r\n"


@pytest.mark.parametrize(
    ("path", "host", "more", "protocol"),
    [
        (b"/v1/messages", b"gateway.example", b"", "messages"),
        (b"/v1/chat/completions", b"gateway.example", b"", "chat"),
        (b"/anything", b"api.anthropic.com", b"", "messages"),
        (b"/anything", b"api.openai.com", b"", "chat"),
        (b"/anything", b"gateway.example", b"anthropic-version: 2023-06-01\r\n", "messages"),
        (b"https://gateway.example/v1/messages?beta=true", b"gateway.example", b"", "messages"),
    ],
)
def test_a_head_settles_a_tie(path: bytes, host: bytes, more: bytes, protocol: str) -> None:
    write("raw.txt", HEAD % (path, host, more) + text.dumps(ASK))
    done = call("convert", "raw.txt", "--to", "responses", "--report", "report.json")
    (item,) = report()["items"]
    assert (item["source"]["protocol"], item["source"]["sure"], item["input"]["container"]) == (
        protocol,
        "likely",
        "http",
    )
    assert f"likely {protocol}" in done.err and done.value["input"], "the body goes out"


def test_a_head_never_overrules_a_body() -> None:
    write(
        "raw.txt", HEAD % (b"/v1/messages", b"x", b"") + text.dumps({**ASK, "seed": 1, "n": 1, "frequency_penalty": 1})
    )
    call("convert", "raw.txt", "--to", "responses", "--report", "report.json")
    (item,) = report()["items"]
    assert item["source"]["protocol"] == "chat" and item["findings"][0]["code"] == "address-says-otherwise"


def test_the_date_of_a_head_is_the_time_of_the_reply() -> None:
    write("raw.txt", ANSWER % b"" + text.dumps(REPLY))
    assert call("convert", "raw.txt", "--to", "chat").value["created"] == 784111777


def test_the_version_of_a_head_counts() -> None:
    asked = {**ASK, "system": "x", "temperature": 0.5}
    write("raw.txt", HEAD % (b"/v1/messages", b"x", b"anthropic-version: 2026-10-21\r\n") + text.dumps(asked))
    assert call("inspect", "raw.txt", "-v").code == 0


@pytest.mark.parametrize("name", ["request", "answer", "stream"])
def test_an_http_message_comes_back_without_its_credentials(name: str) -> None:
    data = {
        "request": HEAD % (b"/v1/messages?api_key=topsecret", b"x", b"") + text.dumps({**ASK, "system": "x"}),
        "answer": ANSWER % b"" + text.dumps(REPLY),
        "stream": ANSWER % b"" + (FIXTURES / "messages" / "plain-text" / "stream.sse").read_bytes(),
    }[name]
    write("raw", data)
    for choices, shown in ([], False), (["--set", "credentials=true"], True):
        call("convert", "raw", "--to", "chat", "--side", "side.json", "-o", "target", *choices)
        assert call("convert", "target", "--back", "side.json", "-o", "again").code == 0
        assert (Path("again").read_bytes() == data) is shown
        wanted = data
        if not shown:
            for secret, cover in (
                (b"sk-notARealKey", b"<redacted>"),
                (b"notReal=1; path=/", b"<redacted>"),
                (b"topsecret", b"<redacted>"),
            ):
                wanted = wanted.replace(secret, cover)
        assert Path("again").read_bytes() == wanted


# Calls that create no reply

ENDPOINTS = sorted((FIXTURES / "endpoints").glob("*/*/*.json"))
UNKNOWN = {
    "count": ["with-thinking.request.json", "with-tools.request.json"],
    "models": ["none.response.json"],
    "compact": ["messages/sums.request.json", "messages/sums.response.json", "responses/sums.request.json"],
}
KNOWN_ENDPOINTS = [
    path for path in ENDPOINTS if not any(str(path).endswith(f"/{name}") for name in UNKNOWN.get(path.parts[-3], []))
]


@pytest.mark.parametrize("path", KNOWN_ENDPOINTS, ids=lambda path: "/".join(path.parts[-3:]))
def test_a_body_of_another_call(path: Path) -> None:
    endpoint, protocol, name = path.parts[-3:]
    kind = name.split(".")[-2]
    done = call("inspect", str(path), "--report", "report.json")
    (item,) = report()["items"]
    assert done.code == 0 and f"{endpoint} {kind}" in done.out.decode()
    assert (item["input"]["label"], item["source"]["protocol"], item["source"]["kind"]) == (endpoint, protocol, kind)
    for target in PROTOCOLS:
        done = call(
            "convert", str(path), "--to", target, "-o", "target", "--side", "side.json", "--report", "report.json"
        )
        if done.code == 3:
            assert "error[no-endpoint]" in done.err or "error[empty]" in done.err, done.err
            continue
        assert report()["items"][0]["input"]["label"] == endpoint
        assert call("convert", "target", "--back", "side.json", "-o", "again").code == 0
        assert Path("again").read_bytes() == path.read_bytes()


def test_the_lines_of_a_batch() -> None:
    line = text.loads((FIXTURES / "endpoints" / "batches" / "chat" / "line.request.json").read_bytes())
    write("batch.jsonl", b"".join(text.dumps({**line, "custom_id": name}) + b"\n" for name in ("a", "b")))
    done = call("convert", "batch.jsonl", "--to", "messages")
    assert [set(text.loads(each)) for each in done.out.splitlines()] == [{"custom_id", "params"}] * 2


def test_a_request_that_is_only_counted_is_known_by_its_url() -> None:
    write("raw", HEAD % (b"/v1/messages/count_tokens", b"x", b"") + text.dumps(ASK))
    done = call("convert", "raw", "--to", "responses", "--report", "report.json")
    assert report()["items"][0]["input"]["label"] == "count" and "max_output_tokens" not in done.value


@pytest.mark.parametrize("target", ["responses", "messages"])
def test_where_the_target_has_no_such_call(target: str) -> None:
    write("in.json", {"query": "private", "documents": ["a"], "model": "rerank-x"})
    done = call("convert", "in.json", "--to", target)
    assert done.code == 3 and "error[no-endpoint]" in done.err and "private" not in done.err and done.out == b""


# What is not read any more

OLD = {
    "a request": {"model": "claude-2", "max_tokens_to_sample": 5, "prompt": "\n\nHuman: private\n\nAssistant:"},
    "a reply": {"type": "completion", "completion": " private", "stop_reason": "stop_sequence", "model": "claude-2.1"},
    "a reply without a type": {"completion": " private", "stop": None, "log_id": "x", "stop_reason": "max_tokens"},
    "a stream": b'event: completion\ndata: {"type":"completion","completion":" private","stop_reason":null}\n\n',
    "a stream without names": b'data: {"completion":" private","stop_reason":null,"model":"claude-v1","log_id":"x"}\n\n',
    "a stream of Assistants": b'event: thread.run.created\ndata: {"id":"run_1","object":"thread.run"}\n\n',
    "a stream that pings first": b'event: ping\ndata: {}\n\nevent: completion\ndata: {"completion":"x","log_id":"1"}\n\n',
}


@pytest.mark.parametrize("value", OLD.values(), ids=OLD)
def test_old_versions_are_told_by_name(value: Any) -> None:
    write("old", value)
    done = call("convert", "old", "--to", "chat")
    assert done.code == 3 and "error[old-version] old: " in done.err and "private" not in done.err


def test_the_library_has_the_same() -> None:
    import proxai_cli

    assert set(proxai_cli.ENDPOINTS) == {"models", "embeddings", "rerank", "count", "batches", "compact"}
    model = {"id": "m", "object": "model", "created": 0, "owned_by": "x"}
    assert proxai_cli.translate_endpoint(model, "chat", "messages", "models", "response").value["type"] == "model"
    exchange = {"url": "/v1/messages", "method": "POST", "body": ASK}
    assert proxai_cli.translate_exchange(exchange, "messages", "chat").value["url"] == "/v1/chat/completions"
    assert all(hasattr(proxai_cli, name) for name in proxai_cli.__all__)
