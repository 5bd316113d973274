from __future__ import annotations

from datetime import timedelta

from sqlalchemy.orm import Session

from db import links, people, questions, reservations, sign_ins
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
        links.add(
            session, secret_hash=secret_hash, person_id=1, created_by=None, created_at=NOW, expires_at=LATER
        )


def test_a_link_is_taken_once(database: Database) -> None:
    add_link(database, "h")
    with database.write() as session:
        taken = links.take(session, "h", NOW)
        assert taken is not None
        assert (taken.person_id, taken.used_at) == (1, NOW)
    with database.write() as session:
        assert links.take(session, "h", NOW) is None
        assert links.take(session, "unknown", NOW) is None
        assert links.find(session, "h") == taken


def test_a_link_that_has_expired_is_not_taken(database: Database) -> None:
    add_link(database, "h")
    with database.write() as session:
        assert links.take(session, "h", LATER) is None
    add_link(database, "second")
    with database.write() as session:
        links.expire_for(session, 1, NOW)
        assert links.take(session, "second", NOW) is None


def add_sign_in(session: Session, secret_hash: str, person_id: int, **more: str) -> None:
    sign_ins.add(
        session, secret_hash=secret_hash, person_id=person_id, created_at=NOW, expires_at=MUCH_LATER, **more
    )


def test_a_sign_in_names_its_person_until_it_ends_or_expires(database: Database) -> None:
    with database.write() as session:
        ada, bob = people.add(session, "ada", "owner", NOW), people.add(session, "bob", "annotator", NOW)
        for secret_hash in ("one", "two"):
            add_sign_in(session, secret_hash, ada, how="link")
        one = sign_ins.find(session, "one", NOW)
        assert one is not None
        assert not sign_ins.end(session, one.id, bob, NOW), "it is not his"
        assert sign_ins.end(session, one.id, ada, NOW)
        assert not sign_ins.end(session, one.id, ada, NOW), "once"
    with database.write() as session:
        assert sign_ins.find(session, "one", NOW) is None
        two = sign_ins.find(session, "two", NOW)
        assert two is not None
        assert (two.person, two.how) == (people.find(session, ada), "link")
        assert sign_ins.find(session, "two", MUCH_LATER) is None
        assert sign_ins.find(session, "unknown", NOW) is None
        people.disable(session, ada, NOW)
        assert sign_ins.find(session, "two", NOW) is None
        people.enable(session, ada)
        sign_ins.end_for(session, ada, NOW)
        assert sign_ins.find(session, "two", NOW) is None


def test_signed_in_browsers_are_listed_and_all_but_one_ended(database: Database) -> None:
    with database.write() as session:
        ada, bob = people.add(session, "ada", "owner", NOW), people.add(session, "bob", "annotator", NOW)
        for secret_hash, person in (("one", ada), ("two", ada), ("three", bob)):
            add_sign_in(session, secret_hash, person, browser="Firefox on Linux", address="192.0.2.1")
        one, two, three = sign_ins.listed(session, NOW)
        assert (one.browser, one.address, one.last_seen_at) == ("Firefox on Linux", "192.0.2.1", NOW)
        sign_ins.see(session, two.id, LATER)
        assert [each.id for each in sign_ins.listed(session, NOW, ada)] == [two.id, one.id]
        assert sign_ins.listed(session, MUCH_LATER) == []
        sign_ins.end_for(session, ada, LATER, but=two.id)
        assert {each.id for each in sign_ins.listed(session, NOW)} == {two.id, three.id}


def test_open_links_are_counted_by_person(database: Database) -> None:
    add_link(database, "one")
    add_link(database, "two")
    with database.write() as session:
        assert links.open_counts(session, NOW) == {1: 2}
        links.take(session, "one", NOW)
        assert links.open_counts(session, NOW) == {1: 1}
        assert links.open_counts(session, LATER) == {}


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
        assert reservations.reserved_places(session, project, 2, NOW) == {(3, None): 1}
        assert not reservations.reserved_places(session, project, 1, NOW), (
            "their own row is not before somebody else"
        )
        assert not reservations.reserved_places(session, project, 2, NOON)
        assert not reservations.reserved_places(session, project + 1, 2, NOW)
    with database.write() as session:
        questions.put(session, OpenQuestion(**(vars(asked) | {"reserved_at": NOON, "reserved_until": LATER})))
        questions.put(session, OpenQuestion(**(vars(asked) | {"person_id": 2})))
        assert reservations.reserved_places(session, project, 3, NOW) == {(3, None): 2}
        questions.hand_back(session, project, 2, NOW)
        assert reservations.reserved_places(session, project, 3, NOW) == {(3, None): 1}
        renewed = questions.get(session, project, 1)
        assert renewed is not None
        assert renewed.shown_at == NOW
        questions.delete(session, project, 1)
        questions.delete(session, project, 1)
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
        assert not reservations.reserved_places(session, project, 2, NOW)
    back = NOW + timedelta(hours=1)
    assert away.seconds(back) == 20
    assert away.shown_by(back) == back - timedelta(seconds=20)
    there = OpenQuestion(**(vars(away) | {"paused_at": None}))
    assert there.seconds(back) == 3600
    assert there.shown_by(back) == NOW
