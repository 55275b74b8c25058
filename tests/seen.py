"""What a client sees in a reply, in one form for the three protocols, and when two of them are equal.

`seen_in` reads documents, `reading` also the objects of the official clients; `equal` holds a translated reply to its
source as spec/responses.md §13 and spec/streams.md §10 say. Nothing here uses the product.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

COUNTS = ("input", "cached", "written", "output", "reasoning", "total")


class Custom(NamedTuple):
    """Arguments of a call that are free text by the kind of the tool."""

    text: str


class NoJson(NamedTuple):
    """Arguments of a call that should be a JSON object and are not: a cut, or a model's mistake."""

    text: str


class Action(NamedTuple):
    """Arguments of a call of a tool that Responses has a kind of item for and the client runs; no name: an approval."""

    value: Any


@dataclass
class Seen:
    """A reply as its reader sees it.

    `calls` holds pairs of a name and the parsed arguments, `Custom`, `NoJson` or `Action`. `reasoning` holds one text
    for each block or item that has one, `summaries` what a summary says beside a full text. `refusal` is a model's own
    `wording`, or else a vendor's explanation. `stop` is the protocol's own word: finish_reason, stop_reason, or
    status/reason. `usage` holds COUNTS, where `input` includes what the cache holds. `error` holds type, code, message.
    `status` is that of the call, where it is known; `kind` is response, stream or error; `way` is how a client read it;
    `live` what it shows while the reply comes, where the final object repeats what the pieces said.
    """

    text: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    refusal: str = ""
    wording: bool = False
    stop: str | None = None
    stop_string: str | None = None
    usage: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    error: dict[str, Any] | None = None
    summaries: list[str] = field(default_factory=list, compare=False)
    status: int | None = field(default=None, compare=False)
    kind: str = field(default="response", compare=False)
    way: str = field(default="", compare=False)
    live: "Seen | None" = field(default=None, compare=False)


def seen_in(protocol: str, kind: str, value: Any, status: int | None = None) -> Seen:
    """What there is to see in a parsed body, or in the parsed events of a stream (end marker left out)."""
    if kind == "error":
        return Seen(kind=kind, status=status, error=error_in(value))
    if kind == "stream":
        return replace(reading(protocol, COLLECT[protocol](value)), kind=kind)
    return reading(protocol, value)


def events_in(data: bytes) -> list[Any]:
    """The parsed events of a stream without its end marker, also where blank lines between them are lost."""
    events = []
    for block in re.split(r"\n\n+", re.sub(r"\r\n?", "\n", data.decode(errors="replace"))):
        lines = [line[5:].strip() for line in block.split("\n") if line.startswith("data:")]
        try:
            events.append(json.loads("\n".join(lines) or "null"))
        except ValueError:
            events += [json.loads(line) for line in lines if line and line != "[DONE]"]
    return [event for event in events if event is not None]


def reading(protocol: str, reply: Any) -> Seen:
    """The same for one reply, a parsed body or the object that an official client made of it."""
    seen = READ[protocol](reply)
    failure = get(reply, "error")
    return replace(seen, error=error_in(plain(failure))) if failure else seen


def get(thing: Any, *names: str) -> Any:
    """What stands under some names in nested objects, dictionaries or not; None where one is missing."""
    for name in names:
        thing = thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)
    return thing


def plain(thing: Any) -> Any:
    """An object of a client as the value that it was made of."""
    return thing.to_dict(warnings=False) if hasattr(thing, "to_dict") else thing


def error_in(value: Any) -> dict[str, Any]:
    """Type, code and message of an error body, of what it wraps, or of an error event."""
    inner = value.get("error") or value if isinstance(value, dict) else value
    if not isinstance(inner, dict):
        return {"type": None, "code": None, "message": inner if isinstance(inner, str) else None}
    code = inner.get("code") or (inner.get("details") or {}).get("error_code")
    return {"type": inner.get("type"), "code": code, "message": inner.get("message")}


def arguments(text: Any) -> Any:
    """Argument text parsed; no text at all is no arguments."""
    if not isinstance(text, str):
        return plain(text) or {}
    try:
        value = json.loads(text) if text.strip() else {}
    except ValueError:
        return NoJson(text)
    return value if isinstance(value, dict) else NoJson(text)


def counts(usage: Any, start: str, end: str) -> dict[str, int]:
    """Usage as OpenAI says it, with its two words for the two sides."""
    sides = (f"{start}_tokens", f"{start}_tokens_details", f"{end}_tokens", f"{end}_tokens_details")
    found = (
        get(usage, sides[0]),
        get(usage, sides[1], "cached_tokens"),
        get(usage, sides[1], "cache_write_tokens"),
        get(usage, sides[2]),
        get(usage, sides[3], "reasoning_tokens"),
        get(usage, "total_tokens"),
    )
    return dict(zip(COUNTS, (number or 0 for number in found), strict=True))


def read_chat(reply: Any) -> Seen:
    choice = next((one for one in get(reply, "choices") or [] if not get(one, "index")), None)
    message = get(choice, "message")
    content = get(message, "content")
    thoughts = chat_reasoning(message)
    if isinstance(content, list):
        thoughts += joined(part for one in content for part in get(one, "thinking") or [])
        content = joined(one for one in content if get(one, "type") == "text")
    calls = [chat_call(one) for one in get(message, "tool_calls") or []]
    if old := get(message, "function_call"):
        calls.append((get(old, "name"), arguments(get(old, "arguments") or "")))
    stop = get(choice, "finish_reason")
    refusal = get(message, "refusal") or ""
    matched = [get(choice, name) for name in ("matched_stop", "stop_reason")]
    return Seen(
        text=content or get(message, "audio", "transcript") or "",
        calls=calls,
        reasoning=[thoughts] if thoughts else [],
        refusal=refusal,
        wording=bool(refusal) and stop != "content_filter",
        stop=stop or None,
        stop_string=next((one for one in matched if isinstance(one, str)), None),
        usage=counts(get(reply, "usage"), "prompt", "completion"),
    )


def chat_reasoning(message: Any) -> str:
    """Reasoning in the three dialects; the detailed one speaks where it says anything."""
    details = get(message, "reasoning_details") or []
    text = "".join(get(one, "text") or get(one, "summary") or "" for one in details)
    return text or get(message, "reasoning_content") or get(message, "reasoning") or ""


def chat_call(call: Any) -> tuple[str, Any]:
    if get(call, "type") == "custom":
        return get(call, "custom", "name"), Custom(get(call, "custom", "input") or "")
    return get(call, "function", "name"), arguments(get(call, "function", "arguments") or "")


def joined(parts: Iterable[Any]) -> str:
    return "".join(get(part, "text") or "" for part in parts)


# Items for a client to act on, the tool that they are to Messages, and where they say what to do.
ACTIONS = {
    "computer_call": ("computer", "action"),
    "local_shell_call": ("bash", "action"),
    "shell_call": ("bash", "action"),
    "apply_patch_call": ("apply_patch", "operation"),
    "mcp_approval_request": (None, "arguments"),
}


def read_responses(reply: Any) -> Seen:
    seen = Seen(usage=counts(get(reply, "usage"), "input", "output"))
    for item in get(reply, "output") or []:
        kind = get(item, "type")
        if kind == "message":
            parts = get(item, "content") or []
            seen.text += joined(part for part in parts if get(part, "type") == "output_text")
            seen.refusal += "".join(get(part, "refusal") or "" for part in parts)
        elif kind == "function_call":
            seen.calls.append((get(item, "name"), arguments(get(item, "arguments") or "")))
        elif kind == "custom_tool_call":
            seen.calls.append((get(item, "name"), Custom(get(item, "input") or "")))
        elif kind in ACTIONS and get(item, "environment", "type") in (None, "local"):
            name, place = ACTIONS[kind]
            seen.calls.append((name, Action(plain(get(item, place)))))
        elif kind == "reasoning":
            full, summary = (
                "\n\n".join(get(part, "text") or "" for part in get(item, name) or [] if get(part, "text"))
                for name in ("content", "summary")
            )
            if full or summary:
                seen.reasoning.append(full or summary)
                seen.summaries.append(summary if full else "")
    status, reason = get(reply, "status"), get(reply, "incomplete_details", "reason")
    seen.stop = f"{status}/{reason}" if status == "incomplete" and reason else status
    seen.wording = bool(seen.refusal) and status == "completed"
    return seen


def read_messages(reply: Any) -> Seen:
    blocks = get(reply, "content") or []
    texts = [get(block, "text") or "" for block in blocks if get(block, "type") == "text"]
    stop = get(reply, "stop_reason")
    refusal = (get(reply, "stop_details", "explanation") or "") if stop == "refusal" else ""
    wording = bool(refusal) and texts[-1:] == [refusal]
    usage, parts = get(reply, "usage"), ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    fresh, cached, written = (get(usage, name) or 0 for name in parts)
    output, total = get(usage, "output_tokens") or 0, fresh + cached + written
    thought = get(usage, "output_tokens_details", "thinking_tokens") or 0
    thoughts = [get(block, "thinking") for block in blocks if get(block, "type") == "thinking"]
    return Seen(
        text="".join(texts[:-1] if wording else texts),
        calls=[
            (get(block, "name"), arguments(get(block, "input"))) for block in blocks if get(block, "type") == "tool_use"
        ],
        reasoning=[text for text in thoughts if text],
        refusal=refusal,
        wording=wording,
        stop=stop,
        stop_string=get(reply, "stop_sequence"),
        usage=dict(zip(COUNTS, (total, cached, written, output, thought, total + output), strict=True)),
    )


def collect_chat(chunks: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The reply that the chunks of a stream make; the first choice alone."""
    message: dict[str, Any] = {}
    choice = {"index": 0, "message": message, "finish_reason": None}
    reply: dict[str, Any] = {"choices": [choice]}
    calls: list[dict[str, Any]] = []
    places: dict[Any, dict[str, Any]] = {}
    last_usage = False
    for chunk in chunks:
        if chunk.get("error"):
            reply["error"] = chunk["error"]
            break
        if chunk.get("usage") and (not chunk.get("choices") or not last_usage):
            reply["usage"], last_usage = chunk["usage"], not chunk.get("choices")
        for one in chunk.get("choices") or []:
            if one.get("index"):
                continue
            delta = one.get("delta") or {}
            content = delta.get("content")
            if isinstance(content, list):
                add(message, "reasoning", joined(part for piece in content for part in piece.get("thinking") or []))
                content = joined(piece for piece in content if piece.get("type") == "text")
            add(message, "content", content)
            add(message, "refusal", delta.get("refusal"))
            add(message, "reasoning", chat_reasoning(delta))
            if transcript := (delta.get("audio") or {}).get("transcript"):
                add(message.setdefault("audio", {}), "transcript", transcript)
            for piece in delta.get("tool_calls") or []:
                add_call(calls, places, piece)
            for name, text in (delta.get("function_call") or {}).items():
                add(message.setdefault("function_call", {}), name, text)
            choice["finish_reason"] = choice["finish_reason"] or one.get("finish_reason")
            choice |= {name: one[name] for name in ("matched_stop", "stop_reason") if one.get(name)}
    message["tool_calls"] = calls
    return reply


def add(home: dict[str, Any], name: str, text: Any) -> None:
    if isinstance(text, str) and text:
        home[name] = (home.get(name) or "") + text


def add_call(calls: list[dict[str, Any]], places: dict[Any, dict[str, Any]], piece: dict[str, Any]) -> None:
    """A fragment of a call: calls differ by index, or by a new id on a used one; without an index, by id."""
    index, name = piece.get("index"), piece.get("id") or None
    key = ("index", index) if index is not None else ("id", name)
    call = places.get(key) if index is not None or name else (calls[-1] if calls else None)
    if call is None or (name and call["id"] and name != call["id"]):
        call = {"id": name, "type": piece.get("type"), "function": {}, "custom": {}}
        calls.append(call)
        places[key] = call
    for kind in ("function", "custom"):
        part = piece.get(kind) or {}
        call[kind].setdefault("name", part.get("name"))
        add(call[kind], "arguments", part.get("arguments"))
        add(call[kind], "input", part.get("input"))


def collect_responses(events: Iterable[dict[str, Any]], live: bool = False) -> dict[str, Any]:
    """The reply that the events of a stream make: finished items, and those that only the closing snapshot has.

    `live`: what its pieces make, without what finished items and the snapshot say again.
    """
    reply: dict[str, Any] = {"output": []}
    items: dict[int, dict[str, Any]] = {}
    for event in events:
        kind = event.get("type") or ""
        if kind == "error" or event.get("error"):
            reply["error"] = error_in(event)
            if isinstance(event.get("message"), str):
                reply["error"]["type"] = None
            break
        if kind in ("response.completed", "response.incomplete", "response.failed"):
            reply = event["response"] | ({"output": []} if live else {})
            break
        place = event.get("output_index")
        finished = kind == "response.output_item.done" and not live
        if event.get("item") and (finished or kind == "response.output_item.added"):
            items[place] = json.loads(json.dumps(event["item"]))
        elif kind.endswith(".delta") and place in items:
            add_piece(items[place], kind, event)
        elif kind == "response.content_part.added" and place in items:
            part_at(items[place], "content", event.get("content_index")).update(event["part"])
    for place, item in enumerate(reply.get("output") or []):
        items.setdefault(place, item)
    return {**reply, "output": [items[place] for place in sorted(items)]}


PIECES = {
    "response.output_text.delta": ("content", "content_index", {"type": "output_text"}, "text"),
    "response.refusal.delta": ("content", "content_index", {"type": "refusal"}, "refusal"),
    "response.reasoning_text.delta": ("content", "content_index", {"type": "reasoning_text"}, "text"),
    "response.reasoning_summary_text.delta": ("summary", "summary_index", {"type": "summary_text"}, "text"),
}


def add_piece(item: dict[str, Any], kind: str, event: dict[str, Any]) -> None:
    if kind in PIECES:
        home, index, shape, name = PIECES[kind]
        part = part_at(item, home, event.get(index))
        for key, value in shape.items():
            part.setdefault(key, value)
        add(part, name, event.get("delta"))
    elif kind == "response.function_call_arguments.delta":
        add(item, "arguments", event.get("delta"))
    elif kind == "response.custom_tool_call_input.delta":
        add(item, "input", event.get("delta"))


def part_at(item: dict[str, Any], home: str, index: int | None) -> dict[str, Any]:
    parts = item.get(home) or []
    item[home] = parts + [{} for _ in range((index or 0) + 1 - len(parts))]
    part: dict[str, Any] = item[home][index or 0]
    return part


def collect_messages(events: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The message that the events of a stream make."""
    reply: dict[str, Any] = {"usage": {}}
    blocks: dict[int, dict[str, Any]] = {}
    for event in events:
        kind = event.get("type")
        if kind == "error":
            reply["error"] = error_in(event)
            break
        if kind == "message_start":
            reply = dict(event["message"])
            reply["usage"] = dict(reply.get("usage") or {})
        elif kind == "content_block_start":
            blocks[event["index"]] = {**event["content_block"], "pieces": ""}
        elif kind == "content_block_delta" and event["index"] in blocks:
            delta = event["delta"]
            add(blocks[event["index"]], "text", delta.get("text"))
            add(blocks[event["index"]], "thinking", delta.get("thinking"))
            add(blocks[event["index"]], "pieces", delta.get("partial_json"))
        elif kind == "message_delta":
            reply |= event.get("delta") or {}
            reply["usage"] |= {name: count for name, count in (event.get("usage") or {}).items() if count is not None}
    content = [blocks[index] for index in sorted(blocks)]
    for block in content:
        if block["pieces"]:
            block["input"] = block["pieces"]
    return {**reply, "content": [*(reply.get("content") or []), *content]}


READ = {"chat": read_chat, "responses": read_responses, "messages": read_messages}
COLLECT = {"chat": collect_chat, "responses": collect_responses, "messages": collect_messages}


def equal(source_protocol: str, source: Seen, target_protocol: str, target: Seen) -> list[str]:
    """Where a reply in the target differs from what its source makes there; empty if they are equal.

    Of a failed body the error alone is left; of a stream that failed or was cut, all but its end.
    """
    differences = unequal(source_protocol, source, target_protocol, target)
    if target.live:
        live = unequal(source_protocol, source, target_protocol, target.live)
        differences += [f"live {one}" for one in live]
    return differences


def unequal(source_protocol: str, source: Seen, target_protocol: str, target: Seen) -> list[str]:
    """The differences without those of the live view."""
    wanted, found = asdict(expected(source_protocol, source, target_protocol)), asdict(target)
    names = ["text", "calls", "refusal", "stop", "usage"]
    if source.error:
        names = names[:3] if source.kind == "stream" else []
    elif not source.stop:
        names.remove("usage")
    # A total that the source does not say is the target's own.
    wanted["usage"]["total"] = wanted["usage"]["total"] or found["usage"]["total"]
    differences = [
        f"{name}: {short(wanted[name])} became {short(found[name])}"
        for name in names
        if whole(wanted[name]) != whole(found[name])
    ]
    if names and not same_reasoning(source_protocol, source, target_protocol, target):
        differences.append(f"reasoning: {short(source.reasoning)} became {short(target.reasoning)}")
    if not same_error(source_protocol, source, target_protocol, target):
        differences.append(f"error: {short(source.error)} became {short(target.error)}")
    return differences


def whole(value: Any) -> Any:
    """Text whose characters are whole: a client that joins pieces leaves the halves of a cut emoji side by side."""
    if not isinstance(value, str):
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 300 else f"{text[:200]}...{text[-80:]}"


def expected(source_protocol: str, source: Seen, target_protocol: str) -> Seen:
    """What a source should look like to a client of the target."""
    if source_protocol == target_protocol:
        return source
    seen = replace(source, stop=expected_stop(source_protocol, source, target_protocol))
    seen.calls = [
        expected_call(target_protocol, source.kind, *call)
        for call in source.calls
        if not isinstance(call[1], Action) or (call[0] and target_protocol == "messages")
    ]
    seen.usage = expected_usage(source_protocol, source.usage, target_protocol)
    if source_protocol == "messages" and source.kind == "stream" and source.wording:
        # The wording went out as text before the end said that it was a refusal (spec/streams.md §7).
        seen.text, seen.refusal = source.text + source.refusal, ""
    return seen


STOPS = {
    "chat": {
        "stop": ("end_turn", "completed"),
        "length": ("max_tokens", "incomplete/max_output_tokens"),
        "tool_calls": ("tool_use", "completed"),
        "function_call": ("tool_use", "completed"),
        "content_filter": ("refusal", "incomplete/content_filter"),
    },
    "responses": {
        "completed": ("stop", "end_turn"),
        "incomplete": ("length", "max_tokens"),
        "incomplete/max_output_tokens": ("length", "max_tokens"),
        "incomplete/max_messages": ("length", "max_tokens"),
        "incomplete/content_filter": ("content_filter", "refusal"),
        "incomplete/steered": ("stop", "end_turn"),
    },
    "messages": {
        "end_turn": ("stop", "completed"),
        "stop_sequence": ("stop", "completed"),
        "max_tokens": ("length", "incomplete/max_output_tokens"),
        "model_context_window_exceeded": ("length", "incomplete/max_output_tokens"),
        "tool_use": ("tool_calls", "completed"),
        "pause_turn": ("stop", "completed"),
        "compaction": ("stop", "completed"),
        "refusal": ("content_filter", "incomplete/content_filter"),
    },
}
# The order of the two targets in STOPS; the second word is that of an unknown stop.
TARGETS = {
    "chat": {"messages": 0, "responses": 1},
    "responses": {"chat": 0, "messages": 1},
    "messages": {"chat": 0, "responses": 1},
}
NORMAL = {"chat": "stop", "responses": "completed", "messages": "end_turn"}
CALLS = {"chat": "tool_calls", "messages": "tool_use"}


def expected_stop(source_protocol: str, source: Seen, target_protocol: str) -> str | None:
    """The stop of the target, by the tables of spec/responses.md §4 and §9."""
    if source.error or not source.stop or source.stop in ("failed", "cancelled", "in_progress", "queued"):
        return None
    words = STOPS[source_protocol].get(source.stop)
    stop = words[TARGETS[source_protocol][target_protocol]] if words else NORMAL[target_protocol]
    ended = source.stop == NORMAL[source_protocol]
    if source_protocol == "messages" and source.wording:
        return stop if source.kind == "stream" else NORMAL[target_protocol]
    if target_protocol == "messages" and source.wording and ended:
        return "refusal"
    if source_protocol != "messages" and ended and source.calls:
        return CALLS.get(target_protocol, stop)
    if source_protocol == "chat" and target_protocol == "messages" and ended and source.stop_string:
        return "stop_sequence"
    return stop


def expected_usage(source_protocol: str, usage: dict[str, int], target_protocol: str) -> dict[str, int]:
    """Messages has no total of its own and no input below its parts (spec/responses.md §10)."""
    if target_protocol != "messages":
        return usage
    total = max(usage["input"], usage["cached"] + usage["written"])
    return usage | {"input": total, "total": total + usage["output"]}


def expected_call(target_protocol: str, kind: str, name: str, value: Any) -> tuple[str, Any]:
    if target_protocol == "messages" and isinstance(value, Custom):
        value = {"input": value.text}
    elif isinstance(value, Action):
        value = value.value
    elif target_protocol == "messages" and isinstance(value, NoJson) and kind != "stream":
        value = {"_raw": value.text}
    elif target_protocol != "messages" and isinstance(value, dict) and list(value) == ["_raw"] and kind != "stream":
        value = arguments(value["_raw"])
    return legal_name(name, target_protocol), value


def legal_name(name: str, protocol: str) -> str:
    """A tool name that the target takes, by the rule of spec/requests.md §7.1."""
    limit = 128 if protocol == "messages" else 64
    legal = re.sub(r"[^A-Za-z0-9_-]", "_", name or "")
    if legal == name and len(name) <= limit:
        return name
    return f"{legal[: limit - 9]}_{hashlib.sha256((name or '').encode()).hexdigest()[:8]}"


def same_reasoning(source_protocol: str, source: Seen, target_protocol: str, target: Seen) -> bool:
    """Blocks one by one; Chat, which has one place, holds them with a blank line between."""
    if source_protocol == "chat":
        return "".join(source.reasoning) == "".join(target.reasoning)
    ways = [source.reasoning]
    if source.kind == "stream":
        # A summary may have gone out before the full text of its item came (spec/streams.md §10).
        both = zip(source.summaries, source.reasoning, strict=False)
        ways.append(["\n\n".join(text for text in pair if text) for pair in both])
    if target_protocol == "chat":
        return "".join(target.reasoning) in ["\n\n".join(way) for way in ways]
    return target.reasoning in ways


# spec/http.md §5: from Anthropic, the type and the codes that may stand with it.
TO_OPENAI = {
    "invalid_request_error": ("invalid_request_error", {None, "context_length_exceeded"}),
    "authentication_error": ("invalid_request_error", {"invalid_api_key"}),
    "billing_error": ("insufficient_quota", {"insufficient_quota"}),
    "permission_error": ("permission_error", {None}),
    "not_found_error": ("invalid_request_error", {"not_found", "model_not_found"}),
    "conflict_error": ("conflict_error", {None}),
    "request_too_large": ("invalid_request_error", {"request_too_large"}),
    "rate_limit_error": ("rate_limit_error", {"rate_limit_exceeded"}),
    "api_error": ("server_error", {None}),
    "timeout_error": ("server_error", {"timeout"}),
    "overloaded_error": ("service_unavailable_error", {"server_is_overloaded"}),
}
# To Anthropic: the first line that has the code, the type or the status says the type.
TO_ANTHROPIC = [
    ({"invalid_api_key", 401}, "authentication_error"),
    ({"insufficient_quota", "credit_balance_exhausted"}, "billing_error"),
    ({403, "permission_error"}, "permission_error"),
    ({404, "model_not_found", "not_found"}, "not_found_error"),
    ({409, "conflict_error"}, "conflict_error"),
    ({413, "request_too_large"}, "request_too_large"),
    ({429, "rate_limit_exceeded", "rate_limit_error", "slow_down"}, "rate_limit_error"),
    ({408, 504, "timeout"}, "timeout_error"),
    ({503, "service_unavailable_error", "server_is_overloaded", "engine_overloaded"}, "overloaded_error"),
    ({"server_error", "vector_store_timeout", "cancelled", *range(500, 600)}, "api_error"),
    ({400, 422, "invalid_request_error"}, "invalid_request_error"),
]
# The codes of a failed Responses reply that are not the request's fault.
TO_CHAT = {"rate_limit_exceeded": "rate_limit_error", "server_error": "server_error"}
TO_CHAT |= {"vector_store_timeout": "server_error", "cancelled": "server_error"}


def same_error(source_protocol: str, source: Seen, target_protocol: str, target: Seen) -> bool:
    """The message unchanged, the type and code as the tables of spec/http.md §5 say."""
    ours, theirs = source.error, target.error
    if ours is None or theirs is None:
        return ours is theirs
    if ours["message"] != theirs["message"]:
        return False
    if source_protocol == target_protocol:
        return ours == theirs
    if target_protocol == "messages":
        if theirs["code"] not in (None, ours["code"]):
            return False
        failed = source_protocol == "responses" and ours["type"] is None
        known = {ours["code"], TO_CHAT.get(ours["code"], "invalid_request_error") if failed else ours["type"]}
        known |= {source.status}
        return theirs["type"] == next((name for words, name in TO_ANTHROPIC if words & known), "api_error")
    if target_protocol == "responses" and target.kind != "error":
        # A failed reply has a code out of a closed list, which the judges hold it to, and no type.
        return True
    if source_protocol == "messages":
        name, codes = TO_OPENAI.get(ours["type"], (ours["type"], {None}))
        return theirs["type"] == name and theirs["code"] in codes | {ours["code"]}
    if source.kind != "error" and source_protocol == "responses":
        return theirs["type"] == TO_CHAT.get(ours["code"], "invalid_request_error") and theirs["code"] == ours["code"]
    return ours == theirs
