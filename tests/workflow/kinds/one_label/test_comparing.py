"""The model of projects with one true label among candidates."""

from __future__ import annotations

import numpy as np

from plcore import LabelTable, LearnerSettings
from plcore.loop import ClassChange
from tests.workflow.world import ROLES, small_frame
from workflow.kinds.one_label.training import (
    choose_model,
    make_comparer,
    make_table_comparer,
)


def test_a_model_is_chosen_by_hand_or_by_comparisons() -> None:
    settings = LearnerSettings(n_neighbors=7)
    chosen = choose_model(settings, "clpl", 2.0, False)
    assert chosen == LearnerSettings(n_neighbors=7, model="clpl", C=2.0)
    assert (chosen.model_in_force, chosen.is_automatic) == ("clpl", False)
    adopted = choose_model(chosen, "m3pl", None, True)
    assert adopted == LearnerSettings(n_neighbors=7, model="automatic", adopted="m3pl")
    assert (adopted.model_in_force, adopted.is_automatic) == ("m3pl", True)


def test_what_compares_knows_the_classes_as_they_are_and_the_rows_of_the_project() -> None:
    table = LabelTable.from_frame(small_frame(), ROLES)
    changes = [ClassChange(1, "rename", ("ant", "emmet"))]
    comparer = make_comparer(table, LearnerSettings(), changes)
    assert comparer.pool.classes == ("emmet", "bee", "cat")
    assert comparer.pool.test_rows.sum() == 20
    assert comparer.pool.seq == 0
    alone = make_table_comparer(table)
    assert not alone.pool.test_rows.any()
    np.testing.assert_array_equal(alone.pool.truth, table.truth)
