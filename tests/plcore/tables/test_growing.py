"""Adding rows to a table: old rows stay, new ones equal those of a full import, known ones are not duplicated."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore.tables import (
    LabelTable,
    Roles,
    TableError,
    read_cells,
    read_table,
    with_encoded,
    with_rows,
    without_vectors,
)
from plcore.tables.features.embeddings import ColumnVectors, directions_of
from plcore.tables.media.cells import Media
from tests.plcore.tables.zips import birds, make_zip

ROLES = Roles(candidates="birds", id="id", numbers=("n",), truth="truth")
FIRST = b"id,birds,n,truth\na,wren|robin,1,wren\nb,robin|tit,2,\nc,tit,3,tit\n"


def first() -> LabelTable:
    return LabelTable.read_csv(FIRST, ROLES)


def refused(table: LabelTable, csv: bytes, **more: object) -> str:
    with pytest.raises(TableError) as caught:
        with_rows(table, read_cells(csv), **more)  # type: ignore[arg-type]
    return str(caught.value)


def sets(table: LabelTable) -> dict[str, set[str]]:
    names = np.array(table.classes, dtype=object)
    return {row: set(names[may]) for row, may in zip(table.ids, table.candidates, strict=True)}


def test_new_rows_are_appended_and_known_ids_reported() -> None:
    grown = with_rows(first(), read_cells(b"id,birds,n,truth\nb,heron,9,\nd,heron|wren,5,heron\ne,tit,,\n"))
    assert (grown.n_new, grown.known, grown.new_classes) == (2, ("b",), ("heron",))
    table = grown.table
    assert table.classes == ("robin", "tit", "wren", "heron")
    assert sets(table) == sets(first()) | {"d": {"heron", "wren"}, "e": {"tit"}}
    assert sets(table)["b"] == {"robin", "tit"}
    np.testing.assert_array_equal(table.numbers[:, 0], [1, 2, 3, 5, np.nan])
    assert table.truth.tolist() == [2, -1, 1, 3, -1]
    assert table.cells["birds"].tolist() == ["wren|robin", "robin|tit", "tit", "heron|wren", "tit"]


def test_percentages_and_numbers_are_not_mixed() -> None:
    percent = LabelTable.read_csv(b"id,birds,n\na,wren|robin,62%\nb,robin|wren,7%\n", replace(ROLES, truth=None))
    assert percent.numbers[:, 0].tolist() == [0.62, 0.07]
    more = with_rows(percent, read_cells(b"id,birds,n\nd,wren|robin,\ne,wren,50%\n")).table
    np.testing.assert_array_equal(more.numbers[2:, 0], [np.nan, 0.5])
    assert "are like '62%', and this one is '50'" in refused(percent, b"id,birds,n\nd,wren|robin,\ne,wren,50\n")
    assert "Row 2" in refused(first(), b"id,birds,n,truth\nd,wren|robin,,\ne,wren,50%,\n")


def test_column_order_and_unused_columns_may_differ() -> None:
    roles = Roles(candidates="birds", id="id", text="song")
    table = LabelTable.read_csv(b"id,birds,remark,song\na,wren|robin,x,la\nb,robin,y,li\n", roles)
    grown = with_rows(table, read_cells(b"weather,song,birds,id\nrain,lo,robin|wren,c\n"))
    assert (grown.dropped, grown.empty) == (("weather",), ("remark",))
    assert grown.table.cells.to_numpy().tolist()[-1] == ["c", "robin|wren", "", "lo"]


def test_known_row_without_id_is_recognised_by_its_cells() -> None:
    table = LabelTable.read_csv(b"birds,n\nwren|robin,1\nrobin,2\n", Roles(candidates="birds", numbers=("n",)))
    grown = with_rows(table, read_cells(b"birds,n\nrobin,2\nrobin,3\n"))
    assert grown.n_new == 1
    assert grown.known == ("1",)
    assert grown.table.ids.tolist() == ["1", "2", "3"]


def test_known_row_without_id_is_recognised_by_common_columns() -> None:
    roles = Roles(candidates="birds", numbers=("n",))
    table = LabelTable.read_csv(b"birds,n,remark\nwren|robin,1,x\nrobin,2,y\n", roles)
    grown = with_rows(table, read_cells(b"n,birds\n2,robin\n3,robin\n"))
    assert (grown.n_new, grown.known, grown.empty) == (1, ("1",), ("remark",))
    columns = Roles(label_columns=("wren", "robin"), numbers=("n",))
    table = LabelTable.read_csv(b"n,wren,robin\n1,1,1\n2,0,1\n", columns)
    cells = read_cells(b"n,wren,robin,owl\n1,1,1,1\n3,0,1,1\n")
    assert with_rows(table, cells, label_columns=("owl",)).known == ("1",)


def test_new_names_do_not_change_existing_spelling() -> None:
    """If all labels are numbers, `1.0` is `1`; this stays so in all rows when words are added."""
    table = LabelTable.read_csv(b"id,birds,n,truth\na,1.0|2.0,1,1\nb,2,2,2.0\n", ROLES)
    grown = with_rows(table, read_cells(b"id,birds,n,truth\nc,1.0|none,1,1.0\nd,2|3.5,1,\n"))
    assert grown.table.classes == ("1", "2", "3.5", "none")
    assert grown.new_classes == ("3.5", "none")
    assert sets(grown.table)["c"] == {"1", "none"}
    assert grown.table.truth.tolist() == [0, 1, 0, -1]


def test_existing_rows_are_not_read_again() -> None:
    """Scores with decimal commas, then more rows with points: each are numbers, and a wrong cell is reported."""
    roles = Roles(score_columns=("wren", "robin"), id="id", text="song")
    first = b"".join(b'r%d,la,"0,%d","0,5"\n' % (row, row % 4 + 1) for row in range(60))
    table = LabelTable.read_csv(b"id,song,wren,robin\n" + first, roles)
    more = b"".join(b"s%d,la,0.%d,0.5\n" % (row, row % 4 + 1) for row in range(90))
    grown = with_rows(table, read_cells(b"id,song,wren,robin\n" + more)).table
    np.testing.assert_array_equal(grown.candidate_weights[:60], table.candidate_weights)
    assert grown.candidate_weights[60].tolist() == [0.1, 0.5]
    assert "Row 91 (line 92), column 'wren'" in refused(table, b"id,song,wren,robin\n" + more + b"t,la,much,0.5\n")


@pytest.mark.parametrize(
    ("form", "rows", "new", "first_weights"),
    [
        ("weighted", "a,wren:0.7|robin:0.3,1\nb,robin:1,2", "c,owl:0.9|robin:0.1,3", [0.3, 0.7, 0]),
        ("json", 'a,"[""wren"", ""robin""]",1\nb,"[""robin""]",2', 'c,"{""owl"": 0.9, ""robin"": 0.1}",3', [1, 1, 0]),
    ],
)  # fmt: skip
def test_weights_are_kept_and_added_with_new_rows(form: str, rows: str, new: str, first_weights: list[float]) -> None:
    """Rows imported without weights keep equal weights."""
    roles = Roles(candidates="birds", form=form, id="id", numbers=("n",))
    table = LabelTable.read_csv(f"id,birds,n\n{rows}\n".encode(), roles)
    assert (table.candidate_weights is None) == (form == "json")
    grown = with_rows(table, read_cells(f"id,birds,n\n{new}\n".encode())).table
    assert grown.classes == ("robin", "wren", "owl")
    np.testing.assert_allclose(grown.candidate_weights, [first_weights, [1, 0, 0], [0.1, 0, 0.9]])


def test_label_vectors_in_lists_accept_new_rows() -> None:
    roles = Roles(candidates="tags", not_labels="no", label_vectors=True, id="id", numbers=("n",))
    table = LabelTable.read_csv(b"id,tags,no,n\nx,sun|sea,moon,1\ny,sea,,2\n", roles)
    grown = with_rows(table, read_cells(b"id,tags,no,n\nz,moon,sea,3\n")).table
    assert grown.classes == ("moon", "sea", "sun")
    assert grown.label_vectors.tolist() == [[0, 1, 1], [-1, 1, -1], [1, 0, -1]]
    assert "is also in column 'tags'" in refused(table, b"id,tags,no,n\nz,moon,moon,3\n")


def test_other_names_of_a_class_map_to_it() -> None:
    called = {"wren": "wren", "Zaunkönig": "wren", "owl": "owl"}
    grown = with_rows(
        first(), read_cells("id,birds,n,truth\nd,Zaunkönig|wren|tit,1,Zaunkönig\n".encode()), None, called
    )
    assert grown.table.classes == ("robin", "tit", "wren", "owl")
    assert grown.new_classes == ()
    assert sets(grown.table)["d"] == {"wren", "tit"}
    assert grown.table.classes[grown.table.truth[-1]] == "wren"


def test_new_label_column_leaves_earlier_rows_unknown() -> None:
    roles = Roles(label_columns=("wren", "robin"), id="id", numbers=("n",))
    table = LabelTable.read_csv(b"id,n,wren,robin\na,1,1,1\nb,2,0,1\n", roles)
    cells = read_cells(b"id,n,wren,robin,owl\nc,3,0,1,1\n")
    grown = with_rows(table, cells, label_columns=("owl",)).table
    assert grown.classes == ("wren", "robin", "owl")
    assert grown.candidates.tolist() == [[1, 1, 0], [0, 1, 0], [0, 1, 1]]
    assert with_rows(table, cells).dropped == ("owl",)
    assert "a column of its own" in refused(first(), FIRST, label_columns=("owl",))
    assert "has this column already" in refused(table, b"id,n,wren,robin\nc,1,0,1\n", label_columns=("wren",))


def test_label_vectors_accept_new_rows_but_no_new_labels() -> None:
    roles = Roles(label_columns=("a", "b"), label_vectors=True, id="id", numbers=("n",))
    table = LabelTable.read_csv(b"id,n,a,b\nx,1,1,0\ny,2,,1\n", roles)
    grown = with_rows(table, read_cells(b"id,n,a,b\nz,3,0,\n")).table
    assert grown.label_vectors.tolist() == [[1, 0], [-1, 1], [0, -1]]
    lists = Roles(candidates="tags", label_vectors=True, id="id", numbers=("n",))
    listed = LabelTable.read_csv(b"id,tags,n\nx,sea|sun,1\ny,sea,2\n", lists)
    assert "'moon' is not a label of the project" in refused(listed, b"id,tags,n\nz,moon,3\n")


PLACES = {
    b"id,birds,n\nd,tit,1\n": "no column 'truth', which the project uses",
    b"id,birds,n,truth\na,wren,1,\nd,tit,x,\n": "Row 2 (line 3), column 'n': expected a number, got 'x'",
    b"id,birds,n,truth\nb,tit,1,\nd,,1,\n": "Row 2 (line 3), column 'birds': the row has no candidate label",
    b"id,birds,n,truth\nb,tit,1,\nd,tit,1,wren\n": "Row 2 (line 3), column 'truth': the true label 'wren'",
    b"id,birds,n,truth\nd,tit,1,\nd,tit,2,\n": "Row 2 (line 3), column 'id': the id 'd' was already used in row 1",
    b"id,birds,n,truth\n,tit,1,\n": "the id is empty",
    b"id,birds,n,truth\nb,tit,1,\na,wren,1,\n": "Every row of the file is in the project already (2 of them)",
}


@pytest.mark.parametrize("csv", PLACES, ids=lambda csv: csv.decode().replace("\n", " "))
def test_rows_that_cannot_be_added_are_refused_with_their_place(csv: bytes) -> None:
    assert PLACES[csv] in refused(first(), csv)


def test_files_of_old_and_new_rows_are_named() -> None:
    roles = Roles(candidates="candidates", image="image", image_features=True)
    reading = read_table(make_zip(birds()))
    table = LabelTable.from_cells(reading.cells, roles, reading.files)
    later = {name if name.endswith("csv") else f"new_{name}": data for name, data in birds().items()}
    csv = "candidates,image\n" + "".join(f"wren|robin,{name}\n" for name in later if name.endswith("png"))
    later[next(name for name in later if name.endswith("csv"))] = csv.encode()
    more = read_table(make_zip(later))
    grown = with_rows(table, more.cells, more.files)
    assert grown.table.media.images[: table.n_rows].tolist() == table.media.images.tolist()
    assert all(grown.table.media.images[table.n_rows :])
    assert grown.table.media.files is more.files
    assert grown.table.media.segments is None
    without = with_rows(LabelTable(*_fields(table, Media())), more.cells, more.files).table
    assert without.media.images[: table.n_rows].tolist() == [""] * table.n_rows


def _fields(table: LabelTable, media: Media) -> tuple[object, ...]:
    parts = table._parts._replace(media=media)
    return tuple(parts)


NAMES = st.sampled_from(["wren", "robin", "tit", "heron", "owl", "1", "10"])
ROWS = st.lists(st.sets(NAMES, min_size=1).map(sorted), min_size=1, max_size=6)


@settings(max_examples=settings().max_examples * 2 // 5)
@given(ROWS, ROWS)
def test_added_rows_equal_a_full_import(before: list[list[str]], after: list[list[str]]) -> None:
    before = [["wren", "robin"], *before]
    frame = pd.DataFrame(
        {
            "id": [str(place) for place in range(len(before) + len(after))],
            "birds": ["|".join(names) for names in (*before, *after)],
            "note": ["sings"] * (len(before) + len(after)),
        },
        dtype="str",
    )
    roles = Roles(candidates="birds", id="id", text="note")
    table = LabelTable.from_cells(frame[: len(before)], roles)
    grown = with_rows(table, frame[len(before) :].reset_index(drop=True))
    whole = LabelTable.from_cells(frame, roles)
    assert sets(grown.table) == sets(whole)
    assert set(grown.table.classes) == set(whole.classes)
    assert grown.table.classes[: len(table.classes)] == table.classes
    pd.testing.assert_frame_equal(grown.table.cells, whole.cells)


VECTORS = np.array([[1, 2], [np.nan, np.nan], [3, 4]], dtype=np.float32)


def seen_by(encoder: str, column: str = "n", values: np.ndarray = VECTORS) -> ColumnVectors:
    return ColumnVectors(column, encoder, "5a" * 32, directions_of(values))


def test_adding_encoded_columns_changes_nothing_else() -> None:
    table = first()
    called = {"wren": "wren", "robin": "robin", "tit": "tit", "owl": "owl"}
    grown = with_encoded(table, seen_by("small"), called)
    assert (grown.n_new, grown.known, grown.new_classes, grown.dropped, grown.empty) == (0, (), (), (), ())
    found = grown.table
    (one,) = found.encoded
    np.testing.assert_array_equal(one.values, directions_of(VECTORS))
    assert found.roles == table.roles
    assert found.classes == (*table.classes, "owl")  # a class that the log has added is one of the table now
    assert sets(found) == sets(table)
    pd.testing.assert_frame_equal(found.cells, table.cells)
    np.testing.assert_array_equal(found.truth, table.truth)


def test_another_encoder_replaces_the_previous_one_on_a_column() -> None:
    found = with_encoded(with_encoded(first(), seen_by("one", "id")).table, seen_by("two")).table
    found = with_encoded(found, seen_by("three", values=VECTORS[:, :1])).table
    assert [(one.column, one.encoder, one.values.shape[1]) for one in found.encoded] == [
        ("id", "one", 2),
        ("n", "three", 1),
    ]


def test_label_vectors_can_get_encoded_columns() -> None:
    cells = pd.DataFrame({"a": ["1", "0"], "b": ["", "1"], "n": ["1", "2"]}, dtype="str")
    roles = Roles(label_columns=("a", "b"), label_vectors=True, numbers=("n",))
    table = LabelTable.from_cells(cells, roles)
    found = with_encoded(table, seen_by("small", values=VECTORS[[0, 2]])).table
    np.testing.assert_array_equal(found.label_vectors, table.label_vectors)
    assert [one.encoder for one in found.encoded] == ["small"]
    assert without_vectors(found).table.encoded == ()


def test_encoder_without_any_vector_is_refused() -> None:
    with pytest.raises(TableError, match="small gave no row a vector"):
        with_encoded(first(), seen_by("small", values=np.full((3, 2), np.nan)))


def test_new_rows_without_vectors_count_as_the_mean() -> None:
    table = with_encoded(first(), seen_by("small")).table
    grown = with_rows(table, read_cells(b"id,birds,n,truth\nd,tit,4,\n")).table
    (one,) = grown.encoded
    np.testing.assert_array_equal(one.missing, [False, True, False, True])
    np.testing.assert_array_equal(one.values[:3], directions_of(VECTORS))
    X = grown.features().fit(grown, np.arange(3)).transform(grown)[:, -2:]
    np.testing.assert_allclose(X[[1, 3]], [X[[0, 2]].mean(axis=0)] * 2)


def test_removing_vectors_keeps_the_other_features() -> None:
    table = first()
    kept = without_vectors(with_encoded(table, seen_by("small")).table)
    assert (kept.n_new, kept.table.encoded, kept.table.roles) == (0, (), table.roles)
    array = with_rows(embedded(), read_cells(b"id,birds,n,truth,embedding\nd,tit,4,,5 6\n")).table
    assert (without_vectors(array).table.embeddings, without_vectors(array).table.roles) == (None, table.roles)


def test_removing_vectors_needs_vectors_and_another_feature() -> None:
    with pytest.raises(TableError, match="no vectors that could be removed"):
        without_vectors(first())
    roles = Roles(candidates="birds", id="id", embedding="v")
    in_cells = LabelTable.read_csv(b"id,birds,v\na,wren|tit,1 2\nb,tit,2 1\n", roles)
    with pytest.raises(TableError, match="no vectors that could be removed"):
        without_vectors(in_cells)
    bare = LabelTable.from_cells(in_cells.cells[["id", "birds"]], roles, arrays={"v": VECTORS[:2]})
    with pytest.raises(TableError, match="Without vectors there is nothing to learn from"):
        without_vectors(bare)


def test_several_encoded_columns_are_stored_by_name(tmp_path: Path) -> None:
    values = np.where(np.arange(3)[:, None] == 1, np.nan, VECTORS)
    table = with_encoded(with_encoded(first(), seen_by("one", "id", values)).table, seen_by("two")).table
    digest = table.write_named(tmp_path)
    back = LabelTable.read(tmp_path / f"{digest}.parquet")
    for one, other in zip(back.encoded, table.encoded, strict=True):
        assert (one.column, one.encoder, one.sha256) == (other.column, other.encoder, other.sha256)
        assert one.values.dtype == np.float16
        np.testing.assert_array_equal(one.values, other.values)
        with pytest.raises(ValueError, match="read-only"):
            one.values[0] = 0
    assert back.write(tmp_path / "again.parquet") == digest


def test_table_stored_before_encoded_columns_is_read(tmp_path: Path) -> None:
    about = {"version": 1, "roles": Roles(candidates="c", embedding="embedding").to_json(), "classes": ["a", "b"]}
    vectors = pa.FixedSizeListArray.from_arrays(pa.array([3, 4, 0, 0], pa.float32()), 2, mask=pa.array([False, True]))
    columns = {
        "cell:c": pa.array(["a|b", "b"]),
        "candidates": pa.array([["a", "b"], ["b"]], pa.list_(pa.large_string())),
        "embedding": vectors,
    }
    data = pa.table(columns).replace_schema_metadata({b"winnow": json.dumps(about).encode()})
    pa.parquet.write_table(data, tmp_path / "old.parquet")
    table = LabelTable.read(tmp_path / "old.parquet")
    assert table.encoded == ()
    np.testing.assert_array_equal(table.embeddings, [[3, 4], [np.nan, np.nan]])


@pytest.mark.parametrize("width", [2, 384, 1280])
def test_stored_directions_are_accurate(width: int) -> None:
    exact = np.random.default_rng(0).normal(size=(50, width)) * np.geomspace(1e-3, 1e4, 50)[:, None]
    found = directions_of(exact.astype(np.float32)).astype(np.float64)
    cosine = (found * exact).sum(axis=1) / np.linalg.norm(found, axis=1) / np.linalg.norm(exact, axis=1)
    assert cosine.min() > 0.9999


def embedded() -> LabelTable:
    """The first table, with an embedding that came in a file of its own."""
    table = first()
    return LabelTable.from_cells(
        table.cells, replace(table.roles, embedding="embedding"), arrays={"embedding": VECTORS}
    )


def test_new_rows_can_have_vectors_in_a_file_of_another_name() -> None:
    table = embedded()
    more = read_cells(b"id,birds,n,truth\nd,tit,4,\nb,tit,4,\n")
    grown = with_rows(table, more, arrays={"emb": np.array([[5, 6], [7, 8]], dtype=np.float32)})
    np.testing.assert_array_equal(grown.table.embeddings, [*VECTORS, [5, 6]])
    grown = with_rows(table, read_cells(b"id,birds,n,truth,embedding\nd,tit,4,,5 6\nb,tit,4,,7 8\n"))
    np.testing.assert_array_equal(grown.table.embeddings, [*VECTORS, [5, 6]])
    assert grown.dropped == ()
    said = refused(table, b"id,birds,n,truth\nd,tit,4,\n")
    assert "no column 'embedding'" in said
    assert "Fix: Add a file of their vectors, made by the same model, or go back to words first." in said
    assert "Row 1 (line 2), column 'embedding': expected a list" in refused(
        table, b"id,birds,n,truth,embedding\nd,tit,4,,x\n"
    )


def test_log_probabilities_grow_by_rows_of_either_scale() -> None:
    """A row is read by itself, so that rows added later do not change how others are read."""
    roles = Roles(score_columns=("wren", "tit"), id="id", numbers=("n",))
    table = LabelTable.read_csv(b"id,n,wren,tit\na,1,-0.2231,-1.6094\nb,2,-2.3026,-0.1054\n", roles)
    grown = with_rows(table, read_cells(b"id,n,wren,tit\nc,3,0.5,0.5\n")).table
    grown = with_rows(grown, read_cells(b"id,n,wren,tit\nd,4,-0.6931,-0.6931\n")).table
    assert grown.candidate_weights is not None
    assert np.allclose(grown.candidate_weights, [[0.8, 0.2], [0.1, 0.9], [0.5, 0.5], [0.5, 0.5]], atol=1e-3)
    assert "the weight -4 is below 0" in refused(grown, b"id,n,wren,tit\ne,5,-4,-4\n")
