"""The vocabulary of the IR: every kind of node with its terms, what each means, and what it costs not to say it.

Values are canonical: a decoder turns its protocol's spelling into the words given here (`leaf.to(value, "respelled")`),
an encoder turns them into its own. Where the OpenAI protocols have a word, it is theirs.
"""

from typing import NamedTuple


class Term(NamedTuple):
    """A word of the IR: what it means, the reason for which it is dropped where a protocol has no name for it,
    whether it steers the reply, and whether a client acts on it in a reply (then losing it is a risk)."""

    meaning: str
    why: str = "no-equivalent"
    steers: bool = False
    acts: bool = False


def _steering(meaning: str, why: str = "no-equivalent") -> Term:
    return Term(meaning, why, True)


def _acted_on(meaning: str, steers: bool = False) -> Term:
    return Term(meaning, steers=steers, acts=True)


TERMS: dict[str, Term] = {
    # of a request
    "model": Term("name of the model, as the source spells it"),
    "instructions": _steering("list of turns that stand in a place of their own before the conversation"),
    "turns": _steering("list of nodes `turn`: the conversation in order, instructions within it included"),
    "max_output_tokens": _steering("most tokens of the reply, reasoning included"),
    "temperature": _steering("sampling temperature, 0 to 2"),
    "top_p": _steering("nucleus sampling, 0 to 1"),
    "top_k": _steering("sampling among the k likeliest tokens"),
    "frequency_penalty": _steering("penalty for frequent tokens"),
    "presence_penalty": _steering("penalty for tokens that occurred"),
    "logit_bias": _steering("map from token id to bias"),
    "seed": Term("seed of the sampling"),
    "stop_sequences": _steering("list of strings that end the reply"),
    "choice_count": Term("how many alternative replies"),
    "stream": Term("is the reply to be streamed"),
    "include_usage": Term("send usage at the end of a stream", "target-default"),
    "include_obfuscation": Term("pad stream events"),
    "logprobs": Term("send log probabilities: true or false"),
    "top_logprobs": Term("how many likeliest tokens are told at each position"),
    "modalities": _steering("kinds of output wanted", "unsupported-media"),
    "audio_output": _steering("voice and format of audio output", "unsupported-media"),
    "prediction": Term("text that the reply is expected to repeat"),
    "store": Term("keep the reply on the server"),
    "metadata": Term("the caller's own notes, a map of strings"),
    "user": Term("identifier of the end user (deprecated word)"),
    "safety_identifier": Term("identifier of the end user"),
    "prompt_cache_key": Term("key by which caches are found"),
    "prompt_cache_retention": Term("how long caches live (deprecated word)"),
    "cache_mode": Term("`implicit` or `explicit` caching of the prompt"),
    "cache_ttl": Term("life of the prompt's cache: `5m`, `30m`, `1h`, `12h` …"),
    "cache_prewarm": Term("only warm the cache"),
    "comparison_response_id": Term("earlier reply that the cache is compared with", "foreign-id"),
    "service_tier": Term("auto, default, flex, scale, priority, fast or ultrafast"),
    "moderation": Term("moderation wanted, or what moderation said"),
    "tools": _steering("list of nodes `function_tool`, `custom_tool` or `hosted_tool`"),
    "tool_choice": _steering("node `tool_choice`"),
    "parallel_tool_calls": _steering("may several tools be called at once: true or false"),
    "format": _steering("node `format`: the shape that the reply's text must have"),
    "effort": _steering("how much to reason: none, minimal, low, medium, high, xhigh or max"),
    "thinking_display": _steering(
        "are thoughts shown: summarized or omitted (`reasoning.summary` says auto, concise, detailed)"
    ),
    "thinking_mode": _steering("is thinking switched off, where the effort says otherwise: disabled"),
    "reasoning_context": _steering("which earlier reasoning is used"),
    "reasoning_mode": _steering("way of reasoning"),
    "verbosity": _steering("length of the answer: low, medium or high"),
    "include": Term("list of further things to send, beside log probabilities"),
    "max_tool_calls": _steering("most calls of hosted tools"),
    "previous_response_id": Term("earlier reply whose conversation goes on", "stateful-reference", True),
    "conversation": Term("conversation kept on the server", "stateful-reference", True),
    "prompt": Term("prompt template kept on the server", "stateful-reference", True),
    "background": Term("run in the background"),
    "context_management": _steering("what is done as the context fills up"),
    "truncation": _steering("what is done when the context is too long: auto or disabled"),
    "container": Term("container of the hosted tools", "foreign-id"),
    "task_budget": _steering("budget of a whole task"),
    "inference_geo": Term("where inference may run"),
    "version": Term("version of the protocol that a body names itself"),
    "betas": Term("beta features that a body names itself"),
    # of a turn, and of parts
    "type": Term("the source's word for what kind of thing this is", "target-default"),
    "role": Term("system, developer, user or assistant", "target-default"),
    "name": _acted_on("name of a tool or of a participant"),
    "parts": _steering("list of nodes: what a turn, a reply or a tool result holds, in order"),
    "item": Term("node `item`: the envelope of a Responses item, on the first part that stood in it"),
    "item_id": Term("identifier of a Responses item"),
    "status": Term("completed, in_progress, incomplete or failed, of an item"),
    "phase": Term("commentary or final_answer"),
    "text": _steering("the text of a text, refusal or thinking part, or of a plain-text file"),
    "citations": Term("list of nodes `citation`"),
    "part_logprobs": Term("log probabilities of a text, a list"),
    "cache_mark": Term("node `cache_mark`: what stands up to here is cached"),
    "url": _steering("address of an image or file; images may have a data URL here", "unsupported-media"),
    "data_url": _steering("a file as data URL", "unsupported-media"),
    "data": _steering("base64 of an image, file or audio, or the payload of a `redacted` part", "unsupported-media"),
    "media_type": _steering("media type of `data`", "unsupported-media"),
    "file_id": _steering("file kept by the vendor", "foreign-id"),
    "filename": Term("name or title of a file"),
    "detail": Term("detail in which an image is read: auto, low, high, original"),
    "audio_format": _steering("format of audio data", "unsupported-media"),
    "context": Term("context of a document"),
    "citations_wanted": Term("are citations of a document wanted"),
    "transformations": Term("transformations of an image"),
    "call_id": _acted_on("identifier that links a tool call and its result", True),
    "arguments": _acted_on("arguments of a call: JSON text, or an object", True),
    "input": _acted_on("free text given to a custom tool", True),
    "namespace": Term("namespace of a tool"),
    "caller": Term("what called the tool"),
    "is_error": _steering("did the tool fail: true or false"),
    "signature": Term("signature of a thinking part, or its encrypted form", "foreign-signature", True),
    "plain_text": Term("text of a thinking part once more, in a dialect that says less", "duplicate"),
    "summary": Term("summary of a thinking part that also has its full text", "duplicate"),
    "service": _steering(
        "hosted service: web_search, web_fetch, code_execution, file_search, mcp, computer …", "hosted-tool"
    ),
    "result": Term("node: what a hosted tool gave back", "hosted-tool"),
    "transcript": Term("transcript of audio", "unsupported-media"),
    "audio": Term("pieces of a reply's audio, besides its transcript", "unsupported-media"),
    "expires_at": Term("when audio can no longer be fetched", "unsupported-media"),
    # of a citation
    "title": Term("title of what is cited"),
    "cited_text": Term("text that is cited"),
    "start_index": Term("first character of the cited span, counted in code points"),
    "end_index": Term("character after the cited span"),
    "encrypted_index": Term("the vendor's own pointer to what is cited"),
    "source": Term("source of a search result"),
    # of a cache mark
    "ttl": Term("life of a cache mark: `5m`, `30m`, `1h`, `12h`"),
    "mode": _steering("of a tool choice: auto, none or required; of a cache mark: explicit"),
    # of tools and their choice
    "description": _steering("what a tool or format is for"),
    "parameters": _steering("JSON Schema of a tool's arguments"),
    "strict": _steering("must arguments or text match the schema exactly"),
    "defer_loading": Term("load the tool only when it is searched for"),
    "allowed_callers": Term("who may call the tool"),
    "input_examples": Term("examples of arguments"),
    "eager_input_streaming": Term("stream arguments early"),
    "output_schema": Term("JSON Schema of a tool's result"),
    "async": Term("may the tool answer later"),
    "grammar": _steering("grammar of a custom tool's input"),
    "syntax": _steering("syntax of that grammar"),
    "format_type": _steering("text or grammar, of a custom tool's input"),
    "allowed_domains": _steering("list of the only domains that a search may visit"),
    "blocked_domains": _steering("list of domains that a search may not visit"),
    "search_context_size": _steering("how much of what is found the model reads: low, medium or high"),
    "settings": _steering("node: settings of a hosted tool", "hosted-tool"),
    "allowed": _steering("list of nodes: tools that may be chosen"),
    # of a format
    "schema": _steering("JSON Schema of the reply's text"),
    # of a reply
    "id": Term("identifier of the reply or error request"),
    "created": Term("when the reply was made, Unix time in seconds"),
    "completed": Term("when the reply was finished, Unix time in seconds"),
    "stop_reason": _acted_on(
        "end, length, tool_calls, stop_sequence, content_filter, pause, context_full, compaction, running"
    ),
    "stop_sequence": Term("the string that ended the reply"),
    "explanation": Term("the vendor's words on why a reply was filtered"),
    "category": Term("category of a filtered reply"),
    "usage": Term("node `usage`"),
    "system_fingerprint": Term("configuration of the server"),
    "choices": Term("list of leaves: alternative replies that were not selected", "single-candidate"),
    "error": Term("node `error`: why a reply failed"),
    "diagnostics": Term("why the cache was missed"),
    "output_text": Term("the text again, as clients add it", "duplicate"),
    "failed": Term("node `reply`: the whole reply that failed, beside its error", "not-terminal"),
    # of usage
    "input_tokens": Term("all tokens of the prompt, cached ones included"),
    "output_tokens": Term("all tokens of the reply, reasoning included"),
    "total_tokens": Term("both together"),
    "cached_tokens": Term("of the prompt: read from the cache"),
    "cache_write_tokens": Term("of the prompt: written to the cache"),
    "reasoning_tokens": Term("of the reply: reasoning"),
    "speed": Term("standard or fast"),
    "tool_counts": Term("how often hosted tools were used"),
    # of an error
    "message": Term("what went wrong, in the vendor's words"),
    "error_type": Term("the vendor's type of error"),
    "code": Term("stable code of an error"),
    "param": Term("the field that was wrong"),
    "request_id": Term("identifier of the request that failed"),
    "details": Term("details of an error"),
}

# Made anew for every call: two captures of one conversation need not agree on them.
VOLATILE = frozenset({"id", "created", "completed", "system_fingerprint", "request_id", "item_id"})
# Ties a call to its result; another one that ties the same is as good.
LINKING = frozenset({"call_id"})
# Says only what the kind of its node says as well, where that is no object of its own (a lone text).
IMPLIED = frozenset({"type"})
# Says of an `item` only what the parts in it say as well.
ENVELOPE = frozenset({"type", "role"})
# Parts of a reply that a client shows or runs; to lose one as a whole is a risk.
ACTED_ON = frozenset({"text", "refusal", "tool_call", "custom_call"})
# Lists in which the order means something.
ORDERED = frozenset({"instructions", "turns", "parts"})

KINDS: dict[str, str] = {
    "request": "a whole request",
    "turn": "one message: `role` and `parts`",
    "text": "text; `home` is None where it was a lone string and no object",
    "image": "an image: `url` (or data URL), `data` with `media_type`, or `file_id`",
    "file": "a document: `url`, `data_url`, `data` with `media_type`, `file_id`, `text`, or `parts`",
    "audio": "audio: `data` with `audio_format`; in a reply also `id`, `transcript`, `expires_at`",
    "refusal": "the model's own refusal: `text`",
    "tool_call": "a call of a function: `call_id`, `name`, `arguments`",
    "custom_call": "a call of a free-text tool: `call_id`, `name`, `input`",
    "tool_result": "what a tool gave back: `call_id`, `parts`, `is_error`",
    "thinking": "reasoning: `text`, `signature`",
    "redacted": "reasoning that only the vendor can read: `data`",
    "hosted_call": "a call of a tool that the vendor runs: `service`, `id`, `arguments`, `result`",
    "hosted_result": "what such a call gave back: `call_id`, `content`; it may stand anywhere behind the call",
    "reference": "a reference to something on the server",
    "other": "a shape that nobody knows: all in extras",
    "other_part": "the same within a message that has parts which are known",
    "item": "the envelope of a Responses item: `item_id`, `type`, `status`, `role`, `phase`",
    "citation": "`url`, `title`, `start_index`, `end_index`, `cited_text`, `encrypted_index`",
    "cache_mark": "`mode`, `ttl`",
    "function_tool": "`name`, `description`, `parameters`, `strict`",
    "custom_tool": "`name`, `description`, `format_type`, `grammar`, `syntax`",
    "hosted_tool": "`service` and the settings of a tool that the vendor runs",
    "tool_choice": "`mode` (auto, none, required), or `name` of one tool, or `allowed` tools",
    "format": "`type` (text, json_object, json_schema), `name`, `schema`, `strict`, `description`",
    "reply": "a whole reply: `id`, `model`, `created`, `parts`, `stop_reason`, `usage`",
    "finish": "what a reply says at its end",
    "usage": "counts of tokens",
    "error": "`message`, `error_type`, `code`, `param`",
}

# Fields in which a Responses body repeats its request are terms of this prefix; elsewhere the request itself says them.
ECHO = "echo_"
_ECHOED = Term("the request, repeated in the reply", "duplicate")
_UNLISTED = Term("a field that one vendor alone has")


def term(name: str) -> Term:
    """The term of that name; a term that the vocabulary does not list belongs to one vendor alone."""
    if name.startswith(ECHO):
        return _ECHOED
    return TERMS.get(name, _UNLISTED)
