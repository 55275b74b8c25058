"""Error bodies, and error chunks in a stream.

Source: `spec/http.md` §5.
"""

from typing import Any

from ...context import Context
from ...errors import NotThatProtocol
from ...ir.nodes import Node
from ...ledger import Leaf, Writer
from .tables import ERROR, FAULT, NAME

# The type that belongs to a code which stands alone, as a failed Responses reply has it.
TYPE_OF_CODE = {
    "server_error": "server_error",
    "vector_store_timeout": "server_error",
    "cancelled": "server_error",
    "rate_limit_exceeded": "rate_limit_error",
}


def read_error(value: Any, context: Context) -> Node:
    """An error body: `{"error": {…}}`, or the fault itself at the top as some servers have it."""
    if not isinstance(value, dict) or not ("error" in value or "message" in value):
        raise NotThatProtocol("unrecognised", "a chat error is an object with `error`; there is none")
    if "error" not in value:
        context.find("error-shape")
        return FAULT.read(value, context)
    node = ERROR.read(value, context)
    if isinstance(value["error"], str):
        context.find("error-shape")
        node.says["message"] = node.extras.pop("error")
    return node


def write_error(node: Node, w: Writer, context: Context) -> None:
    """An error body; every key is there, as clients expect."""
    if node.protocol == NAME and node.home is not None:
        ERROR.write(node, w, context)
        return
    said = node.but()
    w.ledger.drop(said.extras.pop("error", None), "unknown-field")
    for name, leaf in [
        (name, said.says[name]) for name in ("code", "param", "message", "error_type") if name in said.says
    ]:
        if not isinstance(leaf.value, str):
            said.says[name] = leaf.to(str(leaf.value), "respelled")
    code = said.get("code")
    if "error_type" not in said.says and code is not None:
        said.says["error_type"] = code.to(_type_of(code), "respelled")
    ERROR.write(said, w, context)
    inner = Writer(w.ledger, w.value.setdefault("error", {}))
    for key, neutral in (("message", ""), ("type", "server_error"), ("param", None), ("code", None)):
        if key not in inner.value:
            inner.make(key, neutral, "required-by-target")
    inner.order(FAULT.names)


def _type_of(code: Leaf) -> str:
    return TYPE_OF_CODE.get(str(code.value), "invalid_request_error")
