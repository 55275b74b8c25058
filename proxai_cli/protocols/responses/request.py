"""A Responses request: items as turns and back, tools, and what a table cannot say.

Source: `spec/requests.md`.
"""

from typing import Any

from ...context import Context
from ...errors import NotThatProtocol
from ...ir.limits import MOST_MARKS, breakpoints, refusals
from ...ir.nodes import Node, has_more
from ...ir.turns import paired
from ...ledger import Leaf, Writer, made
from ...tables import other
from .input import Items
from .items import BETWEEN, kind_of, lost, read_answer_item, read_message, read_parts, read_result
from .tables import ASIDE_ITEMS, LOGPROBS, NAME, OUTPUTS, REQUEST
from .tools import read_choice, read_tools, write_tools

ROLES = ("system", "developer", "user", "assistant")


def read_request(value: Any, context: Context) -> Node:
    """A request body as a node `request`. Raises `NotThatProtocol` where it is no object that holds a conversation."""
    keys = ("input", "instructions", "prompt", "previous_response_id", "conversation")
    if not isinstance(value, dict) or not any(key in value for key in keys):
        raise NotThatProtocol("unrecognised", "expected a Responses request: an object with `input`")
    request = REQUEST.read(value, context)
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


# --- writing

# Terms that are written by hand, below.
_ARRANGED = ("instructions", "turns", "tools", "tool_choice", "container", "include", "logprobs", "max_output_tokens")
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
    REQUEST.write(request, w, context, _ARRANGED)
    _write_include(request, w)
    write_tools(request, w, context)
    w.order(REQUEST.names)
    _notice(w.value, context)


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
    if context.choice("system") == "join":
        turns = _joined(turns)
    if turns and (instructions := _as_instructions(turns[0])) is not None:
        w.put("instructions", instructions)
        turn = turns.pop(0)
        lost(turn, w.ledger, ("parts",))
        w.ledger.drop(turn.parts()[0].get("type"), "target-default")
    items = Items(w.list("input"), context, [part for turn in turns for part in turn.parts()])
    for turn in paired(turns, made):
        items.turn(turn)
    if not w.value["input"]:
        del w.value["input"]


def _joined(turns: list[Node]) -> list[Node]:
    """The turns with all leading texts of the system as one (`--set system=join`)."""
    texts: list[Leaf] = []
    head = Node("turn", NAME)
    for turn in turns:
        plain = [part.get("text") for part in turn.parts() if part.kind == "text"]
        if (
            turn.value("role", "system") not in ("system", "developer")
            or len(plain) != len(turn.parts())
            or None in plain
        ):
            break
        texts += plain
        head.asides += [
            (said, "role-merge" if term == "role" else "no-equivalent") for term, said in turn.but("parts").says.items()
        ]
        head.asides += [(part.says["type"], "target-default") for part in turn.parts() if "type" in part.says]
        head.asides += [(part.but("text", "type"), "no-equivalent") for part in turn.parts()]
        head.asides += [*turn.asides, *((leaf, "unknown-field") for leaf in turn.extras.values())]
        turns = turns[1:]
    if len(texts) < 2:
        return turns if not texts else [_turn_of(texts[0], head), *turns]
    return [
        _turn_of(texts[0].to(BETWEEN.join(text.value for text in texts), "merged-boundary", texts[1:]), head),
        *turns,
    ]


def _turn_of(text: Leaf, turn: Node) -> Node:
    turn.says["parts"] = [Node("text", NAME, None, {"text": text})]
    return turn


def _as_instructions(turn: Node) -> Leaf | None:
    """The text of a system turn that is one string; where no turn says it, also of one that is a plain block."""
    if turn.value("role", "system") != "system":
        return None
    parts = turn.parts()
    if len(parts) == 1 and parts[0].kind == "text" and not has_more(parts[0], ("text", "type")):
        text = parts[0].get("text")
        alone = "type" not in parts[0].says or turn.get("role") is None
        if isinstance(text, Leaf) and not parts[0].asides and alone:
            return text
    return None


def _notice(request: dict[str, Any], context: Context) -> None:
    """Findings about the result (`spec/requests.md` §12)."""
    items = request.get("input") or [{}]
    if items[-1].get("role") == "assistant":
        context.find("prefill")
    if breakpoints(items) > MOST_MARKS:
        context.find("too-many-cache-marks")
    for code in refusals(request):
        context.find(code)
