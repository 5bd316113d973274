"""Settings of projects of label vectors: what they are by default, and what may not change beside blind checks."""

from __future__ import annotations

import pytest

from plcore import LabelTable
from plcore.loop.label_vectors import LabelVectorSettings
from tests.workflow.vector_world import LABELS, ROLES, vector_frame
from tests.workflow.world import ROLES as ONE_LABEL_ROLES
from tests.workflow.world import small_frame
from workflow.kinds import KINDS, is_stored
from workflow.kinds.label_vectors import settings


def test_tables_of_label_vectors_fit() -> None:
    assert settings.fits(LabelTable.from_cells(vector_frame(), ROLES))
    assert not settings.fits(LabelTable.from_frame(small_frame(), ONE_LABEL_ROLES))


def test_the_cells_of_label_vectors_and_no_others() -> None:
    table = LabelTable.from_cells(vector_frame(), ROLES)
    cells = settings.vectors_of(table)
    assert cells.shape == (table.n_rows, len(LABELS))
    assert set(cells.ravel().tolist()) == {-1, 0, 1}
    with pytest.raises(ValueError, match="holds candidates, not label vectors"):
        settings.vectors_of(LabelTable.from_frame(small_frame(), ONE_LABEL_ROLES))


def test_they_are_stored_under_the_word_they_always_had() -> None:
    stored = LabelVectorSettings().to_json()
    assert (stored["kind"],) == settings.STORED_AS == ("multilabel",)
    assert is_stored(KINDS["label_vectors"], stored)
    assert not is_stored(KINDS["label_vectors"], {})
    assert not is_stored(KINDS["label_vectors"], {"kind": "label_vectors"})
    assert settings.read_settings(stored) == LabelVectorSettings()
    assert set(stored) > settings.DRAWN


@pytest.mark.parametrize(("full", "share"), [(80, 0.08), (90, 0.0)])
def test_blind_checks_where_too_few_rows_can_be_held_out(full: int, share: float) -> None:
    table = LabelTable.from_cells(vector_frame(120, full=full), ROLES)
    assert settings.default_settings(table, 0.08).control_share == share


def test_rows_and_labels_are_not_exchanged_beside_blind_checks() -> None:
    rows, labels = LabelVectorSettings(question="instance"), LabelVectorSettings(question="cell")
    assert settings.settle_change(rows, labels) == labels
    settings.settle_change(LabelVectorSettings(question="diagnosis", control_share=0.1), labels)
    for before, after in ((rows, labels), (labels, rows)):
        checked = LabelVectorSettings(question=before.question, control_share=0.1)
        with pytest.raises(ValueError, match="cannot change between whole rows and labels"):
            settings.settle_change(checked, after)
