"""Text as a search compares it: without its accents, whatever its case. `pages/parts/card/folding.js` does the same."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

_MARKS = "[\u0300-\u036f]"
_LETTERS = {
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h", "ı": "i", "ς": "σ",
}  # fmt: skip
"""Lower-case letters that Unicode does not take apart, and what people type who do not have them."""


def folded(text: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Every text in compatibility decomposition (composed and decomposed letters alike), in lower case, without
    accents (U+0300 to U+036F); letters such as ø and ß as o and ss.

    Marks that belong to a script, such as the vowel signs of Devanagari, stay: without them words would be others.
    """
    if isinstance(text, pa.ChunkedArray):
        text = text.combine_chunks()
    plain = pc.utf8_lower(text)
    other = pc.invert(pc.string_is_ascii(text))  # few texts, mostly, and ten times as slow
    return pc.replace_with_mask(plain, other, _without_accents(pc.filter(text, other)))


def _without_accents(text: pa.Array) -> pa.Array:
    plain = pc.utf8_lower(pc.utf8_normalize(text, form="NFKD"))
    plain = pc.replace_substring_regex(plain, pattern=_MARKS, replacement="")
    for letter, typed in _LETTERS.items():
        plain = pc.replace_substring(plain, pattern=letter, replacement=typed)
    return plain
