"""What an API is known to refuse beyond the shape of a request: findings about a result, nothing is changed.

Source: `spec/requests.md` §12.
"""

from collections.abc import Iterator
from typing import Any

MOST_PAIRS = 16  # of metadata
LONGEST_KEY, LONGEST_VALUE = 64, 512
MOST_MARKS = 4  # for the cache
# Models of OpenAI that reason, unless effort `none` is asked for: they take no sampling, the first no stop sequences.
_REASONING = ("o1", "o3", "o4", "gpt-5")
_NO_STOP = ("o1-mini", "o3", "o4-mini")


def refusals(request: dict[str, Any]) -> Iterator[str]:
    """Codes of findings about a request to OpenAI: what the model refuses, and notes that are too many or too long."""
    model = request.get("model")
    name = model if isinstance(model, str) else ""
    reasoning = request.get("reasoning")
    efforts = (request.get("reasoning_effort"), reasoning.get("effort") if isinstance(reasoning, dict) else None)
    samples = request.get("temperature", 1) not in (1, None) and "none" not in efforts
    if (samples and name.startswith(_REASONING)) or (request.get("stop") and name.startswith(_NO_STOP)):
        yield "model-refuses"
    notes = request.get("metadata")
    if isinstance(notes, dict) and (
        len(notes) > MOST_PAIRS
        or any(len(key) > LONGEST_KEY or len(str(value)) > LONGEST_VALUE for key, value in notes.items())
    ):
        yield "too-long"


def breakpoints(turns: Any) -> int:
    """How many parts of the messages or items of a request to OpenAI are marked for the cache."""
    contents = [turn.get("content") for turn in turns if isinstance(turn, dict)] if isinstance(turns, list) else []
    parts = [part for content in contents if isinstance(content, list) for part in content]
    return sum(isinstance(part, dict) and "prompt_cache_breakpoint" in part for part in parts)
