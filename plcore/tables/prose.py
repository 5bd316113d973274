"""Whether commas in a column stand between labels, or in what people write: sentences, names, addresses, dates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from plcore.tables.column_sample import mean_of, parts_of

TEXT_NAMES = {
    "text",
    "sentence",
    "description",
    "caption",
    "comment",
    "message",
    "review",
    "title",
    "abstract",
}
MARKS = (",", ";")
"""Separators that people write in texts, too."""
_KEPT = 0.95
"""Share of the parts that stand where they always do, from which a cell is a record and not a set."""
_NEW = 0.75
"""Share of the cells with a part found nowhere else, above which the parts are no classes."""
_FEWEST = 3
"""Cells that differ and hold several parts, from which that can be said of them."""
_WORDS = 4
"""Words of a part, on average, above which it is part of a sentence."""


def is_written(cells: Iterable[str], mark: str) -> bool:
    """Whether this mark seems to stand in these cells as people write it, and not between labels.

    Labels come again in other company and in other places of the list. Written, the mark has a space behind it, and

    - what stands between two is a record, each part always in its place: *Smith, John*, *Springfield, IL*, *Monday, 3
      May*, a name of one class such as *Agriculture, forestry*; or
    - nearly every cell has a part that is found in no other; or
    - the parts are as long as those of sentences.
    """
    differing = set(cells)
    text = "|".join(differing)
    if 2 * len(re.findall(rf"{re.escape(mark)}\s", text)) < text.count(mark):
        return False  # programs leave no space
    lists = [parts_of(cell, mark) for cell in differing]
    places: dict[str, Counter[int]] = {}
    for parts in lists:
        for place, part in enumerate(parts):
            places.setdefault(part, Counter())[place] += 1
    times = {part: found.total() for part, found in places.items()}
    several = [parts for parts in lists if len(parts) > 1]
    new = mean_of(any(times[part] == 1 for part in parts) for parts in several)
    return (
        sum(max(found.values()) for found in places.values()) >= _KEPT * sum(times.values())
        or (len(several) >= _FEWEST and new > _NEW)
        or mean_of(len(part.split()) for part in places) > _WORDS
    )
