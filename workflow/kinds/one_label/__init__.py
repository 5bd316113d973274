"""Projects with one true label among candidates: a `workflow.kinds.Kind`, its functions by file."""

from __future__ import annotations

from plcore.loop.one_label import ANSWERS
from workflow.kinds.one_label.answering import answer
from workflow.kinds.one_label.batching import BATCHING
from workflow.kinds.one_label.build import build_learner, checkpoint_of, first_learner, keep_beside, n_to_ask
from workflow.kinds.one_label.comparing import (
    choose_model,
    is_automatic,
    make_comparer,
    make_random_order,
    make_table_comparer,
    make_table_replays,
    model_of,
)
from workflow.kinds.one_label.correcting import CORRECTIONS, correct
from workflow.kinds.one_label.counting import count
from workflow.kinds.one_label.describing import describe
from workflow.kinds.one_label.exporting import FORMATS, GIVEN_BACK, snapshot
from workflow.kinds.one_label.forms import forms_now
from workflow.kinds.one_label.glance import glance
from workflow.kinds.one_label.mapping import answered_and_open, label_to_ask, labels_on_map, named_on_map
from workflow.kinds.one_label.progress import read_progress, watched
from workflow.kinds.one_label.queue import has_blind_checks, list_queue, queue_lines, queue_rows
from workflow.kinds.one_label.replaying import labels_at, make_pool
from workflow.kinds.one_label.reviewing import find_answers, open_row
from workflow.kinds.one_label.scores import scores_given
from workflow.kinds.one_label.settings import (
    DRAWN,
    NAME,
    default_settings,
    doubts,
    fits,
    is_stored,
    read_settings,
    settle_change,
)
from workflow.kinds.one_label.shortlists import shortlist_view
from workflow.kinds.one_label.showing import get_ready
from workflow.kinds.one_label.similar import answered_labels, blind_checks, shown_to_all
from workflow.kinds.one_label.stopping import DEFAULT_RULES, share_settled, stop_view
from workflow.kinds.one_label.telling import tell_figures, tell_predictions, tell_question
from workflow.kinds.one_label.training import (
    background_training,
    give_model,
    make_trainer,
    version_key,
    worker_settings,
)
from workflow.kinds.one_label.truth import hides_truth, known_places, true_answer
from workflow.kinds.one_label.turn import make_turn, stands_as_before
from workflow.kinds.one_label.voting import votes_of
from workflow.kinds.one_label.words import (
    CAN_CHANGE_CLASSES,
    CAN_QUALIFY,
    COMPARED,
    HAS_DISPUTES,
    REPLAYS_RANDOM_ORDER,
    TAKES_GROUPS,
    WORDS,
)

__all__ = [
    "ANSWERS",
    "BATCHING",
    "CAN_CHANGE_CLASSES",
    "CAN_QUALIFY",
    "COMPARED",
    "CORRECTIONS",
    "DEFAULT_RULES",
    "DRAWN",
    "FORMATS",
    "GIVEN_BACK",
    "HAS_DISPUTES",
    "NAME",
    "REPLAYS_RANDOM_ORDER",
    "TAKES_GROUPS",
    "WORDS",
    "answer",
    "answered_and_open",
    "answered_labels",
    "background_training",
    "blind_checks",
    "build_learner",
    "checkpoint_of",
    "choose_model",
    "correct",
    "count",
    "default_settings",
    "describe",
    "doubts",
    "find_answers",
    "first_learner",
    "fits",
    "forms_now",
    "get_ready",
    "give_model",
    "glance",
    "has_blind_checks",
    "hides_truth",
    "is_automatic",
    "is_stored",
    "keep_beside",
    "known_places",
    "label_to_ask",
    "labels_at",
    "labels_on_map",
    "list_queue",
    "make_comparer",
    "make_pool",
    "make_random_order",
    "make_table_comparer",
    "make_table_replays",
    "make_trainer",
    "make_turn",
    "model_of",
    "n_to_ask",
    "named_on_map",
    "open_row",
    "queue_lines",
    "queue_rows",
    "read_progress",
    "read_settings",
    "scores_given",
    "settle_change",
    "share_settled",
    "shortlist_view",
    "shown_to_all",
    "snapshot",
    "stands_as_before",
    "stop_view",
    "tell_figures",
    "tell_predictions",
    "tell_question",
    "true_answer",
    "version_key",
    "votes_of",
    "watched",
    "worker_settings",
]
