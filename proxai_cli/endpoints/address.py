"""URLs: which call an address means, and the address of the same call in another protocol (`spec/http.md` §1).

Knows the vendors' own paths behind any prefix, and the forms of Azure, Bedrock and Vertex, where the model (or the
deployment) stands in the path.
"""

import re
from typing import NamedTuple
from urllib.parse import quote, unquote

CREATE, MODELS, EMBEDDINGS, RERANK, COUNT, BATCHES = "create", "models", "embeddings", "rerank", "count", "batches"
COMPACT = "compact"
# A call that is known to be none of these, and an address that says nothing.
ELSEWHERE, UNKNOWN = "elsewhere", "unknown"

OPENAI, ANTHROPIC = "openai", "anthropic"
VENDOR = {"chat": OPENAI, "responses": OPENAI, "messages": ANTHROPIC}
HOST = {OPENAI: "api.openai.com", ANTHROPIC: "api.anthropic.com"}

REDACTED = "<redacted>"

_LONGEST = 8192
# How paths end of the results of a batch, and of a file.
RESULTS, CONTENT = "/results", "/content"


class Address(NamedTuple):
    """What a URL means: the call, the protocol where the path tells it, and the pieces that the path is made of.

    `origin` is scheme and host, empty where the URL is a path alone; `tail` what follows the call's own path (`/{id}`,
    `/{id}/cancel`); `cloud` is `azure`, `bedrock` or `vertex`; `model` and `streamed` are what the path says there.
    """

    call: str
    protocol: str | None = None
    origin: str = ""
    prefix: str = ""
    tail: str = ""
    query: str = ""
    cloud: str | None = None
    model: str | None = None
    streamed: bool = False

    @property
    def host(self) -> str:
        return self.origin.rpartition("//")[2].rpartition("@")[2]


_PREFIX = r"(?P<prefix>(?:/[^/]+)*?)"
# What a path ends in; the first that fits counts.
_PATHS = [
    (re.compile(_PREFIX + pattern), call, protocol)
    for pattern, call, protocol in (
        (r"/chat/completions", CREATE, "chat"),
        (r"/responses", CREATE, "responses"),
        (r"/responses/input_tokens", COUNT, "responses"),
        (r"/responses/compact", COMPACT, "responses"),
        (r"/messages", CREATE, "messages"),
        (r"/messages/count_tokens", COUNT, "messages"),
        (r"/messages/batches(?P<tail>(?:/[^/]+(?:/cancel|/results)?)?)", BATCHES, "messages"),
        (r"/batches(?P<tail>(?:/[^/]+(?:/cancel)?)?)", BATCHES, None),
        (r"/(?:responses|chat/completions|messages|batches)/.+", ELSEWHERE, None),
        (r"/files(?P<tail>/[^/]+/content)", ELSEWHERE, None),
        (r"/(?:completions|complete|moderations|converse|converse-stream|invoke|chat|generate|embed)", ELSEWHERE, None),
        (r"/(?:images|audio|files|uploads|fine_tuning|vector_stores|videos|realtime)(?:/.*)?", ELSEWHERE, None),
        (r"/(?:threads|assistants|conversations|containers|evals|skills)(?:/.*)?", ELSEWHERE, None),
        (r"/[^/:]+:[A-Za-z]+", ELSEWHERE, None),
        (r"/embeddings", EMBEDDINGS, None),
        (r"/rerank", RERANK, None),
        (r"/models(?P<tail>(?:/[^:]+)?)", MODELS, None),
    )
]
_URL = re.compile(r"(?P<origin>(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#]*)?(?P<path>[^?#]*)(?P<query>(?:\?[^#]*)?)")
_AZURE_HOST = re.compile(r".+\.(?:openai|cognitiveservices|services\.ai)\.azure\.com(?::\d+)?", re.IGNORECASE)
_DEPLOYMENT = re.compile(r"(?P<prefix>(?:/[^/]+)*?/openai)/deployments/(?P<model>[^/]+)(?P<rest>/.+)")
_BEDROCK = re.compile(r"/model/(?P<model>[^/]+)/invoke(?P<streamed>-with-response-stream)?")
_VERTEX = re.compile(r"/.+/publishers/anthropic/models/(?P<model>[^/:]+):(?:r|(?P<streamed>streamR))awPredict")

_WRITTEN = {
    (CREATE, "chat"): "/chat/completions",
    (CREATE, "responses"): "/responses",
    (CREATE, "messages"): "/messages",
    (COUNT, "responses"): "/responses/input_tokens",
    (COUNT, "messages"): "/messages/count_tokens",
    (COMPACT, "responses"): "/responses/compact",
    (COMPACT, "messages"): "/messages",
    (BATCHES, "chat"): "/batches",
    (BATCHES, "responses"): "/batches",
    (BATCHES, "messages"): "/messages/batches",
    **{(MODELS, protocol): "/models" for protocol in VENDOR},
    **{(EMBEDDINGS, protocol): "/embeddings" for protocol in ("chat", "responses")},
    (RERANK, "chat"): "/rerank",
}


def address(url: str) -> Address:
    """What a URL, or a path alone, means; for whatever text."""
    found = _URL.match(url)
    if not found or len(url) > _LONGEST:
        return Address(UNKNOWN)
    known = _of_path(re.sub("//+", "/", found["path"]).rstrip("/"))._replace(
        origin=found["origin"] or "", query=found["query"]
    )
    return known._replace(cloud="azure") if _AZURE_HOST.fullmatch(known.host) else known


def _of_path(path: str) -> Address:
    for pattern, cloud in ((_BEDROCK, "bedrock"), (_VERTEX, "vertex")):
        if found := pattern.fullmatch(path):
            if found["model"] == "count-tokens":
                return Address(COUNT, "messages", cloud=cloud)
            return Address(
                CREATE, "messages", cloud=cloud, model=unquote(found["model"]), streamed=bool(found["streamed"])
            )
    if found := _DEPLOYMENT.fullmatch(path):
        known = _of_path(found["rest"])
        return known._replace(prefix=found["prefix"], cloud="azure", model=unquote(found["model"]))
    for pattern, call, protocol in _PATHS:
        if found := pattern.fullmatch(path):
            return Address(call, protocol, prefix=found["prefix"], tail=found.groupdict().get("tail") or "")
    return Address(UNKNOWN)


def protocol_of(url: str) -> str | None:
    """The protocol whose create call stands at this URL; None for every other call."""
    known = address(url)
    return known.protocol if known.call == CREATE else None


def results_of_batch(known: Address) -> Address:
    """The address of the content of a file, which is known to be the results of a batch, as that of the results.

    Where one vendor names a batch and the other a file, the id passes through: no capture of the one tells the other.
    """
    if known.call != ELSEWHERE or not known.tail.endswith(CONTENT):
        return known
    return known._replace(call=BATCHES, tail=known.tail.removesuffix(CONTENT) + RESULTS)


def has_call(call: str, protocol: str) -> bool:
    """Does the protocol have such a call at all?"""
    return (call, protocol) in _WRITTEN


def written(known: Address, source: str, target: str, model: str | None = None) -> str:
    """The URL of the same call in the target protocol.

    Within a vendor host, prefix and query stay. Across vendors the vendor's host becomes the other's and the query is
    left out; a host that belongs to neither (a gateway) stays. `model` is the deployment, where Azure wants one.
    """
    path = _WRITTEN[known.call, target] + known.tail
    if known.call == BATCHES and known.tail.endswith(RESULTS) and VENDOR[target] == OPENAI:
        path = f"/files{known.tail.removesuffix(RESULTS)}{CONTENT}"
    if VENDOR[source] == VENDOR[target]:
        if known.cloud == "azure" and known.prefix.endswith("/openai") and target == "chat" and model:
            path = f"/deployments/{quote(model, safe='')}{path}"
        return known.origin + known.prefix + path + known.query
    host = HOST[VENDOR[target]]
    if known.cloud:
        return f"https://{host}/v1{path}" if known.origin else f"/v1{path}"
    origin = known.origin
    if re.fullmatch(rf"(?:.+\.)?{re.escape(HOST[VENDOR[source]])}(?::\d+)?", known.host, re.IGNORECASE):
        origin = origin[: len(origin) - len(known.host)] + host
    return origin + known.prefix + path


_SECRET_QUERY = re.compile(
    r"([?&](?:key|api[-_]?key|token|access[-_]?token|auth|sig|signature|password|secret"
    r"|x-(?:amz|goog)-(?:signature|credential|security-token))=)[^&#]*",
    re.IGNORECASE,
)
_SECRET_USER = re.compile(r"^((?:[A-Za-z][A-Za-z0-9+.-]*:)?//)[^/?#]*@")


def covered(url: str) -> str:
    """The URL with whatever may be a credential in it replaced."""
    return _SECRET_USER.sub(rf"\1{REDACTED}@", _SECRET_QUERY.sub(rf"\1{REDACTED}", url))
