"""When the events of a stream go out: at the pace that was asked for, or with the time at which each came.

Its clock is read only where `--stamp` or `--pace` asks for it.
"""

import re
import time
from collections.abc import Iterable, Iterator

from ..errors import ProxaiError

RECORDED = "recorded"
_STAMP = re.compile(rb"t=\+(\d{1,9}(?:\.\d{1,9})?)")


class Timing:
    """What `--stamp`, `--pace` and `--keep-comments` ask for; `pace` is `none`, `recorded` or milliseconds.

    State: when the stream began, and the time that stands in the output so far. Raises `bad-call`.
    """

    def __init__(self, stamp: bool, pace: str, keep_comments: bool) -> None:
        if pace not in ("none", RECORDED) and not re.fullmatch(r"\d{1,9}", pace, re.ASCII):
            raise ProxaiError("bad-call", "--pace takes none, recorded, or milliseconds", hint="--pace recorded")
        self.stamp, self.pace, self.keep_comments = stamp, pace, keep_comments
        self.began: float | None = None
        self.stamped = ""

    def comment(self, said: bytes) -> bytes:
        """What is written for a comment of the source. One that tells a time is waited for, or kept as others are."""
        found = _STAMP.fullmatch(said)
        if found and self.pace == RECORDED:
            time.sleep(max(0.0, float(found[1]) - self._since()))
        if not self.keep_comments or (found and self.stamp):
            return b""
        return b": " + said + (b"\n" if found else b"\n\n")

    def timed(self, events: Iterable[bytes]) -> Iterator[bytes]:
        """The events of a stream when they are due, each behind the time at which it came if that is asked for."""
        wrote = False
        self._since()
        for piece in events:
            if not piece:
                continue
            if wrote and self.pace not in ("none", RECORDED):
                time.sleep(int(self.pace) / 1000)
            wrote = True
            yield self._stamp() + piece

    def _stamp(self) -> bytes:
        now = f"{self._since():.3f}"
        if not self.stamp or now == self.stamped:
            return b""
        self.stamped = now
        return f": t=+{now}\n".encode()

    def _since(self) -> float:
        """Seconds since the stream began; it begins when this is first asked."""
        now = time.monotonic()
        self.began = now if self.began is None else self.began
        return now - self.began
