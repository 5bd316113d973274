"""Sets of features: all, without encoder vectors, and without built-in features."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from plcore import FeatureTransformer, LabelTable, Roles
from plcore.arrays import BOTH, MEANING, WORDS

TEXTS = ["red fox", "red hen", "blue hen", "blue fox", "red", ""]
VECTORS = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
CELLS = pd.DataFrame({"c": ["a|b"] * 6, "t": TEXTS, "n": list("123456")}, dtype="str")


def table(**roles: object) -> LabelTable:
    return LabelTable.from_cells(CELLS, Roles(candidates="c", numbers=("n",), **roles), arrays={"v": VECTORS})


def made(table: LabelTable, use: str = BOTH) -> np.ndarray:
    X = table.features(use).fit(table, np.arange(4)).transform(table)
    return np.asarray(X.todense()) if hasattr(X, "todense") else X


@pytest.mark.parametrize(
    ("use", "roles"),
    [(BOTH, {"text": "t", "embedding": "v"}), (WORDS, {"text": "t"}), (MEANING, {"embedding": "v"})],
)  # fmt: skip
def test_feature_set_equals_a_table_with_only_these_columns(use: str, roles: dict[str, str]) -> None:
    whole = table(text="t", embedding="v")
    assert whole.has_feature_choice
    np.testing.assert_array_equal(made(whole, use), made(table(**roles)))
    assert whole.features(use).fit(whole).feature_names_ == table(**roles).features().fit(table(**roles)).feature_names_


@pytest.mark.parametrize("roles", [{"text": "t"}, {"embedding": "v"}, {}])
@pytest.mark.parametrize("use", [WORDS, MEANING])
def test_feature_set_is_ignored_without_both_kinds_of_features(use: str, roles: dict[str, str]) -> None:
    one = table(**roles)
    assert not one.has_feature_choice
    np.testing.assert_array_equal(made(one, use), made(one))


def test_unknown_feature_set_is_refused() -> None:
    with pytest.raises(ValueError, match=r"use must be one of .*'both'.* Got 'letters'"):
        FeatureTransformer("letters")
