"""Detect a file's encoding from its bytes, decode it, and report doubt.

Byte order marks and UTF-8 are certain; UTF-16 and UTF-32 without a mark are recognised by their NUL bytes. Anything
else is a guess: the file is decoded in each encoding of `_ENCODINGS`, and the one whose characters best suit its
languages is chosen, with a note. All 29 small tables of tests/plcore/tables/text/test_text_encoding.py are decoded
correctly, but only 17 by charset-normalizer 3.5, or 19 if it is given these encodings alone: it is made for prose, and
a table has few words.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

_SAMPLE = 1 << 15
_NUL_SHARE = 0.3  # of the bytes at positions where UTF-16 or UTF-32 has NUL for ASCII
_BINARY = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f]")  # control characters that no text has, except escape
_HIGH_LINE = re.compile(rb"[^\r\n]*[\x80-\xff][^\r\n]*[\r\n]*")
_MARKS = (  # UTF-32 before UTF-16: its mark starts with that of UTF-16
    (codecs.BOM_UTF8, "utf-8", "UTF-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
)


@dataclass(frozen=True)
class Text:
    """A text as UTF-8 without byte order mark, the encoding of its file, and a sentence of doubt or ''."""

    data: bytes
    encoding: str = "UTF-8"
    doubt: str = ""


class NoTextError(ValueError):
    """The bytes are not text. `good` are those before the fault, as UTF-8; `args[0]` describes the fault."""

    def __init__(self, message: str, good: bytes) -> None:
        super().__init__(message)
        self.good = good


def decode(source: bytes) -> Text:
    """Decode a file. Raises NoTextError with the position of the first invalid byte."""
    for mark, codec, name in _MARKS:
        if source.startswith(mark) and not (name == "UTF-32" and len(source) % 4):
            return _strictly(source, len(mark), codec, name)
    wide = _without_mark(source)
    if wide is not None:
        return wide
    try:
        source.decode()
    except UnicodeDecodeError:
        return _in_another(source)
    return Text(source)


def _strictly(source: bytes, skipped: int, codec: str, name: str) -> Text:
    body = source[skipped:]
    try:
        text = body.decode(codec)
    except UnicodeDecodeError as error:
        number = skipped + error.start
        message = (
            f"the file is not {name} text: byte 0x{source[number]:02X}, number {number + 1} of the file, "
            "is not a character."
        )
        raise NoTextError(message, body[: error.start].decode(codec).encode()) from None
    return Text(body if codec == "utf-8" else text.encode(), name)


def _without_mark(source: bytes) -> Text | None:
    """Decode UTF-16 or UTF-32 without byte order mark: NULs at every second byte, or three of four; else None."""
    sample = source[:_SAMPLE]
    for width, name in ((4, "UTF-32"), (2, "UTF-16")):
        if len(source) % width or not source:
            continue
        shares = [sample[place::width].count(0) / (len(sample) / width) for place in range(width)]
        for filled, order in ((0, "le"), (width - 1, "be")):
            empty = [share for place, share in enumerate(shares) if place != filled]
            if min(empty) >= max(_NUL_SHARE, 2 * shares[filled]):
                try:
                    text = source.decode(f"{name}-{order}")
                except UnicodeDecodeError:
                    continue
                if "\0" not in text:
                    return Text(text.encode(), name, _doubt(f"{name} without a byte order mark"))
    return None


def _in_another(source: bytes) -> Text:
    """Decode text that is not UTF-8, in the most likely encoding."""
    if not _is_damaged_utf8(source) and _BINARY.search(source) is None:
        lines, size = [], 0
        for found in _HIGH_LINE.finditer(source):
            lines.append(found.group()[:_SAMPLE])
            size += len(lines[-1])
            if size >= _SAMPLE:
                break
        sample = b"".join(lines)
        # The sort is stable: among equals, the first in the list is used.
        for encoding in sorted(_ENCODINGS, key=lambda each: -each.share(sample)):
            if encoding.share(sample) > 0:
                try:
                    data = source.decode(encoding.codec).encode()
                except UnicodeDecodeError:
                    continue
                return Text(data, encoding.name, _doubt(encoding.name))
    return _strictly(source, 0, "utf-8", "UTF-8")  # raises with the position


def _doubt(name: str) -> str:
    return (
        f"Read as {name}, which the file does not say itself. Look whether letters with accents are right; if not, "
        "save the file as UTF-8 and import it again."
    )


def _is_damaged_utf8(source: bytes) -> bool:
    """Whether most characters beyond ASCII are valid UTF-8, which rarely happens by chance."""
    text = source[: 1 << 20].decode(errors="replace")
    bad = text.count("\ufffd")
    return sum(not character.isascii() for character in text) - bad > 3 * bad


@dataclass(frozen=True)
class _Encoding:
    """An encoding, and a function that rates a character in [0, 1], given the character before it."""

    codec: str
    name: str
    speaks: Callable[[str, str], float]

    def share(self, sample: bytes) -> float:
        """Return the mean rating of the characters beyond ASCII; 0 if one of them is impossible."""
        text = sample.decode(self.codec, errors="replace")
        total, found, before = 0, 0.0, " "
        for character in text:
            if not character.isascii():
                if unicodedata.category(character) in ("Cc", "Co", "Cn", "Cs"):
                    return 0.0
                total += 1
                found += self.speaks(character, before)
            before = character
        # One broken character may come from the cut at the end of the sample; more mean another encoding.
        return found / total if total and text.count("\ufffd") <= 1 else 0.0


_SIGNS = "€£§°±²³µ·–—‘’“”„…«»¿¡©®×½¼¾\u00a0"
_WEST = "àâäáãåæçèéêëìíîïñòóôöõøœùúûüßýðþ"
_MIDDLE = "ąćęłńóśźżáčďéěíňřšťúůýžäöüßőűâăîșțşţđôĺľŕ"


def _letters(common: str) -> Callable[[str, str], float]:
    def speaks(character: str, before: str) -> float:
        if character in _SIGNS:
            return float(not before.isalpha() or character in "’”“°–—…")
        if character.lower() not in common or (character.isupper() and before.islower()):
            return 0.0
        return 1.0 if before.isascii() else 0.5  # words of only such letters are likely another alphabet

    return speaks


def _alphabet(first: str, last: str, frequent: str) -> Callable[[str, str], float]:
    """Rate words of one alphabet: lower case except the first letter, and frequent letters."""

    def speaks(character: str, before: str) -> float:
        if not first <= character <= last:
            return 0.5 if character in _SIGNS and not before.isalpha() else 0.0
        is_plain = character.islower() or not before.isalpha()
        return 0.3 * is_plain + 0.7 * (character.lower() in frequent)

    return speaks


def _east(codec: str, leads: range, first: str, last: str, trail: int = 0xA1) -> Callable[[str, str], float]:
    """Rate characters from `first` to `last`, and those that a standard counts among the frequent ones.

    leads : first bytes of frequent characters      trail : minimum second byte
    """

    def speaks(character: str, before: str) -> float:
        if before.isascii() and before.isalpha():
            return 0.0
        if first <= character <= last or "\u3000" <= character <= "\u3020" or "\uff01" <= character <= "\uff5e":
            return 1.0
        code = character.encode(codec, errors="replace")
        return float(len(code) == 2 and code[0] in leads and code[1] >= trail)

    return speaks


def _thai(character: str, before: str) -> float:
    """Rate runs of Thai letters, and the vowels and marks that follow one; a letter among Latin ones is none."""
    follows = "ก" <= before <= "์"
    if unicodedata.category(character) == "Mn" or character in "ะาำ":
        return float(follows)
    is_letter = "ก" <= character <= "ฮ" or "เ" <= character <= "ไ"
    return is_letter * (1.0 if follows else 0.5 * (not before.isalpha()))


_CYRILLIC = _alphabet("Ё", "ё", "оеаинтсрвлкмдпу")
_GREEK = _alphabet("Ά", "ώ", "αοιετσνηυρίόάέή")
_ENCODINGS = (
    _Encoding("cp1252", "Windows-1252", _letters(_WEST)),
    _Encoding("latin-1", "Latin-1", _letters(_WEST)),
    _Encoding("mac_roman", "Mac Roman", _letters(_WEST)),
    _Encoding("cp1250", "Windows-1250", _letters(_MIDDLE)),
    _Encoding("cp850", "DOS 850", _letters(_WEST)),
    _Encoding("cp1251", "Windows-1251", _CYRILLIC),
    _Encoding("koi8_r", "KOI8-R", _CYRILLIC),
    _Encoding("cp866", "DOS 866", _CYRILLIC),
    _Encoding("cp1253", "Windows-1253", _GREEK),
    _Encoding("cp949", "EUC-KR", _east("euc_kr", range(0xB0, 0xC9), "\uac00", "\uac00")),
    _Encoding("cp932", "Shift-JIS", _east("cp932", range(0x88, 0x98), "\u3041", "\u30ff", 0x40)),
    _Encoding("euc_jp", "EUC-JP", _east("euc_jp", range(0xB0, 0xD0), "\u3041", "\u30ff")),
    _Encoding("gb18030", "GB18030", _east("gb18030", range(0xB0, 0xD8), "\u4e00", "\u4e00")),
    _Encoding("big5", "Big5", _east("big5", range(0xA4, 0xC7), "\u4e00", "\u4e00", 0x40)),
    _Encoding("cp874", "Windows-874", _thai),
)
