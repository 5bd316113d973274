"""On public data an answer and the next question cost a small part of a fit."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import MinMaxScaler

from plcore.loop.label_vectors.learner import LabelVectorLearner
from plcore.loop.label_vectors.settings import LabelVectorSettings
from tests.plcore.loop.label_vectors.test_learner import answers

MOST = 1 / 20
"""Of the CPU time of a fit, measured next to it; about 1/250 is usual."""


class PublicTable:
    """Features scaled as those of tables, labels of which 2% of the cells and a twentieth of the rows are known."""

    def __init__(self, path):
        with np.load(path) as stored:
            self.truth = stored["Y"].astype(np.int8)
            if "X" in stored.files:
                self.X = MinMaxScaler().fit_transform(stored["X"].astype(float))
            else:
                parts = (stored["data"], stored["indices"], stored["indptr"])
                self.X = sparse.csr_matrix(parts, shape=tuple(stored["shape"]), dtype=float)
        n, L = self.truth.shape
        known = np.random.default_rng(0).random((n, L)) < 0.02
        known[: n // 20] = True
        self.label_vectors = np.where(known, self.truth, -1).astype(np.int8)
        self.classes = tuple(f"l{column}" for column in range(L))
        self.ids = np.arange(n).astype(str)

    def features(self):
        return self

    def fit(self, table, rows):
        return self

    def transform(self, table, rows):
        return self.X[rows]


@pytest.mark.public_data
@pytest.mark.parametrize(
    ("name", "question"),
    [
        pytest.param("cal500", "cell", marks=pytest.mark.proof),
        ("cal500", "instance"),
        pytest.param("corel5k", "cell", marks=pytest.mark.proof),  # the first fit takes long
    ],
)
def test_next_question_costs_far_less_than_a_fit(data_folder, name, question):
    table = PublicTable(data_folder / f"{name}.npz")
    learner = LabelVectorLearner(table, LabelVectorSettings(question=question, control_share=0.1))
    start = time.process_time()
    learner.adopt(learner.job().run())
    fit = time.process_time() - start
    took = []
    for _ in range(15):
        asked = learner.next_question("ann")
        entries = answers(asked, table.truth, learner.seq + 1)
        start = time.process_time()
        for entry in entries:
            learner.apply(entry)
        assert learner.next_question("ann") is not None
        took.append(time.process_time() - start)
    assert float(np.median(took)) < MOST * fit, (fit, took)
