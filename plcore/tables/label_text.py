"""The text of labels: what looks the same is the same label, and what stands for nothing is none.

Unicode is composed (é in one piece), characters without width are dropped. Where all labels of a table are numbers,
`1.0` is `1`; where all are truth values, `True` is `true`. Nothing else is joined: names that are equal but for
capitals or spaces stay apart, and `plcore.tables.doubts` tells of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

MISSING = ("nan", "NaN", "NAN", "NA", "N/A", "#N/A", "n/a", "<NA>", "None", "none", "null", "NULL", "Null")
"""What programs write where they have nothing."""

_NO_WIDTH = "[\u200b\u2060\ufeff]"
_WHOLE = re.compile(r"([+-]?[0-9]{1,18})(\.0*)?", re.ASCII)
_TRUTH_VALUES = {"true", "false"}


def as_labels(text: pa.Array, ignored: Sequence[str] = ()) -> pa.Array:
    """Labels as they stand in cells (large_string), written as everywhere; '' for those in `ignored`."""
    encoded = text.dictionary_encode()  # many cells name few labels
    clean = pc.utf8_normalize(pc.replace_substring_regex(encoded.dictionary, _NO_WIDTH, ""), form="NFC")
    clean = pc.utf8_trim_whitespace(clean)
    if ignored:
        nothing = pc.is_in(clean, value_set=pa.array(ignored, pa.large_string()))
        clean = pc.if_else(nothing, pa.scalar("", pa.large_string()), clean)
    return clean.take(encoded.indices)


def one_spelling(names: Iterable[str]) -> dict[str, str]:
    """For every label of a table the name that it goes by."""
    known = {name for name in names if name}
    whole = {name: match for name in known if (match := _WHOLE.fullmatch(name))}
    if len(whole) == len(known):
        return {name: str(int(match[1])) if match[2] else name for name, match in whole.items()}
    if {name.lower() for name in known} <= _TRUTH_VALUES:
        return {name: name.lower() for name in known}
    return {name: name for name in known}


def spelt_as(classes: Sequence[str], names: Iterable[str]) -> dict[str, str]:
    """For every label the class that it goes by, if there is one; `1.0` is `1` only where all classes are numbers."""
    numbers = all(_WHOLE.fullmatch(name) for name in classes)
    truths = {name.lower() for name in classes} <= _TRUTH_VALUES
    found = {}
    for name in names:
        match = _WHOLE.fullmatch(name) if numbers else None
        found[name] = str(int(match[1])) if match and match[2] else name.lower() if truths else name
    return found
