"""What a batch asks: one request a line, each with its own id."""

import re
from typing import Any

from ...context import Context
from ...errors import NotPossible, Place, ProxaiError
from ...ledger import Leaf, Writer
from ...protocols import PROTOCOLS
from ...tables import OBJECT, TEXT, Field, Gap, Must, Nested, Table
from ...text import pointer
from ..address import ANTHROPIC, CREATE, OPENAI, Address, address, protocol_of, written
from ..way import Way, unrecognised

CUSTOM_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")

# A batch does not stream, so these say nothing in it.
STREAMING = ("stream", "include_usage", "include_obfuscation")


def as_it_is(leaf: Leaf, context: Context) -> Leaf:
    """For what is arranged beside the table."""
    return leaf


LINE = {
    OPENAI: Table(
        "batch_line",
        OPENAI,
        Field("custom_id", "custom_id", TEXT),
        Field("method", "method"),
        Field("url", "call", TEXT),
        Nested("body", "request", OBJECT, as_it_is),
        Must("method", "POST"),
    ),
    ANTHROPIC: Table(
        "batch_line",
        ANTHROPIC,
        Field("custom_id", "custom_id", TEXT),
        Nested("params", "request", OBJECT, as_it_is),
        Gap("method", "target-default"),
        Gap("call", "target-default"),
    ),
}
TABLES = (LINE,)


def judge(value: Any, way: Way) -> None:
    """Raises `dup-custom-id`; notes ids that the target would refuse."""
    asked, path = requests_of(value)
    seen: set[str] = set()
    for at, line in enumerate(asked):
        name = line.get("custom_id") if isinstance(line, dict) else None
        if not isinstance(name, str):
            continue
        place = ("custom_id",) if line is value else (*path, at, "custom_id")
        if name in seen:
            raise NotPossible(
                "dup-custom-id",
                "two requests of the batch have the same `custom_id`, so their results could not be told apart",
                Place(pointer=pointer(place)),
                "give each request an id of its own",
            )
        seen.add(name)
        if way.theirs == ANTHROPIC and not CUSTOM_ID.fullmatch(name):
            way.context.find("illegal-custom-id", place)


def requests_of(value: Any) -> tuple[list[Any], tuple[Any, ...]]:
    """The lines of whatever form, and the path at which their list stands."""
    if isinstance(value, list):
        return value, ()
    if isinstance(value.get("requests"), list):
        return value["requests"], ("requests",)
    return ([value], ()) if "custom_id" in value else ([], ())


def write(value: Any, key: Any, w: Writer, way: Way) -> None:
    """To another protocol: the lines of a file become a list of requests, and the reverse."""
    if isinstance(value, dict) and not isinstance(value.get("requests"), list):
        if "custom_id" in value:
            write_line(value, w.object(key), way)
        else:
            _write_order(value, w.object(key), way)
        return
    asked, path = requests_of(value)
    to = w.object(key).list("requests") if way.theirs == ANTHROPIC else w.list(key)
    for at, line in enumerate(asked):
        if not isinstance(line, dict) or "custom_id" not in line:
            w.ledger.drop(Leaf(asked, at), "unknown-field")
            continue
        try:
            write_line(line, to.item(), way)
        except ProxaiError as error:
            raise error.at(pointer=pointer((*path, at))) from None
    if not to.value:
        raise NotPossible("empty", "the batch holds no request")
    if isinstance(value, dict):
        w.ledger.drop([Leaf(value, name) for name in value if name != "requests"], "unknown-field")


def _write_order(value: dict[str, Any], w: Writer, way: Way) -> None:
    """OpenAI's order to run an uploaded file."""
    if way.theirs == ANTHROPIC:
        raise NotPossible(
            "empty",
            "the requests of this batch are in an uploaded file, which is not in the capture",
            hint="translate that file instead",
        )
    for key in value:
        w.put(key, own_call(Leaf(value, key), way) if key == "endpoint" else Leaf(value, key))


def own_call(leaf: Leaf, way: Way) -> Leaf:
    """The path of a call that creates a reply, as the same call of the target; any other path stays."""
    known = protocol_of(leaf.value) if isinstance(leaf.value, str) else None
    if known is None or known == way.target:
        return leaf
    return leaf.to(written(address(leaf.value), known, way.target), "respelled")


def path_of(protocol: str) -> str:
    """The path of the call that creates a reply."""
    return written(Address(CREATE, prefix="/v1"), protocol, protocol)


def write_line(line: dict[str, Any], w: Writer, way: Way) -> None:
    """One request with its id. Raises `no-endpoint` for a call that the target does not have."""
    node = LINE[way.ours].read(line, way.context)
    call, request = node.get("call"), node.get("request")
    protocol = way.source if call is None else protocol_of(call.value)
    if way.ours == way.theirs:
        _copy_line(line, protocol, w, way)
        return
    if protocol is None:
        raise NotPossible(
            "no-endpoint", "this line of the batch makes a call that the target does not have", hint="take the line out"
        )
    if request is None:
        raise unrecognised("a line of a batch has a request as `body` or `params`")
    LINE[way.theirs].write(node, w, way.context, but=("request",))
    if way.theirs == OPENAI:
        w.make("url", path_of(way.target), "required-by-target")
    name = "params" if way.theirs == ANTHROPIC else "body"
    _write_request(request.value, protocol, w.object(name), way)
    w.order(LINE[way.theirs].names)


def _copy_line(line: dict[str, Any], protocol: str | None, w: Writer, way: Way) -> None:
    """Within a vendor all but the request, and the call that it is for, goes out as it came in."""
    for key in line:
        leaf = Leaf(line, key)
        if key == "body" and protocol not in (None, way.target) and isinstance(leaf.value, dict):
            _write_request(leaf.value, protocol or way.source, w.object(key), way)
        else:
            w.put(key, own_call(leaf, way) if key == "url" else leaf)


def _write_request(value: dict[str, Any], protocol: str, w: Writer, way: Way) -> None:
    node = PROTOCOLS[protocol].read["request"](value, way.context)
    if way.theirs == ANTHROPIC:
        for term in STREAMING:
            leaf = node.get(term)
            if leaf is not None:
                w.ledger.drop(leaf, "target-rejects" if leaf.value else "target-default")
        node = node.but(*STREAMING)
    PROTOCOLS[way.target].write["request"](node, w, way.context)
