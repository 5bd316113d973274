"""Replay == live, and a learner after any entries == a learner that saw only the entries still valid."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore import ActiveLearner, Entry, LearnerSettings
from plcore.loop.one_label.asked import RowsToAsk
from plcore.loop.one_label.fold import Narrowing
from plcore.loop.one_label.pool import HeldScore, RowCounts, RowStanding
from plcore.query import STRATEGIES
from tests.plcore.loop.fake_table import FakeTable, blobs
from tests.plcore.loop.taking_in import take_in

KINDS = ["is", "is", "among", "not", "none", "unsure", "bad", "skip", "withdraw"]


def random_entry(rng, learner, seq):
    """Any entry, possible or not."""
    kind = str(rng.choice(KINDS))
    annotator = str(rng.choice(["ann", "bob"]))
    if kind == "withdraw":
        target = int(rng.integers(max(seq, 1))) or 1
        standing = [entry for row in range(len(learner.original)) for entry in learner.state(row).entries]
        row = next((entry.row for entry in standing if entry.seq == target), 0)
        return Entry(seq, kind, row, annotator, target=target)
    row = int(rng.integers(len(learner.original)))
    choices = learner.classes
    count = {"is": 1, "not": 1, "among": int(rng.integers(1, len(choices) + 1))}.get(kind, 0)
    labels = tuple(rng.permutation(choices)[:count].tolist())
    return Entry(seq, kind, row, annotator, labels)


def lived(table, options, seed, length):
    """A learner that lived through random entries, with the log of those it did not refuse."""
    rng = np.random.default_rng(seed)
    learner, log = ActiveLearner(table, options), []
    for seq in range(1, length + 1):
        take_in([learner], random_entry(rng, learner, seq), log)
    return learner, log


def plain_fold(first, classes, log):
    """The candidates after a log as sets of names, by docs/decisions/0002 and not by plcore.loop.one_label.fold."""
    withdrawn = {entry.target for entry in log}
    result = []
    for row, mask in enumerate(first):
        left, out = {name for name, can in zip(classes, mask, strict=True) if can}, False
        for entry in log:
            if entry.row != row or entry.seq in withdrawn:
                continue
            if entry.kind in ("is", "among"):
                left, out = set(entry.labels), False
            elif entry.kind == "none" and left != set(classes):
                left, out = set(classes) - left, False
            elif entry.kind == "not" and left != set(entry.labels):
                left = left - set(entry.labels)
            elif entry.kind == "bad":
                out = True
        result.append(set() if out else left)
    return result


def assert_same_state(one, other):
    np.testing.assert_array_equal(one.candidates, other.candidates)
    np.testing.assert_array_equal(one.label_distributions, other.label_distributions)
    assert one.next_question("ann") == other.next_question("ann")
    assert one.next_question("bob") == other.next_question("bob")
    for left, right in zip(vars(one.disambiguate()).values(), vars(other.disambiguate()).values(), strict=True):
        np.testing.assert_array_equal(left, right)


@settings(max_examples=settings().max_examples * 2 // 5)
@given(
    st.integers(0, 10**6),
    st.sampled_from([*STRATEGIES, "cover"]),
    st.sampled_from(["hidden", "given"]),
    st.integers(1, 7),
)
def test_replay_equals_live(seed, strategy, role, k):
    options = LearnerSettings(n_neighbors=k, strategy=strategy, truth_role=role)
    table, _ = blobs(24, m=3, seed=seed, truth=0.6)
    learner, log = lived(table, options, seed, 40)
    again = ActiveLearner(table, options)
    for entry in log:
        again.apply(entry)
    assert_same_state(learner, again)
    assert again.curve == learner.curve
    assert again.progress() == learner.progress()
    assert again.seq == learner.seq
    for row in range(24):
        assert again.state(row) == learner.state(row)


@settings(max_examples=settings().max_examples * 2 // 5)
@given(st.integers(0, 10**6), st.integers(3, 5))
def test_candidates_are_the_fold_of_the_log(seed, m):
    table, _ = blobs(8, m=m, seed=seed, truth="none")
    learner, log = lived(table, LearnerSettings(n_neighbors=2), seed, 50)
    expected = plain_fold(table.candidates, table.classes, log)
    assert [set(learner.state(row).candidates) for row in range(8)] == expected


@given(st.integers(0, 10**6), st.integers(1, 7))
def test_learner_equals_one_started_on_the_resulting_candidates(seed, k):
    """Law 4: model and scores depend only on the current candidates, not on how they came about."""
    options = LearnerSettings(n_neighbors=k)
    table, _ = blobs(24, m=3, seed=seed, truth="none")
    learner, _ = lived(table, options, seed, 40)
    bad = ~learner.candidates.any(axis=1)  # a table cannot have rows without candidates: mark these as bad again
    said = np.where(bad[:, None], table.candidates, learner.candidates)
    fresh = ActiveLearner(FakeTable(table.X, said), options)
    for seq, row in enumerate(np.flatnonzero(bad).tolist(), start=1):
        fresh.apply(Entry(seq, "bad", row, "ann"))
    np.testing.assert_array_equal(fresh.candidates, learner.candidates)
    np.testing.assert_array_equal(fresh.label_distributions, learner.label_distributions)
    question, expected = learner.next_question("nobody"), fresh.next_question("nobody")
    assert (question is None) == (expected is None)
    if question and expected:
        assert (question.row, question.score, question.choices) == (expected.row, expected.score, expected.choices)
        assert question.probabilities == expected.probabilities
        assert question.decides == expected.decides


@settings(max_examples=settings().max_examples * 2 // 5)
@given(st.integers(0, 10**6))
def test_withdrawing_everything_restores_the_start(seed):
    table, _ = blobs(24, m=3, seed=seed, truth=0.6)
    options = LearnerSettings(n_neighbors=4)
    learner, _ = lived(table, options, seed, 30)
    start = ActiveLearner(table, options)
    standing = [entry for row in range(24) for entry in learner.state(row).entries]
    order = np.random.default_rng(seed).permutation(len(standing))
    for seq, number in enumerate(order.tolist(), start=100):
        entry = standing[number]
        learner.apply(Entry(seq, "withdraw", entry.row, "ann", target=entry.seq))
    np.testing.assert_array_equal(learner.candidates, start.candidates)
    np.testing.assert_array_equal(learner.label_distributions, start.label_distributions)
    one, other = learner.progress(), start.progress()
    assert (one.answers, one.answered, one.bad, one.settled, one.accuracy) == (
        other.answers, other.answered, other.bad, other.settled, other.accuracy,
    )  # fmt: skip
    question, first = learner.next_question("ann"), start.next_question("ann")
    assert (question and question.row) == (first and first.row)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_accuracy_after_questions_is_higher_than_at_the_start(strategy):
    table, y = blobs(150, m=5, seed=3, q=0.6)
    learner = ActiveLearner(table, LearnerSettings(n_neighbors=5, strategy=strategy))
    start = learner.progress()
    for seq in range(1, 41):
        question = learner.next_question("ann")
        learner.apply(Entry(seq, "is", question.row, "ann", (learner.classes[y[question.row]],)))
    end = learner.progress()
    assert end.accuracy > start.accuracy
    assert end.settled > start.settled
    assert end.candidates_left < start.candidates_left


# Counts updated per changed row equal a recount of all rows, after any entries.


OPTIONS = {
    "one after the other": {},
    "no controls": {"control_share": 0.0},
    "two answer": {"overlap": 2, "overlap_share": 0.5},
    "until two agree": {"overlap": 3, "overlap_share": 1.0, "agree": 2},
    "everybody checks": {"overlap": 2, "overlap_share": 0.3, "checks_by_all": True},
}


def recounted(pool):
    """(answered, done, open, waiting) over all rows, and which training rows are fresh."""
    waiting, is_open, fresh = pool.asked.waiting(), pool.asked.open(), pool.asked.fresh()
    counts = (
        int(pool.answered.sum()),
        int((pool.answered & ~is_open).sum()),
        int((is_open & ~pool.test_rows).sum()),
        int(waiting[pool.train].sum()),
    )
    return counts, fresh[pool.train]


def kept(pool):
    counts = pool.counts
    return (counts.answered, counts.done, counts.open, counts.waiting)


@pytest.mark.parametrize("name", OPTIONS)
@given(seed=st.integers(0, 10**6), truth=st.sampled_from(["none", 0.5]))
@settings(max_examples=12)
def test_counts_match_a_recount_after_any_entries(name, seed, truth):
    table, _ = blobs(20, m=3, seed=seed, truth=truth)
    learner = ActiveLearner(table, LearnerSettings(n_neighbors=2, **OPTIONS[name]))
    rng, taken = np.random.default_rng(seed), []
    for seq in range(1, 51):
        if not take_in([learner], random_entry(rng, learner, seq), taken):
            continue
        counts, fresh = recounted(learner.pool)
        assert kept(learner.pool) == counts
        np.testing.assert_array_equal(learner.pool.counts.fresh, fresh)
    assert len(taken) > 5  # otherwise the walk tests nothing


def test_test_row_counts_as_answered_and_never_as_open():
    counts = RowCounts(RowsToAsk(np.array([2, 2])), np.array([1]), np.array([True, False]), np.zeros(2, dtype=bool))
    assert (counts.open, counts.waiting) == (1, 1)
    counts.note(None, True, RowStanding(False, True, True, True), RowStanding(True, False, False, False))
    assert (counts.answered, counts.done, counts.open, counts.waiting) == (1, 1, 1, 1)
    assert counts.fresh.tolist() == [True]


# Counts kept by changed rows equal a recount of the held-out rows.


@given(st.data())
def test_held_out_score_matches_a_recount_after_any_changes(data):
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
def test_held_out_score_of_a_learner_matches_a_recount(model, seed, truth):
    table, _ = blobs(20, m=3, seed=seed, truth=truth)
    learner = ActiveLearner(table, LearnerSettings(n_neighbors=2, model=model, control_share=0.3))
    rng, taken = np.random.default_rng(seed), []
    for seq in range(1, 41):
        if not take_in([learner], random_entry(rng, learner, seq), taken):
            continue
        anew = learner.pool.held_score(learner.said)
        point = learner.progress()
        assert (point.accuracy, learner._model.score.control) == (anew.accuracy, anew.control)
    assert len(taken) > 5


# Incremental state equals a recount.


@pytest.mark.parametrize("seed", range(5))
def test_narrowing_matches_a_recount(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first = rng.integers(1, 5, size=30)
    held = rng.random(30) < 0.3
    found, sizes = Narrowing(first, held), first.copy()
    for _ in range(200):
        row, after = int(rng.integers(30)), int(rng.integers(5))
        found.note(row, int(sizes[row]), after)
        sizes[row] = after
        train = sizes[~held]
        assert found.left == np.maximum(train - 1, 0).sum()
        assert found.settled == (train[first[~held] >= 2] < 2).mean()


def test_all_is_settled_if_nothing_was_ambiguous() -> None:
    assert Narrowing(np.ones(3, dtype=int), np.zeros(3, dtype=bool)).settled == 1.0
    assert Narrowing(np.full(3, 2), np.ones(3, dtype=bool)).settled == 1.0
