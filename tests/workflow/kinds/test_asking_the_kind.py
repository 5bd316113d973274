"""Use cases call functions of a project's kind; each kind has the same functions."""

from __future__ import annotations

import inspect
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from db import projects as stored
from db.projects import Project
from pages.parts.kinds import PARTS, KindParts
from plcore.evaluation import exact_interval, outside_rate
from tests.conftest import ROOT
from tests.workflow.kind_worlds import KindWorld
from tests.workflow.vector_world import vector_project
from tests.workflow.world import answer_next, small_project
from workflow import kinds
from workflow.answering.room_settings import PROMISES, RoomError, RoomSettings
from workflow.kinds import KINDS, glances
from workflow.kinds.kind import NOTHING, Batching, Kind, KindSettings, KindWords, WorkerSettings
from workflow.kinds.shortlists import ShortlistView
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

# Functions that every kind of project needs


def project_of(seat: Seat) -> Project:
    with seat.reading() as reading:
        return reading.project


def test_project_has_kind_of_its_table(world: KindWorld, seat: Seat) -> None:
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
    if kind.WORKER is None:
        with pytest.raises(LookupError, match=r"No worker trains models of .* Fix: ask `worker_settings`"):
            kinds.version_key(project, 0)
    else:
        assert kinds.version_key(project, 0)


def test_kind_of_later_version_is_reported(seat: Seat) -> None:
    later = replace(project_of(seat), settings={"kind": "ranks", "seed": 0})
    with pytest.raises(LookupError, match=r"is of a kind that this version .* does not know: 'ranks'"):
        kinds.kind_of(later)
    with seat.home.database.write() as session:
        stored.change(session, later.id, settings=later.settings)
    with pytest.raises(LookupError, match="Fix: start the version that made it"):
        managing.get_project(seat)


def test_settings_of_every_kind_have_common_fields(world: KindWorld, seat: Seat) -> None:
    settings = kinds.read_settings(project_of(seat))
    trained = kinds.worker_settings(project_of(seat)) is not None
    for protocol in (KindSettings, WorkerSettings) if trained else (KindSettings,):
        assert {name for name in vars(protocol) if not name.startswith("_")} <= set(dir(settings))
    assert settings.by_row in (True, False)
    assert settings.beginning(settings, 1) == settings, "nothing has changed"


def test_worker_trains_only_kinds_with_trained_models(home: Home, owner: int) -> None:
    project = project_of(Seat(home, owner, small_project(home, owner, model="clpl")))
    assert kinds.worker_settings(project) == kinds.read_settings(project)
    trainer = kinds.make_trainer(home, project, ())
    assert trainer.pool.n_open == project.n_to_ask
    assert kinds.version_key(project, 0) != kinds.version_key(project, 4)


def test_log_is_counted_once_for_each_height(world: KindWorld, seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, calls = kinds.KINDS[world.kind], []
    real = kind.count

    def noted(*arguments: object) -> tuple[int, int, object]:
        calls.append(1)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(kind, "count", noted)

    def counted() -> glances.ProjectCounts:
        with seat.reading() as reading:
            return glances.counts(seat.home, reading.session, reading.project, reading.height)

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
    glances._counting_known.pop(seat.home.database)  # as another process would
    assert counted() == glances.ProjectCounts(*counted())
    assert len(calls) == before + 1, "another process reads what was counted"
    (path,) = (seat.home.cache_dir / "counts").iterdir()
    path.write_text("half of {")
    glances._counting_known.pop(seat.home.database)
    second = counted()
    assert len(calls) == before + 2, "counts that cannot be read are counted again"
    glances._counting_known.pop(seat.home.database)
    world.answer(seat)
    assert counted() != second
    assert len(calls) == before + 3, "stored counts are of an earlier state of the log"


# Every kind of project is a folder with the same names in it, here and among the pieces of pages


def modules(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("*.py")}


def names_of(protocol: type) -> set[str]:
    functions = {name for name, _ in inspect.getmembers(protocol, inspect.isfunction) if not name.startswith("_")}
    capabilities = {name for name, one in vars(protocol).items() if isinstance(one, property)}
    return functions | capabilities | set(protocol.__annotations__)


PARTS_OF_ALL = {"rows", "measured", "importing"}
"""Folders of `pages.parts` that draw tables of any kind."""


def test_every_kind_has_a_folder_and_vice_versa() -> None:
    for room in (ROOT / "workflow" / "kinds", ROOT / "pages" / "parts"):
        folders = {path.parent.name for path in room.glob("*/__init__.py")} - PARTS_OF_ALL
        assert folders == set(KINDS) == set(PARTS)
    for name, kind in KINDS.items():
        assert isinstance(kind, ModuleType)
        assert name == kind.NAME
        assert kind.__name__ == f"workflow.kinds.{name}"


def test_kind_protocols_declare_names() -> None:
    assert {"NAME", "FORMATS", "open_row", "make_turn", "count"} <= names_of(Kind)
    assert {"EXPORT", "queue_page", "settings"} <= names_of(KindParts)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(("room", "protocol"), [("workflow.kinds", Kind), ("pages.parts", KindParts)])
def test_kind_implements_its_protocol(name: str, room: str, protocol: type) -> None:
    module = import_module(f"{room}.{name}")
    wanted = names_of(protocol)
    assert wanted <= set(dir(module))
    for one in wanted:
        found = getattr(module, one)
        if inspect.isfunction(inspect.getattr_static(protocol, one, None)):
            assert callable(found), one


@pytest.mark.parametrize("name", KINDS)
def test_kind_functions_have_protocol_parameters(name: str) -> None:
    for one, declared in inspect.getmembers(Kind, inspect.isfunction):
        if one.startswith("_"):
            continue
        wanted = [parameter for parameter in inspect.signature(declared).parameters if parameter != "self"]
        found = inspect.signature(getattr(KINDS[name], one)).parameters
        assert list(found)[: len(wanted)] == wanted, one


# Texts of every kind for confirming several rows: a full set, or none


ASKED = [name for name in vars(Batching) if not name.startswith("_")]


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_batching_is_complete_or_absent(kind: object) -> None:
    batching = kind.BATCHING  # type: ignore[attr-defined]
    assert len(ASKED) == 7
    for name in ASKED if batching is not None else ():
        asked = list(inspect.signature(getattr(Batching, name)).parameters)
        assert ["self", *inspect.signature(getattr(batching, name)).parameters] == asked, name


def test_one_label_supports_batches() -> None:
    assert [name for name, kind in KINDS.items() if kind.BATCHING is not None] == ["one_label"]


# Texts of every kind for rows on the map: in the order asked for, within the classes, and known once
# answered


@pytest.mark.parametrize("make", [small_project, vector_project])
def test_map_names_rows_in_requested_order(home: Home, owner: int, make: object) -> None:
    seat = Seat(home, owner, make(home, owner))  # type: ignore[operator]
    seat.settle()
    with seat.learner() as opened:
        kind, learner = opened.kind, opened.learner
        n, m = learner.table.n_rows, len(learner.classes)
        every = kind.MAP.named(learner, list(range(n)))
        assert ((every.classes == NOTHING) | ((every.classes >= 0) & (every.classes < m))).all()
        assert (every.classes[every.known] >= 0).all()
        doubt = every.doubt[~np.isnan(every.doubt)]
        assert ((doubt >= 0) & (doubt <= 1)).all()
        back = kind.MAP.named(learner, list(range(n))[::-1])
        for name in ("classes", "known", "doubt"):
            np.testing.assert_array_equal(getattr(back, name)[::-1], getattr(every, name))
        assert len(kind.MAP.named(learner, []).classes) == 0


def test_map_marks_answered_row_as_known(home: Home, owner: int, project: int) -> None:
    saved = answer_next(home, owner, project)
    with Seat(home, owner, project).learner() as opened:
        named = opened.kind.MAP.named(opened.learner, [saved.row])
        assert opened.learner.classes[named.classes[0]] == saved.labels[0]
    assert named.known[0]


# Figures of shortlists for pages


def view(checks: int = 0, held: int = 0, measured: int = 0, asked: int = 0, none: int = 0) -> ShortlistView:
    return ShortlistView(
        promise=0.95,
        leaves_out=True,
        weighs_own=False,
        in_full=0.2,
        drawn=200,
        outside=outside_rate(0, checks),
        in_force=True,
        held=held,
        measured=measured,
        asked=asked,
        none=none,
        others=0,
    )


@pytest.mark.parametrize(("checks", "missing"), [(0, [9, 19, 99]), (12, [0, 7, 87]), (99, [0, 0, 0])])
def test_missing_checks_are_counted_for_each_promise(checks: int, missing: list[int]) -> None:
    assert [view(checks).missing(promise) for promise in PROMISES] == missing


def test_shortlist_intervals_are_exact() -> None:
    found = view(97, held=93, measured=97, asked=310, none=12)
    assert found.held_interval == tuple(map(float, exact_interval(93, 97)))
    assert found.none_interval == tuple(map(float, exact_interval(12, 310)))
    assert view().held_interval == (0.0, 1.0)


def test_promise_must_be_one_of_three_values() -> None:
    assert RoomSettings.from_json(RoomSettings(shortlist=0.95).to_json()).shortlist == 0.95
    assert RoomSettings.from_json({}).shortlist is None
    with pytest.raises(RoomError, match=r"shortlist must be None or one of 0.9, 0.95, 0.99. Got 0.5"):
        RoomSettings(shortlist=0.5)
