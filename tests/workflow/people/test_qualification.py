"""The owner's side of qualification: what is asked for, who has passed, who is let in."""

from __future__ import annotations

import pytest

from tests.workflow.kind_worlds import KindWorld
from tests.workflow.world import annotator
from workflow import kinds
from workflow.access import NotAllowed, NotFound
from workflow.answering import loop
from workflow.answering.room_settings import RoomError, RoomSettings
from workflow.people import examples, qualification, team
from workflow.people.examples import QUALIFICATION
from workflow.people.qualification import QualificationRule
from workflow.seat import Seat


@pytest.fixture
def marked(world: KindWorld, seat: Seat) -> int:
    """A row marked for it; the kinds without qualifications are left out of what needs one."""
    while not examples.marking(seat, row := world.answer(seat).row).labels:
        pass
    label = examples.marking(seat, row).labels[0]
    if kinds.KINDS[world.kind].CAN_QUALIFY:
        examples.mark(seat, row, label, purpose=QUALIFICATION)
    return row


def test_a_kind_with_several_labels_says_that_it_has_none(
    world: KindWorld, seat: Seat, ada: Seat, marked: int
) -> None:
    possible = kinds.KINDS[world.kind].CAN_QUALIFY
    assert qualification.overview(seat).possible == possible
    if possible:
        qualification.change_rule(seat, QualificationRule(1, 1))
        with pytest.raises(loop.NotQualified):
            loop.next_question(ada)
    else:
        with pytest.raises(RoomError, match="so it has no qualification"):
            qualification.change_rule(seat, QualificationRule(1, 1))
        assert qualification.now(ada) is None
        assert loop.next_question(ada) is not None


def test_it_asks_no_more_rows_than_are_marked(world: KindWorld, seat: Seat, marked: int) -> None:
    if not kinds.KINDS[world.kind].CAN_QUALIFY:
        assert qualification.overview(seat) == qualification.QualificationView(False, None, 0, ())
        return
    with pytest.raises(RoomError, match=r"asks 2 rows, and 1 are marked for it\. Fix: mark more"):
        qualification.change_rule(seat, QualificationRule(2, 1))
    qualification.change_rule(seat, QualificationRule(1, 0.5))
    view = qualification.overview(seat)
    assert (view.possible, view.rule, view.marked) == (True, QualificationRule(1, 0.5), 1)
    qualification.change_rule(seat, None)
    assert qualification.overview(seat).rule is None


def test_the_owner_sees_who_stands_where_and_lets_people_in(
    world: KindWorld, seat: Seat, ada: Seat, marked: int
) -> None:
    if not kinds.KINDS[world.kind].CAN_QUALIFY:
        return
    qualification.change_rule(seat, QualificationRule(1, 1))
    gone = annotator(seat.home, seat.person_id, "Gone")
    team.disable_person(Seat(seat.home, seat.person_id), gone)

    def state() -> tuple[str, bool]:
        (one,) = qualification.overview(seat).people
        assert (one.person_id, one.name) == (ada.person_id, "Ada")
        return one.state, one.may_start

    assert state() == ("has not begun", False)
    qualification.begin(ada)
    assert state() == ("answers row 1 of 1, attempt 1", False)
    now = qualification.now(ada)
    assert now is not None
    assert now.token is not None
    wrong = next(one for one in now.choices if one != examples.marking(seat, marked).label)
    qualification.judge(ada, now.token, wrong)
    assert state() == ("not passed: 0 of 1 right, attempt 1", False)
    qualification.let_in(seat, ada.person_id)
    qualification.let_in(seat, ada.person_id)
    assert state() == ("let in by the owner", True)
    assert qualification.now(ada) is None
    assert loop.next_question(ada) is not None


def test_letting_in_is_the_owner_s(seat: Seat, ada: Seat) -> None:
    for act in (
        lambda: qualification.let_in(ada, ada.person_id),
        lambda: qualification.overview(ada),
        lambda: qualification.change_rule(ada, None),
    ):
        with pytest.raises(NotAllowed, match="Only the owner"):
            act()
    with pytest.raises(NotFound, match="There is no person 999"):
        qualification.let_in(seat, 999)


@pytest.mark.parametrize(
    ("rows", "share"), [(0, 0.5), (51, 0.5), (2.0, 0.5), (True, 0.5), (2, 0), (2, 1.1), (2, "1")]
)
def test_a_rule_has_sensible_numbers(rows: object, share: object) -> None:
    with pytest.raises(RoomError, match="Got"):
        QualificationRule(rows, share)  # type: ignore[arg-type]


def test_the_rule_is_stored_with_the_room() -> None:
    room = RoomSettings("read this", qualification=QualificationRule(5, 0.8))
    assert room.to_json()["qualification"] == {"rows": 5, "share": 0.8}
    assert RoomSettings.from_json(room.to_json()) == room
    assert RoomSettings.from_json({}).qualification is None
