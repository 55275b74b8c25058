"""Write man/: proxai.1 from the commands and their options, proxai-reasons.7 from the codes, proxai-report.5 and
proxai.toml.5 from their schemas.

python -m tests.tools.make_man
"""

import textwrap
from collections import Counter
from pathlib import Path
from typing import Any

from proxai_cli import __version__, policy, text
from proxai_cli.cli.app import COMMANDS, command
from proxai_cli.cli.options import Command, Option
from proxai_cli.reasons import ERRORS, FINDINGS, REASONS
from proxai_cli.schemas import ours

RELEASED = "2026-11-30"
WIDTH = 78
FOLDER = Path(__file__).resolve().parents[2] / "man"
EXITS = (
    (0, "done, nothing reached --fail-on, every input was read"),
    (1, "done, something reached it"),
    (2, "wrong call or policy: unknown option, value, choice or rule"),
    (3, "an input was missing, unreadable, unrecognised, ambiguous, cut or not that protocol"),
    (4, "an output could not be written, or would have held what was to be redacted"),
    (70, "our mistake"),
    (130, "interrupted; what was finished is written"),
    (141, "the reader went away"),
)


def escaped(said: str) -> str:
    """Text that the formatter takes as text."""
    said = said.replace("\\", "\\e").replace("-", "\\-").replace("`", "").replace("'", "\\(aq").replace("…", "...")
    return "\\&" + said if said.startswith((".", "\\(aq")) else said


def page(lines: list[str]) -> str:
    """The lines as a page; those of text are broken where they are longer than a formatter's source should be."""
    broken = list[str]()
    verbatim = False
    for line in lines:
        verbatim = line == ".nf" or (verbatim and line != ".fi")
        if verbatim or line.startswith("."):
            broken.append(line)
        else:
            whole = textwrap.wrap(line, WIDTH, break_long_words=False, break_on_hyphens=False)
            broken += ["\\&" + part if part.startswith((".", "\\(aq")) else part for part in whole]
    return "\n".join(broken) + "\n"


def option(said: Option) -> list[str]:
    short = f"\\fB\\-{said.short}\\fR, " if said.short else ""
    value = f" \\fI{escaped(said.metavar)}\\fR" if said.metavar else ""
    words = f" ({', '.join(said.choices)})" if said.choices else ""
    default = f"; default {said.default}" if said.metavar and said.default else ""
    return [".TP", f"{short}\\fB\\-\\-{escaped(said.name)}\\fR{value}", escaped(f"{said.help}{words}{default}.")]


def common(commands: list[Command]) -> dict[str, Option]:
    """The options that mean the same in most commands; where their defaults differ, without one."""
    times = Counter(one._replace(default=None) for one in flat(commands))
    shared = [one for one, count in times.items() if 2 * count > len(commands)]
    defaults = {
        one.name: {each.default for each in flat(commands) if each._replace(default=None) == one} for one in shared
    }
    return {
        one.name: one._replace(default=defaults[one.name].pop() if len(defaults[one.name]) == 1 else None)
        for one in shared
    }


def flat(commands: list[Command]) -> list[Option]:
    return [option for each in commands for option in each.options]


def section(said: Command, shared: dict[str, Option]) -> list[str]:
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
        same = shared.get(each.name)
        if same is None or same._replace(default=None) != each._replace(default=None):
            lines += option(each)
        elif each.default != same.default:
            lines += [".PP", escaped(f"Its --{each.name} is {each.default} where it is not given.")]
    return lines


def proxai() -> str:
    """The page of all commands."""
    lines = [
        f'.TH PROXAI 1 "{RELEASED}" "proxai {__version__}" "User Commands"',
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
    commands = [command(name) for name in COMMANDS]
    shared = common(commands)
    for each in commands:
        lines += section(each, shared)
    lines.append(".SH OPTIONS THAT MEAN THE SAME EVERYWHERE")
    for one in shared.values():
        lines += option(one)
    lines += [".SH EXIT STATUS", "If several apply, the greatest counts."]
    for code, meaning in EXITS:
        lines += [".TP", f"\\fB{code}\\fR", escaped(f"{meaning}.")]
    lines += [".SH SEE ALSO", ".BR proxai\\-report (5),", ".BR proxai.toml (5),", ".BR proxai\\-reasons (7)"]
    return page(lines)


def reasons() -> str:
    """The page of all codes."""
    lines = [
        f'.TH PROXAI\\-REASONS 7 "{RELEASED}" "proxai {__version__}" "Miscellaneous"',
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
        lines += [
            ".TP",
            f"\\fB{escaped(code)}\\fR (exit {failure.exit})",
            escaped(f"{failure.text} Try: {failure.action}."),
        ]
    lines += [".SH SEE ALSO", ".BR proxai (1)"]
    return page(lines)


REPORT = (
    "Every command that tells what became of a capture can write a machine-readable report: --report FILE.json or "
    "--format json. In the form jsonl each item is a line of its own, and the last line holds the rest. A major version "
    "adds fields and codes, but renames and reuses none; readers must ignore reasons, findings and containers that they "
    "do not know. The report holds no words of a conversation unless --values full asks for them. This page is made "
    "from the JSON Schema that `proxai map --schema report` prints."
)
FORMS = (
    ("table, tree", "for the screen; coloured where that is a terminal"),
    ("lines", "a line for each change: file:line:column: level reason op source -> target: text"),
    ("json, jsonl", "the form of this page"),
    (
        "github",
        "annotations: notice for note, warning for loss, error for risk and unexplained; one for each fingerprint",
    ),
    ("gitlab", "code quality: info for note, minor for loss, major for risk and unexplained; one for each change"),
    ("sarif", "SARIF 2.1.0: note, warning, error; reasons are rules; at most 5000 results"),
    ("junit", "a capture is a case and a file a suite; loss and up are failures, unreadable inputs errors"),
    ("markdown", "a table for a comment, under 60 kB"),
    ("html", "one page without anything from outside: both documents side by side, streams as a timeline"),
)


def report() -> str:
    """The page of the report."""
    schema = ours("report")
    lines = [
        f'.TH PROXAI\\-REPORT 5 "{RELEASED}" "proxai {__version__}" "File Formats"',
        ".SH NAME",
        "proxai\\-report \\- the report that proxai writes",
        ".SH DESCRIPTION",
        escaped(REPORT),
        ".SH THE REPORT",
        *fields(schema),
    ]
    for name, said in schema["$defs"].items():
        if "properties" in said:
            lines += [f".SH {escaped(name.upper())}", escaped(sentence(said["description"])), *fields(said)]
    lines.append(".SH OTHER FORMS")
    for form, meaning in FORMS:
        lines += [".TP", f"\\fB{escaped(form)}\\fR", escaped(sentence(meaning))]
    lines += [".SH SEE ALSO", ".BR proxai (1),", ".BR proxai\\-reasons (7)"]
    return page(lines)


POLICY = (
    "A policy says how the changes and findings of a run are judged. It stands in proxai.toml, or in the table "
    "tool.proxai of pyproject.toml: the nearest one upwards from the working directory, but not above the repository; "
    "--config FILE names another, --no-config leaves it. Flags beat it. An unknown key is a mistake (exit 2). This page "
    "is made from the JSON Schema that `proxai map --schema policy` prints."
)
JUDGED = (
    "Each change and finding is judged once: by a rule that denies, else by one that allows, else by the baseline, else "
    "by --fail-on. What is denied fails the run whatever --fail-on and the baseline say. A rule fits if everything that "
    "it asks for holds; one that asks for nothing fits everything. Rules that fitted nothing, rules that expired and "
    "entries of the baseline that are not met any more are told. In patterns * is one step of a path or a part of one, "
    "and ** any number of steps."
)
KEPT = (
    "A baseline holds what is known, each by its fingerprint, one on a line, without files and captured values; "
    "`proxai diff --write-baseline` writes it, takes in whatever no rule judges, and strikes out what is not met any "
    "more. It is not written if any input failed. `proxai map --schema baseline` prints its schema."
)
EXAMPLE = """\
to = "messages"
fail-on = "loss"
inputs = ["captures/**/*.json", "captures/**/*.har"]
baseline = "proxai-baseline.json"
ignore = ["/metadata/trace_*"]

[set]
keep-reasoning = true

[[rule]]
id = "seed-is-only-for-tests"
effect = "allow"
reason = "no-equivalent"
path = "/seed"
from = "chat"
expires = 2027-06-30
why = "we only set it in tests"

[[rule]]
id = "never-lose-a-tool"
effect = "deny"
path = "/tools/**"
op = "dropped"
level = "loss"
"""


def toml() -> str:
    """The page of the policy file."""
    schema = policy.schema()
    lines = [
        f'.TH PROXAI.TOML 5 "{RELEASED}" "proxai {__version__}" "File Formats"',
        ".SH NAME",
        "proxai.toml \\- the policy of a project for proxai",
        ".SH DESCRIPTION",
        escaped(POLICY),
        ".SH KEYS",
        *fields(schema),
        ".SH RULES",
        "Each is a table [[rule]].",
        *fields(schema["$defs"]["rule"]),
        ".SH HOW IT JUDGES",
        escaped(JUDGED),
        ".SH THE BASELINE",
        escaped(KEPT),
        ".SH EXAMPLE",
        ".nf",
        *(escaped(line) for line in EXAMPLE.splitlines()),
        ".fi",
        ".SH SEE ALSO",
        ".BR proxai (1),",
        ".BR proxai\\-report (5),",
        ".BR proxai\\-reasons (7)",
    ]
    return page(lines)


def fields(schema: Any, above: str = "") -> list[str]:
    """The properties of an object, those of objects inside it behind it, each with its type and what it means."""
    lines: list[str] = []
    for name, said in schema["properties"].items():
        optional = "" if name in schema.get("required", ()) else ", optional"
        meaning = said.get("description") or "see " + said["$ref"].rpartition("/")[2]
        lines += [
            ".TP",
            f"\\fB{escaped(above + name)}\\fR ({escaped(kind(said))}{optional})",
            escaped(sentence(meaning)),
        ]
        if "properties" in said:
            lines += fields(said, f"{above}{name}.")
    return lines


def kind(said: Any) -> str:
    """The type of a value in words."""
    if "$ref" in said:
        return str(said["$ref"].rpartition("/")[2])
    if "anyOf" in said:
        return " or ".join(kind(one) for one in said["anyOf"])
    if "const" in said:
        return text.dumps(said["const"]).decode()
    if "enum" in said:
        return ", ".join(said["enum"])
    if said.get("type") == "array":
        return f"list of {kind(said['items'])}"
    named = said.get("type", "any value")
    return " or ".join(named) if isinstance(named, list) else str(named)


def sentence(said: str) -> str:
    """A description as a sentence."""
    return said[:1].upper() + said[1:].removesuffix(".") + "."


PAGES = {"proxai.1": proxai, "proxai-report.5": report, "proxai.toml.5": toml, "proxai-reasons.7": reasons}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
