"""What the paired request tells about its reply: echo fields, free-text tools, names that were shortened on the way."""

from typing import Any

from ...context import Context
from ...ir.nodes import Node
from ...ir.values import legal
from ...ledger import Leaf
from .tables import ECHOED, NAME

WRAP = "input"  # the one property of a free-text tool's wrapped input
# By the type of their calls: the name that tools have elsewhere which the vendor defines, and their types here.
CLIENT_TOOLS = {
    "computer_call": ("computer", ("computer", "computer_use_preview")),
    "local_shell_call": ("bash", ("local_shell",)),
    "shell_call": ("bash", ("shell",)),
    "apply_patch_call": ("apply_patch", ("apply_patch",)),
}
_LIMITS = (64, 128)  # of the names that other protocols take


class Asked:
    """A paired request of this protocol, looked into once; without one it knows nothing."""

    def __init__(self, context: Context) -> None:
        ours = context.request_protocol == NAME and isinstance(context.request, dict)
        self.request: dict[str, Any] = context.request if ours else {}
        tools = self.request.get("tools")
        known = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
        names = {tool["name"]: tool.get("type") for tool in known if isinstance(tool.get("name"), str)}
        functions, kinds = set(names), {tool.get("type") for tool in known}
        self.client = {
            word: item
            for item, (word, tools) in CLIENT_TOOLS.items()
            if word not in functions and not kinds.isdisjoint(tools)
        }
        self.custom = {name for name, kind in names.items() if kind == "custom"}
        self.long = {legal(name, limit): name for name in names for limit in _LIMITS if legal(name, limit) != name}

    def echoes(self) -> dict[str, Any]:
        """The fields of the request that a reply repeats."""
        return {name: self.request[name] for name in ECHOED if self.request.get(name) is not None}

    def named(self, name: Leaf) -> Leaf:
        """The name that the request gave to a tool."""
        return name.to(self.long[name.value], "legal-name") if name.value in self.long else name

    def client_call(self, call: Node) -> str | None:
        """The type of item that a call is of a tool that the vendor defines and the client runs, if it is one."""
        return self.client.get(call.value("name", "")) if call.kind == "tool_call" else None

    def is_custom(self, call: Node) -> bool:
        """Is it a call of a free-text tool, come back as a call of a function?"""
        name = call.get("name")
        return call.kind == "tool_call" and name is not None and self.named(name).value in self.custom


def unwrapped(arguments: Leaf, value: Any) -> Leaf | None:
    """The free text in wrapped arguments, whose parsed `value` is given; None where they are no wrapping."""
    if isinstance(value, dict) and list(value) == [WRAP] and isinstance(value[WRAP], str):
        return arguments.to(value[WRAP], "wrap-custom")
    return None
