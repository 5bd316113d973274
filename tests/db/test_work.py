"""Work for the worker, and batches."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from sqlalchemy.orm import Session

from db import answers, entries, questions, trained
from db.engine import Database
from db.questions import RowTogether, StoredBatch
from db.trained import CANCELLED, DONE, FAILED, RUNNING, WAITING, Comparison, Encoding, RandomOrderEstimate
from tests.db.conftest import NOW, add_project, new_entry
from tests.present import present

# Encodings: one unfinished at a time in a project, each ended once, and done once its vectors are stored


LATER = NOW + timedelta(seconds=30)


def ask_encoding(database: Database, project: int, encoder: str = "words") -> int:
    with database.write() as session:
        return trained.ENCODINGS.ask(session, project, asked_by=1, asked_at=NOW, encoder=encoder)


def encoding_now(database: Database, project: int, state: str | None = None) -> Encoding:
    with database.read() as session:
        found = trained.ENCODINGS.latest(session, project, state)
    assert found is not None
    return found


def test_unfinished_encoding_is_not_doubled(database: Database) -> None:
    birds, frogs = add_project(database, "birds"), add_project(database, "frogs")
    first = ask_encoding(database, birds)
    assert ask_encoding(database, birds, "colors") == first
    other = ask_encoding(database, frogs, "colors")
    assert other != first, "of another project"
    expected = Encoding(
        id=first, project_id=birds, asked_by=1, asked_at=NOW, encoder="words", state=WAITING,
        done=0, total=0, notes=[], fault=None, ended_at=None,
    )  # fmt: skip
    assert encoding_now(database, birds) == expected
    with database.write() as session:
        assert [one.id for one in trained.ENCODINGS.unfinished(session)] == [first, other]
        assert trained.ENCODINGS.end(session, first, CANCELLED, LATER)
        assert [one.id for one in trained.ENCODINGS.unfinished(session)] == [other]
    second = ask_encoding(database, birds, "colors")
    assert second > other
    with database.read() as session:
        assert [one.id for one in trained.ENCODINGS.unfinished(session)] == [other, second], "as they were asked for"
        assert trained.ENCODINGS.latest(session, birds, DONE) is None
        assert trained.ENCODINGS.latest(session, 99) is None
    assert encoding_now(database, birds).encoder == "colors"
    assert encoding_now(database, birds, CANCELLED).id == first


def test_encoding_reports_progress_and_ends_once(database: Database) -> None:
    project = add_project(database)
    one = ask_encoding(database, project)
    with database.write() as session:
        assert trained.ENCODINGS.begin(session, one)
        assert trained.ENCODINGS.note(session, one, 32, 60)
    found = encoding_now(database, project)
    assert (found.state, found.done, found.total, found.unfinished) == (RUNNING, 32, 60, True)
    with database.write() as session:  # a worker after the one that died begins it again
        assert trained.ENCODINGS.begin(session, one)
    found = encoding_now(database, project)
    assert (found.done, found.total) == (0, 0)
    with database.write() as session:
        assert trained.end_done(session, one, LATER, ("1 row is empty.",))
        assert not trained.end_done(session, one, LATER, ())
        assert not trained.ENCODINGS.end(session, one, CANCELLED, LATER), "it is over"
        assert not trained.ENCODINGS.end(session, one, FAILED, LATER, fault="slow")
        assert not trained.ENCODINGS.note(session, one, 1, 2)
        assert not trained.ENCODINGS.begin(session, one)
    found = encoding_now(database, project, DONE)
    assert (found.unfinished, found.notes, found.ended_at) == (False, ["1 row is empty."], LATER)


@pytest.mark.parametrize(("state", "fault"), [(CANCELLED, None), (FAILED, "no memory")])
def test_what_was_ended_is_noted_no_more_but_done_if_its_vectors_are_stored(
    database: Database, state: str, fault: str | None
) -> None:
    project = add_project(database)
    one = ask_encoding(database, project)
    with database.write() as session:
        assert trained.ENCODINGS.begin(session, one)
        assert trained.ENCODINGS.end(session, one, state, LATER, fault=fault)
        assert not trained.ENCODINGS.note(session, one, 1, 2)
        assert not trained.ENCODINGS.begin(session, one)
    found = encoding_now(database, project)
    assert (found.state, found.fault, found.ended_at) == (state, fault, LATER)
    with database.write() as session:
        assert trained.end_done(session, one, LATER, ())
    found = encoding_now(database, project)
    assert (found.state, found.fault) == (DONE, None)


# Comparisons: one unfinished at a time, each ended once, no matter who ends it


def ask_comparison(database: Database, project: int, asked_by: int | None = None, **seen: int) -> int:
    with database.write() as session:
        known = {"seq": 0, "answers": 0, "checks": 0} | seen
        return trained.COMPARISONS.ask(session, project, asked_by=asked_by, asked_at=NOW, **known)


def comparison_now(database: Database, comparison: int) -> Comparison:
    with database.read() as session:
        found = trained.COMPARISONS.get(session, comparison)
    assert found is not None
    return found


def test_unfinished_comparison_is_not_doubled(database: Database) -> None:
    birds, frogs = add_project(database, "birds"), add_project(database, "frogs")
    first = ask_comparison(database, birds, asked_by=1, seq=4, answers=3, checks=1)
    assert ask_comparison(database, birds) == first
    assert ask_comparison(database, frogs) != first, "of another project"
    found = comparison_now(database, first)
    assert (found.project_id, found.asked_by, found.asked_at, found.state) == (birds, 1, NOW, WAITING)
    assert (found.seq, found.answers, found.checks, found.report, found.ended_at) == (4, 3, 1, None, None)
    with database.write() as session:
        assert trained.COMPARISONS.end(session, first, CANCELLED, LATER)
    second = ask_comparison(database, birds)
    assert second > first
    with database.read() as session:
        assert trained.COMPARISONS.latest(session, birds) == comparison_now(database, second)
        assert trained.COMPARISONS.latest(session, birds, CANCELLED) == comparison_now(database, first)
        assert trained.COMPARISONS.latest(session, birds, DONE) is None
        assert trained.COMPARISONS.get(session, 99) is None


def test_comparison_reports_progress_and_ends_once(database: Database) -> None:
    one = ask_comparison(database, add_project(database))
    report = {"best": "plknn", "figures": [{"kappa": 0.5}]}
    with database.write() as session:
        assert trained.COMPARISONS.begin(session, one, seq=7, answers=6, checks=2)
        assert trained.COMPARISONS.note(session, one, 3, 10, fitting="plknn")
    found = comparison_now(database, one)
    assert found.unfinished
    assert (found.state, found.done, found.total, found.fitting) == (RUNNING, 3, 10, "plknn")
    assert (found.seq, found.answers, found.checks) == (7, 6, 2)
    with database.write() as session:  # a worker after the one that died begins it again
        assert trained.COMPARISONS.begin(session, one, seq=9, answers=8, checks=2)
        assert trained.COMPARISONS.get(session, one).done == 0  # type: ignore[union-attr]
        assert trained.COMPARISONS.end(session, one, DONE, LATER, report=report, seconds=4.5)
        assert not trained.COMPARISONS.end(session, one, CANCELLED, LATER), "it is over"
        assert not trained.COMPARISONS.note(session, one, 9, 10, fitting="plsvc")
        assert not trained.COMPARISONS.begin(session, one, seq=0, answers=0, checks=0)
    found = comparison_now(database, one)
    assert not found.unfinished
    assert (found.state, found.report, found.seconds, found.ended_at) == (DONE, report, 4.5, LATER)


def test_cancelled_comparison_cannot_be_done_and_fault_is_stored(database: Database) -> None:
    birds, frogs = add_project(database, "birds"), add_project(database, "frogs")
    one, failed = ask_comparison(database, birds), ask_comparison(database, frogs)
    with database.write() as session:
        assert trained.COMPARISONS.begin(session, one, seq=0, answers=0, checks=0)
        assert trained.COMPARISONS.end(session, one, CANCELLED, LATER)
        assert not trained.COMPARISONS.note(session, one, 1, 2, fitting="plknn")
        assert not trained.COMPARISONS.end(session, one, DONE, LATER, report={})
        assert trained.COMPARISONS.end(session, failed, FAILED, LATER, fault="too few rows")
    assert comparison_now(database, one).report is None
    assert (comparison_now(database, failed).state, comparison_now(database, failed).fault) == (FAILED, "too few rows")


def test_leases_of_two_tasks_do_not_meet(database: Database) -> None:
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


def test_answers_are_counted_as_log_stood(database: Database) -> None:
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


def test_lease_is_one_workers_until_it_ends(database: Database, project: int) -> None:
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


# Estimates of random order: one unfinished at a time, each ended once, no matter who ends it


def ask_random_order(database: Database, project: int, asked_by: int | None = None) -> int:
    with database.write() as session:
        return trained.RANDOM_ORDERS.ask(session, project, asked_by=asked_by, asked_at=NOW, seq=4, answers=3)


def random_order_now(database: Database, estimate: int) -> RandomOrderEstimate:
    with database.read() as session:
        found = trained.RANDOM_ORDERS.get(session, estimate)
    assert found is not None
    return found


def test_unfinished_random_order_is_not_doubled(database: Database) -> None:
    birds, frogs = add_project(database, "birds"), add_project(database, "frogs")
    first = ask_random_order(database, birds, asked_by=1)
    assert ask_random_order(database, birds) == first
    assert ask_random_order(database, frogs) != first, "of another project"
    found = random_order_now(database, first)
    assert (found.project_id, found.asked_by, found.state) == (birds, 1, WAITING)
    assert (found.seq, found.answers, found.report) == (4, 3, None)
    with database.read() as session:
        assert [one.project_id for one in trained.RANDOM_ORDERS.unfinished(session)] == [birds, frogs]


def test_random_order_reports_progress_and_ends_once(database: Database) -> None:
    project = add_project(database)
    one = ask_random_order(database, project)
    with database.write() as session:
        assert trained.RANDOM_ORDERS.begin(session, one, seq=9, answers=7)
        assert trained.RANDOM_ORDERS.note(session, one, 2, 40)
    running = random_order_now(database, one)
    assert (running.state, running.done, running.total) == (RUNNING, 2, 40)
    assert (running.seq, running.answers) == (9, 7)
    with database.write() as session:
        assert trained.RANDOM_ORDERS.end(session, one, DONE, LATER, report={"missing": "more"})
        assert not trained.RANDOM_ORDERS.end(session, one, FAILED, LATER, fault="late")
        assert not trained.RANDOM_ORDERS.note(session, one, 3, 40)
        assert not trained.RANDOM_ORDERS.begin(session, one, seq=9, answers=7)
    done = random_order_now(database, one)
    assert (done.state, done.report, done.fault, done.ended_at) == (DONE, {"missing": "more"}, None, LATER)
    with database.read() as session:
        assert (
            trained.RANDOM_ORDERS.latest(session, project)
            == trained.RANDOM_ORDERS.latest(session, project, DONE)
            == done
        )
        assert trained.RANDOM_ORDERS.latest(session, project, FAILED) is None


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


def test_its_rows_are_reserved_next_to_questions(database: Database) -> None:
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
