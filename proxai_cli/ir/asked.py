"""What a paired request tells about the calls of its reply: which tools take free text, and names that were shortened
on the way (`spec/requests.md` §7.1)."""

from typing import Any

from .nodes import Node
from .values import legal

_WRAP = "input"  # the one property of a free-text tool's wrapped input
_LIMITS = (64, 128)  # of the names that the protocols take
CUSTOM = "custom"


class AskedTools:
    """The tools of a request by name; `kinds` says of each whether it is `custom`, and so takes free text."""

    def __init__(self, kinds: dict[str, Any]) -> None:
        self.free = {name for name, kind in kinds.items() if kind == CUSTOM}
        self.long = {legal(name, limit): name for name in kinds for limit in _LIMITS if legal(name, limit) != name}

    def named(self, name: Any) -> Any:
        """The leaf of a name, saying the name that the request gave to the tool."""
        return name.to(self.long[name.value], "legal-name") if name.value in self.long else name

    def is_free(self, call: Node) -> bool:
        """Is it a call of a free-text tool, come back as a call of a function?"""
        name = call.get("name")
        return call.kind == "tool_call" and name is not None and self.named(name).value in self.free


def unwrapped(arguments: Any, value: Any) -> Any:
    """The free text in a leaf of wrapped arguments, whose parsed `value` is given; None where they are no wrapping."""
    if isinstance(value, dict) and list(value) == [_WRAP] and isinstance(value[_WRAP], str):
        return arguments.to(value[_WRAP], "wrap-custom")
    return None
