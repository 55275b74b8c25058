"""The bodies of a call that creates a reply, inside an exchange: request, reply, stream and error, with one ledger."""

from typing import Any

from ..context import Context
from ..endpoints.address import ANTHROPIC, VENDOR, Address
from ..endpoints.failures import read_failure, write_failure
from ..errors import OutOfOrder
from ..ir.events import DONE, Progress
from ..ledger import Leaf, Writer
from ..protocols import PROTOCOLS
from ..translate import paired
from .texts import END


def write_request(half: dict[str, Any], known: Address, source: str, target: str, w: Writer, context: Context) -> None:
    """The body of a request; the model and the wish for a stream may stand in the URL alone."""
    node = PROTOCOLS[source].read["request"](half["body"], context)
    if source != target:
        for term, said in (("model", known.model), ("stream", known.streamed or None)):
            if said is not None and term not in node.says:
                node.says[term] = Leaf(half, "url").to(said, "respelled")
        # In the forms of clouds the version stands in the body; it says which dialect this is, as the header does.
        w.ledger.drop(node.says.get("version", []), "target-default")
        node = node.but("version")
    PROTOCOLS[target].write["request"](node, w.object("body"), context)


def write_reply(half: dict[str, Any], source: str, target: str, w: Writer, context: Context) -> None:
    """The body of a reply; one that tells of a failure becomes an error where the target says that so."""
    node = PROTOCOLS[source].read["response"](half["body"], context)
    PROTOCOLS[target].write["response"](node, w.object("body"), paired(context, target))


def write_error(
    half: dict[str, Any], source: str, target: str, w: Writer, context: Context, has_head: bool
) -> Leaf | None:
    """The body of an error. Gives back the request id of the source's body if it goes into the head of the target."""
    if source == target:
        w.put("body", Leaf(half, "body"))
        return None
    error = read_failure(half, "body", source, half.get("status"), context)
    request_id = error.get("request_id") if has_head and VENDOR[target] != ANTHROPIC else None
    if isinstance(request_id, Leaf) and isinstance(request_id.value, str):
        error = error.but("request_id")
    else:
        request_id = None
    write_failure(error, target, half.get("status"), w.object("body"), context)
    return request_id


def write_stream(half: dict[str, Any], source: str, target: str, w: Writer, context: Context) -> None:
    """The events of a stream, accounted for over all of them at once.

    Raises what the decoder raises, and `truncated` where the stream ends before its end, unless what there is (the
    choice `partial`) or a proper end (`repair`) is wanted: then it is a finding.
    """
    if source == target:
        w.put("body", Leaf(half, "body"))
        return
    events, listed = half["body"], w.list("body")
    decoder = PROTOCOLS[source].Decoder(w.ledger, context)
    encoder = PROTOCOLS[target].Encoder(w.ledger, paired(context, target))
    progress = Progress()
    for number, event in enumerate([*events, None]):
        if number == len(events):
            said = decoder.close()
        elif event == END or (isinstance(event, dict) and event):
            said = _fed(decoder, events, number, w)
        else:
            w.ledger.drop(Leaf(events, number), "noise")
            continue
        progress.note(said)
        for one in said:
            _append(listed, encoder.feed(one))
    if not progress.complete:
        if not (context.chosen("partial") or context.chosen("repair")):
            hint = "--repair ends it properly, --set partial=true writes what there is"
            raise OutOfOrder("truncated", "the stream ends before its end", hint=hint)
        context.find("truncated", ())
        for one in progress.ending() if context.chosen("repair") else ():
            _append(listed, encoder.feed(one))
        _append(listed, encoder.close())
    w.ledger.keeping.clear()
    if not listed.value:
        w.make("body", listed.value, "required-by-target")


def _fed(decoder: Any, events: list[Any], number: int, w: Writer) -> list[Any]:
    event = events[number]
    if event == END:
        w.ledger.drop(Leaf(events, number), "stream-shape")
    try:
        said: list[Any] = decoder.feed(DONE if event == END else event)
        return said
    except OutOfOrder as error:
        raise error.at(event=number + 1) from None


def _append(listed: Writer, written: list[Any]) -> None:
    for event in written:
        listed.value.append(event)
        if event is DONE:
            listed.make(len(listed.value) - 1, END, "stream-shape")
