"""The import page with images in a zip file, and with vectors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import frame
from plcore import LabelTable
from tests.conftest import ROOT
from tests.pages.conftest import PATIENCE, Open, listed_problems, press, words
from tests.pages.file_boxes import give, take_away
from tests.plcore.tables.readers.test_vector_files import npz
from tests.plcore.tables.zips import make_zip, picture
from tests.workflow.files.test_finding import FILES, ZIP, kept
from workflow.answering import loop
from workflow.importing import more_rows, read_upload
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home, close_home
from workflow.server.home import home as process_home

# The import page with a zip: from the upload to the first question's picture, and messages about bad ones


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    monkeypatch.setenv("WINNOW_HOME", str(tmp_path))
    monkeypatch.delenv("WINNOW_DATABASE_URL", raising=False)
    close_home()
    yield process_home()
    close_home()


@pytest.fixture
def page(owner: int, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setattr(frame, "person_id", lambda: owner)
    test = AppTest.from_file(str(ROOT / "pages" / "main.py"), default_timeout=PATIENCE)
    return test.run().switch_page("import_table.py").run()


def upload(test: AppTest, data: bytes) -> AppTest:
    return give(test, "A table", "birds.zip", data)


def chosen(test: AppTest, label: str) -> object:
    return next(box.value for box in (*test.selectbox, *test.checkbox) if box.label == label)


def test_page_states_limits_of_zip(page: AppTest) -> None:
    said = " ".join(one.value for one in page.caption)
    assert "The table and the files in one zip" in said
    for limit in ("200 MB", "50,000 files", "1,000 MB", "20 MB", "50 million points", "PNG, JPEG, WebP, GIF"):
        assert limit in said


def test_zip_of_images_alone_asks_for_the_classes(home: Home, owner: int, page: AppTest) -> None:
    test = upload(page, make_zip({f"{k}.png": picture(k) for k in range(4)}))
    (classes,) = (box for box in test.text_input if "Type the classes" in box.label)
    classes.set_value("wren, robin").run()
    press(test, "Create project")
    (made,) = managing.list_projects(Seat(home, owner))
    assert (made.name, made.n_rows, made.n_classes) == ("birds", 4, 2)


def test_zip_becomes_project_with_its_images(home: Home, owner: int, page: AppTest) -> None:
    test = upload(page, ZIP)
    assert chosen(test, "Image (optional)") == "image"
    assert chosen(test, "Audio (optional)") == "song"
    assert chosen(test, "Learn from what the image looks like") is True
    assert any("7 different files" in one.value for one in test.caption)
    press(test, "Create project")
    (made,) = managing.list_projects(Seat(home, owner))
    assert (made.name, made.n_rows) == ("birds", 12)
    assert loop.ask_next(Seat(home, owner, made.id), 1).view.image == f"files/{kept(picture(1))}"


def test_zip_without_features_to_learn_from_is_refused(page: AppTest) -> None:
    test = upload(page, ZIP)
    for place in range(2):  # pictures, recordings
        [box for box in test.checkbox if box.label.startswith("Learn from")][place].uncheck().run()
        assert not test.exception
    (problem,) = listed_problems(test)
    assert "nothing to learn from" in problem
    assert "learn from the images or recordings" in problem


BAD = {
    "no table": (make_zip({"a.txt": b"no tabs"}), "no CSV file"),
    "a path that leads out": (make_zip({"t.csv": b"candidates,image\na|b,x.png\n", "../x.png": b""}), "../x.png"),
    "a file that is missing": (
        make_zip({"t.csv": b"candidates,image\na|b,pictures/0.png\nb,none.png\n", **FILES}),
        "no file 'none.png'",
    ),
    "no zip at all": (b"PK\x03\x04 no zip", "cannot be read"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_zip_is_explained_and_nothing_is_stored(home: Home, owner: int, page: AppTest, case: str) -> None:
    data, said = BAD[case]
    test = upload(page, data)
    assert said in " ".join(listed_problems(test))
    assert not [button for button in test.button if button.label == "Create project"]
    assert managing.list_projects(Seat(home, owner)) == []
    assert not list(home.tables_dir.iterdir())
    assert not home.media_dir.exists()


# Embeddings next to a table on the Import page, and next to more rows of a project


CSV = "id,candidates,note\n" + "".join(
    f"r{k},{('wren|robin', 'robin|owl', 'wren', 'owl')[k % 4]},{k}\n" for k in range(24)
)
VECTORS = np.random.default_rng(0).random((24, 3)).astype(np.float32)
IDS = [f"r{k}" for k in range(24)]


def test_separate_embeddings_are_stored_as_features(home: Home, owner: int, page: AppTest) -> None:
    test = give(page, "A table", "birds.csv", CSV.encode())
    assert "embedding" not in str(chosen(test, "Embedding (optional)"))
    give(test, "Embeddings of the rows", "v.npz", npz(ids=IDS[1:], embeddings=VECTORS[1:]))
    assert chosen(test, "Embedding (optional)") == "embedding"
    assert "1 of 24 rows has no vector" in words(test)
    press(test, "Create project")
    (made,) = managing.list_projects(Seat(home, owner))
    (stored,) = home.tables_dir.glob("*.parquet")
    found = LabelTable.read(stored)
    assert made.n_rows == 24
    np.testing.assert_array_equal(found.embeddings[1:], VECTORS[1:])
    assert np.isnan(found.embeddings[0]).all()


def test_embeddings_of_unknown_rows_are_reported_and_removable(page: AppTest) -> None:
    test = give(page, "A table", "birds.csv", CSV.encode())
    give(test, "Embeddings of the rows", "v.npz", npz(ids=["x"], embeddings=VECTORS[:1]))
    (problem,) = listed_problems(test)
    assert "is of a row of the table" in problem
    take_away(test, "Embeddings of the rows")
    assert chosen(test, "Row id (optional)") == "id"


def test_added_rows_bring_their_embeddings(home: Home, owner: int, page: AppTest, show: Open) -> None:
    from workflow import importing

    upload = read_upload(CSV.encode(), "t.csv", vectors=(npz(ids=IDS, embeddings=VECTORS), "v.npz"))
    table = importing.check(upload, upload.suggest_roles()).table
    assert table is not None
    project = importing.create(Seat(home, owner), "birds", table, upload=upload)
    assert more_rows.needs_vectors(Seat(home, owner, project))
    test = show(owner, "project_page.py", project=str(project))
    give(test, "A table with more rows", "more.csv", b"id,candidates,note\nnew,wren|owl,9\n")
    assert "has no column 'embedding'" in " ".join(listed_problems(test))
    give(test, "Embeddings of these rows", "v.npz", npz(ids=["new"], X=VECTORS[:1]))
    press(test, "Add 1 row")
    found = max((LabelTable.read(one) for one in home.tables_dir.glob("*.parquet")), key=lambda one: one.n_rows)
    np.testing.assert_array_equal(found.embeddings, np.concatenate([VECTORS, VECTORS[:1]]))
