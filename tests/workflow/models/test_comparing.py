"""Comparisons in the background: when they are due, which worker makes them, what they change, how they end."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db import projects, trained
from db.trained import Comparison
from plcore import LearnerSettings, blocks
from plcore.blocks import Inline, RunnerError
from plcore.loop import ModelComparison
from plcore.loop.one_label import Trainer
from tests.present import present
from tests.workflow.compared import Findings, findings
from tests.workflow.kinds.one_label.test_progress import answer_truly
from tests.workflow.vector_world import vector_project
from tests.workflow.world import answer_next, newest_version, opened, small_project, small_table
from workflow import kinds
from workflow.kinds.adopting import Adoption, read_adoptions
from workflow.models import choosing, comparing, leases, showing, training
from workflow.models.comparing import LEAST_NEW, ComparingWorker, Counts, is_due
from workflow.models.waiting import Away
from workflow.projects import managing as project_acts
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.slow

__all__ = ["findings"]


@pytest.fixture
def project(home: Home, owner: int) -> int:
    return small_project(home, owner, model="automatic", train_seconds=3600.0)


@pytest.fixture
def worker(home: Home) -> ComparingWorker:
    return ComparingWorker(home, "one")


@pytest.fixture
def told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However fast a comparison is, it reports its progress at each step, and checks whether it was cancelled."""
    monkeypatch.setattr(comparing, "TOLD_EVERY", 0.0)


def latest(home: Home, project: int) -> Comparison:
    with home.database.read() as session:
        found = trained.COMPARISONS.latest(session, project)
    assert found is not None
    return found


def adoptions(home: Home, project: int) -> tuple[Adoption, ...]:
    with home.database.read() as session:
        return read_adoptions(session, projects.get(session, project))


def settings_of(home: Home, project: int) -> dict[str, object]:
    with home.database.read() as session:
        return projects.get(session, project).settings


# When it is due


def test_first_comparison_is_due_at_once() -> None:
    assert is_due(None, Counts(0, 0, 0))


counts = st.tuples(st.integers(0, 500), st.integers(0, 500)).map(lambda two: Counts(9, max(two), min(two)))


@given(counts, st.integers(0, 500), st.integers(0, 500))
def test_comparison_is_due_after_half_more_answers_or_checks(last: Counts, more: int, checks: int) -> None:
    now = Counts(99, last.answers + more, last.checks + checks)
    grown = more >= max(LEAST_NEW, last.answers / 2) or checks >= max(LEAST_NEW, last.checks / 2)
    assert is_due(last, now) == grown
    assert not is_due(now, now)
    assert is_due(last, Counts(99, 2 * last.answers + LEAST_NEW, last.checks))


@given(st.integers(1, 20_000))
def test_comparisons_become_rare(answers: int) -> None:
    """Their number grows with the logarithm of the answers, so comparisons end however long a project continues."""
    made, last = 0, None
    for seen in range(answers + 1):
        if is_due(last, Counts(seen, seen, 0)):
            made, last = made + 1, Counts(seen, seen, 0)
        if made > 25:
            break
    assert made <= 25


# Its changes


def test_best_model_is_adopted_and_logged(
    home: Home, owner: int, project: int, worker: ComparingWorker, findings: Findings
) -> None:
    findings.parameters = {"clpl": {"C": 100.0}}
    assert worker.look()
    done = latest(home, project)
    assert (done.state, done.asked_by, done.fault, done.answers) == (trained.DONE, None, None, 0)
    assert findings.calls == [40], "the rows that train"
    assert settings_of(home, project) | {"model": "automatic", "adopted": "clpl", "C": 100.0} == settings_of(
        home, project
    )
    (one,) = adoptions(home, project)
    assert (one.seq, one.answers, one.before, one.model) == (1, 0, "plknn", "clpl")
    assert one.automatic
    assert one.by_comparison
    assert not one.by_checks
    assert one.why == "80% consistency with the candidates, beyond chance (PL-KNN 50%)"
    assert newest_version(home, project) == 0, "it was trained before it was adopted"
    with opened(home, owner, project) as learner:
        assert learner.version_published == 0
        assert learner.seq == 1
        assert learner.progress().accuracy is not None


def test_comparison_is_not_repeated_for_same_answers(
    home: Home, owner: int, project: int, worker: ComparingWorker, findings: Findings
) -> None:
    worker.look()
    first = latest(home, project)
    worker.look()
    assert latest(home, project) == first
    for _ in range(LEAST_NEW - 1):
        answer_next(home, owner, project)
    worker.look()
    assert latest(home, project) == first
    answer_next(home, owner, project)
    worker.look()
    second = latest(home, project)
    assert (second.id > first.id, second.answers, second.state) == (True, LEAST_NEW, trained.DONE)
    assert len(findings.calls) == 2
    assert len(adoptions(home, project)) == 1, "the best is in force already"


def test_model_ahead_by_chance_is_not_adopted(
    home: Home, owner: int, project: int, worker: ComparingWorker, findings: Findings
) -> None:
    worker.look()
    findings.kappas = {"plsvc": 0.81, "clpl": 0.8, "plknn": 0.5}
    choosing.compare_now(Seat(home, owner, project))
    worker.look()
    assert latest(home, project).state == trained.DONE
    assert settings_of(home, project)["adopted"] == "clpl"
    findings.kappas = {"plsvc": 0.9, "clpl": 0.2, "plknn": 0.1}
    choosing.compare_now(Seat(home, owner, project))
    worker.look()
    assert settings_of(home, project)["adopted"] == "plsvc"
    assert [one.model for one in adoptions(home, project)] == ["clpl", "plsvc"]


def test_blind_checks_decide_adoption_and_are_logged(
    home: Home, owner: int, worker: ComparingWorker, findings: Findings
) -> None:
    project = small_project(home, owner, model="automatic", control_share=0.5, test_share=0.0)
    answer_truly(home, owner, project, 45)
    findings.accuracies = {"clpl": 0.81, "plknn": 0.55}
    worker.look()
    (one,) = adoptions(home, project)
    assert one.by_checks
    assert one.answers == 45
    checks = latest(home, project).report["checks"]  # type: ignore[index]
    assert checks >= 10
    assert one.why == f"81% by {checks} blind checks (PL-KNN 55%)"


def test_chosen_model_is_compared_on_request_only(
    home: Home, owner: int, worker: ComparingWorker, findings: Findings
) -> None:
    project = small_project(home, owner)
    assert not comparing.has_due_work(home)
    worker.look()
    assert findings.calls == []
    choosing.compare_now(Seat(home, owner, project))
    assert comparing.has_due_work(home)
    worker.look()
    assert latest(home, project).state == trained.DONE
    assert latest(home, project).asked_by == owner
    assert settings_of(home, project)["model"] == "plknn"
    assert adoptions(home, project) == ()


def test_label_vectors_are_never_compared(home: Home, owner: int, worker: ComparingWorker, findings: Findings) -> None:
    project = vector_project(home, owner)
    worker.look()
    assert findings.calls == []
    with pytest.raises(choosing.CannotCompare, match="Projects of this kind have no models to compare"):
        choosing.compare_now(Seat(home, owner, project))


def test_settings_changed_during_comparison_are_kept(
    home: Home, owner: int, project: int, worker: ComparingWorker, findings: Findings
) -> None:
    def choose(done: int, _total: int, _name: str) -> None:
        if done == 1:
            choosing.adopt(Seat(home, owner, project), "plsvc")

    findings.before = choose
    worker.look()
    assert latest(home, project).state == trained.DONE
    assert settings_of(home, project)["model"] == "plsvc"
    assert [one.by_comparison for one in adoptions(home, project)] == [False]


def test_untrainable_best_model_is_not_adopted(
    home: Home, project: int, worker: ComparingWorker, findings: Findings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: object, progress: object) -> None:
        raise ValueError("the features are too large")

    monkeypatch.setattr(Trainer, "train", fail)
    worker.look()
    done = latest(home, project)
    assert done.state == trained.DONE
    assert done.fault == "CLPL was best, but cannot be trained on all rows: the features are too large"
    assert adoptions(home, project) == ()
    assert settings_of(home, project)["adopted"] == "plknn"


def test_returning_to_automatic_compares_at_once(
    home: Home, owner: int, worker: ComparingWorker, findings: Findings
) -> None:
    project = small_project(home, owner)
    seat = Seat(home, owner, project)
    choosing.compare_now(seat)
    worker.look()
    assert settings_of(home, project)["model"] == "plknn"
    choosing.back_to_automatic(seat)
    worker.look()
    assert len(findings.calls) == 2
    assert settings_of(home, project)["adopted"] == "clpl"
    worker.compare_due()
    assert len(findings.calls) == 2, "once"


def test_best_model_that_kills_workers_is_not_adopted(
    home: Home, owner: int, project: int, worker: ComparingWorker, findings: Findings
) -> None:
    with home.database.read() as session:
        automatic = projects.get(session, project)
    key = kinds.version_key(replace(automatic, settings={**automatic.settings, "adopted": "clpl"}), 0)
    now = datetime.now(UTC)
    with home.database.write() as session:
        trained.take_lease(session, project, "gone", key, now, now)
        trained.end_lease(session, project, "gone", now, "It was killed.", leases.MOST_DEATHS)
    worker.look()
    assert latest(home, project).fault == "CLPL was best, but cannot be trained on all rows: It was killed."
    assert adoptions(home, project) == ()


def test_model_is_adopted_only_when_trainable(
    home: Home, project: int, worker: ComparingWorker, findings: Findings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another worker trains the project meanwhile, with its old model."""
    monkeypatch.setattr(training, "POLL", 0.0)
    now = datetime.now(UTC)
    with home.database.write() as session:
        trained.take_lease(session, project, "two", "old", now, now + 2 * leases.LEASE)
    asked = []

    def resting(*_: object) -> None:
        asked.append(adoptions(home, project))
        with home.database.write() as session:
            trained.end_lease(session, project, "two", datetime.now(UTC), None)

    monkeypatch.setattr(leases, "resting", resting)
    worker.look()
    assert asked == [()]
    assert [one.model for one in adoptions(home, project)] == ["clpl"]
    assert newest_version(home, project) == 0


# Its maker


@pytest.mark.usefixtures("told_at_once")
def test_fit_can_be_cancelled_and_blocks_other_training(
    home: Home, project: int, owner: int, findings: Findings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Warnings and memory of a training are not those of the compared model."""
    looks = []
    look = training.Worker.look
    monkeypatch.setattr(training.Worker, "look", lambda self: (looks.append(1), look(self))[1])
    findings.inside = lambda: choosing.cancel(Seat(home, owner, project)) if len(looks) == 3 else None
    ComparingWorker(home, "one").look()
    assert len(looks) == 3, "before all, and before each of two fits"
    assert latest(home, project).state == trained.CANCELLED
    assert adoptions(home, project) == ()


def test_settings_stored_before_match_chosen_model(home: Home, owner: int, worker: ComparingWorker) -> None:
    project = small_project(home, owner)
    with home.database.write() as session:
        stored = dict(projects.get(session, project).settings)
        for later in ("adopted", "model"):
            del stored[later]
        projects.change(session, project, settings=stored)
    assert not comparing.has_due_work(home)
    assert project_acts.learner_settings(Seat(home, owner, project))["model"] == "plknn"
    assert showing.model_story(Seat(home, owner, project)).adoptions == ()


def on_cluster(home: Home) -> ComparingWorker:
    """A worker whose fits are computed elsewhere."""
    settings = replace(home.settings, cluster="tcp://10.0.0.1:8786")
    return ComparingWorker(replace(home, settings=settings), "one")


def told_of(home: Home, owner: int, project: int) -> str:
    """Page text of a comparison that no worker runs now."""
    now = present(showing.running_now(Seat(home, owner, project)))
    assert not now.begun
    assert now.fault is not None
    return now.fault


def test_missing_cluster_is_reported_and_blocks_comparison(
    home: Home, owner: int, project: int, findings: Findings, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[tuple[object, ...]] = []

    def nobody(*told: object) -> None:
        tried.append(told)
        raise RunnerError("No Dask scheduler answers at tcp://10.0.0.1:8786. Fix: start one.")

    monkeypatch.setattr(blocks, "make_runner", nobody)
    worker, now = on_cluster(home), 1000.0
    worker._away = Away(lambda: now)
    worker.compare_due()
    worker.compare_due()
    ((where, folder, patience, _),) = tried
    assert (where, patience) == ("tcp://10.0.0.1:8786", 0), "training does not wait for it, and not again at once"
    assert told_of(home, owner, project) == (
        "No Dask scheduler answers at tcp://10.0.0.1:8786. Fix: start one. The comparison waits for it. It is "
        "tried again in 10 seconds."
    )
    now += 10
    worker.compare_due()
    worker.compare_due()
    assert len(tried) == 2
    assert told_of(home, owner, project).endswith("tried again in 20 seconds.")
    assert findings.calls == []
    assert latest(home, project).unfinished
    monkeypatch.setattr(blocks, "make_runner", lambda *_: Inline())
    now += 20
    worker.compare_due()
    assert latest(home, project).state == trained.DONE
    assert latest(home, project).report is not None
    assert not Path(str(folder)).exists()


def test_cluster_fits_are_kept_until_comparison_ends(
    home: Home, project: int, findings: Findings, told_at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "make_runner", lambda *_: Inline())
    worker, folder = on_cluster(home), home.settings.home / "blocks" / "comparison-1"

    def stop(*_: object) -> None:
        (folder / "part-1.npy").touch()
        worker._stop.set()

    findings.before = stop
    with pytest.raises(training.Stopped):
        worker.compare_due()
    assert (folder / "part-1.npy").exists(), "another worker goes on there"
    other = on_cluster(home)

    def cancel(*_: object) -> None:
        assert (folder / "part-1.npy").exists()
        with home.database.write() as session:
            trained.COMPARISONS.end(session, 1, trained.CANCELLED, datetime.now(UTC))

    findings.before = cancel
    other.compare_due()
    assert latest(home, project).state == trained.CANCELLED
    assert not folder.exists()


def test_fits_of_cancelled_cluster_comparison_are_removed(
    home: Home, owner: int, project: int, findings: Findings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "make_runner", lambda *_: Inline())
    worker, folder = on_cluster(home), home.settings.home / "blocks" / "comparison-1"

    def gone(*_: object) -> None:
        (folder / "part-1.npy").touch()
        raise RunnerError("The scheduler of the cluster is gone.")

    findings.before = gone
    worker.compare_due()
    assert "The scheduler of the cluster is gone. The comparison waits" in told_of(home, owner, project)
    assert told_of(home, owner, project).endswith("in 10 seconds."), "it was there"
    worker.compare_due()
    assert (folder / "part-1.npy").exists(), "it is tried again"
    choosing.cancel(Seat(home, owner, project))
    worker.compare_due()
    assert not folder.exists()


@pytest.mark.proof
def test_block_comparison_equals_worker_comparison(home: Home, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The findings, without the seconds."""
    here = comparing.make_comparer(home, project)[0].compare()
    monkeypatch.setattr(blocks, "make_runner", lambda *_: Inline())
    on_cluster(home).compare_due()
    report = present(latest(home, project).report)
    found = ModelComparison.from_json(report)

    def timeless(one: ModelComparison) -> ModelComparison:
        return replace(one, figures=tuple(replace(figures, seconds=0.0) for figures in one.figures))

    assert timeless(found) == timeless(here)


def test_table_too_small_to_compare_is_explained(
    home: Home, owner: int, worker: ComparingWorker, caplog: pytest.LogCaptureFixture
) -> None:
    seat = Seat(home, owner)
    made = project_acts.create_project(seat, "four", small_table(4), LearnerSettings(model="automatic", test_share=0.0))
    assert worker.look()
    assert "too few to compare models" in str(latest(home, made).fault)
    assert not [one for one in caplog.records if one.exc_info]
