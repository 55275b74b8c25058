"""Captured exchanges as wholes: method, URL, headers, status and bodies."""

import copy
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from proxai_cli import PROTOCOLS, Context, collect, text, translate
from proxai_cli.errors import ProxaiError
from proxai_cli.exchange import known, opened, translate_exchange
from proxai_cli.ir.events import DONE

from .accounts import fault, mutants
from .calls import answered
from .captures import FIXTURES
from .shared import SHARED
from .test_endpoints import at

SHOW = Context(choices={"credentials": "true"})


class Exchange(NamedTuple):
    """One fixture: `exchange/<protocol>/<case>.json`."""

    path: Path
    protocol: str

    @property
    def value(self) -> Any:
        return text.loads(self.path.read_bytes())

    @property
    def label(self) -> str:
        return f"{self.protocol}/{self.path.stem}"


def exchanges() -> list[Exchange]:
    return [Exchange(path, path.parent.name) for path in sorted((FIXTURES / "exchange").glob("*/*.json"))]


def named(label: str) -> Exchange:
    return next(each for each in exchanges() if each.label == label)


over_exchanges = pytest.mark.parametrize("exchange", exchanges(), ids=lambda each: each.label)
over_targets = pytest.mark.parametrize("target", PROTOCOLS)

# Calls that some protocols do not have.
WITHOUT = {
    "chat/embeddings": ["messages"],
    "chat/rerank": ["messages", "responses"],
    "responses/count": ["chat"],
    "responses/compact": ["chat"],
    "messages/count": ["chat"],
}


def whole_fault(value: Any, source: str, target: str, done: Any) -> str | None:
    """What is wrong with the account of an exchange; it speaks of bodies as values."""
    return fault(opened(value, source)[0], opened(done.value, target)[0], done.ledger.entries)


# The laws


@over_exchanges
@over_targets
def test_the_laws(exchange: Exchange, target: str) -> None:
    source, value = exchange.protocol, exchange.value
    before = text.dumps(value)
    if target in WITHOUT.get(exchange.label, []):
        with pytest.raises(ProxaiError) as refused:
            translate_exchange(value, source, target)
        assert refused.value.code == "no-endpoint"
        return
    for context in (None, SHOW):
        done = translate_exchange(value, source, target, context)
        assert whole_fault(value, source, target, done) is None
        assert text.dumps(value) == before, "the source is never altered"
        again = translate_exchange(copy.deepcopy(value), source, target, context)
        assert text.dumps(again.value) == text.dumps(done.value), "steady"
        assert again.ledger.entries == done.ledger.entries, "steady"
    if target == source:
        assert text.dumps(translate_exchange(value, source, target, SHOW).value) == before, "identity"


@over_exchanges
@over_targets
def test_junk_anywhere_is_accounted_for(exchange: Exchange, target: str) -> None:
    source = exchange.protocol
    for mutant in mutants(exchange.value, exchange.label + target, 40):
        try:
            done = translate_exchange(mutant, source, target)
        except ProxaiError:
            continue
        assert whole_fault(mutant, source, target, done) is None, text.dumps(mutant).decode()


@over_exchanges
@over_targets
def test_no_credential_is_shown(exchange: Exchange, target: str) -> None:
    """Neither in the target nor in its account; the secrets of the fixtures are known by these words."""
    words = (
        "notARealKey",
        "notReal",
        "wrongKey",
        "0123456789abcdef",
        "topsecret",
        "pa55w0rd",
        "fe5f80",
        "__cf_bm",
        "_cfuvid",
    )
    try:
        done = translate_exchange(exchange.value, exchange.protocol, target)
    except ProxaiError:
        return
    said = text.dumps(done.value).decode() + repr(done.ledger.entries) + repr(done.findings)
    assert not [word for word in words if word in said]


@over_exchanges
@over_targets
def test_bodies_are_what_they_are_alone(exchange: Exchange, target: str) -> None:
    """The body of an exchange that creates a reply is the body that is translated by itself."""
    value = opened(exchange.value, exchange.protocol)[0]
    if exchange.label not in ("chat/rate-limits", "messages/rate-limits", "responses/plain", "messages/overloaded"):
        return
    done = opened(translate_exchange(value, exchange.protocol, target).value, target)[0]
    asked = translate(value["request"]["body"], exchange.protocol, target, "request")
    assert text.same(done["request"]["body"], asked.value)
    kind = "error" if value["response"]["status"] >= 400 else "response"
    headers = value["response"]["headers"]
    context = Context(
        request=value["request"]["body"],
        request_protocol=exchange.protocol,
        headers={name.lower(): said for name, said in (headers.items() if isinstance(headers, dict) else headers)},
    )
    alone = translate(value["response"]["body"], exchange.protocol, target, kind, context).value
    alone.pop("request_id", None)
    answer = {key: said for key, said in done["response"]["body"].items() if key != "request_id"}
    assert text.same(answer, alone)


@pytest.mark.parametrize("target", ["responses", "messages"])
def test_a_stream_in_text_stays_a_stream_in_text(target: str) -> None:
    exchange = named("chat/streamed-text")
    done = translate_exchange(exchange.value, "chat", target)
    assert isinstance(done.value["request"]["body"], str) and isinstance(done.value["response"]["body"], str)
    assert done.value["response"]["body"].startswith("event: ")
    events = opened(done.value, target)[0]["response"]["body"]
    said = collect(events, target).value
    assert "Four." in json.dumps(said)


def test_a_stream_of_events_stays_a_list() -> None:
    done = translate_exchange(named("messages/vertex-stream-of-events").value, "messages", "chat")
    events = done.value["response"]["body"]
    assert events[-1] == "[DONE]"
    said = collect([DONE if event == "[DONE]" else event for event in events], "chat").value
    assert said["choices"][0]["message"]["content"] == "Four."
    assert done.value["request"]["body"]["model"] == "claude-opus-5@20261001"
    assert done.value["request"]["headers"]["accept"] == "text/event-stream"


# Row by row: fixture, target, what must stand at a path (None: nothing)

ROWS: list[tuple[str, str, dict[str, Any]]] = [
    (
        "chat/rate-limits",
        "messages",
        {
            "request/url": "https://api.anthropic.com/v1/messages",
            "request/headers/x-api-key": "<redacted>",
            "request/headers/anthropic-version": "2023-06-01",
            "request/headers/Content-Type": "application/json",
            "request/headers/Authorization": None,
            "request/headers/OpenAI-Project": None,
            "response/headers/request-id": "req_fx0001",
            "response/headers/anthropic-ratelimit-requests-limit": "500",
            "response/headers/anthropic-ratelimit-requests-reset": "2026-11-30T10:00:00.12Z",
            "response/headers/anthropic-ratelimit-tokens-remaining": "29950",
            "response/headers/anthropic-ratelimit-tokens-reset": "2026-11-30T10:06:00Z",
            "response/headers/openai-version": None,
            "response/headers/x-ratelimit-limit-project-tokens": None,
            "response/headers/cf-ray": None,
        },
    ),
    (
        "chat/rate-limited",
        "messages",
        {
            "response/status": 429,
            "response/body/error/type": "rate_limit_error",
            "response/headers/retry-after": "2",
            "response/headers/retry-after-ms": "1500",
            "response/headers/x-should-retry": "true",
        },
    ),
    ("chat/invalid-key", "messages", {"response/status": 401, "response/body/error/type": "authentication_error"}),
    (
        "chat/bad-gateway",
        "messages",
        {
            "request/url": "http://localhost:4000/v1/messages",
            "response/status": 500,
            "response/body/error/type": "api_error",
            "response/body/error/message": "<html><body>502 Bad Gateway</body></html>",
            "response/headers/content-type": "application/json",
        },
    ),
    (
        "chat/azure-deployment",
        "messages",
        {
            "request/url": "https://api.anthropic.com/v1/messages",
            "request/body/model": "my-gpt",
            "request/headers/x-api-key": "<redacted>",
        },
    ),
    (
        "chat/azure-deployment",
        "responses",
        {
            "request/url": "https://fx.openai.azure.com/openai/responses?api-version=2026-08-01",
            "request/body/model": "my-gpt",
            "request/headers/api-key": "<redacted>",
        },
    ),
    ("responses/azure-v1", "chat", {"request/headers/Content-Length": None, "request/headers/api-key": "<redacted>"}),
    (
        "chat/models",
        "messages",
        {
            "request/url": "https://api.anthropic.com/v1/models",
            "request/method": "GET",
            "response/body/data/1/lifecycle": "deprecated",
            "response/body/last_id": "gpt-5",
        },
    ),
    ("responses/failed-reply", "messages", {"response/status": 429, "response/body/error/type": "rate_limit_error"}),
    ("responses/failed-reply", "chat", {"response/status": 429, "response/body/error/code": "rate_limit_exceeded"}),
    ("responses/model", "messages", {"response/status": 404, "response/body/error/type": "not_found_error"}),
    (
        "responses/count",
        "messages",
        {
            "request/url": "https://api.anthropic.com/v1/messages/count_tokens",
            "request/body/max_tokens": None,
            "response/body/input_tokens": 17,
        },
    ),
    (
        "messages/rate-limits",
        "chat",
        {
            "request/url": "https://api.openai.com/v1/chat/completions",
            "request/headers/authorization": "Bearer <redacted>",
            "request/headers/anthropic-version": None,
            "request/headers/anthropic-beta": None,
            "response/headers/2": ["x-request-id", "req_011Fx"],
            "response/headers/5": ["x-ratelimit-reset-requests", "1s"],
            "response/headers/6": ["x-ratelimit-limit-tokens", "30000"],
            "response/headers/8": ["x-ratelimit-reset-tokens", "6m0s"],
            "response/headers/9": None,
            "response/body/created": 1796032800,
        },
    ),
    (
        "messages/overloaded",
        "chat",
        {
            "response/status": 503,
            "response/body/error/type": "service_unavailable_error",
            "response/body/error/code": "server_is_overloaded",
            "response/body/request_id": None,
            "response/headers/x-request-id": "req_011Fx2",
        },
    ),
    (
        "messages/billing",
        "responses",
        {
            "response/status": 429,
            "response/body/error/code": "insufficient_quota",
            "response/headers/x-request-id": "req_011Fx3",
        },
    ),
    ("messages/oauth", "chat", {"request/headers/Authorization": "Bearer <redacted>"}),
    ("messages/oauth", "messages", {"request/headers/Authorization": "Bearer <redacted>"}),
    (
        "messages/bedrock",
        "chat",
        {
            "request/body/model": "anthropic.claude-opus-5-v1:0",
            "request/body/anthropic_version": None,
            "request/headers/Authorization": "Bearer <redacted>",
            "request/headers/X-Amz-Security-Token": None,
        },
    ),
    ("messages/bedrock", "messages", {"request/headers/Authorization": "AWS4-HMAC-SHA256 <redacted>"}),
    ("messages/models-with-more-pages", "chat", {"request/url": "https://api.openai.com/v1/models"}),
    (
        "messages/batch",
        "responses",
        {
            "request/url": "https://api.openai.com/v1/batches",
            "request/body/1/url": "/v1/responses",
            "response/body/status": "in_progress",
            "response/body/request_counts/total": 2,
        },
    ),
    ("chat/batch-state", "messages", {"request/url": "https://api.anthropic.com/v1/messages/batches/batch_fx"}),
    (
        "chat/archive-pairs",
        "messages",
        {
            "request/headers/0": {"name": "x-api-key", "value": "<redacted>"},
            "startedDateTime": "2026-11-30T10:00:00.000Z",
        },
    ),
    ("chat/answer-alone", "messages", {"status": 200, "body/type": "message"}),
    ("messages/request-alone", "responses", {"url": "/v1/responses", "body/model": "claude-opus-5"}),
]


def found(value: Any, path: str) -> Any:
    try:
        return at(value, path)
    except (KeyError, IndexError):
        return None


@pytest.mark.parametrize("label, target, expected", ROWS, ids=lambda row: row if isinstance(row, str) else "")
def test_rows(label: str, target: str, expected: dict[str, Any]) -> None:
    exchange = named(label)
    done = translate_exchange(exchange.value, exchange.protocol, target)
    value = opened(done.value, target)[0]
    assert {path: found(value, path) for path in expected} == expected


def test_credentials_where_they_are_asked_for() -> None:
    chat = translate_exchange(named("chat/rate-limits").value, "chat", "messages", SHOW).value
    assert chat["request"]["headers"]["x-api-key"] == "sk-proj-notARealKey0001"
    back = translate_exchange(named("messages/rate-limits").value, "messages", "chat", SHOW).value
    assert back["request"]["headers"]["authorization"] == "Bearer sk-ant-notARealKey0001"
    signed = translate_exchange(named("messages/bedrock").value, "messages", "chat", SHOW).value
    assert signed["request"]["headers"]["Authorization"] == "Bearer <redacted>", (
        "signed for one call: of no use elsewhere"
    )


def test_reranking_at_the_other_vendor() -> None:
    exchange = named("chat/rerank")
    done = translate_exchange(exchange.value, "chat", "chat", Context(choices={"rerank": "cohere"})).value
    assert done["request"]["url"] == "https://api.cohere.com/v2/rerank"
    assert done["request"]["body"]["documents"] == ["two", "four"]
    assert done["response"]["body"] == {
        "results": [{"index": 1, "relevance_score": 0.93}, {"index": 0, "relevance_score": 0.11}]
    }


# Headers


def headers_of(half: dict[str, Any], source: str, target: str, **choices: str) -> Any:
    context = Context(choices={name.replace("_", "-"): said for name, said in choices.items()})
    return translate_exchange(half, source, target, context).value["headers"]


ASK = {
    "url": "https://api.openai.com/v1/chat/completions",
    "body": {"model": "m", "messages": [{"role": "user", "content": "x"}]},
}
ANSWER = {"status": 500, "body": {"error": {"message": "x", "type": "server_error", "param": None, "code": None}}}


def test_what_is_the_same_at_both_vendors() -> None:
    said = {
        "Date": "x",
        "Retry-After": "1",
        "Cache-Control": "no-cache",
        "Host": "api.openai.com",
        "Content-Length": "5",
    }
    assert headers_of({**ASK, "headers": said}, "chat", "messages") == {
        "Date": "x",
        "Retry-After": "1",
        "Cache-Control": "no-cache",
        "Host": "api.anthropic.com",
        "anthropic-version": "2023-06-01",
    }


def test_unknown_headers_only_where_they_are_wanted() -> None:
    said = {"X-Mine": "1"}
    assert "X-Mine" not in headers_of({**ASK, "headers": said}, "chat", "messages")
    assert headers_of({**ASK, "headers": said}, "chat", "messages", keep_unknown="true")["X-Mine"] == "1"


def test_the_version_that_was_chosen() -> None:
    said = headers_of({**ASK, "headers": {"a": "b"}}, "chat", "messages", anthropic_version="2026-10-21")
    assert said["anthropic-version"] == "2026-10-21"


def test_two_headers_that_mean_one_become_one() -> None:
    said = {"Authorization": "Bearer a", "api-key": "b"}
    assert list(headers_of({**ASK, "headers": said}, "chat", "messages")) == ["x-api-key", "anthropic-version"]
    said = {"x-api-key": "a", "Authorization": "Bearer b", "anthropic-version": "2023-06-01"}
    ask = {**ASK, "url": "/v1/messages", "body": {**ASK["body"], "max_tokens": 1}}
    done = translate_exchange({**ask, "headers": said}, "messages", "chat")
    assert done.value["headers"] == {"authorization": "Bearer <redacted>"}
    assert whole_fault({**ask, "headers": said}, "messages", "chat", done) is None


def test_repeated_headers_keep_their_order() -> None:
    pairs = [["vary", "a"], ["Vary", "b"], ["vary", "c"]]
    assert headers_of({**ANSWER, "headers": pairs}, "chat", "messages") == pairs
    lists = {"vary": ["a", "b"], "Set-Cookie": ["x=1", "y=2"]}
    assert headers_of({**ANSWER, "headers": lists}, "chat", "messages") == {"vary": ["a", "b"]}
    assert headers_of({**ANSWER, "headers": lists}, "chat", "responses")["Set-Cookie"] == ["<redacted>"] * 2


def test_a_raw_head() -> None:
    raw = "HTTP/1.1 500 Oops\r\nx-request-id: req_1\r\nDate: now\r\n\r\n"
    assert headers_of({**ANSWER, "headers": raw}, "chat", "messages") == [["request-id", "req_1"], ["Date", "now"]]


def test_limits_without_a_date_lose_their_reset() -> None:
    said = {"x-ratelimit-limit-requests": "5", "x-ratelimit-reset-requests": "1s"}
    done = translate_exchange({**ANSWER, "headers": said}, "chat", "messages")
    assert done.value["headers"] == {"anthropic-ratelimit-requests-limit": "5"}
    assert ("dropped", "no-equivalent") in {(entry.fate, entry.why) for entry in done.ledger.entries}
    back = {"anthropic-ratelimit-tokens-reset": "2026-11-30T10:00:00Z", "anthropic-ratelimit-input-tokens-limit": "7"}
    answer = {"status": 500, "body": {"type": "error", "error": {"type": "api_error", "message": "x"}}}
    assert headers_of({**answer, "headers": back}, "messages", "chat") == {"x-ratelimit-limit-tokens": "7"}


def test_of_two_limits_of_tokens_the_whole_one_counts() -> None:
    said = {"anthropic-ratelimit-input-tokens-limit": "7", "anthropic-ratelimit-tokens-limit": "9"}
    answer = {"status": 500, "body": {"type": "error", "error": {"type": "api_error", "message": "x"}}}
    assert headers_of({**answer, "headers": said}, "messages", "chat") == {"x-ratelimit-limit-tokens": "9"}


@pytest.mark.parametrize(
    "source, said, places",
    [
        ("messages", {"content-type": "application/json"}, ["anthropic-version"]),
        ("messages", {"anthropic-version": "2023-06-01, 2023-06-01"}, ["anthropic-version"]),
        ("messages", [["anthropic-version", "a"], ["anthropic-version", "a"]], ["anthropic-version"]),
        ("messages", {"anthropic-version": "2023-06-01", "anthropic-beta": "a-2025-01-01, b"}, ["anthropic-beta"]),
        ("messages", {"anthropic-version": "2023-06-01", "anthropic-beta": "a-2025-01-01,b-2025-01-02"}, []),
        ("chat", {"OpenAI-Organization": ""}, ["openai-organization"]),
        ("chat", {"X-Client-Request-Id": "ü"}, ["x-client-request-id"]),
        ("chat", {"X-Client-Request-Id": "x" * 513}, ["x-client-request-id"]),
        ("chat", {"X-Client-Request-Id": "x" * 512}, []),
        ("chat", {}, []),
    ],
)
def test_bad_headers(source: str, said: Any, places: list[str]) -> None:
    url = "/v1/messages" if source == "messages" else "/v1/chat/completions"
    done = translate_exchange({**ASK, "url": url, "headers": said}, source, source)
    assert [finding.place for finding in done.findings] == [("headers", name) for name in places]
    assert {finding.code for finding in done.findings} <= {"bad-header"}


def test_headers_of_the_other_vendor_are_noticed() -> None:
    done = translate_exchange({**ASK, "headers": {"anthropic-beta": "x"}}, "chat", "chat")
    assert [finding[:2] for finding in done.findings] == [("address-says-otherwise", ("headers", "anthropic-beta"))]
    done = translate_exchange({**ASK, "headers": {"x-api-key": "x"}}, "chat", "messages")
    assert done.findings == [] and done.value["headers"]["x-api-key"] == "<redacted>"


@pytest.mark.parametrize(
    "name",
    ["Authorization", "x-goog-api-key", "Set-Cookie", "X-Amz-Security-Token", "Ocp-Apim-Subscription-Key", "my-auth"],
)
def test_what_is_a_credential(name: str) -> None:
    for form in (
        {name: "hush"},
        {name: ["hush"]},
        {name: {"a": "hush"}},
        [[name, "hush"]],
        [f"{name}: hush"],
        f"{name}: hush",
    ):
        for target in PROTOCOLS:
            done = translate_exchange({**ASK, "headers": form}, "chat", target)
            assert "hush" not in text.dumps(done.value).decode()
    for kept in ("Idempotency-Key", "x-ratelimit-limit-tokens", "X-Request-Id", "anthropic-version"):
        assert headers_of({**ASK, "headers": {kept: "said"}}, "chat", "chat") == {kept: "said"}


def test_a_head_that_is_too_large() -> None:
    done = translate_exchange({**ASK, "headers": {"a": "x" * 65536}}, "chat", "chat")
    assert [finding[:2] for finding in done.findings] == [("bad-header", ("headers",))]


@pytest.mark.parametrize(
    "body, beta",
    [
        ({"mcp_servers": [{}]}, "mcp-client-2025-11-20"),
        ({"tools": [{"type": "computer_20251124"}]}, "computer-use-2025-11-24"),
        ({"context_management": {"edits": [{"type": "compact_20260112"}]}}, "compact-2026-01-12"),
        ({"output_config": {"task_budget": {"total": 1}}}, "task-budgets-2026-03-13"),
        ({"tools": [{"type": "custom"}], "output_config": {"effort": "low"}}, None),
        ({"tools": None, "context_management": [], "output_config": 1}, None),
    ],
)
def test_betas_that_a_body_needs(body: dict[str, Any], beta: str | None) -> None:
    from proxai_cli.exchange.headers import needed_betas

    assert needed_betas(body) == ((beta,) if beta else ())


@pytest.mark.parametrize(
    ("label", "target", "url"),
    [
        ("messages/batch-results", "chat", "https://api.openai.com/v1/files/msgbatch_fx/content"),
        ("responses/batch-results", "messages", "https://api.anthropic.com/v1/messages/batches/file-fx9output/results"),
        ("responses/batch-results", "chat", "https://api.openai.com/v1/files/file-fx9output/content"),
    ],
)
def test_results_of_a_batch_by_their_address_and_back(label: str, target: str, url: str) -> None:
    exchange = named(label)
    value = translate_exchange(exchange.value, exchange.protocol, target).value
    assert value["request"]["url"] == url
    lines = [json.loads(line) for line in value["response"]["body"].splitlines()]
    assert {("result" if target == "messages" else "response") in line for line in lines} == {True}
    back = translate_exchange(value, target, exchange.protocol).value
    assert back["request"]["url"] == exchange.value["request"]["url"]
    assert (
        known(exchange.value).endpoint == "batches" and exchange.protocol in known(exchange.value).detection.candidates
    )


def test_a_call_that_compacts_is_known_by_what_it_asks() -> None:
    value = named("messages/compact").value
    said = translate_exchange(value, "messages", "responses").value
    assert said["request"]["url"] == "https://api.openai.com/v1/responses/compact"
    assert said["response"]["body"]["object"] == "response.compaction"
    assert "anthropic-beta" not in said["request"]["headers"]
    assert "choices" in translate_exchange(value, "messages", "chat").value["response"]["body"]
    back = translate_exchange(named("responses/compact").value, "responses", "messages").value
    assert back["request"]["url"] == "https://api.anthropic.com/v1/messages"
    assert back["request"]["headers"]["anthropic-beta"] == "compact-2026-09-04"
    assert back["response"]["body"]["model"] == "gpt-6-sol"


CUT = {"url": "https://api.anthropic.com/v1/messages", "body": {**ASK["body"], "max_tokens": 9, "stream": True}}
WORDS = [
    {"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "content": [],
     "model": "m", "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 3, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}},
]  # fmt: skip


@pytest.mark.parametrize("form", ["events", "text", "cut text"])
@pytest.mark.parametrize("target", ["chat", "responses"])
def test_a_stream_in_an_exchange_that_is_cut(target: str, form: str) -> None:
    spelled = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in WORDS)
    body: Any = {"events": WORDS, "text": spelled, "cut text": spelled + 'event: content_block_delta\ndata: {"ty'}[form]
    value = {"request": CUT, "response": {"status": 200, "body": body}}
    with pytest.raises(ProxaiError) as refused:
        translate_exchange(value, "messages", target)
    assert refused.value.code == "truncated"
    for choice, ended in (("partial", False), ("repair", True)):
        done = translate_exchange(value, "messages", target, Context(choices={choice: "true"}))
        assert whole_fault(value, "messages", target, done) is None
        assert [(found.code, found.place) for found in done.findings] == [("truncated", ("response", "body"))]
        told = opened(done.value, target)[0]["response"]["body"]
        assert ("[DONE]" in told if target == "chat" else told[-1]["type"] == "response.incomplete") is ended
        assert ("stream-was-cut" in {entry.why for entry in done.ledger.entries}) is ended
    assert translate_exchange(value, "messages", "messages", SHOW).value == value


def test_a_cut_stream_in_an_exchange_ends_with_exit_3(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_text(json.dumps({"request": CUT, "response": {"status": 200, "body": WORDS}}))
    for option, written in (([], False), (["--repair"], True), (["--set", "partial=true"], True)):
        done = answered(["convert", str(path), "--to", "chat", *option], folder=tmp_path)
        assert (done.code, bool(done.out)) == (3, written)
        assert "truncated" in done.err


# What is refused, and what is noticed

REFUSED: list[tuple[str, Any, str, str]] = [
    ("unrecognised", [], "chat", "messages"),
    ("unrecognised", {"log": {}}, "chat", "messages"),
    ("unrecognised", {"url": "/v1/chat/completions", "body": {"prompt": "x"}}, "chat", "messages"),
    ("no-endpoint", {"url": "https://api.openai.com/v1/moderations", "body": {"input": "x"}}, "chat", "messages"),
    ("no-endpoint", {"url": "/v1/responses/compact", "body": {"model": "m"}}, "responses", "chat"),
    ("no-endpoint", {"url": "/v1/embeddings", "body": {"input": "x"}}, "chat", "messages"),
    ("no-endpoint", {"url": "/v1/messages/count_tokens", "body": {"messages": []}}, "messages", "chat"),
    ("no-endpoint", {"request": {"url": "/v1/files/f/content"}, "response": {"body": "[7]"}}, "chat", "messages"),
    ("wrong-url", {"url": "/v1/embeddings", "body": {"messages": []}}, "chat", "chat"),
    ("wrong-url", {"url": "/v1/chat/completions", "body": {"query": "x", "documents": []}}, "chat", "chat"),
    (
        "old-version",
        {
            "url": "/v1/messages",
            "headers": {"anthropic-version": "2023-01-01"},
            "body": {**ASK["body"], "stream": True},
        },
        "messages",
        "chat",
    ),
    (
        "truncated",
        {
            "request": ASK,
            "response": {"status": 200, "body": [{"id": "x", "object": "chat.completion.chunk", "choices": []}]},
        },
        "chat",
        "messages",
    ),
    (
        "no-model",
        {"url": "/v1/chat/completions", "body": {"messages": [{"role": "user", "content": "x"}]}},
        "chat",
        "messages",
    ),
]


@pytest.mark.parametrize("code, value, source, target", REFUSED)
def test_refused(code: str, value: Any, source: str, target: str) -> None:
    with pytest.raises(ProxaiError) as refused:
        translate_exchange(value, source, target)
    assert refused.value.code == code
    assert refused.value.message and "secret" not in refused.value.message


def test_places() -> None:
    with pytest.raises(ProxaiError) as refused:
        translate_exchange({"request": {**ASK, "body": {"messages": "x"}}}, "chat", "messages")
    assert refused.value.place.pointer == "/request/body"
    with pytest.raises(ProxaiError) as refused:
        translate_exchange({"request": {"url": "/v1/completions"}}, "chat", "messages")
    assert refused.value.place.pointer == "/request/url"
    done = translate_exchange(named("messages/models-with-more-pages").value, "messages", "chat")
    assert [finding[:2] for finding in done.findings] == [("more-pages", ("response", "body", "has_more"))]


def test_the_body_beats_the_address() -> None:
    done = translate_exchange({**ASK, "url": "https://api.anthropic.com/v1/messages"}, "chat", "responses")
    assert [finding.code for finding in done.findings] == ["address-says-otherwise"]
    assert done.value["url"].endswith("/v1/responses")


def test_an_error_of_unknown_form() -> None:
    for body in ("Bad gateway", "", None, {"detail": "no"}, []):
        for source in PROTOCOLS:
            for target in PROTOCOLS:
                value = {"status": 502, "body": body}
                done = translate_exchange(value, source, target)
                assert whole_fault(value, source, target, done) is None
                if source != target:
                    assert [finding.code for finding in done.findings] == ["error-shape"]


@pytest.mark.parametrize(
    "source, error, status, target, kind, sent",
    [
        ("chat", {"type": "invalid_request_error", "code": "x"}, 401, "messages", "authentication_error", 401),
        ("chat", {"type": "insufficient_quota", "code": "insufficient_quota"}, 429, "messages", "billing_error", 402),
        ("chat", {"type": "invalid_request_error", "code": None}, 403, "messages", "permission_error", 403),
        ("chat", {"type": "invalid_request_error", "code": "model_not_found"}, 404, "messages", "not_found_error", 404),
        ("chat", {"type": "x", "code": None}, 409, "messages", "conflict_error", 409),
        ("chat", {"type": "x", "code": None}, 413, "messages", "request_too_large", 413),
        ("chat", {"type": "x", "code": "timeout"}, 408, "messages", "timeout_error", 504),
        ("chat", {"type": "server_error", "code": None}, 503, "messages", "overloaded_error", 529),
        ("chat", {"type": "server_error", "code": None}, 502, "messages", "api_error", 500),
        ("responses", {"type": "invalid_request_error", "code": None}, 422, "messages", "invalid_request_error", 400),
        ("messages", {"type": "authentication_error"}, 401, "chat", "invalid_request_error", 401),
        ("messages", {"type": "billing_error"}, 402, "chat", "insufficient_quota", 429),
        ("messages", {"type": "rate_limit_error"}, 429, "responses", "rate_limit_error", 429),
        ("messages", {"type": "overloaded_error"}, 529, "responses", "service_unavailable_error", 503),
        ("messages", {"type": "timeout_error"}, 504, "chat", "server_error", 504),
        ("messages", {"type": "request_too_large"}, 413, "chat", "invalid_request_error", 413),
        ("chat", {"type": "insufficient_quota", "code": 402}, 402, "responses", "insufficient_quota", 402),
        ("messages", {"type": "something_new"}, 418, "chat", "something_new", 418),
    ],
)
def test_errors_with_their_status(
    source: str, error: dict[str, Any], status: int, target: str, kind: str, sent: int
) -> None:
    body: dict[str, Any] = {"error": {"message": "x", **error}}
    if source == "messages":
        body = {"type": "error", **body}
    value = {"status": status, "body": body}
    done = translate_exchange(value, source, target)
    assert (done.value["body"]["error"]["type"], done.value["status"]) == (kind, sent)
    assert whole_fault(value, source, target, done) is None


# Recorded traffic beside the project


def recorded() -> list[tuple[str, Any]]:
    """Exchanges of the calls that are no creation of a reply, put together from their files and the index."""
    if SHARED is None:
        return []
    corpus = SHARED / "corpus"
    rows = [json.loads(line) for line in (corpus / "index.jsonl").read_text().splitlines()]
    made: dict[str, dict[str, Any]] = {}
    for row in rows:
        kind = row["file"].split("/")[1]
        if not row["file"].startswith("other/") or kind == "har":
            continue
        exchange = made.setdefault(f"{kind}/{row['exchange']}", {})
        body = (corpus / row["file"]).read_text()
        if "-answer." in row["file"]:
            exchange["response"] = {"status": row.get("status") or 200, "body": body}
        else:
            exchange.setdefault("request", {})["body"] = body
        if row.get("host"):
            exchange.setdefault("request", {})["url"] = f"https://{row['host']}{row['url_path']}"
    return sorted(made.items())


# What must become of them: refused with one of these codes, or translated where the target has such a call.
OUT = {
    "completions": {"no-endpoint"},
    "moderations": {"no-endpoint"},
    "models": {"no-endpoint"},  # another vendor's calls that have `models` in their path
    "responses_extra": {"no-endpoint"},
    "foreign": {"no-endpoint", "unrecognised"},
}
ELSEWHERE = {  # of kinds that are translated, but in shapes of others
    "batch/dd-trace-py-024": "no-endpoint",
    "embeddings/langchaingo-005": "no-endpoint",
    "embeddings/openinference-005": "no-endpoint",
    "embeddings/pydantic-ai-003": "no-endpoint",
}


@pytest.mark.skipif(SHARED is None, reason="the recorded traffic is not beside the project")
@pytest.mark.parametrize("label, value", recorded(), ids=lambda each: each if isinstance(each, str) else "")
@over_targets
def test_recorded_traffic(label: str, value: Any, target: str) -> None:
    kind, url = label.partition("/")[0], value.get("request", {}).get("url", "")
    source = "messages" if "api.anthropic.com" in url else "responses" if "input_tokens" in url else "chat"
    try:
        done = translate_exchange(value, source, target)
    except ProxaiError as error:
        allowed = OUT.get(kind) or {ELSEWHERE.get(label, "no-endpoint" if _lacks(kind, target) else "empty")}
        assert error.code in allowed
        return
    assert kind not in OUT and label not in ELSEWHERE and not _lacks(kind, target)
    assert whole_fault(value, source, target, done) is None
    if source == target:
        assert text.same(opened(done.value, target)[0], opened(value, source)[0])


def _lacks(kind: str, target: str) -> bool:
    without = {"embeddings": ["messages"], "rerank": ["messages", "responses"], "count_tokens": ["chat"]}
    return target in without.get(kind, [])
