"""People: the owner and the annotators, by name."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, func, insert, or_, select, update
from sqlalchemy.orm import Session

from db.base import Base, columns_of
from db.models import AccountRow, LinkRow, PersonRow, SignInRow, TokenRow


@dataclass(frozen=True)
class Person:
    """`role` is 'owner' or 'annotator'; `disabled_at` is None while the person may sign in."""

    id: int
    name: str
    role: str
    created_at: datetime
    disabled_at: datetime | None

    @property
    def is_owner(self) -> bool:
        return self.role == "owner"


_TABLE = Base.metadata.tables["people"]
_COLUMNS = select(*columns_of("people", Person))
# Built once: it runs several times for every answer, and building it takes as long as running it.
_BY_ID = _COLUMNS.where(_TABLE.c.id == bindparam("id"))


def add(session: Session, name: str, role: str, at: datetime) -> int:
    """Add a person and return their id; IntegrityError when the name is taken."""
    values = {"name": name, "role": role, "created_at": at, "disabled_at": None}
    return session.execute(insert(PersonRow).values(values).returning(PersonRow.id)).scalar_one()


def find(session: Session, person_id: int) -> Person | None:
    """The person with this id, disabled or not; None if there is none."""
    found = session.execute(_BY_ID, {"id": person_id}).one_or_none()
    return None if found is None else Person(*found)


def names(session: Session, person_ids: Collection[int]) -> dict[int, str]:
    """{id: name} of these people, disabled or not."""
    found = select(PersonRow.id, PersonRow.name).where(PersonRow.id.in_(person_ids))
    return {one.id: one.name for one in session.execute(found)}


def first_owner(session: Session) -> Person | None:
    """The owner who was added first; None if there is none yet."""
    found = session.execute(_COLUMNS.where(PersonRow.role == "owner").order_by(PersonRow.id).limit(1)).one_or_none()
    return None if found is None else Person(*found)


def listed(session: Session) -> list[Person]:
    """All people, disabled ones too, in the order they came."""
    return [Person(*row) for row in session.execute(_COLUMNS.order_by(PersonRow.id))]


def disable(session: Session, person_id: int, at: datetime) -> None:
    """Mark a person as disabled; if they already are, the earlier time is kept."""
    session.execute(
        update(PersonRow).where(PersonRow.id == person_id, PersonRow.disabled_at.is_(None)).values(disabled_at=at)
    )


def enable(session: Session, person_id: int) -> None:
    """Let a disabled person sign in again; harmless for others."""
    session.execute(update(PersonRow).where(PersonRow.id == person_id).values(disabled_at=None))


# Sign-in without links: a password's hash, and a person's name at an OpenID provider or a proxy.


@dataclass(frozen=True)
class Account:
    """password_hash : argon2id, None without a password
    known_as : e-mail or user name elsewhere, in lower case      subject : OpenID Connect's issuer and name for them"""

    person_id: int
    password_hash: str | None = None
    known_as: str | None = None
    subject: str | None = None


_ACCOUNTS_COLUMNS = columns_of("accounts", Account)


def find_account(session: Session, person_id: int) -> Account:
    """The person's account; one with nothing in it if they have none."""
    found = session.execute(select(*_ACCOUNTS_COLUMNS).where(AccountRow.person_id == person_id)).one_or_none()
    return Account(person_id) if found is None else Account(*found)


def list_accounts(session: Session) -> dict[int, Account]:
    """{person's id: account} of all who have one."""
    return {row[0]: Account(*row) for row in session.execute(select(*_ACCOUNTS_COLUMNS))}


def by_known_as(session: Session, name: str) -> int | None:
    """The id of the person with this lower-case e-mail or user name; None if there is none."""
    return session.execute(select(AccountRow.person_id).where(AccountRow.known_as == name)).scalar_one_or_none()


def by_subject(session: Session, subject: str) -> int | None:
    """The id of the person with this name at the provider; None if there is none."""
    return session.execute(select(AccountRow.person_id).where(AccountRow.subject == subject)).scalar_one_or_none()


def change(session: Session, person_id: int, **values: str | None) -> None:
    """Set fields of `Account`. IntegrityError when `known_as` or `subject` is another person's."""
    row = session.get(AccountRow, person_id)
    if row is None:
        fresh: dict[str, object] = {"person_id": person_id, **values}
        session.add(AccountRow(**fresh))
    else:
        for name, value in values.items():
            setattr(row, name, value)
    session.flush()


# Browsers that are signed in, found by the SHA-256 of their cookie's secret through its unique index.

_SIGN_INS = Base.metadata.tables["sign_ins"]
# Built once: it runs for every message that a browser sends.
_SIGNED_IN = (
    select(*columns_of("people", Person), _SIGN_INS.c.id, _SIGN_INS.c.how, _SIGN_INS.c.expires_at)
    .join(_SIGN_INS, _SIGN_INS.c.person_id == _TABLE.c.id)
    .where(
        _SIGN_INS.c.secret_hash == bindparam("secret"),
        _SIGN_INS.c.ended_at.is_(None),
        _SIGN_INS.c.expires_at > bindparam("now"),
        _TABLE.c.disabled_at.is_(None),
    )
)


ELSEWHERE = ("openid", "proxy")
"""Ways to sign in through another program."""


@dataclass(frozen=True)
class SignedIn:
    """The person a browser is signed in as, the sign-in, its method (link, password, openid, proxy), and its latest
    end."""

    person: Person
    id: int
    how: str
    expires_at: datetime


@dataclass(frozen=True)
class SignIn:
    """A browser that is signed in. last_seen_at : to a few minutes      browser : its kind in a few words"""

    id: int
    person_id: int
    created_at: datetime
    last_seen_at: datetime | None
    how: str
    address: str
    browser: str


def add_sign_in(
    session: Session,
    *,
    secret_hash: str,
    person_id: int,
    created_at: datetime,
    expires_at: datetime,
    how: str = "",
    address: str = "",
    browser: str = "",
) -> None:
    """Store a sign-in of a browser. secret_hash : SHA-256 of its cookie's secret, 64 hex digits; else as `SignIn`"""
    session.execute(
        insert(SignInRow).values(
            secret_hash=secret_hash,
            person_id=person_id,
            created_at=created_at,
            expires_at=expires_at,
            last_seen_at=created_at,
            how=how,
            address=address,
            browser=browser,
        )
    )


def find_sign_in(session: Session, secret_hash: str, at: datetime) -> SignedIn | None:
    """A sign-in that has neither ended nor expired; None too when its person is disabled."""
    found = session.execute(_SIGNED_IN, {"secret": secret_hash, "now": at}).one_or_none()
    return None if found is None else SignedIn(Person(*found[:-3]), *found[-3:])


def list_sign_ins(session: Session, at: datetime, person_id: int | None = None) -> list[SignIn]:
    """The sign-ins that neither ended nor expired, of one person or of all, the one seen last first."""
    query = select(*columns_of("sign_ins", SignIn)).where(_SIGN_INS.c.ended_at.is_(None), _SIGN_INS.c.expires_at > at)
    if person_id is not None:
        query = query.where(_SIGN_INS.c.person_id == person_id)
    return [SignIn(*row) for row in session.execute(query.order_by(_SIGN_INS.c.last_seen_at.desc(), _SIGN_INS.c.id))]


def see(session: Session, sign_in_id: int, at: datetime) -> None:
    """Note when the browser was seen last."""
    session.execute(update(SignInRow).where(SignInRow.id == sign_in_id).values(last_seen_at=at))


def end(session: Session, sign_in_id: int, person_id: int, at: datetime) -> bool:
    """End a sign-in of this person; False if they have none of this number, or it has ended."""
    ended = session.execute(
        update(SignInRow)
        .where(SignInRow.id == sign_in_id, SignInRow.person_id == person_id, SignInRow.ended_at.is_(None))
        .values(ended_at=at)
        .returning(SignInRow.id)
    )
    return ended.one_or_none() is not None


def end_elsewhere(session: Session, person_id: int, at: datetime) -> None:
    """Sign a person out wherever a provider or a proxy had signed them in."""
    which = (SignInRow.person_id == person_id, SignInRow.ended_at.is_(None), SignInRow.how.in_(ELSEWHERE))
    session.execute(update(SignInRow).where(*which).values(ended_at=at))


def end_for(session: Session, person_id: int, at: datetime, but: int | None = None) -> None:
    """Sign a person out of every browser. but : the number of a sign-in that stays"""
    which = [SignInRow.person_id == person_id, SignInRow.ended_at.is_(None)]
    if but is not None:
        which.append(SignInRow.id != but)
    session.execute(update(SignInRow).where(*which).values(ended_at=at))


# One-time sign-in links, found by the SHA-256 of their secret through its unique index.


@dataclass(frozen=True)
class Link:
    """`created_by` is the id of the person who made it, None for the one printed when the server starts."""

    id: int
    person_id: int
    created_by: int | None
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None


_LINKS_COLUMNS = columns_of("links", Link)


def add_link(
    session: Session,
    *,
    secret_hash: str,
    person_id: int,
    created_by: int | None,
    created_at: datetime,
    expires_at: datetime,
) -> None:
    """Store a link that no one has used. secret_hash : SHA-256, 64 hex digits      created_by : as in `Link`"""
    session.execute(
        insert(LinkRow).values(
            secret_hash=secret_hash,
            person_id=person_id,
            created_by=created_by,
            created_at=created_at,
            expires_at=expires_at,
        )
    )


def take(session: Session, secret_hash: str, at: datetime) -> Link | None:
    """Use the link up and return it; None when it is unknown, used or expired. Of two at once one gets it."""
    fresh = (LinkRow.secret_hash == secret_hash, LinkRow.used_at.is_(None), LinkRow.expires_at > at)
    taken = session.execute(update(LinkRow).where(*fresh).values(used_at=at).returning(*_LINKS_COLUMNS)).one_or_none()
    return None if taken is None else Link(*taken)


def find_link(session: Session, secret_hash: str) -> Link | None:
    """The link with this secret, used and expired ones too; None if there is none."""
    found = session.execute(select(*_LINKS_COLUMNS).where(LinkRow.secret_hash == secret_hash)).one_or_none()
    return None if found is None else Link(*found)


def expire_for(session: Session, person_id: int, at: datetime) -> None:
    """End every link of the person that could still be used."""
    open_links = (LinkRow.person_id == person_id, LinkRow.used_at.is_(None), LinkRow.expires_at > at)
    session.execute(update(LinkRow).where(*open_links).values(expires_at=at))


def open_counts(session: Session, at: datetime) -> dict[int, int]:
    """{person's id: how many links of theirs can still be used}, those without one left out."""
    query = (
        select(LinkRow.person_id, func.count())
        .where(LinkRow.used_at.is_(None), LinkRow.expires_at > at)
        .group_by(LinkRow.person_id)
    )
    return {row[0]: row[1] for row in session.execute(query)}


def latest_invitations(session: Session) -> dict[int, Link]:
    """{person's id: the latest link that an owner made for them}, used and expired ones too."""
    query = select(*_LINKS_COLUMNS).where(LinkRow.created_by.is_not(None)).order_by(LinkRow.id)
    return {one.person_id: one for one in (Link(*row) for row in session.execute(query))}


# Tokens by which programs act as a person, found by the SHA-256 of their secret through its unique index.

_TOKENS = Base.metadata.tables["tokens"]
_LASTS = (_TOKENS.c.ended_at.is_(None), or_(_TOKENS.c.expires_at.is_(None), _TOKENS.c.expires_at > bindparam("now")))
# Built once: it runs for every call of a program.
_USED = (
    select(*columns_of("people", Person), _TOKENS.c.id, _TOKENS.c.may, _TOKENS.c.projects)
    .join(_TOKENS, _TOKENS.c.person_id == _TABLE.c.id)
    .where(_TOKENS.c.secret_hash == bindparam("secret"), *_LASTS, _TABLE.c.disabled_at.is_(None))
)


@dataclass(frozen=True)
class TokenUse:
    """The token that a program has sent: its person and its number. may, projects : as of an `ApiToken`"""

    person: Person
    id: int
    may: str = "own"
    projects: Sequence[int] | None = None


@dataclass(frozen=True)
class ApiToken:
    """A token that can be used.

    expires_at : None if it lasts until it is revoked      last_used_at : to a few minutes, None if it never was
    may : read, answer or own      projects : the only ones at which it works; None: all
    """

    id: int
    person_id: int
    purpose: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    may: str = "own"
    projects: Sequence[int] | None = None


def add_token(
    session: Session,
    *,
    secret_hash: str,
    person_id: int,
    purpose: str,
    created_at: datetime,
    expires_at: datetime | None,
    may: str = "own",
    projects: Sequence[int] | None = None,
) -> None:
    """Store a token. secret_hash : SHA-256 of its secret, 64 hex digits; else as `ApiToken`"""
    session.execute(
        insert(TokenRow).values(
            secret_hash=secret_hash,
            person_id=person_id,
            purpose=purpose,
            created_at=created_at,
            expires_at=expires_at,
            may=may,
            projects=projects,
        )
    )


def find_token(session: Session, secret_hash: str, at: datetime) -> TokenUse | None:
    """A token that has neither ended nor expired; None too when its person is disabled."""
    found = session.execute(_USED, {"secret": secret_hash, "now": at}).one_or_none()
    return None if found is None else TokenUse(Person(*found[:-3]), *found[-3:])


def list_tokens(session: Session, at: datetime, person_id: int | None = None) -> list[ApiToken]:
    """The tokens that neither ended nor expired, of one person or of all, the oldest first."""
    query = select(*columns_of("tokens", ApiToken)).where(*_LASTS)
    if person_id is not None:
        query = query.where(_TOKENS.c.person_id == person_id)
    return [ApiToken(*row) for row in session.execute(query.order_by(_TOKENS.c.id), {"now": at})]


def see_token(session: Session, token_id: int, at: datetime) -> None:
    """Note when the token was used last."""
    session.execute(update(TokenRow).where(TokenRow.id == token_id).values(last_used_at=at))


def end_token(session: Session, token_id: int, person_id: int, at: datetime) -> bool:
    """End a token of this person; False if they have none of this number, or it has ended."""
    ended = session.execute(
        update(TokenRow)
        .where(TokenRow.id == token_id, TokenRow.person_id == person_id, TokenRow.ended_at.is_(None))
        .values(ended_at=at)
        .returning(TokenRow.id)
    )
    return ended.one_or_none() is not None


def end_tokens_of(session: Session, person_id: int, at: datetime) -> int:
    """End all tokens of a person; how many of them could still be used."""
    usable = len(list_tokens(session, at, person_id))
    session.execute(
        update(TokenRow).where(TokenRow.person_id == person_id, TokenRow.ended_at.is_(None)).values(ended_at=at)
    )
    return usable
