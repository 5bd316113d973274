"""What stops an import until a person has said that the reading is right: cells with two readings."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from plcore.arrays import let_go
from plcore.arrays.candidate_sets import pairs_of
from plcore.arrays.words import quoted
from plcore.tables.roles.cells import MISSING, without_weight
from plcore.tables.roles.sample import SELDOM, parts_known, parts_of
from plcore.tables.roles.written_lists import is_list_of_labels
from plcore.tables.table import LabelTable

Odd = tuple[str, str, str]
"""Name, message and fix of a doubt."""

_MARKS = ("|", ";", ",", "\n", " or ", " and ", "/", "&", "+", "\t")
_SHOWN = 3
_OWN = re.compile(r"(before_)*winnow_")  # columns that an export of ours added
_MOST_CELLS = 1_000  # that differ, of a column that is compared with others
_ROWS = 20_000  # of them that are looked at
_MOST_COLUMNS = 60  # in which a second header is looked for
_DATE = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}([ T]\d{1,2}:\d{2}.*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}"
    r"|\d{1,2}[- ](jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*([- ]\d{2,4})?"
    r"|(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*[- ]\d{1,4}",
    re.IGNORECASE | re.ASCII,
)
_FORMULA = re.compile(r"=\s*[A-Za-z+\-(].*|#(REF|NAME|VALUE|DIV/0|NUM|NULL|SPILL|CALC)[!?]+", re.ASCII)
_SUMS = {"total", "totals", "sum", "sums", "subtotal", "grand total", "average", "mean", "count"}


def find_stops(table: LabelTable) -> list[Odd]:
    """Name, message and fix of every doubt that stops the import of this table."""
    return [odd for look in _STOPPING for odd in look(table)]


def _mixed_separators(table: LabelTable) -> Iterator[Odd]:
    """Classes whose parts are classes: a cell of the same labels under another separator."""
    known = set(table.classes)
    found: list[tuple[str, list[str]]] = []
    for name in table.classes:
        inner = name.strip("[](){} ")
        for mark in _MARKS:
            parts = [part.strip("'\" ") for part in parts_of(inner, mark)]
            if (len(parts) > 1 or inner != name) and set(parts) <= known - {name} and parts:
                found.append((name, parts))
                break
    if found:
        name, parts = found[0]
        message = (
            f"{_classes(found)} made of other classes, such as {quoted(name)}: read here as one class, but it "
            f"may list the {len(parts)} candidates {' and '.join(map(quoted, parts))}."
        )
        fix = "If it lists candidates, write the same separator in every row."
        yield "mixed-separators", message, fix


def _weights_in_names(table: LabelTable) -> Iterator[Odd]:
    known = set(table.classes)
    found = [
        (name, plain) for name in table.classes if (plain := without_weight(name)) != name and plain in known
    ]
    if found:
        name, plain = found[0]
        message = (
            f"{_classes(found)} a class with a number behind it, such as {quoted(name)}: read here as a class of its "
            f"own, but it may be {quoted(plain)} with a weight."
        )
        yield (
            "weights-in-names",
            message,
            "If it is a weight, write one behind every label, as in wren:0.6|robin:0.4.",
        )


def _json_names(table: LabelTable) -> Iterator[Odd]:
    found = [name for name in table.classes if _is_json(name)]
    if found:
        message = (
            f"{_classes(found)} JSON, such as {quoted(found[0])}: read here as the name of one class, but it may hold "
            "the labels of the row."
        )
        yield "json-in-names", message, "If it does, write every cell as JSON, or every cell as a list."


def _guessed_separator(table: LabelTable) -> Iterator[Odd]:
    """A separator of few cells, whose parts are found nowhere else, as in Gull, Herring."""
    column, mark = table.roles.candidates, table.roles.separator
    if column is None or table.roles.form != "list":
        return
    cells = [cell for cell in table.cells[column].head(_ROWS).str.strip().tolist() if cell]
    split = Counter(cell for cell in cells if len(parts_of(cell, mark)) > 1)
    known = parts_known(cells, mark)
    odd = [cell for cell in split if not known & set(parts_of(cell, mark))]
    if mark not in SELDOM and odd and len(odd) == len(split) and 2 * sum(split.values()) <= len(cells):
        message = (
            f"{_count(sum(split.values()), 'cell')} of {len(cells):,} hold {quoted(mark)}, such as {quoted(odd[0])}: "
            f"read here as {len(parts_of(odd[0], mark))} candidates, but it may be one class with {quoted(mark)} in "
            "its name, for no other cell names the parts."
        )
        yield "few-separators", message, "If it is one class, choose another separator."


def _voter_as_list(table: LabelTable) -> Iterator[Odd]:
    """A column read as a list next to others with the same cells: several people named one label each."""
    column, roles = table.roles.candidates, table.roles
    if column is None or roles.form != "list" or roles.label_vectors:
        return
    some = table.cells.head(_ROWS)
    own = set(some[column].str.strip().unique()) - {""}
    if len(own) > _MOST_CELLS or not any(len(parts_of(cell, roles.separator)) > 1 for cell in own):
        return
    labels = {name for role, name in roles.used() if role not in ("categories", "numbers", "caption")}
    for name in [str(one) for one in table.cells.columns if one not in labels][:_MOST_COLUMNS]:
        if _OWN.match(name):
            continue
        other = set(some[name].str.strip().unique()) - {""}
        if len(other) > 1 and 2 * len(own & other) >= len(own | other):
            message = (
                f"Column {quoted(name)} holds much the same cells as {quoted(column)}: read here, {quoted(column)} "
                f"lists the candidates and {quoted(name)} does not, but both may hold one vote a row of two people."
            )
            yield "voter-as-list", message, "If they are votes, choose both columns as annotators."
            return


def _second_header(table: LabelTable) -> Iterator[Odd]:
    cells = table.cells  # a copy each time it is asked for
    names = list(dict.fromkeys(column for _, column in table.roles.used()))
    names = [name for name in names if name in cells.columns][:_MOST_COLUMNS]
    if not names:
        return
    same = np.zeros(table.n_rows, dtype=np.int64)
    for name in names:
        same += np.asarray(pc.equal(pa.array(cells[name].array, pa.large_string()), name))
        let_go()
    rows = np.flatnonzero(same >= max(1 if len(names) == 1 else 2, len(names) // 2))
    if len(rows):
        message = (
            f"Row {rows[0] + 1:,} repeats the header: read here as an item with the labels that it names, but the file "
            "may be several tables one after the other."
        )
        yield "second-header", message, "Remove the row, and every other that repeats the header."


def _sum_row(table: LabelTable) -> Iterator[Odd]:
    roles = table.roles
    cells = table.cells
    last = cells.iloc[-1]
    looked = [roles.id, roles.candidates, str(cells.columns[0])]
    for column in dict.fromkeys(name for name in looked if name is not None and name in cells.columns):
        word = str(last[column]).strip()
        before = cells[column].iloc[:-1].str.strip()
        if word.rstrip(":").lower() in _SUMS and not bool((before == word).any()):
            message = (
                f"The last row says {quoted(word)} in column {quoted(column)}: read here as an item, but it may sum up "
                "the rows."
            )
            yield "sum-row", message, "If it does, remove it."
            return


def _dates_and_formulas(table: LabelTable) -> Iterator[Odd]:
    formulas = [name for name in table.classes if _FORMULA.fullmatch(name)]
    dates = [name for name in table.classes if _DATE.fullmatch(name)]
    if formulas:
        message = (
            f"{_classes(formulas)} a formula or an error of a spreadsheet, such as {quoted(formulas[0])}."
        )
        yield "formulas-as-labels", message, "Save the values in place of the formulas, and import that."
    if dates:
        message = (
            f"{_classes(dates)} a date, such as {quoted(dates[0])}: read here as a label, but spreadsheets turn names "
            "such as MARCH1 or 3-4 into dates, and a column of dates holds no labels."
        )
        yield (
            "dates-as-labels",
            message,
            "If these are no labels, choose another column, or correct the names.",
        )


def _missing_next_to_labels(table: LabelTable) -> Iterator[Odd]:
    """Words for nothing that stand next to labels and are read as nothing: the others would then be certain."""
    roles = table.roles
    words = [word for word in roles.ignored if word in MISSING]
    if not words or roles.candidates is None or roles.form != "list" or roles.label_vectors:
        return
    cells = table.cells[roles.candidates].str.strip()
    rows, _ = pairs_of(table.candidates)
    certain = np.bincount(rows, minlength=table.n_rows) == 1
    hit = np.zeros(table.n_rows, dtype=bool)
    for word in words:
        hit |= cells.str.contains(word, regex=False).to_numpy(dtype=bool)
    for row in np.flatnonzero(hit & certain)[:_SHOWN]:
        parts = parts_of(str(cells.iloc[row]), roles.separator)
        if len(parts) > 1 and set(parts) & set(words):
            message = (
                f"Row {row + 1:,} lists {quoted(str(cells.iloc[row]))}: with {quoted((set(parts) & set(words)).pop())} "
                "read as nothing, only one candidate is left, and the row counts as certain."
            )
            yield "nothing-next-to-labels", message, "If it is a class, take it from what is ignored."
            return


def _holes(table: LabelTable) -> Iterator[Odd]:
    """Label vectors without a no, or in which most cells say -1."""
    columns, vectors = table.roles.label_columns, table.label_vectors
    if vectors is None or not columns:
        return
    if not (vectors == 0).any() and (vectors < 0).any():
        message = "No cell of the label columns says no: read here, empty cells were not asked, but they may mean no."
        fix = "If an empty cell means that the label is not right, write 0 there. Accept if nobody was asked."
        yield "empty-or-no", message, fix
        return
    cells = table.cells
    text = [cells[column].str.strip() for column in columns]
    minus = sum(int(one.isin(["-1", "-1.0"]).sum()) for one in text)
    zeros = sum(int(one.isin(["0", "0.0"]).sum()) for one in text)
    if minus >= zeros > 0:
        message = (
            f"The label columns say -1 in {minus:,} cells and 0 in {zeros:,}: read here, 0 means no and -1 not asked, "
            "but it may be the other way round."
        )
        yield "minus-one", message, "If -1 means no, write 0 for it, and leave the cells empty that say 0."


def _is_json(name: str) -> bool:
    """Whether a class is called like a list or an object of JSON or Python."""
    if name[:1] not in "[{(":
        return False
    try:
        return isinstance(json.loads(name), (list, dict))
    except (ValueError, RecursionError):
        return is_list_of_labels(name)


def _classes(found: list[tuple[str, list[str]]] | list[tuple[str, str]] | list[str]) -> str:
    return f"{_count(len(found), 'class', 'classes')} {'is' if len(found) == 1 else 'are'}"


def _count(number: int, one: str, several: str = "") -> str:
    return f"{number:,} {one if number == 1 else several or one + 's'}"


_STOPPING: tuple[Callable[[LabelTable], Iterator[Odd]], ...] = (
    _mixed_separators,
    _weights_in_names,
    _json_names,
    _guessed_separator,
    _voter_as_list,
    _second_header,
    _sum_row,
    _dates_and_formulas,
    _missing_next_to_labels,
    _holes,
)
