"""The list of learners: names, settings, scaling, and mappings given by the caller."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import ClassifierMixin, clone
from sklearn.preprocessing import StandardScaler

import plcore
from plcore import AutoPLClassifier, CLPLClassifier, PLKernelRidge, PLPegasos, PLPerceptron
from plcore.evaluation.learners import LEARNER_ENTRIES, STAY, LearnerEntry, fit_learner, last_step, read_learners
from plcore.loop.registry import MODEL_ENTRIES
from plcore.sensing.base import MultiLabelClassifier
from tests.plcore.evaluation.told import Told, Weighed

DEFAULTS = ["plknn", "kernelridge", "clpl", "plsvc", "lmplane", "m3pl", "forest"]


@pytest.mark.parametrize("name", LEARNER_ENTRIES)
def test_settings_are_parameters_of_the_learner(name):
    entry = LEARNER_ENTRIES[name]
    assert entry.name == name
    assert entry.settings
    for setting in entry.settings:
        made = last_step(entry.make(setting, np.zeros((1, 1))))
        assert type(made) is type(entry.estimator)
        assert {key: made.get_params()[key] for key in setting} == setting
    before = entry.estimator.get_params()
    assert clone(entry.estimator).get_params() == before, "an entry's estimator is never changed"


def test_learner_has_the_name_and_class_of_the_app_model():
    """The app adopts a learner by its name."""
    for name, entry in LEARNER_ENTRIES.items():
        if name in MODEL_ENTRIES:
            assert type(entry.estimator) is MODEL_ENTRIES[name].estimator
            for option, value in MODEL_ENTRIES[name].options.items():
                assert entry.estimator.get_params()[option] == value
            for setting in entry.settings:
                assert set(setting) <= {MODEL_ENTRIES[name].c_option}
        assert name in MODEL_ENTRIES or type(entry.estimator) not in {
            model.estimator for model in MODEL_ENTRIES.values()
        }


def test_margin_learners_standardise_dense_features():
    X = np.random.default_rng(0).normal(3, 7, size=(20, 2))
    model = LEARNER_ENTRIES["clpl"].make({"C": 3.0}, X).fit(X, np.arange(20) % 2)
    assert isinstance(model.steps[0][1], StandardScaler)
    np.testing.assert_allclose(model[:-1].transform(X).std(axis=0), 1)
    assert isinstance(LEARNER_ENTRIES["clpl"].make({"C": 3.0}, sparse.csr_matrix(X)), CLPLClassifier)
    assert isinstance(LEARNER_ENTRIES[STAY].make({}, X), PLKernelRidge)


def test_every_classifier_of_library_can_be_compared():
    """Except online learners and the automatic choice itself."""
    classes = {
        value
        for name in plcore.__all__
        if inspect.isclass(value := getattr(plcore, name)) and issubclass(value, ClassifierMixin)
    }
    others = {AutoPLClassifier, PLPerceptron, PLPegasos}
    ours = {one for one in classes - others if not issubclass(one, MultiLabelClassifier)}
    assert {type(entry.estimator) for entry in LEARNER_ENTRIES.values()} == ours


def test_baselines_follow_default_learners():
    order = [entry.by_default for entry in LEARNER_ENTRIES.values()]
    assert order == sorted(order, reverse=True)


def test_compared_learners_are_the_default_all_or_named_ones(monkeypatch):
    monkeypatch.setitem(LEARNER_ENTRIES, "rival", LearnerEntry("rival", Told(), by_default=False))
    assert [entry.name for entry in read_learners(None)] == DEFAULTS
    assert [entry.name for entry in read_learners("all")] == list(LEARNER_ENTRIES)
    assert [entry.name for entry in read_learners(["rival", "clpl", "rival"])] == ["rival", "clpl"]
    assert [entry.name for entry in read_learners("clpl")] == ["clpl"]


def test_mapping_replaces_the_built_in_learners():
    own = {"mine": Told(1), 7: CLPLClassifier(C=3.0)}
    first, second = read_learners(own)
    assert (first.name, second.name) == ("mine", "7")
    assert second.settings == ({},)
    made = second.make({}, np.zeros((1, 1)))
    assert made is not own[7]
    assert made.C == 3.0


def test_unsupported_fit_arguments_are_not_passed_on():
    X, y, weights = np.zeros((4, 1)), np.ones((4, 2), dtype=bool), np.ones((4, 2))
    Weighed.seen.clear()
    fit_learner(Weighed(), X, y, candidate_weights=weights, progress=print)
    fit_learner(Weighed(), X, y, candidate_weights=None)
    fit_learner(Told(), X, y, candidate_weights=weights)
    assert len(Weighed.seen) == 2
    assert Weighed.seen[0] is weights
    assert Weighed.seen[1] is None
