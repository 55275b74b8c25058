"""A capture that may be shown to others: container, keys, order and lengths stay, values are replaced.

Redacting is done twice: what is found to be a secret in one place is a secret everywhere. What was written is looked
through once more by `scan`, which knows nothing of how it was made.
"""

import codecs
from collections.abc import Callable, Collection
from typing import NamedTuple

from .. import text as json
from ..errors import NotReadable, Place
from ..wire import sse
from ..wire.entries import blanked, entries, only
from ..wire.http import Unwrapper
from ..wire.packing import MAX_SIZE, unpacked
from .document import LEVELS, Redactor, Rules
from .scan import leaks


class Redacted(NamedTuple):
    """What may be shown; how many secrets of how many kinds, how many texts were replaced, how many events there are;
    for the last look what must not be found in it, what was kept on demand, and what must not be found as a whole word;
    and how many values were too short to be looked for where no key names them."""

    data: bytes
    secrets: int
    kinds: int
    texts: int
    events: int
    hidden: tuple[str, ...]
    kept: tuple[str, ...]
    words: tuple[str, ...] = ()
    short: int = 0


def redact(data: bytes, rules: Rules, wanted: Collection[int] | None = None, max_size: int = MAX_SIZE) -> Redacted:
    """A capture file in, the same file redacted out: JSON, JSON lines, a stream, either behind HTTP heads. Pure.

    Of its entries only those are left whose numbers are wanted. They are as they would be among all of them: what is a
    secret in one that is left out is one in the others, too.

    Raises `NotReadable` (`empty`, `unreadable`) for what is none of these, for a part that nobody understands might
    hold anything; and for more than `max_size` bytes.
    """
    plain, packed = _unpacked(data, max_size)
    pieces = (unwrapper := Unwrapper()).feed(plain) + unwrapper.close()
    body = b"".join(piece.data for piece in pieces)
    _refuse(body)
    found = [] if wanted is None else entries(plain)
    redactor = Redactor(rules)
    for _ in range(2):
        redactor.reset()
        new = _bytes(redactor.document(_text(body)))
        # The body stands in the file in pieces, between heads and sizes of chunks; all of them are as long as before.
        out, at, done = list[bytes](), 0, 0
        for piece in pieces:
            out.append(_bytes(redactor.head(_text(plain[at : piece.byte]))))
            out.append(new[done : done + len(piece.data)])
            at, done = piece.byte + len(piece.data), done + len(piece.data)
        out.append(_bytes(redactor.head(_text(plain[at:]))))
    result = b"".join(out)
    if wanted is not None and found:
        result = only(result, found, wanted)
        # What is told is told of the entries that are left.
        redactor.reset()
        redactor.document(_text(blanked(body, found, wanted)))
    counts = redactor.secrets
    return Redacted(
        packed(result),
        counts.total(),
        len([kind for kind, count in counts.items() if count]),
        redactor.texts,
        redactor.events,
        tuple(redactor.known),
        tuple(redactor.kept),
        tuple(redactor.words),
        redactor.short,
    )


def _refuse(body: bytes) -> None:
    start = Place(line=1, column=1, byte=0)
    said = body.removeprefix(json.BYTE_ORDER_MARK).lstrip()
    if not said:
        raise NotReadable("empty", "there is nothing in it", start, "capture the call again")
    if said[:1] not in (b"{", b"[", b'"') and not sse.looks_like_a_stream(body):
        raise NotReadable(
            "unreadable",
            "only JSON, JSON lines and event streams are redacted, with or without an HTTP head",
            start,
            "redact the captures first, then make the page"
            if said[:1] == b"<"
            else "save the body that you want to show as a file of its own",
        )


def _unpacked(data: bytes, max_size: int) -> tuple[bytes, Callable[[bytes], bytes]]:
    """A file without its compression and in UTF-8, and what undoes that."""
    plain = b"".join(unpacked([data], max_size))
    if data.startswith(b"\x1f\x8b"):
        import gzip

        return plain, lambda said: gzip.compress(said, mtime=0)
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        import zstandard

        return plain, lambda said: zstandard.ZstdCompressor().compress(said)
    if data.startswith(codecs.BOM_UTF16_LE):
        return plain, lambda said: codecs.BOM_UTF16_LE + said.decode().encode("utf-16-le")
    if data.startswith(codecs.BOM_UTF16_BE):
        return plain, lambda said: codecs.BOM_UTF16_BE + said.decode().encode("utf-16-be")
    return plain, lambda said: said


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


__all__ = ["LEVELS", "Redacted", "Redactor", "Rules", "leaks", "redact"]
