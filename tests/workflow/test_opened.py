"""What a use case holds: the project of a seat that is at one, and whose answers may be seen."""

from __future__ import annotations

import pytest

from tests.workflow.world import annotator
from workflow.kinds import one_label
from workflow.opened import Opened, Reading
from workflow.seat import Seat
from workflow.server.home import Home


def test_a_seat_at_no_project_has_none(home: Home, owner: int, project: int) -> None:
    with Seat(home, owner).reading() as reading:
        assert isinstance(reading, Reading)
        assert reading.at is None
        with pytest.raises(LookupError, match=r"at no project. Fix: give it a project_id"):
            _ = reading.project
    with Seat(home, owner).at(project).reading() as reading:
        assert reading.project is reading.at
        assert reading.project.id == project


def test_the_owner_sees_everybodys_answers_others_their_own(home: Home, owner: int, project: int) -> None:
    ada = annotator(home, owner, "Ada")
    with Seat(home, owner, project).reading() as reading:
        assert reading.whose is None
    with Seat(home, ada, project).reading() as reading:
        assert reading.whose == ada


def test_what_is_opened_knows_its_kind_and_writes_nothing_yet(home: Home, owner: int, project: int) -> None:
    with Seat(home, owner, project).learner() as opened:
        assert isinstance(opened, Opened)
        assert opened.kind is one_label
        assert (opened.project_id, opened.person_id, opened.written) == (project, owner, [])
        assert opened.learner.settings.to_json() == opened.project.settings
