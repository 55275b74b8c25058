"""A captured exchange: method, URL, headers, status and bodies, translated as a whole (`spec/http.md`).

An exchange is a JSON value: a request (`method`, `url`, `headers`, `body`), an answer (`status`, `headers`, `body`), or
both under `request` and `response`. Headers are an object, or a list of pairs; a body is a value, or text that spells
one; a stream is a list of events (`"[DONE]"` for the end mark), or its text.
"""

from typing import Any

from ..context import Context
from ..ledger import Ledger, Writer
from ..translate import Translation
from .exchange import Exchange
from .known import Known, is_exchange, known
from .texts import closed, opened


def translate_exchange(value: Any, source: str, target: str, context: Context | None = None) -> Translation:
    """One exchange in; one exchange, its whole account and findings out. Pure.

    Bodies given as text are accounted for as the values that they spell (`opened`), and come out as text again.
    Raises `NotThatProtocol` (`unrecognised`, `wrong-url`, `old-version`), `NotPossible` (`no-endpoint`, and what the
    bodies raise), `OutOfOrder` and `NotReadable` for streams.
    """
    context = (context or Context()).fresh()
    captured, spelled = opened(value, source)
    ledger = Ledger(steers=True)
    w = Writer(ledger, {})
    Exchange(captured, source, target, context).write(w)
    ledger.settle(captured, [w.value])
    return Translation(closed(w.value, spelled, target), ledger, context.findings)


__all__ = ["Known", "closed", "is_exchange", "known", "opened", "translate_exchange"]
