"""Embeddings: the shape of OpenAI, which others took over (`spec/http.md` §7).

A body goes out as it came in, but for the form of the vectors under `--set encoding=base64` or `float`: numbers, or
base64 of little-endian 32-bit floats. Vectors that 32 bits cannot hold to the digit stay as they are.
"""

import base64
import binascii
import math
import struct
from typing import Any

from ..ledger import Leaf, Writer
from .address import EMBEDDINGS
from .way import Endpoint, Way, unrecognised, whole

BASE64, FLOAT = "base64", "float"


def carry(home: Any, key: Any, w: Writer, way: Way) -> None:
    """A request for embeddings, or the embeddings. Raises `NotThatProtocol`."""
    value = home[key]
    if way.kind == "request" and (not isinstance(value, dict) or "input" not in value):
        raise unrecognised("a request for embeddings is an object with `input`")
    if way.kind == "response" and (not isinstance(value, dict) or not isinstance(value.get("data"), list)):
        raise unrecognised("embeddings are an object with a list `data`")
    form = way.context.choice("encoding")
    if form not in (BASE64, FLOAT):
        whole(home, key, w)
    elif way.kind == "request":
        _write_request(value, w.object(key), form)
    else:
        _write_response(value, w.object(key), form)


def _write_request(value: dict[str, Any], w: Writer, form: str) -> None:
    for key in value:
        leaf = Leaf(value, key)
        w.put(key, leaf.to(form, "respelled") if key == "encoding_format" else leaf)
    if "encoding_format" not in value and form == BASE64:
        w.make("encoding_format", form, "required-by-target")


def _write_response(value: dict[str, Any], w: Writer, form: str) -> None:
    for key in value:
        if key != "data" or not value["data"]:
            w.put(key, Leaf(value, key))
            continue
        listed = w.list("data")
        for at, embedding in enumerate(value["data"]):
            if not isinstance(embedding, dict) or not embedding:
                listed.append(Leaf(value["data"], at))
                continue
            item = listed.item()
            for name in embedding:
                leaf = Leaf(embedding, name)
                item.put(name, _in_form(leaf, form) if name == "embedding" else leaf)


def _in_form(leaf: Leaf, form: str) -> Leaf:
    if form == BASE64 and isinstance(leaf.value, list):
        packed = packed_floats(leaf.value)
        return leaf if packed is None else leaf.to(packed, "respelled")
    if form == FLOAT and isinstance(leaf.value, str):
        numbers = unpacked_floats(leaf.value)
        return leaf if numbers is None else leaf.to(numbers, "respelled")
    return leaf


def packed_floats(numbers: list[Any]) -> str | None:
    """Numbers as base64 of 32-bit floats; None where that would not give the same numbers again."""
    if not numbers or not all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in numbers):
        return None
    try:
        data = struct.pack(f"<{len(numbers)}f", *numbers)
    except (OverflowError, struct.error):
        return None
    again = zip(numbers, struct.unpack(f"<{len(numbers)}f", data), strict=True)
    exact = all(math.isfinite(read) and number in (read, shortest(read)) for number, read in again)
    return base64.b64encode(data).decode() if exact else None


def unpacked_floats(packed: str) -> list[float] | None:
    """The numbers of a base64 text, each with the fewest digits that tell it; None where it is none."""
    try:
        data = base64.b64decode(packed, validate=True)
    except (binascii.Error, ValueError):
        return None
    if not data or len(data) % 4:
        return None
    numbers = struct.unpack(f"<{len(data) // 4}f", data)
    return [shortest(each) for each in numbers] if all(map(math.isfinite, numbers)) else None


def shortest(number: float) -> float:
    """The number with the fewest digits that is the same 32-bit float."""
    raw = struct.pack("<f", number)
    for digits in range(6, 9):
        said = float(f"{number:.{digits}g}")
        if _same_float(said, raw):
            return said
    return float(f"{number:.9g}")


def _same_float(number: float, raw: bytes) -> bool:
    try:
        return struct.pack("<f", number) == raw
    except OverflowError:
        return False


def knows(value: Any) -> str | None:
    """Embeddings, or a request for them, by their own words."""
    if not isinstance(value, dict):
        return None
    data = value.get("data")
    is_list = (
        isinstance(data, list) and bool(data) and all(isinstance(each, dict) and "embedding" in each for each in data)
    )
    return "response" if is_list else "request" if _is_request(value) else None


def _is_request(value: dict[str, Any]) -> bool:
    """Something to embed, and a word that only such a request has, or a model made for it."""
    model = value.get("model")
    named = isinstance(model, str) and "embed" in model.lower()
    return "input" in value and (named or bool({"encoding_format", "dimensions", "input_type"} & set(value)))


ENDPOINT = Endpoint(EMBEDDINGS, "call for embeddings", carry, knows, {})
