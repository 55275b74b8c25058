"""Captures that must be refused, with the code, and the few exceptions to a law, each with its reason."""

# Whatever the target: no JSON, no protocol's shape, cut.
REFUSED: dict[str, str] = {
    "chat/cut-inside-arguments/stream.sse": "truncated",
    "responses/cut-inside-arguments/stream.sse": "truncated",
    "messages/cut-inside-arguments/stream.sse": "truncated",
    "corpus/chat/error/dspy-rb-002.txt": "bad-json",
    "corpus/chat/stream/openai-php-003.sse": "truncated",
    "corpus/chat/stream/semantic-kernel-004.sse": "bad-json",
    "corpus/messages/request/openllmetry-js-003.json": "old-version",
}

# Only by these targets: the model stands in the URL, no message is left, or the reply has no reason of its end.
REFUSED_BY: dict[tuple[str, str], str] = {
    **{
        (f"corpus/messages/request/{name}.json", "chat"): "no-model"
        for name in (
            "fantasy-015",
            "fantasy-016",
            "langchaingo-002",
            "openllmetry-004",
            "openllmetry-js-002",
            "otel-contrib-010",
            "otel-contrib-011",
        )
    },
    **{
        (f"corpus/chat/request/{name}.json", "messages"): "no-model"
        for name in ("crewai-005", "crewai-009", "crewai-010", "crewai-017")
    },
    **{
        (f"corpus/chat/response/{name}.json", target): "still-running"
        for name in ("pydantic-ai-093", "pydantic-ai-094")
        for target in ("messages", "responses")
    },
    ("corpus/messages/request/dd-trace-py-007.json", "chat"): "empty",
    ("corpus/chat/request/envoy-ai-gateway-002.json", "messages"): "empty",
    ("corpus/chat/request/envoy-ai-gateway-003.json", "messages"): "empty",
    ("corpus/responses/request/dd-trace-py-031.json", "chat"): "empty",
    ("corpus/responses/request/dd-trace-py-032.json", "chat"): "empty",
    ("corpus/responses/request/dd-trace-py-031.json", "messages"): "no-model",
    ("corpus/responses/request/dd-trace-py-032.json", "messages"): "no-model",
}

# Targets that the official types need not take although they take the source.
MAY_BE_INVALID: dict[tuple[str, str], str] = {
    ("responses/custom-tool-with-grammar/stream.sse", "chat"): "the chunk type has no free-text call (streams.md §7)",
}

# Streams that collect to another body than the plain reply.
MAY_DIFFER: dict[tuple[str, str], str] = {
    (
        "messages/refusal-in-own-words/stream.sse",
        "chat",
    ): "the text is out before the stop reason is known (streams.md §7)",
    ("corpus/responses/response/ruby-llm-038.json", "responses"): "a call without an id, which a stream has to make",
    ("messages/refusal-in-own-words/stream.sse", "responses"): "the text is out before the stop reason is known",
    **{
        (f"corpus/chat/response/{name}.json", "chat"): why
        for why, names in {
            "calls in a body are not numbered": (
                "openinference-017",
                "openllmetry-js-007",
                "prism-018",
                "pydantic-ai-041",
            ),
            "fields that a library writes although they are empty": (
                "pydantic-ai-092",
                "pydantic-ai-093",
                "pydantic-ai-094",
            ),
            "an id that is empty": ("pydantic-ai-048",),
            "a choice without a message": ("openllmetry-014",),
            "a choice with a message and a delta": ("ruby-llm-005",),
            "content that is no text": ("chatlas-012",),
        }.items()
        for name in names
    },
}
