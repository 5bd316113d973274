"""File formats of plug-ins: functions that other distributions declare, which read the table in a file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from plcore.arrays.plugins import Plugin, check_declared, find_plugins
from plcore.tables.media.file_tree import OWN_ENDINGS

READER_GROUP = "winnow.readers"
"""Group of the entry points."""
_ENDING = re.compile(r"(\.[a-z0-9_-]+)+")


@dataclass(frozen=True)
class ReaderPlugin:
    """Declaration of a file format. A file has it if it begins and is named as declared, and is in no format of ours.

    words : what people read: the name, a colon, what it is
    read : "package.module:name" of a function that takes the bytes of a file and its name, "" if it has none, and
        returns the cells of each column by its name, or a DataFrame. For a file that it cannot read it raises
        ValueError, with row and column in words
    starts : alternative first bytes; (): any      endings : alternative endings of names, in lower case; (): any
    Raises ValueError for a wrong one.
    """

    words: str
    read: str
    starts: tuple[bytes, ...] = ()
    endings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_declared(self.words, "what it is", read=self.read)
        if not isinstance(self.starts, tuple) or not all(isinstance(one, bytes) and one for one in self.starts):
            raise ValueError(f"starts must be a tuple of bytes. Got {self.starts!r}.")
        if not isinstance(self.endings, tuple) or not all(map(_ENDING.fullmatch, self.endings)):
            raise ValueError(
                f"endings must be a tuple of endings in lower case, such as '.pipes'. Got {self.endings!r}."
            )
        if ours := [one for one in self.endings if one.endswith(OWN_ENDINGS)]:
            raise ValueError(f"endings must not be {ours[0]!r}, which Winnow reads itself.")
        if not self.starts and not self.endings:
            raise ValueError("starts or endings must be given: a file is recognised by nothing else.")

    @property
    def name(self) -> str:
        """Return the name of the format."""
        return self.words.partition(":")[0]

    def fits(self, data: bytes, name: str) -> bool:
        """Whether a file with these first bytes and this name is declared to have the format."""
        starts = not self.starts or data.startswith(self.starts)
        return starts and (not self.endings or name.lower().endswith(self.endings))


@cache
def reader_plugins() -> tuple[Plugin[ReaderPlugin], ...]:
    """Return every plug-in of a file format, as installed at the first call; broken ones too."""
    return find_plugins(READER_GROUP, ReaderPlugin)


def reader_for(data: bytes, name: str) -> tuple[Plugin[ReaderPlugin], ReaderPlugin] | None:
    """Return the first plug-in whose declaration fits a file, with it; None if none does."""
    for one in reader_plugins():
        if one.declared is not None and one.declared.fits(data, name):
            return one, one.declared
    return None
