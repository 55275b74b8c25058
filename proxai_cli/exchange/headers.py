"""Which header means what in which vendor's traffic, both ways (`spec/http.md` §2, §3).

OpenAI's headers are those of `chat` and `responses`, Anthropic's those of `messages`. Times are converted exactly, with
the captured `date` as their now.
"""

import re
from typing import Any, NamedTuple

from ..context import Context
from ..endpoints.address import ANTHROPIC, OPENAI, VENDOR
from ..endpoints.times import duration, http_date, instant, spelled_duration, spelled_instant
from ..ledger import Leaf, Writer
from ..tables import TEXT, Dropped, Field, Gap, Table
from .credentials import as_bearer, bare, covered, is_secret
from .heads import Head, Header, HeadWriter, read_head

VERSION = "2023-06-01"
OLD_VERSION = "2023-01-01"

LARGEST = 64 << 10
LONGEST_REQUEST_ID = 512

# Between reading and writing a reset is the moment at which it comes, as Anthropic says it.


def _moment(leaf: Leaf, context: Context) -> Leaf:
    length, now = duration(leaf.value), http_date(context.headers.get("date"))
    moment = spelled_instant(now + length) if length is not None and now is not None else None
    return leaf if moment is None else leaf.to(moment, "time-form")


def _same_moment(leaf: Leaf, context: Context) -> Any:
    return leaf if instant(leaf.value) is not None else Dropped("no-equivalent")


def _length(leaf: Leaf, context: Context) -> Any:
    moment, now = instant(leaf.value), http_date(context.headers.get("date"))
    if moment is None or now is None:
        return Dropped("no-equivalent")
    return leaf.to(spelled_duration(moment - now), "time-form")


REQUEST = {
    OPENAI: Table(
        "head",
        OPENAI,
        Field("authorization", "credential", TEXT, bare, as_bearer),
        Field("api-key", "credential", TEXT, bare),
        Field("x-api-key", "credential", TEXT, bare),
        Field("x-client-request-id", "client_request_id"),
        Field("openai-organization", "organization"),
        Field("openai-project", "project"),
        Field("openai-beta", "openai_beta"),
        Gap("version", "target-default"),
        Gap("workspace", "foreign-id"),
        Gap("user_profile", "foreign-id"),
        Gap("browser_access", "noise"),
    ),
    ANTHROPIC: Table(
        "head",
        ANTHROPIC,
        Field("x-api-key", "credential", TEXT, bare),
        Field("authorization", "credential", TEXT, bare),
        Field("anthropic-version", "version"),
        Field("anthropic-beta", "betas"),
        Field("anthropic-workspace-id", "workspace"),
        Field("anthropic-user-profile-id", "user_profile"),
        Field("anthropic-dangerous-direct-browser-access", "browser_access"),
        Gap("organization", "foreign-id"),
        Gap("project", "foreign-id"),
        Gap("openai_beta", "target-default"),
    ),
}


def _limits(term: str, *names: str) -> list[Field]:
    """The three fields of one rate limit; `*` in its names stands for limit, remaining and reset."""
    reset = (_moment, _length) if names[0].startswith("x-") else (None, _same_moment)
    return [
        Field(name.replace("*", what), f"{term}_{what}", TEXT, *(reset if what == "reset" else ()))
        for what in ("limit", "remaining", "reset")
        for name in names
    ]


RESPONSE = {
    OPENAI: Table(
        "head",
        OPENAI,
        Field("x-request-id", "request_id"),
        Field("openai-organization", "openai_organization"),
        Field("openai-version", "openai_version"),
        Field("openai-processing-ms", "processing_time"),
        *_limits("requests", "x-ratelimit-*-requests"),
        *_limits("tokens", "x-ratelimit-*-tokens"),
        *_limits("project_tokens", "x-ratelimit-*-project-tokens"),
        Gap("organization", "foreign-id"),
        Gap("workspace", "foreign-id"),
    ),
    ANTHROPIC: Table(
        "head",
        ANTHROPIC,
        Field("request-id", "request_id"),
        Field("anthropic-organization-id", "organization"),
        Field("anthropic-workspace-id", "workspace"),
        Gap("openai_organization", "foreign-id"),
        *_limits("requests", "anthropic-ratelimit-requests-*"),
        *_limits("tokens", "anthropic-ratelimit-tokens-*", "anthropic-ratelimit-input-tokens-*"),
        *_limits("output_tokens", "anthropic-ratelimit-output-tokens-*"),
        Gap("openai_version", "target-default"),
    ),
}
# What both vendors say alike, in requests and responses.
SAME = {
    "accept", "accept-language", "age", "cache-control", "content-language", "content-type", "date", "etag", "expires",
    "host", "last-modified", "origin", "referer", "retry-after", "retry-after-ms", "vary", "x-should-retry",
}  # fmt: skip
# What tells of the bytes of a body.
SIZES = {"content-length", "content-encoding", "transfer-encoding"}
# What belongs to the connection, the client library or a server in between, and to no protocol.
NOISE = re.compile(
    r"user-agent|server|via|connection|keep-alive|transfer-encoding|te|trailer|upgrade|content-(?:length|encoding)"
    r"|accept-(?:encoding|ranges)|idempotency-key|expect|priority|pragma|alt-svc|nel|report-to|reporting-endpoints|dnt"
    r"|strict-transport-security|x-content-type-options|x-robots-tag|server-timing|traceparent|tracestate|baggage"
    r"|x-(?:stainless|forwarded|envoy|real|b3|cloud|amzn|amz|azure|ms|datadog|powered|frame|xss)(?:-.*)?"
    r"|(?:cf|sec|access-control|x-ms|apim|azureml|sentry)-.*"
)


class Frame(NamedTuple):
    """What the rest of a half says about its headers: is a stream asked for, the media type of the target's body, the
    host of its URL, the beta features that its body uses, and the request id that the source's body said."""

    streamed: bool = False
    media: str | None = None
    host: str | None = None
    betas: tuple[str, ...] = ()
    request_id: Leaf | None = None


def write_head(
    half: dict[str, Any], tables: dict[str, Table], source: str, target: str, w: Writer, context: Context, frame: Frame
) -> None:
    """Headers to another protocol; `tables` are REQUEST or RESPONSE."""
    if not half["headers"] or not isinstance(half["headers"], (dict, list)):
        w.put("headers", Leaf(half, "headers"))  # none were captured
        return
    head, writer = read_head(half), HeadWriter(w, half)
    ours, theirs = tables[VENDOR[source]], tables[VENDOR[target]]
    present = {header.name for header in head.headers}
    for header in head.headers:
        why = _write_header(header, ours, theirs, writer, context, frame, present)
        if why is not None:
            for leaf in header.leaves():
                w.ledger.drop(leaf, why)
    for leaf in head.odd:
        w.ledger.drop(leaf, "unknown-field")
    if frame.streamed:
        writer.make("accept", "text/event-stream", "required-by-target")
    if tables is REQUEST and theirs.protocol == ANTHROPIC:
        writer.make("anthropic-version", context.choice("anthropic-version", VERSION), "required-by-target")
        if frame.betas:
            writer.make("anthropic-beta", ",".join(frame.betas), "required-by-target")
    if frame.request_id is not None:
        writer.add("x-request-id", frame.request_id)
    writer.close()


def _write_header(
    header: Header, ours: Table, theirs: Table, writer: HeadWriter, context: Context, frame: Frame, present: set[str]
) -> str | None:
    """Write one header, or say why it is dropped."""
    rule = ours.by_name.get(header.name)
    if ours is theirs:
        if header.name in SIZES:
            return "noise"
        writer.put(header, header.name, covered(header.name, header.value, context))
    elif isinstance(rule, Field):
        return _write_known(header, rule, ours, theirs, writer, context, present)
    elif header.name in SAME:
        writer.put(header, header.name, _same(header, frame))
    elif is_secret(header.name):
        return "foreign-id"
    elif NOISE.fullmatch(header.name):
        return "noise"
    elif context.chosen("keep-unknown"):
        writer.put(header, header.name, header.value)
    else:
        return "unknown-field"
    return None


def _write_known(
    header: Header, rule: Field, ours: Table, theirs: Table, writer: HeadWriter, context: Context, present: set[str]
) -> str | None:
    if not header.value.value:
        return "target-default"
    preferred, there = ours.by_term[rule.term], theirs.by_term.get(rule.term)
    if isinstance(preferred, Field) and preferred.name != rule.name and preferred.name in present:
        return "duplicate" if rule.term == "credential" else "no-equivalent"
    if isinstance(there, Gap):
        return there.why
    if not isinstance(there, Field):
        return "no-equivalent"
    said = rule.read(header.value, context) if rule.read else header.value
    said = there.write(said, context) if there.write else said
    if isinstance(said, Dropped):
        return said.why
    writer.put(header, there.name, said)
    return None


def _same(header: Header, frame: Frame) -> Leaf:
    value = header.value
    if header.name == "host" and frame.host and value.value.lower() != frame.host.lower():
        return value.to(frame.host, "respelled")
    if header.name == "content-type" and frame.media and not value.value.lower().startswith(frame.media):
        return value.to(frame.media, "respelled")
    return value


# Findings


_BETA = re.compile(r"[a-z0-9][a-z0-9.-]*-\d{4}-\d\d-\d\d")


def judge_request(head: Head, source: str, cloud: str | None, context: Context) -> None:
    """Findings about captured request headers that the vendor would answer with an error (`bad-header`)."""
    said = head.values()
    if not said:
        return

    def bad(name: str) -> None:
        context.find("bad-header", ("headers", name))

    ours, others = REQUEST[VENDOR[source]], [table for vendor, table in REQUEST.items() if vendor != VENDOR[source]]
    for name in said:
        if name not in ours.by_name and any(name in table.by_name for table in others):
            context.find("address-says-otherwise", ("headers", name))
    if VENDOR[source] == ANTHROPIC:
        version = said.get("anthropic-version")
        if (version is None and cloud is None) or (version is not None and "," in version):
            bad("anthropic-version")
        betas = said.get("anthropic-beta")
        if betas is not None and not all(_BETA.fullmatch(each.strip()) for each in betas.split(",")):
            bad("anthropic-beta")
    else:
        if said.get("openai-organization") == "":
            bad("openai-organization")
        own = said.get("x-client-request-id", "")
        if len(own) > LONGEST_REQUEST_ID or not own.isascii():
            bad("x-client-request-id")
    if sum(len(f"{name}: {value}\r\n".encode("utf-8", "replace")) for name, value in said.items()) >= LARGEST:
        context.find("bad-header", ("headers",))


def needed_betas(body: Any) -> tuple[str, ...]:
    """The beta headers that a Messages request needs for what it uses (`spec/http.md` §4)."""
    if not isinstance(body, dict):
        return ()
    tools, edits = _types(body.get("tools")), _types(_inside(body, "context_management", "edits"))
    uses = {
        "mcp-client-2025-11-20": bool(body.get("mcp_servers")) or "mcp_toolset" in tools,
        "computer-use-2025-11-24": "computer_20251124" in tools,
        "compact-2026-01-12": any(edit.startswith("compact_") for edit in edits),
        "compact-2026-09-04": bool(body.get("compaction")),
        "task-budgets-2026-03-13": bool(_inside(body, "output_config", "task_budget")),
    }
    return tuple(beta for beta, used in uses.items() if used)


def _inside(body: dict[str, Any], *path: str) -> Any:
    value: Any = body
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _types(things: Any) -> list[str]:
    found = [each.get("type") for each in things if isinstance(each, dict)] if isinstance(things, list) else []
    return [kind for kind in found if isinstance(kind, str)]
