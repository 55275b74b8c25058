"""`proxai explode`: the body of a reply as a stream."""

from collections.abc import Iterable

from ..errors import ProxaiError
from .documents import Document, no_reply, told_by
from .inputs import inputs_of
from .options import CAPTURE, OUTPUT, SOURCE, TO, Call, Command, Option, telling
from .outputs import Output
from .run import Run
from .translating import exploded, how


def run(call: Call) -> int:
    """Read one reply and write its events."""
    if call.pieces not in ("whole", "words") and not (call.pieces.isdigit() and int(call.pieces)):
        raise ProxaiError("bad-call", "--pieces takes whole, words, or a number of characters", hint="--pieces words")
    if call.pace is not None and not call.pace.isdigit():
        raise ProxaiError("bad-call", "--pace takes milliseconds", hint="--pace 20")
    given = inputs_of(call)
    run, told = Run(call), told_by(call)
    way = how(call, told.context)

    with Output(call.output, given, ".sse") as output:

        def work(document: Document) -> None:
            if document.part.pieces is not None or not document.is_reply_or_request:
                raise no_reply(document)
            outcome = exploded(document, way)
            output.write(document.part.input, _paced(outcome.value, call.pace))
            run.add(outcome, document.part.input)

        run.each(given, told.recognised, work)
    return run.finish()


def _paced(stream: bytes, milliseconds: str | None) -> Iterable[bytes]:
    """The events of a stream that we wrote, with that time between them."""
    if milliseconds is None:
        return [stream]
    from .timing import Timing

    frames = [frame + b"\n\n" for frame in stream.split(b"\n\n") if frame]
    return Timing(False, milliseconds, False).timed(frames)


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
        Option("pace", "milliseconds between events", "", "MS"),
        *telling("never"),
    ),
    run,
)
