"""The tools whose exports are known by name: which fields their JSON has, and who reads it.

A new tool is a module beside this one with an object that has the three names of `RecordFormat`, and its place in
`RECORD_FORMATS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from plcore.tables.formats.reading import Reading

Records = Sequence[Mapping[str, Any]]
"""The objects of a JSON or JSONL file, in their order; a file that is one object is a sequence of one."""


class RecordFormat(Protocol):
    """What a tool writes as JSON objects.

    name : of the tool and its file, in words: "Label Studio tasks"
    fits : whether these records (n >= 1) are of this tool, by the names of their fields; never raises
    read : the table in them. Raises TableError
    """

    @property
    def name(self) -> str: ...

    def fits(self, records: Records, /) -> bool: ...

    def read(self, records: Records, /) -> Reading: ...


RECORD_FORMATS: tuple[RecordFormat, ...] = ()
"""The first that fits reads the file; where none does, every field is a column."""
