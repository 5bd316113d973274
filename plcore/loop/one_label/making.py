"""Making the model of a project's settings, by how it is kept up to date."""

from __future__ import annotations

from typing import Any

from plcore.loop.one_label.asking import RowChooser
from plcore.loop.one_label.models import Model, NeighborModel, ScoredModel
from plcore.loop.one_label.online_model import OnlineModel
from plcore.loop.one_label.pool import OneLabelPool


def make_model(pool: OneLabelPool[Any], chooser: RowChooser) -> Model:
    """The model of the settings, of the candidates as they stand. chooser : keeps the votes that one may go by"""
    if pool.settings.is_trained:
        return ScoredModel(pool)
    if pool.settings.is_online:
        return OnlineModel(pool)
    assert chooser.ranker is not None and chooser.graph is not None  # noqa: S101, PT018 - it keeps the votes for it
    return NeighborModel(pool, chooser.ranker, chooser.graph)
