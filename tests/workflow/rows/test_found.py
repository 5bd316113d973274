"""Finding answers: the parts that both kinds of review are made of."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.entries import LogEntry
from plcore import LabelTable, Roles
from plcore.loop import EntryKind
from workflow.access import NotFound
from workflow.rows import finding
from workflow.rows.finding import PAGE, ReviewList, Search

NOW = datetime(2026, 3, 1, tzinfo=UTC)
EVERYBODYS, ADA = None, 2
"""Whose answers may be seen."""


def entry(seq: int, kind: str, person: int = 2, target: int | None = None) -> LogEntry:
    return LogEntry(
        project_id=1, seq=seq, kind=kind, row=0, person_id=person, token=f"{seq}", revision=0, at=NOW,
        labels=("wren",), target_seq=target, note="hm", flagged=True,
    )  # fmt: skip


def table() -> LabelTable:
    cells = pd.DataFrame(
        {"id": ["One", "two", "ÄON"], "c": ["a|b", "a", "b"], "t": ["Red bird", "blue BIRD", ""]}, dtype="str"
    )
    return LabelTable.from_cells(cells, Roles(candidates="c", id="id", text="t"))


def test_a_search_looks_at_what_says_something() -> None:
    assert finding.checked_kinds(Search()) == finding.SAYS_SOMETHING
    assert not {EntryKind.SKIP, EntryKind.WITHDRAW, EntryKind.CLASS} & set(finding.SAYS_SOMETHING)
    assert finding.checked_kinds(Search(kind="bad")) == ("bad",)
    for kind in ("skip", "withdraw", "class", "shout"):
        with pytest.raises(ValueError, match=f"kind must be one of is, .*Got '{kind}'"):
            finding.checked_kinds(Search(kind=kind))


def test_words_are_looked_for_in_ids_and_texts_whatever_their_case() -> None:
    def rows(*words: str) -> list[int]:
        return finding.rows_holding(table(), words).nonzero()[0].tolist()

    assert rows() == [0, 1, 2]
    assert rows("bird") == [0, 1]
    assert rows("bird", "one") == [0]
    assert rows("äon") == rows("A\u0308ON") == rows("aon") == [2]
    assert rows("red", "blue") == []


@given(page=st.integers(-5, 50), total=st.integers(0, 1_000))
def test_a_page_is_one_there_is(page: int, total: int) -> None:
    pages = ReviewList((), total, 0).pages
    inside = finding.inside(page, total)
    assert 0 <= inside < pages
    assert (pages - 1) * PAGE < max(total, 1) <= pages * PAGE
    if 0 <= page < pages:
        assert inside == page


def test_a_row_there_is_not_is_not_found() -> None:
    for row in (0, 2):
        finding.check_row(table(), row)
    for row in (-1, 3):
        with pytest.raises(NotFound, match=f"no row {row + 1}"):
            finding.check_row(table(), row)


def test_who_reviews_corrects_what_anybody_and_others_what_they_have_answered() -> None:
    answer, others, skipped = entry(1, "is"), entry(2, "bad", 3), entry(3, "skip")
    assert finding.may_correct([answer], ADA)
    assert finding.may_correct([answer], EVERYBODYS)
    assert not finding.may_correct([others], ADA)
    assert finding.may_correct([others], EVERYBODYS)
    for whose in (EVERYBODYS, ADA):
        assert not finding.may_correct([], whose)
        assert not finding.may_correct([skipped], whose)
        assert not finding.may_correct([answer, entry(4, "withdraw", target=1)], whose)
    assert finding.taken_back([answer, entry(4, "withdraw", target=1)]) >= {1}


def test_lines_say_what_the_entry_says() -> None:
    one, names = entry(7, "is"), {2: "Ada"}
    line = finding.answer_line(table(), names, one, ("b",), "a")
    assert (line.seq, line.row_id, line.person, line.labels, line.predicted) == (7, "One", "Ada", ("b",), "a")
    assert (line.flagged, line.note, line.at) == (True, "hm", NOW)
    told: Any = finding.history_line({}, one, ("b",), ("a", "b"), ("b",), None, taken_back=True)
    assert (told.person, told.before, told.after, told.taken_back) == ("", ("a", "b"), ("b",), True)
