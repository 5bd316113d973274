"""What an owner sees of everybody: how they can sign in, and where they are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from db import accounts, links, people, sign_ins, tokens
from workflow.access import Right

if TYPE_CHECKING:
    from db.people import Person
    from db.sign_ins import SignIn
    from db.tokens import ApiToken
    from workflow.seat import Seat


@dataclass(frozen=True)
class PersonView:
    """open_links : how many can still be used      known_as : by an OpenID provider or a proxy, '' for nothing
    browsers : that are signed in, the one seen last first      tokens : that can be used, the oldest first
    """

    person: Person
    open_links: int
    has_password: bool
    known_as: str
    browsers: tuple[SignIn, ...]
    tokens: tuple[ApiToken, ...]


def overview(seat: Seat) -> list[PersonView]:
    """Everybody, disabled people too, in the order they came. Raises NotAllowed unless the person is an owner."""
    now = datetime.now(UTC)
    with seat.everywhere.reading(Right.OWN) as reading:
        session = reading.session
        open_links, known = links.open_counts(session, now), accounts.listed(session)
        browsers, usable = sign_ins.listed(session, now), tokens.listed(session, now)
        return [
            PersonView(
                person=one,
                open_links=open_links.get(one.id, 0),
                has_password=one.id in known and known[one.id].password_hash is not None,
                known_as=(known[one.id].known_as or "") if one.id in known else "",
                browsers=tuple(browser for browser in browsers if browser.person_id == one.id),
                tokens=tuple(token for token in usable if token.person_id == one.id),
            )
            for one in people.listed(session)
        ]
