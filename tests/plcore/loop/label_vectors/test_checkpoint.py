"""A learner of label vectors that continues from a checkpoint == one that has applied every entry, to the last bit.

Both continue after it with the same entries, fits that come in late among them, and give the same models.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore import Entry
from plcore.loop import Place, class_changes
from plcore.loop.label_vectors import LabelVectorLearner, LabelVectorPool, LabelVectorSettings
from plcore.loop.label_vectors import learner as checkpoint
from tests.plcore.loop.fake_vectors import due, vectors
from tests.plcore.loop.taking_in import stored, take_in

PEOPLE = ("ann", "bob", "eve")
ANSWERS = ("yes", "yes", "yes", "no", "no", "no", "bad", "right", "wrong", "verdict")
KINDS = (*ANSWERS, "unsure", "skip", "withdraw", "withdraw")
CHANGES = class_changes([Entry(9, "aside", -1, "ann", ("bob",)), Entry(17, "aside", -1, "ann", ("eve",))])
OPTIONS = {
    "label by label": {"question": "cell"},
    "rows": {"question": "instance", "control_share": 0.3},
    "in turn": {"question": "diagnosis", "control_share": 0.4, "criterion": "entropy"},
    "at random": {"criterion": "random"},
    "two answer": {"overlap": 2, "overlap_share": 0.6},
    "rows by several": {"question": "instance", "overlap": 3, "agree": 2, "fold": "majority"},
    "everybody checks": {"overlap": 2, "overlap_share": 0.4, "checks_by_all": True, "control_share": 0.3},
    "for themselves since": {"overlap": 2, "own_since": 12, "fold": "majority"},
}


def walk(rng, learner, taken, seq):
    """An entry, possible or not; withdrawals withdraw one that was applied."""
    kind, who = str(rng.choice(KINDS)), str(rng.choice(PEOPLE))
    if kind == "withdraw":
        earlier = [one for one in taken if one.target is None]
        target = earlier[int(rng.integers(len(earlier)))] if earlier else Entry(0, "yes", 0, who)
        return Entry(seq, kind, target.row, who, target=target.seq)
    count = 0 if kind in ("bad", "verdict") else int(rng.integers(1, 3))
    if kind in ("unsure", "skip"):
        count = int(rng.integers(2))
    row = int(rng.integers(len(learner.original)))
    return Entry(seq, kind, row, who, tuple(rng.permutation(learner.classes)[:count].tolist()))


def live(learners, rng, taken, first, last):
    """Apply entries from one seq to another to all these learners; accepted entries are added to taken."""
    for seq in range(first, last + 1):
        if seq <= learners[0].pool.changed_until and seq in {change.seq for change in CHANGES}:
            assert all(learner.pool.takes_change(seq) for learner in learners)
            continue
        take_in(learners, walk(rng, learners[0], taken, seq), taken)


def fit(learner):
    """Have the fit that is due, if one is."""
    if (job := learner.job()) is not None:
        learner.adopt(job.run())


def assert_same_pool(one, other):
    for name in ("seq", "answers", "counts", "n_answered", "n_open", "share_known"):
        assert getattr(one, name) == getattr(other, name), name
    for name in ("cells", "answered", "bad", "open", "unknown", "learnt_yes", "learnt_known"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    for mine, yours in zip(one.control_sample(), other.control_sample(), strict=True):
        np.testing.assert_array_equal(mine, yours)
    for who in (*PEOPLE, "new"):
        assert one.standings.put_aside(who) == other.standings.put_aside(who)
        assert one.standings.resting(who) == other.standings.resting(who)
        assert one.standings.count(who) == other.standings.count(who)
        allowed = one.allowed((), who, control=True)
        np.testing.assert_array_equal(allowed, other.allowed((), who, control=True))
        assert list(one.begun(allowed)) == list(other.begun(allowed))
    for row in range(len(one.original)):
        assert str(one.state(row)) == str(other.state(row))
        assert str(one.views(row)) == str(other.views(row))
        for place in (Place(row), *(Place(row, label) for label in one.classes)):
            assert one.places_left(place) == other.places_left(place)
            for who in PEOPLE:
                assert one.may_ask(place, who) == other.may_ask(place, who)
                assert one.has_begun(row, who) == other.has_begun(row, who)


def assert_same(one, other):
    assert_same_pool(one.pool, other.pool)
    assert (one.model_version, one.done, due(one)) == (other.model_version, other.done, due(other))
    assert one.progress() == other.progress()
    for who in (*PEOPLE, "new"):
        assert one.next_question(who) == other.next_question(who)
        assert one.next_question(who, ahead=3) == other.next_question(who, ahead=3)
    for mine, yours in zip(one.ranking(), other.ranking(), strict=True):
        np.testing.assert_array_equal(mine, yours)
    mine, yours = one.export_cells(), other.export_cells()
    for name in vars(mine):
        np.testing.assert_array_equal(getattr(mine, name), getattr(yours, name), name)


def go_on(name, seed, at, more, changes=(), *, fitted=False):
    """Two learners after the same entries: one of them went on from a checkpoint made at this seq; and another made of
    what both have come to. fitted : the first has lived with models meanwhile"""
    options = LabelVectorSettings(seed=seed % 5, refresh_every=3, **OPTIONS[name])
    table, _ = vectors(n=16, L=4, seed=seed)
    rng, taken = np.random.default_rng(seed), []
    whole = LabelVectorLearner(table, options, changes)
    for last in range(5, at + 1, 5) if fitted else ():
        live([whole], rng, taken, last - 4, last)
        fit(whole)
    live([whole], rng, taken, whole.seq + 1 if not fitted else at - at % 5 + 1, at)
    again = LabelVectorLearner(table, options, changes, stored(whole.checkpoint()))
    live([whole, again], rng, taken, at + 1, at + more)
    return whole, again, LabelVectorLearner(table, options, changes, stored(again.checkpoint()))


@pytest.mark.parametrize("name", OPTIONS)
@given(seed=st.integers(0, 10**6), at=st.integers(0, 60), more=st.integers(0, 20))
@settings(max_examples=settings().max_examples // 6)
def test_continuing_from_a_checkpoint_equals_replaying_everything(name, seed, at, more):
    whole, again, twice = go_on(name, seed, at, more)
    assert_same(again, whole)
    assert_same(twice, whole)


@pytest.mark.parametrize("name", ["label by label", "two answer", "rows by several"])
@given(seed=st.integers(0, 10**6), at=st.integers(0, 40), more=st.integers(0, 15), n=st.integers(1, 2))
@settings(max_examples=settings().max_examples // 6)
def test_continuing_equals_replaying_with_excluded_answers(name, seed, at, more, n):
    whole, again, twice = go_on(name, seed, at, more, CHANGES[:n])
    assert_same(again, whole)
    assert_same(twice, whole)


@pytest.mark.parametrize("name", ["label by label", "rows", "everybody checks"])
@given(seed=st.integers(0, 10**6), at=st.integers(0, 40), more=st.integers(0, 10))
@settings(max_examples=3)
def test_models_after_a_checkpoint_match_those_of_the_live_learner(name, seed, at, more):
    """A fit that becomes due after the checkpoint uses the state of that moment; later answers are learnt after it."""
    whole, again, twice = go_on(name, seed, at, more, fitted=True)
    for learner in (whole, again, twice):
        fit(learner)
    assert again.curve[-1] == twice.curve[-1] == whole.curve[-1]
    assert_same(again, whole)
    assert_same(twice, whole)
    live([whole, again, twice], np.random.default_rng(seed), [], whole.seq + 1, whole.seq + 5)
    for learner in (whole, again, twice):
        fit(learner)
    assert_same(again, whole)
    assert_same(twice, whole)


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


def test_checkpoint_does_not_change_with_the_learner():
    table, _ = vectors(n=16, L=4)
    learner = LabelVectorLearner(table, LabelVectorSettings(overlap=2, refresh_every=3))
    rng, taken = np.random.default_rng(0), []
    live([learner], rng, taken, 1, 10)
    arrays = learner.checkpoint()
    before = stored(arrays)
    again = LabelVectorLearner(table, learner.settings, checkpoint=arrays)
    live([learner, again], rng, taken, 11, 30)
    assert arrays.keys() == before.keys()
    for name, one in arrays.items():
        np.testing.assert_array_equal(one, before[name])


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
    due, since = checkpoint.put_back(pool, learner.job().X, arrays)
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
