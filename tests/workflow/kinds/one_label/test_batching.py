"""Which rows with candidates are confirmed together, as a learner says; how they are stored is tried with people."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from plcore import ActiveLearner, Entry, LabelTable, LearnerSettings
from plcore.loop.one_label import Trainer
from plcore.query import FEWEST
from tests.workflow.world import small_table
from workflow.kinds.one_label.answering import BATCHING

assert BATCHING is not None


@pytest.fixture
def learner() -> ActiveLearner[LabelTable]:
    return ActiveLearner(
        small_table(200), LearnerSettings(n_neighbors=6, control_share=0.1, test_share=0.3, model="plknn")
    )


def test_rows_are_sure_and_wait_and_those_barred_are_not_among_them(
    learner: ActiveLearner[LabelTable],
) -> None:
    found = BATCHING.find_sure(learner, "ada", ())
    assert not isinstance(found, str), found
    label, rows = found
    column, pool = learner.classes.index(label), learner.pool
    assert len(rows) >= FEWEST
    assert not (pool.test_rows | pool.control_rows)[rows].any()
    assert all(BATCHING.may_stand(learner, "ada", row, label) for row in rows)
    shares = [share for share, _ in BATCHING.shares(learner, rows, label)]
    expected = [learner.question_for(row).probabilities for row in rows]
    assert shares == [
        said[learner.question_for(row).choices.index(label)] for row, said in zip(rows, expected, strict=True)
    ]
    again = BATCHING.find_sure(learner, "ada", rows)
    assert isinstance(again, str) or not set(again[1]) & set(rows)
    assert pool.candidates[rows][:, column].all()


def test_no_more_than_a_third_of_the_sure_rows_that_no_batch_holds_are_checks() -> None:
    """Batches are found and confirmed until there are none: what is left open must not show the checks."""
    checks = others = 0
    for seed in range(4):
        learner = ActiveLearner(
            small_table(300),
            LearnerSettings(n_neighbors=6, control_share=0.1, test_share=0.2, model="plknn", seed=seed),
        )
        pool, highest = learner.pool, 1.0
        while not isinstance(found := BATCHING.find_sure(learner, "ada", ()), str):
            assert found == BATCHING.find_sure(learner, "bob", ())
            label, rows = found
            least = min(share for share, _ in BATCHING.shares(learner, rows, label))
            highest = least if highest == 1.0 else max(highest, least)
            for row in rows:
                learner.apply(Entry(learner.seq + 1, "is", row, "ada", (label,)))
        left = np.array([row for row in np.flatnonzero(~pool.test_rows) if pool.is_open(int(row))])
        sure = left[learner.shares_asked(left, pool.candidates[left]).max(axis=1) >= highest]
        checks += int(pool.control_rows[sure].sum())
        others += int((~pool.control_rows[sure]).sum())
    assert checks > 30
    assert checks / (checks + others) < 0.4


def test_without_blind_checks_every_sure_row_can_be_in_a_batch() -> None:
    learner = ActiveLearner(small_table(200), LearnerSettings(n_neighbors=6, test_share=0.3, model="plknn"))
    found = BATCHING.find_sure(learner, "ada", ())
    assert not isinstance(found, str), found
    label, rows = found
    waiting = [int(row) for row in learner.pool.train if BATCHING.may_stand(learner, "ada", int(row), label)]
    least = min(share for share, _ in BATCHING.shares(learner, rows, label))
    told = BATCHING.shares(learner, waiting, label)
    assert rows
    assert set(rows) >= {row for row, (one, _) in zip(waiting, told, strict=True) if one > least}


def test_a_row_that_is_answered_or_of_which_somebody_is_unsure_does_not_stand(
    learner: ActiveLearner[LabelTable],
) -> None:
    found = BATCHING.find_sure(learner, "ada", ())
    assert not isinstance(found, str)
    label, (first, second, *_) = found
    learner.apply(Entry(1, "is", first, "ada", (label,)))
    learner.apply(Entry(2, "unsure", second, "ada"))
    assert not BATCHING.may_stand(learner, "ada", first, label)
    assert not BATCHING.may_stand(learner, "ada", second, label)
    assert BATCHING.may_stand(learner, "bob", second, label), "who has not said so can be asked"


def test_labels_are_those_that_can_be_confirmed_and_how_often(learner: ActiveLearner[LabelTable]) -> None:
    pool = learner.pool
    open_rows = [int(row) for row in pool.train if pool.is_open(int(row))][:5]
    counts = pool.candidates[open_rows].sum(axis=0)
    labels = BATCHING.labels_of(learner, "ada", open_rows)
    assert labels == {pool.classes[k]: int(counts[k]) for k in np.flatnonzero(counts)}
    assert BATCHING.labels_of(learner, "ada", np.flatnonzero(pool.test_rows).tolist()) == {}


def test_the_guard_counts_what_is_at_least_as_sure(learner: ActiveLearner[LabelTable]) -> None:
    right, known = BATCHING.checked(learner, 0.0)
    assert 0 < right <= known <= int(learner.test_rows.sum())
    assert BATCHING.checked(learner, 1.1) == (0, 0)
    assert BATCHING.name_now(learner, learner.classes[0]) == learner.classes[0]


@pytest.mark.parametrize("weighed", [False, True])
def test_where_known_rows_tell_of_no_other_row_none_are_confirmed_together(weighed: bool) -> None:
    table = small_table(200)
    if weighed:
        rng = np.random.default_rng(0)
        table = replace(
            table, candidate_weights=np.where(table.candidates, rng.random(table.candidates.shape), 0)
        )
    learner = ActiveLearner(table, LearnerSettings(control_share=0.1, test_share=0.3, model="kernelridge"))
    version = Trainer(learner.pool).train()
    learner.publish(version.scores, [version.point])
    found = BATCHING.find_sure(learner, "ada", ())
    said = isinstance(found, str) and "rests on the weights of their candidates" in found
    assert said == weighed
    assert (BATCHING.checked(learner, 0.0) == (0, 0)) == weighed
