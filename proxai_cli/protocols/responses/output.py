"""The parts of a reply as output items. Source: `spec/responses.md` §1 to §7."""

from ...context import Context
from ...ir.asked import unwrapped
from ...ir.nodes import Node
from ...ledger import Leaf, Writer
from .asked import Asked
from .citations import write_citations
from .client_calls import client_call, write_client_call
from .hosted import Kind, Results, kind, write_hosted
from .ids import CALL_PREFIX, Ids, write_call_id
from .items import lost
from .parts import LOST, flat, write_call, write_input_part
from .tables import (
    FUNCTION_CALL,
    FUNCTION_OUTPUT,
    OUTPUT_TEXT,
    REFUSAL,
)
from .values import parsed


def is_summary(thinking: Node) -> bool:
    """Chat does not tell a summary from full reasoning; the weaker claim is made for it (`spec/responses.md` §3)."""
    return thinking.protocol == "chat"


def is_item_of_its_own(text: Node) -> bool:
    """A block of Messages is an item by itself; of what Chat says a refusal may follow in the item of a text."""
    return text.protocol == "messages"


class Output:
    """Writes the parts of a reply, one after the other, as items of a list."""

    def __init__(self, items: Writer, response: str, context: Context, container: Leaf | None = None) -> None:
        self.container = container  # the id of the one in which code ran
        self.items, self.context, self.ids, self.asked = items, context, Ids(response), Asked(context)
        self.message: Writer | None = None  # the content of the last item, if that is a message

    def parts(self, parts: list[Node]) -> None:
        spoken = any(part.kind == "text" and part.value("text") for part in parts)
        for part in Results(parts).paired(parts):
            self._part(part, spoken)

    def _part(self, part: Node, spoken: bool) -> None:
        if part.kind == "text" and ("text" in part.says or part.protocol != "chat"):
            self._text(part)
        elif part.kind == "refusal" and "text" in part.says:
            self.refusal(part)
        elif part.kind in ("thinking", "redacted"):
            self._reasoning(part)
        elif part.kind in CALL_PREFIX:
            self._call(part)
        elif part.kind == "tool_result":
            self._result(part)
        elif (hosted := kind(part)) is not None:
            self._hosted(part, hosted)
        elif part.kind == "audio" and not spoken and isinstance(part.value("transcript"), str):
            said = Node("text", part.protocol, None, {"text": part.says["transcript"]})
            said.says["text"] = said.says["text"].to(said.value("text"), "transcript-as-text")
            self._text(said)
            lost(part.but("transcript"), self.items.ledger, why="unsupported-media")
        else:
            lost(part, self.items.ledger, why=LOST.get(part.kind))

    def _item(self, kind: str, identifier: str) -> Writer:
        item = self.items.item()
        item.make("id", identifier, "made-id")
        item.make("type", kind, "required-by-target")
        self.message = None
        return item

    def _message(self) -> Writer:
        item = self._item("message", self.ids.make("msg"))
        item.make("status", "completed", "required-by-target")
        item.make("role", "assistant", "required-by-target")
        self.message = item.list("content")
        return self.message

    def _text(self, part: Node) -> None:
        """Each text is an item of its own (D12); only for Chat no text and an empty one are the same."""
        if part.value("text") == "" and part.protocol == "chat":
            lost(part, self.items.ledger, why="target-default")
            return
        w = self._message().item()
        write_citations(part.says.get("citations", []), part.value("text", ""), w, self.context)
        OUTPUT_TEXT.write(part.but("citations"), w, self.context)
        if "text" not in w.value:
            w.make("text", "", "required-by-target")
        if is_item_of_its_own(part):
            self.message = None

    def refusal(self, part: Node) -> None:
        """A refusal right after a text is the next part of the same item."""
        REFUSAL.write(part, (self.message or self._message()).item(), self.context)
        self.message = None

    def _reasoning(self, part: Node) -> None:
        item = self._item("reasoning", self.ids.make("rs"))
        write_reasoning(part, item, self.context)
        item.order(("id", "type", "summary", "content", "encrypted_content", "status"))

    def _call(self, call: Node) -> None:
        item = self.items.item()
        self.message = None
        action = client_call(call, self.asked)
        if action is not None:
            write_client_call(action, item, self.ids, self.context)
            return
        said = asked_for(call, self.asked)
        write_call_id(said, item, self.ids, self.context)
        write_call(said, item, self.context)
        item.make("status", "completed", "required-by-target")
        item.order(FUNCTION_CALL.names)

    def _hosted(self, part: Node, hosted: Kind) -> None:
        self.message = None
        if self.container is not None and part.value("service") == "code_execution":
            part = part.but()
            part.says["container_id"] = self.container
        write_hosted(part, hosted, self.items, self.context, self.ids.make)

    def _result(self, result: Node) -> None:
        write_result(result, self._item("function_call_output", self.ids.make("fco")), self.context)


def write_result(result: Node, item: Writer, context: Context) -> None:
    """What a tool gave back inside a reply."""
    FUNCTION_OUTPUT.write(result.but("parts", "item", "is_error"), item, context)
    for term in ("item", "is_error"):
        item.ledger.drop(result.get(term), "no-equivalent")
    plain = result.plain()
    content = Writer(item.ledger, [])
    if plain is None:
        for part in flat(result.parts()):
            write_input_part(part, content, context)
    if plain is not None:
        item.put("output", plain)
    elif content.value:
        item.value["output"] = content.value
    else:
        item.make("output", "", "required-by-target")
    item.make("status", "completed", "required-by-target")


def asked_for(call: Node, asked: Asked) -> Node:
    """The call by the name that the request gave to its tool, and as a call of a free-text tool if it was one."""
    said = call.but()
    if "name" in said.says:
        said.says["name"] = asked.named(said.says["name"])
    if asked.is_free(call) and "arguments" in said.says:
        text_of_tool = unwrapped(said.says["arguments"], parsed(said.value("arguments")))
        if text_of_tool is not None:
            said.kind = "custom_call"
            said.says["input"] = text_of_tool
            del said.says["arguments"]
    return said


def write_reasoning(part: Node, item: Writer, context: Context) -> None:
    """A thinking part as a reasoning item: full text as content, or what may be a summary as summary.

    A redacted one has no content; an empty content says that the text was withheld (`spec/responses.md` §3).
    """
    text, redacted = part.get("text"), part.kind == "redacted"
    where = None if redacted else "summary" if is_summary(part) else "content"
    spoken = text is not None and (where == "content" or (where == "summary" and text.value != ""))
    if not (spoken and where == "summary"):
        item.make("summary", [], "required-by-target")
    if where and text is not None and spoken:
        entry = item.list(where).item()
        entry.make("type", "summary_text" if where == "summary" else "reasoning_text", "required-by-target")
        entry.put("text", text)
    else:
        item.ledger.drop(text, "target-default")
    payload = "data" if redacted else "signature"
    if payload in part.says:
        item.put("encrypted_content", part.says[payload])
    if not redacted:
        item.make("status", "completed", "required-by-target")
    lost(part, item.ledger, ("text", payload))
