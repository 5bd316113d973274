from __future__ import annotations

from tests.workflow.people.conftest import add_person
from workflow.people import elsewhere, passwords, team, tokens
from workflow.people.browsers import Visit
from workflow.people.team import overview
from workflow.seat import Seat
from workflow.server.home import Home


def test_an_owner_sees_how_everybody_can_sign_in_and_where_they_are(home: Home, chief: Seat) -> None:
    ada, bob = add_person(chief, "Ada"), add_person(chief, "Bob")
    team.make_link_for(chief, bob.person_id)
    team.redeem_link(home, team.make_link_for(chief, ada.person_id), Visit("192.0.2.1", "Firefox on Linux"))
    passwords.set_password(ada, "four plain words here")
    elsewhere.set_known_as(chief, ada.person_id, "Ada@Example.org")
    at_owner, at_ada, at_bob = overview(chief)
    assert at_owner.person.is_owner
    assert (at_ada.open_links, at_ada.has_password, at_ada.known_as) == (0, True, "ada@example.org")
    assert [(one.address, one.browser, one.how) for one in at_ada.browsers] == [
        ("192.0.2.1", "Firefox on Linux", "link")
    ]
    assert (at_bob.open_links, at_bob.has_password, at_bob.known_as, at_bob.browsers) == (2, False, "", ())
    tokens.make_token(bob, "survey")
    assert [[token.purpose for token in one.tokens] for one in overview(chief)] == [[], [], ["survey"]]
    team.disable_person(chief, ada.person_id)
    assert overview(chief)[1].browsers == ()
