"""The disambiguated table as CSV and as a workbook: the original columns first, then the results of each row."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pandas as pd
import pyarrow as pa

from plcore.arrays.types import FloatArray
from plcore.tables.readers.candidate_rows import json_text
from plcore.tables.readers.mapping import TableTool
from plcore.tables.readers.reading import Fingerprint, TableReading, names, own_roles
from plcore.tables.roles.cells import one_spelling
from plcore.tables.roles.roles import Roles
from plcore.tables.roles.suggestion import suggest_roles
from plcore.tables.roles.written_lists import read_cell
from plcore.tables.text.arrow import csv_header, csv_rows
from plcore.tables.text.types import typed
from plcore.tables.writers.disambiguated import (
    ANSWERS,
    BEFORE,
    CANDIDATES,
    CONFIDENCE,
    DECIDING,
    LABEL,
    OUTSIDE,
    OWN_ID,
    OWN_TRUTH,
    OWN_VOTERS,
    PEOPLE,
    SOURCE,
    UNDECIDED,
    VERDICT,
    VERSION,
    WEIGHTS,
    Disambiguated,
    LabelVectorTable,
    Tell,
    absent_columns,
    names_beside,
)
from plcore.tables.writers.npz import zip_entry

SECONDS = "winnow_seconds"
ADDED = (
    OWN_ID,
    BEFORE,
    CANDIDATES,
    WEIGHTS,
    LABEL,
    SOURCE,
    CONFIDENCE,
    "winnow_annotator",
    "winnow_answered_at",
    SECONDS,
    VERSION,
    OUTSIDE,
    OWN_TRUTH,
    OWN_VOTERS,
    PEOPLE,
    ANSWERS,
)
PEOPLES = set(DECIDING) - {VERDICT}
"""Kinds of answers that count as answering."""


BAR = "|"
"""Separator between the labels of a cell."""


@dataclass(frozen=True)
class CellForm:
    """The form of a cell's list of labels: joined by a bar, or JSON, which preserves any label."""

    as_json: bool

    def form(self, *, weighted: bool = False) -> str:
        """Return `Roles.form` of such cells."""
        if self.as_json:
            return "json"
        return "weighted" if weighted else "list"

    def listed(self, names: Collection[str]) -> str:
        """Format a cell of labels; empty if there are none."""
        if self.as_json:
            return json_text(list(names)) if names else ""
        return BAR.join(names)

    def weighted(self, weights: Mapping[str, float | None]) -> str:
        """Format a cell of labels with their weights, as in `a:0.6|b:0.3`."""
        if self.as_json:
            return json_text(weights) if weights else ""
        return BAR.join(f"{name}:{weight!r}" for name, weight in weights.items())


def _cell_form(classes: Sequence[str]) -> CellForm:
    """Choose JSON if a label holds a bar, has several lines or begins like JSON, so that a reader can tell the two
    forms apart; or if reading it back would change its spelling, as 1 for 1.0."""
    respelt = any(name != spelt for name, spelt in one_spelling(classes).items())
    return CellForm(respelt or any(BAR in name or "\n" in name or name.startswith("[") for name in classes))


@dataclass(frozen=True)
class CsvLayout:
    """The columns of the file.

    originals : the imported columns      names : of all columns, as written      added : the columns at the end
    """

    table: Disambiguated
    originals: list[str]
    names: list[str]
    added: list[str]

    def pieces(self) -> Iterator[list[pa.LargeStringArray]]:
        """Yield the cells of all columns, some thousand rows at a time."""
        form = _cell_form(self.table.classes)
        for piece in self.table.pieces():
            found = _added(piece, form)
            columns = range(len(self.originals))
            originals = [pa.array(piece.cells.iloc[:, place], pa.large_string()) for place in columns]
            yield [*originals, *(pa.array(found[name], pa.large_string()) for name in self.added)]


def called_id(table: Disambiguated | LabelVectorTable) -> bool:
    """Whether a column named `id` holds the ids. If not, files without roles have `winnow_id`, because a reader could
    not tell which column names the rows."""
    return (table.id_column() or "").strip().lower() == "id"


def csv_layout(table: Disambiguated) -> CsvLayout:
    """The columns of a table's file."""
    absent = absent_columns(table, without_id=called_id(table))
    absent |= set() if table.several else {ANSWERS}
    added = [name for name in ADDED if name not in absent]
    columns = [str(name) for name in table.cells.columns]
    new_names = names_beside(columns, added)
    return CsvLayout(table, columns, [*(new_names.get(name, name) for name in columns), *added], added)


def write_csv(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """Write the table as CSV (UTF-8, comma, LF), some thousand rows at a time."""
    layout = csv_layout(table)
    file.write(csv_header(layout.names))
    done = 0
    for columns in layout.pieces():
        file.write(csv_rows(columns))
        done += len(columns[0])
        tell(done)


def _added(piece: Disambiguated, form: CellForm) -> dict[str, Sequence[str] | pa.LargeStringArray]:
    rows = range(len(piece.ids))
    given = piece.answers_by_row() if piece.several else {}
    by, version = piece.deciding(), piece.model_version or ""
    names = np.array([*piece.classes, ""], dtype=object)  # the last is the name of an open label
    weighted = [] if piece.weights is None else piece.weighted()
    carried = piece.carried()
    cells = (
        piece.ids,
        piece.listed(form.listed, before=True),
        piece.listed(form.listed),
        [form.weighted(weights) for weights in weighted],
        names[np.maximum(piece.label, -1)],
        piece.source,
        _shares(piece.probability),
        [_said(answer, "person") for answer in by],
        [_said(answer, "at") for answer in by],
        [_said(answer, "seconds") for answer in by],
        np.where(piece.source == "model", version, "").astype(object),
        [] if piece.outside is None else _shares(piece.outside),
        [own.get(OWN_TRUTH, "") for own in carried],
        [own.get(OWN_VOTERS, "") for own in carried],
        _n_people(given, rows) if piece.several else [],
        [_answers(given.get(row, ())) for row in rows] if piece.several else [],
    )
    return dict(zip(ADDED, cells, strict=True))


def _shares(numbers: FloatArray) -> list[str]:
    return ["" if share != share else f"{share:.4f}" for share in numbers.tolist()]


def _n_people(given: Mapping[int, Sequence[dict[str, Any]]], rows: range) -> list[str]:
    return [str(len({one["person"] for one in given.get(row, ()) if one["kind"] in PEOPLES})) for row in rows]


def _answers(given: Sequence[dict[str, Any]]) -> str:
    parts = ("person", "kind", "labels")
    return json_text([{name: one[name] for name in parts} for one in given]) if given else ""


def _said(answer: dict[str, Any] | None, name: str) -> str:
    value = None if answer is None else answer.get(name)
    return "" if value is None else str(value)


def read_own_sheet(cells: pd.DataFrame, name: str) -> TableReading:
    """Read the table with its remaining candidates, weights, true labels and voters. Never raises TableError."""
    cells = _with_own_names(cells)
    column = WEIGHTS if WEIGHTS in cells else CANDIDATES
    form = _form_of(cells)
    roles = Roles(
        candidates=column,
        separator=BAR,
        form=form.form(weighted=column == WEIGHTS),
        id=own_id(cells),
        truth=OWN_TRUTH if OWN_TRUTH in cells else None,
        voters=OWN_VOTERS if OWN_VOTERS in cells else None,
    )
    original = [str(one) for one in cells.columns if one not in ADDED]
    return TableReading(cells, name, own_roles(cells, original, roles), typed=True)


def own_id(cells: pd.DataFrame) -> str | None:
    """Return the column with the ids of a table that Winnow wrote without roles (`called_id`); in files of earlier
    releases, which never wrote `winnow_id`, the column that names the rows."""
    if OWN_ID in cells:
        return OWN_ID
    named = next((str(name) for name in cells.columns if str(name).strip().lower() == "id"), None)
    return named or suggest_roles(cells).id


def _with_own_names(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with the names of our columns in lower case: some databases return all names in capitals."""
    return cells.rename(columns=lambda name: str(name).lower() if str(name).lower() in ADDED else name)


def _form_of(cells: pd.DataFrame) -> CellForm:
    filled = cells[BEFORE][cells[BEFORE] != ""]
    return CellForm(bool(len(filled)) and bool(filled.str.startswith("[").all()))


def _is_own_sheet(cells: pd.DataFrame) -> bool:
    """Whether each label is one of the remaining candidates; not so in files of earlier releases, which joined labels
    with a bar by another separator."""
    cells = _with_own_names(cells)
    form = _form_of(cells)
    for cell, label, source in set(zip(cells[CANDIDATES], cells[LABEL], cells[SOURCE], strict=True)):
        names = [one for one, _ in read_cell(cell) or []] if form.as_json else cell.split(BAR)
        if label and source not in UNDECIDED and label not in names:
            return False
    return True


OWN_SHEET = TableTool(
    "table that Winnow exported", read_own_sheet, Fingerprint(names(BEFORE, CANDIDATES, LABEL, SOURCE)), _is_own_sheet
)

MOST_ROWS, MOST_COLUMNS, LONGEST = 1_048_576, 16_384, 32_767
"""Excel's limits: rows of a sheet, including the header, columns of a sheet, and characters of a cell."""
NUMBERS = (CONFIDENCE, SECONDS, OUTSIDE, PEOPLE)
"""Added columns that are numbers."""
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPE}.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_LINKS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_LINKS}"><sheets>'
    '<sheet name="Labels" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_LINKS}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}
_ESCAPED = re.compile("_(?=x[0-9A-Fa-f]{4}_)|[\x00-\x08\x0b\x0c\x0d\x0e-\x1f\ufffe\uffff]")


def write_xlsx(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """Write the workbook. Raises ValueError if the rows, columns or text in a cell exceed what a sheet holds."""
    layout = csv_layout(table)
    numeric = are_numbers(layout.originals, table.types) + [name in NUMBERS for name in layout.added]
    write_workbook(len(table.ids), layout.names, numeric, layout.pieces(), file, tell)


def are_numbers(columns: Sequence[str], types: Mapping[str, pa.DataType]) -> list[bool]:
    """Return which columns hold numbers that a sheet represents exactly."""
    kinds = [types.get(name) for name in columns]
    return [kind is not None and _is_number(kind) for kind in kinds]


def write_workbook(
    n_rows: int,
    names: Sequence[str],
    numeric: Sequence[bool],
    pieces: Iterable[Sequence[pa.LargeStringArray]],
    file: BinaryIO,
    tell: Tell,
) -> None:
    """Write a workbook of one sheet. pieces : the columns of some rows, in order      numeric : which are numbers

    Raises ValueError if the rows, columns or text in a cell exceed what a sheet holds.
    """
    if n_rows + 1 > MOST_ROWS or len(names) > MOST_COLUMNS:
        raise ValueError(
            f"A sheet holds {MOST_ROWS:,} rows and {MOST_COLUMNS:,} columns. The table has {n_rows + 1:,} and "
            f"{len(names):,}. Fix: export CSV or Parquet."
        )
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in _PARTS.items():
            archive.writestr(zip_entry(name), _HEAD + text)
        with archive.open(zip_entry("xl/worksheets/sheet1.xml"), "w", force_zip64=True) as sheet:
            sheet.write(f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>'.encode())
            sheet.write(_row([*map(_text, names)]).encode())
            done = 0
            for columns in pieces:
                cells = [
                    _number_cells(column) if is_number else map(_text, _checked(column, name, done))
                    for column, is_number, name in zip(columns, numeric, names, strict=True)
                ]
                sheet.write("".join(map(_row, zip(*cells, strict=True))).encode())
                done += len(columns[0])
                tell(done)
            sheet.write(b"</sheetData></worksheet>")


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or (pa.types.is_integer(kind) and kind.bit_width <= 32))


def _row(cells: list[str] | tuple[str, ...]) -> str:
    return f"<row>{''.join(cells)}</row>"


def _text(text: str) -> str:
    if not text:
        return "<c/>"
    kept = _ESCAPED.sub(lambda found: f"_x{ord(found[0]):04X}_", text)
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(kept)}</t></is></c>'


def _number_cells(column: pa.LargeStringArray) -> Iterator[str]:
    for number in typed(column, pa.float64()).to_pylist():
        finite = number is not None and abs(number) != float("inf")
        yield f"<c><v>{number!r}</v></c>" if finite else ("<c/>" if number is None else _text(str(number)))


def _checked(column: pa.LargeStringArray, name: str, before: int) -> list[str]:
    texts: list[str] = column.to_pylist()
    for row, text in enumerate(texts, start=before + 1):
        if len(text) > LONGEST:
            raise ValueError(
                f"Row {row}, column {quoteattr(name)}: a cell of a workbook holds {LONGEST:,} characters. Got "
                f"{len(text):,}. Fix: export CSV or Parquet."
            )
    return texts
