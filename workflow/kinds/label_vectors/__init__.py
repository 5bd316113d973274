"""Projects of label vectors, yes, no or not asked for every label: a `workflow.kinds.Kind`, its functions by file."""

from __future__ import annotations

from plcore.loop.label_vectors import ANSWERS
from workflow.kinds.label_vectors.answering import answer
from workflow.kinds.label_vectors.batching import BATCHING
from workflow.kinds.label_vectors.build import (
    build_learner,
    checkpoint_of,
    first_learner,
    keep_beside,
    n_to_ask,
)
from workflow.kinds.label_vectors.comparing import (
    choose_model,
    is_automatic,
    make_comparer,
    make_random_order,
    make_table_comparer,
    make_table_replays,
    model_of,
)
from workflow.kinds.label_vectors.correcting import CORRECTIONS, correct
from workflow.kinds.label_vectors.counting import count
from workflow.kinds.label_vectors.describing import describe
from workflow.kinds.label_vectors.exporting import FORMATS, GIVEN_BACK, snapshot
from workflow.kinds.label_vectors.forms import forms_now
from workflow.kinds.label_vectors.glance import glance
from workflow.kinds.label_vectors.mapping import answered_and_open, label_to_ask, labels_on_map, named_on_map
from workflow.kinds.label_vectors.progress import read_progress, watched
from workflow.kinds.label_vectors.queue import has_blind_checks, list_queue, queue_lines, queue_rows
from workflow.kinds.label_vectors.replaying import labels_at, make_pool
from workflow.kinds.label_vectors.reviewing import find_answers, open_row
from workflow.kinds.label_vectors.scores import scores_given
from workflow.kinds.label_vectors.settings import (
    DRAWN,
    NAME,
    default_settings,
    doubts,
    fits,
    is_stored,
    read_settings,
    settle_change,
)
from workflow.kinds.label_vectors.shortlists import shortlist_view
from workflow.kinds.label_vectors.showing import get_ready
from workflow.kinds.label_vectors.similar import answered_labels, blind_checks, shown_to_all
from workflow.kinds.label_vectors.stopping import DEFAULT_RULES, share_settled, stop_view
from workflow.kinds.label_vectors.telling import tell_figures, tell_predictions, tell_question
from workflow.kinds.label_vectors.training import (
    background_training,
    give_model,
    make_trainer,
    version_key,
    worker_settings,
)
from workflow.kinds.label_vectors.truth import hides_truth, known_places, true_answer
from workflow.kinds.label_vectors.turn import make_turn, stands_as_before
from workflow.kinds.label_vectors.voting import votes_of
from workflow.kinds.label_vectors.words import (
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
