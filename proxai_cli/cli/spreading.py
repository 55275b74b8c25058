"""`--jobs` and `--engine`: documents are worked on in other processes; what they would do is written down there, and
done here, in the order of the inputs.

A command that can be spread has a function `work_of`: of a call, what it tells, a run and an output, what is done to a
document.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from importlib import import_module
from itertools import chain
from typing import Any, NamedTuple

from ..bulk import Spread, in_order
from ..errors import ProxaiError
from . import faults, screen
from .documents import told_by
from .inputs import STDIN, Input
from .options import Call
from .outputs import Output
from .parts import Part, Reading, opened, parts, reading, records
from .run import Run
from .translating import Outcome
from .working import worked


class Act(NamedTuple):
    """Something to be done here: the name of a method of the run, or `write` of the output, and what it is told."""

    name: str
    said: tuple[Any, ...]


class Notes:
    """Stands for a run in another process. State: what there is to be done for a record."""

    def __init__(self, goes_on: bool) -> None:
        self.goes_on = goes_on
        self.acts: list[Act] = []

    def take(self, part: Part) -> None:
        self.acts.append(Act("take", (_bare(part),)))

    def leave(self, part: Part, what: str) -> None:
        self.acts.append(Act("leave", (_bare(part), what)))

    def fail(self, error: Exception, input: Input, part: Part | None) -> None:
        self.acts.append(Act("fail", (error, input, part and _bare(part))))

    def add(self, outcome: Outcome, input: Input) -> None:
        self.acts.append(Act("add", (outcome._replace(value=None), input)))


class Written:
    """Stands for an output in another process: it knows the places, and writes down what is to be written."""

    def __init__(self, output: Output, notes: Notes) -> None:
        self.path, self.folder, self.several, self.place = output.path, output.folder, output.several, output.place
        self._notes = notes

    def write(self, input: Input, pieces: Iterable[bytes]) -> None:
        self._notes.acts.append(Act("write", (input, b"".join(pieces))))


def spread_over(run: Run, inputs: list[Input], output: Output | None, spread: Spread) -> None:
    """Do the work for every document of every input, as `Run.each` does.

    Several inputs go out one by one, one input record by record. A plain stream is translated here as it comes, and so
    is stdin among other inputs, for it can be read only once.
    """
    call = run.call
    setup = pickle.dumps((call.command, call.words, call.values, output and output.planned()))
    run.start(inputs)
    for input, done in _each(run, inputs, setup, output, spread):
        before = len(run.items)
        if not (done() and run.looked_at(input, before)):
            break
    run.stop()


def _each(
    run: Run, inputs: list[Input], setup: bytes, output: Output | None, spread: Spread
) -> Iterator[tuple[Input, Callable[[], bool]]]:
    """Each input with what does its work; that gives False where the run has to end."""
    if len(inputs) == 1:
        yield inputs[0], partial(_by_record, run, run.watched(inputs[0]), setup, output, spread)
    elif any(each.path == STDIN for each in inputs):
        for input in inputs:
            yield input, partial(_here, run, input, parts(run.watched(input), run.reading), setup, output)
    else:
        for input, acts in zip(inputs, in_order(partial(_there, setup), inputs, spread), strict=True):
            yield input, partial(_done, acts, run, output)


def _by_record(run: Run, input: Input, setup: bytes, output: Output | None, spread: Spread) -> bool:
    found = _records(input, run.reading)
    first = next(found, None)
    if isinstance(first, Part) and first.record is None and first.pieces is not None:
        return _here(run, input, opened(first, run.reading), setup, output)
    units = chain([] if first is None else [first], found)
    return all(_done(acts, run, output) for acts in in_order(partial(_there, setup), units, spread))


def _records(input: Input, how: Reading) -> Iterator[Part | tuple[Exception, Input]]:
    """The records of an input, and what ends them before their end."""
    try:
        for part in records(input, how):
            # What they were read into stays here.
            yield part._replace(input=part.input._replace(read=None))
    except Exception as error:
        yield error, input._replace(read=None)


def _here(run: Run, input: Input, found: Iterator[Part], setup: bytes, output: Output | None) -> bool:
    told, work = _work(setup, run, output)
    return worked(input, found, told.recognised, work, run)


def _there(setup: bytes, unit: Input | Part | tuple[Exception, Input]) -> list[Act]:
    """In another process: what is to be done for an input, or for a record of one."""
    if isinstance(unit, Input):
        input, found = unit, parts(unit, _reading(setup))
    elif isinstance(unit, Part):
        input, found = unit.input, opened(unit, _reading(setup))
    else:
        return [Act("fail", (*unit, None))]
    call, plan = _said(setup)
    notes = Notes(call.on_error == "skip")
    told, work = _work(setup, notes, plan and Written(plan, notes))
    worked(input, found, told.recognised, work, notes)
    return [_sent(act, call) for act in notes.acts]


def _sent(act: Act, call: Call) -> Act:
    """What can go to another process: an exception of another kind than ours becomes one of ours."""
    if act.name != "fail" or isinstance(act.said[0], ProxaiError):
        return act
    if call.debug:
        screen.say(*faults.tracebacked(act.said[0]))
    return act._replace(said=(faults.internal(act.said[0]), *act.said[1:]))


def _done(acts: list[Act], run: Run, output: Output | None) -> bool:
    """Do what was written down; False where the run has to end."""
    for name, said in acts:
        if name == "write":
            assert output is not None
            output.write(said[0], [said[1]])
        else:
            getattr(run, name)(*said)
        if name == "fail" and not run.goes_on:
            return False
    return True


def _work(setup: bytes, run: Any, output: Any) -> Any:
    """What a call tells, and what it does to a document."""
    call, told = _said(setup)[0], _told(setup)
    return told, import_module(f".{call.command}", __package__).work_of(call, told, run, output)


@lru_cache(1)
def _said(setup: bytes) -> tuple[Call, Output | None]:
    command, words, values, plan = pickle.loads(setup)
    return Call(command, words, values), plan


@lru_cache(1)
def _told(setup: bytes) -> Any:
    return told_by(_said(setup)[0])


@lru_cache(1)
def _reading(setup: bytes) -> Reading:
    return reading(_said(setup)[0])


def _bare(part: Part) -> Part:
    """A part without what it holds, which nobody needs any more."""
    return part._replace(body=b"", pieces=None, value=None, asked=None, envelope=None, slot=None)
