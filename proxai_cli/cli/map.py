"""`proxai map`: the mapping itself: the table for a pair of protocols, one field of it, or one code in full."""

import re
from collections.abc import Sequence
from functools import partial

from .. import text
from ..errors import ProxaiError, nearest
from ..report import grid, mapping
from ..translate import translate
from . import pager, screen
from .choices import CHOICES
from .options import KIND_WORDS, PAGER, PROTOCOL_WORDS, SPEAKING, Call, Command, Option, Words

CODE_HEADS = ("code", "what", "level", "what that means", "what to do", "since")
FORMS = ("auto", "table", "json", "markdown")


def run(call: Call) -> int:
    """Print what was asked for."""
    if call.schema:
        from .schemas import schema

        screen.out(schema(call.schema))
    elif call.choices:
        rows = [
            (name, each.default, ", ".join([*each.values, each.free]).strip(", "), each.text)
            for name, each in CHOICES.items()
        ]
        _print(call, ("choice", "default", "values", "what it decides"), rows)
    elif call.reasons:
        _print(call, CODE_HEADS[:4], [each[:4] for each in mapping.codes()])
    elif not call.words:
        _print(call, ("protocol", "is", "kinds", "rules"), mapping.protocols())
    elif len(call.words) == 1:
        _explain(call, call.words[0])
    else:
        _pair(call, *call.words)
    return 0


def _explain(call: Call, code: str) -> None:
    if code in PROTOCOL_WORDS:
        other = next(word for word in PROTOCOL_WORDS if word != code)
        raise ProxaiError("bad-call", "the mapping is that of a pair of protocols", hint=f"proxai map {code} {other}")
    if code.startswith("/"):
        hint = f"proxai map {' '.join(PROTOCOL_WORDS[::2])} --field {code}"
        raise ProxaiError("bad-call", "a field is one of a protocol, on the way to another", hint=hint)
    told = mapping.explained(code)
    if not told:
        near = nearest(code, [each.code for each in mapping.codes()])
        raise ProxaiError("bad-call", f"there is no code {code!r}", hint=f"proxai map {near or '--reasons'}")
    found = [each for each in mapping.codes() if each.code == code]
    if call.format in ("json", "markdown"):
        _print(call, CODE_HEADS, found)
        return
    named = dict.fromkeys(name for each in found for name in re.findall("--set ([a-z-]+)=", each.text))
    told += [f"  --set {name}: {CHOICES[name].text} (default {CHOICES[name].default})" for name in named]
    pager.show("".join(line + "\n" for line in told).encode(), not call.no_pager)


def _pair(call: Call, source: str, target: str) -> None:
    for name in (source, target):
        if name not in PROTOCOL_WORDS:
            raise ProxaiError(
                "bad-call", f"there is no protocol {name!r}", hint=f"proxai map {' '.join(PROTOCOL_WORDS[::2])}"
            )
    found = mapping.mapping(source, target, translate, call.kind or "", call.field or "")
    if call.field and not found:
        raise ProxaiError("bad-call", f"{source} has no field {call.field!r}", hint=f"proxai map {source} {target}")
    heads = ["kind", "of", source, target, "reason", "level", "note"]
    for_people = call.format != "json"
    rows = [[line.kind, line.types if for_people else ", ".join(line.of), *line[2:], line.note] for line in found]
    if call.format in ("auto", "table") and not call.field:
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    _print(call, heads, rows)


def _print(call: Call, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if call.format == "json":
        screen.out(text.dumps([dict(zip(heads, row, strict=True)) for row in rows], indent=2) + b"\n")
        return
    for_people = grid.markdown if call.format == "markdown" else partial(grid.grid, width=screen.room())
    lines = for_people(heads, rows)
    pager.show("".join(line + "\n" for line in lines).encode(), not call.no_pager)


COMMAND = Command(
    "map",
    "The mapping: the table for a pair, one field, or one code in full.",
    ("proxai map chat messages --kind request --field /reasoning_effort", "proxai map no-equivalent"),
    Words("WHAT", "SOURCE TARGET, or a code", most=2, offers="what_is_mapped"),
    (
        Option("kind", "only this kind of document", "", "K", KIND_WORDS),
        Option("field", "only this field, as a JSON Pointer", "", "POINTER"),
        Option("reasons", "every reason, finding and error"),
        Option("choices", "the mapping choices of --set"),
        Option("schema", "a JSON Schema: report, policy, baseline, side, or P.KIND", "", "NAME", offers="schemas"),
        Option("format", "form of the output", "", "FORM", FORMS, "auto"),
        PAGER,
        *SPEAKING,
    ),
    run,
)
