"""Records of logs and exports: where in them bodies stand, what form these have there, and how others are put there.

A record is a JSON value around bodies: a line of a batch, a request with its answer, the payload of a gateway's log,
an observability export, a telemetry record. Its forms are listed below; what stands at such a place counts only if it
is a document that is known.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .. import text
from ..errors import NotReadable, Place
from ..ir.events import DONE
from . import sse
from .calls import OF_ANSWERED, OF_ASKED, OF_SESSIONS, head_of
from .detect import Detection, detect_events, detect_value
from .http import Head

# How a body stands in its record: as the value, as JSON text, as the text of a stream, as the list of its events (each
# a value, or the text of one).
VALUE, TEXT, STREAM, EVENTS, LINES = "value", "text", "stream", "events", "lines"
END = "[DONE]"

Path = tuple[str | int, ...]

# Where requests and answers stand: below these keys, by themselves or under one of the names that follow; what is there
# is looked at in this order. The last ones are those of batches, bare bodies and what was observed.
_BELOW: tuple[Path, ...] = (
    ("body",),
    ("body_raw",),
    ("body", "json"),
    ("json",),
    ("events",),
    ("chunks",),
    ("payload",),
    (),
)
ASKED: tuple[Path, ...] = (
    *((key, *path) for key in OF_ASKED for path in _BELOW),
    *(("body",), ("params",), ("input",)),
)
ANSWERED: tuple[Path, ...] = (
    *((key, *path) for key in OF_ANSWERED for path in _BELOW),
    *(("result", "message"), ("result", "error"), ("output",), ("body",)),
)
_ATTRIBUTES = ("body", "request_body", "request.body", "http.request.body", "response_body", "response.body")
_TELEMETRY = ("resourceLogs", "resource_logs")
_NOTES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
NOTE = "line of a transcript"


class Slot(NamedTuple):
    """A place in a record at which a body stands, in plain values: its form there, its bytes (a stream as text), and
    the head that the record tells of it.

    `rival` is the protocol of the document beside it. `notes` says that it is out of a client's own notes.
    """

    path: Path
    form: str
    body: bytes
    head: Head | None = None
    rival: str | None = None
    notes: bool = False

    @property
    def is_stream(self) -> bool:
        return self.form in (STREAM, EVENTS, LINES)


class _Seen(NamedTuple):
    slot: Slot
    found: Detection


def may_be_record(value: Any, bare: bool = False) -> bool:
    """A look that costs nothing: whether a parsed value may be a record around bodies.

    A line of a batch, and an exchange with its bodies, are documents by themselves, unless bare bodies are wanted.
    """
    if isinstance(value, list):
        first = value[0] if value else None
        return isinstance(first, str) or (isinstance(first, dict) and "custom_id" not in first)
    if not isinstance(value, dict):
        return False
    if "custom_id" in value or ("body" in value and ("url" in value or "status" in value)):
        return bare
    if is_note(value) or "attributes" in value or any(key in value for key in _TELEMETRY):
        return True
    halves = [half for half in (value.get("request"), value.get("response")) if isinstance(half, dict)]
    if any("body" in half and ("url" in half or type(half.get("status")) is int) for half in halves):
        return bare
    return any(key in value for key in (*OF_ASKED, *OF_ANSWERED)) or ("input" in value and "output" in value)


def is_note(value: dict[str, Any]) -> bool:
    """Is this a line of what a coding agent keeps of its session?"""
    if not isinstance(value.get("type"), str):
        return False
    return bool(OF_SESSIONS & set(value)) or (value["type"] in _NOTES and "payload" in value)


def slots(value: Any, at: Iterable[str] = ()) -> list[Slot]:
    """The bodies in a record, requests before their answers; those at these pointers, whatever they are, if any is
    given. Empty where none is known.

    Raises `unrecognised` where nothing stands at the pointers, or what cannot be a body.
    """
    pointers = list(at)
    if pointers:
        return _told(value, pointers)
    if isinstance(value, list):
        return [seen.slot for seen in _seen(value, (), None)]
    if isinstance(value, dict) and is_note(value):
        message = value.get("message")
        found = detect_value(message)
        known = found.kind == "response" and found.sure is not None
        return [Slot(("message",), VALUE, text.dumps(message), notes=True)] if known else []
    if not isinstance(value, dict):
        return []
    found_slots = list(_telemetry(value)) or [*_asked(value), *_answers(value)]
    certain = next((seen.found.protocol for seen in found_slots if seen.found.sure == "certain"), None)
    return [seen.slot._replace(rival=certain) for seen in found_slots]


def _told(value: Any, pointers: list[str]) -> list[Slot]:
    found = []
    for said in pointers:
        path, here = resolved(value, said)
        if path is None or here is None:
            continue
        slot = _slot(here, path, None)
        if slot is None:
            raise NotReadable(
                "unrecognised", "what stands there is no body, and no text of one", Place(pointer=said), "--at POINTER"
            )
        found.append(slot)
    if not found:
        raise NotReadable("unrecognised", f"nothing stands at {' or '.join(pointers)}", hint="--at POINTER")
    return found


def resolved(value: Any, said: str) -> tuple[Path | None, Any]:
    """What stands at a JSON Pointer, with its path; None where nothing does."""
    path: list[str | int] = []
    for key in text.steps(said):
        if isinstance(value, dict) and key in value:
            path.append(key)
            value = value[key]
        elif isinstance(value, list) and key.isascii() and key.isdigit() and int(key) < len(value):
            path.append(int(key))
            value = value[int(key)]
        else:
            return None, None
    return tuple(path), value


def _asked(value: dict[str, Any]) -> Iterator[_Seen]:
    head = head_of(
        *_first(value, "method", "request"), *_first(value, "url", "request"), None, _headers(value, "request")
    )
    known = next(_at(value, ASKED, head, "request"), None)
    if known is not None:
        yield known
        return
    # The payload of a gateway's log: what was asked stands in pieces.
    turns = value.get("messages")
    turns = _parsed(turns) if isinstance(turns, str) else turns
    if isinstance(turns, list) and turns and "response" in value:
        more = next((value[key] for key in ("model_parameters", "optional_params") if key in value), None)
        body = {"model": value.get("model"), "messages": turns, **(more if isinstance(more, dict) else {})}
        found = detect_value(body)
        if found.kind == "request":
            yield _Seen(Slot(("messages",), VALUE, text.dumps(body), head), found)


def _answers(value: dict[str, Any]) -> Iterator[_Seen]:
    status = next((each for key in ("status", "status_code") for each in _first(value, key, "response")), None)
    head = head_of(None, *_first(value, "url", "request"), status, _headers(value, "response"))
    known = next(_at(value, ANSWERED, head, "response"), None)
    if known is not None:
        yield known


def _at(value: dict[str, Any], paths: tuple[Path, ...], head: Head, half: str) -> Iterator[_Seen]:
    """What is known at such places, and is of the right half."""
    for path in paths:
        here: Any = value
        for key in path:
            here = here.get(key) if isinstance(here, dict) else None
        if here is None:
            continue
        for seen in _seen(here, path, head):
            if (seen.found.kind == "request") == (half == "request"):
                yield seen


def _seen(here: Any, path: Path, head: Head | None) -> Iterator[_Seen]:
    """A value as a body, if it is one that is known."""
    slot = _slot(here, path, head)
    if slot is None:
        return
    if slot.is_stream:
        reader = sse.Reader()
        found = detect_events(reader.feed(slot.body) + reader.close())._replace(kind="stream")
    else:
        found = detect_value(here if slot.form == VALUE else text.loads(slot.body))
    if found.sure is not None:
        yield _Seen(slot, found)


def _slot(here: Any, path: Path, head: Head | None) -> Slot | None:
    """A value as a body: itself, or what its text spells."""
    if isinstance(here, dict):
        return Slot(path, VALUE, text.dumps(here), head)
    if isinstance(here, str):
        data = here.encode("utf-8", "surrogatepass")
        if sse.looks_like_a_stream(data):
            return Slot(path, STREAM, data, head)
        return Slot(path, TEXT, data, head) if isinstance(_parsed(here), dict) else None
    if isinstance(here, list) and here:
        events = [_event(each) for each in here]
        if all(event is not None for event in events):
            form = LINES if isinstance(here[0], str) else EVENTS
            return Slot(path, form, b"".join(event for event in events if event), head)
    return None


def _event(said: Any) -> bytes | None:
    """An element of a list of events as it went over the wire: a value, its text, or an object with that as `data`."""
    name = ""
    if isinstance(said, dict) and "data" in said and set(said) <= {"data", "event", "id", "time", "timestamp"}:
        name, said = said.get("event") or "", said["data"]
    if isinstance(said, str):
        bare = said.strip()
        if bare.startswith(("data:", "event:", ":")):
            return bare.encode("utf-8", "surrogatepass") + b"\n\n"
        said = DONE if bare == END else _parsed(bare)
    if said is DONE or isinstance(said, dict):
        return sse.write(said, True, name if isinstance(name, str) else "")
    return None


def _parsed(said: str) -> Any:
    if not said.lstrip().startswith(("{", "[")):
        return None
    try:
        return text.loads(said)
    except NotReadable:
        return None


def _telemetry(value: dict[str, Any]) -> Iterator[_Seen]:
    """The bodies among the attributes of telemetry records: of one, or of a whole export."""
    for path, attributes in _attributes(value):
        for inner, name, here in _named(attributes):
            if name in _ATTRIBUTES:
                yield from _seen(here, path + inner, None)


def _attributes(value: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    if "attributes" in value:
        yield ("attributes",), value["attributes"]
    for outer, middle, inner in (
        ("resourceLogs", "scopeLogs", "logRecords"),
        ("resource_logs", "scope_logs", "log_records"),
    ):
        for i, resource in enumerate(_list(value, outer)):
            for j, scope in enumerate(_list(resource, middle)):
                for k, record in enumerate(_list(scope, inner)):
                    if isinstance(record, dict) and "attributes" in record:
                        yield (outer, i, middle, j, inner, k, "attributes"), record["attributes"]


def _named(attributes: Any) -> Iterator[tuple[Path, str, Any]]:
    """Attributes as an object, or as a list of keys with typed values."""
    if isinstance(attributes, dict):
        for name, here in attributes.items():
            yield (name,), name, here
    for at, each in enumerate(attributes if isinstance(attributes, list) else []):
        if isinstance(each, dict) and isinstance(each.get("key"), str):
            typed = each.get("value")
            kind = "stringValue" if isinstance(typed, dict) and "stringValue" in typed else "string_value"
            if isinstance(typed, dict) and kind in typed:
                yield (at, "value", kind), each["key"], typed[kind]


def _list(value: Any, key: str) -> list[Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def _first(value: dict[str, Any], key: str, half: str) -> tuple[Any]:
    """What a record says in the half, or else beside it."""
    inner = value.get(half)
    return (inner[key] if isinstance(inner, dict) and key in inner else value.get(key),)


def _headers(value: dict[str, Any], half: str) -> dict[str, Any]:
    inner = value.get(half)
    found = inner.get("headers") if isinstance(inner, dict) else value.get(f"{half}_headers")
    return found if isinstance(found, dict) else {}


def put(record: Any, slot: Slot, body: Any, named: bool = False) -> Any:
    """The record with another body at that place, in the form that stood there; `body` is a value, or the bytes of a
    stream. The record itself is changed."""
    said = _formed(slot.form, body, named)
    if not slot.path:
        return said
    home = record
    for key in slot.path[:-1]:
        home = home[key]
    home[slot.path[-1]] = said
    return record


def _formed(form: str, body: Any, named: bool) -> Any:
    if form == VALUE:
        return body
    if form == TEXT:
        return text.dumps(body).decode()
    if form == STREAM:
        return body.decode("utf-8", "replace")
    reader = sse.Reader()
    events = reader.feed(body) + reader.close()
    if form == EVENTS:
        return [END if event.value is DONE else event.value for event in events if event.fault is None]
    return [sse.write(event.value, named).decode("utf-8", "replace") for event in events if event.fault is None]
