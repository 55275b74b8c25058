"""`proxai stream`: a filter for event streams; each event goes out as soon as it can."""

from typing import TYPE_CHECKING

from .documents import Document, no_stream, told_by
from .inputs import inputs_of
from .options import CAPTURE, INTERLEAVE, OUTPUT, REPAIR, SOURCE, TO, Call, Command, Option, target_of, telling
from .outputs import Output
from .run import Run
from .translating import how, pipe, piped, through

if TYPE_CHECKING:
    from .timing import Timing


def run(call: Call) -> int:
    """Translate one stream as it arrives."""
    given = inputs_of(call)
    target_of(call)
    run, told = Run(call), told_by(call)
    way = how(call, told.context)
    timing = _timing(call)

    with Output(call.output, given) as output:

        def work(document: Document) -> None:
            if document.part.pieces is None:
                raise no_stream(document)
            way_through = pipe(document, way, timing.comment if timing else None)
            written = through(document, way_through, timing is not None)
            output.write(document.part.input, timing.timed(written) if timing else written)
            run.add(piped(document, way_through, way), document.part.input)

        run.each(given, told.recognised, work)
    return run.finish()


def _timing(call: Call) -> "Timing | None":
    """When events go out, where anything is asked about that; else each goes out as it comes."""
    if not call.stamp and not call.keep_comments and call.pace == "none":
        return None
    from .timing import Timing

    return Timing(call.stamp, call.pace, call.keep_comments)


COMMAND = Command(
    "stream",
    "A filter for event streams: each event goes out as soon as it can.",
    ('curl -sN "$URL" -d @req.json | proxai stream --to responses', "proxai stream capture.sse --to chat > chat.sse"),
    CAPTURE,
    (
        TO,
        *SOURCE,
        OUTPUT,
        REPAIR,
        INTERLEAVE,
        Option("stamp", "write the time at which each event came as a comment line"),
        Option(
            "pace",
            "wait between events: recorded (by the times in the capture) or milliseconds",
            "",
            "HOW",
            default="none",
        ),
        Option("keep-comments", "pass comment lines (keep-alives) through"),
        *telling("never"),
    ),
    run,
)
