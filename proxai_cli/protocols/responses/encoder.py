"""IR events in, Responses events out. Source: `spec/streams.md` §3, §3.1, §4, §7 and §9."""

from copy import deepcopy
from typing import Any

from ...context import Context
from ...ir.events import Close, Delta, Done, Event, Fail, Finish, Open, Say, Start, add
from ...ir.nodes import Node
from ...ledger import Leaf, Ledger, Writer
from .asked import Asked
from .blocks import (
    AnswerBlock,
    CallBlock,
    ClientCallBlock,
    HostedBlock,
    Message,
    OtherBlock,
    RedactedBlock,
    TextBlock,
    ThoughtBlock,
)
from .collected import IN_MESSAGE
from .error import write_error_event, write_failure
from .hosted import Kind, container_id, kind
from .ids import Ids
from .items import lost
from .parts import LOST
from .response import ENDING, begin, end, neutral, write_terms
from .tables import NAME, REPLY
from .target_items import Block, Item, LostBlock, ResultBlock, WholeBlock, whole_item

TERMINAL = {"completed": "response.completed"}


class Encoder:
    """IR events in, Responses events out: whole lifecycles, numbered from 0.

    State: the response as it was said at the beginning, all items (the last event repeats them), the open parts, and
    the finish until the end. A message ends when the next part begins, where a refusal may still belong to it; a hosted
    call ends with its result, which may stand anywhere behind it.
    """

    def __init__(self, ledger: Ledger, context: Context) -> None:
        self.ledger, self.context, self.asked = ledger, context, Asked(context)
        self.out: list[dict[str, Any]] = []
        self.sequence = 0
        self.response: dict[str, Any] = {}
        self.ids = Ids("unknown")
        self.container: Leaf | None = None
        self.items: list[Item] = []
        self.open: dict[int, Block] = {}
        self.calls: dict[Any, HostedBlock] = {}
        self.message: Message | None = None
        self.ending: Node | None = None

    def feed(self, event: Event) -> list[Any]:
        """What one IR event becomes."""
        self.out = []
        match event:
            case Start(node):
                self._start(node)
            case Open(number, node):
                self.open[number] = self._open(node)
            case Delta(number, leaf, said):
                self.open[number].delta(leaf, said)
            case Say(None, node) | Finish(node):
                self._keep(node)
            case Say(int(number), node) if number in self.open:
                self.open[number].say(node)
            case Say(_, node):
                lost(node, self.ledger, why="late-piece")
            case Close(number):
                self._close(self.open.pop(number))
            case Done():
                self._done()
            case Fail(node):
                self._fail(node)
        return self.out

    def close(self) -> list[Any]:
        """The source was cut: what waits is written, nothing is invented."""
        self.out = []
        self._end_message()
        self._end_calls()
        self._let_go()
        return self.out

    # What blocks use

    def event(self, kind: str) -> Writer:
        """A new event with its number."""
        w = Writer(self.ledger, {})
        w.make("type", kind, "stream-shape")
        w.make("sequence_number", self.sequence, "position")
        self.sequence += 1
        self.out.append(w.value)
        return w

    def new_item(self, item: Item) -> int:
        """The place of the next item."""
        self.items.append(item)
        return len(self.items) - 1

    # The reply

    def _start(self, reply: Node) -> None:
        said = reply.but()
        said.home = None
        self.container = container_id(said.says.pop("container", None), self.ledger)
        self.ledger.keep(self.container)
        w = self.event("response.created").object("response")
        begin(said, w, self.context)
        w.make("status", "in_progress", "stream-shape")
        w.make("output", [], "stream-shape")
        w.make("usage", None, "stream-shape")
        self.ledger.drop([said.says[term] for term in ENDING if term in said.says], "not-terminal")
        if reply.protocol != NAME:
            neutral(w, self.context)
        w.order(REPLY.names)
        self.response = deepcopy(w.value)
        self.ids = Ids(w.value["id"])
        self.event("response.in_progress").make("response", deepcopy(self.response), "stream-shape")

    def _open(self, node: Node) -> Block:
        """The block of a new part; a message ends where anything but its refusal begins."""
        whole = whole_item(node)
        if whole is not None or node.kind not in IN_MESSAGE:
            self._end_message()
        if whole is not None:
            return WholeBlock(self, whole)
        if node.kind in IN_MESSAGE:
            return self._text(node)
        if node.kind == "thinking":
            return ThoughtBlock(self, node)
        if node.kind == "redacted":
            return RedactedBlock(self, node)
        if self.asked.client_call(node) is not None and node.protocol != NAME:
            return ClientCallBlock(self, node)
        if node.kind in ("tool_call", "custom_call"):
            return CallBlock(self, node)
        if node.kind == "tool_result":
            return ResultBlock(self, node)
        call = self.calls.get(node.value("call_id")) if node.kind == "hosted_result" else None
        if call is not None and not call.told:
            return AnswerBlock(self, node, call)
        hosted = kind(node)
        return LostBlock(self, node, LOST.get(node.kind)) if hosted is None else self._hosted(node, hosted)

    def _hosted(self, node: Node, hosted: Kind) -> HostedBlock:
        """A hosted call; if it has an id, its result may come."""
        block = HostedBlock(self, node, hosted)
        if block.awaited:
            block.awaited = self.calls.setdefault(node.value("id"), block) is block
        return block

    def _text(self, node: Node) -> TextBlock | OtherBlock:
        """A text begins a message, a refusal goes on with it; at home the item says so."""
        own = node.protocol == NAME
        goes_on = "item" not in node.says if own else node.kind == "refusal"
        if self.message is None or not goes_on:
            self._end_message()
            self.message = Message(self, node)
        return (OtherBlock if node.kind == "other_part" else TextBlock)(self, self.message, node)

    def _close(self, block: Block) -> None:
        """A part is whole; so is its message, if nothing else can be in it."""
        block.close()
        if isinstance(block, TextBlock) and block.alone and block.message is self.message:
            self._end_message()

    def _end_message(self) -> None:
        """Nothing more comes for the last message."""
        message, self.message = self.message, None
        if message is not None:
            message.end()

    def _end_calls(self) -> None:
        """No result comes any more for the hosted calls that have none."""
        calls, self.calls = self.calls, {}
        for call in calls.values():
            call.answered()

    def _keep(self, late: Node) -> None:
        """What the reply says at its end; a later word takes the place of an earlier one, counts one by one."""
        if self.ending is None:
            self.ending = Node("finish", late.protocol)
        add(self.ending, late)
        self.ending.protocol = late.protocol
        self.ledger.keep(self.ending)

    def _done(self) -> None:
        """The terminal event repeats all that the response has become."""
        ending, self.ending = self.ending or Node("finish", NAME), None
        self._explain(ending)
        self._end_message()
        for number in sorted(self.open):
            self.open.pop(number).close()
        self._end_calls()
        response = Writer(self.ledger, {})
        end(ending, response, self.context)
        write_terms(ending, response, self.context, ENDING)
        if not self.items and ending.protocol != NAME:
            self.context.find("empty-reply")
        self._output(ending, response)
        self._repeat(response)
        last = self.event(TERMINAL.get(response.value["status"], "response.incomplete"))
        last.value["response"] = response.value

    def _output(self, ending: Node, response: Writer) -> None:
        """All items once more; a container that is only known now is said here, of the code that ran in it."""
        late, known = container_id(ending.get("container"), self.ledger), self.container
        repeats = late is not None and known is not None and late.value == known.value
        self.ledger.drop(known, "foreign-id")  # unless code ran in it
        self.ledger.drop(late, "duplicate" if repeats else "foreign-id")
        output = [deepcopy(item.value) for item in self.items]
        if late is None or all(item.get("container_id") != "" for item in output):
            response.make("output", output, "sum-of-pieces" if output else "stream-shape")
            return
        items = response.list("output")
        for item in output:
            w = items.item()
            for key, value in item.items():
                if key == "container_id" and not value:
                    w.put(key, late)
                else:
                    w.make(key, value, "sum-of-pieces")

    def _repeat(self, response: Writer) -> None:
        """What the response said at its beginning, and says still."""
        for key, value in self.response.items():
            if key not in response.value:
                response.make(key, deepcopy(value), "stream-shape")
        response.order(REPLY.names)

    def _explain(self, ending: Node) -> None:
        """Of a reply that the vendor cut off, the explanation is a refusal, unless the last text says it (§7)."""
        explanation = ending.says.pop("explanation", None)
        if explanation is None:
            return
        if ending.value("stop_reason") != "content_filter":
            self.ledger.drop(explanation, "no-equivalent")
        elif explanation.value == self._last_text():
            self.ledger.drop(explanation, "duplicate")
        else:
            block = self._text(Node("refusal", ending.protocol))
            block.delta(explanation, None)
            block.close()

    def _last_text(self) -> Any:
        texts = [part.get("text") for item in self.items for part in item.value.get("content", [])]
        return texts[-1] if texts else None

    def _fail(self, error: Node) -> None:
        """An error ends the stream: open parts are not closed, and no end is invented (`spec/streams.md` §9)."""
        self._end_message()
        self._let_go()
        if not self.context.chosen("stream-errors", True):
            lost(error, self.ledger, why="no-equivalent")
            return
        reply = error.get("failed")
        if error.protocol == NAME and reply is not None:
            self._failed(reply.home)
            return
        if not self.response:
            write_error_event(error, self.event("error"), self.context)
            return
        response = self.event("response.failed").object("response")
        response.make("status", "failed", "stream-shape")
        write_failure(error, response, self.context)
        output = [deepcopy(item.value) for item in self.items if item.finished]
        response.make("output", output, "sum-of-pieces" if output else "stream-shape")
        self._repeat(response)

    def _failed(self, home: dict[str, Any]) -> None:
        """At home: the beginning of a response that failed, and its end."""
        begun = {**home, "status": "in_progress", "error": None, "output": [], "usage": None}
        self.event("response.created").make("response", deepcopy(begun), "stream-shape")
        response = self.event("response.failed").object("response")
        for key in home:
            response.put(key, Leaf(home, key))

    def _let_go(self) -> None:
        for block in [*self.open.values(), *self.calls.values()]:
            block.cut()
        self.open, self.calls = {}, {}
        self.ledger.drop([said for said in (self.ending, self.container) if said is not None], "not-terminal")
        self.ending = self.container = None
