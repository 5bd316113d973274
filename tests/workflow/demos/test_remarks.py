"""The made-up crowd: the same by seed, as good as it is said to be, and often at odds."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from workflow.demos import remarks


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(remarks.make_file()), keep_default_na=False)


def test_it_is_the_same_each_time() -> None:
    told: list[float] = []
    assert remarks.make_file(told.append) == remarks.make_file()
    assert told == [1.0]


def test_the_messages_are_whole_sentences(table: pd.DataFrame) -> None:
    assert len(table) == remarks.MESSAGES
    assert table["message"].str[0].str.isupper().all()
    assert not table["message"].str.contains(r"[{},]|\.\.").any()
    assert table["message"].is_unique or table["message"].nunique() > 0.9 * len(table)
    assert set(table["true_label"]) == set(remarks.ABOUT)


@pytest.mark.parametrize("person", remarks.CROWD)
def test_each_is_as_good_as_they_are_said_to_be(table: pd.DataFrame, person: str) -> None:
    seen = table[table[person] != ""]
    assert abs(len(seen) / len(table) - np.mean(remarks.VOTES) / len(remarks.CROWD)) < 0.05
    right = float((seen[person] == seen["true_label"]).mean())
    assert abs(right - remarks.CROWD[person]) < 0.07


def test_they_often_differ_and_never_all_miss_the_truth(table: pd.DataFrame) -> None:
    votes = [set(row) - {""} for row in table[list(remarks.CROWD)].to_numpy().tolist()]
    assert np.mean([len(one) > 1 for one in votes]) > 0.6
    assert all(truth in one for truth, one in zip(table["true_label"], votes, strict=True))
