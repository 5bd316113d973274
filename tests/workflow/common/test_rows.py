"""A row as a person sees it: nothing of what would give the answer away."""

from __future__ import annotations

import base64
from dataclasses import asdict

import pandas as pd
import pytest

from plcore import LabelTable, Roles
from tests.plcore.tables.zips import picture
from tests.workflow.kind_worlds import WORLDS, KindWorld
from tests.workflow.test_media import ZIP
from workflow import importing
from workflow.common.files import PATH
from workflow.common.rows import row_view

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
    assert shown.image == f"{PATH}/{table.media.images[0]}"
