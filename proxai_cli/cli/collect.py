"""`proxai collect`: a stream as the body of its reply."""

from .documents import Document, no_stream, told_by
from .inputs import inputs_of
from .options import CAPTURE, INDENT, OUTPUT, SOURCE, TO, Call, Command, Option, telling
from .outputs import Output
from .printing import placed, printed
from .run import Run
from .translating import collected, how


def run(call: Call) -> int:
    """Read one stream to its end and write the body."""
    given = inputs_of(call)
    run, told = Run(call), told_by(call)
    way = how(call, told.context)

    with Output(call.output, given, ".json") as output:

        def work(document: Document) -> None:
            if document.part.pieces is None:
                raise no_stream(document)
            outcomes = list(collected(document, way))
            for outcome in outcomes:
                output.write(placed(document), printed(outcome.value, call, output, document, len(outcomes) > 1))
                run.add(outcome, document.part.input)

        run.each(given, told.recognised, work)
    return run.finish()


COMMAND = Command(
    "collect",
    "A stream as the body of its reply.",
    ("proxai collect capture.sse > reply.json", "proxai collect capture.sse --to chat -o reply.json"),
    CAPTURE,
    (
        TO,
        *SOURCE,
        OUTPUT,
        INDENT,
        Option("partial", "write what there is of a cut stream; exit 3 all the same"),
        *telling("never"),
    ),
    run,
)
