"""Which of scikit-learn's checks of estimators wait for `make test`."""

from __future__ import annotations

import re

import pytest

MORE_OF_THE_SAME = re.compile(r"-check_(estimator_sparse_matrix|\w+\(readonly_memmap=True.*\))\]$")
"""Checks of another container than an earlier one, or of memory that nobody may write; each estimator has both."""


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if MORE_OF_THE_SAME.search(item.name):
            item.add_marker(pytest.mark.slow)
