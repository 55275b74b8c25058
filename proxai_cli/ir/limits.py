"""What an API is known to refuse beyond the shape of a request: findings about a result, nothing is changed.

Source: `spec/requests.md` §12.
"""

from collections.abc import Iterator
from typing import Any

MOST_PAIRS = 16
LONGEST_KEY, LONGEST_VALUE = 64, 512
# Models of OpenAI that reason whatever is asked: they take no sampling, the first of them no stop sequences.
_REASONING = ("o1", "o3", "o4", "gpt-5")
_NO_STOP = ("o3", "o4-mini")


def refusals(request: dict[str, Any]) -> Iterator[str]:
    """Codes of findings about a request to OpenAI: what the model refuses, and notes that are too many or too long."""
    model = request.get("model")
    name = model if isinstance(model, str) else ""
    if ("temperature" in request and request["temperature"] != 1 and name.startswith(_REASONING)) or (
        "stop" in request and name.startswith(_NO_STOP)
    ):
        yield "model-refuses"
    notes = request.get("metadata")
    if isinstance(notes, dict) and (
        len(notes) > MOST_PAIRS
        or any(len(key) > LONGEST_KEY or len(str(value)) > LONGEST_VALUE for key, value in notes.items())
    ):
        yield "too-long"
