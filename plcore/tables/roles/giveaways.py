"""Columns that would give the label away: its codes, how one annotator answered, the row's own candidates in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import pandas as pd

from plcore.tables.roles.fact_names import is_about_answer
from plcore.tables.roles.roles import Roles
from plcore.tables.roles.sample import ColumnSample, key_of
from plcore.tables.roles.suggested_labels import numbered_alike

_FIRST_ROWS = 10_000
"""Number of rows in which codes are compared with labels."""
_SOME_ROWS, _MOST_LABELS = 300, 200
"""Maximum numbers of rows, and of labels, that are looked for in other columns."""
_SEVERAL = 5
"""Minimum number of cells that name a label, to be evidence."""


def codes_of(cells: pd.DataFrame, roles: Roles, columns: list[ColumnSample]) -> list[str]:
    """Return the columns that repeat the candidates in other words, such as their codes: one value for each of at least
    three lists, or a numbered column for each choice with one value for each of its labels."""
    if choices := roles.choices:  # description_1 next to class_1
        groups = [[one[place] for place in sorted(one)] for one in numbered_alike(columns) if len(one) == len(choices)]
        said = cells.iloc[:_FIRST_ROWS]
        return [
            column.name
            for group in groups
            if all(_renames(said[choice], said[column.name]) for choice, column in zip(choices, group, strict=True))
            for column in group
        ]
    if roles.candidates is None:
        return []
    lists = cells[roles.candidates].iloc[:_FIRST_ROWS].str.strip()
    n_lists = lists.nunique()
    if not 2 < n_lists <= len(lists) / 2:
        return []
    found = []
    for column in (one for one in columns if not one.is_numbers):
        own = cells[column.name].iloc[:_FIRST_ROWS].str.strip()
        if own.nunique() == n_lists == len(set(zip(lists, own, strict=True))):
            found.append(column.name)
    return found


def _renames(one: pd.Series[str], other: pd.Series[str]) -> bool:
    """Whether each value of a column stands next to one value of the other, and the reverse."""
    return one.nunique() == other.nunique() == len(set(zip(one, other, strict=True)))


def of_people(annotators: Sequence[str], others: Iterable[str]) -> list[str]:
    """Return the columns about how at least two annotators answered (ann_time and bob_time, next to ann_label), and
    what one wrote about an answer (ann_comment)."""
    words = [set(key_of(name).split("_")) for name in annotators]
    common = set.intersection(*words) if words else set()
    people = {word for one in words for word in one - common}
    found: dict[str, list[tuple[str, str]]] = {}
    for name in others:
        own = key_of(name).split("_")
        for word in people.intersection(own):
            if len(own) > 1 and (not word.isdecimal() or common.intersection(own)):
                found.setdefault(" ".join(one for one in own if one != word), []).append((word, name))
    return [
        name
        for what, told in found.items()
        if len({word for word, _ in told}) > 1 or is_about_answer(f"annotator_{what}")
        for _, name in told
    ]


def naming_labels(cells: pd.DataFrame, roles: Roles, known: Iterable[str], columns: list[ColumnSample]) -> list[str]:
    """Return the columns whose cells name one of the row's own candidates, in any case and with other words around it,
    more often than chance would: `CAT`, `I think cat`.
    """
    labels = {label.casefold() for label in known if len(label) > 1}
    lists = (roles.candidates,) if roles.candidates is not None else (*roles.annotators, *roles.choices)
    if not lists or not 2 < len(labels) <= _MOST_LABELS:
        return []
    pattern = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, sorted(labels, key=len, reverse=True))) + r")(?!\w)")
    said = cells.iloc[:_SOME_ROWS].apply(lambda column: column.str.casefold())
    own = [set(pattern.findall(" | ".join(row))) for row in said[[*lists]].to_numpy()]
    found = []
    for column in (one for one in columns if not one.is_numbers):
        named = [
            (row, words) for row, cell in zip(own, said[column.name], strict=True) if (words := pattern.findall(cell))
        ]
        right = sum(row.issuperset(words) for row, words in named)
        by_chance = sum(len(row) for row, _ in named) / len(labels)
        if len(named) >= _SEVERAL and right >= 0.95 * len(named) and by_chance < 0.7 * len(named):
            found.append(column.name)
    return found
