"""Rows that people disagree on: which they are, in what order, and what a reviewer sees of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.workflow.vector_world import vector_project
from tests.workflow.world import annotator, opened, small_project
from workflow.access import NotAllowed, NotFound
from workflow.answering import loop
from workflow.people import disputes
from workflow.seat import Seat


def shared(chief: Seat, **settings: object) -> tuple[Seat, Seat, Seat]:
    """The seats of the owner and of two people at a project whose rows two people answer."""
    given = {"overlap": 2, "fold": "majority", "test_share": 0.1, **settings}
    seat = chief.at(small_project(chief.home, chief.person_id, **given))
    return seat, member(seat, "Ada"), member(seat, "Ben")


def member(seat: Seat, name: str, role: str = "annotator") -> Seat:
    return replace(seat, person_id=annotator(seat.home, seat.person_id, name, role))


def say(seat: Seat, row: int, kind: str, *labels: str, note: str | None = None) -> int:
    """What this person says of the row; the seq of it."""
    asked = loop.ask_next(seat, row)
    return loop.submit_answer(seat, asked.token, kind, labels, note=note).seq


def open_rows(seat: Seat, size: int) -> list[int]:
    """The rows that train and came with so many candidates."""
    with opened(seat.home, seat.person_id, seat.project_id or 0) as learner:
        pool = learner.pool
        return [int(row) for row in pool.train if pool.first[row].sum() == size]


def test_a_row_is_in_dispute_once_two_people_differ(chief: Seat) -> None:
    seat, ada, ben = shared(chief)
    agreed, apart, bad = open_rows(seat, 3)[:3]
    for row, other in ((agreed, ("is", "ant")), (apart, ("is", "bee")), (bad, ("bad",))):
        say(ada, row, "is", "ant")
        assert disputes.open_dispute(seat, row) is None, "one person disagrees with nobody"
        say(ben, row, *other)
    found = disputes.list_disputes(seat)
    assert {one.row for one in found.lines} == {apart, bad}
    assert (found.total, found.settled, found.several, found.by_row) == (2, 0, True, True)
    assert disputes.count_open(seat) == 2
    assert {one.row: one.said for one in found.lines} == {apart: (("ant",), ("bee",)), bad: (("ant",), ())}
    assert {one.times for one in found.lines} == {(1, 1)}
    assert all(one.disagreement == 1.0 for one in found.lines)


def test_the_worst_come_first_by_disagreement_times_doubt(chief: Seat) -> None:
    seat, ada, ben = shared(chief)
    rows = open_rows(seat, 3)[:6]
    for place, row in enumerate(rows):
        say(ada, row, "is", "ant")
        say(ben, row, *(("among", "ant", "bee") if place % 2 else ("is", "cat")))
    lines = disputes.list_disputes(seat).lines
    assert [one.worst for one in lines] == sorted((one.worst for one in lines), reverse=True)
    for one in lines:
        # ant beside ant or bee: Jaccard 1/2, one holds the other: 2/3
        assert one.disagreement == pytest.approx(1 - 2 / 3 / 2 if rows.index(one.row) % 2 else 1.0)
        dispute = disputes.open_dispute(seat, one.row)
        assert dispute is not None
        first, second = sorted(dispute.shares.values(), reverse=True)[:2]
        assert one.doubt == pytest.approx(1 - (first - second))
        assert one.worst == pytest.approx(one.disagreement * one.doubt)


def test_without_a_model_people_alone_count(chief: Seat) -> None:
    seat, ada, ben = shared(chief, model="plsvc", strategy="random")
    row = open_rows(seat, 3)[0]
    say(ada, row, "is", "ant")
    say(ben, row, "is", "bee")
    (line,) = disputes.list_disputes(seat).lines
    assert (line.doubt, line.worst) == (None, 1.0)
    dispute = disputes.open_dispute(seat, row)
    assert dispute is not None
    assert (dispute.shares, dispute.why_not) == ({}, disputes.NO_MODEL)


def test_an_opened_dispute_says_who_said_what(chief: Seat) -> None:
    seat, ada, ben = shared(chief)
    row = open_rows(seat, 2)[0]
    first, second = loop.ask_next(ada, row).choices
    say(ada, row, "is", first, note="The stripes.")
    say(ben, row, "bad")
    disputes.discuss(seat, row, "  Who took this picture?  ")
    dispute = disputes.open_dispute(seat, row)
    assert dispute is not None
    assert [(one.person, one.labels, one.note) for one in dispute.opinions] == [
        ("Ada", (first,), "The stripes."),
        ("Ben", (), None),
    ]
    assert all(one.seconds is not None and one.seconds >= 0 for one in dispute.opinions)
    assert (dispute.view.row, dispute.candidates) == (row, (first, second))
    assert dispute.classes == ("ant", "bee", "cat")
    assert sum(dispute.shares.values()) == pytest.approx(1)
    assert [(one.person, one.text) for one in dispute.notes] == [("owner", "Who took this picture?")]


def test_the_model_says_nothing_of_blind_checks(chief: Seat) -> None:
    seat, ada, ben = shared(chief, control_share=0.4)
    with opened(seat.home, seat.person_id, seat.project_id or 0) as learner:
        checks = {int(row) for row in learner.pool.control_left()}
    row = None
    for _ in range(60):
        asked = loop.next_question(ada)
        loop.submit_answer(ada, asked.token, "is", asked.choices[:1])
        if asked.view.row in checks:
            row = int(asked.view.row)
            break
    assert row is not None
    question = loop.ask_next(ben, row, drawn=True)
    loop.submit_answer(ben, question.token, "is", question.choices[-1:])
    dispute = disputes.open_dispute(seat, row)
    assert dispute is not None
    assert (dispute.shares, dispute.why_not) == ({}, disputes.BLIND_CHECK)
    assert next(one for one in disputes.list_disputes(seat).lines if one.row == row).doubt is None


def test_disputes_are_for_those_who_review(chief: Seat) -> None:
    seat, ada, _ = shared(chief)
    assert disputes.list_disputes(member(seat, "Eve", "reviewer")).lines == ()
    for act in (disputes.list_disputes, disputes.count_open):
        with pytest.raises(NotAllowed):
            act(ada)
    with pytest.raises(NotAllowed):
        disputes.open_dispute(ada, 0)
    with pytest.raises(NotFound):
        disputes.open_dispute(seat, 999)


def test_who_has_one_answer_a_row_has_no_disputes(chief: Seat) -> None:
    alone = chief.at(small_project(chief.home, chief.person_id, "alone"))
    found = disputes.list_disputes(alone)
    assert (found.lines, found.several, found.by_row) == ((), False, True)
    vectors = chief.at(vector_project(chief.home, chief.person_id))
    found = disputes.list_disputes(vectors)
    assert (found.lines, found.several, found.by_row) == ((), False, False)
    assert disputes.count_open(vectors) == 0
    assert disputes.open_dispute(vectors, 0) is None
