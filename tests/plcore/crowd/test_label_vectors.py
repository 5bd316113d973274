"""Cells of label vectors are votes of yes and no."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from plcore.crowd import DawidSkene, krippendorff_alpha, votes_by_label

CELLS = [
    (0, "a", "sun", 1),
    (0, "b", "sun", False),
    (0, "a", "sea", -1),
    (1, "a", "sea", np.int64(0)),
    (1, "b", "sun", None),
]


def test_every_label_is_a_question_of_its_own():
    expected = {"sun": [(0, "a", "yes"), (0, "b", "no")], "sea": [(1, "a", "no")]}
    assert votes_by_label(CELLS) == expected
    assert votes_by_label(iter(CELLS)) == expected
    table = pd.DataFrame(CELLS[:4], columns=["row", "annotator", "label", "value"])
    assert votes_by_label(table) == expected
    assert list(votes_by_label([(0, "a", "sea", float("nan"))])) == ["sea"]
    assert votes_by_label([]) == {}


def test_the_votes_go_where_votes_go():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=(60, 2))
    cells = [
        (row, who, label, int(truth[row, label] if rng.random() < 0.9 else rng.integers(2)))
        for row in range(60)
        for who in range(3)
        for label in range(2)
    ]
    for label, votes in votes_by_label(cells).items():
        model = DawidSkene().fit(votes)
        assert model.classes_.tolist() == ["no", "yes"]
        assert (model.label_distributions_.argmax(axis=1) == truth[:, label]).mean() > 0.9
        assert 0.5 < krippendorff_alpha(votes) < 1


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (3, "must be a DataFrame or a sequence"),
        ("abcd", "must be a DataFrame or a sequence"),
        ([(0, "a", 1)], "cell 0 is"),
        ([(0, "a", "x", 1), (0, "a", "x", 2)], "Cell 1: value must be 1"),
        ([(0, "a", "x", "yes")], "Got 'yes'"),
        (pd.DataFrame({"row": [0]}), "'annotator' is missing"),
    ],
)
def test_what_is_no_good_is_named(cells, words):
    with pytest.raises(ValueError, match=words):
        votes_by_label(cells)
