"""Review of rows with candidates: find the rows that have an answer, and look at one with all entries about it."""

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
    HistoryLine,
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
from workflow.rows.row import RowView, row_view

if TYPE_CHECKING:
    from collections.abc import Iterable

    from db.answers import SaidEntry
    from workflow.opened import Doors, Opened

Learner = ActiveLearner[LabelTable]


@dataclass(frozen=True)
class RowReview:
    """An opened row.

    token : of a correction that is made of it      imported, candidates : its candidates in the file, and now
    out : it is a bad item now      flagged : its latest answer carries a flag      classes : all of the project
    """

    view: RowView
    token: str
    imported: tuple[str, ...]
    candidates: tuple[str, ...]
    out: bool
    history: tuple[HistoryLine, ...]
    may_correct: bool
    classes: tuple[str, ...]
    flagged: bool


def find_answers(doors: Doors[Learner], search: Search, page: int, size: int) -> ReviewList:
    """The answered rows that fit; who is no reviewer finds their own answers alone."""
    with doors.learner() as opened:
        table, class_map = opened.learner.table, opened.learner.pool.class_map
    with doors.reading() as reading:
        session, project_id = reading.session, reading.project.id
        names = names_of(session)
        wanted = _wanted(search, reading.whose, class_map)
        if words := search.words.split():
            holds = rows_holding(table, words)
            places = [place for place in answers.places(session, project_id, wanted) if holds[place[1]]]
            total = len(places)
            page = inside(page, total, size)
            on_page = [seq for seq, _ in places[page * size : (page + 1) * size]]
            found = answers.with_seqs(session, project_id, on_page)
        else:
            total = answers.count_reviewed(session, project_id, wanted)
            page = inside(page, total, size)
            found = answers.page(session, project_id, wanted, page * size, size)
    return ReviewList(tuple(_line(table, names, one, class_map) for one in found), total, page)


def _line(
    table: LabelTable, names: Mapping[int, str], one: entries.LogEntry, class_map: ClassMap
) -> FoundAnswer:
    labels, predicted = names_now(class_map, one.labels), _said(class_map, one.predicted)
    differs = one.kind == EntryKind.IS and predicted is not None and (predicted,) != labels
    return answer_line(table, names, one, labels, predicted, differs=differs)


def open_row(opened: Opened[Learner], row: int) -> RowReview:
    """The row and its whole history; who is no reviewer sees rows they have answered, and their own part of it.

    Raises NotFound if there is no such row, or it is none of this person's.
    """
    learner, session, person = opened.learner, opened.session, opened.person
    check_row(learner.table, row)
    state, class_map = learner.state(row), learner.pool.class_map
    every, visible = entries_about(session, opened.project_id, row, opened.whose)
    names = names_of(session)
    revision = entries.count_for(session, opened.project_id, person.id, row)
    withdrawn = taken_back(every)
    # Where people answer for themselves, no one is shown what came of the answers of others.
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
    renamed = {
        name: now
        for label in class_map.classes
        for name in class_map.names_of(label)
        if name != (now := label)
    }
    return answers.Wanted(
        exact=(EntryKind.IS,),
        kinds=checked_kinds(search),
        person_id=search.person_id if whose is None else whose,
        labels=class_map.names_of(search.label) if search.label is not None else (),
        flagged=search.flagged,
        disagrees=search.disagrees,
        now=renamed,
    )


def _said(class_map: ClassMap, predicted: str | None) -> str | None:
    return None if predicted is None else names_now(class_map, (predicted,))[0]


# Answers of each person per row, for figures of people.


def votes_of(learner: ActiveLearner[LabelTable], log: Sequence[SaidEntry]) -> list[Vote]:
    """The votes of these entries, none of them withdrawn, in order. Who says that an item is bad has no vote about it.

    Where one answer follows another, a person who rules something out leaves what others had left before.
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
        right = verdicts.get(row)  # never the truth of the table: of rows that are asked it is hidden
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
    """Classes by their present names; one that was withdrawn is left out."""
    return frozenset(called[name] for name in names if name in called)
