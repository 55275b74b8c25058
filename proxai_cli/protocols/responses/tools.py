"""Tools and the choice among them. Source: `spec/requests.md` §7."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from ...context import Context
from ...ir.nodes import Node
from ...ledger import Leaf, Writer
from ...tables import nodes, unknown
from .items import lost
from .tables import (
    CUSTOM_TOOL,
    FUNCTION_TOOL,
    HOSTED_TOOLS,
    NAME,
    NAMESPACE,
    SERVICES,
    TOOL_CHOICE,
    legal_name,
)

# Hosted tools of other vendors that this one runs as well: their type here, and what such a tool must say.
RUN_HERE: dict[str, tuple[str, dict[str, Any]]] = {
    "web_search": ("web_search", {}),
    "code_execution": ("code_interpreter", {"container": {"type": "auto"}}),
    "computer": ("computer", {}),
    "shell": ("shell", {}),
    "tool_search": ("tool_search", {}),
    "mcp": ("mcp", {"require_approval": "never"}),
}
SCREEN = ("display_width", "display_height")
# Hosted tools that may be chosen by their type.
CHOSEN_BY_TYPE = ("code_interpreter", "computer")


def read_tools(leaf: Leaf, context: Context) -> list[Node]:
    """The elements of a list of tools; those of a namespace stand for themselves."""
    return nodes(leaf, lambda tool: _read_tool(tool, context), NAME)


def _read_tool(tool: dict[str, Any], context: Context) -> Node | list[Node]:
    kind = tool.get("type")
    if kind == "function":
        return FUNCTION_TOOL.read(tool, context)
    if kind == "custom":
        return CUSTOM_TOOL.read(tool, context)
    if kind == "namespace" and isinstance(tool.get("tools"), list) and tool["tools"]:
        return _flat(NAMESPACE.read(tool, context), context)
    service = SERVICES.to_canonical.get(kind) if isinstance(kind, str) else None
    if service is None:
        return unknown(tool, NAME)
    return HOSTED_TOOLS[service].read(tool, context)


def _flat(namespace: Node, context: Context) -> list[Node]:
    """The tools of a namespace with its name before theirs; the first has what else the namespace says."""
    tools, space = read_tools(namespace.says.pop("tools"), context), namespace.says.pop("name", None)
    for tool in tools:
        name = tool.get("name")
        if name is not None and space is not None:
            tool.says["name"] = name.to(f"{space.value}__{name.value}", "flatten-namespace", [space])
    loose = [(said, "target-default" if term == "type" else "no-equivalent") for term, said in namespace.says.items()]
    if space is not None and not any("name" in tool.says for tool in tools):
        loose.append((space, "no-equivalent"))
    loose += [(leaf, "unknown-field") for leaf in namespace.extras.values()]
    tools[0].asides += [*loose, *namespace.asides]
    return tools


def read_choice(leaf: Leaf, context: Context) -> Node:
    """A tool choice: a mode, one tool, or the tools that are allowed."""
    if isinstance(leaf.value, str):
        return Node("tool_choice", NAME, None, {"mode": leaf})
    choice = TOOL_CHOICE.read(leaf.value, context)
    allowed = choice.says.pop("allowed", None)
    if allowed is not None and not allowed.value:
        choice.asides.append((allowed, "target-default"))
    elif allowed is not None:
        choice.says["allowed"] = read_tools(allowed, context)
    return choice


# Writing


def write_tools(request: Node, w: Writer, context: Context) -> None:
    """All tools, and the choice among them."""
    tools: list[Node] = request.says.get("tools", [])
    written = Writer(w.ledger, [])
    for tool in tools:
        _write_tool(tool, written, context)
    _write_container(request.get("container"), written, context)
    if written.value:
        w.value["tools"] = written.value
    choice = request.get("tool_choice")
    if choice is not None:
        write_choice(choice, tools, w, context)


def _write_tool(tool: Node, tools: Writer, context: Context) -> None:
    """One tool as the next element of a list; a tool that only another vendor runs is dropped."""
    if tool.kind == "function_tool":
        FUNCTION_TOOL.write(tool, tools.item(), context)
    elif tool.kind == "custom_tool":
        CUSTOM_TOOL.write(tool, tools.item(), context)
    elif tool.kind == "hosted_tool" and _runs_here(tool):
        _write_hosted(tool, tools.item(), context)
    else:
        lost(tool, tools.ledger, why="hosted-tool" if tool.kind == "hosted_tool" else "unknown-field")


def _runs_here(tool: Node) -> bool:
    """Does this vendor run such a tool? Of a remote server it must know the name."""
    return tool.value("service") in RUN_HERE and (tool.value("service") != "mcp" or "server_label" in tool.says)


def _write_container(container: Leaf | None, tools: Writer, context: Context) -> None:
    """The container in which code ran before, which only its own vendor knows."""
    code = next((tool for tool in tools.value if tool.get("type") == "code_interpreter"), None)
    id = container.value.get("id") if container is not None and isinstance(container.value, dict) else None
    if container is None or code is None or not context.chosen("keep-foreign-ids"):
        tools.ledger.drop(container, "foreign-id")
    elif isinstance(container.value, str):
        Writer(tools.ledger, code).put("container", container)
    elif isinstance(id, str):
        Writer(tools.ledger, code).put("container", Leaf(container.value, "id"))
        rest = [Leaf(container.value, key) for key in container.value if key != "id"]
        tools.ledger.drop(rest, "no-equivalent")
    else:
        tools.ledger.drop(container, "foreign-id")


def _write_hosted(tool: Node, w: Writer, context: Context) -> None:
    """A hosted tool that this vendor runs as well. Of a computer it is told only by the older tool how large it is."""
    service = tool.says["service"]
    word, needed = RUN_HERE[service.value]
    needed = dict(needed)
    if service.value == "computer" and all(key in tool.says for key in SCREEN):
        word, needed = "computer_use_preview", {"environment": "linux"}
    w.put("type", service if service.value == word else service.to(word, "respelled"))
    for term in ("name", "type"):
        w.ledger.drop(tool.get(term), "target-default")
    HOSTED_TOOLS[service.value].write(tool.but("service", "name", "type"), w, context)
    for key, value in needed.items():
        if key not in w.value:
            w.make(key, deepcopy(value), "required-by-target")


def write_choice(choice: Node, tools: list[Node], w: Writer, context: Context) -> None:
    """A tool choice (`spec/requests.md` §7.2)."""
    name = choice.get("name")
    named = [tool for tool in tools if name is not None and tool.value("name") == name.value]
    if "allowed" in choice.says:
        _write_allowed(choice, w, context)
    elif name is not None and named and named[0].kind == "hosted_tool":
        _write_hosted_choice(choice, named[0], w)
    elif name is not None and choice.value("tool_kind") in (None, "function", "custom"):
        if not named:
            context.find("unknown-choice")
        inner = w.object("tool_choice")
        custom = any(tool.kind == "custom_tool" for tool in named) or choice.value("tool_kind") == "custom"
        _write_type(choice.get("tool_kind"), "custom" if custom else "function", inner)
        inner.put("name", legal_name(name, context))
        lost(choice, w.ledger, ("name", "tool_kind", "mode"))
        w.ledger.drop(choice.get("mode"), "target-default")
    elif "mode" in choice.says and name is None:
        w.put("tool_choice", choice.says["mode"])
        lost(choice, w.ledger, ("mode",))
    else:
        lost(choice, w.ledger, why="hosted-tool")


def _write_hosted_choice(choice: Node, tool: Node, w: Writer) -> None:
    word = RUN_HERE.get(tool.value("service"), ("", {}))[0]
    if word not in CHOSEN_BY_TYPE:
        lost(choice, w.ledger, why="hosted-tool")
        return
    w.object("tool_choice").put("type", choice.says["name"].to(word, "respelled"))
    lost(choice, w.ledger, ("name", "mode"))
    w.ledger.drop(choice.get("mode"), "target-default")


def _write_type(kind: Leaf | None, word: str, w: Writer) -> None:
    if kind is None:
        w.make("type", word, "required-by-target")
    else:
        w.put("type", kind if kind.value == word else kind.to(word, "respelled"))


def _write_allowed(choice: Node, w: Writer, context: Context) -> None:
    inner = w.object("tool_choice")
    _write_type(choice.get("tool_kind"), "allowed_tools", inner)
    if "mode" in choice.says:
        inner.put("mode", choice.says["mode"])
    else:
        inner.make("mode", "auto", "required-by-target")
    tools = inner.list("tools")
    for tool in _with_names(choice.says["allowed"], w):
        entry = tools.item()
        _write_type(tool.get("type"), "custom" if tool.kind == "custom_tool" else "function", entry)
        entry.put("name", legal_name(tool.says["name"], context))
        lost(tool, w.ledger, ("type", "name"))
    if not tools.value:
        inner.make("tools", [], "required-by-target")
    lost(choice, w.ledger, ("mode", "allowed", "tool_kind"))


def _with_names(tools: list[Node], w: Writer) -> Iterator[Node]:
    for tool in tools:
        if "name" in tool.says and tool.kind in ("function_tool", "custom_tool"):
            yield tool
        else:
            lost(tool, w.ledger, why="hosted-tool")
