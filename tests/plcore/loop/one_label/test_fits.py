"""Versions of the kernel ridge: settings are chosen once, then only rounds run, equal to those of a fresh trainer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.validation import has_fit_parameter

from plcore import LearnerSettings, PLKernelRidge
from plcore.arrays.types import FeatureBlock
from plcore.evaluation import contaminate
from plcore.kernel import choice
from plcore.kernel.soft_labels import softmax_inside
from plcore.kernels import margins
from plcore.kernels.scores import softmax_rows
from plcore.labels.weights import prior_labels
from plcore.loop import MODEL_ENTRIES, Entry
from plcore.loop.one_label import ActiveLearner, FirstUpdate, Footing, OneLabelPool, Trainer
from plcore.loop.one_label.asking import RowChooser
from plcore.loop.one_label.learner import make_model
from plcore.loop.one_label.models import NeighborModel, OnlineModel, ScoredModel
from plcore.loop.one_label.training import standardized_features
from plcore.neighbors.graph import Graph
from tests.plcore.loop.fake_table import FakeTable, blobs, pictures

SETTINGS = LearnerSettings(model="kernelridge", strategy="margin", control_share=0.1, test_share=0.2)


def answered(pool, y, count, kind="is", start=1):
    """Learn the truth of `count` open training rows, or another kind of entry about them."""
    rows = [int(row) for row in pool.train if pool.is_open(row)][:count]
    for seq, row in enumerate(rows, start):
        labels = (pool.classes[y[row]],) if kind == "is" else ()
        pool.apply(Entry(seq, kind, row, "ann", labels))
    return rows


@pytest.fixture
def world():
    table, y = blobs(n=120, truth=0.5)
    return table, y, OneLabelPool(table, SETTINGS)


def test_version_equals_the_estimator_with_settings_from_imported_sets(world):
    _, y, pool = world
    trainer = Trainer(pool)
    trainer.train()
    answered(pool, y, 20)
    scores = trainer.train().scores
    X, imported = standardized_features(pool), pool.first[pool.train]
    chosen = PLKernelRidge(random_state=0).fit(X[pool.train], imported)
    plain = PLKernelRidge(chosen.kernel_, chosen.alpha_, chosen.class_mass_, random_state=0)
    plain.fit(X[pool.train], pool.candidates[pool.train], imported=imported)
    np.testing.assert_allclose(scores[pool.held], plain.decision_function(X[pool.held]) / 0.05, rtol=1e-5, atol=1e-5)
    # For training rows: the result of the next round, inside their candidates.
    prior, labels = prior_labels(pool.candidates[pool.train]), plain.label_distributions_
    rounds = plain.rounds_
    further = softmax_inside(rounds.ridge.left_out_scores(labels), 0.05, prior)
    further = rounds.masses.pull(further, plain.class_mass_)
    np.testing.assert_allclose(softmax_inside(scores[pool.train].astype(float), 1.0, prior), further, atol=1e-5)
    assert np.abs(further - labels).sum(axis=1).max() < 0.1


@pytest.mark.parametrize("truth_role", ["hidden", "given"])
def test_version_does_not_depend_on_earlier_training(truth_role):
    table, y = blobs(n=120, truth=0.5)
    settings = LearnerSettings(model="kernelridge", control_share=0.1, truth_role=truth_role, strategy="margin", seed=3)
    pool, other = (OneLabelPool(table, settings) for _ in range(2))
    rows = [int(row) for row in pool.train if pool.is_open(row)]
    log = [Entry(seq, "is", row, "ann", (pool.classes[y[row]],)) for seq, row in enumerate(rows[:12], 1)]
    log += [Entry(13, "bad", rows[0], "ann"), Entry(14, "bad", rows[20], "ann")]
    log += [Entry(15, "withdraw", rows[0], "ann", target=13), Entry(16, "withdraw", rows[5], "ann", target=6)]
    trainer = Trainer(pool)
    for entry in log:
        if entry.seq in (1, 4, 13, 15):
            trainer.train()
        pool.apply(entry)
        other.apply(entry)
    one, again = trainer.train(), Trainer(other).train()
    np.testing.assert_array_equal(one.scores, again.scores)
    assert one.number == again.number == 16
    assert one.point == again.point


def test_bad_item_teaches_nothing(world):
    _, y, pool = world
    trainer = Trainer(pool)
    before = trainer.train().scores
    bad = answered(pool, y, 15, "bad")
    after = trainer.train().scores
    kept = np.setdiff1d(pool.train, bad)
    X = standardized_features(pool)
    chosen = PLKernelRidge(random_state=0).fit(X[pool.train], pool.first[pool.train])
    plain = PLKernelRidge(chosen.kernel_, chosen.alpha_, chosen.class_mass_, random_state=0)
    plain.fit(X[kept], pool.candidates[kept], imported=pool.first[kept])
    np.testing.assert_allclose(after[pool.held], plain.decision_function(X[pool.held]) / 0.05, rtol=1e-4, atol=1e-4)
    assert not np.allclose(before, after)
    assert np.isfinite(after[bad]).all()


def test_chosen_temperature_stays_after_a_bad_item(world, monkeypatch):
    _, y, pool = world
    monkeypatch.setattr(choice, "uneven", lambda sets: True)
    monkeypatch.setattr(choice._Setting, "agreement", lambda setting, among_all: np.ones(len(pool.train)))
    trainer = Trainer(pool)
    for _ in range(2):
        scores = trainer.train().scores[pool.held]
        model = trainer._fits._estimator
        assert model.temperature_ == 0.15
        X = standardized_features(pool)[pool.held]
        np.testing.assert_allclose(scores, model.decision_function(X) / 0.15, rtol=1e-4, atol=1e-4)
        answered(pool, y, 3, "bad", start=pool.seq + 1)


def test_only_the_first_version_chooses_and_computes_kernels(world, monkeypatch):
    _, y, pool = world
    trainer = Trainer(pool)
    trainer.train()
    for name in ("choose", "KernelFeatures", "Smoother"):
        monkeypatch.setattr(f"plcore.kernel.ridge.{name}", None)
    answered(pool, y, 10)
    assert trainer.train().number == 10
    pool.apply(Entry(11, "bad", int(pool.train[-1]), "ann"))
    with pytest.raises(TypeError):
        trainer.train()


def test_answers_about_one_class_do_not_change_the_masses():
    """Masses are those of the imported sets: a strategy that asks about one class says nothing about its size."""
    table, y = blobs(n=150, truth="none")
    pool = OneLabelPool(table, SETTINGS)
    trainer = Trainer(pool)
    trainer.train()
    targets = trainer._fits._estimator.rounds_.masses.targets.copy()
    rows = [int(row) for row in pool.train if pool.is_open(row) and y[row] == 2]
    for seq, row in enumerate(rows, 1):
        pool.apply(Entry(seq, "is", row, "ann", (pool.classes[2],)))
    trainer.train()
    np.testing.assert_array_equal(trainer._fits._estimator.rounds_.masses.targets, targets)


def test_training_can_be_stopped_and_restarted(world):
    _, y, pool = world
    trainer = Trainer(pool)
    expected = Trainer(pool).train().scores

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trainer.train(stop)
    np.testing.assert_array_equal(trainer.train().scores, expected)
    answered(pool, y, 3)
    with pytest.raises(KeyboardInterrupt):
        trainer.train(stop)
    np.testing.assert_array_equal(trainer.train().scores, Trainer(pool).train().scores)


def test_class_without_rows_is_never_predicted_for_held_out_rows():
    table, _ = blobs(n=90, truth="none")
    wide = FakeTable(table.X, np.hstack([table.candidates, np.zeros((90, 1), dtype=bool)]))
    pool = OneLabelPool(wide, SETTINGS)
    scores = Trainer(pool).train().scores
    assert (scores[pool.held, 4] == -np.inf).all()
    assert np.isfinite(scores[pool.held, :4]).all()


@pytest.mark.parametrize("classes", [2, 4])
def test_forest_rows_do_not_confirm_their_own_labels(classes):
    table, y = blobs(n=120, truth=0.5)
    table = FakeTable(table.X, contaminate(y % classes, "size", p=0.6, r=1, random_state=0))
    pool = OneLabelPool(table, replace(SETTINGS, model="forest"))
    scores = Trainer(pool).train().scores
    X, candidates = standardized_features(pool), pool.candidates[pool.train]
    entry = MODEL_ENTRIES["forest"]
    forest = entry.make(1.0, pool.settings.seed).fit(X[pool.train], candidates)
    for rows, said in ((pool.train, forest.out_of_bag_), (pool.held, forest.predict_proba(X[pool.held]))):
        shares = softmax_rows(scores[rows], np.isfinite(scores[rows]))
        np.testing.assert_allclose(shares, 0.99 * said + 0.01 / said.shape[1], atol=1e-6)
    own = forest.predict_proba(X[pool.train])
    assert own.max(axis=1).mean() > forest.out_of_bag_.max(axis=1).mean() + 0.05, "they had been surer"


def test_forest_uses_sources_as_in_comparisons():
    pool = OneLabelPool(pictures()[0], replace(SETTINGS, model="forest"))
    scores = Trainer(pool).train().scores
    assert len(pool.held) > 5, "held-out rows stay in their sources"
    rows, X = np.concatenate([pool.train, pool.held]), standardized_features(pool)
    trains = np.isin(rows, pool.train)
    forest = MODEL_ENTRIES["forest"].make(1.0, pool.settings.seed)
    forest.fit(X[rows], pool.original[rows], trains.astype(float), groups=pool.sources[rows])
    shares = softmax_rows(scores[pool.train], np.isfinite(scores[pool.train]))
    np.testing.assert_allclose(shares, 0.99 * forest.out_of_bag_[trains] + 0.01 / 6, atol=1e-6)


def test_entry_names_the_evidence_of_the_trainer():
    for entry in MODEL_ENTRIES.values():
        assert entry.relabels == hasattr(entry.estimator, "relabel")
        assert entry.uses_sources == has_fit_parameter(entry.estimator, "groups")


# First updates: a version learns later answers exactly as the estimator's own `update` does.


SETTINGS_OF_FIRST_UPDATE = LearnerSettings(model="kernelridge", strategy="moves", control_share=0.1, test_share=0.2)


@pytest.fixture
def world_of_first_update():
    """A learner with its first version, the version, the trainer's estimator, and the truth."""
    table, y = blobs(n=120, truth=0.4, q=0.6)
    learner = ActiveLearner(table, SETTINGS_OF_FIRST_UPDATE)
    trainer = Trainer(learner.pool)
    version = trainer.train()
    learner.publish(version.scores, [version.point], version.footing.effects)
    return learner, version, trainer._fits._estimator, y


def answer(learner, y, count):
    """Answer the rows that the learner asks about first."""
    rows = learner.ranking()[0][:count].tolist()
    for row in rows:
        label = (learner.classes[y[row]],)
        learner.apply(Entry(learner.seq + 1, "is", row, "ann", label))
    return rows


def follow(learner, version, effects=True):
    pool = learner.pool
    update = version.footing.update(
        pool.candidates[pool.train],
        version.scores,
        pool.train,
        with_effects=effects,
        weights=pool.table.candidate_weights,
    )
    learner.follow(update)
    return update


def test_shares_match_the_estimators_update(world_of_first_update):
    learner, version, estimator, y = world_of_first_update
    pool = learner.pool
    rows = answer(learner, y, 7)
    follow(learner, version)
    estimator.update(pool.place[rows], pool.candidates[rows])
    prior = prior_labels(pool.candidates[pool.train])
    scores = estimator.rounds_.class_scores(estimator.label_distributions_, prior)
    shares = softmax_inside(scores, 1.0, prior)
    np.testing.assert_allclose(learner.label_distributions[pool.train], shares, atol=1e-5)
    assert np.abs(shares - estimator.label_distributions_).sum(axis=1).max() < 0.4  # half a round further, of at most 2
    open_rows, effects = learner.ranking()
    u = 1 - margins(shares)
    expected = estimator.rounds_.effects(scores, pool.candidates[pool.train])
    np.testing.assert_allclose(effects, expected[pool.place[open_rows]], rtol=1e-4, atol=1e-9)
    assert (np.diff(effects) <= 0).all()
    assert np.corrcoef(effects, u[pool.place[open_rows]])[0, 1] > 0.5


def test_first_update_keeps_held_out_rows_curve_and_version_number(world_of_first_update):
    learner, version, _, y = world_of_first_update
    pool = learner.pool
    controls = np.flatnonzero(pool.control_rows)
    before = learner.curve, learner.model_version, learner._model.said.copy()
    shares = learner.label_distributions[controls]
    answer(learner, y, 10)
    moved = learner.label_distributions[pool.train]
    follow(learner, version)
    assert not np.allclose(learner.label_distributions[pool.train], moved)
    assert (learner.curve, learner.model_version) == before[:2]
    np.testing.assert_array_equal(learner._model.said, before[2])
    np.testing.assert_array_equal(learner.label_distributions[controls], shares)
    assert learner.progress().accuracy == before[0][-1].accuracy


def test_first_update_depends_only_on_version_and_candidates(world_of_first_update):
    """The number of updates in between changes nothing, and withdrawn answers leave no trace."""
    learner, version, _, y = world_of_first_update
    pool = learner.pool
    none = follow(learner, version)
    rows = answer(learner, y, 3)
    follow(learner, version)
    answer(learner, y, 3)
    twice = follow(learner, version)
    other = ActiveLearner(learner.table, SETTINGS_OF_FIRST_UPDATE)
    other.publish(version.scores, [version.point], version.footing.effects)
    for row in np.flatnonzero(pool.answered):
        for entry in pool.fold.entries(int(row)):
            other.apply(Entry(other.seq + 1, entry.kind, entry.row, "ann", entry.labels))
    once = follow(other, version)
    np.testing.assert_array_equal(once.scores, twice.scores)
    np.testing.assert_array_equal(once.effects, twice.effects)
    assert pool.sizes[rows].tolist() == [1, 1, 1]
    for target in range(1, 7):
        row = next(e.row for r in np.flatnonzero(pool.answered) for e in pool.fold.entries(int(r)) if e.seq == target)
        learner.apply(Entry(learner.seq + 1, "withdraw", row, "ann", target=target))
    np.testing.assert_array_equal(follow(learner, version).scores, none.scores)


def test_bad_item_takes_effect_with_the_next_version(world_of_first_update):
    learner, version, _, _ = world_of_first_update
    before = follow(learner, version).scores
    row = int(learner.ranking()[0][0])
    learner.apply(Entry(1, "bad", row, "ann"))
    np.testing.assert_array_equal(follow(learner, version).scores, before)
    assert (learner.label_distributions[row] == 0).all()


def test_next_version_replaces_the_first_update(world_of_first_update):
    learner, version, _, y = world_of_first_update
    answer(learner, y, 8)
    follow(learner, version)
    new = Trainer(learner.pool).train()
    learner.publish(new.scores, [new.point], new.footing.effects)
    rows, effects = learner.ranking()
    np.testing.assert_array_equal(effects, new.footing.effects[learner.pool.place[rows]])
    assert learner.model_version == 8
    # Without new answers a first update changes almost nothing.
    shares = learner.label_distributions[rows]
    follow(learner, new)
    assert np.abs(learner.label_distributions[rows] - shares).sum(axis=1).max() < 0.05


def test_without_effects_questions_use_the_margin(world_of_first_update):
    learner, version, _, y = world_of_first_update
    answer(learner, y, 4)
    follow(learner, version, effects=False)
    rows, scores = learner.ranking()
    np.testing.assert_allclose(scores, 1 - margins(learner.label_distributions[rows]), atol=1e-9)


def test_first_update_round_trips_through_a_file(world_of_first_update, tmp_path):
    learner, version, _, y = world_of_first_update
    np.savez(tmp_path / "a.npz", **version.footing.shared())
    np.savez(tmp_path / "b.npz", **version.footing.state())
    with np.load(tmp_path / "a.npz") as shared, np.load(tmp_path / "b.npz") as state:
        again = Footing.from_arrays(dict(shared), dict(state))
        assert Footing.from_arrays(again, dict(state)).rounds is again.rounds
    answer(learner, y, 5)
    pool = learner.pool
    now = pool.candidates[pool.train]
    one, other = (
        footing.update(now, version.scores, pool.train, with_effects=True, weights=None)
        for footing in (version.footing, again)
    )
    np.testing.assert_array_equal(one.scores, other.scores)
    np.testing.assert_array_equal(one.effects, other.effects)
    np.testing.assert_array_equal(again.candidates, version.footing.candidates)


def test_update_that_does_not_fit_is_refused(world_of_first_update):
    learner, version, _, _ = world_of_first_update
    update = FirstUpdate(version.scores, None)
    for model in ("kernelridge", "plknn"):
        fresh = ActiveLearner(learner.table, LearnerSettings(model=model))
        with pytest.raises(ValueError, match="no version yet"):
            fresh.follow(update)
    with pytest.raises(ValueError, match="effects must be of the"):
        ActiveLearner(learner.table, SETTINGS_OF_FIRST_UPDATE).publish(version.scores, [version.point], np.ones(3))


# The model class of a project depends on how the model is kept up to date.


@pytest.mark.parametrize(
    ("model", "kind"),
    [("plknn", NeighborModel), ("pegasos-max", OnlineModel), ("kernelridge", ScoredModel), ("plsvc", ScoredModel)],
)  # fmt: skip
def test_settings_choose_the_model_class(model, kind):
    pool = ActiveLearner(blobs(30)[0], LearnerSettings(model=model, n_neighbors=3)).pool
    made = make_model(pool, RowChooser(pool, None, lambda: made))
    assert type(made) is kind


# A learner that is given its neighbours equals one that finds them.


def told(learner, n=25):
    """Requests and reports while its first choices are answered."""
    said = []
    for seq in range(1, n + 1):
        question = learner.next_question("ann")
        learner.apply(Entry(seq, "is", question.row, "ann", question.choices[:1]))
        said.append((question, learner.progress()))
    return said, learner.disambiguate().labels.tolist()


@pytest.mark.parametrize("truth", ["all", "none"])
@pytest.mark.parametrize("strategy", ["apl", "mp", "act"])
def test_stored_graph_changes_nothing(strategy, truth):
    table, _ = blobs(truth=truth)
    settings = LearnerSettings(n_neighbors=5, strategy=strategy)
    first = ActiveLearner(table, settings)
    assert (first.graph.kind, first.graph.recall) == ("kd-tree", 1.0)
    kept = Graph.from_arrays(first.graph.to_arrays())
    made = len(table.made)
    second = ActiveLearner(table, settings, graph=kept)
    assert len(table.made) == made + (strategy == "act")  # features only where they are needed
    assert told(second) == told(first)
    for name in ("neighbors", "weights", "test_neighbors", "test_weights"):
        np.testing.assert_array_equal(getattr(second.graph, name), getattr(kept, name))


def test_graph_of_another_table_is_refused():
    table, _ = blobs(n=60)
    other, _ = blobs(n=90)
    graph = ActiveLearner(table).graph
    with pytest.raises(ValueError, match="graph must have the neighbours of 60 training and 30 test rows, 10 for"):
        ActiveLearner(other, graph=graph)
    with pytest.raises(ValueError, match="Fix: find it again"):
        ActiveLearner(table, LearnerSettings(n_neighbors=9), graph=graph)


class GivenFeatures:
    """Features that return a given matrix in blocks."""

    def __init__(self, X: Any, *blocks: FeatureBlock) -> None:
        self.X, self.blocks_ = X, blocks

    def fit(self, table: Any, rows: Any) -> GivenFeatures:
        return self

    def transform(self, table: Any, rows: Any) -> Any:
        return self.X[rows]


def with_blocks(X: Any, *blocks: FeatureBlock) -> tuple[OneLabelPool, Any]:
    """A pool of these features, and the features of its training rows."""
    table, _ = blobs(X.shape[0])
    table.features = lambda: GivenFeatures(X, *blocks)
    pool = OneLabelPool(table, LearnerSettings())
    return pool, X[pool.train]


def test_standardized_blocks_have_equal_total_variance() -> None:
    rng = np.random.default_rng(0)
    wide, narrow = rng.normal(size=(80, 30)) * rng.uniform(0.1, 3, size=30), rng.normal(size=(80, 3))
    blocks = FeatureBlock(slice(1, 31)), FeatureBlock(slice(31, 34), one_scale=False)
    pool, X = with_blocks(np.hstack([100 * rng.normal(size=(80, 1)), wide, narrow]), *blocks)
    found = standardized_features(pool)[pool.train]
    assert found[:, 0].std() == pytest.approx(1)
    for columns, _ in blocks:
        assert found[:, columns].var(axis=0).sum() == pytest.approx(33 / 2)
    divided = X.std(axis=0) / found.std(axis=0)
    np.testing.assert_allclose(divided[1:31], divided[1])
    np.testing.assert_allclose(found[:, 31:].var(axis=0), 33 / 2 / 3)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_single_block_keeps_the_proportions_of_its_columns(form: Any) -> None:
    X = np.random.default_rng(1).normal(size=(80, 6)) * [1, 2, 3, 4, 5, 0]
    pool, own = with_blocks(form(X), FeatureBlock(slice(0, 6)))
    found = standardized_features(pool)[pool.train]
    found, own = (one.toarray() if sparse.issparse(one) else one for one in (found, own))
    assert found.var(axis=0).sum() == pytest.approx(6)
    np.testing.assert_allclose(found.std(axis=0)[:5] / own.std(axis=0)[:5], found.std(axis=0)[0] / own.std(axis=0)[0])
