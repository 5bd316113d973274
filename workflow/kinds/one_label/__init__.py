"""Projects with one true label among candidates: a `workflow.kinds.Kind`, its functions by file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays import lazy_names
from plcore.loop import ONE_LABEL_ANSWERS
from workflow.kinds.kind import KindWords

if TYPE_CHECKING:
    from plcore.tables import FILE_FORMATS as FORMATS
    from plcore.tables import NATURE_FORMATS as GIVEN_BACK
    from workflow.kinds.one_label.answering import BATCHING
    from workflow.kinds.one_label.build import (
        CACHE,
        CLASSES,
        DISPUTES,
        NEIGHBORS,
        build_learner,
        first_learner,
        make_pool,
    )
    from workflow.kinds.one_label.exporting import HIDDEN_TRUTH, PROGRAMS, describe, snapshot
    from workflow.kinds.one_label.forms import FORMS
    from workflow.kinds.one_label.progress import DEFAULT_RULES, count, glance, read_progress, stop_view, watched
    from workflow.kinds.one_label.reviewing import count_answers, find_answers, open_row, votes_of
    from workflow.kinds.one_label.rows import MAP, QUEUE, SCORES
    from workflow.kinds.one_label.settings import (
        CAN_QUALIFY,
        DRAWN,
        TAKES_GROUPS,
        default_settings,
        fits,
        read_settings,
        settle_change,
    )
    from workflow.kinds.one_label.shortlists import SHORTLISTS
    from workflow.kinds.one_label.training import COMPARING, REPLAYS, WORKER, background_training, give_model
    from workflow.kinds.one_label.turn import make_turn
else:
    __getattr__, __dir__ = lazy_names(__name__)

NAME = "one_label"

ANSWERS = ONE_LABEL_ANSWERS

STORED_AS: tuple[str | None, ...] = (None, NAME)
"""Names of the kind in stored settings; the oldest settings name none."""

WORDS = KindWords(title="one true label among candidates", classes="classes", finished="No row is open any more.")
