"""The JSON Schemas that `proxai map --schema` prints: of what we write and read, and of each protocol's documents."""

from typing import Any

from .. import policy, text
from ..errors import ProxaiError, nearest
from ..policy import KINDS
from ..protocols import PROTOCOLS
from ..schemas import OURS, published, written


def names() -> list[str]:
    """All names that there are."""
    return [*OURS, "policy", *(f"{protocol}.{kind}" for protocol in PROTOCOLS for kind in KINDS)]


def schema(name: str) -> bytes:
    """The text of a schema. Raises `bad-call` for a name that there is not."""
    if name not in names():
        near = nearest(name, names())
        hint = f"proxai map --schema {near}" if near else f"one of {', '.join(names())}"
        raise ProxaiError("bad-call", f"there is no schema {name!r}", hint=hint)
    if name == "policy":
        return _printed(policy.schema())
    if name in OURS:
        return written(name)
    return _printed(_of_kind(*name.split(".")))


def _of_kind(protocol: str, kind: str) -> dict[str, Any]:
    """The schema of one kind of document (of a stream: one event), with the definitions that it needs."""
    whole = published(protocol)
    said, needed = whole["kinds"][kind], dict[str, Any]()
    todo = [said]
    while todo:
        each = todo.pop()
        if isinstance(each, dict):
            name = str(each.get("$ref", "")).rpartition("/")[2]
            if name and name not in needed:
                needed[name] = whole["$defs"][name]
                todo.append(needed[name])
        todo += each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
    return {
        "$schema": whole["$schema"],
        "$id": f"urn:proxai:{protocol}.{kind}",
        "$comment": whole["$comment"],
        **said,
        "$defs": {name: needed[name] for name in sorted(needed)},
    }


def _printed(said: dict[str, Any]) -> bytes:
    return text.dumps(said, indent=2) + b"\n"
