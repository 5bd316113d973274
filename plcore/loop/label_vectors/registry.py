"""Question types, question orders and models for label vectors, in the order that users see.

A new criterion is a formula in `plcore.sensing.information` and an entry in `CRITERION_ENTRIES`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class QuestionEntry:
    """A question type: its name in stored settings, and its description for users.

    scored_as : its name in `plcore.sensing.information`      criterion : its default criterion
    by_row : whether it is about all labels of a row, not one label
    in_turn : whether each row gets one question before any row gets another
    """

    name: str
    words: str
    scored_as: str
    criterion: str
    by_row: bool = False
    in_turn: bool = False


@dataclass(frozen=True)
class CriterionEntry:
    """A criterion: its name in stored settings, its description for users, and a sentence that gives the reason for
    asking.

    needs_model : whether the model scores the questions; otherwise their order is random
    """

    name: str
    words: str
    why: str
    needs_model: bool = True


@dataclass(frozen=True)
class PredictorEntry:
    """A model that predicts, or the automatic choice: its name in stored settings, a short name, and its description
    for users."""

    name: str
    title: str
    words: str


QUESTION_ENTRIES: dict[str, QuestionEntry] = {
    entry.name: entry
    for entry in (
        QuestionEntry(
            name="cell",
            words="one yes or no: the most useful label of any row",
            scored_as="pair",
            criterion="information",
        ),
        QuestionEntry(
            name="diagnosis",
            words="one yes or no a row: the most useful label of each row in turn",
            scored_as="label",
            criterion="information",
            in_turn=True,
        ),
        QuestionEntry(
            name="instance",
            words="all labels of a row at once",
            scored_as="instance",
            criterion="variance",
            by_row=True,
        ),
    )
}
"""Every question type by its name in stored settings, the default first."""

CRITERION_ENTRIES: dict[str, CriterionEntry] = {
    entry.name: entry
    for entry in (
        CriterionEntry(
            name="information",
            words="most informative for the model (default for labels)",
            why="Your answer is the most informative one about all that is open.",
        ),
        CriterionEntry(
            name="variance",
            words="what the model is least sure of (for rows the default)",
            why="The model is least sure of it.",
        ),
        CriterionEntry(name="entropy", words="what is most undecided", why="It is most undecided."),
        CriterionEntry(name="random", words="drawn at random", why="It was drawn at random.", needs_model=False),
    )
}
"""Every criterion by its name in stored settings."""

AUTOMATIC, BMLCS, ONE_VS_ALL = "automatic", "bmlcs", "onevsall"
PREDICTOR_ENTRIES: dict[str, PredictorEntry] = {
    entry.name: entry
    for entry in (
        PredictorEntry(
            name=AUTOMATIC,
            title="Automatic",
            words="Automatic: the better of the two at known cells that it was not shown",
        ),
        PredictorEntry(
            name=BMLCS, title="BML-CS", words="BML-CS: all labels together, learns from each answer at once"
        ),
        PredictorEntry(
            name=ONE_VS_ALL, title="One-vs-all", words="One-vs-all: an SVM for each label, refitted after some answers"
        ),
    )
}
"""Models that predict unasked cells, by their name in stored settings, the default first. Questions are always chosen
by BML-CS: of the two, only it can estimate the value of an answer."""

DEFAULT_QUESTION = next(iter(QUESTION_ENTRIES))
RANDOM = next(name for name, entry in CRITERION_ENTRIES.items() if not entry.needs_model)
"""Criterion of questions while there is no model yet."""
