"""Choosing a model, showing it, and the files of its versions."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from db import entries, trained
from plcore import LabelTable, LearnerSettings
from plcore.evaluation import exact_interval
from plcore.loop import MODEL_ENTRIES, Entry
from plcore.loop.one_label import OneLabelPool, Trainer, Version
from plcore.query import Order
from tests.plcore.loop.fake_table import blobs
from tests.present import present
from tests.workflow.compared import Findings, findings
from tests.workflow.kinds.one_label.test_progress import answer_truly
from tests.workflow.log.written import read_log
from tests.workflow.vector_world import ROLES as VECTOR_ROLES
from tests.workflow.vector_world import vector_frame, vector_project
from tests.workflow.world import (
    ROLES,
    annotator,
    answer_next,
    count_entries,
    file_of,
    full_disk,
    opened,
    small_frame,
    small_project,
)
from workflow.access import NotAllowed
from workflow.answering import undoing
from workflow.models import choosing, showing
from workflow.models import versions as version_files
from workflow.models.choosing import CannotCompare
from workflow.models.comparing import ComparingWorker
from workflow.models.versions import clean, read_footing, read_orders, write_version
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

# Owners choose a model, undo the choice, and have the models compared, here or by a worker


__all__ = ["findings"]


@pytest.fixture
def choosing_project(home: Home, owner: int) -> int:
    return small_project(home, owner, model="automatic")


@pytest.fixture
def choosing_seat(home: Home, owner: int, choosing_project: int) -> Seat:
    return Seat(home, owner, choosing_project)


def test_model_is_chosen_and_returned_to_automatic(choosing_seat: Seat, findings: Findings) -> None:
    findings.parameters = {"clpl": {"C": 10.0}}
    ComparingWorker(choosing_seat.home, "one").look()
    answer_next(choosing_seat.home, choosing_seat.person_id, choosing_seat.project_id or 0)
    choosing.adopt(choosing_seat, "plknn")
    choosing.adopt(choosing_seat, "plknn")
    now = managing.learner_settings(choosing_seat)
    assert (now["model"], now["C"]) == ("plknn", None)
    with opened(choosing_seat.home, choosing_seat.person_id, choosing_seat.project_id or 0) as learner:
        assert not learner.settings.is_trained
        assert learner.pool.answers == 1
        assert learner.progress().accuracy is not None, "it answers at once"
    choosing.back_to_automatic(choosing_seat)
    choosing.back_to_automatic(choosing_seat)
    now = managing.learner_settings(choosing_seat)
    assert (now["model"], now["adopted"]) == ("automatic", "plknn"), "the one in force stays"
    found = [
        (one.before, one.model, one.automatic, one.by_comparison)
        for one in showing.model_story(choosing_seat).adoptions
    ]
    assert found == [("plknn", "clpl", True, True), ("clpl", "plknn", False, False), ("plknn", "plknn", True, False)]
    choosing.adopt(choosing_seat, "clpl")
    assert managing.learner_settings(choosing_seat)["C"] == 10.0, "as the comparison found it"


def test_settings_and_models_page_log_same_change(choosing_seat: Seat, findings: Findings) -> None:
    ComparingWorker(choosing_seat.home, "one").look()
    managing.change_learner(choosing_seat, model="plsvc", C=3.0)
    managing.change_learner(choosing_seat, C=4.0)
    managing.change_learner(choosing_seat, strategy="random")
    managing.change_learner(choosing_seat, model="automatic")
    now = managing.learner_settings(choosing_seat)
    assert (now["model"], now["adopted"], now["C"]) == ("automatic", "plsvc", 4.0)
    story = showing.model_story(choosing_seat)
    assert [(one.model, one.automatic) for one in story.adoptions] == [
        ("clpl", True),
        ("plsvc", False),
        ("plsvc", True),
    ], "no line for a change that brings no other model"
    assert (story.automatic, story.model) == (True, "plsvc")


def test_model_change_is_no_answer(choosing_seat: Seat, findings: Findings) -> None:
    home, owner, project = choosing_seat.home, choosing_seat.person_id, choosing_seat.project_id or 0
    first = answer_next(home, owner, project)
    choosing.adopt(choosing_seat, "clpl")
    undone = present(undoing.undo(choosing_seat))
    assert undone.row == first.row, "undo takes the answer back, not the model"
    assert undoing.undo(choosing_seat) is None
    log = read_log(file_of(choosing_seat, "log"))
    assert [(line.entry.kind, line.entry.labels, line.annotator) for line in log] == [
        ("is", first.labels, "owner"),
        ("model", ("clpl",), "owner"),
        ("withdraw", (), "owner"),
    ]
    changed = log[1].entry
    assert (changed.before, changed.after, changed.row, changed.strategy) == (
        ("plknn",),
        ("clpl",),
        entries.NO_ROW,
        None,
    )
    assert managing.get_project(choosing_seat).answered == 0


def test_unknown_model_is_refused(choosing_seat: Seat) -> None:
    with pytest.raises(ValueError, match="model"):
        choosing.adopt(choosing_seat, "best")
    assert count_entries(choosing_seat.home) == 0


def test_repeated_comparison_request_and_idle_cancel_are_harmless(choosing_seat: Seat) -> None:
    choosing.cancel(choosing_seat)
    choosing.compare_now(choosing_seat)
    choosing.compare_now(choosing_seat)
    with choosing_seat.reading() as reading:
        last = trained.COMPARISONS.latest(reading.session, reading.project.id)
    assert last is not None
    assert last.id == 1
    choosing.cancel(choosing_seat)
    choosing.cancel(choosing_seat)
    assert showing.running_now(choosing_seat) is None


def test_measure_compares_without_storing(choosing_seat: Seat, findings: Findings) -> None:
    told: list[tuple[int, int, str]] = []
    found = choosing.measure(choosing_seat, lambda *step: told.append(step))
    assert found.best == "clpl"
    assert found.rows == 40
    assert told == [(0, 2, "clpl"), (1, 2, "plknn")]
    with choosing_seat.reading() as reading:
        assert trained.COMPARISONS.latest(reading.session, reading.project.id) is None
    assert count_entries(choosing_seat.home) == 0


def test_table_is_measured_by_its_truth(findings: Findings) -> None:
    found = choosing.measure_table(LabelTable.from_frame(small_frame(), ROLES))
    assert (found.rows, found.checks) == (60, 60)


def test_incomparable_project_says_why(home: Home, owner: int, choosing_seat: Seat, findings: Findings) -> None:
    with pytest.raises(CannotCompare, match="nothing to compare"):
        choosing.measure(Seat(home, owner, vector_project(home, owner)))
    with pytest.raises(CannotCompare, match="nothing to compare"):
        choosing.measure_table(LabelTable.from_cells(vector_frame(), VECTOR_ROLES))

    def fail(*_: object) -> None:
        raise ValueError("fewer rows than folds")

    findings.before = fail
    with pytest.raises(CannotCompare, match="cannot be compared: fewer rows than folds"):
        choosing.measure(choosing_seat)


# The models of a project as pages show them


def test_models_have_no_figures_before_first_comparison(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner, model="automatic"))
    view = showing.models_view(seat)
    assert [line.name for line in view.lines] == list(MODEL_ENTRIES)
    assert all(line.figures.kappa is None and not line.best for line in view.lines)
    assert [line.name for line in view.lines if line.in_force] == ["plknn"]
    assert (view.done, view.running, view.failed, view.cancelled) == (None, None, None, False)
    assert (view.story.automatic, view.story.model, view.story.adoptions) == (True, "plknn", ())


def test_best_model_is_listed_first_and_unmeasured_last(home: Home, owner: int, findings: Findings) -> None:
    findings.kappas = {"plsvc": 0.7, "plknn": 0.5, "clpl": 0.71}
    seat = Seat(home, owner, small_project(home, owner, model="automatic"))
    ComparingWorker(home, "one").look()
    view = showing.models_view(seat)
    names = [line.name for line in view.lines]
    assert names[:3] == ["plsvc", "clpl", "plknn"]
    assert sorted(names) == sorted(MODEL_ENTRIES)
    first = view.lines[0]
    assert first.best
    assert first.in_force
    assert (first.figures.kappa, first.figures.seconds) == (0.7, 0.25)
    assert first.interval is not None
    assert first.interval == pytest.approx((0.4186, 0.8588), abs=1e-4), "Wilson's of 34 in 40, beyond chance"
    assert view.lines[-1].interval is None
    assert view.done is not None
    assert (view.done.rows, view.done.checks, view.done.answers, view.done.fault) == (40, 0, 0, None)


def test_model_that_cannot_be_wrong_has_no_interval(home: Home, owner: int, findings: Findings) -> None:
    """As between two replies: every row may be a or b, so that no prediction is outside its candidates."""
    findings.kappas, findings.consistency = {"plsvc": 0.0, "plknn": 0.0}, 1.0
    seat = Seat(home, owner, small_project(home, owner, model="automatic"))
    ComparingWorker(home, "one").look()
    first = showing.models_view(seat).lines[0]
    assert (first.figures.kappa, first.interval) == (0.0, None)


def test_accuracy_by_blind_checks_has_its_interval(home: Home, owner: int, findings: Findings) -> None:
    project = small_project(home, owner, model="automatic", control_share=0.5, test_share=0.0)
    answer_truly(home, owner, project, 45)
    findings.accuracies = {"clpl": 0.75}
    ComparingWorker(home, "one").look()
    view = showing.models_view(Seat(home, owner, project))
    assert view.done is not None
    n = view.done.checks
    assert n >= 10
    low, high = exact_interval(round(0.75 * n), n)
    assert view.lines[0].interval == (float(low), float(high))
    assert view.lines[-1].interval is None


def test_accuracy_of_adopted_model_is_marked_as_optimistic(home: Home, owner: int, findings: Findings) -> None:
    project = small_project(home, owner, model="plknn", control_share=0.5, test_share=0.0)
    seat, worker = Seat(home, owner, project), ComparingWorker(home, "one")
    answer_truly(home, owner, project, 45)
    assert not showing.model_story(seat).by_checks
    choosing.compare_now(seat)
    worker.look()
    assert not showing.model_story(seat).by_checks, "no one has chosen by them"
    choosing.adopt(seat, "clpl")
    assert showing.model_story(seat).by_checks, "by a person who has seen the figures"

    stays = small_project(home, owner, "stays", model="automatic", control_share=0.5, test_share=0.0)
    answer_truly(home, owner, stays, 45)
    findings.kappas = {"plknn": 0.8, "clpl": 0.5}
    worker.look()
    story = showing.model_story(Seat(home, owner, stays))
    assert (story.adoptions, story.by_checks) == ((), True), "the one in force was chosen to stay"


def test_watched_value_changes_with_comparison_or_settings(home: Home, owner: int, findings: Findings) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    seen = [showing.watched(seat)]
    choosing.compare_now(seat)
    seen.append(showing.watched(seat))
    waiting = present(showing.running_now(seat))
    assert (waiting.begun, waiting.total, waiting.fault) == (False, 0, None)
    choosing.cancel(seat)
    seen.append(showing.watched(seat))
    assert showing.models_view(seat).cancelled
    choosing.adopt(seat, "clpl")
    seen.append(showing.watched(seat))
    assert len(set(seen)) == 4
    assert showing.watched(seat) == seen[-1]


def test_annotators_see_model_in_force_but_no_comparison(home: Home, owner: int) -> None:
    project = small_project(home, owner, model="automatic")
    ada = Seat(home, annotator(home, owner, "Ada"), project)
    with pytest.raises(NotAllowed):
        showing.models_view(ada)
    assert showing.model_story(ada).automatic


def test_label_vectors_have_no_models_to_choose(home: Home, owner: int) -> None:
    view = showing.models_view(Seat(home, owner, vector_project(home, owner)))
    assert view.lines == ()
    assert not view.story.models
    assert not view.story.automatic


# Files of model versions: written whole, read again, and cleaned away when they are of no use


@pytest.fixture(scope="module")
def versions() -> list[Version]:
    """Four versions of one project; between the second and the third a row became a bad item."""
    table, y = blobs(n=60, truth="none")
    pool = OneLabelPool(table, LearnerSettings(model="kernelridge"))
    trainer = Trainer(pool)
    rows = [int(row) for row in pool.train if pool.is_open(row)]
    made = [trainer.train()]
    for seq, kind in enumerate(("is", "bad", "is"), 1):
        row = rows[seq]
        pool.apply(Entry(seq, kind, row, "ann", (pool.classes[y[row]],) if kind == "is" else ()))
        made.append(trainer.train())
    return made


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.startswith("rounds-")}


def test_version_file_round_trips(tmp_path: Path, versions: list[Version]) -> None:
    path = tmp_path / "models" / "0.npy"
    version = versions[0]
    assert version.footing is not None
    write_version(path, version)
    np.testing.assert_array_equal(np.load(path), version.scores)
    effects = present(read_orders(path)[0])
    np.testing.assert_array_equal(effects, version.footing.effects)
    read = present(read_footing(path, None))
    name, footing = read
    assert (path.parent / name).exists()
    np.testing.assert_array_equal(footing.labels, version.footing.labels)
    np.testing.assert_array_equal(footing.candidates, version.footing.candidates)
    np.testing.assert_array_equal(footing.rounds.ridge.rows, version.footing.rounds.ridge.rows)


def test_shared_state_of_versions_is_stored_once(tmp_path: Path, versions: list[Version]) -> None:
    for version in versions[:2]:
        write_version(tmp_path / f"{version.number}.npy", version)
    assert len(list(tmp_path.glob("rounds-*.npz"))) == 1
    known = present(read_footing(tmp_path / "0.npy", None))
    again = present(read_footing(tmp_path / "1.npy", known))
    assert again[1].rounds is known[1].rounds
    write_version(tmp_path / "2.npy", versions[2])
    other = present(read_footing(tmp_path / "2.npy", known))
    assert other[0] != known[0]
    assert other[1].rounds is not known[1].rounds
    assert len(list(tmp_path.glob("rounds-*.npz"))) == 2


def test_outdated_versions_are_deleted_with_their_state(tmp_path: Path, versions: list[Version]) -> None:
    for version in versions:
        write_version(tmp_path / f"{version.number}.npy", version)
    clean(tmp_path / "3.npy")
    assert names(tmp_path) == {"2.npy", "2.npz", "3.npy", "3.npz"}
    assert read_footing(tmp_path / "3.npy", None) is not None
    clean(tmp_path / "2.npy")  # of a database that was restored
    assert names(tmp_path) == {"2.npy", "2.npz"}


def test_shared_state_of_newest_version_survives_clock_change(tmp_path: Path, versions: list[Version]) -> None:
    for version in versions:
        write_version(tmp_path / f"{version.number}.npy", version)
        for path in tmp_path.glob("rounds-*.npz"):  # each was written when the clock showed less
            if path.stat().st_mtime > 1e9:
                os.utime(path, (1e9 - version.number, 1e9 - version.number))
    for name in "ab":
        (tmp_path / f"rounds-{name}.npz").touch()  # of removed versions
    clean(tmp_path / "3.npy")
    assert read_footing(tmp_path / "3.npy", None) is not None
    assert not {path.name for path in tmp_path.iterdir()} & {"rounds-a.npz", "rounds-b.npz"}


def test_unreadable_state_does_not_block_cleanup(tmp_path: Path, versions: list[Version]) -> None:
    for version in versions:
        write_version(tmp_path / f"{version.number}.npy", version)
    for damaged in (b"", b"PK", b"other"):
        (tmp_path / "2.npz").write_bytes(damaged)
        clean(tmp_path / "3.npy")
        assert read_footing(tmp_path / "3.npy", None) is not None


def test_oversized_state_is_left_out_except_effects(
    tmp_path: Path, versions: list[Version], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(version_files, "MOST_BYTES", 1000)
    write_version(tmp_path / "0.npy", versions[0])
    assert read_footing(tmp_path / "0.npy", None) is None
    assert read_orders(tmp_path / "0.npy")[0] is not None
    assert not list(tmp_path.glob("rounds-*"))


def test_version_without_first_updates_stores_scores_only(tmp_path: Path, versions: list[Version]) -> None:
    plain = Version(versions[0].scores, versions[0].point, converged=True)
    write_version(tmp_path / "0.npy", plain)
    assert names(tmp_path) == {"0.npy"}
    assert read_orders(tmp_path / "0.npy") == (None, None)
    assert read_footing(tmp_path / "0.npy", None) is None


@pytest.mark.parametrize("order", [Order(np.array([2.0, -1.0])), Order(None, "x:y failed. Fix: z.")])
def test_order_of_a_plugin_is_stored_with_any_version(tmp_path: Path, versions: list[Version], order: Order) -> None:
    for version in (
        Version(versions[0].scores, versions[0].point, True, None, order),
        replace(versions[0], order=order),
    ):
        write_version(tmp_path / "0.npy", version)
        effects, read = read_orders(tmp_path / "0.npy")
        assert (effects is None) == (version.footing is None)
        assert read is not None
        assert read.fault == order.fault
        assert np.array_equal(read.scores, order.scores) if order.scores is not None else read.scores is None
    assert read_footing(tmp_path / "0.npy", None) is not None


def test_version_files_are_synced_before_rename(
    tmp_path: Path, versions: list[Version], monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: dict[int, set[str]] = {}
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced[os.fstat(descriptor).st_ino] = names(tmp_path)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    write_version(tmp_path / "7.npy", versions[0])
    assert names(tmp_path)
    for path in tmp_path.iterdir():
        assert path.name not in synced[path.stat().st_ino]


def test_full_disk_leaves_no_version_file(tmp_path: Path, versions: list[Version]) -> None:
    with full_disk(), pytest.raises(OSError, match="too large"):
        write_version(tmp_path / "0.npy", versions[0])
    assert names(tmp_path) == set()
    (tmp_path / "killed.part").touch()
    write_version(tmp_path / "0.npy", versions[0])
    assert names(tmp_path) == {"0.npy", "0.npz"}
