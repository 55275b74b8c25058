"""What Messages calls things: every table of this protocol, and its spellings of canonical words.

Source: `spec/requests.md`, `spec/responses.md`. A Nested rule without a `write` is arranged by the codec.
"""

import re
from collections.abc import Callable
from typing import Any

from ...context import Context
from ...ir.nodes import Node
from ...ir.values import Spelling, spelling
from ...ledger import Leaf, Writer
from ...tables import (
    FLAG,
    LIST,
    NUMBER,
    OBJECT,
    TEXT,
    Dropped,
    Field,
    Gap,
    Must,
    Nested,
    Read,
    Table,
    Word,
    fits,
    nodes,
    unknown,
)

NAME = "messages"

STOP = spelling(
    ("end_turn", "end"),
    ("max_tokens", "length"),
    ("tool_use", "tool_calls"),
    ("stop_sequence", "stop_sequence"),
    ("refusal", "content_filter"),
    ("pause_turn", "pause"),
    ("model_context_window_exceeded", "context_full"),
    ("compaction", "compaction"),
)
TIER_WANTED = spelling(("auto", "auto"), ("standard_only", "default"))
TIER_USED = spelling(("standard", "default"), ("priority", "priority"))
CHOICE = spelling(("auto", "auto"), ("none", "none"), ("any", "required"))
MARK = spelling(("ephemeral", "explicit"))
SERVICE = spelling(
    ("web_search", "web_search"),
    ("web_fetch", "web_fetch"),
    ("code_execution", "code_execution"),
    ("bash_code_execution", "code_execution"),
    ("text_editor_code_execution", "code_execution"),
    ("tool_search_tool_bm25", "tool_search"),
    ("tool_search_tool_regex", "tool_search"),
    ("computer_toolset", "computer"),
    ("computer", "computer"),
    ("browser_toolset", "browser"),
    ("bash", "shell"),
    ("mcp_toolset", "mcp"),
)

# The newest version of the API refuses fields that set the sampling.
NO_SAMPLING = "2026-10-21"


def version(context: Context) -> str:
    """The version of the API that is written for (`spec/decisions.md` D4)."""
    return context.choice("anthropic-version", context.headers.get("anthropic-version", "2023-06-01"))


def read_as(words: Spelling) -> Read:
    """A reader that turns this protocol's words into canonical ones."""

    def read(leaf: Leaf, context: Context) -> Leaf:
        word = words.to_canonical.get(leaf.value, leaf.value)
        return leaf if word == leaf.value else leaf.to(word, "respelled")

    return read


def object_of(table: Callable[[], Table]) -> Read:
    """A reader of an object with a table of its own."""
    return lambda leaf, context: table().read(leaf.value, context)


def lift(node: Node, term: str) -> None:
    """Let a node say by itself what the object under one of its keys says."""
    inner = node.says.pop(term, None)
    if not isinstance(inner, Node):
        return
    for name, said in inner.says.items():
        if name in node.says:
            set_aside(node, said, "duplicate")
        else:
            node.says[name] = said
    inner_asides = [*inner.asides, *((leaf, "unknown-field") for leaf in inner.extras.values())]
    for leaf, why in inner_asides:
        set_aside(node, leaf, why)


def set_aside(node: Node, said: Any, why: str) -> None:
    """Set aside what does not stand in the node's own object, and so is not put back there at home."""
    inner = Node("inner", NAME)
    inner.asides = [(said, why)]
    node.asides.append((inner, why))


# Cache marks (`spec/requests.md` §10)


def _ttl(leaf: Leaf, context: Context) -> Leaf | Dropped:
    if leaf.value == "12h":
        return leaf.to("1h", "cache-ttl")
    return leaf if leaf.value in ("5m", "1h") else Dropped("target-default")


def write_mark(mark: Node, w: Writer, name: str, context: Context) -> None:
    """A cache mark under its key."""
    CACHE_MARK.write(mark, w.object(name), context)


CACHE_MARK = Table(
    "cache_mark",
    NAME,
    Field("type", "mode", TEXT, read_as(MARK), lambda leaf, context: leaf.to("ephemeral", "respelled")),
    Field("ttl", "ttl", TEXT, write=_ttl),
    Must("type", "ephemeral"),
)
_MARKED = Nested("cache_control", "cache_mark", OBJECT, object_of(lambda: CACHE_MARK), write_mark)

# Content blocks (`spec/requests.md` §6, `spec/responses.md` §2 to §7)


def read_blocks(leaf: Leaf, context: Context) -> list[Node]:
    """Content as parts: a lone string is one text part without an object of its own."""
    if isinstance(leaf.value, str):
        return [Node("text", NAME, None, {"text": leaf})]
    return nodes(leaf, lambda home: read_block(home, context), NAME)


def read_block(home: dict[str, Any], context: Context) -> Node:
    """One content block, by its type; one of an unknown type is all extras."""
    kind = home.get("type")
    if not isinstance(kind, str) or kind not in BLOCKS:
        return unknown(home, NAME)
    node = BLOCKS[kind].read(home, context)
    lift(node, "place")
    if node.kind == "reference":
        node.asides += [(node.says.pop(name), LOST[kind]) for name in list(node.says)]
    if kind == "document" and node.get("text") is not None and node.get("media_type") is not None:
        node.asides.append((node.says.pop("media_type"), "target-default"))
    return node


def read_citation(home: dict[str, Any], context: Context) -> Node:
    """A citation; a search result whose source is an address is cited like a page of the web."""
    node = CITATION.read(home, context)
    source = node.get("source")
    if source is not None and source.value.startswith(("https://", "http://")):
        node.says["url"] = node.says.pop("source")
    return node


def _read_citations(leaf: Leaf, context: Context) -> list[Node]:
    return nodes(leaf, lambda home: read_citation(home, context), NAME)


def _write_citations(citations: list[Node], w: Writer, name: str, context: Context) -> None:
    """At home: other protocols' citations are written one by one, each with the text that it cites."""
    listed = w.list(name)
    for citation in citations:
        CITATION.write(citation, listed.item(), context)


CITATION = Table(
    "citation",
    NAME,
    Field("type", "type", TEXT),
    Field("url", "url", TEXT),
    Field("title", "title", TEXT),
    Field("cited_text", "cited_text", TEXT),
    Field("encrypted_index", "encrypted_index", TEXT),
    Field("source", "source", TEXT),
    *(
        Field(name, name)
        for name in (
            "document_index",
            "document_title",
            "file_id",
            "start_char_index",
            "end_char_index",
            "start_page_number",
            "end_page_number",
            "search_result_index",
            "start_block_index",
            "end_block_index",
        )
    ),
)
PLACE = Table(
    "place",
    NAME,
    Gap("type", "target-default"),
    Field("data", "data", TEXT),
    Field("media_type", "media_type", TEXT),
    Field("url", "url", TEXT),
    Field("file_id", "file_id", TEXT),
    Nested("content", "parts", "text list", read_blocks),
)


def _read_place(leaf: Leaf, context: Context) -> Node:
    """Where an image or document stands; its `type` only says which of the other keys to look at."""
    node = PLACE.read(leaf.value, context)
    kind = node.extras.pop("type", None)
    if kind is not None:
        node.asides.append((kind, "target-default"))
        if kind.value == "text" and "data" in node.says:
            node.says["text"] = node.says.pop("data")
    return node


_PLACE = Nested("source", "place", OBJECT, _read_place)
_WANTED = Nested("citations", "citations_wanted", OBJECT, lambda leaf, context: _enabled(leaf))


def _enabled(leaf: Leaf) -> Leaf | Node:
    return Leaf(leaf.value, "enabled") if list(leaf.value) == ["enabled"] else unknown(leaf.value, NAME)


TEXT_BLOCK = Table(
    "text",
    NAME,
    Word("type", "text"),
    Field("text", "text", TEXT),
    Nested("citations", "citations", LIST, _read_citations, _write_citations),
    _MARKED,
)
IMAGE = Table("image", NAME, Word("type", "image"), _PLACE, Field("transformations", "transformations"), _MARKED)
DOCUMENT = Table(
    "file",
    NAME,
    Word("type", "document"),
    _PLACE,
    Field("title", "filename", TEXT),
    Field("context", "context", TEXT),
    _WANTED,
    _MARKED,
)
SEARCH_RESULT = Table(
    "file",
    NAME,
    Word("type", "search_result"),
    Field("source", "source", TEXT),
    Field("title", "title", TEXT),
    Nested("content", "parts", "text list", read_blocks),
    _WANTED,
    _MARKED,
)
THINKING_BLOCK = Table(
    "thinking",
    NAME,
    Word("type", "thinking"),
    Field("thinking", "text", TEXT),
    Field("signature", "signature", TEXT),
    _MARKED,
)
REDACTED = Table("redacted", NAME, Word("type", "redacted_thinking"), Field("data", "data", TEXT), _MARKED)
TOOL_USE = Table(
    "tool_call",
    NAME,
    Word("type", "tool_use"),
    Field("id", "call_id", TEXT),
    Field("name", "name", TEXT),
    Field("input", "arguments", "object text"),
    Field("caller", "called_by"),
    Field("toolset_name", "toolset_name"),
    _MARKED,
)
TOOL_RESULT = Table(
    "tool_result",
    NAME,
    Word("type", "tool_result"),
    Field("tool_use_id", "call_id", TEXT),
    Nested("content", "parts", "text list", read_blocks),
    Field("is_error", "is_error", FLAG),
    Field("toolset_name", "toolset_name"),
    _MARKED,
)
SERVER_TOOL_USE = Table(
    "hosted_call",
    NAME,
    Field("type", "type", TEXT),
    Field("id", "id", TEXT),
    Field("name", "service", TEXT, read_as(SERVICE)),
    Field("input", "arguments", "object text"),
    Field("caller", "called_by"),
    _MARKED,
)
MCP_TOOL_USE = Table(
    "hosted_call",
    NAME,
    Field("type", "service", TEXT, lambda leaf, context: leaf.to("mcp", "respelled")),
    Field("id", "id", TEXT),
    Field("server_name", "server", TEXT),
    Field("name", "name", TEXT),
    Field("input", "arguments", "object text"),
    _MARKED,
)
HOSTED_RESULT = Table(
    "hosted_result",
    NAME,
    Field("type", "type", TEXT),
    Field("tool_use_id", "call_id", TEXT),
    Field("content", "content"),
    Field("is_error", "is_error", FLAG),
    Field("caller", "called_by"),
    _MARKED,
)
CONTAINER_UPLOAD = Table(
    "reference", NAME, Word("type", "container_upload"), Field("file_id", "file_id", TEXT), _MARKED
)


def _alone(*names: str) -> Table:
    """A block that the vendor's own service made, whose keys mean something only there."""
    return Table("hosted_call", NAME, Field("type", "service", TEXT), *(Field(name, name) for name in names), _MARKED)


ALONE = {
    "advisor_tool_result": _alone("tool_use_id", "content"),
    "fallback": _alone("from", "to", "trigger"),
    "mcp_tool_listing": Table(
        "hosted_call",
        NAME,
        Field("type", "service", TEXT, lambda leaf, context: leaf.to("mcp_list_tools", "respelled")),
        Field("mcp_server_name", "server", TEXT),
        Field("tools", "tools", LIST),
        _MARKED,
    ),
    "compaction": _alone("content", "encrypted_content", "signature", "tool_changes"),
    "tool_addition": _alone("tool"),
    "tool_removal": _alone("tool"),
}
ALONE_BLOCK = _alone()
# What only a tool result holds, and no other protocol has anything for.
TOOL_REFERENCE = Table("reference", NAME, Word("type", "tool_reference"), Field("tool_name", "tool_name"), _MARKED)
BROWSER_STATE = Table(
    "reference",
    NAME,
    Word("type", "browser_state"),
    Field("tabs", "tabs"),
    Field("state_changes", "state_changes"),
    _MARKED,
)

INSTRUCTION = Table(
    "turn",
    NAME,
    Field("type", "role", TEXT, lambda leaf, context: leaf.to("system", "respelled")),
    Nested("content", "parts", "text list", read_blocks),
    Nested("text", "parts", "text list", read_blocks),
    _MARKED,
)

# Why what refers to something that only this vendor has is lost.
LOST = {"container_upload": "foreign-id", "tool_reference": "no-equivalent", "browser_state": "no-equivalent"}

BLOCKS: dict[str, Table] = {
    "text": TEXT_BLOCK,
    "image": IMAGE,
    "document": DOCUMENT,
    "search_result": SEARCH_RESULT,
    "thinking": THINKING_BLOCK,
    "redacted_thinking": REDACTED,
    "tool_use": TOOL_USE,
    "tool_result": TOOL_RESULT,
    "server_tool_use": SERVER_TOOL_USE,
    "mcp_tool_use": MCP_TOOL_USE,
    "container_upload": CONTAINER_UPLOAD,
    "mid_conv_system": INSTRUCTION,
    **dict.fromkeys(
        (
            "web_search_tool_result",
            "web_fetch_tool_result",
            "code_execution_tool_result",
            "bash_code_execution_tool_result",
            "text_editor_code_execution_tool_result",
            "tool_search_tool_result",
            "mcp_tool_result",
        ),
        HOSTED_RESULT,
    ),
    **ALONE,
    "tool_reference": TOOL_REFERENCE,
    "browser_state": BROWSER_STATE,
}

# Tools (`spec/requests.md` §7)

_DATE = re.compile(r"_\d{8}$")


def service(leaf: Leaf, context: Context) -> Leaf:
    """What a hosted tool does, from its dated type (`web_search_20250305`)."""
    word = _DATE.sub("", leaf.value)
    return leaf.to(SERVICE.to_canonical.get(word, word), "respelled")


TOOL = Table(
    "function_tool",
    NAME,
    Word("type", "custom"),
    Field("name", "name", TEXT),
    Field("description", "description", TEXT),
    Field("input_schema", "parameters", OBJECT),
    Field("strict", "strict", FLAG),
    Field("defer_loading", "defer_loading", FLAG),
    Field("allowed_callers", "allowed_callers", LIST),
    Field("input_examples", "input_examples", LIST),
    Field("eager_input_streaming", "eager_input_streaming", FLAG),
    _MARKED,
)
HOSTED_TOOL = Table(
    "hosted_tool",
    NAME,
    Field("type", "service", TEXT, service),
    Field("name", "name", TEXT),
    Field("allowed_domains", "allowed_domains", LIST),
    Field("blocked_domains", "blocked_domains", LIST),
    Field("user_location", "user_location", OBJECT),
    Field("max_uses", "max_uses", NUMBER),
    Field("display_width_px", "display_width", NUMBER),
    Field("display_height_px", "display_height", NUMBER),
    Field("mcp_server_name", "server_label", TEXT),
    *(
        Field(name, name)
        for name in (
            "strict",
            "defer_loading",
            "allowed_callers",
            "input_examples",
            "response_inclusion",
            "citations",
            "max_content_tokens",
            "url_sources",
            "use_cache",
            "display_number",
            "enable_zoom",
            "max_characters",
            "model",
            "max_tokens",
            "caching",
            "default_config",
            "configs",
            "tools",
        )
    ),
    _MARKED,
)


def _negated(leaf: Leaf, context: Context) -> Leaf:
    return leaf.to(not leaf.value, "respelled")


SERVER_CONFIG = Table(
    "tool_configuration", NAME, Field("enabled", "enabled"), Field("allowed_tools", "allowed_tools", LIST)
)
SERVER = Table(
    "hosted_tool",
    NAME,
    Field("type", "service", TEXT, lambda leaf, context: leaf.to("mcp", "respelled")),
    Field("name", "server_label", TEXT),
    Field("url", "server_url", TEXT),
    Field("authorization_token", "authorization", TEXT),
    Nested("tool_configuration", "tool_configuration", OBJECT, object_of(lambda: SERVER_CONFIG)),
)
TOOL_CHOICE = Table(
    "tool_choice",
    NAME,
    Field("type", "mode", TEXT, read_as(CHOICE)),
    Field("name", "name", TEXT),
    Field("disable_parallel_tool_use", "parallel_tool_calls", FLAG, _negated),
)


def read_tool(home: dict[str, Any], context: Context) -> Node:
    """A tool: of type `custom` or none it is a function of the caller's, else one that the vendor defines."""
    tool = (TOOL if home.get("type") in (None, "custom") else HOSTED_TOOL).read(home, context)
    callers = tool.get("allowed_callers")
    if callers is not None and callers.value != ["direct"]:
        tool.says["code_callers"] = tool.says.pop("allowed_callers")  # servers that only this vendor has
    return tool


def read_tools(leaf: Leaf, context: Context) -> list[Node]:
    """All tools of a request."""
    return nodes(leaf, lambda home: read_tool(home, context), NAME)


def _read_servers(leaf: Leaf, context: Context) -> list[Node]:
    return nodes(leaf, lambda home: _read_server(home, context), NAME)


def _read_server(home: dict[str, Any], context: Context) -> Node:
    server = SERVER.read(home, context)
    lift(server, "tool_configuration")
    if server.value("enabled") is True:
        set_aside(server, server.says.pop("enabled"), "target-default")
    return server


# Requests (`spec/requests.md` §2 to §4)

TURN = Table(
    "turn",
    NAME,
    Field("role", "role", TEXT),
    Nested("content", "parts", "text list", read_blocks),
    Field("clear_at", "clear_at"),
    Field("output_config", "turn_effort"),
)


def _read_turns(leaf: Leaf, context: Context) -> list[Node]:
    turns = nodes(leaf, lambda home: _split(TURN.read(home, context)), NAME)
    for turn in turns:
        turn.kind = "turn"  # what is no object as well: a turn that says nothing but what nobody knows
    return turns


def _split(turn: Node) -> list[Node]:
    """A turn; one with an older block for instructions within it as the turns before, of and after the block."""
    if not any(part.kind == "turn" for part in turn.parts()):
        return [turn]
    turns, role, open_turn = [turn], turn.get("role"), turn
    parts, turn.says["parts"], turn.home = turn.parts(), [], None
    for part in parts:
        if part.kind == "turn":
            turns.append(part)
        elif turns[-1] is open_turn:
            open_turn.says["parts"].append(part)
        else:
            open_turn = Node("turn", NAME, None, {"parts": [part]})
            if role is not None:
                open_turn.says["role"] = role.to(role.value, "merged-boundary")
            turns.append(open_turn)
    if not turn.parts() and len(turns) > 1:
        _take_place(turns)
    return turns


def _take_place(turns: list[Node]) -> None:
    """A turn that begins with the block: what it says beside its parts is said by the next turn of its role, if any."""
    first, *others = turns
    heir = next((turn for turn in others if turn.kind == "turn" and turn.home is None), None)
    if heir is None:
        return
    heir.says = {**first.says, "parts": heir.parts()}
    heir.extras, heir.asides = first.extras, first.asides
    del turns[0]


def _read_system(leaf: Leaf, context: Context) -> list[Node]:
    return [Node("turn", NAME, None, {"parts": read_blocks(leaf, context)})]


def _temperature(leaf: Leaf, context: Context) -> Leaf | Dropped:
    if version(context) == NO_SAMPLING:
        return Dropped("target-rejects")
    return leaf if leaf.value <= 1 else leaf.to(1, "clamp-temperature")


def _sampling(leaf: Leaf, context: Context) -> Leaf | Dropped:
    return Dropped("target-rejects") if version(context) == NO_SAMPLING else leaf


FORMAT = Table(
    "format",
    NAME,
    Word("type", "json_schema"),
    Field("schema", "schema", OBJECT),
    Must("schema", {}),
)
THINKING = Table(
    "thinking_config",
    NAME,
    Field("type", "mode", TEXT),
    Field("budget_tokens", "budget", NUMBER),
    Field("display", "thinking_display", TEXT),
    Field("block_binding", "block_binding"),
)
OUTPUT_CONFIG = Table(
    "output_config",
    NAME,
    Field("effort", "effort", TEXT),
    Nested("format", "format", OBJECT, object_of(lambda: FORMAT)),
    Field("task_budget", "task_budget"),
)
METADATA = Table("metadata", NAME, Field("user_id", "safety_identifier", TEXT))
CACHED = Table(
    "cache_mark",
    NAME,
    Field("type", "cache_mode", TEXT, lambda leaf, context: leaf.to("implicit", "respelled")),
    Field("ttl", "cache_ttl", TEXT, write=_ttl),
)
EDIT = Table(
    "edit",
    NAME,
    Field("type", "type", TEXT),
    Field("trigger", "trigger", OBJECT),
    *(
        Field(name, name)
        for name in (
            "instructions",
            "pause_after_compaction",
            "clear_at_least",
            "clear_tool_inputs",
            "exclude_tools",
            "keep",
        )
    ),
)
CONTEXT_MANAGEMENT = Table(
    "context_management",
    NAME,
    Nested("edits", "edits", LIST, lambda leaf, context: nodes(leaf, lambda home: EDIT.read(home, context), NAME)),
)
DIAGNOSTICS_WANTED = Table("diagnostics", NAME, Field("previous_message_id", "comparison_response_id", TEXT))

REQUEST = Table(
    "request",
    NAME,
    Field("model", "model", TEXT),
    Field("max_tokens", "max_output_tokens", NUMBER),
    Nested("system", "instructions", "text list", _read_system),
    Nested("messages", "turns", LIST, _read_turns),
    Nested("tools", "tools", LIST, read_tools),
    Nested("tool_choice", "tool_choice", OBJECT, object_of(lambda: TOOL_CHOICE)),
    Nested("thinking", "thinking", OBJECT, object_of(lambda: THINKING)),
    Nested("output_config", "output_config", OBJECT, object_of(lambda: OUTPUT_CONFIG)),
    Nested("output_format", "format", OBJECT, object_of(lambda: FORMAT)),
    Field("temperature", "temperature", NUMBER, write=_temperature),
    Field("top_p", "top_p", NUMBER, write=_sampling),
    Field("top_k", "top_k", NUMBER, write=_sampling),
    Field("stop_sequences", "stop_sequences", LIST),
    Field("stream", "stream", FLAG),
    Nested("metadata", "identity", OBJECT, object_of(lambda: METADATA)),
    Nested("cache_control", "caching", OBJECT, object_of(lambda: CACHED)),
    Field("service_tier", "service_tier", TEXT, read_as(TIER_WANTED)),
    Field("speed", "speed", TEXT),
    Field("container", "container"),
    Nested("diagnostics", "diagnostics", OBJECT, object_of(lambda: DIAGNOSTICS_WANTED)),
    Nested("context_management", "edits", OBJECT, object_of(lambda: CONTEXT_MANAGEMENT)),
    Nested("mcp_servers", "mcp_servers", LIST, _read_servers),
    Field("anthropic_version", "version", TEXT),
    Field("betas", "betas"),
    Field("anthropic_beta", "betas"),
    *(
        Field(name, name)
        for name in (
            "inference_geo",
            "user_profile_id",
            "workspace_id",
            "compaction",
            "fallbacks",
            "fallback_credit_token",
            "billing_policy",
            "thread",
        )
    ),
)

# Replies (`spec/responses.md`)

USAGE_DETAILS = Table("usage", NAME, Field("thinking_tokens", "reasoning_tokens", NUMBER))
USAGE = Table(
    "usage",
    NAME,
    Field("input_tokens", "input_tokens", NUMBER),
    Field("cache_creation_input_tokens", "cache_write_tokens", NUMBER),
    Field("cache_read_input_tokens", "cached_tokens", NUMBER),
    Field("output_tokens", "output_tokens", NUMBER),
    Nested("output_tokens_details", "details", OBJECT, object_of(lambda: USAGE_DETAILS)),
    Field("server_tool_use", "tool_counts", OBJECT),
    Field("service_tier", "service_tier", TEXT, read_as(TIER_USED)),
    Field("speed", "speed", TEXT),
    *(Field(name, name) for name in ("cache_creation", "inference_geo", "fallback_credit", "iterations")),
)
STOP_DETAILS = Table(
    "stop_details",
    NAME,
    Field("type", "type", TEXT),
    Field("category", "category", TEXT),
    Field("explanation", "explanation", TEXT),
    *(Field(name, name) for name in ("fallback_credit_token", "fallback_has_prefill_claim", "recommended_model")),
)
END = Table(
    "finish",
    NAME,
    Field("stop_reason", "stop_reason", TEXT, read_as(STOP)),
    Field("stop_sequence", "stop_sequence", TEXT),
    Nested("stop_details", "details", OBJECT, object_of(lambda: STOP_DETAILS)),
    Field("container", "container"),
)
MESSAGE_DELTA = Table(
    "finish",
    NAME,
    Nested("delta", "delta", OBJECT, object_of(lambda: END)),
    Nested("usage", "usage", OBJECT, object_of(lambda: USAGE)),
    Field("context_management", "applied_edits"),
    Field("input_transformations", "input_transformations"),
)
MISSED = spelling(
    ("model_changed", "model_changed"),
    ("tools_changed", "tools_changed"),
    ("messages_changed", "input_changed"),
    ("previous_message_not_found", "comparison_response_not_found"),
    ("unavailable", "unavailable"),
)
MISS = Table(
    "diagnostics",
    NAME,
    Field("type", "reason", TEXT, read_as(MISSED)),
    Field("cache_missed_input_tokens", "missed_tokens", NUMBER),
)
DIAGNOSTICS = Table("diagnostics", NAME, Nested("cache_miss_reason", "miss", OBJECT, object_of(lambda: MISS)))


def _read_diagnostics(leaf: Leaf, context: Context) -> Node:
    node = DIAGNOSTICS.read(leaf.value, context)
    lift(node, "miss")
    return node


def _write_diagnostics(said: Any, w: Writer, name: str, context: Context) -> None:
    """Why the cache was missed; of other protocols' reasons those that Messages knows, too."""
    if isinstance(said, Node):
        DIAGNOSTICS.write(said, w.object(name), context)
        return
    home = said.value if isinstance(said.value, dict) and said.why is None else {}
    missed = home.get("type") == "cache_miss"
    reason, tokens = home.get("reason") if missed else home.get("type"), home.get("cache_missed_tokens")
    known = isinstance(reason, str) and reason in MISSED.from_canonical
    if not known or (missed and not fits(tokens, NUMBER)):
        w.ledger.drop(said, "target-default" if home.get("type") == "cache_hit" else "no-equivalent")
        return
    inner = w.object(name).object("cache_miss_reason")
    key, written = ("reason" if missed else "type"), MISSED.from_canonical[str(reason)]
    leaf = Leaf(home, key)
    inner.put("type", leaf if written == reason else leaf.to(written, "respelled"))
    if missed:
        inner.put("cache_missed_input_tokens", Leaf(home, "cache_missed_tokens"))
    for other in home:
        if other not in (key, "cache_missed_tokens" if missed else key):
            w.ledger.drop(Leaf(home, other), "target-default" if other == "type" else "no-equivalent")


REPLY = Table(
    "reply",
    NAME,
    Field("id", "id", TEXT),
    Word("type", "message"),
    Word("role", "assistant", "role"),
    Field("model", "model", TEXT),
    Nested("content", "parts", LIST, read_blocks),
    Field("stop_reason", "stop_reason", TEXT, read_as(STOP)),
    Field("stop_sequence", "stop_sequence", TEXT),
    Nested("stop_details", "details", OBJECT, object_of(lambda: STOP_DETAILS)),
    Nested("usage", "usage", OBJECT, object_of(lambda: USAGE)),
    Field("container", "container"),
    Nested("diagnostics", "diagnostics", OBJECT, _read_diagnostics, _write_diagnostics),
    Field("context_management", "applied_edits"),
    Field("input_transformations", "input_transformations"),
)

# Errors (`spec/http.md` §5)

ERROR = Table(
    "error",
    NAME,
    Field("type", "error_type", TEXT),
    Field("message", "message", TEXT),
    Field("details", "details", OBJECT),
)
ERROR_BODY = Table(
    "error",
    NAME,
    Word("type", "error"),
    Nested("error", "error", OBJECT, object_of(lambda: ERROR)),
    Field("request_id", "request_id", TEXT),
)

# The causes that `details.error_code` names.
ERROR_CODES = {
    "already_member", "api_key_scope_missing", "approval_required", "authorization_check_unavailable",
    "available_tools_limit_exceeded", "bundle_attachment_not_supported", "bundle_on_call",
    "cannot_invite_emails_with_unverified_domains", "cannot_remove_last_member", "cannot_sign_out_managed_member",
    "cannot_sign_out_membership_admin", "cannot_sign_out_owner", "cannot_sign_out_primary_owner",
    "cannot_sign_out_privileged_member", "cannot_sign_out_self", "change_outcome_unknown",
    "claude_code_key_creator_not_member", "claude_code_version_too_old", "claude_tag_writes_not_enabled",
    "cmek_context_unavailable", "cmek_feature_unsupported", "cmek_key_disabled", "cmek_key_network_blocked",
    "cmek_key_unreachable", "cmek_not_approved", "compaction_block_ambiguous", "compaction_block_misplaced",
    "compaction_content_mismatch", "compaction_incomplete_turn", "compaction_nothing_to_summarize",
    "compaction_signature_invalid", "compaction_too_many_tool_references", "compaction_tool_changes_mismatch",
    "compaction_unavailable", "compliance_configuration_restricted", "concurrent_membership_change",
    "contract_spend_limit_reached", "email_domain_not_allowed", "enforced_spend_limit_reached",
    "environment_archived", "environment_create_disabled", "environment_not_found", "environment_update_disabled",
    "external_key_changed", "external_key_in_workspace_policy", "external_key_not_found",
    "external_key_provider_mismatch", "external_key_validation_failed", "external_key_validation_timed_out",
    "external_storage_in_use", "external_storage_in_workspace_policy", "external_storage_not_available",
    "file_expired", "file_not_downloadable", "gcp_project_controlled_by_another_organization",
    "gcp_project_not_verified", "grant_required", "heartbeat_precondition_failed", "human_review_not_available",
    "human_review_on_with_external_storage", "image_dimensions_too_large", "invalid_config_type_change",
    "invalid_metadata", "invalid_storage_arn", "invite_already_exists", "key_profile_mismatch",
    "linked_organization_billing_unavailable", "linked_organization_spend_limit_reached",
    "org_api_key_limit_exceeded", "org_member_limit_exceeded", "organization_level_scoped_api_key_required",
    "organization_not_eligible", "organization_not_enrolled_in_beta", "organization_on_hold",
    "organization_type_not_supported", "parent_organization_required", "plugin_name_taken",
    "provider_not_allowed", "ramp_limit_exceeded", "rbac_group_grants_owner_access",
    "rbac_group_managed_settings_not_found", "rbac_group_not_found", "rbac_group_order_limit_exceeded",
    "rbac_group_owner_access_unconfirmed", "rbac_role_not_found", "region_not_supported", "registration_pending",
    "request_body_encoding_invalid", "request_body_encoding_unsupported", "request_body_timeout",
    "request_body_too_large_after_decoding", "sandbox_egress_restricted", "scan_failed", "scan_pending",
    "settings_document_limit_exceeded", "settings_history_limit_exceeded", "skill_name_taken",
    "skill_read_blocked_undecryptable", "slack_channel_set_up_environment_not_found",
    "slack_channel_set_up_settings_conflict", "slack_channel_set_up_settings_refused",
    "spend_limits_admin_api_writes_not_enabled", "storage_already_registered", "storage_attach_limit_reached",
    "storage_attached_during_archive", "storage_changed_concurrently", "storage_in_use", "storage_not_approved",
    "storage_not_attachable", "storage_profile_mismatch", "storage_profile_still_required",
    "storage_quota_exceeded", "storage_verification_failed", "thread_already_continued",
    "thread_continue_in_flight", "thread_fingerprint_mismatch", "thread_not_found", "thread_unsupported_request",
    "tool_name_conflict", "tool_reference_unresolved", "transcripts_storage_required", "unsupported_charset",
    "unsupported_region", "user_profile_billing_not_authorized", "user_profile_not_billable",
    "user_profile_not_found", "user_profile_required", "workspace_api_key_limit_exceeded",
    "workspace_changed_concurrently", "workspace_created_incomplete", "workspace_human_review_disabled",
    "workspace_member_limit_exceeded", "workspace_policy_violation",
}  # fmt: skip

TABLES: dict[str, Table] = {
    "request": REQUEST,
    "metadata": METADATA,
    "cache_control": CACHED,
    "thinking": THINKING,
    "output_config": OUTPUT_CONFIG,
    "output_config.format": FORMAT,
    "context_management": CONTEXT_MANAGEMENT,
    "context_management.edits": EDIT,
    "diagnostics": DIAGNOSTICS_WANTED,
    "tools": TOOL,
    "tools.hosted": HOSTED_TOOL,
    "mcp_servers": SERVER,
    "mcp_servers.tool_configuration": SERVER_CONFIG,
    "tool_choice": TOOL_CHOICE,
    "messages": TURN,
    **{f"content.{name}": table for name, table in BLOCKS.items()},
    "content.source": PLACE,
    "content.cache_control": CACHE_MARK,
    "content.citations": CITATION,
    "reply": REPLY,
    "message_delta": MESSAGE_DELTA,
    "message_delta.delta": END,
    "stop_details": STOP_DETAILS,
    "usage": USAGE,
    "usage.output_tokens_details": USAGE_DETAILS,
    "reply.diagnostics": DIAGNOSTICS,
    "reply.diagnostics.cache_miss_reason": MISS,
    "error": ERROR_BODY,
    "error.error": ERROR,
}
