"""By what a document is known to be of Responses."""

from ...markers import DEMAND, HABIT, SHAPE, Marker

_ITEMS = (
    "message", "function_call*", "custom_tool_call*", "reasoning", "compaction*", "item_reference", "computer_call*",
    "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_*", "local_shell*",
    "shell_call*", "apply_patch_call*", "tool_search*", "additional_tools",
)
_TOOLS = (
    "file_search", "web_search", "web_search_2*", "web_search_preview*", "code_interpreter", "image_generation", "mcp",
    "local_shell", "shell", "apply_patch", "computer", "computer_use*", "namespace", "tool_search",
)
_STATUSES = ("completed", "incomplete", "in_progress", "failed", "cancelled", "queued")

MARKERS = (
    Marker("request", "messages", weight=SHAPE, absent=True),
    Marker("request", "output|object", weight=SHAPE, absent=True),
    Marker("request", "input|prompt.id|previous_response_id", weight=SHAPE),
    Marker("request", "input", shape=str, weight=DEMAND),
    Marker("request", "model", shape=str, weight=DEMAND),
    Marker("request", "input[].role|input[].call_id"),
    Marker("request", "input[].type", words=_ITEMS),
    Marker("request", "instructions"),
    Marker("request", "previous_response_id|conversation|prompt.id"),
    Marker("request", "max_output_tokens|max_tool_calls"),
    Marker("request", "reasoning", shape=dict),
    Marker("request", "text", shape=dict),
    Marker("request", "include", shape=list),
    Marker("request", "tools[].name|tools[].server_label|tools[].vector_store_ids"),
    Marker("request", "tools[].type", words=_TOOLS),
    Marker("request", "store|background|truncation|stream_options|context_management"),
    Marker("request", "stream|temperature|top_p|service_tier|tool_choice", weight=HABIT),
    Marker("response", "object", words=("response",)),
    Marker("response", "object", words=("response.*", "list"), weight=SHAPE, absent=True),
    Marker("response", "output", shape=list, weight=SHAPE),
    Marker("response", "status", words=_STATUSES, weight=DEMAND),
    Marker("response", "model", shape=str, weight=DEMAND),
    Marker("stream", "type", shape=str, weight=SHAPE),
    Marker("stream", "type", words=("response.*",)),
    Marker("stream", "type", words=("response.*", "error"), weight=DEMAND),
    Marker("stream", "error", shape=dict, weight=SHAPE, absent=True),
    Marker("stream", "message|sequence_number", weight=HABIT),
    Marker("error", "error.message", shape=str, weight=SHAPE),
    Marker("error", "type", words=("error",), weight=SHAPE, absent=True),
    Marker("error", "object", weight=SHAPE, absent=True),
    Marker("error", "error.param", words=("input*", "instructions", "text*", "previous_response_id"), weight=HABIT),
    Marker("error", "error.message", words=("The requested model *", "No tool output found for *"), weight=HABIT),
)
