"""The report: sums, changes, fingerprints, forms; and that it says what its schema asks for."""

import hashlib
from typing import Any

import jsonschema
import pytest

from proxai_cli import PROTOCOLS, Pipe, explode, text, translate
from proxai_cli.ledger import CARRIED, CHANGED, DROPPED, SYNTHESIZED, Entry, size
from proxai_cli.reasons import ERRORS, FINDINGS, REASONS
from proxai_cli.report import json, mapping
from proxai_cli.report.account import (
    Change,
    Counts,
    Item,
    Report,
    Side,
    Verdict,
    changes_of,
    counts_of,
    described,
    finding,
    fingerprint,
    groups,
    levels_of,
    pattern,
    pointer,
    rows_of_body,
    rows_of_collected,
    rows_of_exploded,
    rows_of_stream,
    with_values,
)
from proxai_cli.report.console import formed as as_table
from proxai_cli.report.examples import examples
from proxai_cli.report.forms import Shown
from proxai_cli.report.grid import grid, wrapped
from proxai_cli.report.json import Unbalanced
from proxai_cli.report.lines import changes, safe, summary, sums
from proxai_cli.report.markdown import LIMIT
from proxai_cli.report.markdown import formed as as_markdown
from proxai_cli.schemas import names, ours
from proxai_cli.tables import Field, Nested, Word, rules

from .tools.make_showings import PLACE, showings

SCHEMA = jsonschema.Draft202012Validator(ours("report"))
REQUEST = {
    "model": "m",
    "messages": [{"role": "user", "content": "words that are private"}],
    "seed": 7,
    "temperature": 1.5,
    "metadata": {"team": "other secret"},
}
PAIR = ("chat", "messages", "request")


def item(source: Any = REQUEST, how: str = "short", **more: Any) -> Item:
    done = translate(source, "chat", "messages", "request")
    rows = list(rows_of_body(done.ledger.entries))
    changes = with_values(changes_of(rows), source, done.value, how, frozenset({"user"}))
    sides = Side("chat", "request", "certain", ("has seed",)), Side("messages", "request")
    counts = counts_of(rows, size(source), size(done.value))
    return Item("req.json", "json", *sides, counts=counts, changes=tuple(changes))._replace(**more)


def run(*items: Item, exit: int = 0) -> Report:
    return Report("convert", list(items), Verdict(exit, True, "never"), "0.1.0")


def markdown(*items: Item) -> str:
    return as_markdown(run(*items), Shown()).decode()


def table(*items: Item, **shown: Any) -> str:
    return as_table(run(*items), Shown(**shown)).decode()


def report(*items: Item, exit: int = 0) -> dict[str, Any]:
    return json.data(run(*items, exit=exit))


def test_a_report_is_what_its_schema_asks_for() -> None:
    jsonschema.Draft202012Validator.check_schema(ours("report"))
    found = item(findings=(finding("seq-gap", "/a", {"event": 3}), finding("bad-json", place={"line": 1, "column": 2})))
    said = text.loads(json.document(run(found, Item("-", "unknown", status="failed")), Shown()))
    SCHEMA.validate(said)
    lines = list(json.lines(run(found), Shown()))
    assert len(lines) == 2 and "proxai_report" in text.loads(lines[1]) and "items" not in text.loads(lines[1])


def test_the_schema_can_refuse() -> None:
    said = report(item())
    said["items"][0]["changes"][0]["source"] = "no pointer"
    with pytest.raises(jsonschema.ValidationError):
        SCHEMA.validate(said)


def test_sums_obey_the_first_law() -> None:
    counts = item().counts
    assert counts is not None and counts.balanced
    assert counts.source["leaves"] == size(REQUEST)
    wrong = Counts(counts.source | {"leaves": counts.source["leaves"] + 1}, counts.target)
    assert not wrong.balanced
    with pytest.raises(Unbalanced):
        report(item(counts=wrong))


def test_changes_of_a_body_have_exact_pointers() -> None:
    said = {(each["op"], each["source"], each["target"]): each for each in report(item())["items"][0]["changes"]}
    assert said["dropped", "/seed", None]["before"] == {"type": "number", "value": 7}
    assert said["changed", "/temperature", "/temperature"]["after"] == {"type": "number", "value": 1}
    assert said["synthesized", None, "/max_tokens"]["reason"] == "default-max-tokens"
    assert not any(each["reason"] == "carried" or each["op"] == CARRIED for each in said.values())


ENTRIES = [
    Entry(DROPPED, ("a", 0, "x/y~z"), None, "no-equivalent", "loss", 3, 0),
    Entry(CHANGED, ("b",), ("c", 1), "respelled", "note", 1, 1),
    Entry(CHANGED, ("b",), ("d",), "refusal-text", "note", 0, 1),
    Entry(CHANGED, ("e",), ("c", 1), "merged-boundary", "loss", 1, 0),
    Entry(SYNTHESIZED, None, ("m",), "made-id", "note", 0, 2),
    Entry(CARRIED, ("k",), ("k",), None, None, 5, 5),
]


def test_counts_are_leaves() -> None:
    found = changes_of(rows_of_body(ENTRIES))
    assert [(change.op, change.leaves) for change in found] == [
        (DROPPED, 3), (CHANGED, 1), (CHANGED, 1), (CHANGED, 1), (SYNTHESIZED, 2),
    ]  # fmt: skip
    assert levels_of(found) == {"note": 4, "loss": 4, "risk": 0, "unexplained": 0}
    assert counts_of(rows_of_body(ENTRIES), 10, 9) == Counts(
        {"leaves": 10, "carried": 5, "changed": 2, "dropped": 3},
        {"leaves": 9, "carried": 5, "changed": 2, "synthesized": 2},
    )
    assert pointer(found[0].source) == "/a/0/x~1y~0z" and pattern(found[0].source) == "/a/*/x~1y~0z"


def test_a_fingerprint_is_what_it_is_said_to_be() -> None:
    change = Change(DROPPED, ("messages", 3, "content", 0, "text"), None, "no-equivalent", "risk", 1)
    said = '["chat","messages","request","dropped","no-equivalent","/messages/*/content/*/text",null]'
    assert fingerprint(PAIR, change) == hashlib.sha256(said.encode()).hexdigest()[:16]
    assert fingerprint(PAIR, change._replace(source=("messages", 9, "content", 1, "text"))) == fingerprint(PAIR, change)
    assert fingerprint(PAIR, change._replace(source=("messages",))) != fingerprint(PAIR, change)
    assert fingerprint(("chat", "responses", "request"), change) != fingerprint(PAIR, change)


def test_a_stream_is_told_by_patterns_and_events() -> None:
    account = {
        (DROPPED, ("chunk", "choices", "*", "index"), None, "position", "note"): [5, 0, 0, 4],
        (DROPPED, ("other", "choices", "*", "index"), None, "position", "note"): [2, 0, 6, 7],
        (SYNTHESIZED, None, ("message_start", "type"), "stream-shape", "note"): [0, 1, 0, 0],
        (CARRIED, ("chunk", "id"), ("message_start", "message", "id"), None, None): [1, 1, 0, 0],
    }
    found = changes_of(rows_of_stream(account, {}, {}))
    assert [(pointer(change.source), change.leaves, change.events) for change in found] == [
        ("/choices/*/index", 7, (1, 8)),
        (None, 1, (1, 1)),
    ]


def test_one_side_of_a_collected_or_exploded_document_is_a_stream() -> None:
    entry = Entry(CHANGED, (11, "choices", 0, "delta"), ("content", 0, "text"), "pieces-joined", "note", 1, 1)
    change = changes_of(rows_of_collected([entry, entry._replace(source=(4, "choices", 0, "delta"))]))[0]
    assert (pointer(change.source), pointer(change.target), change.events) == (
        "/choices/*/delta",
        "/content/0/text",
        (5, 12),
    )
    done = explode(REPLY, "messages", "chat")
    rows = list(rows_of_exploded(done.ledger.entries))
    assert all(row.events for row in rows if row.target)
    assert {pointer(change.target) for change in changes_of(rows)} >= {"/choices/*/finish_reason", None}


REPLY = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "Hello you"}],
    "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 3, "output_tokens": 2},
}  # fmt: skip

VALUES = [
    (None, "short", {"type": "null"}),
    (True, "short", {"type": "boolean", "value": True}),
    (7, "short", {"type": "number", "value": 7}),
    (text.loads("1e400"), "short", {"type": "number", "value": text.loads("1e400")}),
    ("user", "short", {"type": "string", "size": 4, "value": "user"}),
    ("private", "short", {"type": "string", "size": 7}),
    ("private", "full", {"type": "string", "size": 7, "value": "private"}),
    (["private"], "short", {"type": "array", "size": 1}),
    ({"a": 1}, "full", {"type": "object", "size": 1, "value": {"a": 1}}),
]


@pytest.mark.parametrize(("value", "how", "said"), VALUES)
def test_values_are_told_as_they_may_be(value: Any, how: str, said: Any) -> None:
    assert described(value, how, frozenset({"user"})) == said


def test_captured_text_stays_out_unless_asked_for() -> None:
    for how, there in (("none", False), ("short", False), ("full", True)):
        assert (b"other secret" in json.document(run(item(how=how)), Shown())) is there, how
    assert "before" not in report(item(how="none"))["items"][0]["changes"][0]


def test_totals_count_leaves_and_findings() -> None:
    found = item(findings=(finding("seq-gap"), finding("no-done")))
    said = report(found, Item("x", "unknown", status="failed", findings=(finding("bad-json"),)), exit=3)
    levels = levels_of(found.changes)
    assert said["totals"]["levels"] == levels | {"risk": levels["risk"] + 2, "note": levels["note"] + 1}
    assert (said["totals"]["items"], said["totals"]["failed"], said["totals"]["skipped"]) == (2, 1, 0)


def test_the_summary_names_losses_and_the_way_to_all() -> None:
    lines = summary(item(), "proxai diff req.json --to messages")
    assert lines[0] == "req.json: chat request -> messages (certain: has seed)"
    assert [line.split()[:3] for line in lines[1:-1]] == [
        ["risk", "clamp-temperature", "changed"],
        ["loss", "no-equivalent", "dropped"],
        ["note", "default-max-tokens", "synthesized"],
    ]
    assert lines[-1].endswith("; details: proxai diff req.json --to messages")
    assert any("respelled" in line or "evidence" in line for line in summary(item(), verbose=True))


def test_the_lines_of_a_summary_add_up_to_its_sums() -> None:
    both = Counts(
        {"leaves": 10, "carried": 4, "changed": 3, "dropped": 3},
        {"leaves": 9, "carried": 4, "changed": 3, "synthesized": 2},
    )
    found = item(counts=both, changes=changes_of(rows_of_body(ENTRIES)))
    told = summary(found)
    assert [line.split(maxsplit=1)[1] for line in told if line.startswith("  note")][-1] == (
        "2 leaves in which nothing is lost (-v)"
    )
    assert "nothing is lost" in told[-2] and told[-1].startswith("source 10 = ")
    assert "nothing is lost (-v)" not in "".join(summary(found, verbose=True))
    assert "nothing is lost" not in "".join(summary(found._replace(changes=found.changes[:1])))


PLACES = [
    ([("stop", 1)], {"/stop/1": 2}),
    ([("stop", 1), ("stop", 1)], {"/stop/1": 4}),
    ([("stop", 1), ("seed",), ("stop", 0)], {"/stop/*": 4, "/seed": 2}),
    ([("stop", "*")], {"/stop/*": 2}),
]


@pytest.mark.parametrize(("paths", "told"), PLACES)
def test_a_place_that_is_alone_has_its_number(paths: Any, told: dict[str, int]) -> None:
    found = groups(Change(DROPPED, path, None, "no-equivalent", "risk", 2) for path in paths)
    assert [group.places for group in found] == [told]


def test_many_places_are_counted() -> None:
    paths = [(name,) for name in "abcde"]
    lines = [
        summary(item(changes=[Change(DROPPED, path, None, "no-equivalent", "loss", 1) for path in paths[:count]]))[1]
        for count in (4, 5)
    ]
    assert [line.partition("… ")[2] for line in lines] == ["1 more place (4)", "2 more places (5)"]


def test_the_summary_of_a_stream() -> None:
    pipe = Pipe("messages", "chat")
    from proxai_cli.pipe import written

    pipe.feed(written(explode(REPLY, "messages").value, "messages"))
    rows = list(rows_of_stream(pipe.translator.account, {}, {}))
    counts = counts_of(rows, pipe.source_leaves, pipe.target_leaves)
    sides = Side("messages", "stream", "certain", events=pipe.read), Side("chat", "stream")
    found = Item("-", "sse", *sides, counts=counts, changes=tuple(changes_of(rows)))
    assert summary(found) == [f"stdin: messages stream -> chat, {pipe.read} events, complete, 0 losses"]
    assert "cut" in summary(found._replace(status="cut"))[0]


def test_the_line_of_sums() -> None:
    counts = Counts(
        {"leaves": 9, "carried": 5, "changed": 1, "dropped": 3},
        {"leaves": 8, "carried": 5, "changed": 1, "synthesized": 2},
    )
    assert sums(counts, "source") == "source 9 = 5 carried + 1 changed + 3 dropped"
    assert sums(counts, "source", "target").endswith(" · target 8 = 5 carried + 1 changed + 2 synthesized")


def test_one_line_for_each_change() -> None:
    found = item(findings=(finding("seq-gap", "/a", {"line": 3, "event": 2}),))
    lines = list(changes(found))
    assert len(lines) == len(found.changes) + 1
    assert lines[-1].startswith("req.json:3:1: risk seq-gap found /a: ")
    assert any(line.startswith("req.json:1:1: loss no-equivalent dropped /seed: ") for line in lines)
    assert not any("\t" in line or "\n" in line for line in lines)


EVIL = "\x1b[31m[red]x[/red]\x00\u202e|<b>`"


def evil() -> Item:
    source = {**REQUEST, EVIL: 1, "metadata": {EVIL: "x"}}
    return item(source, path=f"{EVIL}.json")


@pytest.mark.parametrize("color", [False, True])
def test_what_could_steer_a_terminal_is_escaped(color: bool) -> None:
    shown = table(evil(), width=200, color=color)
    assert "\\x1b[31m[red]x[/red]" in shown, "markup is not markup"
    assert "\x1b[31m[" not in shown and "\u202e" not in shown and "\x00" not in shown
    assert ("\x1b[" in shown) is color
    for line in [*summary(evil()), *changes(evil()), *markdown(evil()).splitlines()]:
        assert line.isprintable(), line


def test_markdown_keeps_captured_text_in_its_cell() -> None:
    said = markdown(evil())
    assert "<b>" not in said and "\\x3cb>\\x60" in said
    rows = [line for line in said.splitlines() if line.startswith("| ")]
    assert {line.count("|") for line in rows} == {8}


def test_markdown_stays_small_enough_for_a_comment() -> None:
    many = {f"key_{number}": number for number in range(3000)}
    failed = Item("x" * 50, "unknown", status="failed", findings=(finding("bad-json"),))
    said = markdown(*[item({**REQUEST, **many})] * 3, item(), *[failed] * 2000)
    assert LIMIT * 0.9 < len(said.encode()) <= LIMIT and "do not fit" in said and "… and 1980 more" in said
    assert "<details>" in markdown(item({**REQUEST, "n": 1, "logprobs": True, "user": "u", "logit_bias": {"1": 1}}))


def test_the_table_balances_and_explains() -> None:
    shown = table(item(), width=100)
    assert shown.index("clamp-temperature") < shown.index("no-equivalent") < shown.index("default-max-tokens")
    counts = item().counts
    assert counts and sums(counts, "source", "target") in shown
    assert "proxai map clamp-temperature   explains" in shown


@pytest.mark.parametrize("width", [1, 40, 60, 80, 100, 109, 110, 120, 200])
def test_no_path_is_cut_inside_of_a_step_on_any_screen(width: int) -> None:
    deep = {**REQUEST, "metadata": {"a_rather_long_name": "x", "an_even_longer_name": "y"}}
    shown = table(item(deep), width=width)
    if width < 40:
        return
    assert max(map(len, shown.splitlines())) <= width
    for step in ("/a_rather_long_name", "/an_even_longer_name", "/max_tokens"):
        assert step in shown
    assert ("place, and what" in shown) is (width < 110) and "what that means" in shown.replace("\n", " ")
    assert "┃ op " in shown or width < 72


KNOWN = Change(DROPPED, ("seed",), None, "no-equivalent", "loss", 1, state="known")
NEW = Change(DROPPED, ("logit_bias",), None, "no-equivalent", "risk", 1)


def test_what_is_known_or_allowed_is_only_counted() -> None:
    both = item(changes=(KNOWN, NEW, KNOWN._replace(source=("n",), state="allowed", rule="r")))
    shown = table(both, item(changes=(KNOWN,)))
    assert "/seed" not in shown and "/n" not in shown and "/logit_bias" in shown
    assert "  1 known, 1 allowed (-v)" in shown.splitlines()
    assert shown.splitlines()[-2:] == [
        "1 document with nothing new (-v shows what is known or allowed)",
        "1 new, 1 known, 1 allowed",
    ]
    verbose = table(both, item(changes=(KNOWN,)), verbose=True)
    assert verbose.index("/logit_bias") < verbose.index("/seed") and "(-v" not in verbose
    assert verbose.splitlines()[-1] == "1 new, 1 known, 1 allowed"


def test_a_run_that_passes_is_a_few_lines() -> None:
    shown = table(*[item(changes=(KNOWN,))] * 50)
    assert shown.splitlines() == [
        "50 documents with nothing new (-v shows what is known or allowed)",
        "0 new, 1 known",
    ]


def test_what_is_denied_stands_first() -> None:
    denied = KNOWN._replace(level="note", source=("tools",), state="denied", rule="never")
    shown = table(item(changes=(NEW, denied)))
    assert shown.index("/tools") < shown.index("/logit_bias")
    assert shown.splitlines()[-1] == "1 new, 1 denied"


def test_the_sums_are_left_out_where_nobody_wants_them() -> None:
    assert "source " in table(item()) and "source " not in table(item(), sums=False)


def test_what_a_gateway_did_has_a_true_heading() -> None:
    at = ("stop", 1)
    changes = [
        Change(DROPPED, at, None, "not-carried", "risk", 1, avoidable=True),
        Change(CHANGED, ("seed",), ("seed",), "differs", "risk", 1, avoidable=True),
        Change(SYNTHESIZED, None, ("n",), "added", "loss", 1, avoidable=True),
        Change(DROPPED, ("top_k",), None, "no-equivalent", "risk", 1, avoidable=False),
    ]
    heads = ["the gateway lost it", "the gateway changed it", "the gateway added it", "unavoidable"]
    for count in range(1, 5):
        shown = table(item(changes=changes[:count], against="b.json"))
        assert [head in shown for head in heads] == [number < count for number in range(4)]
    found = [line.partition("  ")[0] for line in shown.splitlines() if "able" in line]
    assert len(found) == 4


def test_the_rows_of_a_comparison_are_cut_for_a_person_only() -> None:
    long = Change(DROPPED, ("messages", 1, "content", 0, "text"), ("input", 0, "text"), "not-carried", "risk", 1)
    compared = item(changes=[long._replace(avoidable=True)], against="b.json")
    assert "/messages/1/content/0/text  would be /input/0/text" in table(compared, width=50)
    shown = table(compared, width=50, room=50)
    assert max(len(line) for line in shown.splitlines() if line.startswith("    ")) <= 50
    assert "/input/0" in shown


def test_groups_are_most_severe_first() -> None:
    assert [group.level for group in groups(changes_of(rows_of_body(ENTRIES)))] == [
        "loss",
        "loss",
        "note",
        "note",
        "note",
    ]


SAFE = [
    ("a b", "a b"),
    ("\x1b]0;x\x07", "\\x1b]0;x\\x07"),
    ("ä\u200eö", "ä\\u200eö"),
    ("\ud800", "\\ud800"),
    ("日本", "日本"),
]


@pytest.mark.parametrize(("said", "shown"), SAFE)
def test_safe(said: str, shown: str) -> None:
    assert safe(said) == shown


def test_columns() -> None:
    assert grid(("a", "bb"), [("ccc", "d"), ("e" * 50, "f")]) == [
        "a" + " " * 41 + "bb",
        "ccc" + " " * 39 + "d",
        "e" * 50 + "  f",
    ]


def test_columns_that_have_to_fit() -> None:
    rows = [("one", "/messages/*/content/*/type", "What this means to somebody."), ("two", "/a", "")]
    assert grid(("a", "place", "text"), rows, width=100) == grid(("a", "place", "text"), rows)
    assert "\n".join(grid(("a", "place", "text"), rows, width=34)).splitlines() == [
        "a    place          text",
        "one  /messages/*    What this",
        "      /content/*     means to",
        "      /type          somebody.",
        "two  /a",
    ]
    for width in range(60):
        told = "\n".join(grid(("a", "place", "text"), rows, width=width)).splitlines()
        assert max(map(len, told)) <= max(width, 8 * 3 + 4)


WRAPPED = [
    ("/messages/*/content/*/type (3)", 20, ["/messages/*/content", " /*/type (3)"]),
    ("words of a sentence", 8, ["words of", " a", " sentenc", " e"]),
    ("abcdefgh i", 8, ["abcdefgh", " i"]),
    ("", 5, [""]),
    ("abcdefgh", 0, ["a", " b", " c", " d", " e", " f", " g", " h"]),
]


@pytest.mark.parametrize(("said", "width", "lines"), WRAPPED)
def test_a_path_is_cut_before_its_steps(said: str, width: int, lines: list[str]) -> None:
    assert wrapped(said, width) == lines


def test_every_code_has_one_sentence() -> None:
    for code, said in [*REASONS.items(), *FINDINGS.items(), *ERRORS.items()]:
        assert said.text and said.text[0].isupper() and said.text.endswith("."), code
        assert 15 <= len(said.text) <= 150, f"{code}: {len(said.text)}"
    assert mapping.explained("foreign-signature")[0] == "foreign-signature (reason, risk, since 0.1)"
    assert mapping.explained("nothing") == []


PAIRS = [(source, target) for source in PROTOCOLS for target in PROTOCOLS if source != target]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_the_mapping_is_complete(source: str, target: str) -> None:
    """Every property that the published schema or a table names has a line, and every line one fate that is known."""
    lines = mapping.mapping(source, target, translate)
    named = {line.place.rpartition("/")[2].replace("~1", "/") for line in lines}
    examined = {str(one.path[-1]) for kind in ("request", "response", "error") for one in examples(source, kind)}
    ruled = {rule.name for _, rule in rules(PROTOCOLS[source]) if isinstance(rule, Field | Nested | Word)}
    assert not examined - named and not ruled - names(source) - named
    for line in lines:
        assert line.reason in {"", *REASONS, *ERRORS} and line.place, line
        assert bool(line.reason) is bool(line.level) and (line.there or line.reason), line
        assert line.level in {"", "note", "loss", "risk", "refused"}, line


def test_the_mapping_is_what_the_code_does() -> None:
    lines = {(line.place, line.there): line for line in mapping.mapping("chat", "messages", translate, "request")}
    assert ("/model", "/model") in lines
    assert {line.reason for (place, _), line in lines.items() if place == "/seed"} == {"no-equivalent"}
    assert lines["/messages/*/content/*/image_url/url", "/messages/*/content/*/source/url"].reason == ""
    assert {line.reason for (place, _), line in lines.items() if place == "/top_p"} == {""}
    assert lines["/tools/*/function/parameters", mapping.IN_PARTS].reason == ""
    assert not [line for line in lines.values() if line.kind != "request"]


def test_the_mapping_of_a_field() -> None:
    only = mapping.mapping("chat", "messages", translate, field="/seed")
    assert [(line.kind, line.place, line.reason, line.level) for line in only] == [
        ("request", "/seed", "no-equivalent", "loss")
    ]
    assert only[0].note.startswith("The target has no place")
    for spelled in ("/messages/3/content", "messages/*/content", "/messages/content"):
        found = mapping.mapping("chat", "messages", translate, "request", spelled)
        assert {line.place for line in found} == {"/messages/*/content"}
    assert mapping.mapping("chat", "messages", translate, field="/unheard_of") == []
    dialect = mapping.mapping("chat", "messages", translate, "response", "reasoning_content")
    assert [line.place for line in dialect] == ["…/reasoning_content"], "no published schema has it"
    assert {line.kind for line in mapping.mapping("chat", "messages", translate, "stream")} == {"response"}


def test_many_types_are_told_in_short() -> None:
    line = mapping.Line("request", tuple("abcde"), "/x", "", "no-equivalent", "loss")
    assert line.types == "a, b, c, … 2 more"


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", ["request", "response", "error"])
def test_examples_hold_the_property_at_their_path(protocol: str, kind: str) -> None:
    count = 0
    for example in examples(protocol, kind):
        value = example.document
        for key in example.path:
            value = value[key]
        count += 1
    assert count >= 5


def test_every_reason_that_a_small_document_shows_has_an_example() -> None:
    found = {each.code: each for each in mapping.showings(translate)}
    assert set(REASONS) - set(found) == mapping.NOT_SHOWN
    assert str(found["clamp-temperature"]) == "chat request /temperature 2 -> messages /temperature 1"
    assert str(found["one-to-list"]) == 'chat request /stop "x" -> messages /stop_sequences ["x"]'
    assert str(found["no-equivalent"]).endswith(" -> messages, nowhere")
    assert "  Example: chat request -> messages /max_tokens 4096" in mapping.explained("default-max-tokens")
    assert not any("Example" in line for line in mapping.explained("noise"))
    assert PLACE.read_bytes() == showings(), "run python -m tests.tools.make_showings"


def test_the_mapping_tells_what_a_value_does() -> None:
    found = {(line.place, line.reason) for line in mapping.mapping("chat", "messages", translate, "request")}
    assert {
        ("/temperature", ""), ("/temperature", "clamp-temperature"), ("/stop", "target-rejects"), ("/stop", ""),
        ("/tools/*/function/name", "legal-name"), ("/messages/*/content/*/image_url/url", "unsupported-media"),
        ("/messages/*/tool_calls/*/function/arguments", "raw-arguments"), ("/user", "target-rejects"),
    } <= found  # fmt: skip
