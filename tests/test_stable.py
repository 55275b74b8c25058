"""There and back and there again is there: the plain mapping, without a side file, is stable after one trip.

Source: `spec/decisions.md` §1, property 3. What is otherwise has a line in EXCEPTIONS that says why.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from proxai_cli import PROTOCOLS, StreamTranslator, collect, text, translate
from proxai_cli.errors import ProxaiError

from .captures import Capture, body, corpus, events, fixtures

PAIRS = [(each, target) for each in [*fixtures(), *corpus()] for target in PROTOCOLS if target != each.protocol]

# Source, target, kind and place (`*` for a position, a key and what is in it) of what is not the same the second time.
EXCEPTIONS: dict[tuple[str, str, str, str], str] = {
    ("chat", "messages", "request", "/messages/*/content"): "one text block is a string in chat (requests.md §5.2)",
    ("chat", "responses", "request", "/input/*/id"): "and so is one output part, which needs no id then",
    ("chat", "responses", "request", "/input/*/status"): "as above",
    ("chat", "responses", "request", "/input/*/content"): "as above",
    ("chat", "responses", "request", "/tool_choice"): "chat takes no choice without tools",
    ("messages", "responses", "request", "/tool_choice"): "nor does Messages",
    ("messages", "chat", "request", "/messages/*"): "media of results and what the user says become one turn (§5.2)",
    ("messages", "responses", "request", "/context_management"): "only under --set beta=true",
    ("messages", "responses", "request", "/input/*"): "searches do not go back without their payload (§7.3)",
    ("responses", "chat", "request", "/messages/*/content/*/image_url/detail"): "Responses demands it",
    ("responses", "chat", "request", "/tools/*/function/strict"): "Responses demands it",
    ("responses", "messages", "request", "/tools/*/strict"): "Responses demands it",
    ("responses", "chat", "request", "/store"): "a request that goes to Responses is not to be stored (D22)",
    ("responses", "messages", "request", "/messages/*/content/*/id"): "ids longer than Responses takes (§7.1)",
    ("responses", "messages", "request", "/messages/*/content/*/tool_use_id"): "as above",
    ("responses", "messages", "request", "/output_config"): "adaptive thinking is effort `high` (§8)",
    ("responses", "messages", "request", "/system"): "one plain block is the string `instructions` (§4)",
    (
        "chat",
        "messages",
        "response",
        "/content/*",
    ): "reasoning in several pieces has one place in chat (responses.md §3)",
    ("chat", "responses", "response", "/output/*"): "as above",
    ("chat", "messages", "response", "/content/*/signature"): "only `reasoning_details` has signatures (D17)",
    ("chat", "responses", "response", "/output/*/encrypted_content"): "as above",
    (
        "chat",
        "messages",
        "response",
        "/usage/cache_creation_input_tokens",
    ): "what was made for no usage counts from then on",
    ("chat", "messages", "response", "/usage/cache_read_input_tokens"): "as above",
    ("chat", "responses", "response", "/output/*/id"): "a call without an id gets one in chat",
    ("messages", "responses", "response", "/output/*/outputs/*"): "Messages has one text for what code printed (§6)",
    ("messages", "responses", "response", "/output/*/container_id"): "a container of Messages says when it ends (§6)",
    ("messages", "responses", "response", "/output/*/status"): "a page without its document has no result (§6)",
    ("responses", "chat", "response", "/metadata"): "Responses replies always have it (§1.2)",
    ("responses", "chat", "response", "/usage/prompt_tokens_details/cache_write_tokens"): "Responses demands it",
    ("responses", "messages", "response", "/usage/cache_creation_input_tokens"): "Responses demands it",
    (
        "responses",
        "messages",
        "response",
        "/content/*/citations/*/cited_text",
    ): "a quote that is there twice is no span (D19)",
}

# What is so in streams alone.
STREAMS: dict[tuple[str, str, str], str] = {
    ("chat", "messages", "/stop_details/explanation"): "a refusal is text before it is one (streams.md §7)",
    ("responses", "messages", "/stop_details/explanation"): "as above",
    ("messages", "chat", "/choices/*/message/refusal"): "what explains a stop is a text block on the way (§10)",
    ("messages", "chat", "/choices/*/message/content"): "as above",
    ("messages", "responses", "/output/*"): "as above",
    ("chat", "messages", "/content/*/citations/*/cited_text"): "citations of a text that began later",
    ("messages", "responses", "/error/type"): "no code of a failed response says overloaded (http.md §5)",
    ("responses", "chat", "/error/code"): "the codes of a failed response are a short list (http.md §5)",
    ("chat", "responses", "/error/type"): "what a code is a case of",
    ("chat", "responses", "/service_tier"): "a reply that failed has not said it",
    ("chat", "messages", "/*/message/usage/service_tier"): "nor has one that was cut",
}

# Requests that name no model, or say nothing, are no requests of the other protocols.
NO_WAY_BACK = ("no-model", "unrecognised")


@pytest.mark.parametrize(("capture", "target"), PAIRS, ids=lambda said: getattr(said, "label", said))
def test_stable(capture: Capture, target: str) -> None:
    source = capture.protocol
    try:
        first, kind = there(
            events(capture) if capture.kind == "stream" else body(capture), source, target, capture.kind
        )
    except ProxaiError as error:
        pytest.skip(f"refused: {error.code}")
    try:
        back, kind = there(first, target, source, kind)
        again, _ = there(back, source, target, kind)
    except ProxaiError as error:
        assert error.code in NO_WAY_BACK and capture.kind == "request"
        return
    if capture.kind == "stream":
        if text.dumps(written(first)) == text.dumps(written(again)):
            return
        first, again = whole(first, target), whole(again, target)
    assert [place for place in differences(first, again) if not excepted(source, target, capture.kind, place)] == []


def test_what_differs_is_seen() -> None:
    one, other = {"a": [1, {"b": 1}], "c": 1}, {"a": [1, {"b": 1.0}], "d": 1}
    assert list(differences(one, other)) == ["/a/*/b", "/c", "/d"]
    assert list(differences({"a": [1]}, {"a": []})) == ["/a/*"]


def there(value: Any, source: str, target: str, kind: str) -> tuple[Any, str]:
    """The target, and its kind: a reply that failed becomes an error body."""
    if kind == "stream":
        translator = StreamTranslator(source, target)
        return [wire for event in value for wire in translator.feed(event)] + translator.close(), kind
    done = translate(value, source, target, kind).value
    failed = kind == "response" and not {"choices", "output", "content"} & set(done)
    return done, "error" if failed else kind


def written(stream: list[Any]) -> list[Any]:
    return [event for event in stream if isinstance(event, dict)]


def whole(stream: list[Any], protocol: str) -> Any:
    """What a stream says, whenever it says it; the events of one that was cut."""
    try:
        return collect(stream, protocol).value
    except ProxaiError:
        return [{key: value for key, value in event.items() if key != "response"} for event in written(stream)]


def differences(one: Any, other: Any, place: str = "") -> Iterator[str]:
    """Where two documents differ; numbers by their digits."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in {**one, **other}:
            if key in one and key in other:
                yield from differences(one[key], other[key], f"{place}/{key}")
            else:
                yield f"{place}/{key}"
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            yield f"{place}/*"
            return
        for inner, there in zip(one, other, strict=True):
            yield from differences(inner, there, f"{place}/*")
    elif text.dumps(one) != text.dumps(other):
        yield place


def excepted(source: str, target: str, kind: str, place: str) -> bool:
    """Is there a line for this place, or for one that it stands in?"""
    reply = kind == "stream" and any(place.startswith(said[2]) for said in STREAMS if said[:2] == (source, target))
    kind = "response" if kind == "stream" else kind
    return reply or (source, target, kind, place) in EXCEPTIONS
