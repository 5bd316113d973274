"""What the house asks of a project whatever its kind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from db import projects as stored
from db.projects import Project
from plcore.loop import StopRules
from tests.workflow.kind_worlds import KindWorld
from tests.workflow.world import small_project
from workflow import kinds
from workflow.kinds import glances
from workflow.kinds.kind import KindSettings, KindWords, WorkerSettings
from workflow.projects import managing, progress
from workflow.seat import Seat
from workflow.server.home import Home


def project_of(seat: Seat) -> Project:
    with seat.reading() as reading:
        return reading.project


def test_a_project_is_of_the_kind_of_its_table(world: KindWorld, seat: Seat) -> None:
    project, kind = project_of(seat), kinds.KINDS[world.kind]
    assert kinds.kind_of(project) is seat.kind is kind
    assert kinds.kind_name(project) == world.kind
    assert kinds.of_table(world.table()) is kinds.of_settings(world.settings()) is kind
    assert kinds.words(project) is kind.WORDS
    assert isinstance(kind.WORDS, KindWords)
    assert kinds.read_settings(project) == world.settings()
    made = kinds.default_settings(world.table(), 0.5)
    assert kinds.of_settings(made) is kind
    assert kinds.worker_settings(project) is None
    assert kinds.read_settings(project).model_in_force == kinds.model_of(project)
    if kind.WORKER is None:
        with pytest.raises(LookupError, match=r"No worker trains models of .* Fix: ask `worker_settings`"):
            kinds.version_key(project, 0)
    else:
        assert kinds.version_key(project, 0)


def test_a_kind_of_a_later_version_is_said(seat: Seat) -> None:
    later = replace(project_of(seat), settings={"kind": "ranks", "seed": 0})
    with pytest.raises(LookupError, match=r"is of a kind that this version .* does not know: 'ranks'"):
        kinds.kind_of(later)
    with seat.home.database.write() as session:
        stored.change_settings(session, later.id, later.settings)
    with pytest.raises(LookupError, match="Fix: start the version that made it"):
        managing.get_project(seat)


def test_changed_settings_are_checked_and_nothing_is_stored(world: KindWorld, seat: Seat) -> None:
    project = project_of(seat)
    after = kinds.changed_settings(project, world.CHANGE)
    assert after.to_json() == {**world.settings().to_json(), **world.CHANGE}
    assert kinds.changed_settings(project, {}) == world.settings()
    for changes in ({"seed": 0}, {"colour": 1}, world.WRONG):
        with pytest.raises(ValueError, match="|".join(changes)):
            kinds.changed_settings(project, changes)
    assert project_of(seat) == project


def test_settings_have_what_those_of_all_kinds_have(world: KindWorld, seat: Seat) -> None:
    settings = kinds.read_settings(project_of(seat))
    trained = kinds.worker_settings(project_of(seat)) is not None
    for protocol in (KindSettings, WorkerSettings) if trained else (KindSettings,):
        assert {name for name in vars(protocol) if not name.startswith("_")} <= set(dir(settings))
    assert settings.by_row in (True, False)
    assert settings.beginning(settings, 1) == settings, "nothing has changed"


def test_stop_rules_are_those_of_the_kind_until_somebody_sets_some(world: KindWorld, seat: Seat) -> None:
    assert kinds.stop_rules(project_of(seat)) == kinds.KINDS[world.kind].DEFAULT_RULES
    progress.change_stop_rules(seat, StopRules(budget=3))
    assert kinds.stop_rules(project_of(seat)) == StopRules(budget=3)


def test_a_worker_trains_for_a_kind_that_has_such_models(home: Home, owner: int) -> None:
    project = project_of(Seat(home, owner, small_project(home, owner, model="clpl")))
    assert kinds.worker_settings(project) == kinds.read_settings(project)
    trainer = kinds.make_trainer(home, project, ())
    assert trainer.pool.n_open == project.n_to_ask
    assert kinds.version_key(project, 0) != kinds.version_key(project, 4)


def test_a_log_is_counted_once_for_each_state_of_it(
    world: KindWorld, seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, calls = kinds.KINDS[world.kind], []
    real = kind.count

    def noted(*arguments: object) -> tuple[int, int, object]:
        calls.append(1)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(kind, "count", noted)

    def counted() -> tuple[int, int]:
        with seat.reading() as reading:
            return glances.counts(seat.home, reading.session, reading.project)

    first = counted()
    assert counted() == first
    assert len(calls) <= 1
    before = len(calls)
    world.answer(seat)
    assert counted()[0] > first[0]
    assert len(calls) == before + 1
    glances.keep_only(seat.home, ())
    counted()
    assert len(calls) == before + 1, "what was counted stays"
