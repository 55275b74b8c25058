"""`proxai convert --side` and `--back`: what is kept beside a target, and the way back (`spec/decisions.md` §1).

What a side file holds and how a source comes back is in `side.py`; here are its captures, places and words.
"""

import os
from collections.abc import Iterable, Iterator
from typing import Any

from .. import __version__, side, text
from ..context import Context
from ..errors import NotThatSideFile, ProxaiError
from ..pipe import Pipe, events, written
from ..report.account import Side
from ..translate import Translation
from ..wire.capture import captures
from ..wire.detect import Detection, detect_value
from ..wire.http import start_of_body
from ..wire.packing import undone
from .documents import EXCHANGE, TOLD, Document
from .inputs import Input, inputs_of, read
from .options import Call
from .outputs import STDOUT, Output, apart, write_file
from .parts import Part, parsed
from .places import replaced
from .printing import printed
from .run import Run
from .translating import How, Outcome, accounted, bare_item, failure, found_of, translated


class Kept:
    """Side files under way, one for each input. State: the pieces of a target that is a stream, and the text of the
    file; where there are several files, each is written behind its target, else at the end."""

    def __init__(self, call: Call, inputs: list[Input], output: Output) -> None:
        """Raises `bad-call` where a file would have no place of its own."""
        if call.side == STDOUT:
            raise ProxaiError("bad-call", "stdout is for the document", hint="--side FILE")
        self.output = output
        self.folder = is_folder(call.side, inputs, "--side")
        self.name = call.side
        apart([*map(self.place, inputs), *map(output.place, inputs)], inputs, "name another place")
        self.stream: list[bytes] = []
        self.data = b""

    def place(self, input: Input) -> str:
        """Where the side file of an input goes."""
        return side_of(self.name, input) if self.folder else self.name

    def watched(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """The pieces of a stream, as they come."""
        for piece in pieces:
            self.stream.append(piece)
            yield piece

    def check(self, document: Document, count: int) -> None:
        """Raises `bad-call` where a document is not the only one, or comes out as several."""
        if document.part.record is not None or document.part.slot or count != 1:
            raise ProxaiError(
                "bad-call", "--side is for one document, and here are several", hint="one call for each of them"
            )

    def take_body(self, document: Document, value: Any, how: How) -> None:
        """Keep what is needed to come back from a body."""
        self._keep(document, value, how)

    def take_stream(self, document: Document, how: How) -> None:
        """The same for a stream that was watched to its end."""
        target = events(b"".join(self.stream), how.to(document)).values
        self._keep(document, target, how)
        self.stream.clear()

    def _keep(self, document: Document, target: Any, how: How) -> None:
        self.data = made(document, _whole(document.part.input), target, how)
        if self.folder:
            self.output.finish()
            write_file(self.place(document.part.input), self.data)
            if isinstance(document.part.input.read, list):
                document.part.input.read.clear()

    def write(self) -> str:
        """Write the file, if it is not yet; what to say of it. Raises `not-written`."""
        if self.folder:
            return f"the files in {self.name} hold the captures, and are as private as those"
        write_file(self.name, self.data)
        return f"{self.name} holds the capture, and is as private as that"


def _whole(input: Input) -> bytes:
    """All bytes of an input that were read, which `convert` lets it collect."""
    return b"".join(input.read if isinstance(input.read, list) else ())


def is_folder(place: str, inputs: list[Input], option: str) -> bool:
    """Does the option name a directory, with a side file for each input? Raises `bad-call` where it has to."""
    if place.endswith(("/", os.sep)) or os.path.isdir(place):
        return True
    if len(inputs) != 1:
        raise ProxaiError("bad-call", f"{option} names one file, and here are several inputs", hint=f"{option} DIR/")
    return False


def side_of(folder: str, input: Input) -> str:
    """The side file of an input below a directory; a target that kept its name has the same."""
    return os.path.join(folder, f"{input.name}.side.json")


def made(document: Document, data: bytes, value: Any, how: How) -> bytes:
    """The text of the side file of a document, whose input was `data` and whose target is `value` (a stream's events).

    Credentials of an exchange or of a head are replaced in it, unless `--set credentials=true` keeps them.
    """
    context, target = how.context, how.to(document)
    kept = side.Side(
        data if context.chosen("credentials") else _without_credentials(document, data),
        document.protocol,
        target,
        EXCHANGE if document.is_exchange else document.kind,
        context.choices,
        request=context.request,
        request_protocol=context.request_protocol,
        repair=how.repair,
        skip=how.skip,
        endpoint=None if document.is_exchange else document.endpoint,
        version=__version__,
    )
    return side.keep(kept, accounted(document, value, target))


def _without_credentials(document: Document, data: bytes) -> bytes:
    """An input with the credentials replaced that stand in its head, or in the heads of an exchange."""
    if document.part.head is None and not document.is_exchange:
        return data
    from ..exchange.credentials import covered_head
    from ..exchange.private import covered_places

    bare = undone(data)
    start = start_of_body(bare) if document.part.head else 0
    body = bare[start:]
    if document.is_exchange and (places := covered_places(document.value)):
        twice = any(found.code == "twice-the-same-key" for found in document.findings)
        body = replaced(text.dumps(document.value) if twice else document.part.body, places)
    head = bare[:start].decode("utf-8", "surrogateescape")
    shown = covered_head(head).encode("utf-8", "surrogateescape") + body
    return data if shown == bare else shown


def come_back(call: Call) -> int:
    """Write the source of a target; the exit code."""
    if call.side:
        raise ProxaiError("bad-call", "--side and --back do not go together", hint="one call for each")
    given = inputs_of(call)
    run, returning = Run(call), Returning(call, given)

    with Output(call.output, given) as output:

        def work(document: Document) -> None:
            came, outcome = returning.back(document)
            pieces = [came] if isinstance(came, bytes) else printed(came, call, output, document)
            output.write(document.part.input, pieces)
            run.add(outcome, document.part.input)

        run.each(given, returning.recognised, work)
    return run.finish()


class Returning:
    """The way back with a side file: recognises the target as what the file says it is, and gives the source."""

    def __init__(self, call: Call, inputs: list[Input]) -> None:
        """Raises `bad-call`, and `wrong-side-file` as `_read` does."""
        self.place = call.back
        self.folder = is_folder(call.back, inputs, "--back")
        self.call = call
        for option in ("set", "request", "kind", "repair", "interleave"):
            if call.values[option] not in ([], None, False, "auto"):
                raise ProxaiError("bad-call", f"the side file says what --{option} was", hint=f"leave --{option} out")
        if not self.folder:
            self.side = self._read(call.back)

    def _read(self, place: str) -> side.Side:
        """A side file. Raises `wrong-side-file` where it cannot be read, or another way is asked for."""
        try:
            kept = side.read(read(place))
        except ProxaiError as error:
            raise NotThatSideFile("wrong-side-file", f"{place}: {error.message}", hint=error.hint) from None
        ways = (("--to", self.call.to, kept.protocol), ("--from", self.call.values["from"], kept.target))
        for option, said, wanted in ways:
            if said not in (None, "auto", wanted):
                raise NotThatSideFile(
                    "wrong-side-file",
                    f"the side file was written on the way from {kept.protocol} to {kept.target}, and "
                    f"{option} says {said}",
                    hint=f"{option} {wanted}",
                )
        return kept

    def recognised(self, part: Part) -> Document:
        """The target, known for what the side file says it is. Raises `wrong-side-file` where it is something else."""
        if self.folder:
            self.side = self._read(side_of(self.place, part.input))
        kept, is_stream = self.side, part.pieces is not None
        value, noticed = (None, ()) if is_stream else parsed(part)
        if kept.kind == EXCHANGE:
            from ..exchange import is_exchange

            part = part._replace(container=EXCHANGE)
            other = "" if is_exchange(value) else "no exchange"
        elif is_stream or kept.kind == "stream":
            other = "" if is_stream and kept.kind == "stream" else "a stream" if is_stream else "no stream"
        else:
            other = "" if kept.endpoint else _other(detect_value(value, part.input.name), kept)
        if other:
            raise NotThatSideFile(
                "wrong-side-file",
                f"the side file belongs to a {kept.target} {kept.kind}, and this is {other}",
                hint="look for the side file that was written together with this document",
            )
        return Document(part, kept.target, kept.kind, TOLD, (), value, noticed, kept.endpoint)

    def back(self, document: Document) -> tuple[Any, Outcome]:
        """The source: bytes where it is what was captured, or a stream, else a value; and the item about it."""
        kept = self.side
        capture = next(captures(kept.source))
        context = Context(headers=capture.head.headers if capture.head else {})
        if kept.kind == "stream":
            found = events(b"".join(document.part.pieces or ()), kept.target)
            if found.errors:
                raise found.errors[0]
            source = events(capture.body, kept.protocol, kept.skip).values
            came = side.back(kept, source, found.values, context)
            stream = capture.body if came.data else written(came.value, kept.protocol)
            return came.data or stream, _outcome(document, kept, came, _faults(stream, kept))
        spelled: Any = {}
        source = text.read(capture.body)[0]
        if kept.kind == EXCHANGE:
            from ..exchange import closed, opened

            source, spelled = opened(source, kept.protocol)
        came = side.back(kept, source, accounted(document, document.value), context, _way(document))
        value = closed(came.value, spelled, kept.protocol) if spelled else came.value
        return came.data or value, _outcome(document, kept, came)


def _other(found: Detection, kept: side.Side) -> str:
    """What a body is, if it is certain that it is not what was written; a reply may have gone out as an error."""
    kinds = (kept.kind, "error") if kept.kind == "response" else (kept.kind,)
    if not found.sure or (kept.target in found.candidates and found.kind in kinds):
        return ""
    return f"a {found.protocol or ' or '.join(found.candidates)} {found.kind}"


def _way(document: Document) -> side.Way | None:
    """How a document is translated that is neither a body nor a stream of a reply."""
    if document.is_reply_or_request:
        return None

    def way(value: Any, source: str, target: str, context: Context) -> Translation:
        return translated(document._replace(value=value, protocol=source), target, context)

    return way


def _faults(stream: bytes, kept: side.Side) -> tuple[ProxaiError, ...]:
    """What is wrong with a stream that came back: it is as cut or damaged as it was captured."""
    pipe = Pipe(kept.protocol, kept.protocol, skip=kept.skip)
    pipe.feed(stream)
    pipe.close()
    return tuple(pipe.errors)


def _outcome(document: Document, kept: side.Side, came: side.Back, faults: tuple[ProxaiError, ...] = ()) -> Outcome:
    """What came of a target. Nothing was translated, so there is no account: what is lost are the findings."""
    state = "unedited: this is what was captured" if came.data else "edited since: the rest is as it was captured"
    source = Side(kept.target, _kind(document, document.value), TOLD, (state,), bytes=len(document.part.body) or None)
    target = Side(kept.protocol, _kind(document, came.value))
    findings = (*map(found_of, came.findings), *map(failure, faults))
    item = bare_item(document)._replace(
        source=source, target=target, status="cut" if faults else "ok", findings=findings
    )
    return Outcome(None, item, faults)


def _kind(document: Document, value: Any) -> str:
    """The kind that a report tells: of an exchange that of its answer."""
    if document.kind != EXCHANGE:
        return document.kind
    from ..exchange import known

    return known(value).detection.kind or "request"
