"""What the Export page says and gives for each kind of project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workflow.exporting import LOG as LOG_NAME


@dataclass(frozen=True)
class File:
    """A file to take away. name : as `workflow.exporting` knows it      end : of the file's own name

    icon : of Material Symbols
    """

    title: str
    name: str
    end: str
    icon: str


@dataclass(frozen=True)
class ExportWords:
    """counted : what the summary counts      sources : what each source means      about : the columns added

    files : the table itself first
    """

    counted: str
    sources: Mapping[str, str]
    about: str
    files: tuple[File, ...]


LOG = File("Answer log (CSV)", LOG_NAME, "log", "history")
