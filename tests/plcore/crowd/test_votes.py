"""Votes are accepted in several forms and stored in one; invalid votes are named."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from plcore.crowd import DawidSkene, krippendorff_alpha, majority, read_votes, votes_by_label
from plcore.labels import CandidateError

VOTES = [(2, "ben", "wren"), (0, "ann", {"emu", "wren"}), (0, "ben", ["emu"])]


def test_sequence_and_table_give_the_same_votes():
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


def test_last_vote_counts():
    read = read_votes([(0, "a", "x"), (1, "a", "x"), (0, "b", "x"), (0, "a", "y")])
    assert read.rows.tolist() == [1, 0, 0]
    assert read.masks[:, 1].tolist() == [False, False, True]


def test_numpy_numbers_and_strings_are_accepted():
    read = read_votes([(np.int64(1), np.int64(3), np.int64(7)), (0, 10, np.array([2, 7])), (0, 3, (2,))])
    assert read.annotators == (3, 10)
    assert read.classes.tolist() == [2, 7]
    assert read.classes.dtype.kind == "i"
    assert read_votes([(0, "a", True), (1, "a", False)]).classes.tolist() == [False, True]


def test_text_and_number_ids_are_different_people():
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


def test_classes_can_be_given():
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
        ([(0, "a", "x"), (0, None, "x")], "Vote 1: an annotator is named by text or a whole number. Got None"),
        ([(0, float("nan"), "x")], "Vote 0: an annotator"),
        ([(0, "a", None)], "Vote 0: labels are the name of a class"),
        ([(0, "a", float("nan"))], "Vote 0: labels are the name of a class"),
        ([(0, "a", {"x", None})], "Vote 0: labels are the name of a class"),
        ([(0, "a", 1.5)], "Got 1.5"),
        ([(0, "a", set())], "Vote 0: it names no class"),
        ([(0, "a", "3"), (1, "a", "4"), (1, "b", 3)], "Vote 2: the classes must all be text.*others are str"),
    ],
)  # fmt: skip
def test_invalid_votes_are_named(votes, words):
    with pytest.raises(ValueError, match=words):
        read_votes(votes)


def test_votes_that_do_not_fit_the_candidates_are_named():
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


# Majority vote, and ties.


SETS = st.one_of(st.integers(0, 3), st.sets(st.integers(0, 3), min_size=1))
CROWDS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5), SETS), min_size=1, max_size=20)


def test_majority_wins_and_ties_have_no_winner():
    votes = [(0, "a", "x"), (0, "b", "x"), (0, "c", "y"), (1, "a", "x"), (1, "b", "y"), (3, "a", "y")]
    found = majority(votes)
    assert found.tolist() == ["x", None, None, "y"]
    assert found.dtype == object


def test_set_vote_is_split_between_its_members():
    assert majority([(0, "a", {"x", "y"}), (0, "b", {"y", "z"})]).tolist() == ["y"]
    assert majority([(0, "a", {"x", "y", "z"}), (0, "b", {"x"}), (0, "c", "y")]).tolist() == [None]
    thirds = [(0, who, {"x", "y", "z"}) for who in "abc"]
    assert majority([*thirds, (0, "d", "x"), (0, "e", {"y"})]).tolist() == [None]


def test_only_votes_for_candidates_count():
    votes = [(0, "a", "x"), (0, "b", "x"), (0, "c", "y"), (1, "a", "x"), (2, "a", {"x", "z"}), (2, "b", "y")]
    inside = [{"y", "z"}, {"y"}, {"y", "z", "x"}]
    assert majority(votes, inside).tolist() == ["y", None, "y"]
    assert majority([(0, "a", {"x", "z"}), (0, "b", "y")], [{"y", "z"}]).tolist() == [None], "z has one whole vote"


@given(CROWDS)
def test_majority_matches_plain_counting(votes):
    last = {(row, who): {said} if isinstance(said, int) else said for row, who, said in votes}
    for row, found in enumerate(majority(votes)):
        counts = dict.fromkeys(range(4), 0.0)
        for (other, _), said in last.items():
            for c in said if other == row else ():
                counts[c] += 12 / len(said)
        most = [c for c, count in counts.items() if round(count - max(counts.values()), 6) == 0 and count]
        assert found == (most[0] if len(most) == 1 else None)


@given(CROWDS, st.randoms(use_true_random=False))
def test_names_and_row_order_do_not_change_the_majority(votes, random):
    names = random.sample(range(6), 6)
    renamed = [(row, names[who], said) for row, who, said in votes]
    np.testing.assert_array_equal(majority(renamed), majority(votes))


# Cells of label vectors are votes of yes and no.


CELLS = [
    (0, "a", "sun", 1),
    (0, "b", "sun", False),
    (0, "a", "sea", -1),
    (1, "a", "sea", np.int64(0)),
    (1, "b", "sun", None),
]


def test_label_vectors_become_one_yes_or_no_vote_per_label():
    expected = {"sun": [(0, "a", "yes"), (0, "b", "no")], "sea": [(1, "a", "no")]}
    assert votes_by_label(CELLS) == expected
    assert votes_by_label(iter(CELLS)) == expected
    table = pd.DataFrame(CELLS[:4], columns=["row", "annotator", "label", "value"])
    assert votes_by_label(table) == expected
    assert list(votes_by_label([(0, "a", "sea", float("nan"))])) == ["sea"]
    assert votes_by_label([]) == {}


def test_votes_by_label_can_be_passed_to_dawid_skene():
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
def test_invalid_votes_on_label_vectors_are_named(cells, words):
    with pytest.raises(ValueError, match=words):
        votes_by_label(cells)
