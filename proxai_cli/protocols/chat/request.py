"""Request bodies.

Source: `spec/requests.md`.
"""

from typing import Any

from ...context import Context
from ...errors import NotPossible, NotThatProtocol
from ...ir.limits import MOST_MARKS, breakpoints, refusals
from ...ir.nodes import Node
from ...ir.turns import paired
from ...ledger import Leaf, Writer, made
from .tables import NAME, REQUEST, WEB_SEARCH
from .tools import Tools
from .turns import Conversation, Numbers, merged, read_turn

# What asks for no more than what is done anyway (`spec/requests.md` §2).
DEFAULTS: dict[str, Any] = {"choice_count": 1, "logprobs": False, "modalities": ["text"]}


# --- reading


def read_request(value: Any, context: Context) -> Node:
    """A request body as a node `request`; its turns are the messages, tool results among them."""
    if not isinstance(value, dict) or "messages" not in value:
        raise NotThatProtocol("unrecognised", "a chat request is an object with `messages`; there are none")
    node = REQUEST.read(value, context)
    searched = _web_search(node, context)
    if searched:
        node.says["tools"] = [*node.says.get("tools", []), searched]
    _set_defaults_aside(node)
    numbers = Numbers()
    node.says["turns"] = [read_turn(message, numbers) for message in node.says.get("turns", [])]
    return node


def _set_defaults_aside(node: Node) -> None:
    for term, default in DEFAULTS.items():
        if term in node.says and node.value(term) == default:
            node.asides.append((node.says.pop(term), "target-default"))


def _web_search(node: Node, context: Context) -> Node | None:
    """The option that stands for a hosted tool; empty, it still asks for it."""
    leaf = node.extras.get("web_search_options")
    if leaf is None or not isinstance(leaf.value, dict):
        return None
    del node.extras["web_search_options"]
    if not leaf.value:
        return Node("hosted_tool", NAME, None, {"service": leaf.to("web_search", "respelled")})
    tool = WEB_SEARCH.read(leaf.value, context)
    tool.says["service"] = made("web_search", "required-by-target")
    return tool


# --- writing


def write_request(node: Node, w: Writer, context: Context) -> None:
    """A request body from a node `request`.

    Raises `NotPossible`: `no-model`, and `empty` where no message is left.
    """
    if node.protocol == NAME and node.home is not None:
        _as_it_came(node, w, context)
        return
    leading = []
    for turn in node.says.get("instructions", []):
        leading.append(turn.but())
        leading[-1].says.setdefault("role", made("system", "required-by-target"))
    names = {tool.value("name") for tool in node.says.get("tools", []) if isinstance(tool.value("name"), str)}
    conversation = Conversation(w.list("messages"), names, context)
    turns = paired([*leading, *node.says.get("turns", [])], made)
    conversation.write(merged(turns) if context.chosen("merge-roles") else turns)
    if not w.value["messages"]:
        raise NotPossible("empty", "no message is left for a chat request", hint="look at it with `proxai inspect`")
    _write_model(node, w, context)
    REQUEST.write(node, w, context, ("model", "instructions", "turns", "tools", "tool_choice", "parallel_tool_calls"))
    Tools(node, w, context).write()
    _want_usage(w)
    w.order(REQUEST.names)
    _notice(w.value, context)


def _as_it_came(node: Node, w: Writer, context: Context) -> None:
    chosen = context.choice("model")
    for key in node.home:
        leaf = Leaf(node.home, key)
        w.put(key, leaf.to(chosen, "respelled") if key == "model" and chosen else leaf)
    if chosen and "model" not in node.home:
        w.make("model", chosen, "required-by-target")


def _write_model(node: Node, w: Writer, context: Context) -> None:
    leaf, chosen = node.get("model"), context.choice("model")
    if chosen:
        w.put("model", leaf.to(chosen, "respelled") if leaf else made(chosen, "required-by-target"))
    elif leaf is None:
        raise NotPossible("no-model", "the request names no model", hint="`--set model=NAME` names one")
    else:
        w.put("model", leaf)


def _want_usage(w: Writer) -> None:
    """Usage in a stream must be asked for here (`spec/requests.md` §3, §4)."""
    if w.value.get("stream") is not True:
        return
    options = Writer(w.ledger, w.value["stream_options"]) if "stream_options" in w.value else w.object("stream_options")
    if "include_usage" not in options.value:
        options.make("include_usage", True, "want-usage")


def _notice(request: dict[str, Any], context: Context) -> None:
    """Findings about the result (`spec/requests.md` §12)."""
    messages, tools = request["messages"], request.get("tools", [])
    if messages[-1].get("role") == "assistant":
        context.find("prefill")
    if request.get("reasoning_effort", "none") != "none" and any("function" in tool for tool in tools):
        context.find("tools-with-effort")
    if breakpoints(messages) > MOST_MARKS:
        context.find("too-many-cache-marks")
    for code in refusals(request):
        context.find(code)
