"""A minimal in-memory table for LabelVectorLearner."""

from __future__ import annotations

import numpy as np

from plcore.loop.label_vectors import LabelVectorLearner
from tests.plcore.loop.fake_table import FakeFeatures


class FakeVectors:
    def __init__(self, X, cells, classes=None):
        self.X = np.asarray(X, dtype=float)
        self.label_vectors = np.asarray(cells, dtype=np.int8)
        self.label_vectors.flags.writeable = False
        self.classes = tuple(classes or (f"l{number}" for number in range(self.label_vectors.shape[1])))
        self.ids = np.array([f"id{row}" for row in range(len(self.X))], dtype=object)

    def features(self):
        return FakeFeatures()


def vectors(n=40, L=5, d=4, known=0.3, full=0.3, seed=0):
    """Label vectors that depend on the features, and their truth. known: share of known cells; full: of full rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    truth = (X @ rng.normal(size=(d, L)) + 0.3 * rng.normal(size=(n, L)) > 0.4).astype(np.int8)
    cells = np.where(rng.random((n, L)) < known, truth, -1)
    cells[rng.random(n) < full] = -2
    cells = np.where(cells == -2, truth, cells)
    return FakeVectors(X, cells), truth


def due(learner):
    """The entry up to which the model is due to be refitted (0: the start); None while no fit is due."""
    job = learner.job()
    return None if job is None else job.seq


def rebuilt(table, settings, entries):
    """The learner after these entries with the model that is due; it equals a long-running one."""
    learner = LabelVectorLearner(table, settings)
    for entry in entries:
        learner.apply(entry)
    if (job := learner.job()) is not None:
        learner.adopt(job.run())
    return learner
