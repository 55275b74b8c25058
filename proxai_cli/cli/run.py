"""One call under way: what it has told, what goes into its reports, and the exit code that it ends with."""

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable

from .. import __version__
from ..errors import ProxaiError
from ..reasons import ERRORS, LEVELS
from ..report.account import Item, Report, Together, Verdict
from ..report.forms import DOCUMENTS, SUFFIXES, WRITERS, Shown, formed
from ..report.lines import safe, summary, summary_of_records
from . import faults, screen
from .documents import Document
from .foreign import Foreign
from .inputs import STDIN, Input, line_at
from .items import Items
from .options import Call
from .outputs import ENDINGS, STDOUT, spare, write_file
from .parts import Part, located, parts, reading
from .progress import Progress, watching
from .translating import Outcome, failure
from .working import worked

FOLDED_AFTER = 5


class Run:
    """The state of a call: its items, the exit codes that apply so far, and how much it may say.

    `to_stdout` says that the report is the command's document; elsewhere it goes to stderr. `table` is a command's own
    form of it for the screen.
    """

    def __init__(
        self, call: Call, to_stdout: bool = False, table: Callable[[Collection[Item], bool], str] | None = None
    ) -> None:
        self.call, self.to_stdout, self.table = call, to_stdout, table
        self.items = Items()
        self.goes_on = False
        self.progress: Progress | None = None
        self.codes = {0}
        self.complete = True
        self.told: Counter[str] = Counter()
        self.likely = 0  # documents of which the protocol is only that
        self.reading, self.foreign = reading(call), Foreign()
        self.reports = [_report(said, to_stdout) for said in call.report]
        self.form = call.format
        self.standing = call.standing
        for other in ("output", "side"):
            _apart(self.places, call.values.get(other))
        if to_stdout:
            _alone_on_stdout(call.format, self.reports)

    @property
    def places(self) -> list[str]:
        """Where the run writes besides its document: reports, and a baseline."""
        standing = self.standing
        baseline = [standing.baseline] if standing and standing.is_anew and standing.baseline else []
        return [*(place for _, place in self.reports), *baseline]

    def each(
        self,
        inputs: list[Input],
        recognise: Callable[[Part], Document],
        work: Callable[[Document], None],
        go_on: bool = False,
    ) -> None:
        """Do the work for every document of every input; up to the first that fails, unless bad ones are skipped."""
        self.start(inputs, go_on)
        for input in inputs:
            before = len(self.items)
            found = parts(self.watched(input), self.reading)
            if not (worked(input, found, recognise, work, self) and self.looked_at(input, before)):
                break
        self.stop()

    def start(self, inputs: list[Input], go_on: bool = False) -> None:
        """Inputs will be worked on; with `go_on` all of them, whatever fails. Raises `bad-call`."""
        self.goes_on = go_on or self.call.on_error == "skip"
        for place in self.places:
            spare(place, inputs)
        _outside(self.places, self.call.values.get("output"), inputs)
        self.progress = watching(self.call, inputs)

    def watched(self, input: Input) -> Input:
        """The same input, seen by whoever tells how far the run is."""
        return input._replace(read=self.progress) if self.progress and input.read is None else input

    def looked_at(self, input: Input, before: int) -> bool:
        """An input was worked on to its end, with so many items before it; False where the run has to end with it."""
        if len(self.items) == before and self.foreign.told(input.path):
            self.fail(self.foreign.nothing_else(input.path), input, None)
            return self.goes_on
        return True

    def stop(self) -> None:
        """No more is worked on."""
        if self.progress:
            self.progress.hide()

    def take(self, part: Part) -> None:
        """A part is one of our documents."""
        self.foreign.take(part)

    def leave(self, part: Part, what: str) -> None:
        """A part is something foreign, which is counted."""
        self.foreign.leave(part, what)

    def fail(self, error: Exception, input: Input, part: Part | None) -> None:
        """An input or document that could not be translated: told, and an item of the report."""
        if self.call.debug and not isinstance(error, ProxaiError):
            screen.say(*faults.tracebacked(error))
        problem = error if isinstance(error, ProxaiError) else faults.internal(error)
        if ERRORS[problem.code].exit == 2:
            raise problem
        self.tell(located(problem, part) if part else problem, input.path)
        if part and part.record is not None and not self.goes_on:
            self.note(f"{input.path}: what comes after that was not looked at; --on-error skip goes on")
        status = "skipped" if self.call.on_error == "skip" else "failed"
        container = part.container if part else "unknown"
        item = Item(
            input.path, container, status=status, findings=(failure(problem),), record=part.record if part else None
        )
        self._keep(item)

    def tell(self, error: ProxaiError, path: str = "") -> None:
        """An error, on stderr; several of one code are folded after the first."""
        self.codes.add(ERRORS[error.code].exit)
        self.complete = False
        self.told[error.code] += 1
        if self.told[error.code] > FOLDED_AFTER:
            return
        if self._as_data:
            screen.err(faults.as_line(error, path))
            return
        line = line_at(path, error.place.byte) if path and error.code != "truncated" else None
        screen.say(*faults.told(error, path, line))

    def add(self, outcome: Outcome, input: Input) -> None:
        """A document that was translated, as far as it could be: told, and an item of the report."""
        for error in outcome.errors:
            self.tell(error, input.path)
        self.warn(outcome.item)
        self._keep(outcome.item)
        if self._summed() and outcome.item.record is None:
            screen.say(*summary(outcome.item, self._details(outcome.item), self.call.verbose))

    def _keep(self, item: Item) -> None:
        self.items.append(item)
        if self.progress:
            self.progress.done()

    def _summed(self) -> bool:
        return self.form == "auto" and not self.to_stdout and not self.call.quiet

    def warn(self, item: Item) -> None:
        """Say in one line where a protocol was only likely; several are folded after the first."""
        source = item.source
        if source and source.sure == "likely" and self.table is None:
            self.likely += 1
            if self.likely <= FOLDED_AFTER:
                why = "; ".join(source.evidence[:2])
                self.note(f"{item.path}: likely {source.protocol} ({why}); --from settles it")

    def note(self, said: str) -> None:
        """Something that should be known about an input or output."""
        if self.call.quiet < 2:
            if self._as_data:
                screen.err(faults.note_as_line(said))
            else:
                screen.say(f"proxai: note: {said}")

    @property
    def _as_data(self) -> bool:
        """Is everything on stderr to be JSON?"""
        return self.form in faults.AS_DATA

    def _details(self, item: Item) -> str:
        """The command that shows all of an account."""
        target = item.target
        if item.path == STDIN or target is None or self.call.command not in ("convert", "stream"):
            return ""
        import shlex

        words = ["proxai", "diff", item.path, "--to", target.protocol]
        for name in ("from", "kind"):
            if self.call.values[name] != "auto":
                words += [f"--{name}", self.call.values[name]]
        words += ["--pick", self.call.pick] if self.call.pick else []
        for pointer in self.call.at:
            words += ["--at", pointer]
        words += ["--request", self.call.request] if self.call.request else []
        for choice in self.call.set:
            words += ["--set", choice]
        return shlex.join(words)

    def finish(self) -> int:
        """Tell of records together, write the reports; the exit code."""
        if self._summed():
            for records in self._by_input():
                screen.say(*summary_of_records(records, self._details(records.item), self.call.verbose))
        if self.table is None and not self.call.quiet:
            for path in self.foreign.paths():
                screen.say(f"{safe(path)}: {self.foreign.told(path)}")
        for code, count in self.told.items():
            if count > FOLDED_AFTER and self._as_data:
                screen.err(faults.folded_as_line(code, count - FOLDED_AFTER))
            elif count > FOLDED_AFTER:
                screen.say(f"proxai: {count - FOLDED_AFTER} more of error[{code}]")
        if self.likely > FOLDED_AFTER:
            self.note(f"{self.likely - FOLDED_AFTER} more are only likely; --from settles them")
        said = self._judged()
        if self._reached():
            self.codes.add(1)
        shown = self.form if self.form != "auto" else "table" if self.to_stdout else "none"
        try:
            if said and self.form == "auto":
                screen.out("".join(line + "\n" for line in said).encode())
            elif shown != "none":
                self._show(b"".join(self._formed(shown, STDOUT)))
        except ProxaiError as error:
            self.tell(error)
        for form, place in self.reports:
            try:
                if place == STDOUT:
                    screen.out(b"".join(self._formed(form, place)))
                else:
                    write_file(place, self._formed(form, place))
            except ProxaiError as error:
                self.tell(error)
        return max(self.codes)

    def _by_input(self) -> Iterable[Together]:
        """The records of each input as one."""
        found: dict[str, Together] = {}
        for item in self.items:
            if item.record is not None:
                found.setdefault(item.path, Together()).add(item)
        return found.values()

    def _show(self, report: bytes) -> None:
        """The report, where it is the document through a pager if it is long."""
        if self.to_stdout:
            from . import pager

            pager.show(report, not self.call.values.get("no_pager"))
        else:
            screen.err(report)

    def _judged(self) -> list[str]:
        """Judge the items by policy and baseline; what came into the baseline and went, where it is written."""
        standing, said = self.standing, list[str]()
        if standing is None:
            return said
        self.items = Items(standing.judged(self.items))
        if standing.is_anew and self.complete:
            try:
                said = standing.rewrite(len(self.items), self.call.verbose)
                self.items = Items(standing.judged(self.items))
            except ProxaiError as error:
                self.tell(error)
        elif standing.is_anew:
            self.note(f"{standing.baseline} is left as it was, for not all of every input was read")
        for each in standing.notes(self.complete):
            self.note(each)
        if self.form != "auto" and not self.call.quiet and not self._as_data:
            screen.say(*said)
        return said

    def _reached(self) -> bool:
        fail_on = self.call.fail_on
        if fail_on == "never" and self.standing is None:
            return False
        failing = () if fail_on == "never" else LEVELS[LEVELS.index(fail_on) :]
        return any(
            said.state == "denied" or (said.state == "new" and said.level in failing)
            for item in self.items
            for said in item.said
        )

    def _formed(self, form: str, place: str) -> Iterable[bytes]:
        """The report in a form, for the screen (stdout or stderr) or a file."""
        if form == "table" and self.table:
            return [self.table(self.items, self.call.verbose).encode()]
        verdict = Verdict(max(self.codes), self.complete, self.call.fail_on)
        if self.standing:
            verdict = verdict._replace(**self.standing.verdict(self.complete))
        report = Report(self.call.command, self.items, verdict, __version__)
        others = tuple(other for _, other in self.reports if other not in (STDOUT, place))
        shown = Shown(80, False, self.call.verbose, self.call.values.get("by", "reason"), others)
        if place == STDOUT:
            color = screen.coloured(self.call.color, screen.stream(self.to_stdout))
            shown = shown._replace(width=screen.width(), color=color, indent=2 if self.to_stdout else None)
            shown = shown._replace(room=screen.room(self.to_stdout), sums=not self.call.quiet)
        return formed(form, report, shown)


def _report(said: str, to_stdout: bool) -> tuple[str, str]:
    """Form and place of `[FORM:]FILE`."""
    form, colon, place = said.partition(":")
    if not colon or form not in WRITERS:
        place = said
        suffix = place[place.rfind(".") :] if "." in place else ""
        if suffix not in SUFFIXES:
            hint = f"--report FORM:FILE; FORM is one of {', '.join(WRITERS)}"
            raise ProxaiError("bad-call", f"--report cannot tell the form of {said!r}", hint=hint)
        form = SUFFIXES[suffix]
    if not place:
        raise ProxaiError("bad-call", f"--report {said} names no file", hint=f"--report {form}:FILE")
    if place == STDOUT and not to_stdout:
        raise ProxaiError("bad-call", "stdout is for the document", hint=f"--report {form}:FILE")
    return form, place


def _apart(places: list[str], output: str | None) -> None:
    """Raises `bad-call` where two outputs would be one file."""
    places = [place for place in [*places, output] if place and place != STDOUT]
    files = [os.path.realpath(place) for place in places if os.path.isfile(place) or not os.path.exists(place)]
    if len(set(files)) < len(files):
        raise ProxaiError("bad-call", "two outputs would be one file", hint="name another place for each --report")


def _alone_on_stdout(form: str, reports: list[tuple[str, str]]) -> None:
    """Raises `bad-call` where a report that a program reads would stand on stdout with another."""
    shown = [form] if form != "none" else []
    shown += [form for form, place in reports if place == STDOUT]
    whole = [form for form in shown if form in DOCUMENTS]
    if whole and len(shown) > 1:
        said = f"a report in the form {whole[0]} has to be alone on stdout"
        raise ProxaiError("bad-call", said, hint="--format none" if len(shown) == 2 else f"--report {whole[0]}:FILE")


def _outside(places: list[str], output: str | None, inputs: list[Input]) -> None:
    """Raises `bad-call` where a report would take the place of a document in the directory of the outputs."""
    if output in (None, STDOUT) or not (output.endswith(("/", os.sep)) or os.path.isdir(output) or len(inputs) > 1):
        return
    names = {
        name for each in inputs for name in (each.name, *(os.path.splitext(each.name)[0] + end for end in ENDINGS))
    }
    for place in places:
        if place != STDOUT and os.path.relpath(os.path.realpath(place), os.path.realpath(output)) in names:
            raise ProxaiError("bad-call", "two outputs would be one file", hint="name another place for each --report")
