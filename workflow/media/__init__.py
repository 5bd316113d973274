"""Images and recordings of tables: found for whoever may see them (`finding`), drawn (`spectrograms`)."""

from __future__ import annotations

from workflow.media.finding import (
    PATH,
    SOUND,
    find,
    find_small,
    first_words,
    row_of,
    small_addresses,
    small_pictures,
)

__all__ = [
    "PATH",
    "SOUND",
    "find",
    "find_small",
    "first_words",
    "row_of",
    "small_addresses",
    "small_pictures",
]
