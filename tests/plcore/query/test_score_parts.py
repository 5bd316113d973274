"""First scores and the queue in parts against the ranker in one process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from plcore.arrays.candidate_sets import CandidateSets
from plcore.blocks.processes import Inline
from plcore.neighbors.graph import neighbor_weights
from plcore.neighbors.near import kept_form
from plcore.neighbors.search.parts import find_parts, scale_rows
from plcore.query import score_parts
from plcore.query.ranker import EffectRanker
from plcore.query.score_parts import ambiguous_of, first_ranking, kept_of
from tests.plcore.neighbors.search.parts.staged import by_row, stage, stage_candidates, surface

N, K = 600, 7


def candidates(n_classes: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    sets = rng.random((N, n_classes)) < 2.5 / n_classes
    sets[np.arange(N), rng.integers(n_classes, size=N)] = True
    return sets


@pytest.mark.parametrize("n_classes", [2, 8, 11, 70, 130])
@pytest.mark.parametrize("search", ["exact", "approximate"])
@pytest.mark.parametrize("weights", ["linear", "uniform"])
def test_scores_and_order_are_those_of_the_ranker_to_the_last_bit(
    tmp_path: Path, n_classes: int, search: str, weights: str
) -> None:
    sets = candidates(n_classes)
    rows = scale_rows(Inline(), stage(tmp_path, surface(N), 140))
    found = find_parts(Inline(), rows, K, search=search, recall=0.5)
    packed = stage_candidates(tmp_path, sets)
    first, scores = first_ranking(Inline(), found, packed, n_classes, N, weights)

    mine = by_row(tmp_path, found.names)
    neighbors = np.hstack([np.arange(N)[:, None], mine["neighbors"]])
    distances = np.hstack([np.zeros((N, 1)), np.sqrt(mine["squared"])])
    ranker = EffectRanker("apl", K + 1).fit_graph(
        neighbors, neighbor_weights(distances, weights), sets, np.arange(N)
    )
    np.testing.assert_array_equal(first, ranker.top())
    np.testing.assert_array_equal(scores, ranker.scores_[first])
    assert scores[0] > 0
    few, best = first_ranking(Inline(), found, packed, n_classes, 10, weights)
    np.testing.assert_array_equal(few, first[:10])
    np.testing.assert_array_equal(best, scores[:10])


@pytest.mark.parametrize("n_classes", [1, 5, 8, 64, 65, 130, 1_000])
def test_packed_candidates_are_read_as_the_loops_take_them(
    n_classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(score_parts, "FEW_CELLS", 700)
    sets = np.random.default_rng(0).random((40, n_classes)) < 0.3
    packed = np.packbits(sets, axis=1, bitorder="little")
    kept, expected = kept_of(packed, n_classes), kept_form(sets)
    if n_classes <= 64:
        np.testing.assert_array_equal(kept, expected)
    else:
        assert isinstance(kept, CandidateSets)
        np.testing.assert_array_equal(np.asarray(kept), sets)
    np.testing.assert_array_equal(ambiguous_of(packed), sets.sum(axis=1) >= 2)
