"""Calls of tools that another vendor ran, as items of this protocol. Source: `spec/responses.md` §6.

A call says `service`, `id`, `arguments` and, where it came back, a `result` with its `content`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from ...context import Context
from ...ir.nodes import Node
from ...ir.values import as_object, as_text
from ...ledger import Leaf, Ledger, Writer, made
from .ids import item_id
from .items import lost
from .tables import FUNCTION_TOOL
from .values import parsed

Make = Callable[[str], str]
Write = Callable[[Node, Writer], Leaf | None]


class Kind(NamedTuple):
    """A kind of hosted item: its type and the prefix of its ids, what it says while it runs, the names of its events.

    `write` writes what a call says, and gives back the leaf that says that it failed, if one does. `text` is the key
    whose text has events of its own. `terms` are what a block says that stands alone: it has no id and no result, and
    its item no status. `answer` writes an item of its own for the result, all but its id, if `answered` says so.
    """

    type: str
    prefix: str
    running: dict[str, Any]
    write: Write
    before: tuple[str, ...] = ()
    text: tuple[str, str] | None = None
    after: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    answer: Callable[[Node, Writer], None] | None = None


def kind(part: Node) -> Kind | None:
    """The kind of item that a hosted call becomes; None where this protocol has none for it."""
    service = part.get("service")
    if part.kind != "hosted_call" or service is None or not isinstance(service.value, str):
        return None
    found = KINDS.get(service.value)
    return found if found is not None and (found.terms or isinstance(part.value("id"), str)) else None


class Results:
    """Which hosted call got which result: elsewhere a part of its own, anywhere behind the call."""

    def __init__(self, parts: list[Node]) -> None:
        self.of: dict[int, Node] = {}
        self.told: set[int] = set()
        calls: dict[Any, Node] = {}
        for part in parts:
            if part.kind == "hosted_call" and isinstance(part.value("id"), str):
                calls.setdefault(part.value("id"), part)
            elif part.kind == "hosted_result" and part.value("call_id") in calls:
                self.of[id(calls.pop(part.value("call_id")))] = part
                self.told.add(id(part))

    def paired(self, parts: list[Node]) -> list[Node]:
        """The same parts, each call with its result, and no result that its call says."""
        return [self._with_result(part) for part in parts if id(part) not in self.told]

    def _with_result(self, part: Node) -> Node:
        if id(part) not in self.of:
            return part
        said = part.but()
        said.says["result"] = self.of[id(part)]
        return said


def write_hosted(part: Node, made_of: Kind, items: Writer, context: Context, make: Make) -> None:
    """A hosted call as an item, or two, all at once."""
    item = items.item()
    begin_hosted(part, made_of, item, context, make)
    write_body(part, item, made_of)
    end_hosted(part, item, made_of)
    if made_of.answer is not None and answered(part):
        answer = items.item()
        answer.make("id", make("tso"), "made-id")
        made_of.answer(part, answer)


def begin_hosted(part: Node, made_of: Kind, item: Writer, context: Context, make: Make) -> None:
    """Id and type of a hosted item; `make` makes the id of a block that has none, from the prefix."""
    if "id" in part.says and not made_of.terms:
        item.put("id", item_id(part.says["id"], made_of.prefix, context))
    else:
        item.make("id", make(made_of.prefix.rstrip("_")), "made-id")
    item.put("type", part.says["service"].to(made_of.type, "respelled"))


def end_hosted(part: Node, item: Writer, made_of: Kind) -> None:
    """What a hosted call says beside its arguments and its result."""
    used = ("id", "service", "arguments", "result", "server", "name", "container_id", *made_of.terms)
    lost(part, item.ledger, used)
    if "server_label" not in item.value:
        item.ledger.drop([part.says[term] for term in ("server", "name") if term in part.says], "no-equivalent")


def write_body(part: Node, item: Writer, made_of: Kind) -> None:
    """All of a call but id and type."""
    before = dict(item.value)
    failure = made_of.write(part, item)
    result = part.get("result")
    if failure is not None:
        item.put("status", failure.to("failed", "respelled"))
    elif not made_of.terms and "status" not in item.value:
        item.make("status", "completed" if result is not None else "in_progress", "required-by-target")
    item.order([*before, "status"])


def _input(part: Node) -> dict[str, Leaf]:
    """The members of a call's arguments, which are an object or its JSON text."""
    arguments = part.get("arguments")
    if arguments is None:
        return {}
    if isinstance(arguments.value, dict):
        return {key: Leaf(arguments.value, key) if arguments.why is None else arguments for key in arguments.value}
    value = parsed(arguments.value)
    return {key: arguments.to(inner, "json-parse") for key, inner in value.items()} if isinstance(value, dict) else {}


def _take(part: Node, key: str, ledger: Ledger) -> Leaf | None:
    """One member of the arguments, if it is a text; the others have no place."""
    arguments, members = part.get("arguments"), _input(part)
    found = members.get(key)
    found = found if found is not None and isinstance(found.value, str) else None
    if arguments is not None and isinstance(arguments.value, dict) and arguments.value:
        for name in arguments.value:
            if name != key or found is None:
                ledger.drop(Leaf(arguments.value, name), "no-equivalent")
    elif found is None:
        ledger.drop(arguments, "no-equivalent")
    return found


def _answer(part: Node, ledger: Ledger) -> Any:
    """The content of a call's result; what else the result says has no place."""
    result = part.get("result")
    if result is None:
        return None
    for term, why in (("type", "target-default"), ("call_id", "duplicate")):
        ledger.drop(result.get(term), why)
    lost(result, ledger, ("type", "call_id", "content", "is_error"))
    return result.get("content")


def _failure(content: Leaf | None, ledger: Ledger) -> Leaf | None:
    """The code of a result that is an error."""
    if content is None or not isinstance(content.value, dict) or "error_code" not in content.value:
        return None
    _drop_members(content.value, ("error_code",), ledger)
    return Leaf(content.value, "error_code")


def _drop_members(home: dict[str, Any], but: tuple[str, ...], ledger: Ledger, why: str = "no-equivalent") -> None:
    for key, value in home.items():
        if key not in but:
            ledger.drop(Leaf(home, key), "target-default" if key == "type" or value is None else why)


def _search(part: Node, item: Writer) -> Leaf | None:
    action = item.object("action")
    action.make("type", "search", "required-by-target")
    query = _take(part, "query", item.ledger)
    if query is not None:
        action.put("query", query)
    content = _answer(part, item.ledger)
    failure = _failure(content, item.ledger)
    if failure is None:
        _write_sources(content, action)
    return failure


def _write_sources(content: Leaf | None, action: Writer) -> None:
    found = Writer(action.ledger, [])
    listed = content.value if content is not None and isinstance(content.value, list) and content.value else None
    for at, each in enumerate(listed or ()):
        if isinstance(each, dict) and isinstance(each.get("url"), str):
            source = found.item()
            source.make("type", "url", "required-by-target")
            source.put("url", Leaf(each, "url"))
            _drop_members(each, ("url",), action.ledger)
        else:
            action.ledger.drop(Leaf(listed, at), "no-equivalent")
    if listed is None:
        action.ledger.drop(content, "target-default")
    if found.value:
        action.value["sources"] = found.value


def _fetch(part: Node, item: Writer) -> Leaf | None:
    action = item.object("action")
    action.make("type", "open_page", "required-by-target")
    url = _take(part, "url", item.ledger)
    if url is not None:
        action.put("url", url)
    content = _answer(part, item.ledger)
    failure = _failure(content, item.ledger)
    if failure is None:
        item.ledger.drop(content, "hosted-tool")
    return failure


def _code(part: Node, item: Writer) -> Leaf | None:
    """Code, and what it printed; of another tool in the same container the whole input is the code."""
    service = part.says["service"]
    if service.raw().value == "code_execution":
        code = _take(part, "code", item.ledger)
    else:
        code = part.get("arguments") and as_text(part.says["arguments"])
    if code is not None:
        item.put("code", code)
    else:
        item.make("code", "", "required-by-target")
    item.put("container_id", part.get("container_id") or made("", "required-by-target"))
    content = _answer(part, item.ledger)
    failure = _failure(content, item.ledger) or _write_logs(content, item)
    if "outputs" not in item.value:
        item.make("outputs", None if part.get("result") is None else [], "required-by-target")
    return failure


def container_id(container: Leaf | None, ledger: Ledger) -> Leaf | None:
    """The id of the container in which a reply's code ran; what else is said of it has no place."""
    if container is None or not isinstance(container.value, dict) or not isinstance(container.value.get("id"), str):
        ledger.drop(container, "foreign-id")
        return None
    ledger.drop([Leaf(container.value, key) for key in container.value if key != "id"], "foreign-id")
    return Leaf(container.value, "id")


def _write_logs(content: Leaf | None, item: Writer) -> Leaf | None:
    if content is None or not isinstance(content.value, dict) or not content.value:
        item.ledger.drop(content, "no-equivalent")
        return None
    home, outputs = content.value, Writer(item.ledger, [])
    logs = [key for key in ("stdout", "stderr") if isinstance(home.get(key), str)]
    for key in logs:
        if not home[key] and key == "stderr":
            item.ledger.drop(Leaf(home, key), "target-default")
            continue
        log = outputs.item()
        log.make("type", "logs", "required-by-target")
        log.put("logs", Leaf(home, key))
    code = home.get("return_code")
    failed = isinstance(code, int) and code != 0
    if "return_code" in home and not failed:
        item.ledger.drop(Leaf(home, "return_code"), "target-default")
    _drop_members(home, (*logs, "return_code"), item.ledger)
    if outputs.value:
        item.value["outputs"] = outputs.value
    return Leaf(home, "return_code") if failed else None


def _mcp(part: Node, item: Writer) -> Leaf | None:
    for key, term in (("server_label", "server"), ("name", "name")):
        leaf = part.get(term)
        if leaf is not None:
            item.put(key, leaf)
        else:
            item.make(key, "", "required-by-target")
    arguments = part.get("arguments")
    if arguments is not None:
        item.put("arguments", as_text(arguments))
    else:
        item.make("arguments", "{}", "empty-arguments")
    result = part.get("result")
    flag: Leaf | None = None if result is None else result.get("is_error")
    content = _answer(part, item.ledger)
    if flag is not None and flag.value is True:
        error = item.object("error")
        error.make("type", "mcp_tool_execution_error", "required-by-target")
        if content is not None:
            error.put("content", content)
        else:
            error.make("content", None, "required-by-target")
        return flag
    item.ledger.drop(flag, "target-default")
    if content is not None:
        _write_output(content, item)
    return None


def _write_output(content: Leaf, item: Writer) -> None:
    """The texts of a result as one."""
    if isinstance(content.value, str):
        item.put("output", content)
        return
    texts: list[Leaf] = []
    for at, each in enumerate(content.value if isinstance(content.value, list) else ()):
        if isinstance(each, dict) and isinstance(each.get("text"), str):
            texts.append(Leaf(each, "text"))
            _drop_members(each, ("text",), item.ledger)
        else:
            item.ledger.drop(Leaf(content.value, at), "unsupported-media")
    if texts:
        joined = "".join(text.value for text in texts)
        item.put("output", texts[0].to(joined, "merged-boundary", texts[1:]) if len(texts) > 1 else texts[0])
    elif not content.value or not isinstance(content.value, list):
        item.ledger.drop(content, "no-equivalent")


def _tool_search(part: Node, item: Writer) -> Leaf | None:
    arguments = part.get("arguments")
    if arguments is not None and as_object(arguments).value:
        item.put("arguments", as_object(arguments))
    else:
        item.ledger.drop(arguments, "target-default")
        item.make("arguments", {}, "empty-arguments")
    item.make("call_id", None, "required-by-target")
    item.make("execution", "server", "required-by-target")
    content = _answer(part, item.ledger)
    failure = _failure(content, item.ledger)
    if failure is not None:
        item.put("status", failure.to("incomplete", "respelled"))
    elif not answered(part):
        item.ledger.drop(content, "no-equivalent")
    return None


def answered(part: Node) -> bool:
    """Does a search for tools say what it found?"""
    content = _content(part)
    return isinstance(content, dict) and isinstance(content.get("tool_references"), list)


def _content(part: Node) -> Any:
    result = part.get("result")
    return None if result is None else result.value("content")


def _write_found(part: Node, item: Writer) -> None:
    """The tools that a search found, of which only the names are known."""
    item.make("type", "tool_search_output", "required-by-target")
    item.make("call_id", None, "required-by-target")
    item.make("execution", "server", "required-by-target")
    item.make("status", "completed", "required-by-target")
    content = _content(part)
    listed, tools = content["tool_references"], Writer(item.ledger, [])
    for at, each in enumerate(listed):
        if not isinstance(each, dict) or not isinstance(each.get("tool_name"), str):
            item.ledger.drop(Leaf(listed, at), "no-equivalent")
            continue
        tool = Node("function_tool", part.protocol, None, {"name": Leaf(each, "tool_name")})
        FUNCTION_TOOL.write(tool, tools.item(), Context())
        _drop_members(each, ("tool_name",), item.ledger)
    if tools.value:
        item.value["tools"] = tools.value
    elif listed:
        item.make("tools", [], "required-by-target")
    else:
        item.put("tools", Leaf(content, "tool_references"))
    _drop_members(content, ("tool_references",), item.ledger)


def _compaction(part: Node, item: Writer) -> Leaf | None:
    payload = part.get("encrypted_content")
    if payload is not None and isinstance(payload.value, str):
        item.put("encrypted_content", payload)
    else:
        item.ledger.drop(payload, "no-equivalent")
        item.make("encrypted_content", "", "required-by-target")
    return None


def _listing(part: Node, item: Writer) -> Leaf | None:
    """The tools of a remote server."""
    server, tools = part.get("server"), part.get("tools")
    if server is not None:
        item.put("server_label", server)
    else:
        item.make("server_label", "", "required-by-target")
    written = Writer(item.ledger, [])
    for at, each in enumerate(tools.value if tools is not None else ()):
        if isinstance(each, dict) and isinstance(each.get("name"), str):
            _write_listed(each, written.item())
        else:
            item.ledger.drop(Leaf(tools.value, at), "no-equivalent")
    if written.value:
        item.value["tools"] = written.value
    elif tools is not None and not tools.value:
        item.put("tools", tools)
    else:
        item.make("tools", [], "required-by-target")
    return None


def _write_listed(tool: dict[str, Any], w: Writer) -> None:
    kept = [key for key in ("name", "description", "input_schema") if tool.get(key) is not None]
    for key in kept:
        w.put(key, Leaf(tool, key))
    if "input_schema" not in kept:
        w.make("input_schema", {"type": "object"}, "required-by-target")
    _drop_members(tool, tuple(kept), w.ledger)


_WEB = ("web_search_call.in_progress", "web_search_call.searching")
KINDS = {
    "web_search": Kind(
        "web_search_call", "ws_", {"action": {"type": "search"}}, _search, _WEB, None, ("web_search_call.completed",)
    ),
    "web_fetch": Kind(
        "web_search_call", "ws_", {"action": {"type": "open_page"}}, _fetch, _WEB, None, ("web_search_call.completed",)
    ),
    "code_execution": Kind(
        "code_interpreter_call",
        "ci_",
        {"code": "", "container_id": "", "outputs": None},
        _code,
        ("code_interpreter_call.in_progress",),
        ("code", "code_interpreter_call_code"),
        ("code_interpreter_call.interpreting", "code_interpreter_call.completed"),
    ),
    "mcp": Kind(
        "mcp_call",
        "mcp_",
        {"arguments": ""},
        _mcp,
        ("mcp_call.in_progress",),
        ("arguments", "mcp_call_arguments"),
        ("mcp_call.completed",),
    ),
    "tool_search": Kind(
        "tool_search_call",
        "tsc_",
        {"arguments": {}, "call_id": None, "execution": "server"},
        _tool_search,
        answer=_write_found,
    ),
    "mcp_list_tools": Kind(
        "mcp_list_tools",
        "mcpl_",
        {"tools": []},
        _listing,
        ("mcp_list_tools.in_progress",),
        None,
        ("mcp_list_tools.completed",),
        ("tools",),
    ),
    "compaction": Kind(
        "compaction",
        "cmp_",
        {"encrypted_content": ""},
        _compaction,
        ("compaction.compacting",),
        terms=("encrypted_content",),
    ),
}
