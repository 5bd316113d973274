"""Tables of detections and predictions given back: the same rows and columns, and what people said of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

import pandas as pd
import pyarrow as pa

from plcore.tables.csv_writing import csv_header, csv_rows
from plcore.tables.formats.disambiguated import Disambiguated, Tell, names_beside
from plcore.tables.formats.record_values import json_text
from plcore.tables.formats.speciesnet import PATH, PREDICTIONS
from plcore.tables.formats.verdicts import VERIFIED, first_original, original_columns, original_rows
from plcore.tables.formats.writing import FileFormat

_RAVEN = "begin time (s)"


def write_detections(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """The table as CSV (UTF-8, comma, LF)."""
    columns = original_columns(table)
    file.write(csv_header(_header(columns)))
    for rows in _cells(table, columns, tell):
        file.write(csv_rows([pa.array(list(one), pa.large_string()) for one in zip(*rows, strict=True)]))


def write_selections(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """The table as Raven has it: tabs between cells, no quotes; tabs and line ends inside of cells become spaces."""
    columns = original_columns(table)
    file.write(_line(_header(columns)))
    for rows in _cells(table, columns, tell):
        file.write(b"".join(map(_line, rows)))


def write_predictions(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """The JSON as SpeciesNet wrote it, with four more fields in each prediction; `verified` is true, false or null.
    Those that an earlier round added are called as in `_header`."""
    new_names = names_beside(original_columns(table), VERIFIED)
    file.write(f'{{"{PREDICTIONS}": ['.encode())
    before = "\n"
    for piece in original_rows(table):
        texts = []
        for row in piece:
            said, *rest = row.verified
            values = ({"true": True, "false": False}.get(said), *(text or None for text in rest))
            cells = {new_names.get(name, name): value for name, value in row.cells.items()}
            texts.append(json_text(cells | dict(zip(VERIFIED, values, strict=True))))
        file.write((before + ",\n".join(texts)).encode())
        before = ",\n"
        tell(piece[-1].item)
    file.write(b"\n]}\n")
    tell(len(table.ids))


def _header(columns: Sequence[str]) -> list[str]:
    """The columns as they came, but for those that an earlier round added, which are now called `before_verified`."""
    new_names = names_beside(columns, VERIFIED)
    return [*(new_names.get(name, name) for name in columns), *VERIFIED]


def _cells(table: Disambiguated, columns: Sequence[str], tell: Tell) -> Iterator[list[list[str]]]:
    """The cells of the rows, some thousand at a time."""
    furthest = 0
    for piece in original_rows(table):
        yield [[*(str(row.cells.get(name, "")) for name in columns), *row.verified] for row in piece]
        furthest = max(furthest, piece[-1].item)
        tell(furthest)
    tell(len(table.ids))


def _line(cells: Sequence[str]) -> bytes:
    return ("\t".join(" ".join(cell.splitlines()).replace("\t", " ") for cell in cells) + "\n").encode()


def _is_speciesnet(cells: pd.DataFrame) -> bool:
    return PATH in cells.columns and PATH in first_original(cells)


def _is_table(cells: pd.DataFrame) -> bool:
    return bool(first_original(cells)) and not _is_speciesnet(cells)


def _is_raven(cells: pd.DataFrame) -> bool:
    return any(name.strip().lower() == _RAVEN for name in first_original(cells))


VERIFIED_FORMATS = (
    FileFormat(
        "detections",
        "The same table, verified",
        ".verified.csv",
        "The detections as they came, each with verified (true, false or nothing), verified_label, verified_by and "
        "verified_at; only what people said counts.",
        write_detections,
        _is_table,
    ),
    FileFormat(
        "raven",
        "Raven selection table, verified",
        ".verified.txt",
        "The same with tabs between the cells, as Raven Pro opens it.",
        write_selections,
        _is_raven,
    ),
    FileFormat(
        "speciesnet",
        "SpeciesNet JSON, verified",
        ".verified.json",
        "The predictions as they came, each with verified (true, false or null), verified_label, verified_by and "
        "verified_at; only what people said counts.",
        write_predictions,
        _is_speciesnet,
    ),
)
"""Formats of tables that came from detectors."""
