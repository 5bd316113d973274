"""The tables. Read and written only by the query modules beside this file, which hand out frozen dataclasses.

`entries` is the truth of a project and append-only: triggers of the first migration refuse UPDATE and DELETE.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    CheckConstraint,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    MetaData,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
    true,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class UtcTime(TypeDecorator[datetime]):
    """A moment in time: goes in with any time zone (never without), comes back in UTC, on SQLite too."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"A time must carry its time zone. Got {value!r}; use datetime.now(UTC).")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    # Named constraints: migrations and error messages can refer to them on every database.
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012
        str: Text,
        datetime: UtcTime,
        list[str]: JSON,
        list[int]: JSON,
        dict[str, Any]: JSON,
    }


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


class ProjectRow(Base):
    __tablename__ = "projects"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    table_hash: Mapped[str]  # SHA-256 of the table's file, which is its name under WINNOW_HOME
    roles: Mapped[dict[str, Any]]
    settings: Mapped[dict[str, Any]]
    description: Mapped[str]
    n_rows: Mapped[int]
    n_classes: Mapped[int]
    n_to_ask: Mapped[int]  # rows a person could be asked about when the project was made
    created_at: Mapped[datetime]
    created_by: Mapped[int] = mapped_column(ForeignKey("people.id"))
    archived_at: Mapped[datetime | None]
    deleted_at: Mapped[datetime | None]  # in the bin, from which it can come back
    # how the answering room is set; {} is the defaults
    room: Mapped[dict[str, Any]] = mapped_column(server_default="{}")
    # when the stop panel says to stop; NULL: nobody has set it
    stop_rules: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    # SHA-256 of the file, or files, that the table was read from; NULL: nobody noted it
    source_hash: Mapped[str | None]


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


class EntryRow(Base):
    """A line of a project's log: answer, skip or withdrawal. `label` is '' where none is asked about."""

    __tablename__ = "entries"
    __table_args__ = (
        UniqueConstraint("project_id", "token", name="uq_entries_token"),
        UniqueConstraint("project_id", "person_id", "row", "label", "revision", name="uq_entries_revision"),
        Index("ix_entries_target", "project_id", "target_seq"),
        Index("ix_entries_row", "project_id", "row", "seq"),
    )

    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[str]
    row: Mapped[int]
    label: Mapped[str]
    labels: Mapped[list[str]]
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    token: Mapped[str]
    revision: Mapped[int]
    target_seq: Mapped[int | None]
    strategy: Mapped[str | None]
    score: Mapped[float | None]
    model_version: Mapped[int]
    before: Mapped[list[str]]
    after: Mapped[list[str]]
    seconds: Mapped[float | None]
    note: Mapped[str | None]
    at: Mapped[datetime]
    predicted: Mapped[str | None]  # what the model said of the row when it was shown
    flagged: Mapped[bool] = mapped_column(server_default=false())


class QuestionRow(Base):
    """The question now open before a person: what their next key answers, and a reservation of its row."""

    __tablename__ = "questions"

    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), primary_key=True)
    row: Mapped[int]
    label: Mapped[str]
    token: Mapped[str]
    revision: Mapped[int]
    strategy: Mapped[str]
    score: Mapped[float]
    model_version: Mapped[int]
    decides: Mapped[int]
    undecided: Mapped[int]
    predicted: Mapped[str | None]
    shown_at: Mapped[datetime]  # first shown: what the seconds spent are counted from
    reserved_at: Mapped[datetime]  # last shown
    # Nobody else is shown the row until then, but for those whom it waits for too.
    reserved_until: Mapped[datetime]
    paused_at: Mapped[datetime | None]  # while the person is away: the row is free, and no seconds pass


class ModelRow(Base):
    """A published model version: what it scored. Its scores lie in a file, which can be made again from the log."""

    __tablename__ = "models"

    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)  # of the settings it was trained with
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)  # the log's seq it has learnt
    figures: Mapped[dict[str, Any]]
    seconds: Mapped[float]
    made_at: Mapped[datetime]


class TrainingRow(Base):
    """Who trains a project's model, or compares its models, now or did last: of each one worker at a time, for as long
    as it keeps its lease.
    """

    __tablename__ = "trainings"

    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    task: Mapped[str] = mapped_column(primary_key=True)  # a word of the callers'
    worker: Mapped[str]
    lease_until: Mapped[datetime]
    fault: Mapped[str | None]  # why the last training failed, in words
    key: Mapped[str] = mapped_column(server_default="")  # of the settings it trains with
    ended: Mapped[bool] = mapped_column(server_default=true())  # the lease was given back
    deaths: Mapped[int] = mapped_column(
        server_default="0"
    )  # workers that died in a row with the lease of this key


class ComparisonRow(Base):
    """A comparison of the models of a project: asked for, under way, or over."""

    __tablename__ = "comparisons"

    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), index=True)
    asked_by: Mapped[int | None] = mapped_column(ForeignKey("people.id"))  # NULL: it was due
    asked_at: Mapped[datetime]
    # what the log held when it began; before that, when it was asked for
    seq: Mapped[int]
    answers: Mapped[int]
    checks: Mapped[int]
    state: Mapped[str]
    done: Mapped[int]
    total: Mapped[int]
    fitting: Mapped[str]  # the model that is fitted now
    report: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    seconds: Mapped[float | None]
    fault: Mapped[str | None]
    ended_at: Mapped[datetime | None]


class EncodingRow(Base):
    """Vectors of a project's rows, by an encoder of the owner's own: asked for, being made, or over."""

    __tablename__ = "encodings"

    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), index=True)
    asked_by: Mapped[int] = mapped_column(ForeignKey("people.id"))
    asked_at: Mapped[datetime]
    encoder: Mapped[str]
    state: Mapped[str]
    done: Mapped[int]
    total: Mapped[int]
    notes: Mapped[list[str]]
    fault: Mapped[str | None]
    ended_at: Mapped[datetime | None]


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
