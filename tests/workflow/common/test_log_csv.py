"""The log as CSV: what was written is read back, entry for entry."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db import entries
from db.entries import NO_ROW, LogEntry
from plcore.loop import ClassChange, class_changes
from tests.workflow.world import annotator, answer_next
from workflow import classes, exporting, undoing
from workflow.common.log import learner_entry
from workflow.common.log_csv import COLUMNS, LogError, read_log, write_log
from workflow.home import Home
from workflow.seat import Seat

IDS = [f"r|{k}" for k in range(5)]
# What a database or a browser never lets in: surrogates, NUL.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)
labels = st.lists(st.one_of(texts, st.sampled_from(["a|b", "\\", "a\\|", "|", ",", '"'])), max_size=3).map(
    tuple
)
numbers = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def logs(draw: st.DrawFn) -> list[LogEntry]:
    start = datetime(2026, 3, 1, tzinfo=UTC)
    return [
        LogEntry(
            project_id=0,
            seq=seq,
            kind=draw(st.sampled_from(["is", "among", "withdraw", "class"])),
            row=draw(st.integers(NO_ROW, len(IDS) - 1)),
            person_id=0,
            token=draw(texts),
            revision=draw(st.integers(0, 9)),
            at=start + timedelta(microseconds=draw(st.integers(0, 10**12))),
            label=draw(st.none() | texts),
            labels=draw(labels),
            target_seq=draw(st.none() | st.integers(1, 99)),
            strategy=draw(st.none() | texts),
            score=draw(st.none() | numbers),
            model_version=draw(st.integers(0, 99)),
            before=draw(labels),
            after=draw(labels),
            seconds=draw(st.none() | numbers),
            note=draw(st.none() | texts),
            predicted=draw(st.none() | texts),
            flagged=draw(st.booleans()),
        )
        for seq in range(1, draw(st.integers(1, 4)) + 1)
    ]


@given(logs(), texts)
def test_what_is_written_is_read_back(log: list[LogEntry], name: str) -> None:
    lines = read_log(write_log(log, {0: name}, IDS))
    assert [line.entry for line in lines] == log
    assert {line.annotator for line in lines} == {name}
    assert [line.row_id for line in lines] == ["" if one.row == NO_ROW else IDS[one.row] for one in log]


@pytest.mark.parametrize("column", ["seq", "at", "row", "score", "revision"])
def test_a_cell_that_is_no_log_is_named(column: str) -> None:
    good = LogEntry(
        project_id=0,
        seq=1,
        kind="is",
        row=0,
        person_id=0,
        token="t",
        revision=0,
        at=datetime.now(UTC),
        score=0.5,
    )
    lines = write_log([good], {}, IDS).decode().splitlines()
    cells = lines[1].split(",")
    cells[COLUMNS.index(column)] = "oops"
    with pytest.raises(LogError, match=f"Line 1 of the log, column '{column}': 'oops'"):
        read_log("\n".join([lines[0], ",".join(cells)]).encode())
    with pytest.raises(LogError, match=f"no column '{column}'"):
        read_log("\n".join([lines[0].replace(column, "x", 1), lines[1]]).encode())


def test_an_exported_log_with_classes_says_what_the_log_says(home: Home, owner: int, project: int) -> None:
    ada = annotator(home, owner, "Ada")
    answer_next(home, ada, project)
    answer_next(home, ada, project)
    undoing.undo(Seat(home, ada, project))
    classes.change_classes(Seat(home, owner, project), 0, "add", ["d|e"])
    data = exporting.export_log(Seat(home, owner, project))
    with home.database.read() as session:
        log = entries.after(session, project, 0)
    names = {"owner": owner, "Ada": ada}
    back = [
        dataclasses.replace(line.entry, person_id=names[line.annotator]) for line in read_log(data, project)
    ]
    assert back == log
    assert class_changes(map(learner_entry, back)) == (ClassChange(4, "add", ("d|e",)),)
