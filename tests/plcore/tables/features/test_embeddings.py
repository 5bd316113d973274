"""Imported embeddings, from lists in cells or arrays next to them, to features."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from plcore import LabelTable, Roles, TableError, suggest_roles
from plcore.tables import with_rows
from plcore.tables.columns import Finder
from plcore.tables.features import embeddings, matrix
from plcore.tables.features.embeddings import MAX_WIDTH, directions_of, parse_embeddings
from plcore.tables.roles.sample import numbers_of

ROLES = Roles(candidates="c", embedding="v")


def cells(*vectors: str) -> pd.DataFrame:
    return pd.DataFrame({"c": ["a|b"] * len(vectors), "v": list(vectors)}, dtype="str")


def refused(table: pd.DataFrame, arrays: dict[str, np.ndarray] | None = None) -> str:
    with pytest.raises(TableError) as caught:
        LabelTable.from_cells(table, ROLES, arrays=arrays)
    return str(caught.value)


@pytest.mark.parametrize("text", ["[1, 2.5, -3]", "1 2.5 -3", "1;2.5;-3", "1,2.5,-3", "[ 1.   2.5\n -3. ]"])
def test_list_is_read_in_every_notation(text: str) -> None:
    numbers = numbers_of(text)
    assert numbers.dtype == np.float32
    assert numbers.tolist() == [1, 2.5, -3]


@pytest.mark.parametrize(
    "text", ["[]", "wren", "[1, true]", '["1"]', "[1, null]", "[[1], [2]]", "nan", "[1, Infinity]", "1e30", "[1"]
)
def test_text_other_than_a_list_of_finite_numbers_gives_none(text: str) -> None:
    assert numbers_of(text) is None


@given(st.lists(st.floats(-(2.0**59), 2.0**59, width=32), min_size=1, max_size=9))
def test_both_notations_give_equal_numbers(values: list[float]) -> None:
    exact = np.array(values, dtype=np.float32)
    for text in (str(values), " ".join(map(repr, values))):
        found = numbers_of(text)
        assert found.tobytes() == exact.tobytes() or (found == exact).all()


def test_list_of_another_length_is_reported_with_both_rows() -> None:
    words = refused(cells("", "[1, 2]", "[1, 2, 3]", "x"))
    assert "Row 3, column 'v': the list has 3 numbers; that of row 2 has 2." in words
    assert "Row 4, column 'v': expected a list of numbers, got 'x'." in words


def test_column_without_vectors_or_with_too_wide_ones_is_refused() -> None:
    assert "there is no embedding in it" in refused(cells("", ""))
    wide = {"v": np.zeros((1, MAX_WIDTH + 1), dtype=np.float32)}
    assert f"at most {MAX_WIDTH:,} are allowed" in refused(cells("").drop(columns="v"), wide)


def test_arrays_can_be_given_next_to_cells() -> None:
    given_ = np.array([[3, 4], [np.nan, np.nan]], dtype=np.float32)
    table = LabelTable.from_cells(cells("", "").drop(columns="v"), ROLES, arrays={"v": given_})
    np.testing.assert_array_equal(table.embeddings, given_)
    odd = {"v": np.array([[3, np.inf], [1, 2]], dtype=np.float32)}
    assert "Row 1, column 'v': not all numbers" in refused(cells("", "").drop(columns="v"), odd)


def test_read_only_arrays_are_not_copied() -> None:
    came = np.ones((2, 3), dtype=np.float32)
    came.flags.writeable = False
    table = LabelTable.from_cells(cells("", "").drop(columns="v"), ROLES, arrays={"v": came})
    assert table.embeddings is came


@pytest.mark.parametrize("rows", [None, np.arange(0, 40, 3), np.arange(40) % 3 > 0])
def test_features_do_not_depend_on_the_block_size(rows: np.ndarray | None, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    came = rng.normal(size=(40, 3)).astype(np.float32)
    came[[3, 17]] = np.nan
    table = LabelTable.from_cells(cells(*[""] * 40).drop(columns="v"), ROLES, arrays={"v": came})
    at_once = table.features().fit(table, rows)
    whole = at_once.transform(table, rows)
    directions = (came / np.linalg.norm(came.astype(np.float64), axis=1, keepdims=True))[
        slice(None) if rows is None else rows
    ]
    known = directions[~np.isnan(directions[:, 0])]
    np.testing.assert_array_equal(whole, np.where(np.isnan(directions), known.mean(axis=0), directions))
    for size in (1, 7, 13):
        monkeypatch.setattr(matrix, "_ROWS_AT_ONCE", size)
        np.testing.assert_array_equal(table.features().fit(table, rows).transform(table, rows), whole)


def test_wide_vectors_are_scaled_in_parts() -> None:
    came = np.random.default_rng(0).normal(size=(4000, 2000)).astype(np.float32)
    came.flags.writeable = False
    table = LabelTable.from_cells(cells(*[""] * 4000).drop(columns="v"), ROLES, arrays={"v": came})
    whole = 8 * came.size  # bytes of a working copy
    tracemalloc.start()
    try:
        directions_of(came)
        assert tracemalloc.get_traced_memory()[1] < whole
        tracemalloc.reset_peak()
        table.features().fit(table)
        assert tracemalloc.get_traced_memory()[1] < whole
    finally:
        tracemalloc.stop()


def test_non_finite_number_names_its_row_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "_ROWS_AT_ONCE", 2)
    odd = {"v": np.array([[1, 2]] * 4 + [[3, np.inf]], dtype=np.float32)}
    assert "Row 5, column 'v': not all numbers" in refused(cells(*[""] * 5).drop(columns="v"), odd)


def test_features_are_directions_and_the_mean_if_missing() -> None:
    table = LabelTable.from_cells(cells("[3, 4]", "[0, 2]", "", "[0, 0]"), ROLES)
    features = table.features().fit(table, np.array([0, 1]))
    assert features.feature_names_ == ("v: 1", "v: 2")
    expected = [[0.6, 0.8], [0, 1], [0.3, 0.9], [0, 0]]
    np.testing.assert_allclose(features.transform(table), expected, atol=1e-7)


def described(texts: list[str], vectors: np.ndarray) -> LabelTable:
    frame = pd.DataFrame({"c": ["a|b"] * len(texts), "t": texts}, dtype="str")
    return LabelTable.from_cells(frame, replace(ROLES, text="t"), arrays={"v": vectors})


def many_words(n: int) -> list[str]:
    """Texts of some thousand different words and n-grams."""
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefghijklmnop"), 6)) for _ in range(300)]
    return [" ".join(rng.choice(words, 5)) for _ in range(n)]


def test_embeddings_stay_dense_and_text_features_are_reduced() -> None:
    vectors = np.random.default_rng(1).normal(size=(200, 5)).astype(np.float32)
    table = described(many_words(200), vectors)
    rows = np.arange(150)
    features = table.features().fit(table, rows)
    X = features.transform(table)
    assert isinstance(X, np.ndarray)
    assert X.shape == (200, features.n_features_) == (200, 5 + 128)
    assert features.feature_names_[5:7] == ("t: direction 1", "t: direction 2")
    assert features.blocks_ == ((slice(0, 5), True), (slice(5, 133), True))
    # Inner products of the reduced texts nearly equal those of all words and n-grams.
    alone = replace(table, embeddings=None, roles=replace(table.roles, embedding=None))
    words = alone.features().fit(alone, rows).transform(alone, rows).toarray()
    few = X[rows, 5:]
    exact = words @ words.T
    scale = np.trace(few @ few.T) / np.trace(exact)
    off = (few @ few.T / scale - exact)[~np.eye(150, dtype=bool)]
    assert np.sqrt(np.mean(off**2)) < 0.03
    np.testing.assert_array_equal(table.features().fit(table, rows).transform(table), X)


@pytest.mark.parametrize("shift", [0.0, 20.0])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_each_block_has_the_same_weight_in_distances(shift: float, form: Any) -> None:
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(60, 8)).astype(np.float32)
    vectors[:, 0] += shift  # like vectors of some encoders that all point in about the same direction
    table = described(many_words(60), form(vectors))
    rows = np.arange(40)
    features = table.features().fit(table, rows)
    X = features.transform(table, rows)
    X = X.toarray() if sp.issparse(X) else X
    for columns, _ in features.blocks_:
        some = X[:, columns]
        assert ((some - some.mean(axis=0)) ** 2).sum(axis=1).mean() == pytest.approx(1, rel=1e-5)


def test_rows_without_embedding_do_not_raise_its_weight() -> None:
    vectors = np.random.default_rng(3).normal(size=(40, 4)).astype(np.float32)
    gaps = vectors.copy()
    gaps[30:] = np.nan
    texts = many_words(40)
    whole, some = described(texts, vectors), described(texts, gaps)
    wanted = whole.features().fit(whole, np.arange(30)).transform(whole, np.arange(30))[:, :4]
    found = some.features().fit(some).transform(some)[:, :4]
    np.testing.assert_allclose(found[:30], wanted)
    np.testing.assert_allclose(found[30:], np.broadcast_to(wanted.mean(axis=0), (10, 4)), atol=1e-12)


def test_embeddings_are_stored_and_grow(tmp_path: Path) -> None:
    roles = replace(ROLES, id="i")
    table = LabelTable.from_cells(cells("[3, 4]", "").assign(i=["1", "2"]), roles)
    table.write(tmp_path / "t.parquet")
    back = LabelTable.read(tmp_path / "t.parquet")
    np.testing.assert_array_equal(back.embeddings, [[3, 4], [np.nan, np.nan]])
    more = cells("[9, 9]", "[5, 6]").assign(i=["1", "3"])
    np.testing.assert_array_equal(with_rows(back, more).table.embeddings, [[3, 4], [np.nan] * 2, [5, 6]])
    beside = {"v": np.array([[9, 9], [5, 6]], dtype=np.float32)}
    grown = with_rows(back, more.drop(columns="v"), arrays=beside)
    np.testing.assert_array_equal(grown.table.embeddings, [[3, 4], [np.nan] * 2, [5, 6]])
    with pytest.raises(TableError, match="have 3 numbers; those of the project have 2"):
        with_rows(back, cells("[1, 2, 3]").assign(i=["4"]))


def test_sparse_embeddings_stay_sparse_in_features_file_and_new_rows(tmp_path: Path) -> None:
    wide = sp.csr_matrix(([3.0, 4.0, 2.0], ([0, 0, 1], [7, 40_000, 3])), shape=(3, 50_000))
    roles = replace(ROLES, id="i")
    plain = cells("", "", "").drop(columns="v").assign(i=["1", "2", "3"])
    table = LabelTable.from_cells(plain, roles, arrays={"v": wide})
    table.write(tmp_path / "t.parquet")
    back = LabelTable.read(tmp_path / "t.parquet")
    grown = with_rows(back, plain.assign(i=["2", "3", "4"]), arrays={"v": wide}).table
    expected = sp.vstack([wide, wide[2:]])
    for one, values in ((back, wide), (grown, expected)):
        assert one.embeddings.dtype == np.float32
        assert (one.embeddings != values).nnz == 0
    features = table.features().fit(table).transform(table, np.array([0, 2]))
    assert features[0, [7, 40_000]].toarray().tolist() == [[0.6, 0.8]]
    assert features[1].nnz == 0


def test_storage_order_of_sparse_numbers_does_not_affect_the_file(tmp_path: Path) -> None:
    plain = cells("", "").drop(columns="v")
    ordered = sp.csr_matrix(np.array([[0, 3, 4], [0, 0, 2]], dtype=np.float32))
    mixed = sp.csr_matrix(
        (np.array([4, 1, 2, 0, 2], dtype=np.float32), np.array([2, 1, 1, 0, 2]), np.array([0, 4, 5])), shape=(2, 3)
    )
    sums = {LabelTable.from_cells(plain, ROLES, arrays={"v": one}).write(tmp_path / "t") for one in (ordered, mixed)}
    assert len(sums) == 1
    dense = np.ones((2, 3), dtype=np.float32)
    LabelTable.from_cells(plain, ROLES, arrays={"v": dense})
    mixed.data[0] = dense[0] = 5  # the given array is unchanged


def test_too_large_array_values_are_named() -> None:
    plain = cells("", "").drop(columns="v")
    with pytest.raises(TableError, match="Row 2, column 'v': not all numbers of the embedding are finite"):
        LabelTable.from_cells(plain, ROLES, arrays={"v": np.array([[1.0, 2.0], [1e300, 1.0]])})


def test_arrays_can_only_be_embeddings() -> None:
    plain, came = cells("").drop(columns="v"), {"v": np.ones((1, 3), dtype=np.float32)}
    for roles in (replace(ROLES, embedding=None, numbers=("v",)), replace(ROLES, embedding=None, text="v")):
        with pytest.raises(TableError, match="Column 'v': there is no such column"):
            LabelTable.from_cells(plain, roles, arrays=came)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_rows_that_differ_only_in_their_vectors_are_different(form: Any) -> None:
    plain = cells("", "", "").drop(columns="v")
    numbers = np.array([[1, 0], [0, 2], [3, 3]], dtype=np.float32)
    table = LabelTable.from_cells(plain, ROLES, arrays={"v": form(numbers)})
    more = form(np.array([[0, 2], [5, 0], [1, 0]], dtype=np.float64))
    grown = with_rows(table, plain, arrays={"v": more})
    assert (grown.n_new, grown.known) == (1, ("1", "3"))
    found = grown.table.embeddings
    np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, [*numbers, [5, 0]])


def test_sparse_embeddings_are_checked() -> None:
    plain = cells("", "").drop(columns="v")
    odd = sp.csr_matrix(([1.0, np.nan], ([0, 1], [0, 1])), shape=(2, 3))
    with pytest.raises(TableError, match="Row 2, column 'v': the number nan is too large"):
        LabelTable.from_cells(plain, ROLES, arrays={"v": odd})
    with pytest.raises(TableError, match="at most 1,000,000 are allowed"):
        LabelTable.from_cells(plain, ROLES, arrays={"v": sp.csr_matrix((2, 1_000_001))})


def test_column_without_role_gives_no_embedding() -> None:
    finder = Finder(None)
    assert parse_embeddings(cells("[1]"), None, {}, finder) is None
    assert not finder.problems


def test_embeddings_are_guessed_by_name_or_length() -> None:
    long = str([0.5] * 16)
    frame = pd.DataFrame(
        {"candidates": ["a|b", "b"], "clip_embedding": ["[1, 2]"] * 2, "box": ["[1, 2, 3, 4]"] * 2}, dtype="str"
    )
    assert suggest_roles(frame).embedding == "clip_embedding"
    assert suggest_roles(frame.drop(columns="clip_embedding")).embedding is None
    assert suggest_roles(frame.drop(columns="clip_embedding").assign(x=[long, long])).embedding == "x"
