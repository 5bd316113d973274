"""A learner that continues from a checkpoint == one that has applied every entry, to the last bit, wherever it was
made.

Both continue after it with the same entries: withdrawals of earlier ones among them, skips, and answers of several
people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore import ActiveLearner, Entry, LearnerSettings
from plcore.loop import class_changes
from plcore.loop.one_label import Trainer
from plcore.loop.one_label import learner as checkpoint
from plcore.query import STRATEGIES
from tests.plcore.loop.fake_table import FakeFeatures, blobs
from tests.plcore.loop.taking_in import stored, take_in

PEOPLE = ["ann", "bob", "eve"]
KINDS = ["is", "is", "is", "among", "not", "none", "unsure", "bad", "skip", "verdict", "withdraw", "withdraw"]
CHANGES = class_changes(
    [
        Entry(4, "class", -1, "ann", ("add", "c9")),
        Entry(12, "class", -1, "ann", ("merge", "c0", "c1")),
        Entry(20, "aside", -1, "ann", ("bob",)),
        Entry(28, "withdraw", -1, "ann", target=12),
    ]
)
OPTIONS = {
    "one after the other": {},
    "no controls": {"control_share": 0.0},
    "given": {"truth_role": "given"},
    "many controls": {"control_share": 0.5},
    "two answer": {"overlap": 2, "overlap_share": 0.5},
    "until two agree": {"overlap": 3, "overlap_share": 1.0, "agree": 2, "fold": "majority"},
    "everybody checks": {"overlap": 2, "overlap_share": 0.3, "checks_by_all": True, "fold": "intersection"},
    "whom to believe": {"overlap": 3, "overlap_share": 1.0, "fold": "dawid-skene"},
    "for themselves since": {"overlap": 2, "overlap_share": 1.0, "own_since": 15},
    "online": {"model": "perceptron-max"},
    "online by margin": {"model": "pegasos-average", "strategy": "margin", "control_share": 0.3},
    "cover": {"strategy": "cover"},
    **{name: {"strategy": name} for name in STRATEGIES},
}


@dataclass(frozen=True)
class Table:
    """A `FakeTable` whose classes can change."""

    X: Any
    candidates: Any
    truth: Any
    classes: tuple[str, ...]
    candidate_weights: Any = None

    def features(self):
        return FakeFeatures()


def walk(rng, rows, classes, taken, seq):
    """An entry, possible or not; withdrawals withdraw one that was applied."""
    kind, who = str(rng.choice(KINDS)), str(rng.choice(PEOPLE))
    if kind == "withdraw":
        earlier = [one for one in taken if one.target is None]
        target = earlier[int(rng.integers(len(earlier)))] if earlier else Entry(0, "is", 0, who)
        return Entry(seq, kind, target.row, who, target=target.seq)
    count = {"is": 1, "not": 1, "among": 2, "verdict": int(rng.integers(3))}.get(kind, 0)
    return Entry(seq, kind, int(rng.integers(rows)), who, tuple(rng.permutation(classes)[:count].tolist()))


def live(learners, rng, taken, first, last):
    """Apply entries from one seq to another to all these learners; accepted entries are added to taken."""
    for seq in range(first, last + 1):
        if seq in {change.seq for change in learners[0].pool.class_map.changes}:
            assert all(learner.pool.takes_change(seq) for learner in learners)
            continue
        take_in(learners, walk(rng, len(learners[0].original), learners[0].classes, taken, seq), taken)


def assert_same(one, other):
    assert one.seq == other.seq
    assert one.curve == other.curve
    assert (one.model_version, one.done) == (other.model_version, other.done)
    assert one.progress() == other.progress()
    for who in (*PEOPLE, "new"):
        assert one.next_question(who) == other.next_question(who)
        assert one.next_question(who, ahead=3) == other.next_question(who, ahead=3)
        assert one.pool.standings.put_aside(who) == other.pool.standings.put_aside(who)
        assert one.pool.standings.resting(who) == other.pool.standings.resting(who)
        assert one.pool.standings.count(who) == other.pool.standings.count(who)
        assert list(one.pool.begun(who)) == list(other.pool.begun(who))
    for row in range(len(one.original)):
        assert str(one.state(row)) == str(other.state(row))
        assert str(one.pool.views(row)) == str(other.pool.views(row))
        assert [one.may_ask(row, who) for who in PEOPLE] == [other.may_ask(row, who) for who in PEOPLE]
    assert dict(one.pool.disputed()) == dict(other.pool.disputed())
    assert vars(one.pool.counts).keys() == vars(other.pool.counts).keys()
    for mine, yours in zip(vars(one.pool.counts).values(), vars(other.pool.counts).values(), strict=True):
        np.testing.assert_array_equal(mine, yours)
    for mine, yours in zip(one.ranking(), other.ranking(), strict=True):
        np.testing.assert_array_equal(mine, yours)
    np.testing.assert_array_equal(one.pool.changed_at, other.pool.changed_at)
    np.testing.assert_array_equal(one.label_distributions, other.label_distributions)
    np.testing.assert_array_equal(one.said, other.said)
    for mine, yours in zip(vars(one.disambiguate()).values(), vars(other.disambiguate()).values(), strict=True):
        np.testing.assert_array_equal(mine, yours)


def go_on(options, seed, at, more, changes=()):
    """Two learners after the same entries, and how many they took in: one of them went on from a checkpoint made at
    this seq, and another is made of what both have come to."""
    made, _ = blobs(24, m=3, seed=seed, truth=0.4)
    table = Table(made.X, made.candidates, made.truth, made.classes)
    rng, taken = np.random.default_rng(seed), []
    whole = ActiveLearner(table, options, changes=changes)
    live([whole], rng, taken, 1, at)
    again = ActiveLearner(table, options, whole.graph, changes, checkpoint=stored(whole.checkpoint()))
    live([whole, again], rng, taken, at + 1, at + more)
    twice = ActiveLearner(table, options, whole.graph, changes, checkpoint=stored(again.checkpoint()))
    return whole, again, twice


@pytest.mark.parametrize("name", OPTIONS)
@given(seed=st.integers(0, 10**6), at=st.integers(0, 60), more=st.integers(0, 25))
@settings(max_examples=settings().max_examples // 5)
def test_continuing_from_a_checkpoint_equals_replaying_everything(name, seed, at, more):
    whole, again, twice = go_on(LearnerSettings(n_neighbors=3, **OPTIONS[name]), seed, at, more)
    assert_same(again, whole)
    assert_same(twice, whole)


@pytest.mark.parametrize("name", ["one after the other", "two answer", "whom to believe"])
@given(seed=st.integers(0, 10**6), at=st.integers(0, 40), more=st.integers(0, 20), n=st.integers(1, 4))
@settings(max_examples=settings().max_examples // 4)
def test_continuing_equals_replaying_with_class_changes_and_exclusions(name, seed, at, more, n):
    whole, again, twice = go_on(LearnerSettings(n_neighbors=3, **OPTIONS[name]), seed, at, more, CHANGES[:n])
    assert_same(again, whole)
    assert_same(twice, whole)


@pytest.mark.parametrize("model", ["kernelridge", "plsvc"])
@pytest.mark.parametrize("seed", range(3))
def test_continuing_equals_replaying_with_published_versions(model, seed):
    options = LearnerSettings(model=model, strategy="margin", n_neighbors=3)
    whole, again, twice = go_on(options, seed, 30, 10)
    assert [len(one.curve) for one in (whole, again, twice)] == [1, 1, 1]
    for _ in range(2):
        assert_same(again, whole)
        assert_same(twice, whole)
        version = Trainer(whole.pool).train()
        for learner in (whole, again, twice):
            learner.publish(version.scores, [version.point])
        live([whole, again, twice], np.random.default_rng(seed), [], whole.seq + 1, whole.seq + 5)
    late = ActiveLearner(whole.table, options, whole.graph, checkpoint=stored(twice.checkpoint()))
    assert late.curve == ActiveLearner(whole.table, options, whole.graph).curve  # versions come again
    assert late.model_version == 0


def test_checkpoint_does_not_change_with_the_learner():
    table, y = blobs(24, m=3, truth="none")
    learner = ActiveLearner(table, LearnerSettings(n_neighbors=3))
    learner.apply(Entry(1, "is", 3, "ann", (table.classes[y[3]],)))
    arrays = learner.checkpoint()
    before = stored(arrays)
    for seq in range(2, 12):
        learner.apply(Entry(seq, "is", seq, "ann", (table.classes[y[seq]],)))
    assert arrays.keys() == before.keys()
    for name, one in arrays.items():
        np.testing.assert_array_equal(one, before[name])


def test_checkpoint_holds_only_rows_with_entries():
    table, y = blobs(24, m=3, truth="none")
    learner = ActiveLearner(table, LearnerSettings(n_neighbors=3, control_share=0.0))
    assert checkpoint.take(learner.pool, {})["pool.rows"].tolist() == []
    for seq, row in enumerate((7, 3, 7), start=1):
        learner.apply(Entry(seq, "is", row, "ann", (table.classes[y[row]],)))
    assert checkpoint.take(learner.pool, {})["pool.rows"].tolist() == [3, 7]
