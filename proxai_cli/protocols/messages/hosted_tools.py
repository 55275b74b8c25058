"""Tools that a vendor runs or defines: their definitions, both ways (`spec/requests.md` §7.1)."""

from collections.abc import Callable
from typing import Any

from ...context import Context
from ...ir.nodes import Node
from ...ir.terms import term
from ...ledger import Leaf, Ledger, Writer
from . import tables
from .hosted import drop_members, member
from .tables import set_aside

# Reading: servers of remote tools stand in a list of their own


def with_servers(request: Node, context: Context) -> None:
    """Let each set of remote tools say its server; a server that no tool names is a set of its own."""
    servers = request.says.pop("mcp_servers", [])
    tools = request.says.get("tools", [])
    sets = {tool.value("server_label"): tool for tool in tools if tool.value("service") == "mcp"}
    for server in servers:
        label = server.value("server_label")
        own = sets.get(label) if isinstance(label, str) else None
        if own is None:
            request.says.setdefault("tools", []).append(server)
        else:
            _merge(own, server)
    for tool in request.says.get("tools", []):
        if tool.value("service") == "mcp":
            _read_allowed(tool)


def _merge(tools: Node, server: Node) -> None:
    for name, said in server.says.items():
        if name in tools.says:
            set_aside(tools, said, "duplicate")
        else:
            tools.says[name] = said
    tools.asides += server.asides
    for leaf in server.extras.values():
        set_aside(tools, leaf, "unknown-field")


def _read_allowed(tools: Node) -> None:
    """Tools that are on while all others are off are a list of allowed tools."""
    default, configs = tools.get("default_config"), tools.get("configs")
    off = member(default, "enabled")
    if off is None or off.value is not False or configs is None or not isinstance(configs.value, dict):
        return
    on = {name: each for name, each in configs.value.items() if isinstance(each, dict) and each.get("enabled") is True}
    tools.says["allowed_tools"] = off.to(list(on), "respelled", [Leaf(each, "enabled") for each in on.values()])
    del tools.says["default_config"], tools.says["configs"]
    for each in (default.value, *on.values()):
        for key in each:
            if key != "enabled":
                set_aside(tools, Leaf(each, key), "no-equivalent")
    for name in configs.value:
        if name not in on:
            set_aside(tools, Leaf(configs.value, name), "target-default")


# Tools of the vendor's that a client runs, as functions for those who run them (`--set client-tools=functions`)

_TEXT, _NUMBER = {"type": "string"}, {"type": "integer"}
_EDITED = {
    "path": _TEXT,
    "file_text": _TEXT,
    "old_str": _TEXT,
    "new_str": _TEXT,
    "insert_line": _NUMBER,
    "insert_text": _TEXT,
    "view_range": {"type": "array", "items": _NUMBER},
}
CLIENT_TOOLS: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "shell": ("Run a command in a shell that stays open.", {"command": _TEXT, "restart": {"type": "boolean"}}, []),
    "text_editor": ("View, create and edit files.", {"command": _TEXT, **_EDITED}, ["command", "path"]),
    "memory": (
        "Keep notes in files.",
        {"command": _TEXT, **_EDITED, "old_path": _TEXT, "new_path": _TEXT},
        ["command"],
    ),
}


def as_function(tool: Node, made: Callable[[Any, str], Leaf]) -> Node:
    """A tool that the client runs, as a function with the schema that its vendor documents."""
    known = CLIENT_TOOLS.get(tool.value("service")) if tool.kind == "hosted_tool" else None
    if known is None:
        return tool
    description, properties, required = known
    function = tool.but("service")
    function.kind = "function_tool"
    schema = {"type": "object", "properties": properties, "required": required}
    function.says["type"] = tool.says["service"].raw().to("function", "respelled")
    function.says["description"] = made(description, "required-by-target")
    function.says["parameters"] = made(schema, "required-by-target")
    return function


# Writing

# The type and name of a tool, and the terms that it may say.
PLAIN: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "web_search": ("web_search_20250305", "web_search", ("allowed_domains", "blocked_domains", "max_uses")),
    "code_execution": ("code_execution_20250825", "code_execution", ()),
    "tool_search": ("tool_search_tool_bm25_20251119", "tool_search_tool_bm25", ()),
}
SHELL = ("bash_20250124", "bash", ())
SCREEN = ("computer_20251124", "computer", ("display_width", "display_height"))
LIMITED = ("web_search_20250305",)  # tools that may be used only so often


def write_hosted_tool(tool: Node, tools: Writer, request: Writer, context: Context) -> None:
    """One tool in the list of tools, and its server beside; one that Messages does not have is dropped."""
    service = tool.value("service")
    if service == "mcp" and isinstance(tool.value("server_label"), str) and isinstance(tool.value("server_url"), str):
        _write_server(tool, request)
        _write_toolset(tool, tools.item(), context)
    elif service == "computer":
        _write_computer(tool, tools.item(), context)
    elif service == "shell":
        _write_shell(tool, tools, context)
    elif service in PLAIN and tool.value("execution", "server") == "server":
        _write_plain(tool, PLAIN[service], tools.item(), context)
    else:
        tools.ledger.drop(tool, "hosted-tool", True)


def _write_plain(tool: Node, form: tuple[str, str, tuple[str, ...]], w: Writer, context: Context) -> None:
    kind, name, terms = form
    _put_type(tool, kind, w)
    w.make("name", name, "required-by-target")
    place = tool.get("user_location")
    if place is not None and name == "web_search":
        _write_place(place, w)
        tool = tool.but("user_location")
    _leave(tool, (*terms, "service"), w.ledger)
    kept = Node(tool.kind, tool.protocol, None, {key: tool.says[key] for key in terms if key in tool.says})
    tables.HOSTED_TOOL.write(kept, w, context)


def _put_type(tool: Node, kind: str, w: Writer) -> None:
    service = tool.says["service"]
    if service.home is None:
        w.make("type", kind, "required-by-target")
    else:
        w.put("type", service.to(kind, "respelled"))


def _write_place(place: Leaf, w: Writer) -> None:
    """Where the user is; `type` is demanded."""
    if not isinstance(place.value, dict) or not place.value:
        w.ledger.drop(place, "no-equivalent")
    elif "type" in place.value or place.why is not None:
        w.put("user_location", place)
    else:
        inner = w.object("user_location")
        inner.make("type", "approximate", "required-by-target")
        for key in place.value:
            inner.put(key, Leaf(place.value, key))


def _leave(tool: Node, but: tuple[str, ...], ledger: Ledger) -> None:
    """Drop what a tool says and has no place here."""
    for name, said in tool.says.items():
        if name not in but:
            ledger.drop(said, "target-default" if _is_new_container(name, said) else term(name).why, term(name).steers)
    ledger.drop(list(tool.extras.values()), "unknown-field")
    for said, why in tool.asides:
        ledger.drop(said, why)


def _is_new_container(name: str, said: Any) -> bool:
    """A container that is made for the request, as it is without a word."""
    return name == "container" and isinstance(said, Leaf) and bool(said.value == {"type": "auto"})


def _write_computer(tool: Node, w: Writer, context: Context) -> None:
    if tool.get("display_width") is not None and tool.get("display_height") is not None:
        _write_plain(tool, SCREEN, w, context)
        return
    _put_type(tool, "computer_toolset_20260801", w)
    _leave(tool, ("service",), w.ledger)


def _write_shell(tool: Node, tools: Writer, context: Context) -> None:
    where = member(tool.get("environment"), "type")
    if where is None or where.value == "local":
        _write_plain(tool, SHELL, tools.item(), context)
        return
    context.find("runs-elsewhere")
    if any(each.get("name") == "code_execution" for each in tools.value):
        tools.ledger.drop(tool, "duplicate")
    else:
        _write_plain(tool, PLAIN["code_execution"], tools.item(), context)


def _write_server(tool: Node, request: Writer) -> None:
    known = request.value.get("mcp_servers")
    servers = request.list("mcp_servers") if known is None else Writer(request.ledger, known)
    w = servers.item()
    w.make("type", "url", "required-by-target")
    w.put("name", tool.says["server_label"])
    w.put("url", tool.says["server_url"])
    if tool.get("authorization") is not None:
        w.put("authorization_token", tool.says["authorization"])


def _write_toolset(tool: Node, w: Writer, context: Context) -> None:
    _put_type(tool, "mcp_toolset", w)
    label = tool.says["server_label"]
    w.put("mcp_server_name", label.to(label.value, "respelled"))
    approval = tool.get("require_approval")
    if approval is not None:
        never = approval.value == "never"
        w.ledger.drop(approval, "target-default" if never else "no-equivalent", not never)
        if not never:
            context.find("mcp-approval")
    allowed = tool.get("allowed_tools")
    if allowed is not None:
        _write_allowed(allowed, w)
    _leave(
        tool,
        ("service", "server_label", "server_url", "authorization", "require_approval", "allowed_tools"),
        w.ledger,
    )


def _write_allowed(allowed: Leaf, w: Writer) -> None:
    """Allowed tools as tools that are on while all others are off."""
    names = member(allowed, "tool_names") if isinstance(allowed.value, dict) else allowed
    if names is None or not isinstance(names.value, list) or not names.value or names.why is not None:
        w.ledger.drop(allowed, "no-equivalent", True)
        return
    if names is not allowed:
        drop_members(allowed, ("tool_names",), w.ledger)
    w.object("default_config").make("enabled", False, "required-by-target")
    configs = Writer(w.ledger, {})
    for at, name in enumerate(names.value):
        if isinstance(name, str) and name not in configs.value:
            configs.object(name).put("enabled", Leaf(names.value, at).to(True, "respelled"))
        else:
            w.ledger.drop(Leaf(names.value, at), "duplicate")
    if configs.value:
        w.value["configs"] = configs.value


def limit_uses(limit: Leaf | None, tools: Writer) -> None:
    """The most calls of hosted tools: a limit of the one tool that there is, if it has one."""
    if limit is None:
        return
    hosted = [tool for tool in tools.value if "input_schema" not in tool]
    if len(hosted) == 1 and hosted[0].get("type") in LIMITED and "max_uses" not in hosted[0]:
        Writer(tools.ledger, hosted[0]).put("max_uses", limit)
    else:
        tools.ledger.drop(limit, "no-equivalent", True)
