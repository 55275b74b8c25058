"""Calls of tools that the vendor defines and the client runs: a computer, a shell, a patch (`spec/responses.md` §6).

Elsewhere they are calls of a function. One is an item of its own kind again where the paired request has that tool,
and where the arguments are what such an item does.
"""

from typing import Any

from ...context import Context
from ...ir.nodes import Node
from ...ir.values import as_object
from ...ledger import Leaf, Writer
from .asked import Asked
from .ids import Ids, write_call_id
from .items import lost
from .tables import CLIENT_CALL

PREFIX = {"computer_call": "cu_", "shell_call": "sh_", "local_shell_call": "lsh_", "apply_patch_call": "apc_"}
# What a computer does, and what a patch does, each with the keys that it needs.
ACTIONS: dict[str, tuple[str, ...]] = {
    "click": ("button", "x", "y"),
    "double_click": ("x", "y"),
    "drag": ("path",),
    "keypress": ("keys",),
    "move": ("x", "y"),
    "screenshot": (),
    "scroll": ("scroll_x", "scroll_y", "x", "y"),
    "type": ("text",),
    "wait": (),
}
OPERATIONS = {"create_file": ("path", "diff"), "update_file": ("path", "diff"), "delete_file": ("path",)}


def client_call(call: Node, asked: Asked) -> Node | None:
    """The call as the node of such an item, `name` its type and `arguments` what it does; None where it is none."""
    kind, arguments = asked.client_call(call), call.get("arguments")
    if kind is None or arguments is None:
        return None
    done = _done(kind, as_object(arguments))
    if done is None:
        return None
    said = call.but("arguments")
    said.kind, said.home = "tool_call", None
    said.says = {**said.says, "name": call.says["name"].to(kind, "respelled"), "arguments": done}
    return said


def write_client_call(call: Node, item: Writer, ids: Ids, context: Context, status: str = "completed") -> None:
    """An item of a call that `client_call` gave; it is whole at once."""
    kind, done = call.value("name"), call.says["arguments"]
    write_call_id(call, item, ids, context, PREFIX[kind])
    CLIENT_CALL.write(call.but("item", "arguments"), item, context)
    lost(
        Node("tool_call", call.protocol, None, {"item": call.says["item"]} if "item" in call.says else {}), item.ledger
    )
    key = "operation" if kind == "apply_patch_call" else "actions" if isinstance(done.value, list) else "action"
    item.put(key, done)
    if kind == "computer_call":
        item.make("pending_safety_checks", [], "required-by-target")
    if "call_id" not in item.value:
        item.make("call_id", item.value["id"], "made-id")
    item.make("status", status, "required-by-target")
    item.order(CLIENT_CALL.names)


def _done(kind: str, arguments: Leaf) -> Leaf | None:
    """What a call does, in the words of such an item."""
    said = arguments.value
    if kind == "computer_call" and _is_list(said.get("actions")) and list(said) == ["actions"]:
        fit = all(_is_one(each, ACTIONS) for each in said["actions"])
        own = arguments.why is None
        return (Leaf(said, "actions") if own else arguments.to(said["actions"], "json-parse")) if fit else None
    if kind == "shell_call" and list(said) == ["command"] and isinstance(said["command"], str):
        return arguments.to({"commands": [said["command"]]}, "one-to-list")
    return arguments if _fits(kind, said) else None


def _fits(kind: str, said: dict[str, Any]) -> bool:
    if kind == "shell_call":
        return _is_list(said.get("commands")) and all(isinstance(each, str) for each in said["commands"])
    if kind == "local_shell_call":
        return said.get("type") == "exec" and _is_list(said.get("command")) and isinstance(said.get("env"), dict)
    return _is_one(said, ACTIONS if kind == "computer_call" else OPERATIONS)


def _is_one(said: Any, known: dict[str, tuple[str, ...]]) -> bool:
    kind = said.get("type") if isinstance(said, dict) else None
    return isinstance(kind, str) and kind in known and all(key in said for key in known[kind])


def _is_list(said: Any) -> bool:
    return isinstance(said, list) and bool(said)
