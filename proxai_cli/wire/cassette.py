"""Cassettes, in which tests record their calls: YAML or JSON, in the forms of the recorders of several languages.

A body is a text, bytes, base64, packed or not (whatever the header says), or the value that it spells.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from .. import text
from ..errors import NotReadable, Place
from .calls import Capture, Fault, Message, bytes_of, damaged, head_of, object_at, of_call
from .packing import GZIP, MAX_SIZE
from .values import elements

CONTAINER = "cassette"
MOST_NODES = 1 << 20
LISTS = ("interactions", "http_interactions")


def captures(pieces: Iterable[bytes], start: Place, key: str, max_size: int = MAX_SIZE) -> Iterator[Capture]:
    """The documents of a cassette of JSON, whose interactions stand under this key; piece by piece."""
    for number, (data, place) in enumerate(elements(pieces, start, key)):
        at = f"/{key}/{number}"
        try:
            interaction = text.loads(data)
        except NotReadable as fault:
            yield damaged(CONTAINER, number, fault, at, place)
            continue
        yield from _captures(interaction, number, at, place, max_size)


def captures_of_yaml(data: bytes, start: Place, max_size: int = MAX_SIZE) -> Iterator[Capture]:
    """The documents of a cassette of YAML. Raises `unreadable` where it is none that could be read."""
    cassette = _read_yaml(data, start)
    key = next((key for key in LISTS if isinstance(cassette, dict) and isinstance(cassette.get(key), list)), None)
    if key is None:
        raise NotReadable(
            "unreadable", "this is YAML, but no cassette with a list of interactions", start, "--at POINTER"
        )
    for number, interaction in enumerate(cassette[key]):
        yield from _captures(interaction, number, f"/{key}/{number}", start, max_size)


def _read_yaml(data: bytes, start: Place) -> Any:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(data, Loader=loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = Place(line=mark.line + (start.line or 1), column=mark.column + 1) if mark else start
        hint = "record it again, or mend the file"
        raise NotReadable("unreadable", "the YAML of this cassette is cut or broken", place, hint) from None


def _captures(interaction: Any, number: int, at: str, place: Place, max_size: int) -> Iterator[Capture]:
    request, answer = object_at(interaction, "request"), object_at(interaction, "response")
    asked = head_of(request.get("method"), request.get("uri", request.get("url")), None, object_at(request, "headers"))
    answered = head_of(None, None, _status(answer), object_at(answer, "headers"))
    question, reply = _message(asked, request, f"{at}/request"), _message(answered, answer, f"{at}/response")
    # Where there is neither, the answer stands for an interaction that is empty.
    told = reply if answer or not question.body else None
    yield from of_call(CONTAINER, number, question, told, place, max_size)


def _status(answer: dict[str, Any]) -> Any:
    status = answer.get("status", answer.get("status_code"))
    code = status.get("code") if isinstance(status, dict) else status
    return code if type(code) is int else answer.get("code")


def _message(head: Any, half: dict[str, Any], at: str) -> Message:
    for key in ("body", "parsed_body", "content"):
        body, fault = _bytes(half.get(key), f"{at}/{key}")
        if body or fault:
            return Message(head, body, f"{at}/{key}", fault)
    return Message(head, b"", f"{at}/body")


def _bytes(body: Any, inside: str) -> tuple[bytes, Fault | None]:
    """A body in whatever form it was kept."""
    if isinstance(body, bytes):
        return body, None
    if isinstance(body, str):
        # Packed bytes that a recorder took for Latin-1.
        packed = body.startswith(GZIP.decode("latin-1")) and all(char <= "\xff" for char in body)
        return body.encode("latin-1" if packed else "utf-8", "surrogatepass"), None
    if isinstance(body, dict):
        for key in ("string", "base64_string", "base64String"):
            kept = body.get(key)
            if isinstance(kept, str) and (key != "string" or body.get("encoding") == "base64"):
                return bytes_of(kept, True, inside)
            if kept is not None:
                return _bytes(kept, inside)
        if not body or set(body) <= {"encoding", "string"}:
            return b"", None
    if body is None:
        return b"", None
    try:
        said = text.dumps(body) if _is_finite(body) else None
    except (TypeError, ValueError):
        said = None
    if said is not None:
        return said, None
    # YAML knows dates, and values that hold themselves, which JSON does not.
    return b"", ("bad-json", "a body holds what JSON cannot say", Place(pointer=inside), "keep bodies as text")


def _is_finite(value: Any) -> bool:
    """Whether a value has an end, and no more nodes than a body may have: in YAML one may stand in many places."""
    todo, count = [value], 0
    while todo:
        node, count = todo.pop(), count + 1
        if count > MOST_NODES:
            return False
        if isinstance(node, (dict, list)):
            todo += node.values() if isinstance(node, dict) else node
    return True
