"""Finding answered rows: on both databases, filtered, paged, and never by what was taken back."""

from __future__ import annotations

from db import answers, entries
from db.answers import Wanted
from db.engine import Database
from tests.db.conftest import add_project, new_entry

KINDS = ("is", "among", "bad")


def filled(database: Database) -> int:
    """Rows 0 to 3: an answer and a later one, one taken back, a bad one; each by whom and with what it says."""
    project = add_project(database)
    add_project(database, "another")
    with database.write() as session:
        for change in (
            {"row": 0, "labels": ("wren",), "predicted": "robin"},
            {"row": 0, "labels": ("Wren", "robin"), "kind": "among", "person_id": 2, "flagged": True},
            {"row": 1, "labels": ("robin",), "predicted": "robin"},
            {"row": 2, "labels": ("wren",)},
            {"row": 3, "labels": (), "kind": "bad", "person_id": 2},
            {"row": 3, "labels": (), "kind": "skip", "revision": 1},
        ):
            entries.append(session, new_entry(project, **change))
        entries.append(
            session,
            new_entry(project, kind="withdraw", row=2, labels=(), target_seq=4, revision=1, token="back"),
        )
        entries.append(session, new_entry(project + 1, row=1))
    return project


def found(database: Database, project: int, **wanted: object) -> list[tuple[int, int]]:
    wish = Wanted(**{"kinds": KINDS, **wanted})  # type: ignore[arg-type]
    with database.read() as session:
        places = answers.places(session, project, wish)
        page = answers.page(session, project, wish, 0, 50)
        assert [(one.seq, one.row) for one in page] == places
        assert answers.count_reviewed(session, project, wish) == len(places)
        assert [one.seq for one in answers.page(session, project, wish, 1, 1)] == [
            seq for seq, _ in places[1:2]
        ]
        assert answers.with_seqs(session, project, [seq for seq, _ in places]) == page
    return places


def test_the_latest_answer_of_each_row_the_newest_first(database: Database) -> None:
    project = filled(database)
    assert found(database, project) == [(5, 3), (3, 1), (2, 0)]
    assert found(database, project, every=True) == [(5, 3), (3, 1), (2, 0), (1, 0)]
    assert found(database, project, kinds=("is",)) == [(3, 1), (1, 0)]
    assert found(database, project, person_id=1) == [(3, 1), (1, 0)]
    assert found(database, project, person_id=2, flagged=True) == [(2, 0)]
    assert found(database, project + 1) == [(1, 1)]


def test_names_are_found_whole_and_by_their_capitals(database: Database) -> None:
    project = filled(database)
    assert found(database, project, labels=("wren",)) == []
    assert found(database, project, labels=("Wren",)) == [(2, 0)]
    assert found(database, project, labels=("wren",), every=True) == [(1, 0)]
    assert found(database, project, labels=("rob", "obin")) == []
    assert found(database, project, labels=("robin", "wren")) == [(3, 1), (2, 0)]


def test_who_answered_otherwise_than_the_model_said(database: Database) -> None:
    project = filled(database)
    wish = {"kinds": ("is",), "exact": ("is",), "disagrees": True}
    assert found(database, project, **wish) == [(1, 0)]
    assert found(database, project, **wish, now={"robin": "wren"}) == [], "they are one class now"


def test_all_of_a_row_whether_there_is_anything_and_how_many_name_it(database: Database) -> None:
    project = filled(database)
    with database.read() as session:
        assert [one.seq for one in answers.of_row(session, project, 2)] == [4, 7]
        assert answers.of_row(session, project, 4) == []
        assert answers.any_answer(session, project, ("bad",), 2)
        assert not answers.any_answer(session, project, ("bad",), 1)
        assert answers.any_answer(session, project, ("skip",), None)
        assert answers.count_naming(session, project, ("wren", "Wren"), KINDS) == 2
        assert answers.count_naming(session, project, ("wren",), ("among",)) == 0
