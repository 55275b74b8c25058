"""The account as JUnit XML: a file is a suite, each document in it a case."""

from collections.abc import Collection, Iterable
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from ..reasons import LEVELS
from .account import FORGIVEN, Change, Found, Item, Report, is_failure, severity
from .forms import Shown
from .lines import changes, name, safe, way

# What the schema demands and a report that is the same for the same input cannot know.
UNKNOWN = {"timestamp": "1970-01-01T00:00:00", "hostname": "localhost", "time": "0"}


def formed(report: Report, shown: Shown) -> bytes:
    """A run as XML. Losses and worse are failures, unless they are known or allowed; what could not be read (or not to
    its end) is an error; the account of each document is in the suite's output."""
    root = Element("testsuites")
    by_path: dict[str, list[Item]] = {}
    for item in report.items:
        by_path.setdefault(item.path, []).append(item)
    for number, (path, items) in enumerate(by_path.items()):
        _suite(root, path, number, items, report)
    ElementTree.indent(root)
    said: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return said + b"\n"


def _suite(root: Element, path: str, number: int, items: Collection[Item], report: Report) -> None:
    suite = SubElement(root, "testsuite", {"package": "proxai", "id": str(number), "name": _path(path)})
    known = {"command": report.command, "version": report.tool, "fail-on": report.verdict.fail_on}
    properties = SubElement(suite, "properties")
    for key, value in known.items():
        SubElement(properties, "property", {"name": key, "value": value})
    kinds = [_case(suite, item) for item in items]
    counts = {"tests": len(items), "failures": kinds.count("failure"), "errors": kinds.count("error")}
    counts["skipped"] = kinds.count("skipped")
    suite.attrib |= {key: str(count) for key, count in counts.items()} | UNKNOWN
    SubElement(suite, "system-out").text = _block(line for item in items for line in changes(item))
    SubElement(suite, "system-err").text = ""


def _case(suite: Element, item: Item) -> str:
    """Add a case; how it ended, which is also the name of the element that says so."""
    said = f"{name(item)}: {way(item)}" if item.source else name(item)
    case = SubElement(suite, "testcase", {"name": said, "classname": _path(item.path), "time": "0"})
    errors = [found for found in item.findings if is_failure(found)]
    failures = [said for said in item.said if said.state not in FORGIVEN and severity(said) and said not in errors]
    if errors:
        _outcome(case, "error", errors[0].code, errors[0].text, changes(item))
        return "error"
    if failures:
        worst = max(failures, key=severity)
        _outcome(case, "failure", worst.level, _counted(failures), changes(item, failures))
        return "failure"
    if item.status == "skipped":
        SubElement(case, "skipped", {"message": "nothing that is translated"})
        return "skipped"
    return "passed"


def _outcome(case: Element, kind: str, type: str, message: str, lines: Iterable[str]) -> None:
    SubElement(case, kind, {"type": type, "message": message}).text = _block(lines)


def _counted(said: list[Change | Found]) -> str:
    """`2 loss, 1 risk`, the most severe first."""
    levels = [each.level for each in said]
    return ", ".join(f"{levels.count(level)} {level}" for level in reversed(LEVELS) if level in levels)


def _path(path: str) -> str:
    return "stdin" if path == "-" else safe(path)


def _block(lines: Iterable[str]) -> str:
    """Lines as the text of an element. They hold nothing that XML cannot say, for they went through `safe`."""
    return "".join(f"\n{line}" for line in lines)
