"""Results of blind checks in addition to accuracy: scores for shortlists, the rate of truths outside, rows at risk."""

from __future__ import annotations

import numpy as np
import pytest

from plcore import ActiveLearner, Entry, LearnerSettings
from plcore.evaluation import MarginThresholds, conformal_sets, outside_probabilities
from plcore.kernels import margins
from plcore.loop.one_label import Trainer
from plcore.loop.one_label.checks import FEWEST_CHECKS, check_scores, known_checks, rate_outside, weighs_own
from tests.plcore.loop.fake_table import blobs

SETTINGS = LearnerSettings(n_neighbors=5, control_share=0.3)


def made(settings=SETTINGS, n=200):
    table, y = blobs(n, truth="none")
    return ActiveLearner(table, settings), y


def answer(learner, row, kind="is", labels=(), annotator="ann"):
    learner.apply(Entry(learner.seq + 1, kind, int(row), annotator, tuple(labels)))


def answer_checks(learner, y, number, outside=0):
    """Answer this many blind checks with the truth, some of them with "none of these"."""
    for place, row in enumerate(learner.pool.control_left()[:number]):
        if place < outside:
            answer(learner, row, "none")
        else:
            answer(learner, row, "is", [learner.classes[y[row]]])


def test_checks_count_as_soon_as_their_truth_is_known():
    learner, y = made()
    first, second, third, fourth, fifth = sorted(learner.pool.control_left()[:5].tolist())
    answer(learner, first, "is", [learner.classes[y[first]]])
    answer(learner, second, "none")
    answer(learner, third, "bad")
    answer(learner, fourth, "unsure")
    answer(learner, fifth, "among", learner.pool.names(learner.candidates_of(fifth))[:2])
    checks = known_checks(learner.pool)
    assert dict(zip(checks.rows.tolist(), checks.truth.tolist(), strict=True)) == {first: y[first], second: -1}
    assert rate_outside(learner.pool)[:2] == (1, 2)
    # Naming a class outside the candidates means the same: none of the candidates.
    other = learner.pool.names(learner.candidates_of(second))[0]
    answer(learner, second, "is", [other])
    assert rate_outside(learner.pool)[:2] == (1, 2)


def test_withdrawn_answer_does_not_count():
    learner, y = made()
    answer_checks(learner, y, 3)
    seq = learner.seq
    row = learner.pool.fold.entry(seq).row
    learner.apply(Entry(seq + 1, "withdraw", row, "ann", (), seq))
    assert len(check_scores(learner.pool, learner.shares_of)[0]) == 2


def test_rows_chosen_by_the_strategy_are_not_checks():
    learner, _ = made()
    row = next(row for row in learner.pool.train if learner.pool.sizes[row] >= 2)
    answer(learner, row, "none")
    assert len(known_checks(learner.pool).rows) == 0
    assert rate_outside(learner.pool)[:2] == (0, 0)


def test_scores_are_those_shown_with_each_check():
    """The score of a check is 1 less the share that its question gives to the truth, before and after its answer."""
    learner, y = made()
    rows = sorted(learner.pool.control_left()[:6].tolist())
    shown, sureness = [], []
    for row in rows:
        question = learner.question_for(row)
        shares = dict(zip(question.choices, question.probabilities, strict=True))
        shown.append(1 - shares[learner.classes[y[row]]])
        sureness.append(np.diff(sorted(question.probabilities)[-2:]).item())
    for row in rows:
        answer(learner, row, "is", [learner.classes[y[row]]])
    scores, margins_of = check_scores(learner.pool, learner.shares_of)
    assert scores == pytest.approx(shown)
    assert margins_of == pytest.approx(sureness)


def test_several_answers_to_a_check_are_combined_by_the_rule():
    settings = LearnerSettings(
        n_neighbors=5, control_share=0.3, overlap=3, fold="majority", checks_by_all=True, own_since=0
    )
    learner, y = made(settings)
    row = int(learner.pool.control_left()[0])
    wrong = next(k for k in np.flatnonzero(learner.candidates_of(row)) if k != y[row])
    answer(learner, row, "is", [learner.classes[y[row]]], "a")
    answer(learner, row, "is", [learner.classes[wrong]], "b")
    assert len(check_scores(learner.pool, learner.shares_of)[0]) == 0  # they differ: no one knows yet
    answer(learner, row, "is", [learner.classes[y[row]]], "c")
    assert known_checks(learner.pool).truth.tolist() == [y[row]]


@pytest.mark.parametrize("model", ["plknn", "kernelridge"])
def test_shares_of_training_rows_exclude_their_own_vote(model):
    learner, _ = made(LearnerSettings(model=model, n_neighbors=5, control_share=0.3))
    if learner.settings.is_trained:
        version = Trainer(learner.pool).train()
        learner.publish(version.scores, [version.point])
    rows = learner.pool.train[learner.pool.sizes[learner.pool.train] >= 2]
    found = learner.shares_asked(rows, learner.pool.candidates[rows])
    for row, shares in zip(rows.tolist(), found, strict=True):
        question = learner.question_for(row)
        assert shares[learner.candidates_of(row)] == pytest.approx(question.probabilities)


def test_shortlists_from_checks_cover_the_truth_of_other_rows():
    learner, y = made(LearnerSettings(n_neighbors=5, control_share=0.3), n=1200)
    answer_checks(learner, y, 200)
    thresholds = MarginThresholds.fit(*check_scores(learner.pool, learner.shares_of), 0.1)
    rows = learner.pool.train[learner.pool.sizes[learner.pool.train] >= 2]
    sets = learner.pool.candidates[rows]
    shares = learner.shares_asked(rows, sets)
    sureness = margins(shares)
    lists = conformal_sets(shares, sets, thresholds.of(sureness))
    held = lists[np.arange(len(rows)), y[rows]]
    assert min(held.mean(), held[sureness <= np.quantile(sureness, 0.2)].mean()) >= 0.87
    assert lists.sum() < sets.sum()


def test_rows_are_at_risk_if_checks_show_truths_outside_the_candidates():
    learner, y = made()
    answer_checks(learner, y, FEWEST_CHECKS - 1, outside=4)
    assert learner.disambiguate().outside is None  # too few to tell
    row = learner.pool.control_left()[-1]
    answer(learner, row, "is", [learner.classes[y[row]]])
    risk = learner.disambiguate().outside
    pool = learner.pool
    open_rows = (pool.sizes >= 2) & ~(pool.candidates & ~pool.first).any(axis=1)
    assert np.isnan(risk[~open_rows]).all()
    rows = np.flatnonzero(open_rows)
    shares = learner.shares_asked(rows, np.ones_like(pool.candidates[rows]))
    assert risk[rows] == pytest.approx(outside_probabilities(shares, pool.candidates[rows], 4 / FEWEST_CHECKS))


def test_no_row_is_at_risk_if_all_truths_are_inside():
    learner, y = made()
    answer_checks(learner, y, FEWEST_CHECKS + 5)
    assert learner.disambiguate().outside is None


def test_model_trained_on_its_own_rows_reports_no_risk():
    learner, y = made(LearnerSettings(model="perceptron-average", control_share=0.3))
    answer_checks(learner, y, 25, outside=5)
    assert learner.disambiguate().outside is None


def test_equal_logs_give_equal_scores():
    learner, y = made()
    answer_checks(learner, y, 25, outside=2)
    replayed, _ = made()
    for seq in range(1, learner.seq + 1):
        replayed.apply(learner.pool.fold.entry(seq))
    np.testing.assert_array_equal(
        check_scores(replayed.pool, replayed.shares_of), check_scores(learner.pool, learner.shares_of)
    )
    assert rate_outside(replayed.pool) == rate_outside(learner.pool)


@pytest.mark.parametrize(("model", "weighs"), [("kernelridge", True), ("plknn", False), ("lmplane", False)])
def test_kernel_ridge_uses_the_candidate_weights_of_each_check(model, weighs):
    table, _ = blobs(60)
    settings = LearnerSettings(model=model)
    assert not weighs_own(ActiveLearner(table, settings).pool)
    table.candidate_weights = table.candidates * 2.0
    assert weighs_own(ActiveLearner(table, settings).pool) == weighs


def test_checks_until_an_entry_ignore_later_changes():
    learner, y = made()
    answer_checks(learner, y, 4)
    assert len(known_checks(learner.pool, until=4).rows) == 4
    assert len(known_checks(learner.pool, until=2).rows) == 2
    first = learner.pool.fold.entry(1)
    learner.apply(Entry(5, "withdraw", first.row, "ann", (), 1))
    answer(learner, first.row, "is", first.labels)
    assert first.row in known_checks(learner.pool).rows
    assert first.row not in known_checks(learner.pool, until=4).rows
