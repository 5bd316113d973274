"""Tables of label vectors: read, refused, guessed, stored, and read again from their own export."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import Entry, LabelTable, Roles, TableError, read_cells, suggest_roles
from plcore.loop.label_vectors.learner import LabelVectorLearner
from plcore.loop.label_vectors.settings import LabelVectorSettings
from plcore.tables.text.arrow import to_csv_bytes

COLUMNS = Roles(label_columns=("sea", "sand"), label_vectors=True, numbers=("w",))
LISTS = Roles(candidates="labels", not_labels="not labels", label_vectors=True, numbers=("w",))


def test_one_column_per_label_is_read() -> None:
    data = b"w,sea,sand\n1,1,0\n2,,TRUE\n3, 0 ,\n4,,\n5,1.0,false\n"
    table = LabelTable.read_csv(data, COLUMNS)
    assert table.classes == ("sea", "sand")
    assert table.label_vectors.dtype == np.int8
    assert table.label_vectors.tolist() == [[1, 0], [-1, 1], [0, -1], [-1, -1], [1, 0]]
    assert table.candidates.tolist() == [[True, False], [True, True], [False, True], [True, True], [True, False]]
    assert table.truth is None
    with pytest.raises(ValueError, match="read-only"):
        table.label_vectors[0, 0] = 0


def test_lists_of_yes_and_no_labels_are_read() -> None:
    data = b"w,labels,not labels\n1,sea|sand,\n2,,sea\n3, sand ,rock | sea\n4,,\n"
    table = LabelTable.read_csv(data, LISTS)
    assert table.classes == ("rock", "sand", "sea")
    assert table.label_vectors.tolist() == [[-1, 1, 1], [-1, -1, 0], [0, 1, 0], [-1, -1, -1]]
    alone = LabelTable.read_csv(data, replace(LISTS, not_labels=None))
    assert alone.classes == ("sand", "sea")
    assert alone.label_vectors.tolist() == [[1, 1], [-1, -1], [1, -1], [-1, -1]]  # never a no


def test_other_tables_have_no_label_vectors() -> None:
    table = LabelTable.read_csv(b"w,sea,sand\n1,1,0\n2,1,1\n", replace(COLUMNS, label_vectors=False))
    assert table.label_vectors is None


@pytest.mark.parametrize("roles", [COLUMNS, LISTS, replace(LISTS, not_labels=None)])
def test_roles_round_trip_through_json(roles: Roles) -> None:
    assert Roles.from_json(json.loads(json.dumps(roles.to_json()))) == roles
    old = {name: value for name, value in roles.to_json().items() if name not in ("label_vectors", "not_labels")}
    assert Roles.from_json(old) == replace(roles, label_vectors=False, not_labels=None)
    with pytest.raises(ValueError, match="'label_vectors' must be true or false"):
        Roles.from_json({"label_vectors": "yes"})
    with pytest.raises(ValueError, match="'not_labels' must be a string or null"):
        Roles.from_json({"not_labels": 1})


@pytest.mark.parametrize(
    ("data", "roles", "row", "column", "words"),
    [
        (b"w,sea,sand\n1,1,0\n2,blue,0\n", COLUMNS, 2, "sea", "expected 1, 0 or an empty cell, got 'blue'"),
        (b"w,sea,sand\n1,1,-2\n", COLUMNS, 1, "sand", "got '-2'"),
        (b"w,sea,sand\n1,1,0.5\n", COLUMNS, 1, "sand", "got '0.5'"),
        (b"w,sea,sand\n1,1,2\n", COLUMNS, 1, "sand", "got '2'"),
        (b"w,sea,sea \n1,1,0\n", replace(COLUMNS, label_columns=("sea", "sea ")), None, "sea ", "is also that of"),
        (b"w,sea\n1,1\n", replace(COLUMNS, label_columns=("sea",)), None, "sea", "two labels or more; found 1"),
        (b"w,labels,not labels\n1,a|b,b\n", LISTS, 1, "not labels", "'b' is also in column 'labels'"),
        (b"w,labels,not labels\n1,,\n", LISTS, None, "labels", "two labels or more; found 0"),
        (b"w,sea,sand\n1,1,0\n", replace(COLUMNS, truth="w", numbers=("sea",)), None, "w", "one true label"),
        (b"w,x,y\n1,a,b\n", Roles(annotators=("x", "y"), label_vectors=True, numbers=("w",)), None, "x", "votes"),
        (
            b"w,labels,not labels\n1,a|b,c\n",
            replace(LISTS, label_vectors=False),
            None,
            "not labels",
            "only of label vectors",
        ),
        (
            b"w,sea,sand,no\n1,1,0,b\n",
            replace(COLUMNS, not_labels="no"),
            None,
            "no",
            "needs a column that lists the labels",
        ),
    ],
)  # fmt: skip
def test_invalid_label_vectors_are_refused(data: bytes, roles: Roles, row: int | None, column: str, words: str) -> None:
    with pytest.raises(TableError, match=words) as caught:
        LabelTable.read_csv(data, roles)
    assert any((one.row, one.column) == (row, column) and words in one.message for one in caught.value.problems)


def guess(**columns: str) -> Roles:
    """For columns of cells, one letter each; a dot is an empty cell."""
    cells = {name: [cell.replace(".", "") for cell in text.split()] for name, text in columns.items()}
    return suggest_roles(pd.DataFrame(cells, dtype="str"))


def test_label_vectors_are_guessed() -> None:
    w = "1.5 2.5 3.25 4 5 6"
    found = guess(w=w.replace(".", ""), sea="1 . 0 1 . .", sand="0 1 . . 1 0")
    assert found.label_vectors
    assert found.label_columns == ("sea", "sand")
    assert guess(w="10 20 30 40 50 60", sea="1 0 0 1 0 0", sand="0 1 0 1 1 0").label_vectors  # a row without any
    plain = guess(w="10 20 30 40 50 60", sea="1 0 1 1 0 1", sand="0 1 0 1 1 0")
    assert not plain.label_vectors  # each row has a 1: candidates
    assert plain.label_columns == ("sea", "sand")
    truth = guess(w="10 20 30", sea="1 0 1", sand="0 1 1", truth="sea sand sea")
    assert truth.truth == "truth"
    assert not truth.label_vectors
    cells = pd.DataFrame(
        {"w": ["1", "2"], "labels": ["a|b", "b"], "Not labels": ["c", "a"], "winnow_source:a": ["given", "model"]},
        dtype="str",
    )  # fmt: skip
    lists = suggest_roles(cells)
    assert (lists.candidates, lists.not_labels, lists.label_vectors) == ("labels", "Not labels", True)


def test_never_asked_label_between_others_is_a_label() -> None:
    found = guess(w="10 20 30 40", sea="1 . 0 1", rock=". . . .", sand="0 1 . .", note=". . . .")
    assert found.label_columns == ("sea", "rock", "sand")
    assert "note" not in found.numbers + found.categories


VECTORS = st.integers(2, 5).flatmap(
    lambda L: st.lists(st.lists(st.sampled_from([1, 0, -1]), min_size=L, max_size=L), min_size=2, max_size=12)
)
TEXT = {1: "1", 0: "0", -1: ""}


def table_of(vectors: list[list[int]], names: list[str]) -> LabelTable:
    cells = {name: [TEXT[row[place]] for row in vectors] for place, name in enumerate(names)}
    frame = pd.DataFrame({"w": [str(row * row) for row in range(len(vectors))], **cells}, dtype="str")
    return LabelTable.from_cells(frame, Roles(label_columns=tuple(names), label_vectors=True, numbers=("w",)))


@given(VECTORS)
def test_label_vectors_round_trip_through_storage(
    tmp_path_factory: pytest.TempPathFactory, vectors: list[list[int]]
) -> None:
    table = table_of(vectors, [f"l{place}" for place in range(len(vectors[0]))])
    path = tmp_path_factory.mktemp("tables") / "table.parquet"
    digest = table.write(path)
    read = LabelTable.read(path)
    assert read.roles == table.roles
    assert read.label_vectors.tolist() == vectors
    assert read.candidates.tolist() == table.candidates.tolist()
    assert read.write(path) == digest


@given(VECTORS, st.integers(0, 10**6))
def test_export_and_import_round_trip(vectors: list[list[int]], seed: int) -> None:
    """Answers round-trip exactly; cells that were not asked stay so."""
    names = [f"l{place}" for place in range(len(vectors[0]))]
    table = table_of(vectors, names)
    learner = LabelVectorLearner(table, LabelVectorSettings(seed=seed))
    random = np.random.default_rng(seed)
    for row in np.flatnonzero(~learner.test_rows):
        kind, label = str(random.choice(["yes", "no", "skip"])), str(random.choice(names))
        learner.apply(Entry(learner.seq + 1, kind, int(row), "ann", (label,)))
    wide = learner.export_cells().wide()
    data = to_csv_bytes(pd.concat([table.cells[["w"]], wide], axis=1))
    back = LabelTable.read_csv(data, table.roles)
    assert back.label_vectors.tolist() == learner.cells.tolist()
    assert back.classes == table.classes
    guessed = suggest_roles(read_cells(data))
    assert not {name for _, name in guessed.used() if name.startswith("winnow_")}


def test_too_many_label_columns_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plcore.tables.candidates.MAX_COLUMNS", 1)
    with pytest.raises(TableError, match="2 label columns were chosen; at most 1 can be handled"):
        LabelTable.read_csv(b"w,sea,sand\n1,1,0\n2,1,1\n", COLUMNS)
    with pytest.raises(TableError, match="2 different labels were found; at most 1 can be handled"):
        LabelTable.read_csv(b"w,labels\n1,sea|sand\n2,sea\n", replace(LISTS, not_labels=None))
