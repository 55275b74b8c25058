"""Small documents of the three protocols for tables of tests, and their translations, whose accounts are looked at."""

from typing import Any

from proxai_cli import Context, StreamTranslator, explode, text, translate
from proxai_cli.errors import ProxaiError
from proxai_cli.ir.events import DONE
from proxai_cli.ledger import size
from proxai_cli.translate import Translation

THREE = ("chat", "responses", "messages")
SIX = [(source, target) for source in THREE for target in THREE if source != target]
USER = {"role": "user", "content": "Hi"}
USAGE = {
    "chat": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    "responses": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
    "messages": {"input_tokens": 3, "output_tokens": 2},
}


def ask(protocol: str, *turns: Any, **fields: Any) -> dict[str, Any]:
    """A request with these messages or items (one of the user by default) and fields."""
    limit = {"max_tokens": 9} if protocol == "messages" else {}
    home = "input" if protocol == "responses" else "messages"
    return {"model": "m", **limit, home: list(turns) or [USER], **fields}


def answer(protocol: str, said: Any, stop: str | None = None, **fields: Any) -> dict[str, Any]:
    """A reply. `said` is a chat message without its role, or a list of blocks or items; `stop` the protocol's word."""
    used = {"model": "m", "usage": USAGE[protocol]}
    if protocol == "chat":
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": None, **said},
            "finish_reason": stop or "stop",
        }
        return {"id": "chatcmpl-1", "object": "chat.completion", "created": 5, **used, "choices": [choice], **fields}
    if protocol == "messages":
        envelope = {"id": "msg_1", "type": "message", "role": "assistant", "stop_sequence": None}
        return {**envelope, **used, "content": said, "stop_reason": stop or "end_turn", **fields}
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 5,
        **used,
        "status": stop or "completed",
        "output": said,
        **fields,
    }


def message(*parts: Any, id: str = "msg_r") -> dict[str, Any]:
    """A Responses message item with these texts, or parts."""
    content = [
        {"type": "output_text", "annotations": [], "text": part} if isinstance(part, str) else part for part in parts
    ]
    return {"id": id, "type": "message", "status": "completed", "role": "assistant", "content": content}


def said_text(protocol: str, words: str) -> Any:
    """What a reply with one text has as its content."""
    return {"chat": {"content": words}, "responses": [message(words)], "messages": [{"type": "text", "text": words}]}[
        protocol
    ]


def called(protocol: str, arguments: str = '{"x":1}', id: str = "call_1") -> Any:
    """What a reply with one call has as its content."""
    return {
        "chat": {"tool_calls": [{"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}}]},
        "responses": [
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": id,
                "name": "f",
                "arguments": arguments,
                "status": "completed",
            }
        ],
        "messages": [{"type": "tool_use", "id": id, "name": "f", "input": parsed(arguments)}],
    }[protocol]


def parsed(arguments: str) -> Any:
    try:
        return text.loads(arguments)
    except ProxaiError:
        return None


def with_call(protocol: str, arguments: str = "{}", id: str = "call_1", result: str | None = "r") -> dict[str, Any]:
    """A request whose history holds a call, with its result unless that is None."""
    said = called(protocol, arguments, id)
    if protocol == "responses":
        back = [{"type": "function_call_output", "call_id": id, "output": result}]
        return ask(protocol, USER, *said, *(back if result is not None else []))
    call = (
        {"role": "assistant", "content": None, **said} if protocol == "chat" else {"role": "assistant", "content": said}
    )
    answered = (
        {"role": "tool", "tool_call_id": id, "content": result}
        if protocol == "chat"
        else {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": result}]}
    )
    return ask(protocol, USER, call, *([answered] if result is not None else []))


def stop_of(protocol: str, value: Any) -> Any:
    """The word for the end of a reply, in Responses with its reason; of an error body its code or type."""
    if value.get("error"):
        return "error", value["error"].get("code") or value["error"]["type"]
    if protocol == "chat":
        return at(value, "choices", 0, "finish_reason")
    if protocol == "messages":
        return value["stop_reason"]
    reason = at(value, "incomplete_details", "reason")
    return f"{value['status']}/{reason}" if reason else value["status"]


def context(choices: dict[str, str] | None, **known: Any) -> Context:
    return Context(choices=choices or {}, **known)


def told(
    value: Any, source: str, target: str, kind: str = "request", choices: dict[str, str] | None = None, **known: Any
) -> Translation:
    """A translation whose account balances and holds nothing unexplained; `known` are other fields of the context."""
    done = translate(value, source, target, kind, context(choices, **known))
    entries = done.ledger.entries
    assert sum(entry.ours for entry in entries) == size(value)
    assert sum(entry.theirs for entry in entries) == size(done.value)
    assert not [entry for entry in entries if entry.level == "unexplained"]
    return done


def streamed(
    fed: list[Any], source: str, target: str, choices: dict[str, str] | None = None, **known: Any
) -> tuple[list[Any], StreamTranslator]:
    """What a stream of parsed events becomes, and the translator with its account, in which nothing is unexplained."""
    translator = StreamTranslator(source, target, context(choices, **known))
    out = [wire for event in fed for wire in translator.feed(event)] + translator.close()
    assert not [key for key in translator.account if key[-1] == "unexplained"]
    return out, translator


def stream_of(reply: Any, protocol: str) -> list[Any]:
    """A reply as the events of its own protocol's stream."""
    return list(explode(reply, protocol).value)


def wire(events: list[Any]) -> list[dict[str, Any]]:
    """The events without the `[DONE]` line."""
    return [event for event in events if event is not DONE]


def at(value: Any, *path: Any) -> Any:
    """What stands at a path; None where nothing does."""
    for key in path:
        inside = isinstance(value, list) and isinstance(key, int) and -len(value) <= key < len(value)
        value = value[key] if inside else value.get(key) if isinstance(value, dict) else None
    return value


def reasons(done: Translation, *source: Any) -> list[tuple[str, str | None]]:
    """Fate and reason of every line of the account about a source path."""
    return [(entry.fate, entry.why) for entry in done.ledger.entries if entry.source == source]


def findings(found: Any) -> list[str]:
    """The codes of what was noticed."""
    return [finding.code for finding in found.findings]
