"""The question card of one true label among candidates: a key for each candidate."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest

from pages.parts import state
from pages.parts.answers import first_of
from pages.parts.components import component
from pages.parts.learner_form import CHECKS_BY_ALL, OVERLAP_SHARE, Setting
from pages.parts.map_chart import MapWords
from pages.parts.other_cards import batch_question
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
    none_key,
    send,
    view_of,
    why_stop,
)
from pages.parts.rows.row_lists import ReviewWords
from pages.parts.words import ExportWords, percent
from workflow.answering.batches import ShownBatch
from workflow.answering.room import Groups
from workflow.kinds.one_label.settings import CHOICES, COVER_HELP, TRAINED, WITH_C, strategies_for
from workflow.kinds.one_label.showing import ShownQuestion, YesNo
from workflow.projects.standing import Standing
from workflow.seat import Seat

_CARD = card_of("one_label")
_CLASSES = component("winnow_class_list", "one_label/class_list.js")

DONE = (
    "Every prediction is settled: no answer can change one. You can stop here; further answers only "
    "confirm single rows."
)
NAMED = 20
"""Voters named at most on a line of the card."""

LISTED = 60
"""Candidates a card lists at most; the search finds the others."""


def told(
    question: ShownQuestion | None, standing: Standing, notice: str | None, offer: Offer | None = None
) -> dict[str, object]:
    """Return card data about the question, the empty state, or an offer in place of a question."""
    token, asked = (question.token, _question(question)) if question else (None, None)
    return card_data("candidates", token, asked, standing, _heading(standing), notice, offer)


def question_card(seat: Seat, question: ShownQuestion | None, offer: Offer | None = None) -> Drawing:
    """Return the function that draws it."""

    def draw(standing: Standing, notice: str | None, on_press: Callable[[], None]) -> None:
        draw_card(_CARD, seat, told(question, standing, notice, offer), on_press)

    return draw


def batch_card(seat: Seat, batch: ShownBatch) -> Drawing:
    """Return the function that draws many rows at once."""

    def draw(standing: Standing, notice: str | None, on_press: Callable[[], None]) -> None:
        asked = batch_question(batch)
        data = card_data("batch", batch.token, asked, standing, _heading(standing), notice)
        draw_card(_CARD, seat, data, on_press)

    return draw


def _heading(standing: Standing) -> Heading:
    return Heading(
        f"{percent(math.floor(100 * standing.settled) / 100)} of rows settled",
        "Share of the initially ambiguous rows whose prediction no further answer can change"
        if standing.has_proof
        else "Share of the initially ambiguous rows that now have one label or are excluded",
        "Rows answered",
        why_stop(standing, DONE),
    )


def voters_in_words(names: Sequence[str]) -> str:
    """Name the annotators who chose a label; only the first if there are many."""
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _question(question: ShownQuestion) -> dict[str, object]:
    listed = question.candidates[:LISTED]
    keys = keys_of(question.view, [one.label for one in listed])
    telling = question.telling
    places = {one.label: place for place, one in enumerate(listed)}
    texts = {column: number for number, (column, _) in enumerate(question.view.texts)}
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
            # Candidates without a key are for the mouse, Tab and the search.
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
        "weighedBy": question.scored_by,
        "first": question.first,
        "noneKey": none_key(question.view),
        "none": len(question.candidates) < question.n_classes,
        "nClasses": question.n_classes,
        "model": "model" if question.predicted is not None else "Equal shares: no prediction yet",
        "learnt": None if question.predicted is None else question.model_version,
        "why": question.why,
        "shown": question.shown,
        "telling": {"between": telling.between, "columns": telling.columns} if telling else None,
        "marks": [
            {
                "text": texts[mark.column],
                "start": mark.start,
                "end": mark.end,
                "candidate": places[mark.label],
                "strength": round(mark.strength, 2),
            }
            for mark in question.marks
            if mark.label in places
        ],
        "view": view_of(question.view),
        "coming": coming_of(question.coming),
    }


def _yes_no(question: ShownQuestion, asked: YesNo) -> dict[str, object]:
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


def class_list(project_id: int, classes: Sequence[str], descriptions: Mapping[str, str], groups: Groups) -> None:
    """Send the browser every class of the project and every group, once, for the search of the card."""
    listed = [[label, descriptions.get(label, "")] for label in classes]
    data = {"project": project_id, "classes": listed, "groups": [[*one] for one in groups.items()]}
    _CLASSES(key=f"{state.CLASSES}-{project_id}", data=data)


def other_card(project_id: int, data: Mapping[str, object], on_press: Callable[[], None]) -> None:
    """Draw the card of `pages.parts.other_cards`."""
    send(_CARD, {"project": project_id, **data}, on_press)


# How a project with one true label among candidates learns and asks: the entries of the learner form.

LEARNING: tuple[Setting, ...] = (
    Setting("model", "Model", "Predicts the labels. A new model learns from all answers so far.", choices=CHOICES),
    Setting("strategy", "Question order", "Applies to everyone from the next question.", COVER_HELP, strategies_for),
    Setting(
        "by_source",
        "One source at a time",
        "Asks all open rows of one photo, recording or scene in turn.",
        "The source with the highest mean score comes next. Applies to everyone from the next question.",
        sourced=True,
    ),
    Setting(
        "features",
        "Models learn from",
        "“Words” are the built-in features of texts, images and sounds; “meaning” is the encoder's vectors.",
        "Automatic starts with both. After 40 answered rows, comparisons decide by accuracy.",
        {
            "automatic": "Automatic: most accurate on answered rows",
            "both": "Words and meaning",
            "words": "Words alone",
            "meaning": "Meaning alone",
        },
        encoded=True,
    ),
    Setting(
        "n_neighbors",
        "Neighbours",
        "How many of the nearest rows vote, including the row itself.",
        "Also used to score questions.",
        least=1,
        most=200,
        whole=True,
    ),
    Setting(
        "weights",
        "Votes of the neighbours",
        choices={"linear": "Nearer ones count more", "uniform": "All count the same"},
    ),
    Setting(
        "C",
        "C",
        "Larger values fit the answers more closely; smaller values keep the model simpler.",
        models=WITH_C,
        least=1e-6,
        step=0.1,
        unset="default",
    ),
    Setting(
        "train_every",
        "Retrain after (answers)",
        "Number of new answers after which the model is retrained.",
        models=TRAINED,
        least=1,
        whole=True,
    ),
    Setting(
        "train_seconds",
        "Retrain after (seconds)",
        "Or this long after the last answer, whichever comes first.",
        models=TRAINED,
        step=0.5,
    ),
)

ANSWERING: tuple[Setting, ...] = (
    Setting(
        "overlap",
        "Annotators per row",
        "Rows need this many independent answers.",
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
        "Needs fewer answers: a row is done once this many annotators agree.",
        least=2,
        most=50,
        whole=True,
        unset="never",
    ),
    Setting(
        "fold",
        "Combine answers by",
        more="“Weighted by annotator accuracy” estimates each annotator's accuracy from all answers (Dawid-Skene, "
        "within each row's candidates).",
        choices={
            "latest": "Latest answer",
            "majority": "Majority vote",
            "intersection": "Labels that all allow",
            "dawid-skene": "Weighted by annotator accuracy",
        },
    ),
    CHECKS_BY_ALL,
)


# Page texts for projects with one true label among candidates.

EXPORT = ExportWords(
    "Rows",
    {
        "given": "the file had one candidate",
        "person": "a person answered",
        "verdict": "a reviewer resolved a dispute",
        "combined": "annotators differ; the project's rule for combining answers decides",
        "disputed": "annotators differ and no rule decides: no label",
        "pending": "more annotators must answer",
        "necessary": "every way to resolve the open rows gives this label",
        "model": "the model's best guess among the candidates left",
        "file": "the best of the file's scores; no trained model uses them yet",
        "truth": "the file's true-label column",
        "remaining": "one class is left after “none of these”, but no one has named it: no label",
        "open": "several candidates are left, and there is no model yet",
        "bad": "a person excluded it as a bad item",
    },
    "Original columns are unchanged. Added for each row: candidates before and after, label, source, "
    "confidence, annotators and time.",
    {"all": "All", "answered": "Answered", "sure": "Confident"},
    "Rows decided by a person or the true-label column are always included, and rows with one candidate in the file "
    "unless its score is lower. For disputed rows, the confidence of the annotator model counts. Bad items, rows "
    "without a label and rows that wait for another answer are never included.",
    {
        "all": "The table has no rows.",
        "sure": "No row reaches this confidence. Lower the probability, or export every row.",
        "answered": "No row is answered yet. Answer some, or export every row.",
    },
)

STOP = StopWords(
    "Predictions settled",
    "Share of the predictions that no further answer can change. 100% asks for the proof.",
    "Accuracy on held-out rows, or on blind checks if there are none, has stopped changing.",
    "Accuracy moves by at most (points)",
    "over the latest (answers)",
    "Answers in all",
)

REVIEW = ReviewWords(
    kinds={
        "is": "is one label",
        "among": "is one of several",
        "not": "is not a label",
        "none": "is none of its candidates",
        "bad": "is a bad item",
        "unsure": "cannot tell",
        "verdict": "is settled by a verdict",
    },
    unit=("answered row", "answered rows"),
)

MAP = MapWords(
    labels="candidates",
    nothing="",
    about="Open rows can still be asked about; answered, given and held-out rows have one label; bad "
    "items are excluded.",
)
