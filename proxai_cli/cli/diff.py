"""`proxai diff`: what a translation would lose. Nothing is written but the report."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..bulk import spread
from ..errors import ProxaiError
from .documents import Document, Told, told_by
from .inputs import inputs_of
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
    SPREADING,
    TO,
    VALUES,
    WHOLE,
    Call,
    Command,
    Option,
    target_of,
    telling,
)
from .run import Run
from .translating import body, how, pipe, piped, through

if TYPE_CHECKING:
    from .spreading import Notes


def run(call: Call) -> int:
    """Translate every capture, and tell what became of it; without a target, compare two captures."""
    _check(call)
    if call.merge:
        from .merging import merge

        return merge(call)
    if call.to is None:
        from .comparing import compare_captures

        return compare_captures(call)
    given = inputs_of(call)
    target_of(call)
    run, told, how_many = Run(call, to_stdout=True), told_by(call), spread(call.jobs, call.engine)
    if how_many.is_alone:
        run.each(given, told.recognised, work_of(call, told, run))
    else:
        from .spreading import spread_over

        spread_over(run, given, None, how_many)
    return run.finish()


def _check(call: Call) -> None:
    """Raises `bad-call` for an option that says nothing about the question that is asked."""
    asked = "between two captures nothing is translated into a file"
    useless: tuple[Option, ...] = (REPAIR, INTERLEAVE)
    if call.merge:
        asked = "--merge takes what reports say, and looks at no capture"
        useless = (*SOURCE, REPAIR, INTERLEAVE, *COMPARING, *SPREADING, VALUES)
    elif call.to is not None:
        asked, useless = "with --to nothing is compared with a second capture", COMPARING
    for option in useless:
        if option.key in call.given:
            raise ProxaiError("bad-call", f"--{option.name} does nothing here: {asked}", hint="proxai diff --help")
    tables = [call.format in ("auto", "table"), *(said.startswith("table:") for said in call.report)]
    if "by" in call.given and not any(tables):
        raise ProxaiError("bad-call", "--by groups the table, and no table is asked for", hint="--format table")


def work_of(call: Call, told: Told, run: "Run | Notes", output: None = None) -> Callable[[Document], None]:
    """What is done to a document: it is translated, and told."""
    way = how(call, told.context)._replace(places=True)

    def work(document: Document) -> None:
        if document.part.pieces is None:
            outcome = body(document, way)
        else:
            way_through = pipe(document, way)
            for _ in through(document, way_through):
                pass
            outcome = piped(document, way_through, way)
        run.add(outcome, document.part.input)

    return work


COMMAND = Command(
    "diff",
    "What a translation would lose, before it is sent; or what another one did.",
    (
        "proxai diff req.json --to responses",
        "proxai diff captures/ --to messages --format lines --fail-on risk",
        "proxai diff client.request.json upstream.request.json",
    ),
    CAPTURES,
    (TO, *SOURCE, REPAIR, INTERLEAVE, *COMPARING, *BASELINE, MERGE, BY, *SPREADING, PAGER, *telling("loss")),
    run,
    WHOLE,
)
