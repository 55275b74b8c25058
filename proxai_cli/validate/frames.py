"""The reader of streams, which also notices blank lines that end nothing: some clients read an event there."""

from ..errors import Place
from ..wire import sse


class Frames(sse.Reader):
    """Bytes in, events out, as from `sse.Reader`.

    Findings besides: `keep-alive-event` for a comment, or an `id` or `retry`, with nothing but a blank line behind it;
    `empty-event` for an event whose data is missing, empty or null. Their place names the event that comes next. State:
    where the last line stands that carries nothing.
    """

    def __init__(self) -> None:
        super().__init__()
        self._idle: Place | None = None

    def _read_line(self, line: bytes, events: list[sse.Event]) -> None:
        if line.startswith((b":", b"id:", b"retry:")):
            self._idle = self._next()
        super()._read_line(line, events)

    def _dispatch(self, events: list[sse.Event], at_end: bool = False) -> None:
        data = b"\n".join(line.data for line in self._frame).strip()
        if self._frame and data in (b"", b"null"):
            self._note("empty-event", self._next(self._frame[0]))
        elif not self._frame and self._name is not None:
            self._note("empty-event", self._next())
        elif not self._frame and self._idle is not None:
            self._note("keep-alive-event", self._idle)
        self._idle = None
        super()._dispatch(events, at_end)

    def _next(self, line: sse._Line | None = None) -> Place:
        if line is not None:
            return Place(line=line.line, byte=line.start, event=self._events + 1)
        return Place(line=self._line, byte=self._byte, event=self._events + 1)
