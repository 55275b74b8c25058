"""OpenAI error bodies, and how errors stand in a Responses stream. Source: `spec/http.md` §5."""

from typing import Any

from ...context import Context
from ...errors import NotThatProtocol
from ...ir.nodes import Node
from ...ledger import Leaf, Ledger, Writer, made
from ...tables import Field, Must, Table
from .items import lost
from .tables import ERROR, NAME


def _spelled(leaf: Leaf, context: Context) -> Leaf:
    """A number (some servers write the status as the code) as a text."""
    return leaf if isinstance(leaf.value, str) else leaf.to(str(leaf.value), "respelled")


BODY = Table(
    "error",
    NAME,
    Field("message", "message", "text"),
    Field("type", "error_type", "text"),
    Field("param", "param", write=_spelled),
    Field("code", "code", write=_spelled),
    Field("misalignment", "misalignment"),
    Must("message", ""),
    Must("type", "server_error"),
    Must("param", None),
    Must("code", None),
)

# The codes of a failed response (`ResponseError`), and the general type of those that are no `invalid_request_error`.
CODES = (
    "server_error",
    "rate_limit_exceeded",
    "invalid_prompt",
    "data_residency_mismatch",
    "bio_policy",
    "misalignment_policy_violation",
    "vector_store_timeout",
    "invalid_image",
    "invalid_image_format",
    "invalid_base64_image",
    "invalid_image_url",
    "image_too_large",
    "image_too_small",
    "image_parse_error",
    "image_content_policy_violation",
    "invalid_image_mode",
    "image_file_too_large",
    "unsupported_image_media_type",
    "empty_image_file",
    "failed_to_download_image",
    "image_file_not_found",
)
GENERAL = {
    "server_error": "server_error",
    "vector_store_timeout": "server_error",
    "rate_limit_exceeded": "rate_limit_error",
}


def read_error(value: Any, context: Context) -> Node:
    """An error body as a node `error`. Raises `NotThatProtocol` where it is no object with `error`."""
    if not isinstance(value, dict) or "error" not in value:
        raise NotThatProtocol("unrecognised", "expected an error body: an object with `error`")
    inner = value["error"]
    if isinstance(inner, dict) and inner:
        error = BODY.read(inner, context)
    else:
        error = Node("error", NAME)
        context.find("error-shape")
        leaf = Leaf(value, "error")
        if isinstance(inner, str):
            error.says["message"] = leaf
        else:
            error.asides.append((leaf, "target-default"))
    error.home = value
    error.asides += [(Leaf(value, key), "unknown-field") for key in value if key != "error"]
    return error


def write_error(error: Node, w: Writer, context: Context) -> None:
    """An error body; at home it goes out as it came in, and a failed response as a response."""
    reply = error.get("failed")
    home = error.home if reply is None else reply.home
    if error.protocol == NAME and isinstance(home, dict) and "error" in home:
        for key in home:
            w.put(key, Leaf(home, key))
        return
    error = typed(error)
    error.home = None
    BODY.write(error.but("request_id"), w.object("error"), context)
    w.ledger.drop(error.get("request_id"), "no-equivalent")


def typed(error: Node) -> Node:
    """The error with a general type, which a failed response leaves out, taken from its code."""
    error = error.but()
    code = error.get("code")
    if "error_type" not in error.says and code is not None and code.value in CODES:
        error.says["error_type"] = made(GENERAL.get(code.value, "invalid_request_error"), "required-by-target")
    return error


def read_failure(event: dict[str, Any], ledger: Ledger, context: Context) -> Node:
    """The error that `response.failed` or an `error` event tells."""
    response = event.get("response")
    if isinstance(response, dict) and response:
        return failed(response, context)
    if "response" in event:
        ledger.drop(Leaf(event, "response"), "unknown-field")
    if event.get("error"):
        return _nested(event, "error", context)
    error = Node("error", NAME)
    for key in ("code", "message", "param", "error"):
        if key in event and (event[key] is None or key == "error"):
            error.asides.append((Leaf(event, key), "target-default"))
        elif key in event:
            error.says[key] = Leaf(event, key)
    error.says.setdefault("message", made("", "required-by-target"))
    return typed(error)


def failed(response: dict[str, Any], context: Context) -> Node:
    """The error of a failed response; it says the response, too, for whoever tells a failure by a whole reply."""
    if response.get("error"):
        error = _nested(response, "error", context)
    else:
        error = Node("error", NAME, None, {"message": made("the response failed", "required-by-target")})
        word = "cancelled" if response.get("status") == "cancelled" else "server_error"
        error.says["code"] = made(word, "required-by-target")
    reply = Node("reply", NAME, response)
    told = () if isinstance(response.get("error"), (dict, str)) and response["error"] else ("error",)
    reply.says = {key: Leaf(response, key) for key in response if key != "error" or key in told}
    error.says["failed"] = reply
    return typed(error)


def _nested(home: dict[str, Any], key: str, context: Context) -> Node:
    """An error in an object of its own, or as a lone text."""
    leaf = Leaf(home, key)
    if isinstance(leaf.value, dict):
        error = ERROR.read(leaf.value, context)
        error.home = None
        error.says.setdefault("message", made("", "required-by-target"))
        return typed(error)
    if isinstance(leaf.value, str):
        return Node("error", NAME, None, {"message": leaf})
    error = Node("error", NAME, None, {"message": made("", "required-by-target")})
    error.asides.append((leaf, "unknown-field"))
    return error


# What a failed response says of errors that have no code there (`spec/http.md` §5).
_BUSY = ("rate_limit_error", "rate_limit_exceeded", "slow_down", "service_unavailable_error", "server_is_overloaded")
_BROKEN = ("server_error", "api_error", "timeout", "timeout_error")


def write_failure(error: Node, response: Writer, context: Context) -> None:
    """`error` of a failed response, whose code is one of a short list."""
    said, code = error.but("request_id"), error.get("code")
    words = [error.value(term) for term in ("code", "error_type")]
    if code is None or code.value not in CODES:
        fitting = "rate_limit_exceeded" if any(word in _BUSY for word in words) else "invalid_prompt"
        fitting = "server_error" if any(word in _BROKEN for word in words) or not any(words) else fitting
        said.says["code"] = made(fitting, "required-by-target") if code is None else code.to(fitting, "respelled")
    inner = response.object("error")
    ERROR.write(said, inner, context)
    if "message" not in inner.value:
        inner.make("message", "", "required-by-target")
    inner.order(ERROR.names)
    response.ledger.drop(error.get("request_id"), "no-equivalent")


def write_error_event(error: Node, w: Writer, context: Context) -> None:
    """The `error` event of a stream that has not begun; a type is told where there is no code."""
    code, kind = error.get("code"), error.get("error_type")
    for key, leaf in (("code", code or kind), ("message", error.get("message")), ("param", error.get("param"))):
        if leaf is not None:
            w.put(key, leaf if error.protocol == NAME else _spelled(leaf, context))
        else:
            w.make(key, "" if key == "message" else None, "required-by-target")
    lost(error, w.ledger, ("message", "param", "code", *(() if code else ("error_type",))))
