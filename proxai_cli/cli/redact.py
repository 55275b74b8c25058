"""`proxai redact`: a capture that may be shown to others."""

import os
from secrets import token_hex

from ..errors import ProxaiError
from ..reasons import ERRORS
from ..redact import LEVELS, Redacted, Rules, leaks, redact
from ..report.lines import safe
from . import faults, screen
from .inputs import inputs_of, read
from .options import CAPTURES, OUTPUT, PICKING, SPEAKING, Call, Command, Option, globs_of
from .outputs import STDOUT, File, Output
from .parts import entries, reading


def run(call: Call) -> int:
    """Redact every file, whole, and look once more at what was written before it comes to its place."""
    given = inputs_of(call)
    if call.output in (None, STDOUT):
        raise ProxaiError("bad-call", "redact needs a file to write to, so that it can be looked at", hint="-o OUT")
    salt = call.salt if call.salt is not None else token_hex(8)
    rules = Rules(call.level, salt.encode(), globs_of(call, "keep"), globs_of(call, "drop"))
    how = reading(call)
    output, codes, written = Output(call.output, given), [0], False
    for input in given:
        try:
            place = output.place(input)
            data = read(input.path)
            wanted = entries(data, input, how) if how.picks else None
            done = redact(data, rules, wanted, how.max_size)
            _write(place, done)
            written = True
        except ProxaiError as error:
            screen.say(*faults.told(error, input.path))
            codes.append(ERRORS[error.code].exit)
            if call.on_error == "stop":
                break
        else:
            if not call.quiet:
                screen.say(f"{safe(place)}: {_summary(done)}")
    if written and call.salt is None and call.quiet < 2:
        screen.say(f"proxai: note: --salt {salt} gives the same again")
    return max(codes)


def _write(place: str, done: Redacted) -> None:
    """Raises `leak`, with nothing written, where a secret is found in the output after all."""
    if os.path.exists(place) and not os.path.isfile(place):
        raise ProxaiError("bad-call", f"{place} is no file, and could not be looked at again", hint="-o FILE")
    file = File(place)
    try:
        file.write(done.data)
        if leaks(file.written(), done.hidden, done.kept, done.words):
            raise ProxaiError(
                "leak",
                "a secret is in the output all the same, so it was removed",
                hint="--drop PATTERN, for the value that it is in; a secret in a key must be taken out by hand",
            )
        file.finish()
    except BaseException:
        file.discard()
        raise


def _summary(done: Redacted) -> str:
    """What was done, never what was found."""
    events = f"{_count(done.events)} events kept, " if done.events else ""
    kinds = f" of {_many(done.kinds, 'kind')}" if done.kinds else ""
    texts = f" and {_many(done.texts, 'text')}" if done.texts else ""
    short = f"; {_many(done.short, 'short value')} replaced only where a key names them" if done.short else ""
    return f"{events}{_many(done.secrets, 'secret')}{kinds}{texts} replaced, scanned clean{short}"


def _many(count: int, what: str) -> str:
    return f"{_count(count)} {what}{'' if count == 1 else 's'}"


def _count(count: int) -> str:
    return f"{count:,}".replace(",", " ")


COMMAND = Command(
    "redact",
    "A capture that may be shown to others.",
    (
        "proxai redact failing.sse -o failing.redacted.sse",
        "proxai redact traffic.har --pick 5 --level text -o traffic.redacted.har",
    ),
    CAPTURES,
    (
        Option("output", OUTPUT.help + "; needed", "o", "PATH"),
        *PICKING,
        Option(
            "level",
            "credentials and ids of people and accounts; also every text, as filler; or of texts only the length",
            "",
            "L",
            LEVELS,
            "secrets",
        ),
        Option("keep", "leave what stands at these pointers; * is one step, ** any number", "", "PATTERN", many=True),
        Option("drop", "replace what stands at these pointers, whatever it is", "", "PATTERN", many=True),
        Option("salt", "equal values stay equal under one salt; without it a new one is made, and told", "", "TEXT"),
        Option("on-error", "go on with the next file; exit 3 all the same", "", "HOW", ("stop", "skip"), "stop"),
        *SPEAKING,
    ),
    run,
    "Container, keys, order and lengths stay as they are, so the file can be used as before; of what --pick does not "
    "name nothing is written. Of a call both halves stay. What was written is "
    "looked through once more before it comes to its place; if a secret is found there, nothing is written (exit 4).",
)
