"""Which protocol and kind a document is, and what a file is made of."""

import gzip
import tracemalloc
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from proxai_cli import text
from proxai_cli.errors import NotReadable, ProxaiError
from proxai_cli.markers import HABIT, Marker, values_at
from proxai_cli.protocols import PROTOCOLS
from proxai_cli.wire.capture import captures
from proxai_cli.wire.detect import Detection, detect_value
from proxai_cli.wire.first import LOOK_AT_BYTES, SLICE, detect
from proxai_cli.wire.http import LONGEST_HEAD
from proxai_cli.wire.sse import Reader

from .captures import FIXTURES
from .shared import SHARED

USER = {"role": "user", "content": "Hi"}
PLAIN = {"model": "m", "max_tokens": 5, "messages": [USER]}
FUNCTION = {"name": "f", "parameters": {}}


def judged(value: Any, name: str = "") -> tuple[str | None, str | None, str | None]:
    return detect_value(value, name)[:3]


BODIES: dict[str, tuple[Any, tuple[str | None, str | None, str | None]]] = {
    "tools with function": (
        PLAIN | {"tools": [{"type": "function", "function": FUNCTION}]},
        ("chat", "request", "certain"),
    ),
    "tools with input_schema": (
        PLAIN | {"tools": [{"name": "f", "input_schema": {}}]},
        ("messages", "request", "certain"),
    ),
    "flat tools": (
        {"model": "m", "input": "Hi", "tools": [{"type": "function", **FUNCTION}]},
        ("responses", "request", "certain"),
    ),
    "input without messages": ({"model": "m", "input": [USER]}, ("responses", "request", "certain")),
    "input of text alone": ({"model": "m", "input": "Hi"}, ("responses", "request", "likely")),
    "a stored prompt": ({"prompt": {"id": "pmpt_1"}}, ("responses", "request", "certain")),
    "system at the top": (PLAIN | {"system": "Be kind."}, ("messages", "request", "certain")),
    "thinking": (PLAIN | {"thinking": {"type": "adaptive"}}, ("messages", "request", "certain")),
    "thinking of a chat server": (PLAIN | {"thinking": {}, "seed": 1, "stop": "x"}, ("chat", "request", "likely")),
    "a system message in front": (
        PLAIN | {"messages": [{"role": "system", "content": "x"}, USER]},
        ("chat", "request", "certain"),
    ),
    "a system message inside": (
        PLAIN | {"system": "x", "messages": [USER, {"role": "system", "content": "x"}]},
        ("messages", "request", "certain"),
    ),
    "a block": (
        PLAIN | {"messages": [{"role": "user", "content": [{"type": "document", "source": {}}]}]},
        ("messages", "request", "certain"),
    ),
    "a part": (
        PLAIN | {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
        ("chat", "request", "certain"),
    ),
    "no token limit": ({"model": "m", "messages": [USER]}, ("chat", "request", "likely")),
    "no message": ({"model": "m", "messages": []}, ("chat", "request", "likely")),
    "a tie": (PLAIN, (None, "request", "ambiguous")),
    "a tie and a model": (PLAIN | {"model": "claude-x"}, ("messages", "request", "likely")),
    "a tie and another model": (PLAIN | {"model": "gpt-x"}, ("chat", "request", "likely")),
    "a reply with choices": ({"choices": [{"message": {}}]}, ("chat", "response", "certain")),
    "a reply without choices": ({"object": "chat.completion", "choices": []}, ("chat", "response", "certain")),
    "a reply with output": ({"object": "response", "output": []}, ("responses", "response", "certain")),
    "a reply with output alone": (
        {"output": [], "status": "completed", "model": "m"},
        ("responses", "response", "likely"),
    ),
    "a failed reply": (
        {"object": "response", "output": [], "error": {"message": "x"}},
        ("responses", "response", "certain"),
    ),
    "a message": (
        {"type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn"},
        ("messages", "response", "certain"),
    ),
    "an error with type": (
        {"type": "error", "error": {"type": "api_error", "message": "x"}},
        ("messages", "error", "certain"),
    ),
    "an error": (
        {"error": {"message": "x", "type": "server_error", "param": None, "code": None}},
        ("chat", "error", "likely"),
    ),
    "an error about input": (
        {"error": {"message": "x", "param": "input[0].content"}},
        ("responses", "error", "likely"),
    ),
    "an error about messages": ({"error": {"message": "x", "param": "messages[0].role"}}, ("chat", "error", "likely")),
    "an error as object": ({"object": "error", "message": "x", "code": 400}, ("chat", "error", "certain")),
}
NO_PROTOCOL: dict[str, Any] = {
    "null": None,
    "true": True,
    "number": 1,
    "text": "Hi",
    "list": [PLAIN],
    "empty object": {},
    "status": {"status": "ok"},
    "old completion request": {"model": "m", "prompt": "Hi", "max_tokens": 5},
    "old completion": {"object": "text_completion", "choices": [{"text": "Hi", "index": 0}]},
    "embeddings request": {"model": "text-embedding-3-small", "input": "Hi"},
    "embeddings request of many": {"model": "m", "input": ["Hi", "there"]},
    "embeddings": {"object": "list", "data": [], "model": "m"},
    "moderation request": {"model": "omni-moderation-latest", "input": "Hi"},
    "input alone": {"input": "Hi"},
    "compaction": {"object": "response.compaction", "output": [{"type": "message"}]},
    "one output item": {"type": "message", "role": "assistant", "content": []},
    "message as text": {"message": "Forbidden"},
    "Gemini error": {"error": {"code": 404, "message": "x", "status": "NOT_FOUND"}},
    "Bedrock request": {"messages": [{"role": "user", "content": [{"text": "Hi"}]}], "inferenceConfig": {}},
    "Ollama request": {"model": "m", "messages": [USER], "options": {}},
}


@pytest.mark.parametrize("what", BODIES)
def test_bodies(what: str) -> None:
    value, expected = BODIES[what]
    assert judged(value) == expected


@pytest.mark.parametrize("what", NO_PROTOCOL)
def test_what_belongs_to_no_protocol(what: str) -> None:
    assert judged(NO_PROTOCOL[what]) == (None, None, None)


def test_a_tie_names_its_candidates_and_what_both_allow() -> None:
    found = detect_value(PLAIN)
    assert found.candidates == ("chat", "messages")
    assert found.evidence == ("messages", "model", "max_tokens")


def test_a_contradiction_names_both_sides() -> None:
    found = detect_value(PLAIN | {"seed": 1, "thinking": {}})
    assert found.sure == "ambiguous"
    assert found.evidence == ("chat: has seed or random_seed", "messages: has thinking")


def test_others_are_no_candidates() -> None:
    assert detect_value(PLAIN | {"format": "json", "seed": 1, "n": 1}).candidates == ("chat", "messages")


def test_an_error_body_of_two_protocols_says_so() -> None:
    found = detect_value({"error": {"message": "x"}})
    assert found.candidates == ("chat", "responses")
    assert "responses has the same body" in found.evidence


@pytest.mark.parametrize(
    ("name", "protocol"),
    [
        ("x/messages-hi.json", "messages"),
        ("C:\\x\\hi.chat.json", "chat"),
        ("messages/hi.json", None),
        ("chat\\hi.json", None),
        ("chats.json", None),
    ],
)
def test_the_file_name_settles_a_tie(name: str, protocol: str | None) -> None:
    assert detect_value(PLAIN, name).protocol == protocol
    assert detect_value(PLAIN | {"system": "x"}, "chat.json").protocol == "messages"


@settings(max_examples=50)
@given(
    st.recursive(
        st.none() | st.booleans() | st.text("ab"),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    ["messages", "input", "model", "tools", "content", "role", "type", "error", "choices", "output"]
                ),
                inner,
            )
        ),
    )
)
def test_any_value_is_judged_and_its_text_stays_out_of_the_evidence(value: Any) -> None:
    found = detect_value(
        {"model": "secret-model", "messages": [value], "input": value} if isinstance(value, str) else value
    )
    assert found.sure in ("certain", "likely", "ambiguous", None)
    assert (found.protocol is None) == (found.sure in ("ambiguous", None))
    assert "secret" not in " ".join(found.evidence)


STREAMS: dict[str, tuple[bytes, tuple[str | None, str | None, str | None]]] = {
    "chat": (b'data: {"choices":[{"delta":{}}]}\n\n', ("chat", "stream", "certain")),
    "chat after a chunk that says nothing": (
        b'data: {"id":"","object":"","choices":[]}\n\ndata: {"object":"chat.completion.chunk","choices":[]}\n\n',
        ("chat", "stream", "certain"),
    ),
    "responses": (b'data: {"type":"response.created"}\n\n', ("responses", "stream", "certain")),
    "messages": (b'data: {"type":"message_start"}\n\n', ("messages", "stream", "certain")),
    "messages after a ping": (
        b'event: ping\ndata: {"type":"ping"}\n\ndata: {"type":"message_start"}\n\n',
        ("messages", "stream", "certain"),
    ),
    "types only in the names": (b'event: content_block_stop\ndata: {"index":0}\n\n', ("messages", "stream", "certain")),
    "blank lines lost": (
        b'event: message_start\ndata: {"type":"message_start"}\nevent: ping\ndata: {"type":"ping"}\n',
        ("messages", "stream", "certain"),
    ),
    "only an error of chat": (b'data: {"error":{"message":"x"}}\n\n', ("chat", "stream", "likely")),
    "an error and something unknown": (
        b'data: {"error":{"message":"x"}}\n\ndata: {"a":1}\n\n',
        ("chat", "stream", "likely"),
    ),
    "only an error of messages": (
        b'data: {"type":"error","error":{"message":"x"}}\n\n',
        ("messages", "stream", "likely"),
    ),
    "only an error of responses": (
        b'data: {"type":"error","message":"x","code":"y"}\n\n',
        ("responses", "stream", "likely"),
    ),
    "a bad event first": (b'data: {"type"\n\ndata: {"type":"message_start"}\n\n', ("messages", "stream", "certain")),
    "behind a head": (b'HTTP/1.1 200 OK\r\n\r\ndata: {"type":"message_start"}\n\n', ("messages", "stream", "certain")),
    "old completions": (b'data: {"object":"text_completion","choices":[{"text":"x"}]}\n\n', (None, None, None)),
    "Gemini": (b'data: {"candidates":[]}\n\n', (None, None, None)),
    "Assistants": (b'event: thread.created\ndata: {"type":"thread.created"}\n\n', (None, None, None)),
    "no event": (b": hi\n\n", (None, None, None)),
}


@pytest.mark.parametrize("what", STREAMS)
def test_streams(what: str) -> None:
    data, expected = STREAMS[what]
    assert detect(data)[:3] == expected


def test_a_long_stream_is_known_by_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at, feed = list[int](), Reader.feed
    monkeypatch.setattr(Reader, "feed", lambda self, data: looked_at.append(len(data)) or feed(self, data))
    event, known, comment = b'data: {"type":"nobody knows"}\n\n', b'data: {"type":"message_start"}\n\n', b": x" * 100
    for data, protocol, most in (
        (event * 3 + known + event * 200_000, "messages", SLICE),
        (event * 200_000, None, SLICE),
        ((comment + b"\n") * 20_000 + known, None, LOOK_AT_BYTES),
    ):
        looked_at.clear()
        assert detect(data).protocol == protocol
        assert sum(looked_at) == most < len(data)


def test_markers() -> None:
    document = {"a": [{"b": "x"}, {"b": None}, 1], "c": {"d": False}}
    assert list(values_at(document, "a[].b")) == ["x", None]
    assert list(values_at(document, "a[0].b")) == ["x"]
    assert list(values_at(document, "c.d")) == [False]
    assert list(values_at(document, "a.b")) == list(values_at(document, "c[].d")) == list(values_at([], "a")) == []
    assert Marker("request", "z|a[].b", ("x*",)).holds(document)
    assert not Marker("request", "a[].b", ("y",)).holds(document)
    assert Marker("request", "c", shape=dict).holds(document) and not Marker("request", "c", shape=list).holds(document)
    assert Marker("request", "c.d").holds(document) and not Marker("request", "a[].c").holds(document)
    assert Marker("request", "z", absent=True).holds(document) and not Marker("request", "a", absent=True).holds(
        document
    )
    assert str(Marker("request", "a|b", ("x", "y"))) == "a or b is x or y"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_has_markers_for_every_kind(protocol: str) -> None:
    for kind in ("request", "response", "stream", "error"):
        assert [marker for marker in PROTOCOLS[protocol].markers if marker.kind == kind and marker.weight != HABIT]


def parts(data: bytes) -> list[tuple[str, int | None, bytes, int | None, int | None]]:
    return [(one.container, one.record, one.body, one.place.line, one.place.byte) for one in captures(data)]


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


JSON, SSE = b'{"a":"\xc3\xa9"}', b'data: {"a":1}\n\n'
HEAD = b"HTTP/1.1 200 OK\r\nX: y\r\n\r\n"
CONTAINERS: dict[str, tuple[bytes, list[tuple[str, int | None, bytes, int, int]]]] = {
    "a body": (JSON, [("json", None, JSON, 1, 0)]),
    "a printed body": (b'{\n"a":1}\n', [("json", None, b'{\n"a":1}\n', 1, 0)]),
    "a cut body": (b'{\n"a":', [("json", None, b'{\n"a":', 1, 0)]),
    "a stream": (SSE, [("sse", None, SSE, 1, 0)]),
    "a body behind a head": (HEAD + JSON, [("http", None, JSON, 4, len(HEAD))]),
    "a stream behind a head": (HEAD + SSE, [("http", None, SSE, 4, len(HEAD))]),
    "a chunked body": (
        HEAD + b'3\r\n{"a\r\n7;x\r\n":"\xc3\xa9"}\r\n0\r\n\r\n',
        [("http", None, JSON, 5, len(HEAD) + 3)],
    ),
    "a packed body behind a head": (HEAD + gzip.compress(JSON), [("http", None, JSON, 4, len(HEAD))]),
    "packed": (gzip.compress(SSE), [("sse", None, SSE, 1, 0)]),
    "packed with zstd, in two frames": (zstd(SSE) + zstd(SSE), [("sse", None, SSE + SSE, 1, 0)]),
    "packed twice": (zstd(gzip.compress(SSE)), [("sse", None, SSE, 1, 0)]),
    "a list": (b' [{"a":1},\n {"b":"]"} ]\n', [("array", 1, b'{"a":1}', 1, 2), ("array", 2, b'{"b":"]"}', 2, 12)]),
    "a list of a batch": (b'[{"custom_id":""},{}]', [("json", None, b'[{"custom_id":""},{}]', 1, 0)]),
    "a list of numbers": (b"[1,\n2]", [("json", None, b"[1,\n2]", 1, 0)]),
    "packed in two pieces": (gzip.compress(SSE) + gzip.compress(SSE), [("sse", None, SSE + SSE, 1, 0)]),
    "UTF-16": (JSON.decode().encode("utf-16"), [("json", None, JSON, 1, 0)]),
    "UTF-16, big end first": (b"\xfe\xff" + JSON.decode().encode("utf-16-be"), [("json", None, JSON, 1, 0)]),
    "lines": (
        b'{"a":1}\n\r\n{"b":\r2}\r\n[3]',
        [("jsonl", 1, b'{"a":1}\n', 1, 0), ("jsonl", 2, b'{"b":\r2}\r\n', 3, 10), ("jsonl", 3, b"[3]", 4, 20)],
    ),
    "lines, the first one damaged": (
        b'{"a"\n{"b":2}\n',
        [("jsonl", 1, b'{"a"\n', 1, 0), ("jsonl", 2, b'{"b":2}\n', 2, 5)],
    ),
    "one line": (b'{"a":1}\n\n', [("json", None, b'{"a":1}\n\n', 1, 0)]),
    "one after another": (
        b'{"a":\n1}{"b":2}\n{',
        [("jsonl", 1, b'{"a":\n1}', 1, 0), ("jsonl", 2, b'{"b":2}', 2, 8), ("jsonl", 3, b"{", 3, 16)],
    ),
    "printed one after another behind a head": (
        HEAD + b'{\n"a":1}\n{\n}',
        [("jsonl", 1, b'{\n"a":1}', 4, len(HEAD)), ("jsonl", 2, b"{\n}", 6, len(HEAD) + 9)],
    ),
}
REFUSED: dict[str, tuple[bytes, str, str]] = {
    "nothing": (b"", "empty", "nothing"),
    "blanks": (b" \r\n" * 3000, "empty", "nothing"),
    "a mark": (b"\xef\xbb\xbf\n", "empty", "nothing"),
    "a head alone": (b"HTTP/1.1 204 No Content\r\n\r\n", "empty", "nothing"),
    "binary": (b"\x9e\x07\xfd", "unreadable", "binary"),
    "wide text without a mark": (b'{\0"\0a\0', "unreadable", "binary"),
    "damaged gzip": (gzip.compress(JSON)[:-9], "unreadable", "gzip"),
    "damaged UTF-16": (b"\xff\xfe{", "unreadable", "UTF-16"),
    "zstd": (b"\x28\xb5\x2f\xfd\x00", "unreadable", "zstd"),
    "a packet capture": (b"\n\r\r\n\x00", "unreadable", "packet"),
    "a HAR without calls": (b'\n{ "log": {"version": "1.2"}}', "bad-json", "expected"),
    "a cassette that is broken": (b"interactions:\n- [request:", "unreadable", "YAML"),
    "a transcript without an answer": (b"* Trying ::1\n> POST /", "empty", "no answer"),
    "a page": (b"\n<!DOCTYPE html>", "bad-json", "HTML"),
    "text": ("upstream connect error é".encode(), "bad-json", "plain text"),
}


@pytest.mark.parametrize("what", CONTAINERS)
def test_containers(what: str) -> None:
    data, expected = CONTAINERS[what]
    assert parts(data) == expected


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_read_is_told_by_name(what: str) -> None:
    data, code, word = REFUSED[what]
    with pytest.raises(NotReadable, match=word) as caught:
        parts(data)
    assert caught.value.code == code and caught.value.hint


def test_text_that_is_long_and_cut_inside_a_character_is_no_binary() -> None:
    with pytest.raises(NotReadable, match="plain text"):
        parts(b"x" + "é".encode() * 3000)


def test_unpacking_has_a_limit() -> None:
    packed = gzip.compress(b"[" * 50_000_000)
    tracemalloc.start()
    with pytest.raises(NotReadable, match="more than 1000000 bytes"):
        list(captures(packed, max_size=1_000_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000


def test_lines_are_given_one_by_one() -> None:
    pieces = iter([b'{"a":1}\n' * 1000] * 1000)
    assert [one.record for one in islice(captures(pieces), 3)] == [1, 2, 3]
    assert 1000 - len(list(pieces)) <= 1 + LONGEST_HEAD // 8000


@given(
    st.binary()
    | st.sampled_from([*CONTAINERS])
    .map(lambda what: CONTAINERS[what][0])
    .flatmap(lambda data: st.integers(0, len(data)).map(lambda at: data[:at]))
)
def test_any_bytes_are_taken_apart_or_refused(data: bytes) -> None:
    try:
        for one in captures(data):
            text.read(one.body)
    except ProxaiError as fault:
        assert fault.code in ("empty", "unreadable", "bad-json")


# Recorded traffic


UNLIKE_THEIR_LABEL = {
    "chat/error/dspy-rb-002.txt": "plain text of a proxy, no JSON",
    "messages/request/openllmetry-js-003.json": "the old text API: prompt and max_tokens_to_sample",
    "messages/error/langchaingo-002.json": "the error of a cloud gateway: only a message",
}
TRULY_OURS = {
    "batch/anthropic-rb-002-answer.json": ("messages", "error"),
    "completions/openinference-015-answer.json": ("chat", "response"),
    "count_tokens/chatlas-030-request.json": ("responses", "request"),
    "count_tokens/pydantic-ai-024-answer.json": ("messages", "error"),
    "responses_extra/pydantic-ai-067-request.json": ("responses", "request"),
}


def recorded() -> list[tuple[Path, str, str]]:
    if SHARED is None:
        return []
    return [
        (path, protocol, kind)
        for protocol in PROTOCOLS
        for kind in ("request", "response", "stream", "error")
        for path in sorted((SHARED / "corpus" / protocol / kind).iterdir())
    ]


def found(path: Path) -> Detection:
    try:
        return detect(path.read_bytes())
    except NotReadable:
        return Detection(None, None, None)


@pytest.mark.parametrize(
    "path",
    sorted(path for protocol in PROTOCOLS for path in (FIXTURES / protocol).glob("*/*")),
    ids=lambda path: "/".join(path.parts[-3:]),
)
def test_fixtures_are_recognised(path: Path) -> None:
    protocol, kind = path.parts[-3], path.stem
    said = found(path)
    assert said[:2] == (protocol, kind) or (kind == "error" and protocol in said.candidates)


@pytest.mark.skipif(SHARED is None, reason="no corpus beside the project")
def test_recorded_traffic_is_recognised() -> None:
    """A plain request may be a tie of Chat and Messages; OpenAI's error body is told as Chat's, with Responses beside it."""
    wrong, ties = [], 0
    for path, protocol, kind in recorded():
        label = f"{protocol}/{kind}/{path.name}"
        said = found(path)
        if label in UNLIKE_THEIR_LABEL:
            assert said.sure is None, label
        elif said.sure == "ambiguous" and kind == "request" and said.candidates == ("chat", "messages"):
            ties += 1
        elif kind == "error" and protocol == "responses" and said[:3] == ("chat", "error", "likely"):
            assert "responses" in said.candidates, label
        elif said[:2] != (protocol, kind):
            wrong.append((label, said))
    assert not wrong
    assert ties <= 1


@pytest.mark.skipif(SHARED is None, reason="no corpus beside the project")
def test_recorded_traffic_of_others_is_not_taken_for_ours() -> None:
    assert SHARED
    certain = {}
    for path in sorted((SHARED / "corpus" / "other").glob("*/*")):
        said = found(path)
        if said.sure == "certain" and path.parent.name != "har":
            certain[f"{path.parent.name}/{path.name}"] = said[:2]
    assert certain == TRULY_OURS


@pytest.mark.skipif(SHARED is None, reason="no cases beside the project")
def test_reported_cases_are_recognised() -> None:
    assert SHARED
    for folder in sorted((SHARED / "cases").glob("*/case.json")):
        case = text.loads(folder.read_bytes())
        path = next(folder.parent.glob("input.*"))
        said = found(path)
        assert case["from"] == said.protocol or (said.sure == "ambiguous" and case["from"] in said.candidates), folder
