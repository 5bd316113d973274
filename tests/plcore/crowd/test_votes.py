"""Votes come in by several forms and are one inside; what is no good is named."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from plcore.crowd import read_votes
from plcore.labels import CandidateError

VOTES = [(2, "ben", "wren"), (0, "ann", {"emu", "wren"}), (0, "ben", ["emu"])]


def test_a_sequence_and_a_table_are_the_same():
    table = pd.DataFrame(VOTES, columns=["row", "annotator", "labels"])
    for votes in (VOTES, iter(VOTES), table, table.set_index([[5, 5, 7]]), [list(vote) for vote in VOTES]):
        read = read_votes(votes)
        assert read.rows.tolist() == [2, 0, 0]
        assert read.annotators == ("ann", "ben")
        assert read.who.tolist() == [1, 0, 1]
        assert read.classes.tolist() == ["emu", "wren"]
        assert read.masks.tolist() == [[False, True], [True, True], [True, False]]
        assert read.candidates.tolist() == [[True, True]] * 3
        assert read.shared.tolist() == [0]


def test_the_last_vote_counts():
    read = read_votes([(0, "a", "x"), (1, "a", "x"), (0, "b", "x"), (0, "a", "y")])
    assert read.rows.tolist() == [1, 0, 0]
    assert read.masks[:, 1].tolist() == [False, False, True]


def test_numbers_and_names_of_numpy():
    read = read_votes([(np.int64(1), np.int64(3), np.int64(7)), (0, 10, np.array([2, 7])), (0, 3, (2,))])
    assert read.annotators == (3, 10)
    assert read.classes.tolist() == [2, 7]
    assert read.classes.dtype.kind == "i"
    assert read_votes([(0, "a", True), (1, "a", False)]).classes.tolist() == [False, True]


def test_people_named_by_text_and_by_number_are_different():
    assert read_votes([(0, 1, "x"), (0, "1", "y")]).annotators == (1, "1")


def test_candidates_give_rows_and_classes():
    frame = pd.DataFrame([[1, 1, 0]] * 5, columns=["wren", "emu", "kea"])
    read = read_votes(VOTES, frame)
    assert read.classes.tolist() == ["wren", "emu", "kea"]
    assert read.masks[0].tolist() == [True, False, False]
    assert read.candidates.shape == (5, 3)
    sets = read_votes(VOTES, [{"emu"}, {"wren", "kea"}, {"wren"}])
    assert sets.classes.tolist() == ["emu", "kea", "wren"]
    wider = read_votes(VOTES, [{"kea"}, {"wren", "kea"}, {"wren"}])
    assert wider.classes.tolist() == ["emu", "kea", "wren"]
    assert wider.candidates.tolist() == [[False, True, False], [False, True, True], [False, False, True]]
    with pytest.raises(ValueError, match="Vote 0: there is no class 3; there are 'wren'"):
        read_votes([(0, "a", 3)], [{"wren"}])
    for unnamed in (np.ones((3, 2), dtype=bool), sparse.csr_array(np.ones((3, 2), dtype=bool))):
        assert read_votes(VOTES, unnamed).classes.tolist() == ["emu", "wren"]
    assert read_votes([(0, "a", 2)], np.ones((1, 4), dtype=bool)).classes.tolist() == [0, 1, 2, 3]
    assert read_votes([], np.ones((1, 4), dtype=bool)).masks.shape == (0, 4)


def test_classes_may_be_said():
    assert read_votes([(0, "a", "x")], classes=["z", "x"]).masks.tolist() == [[False, True]]


@pytest.mark.parametrize(
    ("votes", "words"),
    [
        (5, "votes must be a DataFrame or a sequence"),
        ("abc", "votes must be a DataFrame or a sequence"),
        ([], "There are no votes, so no classes"),
        ([(0, "a", "x"), (0, "a")], r"vote 1 is \(0, 'a'\)"),
        (["abc"], "vote 0 is 'abc'"),
        ([("r1", "a", "x")], r"Vote 0: a row is named by its number.*pandas.factorize"),
        ([(-1, "a", "x")], "Vote 0: a row is named by its number"),
        ([(True, "a", "x")], "Vote 0: a row is named by its number"),
        (
            [(0, "a", "x"), (0, None, "x")],
            "Vote 1: an annotator is named by text or a whole number. Got None",
        ),
        ([(0, float("nan"), "x")], "Vote 0: an annotator"),
        ([(0, "a", None)], "Vote 0: labels are the name of a class"),
        ([(0, "a", float("nan"))], "Vote 0: labels are the name of a class"),
        ([(0, "a", {"x", None})], "Vote 0: labels are the name of a class"),
        ([(0, "a", 1.5)], "Got 1.5"),
        ([(0, "a", set())], "Vote 0: it names no class"),
        ([(0, "a", "3"), (1, "a", "4"), (1, "b", 3)], "Vote 2: the classes must all be text.*others are str"),
    ],
)
def test_what_is_no_good_is_named(votes, words):
    with pytest.raises(ValueError, match=words):
        read_votes(votes)


def test_what_does_not_go_with_the_candidates_is_named():
    frame = pd.DataFrame(np.ones((2, 2), dtype=bool), columns=["emu", "kea"])
    with pytest.raises(ValueError, match="Vote 1: there is no class 'wren'; there are 'emu', 'kea'"):
        read_votes([(0, "a", "emu"), (0, "b", "wren")], frame)
    with pytest.raises(ValueError, match="Vote 0: there is no row 2; the candidates have 2 rows"):
        read_votes([(2, "a", "emu")], frame)
    with pytest.raises(ValueError, match="3 columns without names, and there are 1 classes"):
        read_votes([(0, "a", "emu")], np.ones((2, 3), dtype=bool))
    with pytest.raises(CandidateError, match="row 1"):
        read_votes([(0, "a", "emu")], pd.DataFrame([[1, 1], [0, 0]], columns=["emu", "kea"]))
    with pytest.raises(ValueError, match="'labels' is missing"):
        read_votes(pd.DataFrame({"row": [0], "annotator": ["a"], "label": ["x"]}))
