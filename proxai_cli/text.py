"""JSON text in and out: the one door to JSON for the whole program.

`msgspec` does the work. What it refuses or would change (half of a surrogate pair, `-0`, integers past the
interpreter's limit, deep nesting under a deep caller), and what it does not tell (one key twice, bytes that are no
UTF-8, where a fault is), is read by the careful reader below, which keeps its own stack.
"""

import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from json.encoder import encode_basestring
from typing import Any, NoReturn

import msgspec

from .errors import NotReadable, Place

MAX_DEPTH = 500
MAX_DIGITS = 10_000

FOLLOWED = "nothing more may follow the value"

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Number(float):
    """A number that remembers how it was spelled: `1.10`, `1e400`, `-0`, and integers too long for the interpreter."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> "Number":
        number = super().__new__(cls, text)
        number.text = text
        return number


def loads(data: bytes | str) -> Any:
    """The value of a JSON text. Of a key that stands twice the last value counts.

    Raises `NotReadable`: `empty`, `bad-json` (also for bytes that are no UTF-8, for a byte-order mark and for nesting
    beyond MAX_DEPTH), `number-too-long`; the place has line, column and byte.
    """
    if isinstance(data, str):
        try:
            return loads(data.encode())
        except UnicodeEncodeError:
            return _Careful(data, "surrogatepass").read()
    value = _quickly_read(data, 0)
    if value is _REFUSED or (_many_brackets(data) and _measured(value)[1] > MAX_DEPTH):
        value, findings = _carefully_read(data, 0)
        for code, place in findings:
            if code == "invalid-utf8":
                raise NotReadable("bad-json", "the text holds bytes that are no UTF-8", place)
    return value


def read(data: bytes) -> tuple[Any, list[tuple[str, Place]]]:
    """The value of a captured JSON text, and what was noticed about the text as (code, place).

    Findings: `byte-order-mark`, `invalid-utf8` (inside a string, read as U+FFFD; elsewhere it is `bad-json`),
    `twice-the-same-key` (the pointer is that of the object, the position that of the second key; the last counts).
    Raises as `loads` does.
    """
    findings = []
    shift = len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0
    if shift:
        findings.append(("byte-order-mark", Place(line=1, column=1, byte=0)))
        data = data[shift:]
    value = _quickly_read(data, shift)
    if value is not _REFUSED:
        keys, depth = _measured(value)
        # Counting what looks like a key may give too many, never too few: only then it pays to look closely.
        if depth <= MAX_DEPTH and len(_LIKE_A_KEY.findall(data)) == keys:
            return value, findings
    value, noticed = _carefully_read(data, shift)
    return value, findings + noticed


def split(data: bytes) -> list[bytes]:
    """Several JSON values that follow one another, each with its text; what is none is left in the last one."""
    reader = _Careful(data.decode("utf-8", "surrogateescape"), "surrogateescape")
    parts, at = list[str](), 0
    try:
        while at < len(reader.text):
            _, end = reader.value(at)
            parts.append(reader.text[at:end])
            at = end
    except NotReadable:
        parts.append(reader.text[at:])
    return [part.encode("utf-8", "surrogateescape") for part in parts]


def dumps(value: Any, indent: int | None = None) -> bytes:
    """A value as JSON text in UTF-8, compact or indented, keys in their order, numbers as they were spelled.

    Nothing is escaped that need not be, but for halves of surrogate pairs, which UTF-8 cannot say.
    """
    try:
        data = _encoder.encode(value)
        return data if indent is None else msgspec.json.format(data, indent=indent)
    except (UnicodeEncodeError, RecursionError):
        return _carefully_written(value, indent).encode("utf-8", "backslashreplace")


def harmless(data: bytes) -> bytes:
    """JSON text, or lines that hold it, for a terminal or a log: the same values, but with JSON's own escapes for what
    could steer the one (control characters, directions of writing) or be an order to the other (`##[…]`)."""
    return _STEERS.sub(_escaped, data.decode("utf-8", "replace")).encode()


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same to the digit: types (true is not 1), spelling of numbers, order of keys."""
    todo = [(one, other)]
    while todo:
        one, other = todo.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            if list(one) != list(other):
                return False
            todo += zip(one.values(), other.values(), strict=True)
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            todo += zip(one, other, strict=True)
        elif isinstance(one, (int, float)) and isinstance(other, (int, float)):  # also true and false
            if _spelled(one) != _spelled(other):
                return False
        elif type(one) is not type(other) or one != other:
            return False
    return True


def pointer(path: list[str | int] | tuple[str | int, ...]) -> str:
    """The JSON Pointer (RFC 6901) of a path of keys and positions."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in path)


def steps(pointer: str) -> list[str]:
    """The keys and positions, all as text, of a JSON Pointer."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


_STEERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]|#(?=#\\w*\\[)"
)


def _escaped(found: re.Match[str]) -> str:
    halves = found[0].encode("utf-16-be").hex()
    return "".join(f"\\u{halves[at : at + 4]}" for at in range(0, len(halves), 4))


_REFUSED = object()
_LIKE_A_KEY = re.compile(rb'"(?:(?<!\\")|(?<=\\\\"))[ \t\n\r]*:')
_MINUS_ZERO = re.compile(rb"-0(?<![^\s:,\[]-0)(?![^\s,\]}])")


def _decimal(text: str) -> Number:
    if len(text) > MAX_DIGITS:
        raise ValueError("for the careful reader to judge")
    return Number(text)


_decoder = msgspec.json.Decoder(float_hook=_decimal)


def _quickly_read(data: bytes, shift: int) -> Any:
    """The value, or _REFUSED where the careful reader must look."""
    try:
        value = _decoder.decode(data)
    except RecursionError:
        # Brackets without end are refused by the beginning, without a second copy of all of them.
        _refuse_nesting(data[: 1 << 20], shift)
        return _REFUSED
    except msgspec.MsgspecError:
        return _REFUSED
    return _REFUSED if b"-0" in data and _MINUS_ZERO.search(data) else value


def _refuse_nesting(beginning: bytes, shift: int) -> None:
    try:
        _carefully_read(beginning, shift)
    except NotReadable as fault:
        if fault.message == _TOO_DEEP:
            raise


def _carefully_read(data: bytes, shift: int) -> tuple[Any, list[tuple[str, Place]]]:
    # Bytes that are no UTF-8 become lone surrogates here, which decoded text cannot hold: so they are found again.
    reader = _Careful(data.decode("utf-8", "surrogateescape"), "surrogateescape", shift)
    return reader.read(), reader.findings


def _many_brackets(data: bytes) -> bool:
    return data.count(b"[") + data.count(b"{") > MAX_DEPTH


def _measured(value: Any) -> tuple[int, int]:
    """How many keys there are in all objects, and how deep they nest."""
    keys = depth = 0
    level = [value] if isinstance(value, (dict, list)) else []
    while level:
        depth += 1
        below: list[Any] = []
        for home in level:
            if isinstance(home, dict):
                keys += len(home)
            below += [
                inner
                for inner in (home.values() if isinstance(home, dict) else home)
                if isinstance(inner, (dict, list))
            ]
        level = below
    return keys, depth


_TOO_DEEP = f"nested more than {MAX_DEPTH} deep"
_BLANKS = re.compile(r"[ \t\n\r]*+")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_LITERAL = re.compile("true|false|null")
_LITERALS = {"true": True, "false": False, "null": None}
_CUT_TOKEN = re.compile(r"\.|[eE][+-]?|-|tr?u?|fa?l?s?|nu?l?|\\(?:u[0-9a-fA-F]{0,3})?")
_NO_UTF8 = re.compile("[\udc80-\udcff]")

_VALUE, _VALUE_OR_END, _KEY, _KEY_OR_END, _AFTER = range(5)


class _Careful:
    """Reads one JSON text without recursion, and knows the place of every fault."""

    def __init__(self, text: str, errors: str, shift: int = 0) -> None:
        """`errors` is how the text goes back to bytes, `shift` the number of bytes before it."""
        self.text, self.errors, self.findings = text, errors, list[tuple[str, Place]]()
        self.broken = errors == "surrogateescape" and _NO_UTF8.search(text) is not None
        self.seen, self.line, self.line_start, self.byte = 0, 1, 0, shift

    def read(self) -> Any:
        value, end = self.value(0)
        if end < len(self.text):
            self._fail(FOLLOWED, end)
        return value

    def value(self, at: int) -> tuple[Any, int]:
        """The value that begins here or after some blanks, and where the text goes on after it and further blanks."""
        text, want = self.text, _VALUE
        root: list[Any] = []
        homes: list[Any] = [root]
        keys: list[Any] = [None]
        while True:
            at = self._after_blanks(at)
            mark, home = text[at : at + 1], homes[-1]
            closing = "}" if isinstance(home, dict) else "]"
            if want == _AFTER:
                if home is root:
                    return root[0], at
                if mark == ",":
                    at, want = at + 1, _KEY if isinstance(home, dict) else _VALUE
                elif mark == closing:
                    del homes[-1], keys[-1]
                    at += 1
                else:
                    self._fail(f"expected ',' or '{closing}'", at)
            elif mark == closing and want in (_VALUE_OR_END, _KEY_OR_END):
                del homes[-1], keys[-1]
                at, want = at + 1, _AFTER
            elif want in (_KEY, _KEY_OR_END):
                if mark != '"':
                    self._fail("expected a key in double quotes", at)
                start = at
                keys[-1], at = self._string(at)
                if keys[-1] in home:
                    path = [
                        len(above) - 1 if isinstance(above, list) else key
                        for above, key in zip(homes[1:-1], keys[1:-1], strict=True)
                    ]
                    self.findings.append(("twice-the-same-key", self._place(start, pointer(path))))
                at, want = self._after_blanks(at), _VALUE
                if text[at : at + 1] != ":":
                    self._fail("expected ':'", at)
                at += 1
            else:
                value: Any
                opens = mark in ("{", "[")
                if opens and len(homes) > MAX_DEPTH:
                    self._fail(_TOO_DEEP, at)
                if opens:
                    value, at = {} if mark == "{" else [], at + 1
                else:
                    value, at = self._scalar(at, empty=not mark and home is root)
                if isinstance(home, dict):
                    home[keys[-1]] = value
                else:
                    home.append(value)
                want = _AFTER
                if opens:
                    homes.append(value)
                    keys.append(None)
                    want = _KEY_OR_END if mark == "{" else _VALUE_OR_END

    def _after_blanks(self, at: int) -> int:
        found = _BLANKS.match(self.text, at)
        return found.end() if found else at

    def _scalar(self, at: int, empty: bool) -> tuple[Any, int]:
        if empty:
            raise NotReadable("empty", "there is nothing in it", self._place(at))
        if self.text[at : at + 1] == '"':
            return self._string(at)
        found = _NUMBER.match(self.text, at)
        if found:
            return self._number(found.group(), at), found.end()
        found = _LITERAL.match(self.text, at)
        if not found:
            self._fail("expected a value", at)
        return _LITERALS[found.group()], found.end()

    def _string(self, at: int) -> tuple[str, int]:
        found = _STRING.match(self.text, at)
        end = found.end() if found else at
        mark = self.text[end : end + 1]
        if mark != '"':
            self._fail(
                "an escape that JSON does not know"
                if mark == "\\"
                else "a control character inside a string"
                if mark
                else "a string without an end",
                end,
            )
        if self.broken and _NO_UTF8.search(self.text, at, end):
            self.findings.append(("invalid-utf8", self._place(at)))
            raw = self.text[at : end + 1].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            return str(scanstring(raw, 1)[0]), end + 1
        return str(scanstring(self.text, at + 1)[0]), end + 1

    def _number(self, token: str, at: int) -> int | Number:
        if len(token) > MAX_DIGITS and sum(map(str.isdigit, token)) > MAX_DIGITS:
            self._fail(f"a number of more than {MAX_DIGITS} digits", at, "number-too-long")
        if token == "-0" or not token.lstrip("-").isdigit():
            return Number(token)
        try:
            return int(token)
        except ValueError:  # more digits than the interpreter wants to turn into an integer
            return Number(token)

    def _fail(self, message: str, at: int, code: str = "bad-json") -> NoReturn:
        """A text that is cut inside a token fails at its end, like one that is cut between two; blanks, as those before
        the next record, are behind it."""
        is_cut = at == len(self.text) or _CUT_TOKEN.fullmatch(self.text, at) is not None
        if is_cut:
            at = max(self.seen, len(self.text.rstrip(" \t\r\n")))
        raise NotReadable(code, message, self._place(at), "the text is cut: capture it again" if is_cut else "")

    def _place(self, at: int, pointer: str | None = None) -> Place:
        """Places are asked for in the order of the text, so that all of them together cost one walk over it."""
        passed = self.text[self.seen : at]
        self.byte += len(passed.encode("utf-8", self.errors))
        if "\n" in passed:
            self.line += passed.count("\n")
            self.line_start = self.seen + passed.rindex("\n") + 1
        self.seen = at
        return Place(line=self.line, column=at - self.line_start + 1, byte=self.byte, pointer=pointer)


_NOTHING = object()


def _raw(value: Any) -> msgspec.Raw:
    if isinstance(value, Number):
        return msgspec.Raw(value.text.encode())
    raise TypeError(f"{type(value).__name__} is no JSON value")


_encoder = msgspec.json.Encoder(enc_hook=_raw)


def _carefully_written(value: Any, indent: int | None) -> str:
    """The text that `msgspec` would write, without recursion and with whatever the strings hold."""
    out: list[str] = []
    todo = [("", value, 0)]  # what stands before a value, the value, its depth
    colon = ":" if indent is None else ": "
    while todo:
        before, node, depth = todo.pop()
        out.append(before)
        if node is _NOTHING:
            continue
        if not node or not isinstance(node, (dict, list)):
            out.append(encode_basestring(node) if isinstance(node, str) else _encoder.encode(node).decode())
            continue
        outer, inner = ("\n" + " " * indent * level if indent is not None else "" for level in (depth, depth + 1))
        opening, closing = "{}" if isinstance(node, dict) else "[]"
        out.append(opening)
        members = (
            [(encode_basestring(key) + colon, member) for key, member in node.items()]
            if isinstance(node, dict)
            else [("", member) for member in node]
        )
        todo.append((outer + closing, _NOTHING, depth))
        todo += [
            (("," if number else "") + inner + key, member, depth + 1)
            for number, (key, member) in reversed(list(enumerate(members)))
        ]
    return "".join(out)


def _spelled(number: int | float) -> str:
    return number.text if isinstance(number, Number) else repr(number)
