"""A Responses request: items as turns and back, tools, and what a table cannot say.

Source: `spec/requests.md`.
"""

from collections.abc import Iterator
from typing import Any

from ...context import Context
from ...errors import NotThatProtocol
from ...ir.nodes import Node, has_more
from ...ir.turns import paired
from ...ledger import Leaf, Writer, made
from ...tables import nodes, other, unknown
from .input import Items
from .items import kind_of, lost, read_answer_item, read_message, read_parts, read_result
from .tables import (
    ASIDE_ITEMS,
    CUSTOM_TOOL,
    CUSTOM_TOOL_GROUPS,
    FUNCTION_TOOL,
    HOSTED_TOOLS,
    LOGPROBS,
    NAME,
    NAMESPACE,
    OUTPUTS,
    REQUEST,
    REQUEST_GROUPS,
    SERVICES,
    TOOL_CHOICE,
    WEB_SEARCH_GROUPS,
    legal_name,
    lifted,
    write_grouped,
)

ROLES = ("system", "developer", "user", "assistant")


def read_request(value: Any, context: Context) -> Node:
    """A request body as a node `request`. Raises `NotThatProtocol` where it is no object that holds a conversation."""
    keys = ("input", "instructions", "prompt", "previous_response_id", "conversation")
    if not isinstance(value, dict) or not any(key in value for key in keys):
        raise NotThatProtocol("unrecognised", "expected a Responses request: an object with `input`")
    request = lifted(REQUEST.read(value, context), REQUEST_GROUPS)
    _read_conversation(request, context)
    _read_include(request)
    choice = request.get("tool_choice")
    if choice is not None:
        request.says["tool_choice"] = read_choice(choice, context)
    if request.value("truncation") == "disabled":
        request.asides.append((request.says.pop("truncation"), "target-default"))
    return request


def _read_conversation(request: Node, context: Context) -> None:
    """`input`, `instructions` and `tools` as turns and tools; what adds tools amid the input adds them here."""
    tools = request.says.pop("tools", None)
    found = read_tools(tools, context) if tools is not None else []
    if tools is not None and not tools.value:
        request.asides.append((tools, "target-default"))
    for term, role in (("instructions", None), ("turns", "user")):
        leaf = request.says.pop(term, None)
        if leaf is not None:
            read = _Turns(leaf, context, role)
            request.says[term] = read.turns
            request.asides += read.asides
            found += read.tools
    if found:
        request.says["tools"] = found


def _read_include(request: Node) -> None:
    """The wish for log probabilities is a term of its own."""
    wishes = request.says.pop("include", [])
    others = [wish for wish in wishes if wish.value != LOGPROBS]
    for wish in wishes:
        if wish.value == LOGPROBS and "logprobs" not in request.says:
            request.says["logprobs"] = wish.to(True, "respelled")
        elif wish.value == LOGPROBS:
            request.asides.append((wish, "duplicate"))
    if others:
        request.says["include"] = others


class _Turns:
    """Items as turns, in order: what the assistant said in adjacent items is one turn, and so are adjacent outputs.

    `turns` are nodes `turn`, `tools` those that items add, `asides` items that say nothing elsewhere. `role` is that of
    a lone string; None where it has a place of its own.
    """

    def __init__(self, leaf: Leaf, context: Context, role: str | None) -> None:
        self.context = context
        self.turns: list[Node] = []
        self.tools: list[Node] = []
        self.asides: list[tuple[Any, str]] = []
        self.run: Node | None = None  # the assistant's turn, or the turn of results, that adjacent items go on with
        if isinstance(leaf.value, str):
            turn = self._turn(read_parts(leaf, context))
            if role:
                turn.says["role"] = made(role, "required-by-target")
            return
        if not leaf.value:
            self.asides.append((leaf, "target-default"))
        for at, item in enumerate(leaf.value):
            if isinstance(item, dict) and item:
                self._item(item)
            else:
                self.asides.append((other(leaf.value, at, NAME), "unknown-field"))

    def _turn(self, parts: list[Node]) -> Node:
        turn = Node("turn", NAME, None, {"parts": parts})
        self.turns.append(turn)
        return turn

    def _item(self, item: dict[str, Any]) -> None:
        kind = kind_of(item)
        if kind in ASIDE_ITEMS:
            table, why = ASIDE_ITEMS[kind]
            self.asides.append((table.read(item, self.context), why))
        elif kind == "additional_tools":
            self._add_tools(item)
        elif kind in OUTPUTS:
            self._go_on([read_result(item, self.context)], "results")
        elif kind == "message" and item.get("role") != "assistant":
            self._message(read_message(item, self.context))
        else:
            self._go_on(read_answer_item(item, self.context), "answers")

    def _message(self, message: Node) -> None:
        """Anybody's message but the assistant's: a turn of its own."""
        self.run = None
        turn = self._turn(message.parts())
        turn.says = {**message.says}
        turn.extras, turn.asides = message.extras, message.asides
        role = turn.get("role")
        if role is None:
            turn.says["role"] = made("user", "required-by-target")
        elif role.value not in ROLES:
            turn.says["role"] = role.to("user", "respelled")

    def _go_on(self, parts: list[Node], kind: str) -> None:
        """Parts of the assistant's turn, or results, go to the turn before if that is of their kind."""
        if self.run is None or (kind == "results") != _is_result(self.run.parts()[-1]):
            self.run = self._turn([])
        for part in parts:
            item = part.get("item")
            role = item.says.pop("role", None) if item is not None else None
            if role is not None:
                before = self.run.get("role")
                self.run.says["role"] = role if before is None else before.to("assistant", "respelled", [role])
            if item is not None and "type" in item.says:
                item.asides.append((item.says.pop("type"), "target-default"))
            if item is not None and not item.says:
                self.run.asides += [*item.asides, *((leaf, "unknown-field") for leaf in item.extras.values())]
                del part.says["item"]
            self.run.parts().append(part)

    def _add_tools(self, item: dict[str, Any]) -> None:
        """Tools that an item adds stand among the others; the place where it stood is lost."""
        for key in item:
            leaf = Leaf(item, key)
            if key != "tools" or not isinstance(leaf.value, list) or not leaf.value:
                self.asides.append((leaf, "target-default" if key in ("type", "role") else "no-equivalent"))
                continue
            for tool in read_tools(leaf, self.context):
                if "name" in tool.says:
                    tool.says["name"] = tool.says["name"].to(tool.says["name"].value, "merged-boundary")
                self.tools.append(tool)


def _is_result(part: Node) -> bool:
    return part.kind == "tool_result"


# --- tools


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
    tools = read_tools(namespace.says.pop("tools"), context)
    space = namespace.says.pop("name", None)
    for tool in tools:
        name = tool.get("name")
        if name is not None and space is not None:
            tool.says["name"] = name.to(f"{space.value}__{name.value}", "flatten-namespace", [space])
    loose = [said for term, said in namespace.says.items() if term != "type"]
    tools[0].asides += [(said, "no-equivalent") for said in loose]
    tools[0].asides += [(leaf, "unknown-field") for leaf in namespace.extras.values()]
    tools[0].asides += namespace.asides
    if "type" in namespace.says:
        tools[0].asides.append((namespace.says["type"], "target-default"))
    if space is not None and not any("name" in tool.says for tool in tools):
        tools[0].asides.append((space, "no-equivalent"))
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


# --- writing

# Terms that are written by hand, below.
_ARRANGED = ("instructions", "turns", "tools", "tool_choice", "include", "logprobs", "max_output_tokens")
# What happens here anyway.
_DEFAULTS: dict[str, Any] = {"choice_count": 1, "modalities": ["text"]}


def write_request(request: Node, w: Writer, context: Context) -> None:
    """A request body. At home it goes out as it came in, but for `--set model=NAME`."""
    if request.protocol == NAME and request.home is not None:
        for key in request.home:
            w.put(key, _model(Leaf(request.home, key), context) if key == "model" else Leaf(request.home, key))
    else:
        _write_foreign(request.but(), w, context)
    if "model" not in w.value and context.choice("model"):
        w.make("model", context.choice("model"), "required-by-target")


def _model(leaf: Leaf, context: Context) -> Leaf:
    chosen = context.choice("model")
    return leaf.to(chosen, "respelled") if chosen and chosen != leaf.value else leaf


def _write_foreign(request: Node, w: Writer, context: Context) -> None:
    for term, value in _DEFAULTS.items():
        if request.value(term) == value:
            w.ledger.drop(request.says.pop(term), "target-default")
    limit = request.get("max_output_tokens")
    if limit is not None and limit.value == 0:
        request.says["cache_prewarm"] = request.says.pop("max_output_tokens").to(True, "respelled")
    elif limit is not None:
        w.put("max_output_tokens", limit)
    if "model" in request.says:
        request.says["model"] = _model(request.says["model"], context)
    _write_conversation(request, w, context)
    write_grouped(request, REQUEST, REQUEST_GROUPS, w, context, _ARRANGED)
    _write_include(request, w)
    _write_tools(request, w, context)
    w.order(REQUEST.names)


def _write_include(request: Node, w: Writer) -> None:
    wanted = request.get("logprobs")
    if wanted is not None and wanted.value is True:
        w.list("include").append(wanted.to(LOGPROBS, "respelled"))
    elif wanted is not None:
        w.ledger.drop(wanted, "target-default")
    w.ledger.drop(request.get("include"), "no-equivalent")


def _write_conversation(request: Node, w: Writer, context: Context) -> None:
    """Instructions and turns as `instructions` and `input` (`spec/requests.md` §5.1)."""
    turns = [*request.says.get("instructions", []), *request.says.get("turns", [])]
    if turns and (instructions := _as_instructions(turns[0])) is not None:
        w.put("instructions", instructions)
        lost(turns.pop(0), w.ledger, ("parts",))
    items = Items(w.list("input"), context, [part for turn in turns for part in turn.parts()])
    for turn in paired(turns, made):
        items.turn(turn)
    if not w.value["input"]:
        del w.value["input"]


def _as_instructions(turn: Node) -> Leaf | None:
    """The text of a system turn that is one string, or one text and nothing else."""
    if turn.value("role", "system") != "system":
        return None
    parts = turn.parts()
    if len(parts) == 1 and parts[0].kind == "text" and not has_more(parts[0], ("text", "type")):
        text = parts[0].get("text")
        if isinstance(text, Leaf) and not parts[0].asides and "type" not in parts[0].says:
            return text
    return None


def _write_tools(request: Node, w: Writer, context: Context) -> None:
    tools = request.get("tools")
    if tools:
        written = w.list("tools")
        for tool in tools:
            write_tool(tool, written, context)
        if not w.value["tools"]:
            del w.value["tools"]
    choice = request.get("tool_choice")
    if choice is not None:
        write_choice(choice, tools or [], w, context)


def write_tool(tool: Node, tools: Writer, context: Context) -> None:
    """One tool as the next element of a list; a tool that only another vendor runs is dropped."""
    if tool.kind == "function_tool":
        FUNCTION_TOOL.write(tool, tools.item(), context)
    elif tool.kind == "custom_tool":
        write_grouped(tool, CUSTOM_TOOL, CUSTOM_TOOL_GROUPS, tools.item(), context)
    else:
        lost(tool, tools.ledger, why="hosted-tool" if tool.kind == "hosted_tool" else "unknown-field")


def write_choice(choice: Node, tools: list[Node], w: Writer, context: Context) -> None:
    """A tool choice (`spec/requests.md` §7.2)."""
    if "allowed" in choice.says:
        _write_allowed(choice, w, context)
    elif "name" in choice.says:
        inner = w.object("tool_choice")
        _write_kind(choice, tools, inner)
        inner.put("name", legal_name(choice.says["name"], context))
        lost(choice, w.ledger, ("name", "tool_kind"))
    elif "mode" in choice.says:
        w.put("tool_choice", choice.says["mode"])
        lost(choice, w.ledger, ("mode",))
    else:
        lost(choice, w.ledger, why="hosted-tool")


def _write_kind(choice: Node, tools: list[Node], inner: Writer) -> None:
    kind, name = choice.get("tool_kind"), choice.value("name")
    custom = any(tool.kind == "custom_tool" and tool.value("name") == name for tool in tools)
    word = "custom" if custom or choice.value("tool_kind") == "custom" else "function"
    if kind is None:
        inner.make("type", word, "required-by-target")
    else:
        inner.put("type", kind if kind.value == word else kind.to(word, "respelled"))


def _write_allowed(choice: Node, w: Writer, context: Context) -> None:
    inner = w.object("tool_choice")
    inner.make("type", "allowed_tools", "required-by-target")
    if "mode" in choice.says:
        inner.put("mode", choice.says["mode"])
    else:
        inner.make("mode", "auto", "required-by-target")
    tools = inner.list("tools")
    for tool in _named(choice.says["allowed"], w):
        entry = tools.item()
        kind = tool.get("type")
        word = "custom" if tool.kind == "custom_tool" else "function"
        if kind is None:
            entry.make("type", word, "required-by-target")
        else:
            entry.put("type", kind if kind.value == word else kind.to(word, "respelled"))
        entry.put("name", legal_name(tool.says["name"], context))
        lost(tool, w.ledger, ("type", "name"))
    if not tools.value:
        inner.make("tools", [], "required-by-target")
    lost(choice, w.ledger, ("mode", "allowed"))


def _named(tools: list[Node], w: Writer) -> Iterator[Node]:
    for tool in tools:
        if "name" in tool.says and tool.kind in ("function_tool", "custom_tool"):
            yield tool
        else:
            lost(tool, w.ledger, why="hosted-tool")
