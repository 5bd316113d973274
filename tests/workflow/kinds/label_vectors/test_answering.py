"""The answering loop of label vectors: each kind of answer, exactly once, undo and redo, two people, a restart."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from db import entries, questions
from plcore.loop.label_vectors.model import Refreshed
from plcore.multilabel import RefreshJob
from tests.clocks import ahead
from tests.present import present
from tests.workflow.vector_world import LABELS, answer_truly, true_labels, vector_project
from tests.workflow.world import annotator, count_entries, log, opened, small_project
from workflow.answering import loop, turn, undoing
from workflow.kinds.label_vectors.showing import ShownVector
from workflow.kinds.one_label.showing import ShownQuestion
from workflow.models import training
from workflow.projects import managing, standing
from workflow.seat import Seat
from workflow.server.home import Home, open_home


def cells(home: Home, owner: int, project: int) -> np.ndarray:
    with opened(home, owner, project) as learner:
        return learner.cells


def shown(home: Home, person: int, project: int) -> ShownVector:
    question = present(loop.next_question(Seat(home, person, project)))
    return question


@pytest.fixture
def rows(home: Home, owner: int) -> int:
    """A project that asks about whole rows."""
    return vector_project(home, owner, "rows", question="instance")


@pytest.fixture
def one(home: Home, owner: int) -> int:
    """A project that asks about one label at a time."""
    return vector_project(home, owner, question="cell")


def test_whole_row_answer_stores_yes_and_not(home: Home, owner: int, rows: int) -> None:
    question = shown(home, owner, rows)
    assert question.label is None
    row = question.view.row
    before = cells(home, owner, rows)[row]
    saved = answer_truly(home, owner, rows, question)
    right = true_labels(row)
    log_ = log(home, rows)
    asked = {label for label, cell in zip(LABELS, before, strict=True) if cell < 0}
    said = {entry.kind: set(entry.labels) for entry in log_}
    assert said.get("yes", set()) == right & asked
    assert said.get("no", set()) == asked - right
    assert all(set(entry.before) == {""} for entry in log_)
    assert log_[0].token == question.token
    assert log_[0].seconds is not None
    assert saved.seq == log_[-1].seq
    now = cells(home, owner, rows)[row]
    assert now.tolist() == [int(label in right) for label in LABELS]
    assert len({entry.at for entry in log_}) == 1


def test_whole_row_answer_is_stored_atomically(
    home: Home, owner: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = shown(home, owner, rows)
    right = [label for label in LABELS if label in true_labels(question.view.row)]
    append, calls = entries.append, []

    def breaking(session: object, new: entries.NewEntry, after: int | None = None) -> entries.LogEntry:
        calls.append(new.kind)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return append(session, new, after)  # type: ignore[arg-type]

    some = right or [LABELS[0]]
    monkeypatch.setattr(entries, "append", breaking)
    with pytest.raises(KeyboardInterrupt):
        loop.submit_answer(Seat(home, owner, rows), question.token, "labels", some)
    monkeypatch.undo()
    assert calls == ["no", "yes"]
    assert count_entries(home) == 0
    assert shown(home, owner, rows).token == question.token
    answer_truly(home, owner, rows)


def test_known_labels_of_row_stay_unless_changed(home: Home, owner: int, rows: int) -> None:
    with opened(home, owner, rows) as learner:
        free = learner.pool.open.any(axis=1)
        row = int(np.flatnonzero(free & (learner.original == 1).any(axis=1))[0])
        known = LABELS[int(np.flatnonzero(learner.original[row] == 1)[0])]
    question = loop.ask_next(Seat(home, owner, rows), row)
    loop.submit_answer(Seat(home, owner, rows), question.token, "labels", [])
    (entry,) = log(home, rows)
    assert entry.kind == "no"
    assert known in entry.labels
    assert entry.before[entry.labels.index(known)] == "1"
    assert cells(home, owner, rows)[row].tolist() == [0] * len(LABELS)


@pytest.mark.parametrize("kind", ["yes", "no", "unsure", "skip", "bad"])
def test_single_label_answers_are_stored(home: Home, owner: int, one: int, kind: str) -> None:
    question = shown(home, owner, one)
    assert question.label is not None
    before = cells(home, owner, one)
    saved = loop.submit_answer(Seat(home, owner, one), question.token, kind, note=" why ", flagged=True)
    (entry,) = log(home, one)
    assert (entry.kind, entry.row, entry.label) == (kind, question.view.row, question.label)
    assert entry.labels == (() if kind == "bad" else (question.label,))
    assert (entry.note, entry.flagged, entry.strategy) == ("why", True, question.strategy)
    assert (saved.kind, saved.seq) == (kind, 1)
    now = cells(home, owner, one)
    column = LABELS.index(question.label)
    expected = before.copy()
    if kind in ("yes", "no"):
        expected[question.view.row, column] = int(kind == "yes")
    assert now.tolist() == expected.tolist(), "every other label stays not asked"
    after = shown(home, owner, one)
    assert (after.view.row, after.label) != (question.view.row, question.label)
    if kind == "bad":
        with opened(home, owner, one) as learner:
            assert learner.pool.bad[question.view.row]


def test_invalid_answer_is_refused_and_not_stored(home: Home, owner: int, rows: int, one: int) -> None:
    row, cell = shown(home, owner, rows), shown(home, owner, one)
    wrong: Sequence[tuple[int, str, str, list[str]]] = [
        (rows, row.token, "yes", []),
        (rows, row.token, "no", []),
        (rows, row.token, "bad", [LABELS[0]]),
        (rows, row.token, "labels", ["no such label"]),
        (one, cell.token, "labels", [str(cell.label)]),
        (one, cell.token, "yes", [LABELS[0]]),
        (one, cell.token, "is", [LABELS[0]]),
    ]
    for project, token, kind, labels in wrong:
        with pytest.raises(loop.AnswerError):
            loop.submit_answer(Seat(home, owner, project), token, kind, labels)
    with pytest.raises(loop.StaleQuestion):
        loop.submit_answer(Seat(home, owner, rows), "1.0.99", "labels", [])
    assert count_entries(home) == 0
    assert shown(home, owner, rows).token == row.token
    assert shown(home, owner, one).token == cell.token


def test_token_answers_once(home: Home, owner: int, rows: int, one: int) -> None:
    for project in (rows, one):
        question = shown(home, owner, project)
        first = answer_truly(home, owner, project, question)
        stored = count_entries(home)
        again = answer_truly(home, owner, project, question)
        assert replace(again, denied=()) == replace(first, repeated=True)
        assert not set(again.denied) & set(again.labels), "what it ruled out, to tell it from another answer"
        assert count_entries(home) == stored
    tokens = [entry.token for project in (rows, one) for entry in log(home, project)]
    assert len(set(tokens)) == len(tokens)


def test_token_names_label(home: Home, owner: int, one: int) -> None:
    question = shown(home, owner, one)
    assert question.label is not None
    assert question.token == f"{owner}.{question.view.row}.{LABELS.index(question.label)}.0"


@pytest.mark.parametrize("question", ["instance", "cell"])
def test_eight_presses_at_once_store_one_answer(home: Home, owner: int, question: str) -> None:
    project = vector_project(home, owner, question=question)
    asked = shown(home, owner, project)
    with ThreadPoolExecutor(8) as pool:
        saved = list(pool.map(lambda _: answer_truly(home, owner, project, asked), range(8)))
    assert sum(not one.repeated for one in saved) == 1
    with home.database.read() as session:
        found = entries.with_token(session, project, asked.token)
    assert found is not None
    assert len(log(home, project)) <= 2
    assert {entry.row for entry in log(home, project)} == {asked.view.row}


@pytest.mark.parametrize("question", ["instance", "cell"])
def test_undo_and_redo_restore_labels(home: Home, owner: int, question: str) -> None:
    project = vector_project(home, owner, question=question)
    first = cells(home, owner, project)
    asked = []
    for _ in range(4):
        asked.append(shown(home, owner, project))
        answer_truly(home, owner, project)
    full = cells(home, owner, project)
    parts = len(log(home, project))
    for back in reversed(asked):
        assert undoing.undo(Seat(home, owner, project)) is not None
        now = shown(home, owner, project)
        assert (now.view.row, now.label) == (back.view.row, back.label)
        assert now.token != back.token
    assert len(log(home, project)) == 2 * parts, "what one press stored, one press takes back"
    assert cells(home, owner, project).tolist() == first.tolist()
    assert undoing.undo(Seat(home, owner, project)) is None
    for _ in asked:
        assert undoing.redo(Seat(home, owner, project)) is not None
    assert undoing.redo(Seat(home, owner, project)) is None
    assert cells(home, owner, project).tolist() == full.tolist()
    kinds = [entry.kind for entry in log(home, project)]
    assert kinds[:parts] == kinds[2 * parts :]


def test_redo_is_refused_if_label_was_answered_meanwhile(home: Home, owner: int, one: int) -> None:
    asked = shown(home, owner, one)
    answer_truly(home, owner, one)
    undoing.undo(Seat(home, owner, one))
    ada = annotator(home, owner, "Ada")
    with home.database.write() as session:
        questions.delete_question(session, one, owner)  # the owner closes the tab, and two minutes use
    again = loop.ask_next(Seat(home, ada, one), asked.view.row, asked.label)
    loop.submit_answer(Seat(home, ada, one), again.token, "yes")
    assert standing.standing(Seat(home, owner, one)).redoable is None
    with pytest.raises(loop.StaleQuestion, match="has changed by now"):
        undoing.redo(Seat(home, owner, one), 1)


def test_reserved_label_is_not_given_to_another_person(home: Home, owner: int, one: int) -> None:
    ada = annotator(home, owner, "Ada")
    asked = shown(home, owner, one)
    with pytest.raises(loop.AnswerError, match="Someone else is answering"):
        loop.ask_next(Seat(home, ada, one), asked.view.row, asked.label)
    other = next(
        line.label for line in asked.lines if line.cell < 0 and line.label != asked.label
    )  # another label of the same row is free
    assert loop.ask_next(Seat(home, ada, one), asked.view.row, other).label == other


def two_minutes_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn, "datetime", ahead(timedelta(seconds=121)))


@pytest.mark.parametrize("question", ["instance", "cell"])
def test_late_answer_is_refused_with_its_cause(
    home: Home, owner: int, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The question was given to someone else after two minutes, and then answered by them: two causes, two messages."""
    project = vector_project(home, owner, question=question)
    ada = annotator(home, owner, "Ada")
    asked = shown(home, owner, project)
    with monkeypatch.context() as later:
        two_minutes_later(later)
        given = loop.ask_next(Seat(home, ada, project), asked.view.row, asked.label)
        with pytest.raises(loop.StaleQuestion, match="has this row on their screen now"):
            answer_truly(home, owner, project, asked)
        answer_truly(home, ada, project, given)
    what = "row" if asked.label is None else "label"
    with pytest.raises(loop.StaleQuestion, match=f"Someone else has decided this {what} meanwhile"):
        answer_truly(home, owner, project, asked)
    assert {entry.person_id for entry in log(home, project)} == {ada}
    assert shown(home, owner, project).token != asked.token


def test_answer_to_row_excluded_meanwhile_is_refused(home: Home, owner: int, one: int) -> None:
    ada = annotator(home, owner, "Ada")
    asked = shown(home, owner, one)
    other = next(line.label for line in asked.lines if line.cell < 0 and line.label != asked.label)
    given = loop.ask_next(Seat(home, ada, one), asked.view.row, other)
    loop.submit_answer(Seat(home, ada, one), given.token, "bad")
    with pytest.raises(loop.StaleQuestion, match="decided this label meanwhile, or taken its row out"):
        loop.submit_answer(Seat(home, owner, one), asked.token, "yes")


def test_kind_of_question_can_change_at_any_time(home: Home, owner: int, one: int) -> None:
    assert shown(home, owner, one).label is not None
    managing.change_learner(Seat(home, owner, one), question="instance", criterion="random")
    question = shown(home, owner, one)
    assert question.label is None
    answer_truly(home, owner, one, question)
    assert log(home, one)[0].strategy in ("random", "control")
    with pytest.raises(ValueError, match="fixed when a project is made"):
        managing.change_learner(Seat(home, owner, one), control_share=0.5)
    with pytest.raises(ValueError, match="question must be"):
        managing.change_learner(Seat(home, owner, one), question="all")


def place(question: ShownVector) -> tuple[int, str | None]:
    return question.view.row, question.label


@pytest.mark.parametrize(("first", "then"), [("cell", "instance"), ("instance", "diagnosis")])
def test_question_from_undo_or_queue_stays(home: Home, owner: int, first: str, then: str) -> None:
    project, ada = vector_project(home, owner, question=first), annotator(home, owner, "Ada")
    asked, hers = shown(home, owner, project), shown(home, ada, project)
    answer_truly(home, owner, project, asked)
    managing.change_learner(Seat(home, owner, project), question=then)
    assert place(shown(home, ada, project)) == place(hers), "what she has read is hers to answer"
    assert (shown(home, owner, project).label is None) == (then == "instance")
    undoing.undo(Seat(home, owner, project))
    for _ in range(2):
        assert place(shown(home, owner, project)) == place(asked)
    answer_truly(home, ada, project, hers)
    assert (shown(home, ada, project).label is None) == (then == "instance")
    label = next(line.label for line in asked.lines if line.cell < 0) if then == "instance" else None
    put = loop.ask_next(Seat(home, owner, project), asked.view.row, label)
    assert place(shown(home, owner, project)) == place(put) == (asked.view.row, label)
    answer_truly(home, owner, project, put)
    assert (shown(home, owner, project).label is None) == (then == "instance")


def test_restart_starts_only_due_fit(home: Home, owner: int, one: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(7):
        answer_truly(home, owner, one)
    home.shelf.settle(one)
    fitted: list[int] = []
    run = RefreshJob.run

    def noted(job: RefreshJob) -> Refreshed:
        fitted.append(job.seq)
        return run(job)

    monkeypatch.setattr(RefreshJob, "run", noted)
    again = open_home(home.settings)
    try:
        shown(again, owner, one)
        again.shelf.settle(one)
        with opened(again, owner, one) as learner:
            assert (learner.seq, learner.version_published) == (7, 6)
    finally:
        again.close()
    assert fitted == [6]


def test_log_records_reason_and_prediction(home: Home, owner: int, rows: int) -> None:
    loop.next_question(Seat(home, owner, rows))
    home.shelf.settle(rows)
    question = shown(home, owner, rows)
    assert question.predicted is not None
    answer_truly(home, owner, rows, question)
    entry = log(home, rows)[0]
    assert entry.strategy == "variance"
    assert entry.score == question.score
    assert set(json.loads(entry.predicted or "")) <= set(LABELS)


def test_next_question_works_for_both_kinds(home: Home, owner: int, one: int) -> None:
    plain = small_project(home, owner)
    vector, row = (loop.next_question(Seat(home, owner, project)) for project in (one, plain))
    assert (type(vector), type(row)) == (ShownVector, ShownQuestion)
    with pytest.raises(loop.AnswerError, match="An answer is one of labels, yes, no"):
        loop.submit_answer(Seat(home, owner, one), vector.token, "is", [LABELS[0]])
    with pytest.raises(loop.AnswerError, match="An answer is one of is, among"):
        loop.submit_answer(Seat(home, owner, plain), row.token, "yes")
    assert {summary.name: summary.kind == "label_vectors" for summary in managing.list_projects(Seat(home, owner))} == {
        "small": False,
        "scenes": True,
    }


def test_training_worker_leaves_label_vectors_alone(home: Home, owner: int, one: int) -> None:
    answer_truly(home, owner, one)
    assert one not in [due.project_id for due in training.due(home)]
    assert not training.has_models_to_train(home)


def test_closing_home_ends_fit_under_way(home: Home, owner: int, one: int) -> None:
    loop.next_question(Seat(home, owner, one))
    home.shelf.close()
    names = [thread.name for thread in threading.enumerate()]
    assert f"refresh-{one}" not in names
    answer_truly(home, owner, one)
    answer_truly(home, owner, one)
    answer_truly(home, owner, one)
    loop.next_question(Seat(home, owner, one))
    assert f"refresh-{one}" not in [thread.name for thread in threading.enumerate()], "none begins afterwards"


def test_failed_fit_is_reported_once_and_waits_for_changes(
    home: Home, owner: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = []

    def fail(self: RefreshJob) -> None:
        runs.append(self.seq)
        raise MemoryError

    monkeypatch.setattr(RefreshJob, "run", fail)
    project = vector_project(home, owner, question="cell")
    for _ in range(3):
        assert loop.next_question(Seat(home, owner, project)) is not None
        home.shelf.settle(project)
    assert runs == [0]
    assert home.shelf.fault(project) == "MemoryError"


def test_changed_settings_abandon_running_fit(home: Home, owner: int) -> None:
    project = vector_project(home, owner, question="cell")
    assert loop.next_question(Seat(home, owner, project)) is not None
    earlier = present(home.shelf.slot(project).training)
    managing.change_learner(Seat(home, owner, project), refresh_every=7)
    assert loop.next_question(Seat(home, owner, project)) is not None
    assert home.shelf.slot(project).training is not earlier
    assert earlier._stopped
    home.shelf.settle(project)
    assert home.shelf.fault(project) is None


def test_question_kind_is_fixed_while_blind_checks_exist(home: Home, owner: int) -> None:
    project = vector_project(home, owner, question="cell", control_share=0.2)
    managing.change_learner(Seat(home, owner, project), question="diagnosis")
    with pytest.raises(ValueError, match="between whole rows and labels"):
        managing.change_learner(Seat(home, owner, project), question="instance")
    free = vector_project(home, owner, "free", question="cell")
    managing.change_learner(Seat(home, owner, free), question="instance")


def test_queue_of_labels_in_turn_begins_with_next_question(home: Home, owner: int) -> None:
    project = vector_project(home, owner, question="diagnosis")
    with opened(home, owner, project):
        pass  # the first fit begins
    home.shelf.settle(project)
    for _ in range(8):
        question = present(loop.next_question(Seat(home, owner, project)))
        with opened(home, owner, project) as learner:
            rows, columns, _ = learner.ranking()
            assert (int(rows[0]), learner.classes[int(columns[0])]) == (question.view.row, question.label)
        answer_truly(home, owner, project, question)
        home.shelf.settle(project)
