"""Which rows of a table hold words in their text: by whole columns, and without the learner, for a table never changes.

A word is held whatever its case (`str.casefold`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from plcore.common import BoolArray

if TYPE_CHECKING:
    from plcore import LabelTable


def words_of(search: str) -> list[str]:
    """The words that a person searches for, each once, as `rows_with` compares them."""
    return list(dict.fromkeys(search.casefold().split()))


def rows_with(table: LabelTable, words: Sequence[str]) -> Mapping[str, BoolArray]:
    """(n,) for each word: whether it is in a row's id, text or categories."""
    if not words:
        return {}
    columns = [column for column in (table.roles.text, *table.roles.categories) if column]
    texts = [_ids(table), *(pa.array(table.cells[column].array, pa.large_string()) for column in columns)]
    found = {word: np.zeros(table.n_rows, dtype=bool) for word in words}
    for text in texts:
        ascii_only = pc.string_is_ascii(text)
        lower = pc.ascii_lower(text)
        others = np.flatnonzero(~np.asarray(ascii_only))  # few, mostly, and Python's own rules hold for them
        folded = [one.casefold() for one in text.take(pa.array(others)).to_pylist()]
        for word, rows in found.items():
            if word.isascii():
                rows |= np.asarray(pc.and_(pc.match_substring(lower, word), ascii_only))
            rows[others] |= np.fromiter((word in one for one in folded), dtype=bool, count=len(folded))
    return found


def _ids(table: LabelTable) -> pa.Array | pa.ChunkedArray:
    """The ids; white space around them may stay, for no word has any."""
    if table.roles.id is None:
        return pc.cast(pa.array(np.arange(1, table.n_rows + 1)), pa.large_string())
    return pa.array(table.cells[table.roles.id].array, pa.large_string())
