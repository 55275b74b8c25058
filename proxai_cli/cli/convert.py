"""`proxai convert`: any capture in, the same kind out in another protocol."""

import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from .. import text
from ..bulk import spread
from ..errors import ProxaiError
from ..protocols import PROTOCOLS
from . import screen
from .documents import Document, Told, told_by
from .inputs import Input, inputs
from .options import (
    BACK,
    CAPTURES,
    ENVELOPE,
    INDENT,
    INTERLEAVE,
    OUTPUT,
    REPAIR,
    SIDE,
    SOURCE,
    SPREADING,
    TO,
    WHOLE,
    Call,
    Command,
    telling,
)
from .outputs import STDOUT, Output
from .parts import CALLS, holds_streams_and_more
from .run import Run
from .translating import bodies, how, pipe, piped, through

if TYPE_CHECKING:
    from .spreading import Notes, Written
    from .way_back import Kept


def run(call: Call) -> int:
    """Translate every capture and write it."""
    if call.back:
        from .way_back import come_back

        return come_back(call)
    given = asked(call)
    needed(call)
    run, told = Run(call), told_by(call)
    if call.side:
        given = [each._replace(read=[]) for each in given]

    with Output(call.output, given) as output:
        if not output.folder and holds_streams_and_more(given, run.reading):
            raise _several()
        kept = None
        if call.side:
            from .way_back import Kept

            kept = Kept(call, given, output)
        how_many = spread(call.jobs, call.engine)
        if kept or how_many.is_alone:
            run.each(given, told.recognised, work_of(call, told, run, output, kept))
        else:
            from .spreading import spread_over

            spread_over(run, given, output, how_many)
    if kept and kept.data:
        try:
            run.note(kept.write())
        except ProxaiError as error:
            run.tell(error)
    return run.finish()


def work_of(
    call: Call, told: Told, run: "Run | Notes", output: "Output | Written", kept: "Kept | None" = None
) -> Callable[[Document], None]:
    """What is done to a document: it is translated, written, and told."""
    way, keeps = how(call, told.context), call.envelope != "bare"
    target = needed(call)

    def work(document: Document) -> None:
        part = document.part
        if part.pieces is None:
            outcomes = list(bodies(document, way))
            if kept:
                kept.check(document, len(outcomes))
            if part.envelope and keeps:
                enveloped(document, outcomes[0].value)
            for outcome in outcomes:
                if not part.envelope or not keeps:
                    several = len(outcomes) > 1
                    output.write(placed(document), printed(outcome.value, call, output, document, several))
                run.add(outcome, part.input)
            if kept:
                kept.take_body(document, outcomes[0].value, way)
        else:
            if kept:
                kept.check(document, 1)
            way_through = pipe(document, way)
            written = through(document, way_through)
            if part.envelope and keeps:
                enveloped(document, b"".join(written))
            else:
                if (output.several or (part.record is not None and not call.pick)) and not output.folder:
                    raise _several()
                output.write(placed(document), kept.watched(written) if kept else written)
            if kept:
                kept.take_stream(document, way)
            run.add(piped(document, way_through, way), part.input)

    def enveloped(document: Document, value: object) -> None:
        """Put a body into its record, and write that when it is whole."""
        part, named = document.part, PROTOCOLS[target].named
        if part.envelope and part.envelope.put(part.slot, value, named):
            output.write(part.input, printed(part.envelope.record, call, output, document))

    return work


def _several() -> ProxaiError:
    return ProxaiError("bad-call", "several streams do not go to one place", hint="-o DIR/, or --pick one of them")


def placed(document: Document) -> Input:
    """The input under the name that a document of it has below `-o DIR/`: documents of calls have one each."""
    part = document.part
    if part.record is None or (part.container not in CALLS and part.pieces is None):
        return part.input
    stem = os.path.splitext(part.input.name)[0]
    return part.input._replace(name=f"{stem}.{part.record}.{'json' if part.pieces is None else 'sse'}")


def asked(call: Call) -> list[Input]:
    """The inputs of a call. Raises `bad-call` rather than waiting for somebody to type a capture."""
    if not call.words and screen.is_terminal(sys.stdin):
        raise ProxaiError(
            "bad-call", "no capture is named, and stdin is a terminal", hint=f"proxai {call.command} --help"
        )
    return inputs(call.words)


def needed(call: Call) -> str:
    """The target protocol. Raises `bad-call` where none is named."""
    if call.to is None:
        raise ProxaiError(
            "bad-call", f"{call.command} needs the target protocol", hint="--to chat, responses or messages"
        )
    target: str = call.to
    return target


def printed(
    value: object, call: Call, output: "Output | Written", document: Document, several: bool = False
) -> Iterator[bytes]:
    """A body as JSON text: in lines where there are several, else as `--indent` or the place asks for."""
    place = output.place(placed(document))
    one = placed(document) != document.part.input and output.folder
    several = several or (document.part.record is not None and not one) or (place == STDOUT and output.several)
    indent = 2 if place.endswith(".json") or (place == STDOUT and screen.is_terminal(sys.stdout)) else None
    if call.indent is not None:
        if not (call.indent.isascii() and call.indent.isdigit() and len(call.indent) < 3):
            raise ProxaiError("bad-call", "--indent takes a number up to 99", hint="--indent 2")
        indent = int(call.indent) or None
    yield text.dumps(value, None if several else indent) + b"\n"


COMMAND = Command(
    "convert",
    "Any capture in, the same kind out in another protocol.",
    (
        "proxai convert req.json --to messages --side s.json > out.json",
        "proxai convert out.json --to chat --back s.json > req.again.json",
        "proxai convert captures/ --to chat -o out/",
    ),
    CAPTURES,
    (TO, *SOURCE, OUTPUT, *SPREADING, ENVELOPE, INDENT, SIDE, BACK, REPAIR, INTERLEAVE, *telling("never")),
    run,
    WHOLE,
)
