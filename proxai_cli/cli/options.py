"""Options as data, and the quick way to read a plain call by them.

The same descriptions make the Typer app (`typer_app.py`), which answers everything that is not plain: help, completion,
and every mistake. So there is one list of options, and starting a translation does not wait for Typer.
"""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ProxaiError
from ..report.forms import WRITERS

if TYPE_CHECKING:
    from ..patterns import Glob
    from .judging import Standing


class Option(NamedTuple):
    """A long option, `--name`; `short` is its letter. One without `metavar` is a switch, which may be counted.

    `many` may be repeated, and then gives a list. `choices` are the only values it takes. `offers` names the function
    of `completion.py` that lists values for a shell.
    """

    name: str
    help: str
    short: str = ""
    metavar: str = ""
    choices: tuple[str, ...] = ()
    default: Any = None
    many: bool = False
    counts: bool = False
    offers: str = ""

    @property
    def key(self) -> str:
        return self.name.replace("-", "_")

    def start(self) -> Any:
        """What a call holds that does not give the option."""
        if self.many:
            return []
        if self.counts:
            return 0
        return self.default if self.metavar else False


class Words(NamedTuple):
    """The words of a call that are no options: their name, what they are, how many there may be, and what a shell
    offers for them (nothing: files)."""

    name: str
    help: str
    most: int | None = None
    offers: str = ""


class Call:
    """What was asked for: the command, its words, and each option under its name; `given` are those that were named.

    `standing` is what its run is judged by, where it has a policy or a baseline.
    """

    def __init__(self, command: str, words: list[str], values: dict[str, Any], given: Collection[str] = ()) -> None:
        self.command, self.words, self.values, self.given = command, words, values, given
        self.standing: Standing | None = None

    def __getattr__(self, name: str) -> Any:
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None


def target_of(call: Call) -> str:
    """The target protocol. Raises `bad-call` where none is named."""
    if call.to is None:
        raise ProxaiError(
            "bad-call", f"{call.command} needs the target protocol", hint="--to chat, responses or messages"
        )
    target: str = call.to
    return target


def globs_of(call: Call, option: str) -> "tuple[Glob, ...]":
    """The patterns over pointers that an option gives. Raises `bad-call` for one that means nothing."""
    from ..patterns import pointer_glob

    globs = []
    for said in call.values[option]:
        try:
            globs.append(pointer_glob(said))
        except ValueError as error:
            hint = f"--{option} '/metadata/trace_*'"
            raise ProxaiError("bad-call", f"--{option}: the pattern {said!r} {error}", hint=hint) from None
    return tuple(globs)


def pointer_of(said: str, option: str) -> str:
    """What an option says, which has to be a JSON Pointer. Raises `bad-call`."""
    if said and not said.startswith("/"):
        raise ProxaiError("bad-call", f"--{option} takes a JSON Pointer, not {said!r}", hint=f"--{option} /{said}")
    return said


class Command(NamedTuple):
    """One command: `examples` stand before its options in the help, `about` after them; `run` answers a call with an
    exit code."""

    name: str
    summary: str
    examples: tuple[str, ...]
    words: Words
    options: tuple[Option, ...]
    run: Callable[[Call], int]
    about: str = ""


def plain(command: Command, given: list[str]) -> Call | None:
    """The call, if every word of it is sure to be understood; None leaves it to Typer, which tells what is wrong."""
    names = {"--" + option.name: option for option in command.options}
    letters = {option.short: option for option in command.options if option.short}
    words, values = list[str](), dict[str, Any]()
    rest = list(reversed(given))
    while rest:
        word = rest.pop()
        if word == "-" or not word.startswith("-"):
            words.append(word)
            continue
        name, equals, value = word.partition("=")
        option = names.get(name) if word.startswith("--") else letters.get(word[1:2])
        if option is None:
            return None
        if not word.startswith("--") and not option.metavar:
            if not all(letter in letters and not letters[letter].metavar for letter in word[1:]):
                return None
            for letter in word[1:]:
                _set(letters[letter], None, values)
            continue
        if not word.startswith("--") and len(word) > 2:
            return None
        if option.metavar and not equals:
            if not rest:
                return None
            value = rest.pop()
        if not option.metavar and equals:
            return None
        if option.choices and value not in option.choices:
            return None
        _set(option, value, values)
    if command.words.most is not None and len(words) > command.words.most:
        return None
    starts = {option.key: option.start() for option in command.options}
    return Call(command.name, words, starts | values, set(values))


def _set(option: Option, value: str | None, values: dict[str, Any]) -> None:
    if option.many:
        values.setdefault(option.key, []).append(value)
    elif option.counts:
        values[option.key] = values.get(option.key, 0) + 1
    else:
        values[option.key] = value if option.metavar else True


PROTOCOL_WORDS = ("chat", "responses", "messages")
KIND_WORDS = ("request", "response", "stream", "error")
LEVEL_WORDS = ("note", "loss", "risk", "unexplained", "never")

CAPTURES = Words("CAPTURE", "files, directories, or - for stdin")
CAPTURE = Words("CAPTURE", "a file, or - for stdin", most=1)

WHOLE = (
    "A capture is a body or a stream, also packed or behind its HTTP head; records in JSON lines or in one list; calls "
    "in a HAR, a cassette, a transcript of curl -v or a gateway's log. Lines count from 1; of calls, counted from 0, "
    "the request has an even number and the answer the next. An exchange goes through as one: an object with "
    "method, url, headers and body, or status, headers and body, or with both as request and response. Of a body "
    "behind its HTTP head the body goes out; URL and headers help to know it. Credentials in heads are replaced, "
    "unless --set credentials=true."
)

TO = Option("to", "target protocol", "t", "P", PROTOCOL_WORDS)

PICKING = (
    Option("pick", "of many: number (lines from 1, calls from 0), 3-9, or a URL glob", "", "WHICH"),
    Option("max-size", "an input, unpacked, has at most that much: 2GiB, 500MB", "", "BYTES", default="4GiB"),
)
SOURCE = (
    Option("from", "source protocol; checked against the body", "f", "P", ("auto", *PROTOCOL_WORDS), "auto"),
    Option("kind", "what the document is", "", "K", ("auto", *KIND_WORDS), "auto"),
    Option("at", "where in each JSON record a body is, also as text", "", "POINTER", many=True),
    *PICKING,
    Option("request", "the request that a response or stream answers", "", "FILE"),
    Option(
        "set", "a mapping choice, as in `proxai map --choices`", "", "NAME=VALUE", many=True, offers="mapping_choices"
    ),
)

SIDE = Option("side", "write there what must be kept to come back without loss; DIR/ for several", "", "FILE")
BACK = Option("back", "come back with what --side has written", "", "FILE")
SPREADING = (
    Option("jobs", "processes that work on records or files; 0 is as many as cores", "j", "N", default="1"),
    Option("engine", "what spreads the work", "", "E", ("local", "ray"), "local"),
)
PAGER = Option("no-pager", "do not show a long report through a pager")
BASELINE = (
    Option("baseline", "what is known, and does not count against --fail-on", "", "FILE"),
    Option("write-baseline", "write it anew, and tell what came and went; not if any input failed"),
)
COMPARING = (
    Option("volatile", "compare made-up ids, times and fingerprints of two captures, too"),
    Option("ignore", "JSON Pointer pattern (*, **) of what is not compared in two captures", "", "PATTERN", many=True),
    Option("pair-by", "where in each record its name is, by which two belong together", "", "POINTER"),
)
MERGE = Option("merge", "the files are reports (json, jsonl) of several runs: add them up and judge them as one")
BY = Option("by", "what the table is grouped by", "", "G", ("reason", "file", "path"), "reason")
REPAIR = Option("repair", "end a cut stream properly in the target; exit 3 all the same")
INTERLEAVE = Option("interleave", "keep the order in which blocks arrive (to messages)")
ENVELOPE = Option(
    "envelope", "of records: keep what stands around the bodies, or bare bodies", "", "E", ("keep", "bare"), "keep"
)
INDENT = Option("indent", "spaces for each level of JSON; 0 is compact", "", "N")
VALUES = Option("values", "captured values in reports", "", "HOW", ("none", "short", "full"), "short")
OUTPUT = Option("output", "file, or directory if it ends in / or there are several documents", "o", "PATH", default="-")


def telling(fail_on: str) -> tuple[Option, ...]:
    """The options about what is said of a run; `fail_on` is the command's default."""
    return (
        Option(
            "fail-on",
            "exit 1 if a change or finding reaches it",
            "",
            "LEVEL",
            LEVEL_WORDS,
            fail_on,
        ),
        Option(
            "report",
            "write the report there, in the form of its suffix",
            "",
            "[FORM:]FILE",
            many=True,
            offers="report_forms",
        ),
        Option("format", "form of the report on the screen", "", "FORM", FORMS, "auto"),
        VALUES,
        Option(
            "on-error",
            "leave the bad record or event out and go on; exit 3 all the same",
            "",
            "HOW",
            ("stop", "skip"),
            "stop",
        ),
        Option("config", "the policy file; without it proxai.toml, or pyproject.toml, upwards from here", "", "FILE"),
        Option("no-config", "look for no policy file"),
        *SPEAKING,
    )


FORMS = ("auto", *WRITERS, "none")

SPEAKING = (
    Option("quiet", "no summary; twice: no warnings", "q", counts=True),
    Option("verbose", "evidence and every note", "v"),
    Option("debug", "traceback of our own mistakes (may hold captured text)"),
    Option("color", "colour", "", "WHEN", ("auto", "always", "never"), "auto"),
    Option("version", "the version"),
)
