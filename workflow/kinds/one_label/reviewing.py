"""Review of rows with candidates: find the answered rows, and show one with all entries about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from db import answers, entries
from plcore import ActiveLearner, LabelTable
from plcore.loop import ClassMap, EntryKind
from plcore.loop.one_label import ANSWERS
from workflow.answering.asked import AskedAs
from workflow.answering.history import SAYS_SOMETHING
from workflow.kinds.one_label.turn import row_token
from workflow.log.reading import Vote
from workflow.projects.class_names import names_now
from workflow.rows.finding import (
    FoundAnswer,
    OpenedRow,
    ReviewList,
    Search,
    answer_line,
    check_row,
    checked_kinds,
    entries_about,
    history_line,
    inside,
    may_correct,
    names_of,
    rows_holding,
    taken_back,
)
from workflow.rows.row import row_view

if TYPE_CHECKING:
    from collections.abc import Iterable

    from db.answers import SaidEntry
    from workflow.opened import Doors, Opened

Learner = ActiveLearner[LabelTable]


@dataclass(frozen=True, kw_only=True)
class RowReview(OpenedRow):
    """An opened row. imported, candidates : its candidates in the file, and now      classes : all of the project"""

    imported: tuple[str, ...]
    candidates: tuple[str, ...]
    classes: tuple[str, ...]


def find_answers(doors: Doors[Learner], search: Search, page: int, size: int) -> ReviewList:
    """Return the matching answered rows; annotators find only their own answers."""
    with doors.learner() as opened:
        table, class_map = opened.learner.table, opened.learner.pool.class_map
    with doors.reading() as reading:
        session, project_id = reading.session, reading.project.id
        names = names_of(session)
        wanted = _wanted(search, reading.whose, class_map)
        if words := search.words.split():
            holds = rows_holding(table, words)
            every = answers.places(session, project_id, answers.unfiltered(wanted))
            listed, counts = answers.narrowed([one for one in every if holds[one.row]], search.on)
            page = inside(page, counts.listed, size)
            seqs = [one.seq for one in listed[page * size : (page + 1) * size]]
            found = answers.with_seqs(session, project_id, seqs)
        else:
            counts = answers.tally(session, project_id, wanted)
            page = inside(page, counts.listed, size)
            found = answers.page(session, project_id, wanted, page * size, size)
    return ReviewList(tuple(_line(table, names, one, class_map) for one in found), counts.listed, page, *counts[1:])


def count_answers(doors: Doors[Learner]) -> int:
    """See `workflow.kinds.Kind`."""
    with doors.reading() as reading:
        return answers.count_rows(reading.session, reading.project.id, SAYS_SOMETHING, reading.whose)


def _line(table: LabelTable, names: Mapping[int, str], one: entries.LogEntry, class_map: ClassMap) -> FoundAnswer:
    labels, predicted = names_now(class_map, one.labels), _said(class_map, one.predicted)
    differs = one.kind == EntryKind.IS and predicted is not None and (predicted,) != labels
    return answer_line(table, names, one, labels, predicted, differs=differs)


def open_row(opened: Opened[Learner], row: int) -> RowReview:
    """Return the row and its whole history. Annotators see only rows they have answered, and only their own part of the
    history.

    Raises NotFound if there is no such row, or the person may not see it.
    """
    learner, session, person = opened.learner, opened.session, opened.person
    check_row(learner.table, row)
    state, class_map = learner.state(row), learner.pool.class_map
    every, visible = entries_about(session, opened.project_id, row, opened.whose)
    names = names_of(session)
    revision = entries.count_for(session, opened.project_id, person.id, row)
    withdrawn = taken_back(every)
    # With independent answers, annotators do not see the result of others' answers.
    alone = opened.whose is not None and learner.settings.several
    pool = learner.pool
    own = pool.fold.view(row, pool.fold.entries(row), str(person.id))
    told = visible if alone else every
    standing = [one for one in told if one.kind in SAYS_SOMETHING and one.seq not in withdrawn]
    return RowReview(
        view=row_view(learner.table, row),
        token=row_token(person.id, row, revision, class_map),
        imported=state.original,
        candidates=pool.names(own.votes) if alone else state.candidates,
        out=own.out if alone else state.bad,
        history=tuple(
            history_line(
                names,
                one,
                names_now(class_map, one.labels),
                names_now(class_map, one.before),
                names_now(class_map, one.after),
                _said(class_map, one.predicted),
                taken_back=one.seq in withdrawn,
                yes_no=names_now(class_map, AskedAs.from_json(one.asked).about if one.asked else ()),
            )
            for one in visible
        ),
        may_correct=may_correct(every, opened.whose),
        classes=class_map.classes,
        flagged=bool(standing) and standing[-1].flagged,
    )


def _wanted(search: Search, whose: int | None, class_map: ClassMap) -> answers.Wanted:
    renamed = {name: now for label in class_map.classes for name in class_map.names_of(label) if name != (now := label)}
    return answers.Wanted(
        exact=(EntryKind.IS,),
        kinds=checked_kinds(search),
        person_id=search.person_id if whose is None else whose,
        labels=class_map.names_of(search.label) if search.label is not None else (),
        flagged=search.flagged,
        disagrees=search.disagrees,
        corrected=search.corrected,
        now=renamed,
    )


def _said(class_map: ClassMap, predicted: str | None) -> str | None:
    return None if predicted is None else names_now(class_map, (predicted,))[0]


# Each person's answers per row, for figures about annotators.


def votes_of(learner: ActiveLearner[LabelTable], log: Sequence[SaidEntry]) -> list[Vote]:
    """Return the votes of these entries, which are in order, none withdrawn. A "bad item" answer is not a vote.

    When answers build on each other, ruling a label out leaves the candidates that others had left.
    """
    pool = learner.pool
    known = pool.class_map.known_names
    called = {name: pool.class_map.now(name) for name in known}
    last: dict[tuple[int, int], SaidEntry] = {}
    verdicts: dict[int, frozenset[str]] = {}
    for one in log:
        if one.kind == EntryKind.VERDICT:
            verdicts[one.row] = _now(one.labels, called)
        elif one.kind in ANSWERS:
            last.pop((one.row, one.person_id), None)
            last[one.row, one.person_id] = one
    found = []
    for (row, person_id), one in last.items():
        whole = one.kind in (EntryKind.IS, EntryKind.AMONG)
        names = _now(one.labels if whole else one.after, called)
        if one.kind == EntryKind.BAD or not names:
            continue
        right = verdicts.get(row)  # never the truth of the table, which is hidden for rows that are asked
        found.append(
            Vote(
                row=row,
                label=None,
                person_id=person_id,
                names=names,
                choices=frozenset(pool.names(pool.first[row])) | names,
                predicted=called.get(one.predicted or ""),
                check=bool(pool.control_rows[row]),
                known=right or None,
            )
        )
    return found


def _now(names: Iterable[str], called: dict[str, str]) -> frozenset[str]:
    """Return the classes by their present names; a withdrawn class is left out."""
    return frozenset(called[name] for name in names if name in called)
