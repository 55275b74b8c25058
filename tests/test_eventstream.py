"""Binary event streams: frames in any cut, exceptions, damage, and the whole way from a file."""

import struct
from base64 import b64encode
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from proxai_cli import text
from proxai_cli.errors import NotReadable
from proxai_cli.wire.capture import captures
from proxai_cli.wire.eventstream import as_sse, begins
from proxai_cli.wire.sse import Reader

from .calls import answered
from .captures import FIXTURES, wire

STREAM = FIXTURES / "messages" / "two-tools-in-parallel" / "stream.sse"


def header(name: str, value: Any) -> bytes:
    begin = bytes([len(name)]) + name.encode()
    if isinstance(value, str):
        return begin + b"\x07" + struct.pack(">H", len(value)) + value.encode()
    return begin + (b"\x00" if value is True else b"\x08" + struct.pack(">Q", value))


def frame(payload: Any, **headers: Any) -> bytes:
    said = {":message-type": "event", ":event-type": "chunk", ":content-type": "application/json", **headers}
    head = b"".join(header(name, value) for name, value in said.items())
    body = payload if isinstance(payload, bytes) else text.dumps(payload)
    prelude = struct.pack(">II", 16 + len(head) + len(body), len(head))
    whole = prelude + struct.pack(">I", crc32(prelude)) + head + body
    return whole + struct.pack(">I", crc32(whole))


def chunk(event: Any, **headers: Any) -> bytes:
    data = event if isinstance(event, bytes) else text.dumps(event)
    return frame({"bytes": b64encode(data).decode(), "p": "abcdefgh"}, **headers)


def read(data: bytes) -> list[Any]:
    reader = Reader(named=True)
    found = [*reader.feed(data), *reader.close()]
    assert not reader.findings
    return found


EVENTS = [event.value for event in read(STREAM.read_bytes())]
FRAMES = b"".join(map(chunk, wire(EVENTS)))


def test_the_events_are_those_of_the_text_stream() -> None:
    assert [event.value for event in read(b"".join(as_sse([FRAMES])))] == EVENTS
    assert b"".join(as_sse(FRAMES[at : at + 1] for at in range(len(FRAMES)))) == b"".join(as_sse([FRAMES]))


def test_a_file_of_frames_is_a_stream(tmp_path: Path) -> None:
    path = tmp_path / "answer.bin"
    path.write_bytes(FRAMES)
    said = [answered(["stream", str(each), "--to", "responses"], folder=tmp_path) for each in (path, STREAM)]
    assert [each.code for each in said] == [0, 0]
    assert said[0].out == said[1].out


def test_frames_behind_a_head() -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/vnd.amazon.eventstream\r\n\r\n"
    (capture,) = captures(head + FRAMES)
    assert [event.value for event in read(capture.body)] == EVENTS


def test_numbers_and_line_ends_inside_an_event() -> None:
    (event,) = read(b"".join(as_sse([chunk(b'{"type":"ping",\r\n"x":1.10}')])))
    assert text.dumps(event.value) == b'{"type":"ping","x":1.10}'


def test_other_headers_are_passed_over() -> None:
    (event,) = read(b"".join(as_sse([chunk({"type": "ping"}, flag=True, **{":date": 5})])))
    assert event.value == {"type": "ping"}


def test_an_event_without_bytes_is_its_payload() -> None:
    (event,) = as_sse([frame({"a": 1}, **{":event-type": "messageStart"})])
    assert event == b'event: messageStart\ndata: {"a":1}\n\n'


@pytest.mark.parametrize("payload", [{"message": "slow down"}, b"no json", []])
def test_an_exception_is_an_error_event(payload: Any) -> None:
    kind = {":message-type": "exception", ":exception-type": "throttlingException"}
    (event,) = read(b"".join(as_sse([frame(payload, **kind)])))
    message = payload["message"] if isinstance(payload, dict) else ""
    assert event.value == {"type": "error", "error": {"type": "throttlingException", "message": message}}


def test_a_frame_that_is_cut_is_an_event_that_is_cut() -> None:
    *found, last = read(b"".join(as_sse([FRAMES[:-1]])))
    assert [event.value for event in found] == EVENTS[:-1]
    assert last.fault is not None and last.fault.code == "truncated"


def test_damage_is_told_and_what_stands_before_it_is_read() -> None:
    broken = bytearray(FRAMES + FRAMES)
    broken[len(FRAMES) + 40] ^= 1
    found: list[bytes] = []
    with pytest.raises(NotReadable) as caught:
        found.extend(as_sse([bytes(broken)]))
    assert caught.value.code == "unreadable"
    with pytest.raises(NotReadable):
        list(as_sse([FRAMES, b"no frame behind it"]))
    assert not begins(b"\0\0\0\x20" + b"\0" * 8) and not begins(FRAMES[:11])


@pytest.mark.parametrize("payload", [{"bytes": "no base64!"}, {"bytes": 7}, b""])
def test_odd_payloads(payload: Any) -> None:
    try:
        assert len(list(as_sse([frame(payload)]))) == 1
    except NotReadable as error:
        assert error.code == "unreadable"
