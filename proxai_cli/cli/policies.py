"""The policy of a call: where its file is found, and what the call takes over from it. It judges in `judging.py`."""

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import NotReadable, ProxaiError
from .inputs import STDIN, read
from .options import Call

if TYPE_CHECKING:
    from ..policy import Policy

PROJECT, TABLE = "pyproject.toml", "tool.proxai"
NAMES = ("proxai.toml", PROJECT)
_MAY_HAVE_TABLE = re.compile(rb"tool[^\n]*proxai|\[\s*tool\s*\]")


class Source(NamedTuple):
    """A policy's file: its place as it is told, and the table of it that counts, with its name (none: all of it)."""

    place: str
    text: str
    table: Any
    name: str = ""


def applied(call: Call) -> None:
    """Let a call take over what its policy says and no flag does, and hold what its run is judged by (`standing`).

    Raises `bad-policy`, `bad-call` where a baseline is to be written and none is named, and `unreadable` where nothing
    is there that the policy names.
    """
    source, unmatched = _source(call), list[str]()
    said = _read(source) if source else None
    baseline, is_anew = call.values.get("baseline"), bool(call.values.get("write_baseline"))
    if source and said:
        folder = os.path.dirname(source.place)
        unmatched = _take_over(call, said, source.place)
        if said.baseline and "baseline" in call.values:
            baseline = baseline or _below(folder, said.baseline)
    if is_anew and baseline in (None, STDIN):
        raise ProxaiError("bad-call", "--write-baseline needs a place", hint="--baseline proxai-baseline.json")
    if said or baseline:
        from .judging import Standing

        call.standing = Standing(said, source and source.place, baseline, is_anew, call.command == "diff", unmatched)


def _take_over(call: Call, said: "Policy", place: str) -> list[str]:
    """Let the call do as the policy says, but flags, which come after it, beat it; the patterns that no file matches.

    One pattern without a file is no mistake yet. Raises `unreadable` where no pattern has one.
    """
    values = call.values
    values["set"] = [*(f"{name}={value}" for name, value in said.choices.items()), *values.get("set", ())]
    if "ignore" in values:
        values["ignore"] = [*said.ignore, *values["ignore"]]
    if said.fail_on and "fail_on" not in call.given:
        values["fail_on"] = said.fail_on
    if call.command == "diff" and not call.words and call.to is None and not call.merge:
        values["to"] = said.to
        named = [_below(os.path.dirname(place), each) for each in said.inputs]
        call.words = [each for each in named if _may_be_there(each)]
        if named and not call.words:
            told = f"no file matches the `inputs` of the policy ({', '.join(named)})"
            error = NotReadable("unreadable", told, hint=f"mend `inputs` in {place}, or name the captures")
            error.path = place
            raise error
        return [each for each in named if each not in call.words]
    return []


def _source(call: Call) -> Source | None:
    """The file that is named, else the nearest one upwards, not above the repository's root."""
    if call.no_config and call.config:
        raise ProxaiError("bad-call", "--config and --no-config do not go together", hint="one of them")
    if call.no_config:
        return None
    if call.config:
        source = _opened(call.config)
        if source is None:
            raise _bad(f"there is no table [{TABLE}] in it", call.config)
        return source
    folder = os.getcwd()
    while True:
        for name in NAMES:
            place = os.path.relpath(os.path.join(folder, name))
            is_there = os.path.isfile(place) or (os.path.islink(place) and not os.path.exists(place))
            if is_there and (source := _opened(place)):
                return source
        if os.path.exists(os.path.join(folder, ".git")) or os.path.dirname(folder) == folder:
            return None
        folder = os.path.dirname(folder)


def _opened(place: str) -> Source | None:
    """A file with its policy; None for a project's file that has none, of which no more than that is looked at."""
    try:
        data = read(place)
    except ProxaiError as error:
        raise _bad(error.message, place) from None
    is_project = os.path.basename(place) == PROJECT
    if is_project and not _MAY_HAVE_TABLE.search(data):
        return None
    import tomllib

    try:
        said = data.decode("utf-8-sig")
        whole = tomllib.loads(said)
    except UnicodeDecodeError:
        raise _bad("it is no UTF-8 text", place) from None
    except tomllib.TOMLDecodeError as error:
        message, _, where = str(error).partition(" (at ")
        numbers = map(int, re.findall("[0-9]+", where))
        raise _bad(f"it is no TOML: {message}", place).at(
            line=next(numbers, None), column=next(numbers, None)
        ) from None
    if not is_project:
        return Source(place, said, whole)
    tool = whole.get("tool", {})
    return Source(place, said, tool["proxai"], TABLE) if "proxai" in tool else None


def _read(source: Source) -> "Policy":
    """The policy of a file; a mistake in it is told with file and line."""
    from ..policy import parsed
    from .choices import chosen

    if not isinstance(source.table, dict):
        raise _bad(f"{source.name} is a table", source.place)
    try:
        return parsed(source.table, lambda name, value: chosen([f"{name}={value}"]))
    except ProxaiError as error:
        error.path = source.place
        where = (error.place.pointer or "").split("/")[1:]
        raise error.at(line=_line(source.text, where, source.name)) from None


def _line(said: str, where: list[str], home: str) -> int | None:
    """The line that holds a key, or begins its table; found by the look of the lines, so it may stay unknown."""
    first, *rest = where
    is_table = first in ("rule", "set")
    header = ".".join(filter(None, [home, first if is_table else ""]))
    number = int(rest.pop(0)) if first == "rule" and rest else 0
    key = (rest[0] if rest else None) if is_table else first
    inside, seen, start = not header, 0 if not header else -1, None
    for at, line in enumerate(said.splitlines(), 1):
        if head := re.match(r"\s*\[\[?([\w\s.\"'-]+)\]\]?\s*(?:#.*)?$", line):
            is_it = re.sub(r"[\s\"']", "", head[1]) == header
            seen += is_it
            inside = is_it and seen == number
            start = at if inside else start
        elif inside and key and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[.=]", line):
            return at
    return start


def _bad(message: str, place: str) -> ProxaiError:
    error = ProxaiError("bad-policy", message, hint="proxai map --schema policy")
    error.path = place
    return error


def _below(folder: str, name: str) -> str:
    """A name in the policy as the call sees it."""
    return os.path.normpath(os.path.join(folder, name)).replace(os.sep, "/") if folder else name


def _may_be_there(word: str) -> bool:
    """Is it no pattern, or one that something matches?"""
    from glob import has_magic, iglob

    return os.path.lexists(word) or not has_magic(word) or any(iglob(word, recursive=True))
