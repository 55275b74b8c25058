"""No codec does work that grows faster than its input, and a stream's memory does not grow with it.

Work is counted as calls of functions, which is the same on every machine; nothing here looks at a clock.
"""

import sys
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from proxai_cli import PROTOCOLS, StreamTranslator, translate

PAIRS = [(source, target) for source in PROTOCOLS for target in PROTOCOLS if source != target]
SIZES = (40, 80, 160)
# Twice the input may cost twice the work, and a little for what is looked up in a longer list.
MOST = 2.3


def calls(work: Callable[[], Any]) -> int:
    """How many calls, of functions in Python or C, a piece of work makes."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def requests(protocol: str, size: int) -> dict[str, Any]:
    """A conversation of many turns with parallel calls, and many tools."""
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    if protocol == "chat":
        turns: list[Any] = [{"role": "system", "content": "Be brief."}]
        for n in range(size):
            ids = [f"call_{n}_a", f"call_{n}_b"]
            made = [
                {"id": i, "type": "function", "function": {"name": "look", "arguments": '{"city":"Oslo"}'}} for i in ids
            ]
            turns += [{"role": "user", "content": "And?"}, {"role": "assistant", "content": None, "tool_calls": made}]
            turns += [{"role": "tool", "tool_call_id": i, "content": "rain"} for i in reversed(ids)]
        tools = [{"type": "function", "function": {"name": f"t{n}", "parameters": schema}} for n in range(size)]
        return {"model": "m", "messages": turns, "tools": tools}
    if protocol == "responses":
        items: list[Any] = []
        for n in range(size):
            items += [{"role": "user", "content": "And?"}]
            items += [
                {"type": "function_call", "call_id": f"call_{n}_{x}", "name": "look", "arguments": '{"city":"Oslo"}'}
                for x in "ab"
            ]
            items += [{"type": "function_call_output", "call_id": f"call_{n}_{x}", "output": "rain"} for x in "ba"]
        tools = [{"type": "function", "name": f"t{n}", "parameters": schema, "strict": False} for n in range(size)]
        return {"model": "m", "input": items, "tools": tools}
    turns = []
    for n in range(size):
        uses = [{"type": "tool_use", "id": f"toolu_{n}_{x}", "name": "look", "input": {"city": "Oslo"}} for x in "ab"]
        results = [{"type": "tool_result", "tool_use_id": f"toolu_{n}_{x}", "content": "rain"} for x in "ba"]
        turns += [
            {"role": "user", "content": "And?"},
            {"role": "assistant", "content": uses},
            {"role": "user", "content": results},
        ]
    tools = [{"name": f"t{n}", "input_schema": schema} for n in range(size)]
    return {"model": "m", "max_tokens": 9, "messages": turns, "tools": tools}


def replies(protocol: str, size: int) -> dict[str, Any]:
    """A reply of many calls."""
    if protocol == "chat":
        made = [
            {"id": f"call_{n}", "type": "function", "function": {"name": "look", "arguments": '{"n":1}'}}
            for n in range(size)
        ]
        message = {"role": "assistant", "content": "word " * size, "refusal": None, "tool_calls": made}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls", "logprobs": None}
        return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    if protocol == "responses":
        items = [
            {
                "type": "function_call",
                "id": f"fc_{n}",
                "call_id": f"call_{n}",
                "name": "look",
                "arguments": "{}",
                "status": "completed",
            }
            for n in range(size)
        ]
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "model": "m",
            "status": "completed",
            "output": items,
        }
    uses = [{"type": "tool_use", "id": f"toolu_{n}", "name": "look", "input": {"n": 1}} for n in range(size)]
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "a"}, *uses],
        "stop_reason": "tool_use", "stop_sequence": None, "usage": usage,
    }  # fmt: skip


def long_text(protocol: str, size: int) -> Iterator[Any]:
    """A stream of one text in many pieces, then its end."""
    if protocol == "chat":
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        for _ in range(size):
            yield {**head, "choices": [{"index": 0, "delta": {"content": "word "}, "finish_reason": None}]}
        yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    elif protocol == "responses":
        response = {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "model": "m",
            "status": "in_progress",
            "output": [],
        }
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []}
        at = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
        part = {"type": "output_text", "text": "", "annotations": []}
        whole = "word " * size
        events: list[Any] = [{"type": "response.created", "response": response}]
        events += [{"type": "response.output_item.added", "output_index": 0, "item": item}]
        events += [{"type": "response.content_part.added", **at, "part": part}]
        yield from events
        for _ in range(size):
            yield {"type": "response.output_text.delta", **at, "delta": "word ", "logprobs": []}
        done = {**part, "text": whole}
        yield {"type": "response.output_text.done", **at, "text": whole, "logprobs": []}
        yield {"type": "response.content_part.done", **at, "part": done}
        finished = {**item, "status": "completed", "content": [done]}
        yield {"type": "response.output_item.done", "output_index": 0, "item": finished}
        yield {"type": "response.completed", "response": {**response, "status": "completed", "output": [finished]}}
    else:
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
        yield {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}}
        yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        for _ in range(size):
            yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "word "}}
        yield {"type": "content_block_stop", "index": 0}
        yield {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 1},
        }
        yield {"type": "message_stop"}


def streamed(source: str, target: str, size: int) -> None:
    translator = StreamTranslator(source, target)
    for event in long_text(source, size):
        translator.feed(event)
    translator.close()
    assert translator.complete


def straight(work: Callable[[int], Any]) -> None:
    work(SIZES[0])  # what is loaded or built once is not counted
    small, middle, large = (calls(lambda size=size: work(size)) for size in SIZES)  # type: ignore[misc]
    assert middle < MOST * small and large < MOST * middle, (small, middle, large)


@pytest.mark.parametrize(("source", "target"), PAIRS)
@pytest.mark.parametrize(("kind", "made"), [("request", requests), ("response", replies)])
def test_bodies(kind: str, made: Any, source: str, target: str) -> None:
    straight(lambda size: translate(made(source, size), source, target, kind))


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_streams(source: str, target: str) -> None:
    straight(lambda size: streamed(source, target, size))


@pytest.mark.parametrize(("source", "target"), [pair for pair in PAIRS if pair[1] != "responses"])
def test_memory_does_not_grow_with_a_stream(source: str, target: str) -> None:
    def peak(size: int) -> int:
        tracemalloc.start()
        try:
            streamed(source, target, size)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(500)
    # The text of the open block is held for its citations, sixteen bytes a piece, a tenth of what one event takes; and
    # a Responses source repeats the text itself at its end.
    held = 3500 * (60 if source == "responses" else 16)
    assert peak(4000) < 1.3 * peak(500) + held


def test_quadratic_work_is_seen() -> None:
    with pytest.raises(AssertionError):
        straight(lambda size: [abs(n) for n in range(size) for _ in range(size)])
