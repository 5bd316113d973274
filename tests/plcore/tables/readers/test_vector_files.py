"""Vectors in a file next to the table: joined by name, missing rows reported, round trips."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore import LabelTable, TableError
from plcore.tables import VECTOR_ENDINGS, read_table, read_vectors, with_vectors, write_vectors
from plcore.tables.readers.reading import MAX_NUMBERS, check_vectors
from tests.plcore.tables.zips import WAV, make_zip, picture

CSV = b"id,candidates,weight\nw1,wren|robin,3\nw2,robin,4\nw3,wren,5\n"
THREE = np.array([[3, 1], [1, 2], [2, 2]], dtype=np.float32)


def npz(**arrays: object) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def parquet(**columns: object) -> bytes:
    out = io.BytesIO()
    pa.parquet.write_table(pa.table(columns), out)
    return out.getvalue()


def lists(rows: object, width: int | None = None) -> pa.Array:
    return pa.array(rows, pa.list_(pa.float32()) if width is None else pa.list_(pa.float64(), width))


def table(csv: bytes, vectors: bytes, name: str = "v.npz") -> tuple[LabelTable, tuple[str, ...]]:
    reading = with_vectors(read_table(csv), read_vectors(vectors, name))
    return LabelTable.from_cells(reading.cells, reading.suggest_roles(), arrays=reading.arrays), reading.notes


def refused(csv: bytes, vectors: bytes, name: str = "v.npz") -> str:
    with pytest.raises(TableError) as caught:
        table(csv, vectors, name)
    return str(caught.value)


@pytest.mark.parametrize(
    ("names", "vectors"),
    [("ids", "embeddings"), ("names", "X"), ("files", "arr_0"), ("anything", "whatever"), ("id", "features")],
)
def test_arrays_of_many_names_are_joined_by_id(names: str, vectors: str) -> None:
    found, notes = table(CSV, npz(**{names: ["w3", "w1", "w2"], vectors: THREE}))
    np.testing.assert_array_equal(found.embeddings, THREE[[1, 2, 0]])
    assert found.roles.embedding == "embedding"
    assert notes == ("Vectors of 2 numbers were joined by column 'id'.",)


def test_tables_of_any_format_can_hold_vectors() -> None:
    expected = THREE[[1, 2, 0]]
    ids = ["w3", "w1", "w2"]
    rows = THREE.tolist()
    feather = io.BytesIO()
    pa.feather.write_feather(pa.table({"id": ids, "v": lists(rows)}), feather)
    files = {
        "a.parquet": parquet(id=ids, v=lists(rows)),
        "b.parquet": parquet(v=lists(rows, 2), key=ids),
        "c.parquet": parquet(id=ids, x=THREE[:, 0], y=THREE[:, 1]),
        "d.parquet": parquet(id=ids, embedding=lists(rows), note=["x", "y", "z"]),
        "e.feather": feather.getvalue(),
        "f.csv": b'id,embedding\nw3,"[3, 1]"\nw1,"[1, 2]"\nw2,"[2, 2]"\n',
        "g.csv": b"id,d1,d2\nw3,3,1\nw1,1,2\nw2,2,2\n",
        "h.jsonl": b'{"id":"w3","emb":[3,1]}\n{"id":"w1","emb":[1,2]}\n{"id":"w2","emb":[2,2]}\n',
    }
    for name, data in files.items():
        found, _ = table(CSV, data, name)
        np.testing.assert_array_equal(found.embeddings, expected, err_msg=name)


def test_unmatched_rows_of_either_side_are_reported() -> None:
    found, notes = table(CSV, npz(ids=["w3", "w9", "w8"], embeddings=THREE))
    np.testing.assert_array_equal(found.embeddings, [[np.nan] * 2, [np.nan] * 2, [3, 1]])
    assert notes[1:] == (
        "2 of 3 rows have no vector: 'w1', 'w2'.",
        "2 vectors of rows that are not in the table were left out: 'w9', 'w8'.",
    )


def test_number_ids_and_file_names_are_matched() -> None:
    numbered = CSV.replace(b"w", b"")
    found, _ = table(numbered, npz(ids=np.array([3, 1, 2]), embeddings=THREE))
    np.testing.assert_array_equal(found.embeddings, THREE[[1, 2, 0]])
    csv = b"candidates,image\nwren|robin,a.png\nrobin,b.png\nwren,a.png\n"
    reading = read_table(make_zip({"t.csv": csv, "a.png": picture(1), "b.png": picture(2)}))
    joined = with_vectors(reading, read_vectors(npz(files=["b.png", "a.png"], X=THREE[:2])))
    assert joined.notes[-1] == "Vectors of 2 numbers were joined by column 'image'."
    roles = joined.suggest_roles()
    assert (roles.embedding, roles.image, roles.image_features) == ("embedding", "image", False)
    np.testing.assert_array_equal(joined.arrays["embedding"], THREE[[1, 0, 1]])


def test_rows_without_names_are_matched_by_number() -> None:
    csv = b"candidates,count\nwren|robin,2\nrobin,3\nwren,1\n"  # numbers that count something name no row
    found, notes = table(csv, npz(ids=["1", "2", "3"], embeddings=THREE))
    np.testing.assert_array_equal(found.embeddings, THREE)
    assert notes == ("Vectors of 2 numbers were joined by row number.",)
    found, notes = table(csv, npz(embeddings=THREE))
    np.testing.assert_array_equal(found.embeddings, THREE)
    assert notes == ("Vectors of 2 numbers were taken in the order of the rows.",)
    assert "has 2 rows and no names of them; the table has 3" in refused(csv, npz(embeddings=THREE[:2]))


def test_vectors_of_some_row_numbers_ask_whether_these_count_from_zero() -> None:
    csv = b"candidates,count\nwren|robin,2\nrobin,3\nwren,1\n"
    reading = with_vectors(read_table(csv), read_vectors(npz(ids=["2", "1"], embeddings=THREE[:2])))
    np.testing.assert_array_equal(reading.arrays["embedding"], [[1, 2], [3, 1], [np.nan] * 2])
    assert "1 of 3 rows has no vector: '3'." in reading.notes
    ((name, message, _),) = reading.asks
    assert (name, "such as '2', '1', were read as row numbers from 1" in message) == ("row-numbers", True)
    whole = with_vectors(read_table(csv), read_vectors(npz(ids=["1", "2", "3"], embeddings=THREE)))
    assert whole.asks == ()
    packed = read_table(make_zip({"t.csv": csv, "v.npz": npz(ids=[1, 2], embeddings=THREE[:2])}))
    assert [one[0] for one in packed.asks] == ["row-numbers"]


def test_row_numbers_are_not_taken_for_numbers_of_people() -> None:
    csv = "".join(f"wren|robin,grade {row},{1 + row % 3}\n" for row in range(6))
    csv = "candidates,note,worker_id\n" + csv.replace("grade 0", "grade 4")
    numbers = np.arange(12, dtype=np.float32).reshape(6, 2)
    found, notes = table(csv.encode(), npz(ids=np.arange(1, 7), embeddings=numbers))
    np.testing.assert_array_equal(found.embeddings, numbers)
    assert notes[-1] == "Vectors of 2 numbers were joined by row number."


def test_ids_of_table_with_ids_are_never_row_numbers() -> None:
    words = refused(CSV, npz(ids=["1", "2", "3"], embeddings=THREE))
    assert "of '1', '2', '3', is of a row of the table: they are not in column 'id', which holds 'w1'" in words


@pytest.mark.parametrize(
    ("vectors", "words"),
    [
        (npz(ids=["w1", "w1"], embeddings=THREE[:2]), "Row 2: the name 'w1' was already in row 1 of the file"),
        (npz(ids=["w1"], embeddings=THREE), "There are 1 ids, but 3 vectors in 'embeddings'"),
        (npz(ids=["w1"]), "There is no matrix of vectors; the file has 'ids (1,)'"),
        (npz(a=THREE, b=THREE), "There is no matrix of vectors; the file has 'a (3, 2)', 'b (3, 2)'"),
        (npz(X=THREE, S=np.ones((3, 2))), "The file of vectors holds labels, too"),
        (npz(ids=np.array([object()]), embeddings=THREE), "pickled"),
        (npz(ids=["w1"], embeddings=THREE)[:-30], "The zip cannot be read"),
        (parquet(id=["w1"], v=lists([[1.0] * 20]), w=lists([[1.0] * 20])), "Several columns hold vectors: 'v', 'w'"),
        (parquet(id=["w1"], name=["x"]), "No column holds vectors; the columns are 'id', 'name'"),
        (npz(ids=["w1"], embeddings=np.array([[1.0, np.inf]])), "Row 1 (line 2), column 'embedding': not all numbers"),
        (npz(ids=["w1"], embeddings=np.array([[1e300, 1.0]])), "Row 1 (line 2), column 'embedding': not all numbers"),
        (npz(ids=["w1"], embeddings=np.array([[1.0, np.nan]])), "Row 1 (line 2), column 'embedding': not all numbers"),
    ],
)  # fmt: skip
def test_vectors_that_cannot_be_joined_are_reported(vectors: bytes, words: str) -> None:
    assert words in refused(CSV, vectors, "v")


def test_file_of_vectors_next_to_a_table_in_a_zip_is_found() -> None:
    for name, data in (
        ("v.npz", npz(ids=["w2", "w1", "w3"], embeddings=THREE)),
        ("v.parquet", parquet(id=["w2", "w1", "w3"], embedding=lists(THREE.tolist()))),
    ):
        reading = read_table(make_zip({"t.csv": CSV, name: data}))
        assert reading.format == "zip of a table (CSV), its files and vectors of its rows"
        np.testing.assert_array_equal(reading.arrays["embedding"], THREE[[1, 0, 2]])
        assert reading.suggest_roles().embedding == "embedding"
        assert reading.suggest_roles().numbers == ("weight",)


def test_images_votes_and_vectors_in_one_zip_are_read() -> None:
    votes = b"task,worker,label\na.png,1,wren\na.png,2,robin\nb.png,1,robin\n"
    vectors = npz(ids=["b.png", "a.png"], embeddings=THREE[:2])
    reading = read_table(make_zip({"t.csv": votes, "v.npz": vectors, "a.png": picture(1), "b.png": picture(2)}))
    assert len(reading.cells) == 2  # a row for each item, not for each vote
    np.testing.assert_array_equal(reading.arrays["embedding"], THREE[[1, 0]])
    assert reading.files is not None


def test_recordings_with_vectors_use_only_the_vectors_as_features() -> None:
    csv = b"candidates,clip\nwren|robin,a.wav\nrobin,b.wav\n"
    files = {"t.csv": csv, "a.wav": WAV, "b.wav": WAV + b"00"}
    assert read_table(make_zip(files)).suggest_roles().sound_features
    vectors = npz(files=["b.wav", "a.wav"], embeddings=THREE[:2])
    roles = read_table(make_zip({**files, "v.npz": vectors})).suggest_roles()
    assert (roles.audio, roles.embedding, roles.sound_features) == ("clip", "embedding", False)


def test_damaged_vectors_in_a_zip_are_reported() -> None:
    with pytest.raises(TableError, match="pickled"):
        read_table(make_zip({"t.csv": CSV, "v.npz": npz(ids=np.array([object()]), embeddings=THREE)}))


def test_two_tables_in_zip_are_joined() -> None:
    rows = parquet(id=["w1", "w2"], x=[1.0, 2.0], y=[2.0, 3.0])
    reading = read_table(make_zip({"c.csv": b"id,candidates\nw1,wren|robin\nw2,robin\n", "r.parquet": rows}))
    assert not reading.arrays
    assert reading.suggest_roles().numbers == ("x", "y")
    rows = parquet(id=["w2", "w1"], name=["b", "a"], embedding=lists([[1.0, 2.0], [3.0, 4.0]]))
    reading = read_table(make_zip({"c.csv": b"id,candidates\nw1,wren|robin\nw2,robin\n", "r.parquet": rows}))
    assert reading.cells["id"].tolist() == ["w2", "w1"]
    np.testing.assert_array_equal(reading.arrays["embedding"], [[1, 2], [3, 4]])
    assert reading.suggest_roles().embedding == "embedding"


@pytest.mark.parametrize("ending", VECTOR_ENDINGS)
@settings(max_examples=20)
@given(data=st.data())
def test_written_data_is_joined_to_the_same_rows(ending: str, data: st.DataObject) -> None:
    names = data.draw(st.lists(st.text("abé1-", min_size=1, max_size=5), min_size=2, max_size=6, unique=True))
    width = data.draw(st.integers(2, 5))
    vectors = np.random.default_rng(len(names)).random((len(names), width)).astype(np.float32)
    empty = data.draw(st.integers(0, len(names) - 2))
    vectors[empty] = np.nan
    out = io.BytesIO()
    write_vectors(names, vectors, out, ending)
    order = data.draw(st.permutations(range(len(names))))
    frame = pd.DataFrame({"id": [names[k] for k in order], "c": "a|b"}, dtype="str")
    reading = with_vectors(read_table(frame.to_csv(index=False).encode()), read_vectors(out.getvalue(), f"v{ending}"))
    np.testing.assert_array_equal(reading.arrays["embedding"], vectors[list(order)])


def test_path_is_read_as_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "v.npz").write_bytes(npz(ids=["a"], embeddings=THREE[:1]))
    assert read_vectors(tmp_path / "v.npz").names == {"ids": ["a"]}


def test_number_of_vectors_is_limited() -> None:
    check_vectors("v", MAX_NUMBERS, 1)
    with pytest.raises(TableError, match=f"have {MAX_NUMBERS + 2:,} numbers; at most {MAX_NUMBERS:,}"):
        check_vectors("v", MAX_NUMBERS // 2 + 1, 2)


@given(st.booleans(), st.integers(0, 2000), st.binary(min_size=1, max_size=8))
def test_damaged_files_of_vectors_are_read_or_refused(is_npz: bool, place: int, junk: bytes) -> None:
    ids = ["w3", "w1", "w2"]
    data = npz(ids=ids, embeddings=THREE) if is_npz else b'id,embedding\nw3,"[3, 1]"\nw1,"[1, 2]"\nw2,"[2, 2]"\n'
    place %= len(data)
    said = "Fix:"
    try:
        file = read_vectors(data[:place] + junk + data[place + len(junk) :], "v")
        reading = with_vectors(read_table(CSV), file)
        LabelTable.from_cells(reading.cells, reading.suggest_roles(), arrays=reading.arrays)
    except TableError as error:
        said = str(error)
    assert "Fix:" in said
