"""A reply as it arrives: the events between a decoder and an encoder, and the ways from events to a reply and back."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from .nodes import Node


class _Done:
    """The marker that ends a chat stream on the wire (`data: [DONE]`)."""

    def __repr__(self) -> str:
        return "DONE"

    def __reduce__(self) -> str:
        return "DONE"  # a copy, or one from another process, is the marker itself


DONE = _Done()


class Start(NamedTuple):
    """A reply begins: id, model, created, usage so far."""

    node: Node


class Open(NamedTuple):
    """Part `number` begins: its kind, and what is known at once (a tool call's name)."""

    number: int
    node: Node


class Delta(NamedTuple):
    """More text (or arguments, or thinking) of that part; `said` holds what came with just this piece (logprobs)."""

    number: int
    leaf: Any
    said: Node | None = None


class Say(NamedTuple):
    """Late terms of an open part (signature, citations), or of the reply where `number` is None."""

    number: int | None
    node: Node


class Close(NamedTuple):
    """That part is whole."""

    number: int


class Finish(NamedTuple):
    """Stop reason, usage."""

    node: Node


class Done(NamedTuple):
    """The protocol's own last word: `[DONE]`, `message_stop`, the end of the terminal event."""


class Fail(NamedTuple):
    """An error in the stream; nothing follows."""

    node: Node


Event = Start | Open | Delta | Say | Close | Finish | Done | Fail

# The term that the pieces of a part add up to.
PIECES = {
    "text": "text",
    "refusal": "text",
    "thinking": "text",
    "tool_call": "arguments",
    "custom_call": "input",
    "hosted_call": "arguments",
}
# What a reply says only at its end.
FINISHING = ("stop_reason", "stop_sequence", "explanation", "category", "usage")
# What a part says only at its end.
LATE = ("signature", "citations")


class Progress:
    """How far a stream has come. State: its open parts; has it started, finished, said its last word (or an error)?"""

    def __init__(self) -> None:
        self.open: list[int] = []
        self.started = self.finished = self.complete = False

    def note(self, said: list[Event]) -> None:
        """Events that were said."""
        for event in said:
            if isinstance(event, (Done, Fail)):
                self.complete = True
            elif isinstance(event, Start):
                self.started = True
            elif isinstance(event, Finish):
                self.finished = True
            elif isinstance(event, Open):
                self.open.append(event.number)
            elif isinstance(event, Close) and event.number in self.open:
                self.open.remove(event.number)

    def ending(self) -> list[Event]:
        """What ends a stream properly that was cut (`spec/streams.md` §9); nothing, where none began."""
        if self.complete or not self.started:
            return []
        finish = Node("finish", "repair")
        return [*map(Close, self.open), *([] if self.finished else [Finish(finish)]), Done()]


class Collector:
    """IR events in, one reply out: a body is a stream that arrived all at once.

    State: the reply so far, its parts by number, the pieces of each.
    """

    def __init__(self) -> None:
        self.reply: Node | None = None
        self.failure: Node | None = None
        self.parts: dict[int, Node] = {}
        self.pieces: dict[int, list[Delta]] = {}

    def feed(self, event: Event) -> None:
        match event:
            case Start(node):
                self.reply = node
            case Open(number, node):
                self.parts[number], self.pieces[number] = node, []
            case Delta(number, _, _):
                self.pieces[number].append(event)
            case Say(number, node):
                add(self.reply if number is None else self.parts[number], node)
            case Finish(node):
                add(self.reply, node)
            case Fail(node):
                self.failure = node

    def close(self) -> Node | None:
        """The reply, or None where none began."""
        if self.reply is None:
            return None
        for number, part in self.parts.items():
            pieces, term = self.pieces[number], PIECES.get(part.kind)
            if pieces and term:
                leaves = [piece.leaf for piece in pieces]
                part.says[term] = leaves[0].to(joined([leaf.value for leaf in leaves]), "pieces-joined", leaves[1:])
            for piece in pieces:
                add(part, piece.said)
        self.reply.says["parts"] = [self.parts[number] for number in sorted(self.parts)]
        return self.reply


def add(node: Node | None, more: Node | None) -> None:
    """Let a node say what another says, too; lists grow, nodes say both, a later leaf wins over the earlier."""
    if node is None or more is None:
        return
    for term, said in more.says.items():
        before = node.says.get(term)
        if isinstance(before, list) and isinstance(said, list):
            node.says[term] = [*before, *said]
        elif isinstance(before, Node) and isinstance(said, Node):
            add(before, said)  # counts of usage that come in two parts
        else:
            if before is not None:
                node.asides.append((before, "duplicate"))
            node.says[term] = said
    node.asides += [(node.extras[key], "duplicate") for key in more.extras if key in node.extras]
    node.extras.update(more.extras)
    node.asides += more.asides


def explode(reply: Node, pieces: str = "words") -> Iterator[Event]:
    """A reply as the events of a stream. `pieces` is `whole`, `words`, or a number of characters."""
    yield Start(reply.but("parts", *FINISHING))
    for number, part in enumerate(reply.parts()):
        term = PIECES.get(part.kind)
        leaf: Any = part.get(term) if term else None
        cut = term if leaf is not None and isinstance(leaf.value, str) else None
        late = Node(part.kind, part.protocol, None, {key: part.says[key] for key in LATE if key in part.says})
        opening = part.but(*LATE, *([cut] if cut else []))
        opening.home = None
        yield Open(number, opening)
        if cut:
            for piece in cut_up(leaf.value, pieces):
                yield Delta(number, leaf.to(piece, "pieces-joined"))
        if late.says:
            yield Say(number, late)
        yield Close(number)
    finish = Node("finish", reply.protocol, None, {key: reply.says[key] for key in FINISHING if key in reply.says})
    yield Finish(finish)
    yield Done()


def joined(pieces: list[str]) -> str:
    """Pieces as one text; halves of a character that was cut between two pieces are whole again."""
    text = "".join(pieces)
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return text


def cut_up(text: str, pieces: str) -> list[str]:
    """A text in pieces that join to it again; an empty text is one empty piece."""
    if pieces == "whole" or not text:
        return [text]
    if pieces == "words":
        return re.findall(r"\s*\S+\s*$|\s*\S+|\s+", text)
    step = int(pieces)
    return [text[at : at + step] for at in range(0, len(text), step)]
