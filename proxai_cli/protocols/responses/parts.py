"""Parts as they stand inside items of a request or of a reply. Source: `spec/requests.md` §6 and §7."""

from ...context import Context
from ...ir.nodes import Node
from ...ir.terms import term
from ...ir.values import as_text
from ...ledger import Writer
from .items import lost
from .tables import CUSTOM_CALL, FILE, FUNCTION_CALL, IMAGE, INPUT_TEXT, OUTPUT_TEXT, REFUSAL

SAME_VENDOR = ("chat",)  # whose file ids are known here
MEDIA = ("image", "file", "audio")
# Why a part that has no place here is lost, where each of its terms has no reason of its own.
LOST = {
    **dict.fromkeys(MEDIA, "unsupported-media"),
    **dict.fromkeys(("hosted_call", "hosted_result"), "hosted-tool"),
}


def flat(parts: list[Node]) -> list[Node]:
    """The parts with documents of plain text, or of parts, in place of themselves (`spec/requests.md` §6)."""
    found: list[Node] = []
    for part in parts:
        inner = [*part.parts(), *([_as_text_part(part)] if "text" in part.says else [])] if part.kind == "file" else []
        if not inner:
            found.append(part)
            continue
        inner[0] = inner[0].but()
        loose = part.but("parts", "text", "cache_mark")
        inner[0].asides += [(said, term(name).why) for name, said in loose.says.items()]
        inner[0].asides += [(leaf, "unknown-field") for leaf in loose.extras.values()]
        inner[0].asides += loose.asides
        if "cache_mark" in part.says:
            inner[-1] = inner[-1].but()
            inner[-1].says["cache_mark"] = part.says["cache_mark"]
        found += flat(inner)
    return found


def _as_text_part(part: Node) -> Node:
    return Node("text", part.protocol, None, {"text": part.says["text"]})


def write_input_part(part: Node, content: Writer, context: Context) -> bool:
    """A part of a user's or system's message, or of a tool's output; was it written?"""
    if part.kind == "text" and "text" in part.says:
        INPUT_TEXT.write(part.but("citations"), content.item(), context)
        content.ledger.drop(part.get("citations"), "no-equivalent")
    elif part.kind == "refusal" and "text" in part.says:
        text = part.but()
        text.kind, text.says["text"] = "text", part.says["text"].to(part.says["text"].value, "refusal-text")
        INPUT_TEXT.write(text, content.item(), context)
    elif part.kind in ("image", "file") and _is_whole(part):
        table = IMAGE if part.kind == "image" else FILE
        if "file_id" in part.says and part.protocol not in SAME_VENDOR:
            context.find("foreign-id-kept")
        table.write(with_data_url(part), content.item(), context)
    else:
        lost(part, content.ledger, why="unsupported-media" if part.kind in MEDIA else None)
        return False
    return True


def write_output_part(part: Node, content: Writer, context: Context) -> bool:
    """A part of an assistant's message in a request, where citations have no place; was it written?"""
    if part.kind not in ("text", "refusal") or "text" not in part.says:
        elsewhere = part.kind == "audio" and "data" not in part.says  # only its vendor knows where it is
        why = "foreign-id" if elsewhere else "unsupported-media" if part.kind in MEDIA else None
        lost(part, content.ledger, why=why)
        return False
    (OUTPUT_TEXT if part.kind == "text" else REFUSAL).write(part.but("citations"), content.item(), context)
    content.ledger.drop(part.get("citations"), "no-equivalent")
    return True


def _is_whole(part: Node) -> bool:
    return any(key in part.says for key in ("url", "data_url", "data", "file_id"))


def with_data_url(part: Node) -> Node:
    """The part with a data URL in place of its media type and data."""
    if "data" not in part.says:
        return part
    said = part.but("data", "media_type")
    media_type = part.get("media_type")
    default = "image/png" if part.kind == "image" else "application/pdf"
    url = f"data:{default if media_type is None else media_type.value};base64,{part.says['data'].value}"
    leaf = part.says["data"].to(url, "data-url", [] if media_type is None else [media_type])
    said.says["url" if part.kind == "image" else "data_url"] = leaf
    return said


def write_call(call: Node, item: Writer, context: Context) -> None:
    """What a call says, its arguments as JSON text."""
    table, key = (CUSTOM_CALL, "input") if call.kind == "custom_call" else (FUNCTION_CALL, "arguments")
    said = call.but("item")
    item.ledger.drop(call.get("item"), "no-equivalent")
    if key == "arguments" and key in said.says:
        arguments = as_text(said.says[key])
        said.says[key] = arguments if arguments.value else arguments.to("{}", "empty-arguments")
    table.write(said, item, context)
    for needed in ("call_id", "name"):
        if needed not in item.value:
            item.make(needed, "", "required-by-target")
    if key not in item.value:
        item.make(
            key, "{}" if key == "arguments" else "", "empty-arguments" if key == "arguments" else "required-by-target"
        )
