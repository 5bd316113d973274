"""The words of a text, and where they stand in it. In scripts without spaces a word is a whole run of signs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

_PLANE = 0x10000  # beyond it there are marks of a few scripts that nobody writes texts in any more


def compared(text: str) -> str:
    """The text as words are compared: in small letters, forms of one letter (ﬁ, full width, accents apart) made one."""
    return unicodedata.normalize("NFKC", text).lower()


def words_of(text: str) -> list[str]:
    """Its words in order, as they are compared."""
    return word_pattern().findall(compared(text))


def spans_of(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, word) of each word of the text as it is written; the word as it is compared."""
    for found in word_pattern().finditer(text):
        yield found.start(), found.end(), compared(found.group())


@cache
def word_pattern() -> re.Pattern[str]:
    """Letters and digits with the marks that belong to them. Without vowel signs and accents, which are not `\\w`,
    words of Hindi or pointed Hebrew would be cut to pieces."""
    marks = "".join(chr(code) for code in range(_PLANE) if unicodedata.category(chr(code)).startswith("M"))
    return re.compile(rf"\w[\w{marks}]*")
