"""Projects with one true label among candidates: a `workflow.kinds.Kind`, its functions by file."""

from __future__ import annotations

from plcore.loop.one_label import ANSWERS
from workflow.kinds.one_label.answering import BATCHING
from workflow.kinds.one_label.build import CACHE, CLASSES, DISPUTES, build_learner, first_learner, make_pool
from workflow.kinds.one_label.exporting import FORMATS, GIVEN_BACK, HIDDEN_TRUTH, PROGRAMS, describe, snapshot
from workflow.kinds.one_label.forms import FORMS
from workflow.kinds.one_label.progress import DEFAULT_RULES, count, glance, read_progress, stop_view, watched
from workflow.kinds.one_label.reviewing import find_answers, open_row, votes_of
from workflow.kinds.one_label.rows import MAP, QUEUE, SCORES
from workflow.kinds.one_label.settings import (
    CAN_QUALIFY,
    DRAWN,
    NAME,
    STORED_AS,
    TAKES_GROUPS,
    WORDS,
    default_settings,
    fits,
    read_settings,
    settle_change,
)
from workflow.kinds.one_label.shortlists import SHORTLISTS
from workflow.kinds.one_label.training import COMPARING, REPLAYS, WORKER, background_training, give_model
from workflow.kinds.one_label.turn import make_turn
