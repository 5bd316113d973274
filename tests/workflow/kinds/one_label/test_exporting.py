"""Exports and combined answers of a project with one label per row."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

from db import answers
from plcore import LabelTable, LearnerSettings, read_cells
from plcore.tables.text.arrow import to_csv_bytes
from tests.present import present
from tests.workflow.four import four_class_project
from tests.workflow.shortlisted import answer_rows, checks_left, shortlist_project
from tests.workflow.world import ROLES, answer_next, exported, file_of, opened, small_frame
from workflow.answering import loop, undoing
from workflow.exporting import files
from workflow.files.prepared import Taken
from workflow.kinds.one_label.reviewing import votes_of
from workflow.log.reading import Vote
from workflow.projects import classes, managing
from workflow.seat import Seat
from workflow.server.home import Home

# Export: every row, every source and the exact original cells; an import of it gives the same


def test_every_row_has_its_label_and_source(home: Home, owner: int, project: int) -> None:
    saved = [answer_next(home, owner, project) for _ in range(5)]
    frame = exported(home, owner, project)
    original = small_frame()
    assert list(frame.columns[: len(original.columns)]) == list(original.columns)
    assert len(frame) == len(original)
    by_id = frame.set_index("id")
    for one in saved:
        assert by_id.winnow_label[one.row_id] == one.labels[0]
        assert by_id.winnow_source[one.row_id] == "person"
        assert by_id.winnow_candidates[one.row_id] == one.labels[0]
        assert by_id.winnow_annotator[one.row_id] == "owner"
    for row in frame.itertuples():
        assert row.winnow_label in row.candidates.split("|")
        assert row.winnow_label in row.winnow_candidates.split("|")
        assert 0 <= float(row.winnow_confidence) <= 1
    assert (frame.winnow_source == "truth").sum() == 20
    truth = frame[frame.winnow_source == "truth"]
    assert (truth.winnow_label == truth.truth).all()
    given = frame[frame.winnow_source == "given"]
    assert (given.winnow_label == given.candidates).all()
    counts = files.export_view(Seat(home, owner, project), 1).sources[files.ALL]
    assert sum(counts.values()) == len(frame)
    assert counts["person"] == 5


def test_exported_table_is_imported_unchanged(home: Home, owner: int, project: int) -> None:
    for _ in range(7):
        answer_next(home, owner, project)
    cells = read_cells(file_of(Seat(home, owner, project)))
    with opened(home, owner, project) as learner:
        standing, original = learner.candidates, learner.table
    as_uploaded = LabelTable.from_cells(cells, ROLES)
    assert np.array_equal(as_uploaded.candidates, original.candidates)
    assert as_uploaded.cells[list(original.cells.columns)].equals(original.cells)
    again = LabelTable.from_cells(
        cells, ROLES.from_json(ROLES.to_json() | {"candidates": "winnow_candidates", "truth": None})
    )
    assert again.classes == original.classes
    assert np.array_equal(again.candidates, standing)
    new = managing.create_project(Seat(home, owner), "again", again)
    twice = exported(home, owner, new)
    assert "before_winnow_label" in twice.columns
    assert len(set(twice.columns)) == len(twice.columns)


@pytest.mark.parametrize("rows", ["all", "sure", "answered"])
@pytest.mark.parametrize("form", ["csv", "parquet", "npz", "jsonl"])
def test_answer_during_export_is_not_in_file(
    home: Home, owner: int, project: int, form: str, rows: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plcore.loop.one_label.disambiguation.BLOCK_CELLS", 50)
    for _ in range(4):
        answer_next(home, owner, project)
    seat, choice = Seat(home, owner, project), files.ExportChoice(form, rows)
    before, late = files.take(seat, choice), files.take(seat, choice)

    def write(taken: Taken) -> bytes:
        sink = io.BytesIO()
        taken.write(sink, lambda _: None)
        return sink.getvalue()

    file = write(before)
    for _ in range(4):
        answer_next(home, owner, project)
    assert write(late) == file
    assert write(files.take(seat, choice)) != file


def test_log_csv_contains_answer_and_withdrawal(home: Home, owner: int, project: int) -> None:
    saved = answer_next(home, owner, project)
    undoing.undo(Seat(home, owner, project))
    lines = list(csv.DictReader(io.StringIO(file_of(Seat(home, owner, project), "log").decode())))
    assert [line["kind"] for line in lines] == ["is", "withdraw"]
    assert lines[0]["row_id"] == saved.row_id
    assert lines[0]["labels"] == saved.labels[0]
    assert lines[1]["withdraws_seq"] == "1"
    assert lines[1]["after"] == lines[0]["before"]


def test_exported_answers_use_current_class_names(home: Home, owner: int) -> None:
    """`not cat` no longer holds once cat was merged into bee, which the row may still be."""
    project = four_class_project(home, owner)
    seat = Seat(home, owner, project)

    def say(kind: str, *labels: str) -> None:
        question = present(loop.next_question(seat))
        loop.submit_answer(seat, question.token, kind, labels, shown=question.shown)

    say("not", "cat")
    say("among", "bee", "cat")
    say("not", "ant")
    classes.change_classes(seat, classes.classes_view(seat).version, "rename", ["ant", "red ant"])
    classes.change_classes(seat, classes.classes_view(seat).version, "merge", ["cat", "bee"])
    lines = [json.loads(line) for line in file_of(seat, "jsonl").splitlines()]
    given = [(one["kind"], *one["labels"]) for line in lines for one in line["winnow_answers"]]
    assert sorted(given) == [("among", "bee"), ("not",), ("not", "red ant")]
    for line in lines:
        ruled_out = {label for one in line["winnow_answers"] if one["kind"] == "not" for label in one["labels"]}
        assert not ruled_out & {candidate["label"] for candidate in line["winnow_candidates"]}


def test_preview_is_beginning_of_export(home: Home, owner: int, project: int) -> None:
    for _ in range(8):
        answer_next(home, owner, project)
    whole = exported(home, owner, project)
    first = files.export_view(Seat(home, owner, project), 12).first.reset_index(drop=True)
    assert list(first.columns[:3]) == ["id", "winnow_candidates_before", "winnow_candidates"]
    assert first.columns[-1] == "y", "what is known already stands last"
    pd.testing.assert_frame_equal(first[whole.columns], whole.head(12))
    assert len(files.export_view(Seat(home, owner, project), 10_000).first) == len(whole)


def test_decimal_commas_round_trip(home: Home, owner: int) -> None:
    frame = small_frame()
    for column in ROLES.numbers:
        frame[column] = frame[column].astype(str).str.replace(".", ",")
    table = LabelTable.read_csv(to_csv_bytes(frame), ROLES)
    project = managing.create_project(Seat(home, owner), "commas", table, LearnerSettings())
    data = file_of(Seat(home, owner, project))
    again = LabelTable.read_csv(data, ROLES)
    np.testing.assert_array_equal(again.numbers, table.numbers)
    assert again.cells[list(frame.columns)].equals(table.cells)


def test_export_has_risk_column_if_checks_miss_candidates(home: Home, owner: int) -> None:
    project, truth = shortlist_project(home, owner, None)
    seat = Seat(home, owner, project)
    checks = checks_left(home, owner, project)
    answer_rows(seat, checks[:19], truth, none=checks[:2])
    assert "winnow_outside" not in exported(home, owner, project)
    answer_rows(seat, checks[19:20], truth)
    frame = exported(home, owner, project)
    risk = pd.to_numeric(frame.winnow_outside)
    told = risk.notna()
    assert (frame.winnow_source[told] != "person").all()
    assert risk[told].between(0, 1).all()
    with opened(home, owner, project) as learner:
        expected = learner.disambiguate().outside
    np.testing.assert_allclose(risk, expected, atol=5e-5)


# Answers of each person per row, for figures of people


def read(home: Home, owner: int, project: int) -> list[Vote]:
    with opened(home, owner, project) as learner, home.database.read() as session:
        return votes_of(learner, answers.said(session, project))


def test_person_has_one_vote_for_each_row_without_bad_items(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    first = present(loop.next_question(seat))
    loop.submit_answer(seat, first.token, "is", [first.choices[0]])
    second = present(loop.next_question(seat))
    loop.submit_answer(seat, second.token, "bad")
    (vote,) = read(home, owner, project)
    assert (vote.row, vote.label, vote.person_id) == (first.view.row, None, owner)
    assert vote.names == {first.choices[0]}
    assert vote.choices == set(first.choices)
    assert vote.predicted == first.predicted
    assert vote.check is False
    assert vote.known is None, "what the table holds is hidden"
    undoing.undo(seat)
    undoing.undo(seat)
    assert read(home, owner, project) == []


def test_rejected_label_votes_for_remaining_candidates(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    question = present(loop.next_question(seat))
    loop.submit_answer(seat, question.token, "not", [question.choices[0]])
    (vote,) = read(home, owner, project)
    assert vote.names == set(question.choices[1:])
