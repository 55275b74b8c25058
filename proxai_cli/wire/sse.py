"""Server-sent events: bytes in any cut to events with parsed data, and back. The rules are `spec/streams.md` §1."""

import re
from collections import Counter
from typing import Any, NamedTuple

from .. import text
from ..errors import NotReadable, Place
from ..ir.events import DONE
from .http import Unwrapper, unwrapped

TOLD_AT_MOST = 100
_BEGINNING = 1 << 16


class Event(NamedTuple):
    """One event: its JSON value or DONE, the name in its `event:` line, and where its first data line begins.

    If its data cannot be read, `fault` says why (`bad-json`, `number-too-long`, `truncated`) and the value is None:
    so whoever reads can write all that came before, and either raise the fault or leave this event out. A `comment`
    is a line that carries nothing, for whoever asked for these.
    """

    value: Any
    name: str | None
    place: Place
    fault: NotReadable | None = None
    comment: bytes | None = None

    @property
    def type(self) -> str | None:
        """The type that the data says, else the name. The data stays as it was sent, for it is accounted for."""
        said = self.value.get("type") if isinstance(self.value, dict) else None
        return said if isinstance(said, str) else self.name


class _Line(NamedTuple):
    """The data in one line of a frame; line, column and byte say where the data begins, `start` where the line does."""

    data: bytes
    line: int
    column: int
    byte: int
    start: int
    field: bool = True  # False for a line that belongs to no field

    @property
    def end(self) -> int:
        return self.byte + len(self.data)


class Reader:
    """Bytes in, events out, each as soon as it is whole.

    `named` says that the protocol names its events, and asks for `event-name` findings; `comments` asks for comment
    lines, each as an event of its own. `findings` holds what was
    noticed as (code, place), of each code the first TOLD_AT_MOST, so that memory does not grow with the stream.
    State: an unfinished line, and the lines of the open frame.

    HTTP heads in front and chunk sizes in between are taken off. Comments, `id`, `retry`, empty data and `null` carry
    nothing. A line that belongs to no field continues the data before it, unless that is JSON without it.
    """

    _name: str | None  # what the open frame is called
    _name_after: str | None  # a name that came after its data: of this frame, or of the next

    def __init__(self, named: bool = False, comments: bool = False) -> None:
        self.named, self.comments, self.findings = named, comments, list[tuple[str, Place]]()
        self._told: Counter[str] = Counter()
        self._unwrapper = Unwrapper()
        self._partial: list[bytes] = []
        self._after_return = False  # a line ended in CR: LF, if it comes now, belongs to it
        self._lines = self._line = self._byte = self._events = 0
        self._new_frame()

    def feed(self, data: bytes) -> list[Event]:
        events: list[Event] = []
        for piece in self._unwrapper.feed(data):
            self._take(*piece, events)
        return events

    def close(self) -> list[Event]:
        """The last event, if no empty line ended it; what is cut is an event with the fault `truncated`."""
        events: list[Event] = []
        for piece in self._unwrapper.close():
            self._take(*piece, events)
        rest, self._partial = b"".join(self._partial), []
        cut = rest != b"" and (b"data: ".startswith(rest) or b"event".startswith(rest[:5]))
        if rest and not cut:
            self._read_line(rest, events)
        if self._name is not None and (not self._frame or self._name_after is not None):
            cut = True
        if self._frame:
            self._dispatch(events, at_end=True)
        if cut and not (events and events[-1].fault):
            self._fail(_cut(), Place(line=self._line, byte=self._byte), None, events)
        return events

    def _take(self, byte: int, framing: int, data: bytes, events: list[Event]) -> None:
        """Cut a piece of the body into lines. Only LF, CR and CRLF end one, as `bytes.splitlines` has it."""
        if self._after_return and data.startswith(b"\n"):
            byte, data = byte + 1, data[1:]
        for raw in data.splitlines(keepends=True):
            if not self._partial:
                self._lines += 1
                self._line, self._byte = self._lines + framing, byte
            self._partial.append(raw)
            byte += len(raw)
            if raw.endswith((b"\n", b"\r")):
                line, self._partial = b"".join(self._partial).rstrip(b"\r\n"), []
                self._read_line(line, events)
        self._after_return = data.endswith(b"\r")

    def _read_line(self, line: bytes, events: list[Event]) -> None:
        if not line:
            self._dispatch(events)
            return
        if line.startswith(text.BYTE_ORDER_MARK):  # also where a capture was appended to another
            self._note("byte-order-mark", Place(line=self._line, column=1, byte=self._byte))
            line = line[len(text.BYTE_ORDER_MARK) :]
            self._byte += len(text.BYTE_ORDER_MARK)
        field, colon, value = line.partition(b":")
        if field == b"data":
            self._read_data(value, 1 + len(field) + len(colon), events)
        elif field == b"event":
            name = value.removeprefix(b" ").decode("utf-8", "replace") or None
            if self._frame:
                self._name_after = name
            else:
                self._name = name
        elif not field and self.comments:
            events.append(Event(None, None, Place(line=self._line, byte=self._byte), comment=value.strip()))
        elif field and field not in (b"id", b"retry") and self._frame:
            self._frame.append(_Line(line, self._line, 1, self._byte, self._byte, field=False))

    def _read_data(self, value: bytes, column: int, events: list[Event]) -> None:
        # Two JSON values cannot be joined to one: if the data so far is whole, its empty line was lost.
        if self._frame and (self._name_after is not None or (self._data_lines == 1 and self._is_whole())):
            name, before = self._name_after, len(events)
            self._name_after = None
            self._dispatch(events)
            self._name = name
            if len(events) > before:
                self._note("lost-blank-lines", events[before].place)
        if value.startswith(b" "):
            value, column = value[1:], column + 1
        self._frame.append(_Line(value, self._line, column, self._byte + column - 1, self._byte))
        self._data_lines += 1

    def _is_whole(self) -> bool:
        try:
            self._parsed(self._frame)
            return self._frame[0].data.strip() != b""
        except NotReadable:
            return False

    def _new_frame(self) -> None:
        self._frame: list[_Line] = []
        self._data_lines = 0
        self._name = self._name_after = None

    def _dispatch(self, events: list[Event], at_end: bool = False) -> None:
        frame, name = self._frame, self._name or self._name_after
        self._new_frame()
        if frame:
            self._read_frame(frame, name, events, at_end)

    def _read_frame(self, frame: list[_Line], name: str | None, events: list[Event], at_end: bool) -> None:
        fields = [line for line in frame if line.field]
        for lines in [fields] if len(fields) == len(frame) else [fields, frame]:
            try:
                value, findings = self._parsed(lines)
            except NotReadable as reason:
                fault = reason
                continue
            if lines is not fields:
                self._note("continuation-line", Place(line=frame[0].line, byte=frame[0].start))
            if value is not None:
                self._give(value, name, frame[0], findings, events)
            return
        if any(self._is_object(line) for line in fields):
            self._note("lost-blank-lines", Place(line=frame[0].line, byte=frame[0].start))
            for line in fields:
                self._read_frame([line], name, events, at_end and line is fields[-1])
            return
        if at_end and (fault.place.byte == frame[-1].end or b"[DONE]".startswith(frame[-1].data)):
            fault = _cut()
        self._fail(fault, Place(line=frame[0].line, byte=frame[0].start), name, events)

    def _is_object(self, line: _Line) -> bool:
        try:
            return isinstance(self._parsed([line])[0], dict)
        except NotReadable:
            return False

    def _parsed(self, lines: list[_Line]) -> tuple[Any, list[tuple[str, Place]]]:
        """The value that these lines hold together, or DONE, or None for nothing; and findings about the text."""
        data = b"\n".join([line.data for line in lines])
        bare = data.strip()
        if bare == b"[DONE]":
            return DONE, []
        if not bare:
            return None, []
        try:
            value, findings = text.read(data)
        except NotReadable as fault:
            fault.place = _in_capture(fault.place, lines)
            raise
        return value, [(code, _in_capture(place, lines)) for code, place in findings]

    def _give(
        self, value: Any, name: str | None, first: _Line, findings: list[tuple[str, Place]], events: list[Event]
    ) -> None:
        self._events += 1
        event = Event(value, name, Place(line=first.line, byte=first.start, event=self._events))
        for code, place in findings:
            self._note(code, place._replace(event=self._events))
        if self.named and isinstance(value, dict) and value.get("type") != name:
            self._note("event-name", event.place)
        events.append(event)

    def _fail(self, fault: NotReadable, start: Place, name: str | None, events: list[Event]) -> None:
        self._events += 1
        fault.at(line=start.line, byte=start.byte, event=self._events)
        events.append(Event(None, name, start._replace(event=self._events), fault))

    def _note(self, code: str, place: Place) -> None:
        self._told[code] += 1
        if self._told[code] <= TOLD_AT_MOST:
            self.findings.append((code, place))


_FIELD = re.compile(rb"\s*(?:data|event|id|retry)?:")


def looks_like_a_stream(data: bytes) -> bool:
    """Whether the first line that is not blank, after any HTTP framing, is one of an event stream. Looks at no more."""
    beginning = b"".join(piece.data for piece in unwrapped([data[:_BEGINNING]])).removeprefix(text.BYTE_ORDER_MARK)
    return _FIELD.match(beginning) is not None


def _cut() -> NotReadable:
    return NotReadable("truncated", "the stream ends inside an event")


def _in_capture(place: Place, lines: list[_Line]) -> Place:
    """A place in the joined data of some lines as a place in the capture."""
    number = (place.line or 1) - 1
    line = lines[number]
    before = sum(len(earlier.data) + 1 for earlier in lines[:number])
    return place._replace(
        line=line.line, column=line.column + (place.column or 1) - 1, byte=line.byte + (place.byte or 0) - before
    )


def write(event: Any, named: bool, name: str = "") -> bytes:
    """One event as it goes over the wire: its data, in one line, and before it the type as its name where that is used.

    `name` is for data that has no type. DONE is the literal `[DONE]`.
    """
    if event is DONE:
        return b"data: [DONE]\n\n"
    data = b"data: " + text.dumps(event) + b"\n\n"
    kind = event.get("type", name or None) if named else None
    if isinstance(kind, str) and not {"\n", "\r"} & set(kind):
        return b"event: " + kind.encode("utf-8", "replace") + b"\n" + data
    return data
