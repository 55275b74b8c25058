"""A Responses body: its items as the parts of a reply, status and usage.

Source: `spec/responses.md`.
"""

from copy import deepcopy
from typing import Any

from ...context import Context
from ...errors import NotPossible, NotThatProtocol
from ...ir.nodes import Node
from ...ir.values import wrapped_id
from ...ledger import Leaf, Writer, made
from ...tables import nodes
from .asked import Asked
from .collected import write_output
from .error import failed
from .hosted import container_id
from .items import read_answer_item
from .output import Output
from .tables import NAME, NEUTRAL, REPLY, USAGE

# `incomplete_details.reason` and what the reply's end is called elsewhere.
INCOMPLETE = {
    "max_output_tokens": "length",
    "content_filter": "content_filter",
    "max_messages": "length",
    "steered": "end",
}
STATUS = {
    "completed": "end",
    "incomplete": "length",
    "in_progress": "running",
    "queued": "running",
    "failed": "end",
    "cancelled": "end",
}
# The other way: status and reason of each stop reason that is no plain end.
ENDINGS = {
    "length": ("incomplete", "max_output_tokens"),
    "context_full": ("incomplete", "max_output_tokens"),
    "content_filter": ("incomplete", "content_filter"),
    "running": ("in_progress", None),
}
FAILED = ("failed", "cancelled")
PLAIN_ENDS = ("end", "tool_calls", "stop_sequence", "pause", "compaction")
CLIENT_PARTS = ("tool_call", "custom_call")


def read_response(value: Any, context: Context) -> Node:
    """A response body as a node `reply`. Raises `NotThatProtocol` where it is no object with an `output`."""
    if not isinstance(value, dict) or not ("output" in value or value.get("object") == "response"):
        raise NotThatProtocol("unrecognised", "expected a Responses body: an object with `output`")
    reply = read_reply(value, context)
    parts = reply.says.pop("parts", None)
    reply.says["parts"] = []
    if parts is not None and not parts.value:
        reply.asides.append((parts, "target-default"))
    elif parts is not None:
        reply.says["parts"] = read_output(parts, context)
    finish(reply, reply.parts(), context)
    classified(reply)
    return reply


def read_reply(value: dict[str, Any], context: Context) -> Node:
    """The terms of a response beside its output; usage and error as nodes."""
    reply = REPLY.read(value, context)
    for term in ("usage", "error"):
        if reply.value(term) == {}:
            reply.asides.append((reply.says.pop(term), "target-default"))
    usage = reply.get("usage")
    if usage is not None:
        reply.says["usage"] = USAGE.read(usage.value, context)
    if "error" in reply.says or reply.value("stop_reason") in FAILED:
        reply.says["error"] = failed(value, context)
    return reply


def read_output(leaf: Leaf, context: Context) -> list[Node]:
    """The items of an output list as parts."""
    return nodes(leaf, lambda item: read_answer_item(item, context), NAME)


def finish(reply: Node, parts: list[Node], context: Context) -> None:
    """Status and its details as the reason for the stop (`spec/responses.md` §9)."""
    status, reason = reply.get("stop_reason"), _reason(reply)
    if status is None:
        reply.says["stop_reason"] = made("tool_calls" if _calls(parts) else "end", "required-by-target")
        reply.asides += [(reason, "no-equivalent")] if reason else []
        return
    if status.value == "incomplete" and reason is not None:
        stop = reason.to(INCOMPLETE.get(reason.value, reason.value), "respelled", [status])
    elif status.value == "completed" and _calls(parts):
        stop = status.to("tool_calls", "respelled")
    else:
        stop = status.to(STATUS.get(status.value, status.value), "respelled", [reason] if reason else [])
    reply.says["stop_reason"] = stop


def _reason(reply: Node) -> Leaf | None:
    """`incomplete_details.reason`; what else stands there is an extra."""
    details = reply.says.pop("incomplete_details", None)
    if details is None:
        return None
    if not details.value:
        reply.asides.append((details, "target-default"))
    reason = None
    for key, value in details.value.items():
        leaf = Leaf(details.value, key)
        if key == "reason" and isinstance(value, str):
            reason = leaf
        elif value is None:
            reply.asides.append((leaf, "target-default"))
        else:
            reply.extras["incomplete_details", key] = leaf
    return reason


def _calls(parts: list[Node]) -> bool:
    """Is there a call that the client has to answer?"""
    return any(part.kind in CLIENT_PARTS or part.value("service") == "mcp_approval_request" for part in parts)


def classified(reply: Node) -> None:
    """Of a reply that the vendor cut off, the refusal is the explanation (`spec/responses.md` §4)."""
    refusals = [part for part in reply.parts() if part.kind == "refusal" and "text" in part.says]
    if reply.value("stop_reason") != "content_filter" or not refusals:
        return
    last = refusals[-1]
    reply.says["parts"] = [part for part in reply.parts() if part is not last]
    reply.says["explanation"] = last.says["text"]
    item = last.get("item")
    if item is not None:
        reply.asides.append((item, "no-equivalent"))
    reply.asides.append((last.but("text", "item"), "target-default"))


# --- writing

# What a reply says at its end, and what is written by hand; `id` and `created` too.
ENDING = ("parts", "stop_reason", "usage", "explanation", "error", "container")
_ARRANGED = ("id", "created", *ENDING)


def write_response(reply: Node, w: Writer, context: Context) -> None:
    """A response body. At home it goes out as it came in.

    Raises `NotPossible`: `empty` for a reply without a choice, `still-running` for one that is not finished, unless
    `--set partial=true`.
    """
    if reply.protocol == NAME and reply.home is not None:
        REPLY.write(reply, w, context)
        return
    if "parts" not in reply.says:
        raise NotPossible("empty", "the reply holds no choice", hint="look at it with `proxai inspect`")
    begin(reply, w, context)
    if reply.protocol == NAME:
        write_output(reply.parts(), w.list("output"), context)
    else:
        _write_parts(reply, w, context)
    if not w.value["output"]:
        context.find("empty-reply")
        w.make("output", [], "required-by-target")
    end(reply, w, context)
    if reply.protocol != NAME or "stop_reason" not in reply.says:
        neutral(w, context)
    w.order(REPLY.names)


def _write_parts(reply: Node, w: Writer, context: Context) -> None:
    container = container_id(reply.get("container"), w.ledger)
    output = Output(w.list("output"), w.value["id"], context, container)
    output.parts(reply.parts())
    w.ledger.drop(container, "foreign-id")  # unless code ran in it
    explanation = reply.get("explanation")
    texts = [part.value("text") for part in reply.parts() if part.kind == "text"]
    if explanation is not None and texts and explanation.value == texts[-1]:
        w.ledger.drop(explanation, "duplicate")
    elif explanation is not None and reply.value("stop_reason") == "content_filter":
        output.refusal(Node("refusal", reply.protocol, None, {"text": explanation}))
    elif explanation is not None:
        w.ledger.drop(explanation, "no-equivalent")


def begin(reply: Node, w: Writer, context: Context) -> None:
    """Id, time, and all else that stands beside output, status and usage."""
    if "id" in reply.says:
        id = reply.says["id"]
        w.put("id", id if reply.protocol == NAME else wrapped_id(id, "resp_", "resp_"))
    else:
        w.make("id", "resp_unknown", "required-by-target")
    write_time(reply, w, context)
    write_terms(reply, w, context, _ARRANGED)
    if "model" not in w.value:
        w.make("model", "", "required-by-target")


def write_time(reply: Node, w: Writer, context: Context) -> None:
    """When the reply was made: the source's own time, else that of the captured headers, else 0."""
    if "created" in reply.says:
        w.put("created_at", reply.says["created"])
        return
    if "date" not in context.headers:
        w.make("created_at", 0, "no-time")
        return
    from email.utils import parsedate_to_datetime

    try:
        date = parsedate_to_datetime(context.headers["date"])
        w.make("created_at", int(date.timestamp()), "required-by-target")
    except (TypeError, ValueError):
        w.make("created_at", 0, "no-time")


def write_terms(reply: Node, w: Writer, context: Context, but: tuple[str, ...]) -> None:
    """What the table knows of a reply, or of its finish; at home also that something was null."""
    if reply.protocol != NAME:
        REPLY.write(reply, w, context, but)
        return
    for leaf, _ in reply.asides:
        if isinstance(leaf, Leaf) and leaf.value is None and "output" in leaf.home and leaf.key not in w.value:
            w.put(leaf.key, leaf)
    said = reply.but()
    said.extras = {key: leaf for key, leaf in reply.extras.items() if not isinstance(key, tuple)}
    REPLY.write(said, w, context, but)
    for key in reply.extras.keys() - said.extras.keys():
        w.ledger.drop(reply.extras[key], "unknown-field")


def end(reply: Node, w: Writer, context: Context) -> None:
    """Status, its details, and usage."""
    stop = reply.get("stop_reason")
    if stop is None:
        cut = reply.protocol == "repair"
        w.make("status", "incomplete" if cut else "completed", "stream-was-cut" if cut else "required-by-target")
    elif reply.protocol == NAME:
        _write_own_status(stop, w)
    else:
        write_status(stop, reply.protocol, w, context)
    usage = reply.get("usage")
    if usage is not None:
        write_usage(usage, w, context)


def _write_own_status(stop: Leaf, w: Writer) -> None:
    for leaf in (stop, *stop.joined):
        if leaf.home is None:
            w.make("status", "completed", "required-by-target")
        elif leaf.key == "reason":
            w.object("incomplete_details").put("reason", Leaf(leaf.home, leaf.key))
        else:
            w.put("status", Leaf(leaf.home, leaf.key))


def write_status(stop: Leaf, protocol: str, w: Writer, context: Context) -> None:
    """The reason for a stop as status and details (`spec/responses.md` §9)."""
    if stop.value not in ENDINGS and stop.value not in PLAIN_ENDS:
        context.find("unknown-stop")
    if stop.value == "pause":
        context.find("paused-turn")
    if stop.value == "running" and protocol == "chat" and not context.chosen("partial"):
        raise NotPossible("still-running", "the reply has no reason for its end", hint="--set partial=true")
    status, reason = ENDINGS.get(stop.value, ("completed", None))
    w.put("status", stop.to(status, "respelled"))
    if reason:
        w.object("incomplete_details").put("reason", stop.to(reason, "respelled"))


def write_usage(usage: Node, w: Writer, context: Context) -> None:
    """Counts of tokens; the sum of both where the source does not say it (`spec/responses.md` §10)."""
    _write_searches(usage.get("tool_counts"), w)
    said, counts = usage.but("tool_counts"), [usage.get(term) for term in ("input_tokens", "output_tokens")]
    numbers = [count for count in counts if count is not None and isinstance(count.value, (int, float))]
    if usage.protocol != NAME and "total_tokens" not in said.says and numbers:
        said.says["total_tokens"] = numbers[0].to(sum(count.value for count in numbers), "usage-sum", numbers[1:])
    USAGE.write(said, w.object("usage"), context)


def _write_searches(counts: Leaf | None, w: Writer) -> None:
    """How often the web was searched, which stands here beside the counts of images (`spec/responses.md` §1.3)."""
    home = counts.value if counts is not None and isinstance(counts.value, dict) else {}
    if counts is None or not isinstance(home.get("web_search_requests"), int):
        w.ledger.drop(counts, "no-equivalent")
        return
    if not home["web_search_requests"]:
        w.ledger.drop([Leaf(home, key) for key in home], "target-default")
        return
    used = w.object("tool_usage")
    none = {"input_tokens": 0, "input_tokens_details": {"image_tokens": 0, "text_tokens": 0}, "output_tokens": 0}
    used.make("image_gen", {**none, "total_tokens": 0}, "required-by-target")
    used.object("web_search").put("num_requests", Leaf(home, "web_search_requests"))
    w.ledger.drop([Leaf(home, key) for key in home if key != "web_search_requests"], "no-equivalent")


def neutral(w: Writer, context: Context) -> None:
    """What a response repeats of its request, and what clients expect in every one (`spec/responses.md` §1.2)."""
    for name, value in Asked(context).echoes().items():
        if name not in w.value:
            w.make(name, value, "from-request")
    for name, value in NEUTRAL:
        if name not in w.value:
            w.make(name, deepcopy(value), "required-by-target")
