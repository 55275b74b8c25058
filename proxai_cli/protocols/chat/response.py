"""Bodies of replies.

Source: `spec/responses.md`.
"""

from typing import Any

from ...context import Context
from ...errors import NotPossible, NotThatProtocol
from ...ir.nodes import Node
from ...ir.turns import CALLS
from ...ledger import Leaf, Writer, made
from ...tables import Table
from .asked import Asked
from .citations import placed, write_citations
from .error import write_error
from .parts import forget_beside_text, lose, of_kind, put_or_make, text_of, texts, write_calls, write_reasoning
from .tables import CHOICE, NAME, REPLY, SPOKEN, STOPS, gathered, joined, time_of

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
    if not choices.value[position]:
        reply.asides.append((Leaf(choices.value, position), "target-default"))
    said = read_choice(choices.value[position], context)
    reply.says.update(said.says)
    reply.extras.update(said.extras)
    reply.asides += said.asides
    tell_apart(reply, context)
    return reply


def tell_apart(reply: Node, context: Context) -> None:
    """A reply that is one of several, each of another choice, has an id of its own (`spec/responses.md` §12)."""
    whole, _, number = context.choice("choice").partition("/")
    if number and whole == "all" and "id" in reply.says:
        reply.says["id"] = reply.says["id"].to(f"{reply.value('id')}_{number}", "wrap-id")


def selected(choices: list[Any], context: Context) -> int | None:
    """The position of the choice that is wanted: by its index, else by its place.

    `all/N` wants choice N as one body of several. Raises `NotPossible` (`empty`) where the wanted one is not there.
    """
    wanted = context.choice("choice", "0").removeprefix("all/")
    number = int(wanted) if wanted.isdecimal() else 0
    whole = [at for at, choice in enumerate(choices) if isinstance(choice, dict)]
    for at in whole:
        if choices[at].get("index", at) == number:
            return at
    if number >= len(whole) and whole and context.choice("choice"):
        raise NotPossible(
            "empty", f"the reply has no choice {number}", hint=f"--set choice=0 to {len(whole) - 1}, or all"
        )
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
    said.extras.update({("choices", key, 0): leaf for key, leaf in node.extras.items()})
    said.says["parts"] = parts
    read_stop(said, 0)
    if "stop_reason" not in said.says:
        _still_running(choice, said)
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
    parts = read_sound(node, said, parts, any(map(text_of, of_kind(parts, "text"))))
    said.says.update(node.says)
    said.asides += node.asides
    said.extras.update({("message", key, 0): leaf for key, leaf in node.extras.items()})
    return parts


def read_sound(node: Node, said: Node, parts: list[Node], spoken: bool) -> list[Node]:
    """The parts of a message with its audio: its transcript stands for a text that is not there.

    What else there is of it is one term of the reply (`spec/responses.md` §8).
    """
    sound = node.extras.get("audio")
    if sound is None or not isinstance(sound.value, dict):
        return parts
    del node.extras["audio"]
    if not any(sound.value.values()):
        node.asides.append((sound, "target-default"))
        return parts
    for leaf in (Leaf(sound.value, key) for key in sound.value):
        if leaf.key == "transcript" and isinstance(leaf.value, str) and leaf.value and not spoken:
            text = Node("text", NAME, None, {"text": leaf.to(leaf.value, "transcript-as-text")})
            at = next((at for at, part in enumerate(parts) if part.kind in CALLS), len(parts))
            parts = [*parts[:at], text, *parts[at:]]
        else:
            said.says.setdefault("audio", []).append(leaf)
    return parts


def read_stop(said: Node, number: int) -> None:
    """Why the reply ended: `""` says nothing yet, and a named stop string is a reason of its own.

    Source: `spec/responses.md` §9. `number` is that of the choice.
    """
    reason = said.get("stop_reason")
    if reason is not None and not reason.value:
        said.asides.append((said.says.pop("stop_reason"), "target-default"))
    elif reason is not None and reason.value == "end" and "stop_sequence" in said.says:
        said.says["stop_reason"] = reason.to("stop_sequence", "respelled")
    for name in ("matched_stop", "stop_reason"):
        leaf = said.extras.get(("choices", name, number))
        if leaf is not None and isinstance(leaf.value, int) and "stop_token" not in said.says:
            said.says["stop_token"] = said.extras.pop(("choices", name, number))


def _still_running(choice: dict[str, Any], said: Node) -> None:
    """A body whose choice has no reason of its end, or an empty one."""
    said.asides = [
        (leaf, why) for leaf, why in said.asides if not isinstance(leaf, Leaf) or leaf.key != "finish_reason"
    ]
    leaf = Leaf(choice, "finish_reason") if "finish_reason" in choice else made("", "required-by-target")
    said.says["stop_reason"] = leaf.to("running", "respelled")


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
    failure = node.get("error")
    if failure is not None and not context.chosen("partial"):
        write_error(failure, w, context)
        w.ledger.drop(node.but("error"), "not-terminal")
        return
    if failure is not None:
        w.ledger.drop(failure.but("failed"), "no-equivalent")  # `failed` holds the reply once more
    write_envelope(node, w, context, REPLY)
    choices = w.list("choices")
    for choice in alternatives(node):
        write_choice(choice, choices.item(), context)
    if not _spoke(w.value["choices"]):
        context.find("empty-reply")
    w.order(("id", "object", "created", "model", "choices", *REPLY.names))


def _spoke(choices: list[dict[str, Any]]) -> bool:
    """Does any choice say anything beside whose message it is?"""
    messages = [choice["message"] for choice in choices if "message" in choice]
    return any(value for message in messages for key, value in message.items() if key != "role")


def write_envelope(node: Node, w: Writer, context: Context, table: Table) -> None:
    """What stands beside the choices, in a body or in a chunk. What stands in a choice is left to the caller."""
    said = node.but(*OF_CHOICE)
    said.home = None
    if node.protocol == NAME:
        said.extras = {key: leaf for key, leaf in node.extras.items() if not isinstance(key, tuple)}
    w.ledger.drop(said.extras.pop("choices", None), "unknown-field")
    table.write(said, w, context)
    if "created" not in w.value:
        w.make("created", time_of(context), "no-time")


def alternatives(node: Node) -> list[Node]:
    """The reply's choices, each as a reply; only a reply that was collected from its own protocol has several."""
    first = node.but("choices")
    if node.protocol != NAME:
        return [first]
    ends = {one.value("choice"): one for one in node.says.get("choices", []) if isinstance(one, Node)}
    numbers = {part.value("choice"): None for part in node.parts() if "choice" in part.says}
    numbers |= {key[2]: None for key in node.extras if isinstance(key, tuple) and key[2]}
    first.says["parts"] = [part for part in node.parts() if "choice" not in part.says]
    first.extras = _extras_of(node, 0)
    out = [first]
    for number in sorted(numbers | ends):
        other = ends[number].but() if number in ends else Node("reply", node.protocol)
        other.says.setdefault("choice", made(number, "position"))
        other.says["parts"] = [part for part in node.parts() if part.value("choice") == number]
        other.extras = _extras_of(node, number)
        out.append(other)
    return out


def _extras_of(node: Node, number: int) -> dict[Any, Leaf]:
    """The unknown keys of one choice and of its message, as (place, key)."""
    return {key[:2]: leaf for key, leaf in node.extras.items() if isinstance(key, tuple) and key[2] == number}


def write_choice(node: Node, w: Writer, context: Context) -> None:
    """One choice of a body."""
    put_or_make(w, "index", node.get("choice"), 0, "position")
    write_message(node, w.object("message"), context)
    write_stop(node, w, context, context.chosen("partial"))
    write_logprobs(_listed(node, "text"), _listed(node, "refusal"), w)
    write_extras(node, "choices", w)
    if "category" in node.says:
        w.ledger.drop(node.says["category"], "no-equivalent")
    w.order(("index", "message", "logprobs", "finish_reason"))


def _listed(node: Node, kind: str) -> list[Leaf]:
    """The log probabilities of all texts, or of all refusals, and those that came without."""
    of_parts = [leaf for part in of_kind(node.parts(), kind) for leaf in part.says.get("part_logprobs", [])]
    return [*of_parts, *node.says.get(f"{kind}_logprobs", [])]


def write_logprobs(content: list[Leaf], refusal: list[Leaf], w: Writer) -> None:
    """Log probabilities of a choice, if there are any."""
    if not content and not refusal:
        return
    inner = w.object("logprobs")
    for name, leaves in (("content", content), ("refusal", refusal)):
        if leaves:
            listed = inner.list(name)
            for leaf in leaves:
                listed.append(leaf)
        else:
            inner.make(name, None, "required-by-target")


def write_extras(node: Node, place: str, w: Writer) -> None:
    """At home the unknown keys of a choice or message go back to their place."""
    for key, leaf in node.extras.items():
        where, name = key if node.protocol == NAME and isinstance(key, tuple) else (None, key)
        if where != place:
            continue
        home = w
        if isinstance(name, tuple):
            outer, name = name
            home = Writer(w.ledger, w.value[outer]) if outer in w.value else w.object(outer)
        if not isinstance(home.value, dict) or name in home.value:
            w.ledger.drop(leaf, "duplicate")
        else:
            home.put(name, leaf)


def write_message(node: Node, w: Writer, context: Context) -> None:
    """The message of a choice; `content` and `refusal` are always there, as clients expect."""
    for part in node.parts():
        w.ledger.drop(part.says.pop("choice", None), "position")
    parts, home = node.parts(), node.protocol == NAME
    write_role(node, w)
    write_reasoning(of_kind(parts, "thinking", "redacted"), w, context)
    heard = [part for part in of_kind(parts, "text") if home and part.says["text"].key == "transcript"]
    spoken = [part for part in of_kind(parts, "text") if part not in heard]
    _write_content(spoken, w, context)
    _write_refusal(node, of_kind(parts, "refusal"), w)
    write_sound(node, heard, w)
    asked = Asked(context)
    write_calls([asked.known(call) for call in of_kind(parts, *CALLS)], w, context)
    for part in parts:
        if part.kind not in ("text", "refusal", "thinking", "redacted", *CALLS):
            lose(part, w.ledger)
    write_extras(node, "message", w)
    w.order(("role", "content", "refusal"))


def write_role(node: Node, w: Writer) -> None:
    role = node.get("role")
    if role is not None and node.protocol == NAME:
        w.put("role", role)
        return
    w.make("role", "assistant", "required-by-target")
    w.ledger.drop(role, "target-default")


def _write_content(parts: list[Node], w: Writer, context: Context) -> None:
    """The texts as one content, and their citations beside it."""
    put_or_make(w, "content", texts(parts), None)
    citations, base = [], 0
    for part in parts:
        for citation in part.says.get("citations", []):
            said = placed(citation, text_of(part), base)
            if said is None:
                w.ledger.drop(citation, "no-equivalent")
            else:
                citations.append(said)
        base += len(text_of(part))
        forget_beside_text(part, w.ledger, ("citations", "part_logprobs"))
    write_citations(citations, w, context)


def _write_refusal(node: Node, parts: list[Node], w: Writer) -> None:
    """The model's own refusal, or else the vendor's words on why the reply was filtered (`spec/responses.md` §4)."""
    leaf, explanation = texts(parts), node.get("explanation")
    put_or_make(w, "refusal", leaf or explanation, None)
    if leaf is not None:
        w.ledger.drop(explanation, "duplicate")
    for part in parts:
        forget_beside_text(part, w.ledger, ("part_logprobs",))


def write_sound(node: Node, heard: list[Node], w: Writer) -> None:
    """Audio, which only this protocol has."""
    pieces = [*(leaf.raw() for leaf in node.says.get("audio", [])), *(part.says["text"].raw() for part in heard)]
    if pieces:
        sound = w.object("audio")
        for key in dict.fromkeys(leaf.key for leaf in pieces):
            of_key = [leaf for leaf in pieces if leaf.key == key]
            told = [leaf for leaf in of_key if isinstance(leaf.value, str)]
            sound.put(key, joined(told, "", "pieces-joined") if len(told) == len(of_key) else of_key[-1])
            w.ledger.drop(of_key[:-1] if len(told) < len(of_key) else None, "duplicate")


def write_stop(node: Node, w: Writer, context: Context, cut: bool) -> None:
    """Why the reply ended, in this protocol's words (`spec/responses.md` §9).

    A reply without its end is `still-running`, unless `cut` says that it is to be ended here.
    """
    reason, home = node.get("stop_reason"), node.protocol == NAME
    if home and reason is not None and reason.home is not None:
        w.put("finish_reason", reason.raw())
    elif home and not cut:
        w.make("finish_reason", None, "stream-was-cut")
    elif reason is None or reason.value == "running":
        if not cut:
            hint = "`--set partial=true` writes what there is"
            raise NotPossible("still-running", "the reply is not finished", hint=hint)
        w.put("finish_reason", reason.to("stop", "stream-was-cut") if reason else made("stop", "stream-was-cut"))
    else:
        w.put("finish_reason", _spelled(reason, context))
    for term in ("stop_sequence", "stop_token"):
        leaf = node.get(term)
        if leaf is not None and home:
            w.put(leaf.key, leaf)
        else:
            w.ledger.drop(leaf, "no-equivalent")


def _spelled(reason: Leaf, context: Context) -> Leaf:
    word = STOPS.from_canonical.get(reason.value) if isinstance(reason.value, str) else None
    if word is None:
        context.find("unknown-stop")
    if reason.value == "pause":
        context.find("paused-turn")
    return reason.to(word or "stop", "respelled")
