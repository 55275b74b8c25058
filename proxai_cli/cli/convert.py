"""`proxai convert`: any capture in, the same kind out in another protocol."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..bulk import spread
from ..errors import ProxaiError
from ..protocols import PROTOCOLS
from .documents import Document, Told, told_by
from .inputs import inputs_of
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
    target_of,
    telling,
)
from .outputs import Output
from .parts import holds_streams_and_more
from .printing import placed, printed
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
    given = inputs_of(call)
    target_of(call)
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
    target = target_of(call)

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
