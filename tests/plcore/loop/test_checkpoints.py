"""A learner that continues from a checkpoint, wherever it was made, == one that has applied every entry, to the bit.

Both continue after it with the same entries: withdrawals of earlier ones among them, skips, answers of several people,
and models that come in late.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore import ActiveLearner, Entry, LearnerSettings
from plcore.loop import Place, class_changes
from plcore.loop.label_vectors import LabelVectorLearner, LabelVectorPool, LabelVectorSettings
from plcore.loop.label_vectors import learner as vector_checkpoint
from plcore.loop.one_label import Trainer
from plcore.loop.one_label import learner as checkpoint
from plcore.query import STRATEGIES
from tests.plcore.loop.fake_table import FakeFeatures, blobs
from tests.plcore.loop.fake_vectors import due, vectors
from tests.plcore.loop.taking_in import stored, take_in

PEOPLE = ("ann", "bob", "eve")
ONE_LABEL = {
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
    "kernel ridge": {"model": "kernelridge", "strategy": "margin"},
    "PL-SVM": {"model": "plsvc", "strategy": "margin"},
}
OTHER_RULES = {"pl", "mw", "mp"}
"""Effect rules like "apl", on the same path."""
LABEL_VECTORS = {
    "label by label": {"question": "cell"},
    "rows": {"question": "instance", "control_share": 0.3},
    "in turn": {"question": "diagnosis", "control_share": 0.4, "criterion": "entropy"},
    "at random": {"criterion": "random"},
    "two answer": {"overlap": 2, "overlap_share": 0.6},
    "rows by several": {"question": "instance", "overlap": 3, "agree": 2, "fold": "majority"},
    "everybody checks": {"overlap": 2, "overlap_share": 0.4, "checks_by_all": True, "control_share": 0.3},
    "for themselves since": {"overlap": 2, "own_since": 12, "fold": "majority"},
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


def assert_equal(one, other, *names):
    """Assert that these attributes, or all of them, are equal arrays or values."""
    for name in names or vars(one):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


class OneLabel:
    kinds = ("is", "is", "is", "among", "not", "none", "unsure", "bad", "skip", "verdict", "withdraw", "withdraw")
    changes = class_changes(
        [
            Entry(4, "class", -1, "ann", ("add", "c9")),
            Entry(12, "class", -1, "ann", ("merge", "c0", "c1")),
            Entry(20, "aside", -1, "ann", ("bob",)),
            Entry(28, "withdraw", -1, "ann", target=12),
        ]
    )
    options = ONE_LABEL

    @classmethod
    def make(cls, name, seed, changes=(), arrays=None, graph=None):
        made, _ = blobs(24, m=3, seed=seed, truth=0.4)
        table = Table(made.X, made.candidates, made.truth, made.classes)
        options = LearnerSettings(n_neighbors=3, **cls.options[name])
        return ActiveLearner(table, options, graph, changes, checkpoint=arrays)

    @staticmethod
    def count(kind, rng):
        """How many labels an entry of this kind names."""
        return {"is": 1, "not": 1, "among": 2, "verdict": int(rng.integers(3))}.get(kind, 0)

    @staticmethod
    def assert_same(one, other):
        assert one.curve == other.curve
        for who in (*PEOPLE, "new"):
            assert list(one.pool.begun(who)) == list(other.pool.begun(who))
        for row in range(len(one.original)):
            assert [one.may_ask(row, who) for who in PEOPLE] == [other.may_ask(row, who) for who in PEOPLE]
        assert dict(one.pool.disputed()) == dict(other.pool.disputed())
        assert_equal(one.pool.counts, other.pool.counts)
        assert_equal(one, other, "label_distributions", "said")
        assert_equal(one.pool, other.pool, "changed_at")
        assert_equal(one.disambiguate(), other.disambiguate())


class LabelVectors:
    kinds = (
        *("yes", "yes", "yes", "no", "no", "no", "bad", "right", "wrong", "verdict"),
        *("unsure", "skip", "withdraw", "withdraw"),
    )
    changes = class_changes([Entry(9, "aside", -1, "ann", ("bob",)), Entry(17, "aside", -1, "ann", ("eve",))])
    options = LABEL_VECTORS

    @classmethod
    def make(cls, name, seed, changes=(), arrays=None, graph=None):
        options = LabelVectorSettings(seed=seed % 5, refresh_every=3, **cls.options[name])
        return LabelVectorLearner(vectors(n=16, L=4, seed=seed)[0], options, changes, arrays)

    @staticmethod
    def count(kind, rng):
        if kind in ("unsure", "skip"):
            return int(rng.integers(2))
        return 0 if kind in ("bad", "verdict") else int(rng.integers(1, 3))

    @staticmethod
    def assert_same(one, other):
        assert due(one) == due(other)
        assert_equal(one.export_cells(), other.export_cells())
        one, other = one.pool, other.pool
        for name in ("answers", "counts", "n_answered", "n_open", "n_begun", "n_disputed", "share_known"):
            assert getattr(one, name) == getattr(other, name), name
        assert_equal(one, other, "cells", "answered", "bad", "open", "unknown", "learnt_yes", "learnt_known")
        for mine, yours in zip(one.control_sample(), other.control_sample(), strict=True):
            np.testing.assert_array_equal(mine, yours)
        for who in (*PEOPLE, "new"):
            allowed = one.allowed((), who, control=True)
            np.testing.assert_array_equal(allowed, other.allowed((), who, control=True))
            assert list(one.begun(allowed)) == list(other.begun(allowed))
        for row in range(len(one.original)):
            for place in (Place(row), *(Place(row, label) for label in one.classes)):
                assert one.places_left(place) == other.places_left(place)
                for who in PEOPLE:
                    assert one.may_ask(place, who) == other.may_ask(place, who)
                    assert one.has_begun(row, who) == other.has_begun(row, who)


def assert_same(kind, one, other):
    assert (one.seq, one.model_version, one.done) == (other.seq, other.model_version, other.done)
    assert one.progress() == other.progress()
    for who in (*PEOPLE, "new"):
        assert one.next_question(who) == other.next_question(who)
        assert one.next_question(who, ahead=3) == other.next_question(who, ahead=3)
        mine, yours = one.pool.standings, other.pool.standings
        assert mine.put_aside(who) == yours.put_aside(who)
        assert (mine.resting(who), mine.count(who)) == (yours.resting(who), yours.count(who))
    for row in range(len(one.original)):
        assert str(one.state(row)) == str(other.state(row))
        assert str(one.pool.views(row)) == str(other.pool.views(row))
    for mine, yours in zip(one.ranking(), other.ranking(), strict=True):
        np.testing.assert_array_equal(mine, yours)
    kind.assert_same(one, other)


def walk(kind, rng, learner, taken, seq):
    """An entry, possible or not; withdrawals withdraw one that was applied."""
    name, who = str(rng.choice(kind.kinds)), str(rng.choice(PEOPLE))
    if name == "withdraw":
        earlier = [one for one in taken if one.target is None]
        target = earlier[int(rng.integers(len(earlier)))] if earlier else Entry(0, kind.kinds[0], 0, who)
        return Entry(seq, name, target.row, who, target=target.seq)
    labels = rng.permutation(learner.classes)[: kind.count(name, rng)].tolist()
    return Entry(seq, name, int(rng.integers(len(learner.original))), who, tuple(labels))


def live(kind, learners, rng, taken, first, last, changes=()):
    """Apply entries from one seq to another to all these learners; accepted entries are added to taken."""
    for seq in range(first, last + 1):
        if seq in {change.seq for change in changes}:
            assert all(learner.pool.takes_change(seq) for learner in learners)
        else:
            take_in(learners, walk(kind, rng, learners[0], taken, seq), taken)


def fit(learner):
    """Have the fit of label vectors that is due, if one is."""
    if (job := learner.job()) is not None:
        learner.adopt(job.run())


def go_on(kind, name, seed, at, more, changes=(), *, fitted=False):
    """Three learners after the same entries: one was never interrupted, one continued from a checkpoint made at this
    seq, and one was made of what both have come to. fitted : the first has lived with models meanwhile"""
    rng, taken = np.random.default_rng(seed), []
    whole = kind.make(name, seed, changes)
    for seq in range(1, at + 1):
        live(kind, [whole], rng, taken, seq, seq, changes)
        if fitted and seq % 5 == 0:
            fit(whole)
    graph = getattr(whole, "graph", None)
    again = kind.make(name, seed, changes, stored(whole.checkpoint()), graph)
    live(kind, [whole, again], rng, taken, at + 1, at + more, changes)
    return whole, again, kind.make(name, seed, changes, stored(again.checkpoint()), graph)


def assert_all_same(kind, learners):
    for one in learners[1:]:
        assert_same(kind, one, learners[0])


def given_walk(at, more, divided_by):
    """Examples of a walk: its seed, the seq of the checkpoint, and entries after it."""

    def decorate(test):
        walked = given(seed=st.integers(0, 10**6), at=st.integers(0, at), more=st.integers(0, more))
        return walked(settings(max_examples=settings().max_examples // divided_by)(test))

    return decorate


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        pytest.param(kind, name, marks=[pytest.mark.proof] if name in OTHER_RULES else [])
        for kind in (OneLabel, LabelVectors)
        for name in kind.options
    ],
)
@given_walk(60, 25, 6)
def test_continuing_from_a_checkpoint_equals_replaying_everything(kind, name, seed, at, more):
    assert_all_same(kind, go_on(kind, name, seed, at, more))


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *((OneLabel, name) for name in ("one after the other", "two answer", "whom to believe")),
        *((LabelVectors, name) for name in ("label by label", "two answer", "rows by several")),
    ],
)
@given_walk(40, 20, 6)
def test_continuing_equals_replaying_with_class_changes_and_exclusions(kind, name, seed, at, more):
    changes = kind.changes[: 1 + seed % len(kind.changes)]
    assert_all_same(kind, go_on(kind, name, seed, at, more, changes))


@pytest.mark.parametrize("name", ["kernel ridge", "PL-SVM"])
@pytest.mark.parametrize("seed", range(3))
def test_continuing_equals_replaying_with_published_versions(name, seed):
    learners = whole, _, twice = go_on(OneLabel, name, seed, 30, 10)
    assert [len(one.curve) for one in learners] == [1, 1, 1]
    for _ in range(2):
        assert_all_same(OneLabel, learners)
        version = Trainer(whole.pool).train()
        for learner in learners:
            learner.publish(version.scores, [version.point])
        live(OneLabel, learners, np.random.default_rng(seed), [], whole.seq + 1, whole.seq + 5)
    late = OneLabel.make(name, seed, (), stored(twice.checkpoint()))
    assert late.curve == ActiveLearner(whole.table, whole.settings, whole.graph).curve  # versions come again
    assert late.model_version == 0


@pytest.mark.parametrize("name", ["label by label", "rows", pytest.param("everybody checks", marks=pytest.mark.proof)])
@given_walk(40, 10, 16)
def test_models_after_a_checkpoint_match_those_of_the_live_learner(name, seed, at, more):
    """A fit that becomes due after the checkpoint uses the state of that moment; later answers are learnt after it."""
    learners = whole, again, twice = go_on(LabelVectors, name, seed, at, more, fitted=True)
    for learner in learners:
        fit(learner)
    assert again.curve[-1] == twice.curve[-1] == whole.curve[-1]
    assert_all_same(LabelVectors, learners)
    live(LabelVectors, learners, np.random.default_rng(seed), [], whole.seq + 1, whole.seq + 5)
    for learner in learners:
        fit(learner)
    assert_all_same(LabelVectors, learners)


@pytest.mark.parametrize("kind", [OneLabel, LabelVectors])
def test_checkpoint_does_not_change_with_the_learner(kind):
    learner, rng, taken = kind.make("two answer", 0), np.random.default_rng(0), []
    live(kind, [learner], rng, taken, 1, 10)
    arrays = learner.checkpoint()
    before = stored(arrays)
    live(kind, [learner, kind.make("two answer", 0, (), arrays)], rng, taken, 11, 30)
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


def test_model_older_than_the_last_fit_is_refused():
    table, truth = vectors(n=16, L=4)
    options = LabelVectorSettings(refresh_every=2, question="cell")
    learner = LabelVectorLearner(table, options)
    early = learner.job().run()
    for seq in range(1, 6):
        question = learner.next_question("ann")
        column = learner.classes.index(question.label)
        kind = "yes" if truth[question.row, column] else "no"
        learner.apply(Entry(seq, kind, question.row, "ann", (question.label,)))
    again = LabelVectorLearner(table, options, checkpoint=stored(learner.checkpoint()))
    assert due(again) == 4
    with pytest.raises(ValueError, match=r"entry 0, .* from 4"):
        again.adopt(early)
    assert again.adopt(again.job().run())
    assert again.model_version == 5


def test_checkpoint_holds_the_answered_rows_and_the_due_fit():
    table, _ = vectors(n=16, L=4, full=0.0)
    options = LabelVectorSettings(refresh_every=2, test_share=0.0)
    learner = LabelVectorLearner(table, options)
    for seq, (row, label) in enumerate([(7, "l0"), (3, "l1"), (7, "l2"), (3, "l1")], start=1):
        kind = "yes" if table.label_vectors[row, int(label[1])] != 1 else "no"
        learner.apply(Entry(seq, kind, row, "ann", (label,)))
    arrays = learner.checkpoint()
    assert arrays["pool.rows"].tolist() == [3, 7]
    pool = LabelVectorPool(table, options)
    due, since = vector_checkpoint.put_back(pool, learner.job().X, arrays)
    assert (due.seq, [one.seq for one in since]) == (2, [3])
    np.testing.assert_array_equal(due.cells, learner.job().cells)
    np.testing.assert_array_equal(due.open, learner.job().open)
    assert (due.cells != pool.learnt_cells()).sum() == 1, "of entry 3"


def test_blind_check_answered_after_a_due_fit_is_not_in_its_figures():
    table, truth = vectors(n=20, L=4, full=0.0)
    learner = LabelVectorLearner(table, LabelVectorSettings(refresh_every=2, test_share=0.0, control_share=0.3))
    seq = 0

    def answer(row, column):
        nonlocal seq
        seq += 1
        kind = "yes" if truth[row, column] else "no"
        learner.apply(Entry(seq, kind, row, "ann", (learner.classes[column],)))

    for row, column in np.argwhere(learner.pool.open & ~learner.pool.control_cells)[:2]:
        answer(row, column)
    for _ in range(4):
        (check,) = learner.pool.controls_left(learner.pool.allowed((), control=True))
        answer(check.row, learner.classes.index(check.label))
    assert (due(learner), len(learner.pool.control_sample().rows)) == (2, 4)
    again = LabelVectorLearner(table, learner.settings, checkpoint=stored(learner.checkpoint()))
    point = again.job().run().point
    assert point == learner.job().run().point
    assert point.control.cells == 0
