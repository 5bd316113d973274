"""A seat: who may come in by which way, what each way gives, and what a block that fails leaves."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import make_url

from db import projects as stored
from plcore.loop import Place
from tests.databases import on_postgres
from tests.workflow.kind_worlds import WORLDS, KindWorld
from tests.workflow.world import annotator, small_project, unwritable
from workflow import kinds
from workflow.access import NotAllowed, NotFound, Right
from workflow.answering import room
from workflow.answering.loop import StaleQuestion
from workflow.answering.room import RoomSettings
from workflow.answering.turn import Turn
from workflow.kinds import KINDS
from workflow.log import verifying
from workflow.people import team
from workflow.projects import managing
from workflow.saving import NotSaved
from workflow.seat import Seat
from workflow.server.home import Home, open_home

Way = Callable[[Seat], AbstractContextManager[Any]]

READING: dict[str, Way] = {
    "reading": lambda seat: seat.reading(),
    "learner": lambda seat: seat.learner(),
    "turn": lambda seat: seat.turn(),
}
OWNERS: dict[str, Way] = {
    "reading": lambda seat: seat.reading(Right.OWN),
    "learner": lambda seat: seat.learner(Right.OWN),
    "owning": lambda seat: seat.owning(),
    "owning anywhere": lambda seat: seat.owning(anywhere=True),
}
EVERY: dict[str, Way] = {**READING, **{f"{name}, as owner": way for name, way in OWNERS.items()}}


@pytest.fixture
def seat(home: Home, owner: int, project: int) -> Seat:
    return Seat(home, owner, project)


@pytest.fixture
def ada(seat: Seat) -> Seat:
    return Seat(seat.home, annotator(seat.home, seat.person_id, "Ada"), seat.project_id)


@pytest.mark.parametrize("way", EVERY)
def test_the_owner_comes_in_by_every_way(seat: Seat, way: str) -> None:
    with EVERY[way](seat) as inside:
        assert inside.person.id == seat.person_id
        assert inside.session.is_active


@pytest.mark.parametrize("way", EVERY)
def test_an_annotator_comes_in_where_the_owner_is_not_asked_for(ada: Seat, way: str) -> None:
    if way in READING:
        with READING[way](ada) as inside:
            assert inside.person.name == "Ada"
    else:
        with pytest.raises(NotAllowed, match="Only the owner"), EVERY[way](ada):
            pytest.fail("an annotator came in")


@pytest.mark.parametrize("way", EVERY)
@pytest.mark.parametrize("who", ["unknown", "disabled"])
def test_strangers_come_in_nowhere(seat: Seat, ada: Seat, way: str, who: str) -> None:
    person = 99
    if who == "disabled":
        team.disable_person(Seat(seat.home, seat.person_id), ada.person_id)
        person = ada.person_id
    for project in (seat.project_id, 99):
        with (
            pytest.raises(NotAllowed, match="Your access has ended"),
            EVERY[way](Seat(seat.home, person, project)),
        ):
            pytest.fail(f"{who} came in")


@pytest.mark.parametrize("way", EVERY)
@pytest.mark.parametrize("where", ["unknown", "archived", "in the bin", "archived and in the bin"])
def test_a_project_not_in_use_is_opened_by_its_owner_anywhere_alone(seat: Seat, way: str, where: str) -> None:
    if "archived" in where:
        managing.archive_project(seat)
    if "bin" in where:
        managing.bin_project(seat)
    there = Seat(seat.home, seat.person_id, 99) if where == "unknown" else seat
    if way == "owning anywhere, as owner" and where != "unknown":
        with EVERY[way](there) as inside:
            assert inside.project.id == seat.project_id
        return
    words = {"unknown": "There is no project 99", "archived": "is archived"}.get(where, "is in the bin")
    with pytest.raises(NotFound, match=words), EVERY[way](there):
        pytest.fail("it was opened")


def test_a_seat_at_no_project_reads_and_owns_but_has_no_learner(seat: Seat) -> None:
    nowhere = Seat(seat.home, seat.person_id)
    assert nowhere.at(3) == Seat(seat.home, seat.person_id, 3)
    for way in (nowhere.reading(), nowhere.owning(), nowhere.owning(anywhere=True)):
        with way as inside:
            assert inside.at is None
    for learning in (nowhere.learner(), nowhere.turn()):
        with pytest.raises(LookupError, match="This seat is at no project"), learning:
            pytest.fail("it has a learner")
    with pytest.raises(LookupError, match="at no project"):
        _ = nowhere.kind


def test_a_person_who_is_disabled_meanwhile_is_out_at_the_next_step(seat: Seat, ada: Seat) -> None:
    with ada.turn():
        pass
    team.disable_person(seat.at(seat.project_id or 0), ada.person_id)
    with pytest.raises(NotAllowed), ada.turn():
        pytest.fail("she had her turn")


def test_what_an_owner_writes_is_stored_whole_or_not_at_all(seat: Seat) -> None:
    before = room.room_of(seat)

    def change(text: str, after: float = 1.0) -> float:
        with seat.owning() as owning:
            stored.change_room(owning.session, owning.project.id, RoomSettings(text).to_json())
            return 1 / after

    with pytest.raises(ZeroDivisionError):
        change("half", 0)
    assert room.room_of(seat) == before
    with pytest.raises(NotSaved), unwritable(seat.home):
        change("x" * 20_000)
    assert room.room_of(seat) == before
    change("whole")
    assert room.room_of(seat) == RoomSettings("whole")


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_a_turn_is_of_the_kind_of_the_project(world: KindWorld, home: Home, owner: int) -> None:
    seat = Seat(home, owner, world.make(Seat(home, owner)))
    assert seat.kind is KINDS[world.kind]
    with seat.turn() as turn:
        assert isinstance(turn, Turn)
        assert turn.opened.kind is seat.kind
        assert (turn.person_id, turn.project_id) == (owner, seat.project_id)


def test_what_was_stored_by_another_tab_meanwhile_is_stale(seat: Seat) -> None:
    with seat.turn() as turn:
        row = int(turn.learner.ranking()[0][0])
        turn.writer(Place(row)).write("skip", token="a")
    with pytest.raises(StaleQuestion, match="in another tab"), seat.turn() as turn:
        turn.writer(Place(row)).write("skip", token="a")
    with seat.learner() as opened:
        assert opened.learner.seq == 1


def test_the_same_learner_serves_everybody_until_the_settings_are_others(seat: Seat, ada: Seat) -> None:
    with seat.learner() as one, ada.learner() as other:
        assert one.learner is other.learner
        first = one.learner
    managing.change_learner(seat, strategy="random")
    with seat.learner() as opened:
        assert opened.learner is not first
        assert opened.learner.settings.strategy == "random"
    other = seat.at(small_project(seat.home, seat.person_id, "other"))
    with other.learner() as opened:
        assert opened.project_id == other.project_id


@on_postgres
def test_of_two_owners_who_change_a_project_at_once_neither_undoes_what_the_other_did(
    home: Home, owner: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second comes when the first has read the settings that it changes. PostgreSQL would let it."""
    project = small_project(home, owner, model="plknn")
    url = make_url(home.settings.database_url).update_query_dict({"options": "-c lock_timeout=50ms"})
    at_once = url.render_as_string(hide_password=False)
    other = open_home(replace(home.settings, database_url=at_once))
    real, seats = kinds.changed_settings, [Seat(other, owner, project)]

    def changed(*given: Any) -> Any:
        if seats:
            with suppress(NotSaved):  # it is not its turn
                managing.change_learner(seats.pop(), model="clpl")
        return real(*given)

    monkeypatch.setattr(kinds, "changed_settings", changed)
    try:
        managing.change_learner(Seat(home, owner, project), strategy="random")
        assert verifying.verify_project(Seat(home, owner, project)), "log and settings name one model"
        managing.change_learner(Seat(other, owner, project), model="clpl")
    finally:
        other.close()
    now = managing.learner_settings(Seat(home, owner, project))
    assert (now["model"], now["strategy"]) == ("clpl", "random")
    assert verifying.verify_project(Seat(home, owner, project))
