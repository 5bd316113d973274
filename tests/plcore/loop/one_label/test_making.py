"""The model of a project is chosen by how it is kept up to date."""

from __future__ import annotations

import pytest

from plcore import ActiveLearner, LearnerSettings
from plcore.loop.one_label.asking import RowChooser
from plcore.loop.one_label.learner import make_model
from plcore.loop.one_label.models import NeighborModel, OnlineModel, ScoredModel
from tests.plcore.loop.fake_table import blobs


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("plknn", NeighborModel),
        ("pegasos-max", OnlineModel),
        ("kernelridge", ScoredModel),
        ("plsvc", ScoredModel),
    ],
)
def test_the_settings_say_which(model, kind):
    pool = ActiveLearner(blobs(30)[0], LearnerSettings(model=model, n_neighbors=3)).pool
    made = make_model(pool, RowChooser(pool, None, lambda: made))
    assert type(made) is kind
