"""The mapping as `proxai map` shows it: the two protocols' tables, the same that the code runs on, joined by terms."""

from collections.abc import Iterator
from typing import NamedTuple

from ..ir.terms import TERMS, term
from ..protocols import PROTOCOLS
from ..reasons import ERRORS, FINDINGS, REASONS, level
from ..tables import Field, Gap, Must, Nested, Protocol, Table, Word

# Kinds of nodes that only one kind of document holds; all others stand in requests and in replies.
ONLY = {
    "request": {
        "request",
        "turn",
        "function_tool",
        "custom_tool",
        "hosted_tool",
        "tool_choice",
        "format",
        "cache_mark",
        "tool_result",
    },
    "response": {"reply", "usage", "citation", "finish"},
    "error": {"error"},
}
WHOLE = ("request", "reply")
# Said of a key whose object or list is taken apart: the lines of its own tables tell where the parts go.
IN_PARTS = "(in parts)"


class Line(NamedTuple):
    """One name of the source: the kind of node and the table it stands in, its term, and what becomes of it."""

    kind: str
    place: str
    term: str
    there: str
    reason: str
    level: str
    meaning: str


def mapping(source: str, target: str, kind: str = "", field: str = "") -> Iterator[Line]:
    """Every rule of the source, joined with the target's by its term.

    `kind` narrows to a kind of document, `field` (a JSON Pointer, or its end) to a name.
    """
    wanted = [step for step in field.split("/") if step and step != "*" and not step.isdigit()]
    for name, table in PROTOCOLS[source].tables.items():
        if not _stands_in(table.kind, kind):
            continue
        for rule in table.rules:
            if isinstance(rule, Gap | Must):
                continue
            steps = _steps(name, table, rule.name)
            if wanted and steps[-len(wanted) :] != wanted:
                continue
            there, why = _there(PROTOCOLS[target], table.kind, rule.term)
            if isinstance(rule, Nested) and not there:
                there, why = IN_PARTS, ""
            said = term(rule.term)
            yield Line(
                table.kind,
                "/" + "/".join(steps),
                rule.term,
                there,
                why,
                level(why, said.steers) if why else "",
                said.meaning,
            )


def _stands_in(node: str, kind: str) -> bool:
    if not kind:
        return True
    kind = "response" if kind == "stream" else kind
    alone = {other for other, nodes in ONLY.items() if node in nodes}
    return kind in alone if alone else kind != "error"


def _steps(name: str, table: Table, field: str) -> list[str]:
    return [*([] if name == table.kind and name in (*WHOLE, "error") else name.split(".")), field]


def _there(target: Protocol, kind: str, said: str) -> tuple[str, str]:
    """Where the target has a term, or why it has not.

    What one protocol says of a whole request or reply, or in a kind of its own, another may say in another kind.
    """
    tables = [(name, table) for name, table in target.tables.items() if table.kind == kind]
    wider = [(name, table) for name, table in target.tables.items() if kind in WHOLE or table.kind in WHOLE]
    for name, table in [*tables, *(wider if kind in WHOLE or not tables else [])]:
        rule = table.by_term.get(said)
        if isinstance(rule, Field | Nested | Word):
            return "/" + "/".join(_steps(name, table, rule.name)), ""
    gaps = [rule.why for _, table in tables if isinstance(rule := table.by_term.get(said), Gap)]
    return "", gaps[0] if gaps else term(said).why if tables else ""


def protocols() -> list[tuple[str, str, str, str]]:
    """Name, title, kinds and number of rules of each protocol."""
    return [
        (
            name,
            each.title,
            ", ".join([*each.read, "stream"]),
            str(sum(len(table.rules) for table in each.tables.values())),
        )
        for name, each in PROTOCOLS.items()
    ]


class Code(NamedTuple):
    """A code in full: what it is said of, its level (or exit code), and its sentence."""

    code: str
    what: str
    level: str
    text: str


def codes() -> list[Code]:
    """Every reason, finding and error."""
    reasons = [Code(code, "reason", reason.level, reason.text) for code, reason in REASONS.items()]
    findings = [Code(code, f"finding, {notice.layer}", notice.level, notice.text) for code, notice in FINDINGS.items()]
    errors = [Code(code, "error", f"exit {failure.exit}", failure.text) for code, failure in ERRORS.items()]
    return [*reasons, *findings, *errors]


def explained(code: str) -> list[str]:
    """A code in full, and the terms that are lost for it; empty where there is no such code."""
    found = [each for each in codes() if each.code == code]
    told: list[str] = []
    for each in found:
        told += [f"{each.code} ({each.what}, {each.level}, since 0.1)", f"  {each.text}"]
    if code in REASONS and REASONS[code].level == "loss*":
        told.append(
            "  loss*: a risk for what steers the reply (instructions, content, tools, limits, sampling), else a loss."
        )
    lost = [name for name, each in TERMS.items() if each.why == code]
    if found and lost and code != "no-equivalent":
        told.append(f"  Said of: {', '.join(lost)}.")
    return told
