"""Credentials in headers: they are never shown unless `--set credentials=true` asks for it (`spec/http.md` §2)."""

import re

from ..context import Context
from ..endpoints.address import REDACTED
from ..endpoints.address import covered as covered_url
from ..ledger import Leaf

# The reason that a credential is changed for.
COVERED = "redacted"

_SECRET = re.compile(
    r"(?:.*-)?(?:authorization|auth|token|secret|password|cookie2?|credentials?|signature"
    r"|(?:api|subscription|virtual|functions|access|private)-?key)",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9-]*) +(?=\S)")
_BEARER = re.compile(r"bearer +", re.IGNORECASE)


def is_secret(name: str) -> bool:
    """Is the value of a header of this name a credential?"""
    return _SECRET.fullmatch(name) is not None


def covered(name: str, leaf: Leaf, context: Context) -> Leaf:
    """A header's value as it may be shown: of a credential only its scheme."""
    if context.chosen("credentials") or not is_secret(name) or leaf.value in ("", REDACTED, None):
        return leaf
    scheme = _SCHEME.match(leaf.value) if isinstance(leaf.value, str) and name.endswith("authorization") else None
    said = (scheme[0] if scheme else "") + REDACTED
    return leaf if said == leaf.value else leaf.to(said, COVERED)


def bare(leaf: Leaf, context: Context) -> Leaf:
    """A credential without its scheme. One of another scheme than `Bearer` is made for one call alone."""
    bearer = _BEARER.match(leaf.value)
    said = leaf.value[bearer.end() :] if bearer else leaf.value
    useful = bearer is not None or _SCHEME.match(leaf.value) is None
    if said == REDACTED or (useful and context.chosen("credentials")):
        return leaf.to(said, "respelled")
    return leaf.to(REDACTED, COVERED)


def as_bearer(leaf: Leaf, context: Context) -> Leaf:
    """A bare credential with the scheme `Bearer`."""
    return leaf.to(f"Bearer {leaf.value}", leaf.why or "respelled")


def covered_value(name: str, value: str) -> str:
    """A header's value with its credential replaced."""
    return str(covered(name.lower(), Leaf({name: value}, name), Context()).value)


def covered_head(raw: str) -> str:
    """A raw head with its credentials replaced, those in the URL of its first line, too; all else as it was."""
    return "".join(_covered_line(line) for line in raw.splitlines(keepends=True))


def _covered_line(line: str) -> str:
    name, colon, rest = line.partition(":")
    value = rest.strip()
    if "HTTP/" in line and not is_secret(name):
        return " ".join(map(covered_url, line.split(" ")))
    start = len(name) + len(colon) + len(rest) - len(rest.lstrip())
    return line[:start] + covered_value(name.strip(), value) + line[start + len(value) :] if value else line
