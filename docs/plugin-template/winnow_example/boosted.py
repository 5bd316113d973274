"""The classifier. Only the worker and commands that fit models import this module."""

from sklearn.ensemble import HistGradientBoostingClassifier


def make_classifier() -> HistGradientBoostingClassifier:
    """Return the unfitted classifier. Winnow passes it the seed of the project if its `random_state` is None."""
    return HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=8)
