"""Features: known answers for each kind of column, fitted on the training rows and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import OneHotEncoder

from plcore import FeatureTransformer, LabelTable, Roles
from plcore.arrays import array_files


def table(numbers: dict[str, list[str]] | None = None, kind: list[str] | None = None, text: list[str] | None = None):
    columns = dict(numbers or {})
    if kind is not None:
        columns["kind"] = kind
    if text is not None:
        columns["text"] = text
    n_rows = len(next(iter(columns.values())))
    cells = pd.DataFrame({"c": ["a|b"] * n_rows, **columns}, dtype="str")
    roles = Roles(
        candidates="c",
        numbers=tuple(numbers or ()),
        categories=() if kind is None else ("kind",),
        text=None if text is None else "text",
    )
    return LabelTable.from_cells(cells, roles)


def test_numbers_are_imputed_and_scaled_from_training_rows() -> None:
    data = table({"w": ["0", "", "4", "8"], "one": ["7", "7", "7", "9"], "none": ["", "", "", "5"]})
    features = data.features().fit(data, np.array([0, 1, 2]))
    found = features.transform(data)
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found[:, 0], [0, 0.5, 1, 2])  # the mean of 0 and 4 is 2; 8 is outside
    np.testing.assert_array_equal(found[:, 1:], 0)  # constant or unknown in training: uninformative
    assert features.feature_names_ == ("w", "one", "none")
    assert features.n_features_ == 3


def test_constant_training_column_has_no_effect() -> None:
    # In doubles the mean of three times 0.1 is not 0.1; a gap must not get a different value.
    data = table(
        {"w": ["0", "1", "1", "0", "1"], "same": ["0.1", "0.1", "", "0.1", "1e9"],
         "large": ["1234567.1", "1234567.1", "1234567.1", "", "5"], "tiny": ["1e-18", "3e-18", "", "2e-18", "1e-18"],
         "none": ["", "", "", "", "1e100"]}
    )  # fmt: skip
    found = data.features().fit(data, np.arange(4)).transform(data)
    np.testing.assert_array_equal(found[:, [1, 2, 4]], 0)
    np.testing.assert_allclose(found[:, 3], [0, 1, 0.5, 0.5, 0])


def test_missing_numbers_become_the_mean_not_the_median() -> None:
    data = table({"w": ["0", "1", "8", ""]})
    np.testing.assert_allclose(data.features().fit(data).transform(data)[:, 0], [0, 1 / 8, 1, 3 / 8])


def test_rows_can_be_a_mask_or_numbers_in_any_order() -> None:
    data = table({"w": ["0", "1", "2", "3"]})
    features = data.features().fit(data, np.array([True, False, False, True]))
    np.testing.assert_allclose(features.transform(data, np.array([3, 1]))[:, 0], [1, 1 / 3])
    np.testing.assert_allclose(features.transform(data, np.array([False, True, False, False]))[:, 0], [1 / 3])
    assert features.transform(data, np.array([], dtype=int)).shape == (0, 1)


@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("width", [1, 2, 3, 8, 64])
def test_features_do_not_depend_on_the_block_size(width: int, layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(width)
    numbers = rng.normal(size=(1000, width)) * 10.0 ** rng.integers(-6, 6, size=(1000, width))
    numbers[rng.random(numbers.shape) < 0.2] = np.nan
    data = table({f"x{place}": ["0", "1"] * 500 for place in range(width)})
    data = replace(data, numbers=np.asfortranarray(numbers) if layout == "F" else numbers)
    rows = np.flatnonzero(rng.random(1000) < 0.7)
    # All rows at once, by the plain formulas.
    some = data.numbers[rows]
    known = ~np.isnan(some)
    low, high = np.nanmin(some, axis=0), np.nanmax(some, axis=0)
    mean = np.sum(some, axis=0, where=known) / known.sum(axis=0)
    wanted = (np.where(np.isnan(data.numbers), mean, data.numbers) - low) / (high - low)
    mask = np.isin(np.arange(1000), rows)
    for at_once in (1, 7, 999, 1000, 4096):
        monkeypatch.setattr("plcore.tables.features.matrix._ROWS_AT_ONCE", at_once)
        for chosen in (rows, mask):
            features = data.features().fit(data, chosen)
            assert np.array_equal(features.transform(data), wanted)
            assert np.array_equal(features.transform(data, chosen), wanted[rows])


@pytest.mark.parametrize(("n_kinds", "at_once"), [(4, 1), (4, 64), (1100, 64)])
def test_columns_of_all_kinds_are_concatenated_at_any_block_size(
    n_kinds: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(n_kinds)
    kinds = [*map(str, range(n_kinds)), "", *rng.integers(n_kinds, size=99).astype(str).tolist()]
    data = table({"w": rng.random(len(kinds)).astype(str).tolist()}, kinds)
    vectors = rng.normal(size=(len(kinds), 3)).astype(np.float32)
    vectors[5] = np.nan
    data = replace(data, embeddings=vectors)
    rows = rng.permutation(len(kinds))
    whole = data.features().fit(data, rows).transform(data, rows)
    assert sp.issparse(whole) == (n_kinds > 1024)
    monkeypatch.setattr(array_files, "IN_MEMORY", 0)
    monkeypatch.setattr("plcore.tables.features.matrix._ROWS_AT_ONCE", at_once)
    features = data.features().fit(data, rows)
    found = features.transform(data, rows)
    assert sp.issparse(found) == sp.issparse(whole)
    assert found.shape == (len(rows), features.n_features_) == (len(rows), n_kinds + 4)
    assert not (found != whole).sum()
    assert features.transform(data, rows[:0]).shape == (0, n_kinds + 4)


def test_many_categories_use_few_blocks_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block prepares all categories again; with as many rows as categories this costs no more than the rows."""
    data = table(kind=[*map(str, range(500)), *map(str, range(500))])
    asked = []
    plain = OneHotEncoder.transform
    monkeypatch.setattr(
        OneHotEncoder, "transform", lambda encoder, some: asked.append(len(some)) or plain(encoder, some)
    )
    monkeypatch.setattr("plcore.tables.features.matrix._ROWS_AT_ONCE", 10)
    features = data.features().fit(data, np.arange(1000))
    features.transform(data, np.arange(1000))
    assert asked == [500, 500]


def test_distance_of_categories_equals_the_range_of_a_number() -> None:
    data = table(kind=["x", "y ", " x", "", "new"])
    features = data.features().fit(data, np.arange(4))
    found = features.transform(data)
    distances = pairwise_distances(found)
    np.testing.assert_allclose(distances[0, :3], [0, 1, 0])
    np.testing.assert_allclose(found[3:], 0)  # empty and unseen
    assert features.feature_names_ == ("kind=x", "kind=y")


def test_empty_categories_are_left_out() -> None:
    data = table({"w": ["1", "2"]}, kind=["", "  "])
    assert data.features().fit(data).transform(data).shape == (2, 1)


def test_text_is_used_in_addition_to_numbers() -> None:
    words = ["red bird", "blue bird", "red red", ""]
    with_numbers = table({"w": ["1", "2", "3", "4"]}, text=words)
    names = with_numbers.features().fit(with_numbers).feature_names_
    assert names[0] == "w"
    assert "text: bird" in names
    data = table(text=words, kind=["x", "y", "x", "y"])
    features = data.features().fit(data, np.array([0, 1, 3]))
    found = features.transform(data)
    assert sp.issparse(found)
    assert found.format == "csr"
    assert found.dtype == np.float64
    names = features.feature_names_
    assert names[:5] == ("kind=x", "kind=y", "text: bird", "text: blue", "text: red")
    assert "text: “ bi”" in names
    dense = found.toarray()
    np.testing.assert_allclose(np.linalg.norm(dense[:, 2:], axis=1), [1, 1, 1, 0])
    of_red = [names.index(f"text: {part}") for part in ("red", "“ re”", "“ed ”")]
    assert (dense[2, of_red] > 0).all()
    assert dense[2, names.index("text: bird")] == 0


def test_text_without_words_gives_one_zero_feature() -> None:
    data = table(text=["...", "!", ""])
    features = data.features().fit(data)
    np.testing.assert_array_equal(features.transform(data), np.zeros((3, 1)))
    assert features.feature_names_ == ("nothing",)


def test_very_many_categories_stay_sparse() -> None:
    data = table(kind=[f"k{row}" for row in range(1500)])
    found = data.features().fit(data).transform(data)
    assert sp.issparse(found)
    assert found.shape == (1500, 1500)
    assert found.nnz == 1500


def test_unfitted_features_and_empty_training_are_refused() -> None:
    data = table({"w": ["1", "2"]})
    with pytest.raises(NotFittedError, match="Call 'fit' first"):
        FeatureTransformer().transform(data)
    with pytest.raises(ValueError, match="at least one row"):
        FeatureTransformer().fit(data, np.array([], dtype=int))


@given(
    st.lists(st.tuples(st.none() | st.floats(-1e100, 1e100), st.sampled_from(["", "x", "y"])), min_size=2, max_size=8),
)  # fmt: skip
def test_training_rows_are_in_the_unit_cube_whatever_other_rows_hold(rows: list[tuple[float | None, str]]) -> None:
    numbers = ["" if value is None else repr(value) for value, _ in rows]
    data = table({"w": numbers}, kind=[kind for _, kind in rows])
    half = np.arange(max(1, len(rows) // 2))
    found = data.features().fit(data, half).transform(data, half)
    assert np.isfinite(found).all()
    assert found.min() >= 0
    assert found.max() <= 1 + 1e-9
    alone = LabelTable.from_cells(data.cells.iloc[half].reset_index(drop=True), data.roles)
    np.testing.assert_array_equal(found, alone.features().fit(alone).transform(alone))
