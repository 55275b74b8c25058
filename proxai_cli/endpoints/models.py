"""Models: one, and lists of them (`spec/http.md` §6)."""

import math
from fractions import Fraction
from typing import Any

from ..context import Context
from ..ir.nodes import Node
from ..ledger import Leaf, Writer
from ..tables import NUMBER, TEXT, Dropped, Field, Must, Table, Word
from . import pages
from .address import ANTHROPIC, MODELS, OPENAI
from .times import EPOCH, day, instant, spelled_day, spelled_instant
from .way import Endpoint, Way, unrecognised, whole

# In these tables a time travels as its source spells it, and the writing rule turns it into the target's form.


def unix_of(leaf: Leaf, context: Context) -> Any:
    """RFC 3339 as whole seconds since 1970; a text that is no time has no place in the target."""
    moment = instant(leaf.value)
    return Dropped("unknown-field") if moment is None else leaf.to(math.floor(moment), "time-form")


def rfc3339_of(leaf: Leaf, context: Context) -> Any:
    """Seconds since 1970 as RFC 3339."""
    if isinstance(leaf.value, float) and not math.isfinite(leaf.value):
        return Dropped("unknown-field")
    said = spelled_instant(Fraction(math.floor(leaf.value)))
    return Dropped("unknown-field") if said is None else leaf.to(said, "time-form")


def _date_of(leaf: Leaf, context: Context) -> Any:
    """An instant as the date that begins with it; any other stays what it is."""
    moment = instant(leaf.value)
    date = None if moment is None else spelled_day(moment)
    return leaf if date is None else leaf.to(date, "time-form")


def _instant_of(leaf: Leaf, context: Context) -> Any:
    """A date as its first instant; an instant stays what it is."""
    moment = day(leaf.value)
    if moment is None:
        return leaf if instant(leaf.value) is not None else Dropped("unknown-field")
    return leaf.to(spelled_instant(moment), "time-form")


MODEL = {
    OPENAI: Table(
        "model",
        OPENAI,
        Field("id", "id", TEXT),
        Word("object", "model"),
        Field("created", "created", NUMBER, write=unix_of),
        Field("owned_by", "owner"),
        Field("shutdown_date", "retires", TEXT, write=_date_of),
        Must("created", 0, "no-time"),
        Must("owned_by", "anthropic"),
    ),
    ANTHROPIC: Table(
        "model",
        ANTHROPIC,
        Word("type", "model"),
        Field("id", "id", TEXT),
        Field("display_name", "display_name"),
        Field("created_at", "created", TEXT, write=rfc3339_of),
        Field("lifecycle", "lifecycle"),
        Field("deprecated_at", "deprecated"),
        Field("retires_at", "retires", TEXT, write=_instant_of),
        Field("line", "line"),
        Field("capabilities", "capabilities"),
        Field("max_input_tokens", "max_input_tokens"),
        Field("max_tokens", "max_output_tokens"),
        Must("created_at", EPOCH, "no-time"),
        *(Must(name, None) for name in ("deprecated_at", "line", "capabilities", "max_input_tokens", "max_tokens")),
    ),
}
PAGE = pages.tables(MODEL, paged=False)


def carry(home: Any, key: Any, w: Writer, way: Way) -> None:
    """A model, or a list of models, to the other vendor. Raises `NotThatProtocol`."""
    value = home[key]
    if not isinstance(value, dict) or not ("id" in value or isinstance(value.get("data"), list)):
        raise unrecognised("a model is an object with `id`, a list of models one with `data`")
    if way.ours == way.theirs:
        whole(home, key, w)
    elif isinstance(value.get("data"), list):
        page = PAGE[way.ours].read(value, way.context)
        pages.write_page(page, PAGE[way.theirs], w.object(key), way, lambda model, item: write_model(model, item, way))
    else:
        write_model(MODEL[way.ours].read(value, way.context), w.object(key), way)


def write_model(model: Node, w: Writer, way: Way) -> None:
    """One model in the words of the target's vendor."""
    MODEL[way.theirs].write(model, w, way.context)
    if way.theirs == ANTHROPIC:
        if "id" in w.value:
            w.make("display_name", w.value["id"], "required-by-target")
        w.make("lifecycle", "deprecated" if "retires_at" in w.value else "active", "required-by-target")
    w.order(dict.fromkeys(MODEL[way.theirs].names))


def knows(value: Any) -> str | None:
    """A body whose own words say that it is a model or a list of models."""
    return "response" if _is_model(value) or pages.is_page_of(value, _is_model) else None


def _is_model(value: Any) -> bool:
    return isinstance(value, dict) and "id" in value and "model" in (value.get("object"), value.get("type"))


ENDPOINT = Endpoint(
    MODELS,
    "list of models",
    carry,
    knows,
    {f"{vendor}.{table.kind}": table for of in (MODEL, PAGE) for vendor, table in of.items()},
)
