"""What the first document of a capture is, told by the capture's bytes."""

from collections.abc import Iterator

from .. import text
from . import sse
from .capture import captures
from .detect import Detection, detect_events, detect_value

# A stream is known by its beginning.
LOOK_AT_BYTES = 1 << 22
SLICE = 1 << 16


def detect(data: bytes, name: str = "") -> Detection:
    """What the (first) document in a capture is; `name` is that of its file. Raises `NotReadable` if there is none."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"detect looks at the bytes of a capture, not at {type(data).__name__}")
    body = next(captures(data)).body
    if sse.looks_like_a_stream(body):
        return detect_events(_first_events(body))
    return detect_value(text.read(body)[0], name)


def _first_events(data: bytes) -> Iterator[sse.Event]:
    reader = sse.Reader()
    for start in range(0, min(len(data), LOOK_AT_BYTES), SLICE):
        yield from reader.feed(data[start : start + SLICE])
    if len(data) <= LOOK_AT_BYTES:
        yield from reader.close()
