"""Matrices of votes by labelling functions and annotators, and their files -> candidates."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from plcore.arrays.types import AnyArray, IntArray
from plcore.arrays.words import counted, either, listed
from plcore.tables.problems import check_size, refusal
from plcore.tables.readers.candidate_rows import (
    At,
    Cells,
    Json,
    JsonObject,
    Records,
    Row,
    agreed,
    cell_value,
    read_each,
    rows_reading,
    shown,
    unlike_note,
)
from plcore.tables.readers.mapping import Fields, RecordFiles, RecordTool, TableTool
from plcore.tables.readers.reading import TableReading

ABSTAIN = -1
_NUMBERS_AS_NAMES = "The classes have no names in it: their numbers are used."
_MOST_CLASSES = 1_000_000  # larger numbers are not classes numbers, and would overflow counters

Names = Sequence[str] | None


def label_matrix(
    votes: AnyArray,
    *,
    classes: Names = None,
    functions: Names = None,
    abstain: int | None = None,
    columns: Mapping[str, Sequence[object]] | None = None,
    truth: AnyArray | None = None,
    format_name: str = "label matrix",
) -> TableReading:
    """Read candidates from votes: the classes voted for, weighted by the number of votes; all classes if all abstain.

    votes : (n, m) class numbers of m functions or people; NaN: no vote
    classes, functions : their names; None: their numbers
    abstain : the number for no vote, -1 (classes from 0) or 0 (classes from 1). None: detect it; if no vote is -1, 0 is
        the first class, unless the given classes show otherwise, and a note says so
    columns : further columns of the n rows, by name
    truth : (n,) class numbers; the number for no vote, or NaN: unknown
    Raises TableError for other shapes, for values that are not classes numbers, and for numbers beyond the classes.
    """
    numbers = _whole(votes, 2, "votes")
    known = np.full(len(numbers), ABSTAIN) if truth is None else _whole(truth, 1, "truth")
    if len(known) != len(numbers):
        raise refusal(
            f"Got {counted(len(numbers), 'row')} of votes and {counted(len(known), 'true label')}.",
            "Give one for each row.",
        )
    notes = []
    first = 0
    if abstain is None:
        first, said = _first_class(numbers, None if classes is None else len(classes))
        notes += said
    elif abstain in (ABSTAIN, 0):
        first = abstain + 1
    else:
        raise refusal(f"{abstain} cannot mean that a function abstains.", "Choose -1, with classes from 0; or 0.")
    numbers, known = (_from_zero(array, first, classes, name) for array, name in ((numbers, "votes"), (known, "truth")))
    n_classes = 1 + int(max(numbers.max(initial=-1), known.max(initial=-1)))
    names = _names(classes, range(first, first + n_classes))
    if classes is None:
        notes.append(_NUMBERS_AS_NAMES)
    voters = _names(functions, range(numbers.shape[1]), numbers.shape[1])
    cells = _rows_of(columns, len(numbers))
    rows = []
    for place, given in enumerate(numbers):
        row = Row(cells[place], truth=None if known[place] < 0 else names[known[place]])
        for voter in np.flatnonzero(given >= 0):
            row.name(names[given[voter]], 1.0, voters[voter])
        rows.append(row)
    row_id = "id" if "id" in (columns or {}) else None
    return rows_reading(rows, format_name, row_id=row_id, classes=names, notes=notes)


def annotator_matrix(
    labels_multiannotator: AnyArray,
    pred_probs: AnyArray | None = None,
    *,
    classes: Names = None,
    annotators: Names = None,
    columns: Mapping[str, Sequence[object]] | None = None,
    truth: AnyArray | None = None,
) -> TableReading:
    """Read cleanlab's two arrays: votes are candidates, and the probabilities of its model are columns `p_<class>`.

    labels_multiannotator : (n, m) class numbers from 0, NaN if a person was not asked; or label vectors (n, m, K) of 1,
        0 and NaN: a disputed label is not asked
    pred_probs : (n, K), rows that sum to 1, except for label vectors; or of several models (M, n, K), as cleanlab's
        ensembles, or (n, M, K): their mean counts
    truth : (n,) class numbers, NaN or -1 unknown; not for label vectors
    Raises TableError; also for class numbers below 0.
    """
    if labels_multiannotator.ndim == 3:
        return _annotator_vectors(labels_multiannotator, pred_probs, classes, annotators, dict(columns or {}))
    given = _whole(labels_multiannotator, 2, "labels_multiannotator", nothing=np.nan)
    more: dict[str, Sequence[object]] = dict(columns or {})
    said: list[str] = []
    if pred_probs is not None:
        probabilities, said = _probabilities(pred_probs, len(given))
        names = _names(classes, range(probabilities.shape[1]))
        if len(names) != probabilities.shape[1]:
            raise refusal(
                f"Got {counted(len(names), 'class', 'classes')} and {probabilities.shape[1]} columns of probabilities.",
                "Give one name for each column.",
            )
        classes = names
        more |= {f"p_{name}": probabilities[:, place].tolist() for place, name in enumerate(names)}
    found = label_matrix(
        given,
        classes=classes,
        functions=annotators,
        abstain=ABSTAIN,
        columns=more,
        truth=truth,
        format_name="cleanlab matrices",
    )
    return replace(found, notes=(*found.notes, *said))


def _annotator_vectors(
    labels: AnyArray,
    pred_probs: AnyArray | None,
    classes: Names,
    annotators: Names,
    columns: dict[str, Sequence[object]],
) -> TableReading:
    """Read labels (n, m, K): 1 right, 0 not right, NaN not asked. Raises TableError."""
    n_rows, n_people, n_labels = labels.shape
    lengths = {len(values) for values in columns.values()} - {n_rows}
    if lengths:
        raise refusal(
            f"labels_multiannotator have the shape {labels.shape}, and there are {counted(lengths.pop(), 'row')}.",
            "Give an array with the rows first, then the annotators, then the labels.",
        )
    is_number = labels.dtype.kind in "biuf"
    wrong = ~(np.isnan(labels) | np.isin(labels, (0, 1))) if is_number else np.ones(labels.shape, dtype=bool)
    if wrong.any():
        row, *place = map(int, np.argwhere(wrong)[0])
        message = f"expected 1, 0 or NaN for each label, got {shown(labels[(row, *place)].item())} at {[row, *place]}."
        fix = "Write 1 where an annotator says that the label is right, 0 if not, NaN if the annotator was not asked."
        raise refusal(message, fix, row=row + 1, column="labels_multiannotator")
    names = _names(classes, range(n_labels))
    if len(names) != n_labels:
        raise refusal(
            f"Got {counted(len(names), 'class', 'classes')}, and labels_multiannotator have the shape {labels.shape}.",
            "Give a name for each label, and an array with the rows first, then the annotators, then the labels.",
        )
    _names(annotators, range(n_people), n_people)
    said: list[str] = []
    if pred_probs is not None:
        probabilities, said = _probabilities(pred_probs, n_rows, n_labels)
        columns |= {f"p_{name}": probabilities[:, place].tolist() for place, name in enumerate(names)}
    told = [
        {name: {int(cell) for cell in given[~np.isnan(given)]} for name, given in zip(names, row.T, strict=True)}
        for row in labels.astype(np.float64)
    ]
    cells = _rows_of(columns, n_rows)
    rows = [Row(cells[place], vector=agreed(one)) for place, one in enumerate(told)]
    notes = [f"Label vectors by {counted(n_people, 'annotator')}.", *unlike_note(told), *said]
    if classes is None:
        notes.append(_NUMBERS_AS_NAMES)
    row_id = "id" if "id" in columns else None
    return rows_reading(rows, "cleanlab matrices of label vectors", row_id=row_id, notes=notes)


def _whole(values: AnyArray, n_dimensions: int, what: str, nothing: float = ABSTAIN) -> IntArray:
    """Return class numbers as int64; NaN is -1 if `nothing` is that, else it is refused."""
    array = np.asarray(values)
    if array.ndim != n_dimensions:
        raise refusal(
            f"{what} have the shape {array.shape}.", f"Give an array with {n_dimensions} dimensions, rows first."
        )
    try:
        floats = array.astype(np.float64) if array.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError):
        floats = None
    if floats is None:
        raise refusal(
            f"{what} are of type {array.dtype} and no class numbers.", "Give whole numbers, NaN if there is none."
        )
    missing = np.isnan(floats)
    least = 0 if np.isnan(nothing) else ABSTAIN
    wrong = ~missing & ~((floats >= least) & (floats < _MOST_CLASSES) & (floats == np.floor(floats)))
    if wrong.any():
        place = tuple(map(int, np.argwhere(wrong)[0]))
        message = f"{shown(floats[place].item())} in column {place[-1] + 1} is not a class number."
        fix = f"Write whole numbers from {least} on."
        raise refusal(message, fix, row=place[0] + 1, column=what)
    return np.where(missing, ABSTAIN, np.nan_to_num(floats, posinf=0, neginf=0)).astype(np.int64)


def _first_class(numbers: IntArray, n_classes: int | None) -> tuple[int, list[str]]:
    """Return the number of the first class, and a note about the choice."""
    voted = numbers[numbers >= 0]
    if (numbers < 0).any() or not voted.size or voted.min() > 0:
        return 0, []
    if n_classes is not None and voted.max() == n_classes:
        return 1, [
            "0 is read as no vote, and classes are counted from 1, as the largest vote is the number of classes."
        ]
    return 0, [
        "No vote is -1, so 0 is read as the first class, as Snorkel writes it since 0.9. If 0 means that a function "
        "abstains, as it did before and in MeTaL, read the file with 0 as no vote."
    ]


def _from_zero(numbers: IntArray, first: int, classes: Names, what: str) -> IntArray:
    """Return class numbers from 0; numbers below the first class are not votes."""
    shifted = np.maximum(numbers - first, ABSTAIN)
    if classes is not None and (shifted >= len(classes)).any():
        place = tuple(map(int, np.argwhere(shifted >= len(classes))[0]))
        message = f"the class number {numbers[place]} in column {place[-1] + 1} is beyond the {len(classes)} classes "
        raise refusal(
            message + f"{listed(list(classes), 3)}.", "Name every class, or correct it.", row=place[0] + 1, column=what
        )
    return shifted


def _names(names: Names, numbers: range, count: int | None = None) -> tuple[str, ...]:
    """Check the names; numbers as text if there are none."""
    if names is None:
        return tuple(map(str, numbers))
    found = tuple(At(name, None, "names").name() for name in names)
    if len(set(found)) < len(found):
        raise refusal(f"Two of the names {listed(list(found))} are the same.", "Give each a name of its own.")
    if count is not None and len(found) != count:
        raise refusal(
            f"Got {counted(len(found), 'name')} for {counted(count, 'column')} of votes.", "Give one for each."
        )
    return found


def _probabilities(
    values: AnyArray, n_rows: int, n_labels: int | None = None
) -> tuple[npt.NDArray[np.float64], list[str]]:
    """Return the probabilities (n_rows, K), and a note if they are the mean of several models.

    n_labels : K for label vectors, whose rows need not sum to 1
    """
    array, said = np.asarray(values), []
    if array.ndim == 3 and array.dtype.kind in "biuf":
        axes = [axis for axis in (1, 0) if array.shape[1 - axis] == n_rows and array.shape[axis]]
        if len(axes) == 1:
            said.append(f"pred_probs are the mean of {counted(array.shape[axes[0]], 'model')}.")
            array = array.mean(axis=axes[0])
        elif axes:
            raise refusal(
                f"pred_probs have the shape {array.shape}: cannot tell which axis is the rows and which the models.",
                "Give their mean over the models.",
            )
    fits = array.ndim == 2 and len(array) == n_rows and array.shape[1] == (n_labels or array.shape[1])
    if not fits or array.dtype.kind not in "biuf":
        each = "class" if n_labels is None else f"label ({n_labels:,})"
        raise refusal(
            f"pred_probs have the shape {array.shape} and the type {array.dtype}.",
            f"Give numbers, a row for each row ({n_rows:,}) and a column for each {each}.",
        )
    floats = array.astype(np.float64)
    wrong, what = ~((floats >= 0) & (floats <= 1)).all(axis=1), "are not probabilities, which are from 0 to 1."
    fix = "Correct the row."
    if n_labels is None:
        wrong |= ~(np.abs(floats.sum(axis=1) - 1) < 1e-3)
        what = "are not probabilities that sum to 1."
        fix += " If each label is right or not by itself, give labels_multiannotator as (rows, annotators, labels)."
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise refusal(f"the numbers of the row {what}", fix, row=row + 1, column="pred_probs")
    return floats, said


def _rows_of(columns: Mapping[str, Sequence[object]] | None, n_rows: int) -> list[Cells]:
    """Return the cells of each row; columns of another length are refused."""
    for name, values in (columns or {}).items():
        if len(values) != n_rows:
            message = f"it has {counted(len(values), 'value')} for {counted(n_rows, 'row')}."
            raise refusal(message, "Give one for each row.", column=name)
    return [{name: values[row] for name, values in (columns or {}).items()} for row in range(n_rows)]


_MATRICES = ("L", "L_train", "L_valid", "L_test", "label_matrix", "weak_labels")
_CLEANLAB, _PROBABILITIES = "labels_multiannotator", "pred_probs"
_CLASSES = ("classes", "class_names", "label_names")
_VOTERS = ("functions", "lf_names", "lfs", "annotators", "annotator_names")
_FEATURES = "X"
_TRUTHS = ("Y", "y", "Y_train", "truth", "gold", "labels")


def is_votes(arrays: Mapping[str, AnyArray]) -> bool:
    """Whether arrays by name are Snorkel's matrix of votes or those of cleanlab."""
    return _CLEANLAB in arrays or any(name in arrays for name in _MATRICES)


def read_votes(
    arrays: Mapping[str, AnyArray], columns: Mapping[str, Sequence[object]] | None = None, abstain: int | None = None
) -> TableReading:
    """Read the table in Snorkel's matrix `L` (n, m), or in cleanlab's `labels_multiannotator` (n, m), or (n, m, K) for
    label vectors, and `pred_probs`.

    columns : of the n rows, from another file      abstain : as in `label_matrix`
    Other recognized arrays: names of the classes and of the voters, the true classes (n,), further columns of the rows
    (n,), and features `X` (n, d). A note names arrays that are not read. Raises TableError.
    """
    taken: set[str] = set()

    def first(options: Sequence[str]) -> AnyArray | None:
        found = next((name for name in options if name in arrays), None)
        taken.update([] if found is None else [found])
        return None if found is None else arrays[found]

    classes, voters, truth = first(_CLASSES), first(_VOTERS), first(_TRUTHS)
    names = None if classes is None else [str(one) for one in classes.ravel()]
    people = None if voters is None else [str(one) for one in voters.ravel()]
    asked, probabilities = first((_CLEANLAB,)), first((_PROBABILITIES,))
    votes = first(_MATRICES) if asked is None else asked
    if votes is None:
        raise refusal("There are no votes in it.", f"Call their array {listed([_MATRICES[0], _CLEANLAB])}.")
    if truth is not None and (truth.ndim != 1 or (asked is not None and asked.ndim == 3)):
        taken.difference_update(_TRUTHS)
        truth = None
    own, left = _known_of_rows({name: one for name, one in arrays.items() if name not in taken}, len(votes))
    left += [name for name in own if name in (columns or {})]  # those of the other file are used
    columns = {**own, **(columns or {})}
    if asked is not None:
        found = annotator_matrix(asked, probabilities, classes=names, annotators=people, columns=columns, truth=truth)
    else:
        found = label_matrix(
            votes,
            classes=names,
            functions=people,
            abstain=abstain,
            columns=columns,
            truth=truth,
            format_name="Snorkel label matrix",
        )
    left += [] if asked is not None or probabilities is None else [_PROBABILITIES]
    note = [f"Not read: {either(len(left), 'the array', 'the arrays')} {listed(left)}."] if left else []
    return replace(found, notes=(*found.notes, *note))


def _known_of_rows(arrays: Mapping[str, AnyArray], n_rows: int) -> tuple[dict[str, Sequence[object]], list[str]]:
    """Return the columns in arrays with a value, or a row of features, for each of n rows; and the names of the other
    arrays."""
    columns: dict[str, Sequence[object]] = {}
    left = []
    for name, array in arrays.items():
        if array.shape[:1] == (n_rows,) and array.ndim == 1:
            columns["id" if name == "ids" else name] = array.tolist()
        elif name == _FEATURES and array.shape[:1] == (n_rows,) and array.ndim == 2:
            check_size(n_rows, array.shape[1])
            columns |= {f"x{place + 1}": values for place, values in enumerate(array.T.tolist())}
        else:
            left.append(name)
    return columns, left


_FUNCTION = re.compile(r"(lf|labell?ing_function)[_ .\-]?\w.*", re.IGNORECASE)
_NUMBER = re.compile(r"-1|[0-9]{1,5}", re.ASCII)


def read_wrench(records: Records, name: str, classes: Names = None) -> TableReading:
    """Read one row for each record; `label` is the true label. Raises TableError.

    classes : the names in `label.json`, by number
    """
    found = read_each(_records(records), _item)
    if not found:
        raise refusal("There are no rows in it.", "Choose a file with at least one record.")
    votes = [votes for votes, _, _ in found]
    lengths = {len(one) for one in votes}
    if len(lengths) > 1:
        row = next(row for row, one in enumerate(votes, start=1) if len(one) != len(votes[0]))
        message = f"expected {counted(len(votes[0]), 'vote')} as in the first row, got {len(votes[row - 1])}."
        raise refusal(message, "Write a vote for each function, -1 where it abstains.", row=row, column="weak_labels")
    names = dict.fromkeys(name for _, _, cells in found for name in cells)
    columns = {name: [cells.get(name) for _, _, cells in found] for name in names}
    truth = np.array([truth for _, truth, _ in found], dtype=np.int64)
    matrix = np.array(votes, dtype=np.int64).reshape(len(found), -1)
    return label_matrix(matrix, classes=classes, columns=columns, truth=truth, format_name=name)


def _records(records: Records) -> Records:
    """Return the records; also those of a file that is one object with a record under each number."""
    if len(records) == 1 and isinstance(records[0], dict) and "weak_labels" not in records[0]:
        inside = records[0]
        objects = {number: one for number, one in inside.items() if isinstance(one, dict) and "weak_labels" in one}
        if inside and len(objects) == len(inside):
            return [{"id": number, **one} for number, one in objects.items()]
    return records


def _item(record: At) -> tuple[list[int], int, Cells]:
    """Return the votes, the true label and the cells of one record. A list of numbers becomes a column for each."""
    votes = [_vote(vote) for vote in record["weak_labels"].items()]
    truth = ABSTAIN if record["label"].value is None else _vote(record["label"])
    own = {name: value for name, value in record.object().items() if name not in ("label", "weak_labels", "data")}
    cells: Cells = {}
    for name, value in (own | {name: one.value for name, one in record["data"].fields()}).items():
        if isinstance(value, list) and value and all(type(one) in (int, float) for one in value):
            cells |= {f"{name} {number}": one for number, one in enumerate(value, start=1)}
        else:
            cells[name] = cell_value(value)
    return votes, truth, cells


def _vote(given: At) -> int:
    value = given.value
    if isinstance(value, int) and not isinstance(value, bool) and ABSTAIN <= value < _MOST_CLASSES:
        return value
    message = f"expected a class number, -1 where there is none, got {shown(value)}."
    raise given.refuse(message, "Write a whole number.")


def _are_functions(cells: pd.DataFrame) -> bool:
    names = _functions(cells)
    texts = [cells[name].str.strip() for name in names]
    return (
        len(names) >= 2
        and all(bool(text.str.fullmatch(_NUMBER).all()) for text in texts)
        and any(bool((text == "-1").any()) for text in texts)
    )


def _read_matrix(cells: pd.DataFrame, called: str) -> TableReading:
    names = _functions(cells)
    others = [name for name in cells.columns if name not in names]
    for name in names:
        wrong = ~cells[name].str.strip().str.fullmatch(_NUMBER)
        if bool(wrong.any()):
            row = int(np.flatnonzero(wrong)[0])
            message = f"expected a class number, -1 for none, got {shown(cells[name].iloc[row])}."
            raise refusal(message, "Write a whole number.", row=row + 1, column=name)
    if not names:
        raise refusal("No column is called lf_...", "Call the columns of the functions lf_ and a name.")
    votes = np.column_stack([cells[name].str.strip().astype(np.int64) for name in names])
    columns = {str(name): cells[name].tolist() for name in others}
    return label_matrix(votes, functions=names, columns=columns, format_name=called)


def _functions(cells: pd.DataFrame) -> list[str]:
    return [str(name) for name in cells.columns if _FUNCTION.fullmatch(str(name).strip())]


_NAMES_FILE = "label.json"


def _read_splits(files: Mapping[str, Records], name: str) -> TableReading:
    """Read the rows of all splits, with a column for the split; the names of the classes come from `label.json`. Raises
    TableError."""
    named = At(next(iter(files.get(_NAMES_FILE, [])), {}), None, _NAMES_FILE)
    classes = [named[str(number)].name() for number in range(len(named.object()))]
    records: list[Json] = []
    for file, inside in files.items():
        split = file.rpartition(".")[0]
        for place, one in enumerate(_records(inside) if file != _NAMES_FILE else ()):
            record = At(one, place + 1, file).object()
            where: JsonObject = {"id": f"{split}/{record.get('id', place)}", "split": split}
            records.append({**record, **where})
    return read_wrench(records, name, classes or None)


_FIELDS = Fields({"weak_labels": list})
WRENCH = RecordTool("WRENCH JSON", lambda records: _FIELDS.match(_records(records)), read_wrench)
WRENCH_SPLITS = RecordFiles(
    "WRENCH splits",
    lambda files: all(name == _NAMES_FILE or WRENCH.fits(records) for name, records in files.items()),
    _read_splits,
)
"""`train.json`, `valid.json`, `test.json` and `label.json`, as the benchmark has them in one folder."""
LABEL_MATRIX = TableTool("table of labelling functions", _read_matrix, also=_are_functions, has_rows=False)
"""Each function has a column of class numbers, called `lf_...`."""
