"""Another model for a project: settings and log change together, or not at all."""

from __future__ import annotations

import dataclasses
from contextlib import suppress

import pytest

from db import entries, projects, trained
from plcore import LearnerSettings
from tests.workflow.kind_worlds import KindWorld
from tests.workflow.world import answer_next, small_project
from workflow import kinds
from workflow.kinds.adopting import CHECKS, change_settings, read_adoptions
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def project(home: Home, owner: int) -> int:
    return small_project(home, owner)


def change(home: Home, owner: int, project: int, **more: object) -> entries.LogEntry | None:
    with home.database.write() as session:
        stored = projects.get(session, project)
        settings = dataclasses.replace(LearnerSettings.from_json(stored.settings), **more)  # type: ignore[arg-type]
        return change_settings(
            session, stored, settings, person_id=owner, why="so", score=0.5, strategy=CHECKS
        )


def test_an_entry_tells_what_changed_and_when(home: Home, owner: int, project: int) -> None:
    answer_next(home, owner, project)
    made = change(home, owner, project, model="automatic", adopted="clpl")
    assert made is not None
    assert (made.seq, made.kind, made.row, made.labels) == (2, "model", entries.NO_ROW, ("clpl", "automatic"))
    assert (made.before, made.after, made.note, made.score) == (("plknn",), ("clpl",), "so", 0.5)
    answer_next(home, owner, project)
    again = change(home, owner, project, model="clpl")
    assert again is not None
    assert (again.labels, again.revision) == (("clpl",), 1)
    with home.database.read() as session:
        first, second = read_adoptions(session, projects.get(session, project))
    assert (first.answers, first.model, first.automatic, first.by_checks, first.why) == (
        1,
        "clpl",
        True,
        True,
        "so",
    )
    assert (second.answers, second.before, second.model, second.automatic) == (2, "clpl", "clpl", False)


def test_other_settings_are_no_line_of_the_log(home: Home, owner: int, project: int) -> None:
    assert change(home, owner, project, strategy="random", C=2.0) is None
    with home.database.read() as session:
        assert projects.get(session, project).settings["strategy"] == "random"
        assert entries.last_seq(session, project) == 0


def test_an_error_leaves_both_as_they_were(home: Home, owner: int, project: int) -> None:
    with suppress(RuntimeError), home.database.write() as session:
        stored = projects.get(session, project)
        settings = LearnerSettings.from_json(stored.settings).adopting("clpl")
        assert change_settings(session, stored, settings, person_id=owner) is not None
        raise RuntimeError
    with home.database.read() as session:
        assert projects.get(session, project).settings["model"] == "plknn"
        assert entries.last_seq(session, project) == 0


def test_faults_of_the_model_before_are_forgotten(home: Home, owner: int, project: int) -> None:
    with home.database.write() as session:
        moment = projects.get(session, project).created_at
        trained.take_lease(session, project, "one", "key", moment, moment)
        trained.end_lease(session, project, "one", moment, "no memory", deaths=2)
    change(home, owner, project, model="clpl")
    with home.database.read() as session:
        last = trained.training(session, project)
    assert last is not None
    assert (last.fault, last.deaths) == (None, 0)


def test_every_kind_says_which_model_answers(world: KindWorld, seat: Seat) -> None:
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
