"""Reads a call: its first word picks the command, whose module alone is loaded. Errors and exit codes end here."""

import os
import sys
from importlib import import_module
from itertools import pairwise

from .. import __version__
from ..errors import ProxaiError
from ..reasons import ERRORS
from . import faults, screen
from .options import Call, Command, plain

COMMANDS = ("convert", "stream", "collect", "explode", "diff", "validate", "inspect", "map", "redact")
COMPLETE = "_PROXAI_COMPLETE"  # is set by the shells' completion functions
USAGE = (
    "Usage: proxai COMMAND [CAPTURE...] [OPTIONS]",
    f"Commands: {', '.join(COMMANDS)}",
    "Help: proxai --help, proxai COMMAND --help",
    "",
    "  proxai convert req.json --to messages",
    '  curl -sN "$URL" -d @req.json | proxai stream --to responses',
)


def main(words: list[str]) -> int:
    """Answer a call; the exit code (`design/cli.md`)."""
    try:
        return _answer(words)
    except KeyboardInterrupt:
        screen.say("proxai: interrupted; what was finished is written")
        return 130
    except BrokenPipeError:
        # Whoever read has gone; so that Python does not say so at the end, nothing is left to be flushed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except ProxaiError as error:
        problem = error
    except Exception as error:
        if "--debug" in words:
            screen.say(*faults.tracebacked(error))
        problem = faults.internal(error)
    if _form(words) in faults.AS_DATA:
        screen.err(faults.as_line(problem, problem.path))
    else:
        screen.say(*faults.told(problem, problem.path))
    return ERRORS[problem.code].exit


def _form(words: list[str]) -> str:
    """What `--format` says, also in a call that is not understood."""
    said = [word.removeprefix("--format=") for word in words if word.startswith("--format=")]
    said += [after for word, after in pairwise(words) if word == "--format"]
    return said[-1] if said else ""


def command(name: str) -> Command:
    """The command of that name; its module is loaded now."""
    found: Command = import_module(f".{name}", __package__).COMMAND
    return found


def _answer(words: list[str]) -> int:
    completing = COMPLETE in os.environ
    if not words and not completing:
        screen.say(*USAGE)
        return 2
    if words == ["--version"]:
        screen.out(f"proxai {__version__}\n".encode())
        return 0
    known = not completing and words[0] in COMMANDS
    commands = [command(name) for name in ([words[0]] if known else COMMANDS)]
    call = plain(commands[0], words[1:]) if known else None
    said = call or _by_typer(commands, words)
    if isinstance(said, int):
        return said
    if said.version:
        screen.out(f"proxai {__version__}\n".encode())
        return 0
    if "config" in said.values:
        from .policies import applied

        applied(said)
    return command(said.command).run(said)


def _by_typer(commands: list[Command], words: list[str]) -> Call | int:
    from .typer_app import BadCall, read

    try:
        return read(commands, words)
    except BadCall as error:
        name = error.command if error.command in COMMANDS else ""
        hint = error.meant or " ".join(["proxai", *([name] if name else []), "--help"])
        raise ProxaiError("bad-call", error.message, hint=hint) from None
