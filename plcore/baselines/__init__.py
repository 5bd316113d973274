"""Baselines: learners from other papers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays.lazy import lazy_names

if TYPE_CHECKING:
    from plcore.baselines.adaptive import PLAdaptiveNeighborsClassifier
    from plcore.baselines.aggd import PLAGGDClassifier
    from plcore.baselines.gaussian_process import PLGPClassifier
    from plcore.baselines.lsb_cmm import LSBCMMClassifier
    from plcore.baselines.plcl import PLCLClassifier
    from plcore.baselines.progressive import PLProgressiveClassifier
    from plcore.baselines.regisl import RegISLClassifier
    from plcore.baselines.sure import SUREClassifier
else:
    __getattr__, __dir__ = lazy_names(__name__)

__all__ = [
    "LSBCMMClassifier",
    "PLAGGDClassifier",
    "PLAdaptiveNeighborsClassifier",
    "PLCLClassifier",
    "PLGPClassifier",
    "PLProgressiveClassifier",
    "RegISLClassifier",
    "SUREClassifier",
]
