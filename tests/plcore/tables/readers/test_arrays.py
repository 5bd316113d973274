"""Arrays: every benchmark of WINNOW_DATA is read exactly from its own form; others are compared with SciPy."""

from __future__ import annotations

import io
import json
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as any_arrays
from scipy import sparse
from sklearn.preprocessing import normalize

from plcore.tables.problems import TableError
from plcore.tables.readers.arrays import dense_rows, load_mat, load_npz, sparse_rows
from plcore.tables.readers.reading import TableReading
from plcore.tables.readers.recognise import read_table
from plcore.tables.table import LabelTable
from tests.plcore.tables.readers.cases import refused
from tests.plcore.tables.zips import make_zip

X = np.array([[1.5, -2.0], [0.1, 3.0], [0.0, np.nan], [4.0, 5.0]])
S = np.array([[1, 1, 0], [0, 1, 0], [1, 0, 1], [0, 1, 1]])
Y = np.array([1, 1, 0, 2])


def npz(**arrays: Any) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def mat(compressed: bool = True, **arrays: Any) -> bytes:
    out = io.BytesIO()
    scipy.io.savemat(out, arrays, do_compression=compressed)
    return out.getvalue()


def sets_of(reading: TableReading) -> list[list[str]]:
    return [json.loads(cell) if cell else [] for cell in reading.cells["candidates"]]


def numbers_of(reading: TableReading) -> np.ndarray:
    roles = reading.suggest_roles()
    return np.array([[float(cell or "nan") for cell in reading.cells[name]] for name in roles.numbers]).T


def is_bench(reading: TableReading) -> bool:
    """Whether this is the table of X, S and Y."""
    np.testing.assert_array_equal(numbers_of(reading), X)
    assert sets_of(reading) == [[str(k) for k in np.flatnonzero(row)] for row in S]
    assert reading.cells["truth"].tolist() == [str(k) for k in Y]
    roles = reading.suggest_roles()
    return (roles.candidates, roles.form, roles.truth, roles.numbers) == ("candidates", "json", "truth", ("x1", "x2"))


@pytest.mark.public_data
@pytest.mark.parametrize("name", ["birdsong", "lost", "msrcv2"])
def test_partial_label_sets_are_read(name: str, data_folder: Path) -> None:
    path = data_folder / f"{name}.npz"
    with np.load(path) as data:
        numbers, sets, truth = data["X"], data["S"], data["y"]
    reading = read_table(path)
    assert numbers_of(reading).astype(np.float32).tobytes() == numbers.tobytes()
    assert sets_of(reading) == [[str(k) for k in np.flatnonzero(row)] for row in sets]
    assert reading.cells["truth"].tolist() == [str(k) for k in truth]


@pytest.mark.public_data
def test_matlab_file_gives_the_same_table(data_folder: Path) -> None:
    with np.load(data_folder / "lost.npz") as data:
        numbers, sets, truth = data["X"], data["S"], data["y"]
    target = sparse.csc_array((np.ones(len(truth)), (truth, np.arange(len(truth)))), shape=sets.T.shape)
    given = {"data": numbers.astype(float), "partial_target": sparse.csc_array(sets.T.astype(float)), "target": target}
    ours = read_table(data_folder / "lost.npz")
    reading = read_table(mat(**given))
    assert sets_of(reading) == sets_of(ours)
    assert reading.cells["truth"].equals(ours.cells["truth"])
    np.testing.assert_array_equal(numbers_of(reading).astype(np.float32), numbers)


@pytest.mark.public_data
@pytest.mark.parametrize("name", ["emotions", "cal500", "scene", pytest.param("corel5k", marks=pytest.mark.proof)])
def test_label_vector_sets_are_read(name: str, data_folder: Path) -> None:
    path = data_folder / f"{name}.npz"
    with np.load(path) as data:
        pieces = {name: data[name] for name in data.files}
    reading = read_table(path)
    vectors = pieces["Y"]
    if "X" in pieces:
        numbers = pieces["X"]
    else:
        parts = tuple(pieces[part] for part in ("data", "indices", "indptr"))
        numbers = sparse.csr_array(parts, shape=tuple(pieces["shape"])).toarray()
    table = LabelTable.from_cells(reading.cells, reading.suggest_roles())
    assert table.label_vectors is not None
    np.testing.assert_array_equal(table.label_vectors, vectors)
    np.testing.assert_array_equal(table.numbers.astype(numbers.dtype), numbers)
    assert table.classes == tuple(str(each).strip() for each in pieces["label_names"])


@pytest.mark.public_data
def test_set_too_wide_for_columns_stays_sparse_and_round_trips(data_folder: Path, tmp_path: Path) -> None:
    with np.load(data_folder / "rcv1_subset1.npz") as data:
        pieces = {name: data[name] for name in data.files}
    parts = tuple(pieces[part] for part in ("data", "indices", "indptr"))
    numbers = sparse.csr_array(parts, shape=tuple(pieces["shape"]))
    reading = read_table(data_folder / "rcv1_subset1.npz")
    assert "47,236 features stay a sparse matrix" in reading.notes[0]
    table = LabelTable.from_cells(reading.cells, reading.suggest_roles(), arrays=reading.arrays)
    table.write(tmp_path / "t.parquet")
    for one in (table, LabelTable.read(tmp_path / "t.parquet")):
        np.testing.assert_array_equal(one.label_vectors, pieces["Y"])
        assert one.embeddings.shape == numbers.shape
        assert (one.embeddings != numbers).nnz == 0
    features = table.features().fit(table)
    expected = normalize(numbers[:50].astype(np.float64))
    assert abs(features.transform(table, np.arange(50)) - expected).max() < 1e-12
    assert features.n_features_ == 47_236


def test_pieces_of_a_wide_sparse_matrix_are_checked() -> None:
    wide = {"shape": np.array([2, 30_000]), "indptr": np.array([0, 1, 2]), "Y": np.array([[1, 0], [0, 1]])}
    good = wide | {"data": np.array([1.0, 2.0]), "indices": np.array([29_999, 0])}
    reading = read_table(npz(**good))
    assert reading.arrays["features"].toarray()[:, [0, 29_999]].tolist() == [[0, 1], [2, 0]]
    with pytest.raises(TableError, match="The pieces of the sparse matrix do not fit: a place lies outside"):
        read_table(npz(**good | {"indices": np.array([30_000, 0])}))


@pytest.mark.parametrize(
    "arrays",
    [
        {"X": X, "S": S, "y": Y},
        {"X": X, "S": S.astype(bool), "y": Y.astype(float)},
        {"X": X, "candidates": S.astype(np.uint8), "truth": Y},
        {"data": X, "partial_target": S.T, "target": np.eye(3)[Y].T},
        {"data": X, "partial_target": S, "target": np.eye(3)[Y]},
    ],
)
def test_names_and_orientation_of_arrays_are_recognised(arrays: dict[str, Any]) -> None:
    assert is_bench(read_table(npz(**arrays)))


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize(
    "arrays",
    [
        {"data": X, "partial_target": S.T.astype(float), "target": np.eye(3)[Y].T},
        {"data": X, "partial_target": sparse.csc_array(S.T), "target": sparse.csc_array(np.eye(3)[Y].T)},
        {"train_data": X, "train_p_target": S, "train_target": np.eye(3)[Y], "test_data": X, "test_target": S},
        {"data": X, "partial_target": S.T, "target": (Y + 1).reshape(1, -1), "note": "text", "more": {"a": 1}},
        {"data": sparse.csr_array(np.nan_to_num(X, nan=7)), "partial_target": S.T, "target": Y[:, None] + 1},
    ],
)  # fmt: skip
def test_matlab_files_are_read(arrays: dict[str, Any], compressed: bool) -> None:
    reading = read_table(mat(compressed, **arrays))
    if sparse.issparse(arrays.get("data")):
        reading.cells["x2"] = reading.cells["x2"].str.replace("7", "")
    assert is_bench(reading)
    left_out = "test_data" in arrays
    assert reading.notes == (("test_data is left out.", "test_target is left out.") if left_out else ())


def test_unknown_labels_and_empty_sets_are_empty_cells() -> None:
    reading = read_table(npz(X=X, S=S * [[1], [1], [1], [0]], y=[1, -1, 0, -1]))
    assert reading.cells["truth"].tolist() == ["1", "", "0", ""]
    assert reading.cells["candidates"].tolist()[-1] == ""


def test_names_of_classes_and_features_are_read() -> None:
    reading = read_table(npz(X=X, S=S, classes=["é", 'a"b', "c|d"], feature_names=["truth", "candidates"]))
    assert sets_of(reading)[0] == ["é", 'a"b']
    assert reading.suggest_roles().numbers == ("truth", "x_candidates")
    assert reading.suggest_roles().truth is None


def test_class_scores_are_read() -> None:
    scores = np.array([[0.5, 0.25], [0.1, 0.9]], np.float32)
    reading = read_table(npz(ids=["a", "b"], classes=["wren", "robin"], scores=scores))
    assert reading.cells.to_dict("list") == {"id": ["a", "b"], "p_wren": ["0.5", "0.1"], "p_robin": ["0.25", "0.9"]}
    assert "do not fit" in refused(npz(classes=["a"], scores=scores))
    assert "do not fit" in refused(npz(ids=["a"], classes=["a", "b"], scores=scores))


def test_plain_labels_become_a_column() -> None:
    assert read_table(npz(X=X, y=["a", "b", "a", "c"])).cells["label"].tolist() == ["a", "b", "a", "c"]


CSR = {"data": [1.0], "indices": [0], "indptr": [0, 1, 1, 1, 1], "shape": [4, 2]}


def one_array() -> bytes:
    out = io.BytesIO()
    np.save(out, X)
    return out.getvalue()


BAD: dict[str, tuple[bytes, str]] = {
    "no features": (npz(S=S), "no matrix of features; the file has 'S (4, 3)'"),
    "features of text": (npz(X=X.astype(str), S=S), "no matrix of features"),
    "no labels": (npz(X=X), "neither candidates nor labels"),
    "sides": (npz(X=X, S=S[:3, :2]), "but the features have 4 rows"),
    "other numbers": (npz(X=X, S=S * 2), "Row 1: The candidates hold 2"),
    "a class too many": (npz(X=X, S=S, y=[0, 3, 0, 1]), "Row 2: the true class 3 is none of 0 to 2"),
    "half a class": (npz(X=X, S=S, y=[0, 0.5, 0, 1]), "Row 2: the true class 0.5"),
    "labels of another length": (npz(X=X, S=S, y=[0, 1]), "The true labels are (2,), for 4 rows"),
    "two true labels": (npz(data=X, partial_target=S, target=S), "Row 1: the row has more than one true label"),
    "class names": (npz(X=X, S=S, classes=["a"]), "1 class name for 3 classes"),
    "no rows": (npz(X=X[:0], S=S[:0]), "no data rows"),
    "pieces": (npz(**{**CSR, "indices": [9]}, S=S), "do not fit"),
    "pieces of nothing": (npz(**{**CSR, "shape": [10**9, 10**9]}, S=S), "the rows do not begin one after the other"),
    "pickled": (npz(X=np.array([{}], object), S=S), "pickled"),
    "records": (npz(X=np.zeros(3, "i4,f8"), S=S), "is a table with the columns 'f0', 'f1'"),
    "no array": (make_zip({"X.npy": b"hello"}), "cannot be read"),
    "square in MATLAB": (mat(data=X, partial_target=np.eye(4)), "as many rows as columns, 4"),
    "a class too many in MATLAB": (
        mat(data=X, partial_target=S.T, target=Y + 2), "Row 4: the true class 4 is none of 1 to 3"
    ),
    "MATLAB 7.3": (b"MATLAB 7.3 MAT-file, Platform: x" + bytes(600), "version 7.3, which is HDF5"),
    "HDF5": (b"\x89HDF\r\n\x1a\n" + bytes(600), "HDF5"),
    "a MATLAB header alone": (mat(data=X)[:128], "no matrix of features; the file has nothing"),
    "an array cut off": (b"\x93NUMPY\x01\0", "the array '.npy' cannot be read"),
    "one array": (one_array(), "one NumPy array"),
    "a pickle": (pickle.dumps(X), "could run programs"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_invalid_arrays_are_refused_with_a_message(name: str) -> None:
    data, words = BAD[name]
    assert words in refused(data)


def test_array_with_a_false_size_is_refused() -> None:
    """NumPy allocates memory for the size in the header."""
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**5)})
    assert "cut off" in refused(make_zip({"X.npy": out.getvalue()}))


def test_decompression_bombs_in_variables_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = mat(data=np.zeros((1000, 300)))
    assert len(data) < 10_000
    monkeypatch.setattr("plcore.tables.readers.arrays.MAX_UNPACKED_MB", 1)
    with pytest.raises(TableError, match="more than 1 MB"):
        load_mat(data)
    monkeypatch.setattr("plcore.tables.readers.arrays.MAX_UNPACKED_MB", 1)
    with pytest.raises(TableError, match="more than 1 MB"):
        load_npz(npz(X=np.zeros((1000, 300))))


def test_implausible_dimensions_are_refused() -> None:
    """A sparse matrix can declare any dimensions."""
    wide = sparse.csc_array(([1.0], ([0], [0])), shape=(100_000, 100_000))
    with pytest.raises(TableError, match="at most 20,000,000"):
        load_mat(mat(data=wide))


@given(any_arrays(np.int64, (3, 4), elements=st.integers(-3, 3)), st.integers(0, 3))
def test_pieces_are_read_row_by_row(dense: np.ndarray, room: int) -> None:
    matrix = sparse.csr_array(dense)
    values, columns = (np.append(piece, np.full(room, 7)) for piece in (matrix.data, matrix.indices))
    np.testing.assert_array_equal(dense_rows(values, columns, matrix.indptr, (3, 4)), dense)


@pytest.mark.parametrize(
    ("values", "columns", "starts", "words"),
    [
        ([1.0], [2], [0, 1], "outside"),
        ([1.0], [-1], [0, 1], "outside"),
        ([1.0], [0], [0, 2], "fewer values"),
        ([1.0], [0], [1, 1], "one after the other"),
        ([1.0, 2.0], [0, 1], [0, 2, 1], "one after the other"),
        ([1.0], [0.5], [0, 1], "whole numbers"),
        (["a"], [0], [0, 1], "not rows of numbers"),
    ],
)
def test_mismatched_pieces_are_refused(values: list[Any], columns: list[Any], starts: list[int], words: str) -> None:
    pieces = (np.array(values), np.array(columns), np.array(starts))
    with pytest.raises(ValueError, match=words):
        dense_rows(*pieces, (len(starts) - 1, 2))


def test_sparse_matrices_with_indices_out_of_range_are_refused() -> None:
    data = mat(False, data=sparse.csc_array(np.array([[0, 5.0], [5.0, 0], [0, 5.0]])))
    rows = struct.pack("<3i", 1, 0, 2)
    assert data.count(rows) == 1
    with pytest.raises(TableError, match="does not fit"):
        load_mat(data.replace(rows, struct.pack("<3i", 1, 0, 10**8)))


@pytest.mark.parametrize("kind", ["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "bool", "c16"])
def test_every_number_type_written_by_scipy_is_read(kind: str) -> None:
    given = np.array([[0, 1, 2], [3, 4, 100]]).astype(kind)
    for compressed in (True, False):
        data = mat(compressed, a=given, long_name_of_a_matrix=given[:1, :1], t="text", c=np.array([{}], object), n=[[]])
        found = load_mat(data)
        expected = {name: array for name, array in scipy.io.loadmat(io.BytesIO(data)).items() if name in found}
        assert set(expected) == {"a", "long_name_of_a_matrix", "n"}
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array.real)


@given(
    any_arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 3)), elements=st.floats(-1e9, 1e9)), st.data()
)
def test_any_arrays_round_trip(numbers: np.ndarray, data: st.DataObject) -> None:
    n_rows, m = len(numbers), data.draw(st.integers(1, 4))
    sets = data.draw(any_arrays(bool, (n_rows, m)))
    truth = data.draw(any_arrays(np.int64, n_rows, elements=st.integers(-1, m - 1)))
    reading = read_table(npz(X=numbers, S=sets, y=truth))
    np.testing.assert_array_equal(numbers_of(reading), numbers)
    assert sets_of(reading) == [[str(k) for k in np.flatnonzero(row)] for row in sets]
    assert reading.cells["truth"].tolist() == ["" if k < 0 else str(k) for k in truth]


@given(st.booleans(), st.integers(0, 10**6), st.binary(min_size=1, max_size=20))
def test_damaged_arrays_are_read_or_refused(is_mat: bool, place: int, junk: bytes) -> None:
    data = mat(False, data=X, partial_target=sparse.csc_array(S.T)) if is_mat else npz(X=X, S=S, y=Y)
    place = 20 + place % (len(data) - 20)
    try:
        reading = read_table(data[:place] + junk + data[place + len(junk) :])
    except TableError:
        return
    assert len(reading.cells)


def test_damaged_zips_of_arrays_are_refused() -> None:
    data = npz(X=X, S=S)
    assert "damaged" in refused(data[:60] + b"\xff" * 40 + data[100:])


def test_arrays_of_another_byte_order_are_read() -> None:
    X, S = np.array([[1.5, 2], [3, 4.25]]), np.array([[1, 1], [0, 1]])
    swapped = npz(X=X.astype(">f8"), S=S.astype(">i4"), classes=np.array(["a", "b"], dtype=">U1"))
    assert read_table(swapped).cells.equals(read_table(npz(X=X, S=S, classes=np.array(["a", "b"]))).cells)


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32"])
def test_repeated_indices_are_summed_in_narrow_and_wide_matrices(dtype: str) -> None:
    pieces = np.array([1, 2, 4], dtype=dtype), np.array([1, 1, 0]), np.array([0, 2, 3])
    np.testing.assert_array_equal(dense_rows(*pieces, (2, 2)), [[0, 3], [4, 0]])
    np.testing.assert_array_equal(sparse_rows(*pieces, (2, 2)).toarray(), [[0, 3], [4, 0]])
