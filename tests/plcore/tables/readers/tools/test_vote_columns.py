"""Columns of votes that are called like those of Winnow's own answers, and hold something else."""

from __future__ import annotations

import pytest

from plcore import read_cells
from plcore.tables.readers.tools.votes import LONG_VOTES, vote_columns
from tests.plcore.tables.writers.tables import candidates, noted


def test_a_column_kind_of_another_tool_takes_no_vote_away() -> None:
    cells = read_cells(b"task,worker,label,kind\nt1,a,cat,photo\nt1,b,dog,photo\nt2,a,dog,drawing\n")
    columns = vote_columns(cells)
    assert columns is not None
    assert columns.kind is None
    reading = LONG_VOTES.read(cells)
    assert candidates(reading) == [{"cat": 1, "dog": 1}, {"dog": 1}]
    assert reading.cells["kind"].tolist() == ["photo", "drawing"]


def test_kinds_of_answers_are_known_by_their_words() -> None:
    cells = read_cells(b"task,worker,label,kind\nt1,a,cat,is\nt1,b,dog,not\nt2,a,,skip\nt2,b,dog,\n")
    columns = vote_columns(cells)
    assert columns is not None
    assert columns.kind == "kind"
    assert candidates(LONG_VOTES.read(cells)) == [{"cat": 1}, {"dog": 1}]


@pytest.mark.parametrize(
    ("times", "expected", "said"),
    [
        (("2024-02-01T10:00:00", "2024-01-01T09:00:00"), {"cat": 1}, "the latest by time counts."),
        (("02/01/2024 10:00", "01/01/2024 09:00"), {"dog": 1}, "the last in the file counts, for not all"),
        (("2024-02-01T10:00:00", ""), {"dog": 1}, "in 'timestamp' are numbers or such as"),
    ],
)
def test_which_of_two_votes_of_a_worker_counts_is_said_as_it_is(
    times: tuple[str, str], expected: dict[str, int], said: str
) -> None:
    text = f"task,worker,label,timestamp\nt1,a,cat,{times[0]}\nt1,a,dog,{times[1]}\nt2,a,cat,\n"
    reading = LONG_VOTES.read(read_cells(text.encode()))
    assert candidates(reading) == [expected, {"cat": 1}]
    assert noted(reading, "1 times one worker voted", said)
