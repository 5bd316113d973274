"""Rows of one source in a project: membership, effects of answers on other rows, and what stays unchanged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plcore import CandidateError, LearnerSettings, PLKernelRidge
from plcore.blocks import Blocks, Inline
from plcore.evaluation import compare_learners
from plcore.loop import Entry
from plcore.loop.one_label import ActiveLearner, OneLabelPool, Trainer, comparing
from plcore.loop.one_label.comparing import Comparer
from plcore.loop.one_label.training import WholeFits, standardized_features
from plcore.loop.registry import MODEL_ENTRIES
from tests.plcore.loop.fake_table import FakeTable, blobs, pictures

SETTINGS = LearnerSettings(model="kernelridge", control_share=0.15)


def learner_of(table: FakeTable, settings: LearnerSettings = SETTINGS) -> tuple[ActiveLearner, Trainer, Any]:
    learner = ActiveLearner(table, settings)
    trainer = Trainer(learner.pool)
    version = trainer.train()
    learner.publish(version.scores, [version.point], version.footing.effects)
    return learner, trainer, version


def answer(pool: Any, y: np.ndarray, rows: list[int]) -> None:
    for row in rows:
        pool.apply(Entry(pool.seq + 1, "is", row, "ann", (pool.classes[y[row]],)))


def updated(learner: ActiveLearner, version: Any) -> np.ndarray:
    pool = learner.pool
    candidates = pool.candidates[pool.train]
    update = version.footing.update(
        candidates, version.scores, pool.train, with_effects=False, weights=pool.weights_of(pool.train, candidates)
    )
    learner.follow(update)
    return update.scores


def test_sources_unrelated_to_the_sets_are_not_used() -> None:
    table, _ = blobs(n=120, truth="none")
    plain = Trainer(OneLabelPool(table, SETTINGS)).train()
    named = FakeTable(table.X, table.candidates, sources=np.arange(120) // 3)
    pool = OneLabelPool(named, SETTINGS)
    version = Trainer(pool).train()
    assert pool.sources is None
    np.testing.assert_array_equal(version.scores, plain.scores)
    np.testing.assert_array_equal(version.footing.effects, plain.footing.effects)


def test_rows_of_one_picture_explain_each_other_in_any_order() -> None:
    """After shuffling, only the source column shows which rows belong together."""
    right = {True: [], False: []}
    for seed in range(3):
        table, y = pictures(seed=seed)
        order = np.random.default_rng(seed).permutation(len(y))
        for named in right:
            sources = table.sources[order] if named else None
            shuffled = FakeTable(table.X[order], table.candidates[order], sources=sources)
            learner, trainer, _ = learner_of(shuffled)
            assert (trainer._fits._estimator.set_mass_ > 0) == named
            right[named].append((learner.disambiguate().labels == y[order]).mean())
    assert np.mean(right[True]) > np.mean(right[False]) + 0.01


def test_held_out_rows_stay_in_their_source_without_training() -> None:
    table, _ = pictures()
    _, trainer, _ = learner_of(table)
    pool, model = trainer.pool, trainer._fits._estimator
    assert len(pool.held) > 10
    rows = np.concatenate([pool.train, pool.held])
    weights = model.rounds_.ridge.weights
    np.testing.assert_array_equal(weights, np.arange(len(rows)) < len(pool.train))
    sizes = np.bincount(table.sources)
    np.testing.assert_array_equal(np.bincount(model.rounds_.sources.of), sizes[sizes > 1])


def test_blind_check_answers_and_true_labels_change_no_reported_label() -> None:
    table, y = pictures()
    wrong = (y + 1) % 6
    sets = np.array(table.candidates)
    found = []
    for truth in (y, wrong):
        inside = np.where(sets[np.arange(len(y)), truth], truth, y)
        pool = OneLabelPool(table, SETTINGS)
        answer(pool, inside, [int(row) for row in np.flatnonzero(pool.control_rows) if pool.is_open(int(row))])
        found.append(Trainer(pool).train().scores)
    np.testing.assert_array_equal(found[0], found[1])
    tested = LearnerSettings(model="kernelridge", truth_role="hidden", test_share=0.3)
    for truth in (y, wrong):
        inside = np.where(sets[np.arange(len(y)), truth], truth, y)
        named = FakeTable(table.X, table.candidates, inside, sources=table.sources)
        found.append(Trainer(OneLabelPool(named, tested)).train().scores)
    np.testing.assert_array_equal(found[2], found[3])


def test_answer_immediately_changes_other_rows_of_its_source() -> None:
    table, y = pictures()
    learner, _, version = learner_of(table)
    pool = learner.pool
    shares = learner.label_distributions.copy()
    sizes = np.bincount(table.sources)
    row = next(
        int(row)
        for row in pool.train
        if pool.is_open(int(row)) and sizes[table.sources[row]] > 2 and shares[row, y[row]] < 0.9
    )
    answer(learner, y, [row])
    updated(learner, version)
    moved = np.abs(learner.label_distributions - shares).sum(axis=1)
    others = np.setdiff1d(np.intersect1d(np.flatnonzero(table.sources == table.sources[row]), pool.train), [row])
    apart = np.setdiff1d(pool.train, np.flatnonzero(table.sources == table.sources[row]))
    assert moved[others].max() > 5 * np.median(moved[apart])


def test_first_update_equals_the_estimators_update() -> None:
    table, y = pictures()
    learner, trainer, version = learner_of(table)
    pool, model = learner.pool, trainer._fits._estimator
    rows = [int(row) for row in pool.train if pool.is_open(int(row))][:9]
    answer(learner, y, rows)
    scores = updated(learner, version)
    model.update(pool.place[rows], pool.candidates[rows])
    n = len(pool.train)
    prior = np.concatenate([pool.candidates[pool.train], pool.first[pool.held]]).astype(float)
    prior /= prior.sum(axis=1, keepdims=True)
    own = model.rounds_.class_scores(model.label_distributions_, prior)
    np.testing.assert_allclose(scores[pool.train], own[:n], rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(scores[pool.held], version.scores[pool.held])


@pytest.mark.parametrize("kind", ["is", "bad"])
def test_version_does_not_depend_on_earlier_training(kind: str) -> None:
    table, y = pictures()
    pool = OneLabelPool(table, SETTINGS)
    trainer = Trainer(pool)
    trainer.train()
    for row in [int(row) for row in pool.train if pool.is_open(int(row))][:6]:
        labels = (pool.classes[y[row]],) if kind == "is" else ()
        pool.apply(Entry(pool.seq + 1, kind, row, "ann", labels))
    again, fresh = trainer.train(), Trainer(pool).train()
    np.testing.assert_array_equal(again.scores, fresh.scores)
    np.testing.assert_array_equal(again.footing.effects, fresh.footing.effects)


def test_bad_item_leaves_its_source() -> None:
    table, _ = pictures()
    pool = OneLabelPool(table, SETTINGS)
    row = int(pool.train[np.bincount(table.sources)[table.sources[pool.train]] > 2][0])
    pool.apply(Entry(1, "bad", row, "ann"))
    trainer = Trainer(pool)
    trainer.train()
    model = trainer._fits._estimator
    assert pool.place[row] not in model.rounds_.sources.rows
    assert model._sources[pool.place[row]] != model._sources[pool.place[row] + 1]


def test_comparison_holds_out_whole_sources_and_passes_them_on(compare_only: Callable[..., None]) -> None:
    compare_only("plknn", "kernelridge")
    table, _ = pictures(n=36, named=False)
    of = pictures(n=36)[0].sources
    pool = OneLabelPool(FakeTable(table.X, table.candidates, sources=of), LearnerSettings(control_share=0.4))
    compared = Comparer(pool).compare().figures
    ridge = next(one for one in compared if one.model == "kernelridge")
    rows = np.concatenate([pool.train, pool.held])
    expected, broken = (
        compare_learners(
            standardized_features(pool)[own],
            pool.original[own],
            ["kernelridge"],
            random_state=0,
            groups=of[own],
            members_only=np.isin(own, pool.held),
        )
        for own in (rows, pool.train)
    )
    assert len(pool.held) > 5
    assert ridge.consistency == expected["candidate_accuracy"].iloc[0]
    assert ridge.consistency != broken["candidate_accuracy"].iloc[0], "members that do not train count"
    assert "rows of one source explain each other" in ridge.note
    assert not any("source" in one.note for one in compared if one.model != "kernelridge")
    plain = compare_learners(standardized_features(pool), pool.candidates, ["kernelridge"], random_state=0)
    assert ridge.consistency != plain["candidate_accuracy"].iloc[0]


def test_compared_learner_gets_the_sources_of_its_training_rows() -> None:
    table, _ = pictures()
    seen = []

    class Noted(PLKernelRidge):
        def fit(self, X, y, sample_weight=None, *, groups=None, candidate_weights=None):  # type: ignore[override]
            seen.append(np.array(groups))
            return super().fit(X, y, sample_weight, groups=groups)

    compare_learners(table.X, table.candidates, {"noted": Noted()}, cv=3, random_state=0, groups=table.sources)
    assert len(seen) == 3
    assert all(len(np.unique(one)) == 40 for one in seen), "two thirds of 60 sources, whole"
    assert sum(len(one) for one in seen) == 2 * len(table.X)


def test_held_out_members_make_the_comparison_more_accurate() -> None:
    """40% of the rows are held out: incomplete pictures carry less information than whole ones."""
    right = {True: [], False: []}
    for seed in range(4):
        table, y = pictures(seed=seed)
        members = np.random.default_rng(seed).random(len(y)) < 0.4
        for whole in right:
            own = np.arange(len(y)) if whole else np.flatnonzero(~members)
            found = compare_learners(
                table.X[own],
                table.candidates[own],
                {"ridge": PLKernelRidge("rbf", 0.1, 0.5, set_mass=1.0)},
                cv=3,
                y_true=np.where(members, np.nan, y)[own],
                random_state=0,
                groups=table.sources[own],
                members_only=members[own],
            )
            right[whole].append(found["accuracy"].iloc[0])
    assert np.mean(right[True]) > np.mean(right[False]) + 0.01


def test_held_out_members_reach_only_learners_that_use_sources(tmp_path: Path) -> None:
    table, y = pictures(n=24)
    members = np.random.default_rng(0).random(len(y)) < 0.3
    given = {"cv": 3, "random_state": 0, "groups": table.sources, "members_only": members}
    names = ["plknn", "kernelridge"]
    here = compare_learners(table.X, table.candidates, names, **given)
    told = compare_learners(table.X, table.candidates, names, blocks=Blocks(Inline(), tmp_path), **given)
    own = np.flatnonzero(~members)
    alone = compare_learners(
        table.X[own], table.candidates[own], names, **{**given, "groups": table.sources[own], "members_only": None}
    )
    kappas = [one["kappa"].to_list() for one in (here, told, alone)]
    assert kappas[0] == kappas[1]
    assert kappas[0][0] == kappas[2][0]
    assert kappas[0][1] != kappas[2][1]
    for wrong in (members[:4], members.astype(int)):
        with pytest.raises(ValueError, match="members_only must be bool of shape"):
            compare_learners(table.X, table.candidates, names, **{**given, "members_only": wrong})
    with pytest.raises(ValueError, match="Fix: pass groups"):
        compare_learners(table.X, table.candidates, names, cv=3, members_only=members)


def test_forests_and_comparisons_use_the_imported_sets_after_answers(
    tmp_path: Path, compare_only: Callable[..., None]
) -> None:
    """Answered rows are not a fair sample of classes, and an answered name of a photo leaves the others."""
    table, y = pictures(n=20)
    pool = OneLabelPool(table, LearnerSettings(model="forest", control_share=0.15))
    answer(pool, y, [int(row) for row in pool.train if pool.is_open(int(row)) and y[row] == 0])
    rows = np.concatenate([pool.train, pool.held])
    candidates = np.concatenate([pool.candidates[pool.train], pool.original[pool.held]])
    told = {"groups": table.sources[rows], "imported": table.candidates[rows]}
    weights = np.repeat([1.0, 0.0], [len(pool.train), len(pool.held)])
    model = MODEL_ENTRIES["forest"].make(10.0, 0).fit(standardized_features(pool)[rows], candidates, weights, **told)
    given, without = model.label_distributions_, {**told, "imported": None}
    fits = WholeFits(pool, standardized_features(pool))
    np.testing.assert_array_equal(fits.fit(None).scores, fits._scores(model, pool.train))
    bare = model.fit(standardized_features(pool)[rows], candidates, weights, **without)
    assert (bare.label_distributions_ != given).any()

    names = ["kernelridge"]
    how = {"random_state": 0, "groups": table.sources[rows], "members_only": np.isin(rows, pool.held)}
    X, before = standardized_features(pool)[rows], table.candidates[rows]
    expected = compare_learners(X, candidates, names, **how, imported=before)["kappa"].iloc[0]
    in_blocks = Blocks(Inline(), tmp_path)
    found = compare_learners(X, candidates, names, **how, imported=before, blocks=in_blocks)
    assert found["kappa"].iloc[0] == expected
    compare_only(*names)
    (figures,) = Comparer(pool).compare().figures
    assert figures.kappa == expected
    assert compare_learners(X, candidates, names, **how)["kappa"].iloc[0] != expected
    with pytest.raises(CandidateError, match="imported must have the shape"):
        compare_learners(X, candidates, names, **how, imported=before[1:])


def test_comparison_detects_sources_from_row_order_like_a_version(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def noted(X: Any, candidates: Any, learners: Any, **given: Any) -> Any:
        asked.update(given, n=len(candidates))
        return compare_learners(X, candidates, ["plknn"], cv=2, groups=given["groups"])

    monkeypatch.setattr(comparing, "compare_learners", noted)
    pool = OneLabelPool(pictures(named=False)[0], LearnerSettings(model="kernelridge", control_share=0.3))
    trainer = Trainer(pool)
    Comparer(pool).compare()
    assert pool.named_sources is None
    assert asked["n"] == len(pool.original)
    np.testing.assert_array_equal(asked["groups"], trainer._fits._sources)
    np.testing.assert_array_equal(asked["members_only"], np.arange(asked["n"]) >= len(pool.train))
