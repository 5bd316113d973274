"""Which of scikit-learn's estimator checks run only in `make test`, and which estimators are checked."""

from __future__ import annotations

import re

import pytest

MORE_OF_THE_SAME = re.compile(r"-check_(estimator_sparse_matrix|\w+\(readonly_memmap=True.*\))\]$")
"""Checks that repeat an earlier one with another container, or with read-only memory; each estimator has both."""


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if MORE_OF_THE_SAME.search(item.name):
            item.add_marker(pytest.mark.slow)
    if (names := config.getoption("--estimators")) is not None:
        items[:] = [item for item in items if _estimator_of(item) in (None, *names.split(","))]


def _estimator_of(item: pytest.Item) -> str | None:
    """The class of the estimator that a test of `test_common` is about."""
    if item.path.name != "test_common.py" or not isinstance(item, pytest.Function):
        return None
    params = item.callspec.params if hasattr(item, "callspec") else {}
    return type(params["estimator"]).__name__ if "estimator" in params else None
