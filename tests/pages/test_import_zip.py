"""The import page with a zip: from the upload to the first question's picture, and what is said of a bad one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import frame
from tests.conftest import ROOT
from tests.pages.conftest import PATIENCE, listed_problems
from tests.pages.file_boxes import give
from tests.plcore.tables.zips import make_zip, picture
from tests.workflow.files.test_finding import FILES, ZIP, kept
from workflow.answering import loop
from workflow.people import team
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home, close_home
from workflow.server.home import home as process_home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    monkeypatch.setenv("WINNOW_HOME", str(tmp_path))
    monkeypatch.delenv("WINNOW_DATABASE_URL", raising=False)
    close_home()
    yield process_home()
    close_home()


@pytest.fixture
def owner(home: Home) -> int:
    return team.ensure_owner(home).id


@pytest.fixture
def page(owner: int, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setattr(frame, "person_id", lambda: owner)
    test = AppTest.from_file(str(ROOT / "pages" / "main.py"), default_timeout=PATIENCE)
    return test.run().switch_page("import_table.py").run()


def upload(test: AppTest, data: bytes) -> AppTest:
    return give(test, "A table", "birds.zip", data)


def chosen(test: AppTest, label: str) -> object:
    return next(box.value for box in (*test.selectbox, *test.checkbox) if box.label == label)


def test_the_page_says_what_a_zip_may_be(page: AppTest) -> None:
    said = " ".join(one.value for one in page.caption)
    assert "The table and the files in one zip" in said
    for limit in ("200 MB", "50,000 files", "1,000 MB", "20 MB", "50 million points", "PNG, JPEG, WebP, GIF"):
        assert limit in said


def test_a_zip_becomes_a_project_that_shows_its_pictures(home: Home, owner: int, page: AppTest) -> None:
    test = upload(page, ZIP)
    assert chosen(test, "Image (optional)") == "image"
    assert chosen(test, "Audio (optional)") == "song"
    assert chosen(test, "Learn from what the image looks like") is True
    assert any("7 different files" in one.value for one in test.caption)
    next(button for button in test.button if button.label == "Create project").click().run()
    assert not test.exception
    (made,) = managing.list_projects(Seat(home, owner))
    assert (made.name, made.n_rows) == ("birds", 12)
    assert loop.ask_next(Seat(home, owner, made.id), 1).view.image == f"files/{kept(picture(1))}"


def test_without_learning_from_pictures_there_is_nothing_to_learn_from(page: AppTest) -> None:
    test = upload(page, ZIP)
    for place in range(2):  # pictures, recordings
        [box for box in test.checkbox if box.label.startswith("Learn from")][place].uncheck().run()
        assert not test.exception
    (problem,) = listed_problems(test)
    assert "nothing to learn from" in problem
    assert "learn from the images or recordings" in problem


BAD = {
    "no table": (make_zip({"a.png": picture()}), "no CSV file"),
    "a path that leads out": (
        make_zip({"t.csv": b"candidates,image\na|b,x.png\n", "../x.png": b""}),
        "../x.png",
    ),
    "a file that is missing": (
        make_zip({"t.csv": b"candidates,image\na|b,pictures/0.png\nb,none.png\n", **FILES}),
        "no file 'none.png'",
    ),
    "no zip at all": (b"PK\x03\x04 no zip", "cannot be read"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_zip_is_explained_and_leaves_nothing(home: Home, owner: int, page: AppTest, case: str) -> None:
    data, said = BAD[case]
    test = upload(page, data)
    assert said in " ".join(listed_problems(test))
    assert not [button for button in test.button if button.label == "Create project"]
    assert managing.list_projects(Seat(home, owner)) == []
    assert not list(home.tables_dir.iterdir())
    assert not home.media_dir.exists()
