"""What the paired request tells about its reply: names of tools, free-text tools, and whether usage is wanted."""

from typing import Any

from ...context import Context
from ...ir.nodes import Node
from ...ir.values import as_object, legal
from ...ledger import Leaf
from .tables import NAME

_LIMITS = (64, 128)  # of the names that other protocols take
_WRAP = "input"  # the one property of a free-text tool's wrapped input


class Asked:
    """A paired request of this protocol, looked into once; without one it knows nothing."""

    def __init__(self, context: Context) -> None:
        ours = context.request_protocol == NAME and isinstance(context.request, dict)
        self.request: dict[str, Any] | None = context.request if ours else None
        kinds = dict(_named(self.request or {}))
        self.free = {name for name, kind in kinds.items() if kind == "custom"}
        self.long = {legal(name, limit): name for name in kinds for limit in _LIMITS if legal(name, limit) != name}

    def wants_usage(self) -> bool:
        """Does the request ask for usage in its stream? Without a request it is wanted."""
        if self.request is None:
            return True
        options = self.request.get("stream_options")
        return isinstance(options, dict) and options.get("include_usage") is True

    def renamed(self, call: Node) -> Node:
        """A call by the name that the request gave to its tool."""
        name = call.get("name")
        if call.protocol == NAME or name is None or name.value not in self.long:
            return call
        named = call.but()
        named.says["name"] = name.to(self.long[name.value], "legal-name")
        return named

    def is_free(self, call: Node) -> bool:
        """Is it a call of a free-text tool, come back as a call of a function?"""
        return call.kind == "tool_call" and call.protocol != NAME and call.value("name") in self.free

    def known(self, call: Node) -> Node:
        """A whole call as the request knows its tool: with its name, and with free text if it is a free-text tool."""
        call = self.renamed(call)
        arguments = call.get("arguments")
        if not self.is_free(call) or arguments is None:
            return call
        free = Node("custom_call", call.protocol, None, {**call.says, "input": unwrapped(arguments)})
        del free.says["arguments"]
        free.extras, free.asides = call.extras, call.asides
        return free


def unwrapped(arguments: Leaf) -> Leaf:
    """The free text in wrapped arguments; arguments that are no wrapping are text themselves."""
    value = as_object(arguments).value
    if list(value) == [_WRAP] and isinstance(value[_WRAP], str):
        return arguments.to(value[_WRAP], "wrap-custom")
    return arguments


def _named(request: dict[str, Any]) -> list[tuple[str, str]]:
    """The tools of a request by name, with their kind."""
    found = []
    for key, kinds in (("tools", ("function", "custom")), ("functions", ("",))):
        tools = request.get(key)
        for tool in tools if isinstance(tools, list) else ():
            for kind in kinds:
                inner = tool.get(kind) if kind and isinstance(tool, dict) else tool
                if isinstance(inner, dict) and isinstance(inner.get("name"), str):
                    found.append((inner["name"], kind))
    return found
