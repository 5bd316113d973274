"""A learner that is given its neighbours equals one that finds them."""

from __future__ import annotations

import numpy as np
import pytest

from plcore.loop.entries import Entry
from plcore.loop.one_label.learner import ActiveLearner
from plcore.loop.one_label.settings import LearnerSettings
from plcore.neighbors.graph import Graph
from tests.plcore.loop.fake_table import blobs


def told(learner, n=25):
    """What it asks and says while its first choices are answered."""
    said = []
    for seq in range(1, n + 1):
        question = learner.next_question("ann")
        learner.apply(Entry(seq, "is", question.row, "ann", question.choices[:1]))
        said.append((question, learner.progress()))
    return said, learner.disambiguate().labels.tolist()


@pytest.mark.parametrize("truth", ["all", "none"])
@pytest.mark.parametrize("strategy", ["apl", "mp", "act"])
def test_a_kept_graph_changes_nothing(strategy, truth):
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


def test_a_graph_of_another_table_is_refused():
    table, _ = blobs(n=60)
    other, _ = blobs(n=90)
    graph = ActiveLearner(table).graph
    with pytest.raises(
        ValueError, match="graph must have the neighbours of 60 training and 30 test rows, 10 for"
    ):
        ActiveLearner(other, graph=graph)
    with pytest.raises(ValueError, match="Fix: find it anew"):
        ActiveLearner(table, LearnerSettings(n_neighbors=9), graph=graph)
