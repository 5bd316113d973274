"""Where rows lie on the map: axes that hold the most variance, neighbours that stay neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness

from plcore import LabelTable
from tests.disks import no_room_for_arrays
from tests.workflow.world import ROLES, small_frame
from workflow.rows import instance_map
from workflow.rows.instance_map import (
    beside_neighbors,
    features_of,
    more_to_show,
    principal_axes,
    rows_on_map,
)
from workflow.server.home import NoRoomError


def test_few_rows_are_all_drawn_and_of_many_a_seeded_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rows_on_map(5).tolist() == [0, 1, 2, 3, 4]
    monkeypatch.setattr(instance_map, "MOST", 25)
    drawn = rows_on_map(60)
    assert len(drawn) == 25
    assert (np.diff(drawn) > 0).all()
    np.testing.assert_array_equal(drawn, rows_on_map(60))


def test_no_room_for_the_features_is_no_fault_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker tries it again then (`workflow.models.training`)."""
    table = LabelTable.from_frame(small_frame(), ROLES)
    no_room_for_arrays(monkeypatch)
    with pytest.raises(NoRoomError, match="no room left on the disk"):
        features_of(table, rows_on_map(table.n_rows))


def test_the_axes_are_the_first_principal_components_of_the_features() -> None:
    table = LabelTable.from_frame(small_frame(), ROLES)
    X = features_of(table, rows_on_map(table.n_rows))
    places, share = principal_axes(X)
    np.testing.assert_allclose(places, PCA(2).fit_transform(X), atol=1e-5)
    assert share == pytest.approx(1.0), "two features have no more"
    assert not more_to_show(X)


def test_sparse_features_have_axes_too() -> None:
    X = np.random.default_rng(3).random((30, 8)) * (np.random.default_rng(4).random((30, 8)) < 0.5)
    places, share = principal_axes(sparse.csr_matrix(X))
    wanted = PCA(2).fit_transform(X)
    np.testing.assert_allclose(np.abs(places), np.abs(wanted), atol=1e-4)
    assert 0 < share < 1


@pytest.mark.parametrize("X", [np.ones((40, 5)), np.zeros((1, 5)), sparse.csr_matrix((40, 5))])
def test_rows_that_are_all_alike_lie_in_one_point(X: np.ndarray) -> None:
    places, share = principal_axes(X)
    assert places.shape == (X.shape[0], 2)
    assert not places.any()
    assert share == 1.0
    assert not more_to_show(X)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_neighbours_stay_together_better_than_on_the_axes(form: type) -> None:
    X = load_digits().data[:300] / 16
    assert more_to_show(form(X))
    places = beside_neighbors(form(X))
    assert places.shape == (300, 2)
    assert np.isfinite(places).all()
    axes, _ = principal_axes(X)
    assert trustworthiness(X, places) > 0.95 > trustworthiness(X, axes)
