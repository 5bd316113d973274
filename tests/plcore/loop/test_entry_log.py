"""Entries of a fold, looked up by row and by seq, round-trip through columns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import Entry
from plcore.loop.entry_fold import EntryFold, EntryLog
from plcore.loop.one_label import CandidateFold
from plcore.loop.packed import joined, packed, part, unpacked

ENTRIES = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.sampled_from(["is", "among", "skip"]),
        st.sampled_from(["1", "22"]),
        st.lists(st.sampled_from(["ant", "bée", "c d", "\U0001f41d"]), max_size=2, unique=True).map(tuple),
    ),
    max_size=20,
)


def told(log: EntryLog, last: int) -> tuple[object, ...]:
    return ([list(log.of_row(row)) for row in range(6)], [log.get(seq) for seq in range(last + 3)], log.withdrawn)


@given(ENTRIES, ENTRIES, st.sets(st.integers(1, 20)))
def test_entries_round_trip_through_columns(early, late, withdrawn):
    whole, first = EntryLog(), EntryLog()
    for seq, (row, kind, who, labels) in enumerate(early, start=1):
        for log in (whole, first):
            log.add(Entry(seq, kind, row, who, labels))
    whole.withdrawn, first.withdrawn = set(withdrawn), set(withdrawn)
    again = EntryLog(first.to_arrays())
    n = len(early) + len(late)
    for seq, (row, kind, who, labels) in enumerate(late, start=len(early) + 1):
        for log in (whole, again):
            log.add(Entry(seq, kind, row, who, labels))
    assert told(again, n) == told(whole, n)
    assert told(EntryLog(again.to_arrays()), n) == told(whole, n)
    assert [log.to_arrays()["columns"].tolist() for log in (again, whole)] == [
        EntryLog(again.to_arrays()).to_arrays()["columns"].tolist()
    ] * 2


def test_entries_of_a_row_are_created_lazily_and_cached():
    log = EntryLog()
    log.add(Entry(1, "is", 3, "ann", ("a",)))
    again = EntryLog(log.to_arrays())
    assert again.of_row(3)[0] is again.of_row(3)[0]
    assert again.of_row(2) == ()
    again.add(Entry(2, "is", 3, "ann", ("b",)))
    assert [one.seq for one in again.of_row(3)] == [1, 2]
    assert log.get(7) is None


def test_missing_entry_is_named():
    fold: EntryFold[object] = CandidateFold(np.ones((2, 2), dtype=bool), ("a", "b"), {})
    with pytest.raises(KeyError, match="5"):
        fold.entry(5)


def test_packed_data_is_plain_bytes():
    value = {"ann": [[3, None], [4, "lábel\0"]], "é": 1.5}
    array = packed(value)
    assert array.dtype == np.uint8
    assert unpacked(array) == value
    with pytest.raises(ValueError, match="Expecting"):
        unpacked(np.frombuffer(b"\x80\x04}", dtype=np.uint8)[2:])


# Parts of checkpoints: named arrays and texts.


def test_texts_and_lists_round_trip_through_bytes() -> None:
    said = {"ann": [[3, None], [4, "größer"]], "": []}
    array = packed(said)
    assert (array.dtype, array.ndim) == (np.uint8, 1)
    assert unpacked(array) == said
    with pytest.raises(ValueError, match="char 0"):
        unpacked(np.frombuffer(b"{", dtype=np.uint8)[1:])


def test_parts_are_named_with_their_prefix() -> None:
    parts = {"a": {"x": np.zeros(1)}, "a.b": {"x": np.ones(1)}}
    arrays = joined(parts)
    assert sorted(arrays) == ["a.b.x", "a.x"]
    assert list(part(arrays, "a.b")) == ["x"]
