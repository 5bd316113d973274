"""The question card of one true label among candidates: a key for each candidate."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from pages.parts import state
from pages.parts.answers import first_of
from pages.parts.batch_card import batch_question
from pages.parts.components import component
from pages.parts.question_card import (
    Drawing,
    Heading,
    Offer,
    card_data,
    card_of,
    coming_of,
    draw_card,
    keys_of,
    none_key,
    send,
    view_of,
    why_stop,
)
from pages.parts.words import percent
from workflow.kinds.one_label.showing import ShownQuestion, YesNo
from workflow.people.batches import ShownBatch
from workflow.room import Groups
from workflow.seat import Seat
from workflow.standing import Standing

_CARD = card_of("one_label")
_CLASSES = component("winnow_class_list", "one_label/class_list.js")

DONE = (
    "No answer can change a decision any more: every prediction is settled. You may stop here; "
    "further answers only make single rows exact."
)
NAMED = 20
"""Voters that a line of the card names at most."""

LISTED = 60
"""Candidates a card lists at most; the search finds the others."""


def told(
    question: ShownQuestion | None, standing: Standing, notice: str | None, offer: Offer | None = None
) -> dict[str, Any]:
    """What the card is told of the question, or the empty state, or what is offered in place of a question."""
    token, asked = (question.token, _question(question)) if question else (None, None)
    return card_data("candidates", token, asked, standing, _heading(standing), notice, offer)


def question_card(seat: Seat, question: ShownQuestion | None, offer: Offer | None = None) -> Drawing:
    """What draws the same."""

    def draw(standing: Standing, notice: str | None, on_press: Callable[[], None]) -> None:
        draw_card(_CARD, seat, told(question, standing, notice, offer), on_press)

    return draw


def batch_card(seat: Seat, batch: ShownBatch) -> Drawing:
    """What draws many rows at once."""

    def draw(standing: Standing, notice: str | None, on_press: Callable[[], None]) -> None:
        asked = batch_question(batch)
        data = card_data("batch", batch.token, asked, standing, _heading(standing), notice)
        draw_card(_CARD, seat, data, on_press)

    return draw


def _heading(standing: Standing) -> Heading:
    return Heading(
        f"{percent(math.floor(100 * standing.settled) / 100)} of rows settled",
        "Share of the predictions for rows that were ambiguous at the start which no further answer can change"
        if standing.has_proof
        else "Share of the rows that were ambiguous at the start which have one label now, or are set aside",
        "Rows answered",
        why_stop(standing, DONE),
    )


def voters_in_words(names: Sequence[str]) -> str:
    """Who named a label; of many the first."""
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _question(question: ShownQuestion) -> dict[str, Any]:
    listed = question.candidates[:LISTED]
    keys = keys_of(question.view, [one.label for one in listed])
    telling = question.telling
    places = {one.label: place for place, one in enumerate(listed)}
    return {
        "rows": [
            {
                "key": key,
                "label": one.label,
                "about": one.description,
                "probability": round(one.probability, 4),
                "weight": one.weight,
                "voters": voters_in_words(one.voters),
                **({"given": round(one.given, 4)} if one.given else {}),
            }
            # Candidates beyond the keys are there for the mouse, for Tab and for the search.
            for key, one in zip_longest(keys[: len(listed)], listed)
        ],
        "groups": [
            {"key": key, "name": name, "labels": labels}
            for key, (name, labels) in zip_longest(
                keys_of(question.view)[: len(question.groups)], question.groups.items()
            )
        ],
        "yesNo": _yes_no(question, question.yes_no) if question.yes_no else None,
        "hidden": len(question.candidates) - len(listed),
        "votes": question.votes,
        "first": question.first,
        "noneKey": none_key(question.view),
        "none": len(question.candidates) < question.n_classes,
        "nClasses": question.n_classes,
        "model": "model" if question.predicted is not None else "Even shares: the model says nothing here",
        "learnt": None if question.predicted is None else question.model_version,
        "why": question.why,
        "shown": question.shown,
        "telling": {"between": telling.between, "columns": telling.columns} if telling else None,
        "marks": [
            [mark.start, mark.end, places[mark.label], round(mark.strength, 2)]
            for mark in question.marks
            if mark.label in places
        ],
        "view": view_of(question.view),
        "coming": coming_of(question.coming),
    }


def _yes_no(question: ShownQuestion, asked: YesNo) -> dict[str, Any]:
    rest = [one.label for one in question.candidates if one.label not in asked.labels]
    one = len(asked.labels) == 1
    return {
        "name": asked.name,
        "labels": asked.labels,
        "rest": [] if one else rest,
        "leaves": first_of(rest),
        "about": asked.description if one else first_of(asked.labels),
        "probability": round(asked.probability, 4),
    }


def class_list(
    project_id: int, classes: Sequence[str], descriptions: Mapping[str, str], groups: Groups
) -> None:
    """Send the browser every class of the project and every group, once, for the search of the card."""
    listed = [[label, descriptions.get(label, "")] for label in classes]
    data = {"project": project_id, "classes": listed, "groups": [[*one] for one in groups.items()]}
    _CLASSES(key=f"{state.CLASSES}-{project_id}", data=data)


def dispute_card(project_id: int, data: Mapping[str, Any], on_press: Callable[[], None]) -> None:
    """Draw the card of `pages.parts.dispute_card`."""
    send(_CARD, {"project": project_id, **data}, on_press)


def qualifying_card(project_id: int, data: Mapping[str, Any], on_press: Callable[[], None]) -> None:
    """Draw the card of `pages.parts.qualifying_card`."""
    send(_CARD, {"project": project_id, **data}, on_press)
