"""`proxai stream`: a filter for event streams; each event goes out as soon as it can."""

from .convert import asked, needed
from .documents import Document, no_stream, told_by
from .options import CAPTURE, INTERLEAVE, OUTPUT, REPAIR, SOURCE, TO, Call, Command, telling
from .outputs import Output
from .run import Run
from .translating import how, pipe, piped, through


def run(call: Call) -> int:
    """Translate one stream as it arrives."""
    given, target = asked(call), needed(call)
    run, told = Run(call), told_by(call)
    way = how(call, told.context)._replace(target=target)

    with Output(call.output, given) as output:

        def work(document: Document) -> None:
            if document.part.pieces is None:
                raise no_stream(document)
            way_through = pipe(document, way)
            output.write(document.part.input, through(document, way_through))
            run.add(piped(document, way_through, way), document.part.input)

        run.each(given, told.recognised, work)
    return run.finish()


COMMAND = Command(
    "stream",
    "A filter for event streams: each event goes out as soon as it can.",
    ('curl -sN "$URL" -d @req.json | proxai stream --to responses', "proxai stream capture.sse --to chat > chat.sse"),
    CAPTURE,
    (TO, *SOURCE, OUTPUT, REPAIR, INTERLEAVE, *telling("never")),
    run,
)
