"""Errors with the status that they came with (`spec/http.md` §5).

The protocols translate an error's body; here stands what only the status line tells, and what becomes of it.
"""

from typing import Any

from .. import text
from ..context import Context
from ..errors import NotThatProtocol
from ..ir.nodes import Node
from ..ledger import Leaf, Writer, made
from ..protocols import PROTOCOLS
from ..protocols.messages.error import CODES
from .address import ANTHROPIC, VENDOR

# OpenAI's type of error by the status alone, and the status of an OpenAI error by its type or code.
TYPES = {402: "insufficient_quota", 403: "permission_error", 408: "server_error", 409: "conflict_error",
         429: "rate_limit_error", 503: "service_unavailable_error", 529: "service_unavailable_error"}  # fmt: skip
OPENAI_STATUS = {
    "invalid_api_key": 401,
    "insufficient_quota": 429,
    "permission_error": 403,
    "model_not_found": 404,
    "not_found": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "service_unavailable_error": 503,
    "invalid_request_error": 400,
    "server_error": 500,
}
ANTHROPIC_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
# Statuses that only Anthropic has.
_ONLY_ANTHROPIC = {402: 429, 529: 503}


def is_error(value: Any) -> bool:
    """Is a body an error by its own words, whatever the status says?"""
    if not isinstance(value, dict):
        return False
    error = value.get("error")
    bare = not {"choices", "output", "content", "data", "id", "custom_id"} & set(value)
    return value.get("type") == "error" or (isinstance(error, (dict, str)) and bool(error) and bare)


def read_failure(home: Any, key: Any, source: str, status: Any, context: Context) -> Node:
    """The error at this place as a node; what no protocol knows has its text for message (`error-shape`)."""
    value = home[key]
    try:
        node = PROTOCOLS[source].read["error"](value, context)
    except NotThatProtocol:
        context.find("error-shape")
        node = Node("error", source)
        if isinstance(value, str):
            node.says["message"] = Leaf(home, key)
        elif value:
            node.says["message"] = Leaf(home, key).to(text.dumps(value).decode(), "json-dump")
        else:
            node.asides.append((Leaf(home, key), "target-default"))
    if is_status(status) and "error_type" not in node.says:
        general = "server_error" if status >= 500 else "invalid_request_error"
        node.says["error_type"] = made(TYPES.get(status, general), "required-by-target")
    return node


def write_failure(error: Node, target: str, status: Any, w: Writer, context: Context) -> None:
    """An error to another protocol; where its code says nothing to Anthropic, the status does."""
    code = error.get("code")
    if VENDOR[target] == ANTHROPIC and is_status(status) and not (code is not None and _says(code.value)):
        error = error.but()
        error.says["code"] = made(status, "required-by-target") if code is None else code.to(status, "respelled")
    PROTOCOLS[target].write["error"](error, w, context)


def _says(code: Any) -> bool:
    return isinstance(code, str) and (code in CODES or "image" in code)


def status_of(body: Any, target: str, status: Any) -> Any:
    """The status with which the target sends the error in `body`; `status` is the source's, or None."""
    inner = body.get("error") if isinstance(body, dict) else None
    said = [inner.get("code"), inner.get("type")] if isinstance(inner, dict) else []
    words = [word for word in said if isinstance(word, str)]
    if VENDOR[target] == ANTHROPIC:
        return next((ANTHROPIC_STATUS[word] for word in reversed(words) if word in ANTHROPIC_STATUS), status)
    if is_status(status) and status >= 400:
        return _ONLY_ANTHROPIC.get(status, status)
    return next((OPENAI_STATUS[word] for word in words if word in OPENAI_STATUS), 500)


def is_status(status: Any) -> bool:
    """A status code of HTTP that tells of an error, or of its absence."""
    return type(status) is int and 100 <= status <= 599
