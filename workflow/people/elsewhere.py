"""Sign-in with an external account: of an OpenID Connect provider, or through a proxy that authenticates users.

Winnow must know people first: by the e-mail or user name that an owner entered for them, or by an identical name.
Owners are only matched by what was entered for them: if people may choose their user names, someone would choose
'owner'.
"""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy.orm import Session

from db import people
from db.people import Person
from plcore.arrays import unstorable_in
from workflow.access import NotFound
from workflow.people import audit
from workflow.people.audit import EventKind
from workflow.people.browsers import NOWHERE, Visit, open_browser, signed_in
from workflow.people.team import NAME_LENGTH, PersonNameError, add_annotator, checked_name, named
from workflow.people.tokens import end_tokens_of
from workflow.saving import saving
from workflow.seat import Seat
from workflow.server.home import Home


class NotKnown(PermissionError):  # noqa: N818 - what a page says, not a fault
    """A person signed in at the provider may not sign in here; the message says why and what to do."""


def person_by_proxy(home: Home, user: str) -> int | None:
    """Return the id of the person with this name at a trusted proxy; None if there is none, or their access has
    ended."""
    with home.database.read() as session:
        person = _known(session, user)
    return None if person is None or person.disabled_at is not None else person.id


def sign_in_by_proxy(home: Home, user: str, visit: Visit = NOWHERE, secret: str | None = None) -> str:
    """Return the sign-in's secret, for a cookie: the browser's own if it is still valid and a proxy gave it to this
    person.

    user : the user name sent by a trusted proxy      secret : of the browser's cookie; None: it has none
    Raises NotKnown if no one of this name may sign in; NotSaved.
    """
    if secret is not None and _is_theirs(home, secret, user):
        return secret
    with saving(home) as session:
        person = _known(session, user) or _newcomer(home, session, user)
        return _open(session, person, "proxy", visit)


def _is_theirs(home: Home, secret: str, user: str) -> bool:
    found = signed_in(home, secret)
    by_proxy = found is not None and found.how == "proxy"
    return found is not None and by_proxy and found.person.id == person_by_proxy(home, user)


def sign_in_by_openid(home: Home, claims: dict[str, object], visit: Visit = NOWHERE) -> str:
    """Return the sign-in's secret, for a cookie. claims : of an ID token whose signature and times were checked

    People are matched by their subject, the provider's id for them. At their first sign-in they are matched by e-mail,
    which the provider must have verified.

    Raises NotKnown if they may not sign in; NotSaved.
    """
    issuer, email = str(claims["iss"]), str(claims.get("email") or "")
    subject = f"{issuer} {claims['sub']}"
    if (found := unstorable_in(subject)) is not None:
        raise NotKnown(f"Your provider calls you by a name with {found}, which cannot be stored here.")
    verified = claims.get("email_verified") is True
    domains = home.settings.sign_in.oidc_domains
    if domains and (not verified or email.rpartition("@")[2].casefold() not in domains):
        raise NotKnown(f"Only people with an e-mail of {', '.join(domains)} may sign in here.")
    with saving(home) as session:
        person_id = people.by_subject(session, subject)
        if person_id is not None:
            person = people.find(session, person_id)
        elif not email or not verified:
            raise NotKnown(
                "Your provider has not said which e-mail is yours, or has not verified it. Ask the owner for a link."
            )
        else:
            person = _known(session, email) or _newcomer(home, session, email)
        if person is None:
            raise NotKnown(_unknown(email))
        secret = _open(session, person, "openid", visit)
        bound = people.find_account(session, person.id).subject
        if bound != subject:
            if bound is not None and bound.startswith(f"{issuer} "):
                raise NotKnown(
                    f"{person.name} has signed in here by another account of the same e-mail. Ask the owner to give "
                    "the e-mail again on the People page."
                )
            people.change(session, person.id, subject=subject)
        return secret


def set_known_as(seat: Seat, person_id: int, name: str) -> None:
    """Set the e-mail or user name of a person's external account; '' for none. Their previous external account is
    unlinked, so that the person who now has that name can use it.

    Raises
    PersonNameError : It is too long, cannot be shown, or is another person's.
    NotFound : There is no such person.
    NotAllowed : The person of the seat is not an owner.
    """
    wanted = checked_name(name).casefold() if name.strip() else None
    with seat.everywhere.owning() as owning:
        session = owning.session
        if people.find(session, person_id) is None:
            raise NotFound(f"There is no person {person_id}. Fix: load the page again.")
        if wanted is not None and people.by_known_as(session, wanted) not in (None, person_id):
            raise PersonNameError(f"{wanted!r} is another person's. Fix: take it from them first.")
        people.change(session, person_id, known_as=wanted, subject=None)
        people.end_elsewhere(session, person_id, datetime.now(UTC))  # people who signed in by the name
        end_tokens_of(session, seat.person_id, person_id)  # and the tokens they may have made
        audit.note(session, EventKind.KNOWN_AS_SET, person_id=seat.person_id, about_id=person_id, known_as=wanted or "")


def _known(session: Session, user: str) -> Person | None:
    wanted = " ".join(user.split()).casefold()
    if not wanted or not wanted.isprintable():  # PostgreSQL takes no NUL
        return None
    person_id = people.by_known_as(session, wanted)
    if person_id is not None:
        return people.find(session, person_id)
    person = named(session, wanted)
    if person is None or person.is_owner or people.find_account(session, person.id).known_as is not None:
        return None  # an owner, or someone known by another name
    return person


def _newcomer(home: Home, session: Session, user: str) -> Person:
    """Add a new annotator if the settings admit newcomers, known by the name they came with."""
    if not home.settings.sign_in.let_in_new_people:
        raise NotKnown(_unknown(user))
    try:
        name = checked_name(user)
    except PersonNameError as error:
        raise NotKnown(str(error)) from error
    if named(session, name) is not None:
        raise NotKnown(_unknown(user))
    person = add_annotator(session, name, None)
    people.change(session, person.id, known_as=name.casefold())
    return person


def _open(session: Session, person: Person, how: str, visit: Visit) -> str:
    if person.disabled_at is not None:
        raise NotKnown("Your access has ended. Ask the owner of this Winnow to let you in again.")
    return open_browser(session, person.id, how, visit)


def _unknown(user: str) -> str:
    return (
        f"{user[:NAME_LENGTH]!r} is not known here. Ask the owner to add you on the People page, with this as your "
        "e-mail or user name elsewhere."
    )
