"""How a project of label vectors learns and asks, as lines of the learner form."""

from __future__ import annotations

from pages.parts.learner_form import Setting
from workflow.kinds.label_vectors.words import CRITERIA, MODELS, QUESTIONS

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

ANSWERING: tuple[Setting, ...] = ()
"""One person answers each label."""
