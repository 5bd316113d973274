"""Describe in a sentence or two how a file was read, before it is stored."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from plcore.arrays.words import counted, either, listed, quoted
from plcore.tables.readers.tools.detections import serving_columns
from plcore.tables.roles.cells import no_truth, without_weight
from plcore.tables.roles.roles import Roles, marks_of
from plcore.tables.roles.sample import parts_of
from plcore.tables.roles.written_lists import RANKS
from plcore.tables.table import LabelTable

_SHOWN = 5
_FEW_ROWS = 1_000


@dataclass(frozen=True)
class ReadingSummary:
    """A summary of how a table was read, each part in words with its counts; str joins them.

    read_as : the format, the rows and classes, and the source of the labels      asked : the question to annotators
    learnt_from, shown, ignored : columns that models use, columns that are only displayed, and unused columns
    """

    read_as: str
    asked: str
    learnt_from: str
    shown: str
    ignored: str

    def __str__(self) -> str:
        return (
            f"Read as {self.read_as}. Asked: {self.asked}. Learnt from: {self.learnt_from}. "
            f"Shown only: {self.shown}. Ignored: {self.ignored}."
        )


def describe(table: LabelTable, read_as: str) -> ReadingSummary:
    """Describe how this table was read. read_as : format of its file, see `TableReading.format`"""
    roles, cells = table.roles, table.cells
    names = listed(table.classes, _SHOWN)
    classes = f"{counted(table.n_rows, 'row')}, {len(table.classes):,} {_kind(table)} ({names})"
    nothing = read_as_nothing(cells, roles)
    if roles.truth is not None and roles.truth in cells:
        truths = cells[roles.truth].str.strip().value_counts()
        nothing |= {word: int(truths[word]) for word in no_truth(table.classes) if word in truths}
    empty = "".join(
        f"; {quoted(word)} read as an empty cell {counted(count, 'time')}" for word, count in nothing.items()
    )
    used = {column for _, column in roles.used()}
    learnt = list(_learnt(table))
    features = {name for name, _ in learnt}
    shown = [
        name
        for name in dict.fromkeys([roles.id, *roles.picture_columns, roles.audio, roles.text, *roles.caption])
        if name is not None and name not in features
    ]
    idle = [str(name) for name in cells.columns if name not in used | serving_columns(cells)]
    return ReadingSummary(
        f"{read_as}: {classes}, from {_source(roles, cells)}{empty}",
        _asked(table),
        ", ".join([*(words for _, words in learnt), *_shared_source(table)]) or "nothing",
        listed(shown, _SHOWN) or "nothing",
        f"{listed(idle, _SHOWN)} (kept and exported)" if idle else "nothing",
    )


def read_as_nothing(cells: pd.DataFrame, roles: Roles) -> dict[str, int]:
    """Count how often each word in `roles.ignored` occurs in the label cells; words that do not occur are left out."""
    if not roles.ignored:
        return {}
    found: Counter[str] = Counter()
    columns = [*roles.annotators, *roles.choices, *([roles.truth] if roles.truth else [])]
    lists = [roles.candidates] if roles.candidates and roles.form != "json" else []
    for name in (*columns, *lists):
        if name not in cells:
            continue
        for cell, count in cells[name].value_counts().items():
            parts = parts_of(str(cell), roles.separator) if name in lists else [str(cell).strip()]
            for part in parts:
                word = without_weight(part, loose=True) if roles.form == "weighted" and name in lists else part
                found[word] += int(count)
    return {word: found[word] for word in roles.ignored if found[word]}


def _kind(table: LabelTable) -> str:
    several = len(table.classes) != 1
    return ("labels" if several else "label") if table.label_vectors is not None else "classes" if several else "class"


_RANK = re.compile(rf'"\s*:\s*"(?:{"|".join(RANKS)})"', re.IGNORECASE)


def _source(roles: Roles, cells: pd.DataFrame) -> str:
    """Describe the columns of the labels, and how their cells are read."""
    ranked = roles.form == "json" and roles.candidates in cells and cells[roles.candidates].str.contains(_RANK).any()
    if roles.label_columns:
        coded = "yes, no or not asked" if roles.label_vectors else "0 or 1"
        columns = counted(len(roles.label_columns), "column")
        return f"{columns} of {coded}, one a label ({listed(roles.label_columns, _SHOWN)})"
    if roles.annotators:
        return f"the votes of {counted(len(roles.annotators), 'annotator')} ({listed(roles.annotators, _SHOWN)})"
    if roles.choices:
        scored = " with their scores" if roles.choice_scores else ""
        return f"{counted(len(roles.choices), 'column')} of candidates{scored} ({listed(roles.choices, _SHOWN)})"
    if roles.score_columns:
        first = cells[list(roles.score_columns)].head(_FEW_ROWS)
        below = any(first[name].str.lstrip().str.startswith("-").any() for name in first)
        what = "log-probabilities" if below else "scores"
        return f"{counted(len(roles.score_columns), 'column')} of {what} ({listed(roles.score_columns, _SHOWN)})"
    marks = " and ".join(map(quoted, marks_of(roles.separator)))
    how = {
        "list": f"lists separated by {marks}",
        "weighted": f"lists with a number a label, separated by {marks}",
        "json": "lists in JSON" + (", confidence in words as a rank" if ranked else ""),
    }[roles.form]
    beside = f", and those that are not right in {quoted(roles.not_labels)}" if roles.not_labels else ""
    return f"column {quoted(str(roles.candidates))} ({how}){beside}"


def _asked(table: LabelTable) -> str:
    if table.label_vectors is not None:
        left = int((table.label_vectors < 0).sum())
        labels = counted(table.label_vectors.size, "label")
        return f"yes or no for {left:,} of {labels} of rows; the file says the others"
    sizes = np.asarray(table.candidates.sum(axis=1)).ravel()
    open_rows, given = int((sizes > 1).sum()), int((sizes == 1).sum())
    said = f"which candidate is right in {counted(open_rows, 'row')}"
    if given:
        said += f"; {counted(given, 'row')} with one candidate {'counts' if given == 1 else 'count'} as given"
        weights = table.candidate_weights
        scored = 0 if weights is None else int((weights[sizes == 1].max(axis=1) < 1).sum())
        said += f", though the score of {scored:,} is below 1" if scored else ""
    if table.truth is not None:
        known = int((table.truth >= 0).sum())
        truth = either(known, "the true label of 1 row is", f"true labels of {known:,} rows are")
        said += f"; {truth} in {quoted(str(table.roles.truth))}"
    return said


def _shared_source(table: LabelTable) -> Iterator[str]:
    """Describe how many rows share a source, if the table has sources."""
    name, sources = table.roles.source, table.sources
    if name is None or sources is None:
        return
    shared = int((np.bincount(sources[sources >= 0]) > 1).sum())
    several = f"{counted(shared, 'source')} of several rows" if shared else "no two rows share one"
    yield f"source {quoted(name)} ({several})"


def _learnt(table: LabelTable) -> Iterator[tuple[str, str]]:
    """Yield every column that models learn from, and its description."""
    roles = table.roles
    for text in table.text_columns:
        yield text, f"text {quoted(text)}"
    single = (
        ("images", roles.image, roles.image_features),
        ("recordings", roles.audio, roles.sound_features),
        ("vectors", roles.embedding, True),
    )
    for kind, column, learnt in single:
        if column is not None and learnt:
            yield column, f"{kind} {quoted(column)}"
    for kind, columns in (("number", roles.numbers), ("category", roles.categories)):
        for place, column in enumerate(columns):
            if place < _SHOWN:
                yield column, f"{kind} {quoted(column)}"
            elif place == _SHOWN:
                more = len(columns) - _SHOWN
                what = "numbers" if kind == "number" else "words"
                yield column, f"{counted(more, 'more column')} of {what}"
