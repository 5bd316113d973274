"""What a model is right about of the held-out rows, kept by the rows that change, is what a new count gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore import ActiveLearner, AnswerError, LearnerSettings
from plcore.loop.one_label.pool import HeldScore
from tests.plcore.loop.fake_table import blobs
from tests.plcore.loop.one_label.test_replay import random_entry


@given(st.data())
def test_any_changes_come_to_a_new_count(data):
    n, m = data.draw(st.integers(1, 8)), 3
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    test, ambiguous = rng.random((2, n)) < 0.5
    known, said = rng.integers(-1, m, size=(2, n))
    score = HeldScore(test, ambiguous, known.copy(), said.copy() if rng.random() < 0.8 else None)
    if score.said is None:
        assert score.accuracy is None
        score.say_all(said.copy())
    for _ in range(data.draw(st.integers(0, 12))):
        place, candidates = int(rng.integers(n)), rng.random(m) < 0.4
        if rng.random() < 0.5:
            known[place] = candidates.argmax() if candidates.sum() == 1 else -1
            score.learn(place, candidates)
        else:
            places = np.flatnonzero(rng.random(n) < 0.5)
            said[places] = rng.integers(-1, m, len(places))
            score.say(places, said[places])
        anew = HeldScore(test, ambiguous, known, said)
        assert (score.control, score.accuracy) == (anew.control, anew.accuracy)
    right = (known == said) & (known >= 0)
    control, asked, free = score.control, ~test & ambiguous & (known >= 0), ~test & ~ambiguous & (known >= 0)
    assert (control.asked, control.right_asked) == (asked.sum(), (asked & right).sum())
    assert (control.free, control.right_free) == (free.sum(), (free & right).sum())
    assert score.accuracy == (None if not test.any() else (right & test).sum() / test.sum())


@pytest.mark.parametrize("model", ["plknn", "perceptron-average"])
@given(seed=st.integers(0, 10**6), truth=st.sampled_from(["none", 0.5]))
@settings(max_examples=15)
def test_after_any_entries_it_is_what_the_pool_says_anew(model, seed, truth):
    table, _ = blobs(20, m=3, seed=seed, truth=truth)
    learner = ActiveLearner(table, LearnerSettings(n_neighbors=2, model=model, control_share=0.3))
    rng, checked = np.random.default_rng(seed), 0
    for seq in range(1, 41):
        entry = random_entry(rng, learner, seq)
        try:
            learner.apply(entry)
        except AnswerError:
            continue
        anew = learner.pool.held_score(learner.said)
        point = learner.progress()
        assert (point.accuracy, learner._model.score.control) == (anew.accuracy, anew.control)
        checked += 1
    assert checked > 5
