"""Ids of output items. Source: `spec/responses.md` §1.1, `spec/streams.md` §2."""

from ...context import Context
from ...ir.nodes import Node
from ...ir.values import legal
from ...ledger import Leaf, Writer
from .tables import LONGEST_ID, NAME

CALL_PREFIX = {"tool_call": "fc_", "custom_call": "ctc_"}


class Ids:
    """Ids of items that no source names, from the response's id: a counter for each kind; and which ids calls have."""

    def __init__(self, response: str) -> None:
        self.response, self.counts = response, dict[str, int]()
        self.taken = dict[str, int]()

    def make(self, prefix: str) -> str:
        count = self.counts.get(prefix, 0)
        self.counts[prefix] = count + 1
        return f"{prefix}_{self.response}" + (f"_{count}" if count else "")

    def distinct(self, call: Node) -> None:
        """Give a call whose id an earlier one has, as some servers write, one of its own: clients tell calls by it."""
        leaf = call.get("call_id")
        if leaf is None or not isinstance(leaf.value, str) or call.protocol == NAME:
            return
        found, count = leaf.value, self.taken.get(leaf.value, 0)
        while found in self.taken:
            count += 1
            found = f"{leaf.value}_{count}"
        self.taken[leaf.value] = count
        self.taken.setdefault(found, 0)
        if found != leaf.value:
            call.says["call_id"] = leaf.to(found, "legal-id")


def item_id(leaf: Leaf, prefix: str, context: Context) -> Leaf:
    """The source's id with the prefix that the vendor asks for, or as it is under `--set item-ids=source`."""
    said = leaf.value
    if context.choice("item-ids") == "source":
        prefix = ""
    value = prefix + legal(said.removeprefix(prefix), LONGEST_ID - len(prefix), ".")
    if value == said:
        return leaf
    return leaf.to(value, "wrap-id" if value == prefix + said else "legal-id")


def write_call_id(call: Node, item: Writer, ids: Ids, context: Context, prefix: str = "") -> None:
    """The item's id of a call, which is not the id by which its result is found; that is made distinct here."""
    ids.distinct(call)
    leaf, prefix = call.get("call_id"), prefix or CALL_PREFIX[call.kind]
    if leaf is None or not isinstance(leaf.value, str) or not leaf.value:
        item.make("id", ids.make(prefix.rstrip("_")), "made-id")
        return
    said = item_id(leaf, prefix, context)
    if said is leaf:  # the leaf itself stands under `call_id`
        item.make("id", leaf.value, "made-id")
    else:
        item.put("id", said)
