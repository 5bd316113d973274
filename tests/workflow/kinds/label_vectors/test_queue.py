"""The queue of label vectors: who may see it, and its file."""

from __future__ import annotations

import csv
import io

import pytest

from tests.workflow.vector_world import answer_truly, vector_project
from tests.workflow.world import annotator, opened
from workflow.access import NotAllowed
from workflow.rows import queue
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.mark.parametrize("question", ["instance", "cell", "diagnosis"])
def test_where_there_are_blind_checks_the_queue_is_for_the_owner(
    home: Home, owner: int, question: str
) -> None:
    """What is open and not in it would be one of them."""
    plain = vector_project(home, owner, "plain", question=question)
    blind = vector_project(home, owner, "blind", question=question, control_share=0.2)
    ada = annotator(home, owner, "Ada")
    for project in (plain, blind):
        answer_truly(home, ada, project)
    Seat(home, owner, plain).settle()  # a model that comes between the two looks would change the order
    assert queue.list_queue(Seat(home, ada, plain)) == queue.list_queue(Seat(home, owner, plain))
    assert queue.list_queue(Seat(home, owner, blind)).rows
    for words in ("", "r1"):
        with pytest.raises(NotAllowed, match="blind checks the queue is for the owner"):
            queue.list_queue(Seat(home, ada, blind), words)


def test_what_is_open_and_blind_is_counted_and_not_listed(home: Home, owner: int) -> None:
    rows = vector_project(home, owner, "rows", question="instance", control_share=0.2)
    view = queue.list_queue(Seat(home, owner, rows))
    assert (view.listed, view.blind, view.open) == (22, 6, 28)
    labels = vector_project(home, owner, "labels", question="cell", control_share=0.2)
    view = queue.list_queue(Seat(home, owner, labels))
    with opened(home, owner, labels) as learner:
        assert (view.open, view.blind) == (learner.pool.open.sum(), learner.pool.control_cells.sum())
    assert 0 < view.listed <= view.open - view.blind
    found = queue.list_queue(Seat(home, owner, labels), view.rows[0].row_id)
    assert found.matching < view.listed
    assert (found.listed, found.open, found.blind) == (view.listed, view.open, view.blind)


def test_the_queue_downloads_whole_and_for_the_owner_alone(home: Home, owner: int) -> None:
    project = vector_project(home, owner)
    Seat(home, owner, project).settle()  # as above
    view = queue.list_queue(Seat(home, owner, project))
    lines = list(csv.DictReader(io.StringIO(queue.queue_csv(Seat(home, owner, project)).decode())))
    assert [(line["row_id"], line["label"]) for line in lines] == [
        (one.row_id, one.label) for one in view.rows
    ]
    with pytest.raises(NotAllowed):
        queue.queue_csv(Seat(home, annotator(home, owner, "Ada"), project))
