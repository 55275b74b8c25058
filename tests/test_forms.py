"""The forms of a report that others read: valid by the schemas that they publish, within their limits, judged alike."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import jsonschema
import pytest

from proxai_cli import text
from proxai_cli.reasons import ERRORS
from proxai_cli.report.account import (
    Change,
    Counts,
    Found,
    Item,
    Report,
    Side,
    Verdict,
    finding,
    fingerprint,
    told_once,
)
from proxai_cli.report.forms import WRITERS, Shown, formed
from proxai_cli.report.lines import told_together
from proxai_cli.report.sarif import LIMIT, uri

from .calls import answered
from .captures import FIXTURES
from .shared import SHARED

FORMS = [form for form in WRITERS if form != "html"]
PLACE = {"line": 18, "column": 3, "byte": 400}
BIAS = Change("dropped", ("logit_bias",), None, "no-equivalent", "risk", 2, place=PLACE)
SEED = BIAS._replace(source=("seed",), level="loss", leaves=1, place=None)
MADE = Change("synthesized", None, ("max_tokens",), "default-max-tokens", "note", 1)
DEEP = Change("changed", ("messages", 2, "a/b"), ("messages", 1, "a/b"), "role-merge", "loss", 3, events=(2, 9))
GAP = finding("seq-gap", "/a/3", {"event": 4})
SIDES = Side("chat", "request", "certain", ("has seed",)), Side("messages", "request")


def item(*said: Change | Found, path: str = "captures/a.json", **more: Any) -> Item:
    changes = tuple(each for each in said if isinstance(each, Change))
    findings = tuple(each for each in said if isinstance(each, Found))
    dropped = sum(each.leaves for each in changes if each.op == "dropped")
    counts = Counts(
        {"leaves": 9 + dropped, "carried": 9, "changed": 0, "dropped": dropped},
        {"leaves": 9, "carried": 9, "changed": 0, "synthesized": 0},
    )
    return Item(path, "json", *SIDES, counts=counts, changes=changes, findings=findings, **more)


FAILED = Item("captures/bad.json", "unknown", status="failed", findings=(finding("bad-json", None, {"line": 3}),))
JUDGED = item(
    BIAS._replace(state="denied", rule="never"),
    SEED._replace(state="known"),
    SEED._replace(source=("n",), state="allowed", rule="only-in-tests"),
    DEEP._replace(avoidable=True),
    MADE._replace(avoidable=False),
    GAP._replace(state="known"),
)


def run(*items: Item, **verdict: Any) -> Report:
    return Report("diff", list(items), Verdict(1, True, "loss")._replace(**verdict), "0.1.0")


RUNS = {
    "nothing": run(),
    "clean": run(item()),
    "plain": run(item(BIAS, SEED, MADE, DEEP, GAP)),
    "stdin": run(item(BIAS, GAP, path="-")),
    "judged": run(
        JUDGED, baseline="base.json", policy="proxai.toml", unused_rules=("old",), expired_rules=("gone",), gone=("0" * 16,)
    ),
    "failed": run(item(BIAS), FAILED, exit=3, complete=False),
    "cut": run(item(SEED, finding("truncated", None, {"event": 9}), status="cut"), exit=3, complete=False),
    "skipped": run(Item("x.har", "har", status="skipped", record=3)),
    "records": run(*(item(BIAS, path="many.jsonl", record=number) for number in range(3)), item(SEED, path="ä b.json")),
    "values": run(item(BIAS._replace(before={"type": "object", "size": 2}, after={"type": "number", "value": 1}))),
}  # fmt: skip


def written(form: str, report: Report, **shown: Any) -> str:
    return b"".join(formed(form, report, Shown(**shown))).decode()


def read_sarif(report: Report) -> Any:
    return text.loads(written("sarif", report))["runs"][0]


@pytest.mark.skipif(SHARED is None, reason="the published schemas stand beside the project")
@pytest.mark.parametrize("name", RUNS)
def test_sarif_is_valid_by_its_published_schema(name: str) -> None:
    assert SHARED
    schema = text.loads((SHARED / "schemas" / "sarif-2.1.0.json").read_bytes())
    validator = jsonschema.Draft7Validator(schema, format_checker=jsonschema.FormatChecker())
    said = text.loads(written("sarif", RUNS[name]))
    validator.validate(said)
    said["runs"][0]["results"] = [{"ruleId": 1}]
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(said)


@pytest.mark.skipif(SHARED is None, reason="the published schemas stand beside the project")
@pytest.mark.parametrize("name", RUNS)
def test_junit_is_valid_by_its_published_schema(name: str) -> None:
    import xmlschema

    assert SHARED
    schema = xmlschema.XMLSchema(str(SHARED / "schemas" / "junit.xsd"))
    root = ElementTree.fromstring(written("junit", RUNS[name]))
    schema.validate(root)
    for suite in root:
        suite.attrib.pop("name")
        with pytest.raises(xmlschema.XMLSchemaValidationError):
            schema.validate(root)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", RUNS)
def test_every_form_says_the_same_twice_and_nothing_that_is_not_printable(name: str, form: str) -> None:
    said = written(form, RUNS[name])
    assert said == written(form, RUNS[name])
    assert all(line.isprintable() for line in said.split("\n"))


@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("table", "github", "junit", "markdown")])
def test_every_form_tells_how_it_was_judged(form: str) -> None:
    said = written(form, RUNS["judged"], width=200)
    for word in ("known", "allowed", "only-in-tests", "denied", "never", "avoidable"):
        assert word in said, word


@pytest.mark.skipif(SHARED is None, reason="the published schemas stand beside the project")
def test_one_run_over_many_captures_writes_valid_reports(tmp_path: Path) -> None:
    import xmlschema

    assert SHARED
    reports = {form: tmp_path / form for form in ("json", "sarif", "junit", "gitlab")}
    folders = [str(FIXTURES / name) for name in ("chat", "exchange", "noticed", "refused")]
    words = ["diff", *folders, "--to", "messages", "--on-error", "skip", "--format", "none"]
    done = answered([*words, *(f"--report={form}:{place}" for form, place in reports.items())], folder=tmp_path)
    assert done.code == 3 and done.out == b""
    items = text.loads(reports["json"].read_bytes())["items"]
    sarif, gitlab = (text.loads(reports[form].read_bytes()) for form in ("sarif", "gitlab"))
    jsonschema.Draft7Validator(text.loads((SHARED / "schemas" / "sarif-2.1.0.json").read_bytes())).validate(sarif)
    xmlschema.XMLSchema(str(SHARED / "schemas" / "junit.xsd")).validate(str(reports["junit"]))
    failures = [found for each in items for found in each["findings"] if found["code"] in ERRORS]
    said = sum(len(each["changes"]) + len(each["findings"]) for each in items) - len(failures)
    run = sarif["runs"][0]
    assert len(run["results"]) == min(said, LIMIT) > 100
    assert len(run["invocations"][0]["toolExecutionNotifications"]) == len(failures) + 1 + (said > LIMIT)
    assert len(gitlab) == len({each["fingerprint"] for each in gitlab}) == said + len(failures)
    cases = ElementTree.parse(reports["junit"]).getroot().findall("testsuite/testcase")
    assert len(cases) == len(items)
    assert sum(each.find("error") is not None for each in cases) == sum(each["status"] != "ok" for each in items)


# GitHub


def commands(said: str) -> list[tuple[str, dict[str, str], str]]:
    """Workflow commands as GitHub's runner reads them."""

    def undone(said: str, *more: tuple[str, str]) -> str:
        for mark, char in (("%0D", "\r"), ("%0A", "\n"), *more, ("%25", "%")):
            said = said.replace(mark, char)
        return said

    found = []
    for line in said.splitlines():
        head, data = line.removeprefix("::").split("::", 1)
        name, _, pairs = head.partition(" ")
        properties = dict(pair.split("=", 1) for pair in pairs.split(","))
        found.append(
            (name, {key: undone(each, ("%3A", ":"), ("%2C", ",")) for key, each in properties.items()}, undone(data))
        )
    return found


def test_github_has_one_annotation_for_each_fingerprint_the_most_severe_first() -> None:
    twice = run(item(SEED, DEEP, MADE, BIAS), item(DEEP._replace(source=("messages", 5, "a/b")), path="b.json"))
    found = commands(written("github", twice))
    assert [(name, said.get("title")) for name, said, _ in found] == [
        ("error", "no-equivalent"),
        ("warning", "no-equivalent"),
        ("warning", "role-merge"),
        ("notice", "default-max-tokens"),
        ("notice", "proxai"),
    ]
    assert found[0][1] == {"file": "captures/a.json", "line": "18", "col": "3", "title": "no-equivalent"}
    assert found[0][2].startswith("dropped /logit_bias (2): The target has no place")
    assert found[2][2].startswith("changed /messages/*/a~1b -> /messages/*/a~1b (6): ")
    assert found[2][2].endswith(" In 2 documents.")
    assert found[-1][2] == "1 risk, 2 losses, 1 note"


def test_github_shows_ten_of_a_kind_and_says_how_many_more_and_where() -> None:
    many = [each._replace(source=(f"k{at}",)) for each in (BIAS, SEED, SEED._replace(level="note")) for at in range(25)]
    found = commands(written("github", run(item(*many)), elsewhere=("out/x.sarif",)))
    kinds = [name for name, _, _ in found]
    assert {kind: kinds.count(kind) for kind in kinds} == {"error": 10, "warning": 10, "notice": 10}
    assert found[9] == ("error", {"title": "proxai"}, "16 more errors; report: out/x.sarif")
    assert found[28][2] == "17 more notices; report: out/x.sarif"
    assert found[29][2] == "25 risks, 25 losses, 25 notes; report: out/x.sarif"
    assert "more errors" not in written("github", run(item(*many[:10])))


def test_github_annotates_what_is_denied_and_not_what_is_known_or_allowed() -> None:
    low = SEED._replace(level="note", state="denied", rule="r")
    found = commands(written("github", run(item(low, *JUDGED.changes), baseline="b", expired_rules=("old",))))
    assert [(name, said["title"]) for name, said, _ in found] == [
        ("error", "no-equivalent"), ("error", "no-equivalent"),
        ("warning", "role-merge"), ("notice", "default-max-tokens"), ("notice", "proxai"),
    ]  # fmt: skip
    assert found[0][2].endswith("[denied by never]") and found[2][2].endswith("[avoidable]")
    assert found[-1][2] == "1 new, 2 denied, 1 known, 1 allowed, 1 note, 1 rule expired (old)"


def test_github_undoes_what_is_escaped() -> None:
    path = "100%,a:b=c%0A.json"
    name, said, data = commands(written("github", run(item(BIAS._replace(source=("50%0A,x",)), path=path))))[0]
    assert (name, said["file"]) == ("error", path) and data.startswith("dropped /50%0A,x (2)")
    assert "file" not in commands(written("github", RUNS["stdin"]))[0][1]


def test_a_run_that_could_not_look_is_not_clean() -> None:
    found = commands(written("github", RUNS["failed"]))
    assert ("error", "bad-json") in [(name, said["title"]) for name, said, _ in found]
    assert (
        found[-1][2]
        == told_together(RUNS["failed"], told_once(RUNS["failed"].items))
        == "1 risk, 1 failed; not all was looked at"
    )
    assert "not all was looked at" in written("markdown", RUNS["failed"])
    assert read_sarif(RUNS["failed"])["invocations"][0]["executionSuccessful"] is False
    assert ElementTree.fromstring(written("junit", RUNS["failed"])).find(".//error") is not None


# GitLab


def test_gitlab_has_one_entry_for_each_change_and_finding() -> None:
    found = text.loads(written("gitlab", run(item(BIAS, SEED, MADE, GAP, path="./a.json"), FAILED)))
    assert [each["severity"] for each in found] == ["major", "minor", "info", "major", "major"]
    assert found[0] == {
        "description": "dropped /logit_bias (2): The target has no place for this, so it is not said any more.",
        "check_name": "no-equivalent",
        "fingerprint": fingerprint(("chat", "messages", "request"), BIAS),
        "severity": "major",
        "location": {"path": "a.json", "lines": {"begin": 18}},
    }
    assert found[4]["location"] == {"path": "captures/bad.json", "lines": {"begin": 3}}


def test_gitlab_fingerprints_are_unique_and_ours() -> None:
    def marks(*items: Item) -> list[str]:
        return [each["fingerprint"] for each in text.loads(written("gitlab", run(*items)))]

    ours = fingerprint(("chat", "messages", "request"), BIAS)
    before, after = marks(item(BIAS, SEED)), marks(item(SEED, BIAS), item(BIAS, path="b.json"))
    assert set(after) == {*before, f"{ours}-2"} and len(after) == 3


def test_gitlab_counts_what_is_known_or_allowed_for_nothing() -> None:
    found = text.loads(written("gitlab", run(JUDGED)))
    assert [each["severity"] for each in found] == ["major", "info", "info", "minor", "info", "info"]


# SARIF


def test_sarif_results_have_rules_places_and_fingerprints() -> None:
    said = read_sarif(RUNS["plain"])
    rules, results = said["tool"]["driver"]["rules"], said["results"]
    assert [each["level"] for each in results] == ["error", "error", "warning", "warning", "note"]
    assert all(rules[each["ruleIndex"]]["id"] == each["ruleId"] for each in results)
    assert all(each["help"]["text"] and each["shortDescription"]["text"] and "helpUri" not in each for each in rules)
    location = results[0]["locations"][0]
    assert location["physicalLocation"]["region"] == {"startLine": 18, "startColumn": 3}
    assert location["logicalLocations"] == [{"fullyQualifiedName": "/logit_bias", "kind": "property"}]
    assert said["artifacts"][location["physicalLocation"]["artifactLocation"]["index"]]["location"] == {
        "uri": "captures/a.json"
    }
    marks = {same.fingerprint for same in told_once(RUNS["plain"].items)}
    assert {each["partialFingerprints"]["proxai/v1"] for each in results} == marks
    assert not any("baselineState" in each for each in results), "there is no baseline"


def test_sarif_tells_what_is_known_and_allowed() -> None:
    results = {each["message"]["text"].split(":")[0]: each for each in read_sarif(RUNS["judged"])["results"]}
    assert {key: each["baselineState"] for key, each in results.items()} == {
        "dropped /logit_bias (2)": "new",
        "dropped /seed": "unchanged",
        "dropped /n": "new",
        "changed /messages/2/a~1b -> /messages/1/a~1b (3)": "new",
        "synthesized /max_tokens": "new",
        "found /a/3": "unchanged",
    }
    assert results["dropped /n"]["suppressions"] == [
        {"kind": "external", "justification": "allowed by the rule only-in-tests"}
    ]
    known = [{"kind": "external", "justification": "known by the baseline"}]
    assert {key: each["suppressions"] for key, each in results.items() if "suppressions" in each} == {
        "dropped /seed": known,
        "dropped /n": results["dropped /n"]["suppressions"],
        "found /a/3": known,
    }
    told = read_sarif(RUNS["judged"])["invocations"][0]["toolConfigurationNotifications"]
    assert [each["message"]["text"] for each in told] == ["The rule gone expired.", "The rule old fitted nothing."]


def test_sarif_tells_failed_inputs_as_notifications() -> None:
    said = read_sarif(RUNS["failed"])
    told = said["invocations"][0]
    notification = told["toolExecutionNotifications"][0]
    assert (told["exitCode"], notification["level"], len(said["results"])) == (3, "error", 1)
    assert said["tool"]["driver"]["notifications"][notification["descriptor"]["index"]]["id"] == "bad-json"
    assert notification["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "captures/bad.json"


def test_sarif_keeps_the_most_severe_and_counts_the_rest() -> None:
    many = [SEED._replace(source=(f"k{at}",)) for at in range(LIMIT + 7)]
    said = read_sarif(run(item(*many, BIAS)))
    assert len(said["results"]) == LIMIT and said["results"][0]["level"] == "error"
    assert said["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].startswith("8 more results")


URIS = [
    ("captures/a.json", "captures/a.json"),
    ("./a b.json", "a%20b.json"),
    ("../ä#?.json", "../%C3%A4%23%3F.json"),
    ("c:d%.json", "c%3Ad%25.json"),
    ("/tmp/a:b.json", "file:///tmp/a:b.json"),
    ("C:/x y.json", "file:///C:/x%20y.json"),
    ("\udcff\n.json", "%ED%B3%BF%0A.json"),
]


@pytest.mark.parametrize(("path", "said"), URIS)
def test_uris(path: str, said: str) -> None:
    assert uri(path) == said
    assert unquote(said, errors="surrogatepass").endswith(path.removeprefix("./"))


def test_sarif_messages_hold_neither_links_nor_placeholders() -> None:
    said = read_sarif(run(item(BIAS._replace(source=("[a](javascript:1) {0}\\",)))))["results"][0]["message"]["text"]
    assert said.startswith(r"dropped /\[a\](javascript:1) {{0}}\\")


# JUnit


def junit(report: Report) -> Any:
    return ElementTree.fromstring(written("junit", report))


CASES = [
    ("clean", [1, 0, 0, 0], None),
    ("plain", [1, 1, 0, 0], "failure"),
    ("judged", [1, 1, 0, 0], "failure"),
    ("cut", [1, 0, 1, 0], "error"),
    ("skipped", [1, 0, 0, 1], "skipped"),
]


@pytest.mark.parametrize(("name", "counts", "outcome"), CASES)
def test_junit_outcomes(name: str, counts: list[int], outcome: str | None) -> None:
    suite = junit(RUNS[name])[0]
    assert [int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped")] == counts
    assert [each.tag for each in suite.find("testcase")] == ([outcome] if outcome else [])


def test_junit_fails_for_losses_and_denied_changes_only() -> None:
    for said in (MADE, SEED._replace(state="known"), SEED._replace(state="allowed"), GAP._replace(state="known")):
        assert junit(run(item(said)))[0].get("failures") == "0", said
    for said in (SEED, BIAS, GAP, MADE._replace(state="denied")):
        assert junit(run(item(said)))[0].get("failures") == "1", said
    failure = junit(RUNS["judged"]).find(".//failure")
    assert (failure.get("type"), failure.get("message")) == ("risk", "1 risk, 1 loss")
    assert (
        len(failure.text.strip().splitlines()) == 2
        and len(junit(RUNS["judged"]).find(".//system-out").text.strip().splitlines()) == 6
    )


def test_junit_has_a_suite_for_each_file_and_a_case_for_each_capture() -> None:
    suites = list(junit(RUNS["records"]))
    assert [(suite.get("name"), len(suite.findall("testcase"))) for suite in suites] == [
        ("many.jsonl", 3),
        ("ä b.json", 1),
    ]
    assert [each.get("name") for each in suites[0].findall("testcase")][1] == "many.jsonl#1: chat request -> messages"
    assert junit(RUNS["stdin"])[0].get("name") == "stdin"


# Markdown


def test_markdown_tells_a_run_by_fingerprint() -> None:
    said = written(
        "markdown",
        run(item(*[SEED._replace(source=(f"k{at}",)) for at in range(9)], BIAS), item(BIAS, path="b"), FAILED),
    )
    rows = [line.split(" | ") for line in said.splitlines() if line.startswith("| ") and "---" not in line]
    assert len(rows) == 2 + 10 and rows[1][5:7] == ["4", "2"], "leaves and documents"
    assert said.index("| level") < said.index("<details><summary>5 more</summary>") < said.index("`captures/bad.json`")
    assert said.count("<details>") == said.count("</details>") == 1
    assert said.splitlines()[-1].startswith("source 31 = 18 carried")


@pytest.mark.parametrize("form", ["markdown", "junit"])
def test_markdown_and_junit_tell_how_it_was_judged(form: str) -> None:
    said = written(form, RUNS["judged"])
    assert all(word in said for word in ("known", "allowed by only-in-tests", "denied by never", "avoidable"))


# Lines


def test_lines_end_with_what_a_policy_says() -> None:
    lines = written("lines", run(JUDGED)).splitlines()
    assert [re.search(r"(?: \[(.*)\])?$", line)[1] for line in lines] == [  # type: ignore[index]
        "denied by never", "known", "allowed by only-in-tests", "avoidable", "unavoidable", "known",
    ]  # fmt: skip
    assert lines[0].startswith("captures/a.json:18:3: risk no-equivalent dropped /logit_bias (2): The target has")
