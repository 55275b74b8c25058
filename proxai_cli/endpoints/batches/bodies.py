"""Where in a batch the bodies stand of calls that create replies."""

from collections.abc import Iterator
from typing import Any

from ..address import CREATE, UNKNOWN, address
from .lines import CUSTOM_ID, requests_of

Path = tuple[str | int, ...]


def bodies(value: Any) -> Iterator[tuple[str, Path]]:
    """The kind and path of each body in the lines of a batch, asked or answered; none of what tells about a batch."""
    for path, line in _lines(value):
        for kind, keys in _of_line(line):
            yield kind, (*path, *keys)


def illegal_ids(value: Any) -> Iterator[Path]:
    """The paths of ids in the lines of a batch that do not fit Anthropic's pattern."""
    for path, line in _lines(value):
        name = line.get("custom_id") if isinstance(line, dict) else None
        if isinstance(name, str) and not CUSTOM_ID.fullmatch(name):
            yield (*path, "custom_id")


def _lines(value: Any) -> Iterator[tuple[Path, Any]]:
    lines, start = requests_of(value) if isinstance(value, (dict, list)) else ([], ())
    for at, line in enumerate(lines):
        yield start if line is value else (*start, at), line


def _of_line(line: Any) -> Iterator[tuple[str, Path]]:
    if not isinstance(line, dict):
        return
    url = line.get("url")
    call = address(url).call if isinstance(url, str) else UNKNOWN
    if call in (CREATE, UNKNOWN):
        yield from (("request", (key,)) for key in ("body", "params") if isinstance(line.get(key), dict))
    response, result = line.get("response"), line.get("result")
    if isinstance(response, dict) and isinstance(response.get("body"), dict):
        status = response.get("status_code")
        yield "error" if isinstance(status, int) and status >= 400 else "response", ("response", "body")
    if isinstance(result, dict):
        for kind, key in (("response", "message"), ("error", "error")):
            if isinstance(result.get(key), dict):
                yield kind, ("result", key)
