"""Citations of a reply's text, whose places count from the beginning of the whole content (`spec/responses.md` §7)."""

from ...context import Context
from ...ir.nodes import Node
from ...ledger import Leaf, Writer, made
from .tables import CITATION, NAME


def placed(citation: Node, text: str, base: int) -> Node | None:
    """A citation as this protocol says it, or None where it has no address.

    `text` is the text of its part and `base` the length of the content before it. A citation without a place spans the
    whole part, or the quote where that stands in it exactly once.
    """
    if citation.protocol == NAME:
        return citation
    url = citation.get("url") or _address(citation)
    if not isinstance(url, Leaf):
        return None
    said = citation.but("source", "cited_text") if url is citation.get("source") else citation.but("cited_text")
    said.says["url"] = url
    start, end, quote = said.get("start_index"), said.get("end_index"), citation.get("cited_text")
    if _number(start) and _number(end):
        for name, leaf in (("start_index", start), ("end_index", end)):
            said.says[name] = leaf.to(leaf.value + base, "merged-boundary") if base else leaf
        said.asides += [(quote, "no-equivalent")] if quote is not None else []
        return said
    said.asides += [(leaf, "unknown-field") for leaf in (start, end) if leaf is not None]
    first, last = _span(quote, text)
    for name, place in (("start_index", base + first), ("end_index", base + last)):
        told = isinstance(quote, Leaf)
        said.says[name] = quote.to(place, "whole-block-span") if told else made(place, "whole-block-span")
    return said


def _address(citation: Node) -> Leaf | None:
    """The source of a search result, where it is an address."""
    leaf = citation.get("source")
    return leaf if isinstance(leaf, Leaf) and str(leaf.value).startswith(("http://", "https://")) else None


def _span(quote: Leaf | None, text: str) -> tuple[int, int]:
    words = quote.value if isinstance(quote, Leaf) else None
    if isinstance(words, str) and words and text.count(words) == 1:
        at = text.index(words)
        return at, at + len(words)
    return 0, len(text)


def _number(leaf: Leaf | None) -> bool:
    return isinstance(leaf, Leaf) and isinstance(leaf.value, int) and not isinstance(leaf.value, bool)


def write_citations(citations: list[Node], w: Writer, context: Context, indexed: bool = False) -> None:
    """Placed citations as `annotations`; in a stream each has its number, without which clients refuse them."""
    if not citations:
        return
    written = w.list("annotations")
    for number, citation in enumerate(citations):
        item = written.item()
        if indexed:
            item.make("index", number, "position")
        CITATION.write(citation, item, context)
