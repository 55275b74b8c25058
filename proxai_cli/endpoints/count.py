"""Token counting: a request that is only counted, and the count (`spec/http.md` §9)."""

from typing import Any

from ..ledger import Leaf, Ledger, Writer
from ..protocols import PROTOCOLS
from ..tables import NUMBER, Field, Table, Word
from .address import COUNT
from .way import Endpoint, Way, unrecognised, whole

# What a request to count may hold; otherwise it is as the request that it counts.
FIELDS = {
    "messages": {
        "model", "messages", "system", "tools", "tool_choice", "thinking", "output_config", "cache_control", "speed",
        "user_profile_id", "workspace_id",
    },
    "responses": {
        "model", "input", "instructions", "tools", "tool_choice", "reasoning", "text", "parallel_tool_calls",
        "truncation", "conversation", "previous_response_id", "personality",
    },
}  # fmt: skip

TABLES = {
    "messages": Table("count", "messages", Field("input_tokens", "input_tokens", NUMBER)),
    "responses": Table(
        "count", "responses", Word("object", "response.input_tokens"), Field("input_tokens", "input_tokens", NUMBER)
    ),
}


class Nowhere(Ledger):
    """Stands in for a ledger where the target has no place: whatever is written there is dropped."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self.real = ledger

    def claim(self, leaf: Leaf, home: Any, key: Any, why: str | None) -> None:
        self.real.drop(leaf, "no-equivalent")

    def drop(self, said: Any, why: str, steers: bool = False) -> None:
        self.real.drop(said, why, steers)


class Within(Writer):
    """A writer of an object that has room for some keys only."""

    __slots__ = ("keys",)

    def __init__(self, w: Writer, keys: set[str]) -> None:
        super().__init__(w.ledger, w.value)
        self.keys = keys

    def put(self, key: Any, leaf: Leaf) -> None:
        if key in self.keys:
            super().put(key, leaf)
        else:
            self.ledger.drop(leaf, "no-equivalent")

    def make(self, key: Any, value: Any, why: str) -> None:
        if key in self.keys:
            super().make(key, value, why)

    def _open(self, key: Any, value: Any) -> Writer:
        return super()._open(key, value) if key in self.keys else Writer(Nowhere(self.ledger), value)


def carry(home: Any, key: Any, w: Writer, way: Way) -> None:
    """A request to count, or the count. Raises `NotThatProtocol`, and `NotPossible` where no target can be made."""
    value = home[key]
    if way.kind == "request":
        node = PROTOCOLS[way.source].read["request"](value, way.context)
        to = w.object(key)
        to = to if way.source == way.target else Within(to, FIELDS[way.target])
        PROTOCOLS[way.target].write["request"](node, to, way.context)
        return
    if not isinstance(value, dict) or "input_tokens" not in value:
        raise unrecognised("a count of tokens is an object with `input_tokens`")
    if way.source == way.target:
        whole(home, key, w)
    else:
        count = TABLES[way.source].read(value, way.context)
        TABLES[way.target].write(count, w.object(key), way.context)


def knows(value: Any) -> str | None:
    """A count by its own words; a request to count has none that tell it from the request that it counts."""
    if not isinstance(value, dict) or "input_tokens" not in value:
        return None
    return "response" if value.get("object") == "response.input_tokens" or len(value) == 1 else None


ENDPOINT = Endpoint(
    COUNT, "call that counts tokens", carry, knows, {f"{name}.count": table for name, table in TABLES.items()}
)
