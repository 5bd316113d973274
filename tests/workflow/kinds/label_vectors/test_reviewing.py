"""Label vectors: finding the answers that count, and correcting rows by new entries, exactly once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import insert

from db import entries
from db.models import EntryRow
from plcore import AnswerError, Entry, LabelTable, Roles
from plcore.loop.label_vectors.learner import LabelVectorLearner
from plcore.loop.label_vectors.pool import LabelVectorPool
from plcore.loop.label_vectors.settings import LabelVectorSettings
from tests.plcore.loop.fake_vectors import rebuilt
from tests.present import present
from tests.workflow.kinds.label_vectors.test_answering import cells, log
from tests.workflow.log import written
from tests.workflow.vector_world import LABELS, ROLES, answer_truly, vector_frame, vector_project
from tests.workflow.world import annotator, exported, file_of, opened
from workflow.access import NotFound
from workflow.answering import loop, undoing
from workflow.answering.turn import StaleQuestion
from workflow.answering.undoing import own_answers
from workflow.kinds.label_vectors.answering import still_counting
from workflow.kinds.label_vectors.showing import ShownVector
from workflow.log.reading import learner_entry
from workflow.projects import managing
from workflow.projects.standing import Saved
from workflow.rows import reviewing
from workflow.rows.finding import Search
from workflow.seat import Seat
from workflow.server.home import Home, open_home


@pytest.fixture
def one(home: Home, owner: int) -> int:
    """A project that asks about one label at a time."""
    return vector_project(home, owner, question="cell")


@pytest.fixture
def rows(home: Home, owner: int) -> int:
    """A project that asks about whole rows."""
    return vector_project(home, owner, "rows", question="instance")


def say(home: Home, person: int, project: int, kind: str, **more: object) -> tuple[int, str]:
    """Answer the next question about one label in this way; returns its place."""
    asked = present(loop.next_question(Seat(home, person, project)))
    assert asked.label is not None
    loop.submit_answer(Seat(home, person, project), asked.token, kind, **more)  # type: ignore[arg-type]
    return asked.view.row, asked.label


def ask(home: Home, person: int, project: int, row: int, label: str, kind: str, **more: object) -> None:
    asked = loop.ask_next(Seat(home, person, project), row, label)
    loop.submit_answer(Seat(home, person, project), asked.token, kind, **more)  # type: ignore[arg-type]


def open_places(home: Home, owner: int, project: int) -> list[tuple[int, str]]:
    with opened(home, owner, project) as learner:
        return [(int(row), LABELS[column]) for row, column in zip(*np.nonzero(learner.pool.open), strict=True)]


def open_row(home: Home, owner: int, project: int, n: int) -> tuple[int, list[str]]:
    """A row with at least n open labels, and these labels."""
    places = open_places(home, owner, project)
    row = next(row for row, _ in places if sum(other == row for other, _ in places) >= n)
    return row, [label for other, label in places if other == row]


def find(home: Home, person: int, project: int, **search: object) -> list[tuple[int, str, tuple[str, ...]]]:
    found = reviewing.find(Seat(home, person, project), Search(**search))  # type: ignore[arg-type]
    assert found.total == len(found.rows)
    if search.keys() == {"disagrees"}:  # the same lines as those that say so in the whole list
        every = reviewing.find(Seat(home, person, project), Search())
        assert [line.seq for line in found.rows] == [line.seq for line in every.rows if line.differs]
    return [(line.row, line.kind, line.labels) for line in found.rows]


def correct(
    home: Home,
    person: int,
    project: int,
    row: int,
    changes: Mapping[str, int] | None = None,
    kind: str = "labels",
    **more: object,
) -> Saved:
    opened = reviewing.open_row(Seat(home, person, project), row)
    return reviewing.correct(
        Seat(home, person, project), row, opened.token, kind, changes=changes, shown=opened.shown, **more
    )  # type: ignore[arg-type]


def next_of_a_model(home: Home, owner: int, project: int) -> ShownVector:
    """The next question, once there is a model with a prediction for it."""
    loop.next_question(Seat(home, owner, project))
    home.shelf.settle(project)
    asked = present(loop.next_question(Seat(home, owner, project)))
    assert asked.predicted is not None
    return asked


def stands(home: Home, person: int, project: int, row: int) -> dict[str, int]:
    return {line.label: line.cell for line in reviewing.open_row(Seat(home, person, project), row).labels}


# Finding


def test_answers_are_found_by_label_kind_person_flag_and_words(home: Home, owner: int, one: int) -> None:
    ada = annotator(home, owner, "Ada")
    yes = say(home, owner, one, "yes", flagged=True, note="see again")
    no = say(home, ada, one, "no")
    unsure = say(home, ada, one, "unsure")
    say(home, owner, one, "skip")
    out = say(home, owner, one, "bad")
    lines = {
        "bad": (out[0], "bad", ()),
        "unsure": (unsure[0], "unsure", (unsure[1],)),
        "no": (no[0], "no", (no[1],)),
        "yes": (yes[0], "yes", (yes[1],)),
    }
    assert find(home, owner, one) == list(lines.values()), "the newest first; a skip says nothing"
    for kind, line in lines.items():
        assert find(home, owner, one, kind=kind) == [line]
    assert find(home, owner, one, flagged=True) == [lines["yes"]]
    assert find(home, owner, one, person_id=ada) == [lines["unsure"], lines["no"]]
    for label in LABELS:
        assert find(home, owner, one, label=label) == [one for one in lines.values() if label in one[2]]
    assert find(home, owner, one, label=yes[1], kind="no", person_id=owner) == []
    assert find(home, owner, one, words=f"R{yes[0]}")[-1] == lines["yes"]
    assert find(home, owner, one, words="no such thing") == []
    (line,) = reviewing.find(Seat(home, owner, one), Search(kind="yes")).rows
    assert (line.note, line.flagged, line.person, line.row_id) == ("see again", True, "owner", f"r{yes[0]}")
    with pytest.raises(ValueError, match="kind must be one of"):
        reviewing.find(Seat(home, owner, one), Search(kind="withdraw"))


def test_whole_row_is_found_by_answer_to_each_label(home: Home, owner: int, rows: int) -> None:
    row, labels = open_row(home, owner, rows, 2)
    asked = loop.ask_next(Seat(home, owner, rows), row)
    right = {line.label for line in asked.lines if line.cell == 1} | {labels[0]}
    loop.submit_answer(Seat(home, owner, rows), asked.token, "labels", sorted(right), shown=asked.shown)
    said = {kind: labels for _, kind, labels in find(home, owner, rows)}
    assert said == {"yes": (labels[0],), "no": tuple(labels[1:])}
    assert find(home, owner, rows, label=labels[0], kind="yes") == [(row, "yes", (labels[0],))]
    assert find(home, owner, rows, label=labels[0], kind="no") == []
    assert find(home, owner, rows, label=labels[1]) == [(row, "no", tuple(labels[1:]))]


def test_withdrawn_or_superseded_answers_are_not_found(home: Home, owner: int, one: int) -> None:
    row, labels = open_row(home, owner, one, 2)
    ask(home, owner, one, row, labels[0], "yes")
    undoing.undo(Seat(home, owner, one))
    assert find(home, owner, one) == []
    ask(home, owner, one, row, labels[0], "yes")
    ada = annotator(home, owner, "Ada")
    ask(home, ada, one, row, labels[1], "unsure")
    correct(home, owner, one, row, {labels[0]: 0, labels[1]: 1})
    assert find(home, owner, one) == [(row, "yes", (labels[1],)), (row, "no", (labels[0],))]
    assert find(home, ada, one) == [(row, "unsure", (labels[1],))], "of what she said, it still is the latest"


def test_disagreement_uses_prediction_at_question_time(home: Home, owner: int, one: int, rows: int) -> None:
    against = {}
    for project in (one, rows):
        loop.next_question(Seat(home, owner, project))
        home.shelf.settle(project)
        for turn in range(8):
            asked = present(loop.next_question(Seat(home, owner, project)))
            assert asked.predicted is not None
            unknown = [line.label for line in asked.lines if line.cell < 0]
            if asked.label is not None:
                kind = asked.predicted if turn % 2 else {"yes": "no", "no": "yes"}[asked.predicted]
                loop.submit_answer(Seat(home, owner, project), asked.token, kind)
                against[project, asked.view.row, asked.label] = kind != asked.predicted
                continue
            known = {line.label for line in asked.lines if line.cell == 1}
            said = set(json.loads(asked.predicted))
            answer = known | (said if turn % 2 else said ^ {unknown[0]})
            loop.submit_answer(Seat(home, owner, project), asked.token, "labels", sorted(answer), shown=asked.shown)
            against |= {(project, asked.view.row, label): turn % 2 == 0 and label == unknown[0] for label in unknown}
        home.shelf.settle(project)
        for label in LABELS:
            wanted = {row for (of, row, name), differs in against.items() if (of, name) == (project, label) and differs}
            lines = find(home, owner, project, label=label, disagrees=True)
            assert {row for row, _, _ in lines} == wanted
    assert any(against.values())
    assert not all(against.values())
    shown = reviewing.find(Seat(home, owner, rows), Search()).rows[0].predicted
    assert shown == "no label" or set((shown or "").split(", ")) <= set(LABELS)


def test_verdict_that_agrees_with_model_does_not_differ(home: Home, owner: int) -> None:
    project = vector_project(home, owner, question="cell", overlap=2, fold="majority")
    asked = next_of_a_model(home, owner, project)
    says = asked.predicted == "yes"
    loop.submit_answer(Seat(home, owner, project), asked.token, "no" if says else "yes")
    row, label = asked.view.row, present(asked.label)
    assert [one[1] for one in find(home, owner, project, disagrees=True)] == ["no" if says else "yes"]
    correct(home, owner, project, row, {label: int(says)})
    verdict = reviewing.find(Seat(home, owner, project), Search()).rows[0]
    assert (verdict.kind, verdict.differs) == ("right" if says else "wrong", False)
    assert verdict.seq not in [
        one.seq for one in reviewing.find(Seat(home, owner, project), Search(disagrees=True)).rows
    ]


def test_after_correction_model_disagrees_with_current_label(home: Home, owner: int, one: int) -> None:
    asked = next_of_a_model(home, owner, one)
    said, row = str(asked.predicted), asked.view.row
    other, value = {"yes": "no", "no": "yes"}[said], {"yes": 1, "no": 0}
    assert asked.label is not None
    loop.submit_answer(Seat(home, owner, one), asked.token, other)
    assert find(home, owner, one, disagrees=True) == [(row, other, (asked.label,))]
    correct(home, owner, one, row, flagged=True)  # stated again
    assert find(home, owner, one, disagrees=True) == [(row, other, (asked.label,))]
    correct(home, owner, one, row, {asked.label: value[said]})
    assert find(home, owner, one, disagrees=True) == []
    unasked = next(label for place, label in open_places(home, owner, one) if place == row)
    correct(home, owner, one, row, {asked.label: value[other], unasked: value[other]})
    assert find(home, owner, one, disagrees=True, label=asked.label)
    assert find(home, owner, one, disagrees=True, label=unasked) == [], "of it the model was never asked"
    line = reviewing.open_row(Seat(home, owner, one), row).history[-1]
    assert line.predicted == (asked.label if said == "yes" else "no label")


def test_corrected_row_is_compared_label_by_label(home: Home, owner: int, rows: int) -> None:
    asked = next_of_a_model(home, owner, rows)
    row, first, second, *_ = asked.view.row, *[line.label for line in asked.lines if line.cell < 0]
    known = {line.label for line in asked.lines if line.cell == 1}
    said = set(json.loads(str(asked.predicted)))
    answer = sorted((known | said) ^ {first, second})
    loop.submit_answer(Seat(home, owner, rows), asked.token, "labels", answer, shown=asked.shown)

    def against(label: str) -> list[tuple[int, str, tuple[str, ...]]]:
        return find(home, owner, rows, disagrees=True, label=label)

    assert against(first)
    assert against(second)
    correct(home, owner, rows, row, {first: int(first in said)})
    assert against(first) == []
    assert against(second), "no one has corrected that one"
    correct(home, owner, rows, row, {first: int(first not in said), second: -1})
    assert against(first)
    assert {one for line in find(home, owner, rows, disagrees=True) for one in line[2]} >= {first}
    assert against(second) == []
    correct(home, owner, rows, row, {first: int(first in said)})
    assert find(home, owner, rows, disagrees=True) == []


def test_corrected_label_of_file_is_no_disagreement(home: Home, owner: int, rows: int) -> None:
    next_of_a_model(home, owner, rows)
    with opened(home, owner, rows) as learner:
        mixed = learner.pool.open.any(axis=1) & (learner.original == 0).any(axis=1)
        row = int(np.flatnonzero(mixed)[0])
        given = LABELS[int(np.flatnonzero(learner.original[row] == 0)[0])]
    answer_truly(home, owner, rows, loop.ask_next(Seat(home, owner, rows), row))
    correct(home, owner, rows, row, {given: 1})
    assert find(home, owner, rows, label=given) == [(row, "yes", (given,))]
    assert find(home, owner, rows, label=given, disagrees=True) == []


def test_found_answers_are_paged(home: Home, owner: int) -> None:
    project = vector_project(home, owner, question="cell", refresh_every=500)
    asked = [say(home, owner, project, "no") for _ in range(53)]
    first, second = (reviewing.find(Seat(home, owner, project), Search(), page) for page in (0, 1))
    assert (first.total, first.pages, len(first.rows), len(second.rows)) == (53, 2, 50, 3)
    lines = [*first.rows, *second.rows]
    assert [(line.row, *line.labels) for line in lines] == asked[::-1]
    assert reviewing.find(Seat(home, owner, project), Search(), 9).page == 1


def test_counting_answers_match_fold() -> None:
    random = np.random.default_rng(3)
    table = LabelTable.from_cells(vector_frame(), ROLES)
    for _ in range(60):
        pool = LabelVectorPool(table, LabelVectorSettings(test_share=0.0))
        for seq in range(1, int(random.integers(2, 14))):
            kind = str(random.choice(["yes", "no", "bad", "unsure", "skip"], p=[0.35, 0.3, 0.1, 0.15, 0.1]))
            most = {"yes": 3, "no": 3, "bad": 0}.get(kind, 1)
            labels = random.permutation(LABELS)[: random.integers(min(most, kind in ("yes", "no")), most + 1)]
            pool.apply(Entry(seq, kind, 20, str(random.integers(2)), tuple(map(str, labels))))
        entries_ = pool.fold.entries(20)
        folded, still = pool.fold.fold(20), still_counting(pool, 20, entries_)
        by_seq = {one.seq: one for one in entries_}
        if folded.out:
            assert folded.answer is not None
            assert still == {folded.answer.seq: ()}
            continue
        setting = {(seq, label) for seq, labels in still.items() for label in labels}
        assert {place for place in setting if by_seq[place[0]].kind != "unsure"} == {
            (int(seq), label) for label, seq in zip(LABELS, folded.seqs, strict=True) if seq
        }
        for one in entries_:
            if one.kind == "unsure":
                place = one.labels[0] if one.labels else None
                unknown = folded.cells[pool.fold.columns(one.labels) or slice(None)] == -1
                waits = (20, place) in pool.standings.unsure(one.annotator) and bool(unknown.any())
                newest = max(
                    other.seq
                    for other in entries_
                    if (other.kind, other.annotator, other.labels) == ("unsure", one.annotator, one.labels)
                )
                assert (one.seq in still) == (waits and one.seq == newest)


def test_annotator_finds_own_answers_only(home: Home, owner: int, one: int) -> None:
    ada = annotator(home, owner, "Ada")
    row, labels = open_row(home, owner, one, 2)
    ask(home, ada, one, row, labels[0], "yes")
    ask(home, owner, one, row, labels[1], "no")
    other = say(home, owner, one, "yes")
    assert find(home, ada, one) == [(row, "yes", (labels[0],))]
    assert find(home, ada, one, person_id=owner) == [(row, "yes", (labels[0],))]
    with pytest.raises(NotFound):
        reviewing.open_row(Seat(home, ada, one), other[0] if other[0] != row else (row + 1) % 40)
    opened = reviewing.open_row(Seat(home, ada, one), row)
    assert [told.person for told in opened.history] == ["Ada"]
    assert {line.label: line.person for line in opened.labels if line.person} == {labels[0]: "Ada"}
    assert {line.label for line in opened.labels if line.may_forget} == {labels[0]}
    assert len(reviewing.open_row(Seat(home, owner, one), row).history) == 2
    with pytest.raises(NotFound):
        reviewing.open_row(Seat(home, owner, one), 40)


# Correcting


def test_correction_adds_entries_and_updates_learner(home: Home, owner: int, one: int) -> None:
    ada = annotator(home, owner, "Ada")
    row, labels = open_row(home, owner, one, 3)
    first, second, third = labels[:3]
    ask(home, ada, one, row, first, "yes")
    before = log(home, one)
    saved = correct(home, owner, one, row, {first: 0, second: 1}, note=" wrong ", flagged=True)
    now = log(home, one)
    assert now[:1] == before, "nothing of the past changes"
    assert [(e.kind, e.labels, e.before, e.after) for e in now[1:]] == [
        ("no", (first,), ("1",), ("0",)),
        ("yes", (second,), ("",), ("1",)),
    ]
    assert {(e.person_id, e.note, e.flagged, e.strategy, e.label) for e in now[1:]} == {
        (owner, "wrong", True, "review", None)
    }
    assert (saved.seq, saved.repeated, saved.kind) == (3, False, "yes")
    line = cells(home, owner, one)[row]
    assert [line[LABELS.index(name)] for name in (first, second, third)] == [0, 1, -1]
    opened = reviewing.open_row(Seat(home, owner, one), row)
    assert [(told.person, told.kind, told.before, told.after) for told in opened.history] == [
        ("Ada", "yes", ("not known",), ("yes",)),
        ("owner", "no", ("yes",), ("no",)),
        ("owner", "yes", ("not known",), ("yes",)),
    ]
    assert opened.flagged
    assert undoing.undo(Seat(home, owner, one)) is not None
    assert stands(home, owner, one, row)[first] == 1, "one press, one undo"
    assert stands(home, owner, one, row)[second] == -1
    assert undoing.redo(Seat(home, owner, one)) is not None
    assert stands(home, owner, one, row)[first] == 0


def test_label_made_unknown_is_asked_again(home: Home, owner: int, one: int) -> None:
    ada = annotator(home, owner, "Ada")
    row, labels = open_row(home, owner, one, 2)
    before = cells(home, owner, one)
    ask(home, ada, one, row, labels[0], "yes")
    opened = reviewing.open_row(Seat(home, owner, one), row)
    made = [
        reviewing.correct(
            Seat(home, owner, one), row, opened.token, "labels", changes={labels[0]: -1}, shown=opened.shown
        )
        for _ in range(3)
    ]
    assert [one.repeated for one in made] == [False, True, True]
    assert [e.kind for e in log(home, one)] == ["yes", "withdraw"]
    assert cells(home, owner, one).tolist() == before.tolist()
    assert (row, labels[0]) in open_places(home, owner, one)
    assert find(home, owner, one) == []
    opened = reviewing.open_row(Seat(home, owner, one), row)
    assert not opened.may_correct, "no one has an answer there any more"
    assert [(told.kind, told.labels, told.taken_back) for told in opened.history] == [
        ("yes", (labels[0],), True),
        ("withdraw", (labels[0],), False),
    ]
    ask(home, ada, one, row, labels[0], "no")
    assert cells(home, owner, one)[row, LABELS.index(labels[0])] == 0


def test_correction_repeats_other_labels_of_same_answer(home: Home, owner: int, rows: int) -> None:
    row, labels = open_row(home, owner, rows, 3)
    asked = loop.ask_next(Seat(home, owner, rows), row)
    known = {line.label for line in asked.lines if line.cell == 1}
    loop.submit_answer(Seat(home, owner, rows), asked.token, "labels", sorted(known | set(labels[:2])))
    before = stands(home, owner, rows, row)
    correct(home, owner, rows, row, {labels[0]: -1, labels[2]: 1})
    assert stands(home, owner, rows, row) == before | {labels[0]: -1, labels[2]: 1}
    rest = [label for label in labels if label not in (labels[0], labels[2])]
    entry = log(home, rows)[-1]
    assert entry.kind == "yes"
    assert set(entry.labels) == {label for label in rest if before[label] == 1} | {labels[2]}
    assert find(home, owner, rows, label=labels[0]) == []


def test_only_answered_labels_can_become_unknown(home: Home, owner: int, rows: int) -> None:
    with opened(home, owner, rows) as learner:
        mixed = learner.pool.open.any(axis=1) & (learner.original == 1).any(axis=1)
        row = int(np.flatnonzero(mixed)[0])
        given = LABELS[int(np.flatnonzero(learner.original[row] == 1)[0])]
    answer_truly(home, owner, rows, loop.ask_next(Seat(home, owner, rows), row))
    correct(home, owner, rows, row, {given: 0})
    with pytest.raises(AnswerError, match="cannot be reset to unknown"):
        correct(home, owner, rows, row, {given: -1})
    assert stands(home, owner, rows, row)[given] == 0
    assert not next(
        line.may_forget for line in reviewing.open_row(Seat(home, owner, rows), row).labels if line.label == given
    )


def test_annotator_may_overrule_but_only_owner_withdraws(home: Home, owner: int, one: int) -> None:
    ada, bob = annotator(home, owner, "Ada"), annotator(home, owner, "Bob")
    row, labels = open_row(home, owner, one, 2)
    ask(home, ada, one, row, labels[0], "yes")
    ask(home, bob, one, row, labels[1], "yes")
    with pytest.raises(AnswerError, match="only reviewers and the owner"):
        correct(home, ada, one, row, {labels[1]: -1})
    correct(home, ada, one, row, {labels[1]: 0})
    with pytest.raises(AnswerError, match="only reviewers and the owner"):
        correct(home, ada, one, row, {labels[1]: -1})
    correct(home, ada, one, row, {labels[0]: -1})
    correct(home, owner, one, row, {labels[1]: -1})
    assert [stands(home, owner, one, row)[label] for label in labels[:2]] == [-1, -1]


def test_two_tabs_store_one_correction_and_changed_row_is_refused(home: Home, owner: int, one: int) -> None:
    ada = annotator(home, owner, "Ada")
    row, labels = open_row(home, owner, one, 2)
    ask(home, owner, one, row, labels[0], "yes")
    left = right = reviewing.open_row(Seat(home, owner, one), row)
    first = reviewing.correct(
        Seat(home, owner, one), row, left.token, "labels", changes={labels[0]: 0}, shown=left.shown
    )
    again = reviewing.correct(
        Seat(home, owner, one), row, right.token, "labels", changes={labels[0]: 0}, shown=right.shown
    )
    assert (again.seq, first.repeated, again.repeated) == (first.seq, False, True)
    left = reviewing.open_row(Seat(home, owner, one), row)
    ask(home, ada, one, row, labels[1], "no")
    with pytest.raises(StaleQuestion, match="have changed since you opened it"):
        reviewing.correct(Seat(home, owner, one), row, left.token, "labels", changes={labels[0]: 1}, shown=left.shown)
    assert len(log(home, one)) == 3


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("is", {}),
        ("skip", {}),
        ("withdraw", {}),
        ("bad", {"beach": 1}),
        ("labels", {"dodo": 1}),
        ("labels", {"beach": 2}),
    ],
)
def test_invalid_correction_is_refused(home: Home, owner: int, one: int, kind: str, changes: dict[str, int]) -> None:
    row, _ = say(home, owner, one, "no")
    with pytest.raises(AnswerError):
        correct(home, owner, one, row, changes, kind)
    assert len(log(home, one)) == 1


def test_correction_without_labels_repeats_answer(home: Home, owner: int, rows: int) -> None:
    ada = annotator(home, owner, "Ada")
    asked = present(loop.next_question(Seat(home, ada, rows)))
    answer_truly(home, ada, rows, asked)
    row = asked.view.row
    before = stands(home, owner, rows, row)
    correct(home, owner, rows, row, flagged=True)
    assert stands(home, owner, rows, row) == before
    assert {line[0] for line in find(home, owner, rows, flagged=True)} == {row}
    assert find(home, owner, rows, person_id=ada), "hers are there still, for her"
    assert {line.person for line in reviewing.open_row(Seat(home, owner, rows), row).labels if line.person} == {"owner"}
    correct(home, owner, rows, row)
    assert find(home, owner, rows, flagged=True) == []
    assert not reviewing.open_row(Seat(home, owner, rows), row).flagged


def test_correction_without_labels_needs_known_answer(home: Home, owner: int, one: int) -> None:
    row, label = say(home, owner, one, "unsure")
    with pytest.raises(AnswerError, match="name a label"):
        correct(home, owner, one, row)
    correct(home, owner, one, row, {label: 1})
    assert find(home, owner, one) == [(row, "yes", (label,))]


def test_correction_without_change_is_refused(home: Home, owner: int, one: int) -> None:
    row, label = say(home, owner, one, "yes")
    with pytest.raises(AnswerError, match=r"^Every named label has this value already. Fix: name one"):
        correct(home, owner, one, row, {label: 1})
    assert len(log(home, one)) == 1


def test_flag_needs_answer_that_carries_it(home: Home, owner: int, one: int) -> None:
    row, labels = open_row(home, owner, one, 2)
    ask(home, owner, one, row, labels[0], "yes")
    with pytest.raises(AnswerError, match="carries no flag"):
        correct(home, owner, one, row, {labels[0]: -1}, flagged=True)
    assert len(log(home, one)) == 1
    correct(home, owner, one, row, {labels[0]: -1, labels[1]: 0}, flagged=True)
    assert reviewing.open_row(Seat(home, owner, one), row).flagged
    assert find(home, owner, one, flagged=True) == [(row, "no", (labels[1],))]


def test_bad_item_is_asked_again_after_undo(home: Home, owner: int, one: int) -> None:
    ada = annotator(home, owner, "Ada")
    row, labels = open_row(home, owner, one, 2)
    ask(home, ada, one, row, labels[0], "bad")
    assert reviewing.open_row(Seat(home, owner, one), row).out
    correct(home, owner, one, row)
    assert not reviewing.open_row(Seat(home, owner, one), row).out
    ask(home, owner, one, row, labels[0], "bad")
    opened = reviewing.open_row(Seat(home, owner, one), row)
    assert opened.out
    correct(home, owner, one, row, {labels[0]: 1})
    opened = reviewing.open_row(Seat(home, owner, one), row)
    assert not opened.out
    assert [told.kind for told in opened.history] == ["bad", "withdraw", "bad", "yes"]
    correct(home, owner, one, row, {labels[0]: -1})
    assert not reviewing.open_row(Seat(home, owner, one), row).out, (
        "what brought it back is gone, and so is why it went"
    )
    assert [entry.kind for entry in log(home, one)[-2:]] == ["withdraw", "withdraw"]


def test_annotator_restores_bad_row_by_answering(home: Home, owner: int, one: int) -> None:
    ada = annotator(home, owner, "Ada")
    row, labels = open_row(home, owner, one, 2)
    ask(home, ada, one, row, labels[0], "unsure")
    ask(home, owner, one, row, labels[1], "bad")
    with pytest.raises(AnswerError, match="Only reviewers and the owner can withdraw"):
        correct(home, ada, one, row)
    assert len(log(home, one)) == 2
    correct(home, ada, one, row, {labels[0]: 1})
    assert not reviewing.open_row(Seat(home, owner, one), row).out


def test_correction_closes_open_question_about_row(home: Home, owner: int, one: int) -> None:
    row, labels = open_row(home, owner, one, 3)
    ask(home, owner, one, row, labels[0], "yes")
    open_now = loop.ask_next(Seat(home, owner, one), row, labels[1])
    correct(home, owner, one, row, {labels[1]: 1})
    with pytest.raises(StaleQuestion):
        loop.submit_answer(Seat(home, owner, one), open_now.token, "no")
    assert stands(home, owner, one, row)[labels[1]] == 1
    asked = present(loop.next_question(Seat(home, owner, one)))
    correct(home, owner, one, row, {labels[2]: 0})
    if asked.view.row != row:
        still = present(loop.next_question(Seat(home, owner, one)))
        assert still.token == asked.token, "a question about another row stays"


def test_model_learns_correction(home: Home, owner: int) -> None:
    project = vector_project(home, owner, question="cell", refresh_every=1)
    with opened(home, owner, project) as learner:
        free = np.flatnonzero(learner.pool.open[:, 0]).tolist()
    *wrong, other = free[:6]

    def believed() -> tuple[float, float]:
        """Probability of the label in a row without answers: calibrated, and by the regression only."""
        loop.next_question(Seat(home, owner, project))
        home.shelf.settle(project)
        with opened(home, owner, project) as learner:
            assert learner._model is not None
            mean = learner._model._sensing.predict_mean(learner._X[[wrong[0]]])[0, 0]
            return learner.question_for(other, LABELS[0]).probabilities[0], float(mean)

    for row in wrong:
        ask(home, owner, project, row, LABELS[0], "no")
    mistaken = believed()
    for row in wrong:
        correct(home, owner, project, row, {LABELS[0]: 1})
    right = believed()
    for row in wrong:
        correct(home, owner, project, row, {LABELS[0]: -1})
    unknown = believed()
    for low, between, high in zip(mistaken, unknown, right, strict=True):
        assert low + 0.02 < between < high - 0.02
    with opened(home, owner, project) as learner:
        told = [learner_entry(entry) for entry in log(home, project)]
        fresh = rebuilt(learner.table, learner.settings, told)
        assert fresh.cells.tolist() == learner.cells.tolist()
        assert fresh.question_for(other, LABELS[0]) == learner.question_for(other, LABELS[0])


def test_corrections_survive_log_export_and_restart(home: Home, owner: int, rows: int) -> None:
    ada = annotator(home, owner, "Ada")
    changed = []
    for turn in range(4):
        row, labels = open_row(home, owner, rows, 3)
        answer_truly(home, ada, rows, loop.ask_next(Seat(home, ada, rows), row))
        before = stands(home, owner, rows, row)
        changes = [
            {labels[0]: 1 - before[labels[0]]},
            {labels[0]: -1},
            {labels[0]: 1 - before[labels[0]], labels[1]: -1},
            {},
        ][turn]
        correct(home, owner, rows, row, changes, "labels" if turn < 3 else "bad", flagged=turn == 0)
        changed.append((row, before | changes))
    now = cells(home, owner, rows)
    for row, wanted in changed:
        assert dict(zip(LABELS, now[row].tolist(), strict=True)) == wanted
    read = written.read_log(file_of(Seat(home, owner, rows), "log"), rows)
    assert [replace(line.entry, person_id=0) for line in read] == [
        replace(entry, person_id=0) for entry in log(home, rows)
    ]
    people = {"owner": owner, "Ada": ada}
    with opened(home, owner, rows) as learner:
        fresh = LabelVectorLearner(learner.table, learner.settings)
        for line in read:
            fresh.apply(learner_entry(replace(line.entry, person_id=people[line.annotator])))
        assert fresh.cells.tolist() == now.tolist()
        assert fresh.progress().by_kind == learner.progress().by_kind
        out = learner.pool.bad.copy()
    wide = exported(home, owner, rows)
    again = LabelTable.from_cells(wide[[*ROLES.numbers, "id", *LABELS]], ROLES)
    assert again.label_vectors is not None
    assert again.label_vectors[~out].tolist() == now[~out].tolist()
    assert (again.label_vectors[out] == -1).all()
    other = open_home(home.settings)
    try:
        assert cells(other, owner, rows).tolist() == now.tolist()
        for row, _ in changed:
            assert reviewing.open_row(Seat(other, owner, rows), row) == reviewing.open_row(Seat(home, owner, rows), row)
    finally:
        other.close()


@pytest.mark.slow
def test_long_log_is_searched_quickly(home: Home, owner: int) -> None:
    n, labels = 100, 5
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": random.normal(size=n).round(3)})
    frame[[f"l{k}" for k in range(labels)]] = ""
    names = tuple(f"l{k}" for k in range(labels))
    table = LabelTable.from_cells(frame.astype("str"), Roles(label_columns=names, label_vectors=True, numbers=("x",)))
    project = managing.create_project(
        Seat(home, owner), "long", table, LabelVectorSettings(question="cell", refresh_every=10**6)
    )
    told = [
        {
            "project_id": project,
            "seq": place + 1,
            "kind": "yes" if place % 3 == 0 else "no",
            "row": place // labels,
            "label": names[place % labels],
            "labels": [names[place % labels]],
            "person_id": owner,
            "token": f"t{place}",
            "revision": 0,
            "model_version": 0,
            "before": [""],
            "after": ["1"],
            "at": datetime.now(UTC),
            "predicted": "yes",
            "flagged": place % 7 == 0,
        }
        for place in range(n * labels)
    ]
    with home.database.write() as session:
        session.execute(insert(EntryRow), told)
    reviewing.find(Seat(home, owner, project), Search())
    every = reviewing.find(Seat(home, owner, project), Search())
    some = reviewing.find(Seat(home, owner, project), Search(label="l1", disagrees=True, flagged=True))
    assert every.total == n * labels
    assert some.total == sum(place % labels == 1 and place % 7 == 0 and place % 3 != 0 for place in range(n * labels))


def test_correction_of_several_labels_is_atomic(
    home: Home, owner: int, one: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    row, labels = open_row(home, owner, one, 3)
    for label in labels[:3]:
        ask(home, owner, one, row, label, "yes")
    append, calls = entries.append, []

    def breaking(session: object, new: entries.NewEntry, after: int | None = None) -> entries.LogEntry:
        calls.append(new.kind)
        if len(calls) > 2:
            raise KeyboardInterrupt
        return append(session, new, after)  # type: ignore[arg-type]

    monkeypatch.setattr(entries, "append", breaking)
    with pytest.raises(KeyboardInterrupt):
        correct(home, owner, one, row, {labels[0]: -1, labels[1]: -1, labels[2]: 0})
    monkeypatch.undo()
    assert calls == ["withdraw", "withdraw", "no"]
    assert len(log(home, one)) == 3
    assert [stands(home, owner, one, row)[label] for label in labels[:3]] == [1, 1, 1]


def test_redo_does_not_restore_answer_withdrawn_by_owner(home: Home, owner: int, one: int) -> None:
    ada = annotator(home, owner, "Ada")
    row, label = say(home, ada, one, "yes")
    seq = log(home, one)[-1].seq
    correct(home, owner, one, row, {label: -1})
    with Seat(home, ada, one).learner() as found:
        (given,) = own_answers(found)
    assert given.withdrawal is not None
    assert not given.redoable
    assert undoing.redo(Seat(home, ada, one)) is None
    with pytest.raises(StaleQuestion, match="Someone else withdrew that answer"):
        undoing.redo(Seat(home, ada, one), seq=seq)
    assert stands(home, owner, one, row)[label] == -1


def test_correction_with_withdrawals_cannot_be_undone(home: Home, owner: int, rows: int) -> None:
    ada = annotator(home, owner, "Ada")
    row, labels = open_row(home, owner, rows, 3)
    asked = loop.ask_next(Seat(home, ada, rows), row)
    loop.submit_answer(Seat(home, ada, rows), asked.token, "labels", labels, shown=asked.shown)
    correct(home, owner, rows, row, {labels[0]: -1})
    before, stored = stands(home, owner, rows, row), len(log(home, rows))
    with pytest.raises(StaleQuestion, match="reset labels to unknown"):
        undoing.undo(Seat(home, owner, rows))
    assert stands(home, owner, rows, row) == before
    assert len(log(home, rows)) == stored
    correct(home, owner, rows, row, {labels[1]: 0})
    undoing.undo(Seat(home, owner, rows))
    assert stands(home, owner, rows, row) == before, "a correction that took nothing back is undone as ever"
