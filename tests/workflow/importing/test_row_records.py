"""Rows that programs send go the way of a file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from db import entries
from plcore import LabelTable, TableError, read_cells, suggest_roles
from tests.workflow.four import four_class_project
from tests.workflow.world import annotator
from workflow import importing
from workflow.access import NotAllowed
from workflow.importing import more_rows, row_records
from workflow.importing.more_rows import RowsError
from workflow.seat import Seat
from workflow.server.home import Home

NEW = {"id": "new", "x": "1.5", "y": "2", "candidates": "ant|bee", "truth": "ant"}


@pytest.fixture
def there(home: Home, owner: int) -> Seat:
    return Seat(home, owner, four_class_project(home, owner))


def count(there: Seat) -> int:
    with there.learner() as opened:
        return opened.learner.table.n_rows


def test_rows_come_in_as_a_file_would_bring_them(there: Seat) -> None:
    before = count(there)
    odd = 'two\nlines, "quoted"'
    added = row_records.append_rows(there, [NEW, {**NEW, "id": odd}])
    assert added.rows == count(there) == before + 2
    assert added[1:] == (2, (), (), (), (), ())
    with there.learner() as opened:
        table = opened.learner.table
        assert [table.id_of(row) for row in (before, before + 1)] == ["new", odd]
        assert set(opened.learner.state(before).candidates) == {"ant", "bee"}


def test_the_same_again_is_refused_and_nothing_is_stored(there: Seat) -> None:
    row_records.append_rows(there, [NEW])
    before = count(there)
    with pytest.raises(TableError, match="Fix:"):
        row_records.append_rows(there, [NEW])
    assert count(there) == before
    with there.home.database.read() as session:
        assert entries.last_seq(session, there.project_id or 0) == 1


def test_what_the_project_has_is_passed_over(there: Seat) -> None:
    row_records.append_rows(there, [NEW])
    before = count(there)
    added = row_records.append_rows(there, [NEW | {"x": "9"}, NEW | {"id": "newer", "nobody": "x"}])
    assert (added.rows, added.added) == (before + 1, 1)
    assert (added.known, added.dropped) == (("new",), ("nobody",)), "and it is said"
    with there.learner() as opened:
        assert opened.learner.table.id_of(before) == "newer"


@pytest.mark.parametrize("theirs", ["theirs", "new"])
def test_rows_of_others_that_come_between_do_not_hinder(
    there: Seat, monkeypatch: pytest.MonkeyPatch, theirs: str
) -> None:
    """Of programs that send at once each has its rows added; the same sent twice at once come in once."""
    before, read = count(there), more_rows.read_rows

    def read_late(*given: Any) -> Any:
        found = read(*given)
        if count(there) == before:
            monkeypatch.setattr(more_rows, "read_rows", read)
            row_records.append_rows(there, [{**NEW, "id": theirs}])
        return found

    monkeypatch.setattr(more_rows, "read_rows", read_late)
    if theirs == "new":
        with pytest.raises(TableError, match="in the project already"):
            row_records.append_rows(there, [NEW])
        assert count(there) == before + 1
    else:
        assert row_records.append_rows(there, [NEW]).rows == count(there) == before + 2
        with there.learner() as opened:
            assert [opened.learner.table.id_of(row) for row in (before, before + 1)] == ["theirs", "new"]


def test_who_comes_between_every_time_is_told(there: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    def add(*_: object) -> None:
        raise RowsError("The rows have changed.")

    monkeypatch.setattr(more_rows, "add_rows", add)
    before = count(there)
    with pytest.raises(RowsError, match=r"again and again while these rows were read.*Fix: send them again"):
        row_records.append_rows(there, [NEW])
    assert count(there) == before


@pytest.mark.parametrize(
    "wrong", [[{"nobody": "x"}], [{"id": "new"}], [NEW | {"x": "far"}], [NEW | {"candidates": ""}], [{}]]
)
def test_what_does_not_fit_is_refused_whole(there: Seat, wrong: list[dict[str, str]]) -> None:
    before = count(there)
    with pytest.raises(TableError, match="Fix:"):
        row_records.append_rows(there, [{**NEW, "id": "good"}, *wrong] if wrong[0] else wrong)
    assert count(there) == before


def test_nothing_is_read_for_who_may_not(there: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: object, **__: object) -> None:
        pytest.fail("read")

    monkeypatch.setattr(row_records, "read_upload", read)
    eve = Seat(there.home, annotator(there.home, there.person_id, "Eve", "reviewer"), there.project_id)
    with pytest.raises(NotAllowed):
        row_records.append_rows(eve, [NEW])


def test_words_read_as_nothing_are_reported(home: Home, owner: int) -> None:
    cells = read_cells(
        b"id,text,candidates\n1,one small thing,wren|robin\n2,other thing,robin|jay\n3,third,NA\n"
    )
    roles = replace(suggest_roles(cells), unlabelled="all")
    assert roles.ignored == ("NA",)
    project = importing.create(Seat(home, owner), "birds", LabelTable.from_cells(cells, roles))
    added = row_records.append_rows(
        Seat(home, owner, project),
        [{"id": "6", "text": "na", "candidates": "NA|jay"}],
        ["nothing-next-to-labels"],
    )
    assert any("'NA' was read as an empty cell" in note for note in added.notes)
    assert any("counts as certain" in note for note in added.notes)


def test_a_doubt_stops_the_rows_until_it_is_accepted(home: Home, owner: int) -> None:
    cells = read_cells(b"id,text,candidates\n1,one small thing,wren|robin\n2,other thing,robin|jay\n")
    table = LabelTable.from_cells(cells, suggest_roles(cells))
    seat = Seat(home, owner, importing.create(Seat(home, owner), "birds", table))
    row = {"id": "3", "text": "a third thing", "candidates": "wren;robin"}
    with pytest.raises(TableError, match=r'Fix: .* send "accept": \["mixed-separators"\]'):
        row_records.append_rows(seat, [row])
    assert count(seat) == 2
    with pytest.raises(TableError, match="mixed-separators"):
        row_records.append_rows(seat, [row], ["another"])
    added = row_records.append_rows(seat, [row], ["mixed-separators"])
    assert (added.rows, added.added) == (3, 1)
    assert added.notes, "it is told all the same"


def test_na_next_to_labels_is_a_class(home: Home, owner: int) -> None:
    cells = read_cells(b"id,text,candidates\n1,one small thing,wren|robin\n2,other thing,robin|jay\n")
    table = LabelTable.from_cells(cells, suggest_roles(cells))
    project = importing.create(Seat(home, owner), "birds", table)
    added = row_records.append_rows(
        Seat(home, owner, project), [{"id": "6", "text": "na", "candidates": "NA|jay"}]
    )
    assert added.new_classes == ("NA",)
