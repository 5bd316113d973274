"""Read label cells, in every form that `Roles` knows, into (row, label, weight) triples."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from plcore.arrays.types import AnyArray, FloatArray, IntArray
from plcore.arrays.words import quoted
from plcore.tables.columns import LARGEST, Finder, first_rows, number_advice, numbers_in, parse_numbers
from plcore.tables.problems import MAX_PROBLEMS
from plcore.tables.roles.roles import Roles, marks_of
from plcore.tables.roles.written_lists import Pairs, is_r_list, key_twice, read_cell
from plcore.tables.text.arrow import stripped

MISSING = (
    "nan", "NaN", "NAN", "NA", "N/A", "#N/A", "n/a", "<NA>", "None", "none", "null", "NULL", "Null", "\\N", "NaT", "[]",
    "(null)", "[null]", "<null>", "(blank)", "(empty)",
)  # fmt: skip
"""Placeholders for "no value" that programs write."""
NO_NAMES = ("nan", "NaN", "NAN", "#N/A", "<NA>", "null", "NULL", "Null", *MISSING[13:])
"""Placeholders that are never used as class names. NA may be Namibia, and None an answer."""
_NO_TRUTH = ("-", "--", "–", "—")

_NO_WIDTH = "[\u200b\u2060\ufeff]"
_WHOLE = re.compile(r"([+-]?[0-9]{1,18})(\.0*)?", re.ASCII)
_INTEGER = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_NO_CODE = re.compile(r"[^()\[\]{}'\"]+")
_TRUTH_VALUES = {"true", "false"}


def as_labels(text: pa.Array, ignored: Sequence[str] = ()) -> pa.Array:
    """Return cleaned labels (large_string): NFC, no zero-width characters, stripped; '' for those in `ignored`."""
    encoded = text.dictionary_encode()  # many cells, few distinct labels
    clean = _composed(pc.replace_substring_regex(encoded.dictionary, _NO_WIDTH, ""))
    clean = pc.utf8_trim_whitespace(clean)
    if ignored:
        nothing = pc.is_in(clean, value_set=pa.array(ignored, pa.large_string()))
        clean = pc.if_else(nothing, pa.scalar("", pa.large_string()), clean)
    return clean.take(encoded.indices)


def _composed(text: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return the text in Unicode's form NFC. Up to release 24, Arrow's own function decomposes characters instead."""
    other = pc.invert(pc.string_is_ascii(text))
    if not pc.any(other).as_py():
        return text
    composed = [unicodedata.normalize("NFC", one) for one in text.filter(other).to_pylist()]
    return pc.replace_with_mask(text, other, pa.array(composed, pa.large_string()))


def one_spelling(names: Iterable[str]) -> dict[str, str]:
    """Map every label of a table to the class name that it uses."""
    known = {name for name in names if name}
    whole = {name: match for name in known if (match := _WHOLE.fullmatch(name))}
    if len(whole) == len(known):
        return {name: str(int(match[1])) if match[2] else name for name, match in whole.items()}
    if {name.lower() for name in known} <= _TRUTH_VALUES:
        return {name: name.lower() for name in known}
    return {name: name for name in known}


def sorted_classes(names: Sequence[str]) -> tuple[str, ...]:
    """Sort class names: as numbers if all are integers (1, 2, 10), else as text."""
    if all(_INTEGER.fullmatch(name) for name in names):
        return tuple(sorted(names, key=lambda name: (int(name), name)))
    return tuple(sorted(names))


def spelt_as(classes: Sequence[str], names: Iterable[str]) -> dict[str, str]:
    """Map every label to the class name that it uses, if there is one: itself if it is a class; else `1.0` is `1` if
    all classes are numbers."""
    own = set(classes)
    numbers = all(_WHOLE.fullmatch(name) for name in classes)
    truths = {name.lower() for name in classes} <= _TRUTH_VALUES
    found = {}
    for name in names:
        if name in own:
            found[name] = name
            continue
        match = _WHOLE.fullmatch(name) if numbers else None
        found[name] = str(int(match[1])) if match and match[2] else name.lower() if truths else name
    return found


# No leading zeros, as in codes and times: 007, 12:05.
_NUMBER = r"[+-]?(?:(?:0|[1-9][0-9]*)(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?"
_WEIGHTED = rf"^(?P<name>.*\S)\s*(?:[:=：]\s*|[(（]\s*)(?P<weight>{_NUMBER})\s*(?P<percent>%?)\s*[)）]?$"
_ASKED_FOR = r"\s*\((?:p|prob|probability|score|conf|confidence|n|count|votes?)$"  # the rest of wren (p=0.6)
_SHARE = r"(?P<weight>0?[.,][0-9]+|[01](?:[.,]0+)?)"
_NAME = r".*[^\s>→@\[–-]"
_BEHIND = r"(?:\s*(?:->|→|=>|@)\s*|\s+[-–]\s+|\s*\[\s*|\s+)"
_LOOSE = (
    rf"^(?P<name>{_NAME}){_BEHIND}{_SHARE}(?P<percent>)\s*\]?$",
    rf"^(?P<name>{_NAME}){_BEHIND}(?P<weight>[0-9]{{1,3}}(?:[.,][0-9]+)?)\s*(?P<percent>%)\s*\]?$",
)
"""Labels followed by a share or a percentage after a space, an arrow or a dash. Only used if all labels are written so,
because a name may end like that.
"""
_PIECE = re.compile(_WEIGHTED)
_LOOSE_PIECES = tuple(map(re.compile, _LOOSE))
_NO_INTEGER = re.compile(r"[.,%][0-9]*\s*\]?$")
_ROWS_AT_ONCE = 100_000
_LONGEST = 500  # maximum length of a label with its number: on longer text the pattern would take minutes


@dataclass(frozen=True)
class Named:
    """The t labels that cells name.

    rows : (t,) row of each      labels : (t,) large_string, '' if a cell is empty
    weights : (t,), None if no cell has a weight
    unknown : rows whose labels are not used, because they list null among labels or cannot be read; None if there are
        none
    """

    rows: IntArray
    labels: pa.LargeStringArray | pa.ChunkedArray
    weights: FloatArray | None = None
    unknown: IntArray | None = None


def named_labels(cells: pd.DataFrame, roles: Roles, finder: Finder) -> Named:
    """Read the labels in the columns of candidates. Problems: cells of another form, weights below 0."""
    if roles.annotators:
        return _in_columns(cells, roles.annotators, roles)
    if roles.choices:
        return _with_scores(cells, roles, finder)
    return labels_in(cells, str(roles.candidates), roles, finder)


def labels_in(cells: pd.DataFrame, column: str, roles: Roles, finder: Finder) -> Named:
    """Read the labels that one column lists, in the form `roles.form`."""
    if roles.form == "list":
        return _listed(cells, column, roles)
    text = stripped(cells, column)
    if roles.form == "json":
        return _from_json(text, column, roles, finder)
    rows, pieces = _pieces(text, roles.separator)
    found = _name_and_weight(pieces)
    empty = np.asarray(pc.equal(as_labels(pieces, roles.ignored), ""))
    odd = np.asarray(pc.is_null(found)) & ~empty
    wrong_rows, firsts = np.unique(rows[odd], return_index=True)
    for place in np.flatnonzero(odd)[firsts][:MAX_PROBLEMS]:  # first of each row
        message = f"expected labels with numbers, got {quoted(pieces[place].as_py())}."
        mark = marks_of(roles.separator)[0]
        fix = f"Write each label as in wren:0.6{mark}robin:0.3, or choose a list without numbers."
        finder.add(int(rows[place]), column, message, fix)
    names = pc.replace_substring_regex(pc.fill_null(pc.struct_field(found, "name"), ""), _ASKED_FOR, "")
    text = pc.fill_null(pc.struct_field(found, "weight"), "")
    weights, wrong, comma = numbers_in(text)
    for place in first_rows(wrong):
        finder.add(int(rows[place]), column, *number_advice(text[place].as_py(), comma))
    percent = np.asarray(pc.equal(pc.fill_null(pc.struct_field(found, "percent"), ""), "%"))
    weights = np.where(percent, weights / 100, weights)
    labels = as_labels(names, roles.ignored)
    return Named(rows, labels, checked_weights(rows, np.nan_to_num(weights), column, finder), wrong_rows)


def _name_and_weight(pieces: pa.LargeStringArray) -> pa.StructArray:
    """Split labels into name, weight and percent sign; null for labels without a number."""
    found = pc.extract_regex(pieces, _WEIGHTED)
    for pattern in _LOOSE:
        found = pc.if_else(pc.is_null(found), pc.extract_regex(pieces, pattern), found)
    return found


def _pieces(text: pa.LargeStringArray, separator: str) -> tuple[IntArray, pa.LargeStringArray]:
    """Split the cells at the separator. Return the row of each part, and the parts."""
    marks = marks_of(separator)
    if len(marks) > 1:
        split = pc.split_pattern_regex(text, f"[{re.escape(separator)}]")
    else:
        split = pc.split_pattern(text, separator)
    rows: IntArray = pc.list_parent_indices(split).to_numpy(zero_copy_only=False)
    return rows, pc.utf8_trim_whitespace(pc.list_flatten(split))


def _listed(cells: pd.DataFrame, column: str, roles: Roles) -> Named:
    """Read lists without numbers, a block of rows at a time: with millions of rows, splitting all cells at once would
    take more memory than the rest of the table."""
    rows, labels = [], []
    for start in range(0, len(cells), _ROWS_AT_ONCE):
        some = cells[[column]].iloc[start : start + _ROWS_AT_ONCE]
        own, pieces = _pieces(stripped(some, column), roles.separator)
        rows.append((own + start).astype(np.int32))
        labels.append(as_labels(pieces, roles.ignored))
    return Named(np.concatenate(rows), pa.chunked_array(labels, pa.large_string()))


def _in_columns(cells: pd.DataFrame, columns: Sequence[str], roles: Roles) -> Named:
    """Read one label per cell, column by column."""
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
            finder.add(row, score, message, "Write its score, or remove the columns of scores.")
        for row in first_rows(~given[:, place] & ~missing & (scores[:, place] != 0)):
            message = f"there is a score but no label in column {quoted(choice)}."
            finder.add(row, score, message, "Write the label, or empty the cell.")
        checked_weights(np.arange(len(cells)), scores[:, place], score, finder)
    return Named(named.rows, named.labels, np.nan_to_num(scores.T.ravel()))


def _from_json(text: pa.Array, column: str, roles: Roles, finder: Finder) -> Named:
    """Read cells of JSON or Python literals; each distinct cell is parsed once."""
    encoded = text.dictionary_encode()
    distinct = encoded.dictionary.to_pylist()
    # Programs write -1 instead of the list if there is no label; an empty set has no literal.
    read: list[Pairs | None] = [[] if cell in ("-1", "set()", "frozenset()") else read_cell(cell) for cell in distinct]
    if any(map(is_r_list, distinct)):  # R prints a vector with one text as that text
        both = zip(read, distinct, strict=True)
        read = [[(cell, None)] if pairs is None and _NO_CODE.fullmatch(cell) else pairs for pairs, cell in both]
    codes = np.asarray(encoded.indices)
    again = [None if pairs is not None else key_twice(cell) for cell, pairs in zip(distinct, read, strict=True)]
    for row in first_rows(np.array([key is not None for key in again] or [False])[codes]):
        message = f"the object names {quoted(str(again[codes[row]]))} twice."
        finder.add(row, column, message, "Keep one of the two.")
    wrong = np.array([pairs is None and key is None for pairs, key in zip(read, again, strict=True)] or [False])[codes]
    for row in first_rows(wrong):
        message = f"expected a list or an object of labels, got {quoted(text[row].as_py())}."
        fix = 'Write it as JSON, as in ["wren", "robin"] or {"wren": 0.6}, or choose a list with a separator.'
        finder.add(row, column, message, fix)
    # With null among the labels, other labels may be right too, so the row counts as unlabelled.
    unknown = [pairs is not None and len(pairs) > 1 and any(not name for name, _ in pairs) for pairs in read]
    for row in first_rows(np.array(unknown or [False])[codes])[:1] if roles.unlabelled == "refuse" else ():
        several = int(np.array(unknown)[codes].sum())
        message = f"{quoted(text[row].as_py())} holds null among the labels: it is not known what else may be right."
        if several > 1:
            message += f" The same holds for {several - 1:,} other row{'s' if several > 2 else ''}."
        fix = (
            "Name every label that may be right. Or choose for rows without a candidate (--unlabelled) that every "
            "class is possible, or to leave them out."
        )
        finder.add(row, column, message, fix)
    nowhere = np.flatnonzero(np.array(unknown or [False])[codes] | wrong)
    read = [[] if odd else pairs for odd, pairs in zip(unknown, read, strict=True)]
    pairs = [pair for one in read for pair in one or ()]
    sizes = np.array([len(one or ()) for one in read], dtype=np.int64)
    found, at = _spread(codes, sizes)
    weighed = np.array([np.nan if weight is None else weight for _, weight in pairs], dtype=np.float64)
    given, names = weighed[at], pa.array([name for name, _ in pairs], pa.large_string()).take(pa.array(at))
    labels = as_labels(names, roles.ignored)
    unweighted = np.isnan(given)
    if unweighted.all():
        return Named(found, labels, unknown=nowhere)
    # A row without any numbers gets equal weights. A row with numbers for only some labels is a problem.
    known = np.zeros(len(codes), dtype=bool)
    known[found[~unweighted]] = True
    for place in first_rows(unweighted & known[found]):
        message = f"the label {quoted(names[place].as_py())} has no number, others of the row have."
        finder.add(int(found[place]), column, message, "Give every label of the row a number, or none.")
    weights = checked_weights(found, np.where(unweighted, 1.0, given), column, finder)
    return Named(found, labels, weights, nowhere)


def _spread(codes: AnyArray, sizes: IntArray) -> tuple[IntArray, IntArray]:
    """Return (rows, places) of the labels of all rows.

    codes : (n,) the distinct cell of each row
    sizes : number of labels of each distinct cell, which are stored one cell after the other
    """
    each = sizes[codes]
    rows = np.repeat(np.arange(len(codes)), each)
    first = (np.cumsum(sizes) - sizes)[codes] - (np.cumsum(each) - each)
    return rows, np.arange(len(rows)) + first[rows]


def checked_weights(rows: IntArray, weights: FloatArray, column: str, finder: Finder) -> FloatArray:
    """Return the weights; report those below 0 or too large to calculate with."""
    for place in first_rows(weights < 0):
        message = f"the weight {weights[place]:g} is below 0."
        fix = "Write probabilities or counts; of log-probabilities and scores below 0 take the exponential first."
        finder.add(int(rows[place]), column, message, fix)
    for place in first_rows(weights > LARGEST):
        message = f"the weight {weights[place]:g} is too large to calculate with."
        finder.add(int(rows[place]), column, message, f"Write a number below {LARGEST:g}.")
    return np.asarray(weights)


def without_weight(piece: str, *, loose: bool = False) -> str:
    """Return `wren` from `wren:0.6`. loose : also from `wren 60%`, which may be a name"""
    match = _matched(piece, loose)
    return re.sub(_ASKED_FOR, "", match["name"]) if match else piece


def _matched(piece: str, loose: bool) -> re.Match[str] | None:
    if len(piece) > _LONGEST:
        return None
    patterns = (_PIECE, *_LOOSE_PIECES) if loose else (_PIECE,)
    return next(filter(None, (pattern.match(piece) for pattern in patterns)), None)


def is_weighted(pieces: Sequence[str]) -> bool:
    """Whether most of these list parts are labels with a number, as in wren:0.6; or all of them are, as in wren 60%."""
    fitting = sum(_matched(piece, loose=False) is not None for piece in pieces)
    if fitting >= 0.8 * len(pieces) > 0:
        return True
    parts = sum(_NO_INTEGER.search(piece) is not None for piece in pieces)
    return 2 * parts >= len(pieces) > 0 and all(_matched(piece, loose=True) is not None for piece in pieces)


def as_names(labels: pa.LargeStringArray | pa.ChunkedArray) -> tuple[list[str], AnyArray]:
    """Return the distinct labels, and the index of each label in them."""
    encoded = labels.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return encoded.dictionary.to_pylist(), np.asarray(encoded.indices)


def no_truth(classes: Collection[str]) -> tuple[str, ...]:
    """Return placeholders for "no true label" that are not classes, such as SNLI's - for rows without agreement."""
    return tuple(word for word in _NO_TRUTH if word not in classes)
