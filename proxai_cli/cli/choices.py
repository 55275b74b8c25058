"""The mapping choices of `--set` (`spec/decisions.md` §2): names, values, and the check of what is given."""

from typing import NamedTuple

from ..errors import ProxaiError, nearest


class Choice(NamedTuple):
    """What it decides, its default (which may be no value at all), and its values; `free` says what else it takes."""

    text: str
    default: str
    values: tuple[str, ...] = ()
    free: str = ""

    def takes(self, value: str) -> bool:
        return value in self.values or (value.isdigit() if self.free == "a number" else bool(self.free and value))


SWITCH = ("false", "true")
ON = ("true", "false")

CHOICES: dict[str, Choice] = {
    "anthropic-version": Choice(
        "version of the Messages API", "as captured, else 2023-06-01", ("2023-06-01", "2026-10-21")
    ),
    "model": Choice("name of the model in the target", "as in the source", (), "any name"),
    "max-tokens": Choice("token limit where the target demands one", "4096", (), "a number"),
    "beta": Choice("write fields that need a beta header, too", "false", SWITCH),
    "system": Choice("several pieces of instructions: as parts, or joined to one text", "parts", ("parts", "join")),
    "mid-system": Choice("instructions in mid-conversation", "keep", ("keep", "hoist", "user")),
    "merge-roles": Choice("join messages of one role that follow each other", "false", SWITCH),
    "keep-reasoning": Choice("send another vendor's reasoning", "false", SWITCH),
    "reasoning-dialect": Choice(
        "field that holds reasoning in chat",
        "reasoning_content",
        ("reasoning_content", "reasoning", "reasoning_details", "none"),
    ),
    "thinking": Choice("how thinking is asked for in messages", "adaptive", ("adaptive", "budget", "effort-only")),
    "tool-error-prefix": Choice("text before a failed tool's result", "none", (), "a text"),
    "client-tools": Choice("tools that the client runs and the target lacks", "drop", ("drop", "functions")),
    "inline-refs": Choice("write out references in tool schemas", "false", SWITCH),
    "cache-marks": Choice("write cache marks to OpenAI", "true", ON),
    "keep-foreign-ids": Choice("keep ids that only the source's vendor knows", "false", SWITCH),
    "keep-unknown": Choice("pass fields that no inventory has", "false", SWITCH),
    "choice": Choice("which of several replies is the reply", "0", ("all",), "a number"),
    "item-ids": Choice("ids of calls in Responses replies", "prefixed", ("prefixed", "source")),
    "partial": Choice("take replies that are running or failed", "false", SWITCH),
    "annotations": Choice("write citations in chat streams", "true", ON),
    "usage-chunk": Choice("write the chunk with token counts", "true", ON),
    "stream-errors": Choice("write errors inside streams", "true", ON),
    "credentials": Choice("keep credentials of headers", "false", SWITCH),
    "encoding": Choice("encoding of embeddings", "as in the source", ("base64", "float")),
    "rerank": Choice("form of rerank calls", "detected", ("cohere", "jina")),
}


def chosen(given: list[str]) -> dict[str, str]:
    """`NAME=VALUE` texts as choices. Raises `bad-call` with the nearest name or the values that there are."""
    choices = {}
    for said in given:
        name, equals, value = said.partition("=")
        if not equals:
            raise ProxaiError("bad-call", "--set takes NAME=VALUE", hint="proxai map --choices")
        if name not in CHOICES:
            near = nearest(name, CHOICES)
            hint = f"--set {near}=…" if near else "proxai map --choices"
            raise ProxaiError("bad-call", f"--set knows no choice {name!r}", hint=hint)
        if not CHOICES[name].takes(value):
            choice = CHOICES[name]
            values = ", ".join([*choice.values, *([choice.free] if choice.free else [])])
            raise ProxaiError(
                "bad-call", f"--set {name} takes {values}", hint=f"--set {name}={(choice.values or ('…',))[0]}"
            )
        choices[name] = value
    return choices
