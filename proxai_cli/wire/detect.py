"""Which protocol, which kind of document: judged by the markers that the protocols list.

A document fits a protocol and kind if all its shape markers hold, and either a marker of its own or all its demands.
Of those that fit, own markers decide (`certain`), then habits (`likely`); what is left over is a tie.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from ..markers import DEMAND, HABIT, OWN, SHAPE, Marker
from ..protocols import PROTOCOLS
from . import sse

BODY_KINDS = ("request", "response", "error")
CERTAIN, LIKELY, AMBIGUOUS = "certain", "likely", "ambiguous"

# A stream is known by its beginning: the first event that is certain, or what the first ones have of signs.
LOOK_AT_EVENTS = 100


class Detection(NamedTuple):
    """What a document is. `sure` is `certain`, `likely`, `ambiguous` (no protocol then), or None: not recognised.

    `evidence` says why in words, without captured values; of a tie what all allow, or what speaks for each.
    `candidates` are all protocols that it fits, best first (OpenAI's error body is one of Chat and of Responses alike).
    `fault` is `old-version` where it is a form that is not read any more.
    """

    protocol: str | None
    kind: str | None
    sure: str | None
    evidence: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    fault: str | None = None


_WEIGHTS = (SHAPE, OWN, DEMAND, HABIT)


class _Signs(NamedTuple):
    """The markers of one kind of document of one protocol, by their weight (`_WEIGHTS`)."""

    basis: list[Marker]
    own: list[Marker]
    demands: list[Marker]
    habits: list[Marker]


class _Fit(NamedTuple):
    protocol: str
    kind: str
    own: list[Marker]
    habits: list[str]
    basis: list[Marker]

    @property
    def strength(self) -> tuple[int, int]:
        return len(self.own), len(self.habits)

    @property
    def evidence(self) -> tuple[str, ...]:
        return tuple(map(str, self.own)) + tuple(self.habits) or tuple(map(str, self.basis))


def detect_value(value: Any, name: str = "") -> Detection:
    """What a parsed body is: request, response or error."""
    return _judged(value, BODY_KINDS, name)


def detect_events(events: Iterable[sse.Event]) -> Detection:
    """What a stream is, by its first events."""
    best = Detection(None, None, None, ("no event that a protocol knows",))
    for _, event in zip(range(LOOK_AT_EVENTS), events, strict=False):
        if isinstance(event.value, dict):
            found = _judged({**event.value, "type": event.type}, ("stream",))
            if found.sure == CERTAIN or found.fault == "old-version":
                return found
            best = best if best.sure else found
    return best


def _judged(document: Any, kinds: tuple[str, ...], name: str = "") -> Detection:
    fits = [
        fit
        for (protocol, kind), signs in _signs().items()
        if kind in kinds and (fit := _fit(document, protocol, kind, signs, name))
    ]
    if not fits:
        return Detection(None, None, None, ("nothing in it belongs to a protocol",))
    fits.sort(key=lambda fit: fit.strength, reverse=True)
    best = [fit for fit in fits if fit.strength == fits[0].strength]
    first = best[0]
    if first.protocol in FOREIGN:
        fault = "old-version" if first.protocol in OLD else None
        return Detection(None, None, None, (f"{first.protocol}: {'; '.join(first.evidence)}",), (), fault)
    candidates = tuple(dict.fromkeys(fit.protocol for fit in fits if fit.protocol not in FOREIGN))
    rivals = [fit for fit in fits if fit.protocol != first.protocol and len(fit.own) > 0]
    if len(best) == 1:
        return Detection(
            first.protocol, first.kind, CERTAIN if first.own and not rivals else LIKELY, first.evidence, candidates
        )
    if first.kind == "error":
        also = " and ".join(fit.protocol for fit in best[1:])
        return Detection(first.protocol, first.kind, LIKELY, (*first.evidence, f"{also} has the same body"), candidates)
    if first.own:
        evidence = [f"{fit.protocol}: {'; '.join(fit.evidence)}" for fit in best]
    else:
        evidence = [path for fit in best for marker in fit.basis for path in marker.found(document)[:1]]
    return Detection(None, first.kind, AMBIGUOUS, tuple(dict.fromkeys(evidence)), candidates)


def _fit(document: Any, protocol: str, kind: str, signs: _Signs, name: str) -> _Fit | None:
    if not all(marker.holds(document) for marker in signs.basis):
        return None
    own = [marker for marker in signs.own if marker.holds(document)]
    if not own and (protocol in FOREIGN or not all(marker.holds(document) for marker in signs.demands)):
        return None
    habits = [str(marker) for marker in signs.habits if marker.holds(document)]
    if protocol in re.split(r"[^a-z]+", name.replace("\\", "/").rpartition("/")[2].lower()):
        habits.append(f"the file name says {protocol}")
    return _Fit(protocol, kind, own, habits, [marker for marker in signs.basis + signs.demands if not marker.absent])


@cache
def _signs() -> dict[tuple[str, str], _Signs]:
    """Of each protocol and kind what its documents are known by; without a shape there is no such document."""
    found = {}
    for protocol, markers in ({name: each.markers for name, each in PROTOCOLS.items()} | FOREIGN).items():
        for kind in (*BODY_KINDS, "stream"):
            ours = [marker for marker in markers if marker.kind == kind]
            signs = _Signs(*([each for each in ours if each.weight == weight] for weight in _WEIGHTS))
            if signs.basis:
                found[protocol, kind] = signs
    return found


# What the vendors served before the protocols that are read (`spec/http.md` §4).
COMPLETIONS, ASSISTANTS = "completions of Anthropic before Messages", "Assistants"
OLD = (COMPLETIONS, ASSISTANTS)

# Documents of other APIs that look like ours from afar. Whoever fits these better is not recognised.
FOREIGN: dict[str, tuple[Marker, ...]] = {
    "embeddings or moderation": (
        Marker("request", "input", weight=SHAPE),
        Marker("request", "messages", weight=SHAPE, absent=True),
        Marker("request", "encoding_format|dimensions|input_type|embedding_types|options|texts"),
        Marker("request", "model", words=("*embed*", "*moderation*", "*rerank*")),
    ),
    "Ollama": (
        Marker("request", "messages", weight=SHAPE),
        Marker("request", "options|format|keep_alive"),
    ),
    "Bedrock Converse": (
        Marker("request", "messages", weight=SHAPE),
        Marker("request", "inferenceConfig|additionalModelRequestFields|toolConfig|messages[].content[].toolUse"),
    ),
    "Gemini": (
        Marker("error", "error.message", weight=SHAPE),
        Marker(
            "error",
            "error.status",
            words=(
                "INVALID_ARGUMENT",
                "FAILED_PRECONDITION",
                "OUT_OF_RANGE",
                "UNAUTHENTICATED",
                "PERMISSION_DENIED",
                "NOT_FOUND",
                "ABORTED",
                "ALREADY_EXISTS",
                "RESOURCE_EXHAUSTED",
                "CANCELLED",
                "DATA_LOSS",
                "UNKNOWN",
                "INTERNAL",
                "UNIMPLEMENTED",
                "UNAVAILABLE",
                "DEADLINE_EXCEEDED",
            ),
        ),
    ),
    COMPLETIONS: (
        Marker("request", "prompt", shape=str, weight=SHAPE),
        Marker("request", "max_tokens_to_sample"),
        Marker("response", "completion", shape=str, weight=SHAPE),
        Marker("response", "type", words=("completion",)),
        Marker("response", "log_id|stop_reason"),
        Marker("stream", "completion", shape=str, weight=SHAPE),
        Marker("stream", "type", words=("completion",)),
        Marker("stream", "log_id|stop_reason"),
        Marker("stream", "model", words=("claude*",)),
    ),
    ASSISTANTS: (
        Marker("stream", "type", words=("thread.*",), weight=SHAPE),
        Marker("stream", "type", words=("thread.*",)),
    ),
}
