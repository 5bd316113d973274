"""Values that programs are told: no NaN among them, and files by their addresses."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from workflow.log.reading import curve_points, figure, number, told_row
from workflow.rows.row import RowView


@pytest.mark.parametrize(
    ("value", "told"), [(None, None), (math.nan, None), (math.inf, None), (0, 0.0), (np.float32(0.5), 0.5)]
)
def test_a_number_that_is_not_known_is_none(value: float | None, told: float | None) -> None:
    assert number(value) == told
    assert json.dumps(number(value), allow_nan=False)


def test_a_row_is_what_people_see_of_it() -> None:
    view = RowView(
        row=3,
        row_id="r3",
        image="files/a.png",
        text=None,
        features=(("x", "1,5"), ("y", "")),
        audio="files/b.wav",
        segment=(None, 2.5),
        images=("files/a.png", "data:image/png;base64,AA"),
        caption=(("where", "pond"),),
    )
    assert told_row(view) == {
        "row": 3,
        "row_id": "r3",
        "text": None,
        "features": {"x": "1,5", "y": ""},
        "caption": {"where": "pond"},
        "images": ["/files/a.png", "data:image/png;base64,AA"],
        "audio": "/files/b.wav",
        "segment": [None, 2.5],
    }


def test_the_figure_is_the_last_point() -> None:
    nan = np.nan
    points = curve_points(
        np.array([0, 2]), *(np.array(part) for part in ([nan, 0.5], [nan, 0.25], [nan, 0.75]))
    )
    assert points[0] == {"answers": 0, "value": None, "low": None, "high": None}
    assert figure("accuracy", "test rows", points) == {
        "name": "accuracy",
        "by": "test rows",
        "value": 0.5,
        "low": 0.25,
        "high": 0.75,
    }
    assert figure("accuracy", "test rows", points[:1]) is None
    assert figure("accuracy", "test rows", []) is None
