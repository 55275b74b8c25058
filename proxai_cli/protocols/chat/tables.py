"""Chat Completions: names and terms for every kind of object, and the spellings of its words.

Source: `spec/requests.md` and `spec/responses.md`. Several keys of a message feed its `parts`: `PARTS` has them, in
the order in which a message says them (`spec/responses.md` §2).
"""

from typing import Any

from ...context import Context
from ...ir.nodes import Node
from ...ir.values import as_text, legal, spelling, whole_schema, wrapped_id
from ...ledger import Leaf, Writer, made
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
    fits,
    nodes,
    unknown,
)

NAME = "chat"

# A tool's name may have so many characters, so many the identifier of an end user; a request so many stop sequences.
LONGEST_NAME = 64
LONGEST_IDENTIFIER = 128
MOST_STOPS = 4

# Protocols whose file identifiers this vendor knows.
SAME_VENDOR = ("chat", "responses")

ROLES = spelling(
    ("system", "system"), ("developer", "developer"), ("user", "user"), ("assistant", "assistant"), ("tool", "user"),
    ("function", "user"),
)  # fmt: skip
STOPS = spelling(
    ("stop", "end"), ("length", "length"), ("tool_calls", "tool_calls"), ("function_call", "tool_calls"),
    ("content_filter", "content_filter"), ("stop", "stop_sequence"), ("stop", "pause"), ("length", "context_full"),
    ("stop", "compaction"),
)  # fmt: skip
MODES = spelling(("auto", "auto"), ("none", "none"), ("required", "required"), ("any", "required"))
DIALECTS = ("reasoning_content", "reasoning")


def canonical(words: dict[str, str]) -> Any:
    """A rule's `read` that turns a word of this protocol into the canonical one."""
    return lambda leaf, context: leaf.to(words[leaf.value], "respelled") if leaf.value in words else leaf


def legal_name(leaf: Leaf, context: Context) -> Leaf:
    """A tool's name within the limits (`spec/requests.md` §7.1), unless it is the request's own that came back."""
    if leaf.why == "legal-name":
        return leaf
    value = legal(leaf.value, LONGEST_NAME) if isinstance(leaf.value, str) else leaf.value
    return leaf if value == leaf.value else leaf.to(value, "legal-name")


def reading(table: Table) -> Any:
    """A rule's `read` for an object that has a table of its own."""
    return lambda leaf, context: table.read(leaf.value, context)


def under(w: Writer, name: Any, table: Table, node: Node, context: Context) -> None:
    """Write a node as an object under a key, or nothing where nothing of it can be said."""
    inner = Writer(w.ledger, {})
    table.write(node, inner, context)
    if inner.value:
        w.value[name] = inner.value


# --- parts of messages

_LIVES = {"1h": "12h", "5m": None}


def cache_ttl(leaf: Leaf, context: Context) -> Leaf | Dropped:
    """The life of a cache mark in the classes of this protocol (`spec/requests.md` §10)."""
    if not isinstance(leaf.value, str) or leaf.value not in _LIVES:
        return leaf
    ours = _LIVES[leaf.value]
    return leaf.to(ours, "cache-ttl") if ours else Dropped("target-default")


CACHE_MARK = Table("cache_mark", NAME, Field("mode", "mode", TEXT), Field("ttl", "ttl", TEXT, write=cache_ttl))


def write_mark(mark: Node, w: Writer, name: str, context: Context) -> None:
    """A cache mark as `prompt_cache_breakpoint`, unless `--set cache-marks=false`."""
    if not context.chosen("cache-marks", True):
        w.ledger.drop(mark, "no-equivalent")
        return
    said = mark.but()
    if said.get("mode") is None:
        word = said.says.pop("type", None)
        said.says["mode"] = word.to("explicit", "respelled") if word else made("explicit", "required-by-target")
    under(w, name, CACHE_MARK, said, context)


_MARK = Nested("prompt_cache_breakpoint", "cache_mark", OBJECT, reading(CACHE_MARK), write_mark)

TEXT_PART = Table("text", NAME, Word("type", "text"), Field("text", "text", TEXT), _MARK)
IMAGE = Table("image", NAME, Field("url", "url", TEXT), Field("detail", "detail", TEXT))
IMAGE_PART = Deep("image", NAME, Word("type", "image_url"), Inner("image_url", IMAGE), _MARK)
FILE = Table(
    "file",
    NAME,
    Field("file_data", "data_url", TEXT),
    Field("file_id", "file_id", TEXT),
    Field("filename", "filename", TEXT),
)
FILE_PART = Deep("file", NAME, Word("type", "file"), Inner("file", FILE), _MARK)
AUDIO = Table("audio", NAME, Field("data", "data", TEXT), Field("format", "audio_format", TEXT))
AUDIO_PART = Deep("audio", NAME, Word("type", "input_audio"), Inner("input_audio", AUDIO), _MARK)
REFUSAL_PART = Table("refusal", NAME, Word("type", "refusal"), Field("refusal", "text", TEXT))
THINKING_PART = Table(
    "thinking",
    NAME,
    Word("type", "thinking"),
    Field("thinking", "text", "text list"),
    Field("signature", "signature", TEXT),
)
CONTENT = {
    "text": TEXT_PART,
    "image_url": IMAGE_PART,
    "file": FILE_PART,
    "input_audio": AUDIO_PART,
    "refusal": REFUSAL_PART,
    "thinking": THINKING_PART,
}
CONTENT_OF = {table.kind: table for table in CONTENT.values()}


def read_content(leaf: Leaf, context: Context) -> list[Node]:
    """The content of a message: a lone string is one text without an object of its own."""
    if isinstance(leaf.value, str):
        return [Node("text", NAME, None, {"text": leaf})]
    return nodes(leaf, lambda part: _content_part(part, context), NAME)


def _content_part(part: dict[str, Any], context: Context) -> Node:
    kind = part.get("type")
    table = CONTENT.get(kind) if isinstance(kind, str) else None
    if table is None:
        return unknown(part, NAME)
    node = table.read(part, context)
    if kind == "image_url" and isinstance(part.get("image_url"), str):
        node.says["url"] = node.extras.pop("image_url")
    if kind == "thinking":
        _join_thoughts(node, context)
    return node


def _join_thoughts(node: Node, context: Context) -> None:
    """Thinking that stands in a list of texts of its own, said as one text."""
    leaf = node.get("text")
    if leaf is None or isinstance(leaf.value, str):
        return
    if not leaf.value:
        node.asides.append((node.says.pop("text"), "target-default"))
        return
    del node.says["text"]
    texts = []
    for part in nodes(leaf, lambda part: TEXT_PART.read(part, context), NAME):
        text = part.says.pop("text", None)
        texts += [text] if text else []
        node.asides += [(part.says.pop("type"), "target-default")] if "type" in part.says else []
        node.asides += [(part, "unknown-field")]
    if texts:
        node.says["text"] = joined(texts, "", "pieces-joined")


def joined(leaves: list[Leaf], between: str, why: str) -> Leaf:
    """Several texts as one leaf; a lone one stays as it is."""
    first, *more = leaves
    return first.to(between.join(leaf.value for leaf in leaves), why, more) if more else first


def read_refusal(leaf: Leaf, context: Context) -> list[Node]:
    return [Node("refusal", NAME, None, {"text": leaf})] if leaf.value else []


# --- reasoning in its dialects (`spec/responses.md` §3)

DETAIL = Table(
    "thinking",
    NAME,
    Field("type", "type", TEXT),
    Field("text", "text", TEXT),
    Field("summary", "text", TEXT),
    Field("data", "data", TEXT),
    Field("signature", "signature", TEXT),
    Field("id", "detail_id", TEXT),
    Field("format", "detail_format", TEXT),
    Field("index", "detail_index", NUMBER),
)
DETAILS = ("reasoning.text", "reasoning.summary", "reasoning.encrypted")


def read_details(leaf: Leaf, context: Context) -> list[Node]:
    return nodes(leaf, lambda detail: _detail(detail, context), NAME)


def _detail(detail: dict[str, Any], context: Context) -> Node:
    if detail.get("type") not in DETAILS:
        return unknown(detail, NAME)
    node = DETAIL.read(detail, context)
    if detail["type"] == "reasoning.encrypted":
        node.kind = "redacted"
    return node


def read_plain_reasoning(leaf: Leaf, context: Context) -> list[Node]:
    return [Node("thinking", NAME, None, {"text": leaf})] if leaf.value else []


# --- calls

FUNCTION = Table(
    "tool_call", NAME, Field("name", "name", TEXT, write=legal_name),
    Field("arguments", "arguments", "text object", write=lambda leaf, context: as_text(leaf)), Must("arguments", ""),
)  # fmt: skip
CALL = Deep(
    "tool_call", NAME, Field("index", "position", NUMBER), Field("id", "call_id", TEXT), Word("type", "function"),
    Inner("function", FUNCTION),
)  # fmt: skip
CUSTOM = Table(
    "custom_call", NAME, Field("name", "name", TEXT, write=legal_name), Field("input", "input", TEXT), Must("input", "")
)
CUSTOM_CALL = Deep(
    "custom_call", NAME, Field("index", "position", NUMBER), Field("id", "call_id", TEXT), Word("type", "custom"),
    Inner("custom", CUSTOM),
)  # fmt: skip
CALLS = {"tool_call": CALL, "custom_call": CUSTOM_CALL}


def read_calls(leaf: Leaf, context: Context) -> list[Node]:
    return nodes(leaf, lambda call: read_call(call, context), NAME)


def read_call(call: dict[str, Any], context: Context) -> Node:
    """A call, or a piece of one in a stream; its place in the list is set aside."""
    custom = call.get("type") == "custom" or ("custom" in call and "function" not in call)
    node = (CUSTOM_CALL if custom else CALL).read(call, context)
    if "position" in node.says:
        node.asides.append((node.says.pop("position"), "position"))
    return node


def read_legacy_call(leaf: Leaf, context: Context) -> list[Node]:
    """A call of the deprecated form, which has no id: whoever reads the conversation numbers it.

    One that says nothing is none: some libraries write every field that there is.
    """
    return [FUNCTION.read(leaf.value, context)] if any(leaf.value.values()) else []


PARTS = Table(
    "turn",
    NAME,
    Nested("reasoning_details", "parts", LIST, read_details),
    Nested("reasoning_content", "parts", TEXT, read_plain_reasoning),
    Nested("reasoning", "parts", TEXT, read_plain_reasoning),
    Nested("content", "parts", "text list", read_content),
    Nested("refusal", "parts", TEXT, read_refusal),
    Nested("tool_calls", "parts", LIST, read_calls),
    Nested("function_call", "parts", OBJECT, read_legacy_call),
)


def gathered(node: Node, context: Context) -> list[Node]:
    """The parts of a message, or of a delta, taken out of the extras in which its table left their keys.

    Reasoning that several dialects tell is one part, for which the richest of them speaks.
    """
    parts: list[Node] = []
    thought: Node | None = None
    for rule in PARTS.rules:
        leaf = node.extras.get(rule.name) if isinstance(rule, Nested) else None
        if not isinstance(rule, Nested) or leaf is None or not fits(leaf.value, rule.shape):
            continue
        del node.extras[rule.name]
        if rule.name in DIALECTS and thought is not None:
            thought.says.setdefault("plain_text", []).append(leaf)
        elif said := rule.read(leaf, context):
            parts += said
            thought = thought or next((part for part in said if part.kind == "thinking" and part.value("text")), None)
        else:
            node.asides.append((leaf, "target-default"))
    return parts


# --- citations (`spec/responses.md` §7)

CITED = Table(
    "citation",
    NAME,
    Field("url", "url", TEXT),
    Field("title", "title", TEXT),
    Field("start_index", "start_index", NUMBER),
    Field("end_index", "end_index", NUMBER),
    Field("content", "cited_source", TEXT),
    Must("title", ""),
)
CITATION = Deep(
    "citation", NAME, Word("type", "url_citation"), Inner("url_citation", CITED), Field("index", "position", NUMBER)
)


def read_annotations(leaf: Leaf, context: Context) -> list[Node]:
    return nodes(leaf, lambda each: _annotation(each, context), NAME)


def _annotation(annotation: dict[str, Any], context: Context) -> Node:
    known = annotation.get("type") == "url_citation"
    node = CITATION.read(annotation, context) if known else unknown(annotation, NAME)
    number = node.says.pop("position", None) or node.extras.pop("index", None)
    node.asides += [(number, "position")] if number is not None else []
    return node


MESSAGE = Table(
    "turn",
    NAME,
    Field("role", "role", TEXT, read=canonical(ROLES.to_canonical)),
    Field("name", "name", TEXT),
    Field("tool_call_id", "call_id", TEXT),
    Nested("annotations", "citations", LIST, read_annotations),
)

# --- tools and their choice

TOOL_FUNCTION = Table(
    "function_tool",
    NAME,
    Field("name", "name", TEXT, write=legal_name),
    Field("description", "description", TEXT),
    Field("parameters", "parameters", OBJECT, write=whole_schema),
    Field("strict", "strict", FLAG),
)
FUNCTION_TOOL = Deep("function_tool", NAME, Word("type", "function"), Inner("function", TOOL_FUNCTION))
GRAMMAR = Table("custom_tool", NAME, Field("definition", "grammar", TEXT), Field("syntax", "syntax", TEXT))
TOOL_FORMAT = Deep("custom_tool", NAME, Field("type", "format_type", TEXT), Inner("grammar", GRAMMAR))
TOOL_CUSTOM = Deep(
    "custom_tool", NAME, Field("name", "name", TEXT, write=legal_name), Field("description", "description", TEXT),
    Inner("format", TOOL_FORMAT),
)  # fmt: skip
CUSTOM_TOOL = Deep("custom_tool", NAME, Word("type", "custom"), Inner("custom", TOOL_CUSTOM))
TOOLS = {"function": FUNCTION_TOOL, "custom": CUSTOM_TOOL}
TOOL_OF = {table.kind: table for table in TOOLS.values()}


def read_tools(leaf: Leaf, context: Context) -> list[Node]:
    return nodes(leaf, lambda tool: _tool(tool, context), NAME)


def _tool(tool: dict[str, Any], context: Context) -> Node:
    kind = tool.get("type")
    table = TOOLS.get(kind) if isinstance(kind, str) else None
    return table.read(tool, context) if table else unknown(tool, NAME)


def read_functions(leaf: Leaf, context: Context) -> list[Node]:
    return nodes(leaf, lambda function: TOOL_FUNCTION.read(function, context), NAME)


CHOSEN = Table("tool_choice", NAME, Field("name", "name", TEXT, write=legal_name))
ALLOWED = Table(
    "tool_choice", NAME, Field("mode", "mode", TEXT, read=canonical(MODES.to_canonical)),
    Nested("tools", "allowed", LIST, read_tools),
)  # fmt: skip
TOOL_CHOICE = Deep(
    "tool_choice", NAME, Field("type", "tool_kind", TEXT), Inner("function", CHOSEN), Inner("custom", CHOSEN),
    Inner("allowed_tools", ALLOWED),
)  # fmt: skip


def read_choice(leaf: Leaf, context: Context) -> Node:
    if isinstance(leaf.value, str):
        mode = canonical(MODES.to_canonical)(leaf, context)
        return Node("tool_choice", NAME, None, {"mode": mode})
    return TOOL_CHOICE.read(leaf.value, context)


def read_legacy_choice(leaf: Leaf, context: Context) -> Node:
    return read_choice(leaf, context) if isinstance(leaf.value, str) else CHOSEN.read(leaf.value, context)


def flat_location(leaf: Leaf, context: Context) -> Leaf:
    """A place as the other protocols say it: what is approximate stands beside the type."""
    inner = leaf.value.get("approximate")
    if not isinstance(inner, dict):
        return leaf
    rest = {key: value for key, value in leaf.value.items() if key != "approximate"}
    return leaf.to({**rest, **inner}, "respelled")


def nested_location(leaf: Leaf, context: Context) -> Leaf:
    """A place with what is approximate in an object of its own; nothing is told as null."""
    if not isinstance(leaf.value, dict) or "approximate" in leaf.value:
        return leaf
    told = {key: value for key, value in leaf.value.items() if key != "type" and value is not None}
    return leaf.to({"type": "approximate", "approximate": told}, "respelled")


WEB_SEARCH = Table(
    "hosted_tool",
    NAME,
    Field("search_context_size", "search_context_size", TEXT),
    Field("user_location", "user_location", OBJECT, read=flat_location, write=nested_location),
)

# --- requests

STREAM_OPTIONS = Table(
    "request",
    NAME,
    Field("include_usage", "include_usage", FLAG),
    Field("include_obfuscation", "include_obfuscation", FLAG),
)


def cache_life(leaf: Leaf, context: Context) -> Leaf | Dropped:
    """The life of the whole prompt's cache, of which this protocol has one."""
    return leaf if leaf.value == "30m" else Dropped("target-default" if leaf.value == "5m" else "no-equivalent")


CACHE_OPTIONS = Table(
    "request", NAME, Field("mode", "cache_mode", TEXT), Field("ttl", "cache_ttl", TEXT, write=cache_life)
)
JSON_SCHEMA = Table(
    "format",
    NAME,
    Field("name", "name", TEXT),
    Field("description", "description", TEXT),
    Field("strict", "strict", FLAG),
    Field("schema", "schema", OBJECT, write=whole_schema),
)
FORMAT = Deep("format", NAME, Field("type", "type", TEXT), Inner("json_schema", JSON_SCHEMA))


def write_format(said: Node, w: Writer, name: str, context: Context) -> None:
    """A format; a schema without the name that is demanded here gets one, and is strict (`spec/requests.md` §9)."""
    shape = said.but()
    if said.value("type") == "json_schema" and "name" not in said.says:
        shape.says["name"] = made("output", "required-by-target")
        shape.says.setdefault("strict", made(True, "required-by-target"))
    under(w, name, FORMAT, shape, context)


def stop_list(leaf: Leaf, context: Context) -> Leaf:
    return leaf.to([leaf.value], "one-to-list") if isinstance(leaf.value, str) else leaf


def write_stops(said: Leaf, w: Writer, name: str, context: Context) -> None:
    """Stop sequences, as many as this protocol takes."""
    if not isinstance(said.value, list) or len(said.value) <= MOST_STOPS:
        w.put(name, said)
        return
    stops = w.list(name)
    for position in range(len(said.value)):
        if position < MOST_STOPS:
            stops.append(Leaf(said.value, position))
        else:
            w.ledger.drop(Leaf(said.value, position), "target-rejects", True)


def tier(leaf: Leaf, context: Context) -> Leaf:
    return leaf.to("fast", "tier-downgrade") if leaf.value == "ultrafast" else leaf


def legal_identifier(leaf: Leaf, context: Context) -> Leaf:
    """The end user's identifier, within this protocol's limit (`spec/requests.md` §11)."""
    value = legal(leaf.value, LONGEST_IDENTIFIER, r"(?s:.)") if isinstance(leaf.value, str) else leaf.value
    return leaf if value == leaf.value else leaf.to(value, "legal-id")


def written_limit(leaf: Leaf, context: Context) -> Leaf | Dropped:
    """A limit of no tokens only warms a cache elsewhere, which this protocol cannot ask for."""
    return leaf if leaf.value else Dropped("no-equivalent")


REQUEST = Deep(
    "request",
    NAME,
    Field("model", "model", TEXT),
    Nested(
        "messages", "turns", LIST, lambda leaf, context: nodes(leaf, lambda each: read_message(each, context), NAME)
    ),
    Nested("tools", "tools", LIST, read_tools),
    Nested("functions", "tools", LIST, read_functions),
    Nested("tool_choice", "tool_choice", "text object", read_choice),
    Nested("function_call", "tool_choice", "text object", read_legacy_choice),
    Field("parallel_tool_calls", "parallel_tool_calls", FLAG),
    Field("max_completion_tokens", "max_output_tokens", NUMBER, write=written_limit),
    Field("max_tokens", "max_output_tokens", NUMBER),
    Field("temperature", "temperature", NUMBER),
    Field("top_p", "top_p", NUMBER),
    Field("frequency_penalty", "frequency_penalty", NUMBER),
    Field("presence_penalty", "presence_penalty", NUMBER),
    Field("logit_bias", "logit_bias", OBJECT),
    Field("seed", "seed", NUMBER),
    Nested("stop", "stop_sequences", "text list", stop_list, write_stops),
    Field("n", "choice_count", NUMBER),
    Field("logprobs", "logprobs", FLAG),
    Field("top_logprobs", "top_logprobs", NUMBER),
    Nested("response_format", "format", OBJECT, reading(FORMAT), write_format),
    Field("reasoning_effort", "effort", TEXT),
    Field("verbosity", "verbosity", TEXT),
    Field("modalities", "modalities", LIST),
    Field("audio", "audio_output", OBJECT),
    Field("prediction", "prediction", OBJECT),
    Field("stream", "stream", FLAG),
    Inner("stream_options", STREAM_OPTIONS),
    Field("store", "store", FLAG),
    Field("metadata", "metadata", OBJECT),
    Field("user", "user", TEXT),
    Field("safety_identifier", "safety_identifier", TEXT, write=legal_identifier),
    Field("prompt_cache_key", "prompt_cache_key", TEXT),
    Inner("prompt_cache_options", CACHE_OPTIONS),
    Field("prompt_cache_retention", "prompt_cache_retention", TEXT),
    Field("service_tier", "service_tier", TEXT, write=tier),
    Field("moderation", "moderation", OBJECT),
    Gap("comparison_response_id", "no-equivalent"),
    Gap("container", "no-equivalent"),
)
SEARCH = Table("request", NAME, Nested("web_search_options", "tools", OBJECT, reading(WEB_SEARCH)))


def read_message(message: dict[str, Any], context: Context) -> Node:
    """One message as a turn with its parts."""
    node = MESSAGE.read(message, context)
    node.says["parts"] = gathered(node, context)
    return node


# --- replies

PROMPT_DETAILS = Table(
    "usage",
    NAME,
    Field("cached_tokens", "cached_tokens", NUMBER),
    Field("cache_write_tokens", "cache_write_tokens", NUMBER),
    *(Field(f"{kind}_tokens", f"input_{kind}_tokens", NUMBER) for kind in ("audio", "image", "text", "video")),
)
OUTPUT_DETAILS = Table(
    "usage",
    NAME,
    Field("reasoning_tokens", "reasoning_tokens", NUMBER),
    *(Field(f"{kind}_tokens", f"output_{kind}_tokens", NUMBER) for kind in ("audio", "image", "text")),
    Field("accepted_prediction_tokens", "accepted_prediction_tokens", NUMBER),
    Field("rejected_prediction_tokens", "rejected_prediction_tokens", NUMBER),
)
USAGE = Deep(
    "usage",
    NAME,
    Field("prompt_tokens", "input_tokens", NUMBER),
    Field("completion_tokens", "output_tokens", NUMBER),
    Field("total_tokens", "total_tokens", NUMBER),
    Inner("prompt_tokens_details", PROMPT_DETAILS),
    Inner("completion_tokens_details", OUTPUT_DETAILS),
    Must("prompt_tokens", 0, "no-usage"),
    Must("completion_tokens", 0, "no-usage"),
    Must("total_tokens", 0, "no-usage"),
)


def write_usage(said: Node, w: Writer, name: str, context: Context) -> None:
    """Counts; where the source has no total it is the sum of those that it has."""
    counts = said.but()
    told = [leaf for leaf in (said.get("input_tokens"), said.get("output_tokens")) if leaf and _whole(leaf.value)]
    if "total_tokens" not in said.says and told:
        counts.says["total_tokens"] = told[0].to(sum(leaf.value for leaf in told), "usage-sum", told[1:])
    under(w, name, USAGE, counts, context)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def own_id(leaf: Leaf, context: Context) -> Leaf:
    wrapped: Leaf = wrapped_id(leaf, "chatcmpl_", "chatcmpl")
    return wrapped


def whole_seconds(leaf: Leaf, context: Context) -> Leaf:
    if isinstance(leaf.value, int):
        return leaf
    try:
        return leaf.to(int(leaf.value), "time-form")
    except OverflowError:
        return leaf.to(0, "time-form")


def time_of(context: Context) -> int:
    """When a reply was made that does not say it: the captured `date` header, else 0."""
    if "date" not in context.headers:
        return 0
    from email.utils import parsedate_to_datetime

    try:
        return int(parsedate_to_datetime(context.headers["date"]).timestamp())
    except (ValueError, TypeError, OverflowError):
        return 0


def single_results(leaf: Leaf, context: Context) -> Leaf:
    """What moderation said, one result for each side as Responses has it (`spec/responses.md` §1.3)."""
    return leaf.to({side: _first_result(said) for side, said in leaf.value.items()}, "respelled")


def _first_result(said: Any) -> Any:
    results = said.get("results") if isinstance(said, dict) else None
    return results[0] if isinstance(results, list) and results else said


def listed_results(leaf: Leaf, context: Context) -> Leaf:
    """What moderation said, with lists of results as this protocol has them."""
    return leaf.to({side: _result_list(said) for side, said in leaf.value.items()}, "respelled")


def _result_list(said: Any) -> Any:
    if not isinstance(said, dict) or said.get("type") != "moderation_result":
        return said
    return {"type": "moderation_results", "model": said.get("model", ""), "results": [said]}


def _envelope(word: str) -> Table:
    """What stands beside the choices, in a body or in a chunk."""
    return Table(
        "reply",
        NAME,
        Field("id", "id", TEXT, write=own_id),
        Word("object", word),
        Field("created", "created", NUMBER, write=whole_seconds),
        Field("model", "model", TEXT),
        Nested("usage", "usage", OBJECT, reading(USAGE), write_usage),
        Field("service_tier", "service_tier", TEXT, write=tier),
        Field("system_fingerprint", "system_fingerprint", TEXT),
        Field("metadata", "metadata", OBJECT),
        Field("moderation", "moderation", OBJECT, read=single_results, write=listed_results),
        Must("id", "unknown"),
        Must("model", ""),
    )


REPLY = _envelope("chat.completion")
CHUNK = _envelope("chat.completion.chunk")
LOGPROBS = Table("reply", NAME, Field("content", "text_logprobs", LIST), Field("refusal", "refusal_logprobs", LIST))
CHOICE = Deep(
    "reply",
    NAME,
    Field("index", "choice", NUMBER),
    Field("finish_reason", "stop_reason", TEXT, read=canonical(STOPS.to_canonical)),
    Field("matched_stop", "stop_sequence", TEXT),
    Field("stop_reason", "stop_sequence", TEXT),
    Inner("logprobs", LOGPROBS),
)
SPOKEN = Table(
    "reply",
    NAME,
    Field("role", "role", TEXT),
    Nested("annotations", "citations", LIST, read_annotations),
)

# --- errors

FAULT = Table(
    "error",
    NAME,
    Field("message", "message", TEXT),
    Field("type", "error_type", TEXT),
    Field("param", "param", TEXT),
    Field("code", "code"),
    Field("misalignment", "misalignment"),
)
ERROR = Deep("error", NAME, Inner("error", FAULT))
