"""What was decided about requests (`spec/decisions.md`), each decision by a table of small documents.

The other decisions: test_decided_replies.py, test_decided_streams.py, test_hosted.py, the way back (D1) test_side.py.
The choices of §2: test_choices.py; trips there and back, §1: test_stable.py; §3 and §4: test_acceptance.py.
"""

import hashlib
import re
from typing import Any

import pytest

from proxai_cli import text, translate
from proxai_cli.cli import app
from proxai_cli.errors import ProxaiError

from .small import (
    SIX,
    USER,
    ask,
    at,
    called,
    findings,
    reasons,
    told,
    with_call,
)

TOOL = {
    "chat": {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}},
    "responses": {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}, "strict": False},
    "messages": {"name": "f", "input_schema": {"type": "object", "properties": {}}},
}


# D2: degrade, and say so; what the target refuses is never written.


def test_exit_codes(tmp_path: Any, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    (tmp_path / "a.json").write_bytes(text.dumps(ask("chat", seed=7)))
    call = ["convert", str(tmp_path / "a.json"), "--to", "messages"]
    for more, code in (([], 0), (["--fail-on", "loss"], 1), (["--fail-on", "risk"], 0)):
        assert app.main([*call, *more]) == code
        assert text.loads(capsysbinary.readouterr().out)["messages"] == [USER]


def test_no_silent_drop() -> None:
    done = told(ask("chat", {**USER, "name": "ada"}, seed=7, frequency_penalty=0.5, novelty=1), "chat", "messages")
    dropped = {entry.source: (entry.why, entry.level) for entry in done.ledger.entries if entry.fate == "dropped"}
    assert dropped == {
        ("messages", 0, "name"): ("no-equivalent", "loss"),
        ("seed",): ("no-equivalent", "loss"),
        ("frequency_penalty",): ("no-equivalent", "risk"),
        ("novelty",): ("unknown-field", "loss"),
    }


def shortened(old: str, limit: int) -> str:
    """What stands for an id of legal characters that is too long, or for one that has others."""
    mark = "_" + hashlib.sha256(old.encode()).hexdigest()[:8]
    return re.sub("[^A-Za-z0-9_-]", "_", old)[-(limit - len(mark)) :] + mark


@pytest.mark.parametrize(
    ("source", "target", "document", "place", "seen", "why"),
    [
        ("chat", "messages", ask("chat", {"role": "assistant", "content": "", **called("chat", "{}")}), ("messages", 0, "content", 0, "type"), "tool_use", "target-rejects"),
        ("chat", "messages", ask("chat", stop=["END", " "]), ("stop_sequences",), ["END"], "target-rejects"),
        ("chat", "messages", ask("chat", user="a@b.example"), ("metadata",), None, "target-rejects"),
        ("chat", "messages", with_call("chat", id="call:1"), ("messages", 1, "content", 0, "id"), shortened("call:1", 4096), "legal-id"),
        ("messages", "chat", with_call("messages", result=None), ("messages", 2, "content"), "[no result in the capture]", "missing-result"),
        ("messages", "chat", ask("messages", stop_sequences=list("abcde")), ("stop",), list("abcd"), "target-rejects"),
        ("messages", "responses", ask("messages", metadata={"user_id": "u" * 130}), ("safety_identifier",), shortened("u" * 130, 128), "legal-id"),
        ("responses", "messages", ask("responses", {"type": "function_call_output", "call_id": "c", "output": "o"}), ("messages", 0, "content"), "o", "orphan-result"),
    ],
)  # fmt: skip
def test_what_is_refused_is_not_written(
    source: str, target: str, document: Any, place: Any, seen: Any, why: str
) -> None:
    done = told(document, source, target)
    assert at(done.value, *place) == seen
    assert why in {entry.why for entry in done.ledger.entries}


# D4: two versions of the Messages API.


@pytest.mark.parametrize(
    ("heat", "version", "seen", "why"),
    [
        (0.5, "2023-06-01", 0.5, None),
        (1.5, "2023-06-01", 1, "clamp-temperature"),
        (0.5, "2026-10-21", None, "target-rejects"),
        (1, "2026-10-21", None, "target-rejects"),
    ],
)
def test_temperature_profiles(heat: float, version: str, seen: Any, why: str | None) -> None:
    for known in ({"choices": {"anthropic-version": version}}, {"headers": {"anthropic-version": version}}):
        done = told(ask("chat", temperature=heat), "chat", "messages", **known)
        assert done.value.get("temperature") == seen
        assert reasons(done, "temperature")[0][1] == why


def test_top_k_both_ways() -> None:
    for target in ("chat", "responses"):
        done = told(ask("messages", top_k=5), "messages", target)
        assert reasons(done, "top_k") == [("dropped", "no-equivalent")] and "top_k" not in done.value
    assert told(ask("messages", top_k=5), "messages", "messages").value["top_k"] == 5
    for version, seen in (("2023-06-01", 0.5), ("2026-10-21", None)):
        done = told(ask("responses", top_p=0.5), "responses", "messages", choices={"anthropic-version": version})
        assert done.value.get("top_p") == seen


# D5, D6: instructions keep their place and their boundaries.


@pytest.mark.parametrize(("source", "target"), SIX)
def test_mid_system_position(source: str, target: str) -> None:
    value = told(ask(source, USER, {"role": "system", "content": "Late"}, USER), source, target).value
    home = "input" if target == "responses" else "messages"
    assert [(turn["role"], turn["content"]) for turn in value[home]] == [
        ("user", "Hi"),
        ("system", "Late"),
        ("user", "Hi"),
    ]


def test_system_blocks_boundaries() -> None:
    head = [{"role": role, "content": words} for role, words in (("system", "A"), ("developer", "B"))]
    there = told(ask("chat", *head, USER), "chat", "messages")
    assert there.value["system"] == [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]
    assert reasons(there, "messages", 1, "role")[0][1] == "role-merge"
    marked = [{"type": "text", "text": "A", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "B"}]
    for target in ("chat", "responses"):
        value = told(ask("messages", system=marked), "messages", target).value
        parts = at(value, "input" if target == "responses" else "messages", 0, "content")
        assert [(part["text"], "prompt_cache_breakpoint" in part) for part in parts] == [("A", True), ("B", False)]
        assert told(value, target, "messages").value["system"] == marked


# D9: arguments that are no object are wrapped; numbers keep their digits.


@pytest.mark.parametrize("arguments", ["not json", "[1]", '"x"', "1", "{", '{"a":1} rest'])
@pytest.mark.parametrize("source", ["chat", "responses"])
def test_bad_arguments_roundtrip(source: str, arguments: str) -> None:
    there = told(with_call(source, arguments), source, "messages")
    (call,) = there.value["messages"][1]["content"]
    assert call["input"] == {"_raw": arguments}
    assert ("raw-arguments", "risk") in {(entry.why, entry.level) for entry in there.ledger.entries}
    back = told(there.value, "messages", source).value
    call = back["messages"][1]["tool_calls"][0]["function"] if source == "chat" else back["input"][1]
    assert call["arguments"] == arguments


NUMBERS = '{"a":1.10,"b":1e400,"c":-0,"d":123456789012345678901234567890,"e":1E5,"f":0.1e-7}'


@pytest.mark.parametrize("source", ["chat", "responses"])
def test_numbers_survive(source: str) -> None:
    there = translate(text.loads(text.dumps(with_call(source, NUMBERS))), source, "messages", "request").value
    assert NUMBERS.encode() in text.dumps(there)
    back = translate(text.loads(text.dumps(there)), "messages", source, "request").value
    call = back["messages"][1]["tool_calls"][0]["function"] if source == "chat" else back["input"][1]
    assert call["arguments"] == NUMBERS
    with pytest.raises(ProxaiError) as caught:
        text.loads(NUMBERS.replace("1.10", "1" * 10_001))
    assert caught.value.code == "number-too-long"


# D16: in requests reasoning of another vendor does not travel.


@pytest.mark.parametrize(("source", "target"), [pair for pair in SIX if pair[0] != "chat"])
def test_reasoning_in_history(source: str, target: str) -> None:
    thought = {
        "messages": [
            {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": "Hm", "signature": "s"}, {"type": "text", "text": "A"}],
            }
        ],
        "responses": [
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "Hm"}],
                "encrypted_content": "e",
            },
            {"type": "message", "role": "assistant", "content": "A"},
        ],
    }
    done = told(ask(source, USER, *thought[source], USER), source, target)
    assert b"Hm" not in text.dumps(done.value)
    dropped = [entry for entry in done.ledger.entries if entry.why == "foreign-signature"]
    assert dropped and {entry.level for entry in dropped} == {"risk"}


# D18: effort and thinking.


@pytest.mark.parametrize("source", ["chat", "responses"])
@pytest.mark.parametrize("word", ["none", "minimal", "low", "medium", "high", "xhigh", "max"])
def test_effort_table_roundtrip(source: str, word: str) -> None:
    fields = {"reasoning_effort": word} if source == "chat" else {"reasoning": {"effort": word}}
    value = told(ask(source, **fields), source, "messages").value
    wanted = {
        "none": ({"type": "disabled"}, None),
        "minimal": ({"type": "disabled"}, {"effort": "low"}),
    }.get(word, ({"type": "adaptive"}, {"effort": word}))
    assert (value.get("thinking"), value.get("output_config")) == wanted
    back = told(value, "messages", source).value
    assert {key: back[key] for key in fields} == fields


@pytest.mark.parametrize(
    ("budget", "word"),
    [
        (1024, "low"),
        (2047, "low"),
        (2048, "medium"),
        (8191, "medium"),
        (8192, "high"),
        (32767, "high"),
        (32768, "xhigh"),
    ],
)
def test_budget_thresholds(budget: int, word: str) -> None:
    done = told(ask("messages", thinking={"type": "enabled", "budget_tokens": budget}), "messages", "chat")
    assert done.value["reasoning_effort"] == word
    assert reasons(done, "thinking", "budget_tokens") == [("changed", "budget-to-effort")]


# D22: a request that did not ask for it is not stored.


@pytest.mark.parametrize(
    ("source", "fields", "seen"), [("chat", {}, False), ("chat", {"store": True}, True), ("messages", {}, False)]
)
def test_store_default(source: str, fields: dict[str, Any], seen: bool) -> None:
    done = told(ask(source, **fields), source, "responses")
    assert done.value["store"] is seen
    assert ("store-default" in {entry.why for entry in done.ledger.entries}) is not fields.get("store", False)
    assert "store" not in told(ask(source), source, "messages" if source == "chat" else "chat").value


# D26: cache marks.


@pytest.mark.parametrize("target", ["chat", "responses"])
@pytest.mark.parametrize(("life", "theirs"), [(None, None), ("5m", None), ("1h", "12h")])
def test_cache_marks_both_ways(target: str, life: str | None, theirs: str | None) -> None:
    mark = {"type": "ephemeral", **({"ttl": life} if life else {})}
    marked = {"type": "text", "text": "A", "cache_control": mark}
    request = ask(
        "messages", {"role": "user", "content": [marked]}, tools=[{**TOOL["messages"], "cache_control": {**mark}}]
    )
    done = told(request, "messages", target)
    part = at(done.value, "input" if target == "responses" else "messages", 0, "content", 0)
    assert part["prompt_cache_breakpoint"] == {"mode": "explicit", **({"ttl": theirs} if theirs else {})}
    assert reasons(done, "tools", 0, "cache_control", "type")[0][0] == "dropped"
    back = told(done.value, target, "messages").value["messages"][0]["content"][0]
    assert back["cache_control"] == {"type": "ephemeral", **({"ttl": "1h"} if life == "1h" else {})}


# D27: file ids of another vendor.


@pytest.mark.parametrize(
    ("source", "target", "part", "place", "why"),
    [
        ("chat", "messages", {"type": "file", "file": {"file_id": "file_1"}}, ("source",), None),
        ("responses", "messages", {"type": "input_file", "file_id": "file_1"}, ("source",), None),
        ("responses", "messages", {"type": "input_image", "file_id": "file_1", "detail": "auto"}, ("source",), None),
        ("messages", "responses", {"type": "image", "source": {"type": "file", "file_id": "file_1"}}, ("file_id",), None),
        ("messages", "chat", {"type": "document", "source": {"type": "file", "file_id": "file_1"}}, ("file",), None),
        ("messages", "chat", {"type": "image", "source": {"type": "file", "file_id": "file_1"}}, (), "foreign-id"),
        ("responses", "chat", {"type": "input_image", "file_id": "file_1", "detail": "auto"}, (), "foreign-id"),
    ],
)  # fmt: skip
def test_file_ids(source: str, target: str, part: Any, place: tuple[str, ...], why: str | None) -> None:
    done = told(
        ask(
            source,
            {
                "role": "user",
                "content": [part, {"type": "input_text" if source == "responses" else "text", "text": "A"}],
            },
        ),
        source,
        target,
    )
    content = at(done.value, "input" if target == "responses" else "messages", 0, "content")
    if why:
        assert why in {entry.why for entry in done.ledger.entries} and b"file_1" not in text.dumps(done.value)
    else:
        assert "file_1" in str(at(content[0], *place)) and "foreign-id-kept" in findings(done)


# D30: objects as text.


@pytest.mark.parametrize(
    ("given", "spelled"),
    [
        ('{"b":1,"a":2}', '{"b":1,"a":2}'),
        ('{ "a" : [ 1 , 2.50 ] }', '{"a":[1,2.50]}'),
        ('{"é":"ü\\u0000\\"/"}', '{"é":"ü\\u0000\\"/"}'),
        ("{}", "{}"),
    ],
)
@pytest.mark.parametrize("target", ["chat", "responses"])
def test_json_dump_exact(target: str, given: str, spelled: str) -> None:
    value = told(with_call("messages", given), "messages", target).value
    call = value["messages"][1]["tool_calls"][0]["function"] if target == "chat" else value["input"][1]
    assert call["arguments"] == spelled


# What steers a reply is a risk where it is lost (`spec/reasons.md`).


@pytest.mark.parametrize(
    ("source", "target", "fields", "path"),
    [
        ("messages", "chat", {"thinking": {"type": "disabled"}, "output_config": {"effort": "medium"}}, ("thinking",)),
        ("chat", "messages", {"web_search_options": {"search_context_size": "low"}}, ("web_search_options",)),
        (
            "responses",
            "chat",
            {"tools": [{"type": "web_search", "filters": {"allowed_domains": ["a.example"]}}]},
            ("tools", 0, "filters"),
        ),
    ],
)
def test_what_steers_and_is_lost_is_a_risk(source: str, target: str, fields: Any, path: tuple[Any, ...]) -> None:
    done = told(ask(source, **fields), source, target)
    lost = [entry for entry in done.ledger.entries if entry.source and entry.source[: len(path)] == path]
    assert {(entry.why, entry.level) for entry in lost if entry.fate == "dropped"} >= {("no-equivalent", "risk")}
    assert "loss" not in {entry.level for entry in lost}
