"""A row as a person sees it: nothing of what would give the answer away."""

from __future__ import annotations

import base64
from dataclasses import asdict, replace

import pandas as pd
import pytest

from plcore import LabelTable, Roles, read_cells
from plcore.tables.media.cells import Media
from tests.plcore.tables.media.test_pictures import table_of as several_pictures
from tests.plcore.tables.zips import picture
from tests.workflow.files.test_finding import ZIP
from tests.workflow.kind_worlds import WORLDS, KindWorld
from workflow import importing
from workflow.rows.row import row_view

PIXEL = "data:image/png;base64," + base64.b64encode(picture()).decode()


def test_cells_stand_as_the_file_had_them_and_blanks_are_nothing() -> None:
    cells = pd.DataFrame(
        {
            "id": ["one", "two"],
            "c": ["secret|other", "other"],
            "true": ["secret", "other"],
            "img": [PIXEL, " "],
            "t": ["  a text ", "  "],
            "z": ["1.50", "2"],
            "colour": [" red", "blue"],
            "unused": ["u", "v"],
        },
        dtype="str",
    )
    roles = Roles(
        candidates="c", truth="true", id="id", image="img", text="t", numbers=("z",), categories=("colour",)
    )
    table = LabelTable.from_cells(cells, roles)
    first, second = row_view(table, 0), row_view(table, 1)
    assert (first.row, first.row_id, first.image, first.text) == (0, "one", PIXEL, "a text")
    assert first.features == (("z", "1.50"), ("colour", " red"))
    assert (second.image, second.text, second.audio) == (None, None, None)
    assert "secret" not in str(asdict(first))


def test_the_caption_stands_beside_the_row_and_is_no_feature() -> None:
    cells = pd.DataFrame(
        {"c": ["a|b", "b"], "place": [" North gate ", ""], "day": ["2 Oct", "3 Oct"], "n": ["1", "2"]},
        dtype="str",
    )
    table = LabelTable.from_cells(cells, Roles(candidates="c", numbers=("n",), caption=("place", "day")))
    assert row_view(table, 0).caption == (("place", "North gate"), ("day", "2 Oct"))
    assert row_view(table, 1).caption == (("day", "3 Oct"),)
    assert row_view(table, 0).features == (("n", "1"),)
    assert table.features().fit(table).n_features_ == 1


def test_a_row_shows_all_of_its_images_the_first_one_first() -> None:
    table = several_pictures()
    first, second, third = (row_view(table, row) for row in range(3))
    assert first.images == tuple(f"files/{name}" for name in table.media.images_of(0))
    assert (len(first.images), first.image) == (3, first.images[0])
    assert (second.images, third.images) == ((second.image,), (third.image,))
    assert row_view(LabelTable.read_csv(b"candidates,n\na|b,1\nb,2\n"), 0).images == ()
    several = f"{PIXEL}|{PIXEL}"
    inline = LabelTable.read_csv(f'candidates,img,n\na|b,"{several}",1\nb,,2\n'.encode())
    assert row_view(inline, 0).images == (PIXEL, PIXEL)


def test_a_file_whose_name_holds_a_bar_is_still_shown_once() -> None:
    """Tables stored before a cell could name several."""
    table = several_pictures()
    cells = table.cells.assign(image="a|b.png", second="", third="")
    old = replace(table, _cells=cells, media=Media(images=table.media.images))
    assert row_view(old, 2).images == row_view(table, 2).images


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_neither_truth_nor_labels_are_shown(world: KindWorld) -> None:
    table = world.table()
    roles = table.roles
    hidden = {roles.candidates, roles.truth, *roles.label_columns} - {None}
    assert hidden
    assert not hidden & {name for name, _ in row_view(table, 3).features}


def test_files_of_a_zip_are_shown_by_their_address() -> None:
    upload = importing.read_upload(ZIP)
    table = importing.check(upload, upload.suggest_roles()).table
    assert table is not None
    assert table.media.images is not None
    shown = row_view(table, 0)
    assert shown.image == f"files/{table.media.images[0]}"


def test_where_any_row_may_be_heard_all_say_so() -> None:
    cells = read_cells(b"candidates,n,song\na|b,1,\nb,2,\n")
    for audio in (None, "song"):
        table = LabelTable.from_cells(cells, Roles(candidates="candidates", numbers=("n",), audio=audio))
        assert {row_view(table, row).heard for row in range(2)} == {audio is not None}


@pytest.mark.parametrize(
    ("candidates", "digits"), [(["1|7", "0"], True), (["1|10", "0"], False), (["1|x", "0"], False)]
)
def test_a_row_says_whether_all_classes_are_digits(candidates: list[str], *, digits: bool) -> None:
    cells = pd.DataFrame({"c": candidates, "n": ["1", "2"]}, dtype="str")
    table = LabelTable.from_cells(cells, Roles(candidates="c", numbers=("n",)))
    assert row_view(table, 1).digits is digits, "whatever this row's own are"
