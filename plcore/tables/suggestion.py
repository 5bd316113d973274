"""A first guess at the roles of columns, from their names and cells; the owner sees it and decides.

The guess leans towards what the owner most likely *meant*: a column of numbers with one stray word is still
guessed to be numbers, so that the stray word is reported and not silently turned into a category.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from plcore.tables.column_sample import ColumnSample, mean_of, sample_columns
from plcore.tables.label_text import MISSING
from plcore.tables.prose import TEXT_NAMES
from plcore.tables.roles import Roles
from plcore.tables.suggested_labels import (
    are_vectors,
    guess_form,
    guess_list,
    guess_pairs,
    guess_reading,
    guess_scores,
    guess_voters,
)
from plcore.tables.suggested_sources import guess_audio, guess_embedding, guess_segment

_NOT_LABEL_NAMES = {"not_labels", "not_label", "no_labels", "negative_labels", "absent_labels"}
_TRUTH_NAMES = {
    "truth",
    "true_label",
    "true_class",
    "ground_truth",
    "groundtruth",
    "gold",
    "gold_label",
    "true",
}
_MAYBE_TRUTH_NAMES = {"label", "class", "target", "y", "answer", "species", "category"}
_ID_NAMES = {"id", "ids", "row_id", "item_id", "sample_id", "example_id", "instance_id", "uid", "uuid"}
_ID_LIKE = re.compile(r"(^|_)(id|uid|uuid|guid)$")
_MAYBE_ID_NAMES = {
    "index",
    "unnamed_0",
    "row",
    "key",
    "item",
    "file",
    "filename",
    "file_name",
    "name",
    "code",
}
_ANNOTATOR = re.compile(
    r"(annotator|annotation|worker|rater|coder|vote|voter|expert|labeler|labeller|judge)_?\w*"
)
_LABEL_PREFIX = re.compile(r"(label|class|candidate|cand|is|has)_\w+")
_YES_NO = {"yes", "no", "y", "n", "true", "false", "t", "f"}
MOST_VOTERS = 50
"""Columns of words that may be people's; of more nobody guesses that, and comparing all of them would take seconds."""

_OWN = re.compile(r"(before_)*winnow_")


def suggest_roles(cells: pd.DataFrame, *, files: bool = False) -> Roles:
    """The roles the columns of this DataFrame of str seem meant for.

    files : whether files came with the table, so that cells may name images and recordings. Images are learned from
        where there are neither numbers nor a text, recordings always, neither where there are embeddings.
    Label columns are taken for label vectors where a cell is empty or a row has no 1, and no column names the true
    label; and so are lists of labels beside a column of those that are not right.
    Where nothing looks like candidate labels, all ways stay empty and the owner has to choose.
    """
    columns = sample_columns(cells)
    # What an earlier export added is no truth and no feature: the model would be measured with its own guesses.
    columns = [column for column in columns if not _OWN.match(column.name)]
    free = {column.name: column for column in columns}

    def take(column: ColumnSample | None) -> str | None:
        return None if column is None else free.pop(column.name).name

    seen = [column for column in columns if column.is_image(files)]
    # Rows are often called by a picture, with an ending that the picture's own file need not have.
    pictures = _names([column for column in seen if column.key not in _ID_NAMES] or seen)
    for name in pictures:
        free.pop(name)
    image = pictures[0] if pictures else None
    audio = take(guess_audio(list(free.values())) if files else None)
    start, end = map(take, guess_segment(list(free.values())) if audio is not None else (None, None))
    embedding = take(guess_embedding(list(free.values())))
    others = next((column for column in columns if column.key in _NOT_LABEL_NAMES), None)
    given = _labels([column for column in free.values() if column is not others])
    for column in given.columns:
        take(column)
    not_labels = take(others if given.roles.candidates is not None else None)
    labels = given.labels
    vectors = not_labels is not None or are_vectors(cells, list(given.roles.label_columns))
    truth = None if not_labels else take(_truth(list(free.values()), labels))
    row_id = take(_id(list(free.values())))
    text = take(_text(list(free.values())))
    # A number that names something measures nothing, however often it is repeated.
    numbers = tuple(c.name for c in free.values() if c.is_numbers and not _ID_LIKE.search(c.key))
    categories = tuple(c.name for c in free.values() if not c.is_numbers and c.repeats)
    return replace(
        given.roles,
        label_vectors=vectors and truth is None,
        not_labels=not_labels,
        ignored=_missing(given, cells),
        truth=truth,
        id=row_id,
        text=text,
        image=image,
        more_images=pictures[1:],
        audio=audio,
        start=start,
        end=end,
        embedding=embedding,
        image_features=image is not None and not numbers and text is None and embedding is None,
        sound_features=audio is not None and embedding is None,
        numbers=numbers,
        categories=categories,
    )


def suggest_reading(cells: pd.DataFrame, columns: Sequence[str], *, scores: bool = False) -> Roles:
    """Roles with these columns alone, and how their cells are read: those of a column that lists the candidates, or
    columns of scores."""
    found = sample_columns(cells[list(columns)])
    if scores:
        read = guess_reading(found)
        return Roles(score_columns=tuple(columns), score_prefix=read.prefix, cut=read.cut, cut_at=read.cut_at)
    listed = guess_form(found[0])
    return Roles(candidates=columns[0], separator=listed.separator, form=listed.form)


@dataclass(frozen=True)
class _Labels:
    """The roles of the columns that hold labels, these columns, and the labels of the rows looked at."""

    roles: Roles
    columns: tuple[ColumnSample, ...] = ()
    labels: frozenset[str] = frozenset()


def _labels(columns: list[ColumnSample]) -> _Labels:
    """How the candidates come, by the first of the ways that fits."""
    if (pairs := guess_pairs(columns)) is not None:
        roles = Roles(choices=_names(pairs.choices), choice_scores=_names(pairs.scores))
        return _Labels(roles, (*pairs.choices, *pairs.scores), _cells(pairs.choices))
    if (listed := guess_list(columns, _named_as_truth(columns))) is not None:
        said = guess_voters(columns, listed)
        roles = Roles(
            listed.column.name, listed.separator, listed.form, voters=next(iter(_names(said)), None)
        )
        return _Labels(roles, (listed.column, *said), frozenset(listed.labels))
    if scores := guess_scores(columns, _true_labels(columns)):
        roles = Roles(
            score_columns=_names(scores.columns),
            score_prefix=scores.prefix,
            cut=scores.cut,
            cut_at=scores.cut_at,
        )
        return _Labels(
            roles, scores.columns, frozenset(name.removeprefix(scores.prefix) for name in roles.score_columns)
        )
    annotators = [column for column in columns if _ANNOTATOR.fullmatch(column.key)]
    # Beside votes in words, numbers such as rater_count, vote_total or coder_age are none.
    annotators = [column for column in annotators if not column.is_numbers] or annotators
    if len(annotators) < 2:
        if bits := _label_columns(columns):
            names = _names(bits)
            return _Labels(Roles(label_columns=names), tuple(bits), frozenset(name.strip() for name in names))
        annotators = _voters(columns)
    return _Labels(Roles(annotators=_names(annotators)), tuple(annotators), _cells(annotators))


def _names(columns: Iterable[ColumnSample]) -> tuple[str, ...]:
    return tuple(column.name for column in columns)


def _cells(columns: Iterable[ColumnSample]) -> frozenset[str]:
    return frozenset(cell for column in columns for cell in column.cells)


def _true_labels(columns: list[ColumnSample]) -> frozenset[str]:
    """The cells of a column that is named like one of true labels."""
    return _cells(column for column in _named_as_truth(columns) if not column.is_numbers)


def _named_as_truth(columns: list[ColumnSample]) -> list[ColumnSample]:
    return [column for column in columns if column.key in _TRUTH_NAMES | _MAYBE_TRUTH_NAMES]


def _missing(given: _Labels, cells: pd.DataFrame) -> tuple[str, ...]:
    """What stands for nothing among the labels, other than an empty cell."""
    columns = [*given.roles.annotators, *given.roles.choices]
    found = {name for column in columns for name in MISSING if (cells[column] == name).any()}
    return tuple(name for name in MISSING if name in found | (given.labels & set(MISSING)))


def _voters(columns: list[ColumnSample]) -> list[ColumnSample]:
    """Three columns or more of any name that hold much the same words: people named the same labels there."""
    words = {
        column.name: set(column.cells)
        for column in columns
        if column.repeats and not column.is_numbers and column.key not in _TRUTH_NAMES | _MAYBE_TRUTH_NAMES
    }
    if len(words) > MOST_VOTERS:
        return []
    best: set[str] = set()
    for own in words.values():
        alike = {name for name, other in words.items() if len(own & other) >= len(own | other) / 2}
        labels = set().union(*(words[name] for name in alike))
        # Yes and no are answers to questions that differ from column to column, not labels.
        if len(labels) >= 2 and not {label.lower() for label in labels} <= _YES_NO and len(alike) > len(best):
            best = alike
    if len(best) < 3:
        return []
    said = set().union(*(words[name] for name in best))
    truths = [set(column.cells) for column in columns if column.key in _TRUTH_NAMES | _MAYBE_TRUTH_NAMES]
    if any(len(labels - said) > len(labels) / 2 for labels in truths):
        return []  # low, medium and high beside a label that is cat or dog: what was measured of it
    return [column for column in columns if column.name in best]


def _label_columns(columns: list[ColumnSample]) -> list[ColumnSample]:
    """The 0/1 columns that are labels: those the true label names, those with a telling name, else all."""
    bits = [column for column in columns if column.is_bits]
    names = {column.name.strip() for column in bits}
    for column in columns:
        if column.key in _TRUTH_NAMES | _MAYBE_TRUTH_NAMES and column.cells:
            values = set(column.cells)
            if len(values & names) >= max(2, len(values) // 2):
                # Labels that are never true are no part of the values: take the whole run of 0/1 columns.
                places = [place for place, each in enumerate(columns) if each.name.strip() in values & names]
                first, last = places[0], places[-1]
                while first > 0 and columns[first - 1].is_bits:
                    first -= 1
                while last + 1 < len(columns) and columns[last + 1].is_bits:
                    last += 1
                return [each for each in columns[first : last + 1] if each.is_bits]
    named = [column for column in bits if _LABEL_PREFIX.fullmatch(column.key)]
    chosen = named if len(named) > 1 else bits
    if len(chosen) < 2:
        return []
    # A column without any cell that stands among labels is a label that nobody was asked about.
    names = {column.name for column in chosen}
    places = [place for place, each in enumerate(columns) if each.name in names]
    run = columns[places[0] : places[-1] + 1]
    return [each for each in run if each.name in names or not each.cells]


def _truth(columns: list[ColumnSample], labels: frozenset[str]) -> ColumnSample | None:
    """A column named for it; one with a name that often means it and label cells; one with nothing but labels."""
    for column in columns:
        if column.key in _TRUTH_NAMES:
            return column
    for column in columns:
        if column.key in _MAYBE_TRUTH_NAMES and mean_of(cell in labels for cell in column.cells) >= 0.5:
            return column
    for column in columns:
        # Taken for a category feature instead, a true label would give every answer away.
        if (
            not column.is_numbers
            and column.cells
            and mean_of(cell in labels for cell in column.cells) >= 0.95
        ):
            return column
    return None


def _id(columns: list[ColumnSample]) -> ColumnSample | None:
    for column in columns:
        if column.key in _ID_NAMES:
            return column
    for column in columns:
        if (column.key in _MAYBE_ID_NAMES or column.key.endswith("_id")) and column.unique:
            return column
    return None


def _text(columns: list[ColumnSample]) -> ColumnSample | None:
    """The column with the longest text: named for it, or of several words that seldom repeat."""
    texts = [
        column
        for column in columns
        if column.cells
        and not column.is_numbers
        and (column.key in TEXT_NAMES or (column.words >= 3 and not column.repeats))
    ]
    return max(texts, key=lambda column: column.words, default=None)
