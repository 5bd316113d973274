"""Building, training, replaying and describing a project of label vectors."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from db import trained
from plcore import Entry, LabelTable
from plcore.loop.label_vectors import PREDICTOR_ENTRIES, LabelVectorSettings, RefreshJob
from plcore.loop.label_vectors.learner import LabelVectorLearner
from tests.present import present
from tests.workflow.vector_world import (
    LABELS,
    ROLES,
    answer_truly,
    true_labels,
    vector_frame,
    vector_project,
    vector_table,
)
from tests.workflow.world import ROLES as ONE_LABEL_ROLES
from tests.workflow.world import small_frame
from workflow import kinds
from workflow.access import Right
from workflow.answering import loop, oracle
from workflow.kinds import KINDS, is_stored, label_vectors
from workflow.kinds.label_vectors import build, settings, training
from workflow.kinds.label_vectors.build import make_pool
from workflow.kinds.label_vectors.exporting import describe
from workflow.kinds.label_vectors.rows import label_to_ask, named_on_map
from workflow.projects import managing, progress
from workflow.seat import Seat
from workflow.server import shelf
from workflow.server.home import Home
from workflow.server.jobs import FairLock

# Fits of a label vector model in a thread: started when due, adopted and stored, or abandoned


@pytest.fixture
def training_seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner, vector_project(home, owner, refresh_every=1))


def versions(seat: Seat) -> list[int]:
    with seat.learner() as opened:
        key = opened.learner.settings.model_key
    with seat.reading() as reading:
        return [one.version for one in trained.versions(reading.session, reading.project.id, key)]


def test_label_vectors_need_no_worker(training_seat: Seat) -> None:
    with training_seat.reading() as reading:
        project = reading.project
    assert training_seat.kind.WORKER is None
    assert kinds.worker_settings(project) is None
    with pytest.raises(LookupError, match="No worker trains models of label vectors"):
        kinds.make_trainer(training_seat.home, project, ())


def test_fitted_model_is_used_and_stored(training_seat: Seat) -> None:
    training_seat.settle()
    assert versions(training_seat) == [0]
    answer_truly(training_seat.home, training_seat.person_id, training_seat.project_id)
    training_seat.settle()
    with training_seat.learner() as opened:
        seq = opened.learner.seq
        assert opened.learner.version_published == seq
    assert versions(training_seat) == [0, seq]
    assert progress.read_progress(training_seat).curve.model_version.tolist() == [0, seq]


def test_failed_fit_is_reported_until_one_succeeds(training_seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def fail(job: RefreshJob) -> None:
        calls.append(job.seq)
        raise MemoryError("no room")

    monkeypatch.setattr(RefreshJob, "run", fail)
    for _ in range(3):
        training_seat.settle()
    assert calls == [0], "it is not tried again before there is news"
    assert progress.read_progress(training_seat).fault == "no room"
    assert progress.watched(training_seat)[1:] == (-1, "no room")
    assert versions(training_seat) == []
    monkeypatch.undo()
    answer_truly(training_seat.home, training_seat.person_id, training_seat.project_id)
    training_seat.settle()
    assert progress.read_progress(training_seat).fault is None
    assert len(versions(training_seat)) == 1


def test_abandoned_fit_is_neither_used_nor_stored(training_seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on, run = threading.Event(), threading.Event(), RefreshJob.run

    def slow(job: RefreshJob) -> object:
        begun.set()
        assert go_on.wait(60)
        return run(job)

    monkeypatch.setattr(RefreshJob, "run", slow)
    with training_seat.learner() as opened:
        learner = type(opened.learner)(opened.learner.table, opened.learner.settings)
    lock = FairLock()
    made = training.background_training(training_seat.home, training_seat.project_id, learner, lock)
    with lock:
        made.look()
        made.look()  # one fit at a time
    assert begun.wait(60)
    assert made.abandon(), "it is under way"
    go_on.set()
    made.settle()
    assert not made.abandon()
    made.stop()
    assert learner.version_published is None
    begun.clear()
    with lock:
        made.look()
    assert not begun.is_set(), "nothing more is begun"


# Label vectors: the predictor has a name, and no model can be adopted or compared


def test_settings_name_predicting_model() -> None:
    settings = LabelVectorSettings(model="onevsall")
    assert settings.model_in_force == "onevsall"
    assert not settings.is_automatic
    assert kinds.KINDS["label_vectors"].COMPARING is None


def test_label_vectors_cannot_be_compared(home: Home, owner: int) -> None:
    seat, table = Seat(home, owner, vector_project(home, owner)), LabelTable.from_cells(vector_frame(), ROLES)
    with seat.reading() as reading:
        project = reading.project
    with pytest.raises(ValueError, match="'plknn' cannot be adopted"):
        kinds.with_model(project, "plknn", None, automatic=False)
    with pytest.raises(ValueError, match="nothing to compare"):
        kinds.make_comparer(home, project, ())
    with pytest.raises(ValueError, match="nothing to compare"):
        kinds.make_table_comparer(table)
    with pytest.raises(ValueError, match="Labelling runs of label vectors are not replayed"):
        kinds.make_table_replays(table)
    with pytest.raises(ValueError, match="is not estimated for label vectors"):
        kinds.make_random_order(home, project, ())


# The labels of a row, as the log stores them before and after an entry


def test_labels_at_returns_labels_of_entry_or_its_withdrawn_one() -> None:
    pool = make_pool(vector_table(), LabelVectorSettings())
    row, column = (int(part[0]) for part in np.nonzero(pool.open))
    yes = Entry(1, "yes", row, "1", (LABELS[column],))
    assert pool.labels_at(yes) == ("",), "not asked"
    pool.apply(yes)
    assert pool.labels_at(yes) == ("1",)
    no = Entry(2, "no", row, "2", (LABELS[column],))
    assert pool.labels_at(no) == ("1",)
    pool.apply(no)
    assert pool.labels_at(no) == ("0",)
    back = Entry(3, "withdraw", row, "2", target=2)
    assert pool.labels_at(back) == ("0",)
    pool.apply(back)
    assert pool.labels_at(back) == ("1",)


def test_bad_entry_marks_whole_row() -> None:
    pool = make_pool(vector_table(), LabelVectorSettings())
    row = int(pool.open.any(axis=1).argmax())
    bad = Entry(1, "bad", row, "1")
    assert pool.labels_at(bad) == ()
    pool.apply(bad)
    assert pool.labels_at(bad) == ("bad",)
    assert pool.labels_at(Entry(2, "skip", row, "1")) == ("bad",)


def test_labels_at_keeps_order_of_entry() -> None:
    pool = make_pool(vector_table(), LabelVectorSettings())
    row = int((pool.original == 1).sum(axis=1).argmax())
    named = tuple(reversed(LABELS))
    words = ["", "0", "1"]
    assert pool.labels_at(Entry(1, "yes", row, "1", named)) == tuple(
        words[value + 1] for value in reversed(pool.original[row].tolist())
    )


# Rows of label vectors on the map; their tables hide no true labels


def test_answered_and_open_rows_list_right_labels(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner, question="instance"))
    said = answer_truly(home, owner, seat.project_id)
    bad = present(loop.next_question(seat))
    loop.submit_answer(seat, bad.token, "bad")
    with seat.learner() as opened:
        learner = opened.learner
        answered, still_open = learner.pool.answered_rows, learner.pool.open_rows
        assert answered[said.row]
        assert not still_open[[said.row, bad.view.row]].any()
        assert still_open.sum() == learner.pool.n_open
        first, second = learner.pool.labels_shown([said.row, bad.view.row])
        assert set(first) == true_labels(said.row)
        assert second == ()
        known = np.flatnonzero(learner.original[0] == 1)
        assert learner.pool.labels_shown([0]) == (tuple(LABELS[column] for column in known),)
        assert opened.kind.HIDDEN_TRUTH is None
    assert not oracle.can_answer(seat)
    with pytest.raises(oracle.NoTruth):
        oracle.answer_for_me(seat, 1)


def test_map_names_row_by_known_label_else_by_prediction(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner, question="cell"))
    bad = present(loop.next_question(seat))
    loop.submit_answer(seat, bad.token, "bad")
    seat.settle()
    with seat.learner() as opened:
        learner = opened.learner
        rows = np.arange(learner.table.n_rows)
        named, cells = named_on_map(learner, rows.tolist()), learner.cells
        shares, threshold = learner.shares_of(rows)
        for row in rows.tolist():
            right, unknown = np.flatnonzero(cells[row] == 1), cells[row] < 0
            if row == bad.view.row:
                assert (named.classes[row], named.known[row]) == (-1, False)
                assert np.isnan(named.doubt[row])
                continue
            if len(right):
                assert (named.classes[row], named.known[row]) == (right[0], True)
            else:
                likely = np.where(unknown, shares[row], 0.0)
                says = likely.max() > threshold
                assert named.classes[row] == (likely.argmax() if says else -1)
                assert not named.known[row]
            wrong = np.minimum(shares[row], 1 - shares[row])[unknown]
            np.testing.assert_equal(named.doubt[row], wrong.max() if len(wrong) else np.nan)


def test_map_asks_most_doubtful_label_and_no_blind_check(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner, question="cell", control_share=0.4))
    with seat.learner() as opened:
        learner = opened.learner
        free = learner.pool.open & ~learner.pool.control_cells
        assert (learner.pool.open & learner.pool.control_cells).any()
        for row in range(learner.table.n_rows):
            label = label_to_ask(learner, row)
            if label is None:
                assert not free[row].any()
                continue
            assert free[row, LABELS.index(label)]
            if (told := learner.shares_of(np.array([row]))) is not None:
                far = np.abs(told[0][0] - told[1])
                assert far[LABELS.index(label)] == far[free[row]].min()
    whole = Seat(home, owner, vector_project(home, owner, "rows", question="instance"))
    with whole.learner() as opened:
        row = int(np.flatnonzero(opened.learner.pool.open.any(axis=1))[0])
        assert label_to_ask(opened.learner, row) is None


# Making a project of label vectors: default settings, and tables without anything to learn


def table(full: int = 12, n: int = 40) -> LabelTable:
    return LabelTable.from_cells(vector_frame(n, full=full), ROLES)


@pytest.mark.parametrize(("full", "checks"), [(0, 0.08), (12, 0.08), (80, 0.08), (90, 0.0), (120, 0.0)])
def test_blind_checks_if_fewer_than_30_rows_are_held_out(full: int, checks: float) -> None:
    settings = managing.default_settings(table(full, 120))
    assert settings.control_share == checks
    assert settings.test_share == 1 / 3


def test_outlier_in_held_out_row_is_refused_with_its_place(home: Home, owner: int) -> None:
    row = int(np.flatnonzero(LabelVectorLearner(table()).test_rows)[0])
    frame = vector_frame()
    frame.loc[row, "y"] = "1e90"
    with pytest.raises(managing.CannotLearn, match=rf"Row {row + 1}, column 'y': the number is .* Fix: correct"):
        managing.create_project(Seat(home, owner), "far", LabelTable.from_cells(frame, ROLES))
    assert managing.list_projects(Seat(home, owner)) == []
    assert not list(home.tables_dir.iterdir())


def test_table_beyond_memory_is_refused_before_anything_is_stored(
    home: Home, owner: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "machine_memory", lambda: 1000)
    with pytest.raises(managing.CannotLearn, match="40 rows of 4 features need about"):
        managing.create_project(Seat(home, owner), "large", table())
    assert managing.list_projects(Seat(home, owner)) == []
    monkeypatch.setattr(build, "machine_memory", lambda: None)
    managing.create_project(Seat(home, owner), "unknown", table())


def test_machine_memory_is_plausible() -> None:
    memory = shelf.machine_memory()
    assert memory is None or memory > 10**8


# Settings of projects of label vectors: defaults, and settings fixed by blind checks


def test_kind_accepts_label_vector_tables_only() -> None:
    assert settings.fits(LabelTable.from_cells(vector_frame(), ROLES))
    assert not settings.fits(LabelTable.from_frame(small_frame(), ONE_LABEL_ROLES))


def test_vectors_of_needs_label_vector_table() -> None:
    table = LabelTable.from_cells(vector_frame(), ROLES)
    cells = settings.vectors_of(table)
    assert cells.shape == (table.n_rows, len(LABELS))
    assert set(cells.ravel().tolist()) == {-1, 0, 1}
    with pytest.raises(ValueError, match="holds candidates, not label vectors"):
        settings.vectors_of(LabelTable.from_frame(small_frame(), ONE_LABEL_ROLES))


def test_settings_are_stored_under_original_kind_name() -> None:
    stored = LabelVectorSettings().to_json()
    assert (stored["kind"],) == label_vectors.STORED_AS == ("multilabel",)
    assert is_stored(KINDS["label_vectors"], stored)
    assert not is_stored(KINDS["label_vectors"], {})
    assert not is_stored(KINDS["label_vectors"], {"kind": "label_vectors"})
    assert settings.read_settings(stored) == LabelVectorSettings()
    assert set(stored) > settings.DRAWN


@pytest.mark.parametrize(("full", "share"), [(80, 0.08), (90, 0.0)])
def test_blind_checks_if_too_few_rows_can_be_held_out(full: int, share: float) -> None:
    table = LabelTable.from_cells(vector_frame(120, full=full), ROLES)
    assert settings.default_settings(table, 0.08).control_share == share


def test_question_kind_cannot_change_with_blind_checks() -> None:
    rows, labels = LabelVectorSettings(question="instance"), LabelVectorSettings(question="cell")
    assert settings.settle_change(rows, labels) == labels
    settings.settle_change(LabelVectorSettings(question="diagnosis", control_share=0.1), labels)
    for before, after in ((rows, labels), (labels, rows)):
        checked = LabelVectorSettings(question=before.question, control_share=0.1)
        with pytest.raises(ValueError, match="cannot change between whole rows and labels"):
            settings.settle_change(checked, after)


# Card texts of label vectors, against the pool itself


def test_description_reports_known_labels_and_measures(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner, control_share=0.3, question="instance"))
    with seat.learner(Right.OWN) as opened:
        before = describe(opened, kinds.stop_rules(opened.project))
        known = (opened.learner.pool.original >= 0).mean()
        assert before.before == f"{100 * known:.1f}% of the labels of rows known"
        assert before.after == f"{100 * known:.1f}% known"
    for _ in range(10):
        answer_truly(home, owner, seat.project_id or 0)
    seat.settle()
    with seat.learner(Right.OWN) as opened:
        found, pool = describe(opened, kinds.stop_rules(opened.project)), opened.learner.pool
        assert found.after == f"{100 * (pool.cells >= 0).mean():.1f}% known" != before.after
        assert found.blind_checks == int(pool.control_cells.sum())
        assert found.test_rows == int(pool.test_rows.sum())
        control = opened.learner.progress().control
    words = [one.words for one in found.measures]
    assert "Micro F1 on test rows" in words
    assert "Precision of the 1 likeliest label on test rows" in words
    by = {one.words: one for one in found.measures}
    agreement = by["Agreement on blind checks: the model's prediction for a label equals the person's answer"]
    assert control.accuracy is not None
    assert (agreement.value, agreement.n) == (control.accuracy.value, control.cells)
    assert all(0 <= one.low <= one.value <= one.high <= 1 for one in found.measures)
    assert found.model in {one.title for one in PREDICTOR_ENTRIES.values()}
