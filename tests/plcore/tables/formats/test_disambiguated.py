"""What writers ask of a table: its rows one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings

from plcore.tables.formats.disambiguated import VOTES, Disambiguated
from tests.plcore.tables.formats.tables import disambiguated, frame


@given(disambiguated())
@settings(max_examples=60, deadline=None)
def test_candidates_of_a_row(table: Disambiguated) -> None:
    for row, (before, after) in enumerate(zip(table.weighted(), table.weighted(after=True), strict=True)):
        assert list(before) == [
            name for name, bit in zip(table.classes, table.candidates_before[row], strict=True) if bit
        ]
        assert set(after) == {
            name for name, bit in zip(table.classes, table.candidates_after[row], strict=True) if bit
        }
        assert after.items() <= before.items()
        if table.weights is None:
            assert set(before.values()) == {None}
        else:
            assert sum(before.values()) == np.float64(table.weights[row].sum()) or len(before) > 1


@given(disambiguated())
@settings(max_examples=30, deadline=None)
def test_answers_by_row_keep_their_order(table: Disambiguated) -> None:
    found = table.answers_by_row()
    assert sorted(found) == sorted({answer["row"] for answer in table.answers})
    for row, answers in found.items():
        assert answers == [answer for answer in table.answers if answer["row"] == row]
        assert {answer["kind"] for answer in answers} <= set(VOTES)


def test_labels_and_probabilities() -> None:
    ones = np.ones((2, 2), dtype=bool)
    table = Disambiguated(
        np.array(["p", "q"], dtype=object), frame({"text": "x", "n": 1}, {"text": "y", "n": 2}), ("a", "b"), ones, ones,
        None, np.array([1, -1]), np.array(["m", ""], dtype=object), np.array([0.5, np.nan]),
    )  # fmt: skip
    assert [table.label_name(row) for row in (0, 1)] == ["b", None]
    assert [table.known_probability(row) for row in (0, 1)] == [0.5, None]
    assert table.records() == [{"text": "x", "n": "1"}, {"text": "y", "n": "2"}]
    assert table.answers_by_row() == {}
    assert replace(table, weights=ones * 0.5).weighted()[0] == {"a": 0.5, "b": 0.5}
