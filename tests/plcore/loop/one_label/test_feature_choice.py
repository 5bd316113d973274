"""The choice of features is made on held-out answered rows, never on the candidates alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from plcore import LabelTable
from plcore.arrays import BOTH, FEATURE_SETS, MEANING, WORDS
from plcore.arrays.types import IntArray, draw_seed
from plcore.evaluation import PartialKFold
from plcore.loop import FeatureComparison, ModelComparison, ModelFigures
from plcore.loop.comparison import FEWEST_ANSWERED
from plcore.loop.entries import Entry
from plcore.loop.one_label import comparing
from plcore.loop.one_label.comparing import Comparer, answered_rows, compared_rows
from plcore.loop.one_label.pool import OneLabelPool
from plcore.loop.one_label.settings import AUTOMATIC, LearnerSettings
from plcore.neighbors import graph_key
from plcore.neighbors.graph import find_graph
from plcore.query import winners
from tests.plcore.loop.deceived import CLASSES, deceived_table
from tests.plcore.loop.fake_table import blobs


def answered_pool(answers: int, *, hard: bool = False, **settings: object) -> OneLabelPool[LabelTable]:
    """A pool of that table, so many of its ambiguous rows that train answered by the truth."""
    table, y = deceived_table(hard=hard)
    pool = OneLabelPool(table, LearnerSettings(model=AUTOMATIC, **settings))
    rows = pool.train[pool.sizes[pool.train] > 1][:answers]
    assert len(rows) == answers
    for seq, row in enumerate(rows.tolist(), 1):
        pool.apply(Entry(seq, "is", row, "ann", (CLASSES[y[row]],)))
    return pool


# The compared values


def test_answered_rows_are_those_with_one_label_left() -> None:
    table, y = blobs(n=120, truth="none")
    pool = OneLabelPool(table, LearnerSettings(control_share=0.3))
    open_rows = pool.train[pool.sizes[pool.train] > 2][:3].tolist()
    check, (told, bad, narrowed) = int(pool.control_left()[0]), open_rows
    own = table.classes[y[told]]
    wrong = next(int(one) for one in np.flatnonzero(pool.candidates[narrowed]) if one != y[narrowed])
    pool.apply(Entry(1, "is", told, "ann", (own,)))
    pool.apply(Entry(2, "bad", bad, "ann"))
    pool.apply(Entry(3, "not", narrowed, "ann", (table.classes[wrong],)))
    pool.apply(Entry(4, "is", check, "ann", (table.classes[y[check]],)))
    rows, truth = answered_rows(pool)
    assert rows[truth >= 0].tolist() == [told], "neither blind checks nor rows with one candidate at import"
    assert truth[rows == told] == y[told]
    assert bad not in rows
    assert check not in rows


def test_features_are_measured_on_held_out_answered_rows() -> None:
    found = Comparer(answered_pool(FEWEST_ANSWERED)).compare_features("kernelridge")
    assert found.rows == FEWEST_ANSWERED
    assert tuple(found.accuracy) == FEATURE_SETS
    assert found.accuracy[MEANING] == 1.0
    assert found.accuracy[WORDS] < 0.6, "no row is predicted by its own answer"
    assert found.choice(WORDS) != WORDS


def voted(pool: OneLabelPool[LabelTable], rows: IntArray, use: str) -> IntArray:
    """(n,) the class that the project's PL-KNN gives each row, in folds: votes of neighbours found as its graph is."""
    features = pool.make_features(use).fit(pool.table, pool.train)
    X, candidates = features.transform(pool.table, rows), pool.candidates[rows]
    found = np.full(len(rows), -1)
    for train, test in PartialKFold(5, random_state=draw_seed(pool.settings.seed)).split(X, candidates):
        graph = find_graph(X[train], X[test], pool.settings)
        best = winners(graph.test_neighbors, graph.test_weights, candidates[train])
        found[test] = best.argmax(axis=1)  # the first class if votes are tied
    return found


def test_plknn_is_compared_with_the_neighbours_of_the_project(compare_only: Callable[..., None]) -> None:
    compare_only("plknn")
    pool = answered_pool(FEWEST_ANSWERED, hard=True)
    comparer = Comparer(pool)
    figures = comparer.compare().of("plknn")
    rows = compared_rows(pool)[0]
    inside = pool.candidates[rows, voted(pool, rows, pool.settings.features_in_force)]
    assert figures.consistency == pytest.approx(inside.mean(), abs=1e-12)
    found = comparer.compare_features("plknn")
    assert found is not None
    rows, truth = answered_rows(pool)
    for use in FEATURE_SETS:
        right = (voted(pool, rows, use) == truth)[truth >= 0]
        assert found.accuracy[use] == pytest.approx(right.mean(), abs=1e-12)


def test_features_are_not_compared_before_forty_answers() -> None:
    assert Comparer(answered_pool(FEWEST_ANSWERED - 1)).compare_features("kernelridge") is None


def test_features_are_not_compared_if_there_is_no_choice() -> None:
    table, y = blobs(n=120, truth="none")
    pool = OneLabelPool(table, LearnerSettings())
    for seq, row in enumerate(pool.train[pool.sizes[pool.train] > 1][:60].tolist(), 1):
        pool.apply(Entry(seq, "is", row, "ann", (table.classes[y[row]],)))
    assert Comparer(pool).compare_features("kernelridge") is None


def test_models_are_compared_on_the_current_features() -> None:
    def width(use: str) -> int:
        return Comparer(answered_pool(0, adopted_features=use))._features_of(np.arange(1), None)[0].shape[1]

    widths = {use: width(use) for use in FEATURE_SETS}
    assert widths[MEANING] == 3
    assert widths[BOTH] >= widths[WORDS] > widths[MEANING]


# The choice


@pytest.mark.parametrize(
    ("in_force", "rows", "words", "meaning", "both", "chosen"),
    [
        (BOTH, 40, 0.60, 0.85, 0.65, MEANING),  # 8 rows more
        (BOTH, 40, 0.60, 0.75, 0.65, BOTH),  # 4 rows more: noise
        (BOTH, 39, 0.10, 0.90, 0.10, BOTH),  # too few rows
        (BOTH, 100, 0.62, 0.62, 0.60, WORDS),  # never more than a point below the built-in features
        (BOTH, 100, 0.61, 0.61, 0.60, BOTH),
        (MEANING, 100, 0.62, 0.60, 0.64, BOTH),
        (WORDS, 100, 0.60, 0.65, 0.60, WORDS),
        (WORDS, 100, 0.60, 0.66, 0.60, MEANING),
        (MEANING, 100, 0.60, 0.66, 0.66, MEANING),  # a tie stays
    ],
)
def test_feature_choice_follows_significant_differences(
    in_force: str, rows: int, words: float, meaning: float, both: float, chosen: str
) -> None:
    found = FeatureComparison({BOTH: both, WORDS: words, MEANING: meaning}, "kernelridge", rows)
    assert found.choice(in_force) == chosen


def test_incomplete_measurement_keeps_the_features() -> None:
    assert FeatureComparison({MEANING: 0.9, WORDS: 0.5}, "kernelridge", 90).choice(BOTH) == BOTH


def test_comparison_with_features_survives_storing() -> None:
    features = FeatureComparison({BOTH: 0.7, WORDS: 0.6, MEANING: 0.8}, "kernelridge", 50)
    found = ModelComparison((ModelFigures("plknn"),), "plknn", 90, 10, features)
    assert ModelComparison.from_json(found.to_json()) == found
    stored = found.to_json()
    del stored["features"]  # as stored before there was a choice
    assert ModelComparison.from_json(stored).features is None


# Settings


def test_settings_start_with_both_and_name_the_current_features() -> None:
    assert LearnerSettings().features_in_force == BOTH
    assert LearnerSettings(adopted_features=MEANING).features_in_force == MEANING
    assert LearnerSettings(features=WORDS, adopted_features=MEANING).features_in_force == WORDS
    for wrong in ({"features": "letters"}, {"adopted_features": AUTOMATIC}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            LearnerSettings(**wrong)


def test_keys_name_features_other_than_both() -> None:
    usual = LearnerSettings()
    by_hand, adopted = LearnerSettings(features=WORDS), LearnerSettings(adopted_features=WORDS)
    assert LearnerSettings(features=BOTH).model_key == usual.model_key
    assert by_hand.model_key == adopted.model_key != usual.model_key
    assert graph_key(by_hand) == graph_key(adopted) != graph_key(usual)
    assert LearnerSettings(features=MEANING).model_key != by_hand.model_key


def test_features_are_measured_with_the_best_model(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def compare_learners(X: np.ndarray, candidates: np.ndarray, learners: list[str], **_: object) -> pd.DataFrame:
        asked.append((X.shape[1], learners))
        line = {"learner": "clpl", "parameters": {}, "candidate_accuracy": 0.8, "kappa": 0.7, "seconds": 1.0}
        return pd.DataFrame([{**line, "accuracy": X.shape[1] / 100, "chosen": True, "note": ""}])

    monkeypatch.setattr(comparing, "compare_learners", compare_learners)
    found = Comparer(answered_pool(FEWEST_ANSWERED)).compare().features
    assert found.model == "clpl"
    assert [names for _, names in asked[1:]] == [["clpl"]] * 3
    assert list(found.accuracy.values()) == [width / 100 for width, _ in asked[1:]]
