"""Faults that hostile captures have shown, one test for each kind of them."""

import sys
from pathlib import Path
from typing import Any

import pytest

from proxai_cli import collect
from proxai_cli.ledger import size

from .captures import FIXTURES
from .clients import equal, read_stream, seen_in
from .small import answer, stream_of, streamed
from .test_bad_input import proxai
from .test_laws import _normal as normal

ITEM = {"type": "function_call", "name": "look", "arguments": "{}", "status": "completed"}
COUNTED = {"input_tokens": 10, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 3, "output_tokens": 1}


def said_by_messages(*blocks: Any, ends: tuple[dict[str, Any], ...] = ({"output_tokens": 7},)) -> list[Any]:
    """A Messages stream with these blocks, each sent as one event, and one `message_delta` for each usage."""
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": dict(COUNTED)}
    events: list[Any] = [{"type": "message_start", "message": message}]
    for at, block in enumerate(blocks):
        events += [{"type": "content_block_start", "index": at, "content_block": block}]
        events += [{"type": "content_block_stop", "index": at}]
    for usage in ends:
        end = {"stop_reason": "end_turn", "stop_sequence": None}
        events.append({"type": "message_delta", "delta": end, "usage": usage})
    return [*events, {"type": "message_stop"}]


def chunk(delta: Any, stop: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": stop}
    return {"id": "c", "object": "chat.completion.chunk", "created": 5, "model": "m", "choices": [choice], **more}


def call(index: int, id: str, arguments: str) -> dict[str, Any]:
    function = {"name": "look", "arguments": arguments}
    return {"index": index, "id": id, "type": "function", "function": function}


@pytest.mark.parametrize("second", [{"output_tokens": 9}, {"input_tokens": 11, "output_tokens": 9}])
def test_counts_of_a_second_usage_replace_the_earlier_ones_one_by_one(second: dict[str, Any]) -> None:
    out, _ = streamed(said_by_messages(ends=({"output_tokens": 7}, second)), "messages", "responses")
    usage = out[-1]["response"]["usage"]
    total = second.get("input_tokens", 10) + 5
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (total, 9, total + 9)
    assert usage["input_tokens_details"] == {"cached_tokens": 3, "cache_write_tokens": 2}


def test_calls_that_share_an_id_are_items_of_their_own() -> None:
    ids = ["call_1", "call_1", "", "", "x" * 200, "x" * 200]
    calls = [call(at, id, "{}") for at, id in enumerate(ids)]
    fed = [chunk({"role": "assistant"}), chunk({"tool_calls": calls}), chunk({}, "tool_calls")]
    out, _ = streamed(fed, "chat", "responses")
    assert len({item["id"] for item in out[-1]["response"]["output"]}) == len(ids)
    seen = read_stream("responses", b"".join(_bytes(out)))
    assert not equal("chat", seen_in("chat", "stream", fed), "responses", seen)
    body = collect(fed, "chat", "responses").value
    assert normal(body["output"]) == normal(collect(out, "responses").value["output"])


def _bytes(events: list[Any]) -> list[bytes]:
    from proxai_cli.pipe import written

    return [written(events, "responses")]


@pytest.mark.parametrize("target", ["chat", "responses"])
def test_an_empty_text_is_the_same_in_a_stream_and_in_its_body(target: str) -> None:
    fed = said_by_messages({"type": "text", "text": ""}, {"type": "text", "text": "Hi"}, {"type": "text", "text": ""})
    out, _ = streamed(fed, "messages", target)
    assert normal(collect(fed, "messages", target).value) == normal(collect(out, target).value)


def test_an_event_without_keys_is_noise_in_a_collected_stream() -> None:
    fed = said_by_messages({"type": "text", "text": "Hi"})
    entries = collect([fed[0], {}, *fed[1:]], "messages", "chat").ledger.entries
    assert [(entry.fate, entry.why) for entry in entries if entry.source == (1,)] == [("dropped", "noise")]


def test_a_word_of_another_shape_does_not_stand_where_the_right_one_does() -> None:
    fed = said_by_messages({"type": "text", "text": "Hi"}, ends=("none",))  # type: ignore[arg-type]
    done = collect(fed, "messages")
    assert sum(entry.theirs for entry in done.ledger.entries) == size(done.value)
    assert done.value["usage"] == COUNTED


def test_the_name_of_a_file_does_not_steer_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[31m\nb.json"
    path.write_bytes((FIXTURES / "chat/sampling-and-metadata/request.json").read_bytes())
    done = proxai("convert", str(path), "--to", "messages")
    assert done.returncode == 0 and b"details:" in done.stderr and b"\x1b" not in done.stderr
    assert b"a\\x1b[31m\\nb.json" in done.stderr


@pytest.mark.parametrize("number", ["100", "-1", "9" * 5000, "²"])
def test_an_indent_that_no_reader_wants(number: str) -> None:
    done = proxai("convert", str(FIXTURES / "chat/plain-text/request.json"), "--to", "messages", "--indent", number)
    assert done.returncode == 2 and b"error[bad-call]" in done.stderr


def many_calls(protocol: str, count: int) -> list[Any]:
    """A stream of many calls, of Chat all at the same time."""
    if protocol == "chat":
        calls = [chunk({"tool_calls": [call(at, f"call_{at}", "{}")]}) for at in range(count)]
        return [chunk({"role": "assistant"}), *calls, chunk({}, "tool_calls")]
    return stream_of(
        answer(protocol, [{**ITEM, "id": f"fc_{at}", "call_id": f"call_{at}"} for at in range(count)]), protocol
    )


@pytest.mark.parametrize("source", ["chat", "responses"])
def test_work_does_not_grow_faster_than_the_number_of_calls(source: str) -> None:
    """Counted in instructions of the decoder, for a scan within one of its lines calls no function."""
    few, many = (instructions(many_calls(source, count), source) for count in (40, 160))
    assert many < 4.4 * few


def instructions(fed: list[Any], source: str) -> int:
    """How many instructions the decoders run for a stream."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        frame.f_trace_opcodes = True
        return note if frame.f_code.co_filename.endswith(("decoder.py", "items.py")) else None

    before = sys.gettrace()
    sys.settrace(note)
    try:
        streamed(fed, source, "messages")
    finally:
        sys.settrace(before)
    return count


def test_a_refusal_that_resumes_is_explained_by_its_last_part() -> None:
    said = [{"refusal": "I would"}, {"refusal": " rather"}, {"content": "Well."}, {"refusal": "not"}, {"refusal": "."}]
    fed = [chunk({"role": "assistant"}), *map(chunk, said), chunk({}, "stop")]
    out, _ = streamed(fed, "chat", "messages")
    body = collect(fed, "chat", "messages").value
    assert body["stop_details"]["explanation"] == body["content"][-1]["text"] == "not."
    assert normal(collect(out, "messages").value) == normal(body)
