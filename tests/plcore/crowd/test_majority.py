"""What most people say, and where nobody can tell."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from plcore.crowd import majority

SETS = st.one_of(st.integers(0, 3), st.sets(st.integers(0, 3), min_size=1))
CROWDS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5), SETS), min_size=1, max_size=20)


def test_most_votes_win_and_ties_do_not():
    votes = [(0, "a", "x"), (0, "b", "x"), (0, "c", "y"), (1, "a", "x"), (1, "b", "y"), (3, "a", "y")]
    found = majority(votes)
    assert found.tolist() == ["x", None, None, "y"]
    assert found.dtype == object


def test_a_set_is_shared_by_its_members():
    assert majority([(0, "a", {"x", "y"}), (0, "b", {"y", "z"})]).tolist() == ["y"]
    assert majority([(0, "a", {"x", "y", "z"}), (0, "b", {"x"}), (0, "c", "y")]).tolist() == [None]
    thirds = [(0, who, {"x", "y", "z"}) for who in "abc"]
    assert majority([*thirds, (0, "d", "x"), (0, "e", {"y"})]).tolist() == [None]


def test_only_candidates_count():
    votes = [(0, "a", "x"), (0, "b", "x"), (0, "c", "y"), (1, "a", "x"), (2, "a", {"x", "z"}), (2, "b", "y")]
    inside = [{"y", "z"}, {"y"}, {"y", "z", "x"}]
    assert majority(votes, inside).tolist() == ["y", None, "y"]
    assert majority([(0, "a", {"x", "z"}), (0, "b", "y")], [{"y", "z"}]).tolist() == [None], (
        "z has one whole vote"
    )


@given(CROWDS)
def test_it_is_what_counting_gives(votes):
    last = {(row, who): {said} if isinstance(said, int) else said for row, who, said in votes}
    for row, found in enumerate(majority(votes)):
        counts = dict.fromkeys(range(4), 0.0)
        for (other, _), said in last.items():
            for c in said if other == row else ():
                counts[c] += 12 / len(said)
        most = [c for c, count in counts.items() if round(count - max(counts.values()), 6) == 0 and count]
        assert found == (most[0] if len(most) == 1 else None)


@given(CROWDS, st.randoms(use_true_random=False))
def test_names_of_people_and_the_order_of_rows_change_nothing(votes, random):
    names = random.sample(range(6), 6)
    renamed = [(row, names[who], said) for row, who, said in votes]
    np.testing.assert_array_equal(majority(renamed), majority(votes))
