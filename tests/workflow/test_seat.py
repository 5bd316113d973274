"""The seat: rights, and the opened project."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import event, make_url

from db import projects as stored
from plcore.loop import Place
from tests.databases import on_postgres
from tests.workflow.kind_worlds import WORLDS, KindWorld
from tests.workflow.world import annotator, small_project, somebody, unwritable
from workflow import access, kinds
from workflow.access import RIGHTS, NotAllowed, NotFound, Right, Role
from workflow.answering import room
from workflow.answering.loop import StaleQuestion
from workflow.answering.room import RoomSettings
from workflow.answering.turn import Turn
from workflow.kinds import KINDS, one_label
from workflow.log import verifying
from workflow.opened import Opened, Reading
from workflow.people import team
from workflow.projects import managing
from workflow.saving import NotSaved
from workflow.seat import Seat
from workflow.server.home import Home, open_home

# A seat: access by each way, its content, and the state after a failed block


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
def own_seat(home: Home, owner: int, project: int) -> Seat:
    return Seat(home, owner, project)


@pytest.fixture
def own_ada(own_seat: Seat) -> Seat:
    return Seat(own_seat.home, annotator(own_seat.home, own_seat.person_id, "Ada"), own_seat.project_id)


def test_owner_can_open_every_context(own_seat: Seat, subtests: pytest.Subtests) -> None:
    for name, way in EVERY.items():
        with subtests.test(name), way(own_seat) as inside:
            assert inside.person.id == own_seat.person_id
            assert inside.session.is_active


def test_annotator_can_open_non_owner_contexts(own_ada: Seat, subtests: pytest.Subtests) -> None:
    for name, way in READING.items():
        with subtests.test(name), way(own_ada) as inside:
            assert inside.person.name == "Ada"
    for name, way in OWNERS.items():
        with subtests.test(name), pytest.raises(NotAllowed, match="Only the owner"), way(own_ada):
            pytest.fail("an annotator came in")


@pytest.mark.parametrize("who", ["unknown", "disabled"])
def test_disabled_or_unknown_people_can_open_no_context(
    own_seat: Seat, own_ada: Seat, subtests: pytest.Subtests, who: str
) -> None:
    person = 99
    if who == "disabled":
        team.disable_person(Seat(own_seat.home, own_seat.person_id), own_ada.person_id)
        person = own_ada.person_id
    for name, way in EVERY.items():
        for project in (own_seat.project_id, 99):
            there = Seat(own_seat.home, person, project)
            with (
                subtests.test(f"{name} at {project}"),
                pytest.raises(NotAllowed, match="Your access has ended"),
                way(there),
            ):
                pytest.fail(f"{who} came in")


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("unknown", "There is no project 99"),
        ("archived", "is archived"),
        ("in the bin", "is in the bin"),
        ("archived and in the bin", "is in the bin"),
    ],
)
def test_inactive_project_is_opened_only_by_owner_with_anywhere(
    own_seat: Seat, subtests: pytest.Subtests, where: str, words: str
) -> None:
    if "archived" in where:
        managing.archive_project(own_seat)
    if "bin" in where:
        managing.bin_project(own_seat)
    there = Seat(own_seat.home, own_seat.person_id, 99) if where == "unknown" else own_seat
    for name, way in EVERY.items():
        with subtests.test(name):
            if name == "owning anywhere, as owner" and where != "unknown":
                with way(there) as inside:
                    assert inside.project.id == own_seat.project_id
            else:
                with pytest.raises(NotFound, match=words), way(there):
                    pytest.fail("it was opened")


def test_seat_without_project_has_no_learner(own_seat: Seat) -> None:
    nowhere = Seat(own_seat.home, own_seat.person_id)
    assert nowhere.at(3) == Seat(own_seat.home, own_seat.person_id, 3)
    for way in (nowhere.reading(), nowhere.owning(), nowhere.owning(anywhere=True)):
        with way as inside:
            assert inside.at is None
    for learning in (nowhere.learner(), nowhere.turn()):
        with pytest.raises(LookupError, match="This seat is at no project"), learning:
            pytest.fail("it has a learner")
    with pytest.raises(LookupError, match="at no project"):
        _ = nowhere.kind


def test_disabled_person_is_refused_at_next_step(own_seat: Seat, own_ada: Seat) -> None:
    with own_ada.turn():
        pass
    team.disable_person(own_seat.at(own_seat.project_id or 0), own_ada.person_id)
    with pytest.raises(NotAllowed), own_ada.turn():
        pytest.fail("she had her turn")


def test_owner_changes_are_atomic(own_seat: Seat) -> None:
    before = room.room_of(own_seat)

    def change(text: str, after: float = 1.0) -> float:
        with own_seat.owning() as owning:
            stored.change(owning.session, owning.project.id, room=RoomSettings(text).to_json())
            return 1 / after

    with pytest.raises(ZeroDivisionError):
        change("half", 0)
    assert room.room_of(own_seat) == before
    with pytest.raises(NotSaved), unwritable(own_seat.home):
        change("x" * 20_000)
    assert room.room_of(own_seat) == before
    change("whole")
    assert room.room_of(own_seat) == RoomSettings("whole")


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_turn_has_kind_of_project(world: KindWorld, home: Home, owner: int) -> None:
    seat = Seat(home, owner, world.make(Seat(home, owner)))
    assert seat.kind is KINDS[world.kind]
    with seat.turn() as turn:
        assert isinstance(turn, Turn)
        assert turn.opened.kind is seat.kind
        assert (turn.person_id, turn.project_id) == (owner, seat.project_id)


def test_turn_overtaken_by_another_tab_is_stale(own_seat: Seat) -> None:
    with own_seat.turn() as turn:
        row = int(turn.learner.ranking()[0][0])
        turn.writer(Place(row)).write("skip", token="a")
    with pytest.raises(StaleQuestion, match="in another tab"), own_seat.turn() as turn:
        turn.writer(Place(row)).write("skip", token="a")
    with own_seat.learner() as opened:
        assert opened.learner.seq == 1


def test_learner_is_shared_until_settings_change(own_seat: Seat, own_ada: Seat) -> None:
    with own_seat.learner() as one, own_ada.learner() as other:
        assert one.learner is other.learner
        first = one.learner
    managing.change_learner(own_seat, strategy="random")
    with own_seat.learner() as opened:
        assert opened.learner is not first
        assert opened.learner.settings.strategy == "random"
    other = own_seat.at(small_project(own_seat.home, own_seat.person_id, "other"))
    with other.learner() as opened:
        assert opened.project_id == other.project_id


@on_postgres
def test_concurrent_owner_changes_are_both_kept(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second change arrives when the first has read the settings. PostgreSQL would allow it."""
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


# Rights, and refusals


def test_require_person_refuses_disabled_and_unknown_people(home: Home, owner: int) -> None:
    ada = annotator(home, owner, "Ada")
    with home.database.read() as session:
        assert access.require_person(session, ada).name == "Ada"
        with pytest.raises(access.NotAllowed, match="Ask the owner of this Winnow for a new sign-in link"):
            access.require_person(session, 99)
    team.disable_person(Seat(home, owner), ada)
    with home.database.read() as session:
        with pytest.raises(access.NotAllowed, match="Your access has ended"):
            access.require_person(session, ada)
        with pytest.raises(access.NotAllowed, match="Your access has ended"):
            access.role_here(session, ada)
    assert issubclass(access.NotAllowed, PermissionError)
    assert issubclass(access.NotFound, LookupError)


def test_annotator_without_project_may_only_see(home: Home, owner: int) -> None:
    ada = annotator(home, owner, "Ada")
    with home.database.read() as session:
        assert access.role_here(session, owner).role is Role.OWNER
        nobody = access.role_here(session, ada)
        assert nobody.role is None
        assert [right for right in Right if nobody.may(right)] == [Right.SEE]
        with pytest.raises(access.NotAllowed, match=r"Only the owner may do this; Ada is an annotator\.$"):
            access.require_right(nobody, Right.OWN)


@pytest.mark.parametrize("role", list(Role))
def test_role_at_project_determines_rights(home: Home, owner: int, project: int, role: Role) -> None:
    ada = annotator(home, owner, "Ada", role)
    with home.database.read() as session:
        rights, found, coming = access.at_project(session, ada, project)
        assert (found.id, coming.height) == (project, 0)
        assert (rights.person.name, rights.role) == ("Ada", role)
        assert {right for right in Right if rights.may(right)} == RIGHTS[role]
        assert rights.whose == (None if role in (Role.OWNER, Role.REVIEWER) else ada)
        for right in Right:
            if right in RIGHTS[role]:
                access.require_right(rights, right)
            else:
                with pytest.raises(access.NotAllowed, match=f"Ada is an? {role} of this project"):
                    access.require_right(rights, right)
        owners, *_ = access.at_project(session, owner, project)
        assert (owners.role, owners.whose) == (Role.OWNER, None)


def test_non_member_cannot_tell_that_project_exists(
    home: Home, owner: int, project: int, subtests: pytest.Subtests
) -> None:
    eve = somebody(home, owner, "Eve")
    for number in (2, 99, 0, -1, 2**31, 10**30):
        words = []
        with subtests.test(str(number)), home.database.read() as session:
            for one in (project, number):
                with pytest.raises(access.NotFound, match="no one has shared it with you") as refused:
                    access.at_project(session, eve, one)
                words.append(str(refused.value).replace(f"project {one} ", "project N "))
            with pytest.raises(access.NotFound) as missing:
                access.project_for(session, number)  # as an owner of this Winnow hears it
            words.append(str(missing.value).replace(f"project {number} ", "project N "))
            assert len(set(words)) == 1


def test_person_sees_own_projects_only(home: Home, owner: int, project: int) -> None:
    ada, eve = annotator(home, owner, "Ada", "viewer"), somebody(home, owner, "Eve")
    second = small_project(home, owner, "second")
    managing.archive_project(Seat(home, owner, second))

    def seen(person: int) -> list[tuple[int, str]]:
        with home.database.read() as session:
            found = access.visible_projects(session, access.role_here(session, person))
        return [(one.id, role) for one, role in found]

    assert seen(owner) == [(project, "owner"), (second, "owner")]
    assert seen(ada) == [(project, "viewer")]
    assert seen(eve) == []


def test_archived_or_binned_project_is_explained_to_owner(home: Home, owner: int, project: int) -> None:
    def words() -> str:
        with home.database.read() as session:
            assert access.at_project(session, owner, project, anywhere=True)[1].id == project
            try:
                assert access.at_project(session, owner, project)[1].name == "small"
                return access.project_for(session, project).name
            except access.NotFound as refusal:
                return str(refusal)

    seat = Seat(home, owner, project)
    assert words() == "small"
    managing.archive_project(seat)
    assert words() == "small is archived; the owner can restore it on the Home page."
    managing.bin_project(seat)
    assert words() == "small is in the bin; the owner can restore it on the Home page."
    managing.restore_project(seat)
    assert words() == "small"


def test_access_needs_one_statement(home: Home, owner: int, project: int) -> None:
    """One statement for person, role, project and height, because every answer waits for it."""
    said = []
    with home.database.read() as session:
        connection = session.connection()
        event.listen(connection, "before_cursor_execute", lambda *all_of_it: said.append(all_of_it[2]))
        access.at_project(session, owner, project)
    assert len(said) == 1


# State of a use case: the project of a seat that is at one, and whose answers may be seen


def test_reading_seat_without_project_has_no_project(home: Home, owner: int, project: int) -> None:
    with Seat(home, owner).reading() as reading:
        assert isinstance(reading, Reading)
        assert reading.at is None
        with pytest.raises(LookupError, match=r"at no project. Fix: give it a project_id"):
            _ = reading.project
    with Seat(home, owner).at(project).reading() as reading:
        assert reading.project is reading.at
        assert reading.project.id == project


def test_owner_sees_all_answers_and_annotators_their_own(home: Home, owner: int, project: int) -> None:
    ada = annotator(home, owner, "Ada")
    with Seat(home, owner, project).reading() as reading:
        assert reading.whose is None
    with Seat(home, ada, project).reading() as reading:
        assert reading.whose == ada


def test_opened_learner_knows_its_kind_and_settings(home: Home, owner: int, project: int) -> None:
    with Seat(home, owner, project).learner() as opened:
        assert isinstance(opened, Opened)
        assert opened.kind is one_label
        assert (opened.project_id, opened.person_id, opened.written) == (project, owner, [])
        assert opened.learner.settings.to_json() == opened.project.settings
