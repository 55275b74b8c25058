"""Values as this protocol reads them."""

from typing import Any

from ... import text
from ...errors import NotReadable


def parsed(arguments: Any) -> Any:
    """The value of arguments, or None where their text is no JSON."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return text.loads(arguments)
    except NotReadable:
        return None
