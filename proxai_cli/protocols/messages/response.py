"""Reply bodies of Messages, both ways (`spec/responses.md`)."""

from typing import Any

from ...context import Context
from ...errors import NotPossible, NotThatProtocol
from ...ir.nodes import Node
from ...ir.values import wrapped_id
from ...ledger import Leaf, Writer
from ...tables import NUMBER, fits
from . import tables
from .error import write_error
from .hosted import drop_members, member
from .parts import restore_asides, write_blocks
from .tables import NAME, REPLY, lift, set_aside

CALLS = ("tool_call", "custom_call")
# What Messages counts beside `input_tokens`.
CACHED = ("cache_write_tokens", "cached_tokens")


def read_response(value: Any, context: Context) -> Node:
    """A Messages reply as a node `reply`. Raises `NotThatProtocol`."""
    if not isinstance(value, dict) or not isinstance(value.get("content"), list):
        raise NotThatProtocol("unrecognised", "a Messages reply is an object with a list `content`")
    reply = REPLY.read(value, context)
    reply.says.setdefault("parts", [])  # a reply may say nothing at all
    read_end(reply)
    if "stop_reason" in value and value["stop_reason"] is None:
        reply.says["stop_reason"] = Leaf(value, "stop_reason").to("running", "respelled")
        reply.asides = [(said, why) for said, why in reply.asides if not _is(said, value, "stop_reason")]
    usage = reply.get("usage")
    if usage is not None:
        take_usage(reply, usage)
    _find_refusal(reply)
    return reply


def _is(said: Any, home: Any, key: str) -> bool:
    return isinstance(said, Leaf) and said.home is home and said.key == key


def read_end(node: Node) -> None:
    """What a reply or a finish says about its end, beside the usage."""
    lift(node, "details")
    kind = node.says.get("type")
    if kind is not None and isinstance(kind.home, dict) and "explanation" in kind.home:
        set_aside(node, node.says.pop("type"), "target-default")


def take_usage(node: Node, usage: Node, before: dict[str, Any] | None = None) -> None:
    """Counts as OpenAI cuts them; the service tier moves to the reply.

    `before` holds the cached tokens of an earlier usage of the same stream, which stand where a later one is silent.
    """
    lift(usage, "details")
    for name in ("speed", "service_tier"):
        leaf = usage.get(name)
        if leaf is None:
            continue
        if name == "service_tier" and leaf.value in tables.TIER_USED.from_canonical:
            del usage.says[name]
            if "service_tier" in node.says:
                node.asides.append((leaf, "no-equivalent"))
            else:
                node.says["service_tier"] = leaf
        elif name == "speed" and leaf.value == "fast":
            node.says["service_tier"] = usage.says.pop(name)
    tokens = usage.get("input_tokens")
    cached = [usage.says[name] for name in CACHED if name in usage.says]
    counts = {} if before is None else before
    counts.update({name: usage.says[name].value for name in CACHED if name in usage.says})
    if tokens is not None and any(counts.values()):
        usage.says["input_tokens"] = tokens.to(tokens.value + sum(counts.values()), "usage-sum", cached)


def _find_refusal(reply: Node) -> None:
    """The model's own refusal: its last text is the explanation (`spec/responses.md` §4)."""
    reason, words = reply.get("stop_reason"), reply.get("explanation")
    if reason is None or reason.value != "content_filter" or words is None or not words.value:
        return
    texts = [part for part in reply.parts() if part.kind == "text"]
    if texts and texts[-1].value("text") == words.value:
        texts[-1].kind = "refusal"
        reply.says["stop_reason"] = reason.to("end", "respelled")
        set_aside(reply, reply.says.pop("explanation"), "duplicate")


# Writing

NULLS = ("stop_reason", "stop_sequence", "stop_details", "container")
ARRANGED = (
    *("id", "parts", "stop_reason", "stop_sequence", "explanation", "category"),
    *("usage", "service_tier", "tool_usage", "error"),
)


def write_response(reply: Node, w: Writer, context: Context) -> None:
    """A node `reply` as a Messages reply, or as an error body where it failed. Raises `NotPossible`."""
    if reply.protocol == NAME and reply.home is not None:
        REPLY.write(reply, w, context)
        return
    if reply.get("error") is not None and not context.chosen("partial"):
        write_error(reply.says["error"], w, context)
        w.ledger.drop(reply.but("error"), "not-terminal")
        return
    if "parts" not in reply.says:
        raise NotPossible("empty", "the reply holds no choice", hint="look at it with `proxai inspect`")
    if reply.value("stop_reason") == "running" and not context.chosen("partial") and reply.protocol != NAME:
        raise NotPossible("still-running", "the reply is not finished", hint="--set partial=true writes what there is")
    write_reply(reply, w, context, ARRANGED)
    if reply.get("error") is not None:
        w.ledger.drop(reply.says["error"].but("failed"), "not-terminal")  # `failed` holds the reply once more
    write_id(reply, w)
    content = w.list("content")
    write_blocks(reply.parts(), content, context, reply=True)
    if not content.value:
        w.make("content", [], "required-by-target")
        context.find("empty-reply")
    write_end(reply, w, context, _refusal(reply), any(part.kind in CALLS for part in reply.parts()))
    write_usage(reply, w, context)
    if reply.protocol == NAME:
        restore_asides(reply, w)
    for key in NULLS[:2] if reply.protocol == NAME else NULLS:
        if key not in w.value:
            w.make(key, None, "required-by-target")
    w.order(REPLY.names)


def write_id(reply: Node, w: Writer) -> None:
    """The id of a reply; one that has none gets a word that says so."""
    given = reply.get("id")
    if given is None:
        w.make("id", "unknown", "required-by-target")
    else:
        w.put("id", given.raw() if reply.protocol == NAME else wrapped_id(given, "msg_", "msg_"))
    if "model" not in w.value:
        w.make("model", "", "required-by-target")


def _refusal(reply: Node) -> Leaf | None:
    """The wording of the model's own refusal, for its second place."""
    parts = [part for part in reply.parts() if part.kind == "refusal" and part.value("text")]
    text: Leaf | None = parts[-1].get("text") if parts else None
    return None if text is None else text.to(text.value, "refusal-text")


def write_end(node: Node, w: Writer, context: Context, refusal: Leaf | None, called: bool) -> None:
    """`stop_reason`, `stop_sequence` and `stop_details` of a reply, or of a `message_delta`."""
    reason, sequence, home = node.get("stop_reason"), node.get("stop_sequence"), node.protocol == NAME
    word = reason.value if reason is not None else None
    if refusal is not None and word in (None, "end"):
        _put_reason(reason, "refusal", w)
        details = w.object("stop_details")
        details.make("type", "refusal", "required-by-target")
        details.make("category", None, "required-by-target")
        details.put("explanation", refusal)
        w.ledger.drop([node.says[key] for key in ("category", "explanation") if key in node.says], "duplicate")
    elif home and reason is not None:
        w.put("stop_reason", reason.raw())
        _put_details(node, w)
    else:
        if isinstance(word, str) and word not in (*tables.STOP.from_canonical, "running"):
            context.find("unknown-stop")
        why = "stop-with-tools" if word == "end" and called else "respelled"
        _put_reason(reason, _word(word, called), w, why, cut=node.protocol == "repair")
        _put_details(node, w)
    if sequence is not None:
        w.put("stop_sequence", sequence)


def _word(word: Any, called: bool) -> str | None:
    if word == "running":
        return None
    if word in (None, "end"):
        return "tool_use" if called else "end_turn"
    return tables.STOP.from_canonical.get(word, "end_turn") if isinstance(word, str) else "end_turn"


def _put_reason(reason: Leaf | None, word: str | None, w: Writer, why: str = "respelled", cut: bool = False) -> None:
    if reason is None:
        w.make("stop_reason", word, "stream-was-cut" if cut else "required-by-target")
    else:
        w.put("stop_reason", reason.to(word, "stream-was-cut" if word is None else why))


def _put_details(node: Node, w: Writer) -> None:
    explanation, category = node.get("explanation"), node.get("category")
    if w.value.get("stop_reason") != "refusal":
        w.ledger.drop([leaf for leaf in (explanation, category) if leaf is not None], "no-equivalent")
        return
    details = w.object("stop_details")
    own = next((node.says[name] for name in tables.STOP_DETAILS.by_term if name != "type" and name in node.says), None)
    if own is not None and node.protocol == NAME:
        for key in own.home:
            details.put(key, Leaf(own.home, key))
        return
    details.make("type", "refusal", "required-by-target")
    for key, leaf in (("category", category), ("explanation", explanation)):
        if leaf is None:
            details.make(key, None, "required-by-target")
        else:
            details.put(key, leaf)


def write_reply(reply: Node, w: Writer, context: Context, but: tuple[str, ...]) -> None:
    """What the table writes of a reply; usage that is no object has no place, for there are always counts."""
    w.ledger.drop(reply.extras.get("usage"), "unknown-field")
    said = reply.but()
    said.extras.pop("usage", None)
    REPLY.write(said, w, context, but=but)


def write_usage(node: Node, w: Writer, context: Context) -> None:
    """The counts (`spec/responses.md` §10) and the service tier (§11) of a reply or a finish."""
    usage, tier = node.get("usage"), node.get("service_tier")
    written = w.object("usage")
    if node.protocol == NAME:
        _write_own_usage(usage, tier, written)
    elif usage is not None:
        _write_counts(usage, written, context)
    for key in ("input_tokens", "output_tokens"):
        if key not in written.value:
            written.make(key, 0, "no-usage")
    if node.protocol != NAME:
        _write_used_tier(tier, written)
        _write_searches(node.get("tool_usage"), written)
    written.order(tables.USAGE.names)


def _write_own_usage(usage: Node | None, tier: Leaf | None, w: Writer) -> None:
    if tier is not None:
        w.put(tier.key, tier.raw())
    if usage is None:
        return
    for name, leaf in usage.says.items():
        said = Leaf(leaf.home, leaf.key)
        if name == "reasoning_tokens":
            w.object("output_tokens_details").put(leaf.key, said)
        else:
            w.put(leaf.key, said)
    tables.USAGE.rest(usage, w, home=True)
    restore_asides(usage, w)


CACHE_COUNTS = {"cache_write_tokens": "cache_creation_input_tokens", "cached_tokens": "cache_read_input_tokens"}


def _write_counts(usage: Node, w: Writer, context: Context) -> None:
    tokens, output, total = (usage.get(name) for name in ("input_tokens", "output_tokens", "total_tokens"))
    cached = [usage.says[name] for name in ("cached_tokens", "cache_write_tokens") if _count(usage.get(name))]
    agrees = True
    if _count(tokens):
        rest = tokens.value - sum(leaf.value for leaf in cached)
        agrees = rest >= 0
        w.put("input_tokens", tokens if rest == tokens.value else tokens.to(max(rest, 0), "usage-sum"))
    else:
        w.ledger.drop(tokens, "no-equivalent")
    for name, key in CACHE_COUNTS.items():
        if _count(usage.get(name)):
            w.put(key, usage.says[name])
        else:
            w.ledger.drop(usage.get(name), "no-equivalent")
            w.make(key, None, "required-by-target")
    reasoning = usage.get("reasoning_tokens")
    if _count(reasoning):
        w.object("output_tokens_details").put("thinking_tokens", reasoning)
    else:
        w.ledger.drop(reasoning, "no-equivalent")
    if total is not None:
        fits_sum = _count(tokens) and _count(output) and total.value == tokens.value + output.value
        w.ledger.drop(total, "duplicate" if fits_sum else "no-equivalent")
        agrees = agrees and fits_sum
    if not agrees:
        context.find("usage-mismatch")
    written = ("input_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens", "total_tokens")
    tables.USAGE.write(usage, w, context, but=written)


def _write_searches(uses: Leaf | None, w: Writer) -> None:
    """How often hosted tools were used: searches have a place here (`spec/responses.md` §1.3)."""
    searches = member(member(uses, "web_search"), "num_requests")
    if uses is None or searches is None or not _count(searches) or not searches.value:
        w.ledger.drop(uses, "target-default" if searches is not None and searches.value == 0 else "no-equivalent")
        return
    counts = w.object("server_tool_use")
    counts.put("web_search_requests", searches)
    counts.make("web_fetch_requests", 0, "required-by-target")
    drop_members(member(uses, "web_search"), ("num_requests",), w.ledger)
    drop_members(uses, ("web_search",), w.ledger)


def _count(leaf: Any) -> bool:
    return leaf is not None and fits(leaf.value, NUMBER)


def _write_used_tier(tier: Leaf | None, w: Writer) -> None:
    if tier is None:
        return
    if tier.value in ("fast", "ultrafast"):
        w.put("speed", tier if tier.value == "fast" else tier.to("fast", "respelled"))
        w.make("service_tier", "standard", "required-by-target")
    elif isinstance(tier.value, str) and tier.value in tables.TIER_USED.from_canonical:
        word = tables.TIER_USED.from_canonical[tier.value]
        w.put("service_tier", tier if word == tier.value else tier.to(word, "respelled"))
    else:
        w.ledger.drop(tier, "no-equivalent")
