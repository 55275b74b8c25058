"""The layers, and what breaks which client, as data: of each the codes of findings that it fails on, and how that is
known."""

from typing import NamedTuple

from ..reasons import FINDINGS

LAYERS = ("shape", "order", "client")
# Errors that are told as findings have no layer: those of a decoder are about the order, these about the text.
_UNREADABLE = ("bad-json", "number-too-long", "empty")


class Profile(NamedTuple):
    """A client: what it is, and of each finding that breaks it what happens, with where that was seen."""

    title: str
    breaks: dict[str, str]


_JSON = "reads the data of every event as JSON and raises"

PROFILES: dict[str, Profile] = {
    "openai-python": Profile(
        "the official Python client of OpenAI (chat, responses), and its stream helpers",
        {
            "empty-event": f"{_JSON} (tried with 3.57)",
            "keep-alive-event": "reads an empty event there, at comments once an `id` came (openai/openai-python#2722)",
            "call-repeats": "its chat helper joins the words, so the id or name stands twice (tried with 3.57)",
        },
    ),
    "openai-node": Profile(
        "the official TypeScript client of OpenAI (chat, responses)",
        {"empty-event": f"{_JSON} (mnfst/llm-gateway#2053)"},
    ),
    "openai-go": Profile(
        "the official Go client of OpenAI (chat, responses)",
        {
            "empty-event": f"{_JSON} (openai/openai-go#651)",
            "keep-alive-event": "reads an empty event there and raises (openai/openai-go#643, #651)",
        },
    ),
    "anthropic-python": Profile(
        "the official Python client of Anthropic (messages), and its stream helper",
        {
            "event-name": "goes by the name of an event and passes over others (tried with 2.14)",
        },
    ),
    "anthropic-typescript": Profile(
        "the official TypeScript client of Anthropic (messages)",
        {
            "event-name": "goes by the name of an event and passes over others (earendil-works/pi#1983)",
            "empty-event": f"{_JSON} (anthropics/anthropic-sdk-typescript#861)",
            "blocks-overlap": "its helper tells pieces of the last block that was started",
        },
    ),
    "claude-code": Profile(
        "Claude Code, behind a gateway that speaks messages",
        {
            "event-name": "goes by the name of an event, as its client library does (earendil-works/pi#1983)",
            "blocks-overlap": "loses tool input, or stops with `Content block not found`",
        },
    ),
    "vercel-ai": Profile(
        "the AI SDK of Vercel (chat, responses, messages)",
        {
            "unknown-event": "its closed list of events refuses the stream (vercel/ai#20574, anomalyco/opencode#38106)",
            "empty-event": f"{_JSON} (caozhiyuan/copilot-api#88)",
        },
    ),
    "serde": Profile(
        "Rust clients that read events as a closed enumeration",
        {
            "unknown-event": "an unknown variant ends the turn (router-for-me/CLIProxyAPI#6007)",
        },
    ),
    "langchain": Profile(
        "LangChain's chat models",
        {"usage-missing": "`usage_metadata` stays empty (langchain-ai/langgraph#5878)"},
    ),
    "openai-php": Profile(
        "the PHP client of OpenAI (responses)",
        {"unknown-event": "raises UnknownEventException (openai-php/laravel#189)"},
    ),
}


class Wanted(NamedTuple):
    """What is looked for: some of the layers, and of the third only what breaks one client, if one is named."""

    layers: tuple[str, ...] = LAYERS
    profile: str | None = None

    def has(self, code: str) -> bool:
        layer = layer_of(code)
        if layer == "client" and self.profile is not None and code not in PROFILES[self.profile].breaks:
            return False
        return layer == "input" or layer in self.layers


EVERYTHING = Wanted()


def layer_of(code: str) -> str:
    """The layer of a finding, or of an error that is told as one."""
    if code in FINDINGS:
        return FINDINGS[code].layer
    return "input" if code in _UNREADABLE else "order"
