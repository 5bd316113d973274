"""People in the database: members, groups, tokens, goals."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db import entries, members, people, questions
from db.engine import Database
from db.members import Attempt, Group, StoredGoal
from db.people import Account
from tests.db.conftest import NOW, add_project, new_entry, new_question
from tests.present import present

# people


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
        found = present(people.find(session, bob))
        assert found.disabled_at == NOW
        assert not found.is_owner
        assert people.find(session, 99) is None
    with database.write() as session:
        people.enable(session, bob)
        found = present(people.find(session, bob))
        assert found.disabled_at is None


def add_link(database: Database, secret_hash: str) -> None:
    with database.write() as session:
        if people.first_owner(session) is None:
            people.add(session, "ada", "owner", NOW)
        people.add_link(
            session, secret_hash=secret_hash, person_id=1, created_by=None, created_at=NOW, expires_at=LATER
        )


def test_link_is_redeemed_once(database: Database) -> None:
    add_link(database, "h")
    with database.write() as session:
        taken = present(people.take(session, "h", NOW))
        assert (taken.person_id, taken.used_at) == (1, NOW)
    with database.write() as session:
        assert people.take(session, "h", NOW) is None
        assert people.take(session, "unknown", NOW) is None
        assert people.find_link(session, "h") == taken


def test_expired_link_is_not_redeemed(database: Database) -> None:
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


def test_sign_in_names_its_person_until_it_ends_or_expires(database: Database) -> None:
    with database.write() as session:
        ada, bob = people.add(session, "ada", "owner", NOW), people.add(session, "bob", "annotator", NOW)
        for secret_hash in ("one", "two"):
            add_sign_in(session, secret_hash, ada, how="link")
        one = present(people.find_sign_in(session, "one", NOW))
        assert not people.end(session, one.id, bob, NOW), "it is not his"
        assert people.end(session, one.id, ada, NOW)
        assert not people.end(session, one.id, ada, NOW), "once"
    with database.write() as session:
        assert people.find_sign_in(session, "one", NOW) is None
        two = present(people.find_sign_in(session, "two", NOW))
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


def test_open_question_is_replaced_and_reserves_its_row(database: Database) -> None:
    project = add_project(database)
    asked = new_question(project, reserved_until=NOON)
    with database.write() as session:
        assert questions.get(session, project, 1) is None
        questions.put(session, replace(asked, row=1, token="1.1.0"))
        questions.put(session, asked)
        assert questions.get(session, project, 1) == asked
    with database.read() as session:
        assert questions.reserved_places(session, project, 2, NOW) == {(3, None): 1}
        assert not questions.reserved_places(session, project, 1, NOW), "their own row is not before someone else"
        assert not questions.reserved_places(session, project, 2, NOON)
        assert not questions.reserved_places(session, project + 1, 2, NOW)
    with database.write() as session:
        questions.put(session, replace(asked, reserved_at=NOON, reserved_until=LATER))
        questions.put(session, replace(asked, person_id=2))
        assert questions.reserved_places(session, project, 3, NOW) == {(3, None): 2}
        questions.hand_back_reservations(session, project, 2, NOW)
        assert questions.reserved_places(session, project, 3, NOW) == {(3, None): 1}
        renewed = present(questions.get(session, project, 1))
        assert renewed.shown_at == NOW
        questions.delete_question(session, project, 1)
        questions.delete_question(session, project, 1)
        assert questions.get(session, project, 1) is None


def test_paused_question_reserves_nothing_and_stops_its_clock(database: Database) -> None:
    project = add_project(database)
    away = new_question(project, reserved_until=LATER, paused_at=NOW + timedelta(seconds=20))
    with database.write() as session:
        questions.put(session, away)
    with database.read() as session:
        assert questions.get(session, project, 1) == away
        assert not questions.reserved_places(session, project, 2, NOW)
    back = NOW + timedelta(hours=1)
    assert away.seconds(back) == 20
    assert away.shown_by(back) == back - timedelta(seconds=20)
    there = replace(away, paused_at=None)
    assert there.seconds(back) == 3600
    assert there.shown_by(back) == NOW


# Storage of project members


@pytest.fixture
def who(database: Database) -> dict[str, int]:
    with database.write() as session:
        return {
            name: people.add(session, name, role, NOW)
            for name, role in (("zoe", "owner"), ("bea", "annotator"), ("abe", "annotator"))
        }


def test_roles_are_stored_by_project_and_person(database: Database, who: dict[str, int]) -> None:
    birds, frogs = add_project(database, "birds"), add_project(database, "frogs")
    with database.write() as session:
        members.put(session, birds, who["bea"], "viewer", at=NOW, by=who["zoe"])
        members.put(session, frogs, who["bea"], "reviewer", at=NOW, by=None)
    with database.read() as session:
        assert members.roles_of(session, who["bea"]) == {birds: "viewer", frogs: "reviewer"}
        assert members.roles_of(session, who["abe"]) == {}


def test_changing_role_keeps_one_membership(database: Database, who: dict[str, int]) -> None:
    birds = add_project(database, "birds")
    later = NOW.replace(year=2027)
    with database.write() as session:
        members.put(session, birds, who["bea"], "viewer", at=NOW, by=who["zoe"])
        members.put(session, birds, who["bea"], "owner", at=later, by=None)
        members.put(session, birds, who["abe"], "annotator", at=later, by=who["bea"])
    with database.read() as session:
        found = members.listed(session, birds)
    assert [(person.name, one.role, one.added_at, one.added_by) for person, one in found] == [
        ("abe", "annotator", later, who["bea"]),
        ("bea", "owner", NOW, who["zoe"]),
    ]


def test_membership_is_removed(database: Database, who: dict[str, int]) -> None:
    birds, frogs = add_project(database, "birds"), add_project(database, "frogs")
    with database.write() as session:
        for project in (birds, frogs):
            members.put(session, project, who["bea"], "viewer", at=NOW, by=None)
        members.remove(session, birds, who["bea"])
        members.remove(session, birds, who["abe"])
        assert members.roles_of(session, who["bea"]) == {frogs: "viewer"}


def test_unknown_role_person_or_project_is_refused(database: Database, who: dict[str, int]) -> None:
    birds = add_project(database, "birds")
    for project, person, role in ((birds, who["bea"], "king"), (birds, 99, "viewer"), (99, who["bea"], "viewer")):
        with pytest.raises(IntegrityError), database.write() as session:
            members.put(session, project, person, role, at=NOW, by=None)
    with database.read() as session:
        assert members.listed(session, birds) == []


def test_owners_are_enabled_owners_of_project_or_server(database: Database, who: dict[str, int]) -> None:
    birds, frogs = add_project(database, "birds"), add_project(database, "frogs")
    with database.write() as session:
        members.put(session, birds, who["bea"], "owner", at=NOW, by=None)
        members.put(session, birds, who["abe"], "reviewer", at=NOW, by=None)
        mine = [one.id for one in people.listed(session) if one.is_owner]
        assert members.owners(session, birds) == sorted([*mine, who["bea"]])
        assert members.owners(session, frogs) == mine
        for one in mine:
            people.disable(session, one, NOW)
        assert members.owners(session, birds) == [who["bea"]]
        people.disable(session, who["bea"], NOW)
        assert members.owners(session, birds) == []


# Accounts


def test_account_is_empty_until_something_is_set(database: Database) -> None:
    with database.write() as session:
        ada = people.add(session, "ada", "owner", NOW)
        assert people.find_account(session, ada) == Account(ada)
        people.change(session, ada, known_as="ada@example.org")
        people.change(session, ada, password_hash="argon", subject="https://id ada")
    with database.read() as session:
        known = Account(ada, "argon", "ada@example.org", "https://id ada")
        assert people.find_account(session, ada) == known
        assert people.list_accounts(session) == {ada: known}
        assert people.by_known_as(session, "ada@example.org") == ada
        assert people.by_known_as(session, "ada") is None
        assert people.by_subject(session, "https://id ada") == ada
        assert people.by_subject(session, "https://id eve") is None
    with database.write() as session:
        people.change(session, ada, password_hash=None)
        assert people.find_account(session, ada) == Account(ada, None, "ada@example.org", "https://id ada")


@pytest.mark.parametrize("field", ["known_as", "subject"])
def test_external_names_are_unique(database: Database, field: str) -> None:
    with database.write() as session:
        ada, bob = people.add(session, "ada", "owner", NOW), people.add(session, "bob", "annotator", NOW)
        people.change(session, ada, **{field: "same"})
    with pytest.raises(IntegrityError), database.write() as session:
        people.change(session, bob, **{field: "same"})


# Tokens are found while they last, and while their person may be here


def test_token_is_found_until_it_expires_or_ends(database: Database) -> None:
    with database.write() as session:
        ada = people.add(session, "Ada", "annotator", NOW)
        for name, until in (("for ever", None), ("an hour", LATER), ("over", NOW)):
            people.add_token(session, secret_hash=name, person_id=ada, purpose=name, created_at=NOW, expires_at=until)
    with database.read() as session:
        found = {name: people.find_token(session, name, NOW) for name in ("for ever", "an hour", "over", "none")}
        assert [name for name, one in found.items() if one is not None] == ["for ever", "an hour"]
        use = present(found["an hour"])
        assert (use.person.name, use.id) == ("Ada", 2)
        assert people.find_token(session, "an hour", LATER) is None
        assert [one.purpose for one in people.list_tokens(session, NOW, ada)] == ["for ever", "an hour"]
        assert people.list_tokens(session, NOW, ada + 1) == []
    with database.write() as session:
        assert not people.end_token(session, 1, ada + 1, NOW), "it is Ada's"
        assert people.end_token(session, 1, ada, NOW)
        assert not people.end_token(session, 1, ada, NOW), "it has ended"
        people.see_token(session, 2, LATER)
        (left,) = people.list_tokens(session, NOW, ada)
        assert (left.last_used_at, left.expires_at) == (LATER, LATER)
        assert people.list_tokens(session, NOW) == [left], "of all people"
        assert people.end_tokens_of(session, ada, NOW) == 1, "those that could still be used"
        assert people.end_tokens_of(session, ada, NOW) == 0
        assert people.list_tokens(session, NOW, ada) == []
        assert people.find_token(session, "an hour", NOW) is None


def test_disabled_person_s_token_is_not_found(database: Database) -> None:
    with database.write() as session:
        ada = people.add(session, "Ada", "annotator", NOW)
        people.add_token(session, secret_hash="h", person_id=ada, purpose="p", created_at=NOW, expires_at=None)
        people.disable(session, ada, NOW)
        assert people.find_token(session, "h", NOW) is None


def test_token_secrets_are_unique(database: Database) -> None:
    with database.write() as session:
        ada = people.add(session, "Ada", "annotator", NOW)
        same: dict[str, Any] = {"secret_hash": "h", "person_id": ada, "created_at": NOW, "expires_at": None}
        people.add_token(session, purpose="one", **same)
    with database.write() as session, pytest.raises(IntegrityError), session.begin_nested():
        people.add_token(session, purpose="other", **same)


# Qualification attempts: stored per person in order, outside the log


FIRST = Attempt(person_id=2, attempt=1, rows=[4, 1], given=[], n_right=0, began_at=NOW)


def test_qualification_attempt_round_trips(database: Database) -> None:
    birds, frogs = add_project(database), add_project(database, "frogs")
    on, over = replace(FIRST, given=["wren"], n_right=1), replace(FIRST, given=["wren", "robin"], n_right=1)
    second = replace(FIRST, attempt=2, rows=[0])
    admit_person = replace(FIRST, person_id=1, rows=[], passed_at=NOW, let_in_by=1)
    assert not FIRST.over
    assert not on.over
    assert over.over
    with database.write() as session:
        for one in (FIRST, second, on, over, admit_person):
            members.put_qualification(session, birds, one)
        members.put_qualification(session, frogs, on)
    with database.read() as session:
        assert members.of_person(session, birds, 2) == [over, second]
        assert members.of_project(session, birds) == [admit_person, over, second]
        assert members.of_person(session, frogs, 2) == [on]
        assert members.of_person(session, frogs, 1) == []


def test_has_entries_is_true_after_first_entry(database: Database) -> None:
    birds, frogs = add_project(database), add_project(database, "frogs")
    with database.write() as session:
        entries.append(session, new_entry(birds, person_id=2))
        members.put_qualification(session, birds, FIRST)
    with database.read() as session:
        assert members.has_entries(session, birds, 2)
        assert not members.has_entries(session, birds, 1)
        assert not members.has_entries(session, frogs, 2)


# Storage of groups of people


@pytest.fixture
def team(database: Database) -> list[int]:
    with database.write() as session:
        return [people.add(session, name, "annotator", NOW) for name in ("ada", "bob", "cleo")]


def test_groups_are_made_changed_and_removed(database: Database, team: list[int]) -> None:
    ada, bob, cleo = team
    with database.write() as session:
        experts = members.add(session, "experts", [cleo, ada, ada], NOW)
        nobody = members.add(session, "all", [], NOW)
        assert members.list_groups(session) == [Group(nobody, "all", ()), Group(experts, "experts", (ada, cleo))]
        members.change(session, experts, "birders", [bob])
        assert members.find(session, experts) == Group(experts, "birders", (bob,))
        members.remove_group(session, experts)
        members.remove_group(session, experts)
        assert members.find(session, experts) is None
        assert members.list_groups(session) == [Group(nobody, "all", ())]
        assert {one.id for one in people.listed(session)} >= set(team), "the people stay"


def test_group_names_are_unique_and_members_must_exist(database: Database, team: list[int]) -> None:
    with database.write() as session:
        members.add(session, "experts", team, NOW)
    for name, within in (("experts", []), ("others", [99])):
        with pytest.raises(IntegrityError), database.write() as session:
            members.add(session, name, within, NOW)
    with database.read() as session:
        assert [one.name for one in members.list_groups(session)] == ["experts"]


# People's own settings, and their day by the log


def test_goal_belongs_to_person_and_project(database: Database) -> None:
    birds, frogs = add_project(database), add_project(database, "frogs")
    goal = StoredGoal(40, None, 50, None, "2026-03-01")
    with database.write() as session:
        members.put_goal(session, birds, 1, StoredGoal(10, 20, None))
        members.put_goal(session, birds, 1, goal)
    with database.read() as session:
        assert members.get(session, birds, 1) == goal
        assert members.get(session, birds, 2) is None
        assert members.get(session, frogs, 1) is None


def test_noting_rest_keeps_goal(database: Database) -> None:
    project = add_project(database)
    with database.write() as session:
        members.put_goal(session, project, 1, StoredGoal(40, 30, None, None, "2026-03-01"))
        members.note_rest(session, project, 1, LATER, 50)
        members.note_rest(session, project, 2, LATER, 50)
    with database.read() as session:
        assert members.get(session, project, 1) == StoredGoal(40, 30, None, LATER, "2026-03-01")
        assert members.get(session, project, 2) == StoredGoal(None, None, 50, LATER, None)


def test_day_lists_own_entries_since_its_start(database: Database) -> None:
    project = add_project(database)
    add_project(database, "another")
    with database.write() as session:
        for change in (
            {"row": 0, "at": NOW},
            {"row": 1, "at": LATER, "seconds": 4.0},
            {"row": 1, "at": LATER, "person_id": 2},
            {"row": 2, "at": LATER, "kind": "skip"},
            {"row": 3, "at": LATER, "note": "simulated"},
            {"row": 1, "at": LATER, "kind": "withdraw", "target_seq": 2, "revision": 1},
            {"row": 0, "at": LATER, "kind": "withdraw", "target_seq": 1, "revision": 1},
        ):
            entries.append(session, new_entry(project, **change))
        entries.append(session, new_entry(project + 1, at=LATER))

    def since(moment: object, *kinds: str) -> list[tuple[str, str, float | None, bool]]:
        with database.read() as session:
            found = members.entries_since(session, project, 1, moment, kinds, "simulated")  # type: ignore[arg-type]
        return [(one.kind, one.token, one.seconds, one.withdrawn) for one in found]

    assert since(LATER, "is", "skip") == [("is", "1.1.None.0", 4.0, True), ("skip", "1.2.None.0", None, False)]
    assert since(NOW, "is") == [("is", "1.0.None.0", None, True), ("is", "1.1.None.0", 4.0, True)]
    assert since(LATER + timedelta(seconds=1), "is") == []
    with database.read() as session:
        everything = members.entries_since(session, project, 1, LATER, ("is",))
    assert [(one.token, one.at) for one in everything] == [("1.1.None.0", LATER), ("1.3.None.0", LATER)]
