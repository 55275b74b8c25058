"""The calls beside the creation of replies: models, embeddings, rerank, token counts, compaction, batches.

Source: `spec/http.md` §1, §6 to §9.

Each endpoint translates the bodies of its call in place, as the protocols do: every leaf of the source is carried,
changed or dropped, every leaf of the target accounted for.
"""

from typing import Any

from ..context import Context
from ..errors import NotPossible
from ..ledger import Leaf, Ledger, Writer
from ..protocols import PROTOCOLS
from ..translate import Translation
from . import batches, compact, count, embeddings, models, rerank
from .address import Address, address, has_call
from .failures import read_failure, write_failure
from .way import Endpoint, Way

ENDPOINTS: dict[str, Endpoint] = {
    each.ENDPOINT.name: each.ENDPOINT for each in (models, embeddings, rerank, count, compact, batches)
}


def known_by_path(url: str) -> Endpoint | None:
    """The endpoint of a URL or path; None for the creation of replies and for what is none of these."""
    return ENDPOINTS.get(address(url).call)


def known_by_body(value: Any) -> tuple[Endpoint, str] | None:
    """The endpoint of a body that says by its own words whose it is, and whether it is a `request` or a `response`."""
    for endpoint in ENDPOINTS.values():
        kind = endpoint.knows(value)
        if kind is not None:
            return endpoint, kind
    return None


def translate_endpoint(
    value: Any, source: str, target: str, endpoint: str, kind: str, context: Context | None = None
) -> Translation:
    """One body of such a call (`kind` is `request`, `response` or `error`) in; a body, its account, findings out. Pure.

    `endpoint` is a name of ENDPOINTS. Raises `NotThatProtocol` where the value has not that call's shape, `NotPossible`
    (`no-endpoint` among others) where no target can be made.
    """
    context = (context or Context()).fresh()
    ledger = Ledger(steers=False)
    home, target_home = {"body": value}, Writer(ledger, {})
    carry(home, "body", target_home, ENDPOINTS[endpoint], Way(source, target, kind, context))
    entries = ledger.settle(home, [target_home.value])
    ledger.entries = [
        entry._replace(source=entry.source and entry.source[1:], target=entry.target and entry.target[1:])
        for entry in entries
    ]
    return Translation(target_home.value["body"], ledger, context.findings)


def carry(home: Any, key: Any, w: Writer, endpoint: Endpoint, way: Way) -> None:
    """Write under the same key what the body of a call becomes, with the ledger of the writer.

    Raises `no-endpoint` where one of the two has no such call, and what the endpoint raises.
    """
    for protocol in (way.source, way.target):
        if not has_call(endpoint.name, protocol):
            raise NotPossible(
                "no-endpoint",
                f"{PROTOCOLS[protocol].title} has no {endpoint.title}",
                hint="translate it to a protocol that has one",
            )
    if way.kind == "error":
        _carry_error(home, key, w, way)
        return
    endpoint.carry(home, key, w, way)
    written = w.value[key]
    if written == {} and isinstance(written, dict):
        w.make(key, written, "required-by-target")


def _carry_error(home: Any, key: Any, w: Writer, way: Way) -> None:
    if way.source == way.target:
        w.put(key, Leaf(home, key))
        return
    error = read_failure(home, key, way.source, None, way.context)
    write_failure(error, way.target, None, w.object(key), way.context)


__all__ = ["ENDPOINTS", "Address", "address", "carry", "known_by_body", "known_by_path", "translate_endpoint"]
