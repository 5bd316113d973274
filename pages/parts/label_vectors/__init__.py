"""Parts of pages for projects of label vectors: see `pages.parts.kinds.KindParts`."""

from __future__ import annotations

from pages.parts.label_vectors.card import (
    ANSWERING,
    EXPORT,
    LEARNING,
    MAP,
    REVIEW,
    STOP,
    batch_card,
    class_list,
    other_card,
    question_card,
    told,
)
from pages.parts.label_vectors.classes import classes_part, groups_part
from pages.parts.label_vectors.create import FIRST_QUESTION, PREPARING, settings, summary
from pages.parts.label_vectors.progress import progress_page
from pages.parts.label_vectors.rows import queue_page, review_row
