"""Figures about annotators and their goals."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from db import entries
from db import members as stored_goals
from db.answers import SaidEntry
from plcore.evaluation import wilson_interval
from tests.workflow import vector_world
from tests.workflow.four import four_class_project
from tests.workflow.people.conftest import add_person
from tests.workflow.people.test_audit import doubled, press, state
from tests.workflow.world import annotator, answer_next, small_frame, small_project
from workflow.access import NotAllowed
from workflow.answering import loop, oracle, undoing
from workflow.log.reading import Vote
from workflow.people import elsewhere, figures, goals, passwords, team, tokens
from workflow.people.aside import count_again, set_aside
from workflow.people.browsers import Visit
from workflow.people.figures import CountedShare, Said, figures_of, presses, warnings
from workflow.people.goals import BREAK_AFTER, Day, Goal, GoalError
from workflow.people.team import overview
from workflow.projects.figures import SIMULATED
from workflow.seat import Seat
from workflow.server.home import Home

# Figures about people in real projects: each person's view, and agreement with the log


def people_at(home: Home, owner: Seat, project: int, *names: str) -> list[Seat]:
    return [Seat(home, annotator(home, owner.person_id, name), project) for name in names]


def answer(seat: Seat, *, right: bool) -> bool:
    """Answer the current question, right or wrong; False if there is none."""
    question = loop.next_question(seat)
    if question is None:
        return False
    true = str(small_frame().truth[question.view.row])
    wrong = next(one for one in question.choices if one != true)
    loop.submit_answer(seat, question.token, "is", [true if right else wrong])
    return True


def test_figures_of_two_people_on_same_rows(home: Home, chief: Seat) -> None:
    project = doubled(home, chief.person_id)
    here = chief.at(project)
    ada, ben = people_at(home, chief, project, "Ada", "Ben")
    for turn in range(12):
        answer(ada, right=True)
        answer(ben, right=turn % 3 != 0)
    found = {one.name: one for one in figures.team(here).people}
    assert list(found) == ["Ada", "Ben"]
    assert (found["Ada"].answers, found["Ben"].answers) == (12, 12)
    assert (found["Ben"].others.right, found["Ben"].others.of) == (8, 12)
    assert found["Ada"].others == found["Ben"].others
    assert found["Ada"].checks.right == found["Ada"].checks.of
    pair = figures.team(here).agreement.pairs[0]
    assert (pair.n_rows, pair.same) == (12, 8)
    assert undoing.undo(ben) is not None
    assert {one.name: one.answers for one in figures.team(here).people} == {"Ada": 12, "Ben": 11}
    seen = figures.confusion(here, ben.person_id)
    assert seen is not None
    assert seen.shares.sum(axis=1) == pytest.approx(1)
    assert seen.n_shared == 11


def test_annotator_sees_own_figures_only(home: Home, chief: Seat) -> None:
    project = doubled(home, chief.person_id)
    ada, ben = people_at(home, chief, project, "Ada", "Ben")
    for _ in range(11):
        answer(ada, right=True)
        answer(ben, right=True)
    own = figures.mine(ada)
    assert (own.name, own.answers, own.others.of, own.warnings) == ("Ada", 11, 10, ())
    with pytest.raises(NotAllowed):
        figures.team(ada)
    with pytest.raises(NotAllowed):
        set_aside(ada, ben.person_id)
    assert figures.confusion(chief.at(project), chief.person_id) is None


def test_label_vectors_have_figures(home: Home, chief: Seat) -> None:
    project = vector_world.vector_project(home, chief.person_id, question="instance")
    (ada,) = people_at(home, chief, project, "Ada")
    for _ in range(3):
        press(ada)
    (found,) = figures.team(chief.at(project)).people
    assert (found.answers, found.others.of) == (3, 0)
    assert figures.team(chief.at(project)).agreement.everywhere.alpha.reason


def test_checks_are_compared_with_verdicts(home: Home, chief: Seat) -> None:
    project = small_project(home, chief.person_id)
    here = chief.at(project)
    assert figures.team(here).people == ()
    assert "majority of the others, without" in figures.team(here).against
    (ada,) = people_at(home, chief, project, "Ada")
    for _ in range(10):
        answer(ada, right=True)
    (found,) = figures.team(here).people
    assert found.checks.right == found.checks.of


def test_excluding_and_including_answers_restores_figures(home: Home, chief: Seat) -> None:
    project = doubled(home, chief.person_id)
    here = chief.at(project)
    ada, ben = people_at(home, chief, project, "Ada", "Ben")
    for _ in range(6):
        answer(ada, right=True)
        answer(ben, right=False)
    before, rows = figures.team(here).people, state(home, chief.person_id, project)
    assert before[0].others.of == 6
    seq = figures.log_seq(ada)
    set_aside(here, ben.person_id)
    assert figures.log_seq(ada) == seq + 1
    found = {one.name: one for one in figures.team(here).people}
    assert found["Ben"].aside
    assert found["Ada"].others.of == 0
    assert found["Ben"].others.of == 6, "they themselves are still held against the others"
    assert figures.team(here).agreement.pairs == ()
    count_again(here, ben.person_id)
    assert figures.team(here).people == before
    assert (state(home, chief.person_id, project) == rows).all()
    with home.database.read() as session:
        assert entries.last_seq(session, project) == seq + 2


# Figures of small worlds, each counted by hand


ADA, BEN, CEM = 1, 2, 3
NAMES = {ADA: "Ada", BEN: "Ben", CEM: "Cem"}
CLASSES = frozenset({"ant", "bee", "cat"})
START = datetime(2026, 3, 1, tzinfo=UTC)


def vote(
    row: int, person: int, name: str, *, check: bool = False, known: str | None = None, model: str | None = None
) -> Vote:
    right = None if known is None else frozenset([known])
    return Vote(row, None, person, frozenset([name]), CLASSES, model, check, right)


def entry(seq: int, person: int, kind: str, seconds: float | None = 2.0, **more: object) -> SaidEntry:
    values: dict[str, object] = {
        "seq": seq,
        "kind": kind,
        "row": seq,
        "label": "",
        "labels": [],
        "after": [],
        "person_id": person,
        "token": f"{person}.{seq}.0",
        "predicted": None,
        "seconds": seconds,
        "note": None,
        "at": START + timedelta(minutes=seq),
        "asked": None,
    }
    return SaidEntry(**(values | more))  # type: ignore[arg-type]


def said(votes: Sequence[Vote] = (), log: Sequence[SaidEntry] = (), aside: Sequence[int] = ()) -> Said:
    return Said(log, votes, frozenset(aside), NAMES)


def test_answers_pace_and_shares_match_hand_count() -> None:
    log = [
        entry(1, ADA, "is", 1.0),
        entry(2, ADA, "is", 3.0),
        entry(3, ADA, "is", 900.0),  # a break
        entry(4, ADA, "unsure", 8.0),
        entry(5, ADA, "none", None),
        entry(6, ADA, "bad", 4.0),
        entry(7, ADA, "skip", 1.0),
        entry(8, ADA, "is", 1.0, note=SIMULATED),
        entry(9, ADA, "is", 1.0, token="1.9.0.is"),  # the second entry of one press
        entry(10, BEN, "is", 1.0),
    ]
    found = figures_of(said(log=log), ADA)
    assert (found.name, found.answers) == ("Ada", 6)
    assert [(one.kind, one.seconds, one.answers) for one in found.pace] == [
        ("is", 2.0, 2),
        ("unsure", 8.0, 1),
        ("bad", 4.0, 1),
    ]
    assert found.seconds == 3.5
    assert found.last_seen == log[8].at
    assert [(one.right, one.of) for one in (found.unsure, found.none, found.bad)] == [(1, 6)] * 3
    assert presses(said(log=log), CEM) == []
    nobody = figures_of(said(log=log), CEM)
    assert (nobody.answers, nobody.seconds, nobody.last_seen) == (0, None, None)


def test_checks_use_known_labels_else_other_annotators() -> None:
    votes = [
        vote(0, ADA, "ant", check=True, known="ant"),
        vote(1, ADA, "ant", check=True, known="bee"),
        vote(2, ADA, "ant", check=True),
        vote(2, BEN, "bee", check=True),
        vote(2, CEM, "bee", check=True),
        vote(3, ADA, "ant", check=True),
        vote(3, BEN, "ant", check=True),
        vote(3, CEM, "bee", check=True),  # of the others one says this and one that: no one knows
        vote(4, ADA, "ant", check=True),  # no one else
        vote(5, ADA, "ant"),
        vote(5, BEN, "ant"),  # no check
    ]
    found = figures_of(said(votes), ADA)
    assert (found.checks.right, found.checks.of) == (1, 3)
    assert (figures_of(said(votes), BEN).checks.right, figures_of(said(votes), BEN).checks.of) == (0, 0)
    without = figures_of(said(votes, aside=[CEM]), ADA)
    assert (without.checks.right, without.checks.of) == (2, 4)
    assert figures_of(said(votes, aside=[CEM]), CEM).aside


def test_agreement_counts_each_place_once() -> None:
    votes = [
        vote(0, ADA, "ant", model="ant"),
        vote(0, BEN, "ant", model="bee"),
        vote(0, CEM, "bee"),
        vote(1, ADA, "bee", model="ant"),
        vote(1, BEN, "bee"),
        vote(2, ADA, "cat"),
    ]
    found = figures_of(said(votes), ADA)
    assert (found.others.right, found.others.of) == (1.5, 2)
    assert (found.model.right, found.model.of) == (1, 2)
    assert found.shared == 2
    several = Vote(3, None, ADA, frozenset({"ant", "bee"}), CLASSES, "ant", False, None)
    assert figures_of(said([*votes, several]), ADA).model.of == 2, "a set is not a single class to compare"


def test_share_has_wilson_interval_if_enough_answers() -> None:
    low, high = wilson_interval(0.75, 20)
    assert CountedShare(15, 20).interval == (low, high)
    assert CountedShare(15, 20).enough
    assert not CountedShare(9, 9).enough
    assert np.isnan(CountedShare(0, 0).value)


def test_own_figures_are_updated_in_steps() -> None:
    votes = [vote(row, who, "ant", check=True) for row in range(23) for who in (ADA, BEN)]
    assert figures_of(said(votes), ADA, at_most=10).checks.of == 20
    assert figures_of(said(votes), ADA, at_most=10).others.of == 20
    assert figures_of(said(votes[:18]), ADA, at_most=10).checks.of == 0


def crowd(rows: int = 60, seed: int = 0) -> list[Vote]:
    """Ada and Ben are nearly always right; Cem presses random keys."""
    rng = np.random.default_rng(seed)
    names = sorted(CLASSES)
    truth = rng.integers(3, size=rows)
    found = []
    for row in range(rows):
        for who in (ADA, BEN, CEM):
            guess = who == CEM or rng.random() < 0.05
            found.append(vote(row, who, names[rng.integers(3) if guess else truth[row]]))
    return found


@pytest.mark.parametrize("aside", [(), (CEM,)])
def test_guessing_annotator_is_reported_with_evidence(aside: tuple[int, ...]) -> None:
    told = warnings(said(crowd(), aside=aside))
    assert list(told) == [CEM]
    assert "May be guessing. Agrees with the others on about" in told[CEM][0]


def test_annotator_who_is_too_fast_is_reported() -> None:
    log = [entry(seq, who, "is", 0.3 if who == CEM else 3.0) for seq in range(40) for who in NAMES]
    votes = [vote(row, who, "ant") for row, who in ((0, ADA), (1, BEN), (2, CEM))]
    told = warnings(said(votes, log))
    assert list(told) == [CEM]
    assert told[CEM][0].startswith("Much faster than the others. Half of the 40 answers took less than 0.3 s")
    assert warnings(said()) == {}


@given(st.permutations(range(30)), st.integers(0, 20))
def test_figures_do_not_depend_on_order_of_others_answers(order: list[int], seed: int) -> None:
    votes = crowd(10, seed)
    own = [one for one in votes if one.person_id == ADA]
    others = [votes[place] for place in order if votes[place].person_id != ADA]
    assert figures_of(said([*own, *others]), ADA) == figures_of(said(votes), ADA)


# A person's day: counted from the log by their local clock, reached once, and when a break is
# offered


NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def answer_at(seat: Seat, *moments: datetime, seconds: float = 10, **more: object) -> None:
    """Add entries of this person at these times to the log."""
    with seat.learner() as opened:
        row = int(np.flatnonzero(~opened.learner.test_rows)[0])
    with seat.home.database.write() as session:
        number = entries.last_seq(session, seat.project_id or 0)
        for place, at in enumerate(moments, number):
            values: dict[str, object] = {
                "project_id": seat.project_id,
                "kind": "unsure",
                "row": row,
                "person_id": seat.person_id,
                "token": f"past.{place}",
                "revision": place,
                "at": at,
                "seconds": seconds,
            }
            entries.append(session, entries.NewEntry(**(values | more)))  # type: ignore[arg-type]


@pytest.fixture
def here(home: Home, owner: int, project: int) -> Seat:
    return Seat(home, owner, project)


def test_day_without_goal_counts_and_offers_breaks(here: Seat) -> None:
    today = goals.day(here, "UTC")
    assert today.goal == Goal(None, None, BREAK_AFTER)
    assert (today.answers, today.minutes, today.working) == (0, 0, 0)
    assert not today.reached
    assert not today.wants_break
    assert not today.paused


def test_day_begins_at_local_midnight(here: Seat) -> None:
    midnight = NOON.replace(hour=0)
    answer_at(here, midnight - timedelta(minutes=90), midnight - timedelta(minutes=30), midnight)
    counted = {
        zone: goals.day(here, zone, NOON)
        for zone in ("UTC", "Europe/Berlin", "America/New_York", "no such zone", None, "/etc/passwd")
    }
    assert {zone: one.answers for zone, one in counted.items()} == {
        "UTC": 1,
        "Europe/Berlin": 2,
        "America/New_York": 0,
        "no such zone": 1,
        None: 1,
        "/etc/passwd": 1,
    }
    assert goals.day(here, "Pacific/Auckland", NOON).date == "2026-03-02"


def test_day_with_two_midnights_begins_at_first(here: Seat) -> None:
    """In Havana clocks go back from one o'clock to midnight: half past midnight comes twice."""
    first = datetime(2025, 11, 2, 4, 30, tzinfo=UTC)
    answer_at(here, first - timedelta(minutes=40), first)
    for later in (timedelta(), timedelta(hours=1), timedelta(hours=9)):
        assert goals.day(here, "America/Havana", first + later).answers == 1


def test_withdrawn_answers_do_not_count_for_day(home: Home, owner: int) -> None:
    here = Seat(home, owner, four_class_project(home, owner))
    ada = Seat(home, annotator(home, here.person_id, "Ada"), here.project_id)
    for _ in range(3):
        answer_next(home, here.person_id, here.project_id or 0)
    answer_next(home, ada.person_id, ada.project_id or 0)
    undoing.undo(here)
    assert goals.day(here, None).answers == 2
    undoing.redo(here)
    assert goals.day(here, None).answers == 3
    question = loop.next_question(here)
    loop.submit_answer(here, question.token, "skip")
    question = loop.next_question(here)
    loop.submit_answer(here, question.token, "none", ["dog"])
    assert goals.day(here, None).answers == 4, "a skip is not an answer; 'none' and what it is are one"
    assert goals.day(ada, None).answers == 1


def test_simulated_answers_do_not_count_for_day(here: Seat) -> None:
    assert oracle.answer_for_me(here, 3) == 3
    assert goals.day(here, None).answers == 0


def test_long_open_question_counts_five_minutes(here: Seat) -> None:
    answer_at(here, NOON - timedelta(hours=2), seconds=90)
    answer_at(here, NOON - timedelta(hours=1), seconds=7_200)
    assert goals.day(here, None, NOON).minutes == 6


def test_goal_is_reported_once_a_day(here: Seat) -> None:
    goals.set_goal(here, Goal(answers=2))
    answer_at(here, NOON)
    assert not goals.day(here, None, NOON).reached
    answer_at(here, NOON + timedelta(minutes=1))
    evening = NOON + timedelta(hours=6)
    today = goals.day(here, None, evening)
    assert (today.reached, today.told) == (True, False)
    goals.note_reached(here, today.date)
    assert goals.day(here, None, evening).told
    goals.set_goal(here, Goal(answers=2, break_after=None))
    assert goals.day(here, None, evening).told, "the goal is the same"
    tomorrow = goals.day(here, None, NOON + timedelta(days=1))
    assert (tomorrow.reached, tomorrow.told, tomorrow.answers) == (False, False, 0)
    goals.set_goal(here, Goal(answers=1))
    assert not goals.day(here, None, evening).told, "another goal is reached again"


def test_both_goals_must_be_reached(here: Seat) -> None:
    goals.set_goal(here, Goal(answers=1, minutes=2))
    answer_at(here, NOON, seconds=60)
    assert not goals.day(here, None, NOON).reached
    answer_at(here, NOON, seconds=60)
    assert goals.day(here, None, NOON).reached


def test_goal_belongs_to_person(home: Home, here: Seat) -> None:
    ada = Seat(home, annotator(home, here.person_id, "Ada"), here.project_id)
    goals.set_goal(ada, Goal(answers=7, break_after=None))
    assert goals.day(here, None).goal == Goal()
    assert goals.day(ada, None).goal == Goal(7, None, None)
    goals.note_reached(here, "2026-03-01")
    with home.database.read() as session:
        assert stored_goals.get(session, here.project_id or 0, here.person_id) is None, "there is none to reach"


@pytest.mark.parametrize("wrong", [{"answers": 0}, {"answers": 10_001}, {"minutes": 1_441}, {"break_after": -1}])
def test_invalid_goal_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(GoalError, match=r"must be in 1\.\..*Fix"):
        Goal(**wrong)


def working(here: Seat, now: datetime = NOON) -> Day:
    return goals.day(here, None, now)


def test_break_is_offered_after_work_without_pause(here: Seat) -> None:
    answer_at(here, *(NOON - timedelta(minutes=one) for one in range(50, 0, -2)), seconds=20)
    assert (working(here).working, working(here).wants_break) == (50, True)
    goals.set_goal(here, Goal(break_after=60))
    assert not working(here).wants_break
    goals.set_goal(here, Goal(break_after=None))
    assert not working(here).wants_break
    goals.set_goal(here, Goal(break_after=20))
    assert working(here).wants_break
    later = working(here, NOON + timedelta(minutes=4))
    assert (later.working, later.wants_break) == (0, False), "five minutes without an answer are a pause"


def test_pause_restarts_working_time(here: Seat) -> None:
    now = datetime.now(UTC)
    row = loop.next_question(here).view.row
    answer_at(here, *(now - timedelta(minutes=one) for one in range(60, 0, -2)), row=row)
    assert goals.day(here, None).wants_break
    question = loop.next_question(here)
    loop.pause(here, question.token)
    assert goals.day(here, None).paused
    loop.go_on(here)
    today = goals.day(here, None)
    assert (today.paused, today.wants_break, today.working) == (False, False, 0)
    answer_next(here.home, here.person_id, here.project_id or 0)
    assert goals.day(here, None).working == 0


# Overview


def test_owner_sees_sign_in_methods_and_browsers(home: Home, chief: Seat) -> None:
    ada, bob = add_person(chief, "Ada"), add_person(chief, "Bob")
    team.make_link_for(chief, bob.person_id)
    team.redeem_link(home, team.make_link_for(chief, ada.person_id), Visit("192.0.2.1", "Firefox on Linux"))
    passwords.set_password(ada, "four plain words here")
    elsewhere.set_known_as(chief, ada.person_id, "Ada@Example.org")
    at_owner, at_ada, at_bob = overview(chief)
    assert at_owner.person.is_owner
    assert (at_ada.open_links, at_ada.has_password, at_ada.known_as) == (0, True, "ada@example.org")
    assert [(one.address, one.browser, one.how) for one in at_ada.browsers] == [
        ("192.0.2.1", "Firefox on Linux", "link")
    ]
    assert (at_bob.open_links, at_bob.has_password, at_bob.known_as, at_bob.browsers) == (2, False, "", ())
    tokens.make_token(bob, "survey")
    assert [[token.purpose for token in one.tokens] for one in overview(chief)] == [[], [], ["survey"]]
    team.disable_person(chief, ada.person_id)
    assert overview(chief)[1].browsers == ()
