"""Secrets as data: how credentials and ids of accounts look in free text, wherever they stand.

The facts (prefixes, alphabets, lengths) are those of the default rules of gitleaks, `config/gitleaks.toml` at commit
009e025ad410, where no other source stands beside a row. The patterns are written anew and ask for less: a key that is
cut off or a little longer is one all the same. Nothing here knows where a text stands.
"""

import re
from functools import cache, lru_cache
from typing import NamedTuple

from .filler import is_filler


class Kind(NamedTuple):
    """One kind of secret: what stands before it, and the secret itself.

    Where `own` holds, what stands before it is the secret's own prefix, by which it stays known; else it is other text.
    `sign` is what must occur in the text in lower case before it is worth to look; there is none where the prefix
    tells, which stands apart from other letters. No two of these prefixes begin alike.
    """

    name: str
    before: str
    body: str
    sign: str = ""
    own: bool = True


class Hit(NamedTuple):
    """A secret in a text: the place of its own prefix, of its body, and its end."""

    start: int
    body: int
    end: int
    kind: str


# What makes a name a live key: a digit, or the mark of one that was replaced.
_LIVE = r"(?=[\w-]*?(?:\d|redacted))"
_APART = r"(?<![A-Za-z0-9_])"

_NAMES = r"(?:secret|token|passw(?:or)?d|passphrase|credentials?|authorization|key)"
_SETS = r"""(?:["'\\]{1,3}|\b)\s{0,2}(?::=|=>|=|:)"""
_NAMED = (
    r"(?i:(?:api|access|account|secret|private|encryption|signing|subscription)[ _-]?key|secret|token"
    rf"|passw(?:or)?d|passphrase|credentials?|authorization){_SETS}"
    r"""[\s"'\\]{0,4}"""
)

# Names of credentials in queries; those of signed URLs are the ones of S3 and of Cloud Storage.
_QUERY = (
    r"(?:api[-_]?key|key|(?:access|auth|id|refresh|session)?[-_]?token|auth|sig|signature|password|secret|code"
    r"|client[-_]secret|session(?:[-_]?id)?|sid|state|pass\w*|pwd|jwt|credentials?"
    r"|x-(?:amz|goog)-(?:signature|credential|security-token))"
)
QUERY_NAME = re.compile(_QUERY, re.IGNORECASE)
# What stands between a password and its name in a text, and what stands there instead of one; none is endless, so that
# no text takes long.
_SAYS = r"""(?:["'`\\]{0,3}\s{0,2}(?::=|=>|==?|:|%3[AD])|\s{1,3}(?:is|was)\b:?)[\s"'`\\]{0,4}"""
_NO_PASSWORD = (
    r"(?!(?:an?|any|are|be|been|being|by|correct|empty|expired|false|for|from|hashed|if|in|incorrect|input|int|invalid"
    r"|is|it|long|missing|my|never|no|none|not|now|null|of|ok|on|only|optional|or|password|provided|required|reset"
    r"|same|set|short|stored|str|string|text|that|the|this|to|too|true|type|undefined|used|valid|weak|what|when|wrong"
    r"|your)\b)"
)
_PASSWORD = r"""[^\s"'`<>(){}\[\]$&,;\\%]{3,200}[^\s"'`<>(){}\[\]$&,;\\%.:!?](?![^\s"'`<>){}\]$&,;\\%.:!?])(?!\()"""

KINDS = (
    Kind("anthropic-key", r"sk-ant-(?:[a-z]+\d*-)?+", r"[\w-]{16,}"),
    # TruffleHog, pkg/detectors/openrouter.
    Kind("openrouter-key", r"sk-or-(?:v\d+-)?+", r"[\w-]{16,}"),
    # Longer ones: gitleaks, pull request 2240. `None` stands in keys with the mark T3BlbkFJ in public code.
    Kind("openai-key", r"sk-(?:proj-|svcacct-|admin-|None-)?+(?!ant-|or-)", _LIVE + r"[\w-]{16,}"),
    # TruffleHog, pkg/detectors/groq and xai.
    Kind("groq-key", "gsk_", r"\w{20,}"),
    Kind("xai-key", "xai-", r"\w{20,}"),
    Kind("perplexity-key", "pplx-", r"\w{20,}"),
    Kind("huggingface-token", "(?:hf|api_org)_", r"[A-Za-z0-9]{24,}"),
    # TruffleHog, pkg/detectors/replicate.
    Kind("replicate-token", "r8_", r"\w{30,}"),
    Kind("databricks-token", "dapi", _LIVE + r"\w{32}"),
    Kind("google-key", "AIza", r"[\w-]{30,}"),
    # TruffleHog, pkg/detectors/googleoauth2, and its pull request 5030 for the secrets of clients.
    Kind("google-token", r"(?:ya29\.|GOCSPX-)", r"[\w-]{20,}"),
    Kind("azure-secret", "", r"(?<![\w~.])[A-Za-z0-9_~.]{3}\dQ~[\w~.-]{31,34}", "q~"),
    Kind("aws-key", "(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)", r"[A-Z0-9]{16}\b"),
    Kind("github-token", "gh[pousr]_", r"\w{22,}"),
    Kind("github-token", "github_pat_", r"\w{22,}"),
    Kind("gitlab-token", "gl(?:pat|dt|ft|rt|ptt|soat|cbt|agent|oas|imt|ffct)-", r"[\w.-]{20,}"),
    Kind("gitlab-token", "GR1348941", r"[\w-]{20,}"),
    Kind("slack-token", r"(?:xox[abeoprs]-|xoxe\.xox[bp]-|xapp-)", r"[\w-]{10,}"),
    Kind("slack-webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/", r"[\w+/]{20,}"),
    # Webhook secrets: docs of Trigger.dev, "Set a webhook signing secret".
    Kind("stripe-key", "(?:[rs]k_(?:test|live|prod)_|whsec_)", r"\w{10,}"),
    Kind("npm-token", "npm_", r"[A-Za-z0-9]{36}"),
    Kind("pypi-token", "pypi-", r"[\w-]{50,}"),
    Kind("rubygems-token", "rubygems_", r"\w{48}"),
    Kind("digitalocean-token", "do[opr]_v1_", r"\w{40,}"),
    Kind("sendgrid-token", r"SG\.", r"[\w.=-]{40,}"),
    Kind("shopify-token", "shp(?:at|ca|pa|ss)_", r"\w{32}"),
    Kind("twilio-key", "SK", r"(?:[0-9a-f]{32}|redacted\w{24})\b"),
    Kind("telegram-token", r"(?=\d{5,16}:A)", r"\d{5,16}:A[\w-]{34}"),
    Kind("vault-token", r"hv[bs]\.", r"[\w-]{80,}"),
    Kind("grafana-token", "gl(?:c|sa)_", r"[\w+/=]{30,}"),
    Kind("planetscale-token", "pscale_(?:tkn|oauth|pw)_", r"[\w=.-]{32,}"),
    Kind("postman-key", "PMAK-", r"[\w-]{50,}"),
    Kind("pulumi-token", "pul-", _LIVE + r"\w{40}"),
    Kind("linear-key", "lin_api_", r"\w{40}"),
    Kind("notion-token", "ntn_", r"\w{40,}"),
    Kind("sentry-token", "sntry[su]_", r"[\w+/=-]{40,}"),
    Kind("square-token", "(?:EAAA|sq0atp-)", _LIVE + r"[\w-]{22,}"),
    Kind("fly-token", "(?:fo1_|fm[12][ar]?_)", r"[\w+/=-]{40,}"),
    Kind("newrelic-key", "NR(?:AK|II|JS)-", r"[\w-]{19,}"),
    Kind("atlassian-token", "ATATT3", r"[\w=-]{100,}"),
    Kind("artifactory-key", "(?:AKCp|cmVmd)", r"[A-Za-z0-9]{59,}"),
    Kind("onepassword-token", "(?:ops_eyJ|A3-)", r"[\w+/=-]{28,}"),
    Kind("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{58}"),
    Kind("jwt", "eyJ", r"[\w-]{8,}(?:\.[\w-]*){2,4}"),
    Kind(
        "private-key",
        r"-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----",
        r"(?:(?!-----)[A-Za-z0-9+/=\s\\:,-]){16,}",
        "-----begin",
    ),
    # detect-secrets, plugins/basic_auth.py; RFC 3986, 3.2.1.
    Kind("url-credential", r"://", r"""[^\s/?#@"'<>\\]+(?=@)""", "://", own=False),
    Kind(
        "url-credential",
        rf"[?&](?i:{_QUERY})=",
        r"""[^&#\s"'<>\\]+""",
        "[?&]",
        own=False,
    ),
    # gitleaks, curl-auth-header; below: generic-api-key.
    Kind("credential", r"\b(?i:bearer|basic)\s{1,3}", _LIVE + r"[\w.~+/=-]{8,}", "bearer|basic", own=False),
    Kind(
        "credential",
        _NAMED + r"(?!AWS4-HMAC-SHA256 )",
        r"(?=[\w.+/=~-]{0,400}?(?:\d|redacted))[\w.+/=~-]{10,}",
        _NAMES + _SETS,
        own=False,
    ),
    # In texts; words that may mean something else ask for a digit.
    Kind(
        "credential",
        rf"(?<![A-Za-z])(?i:passw(?:or)?d|passphrase|pwd){_SAYS}",
        rf"(?i:{_NO_PASSWORD}){_PASSWORD}",
        r"passw(?:or)?d|passphrase|pwd",
        own=False,
    ),
    Kind(
        "credential",
        rf"(?<![A-Za-z])(?i:secret|token|api[ _-]?key){_SAYS}",
        rf"(?=[^\sA-Za-z]{{0,200}}[A-Za-z])(?=[\w.+/=~-]{{0,200}}\d){_PASSWORD}",
        "secret|token|key",
        own=False,
    ),
    # Headers OpenAI-Organization and OpenAI-Project, also in captures; docs.stripe.com/api/connected-accounts.
    Kind("account-id", "(?:org-|user-|proj_|acct_)", _LIVE + r"[A-Za-z0-9]{14,}"),
    # docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.
    Kind("account-id", r"\barn:[\w-]+:[\w-]*:[\w-]*:", r"\d{12}(?!\d)", "arn:"),
    # RFC 5322, 3.4.1, without what nobody writes.
    Kind("e-mail", "", r"(?<![\w.%+-])[\w.%+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}\b", "@"),
)  # fmt: skip


@cache
def _by_prefix() -> tuple[re.Pattern[str], dict[str, Kind]]:
    """One pattern for all kinds that a prefix tells; the group of the body names the kind."""
    kinds = {f"k{at}": kind for at, kind in enumerate(KINDS) if not kind.sign}
    bodies = "|".join(f"{kind.before}(?P<{name}>{kind.body})" for name, kind in kinds.items())
    return re.compile(f"{_APART}(?:{bodies})"), kinds


@cache
def _by_sign() -> list[tuple[Kind, re.Pattern[str], re.Pattern[str]]]:
    return [
        (kind, re.compile(kind.sign), re.compile(f"{kind.before}(?P<body>{kind.body})")) for kind in KINDS if kind.sign
    ]


# Ids and words come again with every event.
_SHORT = 128


def found(text: str) -> tuple[Hit, ...]:
    """The secrets in a text, in order, none inside another; also those that were replaced before (`is_live`)."""
    return _found_again(text) if len(text) <= _SHORT else _found(text)


@lru_cache(maxsize=4096)
def _found_again(text: str) -> tuple[Hit, ...]:
    return _found(text)


def _found(text: str) -> tuple[Hit, ...]:
    hits = []
    pattern, kinds = _by_prefix()
    for match in pattern.finditer(text):
        name = match.lastgroup or ""
        hits.append(Hit(match.start(), match.start(name), match.end(), kinds[name].name))
    lower = text.lower()
    for kind, sign, pattern in _by_sign():
        if sign.search(lower):
            for match in pattern.finditer(text):
                start = match.start() if kind.own else match.start("body")
                hits.append(Hit(start, match.start("body"), match.end(), kind.name))
    hits.sort(key=lambda hit: (hit.start, -hit.end))
    apart: list[Hit] = []
    for hit in hits:
        if not apart or hit.start >= apart[-1].end:
            apart.append(hit)
    return tuple(apart)


def is_live(text: str, hit: Hit) -> bool:
    """Is this a secret, and not what stands for one?"""
    return not is_filler(text[hit.body : hit.end])
