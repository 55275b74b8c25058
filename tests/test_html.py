"""The report as a page: whole, closed to the outside, safe with any capture, and usable in a real browser."""

import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from proxai_cli import text
from proxai_cli.report import html, panes

from . import browser
from .calls import answered
from .captures import FIXTURES, Capture, fixtures

VOID = {"meta", "input"}
BODY = FIXTURES / "chat/sampling-and-metadata/request.json"
STREAM = FIXTURES / "chat/two-tools-in-parallel/stream.sse"


class Page(HTMLParser):
    """A page taken apart: its elements with their attributes, the texts of each kind of element, and what is wrong."""

    def __init__(self, said: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: dict[str, list[str]] = {}
        self.faults: list[str] = []
        self.sides: list[str] = []
        self.leaves: dict[str, Counter[str]] = {"source": Counter(), "target": Counter()}
        self.rows: dict[str, dict[str, str]] = {}
        self.values: dict[str, str] = {}
        self.feed(said)
        self.close()
        self.faults += self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {key: value or "" for key, value in attrs}
        self.elements.append((tag, told))
        if "data-side" in told:
            self.sides.append(told["data-side"])
        if tag == "a" and "leaf" in told.get("class", "").split():
            self.leaves[self.sides[-1]][told["class"].split()[1]] += 1
            self.rows[told["id"]] = told
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))  # type: ignore[arg-type]

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)
        if self.open and self.open[-1] == "bdi" and self.elements[-1][1].get("class", "").startswith("value"):
            self.values[next(reversed(self.rows))] = data

    def ids(self) -> list[str]:
        return [told["id"] for _, told in self.elements if "id" in told]


def page(folder: Path, *words: str, values: str = "short") -> tuple[str, Any]:
    """The page of a call, and its report as data."""
    place = folder / "report.json"
    done = answered([*words, "--format", "html", "--values", values, "--report", f"json:{place}"], folder=folder)
    said = done.out if words[0] == "diff" else done.err.encode()
    return said.decode(), text.loads(place.read_bytes())


def other(protocol: str) -> str:
    return "messages" if protocol != "messages" else "responses"


@pytest.mark.parametrize("capture", list(fixtures()), ids=lambda capture: capture.label)
def test_every_leaf_is_on_the_page_with_its_fate(capture: Capture, tmp_path: Path) -> None:
    said, report = page(
        tmp_path, "diff", str(capture.path), "--to", other(capture.protocol), "--from", capture.protocol
    )
    found = Page(said)
    assert not found.faults
    counts = report["items"][0]["counts"]
    for side in ("source", "target"):
        wanted = {fate: count for fate, count in counts[side].items() if count and fate != "leaves"}
        assert found.leaves[side] == wanted, side
    ids = found.ids()
    assert len(ids) == len(set(ids)), "an id names one element"
    linked = [told["href"] for tag, told in found.elements if tag == "a" and "href" in told]
    assert linked and all(each.startswith("#") and each[1:] in set(ids) for each in linked)
    for id, row in found.rows.items():
        fate, *_, partner, _ = row.get("data-links", "-").split(";")[0].split(" ")
        if fate == "carried":
            assert found.values[partner] == found.values[id], "what is carried has its like on the other side"
            assert id in found.rows[partner]["data-links"] and row["href"] == f"#{partner}"


WAYS = [
    ("diff", STREAM, "--to", "messages"),
    ("diff", STREAM, "--to", "chat"),
    ("convert", BODY, "--to", "responses", "-o"),
    ("stream", STREAM, "--to", "responses", "-o"),
    ("collect", STREAM, "--to", "messages", "-o"),
    ("explode", FIXTURES / "messages/two-tools-in-parallel/response.json", "--to", "chat", "-o"),
    ("convert", FIXTURES / "exchange/messages/batch.json", "--to", "chat", "-o"),
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS, ids=lambda way: f"{way[0]}-{way[1].stem}-{way[3]}")
def test_every_command_shows_both_sides(way: tuple[Any, ...], tmp_path: Path) -> None:
    words = [*map(str, way), *([str(tmp_path / "out")] if way[-1] == "-o" else [])]
    said, report = page(tmp_path, *words)
    found = Page(said)
    for side in ("source", "target"):
        counts = report["items"][0]["counts"][side]
        assert sum(found.leaves[side].values()) == counts["leaves"] > 0
        assert found.leaves[side]["carried"] == counts["carried"]
    told = " ".join(found.texts["h3"] + found.texts["p"])
    assert "leaves" in told and ("(exit code" in told or "the gateway's" in told or "Nothing is lost" in told)


def test_what_a_gateway_did_is_told_with_whose_fault_it_is(tmp_path: Path) -> None:
    place = tmp_path / "gateway.json"
    turns = [{"role": "user", "content": "Hi"}]
    place.write_bytes(text.dumps({"model": "m", "max_tokens": 60, "messages": turns, "stop_sequences": ["END"]}))
    said, report = page(tmp_path, "diff", str(BODY), str(place))
    found = Page(said)
    for side in ("source", "target"):
        counts = {key: count for key, count in report["items"][0]["counts"][side].items() if count and key != "leaves"}
        assert found.leaves[side] == counts
    told = {leaf["data-at"]: leaf for tag, leaf in found.elements if tag == "a" and "data-at" in leaf}
    assert "not-carried" in told["/top_p"]["aria-label"] and told["/top_p"]["aria-label"].endswith(", avoidable")
    assert told["/seed"]["aria-label"].endswith("dropped because of no-equivalent, loss, unavoidable")
    assert any(re.fullmatch(r"\d+ losses are the gateway's, \d+ cannot be helped\.", each) for each in found.texts["p"])
    assert "exit code" not in said
    assert said.index("Avoidable: ") < said.index("Unavoidable: ") < said.index("Notes by reason")
    assert "would be /metadata/user_id" in said and "gateway.json" in found.texts["h1"][0]


def test_the_page_is_closed_to_the_outside(tmp_path: Path) -> None:
    said, _ = page(tmp_path, "diff", str(BODY), "--to", "messages", values="full")
    found = Page(said)
    tags = {tag for tag, _ in found.elements}
    assert not tags & {"link", "img", "iframe", "object", "embed", "base", "form", "audio", "video"}
    for tag, told in found.elements:
        assert not {"src", "style", "srcset", "action", "data"} & set(told), tag
        assert not [key for key in told if key.startswith("on")], tag
    assert "url(" not in said and "@import" not in said
    (policy,) = [told["content"] for _, told in found.elements if told.get("http-equiv") == "Content-Security-Policy"]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'" and "unsafe" not in policy
    for name, element in (("style-src", "style"), ("script-src", "script")):
        assert rules[name] == f"'{html.hashed(''.join(found.texts[element]))}'"
        assert len(found.texts[element]) == 1


EVIL = "</script><script>window.hit=1</script><img src=x onerror=window.hit=2>\"'&\u202e\x1b[31m"
HOSTILE = {
    "model": "m",
    "messages": [{"role": "user", "content": EVIL}],
    EVIL: {EVIL: EVIL, "k" * 300: "v" * 300},
    "metadata": {"k": "http://example.com/private"},
}


def hostile(folder: Path) -> Path:
    place = folder / "hostile.json"
    place.write_bytes(text.dumps(HOSTILE))
    return place


def test_captured_text_is_shown_only_where_it_is_asked_for(tmp_path: Path) -> None:
    words = ("diff", str(hostile(tmp_path)), "--from", "chat", "--to", "messages")
    full, _ = page(tmp_path, *words, values="full")
    for how in ("short", "none"):
        said, _ = page(tmp_path, *words, values=how)
        assert "http://example.com/private" in full and "private" not in said
        assert f"text, {len(EVIL)} characters" in said and f"text, {len(EVIL)} characters" not in full
    for said in (full, page(tmp_path, *words)[0]):
        found = Page(said)
        assert not found.faults and sum(tag == "script" for tag, _ in found.elements) == 1
        assert not [tag for tag, _ in found.elements if tag == "img"]
        assert "\u202e" not in said and "\x1b" not in said
        assert "".join(found.texts["bdi"]).count("<img src=x") >= 2, "keys are shown, escaped"


def test_credentials_are_shown_only_where_they_are_wanted(tmp_path: Path) -> None:
    batch = FIXTURES / "exchange/messages/batch.json"
    secret = text.loads(batch.read_bytes())["request"]["headers"]["x-api-key"]
    for more, there in (([], False), (["--set", "credentials=true"], True)):
        said, _ = page(tmp_path, "diff", str(batch), "--to", "chat", *more, values="full")
        assert (secret in said) is there


def test_numbers_are_no_values_with_none(tmp_path: Path) -> None:
    words = ("diff", str(BODY), "--to", "messages")
    assert "20260510" in page(tmp_path, *words)[0]
    assert "20260510" not in page(tmp_path, *words, values="none")[0]


def test_what_does_not_fit_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("diff", str(BODY), str(STREAM), "--to", "messages")
    whole, report = page(tmp_path, *words)
    monkeypatch.setattr(html, "ROWS", 30)
    said, _ = page(tmp_path, *words)
    found = Page(said)
    assert sum(sum(each.values()) for each in found.leaves.values()) == 30
    assert "not shown" in said and "not shown" not in whole and not found.faults
    assert found.leaves["source"]["dropped"] > 0, "what is lost goes before what is carried"
    for item in report["items"]:
        assert f'= <b class="carried">{item["counts"]["source"]["carried"]} carried' in said, "sums count all"
    monkeypatch.setattr(panes, "LARGEST", 10)
    assert not any(Page(page(tmp_path, *words)[0]).leaves.values())
    monkeypatch.setattr(html, "DOCUMENTS", 1)
    assert "and 1 document not shown" in page(tmp_path, *words)[0]


def test_deep_nesting_becomes_flat(tmp_path: Path) -> None:
    deep: Any = 1
    for _ in range(200):
        deep = {"k": [deep]}
    place = tmp_path / "deep.json"
    place.write_bytes(text.dumps({"model": "m", "messages": [], "metadata": deep}))
    said, report = page(tmp_path, "diff", str(place), "--from", "chat", "--to", "responses")
    found = Page(said)
    assert sum(found.leaves["source"].values()) == report["items"][0]["counts"]["source"]["leaves"]
    depth = most = 0
    for slash in re.findall("<(/?)ul", said):
        depth += -1 if slash else 1
        most = max(most, depth)
    assert most < 60


def test_what_could_not_be_read_has_its_place(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    cut = tmp_path / "cut.sse"
    cut.write_bytes(STREAM.read_bytes().replace(b'"delta":', b'"delta" ', 3).replace(b'"delta" ', b'"delta":', 2))
    said, _ = page(tmp_path, "diff", str(bad), str(cut), "--to", "messages", "--on-error", "skip")
    found = Page(said)
    assert "Not all of the input was looked at." in "".join(found.texts["p"])
    assert "could not be read" in said and "why-bad-json" in found.ids()


def test_nothing_is_kept_where_no_page_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from proxai_cli.cli import run

    seen = []
    monkeypatch.setattr(run.Run, "add", lambda self, outcome, *rest: seen.append(outcome.item.view))
    for words in (["diff", "--to", "messages"], ["diff", "--to", "messages", "--format", "html"]):
        for path in (BODY, STREAM):
            answered([*words, str(path)], folder=tmp_path)
    answered(["inspect", str(STREAM), "--format", "html"], folder=tmp_path)
    assert [view is None for view in seen] == [True, True, False, False, True]


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    if browser.obstacle():
        pytest.skip(browser.obstacle())
    with browser.browser(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


def kept(folder: Path, *words: str, values: str = "short") -> Path:
    place = folder / "page.html"
    place.write_text(page(folder, *words, values=values)[0], encoding="utf-8")
    return place


def status(driver: Any) -> str:
    return str(driver.find_element("id", "status").text)


def marked(driver: Any) -> list[str]:
    return [each.get_attribute("id") for each in driver.find_elements("css selector", ".partner")]


SHOWN = {"body": BODY, "stream": STREAM, "exchange": FIXTURES / "exchange/messages/batch.json"}


@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.parametrize("width", [400, 1400])
def test_a_browser_shows_it_quietly(driver: Any, name: str, width: int, tmp_path: Path) -> None:
    place = kept(tmp_path, "diff", str(SHOWN[name]), "--to", "chat" if name == "exchange" else "messages")
    for dark in (False, True):
        browser.opened(driver, place, width, dark)
        wide = driver.execute_script(
            "for (const part of document.querySelectorAll('details')) part.open = true;"
            "return [document.documentElement.scrollWidth, innerWidth]"
        )
        assert wide[0] <= wide[1] == width
        paper = driver.find_element("tag name", "body").value_of_css_property("background-color")
        assert (max(map(int, re.findall(r"\d+", paper)[:3])) < 100) is dark, "the style works under its policy"
        assert "scripted" in driver.find_element("tag name", "html").get_attribute("class"), "and so does the script"
        assert browser.complaints(driver) == []
        assert browser.requests(driver) == [place.as_uri()]


def test_pointing_shows_the_partner_and_the_reason(driver: Any, tmp_path: Path) -> None:
    from selenium.webdriver import ActionChains

    browser.opened(driver, kept(tmp_path, "diff", str(BODY), "--to", "messages"))
    leaf = driver.find_element("css selector", "[data-side=source] .leaf.changed")
    ActionChains(driver).move_to_element(leaf).perform()
    said = status(driver)
    assert "changed" in said and "/temperature 1.3" in said and "risk" in said and "clamp-temperature" in said
    assert "The target takes temperatures" in said
    (partner,) = marked(driver)
    assert driver.find_element("id", partner).get_attribute("data-at") == "/temperature"
    assert (
        driver.find_element("id", partner).find_element("xpath", "ancestor::*[@data-side]").get_attribute("data-side")
        == "target"
    )


def test_the_keyboard_is_enough(driver: Any, tmp_path: Path) -> None:
    from selenium.webdriver import ActionChains, Keys

    browser.opened(driver, kept(tmp_path, "diff", str(BODY), "--to", "messages"))

    def press(*keys: str) -> Any:
        ActionChains(driver).send_keys(*keys).perform()
        return driver.switch_to.active_element

    for _ in range(30):
        if "leaf" in (press(Keys.TAB).get_attribute("class") or ""):
            break
    assert press(Keys.ARROW_DOWN).tag_name == "summary" and press(Keys.ARROW_UP).get_attribute("data-at") == "/model"
    assert "carried" in status(driver) and len(marked(driver)) == 1
    assert press(Keys.ENTER).find_element("xpath", "ancestor::*[@data-side]").get_attribute("data-side") == "target"
    assert (
        press(Keys.ARROW_LEFT).find_element("xpath", "ancestor::*[@data-side]").get_attribute("data-side") == "source"
    )
    assert press("n").get_attribute("data-at") == "/temperature" and "clamp-temperature" in status(driver)
    assert press("n").get_attribute("data-at") == "/frequency_penalty" and "dropped" in status(driver)
    assert marked(driver) == []
    branch = press("p", Keys.HOME, Keys.ARROW_DOWN)
    assert branch.tag_name == "summary"
    details = branch.find_element("xpath", "..")
    press(Keys.ARROW_LEFT)
    assert details.get_attribute("open") is None
    assert press(Keys.ARROW_DOWN).get_attribute("data-at") == "/temperature", "what is folded is passed over"
    stops = driver.find_elements("css selector", "[data-side] [tabindex='0']")
    assert len(stops) == 2, "one stop of Tab on each side"


def test_a_partner_in_a_folded_event_is_found(driver: Any, tmp_path: Path) -> None:
    from selenium.webdriver import ActionChains, Keys

    browser.opened(driver, kept(tmp_path, "diff", str(STREAM), "--to", "messages"))
    leaf = driver.find_element("css selector", "[data-side=source] .leaf.carried")
    ActionChains(driver).move_to_element(leaf).perform()
    (partner,) = driver.find_elements("css selector", ".partner")
    assert partner.tag_name == "summary" and partner.is_displayed()
    driver.execute_script("arguments[0].focus()", leaf)
    ActionChains(driver).send_keys(Keys.ENTER).perform()
    there = driver.switch_to.active_element
    assert "leaf" in there.get_attribute("class") and there.is_displayed(), "it is unfolded on the way"


def test_the_filter_hides_fates(driver: Any, tmp_path: Path) -> None:
    browser.opened(driver, kept(tmp_path, "diff", str(BODY), "--to", "messages"))
    seen = "return [...document.querySelectorAll(arguments[0])].filter((each) => each.checkVisibility()).length"
    assert driver.execute_script(seen, ".leaf.carried") == 14
    driver.execute_script("document.getElementById('show-carried').click()")
    assert driver.execute_script(seen, ".leaf.carried") == 0 and driver.execute_script(seen, ".leaf.dropped") == 16
    keys = [each.text for each in driver.find_elements("css selector", "summary .key") if each.is_displayed()]
    assert "messages" not in keys and "logit_bias" in keys, "a part goes with its last leaf"


def test_it_reads_without_scripts(driver: Any, tmp_path: Path) -> None:
    place = kept(tmp_path, "diff", str(BODY), "--to", "messages")
    browser.opened(driver, place, scripts=False)
    try:
        assert "scripted" not in (driver.find_element("tag name", "html").get_attribute("class") or "")
        row = driver.find_element("css selector", "[data-side=source] .leaf.changed")
        assert "clamp-temperature" in row.text and "risk" in row.text
        assert row.get_attribute("title").startswith("The target takes temperatures")
        row.click()
        there = driver.find_element("css selector", ":target")
        assert (
            there.get_attribute("data-at") == "/temperature" and there.value_of_css_property("outline-style") == "solid"
        )
        assert "link to its partner" in driver.find_element("css selector", ".hint").text
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_hostile_text_does_not_run(driver: Any, tmp_path: Path) -> None:
    words = ("diff", str(hostile(tmp_path)), "--from", "chat", "--to", "messages")
    browser.opened(driver, kept(tmp_path, *words, values="full"), width=400)
    assert driver.execute_script("return document.documentElement.scrollWidth") == 400
    assert driver.execute_script("return window.hit === undefined")
    assert driver.execute_script("return document.querySelectorAll('img, script').length") == 1
    assert browser.complaints(driver) == [] and len(browser.requests(driver)) == 1
