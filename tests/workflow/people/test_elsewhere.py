from __future__ import annotations

from typing import Any

import pytest

from tests.workflow.people.conftest import Opener, add_person, whats
from workflow.access import NotAllowed, NotFound
from workflow.people import browsers, elsewhere, team
from workflow.people.elsewhere import NotKnown
from workflow.seat import Seat
from workflow.server.home import Home

ISSUER = "https://id.example.org"


def claims(email: str = "ada@example.org", sub: str = "1", **more: Any) -> dict[str, Any]:
    return {"iss": ISSUER, "sub": sub, "email": email, "email_verified": True, **more}


def by_openid(home: Home, **values: Any) -> int:
    person = browsers.person_of(home, elsewhere.sign_in_by_openid(home, claims(**values)))
    assert person is not None
    return person.id


def by_proxy(home: Home, user: str) -> int:
    found = browsers.signed_in(home, elsewhere.sign_in_by_proxy(home, user))
    assert found is not None
    assert found.how == "proxy"
    assert elsewhere.person_by_proxy(home, user) == found.person.id
    return found.person.id


def test_people_are_known_by_what_the_owner_gave_them_or_by_their_name(home: Home, chief: Seat) -> None:
    ada, bob = add_person(chief, "Ada"), add_person(chief, "bob@example.org")
    elsewhere.set_known_as(chief, ada.person_id, "  ADA@example.org ")
    assert by_openid(home, email="ada@Example.ORG") == ada.person_id
    assert by_proxy(home, "ada@example.org") == ada.person_id
    assert by_openid(home, email="Bob@example.org", sub="2") == bob.person_id
    assert by_proxy(home, "bob@example.org") == bob.person_id
    assert elsewhere.person_by_proxy(home, "Ada") is None, "she is known by something else"


def test_strangers_are_refused_and_nobody_is_added(home: Home, chief: Seat) -> None:
    for act in (
        lambda: elsewhere.sign_in_by_openid(home, claims("eve@example.org")),
        lambda: elsewhere.sign_in_by_proxy(home, "eve"),
    ):
        with pytest.raises(NotKnown, match="is not known here"):
            act()
    assert len(team.list_people(chief)) == 1
    assert elsewhere.person_by_proxy(home, "eve") is None
    for user in ("", "  ", "a\x00b"):
        assert elsewhere.person_by_proxy(home, user) is None


def test_nobody_becomes_an_owner_by_choosing_the_name(home: Home, chief: Seat) -> None:
    with pytest.raises(NotKnown):
        elsewhere.sign_in_by_proxy(home, "owner")
    with pytest.raises(NotKnown):
        elsewhere.sign_in_by_openid(home, claims("owner"))
    elsewhere.set_known_as(chief, chief.person_id, "boss@example.org")
    assert by_openid(home, email="boss@example.org") == chief.person_id


def test_where_the_settings_let_them_strangers_become_annotators(open_with: Opener) -> None:
    home = open_with(WINNOW_NEW_PEOPLE="annotators")
    owner = Seat(home, team.ensure_owner(home).id)
    eve = by_openid(home, email="eve@example.org")
    assert by_proxy(home, "eve@example.org") == eve
    dan = by_proxy(home, "dan")
    assert [(one.id, one.name, one.role) for one in team.list_people(owner)][1:] == [
        (eve, "eve@example.org", "annotator"),
        (dan, "dan", "annotator"),
    ]
    for user in ("owner", "OWNER", "x" * 81, "a\x00b"):
        with pytest.raises(NotKnown):
            elsewhere.sign_in_by_proxy(home, user)
    assert whats(owner).count("person added") == 2


def test_only_an_e_mail_that_was_verified_counts(home: Home, chief: Seat) -> None:
    add_person(chief, "ada@example.org")
    for wrong in (
        {"email_verified": False},
        {"email_verified": "true"},
        {"email_verified": None},
        {"email": ""},
    ):
        with pytest.raises(NotKnown, match="has not verified it"):
            elsewhere.sign_in_by_openid(home, {**claims(), **wrong})
    without = claims()
    del without["email"], without["email_verified"]
    with pytest.raises(NotKnown, match="has not verified it"):
        elsewhere.sign_in_by_openid(home, without)


@pytest.mark.parametrize(
    "email", ["ada@evil.org", "ada@example.org.evil.org", "ada@sub.example.org", "example.org@evil"]
)
def test_other_domains_are_refused(open_with: Opener, email: str) -> None:
    home = open_with(WINNOW_OIDC_DOMAINS="Example.org, @example.net", WINNOW_NEW_PEOPLE="annotators")
    with pytest.raises(NotKnown, match=r"an e-mail of example\.org, example\.net"):
        elsewhere.sign_in_by_openid(home, claims(email))
    assert by_openid(home, email="ada@EXAMPLE.org")
    assert by_openid(home, email="ada@example.net", sub="2")


def test_an_account_is_its_subject_once_it_has_signed_in(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "ada@example.org")
    assert by_openid(home) == ada.person_id
    assert by_openid(home, email="new@example.org") == ada.person_id, "her e-mail has changed"
    with pytest.raises(NotKnown, match="another account of the same e-mail"):
        elsewhere.sign_in_by_openid(home, claims(sub="2"))  # whoever got her old address
    assert len(browsers.my_browsers(ada)) == 2
    elsewhere.set_known_as(chief, ada.person_id, "ada@example.org")
    assert by_openid(home, sub="2") == ada.person_id, "the chief has said that it is her"


def test_another_provider_is_another_account(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "ada@example.org")
    assert by_openid(home) == ada.person_id
    assert by_openid(home, iss="https://new.example.org") == ada.person_id


def test_whose_access_has_ended_is_refused(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "ada@example.org")
    by_openid(home)
    team.disable_person(chief, ada.person_id)
    for act in (
        lambda: elsewhere.sign_in_by_openid(home, claims()),
        lambda: elsewhere.sign_in_by_proxy(home, "ada@example.org"),
    ):
        with pytest.raises(NotKnown, match="Your access has ended"):
            act()
    assert elsewhere.person_by_proxy(home, "ada@example.org") is None


def test_names_elsewhere_are_given_by_owners_and_to_one_person_each(home: Home, chief: Seat) -> None:
    ada, bob = add_person(chief, "Ada"), add_person(chief, "Bob")
    with pytest.raises(NotAllowed):
        elsewhere.set_known_as(ada, ada.person_id, "boss@example.org")
    elsewhere.set_known_as(chief, ada.person_id, "a@example.org")
    elsewhere.set_known_as(chief, ada.person_id, "a@example.org")
    with pytest.raises(team.PersonNameError, match="is another person's"):
        elsewhere.set_known_as(chief, bob.person_id, "A@example.org")
    with pytest.raises(team.PersonNameError, match="1 to 80"):
        elsewhere.set_known_as(chief, bob.person_id, "x" * 81)
    with pytest.raises(NotFound):
        elsewhere.set_known_as(chief, 99, "b@example.org")
    elsewhere.set_known_as(chief, ada.person_id, "")
    elsewhere.set_known_as(chief, bob.person_id, "a@example.org")
    assert by_proxy(home, "ada") == ada.person_id
