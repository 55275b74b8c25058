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
    return _with_results(nodes(leaf, lambda home: read_block(home, context), NAME))


def _with_results(parts: list[Node]) -> list[Node]:
    """The same parts, each hosted call saying what it gave back where that stands right behind it."""
    out: list[Node] = []
    for part in parts:
        if out and answers(part, out[-1]):
            out[-1].says["result"] = part
        else:
            out.append(part)
    return out


def answers(result: Node, call: Node) -> bool:
    """Is it the result of that hosted call?"""
    given = result.value("call_id")
    return result.kind == "hosted_result" and call.kind == "hosted_call" and given == call.value("id") is not None


def read_block(home: dict[str, Any], context: Context) -> Node:
    """One content block, by its type; one of an unknown type is all extras."""
    kind = home.get("type")
    if not isinstance(kind, str) or kind not in BLOCKS:
        return unknown(home, NAME)
    node = BLOCKS[kind].read(home, context)
    lift(node, "place")
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
ALONE_BLOCK = Table("hosted_call", NAME, Field("type", "service", TEXT))

# Blocks that no other protocol has anything for.
ALONE = ("advisor_tool_result", "fallback", "mcp_tool_listing", "compaction", "tool_addition", "tool_removal")

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
    **dict.fromkeys(ALONE, ALONE_BLOCK),
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
    _MARKED,
)


def _negated(leaf: Leaf, context: Context) -> Leaf:
    return leaf.to(not leaf.value, "respelled")


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


# Requests (`spec/requests.md` §2 to §4)

TURN = Table("turn", NAME, Field("role", "role", TEXT), Nested("content", "parts", "text list", read_blocks))


def _read_turns(leaf: Leaf, context: Context) -> list[Node]:
    return nodes(leaf, lambda home: TURN.read(home, context), NAME)


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
    Field("context_management", "context_management", OBJECT),
    Field("mcp_servers", "mcp_servers", LIST),
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
    *(Field(name, name) for name in ("context_management", "input_transformations")),
)
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
    *(Field(name, name) for name in ("container", "diagnostics", "context_management", "input_transformations")),
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

_TABLES = (
    REQUEST, TURN, TOOL, HOSTED_TOOL, TOOL_CHOICE, THINKING, OUTPUT_CONFIG, FORMAT, METADATA, CACHED, CACHE_MARK,
    REPLY, MESSAGE_DELTA, END, STOP_DETAILS, USAGE, USAGE_DETAILS, CITATION, ERROR_BODY, ERROR,
)  # fmt: skip
TABLES: dict[str, Table] = {table.kind: table for table in reversed(_TABLES)}
