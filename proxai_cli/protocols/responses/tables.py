"""OpenAI Responses: names and terms for every kind of object, and the spellings of its words.

Source: `spec/requests.md` and `spec/responses.md`. What a key holds that is `Inner` (`reasoning`, `text`)
are terms of the node's own.
"""

from typing import Any

from ...context import Context
from ...ir.nodes import Node
from ...ir.values import legal, spelling, whole_schema
from ...ledger import Leaf, Writer
from ...tables import (
    FLAG,
    LIST,
    NUMBER,
    OBJECT,
    TEXT,
    Deep,
    Dropped,
    Field,
    Gap,
    Inner,
    Must,
    Nested,
    Table,
    Word,
    nodes,
)

NAME = "responses"

# The name of a tool may have so many characters, and so may the identifier of a call.
LONGEST_NAME = 64
LONGEST_ID = 64
LONGEST_SAFETY_IDENTIFIER = 128

LOGPROBS = "message.output_text.logprobs"


def inside(w: Writer, key: Any, table: Table, node: Node, context: Context) -> None:
    """Write a node as an object under a key, or nothing at all where nothing of it can be said."""
    inner = Writer(w.ledger, {})
    table.write(node, inner, context)
    if inner.value:
        w.value[key] = inner.value


def legal_name(leaf: Leaf, context: Context) -> Leaf:
    return _legal(leaf, LONGEST_NAME, "legal-name")


def legal_call_id(leaf: Leaf, context: Context) -> Leaf:
    return _legal(leaf, LONGEST_ID, "legal-id", ".")


def _legal(leaf: Leaf, limit: int, why: str, allowed: str = r"[A-Za-z0-9_-]") -> Leaf:
    if not isinstance(leaf.value, str) or leaf.why == "legal-name":  # a name that its request gave comes back as it was
        return leaf
    value = legal(leaf.value, limit, allowed)
    return leaf if value == leaf.value else leaf.to(value, why)


def legal_identifier(leaf: Leaf, context: Context) -> Leaf:
    return _legal(leaf, LONGEST_SAFETY_IDENTIFIER, "legal-id", ".")


# --- parts of messages and of tool results

_CACHE_TTL = {"1h": "12h", "5m": None}


def cache_ttl(leaf: Leaf, context: Context) -> Any:
    """The life of a cache mark in the classes of this protocol (`spec/requests.md` §10)."""
    if not isinstance(leaf.value, str) or leaf.value not in _CACHE_TTL:
        return leaf
    ours = _CACHE_TTL[leaf.value]
    return Dropped("target-default") if ours is None else leaf.to(ours, "cache-ttl")


CACHE_MARK = Table("cache_mark", NAME, Field("mode", "mode", TEXT), Field("ttl", "ttl", TEXT, write=cache_ttl))


def write_mark(mark: Node, w: Writer, name: str, context: Context) -> None:
    """A cache mark as `prompt_cache_breakpoint`, unless `--set cache-marks=false`."""
    if not context.chosen("cache-marks", True):
        w.ledger.drop(mark, "no-equivalent")
        return
    said = mark.but()
    if said.get("mode") is None and said.get("type") is not None:
        said.says["mode"] = said.says.pop("type").to("explicit", "respelled")
    inside(w, name, CACHE_MARK, said, context)
    if name in w.value and "mode" not in w.value[name]:
        Writer(w.ledger, w.value[name]).make("mode", "explicit", "required-by-target")


_MARK = Nested(
    "prompt_cache_breakpoint",
    "cache_mark",
    OBJECT,
    lambda leaf, context: CACHE_MARK.read(leaf.value, context),
    write_mark,
)

CITATIONS = {
    kind: Table("citation", NAME, Word("type", kind), *(Field(name, name) for name in names))
    for kind, names in {
        "url_citation": ("url", "title", "start_index", "end_index"),
        "file_citation": ("file_id", "filename", "index"),
        "container_file_citation": ("container_id", "file_id", "filename", "start_index", "end_index"),
        "file_path": ("file_id", "index"),
    }.items()
}
URL_CITATION = CITATIONS["url_citation"]


def read_citation(annotation: dict[str, Any], context: Context) -> Node:
    """One annotation of a text; the term `type` tells its kind."""
    kind = annotation.get("type")
    return CITATIONS.get(kind if isinstance(kind, str) else "", URL_CITATION).read(annotation, context)


def entries(leaf: Leaf, context: Context) -> list[Leaf]:
    """The elements of a list, each as a leaf."""
    return [Leaf(leaf.value, at) for at in range(len(leaf.value))]


def write_entries(said: list[Leaf], w: Writer, name: str, context: Context) -> None:
    inner = w.list(name)
    for leaf in said:
        inner.append(leaf)


INPUT_TEXT = Table("text", NAME, Word("type", "input_text"), Field("text", "text", TEXT), _MARK)
OUTPUT_TEXT = Table(
    "text",
    NAME,
    Word("type", "output_text"),
    Nested(
        "annotations",
        "citations",
        LIST,
        lambda leaf, context: nodes(leaf, lambda each: read_citation(each, context), NAME),
    ),
    Nested("logprobs", "part_logprobs", LIST, entries, write_entries),
    Field("text", "text", TEXT),
    Must("annotations", []),
)
REFUSAL = Table("refusal", NAME, Word("type", "refusal"), Field("refusal", "text", TEXT))
IMAGE = Table(
    "image",
    NAME,
    Word("type", "input_image"),
    Field("image_url", "url", TEXT),
    Field("file_id", "file_id", TEXT),
    Field("detail", "detail", TEXT),
    _MARK,
    Must("detail", "auto"),
)
SCREENSHOT = Table(
    "image",
    NAME,
    Word("type", "computer_screenshot"),
    Field("image_url", "url", TEXT),
    Field("file_id", "file_id", TEXT),
)
FILE = Table(
    "file",
    NAME,
    Word("type", "input_file"),
    Field("filename", "filename", TEXT),
    Field("file_data", "data_url", TEXT),
    Field("file_url", "url", TEXT),
    Field("file_id", "file_id", TEXT),
    Field("detail", "detail", TEXT),
    _MARK,
)
PARTS = {
    "input_text": INPUT_TEXT,
    "output_text": OUTPUT_TEXT,
    "text": INPUT_TEXT,
    "refusal": REFUSAL,
    "input_image": IMAGE,
    "input_file": FILE,
}

# --- items

_ITEM = (Field("id", "item_id", TEXT), Field("status", "status", TEXT))
ITEM = Table(
    "item", NAME, Field("id", "item_id"), Field("type", "type"), Field("status", "status"), Field("role", "role"),
    Field("phase", "phase"),
)  # fmt: skip
MESSAGE = Table(
    "message",
    NAME,
    Field("id", "item_id", TEXT),
    Word("type", "message"),
    Field("status", "status", TEXT),
    Field("role", "role", TEXT),
    Field("phase", "phase", TEXT),
    Field("content", "content", "text list"),
)
FUNCTION_CALL = Table(
    "tool_call",
    NAME,
    Word("type", "function_call"),
    *_ITEM,
    Field("call_id", "call_id", TEXT, write=legal_call_id),
    Field("name", "name", TEXT, write=legal_name),
    Field("namespace", "namespace", TEXT),
    Field("arguments", "arguments", "text object"),
    Field("caller", "caller"),
    Field("async", "async"),
)
CUSTOM_CALL = Table(
    "custom_call",
    NAME,
    Word("type", "custom_tool_call"),
    *_ITEM,
    Field("call_id", "call_id", TEXT, write=legal_call_id),
    Field("name", "name", TEXT, write=legal_name),
    Field("namespace", "namespace", TEXT),
    Field("input", "input", TEXT),
    Field("caller", "caller"),
    Field("async", "async"),
)
CALLS = {"function_call": FUNCTION_CALL, "custom_tool_call": CUSTOM_CALL}
REASONING = Table(
    "thinking",
    NAME,
    Word("type", "reasoning"),
    *_ITEM,
    Field("summary", "summary", LIST),
    Field("content", "content", LIST),
    Field("encrypted_content", "signature", TEXT),
)


def _output(kind: str) -> Table:
    return Table(
        "tool_result",
        NAME,
        Word("type", kind),
        *_ITEM,
        Field("call_id", "call_id", TEXT, write=legal_call_id),
        Field("name", "name"),
        Field("namespace", "namespace"),
        Field("caller", "caller"),
        Field("max_output_length", "max_output_length"),
        Field("acknowledged_safety_checks", "acknowledged_safety_checks"),
        Field("created_by", "created_by"),
        Field("output", "output", "text list object"),
    )


OUTPUTS = {
    kind: _output(kind)
    for kind in (
        "function_call_output",
        "custom_tool_call_output",
        "computer_call_output",
        "local_shell_call_output",
        "shell_call_output",
        "apply_patch_call_output",
    )
}
FUNCTION_OUTPUT = OUTPUTS["function_call_output"]
CUSTOM_OUTPUT = OUTPUTS["custom_tool_call_output"]

# --- tools and their choice

SERVICES = spelling(
    ("web_search", "web_search"),
    ("web_search_2025_08_26", "web_search"),
    ("web_search_preview", "web_search"),
    ("web_search_preview_2025_03_11", "web_search"),
    ("code_interpreter", "code_execution"),
    ("file_search", "file_search"),
    ("mcp", "mcp"),
    ("computer", "computer"),
    ("computer_use_preview", "computer"),
    ("shell", "shell"),
    ("local_shell", "shell"),
    ("apply_patch", "apply_patch"),
    ("image_generation", "image_generation"),
    ("tool_search", "tool_search"),
    ("programmatic_tool_calling", "programmatic_tool_calling"),
)


def canonical(words: dict[str, str]) -> Any:
    """A rule's `read` that turns a word of this protocol into the canonical one."""
    return lambda leaf, context: leaf.to(words[leaf.value], "respelled") if leaf.value in words else leaf


def _hosted_item(service: str, *names: str) -> Table:
    """A call of a tool that the vendor runs, or a step of one; `service` is the canonical word."""
    return Table(
        "hosted_call",
        NAME,
        Field("id", "id", TEXT),
        Field("type", "service", TEXT, read=lambda leaf, context: leaf.to(service, "respelled")),
        Field("status", "status", TEXT),
        *(Field(name, name) for name in names),
    )


HOSTED_ITEMS = {
    "web_search_call": _hosted_item("web_search", "action"),
    "code_interpreter_call": _hosted_item("code_execution", "code", "container_id", "outputs"),
    "file_search_call": _hosted_item("file_search", "queries", "results"),
    "mcp_call": _hosted_item("mcp", "server_label", "name", "arguments", "output", "error", "approval_request_id"),
    "mcp_list_tools": _hosted_item("mcp_list_tools", "server_label", "tools", "error"),
    "mcp_approval_request": _hosted_item("mcp_approval_request", "server_label", "name", "arguments"),
    "mcp_approval_response": _hosted_item("mcp_approval_response", "approval_request_id", "approve", "reason"),
    "tool_search_call": _hosted_item("tool_search", "call_id", "execution", "arguments", "created_by"),
    "tool_search_output": _hosted_item("tool_search_output", "call_id", "execution", "tools", "created_by"),
    "image_generation_call": _hosted_item(
        "image_generation", "action", "background", "error", "output_format", "quality", "result", "revised_prompt",
        "size", "svg_usage",
    ),
    "program": _hosted_item("program", "call_id", "code", "fingerprint"),
    "program_output": _hosted_item("program_output", "call_id", "result"),
    "compaction": _hosted_item("compaction", "encrypted_content", "created_by"),
    "additional_tools": _hosted_item("additional_tools", "role", "tools"),
    "shell_call": _hosted_item("shell", "call_id", "action", "environment", "caller", "created_by"),
}  # fmt: skip


# Items of a request that say nothing to another protocol, and why.
ASIDE_ITEMS = {
    "item_reference": (Table("reference", NAME, Field("type", "type"), Field("id", "id")), "stateful-reference"),
    "compaction": (HOSTED_ITEMS["compaction"], "foreign-signature"),
    "compaction_trigger": (Table("other", NAME, Field("type", "type"), Field("id", "id")), "no-equivalent"),
    "configuration_update": (
        Table("other", NAME, *(Field(name, name) for name in ("type", "id", "reasoning", "text"))),
        "no-equivalent",
    ),
}

# Calls of tools that the vendor defines and the client runs: the name that they have elsewhere.
CLIENT_CALLS = {
    "computer_call": "computer",
    "shell_call": "bash",
    "local_shell_call": "bash",
    "apply_patch_call": "apply_patch",
}
CLIENT_CALL = Table(
    "tool_call",
    NAME,
    Field("id", "item_id", TEXT),
    Field("type", "name", TEXT, read=lambda leaf, context: leaf.to(CLIENT_CALLS[leaf.value], "respelled")),
    Field("status", "status", TEXT),
    Field("call_id", "call_id", TEXT, write=legal_call_id),
    Field("action", "arguments", OBJECT),
    Field("operation", "arguments", OBJECT),
    Field("actions", "arguments", LIST, read=lambda leaf, context: leaf.to({"actions": leaf.value}, "respelled")),
    Field("environment", "environment"),
    Field("pending_safety_checks", "pending_safety_checks"),
    Field("caller", "caller"),
    Field("created_by", "created_by"),
)

FUNCTION_TOOL = Table(
    "function_tool",
    NAME,
    Word("type", "function"),
    Field("name", "name", TEXT, write=legal_name),
    Field("description", "description", TEXT),
    Field("parameters", "parameters", OBJECT, write=whole_schema),
    Field("strict", "strict", FLAG),
    Field("defer_loading", "defer_loading"),
    Field("allowed_callers", "allowed_callers"),
    Field("output_schema", "output_schema"),
    Field("async", "async"),
    Must("parameters", None),
    Must("strict", False),
)
TOOL_FORMAT = Table(
    "tool_format",
    NAME,
    Field("type", "format_type", TEXT),
    Field("syntax", "syntax", TEXT),
    Field("definition", "grammar", TEXT),
)
CUSTOM_TOOL = Deep(
    "custom_tool",
    NAME,
    Word("type", "custom"),
    Field("name", "name", TEXT, write=legal_name),
    Field("description", "description", TEXT),
    Inner("format", TOOL_FORMAT),
    Field("defer_loading", "defer_loading"),
    Field("allowed_callers", "allowed_callers"),
    Field("async", "async"),
)
_HOSTED = Field("type", "service", TEXT, read=canonical(SERVICES.to_canonical))
FILTERS = Table("web_filters", NAME, Field("allowed_domains", "allowed_domains"))
WEB_SEARCH = Deep(
    "hosted_tool",
    NAME,
    _HOSTED,
    Inner("filters", FILTERS),
    Field("user_location", "user_location"),
    Field("search_context_size", "search_context_size"),
    Field("search_content_types", "search_content_types"),
    Field("external_web_access", "external_web_access"),
)


def _hosted(*names: str) -> Table:
    return Table("hosted_tool", NAME, _HOSTED, *(Field(name, name) for name in names))


HOSTED_TOOLS = {
    "web_search": WEB_SEARCH,
    "code_execution": _hosted("container", "allowed_callers"),
    "file_search": _hosted("vector_store_ids", "max_num_results", "filters", "ranking_options"),
    "mcp": _hosted(
        "server_label", "server_url", "server_description", "connector_id", "tunnel_id", "authorization", "headers",
        "allowed_tools", "require_approval", "allowed_callers", "defer_loading",
    ),
    "computer": _hosted("display_width", "display_height", "environment"),
    "shell": _hosted("environment", "allowed_callers"),
    "apply_patch": _hosted("allowed_callers"),
    "image_generation": _hosted(
        "action", "background", "complexity", "frame_count", "frame_duration_ms", "input_fidelity", "input_image_mask",
        "model", "moderation", "output_compression", "output_format", "partial_images", "quality", "size", "svg",
    ),
    "tool_search": _hosted("description", "execution", "parameters"),
    "programmatic_tool_calling": _hosted(),
}  # fmt: skip
NAMESPACE = Table(
    "namespace",
    NAME,
    Word("type", "namespace"),
    Field("name", "name", TEXT),
    Field("description", "description"),
    Field("tools", "tools", LIST),
)
TOOL_CHOICE = Table(
    "tool_choice",
    NAME,
    Field("type", "tool_kind", TEXT, read=canonical(SERVICES.to_canonical)),
    Field("mode", "mode", TEXT),
    Field("name", "name", TEXT),
    Field("server_label", "server_label", TEXT),
    Field("tools", "allowed", LIST),
)

# --- requests

FORMAT = Table(
    "format",
    NAME,
    Field("type", "type", TEXT),
    Field("name", "name", TEXT),
    Field("description", "description", TEXT),
    Field("strict", "strict", FLAG),
    Field("schema", "schema", OBJECT, write=whole_schema),
)


def write_format(said: Node, w: Writer, name: str, context: Context) -> None:
    """The shape of the reply's text; a schema needs a name, and is strict where none is given
    (`spec/requests.md` §9)."""
    inner = Writer(w.ledger, {})
    FORMAT.write(said, inner, context)
    if inner.value:
        w.value[name] = inner.value
    if inner.value.get("type") == "json_schema" and said.protocol != NAME:
        if "name" not in inner.value:
            inner.make("name", "output", "required-by-target")
            if "strict" not in inner.value:
                inner.make("strict", True, "required-by-target")
        if "schema" not in inner.value:
            inner.make("schema", {}, "required-by-target")
        inner.order(FORMAT.names)


def thinking_display(leaf: Leaf, context: Context) -> Any:
    """`summarized` is `auto` here, `omitted` is what happens anyway (`spec/requests.md` §8)."""
    words = {"summarized": leaf.to("auto", "respelled"), "omitted": Dropped("target-default")}
    return words.get(leaf.value, leaf) if isinstance(leaf.value, str) else leaf


def kept_foreign_id(leaf: Leaf, context: Context) -> Any:
    return leaf if context.chosen("keep-foreign-ids") else Dropped("foreign-id")


REASONING_OPTIONS = Table(
    "reasoning",
    NAME,
    Field("effort", "effort", TEXT),
    Field("summary", "thinking_display", TEXT, write=thinking_display),
    Field("generate_summary", "thinking_display", TEXT),
    Field("context", "reasoning_context"),
    Field("mode", "reasoning_mode"),
)
TEXT_OPTIONS = Table(
    "text_options",
    NAME,
    Nested("format", "format", OBJECT, lambda leaf, context: FORMAT.read(leaf.value, context), write_format),
    Field("verbosity", "verbosity", TEXT),
)
CACHE_OPTIONS = Table(
    "prompt_cache_options",
    NAME,
    Field("mode", "cache_mode", TEXT),
    Field("ttl", "cache_ttl", TEXT, write=cache_ttl),
    Field("prewarm", "cache_prewarm", FLAG),
    Field("comparison_response_id", "comparison_response_id", TEXT, write=kept_foreign_id),
)
STREAM_OPTIONS = Table("stream_options", NAME, Field("include_obfuscation", "include_obfuscation", FLAG))
REQUEST = Deep(
    "request",
    NAME,
    Field("model", "model", TEXT),
    Field("instructions", "instructions", "text list"),
    Field("input", "turns", "text list"),
    Field("tools", "tools", LIST),
    Field("tool_choice", "tool_choice", "text object"),
    Field("parallel_tool_calls", "parallel_tool_calls", FLAG),
    Field("max_output_tokens", "max_output_tokens", NUMBER),
    Field("max_tool_calls", "max_tool_calls", NUMBER),
    Field("temperature", "temperature", NUMBER),
    Field("top_p", "top_p", NUMBER),
    Nested("include", "include", LIST, entries, write_entries),
    Field("top_logprobs", "top_logprobs", NUMBER),
    Inner("reasoning", REASONING_OPTIONS),
    Inner("text", TEXT_OPTIONS),
    Field("stream", "stream", FLAG),
    Inner("stream_options", STREAM_OPTIONS),
    Field("store", "store", FLAG),
    Field("previous_response_id", "previous_response_id", TEXT),
    Field("conversation", "conversation", "text object"),
    Field("prompt", "prompt", OBJECT),
    Field("background", "background", FLAG),
    Field("background_options", "background_options", OBJECT),
    Field("context_management", "context_management", LIST),
    Field("truncation", "truncation", TEXT),
    Field("metadata", "metadata", OBJECT),
    Field("user", "user", TEXT),
    Field("safety_identifier", "safety_identifier", TEXT, write=legal_identifier),
    Field("prompt_cache_key", "prompt_cache_key", TEXT),
    Field("prompt_cache_retention", "prompt_cache_retention", TEXT),
    Inner("prompt_cache_options", CACHE_OPTIONS),
    Field("service_tier", "service_tier", TEXT),
    Field("moderation", "moderation", OBJECT),
    Field("access_programs", "access_programs"),
    Field("image", "image"),
    Must("store", False, "store-default"),
)

# --- replies

INPUT_DETAILS = Table(
    "input_tokens_details",
    NAME,
    Field("cached_tokens", "cached_tokens", NUMBER),
    Field("cache_write_tokens", "cache_write_tokens", NUMBER),
    Field("cache_write_tokens_details", "cache_write_tokens_details", OBJECT),
    Must("cached_tokens", 0),
    Must("cache_write_tokens", 0),
)
OUTPUT_DETAILS = Table(
    "output_tokens_details",
    NAME,
    Field("reasoning_tokens", "reasoning_tokens", NUMBER),
    Must("reasoning_tokens", 0),
)
USAGE = Deep(
    "usage",
    NAME,
    Field("input_tokens", "input_tokens", NUMBER),
    Inner("input_tokens_details", INPUT_DETAILS, required=True),
    Field("output_tokens", "output_tokens", NUMBER),
    Inner("output_tokens_details", OUTPUT_DETAILS, required=True),
    Field("total_tokens", "total_tokens", NUMBER),
    Must("input_tokens", 0),
    Must("output_tokens", 0),
    Must("total_tokens", 0),
)
ERROR = Table(
    "error",
    NAME,
    Field("code", "code"),
    Field("message", "message", TEXT),
    Field("param", "param"),
    Field("type", "error_type", TEXT),
    Field("misalignment", "misalignment"),
)

# Why a cache was missed, of the reasons that other vendors give, too.
MISSED = ("model_changed", "tools_changed", "input_changed")
NO_MISS = ("comparison_response_not_found", "unavailable")


def write_diagnostics(said: Any, w: Writer, name: str, context: Context) -> None:
    """Why the cache was missed (`spec/responses.md` §1.3): `reason` and `missed_tokens` of a node."""
    if isinstance(said, Leaf):
        w.put(name, said)
        return
    reason, tokens = said.get("reason"), said.get("missed_tokens")
    if reason is None or reason.value not in (*MISSED, *NO_MISS) or (reason.value in MISSED and tokens is None):
        w.ledger.drop(said, "no-equivalent")
        return
    inner = w.object(name)
    if reason.value in NO_MISS:
        inner.put("type", reason)
        w.ledger.drop(tokens, "no-equivalent")
    else:
        inner.make("type", "cache_miss", "required-by-target")
        inner.put("reason", reason)
        inner.put("cache_missed_tokens", tokens)
    w.ledger.drop(said.but("reason", "missed_tokens"), "no-equivalent")


# What a reply repeats of its request.
ECHOED = (
    "instructions", "tools", "tool_choice", "parallel_tool_calls", "text", "reasoning", "temperature", "top_p",
    "truncation", "max_output_tokens", "max_tool_calls", "previous_response_id", "conversation", "prompt",
    "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "safety_identifier", "user", "store",
    "background", "top_logprobs",
)  # fmt: skip
ECHO_TERMS = {name: "echo_" + name for name in ECHOED}
NEUTRAL: tuple[tuple[str, Any], ...] = (
    ("error", None),
    ("incomplete_details", None),
    ("instructions", None),
    ("metadata", {}),
    ("parallel_tool_calls", True),
    ("temperature", None),
    ("tool_choice", "auto"),
    ("tools", []),
    ("top_p", None),
)
REPLY = Table(
    "reply",
    NAME,
    Field("id", "id", TEXT),
    Word("object", "response"),
    Field("created_at", "created", NUMBER),
    Field("completed_at", "completed", NUMBER),
    Field("status", "stop_reason", TEXT),
    Field("background", "echo_background"),
    Field("error", "error", OBJECT),
    Field("incomplete_details", "incomplete_details", OBJECT),
    Field("instructions", "echo_instructions"),
    Field("model", "model", TEXT),
    Field("output", "parts", LIST),
    *(Field(name, term) for name, term in ECHO_TERMS.items() if name not in ("instructions", "background")),
    Field("service_tier", "service_tier", TEXT),
    Field("usage", "usage", OBJECT),
    Field("metadata", "metadata", OBJECT),
    Field("moderation", "moderation", OBJECT),
    Field("output_text", "output_text"),
    Field("tool_usage", "tool_usage", OBJECT),
    Nested("prompt_cache_diagnostics", "diagnostics", OBJECT, lambda leaf, context: leaf, write_diagnostics),
    Field("access_programs", "access_programs"),
    Field("image", "image"),
    Field("input_transformations", "input_transformations"),
    Gap("system_fingerprint", "no-equivalent"),
)

# --- all of them, as `proxai map` prints them

TABLES: dict[str, Table] = {
    "request": REQUEST,
    "request.reasoning": REASONING_OPTIONS,
    "request.text": TEXT_OPTIONS,
    "request.text.format": FORMAT,
    "request.prompt_cache_options": CACHE_OPTIONS,
    "request.stream_options": STREAM_OPTIONS,
    "request.tools[function]": FUNCTION_TOOL,
    "request.tools[custom]": CUSTOM_TOOL,
    "request.tools[custom].format": TOOL_FORMAT,
    "request.tools[namespace]": NAMESPACE,
    **{f"request.tools[{SERVICES.from_canonical[service]}]": table for service, table in HOSTED_TOOLS.items()},
    "request.tool_choice": TOOL_CHOICE,
    "item[message]": MESSAGE,
    **{f"part[{kind}]": table for kind, table in PARTS.items() if kind != "text"},
    "part.prompt_cache_breakpoint": CACHE_MARK,
    **{f"annotation[{kind}]": table for kind, table in CITATIONS.items()},
    "item[reasoning]": REASONING,
    **{f"item[{kind}]": table for kind, table in {**CALLS, **OUTPUTS, **HOSTED_ITEMS}.items()},
    "reply": REPLY,
    "reply.usage": USAGE,
    "reply.usage.input_tokens_details": INPUT_DETAILS,
    "reply.usage.output_tokens_details": OUTPUT_DETAILS,
    "reply.error": ERROR,
}
