"""Whose words the body of a call beside the creation of replies uses: the protocols that may have said it."""

from typing import Any

from .address import BATCHES, COMPACT, COUNT, MODELS, VENDOR, address, has_call
from .batches.lines import requests_of
from .batches.results import protocol_of_reply

_OPENAI, _ANTHROPIC = ("chat", "responses"), ("messages",)


def spoken(call: str, value: Any) -> tuple[str, ...]:
    """The protocols whose body of that call this may be, the likeliest first; `call` is a name of ENDPOINTS."""
    said = _SPOKEN[call](value) if call in _SPOKEN else tuple(VENDOR)
    return tuple(protocol for protocol in said if has_call(call, protocol))


def _count(value: Any) -> tuple[str, ...]:
    """A count names itself only in Responses; a request to count is told by its markers, as the request it counts."""
    if isinstance(value, dict) and "input_tokens" in value:
        return ("responses",) if "object" in value else _ANTHROPIC
    return ("messages",) if isinstance(value, dict) and "messages" in value else ("responses",)


def _thing(value: Any) -> tuple[str, ...]:
    """A thing, or a page of things: OpenAI says `object` where Anthropic says `type`."""
    if not isinstance(value, dict):
        return tuple(VENDOR)
    things = value.get("data")
    first = things[0] if isinstance(things, list) and things else value
    if "object" in value or (isinstance(first, dict) and "object" in first):
        return _OPENAI
    return _ANTHROPIC if isinstance(first, dict) and "type" in first else tuple(VENDOR)


def _batch(value: Any) -> tuple[str, ...]:
    if not isinstance(value, (dict, list)):
        return tuple(VENDOR)
    if isinstance(value, dict) and "custom_id" not in value and not isinstance(value.get("requests"), list):
        path, things = value.get("endpoint"), _OPENAI if "input_file_id" in value else _thing(value)
        return _first(address(path).protocol if isinstance(path, str) else None, things)
    lines, _ = requests_of(value)
    line = next((each for each in lines if isinstance(each, dict) and "custom_id" in each), {})
    if {"params", "result"} & set(line):
        return _ANTHROPIC
    url, answer = line.get("url"), line.get("response")
    if isinstance(answer, dict):
        return _first(protocol_of_reply(answer.get("body"), "chat"), _OPENAI)
    return _first(address(url).protocol if isinstance(url, str) else None, _OPENAI)


def _first(protocol: str | None, others: tuple[str, ...]) -> tuple[str, ...]:
    return (protocol, *(other for other in others if other != protocol)) if protocol in others else others


def _compact(value: Any) -> tuple[str, ...]:
    asks_or_answers = isinstance(value, dict) and {"messages", "content"} & set(value)
    return _ANTHROPIC if asks_or_answers else ("responses",)


_SPOKEN = {MODELS: _thing, COUNT: _count, COMPACT: _compact, BATCHES: _batch}
