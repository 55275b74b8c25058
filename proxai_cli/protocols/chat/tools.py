"""Tools of a request and their choice on the way out.

Source: `spec/requests.md` §7.
"""

from typing import Any

from ...context import Context
from ...ir.nodes import Node
from ...ledger import Leaf, Writer
from .parts import forget, put_or_make
from .tables import CHOSEN, TOOL_OF, WEB_SEARCH, under

# Kinds of tools that a choice may name here, as any protocol says them.
OURS = ("function", "custom", "tool")
# Why a tool is not told.
LOST_TOOLS = {"hosted_tool": "hosted-tool", "other": "unknown-field"}


class Tools:
    """The tools of a request and their choice; what has no counterpart here is dropped, and so is the choice of it."""

    def __init__(self, node: Node, w: Writer, context: Context) -> None:
        self.node, self.w, self.context = node, w, context
        self.kinds: dict[Any, str] = {}
        self.hosted: set[Any] = set()

    def write(self) -> None:
        written: list[dict[str, Any]] = []
        for tool in self.node.says.get("tools", []):
            if _is_web_search(tool) and "web_search_options" not in self.w.value:
                self._web_search(tool)
            elif (ours := self._tool(tool)) is not None:
                self.kinds[tool.value("name")] = tool.kind
                written.append(ours)
        if written:
            self.w.value["tools"] = written
        self._choice()
        self._parallel(bool(written))

    def _tool(self, tool: Node) -> dict[str, Any] | None:
        """A tool in this protocol's form, or None: a tool that the vendor runs, or one without a name."""
        if tool.kind in TOOL_OF and isinstance(tool.value("name"), str):
            w = Writer(self.w.ledger, {})
            TOOL_OF[tool.kind].write(tool, w, self.context)
            return w.value  # type: ignore[no-any-return]
        if tool.kind == "hosted_tool":
            self.hosted |= {word for word in (tool.value("name"), tool.value("service")) if isinstance(word, str)}
        self.w.ledger.drop(tool, LOST_TOOLS.get(tool.kind, "target-rejects"), True)
        return None

    def _web_search(self, tool: Node) -> None:
        """Web search is an option of the request here."""
        self.hosted.add("web_search")
        service = tool.says["service"]
        self.w.ledger.drop(tool.get("name"), "target-default")
        under(self.w, "web_search_options", WEB_SEARCH, tool.but("service", "name"), self.context)
        if "web_search_options" in self.w.value:
            self.w.ledger.drop(service, "target-default")
        else:
            self.w.put("web_search_options", service.to({}, "respelled"))

    def _choice(self) -> None:
        choice = self.node.get("tool_choice")
        if not isinstance(choice, Node):
            self.w.ledger.drop(choice, "unknown-field", True)
            return
        name, mode = choice.get("name"), choice.value("mode")
        if not self.kinds:
            lost = "hosted-tool" if self.hosted else "target-rejects"
            self.w.ledger.drop(choice, "target-default" if mode in ("auto", "none") else lost, True)
        elif isinstance(name, Leaf) and isinstance(name.value, str):
            self._one(choice, name)
        elif "allowed" in choice.says:
            self._allowed(choice)
        elif mode in ("auto", "none", "required"):
            self.w.put("tool_choice", choice.says["mode"])
            forget(choice, self.w.ledger, ("mode",))
        else:
            self.w.ledger.drop(choice, "hosted-tool", True)

    def _one(self, choice: Node, name: Leaf) -> None:
        """The choice of one tool by its name, whose kind is that of the tool."""
        kind = self.kinds.get(name.value, choice.value("tool_kind"))
        if name.value in self.hosted or kind not in (*OURS, *TOOL_OF, None):
            self.w.ledger.drop(choice, "hosted-tool", True)
            return
        if name.value not in self.kinds:
            self.context.find("unknown-choice")
        word = "custom" if kind in ("custom", "custom_tool") else "function"
        w = self.w.object("tool_choice")
        _word(w, choice.get("tool_kind"), word)
        under(w, word, CHOSEN, Node("tool_choice", choice.protocol, None, {"name": name}), self.context)
        forget(choice, self.w.ledger, ("name", "tool_kind"))

    def _allowed(self, choice: Node) -> None:
        """The choice among some of the tools."""
        tools = [tool for each in choice.says["allowed"] if (tool := self._tool(each)) is not None]
        if not tools:
            self.w.ledger.drop(choice.but("allowed"), "hosted-tool", True)
            return
        outer = self.w.object("tool_choice")
        _word(outer, choice.get("tool_kind"), "allowed_tools")
        w = outer.object("allowed_tools")
        put_or_make(w, "mode", choice.get("mode"), "auto")
        w.value["tools"] = tools
        forget(choice, self.w.ledger, ("allowed", "tool_kind", "mode"))

    def _parallel(self, written: bool) -> None:
        leaf = self.node.get("parallel_tool_calls")
        if leaf is None:
            return
        if written:
            self.w.put("parallel_tool_calls", leaf)
        else:
            self.w.ledger.drop(leaf, "target-default")


def _is_web_search(tool: Node) -> bool:
    return tool.kind == "hosted_tool" and bool(tool.value("service") == "web_search")


def _word(w: Writer, kind: Leaf | None, word: str) -> None:
    """The type of a choice."""
    put_or_make(w, "type", kind.to(word, "respelled") if isinstance(kind, Leaf) else None, word)
