"""What `validate` finds in recorded traffic, in the cases and in our fixtures: codes, and the files that have just these.

Every file that is not named here has nothing.
"""

FOUND: dict[str, str] = {
    "after-finish bad-arguments invalid-shape usage-missing": """
        chat/stream/semantic-kernel-001.sse
    """,
    "after-finish lost-blank-lines usage-missing": """
        chat/stream/openai-php-001.sse
    """,
    "after-finish usage-missing": """
        chat/stream/openllmetry-js-009.sse
    """,
    "bad-json truncated": """
        chat/stream/semantic-kernel-004.sse
    """,
    "empty-event invalid-shape keep-alive-event": """
        cases/c2m-stream-null-chunks
    """,
    "empty-reply": """
        cases/c2m-resp-content-filter
        cases/m2c-resp-refusal
    """,
    "empty-reply invalid-shape": """
        chat/response/openllmetry-014.json
    """,
    "event-name extra-done": """
        responses/stream/llm-openrouter-002.sse
    """,
    "event-name extra-done keep-alive-event": """
        responses/stream/llm-openrouter-001.sse
        responses/stream/llm-openrouter-003.sse
        responses/stream/llm-openrouter-004.sse
        responses/stream/llm-openrouter-005.sse
        responses/stream/pydantic-ai-073.sse
    """,
    "event-name invalid-shape lost-blank-lines": """
        responses/stream/openai-php-004.sse
    """,
    "id-changes": """
        chat/stream/fantasy-018.sse
        chat/stream/fantasy-029.sse
    """,
    "index-reused": """
        cases/c2m-stream-same-index-twice
    """,
    "invalid-shape": """
        fixtures/chat/content-filter/stream.sse
        fixtures/chat/custom-tool-with-grammar/stream.sse
        chat/request/crewai-005.json
        chat/request/crewai-009.json
        chat/request/crewai-010.json
        chat/request/crewai-017.json
        chat/request/envoy-ai-gateway-002.json
        chat/request/openllmetry-022.json
        chat/request/pydantic-ai-080.json
        chat/request/pydantic-ai-088.json
        chat/request/pydantic-ai-089.json
        chat/request/ruby-llm-005.json
        chat/request/ruby-llm-027.json
        chat/response/pydantic-ai-009.json
        chat/response/pydantic-ai-043.json
        chat/response/pydantic-ai-082.json
        chat/stream/chatlas-015.sse
        chat/stream/chatlas-016.sse
        chat/stream/chatlas-017.sse
        chat/stream/chatlas-018.sse
        chat/stream/crewai-005.sse
        chat/stream/crewai-010.sse
        chat/stream/dd-trace-py-005.sse
        chat/stream/dd-trace-py-011.sse
        chat/stream/fantasy-007.sse
        chat/stream/fantasy-008.sse
        chat/stream/fantasy-014.sse
        chat/stream/fantasy-019.sse
        chat/stream/fantasy-020.sse
        chat/stream/fantasy-021.sse
        chat/stream/openinference-012.sse
        chat/stream/prism-007.sse
        chat/stream/semantic-kernel-003.sse
        chat/error/crewai-001.json
        chat/error/crewai-012.json
        chat/error/langchaingo-009.json
        chat/error/openllmetry-015.json
        chat/error/pydantic-ai-081.json
        chat/error/ruby-llm-006.json
        chat/error/ruby-llm-009.json
        chat/error/ruby-llm-023.json
        chat/error/ruby-llm-025.json
        responses/request/dd-trace-py-028.json
        responses/request/llm-002.json
        responses/request/llm-003.json
        responses/request/llm-004.json
        responses/request/llm-openrouter-001.json
        responses/request/llm-openrouter-004.json
        responses/request/llm-openrouter-005.json
        responses/request/logfire-002.json
        responses/request/openllmetry-020.json
        responses/request/ruby-llm-018.json
        responses/request/ruby-llm-019.json
        responses/request/ruby-llm-020.json
        responses/request/ruby-llm-021.json
        responses/response/prism-012.json
        responses/stream/dd-trace-py-028.sse
        responses/stream/dd-trace-py-030.sse
        responses/stream/prism-009.sse
        responses/stream/prism-010.sse
        responses/stream/prism-011.sse
        responses/stream/pydantic-ai-062.sse
        responses/stream/pydantic-ai-071.sse
        responses/stream/ruby-openai-007.sse
        messages/request/dd-trace-py-007.json
        messages/request/fantasy-015.json
        messages/request/fantasy-016.json
        messages/request/langchaingo-002.json
        messages/request/openllmetry-004.json
        messages/request/openllmetry-js-002.json
        messages/request/openllmetry-js-003.json
        messages/request/otel-contrib-010.json
        messages/request/otel-contrib-011.json
        messages/response/prism-001.json
        messages/response/pydantic-ai-026.json
        messages/stream/llm-anthropic-006.sse
        messages/stream/prism-003.sse
        messages/stream/pydantic-ai-027.sse
        messages/error/langchaingo-002.json
        cases/c2m-stream-error-chunk
        cases/r2c-req-parallel-calls
        cases/r2m-req-parallel-calls
    """,
    "invalid-shape lost-blank-lines truncated": """
        chat/stream/openai-php-003.sse
    """,
    "invalid-shape no-done": """
        chat/stream/langchaingo-011.sse
    """,
    "invalid-shape unknown-key": """
        chat/request/openinference-012.json
    """,
    "invalid-shape unknown-stop": """
        chat/response/pydantic-ai-093.json
        chat/response/pydantic-ai-094.json
    """,
    "invalid-shape usage-missing": """
        chat/response/chatlas-012.json
        chat/stream/dd-trace-py-015.sse
        chat/stream/openllmetry-012.sse
        chat/stream/openllmetry-013.sse
    """,
    "keep-alive-event": """
        fixtures/chat/reasoning-content/stream.sse
        chat/stream/chatlas-029.sse
        chat/stream/fantasy-039.sse
        chat/stream/fantasy-040.sse
        chat/stream/fantasy-041.sse
        chat/stream/fantasy-042.sse
        chat/stream/fantasy-043.sse
        chat/stream/fantasy-044.sse
        chat/stream/fantasy-045.sse
        chat/stream/fantasy-046.sse
        chat/stream/fantasy-047.sse
        chat/stream/fantasy-048.sse
        chat/stream/fantasy-049.sse
        chat/stream/fantasy-050.sse
        chat/stream/langchaingo-008.sse
        chat/stream/langchaingo-010.sse
        chat/stream/logfire-004.sse
        chat/stream/prism-013.sse
        chat/stream/pydantic-ai-080.sse
        chat/stream/pydantic-ai-083.sse
        chat/stream/pydantic-ai-084.sse
        chat/stream/pydantic-ai-085.sse
        chat/stream/pydantic-ai-086.sse
        chat/stream/pydantic-ai-088.sse
        chat/stream/pydantic-ai-099.sse
        chat/stream/ruby-llm-014.sse
        chat/stream/ruby-llm-015.sse
        chat/stream/ruby-llm-016.sse
        cases/sse-m2c-crlf-no-space
    """,
    "model-refuses": """
        chat/request/crewai-015.json
        chat/request/dspy-rb-004.json
    """,
    "no-done": """
        chat/stream/chatlas-021.sse
        chat/stream/chatlas-022.sse
        chat/stream/chatlas-023.sse
    """,
    "snapshot-short": """
        cases/r2c-stream-empty-final-output
    """,
    "stop-with-calls": """
        fixtures/chat/forced-tool-call/response.json
        fixtures/chat/forced-tool-call/stream.sse
        chat/response/langsmith-001.json
        cases/c2m-resp-stop-with-calls
    """,
    "stop-with-calls usage-missing": """
        chat/stream/openinference-007.sse
    """,
    "truncated": """
        fixtures/chat/cut-inside-arguments/stream.sse
        fixtures/responses/cut-inside-arguments/stream.sse
        fixtures/messages/cut-inside-arguments/stream.sse
        cases/c2m-stream-cut-off
        cases/c2m-stream-no-finish-reason
    """,
    "unknown-key": """
        chat/request/dd-trace-py-003.json
        chat/request/dd-trace-py-004.json
        chat/request/dd-trace-py-005.json
        chat/request/fantasy-049.json
        chat/request/fantasy-054.json
        chat/request/openinference-011.json
        chat/request/pydantic-ai-009.json
        chat/request/pydantic-ai-038.json
        chat/request/pydantic-ai-043.json
        chat/request/pydantic-ai-084.json
        chat/request/pydantic-ai-090.json
        chat/request/pydantic-ai-091.json
        chat/request/pydantic-ai-098.json
        chat/request/pydantic-ai-099.json
        chat/request/ruby-llm-013.json
        responses/request/pydantic-ai-057.json
    """,
    "unknown-stop": """
        chat/response/openllmetry-022.json
        chat/stream/openllmetry-js-008.sse
        cases/c2m-stream-empty-finish-reason
    """,
    "unpaired-tool": """
        messages/request/anthropic-python-006.json
        cases/c2r-req-unanswered-call
    """,
    "usage-mismatch": """
        chat/response/fantasy-032.json
        chat/response/pydantic-ai-048.json
    """,
    "usage-missing": """
        fixtures/chat/usage-chunk-missing/stream.sse
        chat/stream/elastic-otel-001.sse
        chat/stream/elastic-otel-002.sse
        chat/stream/envoy-ai-gateway-004.sse
        chat/stream/langsmith-005.sse
        chat/stream/langsmith-009.sse
        chat/stream/langtrace-005.sse
        chat/stream/lmnr-006.sse
        chat/stream/logfire-006.sse
        chat/stream/openllmetry-006.sse
        chat/stream/openllmetry-js-005.sse
        chat/stream/prism-006.sse
        chat/stream/ruby-openai-003.sse
        chat/stream/ruby-openai-004.sse
        chat/stream/semantic-kernel-002.sse
        chat/stream/semantic-kernel-006.sse
    """,
}
