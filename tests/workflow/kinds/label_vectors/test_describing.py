"""What a card says of label vectors, against the pool itself."""

from __future__ import annotations

from plcore.loop.label_vectors import PREDICTOR_ENTRIES
from tests.workflow.vector_world import answer_truly, vector_project
from workflow import kinds
from workflow.access import Right
from workflow.kinds.label_vectors.exporting import describe
from workflow.seat import Seat
from workflow.server.home import Home


def test_known_labels_and_measures(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner, control_share=0.3, question="instance"))
    with seat.learner(Right.OWN) as opened:
        before = describe(opened, kinds.stop_rules(opened.project))
        known = (opened.learner.pool.original >= 0).mean()
        assert before.before == f"{100 * known:.1f} % of the labels of rows known"
        assert before.after == f"{100 * known:.1f} % known"
    for _ in range(10):
        answer_truly(home, owner, seat.project_id or 0)
    seat.settle()
    with seat.learner(Right.OWN) as opened:
        found, pool = describe(opened, kinds.stop_rules(opened.project)), opened.learner.pool
        assert found.after == f"{100 * (pool.cells >= 0).mean():.1f} % known" != before.after
        assert found.blind_checks == int(pool.control_cells.sum())
        assert found.test_rows == int(pool.test_rows.sum())
        control = opened.learner.progress().control
    words = [one.words for one in found.measures]
    assert "Micro F1 on test rows" in words
    assert "Precision of the 1 likeliest labels on test rows" in words
    by = {one.words: one for one in found.measures}
    agreement = by["Agreement on blind checks: the model says of a label what the person said"]
    assert control.accuracy is not None
    assert (agreement.value, agreement.n) == (control.accuracy.value, control.cells)
    assert all(0 <= one.low <= one.value <= one.high <= 1 for one in found.measures)
    assert found.model in {one.title for one in PREDICTOR_ENTRIES.values()}
