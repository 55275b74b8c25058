"""What URL and headers say about whose traffic it is (`design/cli.md`, Which protocol)."""

from functools import cache
from typing import NamedTuple

from ..endpoints.address import HOST, UNKNOWN, VENDOR, Address, address
from .headers import REQUEST, RESPONSE

# Sent by servers of all sorts.
_ANYBODYS = {"x-request-id"}


class Evidence(NamedTuple):
    """The protocols that URL and headers leave (all of them where they say nothing), why, and which call it is."""

    protocols: tuple[str, ...]
    words: tuple[str, ...]
    address: Address

    @property
    def speaks(self) -> bool:
        return bool(self.words)

    @property
    def only(self) -> str | None:
        """The one protocol that they speak for."""
        return self.protocols[0] if len(self.protocols) == 1 else None


def evidence(url: str | None, headers: dict[str, str]) -> Evidence:
    """What a captured URL (None: not captured) and headers (names in lower case) speak for; the URL first."""
    known = address(url) if url is not None else Address(UNKNOWN)
    left, words = set(VENDOR), list[str]()

    def narrowed(to: set[str], why: str) -> None:
        nonlocal left
        if left & to:
            left &= to
            words.append(why)

    if known.protocol is not None:
        narrowed({known.protocol}, f"the URL is of {known.protocol}")
    for vendor, host in HOST.items():
        if known.host.lower().partition(":")[0] == host:
            narrowed(_protocols(vendor), f"the host is {host}")
    for vendor, name in _own_headers():
        if name in headers:
            narrowed(_protocols(vendor), f"has the header {name}")
    return Evidence(tuple(protocol for protocol in VENDOR if protocol in left), tuple(words), known)


def _protocols(vendor: str) -> set[str]:
    return {protocol for protocol, whose in VENDOR.items() if whose == vendor}


@cache
def _own_headers() -> list[tuple[str, str]]:
    """The headers that only one vendor has, each with the vendor."""
    found = []
    for tables in (REQUEST, RESPONSE):
        for vendor, table in tables.items():
            others = [other for whose, other in tables.items() if whose != vendor]
            found += [
                (vendor, name)
                for name in table.by_name
                if name not in _ANYBODYS and not any(name in other.by_name for other in others)
            ]
    return found
