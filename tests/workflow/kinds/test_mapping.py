"""What every kind says of rows on the map: in the order asked for, within the classes, and known once answered."""

from __future__ import annotations

import numpy as np
import pytest

from tests.workflow.vector_world import vector_project
from tests.workflow.world import answer_next, small_project
from workflow.kinds.kind import NOTHING
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.mark.parametrize("make", [small_project, vector_project])
def test_rows_are_named_in_the_order_they_are_asked_for(home: Home, owner: int, make: object) -> None:
    seat = Seat(home, owner, make(home, owner))  # type: ignore[operator]
    seat.settle()
    with seat.learner() as opened:
        kind, learner = opened.kind, opened.learner
        n, m = learner.table.n_rows, len(learner.classes)
        every = kind.MAP.named(learner, list(range(n)))
        assert ((every.classes == NOTHING) | ((every.classes >= 0) & (every.classes < m))).all()
        assert (every.classes[every.known] >= 0).all()
        doubt = every.doubt[~np.isnan(every.doubt)]
        assert ((doubt >= 0) & (doubt <= 1)).all()
        back = kind.MAP.named(learner, list(range(n))[::-1])
        for name in ("classes", "known", "doubt"):
            np.testing.assert_array_equal(getattr(back, name)[::-1], getattr(every, name))
        assert len(kind.MAP.named(learner, []).classes) == 0


def test_an_answer_makes_a_row_known(home: Home, owner: int, project: int) -> None:
    saved = answer_next(home, owner, project)
    with Seat(home, owner, project).learner() as opened:
        named = opened.kind.MAP.named(opened.learner, [saved.row])
        assert opened.learner.classes[named.classes[0]] == saved.labels[0]
    assert named.known[0]
