"""Models of plug-ins: their declarations, and the classifier that only a fit imports."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import check_estimator

from plcore import PLProgressiveClassifier
from plcore.arrays import Plugin, PluginError, parts_barred
from plcore.baselines.declared import MODEL_GROUP, ModelPlugin
from plcore.baselines.plugged import PluggedClassifier
from plcore.evaluation import contaminate
from plcore.loop.one_label import LearnerSettings
from plcore.loop.registry import MODEL_ENTRIES, find_model, plugged_entry

WORDS, BAYES = "Bayes: one bell a feature", "sklearn.naive_bayes:GaussianNB"


@pytest.mark.parametrize(
    ("words", "classifier", "why"),
    [
        ("Bayes", BAYES, "words must be one line, 'NAME: how it learns'. Got 'Bayes'"),
        ("Bayes: ", BAYES, "words must be one line"),
        ("Bayes: one\nbell", BAYES, "words must be one line"),
        (WORDS, "sklearn.naive_bayes", "classifier must be 'package.module:name'. Got 'sklearn.naive_bayes'"),
    ],
)
def test_wrong_declaration_is_refused(words, classifier, why):
    with pytest.raises(ValueError, match=why):
        ModelPlugin(words, classifier)


def test_entry_names_distribution_and_version_and_makes_the_wrapper():
    plugin = Plugin(MODEL_GROUP, "bayes", "winnow-bayes", "2.1", ModelPlugin(WORDS, BAYES, "Bell curves"), None)
    entry = plugged_entry(plugin, plugin.declared)
    assert entry.name == "plugin-bayes"
    assert entry.words == "Bayes: one bell a feature (winnow-bayes 2.1), trained in the background"
    assert (entry.plain, entry.source) == ("Bell curves", "winnow-bayes 2.1")
    y = np.arange(60) % 3
    X = np.random.default_rng(0).normal(size=(60, 2)) + 3 * np.eye(3)[y][:, :2]
    candidates = contaminate(y, "size", p=1.0, r=1, random_state=0)
    model = entry.make(seed=4).fit(X, candidates)
    expected = PLProgressiveClassifier(GaussianNB(), random_state=4).fit(X, candidates)
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))  # noqa: S301


def test_wrapper_passes_checks_of_scikit_learn():
    check_estimator(PluggedClassifier("sklearn.tree:DecisionTreeClassifier"), on_skip=None)


def test_classifier_is_imported_only_by_fit():
    with parts_barred("not here."):
        model = clone(PluggedClassifier(BAYES))
        with pytest.raises(PluginError, match="not here"):
            model.fit([[0.0], [1.0]], [0, 1])
    assert model.fit([[0.0], [1.0]], [0, 1]).predict([[0.9]]) == [1]
    with pytest.raises(PluginError, match=r"must return a classifier with predict_proba[.] Got StandardScaler"):
        PluggedClassifier("sklearn.preprocessing:StandardScaler").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(PluginError, match=r"must return a classifier with predict_proba[.] Got NoneType"):
        PluggedClassifier("sklearn:__version__").fit([[0.0], [1.0]], [0, 1])


def test_missing_plugin_has_entry_that_fails_in_fit(monkeypatch):
    settings = LearnerSettings(model="plugin-lost")
    assert settings.is_trained
    assert find_model("plugin-lost").words == "plugin-lost: a plug-in that is not there"
    with pytest.raises(PluginError, match=r"a plug-in that is not installed or was left out.*winnow plugins"):
        settings.model_entry.make().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="model must be one of"):
        LearnerSettings(model="lost")
    with pytest.raises(KeyError):
        find_model("lost")


def test_another_version_of_a_plugin_has_another_key(monkeypatch):
    keys = []
    for version in ("1.0", "1.1"):
        plugin = Plugin(MODEL_GROUP, "bayes", "winnow-bayes", version, ModelPlugin(WORDS, BAYES), None)
        monkeypatch.setitem(MODEL_ENTRIES, "plugin-bayes", plugged_entry(plugin, plugin.declared))
        keys.append(LearnerSettings(model="plugin-bayes").model_key)
    assert len(set(keys)) == 2
    assert all(key.startswith("plugin-bayes-") for key in keys)
