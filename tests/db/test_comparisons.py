"""Comparisons: one unfinished at a time, each ended once, whoever ends it."""

from __future__ import annotations

from datetime import timedelta

from db import answers, entries, trained
from db.engine import Database
from db.trained import CANCELLED, DONE, FAILED, RUNNING, WAITING, Comparison

from .conftest import NOW, add_project, new_entry

LATER = NOW + timedelta(seconds=30)


def ask(database: Database, project: int, asked_by: int | None = None, **seen: int) -> int:
    with database.write() as session:
        known = {"seq": 0, "answers": 0, "checks": 0} | seen
        return trained.ask(session, project, asked_by=asked_by, asked_at=NOW, **known)


def now(database: Database, comparison: int) -> Comparison:
    with database.read() as session:
        found = trained.get(session, comparison)
    assert found is not None
    return found


def test_one_that_is_unfinished_is_not_doubled(database: Database) -> None:
    birds, frogs = add_project(database, "birds"), add_project(database, "frogs")
    first = ask(database, birds, asked_by=1, seq=4, answers=3, checks=1)
    assert ask(database, birds) == first
    assert ask(database, frogs) != first, "of another project"
    found = now(database, first)
    assert (found.project_id, found.asked_by, found.asked_at, found.state) == (birds, 1, NOW, WAITING)
    assert (found.seq, found.answers, found.checks, found.report, found.ended_at) == (4, 3, 1, None, None)
    with database.write() as session:
        assert trained.end(session, first, CANCELLED, LATER)
    second = ask(database, birds)
    assert second > first
    with database.read() as session:
        assert trained.latest_comparison(session, birds) == now(database, second)
        assert trained.latest_comparison(session, birds, CANCELLED) == now(database, first)
        assert trained.latest_comparison(session, birds, DONE) is None
        assert trained.get(session, 99) is None


def test_it_runs_tells_how_far_it_is_and_ends_once(database: Database) -> None:
    one = ask(database, add_project(database))
    report = {"best": "plknn", "figures": [{"kappa": 0.5}]}
    with database.write() as session:
        assert trained.begin(session, one, seq=7, answers=6, checks=2)
        assert trained.note(session, one, 3, 10, "plknn")
    found = now(database, one)
    assert found.unfinished
    assert (found.state, found.done, found.total, found.fitting) == (RUNNING, 3, 10, "plknn")
    assert (found.seq, found.answers, found.checks) == (7, 6, 2)
    with database.write() as session:  # a worker after the one that died begins it anew
        assert trained.begin(session, one, seq=9, answers=8, checks=2)
        assert trained.get(session, one).done == 0  # type: ignore[union-attr]
        assert trained.end(session, one, DONE, LATER, report=report, seconds=4.5)
        assert not trained.end(session, one, CANCELLED, LATER), "it is over"
        assert not trained.note(session, one, 9, 10, "plsvc")
        assert not trained.begin(session, one, seq=0, answers=0, checks=0)
    found = now(database, one)
    assert not found.unfinished
    assert (found.state, found.report, found.seconds, found.ended_at) == (DONE, report, 4.5, LATER)


def test_what_was_cancelled_cannot_be_done_any_more(database: Database) -> None:
    one = ask(database, add_project(database))
    with database.write() as session:
        assert trained.begin(session, one, seq=0, answers=0, checks=0)
        assert trained.end(session, one, CANCELLED, LATER)
        assert not trained.note(session, one, 1, 2, "plknn")
        assert not trained.end(session, one, DONE, LATER, report={})
    assert now(database, one).report is None


def test_a_fault_is_kept(database: Database) -> None:
    one = ask(database, add_project(database))
    with database.write() as session:
        assert trained.end(session, one, FAILED, LATER, fault="too few rows")
    assert (now(database, one).state, now(database, one).fault) == (FAILED, "too few rows")


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


def test_answers_are_counted_as_the_log_stood(database: Database) -> None:
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
        assert [answers.count(session, project, given, before=seq) for seq in range(1, 7)] == [
            0,
            1,
            1,
            2,
            3,
            2,
        ]
        assert answers.count(session, project, given, strategy="control", before=5) == 2
        assert answers.count(session, 99, given) == 0


def test_entries_about_no_row_are_found_together(database: Database) -> None:
    project = add_project(database)
    with database.write() as session:
        entries.append(session, new_entry(project))
        entries.append(
            session,
            new_entry(project, 0, kind="model", row=entries.NO_ROW, labels=("clpl",), token="model.2"),
        )
        found = entries.about_project(session, project)
        assert [(one.seq, one.kind, one.labels) for one in found] == [(2, "model", ("clpl",))]
        assert entries.latest(session, project, 1, 9)[0].kind == "is", "it is nobody's answer"
