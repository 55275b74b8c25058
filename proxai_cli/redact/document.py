"""One capture redacted: every value is looked at where it stands, in JSON, in streams, and in texts that hold these.

What goes in and what comes out have the same length, character by character, at every depth: so nothing around a value
moves, and a text that arrives in pieces is put together, redacted, and cut where it was.
"""

import binascii
import re
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

from .. import text as json
from ..endpoints.address import ELSEWHERE, UNKNOWN, address
from ..errors import NotReadable
from ..ir.events import joined
from ..ledger import Path
from ..patterns import Glob
from ..wire.detect import detect_value
from . import names, pieces, secrets
from .filler import Filler, byte, is_filler, number
from .names import Place
from .spots import BARE, NUMBER, STRING, Record, Spot, escaped, is_json, record, stream

Found = TypeVar("Found")
SECRETS, TEXT, SHAPE = LEVELS = ("secrets", "text", "shape")


class Rules(NamedTuple):
    """What is asked for: a level, the salt, and the places (JSON Pointers) that are kept or replaced whatever they are.

    A pointer is that in a record, or in the data of an event; it goes on inside a text that is JSON itself.
    """

    level: str
    salt: bytes
    keep: tuple[Glob, ...] = ()
    drop: tuple[Glob, ...] = ()


# A text that is a stream of events; data URLs are none.
_STREAM = re.compile(r'\s*(?::[^\n]*\n|(?:event|id|retry): ?[^\n]*\r?\n|data: ?(?:[{"]|\[DONE\]))')
_URL = re.compile(r"[a-z][a-z0-9+.-]*://(?=\S+\Z)", re.IGNORECASE)
_DATA_URL = re.compile(r"data:[^;,\s]*(?:;[^;,\s]*)*,", re.IGNORECASE)
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_SHORTEST_BASE64 = 24
_PAYLOAD = 64
_NO_TEXT = re.compile("[\x00-\x08\x0e-\x1f]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9-]* +(?=\S)")
_COOKIE = re.compile(r"((?:\A|;)\s*([^=;\s]+)=)([^;]*)")
_OF_COOKIES = {"path", "expires", "domain", "max-age", "samesite", "priority", "version"}
# A name for a secret that is none itself.
_STANDS_FOR = re.compile(r"\$\{?\w+\}?|\{\{.*\}\}|<[^<>]*>|[\W_]*", re.DOTALL)
_LINE = re.compile(r"[^\n]*\n?")
_HEADER_LINE = re.compile(r"\s*(?:[<>]\s+)?(:?[^:\s]+)\s*:\s*(?=\S)")


def is_telling(value: str) -> bool:
    """May this value be looked for anywhere? A short or plain one would be found where it is no secret."""
    mixed = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
    return (len(value) >= 8 and mixed) or len(value) >= 20


def is_password(value: str) -> bool:
    """May this value, which is not telling, be looked for as a whole word?"""
    return len(value) >= _SHORTEST_WORD and re.fullmatch(r"[\W\d]*", value) is None and not names.is_common(value)


_SHORTEST_WORD = 6
_MIXED = re.compile(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z]).*", re.DOTALL)
# Names in queries that are those of other things as well.
_NEAR = 16
_VAGUE = re.compile(r"(?:.*[?&])?(?:state|code|key)=?", re.IGNORECASE | re.DOTALL)


class Redactor:
    """A capture's text in, the same text redacted out. Pure but for the counts.

    State: the secrets that were seen, each with what replaces it and its kind, so that it is replaced everywhere, and
    shorter ones with their kinds, of which those are so as whole words (`words`) that are in none of the keys and words
    of protocols that were said; the names of tools; what was counted; the values that were kept on demand.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules, self.filler = rules, Filler(rules.salt)
        self.known: dict[str, tuple[str, str]] = {}
        self.passwords, self.words = dict[str, str](), dict[str, str]()
        self.said: set[str] = set()
        self.named = set[str]()
        self.tools: set[str] = set()
        self.kept: list[str] = []
        self._anywhere: re.Pattern[str] | None = None
        self._capture: tuple[str, Any] | None = None
        self.reset()

    def reset(self) -> None:
        """Look again, now for all secrets that were seen; counts begin anew."""
        self.secrets, self.texts, self.events = Counter[str](), 0, 0
        self.kept.clear()
        self.named.clear()
        said = "\n".join(self.said) if self.passwords else ""
        self.words = {word: kind for word, kind in self.passwords.items() if word not in said}
        forms = "|".join(map(re.escape, sorted(self.words, key=len, reverse=True)))
        self._whole = re.compile(rf"(?:(?<!\w)|(?<=%[0-9A-Fa-f]{{2}}))(?:{forms})(?!\w)") if forms else None
        self._forms = {form: kind for old, (_, kind) in self.known.items() for form in (old, quote(old, safe=""))}
        longest_first = sorted(self._forms, key=len, reverse=True)
        self._anywhere = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    @property
    def short(self) -> int:
        """How many values were replaced only where a key names them."""
        return len(self.named.difference(self.words))

    def document(self, text: str, path: Path = (), free: bool = False) -> str:
        """A JSON text, JSON lines, or a stream of events; `path` is that of the value that holds it."""
        if _STREAM.match(text):
            found = self._read(text, stream)
            self.events += len(found.records)
            edits = self._settled(text, found.records, path, free)
            for start, end in found.beside:
                edits.append((start, end, self._hidden(text[start:end])))
            return _edited(text, edits)
        return _edited(text, self._settled(text, self._read(text, _records), path, free))

    def _read(self, text: str, read: Callable[[str], Found]) -> Found:
        """What was read of a text; of the capture itself, which is the first, it is kept for the second look."""
        if self._capture is None:
            self._capture = text, read(text)
        return self._capture[1] if text == self._capture[0] else read(text)

    def head(self, text: str) -> str:
        """A raw HTTP head: a line with the method or status, then headers."""
        return "".join(self._head_line(line) for line in text.splitlines(keepends=True))

    # Values of records

    def _settled(self, text: str, records: list[Record], path: Path, free: bool) -> list[tuple[int, int, str]]:
        """What stands instead of which part of the text."""
        root = [each.value for each in records]
        threads: dict[Any, list[tuple[Spot, Place, Path]]] = {}
        alone: list[tuple[Spot, Place, Path]] = []
        edits: list[tuple[int, int, str]] = []
        changed: set[Path] = set()  # the objects of tokens that were replaced

        def put(spot: Spot, new: str) -> None:
            if new != spot.value:
                raw = text[spot.start : spot.end]
                edits.append((spot.start, spot.end, escaped(raw, new) if spot.kind == STRING else new))

        for at, each in enumerate(records):
            around: Any = None
            for spot in each.spots:
                here = (at, *spot.path)
                self.said.update(step for step in spot.path[-1:] if isinstance(step, str))
                if around != (here[:-1], type(here[-1])):
                    self.said.update(step for step in here if isinstance(step, str))
                    around = here[:-1], type(here[-1])
                    homes = _homes(root, here)
                    is_free = free or names.is_free(here, homes)
                place = Place(path + spot.path, homes[-1], is_free)
                is_piece = spot.path and spot.kind != NUMBER
                thread = (pieces.thread(here, homes) or _events_in_strings(spot)) if is_piece else None
                members = alone if thread is None else threads.setdefault(thread, [])
                members.append((spot, place, here))

        def is_of_token(here: Path) -> bool:
            return bool(changed) and any(here[:cut] in changed for cut in range(1, len(here)))

        # Tokens come before the alternatives to them.
        for thread, members in sorted(threads.items(), key=lambda item: len(item[1][0][2])):
            values = [spot.value for spot, _, _ in members]
            for (spot, _, here), new in zip(members, self._thread(thread, values, members[0][1]), strict=True):
                if here[-1] != pieces.TOKEN:
                    put(spot, new)
                elif new != spot.value:
                    put(spot, new)
                    changed.add(here[:-1])
                elif is_of_token(here):
                    put(spot, self._filled(spot.value))
        for spot, place, here in alone:
            of_token = is_of_token(here)
            if spot.kind == NUMBER:
                put(spot, self._number(spot.value, place, of_token))
            elif of_token and here[-1] == pieces.TOKEN:
                put(spot, self._filled(spot.value))
            else:
                put(spot, self.leaf(spot.value, place))
        return edits

    def _thread(self, thread: Any, values: list[str], place: Place) -> list[str]:
        if thread[0] == "events":  # each is the data of an event, as archives have them
            return pieces.cut(self._listed(values, place), values)
        return pieces.cut(self.leaf(joined(values), place), values)

    def _listed(self, values: list[str], place: Place) -> str:
        records, at = list[Record](), 0
        for value in values:
            records.append(record(value, at))
            at += len(value)
        self.events += len(records)
        whole = "".join(values)
        return _edited(whole, self._settled(whole, records, place.path, place.free))

    def _number(self, said: str, place: Place, of_token: bool) -> str:
        kind = names.named(place, said) if said.isdigit() and len(said) > 4 else None
        if self._fits(self.rules.keep, place):
            return said
        header = place.header if place.in_head and said.isdigit() else None
        if header is not None and (names.named_header(header) or not names.is_known_header(header)):
            new = number(said)
            self.secrets[names.HEADER] += new != said
            return new
        if kind == names.ACCOUNT and is_filler(number(said)[1:]):
            new = number(said)
            self.secrets[kind] += new != said
            return new
        in_token = isinstance(place.home, list) and place.key == "bytes"
        return byte(said) if in_token and (of_token or self.rules.level != SECRETS) and said.isdigit() else said

    def _fits(self, globs: tuple[Glob, ...], place: Place) -> bool:
        return bool(globs) and any(glob.fits(json.pointer(place.path)) for glob in globs)

    def leaf(self, value: str, place: Place) -> str:
        """A text, whole, as it may be shown."""
        if self._fits(self.rules.keep, place):
            self.kept.append(value)
            return value
        if self._fits(self.rules.drop, place):
            return self._filled(value)
        if place.key == "name" and isinstance(place.home, dict) and "role" not in place.home and not place.free:
            self.tools.add(value)
        header = place.header
        if header is not None:
            return self._header(header, value, place)
        if names.is_word(place, value):
            self.said.add(value)
        if place.is_head:
            return self.head(value)
        kind = names.named(place, value)
        if kind is not None and not _STANDS_FOR.fullmatch(value):
            return self._named(value, kind, place.key)
        inner = self._inner(value, place)
        return self._text(value, place) if inner is None else inner

    def _inner(self, value: str, place: Place) -> str | None:
        """A text that holds a document; None where it holds none."""
        if _STREAM.match(value):
            return self.document(value, place.path)
        if is_json(value) or _are_lines(value):
            return self.document(value, place.path, self.rules.level != SECRETS and not _is_document(value, place))
        if len(value) < _SHORTEST_BASE64 or not _BASE64.fullmatch(value):
            return None
        try:
            plain = b64decode(value, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return None
        if _NO_TEXT.search(plain):
            return None
        if self.rules.level == SECRETS or is_json(plain) or _STREAM.match(plain):
            new = self.leaf(plain, place)
            return value if new == plain else b64encode(new.encode()).decode()
        return None

    # Texts

    def _text(self, value: str, place: Place) -> str:
        """A text with its secrets replaced, and at the other levels all of it."""
        spans = self._spans(value)
        if self.rules.level == SECRETS or self._is_word(place, value) or self._is_call(value, place):
            return _edited(value, spans)
        if self.rules.level == SHAPE:
            spans = []  # of a secret, too, only the length is left
        outside, at = list[tuple[int, int]](), 0
        for start, end, _ in spans:
            outside.append((at, start))
            at = end
        outside.append((at, len(value)))
        kept = _URL.match(value) or _DATA_URL.match(value)
        first = kept.end() if kept else 0
        outside = [(max(start, first), end) for start, end in outside if end > first]
        if self.rules.level == TEXT and all(is_filler(value[start:end]) for start, end in outside):
            return _edited(value, spans)
        filled = self._fill(value, first)
        new = _edited(value, spans + [(start, end, filled[start:end]) for start, end in outside])
        self.texts += new != value
        return new

    def _fill(self, value: str, first: int) -> str:
        rest = value[first:]
        if len(rest) >= _PAYLOAD and _BASE64.fullmatch(rest):
            return value[:first] + self.filler.payload(rest)
        return value[:first] + (self.filler.shape(rest) if self.rules.level == SHAPE else self.filler.text(rest))

    def _filled(self, value: str) -> str:
        new = self.filler.shape(value) if self.rules.level == SHAPE else self.filler.text(value)
        self.texts += new != value
        return new

    def _is_word(self, place: Place, value: str) -> bool:
        if names.is_word(place, value):
            return True
        return place.key == "name" and not place.free and value in self.tools

    def _is_call(self, value: str, place: Place) -> bool:
        """Is it the address of a call, which tells what the traffic is?"""
        if place.key.lower() not in ("url", "uri", "path", "endpoint") or not re.fullmatch(r"\S+", value):
            return False
        return address(value).call not in (UNKNOWN, ELSEWHERE)

    def _hidden(self, value: str) -> str:
        """A text with its secrets replaced."""
        return _edited(value, self._spans(value))

    def _spans(self, value: str) -> list[tuple[int, int, str]]:
        """The secrets in a text, with their own prefixes, and what stands instead."""
        spans: list[tuple[int, int, str]] = []
        for found in self._anywhere.finditer(value) if self._anywhere else ():
            new = self.known[found[0]][0] if found[0] in self.known else self.filler.secret(found[0])
            self.secrets[self._forms[found[0]]] += 1
            spans.append((found.start(), found.end(), new))
        for hit in secrets.found(value):
            whole, before = value[hit.start : hit.end], value[hit.start : hit.body]
            if any(start < hit.end and hit.start < end for start, end, _ in spans):
                continue
            new = whole
            if secrets.is_live(value, hit):
                new = before + self.filler.secret(value[hit.body : hit.end])
                self.secrets[hit.kind] += 1
                self._learn(whole, new, hit.kind)
                self._learn_word(value[max(0, hit.body - _NEAR) : hit.body], whole, hit.kind)
            spans.append((hit.start, hit.end, new))
        for found in self._whole.finditer(value) if self._whole else ():
            if not any(start < found.end() and found.start() < end for start, end, _ in spans):
                self.secrets[self.words[found[0]]] += 1
                spans.append((found.start(), found.end(), self.filler.secret(found[0])))
        return sorted(spans)

    def _learn(self, value: str, new: str, kind: str) -> None:
        if is_telling(value) and value != new:
            self.known.setdefault(value, (new, kind))

    def _learn_word(self, before: str, value: str, kind: str) -> None:
        """A secret that a text names: its key is less sure than one of JSON, so a plain word is none elsewhere."""
        if kind not in ("url-credential", names.CREDENTIAL):
            return
        word = value.rpartition(":")[2] if before.endswith("://") else value
        self._name(word, kind, _MIXED.fullmatch(word) is not None and not _VAGUE.fullmatch(before))

    def _name(self, value: str, kind: str, sure: bool = True) -> None:
        if is_telling(value) or is_filler(value):
            return
        self.named.add(value)
        if sure and is_password(value):
            self.passwords.setdefault(value, kind)

    def _secret(self, value: str, kind: str, sure: bool = True) -> str:
        """A value that is a secret by its name; a prefix that all such secrets have stays."""
        if is_filler(value):
            return value
        hits = secrets.found(value)
        own = bool(hits) and hits[0].start == 0 and hits[0].end == len(value) and kind != names.OPAQUE
        start = hits[0].body if own else 0
        if own and not secrets.is_live(value, hits[0]):
            return value
        new = value[:start] + self.filler.secret(value[start:])
        kind = hits[0].kind if own else kind
        self.secrets[kind] += 1
        # What is replaced only because its header is not known may be a word of anything.
        if kind != names.HEADER:
            self._learn(value, new, kind)
        if kind in (names.ACCOUNT, names.COOKIE):  # some are plain words
            self._name(value, kind, _MIXED.fullmatch(value) is not None)
        elif kind == names.CREDENTIAL:
            self._name(value, kind, sure)
        return new

    # Heads

    def _head_line(self, line: str) -> str:
        found = _HEADER_LINE.match(line)
        if not found:
            return self._hidden(line)
        start, value = found.end(), line[found.end() :].rstrip()
        new = self._header(found[1].lower(), value, Place(("headers", found[1])))
        return line[:start] + new + line[start + len(value) :]

    def _header(self, name: str, value: str, place: Place) -> str:
        kind = names.named_header(name)
        if kind is None and place.in_head and not names.is_known_header(name):
            kind = names.HEADER
        if kind is None or _STANDS_FOR.fullmatch(value):
            return self._hidden(value) if names.is_known_header(name) else self._text(value, place)
        return self._named(value, kind, name)

    def _named(self, value: str, kind: str, name: str) -> str:
        """A value that its name tells to be a secret; names of cookies and the scheme of an authorization stay."""
        if kind != names.COOKIE or "=" not in value:
            scheme = _SCHEME.match(value) if name.lower().endswith("authorization") else None
            start = scheme.end() if scheme else 0
            return value[:start] + self._secret(value[start:], kind, not _VAGUE.fullmatch(name))
        return _COOKIE.sub(
            lambda found: found[0] if found[2].lower() in _OF_COOKIES else found[1] + self._secret(found[3], "cookie"),
            value,
        )


def _records(text: str) -> list[Record]:
    """The record that a text is, or those in its lines."""
    whole = record(text)
    if whole.value is None and "\n" in text.strip():
        lines = [record(line[0], line.start()) for line in _LINE.finditer(text) if line[0].strip()]
        return lines if lines and lines[0].value is not None else [whole]
    return [whole]


def _homes(value: Any, path: Path) -> list[Any]:
    """The objects and lists on the way to a value, one for each step; None where the text could not be read."""
    homes = [value]
    for step in path[:-1]:
        home = homes[-1]
        inside = isinstance(home, list) if isinstance(step, int) else isinstance(home, dict) and step in home
        homes.append(home[step] if inside else None)
    return homes


def _events_in_strings(spot: Spot) -> tuple[Any, ...] | None:
    """What the data of events have in common that archives keep in a list, each as a text."""
    path = spot.path
    if len(path) < 2 or path[-1] != "data" or not isinstance(path[-2], int) or spot.kind == BARE:
        return None
    return ("events", *path[:-2]) if spot.value.lstrip()[:1] == "{" else None


def _are_lines(value: str) -> bool:
    """Does a text hold JSON values in lines?"""
    lines = [line for line in value.split("\n") if line.strip()] if "\n" in value else []
    return len(lines) > 1 and all(line.lstrip()[:1] == "{" and is_json(line) for line in lines)


def _is_document(value: str, place: Place) -> bool:
    """Is a JSON text a document of a protocol, or the body of a call, and not somebody's own data?"""
    in_archive = isinstance(place.home, dict) and "mimeType" in place.home
    if place.key in ("body", "string") or (place.key == "text" and in_archive):
        return True
    try:
        return detect_value(json.loads(value)).sure is not None
    except NotReadable:
        return False


def _edited(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    out, at = list[str](), 0
    for start, end, new in sorted(edits):
        out += [text[at:start], new]
        at = end
    return "".join([*out, text[at:]])
