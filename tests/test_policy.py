"""Policies: patterns, rules, baselines; how a run is judged by them; and reports that are added up."""

import tomllib
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from proxai_cli import policy, text
from proxai_cli.cli import schemas
from proxai_cli.errors import ProxaiError
from proxai_cli.patterns import Glob, pointer_glob
from proxai_cli.policy import KEYS, RULE_KEYS, Case, Judge, Known, parsed, read_baseline, taken, written
from proxai_cli.schemas import ours

from .calls import Done, answered
from .tools.make_man import EXAMPLE

REQUEST = {
    "model": "gpt-x",
    "messages": [{"role": "user", "content": "words that are private"}],
    "seed": 7,
    "presence_penalty": 0.5,
    "metadata": {"team": "a"},
}
RULE = '\n[[rule]]\nid = "{}"\neffect = "{}"\n'
SEED = RULE.format("seed", "allow") + 'path = "/seed"\nwhy = "tests only"\n'
POLICY = 'to = "messages"\ninputs = ["captures/**/*.json"]\nbaseline = "known.json"\n'

Proxai = Callable[..., Done]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one capture, which is the working directory."""
    (tmp_path / ".git").mkdir()
    put(tmp_path / "captures" / "a.json", REQUEST)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    return tmp_path


@pytest.fixture
def proxai(home: Path) -> Proxai:
    return lambda *words, stdin=b"": answered(list(words), stdin, home)


def put(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(value.encode() if isinstance(value, str) else text.dumps(value))


def without(*keys: str) -> dict[str, Any]:
    return {key: value for key, value in REQUEST.items() if key not in keys}


def states(done: Done) -> dict[str, str]:
    """Of a report on the screen the state of each change, by the place in the source or target."""
    return {
        change["source"] or change["target"]: change["state"]
        for item in done.value["items"]
        for change in item["changes"]
    }


# Patterns


@pytest.mark.parametrize(
    ("pattern", "fits", "fits_not"),
    [
        ("/seed", ["/seed"], ["/seeds", "/seed/0", ""]),
        ("/messages/*/content", ["/messages/3/content", "/messages/*/content"], ["/messages/content"]),
        ("/metadata/trace_*", ["/metadata/trace_id", "/metadata/trace_"], ["/metadata/trace", "/metadata/trace_a/b"]),
        ("/tools/**", ["/tools", "/tools/0", "/tools/0/function/name"], ["/tool", "/a/tools"]),
        ("/**/name", ["/name", "/tools/0/name"], ["/names", "/tools/0/name/x"]),
        ("/a/**/b/**/c", ["/a/b/c", "/a/x/b/b/y/c"], ["/a/c/b", "/a/b"]),
        ("/**", ["", "/a", "/a/b"], []),
        ("/**/**/a", ["/a", "/b/a"], ["/ab"]),
        ("/a?[b]", ["/a?[b]"], ["/ab", "/axb", "/a1[b]", "/a?b"]),
        ("/a~1b", ["/a~1b"], ["/a/b"]),
        ("/0", ["/0"], ["/*"]),
    ],
)
def test_a_pattern_means(pattern: str, fits: list[str], fits_not: list[str]) -> None:
    glob = pointer_glob(pattern)
    assert [path for path in fits + fits_not if glob.fits(path)] == fits


@pytest.mark.parametrize("pattern", ["seed", "", "/a**", "/a/**b/c"])
def test_a_pattern_that_means_nothing(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"whole step|begins with"):
        pointer_glob(pattern)


def test_a_long_path_costs_no_more_than_its_length() -> None:
    assert not Glob("/**/a/**/a/**/a/**/a/**/b").fits("/a" * 2000)
    assert not Glob("/*a*a*a*a*a*b").fits("/" + "a" * 2000)


# Rules


def case(**said: Any) -> Case:
    known: dict[str, Any] = {
        "reason": "no-equivalent", "op": "dropped", "paths": ("/tools/0/strict", None), "places": ("/tools/*/strict", None),
        "pair": ("chat", "messages", "request"), "file": "captures/a.json", "level": "risk", "fingerprint": "0" * 16,
    }  # fmt: skip
    return Case(**known | said)


@pytest.mark.parametrize(
    ("said", "fits"),
    [
        ({}, True),
        ({"reason": "no-*"}, True),
        ({"reason": "*"}, True),
        ({"reason": "foreign-*"}, False),
        ({"path": "/tools/**"}, True),
        ({"path": "/tools"}, False),
        ({"op": "dropped", "from": "chat", "to": "messages", "kind": "request"}, True),
        ({"op": "changed"}, False),
        ({"level": "loss"}, True),
        ({"level": "risk"}, True),
        ({"level": "unexplained"}, False),
        ({"from": "messages"}, False),
        ({"to": "chat"}, False),
        ({"kind": "stream"}, False),
        ({"file": "captures/**"}, True),
        ({"file": "*.json"}, False),
        ({"path": "/tools/**", "file": "other/**"}, False),
    ],
)
def test_a_rule_fits_if_all_that_it_asks_for_holds(said: dict[str, str], fits: bool) -> None:
    rule = parsed({"rule": [{"effect": "deny", **said}]}).rules[0]
    assert rule.fits(case()) is fits


def test_a_path_is_one_of_source_or_target() -> None:
    rule = parsed({"rule": [{"effect": "deny", "path": "/max_tokens"}]}).rules[0]
    assert rule.fits(case(paths=(None, "/max_tokens"))) and rule.fits(case(paths=("/a", "/max_tokens")))
    assert not rule.fits(case(paths=("/a", None)))


DENY, ALLOW = {"id": "no", "effect": "deny"}, {"id": "yes", "effect": "allow", "why": "so"}
KNOWN = Known("0" * 16, "no-equivalent", "/tools/*/strict", None, ("chat", "messages", "request"), "dropped", 1)


@pytest.mark.parametrize(
    ("rules", "known", "state", "rule"),
    [
        ([], [], "new", None),
        ([], [KNOWN], "known", None),
        ([], [KNOWN._replace(fingerprint="1" * 16)], "new", None),
        ([ALLOW], [KNOWN], "allowed", "yes"),
        ([ALLOW, DENY], [KNOWN], "denied", "no"),
        ([{**ALLOW, "path": "/a"}, {**DENY, "path": "/b"}], [], "new", None),
        ([{**DENY, "expires": "2027-01-01"}, ALLOW], [], "allowed", "yes"),
    ],
)
def test_a_case_is_judged_once_in_one_order(rules: list[Any], known: list[Known], state: str, rule: str | None) -> None:
    judge = Judge(parsed({"rule": rules}).rules, known, date(2027, 1, 1))
    assert judge.judged(case()) == (state, rule)


@pytest.mark.parametrize(("day", "expired"), [(date(2027, 6, 29), []), (date(2027, 6, 30), ["yes"]), (None, [])])
def test_a_rule_is_off_from_its_day_on(day: date | None, expired: list[str]) -> None:
    judge = Judge(parsed({"rule": [{**ALLOW, "expires": date(2027, 6, 30)}]}).rules, (), day)
    assert judge.expired == expired
    assert judge.judged(case()).state == ("new" if expired else "allowed")


def test_what_did_nothing_is_known() -> None:
    rules = parsed({"rule": [ALLOW, {**DENY, "path": "/b"}, {**ALLOW, "id": "old", "expires": "2020-01-01"}]}).rules
    judge = Judge(rules, [KNOWN, KNOWN._replace(fingerprint="1" * 16)], date(2027, 1, 1))
    judge.judged(case())
    assert judge.unused == ["no"] and judge.expired == ["old"]
    assert [entry.fingerprint for entry in judge.gone] == ["1" * 16]


def test_a_rule_that_another_one_beats_has_fitted_all_the_same() -> None:
    judge = Judge(parsed({"rule": [ALLOW, DENY]}).rules)
    judge.judged(case())
    assert not judge.unused


# What a policy may say

RIGHT = {
    "to": "messages", "inputs": ["captures/**"], "fail-on": "risk", "baseline": "b.json", "ignore": ["/metadata/trace_*"],
    "set": {"keep-reasoning": True, "max-tokens": 10},
    "rule": [{
        "id": "a", "effect": "allow", "reason": "no-*", "path": "/a/**", "op": "found", "level": "loss", "from": "chat", "to": "messages",
        "kind": "request", "file": "*.json", "expires": "2027-06-30", "why": "so",
    }],
}  # fmt: skip


def test_every_key_is_read_and_in_the_schema() -> None:
    assert {key.name for key in KEYS} == RIGHT.keys() and {key.name for key in RULE_KEYS} == RIGHT["rule"][0].keys()
    said = parsed(RIGHT)
    assert said.choices == {"keep-reasoning": "true", "max-tokens": "10"} and said.rules[0].expires == date(2027, 6, 30)
    assert said.fail_on == "risk" and said.ignore == ("/metadata/trace_*",)
    jsonschema.Draft202012Validator.check_schema(policy.schema())
    jsonschema.Draft202012Validator(policy.schema()).validate(RIGHT)


def test_the_example_of_the_manual_page_is_a_policy() -> None:
    said = parsed(tomllib.loads(EXAMPLE))
    assert [rule.effect for rule in said.rules] == ["allow", "deny"] and said.rules[0].expires == date(2027, 6, 30)


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"too": "chat"}, "/too", "to"),
    ({"to": "chats"}, "/to", "chat"),
    ({"to": 1}, "/to", "messages"),
    ({"inputs": "captures"}, "/inputs", "["),
    ({"inputs": ["a", 1]}, "/inputs/1", "inputs"),
    ({"fail-on": "los"}, "/fail-on", "loss"),
    ({"baseline": ""}, "/baseline", "baseline"),
    ({"ignore": ["metadata"]}, "/ignore/0", ""),
    ({"set": ["a"]}, "/set", "[set]"),
    ({"set": {"a": [1]}}, "/set/a", "--choices"),
    ({"rule": {"effect": "deny"}}, "/rule", "[[rule]]"),
    ({"rule": ["deny"]}, "/rule/0", "[[rule]]"),
    ({"rule": [{"path": "/a"}]}, "/rule/0", "effect"),
    ({"rule": [{"effect": "forbid"}]}, "/rule/0/effect", "allow"),
    ({"rule": [{"effect": "allow", "path": "/a"}]}, "/rule/0", "why"),
    ({"rule": [DENY, {"effect": "deny", "pth": "/a"}]}, "/rule/1/pth", "path"),
    ({"rule": [{"effect": "deny", "path": "a"}]}, "/rule/0/path", ""),
    ({"rule": [{"effect": "deny", "path": "/a**"}]}, "/rule/0/path", ""),
    ({"rule": [{"effect": "deny", "file": "a**"}]}, "/rule/0/file", ""),
    ({"rule": [{"effect": "deny", "op": "drop"}]}, "/rule/0/op", "dropped"),
    ({"rule": [{"effect": "deny", "kind": "requests"}]}, "/rule/0/kind", "request"),
    ({"rule": [{"effect": "deny", "expires": "30.6.2027"}]}, "/rule/0/expires", "2027-06-30"),
    ({"rule": [{"effect": "deny", "expires": "2027-02-30"}]}, "/rule/0/expires", "2027-06-30"),
    ({"rule": [{"effect": "deny", "expires": 2027}]}, "/rule/0/expires", "2027-06-30"),
    ({"rule": [DENY, DENY]}, "/rule/1/id", ""),
]  # fmt: skip
# What the schema, which knows no lists of codes and no other rules, cannot see.
UNSEEN: list[tuple[dict[str, Any], str, str]] = [
    ({"rule": [{"effect": "deny", "reason": "no-equivalnt"}]}, "/rule/0/reason", "no-equivalent"),
    ({"rule": [{"effect": "deny", "reason": "nothing-like-it-*"}]}, "/rule/0/reason", "--reasons"),
]


@pytest.mark.parametrize(("said", "place", "hint"), WRONG + UNSEEN)
def test_a_mistake_is_told_with_its_place_and_what_to_say(said: dict[str, Any], place: str, hint: str) -> None:
    with pytest.raises(ProxaiError) as raised:
        parsed(said)
    error = raised.value
    assert (error.code, error.place.pointer) == ("bad-policy", place)
    assert hint in error.hint and error.hint


def test_the_schema_refuses_what_is_refused() -> None:
    check = jsonschema.Draft202012Validator(policy.schema())
    for_rules_alone = ("a**", "2027-02-30")
    passed = [said for said, *_ in WRONG if check.is_valid(said)]
    assert all(any(word in str(said) for word in for_rules_alone) or said == {"rule": [DENY, DENY]} for said in passed)


# Finding the policy


@pytest.mark.parametrize(
    ("files", "cwd", "found"),
    [
        ({"proxai.toml": SEED}, ".", "proxai.toml"),
        ({"proxai.toml": SEED}, "captures", "../proxai.toml"),
        ({"pyproject.toml": "[tool.proxai]\n" + SEED.replace("[[rule", "[[tool.proxai.rule")}, ".", "pyproject.toml"),
        ({"pyproject.toml": "[tool]\nproxai = {to = 'chat'}\n"}, ".", "pyproject.toml"),
        ({"pyproject.toml": "[tool.other]\nproxai = 1\n", "proxai.toml": SEED}, "captures", "../proxai.toml"),
        ({"pyproject.toml": "[project]\nname = 'proxai'\n"}, ".", None),
        ({"pyproject.toml": "[tool.proxai]\n", "proxai.toml": ""}, ".", "proxai.toml"),
        ({"proxai.toml": "", "captures/pyproject.toml": "[tool.proxai]\n"}, "captures", "pyproject.toml"),
        ({"../proxai.toml": SEED}, ".", None),
        ({}, ".", None),
    ],
)
def test_the_nearest_policy_counts_but_none_above_the_repository(
    home: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], cwd: str, found: str | None
) -> None:
    inner = home / "repository"
    (inner / ".git").mkdir(parents=True)
    put(inner / "captures" / "a.json", REQUEST)
    for name, said in files.items():
        put(inner / name, said)
    monkeypatch.chdir(inner / cwd)
    words = ["diff", str(inner / "captures" / "a.json"), "--to", "messages", "--format", "json"]
    done = answered(words, b"", home)
    assert done.value["verdict"].get("policy") == found
    assert "policy" not in answered([*words, "--no-config"], b"", home).value["verdict"]


@pytest.mark.parametrize(
    ("said", "first", "hint"),
    [
        ('to = "chat"\n\nfail-onn = "loss"\n', "p.toml:3 (at /fail-onn): there is no key 'fail-onn'", "fail-on = …"),
        (SEED + RULE.format("b", "deny") + 'pth = "/a"\n', "p.toml:11 (at /rule/1/pth): there is no key", "path = …"),
        (SEED + RULE.format("b", "allow"), "p.toml:8 (at /rule/1): a rule that allows needs 'why'", "why = "),
        ('[set]\nkeep-resoning = true\n', "p.toml:2 (at /set/keep-resoning): --set knows no choice", "keep-reasoning"),
        ('[set]\nkeep-reasoning = "maybe"\n', "p.toml:2 (at /set/keep-reasoning): --set keep-reasoning takes", "--set"),
        ('to = "chat"\nbaseline = \n', "p.toml:2:12: it is no TOML", "--schema policy"),
        ('to = "chat', "p.toml", "--schema policy"),
    ],
)  # fmt: skip
def test_a_mistake_names_file_and_line(proxai: Proxai, home: Path, said: str, first: str, hint: str) -> None:
    put(home / "p.toml", said)
    done = proxai("diff", "captures", "--to", "messages", "--config", "p.toml")
    assert done.code == 2 and done.out == b""
    assert done.err.startswith(f"proxai: error[bad-policy] {first}")
    assert hint in done.err.splitlines()[-1]


@pytest.mark.parametrize(
    "words",
    [
        ["--config", "none.toml"],
        ["--config", "pyproject.toml"],
        ["--baseline", "none.json"],
        ["--baseline", "captures/a.json"],
        ["--baseline", "cut.json"],
        ["--config", "broken.toml"],
    ],
)
def test_a_file_that_is_no_policy_or_baseline(proxai: Proxai, home: Path, words: list[str]) -> None:
    put(home / "pyproject.toml", "[project]\nname = 'a'\n")
    put(home / "cut.json", '{"proxai_baseline": 1, "known": [')
    (home / "broken.toml").write_bytes(b'to = "\xff"\n')
    done = proxai("diff", "captures", "--to", "messages", *words)
    assert done.code == 2 and done.err.startswith(f"proxai: error[bad-policy] {words[1]}")
    assert "private" not in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--config", "proxai.toml", "--no-config"], "do not go together"),
        (["--write-baseline"], "needs a place"),
        (["--write-baseline", "--baseline", "-"], "needs a place"),
        (["--merge"], "leave --to out"),
    ],
)
def test_a_call_that_contradicts_itself(proxai: Proxai, home: Path, words: list[str], message: str) -> None:
    put(home / "proxai.toml", "")
    done = proxai("diff", "captures", "--to", "messages", *words)
    assert done.code == 2 and message in done.err


# A run under a policy


def diff(proxai: Proxai, *words: str) -> Done:
    return proxai("diff", "captures", "--to", "messages", "--format", "json", *words)


def test_an_allowed_change_does_not_count(proxai: Proxai, home: Path) -> None:
    put(home / "captures" / "a.json", without("presence_penalty", "metadata"))
    assert diff(proxai).code == 1
    put(home / "proxai.toml", SEED)
    done = diff(proxai)
    assert done.code == 0 and states(done)["/seed"] == "allowed"
    change = next(each for each in done.value["items"][0]["changes"] if each["source"] == "/seed")
    assert change["rule"] == "seed" and done.value["totals"]["allowed"] == 1


@pytest.mark.parametrize("words", [[], ["--fail-on", "never"], ["--baseline", "known.json", "--write-baseline"]])
def test_a_denied_change_counts_whatever_else_holds(proxai: Proxai, home: Path, words: list[str]) -> None:
    assert diff(proxai, "--baseline", "known.json", "--write-baseline").code == 0
    put(
        home / "proxai.toml",
        RULE.format("all", "allow") + 'why = "so"\n' + RULE.format("no", "deny") + 'path = "/seed"\n',
    )
    done = diff(proxai, "--baseline", "known.json", *words)
    assert done.code == 1 and states(done)["/seed"] == "denied"
    assert set(states(done).values()) == {"denied", "allowed"}
    assert proxai("convert", "captures/a.json", "--to", "messages").code == 1


def test_a_denied_finding_counts_too(proxai: Proxai, home: Path) -> None:
    put(
        home / "captures" / "a.json",
        '{"model": "m", "seed": 1, "seed": 1, "messages": [{"role": "user", "content": "a"}]}',
    )
    put(home / "proxai.toml", RULE.format("no", "deny") + 'reason = "twice-*"\nop = "found"\n')
    done = diff(proxai, "--fail-on", "never")
    found = done.value["items"][0]["findings"][0]
    assert done.code == 1 and (found["code"], found["state"]) == ("twice-the-same-key", "denied")


def test_expired_and_unused_rules_are_told(proxai: Proxai, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = RULE.format("old", "allow") + 'path = "/seed"\nwhy = "so"\nexpires = 2027-06-30\n'
    put(home / "proxai.toml", rule + RULE.format("idle", "deny") + 'path = "/tools/**"\n')
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1814227200")  # 2027-06-29, 2027-06-30 begins 86 400 seconds later
    before = diff(proxai)
    assert states(before)["/seed"] == "allowed" and "expired_rules" not in before.value["verdict"]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1814313600")
    done = proxai("diff", "captures", "--to", "messages", "--format", "lines")
    assert "proxai: note: proxai.toml: 1 rule expired (old)\n" in done.err
    assert "proxai: note: proxai.toml: 1 rule fitted nothing (idle)\n" in done.err
    verdict = diff(proxai).value["verdict"]
    assert verdict["expired_rules"] == ["old"] and verdict["unused_rules"] == ["idle"]
    assert "::notice title=proxai::" in proxai(
        "diff", "captures", "--to", "messages", "--format", "none", "--report", "github:-"
    ).out.decode().splitlines()[-1]  # fmt: skip
    assert "fitted nothing" not in proxai("convert", "captures/a.json", "--to", "messages").err


def test_a_wrong_time_of_the_build_is_a_mistake(proxai: Proxai, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(home / "proxai.toml", RULE.format("old", "deny") + "expires = 2027-06-30\n")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    assert diff(proxai).code == 2


def test_flags_beat_the_policy(proxai: Proxai, home: Path) -> None:
    put(home / "proxai.toml", 'fail-on = "never"\n[set]\nmax-tokens = 10\n')
    assert diff(proxai).code == 0 and diff(proxai, "--fail-on", "loss").code == 1
    assert diff(proxai, "--fail-on=loss").code == 1
    words = ["convert", "captures/a.json", "--to", "messages"]
    assert proxai(*words).value["max_tokens"] == 10
    assert proxai(*words, "--set", "max-tokens=20").value["max_tokens"] == 20
    assert proxai(*words, "--no-config").value["max_tokens"] == 4096


def test_a_level_that_is_given_is_known_to_be_given_however_the_call_is_read(proxai: Proxai, home: Path) -> None:
    """`-tmessages` is left to Typer, which must tell what was given, too."""
    put(home / "proxai.toml", 'fail-on = "never"\n')
    assert proxai("diff", "captures", "-tmessages", "--format", "none").code == 0
    assert proxai("diff", "captures", "-tmessages", "--format", "none", "--fail-on", "loss").code == 1


def test_a_file_is_named_as_the_policy_sees_it(proxai: Proxai, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(home / "proxai.toml", RULE.format("a", "allow") + 'file = "captures/*.json"\nwhy = "so"\n')
    for cwd, name in ((home, "captures/a.json"), (home, "./captures/a.json"), (home / "captures", "a.json")):
        monkeypatch.chdir(cwd)
        assert proxai("diff", name, "--to", "messages").code == 0


def test_a_bare_diff_takes_target_and_inputs(proxai: Proxai, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(home / "proxai.toml", 'to = "messages"\ninputs = ["captures/**/*.json", "captures/**/*.har"]\n')
    put(home / "captures" / "deep" / "b.json", REQUEST)
    done = proxai("diff", "--format", "json")
    assert done.code == 1
    assert [item["input"]["path"] for item in done.value["items"]] == ["captures/a.json", "captures/deep/b.json"]
    assert "no file matches captures/**/*.har" in done.err
    monkeypatch.chdir(home / "captures")
    there = proxai("diff", "--format", "json").value
    assert [item["input"]["path"] for item in there["items"]] == ["../captures/a.json", "../captures/deep/b.json"]
    assert there["verdict"]["policy"] == "../proxai.toml"


def test_inputs_of_which_none_is_there_are_told_with_the_policy(proxai: Proxai, home: Path) -> None:
    put(home / "proxai.toml", 'to = "messages"\ninputs = ["nowhere/**/*.json"]\n')
    done = proxai("diff")
    assert done.code == 3 and not done.out
    assert "proxai.toml" in done.err and "`inputs`" in done.err and "nowhere/**/*.json" in done.err


def test_only_a_diff_needs_the_baseline_that_a_policy_names(proxai: Proxai, home: Path) -> None:
    put(home / "proxai.toml", POLICY)
    for words in (
        ["inspect", "captures"],
        ["validate", "captures"],
        ["convert", "captures/a.json", "--to", "messages"],
    ):
        assert proxai(*words).code == 0
    done = proxai("diff")
    assert done.code == 2 and "known.json: there is no such baseline yet" in done.err
    assert "try: proxai diff --write-baseline\n" in done.err
    assert proxai("diff", "--write-baseline").code == 0 and proxai("diff").code == 0


def test_target_and_inputs_count_for_a_bare_diff_only(proxai: Proxai, home: Path) -> None:
    put(home / "proxai.toml", 'to = "messages"\ninputs = ["captures/*.json"]\n')
    assert proxai("diff", "--to", "responses", "--format", "json", stdin=text.dumps(REQUEST)).value["items"][0][
        "input"
    ]["path"] == "-"  # fmt: skip
    done = proxai("diff", "captures/a.json", "captures/a.json", "--format", "json")
    assert done.code == 0 and done.value["items"][0]["target"]["protocol"] == "chat"
    assert proxai("convert", "captures/a.json").code == 2


def test_what_a_policy_ignores_is_not_compared(proxai: Proxai, home: Path) -> None:
    put(home / "other.json", {**REQUEST, "metadata": {"team": "a", "trace_id": "b"}})
    words = ["diff", "captures/a.json", "other.json", "--format", "json"]
    assert proxai(*words).code == 1
    put(home / "proxai.toml", 'ignore = ["/metadata/trace_*"]\n')
    done = proxai(*words)
    assert done.code == 0 and "/metadata/trace_id" not in states(done)
    assert proxai(*words, "--no-config").code == 1


def test_inputs_of_which_none_is_there(proxai: Proxai, home: Path) -> None:
    put(home / "proxai.toml", 'to = "messages"\ninputs = ["nowhere/*.json", "nowhere/*.har"]\n')
    assert proxai("diff").code == 3


# Baselines


def test_a_baseline_is_written_judged_by_and_grows_old(proxai: Proxai, home: Path) -> None:
    put(home / "proxai.toml", POLICY + SEED)
    done = proxai("diff", "--write-baseline", "-v")
    assert done.code == 0
    *lines, last = done.out.decode().splitlines()
    assert [line.split()[:4] for line in lines] == [
        ["+", "risk", "no-equivalent", "dropped"],
        ["+", "loss", "no-equivalent", "dropped"],
        ["+", "note", "default-max-tokens", "synthesized"],
    ]
    assert lines[0].endswith("/presence_penalty  chat -> messages request  1 leaf")
    assert last == "known.json: 3 known (+3 -0) from 1 capture"

    again = proxai("diff", "--format", "json")
    assert again.code == 0 and again.value["totals"]["new"] == 0
    assert states(again) == {
        "/seed": "allowed",
        "/presence_penalty": "known",
        "/metadata/team": "known",
        "/max_tokens": "known",
    }
    assert again.value["verdict"]["baseline"] == "known.json"

    put(home / "captures" / "a.json", {**without("metadata"), "logit_bias": {"42": -100}})
    now = proxai("diff", "--format", "json")
    assert now.code == 1 and states(now)["/logit_bias"] == "new" and len(now.value["verdict"]["gone"]) == 1
    assert "gone from known.json: no-equivalent dropped /metadata/team chat -> messages request" in now.err

    done = proxai("diff", "--write-baseline")
    assert done.code == 0 and "gone" not in done.err
    plus, minus, last = done.out.decode().splitlines()
    assert plus.startswith("+ risk  no-equivalent  dropped  /logit_bias")
    assert minus.startswith("- loss  no-equivalent  dropped  /metadata/team") and minus.endswith("(not met any more)")
    assert last == "known.json: 3 known (+1 -1) from 1 capture"
    assert proxai("diff", "--write-baseline").out == b"known.json: 3 known (+0 -0) from 1 capture\n"
    (home / "known.json").unlink()
    *lines, notes, last = proxai("diff", "--write-baseline").out.decode().splitlines()
    assert len(lines) == 2 and notes == "+ 1 note, in which nothing is lost (-v lists them)"


def test_more_of_what_is_known_is_told_and_does_not_count(proxai: Proxai, home: Path) -> None:
    words = ["--baseline", "known.json", "--format", "none"]
    assert diff(proxai, *words, "--write-baseline").code == 0 and "more than" not in diff(proxai, *words).err
    put(home / "captures" / "b.json", REQUEST)
    done = diff(proxai, *words)
    assert done.code == 0 and [line for line in done.err.splitlines() if "more than" in line] == [
        f"proxai: note: known, but more than before: {place} (2 leaves, 1 in the baseline)"
        for place in ("/metadata/team", "/presence_penalty", "/seed")
    ]
    many = {**REQUEST, "metadata": {f"key_{number}": "a" for number in range(8)}}
    put(home / "captures" / "a.json", many)
    (home / "captures" / "b.json").unlink()
    assert diff(proxai, *words, "--write-baseline").code == 0
    put(home / "captures" / "b.json", many)
    told = [line for line in diff(proxai, *words).err.splitlines() if "more than" in line]
    assert len(told) == 6 and told[-1].startswith("proxai: note: 5 more are known")
    assert "more than" not in diff(proxai, *words, "--write-baseline").err


def test_a_baseline_is_as_promised(proxai: Proxai, home: Path) -> None:
    proxai("diff", "captures", "--to", "messages", "--baseline", "known.json", "--write-baseline")
    data = (home / "known.json").read_bytes()
    said = text.loads(data)
    jsonschema.Draft202012Validator(ours("baseline")).validate(said)
    first, *lines, last = data.decode().splitlines()
    assert (first, last) == ('{"proxai_baseline": 1, "known": [', "]}") and len(lines) == len(said["known"]) == 4
    assert list(said["known"][0]) == ["fingerprint", "reason", "source", "target", "from", "to", "kind", "op", "count"]
    assert b"private" not in data and b"a.json" not in data
    assert written(read_baseline(data)) == data
    assert written(reversed(read_baseline(data))) == data


def test_captures_that_are_moved_or_grow_change_nothing(proxai: Proxai, home: Path) -> None:
    words = ["--to", "messages", "--baseline", "known.json", "--format", "none"]
    more = {**REQUEST, "messages": [REQUEST["messages"][0], {"role": "user", "content": "more"}]}
    put(home / "captures" / "a.json", more | {"metadata": {"team": "b"}})
    assert proxai("diff", "captures", *words, "--write-baseline").code == 0
    (home / "captures" / "a.json").rename(home / "elsewhere.json")
    done = proxai("diff", "elsewhere.json", *words)
    assert done.code == 0 and done.err == ""


def test_a_baseline_knows_findings_too(proxai: Proxai, home: Path) -> None:
    put(home / "captures" / "a.json", '{"model": "m", "a": 1, "a": 1, "messages": [{"role": "user", "content": "a"}]}')
    words = ["--baseline", "known.json"]
    assert diff(proxai, *words, "--write-baseline").code == 0
    entry = next(each for each in text.loads((home / "known.json").read_bytes())["known"] if each["op"] == "found")
    assert entry["reason"] == "twice-the-same-key"
    done = diff(proxai, *words)
    assert done.code == 0 and done.value["items"][0]["findings"][0]["state"] == "known"


@pytest.mark.parametrize("words", [[], ["--on-error", "skip"]])
def test_a_baseline_is_not_written_if_any_input_failed(proxai: Proxai, home: Path, words: list[str]) -> None:
    put(home / "captures" / "b.json", "no json")
    done = diff(proxai, "--baseline", "known.json", "--write-baseline", *words)
    assert done.code == 3 and not (home / "known.json").exists()
    assert "known.json is left as it was" in done.err
    put(home / "known.json", written([KNOWN]).decode())
    done = diff(proxai, "--baseline", "known.json", "--write-baseline", *words)
    assert read_baseline((home / "known.json").read_bytes()) == [KNOWN]
    assert "gone" not in done.value["verdict"]


def test_a_baseline_that_cannot_be_written(proxai: Proxai, home: Path) -> None:
    done = diff(proxai, "--baseline", "captures/a.json/known.json", "--write-baseline")
    assert done.code == 4 and "error" in done.err


def test_a_baseline_may_be_a_link_or_begin_with_a_mark(proxai: Proxai, home: Path) -> None:
    (home / "link.json").symlink_to("known.json")
    assert diff(proxai, "--baseline", "link.json", "--write-baseline").code == 0
    assert (home / "link.json").is_symlink() and read_baseline((home / "known.json").read_bytes())
    for coding in ("utf-8-sig", "utf-16"):
        (home / "marked.json").write_text((home / "known.json").read_text(), coding)
        assert diff(proxai, "--baseline", "marked.json").code == 0


def test_reports_that_a_redirect_wrote_are_added_up(proxai: Proxai, home: Path) -> None:
    report = diff(proxai, "--fail-on", "never").out.decode()
    for coding in ("utf-8-sig", "utf-16"):
        (home / "r.json").write_text(report, coding)
        assert proxai("diff", "--merge", "r.json", "--fail-on", "never").code == 0


def test_why_a_sum_is_not_whole_is_said(proxai: Proxai, home: Path) -> None:
    put(home / "captures" / "b.json", "{")
    (home / "r.json").write_bytes(diff(proxai, "--fail-on", "never", "--on-error", "skip").out)
    done = proxai("diff", "--merge", "r.json", "--fail-on", "never")
    assert done.code == 3 and "r.json: that run could not do all of its work (exit code 3)" in done.err


@pytest.mark.parametrize("place", ["captures", "/dev/full"])
def test_a_baseline_that_is_no_file_is_not_read_before_it_is_written(proxai: Proxai, home: Path, place: str) -> None:
    done = diff(proxai, "--baseline", place, "--write-baseline")
    assert done.code == 4 and "not-written" in done.err


def test_a_newer_baseline_is_told_as_that(proxai: Proxai, home: Path) -> None:
    put(home / "newer.json", {"proxai_baseline": 2, "known": []})
    done = proxai("diff", "captures", "--to", "messages", "--baseline", "newer.json")
    assert done.code == 2 and "a newer proxai wrote this" in done.err and "update proxai" in done.err


def test_a_policy_that_leads_nowhere_is_not_passed_over(proxai: Proxai, home: Path) -> None:
    (home / "proxai.toml").symlink_to("none.toml")
    done = diff(proxai)
    assert done.code == 2 and "bad-policy" in done.err


def test_a_baseline_never_takes_the_place_of_a_capture_or_a_report(proxai: Proxai, home: Path) -> None:
    capture = next((home / "captures").iterdir())
    before = capture.read_bytes()
    assert diff(proxai, "--baseline", f"captures/{capture.name}", "--write-baseline").code == 2
    assert capture.read_bytes() == before
    # A baseline that lies among the captures is none of them.
    put(home / "captures" / "known.json", written([KNOWN]).decode())
    assert diff(proxai, "--baseline", "captures/known.json", "--write-baseline").code == 0
    words = ["--baseline", "known.json", "--write-baseline", "--report", "known.json"]
    assert diff(proxai, *words).code == 2 and not (home / "known.json").exists()


def test_what_a_baseline_takes_in_is_one_for_each_fingerprint() -> None:
    judge = Judge(parsed({"rule": [{**ALLOW, "path": "/a"}]}).rules)
    judge.judged(case(leaves=2))
    judge.judged(case(leaves=3, paths=("/tools/7/strict", None)))
    judge.judged(case(fingerprint="1" * 16, paths=("/a", None)))
    assert taken(judge.cases) == [KNOWN._replace(leaves=5)]


# The table


def test_the_table_by_file_and_by_path(proxai: Proxai, home: Path) -> None:
    put(home / "proxai.toml", SEED)
    put(home / "captures" / "b.json", REQUEST)
    words = ["diff", "captures", "--to", "messages", "--by"]
    by_file = proxai(*words, "file").out.decode()
    assert (
        "│ captures/a.json │         1 │             │    1 │    2 │    1 │" in by_file and "captures/b.json" in by_file
    )
    by_path = proxai(*words, "path").out.decode()
    assert [line.split()[1] for line in by_path.splitlines() if line.startswith("│")] == [
        "/max_tokens", "/metadata/team", "/presence_penalty", "/seed",
    ]  # fmt: skip
    assert "allowed" in by_path and by_path.splitlines()[-1] == "2 new, 1 allowed, 1 note"
    assert "│ state" not in proxai(*words, "reason", "--no-config").out.decode()
    assert "allowed" in proxai(*words, "reason").out.decode()


# Reports added up


def reports(proxai: Proxai, home: Path) -> list[str]:
    """Reports of runs over some captures each, and last the one of a run over all of them."""
    stream = 'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[%s]}\n\n'
    put(
        home / "captures" / "b" / "lines.jsonl",
        "\n".join([text.dumps({**REQUEST, "metadata": {"7": "a"}}).decode()] * 2),
    )
    put(
        home / "captures" / "c.sse",
        stream % '{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}'
        + stream % '{"index":0,"delta":{},"finish_reason":"stop"}'
        + "data: [DONE]\n\n",
    )
    names = []
    for words, name in (
        (["captures/c.sse"], "c.jsonl"),
        (["captures/a.json"], "a.json"),
        (["captures/b"], "b.json"),
        (["captures"], "all.json"),
    ):
        assert proxai("diff", *words, "--to", "messages", "--report", name, "--format", "none").code in (0, 1)
        names.append(name)
    return names


def test_reports_added_up_are_the_report_of_one_run(proxai: Proxai, home: Path) -> None:
    *parts, whole = reports(proxai, home)
    one = text.loads((home / whole).read_bytes())
    assert len(one["items"]) == 4
    for names in (parts, parts[::-1], parts[1:] + parts[:1], [whole]):
        assert proxai("diff", "--merge", *names, "--format", "json").value == one


def test_the_report_of_a_comparison_comes_back_as_it_was(proxai: Proxai, home: Path) -> None:
    put(home / "other.json", {**REQUEST, "seed": 8})
    done = proxai("diff", "captures/a.json", "other.json", "--format", "json", "--report", "r.json")
    assert done.code == 1 and proxai("diff", "--merge", "r.json", "--format", "json").out == done.out


def test_reports_added_up_are_judged_as_one(proxai: Proxai, home: Path) -> None:
    parts = reports(proxai, home)[:-1]
    put(home / "proxai.toml", POLICY + SEED)
    assert proxai("diff", "--merge", *parts, "--no-config").code == 1
    done = proxai("diff", "--merge", *parts, "--write-baseline")
    assert done.code == 0 and done.out.splitlines()[-1].endswith(b"from 4 captures")
    merged = (home / "known.json").read_bytes()
    assert proxai("diff", "--merge", *parts, "--format", "none").code == 0
    proxai("diff", "captures", "--to", "messages", "--write-baseline", "-q")
    assert (home / "known.json").read_bytes() == merged
    assert proxai("diff", "--merge", "a.json", "--format", "json").value["verdict"]["gone"]


def test_what_a_run_could_not_look_at_is_not_looked_at_in_the_sum(proxai: Proxai, home: Path) -> None:
    put(home / "bad.json", "no json")
    assert proxai("diff", "bad.json", "--to", "messages", "--report", "r.json", "--format", "none").code == 3
    done = proxai("diff", "--merge", "r.json", "--format", "json", "--fail-on", "never")
    assert done.code == 3 and done.value["verdict"]["complete"] is False


def test_what_is_no_report_is_told_and_the_rest_is_added_up(proxai: Proxai, home: Path) -> None:
    whole = reports(proxai, home)[-1]
    said = text.loads((home / whole).read_bytes())
    put(home / "cut.jsonl", (home / "c.jsonl").read_text().splitlines()[0])
    put(home / "other.json", {**said, "proxai_report": 2})
    put(home / "open.json", {**said, "more": "words that are private"})
    wrong = text.loads((home / whole).read_bytes())
    wrong["items"][0]["counts"]["source"]["leaves"] += 1
    put(home / "wrong.json", wrong)
    moved = text.loads((home / whole).read_bytes())
    moved["items"][0]["changes"][0]["source"] = "/elsewhere"
    put(home / "moved.json", moved)
    for name in ("captures/a.json", "cut.jsonl", "other.json", "open.json", "wrong.json", "moved.json", "none.json"):
        done = proxai("diff", "--merge", name, whole, "--format", "json")
        assert done.code == 3, name
        assert len(done.value["items"]) == len(said["items"]) + 1 and not done.value["verdict"]["complete"]
        assert "private" not in done.err and name in done.err


# Schemas


@pytest.mark.parametrize("name", schemas.names())
def test_every_schema_is_one_and_stands_alone(proxai: Proxai, name: str) -> None:
    done = proxai("map", "--schema", name)
    assert done.code == 0
    jsonschema.Draft202012Validator.check_schema(done.value)
    jsonschema.Draft202012Validator(done.value).is_valid({"a": [{}]})
    named = [each for each in references(done.value) if not each.startswith("#/$defs/")]
    assert not named and {each[8:] for each in references(done.value)} <= done.value.get("$defs", {}).keys()


def references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*map(references, value.values()))
    return set().union(*map(references, value)) if isinstance(value, list) else set()


def test_a_schema_that_there_is_not(proxai: Proxai) -> None:
    done = proxai("map", "--schema", "chat.reqest")
    assert done.code == 2 and "chat.request" in done.err


def test_a_schema_of_a_kind_accepts_and_refuses(proxai: Proxai) -> None:
    check = jsonschema.Draft202012Validator(proxai("map", "--schema", "chat.request").value)
    assert check.is_valid(REQUEST) and not check.is_valid({**REQUEST, "messages": "none"})


SIDES: list[tuple[Any, list[str]]] = [
    (REQUEST, []),
    (REQUEST, ["--set", "max-tokens=7"]),
    ({"method": "POST", "url": "https://a.example/v1/chat/completions", "headers": {}, "body": REQUEST}, []),
    ({"error": {"message": "no", "type": "invalid_request_error", "param": None, "code": None}}, ["--from", "chat", "--kind", "error"]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "words"), SIDES)
def test_side_files_are_what_their_schema_says(proxai: Proxai, home: Path, source: Any, words: list[str]) -> None:
    put(home / "in.json", source)
    done = proxai("convert", "in.json", "--to", "messages", "--side", "side.json", "-o", "out.json", *words)
    assert done.code == 0, done.err
    said = text.loads((home / "side.json").read_bytes())
    check = jsonschema.Draft202012Validator(proxai("map", "--schema", "side").value)
    check.validate(said)
    assert set(said) == set(proxai("map", "--schema", "side").value["required"])
    assert not check.is_valid({**said, "target_digest": "x"})


def test_a_baseline_schema_can_refuse() -> None:
    check = jsonschema.Draft202012Validator(ours("baseline"))
    said = {"proxai_baseline": 1, "known": [KNOWN.said]}
    assert check.is_valid(said)
    assert not check.is_valid({**said, "known": [{**KNOWN.said, "file": "a.json"}]})
