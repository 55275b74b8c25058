"""What the paired request tells about its reply: names of tools, free-text tools, and whether usage is wanted."""

from typing import Any

from ...context import Context
from ...ir.asked import AskedTools, unwrapped
from ...ir.nodes import Node
from ...ir.values import as_object
from ...ledger import Leaf
from .tables import NAME


class Asked(AskedTools):
    """A paired request of this protocol, looked into once; without one it knows nothing."""

    def __init__(self, context: Context) -> None:
        ours = context.request_protocol == NAME and isinstance(context.request, dict)
        self.request: dict[str, Any] | None = context.request if ours else None
        super().__init__(dict(_named(self.request or {})))

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
        named.says["name"] = self.named(name)
        return named

    def is_free(self, call: Node) -> bool:
        return call.protocol != NAME and super().is_free(call)

    def known(self, call: Node) -> Node:
        """A whole call as the request knows its tool: with its name, and with free text if it is a free-text tool."""
        call = self.renamed(call)
        arguments = call.get("arguments")
        if not self.is_free(call) or arguments is None:
            return call
        free = Node("custom_call", call.protocol, None, {**call.says, "input": text_of_call(arguments)})
        del free.says["arguments"]
        free.extras, free.asides = call.extras, call.asides
        return free


def text_of_call(arguments: Leaf) -> Leaf:
    """The free text in wrapped arguments; arguments that are no wrapping are text themselves."""
    found: Leaf | None = unwrapped(arguments, as_object(arguments).value)
    return found or arguments


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
