"""Messages and turns: results of tools as parts of a turn, and back in the order that Chat Completions demands.

Source: `spec/requests.md` §5, §6.
"""

from typing import Any

from ...context import Context
from ...ir.nodes import Node
from ...ir.turns import CALLS
from ...ledger import Leaf, Ledger, Writer, made
from .parts import forget, forget_beside_text, lose, of_kind, put_or_make, texts, write_calls, write_reasoning
from .tables import CONTENT_OF, NAME, SAME_VENDOR

# Keys of a message in the order in which people expect them.
MESSAGE_KEYS = (
    "role",
    "name",
    "tool_call_id",
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "content",
    "refusal",
)
# What each role may hold besides calls.
HOLDS = {"user": ("text", "image", "file", "audio"), "assistant": ("text", "refusal")}


# --- reading


class Numbers:
    """Ids for calls that have none, and for the results that answer them (`spec/requests.md` §5.3)."""

    def __init__(self) -> None:
        self.legacy = self.others = 0
        self.unanswered: list[Node] = []

    def call(self, call: Node, legacy: bool) -> None:
        if legacy:
            name, self.legacy = f"call_fn_{self.legacy}", self.legacy + 1
        else:
            name, self.others = f"call_{self.others}", self.others + 1
        call.says["call_id"] = made(name, "made-id")
        self.unanswered.append(call)

    def result(self, result: Node, name: str | None) -> bool:
        """Give a result the id of the first call that waits for it: of that name, if there is one."""
        for call in self.unanswered:
            if name is None or call.value("name") == name:
                result.says["call_id"] = made(call.says["call_id"].value, "made-id")
                self.unanswered.remove(call)
                return True
        return False


def read_turn(message: Node, numbers: Numbers) -> Node:
    """A message as a turn: the ids that are missing, and results as parts of a user turn."""
    if message.kind == "other":
        return Node("turn", NAME, None, {"parts": [message]})
    for call in of_kind(message.parts(), *CALLS):
        if "call_id" not in call.says:
            numbers.call(call, legacy=call.home is message.home.get("function_call"))
    said_by = message.home.get("role")
    if said_by in ("tool", "function"):
        _answer(message, said_by == "function", numbers)
    elif "call_id" in message.says:
        message.asides.append((message.says.pop("call_id"), "unknown-field"))
    if "citations" in message.says:
        message.asides.append((message.says.pop("citations"), "no-equivalent"))
    audio = message.extras.get("audio")
    if audio is not None and isinstance(audio.value, dict):
        message.asides.append((message.extras.pop("audio"), "foreign-id"))
    return message


def _answer(message: Node, legacy: bool, numbers: Numbers) -> None:
    """Make a message of a tool a turn with one result in it."""
    content = of_kind(message.parts(), *HOLDS["user"], "other")
    result = Node("tool_result", NAME, None, {"parts": content})
    if "call_id" in message.says:
        result.says["call_id"] = message.says.pop("call_id")
    else:
        name = message.says.get("name")
        found = numbers.result(result, name.value if legacy and name is not None else None)
        if legacy and name is not None:
            del message.says["name"]
            if found:
                message.asides.append((name, "duplicate"))
            else:
                result.says["name"] = name
    message.says["parts"] = [result, *(part for part in message.parts() if part not in content)]


# --- writing


def merged(turns: list[Node]) -> list[Node]:
    """Turns of one role that follow each other as one turn (`spec/requests.md` §5.2)."""
    out: list[Node] = []
    for turn in turns:
        last = out[-1] if out else None
        if last is None or not _alike(last, turn):
            out.append(turn)
            continue
        both = Node("turn", last.protocol, None, {**last.says, "parts": [*last.parts(), *turn.parts()]})
        both.extras = dict(last.extras)
        both.asides = [*last.asides, *turn.asides, *((leaf, "unknown-field") for leaf in turn.extras.values())]
        roles = [one.says["role"] for one in (last, turn) if isinstance(one.get("role"), Leaf)]
        if len(roles) == 2:
            both.says["role"] = roles[0].to(roles[0].value, "merged-boundary", roles[1:])
        out[-1] = both
    return out


def _alike(one: Node, other: Node) -> bool:
    """May two turns be one? Not results of tools, and not what different participants said."""
    same = one.value("role", "user") == other.value("role", "user")
    said = {*one.says, *other.says}
    return same and said <= {"role", "parts"} and not of_kind([*one.parts(), *other.parts()], "tool_result")


class Conversation:
    """Turns in, messages out: results as messages of their own, media of results behind their whole group.

    `names` are those of the request's tools.
    """

    def __init__(self, messages: Writer, names: set[Any], context: Context) -> None:
        self.messages, self.names, self.ledger, self.context = messages, names, messages.ledger, context

    def write(self, turns: list[Node]) -> None:
        for turn in turns:
            if of_kind(turn.parts(), "tool_result"):
                self._results(turn)
            elif turn.value("role") == "assistant" or of_kind(turn.parts(), *CALLS):
                self._assistant(turn)
            else:
                self._spoken(turn)

    def _message(self) -> Writer:
        """A message that counts only when `_add` takes it in."""
        return Writer(self.ledger, {})

    def _add(self, w: Writer, turn: Node, role: str | None = None) -> None:
        """Take a message in, unless nothing is said in it; what else the turn says is dropped."""
        if not w.value:
            self.context.find("empty-turn")
            forget(turn, self.ledger, ("parts",))
            return
        leaf = turn.get("role")
        if isinstance(leaf, Leaf) and role is not None:
            leaf = leaf.to(role, "respelled")
        put_or_make(w, "role", leaf, role or "user")
        forget(turn, self.ledger, ("role", "parts"))
        w.order(MESSAGE_KEYS)
        self.messages.value.append(w.value)

    def _spoken(self, turn: Node) -> None:
        """A turn of the user, or instructions."""
        w, role = self._message(), turn.value("role", "user")
        holds = HOLDS["user"] if role == "user" else ("text",)
        if not self._plain(turn, w):
            parts = self._held(turn.parts(), holds)
            if parts and role in ("system", "developer") and self.context.choice("system") == "join":
                self._joined(parts, w)
            elif parts:
                self._content(parts, w)
            elif role == "user" and (gone := of_kind(turn.parts(), "image", "file", "audio")):
                w.make("content", f"[{gone[0].kind} omitted]", "placeholder")
        self._add(w, turn)

    def _plain(self, node: Node, w: Writer) -> bool:
        """Content that was a lone string stays one."""
        leaf = node.plain()
        if leaf is None or not isinstance(leaf.value, str):
            return False
        w.put("content", leaf)
        forget(node.parts()[0], self.ledger, ("text",))
        return True

    def _held(self, parts: list[Node], holds: tuple[str, ...]) -> list[Node]:
        """The parts that a role may hold, in this protocol's forms; the others are dropped."""
        held = []
        for part in parts:
            for one in self._forms(part):
                if one.kind in holds:
                    held.append(one)
                else:
                    lose(one, self.ledger)
        return held

    def _forms(self, part: Node) -> list[Node]:
        """A part as the parts by which this protocol says it (`spec/requests.md` §6)."""
        if "parts" in part.says and part.kind not in ("turn", "tool_result"):
            forget(part, self.ledger, ("parts", "cache_mark"))
            forms = [form for inner in part.parts() for form in self._forms(inner)]
            return _marked(forms, part.get("cache_mark"), self.ledger)
        if part.kind == "file" and "text" in part.says:
            forget(part, self.ledger, ("text", "cache_mark"))
            text = Node("text", part.protocol, None, {"text": part.says["text"]})
            return _marked([text], part.get("cache_mark"), self.ledger)
        if part.kind in ("image", "file") and "data" in part.says:
            return [_as_url(part)]
        if part.kind == "file" and ("data_url" in part.says or "file_id" in part.says):
            if "file_id" in part.says and part.protocol not in SAME_VENDOR:
                self.context.find("foreign-id-kept")
            return [part]
        if part.kind == "image" and isinstance(part.value("url"), str):
            return [part]
        if part.kind in ("image", "file"):
            self.ledger.drop(part, "foreign-id" if "file_id" in part.says else "unsupported-media", True)
            return []
        return [part]

    def _content(self, parts: list[Node], w: Writer) -> None:
        content = w.list("content")
        for part in parts:
            CONTENT_OF[part.kind].write(part, content.item(), self.context)

    def _joined(self, parts: list[Node], w: Writer) -> None:
        """Instructions in several pieces as one text (`--set system=join`)."""
        leaf = texts(parts, "\n\n")
        if leaf is not None:
            w.put("content", leaf)
        for part in parts:
            forget_beside_text(part, self.ledger)

    def _assistant(self, turn: Node) -> None:
        w, parts = self._message(), turn.parts()
        spoken = of_kind(parts, "text", "refusal")
        if not self._plain(turn, w) and spoken:
            self._answer(spoken, w)
        thoughts = of_kind(parts, "thinking", "redacted")
        if self.context.chosen("keep-reasoning"):
            write_reasoning(thoughts, w, self.context)
        else:
            self.ledger.drop(thoughts, "foreign-signature", True)
        write_calls([self._called(call) for call in of_kind(parts, *CALLS)], w, self.context)
        for part in parts:
            if part.kind not in ("text", "refusal", "thinking", "redacted", *CALLS):
                lose(part, self.ledger)
        self._add(w, turn, role="assistant")

    def _called(self, call: Node) -> Node:
        """A call of a tool that is told by a longer name than it has in its namespace (`spec/requests.md` §7.1)."""
        space, name = call.get("namespace"), call.get("name")
        longer = f"{call.value('namespace')}__{call.value('name')}"
        if space is None or name is None or longer not in self.names:
            return call
        named = call.but("namespace")
        named.says["name"] = name.to(longer, "flatten-namespace", [space])
        return named

    def _answer(self, parts: list[Node], w: Writer) -> None:
        """Text and refusal of the assistant: a lone text is a string, several stay parts."""
        spoken = of_kind(parts, "text")
        refusals = of_kind(parts, "refusal")
        if len(spoken) == 1 and "cache_mark" not in spoken[0].says and isinstance(spoken[0].value("text"), str):
            w.put("content", spoken[0].says["text"])
            forget(spoken[0], self.ledger, ("text",))
        elif spoken:
            self._content(spoken, w)
        leaf = texts(refusals)
        if leaf is not None:
            w.put("refusal", leaf)
        for part in refusals:
            forget_beside_text(part, self.ledger)

    def _results(self, turn: Node) -> None:
        """The results of a turn, each as a message; other media than text go to a user message behind them."""
        moved: list[Node] = []
        for result in of_kind(turn.parts(), "tool_result"):
            w = self._message()
            moved += self._result(result, w)
            put_or_make(w, "tool_call_id", result.get("call_id"), "")
            self._add(w, _role_of(turn), role="tool")
        forget(turn, self.ledger, ("role", "parts"))
        if moved:
            w = self._message()
            self._content([_moved(part) for part in moved], w)
            self._add(w, Node("turn", turn.protocol))

    def _result(self, result: Node, w: Writer) -> list[Node]:
        """The content of one result; gives back the media that have no place in it."""
        prefix = self.context.choice("tool-error-prefix")
        failed, moved = result.get("is_error"), list[Node]()
        prefixed = isinstance(failed, Leaf) and failed.value is True and prefix
        parts = result.parts()
        if prefixed:
            parts = _prefixed(parts, prefix, failed)
        elif isinstance(failed, Leaf) and failed.value is False:
            self.ledger.drop(failed, "target-default")
        elif failed is not None:
            self.ledger.drop(failed, "no-equivalent", True)
        plain = Node("tool_result", result.protocol, None, {"parts": parts})
        if not self._plain(plain, w):
            held = self._held(parts, HOLDS["user"])
            spoken = of_kind(held, "text")
            moved = [part for part in held if part.kind != "text"]
            if spoken:
                self._content(spoken, w)
            else:
                w.make("content", "", "required-by-target")
        forget(result, self.ledger, ("parts", "call_id", "is_error"))
        return moved


def _role_of(turn: Node) -> Node:
    """Of a turn of results only the role, which each of their messages says."""
    role = turn.get("role")
    return Node("turn", turn.protocol, None, {"role": role} if isinstance(role, Leaf) else {})


def _prefixed(parts: list[Node], prefix: str, failed: Leaf) -> list[Node]:
    """The content of a failed result with a word before it that tells so."""
    for at, part in enumerate(parts):
        if part.kind == "text" and isinstance(part.value("text"), str):
            said = part.but()
            said.says["text"] = part.says["text"].to(prefix + part.value("text"), "merged-boundary", [failed])
            return [*parts[:at], said, *parts[at + 1 :]]
    return [Node("text", "", None, {"text": failed.to(prefix, "respelled")}), *parts]


def _marked(parts: list[Node], mark: Node | None, ledger: Ledger) -> list[Node]:
    """The parts of a document, the last of which bears its cache mark."""
    if mark is None:
        return parts
    if not parts or "cache_mark" in parts[-1].says:
        ledger.drop(mark, "duplicate" if parts else "no-equivalent")
        return parts
    last = parts[-1].but()
    last.says["cache_mark"] = mark
    return [*parts[:-1], last]


def _as_url(part: Node) -> Node:
    """Base64 data as a data URL."""
    data, media = part.says["data"], part.get("media_type")
    said = part.but("data", "media_type")
    kind = media.value if isinstance(media, Leaf) else "application/octet-stream"
    url = data.to(f"data:{kind};base64,{data.value}", "data-url", [media] if isinstance(media, Leaf) else [])
    said.says["url" if part.kind == "image" else "data_url"] = url
    return said


def _moved(part: Node) -> Node:
    """A part that stood in a tool result and now stands behind it."""
    said = part.but()
    for name in ("url", "data_url", "file_id", "data"):
        leaf = said.get(name)
        if isinstance(leaf, Leaf):
            said.says[name] = leaf.to(leaf.value, "moved-media")
    return said
