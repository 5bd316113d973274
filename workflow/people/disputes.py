"""Disputes: rows with conflicting answers, and the verdicts by which reviewers settle them.

A row is in dispute if at least two people have finished with it and left different labels, or only some of them call it
a bad item, and there is no verdict. A verdict is an entry of its own kind. It ends the dispute whatever is answered
later: no one is asked about the row any more, and all answers stay in the log. If the verdict is withdrawn, like any
answer of that person, the dispute is open again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from db import answers, members
from db.entries import LogEntry
from plcore import AnswerError
from plcore.arrays import BoolArray, FloatArray
from plcore.loop import ClassMap, EntryKind, Learner, Place
from plcore.loop.one_label import View
from workflow.access import Right
from workflow.answering.asked import Saved, checked_note
from workflow.answering.history import stored_by
from workflow.answering.turn import StaleQuestion
from workflow.kinds.kind import CandidatePool
from workflow.opened import Opened
from workflow.projects.class_names import names_now
from workflow.rows.finding import check_row, names_of, taken_back
from workflow.rows.row import RowView, row_view
from workflow.seat import Seat

LISTED = 50
"""Disputes that a list names; the rest is only counted."""

NO_MODEL = "There is no model yet. One is trained after the first answers."
BLIND_CHECK = "This row is a blind check: the model is measured on it, so its predictions are not shown here."


@dataclass(frozen=True)
class DisputeLine:
    """A row in dispute. said : the sets of labels that people left, each once, most frequent first; () is a bad item
    times : how many left each of these

    disagreement : 0 to 1, how much people differ      doubt : 0 to 1, of the model; None if it has no prediction
    """

    row: int
    row_id: str
    said: tuple[tuple[str, ...], ...]
    times: tuple[int, ...]
    disagreement: float
    doubt: float | None

    @property
    def worst(self) -> float:
        """Sort key of the list."""
        return self.disagreement * (1.0 if self.doubt is None else self.doubt)


@dataclass(frozen=True)
class DisputeList:
    """The worst of the open disputes, worst first. total, settled : open disputes; rows with a verdict
    several : whether the project collects independent answers      by_row : whether rows have one label"""

    lines: tuple[DisputeLine, ...]
    total: int
    settled: int
    several: bool
    by_row: bool


@dataclass(frozen=True)
class Opinion:
    """One person's labels of the row. labels : the labels they left, by their present names; () for a bad item

    at, seconds, note : of their latest answer
    """

    person: str
    labels: tuple[str, ...]
    at: datetime
    seconds: float | None
    note: str | None


@dataclass(frozen=True)
class NamedNote:
    """Notes on the row."""

    person: str
    at: datetime
    text: str


@dataclass(frozen=True)
class Dispute:
    """A row in dispute, opened.

    token : for the verdict      opinions : each person's answer, in the order they were given
    candidates : possible labels by the file, or by an answer      classes : all that a verdict may name
    shares : {label: share} by the model, among the candidates; empty if not shown, for the reason in `why_not`
    """

    view: RowView
    token: str
    opinions: tuple[Opinion, ...]
    candidates: tuple[str, ...]
    classes: tuple[str, ...]
    shares: dict[str, float]
    why_not: str
    notes: tuple[NamedNote, ...]


def list_disputes(seat: Seat) -> DisputeList:
    """Return the open disputes by disagreement x doubt, worst first, ties by row.

    disagreement : the mean distance of two people, 1 - MASI of what they left (`plcore.crowd.set_distances`), a bad
        item a set of its own
    doubt : 1 - margin, the model's largest share less its second largest, among the possible labels by the file or by
        an answer; 1 if there is no model yet, and on blind checks, which must not depend on it
    """
    with seat.learner(Right.REVIEW) as opened:
        learner = opened.learner
        disputes = opened.kind.DISPUTES
        if disputes is None:
            return DisputeList((), 0, 0, several=False, by_row=False)
        lines = sorted(_lines(learner, disputes(learner)), key=lambda one: (-one.worst, one.row))
        return DisputeList(
            tuple(lines[:LISTED]),
            len(lines),
            int(disputes(learner).by_verdict.sum()),
            several=learner.settings.several,
            by_row=True,
        )


def count_open(seat: Seat) -> int:
    """Count the open disputes. Raises as `list_disputes`."""
    with seat.learner(Right.REVIEW) as opened:
        disputes = opened.kind.DISPUTES
        return 0 if disputes is None else len(disputes(opened.learner).disputed())


def open_dispute(seat: Seat, row: int) -> Dispute | None:
    """Return a row with all of people's answers about it; None if it is not, or no longer, in dispute."""
    with seat.learner(Right.REVIEW) as opened:
        learner, disputes = opened.learner, opened.kind.DISPUTES
        check_row(learner.table, row)
        if disputes is None or row not in disputes(learner).disputed():
            return None
        pool, log = disputes(learner), answers.of_row(opened.session, opened.project_id, row)
        names, views = names_of(opened.session), pool.views(row)
        may_be = pool.first[row] | _allowed(views)
        why_not = _why_no_shares(learner, pool, row)
        shares = {} if why_not else _shares(learner, [row], may_be[None])[0]
        revision = sum(one.person_id == opened.person_id for one in log)
        return Dispute(
            view=row_view(learner.table, row),
            token=opened.kind.make_turn(opened).token(Place(row), revision),
            opinions=tuple(_opinion(pool, names, log, view) for view in views),
            candidates=pool.names(may_be),
            classes=pool.classes,
            shares={} if why_not else {pool.classes[k]: float(shares[k]) for k in np.flatnonzero(may_be)},
            why_not=why_not,
            notes=tuple(
                NamedNote(names.get(one.person_id, ""), one.at, one.text)
                for one in members.dispute_notes_of_row(opened.session, opened.project_id, row)
            ),
        )


def _lines(learner: Any, pool: CandidatePool) -> list[DisputeLine]:
    disputed = pool.disputed()
    rows = sorted(disputed)
    views = {row: [view for view in pool.views(row) if view.over] for row in rows}
    lines = [DisputeLine(row, learner.table.id_of(row), *_said(pool, views[row]), disputed[row], None) for row in rows]
    if not learner.has_model:
        return lines
    asked = [place for place, row in enumerate(rows) if not pool.control_rows[row]]
    if not asked:
        return lines
    inside = np.array([pool.first[rows[place]] | _allowed(views[rows[place]]) for place in asked])
    shares = np.sort(_shares(learner, [rows[place] for place in asked], inside), axis=1)
    margins = shares[:, -1] - shares[:, -2]
    for place, margin in zip(asked, margins.tolist(), strict=True):
        lines[place] = replace(lines[place], doubt=1.0 - margin)
    return lines


def _said(pool: CandidatePool, views: Sequence[View]) -> tuple[tuple[tuple[str, ...], ...], tuple[int, ...]]:
    counts = Counter(pool.names(view.folded.votes) for view in views).most_common()
    return tuple(labels for labels, _ in counts), tuple(times for _, times in counts)


def _opinion(pool: CandidatePool, names: dict[int, str], log: Sequence[LogEntry], view: View) -> Opinion:
    entry = next(one for one in log if one.seq == view.seq)
    labels = pool.names(view.folded.votes)
    return Opinion(names.get(entry.person_id, ""), labels, entry.at, entry.seconds, entry.note)


def _allowed(views: Sequence[View]) -> BoolArray:
    """Return (m,) the labels that any of them left."""
    return np.asarray(np.any([view.folded.votes for view in views], axis=0), dtype=bool)


def _shares(learner: Any, rows: Sequence[int], inside: BoolArray) -> FloatArray:
    found: FloatArray = learner.shares_of(np.array(rows), inside)
    return found


def _why_no_shares(learner: Learner, pool: CandidatePool, row: int) -> str:
    if pool.control_rows[row]:
        return BLIND_CHECK
    return "" if learner.has_model else NO_MODEL


# Reviewers' actions on disputes (`workflow.people.disputes`): verdicts, which are entries of the log, and notes next to
# a row, which are not.


def settle(seat: Seat, row: int, token: str, labels: Sequence[str] = (), note: str | None = None) -> Saved:
    """Give the verdict on a row in dispute, exactly once; one entry of the kind `verdict`.

    token : of the opened row      labels : its classes, one or several; none: a bad item
    If the token was already used, returns the earlier entry with ``repeated`` set and stores nothing.

    Raises
    StaleQuestion : The row is not, or no longer, in dispute, or this person has answered it since it was opened.
    AnswerError : A label is not a class, projects of this kind have no disputes, or the note is too long. Nothing is
        stored.
    """
    note, place = checked_note(note), Place(row)
    with seat.turn(Right.REVIEW) as turn:
        disputes = turn.opened.kind.DISPUTES
        if disputes is None:
            raise AnswerError(
                "Disputes are not listed in this project, whose rows have several labels. Fix: settle them by a "
                "correction on Review."
            )
        check_row(turn.learner.table, row)
        if token != turn.token(place, turn.revision(place)):
            earlier = stored_by(turn.session, turn.project_id, token)
            other = earlier is not None and earlier.kind != EntryKind.VERDICT
            if earlier is None or other or (earlier.person_id, earlier.row) != (turn.person_id, row):
                raise StaleQuestion("You have answered this row again since you opened it. Fix: open it again.")
            return turn.saved(earlier, repeated=True)
        pool = disputes(turn.learner)
        if row not in pool.disputed():
            raise StaleQuestion("People do not disagree on this row, or not any more; the project is as it was.")
        stored = turn.writer(place).write(
            EntryKind.VERDICT,
            names_now(pool.class_map, labels),
            token=token,
            strategy="dispute",
            model_version=turn.learner.model_version,
            predicted=_predicted(turn.opened, pool.class_map, row),
            note=note,
        )
        open_now = turn.open_now()
        if open_now is not None and open_now.row == row:
            turn.close_question()  # the verdict also answers it
        return turn.saved(stored)


def discuss(seat: Seat, row: int, text: str) -> None:
    """Leave a note next to a row, for all reviewers; it is neither an answer nor an entry.

    Raises AnswerError if the note is empty or too long.
    """
    with seat.learner(Right.REVIEW) as opened:
        check_row(opened.learner.table, row)
    said = checked_note(text)
    if said is None:
        raise AnswerError("The note is empty. Fix: write what others should know of this row.")
    with seat.writing(Right.REVIEW) as writing:
        new = members.DisputeNote(row, writing.person.id, datetime.now(UTC), said)
        members.add_dispute_note(writing.session, writing.project.id, new)


def _predicted(opened: Opened[Learner], class_map: ClassMap, row: int) -> str | None:
    """Return the prediction for the row before people answered, by its present name."""
    log = answers.of_row(opened.session, opened.project_id, row)
    withdrawn = taken_back(log)
    said = [one.predicted for one in log if one.predicted is not None and one.seq not in withdrawn]
    return names_now(class_map, said[-1:])[0] if said else None
