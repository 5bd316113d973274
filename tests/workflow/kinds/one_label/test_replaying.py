"""The candidates of a row, as the log stores them before and after an entry."""

from __future__ import annotations

import pytest

from plcore import AnswerError, Entry, LearnerSettings
from plcore.loop import ClassChange, ClassError
from tests.workflow.world import small_table
from workflow.kinds.one_label.build import make_pool

SETTINGS = LearnerSettings(test_share=0.0)


def test_candidates_before_and_after_an_answer_and_its_withdrawal() -> None:
    pool = make_pool(small_table(), SETTINGS)
    row = int((pool.sizes == 2).argmax())
    both = pool.names(pool.original[row])
    said = Entry(1, "is", row, "1", both[:1])
    assert pool.labels_at(said) == both
    pool.apply(said)
    assert pool.labels_at(said) == both[:1]
    back = Entry(2, "withdraw", row, "1", target=1)
    assert pool.labels_at(back) == both[:1]
    pool.apply(back)
    assert pool.labels_at(back) == both


def test_a_bad_item_has_no_candidates() -> None:
    pool = make_pool(small_table(), SETTINGS)
    row = int((pool.sizes == 2).argmax())
    bad = Entry(1, "bad", row, "1")
    pool.apply(bad)
    assert pool.labels_at(bad) == ()


def test_classes_are_those_of_the_changes() -> None:
    first = small_table().classes[0]
    pool = make_pool(small_table(), SETTINGS, [ClassChange(1, "rename", (first, "renamed"))])
    row = int(pool.candidates[:, 0].argmax())
    assert "renamed" in pool.labels_at(Entry(2, "skip", row, "1"))
    with pytest.raises(ClassError, match="no such"):
        make_pool(small_table(), SETTINGS, [ClassChange(1, "rename", ("no such", "renamed"))])


def test_rows_held_out_take_no_entries() -> None:
    pool = make_pool(small_table(), LearnerSettings(test_share=0.5))
    row = int(pool.test_rows.argmax())
    with pytest.raises(AnswerError, match="held out"):
        pool.check(Entry(1, "skip", row, "1"))
