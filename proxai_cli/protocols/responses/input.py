"""The turns of a request as input items. Source: `spec/requests.md` §5 to §7."""

from typing import Any

from ...context import Context
from ...ir.nodes import Node
from ...ledger import Leaf, Writer
from .hosted import Results, kind, write_hosted
from .items import lost
from .output import write_reasoning
from .parts import LOST, MEDIA, flat, write_call, write_input_part, write_output_part
from .tables import CUSTOM_OUTPUT, FUNCTION_OUTPUT


class Items:
    """Writes turns as items of a list. `parts` are all parts of the conversation, by which outputs know their calls."""

    def __init__(self, items: Writer, context: Context, parts: list[Node]) -> None:
        self.items, self.context = items, context
        self.custom = {part.value("call_id") for part in parts if part.kind == "custom_call"}
        self.counts: dict[str, int] = {}
        self.results = Results(parts)

    def turn(self, turn: Node) -> None:
        """The items of one turn: results, then each run of content as a message, calls and reasoning between."""
        self.role: Leaf | None = turn.get("role")
        self.said = turn.value("role", "system")
        before = len(self.items.value)
        if self.said == "assistant" or not turn.get("role"):
            self._answers(turn)
        else:
            self._message(turn)
        if len(self.items.value) == before and (turn.parts() or self.role is not None):
            self.context.find("empty-turn")
        lost(turn, self.items.ledger, ("parts", "role"))
        if self.role is not None:
            self.items.ledger.drop(self.role, "target-default")

    def _message(self, turn: Node) -> None:
        results = [part for part in turn.parts() if part.kind == "tool_result"]
        others = [part for part in turn.parts() if part.kind != "tool_result"]
        for result in results:
            self.result(result)
        if turn.plain() is not None and turn.plain().value == "":
            self.items.ledger.drop(turn.plain(), "target-default")
        elif others:
            self.message(others)

    def message(self, parts: list[Node]) -> None:
        """A message of the user or of the system."""
        plain = _plain(parts)
        w = Writer(self.items.ledger, {})
        content = Writer(self.items.ledger, [])
        if plain is None:
            parts = flat(parts)
            written = [write_input_part(part, content, self.context) for part in parts]
            if not any(written) and any(part.kind in MEDIA for part in parts):
                media = next(part.kind for part in parts if part.kind in MEDIA)
                text = content.item()
                text.make("type", "input_text", "placeholder")
                text.make("text", f"[{media} omitted]", "placeholder")
            if not content.value:
                return
        self.items.value.append(w.value)
        w.make("type", "message", "required-by-target")
        self._put_role(w)
        if plain is not None:
            w.put("content", plain)
        else:
            w.value["content"] = content.value

    def _put_role(self, w: Writer) -> None:
        """A role is said once; further items of the same turn repeat it."""
        if self.role is not None:
            w.put("role", self.role)
            self.role = None
        else:
            w.make("role", self.said, "required-by-target")

    def _answers(self, turn: Node) -> None:
        """What the assistant said; a turn without a role that holds results, or instructions, too."""
        run: list[Node] = []
        parts = self.results.paired(turn.parts())
        for part in parts:
            if part.kind == "text" and part.value("text") == "" and (len(parts) > 1 or part.home is None):
                lost(part, self.items.ledger, why="target-default")
            elif part.kind in ("text", "refusal", "image", "file", "audio", "other"):
                run.append(part)
            else:
                self._content(run)
                run = []
                self._step(part)
        self._content(run)

    def call(self, call: Node) -> None:
        """A call of a function or of a free-text tool; here it has no id of its own."""
        write_call(call.but("cache_mark"), self.items.item(), self.context)
        self.items.ledger.drop(call.get("cache_mark"), "no-equivalent")

    def _content(self, parts: list[Node]) -> None:
        if parts and self.said == "assistant":
            self.output_message(parts)
        elif parts:
            self.message(parts)

    def _step(self, part: Node) -> None:
        """Anything of the assistant's that is no content: an item of its own."""
        if part.kind in ("tool_call", "custom_call"):
            self.call(part)
        elif part.kind == "tool_result":
            self.result(part)
        elif part.kind in ("thinking", "redacted") and not self.context.chosen("keep-reasoning"):
            lost(part, self.items.ledger, why="foreign-signature")
        elif part.kind in ("thinking", "redacted"):
            item = self.items.item()
            item.make("id", self._made_id("rs"), "made-id")
            item.make("type", "reasoning", "required-by-target")
            write_reasoning(part, item, self.context)
        elif part.kind == "hosted_call" and part.value("service") == "compaction":
            lost(part, self.items.ledger, why="foreign-signature")
        elif (hosted := kind(part)) is not None:
            write_hosted(part, hosted, self.items, self.context, self._made_id)
        else:
            lost(part, self.items.ledger, why=LOST.get(part.kind))

    def output_message(self, parts: list[Node]) -> None:
        """A message of the assistant: a lone string, or parts with an id of our making (both are demanded together)."""
        plain = _plain(parts)
        content = Writer(self.items.ledger, [])
        if plain is None:
            for part in parts:
                write_output_part(part, content, self.context)
            if not content.value:
                return
        w = self.items.item()
        if plain is None:
            w.make("id", self._made_id("msg"), "made-id")
        w.make("type", "message", "required-by-target")
        if plain is None:
            w.make("status", "completed", "required-by-target")
        self._put_role(w)
        if plain is None:
            w.value["content"] = content.value
        else:
            w.put("content", plain)

    def _made_id(self, prefix: str) -> str:
        count = self.counts.get(prefix, 0)
        self.counts[prefix] = count + 1
        return f"{prefix}_{count}"

    def result(self, result: Node) -> None:
        """What a tool gave back."""
        custom = result.value("call_id") in self.custom
        w = self.items.item()
        flag = result.get("is_error")
        prefix = self.context.choice("tool-error-prefix") if flag is not None and flag.value is True else ""
        if flag is not None:
            self.items.ledger.drop(flag, "no-equivalent" if flag.value else "target-default", bool(flag.value))
        (CUSTOM_OUTPUT if custom else FUNCTION_OUTPUT).write(result.but("parts", "is_error", "item"), w, self.context)
        self.items.ledger.drop(result.get("item"), "no-equivalent")
        if "call_id" not in w.value:
            w.make("call_id", self._made_id("call"), "made-id")
        plain = result.plain()
        if plain is not None:
            w.put("output", plain.to(prefix + plain.value, "respelled") if prefix else plain)
        else:
            self._output(w, flat(result.parts()))
        w.order(FUNCTION_OUTPUT.names)

    def _output(self, w: Writer, parts: list[Node]) -> None:
        content = Writer(w.ledger, [])
        for part in parts:
            write_input_part(part, content, self.context)
        if content.value:
            w.value["output"] = content.value
        else:
            w.make("output", "", "required-by-target")


def _plain(parts: list[Node]) -> Any:
    return Node("turn", "", None, {"parts": parts}).plain()
