"""`proxai explode`: the body of a reply as a stream."""

from ..errors import ProxaiError
from .convert import asked
from .documents import Document, no_reply, told_by
from .options import CAPTURE, OUTPUT, SOURCE, TO, Call, Command, Option, telling
from .outputs import Output
from .run import Run
from .translating import exploded, how


def run(call: Call) -> int:
    """Read one reply and write its events."""
    if call.pieces not in ("whole", "words") and not (call.pieces.isdigit() and int(call.pieces)):
        raise ProxaiError("bad-call", "--pieces takes whole, words, or a number of characters", hint="--pieces words")
    given = asked(call)
    run, told = Run(call), told_by(call)
    way = how(call, told.context)

    with Output(call.output, given, ".sse") as output:

        def work(document: Document) -> None:
            if document.part.pieces is not None or not document.is_reply_or_request:
                raise no_reply(document)
            outcome = exploded(document, way)
            output.write(document.part.input, [outcome.value])
            run.add(outcome, document.part.input)

        run.each(given, told.recognised, work)
    return run.finish()


COMMAND = Command(
    "explode",
    "The body of a reply as a stream.",
    ("proxai explode reply.json > reply.sse", "proxai explode reply.json --to responses --pieces 5"),
    CAPTURE,
    (
        TO,
        *SOURCE,
        OUTPUT,
        Option("pieces", "how texts are cut: whole, words, or a number of characters", "", "N", default="words"),
        *telling("never"),
    ),
    run,
)
