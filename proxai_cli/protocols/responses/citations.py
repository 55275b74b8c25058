"""Citations of other protocols as annotations of a text. Source: `spec/responses.md` §7."""

from typing import Any

from ...context import Context
from ...ir.nodes import Node
from ...ledger import Leaf, Writer
from .items import lost
from .tables import URL_CITATION


def span(citation: Node, whole: str) -> tuple[int, int]:
    """Which characters of a text a citation is about: all, or the quote where it stands there exactly once (D19)."""
    quote = citation.value("cited_text")
    if isinstance(quote, str) and quote and whole.count(quote) == 1:
        start = whole.index(quote)
        return start, start + len(quote)
    return 0, len(whole)


def citation_url(citation: Node) -> Leaf | None:
    """The address that a citation names, if it names one."""
    for term in ("url", "source"):
        leaf = citation.get(term)
        if isinstance(leaf, Leaf) and isinstance(leaf.value, str) and (term == "url" or "://" in leaf.value):
            return leaf
    return None


def write_citation(citation: Node, whole: str, w: Writer, context: Context) -> None:
    """One citation as a `url_citation` (`spec/responses.md` §7)."""
    said = citation.but("source")
    url, title = citation_url(citation), said.get("title")
    if url is not None and "url" not in said.says:
        said.says["url"] = url
    elif "source" in citation.says:
        w.ledger.drop(citation.says["source"], "no-equivalent")
    if title is not None and title.value is None:
        said.says["title"] = title.to("", "respelled")
    URL_CITATION.write(said, w, context)
    for key, at in zip(("start_index", "end_index"), span(citation, whole), strict=True):
        if key not in w.value:
            w.make(key, at, "whole-block-span")
    if "title" not in w.value:
        w.make("title", "", "required-by-target")
    w.order(URL_CITATION.names)


def write_citations(citations: list[Node], whole: Any, w: Writer, context: Context) -> None:
    """All citations of a text that have an address; the others are lost."""
    found = [citation for citation in citations if citation_url(citation) is not None]
    if found:
        annotations = w.list("annotations")
        for citation in found:
            write_citation(citation, whole if isinstance(whole, str) else "", annotations.item(), context)
    for citation in citations:
        if citation not in found:
            lost(citation, w.ledger)
