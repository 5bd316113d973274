"""Label vectors: what predicts is named, and nothing can be adopted or compared."""

from __future__ import annotations

import pytest

from plcore import LabelTable
from plcore.loop.label_vectors import LabelVectorSettings
from tests.workflow.vector_world import ROLES, vector_frame, vector_project
from workflow import kinds
from workflow.seat import Seat
from workflow.server.home import Home


def test_the_settings_say_what_predicts() -> None:
    settings = LabelVectorSettings(model="onevsall")
    assert settings.model_in_force == "onevsall"
    assert not settings.is_automatic
    assert kinds.KINDS["label_vectors"].COMPARING is None


def test_nothing_can_be_chosen_or_compared(home: Home, owner: int) -> None:
    seat, table = Seat(home, owner, vector_project(home, owner)), LabelTable.from_cells(vector_frame(), ROLES)
    with seat.reading() as reading:
        project = reading.project
    with pytest.raises(ValueError, match="'plknn' cannot be adopted"):
        kinds.with_model(project, "plknn", None, automatic=False)
    with pytest.raises(ValueError, match="nothing to compare"):
        kinds.make_comparer(home, project, ())
    with pytest.raises(ValueError, match="nothing to compare"):
        kinds.make_table_comparer(table)
    with pytest.raises(ValueError, match="Labelling runs of label vectors are not replayed"):
        kinds.make_table_replays(table)
    with pytest.raises(ValueError, match="is not estimated for label vectors"):
        kinds.make_random_order(home, project, ())
