"""Predictions that programs send: another model's scores for rows of a project. They weigh the candidates as scores of
a file do. Like embeddings, they arrive as an addition of no rows: one entry of the log names the table with them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from db import entries
from plcore import LabelTable, TableError
from plcore.arrays import forbidden_in_name
from plcore.loop import ClassChange, ClassError, ClassMap
from plcore.tables import MAX_PROBLEMS, Problem, Rescored, is_score, why_no_score, with_scores
from workflow.access import Right
from workflow.importing import more_rows
from workflow.importing.more_rows import Addition
from workflow.log.reading import read_class_changes

if TYPE_CHECKING:
    from workflow.seat import Seat

__all__ = ["LONGEST", "MOST", "Scored", "ScoredRow", "add_predictions", "is_score", "why_no_score"]

MOST = 10_000
"""Limit of the rows in one request."""
LONGEST = 100
"""Limit of the characters of a key, and of a model's name."""


class ScoredRow(NamedTuple):
    """A model's scores of one row. Either row (its number, from 0) or row_id is given; the other is None."""

    row: int | None
    row_id: str | None
    scores: Mapping[str, float]


class Scored(NamedTuple):
    """The result of sending predictions. seq : their entry in the log      rows : how many were sent

    weighed : rows whose candidates are now weighed by them      silent, outside : as in `plcore.tables.Rescored`
    """

    seq: int
    rows: int
    weighed: int
    silent: int
    outside: int


def add_predictions(seat: Seat, sent: Sequence[ScoredRow], model: str, key: str, about: str = "") -> Scored:
    """Weigh the candidates of these rows by a model's scores, exactly once; returns the result.

    sent : each row once      model : the model's name, for users
    key : name of this request: repeating it under the same key stores nothing and returns the same result
    about : more words about the scores, for the log

    Raises
    TableError : A row or a class is not there, a row is named twice, a score is not a number of 0 or more, or the
        project has label vectors. Nothing is stored.
    RowsError : Other changes came in between at all `more_rows.TRIES` attempts.
    CannotLearn, NotAllowed, NotSaved, NotFound : As in `workflow.importing.more_rows.add_rows`.
    """
    with seat.reading(Right.OWN, changes=True):
        pass  # people without the right get that message first
    _check_name("key", key)
    _check_name("model", model)
    token = _token(sent, model, key)
    return more_rows.added_anew(lambda: _added(seat, sent, model, token, about), "scores")


def _added(seat: Seat, sent: Sequence[ScoredRow], model: str, token: str, about: str) -> Scored:
    """Store the predictions and return the result. Raises as `add_predictions`; RowsError if another change came in
    between."""
    with seat.reading(Right.OWN) as reading:
        project = reading.project
        stored = entries.with_token(reading.session, project.id, token)
        changes = read_class_changes(reading.session, project.id)
    table_hash = project.table_hash
    if stored is not None:  # the result stored with the first request
        table_hash, changes = stored.before[0], tuple(one for one in changes if one.seq < stored.seq)
    found = _scored(seat.home.read_table(table_hash), changes, sent, model)
    if stored is None:
        version = more_rows.version_of(project, changes)
        more_rows.add_rows(seat, Addition(found.grown, version, token=token, note=f"scores of {model}{about}"))
        with seat.reading(Right.OWN) as reading:
            stored = entries.with_token(reading.session, project.id, token)
    assert stored is not None  # noqa: S101 - it has been stored
    return Scored(stored.seq, len(sent), found.n_weighed, found.n_silent, found.n_outside)


def _scored(table: LabelTable, changes: Sequence[ClassChange], sent: Sequence[ScoredRow], model: str) -> Rescored:
    """The table with these predictions. Raises TableError."""
    if table.label_vectors is not None:
        return with_scores(table, {}, {}, model)  # raises the reason
    known = ClassMap(table.classes, changes)
    problems: list[Problem] = []
    scores = _by_row(table, sent, problems)
    columns = _columns(known, (name for one in sent for name in one.scores), problems)
    for place, one in enumerate(sent):
        wrong = [score for score in one.scores.values() if not is_score(score)]
        if wrong:
            why, fix = why_no_score(wrong[0])
            problems.append(_problem(place, f"a score {why}.", fix))
    if problems:
        raise TableError(*problems[:MAX_PROBLEMS])
    return with_scores(table, scores, columns, model, known.first_names)


def _by_row(table: LabelTable, sent: Sequence[ScoredRow], problems: list[Problem]) -> dict[int, Mapping[str, float]]:
    """{row: scores}"""
    called = {str(one): row for row, one in enumerate(table.ids)} if any(one.row is None for one in sent) else {}
    found: dict[int, Mapping[str, float]] = {}
    for place, one in enumerate(sent):
        row = called.get(str(one.row_id), -1) if one.row is None else one.row
        if (one.row is None) == (one.row_id is None):
            problems.append(_problem(place, "it names no row, or two.", "Send row or row_id."))
        elif not 0 <= row < table.n_rows:
            name = f"row {row}" if one.row is not None else f"row_id {one.row_id!r:.80}"
            fix = f"Name rows of the project, by number from 0 to {table.n_rows - 1:,} or by id."
            problems.append(_problem(place, f"there is no {name}.", fix))
        elif row in found:
            problems.append(_problem(place, f"row {row} is listed twice.", "Send each row once."))
        else:
            found[row] = one.scores
    return found


def _columns(known: ClassMap, names: Iterable[str], problems: list[Problem]) -> dict[str, list[int]]:
    """{name: places in the table's classes}, by any name that a class ever had."""
    found: dict[str, list[int]] = {}
    for name in dict.fromkeys(names):
        if len(problems) >= MAX_PROBLEMS:
            break
        try:
            column = known.classes.index(known.now(name))
        except ClassError as error:
            fix = "Use the project's class names, and leave out unknown classes."
            problems.append(Problem(None, None, None, str(error), fix))
            continue
        found[name] = np.flatnonzero(known.column_of_tabled == column).tolist()
    return found


def _problem(place: int, message: str, fix: str) -> Problem:
    return Problem(None, None, None, f"Prediction {place}, counted from 0: {message}", fix)


def _check_name(what: str, said: str) -> None:
    if not said.strip() or len(said) > LONGEST or (found := forbidden_in_name(said)) is not None:
        why = f"Got {len(said)}." if not said.strip() or len(said) > LONGEST else f"It has {found}."
        message = f"The {what} has 1 to {LONGEST} characters. {why}"
        raise TableError(Problem(None, None, None, message, "Send another one."))


def _token(sent: Sequence[ScoredRow], model: str, key: str) -> str:
    """Return the entry's token: the same for the same predictions under the same key."""
    said = json.dumps([key, model, [[one.row, one.row_id, dict(one.scores)] for one in sent]], sort_keys=True)
    return f"predictions.{hashlib.sha256(said.encode()).hexdigest()}"
