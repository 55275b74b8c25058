"""What somebody else's translation did: our own has no fault, every fault put into it is told where it is."""

import copy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from proxai_cli import PROTOCOLS, Context, text, translate
from proxai_cli.compare import Capture, Difference, compare
from proxai_cli.compare.alignment import scalars
from proxai_cli.compare.sequences import in_any_order, in_order
from proxai_cli.errors import NotThatProtocol, ProxaiError
from proxai_cli.ledger import CARRIED, CHANGED, DROPPED, IGNORED, SYNTHESIZED, VOLATILE, get, size
from tests.accounts import mutants
from tests.calls import Done, answered
from tests.captures import body, corpus, fixtures
from tests.small import SIX, answer, ask, called, said_text, with_call
from tests.test_laws import PAIRS

BODIES = [each for each in [*fixtures(), *corpus()] if each.kind != "stream"]
OURS = [each for each in fixtures() if each.kind != "stream"]
# Requests whose translation has no `input`, which a Responses request is known by.
UNKNOWN = {"corpus/chat/request/envoy-ai-gateway-002.json", "corpus/messages/request/dd-trace-py-007.json"}
# The alternatives of a reply are compared leaf by leaf, null and all.
ALTERNATIVES = "chat/logprobs-of-two-choices/stream.sse"


def compared(first: Capture, second: Any, protocol: str, **how: Any) -> list[Difference]:
    """The account, which balances on both sides."""
    failed = isinstance(second.get("error"), dict) and not {"choices", "output", "content"} & set(second)
    kind = "error" if failed else first.kind
    account = compare(first, Capture(second, protocol, kind), **how)
    sums = sum(each.ours for each in account), sum(each.theirs for each in account)
    assert sums == (size(first.value), size(second))
    return account


def faults(account: list[Difference]) -> list[tuple[str, str | None, str | None, str | None]]:
    """What could have been avoided: fate, source, target, reason."""
    return [
        (each.fate, each.source and text.pointer(each.source), each.target and text.pointer(each.target), each.why)
        for each in account
        if each.avoidable
    ]


# --- our own translation


@pytest.mark.parametrize("target", PROTOCOLS)
@pytest.mark.parametrize("source", PROTOCOLS)
def test_our_own_translation_has_no_fault(source: str, target: str) -> None:
    """Held against itself nothing could have been avoided, and what is dropped is what our own account says."""
    for capture in (each for each in BODIES if each.protocol == source):
        try:
            done = translate(body(capture), source, target, capture.kind)
        except ProxaiError:
            continue
        try:
            account = compared(Capture(body(capture), source, capture.kind), done.value, target, volatile=True)
        except NotThatProtocol:
            assert capture.label in UNKNOWN
            continue
        assert not faults(account), capture.label
        lost = Counter[Any]()
        for entry in done.ledger.entries:
            is_nothing = entry.why == "target-rejects" and get(body(capture), entry.source) == ""
            lost["note" if is_nothing else entry.level] += entry.ours if entry.fate == DROPPED else 0
        for each in account:
            lost[each.level] -= each.ours if each.fate == DROPPED else 0
        assert not any(lost[level] for level in ("loss", "risk")), (capture.label, lost)
        if source == target:
            assert {each.fate for each in account} <= {CARRIED}, capture.label


@pytest.mark.parametrize("target", PROTOCOLS)
def test_whatever_is_put_in_the_account_balances(target: str) -> None:
    for capture in OURS:
        first = Capture(body(capture), capture.protocol, capture.kind)
        try:
            done = translate(*first[:2], target, first.kind)
        except ProxaiError:
            continue
        for mutant in mutants(done.value, capture.label + target, 6):
            try:
                compared(first, mutant, target)
            except ProxaiError:
                continue


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_leaf_that_is_changed_is_told_where_it_stands(protocol: str) -> None:
    told = 0
    for capture in (each for each in OURS if each.protocol == protocol):
        first = Capture(body(capture), protocol, capture.kind)
        leaves = list(scalars(first.value))
        for path in leaves[:: max(1, len(leaves) // 6)]:
            second = copy.deepcopy(first.value)
            home = get(second, path[:-1])
            home[path[-1]] = "quite another" if isinstance(home[path[-1]], str) else 987654
            try:
                account = compared(first, second, protocol, volatile=True)
            except ProxaiError:
                continue
            there = [each.target for each in account if each.fate != CARRIED]
            assert any(target == path[: len(target or path)] for target in there), (capture.label, path)
            told += 1
    assert told > 60


# --- faults by hand

CALLED = with_call("chat", '{"x":1}')


def edited(value: Any, *edits: Any) -> Any:
    """A copy, to which each edit was done."""
    value = copy.deepcopy(value)
    for edit in edits:
        edit(value)
    return value


def put(*way: Any) -> Any:
    """An edit: the last word is put where the others lead."""

    def edit(value: Any) -> None:
        *path, key, said = way
        get(value, tuple(path))[key] = said

    return edit


def drop(*way: Any) -> Any:
    def edit(value: Any) -> None:
        del get(value, way[:-1])[way[-1]]

    return edit


def insert(*way: Any) -> Any:
    def edit(value: Any) -> None:
        *path, at, said = way
        get(value, tuple(path)).insert(at, said)

    return edit


TOOLS = [
    {"type": "function", "function": {"name": name, "description": name * 3, "parameters": {"type": "object"}}}
    for name in ("ab", "cd", "ef")
]
TALK = ask(
    "chat",
    {"role": "system", "content": "Be short, be kind."},
    {"role": "user", "content": "First question"},
    {"role": "assistant", "content": "First answer"},
    {"role": "user", "content": [{"type": "text", "text": "Second question"}, {"type": "text", "text": "and more"}]},
    tools=TOOLS,
    temperature=0.5,
    max_completion_tokens=9,
    seed=4,
    metadata={"a": "b"},
)

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}

FAULTS: list[tuple[str, str, Any, list[tuple[Any, ...]]]] = [
    ("nothing", "messages", [], []),
    ("a field", "messages", [drop("temperature")], [(DROPPED, "/temperature", "/temperature", "not-carried")]),
    ("another value", "messages", [put("temperature", 0.7)], [(CHANGED, "/temperature", "/temperature", "differs")]),
    ("one more", "messages", [put("top_k", 5)], [(SYNTHESIZED, None, "/top_k", "added")]),
    (
        "a turn",
        "messages",
        [drop("messages", 1)],
        [(DROPPED, "/messages/2", "/messages/1", "not-carried")],
    ),
    (
        "a turn in between",
        "messages",
        [insert("messages", 1, {"role": "user", "content": "Who asked that?"})],
        [(SYNTHESIZED, None, "/messages/1", "added")],
    ),
    (
        "one of two texts",
        "messages",
        [drop("messages", 2, "content", 1)],
        [(DROPPED, "/messages/3/content/1", "/messages/2/content/1", "not-carried")],
    ),
    (
        "turns in another order",
        "chat",
        [insert("messages", 3, TALK["messages"][1]), drop("messages", 1)],
        [
            (CHANGED, "/messages/1/role", "/messages/2/role", "differs"),
            (CHANGED, "/messages/1/content", "/messages/2/content", "differs"),
        ],
    ),
    (
        "turns in another order, elsewhere",
        "messages",
        [
            insert("messages", 3, {"role": "user", "content": [{"type": "text", "text": "First question"}]}),
            drop("messages", 0),
        ],
        [
            (CHANGED, "/messages/1/role", "/messages/2/role", "differs"),
            (CHANGED, "/messages/1/content", "/messages/2/content/0/text", "differs"),
        ],
    ),
    ("tools in another order", "messages", [lambda value: value["tools"].reverse()], []),
    ("a tool", "messages", [drop("tools", 1)], [(DROPPED, "/tools/1", "/tools/1", "not-carried")]),
    (
        "a tool's name",
        "messages",
        [put("tools", 1, "name", "xy")],
        [(CHANGED, "/tools/1/function/name", "/tools/1/name", "differs")],
    ),
    (
        "deep in a schema",
        "messages",
        [put("tools", 2, "input_schema", "type", "array")],
        [(CHANGED, "/tools/2/function/parameters/type", "/tools/2/input_schema/type", "differs")],
    ),
    (
        "a role",
        "chat",
        [put("messages", 0, "role", "developer")],
        [(CHANGED, "/messages/0/role", "/messages/0/role", "differs")],
    ),
    # What means the same, arranged otherwise.
    ("a lone text as a list", "messages", [put("messages", 0, "content", [{"type": "text", "text": "First question"}])], []),
    ("two texts as two turns", "messages", [
        put("messages", 2, "content", [{"type": "text", "text": "Second question"}]),
        insert("messages", 3, {"role": "user", "content": [{"type": "text", "text": "and more"}]}),
    ], []),
    ("instructions in the conversation", "responses", [
        insert("input", 0, {"type": "message", "role": "system", "content": "Be short, be kind."}),
        lambda value: value.pop("instructions", None) or value["input"].pop(1),
    ], []),
    ("instructions in their place", "responses", [
        put("instructions", "Be short, be kind."),
        lambda value: value["input"].pop(0) if value["input"][0]["role"] == "system" else None,
    ], []),
    ("two texts joined", "messages", [put("messages", 2, "content", "Second question\n\nand more")], [
        (CHANGED, "/messages/3/content/0/text", "/messages/2/content", "merged-boundary"),
        (CHANGED, "/messages/3/content/1/text", "/messages/2/content", "merged-boundary"),
    ]),
    ("another name for the limit", "chat", [drop("max_completion_tokens"), put("max_tokens", 9)], []),
    ("the same number, written otherwise", "messages", [put("max_tokens", 9.0)], []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "target", "edits", "told"), FAULTS, ids=lambda each: each if isinstance(each, str) else ""
)
def test_a_fault_is_told_where_it_is(name: str, target: str, edits: list[Any], told: list[Any]) -> None:
    second = edited(translate(TALK, "chat", target, "request").value, *edits)
    assert faults(compared(Capture(TALK, "chat", "request"), second, target)) == told


# A leaf that our translation puts at several places, of which the second document lacks one, or has nothing of use there.
SEVERAL: list[tuple[str, str, Any, list[Any], list[str]]] = [
    ("messages", "chat", answer("messages", said_text("messages", "Hi")), [drop("usage", "prompt_tokens")], ["usage/input_tokens"]),
    ("messages", "chat", answer("messages", said_text("messages", "Hi")), [drop("usage", "total_tokens")], ["usage/input_tokens", "usage/output_tokens"]),
    ("chat", "responses", answer("chat", called("chat")), [drop("output", 0, "call_id")], ["choices/0/message/tool_calls/0/id"]),
    ("chat", "responses", answer("chat", called("chat")), [put("output", 0, "call_id", "")], ["choices/0/message/tool_calls/0/id"]),
    ("chat", "responses", answer("chat", called("chat")), [drop("output", 0, "id")], []),
    ("chat", "messages", answer("chat", called("chat")), [put("content", 0, "id", "")], ["choices/0/message/tool_calls/0/id"]),
    ("chat", "messages", ask("chat", {"role": "user", "content": [PICTURE]}), [drop("messages", 0, "content", 0, "source", "data")], ["messages/0/content/0/image_url/url"]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "target", "value", "edits", "told"), SEVERAL)
def test_a_leaf_that_is_missing_at_one_of_its_places_is_told(
    source: str, target: str, value: Any, edits: list[Any], told: list[str]
) -> None:
    kind = "request" if "messages" in value else "response"
    second = edited(translate(value, source, target, kind).value, *edits)
    found = {each[1] for each in faults(compared(Capture(value, source, kind), second, target))}
    assert found == {"/" + each for each in told}


# What a client acts on in a reply, and what it only reads.
ACTED = {**called("chat"), "content": "Let me look"}
WEIGHTS: list[tuple[str, Any, list[tuple[str, str]]]] = [
    ("the stop reason", put("stop_reason", "end_turn"), [("risk", "/choices/0/finish_reason")]),
    ("arguments", put("content", 1, "input", {"x": 2}), [("risk", "/choices/0/message/tool_calls/0/function/arguments")]),
    ("a name", put("content", 1, "name", "g"), [("risk", "/choices/0/message/tool_calls/0/function/name")]),
    ("an id", put("content", 1, "id", ""), [("risk", "/choices/0/message/tool_calls/0/id")]),
    ("a call", drop("content", 1), [("risk", "/choices/0/message/tool_calls")]),
    ("a text", drop("content", 0), [("risk", "/choices/0/message/content")]),
    ("all words of a text", put("content", 0, "text", ""), [("risk", "/choices/0/message/content")]),
    ("some words of a text", put("content", 0, "text", "Let me"), [("loss", "/choices/0/message/content")]),
    ("a count", put("usage", "input_tokens", 7), [("loss", "/usage/prompt_tokens")]),
    ("the model", put("model", "n"), [("loss", "/model")]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "edit", "told"), WEIGHTS, ids=[each[0] for each in WEIGHTS])
def test_what_a_client_acts_on_is_a_risk(name: str, edit: Any, told: list[Any]) -> None:
    first = answer("chat", ACTED, "tool_calls")
    second = edited(translate(first, "chat", "messages", "response").value, edit)
    account = compared(Capture(first, "chat", "response"), second, "messages")
    assert [(each.level, text.pointer(each.source or ())) for each in account if each.avoidable] == told


def test_a_call_that_the_second_adds_is_a_risk() -> None:
    first = answer("chat", {"content": "Let me look"})
    second = edited(translate(first, "chat", "messages", "response").value, insert("content", 1, called("messages")[0]))
    account = compared(Capture(first, "chat", "response"), second, "messages")
    assert [(each.level, each.why) for each in account if each.avoidable] == [("risk", "added")]


EMPTY = {"no content": drop("messages", 1, "content"), "null": put("messages", 1, "content", None), "an empty text": put("messages", 1, "content", "")}  # fmt: skip


@pytest.mark.parametrize("target", PROTOCOLS)
@pytest.mark.parametrize("other", EMPTY)
@pytest.mark.parametrize("one", EMPTY)
def test_nothing_beside_a_call_is_nothing_however_it_is_said(one: str, other: str, target: str) -> None:
    first, second = edited(CALLED, EMPTY[one]), edited(CALLED, EMPTY[other])
    second = translate(second, "chat", target, "request").value
    account = compared(Capture(first, "chat", "request"), second, target)
    assert not faults(account) and {each.level for each in account} <= {None, "note"}


@pytest.mark.parametrize(("budget", "is_fault"), [(1500, True), (1024.0, False)])
def test_another_number_is_a_fault_though_the_word_nearest_to_it_is_the_same(budget: float, is_fault: bool) -> None:
    first = ask("messages", thinking={"type": "enabled", "budget_tokens": 1024})
    account = compared(
        Capture(first, "messages", "request"), edited(first, put("thinking", "budget_tokens", budget)), "messages"
    )
    assert [each.avoidable for each in account if each.fate == CHANGED] == [is_fault]


def test_what_our_own_translation_loses_is_nobodys_fault() -> None:
    second = translate(TALK, "chat", "messages", "request").value
    account = compared(Capture(TALK, "chat", "request"), second, "messages")
    lost = {
        (each.source, each.why, each.avoidable) for each in account if each.fate == DROPPED and each.level != "note"
    }
    assert lost == {(("seed",), "no-equivalent", False), (("metadata",), "no-equivalent", False)}


def test_what_the_second_keeps_although_ours_would_not_is_carried() -> None:
    thought = {"type": "thinking", "thinking": "What could they mean?", "signature": "c2lnbmVk"}
    asked = ask("messages", {"role": "user", "content": "Hi"}, {"role": "assistant", "content": [thought]})
    asked["messages"].append({"role": "user", "content": "And?"})
    second = translate(asked, "messages", "chat", "request", Context(choices={"keep-reasoning": "true"})).value
    account = compared(Capture(asked, "messages", "request"), second, "chat")
    kept = {each.source: each.fate for each in account if each.source and "thinking" in each.source}
    assert kept == {("messages", 1, "content", 0, "thinking"): CARRIED}
    asked |= {"unheard_of": {"a": [1]}, "top_k": 5}
    second |= {"unheard_of": {"a": [1]}, "top_k": 5}
    assert not faults(compared(Capture(asked, "messages", "request"), second, "chat"))


@pytest.mark.parametrize("both", [True, False])
def test_ids_of_calls_may_be_others_if_they_link_the_same(both: bool) -> None:
    first = with_call("messages", '{"x":1}')
    second = translate(first, "messages", "chat", "request").value
    second["messages"][1]["tool_calls"][0]["id"] = "call_9"
    if both:
        second["messages"][2]["tool_call_id"] = "call_9"
    found = faults(compared(Capture(first, "messages", "request"), second, "chat"))
    assert found == ([] if both else [(CHANGED, "/messages/1/content/0/id", "/messages/1/tool_calls/0/id", "differs")])


def test_arguments_are_compared_by_what_they_spell() -> None:
    first = Capture(CALLED, "chat", "request")
    spaced = edited(CALLED, put("messages", 1, "tool_calls", 0, "function", "arguments", '{ "x" : 1 }'))
    account = compared(first, spaced, "chat")
    assert [(each.fate, each.why) for each in account if each.fate != CARRIED] == [(CHANGED, "respelled")]
    other = edited(CALLED, put("messages", 1, "tool_calls", 0, "function", "arguments", '{"x":2}'))
    assert faults(compared(first, other, "chat")) == [
        (CHANGED, *["/messages/1/tool_calls/0/function/arguments"] * 2, "differs")
    ]


@pytest.mark.parametrize(("source", "target"), SIX)
def test_made_up_ids_and_times_are_compared_only_when_asked_for(source: str, target: str) -> None:
    first = Capture(answer(source, called(source)), source, "response")
    second = edited(translate(first.value, source, target, "response").value, put("id", "another"))
    account = compared(first, second, target)
    assert not faults(account)
    assert any(each.fate == VOLATILE and each.source == ("id",) for each in account)
    asked = compared(first, second, target, volatile=True)
    assert [each[1:3] for each in faults(asked)] == [("/id", "/id")]
    assert not any(each.fate == VOLATILE for each in asked)


def test_what_is_left_out_is_not_looked_at() -> None:
    second = edited(TALK, drop("metadata"), put("seed", 5))
    first = Capture(TALK, "chat", "request")
    account = compared(first, second, "chat", left_out=lambda path: path[0] in ("metadata", "seed"))
    assert not faults(account)
    assert sum(each.ours for each in account if each.fate == IGNORED) == 2


@pytest.mark.parametrize("words", [("request", "response"), ("response", "request"), ("response", "error")])
def test_documents_of_two_kinds_are_not_compared(words: tuple[str, str]) -> None:
    values = {
        "request": ask("chat"),
        "response": answer("chat", {"content": "Hi"}),
        "error": {"error": {"message": "no", "type": "api_error"}},
    }
    with pytest.raises(NotThatProtocol, match=f"of kind {words[0]}, the second {words[1]}"):
        compare(*(Capture(values[kind], "chat", kind) for kind in words))


# --- lists

ORDERS: list[tuple[str, str, dict[int, int]]] = [
    ("abc", "abc", {0: 0, 1: 1, 2: 2}),
    ("abc", "xabc", {0: 1, 1: 2, 2: 3}),
    ("abcd", "acd", {0: 0, 2: 1, 3: 2}),
    ("aabaa", "abaa", {0: 0, 2: 1, 3: 2, 4: 3}),
    ("abcde", "abxde", {0: 0, 1: 1, 3: 3, 4: 4}),
    ("", "ab", {}),
    ("ab", "", {}),
]


@pytest.mark.parametrize(("ours", "theirs", "pairs"), ORDERS)
def test_an_insertion_moves_nothing(ours: str, theirs: str, pairs: dict[int, int]) -> None:
    assert len(in_order([(each,) for each in ours], [(each,) for each in theirs])) == len(pairs)
    assert in_order([(each,) for each in ours], [(each,) for each in theirs]) == pairs or ours == "aabaa"


def test_lists_without_order_are_paired_by_what_they_say() -> None:
    assert in_any_order([("a", 1), ("b", 1)], [("b", 1), ("c", 1)]) == {1: 0, 0: 1}


def test_the_work_grows_with_the_lists() -> None:
    """Pairs in order of long lists in which nothing is the same but a few: a quadratic way would not come back."""
    count = 60_000
    ours = [(f"a{at}" if at % 100 else f"s{at}",) for at in range(count)]
    theirs = [(f"b{at}" if at % 100 else f"s{at}",) for at in range(count)]
    assert len(in_order(ours, theirs)) == count // 100


# --- the command


@pytest.fixture
def proxai(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> Done:
        return answered(list(words), b"", tmp_path)

    return call


def write(name: str, *values: Any) -> None:
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"".join(text.dumps(value) + b"\n" for value in values))


CALLS = Path(__file__).resolve().parent.parent / "fixtures" / "calls"


def test_what_the_gateway_did(proxai: Any) -> None:
    for name in ("client.request.json", "upstream.request.json"):
        Path(name).write_bytes((CALLS / name).read_bytes())
    done = proxai("diff", "client.request.json", "upstream.request.json")
    lines = done.out.decode().splitlines()
    assert done.code == 1 and not done.err
    assert lines[:4] == [
        "client.request.json (messages) -> upstream.request.json (chat)",
        "  avoidable: the gateway lost it, the target has a place for it",
        "    risk  dropped  /messages/4/content/1 (5)  would be /messages/5/content/1",
        "    risk  dropped  /tools/2/strict            would be /tools/2/function/strict",
    ]
    assert "  unavoidable" in lines and "  not compared: 2 volatile fields (--volatile)" in lines
    assert "    risk  dropped  /top_k" in done.out.decode()
    data = proxai("diff", "client.request.json", "upstream.request.json", "--format", "json").value
    assert {change["avoidable"] for change in data["items"][0]["changes"]} == {True, False}
    assert data["items"][0]["input"]["label"] == "upstream.request.json"


def test_a_stream_and_its_body(proxai: Any) -> None:
    for name in ("s.sse", "plain.json"):
        Path(name).write_bytes((CALLS / name).read_bytes())
    done = proxai("diff", "s.sse", "plain.json", "--format", "lines")
    place = "/usage/prompt_tokens_details/cached_tokens"
    assert done.out.decode().splitlines() == [
        f"s.sse:11:1: loss differs changed {place} -> {place}: the stream says 0, the body 256 [avoidable]"
    ]
    assert done.code == 1
    assert proxai("diff", "s.sse", "plain.json", "--ignore", "/usage/**").code == 0
    assert proxai("diff", "s.sse", "s.sse", "--volatile", "--fail-on", "note").code == 0


def test_streams_say_what_their_bodies_say(tmp_path: Path) -> None:
    told = []
    for stream, plain in PAIRS:
        done = answered(["diff", str(stream.path), str(plain.path), "--format", "lines"], b"", tmp_path)
        told += [stream.label] if done.code else []
    assert told == [ALTERNATIVES]


def test_directories_are_paired_by_name(proxai: Any) -> None:
    write("a/x.json", TALK)
    write("b/x.json", edited(TALK, drop("seed")))
    write("a/y.json", TALK)
    write("b/y.txt", TALK)
    write("a/alone.json", TALK)
    write("b/other.json", TALK)
    done = proxai("diff", "a", "b", "--format", "json")
    items = {item["input"]["path"]: item for item in done.value["items"]}
    assert {path: [change["source"] for change in item["changes"]] for path, item in items.items()} == {
        "a/x.json": ["/seed"],
        "a/y.json": [],
        "a/alone.json": [],
        "b/other.json": [],
    }
    unpaired = [path for path, item in items.items() if item["findings"]]
    assert unpaired == ["a/alone.json", "b/other.json"]
    assert items["b/other.json"]["findings"][0]["code"] == "unpaired-file"
    assert done.code == 1


@pytest.mark.parametrize(
    ("key", "words", "pairs"),
    [
        ("custom_id", [], [2]),
        ("id", [], [2]),
        ("nr", ["--pair-by", "/nr"], [2]),
        ("nr", [], [1, 2]),  # nothing tells them apart but their number
    ],
)
def test_records_are_paired_by_their_names(proxai: Any, key: str, words: list[str], pairs: list[int]) -> None:
    def records(names: str, seed: int) -> list[Any]:
        return [{key: name, "body": ask("chat", seed=seed)} for name in names]

    write("a.jsonl", *records("xy", 4))
    write("b.jsonl", *records("yz", 5))
    items = proxai("diff", "a.jsonl", "b.jsonl", "--at", "/body", "--format", "json", *words).value["items"]
    assert [item["input"]["record"] for item in items if item["changes"]] == pairs
    assert all(change["source"] == "/seed" for item in items for change in item["changes"])
    alone = [(item["input"]["path"], found["place"]) for item in items for found in item["findings"]]
    assert alone == ([("a.jsonl", {"line": 1}), ("b.jsonl", {"line": 2})] if len(pairs) == 1 else [])


def test_nothing_compared_is_not_nothing_found(proxai: Any) -> None:
    """Whatever counts: where no document has a partner, nobody has looked."""
    for name in ("a/x.json", "a/w.json", "b/y.json", "b/z.json", "z.json"):
        write(name, TALK)
    page = {"status": 200, "headers": [], "content": {"mimeType": "text/html", "text": "<p>"}}
    request = {"method": "GET", "url": "https://x.test/", "headers": []}
    write("none.har", {"log": {"version": "1.2", "entries": [{"request": request, "response": page}]}})
    for words in (["a", "b"], ["a", "z.json"], ["none.har", "none.har"]):
        done = proxai("diff", *words, "--fail-on", "never")
        assert done.code == 3 and "error[empty]" in done.err, words
    write("a/y.json", TALK)
    assert proxai("diff", "a", "b", "--fail-on", "never").code == 0


def test_a_lone_document_that_cannot_be_read_is_told_as_that(proxai: Any) -> None:
    write("a/x.json", TALK)
    write("b/x.json", TALK)
    Path("b/broken.json").write_text('{"model": oops}')
    done = proxai("diff", "a", "b", "--fail-on", "never")
    assert done.code == 3 and "error[bad-json] b/broken.json:1" in done.err
    write("a.jsonl", {"id": "1", "body": TALK}, {"id": "2", "body": TALK})
    write("b.jsonl", {"id": "1", "body": TALK})
    with open("b.jsonl", "a") as file:
        file.write('{"id": "2", "body"\n[1]\n')
    done = proxai("diff", "a.jsonl", "b.jsonl", "--at", "/body", "--on-error", "skip", "--format", "lines")
    assert done.code == 3 and "error[bad-json] b.jsonl:2" in done.err
    assert done.out.count(b"unpaired-file") == 1 and b"b.jsonl:3:1: risk unrecognised" in done.out


def test_a_name_that_no_record_has_is_told(proxai: Any) -> None:
    write("a.jsonl", {"body": TALK}, {"body": TALK})
    done = proxai("diff", "a.jsonl", "a.jsonl", "--at", "/body", "--pair-by", "/nr")
    assert done.code == 0 and "no record has a name at /nr" in done.err


MISTAKES: list[tuple[list[str], int, str]] = [
    (["diff", "a.json"], 2, "compares two captures"),
    (["diff", "a.json", "a.json", "a.json"], 2, "compares two captures"),
    (["diff", "-", "-"], 2, "only one of the two"),
    (["diff", "a.json", "a.json", "--ignore", "seed"], 2, "the pattern 'seed'"),
    (["diff", "a.json", "a.json", "--pair-by", "seed"], 2, "--pair-by takes a JSON Pointer"),
    (["diff", "a.json", "none.json"], 3, "none.json"),
    (["diff", "none.json", "a.json"], 3, "none.json"),
    (["diff", "a.json", "reply.json"], 3, "of kind request, the second response"),
    (["diff", "a.json", "bad.json"], 3, "error[bad-json] bad.json:1"),
    (["diff", "cut.sse", "reply.json"], 3, "error[truncated] cut.sse"),
    (["diff", "a.json", "a.json", "--report", "json:./a.json"], 2, "would be overwritten"),
]


@pytest.mark.parametrize(
    ("words", "code", "said"), MISTAKES, ids=lambda each: " ".join(each) if isinstance(each, list) else ""
)
def test_mistakes(proxai: Any, words: list[str], code: int, said: str) -> None:
    write("a.json", TALK)
    write("reply.json", answer("chat", {"content": "Hi"}))
    Path("bad.json").write_text('{"model": oops}')
    Path("cut.sse").write_bytes((CALLS / "s.sse").read_bytes()[:700])
    done = proxai(*words)
    assert (done.code, said in done.err) == (code, True), done.err


def test_the_second_of_a_tie_is_taken_for_the_first_and_that_is_told(proxai: Any) -> None:
    tie = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    write("chat.json", {**tie, "seed": 4})
    write("tie.json", tie)
    done = proxai("diff", "chat.json", "tie.json")
    assert "tie.json: fits several protocols; taken for chat, as chat.json" in done.err
    assert proxai("diff", "tie.json", "tie.json").code == 3


def test_words_of_the_protocols_and_models_are_told_of_both_sides_and_no_other(proxai: Any) -> None:
    first = answer("chat", ACTED, "tool_calls", model="gpt-5")
    write("a.json", first)
    write("b.json", edited(first, put("model", "gpt-4"), put("choices", 0, "finish_reason", "stop"),
                           put("choices", 0, "message", "content", "Other words")))  # fmt: skip
    out = proxai("diff", "a.json", "b.json").out.decode()
    assert 'the first says "tool_calls", the second "stop"' in out
    assert 'the first says "gpt-5", the second "gpt-4"' in out
    assert "Other words" not in out and "Let me look" not in out
    assert "gpt-5" not in proxai("diff", "a.json", "b.json", "--values", "none").out.decode()


def test_what_our_own_translation_notices_is_not_told_of_another(proxai: Any) -> None:
    value = ask("chat", tools=TOOLS, reasoning_effort="high", model="gpt-5.5")
    write("a.json", value)
    assert b"tools-with-effort" in proxai("validate", "a.json").out
    done = proxai("diff", "a.json", "a.json")
    assert done.code == 0 and b"tools-with-effort" not in done.out


def test_two_that_share_hardly_anything_may_be_no_pair(proxai: Any) -> None:
    write("a.json", TALK)
    write(
        "b.json",
        ask("messages", {"role": "user", "content": "Quite another thing"}, model="n", max_tokens=77, system="x"),
    )
    assert b"so they may be no pair" in proxai("diff", "a.json", "b.json").out
    assert b"so they may be no pair" not in proxai("diff", "a.json", "a.json").out
