"""What each person says of a row, as figures of people read it."""

from __future__ import annotations

from db import answers
from tests.workflow.world import opened
from workflow.answering import loop, undoing
from workflow.kinds.one_label.reviewing import votes_of
from workflow.log.reading import Vote
from workflow.seat import Seat
from workflow.server.home import Home


def read(home: Home, owner: int, project: int) -> list[Vote]:
    with opened(home, owner, project) as learner, home.database.read() as session:
        return votes_of(learner, answers.said(session, project))


def test_a_person_has_one_vote_a_row_and_none_of_a_bad_item(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    first = loop.next_question(seat)
    assert first is not None
    loop.submit_answer(seat, first.token, "is", [first.choices[0]])
    second = loop.next_question(seat)
    assert second is not None
    loop.submit_answer(seat, second.token, "bad")
    (vote,) = read(home, owner, project)
    assert (vote.row, vote.label, vote.person_id) == (first.view.row, None, owner)
    assert vote.names == {first.choices[0]}
    assert vote.choices == set(first.choices)
    assert vote.predicted == first.predicted
    assert vote.check is False
    assert vote.known is None, "what the table holds is hidden"
    undoing.undo(seat)
    undoing.undo(seat)
    assert read(home, owner, project) == []


def test_what_is_ruled_out_leaves_the_others(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    question = loop.next_question(seat)
    assert question is not None
    loop.submit_answer(seat, question.token, "not", [question.choices[0]])
    (vote,) = read(home, owner, project)
    assert vote.names == set(question.choices[1:])
