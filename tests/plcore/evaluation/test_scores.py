"""Scores against answers: by hand, by counting one by one, and on what answers leave."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.evaluation import wilson_interval
from plcore.evaluation.metrics import (
    OPEN,
    RIGHT,
    WRONG,
    ScoredCandidates,
    precision_above,
    precision_by_label,
    precision_by_score,
    scored_candidates,
)

SCORES = np.array([[0.9, 0.1, 0], [0.8, 0.3, 0.2], [0.7, 0, 0.6], [0, 0.5, 0.4]])
BEFORE = SCORES > 0


def by_hand(after: list[list[int]], confirmed: list[int]) -> dict[tuple[int, int], int]:
    found = scored_candidates(
        SCORES, BEFORE, np.array(after, dtype=bool), np.array(confirmed, dtype=bool), np.zeros(4, dtype=bool)
    )
    return {
        (int(row), int(label)): int(verdict)
        for row, label, verdict in zip(found.rows, found.labels, found.verdicts, strict=True)
    }


def test_what_answers_leave_is_right_or_open_and_what_they_took_is_wrong() -> None:
    said = by_hand([[1, 0, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]], [1, 0, 0, 0])
    assert said == {
        (0, 0): RIGHT,
        (0, 1): WRONG,
        (1, 0): WRONG,
        (1, 1): OPEN,
        (1, 2): OPEN,
        (2, 0): OPEN,
        (2, 2): OPEN,
        (3, 1): OPEN,  # set aside
        (3, 2): OPEN,
    }


def test_an_answer_beyond_the_candidates_makes_all_of_them_wrong() -> None:
    said = by_hand([[0, 0, 1], [1, 1, 1], [1, 0, 1], [0, 1, 1]], [1, 0, 0, 0])
    assert said[0, 0] == said[0, 1] == WRONG
    assert (0, 2) not in said


def test_of_nothing_looked_at_the_share_is_unknown() -> None:
    found = scored_candidates(SCORES, BEFORE, BEFORE, np.zeros(4, dtype=bool), np.zeros(4, dtype=bool))
    seen = precision_above(found, 0.7)
    assert (seen.scored, seen.looked_at, seen.right) == (3, 0, 0)
    assert np.isnan([seen.share, seen.low, seen.high]).all()


DETECTIONS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from([0.1, 0.5, 0.7, 0.9, 1.0]), st.sampled_from([-1, 0, 1])),
    max_size=30,
)


@given(DETECTIONS, st.sampled_from([0.0, 0.5, 0.7, 1.0]), st.sampled_from([None, 0, 1]))
def test_counts_are_those_of_counting_one_by_one(
    detections: list[tuple[int, float, int]], threshold: float, label: int | None
) -> None:
    labels, scores, verdicts = (np.array([one[k] for one in detections]) for k in range(3))
    places = np.arange(len(detections))
    found = ScoredCandidates(places, labels.astype(int), scores, verdicts.astype(int), places < 0)
    by_label = precision_by_label(found, threshold, 3)
    assert sum(one.scored for one in by_label) == precision_above(found, threshold).scored
    seen = precision_above(found, threshold) if label is None else by_label[label]
    chosen = [one for one in detections if one[1] >= threshold and label in (None, one[0])]
    looked = [one for one in chosen if one[2] >= 0]
    assert (seen.scored, seen.looked_at) == (len(chosen), len(looked))
    assert seen.right == sum(one[2] for one in looked)
    if looked:
        low, high = wilson_interval(seen.right / len(looked), len(looked))
        assert (seen.low, seen.high) == pytest.approx((float(low), float(high)))
        assert seen.low <= seen.share <= seen.high
    parts = precision_by_score(found, np.array([0, 0.5, 0.7, 1.0]), label)
    assert sum(part.scored for part in parts) == len([one for one in detections if label in (None, one[0])])
    assert parts[-1].right == sum(
        one[2] == 1 and one[1] >= 0.7 and label in (None, one[0]) for one in detections
    )
