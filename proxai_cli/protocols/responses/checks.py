"""What the schema of Responses does not say: what is refused all the same, and what a stream must keep to.

Source: `spec/requests.md` §12, `spec/streams.md` §3.
"""

from collections.abc import Iterator
from typing import Any

from ...checks import Pairs, arguments, inside, objects, root_ref, sum_of
from ...context import Finding
from ...ir.events import DONE
from ...ir.limits import MOST_MARKS, breakpoints, refusals

# Fields that the types came to require after replies without them had been sent; where a stop reason stands.
LATER: tuple[tuple[str, ...], ...] = (("input_tokens_details", "cache_write_tokens"),)
STOPS: tuple[str, ...] = ("status", "reason")
CALLS = ("function_call", "custom_tool_call")
# Where a request points to what the server knows, calls may stand there.
_ELSEWHERE = ("previous_response_id", "conversation")


def request(body: dict[str, Any]) -> Iterator[Finding]:
    """What the API refuses in a request that has the right shape."""
    yield from _pairs(body)
    tools = objects(body.get("tools"))
    for at, tool in tools:
        yield from root_ref(tool.get("parameters"), "tools", at, "parameters")
    form = ("text", "format", "schema")
    yield from root_ref(inside(body, *form), *form)
    chosen = inside(body, "tool_choice", "name")
    named = inside(body, "tool_choice", "type") in ("function", "custom")
    if named and chosen is not None and chosen not in [tool.get("name") for _, tool in tools]:
        yield Finding("unknown-choice", ("tool_choice", "name"))
    if breakpoints(body.get("input")) > MOST_MARKS:
        yield Finding("too-many-cache-marks", ("input",))
    for code in refusals(body):
        yield Finding(code, ("metadata",) if code == "too-long" else ("model",))


def _pairs(body: dict[str, Any]) -> Iterator[Finding]:
    items = objects(body.get("input"))
    elsewhere = any(body.get(key) for key in _ELSEWHERE) or any(
        item.get("type") in ("item_reference", None) and "id" in item and "role" not in item for _, item in items
    )
    pairs = Pairs()
    for at, item in items:
        kind = item.get("type")
        if kind in CALLS:
            pairs.call(item.get("call_id"), "input", at, "call_id")
        elif kind in [f"{call}_output" for call in CALLS]:
            found = pairs.result(item.get("call_id"), "input", at, "call_id")
            yield from () if elsewhere else found
    yield from pairs.end()


def response(body: dict[str, Any]) -> Iterator[Finding]:
    """What is odd in a reply that has the right shape."""
    if body.get("status") in (None, "completed"):
        if not body.get("output"):
            yield Finding("empty-reply", ("output",))
        if body.get("usage") is None:
            yield Finding("usage-missing", ("usage",))
    for at, item in objects(body.get("output")):
        if item.get("type") == "function_call":
            yield from arguments(item.get("arguments"), "output", at, "arguments")
    yield from sum_of(body.get("usage"), "total_tokens", ("input_tokens", "output_tokens"), "usage")


def event_kind(event: dict[str, Any]) -> str | None:
    """By which schema an event is judged: all of them are named in the stream's own."""
    return "stream"


class Grammar:
    """What the decoder is too patient to say: indexes with gaps, items that change their id or are left out at the end.

    State: the ids of the items by their index, whether there were token counts, whether there was an event at all.
    """

    def __init__(self) -> None:
        self.items: dict[Any, Any] = {}
        self.usage = self.begun = False

    def feed(self, event: Any) -> Iterator[Finding]:
        if event is DONE:
            yield Finding("extra-done", None, "this protocol has no `[DONE]`")
            return
        kind, index, item = event.get("type"), event.get("output_index"), event.get("item")
        if not self.begun and kind in ("response.queued", "response.in_progress"):
            yield Finding("no-start", None, "`response.created` does not come first; official clients stop here")
        self.begun = True
        if kind == "response.output_item.added" and isinstance(index, int):
            if index not in self.items and index > len(self.items):
                yield Finding("index-gap", ("output_index",), f"expected {len(self.items)}, got {index}")
            self.items[index] = inside(item, "id")
        elif kind == "response.output_item.done" and isinstance(index, int):
            id = inside(item, "id")
            if index in self.items and id is not None and self.items[index] not in (None, id):
                yield Finding("id-changes", ("item", "id"), "the item had another id when it was added")
        elif kind in ("response.completed", "response.incomplete"):
            yield from self._end(event)

    def _end(self, event: dict[str, Any]) -> Iterator[Finding]:
        self.usage = inside(event, "response", "usage") is not None
        output = inside(event, "response", "output")
        if isinstance(output, list) and len(output) < len(self.items):
            said = f"{len(self.items)} items came, the closing event has {len(output)}"
            yield Finding("snapshot-short", ("response", "output"), said)
