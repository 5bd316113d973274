"""Hints for users whose table has no obvious labels: one sentence about the columns that may hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from plcore.arrays.words import listed, quoted
from plcore.tables.media.file_tree import MEDIA_ENDINGS
from plcore.tables.roles.facts import AS_GIVEN, is_fact, is_from_model, is_from_votes, never_labels, never_learnt
from plcore.tables.roles.sample import PROSE, ColumnSample, mean_of, questions_of, sample_columns

_SCORES = re.compile(
    r".+[_ (-](?:prob\w*|p|scores?|conf|confidence|pct|percent|%|logits?|logprob|votes?|fraction)\)?"
    r"|(?:logits?|log_?probs?)[_ .].+",
    re.I,
)
_IDS = re.compile(r"(^|_)(ids?|item|image|file|filename|file_name|url|uuid|key|sentence|text)$")
_LABEL_WORD = re.compile(r"(^|_)(label|class|category|target|tags?|species|sentiment|intent|topic|name|answer|y)(_|$)")
_UNLABELLED = (
    "None repeats a few words, as labels do: if nothing is labelled yet, name the classes (--classes wren,robin), each "
    "of which is then possible in every row."
)
_TIME = re.compile(r"\d[-/.:]\d{2}\b", re.ASCII)
_BETWEEN_WORDS = re.compile(r"[\s,;|/>=&+:]+")
_MOST_COLUMNS = 200  # columns examined
_MOST_CODES = 12
_SHOWN = 4


def hint_at_labels(cells: pd.DataFrame) -> str:
    """Return a sentence, after a space, about the columns that may hold labels and how to choose them."""
    columns = [one for one in sample_columns(cells.iloc[:, :_MOST_COLUMNS]) if one.cells and not is_fact(one.key)]
    columns = [one for one in columns if not one.cells_like(lambda cell: cell.lower().endswith(MEDIA_ENDINGS))]
    in_code = [one for one in columns if mean_of(cell[0] in "[{" for cell in one.cells) >= 0.5]
    columns = [one for one in columns if one not in in_code and not _describes_no_item(one.key)]
    named = [one for one in columns if _LABEL_WORD.search(one.key)]
    looks = (
        *(look(columns) for look in (_scores, _bits, _questions, _alike)), _one_label(named, columns),
        _in_code(in_code), _one_label(columns, columns), _lists(columns),
    )  # fmt: skip
    found = (next(look, None) for look in looks)
    return f" {next(filter(None, found), _UNLABELLED)}"


def _describes_no_item(key: str) -> bool:
    """Whether a column with this key holds neither labels nor features, such as a row's sheet name."""
    return never_learnt(key) and not (is_from_model(key) or is_from_votes(key) or key in AS_GIVEN)


def _scores(columns: Sequence[ColumnSample]) -> Iterator[str]:
    keys = {one.key for one in columns}
    found = [one for one in columns if one.is_numbers and _SCORES.fullmatch(one.name.strip())]
    found = [one for one in found if one.key.rpartition("_")[0] not in keys]  # confidence of another column
    found = found if len(found) > 1 else _parts_of_one(columns)
    if len(found) < 2 or all(one.is_constant for one in found):
        return
    names = listed([one.name for one in found], _SHOWN)
    if any(value < 0 for one in found for value in one.values):
        yield f"{names} may be one score for each label, but some are below 0: take the exponential first."
    else:
        yield f"{names} may be one score for each label: choose them as columns of scores (--score-column)."


def _parts_of_one(columns: Sequence[ColumnSample]) -> list[ColumnSample]:
    """Return the number columns if they sum to 1 or 100 in every row, or if all are from 0 to 1; else none."""
    numbers = [one for one in columns if one.is_numbers and all(value >= 0 for value in one.values)]
    values = [one.values for one in numbers]
    if len(set(map(len, values))) != 1:
        return []
    totals = np.sum(values, axis=0)
    whole = np.isclose(totals, 1, atol=0.02).all() or np.isclose(totals, 100, atol=2).all()
    shares = sum(not one.is_bits for one in numbers) > 2 and max(map(max, values)) <= 1
    return numbers if whole or shares else []


def _bits(columns: Sequence[ColumnSample]) -> Iterator[str]:
    found = [one for one in columns if one.is_yes_no and one.is_bits]
    if len(found) > 1:
        names = listed([one.name for one in found], _SHOWN)
        yield f"{names} say yes or no in every row: if each is a label, choose them as label columns (--label-column)."


def _questions(columns: Sequence[ColumnSample]) -> Iterator[str]:
    """Columns with several people's answers to a question, or one person's."""
    asked = questions_of(columns)
    if len(asked) > 1:
        first = listed([one.name for one in next(iter(asked.values()))], _SHOWN)
        yield (
            f"People answered {len(asked)} questions, a column for each question and person: choose the columns of one "
            f"question as annotators (--annotator), such as {first}."
        )
    for (only,) in (one for one in asked.values() if len(one) == 1):
        yield (
            f"Column {quoted(only.name)} holds the answers of one person: a row with one label is decided, and there "
            "is nothing to ask. Add a column for each other person."
        )


def _alike(columns: Sequence[ColumnSample]) -> Iterator[str]:
    """Two or more columns with the same few words or whole numbers."""
    few = [one for one in columns if one.repeats and one.words < PROSE and not never_labels(one.key)]
    few = [one for one in few if (not one.is_numbers or _are_codes(one)) and not is_from_votes(one.key)]
    for first in few:
        own = set(first.cells)
        same = [one for one in few if 2 * len(own & set(one.cells)) >= len(own | set(one.cells)) and len(own) > 1]
        if len(same) > 1:
            names = listed([one.name for one in same], _SHOWN)
            yield (
                f"{names} hold the same {'numbers' if first.is_numbers else 'words'}: if each is someone's vote, "
                "choose them as annotators (--annotator); if each is a candidate, as columns of candidates (--choice)."
            )
            return


def _are_codes(column: ColumnSample) -> bool:
    """Whether its numbers are few and whole, such as grades and codes."""
    return len(set(column.cells)) <= _MOST_CODES and all(value.is_integer() for value in column.values)


def _one_label(some: Sequence[ColumnSample], columns: Sequence[ColumnSample]) -> Iterator[str]:
    """Columns of `some` with one label per row."""
    few = [one for one in some if one.repeats and len(set(one.cells)) > 1 and one.words < PROSE]
    few = [one for one in few if not never_labels(one.key) and (_LABEL_WORD.search(one.key) or not one.is_numbers)]
    if not few:
        return
    first = few[0]
    more = f", and so {'do' if len(few) > 2 else 'does'} {listed([one.name for one in few[1:]], _SHOWN)}"
    several = more if len(few) > 1 else ""
    if first.is_yes_no and not several:
        yield (
            f"Column {quoted(first.name)} says yes or no of one label in every row: all rows are decided, and there is "
            "nothing to ask. Leave the cells of open rows empty and add a column for each other label; or, if each row "
            "is one person's answer, call the columns task, worker and label."
        )
    said = (
        f"Column {quoted(first.name)} holds one label a row, such as {quoted(first.cells[0])}{several}: a row with one "
        "label is decided, and there is nothing to ask."
    )
    ids = next((one for one in columns if _IDS.search(one.key) and not one.unique and one is not first), None)
    if ids is not None:
        said += (
            f" But {quoted(ids.name)} comes again: if each row is a vote, call the columns task, worker and label; if "
            "it is one more label of an item, write all of them into one cell."
        )
    yield said


def _lists(columns: Sequence[ColumnSample]) -> Iterator[str]:
    """Columns of short cells that share words, such as cat dog and cat > dog, but no dates."""
    for one in (each for each in columns if not any("|" in cell or _TIME.search(cell) for cell in each.cells)):
        lists = [[word for word in _BETWEEN_WORDS.split(cell) if word] for cell in one.cells]
        words = [word for each in lists for word in each]
        several = sum(len(each) > 1 for each in lists)
        if several > 1 and one.words < 2 * PROSE and 2 * len(set(words)) <= len(words) and not one.is_numbers:
            cell = max(one.cells, key=len)
            yield (
                f"Column {quoted(one.name)} may list several labels in a cell, such as {quoted(cell)}: write the same "
                "mark between labels in every row, as in wren|robin, and scores or counts as in wren:3|robin:1."
            )


def _in_code(columns: Sequence[ColumnSample]) -> Iterator[str]:
    if columns:
        names = listed([one.name for one in columns], _SHOWN)
        yield (
            f"{names} hold{'s' if len(columns) == 1 else ''} objects or lists: if the label is inside, write it into a "
            "column of its own; if they are numbers, one for each class, write a column for each."
        )
