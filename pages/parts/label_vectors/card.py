"""The question card of label vectors: the same card, with toggles for all labels or three keys for one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest

from pages.parts.learner_form import CHECKS_BY_ALL, OVERLAP_SHARE, Setting
from pages.parts.map_chart import MapWords
from pages.parts.progress_parts import StopWords
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
from pages.parts.rows.row_lists import ReviewWords
from pages.parts.words import ExportWords, percent
from workflow.answering.batches import ShownBatch
from workflow.answering.room import Groups
from workflow.kinds.label_vectors.progress import Predictor
from workflow.kinds.label_vectors.settings import CRITERIA, MODELS, QUESTIONS
from workflow.kinds.label_vectors.showing import LabelLine, ShownVector
from workflow.projects.standing import Standing
from workflow.seat import Seat

KNOWN_OR_SURE = (
    "A label that was empty at import counts one bit, then the model's remaining uncertainty, and zero "
    "once it is known or its row is excluded. This is the share of bits resolved so far"
)
"""Help text of the share on the card and the metric on Progress."""

_CARD = card_of("label_vectors")

DONE = "Every label of every row is known or excluded."


def told(
    question: ShownVector | None, standing: Standing, notice: str | None, offer: Offer | None = None
) -> dict[str, object]:
    """Return card data about the question, the empty state, or an offer in place of a question."""
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
    """Return the function that draws it."""

    def draw(standing: Standing, notice: str | None, on_press: Callable[[], None]) -> None:
        draw_card(_CARD, seat, told(question, standing, notice, offer), on_press)

    return draw


def _question(question: ShownVector) -> dict[str, object]:
    asked = question.line
    keys = keys_of(question.view)[: len(question.lines)] if asked is None else ""
    return {
        # Labels without a key are for the mouse, Tab and the search.
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


def _line(one: LabelLine, key: str | None) -> dict[str, object]:
    return {
        "key": key,
        "label": one.label,
        "about": one.description,
        "probability": round(one.probability, 4),
        "cell": one.cell,
    }


def class_list(project_id: int, classes: Sequence[str], descriptions: Mapping[str, str], groups: Groups) -> None:
    """Send nothing: the card itself has every label of its row."""


def batch_card(seat: Seat, batch: ShownBatch) -> Drawing:
    """Refuse: there are no such batches, since every question is about its own row or label."""
    raise ValueError(f"Project {seat.project_id} has no rows that are confirmed together. Got {batch.token}.")


def other_card(project_id: int, data: Mapping[str, object], on_press: Callable[[], None]) -> None:
    """Draw nothing: disputes are resolved on the Review page, and projects of this kind have no
    qualification."""


# How a project of label vectors learns and asks: the entries of the learner form.

LEARNING: tuple[Setting, ...] = (
    Setting(
        "model",
        "Predicted by",
        "BML-CS chooses the questions, no matter which model predicts.",
        "Automatic compares the models at every fit; Progress shows which one predicts and its lead.",
        MODELS,
    ),
    Setting(
        "question",
        "Question type",
        "Whole rows are quick if most labels are visible at a glance. Single labels teach the model more per answer.",
        choices=QUESTIONS,
    ),
    Setting(
        "criterion",
        "Question order",
        "Applies to everyone from the next question.",
        choices=CRITERIA,
        unset="Default: variance for rows, information for labels",
    ),
    Setting(
        "n_components",
        "Components",
        "Size of the compressed label vector. Smaller is faster; larger separates rare labels better.",
        "Empty: half the number of labels, from 8 to 64.",
        least=1,
        whole=True,
        unset="default",
    ),
    Setting(
        "refresh_every",
        "Refit after (answers)",
        "Every answer updates the model; after this many, it is refitted in the background.",
        least=1,
        whole=True,
    ),
)

ANSWERING: tuple[Setting, ...] = (
    Setting(
        "overlap",
        "Annotators per label",
        "Labels need this many independent answers.",
        "Annotators see the answers of others only after their own. With two or more, the majority decides unless you "
        "choose another rule.",
        least=1,
        most=50,
        whole=True,
    ),
    OVERLAP_SHARE,
    Setting(
        "agree",
        "Stop once this many agree",
        "Needs fewer answers: a label is done once this many annotators agree.",
        "With whole rows, a row is asked until this holds for each label.",
        least=2,
        most=50,
        whole=True,
        unset="never",
    ),
    Setting(
        "fold",
        "Combine answers by",
        "Applies label by label. A tie keeps the value of the file, or stays unknown.",
        choices={"latest": "Latest answer", "majority": "Majority vote"},
    ),
    CHECKS_BY_ALL,
)


# Page texts for projects of label vectors.

EXPORT = ExportWords(
    "Cells",
    {
        "given": "known in the file",
        "person": "a person answered",
        "model": "not asked: the cell stays empty, what the model says and its probability stand next to it",
        "truth": "a held-out row of the file",
        "bad": "excluded as a bad item",
    },
    "1 is yes, 0 is no. A cell that was not asked stays empty; it is never written as 0. Added for each label: "
    "winnow_probability, winnow_predicted and winnow_source.",
    {"all": "All", "answered": "Answered", "sure": "Confident"},
    "Labels decided by a person or the file always count as confident. For the others, the model needs "
    "this probability. Bad items are never included.",
    {
        "all": "The table has no rows.",
        "sure": "No row reaches this confidence for every label. Lower the probability, or export every row.",
        "answered": "No label is answered yet. Answer some, or export every row.",
    },
)

STOP = StopWords(
    "Labels known or sure",
    "A label that was empty in the file counts one bit, then the model's own doubt about it, and zero "
    "once it is answered. This is the share of bits resolved so far; 100% means that nothing is open.",
    "Micro F1 on held-out rows, or F1 on blind checks if there are none, has stopped changing. Tables "
    "with more labels need a longer window.",
    "F1 moves by at most (points)",
    "over the latest (labels answered)",
    "Labels answered in all",
)

REVIEW = ReviewWords(
    kinds={"yes": "a label is right", "no": "a label is not right", "bad": "is a bad item", "unsure": "cannot tell"},
    unit=("answer", "answers"),
)

MAP = MapWords(
    labels="right",
    nothing="no label known to be right",
    about="Open rows have labels left to ask. All labels of answered, given and held-out rows are known. "
    "Bad items are excluded.",
)

PREDICTS = (
    "F1 combines precision and recall over all labels; 100% is perfect. The standard error is the "
    "typical effect of chance on the difference."
)


def predicts(one: Predictor) -> str:
    """Describe the predicting model: since when, why, and above which probability it says yes. Markdown."""
    since = f", since answer {one.since:,}" if one.since else ""
    if not one.automatic:
        why = "It is set in Project settings."
    elif one.f1 is None or one.other_f1 is None or one.error is None:
        why = f"Too few known labels are yes to compare it with {one.other}."
    else:
        lead, error = 100 * (one.f1 - one.other_f1), f"(standard error {100 * one.error:.1f})"
        less = f", {lead:.1f} points less {error}" if lead > 0 else f"; the difference is within chance {error}"
        why = (
            f"Its F1 on known labels held out from it is {percent(one.f1, 1)}. {one.other} has "
            f"{percent(one.other_f1, 1)}{less}."
        )
    says = f"It says yes above a probability of {percent(one.threshold)}."
    return f"Predictions come from **{one.title}**{since}. {why} {says}"
