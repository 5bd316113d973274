"""Question types, question orders and models for label vectors, in the order users see them.

A new criterion is a formula in `plcore.sensing.information` and one entry in `CRITERION_ENTRIES`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class QuestionEntry:
    """A kind of question: its name in stored settings, and its words for people.

    scored_as : what `plcore.sensing.information` calls it      criterion : by which it is chosen by default
    by_row : whether it is about all labels of a row, else about one
    in_turn : whether each row gets one question before any gets another
    """

    name: str
    words: str
    scored_as: str
    criterion: str
    by_row: bool = False
    in_turn: bool = False


@dataclass(frozen=True)
class CriterionEntry:
    """A criterion: its name in stored settings, its words for people, and as a sentence why something is asked.

    needs_model : whether the model scores the questions by it; else their order is drawn at random
    """

    name: str
    words: str
    why: str
    needs_model: bool = True


@dataclass(frozen=True)
class PredictorEntry:
    """A model that predicts, or the choice of one: its name in stored settings; a short one, and words, for people."""

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
"""Every kind of question by its name in stored settings, the default first."""

CRITERION_ENTRIES: dict[str, CriterionEntry] = {
    entry.name: entry
    for entry in (
        CriterionEntry(
            name="information",
            words="what tells the model most (for labels the default)",
            why="Your answer tells the model more about all that is open than any other would.",
        ),
        CriterionEntry(
            name="variance",
            words="what the model is least sure of (for rows the default)",
            why="The model is least sure of it.",
        ),
        CriterionEntry(name="entropy", words="what is most undecided", why="It is most undecided."),
        CriterionEntry(
            name="random", words="drawn at random", why="It was drawn at random.", needs_model=False
        ),
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
            name=ONE_VS_ALL,
            title="One-vs-all",
            words="One-vs-all: an SVM for each label, refitted after some answers",
        ),
    )
}
"""Models that predict unasked cells, by their name in stored settings, the default first. Questions
are chosen by BML-CS whatever predicts: of the two it alone can tell what an answer is worth."""

DEFAULT_QUESTION = next(iter(QUESTION_ENTRIES))
RANDOM = next(name for name, entry in CRITERION_ENTRIES.items() if not entry.needs_model)
"""The criterion by which questions are asked while there is no model yet."""
