"""`proxai diff`: what a translation would lose. Nothing is written but the report."""

from .convert import asked, needed
from .documents import Document, told_by
from .options import (
    BASELINE,
    BY,
    CAPTURES,
    COMPARING,
    INTERLEAVE,
    MERGE,
    PAGER,
    REPAIR,
    SOURCE,
    TO,
    WHOLE,
    Call,
    Command,
    telling,
)
from .run import Run
from .translating import body, how, pipe, piped, through


def run(call: Call) -> int:
    """Translate every capture, and tell what became of it; without a target, compare two captures."""
    if call.merge:
        from .merging import merge

        return merge(call)
    if call.to is None:
        from .comparing import compare_captures

        return compare_captures(call)
    given, target = asked(call), needed(call)
    run, told = Run(call, to_stdout=True), told_by(call)
    way = how(call, told.context)._replace(target=target, places=True)

    def work(document: Document) -> None:
        if document.part.pieces is None:
            outcome = body(document, way)
        else:
            way_through = pipe(document, way)
            for _ in through(document, way_through):
                pass
            outcome = piped(document, way_through, way)
        run.add(outcome, document.part.input)

    run.each(given, told.recognised, work)
    return run.finish()


COMMAND = Command(
    "diff",
    "What a translation would lose, before anything is sent.",
    ("proxai diff req.json --to responses", "proxai diff captures/ --to messages --format lines --fail-on risk"),
    CAPTURES,
    (TO, *SOURCE, REPAIR, INTERLEAVE, *COMPARING, *BASELINE, MERGE, BY, PAGER, *telling("loss")),
    run,
    WHOLE,
)
