"""Review of label vectors: find the answers that count, and show a row with the value and history of each label."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from db import answers, entries
from plcore import LabelTable
from plcore.loop import EntryKind
from plcore.loop.label_vectors import SAID, SETTLED, VALUES, LabelVectorLearner
from workflow.answering.history import question_token
from workflow.kinds.label_vectors.answering import forgettable, model_said, row_stamp, seen_by, still_counting
from workflow.log.reading import Vote
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
    from db.answers import SaidEntry
    from workflow.opened import Doors, Opened

Learner = LabelVectorLearner[LabelTable]

STANDS = {1: "yes", 0: "no", -1: "not known"}
"""The words for the value of a label."""


@dataclass(frozen=True)
class LabelStand:
    """A label of a row. cell, imported : 1 yes, 0 no, -1 unknown; now and in the file

    person : who answered it, "" if no one did or this person may not see their answers
    may_forget : whether this person may make it unknown again
    """

    label: str
    cell: int
    imported: int
    person: str
    may_forget: bool


@dataclass(frozen=True, kw_only=True)
class VectorRowReview(OpenedRow):
    """An opened row. labels : all of them, in the order of the project

    shown : identifies the labels that this view showed, for a correction
    """

    shown: str
    labels: tuple[LabelStand, ...]


def find_answers(doors: Doors[Learner], search: Search, page: int, size: int) -> ReviewList:
    """Return the matching answers that still count (see `.correcting.still_counting`), each with the labels that take
    their value from it. Annotators find only their own answers, which are judged as if there were no others."""
    with doors.reading() as reading:
        project_id = reading.project.id
        whose = search.person_id if reading.whose is None else reading.whose
        wanted = answers.Wanted(
            kinds=checked_kinds(search),
            person_id=whose,
            labels=() if search.label is None else (search.label,),
            every=True,
            exact=tuple(VALUES),
            by_kind=True,
        )
        places = answers.places(reading.session, project_id, wanted)
    with doors.learner() as opened:
        table, pool = opened.learner.table, opened.learner.pool
        # The learner is locked, so copy the entries of these rows and do the rest later.
        logs = {row: pool.fold.entries(row) for row in {one.row for one in places}}
    if whose is not None:
        logs = {row: [one for one in log if one.annotator == str(whose)] for row, log in logs.items()}
    counting = {row: still_counting(pool, row, log) for row, log in logs.items()}
    found = {
        one: counting[one.row][one.seq]
        for one in places
        if one.seq in counting[one.row] and (search.label is None or search.label in counting[one.row][one.seq])
    }
    if words := search.words.split():
        holds = rows_holding(table, words)
        found = {place: labels for place, labels in found.items() if holds[place.row]}
    labels_of = {place.seq: labels for place, labels in found.items()}
    with doors.reading() as reading:
        session = reading.session
        against = {place.seq for place in found if place.disagrees}
        # Where questions are about whole rows, all predictions would have to be read.
        if counts_against := search.disagrees or not pool.settings.by_row:
            whole = replace(wanted, disagrees=True, whole=True)
            for one in answers.page(session, project_id, whole, 0, len(places)):
                if one.seq in against and not _disagrees(one.kind, model_said(one), labels_of[one.seq], search.label):
                    against.remove(one.seq)
        judged = [place._replace(disagrees=place.seq in against) for place in found]
        listed, counts = answers.narrowed(judged, search.on)
        page = inside(page, counts.listed, size)
        lines = answers.with_seqs(session, project_id, [one.seq for one in listed[page * size : (page + 1) * size]])
        names = names_of(session)
    return ReviewList(
        rows=tuple(_line(table, names, one, labels_of[one.seq]) for one in lines),
        total=counts.listed,
        page=page,
        flagged=counts.flagged,
        disagreeing=counts.disagreeing if counts_against else None,
        corrected=counts.corrected,
    )


_counted: WeakKeyDictionary[Learner, dict[int | None, tuple[int, int]]] = WeakKeyDictionary()
"""{learner: {`Rights.whose`: (seq of the log's last entry then, number of answers that `find_answers` lists)}}"""


def count_answers(doors: Doors[Learner]) -> int:
    """See `workflow.kinds.Kind`. All answers have to be read for it, so the count is cached until the log grows."""
    with doors.reading() as reading:
        whose = reading.whose
    with doors.learner() as opened:
        seq, known = opened.learner.seq, _counted.setdefault(opened.learner, {})
    if known.get(whose, (-1, 0))[0] != seq:
        known[whose] = seq, find_answers(doors, Search(), 0, 1).total
    return known[whose][1]


def _line(table: LabelTable, names: Mapping[int, str], one: entries.LogEntry, labels: Sequence[str]) -> FoundAnswer:
    differs = _disagrees(one.kind, model_said(one), labels, None)
    return answer_line(table, names, one, tuple(labels), _said(one), differs=differs)


def open_row(opened: Opened[Learner], row: int) -> VectorRowReview:
    """Return the row, the values of its labels, and its whole history. Annotators see only rows they have answered, and
    only their own part of the history.

    Raises NotFound if there is no such row, or the person may not see it.
    """
    table, pool, session, person = opened.learner.table, opened.learner.pool, opened.session, opened.person
    check_row(table, row)
    every, visible = entries_about(session, opened.project_id, row, opened.whose)
    names = names_of(session)
    revision = entries.count_for(session, opened.project_id, person.id, row)
    standing, now = seen_by(opened, row)
    free, counting = forgettable(opened, row), still_counting(pool, row, standing)
    withdrawn, by_seq = taken_back(every), {one.seq: one for one in every}
    seen = {one.seq: names.get(one.person_id, "") for one in visible}
    return VectorRowReview(
        view=row_view(table, row),
        token=question_token(person.id, row, revision),
        shown=row_stamp(now),
        labels=tuple(
            LabelStand(label, cell, imported, seen.get(seq, ""), label in free)
            for label, cell, imported, seq in zip(
                pool.classes, now.cells.tolist(), pool.original[row].tolist(), now.seqs.tolist(), strict=True
            )
        ),
        out=now.out,
        history=tuple(
            history_line(
                names,
                one,
                about := one.labels if one.target_seq is None else by_seq[one.target_seq].labels,
                _stood(about, one.before),
                _stood(about, one.after),
                _said(one),
                taken_back=one.seq in withdrawn,
            )
            for one in visible
        ),
        may_correct=may_correct(every, opened.whose),
        flagged=any(one.flagged and one.seq in counting for one in every),
    )


def _disagrees(kind: str, said: Mapping[str, str], labels: Sequence[str], label: str | None) -> bool:
    """Whether the model's prediction differed from the answer, for this label or any of the answer's labels.

    kind : of the answer      said : {label: "yes" or "no"}, the predictions
    labels : those whose value comes from the answer      label : None: any label
    """
    word = WORDS[VALUES[kind]] if kind in VALUES else ""
    return any(said.get(name, word) != word for name in labels if label in (None, name))


def _said(one: entries.LogEntry) -> str | None:
    """Return the model's prediction at that time in words: for the label asked about, or the labels it took for
    right."""
    if one.predicted is None or one.label is not None:
        return one.predicted
    said = json.loads(one.predicted)
    right = [label for label, word in said.items() if word == "yes"] if isinstance(said, dict) else said
    return ", ".join(right) or "no label"


def _stood(labels: Sequence[str], cells: Sequence[str]) -> tuple[str, ...]:
    """Return the values of labels, as the log stores them, in words; one word if all are the same."""
    if not labels:
        return ("taken out",) if cells else ()
    words = [STANDS[int(cell or -1)] for cell in cells]
    if len(set(words)) == 1:
        return (words[0],)
    return tuple(f"{label}: {word}" for label, word in zip(labels, words, strict=True))


# Each person's answers per label of each row, for figures about annotators.

CHOICES = frozenset(map(str, SAID))
WORDS = {1: str(EntryKind.YES), 0: str(EntryKind.NO)}


def votes_of(learner: LabelVectorLearner[LabelTable], log: Sequence[SaidEntry]) -> list[Vote]:
    """Return the votes, "yes" or "no", of these entries. They are in order, and none is withdrawn."""
    pool = learner.pool
    column = {name: number for number, name in enumerate(pool.classes)}
    last: dict[tuple[int, str, int], tuple[SaidEntry, str | None]] = {}
    verdicts: dict[tuple[int, str], frozenset[str]] = {}
    for one in log:
        if one.kind in SETTLED:
            verdicts |= {(one.row, label): frozenset([WORDS[SETTLED[one.kind]]]) for label in one.labels}
        elif one.kind in SAID:
            said = _predicted(one)
            for label in one.labels:
                last.pop((one.row, label, one.person_id), None)
                last[one.row, label, one.person_id] = one, said.get(label)
    return [
        Vote(
            row=row,
            label=label,
            person_id=person_id,
            names=frozenset([str(one.kind)]),
            choices=CHOICES,
            predicted=predicted,
            check=bool(pool.control_cells[row, column[label]]),
            known=verdicts.get((row, label)),
        )
        for (row, label, person_id), (one, predicted) in last.items()
    ]


def _predicted(one: SaidEntry) -> dict[str, str]:
    """Return {label: "yes" or "no"}, the predictions before the answer. Old entries about whole rows store only the
    right labels."""
    if one.predicted is None:
        return {}
    if one.label:
        return {one.label: one.predicted}
    said = json.loads(one.predicted)
    return said if isinstance(said, dict) else dict.fromkeys(said, "yes")
