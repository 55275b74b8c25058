"""What stands in the place of a text or secret: as long, in characters and in bytes, and known for what it is.

Letters become letters of a few that make no words, digits become 0, all else stays. So framing, escapes and lengths
around a text hold, a text that is filler is not replaced again, and filler depends on the text and the salt alone.
"""

import re
from hashlib import sha256, shake_256
from hmac import new as hmac
from unicodedata import category

MARK = "redacted"

_SMALL = "bklmwxz"
_LARGE = _SMALL.upper()
# By the bytes of a letter in UTF-8.
_LETTERS = {2: "ðøþħŋßłđ", 3: "一丁七万丈三上下", 4: "𠀀𠀁𠀂𠀃𠀄𠀅𠀆𠀇"}
_POOL = frozenset(_SMALL + _LARGE + "0" + "".join(_LETTERS.values()))

# What may stand in a secret and has to stay, since its spelling is longer in JSON.
_ESCAPED = re.compile(r'["\\\x00-\x1f\x7f]')
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_UUID = re.compile(r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}")
_MADE_UUID = "00000000-0000-4000-8000-"
_LONG = 12

# The beginnings by which media are known, as base64: PNG, JPEG, GIF, WebP and WAV, PDF, MP3, Ogg, FLAC, MP4, gzip, zip.
_MEDIA = re.compile(
    r"iVBORw0KGg|/9j/|R0lGODdh|R0lGODlh|UklGR.{5}(?:V0VCUA|V0FWR)?|JVBERi0|SUQz|T2dnUw|ZkxhQ|AAAA.{4}ZnR5cA|H4sI|UEsDB"
)
_TELLING = re.compile(rf"[^\x00-/:-@\[-`{{-\x7f0{_SMALL}{_LARGE}]")
_NOT_TO_SEE = re.compile(rf"(?i:{MARK})|\\[nrt]|{_MADE_UUID}[0-9a-f]{{12}}")


def is_filler(text: str) -> bool:
    """Is there nothing in it but filler and marks (or nothing that could say anything)?"""
    return all(char in _POOL or not _says(char) for char in _TELLING.findall(_NOT_TO_SEE.sub("", text)))


def _says(char: str) -> bool:
    return char.isalnum() or (char > "\x7f" and category(char)[0] in "LMN")


class Filler:
    """The filler of one run; `salt` decides which letters stand for which text."""

    def __init__(self, salt: bytes) -> None:
        self.salt = salt

    def text(self, text: str) -> str:
        """Filler with the spaces, lines and punctuation of a text; filler is given back as it is."""
        return text if is_filler(text) else self._filled(text)

    def shape(self, text: str) -> str:
        """A text of which only the length is left, and what JSON would spell with an escape."""
        return "".join(
            "x" if char.isascii() and not _ESCAPED.match(char) else _LETTERS[_bytes(char)][0] if _says(char) else char
            for char in text
        )

    def secret(self, text: str) -> str:
        """Filler that is marked: `redacted` at its beginning, where that is long and plain; of a UUID another one."""
        if is_filler(text):
            return text
        if _UUID.fullmatch(text):
            return _MADE_UUID + sha256(self._key(text)).hexdigest()[:12]
        filled = self._filled(text)
        start = filled[: len(MARK)]
        if len(text) < _LONG or not _PLAIN.fullmatch(start):
            return filled
        return (MARK.upper() if text.isupper() else MARK) + filled[len(MARK) :]

    def payload(self, text: str) -> str:
        """Filler for base64: as valid as before, and of the media type that it was."""
        kept = _MEDIA.match(text)
        start = kept.end() if kept else 0
        rest = text[start:]
        if is_filler(rest):
            return text
        filled = self._filled(rest)
        # The bits that the end of the last byte leaves over must be none.
        padding = len(filled) - len(filled.rstrip("="))
        if 0 < padding < 3 and len(filled) > padding:
            at = len(filled) - padding - 1
            filled = filled[:at] + ("k" if padding == 1 else "w") + filled[at + 1 :]
        return text[:start] + filled

    def _key(self, text: str) -> bytes:
        return hmac(self.salt, text.encode("utf-8", "surrogatepass"), sha256).digest()

    def _filled(self, text: str) -> str:
        stream = shake_256(self._key(text)).digest(len(text))
        small = stream.translate(_AS_SMALL).decode()

        def replaced(run: re.Match[str]) -> str:
            start, end = run.span()
            if run[0][0].isascii():
                letters = small[start:end]
                return (
                    letters if run[0][0].islower() else letters.upper() if run[0][0].isupper() else "0" * len(letters)
                )
            return "".join(map(_replaced, run[0], stream[start:end]))

        return _RUN.sub(replaced, text)


_AS_SMALL = bytes(ord(_SMALL[number % len(_SMALL)]) for number in range(256))
_RUN = re.compile(r"[a-z]+|[A-Z]+|[0-9]+|[^\x00-\x7f]+")


def _replaced(char: str, number: int) -> str:
    if not _says(char):
        return char
    letters = _LETTERS[_bytes(char)]
    return letters[number % len(letters)]


def _bytes(char: str) -> int:
    return len(char.encode("utf-8", "surrogatepass"))


def number(said: str) -> str:
    """A number with as many digits."""
    digits = re.sub(r"\d", "0", said)
    return digits.replace("0", "1", 1)


def byte(said: str) -> str:
    """A number of a byte, spelled as long, that stands for no letter of a text."""
    return {1: "9", 2: "32", 3: "120"}.get(len(said), said)
