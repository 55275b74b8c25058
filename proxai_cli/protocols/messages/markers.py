"""By what a document is known to be of Messages."""

from ...markers import DEMAND, HABIT, SHAPE, Marker

_BLOCKS = (
    "tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document", "search_result",
    "server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "*code_execution_tool_result",
    "mcp_tool_use", "mcp_tool_result", "container_upload",
)
_EVENTS = (
    "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
    "message_stop",
)
_TOOLS = (
    "bash_*", "text_editor_*", "web_search_*", "web_fetch_*", "code_execution_*", "computer_*", "memory_*",
    "tool_search_tool_*", "mcp_toolset",
)

MARKERS = (
    Marker("request", "messages", shape=list, weight=SHAPE),
    Marker("request", "input", weight=SHAPE, absent=True),
    Marker("request", "model|messages[].role", shape=str, weight=DEMAND),
    Marker("request", "max_tokens", weight=DEMAND),
    Marker("request", "system"),
    Marker("request", "thinking", shape=dict),
    Marker("request", "stop_sequences"),
    Marker("request", "tools[].input_schema"),
    Marker("request", "tools[].type", words=_TOOLS),
    Marker("request", "tool_choice.type", words=("auto", "any", "tool", "none")),
    Marker("request", "messages[].content[].type", words=_BLOCKS),
    Marker("request", "anthropic_version|anthropic_beta"),
    Marker("request", "mcp_servers|container|context_management|output_config|output_format|inference_geo"),
    Marker("request", "metadata.user_id"),
    Marker("request", "top_k|cache_control|messages[].content[].cache_control", weight=HABIT),
    Marker("request", "model", words=("claude*", "anthropic.*", "us.anthropic.*"), weight=HABIT),
    Marker("response", "type", words=("message",), weight=SHAPE),
    Marker("response", "content", shape=list, weight=SHAPE),
    Marker("response", "role", words=("assistant",), weight=SHAPE),
    Marker("response", "stop_reason|usage.input_tokens"),
    Marker("response", "usage", weight=DEMAND),
    Marker("stream", "type", shape=str, weight=SHAPE),
    Marker("stream", "type", words=_EVENTS),
    Marker("stream", "type", words=("ping", "error"), weight=DEMAND),
    Marker("stream", "error.message", weight=HABIT),
    Marker("error", "error.message", shape=str, weight=SHAPE),
    Marker("error", "error.type", shape=str, weight=SHAPE),
    Marker("error", "type", words=("error",), weight=SHAPE),
    Marker("error", "type", words=("error",)),
)
