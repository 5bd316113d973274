"""The annotator model in the loop: more accurate annotators count more, and models learn by how much."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from plcore import Entry, LabelTable, LearnerSettings, PLKernelRidge, Roles
from plcore.kernel.soft_labels import softmax_inside
from plcore.labels.weights import prior_labels
from plcore.loop import MODEL_ENTRIES, ClassChange
from plcore.loop.one_label import ActiveLearner, OneLabelPool, Trainer
from plcore.loop.one_label.several import LEAST_SHARE
from plcore.loop.one_label.training import standardized_features
from tests.plcore.loop.fake_table import FakeTable, blobs

GOOD, ALSO_GOOD, GUESSER = "ann", "bob", "cem"


def crowd(model: str = "kernelridge", n: int = 60) -> tuple[OneLabelPool[FakeTable], list[Entry]]:
    """Everyone answers the first rows, the guesser at random; two of them the rest."""
    rng = np.random.default_rng(1)
    table, truth = blobs(n, m=3, seed=2, truth="none", q=1.0)
    settings = LearnerSettings(n_neighbors=3, overlap=3, fold="dawid-skene", model=model)
    log: list[Entry] = []
    for row in range(n - 5):
        for person in (GOOD, ALSO_GOOD, GUESSER)[: 3 if row < n - 10 else 2]:
            right = person != GUESSER
            label = int(truth[row]) if right else int(rng.integers(3))
            log.append(Entry(len(log) + 1, "is", row, person, (f"c{label}",)))
    last = n - 1
    log.append(Entry(len(log) + 1, "is", last, GUESSER, (f"c{(truth[last] + 1) % 3}",)))
    log.append(Entry(len(log) + 1, "is", last, GOOD, (f"c{truth[last]}",)))
    return OneLabelPool(table, settings), log


def lived(pool: OneLabelPool[FakeTable], log: list[Entry]) -> OneLabelPool[FakeTable]:
    for entry in log:
        pool.apply(entry)
    return pool


def test_guessing_annotator_counts_less_than_accurate_one() -> None:
    pool, log = crowd()
    lived(pool, log)
    _, truth = blobs(60, m=3, seed=2, truth="none", q=1.0)
    weights = pool.weights_of(np.array([59, 58]), pool.candidates[[59, 58]])
    assert weights[0].argmax() == truth[59]
    assert weights[0].max() > 0.8
    assert weights[1].tolist() == [1.0, 1.0, 1.0], "no one has answered it"


def test_later_answer_changes_earlier_rows() -> None:
    pool, log = crowd()
    log = [replace(entry, seq=seq) for seq, entry in enumerate([*log[-2:], *log[:-2]], start=1)]  # the tie first
    changed = [{change.row for change in pool.apply(entry)} for entry in log]
    assert any(rows - {entry.row} for rows, entry in zip(changed, log, strict=True))


@pytest.mark.parametrize("model", ["kernelridge", "lmplane"])
def test_version_depends_only_on_the_log(model: str) -> None:
    pool, log = crowd(model)
    trainer = Trainer(lived(pool, log[:40]))
    trainer.train()
    for entry in log[40:]:
        pool.apply(entry)
    later = trainer.train()
    fresh = Trainer(lived(crowd(model)[0], log)).train()
    np.testing.assert_array_equal(later.scores, fresh.scores)


def test_model_learns_the_label_probabilities_from_annotators() -> None:
    pool, log = crowd()
    lived(pool, log)
    disputed = [Entry(len(log) + 1, "is", 57, GOOD, ("c0",)), Entry(len(log) + 2, "is", 57, ALSO_GOOD, ("c1",))]
    lived(pool, disputed)
    rows = np.array([57])
    weights = pool.weights_of(rows, pool.candidates[rows])
    likely = weights[0] > 0
    assert pool.candidates[57].tolist() == likely.tolist()
    assert (weights[0, likely] >= LEAST_SHARE * weights[0].max()).all()
    assert 1 - 2 * LEAST_SHARE < weights[0].sum() <= 1, "what is ruled out had little"


# Votes of a table reach the models that weigh candidates, also after answers and class changes.


NAMES = np.array(["ant", "bee", "cat", "dog"])
PEOPLE = tuple(f"p{number}" for number in range(9))
OPTIONS = {"strategy": "margin", "test_share": 0.0, "control_share": 0.1}
SETTINGS = LearnerSettings(model="kernelridge", **OPTIONS)


def voted(n=120, seed=0):
    """A table of nine people's votes, half of them drawn blindly, in a plane where classes overlap; and the truth."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    X = 1.2 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[y] + rng.normal(size=(n, 2))
    votes = np.where(rng.random((n, 9)) < 0.5, y[:, None], rng.integers(0, 4, (n, 9)))
    votes[:, :2] = np.column_stack([y, (y + 1 + rng.integers(0, 3, n)) % 4])  # the truth is named, and another
    frame = pd.DataFrame(NAMES[votes], columns=PEOPLE).assign(x=X[:, 0], y=X[:, 1])
    return LabelTable.from_frame(frame, Roles(annotators=PEOPLE, numbers=("x", "y"))), y


def listed(table):
    """The same table with its candidates in a list, without votes."""
    cells = table.cells[["x", "y"]].copy()
    cells["c"] = ["|".join(np.array(table.classes)[row]) for row in table.candidates]
    return LabelTable.from_cells(cells.astype("str"), Roles(candidates="c", numbers=("x", "y")))


def answer(pool, y, count):
    """Answer this many open training rows with the truth."""
    rows = [int(row) for row in pool.train if pool.is_open(row)][:count]
    for row in rows:
        pool.apply(Entry(pool.seq + 1, "is", row, "ann", (pool.classes[y[row]],)))
    return rows


def right(pool, y, scores):
    """Share of the training rows whose likeliest candidate is the true one."""
    inside = np.where(pool.candidates, scores, -np.inf)
    return float((inside.argmax(axis=1) == y)[pool.train].mean())


@pytest.mark.parametrize("model", ["kernelridge", "lmplane"])
def test_informative_votes_make_more_rows_correct(model):
    settings, gains = LearnerSettings(model=model, **OPTIONS), []
    for seed in range(3):
        table, y = voted(seed=seed)
        pool, plain = OneLabelPool(table, settings), OneLabelPool(listed(table), settings)
        np.testing.assert_array_equal(pool.candidates, plain.candidates)
        told, even = (right(one, y, Trainer(one).train().scores) for one in (pool, plain))
        gains.append(told - even)
    assert min(gains) > 0
    assert np.mean(gains) > 0.08


@pytest.mark.parametrize("model", [name for name, entry in MODEL_ENTRIES.items() if entry.upkeep == "trained"])
def test_only_models_that_weigh_candidates_use_votes(model):
    table, _ = voted(60)
    settings = LearnerSettings(model=model, **OPTIONS)
    told, even = (Trainer(OneLabelPool(one, settings)).train().scores for one in (table, listed(table)))
    assert np.array_equal(told, even) != MODEL_ENTRIES[model].weighs_candidates


def test_lm_plane_version_equals_the_estimator_with_remaining_votes():
    table, y = voted(60)
    pool = OneLabelPool(table, LearnerSettings(model="lmplane", **OPTIONS))
    answer(pool, y, 10)
    X, rows = standardized_features(pool), pool.train
    told = MODEL_ENTRIES["lmplane"].make()
    told.fit(X[rows], pool.candidates[rows], candidate_weights=table.candidate_weights[rows])
    np.testing.assert_allclose(Trainer(pool).train().scores, told.decision_function(X), rtol=1e-5, atol=1e-6)


def test_pl_knn_ignores_votes():
    """Its proof that no answer can change a decision assumes equal candidate weights."""
    table, y = voted(60)
    pools = []
    for one in (table, listed(table)):
        learner = ActiveLearner(one, LearnerSettings(model="plknn", test_share=0.0))
        learner.apply(Entry(1, "is", 3, "ann", (NAMES[y[3]],)))
        pools.append((learner.label_distributions, *learner.ranking(), learner.progress()))
    for one, other in zip(pools[0][:3], pools[1][:3], strict=True):
        np.testing.assert_array_equal(one, other)
    assert pools[0][3] == pools[1][3]


def test_version_equals_the_estimator_with_votes():
    table, y = voted()
    pool, other = OneLabelPool(table, SETTINGS), OneLabelPool(table, SETTINGS)
    trainer = Trainer(pool)
    trainer.train()
    answer(pool, y, 9)
    bad = int(next(row for row in pool.train if pool.is_open(row)))
    pool.apply(Entry(10, "bad", bad, "ann"))
    trainer.train()
    pool.apply(Entry(11, "withdraw", bad, "ann", target=10))
    scores = trainer.train().scores
    answer(other, y, 9)
    np.testing.assert_array_equal(scores, Trainer(other).train().scores)
    # The same with the estimator alone: settings from the imported sets, then the remaining candidates.
    X, first = standardized_features(pool)[pool.train], pool.first[pool.train]
    votes = table.candidate_weights[pool.train]
    chosen = PLKernelRidge(random_state=0).fit(X, first, candidate_weights=votes)
    left = pool.candidates[pool.train]
    model = chosen.relabel(left, candidate_weights=votes, imported=first)
    shares = votes / votes.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.rounds_.masses.targets, shares.sum(axis=0))
    own = model.rounds_.class_scores(model.label_distributions_, prior_labels(left, votes))
    np.testing.assert_allclose(scores[pool.train], own, rtol=1e-5, atol=1e-5)


def test_first_updates_weigh_like_the_estimators_update():
    table, y = voted()
    learner = ActiveLearner(table, SETTINGS)
    pool, trainer = learner.pool, Trainer(learner.pool)
    version = trainer.train()
    learner.publish(version.scores, [version.point], version.footing.effects)
    rows = answer(pool, y, 7)
    votes, now = table.candidate_weights[pool.train], pool.candidates[pool.train]
    update = version.footing.update(now, version.scores, pool.train, with_effects=False, weights=votes)
    learner.follow(update)
    estimator = trainer._fits._estimator
    estimator.update(pool.place[rows], pool.candidates[rows])  # it keeps the weights of its fit
    prior = prior_labels(now, votes)
    scores = estimator.rounds_.class_scores(estimator.label_distributions_, prior)
    shares = softmax_inside(scores, 1.0, now.astype(float))
    np.testing.assert_allclose(learner.label_distributions[pool.train], shares, atol=1e-5)


def test_answers_remove_votes_for_removed_candidates():
    frame = pd.DataFrame({"p": ["ant", "ant", "cat"], "q": ["ant", "bee", "cat"], "r": ["bee", "cat", "dog"]})
    frame = frame.assign(x=[1.0, 2.0, 3.0])
    table = LabelTable.from_frame(frame, Roles(annotators=("p", "q", "r"), numbers=("x",)))
    pool = OneLabelPool(table, LearnerSettings(test_share=0.0))

    def prior():
        return prior_labels(pool.candidates, pool.weights_of(np.arange(3), pool.candidates)).tolist()

    assert prior()[0] == pytest.approx([2 / 3, 1 / 3, 0, 0])
    pool.apply(Entry(1, "not", 1, "ann", ("bee",)))
    pool.apply(Entry(2, "is", 0, "ann", ("bee",)))
    pool.apply(Entry(3, "none", 2, "ann"))
    assert prior() == [[0, 1, 0, 0], [0.5, 0, 0.5, 0], [0.5, 0.5, 0, 0]]
    # A class without votes, named together with one that has votes: neither is ruled out.
    pool.apply(Entry(4, "among", 2, "ann", ("ant", "dog")))
    assert prior()[2] == pytest.approx([2 / 3, 0, 0, 1 / 3])
    pool.apply(Entry(5, "withdraw", 2, "ann", target=4))
    pool.apply(Entry(6, "withdraw", 2, "ann", target=3))
    assert prior()[2] == pytest.approx([0, 0, 2 / 3, 1 / 3])


def test_votes_of_merged_classes_add_up_and_reach_the_version():
    table, y = voted()
    change = ClassChange(1, "merge", ("bee", "ant"))
    pool = OneLabelPool(table, SETTINGS, (change, ClassChange(2, "add", ("eel",))))
    assert pool.classes == ("ant", "cat", "dog", "eel")
    votes = table.candidate_weights
    merged = np.column_stack([votes[:, 0] + votes[:, 1], votes[:, 2], votes[:, 3], np.zeros(len(votes))])
    everyone = np.arange(len(votes))
    np.testing.assert_array_equal(pool.weights_of(everyone, pool.candidates), merged)
    # A table that came with the merged name gives the same version.
    cells = table.cells.copy()
    cells[list(PEOPLE)] = cells[list(PEOPLE)].replace("bee", "ant")
    fresh = OneLabelPool(LabelTable.from_cells(cells.astype("str"), table.roles), SETTINGS, ())
    told, again = (Trainer(one) for one in (pool, fresh))
    y = np.array([0, 0, 1, 2])[y]
    for one in (pool, fresh):
        one.pass_over(2)
        answer(one, y, 5)
    scores = told.train().scores
    np.testing.assert_allclose(scores[pool.train, :3], again.train().scores[pool.train], rtol=1e-4, atol=1e-4)
