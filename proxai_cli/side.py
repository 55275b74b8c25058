"""The way back: a side file that keeps the source, and a target that may have been edited since.

Source: `spec/decisions.md` §1 (D1). An unedited target comes back as the source itself. Of an edited one the source is
translated again to see which target leaves were edited; the edited target is translated back by the plain rules, and
every source leaf whose target leaf is untouched is put back. Knows no protocol.
"""

import base64
import hashlib
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from . import text
from .context import Context, Finding
from .errors import NotReadable, NotThatSideFile, ProxaiError
from .ir.events import DONE
from .ledger import CARRIED, Entry, Path, get, members
from .translate import At, StreamTranslator, Translation, kind_of, translate

FORM = 1
_GONE = object()

# One direction of documents of another form than bodies and streams: value, source, target and context in.
Way = Callable[[Any, str, str, Context], Translation]


class Side(NamedTuple):
    """What a side file says: the source as captured (bytes), which way it went, and what came of it (a digest).

    `request` is the paired request that was given with it, in `request_protocol`; `repair` and `skip` say what was
    asked for where a stream is damaged; `endpoint` is the call of a body that is none of a reply's; `version` is ours.
    """

    source: bytes
    protocol: str
    target: str
    kind: str
    choices: dict[str, str]
    target_digest: str = ""
    request: Any = None
    request_protocol: str | None = None
    repair: bool = False
    skip: bool = False
    endpoint: str | None = None
    version: str = ""


class Back(NamedTuple):
    """What came back: `data` is the captured source itself where the target was not edited, else `value` is a body or a
    list of events; `findings` lists what no longer fits (`side-stale`)."""

    data: bytes | None
    value: Any
    findings: list[Finding]


def digest(value: Any) -> str:
    """A digest of a body, or of a stream's list of events, that knows no white space and no framing."""
    whole = hashlib.sha256()
    for event in value if isinstance(value, list) else [value]:
        whole.update(b"[DONE]" if event is DONE else text.dumps(event))
        whole.update(b"\n")
    return whole.hexdigest()


def keep(side: Side, value: Any) -> bytes:
    """The text of a side file; `value` is the target document, or the list of its events."""
    said = {
        "proxai_side": FORM,
        "version": side.version,
        "from": side.protocol,
        "to": side.target,
        "kind": side.kind,
        "endpoint": side.endpoint,
        "choices": side.choices,
        "repair": side.repair,
        "skip": side.skip,
        "source_digest": hashlib.sha256(side.source).hexdigest(),
        "target_digest": digest(value),
        "source": _packed(side.source),
        "request": None if side.request is None else _packed(text.dumps(side.request)),
        "request_protocol": side.request_protocol,
    }
    return text.dumps(said, indent=2) + b"\n"


def read(data: bytes) -> Side:
    """A side file's content. Raises `NotThatSideFile` where it is none, or was damaged."""
    try:
        said = text.loads(data)
        source, asked = _unpacked(said["source"]), said["request"]
        side = Side(
            source,
            said["from"],
            said["to"],
            said["kind"],
            dict(said["choices"]),
            said["target_digest"],
            None if asked is None else text.loads(_unpacked(asked)),
            said["request_protocol"],
            said["repair"],
            said["skip"],
            said["endpoint"],
            said["version"],
        )
        whole = said["proxai_side"] == FORM and said["source_digest"] == hashlib.sha256(source).hexdigest()
    except (NotReadable, LookupError, TypeError, ValueError, zlib.error):
        whole = False
    if not whole:
        raise NotThatSideFile(
            "wrong-side-file", "this is no side file, or it was damaged", hint="write it anew with --side"
        )
    return side


def _packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode()


def _unpacked(packed: str) -> bytes:
    return zlib.decompress(base64.b64decode(packed, validate=True))


def back(side: Side, source: Any, edited: Any, context: Context | None = None, way: Way | None = None) -> Back:
    """The source of a target, from the target as it is now.

    `source` is the parsed source of the side file, `edited` the parsed target: a body, or a stream's list of events.
    `way` translates what is neither. Raises `wrong-side-file` where the target is another document's.
    """
    if digest(edited) == side.target_digest:
        return Back(side.source, source, [])
    return merged(side, source, edited, context, way)


def merged(side: Side, source: Any, edited: Any, context: Context | None = None, way: Way | None = None) -> Back:
    """The same for a target that was edited: the source with what was edited in it."""
    context = (context or Context())._replace(
        choices=side.choices, request=side.request, request_protocol=side.request_protocol
    )
    there = _translated(source, side.protocol, side.target, side, context, way)
    if there.digest != side.target_digest:
        raise NotThatSideFile(
            "wrong-side-file",
            f"version {side.version} wrote this side file, and its mapping was another one",
            hint="come back with that version",
        )
    places = _aligned(there.value, edited)
    if _is_another(there, places, edited):
        raise NotThatSideFile(
            "wrong-side-file",
            "the side file belongs to another document: nothing of its target is left here",
            hint="look for the side file that was written together with this document",
        )
    try:
        home = _translated(edited, side.target, side.protocol, side, _for_home(context, edited, way), way)
    except ProxaiError:
        home = _Gone({}, [], "")  # no document can be made of what is left: nothing but what was untouched comes back
    merge = _Merge(source, there, home, places, edited)
    value = merge.value()
    return Back(None, value, [Finding("side-stale", place) for place in sorted(map(text.pointer, merge.stale))])


def _for_home(context: Context, edited: Any, way: Way | None) -> Context:
    """A model that was chosen for the target is not the source's.

    A request whose model stands in its URL must not fail for want of one; a model of ours is never merged.
    """
    choices = {name: said for name, said in context.choices.items() if name != "model"}
    if way is None and isinstance(edited, dict) and "model" not in edited:
        choices["model"] = "unknown"
    return context._replace(choices=choices)


class _Gone(NamedTuple):
    """One direction that was gone: what came out, every entry by numbers, and the digest of what came out."""

    value: Any
    entries: list[Entry]
    digest: str


def _translated(value: Any, source: str, target: str, side: Side, context: Context, way: Way | None) -> _Gone:
    """One direction; a stream as the list of its events, up to the one that cannot be read, as the way there went."""
    if way is not None or side.kind != "stream":
        if way is None:
            done = translate(value, source, target, kind_of(value, side.kind), context)
        else:
            done = way(value, source, target, context)
        return _Gone(done.value, done.ledger.entries, digest(done.value))
    entries: list[Entry] = []

    class Watched(StreamTranslator):
        def _count(self, said: list[Entry]) -> None:
            entries.extend(said)

    translator, written = Watched(source, target, context, side.repair), list[Any]()
    for event in value:
        try:
            written += translator.feed(event)
        except ProxaiError:
            translator.ledger.clear()
            translator.number += 1
            if not side.skip:
                break
    written += translator.close()
    plain = [entry._replace(source=_numbered(entry.source), target=_numbered(entry.target)) for entry in entries]
    # Numbers of target events count objects only, as the entries do.
    return _Gone([event for event in written if event is not DONE], plain, digest(written))


# Words of a protocol, which say nothing about whose document it is.
_FRAMING = ("type", "role", "object", "status")
_ENOUGH = 2


def _is_another(there: _Gone, places: dict[Path, Path], edited: Any) -> bool:
    """Is nothing left of the texts that the unedited target took from its source, though it took several?"""
    texts = {
        entry.target: said
        for entry in there.entries
        if entry.fate == CARRIED
        and entry.target
        and entry.target[-1] not in _FRAMING
        and isinstance(said := get(there.value, entry.target), str)
    }
    left = (path for path, said in texts.items() if path in places and get(edited, places[path]) == said)
    return len(texts) >= _ENOUGH and next(left, None) is None


def _numbered(path: Path | None) -> Path | None:
    return path and tuple(key.number if isinstance(key, At) else key for key in path)


class _Merge:
    """The source, with what was edited in the target since: values changed, places gone, places added."""

    def __init__(self, source: Any, there: _Gone, home: _Gone, places: dict[Path, Path], edited: Any) -> None:
        self.source, self.there, self.home, self.places, self.edited = source, there, home, places, edited
        self.stale: set[Path] = set()
        returned: dict[Path, Path] = {}
        for entry in home.entries:
            if entry.source is not None and entry.target is not None:
                returned.setdefault(entry.source, entry.target)
        self.returned = returned
        self.carried = {entry.source for entry in there.entries if entry.fate == CARRIED}
        self.fates: dict[Path, Any] = {}
        self.pairs: list[tuple[Path, Path]] = []
        self._judge()
        self._prefixes()
        self.inserts: dict[Path, list[tuple[int, Any, Any]]] = defaultdict(list)
        self._add()

    def _judge(self) -> None:
        """What becomes of each source leaf that the target holds: kept, another value, or gone."""
        edits: dict[Path, list[Path]] = {}
        spent: set[Path] = set()
        for entry in self.there.entries:
            if entry.source is None or entry.target is None:
                continue
            now = self.places.get(entry.target)
            state: Any = _GONE
            if now is not None:
                if entry.source not in self.fates or self.fates[entry.source] is _GONE:
                    found = self.returned.get(now)
                    if found is not None:
                        self.pairs.append((entry.source, found))
                if text.same(get(self.there.value, entry.target), get(self.edited, now)):
                    state = None
                else:
                    edits.setdefault(entry.source, []).append(now)
                    state = None if entry.target in spent else now
                    if entry.target in spent:
                        self.stale.add(entry.source)
                    spent.add(entry.target)
            before = self.fates.get(entry.source, _GONE)
            if before is _GONE or (before is None and isinstance(state, tuple)):
                self.fates[entry.source] = state

    def _prefixes(self) -> None:
        self.held, self.alive = {()}, {()}
        for path, fate in self.fates.items():
            for length in range(len(path) + 1):
                self.held.add(path[:length])
                if fate is not _GONE:
                    self.alive.add(path[:length])
        self.containers: dict[Path, Path] = {(): ()}
        for ours, theirs in self.pairs:
            for length in range(1, min(len(ours), len(theirs)) + 1):
                one, other = ours[length - 1], theirs[length - 1]
                if one != other and not (isinstance(one, int) and isinstance(other, int)):
                    break
                self.containers.setdefault(theirs[:length], ours[:length])

    def _add(self) -> None:
        """What stands in the edited target only, as the way home spells it, goes to the place where it belongs."""
        known = set(self.places.values())
        added = [
            entry.target
            for entry in self.home.entries
            if entry.target is not None and entry.source is not None and entry.source not in known
        ]
        done: set[Path] = set()
        for path in added:
            length = next(length for length in range(len(path) - 1, -1, -1) if path[:length] in self.containers)
            root, place = path[: length + 1], self.containers[path[:length]]
            if root in done or root in self.containers:
                continue
            done.add(root)
            self.inserts[place].append((self._behind(path[:length], root[-1]), root[-1], get(self.home.value, root)))

    def _behind(self, home: Path, key: Any) -> int:
        """The position in the source's list behind which an added element stands; -1 is the front."""
        if not isinstance(key, int):
            return -1
        for position in range(key - 1, -1, -1):
            before = self.containers.get((*home, position))
            if before is not None:
                return int(before[-1])
        return -1

    def value(self) -> Any:
        return self._built(self.source, ())

    def _built(self, node: Any, path: Path) -> Any:
        if path in self.fates:
            return self._fated(node, path)
        if path in self.held and path not in self.alive:
            self.stale |= {leaf for leaf in _leaves(node, path) if leaf not in self.fates}
            return _GONE
        if not (node and isinstance(node, (dict, list))):
            return node
        inserts = self.inserts.get(path, [])
        if isinstance(node, dict):
            out = {
                key: value for key, inner in node.items() if (value := self._built(inner, (*path, key))) is not _GONE
            }
            for _, key, value in inserts:
                out.setdefault(key, value)
            return out
        built = [value for behind, _, value in inserts if behind < 0]
        for position, inner in enumerate(node):
            value = self._built(inner, (*path, position))
            built += [] if value is _GONE else [value]
            built += [value for behind, _, value in inserts if behind == position]
        return built

    def _fated(self, node: Any, path: Path) -> Any:
        fate = self.fates[path]
        if fate is None or fate is _GONE:
            return node if fate is None else _GONE
        found = self.returned.get(fate)
        if found is None and path in self.carried:
            return get(self.edited, fate)  # it went out unchanged, so it can come in unchanged
        if found is None:
            self.stale.add(path)
            return node
        return get(self.home.value, found)


def _aligned(old: Any, new: Any) -> dict[Path, Path]:
    """Which place of the edited value is which of the unedited: lists follow their elements, not their positions."""
    places: dict[Path, Path] = {}
    todo: list[tuple[Any, Any, Path, Path]] = [(old, _objects(new), (), ())]
    while todo:
        one, other, path, now = todo.pop()
        places[path] = now
        if isinstance(one, dict) and isinstance(other, dict):
            todo += [(one[key], other[key], (*path, key), (*now, key)) for key in one if key in other]
        elif isinstance(one, list) and isinstance(other, list):
            todo += [(one[i], other[j], (*path, i), (*now, j)) for i, j in _matched(one, other)]
    return places


def _objects(value: Any) -> Any:
    return [event for event in value if event is not DONE] if isinstance(value, list) else value


def _matched(old: list[Any], new: list[Any]) -> Iterator[tuple[int, int]]:
    """Pairs of positions: equal elements first, then, between two equal stretches, those of one kind in order."""
    one, other = [text.dumps(each) for each in old], [text.dumps(each) for each in new]
    for what, i, i_end, j, j_end in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if what == "equal":
            yield from zip(range(i, i_end), range(j, j_end), strict=True)
        elif what == "replace":
            yield from _alike(old, new, range(i, i_end), range(j, j_end))


def _alike(old: list[Any], new: list[Any], ours: range, theirs: range) -> Iterator[tuple[int, int]]:
    """In order, first those that bear one name or id, then, between two of these, those of one type and role."""
    for names in (("type", "role", "id", "name"), ("type", "role")):
        first = next(
            ((i, j) for i in ours for j in theirs if _told(old[i], names) == _told(new[j], names)),
            None,
        )
        if first is not None:
            i, j = first
            yield from _alike(old, new, range(ours.start, i), range(theirs.start, j))
            yield i, j
            yield from _alike(old, new, range(i + 1, ours.stop), range(j + 1, theirs.stop))
            return


def _told(value: Any, names: tuple[str, ...]) -> Any:
    """By which two elements are one although something in them differs."""
    if isinstance(value, dict):
        return tuple(str(value.get(key)) for key in names)
    return type(value).__name__


def _leaves(value: Any, path: Path) -> Iterator[Path]:
    todo = [(value, path)]
    while todo:
        node, path = todo.pop()
        if node and isinstance(node, (dict, list)):
            todo += [(inner, (*path, key)) for key, inner in members(node)]
        else:
            yield path
