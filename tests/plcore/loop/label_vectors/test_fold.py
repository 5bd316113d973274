"""Folds of entry sequences into the cells of a row, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import AnswerError, Entry
from plcore.loop.label_vectors.pool import LabelVectorPool
from plcore.loop.label_vectors.settings import LabelVectorSettings
from tests.plcore.loop.fake_vectors import FakeVectors

CELLS = [[1, -1, -1, 0], [-1, -1, -1, -1], [1, 0, 1, 0], [-1, 1, -1, -1]]
SETTINGS = LabelVectorSettings(test_share=0.0)
_NAMES = {"1": 1, "0": 0, ".": -1}


def pool(cells=CELLS, options=SETTINGS):
    return LabelVectorPool(FakeVectors(np.arange(2.0 * len(cells)).reshape(-1, 2), cells, tuple("abcd")), options)


def told(*steps, annotator="ann"):
    """A pool after steps (kind, row, labels) or ("withdraw", row, seq)."""
    one = pool()
    for seq, (kind, row, *rest) in enumerate(steps, start=1):
        if kind == "withdraw":
            one.apply(Entry(seq, kind, row, annotator, target=rest[0]))
        else:
            one.apply(Entry(seq, kind, row, annotator, tuple(rest[0]) if rest else ()))
    return one


@pytest.mark.parametrize(
    ("steps", "row", "cells", "bad"),
    [
        ([("yes", 1, "ac"), ("no", 1, "bd")], 1, "1010", False),  # a whole instance
        ([("yes", 1, "a"), ("no", 1, "a")], 1, "0...", False),
        ([("no", 0, "a")], 0, "0..0", False),  # a person may correct what was given
        ([("no", 0, "a"), ("withdraw", 0, 1)], 0, "1..0", False),
        ([("yes", 1, "a"), ("no", 1, "a"), ("withdraw", 1, 2)], 1, "1...", False),
        ([("yes", 1, "a"), ("no", 1, "a"), ("withdraw", 1, 1)], 1, "0...", False),
        ([("yes", 1, "ab"), ("no", 1, "b"), ("withdraw", 1, 1)], 1, ".0..", False),
        ([("unsure", 1, "a"), ("skip", 1, "b"), ("skip", 1), ("unsure", 1)], 1, "....", False),
        ([("yes", 1, "a"), ("bad", 1)], 1, "1...", True),
        ([("bad", 1), ("no", 1, "c")], 1, "..0.", False),
        ([("bad", 1), ("withdraw", 1, 1)], 1, "....", False),
    ],
)
def test_fold_gives_the_expected_cells(steps, row, cells, bad):
    one = told(*steps)
    assert one.cells[row].tolist() == [_NAMES[mark] for mark in cells]
    assert bool(one.bad[row]) is bad
    np.testing.assert_array_equal(one.cells[[r for r in range(4) if r != row]], np.delete(CELLS, row, axis=0))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (Entry(1, "is", 1, "ann", ("a",)), "kind must be one of yes, no, right, wrong, bad"),
        (Entry(1, "yes", 1, "ann"), "'yes' takes one label or more"),
        (Entry(1, "no", 1, "ann", ("a", "a")), "each once"),
        (Entry(1, "unsure", 1, "ann", ("a", "b")), "one label, or none"),
        (Entry(1, "bad", 1, "ann", ("a",)), "'bad' takes no labels"),
        (Entry(1, "yes", 1, "ann", ("e",)), "'e' is not a label. The labels: a, b, c, d"),
        (Entry(1, "yes", 4, "ann", ("a",)), "row must be in 0..3"),
        (Entry(1, "yes", -1, "ann", ("a",)), "row must be in 0..3"),
        (Entry(0, "yes", 1, "ann", ("a",)), "comes too late"),
        (Entry(1, "withdraw", 1, "ann", target=1), "no entry 1 that could be withdrawn"),
        (Entry(1, "withdraw", 1, "ann"), "target is the entry"),
        (Entry(1, "yes", 1, "ann", ("a",), target=1), "target is the entry"),
        (Entry(1, "yes", "1", "ann", ("a",)), "row must be an int"),
        (Entry(1, "yes", 1, "ann", ["a"]), "labels must be a tuple"),
        (Entry(True, "yes", 1, "ann", ("a",)), "seq of an entry must be an int"),
    ],
)
def test_invalid_steps_are_refused(entry, message):
    one = pool()
    with pytest.raises(AnswerError, match=message):
        one.apply(entry)
    assert one.seq == 0
    np.testing.assert_array_equal(one.cells, CELLS)


def test_entry_can_be_withdrawn_only_once():
    one = told(("yes", 1, "a"), ("withdraw", 1, 1))
    with pytest.raises(AnswerError, match="already withdrawn"):
        one.apply(Entry(3, "withdraw", 1, "ann", target=1))
    one = told(("yes", 1, "a"))
    with pytest.raises(AnswerError, match="about row 1, not 0"):
        one.apply(Entry(2, "withdraw", 0, "ann", target=1))


def test_test_rows_take_no_answers():
    one = pool(options=LabelVectorSettings(test_share=0.9))
    assert one.test_rows.tolist() == [False, False, True, False]  # the one row fully known
    with pytest.raises(AnswerError, match="held out"):
        one.apply(Entry(1, "yes", 2, "ann", ("a",)))


def test_table_without_label_vectors_is_refused():
    table = FakeVectors(np.zeros((2, 2)), [[0, 1], [1, 0]])
    table.label_vectors = None
    with pytest.raises(ValueError, match="candidate labels, not label vectors"):
        LabelVectorPool(table, SETTINGS)
    with pytest.raises(ValueError, match=r"two labels or more\. Got 1"):
        LabelVectorPool(FakeVectors(np.zeros((2, 2)), [[0], [1]]), SETTINGS)


ENTRIES = st.lists(
    st.tuples(
        st.sampled_from(["yes", "yes", "no", "no", "bad", "unsure", "skip", "withdraw"]),
        st.integers(0, 3),
        st.sampled_from(["ann", "bob"]),
        st.lists(st.sampled_from("abcd"), max_size=4),
        st.integers(1, 12),
    ),
    max_size=14,
)


def lived(steps):
    """A pool that took in the steps it did not refuse, and the log of these."""
    one, log = pool(), []
    for seq, (kind, row, annotator, labels, target) in enumerate(steps, start=1):
        if kind == "withdraw":
            entry = Entry(seq, kind, next((e.row for e in log if e.seq == target), 0), annotator, target=target)
        else:
            entry = Entry(seq, kind, row, annotator, tuple(labels))
        before = one.cells.copy(), one.seq, dict(one.counts)
        try:
            one.apply(entry)
        except AnswerError:
            np.testing.assert_array_equal(one.cells, before[0])
            assert (one.seq, one.counts) == before[1:]
            continue
        log.append(entry)
    return one, log


@given(ENTRIES)
def test_fold_matches_a_plain_implementation(steps):
    one, log = lived(steps)
    withdrawn = {entry.target for entry in log}
    standing = [entry for entry in log if entry.kind != "withdraw" and entry.seq not in withdrawn]
    for row in range(4):
        cells, bad, answered = dict(zip("abcd", CELLS[row], strict=True)), False, set()
        for entry in standing:
            if entry.row == row and entry.kind in ("yes", "no", "bad"):
                bad = entry.kind == "bad"
                cells |= dict.fromkeys(entry.labels, int(entry.kind == "yes"))
                answered |= set(entry.labels)
        assert one.cells[row].tolist() == list(cells.values())
        assert bool(one.bad[row]) is bad
        assert {"abcd"[place] for place in np.flatnonzero(one.answered[row])} == answered
        assert one.open[row].tolist() == [value == -1 and not bad for value in cells.values()]
    assert one.answers == sum(entry.kind in ("yes", "no", "bad") for entry in standing)
    for kind in ("yes", "no"):
        assert one.counts[kind] == sum(len(entry.labels) for entry in standing if entry.kind == kind)
    for kind in ("bad", "unsure", "skip"):
        assert one.counts[kind] == sum(entry.kind == kind for entry in standing)


@given(ENTRIES)
def test_latest_entries_match_a_plain_implementation(steps):
    one, log = lived(steps)
    withdrawn = {entry.target for entry in log}
    for annotator in ("ann", "bob"):
        latest = {}
        for entry in log:
            if entry.kind == "withdraw" or entry.seq in withdrawn or entry.annotator != annotator:
                continue
            labels = (*entry.labels, None) if entry.kind in ("yes", "no") else entry.labels or (None,)
            latest |= {(entry.row, label): entry.kind for label in labels}
        assert one.standings.unsure(annotator) == {place for place, kind in latest.items() if kind == "unsure"}
        assert set(one.standings.resting(annotator)) == {place for place, kind in latest.items() if kind == "skip"}
