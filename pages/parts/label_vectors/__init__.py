"""Pieces of pages for projects of label vectors: see `pages.parts.kinds.Parts`."""

from __future__ import annotations

from pages.parts.label_vectors.card import SEARCHES_CLASSES, card
from pages.parts.label_vectors.classes import classes
from pages.parts.label_vectors.create import PREPARING, settings, summary
from pages.parts.label_vectors.form import LEARNING
from pages.parts.label_vectors.progress import progress
from pages.parts.label_vectors.queue import queue
from pages.parts.label_vectors.review import review_row
from pages.parts.label_vectors.words import EXPORT, MAP, REVIEW, STOP

__all__ = [
    "EXPORT",
    "LEARNING",
    "MAP",
    "PREPARING",
    "REVIEW",
    "SEARCHES_CLASSES",
    "STOP",
    "card",
    "classes",
    "progress",
    "queue",
    "review_row",
    "settings",
    "summary",
]
