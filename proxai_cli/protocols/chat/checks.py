"""What the schema of Chat Completions does not say: what is refused all the same, and what a stream must keep to.

Source: `spec/requests.md` §12, `spec/streams.md` §3.
"""

import re
from collections.abc import Iterator
from typing import Any

from ...checks import Pairs, arguments, inside, none_left, objects, root_ref, sum_of
from ...context import Finding
from ...ir.events import DONE
from ...ir.limits import MOST_MARKS, breakpoints, refusals

# Fields that the types came to require after replies without them had been sent; where a stop reason stands.
LATER: tuple[tuple[str, ...], ...] = ()
STOPS: tuple[str, ...] = ("finish_reason",)
# Models that refuse tools beside an effort.
_NO_EFFORT_WITH_TOOLS = re.compile(r"gpt-(5\.([4-9]|\d\d)|[6-9])")


def request(body: dict[str, Any]) -> Iterator[Finding]:
    """What the API refuses in a request that has the right shape."""
    yield from _pairs(body)
    yield from none_left(body, "messages")
    tools = objects(body.get("tools"))
    for at, tool in tools:
        yield from root_ref(inside(tool, "function", "parameters"), "tools", at, "function", "parameters")
    form = ("response_format", "json_schema", "schema")
    yield from root_ref(inside(body, *form), *form)
    names = [inside(tool, kind, "name") for _, tool in tools for kind in ("function", "custom")]
    for kind in ("function", "custom"):
        chosen = inside(body, "tool_choice", kind, "name")
        if chosen is not None and chosen not in names:
            yield Finding("unknown-choice", ("tool_choice", kind, "name"))
    effort, model = body.get("reasoning_effort"), body.get("model")
    functions = any("function" in tool for _, tool in tools)
    if functions and effort not in (None, "none") and isinstance(model, str) and _NO_EFFORT_WITH_TOOLS.match(model):
        yield Finding("tools-with-effort", ("reasoning_effort",))
    if breakpoints(body.get("messages")) > MOST_MARKS:
        yield Finding("too-many-cache-marks", ("messages",))
    for code in refusals(body):
        yield Finding(code, ("metadata",) if code == "too-long" else ("model",))


def _pairs(body: dict[str, Any]) -> Iterator[Finding]:
    pairs = Pairs()
    for at, message in objects(body.get("messages")):
        if message.get("role") == "tool":
            yield from pairs.result(message.get("tool_call_id"), "messages", at, "tool_call_id")
            continue
        yield from pairs.end()
        for place, call in objects(message.get("tool_calls")):
            pairs.call(call.get("id"), "messages", at, "tool_calls", place, "id")
    yield from pairs.end()


def response(body: dict[str, Any]) -> Iterator[Finding]:
    """What is odd in a reply that has the right shape."""
    choices = objects(body.get("choices"))
    messages = [inside(choice, "message") for _, choice in choices]
    if not any(message[key] for message in messages if isinstance(message, dict) for key in message if key != "role"):
        yield Finding("empty-reply", ("choices",))
    for at, choice in choices:
        calls = objects(inside(choice, "message", "tool_calls"))
        for place, call in calls:
            path = ("choices", at, "message", "tool_calls", place, "function", "arguments")
            yield from arguments(inside(call, "function", "arguments"), *path)
        if calls and choice.get("finish_reason") == "stop":
            yield Finding("stop-with-calls", ("choices", at, "finish_reason"))
    if body.get("usage") is None:
        yield Finding("usage-missing", ("usage",))
    yield from sum_of(body.get("usage"), "total_tokens", ("prompt_tokens", "completion_tokens"), "usage")


def event_kind(event: dict[str, Any]) -> str | None:
    """By which schema an event is judged: an error in a stream is one as a body is."""
    return "error" if "error" in event and "choices" not in event else "stream"


class Grammar:
    """What the decoder is too patient to say: repeated words, indexes with gaps, `[DONE]` once more.

    State: the calls of each choice by index, whether there were token counts, whether `[DONE]` was said.
    """

    def __init__(self) -> None:
        self.calls: dict[Any, dict[Any, Any]] = {}
        self.usage = self.done = False

    def feed(self, event: Any) -> Iterator[Finding]:
        if event is DONE:
            if self.done:
                yield Finding("extra-done", None, "`[DONE]` stands twice")
            self.done = True
            return
        self.usage = self.usage or event.get("usage") is not None
        for at, choice in objects(event.get("choices")):
            calls = self.calls.setdefault(str(choice.get("index")), {})
            for place, call in objects(inside(choice, "delta", "tool_calls")):
                path = ("choices", at, "delta", "tool_calls", place)
                index, name = call.get("index"), inside(call, "function", "name")
                if not isinstance(index, int):
                    continue
                if index not in calls and index > len(calls):
                    yield Finding("index-gap", (*path, "index"), f"expected {len(calls)}, got {index}")
                elif index in calls and call.get("id") and call["id"] == calls[index][0]:
                    yield Finding("call-repeats", (*path, "id"))
                elif index in calls and name and name == calls[index][1] and not call.get("id"):
                    yield Finding("call-repeats", (*path, "function", "name"))
                if index not in calls or call.get("id"):
                    calls[index] = call.get("id"), name
            if calls and choice.get("finish_reason") == "stop":
                yield Finding("stop-with-calls", ("choices", at, "finish_reason"))
