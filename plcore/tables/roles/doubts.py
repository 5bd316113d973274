"""What is odd about a table that could be read, told before it is stored; some doubts stop the import."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from plcore.arrays import let_go
from plcore.arrays.candidate_sets import pairs_of
from plcore.arrays.types import IntArray
from plcore.arrays.words import listed, quoted
from plcore.tables.readers.tools.detections import ORIGINAL_ROWS
from plcore.tables.roles.cells import MISSING, is_list_of_labels, is_weighted, without_weight
from plcore.tables.roles.sample import DEFAULT_SEPARATOR, SELDOM, parts_known, parts_of
from plcore.tables.table import LabelTable

Odd = tuple[str, str, str]
"""Name, message and fix of a doubt."""

_MARKS = ("|", ";", ",", "\n", " or ", " and ", "/", "&", "+", "\t")
_SHOWN = 3
_VOTES = (
    "If each row is one vote on an item, call the columns of item, person and vote task, worker and label."
)
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


SHOWN = 5  # names in a sentence
_MANY = 20
_TOGETHER = 8  # columns of numbers that are looked at at a time
_FEW = 1_000
_SAME_CAUSE = {
    "few-separators": "split-apart",
    "json-in-names": "code-in-names",
    "weights-in-names": "numbers-in-names",
}
"""Doubts that stop an import, and what else would be said of the same cells."""
_CODE = re.compile(r"""[\[\]{}"]|^'|'$""")
_DECIMAL = re.compile(r"[+-]?\d*[.,]\d+(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_PERCENT = re.compile(r"\S.*\s[(\[]?\d+([.,]\d+)?\s*%[)\]]?", re.ASCII)
_NO_WORD = re.compile(r"[?.]+|_+")  # not + and -, nor an emoji, which are labels
_WHOLE = re.compile(r"^([+-]?\d+)\.0*$", re.ASCII)
_ID_WORDS = re.compile(r"(^|_)(id|ids|key|uid|uuid|task|item|index)$")


@dataclass(frozen=True)
class Doubt:
    """Something odd. name : of its kind, for programs      message, fix : for people, as of a `Problem`

    stops : whether nothing is stored until a person has said that the reading is right
    """

    name: str
    message: str
    fix: str
    stops: bool = False

    def __str__(self) -> str:
        return f"{self.message} Fix: {self.fix}"


def find_doubts(table: LabelTable) -> list[Doubt]:
    """What is odd about the table, what matters most first: those that stop its import before all others."""
    stops = [Doubt(*odd, stops=True) for odd in find_stops(table)]
    told = {_SAME_CAUSE[doubt.name] for doubt in stops if doubt.name in _SAME_CAUSE}
    others = (doubt for look in _LOOKS for doubt in look(table))
    return [*stops, *(doubt for doubt in others if doubt.name not in told)]


def _many_classes(table: LabelTable) -> Iterator[Doubt]:
    """Labels come again; what is read from the wrong column or at the wrong separator mostly does not."""
    rows, classes = table.n_rows, len(table.classes)
    if classes <= _MANY or table.roles.label_columns or table.roles.score_columns:
        return
    once = int((np.bincount(pairs_of(table.candidates)[1], minlength=classes) <= 1).sum())
    if 2 * once > classes:
        message = (
            f"There are {classes:,} classes for {rows:,} rows, the first of them {_some(table.classes)}."
        )
        yield Doubt("many-classes", message, "If these are no labels, choose another column or separator.")


def _code_in_names(table: LabelTable) -> Iterator[Doubt]:
    names = table.classes
    if is_weighted(names):
        message = f"The class names hold numbers: {_some(names)}."
        yield Doubt(
            "numbers-in-names", message, "If they are scores or counts, choose the form “list with numbers”."
        )
    elif len(found := [name for name in names if _PERCENT.fullmatch(name)]) > len(names) / 2:
        message = f"Most class names end with a percentage: {_some(found)}."
        yield Doubt("numbers-in-names", message, "If these are weights, write them as in wren:60%.")
    elif found := [name for name in names if _CODE.search(name)]:
        message = f"Class names hold brackets or quotes, as code does: {_some(found)}."
        yield Doubt("code-in-names", message, "If the cells are JSON or Python lists, choose that form.")
    elif len(found := [name for name in names if _DECIMAL.fullmatch(name)]) > len(names) / 2:
        message = f"Most class names are decimal numbers: {_some(found)}."
        yield Doubt(
            "numbers-as-names", message, "If this column holds scores, choose it as a column of scores."
        )


def _read_numbers(table: LabelTable) -> Iterator[Doubt]:
    """Counts may as well be a part of the name, as in ICD10:250."""
    column, weights = table.roles.candidates, table.candidate_weights
    if column is None or table.roles.form != "weighted":
        return
    if weights is None or bool((weights == np.floor(weights)).all()):
        cell = next((cell for cell in table.cells[column] if cell.strip()), "")
        message = (
            f"The numbers after the names were read as weights, as in {quoted(cell)}: all of them are whole."
        )
        yield Doubt("numbers-as-weights", message, "If they belong to the names, choose the form “list”.")


def _split_apart(table: LabelTable) -> Iterator[Doubt]:
    """Names that a comma or a seldom separator has split, whose parts nobody writes elsewhere."""
    column, mark = table.roles.candidates, table.roles.separator
    if column is None or table.roles.form != "list" or mark not in (*SELDOM, ","):
        return
    cells = table.cells[column].str.strip().unique().tolist()
    known = parts_known(cells, mark)
    split = [parts_of(cell, mark) for cell in cells]
    odd = [
        cell for cell, parts in zip(cells, split, strict=True) if len(parts) > 1 and not known & set(parts)
    ]
    if mark == ",":  # the usual one: only where it says nothing of most cells
        odd = odd if 2 * len(odd) > sum(len(parts) > 1 for parts in split) else []
    else:
        odd += [cell for cell, parts in zip(cells, split, strict=True) if parts != [cell] and len(parts) < 2]
    if odd:
        message = f"Cells were split at {quoted(mark)}, into parts that nothing else names: {_some(odd)}."
        fix = f"If these are one label each, write another mark between labels, such as {DEFAULT_SEPARATOR}."
        yield Doubt("split-apart", message, fix)


def _no_header(table: LabelTable) -> Iterator[Doubt]:
    """Columns of labels that are called like labels: the first row was taken for the header."""
    roles, classes = table.roles, set(table.classes)
    columns = [
        column for column in (roles.candidates, *roles.annotators, *roles.choices, roles.truth) if column
    ]
    odd = [column for column in columns if set(parts_of(column, roles.separator)) <= classes]
    if odd:
        message = f"The header holds labels: {_some(odd)}."
        fix = "If the first line is a row, put a line with the names of the columns above it."
        yield Doubt("no-header", message, fix)


def _names_alike(table: LabelTable) -> Iterator[Doubt]:
    alike: dict[str, list[str]] = defaultdict(list)
    for name in table.classes:
        alike[_plain(name)].append(name)
    groups = [names for names in alike.values() if len(names) > 1]
    if groups:
        shown = "; ".join(" and ".join(map(quoted, names[:SHOWN])) for names in groups[:SHOWN])
        message = f"Class names are equal but for capitals, accents or spaces: {shown}."
        yield Doubt(
            "names-alike",
            message,
            "If they are the same, write them alike, or merge them once the project is made.",
        )


def _plain(name: str) -> str:
    """A name without capitals, accents, spaces and hyphens; 1 for 1.0."""
    parts = unicodedata.normalize("NFKD", _WHOLE.sub(r"\1", name).casefold())
    return re.sub(r"[\s_\-]+", "", "".join(part for part in parts if not unicodedata.combining(part)))


def _nothing_names(table: LabelTable) -> Iterator[Doubt]:
    read = table.roles.ignored
    if read:
        message = (
            f"{listed(read)} among the labels {'is' if len(read) == 1 else 'are'} read as an empty cell."
        )
        yield Doubt("read-as-empty", message, "If it is a class, take it from what is ignored.")
    if kept := [name for name in table.classes if name in MISSING or _NO_WORD.fullmatch(name)]:
        message = f"{listed(kept)} {'is a class' if len(kept) == 1 else 'are classes'} of this table; " + (
            "programs and people write such where they have nothing."
        )
        yield Doubt("nothing-as-class", message, "If it means nothing, add it to what is ignored.")


def _no_question(table: LabelTable) -> Iterator[Doubt]:
    if table.label_vectors is not None:
        if (table.label_vectors >= 0).all():
            message = "Every label of every row is known already: there will be nothing to ask."
            yield Doubt("nothing-to-ask", message, "Leave cells empty where nobody has been asked.")
    elif (table.candidates.sum(axis=1) <= 1).all():
        message = "Every row has one candidate already: there will be nothing to ask."
        fix = f"If a cell lists several labels, check the separator. {_VOTES}"
        yield Doubt("nothing-to-ask", message, fix)


def _repeated_ids(table: LabelTable) -> Iterator[Doubt]:
    if table.roles.id is not None:
        return
    used = {column for _, column in table.roles.used()} | {ORIGINAL_ROWS}  # which tells nothing of a row
    for column in table.cells.columns:
        key = re.sub(r"\W+", "_", str(column).strip().lower())
        if column in used or not _ID_WORDS.search(key):
            continue
        again = int(table.cells[column].duplicated().sum())
        if again:
            message = (
                f"Column {quoted(column)} looks like an id, but {again:,} rows repeat one, so it is not used."
            )
            yield Doubt("repeated-ids", message, f"Give each row an id. {_VOTES}")


def _leaks(table: LabelTable) -> Iterator[Doubt]:
    """Features that tell the label: they would make every figure look good and help nobody."""
    truth = np.full(table.n_rows, -1) if table.truth is None else table.truth
    known, classes = truth >= 0, set(table.classes)
    told, cells = [], table.cells
    for column in table.roles.categories:
        values = cells[column].str.strip()
        names_labels = values.nunique() >= 2 and set(values.unique()) - {""} <= classes
        if names_labels or _tells(values[known], truth[known]):
            told.append(column)
    rows = np.flatnonzero(known)
    labels = len(np.unique(truth[rows]))
    few = table.numbers[rows[:_FEW]].T
    may_tell = [place for place, numbers in enumerate(few) if not _differ(pd.Series(numbers), labels)]
    for start in range(0, len(may_tell), _TOGETHER):  # they lie row by row
        places = may_tell[start : start + _TOGETHER]
        for place, numbers in zip(places, table.numbers[np.ix_(rows, np.array(places))].T, strict=True):
            if _tells(pd.Series(numbers), truth[rows]):
                told.append(table.roles.numbers[place])
        let_go()
    if told:
        message = f"{listed(told[:SHOWN])} tells the label: every value goes with one of them."
        fix = "If it was derived from the label, take it from the features; figures would be too good."
        yield Doubt("leak", message, fix)


def _tells(values: pd.Series[str] | pd.Series[float], truth: IntArray) -> bool:
    """Whether few values go with one label each, and the labels are told apart by them."""
    labels = len(np.unique(truth))
    if _differ(values.iloc[:_FEW], labels):
        return False
    distinct = values.nunique()
    if labels < 2 or distinct < labels or distinct > 2 * labels or distinct > len(values) / 3:
        return False
    return bool(pd.Series(truth).groupby(values.to_numpy()).nunique().max() == 1)


def _differ(few: pd.Series[str] | pd.Series[float], labels: int) -> bool:
    """Whether these alone are too many values to go with so many labels, as of most columns of numbers."""
    return bool(few.nunique() > 2 * labels)


def _unheard(table: LabelTable) -> Iterator[Doubt]:
    if table.media.sounds is None or table.media.audio is None:
        return
    silent = int((np.isnan(table.media.sounds[:, 0]) & (table.media.audio != "")).sum())
    if silent:
        message = f"The recordings of {silent:,} rows cannot be decoded: they play, but nothing is learnt from them."
        yield Doubt("unheard", message, "Save them as WAV, FLAC, Ogg or MP3.")


def _unused(table: LabelTable) -> Iterator[Doubt]:
    used = {column for _, column in table.roles.used()} | {ORIGINAL_ROWS}  # which tells nothing of a row
    idle = [str(column) for column in table.cells.columns if column not in used]
    if idle:
        message = f"Nothing is learnt from {_some(idle)}: kept and exported, not shown."
        yield Doubt("unused", message, "If it describes a row, choose it as a feature.")


def _cut_away(table: LabelTable) -> Iterator[Doubt]:
    roles = table.roles
    if roles.cut != "threshold" or table.candidate_weights is None or roles.scored_by is not None:
        return
    under = int((table.candidate_weights.max(axis=1) < table.roles.cut_at).sum())
    if under:
        message = (
            f"In {under:,} rows no label reaches {table.roles.cut_at:g}: all their labels stay candidates."
        )
        yield Doubt("under-threshold", message, "Choose a lower threshold if that is too many.")


def _some(names: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(quoted(name) for name in names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN:,} more"


_LOOKS: tuple[Callable[[LabelTable], Iterator[Doubt]], ...] = (
    _no_header,
    _no_question,
    _code_in_names,
    _read_numbers,
    _split_apart,
    _many_classes,
    _repeated_ids,
    _leaks,
    _names_alike,
    _nothing_names,
    _cut_away,
    _unheard,
    _unused,
)
