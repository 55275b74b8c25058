"""What is known of a batch: its state, its times, its counts."""

from typing import Any

from ...context import Context
from ...ir.nodes import Node
from ...ledger import Leaf, Writer, made
from ...tables import NUMBER, OBJECT, TEXT, Field, Gap, Must, Nested, Table, Word
from .. import pages
from ..address import ANTHROPIC, OPENAI
from ..models import rfc3339_of, unix_of
from ..times import EPOCH
from ..way import Way
from .lines import own_call, path_of

COUNTS = {
    OPENAI: Table("batch_counts", OPENAI, *(Field(name, name, NUMBER) for name in ("total", "completed", "failed"))),
    ANTHROPIC: Table(
        "batch_counts",
        ANTHROPIC,
        *(Field(name, name, NUMBER) for name in ("processing", "succeeded", "errored", "canceled", "expired")),
    ),
}
BATCH = {
    OPENAI: Table(
        "batch",
        OPENAI,
        Field("id", "id", TEXT),
        Word("object", "batch"),
        Field("endpoint", "batch_call"),
        Field("model", "model"),
        Field("errors", "errors"),
        Field("input_file_id", "input_file"),
        Field("completion_window", "window"),
        Field("status", "state", TEXT),
        Field("output_file_id", "output_file"),
        Field("error_file_id", "error_file"),
        Field("created_at", "created", NUMBER, write=unix_of),
        Field("in_progress_at", "in_progress_at"),
        Field("expires_at", "expires", NUMBER, write=unix_of),
        Field("finalizing_at", "finalizing_at"),
        Field("completed_at", "completed_at", NUMBER),
        Field("failed_at", "failed_at", NUMBER),
        Field("expired_at", "expired_at", NUMBER),
        Field("cancelling_at", "cancelling", NUMBER, write=unix_of),
        Field("cancelled_at", "cancelled_at", NUMBER),
        Nested("request_counts", "counts", OBJECT, lambda leaf, context: COUNTS[OPENAI].read(leaf.value, context)),
        Field("usage", "usage"),
        Field("metadata", "metadata"),
        Must("created_at", 0, "no-time"),
        Must("completion_window", "24h"),
        Must("input_file_id", ""),
    ),
    ANTHROPIC: Table(
        "batch",
        ANTHROPIC,
        Field("id", "id", TEXT),
        Word("type", "message_batch"),
        Field("processing_status", "state", TEXT),
        Nested("request_counts", "counts", OBJECT, lambda leaf, context: COUNTS[ANTHROPIC].read(leaf.value, context)),
        Field("ended_at", "ended", TEXT, write=rfc3339_of),
        Field("created_at", "created", TEXT, write=rfc3339_of),
        Field("expires_at", "expires", TEXT, write=rfc3339_of),
        Field("archived_at", "archived"),
        Field("cancel_initiated_at", "cancelling", TEXT, write=rfc3339_of),
        Field("results_url", "results_url"),
        Gap("batch_call", "target-default"),
        Must("created_at", EPOCH, "no-time"),
        Must("expires_at", EPOCH, "no-time"),
        *(Must(name, None) for name in ("ended_at", "archived_at", "cancel_initiated_at", "results_url")),
    ),
}
PAGE = pages.tables(BATCH, paged=True)
TABLES = (BATCH, COUNTS, PAGE)

ENDED = ("completed", "failed", "expired", "cancelled")
STATES = {
    "validating": "in_progress",
    "finalizing": "in_progress",
    "cancelling": "canceling",
    **dict.fromkeys(ENDED, "ended"),
}
ARRANGED = ("state", "counts", "ended", *(f"{state}_at" for state in ENDED))


def is_batch(value: Any) -> bool:
    """An object that calls itself a batch."""
    return isinstance(value, dict) and (value.get("object") == "batch" or value.get("type") == "message_batch")


def write(value: dict[str, Any], w: Writer, way: Way) -> None:
    """A batch, or a list of batches, to another protocol."""
    if way.ours == way.theirs:
        _copy(value, w, way)
    elif is_batch(value):
        _write_batch(BATCH[way.ours].read(value, way.context), w, way)
    else:
        page = PAGE[way.ours].read(value, way.context)
        pages.write_page(page, PAGE[way.theirs], w, way, lambda batch, item: _write_batch(batch, item, way))


def _copy(value: dict[str, Any], w: Writer, way: Way) -> None:
    """Within a vendor all but the call goes out as it came in."""
    for key in value:
        leaf = Leaf(value, key)
        if key == "data" and isinstance(leaf.value, list) and leaf.value:
            listed = w.list(key)
            for at, batch in enumerate(leaf.value):
                if isinstance(batch, dict) and batch:
                    _copy(batch, listed.item(), way)
                else:
                    listed.append(Leaf(leaf.value, at))
        else:
            w.put(key, own_call(leaf, way) if key == "endpoint" else leaf)


def _write_batch(batch: Node, w: Writer, way: Way) -> None:
    BATCH[way.theirs].write(batch, w, way.context, but=ARRANGED)
    if way.theirs == ANTHROPIC:
        _write_to_anthropic(batch, w, way.context)
    else:
        _write_to_openai(batch, w, way)
    w.order(dict.fromkeys(BATCH[way.theirs].names))


# To Anthropic


def _write_to_anthropic(batch: Node, w: Writer, context: Context) -> None:
    state = batch.get("state")
    if state is None:
        w.make("processing_status", "in_progress", "required-by-target")
    else:
        w.put("processing_status", state.to(STATES.get(state.value, state.value), "respelled"))
    ends = [batch.says[f"{each}_at"] for each in ENDED if f"{each}_at" in batch.says]
    own = batch.get(f"{state.value}_at") if state is not None and state.value in ENDED else None
    ended = own or (ends[0] if ends else None)
    w.ledger.drop([each for each in ends if each is not ended], "no-equivalent")
    if ended is not None:
        said = rfc3339_of(ended, context)
        if isinstance(said, Leaf):
            w.put("ended_at", said)
        else:
            w.ledger.drop(ended, said.why)
    _write_counts_to_anthropic(_counted(batch.get("counts"), w), w.object("request_counts"))


def _counted(counts: Node | None, w: Writer) -> Node:
    """The counts that are whole numbers; what else stands among them no version of the protocol has."""
    said = Node("batch_counts", "") if counts is None else counts
    odd = [name for name, leaf in said.says.items() if type(leaf.value) is not int]
    w.ledger.drop([*(said.says[name] for name in odd), *said.extras.values()], "unknown-field")
    w.ledger.drop([leaf for leaf, _ in said.asides], "target-default")
    return Node(said.kind, said.protocol, None, {name: leaf for name, leaf in said.says.items() if name not in odd})


def _write_counts_to_anthropic(counts: Node, w: Writer) -> None:
    total, done, failed = (counts.get(name) for name in ("total", "completed", "failed"))
    if total is None:
        w.make("processing", 0, "required-by-target")
    else:
        others = [leaf for leaf in (done, failed) if leaf is not None]
        open_ones = max(0, total.value - sum(leaf.value for leaf in others))
        w.put("processing", total.to(open_ones, "usage-sum", others))
    for name, leaf in (("succeeded", done), ("errored", failed), ("canceled", None), ("expired", None)):
        w.put(name, leaf or made(0, "required-by-target"))


# To OpenAI


def _write_to_openai(batch: Node, w: Writer, way: Way) -> None:
    state, ended = batch.get("state"), batch.get("ended")
    counts = _counted(batch.get("counts"), w)
    word = _state_of(None if state is None else state.value, counts)
    w.put("status", made(word, "required-by-target") if state is None else state.to(word, "respelled"))
    if ended is not None:
        said = unix_of(ended, way.context)
        if isinstance(said, Leaf):
            w.put(f"{word if word in ENDED else 'completed'}_at", said)
        else:
            w.ledger.drop(ended, said.why)
    w.make("endpoint", path_of(way.target), "required-by-target")
    if "counts" in batch.says:
        _write_counts_to_openai(counts, w.object("request_counts"))


def _state_of(state: Any, counts: Node) -> str:
    """Anthropic only says that a batch ended; how it ended is told by its counts."""
    if state != "ended":
        return {"canceling": "cancelling"}.get(state, state) if isinstance(state, str) else "in_progress"
    said = {name: leaf.value for name, leaf in counts.says.items()}
    whole = sum(said.values())
    alone = [name for name in ("expired", "canceled") if whole and said.get(name) == whole]
    return {"expired": "expired", "canceled": "cancelled"}[alone[0]] if alone else "completed"


def _write_counts_to_openai(counts: Node, w: Writer) -> None:
    for name, summed in (
        ("total", COUNTS[ANTHROPIC].names),
        ("completed", ["succeeded"]),
        ("failed", ["errored", "canceled", "expired"]),
    ):
        leaves = [counts.says[each] for each in summed if each in counts.says]
        if not leaves:
            w.make(name, 0, "required-by-target")
        elif len(summed) == 1:
            w.put(name, leaves[0])
        else:
            w.put(name, leaves[0].to(sum(leaf.value for leaf in leaves), "usage-sum", leaves[1:]))
