"""What the Export page says and gives for each kind of project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from workflow import exporting, vector_exporting


@dataclass(frozen=True)
class File:
    """A file to take away. name : its end      icon : of Material Symbols      make : the use case that writes it"""

    title: str
    name: str
    icon: str
    make: Callable[..., bytes]


@dataclass(frozen=True)
class Words:
    """counted : what the summary counts      sources : what each source means      about : the columns added

    files : the table itself first
    """

    counted: str
    sources: Mapping[str, str]
    about: str
    files: tuple[File, ...]


LOG = File("Answer log (CSV)", "log", "history", exporting.export_log)

CANDIDATES = Words(
    "Rows",
    {
        "given": "the file had one candidate",
        "oracle": "a person answered",
        "necessary": "every way to resolve the open rows gives this label",
        "model": "the model's best guess among the candidates left",
        "truth": "the file's true-label column",
        "open": "several candidates are left, and there is no model yet",
        "bad": "a person took it out as a bad item",
    },
    "Every original column keeps its text exactly. Added: winnow_candidates, winnow_label, winnow_source, "
    "winnow_confidence, winnow_annotator, winnow_answered_at.",
    (File("Labelled table (CSV)", "winnowed", "download", exporting.export_csv), LOG),
)

VECTORS = Words(
    "Cells",
    {
        "given": "known in the file",
        "oracle": "a person answered",
        "model": "not asked: the cell stays empty, the model's probability stands beside it",
        "truth": "a held-out row of the file",
        "bad": "taken out as a bad item",
    },
    "1 is yes, 0 is no, an empty cell was not asked: it is never written as 0. Added for each label: "
    "winnow_probability and winnow_source.",
    (
        File("Label vectors (CSV)", "winnowed", "download", vector_exporting.wide_csv),
        File("One line for each cell (CSV)", "cells", "table_rows", vector_exporting.long_csv),
        LOG,
    ),
)
