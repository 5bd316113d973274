"""Embeddings beside a table on the Import page, and beside more rows of a project."""

from __future__ import annotations

import numpy as np
from streamlit.testing.v1 import AppTest

from plcore import LabelTable
from tests.pages.conftest import Open, listed_problems, words
from tests.pages.file_boxes import give, take_away
from tests.pages.test_import_zip import chosen, home, owner, page
from tests.plcore.tables.readers.test_vector_files import npz
from workflow.importing import more_rows, read_upload
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

__all__ = ["home", "owner", "page"]

CSV = "id,candidates,note\n" + "".join(
    f"r{k},{('wren|robin', 'robin|owl', 'wren', 'owl')[k % 4]},{k}\n" for k in range(24)
)
VECTORS = np.random.default_rng(0).random((24, 3)).astype(np.float32)
IDS = [f"r{k}" for k in range(24)]


def test_vectors_beside_the_table_are_learnt_from(home: Home, owner: int, page: AppTest) -> None:
    test = give(page, "A table", "birds.csv", CSV.encode())
    assert "embedding" not in str(chosen(test, "Embedding (optional)"))
    give(test, "Embeddings of the rows", "v.npz", npz(ids=IDS[1:], embeddings=VECTORS[1:]))
    assert chosen(test, "Embedding (optional)") == "embedding"
    assert "1 of 24 rows have no vector" in words(test)
    next(button for button in test.button if button.label == "Create project").click().run()
    assert not test.exception
    (made,) = managing.list_projects(Seat(home, owner))
    (stored,) = home.tables_dir.glob("*.parquet")
    found = LabelTable.read(stored)
    assert made.n_rows == 24
    np.testing.assert_array_equal(found.embeddings[1:], VECTORS[1:])
    assert np.isnan(found.embeddings[0]).all()


def test_vectors_that_fit_no_row_are_told_and_can_be_taken_away(page: AppTest) -> None:
    test = give(page, "A table", "birds.csv", CSV.encode())
    give(test, "Embeddings of the rows", "v.npz", npz(ids=["x"], embeddings=VECTORS[:1]))
    (problem,) = listed_problems(test)
    assert "is of a row of the table" in problem
    take_away(test, "Embeddings of the rows")
    assert chosen(test, "Row id (optional)") == "id"


def test_more_rows_bring_their_vectors(home: Home, owner: int, page: AppTest, show: Open) -> None:
    from workflow import importing

    upload = read_upload(CSV.encode(), "t.csv", vectors=(npz(ids=IDS, embeddings=VECTORS), "v.npz"))
    table = importing.check(upload, upload.suggest_roles()).table
    assert table is not None
    project = importing.create(Seat(home, owner), "birds", table, upload=upload)
    assert more_rows.takes_vectors(Seat(home, owner, project))
    test = show(owner, "project_page.py", project=str(project))
    give(test, "A table with more rows", "more.csv", b"id,candidates,note\nnew,wren|owl,9\n")
    assert "has no column 'embedding'" in " ".join(listed_problems(test))
    give(test, "Embeddings of these rows", "v.npz", npz(ids=["new"], X=VECTORS[:1]))
    next(button for button in test.button if button.label == "Add 1 row").click().run()
    assert not test.exception
    found = max(
        (LabelTable.read(one) for one in home.tables_dir.glob("*.parquet")), key=lambda one: one.n_rows
    )
    np.testing.assert_array_equal(found.embeddings, np.concatenate([VECTORS, VECTORS[:1]]))
