"""The Typer app, made from the descriptions of the commands: help, completion, and what is wrong with a call."""

import inspect
import os
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

import typer
from typer.exceptions import TyperException
from typer.main import get_command

from ..errors import ProxaiError
from .options import Call, Command, Option


class BadCall(Exception):
    """A call that is not understood: what is wrong, the command that it is about, and what was meant if it is clear."""

    def __init__(self, message: str, command: str, meant: str = "") -> None:
        super().__init__(message)
        self.message, self.command, self.meant = message, command, meant


# What people call a protocol by, who do not know our words yet.
MEANT = {
    "anthropic": ("messages",),
    "claude": ("messages",),
    "openai": ("chat", "responses"),
    "gpt": ("chat", "responses"),
    "completions": ("chat",),
    "response": ("responses",),
    "message": ("messages",),
}
_NO_PROTOCOL = re.compile(r"'(--(?:to|from|as))'.*: '([\w-]+)' is not one of")


def _meant(message: str) -> str:
    """The option with the protocols that a word for one stands for."""
    found = _NO_PROTOCOL.search(message)
    return "   or   ".join(f"{found[1]} {word}" for word in MEANT.get(found[2].lower(), ())) if found else ""


def read(commands: list[Command], words: list[str]) -> Call | int:
    """Let Typer read a call; where it has answered it itself (help, completion), the exit code. Raises `BadCall`."""
    app = typer.Typer(
        name="proxai",
        help="Turn captured LLM traffic of one protocol into another, with an account of every field.",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    )
    app.callback()(_top)
    for command in commands:
        examples = "\b\n" + "\n".join("  " + example for example in command.examples)
        text = "\n\n".join([command.summary, examples, command.about])
        app.command(command.name, help=text, short_help=command.summary)(_function(command))
    if words[:1] in (["--show-completion"], ["--install-completion"]) and len(words) == 2:
        # With a shell named, its own detection of the current one (which would win) is off.
        os.environ["_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION"] = "1"
    try:
        said = get_command(app).main(words, "proxai", standalone_mode=False)
        return said if isinstance(said, Call) else int(said or 0)
    except SystemExit as left:
        if isinstance(left.__context__, OSError):  # Typer's answer where the reader of the help has gone
            raise BrokenPipeError from None
        raise
    except OSError as error:
        raise ProxaiError("not-written", f"stdout cannot be written: {(error.strerror or '').lower()}") from None
    except TyperException as error:
        context = getattr(error, "ctx", None)
        said = error.format_message()
        raise BadCall(said, context.info_name if context else "", _meant(said)) from None


def _top(version: Annotated[bool, typer.Option("--version", help="the version")] = False) -> None:
    """The version alone is told before Typer is loaded; beside a command it is the command's to tell."""


def _function(command: Command) -> Callable[..., Call]:
    """A function with the command's options as parameters, which is what Typer reads; it gives the call back."""

    def call(context: typer.Context, **values: Any) -> Call:
        words = values.pop("words")
        if command.words.most == 1:
            words = [words] if words else None
        sources = {name[:-1]: context.get_parameter_source(name) for name in values}
        given = {name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}
        return Call(command.name, list(words or ()), {name[:-1]: value for name, value in values.items()}, given)

    context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    parameters = [context, _words(command), *map(_parameter, command.options)]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    return call


def _words(command: Command) -> inspect.Parameter:
    kind = str | None if command.words.most == 1 else list[str] | None
    name = command.words.name + ("" if command.words.most == 1 else "...")
    said = typer.Argument(
        metavar=name, help=command.words.help, show_default=False, autocompletion=_offered(command.words.offers)
    )
    return _keyword("words", Annotated[kind, said], None)


def _parameter(option: Option) -> inspect.Parameter:
    spelled = [f"--{option.name}", *([f"-{option.short}"] if option.short else [])]
    kind: Any = str | None
    if option.counts:
        kind = int
    elif not option.metavar:
        kind = bool
    elif option.many:
        kind = list[str]
    elif option.choices:
        kind = Literal[option.choices] | None
    said = typer.Option(
        *spelled,
        help=f"{option.help}: {', '.join(option.choices)}" if option.choices else option.help,
        count=option.counts,
        metavar=option.metavar or None,
        show_default=option.default is not None,
        autocompletion=_offered(option.offers),
    )
    return _keyword(option.key + "_", Annotated[kind, said], option.start())


def _offered(name: str) -> Callable[[str], list[tuple[str, str]]] | None:
    """The function that lists what a shell may offer."""
    if not name:
        return None

    def offered(incomplete: str) -> list[tuple[str, str]]:
        from . import completion

        said: list[tuple[str, str]] = getattr(completion, name)(incomplete)
        return said

    return offered


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
