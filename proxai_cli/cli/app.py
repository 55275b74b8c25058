"""Reads a call: its first word picks the command, whose module alone is loaded. Errors and exit codes end here."""

import os
import sys
from importlib import import_module

from .. import __version__
from ..errors import ProxaiError
from ..reasons import ERRORS
from . import faults, screen
from .options import Command, plain

COMMANDS = ("convert", "stream", "collect", "explode", "diff", "inspect", "map")
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
    screen.say(*faults.told(problem))
    return ERRORS[problem.code].exit


def command(name: str) -> Command:
    """The command of that name; its module is loaded now."""
    found: Command = import_module(f".{name}", __package__).COMMAND
    return found._replace(run=lambda call: _version() if call.version else found.run(call))


def _version() -> int:
    screen.out(f"proxai {__version__}\n".encode())
    return 0


def _answer(words: list[str]) -> int:
    if not words:
        screen.say(*USAGE)
        return 2
    if words[0] in COMMANDS and "_PROXAI_COMPLETE" not in os.environ:
        asked = command(words[0])
        call = plain(asked, words[1:])
        if call is not None:
            return asked.run(call)
        return _by_typer([asked], words)
    return _by_typer([command(name) for name in COMMANDS], words)


def _by_typer(commands: list[Command], words: list[str]) -> int:
    from .typer_app import BadCall, answer

    try:
        return answer(commands, words)
    except BadCall as error:
        name = error.command if error.command in COMMANDS else ""
        raise ProxaiError(
            "bad-call", error.message, hint=" ".join(["proxai", *([name] if name else []), "--help"])
        ) from None
