"""Projects of label vectors, with yes, no or not asked for every label: a `workflow.kinds.Kind`, its functions by
file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays import lazy_names
from plcore.loop import VECTOR_ANSWERS
from workflow.kinds.kind import KindWords

if TYPE_CHECKING:
    from plcore.tables import VECTOR_FORMATS as FORMATS
    from workflow.kinds.label_vectors.build import build_learner, first_learner, make_pool
    from workflow.kinds.label_vectors.exporting import GIVEN_BACK, PROGRAMS, describe, snapshot
    from workflow.kinds.label_vectors.progress import DEFAULT_RULES, count, glance, read_progress, stop_view, watched
    from workflow.kinds.label_vectors.reviewing import count_answers, find_answers, open_row, votes_of
    from workflow.kinds.label_vectors.rows import MAP, QUEUE
    from workflow.kinds.label_vectors.settings import (
        BATCHING,
        CACHE,
        CAN_QUALIFY,
        CLASSES,
        COMPARING,
        DISPUTES,
        DRAWN,
        FORMS,
        HIDDEN_TRUTH,
        NEIGHBORS,
        REPLAYS,
        SCORES,
        SHORTLISTS,
        TAKES_GROUPS,
        WORKER,
        default_settings,
        fits,
        read_settings,
        settle_change,
    )
    from workflow.kinds.label_vectors.training import background_training, give_model
    from workflow.kinds.label_vectors.turn import make_turn
else:
    __getattr__, __dir__ = lazy_names(__name__)

NAME = "label_vectors"

ANSWERS = VECTOR_ANSWERS

STORED_AS: tuple[str | None, ...] = ("multilabel",)
"""Name of the kind in stored settings: it never changes."""

WORDS = KindWords(
    title="label vectors: yes, no or not asked for every label",
    classes="labels",
    finished="Every label is known, or its row is excluded.",
)
