"""How much to reason: here `thinking` and `output_config.effort`, elsewhere one word (`spec/requests.md` §8)."""

from typing import NamedTuple

from ...context import Context
from ...ir.nodes import Node
from ...ir.terms import term
from ...ledger import Leaf, Writer
from ...tables import NUMBER, fits

BUDGETS = {"low": 1024, "medium": 4096, "high": 16384, "xhigh": 32768, "max": 32768}
SHOWN = ("auto", "concise", "detailed", "summarized")


def effort_of(budget: float) -> str:
    """The effort whose budget is the next one below."""
    return "low" if budget < 2048 else "medium" if budget < 8192 else "high" if budget < 32768 else "xhigh"


def read_effort(request: Node) -> None:
    """Let a request say its effort in one word instead of by two objects."""
    thinking, config = (request.says.pop(key, None) for key in ("thinking", "output_config"))
    for node in (thinking, config):
        if node is not None:
            _take_over(request, node)
    if thinking is None:
        return
    mode, budget, display = (thinking.get(key) for key in ("mode", "budget", "thinking_display"))
    effort = request.get("effort")
    if display is not None:
        request.says["thinking_display"] = display
    if mode is not None and mode.value == "disabled":
        if effort is None:
            request.says["effort"] = mode.to("none", "respelled")
        elif effort.value == "low":
            request.says["effort"] = effort.to("minimal", "respelled", [mode])
        else:
            request.says["thinking_mode"] = mode
        request.asides += [(budget, "no-equivalent")] if budget is not None else []
    elif effort is not None:
        request.asides += [(leaf, "duplicate") for leaf in (mode, budget) if leaf is not None]
    elif budget is not None:
        request.says["effort"] = budget.to(effort_of(budget.value), "budget-to-effort")
        request.asides += [(mode, "duplicate")] if mode is not None else []
    elif mode is not None:
        request.says["effort"] = mode.to("high", "adaptive-default")


def _take_over(request: Node, node: Node) -> None:
    for name, said in node.says.items():
        if name in ("mode", "budget", "thinking_display"):
            continue
        if name in request.says:
            request.asides.append((said, "duplicate"))
        else:
            request.says[name] = said
    request.asides += [*node.asides, *((leaf, "unknown-field") for leaf in node.extras.values())]


class Plan(NamedTuple):
    """What is to be written: words for `thinking.type` and `output_config.effort`, a budget; None for what is not."""

    type: str | None = None
    effort: str | None = None
    budget: int | None = None

    @property
    def thinks(self) -> bool:
        return self.type in ("adaptive", "enabled")


def plan(request: Node, forced: bool, context: Context) -> Plan:
    """What an effort and a wish to see thoughts come to. A forced tool choice excludes thinking."""
    word = request.value("effort")
    if not isinstance(word, str):
        shown = request.value("thinking_display") in SHOWN and not forced
        return Plan("adaptive") if shown and "effort" not in request.says else Plan()
    if word == "none":
        return Plan("disabled")
    if word == "minimal":
        return Plan("disabled", "low")
    way = context.choice("thinking", "adaptive")
    if forced or way == "effort-only":
        return Plan(None, word)
    if way == "budget" and word in BUDGETS:
        return Plan("enabled", None, BUDGETS[word])
    return Plan("adaptive", word)


def write_effort(request: Node, plan: Plan, w: Writer) -> None:
    """Write `thinking`, and the effort into `output_config` (an object that may stand there already)."""
    effort, display = request.get("effort"), request.get("thinking_display")
    if effort is not None and not isinstance(effort.value, str):
        w.ledger.drop(effort, "no-equivalent", True)
        effort = None
    if plan.type is not None:
        thinking = w.object("thinking")
        if plan.type == "disabled":
            thinking.put("type", effort.to("disabled", "respelled"))
        else:
            thinking.make("type", plan.type, "thinking-on")
        if plan.budget is not None:
            thinking.put("budget_tokens", effort.to(plan.budget, "respelled"))
        if display is not None and plan.thinks:
            _show(display, thinking)
    if plan.effort is not None:
        config = Writer(w.ledger, w.value["output_config"]) if "output_config" in w.value else w.object("output_config")
        config.put("effort", effort if plan.effort == effort.value else effort.to(plan.effort, "respelled"))
    if display is not None and not plan.thinks:
        w.ledger.drop(display, "no-equivalent", term("thinking_display").steers)


def _show(display: Leaf, thinking: Writer) -> None:
    if display.value in SHOWN:
        word = "summarized"
        thinking.put("display", display if display.value == word else display.to(word, "respelled"))
    elif display.value == "omitted":
        thinking.put("display", display)
    else:
        thinking.ledger.drop(display, "no-equivalent", True)


def with_room(limit: Leaf, plan: Plan) -> Leaf:
    """A token limit that leaves room for the reply above the thinking budget."""
    if plan.budget is None or not fits(limit.value, NUMBER) or limit.value > plan.budget:
        return limit
    return limit.to(limit.value + plan.budget, "room-for-thinking")
