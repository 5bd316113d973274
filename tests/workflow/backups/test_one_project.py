"""A project downloaded and imported elsewhere is the same: its log, its rows, its settings, its questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from db import copies
from plcore.loop import ClassError, EntryKind
from tests.databases import on_postgres_in_proofs
from tests.workflow.backups.drill import files_of
from tests.workflow.backups.forging import new_home
from tests.workflow.kind_worlds import WORLDS, KindWorld
from tests.workflow.vector_world import vector_project
from tests.workflow.world import annotator, answer_next, opened, small_project, somebody
from workflow.access import NotAllowed
from workflow.answering import loop, room, undoing
from workflow.answering.room_settings import RoomSettings
from workflow.answering.turn import StaleQuestion
from workflow.backups import making, one_project
from workflow.backups.archive import check_archive, extract_all, write_archive
from workflow.backups.manifest import PROJECT, BackupError, DamagedError
from workflow.backups.one_project import BroughtIn, bring_in, take_along
from workflow.log import verifying
from workflow.people import aside, goals, members, team
from workflow.projects import classes, managing
from workflow.projects.managing import ProjectNameError
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("checked_here")]


def taken(seat: Seat) -> Any:
    """All that is stored of the project."""
    with seat.home.database.read() as session:
        return copies.take(session, int(seat.project_id or 0))


def answer(world: KindWorld, seat: Seat) -> None:
    question = loop.next_question(seat)
    if question is not None:
        given = world.true(question)
        loop.submit_answer(seat, question.token, given.kind, given.labels, shown=given.shown)


ACTS: dict[str, Callable[[KindWorld, Seat, Seat], object]] = {
    "the owner answers": lambda world, owner, _ada: answer(world, owner),
    "Ada answers": lambda world, _owner, ada: answer(world, ada),
    "Ada skips": lambda _world, _owner, ada: skip(ada),
    "Ada takes it back": lambda _world, _owner, ada: take_back(ada),
    "the guidelines change": lambda _world, owner, _ada: room.change_room(owner, RoomSettings("Look twice.")),
    "a class is added": lambda _world, owner, _ada: add_class(owner),
    "Ada has a goal": lambda _world, _owner, ada: goals.set_goal(ada, goals.Goal(40)),
    "Ada's answers are set aside": lambda _world, owner, ada: set_aside(owner, ada),
}


def skip(seat: Seat) -> None:
    question = loop.next_question(seat)
    if question is not None:
        loop.submit_answer(seat, question.token, "skip")


def take_back(seat: Seat) -> None:
    """Withdraw their latest answer, if undo would."""
    own = [one["seq"] for one in taken(seat)[1]["entries"] if one["person_id"] == seat.person_id]
    with suppress(StaleQuestion):
        undoing.undo(seat, max(own, default=0))


def add_class(seat: Seat) -> None:
    """Add a class, if the kind allows it."""
    with suppress(ClassError):
        if "new" not in room.class_names(seat):
            classes.change_classes(seat, classes.classes_view(seat).version, "add", ["new"])


def set_aside(seat: Seat, who: Seat) -> None:
    if any(one["person_id"] == who.person_id for one in taken(seat)[1]["entries"]):
        aside.set_aside(seat, who.person_id)


@pytest.mark.parametrize(
    "world",
    [pytest.param(one, marks=pytest.mark.proof if at else (), id=one.kind) for at, one in enumerate(WORLDS[:2])],
)
def test_exported_project_is_the_same_after_import(world: KindWorld, tmp_path: Path) -> None:
    must_survive_two_moves(tmp_path, world, [*ACTS])


@pytest.mark.proof
@settings(max_examples=20)
@given(st.sampled_from(WORLDS), st.lists(st.sampled_from(list(ACTS)), max_size=6))
def test_project_after_any_acts_is_the_same_after_import(
    tmp_path_factory: pytest.TempPathFactory, world: KindWorld, acts: list[str]
) -> None:
    must_survive_two_moves(tmp_path_factory.mktemp("drill"), world, acts)


def must_survive_two_moves(folder: Path, world: KindWorld, acts: list[str]) -> None:
    """To a Winnow where people have other ids, and from there to one where they have the original ids."""
    with new_home(folder / "a") as owner, new_home(folder / "b") as there, new_home(folder / "c") as last:
        here = owner.at(world.make(owner))
        ada = Seat(owner.home, annotator(owner.home, owner.person_id, "Ada"), here.project_id)
        for name in acts:
            ACTS[name](world, here, ada)
        for name in ("Zoe", "Yan"):
            somebody(there.home, there.person_id, name)
        take_along(here, folder / "one.zip")
        moved = there.at(bring_in(there, folder / "one.zip").project_id)
        take_along(moved, folder / "two.zip")
        back = last.at(bring_in(last, folder / "two.zip").project_id)
        assert taken(back) == taken(here)
        states = []
        for one in (here, moved, back):
            with opened(one.home, one.person_id, int(one.project_id or 0)) as learner:
                states.append(world.state(learner))
        np.testing.assert_array_equal(states[0], states[2])
        np.testing.assert_array_equal(states[0], states[1])
        found = [verifying.verify_project(one)[0] for one in (here, moved, back)]
        assert found[0].head == found[2].head
        assert files_of(last.home.settings.home) == files_of(owner.home.settings.home)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Seat]:
    with new_home(tmp_path / "elsewhere") as seat:
        yield seat


@pytest.fixture
def file(home: Home, owner: int, project: int, tmp_path: Path) -> Path:
    """The file of a project in which Ada has answered."""
    answer_next(home, annotator(home, owner, "Ada"), project)
    take_along(Seat(home, owner, project), tmp_path / "p.zip")
    return tmp_path / "p.zip"


@on_postgres_in_proofs
def test_imported_project_asks_same_next_question(
    home: Home, owner: int, project: int, file: Path, elsewhere: Seat
) -> None:
    brought = bring_in(elsewhere, file)
    here, there = (loop.next_question(seat) for seat in (Seat(home, owner, project), elsewhere.at(brought.project_id)))
    assert here == there is not None


def test_imported_people_get_new_ids_and_cannot_sign_in(file: Path, elsewhere: Seat) -> None:
    """Another person here has the id that Ada had there, and answers the same row."""
    zoe = somebody(elsewhere.home, elsewhere.person_id, "Zoe")
    brought = bring_in(elsewhere, file)
    assert brought == BroughtIn(1, "small", known=("owner",), new=("Ada",))
    (entry,) = taken(elsewhere.at(brought.project_id))[1]["entries"]
    (ada,) = (one for one in team.list_people(elsewhere) if one.name == "Ada")
    assert (ada.role, ada.disabled_at is None) == ("annotator", False)
    assert ada.id != zoe
    assert entry["person_id"] == ada.id
    assert entry["token"].startswith(f"{ada.id}.")
    with pytest.raises(NotAllowed):
        loop.next_question(Seat(elsewhere.home, ada.id, brought.project_id))
    team.redeem_link(elsewhere.home, team.make_link_for(elsewhere, ada.id))
    assert loop.next_question(Seat(elsewhere.home, ada.id, brought.project_id)) is not None
    assert "Ada" in str(members.list_members(elsewhere.at(brought.project_id)))


def test_import_under_taken_name_is_refused(file: Path, elsewhere: Seat) -> None:
    bring_in(elsewhere, file)
    with pytest.raises(ProjectNameError, match="exists already"):
        bring_in(elsewhere, file)
    again = bring_in(elsewhere, file, "small again")
    assert (again.name, again.known) == ("small again", ("Ada", "owner"))
    assert {one.name for one in managing.list_projects(elsewhere)} == {"small again", "small"}


def test_table_with_wrong_hash_name_is_refused(file: Path, elsewhere: Seat, tmp_path: Path) -> None:
    """It would be stored for all projects that have that other table."""
    manifest = check_archive(file)
    extract_all(file, manifest, tmp_path / "aside")
    (table,) = (one.name for one in manifest.members if one.name.startswith("tables/"))
    (tmp_path / "aside" / table).write_bytes(b"another")
    sources = [(one.name, tmp_path / "aside" / one.name) for one in manifest.members]
    write_archive(tmp_path / "forged.zip", manifest, sources)
    with pytest.raises(DamagedError, match="which it is called by"):
        bring_in(elsewhere, tmp_path / "forged.zip")


def test_damaged_files_and_full_backups_are_refused(
    home: Home, owner: int, file: Path, elsewhere: Seat, tmp_path: Path
) -> None:
    making.make(home, tmp_path / "b.zip")
    with pytest.raises(BackupError, match="is a whole Winnow"):
        bring_in(elsewhere, tmp_path / "b.zip")
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(DamagedError):
        bring_in(elsewhere, file)


def test_project_file_contains_its_own_tables_only(home: Home, owner: int, project: int, tmp_path: Path) -> None:
    vector_project(home, owner)
    manifest = take_along(Seat(home, owner, project), tmp_path / "p.zip")
    assert (manifest.kind, manifest.counts["projects"]) == (PROJECT, 1)
    assert sum(one.name.startswith("tables/") for one in manifest.members) == 1
    (table,) = (one.name for one in manifest.members if one.name.startswith("tables/"))
    (home.settings.home / table).unlink()
    with pytest.raises(BackupError, match="is missing in the data folder"):
        take_along(Seat(home, owner, project), tmp_path / "q.zip")


def test_answers_during_project_export_are_not_blocked(
    home: Home, owner: int, project: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, take = annotator(home, owner, "Ada"), copies.take

    def slow(*given: Any) -> Any:
        answer_next(home, ada, project)
        return take(*given)

    with monkeypatch.context() as patch:
        patch.setattr(copies, "take", slow)
        patch.setattr("db.engine.BUSY_SECONDS", 0.5)
        made = take_along(Seat(home, owner, project), tmp_path / "p.zip")
    assert made.counts["entries"] == 0, "as it was at one moment"
    assert len(taken(Seat(home, owner, project))[1]["entries"]) == 1


def test_excluded_annotator_stays_excluded_after_import(
    home: Home, owner: int, tmp_path: Path, elsewhere: Seat
) -> None:
    project = small_project(home, owner, "another")
    ada = annotator(home, owner, "Ada")
    answer_next(home, ada, project)
    aside.set_aside(Seat(home, owner, project), ada)
    take_along(Seat(home, owner, project), tmp_path / "p.zip")
    somebody(elsewhere.home, elsewhere.person_id, "Zoe")
    seat = elsewhere.at(bring_in(elsewhere, tmp_path / "p.zip").project_id)
    log = taken(seat)[1]["entries"]
    (said,) = (one for one in log if one["kind"] == EntryKind.ASIDE)
    assert said["labels"] == [str(log[0]["person_id"])] == ["3"]


def test_owner_right_is_checked_again_before_storing(
    file: Path, elsewhere: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It can take minutes. Nothing is stored."""

    def revoked(*_given: Any) -> Any:
        raise NotAllowed("You are not an owner.")

    monkeypatch.setattr(one_project, "check_free", revoked)
    with pytest.raises(NotAllowed, match="not an owner"):
        bring_in(elsewhere, file)
    assert files_of(elsewhere.home.settings.home) == {}
