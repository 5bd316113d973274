"""Tables with one person's answer to one item per row: find the columns of person, item and answer.

The columns are recognised by their cells: several people answer the same items, each of them once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from plcore.tables.roles.facts import facts_of_workers, is_fact
from plcore.tables.roles.sample import key_of

_WORKER = re.compile(
    r"(?P<sure>prolific_?p?id|(?:prolific_)?participant(?:_(?:private|public))?|respondent|worker|turker|annotator|rater"
    r"|coder|labell?er|judge|grader)?(?:reader|expert|reviewer|observer|user|student|volunteer|subject|subj|sub|ppt?)?"
    r"(?:_?(?:id|pid|name|code|no|nr|number))?"
)
_BARE = r"_?(?:id|pid|name|code|no|nr|number)?"
"""Suffix of a column name that does not name a person by itself."""
_RESPONSES = (
    "response", "answer", "label", "choice", "rating", "vote", "judgment", "judgement", "annotation", "selected_option",
    "selection", "decision", "category", "class",
)  # fmt: skip
_GOLD = ("gold", "gold_label", "correct_answer", "correct_response", "truth", "true_label", "corrans")
_ORDER = re.compile(
    r"(?:\w+_)?(?:trial|order|position|index|block|number|nr|no|round|run|page|seq|step|instance)(?:_\w+)?|\w+_this\w*n"
)
_RESULT = re.compile(
    r"(?:is_)?(?:correct|accuracy|acc|corr|score|error|hit|timed_out|skipped)|condition|group|block|list"
)
_ONCE = 0.95
"""Minimum share of answers that are their person's only answer to the item, for a column to name items."""
_SHARED = 1.5
"""Minimum mean number of people per item, for a column to name items."""
PROSE = 3
"""Mean number of words per cell from which a column is a text."""


def _once_each(cells: pd.DataFrame, worker: str, name: str) -> bool:
    """Whether this column may name items: several people answered each, and each person once."""
    pairs = cells[[worker, name]]
    if cells[name].str.strip().eq("").any() or cells[name].nunique() < 2:
        return False
    once = 1 - pairs.duplicated().mean()
    return bool(once >= _ONCE and pairs.drop_duplicates()[name].value_counts().mean() >= _SHARED)


def _follows(cells: pd.DataFrame, of: str, name: str) -> bool:
    """Whether all rows with the same cell in `of` also have the same cell in `name`."""
    return bool((cells.groupby(of, sort=False)[name].nunique() == 1).all())


def _item(cells: pd.DataFrame, worker: str, others: Sequence[str]) -> str | None:
    """Return the column that names the items: it determines most others and is not a position in a session."""
    found = [name for name in others if _once_each(cells, worker, name)]
    if not found:
        return None
    rank = {
        name: (
            sum(_follows(cells, name, other) for other in found if other != name),
            _ORDER.fullmatch(key_of(name)) is None,
            key_of(name).endswith(("id", "item", "stimulus")),
            -found.index(name),
        )
        for name in found
    }
    return max(found, key=lambda name: rank[name])


def worker_column(cells: pd.DataFrame) -> str | None:
    """Return the column that names annotators: several people with several answers each. A subject may be an item."""
    named = []
    for name in map(str, cells.columns):
        match = _WORKER.fullmatch(key_of(name))
        if match is not None and re.fullmatch(_BARE, key_of(name)) is None:
            named.append((match["sure"] is None, key_of(name).startswith("sub"), name))
    found = [name for *_, name in sorted(named, key=lambda one: one[:2])]
    return next((name for name in found if 2 <= cells[name].nunique() <= len(cells) / 2), None)


_DATE = re.compile(r"\s*\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\b|\s*\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}\b", re.ASCII)


@dataclass(frozen=True)
class AnswerColumns:
    """The columns of a table with one person's answer to one item per row.

    labels : columns of the answers; several columns are several questions
    gold : column of the item's right answer      about : columns that describe neither the item nor the answer
    """

    worker: str
    item: str
    labels: tuple[str, ...]
    gold: str | None
    about: tuple[str, ...]


def answer_columns(cells: pd.DataFrame, label: str | None = None) -> AnswerColumns | None:
    """Return the columns of a table of answers; None if it is another table. label : column of answers, or None"""
    worker = worker_column(cells)
    if worker is None:
        return None
    free = [str(name) for name in cells.columns if name not in (worker, label) and not _is_sure(str(name))]
    # A subject is either the person who answered or the item.
    free = [name for name in free if not is_fact(key_of(name)) or key_of(name).startswith("subj")]
    free = [name for name in free if cells[name].nunique() > 1]
    of_worker = [name for name in free if _follows(cells, worker, name)]
    item = _item(cells, worker, [name for name in free if name not in of_worker])
    if item is None:
        return None
    of_item = [name for name in free if name not in of_worker and _follows(cells, item, name)]
    said = [name for name in free if name not in (item, *of_item)]
    labels = [label] if label is not None else _answers(cells, said, _is_sure(worker))
    if not labels:
        return None
    plain = {key_of(name): name for name in of_item}
    gold = next((plain[name] for name in _GOLD if name in plain), None)
    described = [name for name in of_item if name != gold and _ORDER.fullmatch(key_of(name)) is None]
    taken = {worker, item, *labels, gold, *described}
    about = tuple(str(name) for name in cells.columns if name not in taken)
    return AnswerColumns(worker, item, tuple(labels), gold, about)


def _is_sure(name: str) -> bool:
    """Whether a column of this name always names people."""
    match = _WORKER.fullmatch(key_of(name))
    return match is not None and match["sure"] is not None


def _answers(cells: pd.DataFrame, said: Sequence[str], sure: bool) -> list[str]:
    """Return the columns of answers among those that differ between the people of an item.

    This is the column with an answer's name or, if the people are certain (`sure`), every column of a few repeated
    words.
    """
    plain = {key_of(name): name for name in reversed(said)}
    called = next((plain[name] for name in _RESPONSES if name in plain), None)
    if called is not None or not sure:
        return [] if called is None else [called]
    workers = facts_of_workers(("worker", *plain))
    free = [name for key, name in plain.items() if key not in workers and _RESULT.fullmatch(key) is None]
    free = [name for name in free if _ORDER.fullmatch(key_of(name)) is None]
    return [name for name in reversed(free) if _holds_labels(cells[name])]


def _holds_labels(column: pd.Series[str]) -> bool:
    """Whether the cells are single labels: a few repeated words, no lists, no texts and no dates."""
    if column.str.match(_DATE).mean() >= 0.5:
        return False
    few = column.nunique() <= len(column) / 2 and column.str.count(r"\S+").mean() < PROSE
    return bool(few and not column.str.contains(r"[|;\n\[{]", regex=True).any())
