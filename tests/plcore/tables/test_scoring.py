"""Another model's scores as candidate weights of an existing table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from plcore.tables import LabelTable, Roles, TableError, is_score, why_no_score, with_rows, with_scores
from plcore.tables.growing import LEAST_SHARE

ROLES = Roles(candidates="labels", id="id", numbers=("x",))
COLUMNS = {"emu": [0], "robin": [1], "wren": [2]}


def table(labels: str = "labels") -> LabelTable:
    frame = pd.DataFrame({"id": list("abc"), "labels": ["wren|emu", "emu|robin|wren", "robin"], "x": [1, 2, 3]})
    return LabelTable.from_frame(frame, ROLES)


def test_scores_set_candidate_weights_and_keep_the_candidates() -> None:
    before = table()
    found = with_scores(before, {1: {"emu": 0.2, "wren": 3}}, COLUMNS, "net")
    after = found.grown.table
    assert found[1:] == (1, 0, 0)
    np.testing.assert_array_equal(after.candidates, before.candidates)
    np.testing.assert_array_equal(after.candidate_weights, [[1, 0, 1], [0.2, 3 * LEAST_SHARE, 3], [0, 1, 0]])
    assert after.roles.scored_by == "net"
    assert before.candidate_weights is None
    again = with_scores(after, {0: {"emu": 5, "wren": 1}}, COLUMNS, "other").grown.table
    np.testing.assert_array_equal(again.candidate_weights[1], after.candidate_weights[1])
    np.testing.assert_array_equal(again.candidate_weights[0], [5, 0, 1])


def test_unscored_row_keeps_its_weights_and_outside_scores_are_counted() -> None:
    first = with_scores(table(), {0: {"emu": 2, "wren": 1}}, COLUMNS, "net").grown.table
    found = with_scores(first, {0: {"emu": 0, "robin": 9}, 1: {}, 2: {"emu": 0.5, "robin": 0.1}}, COLUMNS, "net")
    assert found[1:] == (1, 2, 2)
    np.testing.assert_array_equal(found.grown.table.candidate_weights[0], [2, 0, 1])
    np.testing.assert_array_equal(found.grown.table.candidate_weights[2], [0, 0.1, 0])


def test_table_is_unchanged_if_no_row_has_scores() -> None:
    found = with_scores(table(), {0: {}, 1: {"emu": 0.0}}, COLUMNS, "net")
    assert found[1:] == (0, 2, 0)
    assert found.grown.table.candidate_weights is None
    assert found.grown.table.roles == ROLES


@pytest.mark.parametrize(("score", "silent"), [(5e-324, 1), (1e-318, 1), (1e-101, 1), (1e-99, 0), (1e100, 0)])
def test_every_candidate_has_a_positive_weight_at_any_scale(score: float, silent: int) -> None:
    """The remaining probability of a class can be tiny: a share of it would be 0, and no candidate."""
    found = with_scores(table(), {1: {"robin": score}}, COLUMNS, "net")
    weights = found.grown.table.candidate_weights
    assert (found.n_weighed, found.n_silent) == (1 - silent, silent)
    assert (weights is None) == bool(silent)
    if weights is not None:
        np.testing.assert_array_equal(weights > 0, found.grown.table.candidates)
        assert weights[1].argmax() == 1


def test_scores_of_merged_classes_are_added_if_they_are_candidates() -> None:
    columns = {"bird": [0, 1, 2], "later": []}
    found = with_scores(table(), {0: {"bird": 0.6, "later": 0.1}}, columns, "net")
    np.testing.assert_array_equal(found.grown.table.candidate_weights[0], [0.3, 0, 0.3])


def test_scored_table_round_trips_and_accepts_rows(tmp_path: Path) -> None:
    scored = with_scores(table(), {1: {"wren": 0.5}}, COLUMNS, "net").grown.table
    scored.write(tmp_path / "t.parquet")
    read = LabelTable.read(tmp_path / "t.parquet")
    np.testing.assert_array_equal(read.candidate_weights, scored.candidate_weights)
    assert read.roles == scored.roles
    more = pd.DataFrame({"id": ["d"], "labels": ["emu|tit"], "x": ["4"]}).astype("str")
    grown = with_rows(read, more).table
    np.testing.assert_array_equal(grown.candidate_weights[:3, [0, 1, 2]], scored.candidate_weights)
    assert grown.candidate_weights[3].tolist() == [float(name in ("emu", "tit")) for name in grown.classes]


def test_label_vectors_and_too_large_tables_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({"emu": [1, 0], "wren": ["", 1], "x": [1, 2]})
    roles = Roles(label_columns=("emu", "wren"), label_vectors=True, numbers=("x",))
    with pytest.raises(TableError, match=r"label vectors.*Fix:"):
        with_scores(LabelTable.from_frame(frame, roles), {}, {}, "net")
    monkeypatch.setattr("plcore.tables.growing.MAX_WEIGHTS", 8)
    with pytest.raises(TableError, match="9 weights; at most 8"):
        with_scores(table(), {}, {}, "net")


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        (0, True),
        (0.5, True),
        (7, True),
        (-1e-9, False),
        (float("nan"), False),
        (float("inf"), False),
        (True, False),
        ("1", False),
        (None, False),
        (10**400, False),
    ],
)
def test_scores_are_non_negative_numbers(value: object, fits: bool) -> None:
    assert is_score(value) is fits


@pytest.mark.parametrize(("value", "why"), [(1e308, "is more than 1e+100"), (10**400, "is more than 1e+100")])
def test_too_large_number_is_reported(value: float, why: str) -> None:
    assert why_no_score(value)[0] == why
    for other in (-1, float("nan"), None, "1", True):
        assert why_no_score(other)[0] == "is not a number of 0 or more"
