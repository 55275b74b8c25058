"""`proxai diff --merge`: the reports of several runs added up, and judged as one run."""

from ..errors import ProxaiError
from ..report.account import Item
from .inputs import inputs_of, read_again
from .items import Items
from .options import Call
from .outputs import spare
from .run import Run


def merge(call: Call) -> int:
    """Tell what all the reports tell, in one order whatever the order of the calls; the exit code.

    What runs could not look at stays so: the greatest of their exit codes from 2 on is that of the sum.
    """
    if call.to is not None:
        raise ProxaiError("bad-call", "--merge takes reports, which say their target", hint="leave --to out")
    given = inputs_of(call)
    run = Run(call, to_stdout=True)
    for place in run.places:
        spare(place, given)
    found = list[tuple[Item, bytes]]()
    from ..report.reading import read as read_report

    for input in given:
        try:
            report = read_report(read_again(input.path))
        except ProxaiError as error:
            run.fail(error, input, None)
            continue
        found += report.items
        run.complete = run.complete and report.verdict["complete"]
        if report.verdict["exit"] > 1 or not report.verdict["complete"]:
            run.codes.add(max(3, report.verdict["exit"]))
            run.note(f"{input.path}: that run could not do all of its work (exit code {report.verdict['exit']})")
    found.sort(key=lambda one: (one[0].path, -1 if one[0].record is None else one[0].record, one[1]))
    run.items = Items([*(item for item, _ in found), *run.items])
    return run.finish()
