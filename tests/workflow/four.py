"""A project with a class that is not among the candidates: for tests of answers."""

from __future__ import annotations

from plcore import LabelTable, LearnerSettings, Roles
from tests.workflow.world import opened, small_frame
from workflow.answering import loop
from workflow.kinds.one_label.showing import ShownQuestion
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home


def four_class_project(home: Home, owner: int, name: str = "four") -> int:
    """Like `small_project`; the rows asked first have three candidates, ant, bee and cat, of four classes."""
    frame = small_frame()
    frame["candidates"] = ["ant|bee|cat" if place % 2 else f"{truth}|dog" for place, truth in enumerate(frame.truth)]
    roles = Roles(candidates="candidates", truth="truth", id="id", numbers=("x", "y"))
    table = LabelTable.from_frame(frame, roles)
    settings = LearnerSettings(n_neighbors=4, strategy="mp")  # rows with most candidates first
    return managing.create_project(Seat(home, owner), name, table, settings)


def ask(home: Home, owner: int, project: int) -> ShownQuestion:
    question = loop.next_question(Seat(home, owner, project))
    assert question is not None
    assert question.choices == ("ant", "bee", "cat")
    return question


def left(home: Home, owner: int, project: int, row: int) -> tuple[str, ...]:
    """The row's candidates as the learner has them."""
    with opened(home, owner, project) as learner:
        return learner.state(row).candidates
