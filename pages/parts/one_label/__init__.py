"""Parts of pages for projects of one true label among candidates: see `pages.parts.kinds.KindParts`."""

from __future__ import annotations

from pages.parts.one_label.card import (
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
from pages.parts.one_label.classes import classes_part, groups_part
from pages.parts.one_label.create import FIRST_QUESTION, PREPARING, settings, summary
from pages.parts.one_label.progress import progress_page
from pages.parts.one_label.rows import queue_page, review_row
