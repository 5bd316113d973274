"""The labels of a row, as the log stores them before and after an entry."""

from __future__ import annotations

import numpy as np

from plcore import Entry
from plcore.loop.label_vectors import LabelVectorSettings
from tests.workflow.vector_world import LABELS, vector_table
from workflow.kinds.label_vectors.build import make_pool


def test_the_labels_an_entry_names_and_those_of_the_one_it_takes_back() -> None:
    pool = make_pool(vector_table(), LabelVectorSettings())
    row, column = (int(part[0]) for part in np.nonzero(pool.open))
    yes = Entry(1, "yes", row, "1", (LABELS[column],))
    assert pool.labels_at(yes) == ("",), "not asked"
    pool.apply(yes)
    assert pool.labels_at(yes) == ("1",)
    no = Entry(2, "no", row, "2", (LABELS[column],))
    assert pool.labels_at(no) == ("1",)
    pool.apply(no)
    assert pool.labels_at(no) == ("0",)
    back = Entry(3, "withdraw", row, "2", target=2)
    assert pool.labels_at(back) == ("0",)
    pool.apply(back)
    assert pool.labels_at(back) == ("1",)


def test_an_entry_that_names_none_says_whether_the_row_is_out() -> None:
    pool = make_pool(vector_table(), LabelVectorSettings())
    row = int(pool.open.any(axis=1).argmax())
    bad = Entry(1, "bad", row, "1")
    assert pool.labels_at(bad) == ()
    pool.apply(bad)
    assert pool.labels_at(bad) == ("bad",)
    assert pool.labels_at(Entry(2, "skip", row, "1")) == ("bad",)


def test_labels_stand_in_the_order_in_which_they_are_named() -> None:
    pool = make_pool(vector_table(), LabelVectorSettings())
    row = int((pool.original == 1).sum(axis=1).argmax())
    named = tuple(reversed(LABELS))
    words = ["", "0", "1"]
    assert pool.labels_at(Entry(1, "yes", row, "1", named)) == tuple(
        words[value + 1] for value in reversed(pool.original[row].tolist())
    )
