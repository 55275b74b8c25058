"""The calls beside the creation of replies: bodies of models, embeddings, rerank, token counts and batches."""

import copy
import json
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from proxai_cli import PROTOCOLS, Context, text
from proxai_cli.endpoints import ENDPOINTS, known_by_body, known_by_path, translate_endpoint
from proxai_cli.endpoints.address import address, covered, protocol_of, written
from proxai_cli.endpoints.embeddings import packed_floats, unpacked_floats
from proxai_cli.endpoints.times import duration, http_date, instant, spelled_duration, spelled_instant
from proxai_cli.errors import ProxaiError

from .accounts import fault, mutants
from .captures import FIXTURES
from .judges import validator

# What `--set` may say about these bodies.
CHOICES: dict[str, list[dict[str, str]]] = {
    "embeddings": [{}, {"encoding": "base64"}, {"encoding": "float"}],
    "rerank": [{}, {"rerank": "cohere"}, {"rerank": "jina"}],
}


class Body(NamedTuple):
    """One fixture: `endpoints/<endpoint>/<protocol>/<case>.<kind>.json`."""

    path: Path
    endpoint: str
    protocol: str
    kind: str

    @property
    def value(self) -> Any:
        return text.loads(self.path.read_bytes())

    @property
    def label(self) -> str:
        return str(self.path.relative_to(FIXTURES / "endpoints"))


def bodies() -> list[Body]:
    found = sorted((FIXTURES / "endpoints").glob("*/*/*.json"))
    return [Body(path, path.parts[-3], path.parts[-2], path.name.split(".")[-2]) for path in found]


over_bodies = pytest.mark.parametrize("body", bodies(), ids=lambda body: body.label)
over_targets = pytest.mark.parametrize("target", PROTOCOLS)


def translated(body: Body, target: str, **choices: str) -> Any:
    context = Context(choices={key.replace("_", "-"): value for key, value in choices.items()})
    return translate_endpoint(body.value, body.protocol, target, body.endpoint, body.kind, context)


def has_no_call(body: Body, target: str) -> bool:
    """Calls that a protocol does not have (`spec/http.md` §1)."""
    without = {"embeddings": ["messages"], "rerank": ["messages", "responses"], "count": ["chat"], "compact": ["chat"]}
    return target in without.get(body.endpoint, [])


# The laws


@over_bodies
@over_targets
def test_the_laws(body: Body, target: str) -> None:
    for choices in CHOICES.get(body.endpoint, [{}]):
        context, source = Context(choices=choices), body.value
        before = text.dumps(source)
        if has_no_call(body, target):
            with pytest.raises(ProxaiError) as refused:
                translate_endpoint(source, body.protocol, target, body.endpoint, body.kind, context)
            assert refused.value.code == "no-endpoint"
            continue
        if "created.request" in body.label and target == "messages":
            with pytest.raises(ProxaiError) as refused:
                translated(body, target)
            assert refused.value.code == "empty"
            continue
        done = translate_endpoint(source, body.protocol, target, body.endpoint, body.kind, context)
        assert fault(source, done.value, done.ledger.entries) is None
        assert text.dumps(source) == before, "the source is never altered"
        again = translate_endpoint(copy.deepcopy(source), body.protocol, target, body.endpoint, body.kind, context)
        assert text.dumps(again.value) == text.dumps(done.value), "steady"
        assert again.ledger.entries == done.ledger.entries, "steady"
        if target == body.protocol and not choices:
            assert text.dumps(done.value) == before, "the same protocol is identity"
            assert {entry.fate for entry in done.ledger.entries} == {"carried"}


@over_bodies
@over_targets
def test_junk_anywhere_is_accounted_for(body: Body, target: str) -> None:
    for mutant in mutants(body.value, body.label + target, 40):
        for choices in CHOICES.get(body.endpoint, [{}]):
            context = Context(choices=choices)
            try:
                done = translate_endpoint(mutant, body.protocol, target, body.endpoint, body.kind, context)
            except ProxaiError:
                continue
            assert fault(mutant, done.value, done.ledger.entries) is None, text.dumps(mutant).decode()


@pytest.mark.parametrize("endpoint", ENDPOINTS)
@pytest.mark.parametrize("kind", ["request", "response", "error"])
@pytest.mark.parametrize("junk", [None, 1, "junk", [], {}, [[]], {"error": 1}, {"data": {}}, {"requests": [None]}])
def test_junk_is_refused_or_accounted_for(endpoint: str, kind: str, junk: Any) -> None:
    for source in PROTOCOLS:
        for target in PROTOCOLS:
            try:
                done = translate_endpoint(junk, source, target, endpoint, kind)
            except ProxaiError:
                continue
            assert fault(junk, done.value, done.ledger.entries) is None


# The official types

OPENAI, ANTHROPIC = "openai.types", "anthropic.types"
JUDGES = {
    ("models", "response", "openai"): f"{OPENAI}:Model",
    ("models", "response", "anthropic"): f"{ANTHROPIC}:ModelInfo",
    ("embeddings", "response", "openai"): f"{OPENAI}:CreateEmbeddingResponse",
    ("embeddings", "request", "openai"): f"{OPENAI}.embedding_create_params:EmbeddingCreateParams",
    ("compact", "request", "openai"): f"{OPENAI}.responses.response_compact_params:ResponseCompactParams",
    ("compact", "response", "openai"): f"{OPENAI}.responses:CompactedResponse",
    ("compact", "request", "anthropic"): f"{ANTHROPIC}.beta.message_create_params:MessageCreateParamsNonStreaming",
    ("compact", "response", "anthropic"): f"{ANTHROPIC}.beta:BetaMessage",
    ("count", "request", "openai"): f"{OPENAI}.responses.input_token_count_params:InputTokenCountParams",
    ("count", "response", "openai"): f"{OPENAI}.responses.input_token_count_response:InputTokenCountResponse",
    ("count", "request", "anthropic"): f"{ANTHROPIC}.message_count_tokens_params:MessageCountTokensParams",
    ("count", "response", "anthropic"): f"{ANTHROPIC}:MessageTokensCount",
    ("batches", "request", "openai"): f"{OPENAI}.batch_create_params:BatchCreateParams",
    ("batches", "request", "anthropic"): f"{ANTHROPIC}.messages.batch_create_params:BatchCreateParams",
    ("batches", "response", "openai"): f"{OPENAI}:Batch",
    ("batches", "response", "anthropic"): f"{ANTHROPIC}.messages:MessageBatch",
    ("batches", "result", "anthropic"): f"{ANTHROPIC}.messages:MessageBatchIndividualResponse",
}


def complaints(endpoint: str, kind: str, protocol: str, value: Any) -> list[str]:
    """What the official types say against a body, or against each thing that it lists; nothing where there is no type."""
    things = value["data"] if endpoint != "embeddings" and isinstance(value, dict) and "data" in value else [value]
    things = value if isinstance(value, list) else things
    said = []
    for thing in things:
        of = "result" if endpoint == "batches" and kind == "response" and "custom_id" in thing else kind
        place = JUDGES.get((endpoint, of, "anthropic" if protocol == "messages" else "openai"))
        if place is None or (endpoint == "batches" and kind == "request" and "custom_id" in thing):
            continue
        said += complaint(place, thing)
    return said


def complaint(place: str, value: Any) -> list[str]:
    from pydantic import ValidationError

    try:
        validator(place).validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        return [f"{one['loc']}: {one['msg']}" for one in error.errors()]
    return []


@over_bodies
@over_targets
def test_the_official_types_take_it(body: Body, target: str) -> None:
    try:
        done = translated(body, target)
    except ProxaiError:
        return
    if not complaints(body.endpoint, body.kind, body.protocol, body.value):
        assert not complaints(body.endpoint, body.kind, target, done.value)


def test_every_field_of_the_official_types_has_a_rule() -> None:
    from anthropic.types import ModelInfo
    from anthropic.types.messages import MessageBatch, MessageBatchRequestCounts
    from openai.types import Batch, BatchRequestCounts, Model

    from proxai_cli.endpoints.batches.state import BATCH, COUNTS
    from proxai_cli.endpoints.models import MODEL

    for table, official in (
        (MODEL["openai"], Model),
        (MODEL["anthropic"], ModelInfo),
        (BATCH["openai"], Batch),
        (BATCH["anthropic"], MessageBatch),
        (COUNTS["openai"], BatchRequestCounts),
        (COUNTS["anthropic"], MessageBatchRequestCounts),
    ):
        assert set(official.model_fields) == set(table.by_name)


# Row by row: fixture, target, choices, and what must stand at a path of the target


def at(value: Any, path: str) -> Any:
    for key in path.split("/"):
        value = value[int(key) if isinstance(value, list) else key]
    return value


ROWS: list[tuple[str, str, dict[str, str], dict[str, Any]]] = [
    (
        "models/chat/one.response.json",
        "messages",
        {},
        {
            "id": "gpt-5",
            "type": "model",
            "display_name": "gpt-5",
            "created_at": "2025-08-05T20:29:37Z",
            "lifecycle": "deprecated",
            "retires_at": "2027-02-01T00:00:00Z",
            "capabilities": None,
            "max_tokens": None,
        },
    ),
    ("models/chat/none.response.json", "messages", {}, {"has_more": False, "first_id": None, "data": []}),
    (
        "models/messages/one.response.json",
        "chat",
        {},
        {"id": "claude-opus-5", "object": "model", "created": 1778750130, "owned_by": "anthropic"},
    ),
    ("models/messages/last-page.response.json", "responses", {}, {"object": "list", "data/0/id": "claude-2"}),
    ("embeddings/chat/base64.response.json", "chat", {"encoding": "float"}, {"data/0/embedding": [0.25, -0.5, 0.1]}),
    ("embeddings/chat/floats.response.json", "chat", {"encoding": "base64"}, {"data/0/embedding": "AACAPgAAAL/NzMw9"}),
    (
        "embeddings/chat/with-input-type.request.json",
        "responses",
        {"encoding": "base64"},
        {"encoding_format": "base64", "input_type": "query"},
    ),
    ("rerank/chat/jina.request.json", "chat", {"rerank": "cohere"}, {"documents": ["two", "four"], "top_n": 2}),
    ("rerank/chat/cohere.request.json", "chat", {"rerank": "jina"}, {"documents": ["two", "four"], "top_n": 1}),
    (
        "rerank/chat/cohere-first-version.request.json",
        "chat",
        {"rerank": "cohere"},
        {"documents": ["two", '{"title":"four"}']},
    ),
    ("rerank/chat/voyage.response.json", "chat", {"rerank": "cohere"}, {"results/0/relevance_score": 0.69}),
    ("count/messages/count.response.json", "responses", {}, {"object": "response.input_tokens", "input_tokens": 403}),
    ("count/responses/count.response.json", "messages", {}, {"input_tokens": 17}),
    (
        "count/messages/with-thinking.request.json",
        "responses",
        {},
        {"reasoning/effort": "low", "model": "claude-opus-5"},
    ),
    ("count/responses/with-tools.request.json", "messages", {}, {"tools/0/name": "add", "output_config/effort": "low"}),
    (
        "batches/chat/file.request.json",
        "messages",
        {},
        {"requests/0/custom_id": "a", "requests/0/params/max_tokens": 50, "requests/1/params/model": "gpt-5.6"},
    ),
    (
        "batches/chat/file.request.json",
        "responses",
        {},
        {"0/url": "/v1/responses", "0/method": "POST", "0/body/max_output_tokens": 50, "1/body/input": "Two and two?"},
    ),
    (
        "batches/messages/requests.request.json",
        "chat",
        {},
        {"0/url": "/v1/chat/completions", "0/method": "POST", "1/body/max_completion_tokens": 50},
    ),
    ("batches/messages/line.request.json", "responses", {}, {"url": "/v1/responses", "body/max_output_tokens": 50}),
    (
        "batches/chat/results.response.json",
        "messages",
        {},
        {
            "0/result/type": "succeeded",
            "0/result/message/stop_reason": "end_turn",
            "1/result/error/error/type": "rate_limit_error",
            "1/result/error/request_id": "req_2",
            "2/result/type": "expired",
            "3/result/type": "canceled",
            "4/result/error/error/type": "api_error",
        },
    ),
    (
        "batches/messages/results.response.json",
        "chat",
        {},
        {
            "0/id": "batch_req_a",
            "0/response/status_code": 200,
            "0/response/request_id": "",
            "0/error": None,
            "1/response/status_code": 503,
            "1/response/request_id": "req_011",
            "1/response/body/error/code": "server_is_overloaded",
            "2/error/code": "batch_expired",
            "3/error/code": "batch_cancelled",
            "3/response": None,
        },
    ),
    ("batches/responses/results.response.json", "messages", {}, {"1/result/error/error/type": "rate_limit_error"}),
    (
        "batches/messages/ended.response.json",
        "responses",
        {},
        {
            "status": "completed",
            "completed_at": 1796038200,
            "created_at": 1796032800,
            "expires_at": 1796119200,
            "endpoint": "/v1/responses",
            "completion_window": "24h",
            "input_file_id": "",
            "request_counts": {"total": 5, "completed": 3, "failed": 2},
        },
    ),
    (
        "batches/messages/all-canceled.response.json",
        "chat",
        {},
        {"status": "cancelled", "cancelled_at": 1796038200, "cancelling_at": 1796036400},
    ),
    (
        "batches/chat/ended.response.json",
        "messages",
        {},
        {
            "processing_status": "ended",
            "ended_at": "2026-11-30T12:01:40Z",
            "request_counts": {"processing": 0, "succeeded": 4, "errored": 1, "canceled": 0, "expired": 0},
        },
    ),
    ("batches/chat/list.response.json", "messages", {}, {"data/0/processing_status": "in_progress", "has_more": True}),
    ("batches/messages/list.response.json", "chat", {}, {"data/0/status": "cancelling", "last_id": "msgbatch_fx"}),
    ("batches/chat/created.request.json", "responses", {}, {"endpoint": "/v1/responses"}),
]


@pytest.mark.parametrize("label, target, choices, expected", ROWS, ids=lambda row: row if isinstance(row, str) else "")
def test_rows(label: str, target: str, choices: dict[str, str], expected: dict[str, Any]) -> None:
    body = next(each for each in bodies() if each.label == label)
    value = translated(body, target, **choices).value
    assert {path: at(value, path) for path in expected} == expected


def test_what_is_not_there_is_not_written() -> None:
    for label, target, choices, gone in (
        ("rerank/chat/jina.request.json", "chat", {"rerank": "cohere"}, "return_documents"),
        ("rerank/chat/cohere.request.json", "chat", {"rerank": "jina"}, "priority"),
        ("rerank/chat/jina.response.json", "chat", {"rerank": "cohere"}, "usage"),
        ("rerank/chat/cohere.response.json", "chat", {"rerank": "jina"}, "meta"),
        ("count/responses/with-tools.request.json", "messages", {}, "max_tokens"),
        ("count/messages/with-thinking.request.json", "responses", {}, "store"),
        ("models/messages/last-page.response.json", "chat", {}, "has_more"),
    ):
        body = next(each for each in bodies() if each.label == label)
        assert gone not in translated(body, target, **choices).value


def test_a_ranking_repeats_the_documents_of_its_request() -> None:
    body = next(each for each in bodies() if each.label == "rerank/chat/cohere.response.json")
    asked = {"model": "rerank-v4", "query": "four", "documents": ["two", {"text": "four"}]}
    done = translate_endpoint(
        body.value, "chat", "chat", "rerank", "response", Context(choices={"rerank": "jina"}, request=asked)
    )
    assert done.value["results"][0]["document"] == {"text": "four"}
    assert done.value["model"] == "rerank-v4"
    assert done.value["results"][0]["document"] is not asked["documents"][1]
    assert {entry.why for entry in done.ledger.entries if entry.fate == "synthesized"} == {"from-request"}


REFUSED: list[tuple[str, Any, str, str, str, str]] = [
    (
        "dup-custom-id",
        [{"custom_id": "a", "url": "/v1/responses", "body": {}}] * 2,
        "chat",
        "chat",
        "batches",
        "request",
    ),
    (
        "no-endpoint",
        [{"custom_id": "a", "url": "/v1/embeddings", "body": {"input": "x"}}],
        "chat",
        "messages",
        "batches",
        "request",
    ),
    ("unrecognised", {"id": "x", "type": "message_batch_deleted"}, "messages", "chat", "batches", "response"),
    ("unrecognised", {"texts": ["x"]}, "chat", "chat", "embeddings", "request"),
    ("unrecognised", {"embeddings": [[0.5]]}, "chat", "chat", "embeddings", "response"),
    ("no-endpoint", {"input": "x"}, "messages", "chat", "embeddings", "request"),
    ("no-endpoint", {"messages": []}, "chat", "messages", "count", "request"),
    ("no-model", {"input": "x"}, "responses", "messages", "count", "request"),
]


@pytest.mark.parametrize("code, value, source, target, endpoint, kind", REFUSED)
def test_refused(code: str, value: Any, source: str, target: str, endpoint: str, kind: str) -> None:
    with pytest.raises(ProxaiError) as refused:
        translate_endpoint(value, source, target, endpoint, kind)
    assert refused.value.code == code
    assert refused.value.message


def test_places_and_findings() -> None:
    body = next(each for each in bodies() if each.label == "batches/chat/file.request.json")
    assert [finding[:2] for finding in translated(body, "messages").findings] == [
        ("illegal-custom-id", (1, "custom_id"))
    ]
    assert translated(body, "responses").findings == []
    lines = [{"custom_id": name, "params": {}} for name in ("a", "b", "a")]
    with pytest.raises(ProxaiError) as refused:
        translate_endpoint({"requests": lines}, "messages", "chat", "batches", "request")
    assert refused.value.place.pointer == "/requests/2/custom_id"
    page = {"data": [{"type": "model", "id": "x"}], "has_more": True}
    found = translate_endpoint(page, "messages", "chat", "models", "response").findings
    assert [finding[:2] for finding in found] == [("more-pages", ("has_more",))]


@over_bodies
def test_known_by_their_own_words(body: Body) -> None:
    """Most bodies say what they are; those that do not are known by their address alone."""
    silent = ("none.response", "count/responses/with-tools", "count/messages/with-thinking")
    silent = (*silent, "compact/messages", "compact/responses/sums.request")
    known = known_by_body(body.value)
    if any(each in body.label for each in silent):
        assert known is None
    else:
        assert known is not None and (known[0].name, known[1]) == (body.endpoint, body.kind)


def test_a_conversation_is_compacted_by_a_call_of_its_own_and_back() -> None:
    """What both say comes back: the conversation, the compaction, the counts."""
    for source, target in (("responses", "messages"), ("messages", "responses")):
        for kind in ("request", "response"):
            value = text.loads((FIXTURES / "endpoints" / "compact" / source / f"sums.{kind}.json").read_bytes())
            there = translate_endpoint(value, source, target, "compact", kind).value
            back = translate_endpoint(there, target, source, "compact", kind).value
            same = {"request": ("model", "instructions", "input", "system", "messages"), "response": ("id", "object")}
            assert {key: back.get(key) for key in same[kind]} == {key: value.get(key) for key in same[kind]}
            if kind == "response":
                (block,) = there["content" if target == "messages" else "output"]
                sealed = value["content" if source == "messages" else "output"][-1]["encrypted_content"]
                assert (block["type"], block["encrypted_content"]) == ("compaction", sealed)
            elif target == "messages":
                assert there["compaction"] == {"type": "summarize"}


def test_counts_that_are_no_whole_numbers_are_left_out() -> None:
    batch = {"id": "b", "object": "batch", "status": "odd", "request_counts": {"total": 1.5, "completed": None, "x": 1}}
    done = translate_endpoint(batch, "chat", "messages", "batches", "response")
    assert set(done.value["request_counts"].values()) == {0}
    assert done.value["processing_status"] == "odd"
    assert fault(batch, done.value, done.ledger.entries) is None
    batch = {
        "id": "b",
        "type": "message_batch",
        "processing_status": "ended",
        "request_counts": {"expired": 2, "errored": []},
    }
    done = translate_endpoint(batch, "messages", "chat", "batches", "response")
    assert (done.value["status"], done.value["request_counts"]) == (
        "expired",
        {"total": 2, "completed": 0, "failed": 2},
    )
    assert fault(batch, done.value, done.ledger.entries) is None


# Addresses


@pytest.mark.parametrize(
    "url, call, protocol, in_chat, in_messages",
    [
        ("https://api.openai.com/v1/chat/completions", "create", "chat", None, "https://api.anthropic.com/v1/messages"),
        ("/v1/responses", "create", "responses", "/v1/chat/completions", "/v1/messages"),
        (
            "https://api.anthropic.com/v1/messages?beta=true",
            "create",
            "messages",
            "https://api.openai.com/v1/chat/completions",
            None,
        ),
        (
            "http://localhost:4000/proxy/v1/messages",
            "create",
            "messages",
            "http://localhost:4000/proxy/v1/chat/completions",
            None,
        ),
        (
            "https://eu.api.openai.com/v1/models/gpt-5",
            "models",
            None,
            None,
            "https://api.anthropic.com/v1/models/gpt-5",
        ),
        (
            "https://x.openai.azure.com//openai/deployments/my%20gpt/chat/completions?api-version=1",
            "create",
            "chat",
            None,
            "https://api.anthropic.com/v1/messages",
        ),
        (
            "https://bedrock-runtime.eu-west-1.amazonaws.com/model/anthropic.claude%3A0/invoke-with-response-stream",
            "create",
            "messages",
            "https://api.openai.com/v1/chat/completions",
            None,
        ),
        (
            "https://x-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict",
            "count",
            "messages",
            None,
            None,
        ),
        ("/v1/messages/batches/b/cancel", "batches", "messages", "/v1/batches/b/cancel", None),
        ("/v1/batches", "batches", None, None, "/v1/messages/batches"),
        ("/v1/completions", "elsewhere", None, None, None),
        ("/v1/responses/resp_1/input_items", "elsewhere", None, None, None),
        ("/v1beta/models/gemini:generateContent", "elsewhere", None, None, None),
        ("/whatever", "unknown", None, None, None),
        ("", "unknown", None, None, None),
        ("http://[bad", "unknown", None, None, None),
    ],
)
def test_addresses(url: str, call: str, protocol: str | None, in_chat: str | None, in_messages: str | None) -> None:
    known = address(url)
    assert (known.call, known.protocol) == (call, protocol)
    source = protocol or ("messages" if in_chat else "chat")
    for target, expected in (("chat", in_chat), ("messages", in_messages)):
        if expected is not None:
            assert written(known, source, target) == expected


def test_addresses_of_azure() -> None:
    known = address("https://x.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=1")
    assert (known.cloud, known.model) == ("azure", "my gpt")
    assert written(known, "chat", "responses") == "https://x.openai.azure.com/openai/responses?api-version=1"
    known = address("https://x.openai.azure.com/openai/responses?api-version=1")
    assert written(known, "responses", "chat", "my gpt") == (
        "https://x.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=1"
    )


def test_credentials_in_addresses_are_covered() -> None:
    shown = covered("https://me:secret@host/v1/models?a=1&api-key=secret&b=2#x")
    assert shown == "https://<redacted>@host/v1/models?a=1&api-key=<redacted>&b=2#x"
    assert covered("https://host/v1/models?limit=3") == "https://host/v1/models?limit=3"


def test_endpoints_by_path() -> None:
    assert {name: known_by_path(f"/v1/{path}") for name, path in (("chat", "chat/completions"), ("x", "y"))} == {
        "chat": None,
        "x": None,
    }
    for path, name in (
        ("models/x", "models"),
        ("embeddings", "embeddings"),
        ("rerank", "rerank"),
        ("batches/b", "batches"),
    ):
        assert known_by_path(f"/v1/{path}") is ENDPOINTS[name]
    assert protocol_of("/v1/responses/compact") is None


# Times


@pytest.mark.parametrize(
    "said, seconds, again",
    [
        ("6m0s", 360, "6m0s"),
        ("1s", 1, "1s"),
        ("120ms", Fraction(12, 100), "120ms"),
        ("1h0m3.25s", Fraction(14413, 4), "1h0m3.25s"),
        ("90s", 90, "1m30s"),
        ("0s", 0, "0s"),
        ("1500us", Fraction(15, 10000), "1.5ms"),
        ("", None, None),
        ("soon", None, None),
        ("1d", None, None),
        (5, None, None),
    ],
)
def test_durations(said: Any, seconds: Any, again: str | None) -> None:
    assert duration(said) == seconds
    if again is not None:
        assert spelled_duration(Fraction(seconds)) == again


@pytest.mark.parametrize(
    "said, again",
    [
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
        ("2025-01-29T14:25:40.414291+00:00", "2025-01-29T14:25:40.414291Z"),
        ("2026-01-02T03:04:05+01:30", "2026-01-02T01:34:05Z"),
        ("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("0001-01-01T00:00:00+05:00", None),
        ("2026-02-30T00:00:00Z", None),
        ("yesterday", None),
        (1, None),
    ],
)
def test_instants(said: Any, again: str | None) -> None:
    moment = instant(said)
    assert (None if moment is None else spelled_instant(moment)) == again


def test_dates_of_headers() -> None:
    assert spelled_instant(http_date("Mon, 30 Nov 2026 10:00:00 GMT") or Fraction(0)) == "2026-11-30T10:00:00Z"
    for junk in (None, "", "junk", 5, "Mon, 99 Nov 2026 10:00:00 GMT"):
        assert http_date(junk) is None


# Vectors


def test_vectors_are_exact() -> None:
    numbers = [0.25, -0.0123456, 1e-20, 3.4e38, 0.1]
    packed = packed_floats(numbers)
    assert packed is not None and unpacked_floats(packed) == numbers
    for inexact in ([0.12345678901234], [1e39], [], [True], ["1"], [float("nan")]):
        assert packed_floats(inexact) is None
    for junk in ("", "AAA", "AA==", "%%%%", "AADAfw=="):
        assert unpacked_floats(junk) is None
