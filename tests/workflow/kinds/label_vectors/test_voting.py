"""What each person says of each label of a row, as figures of people read it."""

from __future__ import annotations

from db import answers
from tests.workflow.vector_world import answer_truly, vector_project
from tests.workflow.world import opened
from workflow.answering import loop
from workflow.kinds.label_vectors.reviewing import votes_of
from workflow.log.reading import Vote
from workflow.seat import Seat
from workflow.server.home import Home


def read(home: Home, owner: int, project: int) -> list[Vote]:
    with opened(home, owner, project) as learner, home.database.read() as session:
        return votes_of(learner, answers.said(session, project))


def test_a_row_gives_a_vote_for_each_of_its_labels(home: Home, owner: int) -> None:
    project = vector_project(home, owner, question="instance", control_share=0.3)
    seat = Seat(home, owner, project)
    rows = set()
    for _ in range(4):
        question = loop.next_question(seat)
        assert question is not None
        rows.add(question.view.row)
        answer_truly(home, owner, project, question)
    votes = read(home, owner, project)
    assert {one.row for one in votes} == rows
    with opened(home, owner, project) as learner:
        cells = learner.pool.cells
        for one in votes:
            column = learner.classes.index(str(one.label))
            assert one.names == ({"yes"} if cells[one.row, column] == 1 else {"no"})
            assert one.check == learner.pool.control_cells[one.row, column]
    assert {frozenset(one.choices) for one in votes} == {frozenset({"yes", "no"})}
    assert {one.known for one in votes} == {None}
    places = [(one.row, one.label) for one in votes]
    assert len(places) == len(set(places))
