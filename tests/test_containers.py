"""Containers: what tools keep of calls and logs, each with a request, an answer and a stream; whole, damaged and big."""

import base64
import gzip
import pickle
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from proxai_cli import text
from proxai_cli.cli.inputs import Input
from proxai_cli.cli.parts import Reading, parts, records
from proxai_cli.errors import NotReadable, ProxaiError
from proxai_cli.wire.calls import OF_RECORDS, OF_SESSIONS
from proxai_cli.wire.capture import captures
from proxai_cli.wire.records import may_be_record, put, slots

from .calls import Done, answered
from .shared import SHARED

Proxai = Callable[..., Done]


@pytest.fixture
def proxai(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Proxai:
    monkeypatch.chdir(tmp_path)
    return lambda *words, stdin=b"": answered(list(words), stdin, tmp_path)


def dumped(value: Any) -> str:
    return text.dumps(value).decode()


CALL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
REQUEST = {"model": "gpt-5", "messages": [{"role": "user", "content": "Hi"}], "tools": [CALL]}
REPLY = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-5",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}
CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5"}
EVENTS: list[Any] = [
    {**CHUNK, "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hel"}, "finish_reason": None}]},
    {**CHUNK, "choices": [{"index": 0, "delta": {"content": "lo"}, "finish_reason": None}]},
    {**CHUNK, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
]
STREAM = "".join(f"data: {dumped(event)}\n\n" for event in EVENTS) + "data: [DONE]\n\n"
URL = "https://api.openai.com/v1/chat/completions"
# Nothing in it belongs to one protocol only.
TIE = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "Hi"}]}


def har(*entries: Any) -> str:
    return dumped({"log": {"version": "1.2", "pages": [{"id": "]}"}], "entries": entries}})


def entry(asked: Any, content: Any, url: str = URL, **more: Any) -> dict[str, Any]:
    posted = {"postData": {"mimeType": "application/json", "text": dumped(asked)}} if asked else {}
    head = [{"name": "Content-Type", "value": "application/json"}]
    request = {"method": "POST" if asked else "GET", "url": url, "headers": head, **posted}
    return {"request": request, "response": {"status": 200, "headers": [], "content": content}, **more}


def base64ed(said: str) -> str:
    return base64.b64encode(said.encode()).decode()


IMAGE = entry(None, {"mimeType": "image/png", "encoding": "base64", "text": "iVBORw0KGgo="}, "https://x.example/a.png")
PAGE = entry(None, {"mimeType": "text/html", "text": "<!doctype html><p>"}, "https://x.example/")
OTHER = entry({"query": "q"}, {"mimeType": "application/json", "text": '{"hits":[]}'}, "https://x.example/search")
KEPT = [{"time": 7.5 + at / 4, "data": dumped(event), "eventName": "message"} for at, event in enumerate(EVENTS)]

HAR = har(
    entry(REQUEST, {"mimeType": "application/json", "text": dumped(REPLY)}),
    IMAGE,
    entry(REQUEST, {"mimeType": "text/event-stream", "encoding": "base64", "text": base64ed(STREAM)}),
    PAGE,
)

YAML_CASSETTE = yaml.safe_dump(
    {
        "interactions": [
            {
                "request": {"body": dumped(REQUEST), "headers": {"accept": ["*/*"]}, "method": "POST", "uri": URL},
                "response": {
                    "body": {"string": gzip.compress(dumped(REPLY).encode(), mtime=0)},
                    "headers": {"content-encoding": ["gzip"]},
                    "status": {"code": 200, "message": "OK"},
                },
            },
            {
                "request": {"parsed_body": REQUEST, "method": "POST", "uri": URL},
                "response": {
                    "body": {"string": STREAM},
                    "headers": {"content-encoding": ["gzip"]},
                    "status": {"code": 200},
                },
            },
        ],
        "version": 1,
    }
)
JSON_CASSETTE = dumped(
    {
        "recorded_with": "x",
        "http_interactions": [
            {
                "request": {"method": "post", "uri": URL, "body": {"encoding": "UTF-8", "string": dumped(REQUEST)}},
                "response": {"status": {"code": 200}, "body": {"base64_string": base64ed(dumped(REPLY))}},
            },
            {
                "request": {"method": "post", "url": URL, "body": dumped(REQUEST)},
                "response": {"status": "200 OK", "code": 200, "body": STREAM},
            },
        ],
    }
)
CURL = f"""* Host api.openai.com:443 was resolved.
* using HTTP/1.x
> POST /v1/chat/completions HTTP/1.1
> Host: api.openai.com
> Content-Type: application/json
>
* upload completely sent off: 80 bytes
< HTTP/1.1 200 OK
< Content-Type: application/json
<
{dumped(REPLY)}
* Connection #0 to host api.openai.com left intact
> POST /v1/chat/completions HTTP/1.1
> Host: api.openai.com
>
< HTTP/1.1 200 OK
< Content-Type: text/event-stream
<
{STREAM}* Connection #0 to host api.openai.com left intact
"""
DIALOGUE = "".join(
    f"POST /v1/chat/completions HTTP/1.1\r\nHost: api.openai.com\r\n\r\n{dumped(REQUEST)}\r\n"
    f"HTTP/1.1 200 OK\r\nContent-Type: x\r\n\r\n{answer}"
    for answer in (dumped(REPLY) + "\r\n", STREAM)
)
ASKED, ANSWERED = (
    (f"{first}\r\nHost: api.openai.com\r\n\r\n{body}").encode()
    for first, body in (("POST /v1/chat/completions HTTP/1.1", dumped(REQUEST)), ("HTTP/1.1 200 OK", STREAM))
)
FOLLOWED = (
    "\n" + "=" * 67 + "\nFollow: tcp,ascii\nFilter: tcp.stream eq 0\nNode 0: 127.0.0.1:5000\nNode 1: 127.0.0.1:80\n"
    f"{len(ASKED)}\n{ASKED.decode()}\n\t90\n{ANSWERED[:90].decode()}\n"
    f"\t{len(ANSWERED) - 90}\n{ANSWERED[90:].decode()}\n" + "=" * 67 + "\n"
)
PROGRESS = """  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current
                                 Dload  Upload   Total   Spent    Left  Speed
  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0"""
LOG = f"""=== REQUEST INFO ===
Version: 8
URL: /v1/chat/completions
Method: POST
Timestamp: 2026-01-02T03:04:05Z

=== HEADERS ===
Content-Type: application/json

=== REQUEST BODY ===
{dumped(REQUEST)}

=== API REQUEST 1 ===
Timestamp: 2026-01-02T03:04:05Z
Upstream URL: https://api.anthropic.com/v1/messages
HTTP Method: POST

Headers:
Content-Type: application/json

Body:
{dumped(TIE)}

=== API RESPONSE 1 ===
Timestamp: 2026-01-02T03:04:05Z

Status: 200
Headers:
Content-Type: text/event-stream

Body:
{STREAM}
=== RESPONSE ===
Status: 200
Content-Type: application/json

{dumped(REPLY)}
"""

CALLS: dict[str, tuple[str, str, list[tuple[int | None, str]]]] = {
    "har": (HAR, "har", [(0, "request"), (1, "response"), (4, "request"), (5, "stream")]),
    "har with the times of events": (
        har(entry(REQUEST, {"mimeType": "text/event-stream"}, _eventSourceMessages=KEPT)),
        "har",
        [(0, "request"), (1, "stream")],
    ),
    "cassette": (YAML_CASSETTE, "cassette", [(0, "request"), (1, "response"), (2, "request"), (3, "stream")]),
    "cassette of JSON": (JSON_CASSETTE, "cassette", [(0, "request"), (1, "response"), (2, "request"), (3, "stream")]),
    "curl -v": (CURL, "curl", [(1, "response"), (3, "stream")]),
    "curl -v, no new line at the end": (
        CURL[: CURL.rindex("> POST")].replace("}\n* Connection", "}* Connection"),
        "curl",
        [(None, "response")],
    ),
    "curl -v with progress": (f"{PROGRESS}\n{CURL}", "curl", [(1, "response"), (3, "stream")]),
    "a stream that was followed": (FOLLOWED, "http", [(0, "request"), (1, "stream")]),
    "HTTP messages on one connection": (
        "".join(
            f"{first}\r\nContent-Length: {len(dumped(body))}\r\n\r\n{dumped(body)}"
            for first, body in [("POST /v1/chat/completions HTTP/1.1", REQUEST), ("HTTP/1.1 200 OK", REPLY)] * 2
        ),
        "http",
        [(0, "request"), (1, "response"), (2, "request"), (3, "response")],
    ),
    "HTTP messages": (DIALOGUE, "http", [(0, "request"), (1, "response"), (2, "request"), (3, "stream")]),
    "HTTP answers": (
        f"HTTP/1.1 200 OK\r\n\r\n{dumped(REPLY)}\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{STREAM}",
        "http",
        [(1, "response"), (3, "stream")],
    ),
    "gateway log of one side": (
        f"=== REQUEST (account: x) ===\nPOST {URL}\nAccept: y\n\n=== REQUEST BODY (9 bytes) ===\n"
        f"{text.dumps(REQUEST, indent=2).decode()}\n\n=== RESPONSE 200 ===\nx: y\n\n=== RESPONSE BODY ===\n{STREAM}",
        "gateway log",
        [(0, "request"), (1, "stream")],
    ),
    "gateway log": (LOG, "gateway log", [(0, "request"), (1, "response"), (2, "request"), (3, "stream")]),
}


def reported(proxai: Proxai, *words: str) -> list[dict[str, Any]]:
    proxai(*words, "--report", "r.json", "-q")
    items: list[dict[str, Any]] = text.loads(Path("r.json").read_bytes())["items"]
    return items


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
@pytest.mark.parametrize("what", CALLS)
def test_calls(proxai: Proxai, what: str, packed: bool) -> None:
    data, container, expected = CALLS[what]
    Path("calls").write_bytes(zstandard.compress(data.encode()) if packed else data.encode())
    found = reported(proxai, "inspect", "calls")
    assert [(item["input"]["record"], item["source"]["kind"]) for item in found] == expected
    assert {item["input"]["container"] for item in found} == {container}
    done = proxai("convert", "calls", "--to", "responses", "-o", "out/", "-q")
    assert done.code == 0, done.err
    names = [
        "calls" if record is None else f"calls.{record}.{'sse' if kind == 'stream' else 'json'}"
        for record, kind in expected
    ]
    assert sorted(path.name for path in Path("out").iterdir()) == names
    for name, (_, kind) in zip(names, expected, strict=True):
        written = Path("out", name).read_bytes()
        assert b"response.completed" in written if kind == "stream" else text.loads(written)


def test_an_answer_has_its_request(proxai: Proxai) -> None:
    """A reply that repeats what was asked, as the target's do, says it from the request of its entry."""
    asked = {**REQUEST, "temperature": 0.25, "parallel_tool_calls": False}
    Path("a.har").write_text(har(entry(asked, {"text": dumped(REPLY)})))
    said = proxai("convert", "a.har", "--to", "responses", "--pick", "1", "-q").value
    assert (said["temperature"], said["parallel_tool_calls"], len(said["tools"])) == (0.25, False, 1)


@pytest.mark.parametrize("names", [("x.request.json", "x.response.json"), ("d/request.json", "d/response.sse")])
def test_a_pair_of_files(proxai: Proxai, names: tuple[str, str]) -> None:
    Path("d").mkdir()
    Path(names[0]).write_text(dumped({**REQUEST, "temperature": 0.25}))
    Path(names[1]).write_text(STREAM if names[1].endswith("sse") else dumped(REPLY))
    assert proxai("convert", *names, "--to", "responses", "-o", "out/", "-q").code == 0
    written = Path("out", Path(names[1]).name)
    assert b'"temperature":0.25' in written.read_bytes().replace(b": ", b":")
    proxai("convert", names[1], "--to", "responses", "-o", "alone/out", "-q")
    assert b"0.25" not in Path("alone/out").read_bytes(), "only files that are named are read"


def test_times_of_events_are_kept(proxai: Proxai) -> None:
    Path("a.har").write_text(CALLS["har with the times of events"][0])
    done = proxai("stream", "a.har", "--pick", "1", "--to", "messages", "--keep-comments", "-q")
    assert b": t=+0.250\n" in done.out


def test_the_address_settles_what_a_body_leaves_open(proxai: Proxai) -> None:
    Path("a.har").write_text(har({**entry(TIE, {}, "https://api.anthropic.com/v1/messages"), "response": {}}))
    found, _ = reported(proxai, "inspect", "a.har")
    assert (found["source"]["protocol"], found["source"]["sure"]) == ("messages", "likely")
    Path("b.har").write_text(har(entry(TIE, {}, "https://gateway.example/x")))
    assert "error[ambiguous] b.har:1 (at /log/entries/0/request/postData/text)" in proxai("inspect", "b.har").err


def test_what_is_foreign_is_counted(proxai: Proxai) -> None:
    Path("a.har").write_text(har(IMAGE, PAGE, entry(REQUEST, {"text": dumped(REPLY)}), IMAGE, OTHER))
    done = proxai("inspect", "a.har")
    assert done.code == 0
    *_, skipped, following = done.out.decode().splitlines()
    assert skipped == "4 other entries skipped (2 images, 1 html, 1 other API)"
    assert following == "next: proxai convert a.har --pick 4 --to messages"
    done = proxai("convert", "a.har", "--to", "messages")
    assert done.code == 0 and len(done.out.splitlines()) == 2 and "a.har: 4 other entries skipped" in done.err
    Path("b.har").write_text(har(IMAGE, PAGE))
    done = proxai("convert", "b.har", "--to", "messages")
    assert done.code == 3 and "error[unrecognised]" in done.err and "1 image, 1 html" in done.err


def test_what_is_empty_is_counted(proxai: Proxai) -> None:
    """A redirect answers no call, and of an interaction there may be nothing at all."""
    moved = entry(REQUEST, {})
    moved["response"]["status"] = 307
    Path("a.har").write_text(har(moved, {"request": None, "response": None}, entry(REQUEST, {"text": dumped(REPLY)})))
    done = proxai("inspect", "a.har")
    assert done.code == 0 and "1 other entry skipped (1 empty)" in done.out.decode()
    asked = {"body": dumped(REQUEST), "uri": URL, "method": "POST"}
    Path("b.json").write_text(dumped({"interactions": [{"request": asked}, {"request": None}, None]}))
    done = proxai("inspect", "b.json")
    assert done.code == 0 and "2 other entries skipped (2 empty)" in done.out.decode()


def test_the_text_of_a_stream_counts_where_its_events_were_not_all_kept(proxai: Proxai) -> None:
    events = [{"data": dumped(EVENTS[0])}, {"time": 1}]
    Path("a.har").write_text(har(entry(REQUEST, {"text": STREAM}, _eventSourceMessages=events)))
    assert [item["source"].get("events") for item in reported(proxai, "inspect", "a.har")] == [None, 4]


def test_the_listing(proxai: Proxai) -> None:
    cut = STREAM[: STREAM.index("data: [DONE]") - 60]
    Path("traffic.har").write_text(
        har(entry(REQUEST, {"text": STREAM}), IMAGE, entry(REQUEST, {"text": cut}, URL + "?key=secret"))
    )
    done = proxai("inspect", "traffic.har")
    head, *rows, skipped, following = done.out.decode().splitlines()
    assert head.split() == ["#", "container", "protocol", "kind", "sure", "model", "size", "state", "url"]
    assert [row.split()[:4] for row in rows] == [
        ["0", "har", "chat", "request"], ["1", "har", "chat", "stream"],
        ["4", "har", "chat", "request"], ["5", "har", "chat", "stream"],
    ]  # fmt: skip
    assert "complete, 4 events" in rows[1] and "cut after event" in rows[3] and "secret" not in done.out.decode()
    assert skipped == "1 other entry skipped (1 image)"
    assert following == "next: proxai convert traffic.har --pick 1 --to messages" and done.code == 3


PICKS = {"1": [1], "0-1": [0, 1], "4-99": [4, 5], "*/v1/chat/*": [0, 1, 4, 5], "https://x.example*": [], "7": []}


@pytest.mark.parametrize("which", PICKS)
def test_pick(proxai: Proxai, which: str) -> None:
    Path("a.har").write_text(HAR)
    done = proxai("inspect", "a.har", "--pick", which, "--format", "json")
    found = [item["input"]["record"] for item in done.value["items"] if item["source"]]
    assert found == PICKS[which] and done.code == (0 if found else 3)


def test_records_are_picked_by_their_url(proxai: Proxai) -> None:
    asked = {"method": "POST", "headers": {}, "body": REQUEST}
    lines = [{"request": {"url": url, **asked}} for url in (URL, "https://x.example/v1/chat/completions")]
    Path("in.jsonl").write_text("".join(dumped(line) + "\n" for line in lines))
    assert [item["input"]["record"] for item in reported(proxai, "inspect", "in.jsonl", "--pick", "*x.example*")] == [2]


# Records

PAIR = {"id": 7, "request": {"body": REQUEST}, "response": {"body_raw": dumped(REPLY), "took": 3}, "note": "n"}
EXPORT = {"trace": 1, "request_body": dumped(REQUEST), "response_body": STREAM}
LISTED = {"request": {"body": REQUEST}, "response": {"events": [*EVENTS, "[DONE]"]}}
TEXTS = {"request": REQUEST, "response": {"chunks": [f"data: {dumped(event)}" for event in EVENTS]}}
OBSERVED = {"name": "generation", "input": REQUEST, "output": REPLY}
PAYLOAD = {"call_type": "completion", "model": "gpt-5", "messages": REQUEST["messages"], "response": REPLY}
SPAN = {"severity": 9, "attributes": {"body": dumped(REQUEST), "n": 1}}
TELEMETRY = {
    "resourceLogs": [
        {
            "scopeLogs": [
                {"logRecords": [{"attributes": [{"key": "body", "value": {"stringValue": dumped(REQUEST)}}]}]},
            ]
        }
    ]
}
BATCH = {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": REQUEST}
RESULT = {
    "id": "b",
    "custom_id": "a",
    "response": {"status_code": 200, "request_id": "r", "body": REPLY},
    "error": None,
}
EXPIRED = {"id": "b", "custom_id": "a", "response": None, "error": {"code": "batch_expired", "message": "late"}}

RECORDS: dict[str, tuple[Any, list[str]]] = {
    "bare": (REQUEST, ["request"]),
    "a pair": (PAIR, ["request", "response"]),
    "an export": (EXPORT, ["request", "stream"]),
    "a list of events": (LISTED, ["request", "stream"]),
    "a list of texts of events": (TEXTS, ["request", "stream"]),
    "an exchange of a server": ({"req": {"body": REQUEST}, "res": {"body": dumped(REPLY)}}, ["request", "response"]),
    "what was observed": (OBSERVED, ["request", "response"]),
    "a payload of a gateway": (PAYLOAD, ["request", "response"]),
    "a telemetry record": (SPAN, ["request"]),
    "a telemetry export": (TELEMETRY, ["request"]),
    "a line of a batch": (BATCH, ["request"]),
    "a line of results": (RESULT, ["response"]),
    "a line of results that have no answer": (EXPIRED, ["response"]),
}
FORMS: dict[str, Callable[[list[str]], str]] = {
    "lines": lambda found: "".join(one + "\n" for one in found),
    "a list": lambda found: "[" + ",\n".join(found) + "]",
    "printed": lambda found: "\n".join(text.dumps(text.loads(one), indent=2).decode() for one in found),
    "side by side": "".join,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("what", RECORDS)
def test_records(proxai: Proxai, what: str, form: str) -> None:
    record, kinds = RECORDS[what]
    if "custom_id" in record and form == "a list":
        pytest.skip("the lines of a batch in one list are one document")
    Path("in").write_text(
        FORMS[form]([dumped(record), dumped({**record, "custom_id": "b"} if "custom_id" in record else record)])
    )
    found = reported(proxai, "inspect", "in")
    assert [item["source"]["kind"] for item in found] == kinds * 2
    assert [item["input"]["record"] for item in found] == [1] * len(kinds) + [2] * len(kinds)
    assert {item["source"]["protocol"] for item in found} == {"chat"}
    done = proxai("convert", "in", "--to", "messages", "-q")
    assert done.code == 0 and len(done.out.splitlines()) == 2, done.err


def kept(proxai: Proxai, record: Any, *more: str) -> Any:
    done = proxai("convert", "--to", "messages", "-q", *more, stdin=dumped(record).encode())
    assert done.code == 0, done.err
    return done.value


def test_an_envelope_keeps_its_other_keys(proxai: Proxai) -> None:
    bare, reply = kept(proxai, REQUEST), kept(proxai, REPLY)
    assert bare["max_tokens"] and reply["type"] == "message"
    said = kept(proxai, PAIR)
    assert text.loads(said["response"].pop("body_raw"))["content"] == reply["content"]
    assert said == {"id": 7, "request": {"body": bare}, "response": {"took": 3}, "note": "n"}
    said = kept(proxai, EXPORT)
    assert said["response_body"].startswith("event: message_start\n") and text.loads(said["request_body"]) == bare
    said = kept(proxai, LISTED)
    assert said["response"]["events"][0]["type"] == "message_start" and said["request"] == {"body": bare}
    said = kept(proxai, TEXTS)
    assert said["response"]["chunks"][-1] == 'event: message_stop\ndata: {"type":"message_stop"}\n\n'
    assert kept(proxai, SPAN) == {"severity": 9, "attributes": {"body": dumped(bare), "n": 1}}
    assert kept(proxai, BATCH) == {"custom_id": "a", "params": bare}
    assert kept(proxai, RESULT)["result"]["message"]["content"] == reply["content"]


def test_a_record_of_which_one_body_cannot_be_translated_is_left_out(proxai: Proxai) -> None:
    empty = {**PAIR, "id": 8, "response": {"body": {**REPLY, "choices": []}}}
    Path("in.jsonl").write_text("\n".join(map(dumped, (PAIR, empty, PAIR))))
    done = proxai("convert", "in.jsonl", "--to", "messages", "--on-error", "skip")
    assert done.code == 3 and "error[empty] in.jsonl:2 (at /response/body" in done.err
    assert [text.loads(line)["id"] for line in done.out.splitlines()] == [7, 7]


def test_sides_of_a_gateway_are_told_apart(proxai: Proxai) -> None:
    Path("a.log").write_text(LOG)
    assert [item["input"]["label"] for item in reported(proxai, "inspect", "a.log")] == ["client"] * 2 + [
        "upstream"
    ] * 2
    assert b"upstream stream" in proxai("inspect", "a.log").out


def test_bare_bodies(proxai: Proxai) -> None:
    bare = kept(proxai, REQUEST)
    for record in (BATCH, SPAN, {"url": "/v1/chat/completions", "method": "POST", "body": REQUEST}):
        assert kept(proxai, record, "--envelope", "bare") == bare
    done = proxai("convert", "--to", "messages", "--envelope", "bare", "-q", stdin=dumped(PAIR).encode())
    first, second = map(text.loads, done.out.splitlines())
    assert first == bare and second["type"] == "message"
    assert kept(proxai, RESULT, "--envelope", "bare")["type"] == "message"


AT = {
    "a value": ({"x": {"y~/z": REQUEST}}, ["/x/y~0~1z"], ["request"]),
    "JSON as text": ({"x": [0, dumped(REPLY)]}, ["/x/1"], ["response"]),
    "a stream as text": ({"x": STREAM}, ["/x"], ["stream"]),
    "several": ({"a": REPLY, "b": dumped(REQUEST)}, ["/b", "/a"], ["request", "response"]),
    "one of several": ({"a": REPLY}, ["/b", "/a"], ["response"]),
}


@pytest.mark.parametrize("what", AT)
def test_at(proxai: Proxai, what: str) -> None:
    record, pointers, kinds = AT[what]
    said = [word for pointer in pointers for word in ("--at", pointer)]
    Path("in.jsonl").write_text(f"{dumped(record)}\n{dumped(record)}\n")
    found = reported(proxai, "inspect", "in.jsonl", *said)
    assert [item["source"]["kind"] for item in found] == kinds * 2
    assert proxai("inspect", "in.jsonl").code == 3, "nobody knows such records"
    for options in (["--at", "/no"], ["--at", "/a/b"]):
        done = proxai("convert", "in.jsonl", "--to", "messages", *options)
        assert done.code == 3 and "error[unrecognised] in.jsonl:1" in done.err
    assert proxai("convert", "in.jsonl", "--to", "messages", "--at", "x").code == 2


def test_notes_of_a_coding_agent(proxai: Proxai) -> None:
    reply = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "content": [{"type": "text", "text": "a"}],
        "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    lines = [
        {"type": "summary", "summary": "s", "leafUuid": "l"},
        {"type": "user", "message": {"role": "user", "content": "Hi"}, "uuid": "u", "sessionId": "s"},
        {"type": "assistant", "message": reply, "uuid": "v", "sessionId": "s"},
    ]
    Path("session.jsonl").write_text("".join(dumped(line) + "\n" for line in lines))
    (found,) = reported(proxai, "inspect", "session.jsonl")
    assert found["input"]["record"] == 3 and [one["code"] for one in found["findings"]] == ["not-wire-traffic"]
    assert "2 other entries skipped (2 lines of a transcript)" in proxai("inspect", "session.jsonl").out.decode()


def test_ids_of_a_batch_are_told_apart_across_lines(proxai: Proxai) -> None:
    lines = [dumped({**BATCH, "custom_id": name}) for name in ("a", "b", "a", "c")]
    Path("batch.jsonl").write_text("\n".join(lines))
    done = proxai("convert", "batch.jsonl", "--to", "messages")
    assert done.code == 3 and "error[dup-custom-id] batch.jsonl:3 (at /custom_id)" in done.err
    assert [text.loads(line)["custom_id"] for line in done.out.splitlines()] == ["a", "b"]
    done = proxai("convert", "batch.jsonl", "--to", "messages", "--on-error", "skip")
    assert [text.loads(line)["custom_id"] for line in done.out.splitlines()] == ["a", "b", "c"]
    Path("results.jsonl").write_text((dumped(RESULT) + "\n") * 2)
    assert proxai("convert", "results.jsonl", "--to", "messages", "-q").code == 0


def test_several_streams_are_refused_before_anything_is_written(proxai: Proxai) -> None:
    for name in ("d/a.json", "d/b.sse", "d/c.sse"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(STREAM if name.endswith("sse") else dumped(REQUEST))
    Path("a.har").write_text(HAR)
    for words in (["d"], ["a.har"], ["d/a.json", "a.har"]):
        done = proxai("convert", *words, "--to", "messages")
        assert done.code == 2 and done.out == b"" and "several streams" in done.err
    assert proxai("convert", "d", "--to", "messages", "-o", "out/").code == 0
    assert proxai("convert", "a.har", "--to", "messages", "--pick", "5").code == 0


# Damage

ONE_CALL = har(entry(REQUEST, {"text": dumped(REPLY)}))
DAMAGED: dict[str, tuple[bytes, str, int]] = {
    "cut gzip": (gzip.compress((dumped(REQUEST) + "\n").encode() * 500)[:-20], "error[unreadable]", 1),
    "cut zstd": (zstandard.compress((dumped(REQUEST) + "\n").encode() * 900)[:-9], "error[unreadable]", 1),
    "a cut HAR": (HAR[: HAR.index("iVBORw0")].encode(), "error[bad-json] in:1 (byte ", 2),
    "two HARs in one file": ((ONE_CALL + ONE_CALL).encode(), "error[bad-json] in:1 (byte ", 2),
    "a HAR that goes on": (ONE_CALL.encode()[:-1] + b', "a": 1', "error[bad-json] in:1 (byte ", 2),
    "a list that goes on": (f"[{dumped(REQUEST)},{dumped(REQUEST)}]\nx".encode(), "error[bad-json] in:2", 2),
    "an answer that was not kept": (
        har(entry(REQUEST, {"mimeType": "text/event-stream"})).encode(),
        "error[empty] in:1 (at /log/entries/0/response/content/text)",
        1,
    ),
    "an event that was not kept": (
        har(entry(REQUEST, {}, _eventSourceMessages=[{"data": "{}"}, {"time": 1}])).encode(),
        "error[unreadable] in:1 (at /log/entries/0/_eventSourceMessages)",
        1,
    ),
    "a HAR that is none": (b'{"log": {"entries": {}}}', "error[bad-json] in:1", 0),
    "an entry that cannot be read": (
        har(entry(REQUEST, {}), entry(REQUEST, {})).replace('"status":', '"status"', 1).encode(),
        "error[bad-json] in:1 (byte 57, at /log/entries/0)",
        0,
    ),
    "bad base64": (
        har(entry(REQUEST, {"encoding": "base64", "text": "@@@"})).encode(),
        "error[unreadable] in:1 (at /log/entries/0/response/content/text)",
        1,
    ),
    "a body that is no JSON": (
        har(entry(REQUEST, {"mimeType": "application/json", "text": '{"a":'})).encode(),
        "error[bad-json] in:1 (at /log/entries/0/response/content/text)",
        1,
    ),
    "a page instead of an answer": (
        har(entry(REQUEST, {"mimeType": "text/html", "text": "<html>Bad gateway"})).encode(),
        "error[bad-json] in:1 (at /log/entries/0/response/content/text): neither JSON nor an event stream, but a page",
        1,
    ),
    "brotli": (
        b"POST /v1/chat/completions HTTP/1.1\r\n\r\n"
        + dumped(REQUEST).encode()
        + b"\r\nHTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n\x8b\x01\x80ab",
        "error[unreadable] in:7: this body is packed with brotli",
        1,
    ),
    "a cut list": (f"[{dumped(REQUEST)},{dumped(REQUEST)},".encode() + b'{"a":', "error[bad-json] in:1", 2),
    "broken YAML": (YAML_CASSETTE.encode() + b"\n\t- [", "error[unreadable] in:", 0),
    "an empty cassette": (b'{"interactions": []}', "error[empty] in", 0),
    "a body that holds itself": (
        b"interactions:\n- request:\n    uri: u\n    parsed_body: &a\n      b: *a\n",
        "error[bad-json] in:1 (at /interactions/0/request/parsed_body)",
        0,
    ),
    "a packed body that is cut": (
        yaml.safe_dump(
            {"interactions": [{"request": {}, "response": {"body": {"string": gzip.compress(b"{}" * 99)[:-9]}}}]}
        ).encode(),
        "error[unreadable] in:1 (at /interactions/0/response/body)",
        0,
    ),
    "brackets without end": (b'[{"a":' * 2_000_000, "error[bad-json] in:1", 0),
    "brackets without end in a second element": (
        f"[{dumped(REQUEST)},".encode() + b"[" * 2_000_000,
        "error[bad-json] in:1",
        1,
    ),
    "packed over and over": (gzip.compress(gzip.compress(gzip.compress(gzip.compress(b"{}")))), "error[unreadable]", 0),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_damage_is_told_with_its_place(proxai: Proxai, what: str) -> None:
    data, said, done_before = DAMAGED[what]
    Path("in").write_bytes(data)
    done = proxai("convert", "in", "--to", "messages", "-q")
    assert done.code == 3 and said in done.err and "Traceback" not in done.err and "try:" in done.err
    assert len(done.out.splitlines()) >= done_before
    assert proxai("inspect", "in").code == 3
    done = proxai("validate", "in", "-q")
    assert done.code == 3 and said in done.err


@pytest.mark.parametrize("command", ["inspect", "validate"])
def test_a_cut_stream_is_told_with_its_place(proxai: Proxai, command: str) -> None:
    Path("in").write_text(har(entry(REQUEST, {"text": STREAM[: STREAM.index("data: [DONE]") - 40]})))
    done = proxai(command, "in")
    assert "error[truncated] in:1 (event 3, at /log/entries/0/response/content/text)" in done.err


@pytest.mark.parametrize("what", CALLS)
def test_what_is_cut_or_hit_anywhere_is_told(what: str) -> None:
    data = CALLS[what][0].encode()
    for at in range(0, len(data), max(1, len(data) // 60)):
        for hit in (data[:at], data[:at] + b"\x00" + data[at + 1 :], data[:at] + b'"' + data[at:], data[at:]):
            try:
                for capture in captures(hit):
                    assert capture.container and capture.place.line
            except ProxaiError as fault:
                assert fault.code in ("empty", "unreadable", "bad-json") and fault.hint


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "{", STREAM, "data: {}", dumped(REQUEST), "assistant"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from([*sorted(OF_RECORDS | OF_SESSIONS), "type", "data", "message", "messages", "input", "output", "key",
                         "value", "stringValue", "scopeLogs", "logRecords", "url", "headers", "status", "payload", "content"]),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(VALUES, st.lists(st.sampled_from(["", "/request", "/body/0", "/messages/0/content", "/~2"]), max_size=2))
def test_any_value_may_be_a_record(value: Any, at: list[str]) -> None:
    """What is found in one is put back as it was."""
    may_be_record(value)
    before = dumped(value)
    try:
        found = slots(value, at)
    except NotReadable as fault:
        assert at and fault.code == "unrecognised"
        return
    for slot in found:
        if slot.form in ("value", "text"):
            value = put(value, slot, text.loads(slot.body))
    if all(slot.form == "value" and slot.path[:1] != ("messages",) for slot in found):
        assert dumped(value) == before


SIZES = {"1000": 3, "1 kB": 3, "1KiB": 3, "500MB": 0, "2GiB": 0, "x": 2, "-1": 2, "1 parsec": 2}


@pytest.mark.parametrize("size", SIZES)
def test_an_input_has_a_size(proxai: Proxai, size: str) -> None:
    Path("in.gz").write_bytes(gzip.compress((dumped(REQUEST) + "\n").encode() * 10))
    done = proxai("convert", "in.gz", "--to", "messages", "--max-size", size, "-q")
    assert done.code == SIZES[size]
    if done.code == 3:
        assert 0 < len(done.out.splitlines()) < 10 and "--max-size" in done.err, "what came before is done"


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
@pytest.mark.parametrize("what", ["line", "body"])
def test_a_bomb_does_not_go_off(proxai: Proxai, pack: Callable[[bytes], bytes], what: str) -> None:
    """Neither in a file nor in a body of a container. What is held are a few copies of what is allowed."""
    bomb = pack(b'{"a":"' + b"x" * 100_000_000)
    inner = yaml.safe_dump({"interactions": [{"response": {"body": {"string": bomb}}}]}).encode()
    Path("in").write_bytes(pack(bomb) if what == "line" else inner)
    tracemalloc.start()
    done = proxai("inspect", "in", "--max-size", "5MB", "-q")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert done.code == 3 and "more than 5000000 bytes" in done.err and peak < 60_000_000


# Memory


def written_big(name: str, size: int) -> None:
    """About so many bytes of records of some 30 kB each."""
    record = dumped({**REQUEST, "messages": [{"role": "user", "content": "word " * 6000}]})
    called = dumped(entry({**REQUEST, "user": "word " * 3000}, {"text": dumped({**REPLY, "x": "word " * 3000})}))
    count = size // 30_000
    if name == "lines":
        data = f"{record}\n" * count
    elif name == "har":
        data = '{"log":{"entries":[' + ",".join([called] * count) + "]}}"
    elif name == "printed":
        data = text.dumps(text.loads(record), indent=2).decode() * count
    else:
        data = "[" + ",".join([record] * count) + "]"
    Path("big").write_bytes(zstandard.compress(data.encode()) if name == "zstd" else data.encode())


@pytest.mark.parametrize("name", ["lines", "list", "har", "printed", "zstd"])
def test_memory_is_that_of_a_record(proxai: Proxai, name: str) -> None:
    written_big(name, 30_000_000 if name in ("lines", "list") else 12_000_000)
    tracemalloc.start()
    count = sum(1 for _ in parts(Input("big", "big")))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count >= 400 and peak < 5_000_000


def test_a_string_that_is_longer_than_a_piece_is_looked_at_once(proxai: Proxai) -> None:
    Path("in").write_text(f'[{{"a": "{"x" * 20_000_000}"}}, {{"b": 1}}]')
    assert [len(part.body) > 100 for part in records(Input("in", "in"), Reading(at=("/a",)))] == [True, False]


# Recorded traffic


def recorded() -> Iterator[Path]:
    if SHARED is not None:
        yield from sorted((SHARED / "corpus" / "other").glob("*/*"))


@pytest.mark.skipif(SHARED is None, reason="no corpus beside the project")
def test_recorded_archives(proxai: Proxai) -> None:
    known = {}
    for path in recorded():
        done = proxai("inspect", str(path), "--format", "json")
        assert done.code in (0, 3) and "internal" not in done.err
        known[path.name] = [item["source"]["kind"] for item in done.value["items"] if item["source"]]
    archives = {name: kinds for name, kinds in known.items() if name.endswith(".har")}
    assert len(archives) == 8 and all(len(kinds) == 2 and kinds[0] == "request" for kinds in archives.values())


def test_records_are_plain_values() -> None:
    """So that other processes may take them."""
    for capture in captures(HAR.encode()):
        assert pickle.loads(pickle.dumps(capture)) == capture
