"""Error bodies of Messages, both ways (`spec/http.md` §5)."""

from typing import Any

from ...context import Context
from ...errors import NotThatProtocol
from ...ir.nodes import Node
from ...ledger import Leaf, Writer
from . import tables
from .tables import ERROR_BODY, lift

# Our type of error: OpenAI's type, and its code where it has one.
TYPES: dict[str, tuple[str, str | None]] = {
    "invalid_request_error": ("invalid_request_error", None),
    "authentication_error": ("invalid_request_error", "invalid_api_key"),
    "billing_error": ("insufficient_quota", "insufficient_quota"),
    "permission_error": ("permission_error", None),
    "not_found_error": ("invalid_request_error", "not_found"),
    "conflict_error": ("conflict_error", None),
    "request_too_large": ("invalid_request_error", "request_too_large"),
    "rate_limit_error": ("rate_limit_error", "rate_limit_exceeded"),
    "api_error": ("server_error", None),
    "timeout_error": ("server_error", "timeout"),
    "overloaded_error": ("service_unavailable_error", "server_is_overloaded"),
}
# OpenAI's code, then its type, as our type; the first that is known counts.
CODES = {
    "invalid_api_key": "authentication_error",
    "insufficient_quota": "billing_error",
    "credit_balance_exhausted": "billing_error",
    "model_not_found": "not_found_error",
    "not_found": "not_found_error",
    "request_too_large": "request_too_large",
    "rate_limit_exceeded": "rate_limit_error",
    "slow_down": "rate_limit_error",
    "timeout": "timeout_error",
    "server_is_overloaded": "overloaded_error",
    "engine_overloaded": "overloaded_error",
    "server_error": "api_error",
    "vector_store_timeout": "api_error",
    "cancelled": "api_error",
    "invalid_prompt": "invalid_request_error",
    "context_length_exceeded": "invalid_request_error",
    "data_residency_mismatch": "invalid_request_error",
    "bio_policy": "invalid_request_error",
    "misalignment_policy_violation": "invalid_request_error",
}
OPENAI_TYPES = {
    "insufficient_quota": "billing_error",
    "rate_limit_error": "rate_limit_error",
    "service_unavailable_error": "overloaded_error",
    "server_error": "api_error",
    "invalid_request_error": "invalid_request_error",
    "permission_error": "permission_error",
    "conflict_error": "conflict_error",
    "authentication_error": "authentication_error",
    "tokens": "rate_limit_error",
    "requests": "rate_limit_error",
}
STATUS = {
    400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
    404: "not_found_error", 408: "timeout_error", 409: "conflict_error", 413: "request_too_large",
    422: "invalid_request_error", 429: "rate_limit_error", 503: "overloaded_error", 504: "timeout_error",
    529: "overloaded_error",
}  # fmt: skip


def read_error(value: Any, context: Context) -> Node:
    """An error body, or the data of an error event, as a node `error`. Raises `NotThatProtocol`."""
    if not isinstance(value, dict) or not ("error" in value or "message" in value):
        raise NotThatProtocol("unrecognised", "a Messages error is an object with `error`")
    node = ERROR_BODY.read(value, context)
    lift(node, "error")
    for key in ("error", "message"):
        leaf = node.extras.get(key)
        if "message" not in node.says and leaf is not None and isinstance(leaf.value, str):
            node.says["message"] = node.extras.pop(key)
            context.find("error-shape")
    own = node.get("error_type")
    if own is not None and own.value in TYPES:
        _translate(node, own)
    details = node.get("details")
    if details is not None and isinstance(details.value, dict):
        _read_details(node, details.value)
    return node


def _translate(node: Node, own: Leaf) -> None:
    """OpenAI's type, and its code as a second copy of the same leaf."""
    kind, code = TYPES[own.value]
    words = node.value("message", "")
    if own.value == "invalid_request_error" and words.startswith("prompt is too long"):
        code = "context_length_exceeded"
    if own.value == "not_found_error" and words.startswith("model:"):
        code = "model_not_found"
    node.says["error_type"] = own if kind == own.value else own.to(kind, "respelled")
    if code is not None:
        node.says["code"] = own.to(code, "respelled")


def _read_details(node: Node, details: dict[str, Any]) -> None:
    del node.says["details"]
    for key, said in details.items():
        leaf = Leaf(details, key)
        if key == "error_code" and isinstance(said, str):
            node.says["code"] = leaf
        else:
            node.asides.append((leaf, "no-equivalent"))


def write_error(error: Node, w: Writer, context: Context) -> None:
    """A node `error` as an error body or the data of an error event."""
    if error.protocol == tables.NAME and error.home is not None:
        ERROR_BODY.write(error, w, context)
        return
    w.make("type", "error", "required-by-target")
    inner = w.object("error")
    _write_type(error, inner)
    message = error.get("message")
    if message is None or not isinstance(message.value, str):
        w.ledger.drop(message, "no-equivalent")
        inner.make("message", "", "required-by-target")
    else:
        inner.put("message", message)
    _write_cause(error.get("code"), inner)
    ERROR_BODY.write(error.but("type"), w, context, but=("error_type", "code", "message"))
    w.ledger.drop(error.get("type"), "target-default")
    w.order(ERROR_BODY.names)


def _write_type(error: Node, w: Writer) -> None:
    code, kind = error.get("code"), error.get("error_type")
    by_code = _by_code(code)
    if by_code is not None and code is not None:
        said = kind is not None and kind.home is not None  # else the code is all that was said
        leaf, others = (kind, [code]) if kind is not None and said else (code, [])
        w.put("type", leaf.to(by_code, "respelled", others))
        return
    if kind is None or not isinstance(kind.value, str):
        w.ledger.drop(kind, "no-equivalent")
        w.make("type", "api_error", "required-by-target")
        return
    word = OPENAI_TYPES.get(kind.value, "api_error")
    w.put("type", kind if word == kind.value else kind.to(word, "respelled"))


def _write_cause(code: Leaf | None, w: Writer) -> None:
    """A code that this vendor knows is the cause of an error; of others there is at most the type."""
    if code is not None and isinstance(code.value, str) and code.value in tables.ERROR_CODES:
        w.object("details").put("error_code", code)
    elif _by_code(code) is None:
        w.ledger.drop(code, "no-equivalent")


def _by_code(code: Leaf | None) -> str | None:
    """Our type by OpenAI's code; a number counts as the status."""
    if code is None or isinstance(code.value, bool):
        return None
    value = int(code.value) if isinstance(code.value, str) and code.value.isdigit() else code.value
    if isinstance(value, int):
        return STATUS.get(value, "api_error" if value >= 500 else None)
    if not isinstance(value, str):
        return None
    return CODES.get(value) or ("invalid_request_error" if "image" in value else None)
