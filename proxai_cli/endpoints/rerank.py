"""Rerank: the shapes of Cohere and of Jina, which many servers took over (`spec/http.md` §7).

`--set rerank=cohere` or `jina` says which shape is written (Cohere's is that of its second version); without it a body
stays in its own.
"""

import copy
from typing import Any

from .. import text
from ..context import Context
from ..ir.nodes import Node
from ..ledger import Leaf, Writer
from ..tables import LIST, TEXT, Dropped, Field, Gap, Nested, Read, Table, nodes
from .address import RERANK, Address
from .way import Endpoint, Way, unrecognised, whole

COHERE, JINA = "cohere", "jina"
# Cohere's first version is only read.
FIRST = "cohere-1"


def _read_documents(leaf: Leaf, context: Context) -> Leaf:
    return leaf


def _write_documents(documents: Leaf, w: Writer, name: str, context: Context) -> None:
    w.put(name, documents)


def _write_texts(documents: Leaf, w: Writer, name: str, context: Context) -> None:
    """Documents as texts, each in its place, since the ranking tells them by their positions."""
    listed = w.list(name)
    for at, document in enumerate(documents.value):
        leaf = Leaf(documents.value, at)
        if isinstance(document, str):
            listed.append(leaf)
        elif isinstance(document, dict) and isinstance(document.get("text"), str):
            listed.append(Leaf(document, "text"))
            w.ledger.drop([Leaf(document, key) for key in document if key != "text"], "no-equivalent")
        else:
            listed.append(leaf.to(text.dumps(document).decode(), "json-dump"))


def _only_read(leaf: Leaf, context: Context) -> Dropped:
    """Some servers say this in a shape that does not have it."""
    return Dropped("no-equivalent")


REQUEST = {
    COHERE: Table(
        "rerank_request",
        COHERE,
        Field("model", "model", TEXT),
        Field("query", "query"),
        Nested("documents", "documents", LIST, _read_documents, _write_texts),
        Field("top_n", "top_count"),
        Field("max_tokens_per_doc", "document_tokens"),
        Field("priority", "priority"),
    ),
    FIRST: Table(
        "rerank_request",
        FIRST,
        Field("model", "model", TEXT),
        Field("query", "query"),
        Nested("documents", "documents", LIST, _read_documents),
        Field("top_n", "top_count"),
        Field("return_documents", "documents_wanted"),
        Field("max_chunks_per_doc", "document_chunks"),
        Field("rank_fields", "rank_fields"),
    ),
    JINA: Table(
        "rerank_request",
        JINA,
        Field("model", "model", TEXT),
        Field("query", "query"),
        Nested("documents", "documents", LIST, _read_documents, _write_documents),
        Field("top_n", "top_count"),
        Field("top_k", "top_count"),
        Field("return_documents", "documents_wanted"),
        Field("truncation", "truncation"),
    ),
}
RESULT = {
    shape: Table("rerank_result", shape, Field("index", "index"), Field("relevance_score", "score"), *document)
    for shape, document in (
        (COHERE, ()),
        (FIRST, (Field("document", "document"),)),
        (JINA, (Field("document", "document"),)),
    )
}


def _read_results(shape: str) -> Read:
    def read(leaf: Leaf, context: Context) -> list[Node]:
        return nodes(leaf, lambda each: RESULT[shape].read(each, context), shape)

    return read


RESPONSE = {
    COHERE: Table(
        "rerank_response",
        COHERE,
        Field("id", "id"),
        Nested("results", "results", LIST, _read_results(COHERE)),
        Field("meta", "meta"),
        Gap("object", "target-default"),
    ),
    FIRST: Table(
        "rerank_response",
        FIRST,
        Field("id", "id"),
        Nested("results", "results", LIST, _read_results(FIRST)),
        Field("meta", "meta"),
    ),
    JINA: Table(
        "rerank_response",
        JINA,
        Field("model", "model", TEXT),
        Field("object", "object"),
        Field("usage", "usage"),
        Nested("results", "results", LIST, _read_results(JINA)),
        Nested("data", "results", LIST, _read_results(JINA)),
        Field("id", "id", write=_only_read),
    ),
}
# The words by which a body tells its shape; Jina's is that of most servers.
_MARKS = {FIRST: {"max_chunks_per_doc", "rank_fields"}, COHERE: {"max_tokens_per_doc", "priority", "meta"}}

# Where the two vendors have their call.
PLACES = {COHERE: ("api.cohere.com", "/v2"), JINA: ("api.jina.ai", "/v1")}


def shape_of(value: dict[str, Any]) -> str:
    """Whose words a body uses."""
    shape = next((shape for shape, marks in _MARKS.items() if marks & set(value)), JINA)
    meta = value.get("meta")
    version = meta.get("api_version") if isinstance(meta, dict) else None
    return FIRST if isinstance(version, dict) and version.get("version") == "1" else shape


def url_of(known: Address, wanted: str) -> str | None:
    """The URL of the call at the vendor of the wanted shape; None where it is a server of another's."""
    hosts = {host for host, _ in PLACES.values()}
    if wanted not in PLACES or known.host not in hosts:
        return None
    host, prefix = PLACES[wanted]
    return known.origin.removesuffix(known.host) + host + prefix + "/rerank" + known.query


def carry(home: Any, key: Any, w: Writer, way: Way) -> None:
    """A request to rerank, or the ranking. Raises `NotThatProtocol`."""
    value = home[key]
    if way.kind == "request" and not (isinstance(value, dict) and {"query", "documents"} <= set(value)):
        raise unrecognised("a request to rerank is an object with `query` and `documents`")
    if way.kind == "response" and not (isinstance(value, dict) and _ranking(value)):
        raise unrecognised("a ranking is an object with a list `results`")
    shape = shape_of(value)
    wanted = way.context.choice("rerank", shape)
    if wanted == shape or wanted not in PLACES:
        whole(home, key, w)
    elif way.kind == "request":
        to = w.object(key)
        REQUEST[wanted].write(REQUEST[shape].read(value, way.context), to, way.context)
        if "documents" not in to.value:
            to.make("documents", [], "required-by-target")
    else:
        _write_response(RESPONSE[shape].read(value, way.context), wanted, w.object(key), way.context)


def _ranking(value: dict[str, Any]) -> bool:
    return any(isinstance(value.get(key), list) for key in ("results", "data"))


def _write_response(response: Node, wanted: str, w: Writer, context: Context) -> None:
    asked = context.request if isinstance(context.request, dict) else {}
    RESPONSE[wanted].write(response, w, context, but=("results",))
    if wanted == JINA and "model" not in w.value and isinstance(asked.get("model"), str):
        w.make("model", asked["model"], "from-request")
    listed = w.list("results")
    for result in response.says.get("results", []):
        if result.kind == "other":
            w.ledger.drop(result, "unknown-field")
            continue
        item = listed.item()
        RESULT[wanted].write(result, item, context)
        if wanted == JINA and "document" not in item.value and asked.get("return_documents") is not False:
            _repeat_document(item, asked.get("documents"))
        if not item.value:
            listed.make(len(listed.value) - 1, item.value, "required-by-target")
    if not listed.value:
        w.make("results", listed.value, "required-by-target")
    w.order(RESPONSE[wanted].names)


def _repeat_document(item: Writer, documents: Any) -> None:
    """The document that a result speaks of, from the paired request."""
    at = item.value.get("index")
    if not isinstance(documents, list) or type(at) is not int or not 0 <= at < len(documents):
        return
    document = documents[at]
    item.make("document", {"text": document} if isinstance(document, str) else copy.deepcopy(document), "from-request")


def knows(value: Any) -> str | None:
    """A request to rerank or a ranking by its own words."""
    if not isinstance(value, dict):
        return None
    if {"query", "documents"} <= set(value):
        return "request"
    found: list[Any] = next((value[key] for key in ("results", "data") if isinstance(value.get(key), list)), [])
    ranked = bool(found) and all(isinstance(each, dict) and "relevance_score" in each for each in found)
    return "response" if ranked else None


ENDPOINT = Endpoint(
    RERANK,
    "rerank call",
    carry,
    knows,
    {f"{shape}.{table.kind}": table for tables in (REQUEST, RESULT, RESPONSE) for shape, table in tables.items()},
)
