"""What the place of a value tells about it: keys and headers that name secrets, and words that are no text.

Words of protocols are taken from their tables, by the terms that they mean.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from .. import protocols, text
from ..exchange.credentials import is_secret
from ..exchange.headers import REQUEST, RESPONSE, SAME, SIZES
from ..ledger import Path
from ..protocols import PROTOCOLS
from ..tables import Field, Gap, Word, rules
from . import secrets

CREDENTIAL, ACCOUNT, COOKIE, OPAQUE, HEADER = "credential", "account-id", "cookie", "signature", "header"

# Terms whose values are words of a protocol, names or ids.
_WORDS = {
    "model", "type", "role", "status", "phase", "effort", "thinking_display", "reasoning_context", "reasoning_mode",
    "verbosity", "service_tier", "truncation", "include", "modalities", "stop_reason", "mode", "format_type", "syntax",
    "ttl", "cache_ttl", "cache_mode", "prompt_cache_retention", "detail", "media_type", "audio_format", "call_id",
    "item_id", "id", "name", "service", "namespace", "version", "betas", "code", "error_type", "param", "request_id",
    "file_id", "previous_response_id", "conversation", "system_fingerprint", "speed", "inference_geo", "caller",
    "allowed_callers", "container", "created", "completed", "comparison_response_id", "category", "stop_details",
}  # fmt: skip
# The same for the keys of schemas, of exchanges and of archives.
_PLAIN = {
    "object", "format", "required", "$ref", "$schema", "$id", "pattern", "method", "httpversion", "http_version",
    "mimetype", "mime_type", "encoding", "charset", "starteddatetime", "recorded_at", "recorded_with", "pageref",
    "connection", "custom_id", "version", "event", "eventname", "statustext", "protocol", "response_id", "tool_use_id",
    "item_id", "message_id", "container_id", "file_id", "server_label", "created_at", "completed_at", "expires_at",
    "started_at", "ended_at", "native_finish_reason", "provider", "obfuscation", "kind", "operation", "reason",
    "tool_name", "server_name", "mcp_server_name", "paths",
}  # fmt: skip
_WORD = re.compile(r"[^\s]{1,256}")
# What is put where a secret is asked for and none is needed.
_COMMON = {
    "anthropic", "anything", "azure", "bearer", "bedrock", "changeme", "default", "example", "google", "litellm",
    "localhost", "lm-studio", "not-needed", "notneeded", "ollama", "openai", "optional", "password",
    "placeholder", "provided", "redacted", "required", "secret", "unknown", "unused", "value", "your-api-key",
}  # fmt: skip
_MEDIA_TYPE = re.compile(r"[\w.+*-]{1,64}/[\w.+*-]{1,64}(?:\s?;\s?[\w-]{1,32}=[\w\"-]{1,32})*")
# Keys under which an object is the caller's own: nothing in it is a word of a protocol.
_FREE = {"input", "arguments", "metadata", "variables", "input_examples", "examples"}

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SECRET_KEY = re.compile(
    r"(?:.*_)?(?:api_?key|secret_?key|access_?key(?:_id)?|private_?key|signing_?key|encryption_?key|subscription_?key"
    r"|secret|password|passwd|passphrase|pwd|authorization|credentials?|(?:set_)?cookies?|connection_string"
    r"|(?:auth|access|refresh|id|session|security|bearer|bot|api|csrf|xsrf|oauth|identity)_?token)"
)
_TOKEN_KEY = re.compile(r"(?:.*_)?(?:token|sas|signature_key|webhook(?:_url)?)")
# What may be a key by its form, where its name alone does not tell.
_KEYLIKE = re.compile(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])\S{8,}|\S{16,}")
_ACCOUNT_KEY = re.compile(
    r"(?:.*_)?(?:user|account|org|organi[sz]ation|project|tenant|customer|device|installation|machine|workspace|team"
    r"|member|subscriber|owner|profile|session|client)_?(?:profile_?)?(?:id|uuid|identifier)"
    r"|user|safety_identifier|(?:.*_)?organi[sz]ation|(?:.*_)?e_?mail(?:_address)?|(?:.*_)?phone(?:_number)?"
    r"|(?:.*_)?ip(?:_?address)?|remote_addr|x_forwarded_for|x_real_ip|forwarded|openai_project|created_by"
)
_OPAQUE_KEY = re.compile(r"encrypted_\w+|(?:.*_)?signature")
# Headers whose values say nothing of anybody, beside those that proxai itself reads.
_SEEN_HEADER = re.compile(
    r"x-(?:ratelimit|stainless|robots|content|frame|powered|cache|served|should|xss)-?.*|x-envoy-upstream-.*"
    r"|anthropic-(?:version|beta|model|(?:ratelimit|dangerous|priority|fast)-.*)"
    r"|openai-(?:version|beta|model|poweredby|processing-ms)|x-(?:app|accel-buffering|goog-api-client|groq-region)"
    r"|accept.*|content-.*|access-control-.*|cross-origin-.*|cache-.*|sec-(?:fetch|ch|gpc|websocket)-?.*"
    r"|cf-(?:ray|cache-status)|server|connection|proxy-connection|user-agent|via|allow|range|trailer|expect|priority"
    r"|(?:x-)?request-id|x-amzn-requestid|apim-request-id|x-ms-(?:region|request-id)|traceparent|(?:x-)?idempotency-key"
    r"|strict-transport-security|alt-svc|pragma|nel|report-to|server-timing|keep-alive|te|upgrade.*|dnt"
    r"|(?:referrer|permissions)-policy|if-(?:none-)?match|if-modified-since|last-event-id"
    r"|:(?:method|scheme|authority|path|status)"
)
# Besides those that are credentials for the rest of the program.
_SECRET_HEADER = re.compile(r"(?:.*[-_])?(?:key|pat|vk|jwt|session|sid|pass|passwd|passcode|pwd|pin|otp|cred|bearer)")
_HEADS = {"headers", "header", "request_headers", "response_headers", "extra_headers", "http_headers"}
_HIDDEN_NAME = re.compile(
    r"(?:x-)?forwarded(?:-(?:for|user|email|groups|preferred-username|client-cert))?|x-real-ip|cf-connecting-ip"
    r"|true-client-ip|from|x-goog-user-project|remote-user"
)


class Place(NamedTuple):
    """Where a value stands: its path from the root of the capture, the object or list that holds it, and whether that
    is the caller's own data, in which nothing is a word of a protocol."""

    path: Path
    home: Any = None
    free: bool = False

    @property
    def key(self) -> str:
        """The last key on the way; positions in lists have none."""
        for step in reversed(self.path):
            if isinstance(step, str):
                return step
        return ""

    @property
    def header(self) -> str | None:
        """The name of the header, in lower case, that the value is one of."""
        if isinstance(self.home, dict) and self.path[-1:] == ("value",) and isinstance(self.home.get("name"), str):
            return None if "cookies" in self.path else str(self.home["name"]).lower()
        for at, step in enumerate(self.path[:-1]):
            if isinstance(step, str) and step.lower() in _HEADS and self.path[at - 1 : at] != ("properties",):
                below = self.path[at + 1 :]
                if isinstance(below[0], str):
                    return below[0].lower()
                if len(below) == 2 and below[1] == 1 and isinstance(self.home, list) and isinstance(self.home[0], str):
                    return self.home[0].lower()
        return None

    @property
    def in_head(self) -> bool:
        """Is it inside a head, and not a pair in a query or in somebody's data?"""
        return any(isinstance(step, str) and step.lower() in _HEADS for step in self.path)

    @property
    def is_head(self) -> bool:
        """Is it a raw head, or a line of one?"""
        return self.key.lower() in _HEADS


@lru_cache(maxsize=4096)
def plain(key: str) -> str:
    """A key in the one spelling that the rules here know."""
    return _CAMEL.sub("_", key).lower().replace("-", "_").replace(".", "_")


def named(place: Place, value: str) -> str | None:
    """What kind of secret the key of a value names, if it names one."""
    key = plain(place.key)
    if key == "value" and any(plain(step) == "cookies" for step in place.path if isinstance(step, str)):
        return COOKIE
    in_log = isinstance(place.home, dict) and "logprob" in place.home
    names_secret, may_be_token, names_closed, names_account = _matched(key)
    if names_secret:
        return COOKIE if "cookie" in key else CREDENTIAL
    if may_be_token and not in_log and _KEYLIKE.fullmatch(value):
        return CREDENTIAL
    if names_closed or key in _signatures() or _is_closed(place):
        return OPAQUE
    return ACCOUNT if names_account and not re.search(r"\s", value.strip()) else None


@lru_cache(maxsize=4096)
def _matched(key: str) -> tuple[bool, ...]:
    return tuple(form.fullmatch(key) is not None for form in (_SECRET_KEY, _TOKEN_KEY, _OPAQUE_KEY, _ACCOUNT_KEY))


def named_header(name: str) -> str | None:
    """The same for a header; its name is in lower case."""
    if is_secret(name) or secrets.QUERY_NAME.fullmatch(name):
        return COOKIE if "cookie" in name else CREDENTIAL
    if _SEEN_HEADER.fullmatch(name) and not _ACCOUNT_KEY.fullmatch(plain(name)):
        return None
    if _HIDDEN_NAME.fullmatch(name) or _ACCOUNT_KEY.fullmatch(plain(name)):
        return ACCOUNT
    return CREDENTIAL if _SECRET_HEADER.fullmatch(name) else None


def is_known_header(name: str) -> bool:
    """Is the value of this header no text of anybody?"""
    return _SEEN_HEADER.fullmatch(name) is not None or name in _headers()


def is_common(value: str) -> bool:
    """Is it a word that stands in protocols, or for a secret where none is needed?"""
    return value.lower() in _COMMON or value in _listed_words() or value in _words()


def is_word(place: Place, value: str) -> bool:
    """Is it a word of a protocol, a name or an id, and no text?"""
    key = place.key
    if place.free or not (_WORD.fullmatch(value) or (key == "mimeType" and _MEDIA_TYPE.fullmatch(value))):
        return False
    if key == "name" and isinstance(place.home, dict) and "role" in place.home:
        return False  # a person's
    return key in _words() or key.lower() in _PLAIN or key.endswith("_id") or (key, value) in _listed()


def is_free(path: Path, homes: Sequence[Any]) -> bool:
    """Does the path lead through an object that is the caller's own? `homes` are the values on the way."""
    for step, below, home in zip(path, path[1:], homes, strict=False):
        # The input of a call is an object beside its name; that of a request is a list.
        if (
            step in _FREE
            and isinstance(below, str)
            and (step != "input" or (isinstance(home, dict) and "name" in home))
        ):
            return True
    return False


def _is_closed(place: Place) -> bool:
    """Is it the payload of reasoning that only the vendor can read?"""
    kind = place.home.get("type") if isinstance(place.home, dict) else None
    return isinstance(kind, str) and ((place.key, kind) in _closed() or (place.key == "data" and "encrypted" in kind))


@cache
def _words() -> frozenset[str]:
    found = set()
    for protocol in PROTOCOLS.values():
        for _, rule in rules(protocol):
            if isinstance(rule, Word) or (not isinstance(rule, Gap) and getattr(rule, "term", None) in _WORDS):
                found.add(rule.name)
    return frozenset(found)


@cache
def _listed() -> frozenset[tuple[str, str]]:
    """Pairs of a key and a word, as the published schemas list them."""
    found = set()
    for protocol in PROTOCOLS:
        todo = [("", text.loads(files(protocols).joinpath(protocol, "schema.json").read_bytes()))]
        while todo:
            key, node = todo.pop()
            if isinstance(node, dict):
                said = [*node.get("enum", ()), node.get("const")] if key else []
                found |= {(key, word) for word in said if isinstance(word, str)}
                for name, inner in node.items():
                    if name == "properties" and isinstance(inner, dict):
                        todo += inner.items()
                    else:
                        todo.append((key, inner))
            elif isinstance(node, list):
                todo += [(key, inner) for inner in node]
    return frozenset(found)


@cache
def _listed_words() -> frozenset[str]:
    return frozenset(word for _, word in _listed())


@cache
def _signatures() -> frozenset[str]:
    terms = ("signature", "encrypted_index")
    said = [rule for protocol in PROTOCOLS.values() for _, rule in rules(protocol) if isinstance(rule, Field)]
    return frozenset(rule.name for rule in said if rule.term in terms)


@cache
def _closed() -> frozenset[tuple[str, str]]:
    """Pairs of a key and the type beside it."""
    found = set()
    for protocol in PROTOCOLS.values():
        for table in protocol.tables.values():
            if table.kind == "redacted":
                types = [rule.word for rule in table.rules if isinstance(rule, Word)]
                names = [rule.name for rule in table.rules if isinstance(rule, Field) and rule.term == "data"]
                found |= {(name, word) for name in names for word in types}
    return frozenset(found)


@cache
def _headers() -> frozenset[str]:
    tables = [table for vendors in (REQUEST, RESPONSE) for table in vendors.values()]
    return frozenset(name for table in tables for name in table.by_name) | SAME | SIZES
