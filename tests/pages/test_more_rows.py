"""The tab More rows of the project's settings: the effect of a file is shown before it is added, once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import state
from tests.pages.conftest import Open, by_label, press, words
from tests.pages.file_boxes import give
from tests.workflow import vector_world
from tests.workflow.importing.test_more_rows import later
from tests.workflow.world import small_project
from workflow import importing
from workflow.importing import LabelTable, Roles, more_rows
from workflow.projects import classes, managing
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def project(home: Home, owner: int) -> int:
    return small_project(home, owner)


def given(test: AppTest, csv: bytes) -> AppTest:
    return give(test, "A table with more rows", "more.csv", csv)


def test_new_rows_are_previewed_and_added_by_one_click(home: Home, owner: int, project: int, show: Open) -> None:
    frame = later(start=58, n=5).drop(columns="truth").assign(truth="", weather="rain")
    frame.loc[4, "candidates"] = "ant|dog"
    test = given(show(owner, "project_page.py", project=str(project)), frame.to_csv(index=False).encode())
    said = words(test)
    assert "3 new rows" in said
    assert "2 rows of the file are already in the project, and stay unchanged: r58, r59." in said
    assert "1 label new in the project: dog." in said
    assert "Columns that the project does not have are left out: weather." in said
    assert managing.get_project(Seat(home, owner, project)).n_rows == 60
    test = press(test, "Add 3 rows")
    found = managing.get_project(Seat(home, owner, project))
    assert (found.n_rows, found.n_classes) == (63, 4)
    assert not [button for button in test.button if button.label.startswith("Add 3")]


def test_oddities_in_new_rows_are_reported(owner: int, project: int, show: Open) -> None:
    frame = later(n=3).assign(candidates=["Ant|bee", "bee|cat", "ant|cat"], truth="")
    test = given(show(owner, "project_page.py", project=str(project)), frame.to_csv(index=False).encode())
    assert "equal but for capitals, accents, spaces or a question mark" in words(test)
    frame = later(n=3)
    test = given(show(owner, "project_page.py", project=str(project)), frame.to_csv(index=False).encode())
    assert "Is this right?" not in words(test)


def test_file_is_reread_only_if_project_changed(
    home: Home, owner: int, project: int, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def count(what: Callable[..., object]) -> Callable[..., object]:
        def counted(*given: object, **more: object) -> object:
            read.append(what.__name__)
            return what(*given, **more)

        return counted

    monkeypatch.setattr(importing, "read_upload", count(importing.read_upload))
    monkeypatch.setattr(more_rows, "read_rows", count(more_rows.read_rows))
    csv = later(n=5).to_csv(index=False).encode()
    test = given(show(owner, "project_page.py", project=str(project)), csv)
    for _ in range(3):
        test.run()
    assert read == ["read_upload", "read_rows"]
    seat = Seat(home, owner, project)
    classes.change_classes(seat, 0, "add", ["dog"])
    test.run()
    assert read == ["read_upload", "read_rows", "read_rows"]
    press(test, "Add 5 rows")
    assert managing.get_project(seat).n_rows == 65
    assert read == ["read_upload", "read_rows", "read_rows"]
    assert not any(f"{state.MORE_ROWS}-{name}" in test.session_state for name in ("upload", "addition"))


def test_votes_can_be_added_row_by_row(home: Home, owner: int, show: Open) -> None:
    def votes(start: int) -> bytes:
        rows = [(f"t{start + k // 2}", f"w{k % 2}", ["ant", "bee"][k % 3 % 2], k) for k in range(20)]
        lines = [f"{task},{worker},{label},{n}\n" for task, worker, label, n in rows]
        return b"task,worker,label,n\n" + "".join(lines).encode()

    roles = Roles(candidates="label", numbers=("n",))
    table = LabelTable.from_cells(importing.read_upload(votes(0), as_it_is=True).cells, roles)
    project = managing.create_project(Seat(home, owner), "votes", table)
    test = given(show(owner, "project_page.py", project=str(project)), votes(50))
    assert "which the project uses" in words(test)
    by_label(test.toggle, "Each row of the file is one item").set_value(True).run()
    assert not test.exception
    press(test, "Add 20 rows")
    assert managing.get_project(Seat(home, owner, project)).n_rows == 40


def test_bad_file_is_refused_with_its_place(owner: int, project: int, show: Open) -> None:
    frame = later(n=2).astype(str)
    frame.loc[1, "x"] = "wide"
    test = given(show(owner, "project_page.py", project=str(project)), frame.to_csv(index=False).encode())
    assert "wide" in words(test)
    assert not [button for button in test.button if "rows" in button.label]


def test_new_columns_of_labels_are_asked_about(home: Home, owner: int, show: Open) -> None:
    csv = b"id,n,ant,bee\n" + b"".join(b"%d,%d,1,%d\n" % (row, row, row % 2) for row in range(20))
    roles = Roles(label_columns=("ant", "bee"), id="id", numbers=("n",))
    project = managing.create_project(Seat(home, owner), "columns", LabelTable.read_csv(csv, roles))
    test = show(owner, "project_page.py", project=str(project))
    given(test, b"id,n,ant,bee,cat\n20,1,0,1,1\n21,2,1,1,0\n")
    assert "left out: cat" in words(test)
    box = by_label(test.multiselect, "New columns that hold labels")
    box.set_value(["cat"]).run()
    assert "1 label new in the project: cat." in words(test)
    assert "left out" not in words(test)
    press(test, "Add 2 rows")
    assert managing.get_project(Seat(home, owner, project)).n_classes == 3


def test_rows_are_added_to_label_vectors(home: Home, owner: int, show: Open) -> None:
    project = vector_world.vector_project(home, owner)
    frame = vector_world.vector_frame(3, seed=5)
    frame["id"] = ["s0", "s1", "s2"]
    test = given(show(owner, "project_page.py", project=str(project)), frame.to_csv(index=False).encode())
    press(test, "Add 3 rows")
    assert managing.get_project(Seat(home, owner, project)).n_rows == 43
