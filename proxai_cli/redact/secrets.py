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

    `words` are texts of which one must occur, in lower case, before it is worth to look. Where `own` holds, what stands
    before it is the secret's own prefix, by which it stays known; else it is other text.
    """

    name: str
    words: tuple[str, ...]
    before: str
    body: str
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


def _key(name: str, prefix: str, body: str, *words: str) -> Kind:
    return Kind(name, words, _APART + prefix, body)


_NAMED = (
    r"(?i:(?:api|access|account|secret|private|encryption|signing|subscription)[ _-]?key|secret|token"
    r"|passw(?:or)?d|passphrase|credentials?|authorization)"
    r"""(?:["'\\]{1,3}|\b)\s{0,2}(?::=|=>|=|:)[\s"'\\]{0,4}"""
)

KINDS = (
    _key("anthropic-key", r"sk-ant-(?:[a-z]+\d*-)?+", r"[\w-]{16,}", "sk-ant-"),
    # TruffleHog, pkg/detectors/openrouter.
    _key("openrouter-key", r"sk-or-(?:v\d+-)?+", r"[\w-]{16,}", "sk-or-"),
    # Longer ones: gitleaks, pull request 2240. `None` stands in keys with the mark T3BlbkFJ in public code.
    _key("openai-key", r"sk-(?:proj-|svcacct-|admin-|None-)?+(?!ant-|or-)", _LIVE + r"[\w-]{16,}", "sk-"),
    # TruffleHog, pkg/detectors/groq and xai.
    _key("groq-key", "gsk_", r"\w{20,}", "gsk_"),
    _key("xai-key", "xai-", r"\w{20,}", "xai-"),
    _key("perplexity-key", "pplx-", r"\w{20,}", "pplx-"),
    _key("huggingface-token", "(?:hf|api_org)_", r"[A-Za-z0-9]{24,}", "hf_", "api_org_"),
    # TruffleHog, pkg/detectors/replicate.
    _key("replicate-token", "r8_", r"\w{30,}", "r8_"),
    _key("databricks-token", "dapi", _LIVE + r"\w{32}", "dapi"),
    _key("google-key", "AIza", r"[\w-]{30,}", "aiza"),
    # TruffleHog, pkg/detectors/googleoauth2, and its pull request 5030 for the secrets of clients.
    _key("google-token", r"(?:ya29\.|GOCSPX-)", r"[\w-]{20,}", "ya29.", "gocspx-"),
    Kind("azure-secret", ("q~",), "", r"(?<![\w~.])[A-Za-z0-9_~.]{3}\dQ~[\w~.-]{31,34}"),
    _key("aws-key", "(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)", r"[A-Z0-9]{16}\b", "akia", "asia", "abia", "acca", "a3t"),
    _key("github-token", "gh[pousr]_", r"\w{22,}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _key("github-token", "github_pat_", r"\w{22,}", "github_pat_"),
    _key("gitlab-token", "gl(?:pat|dt|ft|rt|ptt|soat|cbt|agent|oas|imt|ffct)-", r"[\w.-]{20,}", "gl"),
    _key("gitlab-token", "GR1348941", r"[\w-]{20,}", "gr1348941"),
    _key("slack-token", r"(?:xox[abeoprs]-|xoxe\.xox[bp]-|xapp-)", r"[\w-]{10,}", "xox", "xapp-"),
    _key("slack-webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/", r"[\w+/]{20,}", "hooks.slack"),
    # Webhook secrets: docs of Trigger.dev, "Set a webhook signing secret".
    _key("stripe-key", "(?:[rs]k_(?:test|live|prod)_|whsec_)", r"\w{10,}", "_test_", "_live_", "_prod_", "whsec_"),
    _key("npm-token", "npm_", r"[A-Za-z0-9]{36}", "npm_"),
    _key("pypi-token", "pypi-", r"[\w-]{50,}", "pypi-"),
    _key("rubygems-token", "rubygems_", r"\w{48}", "rubygems_"),
    _key("digitalocean-token", "do[opr]_v1_", r"\w{40,}", "_v1_"),
    _key("sendgrid-token", r"SG\.", r"[\w.=-]{40,}", "sg."),
    _key("shopify-token", "shp(?:at|ca|pa|ss)_", r"\w{32}", "shp"),
    _key("twilio-key", "SK", r"(?:[0-9a-f]{32}|redacted\w{24})\b", "sk"),
    _key("telegram-token", r"(?=\d{5,16}:A)", r"\d{5,16}:A[\w-]{34}", ":a"),
    _key("vault-token", r"hv[bs]\.", r"[\w-]{80,}", "hvs.", "hvb."),
    _key("grafana-token", "gl(?:c|sa)_", r"[\w+/=]{30,}", "glc_", "glsa_"),
    _key("planetscale-token", "pscale_(?:tkn|oauth|pw)_", r"[\w=.-]{32,}", "pscale_"),
    _key("postman-key", "PMAK-", r"[\w-]{50,}", "pmak-"),
    _key("pulumi-token", "pul-", _LIVE + r"\w{40}", "pul-"),
    _key("linear-key", "lin_api_", r"\w{40}", "lin_api_"),
    _key("notion-token", "ntn_", r"\w{40,}", "ntn_"),
    _key("sentry-token", "sntry[su]_", r"[\w+/=-]{40,}", "sntry"),
    _key("square-token", "(?:EAAA|sq0atp-)", _LIVE + r"[\w-]{22,}", "eaaa", "sq0atp-"),
    _key("fly-token", "(?:fo1_|fm[12][ar]?_)", r"[\w+/=-]{40,}", "fo1_", "fm1", "fm2_"),
    _key("newrelic-key", "NR(?:AK|II|JS)-", r"[\w-]{19,}", "nrak-", "nrii-", "nrjs-"),
    _key("atlassian-token", "ATATT3", r"[\w=-]{100,}", "atatt3"),
    _key("artifactory-key", "(?:AKCp|cmVmd)", r"[A-Za-z0-9]{59,}", "akcp", "cmvmd"),
    _key("onepassword-token", "(?:ops_eyJ|A3-)", r"[\w+/=-]{28,}", "ops_", "a3-"),
    _key("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{58}", "age-secret-key"),
    _key("jwt", "eyJ", r"[\w-]{8,}(?:\.[\w-]*){2,4}", "eyj"),
    Kind(
        "private-key",
        ("-----begin",),
        r"-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----",
        r"(?:(?!-----)[A-Za-z0-9+/=\s\\:,-]){16,}",
    ),
    # detect-secrets, plugins/basic_auth.py; RFC 3986, 3.2.1.
    Kind("url-credential", ("://",), r"://", r"""[^\s/?#@"'<>\\]+(?=@)""", own=False),
    # Names of credentials in queries, as in `_NAMED`; those of signed URLs are the ones of S3 and of Cloud Storage.
    Kind(
        "url-credential",
        ("?", "&"),
        r"[?&](?i:api[-_]?key|key|(?:access|auth|id|refresh|session)?[-_]?token|auth|sig|signature|password|secret|code"
        r"|client[-_]secret|x-(?:amz|goog)-(?:signature|credential|security-token))=",
        r"""[^&#\s"'<>\\]{4,}""",
        own=False,
    ),
    # gitleaks, curl-auth-header; below: generic-api-key.
    Kind("credential", ("bearer", "basic"), r"\b(?i:bearer|basic)\s{1,3}", _LIVE[:-1] + r")[\w.~+/=-]{8,}", own=False),
    Kind(
        "credential",
        ("key", "secret", "token", "passw", "passp", "credential", "authorization"),
        _NAMED + r"(?!AWS4-HMAC-SHA256 )",
        r"(?=[\w.+/=~-]*?(?:\d|redacted))[\w.+/=~-]{10,}",
        own=False,
    ),
    # Headers OpenAI-Organization and OpenAI-Project, also in captures; docs.stripe.com/api/connected-accounts.
    _key("account-id", "(?:org-|user-|proj_|acct_)", _LIVE + r"[A-Za-z0-9]{14,}", "org-", "user-", "proj_", "acct_"),
    # docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.
    Kind("account-id", ("arn:",), r"\barn:[\w-]+:[\w-]*:[\w-]*:", r"\d{12}(?!\d)"),
    # RFC 5322, 3.4.1, without what nobody writes.
    Kind("e-mail", ("@",), "", r"(?<![\w.%+-])[\w.%+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}\b"),
)  # fmt: skip


@cache
def _patterns() -> list[tuple[Kind, re.Pattern[str]]]:
    return [(kind, re.compile(f"(?P<before>{kind.before})(?P<body>{kind.body})")) for kind in KINDS]


# Ids and words come again with every event.
_SHORT = 128
_WORDS = re.compile("|".join(sorted({re.escape(word) for kind in KINDS for word in kind.words})))


def found(text: str) -> tuple[Hit, ...]:
    """The secrets in a text, in order, none inside another; also those that were replaced before (`is_live`)."""
    return _found_again(text) if len(text) <= _SHORT else _found(text)


@lru_cache(maxsize=4096)
def _found_again(text: str) -> tuple[Hit, ...]:
    return _found(text)


def _found(text: str) -> tuple[Hit, ...]:
    lower = text.lower()
    if not _WORDS.search(lower):
        return ()
    hits = []
    for kind, pattern in _patterns():
        if any(word in lower for word in kind.words):
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
