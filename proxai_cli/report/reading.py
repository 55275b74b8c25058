"""A report as items again: the way back of `json.py`, for reports that are added up."""

import re
from itertools import product
from typing import Any, NamedTuple

from .. import text
from ..errors import NotReadable, Place
from ..ledger import Path
from ..schemas import misfit, ours
from .account import Change, Counts, Found, Item, Side, fingerprint
from .json import FORM

Pair = tuple[str | None, str | None, str | None]
# Of how many steps of a change's paths it is found out whether they are positions or keys that look like them.
LOOKED_AT = 10
AGAIN = "write the report again, with --report json:FILE"


class Read(NamedTuple):
    """What a report says: its items, each with the text of it, and its verdict."""

    items: list[tuple[Item, bytes]]
    verdict: dict[str, Any]


def read(data: bytes) -> Read:
    """A report from the text of its form `json` or `jsonl`. Raises `NotReadable` where it is none, or not whole."""
    values = _values(data)
    whole = values[-1] if values else None
    if not isinstance(whole, dict) or "proxai_report" not in whole:
        raise _none("it is no report of proxai in the form json or jsonl, or its end is missing")
    if "items" not in whole:
        whole = {**whole, "items": values[:-1]}
    elif len(values) > 1:
        raise _none("it holds more than one report")
    if whole["proxai_report"] != FORM:
        raise _none("it is a report of another version of proxai")
    _check(whole)
    return Read([(_item(said), text.dumps(said)) for said in whole["items"]], whole["verdict"])


def _values(data: bytes) -> list[Any]:
    """The values of the lines, or the one value whose text goes over several."""
    lines, values = [line for line in data.split(b"\n") if line.strip()], list[Any]()
    for line in lines:
        try:
            values.append(text.loads(line))
        except NotReadable as error:
            if values:
                raise NotReadable(error.code, error.message, Place(line=len(values) + 1), AGAIN) from None
            break
    else:
        return values
    try:
        return [text.loads(data)]
    except NotReadable as error:
        raise NotReadable(error.code, error.message, error.place, AGAIN) from None


def _check(whole: dict[str, Any]) -> None:
    place = misfit(whole, ours("report"))
    if place is not None:
        raise _none("it does not fit the report's schema", place)


def _item(said: dict[str, Any]) -> Item:
    input, source, target = said["input"], _side(said["source"]), _side(said["target"])
    counts = said["counts"] and Counts(said["counts"]["source"], said["counts"]["target"])
    if counts and not counts.balanced:
        raise _none("the sums of a document do not add up")
    # A target whose protocol was found out is a document that was there: two were compared, and the label names it.
    against = input.get("label") if target and target.sure else None
    item = Item(
        input["path"],
        input["container"],
        source,
        target,
        said["status"],
        counts,
        findings=tuple(map(_found, said["findings"])),
        record=input.get("record"),
        label=None if against else input.get("label"),
        against=against,
    )
    return item._replace(changes=tuple(_change(change, item.pair) for change in said["changes"]))


def _side(said: dict[str, Any] | None) -> Side | None:
    return None if said is None else Side(**{**said, "evidence": tuple(said.get("evidence", ()))})


def _found(said: dict[str, Any]) -> Found:
    return Found(said["code"], said["level"], said["text"], said.get("layer", ""), said.get("at"), said.get("place"))


def _change(said: dict[str, Any], pair: Pair) -> Change:
    """A change; its fingerprint tells which steps of its paths are positions, and that it is whole."""
    more: dict[str, Any] = {key: said.get(key) for key in ("before", "after", "place", "avoidable")}
    events = tuple(said["events"]) if "events" in said else None
    change = Change(said["op"], None, None, said["reason"], said["level"], said["count"], events)._replace(**more)
    steps = [None if said[side] is None else text.steps(said[side]) for side in ("source", "target")]
    numbers = [(side, at) for side, path in enumerate(steps) for at, step in enumerate(path or ()) if _is_number(step)]
    looked_at, rest = numbers[:LOOKED_AT], numbers[LOOKED_AT:]
    for positions in product((True, False), repeat=len(looked_at)):
        wanted = {where for where, is_one in zip(looked_at, positions, strict=True) if is_one} | {*rest}
        source, target = (_path(path, side, wanted) for side, path in enumerate(steps))
        change = change._replace(source=source, target=target)
        if fingerprint(pair, change) == said["fingerprint"]:
            return change
    raise _none("the fingerprint of a change is not that of its places")


def _path(steps: list[str] | None, side: int, positions: set[tuple[int, int]]) -> Path | None:
    if steps is None:
        return None
    return tuple(int(step) if (side, at) in positions else step for at, step in enumerate(steps))


def _is_number(step: str) -> bool:
    return re.fullmatch("0|[1-9][0-9]{0,17}", step) is not None


def _none(message: str, place: str = "") -> NotReadable:
    return NotReadable("unreadable", message, Place(pointer=place or None), AGAIN)
