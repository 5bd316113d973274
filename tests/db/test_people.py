from __future__ import annotations

from datetime import timedelta

from sqlalchemy.orm import Session

from db import people, questions
from db.engine import Database
from db.questions import OpenQuestion

from .conftest import NOW, add_project

LATER = NOW + timedelta(hours=1)
NOON = NOW + (LATER - NOW) / 2
MUCH_LATER = NOW + timedelta(days=30)


def test_people_are_found_disabled_and_enabled(database: Database) -> None:
    with database.write() as session:
        ada, bob = people.add(session, "ada", "owner", NOW), people.add(session, "bob", "annotator", NOW)
        people.disable(session, bob, NOW)
        people.disable(session, bob, LATER)
    with database.read() as session:
        assert [one.name for one in people.listed(session)] == ["ada", "bob"]
        assert people.first_owner(session) == people.find(session, ada)
        found = people.find(session, bob)
        assert found is not None
        assert found.disabled_at == NOW
        assert not found.is_owner
        assert people.find(session, 99) is None
    with database.write() as session:
        people.enable(session, bob)
        found = people.find(session, bob)
        assert found is not None
        assert found.disabled_at is None


def add_link(database: Database, secret_hash: str) -> None:
    with database.write() as session:
        if people.first_owner(session) is None:
            people.add(session, "ada", "owner", NOW)
        people.add_link(
            session, secret_hash=secret_hash, person_id=1, created_by=None, created_at=NOW, expires_at=LATER
        )


def test_a_link_is_taken_once(database: Database) -> None:
    add_link(database, "h")
    with database.write() as session:
        taken = people.take(session, "h", NOW)
        assert taken is not None
        assert (taken.person_id, taken.used_at) == (1, NOW)
    with database.write() as session:
        assert people.take(session, "h", NOW) is None
        assert people.take(session, "unknown", NOW) is None
        assert people.find_link(session, "h") == taken


def test_a_link_that_has_expired_is_not_taken(database: Database) -> None:
    add_link(database, "h")
    with database.write() as session:
        assert people.take(session, "h", LATER) is None
    add_link(database, "second")
    with database.write() as session:
        people.expire_for(session, 1, NOW)
        assert people.take(session, "second", NOW) is None


def add_sign_in(session: Session, secret_hash: str, person_id: int, **more: str) -> None:
    people.add_sign_in(
        session, secret_hash=secret_hash, person_id=person_id, created_at=NOW, expires_at=MUCH_LATER, **more
    )


def test_a_sign_in_names_its_person_until_it_ends_or_expires(database: Database) -> None:
    with database.write() as session:
        ada, bob = people.add(session, "ada", "owner", NOW), people.add(session, "bob", "annotator", NOW)
        for secret_hash in ("one", "two"):
            add_sign_in(session, secret_hash, ada, how="link")
        one = people.find_sign_in(session, "one", NOW)
        assert one is not None
        assert not people.end(session, one.id, bob, NOW), "it is not his"
        assert people.end(session, one.id, ada, NOW)
        assert not people.end(session, one.id, ada, NOW), "once"
    with database.write() as session:
        assert people.find_sign_in(session, "one", NOW) is None
        two = people.find_sign_in(session, "two", NOW)
        assert two is not None
        assert (two.person, two.how) == (people.find(session, ada), "link")
        assert people.find_sign_in(session, "two", MUCH_LATER) is None
        assert people.find_sign_in(session, "unknown", NOW) is None
        people.disable(session, ada, NOW)
        assert people.find_sign_in(session, "two", NOW) is None
        people.enable(session, ada)
        people.end_for(session, ada, NOW)
        assert people.find_sign_in(session, "two", NOW) is None


def test_signed_in_browsers_are_listed_and_all_but_one_ended(database: Database) -> None:
    with database.write() as session:
        ada, bob = people.add(session, "ada", "owner", NOW), people.add(session, "bob", "annotator", NOW)
        for secret_hash, person in (("one", ada), ("two", ada), ("three", bob)):
            add_sign_in(session, secret_hash, person, browser="Firefox on Linux", address="192.0.2.1")
        one, two, three = people.list_sign_ins(session, NOW)
        assert (one.browser, one.address, one.last_seen_at) == ("Firefox on Linux", "192.0.2.1", NOW)
        people.see(session, two.id, LATER)
        assert [each.id for each in people.list_sign_ins(session, NOW, ada)] == [two.id, one.id]
        assert people.list_sign_ins(session, MUCH_LATER) == []
        people.end_for(session, ada, LATER, but=two.id)
        assert {each.id for each in people.list_sign_ins(session, NOW)} == {two.id, three.id}


def test_open_links_are_counted_by_person(database: Database) -> None:
    add_link(database, "one")
    add_link(database, "two")
    with database.write() as session:
        assert people.open_counts(session, NOW) == {1: 2}
        people.take(session, "one", NOW)
        assert people.open_counts(session, NOW) == {1: 1}
        assert people.open_counts(session, LATER) == {}


def test_the_open_question_is_replaced_and_reserves_its_row(database: Database) -> None:
    project = add_project(database)
    asked = OpenQuestion(
        project_id=project,
        person_id=1,
        row=3,
        token="1.3.0",
        revision=0,
        strategy="apl",
        score=0.5,
        model_version=2,
        decides=4,
        undecided=9,
        shown_at=NOW,
        reserved_at=NOW,
        reserved_until=NOON,
    )
    with database.write() as session:
        assert questions.get(session, project, 1) is None
        questions.put(session, OpenQuestion(**(vars(asked) | {"row": 1, "token": "1.1.0"})))
        questions.put(session, asked)
        assert questions.get(session, project, 1) == asked
    with database.read() as session:
        assert questions.reserved_places(session, project, 2, NOW) == {(3, None): 1}
        assert not questions.reserved_places(session, project, 1, NOW), (
            "their own row is not before somebody else"
        )
        assert not questions.reserved_places(session, project, 2, NOON)
        assert not questions.reserved_places(session, project + 1, 2, NOW)
    with database.write() as session:
        questions.put(session, OpenQuestion(**(vars(asked) | {"reserved_at": NOON, "reserved_until": LATER})))
        questions.put(session, OpenQuestion(**(vars(asked) | {"person_id": 2})))
        assert questions.reserved_places(session, project, 3, NOW) == {(3, None): 2}
        questions.hand_back(session, project, 2, NOW)
        assert questions.reserved_places(session, project, 3, NOW) == {(3, None): 1}
        renewed = questions.get(session, project, 1)
        assert renewed is not None
        assert renewed.shown_at == NOW
        questions.delete_question(session, project, 1)
        questions.delete_question(session, project, 1)
        assert questions.get(session, project, 1) is None


def test_a_question_that_is_put_away_reserves_nothing_and_its_clock_stands(database: Database) -> None:
    project = add_project(database)
    away = OpenQuestion(
        project_id=project, person_id=1, row=3, token="1.3.0", revision=0, strategy="apl", score=1.0,
        model_version=0, decides=0, undecided=0, shown_at=NOW, reserved_at=NOW, reserved_until=LATER,
        paused_at=NOW + timedelta(seconds=20),
    )  # fmt: skip
    with database.write() as session:
        questions.put(session, away)
    with database.read() as session:
        assert questions.get(session, project, 1) == away
        assert not questions.reserved_places(session, project, 2, NOW)
    back = NOW + timedelta(hours=1)
    assert away.seconds(back) == 20
    assert away.shown_by(back) == back - timedelta(seconds=20)
    there = OpenQuestion(**(vars(away) | {"paused_at": None}))
    assert there.seconds(back) == 3600
    assert there.shown_by(back) == NOW
