"""Contamination models: their average and exact properties; candidate_accuracy by known answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.naive_bayes import GaussianNB

from plcore import CandidateError
from plcore.evaluation import candidate_accuracy, contaminate

N, M = 6000, 6
Y = np.random.default_rng(0).integers(0, M, N)
X = np.eye(M)[Y] + np.random.default_rng(1).normal(size=(N, M))


@pytest.mark.parametrize(
    "options",
    [{"q": 0.3}, {"model": "bayes", "q": 0.3, "X": X}, {"model": "size", "r": 2, "p": 0.5}],
    ids=["random", "bayes", "size"],
)
def test_true_label_stays_a_candidate_and_seeds_reproduce(options):
    sets = contaminate(Y, random_state=3, **options)
    assert sets.dtype == bool
    assert sets.shape == (N, M)
    assert sets[np.arange(N), Y].all()
    np.testing.assert_array_equal(sets, contaminate(Y, random_state=3, **options))
    assert (sets != contaminate(Y, random_state=4, **options)).any()
    generator = np.random.default_rng(3)
    np.testing.assert_array_equal(sets, contaminate(Y, random_state=generator, **options))


def test_random_model_adds_classes_evenly():
    sets = contaminate(Y, "random", 0.7, 0.5, random_state=0)
    others = sets.sum(axis=1) - 1
    assert others.mean() == pytest.approx(0.7 * 0.5 * (M - 1), abs=0.06)
    assert (others == 0).mean() == pytest.approx(0.3 + 0.7 * 0.5 ** (M - 1), abs=0.03)
    assert contaminate(Y, p=0.0, q=1.0).sum() == N
    assert contaminate(Y, p=1.0, q=1.0).all()
    assert contaminate(Y, p=1.0, q=0.0).sum() == N


def test_bayes_model_adds_classes_by_posterior_rank():
    q = 0.4
    sets = contaminate(Y, "bayes", 1.0, q, X=X, random_state=0)
    posterior = GaussianNB().fit(X, Y).predict_log_proba(X)
    joined = np.zeros(M)
    for row in range(N):
        others = sorted((label for label in range(M) if label != Y[row]), key=lambda label: posterior[row, label])
        for k, label in enumerate(others, start=1):
            joined[k] += sets[row, label]
    expected = np.minimum(1, 2 * np.arange(M) * q / M)  # the k-th in increasing posterior
    np.testing.assert_allclose(joined / N, expected, atol=0.025)
    assert sets.sum(axis=1).mean() == pytest.approx(1 + (M - 1) * q, abs=0.05)
    np.testing.assert_array_equal(sets, contaminate(Y, "bayes", 1.0, q, X=sparse.csr_matrix(X), random_state=0))


def test_bayes_probabilities_are_capped_at_one():
    sets = contaminate(Y, "bayes", q=0.9, X=X, random_state=0)
    posterior = GaussianNB().fit(X, Y).predict_log_proba(X)
    posterior[np.arange(N), Y] = -np.inf
    assert sets[np.arange(N), posterior.argmax(axis=1)].all()  # 2 * 5 * 0.9 / 6 > 1


@pytest.mark.parametrize(("p", "r"), [(1.0, 1), (0.4, 2), (0.5, 5), (0.3, 0), (0.0, 3)])
def test_size_model_adds_exactly_r_classes(p, r):
    sets = contaminate(Y, "size", p=p, r=r, random_state=0)
    others = sets.sum(axis=1) - 1
    assert set(others.tolist()) <= {0, r}
    if r:
        assert (others == r).sum() == round(p * N)
        if 0 < r < M - 1 and p:
            false = sets.copy()
            false[np.arange(N), Y] = False
            share = false.sum(axis=0) / false.sum()
            np.testing.assert_allclose(share, 1 / M, atol=0.02)


def test_columns_are_the_sorted_labels():
    sets = contaminate(["wren", "emu", "wren"], q=0.0)
    assert sets.tolist() == [[False, True], [True, False], [False, True]]


def test_classes_without_rows_can_be_given():
    part = Y[Y != 2][:2000]
    features = X[Y != 2][:2000]
    for options in ({"q": 0.4}, {"model": "bayes", "q": 0.4, "X": features}, {"model": "size", "r": 3}):
        sets = contaminate(part, random_state=1, classes=range(M), **options)
        assert sets.shape == (2000, M)
        assert sets[np.arange(2000), part].all()
        # Under "bayes" a class without rows is the least likely: it joins with probability 2 * 1 * q / m.
        share = {"bayes": 2 * 0.4 / M, "size": 3 / (M - 1)}.get(options.get("model"), 0.4)
        assert sets[:, 2].mean() == pytest.approx(share, abs=0.04)
        np.testing.assert_array_equal(
            contaminate(Y, random_state=1, classes=range(M), **{**options, "X": X}),
            contaminate(Y, random_state=1, **{**options, "X": X}),
        )
    turned = contaminate(["emu", "wren"], q=0.0, classes=["wren", "owl", "emu"])
    assert turned.tolist() == [[False, False, True], [True, False, False]]
    for classes in (["wren"], ["wren", "wren", "emu"]):
        with pytest.raises(CandidateError, match="classes must be different"):
            contaminate(["emu", "wren"], q=0.0, classes=classes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "noise", "q": 0.5}, "model must be one of 'random', 'bayes', 'size'. Got 'noise'"),
        ({}, "q must be a probability .* for model 'random'. Got None"),
        ({"q": 1.5}, "q must be"),
        ({"q": 0.5, "p": -0.1}, "p must be"),
        ({"model": "bayes", "q": 0.5}, "X must be given"),
        ({"model": "size"}, r"r must be a number of false labels in 0\.\.5 .* Got None"),
        ({"model": "size", "r": 6}, "Got 6"),
        ({"model": "size", "r": 1.5}, "Got 1.5"),
        ({"model": "bayes", "q": 0.5, "X": X[:9]}, "inconsistent"),
        ({"model": "bayes", "q": 0.5, "X": np.full((N, 2), 0.1)}, "X must differ between rows"),
        ({"model": "bayes", "q": 0.5, "X": np.eye(N, 1) * 1e-200}, "X must differ between rows"),
        ({"model": "bayes", "q": 0.5, "X": np.eye(N, 1) * 1e200}, "X must differ between rows"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        contaminate(Y, **options)


def test_only_exact_labels_can_be_contaminated():
    with pytest.raises(CandidateError, match="vector of exact labels"):
        contaminate(np.eye(3, dtype=bool), q=0.5)


SETS = np.array([[1, 1, 0], [0, 1, 0], [1, 0, 1], [0, 0, 1]], dtype=bool)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, lambda y: y.astype(int)])
def test_candidate_accuracy_is_the_share_of_predictions_inside_the_sets(form):
    assert candidate_accuracy(form(SETS), [0, 0, 2, 2]) == 0.75
    assert candidate_accuracy(form(SETS), [5, -1, 2, 2]) == 0.5
    assert candidate_accuracy(form(SETS), ["b", "b", "b", "c"], classes=["a", "b", "c"]) == 0.75
    assert candidate_accuracy(form(SETS), [0, 0, 2, 2], sample_weight=[1, 0, 1, 1]) == 1.0


def test_candidate_accuracy_uses_column_names_of_a_frame():
    frame = pd.DataFrame(SETS, columns=["wren", "robin", "emu"])
    assert candidate_accuracy(frame, ["wren", "robin", "robin", "dodo"]) == 0.5
    assert candidate_accuracy(["x", "y"], ["x", "x"]) == 0.5  # labels: one candidate each


def test_candidate_accuracy_refuses_invalid_input():
    with pytest.raises(ValueError, match="4 labels"):
        candidate_accuracy(SETS, [0, 1])
    with pytest.raises(CandidateError, match="name the 3 columns"):
        candidate_accuracy(SETS, [0] * 4, classes=[0, 1])
    with pytest.raises(CandidateError, match="different from one another"):
        candidate_accuracy(SETS, [0] * 4, classes=[0, 1, 1])
    for candidates, labels in (
        (SETS, ["wren"] * 4),
        (SETS, [True] * 4),
        (pd.DataFrame(SETS, columns=list("abc")), [0] * 4),
    ):
        with pytest.raises(CandidateError, match=r"holds (text|numbers|bools) such as .* but the classes are"):
            candidate_accuracy(candidates, labels)
    with pytest.raises(CandidateError, match="row 1"):
        candidate_accuracy([[1, 0], [0, 0]], [0, 0])
    with pytest.raises(ValueError, match="at least one"):
        candidate_accuracy(SETS[:0], [])
    for weights, message in (([1, 2], "sample_weight.shape"), (np.zeros(4), "non-zero"), ([1, 2, 3, np.nan], "NaN")):
        with pytest.raises(ValueError, match=message):
            candidate_accuracy(SETS, [0] * 4, sample_weight=weights)
