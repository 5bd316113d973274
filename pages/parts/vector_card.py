"""The question card of label vectors: the same card, with toggles for all labels or three keys for one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from typing import Any

from pages.parts.question_card import KEYS, Heading, card_of, draw_card, view_of, why_stop
from workflow.standing import Standing
from workflow.vector_showing import LabelLine, VectorQuestion

_CARD = card_of("label_vectors")

DONE = "Every label of every row is known, or was set aside."


def vector_card(
    project_id: int,
    question: VectorQuestion | None,
    standing: Standing,
    notice: str | None,
    on_press: Callable[[], None],
) -> None:
    """As ``question_card``."""
    draw_card(
        _CARD,
        project_id,
        room="cell" if question is not None and question.label is not None else "labels",
        token=question.token if question else None,
        question=_question(question) if question else None,
        standing=standing,
        heading=Heading(
            f"{standing.settled:.0%} of the empty labels settled",
            "Share of the labels that were empty at import which are known now, or whose row is out",
            "Rows answered" if question is None or question.label is None else "Labels answered",
            why_stop(standing, DONE),
        ),
        notice=notice,
        on_press=on_press,
    )


def _question(question: VectorQuestion) -> dict[str, Any]:
    asked = question.line
    keys = KEYS[: len(question.lines)] if asked is None else ""
    return {
        # Labels beyond the keys are there for the mouse, for Tab and for the search.
        "rows": [_line(one, key) for key, one in zip_longest(keys, question.lines)],
        "asked": None if asked is None else _line(asked, None),
        "model": "Shares by the labels' frequency: no model yet"
        if question.predicted is None
        else f"Shares by model {question.model_version}",
        "why": question.why,
        "shown": question.shown,
        "telling": None,
        "view": view_of(question.view),
    }


def _line(one: LabelLine, key: str | None) -> dict[str, Any]:
    return {
        "key": key,
        "label": one.label,
        "about": one.description,
        "probability": round(one.probability, 4),
        "cell": one.cell,
    }
