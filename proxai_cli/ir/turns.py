"""A conversation set in the order that every API demands: each call's results directly behind the turn of the call.

Source: `spec/requests.md` §5.3.
"""

from typing import Any

from .nodes import Node

CALLS = ("tool_call", "custom_call")
NO_RESULT = "[no result in the capture]"


def paired(turns: list[Node], made: Any) -> list[Node]:
    """The same conversation with the results of each turn's calls in one user turn of their own behind it.

    A result that stands further away is moved up, a call without a result gets one (`missing-result`), and a result
    without its call becomes plain content of a user turn (`orphan-result`), its id set aside. `made` builds a leaf of
    our own: `made(value, reason)`. The nodes that come in are not altered.
    """
    out: list[Node] = []
    unanswered: dict[str, list[tuple[Node, _Answers]]] = {}
    groups: list[_Answers] = []
    for turn in turns:
        results = [part for part in turn.parts() if part.kind == "tool_result"]
        if not results:
            calls = [part for part in turn.parts() if part.kind in CALLS]
            out.append(turn)
            if calls:
                answers = _Answers(calls, turn.protocol)
                groups.append(answers)
                out.append(answers.turn)
                for call in calls:
                    unanswered.setdefault(call.value("call_id", ""), []).append((call, answers))
            continue
        rest, loose = turn.but("parts"), list[Node]()
        rest.home = None
        taken: _Answers | None = None
        last = max(at for at, part in enumerate(turn.parts()) if part.kind == "tool_result")
        for at, part in enumerate(turn.parts()):
            if part.kind != "tool_result":
                loose.append(_moved(part) if at < last and part.kind == "text" else part)
            elif unanswered.get(part.value("call_id", "")):
                call, answers = unanswered[part.value("call_id", "")].pop(0)
                answers.add(call, part)
                taken = taken or answers
            else:
                loose += _orphan(part, rest)
        if taken is None:
            rest.says["parts"] = loose
            out.append(rest)
            continue
        taken.lead(rest)  # with what was set aside of results without a call
        if loose:
            role = turn.get("role") or made("user", "required-by-target")
            out.append(Node("turn", turn.protocol, None, {"role": role, "parts": loose}))
    for answers in groups:
        answers.close(made)
    return out


class _Answers:
    """The results of one turn's calls, as they are found."""

    def __init__(self, calls: list[Node], protocol: str) -> None:
        self.calls, self.answered = calls, set[int]()
        self.turn = Node("turn", protocol, None, {"parts": []})

    def add(self, call: Node, result: Node) -> None:
        self.answered.add(id(call))
        self.turn.says["parts"].append(result)

    def lead(self, turn: Node) -> None:
        """Take over the role of the turn in which results stood; of several turns the roles are said together."""
        role = turn.get("role")
        if role is not None:
            before = self.turn.get("role")
            self.turn.says["role"] = role if before is None else before.to(before.value, "respelled", [role])
        for key, said in turn.says.items():
            if key not in ("role", "parts"):
                self.turn.says.setdefault(key, said)
        self.turn.asides += [*turn.asides, *((leaf, "unknown-field") for leaf in turn.extras.values())]

    def close(self, made: Any) -> None:
        for call in self.calls:
            if id(call) in self.answered or call.get("call_id") is None:
                continue
            text = Node("text", call.protocol, None, {"text": made(NO_RESULT, "missing-result")})
            call_id = call.says["call_id"]
            result = Node("tool_result", call.protocol)
            result.says = {"call_id": call_id.to(call_id.value, "missing-result"), "parts": [text]}
            self.turn.says["parts"].append(result)
        if self.turn.get("role") is None:
            self.turn.says["role"] = made("user", "required-by-target")


def _moved(part: Node) -> Node:
    """A text that stood before a result and now stands behind it."""
    text = part.get("text")
    if text is None:
        return part
    moved = part.but()
    moved.says["text"] = text.to(text.value, "merged-boundary")
    return moved


def _orphan(result: Node, turn: Node) -> list[Node]:
    """The content of a result whose call is not in the capture."""
    loose = []
    for part in result.parts():
        said = part.but()
        for term in ("text", "url", "data"):
            leaf = said.get(term)
            if leaf is not None:
                said.says[term] = leaf.to(leaf.value, "orphan-result")
        loose.append(said)
    turn.asides += [(said, "stateful-reference") for term, said in result.says.items() if term != "parts"]
    turn.asides += [*result.asides, *((leaf, "unknown-field") for leaf in result.extras.values())]
    return loose
