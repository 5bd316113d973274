"""The demo: made once, on a first start alone, and such that a person can begin at once."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits

from plcore import LabelTable
from tests.workflow.world import small_project
from workflow.answering import loop, oracle
from workflow.demos import digits
from workflow.people import team
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home, open_home
from workflow.server.settings import Settings


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seat]:
    """The owner at the demo; the tests change nothing of it."""
    home = open_home(Settings.from_environment({"WINNOW_HOME": str(tmp_path_factory.mktemp("home"))}))
    owner = team.ensure_owner(home).id
    project = digits.ensure_demo(home)
    assert project is not None
    yield Seat(home, owner, project)
    home.close()


def test_it_is_made_once(made: Seat) -> None:
    assert digits.ensure_demo(made.home) is None
    (one,) = managing.list_projects(Seat(made.home, made.person_id))
    assert (one.id, one.name, one.description) == (made.project_id, digits.NAME, digits.DESCRIPTION)
    assert (one.n_rows, one.n_classes) == (1_797, 10)
    assert one.left == one.n_to_ask > 900


def test_a_home_with_a_project_gets_none_even_where_it_was_thrown_away(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    assert digits.ensure_demo(home) is None
    managing.bin_project(seat)
    assert digits.ensure_demo(home) is None


def test_it_needs_an_owner(tmp_path: Path) -> None:
    home = open_home(Settings.from_environment({"WINNOW_HOME": str(tmp_path / "new")}))
    try:
        with pytest.raises(LookupError, match=r"Fix: call ensure_owner\(home\) first"):
            digits.ensure_demo(home)
    finally:
        home.close()


def test_its_first_question_shows_the_digit(made: Seat) -> None:
    question = loop.next_question(made)
    assert question is not None
    assert len(question.choices) > 1
    assert set(question.choices) <= set(digits.LABELS)
    assert oracle.can_answer(made)
    head, content = (question.view.image or "").split(",")
    assert head == "data:image/png;base64"
    grey = np.asarray(Image.open(io.BytesIO(base64.b64decode(content))), dtype=int)
    drawn = load_digits().images[question.view.row]
    np.testing.assert_allclose(grey, 255 - drawn * 255 / 16, atol=1)


def test_its_cells_are_the_same_each_time_and_hold_the_truth() -> None:
    (cells, roles), (again, _) = digits.demo_cells(), digits.demo_cells()
    assert cells.equals(again)
    table = LabelTable.from_cells(cells, roles)
    assert table.truth is not None
    assert table.candidates[np.arange(table.n_rows), table.truth].all()
    share = (table.candidates.sum(axis=1) > 1).mean()
    assert abs(share - digits.CONTAMINATED_SHARE) < 0.05
    assert len(table.features().fit(table, np.arange(100)).transform(table, np.arange(3))[0]) == 64
