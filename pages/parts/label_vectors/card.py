"""The question card of label vectors: the same card, with toggles for all labels or three keys for one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from pages.parts.question_card import (
    Drawing,
    Heading,
    Offer,
    card_data,
    card_of,
    coming_of,
    draw_card,
    keys_of,
    view_of,
    why_stop,
)
from pages.parts.words import percent
from workflow.kinds.label_vectors.showing import LabelLine, ShownVector
from workflow.people.batches import ShownBatch
from workflow.room import Groups
from workflow.seat import Seat
from workflow.standing import Standing

KNOWN_OR_SURE = (
    "A label that was empty at import counts one bit, then the model's own doubt about it as of its latest fit, and "
    "nothing once it is known or its row is set aside: the share of the bits that is gone"
)
"""What the share on the card, and the metric of the Progress page, means."""

_CARD = card_of("label_vectors")

DONE = "Every label of every row is known, or was set aside."


def told(
    question: ShownVector | None, standing: Standing, notice: str | None, offer: Offer | None = None
) -> dict[str, Any]:
    """What the card is told of the question, or the empty state, or what is offered in place of a question."""
    return card_data(
        room="cell" if question is not None and question.label is not None else "labels",
        token=question.token if question else None,
        question=_question(question) if question else None,
        standing=standing,
        heading=Heading(
            f"{percent(math.floor(100 * standing.settled) / 100)} of the empty labels known or sure",
            KNOWN_OR_SURE,
            "Rows answered" if question is None or question.label is None else "Labels answered",
            why_stop(standing, DONE),
        ),
        notice=notice,
        offer=offer,
    )


def question_card(seat: Seat, question: ShownVector | None, offer: Offer | None = None) -> Drawing:
    """What draws the same."""

    def draw(standing: Standing, notice: str | None, on_press: Callable[[], None]) -> None:
        draw_card(_CARD, seat, told(question, standing, notice, offer), on_press)

    return draw


def _question(question: ShownVector) -> dict[str, Any]:
    asked = question.line
    keys = keys_of(question.view)[: len(question.lines)] if asked is None else ""
    return {
        # Labels beyond the keys are there for the mouse, for Tab and for the search.
        "rows": [_line(one, key) for key, one in zip_longest(keys, question.lines)],
        "asked": None if asked is None else _line(asked, None),
        "model": "model" if question.predicted is not None else "Shares by the labels' frequency",
        "learnt": None if question.predicted is None else question.model_version,
        "why": question.why,
        "shown": question.shown,
        "telling": None,
        "view": view_of(question.view),
        "coming": coming_of(question.coming),
    }


def _line(one: LabelLine, key: str | None) -> dict[str, Any]:
    return {
        "key": key,
        "label": one.label,
        "about": one.description,
        "probability": round(one.probability, 4),
        "cell": one.cell,
    }


def class_list(
    project_id: int, classes: Sequence[str], descriptions: Mapping[str, str], groups: Groups
) -> None:
    """Nothing: the card itself has every label of its row."""


def batch_card(seat: Seat, batch: ShownBatch) -> Drawing:
    """There is no such batch: every question is about a row, or a label, of its own."""
    raise ValueError(f"Project {seat.project_id} has no rows that are confirmed together. Got {batch.token}.")


def dispute_card(project_id: int, data: Mapping[str, Any], on_press: Callable[[], None]) -> None:
    """Nothing: rows of label vectors are settled on the Review page."""


def qualifying_card(project_id: int, data: Mapping[str, Any], on_press: Callable[[], None]) -> None:
    """Nothing: a project of this kind has no qualification."""
