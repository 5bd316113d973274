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
    "A label that was empty at import counts one bit, then the model's own doubt about it as of its latest fit, and "
    "nothing once it is known or its row is set aside: the share of the bits that is gone"
)
"""What the share on the card, and the metric of the Progress page, means."""

_CARD = card_of("label_vectors")

DONE = "Every label of every row is known, or was set aside."


def told(
    question: ShownVector | None, standing: Standing, notice: str | None, offer: Offer | None = None
) -> dict[str, object]:
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


def _question(question: ShownVector) -> dict[str, object]:
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


def _line(one: LabelLine, key: str | None) -> dict[str, object]:
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


def dispute_card(project_id: int, data: Mapping[str, object], on_press: Callable[[], None]) -> None:
    """Nothing: rows of label vectors are settled on the Review page."""


def qualifying_card(project_id: int, data: Mapping[str, object], on_press: Callable[[], None]) -> None:
    """Nothing: a project of this kind has no qualification."""


# How a project of label vectors learns and asks, as lines of the learner form.

LEARNING: tuple[Setting, ...] = (
    Setting(
        "model",
        "Predicted by",
        "Whatever predicts, questions are chosen by BML-CS. Automatic compares anew with every fit, and Progress says "
        "which model predicts and by how much it is ahead.",
        MODELS,
    ),
    Setting(
        "question",
        "Asked are",
        "Whole rows are quick where most labels are seen at a glance; single labels tell the model more per answer.",
        QUESTIONS,
    ),
    Setting(
        "criterion",
        "Asked first",
        "Counts for everybody from the next question on.",
        CRITERIA,
        unset="the default: variance for rows, information for labels",
    ),
    Setting(
        "n_components",
        "Components",
        "Numbers that the labels of a row are squeezed into. Fewer are faster, more keep rare labels apart. Empty: "
        "half as many as labels, at least 8 and at most 64.",
        least=1,
        whole=True,
        unset="by the number of labels",
    ),
    Setting(
        "refresh_every",
        "Fit anew after answers",
        "Every answer is taken in at once; after this many the model is fitted anew, in the background.",
        least=1,
        whole=True,
    ),
)

ANSWERING: tuple[Setting, ...] = (
    Setting(
        "overlap",
        "People a label",
        "How many people answer each label. Nobody sees what others said of a row before they have answered it "
        "themselves. With two or more, answers are combined by majority unless you choose another rule.",
        least=1,
        most=50,
        whole=True,
    ),
    OVERLAP_SHARE,
    Setting(
        "agree",
        "Stop when so many agree",
        "Nobody else is asked about a label as soon as so many people say the same of it. Where whole rows are asked, "
        "a row is asked until that is so of each of its labels.",
        least=2,
        most=50,
        whole=True,
        unset="never: all are asked",
    ),
    Setting(
        "fold",
        "What several answers make of a label",
        "Label by label. Where as many say yes as no, it is what the file said of it, or not known.",
        {"latest": "the latest answer counts", "majority": "what most people say"},
    ),
    CHECKS_BY_ALL,
)


# What pages say of projects of label vectors.

EXPORT = ExportWords(
    "Cells",
    {
        "given": "known in the file",
        "oracle": "a person answered",
        "model": "not asked: the cell stays empty, what the model says and its probability stand beside it",
        "truth": "a held-out row of the file",
        "bad": "taken out as a bad item",
    },
    "1 is yes, 0 is no, an empty cell was not asked: it is never written as 0. Added for each label: "
    "winnow_probability, winnow_predicted and winnow_source.",
    {"all": "All", "answered": "Answered", "sure": "Confident"},
    "Labels that a person or the file decides are always sure. Of the others the model must say yes, or no, with this "
    "probability. Bad items are never among these rows.",
    {
        "all": "The table has no rows.",
        "sure": "In no row is every label that sure. Lower the probability, or take every row.",
        "answered": "Nobody has answered a label yet. Answer some, or take every row.",
    },
)

STOP = StopWords(
    "Labels known or sure",
    "A label that was empty in the file counts one bit, then the model's own doubt about it, and nothing once it is "
    "answered: the share of the bits that is gone. 100% waits until nothing is open.",
    "Micro F1 on held-out rows, or F1 by answers to blind checks where there are none, has stopped moving. The more "
    "labels the table has, the more answers it should look at.",
    "F1 moves by at most (points)",
    "over the latest (labels answered)",
    "Labels answered in all",
)

REVIEW = ReviewWords(
    kinds={
        "yes": "a label is right",
        "no": "a label is not right",
        "bad": "is a bad item",
        "unsure": "cannot tell",
    },
    unit=("answer", "answers"),
)

MAP = MapWords(
    labels="right",
    nothing="no label known to be right",
    about="Of open rows some label can still be asked about; of answered, given and held-out rows all labels are "
    "known; bad items are set aside.",
)

PREDICTS = (
    "Micro F1 is high where what is said to be yes is yes, and what is yes is said to be: all labels counted together, "
    "100% is without a fault. The standard error is by how much chance moves such a difference."
)


def predicts(one: Predictor) -> str:
    """Which model predicts, since when, why, and above which probability it says yes. Markdown."""
    since = (
        f"From answer {one.since:,} on **{one.title}** predicts" if one.since else f"**{one.title}** predicts"
    )
    if not one.automatic:
        why = "as Project settings have it."
    elif one.f1 is None or one.other_f1 is None or one.error is None:
        why = f"for too few known cells are yes to compare it with {one.other}."
    else:
        lead = 100 * (one.f1 - one.other_f1)
        how = f"{lead:.1f} points ahead" if lead > 0 else "behind by no more than chance"
        why = (
            f"micro F1 {percent(one.f1, 1)} on known cells that it was not shown, "
            f"{one.other} {percent(one.other_f1, 1)}: {how} (standard error {100 * one.error:.1f})."
        )
    return f"{since}, {why} It says yes above a probability of {percent(one.threshold)}."
