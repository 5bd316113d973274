"""What programs read, over both kinds of project and both databases."""

from __future__ import annotations

import pytest

from db import entries
from tests.workflow.kind_worlds import KindWorld
from tests.workflow.world import annotator, file_of
from workflow.access import NotAllowed, NotFound
from workflow.answering import loop
from workflow.exporting import files, for_programs
from workflow.projects import progress
from workflow.saving import NotSaved
from workflow.seat import Seat


def test_rows_come_in_parts_and_end(world: KindWorld, seat: Seat) -> None:
    total = world.table().n_rows
    part = for_programs.rows_of(seat, total - 2, 5)
    assert [one["row"] for one in part.items] == [total - 2, total - 1]
    assert part.total == total
    for start in (total, 2**31 - 1):
        assert for_programs.rows_of(seat, start, 5).items == []
        assert for_programs.predictions_of(seat, start, 5).items == []


def test_a_part_ends_where_it_is_large(world: KindWorld, seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        world.answer(seat)
    whole = for_programs.log_since(seat, 0, 1_000)
    monkeypatch.setattr(for_programs, "ENOUGH", 1)
    monkeypatch.setattr(for_programs, "MOST_SHARES", 1)
    assert [one["row"] for one in for_programs.rows_of(seat, 2, 5).items] == [2]
    assert [one["row"] for one in for_programs.predictions_of(seat, 2, 5).items] == [2]
    assert for_programs.log_since(seat, 1, 5) == for_programs.Part(whole.items[1:2], whole.total)
    with seat.learner() as opened:
        monkeypatch.setattr(for_programs, "MOST_SHARES", 2 * len(opened.learner.classes))
    assert [one["row"] for one in for_programs.predictions_of(seat, 2, 5).items] == [2, 3]


def test_rows_do_not_give_the_answer_away(world: KindWorld, seat: Seat) -> None:
    roles = world.table().roles
    hidden = {roles.candidates, roles.truth, *roles.label_columns} - {None}
    for one in for_programs.rows_of(seat, 0, 5).items:
        assert not hidden & {*one["features"], *one["caption"]}


def test_a_question_is_the_one_that_the_page_shows(world: KindWorld, seat: Seat) -> None:
    for_programs.question_for(seat)
    seat.settle()  # no model comes between two looks
    told = for_programs.question_for(seat)
    assert told is not None
    assert told["token"] == loop.next_question(seat).token
    assert for_programs.question_for(seat) == told


def test_figures_are_those_of_progress(world: KindWorld, seat: Seat) -> None:
    world.answer(seat)
    seat.settle()  # no model comes between two looks
    told, view = for_programs.figures_of(seat), progress.read_progress(seat)
    assert (told["answered"], told["open"]) == (view.answered, view.left)
    assert len(told["curve"]) == len(view.curve.answers)


def test_the_log_goes_on_from_where_it_was(world: KindWorld, seat: Seat, ada: Seat) -> None:
    for who in (seat, ada, seat):
        world.answer(who)
    with seat.home.database.read() as session:
        stored = entries.after(session, seat.project_id or 0, 0)
    whole = for_programs.log_since(seat, 0, 1_000)
    assert [(one["seq"], one["row"], one["token"]) for one in whole.items] == [
        (one.seq, one.row, one.token) for one in stored
    ]
    assert {one["annotator"] for one in whole.items} == {"owner", "Ada"}
    assert whole.total == len(stored)
    assert for_programs.log_since(seat, 1, 1).items == whole.items[1:2]
    assert for_programs.log_since(seat, len(stored), 5).items == []


def test_what_would_tell_blind_checks_is_the_owner_s(world: KindWorld, seat: Seat) -> None:
    eve = Seat(seat.home, annotator(seat.home, seat.person_id, "Eve", "reviewer"), seat.project_id)
    for read in (
        lambda at: for_programs.log_since(at, 0, 1),
        lambda at: for_programs.predictions_of(at, 0, 1),
        lambda at: for_programs.file_of(at, files.ExportChoice()),
    ):
        with pytest.raises(NotAllowed):
            read(eve)
        with pytest.raises(NotFound):
            read(seat.at(999))


def test_a_file_is_written_for_one_reader(world: KindWorld, seat: Seat) -> None:
    world.answer(seat)
    seat.settle()  # no model comes between the two files
    for name, ending in (("csv", ".csv"), ("log", "-log.csv")):
        written = for_programs.file_of(seat, files.ExportChoice(name))
        assert written.file_name.endswith(ending)
        with written.content as content:
            given = content.read()
        assert (given, len(given)) == (file_of(seat, name), written.size)
    assert list(seat.home.exports_dir.iterdir()) == []


def test_a_file_that_cannot_be_written_is_said_in_words(
    world: KindWorld, seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(for_programs.tempfile, "TemporaryFile", full)
    with pytest.raises(NotSaved, match="make room"):
        for_programs.file_of(seat, files.ExportChoice())
