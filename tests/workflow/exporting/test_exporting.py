"""Exports of every kind of project: each format, the choice of rows, in the background, and the required rights."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest

from db import entries
from db.models import PersonRow
from plcore import LabelTable, LearnerSettings
from plcore.tables import read_cells
from plcore.tables.readers.recognise import read_table
from tests.present import present
from tests.workflow.kind_worlds import KindWorld
from tests.workflow.world import ROLES, annotator, answer_next, exported, file_of, full_disk, opened, small_frame
from workflow.access import NotAllowed, NotFound
from workflow.answering import loop
from workflow.exporting import files
from workflow.exporting.files import ALL, ANSWERED, SURE, ExportChoice
from workflow.kinds.one_label import FORMATS
from workflow.people import team
from workflow.projects import managing
from workflow.saving import NotSaved
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def seat(home: Home, owner: int, project: int) -> Seat:
    """The owner at a project of candidates, with eight answers."""
    for _ in range(8):
        answer_next(home, owner, project)
    return Seat(home, owner, project)


@pytest.fixture
def of_any_kind(world: KindWorld, home: Home, owner: int) -> Seat:
    """The owner at a project of each kind in turn, with three answers."""
    made = Seat(home, owner, world.make(Seat(home, owner)))
    for _ in range(3):
        world.answer(made)
    made.settle()
    return made


def prepared(seat: Seat, choice: ExportChoice | None = None, stem: str = "small") -> files.PreparedFile:
    """A file once it is written, or has failed."""
    key = files.prepare(seat, choice or ExportChoice(), stem)
    files.wait(seat, key)
    (found,) = (one for one in files.prepared(seat) if one.key == key)
    return found


# Contents of the files


def test_every_format_of_every_kind_is_written_in_full(of_any_kind: Seat) -> None:
    for name, file in files.export_view(of_any_kind, 2).files.items():
        told: list[int] = []
        taken, here = files.take(of_any_kind, ExportChoice(name)), io.BytesIO()
        taken.write(here, told.append)
        assert told == sorted(told)
        assert max(told) <= taken.total
        one = prepared(of_any_kind, ExportChoice(name))
        assert (one.state, one.fault) == (files.READY, "")
        assert one.file_name == f"small-{file.sort}{file.form.suffix}"
        path, file_name = files.find(of_any_kind, one.key)
        assert (file_name, one.size) == (one.file_name, path.stat().st_size)
        assert path.read_bytes() == file_of(of_any_kind, name) == here.getvalue() or name in (
            "parquet",
            "npz",
            "dataset",
            "sealed-log",  # says when it was written
        )
        assert one.size > 0


@pytest.mark.parametrize("name", ["csv", "parquet", "jsonl", "npz", "labelstudio", "prodigy"])
def test_exported_files_are_read_back_with_same_rows(seat: Seat, tmp_path: Path, name: str) -> None:
    path = tmp_path / f"birds{FORMATS[name].suffix}"
    path.write_bytes(file_of(seat, name))
    read = read_table(path)
    with opened(seat.home, seat.person_id, seat.project_id or 0) as learner:
        ids = learner.table.ids.tolist()
    assert len(read.cells) == 60
    assert any(read.cells[column].tolist() == ids for column in read.cells.columns) or name == "prodigy"


def test_every_answer_is_logged_with_person_time_and_seconds(home: Home, owner: int, seat: Seat) -> None:
    ada = Seat(home, annotator(home, owner, "Ada"), seat.project_id)
    question = present(loop.next_question(ada))
    loop.submit_answer(ada, question.token, "among", question.choices)
    with home.database.read() as session:
        log = entries.after(session, seat.project_id or 0, 0)
    lines = [json.loads(line) for line in file_of(seat, "jsonl").splitlines()]
    given = {one["at"]: one for line in lines for one in line["winnow_answers"]}
    said = [one for line in lines for one in line["winnow_answers"]]
    assert len(said) == len(log) == 9
    for one in log:
        found = given[one.at.isoformat()]
        assert found.keys() >= {"person", "kind", "labels", "at", "seconds"}
    assert sum(one["person"] == "Ada" for one in said) == 1
    (hers,) = (one for one in said if one["person"] == "Ada")
    assert (hers["kind"], hers["labels"]) == ("among", list(question.choices))


def test_votes_export_has_one_line_for_each_answer(seat: Seat) -> None:
    assert len(read_cells(file_of(seat, "votes"))) == 8


# Which rows


def test_chosen_rows_are_exported(home: Home, owner: int, seat: Seat) -> None:
    whole = exported(home, owner, seat.project_id or 0)
    answered = read_cells(file_of(seat, rows=ANSWERED))
    assert answered.id.tolist() == whole[whole.winnow_source == "person"].id.tolist()
    assert len(answered) == 8
    for above in (0.5, 0.8, 1.0):
        sure = read_cells(file_of(seat, rows=SURE, above=above))
        known = whole.winnow_source.isin(["person", "given", "truth"])
        confident = whole.winnow_confidence.astype(float) >= above - 1e-9
        assert sure.id.tolist() == whole[known | confident].id.tolist()
        assert files.export_view(seat, 1, above).counts == {ALL: 60, SURE: len(sure), ANSWERED: 8}
    np.testing.assert_array_equal(
        sure.to_numpy(), whole[whole.id.isin(sure.id)].to_numpy(), "a row is written the same, whatever is around it"
    )


def test_rows_of_every_kind_are_counted_as_they_are_written(of_any_kind: Seat) -> None:
    counts = files.export_view(of_any_kind, 5, 0.6).counts
    assert counts[ALL] == managing.get_project(of_any_kind).n_rows
    assert 0 < counts[ANSWERED] <= 3
    for rows, count in counts.items():
        if count:
            assert len(read_cells(file_of(of_any_kind, rows=rows, above=0.6))) == count
            assert files.take(of_any_kind, ExportChoice(rows=rows, above=0.6)).total == count


def test_most_likely_label_of_disputes_is_refused_for_label_vectors(of_any_kind: Seat) -> None:
    choice = ExportChoice(label_disputed=True)
    if files.export_view(of_any_kind, 1).labels_disputed:
        assert files.take(of_any_kind, choice).total == managing.get_project(of_any_kind).n_rows
    else:
        with pytest.raises(ValueError, match="leave out --label-disputed"):
            files.take(of_any_kind, choice)


def test_unknown_file_is_refused(seat: Seat) -> None:
    with pytest.raises(ValueError, match=r"A file is one of csv, parquet, .*.*log. Got 'xls'"):
        files.prepare(seat, ExportChoice("xls"), "small")
    with pytest.raises(ValueError, match=r"one of \.csv, \.parquet"):
        files.file_for(seat, "birds.xls")
    assert files.file_for(seat, "birds.JSONL") == "jsonl"


# In the background


def test_export_holds_state_at_request(seat: Seat) -> None:
    before = file_of(seat)
    taken = files.take(seat, ExportChoice())
    answer_next(seat.home, seat.person_id, seat.project_id or 0)
    late = io.BytesIO()
    taken.write(late, lambda _done: loop.next_question(seat))
    assert late.getvalue() == before
    assert file_of(seat) != before
    assert taken.seq == 8


def test_prepared_file_records_its_log_position(seat: Seat) -> None:
    one = prepared(seat)
    assert one.seq == files.export_view(seat, 1).seq == 8
    answer_next(seat.home, seat.person_id, seat.project_id or 0)
    assert files.export_view(seat, 1).seq == 9
    assert [old.seq for old in files.prepared(seat)] == [8]


def test_two_exports_are_prepared_at_once(seat: Seat) -> None:
    keys = [files.prepare(seat, ExportChoice(name), "small") for name in ("csv", "jsonl")]
    for key in keys:
        files.wait(seat, key)
    contents = [files.find(seat, key)[0].read_bytes() for key in keys]
    assert contents == [file_of(seat, "csv"), file_of(seat, "jsonl")]
    assert [one.file_name for one in files.prepared(seat)] == ["small-winnowed.jsonl", "small-winnowed.csv"]


def test_spreadsheet_exports_neutralise_formulas(home: Home, owner: int) -> None:
    frame = small_frame(30)
    frame.loc[0, "id"], frame.loc[1, "id"], frame.loc[0, "x"] = "=1+1", '@"a", b', -1.5
    seat = Seat(home, owner)
    seat = seat.at(managing.create_project(seat, "s", LabelTable.from_frame(frame, ROLES), LearnerSettings()))
    question = present(loop.next_question(seat))
    loop.submit_answer(seat, question.token, "is", [question.choices[0]], note="-1 or\n=2, as said")

    def written(file: str, **more: bool) -> list[dict[str, str]]:
        out = io.BytesIO()
        files.take(seat, ExportChoice(file, **more)).write(out, lambda _done: None)  # type: ignore[arg-type]
        return list(csv.DictReader(io.StringIO(out.getvalue().decode("utf-8-sig"), newline="")))

    for file in files.GUARDED:
        plain = written(file)
        guarded = written(file, for_spreadsheets=True)
        said = {cell for line in plain for cell in line.values() if cell[:1] in tuple("=+-@")}
        texts = {cell for cell in said if not cell.lstrip("-").replace(".", "").isdigit()}
        assert texts == ({"=1+1", '@"a", b'} if file == "csv" else {"-1 or\n=2, as said"})
        assert guarded == [{name: f"'{cell}" if cell in texts else cell for name, cell in one.items()} for one in plain]
    with pytest.raises(ValueError, match="Only csv and log can be written for spreadsheets"):
        ExportChoice("xlsx", for_spreadsheets=True)


def test_file_name_includes_choice_of_rows(seat: Seat) -> None:
    assert prepared(seat, ExportChoice(rows=SURE)).file_name == "small-winnowed-sure.csv"
    assert prepared(seat, ExportChoice("votes", ANSWERED)).file_name == "small-winnowed-answered.votes.csv"
    assert prepared(seat, ExportChoice("log", ANSWERED)).file_name == "small-log.csv"


def test_removed_export_is_deleted(seat: Seat) -> None:
    one = prepared(seat)
    path, _ = files.find(seat, one.key)
    files.remove(seat, one.key)
    assert not path.exists()
    with pytest.raises(NotFound, match="prepare it again"):
        files.find(seat, one.key)
    files.remove(seat, one.key)
    assert files.prepared(seat) == ()


def test_full_disk_fails_export_with_message(seat: Seat) -> None:
    file_of(seat)  # the log has been read once
    with full_disk():
        one = prepared(seat)
    assert one.state == files.FAILED
    assert "make room on the disk" in one.fault
    assert not list(seat.home.exports_dir.iterdir())
    assert prepared(seat).state == files.READY


def test_export_folder_that_cannot_be_created_is_reported(seat: Seat) -> None:
    seat.home.exports_dir.write_bytes(b"a file is in its place")
    with pytest.raises(NotSaved, match="could not be written to the data folder"):
        files.prepare(seat, ExportChoice(), "small")


def test_leftover_and_closed_exports_are_deleted(seat: Seat) -> None:
    one = prepared(seat)
    path, _ = files.find(seat, one.key)
    files.clear_left(seat.home)
    assert path.exists(), "it may be another server's at this home"
    os.utime(path, (0, 0))
    files.clear_left(seat.home)
    assert not path.exists()
    with pytest.raises(NotFound):
        files.find(seat, one.key)
    path, _ = files.find(seat, prepared(seat, ExportChoice("jsonl")).key)
    seat.home.prepared.close()
    assert not path.exists()


# For whom


def test_file_is_only_for_owner_who_requested_it(home: Home, owner: int, seat: Seat) -> None:
    one = prepared(seat)
    bob = annotator(home, owner, "Bob")
    with pytest.raises(NotAllowed):
        files.find(Seat(home, bob, seat.project_id), one.key)
    with home.database.write() as session:
        session.get_one(PersonRow, bob).role = "owner"
    other = Seat(home, bob, seat.project_id)
    assert team.get_person(other).is_owner
    with pytest.raises(NotFound):
        files.find(other, one.key)
    assert files.prepared(other) == ()
    files.remove(other, one.key)
    assert files.find(seat, one.key)


def test_file_belongs_to_one_project_and_is_deleted_with_it(
    home: Home, owner: int, seat: Seat, world: KindWorld
) -> None:
    one = prepared(seat)
    second = Seat(home, owner, world.make(Seat(home, owner), "second"))
    with pytest.raises(NotFound):
        files.find(second, one.key)
    managing.archive_project(seat)
    with pytest.raises(NotFound, match="archived"):
        files.find(seat, one.key)
