"""What the Export page says for each kind of project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ExportWords:
    """counted : what the summary counts      sources : what each source means      about : what a file holds

    rows : each of `workflow.exporting.CHOICES`      sure : which rows are sure
    nothing : said where a choice has none
    """

    counted: str
    sources: Mapping[str, str]
    about: str
    rows: Mapping[str, str]
    sure: str
    nothing: Mapping[str, str]
