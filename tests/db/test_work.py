"""Work for the worker, and batches."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pytest
from sqlalchemy.orm import Session

from db import answers, entries, questions, trained
from db.engine import Database
from db.questions import RowTogether, StoredBatch
from db.trained import CANCELLED, DONE, FAILED, RUNNING, UNFINISHED, WAITING
from tests.db.conftest import NOW, add_project, new_entry
from tests.present import present

# Requests for a worker, of whichever kind: one unfinished at a project, each ended once, no matter who ends it


LATER = NOW + timedelta(seconds=30)


class Kind(NamedTuple):
    """A kind of request, and its own columns as it is asked for, begun, noted and done."""

    requests: trained.Requests[Any]
    asked: dict[str, Any]
    begun: dict[str, Any]
    noted: dict[str, Any]
    done: dict[str, Any]

    def ask(self, database: Database, project: int) -> int:
        with database.write() as session:
            return self.requests.ask(session, project, asked_by=1, asked_at=NOW, **self.asked)

    def now(self, database: Database, request: int) -> Any:
        with database.read() as session:
            return present(self.requests.get(session, request))


KINDS = (
    Kind(trained.ENCODINGS, {"encoder": "words"}, {}, {}, {"notes": ["1 row is empty."]}),
    Kind(
        trained.COMPARISONS,
        asked={"seq": 4, "answers": 3, "checks": 1},
        begun={"seq": 7, "answers": 6, "checks": 2},
        noted={"fitting": "plknn"},
        done={"report": {"best": "plknn", "figures": [{"kappa": 0.5}]}, "seconds": 4.5},
    ),
    Kind(
        trained.RANDOM_ORDERS, {"seq": 4, "answers": 3}, {"seq": 9, "answers": 7}, {}, {"report": {"missing": "more"}}
    ),
)
OF_EVERY_KIND = pytest.mark.parametrize("kind", KINDS, ids=("encodings", "comparisons", "random orders"))


def has(found: Any, columns: dict[str, Any]) -> bool:
    return {name: getattr(found, name) for name in columns} == columns


@OF_EVERY_KIND
def test_unfinished_request_is_not_doubled(database: Database, kind: Kind) -> None:
    birds, frogs = add_project(database, "birds"), add_project(database, "frogs")
    first, other = kind.ask(database, birds), kind.ask(database, frogs)
    assert kind.ask(database, birds) == first != other, "another project has its own"
    found = kind.now(database, first)
    assert (found.project_id, found.asked_by, found.asked_at, found.state) == (birds, 1, NOW, WAITING)
    assert (found.unfinished, found.done, found.total, found.fault, found.ended_at) == (True, 0, 0, None, None)
    assert has(found, kind.asked)
    assert not any(getattr(found, name) for name in kind.done)
    with database.write() as session:
        assert kind.requests.begin(session, first, **kind.begun)
    assert kind.ask(database, birds) == first, "it runs"
    with database.write() as session:
        assert [one.id for one in kind.requests.unfinished(session)] == [first, other]
        assert kind.requests.end(session, first, CANCELLED, LATER)
        assert [one.id for one in kind.requests.unfinished(session)] == [other]
    second = kind.ask(database, birds)
    assert second > other
    with database.read() as session:
        assert [one.id for one in kind.requests.unfinished(session)] == [other, second], "as they were asked for"
        assert kind.requests.latest(session, birds) == kind.now(database, second)
        assert kind.requests.latest(session, birds, CANCELLED) == kind.now(database, first)
        assert kind.requests.latest(session, birds, DONE) is None
        assert kind.requests.latest(session, 99) is None
        assert kind.requests.get(session, 99) is None


@OF_EVERY_KIND
def test_request_reports_progress_and_ends_once(database: Database, kind: Kind) -> None:
    project = add_project(database)
    one = kind.ask(database, project)
    with database.write() as session:
        assert kind.requests.begin(session, one, **kind.begun)
        assert kind.requests.note(session, one, 32, 60, **kind.noted)
    found = kind.now(database, one)
    assert (found.state, found.done, found.total, found.unfinished) == (RUNNING, 32, 60, True)
    assert has(found, kind.begun | kind.noted)
    with database.write() as session:  # a worker after the one that died begins it again
        assert kind.requests.begin(session, one, **kind.begun)
    found = kind.now(database, one)
    assert (found.done, found.total) == (0, 0)
    with database.write() as session:
        assert kind.requests.end(session, one, DONE, LATER, **kind.done)
        assert not kind.requests.end(session, one, CANCELLED, LATER), "it is over"
        assert not kind.requests.end(session, one, FAILED, LATER, fault="slow")
        assert not kind.requests.note(session, one, 1, 2, **kind.noted)
        assert not kind.requests.begin(session, one, **kind.begun)
        found = kind.requests.latest(session, project)
        assert found == kind.requests.latest(session, project, DONE)
        assert kind.requests.latest(session, project, FAILED) is None
    assert (found.state, found.unfinished, found.fault, found.ended_at) == (DONE, False, None, LATER)
    assert has(found, kind.done)


@pytest.mark.parametrize(("state", "fault"), [(CANCELLED, None), (FAILED, "no memory")])
@OF_EVERY_KIND
def test_ended_request_changes_only_on_request(database: Database, kind: Kind, state: str, fault: str | None) -> None:
    one = kind.ask(database, add_project(database))
    with database.write() as session:
        assert kind.requests.begin(session, one, **kind.begun)
        assert kind.requests.end(session, one, state, LATER, fault=fault)
        assert not kind.requests.note(session, one, 1, 2)
        assert not kind.requests.begin(session, one)
        assert not kind.requests.end(session, one, DONE, LATER, **kind.done)
    found = kind.now(database, one)
    assert (found.state, found.fault, found.ended_at) == (state, fault, LATER)
    assert not any(getattr(found, name) for name in kind.done)
    with database.write() as session:
        assert kind.requests.change(session, one, {"state": DONE}, (*UNFINISHED, state))
        assert not kind.requests.change(session, 99, {"state": DONE})
    assert kind.now(database, one).state == DONE


@pytest.mark.parametrize(("state", "fault"), [(CANCELLED, None), (FAILED, "no memory")])
def test_encoding_is_done_once_its_vectors_are_stored(database: Database, state: str, fault: str | None) -> None:
    one = KINDS[0].ask(database, add_project(database))
    with database.write() as session:
        assert trained.ENCODINGS.end(session, one, state, LATER, fault=fault)
        assert trained.end_done(session, one, LATER, ("1 row is empty.",))
        assert not trained.end_done(session, one, LATER, ())
    found = KINDS[0].now(database, one)
    assert (found.state, found.fault, found.notes) == (DONE, None, ["1 row is empty."])


def test_leases_of_two_tasks_are_independent(database: Database) -> None:
    project = add_project(database)
    with database.write() as session:
        assert trained.take_lease(session, project, "one", "key", NOW, LATER)
        assert trained.take_lease(session, project, "two", "7", NOW, LATER, "compare")
        assert trained.take_lease(session, project, "three", "7", NOW, LATER, "compare") is None
        trained.keep_lease(session, project, "two", LATER + timedelta(seconds=9), "compare")
        trained.end_lease(session, project, "one", NOW, "no memory")
        fit, compare = (trained.training(session, project, task) for task in (trained.FIT, "compare"))
        assert fit is not None
        assert compare is not None
        assert (fit.worker, fit.ended, fit.fault) == ("one", True, "no memory")
        assert (compare.worker, compare.ended, compare.key) == ("two", False, "7")
        assert compare.lease_until == LATER + timedelta(seconds=9)
        trained.end_lease(session, project, "two", NOW, None, task="compare")
        assert trained.take_lease(session, project, "three", "7", NOW, LATER, "compare")
        trained.forget_fault(session, project)
        assert trained.training(session, project).fault is None  # type: ignore[union-attr]


def test_answers_are_counted_up_to_entry(database: Database) -> None:
    project = add_project(database)
    with database.write() as session:
        for revision, (kind, strategy) in enumerate(
            [("is", "apl"), ("skip", "apl"), ("among", "control"), ("is", "control")]
        ):
            entries.append(session, new_entry(project, revision, kind=kind, strategy=strategy))
        taken_back = new_entry(project, 4, kind="withdraw", target_seq=3, labels=())
        entries.append(session, taken_back)
        given = ("is", "among")
        assert answers.count(session, project, given) == 2
        assert answers.count(session, project, given, strategy="control") == 1
        counts = [answers.count(session, project, given, before=seq) for seq in range(1, 7)]
        assert counts == [0, 1, 1, 2, 3, 2]
        assert answers.count(session, project, given, strategy="control", before=5) == 2
        assert answers.count(session, 99, given) == 0


def test_entries_about_no_row_are_found_together(database: Database) -> None:
    project = add_project(database)
    with database.write() as session:
        entries.append(session, new_entry(project))
        entries.append(
            session, new_entry(project, 0, kind="model", row=entries.NO_ROW, labels=("clpl",), token="model.2")
        )
        found = entries.about_project(session, project)
        assert [(one.seq, one.kind, one.labels) for one in found] == [(2, "model", ("clpl",))]
        assert entries.latest(session, project, 1, 9)[0].kind == "is", "it is no one's answer"


# Leases of trainings: one worker at a time, and the deaths of those that never ended theirs


MUCH_LATER = NOW + timedelta(seconds=60)


@pytest.fixture
def project(database: Database) -> int:
    return add_project(database)


def test_lease_belongs_to_one_worker_until_it_ends(database: Database, project: int) -> None:
    with database.write() as session:
        assert trained.training(session, project) is None
        taken = trained.take_lease(session, project, "one", "key", NOW, LATER)
        assert taken == trained.Training("one", "key", LATER, ended=False, deaths=0, fault=None)
        assert trained.take_lease(session, project, "two", "key", NOW, LATER) is None
        trained.end_lease(session, project, "two", NOW, "not theirs to end")
        assert trained.training(session, project) == taken
        trained.keep_lease(session, project, "one", MUCH_LATER)
        assert trained.take_lease(session, project, "two", "key", LATER, MUCH_LATER) is None
        trained.end_lease(session, project, "one", LATER, "no memory")
        ended = trained.training(session, project)
        assert ended == trained.Training("one", "key", LATER, ended=True, deaths=0, fault="no memory")
        assert trained.take_lease(session, project, "two", "key", LATER, MUCH_LATER) is not None
        trained.end_lease(session, project, "two", MUCH_LATER, None)
    with database.read() as session:
        last = trained.training(session, project)
    assert last == trained.Training("two", "key", MUCH_LATER, ended=True, deaths=0, fault=None)


def test_leases_that_run_out_are_counted_as_deaths_of_the_same_training(database: Database, project: int) -> None:
    def deaths(worker: str, key: str, at: int) -> int:
        now = NOW + timedelta(minutes=at)
        taken = present(trained.take_lease(session, project, worker, key, now, now + timedelta(seconds=30)))
        return taken.deaths

    with database.write() as session:
        assert deaths("one", "key", 0) == 0
        assert deaths("two", "key", 1) == 1
        assert deaths("three", "key", 2) == 2
        assert deaths("three", "key", 3) == 2, "its own lease that it could not end is not a death"
        assert deaths("four", "other", 4) == 0, "of another training"
        assert deaths("five", "other", 5) == 1
        trained.end_lease(session, project, "five", NOW, "rests", deaths=1)
        assert deaths("six", "other", 6) == 1, "ended in order: what was counted stays"
        trained.forget_fault(session, project)
        last = present(trained.training(session, project))
        assert (last.deaths, last.fault) == (0, None)


def test_version_is_published_while_someone_answers_in_project(database: Database, project: int) -> None:
    """Only on PostgreSQL can both write at once; on SQLite they take turns."""
    figures = {"accuracy": 0.5}
    with database.write(project=project) as answering, contextlib.ExitStack() as stack:
        session = answering if database.is_sqlite else stack.enter_context(database.write())
        for _ in range(2):  # of two workers the first one's stays
            trained.publish(session, project_id=project, key="k", version=3, figures=figures, seconds=1.0, made_at=NOW)
            figures = {"accuracy": 0.9}
    with database.read() as session:
        (found,) = trained.versions(session, project, "k")
    assert found.figures == {"accuracy": 0.5}


# Batches: one open batch a person, its rows reserved for them


def batch(project: int, person: int, *rows: int) -> StoredBatch:
    return StoredBatch(
        project_id=project,
        person_id=person,
        number=1,
        label="bee",
        rows=tuple(RowTogether(row, 0.75, "bee" if row % 2 else None) for row in rows),
        strategy="batch",
        model_version=7,
        shown_at=NOW,
        reserved_until=LATER,
        taken_out=(9,),
    )


def reserved(session: Session, project: int, person: int, now: datetime = NOW) -> Counter[tuple[int, str | None]]:
    return questions.reserved_places(session, project, person, now)


def test_batch_round_trips_stored_and_replaces_the_one_before(database: Database) -> None:
    project = add_project(database)
    with database.write() as session:
        assert questions.get_batch(session, project, 1) is None
        questions.put_batch(session, batch(project, 1, 3, 4))
        assert questions.get_batch(session, project, 1) == batch(project, 1, 3, 4)
        second = replace(batch(project, 1, 5), number=2)
        questions.put_batch(session, second)
        assert questions.get_batch(session, project, 1) == second
        assert questions.get_batch(session, project, 2) is None


def test_batch_rows_are_reserved_like_questions(database: Database) -> None:
    project = add_project(database)
    with database.write() as session:
        questions.put_batch(session, batch(project, 1, 3, 4))
        questions.put_batch(session, batch(project, 2, 4, 5))
        assert reserved(session, project, 1) == {(4, None): 1, (5, None): 1}
        assert reserved(session, project, 3) == {(3, None): 1, (4, None): 2, (5, None): 1}
        assert not reserved(session, project + 1, 3)
        assert not reserved(session, project, 3, LATER)
        questions.hand_back_reservations(session, project, 1, NOW)
        assert reserved(session, project, 3) == {(4, None): 1, (5, None): 1}
        kept = present(questions.get_batch(session, project, 1))
        assert len(kept.rows) == 2, "they stay theirs until someone else has them"


def test_finished_work_keeps_its_number(database: Database) -> None:
    project = add_project(database)
    with database.write() as session:
        for person in (1, 2):
            questions.put_batch(session, batch(project, person, person))
        questions.close(session, project, 1)
        assert questions.get_batch(session, project, 1) == batch(project, 1)
        assert questions.get_batch(session, project, 2) == batch(project, 2, 2)
        questions.close_reservations(session, project)
        assert questions.get_batch(session, project, 2) == batch(project, 2)
        assert questions.get(session, project, 1) is None
