"""Pieces of pages for projects of label vectors: see `pages.parts.kinds.KindParts`."""

from __future__ import annotations

from pages.parts.label_vectors.card import (
    batch_card,
    class_list,
    dispute_card,
    qualifying_card,
    question_card,
    told,
)
from pages.parts.label_vectors.classes import classes_part
from pages.parts.label_vectors.create import FIRST_QUESTION, PREPARING, settings, summary
from pages.parts.label_vectors.form import ANSWERING, LEARNING
from pages.parts.label_vectors.groups import groups_part
from pages.parts.label_vectors.progress import progress_page
from pages.parts.label_vectors.queue import queue_page
from pages.parts.label_vectors.review import review_row
from pages.parts.label_vectors.words import EXPORT, MAP, REVIEW, STOP

__all__ = [
    "ANSWERING",
    "EXPORT",
    "FIRST_QUESTION",
    "LEARNING",
    "MAP",
    "PREPARING",
    "REVIEW",
    "STOP",
    "batch_card",
    "class_list",
    "classes_part",
    "dispute_card",
    "groups_part",
    "progress_page",
    "qualifying_card",
    "question_card",
    "queue_page",
    "review_row",
    "settings",
    "summary",
    "told",
]
