"""The formats in which a disambiguated table is exported. Each is written in pieces, never whole in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any, BinaryIO, Generic, TypeVar

import pandas as pd

from plcore.tables.readers.candidate_rows import json_text
from plcore.tables.readers.tools.argilla_prodigy import prodigy_tasks
from plcore.tables.readers.tools.votes import long_votes
from plcore.tables.writers.disambiguated import Disambiguated, Tell, silent
from plcore.tables.writers.label_studio import label_studio_tasks, write_label_studio_config
from plcore.tables.writers.npz import write_npz
from plcore.tables.writers.parquet import write_arrow, write_parquet, write_probabilities
from plcore.tables.writers.records import argilla_records, doccano_lines
from plcore.tables.writers.sheets import write_csv, write_xlsx

TableT = TypeVar("TableT")


@dataclass(frozen=True)
class FileFormat(Generic[TableT]):
    """A format of files.

    Attributes
    ----------
    name : used to request it, such as `csv`
    title : the display name
    suffix : of the files, such as `.votes.csv`
    about : one sentence: its contents, and the programs that open it
    write : writes the table into a binary file and reports the number of rows written
    fits : whether a table of these cells has what the format holds
    """

    name: str
    title: str
    suffix: str
    about: str
    write: Callable[[TableT, BinaryIO, Tell], None]
    fits: Callable[[pd.DataFrame], bool] = lambda _cells: True


def own_lines(table: Disambiguated, tell: Tell = silent) -> Iterator[str]:
    """Yield a line of JSON for each row, with all facts about it; `OWN_LINES` reads its candidates again, as in
    `Disambiguated.left`."""
    for piece in table.pieces(tell=tell):
        answers, records = piece.answers_by_row(), piece.records()
        before, after, carried = piece.weighted(before=True), piece.weighted(), piece.carried()
        for row, record in enumerate(records):
            line = {
                "winnow_id": piece.ids[row],
                "data": record,
                "winnow_candidates_before": _written(before[row]),
                "winnow_candidates": _written(after[row]),
                "winnow_label": piece.label_name(row),
                "winnow_source": str(piece.source[row]),
                "winnow_confidence": piece.known_probability(row),
                "winnow_model_version": piece.version_of(row),
                **carried[row],
                **_outside(piece, row),
                "winnow_answers": [{k: v for k, v in one.items() if k != "row"} for one in answers.get(row, [])],
            }
            yield json_text(line) + "\n"


def _outside(piece: Disambiguated, row: int) -> dict[str, float | None]:
    """Return how likely the truth is not a candidate, for tables with that estimate."""
    if piece.outside is None:
        return {}
    risk = float(piece.outside[row])
    return {"winnow_outside": None if isnan(risk) else round(risk, 4)}


def _written(weighted: dict[str, float | None]) -> list[dict[str, object]]:
    return [{"label": name} if weight is None else {"label": name, "p": weight} for name, weight in weighted.items()]


def text_writer(texts: Callable[[TableT, Tell], Iterator[str]]) -> Callable[[TableT, BinaryIO, Tell], None]:
    """Return a writer, as UTF-8, of the pieces of text that a generator yields."""

    def write(table: TableT, file: BinaryIO, tell: Tell) -> None:
        for text in texts(table, tell):
            file.write(text.encode())

    return write


_ALL: tuple[FileFormat[Disambiguated], ...] = (
    FileFormat(
        "csv",
        "CSV",
        ".csv",
        "Your table with columns for the label, its source and its confidence; every spreadsheet program opens it.",
        write_csv,
    ),
    FileFormat(
        "parquet",
        "Parquet",
        ".parquet",
        "The same with types, candidates and answers as lists; datasets of Hugging Face, pandas and polars open it.",
        write_parquet,
    ),
    FileFormat(
        "arrow",
        "Arrow",
        ".arrow",
        "The columns of the Parquet file as Arrow IPC, also called Feather; pyarrow, pandas, polars and R open it.",
        write_arrow,
    ),
    FileFormat(
        "jsonl",
        "JSON Lines",
        ".jsonl",
        "A JSON object for each row, with its candidates, weights, label and every answer; for programs.",
        text_writer(own_lines),
    ),
    FileFormat(
        "npz",
        "NumPy arrays",
        ".npz",
        "Ids, classes, candidates, weights and labels as arrays, without the original columns; numpy.load opens it.",
        write_npz,
    ),
    FileFormat(
        "xlsx",
        "Excel workbook",
        ".xlsx",
        "The columns of the CSV file as a sheet, numbers as numbers; Excel and LibreOffice open it.",
        write_xlsx,
    ),
    FileFormat(
        "probabilities",
        "Probabilities of all classes",
        ".probabilities.parquet",
        "How likely each class is, a column a class; cleanlab takes them as pred_probs.",
        write_probabilities,
    ),
    FileFormat(
        "labelstudio",
        "Label Studio tasks",
        ".labelstudio.json",
        "A task for each row, its answers as annotations and its candidates as predictions; Label Studio imports it.",
        text_writer(label_studio_tasks),
    ),
    FileFormat(
        "labelstudio-config",
        "Label Studio labelling interface",
        ".labelstudio.xml",
        "The labelling interface for these tasks, with a choice for each class; Label Studio takes it as the code of a "
        "project's labelling setup.",
        write_label_studio_config,
    ),
    FileFormat(
        "votes",
        "Votes, one a line",
        ".votes.csv",
        "Only the answers: row, person, label, kind, time and seconds; crowd-kit and other tools for votes read it.",
        text_writer(long_votes),
    ),
    FileFormat(
        "prodigy",
        "Prodigy tasks",
        ".prodigy.jsonl",
        "A task for each row with its candidates as options, and those answered accepted; Prodigy's choice opens it.",
        text_writer(prodigy_tasks),
    ),
    FileFormat(
        "doccano",
        "doccano JSONL",
        ".doccano.jsonl",
        "A line for each row with its candidates left as labels; doccano imports it for text classification.",
        text_writer(doccano_lines),
    ),
    FileFormat(
        "argilla",
        "Argilla records",
        ".argilla.json",
        "A record for each row with its candidates suggested and its answers as responses; Argilla 2 reads it.",
        text_writer(argilla_records),
    ),
)

FILE_FORMATS: Mapping[str, FileFormat[Disambiguated]] = {each.name: each for each in _ALL}
"""The formats by name, the most common first."""


def format_of(file_name: str, formats: Mapping[str, FileFormat[Any]] = FILE_FORMATS) -> FileFormat[Any]:
    """Return the format of a file with this name, by the longest suffix that fits, ignoring case.

    Raises ValueError with the allowed suffixes if none fits.
    """
    fitting = [each for each in formats.values() if file_name.lower().endswith(each.suffix)]
    if not fitting:
        allowed = ", ".join(each.suffix for each in formats.values())
        raise ValueError(f"The ending of the file's name sets its format: one of {allowed}. Got {file_name!r}.")
    return max(fitting, key=lambda each: len(each.suffix))
