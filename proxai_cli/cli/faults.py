"""How an error reads: its first line with code and place, the line of the capture it is about, what to do.

Captured text is not repeated: in the line that is shown everything is blanked that is no known word, nor a number that
stands for itself.
"""

import re
from functools import cache
from typing import Any

from ..errors import Place, ProxaiError
from ..reasons import ERRORS
from ..report.json import written
from ..report.lines import safe

# The forms for which everything on stderr is JSON.
AS_DATA = ("json", "jsonl")
WINDOW = 100
BEFORE = 60
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"?|\w(?:\w|[-./])*')
# What stands before a number of JSON that is told; elsewhere it may be a piece of somebody's text.
_BEFORE_NUMBER = re.compile(r'(?:"\s*:|\[)\s*-?\Z')
_FIELDS = frozenset({"data", "event", "id", "retry", "true", "false", "null", "DONE", "HTTP"})


def told(error: ProxaiError, path: str = "", line: bytes | None = None) -> list[str]:
    """The lines that tell an error. `line` is the line of the capture that its place names."""
    place = _placed(error.place, path)
    first, *more = error.message.split("\n")
    said = [f"proxai: error[{error.code}]{place}: {safe(first)}"]
    if line is not None and line.strip():
        said += _shown(line, error.place.column)
    said += [f"  {safe(each)}" for each in more]
    said.append(f"  try: {safe(_advice(error))}")
    return said


def _advice(error: ProxaiError) -> str:
    """The one thing to do: what whoever saw it knows, else what helps with most errors of the code."""
    return error.hint or ERRORS[error.code].action


def as_data(error: ProxaiError, path: str = "") -> dict[str, Any]:
    """The same as one object, for `--format json`."""
    place = {key: value for key, value in error.place._asdict().items() if value is not None}
    return {
        "error": error.code,
        "path": path or None,
        "place": place,
        "message": error.message,
        "try": _advice(error),
    }


def _placed(place: Place, path: str) -> str:
    start = ":".join(str(part) for part in (safe("stdin" if path == "-" else path), place.line, place.column) if part)
    more = [f"{key} {value}" for key, value in (("byte", place.byte), ("event", place.event)) if value is not None]
    more += [f"at {safe(place.pointer)}"] if place.pointer else []
    return (" " + start if start else "") + (f" ({', '.join(more)})" if more else "")


def _shown(line: bytes, column: int | None) -> list[str]:
    """The line with its captured text blanked, cut to what fits around the column, and the caret below."""
    said = line.decode("utf-8", "replace").rstrip("\r\n")
    caret = min((column or 1) - 1, len(said))
    blanked, at, moved = "", 0, None
    for token in _TOKENS.finditer(said):
        if moved is None and caret < token.start():
            moved = len(blanked) + caret - at
        blanked += said[at : token.start()]
        if moved is None and caret < token.end():
            moved = len(blanked)
        is_number = token[0][0].isdigit() and _BEFORE_NUMBER.search(said, 0, token.start())
        blanked += token[0] if is_number else _blank(token[0])
        at = token.end()
    if moved is None:
        moved = len(blanked) + caret - at
    blanked += said[at:]
    start = max(0, moved - BEFORE) if len(blanked) > WINDOW else 0
    shown, caret = safe(blanked[start : start + WINDOW]), len(safe(blanked[start:moved]))
    return [f"  {shown}", *([" " * (caret + 2) + "^"] if column else [])]


def _blank(token: str) -> str:
    word = token.strip('"')
    if word in known_words():
        return token
    return '"…' + ('"' if len(token) > 1 and token.endswith('"') else "") if token.startswith('"') else "…"


@cache
def known_words() -> frozenset[str]:
    """The protocols' own words: names of fields, discriminators. They are no captured text."""
    from ..protocols import PROTOCOLS
    from ..tables import Gap, Word, rules

    words = set(_FIELDS)
    for protocol in PROTOCOLS.values():
        for _, rule in rules(protocol):
            if not isinstance(rule, Gap):
                words.add(rule.name)
            if isinstance(rule, Word):
                words.add(rule.word)
        for marker in protocol.markers:
            words |= {word for word in marker.words if "*" not in word}
    return frozenset(words)


def internal(error: BaseException) -> ProxaiError:
    """An unexpected exception as an error of ours: the module and line, never its message."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "proxai_cli" in frame.filename] or frames
    where = f"{_module(ours[-1].filename)}:{ours[-1].lineno}" if ours else "an unknown place"
    return ProxaiError("internal", f"internal error ({type(error).__name__} in {where})")


def _module(path: str) -> str:
    parts = path.replace("\\", "/").removesuffix(".py").split("/")
    return ".".join(parts[parts.index("proxai_cli") :]) if "proxai_cli" in parts else parts[-1]


def tracebacked(error: BaseException) -> list[str]:
    """For --debug."""
    import traceback

    told = "".join(traceback.format_exception(error)).splitlines()
    return ["This traceback may hold captured text.", *told]


def as_line(error: ProxaiError, path: str = "") -> bytes:
    """An error as one line of JSON."""
    return written(as_data(error, path))


def folded_as_line(code: str, more: int) -> bytes:
    """How many further errors of a code are not told one by one."""
    return written({"error": code, "more": more})


def note_as_line(said: str) -> bytes:
    """A note as one line of JSON."""
    return written({"note": said})
