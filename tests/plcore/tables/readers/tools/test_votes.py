"""Long tables of votes: every tool's column names, votes counted, joined to tasks, written and read again."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import TableError, read_cells
from plcore.tables.readers.tools.votes import LONG_VOTES, join_votes, long_votes, vote_columns
from plcore.tables.roles.named_votes import NamedVotes
from plcore.tables.writers.disambiguated import Disambiguated
from tests.plcore.tables.writers.tables import (
    TEXTS,
    candidates,
    disambiguated,
    frame,
    noted,
    read_or_refuse,
    small_table,
    sources,
)

CROWD_KIT = b"task,worker,label\nt1,w1,cat\nt1,w2,dog\nt1,w3,cat\nt2,w1,dog\nt2,w2,dog\n"


def read(data: bytes) -> object:
    return LONG_VOTES.read(read_cells(data))


def test_votes_are_counted_by_task() -> None:
    reading = LONG_VOTES.read(read_cells(CROWD_KIT))
    assert reading.cells["task"].tolist() == ["t1", "t2"]
    assert candidates(reading) == [{"cat": 2, "dog": 1}, {"dog": 2}]
    assert sources(reading) == [{"cat": ["w1", "w3"], "dog": ["w2"]}, {"dog": ["w1", "w2"]}]
    assert reading.roles.id == "task"
    assert noted(reading, "table of the rows is needed", "zip")


@pytest.mark.parametrize(
    "header",
    [
        "task,worker,label",
        "task,performer,label",
        "task,annotator,label",
        "Task_ID,Worker_ID,Answer",
        "HITId,WorkerId,Answer.animal",
        "_unit_id,_worker_id,label",
        "INPUT:task,ASSIGNMENT:worker_id,OUTPUT:result",
        "id,user,label",
        "item,rater,vote",
    ],
)
def test_column_names_of_every_tool_are_recognised(header: str) -> None:
    cells = read_cells(CROWD_KIT.replace(b"task,worker,label", header.encode()))
    assert LONG_VOTES.fits(cells)
    assert candidates(LONG_VOTES.read(cells)) == [{"cat": 2, "dog": 1}, {"dog": 2}]


@pytest.mark.parametrize(
    "text",
    [
        "id,label\n1,cat\n1,dog\n",
        "id,user,label\n1,a,cat\n2,b,dog\n",  # the ids of rows, not of tasks
        "text,candidates\na,b|c\n",
        "id,annotator_1,annotator_2\n1,cat,dog\n",
        "worker,label\na,cat\n",
        "HITId,WorkerId,Answer.a,Answer.b\n1,2,x,y\n",  # which of the answers?
    ],
)
def test_other_tables_are_not_read_as_votes(text: str) -> None:
    cells = read_cells(text.encode())
    assert not LONG_VOTES.fits(cells)
    with pytest.raises(TableError, match="Name the columns task, worker and label"):
        LONG_VOTES.read(cells)


def test_toloka_table_is_read() -> None:
    data = (
        "INPUT:text\tOUTPUT:animal\tGOLDEN:animal\tASSIGNMENT:worker_id\tASSIGNMENT:started\tASSIGNMENT:status\tASSIGNMENT:link\n"
        "it barks\tdog\tdog\tw1\t2024-05-01T10:00:00.123\tAPPROVED\thttps://x/1\n"
        "it barks\tcat\tdog\tw2\t2024-05-01T10:01:00.123\tAPPROVED\thttps://x/2\n"
        "it barks\tcow\tdog\tw3\t2024-05-01T10:02:00.123\tREJECTED\thttps://x/3\n"
        "it says moo\tcow\t\tw1\t2024-05-01T10:03:00.123\tSUBMITTED\thttps://x/1\n"
    )
    reading = LONG_VOTES.read(read_cells(data.encode()))
    assert reading.cells["INPUT:text"].tolist() == ["it barks", "it says moo"]
    assert candidates(reading) == [{"dog": 1, "cat": 1}, {"cow": 1}]
    assert reading.cells["truth"].tolist() == ["dog", ""]
    assert noted(reading, "Votes left out, as they were rejected: 1.")
    assert not noted(reading, "table of the rows is needed")
    assert list(reading.cells.columns) == ["INPUT:text", "candidates", "sources", "truth"]


def test_mechanical_turk_table_is_read() -> None:
    data = (
        "HITId,AssignmentId,WorkerId,AssignmentStatus,SubmitTime,Input.text,Answer.sentiment.label\n"
        "H1,A1,W1,Approved,Mon Oct 10 12:00:00 PDT 2022,fine,good\n"
        "H1,A2,W2,Rejected,Mon Oct 10 12:01:00 PDT 2022,fine,bad\n"
        "H1,A3,W3,Submitted,Mon Oct 10 12:02:00 PDT 2022,fine,good\n"
        "H2,A4,W1,Approved,Mon Oct 10 12:03:00 PDT 2022,awful,bad\n"
    )
    reading = LONG_VOTES.read(read_cells(data.encode()))
    assert candidates(reading) == [{"good": 2}, {"bad": 1}]
    assert reading.roles.id == "HITId"
    assert reading.cells["Input.text"].tolist() == ["fine", "awful"]


def test_appen_table_is_read() -> None:
    data = (
        "_unit_id,_created_at,_golden,_trust,_worker_id,colour,colour_gold,text\n"
        "7,1/2/2020,true,0.9,w1,red,red,a rose\n"
        "7,1/2/2020,true,0.5,w2,pink,red,a rose\n8,1/3/2020,false,0.9,w1,blue,,the sea\n"
    )
    reading = LONG_VOTES.read(read_cells(data.encode()))
    assert candidates(reading) == [{"red": 1, "pink": 1}, {"blue": 1}]
    assert reading.cells["truth"].tolist() == ["red", ""]
    assert list(reading.cells.columns) == ["_unit_id", "text", "candidates", "sources", "truth"]


def test_repeated_vote_counts_once_latest_by_time() -> None:
    cells = frame(
        {"task": "a", "worker": "w", "label": "new", "timestamp": "2024-01-02T00:00:00Z"},
        {"task": "a", "worker": "w", "label": "old", "timestamp": "2024-01-01"},
        {"task": "a", "worker": "v", "label": "old", "timestamp": "1"},
        {"task": "a", "worker": "v", "label": "new", "timestamp": "10"},
    )
    reading = LONG_VOTES.read(cells)
    assert candidates(reading) == [{"new": 2}]
    assert noted(reading, "2 times", "latest by time")


@pytest.mark.parametrize("times", [None, ["yesterday", "1"], ["", ""], ["nan", "5"]])
def test_without_times_last_vote_counts(times: list[str] | None) -> None:
    cells = frame({"task": "a", "worker": "w", "label": "x"}, {"task": "a", "worker": "w", "label": "y"})
    if times is not None:
        cells["time"] = pd.Series(times, dtype="str")
    reading = LONG_VOTES.read(cells)
    assert candidates(reading) == [{"y": 1}]
    assert noted(reading, "more than once")


def test_several_labels_at_one_time_are_one_answer() -> None:
    vote = {"task": "a", "worker": "w", "timestamp": "5"}
    reading = LONG_VOTES.read(frame({**vote, "label": "x"}, {**vote, "label": "y"}, {**vote, "label": "x"}))
    assert candidates(reading) == [{"x": 1, "y": 1}]
    assert not noted(reading, "more than once")


def test_workers_without_name_are_different_people() -> None:
    vote = {"task": "a", "worker": "", "label": "x"}
    reading = LONG_VOTES.read(frame(vote, vote, {**vote, "label": "y"}))
    assert candidates(reading) == [{"x": 2, "y": 1}]
    assert "sources" not in reading.cells


def test_weights_gold_and_columns_of_tasks() -> None:
    data = (
        b"task,worker,label,weight,gold,text,took\n"
        b"1,a,x,0.5,x,one,3\n1,b,y,,x,one,4\n2,a,y,2,z,two,5\n3,a,,1,,three,6\n"
    )
    reading = LONG_VOTES.read(read_cells(data))
    assert candidates(reading) == [{"x": 0.5, "y": 1}, {"y": 2, "z": 0.01}, ["x", "y", "z"]]
    assert reading.cells["truth"].tolist() == ["x", "z", ""]
    assert noted(reading, "Tasks whose right label no one voted for: 1.")
    assert noted(reading, "Votes left out, as they name no label: 1.")
    assert noted(reading, "1 row has no label named", "row 3")
    assert noted(reading, "Column 'took' differs between votes on one task and was left out")
    assert reading.cells["text"].tolist() == ["one", "two", "three"]
    assert not noted(reading, "table of the rows is needed")


def test_wrong_cells_are_refused_with_their_rows() -> None:
    data = b"task,worker,label,weight,gold\n1,a,x,-1,x\n1,b,x,many,y\n,c,x,nan,\n"
    with pytest.raises(TableError) as error:
        read(data)
    text = str(error.value)
    assert "Row 1 (line 2), column 'weight': expected the weight of a vote" in text
    assert "'many'" in text
    assert "Row 3 (line 4), column 'task': the vote names no task" in text
    assert "Row 2 (line 3), column 'gold': the task '1' has the right label 'x' above, here 'y'" in text


TASKS = frame(
    {"name": "t1", "text": "one two three four"},
    {"name": "t2", "text": "five six seven"},
    {"name": "t3", "text": "eight nine"},
)


def test_votes_on_several_questions_joined_to_their_tasks_are_asked_about() -> None:
    votes = pd.DataFrame(
        {"task": ["a", "a"], "worker": ["Ann", "Ann"], "question": ["what", "where"], "label": ["cat", "tree"]}
    )
    tasks = pd.DataFrame({"task": ["a", "b"], "text": ["it climbs", "it hides"]})
    assert [ask[0] for ask in join_votes(votes, tasks).asks] == ["several-questions"]
    assert not join_votes(votes.drop(columns="question"), tasks).asks


def test_votes_joined_to_their_tasks() -> None:
    votes = read_cells(CROWD_KIT + b"t9,w1,cow\n")
    reading = join_votes(votes, TASKS)
    assert reading.cells["name"].tolist() == ["t1", "t2", "t3"]
    assert candidates(reading) == [{"cat": 2, "dog": 1}, {"dog": 2}, ["cat", "dog"]]
    assert noted(reading, "1 of 3 rows has no votes", "'t3'")
    assert noted(reading, "1 row of it that is not in the table", "'t9'")
    assert reading.cells["text"].tolist() == TASKS["text"].tolist()
    assert (reading.roles.id, reading.roles.text) == ("name", "text")


def test_tables_that_do_not_belong_together_are_refused() -> None:
    votes = read_cells(CROWD_KIT)
    with pytest.raises(
        TableError, match="No column of the other table holds the names of these rows, such as 't1', 't2'"
    ):
        join_votes(votes, frame({"name": "x"}))
    with pytest.raises(TableError, match=r"Row 2, column 'name': the name 't1' was already in row 1"):
        join_votes(votes, frame({"name": "t1"}, {"name": "t1"}))
    toloka = frame({"INPUT:text": "a", "ASSIGNMENT:worker_id": "w", "OUTPUT:x": "b"})
    with pytest.raises(TableError, match="no column with the task"):
        join_votes(toloka, TASKS)


def test_columns_of_votes_that_belong_to_tasks_stay_next_to_those_of_tasks() -> None:
    votes = frame(
        {"task": "t1", "worker": "w", "label": "a", "place": "sea"},
        {"task": "t2", "worker": "w", "label": "b", "place": "land"},
    )
    reading = join_votes(votes, TASKS)
    assert list(reading.cells.columns) == ["name", "text", "place", "candidates", "sources"]


@given(disambiguated())
def test_answers_round_trip(table: Disambiguated) -> None:
    text = "".join(long_votes(table))
    assert text.splitlines()[0] == "task,worker,label,kind,timestamp,seconds,weight,model_version"
    latest = {(answer["row"], answer["person"]): answer["labels"] for answer in table.answers}
    if not latest:
        with pytest.raises(TableError):
            read_cells(text.encode())
        return
    expected: dict[str, dict[str, int]] = {}
    for (row, _), labels in latest.items():
        for label in labels:
            counts = expected.setdefault(table.ids[row], {})
            counts[label] = counts.get(label, 0) + 1
    reading = LONG_VOTES.read(read_cells(text.encode()))
    assert dict(zip(reading.cells["task"], candidates(reading), strict=True)) == expected
    again = pd.read_csv(io.StringIO(text, newline=""), dtype=str, keep_default_na=False)
    assert len(again) == sum(len(answer["labels"]) for answer in table.answers)


def test_earlier_votes_are_written_in_full_whatever_was_answered() -> None:
    votes = NamedVotes.of([0, 0, 0], [0, 0, 1], [0, 1, 0], ["Ann", "Ben"])
    answer = {"row": 0, "person": "Eve", "at": "2026-01-01", "seconds": 1.5, "model_version": None}
    table = replace(
        small_table(), votes=votes, candidates_after=np.eye(3, dtype=bool)[[1, 0, 2]],
        answers=[{**answer, "kind": "is", "labels": ["robin"]}],
    )  # fmt: skip
    lines = "".join(long_votes(table)).splitlines()
    assert lines[1:] == [
        "p,Ann,wren,among,,,1,", "p,Ann,robin,among,,,1,", "p,Ben,wren,is,,,1,", "p,Eve,robin,is,2026-01-01,1.5,1,",
    ]  # fmt: skip
    assert table.voters() == [{"Ann": ["robin"]}, {}, {}]


def test_answers_that_name_no_label_are_written_and_left_out() -> None:
    answer = {"row": 0, "person": "ann", "at": "2026-01-01", "seconds": 1.5, "model_version": None}
    table = Disambiguated(
        np.array(["r"], dtype=object), frame({"text": "a"}), ("x", "y"), np.ones((1, 2), bool), np.ones((1, 2), bool),
        None, np.array([-1]), np.array([""]), np.array([np.nan]),
        [{**answer, "kind": kind, "labels": labels} for kind, labels in (("skip", []), ("not", ["y"]), ("is", ["x"]))],
    )  # fmt: skip
    text = "".join(long_votes(table))
    assert text.splitlines()[1] == "r,ann,,skip,2026-01-01,1.5,1,"
    reading = LONG_VOTES.read(read_cells(text.encode()))
    assert candidates(reading) == [{"x": 1}]
    assert noted(reading, "Votes left out, as they name a label that is wrong, or say that someone cannot tell: 2.")


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS, TEXTS, TEXTS), min_size=1, max_size=5))
def test_any_cells_are_read_or_raise_table_error(rows: list[tuple[str, ...]]) -> None:
    names = ("task", "worker", "label", "weight", "timestamp")
    cells = frame(*(dict(zip(names, row, strict=True)) for row in rows))
    assert vote_columns(cells) is not None
    reading = read_or_refuse(LONG_VOTES.read, cells)
    if reading is not None:
        assert len(reading.cells) == len({row[0].strip() for row in rows})
        assert all(len(found) > 0 for found in candidates(reading))


def test_votes_for_nothing_are_not_class() -> None:
    votes = frame(
        {"task": "t1", "worker": "ann", "label": "wren"},
        {"task": "t1", "worker": "bob", "label": "nan"},
        {"task": "t1", "worker": "cem", "label": "robin"},
        {"task": "t2", "worker": "ann", "label": "NA"},
        {"task": "t2", "worker": "bob", "label": "None"},
    )
    reading = LONG_VOTES.read(votes)
    assert candidates(reading) == [{"wren": 1, "robin": 1}, ["robin", "wren"]]
    assert noted(reading, "Votes left out, as they say nan, NA, None", "if it is a class, give it another name")
    assert noted(reading, "1 row has no label named")


def test_answer_of_known_kind_may_name_class_called_none() -> None:
    votes = frame(
        {"task": "t1", "worker": "ann", "label": "None", "kind": "is"},
        {"task": "t1", "worker": "bob", "label": "wren", "kind": "is"},
    )
    assert candidates(LONG_VOTES.read(votes)) == [{"None": 1, "wren": 1}]


def test_kind_column_of_another_tool_removes_no_vote() -> None:
    cells = read_cells(b"task,worker,label,kind\nt1,a,cat,photo\nt1,b,dog,photo\nt2,a,dog,drawing\n")
    columns = vote_columns(cells)
    assert columns.kind is None
    reading = LONG_VOTES.read(cells)
    assert candidates(reading) == [{"cat": 1, "dog": 1}, {"dog": 1}]
    assert reading.cells["kind"].tolist() == ["photo", "drawing"]


def test_kinds_of_answers_are_recognised_by_words() -> None:
    cells = read_cells(b"task,worker,label,kind\nt1,a,cat,is\nt1,b,dog,not\nt2,a,,skip\nt2,b,dog,\n")
    columns = vote_columns(cells)
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
def test_note_says_which_of_two_votes_of_worker_counts(
    times: tuple[str, str], expected: dict[str, int], said: str
) -> None:
    text = f"task,worker,label,timestamp\nt1,a,cat,{times[0]}\nt1,a,dog,{times[1]}\nt2,a,cat,\n"
    reading = LONG_VOTES.read(read_cells(text.encode()))
    assert candidates(reading) == [expected, {"cat": 1}]
    assert noted(reading, "1 time one worker voted", said)
