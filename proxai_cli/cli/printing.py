"""How a body is printed, and under which name a document goes to its place."""

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .. import text
from ..errors import ProxaiError
from . import screen
from .documents import Document
from .inputs import Input
from .options import Call
from .outputs import STDOUT, Output
from .parts import CALLS

if TYPE_CHECKING:
    from .spreading import Written


def placed(document: Document) -> Input:
    """The input under the name that a document of it has below `-o DIR/`: documents of calls have one each."""
    part = document.part
    if part.record is None or (part.container not in CALLS and part.pieces is None):
        return part.input
    stem = os.path.splitext(part.input.name)[0]
    return part.input._replace(name=f"{stem}.{part.record}.{'json' if part.pieces is None else 'sse'}")


def printed(
    value: object, call: Call, output: "Output | Written", document: Document, several: bool = False
) -> Iterator[bytes]:
    """A body as JSON text: in lines where there are several, else as `--indent` or the place asks for."""
    place = output.place(placed(document))
    one = placed(document) != document.part.input and output.folder
    several = several or (document.part.record is not None and not one) or (place == STDOUT and output.several)
    indent = 2 if place.endswith(".json") or (place == STDOUT and screen.is_terminal(sys.stdout)) else None
    if call.indent is not None:
        if not (call.indent.isascii() and call.indent.isdigit() and len(call.indent) < 3):
            raise ProxaiError("bad-call", "--indent takes a number up to 99", hint="--indent 2")
        indent = int(call.indent) or None
    yield text.dumps(value, None if several else indent) + b"\n"
