"""What messages of requests and of replies have in common on the way out: texts, reasoning, calls, and what is left."""

from collections.abc import Iterable
from typing import Any

from ...context import Context
from ...ir.nodes import Node
from ...ledger import Leaf, Ledger, Writer, made
from ...tables import drop_term
from .tables import CALLS, DETAIL, DIALECTS, NAME, joined

# Why a part of this kind is not said where the target has no place for it.
LOST = {
    "image": "unsupported-media",
    "file": "unsupported-media",
    "audio": "unsupported-media",
    "hosted_call": "hosted-tool",
    "hosted_result": "hosted-tool",
    "reference": "stateful-reference",
    "other": "unknown-field",
    "other_part": "unknown-field",
}


def lose(part: Node, ledger: Ledger) -> None:
    """Drop a part for which there is no place, whole."""
    ledger.drop(part, why_lost(part), True)


def why_lost(part: Node) -> str:
    """Why a part for which there is no place is not said."""
    return "foreign-id" if part.kind == "reference" and "file_id" in part.says else LOST.get(part.kind, "no-equivalent")


def forget(node: Node, ledger: Ledger, but: Iterable[str] = ()) -> None:
    """Drop what a node says besides the terms that were written, each for its own reason."""
    kept = set(but)
    for name, said in node.says.items():
        if name not in kept:
            drop_term(name, said, ledger)
    ledger.drop(list(node.extras.values()), "unknown-field")
    for said, why in node.asides:
        ledger.drop(said, why)


def put_or_make(w: Writer, key: str, leaf: Leaf | None, neutral: Any, why: str = "required-by-target") -> None:
    """Write a leaf, or the neutral value where there is none."""
    if isinstance(leaf, Leaf):
        w.put(key, leaf)
    else:
        w.make(key, neutral, why)


def of_kind(parts: list[Node], *kinds: str) -> list[Node]:
    return [part for part in parts if part.kind in kinds]


def text_of(part: Node) -> str:
    """The text of a part, empty where it has none."""
    value = part.value("text")
    return value if isinstance(value, str) else ""


def texts(parts: list[Node], between: str = "") -> Leaf | None:
    """The texts of these parts as one leaf, or None where they have none; what else they say is left to the caller."""
    leaves = [part.says["text"] for part in parts if text_of(part)]
    return joined(leaves, between, "merged-boundary") if leaves else None


def forget_beside_text(part: Node, ledger: Ledger, but: Iterable[str] = ()) -> None:
    """Drop what a part says besides its text, which was written if it is not empty."""
    if "text" in part.says and not text_of(part):
        ledger.drop(part.says["text"], "no-equivalent")
    forget(part, ledger, ("text", *but))


def write_calls(parts: list[Node], w: Writer, context: Context) -> None:
    """The calls of a message, as `tool_calls`; at home the deprecated form stays what it was."""
    current = []
    for call in parts:
        if is_legacy(call):
            write_legacy_call(call, w)
        else:
            current.append(call)
    if current:
        written = w.list("tool_calls")
        for number, call in enumerate(current):
            write_call(call, written.item(), number, context)


def is_legacy(call: Node) -> bool:
    """A call that this protocol said in its deprecated form, which has no id."""
    leaf = call.get("call_id")
    return call.protocol == NAME and leaf is not None and leaf.home is None and str(leaf.value).startswith("call_fn_")


def write_legacy_call(call: Node, w: Writer) -> None:
    inner = w.object("function_call")
    for name in ("name", "arguments"):
        if name in call.says:
            inner.put(name, call.says[name].raw())
        else:
            inner.make(name, "", "required-by-target")
    forget(call, w.ledger, ("name", "arguments", "call_id"))


def write_call(call: Node, w: Writer, number: int, context: Context) -> None:
    """One call; where the source has no id for it, it is told by its number."""
    said = call.but()
    if "call_id" not in said.says:
        said.says["call_id"] = made(f"call_{number}", "made-id")
    CALLS[call.kind].write(said, w, context)


def write_reasoning(parts: list[Node], w: Writer, context: Context) -> None:
    """Reasoning in the dialect that is asked for; at home in the one it came in (`spec/responses.md` §3)."""
    dialect = context.choice("reasoning-dialect", "reasoning_content")
    detailed = [part for part in parts if dialect_of(part, dialect) == "reasoning_details"]
    plain = [part for part in parts if part.kind == "thinking" and dialect_of(part, dialect) in DIALECTS]
    leaf = texts(plain, "\n\n")
    if leaf is not None:
        w.put(dialect_of(plain[0], dialect), leaf)
    for part in parts:
        if part in plain:
            w.ledger.drop(part.get("signature"), "no-equivalent")
            forget_beside_text(part, w.ledger, ("signature",))
        elif part not in detailed:
            w.ledger.drop(part, "no-equivalent")
    _write_details(detailed, w, context)


def _write_details(parts: list[Node], w: Writer, context: Context) -> None:
    """Reasoning as a list of details, and the same in the plainer dialects in which it came, too."""
    if not parts:
        return
    for key in DIALECTS:
        again = [leaf for part in parts for leaf in part.says.get("plain_text", []) if leaf.key == key]
        if again and key not in w.value:
            w.put(key, joined(again, "", "pieces-joined"))
        else:
            w.ledger.drop(again, "duplicate")
    details = w.list("reasoning_details")
    for number, part in enumerate(parts):
        write_detail(part, details.item(), number, context)


def dialect_of(part: Node, dialect: str) -> str:
    """The name under which a part's reasoning stands: at home the one under which it came."""
    if part.protocol != NAME:
        return dialect
    if part.kind == "redacted" or str(part.value("type")).startswith("reasoning."):
        return "reasoning_details"
    leaf = part.get("text")
    return leaf.key if leaf is not None and leaf.key in DIALECTS else "reasoning_content"


def write_detail(part: Node, w: Writer, number: int, context: Context) -> None:
    """One entry of `reasoning_details`, which keeps signatures and redacted reasoning."""
    said = part.but("plain_text")
    word = "reasoning.encrypted" if part.kind == "redacted" else "reasoning.text"
    if part.protocol != NAME:
        kind = said.says.pop("type", None)
        said.says = {"type": kind.to(word, "respelled") if kind else made(word, "required-by-target"), **said.says}
        said.says["detail_index"] = made(number, "position")
    if part.protocol == NAME and said.value("type") == "reasoning.summary" and "text" in said.says:
        w.put("summary", said.says.pop("text").raw())
    DETAIL.write(said, w, context)
