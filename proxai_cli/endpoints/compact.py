"""Compaction: a conversation made shorter by a call of its own (`spec/http.md` §1).

Responses has a call for it, Messages asks for it in a request that creates a reply; the reply holds one compaction.
"""

from typing import Any

from ..ledger import Leaf, Writer, made
from ..protocols import PROTOCOLS
from .address import COMPACT
from .count import Within
from .way import Endpoint, Way, unrecognised, whole

SUMMARIZE = "summarize"
OBJECT = "response.compaction"
# What such a request and its answer hold in Responses; otherwise they are as those that create a reply.
REQUEST = {
    "model", "input", "instructions", "previous_response_id", "prompt_cache_key", "prompt_cache_options",
    "prompt_cache_retention", "service_tier", "image",
}  # fmt: skip
ANSWER = {"id", "object", "created_at", "output", "usage", "image"}


def carry(home: Any, key: Any, w: Writer, way: Way) -> None:
    """A request for compaction, or its answer. Raises `NotThatProtocol`, and `NotPossible` where none can be made."""
    value = home[key]
    if way.source == way.target:
        whole(home, key, w)
    elif way.kind == "request":
        _carry_request(value, w.object(key), way)
    elif knows(value) == "response" or way.source != "responses":
        _carry_answer(value, w.object(key), way)
    else:
        raise unrecognised(f"a compacted conversation is an object `{OBJECT}`")


def _carry_request(value: Any, to: Writer, way: Way) -> None:
    node = PROTOCOLS[way.source].read["request"](value, way.context).but()
    node.home = None
    if way.source == "responses":
        node.says["compaction"] = made({"type": SUMMARIZE}, "required-by-target")
    else:
        wish = node.says.pop("compaction", None)
        if wants({"compaction": wish and wish.value}):
            for name in wish.value:
                to.ledger.drop(Leaf(wish.value, name), "target-default" if name == "type" else "no-equivalent")
        else:
            to.ledger.drop(wish, "no-equivalent")
        to = Within(to, REQUEST)
    PROTOCOLS[way.target].write["request"](node, to, way.context)


def _carry_answer(value: Any, to: Writer, way: Way) -> None:
    """Messages of the user, which the answer of Responses repeats, have no place in a reply of Messages."""
    reply = PROTOCOLS[way.source].read["response"](value, way.context).but()
    reply.home = None
    if way.source == "responses":
        kept = [part for part in reply.parts() if part.value("service") == "compaction"]
        to.ledger.drop([part for part in reply.parts() if part not in kept], "no-equivalent")
        reply.says["parts"] = kept
        reply.says["stop_reason"] = made("compaction", "required-by-target")
        asked = way.context.request.get("model") if isinstance(way.context.request, dict) else None
        if isinstance(asked, str):
            reply.says.setdefault("model", made(asked, "from-request"))
    else:
        to = Within(to, ANSWER)
    PROTOCOLS[way.target].write["response"](reply, to, way.context)
    if way.target == "responses":
        to.value["object"] = OBJECT


def wants(value: Any) -> bool:
    """Does a request of Messages ask for nothing but a shorter conversation?"""
    wish = value.get("compaction") if isinstance(value, dict) else None
    return isinstance(wish, dict) and wish.get("type") == SUMMARIZE


def knows(value: Any) -> str | None:
    """An answer by its own words; a request for compaction has none that tell it from one that creates a reply."""
    return "response" if isinstance(value, dict) and value.get("object") == OBJECT else None


ENDPOINT = Endpoint(COMPACT, "call that compacts a conversation", carry, knows, {})
