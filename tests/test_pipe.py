"""Streams as bytes: any cut, what comes before a fault, what is left out, how a cut stream ends."""

from importlib import import_module
from itertools import pairwise
from typing import Any

import pytest

import proxai_cli
from proxai_cli import Context, Pipe, StreamTranslator, collect, detect, explode, text, translate
from proxai_cli.errors import ProxaiError
from proxai_cli.pipe import events, written
from proxai_cli.report.account import counts_of, rows_of_stream

HEAD = '"id":"c1","object":"chat.completion.chunk","created":1,"model":"m"'


def chunk(delta: str, finish: str = "null") -> str:
    return f'data: {{{HEAD},"choices":[{{"index":0,"delta":{delta},"finish_reason":{finish}}}]}}\n\n'


FIRST, HEL, LO = chunk('{"role":"assistant","content":""}'), chunk('{"content":"Hel"}'), chunk('{"content":"lo"}')
STOP, DONE = chunk("{}", '"stop"'), "data: [DONE]\n\n"
WHOLE = (FIRST + HEL + LO + STOP + DONE).encode()


def piped(data: bytes, *cuts: int, target: str = "messages", **more: Any) -> tuple[Pipe, bytes]:
    pipe = Pipe("chat", target, **more)
    places = [0, *cuts, len(data)]
    out = b"".join(pipe.feed(data[one:other]) for one, other in pairwise(places))
    return pipe, out + pipe.close()


def texts(out: bytes) -> str:
    found = [event.get("delta", {}) for event in events(out, "messages").values]
    return "".join(delta.get("text", "") for delta in found)


def balanced(pipe: Pipe) -> bool:
    rows = list(rows_of_stream(pipe.translator.account, {}, {}))
    return counts_of(rows, pipe.source_leaves, pipe.target_leaves).balanced


def test_a_whole_stream() -> None:
    pipe, out = piped(WHOLE)
    assert texts(out) == "Hello" and out.endswith(b'event: message_stop\ndata: {"type":"message_stop"}\n\n')
    assert pipe.error is None and pipe.translator.complete
    assert (pipe.bytes, pipe.read) == (len(WHOLE), 5) and pipe.written == out.count(b"data:")
    assert balanced(pipe)


@pytest.mark.parametrize("target", ["chat", "messages", "responses"])
def test_an_event_that_is_an_empty_object_is_one_leaf(target: str) -> None:
    assert balanced(piped(b"data: {}\n\n" + WHOLE, target=target)[0])


@pytest.mark.parametrize("at", range(0, len(WHOLE), 7))
def test_no_cut_matters(at: int) -> None:
    assert piped(WHOLE, at)[1] == piped(WHOLE)[1]


def test_each_event_comes_as_soon_as_it_is_whole() -> None:
    pipe = Pipe("chat", "messages")
    assert b"message_start" in pipe.feed(FIRST.encode())
    assert b"Hel" in pipe.feed(HEL.encode())
    assert pipe.feed(LO[:-1].encode()) == b""
    assert b'"lo"' in pipe.feed(LO[-1:].encode())


FAULTS = [
    ('data: {"id": nonsense}\n\n', "bad-json"),
    ("data: [1, 2]\n\n", "unrecognised"),
    ('data: "text"\n\n', "unrecognised"),
]


@pytest.mark.parametrize(("fault", "code"), FAULTS)
@pytest.mark.parametrize("at", [0, 40, len(FIRST) + len(HEL) + 3])
def test_what_comes_before_a_fault_is_written(fault: str, code: str, at: int) -> None:
    data = (FIRST + HEL + fault + LO + STOP + DONE).encode()
    pipe, out = piped(data, at)
    assert texts(out) == "Hel" and b"message_stop" not in out
    assert pipe.error is not None and pipe.error.code == code
    assert pipe.error.place.event == 3 and pipe.error.place.line == 5 and pipe.error.place.byte is not None
    assert pipe.feed(WHOLE) == b"" and pipe.close() == b"", "after it nothing is read"
    assert balanced(pipe)


@pytest.mark.parametrize(("fault", "code"), FAULTS)
def test_a_bad_event_is_left_out(fault: str, code: str) -> None:
    pipe, out = piped((FIRST + HEL + fault + LO + fault + STOP + DONE).encode(), skip=True)
    assert texts(out) == "Hello" and pipe.translator.complete
    assert [(error.code, error.place.event) for error in pipe.errors] == [(code, 3), (code, 5)]
    assert max(line[3] for line in pipe.translator.account.values()) == pipe.read - 1 == 6, "events keep their numbers"
    assert balanced(pipe)


def test_an_event_that_a_decoder_refuses_is_left_out() -> None:
    stop = 'event: content_block_stop\ndata: {"type":"content_block_stop","index":7}\n\n'
    out = explode(REPLY, "messages").value
    data = written(out, "messages").decode().replace("event: message_delta", stop + "event: message_delta").encode()
    pipe = Pipe("messages", "chat", skip=True)
    sent = pipe.feed(data) + pipe.close()
    assert [error.code for error in pipe.errors] == ["stop-unopened"] and b"[DONE]" in sent
    assert balanced(pipe)


REPLY = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "Hello you"}],
    "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 3, "output_tokens": 2},
}  # fmt: skip


@pytest.mark.parametrize("data", [FIRST + HEL, FIRST + HEL + LO[:30], FIRST + HEL + DONE])
def test_a_cut_stream_has_no_end(data: str) -> None:
    pipe, out = piped(data.encode())
    assert pipe.error is not None and pipe.error.code == "truncated"
    assert texts(out) == "Hel" and b"message_stop" not in out
    assert balanced(pipe)


def test_a_cut_stream_is_ended_where_that_is_asked_for() -> None:
    pipe, out = piped((FIRST + HEL).encode(), repair=True)
    assert pipe.error is not None and pipe.error.code == "truncated", "it is told all the same"
    assert out.endswith(b'data: {"type":"message_stop"}\n\n')
    assert {key[3] for key in pipe.translator.account} >= {"stream-was-cut"}
    assert balanced(pipe)


@pytest.mark.parametrize("data", [b"", b": only a comment\n\n", b"\n\n\n"])
def test_nothing_is_told(data: bytes) -> None:
    pipe, out = piped(data)
    assert out == b"" and pipe.error is not None and pipe.error.code == "empty"


def test_at_home_events_stay_as_they_are() -> None:
    pipe, out = piped(WHOLE, target="chat")
    assert out == WHOLE and pipe.error is None and balanced(pipe)


def test_a_type_that_only_the_name_says_is_known() -> None:
    named = written(explode(REPLY, "messages").value, "messages").decode()
    bare = named
    for event in events(named.encode(), "messages").values:
        bare = bare.replace(f'{{"type":"{event["type"]}"', "{", 1).replace("{,", "{", 1)
    assert '"type":"content_block_delta"' not in bare
    one, other = Pipe("messages", "chat"), Pipe("messages", "chat")
    assert one.feed(named.encode()) + one.close() == other.feed(bare.encode()) + other.close()
    assert "event-name" in {found.code for found in other.findings}


def test_findings_know_their_event_and_do_not_grow() -> None:
    pipe = Pipe("messages", "chat")
    pipe.feed(written(explode(REPLY, "messages").value[:1], "messages"))
    pipe.feed(b'event: unheard_of\ndata: {"type":"unheard_of"}\n\n' * 500)
    found = [found for found in pipe.findings if found.code == "unknown-event"]
    assert len(found) == 100 and [each.place.event for each in found[:2]] == [2, 3]


def test_samples_hold_the_first_value() -> None:
    pipe, _ = piped(WHOLE)
    said = {(key[0], key[1]): value for key, value in pipe.samples.items()}
    assert said["dropped", ("chunk", "choices", "*", "index")] == 0


def test_collect_and_explode_take_bytes() -> None:
    collected = collect(WHOLE, "chat")
    assert collected.value["choices"][0]["message"]["content"] == "Hello"
    assert collect(events(WHOLE, "chat").values, "chat").value == collected.value
    body = text.dumps(REPLY)
    assert explode(body, "messages", "chat").value == explode(REPLY, "messages", "chat").value
    assert collect(written(explode(body, "messages").value, "messages"), "messages").value == REPLY
    with pytest.raises(ProxaiError) as caught:
        collect(FIRST.encode() + b"data: {\n\n", "chat")
    assert caught.value.code == "bad-json"
    doubled = body.replace(b'"model":"m"', b'"model":"m","model":"m"')
    assert "twice-the-same-key" in {found.code for found in explode(doubled, "messages").findings}


def test_the_library_names() -> None:
    assert set(proxai_cli.__all__) <= {name for name in proxai_cli.__all__ if getattr(proxai_cli, name)}
    module = import_module("proxai_cli.translate")
    assert proxai_cli.translate is module.translate, "the module does not hide the function of its name"
    assert callable(StreamTranslator) and Context().choices == {}
    assert detect(text.dumps(REPLY)).protocol == "messages"
    with pytest.raises(AttributeError):
        proxai_cli.nothing_of_that_name  # noqa: B018


def test_a_change_stands_where_it_was_first_met() -> None:
    pipe = Pipe("chat", "messages")
    head = b'{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":'
    frames = [
        b'{"role":"assistant","content":"a"}}]}',
        b'{"content":"b"},"logprobs":{"content":[]}}]}',
        b'{},"finish_reason":"stop"}]}',
    ]
    data = b"".join(b"data: " + head + frame + b"\n\n" for frame in frames) + b"data: [DONE]\n\n"
    pipe.feed(data)
    pipe.close()
    lines = {(key[3], (key[1] or key[2])[1:]): place.line for key, place in pipe.places.items()}
    assert lines["no-equivalent", ("created",)] == 1
    assert lines["duplicate", ("created",)] == 3
    assert lines["respelled", ("choices", "*", "finish_reason")] == 5


WRONG: list[Any] = [
    lambda: translate({}, "chat", "anthropic", "request"),
    lambda: translate({}, "openai", "chat", "request"),
    lambda: StreamTranslator("chat", "anthropic"),
    lambda: Pipe("anthropic", "chat"),
    lambda: collect([], "anthropic"),
    lambda: collect(b"", "anthropic"),
    lambda: explode({}, "chat", "anthropic"),
]


@pytest.mark.parametrize("call", WRONG)
def test_a_protocol_that_there_is_not_is_told_with_those_that_there_are(call: Any) -> None:
    with pytest.raises(ProxaiError, match="there are chat, responses, messages"):
        call()


def test_a_kind_that_is_none_of_a_body_is_told_with_those_that_are() -> None:
    with pytest.raises(ProxaiError, match="of kind request, response, error, not 'stream'"):
        translate({}, "chat", "messages", "stream")


def test_what_takes_bytes_says_so() -> None:
    with pytest.raises(TypeError, match="the bytes of a stream, not str"):
        Pipe("chat", "messages").feed("data: {}\n\n")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the bytes of a capture, not at dict"):
        detect({})  # type: ignore[arg-type]
