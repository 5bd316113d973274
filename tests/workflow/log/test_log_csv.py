"""The log as CSV: what was written is read back, entry for entry."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given

from db import entries
from db.entries import NO_ROW, LogEntry
from plcore.loop import ClassChange, class_changes
from tests.workflow.log.logs import IDS, an_entry, logs, texts
from tests.workflow.world import annotator, answer_next, file_of
from workflow.answering import undoing
from workflow.log.columns import COLUMNS, LATER, LogError, read_log, write_log
from workflow.log.reading import learner_entry
from workflow.projects import classes
from workflow.seat import Seat
from workflow.server.home import Home

LONG = an_entry(note="a long note " * 2_000)


@given(logs(), texts)
def test_what_is_written_is_read_back(log: list[LogEntry], name: str) -> None:
    lines = read_log(b"".join(write_log(log, {0: name}, IDS)))
    assert [line.entry for line in lines] == log
    assert {line.annotator for line in lines} == {name}
    assert [line.row_id for line in lines] == ["" if one.row == NO_ROW else IDS[one.row] for one in log]


def test_a_long_log_comes_in_pieces() -> None:
    (entry,) = read_log(b"".join(write_log([LONG], {}, IDS)))
    log = [dataclasses.replace(entry.entry, seq=seq) for seq in range(1, 9)]
    pieces = list(write_log(log, {}, IDS))
    assert len(pieces) > 2
    assert [line.entry for line in read_log(b"".join(pieces))] == log


@pytest.mark.parametrize("column", ["seq", "at", "row", "score", "revision"])
def test_a_cell_that_is_no_log_is_named(column: str) -> None:
    good = an_entry(score=0.5)
    lines = b"".join(write_log([good], {}, IDS)).decode().splitlines()
    cells = lines[1].split(",")
    cells[list(COLUMNS).index(column)] = "oops"
    with pytest.raises(LogError, match=f"Line 1 of the log, column '{column}': 'oops'"):
        read_log("\n".join([lines[0], ",".join(cells)]).encode())
    with pytest.raises(LogError, match=f"no column '{column}'"):
        read_log("\n".join([lines[0].replace(column, "x", 1), lines[1]]).encode())


def test_a_file_of_before_lacks_the_columns_that_came_later() -> None:
    good = an_entry(score=0.5)
    lines = b"".join(write_log([good], {}, IDS)).decode().splitlines()
    older = "\n".join(line.rsplit(",", len(LATER))[0] for line in lines)
    (read,) = read_log(older.encode())
    assert read.entry == good
    put = b"".join(write_log([an_entry(asked={"form": "is"})], {}, IDS))
    assert read_log(put)[0].entry.asked == {"form": "is"}
    with pytest.raises(LogError, match=r"column 'asked': '\[\]' cannot be read"):
        read_log(put.replace(b'"{""form"": ""is""}"', b"[]"))


def test_an_exported_log_with_classes_says_what_the_log_says(home: Home, owner: int, project: int) -> None:
    ada = annotator(home, owner, "Ada")
    answer_next(home, ada, project)
    answer_next(home, ada, project)
    undoing.undo(Seat(home, ada, project))
    classes.change_classes(Seat(home, owner, project), 0, "add", ["d|e"])
    data = file_of(Seat(home, owner, project), "log")
    with home.database.read() as session:
        log = entries.after(session, project, 0)
    names = {"owner": owner, "Ada": ada}
    back = [
        dataclasses.replace(line.entry, person_id=names[line.annotator]) for line in read_log(data, project)
    ]
    assert back == log
    assert class_changes(map(learner_entry, back)) == (ClassChange(4, "add", ("d|e",)),)
