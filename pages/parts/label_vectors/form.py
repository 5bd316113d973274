"""How a project of label vectors learns and asks, as lines of the learner form."""

from __future__ import annotations

from pages.parts.learner_form import CHECKS_BY_ALL, OVERLAP_SHARE, Setting
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

ANSWERING: tuple[Setting, ...] = (
    Setting(
        "overlap",
        "People a label",
        "How many people answer each label. Nobody sees what others said of a row before they have answered it "
        "themselves.",
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
