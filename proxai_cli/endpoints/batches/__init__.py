"""Batches: what is asked, what is known of a batch, and its results (`spec/http.md` §8).

A request is Anthropic's `{"requests": […]}` or OpenAI's file as the list of its lines; one line of either stands for
itself. A response is a batch, a list of batches, or the list of a batch's results; one line of these stands for itself.
"""

from typing import Any

from ...ledger import Writer
from .. import pages
from ..address import BATCHES
from ..way import Endpoint, Way, unrecognised, whole
from . import lines, results, state


def carry(home: Any, key: Any, w: Writer, way: Way) -> None:
    """One of these documents to another protocol.

    Raises `NotThatProtocol`, and `NotPossible`: `dup-custom-id`, `no-endpoint` for a line of another call, `empty`
    where the requests are in a file that is not there, and what the protocols raise for a line.
    """
    value = home[key]
    if way.kind == "request":
        if not is_request(value):
            raise unrecognised("a batch to be run is an object with `requests`, or lines with `custom_id`")
        lines.judge(value, way)
        if way.source == way.target:
            whole(home, key, w)
        else:
            lines.write(value, key, w, way)
        return
    if not (is_result(value) or state.is_batch(value) or pages.is_page_of(value, state.is_batch)):
        raise unrecognised(
            "what is known of a batch is an object `batch` or `message_batch`, a list of them, or results"
        )
    if way.source == way.target:
        whole(home, key, w)
    elif is_result(value):
        results.write(value, key, w, way)
    else:
        state.write(value, w.object(key), way)


def is_request(value: Any) -> bool:
    if isinstance(value, list):
        return any(isinstance(each, dict) and "custom_id" in each for each in value) and not is_result(value)
    if not isinstance(value, dict):
        return False
    asked = value.get("requests")
    return isinstance(asked, list) or ("custom_id" in value and not is_result(value)) or "input_file_id" in value


def is_result(value: Any) -> bool:
    """A line of results, or a list that holds one."""
    if isinstance(value, list):
        return any(isinstance(each, dict) and is_result(each) for each in value)
    return isinstance(value, dict) and "custom_id" in value and bool({"result", "response", "error"} & set(value))


def knows(value: Any) -> str | None:
    """A body whose own words say that it belongs to a batch."""
    if is_result(value) or state.is_batch(value) or pages.is_page_of(value, state.is_batch):
        return "response"
    asked = value.get("requests") if isinstance(value, dict) else value
    if isinstance(value, dict) and "custom_id" in value:
        asked = [value]
    is_asked = isinstance(asked, list) and any(isinstance(each, dict) and "custom_id" in each for each in asked)
    ordered = isinstance(value, dict) and {"input_file_id", "endpoint"} <= set(value)
    return "request" if is_asked or ordered else None


ENDPOINT = Endpoint(
    BATCHES,
    "batch",
    carry,
    knows,
    {
        f"{vendor}.{table.kind}": table
        for of in (*lines.TABLES, *results.TABLES, *state.TABLES)
        for vendor, table in of.items()
    },
)
