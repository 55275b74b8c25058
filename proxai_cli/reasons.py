"""Every code that the product says, each with one meaning, one level and one sentence for the person who reads it.

Source: `spec/reasons.md`. A code is the stable name for CI files and is never reused for another meaning.
"""

from typing import NamedTuple

LEVELS = ("note", "loss", "risk", "unexplained")


class Reason(NamedTuple):
    """Why a leaf was dropped, changed or synthesized; level `loss*` is a risk where the leaf steers the reply."""

    level: str
    text: str


class Notice(NamedTuple):
    """A finding: something about the document rather than a leaf. `layer` is where it is seen."""

    level: str
    layer: str
    text: str


class Failure(NamedTuple):
    """An error: the document, or the rest of it, could not be translated. `exit` is the exit code."""

    exit: int
    text: str


def level(why: str, steers: bool = False) -> str:
    """The level of a reason that is given now; `loss*` is a risk if the term steers the reply."""
    said = REASONS[why].level if why in REASONS else "unexplained"
    return said if said != "loss*" else "risk" if steers else "loss"


REASONS: dict[str, Reason] = {
    "no-equivalent": Reason("loss*", ""),
    "target-default": Reason("note", ""),
    "target-rejects": Reason("loss*", ""),
    "foreign-id": Reason("loss", ""),
    "foreign-signature": Reason("risk", ""),
    "stateful-reference": Reason("risk", ""),
    "hosted-tool": Reason("loss*", ""),
    "unsupported-media": Reason("loss*", ""),
    "filter-tools": Reason("note", ""),
    "single-candidate": Reason("loss", ""),
    "unknown-field": Reason("loss*", ""),
    "duplicate": Reason("note", ""),
    "noise": Reason("note", ""),
    "not-terminal": Reason("note", ""),
    "late-piece": Reason("loss*", ""),
    "not-yet": Reason("loss*", ""),
    "unclaimed": Reason("unexplained", ""),
    "out-of-nowhere": Reason("unexplained", ""),
    "respelled": Reason("note", ""),
    "one-to-list": Reason("note", ""),
    "data-url": Reason("note", ""),
    "json-parse": Reason("note", ""),
    "json-dump": Reason("note", ""),
    "empty-arguments": Reason("note", ""),
    "raw-arguments": Reason("risk", ""),
    "wrap-custom": Reason("note", ""),
    "flatten-namespace": Reason("note", ""),
    "legal-name": Reason("risk", ""),
    "legal-id": Reason("note", ""),
    "wrap-id": Reason("note", ""),
    "role-merge": Reason("loss", ""),
    "merged-boundary": Reason("loss", ""),
    "moved-media": Reason("risk", ""),
    "missing-result": Reason("risk", ""),
    "orphan-result": Reason("risk", ""),
    "refusal-text": Reason("note", ""),
    "transcript-as-text": Reason("loss", ""),
    "whole-block-span": Reason("note", ""),
    "clamp-temperature": Reason("risk", ""),
    "budget-to-effort": Reason("loss", ""),
    "adaptive-default": Reason("note", ""),
    "room-for-thinking": Reason("note", ""),
    "cache-ttl": Reason("note", ""),
    "tier-downgrade": Reason("loss", ""),
    "stop-with-tools": Reason("note", ""),
    "usage-sum": Reason("note", ""),
    "time-form": Reason("note", ""),
    "pieces-joined": Reason("note", ""),
    "differs": Reason("loss*", ""),
    "required-by-target": Reason("note", ""),
    "default-max-tokens": Reason("note", ""),
    "store-default": Reason("note", ""),
    "want-usage": Reason("note", ""),
    "thinking-on": Reason("note", ""),
    "placeholder": Reason("risk", ""),
    "from-request": Reason("note", ""),
    "no-time": Reason("note", ""),
    "no-usage": Reason("note", ""),
    "made-id": Reason("note", ""),
    "position": Reason("note", ""),
    "stream-shape": Reason("note", ""),
    "separator": Reason("note", ""),
    "sum-of-pieces": Reason("note", ""),
    "stream-was-cut": Reason("risk", ""),
    "added": Reason("loss*", ""),
}

FINDINGS: dict[str, Notice] = {
    "address-says-otherwise": Notice("note", "input", ""),
    "not-wire-traffic": Notice("note", "input", ""),
    "unpaired-file": Notice("loss", "input", ""),
    "twice-the-same-key": Notice("risk", "input", ""),
    "continuation-line": Notice("note", "input", ""),
    "lost-blank-lines": Notice("note", "input", ""),
    "event-name": Notice("risk", "client", ""),
    "keep-alive-event": Notice("note", "client", ""),
    "usage-missing": Notice("note", "client", ""),
    "no-start": Notice("risk", "order", ""),
    "no-part": Notice("risk", "order", ""),
    "no-done": Notice("note", "order", ""),
    "open-at-end": Notice("note", "order", ""),
    "after-finish": Notice("risk", "order", ""),
    "usage-early": Notice("note", "order", ""),
    "usage-late": Notice("loss", "order", ""),
    "seq-gap": Notice("risk", "order", ""),
    "seq-back": Notice("risk", "order", ""),
    "id-changes": Notice("risk", "order", ""),
    "index-reused": Notice("note", "order", ""),
    "unknown-event": Notice("risk", "client", ""),
    "pieces-differ": Notice("risk", "order", ""),
    "snapshot-extra": Notice("note", "order", ""),
    "unpaired-tool": Notice("risk", "shape", ""),
    "invalid-shape": Notice("risk", "shape", ""),
    "empty-turn": Notice("note", "shape", ""),
    "empty-reply": Notice("note", "shape", ""),
    "prefill": Notice("risk", "shape", ""),
    "prefill-space": Notice("risk", "shape", ""),
    "root-ref": Notice("risk", "shape", ""),
    "unknown-choice": Notice("risk", "shape", ""),
    "tools-with-effort": Notice("risk", "shape", ""),
    "model-refuses": Notice("risk", "shape", ""),
    "too-many-cache-marks": Notice("risk", "shape", ""),
    "too-many-messages": Notice("risk", "shape", ""),
    "too-long": Notice("risk", "shape", ""),
    "foreign-id-kept": Notice("risk", "shape", ""),
    "mcp-approval": Notice("risk", "shape", ""),
    "runs-elsewhere": Notice("risk", "shape", ""),
    "paused-turn": Notice("risk", "shape", ""),
    "unknown-stop": Notice("risk", "shape", ""),
    "usage-mismatch": Notice("risk", "shape", ""),
    "bad-header": Notice("risk", "shape", ""),
    "error-shape": Notice("note", "shape", ""),
    "more-pages": Notice("note", "shape", ""),
    "illegal-custom-id": Notice("risk", "shape", ""),
    "side-stale": Notice("loss", "input", ""),
    "invalid-utf8": Notice("risk", "input", ""),
    "byte-order-mark": Notice("note", "input", ""),
}

ERRORS: dict[str, Failure] = {
    "unreadable": Failure(3, ""),
    "bad-json": Failure(3, ""),
    "number-too-long": Failure(3, ""),
    "unrecognised": Failure(3, ""),
    "ambiguous": Failure(3, ""),
    "wrong-protocol": Failure(3, ""),
    "empty": Failure(3, ""),
    "no-model": Failure(3, ""),
    "still-running": Failure(3, ""),
    "old-version": Failure(3, ""),
    "wrong-url": Failure(3, ""),
    "no-endpoint": Failure(3, ""),
    "dup-custom-id": Failure(3, ""),
    "truncated": Failure(3, ""),
    "dup-start": Failure(3, ""),
    "orphan-delta": Failure(3, ""),
    "stop-unopened": Failure(3, ""),
    "delta-kind": Failure(3, ""),
    "event-order": Failure(3, ""),
    "wrong-side-file": Failure(3, ""),
    "bad-call": Failure(2, ""),
    "bad-policy": Failure(2, ""),
    "not-written": Failure(4, ""),
    "leak": Failure(4, ""),
    "internal": Failure(70, ""),
}
