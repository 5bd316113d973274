"""The tables about people: who they are, how they sign in, what they may see, how they answer."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    ForeignKey,
    Index,
)
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base


class PersonRow(Base):
    __tablename__ = "people"
    __table_args__ = (CheckConstraint("role IN ('owner', 'annotator')", name="role"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    role: Mapped[str]
    created_at: Mapped[datetime]
    disabled_at: Mapped[datetime | None]


class LinkRow(Base):
    """A one-time sign-in link. Only its secret's SHA-256 is kept: who reads the database cannot sign in."""

    __tablename__ = "links"

    id: Mapped[int] = mapped_column(primary_key=True)
    secret_hash: Mapped[str] = mapped_column(unique=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    # NULL: printed when the server started
    created_by: Mapped[int | None] = mapped_column(ForeignKey("people.id"))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class SignInRow(Base):
    """A browser that is signed in; its cookie holds the secret, this row the secret's SHA-256."""

    __tablename__ = "sign_ins"

    id: Mapped[int] = mapped_column(primary_key=True)
    secret_hash: Mapped[str] = mapped_column(unique=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), index=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    last_seen_at: Mapped[datetime | None]  # to a few minutes
    how: Mapped[str] = mapped_column(
        server_default=""
    )  # link, password, openid or proxy; '' before it was noted
    address: Mapped[str] = mapped_column(server_default="")
    browser: Mapped[str] = mapped_column(server_default="")  # its kind in a few words


class TokenRow(Base):
    """A token by which a program acts as a person; only its secret's SHA-256 is kept."""

    __tablename__ = "tokens"

    id: Mapped[int] = mapped_column(primary_key=True)
    secret_hash: Mapped[str] = mapped_column(unique=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), index=True)
    purpose: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]  # NULL: it lasts until it is ended
    ended_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]  # to a few minutes


class AccountRow(Base):
    """How a person signs in beside links; nobody has one until it is needed."""

    __tablename__ = "accounts"

    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), primary_key=True, autoincrement=False)
    password_hash: Mapped[str | None]  # argon2id, with its salt and parameters
    known_as: Mapped[str | None] = mapped_column(unique=True)  # e-mail or user name elsewhere, in lower case
    subject: Mapped[str | None] = mapped_column(
        unique=True
    )  # OpenID Connect: issuer, a space, its name for them


class EventRow(Base):
    """A line of the audit. Append-only as `entries` is: triggers refuse UPDATE and DELETE."""

    __tablename__ = "events"

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    what: Mapped[str]
    person_id: Mapped[int | None] = mapped_column(
        ForeignKey("people.id")
    )  # who did it; NULL: nobody signed in
    about_id: Mapped[int | None] = mapped_column(ForeignKey("people.id"))
    project_id: Mapped[int | None] = mapped_column(ForeignKey("projects.id"))
    details: Mapped[dict[str, Any]]
    address: Mapped[str]


class MemberRow(Base):
    """What a person may do in a project. Who is an owner of this Winnow needs no row: every project is theirs too."""

    __tablename__ = "members"
    __table_args__ = (
        CheckConstraint("role IN ('owner', 'reviewer', 'annotator', 'viewer')", name="role"),
        Index("ix_members_person", "person_id", "project_id"),
    )

    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), primary_key=True)
    role: Mapped[str]
    added_at: Mapped[datetime]
    # NULL: by the step that brought roles, for who could see every project before
    added_by: Mapped[int | None] = mapped_column(ForeignKey("people.id"))


class GroupRow(Base):
    """People under a name, to be invited at once. Being in a group gives no rights."""

    __tablename__ = "groups"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[datetime]


class GroupMemberRow(Base):
    __tablename__ = "group_members"

    group_id: Mapped[int] = mapped_column(ForeignKey("groups.id"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), primary_key=True)


class GoalRow(Base):
    """What a person has set for themselves at a project: a goal for each day, and when a break is offered."""

    __tablename__ = "goals"

    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), primary_key=True)
    answers: Mapped[int | None]
    minutes: Mapped[int | None]
    break_after: Mapped[int | None]  # minutes; NULL: breaks are not offered
    rested_at: Mapped[datetime | None]  # when they came back from their latest pause
    reached_on: Mapped[str | None]  # the day, where they are, on which they were told that it is reached


class ExampleRow(Base):
    """A row that shows what a class looks like, or that is asked before somebody starts."""

    __tablename__ = "examples"

    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    row: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    label: Mapped[str]  # the class's name when it was marked
    purpose: Mapped[str]  # a word of the callers'
    note: Mapped[str]
    marked_by: Mapped[int] = mapped_column(ForeignKey("people.id"))
    marked_at: Mapped[datetime]


class DisputeNoteRow(Base):
    """What somebody who reviews says beside a row that people disagree on; no answer of anybody's."""

    __tablename__ = "dispute_notes"
    __table_args__ = (Index("ix_dispute_notes_row", "project_id", "row", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"))
    row: Mapped[int]
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    at: Mapped[datetime]
    text: Mapped[str]


class QualificationRow(Base):
    """One person's attempt to answer known rows before they start, or that somebody let them in without one."""

    __tablename__ = "qualifications"

    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), primary_key=True)
    attempt: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)  # from 1
    rows: Mapped[list[int]]
    given: Mapped[list[str]]  # what was said of the first of these rows
    n_right: Mapped[int]
    began_at: Mapped[datetime]
    passed_at: Mapped[datetime | None]
    let_in_by: Mapped[int | None] = mapped_column(ForeignKey("people.id"))
