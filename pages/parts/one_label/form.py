"""How a project with one true label among candidates learns and asks, as lines of the learner form."""

from __future__ import annotations

from pages.parts.learner_form import CHECKS_BY_ALL, OVERLAP_SHARE, Setting
from workflow.kinds.one_label.words import CHOICES, COVER_HELP, TRAINED, WITH_C, strategies_for

LEARNING: tuple[Setting, ...] = (
    Setting(
        "model",
        "Model",
        "What predicts the labels. The answers stay; a new model learns from all. The Models page compares them.",
        CHOICES,
    ),
    Setting(
        "strategy",
        "Asked first",
        f"Counts for everybody from the next question on. {COVER_HELP}",
        strategies_for,
    ),
    Setting(
        "n_neighbors",
        "Neighbours",
        "How many of the nearest rows vote, the row itself counted. Also used to score the questions.",
        least=1,
        most=200,
        whole=True,
    ),
    Setting(
        "weights",
        "Votes of the neighbours",
        "Whether nearer rows count more.",
        {"linear": "nearer ones count more", "uniform": "all count the same"},
    ),
    Setting(
        "C",
        "C",
        "Larger values fit the answers more closely, smaller ones keep the model simpler. Empty: its own default.",
        models=WITH_C,
        least=1e-6,
        step=0.1,
        unset="its own default",
    ),
    Setting(
        "train_every",
        "Train after answers",
        "Train anew after this many answers.",
        models=TRAINED,
        least=1,
        whole=True,
    ),
    Setting(
        "train_seconds",
        "or after seconds",
        "Train anew this many seconds after an answer, whichever comes first.",
        models=TRAINED,
        step=0.5,
    ),
)

ANSWERING: tuple[Setting, ...] = (
    Setting(
        "overlap",
        "People a row",
        "How many people answer each row. Nobody sees what others said of it before they have answered themselves.",
        least=1,
        most=50,
        whole=True,
    ),
    OVERLAP_SHARE,
    Setting(
        "agree",
        "Stop when so many agree",
        "Nobody else is asked about a row as soon as so many people say the same of it.",
        least=2,
        most=50,
        whole=True,
        unset="never: all are asked",
    ),
    Setting(
        "fold",
        "What several answers make of a row",
        "By how right each person is: learnt from all answers, who differs from the others counts less "
        "(Dawid and Skene's model, inside the candidates of each row).",
        {
            "latest": "the latest answer counts",
            "majority": "the label that most people name",
            "intersection": "the labels that all of them allow",
            "dawid-skene": "by how right each person is",
        },
    ),
    CHECKS_BY_ALL,
)
