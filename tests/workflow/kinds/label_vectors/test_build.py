"""Making a project of label vectors: what it is given by default, and tables no model could learn from."""

from __future__ import annotations

import numpy as np
import pytest

from plcore import LabelTable
from plcore.loop.label_vectors.learner import LabelVectorLearner
from tests.workflow.vector_world import ROLES, vector_frame
from workflow.kinds.label_vectors import build
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server import shelf
from workflow.server.home import Home


def table(full: int = 12, n: int = 40) -> LabelTable:
    return LabelTable.from_cells(vector_frame(n, full=full), ROLES)


@pytest.mark.parametrize(("full", "checks"), [(0, 0.08), (12, 0.08), (80, 0.08), (90, 0.0), (120, 0.0)])
def test_blind_checks_where_fewer_than_30_rows_are_held_out(full: int, checks: float) -> None:
    settings = managing.default_settings(table(full, 120))
    assert settings.control_share == checks
    assert settings.test_share == 1 / 3


def test_a_held_out_number_far_beyond_the_others_is_refused_by_its_place(home: Home, owner: int) -> None:
    row = int(np.flatnonzero(LabelVectorLearner(table()).test_rows)[0])
    frame = vector_frame()
    frame.loc[row, "y"] = "1e90"
    with pytest.raises(
        managing.CannotLearn, match=rf"Row {row + 1}, column 'y': the number is .* Fix: correct"
    ):
        managing.create_project(Seat(home, owner), "far", LabelTable.from_cells(frame, ROLES))
    assert managing.list_projects(Seat(home, owner)) == []
    assert not list(home.tables_dir.iterdir())


def test_a_table_beyond_the_memory_is_refused_before_anything_is_stored(
    home: Home, owner: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "machine_memory", lambda: 1000)
    with pytest.raises(managing.CannotLearn, match="40 rows of 4 features need about"):
        managing.create_project(Seat(home, owner), "large", table())
    assert managing.list_projects(Seat(home, owner)) == []
    monkeypatch.setattr(build, "machine_memory", lambda: None)
    managing.create_project(Seat(home, owner), "unknown", table())


def test_the_memory_of_this_machine_is_known() -> None:
    memory = shelf.machine_memory()
    assert memory is None or memory > 10**8
