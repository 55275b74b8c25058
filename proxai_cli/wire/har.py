"""HAR archives, entry by entry: every call with its request and its answer, and when events came if that was kept."""

from collections.abc import Iterable, Iterator
from typing import Any

from .. import text
from ..errors import NotReadable, Place
from .calls import AGAIN, Capture, Message, bytes_of, damaged, head_of, object_at, of_call
from .packing import MAX_SIZE
from .values import elements

CONTAINER = "har"


def captures(pieces: Iterable[bytes], start: Place, max_size: int = MAX_SIZE) -> Iterator[Capture]:
    """The documents of an archive, in order. Raises `bad-json` where the archive itself is cut or broken."""
    for number, (data, place) in enumerate(elements(pieces, start, "log", "entries")):
        at = f"/log/entries/{number}"
        try:
            entry = text.loads(data)
        except NotReadable as fault:
            yield damaged(CONTAINER, number, fault, at, place)
            continue
        request, answer = object_at(entry, "request"), object_at(entry, "response")
        yield from of_call(CONTAINER, number, _request(request, at), _answer(entry, answer, at), place, max_size)


def _request(request: dict[str, Any], at: str) -> Message:
    posted = object_at(request, "postData")
    head = head_of(request.get("method"), request.get("url"), None, _headers(request))
    return _message(head, posted, posted.get("encoding"), f"{at}/request/postData/text")


def _answer(entry: Any, answer: dict[str, Any], at: str) -> Message:
    content = object_at(answer, "content")
    head = head_of(None, None, answer.get("status"), _headers(answer))
    media = content.get("mimeType")
    if isinstance(media, str):
        head.headers.setdefault("content-type", media)
    kept = entry.get("_eventSourceMessages") if isinstance(entry, dict) else None
    if isinstance(kept, list) and kept:
        inside = f"{at}/_eventSourceMessages"
        if all(isinstance(event, dict) and isinstance(event.get("data"), str) for event in kept):
            return Message(head, _stamped(kept), inside)
        if not content.get("text"):
            why = "unreadable", "one of the events that were noted has no data", Place(pointer=inside), AGAIN
            return Message(head, b"", inside, why)
    return _message(head, content, content.get("encoding"), f"{at}/response/content/text")


def _message(head: Any, holder: dict[str, Any], encoding: Any, inside: str) -> Message:
    said = holder.get("text")
    if isinstance(said, (dict, list)):  # as who writes archives by hand puts it
        return Message(head, text.dumps(said), inside)
    body, fault = bytes_of(said if isinstance(said, str) else "", encoding == "base64", inside)
    return Message(head, body, inside, fault)


def _stamped(kept: list[Any]) -> bytes:
    """A stream from the events that a browser noted, with the seconds since the first one."""
    out, first = list[bytes](), None
    for event in kept:
        time, name = event.get("time"), event.get("eventName")
        if isinstance(time, (int, float)):
            first = time if first is None else first
            out.append(f": t=+{max(0.0, time - first):.3f}\n".encode())
        if isinstance(name, str) and name not in ("", "message") and name.isprintable():
            out.append(b"event: " + name.encode() + b"\n")
        out += [b"data: " + line.encode("utf-8", "surrogatepass") + b"\n" for line in event["data"].split("\n")]
        out.append(b"\n")
    return b"".join(out)


def _headers(message: dict[str, Any]) -> list[tuple[Any, Any]]:
    listed = message.get("headers")
    return [
        (each.get("name"), each.get("value"))
        for each in (listed if isinstance(listed, list) else [])
        if isinstance(each, dict)
    ]
