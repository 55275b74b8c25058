"""Parts as content blocks, in requests and replies (`spec/requests.md` §6, `spec/responses.md` §2 to §7)."""

from base64 import b64decode
from collections.abc import Callable
from typing import Any

from ...context import Context
from ...ir.nodes import Node
from ...ir.values import as_object, data_url, legal
from ...ledger import Leaf, Ledger, Writer, made
from ...tables import Table
from . import tables
from .hosted import LONGEST_NAME, Searches, hosted, write_hosted
from .tables import BLOCKS, NAME

IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
LABELS = {"image/jpg": "image/jpeg"}
SHORTEST_NAME = 64  # the limit of the other protocols
LONGEST_ID = 4096
MEDIA = ("image", "file", "audio")


def write_blocks(parts: list[Node], blocks: Writer, context: Context, reply: bool = False) -> None:
    """All parts as content blocks at the end of a list; what has no place is dropped."""
    searches = Searches()
    for part in [*parts, None]:
        for found in searches.over(part):
            write_block(found, blocks, context, reply)
        if part is not None:
            write_block(searches.told(part), blocks, context, reply)


def write_block(part: Node, blocks: Writer, context: Context, reply: bool = False) -> None:
    """One part as one content block, or none."""
    if part.protocol == NAME:
        if part.says or part.extras or part.asides:  # else a block began that says nothing
            write_at_home(part, blocks.item(), context)
    else:
        WRITERS.get(part.kind, _no_block)(part, blocks, context, reply)


def drop(ledger: Ledger, said: Any, why: str, steers: bool = True) -> None:
    """Drop what a conversation says."""
    ledger.drop(said, why, steers)


def _no_block(part: Node, blocks: Writer, context: Context, reply: bool) -> None:
    drop(blocks.ledger, part, NO_BLOCK.get(part.kind, "unknown-field"))


NO_BLOCK = {
    "audio": "unsupported-media",
    "reference": "stateful-reference",
    "hosted_result": "hosted-tool",
    "compaction": "foreign-signature",
}


# At home

# What a block holds where nothing was said.
EMPTY: dict[str, dict[str, Any]] = {
    "text": {"text": str},
    "refusal": {"text": str},
    "thinking": {"thinking": str, "signature": str},
    "tool_call": {"input": dict},
    "custom_call": {"input": dict},
    "hosted_call": {"input": dict},
}


def write_at_home(part: Node, block: Writer, context: Context) -> None:
    """Every leaf as it was said, what was set aside included."""
    table = own_table(part)
    arguments = part.get("arguments")
    table.write(part, block, context, but=("arguments",))
    if part.home is None and arguments is not None:
        block.put("input", as_object(arguments))
    restore_asides(part, block)
    if part.home is None:
        for key, value in EMPTY.get(part.kind, {}).items():
            if key not in block.value and key in table.names:
                block.make(key, value(), "required-by-target")
    block.order(table.names)


def restore_asides(node: Node, w: Writer) -> None:
    """Put back what a decoder set aside for others' sake."""
    for said, _ in node.asides:
        if isinstance(said, Leaf) and said.key not in w.value:
            w.put(said.key, said.raw())


def own_table(part: Node) -> Table:
    """The table that a part of this protocol was read with."""
    for name in ("type", "service"):
        leaf = part.get(name)
        if leaf is not None and leaf.raw().value in BLOCKS:
            return BLOCKS[leaf.raw().value]
    return OWN.get(part.kind, tables.ALONE_BLOCK)


OWN = {
    "text": tables.TEXT_BLOCK,
    "refusal": tables.TEXT_BLOCK,
    "thinking": tables.THINKING_BLOCK,
    "redacted": tables.REDACTED,
    "tool_call": tables.TOOL_USE,
}


# From other protocols


def _write_text(part: Node, blocks: Writer, context: Context, reply: bool) -> None:
    text = part.get("text")
    if text is None or text.value == "":
        drop(blocks.ledger, part, "target-default" if reply else "target-rejects")
        return
    block = blocks.item()
    tables.TEXT_BLOCK.write(part, block, context, but=("citations",))
    citations = part.says.get("citations", [])
    if reply:
        write_citations(citations, text.value, block, context)
    else:
        blocks.ledger.drop(citations, "no-equivalent")


def _write_refusal(part: Node, blocks: Writer, context: Context, reply: bool) -> None:
    text = part.get("text")
    if text is None or text.value == "":
        drop(blocks.ledger, part, "target-default" if reply else "target-rejects")
        return
    said = part.but()
    said.says["text"] = text if reply else text.to(text.value, "refusal-text")
    tables.TEXT_BLOCK.write(said, blocks.item(), context)


def _write_thinking(part: Node, blocks: Writer, context: Context, reply: bool) -> None:
    if not reply and not context.chosen("keep-reasoning"):
        drop(blocks.ledger, part, "foreign-signature")
        return
    block = blocks.item()
    tables.THINKING_BLOCK.write(part, block, context)
    for key, why in (("thinking", "required-by-target"), ("signature", "required-by-target")):
        if key not in block.value:
            block.make(key, "", why)
    block.order(tables.THINKING_BLOCK.names)


def _write_redacted(part: Node, blocks: Writer, context: Context, reply: bool) -> None:
    if (not reply and not context.chosen("keep-reasoning")) or part.get("data") is None:
        drop(blocks.ledger, part, "foreign-signature")
        return
    tables.REDACTED.write(part, blocks.item(), context)


def _write_call(part: Node, blocks: Writer, context: Context, reply: bool) -> None:
    block = blocks.item()
    begin_call(part, block, context, reply)
    arguments = part.get("arguments" if part.kind == "tool_call" else "input")
    if arguments is None:
        block.make("input", {}, "empty-arguments")
    elif part.kind == "tool_call":
        block.put("input", as_object(arguments))
    else:
        block.object("input").put("input", wrapped(arguments))
    block.order(tables.TOOL_USE.names)


def wrapped(text: Leaf) -> Leaf:
    """The free text of a custom tool, on its way into an object."""
    return text.to(text.value, "wrap-custom")


def begin_call(part: Node, block: Writer, context: Context, reply: bool = True) -> None:
    """All of a call but its arguments. In a request it goes by the name of the tool's definition."""
    said = part.but("arguments", "input") if reply else part.but("arguments", "input", "namespace")
    said.says["call_id"] = legal_id(part.get("call_id") or made("call_0", "made-id"))
    said.says["name"] = asked_name(tool_name(part.but("namespace")), context) if reply else tool_name(part)
    tables.TOOL_USE.write(said, block, context, but=("cache_mark",))
    block.ledger.drop(said.says.get("cache_mark"), "no-equivalent")


def tool_name(node: Node) -> Leaf:
    """The name of a tool, or of the one that is called, as Messages takes it; one of a namespace has a longer name."""
    name, space = node.get("name") or made("unknown", "required-by-target"), node.get("namespace")
    if space is not None and isinstance(space.value, str):
        name = name.to(f"{space.value}__{name.value}", "flatten-namespace", [space])
    return legal_name(name) if name.value else name


def asked_name(name: Leaf, context: Context) -> Leaf:
    """In a reply: the name that the paired request gave to a tool, if it was shortened on the way."""
    request = context.request if context.request_protocol == NAME else None
    tools = request.get("tools") if isinstance(request, dict) else None
    for tool in tools if isinstance(tools, list) else ():
        given = tool.get("name") if isinstance(tool, dict) else None
        if isinstance(given, str) and given != name.value and legal(given, SHORTEST_NAME) == name.value:
            return name.to(given, "legal-name")
    return name


def legal_id(leaf: Leaf) -> Leaf:
    """An id that `tool_use` takes."""
    return _legal(leaf, LONGEST_ID, "legal-id")


def legal_name(leaf: Leaf) -> Leaf:
    """A tool's name that Messages takes."""
    return _legal(leaf, LONGEST_NAME, "legal-name")


def _legal(leaf: Leaf, limit: int, why: str) -> Leaf:
    value = legal(leaf.value, limit)
    return leaf if value == leaf.value else leaf.to(value, why)


def _write_result(part: Node, blocks: Writer, context: Context, reply: bool) -> None:
    block = blocks.item()
    said = part.but("parts")
    said.says["call_id"] = legal_id(part.get("call_id") or made("unknown", "made-id"))
    tables.TOOL_RESULT.write(said, block, context, but=("cache_mark",))
    block.ledger.drop(said.says.get("cache_mark"), "no-equivalent")
    plain = part.plain()
    if plain is not None:
        block.put("content", plain)
        block.order(tables.TOOL_RESULT.names)
        return
    content = Writer(block.ledger, [])
    write_blocks(part.parts(), content, context)
    if content.value:
        block.value["content"] = content.value
    block.order(tables.TOOL_RESULT.names)


def _write_image(part: Node, blocks: Writer, context: Context, reply: bool) -> None:
    source = _image_source(part)
    if source is None:
        drop(blocks.ledger, part, "foreign-id" if part.get("file_id") is not None else "unsupported-media")
    else:
        _write_media(part, source, tables.IMAGE, blocks, context).order(("type", "source"))


Source = tuple[str, dict[str, Leaf]]
SOURCE_TERMS = ("url", "data_url", "data", "media_type", "file_id", "text", "parts")


def _image_source(part: Node) -> Source | None:
    """The kind of source and its leaves by key."""
    url, data, kind, file_id = (part.get(key) for key in ("url", "data", "media_type", "file_id"))
    if url is not None and isinstance(url.value, str):
        split = data_url(url.value)
        if split is None:
            return "url", {"url": url}
        label = LABELS.get(split.media_type, split.media_type)
        if label not in IMAGES or not split.base64:
            return None
        return "base64", {"media_type": url.to(label, "data-url"), "data": url.to(split.data, "data-url")}
    if data is not None and kind is not None:
        label = LABELS.get(kind.value, kind.value)
        named = kind if label == kind.value else kind.to(label, "respelled")
        return ("base64", {"media_type": named, "data": data}) if label in IMAGES else None
    return ("file", {"file_id": file_id}) if file_id is not None else None


def _write_media(part: Node, source: Source, table: Table, blocks: Writer, context: Context) -> Writer:
    """A block of an image or document with its source, whose keys are still to be put in order."""
    block = blocks.item()
    table.write(part, block, context, but=SOURCE_TERMS)
    write_source(source, block)
    _leave_rest(part, source, blocks.ledger)
    if source[0] == "file":
        context.find("foreign-id-kept")
    return block


def write_source(source: Source, block: Writer) -> None:
    """The `source` of an image or document."""
    kind, leaves = source
    w = block.object("source")
    w.make("type", kind, "required-by-target")
    for key, leaf in leaves.items():
        w.put(key, leaf)


def _leave_rest(part: Node, source: Source, ledger: Ledger) -> None:
    """Drop the terms of a source that were not written."""
    used = {(id(leaf.home), leaf.key) for leaf in source[1].values()}
    for name in SOURCE_TERMS:
        leaf = part.says.get(name)
        if isinstance(leaf, Leaf) and (id(leaf.home), leaf.key) not in used:
            drop(ledger, leaf, "duplicate")


def _write_file(part: Node, blocks: Writer, context: Context, reply: bool) -> None:
    source = _file_source(part)
    if source is None:
        drop(blocks.ledger, part, "unsupported-media")
    else:
        _write_media(part, source, tables.DOCUMENT, blocks, context).order(("type", "source", "title"))


def _file_source(part: Node) -> Source | None:
    whole, url, text, file_id = (part.get(key) for key in ("data_url", "url", "text", "file_id"))
    if whole is not None and isinstance(whole.value, str):
        return _from_data_url(whole)
    data, kind = part.get("data"), part.get("media_type")
    if data is not None:
        pdf = kind is None or kind.value == "application/pdf"
        label = made("application/pdf", "required-by-target") if kind is None else kind
        return ("base64", {"media_type": label, "data": data}) if pdf else None
    if text is not None:
        return "text", {"media_type": made("text/plain", "required-by-target"), "data": text}
    if url is not None:
        return "url", {"url": url}
    return ("file", {"file_id": file_id}) if file_id is not None else None


def _from_data_url(whole: Leaf) -> Source | None:
    """A PDF stays base64, any text is decoded, other media have no place."""
    split = data_url(whole.value)
    if split is None:
        return None
    if split.media_type == "application/pdf" and split.base64:
        label = whole.to(split.media_type, "data-url")
        return "base64", {"media_type": label, "data": whole.to(split.data, "data-url")}
    if not split.media_type.startswith("text/"):
        return None
    text = _decoded(split.data) if split.base64 else _unquoted(split.data)
    if text is None:
        return None
    return "text", {"media_type": whole.to("text/plain", "data-url"), "data": whole.to(text, "data-url")}


def _unquoted(data: str) -> str:
    from urllib.parse import unquote

    return unquote(data)


def _decoded(data: str) -> str | None:
    try:
        return b64decode(data, validate=True).decode()
    except ValueError:
        return None


PAGE = "web_search_result_location"


def write_citations(citations: list[Node], text: str, block: Writer, context: Context) -> None:
    """Citations of a reply's text: those of web pages have a place here (`spec/responses.md` §7)."""
    for citation in citations:
        if is_url_citation(citation):
            known = block.value.get("citations")
            listed = block.list("citations") if known is None else Writer(block.ledger, known)
            write_citation(citation, text, listed.item(), context)
        else:
            block.ledger.drop(citation, "no-equivalent")


def is_url_citation(citation: Node) -> bool:
    """Does it cite a web page?"""
    url = citation.get("url")
    return url is not None and isinstance(url.value, str)


def write_citation(citation: Node, text: str, w: Writer, context: Context) -> None:
    """One citation of a web page; what it cites of the answer is the text of its span."""
    start, end = (citation.get(key) for key in ("start_index", "end_index"))
    said = citation.but("start_index", "end_index", "type", "cited_text", "encrypted_index")
    kind = citation.get("type") or made(PAGE, "required-by-target")
    w.put("type", kind.to(PAGE, "respelled"))
    tables.CITATION.write(said, w, context)
    span = (start.value, end.value) if start is not None and end is not None else (0, len(text))
    cited = text[slice(*span)] if all(isinstance(at, int) for at in span) else text
    w.make("cited_text", cited, "whole-block-span")
    w.make("encrypted_index", "", "required-by-target")
    if "title" not in w.value:
        w.make("title", None, "required-by-target")
    for name in ("start_index", "end_index", "cited_text", "encrypted_index"):
        w.ledger.drop(citation.get(name), "no-equivalent")
    w.order(tables.CITATION.names)


def _write_hosted(part: Node, blocks: Writer, context: Context, reply: bool) -> None:
    if not reply and part.value("service") in VENDORS_OWN:
        drop(blocks.ledger, part, "foreign-signature")
        return
    call = hosted(part, blocks.ledger)
    if call is None:
        drop(blocks.ledger, part, "hosted-tool")
    else:
        write_hosted(part, call, blocks)


# Results that Messages takes back only with a payload that its vendor made.
VENDORS_OWN = ("web_search", "web_fetch")

# How blocks begin in a stream, before the first piece of what grows.
BEGINNINGS: dict[str, Callable[[Node, Writer, Context], None]] = {
    "text": tables.TEXT_BLOCK.write,
    "refusal": tables.TEXT_BLOCK.write,
    "thinking": tables.THINKING_BLOCK.write,
    "redacted": tables.REDACTED.write,
    "tool_call": begin_call,
    "custom_call": begin_call,
    "hosted_call": lambda part, block, context: None,  # written when it is whole
}
WRITERS: dict[str, Callable[[Node, Writer, Context, bool], None]] = {
    "text": _write_text,
    "refusal": _write_refusal,
    "thinking": _write_thinking,
    "redacted": _write_redacted,
    "tool_call": _write_call,
    "custom_call": _write_call,
    "tool_result": _write_result,
    "image": _write_image,
    "file": _write_file,
    "hosted_call": _write_hosted,
}
