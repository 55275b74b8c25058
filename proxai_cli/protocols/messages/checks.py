"""What the schema of Messages does not say: what is refused all the same, and what a stream must keep to.

Source: `spec/requests.md` §12, `spec/streams.md` §3.
"""

import re
from collections.abc import Iterator
from typing import Any

from ...checks import Pairs, inside, none_left, objects, root_ref
from ...context import Finding
from ...ir.events import DONE
from .request import MOST_MARKS, MOST_MESSAGES, marks

# Fields that the types came to require after replies without them had been sent; where a stop reason stands.
LATER: tuple[tuple[str, ...], ...] = ()
STOPS: tuple[str, ...] = ("stop_reason",)
# Models that refuse to continue the assistant's words: those of 4.6 and later.
_NO_PREFILL = re.compile(r"claude-[a-z]+-(4-([6-9]|\d\d)\b|[5-9]\b)")


def request(body: dict[str, Any]) -> Iterator[Finding]:
    """What the API refuses in a request that has the right shape."""
    messages = objects(body.get("messages"))
    yield from _pairs(messages)
    yield from none_left(body, "messages")
    tools = objects(body.get("tools"))
    for at, tool in tools:
        yield from root_ref(tool.get("input_schema"), "tools", at, "input_schema")
    form = ("output_config", "format", "schema")
    yield from root_ref(inside(body, *form), *form)
    chosen = inside(body, "tool_choice", "name")
    if chosen is not None and chosen not in [tool.get("name") for _, tool in tools]:
        yield Finding("unknown-choice", ("tool_choice", "name"))
    if marks(body) > MOST_MARKS:
        yield Finding("too-many-cache-marks", ())
    if len(messages) > MOST_MESSAGES:
        yield Finding("too-many-messages", ("messages",))
    for at, message in messages:
        if message.get("content") in ("", []) and (at < len(messages) - 1 or message.get("role") != "assistant"):
            yield Finding("empty-turn", ("messages", at, "content"), "a message without content, which the API refuses")
    if messages and messages[-1][1].get("role") == "assistant":
        yield from _last(body.get("model"), *messages[-1])


def _last(model: Any, at: int, message: dict[str, Any]) -> Iterator[Finding]:
    """A conversation that ends with the assistant's words."""
    if isinstance(model, str) and _NO_PREFILL.search(model):
        yield Finding("prefill", ("messages", at))
    content = message.get("content")
    text = (
        content if isinstance(content, str) else inside(next((each for _, each in objects(content)[-1:]), None), "text")
    )
    if isinstance(text, str) and text != text.rstrip():
        yield Finding("prefill-space", ("messages", at, "content"))


def _pairs(messages: list[tuple[int, dict[str, Any]]]) -> Iterator[Finding]:
    pairs, answering = Pairs(), False
    for at, message in messages:
        if message.get("role") == "assistant" and answering:
            yield from pairs.end()
        answering = message.get("role") == "user"
        for place, block in objects(message.get("content")):
            path = ("messages", at, "content", place)
            if block.get("type") == "tool_use" and not answering:
                pairs.call(block.get("id"), *path, "id")
            elif block.get("type") == "tool_result" and answering:
                yield from pairs.result(block.get("tool_use_id"), *path, "tool_use_id")
    yield from pairs.end()


def response(body: dict[str, Any]) -> Iterator[Finding]:
    """What is odd in a reply that has the right shape."""
    if body.get("content") == []:
        yield Finding("empty-reply", ("content",))
    calls = any(block.get("type") == "tool_use" for _, block in objects(body.get("content")))
    if calls and body.get("stop_reason") == "end_turn":
        yield Finding("end-with-calls", ("stop_reason",))
    if body.get("usage") is None:
        yield Finding("usage-missing", ("usage",))


def event_kind(event: dict[str, Any]) -> str | None:
    """By which schema an event is judged: an error in a stream is one as a body is; a ping has none."""
    return {"ping": None, "error": "error"}.get(str(event.get("type")), "stream")


class Grammar:
    """What the decoder is too patient to say: blocks that overlap, indexes with gaps, blocks after the stop reason.

    State: the blocks that are open and how many there were, whether one was a call, whether a stop reason and token
    counts were said.
    """

    def __init__(self) -> None:
        self.open: set[Any] = set()
        self.count = 0
        self.usage = self.stopped = self.called = False

    def feed(self, event: Any) -> Iterator[Finding]:
        if event is DONE:
            yield Finding("extra-done", None, "this protocol has no `[DONE]`")
            return
        kind, index = event.get("type"), event.get("index")
        if isinstance(kind, str) and kind.startswith("content_block_") and self.stopped:
            yield Finding("after-finish")
        if kind == "message_start":
            self.usage = inside(event, "message", "usage") is not None
        elif kind == "content_block_start":
            if isinstance(index, int) and index > self.count:
                yield Finding("index-gap", ("index",), f"expected {self.count}, got {index}")
            if self.open - {str(index)}:
                yield Finding("blocks-overlap", ("index",))
            self.open.add(str(index))
            self.called = self.called or inside(event, "content_block", "type") == "tool_use"
            self.count += 1
        elif kind == "content_block_stop":
            self.open.discard(str(index))
        elif kind == "message_delta":
            self.usage = self.usage or event.get("usage") is not None
            self.stopped = self.stopped or inside(event, "delta", "stop_reason") is not None
            if self.called and inside(event, "delta", "stop_reason") == "end_turn":
                yield Finding("end-with-calls", ("delta", "stop_reason"))
        elif kind == "message_stop" and not self.stopped:
            yield Finding("event-order", None, "`message_stop` comes without a stop reason before it")
