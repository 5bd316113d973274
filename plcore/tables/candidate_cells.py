"""Cells that name labels -> (row, label, weight) triples, in every form that `Roles` knows."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from plcore.common.types import AnyArray, FloatArray, IntArray
from plcore.common.words import quoted
from plcore.tables.columns import LARGEST, Finder, first_rows, parse_numbers, stripped
from plcore.tables.csv_text import storable
from plcore.tables.label_text import as_labels
from plcore.tables.roles import Roles

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_WEIGHTED = rf"^(?P<name>.*\S)\s*(?:[:=]\s*|\(\s*)(?P<weight>{_NUMBER})\s*\)?$"
_PIECE = re.compile(_WEIGHTED)
_NUMPY_WORDS = re.compile(r"""\[\s*(?:'[^']*'|"[^"]*")(?:\s+(?:'[^']*'|"[^"]*"))*\s*\]""")
_NUMPY_WORD = re.compile(r"""'([^']*)'|"([^"]*)\"""")
_LONGEST = 500  # characters of a label with its number: of longer text the pattern would take minutes
_MOST = 100_000  # characters of a JSON cell: a longer one is no list of labels
_NAME_KEYS, _WEIGHT_KEYS = (
    ("label", "name", "class", "value"),
    ("score", "p", "probability", "confidence", "weight"),
)
Pairs = list[tuple[str, float | None]]


@dataclass(frozen=True)
class Named:
    """Labels as cells name them, t of them: `rows` (t,), `labels` large_string (t,), '' where a cell is empty, and
    `weights` (t,), None where no cell tells any."""

    rows: IntArray
    labels: pa.Array
    weights: FloatArray | None = None


def named_labels(cells: pd.DataFrame, roles: Roles, finder: Finder) -> Named:
    """The labels that the cells of the candidates name. Problems: cells of another form, weights below 0."""
    if roles.annotators:
        return _in_columns(cells, roles.annotators, roles)
    if roles.choices:
        return _with_scores(cells, roles, finder)
    return labels_in(cells, str(roles.candidates), roles, finder)


def labels_in(cells: pd.DataFrame, column: str, roles: Roles, finder: Finder) -> Named:
    """The labels that one column lists, by `roles.form`."""
    text = stripped(cells, column)
    if roles.form == "json":
        return _from_json(text, column, roles, finder)
    split = pc.split_pattern(text, roles.separator)
    rows = pc.list_parent_indices(split).to_numpy(zero_copy_only=False)
    pieces = pc.utf8_trim_whitespace(pc.list_flatten(split))
    if roles.form == "list":
        return Named(rows, as_labels(pieces, roles.ignored))
    found = pc.extract_regex(pieces, _WEIGHTED)
    empty = np.asarray(pc.equal(as_labels(pieces, roles.ignored), ""))
    for place in first_rows(np.asarray(pc.is_null(found)) & ~empty):
        message = f"expected labels with numbers, got {quoted(pieces[place].as_py())}."
        fix = f"Write each label as in wren:0.6{roles.separator}robin:0.3, or choose a list without numbers."
        finder.add(int(rows[place]), column, message, fix)
    names = pc.fill_null(pc.struct_field(found, "name"), "")
    weights = pc.cast(pc.fill_null(pc.struct_field(found, "weight"), "0"), pa.float64()).to_numpy()
    labels = as_labels(names, roles.ignored)
    return Named(rows, labels, checked_weights(rows, weights, column, finder))


def _in_columns(cells: pd.DataFrame, columns: Sequence[str], roles: Roles) -> Named:
    """One label a cell, a column after the other."""
    texts = pa.concat_arrays([stripped(cells, column) for column in columns])
    return Named(np.tile(np.arange(len(cells)), len(columns)), as_labels(texts, roles.ignored))


def _with_scores(cells: pd.DataFrame, roles: Roles, finder: Finder) -> Named:
    named = _in_columns(cells, roles.choices, roles)
    if not roles.choice_scores:
        return named
    scores = parse_numbers(cells, roles.choice_scores, finder)
    given = np.asarray(pc.not_equal(named.labels, "")).reshape(len(roles.choices), len(cells)).T
    for place, (choice, score) in enumerate(zip(roles.choices, roles.choice_scores, strict=True)):
        missing = np.isnan(scores[:, place])
        for row in first_rows(given[:, place] & missing):
            message = f"the label in column {quoted(choice)} has no score."
            finder.add(row, score, message, "Write its score, or take the columns of scores away.")
        for row in first_rows(~given[:, place] & ~missing & (scores[:, place] != 0)):
            message = f"there is a score but no label in column {quoted(choice)}."
            finder.add(row, score, message, "Write the label, or empty the cell.")
        checked_weights(np.arange(len(cells)), scores[:, place], score, finder)
    return Named(named.rows, named.labels, np.nan_to_num(scores.T.ravel()))


def _from_json(text: pa.Array, column: str, roles: Roles, finder: Finder) -> Named:
    """Cells of JSON or Python literals; equal ones are read once."""
    encoded = text.dictionary_encode()
    read: list[Pairs | None] = [_read_cell(cell) for cell in encoded.dictionary.to_pylist()]
    codes = np.asarray(encoded.indices)
    wrong = np.array([pairs is None for pairs in read] or [False])[codes]
    for row in first_rows(wrong):
        message = f"expected a list or an object of labels, got {quoted(text[row].as_py())}."
        fix = 'Write it as JSON, as in ["wren", "robin"] or {"wren": 0.6}, or choose a list with a separator.'
        finder.add(row, column, message, fix)
    rows, names, weights = [], [], []
    for row, code in enumerate(codes):
        for name, weight in read[code] or ():
            rows.append(row)
            names.append(name)
            weights.append(np.nan if weight is None else weight)
    found, given = np.array(rows, dtype=np.int64), np.array(weights, dtype=np.float64)
    labels = as_labels(pa.array(names, pa.large_string()), roles.ignored)
    unweighted = np.isnan(given)
    if unweighted.all():
        return Named(found, labels)
    # A row without numbers has even ones: nothing is known of its labels, which is no fault. A row with some is.
    known = np.zeros(len(codes), dtype=bool)
    known[found[~unweighted]] = True
    for place in first_rows(unweighted & known[found]):
        message = f"the label {quoted(names[place])} has no number, others of the row have."
        finder.add(int(found[place]), column, message, "Give every label of the row a number, or none.")
    return Named(found, labels, checked_weights(found, np.where(unweighted, 1.0, given), column, finder))


def checked_weights(rows: IntArray, weights: FloatArray, column: str, finder: Finder) -> FloatArray:
    """The weights, none below 0 and none too large to calculate with."""
    for place in first_rows(weights < 0):
        message = f"the weight {weights[place]:g} is below 0."
        fix = "Write probabilities or counts; of log-probabilities and scores below 0 take the exponential first."
        finder.add(int(rows[place]), column, message, fix)
    for place in first_rows(weights > LARGEST):
        message = f"the weight {weights[place]:g} is too large to calculate with."
        finder.add(int(rows[place]), column, message, f"Write a number below {LARGEST:g}.")
    return np.asarray(weights)


def _read_cell(cell: str) -> Pairs | None:
    """The labels of a cell, each with its weight or None; None where the cell is something else."""
    if not cell:
        return []
    # numpy's arrays before Python's literals, which would join 'wren' 'robin' to one word
    for read in (json.loads, _numpy_words, ast.literal_eval):
        value = _value(read, cell)
        if value is not None:
            return _pairs(value)
    return None


def _value(read: Callable[[str], Any], cell: str) -> Any:
    """What a reader makes of a cell; None where it cannot, or where it is neither list nor object."""
    if len(cell) > _MOST or cell[0] not in "[{(":
        return None
    try:
        value = read(cell)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, (list, tuple, set, dict)) else None


def labels_of_cell(cell: str) -> list[str]:
    """The labels of a JSON or Python list or object; none where it is something else."""
    return [name for name, _ in _read_cell(cell) or ()]


def is_list_of_labels(cell: str) -> bool:
    """Whether a cell, not empty, is a list or an object of labels in JSON or Python."""
    return bool(labels_of_cell(cell))


def without_weight(piece: str) -> str:
    """`wren` of `wren:0.6`."""
    match = _PIECE.match(piece) if len(piece) <= _LONGEST else None
    return match["name"] if match else piece


def is_weighted(pieces: Sequence[str]) -> bool:
    """Whether most of these parts of lists are labels with a number each, as in wren:0.6."""
    fitting = sum(len(piece) <= _LONGEST and _PIECE.match(piece) is not None for piece in pieces)
    return fitting >= 0.8 * len(pieces) > 0


def _numpy_words(cell: str) -> list[str] | None:
    """`['wren' 'robin']`, as numpy prints an array."""
    if not _NUMPY_WORDS.fullmatch(cell):
        return None
    return [one or other for one, other in _NUMPY_WORD.findall(cell)]


def _pairs(value: Any) -> Pairs | None:
    """Labels and weights of a list of names, {name: weight}, [[name, weight]] or [{"label": name, "score": weight}]."""
    if isinstance(value, Mapping):
        lists = [
            next((value[key] for key in keys if key in value), None) for keys in (("labels",), ("scores",))
        ]
        if isinstance(lists[0], list) and isinstance(lists[1], list) and len(lists[0]) == len(lists[1]):
            pairs: Any = list(zip(*lists, strict=True))
        else:
            pairs = list(value.items())
    elif isinstance(value, set):
        pairs = [(name, None) for name in sorted(value, key=str)]
    else:
        pairs = [_pair(one) for one in value]
    found: Pairs = []
    for pair in pairs:
        if pair is None:
            return None
        name, weight = _name(pair[0]), pair[1]
        if name is None or not (weight is None or _is_number(weight)):
            return None
        found.append((name, None if weight is None else float(weight)))
    return found


def _pair(one: Any) -> tuple[Any, Any] | None:
    if isinstance(one, Mapping):
        names = [key for key in _NAME_KEYS if key in one]
        weights = [key for key in _WEIGHT_KEYS if key in one]
        return (one[names[0]], one[weights[0]] if weights else None) if names else None
    if isinstance(one, (list, tuple)):
        return (one[0], one[1]) if len(one) == 2 and _is_number(one[1]) else None
    return one, None


def _name(value: Any) -> str | None:
    """A label of JSON as text; None where it is no label."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str):
        return value if storable(value) and "\0" not in value else None
    try:
        return str(value) if isinstance(value, (int, float)) else "" if value is None else None
    except ValueError:  # an integer of thousands of digits
        return None


def _is_number(value: Any) -> bool:
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return bool(np.isfinite(float(value)))
    except OverflowError:  # an integer of hundreds of digits
        return False


def as_names(labels: pa.Array) -> tuple[list[str], AnyArray]:
    """The distinct labels, and the place of each in them."""
    encoded = labels.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return encoded.dictionary.to_pylist(), np.asarray(encoded.indices)
