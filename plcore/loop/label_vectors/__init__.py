"""The loop for label vectors with missing entries: yes, no, or not asked, for every label of every row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays.lazy import lazy_names

if TYPE_CHECKING:
    from plcore.loop.label_vectors.estimates import label_f1
    from plcore.loop.label_vectors.export import LabelVectorExport
    from plcore.loop.label_vectors.fold import (
        ANSWERS,
        KINDS,
        SAID,
        SETTLED,
        UNKNOWN,
        VALUES,
        FoldedVector,
        LabelVectorFold,
    )
    from plcore.loop.label_vectors.learner import LabelVectorLearner
    from plcore.loop.label_vectors.model import Refreshed, RefreshJob
    from plcore.loop.label_vectors.pool import LabelVectorPool
    from plcore.loop.label_vectors.registry import (
        AUTOMATIC,
        BMLCS,
        CRITERION_ENTRIES,
        ONE_VS_ALL,
        PREDICTOR_ENTRIES,
        QUESTION_ENTRIES,
        RANDOM,
    )
    from plcore.loop.label_vectors.reports import (
        ControlEstimate,
        HeldOut,
        LabelVectorPoint,
        LabelVectorProgress,
        LabelVectorQuestion,
        LabelVectorState,
        PredictorComparison,
        Share,
    )
    from plcore.loop.label_vectors.settings import LabelVectorSettings
else:
    __getattr__, __dir__ = lazy_names(__name__)
