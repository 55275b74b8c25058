"""What a capture is packed in, undone as it arrives: compression, binary frames, text coding, known by its first bytes.

Whatever comes in, only a small piece of what comes out is held, and no more comes out than is allowed.
"""

import codecs
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from ..errors import NotReadable

MAX_SIZE = 4 << 30
SLICE = 1 << 16

# A frame of zstd may make 128 kB of four bytes, so it is fed in small pieces; and its window must fit into memory.
_ZSTD_SLICE = 1 << 6
_ZSTD_WINDOW = 1 << 27

# A coat inside a coat happens (a packed body in a packed file); more is an attempt.
_LAYERS = 3

# So many bytes tell what a thing is packed in.
_MARK = 12

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


def begun(pieces: Iterable[bytes], count: int) -> tuple[bytes, Iterator[bytes]]:
    """The beginning of what arrives, at least so many bytes where there are so many; and all of it, again."""
    arriving, seen = iter(pieces), b""
    while len(seen) < count and (piece := next(arriving, None)) is not None:
        seen += piece
    return seen, chain([seen], arriving)


def unpacked(pieces: Iterable[bytes], max_size: int = MAX_SIZE) -> Iterator[bytes]:
    """What arrives without its compression, as UTF-8.

    Raises `unreadable` where it is cut or damaged, or comes to more than `max_size` bytes; what stands before that is
    given all the same.
    """
    for _ in range(_LAYERS):
        beginning, pieces = begun(pieces, _MARK)
        undo = _coat(beginning)
        if undo is None:
            break
        pieces = _limited(undo(pieces), max_size)
    else:
        raise NotReadable("unreadable", "it is packed over and over again", hint="unpack it first")
    yield from _limited(pieces, max_size)


def undone(data: bytes, max_size: int = MAX_SIZE) -> bytes:
    """The same for bytes that are all there."""
    return b"".join(unpacked([data], max_size)) if _coat(data[:_MARK]) else data


def is_packed(beginning: bytes) -> bool:
    """Whether bytes that begin so are not those of the text."""
    return _coat(beginning) is not None


def _coat(beginning: bytes) -> Callable[[Iterable[bytes]], Iterator[bytes]] | None:
    if beginning.startswith(GZIP):
        return _gunzipped
    if beginning.startswith(ZSTD):
        return _unzstd
    if beginning.startswith(b"\0"):  # as a frame does, and no text
        from . import eventstream

        return eventstream.as_sse if eventstream.begins(beginning) else None
    return _narrowed if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else None


def _limited(pieces: Iterable[bytes], max_size: int) -> Iterator[bytes]:
    left = max_size
    for piece in pieces:
        if len(piece) > left:
            yield piece[:left]
            raise NotReadable("unreadable", f"it comes to more than {max_size} bytes", hint="--max-size BYTES")
        left -= len(piece)
        yield piece


def _gunzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """One or several gzip members."""
    import zlib

    inflater, open_member = zlib.decompressobj(31), True
    try:
        for piece in pieces:
            rest, out = piece, b""
            while rest or len(out) == SLICE:
                if not open_member:
                    rest = rest.lstrip(b"\0")
                    if not rest:
                        break
                    inflater, open_member = zlib.decompressobj(31), True
                out = inflater.decompress(rest, SLICE)
                yield out
                rest = inflater.unconsumed_tail
                if inflater.eof:
                    rest, out, open_member = inflater.unused_data, b"", False
    except zlib.error:
        raise _damaged("gzip", "gzip -dc") from None
    if open_member:
        raise _damaged("gzip", "gzip -dc")


def _unzstd(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """One or several zstd frames."""
    import zstandard

    decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
    frame = None
    try:
        for piece in pieces:
            out, size = list[bytes](), 0
            for start in range(0, len(piece), _ZSTD_SLICE):
                rest = piece[start : start + _ZSTD_SLICE]
                while rest:
                    frame = frame or decompressor.decompressobj()
                    out.append(frame.decompress(rest))
                    size += len(out[-1])
                    rest = frame.unused_data if frame.eof else b""
                    frame = None if frame.eof else frame
                if size >= SLICE:
                    yield b"".join(out)
                    out, size = [], 0
            yield b"".join(out)
    except zstandard.ZstdError:
        raise _damaged("zstd", "zstd -dc") from None
    if frame is not None:
        raise _damaged("zstd", "zstd -dc")


def inflated(data: bytes, max_size: int = MAX_SIZE) -> bytes:
    """The bytes of a body in the content coding `deflate`, which has no mark of its own, as far as it is one."""
    import zlib

    for wbits in (15, -15):
        inflater = zlib.decompressobj(wbits)
        try:
            plain = inflater.decompress(data, max_size)
        except zlib.error:
            continue
        if inflater.eof:
            return plain
    return data


def _narrowed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """UTF-16 with a mark, as UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-16")()
    try:
        for piece in pieces:
            yield decoder.decode(piece).encode()
        yield decoder.decode(b"", True).encode()
    except UnicodeError:
        raise NotReadable("unreadable", "the UTF-16 text is cut or damaged", hint="save it as UTF-8") from None


def _damaged(what: str, tool: str) -> NotReadable:
    return NotReadable(
        "unreadable",
        f"the {what} data is cut or damaged",
        hint=f"fetch the file again, or unpack what there is of it with `{tool}`",
    )
