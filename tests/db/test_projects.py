"""Projects in the database and what belongs to them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError

from db import copies, entries, events, members, people, projects
from db.base import Base
from db.engine import Database, DatabaseUnavailableError, Stamps, is_damaged
from db.members import DisputeNote, Marked
from db.opened_file import LOG
from db.projects import NameTakenError, PastSettings, StoredSnapshot
from tests.db.conftest import NOW, add_project, new_entry

# projects


def test_latest_project_of_file_is_found_again(database: Database) -> None:
    first, second = add_project(database, "birds"), add_project(database, "frogs")
    with database.write() as session:
        for number in (first, second):
            session.execute(text("UPDATE projects SET source_hash = 'abc' WHERE id = :number"), {"number": number})
        assert projects.by_source(session, "abd") is None
        assert projects.by_source(session, "abc") == projects.get(session, second)
        projects.change(session, second, archived_at=NOW)
        assert projects.by_source(session, "abc") == projects.get(session, second)
        projects.change(session, second, deleted_at=NOW)
        assert projects.by_source(session, "abc") == projects.get(session, first)


def test_projects_are_found_listed_and_archived(database: Database) -> None:
    birds, frogs = add_project(database, "birds"), add_project(database, "frogs")
    with database.write() as session:
        found = projects.get(session, birds)
        assert (found.id, found.name, found.created_at, found.archived_at) == (birds, "birds", NOW, None)
        assert found.roles == {"candidates": "c", "numbers": ["x"]}
        assert found.settings == {"n_neighbors": 3}
        projects.change(session, frogs, archived_at=NOW)
    with database.read() as session:
        assert [one.name for one in projects.listed(session)] == ["birds"]
        assert [one.name for one in projects.everything(session, [frogs])] == ["frogs"]
        assert [one.name for one in projects.named(session, in_use=True)] == ["birds"]
        assert [one.name for one in projects.named(session, in_use=False)] == ["frogs"]
        assert projects.in_use(session) == {birds}
        assert projects.get(session, frogs).archived_at == NOW
        assert projects.count(session) == 2
        with pytest.raises(projects.NoSuchProjectError, match="99"):
            projects.get(session, 99)


def test_impossible_id_finds_no_project(database: Database, subtests: pytest.Subtests) -> None:
    for number in [0, -1, 2**31, 2**63, -(2**70), 10**30]:
        refused = pytest.raises(projects.NoSuchProjectError, match=str(number))
        with subtests.test(str(number)), database.read() as session, refused:
            projects.get(session, number)


# Snapshots: one name, one state


ONE = StoredSnapshot("first", 7, NOW, 1, {"model": "a"}, None, "a" * 64, "b" * 64)


def test_snapshot_name_is_unique_in_project(database: Database) -> None:
    birds, frogs = add_project(database), add_project(database, "frogs")
    second = replace(ONE, name="Second", made_at=NOW + timedelta(hours=1), model_version=5)
    with database.write() as session:
        projects.add_snapshot(session, birds, second)
        projects.add_snapshot(session, birds, ONE)
        projects.add_snapshot(session, frogs, ONE)
    with pytest.raises(NameTakenError, match="a snapshot 'first' already"), database.write() as session:
        projects.add_snapshot(session, birds, replace(ONE, seq=9))
    with database.read() as session:
        assert projects.list_snapshots(session, birds) == [ONE, second]
        assert projects.get_snapshot(session, birds, "first") == ONE
        assert projects.get_snapshot(session, birds, "third") is None
        assert projects.list_snapshots(session, frogs) == [ONE]


# Marked rows: one mark per row, only in its project


WREN = Marked(3, "wren", "example", "look at the tail", 1, NOW)


def test_row_has_one_mark(database: Database) -> None:
    birds, frogs = add_project(database), add_project(database, "frogs")
    asked = replace(WREN, purpose="qualification", note="")
    first = replace(WREN, row=1)
    with database.write() as session:
        members.put_example(session, birds, WREN)
        members.put_example(session, birds, asked)
        members.put_example(session, birds, replace(WREN, row=4))
        members.put_example(session, birds, first)
    with database.read() as session:
        assert members.of_row(session, birds, 3) == asked
        assert members.of_row(session, birds, 2) is None
        assert members.of_row(session, frogs, 3) is None
        assert members.list_examples(session, birds, "example") == [first, replace(WREN, row=4)]
        assert members.list_examples(session, birds, "qualification") == [asked]
        assert members.list_examples(session, frogs, "example") == []


def test_mark_is_removed(database: Database) -> None:
    birds, frogs = add_project(database), add_project(database, "frogs")
    with database.write() as session:
        members.put_example(session, birds, WREN)
        members.put_example(session, frogs, WREN)
        members.remove_example(session, birds, 3)
        members.remove_example(session, birds, 3)
    with database.read() as session:
        assert members.of_row(session, birds, 3) is None
        assert members.of_row(session, frogs, 3) == WREN


# Values that change with every commit


def test_stamp_moves_with_every_commit_of_anyone(database: Database) -> None:
    before = database.stamp()
    with database.read() as session:
        people.listed(session)
    if database.is_sqlite:  # on the other database it may change by itself
        assert database.stamp() == before
    with database.write() as session:
        people.add(session, "ada", "owner", NOW)
    after = database.stamp()
    assert after != before
    other = Database(database._writer.url.render_as_string(hide_password=False))
    with other.write() as session:
        people.add(session, "bob", "annotator", NOW)
    other.close()
    assert database.stamp() not in (before, after)
    database.close()
    assert database.stamp() not in (before, after), "a new connection says nothing about the one before"


def test_stamp_works_again_after_lost_connection(database: Database) -> None:
    stamps = Stamps(database._reader)
    before = stamps.stamp()
    assert stamps._watcher is not None
    stamps._watcher.driver_connection.close()  # type: ignore[union-attr]
    with pytest.raises(DatabaseUnavailableError, match="closed"):
        stamps.stamp()
    assert stamps.stamp() != before, "a new connection says nothing about the one before"
    stamps.close()


def test_damaged_database_is_reported_by_stamp(sqlite: Database) -> None:
    with sqlite.write() as session:
        people.add(session, "ada", "owner", NOW)
    sqlite._drop()
    assert sqlite.path is not None
    log = sqlite.path.with_name(f"{sqlite.path.name}{LOG}")
    log.write_bytes(b"\xff" * log.stat().st_size)
    for _ in range(2):
        with pytest.raises(DBAPIError) as told:
            sqlite.stamp()
        assert is_damaged(told.value)


# Earlier settings, in order, project by project


def test_past_settings_are_listed_in_order(database: Database) -> None:
    birds, frogs = add_project(database), add_project(database, "frogs")
    later = NOW + timedelta(hours=1)
    with database.write() as session:
        projects.add_past_setting(session, birds, {"model": "a", "C": None}, 7, NOW)
        projects.add_past_setting(session, birds, {"model": "b"}, 7, later)
        projects.add_past_setting(session, frogs, {"model": "c"}, 0, NOW)
    with database.read() as session:
        assert projects.list_past_settings(session, birds) == [
            PastSettings(7, NOW, {"model": "a", "C": None}),
            PastSettings(7, later, {"model": "b"}),
        ]
        assert projects.list_past_settings(session, frogs) == [PastSettings(0, NOW, {"model": "c"})]


# Notes next to rows that people disagree on: each with its row and project, in order


ASKED = DisputeNote(3, 1, NOW, "Who took this picture?")
TOLD = DisputeNote(3, 2, NOW - timedelta(minutes=1), "I did; its clock is slow.")


def test_notes_of_row_are_in_writing_order(database: Database) -> None:
    birds, frogs = add_project(database), add_project(database, "frogs")
    with database.write() as session:
        members.add_dispute_note(session, birds, ASKED)
        members.add_dispute_note(session, frogs, replace(ASKED, text="a frog"))
        members.add_dispute_note(session, birds, replace(ASKED, row=4))
        members.add_dispute_note(session, birds, TOLD)
    with database.read() as session:
        assert members.dispute_notes_of_row(session, birds, 3) == [ASKED, TOLD]
        assert members.dispute_notes_of_row(session, birds, 5) == []
        assert [one.text for one in members.dispute_notes_of_row(session, frogs, 3)] == ["a frog"]


def test_note_written_twice_is_listed_twice(database: Database) -> None:
    birds = add_project(database)
    with database.write() as session:
        members.add_dispute_note(session, birds, ASKED)
        members.add_dispute_note(session, birds, ASKED)
    with database.read() as session:
        assert members.dispute_notes_of_row(session, birds, 3) == [ASKED, ASKED]


# All rows of a project, out of one database and into another


@pytest.fixture
def project(database: Database) -> int:
    with database.write() as session:
        for name in ("Ada", "Bob", "Cy"):
            people.add(session, name, "annotator", NOW)
        made = projects.add(
            session,
            name="p",
            table_hash="0",
            roles={"id": "x"},
            settings={},
            n_rows=3,
            n_classes=2,
            n_to_ask=3,
            created_by=1,
            created_at=NOW,
        )
        entries.append(session, new_entry(project_id=made, person_id=2, labels=("a",), token="2.0.0"))
        members.put(session, made, 3, "viewer", at=NOW, by=1)
        members.add_dispute_note(session, made, DisputeNote(row=1, person_id=2, at=NOW, text="Look."))
    return made


def test_moved_project_gets_new_ids(database: Database, project: int) -> None:
    with database.write() as session:
        values, rows = copies.take(session, project)
        assert copies.people_in(rows) == {1, 2, 3}
        other = copies.put(session, values, rows, {1: 3, 2: 1, 3: 2}, created_by=2)
        again, moved = copies.take(session, other)
        assert again == values
        assert (moved["entries"][0]["person_id"], moved["members"][0]["person_id"]) == (1, 2)
        assert moved["members"][0]["added_by"] == 3
        back = copies.put(session, again, moved, {3: 1, 1: 2, 2: 3}, created_by=1)
        assert copies.take(session, back) == (values, rows)
        assert projects.get(session, other).created_by == 2


def test_every_table_of_project_is_copied_or_recomputed() -> None:
    """A new table must be added to one of the two."""
    made_again = {
        "questions",
        "leases",
        "batches",
        "models",
        "trainings",
        "comparisons",
        "random_orders",
        "encodings",
        "suggestions",
        "events",
    }
    of_projects = {name for name, table in Base.metadata.tables.items() if "project_id" in table.c}
    assert of_projects == made_again | set(copies.PARTS)


def test_copied_data_passes_check_and_wrong_values_are_refused(database: Database, project: int) -> None:
    with database.read() as session:
        values, rows = copies.take(session, project)
    copies.check(values, rows)
    for name, held in (("name", 1), ("n_rows", True), ("room", []), ("created_at", "2026-01-01"), ("id", 1)):
        with pytest.raises(copies.MisfitError, match=name):
            copies.check({**values, name: held}, rows)
    with pytest.raises(copies.MisfitError, match="members: two rows have person_id 3"):
        copies.check(values, {**rows, "members": rows["members"] * 2})


def test_unknown_person_is_refused(database: Database, project: int) -> None:
    with database.read() as session:
        values, rows = copies.take(session, project)
    with pytest.raises(KeyError), database.write() as session:
        copies.put(session, values, rows, {1: 1}, created_by=1)
    with database.read() as session:
        assert session.execute(text("SELECT count(*) FROM projects")).scalar_one() == 1


def test_rows_are_stored_in_pieces_and_duplicates_refused(database: Database, project: int) -> None:
    with database.read() as session:
        values, taken = copies.take(session, project)
    (entry,) = taken["entries"]
    log = [entry | {"seq": number, "revision": number, "token": f"2.{number}"} for number in range(1, 2_501)]
    rows = {name: iter(()) for name in copies.PARTS}
    with database.write() as session:
        other = copies.put(session, values, rows | {"entries": iter(log)}, {2: 2}, created_by=1)
        assert entries.last_seq(session, other) == 2_500
    with pytest.raises(IntegrityError), database.write() as session:
        copies.put(session, values, rows | {"entries": iter([entry, entry])}, {2: 2}, created_by=1)


# The part of the log that learners need equals the full entries


def test_entry_parts_match_whole_entries(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    project, other = add_project(database), add_project(database, "another")
    odd = ("wren", 'a "quote"', "\u00fcber", "a\\b", "")
    with database.write() as session:
        for number in range(7):
            labels = (odd[number % 5],) if number % 3 else odd[:number]
            entries.append(session, new_entry(project, row=number, labels=labels))
            entries.append(session, new_entry(other, row=number))
        entries.append(session, new_entry(project, row=0, revision=1, kind="withdraw", labels=(), target_seq=1))
        entries.append(session, new_entry(project, row=entries.NO_ROW, kind="class", person_id=2))
    monkeypatch.setattr(events, "READ_AT_ONCE", 2)
    with database.read() as session:
        for seq in (0, 3, 9, 99):
            whole = entries.after(session, project, seq)
            assert [tuple(one) for one in events.each(session, project, seq)] == [
                (one.seq, one.kind, one.row, one.person_id, one.labels, one.target_seq) for one in whole
            ]


def test_question_form_is_read_if_recorded(database: Database) -> None:
    project, other = add_project(database), add_project(database, "another")
    asked = (None, {"form": "which", "first": ["a"]}, {"form": "is", "about": ["first"]}, {"first": []})
    with database.write() as session:
        for number in range(8):
            entries.append(session, new_entry(project, row=number, asked=asked[number % 4], labels=("a", "b")))
            entries.append(session, new_entry(other, row=number, asked=asked[1]))
        entries.append(
            session, new_entry(project, row=1, revision=1, kind="withdraw", labels=(), target_seq=2, asked=asked[1])
        )
    with database.read() as session:
        found = list(events.each_put(session, project, 2, 99, "first"))
        assert [one.seq for one in found] == [4, 6, 8]
        assert [one.asked for one in found] == [asked[3], asked[1], asked[3]]
        assert {(one.labels, one.kind) for one in found} == {(("a", "b"), "is")}
        assert [one.row for one in found] == [3, 5, 7]
        assert all(found[0].token != one.token for one in found[1:])
        assert [one.seq for one in events.each_put(session, project, 0, 4, "first")] == [2, 4]


def test_predictions_are_read_for_rows_only(database: Database) -> None:
    project = add_project(database)
    with database.write() as session:
        for number, predicted in enumerate(("a", None, "b", "c")):
            entries.append(session, new_entry(project, row=number, predicted=predicted))
        entries.append(session, new_entry(project, row=entries.NO_ROW, kind="class", predicted="d"))
    with database.read() as session:
        assert list(events.each_predicted(session, project, 0, 9)) == [(1, 0, "a"), (3, 2, "b"), (4, 3, "c")]
        assert list(events.each_predicted(session, project, 1, 3)) == [(3, 2, "b")]
