"""Request bodies of Messages, both ways: what the tables cannot say (`spec/requests.md`)."""

from typing import Any

from ...context import Context
from ...errors import NotPossible, NotThatProtocol
from ...ir.nodes import Node
from ...ir.terms import term
from ...ir.turns import paired
from ...ir.values import whole_schema
from ...ledger import Leaf, Ledger, Writer, made
from ...tables import drop_term
from . import tables
from .effort import plan, read_effort, with_room, write_effort
from .hosted import drop_members, member
from .hosted_tools import as_function, with_servers
from .parts import MEDIA, drop, write_block, write_blocks
from .tables import NAME, REQUEST, lift, set_aside
from .tools import forced, write_choice, write_tools

MAX_TOKENS = "4096"
COMPACT = "compact_20260112"
MOST_MESSAGES = 100_000
MOST_MARKS = 4

# Terms that this module writes or drops by itself.
ARRANGED = (
    "turns",
    "instructions",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "format",
    "effort",
    "thinking_display",
    "safety_identifier",
    "user",
    "metadata",
    "service_tier",
    "cache_mode",
    "cache_ttl",
    "cache_prewarm",
    "comparison_response_id",
    "max_output_tokens",
    "stop_sequences",
    "max_tool_calls",
    "context_management",
)
# What a request says by these values is what Messages does anyhow.
DEFAULTS: dict[str, Any] = {"choice_count": 1, "logprobs": False, "modalities": ["text"], "truncation": "disabled"}


def read_request(value: Any, context: Context) -> Node:
    """A Messages request as a node `request`. Raises `NotThatProtocol`."""
    if isinstance(value, dict) and "prompt" in value and "max_tokens_to_sample" in value:
        raise NotThatProtocol("old-version", "a request of the old text completion API: `prompt` instead of `messages`")
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        raise NotThatProtocol("unrecognised", "a Messages request is an object with a list `messages`")
    request = REQUEST.read(value, context)
    for key in ("caching", "diagnostics", "identity"):
        lift(request, key)
    with_servers(request, context)
    if context.choice("client-tools") == "functions" and "tools" in request.says:
        request.says["tools"] = [as_function(tool, made) for tool in request.says["tools"]]
    _read_edits(request)
    read_effort(request)
    _read_choice(request)
    _read_limit(request)
    _read_tier(request)
    return request


def _read_choice(request: Node) -> None:
    choice = request.get("tool_choice")
    if choice is None:
        return
    parallel, mode = choice.says.pop("parallel_tool_calls", None), choice.get("mode")
    if parallel is not None:
        request.says["parallel_tool_calls"] = parallel
    if mode is not None and mode.value == "tool":
        choice.says["tool_kind"] = choice.says.pop("mode").to("function", "respelled")


def _read_edits(request: Node) -> None:
    """Compaction, of all that is done as the context fills up, has a word elsewhere: a list with one object."""
    lift(request, "edits")
    for edit in request.says.pop("edits", []):
        if edit.value("type") != COMPACT or "context_management" in request.says:
            set_aside(request, edit, "no-equivalent")
            continue
        trigger, kind = edit.get("trigger"), edit.says["type"]
        above = member(trigger, "value")
        wanted = {"type": "compaction"} | ({} if above is None else {"compact_threshold": above.value})
        request.says["context_management"] = kind.to([wanted], "respelled", [] if above is None else [above])
        set_aside(request, edit.but("type", "trigger"), "no-equivalent")
        if trigger is not None and not trigger.value:
            set_aside(request, trigger, "target-default")
        for key in [] if trigger is None else trigger.value:
            if key != "value" or above is None:
                set_aside(request, Leaf(trigger.value, key), "target-default" if key == "type" else "no-equivalent")


def _read_limit(request: Node) -> None:
    limit = request.get("max_output_tokens")
    if limit is not None and limit.value == 0:
        del request.says["max_output_tokens"]
        request.says["cache_prewarm"] = limit.to(True, "respelled")


def _read_tier(request: Node) -> None:
    speed, tier = request.says.pop("speed", None), request.get("service_tier")
    if speed is None:
        return
    if speed.value == "standard":
        request.asides.append((speed, "target-default"))
        return
    request.says["service_tier"] = speed
    if tier is not None:
        request.asides.append((tier, "target-default" if tier.value == "auto" else "no-equivalent"))


def write_request(request: Node, w: Writer, context: Context) -> None:
    """A node `request` as a Messages request. Raises `NotPossible` where no message is left."""
    if request.protocol == NAME and request.home is not None:
        _copy(request.home, w, context)
        return
    intended = plan(request, forced(request), context)
    terms = dict(request.says)
    _leave_defaults(request, w.ledger)
    hot = request.get("temperature")
    but = [*ARRANGED, *DEFAULTS]
    if intended.thinks and hot is not None and hot.value != 1:
        w.ledger.drop(hot, "target-rejects", True)
        but.append("temperature")
    REQUEST.write(request, w, context, but=but)
    _write_model(request, w, context)
    _write_limit(request, w, context, intended)
    _write_stops(request.get("stop_sequences"), w)
    _write_conversation(request, w, context)
    write_tools(terms, w, context)
    write_choice(terms, w, context)
    _write_format(request.get("format"), w, context)
    write_effort(request, intended, w)
    _write_identity(request, w)
    _write_tier(request.get("service_tier"), w)
    _write_caching(request, w, context)
    _write_compaction(request.get("context_management"), w, context)
    w.order(REQUEST.names)
    if marks(w.value) > MOST_MARKS:
        context.find("too-many-cache-marks")


def marks(request: dict[str, Any]) -> int:
    """How many places of a request are marked for the cache."""
    count, todo = 0, [request.get(key) for key in ("system", "messages", "tools")]
    while todo:
        said = todo.pop()
        if isinstance(said, dict):
            count += "cache_control" in said
            todo += [inner for key, inner in said.items() if key in ("content", "source")]
        elif isinstance(said, list):
            todo += said
    return count


def _copy(home: dict[str, Any], w: Writer, context: Context) -> None:
    """At home a request goes out as it came in, but for a model that was asked for."""
    name = context.choice("model")
    for key in home:
        leaf = Leaf(home, key)
        w.put(key, leaf.to(name, "respelled") if name and key == "model" else leaf)
    if name and "model" not in home:
        w.make("model", name, "required-by-target")


def _leave_defaults(request: Node, ledger: Ledger) -> None:
    for name, value in DEFAULTS.items():
        leaf = request.get(name)
        if leaf is not None:
            default = type(leaf.value) is type(value) and leaf.value == value
            ledger.drop(leaf, "target-default" if default else term(name).why, term(name).steers)


def _write_model(request: Node, w: Writer, context: Context) -> None:
    name = context.choice("model")
    if name and "model" in request.says:
        w.put("model", request.says["model"].to(name, "respelled"))
    elif name:
        w.make("model", name, "required-by-target")
    elif "model" not in w.value:
        raise NotPossible("no-model", "the request names no model", hint="give one with `--set model=NAME`")


def _write_limit(request: Node, w: Writer, context: Context, intended: Any) -> None:
    limit, prewarm = request.get("max_output_tokens"), request.get("cache_prewarm")
    if prewarm is not None and prewarm.value is True:
        w.put("max_tokens", prewarm.to(0, "respelled"))
        w.ledger.drop(limit, "duplicate")
        return
    w.ledger.drop(prewarm, "target-default")
    if limit is None:
        asked = context.choice("max-tokens", MAX_TOKENS)
        limit = made(int(asked) if asked.isdigit() else int(MAX_TOKENS), "default-max-tokens")
    w.put("max_tokens", with_room(limit, intended))


def _write_stops(stops: Leaf | None, w: Writer) -> None:
    """Stop strings; Messages refuses those that are empty or blank."""
    if stops is None:
        return
    legal = [stop for stop in stops.value if isinstance(stop, str) and stop.strip()]
    if len(legal) == len(stops.value):
        w.put("stop_sequences", stops)
    elif not legal or stops.why is not None:
        w.ledger.drop(stops, "target-rejects", True)
    else:
        listed = w.list("stop_sequences")
        for at, stop in enumerate(stops.value):
            leaf = Leaf(stops.value, at)
            if isinstance(stop, str) and stop.strip():
                listed.append(leaf)
            else:
                w.ledger.drop(leaf, "target-rejects", True)


# The conversation (`spec/requests.md` §5)

LEADING = ("system", "developer")


def _write_conversation(request: Node, w: Writer, context: Context) -> None:
    turns = paired(request.says.get("turns", []), made)
    head = list(request.says.get("instructions", []))
    while turns and turns[0].value("role") in LEADING:
        head.append(turns.pop(0))
    later = context.choice("mid-system", "keep")
    if later == "hoist":
        head += [_hoisted(turn) for turn in turns if turn.value("role") in LEADING]
        turns = [turn for turn in turns if turn.value("role") not in LEADING]
    _write_system(head, w, context)
    messages = w.list("messages")
    for turn in _joined(turns, context):
        _write_turn(turn, messages, context)
    if not messages.value:
        raise NotPossible("empty", "no message is left that Messages could hold")
    _look_at_last(messages.value[-1], context)
    if len(messages.value) > MOST_MESSAGES:
        context.find("too-many-messages")


def _hoisted(turn: Node) -> Node:
    said = turn.but()
    said.home = None
    said.says["parts"] = [_retold(part, "role-merge") for part in turn.parts()]
    return said


def _retold(part: Node, why: str) -> Node:
    text = part.get("text")
    if text is None:
        return part
    said = part.but()
    said.says["text"] = text.to(text.value, why)
    return said


def _write_system(head: list[Node], w: Writer, context: Context) -> None:
    parts = []
    for turn in head:
        role = turn.get("role")
        w.ledger.drop(role, "role-merge" if role is not None and role.value == "developer" else "target-default")
        _drop_rest(turn, w.ledger)
        parts += turn.parts()
    if len(head) == 1 and head[0].plain() is not None and head[0].plain().value != "":
        w.put("system", head[0].plain())
        return
    if context.choice("system", "parts") == "join" and len(parts) > 1:
        parts = _one_text(parts)
        if len(parts) == 1:
            w.put("system", parts[0].says["text"])
            tables.TEXT_BLOCK.rest(parts[0], w)
            return
    blocks = Writer(w.ledger, [])
    for part in parts:
        if part.kind in ("text", "refusal"):
            write_block(part, blocks, context)
        else:
            drop(w.ledger, part, "unsupported-media" if part.kind in MEDIA else "no-equivalent")
    if blocks.value:
        w.value["system"] = blocks.value


def _one_text(parts: list[Node]) -> list[Node]:
    """All texts as one, with a blank line between them."""
    texts = [part.says["text"] for part in parts if part.kind == "text" and part.value("text")]
    rest = [part for part in parts if part.kind != "text" or not part.value("text")]
    if len(texts) < 2:
        return parts
    whole = texts[0].to("\n\n".join(text.value for text in texts), "merged-boundary", texts[1:])
    one = Node("text", parts[0].protocol, None, {"text": whole})
    one.asides = [(part.but("text"), "merged-boundary") for part in parts if part.kind == "text" and part.value("text")]
    return [one, *rest]


def _drop_rest(turn: Node, ledger: Ledger) -> None:
    """What a turn says beside its role and parts."""
    for name, said in turn.says.items():
        if name not in ("role", "parts"):
            ledger.drop(said, term(name).why)
    tables.TURN.rest(turn, Writer(ledger, {}))


def _joined(turns: list[Node], context: Context) -> list[Node]:
    """Turns that Messages wants as one: results and what the user says right behind them."""
    merge = context.chosen("merge-roles")
    out: list[Node] = []
    for turn in turns:
        last = out[-1] if out else None
        if last is not None and (merge or _answers(last)) and _spoken(last, context) == _spoken(turn, context):
            out[-1] = _one_turn(last, turn)
        else:
            out.append(turn)
    return out


def _answers(turn: Node) -> bool:
    return any(part.kind == "tool_result" for part in turn.parts())


def _spoken(turn: Node, context: Context) -> str:
    """Whose turn it will be; a turn whose role is only implied is the assistant's."""
    role = turn.value("role", "assistant")
    if role in LEADING:
        return "user" if context.choice("mid-system", "keep") == "user" else "system"
    return role if isinstance(role, str) else ""


def _one_turn(first: Node, second: Node) -> Node:
    one = Node("turn", first.protocol, None, {"parts": [*first.parts(), *second.parts()]})
    roles: list[Leaf] = [turn.says["role"] for turn in (first, second) if "role" in turn.says]
    roles = [role for role in roles if role.home is not None] or roles[:1]  # one that was said needs none that is made
    if len(roles) == 2:
        one.says["role"] = roles[0].to(roles[0].value, roles[0].why or "merged-boundary", roles[1:])
    elif roles:
        one.says["role"] = roles[0]
    for turn in (first, second):  # each thing that is beside keeps its own reason
        rest = turn.but("parts", "role")
        one.asides += [(said, term(name).why) for name, said in rest.says.items()]
        one.asides += [*((leaf, "unknown-field") for leaf in rest.extras.values()), *rest.asides]
    return one


def _write_turn(turn: Node, messages: Writer, context: Context) -> None:
    role = turn.get("role") or made("assistant", "required-by-target")
    if role.value in LEADING:
        role = _late(role, context)
    ledger, plain = messages.ledger, turn.plain()
    blocks = Writer(ledger, [])
    if plain is None or plain.value == "":
        _write_parts(turn, blocks, context, role.value)
        if not blocks.value:
            context.find("empty-turn")
            ledger.drop(role, "target-rejects")
            _drop_rest(turn, ledger)
            return
    message = messages.item()
    message.put("role", role)
    if blocks.value:
        message.value["content"] = blocks.value
    else:
        message.put("content", plain)
    _drop_rest(turn, ledger)


def _late(role: Leaf, context: Context) -> Leaf:
    """The role of an instruction in mid-conversation."""
    if context.choice("mid-system", "keep") == "user":
        return role.to("user", "role-merge")
    return role if role.value == "system" else role.to("system", "role-merge")


def _write_parts(turn: Node, blocks: Writer, context: Context, role: str) -> None:
    parts = turn.parts()
    if role == "system":
        for part in parts:
            if part.kind in ("text", "refusal"):
                write_block(part, blocks, context)
            else:
                drop(blocks.ledger, part, "unsupported-media" if part.kind in MEDIA else "no-equivalent")
        return
    write_blocks(parts, blocks, context)
    omitted = next((part.kind for part in parts if part.kind in MEDIA), None)
    if not blocks.value and omitted and role == "user":
        block = blocks.item()
        block.make("type", "text", "placeholder")
        block.make("text", f"[{omitted} omitted]", "placeholder")


def _look_at_last(message: dict[str, Any], context: Context) -> None:
    """A conversation that ends with the assistant's words is to be continued by Messages, and by nobody else."""
    if message["role"] != "assistant":
        return
    context.find("prefill")
    content = message["content"]
    text = content if isinstance(content, str) else content[-1].get("text") if isinstance(content[-1], dict) else None
    if isinstance(text, str) and text != text.rstrip():
        context.find("prefill-space")


# Single terms


def _write_format(form: Node | None, w: Writer, context: Context) -> None:
    if form is None:
        return
    kind = form.value("type")
    if kind != "json_schema":
        w.ledger.drop(form, "target-default" if kind == "text" else "no-equivalent", kind != "text")
        return
    said = form.but()
    if said.get("schema") is not None:
        said.says["schema"] = whole_schema(said.says["schema"], context)
    tables.FORMAT.write(said, w.object("output_config").object("format"), context)


def _write_identity(request: Node, w: Writer) -> None:
    """`metadata.user_id`: the first of three names for the end user (`spec/requests.md` §11)."""
    notes = request.get("metadata")
    candidates = [leaf for leaf in (request.get("safety_identifier"), request.get("user")) if leaf is not None]
    if notes is not None and isinstance(notes.value, dict) and notes.value and notes.why is None:
        for key in notes.value:
            if key == "user_id":
                candidates.append(Leaf(notes.value, key))
            else:
                w.ledger.drop(Leaf(notes.value, key), "no-equivalent")
    else:
        drop_term("metadata", notes, w.ledger)
    if not candidates:
        return
    chosen, *others = candidates
    for leaf in others:
        w.ledger.drop(leaf, "duplicate" if leaf.value == chosen.value else "no-equivalent")
    if isinstance(chosen.value, str) and "@" not in chosen.value:
        w.object("metadata").put("user_id", chosen)
    else:
        w.ledger.drop(chosen, "target-rejects")


def _write_tier(tier: Leaf | None, w: Writer) -> None:
    if tier is None:
        return
    if tier.value in ("fast", "ultrafast"):
        w.put("speed", tier if tier.value == "fast" else tier.to("fast", "respelled"))
    elif tier.value in ("priority", "scale"):
        w.put("service_tier", tier.to("auto", "tier-downgrade"))
    elif tier.value in ("auto", "default"):
        word = tables.TIER_WANTED.from_canonical[tier.value]
        w.put("service_tier", tier if word == tier.value else tier.to(word, "respelled"))
    else:
        w.ledger.drop(tier, "no-equivalent")


def _write_caching(request: Node, w: Writer, context: Context) -> None:
    mode, ttl = request.get("cache_mode"), request.get("cache_ttl")
    if mode is not None and mode.value == "implicit":
        caching = w.object("cache_control")
        caching.put("type", mode.to("ephemeral", "respelled"))
        life = Node("cache_mark", request.protocol, None, {} if ttl is None else {"cache_ttl": ttl})
        tables.CACHED.write(life, caching, context)
    else:
        w.ledger.drop([leaf for leaf in (mode, ttl) if leaf is not None], "no-equivalent")
    earlier = request.get("comparison_response_id")
    if earlier is not None and context.chosen("keep-foreign-ids"):
        w.object("diagnostics").put("previous_message_id", earlier)
    else:
        w.ledger.drop(earlier, "foreign-id")


def _write_compaction(wanted: Leaf | None, w: Writer, context: Context) -> None:
    """Compaction as the context fills up, where beta fields are wanted."""
    if wanted is None:
        return
    listed = wanted.value if isinstance(wanted.value, list) and wanted.why is None else []
    if not context.chosen("beta") or not listed:
        drop_term("context_management", wanted, w.ledger)
        return
    edits = Writer(w.ledger, [])
    for at in range(len(listed)):
        each = Leaf(listed, at)
        kind, above = member(each, "type"), member(each, "compact_threshold")
        if kind is None or kind.value != "compaction":
            w.ledger.drop(each, "no-equivalent", True)
            continue
        edit = edits.item()
        edit.put("type", kind.to(COMPACT, "respelled"))
        if above is not None:
            trigger = edit.object("trigger")
            trigger.make("type", "input_tokens", "required-by-target")
            trigger.put("value", above)
        drop_members(each, ("type", "compact_threshold"), w.ledger)
    if edits.value:
        w.object("context_management").value["edits"] = edits.value
