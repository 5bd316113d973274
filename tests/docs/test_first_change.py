"""A project can use the model that docs/first-change.md adds, and Automatic can compare it."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from plcore.evaluation import compare_learners
from plcore.evaluation.learners import LEARNER_ENTRIES, LearnerEntry
from plcore.loop import MODEL_ENTRIES, ModelEntry, Upkeep
from plcore.loop.one_label import ActiveLearner, LearnerSettings, Trainer
from tests.conftest import ROOT
from tests.docs.pages import blocks
from tests.plcore.loop.fake_table import blobs

PAGE = ROOT / "docs" / "first-change.md"


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """Names that the page's blocks define: the class, its two entries, and what a grid search tries."""
    module = ModuleType("centroid")
    sys.modules[module.__name__] = module  # or its class could not be pickled
    found = vars(module)
    found |= {"ModelEntry": ModelEntry, "Upkeep": Upkeep, "LearnerEntry": LearnerEntry}
    written, model, learner, grid = blocks(PAGE, "python")
    exec(compile(written, "first-change.md", "exec"), found)  # noqa: S102
    found["model"] = eval(model, found)  # noqa: S307
    found["learner"] = eval(learner, found)  # noqa: S307
    found["grid"] = eval("{" + grid + "}", found)  # noqa: S307
    return found


def test_first_change_model_passes_checks_of_scikit_learn(names: dict[str, Any]) -> None:
    check_estimator(names["PLCentroidClassifier"](), on_skip=None)


def test_first_change_model_validates_and_uses_max_iter(names: dict[str, Any]) -> None:
    made, grid = names["PLCentroidClassifier"], names["grid"]["PLCentroidClassifier"]
    table, _ = blobs(n=60)
    with pytest.raises(ValueError, match="'max_iter' parameter"):
        made(max_iter=0).fit(table.X, table.candidates)
    assert set(grid) == set(made().get_params())
    for values in grid.values():
        assert len(values) >= 2
    for iterations in grid["max_iter"]:
        assert made(max_iter=iterations).fit(table.X, table.candidates).n_iter_ <= iterations


def test_first_change_model_learns_in_project(names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODEL_ENTRIES, "centroid", names["model"])
    table, y = blobs(n=60)
    learner = ActiveLearner(table, LearnerSettings(model="centroid"))
    seen: list[int] = []
    version = Trainer(learner.pool).train(lambda step, _: seen.append(step))
    assert seen == list(range(1, len(seen) + 1)) != []
    assert version.converged
    learner.publish(version.scores, [version.point])
    assert learner.next_question("ann").predicted is not None
    model = names["model"].make().fit(table.X, table.candidates)
    assert (model.predict(table.X) == y).mean() > 0.8
    assert table.candidates[np.arange(60), model.transduction_].all()


def test_first_change_model_is_compared(names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LEARNER_ENTRIES, "centroid", names["learner"])
    table, _ = blobs(n=60)
    (found,) = compare_learners(table.X, table.candidates, ["centroid"], 3, random_state=0).to_dict("records")
    assert found["note"] == ""
    assert found["kappa"] > 0.5
