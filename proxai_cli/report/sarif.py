"""The account as SARIF 2.1.0: one run, whose rules are the reasons and whose results are the changes and findings."""

import re
from collections.abc import Iterator
from heapq import nlargest
from typing import Any
from urllib.parse import quote

from .account import FORGIVEN, Change, Found, Item, Report, code, fingerprint, is_failure, pointer, severity, told_once
from .forms import Shown
from .json import written
from .lines import message, safe, told_together

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = ("note", "warning", "error", "error")
# GitHub takes so many results of a run into account.
LIMIT = 5000


def formed(report: Report, shown: Shown) -> bytes:
    """A run as SARIF. Beyond LIMIT results the most severe are told, and how many more there are."""
    return written({"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(report)]}, shown.indent)


def _run(report: Report) -> dict[str, Any]:
    kept = nlargest(LIMIT, _said(report), key=lambda pair: severity(pair[1]))
    left_out = sum(1 for _ in _said(report)) - len(kept)
    paths = list(dict.fromkeys(item.path for item in report.items if item.path != "-"))
    artifacts = {path: number for number, path in enumerate(paths)}
    rules = {name: number for number, name in enumerate(dict.fromkeys(code(each) for _, each in kept))}
    failures = [(item, found) for item in report.items for found in item.findings if is_failure(found)]
    kinds = {name: number for number, name in enumerate(dict.fromkeys(found.code for _, found in failures))}
    with_baseline = report.verdict.baseline is not None or any(each.state == "known" for _, each in kept)
    driver = {
        "name": "proxai",
        "semanticVersion": report.tool,
        "rules": _descriptors(rules),
        "notifications": _descriptors(kinds),
    }
    return {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": {"uri": uri(path)}, "roles": ["analysisTarget"]} for path in paths],
        "invocations": [_invocation(report, failures, kinds, artifacts, left_out)],
        "results": [_result(item, each, rules, artifacts, with_baseline) for item, each in kept],
    }


def _said(report: Report) -> Iterator[tuple[Item, Change | Found]]:
    return ((item, each) for item in report.items for each in item.said if not is_failure(each))


def _descriptors(names: dict[str, int]) -> list[dict[str, Any]]:
    """Reasons, findings or errors with all that is known of them. There is no page of them in the web."""
    if not names:
        return []
    from .mapping import codes

    known = {each.code: each for each in codes()}
    told: list[dict[str, Any]] = []
    for name in names:
        about = known.get(name)
        texts = {"shortDescription": about.text, "help": f"{about.text} {about.advice}"} if about else {}
        told.append({"id": name} | {key: {"text": _plain(value)} for key, value in texts.items()})
    return told


def _invocation(
    report: Report,
    failures: list[tuple[Item, Found]],
    kinds: dict[str, int],
    artifacts: dict[str, int],
    left_out: int,
) -> dict[str, Any]:
    verdict = report.verdict
    told = [
        {
            "level": "error",
            "message": {"text": _plain(message(found))},
            "descriptor": {"id": found.code, "index": kinds[found.code]},
            "locations": _locations(item, found, artifacts),
        }
        for item, found in failures
    ]
    if left_out:
        told.append(_note(f"{left_out} more results do not fit in; the json report has all.", "warning"))
    told.append(_note(told_together(report, told_once(report.items)), "note"))
    rules = {"expired": verdict.expired_rules, "fitted nothing": verdict.unused_rules}
    return {
        "executionSuccessful": verdict.complete,
        "exitCode": verdict.exit,
        "toolExecutionNotifications": told,
        "toolConfigurationNotifications": [
            _note(f"The rule {safe(name)} {what}.", "note") for what, names in rules.items() for name in names
        ],
    }


def _note(said: str, level: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": _plain(said)}}


def _result(
    item: Item, said: Change | Found, rules: dict[str, int], artifacts: dict[str, int], with_baseline: bool
) -> dict[str, Any]:
    name = code(said)
    result: dict[str, Any] = {
        "ruleId": name,
        "ruleIndex": rules[name],
        "level": LEVELS[severity(said)],
        "message": {"text": _plain(message(said))},
        "locations": _locations(item, said, artifacts),
        "partialFingerprints": {"proxai/v1": fingerprint(item.pair, said)},
    }
    if with_baseline:
        result["baselineState"] = "unchanged" if said.state == "known" else "new"
    if said.state in FORGIVEN:
        rule = said.rule if isinstance(said, Change) else None
        why = f"allowed by the rule {safe(rule)}" if rule else "known by the baseline" if said.state == "known" else ""
        result["suppressions"] = [{"kind": "external", **({"justification": _plain(why)} if why else {})}]
    return result | {"properties": _properties(said)}


def _properties(said: Change | Found) -> dict[str, Any]:
    """What SARIF has no place for."""
    known: dict[str, Any] = {"proxaiLevel": said.level, "state": said.state}
    if isinstance(said, Change):
        known |= {"op": said.op, "source": pointer(said.source), "target": pointer(said.target), "leaves": said.leaves}
        known |= {"events": said.events, "avoidable": said.avoidable, "before": said.before, "after": said.after}
        known["rule"] = said.rule
    elif said.layer:
        known["layer"] = said.layer
    return {key: value for key, value in known.items() if value is not None}


def _locations(item: Item, said: Change | Found, artifacts: dict[str, int]) -> list[dict[str, Any]]:
    location: dict[str, Any] = {}
    if item.path in artifacts:
        place = said.place or {}
        physical: dict[str, Any] = {"artifactLocation": {"uri": uri(item.path), "index": artifacts[item.path]}}
        if "line" in place:
            columns = {"startColumn": place["column"]} if "column" in place else {}
            physical["region"] = {"startLine": place["line"], **columns}
        location["physicalLocation"] = physical
    at = said.at if isinstance(said, Found) else pointer(said.source if said.source is not None else said.target)
    if at:
        location["logicalLocations"] = [{"fullyQualifiedName": at, "kind": "property"}]
    return [location] if location else []


def uri(path: str) -> str:
    """A path as a URI reference: as given, each byte that URIs have no letter for in percents."""
    path = re.sub(r"\A(\./)+", "", path)
    is_absolute = path.startswith("/") or re.match(r"[A-Za-z]:/", path)
    return ("file:///" if is_absolute else "") + quote(
        path.lstrip("/"), "/:" if is_absolute else "/", errors="surrogatepass"
    )


def _plain(said: str) -> str:
    """A message that holds no link and no placeholder."""
    return re.sub(r"([\[\]\\])", r"\\\1", said).replace("{", "{{").replace("}", "}}")
