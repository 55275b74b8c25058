"""Whole exchanges: the bodies of request and answer, each held to what it is, and what is wrong with the heads."""

from typing import Any, NamedTuple

from .. import text
from ..context import Finding
from ..endpoints.address import address
from ..errors import NotReadable, Place, ProxaiError
from ..exchange import translate_exchange
from ..exchange.texts import END, HALVES
from ..ir.events import DONE
from ..wire import sse
from . import StreamValidator, validate
from .profiles import EVERYTHING, Wanted

_OF_HEADS = ("bad-header", "address-says-otherwise")


class Checked(NamedTuple):
    """What was found in an exchange, what could not be read, and how many events it has, if it has a stream.

    The place of a finding is its path in the exchange, of one in the stream that of the event.
    """

    findings: list[Finding]
    errors: list[ProxaiError]
    events: int | None = None


def validate_exchange(value: dict[str, Any], protocol: str, wanted: Wanted = EVERYTHING) -> Checked:
    """Hold an exchange to its protocol."""
    checked = Checked([], [])
    halves = {name: value[name] for name in HALVES if isinstance(value.get(name), dict)}
    for name, half in (halves or {"": value}).items():
        body, path = half.get("body"), (name, "body") if name else ("body",)
        is_answer = name == HALVES[1] or (not name and "status" in half)
        stream = _stream(body) if is_answer else None
        if stream is not None:
            checked = _with_stream(checked, stream, protocol, wanted)
        elif body not in (None, ""):
            kind = _kind_of_answer(half.get("status")) if is_answer else "request"
            try:
                said = text.read(body.encode("utf-8", "surrogatepass"))[0] if isinstance(body, str) else body
            except NotReadable as error:
                checked.errors.append(NotReadable(error.code, error.message, Place(pointer=text.pointer(path))))
                checked.findings.append(Finding(error.code, path, "a body that is no JSON; it was not looked at"))
                continue
            for found in validate(said, protocol, kind, wanted, named_by(half.get("url"))):
                checked.findings.append(found._replace(place=(*path, *found.place)))
    checked.findings.extend(found for found in _heads(value, protocol) if wanted.has(found.code))
    return checked


def named_by(url: Any) -> tuple[str, ...]:
    """What a URL says in place of the body."""
    return ("model",) if isinstance(url, str) and address(url).model else ()


def _kind_of_answer(status: Any) -> str:
    return "error" if isinstance(status, int) and status >= 400 else "response"


def _stream(body: Any) -> bytes | list[Any] | None:
    """A body that is a stream: its bytes, or its events."""
    if isinstance(body, list):
        return [DONE if event == END else event for event in body]
    data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else b""
    return data if data and sse.looks_like_a_stream(data) else None


def _with_stream(checked: Checked, body: bytes | list[Any], protocol: str, wanted: Wanted) -> Checked:
    stream = StreamValidator(protocol, wanted)
    if isinstance(body, bytes):
        stream.feed(body)
    else:
        stream.take(body)
    stream.close()
    return Checked([*checked.findings, *stream.findings], [*checked.errors, *stream.errors], stream.events)


def _heads(value: dict[str, Any], protocol: str) -> list[Finding]:
    """What its own protocol says of the heads; of an exchange that would not go through nothing is known."""
    try:
        found = translate_exchange(value, protocol, protocol).findings
    except ProxaiError:
        return []
    return [each for each in found if each.code in _OF_HEADS]
