"""Opening a project: its learner, saved state, and following the log."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
from sqlalchemy import text

from db import entries, projects, trained
from db import projects as stored_projects
from db.engine import DatabaseUnavailableError
from plcore import ActiveLearner, Entry, LearnerSettings
from tests.databases import on_postgres, on_sqlite
from tests.present import present
from tests.workflow.kind_worlds import KindWorld
from tests.workflow.pressing import press as pressing_press
from tests.workflow.vector_world import vector_project
from tests.workflow.world import answer_next, count_entries, opened, small_project, somebody
from workflow import kinds
from workflow.access import NotFound
from workflow.answering import loop, press
from workflow.answering.asked import Given
from workflow.kinds import opening
from workflow.kinds.adopting import CHECKS, change_settings, read_adoptions
from workflow.kinds.opening import FEW, Follower, opening_takes
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home, open_home

# The learners in memory: they follow the log, and hold no one up


def test_project_without_access_is_not_loaded(home: Home, owner: int, project: int) -> None:
    ada = somebody(home, owner, "Ada")
    for number in (project, 1_000, 2**31 - 1):
        for use in (lambda seat: press.press(seat, "1.1.1", "skip"), loop.get_ready):
            with pytest.raises(NotFound):
                use(Seat(home, ada, number))
    assert not home.shelf.has(1_000)
    assert not home.shelf.has(2**31 - 1)


@on_sqlite
def test_outdated_learner_catches_up_before_its_write_turn(
    home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = open_home(home.settings)
    try:
        loop.next_question(Seat(other, owner, project))
        for _ in range(FEW + 2):
            answer_next(home, owner, project)
        writing: list[bool] = []
        apply = ActiveLearner.apply

        def noted(learner: ActiveLearner, entry: Entry) -> None:
            writing.append(other.database._turn.locked())
            apply(learner, entry)

        monkeypatch.setattr(ActiveLearner, "apply", noted)
        loop.next_question(Seat(other, owner, project))
        assert writing == [False] * (FEW + 2)
        answer_next(home, owner, project)
        writing.clear()
        loop.next_question(Seat(other, owner, project))
        assert writing == [True], "a few are read in the turn itself"
    finally:
        other.close()


def test_entry_needs_durable_transaction(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    question = loop.next_question(seat)
    with pytest.raises(RuntimeError, match="need not last"), seat.turn(lasting=False) as turn:
        loop.answer_in(turn, question.token, Given("is", question.choices[:1], None, False, None))
    assert count_entries(home) == 0


def test_learner_forgets_entries_of_failed_turn(
    home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = present(loop.next_question(Seat(home, owner, project)))

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as late:
        late.setattr("db.questions.delete_question", fail)  # after the entry, before the commit
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                loop.submit_answer(Seat(home, owner, project), question.token, "is", question.choices[:1])
    with opened(home, owner, project) as learner:
        assert (learner.seq, count_entries(home)) == (0, 0)
    saved = loop.submit_answer(Seat(home, owner, project), question.token, "is", question.choices[:1])
    assert (saved.seq, saved.repeated) == (1, False)
    with opened(home, owner, project) as learner:
        assert learner.seq == 1


def test_shortened_log_is_replayed(home: Home, owner: int, project: int) -> None:
    """As after failover to a database server that was behind."""
    for _ in range(4):
        answer_next(home, owner, project)
    with home.database.write() as session:
        for action in ("update", "delete"):
            if home.database.is_sqlite:
                session.execute(text(f"DROP TRIGGER IF EXISTS entries_no_{action}"))
        if not home.database.is_sqlite:
            session.execute(text("DROP TRIGGER IF EXISTS entries_no_change ON entries"))
        session.execute(text("DELETE FROM entries WHERE seq > 2"))
    answer_next(home, owner, project)
    with home.database.read() as session:
        assert [one.seq for one in entries.after(session, project, 0)] == [1, 2, 3]
    with opened(home, owner, project) as learner:
        assert (learner.seq, len(learner.pool.answered.nonzero()[0])) == (3, 3)


def test_large_table_needs_less_memory_for_each_byte() -> None:
    assert opening_takes(0) == 0
    assert opening_takes(8_000_000) == 64_000_000, "text and numbers are in memory"
    assert opening_takes(1_000_000_000) == 700_000_000
    sizes = [opening_takes(10**power) for power in range(11)]
    assert sizes == sorted(sizes)


# Each server applies the other's entries before it is asked


LONG = 60.0
"""Seconds that notifications may take; they arrive in milliseconds."""


@pytest.fixture
def other(home: Home) -> Iterator[Home]:
    """A second server on the same database."""
    opened = open_home(home.settings)
    yield opened
    opened.close()


def answer(seat: Seat) -> None:
    question = loop.next_question(seat)
    pressing_press(seat, question.token, question.choices[0])


def give_up(seat: Seat) -> None:
    loop.next_question(seat)
    with seat.turn() as turn:
        question = turn.open_now()
        turn.answer(question, Given("unsure", (), None, False, None))
        raise RuntimeError("given up")


def height_of(home: Home, project: int) -> int:
    """Seq of the last entry that the learner in memory has applied."""
    learner = present(home.shelf.opened()[project].learner)
    return learner.seq


@on_postgres
def test_follower_applies_new_entries_in_background(home: Home, other: Home, owner: int, project: int) -> None:
    here, there = Seat(home, owner, project), Seat(other, owner, project)
    follower = Follower(other)
    answer(there)
    answer(here)
    assert height_of(other, project) == 1
    follower.look(LONG)  # the first server applies missed entries, and then listens
    assert height_of(other, project) == 2
    answer(here)
    assert follower.look(LONG) == {project: 3}
    assert height_of(other, project) == 3
    answer(there)
    assert follower.look(LONG) == {project: 4}, "its own, of which there is nothing to take in"
    answer(here)
    with other.shelf.opened()[project].lock, home.database.read() as session:  # someone is at it: they take it in
        busy = threading.Thread(target=follower.look, args=(LONG,))
        busy.start()
        busy.join(LONG)
        assert not busy.is_alive(), "an answer is not held up, nor the follower by one"
        assert entries.last_seq(session, project) == 5
    assert height_of(other, project) == 4
    answer(there)
    assert height_of(other, project) == 6
    follower.stop()


@on_postgres
def test_rolled_back_entry_is_no_news(home: Home, other: Home, owner: int, project: int) -> None:
    follower = Follower(other)
    follower.look(0)
    with pytest.raises(RuntimeError, match="given up"):
        give_up(Seat(home, owner, project))
    answer(Seat(home, owner, project))
    assert follower.look(LONG) == {project: 1}
    follower.stop()


def test_follower_leaves_large_backlog_to_next_visitor(
    home: Home, other: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = Seat(home, owner, project), Seat(other, owner, project)
    answer(there)
    for _ in range(3):
        answer(here)
    slot = other.shelf.opened()[project]
    monkeypatch.setattr(opening, "MANY", 2)
    assert not opening.apply_news(other, project, slot)
    assert height_of(other, project) == 1
    monkeypatch.setattr(opening, "MANY", 3)
    assert opening.apply_news(other, project, slot)
    assert height_of(other, project) == 4


def test_follower_reports_lost_postgresql_once(
    home: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, backend: str
) -> None:
    follower, tried = Follower(home), threading.Semaphore(0)

    def fail(seconds: float) -> None:
        tried.release()
        raise DatabaseUnavailableError(f"PostgreSQL does not tell of news now, after {seconds} s.")

    monkeypatch.setattr(follower, "look", fail)
    monkeypatch.setattr("workflow.kinds.opening.AGAIN", 0.001)
    follower.start()
    if backend != "sqlite":
        for _ in range(3):
            assert tried.acquire(timeout=LONG)
    follower.stop()
    follower.stop()
    said = [one for one in caplog.messages if "does not tell" in one]
    assert len(said) == (0 if backend == "sqlite" else 1)


# Another model for a project: settings and log change together, or not at all


def change(home: Home, owner: int, project: int, **more: object) -> entries.LogEntry | None:
    with home.database.write() as session:
        stored = projects.get(session, project)
        settings = dataclasses.replace(LearnerSettings.from_json(stored.settings), **more)  # type: ignore[arg-type]
        return change_settings(session, stored, settings, person_id=owner, why="so", score=0.5, strategy=CHECKS)


def test_model_entry_records_change_and_time(home: Home, owner: int, project: int) -> None:
    answer_next(home, owner, project)
    made = present(change(home, owner, project, model="automatic", adopted="clpl"))
    assert (made.seq, made.kind, made.row, made.labels) == (2, "model", entries.NO_ROW, ("clpl", "automatic"))
    assert (made.before, made.after, made.note, made.score) == (("plknn",), ("clpl",), "so", 0.5)
    answer_next(home, owner, project)
    again = present(change(home, owner, project, model="clpl"))
    assert (again.labels, again.revision) == (("clpl",), 1)
    with home.database.read() as session:
        first, second = read_adoptions(session, projects.get(session, project))
    assert (first.answers, first.model, first.automatic, first.by_checks, first.why) == (1, "clpl", True, True, "so")
    assert (second.answers, second.before, second.model, second.automatic) == (2, "clpl", "clpl", False)


def test_other_settings_are_not_logged(home: Home, owner: int, project: int) -> None:
    assert change(home, owner, project, strategy="random", C=2.0) is None
    with home.database.read() as session:
        assert projects.get(session, project).settings["strategy"] == "random"
        assert entries.last_seq(session, project) == 0


def test_error_rolls_back_settings_and_log(home: Home, owner: int, project: int) -> None:
    with suppress(RuntimeError), home.database.write() as session:
        stored = projects.get(session, project)
        settings = LearnerSettings.from_json(stored.settings).adopting("clpl")
        assert change_settings(session, stored, settings, person_id=owner) is not None
        raise RuntimeError
    with home.database.read() as session:
        assert projects.get(session, project).settings["model"] == "plknn"
        assert entries.last_seq(session, project) == 0


def test_model_change_clears_faults_of_previous_model(home: Home, owner: int, project: int) -> None:
    with home.database.write() as session:
        moment = projects.get(session, project).created_at
        trained.take_lease(session, project, "one", "key", moment, moment)
        trained.end_lease(session, project, "one", moment, "no memory", deaths=2)
    change(home, owner, project, model="clpl")
    with home.database.read() as session:
        last = trained.training(session, project)
    assert last is not None
    assert (last.fault, last.deaths) == (None, 0)


def test_every_kind_names_model_in_force(world: KindWorld, seat: Seat) -> None:
    with seat.reading() as reading:
        kind = kinds.kind_of(reading.project)
        settings = kind.read_settings(reading.project.settings)
        assert settings.model_in_force
        assert settings.is_automatic is False
        if kind.COMPARING is not None:
            models = kind.COMPARING.models
            assert kinds.models(reading.project) == models
            assert settings.model_in_force in models
            other = kind.COMPARING.choose(settings, list(models)[-1], None, True)
            assert other.is_automatic
            assert other.model_in_force == list(models)[-1]
        else:
            assert kinds.models(reading.project) == {}
            with pytest.raises(ValueError, match="cannot be adopted"):
                kinds.with_model(reading.project, "plknn", None, automatic=False)
            with pytest.raises(ValueError, match="nothing to compare"):
                kinds.make_comparer(seat.home, reading.project, ())
            with pytest.raises(ValueError, match="nothing to compare"):
                kinds.make_table_comparer(world.table())


# Projects of earlier versions: missing settings have their defaults, and can be changed as in a new one


def forget(home: Home, project: int, *keys: str) -> None:
    """Store the project's settings like a version that did not have these."""
    with home.database.write() as session:
        known = stored_projects.get(session, project).settings
        assert set(keys) <= set(known)
        left = {key: value for key, value in known.items() if key not in keys}
        stored_projects.change(session, project, settings=left)


def test_setting_missing_in_old_project_can_be_changed(home: Home, owner: int) -> None:
    project = small_project(home, owner)
    forget(home, project, "model", "C", "train_every", "train_seconds", "control_share")
    managing.change_learner(Seat(home, owner, project), model="clpl", train_every=9)
    found = managing.learner_settings(Seat(home, owner, project))
    assert (found["model"], found["train_every"], found["control_share"]) == ("clpl", 9, 0.0)
    answer_next(home, owner, project)


def test_setting_missing_in_old_label_vectors_can_be_changed(home: Home, owner: int) -> None:
    project = vector_project(home, owner)
    forget(home, project, "question", "max_iter", "refresh_every")
    managing.change_learner(Seat(home, owner, project), question="instance", max_iter=2)
    found = managing.learner_settings(Seat(home, owner, project))
    assert (found["question"], found["max_iter"], found["refresh_every"]) == ("instance", 2, 10)


def test_label_vectors_of_earlier_versions_keep_their_model(home: Home, owner: int) -> None:
    project = vector_project(home, owner)
    seat = Seat(home, owner, project)
    assert managing.learner_settings(seat)["model"] == "automatic"
    forget(home, project, "model")
    assert managing.learner_settings(seat)["model"] == "bmlcs"
    managing.change_learner(seat, refresh_every=5)
    assert managing.learner_settings(seat)["model"] == "bmlcs"
    managing.change_learner(seat, model="automatic")
    assert managing.learner_settings(seat)["model"] == "automatic"


def test_unknown_setting_is_refused_with_allowed_ones(home: Home, owner: int) -> None:
    for project, others in (
        (small_project(home, owner), "refresh_every"),
        (vector_project(home, owner), "train_every"),
    ):
        forget(home, project, "control_share")
        for unknown in ("modell", others):  # a setting of another kind is invalid here
            with pytest.raises(ValueError, match=f"no setting '{unknown}'. It has .*control_share"):
                managing.change_learner(Seat(home, owner, project), **{unknown: 1})
