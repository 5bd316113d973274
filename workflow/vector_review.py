"""Review of label vectors: find answers that count, and look at a row with how each label stands and all that was said.

As `workflow.review`, with what both share in `workflow.answered`. Correcting: `workflow.vector_correcting`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from db import entries
from db import review as found_in
from workflow import access
from workflow.answered import (
    PAGE,
    ReviewList,
    Search,
    Told,
    check_row,
    checked_kinds,
    found_line,
    inside,
    names_of,
    rows_holding,
    taken_back,
    told_about,
    told_line,
)
from workflow.correcting import may_correct
from workflow.rows import RowView, row_view
from workflow.turns import question_token
from workflow.vector_correcting import forgettable, model_said, row_stamp, still_said

if TYPE_CHECKING:
    from workflow.home import Home

CELL_WORDS = {1: "yes", 0: "no", -1: "not known"}
"""How a label of a row stands."""


@dataclass(frozen=True)
class LabelStand:
    """A label of a row. cell, imported : 1 yes, 0 no, -1 not known; now and in the file

    person : who said so, "" where nobody did, or somebody whose answers are not for this person to see
    may_forget : this person may make it not known again
    """

    label: str
    cell: int
    imported: int
    person: str
    may_forget: bool


@dataclass(frozen=True)
class VectorRowReview:
    """A row opened. token, shown : for a correction      labels : in the order of the project

    out : it is a bad item now      flagged : by an answer that counts
    """

    view: RowView
    token: str
    shown: str
    labels: tuple[LabelStand, ...]
    out: bool
    history: tuple[Told, ...]
    may_correct: bool
    flagged: bool


def find(home: Home, person_id: int, project_id: int, search: Search, page: int = 0) -> ReviewList:
    """The answers that fit and count (see `vector_correcting.still_said`), each with the labels that stand as it said;
    an annotator finds their own alone, and whether one counts is then judged by their own.

    Raises
    ------
    NotAllowed, NotFound, WrongKind
    """
    with home.database.read() as session:
        person = access.require_person(session, person_id)
        whose = search.person_id if person.is_owner else person.id
        wanted = found_in.Wanted(
            kinds=checked_kinds(search),
            person_id=whose,
            labels=() if search.label is None else (search.label,),
            flagged=search.flagged,
            every=True,
        )
        places = found_in.places(session, project_id, wanted)
    with home.learners.open_vectors(home, person_id, project_id) as learner:
        table, pool = learner.table, learner.pool
        # What is told, and no more, while nobody else can be asked or answer.
        told = {row: pool.fold.entries(row) for row in {row for _, row in places}}
    if whose is not None:
        told = {row: [one for one in lines if one.annotator == str(whose)] for row, lines in told.items()}
    still = {row: still_said(pool, row, lines) for row, lines in told.items()}
    found = {
        (seq, row): still[row][seq]
        for seq, row in places
        if seq in still[row] and (search.label is None or search.label in still[row][seq])
    }
    if words := search.words.lower().split():
        holds = rows_holding(table, words)
        found = {place: labels for place, labels in found.items() if holds[place[1]]}
    with home.database.read() as session:
        if search.disagrees:
            answers = found_in.page(session, project_id, wanted, 0, len(places))
            said = {(one.seq, one.row): (one.kind, model_said(one)) for one in answers}
            found = {
                place: labels
                for place, labels in found.items()
                if place in said and _disagrees(*said[place], labels, search.label)
            }
        page = inside(page, len(found))
        labels_of = {seq: labels for (seq, _), labels in list(found.items())[page * PAGE : (page + 1) * PAGE]}
        answers = found_in.with_seqs(session, project_id, list(labels_of))
        names = names_of(session)
    rows = tuple(found_line(table, names, one, labels_of[one.seq], _said(one)) for one in answers)
    return ReviewList(rows, len(found), page)


def open_row(home: Home, person_id: int, project_id: int, row: int) -> VectorRowReview:
    """The row, how its labels stand, and its whole history; an annotator sees rows they have answered something of, and
    their own part of the history.

    Raises
    ------
    NotFound
        There is no such row, or it is none of this person's.
    NotAllowed, WrongKind
    """
    with home.learners.open_vectors(home, person_id, project_id) as learner:
        check_row(learner.table, row)
        table, pool = learner.table, learner.pool
        with home.database.read() as session:
            person = access.require_person(session, person_id)
            told, visible = told_about(session, project_id, row, person)
            names = names_of(session)
            revision = entries.count_for(session, project_id, person_id, row)
        now, free = pool.fold.fold(row), forgettable(pool, row, person)
        still = still_said(pool, row, pool.fold.entries(row))
        out, shown = bool(pool.bad[row]), row_stamp(pool, row)
    gone, by_seq = taken_back(told), {one.seq: one for one in told}
    seen = {one.seq: names.get(one.person_id, "") for one in visible}
    return VectorRowReview(
        view=row_view(table, row),
        token=question_token(person_id, row, revision),
        shown=shown,
        labels=tuple(
            LabelStand(label, cell, imported, seen.get(seq, ""), label in free)
            for label, cell, imported, seq in zip(
                pool.classes, now.cells.tolist(), pool.original[row].tolist(), now.seqs.tolist(), strict=True
            )
        ),
        out=out,
        history=tuple(
            told_line(
                names,
                one,
                about := one.labels if one.target_seq is None else by_seq[one.target_seq].labels,
                _stood(about, one.before),
                _stood(about, one.after),
                _said(one),
                taken_back=one.seq in gone,
            )
            for one in visible
        ),
        may_correct=may_correct(told, person),
        flagged=any(one.flagged and one.seq in still for one in told),
    )


def _disagrees(kind: str, said: Mapping[str, str], labels: Sequence[str], label: str | None) -> bool:
    """Whether the model had said otherwise, when it was asked, of this label, or of one that stands as answered.

    kind : of the answer      said : by the model      labels : those that stand as the answer said
    """
    return any(said.get(name, kind) != kind for name in labels if label in (None, name))


def _said(one: entries.Entry) -> str | None:
    """What the model said of the label asked about, or which of several labels it took for right."""
    if one.predicted is None or one.label is not None:
        return one.predicted
    said = json.loads(one.predicted)
    right = [label for label, word in said.items() if word == "yes"] if isinstance(said, dict) else said
    return ", ".join(right) or "no label"


def _stood(labels: Sequence[str], cells: Sequence[str]) -> tuple[str, ...]:
    """Stored cells in words: one word where all labels stood alike."""
    if not labels:
        return ("taken out",) if cells else ()
    words = [CELL_WORDS[int(cell or -1)] for cell in cells]
    if len(set(words)) == 1:
        return (words[0],)
    return tuple(f"{label}: {word}" for label, word in zip(labels, words, strict=True))
