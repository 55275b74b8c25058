"""OpenAI Chat Completions."""

from ...tables import Protocol
from . import tables
from .error import read_error, write_error
from .markers import MARKERS
from .request import read_request, write_request
from .response import read_response, write_response
from .stream import Decoder, Encoder
from .tables import NAME

PROTOCOL = Protocol(
    NAME,
    "OpenAI Chat Completions",
    read={"request": read_request, "response": read_response, "error": read_error},
    write={"request": write_request, "response": write_response, "error": write_error},
    Decoder=Decoder,
    Encoder=Encoder,
    tables={
        "request": tables.REQUEST,
        "request.web_search": tables.SEARCH,
        "stream_options": tables.STREAM_OPTIONS,
        "prompt_cache_options": tables.CACHE_OPTIONS,
        "response_format": tables.FORMAT,
        "response_format.json_schema": tables.JSON_SCHEMA,
        "message": tables.MESSAGE,
        "message.parts": tables.PARTS,
        "text": tables.TEXT_PART,
        "image_url": tables.IMAGE_PART,
        "image_url.image_url": tables.IMAGE,
        "file": tables.FILE_PART,
        "file.file": tables.FILE,
        "input_audio": tables.AUDIO_PART,
        "input_audio.input_audio": tables.AUDIO,
        "refusal": tables.REFUSAL_PART,
        "thinking": tables.THINKING_PART,
        "reasoning_details": tables.DETAIL,
        "cache_mark": tables.CACHE_MARK,
        "tool_call": tables.CALL,
        "tool_call.function": tables.FUNCTION,
        "custom_call": tables.CUSTOM_CALL,
        "custom_call.custom": tables.CUSTOM,
        "function_tool": tables.FUNCTION_TOOL,
        "function_tool.function": tables.TOOL_FUNCTION,
        "custom_tool": tables.CUSTOM_TOOL,
        "custom_tool.custom": tables.TOOL_CUSTOM,
        "custom_tool.format": tables.TOOL_FORMAT,
        "custom_tool.grammar": tables.GRAMMAR,
        "web_search": tables.WEB_SEARCH,
        "tool_choice": tables.TOOL_CHOICE,
        "tool_choice.name": tables.CHOSEN,
        "tool_choice.allowed_tools": tables.ALLOWED,
        "reply": tables.REPLY,
        "choice": tables.CHOICE,
        "choice.message": tables.SPOKEN,
        "choice.logprobs": tables.LOGPROBS,
        "annotation": tables.CITATION,
        "annotation.url_citation": tables.CITED,
        "usage": tables.USAGE,
        "usage.prompt": tables.PROMPT_DETAILS,
        "usage.completion": tables.OUTPUT_DETAILS,
        "error": tables.ERROR,
        "error.error": tables.FAULT,
    },
    markers=MARKERS,
    named=False,
)
