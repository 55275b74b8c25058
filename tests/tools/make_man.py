"""Write man/: proxai.1 from the commands and their options, proxai-reasons.7 from the codes.

python -m tests.tools.make_man
"""

from pathlib import Path

from proxai_cli import __version__
from proxai_cli.cli.app import COMMANDS, command
from proxai_cli.cli.options import Command, Option
from proxai_cli.reasons import ERRORS, FINDINGS, REASONS

FOLDER = Path(__file__).resolve().parents[2] / "man"
EXITS = (
    (0, "done, nothing reached --fail-on, every input was read"),
    (1, "done, something reached it"),
    (2, "wrong call: unknown option, value or choice"),
    (3, "an input was missing, unreadable, unrecognised, ambiguous, cut or not that protocol"),
    (4, "an output could not be written"),
    (70, "our mistake"),
)


def escaped(said: str) -> str:
    """Text that the formatter takes as text."""
    said = said.replace("\\", "\\e").replace("-", "\\-").replace("`", "").replace("'", "\\(aq").replace("…", "...")
    return "\\&" + said if said.startswith((".", "\\(aq")) else said


def option(said: Option) -> list[str]:
    short = f"\\fB\\-{said.short}\\fR, " if said.short else ""
    value = f" \\fI{escaped(said.metavar)}\\fR" if said.metavar else ""
    words = f" ({', '.join(said.choices)})" if said.choices else ""
    default = f"; default {said.default}" if said.metavar and said.default else ""
    return [".TP", f"{short}\\fB\\-\\-{escaped(said.name)}\\fR{value}", escaped(f"{said.help}{words}{default}.")]


def section(said: Command) -> list[str]:
    lines = [
        f".SS proxai {said.name} [{said.words.name}] [OPTIONS]",
        escaped(said.summary),
        ".PP",
        "Examples:",
        ".PP",
        ".nf",
    ]
    lines += [escaped(example) for example in said.examples]
    lines += [".fi"]
    lines += [".PP", escaped(said.about)] if said.about else []
    for each in said.options:
        lines += option(each)
    return lines


def proxai() -> str:
    """The page of all commands."""
    lines = [
        f'.TH PROXAI 1 "" "proxai {__version__}" "User Commands"',
        ".SH NAME",
        "proxai \\- turn captured LLM traffic of one protocol into another, with an account of every field",
        ".SH SYNOPSIS",
        "\\fBproxai\\fR \\fICOMMAND\\fR [\\fICAPTURE\\fR ...] [\\fIOPTIONS\\fR]",
        ".SH DESCRIPTION",
        escaped(
            "The document goes to standard output, everything said about it to standard error. Protocols are chat "
            "(OpenAI Chat Completions), responses (OpenAI Responses) and messages (Anthropic Messages)."
        ),
        ".SH COMMANDS",
    ]
    for name in COMMANDS:
        lines += section(command(name))
    lines.append(".SH EXIT STATUS")
    for code, meaning in EXITS:
        lines += [".TP", f"\\fB{code}\\fR", escaped(f"{meaning}.")]
    lines += [".SH SEE ALSO", ".BR proxai\\-reasons (7)"]
    return "\n".join(lines) + "\n"


def reasons() -> str:
    """The page of all codes."""
    lines = [
        f'.TH PROXAI\\-REASONS 7 "" "proxai {__version__}" "Miscellaneous"',
        ".SH NAME",
        "proxai\\-reasons \\- what the codes of proxai mean",
        ".SH REASONS",
    ]
    for code, reason in REASONS.items():
        lines += [".TP", f"\\fB{escaped(code)}\\fR ({reason.level})", escaped(reason.text)]
    lines.append(".SH FINDINGS")
    for code, notice in FINDINGS.items():
        lines += [".TP", f"\\fB{escaped(code)}\\fR ({notice.level}, {notice.layer})", escaped(notice.text)]
    lines.append(".SH ERRORS")
    for code, failure in ERRORS.items():
        lines += [".TP", f"\\fB{escaped(code)}\\fR (exit {failure.exit})", escaped(failure.text)]
    lines += [".SH SEE ALSO", ".BR proxai (1)"]
    return "\n".join(lines) + "\n"


PAGES = {"proxai.1": proxai, "proxai-reasons.7": reasons}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
