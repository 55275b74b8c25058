"""What a translation may know besides its source, and where it says what it noticed."""

from typing import Any, NamedTuple


class Finding(NamedTuple):
    """Something seen about the document that is no change of a leaf: a code (`spec/reasons.md` §2), and where.

    `said` tells more than the sentence of the code does, in words of ours and counters, never in captured text.
    """

    code: str
    place: Any = None
    said: str = ""


class Context(NamedTuple):
    """Handed down to every codec, never changed by one.

    `choices` are the mapping choices of `--set` (name -> text), `request` the parsed body of the request that a
    response or stream answers, with its protocol in `request_protocol`, `headers` the captured headers
    (names in lower case), `findings` the list of this one translation.
    """

    choices: dict[str, str] = {}  # noqa: RUF012 - a default that nobody writes to
    request: Any = None
    request_protocol: str | None = None
    headers: dict[str, str] = {}  # noqa: RUF012
    findings: list[Finding] = []  # noqa: RUF012

    def fresh(self) -> "Context":
        """The same context with an empty list of findings, for one translation."""
        return self._replace(findings=[])

    def find(self, code: str, place: Any = None, said: str = "") -> None:
        """Note a finding."""
        self.findings.append(Finding(code, place, said))

    def choice(self, name: str, default: str = "") -> str:
        """What `--set name=…` says, else the default."""
        return self.choices.get(name, default)

    def chosen(self, name: str, default: bool = False) -> bool:
        """A choice that is `true` or `false`."""
        return self.choices.get(name, "true" if default else "false") == "true"
