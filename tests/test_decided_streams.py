"""What was decided about streams (`spec/decisions.md`)."""

import copy
from typing import Any

import pytest

from proxai_cli import Pipe, collect, explode
from proxai_cli.ir.events import DONE
from proxai_cli.ledger import size
from proxai_cli.pipe import written

from .small import (
    SIX,
    answer,
    at,
    called,
    said_text,
    stop_of,
    stream_of,
    streamed,
    wire,
)

# D3: sources may interleave, what goes to Messages does not, unless --interleave asks for it.


def fragment(index: int, arguments: str, name: str | None = None) -> dict[str, Any]:
    """A chunk with one piece of a call; the first names it."""
    first = {"id": f"call_{name}", "type": "function"} if name else {}
    function = {"name": name, "arguments": arguments} if name else {"arguments": arguments}
    return chunk({"tool_calls": [{"index": index, **first, "function": function}]})


def chunk(delta: Any, stop: str | None = None, **more: Any) -> dict[str, Any]:
    choices = [{"index": 0, "delta": delta, "finish_reason": stop}]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 5,
        "model": "m",
        "choices": choices,
        **more,
    }


CROSSED = [
    chunk({"role": "assistant", "content": "Looking"}),
    fragment(0, "", "wind"),
    fragment(1, "", "rain"),
    fragment(0, '{"at":'),
    fragment(1, '{"in":'),
    fragment(0, '"Oslo"}'),
    fragment(1, '"Bergen"}'),
    chunk({}, "tool_calls"),
    DONE,
]


def blocks(events: list[Any]) -> list[tuple[str, int]]:
    """The events of blocks in a Messages stream: `+` for a start, `.` for a delta, `-` for a stop, and the index."""
    marks = {"content_block_start": "+", "content_block_delta": ".", "content_block_stop": "-"}
    return [(marks[event["type"]], event["index"]) for event in events if event["type"] in marks]


def test_stream_chat_interleaved_tools() -> None:
    whole, _ = streamed(CROSSED, "chat", "messages")
    crossed, _ = streamed(CROSSED, "chat", "messages", {"interleave": "true"})
    spelled = lambda events: " ".join(f"{mark}{index}" for mark, index in blocks(events))  # noqa: E731
    assert spelled(whole) == "+0 .0 -0 +1 .1 .1 -1 +2 .2 .2 -2"
    assert spelled(crossed) == "+0 .0 -0 +1 +2 .1 .2 .1 .2 -1 -2"
    assert collect(whole, "messages").value == collect(crossed, "messages").value


def test_sdk_accumulate_messages() -> None:
    clients = pytest.importorskip("tests.clients")
    for choices in ({}, {"interleave": "true"}):
        out, _ = streamed(CROSSED, "chat", "messages", choices)
        seen = clients.read_events("messages", written(out, "messages"))
        assert (seen.text, seen.calls) == ("Looking", [("wind", {"at": "Oslo"}), ("rain", {"in": "Bergen"})])


@pytest.mark.parametrize("choices", [{}, {"interleave": "true"}])
def test_index_contiguous(choices: dict[str, str]) -> None:
    """Also from sources whose own indexes have gaps."""
    gaps = [
        chunk({"role": "assistant"}),
        fragment(7, "{}", "wind"),
        fragment(3, "{}", "rain"),
        chunk({}, "tool_calls"),
        DONE,
    ]
    out, _ = streamed(gaps, "chat", "messages", choices)
    assert [index for mark, index in blocks(out) if mark == "+"] == [0, 1]


# D14: events without which the official client raises.


THOUGHT = {"type": "thinking", "thinking": "Hm", "signature": "s"}


@pytest.mark.parametrize("source", ["chat", "messages"])
def test_sdk_accumulate_responses(source: str) -> None:
    clients = pytest.importorskip("tests.clients")
    content = {
        "chat": {"content": "A", "reasoning_content": "Hm", **called("chat")},
        "messages": [THOUGHT, *said_text("messages", "A"), *said_text("messages", "B"), *called("messages")],
    }
    document = answer(source, content[source], "tool_calls" if source == "chat" else "tool_use")
    out, _ = streamed(stream_of(document, source), source, "responses")
    kinds = [event["type"] for event in out]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    for delta, added in (
        ("response.output_text.delta", "response.content_part.added"),
        ("response.function_call_arguments.delta", "response.output_item.added"),
    ):
        assert kinds.index(added) < kinds.index(delta)
    assert [event["sequence_number"] for event in out] == list(range(len(out)))
    seen = clients.read_stream("responses", written(out, "responses"))
    assert seen.way == "helper" and seen.calls[0][0] == "f" and seen.text in ("A", "AB")


# D20: an error in a stream is told.


@pytest.mark.parametrize(("source", "target"), SIX)
def test_stream_error_six(source: str, target: str) -> None:
    fed = stream_of(answer(source, said_text(source, "A")), source)
    cut = next(at for at, event in enumerate(fed) if "A" in str(event)) + 1
    errors = {
        "chat": {"error": {"message": "Down", "type": "server_error", "param": None, "code": None}},
        "responses": {
            "type": "error",
            "code": "server_error",
            "message": "Down",
            "param": None,
            "sequence_number": cut,
        },
        "messages": {"type": "error", "error": {"type": "api_error", "message": "Down"}},
    }
    out, translator = streamed([*fed[:cut], errors[source]], source, target)
    last = out[-1]
    assert translator.complete and DONE not in out
    found = at(last, "response", "error") if target == "responses" else last["error"]
    assert found["message"] == "Down"
    assert last.get("type") == {"chat": None, "responses": "response.failed", "messages": "error"}[target]
    closing = ("content_block_stop", "message_delta", "response.output_item.done", "response.completed")
    assert not [event for event in out if event.get("type") in closing]


# D21: a stream that ends too early is told and not completed, unless it is to be repaired.

LAST = {"chat": b"[DONE]", "responses": b"response.completed", "messages": b"message_stop"}


@pytest.mark.parametrize(("source", "target"), [("chat", "messages"), ("responses", "chat"), ("messages", "responses")])
def test_truncate_at_every_byte(source: str, target: str) -> None:
    whole = written(stream_of(answer(source, said_text(source, "Æ")), source), source)
    finish = {"chat": b'"finish_reason":"stop"', "responses": b"response.completed", "messages": b"message_delta"}[
        source
    ]
    finished = whole.index(b"\n\n", whole.index(finish))
    complete = piped(source, target, whole)[0]
    for cut in range(len(whole)):
        out, codes = piped(source, target, whole[:cut])
        assert codes in ([], ["truncated"], ["empty"])
        assert (LAST[target] in out) == (cut >= finished)
        if cut < finished:
            assert codes and complete.startswith(out[: out.rfind(b"\n\n", 0, -2) + 2])


def piped(source: str, target: str, data: bytes, repair: bool = False) -> tuple[bytes, list[str]]:
    pipe = Pipe(source, target, repair=repair)
    out = pipe.feed(data) + pipe.close()
    return out, [error.code for error in pipe.errors]


@pytest.mark.parametrize(("source", "target"), SIX)
def test_repair(source: str, target: str) -> None:
    """The end is made, and said to be; never one that asks for a tool to be run."""
    for said, words in ((said_text(source, "Æ"), ""), (called(source, '{"x":12}'), "tool")):
        events = stream_of(answer(source, said, "tool_calls" if words and source == "chat" else None), source)
        cut = next(at for at, event in enumerate(events) if "Æ" in str(event) or "12" in str(event)) + 1
        for torn in (b"", b'data: {"type":'):
            out, codes = piped(source, target, written(events[:cut], source) + torn, repair=True)
            assert codes == ["truncated"]
            value = collect(out, target).value
            assert stop_of(target, value) in ("stop", "incomplete", "end_turn", "incomplete/max_output_tokens")


CITATION = {
    "type": "web_search_result_location",
    "url": "https://a",
    "title": "t",
    "cited_text": "Tide",
    "encrypted_index": "",
}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}


@pytest.mark.parametrize(
    "blocks",
    [
        [{"type": "text", "text": "Tide", "citations": [CITATION]}, CALL],
        [{"type": "text", "text": "So "}, {"type": "text", "text": "Tide", "citations": [CITATION]}, CALL],
    ],
)
def test_citations_that_come_behind_a_call_are_those_of_the_text_when_all_is_collected(blocks: list[Any]) -> None:
    """Chat tells all annotations before the finish (§3), whatever stands between."""
    out, _ = streamed(stream_of(answer("messages", blocks), "messages"), "messages", "chat")
    (listed,) = [event["choices"][0]["delta"]["annotations"] for event in wire(out) if _annotates(event)]
    home = collect(out, "chat")
    told = [{key: said for key, said in each.items() if key != "index"} for each in listed]
    assert home.value["choices"][0]["message"]["annotations"] == told
    assert "late-piece" not in {entry.why for entry in home.ledger.entries}
    back = collect(out, "chat", "messages").value["content"]
    assert [each["cited_text"] for block in back for each in block.get("citations", [])] == ["Tide"]
    for target in ("messages", "responses"):
        _, translator = streamed(copy.deepcopy(out), "chat", target)
        assert "late-piece" in {why for _, _, _, why, _ in translator.account}


def _annotates(event: Any) -> bool:
    return any("annotations" in choice["delta"] for choice in event["choices"])


def test_a_citation_belongs_to_the_text_in_which_it_has_its_place() -> None:
    """Places count from the beginning of the whole content; of a text that resumes from its own."""
    chunk = {"id": "c", "model": "m", "created": 5, "object": "chat.completion.chunk"}
    place = {"url": "https://a", "title": "t", "start_index": 3, "end_index": 7}
    deltas = [
        {"role": "assistant", "content": "So "}, {"reasoning_content": "hm"}, {"content": "Tide"}, {"content": "s."},
        {"annotations": [{"type": "url_citation", "url_citation": place}]},
    ]  # fmt: skip
    fed = [{**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    fed += [{**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, DONE]
    out, _ = streamed(fed, "chat", "messages")
    cited = [event["delta"]["citation"]["cited_text"] for event in out if "citation" in event.get("delta", {})]
    assert cited == ["Tide"]
    (said,) = collect(fed, "chat").value["choices"][0]["message"]["annotations"]
    assert said["url_citation"] == place
    place |= {"start_index": 0, "end_index": 2}
    found = [block for block in collect(fed, "chat", "messages").value["content"] if block["type"] == "text"]
    assert [[each["cited_text"] for each in block.get("citations", [])] for block in found] == [["So"], []]


def test_a_citation_of_a_text_that_waits_for_a_call_is_that_of_the_text() -> None:
    """The text is over, but not written yet: its citation comes in time."""
    place = {"url": "https://a", "title": "t", "start_index": 0, "end_index": 4}
    cites = chunk({"annotations": [{"type": "url_citation", "url_citation": place}]})
    fed = [fragment(0, '{"at":', "wind"), chunk({"content": "Tide"}), fragment(1, "{}", "rain"), cites,
           fragment(0, "1}"), chunk({}, "tool_calls"), DONE]  # fmt: skip
    out, translator = streamed(fed, "chat", "messages")
    assert [event["delta"]["citation"]["cited_text"] for event in out if "citation" in event.get("delta", {})] == [
        "Tide"
    ]
    assert "late-piece" not in {why for _, _, _, why, _ in translator.account}


def test_a_choice_below_zero_is_the_first() -> None:
    fed = [chunk({"role": "assistant", "content": "a"}), chunk({"content": "b"}), chunk({}, "stop"), DONE]
    fed[1]["choices"][0]["index"] = -1
    value = collect(fed, "chat").value
    assert [choice["message"]["content"] for choice in value["choices"]] == ["ab"]


@pytest.mark.parametrize("places", [(0,), (1,), (0, 1)])
def test_a_part_that_nobody_knows_stays_in_its_message(places: tuple[int, ...]) -> None:
    """At home it is no item of its own, and nothing of its message is lost."""
    content: list[Any] = [{"type": "output_text", "text": "So", "annotations": []} for _ in range(2)]
    for place in places:
        content[place] = {"type": "output_sketch", "lines": [1, {}]}
    body = answer("responses", [])
    body["output"] = [
        {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": content}
    ]
    sent = explode(body, "responses")
    assert not [entry for entry in sent.ledger.entries if entry.level == "unexplained"]
    assert [event["item"] for event in sent.value if event["type"] == "response.output_item.done"] == body["output"]
    (item,) = collect(sent.value, "responses").value["output"]
    assert sorted(part["type"] for part in item["content"]) == sorted(part["type"] for part in content)


def _begun(*blocks: Any) -> list[Any]:
    """The events of a Messages stream with these blocks, each as its start and its piece, up to before its end."""
    fed = stream_of(answer("messages", []), "messages")
    said: list[Any] = []
    for index, (start, delta) in enumerate(blocks):
        began = {} if start is None else {"content_block": start}
        said += [{"type": "content_block_start", "index": index, **began}]
        said += [{"type": "content_block_delta", "index": index, "delta": delta}]
    return [fed[0], *said, *fed[-2:]]


CITES = {"type": "citations_delta", "citation": CITATION}


@pytest.mark.parametrize("target", ["chat", "responses", "messages"])
@pytest.mark.parametrize(
    "blocks",
    [
        [(None, {"type": "text_delta", "text": "a"})],
        [({"type": "sketch"}, CITES)],
        [({"type": "text", "text": "Tide"}, CITES)],
    ],
)
@pytest.mark.parametrize("finish", [-1, 1])
def test_what_is_odd_in_a_stream_is_accounted_for(blocks: list[Any], target: str, finish: int) -> None:
    """A block that says nothing, citations where no text is, blocks behind the finish; usage that is no object."""
    fed = _begun(*blocks)
    fed.insert(finish, fed.pop(-2))
    fed[0]["message"]["usage"] = -1
    _, translator = streamed(copy.deepcopy(fed[:-1]), "messages", target)
    assert "unexplained" not in {level for _, _, _, _, level in translator.account}
    done = collect(fed, "messages", target)
    assert not [entry for entry in done.ledger.entries if entry.level == "unexplained"]
    assert sum(entry.theirs for entry in done.ledger.entries) == size(done.value)
