"""The way back: a side file that keeps the source, and a target that may have been edited since.

Source: `spec/decisions.md` §1 (D1). An unedited target comes back as the source itself. Of an edited one the source is
translated again to see which target leaves were edited; the edited target is translated back by the plain rules, and
every source leaf whose target leaf is untouched is put back. Knows no protocol.
"""

import base64
import hashlib
import zlib
from collections import defaultdict
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from . import text
from .context import Context, Finding
from .errors import NotThatSideFile, ProxaiError
from .ir.events import DONE
from .ledger import CARRIED, Entry, Path, members
from .translate import At, StreamTranslator, translate

FORM = 1
_GONE = object()


class Side(NamedTuple):
    """What a side file says: the source as captured (bytes), which way it went, and what came of it (a digest)."""

    source: bytes
    protocol: str
    target: str
    kind: str
    choices: dict[str, str]
    target_digest: str


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


def keep(source: bytes, protocol: str, target: str, kind: str, choices: dict[str, str], value: Any) -> bytes:
    """The text of a side file. `source` is the capture as it was read, `value` the target document (or its events)."""
    packed = base64.b64encode(zlib.compress(source, 9)).decode()
    said = {
        "proxai_side": FORM,
        "from": protocol,
        "to": target,
        "kind": kind,
        "choices": choices,
        "source_digest": hashlib.sha256(source).hexdigest(),
        "target_digest": digest(value),
        "source": packed,
    }
    return text.dumps(said, indent=2) + b"\n"


def read(data: bytes) -> Side:
    """A side file's content. Raises `NotThatSideFile` where it is none, or was damaged."""
    try:
        said = text.loads(data)
        source = zlib.decompress(base64.b64decode(said["source"], validate=True))
        side = Side(source, said["from"], said["to"], said["kind"], dict(said["choices"]), said["target_digest"])
        whole = said["proxai_side"] == FORM and said["source_digest"] == hashlib.sha256(source).hexdigest()
    except (text.NotReadable, LookupError, TypeError, ValueError, zlib.error):
        whole = False
    if not whole:
        raise NotThatSideFile(
            "wrong-side-file", "this is no side file, or it was damaged", hint="write it anew with --side"
        )
    return side


def back(side: Side, source: Any, edited: Any, context: Context | None = None) -> Back:
    """The source of a target, from the target as it is now.

    `source` is the parsed source of the side file, `edited` the parsed target: a body, or a stream's list of events.
    """
    if digest(edited) == side.target_digest:
        return Back(side.source, source, [])
    context = (context or Context())._replace(choices=side.choices)
    there = _translated(source, side.protocol, side.target, side.kind, context)
    try:
        home = _translated(edited, side.target, side.protocol, _kind_of(side.kind, edited), _for_home(context, edited))
    except ProxaiError:
        home = _Way({}, [])  # no document can be made of what is left: nothing but what was untouched comes back
    places = _aligned(there.value, edited)
    merge = _Merge(source, there, home, places, edited)
    value = merge.value()
    return Back(None, value, [Finding("side-stale", _pointer(path)) for path in sorted(merge.stale, key=_pointer)])


def _kind_of(kind: str, edited: Any) -> str:
    """A reply that failed went out as an error body (`spec/responses.md` §9)."""
    failed = kind == "response" and isinstance(edited, dict) and isinstance(edited.get("error"), dict)
    return "error" if failed and "output" not in edited else kind


def _for_home(context: Context, edited: Any) -> Context:
    """A request whose model stands in its URL must not fail for want of one; a model of ours is never merged."""
    named = not isinstance(edited, dict) or "model" in edited
    return context if named else context._replace(choices={**context.choices, "model": "unknown"})


class _Way(NamedTuple):
    value: Any
    entries: list[Entry]


def _translated(value: Any, source: str, target: str, kind: str, context: Context) -> _Way:
    """One direction, with every entry by numbers; a stream as the list of its events."""
    if kind != "stream":
        done = translate(value, source, target, kind, context)
        return _Way(done.value, done.ledger.entries)
    entries: list[Entry] = []

    class Watched(StreamTranslator):
        def _count(self, said: list[Entry]) -> None:
            entries.extend(said)

    translator, written = Watched(source, target, context), list[Any]()
    for event in value:
        written += translator.feed(event)
    written += translator.close()
    plain = [entry._replace(source=_numbered(entry.source), target=_numbered(entry.target)) for entry in entries]
    # Numbers of target events count objects only, as the entries do.
    return _Way([event for event in written if event is not DONE], plain)


def _numbered(path: Path | None) -> Path | None:
    return path and tuple(key.number if isinstance(key, At) else key for key in path)


class _Merge:
    """The source, with what was edited in the target since: values changed, places gone, places added."""

    def __init__(self, source: Any, there: _Way, home: _Way, places: dict[Path, Path], edited: Any) -> None:
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
                if text.same(_get(self.there.value, entry.target), _get(self.edited, now)):
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
            self.inserts[place].append((self._behind(path[:length], root[-1]), root[-1], _get(self.home.value, root)))

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
            return _get(self.edited, fate)  # it went out unchanged, so it can come in unchanged
        if found is None:
            self.stale.add(path)
            return node
        return _get(self.home.value, found)


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


def _get(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def _pointer(path: Path) -> str:
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in path)
