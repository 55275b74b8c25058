"""Tools and the choice among them. Source: `spec/requests.md` §7."""

from collections.abc import Iterator
from typing import Any

from ...context import Context
from ...ir.nodes import Node
from ...ledger import Leaf, Writer
from ...tables import nodes, unknown
from .items import lost
from .tables import (
    CUSTOM_TOOL,
    CUSTOM_TOOL_GROUPS,
    FUNCTION_TOOL,
    HOSTED_TOOLS,
    NAME,
    NAMESPACE,
    SERVICES,
    TOOL_CHOICE,
    WEB_SEARCH_GROUPS,
    legal_name,
    lifted,
    write_grouped,
)

# Hosted tools of other vendors that this one runs as well: their type here, and what such a tool must say.
RUN_HERE: dict[str, tuple[str, dict[str, Any]]] = {
    "web_search": ("web_search", {}),
    "code_execution": ("code_interpreter", {"container": {"type": "auto"}}),
    "computer": ("computer", {}),
    "shell": ("shell", {}),
    "tool_search": ("tool_search", {}),
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
        return lifted(CUSTOM_TOOL.read(tool, context), CUSTOM_TOOL_GROUPS)
    if kind == "namespace" and isinstance(tool.get("tools"), list) and tool["tools"]:
        return _flat(NAMESPACE.read(tool, context), context)
    service = SERVICES.to_canonical.get(kind) if isinstance(kind, str) else None
    if service is None:
        return unknown(tool, NAME)
    return lifted(HOSTED_TOOLS[service].read(tool, context), WEB_SEARCH_GROUPS)


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
        if "tool_kind" in choice.says:
            choice.asides.append((choice.says.pop("tool_kind"), "target-default"))
    return choice


# Writing


def write_tools(request: Node, w: Writer, context: Context) -> None:
    """All tools, servers of tools among them, and the choice."""
    tools: list[Node] = request.says.get("tools", [])
    servers = request.get("mcp_servers")
    written = Writer(w.ledger, [])
    toolsets = [tool for tool in tools if tool.kind == "hosted_tool" and tool.value("service") == "mcp"]
    for tool in tools:
        if tool not in toolsets:
            _write_tool(tool, written, context)
    _write_servers(servers, toolsets, written)
    if written.value:
        w.value["tools"] = written.value
    choice = request.get("tool_choice")
    if choice is not None:
        write_choice(choice, tools, w, context)


def _write_tool(tool: Node, tools: Writer, context: Context) -> None:
    """One tool as the next element of a list; a tool that only another vendor runs is dropped."""
    if tool.kind == "function_tool":
        FUNCTION_TOOL.write(tool, tools.item(), context)
        parameters = tools.value[-1].get("parameters")
        if isinstance(parameters, dict) and "$ref" in parameters:
            context.find("root-ref")
    elif tool.kind == "custom_tool":
        write_grouped(tool, CUSTOM_TOOL, CUSTOM_TOOL_GROUPS, tools.item(), context)
    elif tool.kind == "hosted_tool" and tool.value("service") in RUN_HERE:
        _write_hosted(tool, tools.item(), context)
    else:
        lost(tool, tools.ledger, why="hosted-tool" if tool.kind == "hosted_tool" else "unknown-field")


def _write_hosted(tool: Node, w: Writer, context: Context) -> None:
    """A hosted tool that this vendor runs as well. Of a computer it is told only by the older tool how large it is."""
    service = tool.says["service"]
    word, needed = RUN_HERE[service.value]
    if service.value == "computer" and all(key in tool.says for key in SCREEN):
        word, needed = "computer_use_preview", {"environment": "linux"}
    w.put("type", service if service.value == word else service.to(word, "respelled"))
    for term in ("name", "type"):
        w.ledger.drop(tool.get(term), "target-default")
    write_grouped(tool.but("service", "name", "type"), HOSTED_TOOLS[service.value], WEB_SEARCH_GROUPS, w, context)
    for key, value in needed.items():
        if key not in w.value:
            w.make(key, value, "required-by-target")


def _write_servers(servers: Leaf | None, toolsets: list[Node], tools: Writer) -> None:
    """Remote servers of tools, which stand beside the tools elsewhere: each with its toolset as one tool."""
    listed = servers.value if servers is not None and isinstance(servers.value, list) and servers.value else None
    rest = list(toolsets)
    for at, server in enumerate(listed or ()):
        if not isinstance(server, dict) or not isinstance(server.get("name"), str):
            tools.ledger.drop(Leaf(listed, at), "no-equivalent")
            continue
        mine = [tool for tool in rest if _named(tool, "mcp_server_name") == server["name"]]
        rest = [tool for tool in rest if tool not in mine]
        _write_server(server, mine, tools.item())
    if listed is None:
        tools.ledger.drop(servers, "no-equivalent")
    for tool in rest:
        lost(tool, tools.ledger, why="hosted-tool")


def _said(tool: Node, key: str) -> Leaf | None:
    leaf = tool.says.get(key, tool.extras.get(key))
    return leaf if isinstance(leaf, Leaf) else None


def _named(tool: Node, key: str) -> Any:
    leaf = _said(tool, key)
    return None if leaf is None else leaf.value


def _write_server(server: dict[str, Any], toolsets: list[Node], w: Writer) -> None:
    names = [leaf for tool in toolsets if (leaf := _said(tool, "mcp_server_name")) is not None]
    label = Leaf(server, "name")
    services = [tool.says["service"] for tool in toolsets]
    if services:
        w.put("type", services[0].to("mcp", "respelled", services[1:]))
    else:
        w.make("type", "mcp", "required-by-target")
    w.put("server_label", label.to(label.value, "respelled", names) if names else label)
    for key, name in (("url", "server_url"), ("authorization_token", "authorization")):
        if isinstance(server.get(key), str):
            w.put(name, Leaf(server, key))
        elif key in server:
            w.ledger.drop(Leaf(server, key), "target-default" if server[key] is None else "no-equivalent")
    allowed = [leaf for tool in toolsets for leaf in _allowed(tool, w)]
    old = server.get("tool_configuration")
    told = old.get("allowed_tools") if isinstance(old, dict) else None
    if allowed:
        listed = w.list("allowed_tools")
        for leaf in allowed:
            listed.append(leaf)
    elif isinstance(told, list) and told:
        w.put("allowed_tools", Leaf(old, "allowed_tools"))
    w.make("require_approval", "never", "required-by-target")
    _leave(server, ("name", "url", "authorization_token"), w)
    for tool in toolsets:
        lost(tool.but("service", "mcp_server_name"), w.ledger, ("default_config", "configs"))


def _leave(server: dict[str, Any], but: tuple[str, ...], w: Writer) -> None:
    for key, value in server.items():
        if key in but:
            continue
        if key == "tool_configuration" and isinstance(value, dict) and value:
            for name in value:
                w.ledger.drop(Leaf(value, name), "no-equivalent")
        else:
            w.ledger.drop(Leaf(server, key), "target-default" if key == "type" else "no-equivalent")


def _allowed(toolset: Node, w: Writer) -> list[Leaf]:
    """The tools of a set that are switched on by name, if the others are off."""
    default, configs = _said(toolset, "default_config"), _said(toolset, "configs")
    off = (
        isinstance(getattr(default, "value", None), dict)
        and default is not None
        and default.value.get("enabled") is False
    )
    on: list[Leaf] = []
    homes = configs.value if configs is not None and isinstance(configs.value, dict) and configs.value else {}
    for name, config in homes.items():
        enabled = isinstance(config, dict) and config.get("enabled") is True and off
        if enabled:
            on.append(Leaf(config, "enabled").to(name, "respelled"))
        rest = [key for key in config if not (enabled and key == "enabled")] if isinstance(config, dict) else []
        w.ledger.drop([Leaf(config, key) for key in rest], "no-equivalent")
        if not isinstance(config, dict) or not config:
            w.ledger.drop(Leaf(homes, name), "no-equivalent")
    if not homes:
        w.ledger.drop(configs, "target-default")
    w.ledger.drop(default, "target-default" if on or not off else "no-equivalent")
    return on


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
    inner.make("type", "allowed_tools", "required-by-target")
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
    lost(choice, w.ledger, ("mode", "allowed"))


def _with_names(tools: list[Node], w: Writer) -> Iterator[Node]:
    for tool in tools:
        if "name" in tool.says and tool.kind in ("function_tool", "custom_tool"):
            yield tool
        else:
            lost(tool, w.ledger, why="hosted-tool")
