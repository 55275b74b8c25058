"""Bodies of replies.

Source: `spec/responses.md`.
"""

from typing import Any

from ...context import Context
from ...errors import NotPossible, NotThatProtocol
from ...ir.nodes import Node
from ...ir.turns import CALLS
from ...ledger import Leaf, Writer, made
from .error import write_error
from .parts import forget, lose, of_kind, texts, write_calls, write_reasoning
from .tables import CHOICE, NAME, REPLY, SPOKEN, STOPS, gathered, time_of

# Terms that stand in a choice, not beside it.
OF_CHOICE = (
    "parts", "role", "stop_reason", "stop_sequence", "stop_token", "explanation", "category", "audio", "choices",
    "text_logprobs", "refusal_logprobs", "error",
)  # fmt: skip


# --- reading


def read_response(value: Any, context: Context) -> Node:
    """A reply; of several choices the one that `--set choice=N` selects, the others stay leaves."""
    if not isinstance(value, dict) or "choices" not in value:
        raise NotThatProtocol("unrecognised", "a chat reply is an object with `choices`; there are none")
    reply = REPLY.read(value, context)
    choices = reply.extras.get("choices")
    if choices is None or not isinstance(choices.value, list) or not choices.value:
        return reply
    del reply.extras["choices"]
    position = selected(choices.value, context)
    others = [Leaf(choices.value, at) for at in range(len(choices.value)) if at != position]
    if others:
        reply.says["choices"] = others
    if position is None:
        return reply
    said = read_choice(choices.value[position], context)
    reply.says.update(said.says)
    reply.extras.update(said.extras)
    reply.asides += said.asides
    return reply


def selected(choices: list[Any], context: Context) -> int | None:
    """The position of the choice that is wanted: by its index, else by its place."""
    wanted = context.choice("choice", "0")
    number = int(wanted) if wanted.isdecimal() else 0
    whole = [at for at, choice in enumerate(choices) if isinstance(choice, dict)]
    for at in whole:
        if choices[at].get("index", at) == number:
            return at
    return whole[number] if number < len(whole) else None


def read_choice(choice: dict[str, Any], context: Context) -> Node:
    """One choice, as a node `reply` that says what the reply says by it."""
    node = CHOICE.read(choice, context)
    said = Node("reply", NAME, None, node.says)
    said.asides = node.asides
    if "choice" in said.says:
        said.asides.append((said.says.pop("choice"), "position"))
    message = node.extras.get("message")
    parts: list[Node] = []
    if message is not None and isinstance(message.value, dict):
        del node.extras["message"]
        if message.value:
            parts = _read_message(message.value, said, context)
        else:
            said.asides.append((message, "target-default"))
    said.extras.update({("choices", key): leaf for key, leaf in node.extras.items()})
    said.says["parts"] = parts
    read_stop(said)
    _refused(said)
    _attach(said)
    return said


def _read_message(message: dict[str, Any], said: Node, context: Context) -> list[Node]:
    node = SPOKEN.read(message, context)
    parts = gathered(node, context)
    for number, call in enumerate(of_kind(parts, *CALLS)):
        if "call_id" not in call.says:
            legacy = call.home is message.get("function_call")
            call.says["call_id"] = made("call_fn_0" if legacy else f"call_{number}", "made-id")
    sound = node.extras.get("audio")
    if sound is not None and isinstance(sound.value, dict) and sound.value:
        del node.extras["audio"]
        parts = read_sound(sound.value, said, parts)
    said.says.update(node.says)
    said.asides += node.asides
    said.extras.update({("message", key): leaf for key, leaf in node.extras.items()})
    return parts


def read_sound(sound: dict[str, Any], said: Node, parts: list[Node]) -> list[Node]:
    """Audio: its transcript stands for the text where there is none, the rest is one term (`spec/responses.md` §8)."""
    spoken = any(part.value("text") for part in of_kind(parts, "text"))
    for key in sound:
        leaf = Leaf(sound, key)
        if key == "transcript" and isinstance(leaf.value, str) and leaf.value and not spoken:
            text = Node("text", NAME, None, {"text": leaf.to(leaf.value, "transcript-as-text")})
            at = next((at for at, part in enumerate(parts) if part.kind in CALLS), len(parts))
            parts = [*parts[:at], text, *parts[at:]]
        else:
            said.says.setdefault("audio", []).append(leaf)
    return parts


def read_stop(said: Node) -> None:
    """Why the reply ended: `""` says nothing yet, and a named stop string is a reason of its own (`spec/responses.md` §9)."""
    reason = said.get("stop_reason")
    if reason is not None and not reason.value:
        said.asides.append((said.says.pop("stop_reason"), "target-default"))
    elif reason is not None and reason.value == "end" and "stop_sequence" in said.says:
        said.says["stop_reason"] = reason.to("stop_sequence", "respelled")
    for name in ("matched_stop", "stop_reason"):
        leaf = said.extras.get(("choices", name))
        if leaf is not None and isinstance(leaf.value, int) and "stop_token" not in said.says:
            said.says["stop_token"] = said.extras.pop(("choices", name))


def _refused(said: Node) -> None:
    """What is said beside a filtered reply explains it; it is no wording of the model (`spec/responses.md` §4)."""
    refusals = of_kind(said.parts(), "refusal")
    if said.value("stop_reason") == "content_filter" and refusals and refusals[0].value("text"):
        said.says["explanation"] = refusals[0].says["text"]
        said.says["parts"] = [part for part in said.parts() if part is not refusals[0]]


def _attach(said: Node) -> None:
    """Log probabilities and citations belong to the text, or to the refusal."""
    for term, kind in (("text_logprobs", "text"), ("refusal_logprobs", "refusal")):
        leaf = said.says.get(term)
        part = next(iter(of_kind(said.parts(), kind)), None)
        if leaf is not None and not leaf.value:
            said.asides.append((said.says.pop(term), "target-default"))
        elif leaf is not None and part is not None:
            del said.says[term]
            part.says["part_logprobs"] = [Leaf(leaf.value, at) for at in range(len(leaf.value))]
    text = next(iter(of_kind(said.parts(), "text")), None)
    if text is not None and "citations" in said.says:
        text.says["citations"] = said.says.pop("citations")


# --- writing


def write_response(node: Node, w: Writer, context: Context) -> None:
    """A reply; one that failed is written as an error body.

    Raises `NotPossible`: `still-running`, for a reply without its end, unless `--set partial=true`.
    """
    if node.protocol == NAME and node.home is not None:
        REPLY.write(node, w, context)
        return
    if node.get("error") is not None and not context.chosen("partial"):
        write_error(node.says["error"], w, context)
        w.ledger.drop(node.but("error"), "not-terminal")
        return
    write_envelope(node, w, context, OF_CHOICE)
    choices = w.list("choices")
    write_choice(node, choices.item(), context)
    for leaf in node.says.get("choices", []):
        w.ledger.drop(leaf, "single-candidate")
    if node.get("error") is not None:
        w.ledger.drop(node.says["error"], "no-equivalent")
    w.order(REPLY.names)
    w.order(("id", "object", "created", "model", "choices"))


def write_envelope(node: Node, w: Writer, context: Context, but: tuple[str, ...]) -> None:
    """What stands beside the choices."""
    said = node.but(*but)
    said.home = None
    said.extras = {key: leaf for key, leaf in node.extras.items() if not isinstance(key, tuple)}
    if said.protocol != NAME:
        w.ledger.drop([leaf for key, leaf in node.extras.items() if isinstance(key, tuple)], "unknown-field")
    REPLY.write(said, w, context)
    if "created" not in w.value:
        w.make("created", time_of(context), "no-time")


def write_choice(node: Node, w: Writer, context: Context) -> None:
    w.make("index", 0, "position")
    message = w.object("message")
    write_message(node, message, context)
    write_stop(node, w, context)
    for term in ("category", "text_logprobs", "refusal_logprobs"):
        if term in node.says:
            w.ledger.drop(node.says[term], "no-equivalent")


def write_message(node: Node, w: Writer, context: Context) -> None:
    parts = node.parts()
    role = node.get("role")
    w.put("role", role.raw()) if isinstance(role, Leaf) and node.protocol == NAME else w.make(
        "role", "assistant", "required-by-target"
    )
    if isinstance(role, Leaf) and node.protocol != NAME:
        w.ledger.drop(role, "target-default")
    write_reasoning(of_kind(parts, "thinking", "redacted"), w, context)
    spoken, refusals = of_kind(parts, "text"), of_kind(parts, "refusal")
    content = texts([part for part in spoken if part.value("text")])
    w.put("content", content) if content else w.make("content", None, "required-by-target")
    refusal = texts(refusals)
    explanation = node.get("explanation")
    if refusal is not None:
        w.put("refusal", refusal)
        w.ledger.drop(explanation, "duplicate")
    elif isinstance(explanation, Leaf):
        w.put("refusal", explanation)
    else:
        w.make("refusal", None, "required-by-target")
    for part in (*spoken, *refusals):
        forget(part, w.ledger, ("text",) if part.value("text") or part.kind == "refusal" else ())
    write_calls(of_kind(parts, *CALLS), w, context)
    for part in parts:
        if part.kind not in ("text", "refusal", "thinking", "redacted", *CALLS):
            lose(part, w.ledger)
    for leaf in node.says.get("audio", []):
        w.ledger.drop(leaf, "unsupported-media")


def write_stop(node: Node, w: Writer, context: Context) -> None:
    """Why the reply ended, in this protocol's words (`spec/responses.md` §9)."""
    reason = node.get("stop_reason")
    if reason is None or reason.value == "running":
        if not context.chosen("partial"):
            raise NotPossible(
                "still-running", "the reply is not finished", hint="`--set partial=true` writes what there is"
            )
        w.put("finish_reason", reason.to("stop", "stream-was-cut") if reason else made("stop", "stream-was-cut"))
    else:
        w.put("finish_reason", spelled_stop(reason, context))
    if "stop_sequence" in node.says:
        w.ledger.drop(node.says["stop_sequence"], "no-equivalent")
    if "stop_token" in node.says:
        w.ledger.drop(node.says["stop_token"], "no-equivalent")


def spelled_stop(reason: Leaf, context: Context) -> Leaf:
    word = STOPS.from_canonical.get(reason.value) if isinstance(reason.value, str) else None
    if word is None:
        context.find("unknown-stop")
    if reason.value == "pause":
        context.find("paused-turn")
    return reason.to(word or "stop", "respelled")
