"""Declaration of the model. It is imported wherever Winnow runs, so it imports nothing heavy."""

from plcore.loop import ModelPlugin

BOOSTED = ModelPlugin(
    words="Boosted trees: each tree corrects those before it",
    plain="Boosting",
    classifier="winnow_boosted.classifier:make_classifier",
)
