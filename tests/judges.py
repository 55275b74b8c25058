"""Whether the official `openai` and `anthropic` packages take a document: a judge outside the product."""

import json
from functools import cache
from importlib import import_module
from typing import Any

CHAT = "openai.types.chat"
RESPONSES = "openai.types.responses"
MESSAGES = "anthropic.types"
BETA = "anthropic.types.beta"

# Where the official type of a document stands. A type after the first one is asked where the first one refuses.
TYPES = {
    ("chat", "request"): [f"{CHAT}.completion_create_params:CompletionCreateParamsNonStreaming"],
    ("chat", "request with stream"): [f"{CHAT}.completion_create_params:CompletionCreateParamsStreaming"],
    ("chat", "response"): [f"{CHAT}:ChatCompletion"],
    ("chat", "event"): [f"{CHAT}:ChatCompletionChunk"],
    ("chat", "error"): ["openai.types.shared:ErrorObject"],
    ("responses", "request"): [f"{RESPONSES}.response_create_params:ResponseCreateParamsNonStreaming"],
    ("responses", "request with stream"): [f"{RESPONSES}.response_create_params:ResponseCreateParamsStreaming"],
    ("responses", "response"): [f"{RESPONSES}:Response"],
    ("responses", "event"): [f"{RESPONSES}:ResponseStreamEvent"],
    ("responses", "error"): ["openai.types.shared:ErrorObject"],
    ("messages", "request"): [
        f"{MESSAGES}.message_create_params:MessageCreateParamsNonStreaming",
        f"{BETA}.message_create_params:MessageCreateParamsNonStreaming",
    ],
    ("messages", "request with stream"): [
        f"{MESSAGES}.message_create_params:MessageCreateParamsStreaming",
        f"{BETA}.message_create_params:MessageCreateParamsStreaming",
    ],
    ("messages", "response"): [f"{MESSAGES}:Message", f"{BETA}:BetaMessage"],
    ("messages", "event"): [f"{MESSAGES}:RawMessageStreamEvent", f"{BETA}:BetaRawMessageStreamEvent"],
    ("messages", "error"): [f"{MESSAGES}.shared:ErrorResponse", f"{MESSAGES}:BetaErrorResponse"],
}

# Fields that tell the members of a union apart.
MARKS = ("type", "role", "object")


def complaint(protocol: str, kind: str, value: Any) -> str | None:
    """Why the official types refuse a parsed document, as `place: sentence`, or None if they take it.

    `kind` is request, response, stream (the list of its parsed events, end marker left out) or error. JSON is held
    to the types strictly: no text for a number, no member of a union that is only nearly met. Fields that the types
    do not name are no complaint, as the clients ignore them. A complaint holds no value of the document.
    """
    if kind == "stream":
        return next(
            (f"{number}.{why}" for number, event in enumerate(value) if (why := complaint_of_event(protocol, event))),
            None,
        )
    if kind == "request" and isinstance(value, dict) and value.get("stream"):
        kind = "request with stream"
    if kind == "error" and protocol != "messages":
        if not isinstance(value, dict) or "error" not in value:
            return "error: Field required"
        value = value["error"]
    return refusal(protocol, kind, value)


def complaint_of_event(protocol: str, event: Any) -> str | None:
    """The same for one event: the client skips pings, and an error frame is judged as an error body."""
    if protocol == "messages" and isinstance(event, dict) and event.get("type") in ("ping", "error"):
        return None if event["type"] == "ping" else refusal(protocol, "error", event)
    if protocol == "chat" and isinstance(event, dict) and "error" in event and "choices" not in event:
        return refusal(protocol, "error", event["error"])
    return refusal(protocol, "event", event)


def refusal(protocol: str, kind: str, value: Any) -> str | None:
    """The first official type's complaint, unless any of them takes the value."""
    from pydantic import ValidationError

    # A lone surrogate is legal in JSON text; the validator wants UTF-8.
    text = json.dumps(value, ensure_ascii=False).encode(errors="replace")
    first = None
    for place in TYPES[protocol, kind]:
        try:
            validator(place).validate_json(text, strict=True)
            return None
        except ValidationError as error:
            first = first or sentence(error)
    return first


@cache
def validator(place: str) -> Any:
    """The validator of an official type, in which an iterable is a list and so is checked to its last member."""
    from pydantic import TypeAdapter
    from pydantic_core import SchemaValidator

    module, name = place.split(":")
    adapter = TypeAdapter(getattr(import_module(module), name))
    adapter.rebuild(force=True)
    return SchemaValidator(with_lists(adapter.core_schema))


def with_lists(schema: Any) -> Any:
    """A core schema whose generators, which are checked only as they are walked, are lists."""
    if isinstance(schema, dict):
        inner = {key: with_lists(value) for key, value in schema.items()}
        return inner | {"type": "list"} if schema.get("type") == "generator" else inner
    if isinstance(schema, (list, tuple)):
        return type(schema)(map(with_lists, schema))
    return schema


def sentence(error: Any) -> str:
    """Of all complaints about a union, one about the member that was meant: whose `type` or `role` fits."""
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    unmeant = [one["loc"][:-1] for one in errors if one["loc"] and one["loc"][-1] in MARKS]
    meant = [one for one in errors if not any(one["loc"][: len(place)] == place for place in unmeant)]
    chosen = max(meant or errors, key=lambda one: len(one["loc"]))
    place = ".".join(str(key) for key in chosen["loc"] if "[" not in str(key))
    return f"{place}: {chosen['msg']}"
