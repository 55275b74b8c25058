"""Lists as both vendors send them: the things of one page, and what is said about further pages (`spec/http.md` §6)."""

from collections.abc import Callable
from typing import Any

from ..context import Context
from ..ir.nodes import Node
from ..ledger import Leaf, Writer
from ..tables import FLAG, LIST, Field, Gap, Nested, Read, Table, Word, nodes
from .address import ANTHROPIC, OPENAI
from .way import Way


def tables(of: dict[str, Table], paged: bool) -> dict[str, Table]:
    """The tables of a list of things, for each vendor; `paged`: does OpenAI's list tell about further pages?"""
    pages = (Field("has_more", "has_more", FLAG), Field("first_id", "first_id"), Field("last_id", "last_id"))
    silent = (Gap("first_id", "duplicate"), Gap("last_id", "duplicate"))
    openai = Nested("data", "items", LIST, _reader(of[OPENAI]))
    return {
        OPENAI: Table("page", OPENAI, Word("object", "list"), openai, *(pages if paged else silent)),
        ANTHROPIC: Table("page", ANTHROPIC, Nested("data", "items", LIST, _reader(of[ANTHROPIC])), *pages),
    }


def _reader(table: Table) -> Read:
    def read(leaf: Leaf, context: Context) -> list[Node]:
        return nodes(leaf, lambda each: table.read(each, context), table.protocol)

    return read


def is_page_of(value: Any, fits: Callable[[dict[str, Any]], bool]) -> bool:
    """An object with a list `data` in which there are objects, and every one fits."""
    if not isinstance(value, dict) or not isinstance(value.get("data"), list):
        return False
    found = [each for each in value["data"] if isinstance(each, dict)]
    return bool(found) and all(map(fits, found))


def write_page(page: Node, table: Table, w: Writer, way: Way, write: Callable[[Node, Writer], None]) -> None:
    """A page to the other vendor, each of its things by `write`."""
    table.write(page, w, way.context, but=("items", "has_more"))
    listed = w.list("data")
    for item in page.says.get("items", []):
        if item.kind == "other":
            w.ledger.drop(item, "unknown-field")
        else:
            write(item, listed.item())
    if not listed.value:
        w.make("data", listed.value, "required-by-target")
    _write_paging(page.get("has_more"), table, w, way)
    w.order(dict.fromkeys(table.names))


def _write_paging(more: Leaf | None, table: Table, w: Writer, way: Way) -> None:
    further = more is not None and more.value is True
    if further:
        way.context.find("more-pages", ("has_more",))
    if "has_more" not in table.by_name:
        w.ledger.drop(more or [], "no-equivalent" if further else "target-default")
    elif more is not None:
        w.put("has_more", more)
    if way.theirs != ANTHROPIC:
        return
    things = w.value["data"]
    ends = {"has_more": False, "first_id": _id_of(things[:1]), "last_id": _id_of(things[-1:])}
    for key, value in ends.items():
        if key not in w.value:
            w.make(key, value, "required-by-target")


def _id_of(things: list[Any]) -> Any:
    name = things[0].get("id") if things else None
    return name if isinstance(name, str) else None
