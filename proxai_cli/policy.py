"""Rules, baseline, and how a run is judged by them. Pure: values in, values out; today's date is handed in.

A policy is what `proxai.toml` holds. Its keys are described once, as data (`KEYS`, `RULE_KEYS`): by them a policy is
checked, and its JSON Schema is made. A baseline is a list of what is known. Source: `design/cli.md`, Policy.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime
from functools import cache
from typing import Any, NamedTuple

from . import text
from .errors import NotReadable, Place, ProxaiError, nearest
from .patterns import Glob, pointer_glob
from .protocols import PROTOCOLS
from .reasons import ERRORS, FINDINGS, LEVELS, REASONS, level
from .schemas import misfit, ours

BASELINE_FORM = 1
ALLOW, DENY = "allow", "deny"
NEW, KNOWN, ALLOWED, DENIED = "new", "known", "allowed", "denied"
# What a finding has for an op.
FOUND = "found"
KINDS = ("request", "response", "stream", "error")
# The conditions of a rule that ask for one word.
WORDS = ("op", "from", "to", "kind")
OPS = ("dropped", "changed", "synthesized", FOUND)


class Key(NamedTuple):
    """One key of a policy: what it takes (a name of `TAKES`), what it means, the words where only some are taken."""

    name: str
    takes: str
    meaning: str
    words: tuple[str, ...] = ()
    needed: bool = False


RULE_KEYS = (
    Key("id", "text", "the name of the rule in reports; without it `rule-1`, `rule-2` by its place"),
    Key("effect", "word", "whether what fits is forgiven, or fails the run whatever else holds", (ALLOW, DENY), True),
    Key("reason", "codes", "a reason or the code of a finding; `*` stands for any part of it"),
    Key("path", "pattern", "a JSON Pointer in source or target; `*` is one step or a part of one, `**` any number"),
    Key("op", "word", "only this op; `found` is that of a finding", OPS),
    Key("level", "word", "only this level or a higher one", LEVELS),
    Key("from", "word", "only from this protocol", tuple(PROTOCOLS)),
    Key("to", "word", "only to this protocol", tuple(PROTOCOLS)),
    Key("kind", "word", "only documents of this kind", KINDS),
    Key("file", "glob", "only these files, as seen from the folder of the policy; `*` and `**` as in `path`"),
    Key("expires", "date", "the day (UTC) from which the rule is off; SOURCE_DATE_EPOCH says another today"),
    Key("why", "text", "why it is so; a rule that allows must say it"),
)
KEYS = (
    Key("to", "word", "target protocol of a bare `proxai diff`", tuple(PROTOCOLS)),
    Key("inputs", "paths", "captures of a bare `proxai diff`, as seen from the folder of the policy; patterns too"),
    Key("fail-on", "word", "as --fail-on, for every command", (*LEVELS, "never")),
    Key("baseline", "path", "as --baseline, as seen from the folder of the policy"),
    Key("ignore", "patterns", "places that `proxai diff A B` does not look at"),
    Key("set", "choices", "mapping choices, as --set; `proxai map --choices` lists them"),
    Key("rule", "rules", "rules, each a table of its own"),
)


class Rule(NamedTuple):
    """One rule; a condition that is None fits everything, and `words` holds those that ask for one word. `level` is the
    lowest that it speaks of."""

    id: str
    effect: str
    words: dict[str, str]
    reason: Glob | None = None
    path: Glob | None = None
    file: Glob | None = None
    level: str = LEVELS[0]
    expires: date | None = None
    why: str = ""

    def fits(self, case: "Case") -> bool:
        """Does everything that it asks for hold?"""
        said = {"op": case.op, **dict(zip(WORDS[1:], case.pair, strict=True))}
        return (
            LEVELS.index(case.level) >= LEVELS.index(self.level)
            and all(said[name] == word for name, word in self.words.items())
            and (self.reason is None or self.reason.fits(case.reason))
            and (self.file is None or self.file.fits(case.file))
            and (self.path is None or any(self.path.fits(each) for each in case.paths if each is not None))
        )


class Policy(NamedTuple):
    """What a policy says; paths are as they stand in it."""

    to: str | None = None
    inputs: tuple[str, ...] = ()
    fail_on: str | None = None
    baseline: str | None = None
    ignore: tuple[str, ...] = ()
    choices: dict[str, str] = {}  # noqa: RUF012 (a NamedTuple's default; never written to)
    rules: tuple[Rule, ...] = ()


class Case(NamedTuple):
    """A change or finding as it is judged: its reason or code, its op, the pointers of source and target, those with
    `*` for positions, the pair (from, to, kind), the file, its level, its fingerprint, and how many leaves it is."""

    reason: str
    op: str
    paths: tuple[str | None, str | None]
    places: tuple[str | None, str | None]
    pair: tuple[str | None, str | None, str | None]
    file: str
    level: str
    fingerprint: str
    leaves: int = 1


class Judgement(NamedTuple):
    """The state of a case, and the rule that gave it."""

    state: str
    rule: str | None = None


class Known(NamedTuple):
    """One entry of a baseline; it holds no file and no captured value."""

    fingerprint: str
    reason: str
    source: str | None
    target: str | None
    pair: tuple[str | None, str | None, str | None]
    op: str
    leaves: int

    @property
    def said(self) -> dict[str, Any]:
        """The entry as it is written."""
        named = dict(zip(WORDS[1:], self.pair, strict=True))
        shared = {"reason": self.reason, "source": self.source, "target": self.target}
        return {"fingerprint": self.fingerprint, **shared, **named, "op": self.op, "count": self.leaves}

    @property
    def level(self) -> str:
        """The level of its reason; where that depends on the place, the lower one."""
        return FINDINGS[self.reason].level if self.reason in FINDINGS else level(self.reason)


class Judge:
    """Judges each case once: by a rule that denies, else one that allows, else the baseline; what is left is new.

    State: the rules that have fitted something, the entries that were met, and what was judged how.
    """

    def __init__(self, rules: Iterable[Rule] = (), known: Iterable[Known] = (), today: date | None = None) -> None:
        self.known = {entry.fingerprint: entry for entry in known}
        rules = list(rules)
        self.expired = [rule.id for rule in rules if rule.expires and today and today >= rule.expires]
        self._rules = [rule for rule in rules if rule.id not in self.expired]
        self._fitted: set[str] = set()
        self._met: set[str] = set()
        self._judged: dict[Case, Judgement] = {}
        self._leaves: Counter[Case] = Counter()

    def judged(self, case: Case) -> Judgement:
        """The state of a case."""
        key = case._replace(leaves=0)
        if key not in self._judged:
            self._judged[key] = self._first(case)
        self._leaves[key] += case.leaves
        return self._judged[key]

    @property
    def cases(self) -> Iterator[tuple[Case, Judgement]]:
        """All that was judged; what is equal but for its number of leaves is one."""
        return ((case._replace(leaves=self._leaves[case]), judgement) for case, judgement in self._judged.items())

    def _first(self, case: Case) -> Judgement:
        self._met.add(case.fingerprint)
        fitting = [rule for rule in self._rules if rule.fits(case)]
        self._fitted |= {rule.id for rule in fitting}
        for effect, state in ((DENY, DENIED), (ALLOW, ALLOWED)):
            for rule in fitting:
                if rule.effect == effect:
                    return Judgement(state, rule.id)
        return Judgement(KNOWN if case.fingerprint in self.known else NEW)

    @property
    def unused(self) -> list[str]:
        """The rules in force that fitted nothing."""
        return [rule.id for rule in self._rules if rule.id not in self._fitted]

    @property
    def gone(self) -> list[Known]:
        """The entries of the baseline that were not met."""
        return [entry for entry in self.known.values() if entry.fingerprint not in self._met]


# Baselines


def taken(cases: Iterable[tuple[Case, Judgement]]) -> list[Known]:
    """The baseline of today: whatever no rule judges, notes too, so that right after it nothing is new."""
    found: dict[str, Known] = {}
    for case, judgement in cases:
        if judgement.rule is None:
            entry = Known(case.fingerprint, case.reason, *case.places, case.pair, case.op, case.leaves)
            before = found.get(case.fingerprint)
            found[case.fingerprint] = entry._replace(leaves=entry.leaves + (before.leaves if before else 0))
    return sorted(found.values(), key=_order)


def _order(entry: Known) -> list[str]:
    return [part or "" for part in (*entry.pair, entry.reason, entry.op, entry.source, entry.target)]


def written(known: Iterable[Known]) -> bytes:
    """The text of a baseline: sorted, one entry on a line."""
    lines = b",".join(b"\n" + text.dumps(entry.said) for entry in sorted(known, key=_order))
    return b'{"proxai_baseline": %d, "known": [%s\n]}\n' % (BASELINE_FORM, lines)


def read_baseline(data: bytes) -> list[Known]:
    """The entries of a baseline. Raises `bad-policy` with the place that is not understood."""
    try:
        said = text.loads(data)
    except NotReadable as error:
        raise _bad(error.message, error.place, _ANEW) from None
    form = said.get("proxai_baseline") if isinstance(said, dict) else None
    if isinstance(form, int) and form > BASELINE_FORM:
        raise _bad(f"a newer proxai wrote this (form {form}, here {BASELINE_FORM})", Place(), "update proxai")
    place = misfit(said, ours("baseline"))
    if place is not None:
        raise _bad("this is no baseline of proxai", Place(pointer=place or None), _ANEW)
    return [
        Known(
            each["fingerprint"],
            each["reason"],
            each["source"],
            each["target"],
            (each["from"], each["to"], each["kind"]),
            each["op"],
            each["count"],
        )
        for each in said["known"]
    ]


_ANEW = "write it anew with --write-baseline"


# Reading a policy


def parsed(said: dict[str, Any], is_choice: Callable[[str, str], object] = lambda name, value: None) -> Policy:
    """A policy from what its file holds; `is_choice` raises `bad-call` for a mapping choice that is none.

    Raises `bad-policy` with the place (as a pointer) and the nearest name.
    """
    _known(said, KEYS, ())
    read = {key.name: TAKES[key.takes].read(said[key.name], key, (key.name,)) for key in KEYS if key.name in said}
    for name, value in read.get("set", {}).items():
        try:
            is_choice(name, value)
        except ProxaiError as error:
            raise _bad(error.message, _at(("set", name)), error.hint) from None
    rules = read.get("rule", ())
    for number, rule in enumerate(rules):
        if rule.id in [other.id for other in rules[:number]]:
            raise _bad(f"another rule has the id {rule.id!r}", _at(("rule", number, "id")), "give each its own")
    return Policy(
        read.get("to"),
        read.get("inputs", ()),
        read.get("fail-on"),
        read.get("baseline"),
        tuple(glob.said for glob in read.get("ignore", ())),
        read.get("set", {}),
        rules,
    )


Where = tuple[str | int, ...]


def _rule(said: Any, number: int) -> Rule:
    where: Where = ("rule", number)
    if not isinstance(said, dict):
        raise _bad("a rule is a table", _at(where), "[[rule]]")
    _known(said, RULE_KEYS, where)
    read = {
        key.name: TAKES[key.takes].read(said[key.name], key, (*where, key.name))
        for key in RULE_KEYS
        if key.name in said
    }
    missing = next((key for key in RULE_KEYS if key.needed and key.name not in read), None)
    if missing:
        raise _bad(f"a rule needs {missing.name!r}", _at(where), f'{missing.name} = "{missing.words[0]}"')
    if read["effect"] == ALLOW and "why" not in read:
        raise _bad("a rule that allows needs 'why'", _at(where), 'why = "…", for whoever reads it later')
    if "expires" in read:
        read["expires"] = date.fromisoformat(read["expires"])
    words: dict[str, str] = {name: read.pop(name) for name in WORDS if name in read}
    return Rule(read.pop("id", f"rule-{number + 1}"), read.pop("effect"), words, **read)


def _known(said: dict[str, Any], keys: tuple[Key, ...], where: Where) -> None:
    """Raises `bad-policy` for a key that is none of these."""
    names = [key.name for key in keys]
    for name in said:
        if name not in names:
            near = nearest(name, names)
            raise _bad(f"there is no key {name!r}", _at((*where, name)), f"{near} = …" if near else _listed(names))


def _listed(names: Iterable[str]) -> str:
    return "one of " + ", ".join(names)


def _bad(message: str, place: Place, hint: str = "") -> ProxaiError:
    return ProxaiError("bad-policy", message, place, hint or "proxai map --schema policy")


def _at(where: Where) -> Place:
    return Place(pointer=text.pointer(where))


def _text(said: Any, key: Key, where: Where) -> str:
    if not isinstance(said, str) or not said:
        raise _bad(f"{key.name!r} takes a text", _at(where), f'{key.name} = "…"')
    return said


def _texts(said: Any, key: Key, where: Where) -> tuple[str, ...]:
    if not isinstance(said, list):
        raise _bad(f"{key.name!r} takes a list", _at(where), f'{key.name} = ["…"]')
    for number, each in enumerate(said):
        if not isinstance(each, str) or not each:
            raise _bad(f"{key.name!r} takes a list of texts", _at((*where, number)), f'{key.name} = ["…"]')
    return tuple(said)


def _word(said: Any, key: Key, where: Where) -> str:
    if said not in key.words:
        near = nearest(said, key.words) if isinstance(said, str) else ""
        hint = f'{key.name} = "{near}"' if near else _listed(key.words)
        raise _bad(f"{key.name!r} takes {', '.join(key.words)}", _at(where), hint)
    return str(said)


def _glob(said: Any, key: Key, where: Where, make: Callable[[str], Glob] = Glob) -> Glob:
    pattern = _text(said, key, where)
    try:
        return make(pattern)
    except ValueError as error:
        raise _bad(f"a pattern {error}", _at(where), key.meaning) from None


def _pattern(said: Any, key: Key, where: Where) -> Glob:
    return _glob(said, key, where, pointer_glob)


def _patterns(said: Any, key: Key, where: Where) -> tuple[Glob, ...]:
    return tuple(_pattern(each, key, (*where, number)) for number, each in enumerate(_texts(said, key, where)))


def _codes(said: Any, key: Key, where: Where) -> Glob:
    """A glob that fits at least one code, for one that fits none is mistyped."""
    glob, codes = _glob(said, key, where), [*REASONS, *FINDINGS, *ERRORS]
    if not any(glob.fits(code) for code in codes):
        near = nearest(said, codes)
        hint = f'{key.name} = "{near}"' if near else "proxai map --reasons"
        raise _bad(f"no reason or finding is called {said!r}", _at(where), hint)
    return glob


def _date(said: Any, key: Key, where: Where) -> str:
    """A day, as TOML has it or as text."""
    try:
        if isinstance(said, datetime) or not isinstance(said, (date, str)):
            raise ValueError
        day = str(said)
        if not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", day):
            raise ValueError
        return date.fromisoformat(day).isoformat()
    except ValueError:
        raise _bad(f"{key.name!r} takes a day", _at(where), f"{key.name} = 2027-06-30") from None


def _choices(said: Any, key: Key, where: Where) -> dict[str, str]:
    """Values as `--set` takes them: true and 4096 are words there."""
    if not isinstance(said, dict):
        raise _bad(f"{key.name!r} is a table", _at(where), f"[{key.name}]")
    read = {}
    for name, value in said.items():
        if not isinstance(value, (str, bool, int)):
            raise _bad(
                "a mapping choice takes a text, a number, true or false", _at((*where, name)), "proxai map --choices"
            )
        read[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return read


def _rules(said: Any, key: Key, where: Where) -> tuple[Rule, ...]:
    if not isinstance(said, list):
        raise _bad(f"{key.name!r} is a list of tables", _at(where), f"[[{key.name}]]")
    return tuple(_rule(each, number) for number, each in enumerate(said))


class Taking(NamedTuple):
    """How a value is read, and the JSON Schema of it."""

    read: Callable[[Any, Key, Where], Any]
    schema: dict[str, Any]


_SOME_TEXT = {"type": "string", "minLength": 1}
_SOME_POINTER = {"type": "string", "pattern": "^/"}
TAKES: dict[str, Taking] = {
    "text": Taking(_text, _SOME_TEXT),
    "path": Taking(_text, _SOME_TEXT),
    "paths": Taking(_texts, {"type": "array", "items": _SOME_TEXT}),
    "word": Taking(_word, {}),
    "glob": Taking(_glob, _SOME_TEXT),
    "codes": Taking(_codes, _SOME_TEXT),
    "pattern": Taking(_pattern, _SOME_POINTER),
    "patterns": Taking(_patterns, {"type": "array", "items": _SOME_POINTER}),
    "date": Taking(_date, {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}),
    "choices": Taking(_choices, {"type": "object", "additionalProperties": {"type": ["string", "boolean", "integer"]}}),
    "rules": Taking(_rules, {"type": "array", "items": {"$ref": "#/$defs/rule"}}),
}


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of a policy, as `proxai.toml` or the table `tool.proxai` holds it (a day as its text)."""
    rule = _table(RULE_KEYS) | {
        "if": {"properties": {"effect": {"const": ALLOW}}, "required": ["effect"]},
        "then": {"required": ["why"]},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:proxai:policy:1",
        "title": "proxai policy",
        **_table(KEYS),
        "$defs": {"rule": rule},
    }


def _table(keys: tuple[Key, ...]) -> dict[str, Any]:
    properties = {
        key.name: {
            **TAKES[key.takes].schema,
            **({"enum": list(key.words)} if key.words else {}),
            "description": key.meaning,
        }
        for key in keys
    }
    needed = [key.name for key in keys if key.needed]
    return {
        "type": "object",
        **({"required": needed} if needed else {}),
        "additionalProperties": False,
        "properties": properties,
    }
