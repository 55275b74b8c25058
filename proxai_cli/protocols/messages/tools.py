"""Tools and the choice among them (`spec/requests.md` §7)."""

from typing import Any

from ...context import Context
from ...ir.nodes import Node
from ...ir.values import whole_schema
from ...ledger import Leaf, Writer, made
from . import tables
from .hosted_tools import PLAIN, SHELL, limit_uses, write_hosted_tool
from .parts import legal_name, tool_name
from .tables import TOOL

INPUT_SCHEMA = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}


def forced(request: Node) -> bool:
    """Must some tool be called?"""
    choice = request.get("tool_choice")
    return choice is not None and (choice.get("name") is not None or choice.value("mode") == "required")


def write_tools(terms: dict[str, Any], w: Writer, context: Context) -> None:
    """The list `tools`: of a chosen subset only what is in it."""
    tools: list[Node] = terms.get("tools", [])
    choice: Node | None = terms.get("tool_choice")
    allowed = None if choice is None else choice.get("allowed")
    names = None if allowed is None else {tool.value("name") for tool in allowed if isinstance(tool.value("name"), str)}
    listed = Writer(w.ledger, [])
    for tool in tools:
        if names is not None and tool.value("name") not in names:
            w.ledger.drop(tool, "filter-tools")
        elif tool.kind == "function_tool":
            _write_function(tool, listed.item(), context)
        elif tool.kind == "custom_tool":
            _write_custom(tool, listed.item(), context)
        elif tool.kind == "hosted_tool":
            write_hosted_tool(tool, listed, w, context)
        else:
            w.ledger.drop(tool, "unknown-field", True)
    limit_uses(terms.get("max_tool_calls"), listed)
    if listed.value:
        w.value["tools"] = listed.value


def _write_function(tool: Node, w: Writer, context: Context) -> None:
    said = tool.but("parameters", "allowed_callers", "namespace")
    said.says["name"] = tool_name(tool)
    TOOL.write(said, w, context, but=("type",))
    w.ledger.drop(said.get("type"), "target-default")
    _write_schema(tool.get("parameters"), w, context)
    _write_callers(tool.get("allowed_callers"), w)
    w.order(TOOL.names)


def _write_schema(schema: Leaf | None, w: Writer, context: Context) -> None:
    """A schema, with the type `object` that Messages demands at its root."""
    empty = {"type": "object", "properties": {}}
    schema = None if schema is None else whole_schema(schema, context)
    if schema is None:
        w.make("input_schema", empty, "required-by-target")
    elif not isinstance(schema.value, dict) or not schema.value:
        w.put("input_schema", schema.to(empty, "required-by-target"))
    elif "type" in schema.value or schema.why is not None:
        w.put("input_schema", schema)
    else:
        written = w.object("input_schema")
        written.make("type", "object", "required-by-target")
        for key in schema.value:
            written.put(key, Leaf(schema.value, key))


def _write_callers(callers: Leaf | None, w: Writer) -> None:
    """Of those who may call a tool only the model itself is known here."""
    if callers is None:
        return
    if callers.value and all(caller == "direct" for caller in callers.value):
        w.put("allowed_callers", callers)
    else:
        w.ledger.drop(callers, "no-equivalent")


def _write_custom(tool: Node, w: Writer, context: Context) -> None:
    """A tool that takes free text, as one that takes an object with that text."""
    said = tool.but("format_type", "grammar", "syntax", "namespace")
    said.says["name"] = tool_name(tool)
    TOOL.write(said, w, context, but=("type",))
    w.ledger.drop(said.get("type"), "target-default")
    w.make("input_schema", dict(INPUT_SCHEMA), "wrap-custom")
    form = tool.get("format_type")
    w.ledger.drop(form, "target-default" if form is not None and form.value == "text" else "no-equivalent", True)
    w.ledger.drop([tool.says[key] for key in ("grammar", "syntax") if key in tool.says], "no-equivalent", True)
    w.order(TOOL.names)


def write_choice(terms: dict[str, Any], w: Writer, context: Context) -> None:
    """`tool_choice`, and in it whether several tools may be called at once."""
    choice: Node | None = terms.get("tool_choice")
    parallel: Leaf | None = terms.get("parallel_tool_calls")
    if "tools" not in w.value:  # a choice without tools is refused
        free = choice is not None and choice.value("mode") in ("auto", "none")
        w.ledger.drop(choice, "target-default" if free else "target-rejects", True)
        refused = parallel is not None and parallel.value is False
        w.ledger.drop(parallel, "no-equivalent" if refused else "target-default", True)
        return
    written = Writer(w.ledger, {})
    if choice is not None:
        _write_chosen(choice, written, w.value["tools"], context)
    if parallel is not None:
        _write_parallel(parallel, written)
    if written.value:
        w.value["tool_choice"] = written.value


def _write_chosen(choice: Node, w: Writer, tools: list[Any], context: Context) -> None:
    name, mode = choice.get("name"), choice.get("mode")
    said, hosted = choice.but("mode", "name", "allowed", "tool_kind"), _named(choice)
    if name is not None and choice.value("tool_kind") in (None, "function", "custom"):
        kind = choice.get("tool_kind") or made("tool", "required-by-target")
        w.put("type", kind.to("tool", "respelled"))
        w.put("name", legal_name(name))
        if w.value["name"] not in [tool.get("name") for tool in tools]:
            context.find("unknown-choice")
        w.ledger.drop(mode, "duplicate")
        w.ledger.drop(choice.get("allowed"), "filter-tools")
        tables.TOOL_CHOICE.write(said, w, context)
        return
    elif name is None and hosted is not None and hosted in [tool.get("name") for tool in tools]:
        w.make("type", "tool", "required-by-target")
        w.put("name", choice.says["tool_kind"].to(hosted, "respelled"))
        w.ledger.drop(mode, "duplicate")
        tables.TOOL_CHOICE.write(said, w, context)
        return
    elif name is None and mode is not None and mode.value in tables.CHOICE.from_canonical:
        word = tables.CHOICE.from_canonical[mode.value]
        w.put("type", mode if word == mode.value else mode.to(word, "respelled"))
    else:
        w.ledger.drop(choice, "hosted-tool", True)
        return
    w.ledger.drop(choice.get("allowed"), "filter-tools")
    w.ledger.drop(choice.get("tool_kind"), "target-default")
    tables.TOOL_CHOICE.write(said, w, context)


def _named(choice: Node) -> str | None:
    """The name here of a hosted tool that is chosen by what it does."""
    kind = choice.value("tool_kind")
    return SHELL[1] if kind == "shell" else PLAIN[kind][1] if isinstance(kind, str) and kind in PLAIN else None


def _write_parallel(parallel: Leaf, w: Writer) -> None:
    refused = parallel.value is False
    if w.value.get("type") == "none":
        w.ledger.drop(parallel, "no-equivalent" if refused else "target-default", True)
    elif refused or w.value:
        if not w.value:
            w.make("type", "auto", "required-by-target")
        w.put("disable_parallel_tool_use", parallel.to(refused, "respelled"))
    else:
        w.ledger.drop(parallel, "target-default")
