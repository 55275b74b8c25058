"""The results of a batch: one line for each request, told apart by their ids alone."""

from typing import Any

from ...errors import ProxaiError
from ...ir.nodes import Node
from ...ledger import Leaf, Writer, made
from ...protocols import PROTOCOLS
from ...tables import NUMBER, OBJECT, TEXT, Field, Must, Nested, Table
from ...text import pointer
from ..address import ANTHROPIC, OPENAI
from ..failures import is_error, read_failure, status_of, write_failure
from ..way import Way, unrecognised
from .lines import as_it_is

RESPONSE = Table(
    "batch_response",
    OPENAI,
    Field("status_code", "status", NUMBER),
    Field("request_id", "request_id"),
    Field("body", "body"),
)
FAILURE = Table("batch_failure", OPENAI, Field("code", "code", TEXT), Field("message", "message", TEXT))
OUTCOME = Table(
    "batch_outcome",
    ANTHROPIC,
    Field("type", "outcome", TEXT),
    Nested("message", "message", OBJECT, as_it_is),
    Nested("error", "error", OBJECT, as_it_is),
)
RESULT = {
    OPENAI: Table(
        "batch_result",
        OPENAI,
        Field("id", "line_id"),
        Field("custom_id", "custom_id", TEXT),
        Nested("response", "response", OBJECT, lambda leaf, context: RESPONSE.read(leaf.value, context)),
        Nested("error", "failure", OBJECT, lambda leaf, context: FAILURE.read(leaf.value, context)),
        Must("response", None),
        Must("error", None),
    ),
    ANTHROPIC: Table(
        "batch_result",
        ANTHROPIC,
        Field("custom_id", "custom_id", TEXT),
        Nested("result", "result", OBJECT, lambda leaf, context: OUTCOME.read(leaf.value, context)),
    ),
}
TABLES = (RESULT, {OPENAI: RESPONSE}, {OPENAI: FAILURE}, {ANTHROPIC: OUTCOME})

# Requests that never ran: OpenAI's code, Anthropic's word.
UNRUN = {"batch_expired": "expired", "batch_cancelled": "canceled"}
_UNRUN_BACK = {word: code for code, word in UNRUN.items()}


def write(value: Any, key: Any, w: Writer, way: Way) -> None:
    """One line, or all of them, to another protocol."""
    if isinstance(value, dict):
        _write_line(value, w.object(key), way)
        return
    to = w.list(key)
    for at, line in enumerate(value):
        if not isinstance(line, dict) or "custom_id" not in line:
            w.ledger.drop(Leaf(value, at), "unknown-field")
            continue
        try:
            _write_line(line, to.item(), way)
        except ProxaiError as error:
            raise error.at(pointer=pointer((at,))) from None


def _write_line(line: dict[str, Any], w: Writer, way: Way) -> None:
    if way.ours == way.theirs:
        _copy_line(line, w, way)
        return
    node = RESULT[way.ours].read(line, way.context)
    if way.theirs == ANTHROPIC:
        RESULT[ANTHROPIC].write(node, w, way.context, but=("response", "failure"))
        _write_outcome(node, w.object("result"), way)
    else:
        name = node.value("custom_id", "")
        w.make("id", f"batch_req_{name}", "made-id")
        _write_answer(node.get("result"), w, way)
        RESULT[OPENAI].write(node, w, way.context, but=("result",))


def protocol_of_reply(body: Any, usual: str) -> str:
    """Which of OpenAI's protocols a reply speaks, by its own word for itself."""
    said = body.get("object") if isinstance(body, dict) else None
    return {"response": "responses", "chat.completion": "chat"}.get(said, usual) if isinstance(said, str) else usual


def _copy_line(line: dict[str, Any], w: Writer, way: Way) -> None:
    """Within a vendor all but the reply goes out as it came in."""
    for key, value in line.items():
        body = value.get("body") if key == "response" and isinstance(value, dict) else None
        protocol = protocol_of_reply(body, way.source)
        if not isinstance(body, dict) or is_error(body) or protocol == way.target:
            w.put(key, Leaf(line, key))
            continue
        to = w.object(key)
        for name in value:
            if name == "body":
                node = PROTOCOLS[protocol].read["response"](body, way.context)
                PROTOCOLS[way.target].write["response"](node, to.object(name), way.context)
            else:
                to.put(name, Leaf(value, name))


# To Anthropic


def _write_outcome(line: Node, w: Writer, way: Way) -> None:
    failure, response = line.get("failure"), line.get("response")
    if failure is not None:
        w.ledger.drop(response or [], "no-equivalent")
        _write_failure(failure, w, way)
    elif response is None:
        w.make("type", "errored", "required-by-target")
        write_failure(Node("error", way.source), way.target, None, w.object("error"), way.context)
    else:
        _write_reply(response, w, way)


def _write_failure(failure: Node, w: Writer, way: Way) -> None:
    code = failure.get("code")
    if code is not None and code.value in UNRUN:
        w.put("type", code.to(UNRUN[code.value], "respelled"))
        w.ledger.drop(failure.but("code"), "no-equivalent")
        return
    w.make("type", "errored", "required-by-target")
    error = Node("error", way.source, None, dict(failure.says))
    error.extras, error.asides = failure.extras, failure.asides
    write_failure(error, way.target, None, w.object("error"), way.context)


def _write_reply(response: Node, w: Writer, way: Way) -> None:
    status, body = response.get("status"), response.get("body")
    number = None if status is None else status.value
    w.ledger.drop(response.but("body", "request_id"), "target-default")
    protocol = protocol_of_reply(None if body is None else body.value, way.source)
    if body is None or is_error(body.value) or (isinstance(number, int) and number >= 400):
        w.make("type", "errored", "required-by-target")
        error = read_failure(body.home, "body", protocol, number, way.context) if body else Node("error", protocol)
        if "request_id" in response.says:
            error.says["request_id"] = response.says["request_id"]
        write_failure(error, way.target, number, w.object("error"), way.context)
        return
    w.ledger.drop(response.get("request_id") or [], "no-equivalent")
    node = PROTOCOLS[protocol].read["response"](body.value, way.context)
    failed = node.get("error") is not None and not way.context.chosen("partial")
    w.make("type", "errored" if failed else "succeeded", "required-by-target")
    to = w.object("error" if failed else "message")
    PROTOCOLS[way.target].write["response"](node, to, way.context)


# To OpenAI


def _write_answer(result: Node | None, w: Writer, way: Way) -> None:
    if result is None:
        raise unrecognised("a line of Anthropic's results has an object `result`")
    outcome, message, error = (result.get(term) for term in ("outcome", "message", "error"))
    if message is not None:
        w.ledger.drop(result.but("message"), "target-default")
        _write_message(message, w.object("response"), way)
    elif error is not None:
        w.ledger.drop(result.but("error"), "target-default")
        _write_error(error, w.object("response"), way)
    else:
        w.ledger.drop(result.but("outcome"), "target-default")
        w.make("response", None, "required-by-target")
        _write_unrun(outcome, w.object("error"))


def _write_message(message: Leaf, w: Writer, way: Way) -> None:
    w.make("status_code", 200, "required-by-target")
    w.make("request_id", "", "required-by-target")
    node = PROTOCOLS[way.source].read["response"](message.value, way.context)
    PROTOCOLS[way.target].write["response"](node, w.object("body"), way.context)


def _write_error(error: Leaf, w: Writer, way: Way) -> None:
    node = read_failure(error.home, error.key, way.source, None, way.context)
    to = w.object("body")
    write_failure(node.but("request_id"), way.target, None, to, way.context)
    w.make("status_code", status_of(to.value, way.target, None), "required-by-target")
    w.put("request_id", node.get("request_id") or made("", "required-by-target"))
    w.order(("status_code", "request_id", "body"))


def _write_unrun(outcome: Leaf | None, w: Writer) -> None:
    if outcome is None:
        w.make("code", "batch_failed", "required-by-target")
    else:
        w.put("code", outcome.to(_UNRUN_BACK.get(outcome.value, outcome.value), "respelled"))
    w.make("message", "", "required-by-target")
