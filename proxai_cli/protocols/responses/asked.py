"""What the paired request tells about its reply: of its tools, and in the fields that a reply repeats."""

from typing import Any

from ...context import Context
from ...ir.asked import AskedTools
from ...ir.nodes import Node
from .tables import ECHOED, NAME

# By the type of their calls: the name that tools have elsewhere which the vendor defines, and their types here.
CLIENT_TOOLS = {
    "computer_call": ("computer", ("computer", "computer_use_preview")),
    "local_shell_call": ("bash", ("local_shell",)),
    "shell_call": ("bash", ("shell",)),
    "apply_patch_call": ("apply_patch", ("apply_patch",)),
}


class Asked(AskedTools):
    """A paired request of this protocol, looked into once; without one it knows nothing."""

    def __init__(self, context: Context) -> None:
        ours = context.request_protocol == NAME and isinstance(context.request, dict)
        self.request: dict[str, Any] = context.request if ours else {}
        tools = self.request.get("tools")
        known = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
        names = {tool["name"]: tool.get("type") for tool in known if isinstance(tool.get("name"), str)}
        super().__init__(names)
        kinds = {tool["type"] for tool in known if isinstance(tool.get("type"), str)}
        self.client = {
            word: item
            for item, (word, types) in CLIENT_TOOLS.items()
            if word not in names and not kinds.isdisjoint(types)
        }

    def echoes(self) -> dict[str, Any]:
        """The fields of the request that a reply repeats."""
        return {name: self.request[name] for name in ECHOED if self.request.get(name) is not None}

    def client_call(self, call: Node) -> str | None:
        """The type of item that a call is of a tool that the vendor defines and the client runs, if it is one."""
        return self.client.get(call.value("name", "")) if call.kind == "tool_call" else None
