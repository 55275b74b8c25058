"""The mapping choices of `--set` (`spec/decisions.md` §2): what each value does, and what is done where none is said."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from proxai_cli import text
from proxai_cli.cli import app
from proxai_cli.cli.choices import CHOICES, chosen
from proxai_cli.endpoints import translate_endpoint
from proxai_cli.errors import NotPossible, OutOfOrder, ProxaiError
from proxai_cli.exchange import translate_exchange
from proxai_cli.ir.events import DONE
from proxai_cli.pipe import Pipe, written

from .small import USER, answer, ask, at, context, stream_of, streamed, told, wire

# The names of §2 with their values, the default first; None where the default is no value. `…` is any other value.
LISTED: dict[str, tuple[str | None, ...]] = {
    "anthropic-version": (None, "2023-06-01", "2026-10-21"),
    "model": (None, "…"),
    "max-tokens": ("4096", "…"),
    "beta": ("false", "true"),
    "system": ("parts", "join"),
    "mid-system": ("keep", "hoist", "user"),
    "merge-roles": ("false", "true"),
    "keep-reasoning": ("false", "true"),
    "reasoning-dialect": ("reasoning_content", "reasoning", "reasoning_details", "none"),
    "thinking": ("adaptive", "budget", "effort-only"),
    "tool-error-prefix": (None, "…"),
    "client-tools": ("drop", "functions"),
    "inline-refs": ("false", "true"),
    "cache-marks": ("true", "false"),
    "keep-foreign-ids": ("false", "true"),
    "keep-unknown": ("false", "true"),
    "choice": ("0", "…", "all"),
    "item-ids": ("prefixed", "source"),
    "partial": ("false", "true"),
    "annotations": ("true", "false"),
    "usage-chunk": ("true", "false"),
    "stream-errors": ("true", "false"),
    "credentials": ("false", "true"),
    "encoding": (None, "base64", "float"),
    "rerank": (None, "cohere", "jina"),
}


class Case(NamedTuple):
    """What a choice acts upon: `look` translates something under some choices and gives what there is to see."""

    name: str
    what: str
    look: Callable[[dict[str, str]], Any]
    seen: dict[str | None, Any]


def body(source: str, target: str, document: Any, *path: Any, kind: str = "request", **known: Any) -> Any:
    """Looks at one place of a translated body."""
    return lambda choices: at(told(document, source, target, kind, choices, **known).value, *path)


def reply(source: str, target: str, document: Any, *path: Any) -> Any:
    return body(source, target, document, *path, kind="response")


def stream(source: str, target: str, document: Any, show: Callable[[list[Any]], Any]) -> Any:
    """Looks at the events that the stream of a reply, or of these events, becomes."""
    fed = stream_of(document, source) if isinstance(document, dict) else document
    return lambda choices: show(wire(streamed(fed, source, target, choices)[0]))


def refused(look: Callable[[dict[str, str]], Any]) -> Any:
    """The same, or the code with which it is refused."""

    def show(choices: dict[str, str]) -> Any:
        try:
            return look(choices)
        except (NotPossible, OutOfOrder) as error:
            return error.code

    return show


def keys(*wanted: str) -> Callable[[list[Any]], Any]:
    """Of a chat stream: which of these keys its deltas have."""
    return lambda chunks: [
        key for key in wanted if any(key in one["delta"] for chunk in chunks for one in chunk["choices"])
    ]


def roles(choices: dict[str, str], source: str) -> Any:
    turns = [USER, {"role": "system", "content": "Late"}, USER]
    value = told(ask(source, *turns), source, "messages", choices=choices).value
    return value.get("system"), [turn["role"] for turn in value["messages"]]


def tool(protocol: str, schema: Any) -> Any:
    if protocol == "chat":
        return {"type": "function", "function": {"name": "f", "parameters": schema}}
    return (
        {"name": "f", "input_schema": schema}
        if protocol == "messages"
        else {"type": "function", "name": "f", "parameters": schema, "strict": False}
    )


def foreign(protocol: str) -> str:
    return "chat" if protocol == "messages" else "messages"


def joined_texts(value: Any) -> Any:
    """The text of a part, or of a lone string."""
    return value if isinstance(value, str) else [part["text"] for part in value]


HOT = ask("chat", temperature=0.5)
PIECES = [{"type": "text", "text": "One"}, {"type": "text", "text": "Two"}]
PAIR = [USER, {"role": "user", "content": "Ho"}]
THOUGHT = {"type": "thinking", "thinking": "Hm", "signature": "sig"}
THOUGHTFUL = ask("messages", USER, {"role": "assistant", "content": [THOUGHT, {"type": "text", "text": "A"}]}, USER)
REASONED = ask(
    "responses",
    USER,
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm"}]},
    {"type": "message", "role": "assistant", "content": "A"},
    USER,
)
CALL = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
FAILED = ask(
    "messages",
    USER,
    {"role": "assistant", "content": [CALL]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "no", "is_error": True}]},
)
BASH = ask("messages", tools=[{"type": "bash_20250124", "name": "bash"}])
REFERRED = {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "properties": {"x": {"type": "string"}}}}}
MARKED = ask(
    "messages", {"role": "user", "content": [{"type": "text", "text": "A", "cache_control": {"type": "ephemeral"}}]}
)
CODE = {"type": "code_execution_20250825", "name": "code_execution"}
THINKING = answer("messages", [THOUGHT, {"type": "text", "text": "A"}])
CALLING = {"tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}
CALLED = answer("chat", CALLING, "tool_calls")
TWO = {
    **answer("chat", {}),
    "choices": [
        {"index": at, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        for at, said in enumerate(("A", "B"))
    ],
}
SEARCHED = answer(
    "messages",
    [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        {
            "type": "text",
            "text": "A",
            "citations": [
                {
                    "type": "web_search_result_location",
                    "url": "https://a.example",
                    "title": "t",
                    "cited_text": "A",
                    "encrypted_index": "x",
                }
            ],
        },
    ],
)
RUNNING = answer("messages", [{"type": "text", "text": "A"}]) | {"stop_reason": None}
WAITING = answer("responses", [], "in_progress")
BROKEN = answer(
    "responses",
    [
        {
            "type": "message",
            "id": "msg_1",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "A", "annotations": []}],
        }
    ],
    "failed",
    error={"code": "server_error", "message": "Down"},
)
CUT = stream_of(answer("messages", [{"type": "text", "text": "A"}]), "messages")[:3]
FAULT = [*CUT, {"type": "error", "error": {"type": "overloaded_error", "message": "Down"}}]
KEY = {
    "method": "POST",
    "url": "https://api.openai.com/v1/chat/completions",
    "headers": {"authorization": "Bearer sk-secret"},
    "body": ask("chat"),
}
VECTORS = {
    "object": "list",
    "data": [{"object": "embedding", "index": 0, "embedding": [0.5, -1.0]}],
    "model": "m",
    "usage": {"prompt_tokens": 1, "total_tokens": 1},
}
RANKED = {
    "model": "m",
    "results": [{"index": 0, "relevance_score": 0.5, "document": {"text": "d"}}],
    "usage": {"total_tokens": 3},
}


def text_of(choices: dict[str, str]) -> Any:
    from proxai_cli import collect

    return at(collect(CUT, "messages", "chat", context(choices)).value, "choices", 0, "message", "content")


def item_ids(events: list[Any]) -> set[str]:
    return {event["item"]["id"] for event in events if "item" in event} | {
        event["item_id"] for event in events if "item_id" in event
    }


CASES = [
    Case(
        "anthropic-version",
        "chat",
        body("chat", "messages", HOT, "temperature"),
        {None: 0.5, "2023-06-01": 0.5, "2026-10-21": None},
    ),
    Case(
        "anthropic-version",
        "captured",
        body("chat", "messages", HOT, "temperature", headers={"anthropic-version": "2026-10-21"}),
        {None: None, "2023-06-01": 0.5, "2026-10-21": None},
    ),
    *(
        Case(
            "model", f"{source} to {target}", body(source, target, ask(source), "model"), {None: "m", "other": "other"}
        )
        for source in ("chat", "responses", "messages")
        for target in ("chat", "responses", "messages")
    ),
    Case("max-tokens", "chat", body("chat", "messages", ask("chat"), "max_tokens"), {None: 4096, "17": 17}),
    Case(
        "max-tokens", "responses", body("responses", "messages", ask("responses"), "max_tokens"), {None: 4096, "17": 17}
    ),
    Case("max-tokens", "said", body("chat", "messages", ask("chat", max_tokens=5), "max_tokens"), {None: 5, "17": 5}),
    Case(
        "beta",
        "compaction",
        body(
            "responses",
            "messages",
            ask("responses", context_management=[{"type": "compaction", "compact_threshold": 9}]),
            "context_management",
            "edits",
            0,
            "trigger",
            "value",
        ),
        {None: None, "true": 9},
    ),
    Case(
        "system",
        "chat to messages",
        lambda choices: joined_texts(
            told(
                ask("chat", *({"role": "system", "content": one} for one in ("One", "Two")), USER),
                "chat",
                "messages",
                choices=choices,
            ).value["system"]
        ),
        {None: ["One", "Two"], "join": "One\n\nTwo"},
    ),
    Case(
        "system",
        "messages to chat",
        lambda choices: joined_texts(
            told(ask("messages", system=PIECES), "messages", "chat", choices=choices).value["messages"][0]["content"]
        ),
        {None: ["One", "Two"], "join": "One\n\nTwo"},
    ),
    Case(
        "system",
        "to responses",
        body("messages", "responses", ask("messages", system=PIECES), "instructions"),
        {None: None, "join": "One\n\nTwo"},
    ),
    Case(
        "system",
        "one piece",
        body("messages", "responses", ask("messages", system=PIECES[:1]), "instructions"),
        {None: "One", "join": "One"},
    ),
    *(
        Case(
            "mid-system",
            source,
            lambda choices, source=source: roles(choices, source),
            {
                None: (None, ["user", "system", "user"]),
                "hoist": ("Late", ["user", "user"]),
                "user": (None, ["user", "user", "user"]),
            },
        )
        for source in ("chat", "responses")
    ),
    *(
        Case(
            "merge-roles",
            f"{source} to {target}",
            lambda choices, source=source, target=target: len(
                told(ask(source, *PAIR), source, target, choices=choices).value["messages"]
            ),
            {None: 2, "true": 1},
        )
        for source, target in (
            ("chat", "messages"),
            ("responses", "messages"),
            ("messages", "chat"),
            ("responses", "chat"),
        )
    ),
    Case(
        "keep-reasoning",
        "messages to chat",
        body("messages", "chat", THOUGHTFUL, "messages", 1, "reasoning_content"),
        {None: None, "true": "Hm"},
    ),
    Case(
        "keep-reasoning",
        "messages to responses",
        lambda choices: [
            item["type"] for item in told(THOUGHTFUL, "messages", "responses", choices=choices).value["input"]
        ],
        {None: ["message"] * 3, "true": ["message", "reasoning", "message", "message"]},
    ),
    Case(
        "keep-reasoning",
        "responses to chat",
        body("responses", "chat", REASONED, "messages", 1, "reasoning_content"),
        {None: None, "true": "Hm"},
    ),
    Case(
        "keep-reasoning",
        "responses to messages",
        body("responses", "messages", REASONED, "messages", 1, "content", 0, "thinking"),
        {None: None, "true": "Hm"},
    ),
    Case(
        "reasoning-dialect",
        "body",
        lambda choices: {
            key: value
            for key, value in told(THINKING, "messages", "chat", "response", choices)
            .value["choices"][0]["message"]
            .items()
            if key.startswith("reasoning")
        },
        {
            None: {"reasoning_content": "Hm"},
            "reasoning": {"reasoning": "Hm"},
            "reasoning_details": {
                "reasoning_details": [{"type": "reasoning.text", "text": "Hm", "signature": "sig", "index": 0}]
            },
            "none": {},
        },
    ),
    Case(
        "reasoning-dialect",
        "stream",
        stream("messages", "chat", THINKING, keys("reasoning_content", "reasoning", "reasoning_details")),
        {
            None: ["reasoning_content"],
            "reasoning": ["reasoning"],
            "reasoning_details": ["reasoning_details"],
            "none": [],
        },
    ),
    Case(
        "thinking",
        "chat to messages",
        lambda choices: [
            told(ask("chat", reasoning_effort="low", max_tokens=100), "chat", "messages", choices=choices).value.get(
                key
            )
            for key in ("thinking", "output_config", "max_tokens")
        ],
        {
            None: [{"type": "adaptive"}, {"effort": "low"}, 100],
            "budget": [{"type": "enabled", "budget_tokens": 1024}, None, 1124],
            "effort-only": [None, {"effort": "low"}, 100],
        },
    ),
    Case(
        "tool-error-prefix",
        "chat",
        body("messages", "chat", FAILED, "messages", 2, "content"),
        {None: "no", "Error: ": "Error: no"},
    ),
    Case(
        "tool-error-prefix",
        "responses",
        body("messages", "responses", FAILED, "input", 2, "output"),
        {None: "no", "Error: ": "Error: no"},
    ),
    Case(
        "client-tools",
        "chat",
        body("messages", "chat", BASH, "tools", 0, "function", "name"),
        {None: None, "functions": "bash"},
    ),
    Case(
        "client-tools",
        "responses",
        body("messages", "responses", BASH, "tools", 0, "type"),
        {None: "shell", "functions": "function"},
    ),
    *(
        Case(
            "inline-refs",
            target,
            body(
                foreign(target),
                target,
                ask(foreign(target), tools=[tool(foreign(target), REFERRED)]),
                "tools",
                0,
                *place,
                "properties",
            ),
            {None: None, "true": {"x": {"type": "string"}}},
        )
        for target, place in (
            ("messages", ("input_schema",)),
            ("chat", ("function", "parameters")),
            ("responses", ("parameters",)),
        )
    ),
    Case(
        "cache-marks",
        "chat",
        body("messages", "chat", MARKED, "messages", 0, "content", 0, "prompt_cache_breakpoint", "mode"),
        {None: "explicit", "false": None},
    ),
    Case(
        "cache-marks",
        "responses",
        body("messages", "responses", MARKED, "input", 0, "content", 0, "prompt_cache_breakpoint", "mode"),
        {None: "explicit", "false": None},
    ),
    Case(
        "keep-foreign-ids",
        "an earlier reply",
        body(
            "messages",
            "responses",
            ask("messages", diagnostics={"previous_message_id": "msg_0"}),
            "prompt_cache_options",
            "comparison_response_id",
        ),
        {None: None, "true": "msg_0"},
    ),
    Case(
        "keep-foreign-ids",
        "an earlier reply, back",
        body(
            "responses",
            "messages",
            ask("responses", prompt_cache_options={"comparison_response_id": "resp_0"}),
            "diagnostics",
            "previous_message_id",
        ),
        {None: None, "true": "resp_0"},
    ),
    Case(
        "keep-foreign-ids",
        "a container",
        body("messages", "responses", ask("messages", tools=[CODE], container="c_1"), "tools", 0, "container"),
        {None: {"type": "auto"}, "true": "c_1"},
    ),
    *(
        Case(
            "keep-unknown",
            f"{source} to {target}",
            body(source, target, ask(source, novelty=1), "novelty"),
            {None: None, "true": 1},
        )
        for source in ("chat", "responses", "messages")
        for target in ("chat", "responses", "messages")
        if source != target
    ),
    Case(
        "keep-unknown",
        "reply",
        reply("chat", "messages", answer("chat", {"content": "A"}, novelty=1), "novelty"),
        {None: None, "true": 1},
    ),
    Case("choice", "messages", reply("chat", "messages", TWO, "content", 0, "text"), {None: "A", "1": "B"}),
    Case(
        "choice", "responses", reply("chat", "responses", TWO, "output", 0, "content", 0, "text"), {None: "A", "1": "B"}
    ),
    Case(
        "choice",
        "stream",
        stream(
            "chat",
            "messages",
            TWO,
            lambda events: [event["delta"]["text"] for event in events if event["type"] == "content_block_delta"],
        ),
        {None: ["A"], "1": ["B"], "all": ["A"]},
    ),
    Case(
        "item-ids",
        "call",
        reply("chat", "responses", CALLED, "output", 0, "id"),
        {None: "fc_call_1", "source": "call_1"},
    ),
    Case(
        "item-ids",
        "call in a stream",
        stream("chat", "responses", CALLED, item_ids),
        {None: {"fc_call_1"}, "source": {"call_1"}},
    ),
    Case(
        "item-ids",
        "hosted",
        reply("messages", "responses", SEARCHED, "output", 0, "id"),
        {None: "ws_srvtoolu_1", "source": "srvtoolu_1"},
    ),
    Case(
        "item-ids",
        "hosted in a stream",
        stream("messages", "responses", SEARCHED, lambda events: {one for one in item_ids(events) if "srv" in one}),
        {None: {"ws_srvtoolu_1"}, "source": {"srvtoolu_1"}},
    ),
    Case(
        "partial",
        "running to chat",
        refused(reply("messages", "chat", RUNNING, "choices", 0, "finish_reason")),
        {None: "still-running", "true": "stop"},
    ),
    Case(
        "partial",
        "running to messages",
        refused(lambda choices: told(WAITING, "responses", "messages", "response", choices).value["stop_reason"]),
        {None: "still-running", "true": None},
    ),
    Case(
        "partial",
        "failed to chat",
        reply("responses", "chat", BROKEN, "choices", 0, "message", "content"),
        {None: None, "true": "A"},
    ),
    Case(
        "partial",
        "failed to messages",
        reply("responses", "messages", BROKEN, "content", 0, "text"),
        {None: None, "true": "A"},
    ),
    Case("partial", "cut", refused(text_of), {None: "truncated", "true": "A"}),
    Case(
        "annotations",
        "messages",
        stream("messages", "chat", SEARCHED, keys("annotations")),
        {None: ["annotations"], "false": []},
    ),
    Case(
        "usage-chunk",
        "messages",
        stream(
            "messages",
            "chat",
            THINKING,
            lambda chunks: sum("usage" in chunk and not chunk["choices"] for chunk in chunks),
        ),
        {None: 1, "false": 0},
    ),
    *(
        Case("stream-errors", target, stream("messages", target, FAULT, show), {None: wanted, "false": False})
        for target, show, wanted in (
            ("chat", lambda events: any("error" in event for event in events), True),
            ("responses", lambda events: any(event["type"] == "response.failed" for event in events), True),
        )
    ),
    Case(
        "stream-errors",
        "messages",
        stream(
            "chat",
            "messages",
            [*stream_of(answer("chat", {"content": "A"}), "chat")[:1], {"error": {"message": "Down"}}],
            lambda events: any(event["type"] == "error" for event in events),
        ),
        {None: True, "false": False},
    ),
    Case(
        "credentials",
        "key",
        lambda choices: translate_exchange(KEY, "chat", "messages", context(choices)).value["headers"]["x-api-key"],
        {None: "<redacted>", "true": "sk-secret"},
    ),
    Case(
        "encoding",
        "vectors",
        lambda choices: translate_endpoint(
            VECTORS, "chat", "responses", "embeddings", "response", context(choices)
        ).value["data"][0]["embedding"],
        {None: [0.5, -1.0], "base64": "AAAAPwAAgL8=", "float": [0.5, -1.0]},
    ),
    Case(
        "rerank",
        "documents",
        lambda choices: at(
            translate_endpoint(RANKED, "chat", "chat", "rerank", "response", context(choices)).value,
            "results",
            0,
            "document",
            "text",
        ),
        {None: "d", "cohere": None, "jina": "d"},
    ),
]
EACH = [pytest.param(case, value, id=f"{case.name}-{value}-{case.what}") for case in CASES for value in case.seen]


@pytest.mark.parametrize(("case", "value"), EACH)
def test_what_a_value_does(case: Case, value: str | None) -> None:
    assert case.look({} if value is None else {case.name: value}) == case.seen[value]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}-{case.what}")
def test_the_default_is_as_decided(case: Case) -> None:
    """To say the default is to say nothing, unless a capture has a word in it."""
    default = LISTED[case.name][0]
    if default is not None:
        assert case.look({case.name: default}) == case.seen[None]


def test_every_value_is_shown() -> None:
    shown: dict[str, set[str | None]] = {}
    for case in CASES:
        shown.setdefault(case.name, set()).update(case.seen)
    for name, values in LISTED.items():
        assert {value for value in values if value not in (values[0], "…", "all")} <= shown[name], name
        assert "…" not in values or len(shown[name]) > 1, name


def test_all_choices_are_a_body_each(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """Lines of JSON, with ids that differ; each line has an account of its own."""
    (tmp_path / "two.json").write_bytes(text.dumps(TWO))
    call = ["convert", str(tmp_path / "two.json"), "--set", "choice=all", "--report", f"json:{tmp_path / 'report'}"]
    for target, said in (("messages", ("content", 0, "text")), ("responses", ("output", 0, "content", 0, "text"))):
        assert app.main([*call, "--to", target]) == 0
        first, second = map(text.loads, capsysbinary.readouterr().out.splitlines())
        assert [at(each, *said) for each in (first, second)] == ["A", "B"]
        assert first["id"].endswith("chatcmpl-1_0") and second["id"].endswith("chatcmpl-1_1")
        report = text.loads((tmp_path / "report").read_bytes())
        assert len(report["items"]) == 2
    assert app.main([*call, "--to", "chat"]) == 0
    assert text.loads(capsysbinary.readouterr().out) == TWO


def test_all_choices_of_a_stream_are_a_body_each(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """As the choices of a body are, with the same ids."""
    (tmp_path / "two.json").write_bytes(text.dumps(TWO))
    chunk = {key: TWO[key] for key in ("id", "model", "created")} | {"object": "chat.completion.chunk"}
    deltas = [
        {"index": each["index"], "delta": each["message"] if reason is None else {}, "finish_reason": reason}
        for reason in (None, "stop")
        for each in reversed(TWO["choices"])
    ]
    chunks = [{**chunk, "choices": [delta]} for delta in deltas]
    fed = [*chunks, {**chunk, "choices": [], "usage": TWO["usage"]}, DONE]
    (tmp_path / "two.sse").write_bytes(written(fed, "chat"))
    for target in ("messages", "responses"):
        assert app.main(["convert", str(tmp_path / "two.json"), "--set", "choice=all", "--to", target]) == 0
        bodies = [text.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
        assert app.main(["collect", str(tmp_path / "two.sse"), "--set", "choice=all", "--to", target]) == 0
        assert [text.loads(line) for line in capsysbinary.readouterr().out.splitlines()] == bodies
    assert app.main(["collect", str(tmp_path / "two.sse"), "--set", "choice=1", "--to", "messages"]) == 0
    assert text.loads(capsysbinary.readouterr().out)["content"][0]["text"] == "B"
    for command in ("collect", "convert"):
        assert app.main([command, str(tmp_path / "two.sse"), "--set", "choice=2", "--to", "messages"]) == 3
        assert "error[empty]" in capsysbinary.readouterr().err.decode()


def test_the_choices_are_those_of_the_specification(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert app.main(["map", "--choices", "--format", "json"]) == 0
    listed = text.loads(capsysbinary.readouterr().out)
    assert [line["choice"] for line in listed] == list(LISTED)
    for line in listed:
        default, *others = LISTED[line["choice"]]
        named = [value for value in (default, *others) if value not in (None, "…")]
        assert set(CHOICES[line["choice"]].values) <= set(named)
        assert all(CHOICES[line["choice"]].takes(value) for value in named)
        assert default is None or line["default"] == default
        assert all(value in line["values"] for value in CHOICES[line["choice"]].values)


@pytest.mark.parametrize(
    "given",
    ["thinking", "thinkin=budget", "thinking=much", "max-tokens=many", "choice=some", "model=", "item-ids=none"],
)
def test_what_is_no_choice_is_a_bad_call(given: str) -> None:
    with pytest.raises(ProxaiError) as caught:
        chosen([given])
    assert caught.value.code == "bad-call" and caught.value.hint


@pytest.mark.parametrize("end", [b"", b"data: [DONE]\n\n"], ids=["cut", "whole"])
def test_a_choice_that_a_stream_does_not_have_is_accounted_for(end: bytes) -> None:
    chunk = {
        "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }  # fmt: skip
    pipe = Pipe("chat", "messages", context({"choice": "2"}))
    pipe.feed(b"data: " + text.dumps(chunk) + b"\n\n" + end)
    pipe.close()
    assert pipe.error and pipe.error.code == "empty"
    assert sum(ours for ours, *_ in pipe.translator.account.values()) == pipe.source_leaves
    assert not [key for key in pipe.translator.account if key[4] == "unexplained"]
