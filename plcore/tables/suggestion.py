"""A first guess at the roles of columns, from their names and cells; the owner sees it and decides.

The guess leans towards what the owner most likely *meant*: a column of numbers with one stray word is still
guessed to be numbers, so that the stray word is reported and not silently turned into a category.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from plcore.tables.media import AUDIO_ENDINGS, IMAGE_ENDINGS
from plcore.tables.roles import Roles

_CANDIDATE_NAMES = {
    "candidates", "candidate", "candidate_labels", "candidate_set", "labels", "label_set",
    "partial_labels", "partial_label", "possible_labels", "options", "choices",
}  # fmt: skip
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
_TEXT_NAMES = {
    "text",
    "sentence",
    "description",
    "caption",
    "comment",
    "message",
    "review",
    "title",
    "abstract",
}
_ANNOTATOR = re.compile(
    r"(annotator|annotation|worker|rater|coder|vote|voter|expert|labeler|labeller|judge)_?\w*"
)
_LABEL_PREFIX = re.compile(r"(label|class|candidate|cand|is|has)_\w+")
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_NO_VALUE = re.compile(r"[+-]?inf(inity)?|nan|n/?a|null|none|\?|-", re.IGNORECASE)
_BITS = {"0", "1", "0.0", "1.0", "true", "false"}
_YES_NO = {"yes", "no", "y", "n", "true", "false", "t", "f"}
_SEPARATORS = ("|", ";", ",")
_SAMPLE = 2000
MOST_VOTERS = 50
"""Columns of words that may be people's; of more nobody guesses that, and comparing all of them would take seconds."""


@dataclass(frozen=True)
class _Column:
    """A column as the guesser sees it."""

    name: str
    cells: tuple[str, ...]  # stripped, non-empty, from a sample of rows
    unique: bool  # no two rows of the whole table are the same, none is empty

    @cached_property
    def key(self) -> str:
        return re.sub(r"\W+", "_", self.name.strip().lower()).strip("_")

    def share(self, pattern: re.Pattern[str]) -> float:
        return _mean(pattern.fullmatch(cell) is not None for cell in self.cells)

    @cached_property
    def is_bits(self) -> bool:
        return _mean(cell.lower() in _BITS for cell in self.cells) >= 0.9

    @cached_property
    def is_numbers(self) -> bool:
        # Whether the cells *are* good numbers is not judged here: a decimal comma or an NA gets its own
        # advice.
        return 0 < self.share(_NUMBER) >= 0.5 * (1 - self.share(_NO_VALUE))

    def is_image(self, files: bool) -> bool:
        ends = IMAGE_ENDINGS if files else ()
        return self.cells_like(lambda cell: cell.startswith("data:image") or cell.lower().endswith(ends))

    def cells_like(self, fits: Callable[[str], bool]) -> bool:
        """Whether most cells fit; not all, so that a stray one is reported."""
        return _mean(map(fits, self.cells)) >= 0.5

    @cached_property
    def words(self) -> float:
        """Mean number of words in a cell."""
        return _mean(len(cell.split()) for cell in self.cells)

    @cached_property
    def repeats(self) -> bool:
        """Whether its values come again and again, as categories do."""
        return bool(self.cells) and len(set(self.cells)) <= max(2, len(self.cells) // 2)

    def separator(self) -> str | None:
        """The separator that splits most of its cells; None where none splits any."""
        counts = [sum(mark in cell for cell in self.cells) for mark in _SEPARATORS]
        return _SEPARATORS[counts.index(max(counts))] if any(counts) else None

    def pieces(self, separator: str) -> list[str]:
        return [piece.strip() for cell in self.cells for piece in cell.split(separator) if piece.strip()]


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else 0.0


def _names_audio(cell: str) -> bool:
    return cell.lower().endswith(AUDIO_ENDINGS)


_OWN = re.compile(r"(before_)*winnow_")


def suggest_roles(cells: pd.DataFrame, *, files: bool = False) -> Roles:
    """The roles the columns of this DataFrame of str seem meant for.

    files : whether files came with the table, so that cells may name images and recordings. Images are
        learned from where there are neither numbers nor a text.

    Label columns are taken for label vectors where a cell is empty or a row has no 1, and no column names the true
    label; and so are lists of labels beside a column of those that are not right.
    Where nothing looks like candidate labels, all three ways stay empty and the owner has to choose.
    """
    step = max(1, len(cells) // _SAMPLE)
    columns = []
    for place, name in enumerate(cells.columns):
        series = cells.iloc[:, place]
        sample = tuple(cell for cell in (str(value).strip() for value in series.iloc[::step]) if cell)
        columns.append(_Column(str(name), sample, bool(series.is_unique and (series != "").all())))
    # What an earlier export added is no truth and no feature: the model would be measured with its own guesses.
    columns = [column for column in columns if not _OWN.match(column.name)]
    free = {column.name: column for column in columns}

    def take(column: _Column | None) -> str | None:
        return None if column is None else free.pop(column.name).name

    image = take(next((column for column in columns if column.is_image(files)), None))
    audio = take(next((c for c in free.values() if files and c.cells_like(_names_audio)), None))
    others = next((column for column in columns if column.key in _NOT_LABEL_NAMES), None)
    candidates, separator = _candidates([column for column in free.values() if column is not others])
    take(candidates)
    not_labels = take(others if candidates is not None else None)
    annotators: list[_Column] = []
    label_columns: list[_Column] = []
    if candidates is None:
        annotators = [column for column in free.values() if _ANNOTATOR.fullmatch(column.key)]
        # Beside votes in words, numbers such as rater_count, vote_total or coder_age are none.
        annotators = [column for column in annotators if not column.is_numbers] or annotators
        if len(annotators) < 2:
            label_columns = _label_columns(list(free.values()))
            annotators = [] if label_columns else _voters(list(free.values()))
    for column in (*annotators, *label_columns):
        take(column)
    if candidates is not None:
        labels = set(candidates.pieces(separator))
    elif annotators:
        labels = {cell for column in annotators for cell in column.cells}
    else:
        labels = {column.name.strip() for column in label_columns}
    vectors = not_labels is not None or _are_vectors(cells, [column.name for column in label_columns])
    truth = None if not_labels else take(_truth(list(free.values()), labels))
    row_id = take(_id(list(free.values())))
    text = take(_text(list(free.values())))
    numbers = tuple(column.name for column in free.values() if column.is_numbers)
    categories = tuple(c.name for c in free.values() if not c.is_numbers and c.repeats)
    return Roles(
        candidates=None if candidates is None else candidates.name,
        separator=separator,
        label_columns=tuple(column.name for column in label_columns),
        label_vectors=vectors and truth is None,
        not_labels=not_labels,
        annotators=tuple(column.name for column in annotators),
        truth=truth,
        id=row_id,
        text=text,
        image=image,
        audio=audio,
        image_features=image is not None and not numbers and text is None,
        numbers=numbers,
        categories=categories,
    )


def _candidates(columns: list[_Column]) -> tuple[_Column | None, str]:
    """The column that lists the candidates, by name, else by cells like `wren|robin`; and its separator."""
    for column in columns:
        if column.key in _CANDIDATE_NAMES and not column.is_bits:
            return column, column.separator() or _SEPARATORS[0]
    best, best_separator, best_share = None, _SEPARATORS[0], 0.0
    for column in columns:
        separator = column.separator()
        pieces = column.pieces(separator) if separator is not None else []
        if separator is None or not pieces:
            continue
        share = sum(separator in cell for cell in column.cells) / len(column.cells)
        # Labels are short and come again; the parts of prose and of decimal commas do not.
        labels_like = len(set(pieces)) <= len(pieces) / 2 and _mean(map(len, pieces)) <= 30
        if labels_like and share >= 0.1 and share > best_share and column.share(_DECIMAL_COMMA) < 0.5:
            best, best_separator, best_share = column, separator, share
    return best, best_separator


_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+", re.ASCII)


def _voters(columns: list[_Column]) -> list[_Column]:
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


def _label_columns(columns: list[_Column]) -> list[_Column]:
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


def _are_vectors(cells: pd.DataFrame, columns: list[str]) -> bool:
    """Whether label columns are more likely label vectors than candidates: these leave no cell empty, and have a 1
    in every row."""
    if not columns:
        return False
    text = cells[columns].apply(lambda column: column.str.strip().str.lower())
    return bool((text == "").any(axis=None) or not text.isin(["1", "1.0", "true"]).any(axis=1).all())


def _truth(columns: list[_Column], labels: set[str]) -> _Column | None:
    """A column named for it; one with a name that often means it and label cells; one with nothing but labels."""
    for column in columns:
        if column.key in _TRUTH_NAMES:
            return column
    for column in columns:
        if column.key in _MAYBE_TRUTH_NAMES and _mean(cell in labels for cell in column.cells) >= 0.5:
            return column
    for column in columns:
        # Taken for a category feature instead, a true label would give every answer away.
        if not column.is_numbers and column.cells and _mean(cell in labels for cell in column.cells) >= 0.95:
            return column
    return None


def _id(columns: list[_Column]) -> _Column | None:
    for column in columns:
        if column.key in _ID_NAMES:
            return column
    for column in columns:
        if column.unique and (column.key in _MAYBE_ID_NAMES or column.key.endswith("_id")):
            return column
    return None


def _text(columns: list[_Column]) -> _Column | None:
    """The column with the longest text: named for it, or of several words that seldom repeat."""
    texts = [
        column
        for column in columns
        if column.cells
        and not column.is_numbers
        and (column.key in _TEXT_NAMES or (column.words >= 3 and not column.repeats))
    ]
    return max(texts, key=lambda column: column.words, default=None)
