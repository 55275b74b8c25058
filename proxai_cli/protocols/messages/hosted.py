"""Calls that a vendor ran: a block that calls and, behind it, one with what came back (`spec/responses.md` §6)."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ...ir.nodes import Node
from ...ir.terms import term
from ...ir.values import as_object, as_text, legal
from ...ledger import Leaf, Ledger, Writer, made
from ...text import dumps
from .tables import NAME

Fill = Callable[[Writer], None]

LONGEST_NAME = 128


class Hosted(NamedTuple):
    """A call on its way out: the terms that it takes from its part, the call's block and input, the result's block.

    `input` is the whole input, or its members by name, or None where the block has none; `result` fills the block of
    the result, if there is one.
    """

    used: tuple[str, ...]
    begin: Fill
    input: Leaf | dict[str, Leaf] | None
    result: Fill | None


def hosted(part: Node, ledger: Ledger) -> Hosted | None:
    """How Messages says a hosted call of another protocol; None where it has no word for it."""
    service = part.value("service")
    make = CALLS.get(service) if isinstance(service, str) else None
    return make(part, ledger) if make and (service in ALONE or isinstance(part.value("id"), str)) else None


def write_hosted(part: Node, call: Hosted, blocks: Writer) -> None:
    """Both blocks, and an account of what has no place in them."""
    block = blocks.item()
    call.begin(block)
    if isinstance(call.input, Leaf):
        block.put("input", as_object(call.input))
    elif call.input:
        put_all(block.object("input"), call.input)
    elif call.input is not None:
        block.make("input", {}, "required-by-target")
    if call.result is not None:
        call.result(blocks.item())
    leave(part, call, blocks.ledger)


def input_text(call: Hosted) -> Leaf | None:
    """The whole input as one piece of JSON text."""
    if isinstance(call.input, Leaf):
        whole: Leaf = as_text(call.input)
        return whole
    if not call.input:
        return None
    first, *others = call.input.values()
    said = {key: leaf.value for key, leaf in call.input.items()}
    return first.to(dumps(said).decode(), "json-dump", others)


def leave(part: Node, call: Hosted, ledger: Ledger) -> None:
    """Drop what a call says and Messages has no place for."""
    for name, said in part.says.items():
        if name not in call.used:
            ledger.drop(said, "target-default" if name == "status" else term(name).why)
    ledger.drop(list(part.extras.values()), "unknown-field")
    for said, why in part.asides:
        ledger.drop(said, why)


def put_all(w: Writer, leaves: dict[str, Leaf]) -> None:
    """Leaves, each under its name."""
    for key, leaf in leaves.items():
        w.put(key, leaf)


def member(leaf: Any, key: Any) -> Leaf | None:
    """A member of an object, or an element of a list, that a leaf holds as it was said."""
    if not isinstance(leaf, Leaf) or leaf.why is not None:
        return None
    inside = isinstance(leaf.value, dict) and key in leaf.value
    return Leaf(leaf.value, key) if inside and leaf.value[key] is not None else None


def drop_members(leaf: Leaf | None, but: tuple[str, ...], ledger: Ledger, why: str = "no-equivalent") -> None:
    """Drop the members of an object but these; null says nothing."""
    if leaf is None:
        return
    if not isinstance(leaf.value, dict) or not leaf.value:
        ledger.drop(leaf, why)
        return
    for key, said in leaf.value.items():
        if key not in but or said is None:
            ledger.drop(Leaf(leaf.value, key), "target-default" if said is None or key == "type" else why)


# Ids of this protocol, behind a prefix that they got where they came from.
_WRAPPED = re.compile(r"(?:ws|ci|mcp|tsc)_((?:srvtoolu|mcptoolu)_.*)", re.DOTALL)


def _own_id(id: Leaf) -> Leaf:
    """The id without the prefix of another protocol's items, if it is one of ours (`spec/responses.md` §1.1)."""
    ours = _WRAPPED.fullmatch(id.value)
    return id.to(ours[1], "wrap-id") if ours else id


def _begin(kind: str, name: str, part: Node) -> Fill:
    """The block of a call, up to its input."""

    def fill(block: Writer) -> None:
        block.make("type", kind, "required-by-target")
        block.put("id", _own_id(part.says["id"]))
        service = part.says["service"]
        block.put("name", service if service.value == name else service.to(name, "respelled"))

    return fill


def _result(kind: str, part: Node, fill: Fill) -> Fill:
    """The block of a result; the call's id stands in it once more."""

    def whole(block: Writer) -> None:
        block.make("type", kind, "required-by-target")
        block.put("tool_use_id", _own_id(part.says["id"].to(part.value("id"), "respelled")))
        fill(block)

    return whole


def _ran(part: Node) -> bool:
    return part.value("status", "completed") in ("completed", "failed")


def _failed(part: Node, kind: str) -> Fill:
    """The content of a result that is an error."""

    def fill(block: Writer) -> None:
        content = block.object("content")
        content.make("type", kind, "required-by-target")
        content.put("error_code", part.says["status"].to("unavailable", "respelled"))

    return fill


# Web search and web pages


def _web(part: Node, ledger: Ledger) -> Hosted | None:
    action = part.get("action")
    kind = member(action, "type")
    if kind is not None and kind.value in ("open_page", "find_in_page"):
        return _page(part, action, ledger)
    return _search(part, action, ledger)


def _page(part: Node, action: Leaf, ledger: Ledger) -> Hosted | None:
    url = member(action, "url")
    if url is None:
        return None
    drop_members(action, ("url",), ledger)
    return Hosted(("service", "id", "action"), _begin("server_tool_use", "web_fetch", part), {"url": url}, None)


def _search(part: Node, action: Leaf | None, ledger: Ledger) -> Hosted | None:
    query, queries = member(action, "query"), member(action, "queries")
    asked = [Leaf(queries.value, at) for at in range(len(queries.value))] if _is_list(queries) and queries else []
    if query is None and not asked:
        return None
    if query is not None and not query.value and asked:
        ledger.drop(query, "target-default")
        query = None
    first = asked.pop(0) if query is None else query
    ledger.drop([leaf for leaf in asked if leaf.value != first.value], "no-equivalent")
    ledger.drop([leaf for leaf in asked if leaf.value == first.value], "duplicate")
    drop_members(action, ("query", *(("queries",) if asked or query is None else ()), "sources"), ledger)
    begin = _begin("server_tool_use", "web_search", part)
    used: tuple[str, ...] = ("service", "id", "action")
    if part.value("status") == "failed":
        drop_members(action, ("type", "query", "queries"), ledger)
        result = _result("web_search_tool_result", part, _failed(part, "web_search_tool_result_error"))
        return Hosted((*used, "status"), begin, {"query": first}, result)
    sources = member(action, "sources")
    found = _result("web_search_tool_result", part, lambda block: _write_sources(sources, block))
    if not _ran(part):
        ledger.drop(sources, "not-terminal")
    return Hosted(used, begin, {"query": first}, found if _ran(part) else None)


def _is_list(leaf: Leaf | None) -> bool:
    return leaf is not None and isinstance(leaf.value, list) and bool(leaf.value)


def _write_sources(sources: Leaf | None, block: Writer) -> None:
    if sources is None or not _is_list(sources):
        block.ledger.drop(sources, "target-default")
        block.make("content", [], "required-by-target")
        return
    content = Writer(block.ledger, [])
    for at in range(len(sources.value)):
        source = Leaf(sources.value, at)
        url = member(source, "url")
        if url is None or not isinstance(url.value, str):
            block.ledger.drop(source, "no-equivalent")
            continue
        w = content.item()
        w.make("type", "web_search_result", "required-by-target")
        w.put("url", url)
        w.make("title", "", "required-by-target")
        w.make("encrypted_content", "", "required-by-target")
        drop_members(source, ("url",), block.ledger)
    if content.value:
        block.value["content"] = content.value
    else:
        block.make("content", [], "required-by-target")


# Code


def _code(part: Node, ledger: Ledger) -> Hosted | None:
    code = part.get("code")
    if code is None or not isinstance(code.value, str):
        return None
    result = _result("code_execution_tool_result", part, lambda block: _write_output(part, block))
    used: tuple[str, ...] = ("service", "id", "code", "container_id")
    ledger.drop(part.get("container_id"), "foreign-id")
    begin = _begin("server_tool_use", "code_execution", part)
    if not _ran(part):
        return Hosted(used, begin, {"code": code}, None)
    return Hosted((*used, "outputs", "status"), begin, {"code": code}, result)


def _write_output(part: Node, block: Writer) -> None:
    outputs, status = part.get("outputs"), part.get("status")
    content = block.object("content")
    content.make("type", "code_execution_result", "required-by-target")
    logs = []
    for at in range(len(outputs.value) if _is_list(outputs) else 0):
        output = Leaf(outputs.value, at)
        log = member(output, "logs")
        if log is not None and isinstance(log.value, str):
            logs.append(log)
            drop_members(output, ("logs",), block.ledger)
        else:
            block.ledger.drop(output, "unsupported-media")
    if not _is_list(outputs):
        block.ledger.drop(outputs, "target-default")
    if logs:
        whole = "".join(log.value for log in logs)
        content.put("stdout", logs[0].to(whole, "merged-boundary", logs[1:]) if len(logs) > 1 else logs[0])
    else:
        content.make("stdout", "", "required-by-target")
    content.make("stderr", "", "required-by-target")
    if status is not None and status.value == "failed":
        content.put("return_code", status.to(1, "respelled"))
    else:
        block.ledger.drop(status, "target-default")
        content.make("return_code", 0, "required-by-target")
    content.make("content", [], "required-by-target")


# Remote servers of tools


def _mcp(part: Node, ledger: Ledger) -> Hosted | None:
    name, server, arguments = part.get("name"), part.get("server_label"), part.get("arguments")
    if not isinstance(part.value("name"), str) or not isinstance(part.value("server_label"), str):
        return None
    if arguments is not None and not isinstance(arguments.value, (str, dict)):
        ledger.drop(arguments, "no-equivalent")
        arguments = None

    def begin(block: Writer) -> None:
        block.put("type", part.says["service"].to("mcp_tool_use", "respelled"))
        block.put("id", _own_id(part.says["id"]))
        block.put("name", name)
        block.put("server_name", server)

    used = ("service", "id", "name", "server_label", "arguments", "output", "error")
    given = part.get("output") is not None or part.get("error") is not None
    result = _result("mcp_tool_result", part, lambda block: _write_given(part, block))
    whole = made({}, "empty-arguments") if arguments is None else arguments
    return Hosted(used, begin, whole, result if given else None)


def _write_given(part: Node, block: Writer) -> None:
    output, error = part.get("output"), part.get("error")
    said = output if error is None else error
    block.make("is_error", error is not None, "required-by-target")
    if error is not None:
        block.ledger.drop(output, "no-equivalent")
    inner = member(error, "content")
    if inner is not None and _is_list(inner) and all(isinstance(each, dict) for each in inner.value):
        block.put("content", inner)  # blocks that went out as an error
        drop_members(said, ("content",), block.ledger)
        return
    text = block.list("content").item()
    text.make("type", "text", "required-by-target")
    text.put("text", said if isinstance(said.value, str) else said.to(dumps(said.value).decode(), "json-dump"))


def _listing(part: Node, ledger: Ledger) -> Hosted | None:
    """What tools a remote server has: one block, without input or result."""
    server, tools = part.get("server_label"), part.get("tools")
    listed = tools is not None and isinstance(tools.value, list)
    if server is None or not listed or (part.get("error") is not None and not tools.value):
        return None  # of a server that could not be asked it is not said that it has no tools

    def begin(block: Writer) -> None:
        block.put("type", part.says["service"].to("mcp_tool_listing", "respelled"))
        block.put("mcp_server_name", server)
        listed = Writer(block.ledger, [])
        for at in range(len(tools.value)):
            _write_listed(Leaf(tools.value, at), listed)
        if listed.value:
            block.value["tools"] = listed.value
        elif tools.value:
            block.make("tools", [], "required-by-target")
        else:
            block.put("tools", tools)

    return Hosted(("service", "server_label", "tools"), begin, None, None)


def _write_listed(tool: Leaf, listed: Writer) -> None:
    name, schema, description = (member(tool, key) for key in ("name", "input_schema", "description"))
    if name is None or not isinstance(name.value, str):
        listed.ledger.drop(tool, "no-equivalent")
        return
    w = listed.item()
    w.put("name", name)
    if description is not None:
        w.put("description", description)
    if schema is not None and isinstance(schema.value, dict):
        w.put("input_schema", schema)
    else:
        listed.ledger.drop(schema, "no-equivalent")
        w.make("input_schema", {"type": "object"}, "required-by-target")
    drop_members(tool, ("name", "description", "input_schema"), listed.ledger)


# Searches for tools

FAILED = ("failed", "incomplete")
OVER = ("completed", None)


class Searches:
    """Which search for tools found what: here the result names its call, elsewhere it may only stand behind it.

    A search that is over has a result here, if it found nothing an empty one.
    """

    def __init__(self) -> None:
        self.open: list[Node] = []

    def told(self, part: Node) -> Node:
        """A part as it came; one that holds what a search found says that search's block under `found_by`, too."""
        service = part.value("service") if part.kind == "hosted_call" else None
        if service == "tool_search" and isinstance(part.value("id"), str) and part.protocol != NAME:
            self.open.append(part)
        if service != "tool_search_output":
            return part
        search = next((each for each in self.open if each.value("call_id") == part.value("call_id")), None)
        if search is None:
            return part
        self.open.remove(search)
        said = part.but()
        said.says["found_by"] = made(_own_id(search.says["id"]).value, "required-by-target")
        return said

    def over(self, next: Node | None = None) -> list[Node]:
        """What is to be said of searches before the next part, or at the end: those that are over found nothing."""
        if next is not None and next.value("service") in ("tool_search", "tool_search_output"):
            return []
        searches, self.open = self.open, []
        return [_nothing_found(each) for each in searches if _is_server_search(each) and each.value("status") in OVER]


def _is_server_search(part: Node) -> bool:
    """Does the vendor search, or searched, and not the client?"""
    return bool(part.value("execution", "server") == "server")


def _nothing_found(search: Node) -> Node:
    said = {"service": made("tool_search_output", "required-by-target")}
    said["found_by"] = made(_own_id(search.says["id"]).value, "required-by-target")
    return Node("hosted_call", search.protocol, None, said)


def _tool_search(part: Node, ledger: Ledger) -> Hosted | None:
    """A search that the vendor makes; what it found stands in another item."""
    arguments = part.get("arguments")
    if not _is_server_search(part):
        return None
    asked = arguments.value if arguments is not None and isinstance(arguments.value, dict) else {}
    begin = _begin("server_tool_use", f"tool_search_tool_{'regex' if 'pattern' in asked else 'bm25'}", part)
    ledger.drop(part.get("execution"), "target-default")
    whole = made({}, "empty-arguments") if arguments is None else arguments
    used: tuple[str, ...] = ("service", "id", "arguments", "execution")
    if part.value("status") not in FAILED:
        return Hosted(used, begin, whole, None)
    result = _result("tool_search_tool_result", part, _failed(part, "tool_search_tool_result_error"))
    return Hosted((*used, "status"), begin, whole, result)


def _found(part: Node, ledger: Ledger) -> Hosted | None:
    """What a search found: the names of tools, without their schemas."""
    search, tools = part.get("found_by"), part.get("tools")
    if search is None or not _is_server_search(part):
        return None
    ledger.drop(part.get("execution"), "target-default")

    def begin(block: Writer) -> None:
        block.put("type", part.says["service"].to("tool_search_tool_result", "respelled"))
        block.put("tool_use_id", search)
        content = block.object("content")
        content.make("type", "tool_search_tool_search_result", "required-by-target")
        references = Writer(ledger, [])
        for at in range(len(tools.value) if tools is not None and _is_list(tools) else 0):
            _write_references(Leaf(tools.value, at), references)
        if references.value:
            content.value["tool_references"] = references.value
        elif tools is not None and tools.value == []:
            content.put("tool_references", tools)
        else:
            content.make("tool_references", [], "required-by-target")

    used = ("service", "found_by", "execution", *(("tools",) if tools is None or isinstance(tools.value, list) else ()))
    return Hosted(used, begin, None, None)


def _write_references(tool: Leaf, references: Writer) -> None:
    """A tool by its name; those of a namespace each by a longer one (`spec/requests.md` §7.1)."""
    name, inner = member(tool, "name"), member(tool, "tools")
    if name is None or not isinstance(name.value, str):
        references.ledger.drop(tool, "no-equivalent")
        return
    if inner is None or not _is_list(inner):
        _write_reference(name, references)
        drop_members(tool, ("name",), references.ledger)
        return
    drop_members(tool, ("name", "tools"), references.ledger)
    references.ledger.drop(name, "no-equivalent")  # unless a tool in it has a name
    for at in range(len(inner.value)):
        each = Leaf(inner.value, at)
        own = member(each, "name")
        if own is None or not isinstance(own.value, str):
            references.ledger.drop(each, "no-equivalent")
            continue
        _write_reference(own.to(f"{name.value}__{own.value}", "flatten-namespace", [name]), references)
        drop_members(each, ("name",), references.ledger)


def _write_reference(name: Leaf, references: Writer) -> None:
    value = legal(name.value, LONGEST_NAME)
    w = references.item()
    w.make("type", "tool_reference", "required-by-target")
    w.put("tool_name", name if value == name.value else name.to(value, "legal-name"))


# What became of a context that was too long


def _compaction(part: Node, ledger: Ledger) -> Hosted | None:
    """A context made shorter: one block, without input or result, that only the vendor can read."""
    sealed = part.get("encrypted_content")
    if not isinstance(part.value("encrypted_content"), str):
        return None

    def begin(block: Writer) -> None:
        service = part.says["service"]
        block.put("type", service.to("compaction", "respelled"))
        block.put("encrypted_content", sealed)

    return Hosted(("service", "encrypted_content"), begin, None, None)


CALLS: dict[str, Callable[[Node, Ledger], Hosted | None]] = {
    "web_search": _web,
    "code_execution": _code,
    "mcp": _mcp,
    "tool_search": _tool_search,
    "tool_search_output": _found,
    "mcp_list_tools": _listing,
    "compaction": _compaction,
}
# Blocks that need no id.
ALONE = ("mcp_list_tools", "compaction", "tool_search_output")
