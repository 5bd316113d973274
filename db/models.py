"""The tables. Only the query modules next to this file read and write them; they return frozen dataclasses.

`entries` is the truth of a project and append-only: triggers of the first migration refuse UPDATE and DELETE.
Annotations here are not strings, which SQLAlchemy would evaluate one by one when a command starts.
"""

from datetime import datetime

from sqlalchemy import JSON, CheckConstraint, ForeignKey, Index, UniqueConstraint, false, true
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base


class IdentityRow(Base):
    """Identity of the database (`db.identity`): one row, made with the tables."""

    __tablename__ = "identity"

    id: Mapped[str] = mapped_column(primary_key=True)


class ProjectRow(Base):
    __tablename__ = "projects"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    table_hash: Mapped[str]  # SHA-256 of the table's file, which is its name under WINNOW_HOME
    roles: Mapped[dict[str, object]]
    settings: Mapped[dict[str, object]]
    description: Mapped[str]
    n_rows: Mapped[int]
    n_classes: Mapped[int]
    n_to_ask: Mapped[int]  # rows a person could be asked about when the project was made
    created_at: Mapped[datetime]
    created_by: Mapped[int] = mapped_column(ForeignKey("people.id"))
    archived_at: Mapped[datetime | None]
    deleted_at: Mapped[datetime | None]  # in the bin, from which it can be restored
    # settings of the question page; {}: the defaults
    room: Mapped[dict[str, object]] = mapped_column(server_default="{}")
    # when the stop panel advises to stop; NULL: not set
    stop_rules: Mapped[dict[str, object] | None] = mapped_column(JSON(none_as_null=True))
    # SHA-256 of the file, or files, that the table was read from; NULL: not recorded
    source_hash: Mapped[str | None]


class EntryRow(Base):
    """A line of a project's log: answer, skip or withdrawal. `label` is '' if none is asked about."""

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
    predicted: Mapped[str | None]  # the model's prediction when the row was shown
    flagged: Mapped[bool] = mapped_column(server_default=false())
    # the form of the question, and its part on the screen; NULL: not recorded
    asked: Mapped[dict[str, object] | None] = mapped_column(JSON(none_as_null=True))


class _Asked:
    """Columns of an open question, which also reserves its row."""

    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    row: Mapped[int]
    label: Mapped[str]
    revision: Mapped[int]
    strategy: Mapped[str]
    score: Mapped[float]
    model_version: Mapped[int]
    decides: Mapped[int]
    undecided: Mapped[int]
    predicted: Mapped[str | None]
    shown_at: Mapped[datetime]  # first shown: start of the seconds spent
    reserved_at: Mapped[datetime]  # last shown
    # Until then the row is shown to others only if it needs more annotators.
    reserved_until: Mapped[datetime]
    paused_at: Mapped[datetime | None]  # while the person is away: the row is free, and no seconds pass
    asked: Mapped[dict[str, object] | None] = mapped_column(JSON(none_as_null=True))  # as in the resulting entry


class QuestionRow(_Asked, Base):
    """A person's open question: their next answer is to it."""

    __tablename__ = "questions"

    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), primary_key=True)
    token: Mapped[str]


class LeaseRow(_Asked, Base):
    """One of the questions that are open in a person's programs at the same time."""

    __tablename__ = "leases"

    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    token: Mapped[str] = mapped_column(primary_key=True)


class BatchRow(Base):
    """A person's present or latest batch: rows shown together, which one click confirms."""

    __tablename__ = "batches"

    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), primary_key=True)
    number: Mapped[int]  # only grows, from a random start
    label: Mapped[str]
    rows: Mapped[list[object]] = mapped_column(JSON)  # of each row, number, share, prediction; empty once confirmed
    strategy: Mapped[str]
    model_version: Mapped[int]
    shown_at: Mapped[datetime]  # start of the seconds spent
    reserved_until: Mapped[datetime]
    taken_out: Mapped[list[int]]  # rows that the person excluded from earlier batches, to be asked about alone


class ModelRow(Base):
    """A published model version and its figures. Its scores are in a file that can be computed again from the log."""

    __tablename__ = "models"

    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)  # hash of the settings it was trained with
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)  # the log's seq it has learnt
    figures: Mapped[dict[str, object]]
    seconds: Mapped[float]
    made_at: Mapped[datetime]


class TrainingRow(Base):
    """The present or latest worker of a project's task, such as training or comparing models. Each task has one
    worker at a time, for as long as it keeps its lease."""

    __tablename__ = "trainings"

    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    task: Mapped[str] = mapped_column(primary_key=True)  # a word that the callers choose
    worker: Mapped[str]
    lease_until: Mapped[datetime]
    fault: Mapped[str | None]  # why the last training failed, as a message
    key: Mapped[str] = mapped_column(server_default="")  # hash of the settings it trains with
    ended: Mapped[bool] = mapped_column(server_default=true())  # the lease was returned
    deaths: Mapped[int] = mapped_column(server_default="0")  # workers that died in a row with the lease of this key


class _Requested:
    """Columns of requested work, which a worker does: it waits, runs, or is over."""

    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), index=True)
    asked_by: Mapped[int | None] = mapped_column(ForeignKey("people.id"))  # NULL: it was due
    asked_at: Mapped[datetime]
    state: Mapped[str]
    done: Mapped[int]
    total: Mapped[int]
    fault: Mapped[str | None]
    ended_at: Mapped[datetime | None]


class ComparisonRow(_Requested, Base):
    """A comparison of a project's models."""

    __tablename__ = "comparisons"

    # length of the log when it began; before that, when it was requested
    seq: Mapped[int]
    answers: Mapped[int]
    checks: Mapped[int]
    fitting: Mapped[str]  # the model that is fitted now
    report: Mapped[dict[str, object] | None] = mapped_column(JSON(none_as_null=True))
    seconds: Mapped[float | None]


class RandomOrderRow(_Requested, Base):
    """An estimate of the accuracy in random order."""

    __tablename__ = "random_orders"

    # length of the log when it began; before that, when it was requested
    seq: Mapped[int]
    answers: Mapped[int]
    report: Mapped[dict[str, object] | None] = mapped_column(JSON(none_as_null=True))


class EncodingRow(_Requested, Base):
    """Encoding of a project's rows by the owner's own encoder."""

    __tablename__ = "encodings"

    asked_by: Mapped[int] = mapped_column(ForeignKey("people.id"))
    encoder: Mapped[str]
    notes: Mapped[list[str]]


class SuggestionRow(_Requested, Base):
    """Shortlists of a project's rows by a language model."""

    __tablename__ = "suggestions"

    asked_by: Mapped[int] = mapped_column(ForeignKey("people.id"))
    settings: Mapped[dict[str, object]]
    report: Mapped[dict[str, object] | None] = mapped_column(JSON(none_as_null=True))


class PastSettingsRow(Base):
    """Settings that a project had until they were changed, numbered from 1 in each project."""

    __tablename__ = "past_settings"

    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    until_seq: Mapped[int]  # the log's last entry before the change
    until: Mapped[datetime]
    settings: Mapped[dict[str, object]]


class SnapshotRow(Base):
    """A named state of a project. It contains no labels: they follow from the table and the log."""

    __tablename__ = "snapshots"

    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    seq: Mapped[int]
    made_at: Mapped[datetime]
    made_by: Mapped[int] = mapped_column(ForeignKey("people.id"))
    settings: Mapped[dict[str, object]]
    model_version: Mapped[int | None]  # NULL: none was in place, or none is ever published
    sha256: Mapped[str]
    log_sha256: Mapped[str]


# The tables about people: who they are, how they sign in, what they may see, how they answer.


class PersonRow(Base):
    __tablename__ = "people"
    __table_args__ = (CheckConstraint("role IN ('owner', 'annotator')", name="role"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    role: Mapped[str]
    created_at: Mapped[datetime]
    disabled_at: Mapped[datetime | None]


class LinkRow(Base):
    """A one-time sign-in link. Only its secret's SHA-256 is stored, so a reader of the database cannot sign in."""

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
    how: Mapped[str] = mapped_column(server_default="")  # link, password, openid or proxy; '' before it was noted
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
    expires_at: Mapped[datetime | None]  # NULL: it lasts until it is revoked
    ended_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]  # to a few minutes
    may: Mapped[str] = mapped_column(server_default="own")  # read, answer or own
    projects: Mapped[list[int] | None] = mapped_column(JSON(none_as_null=True))  # NULL: all


class AccountRow(Base):
    """Other ways of a person to sign in than links; the row is made when it is first needed."""

    __tablename__ = "accounts"

    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), primary_key=True, autoincrement=False)
    password_hash: Mapped[str | None]  # argon2id, with its salt and parameters
    known_as: Mapped[str | None] = mapped_column(unique=True)  # e-mail or user name elsewhere, in lower case
    subject: Mapped[str | None] = mapped_column(unique=True)  # OpenID Connect: issuer, a space, its name for them


class EventRow(Base):
    """A line of the audit. Append-only as `entries` is: triggers refuse UPDATE and DELETE."""

    __tablename__ = "events"

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    what: Mapped[str]
    person_id: Mapped[int | None] = mapped_column(ForeignKey("people.id"))  # who did it; NULL: not signed in
    about_id: Mapped[int | None] = mapped_column(ForeignKey("people.id"))
    project_id: Mapped[int | None] = mapped_column(ForeignKey("projects.id"))
    details: Mapped[dict[str, object]]
    address: Mapped[str]


class MemberRow(Base):
    """Role of a person in a project. Owners of this Winnow need no row: they own every project."""

    __tablename__ = "members"
    __table_args__ = (
        CheckConstraint("role IN ('owner', 'reviewer', 'annotator', 'viewer')", name="role"),
        Index("ix_members_person", "person_id", "project_id"),
    )

    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), primary_key=True)
    role: Mapped[str]
    added_at: Mapped[datetime]
    # NULL: by the migration that introduced roles, for people who could see every project before
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
    """A person's own settings for a project: a goal for each day, and when a break is offered."""

    __tablename__ = "goals"

    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), primary_key=True)
    answers: Mapped[int | None]
    minutes: Mapped[int | None]
    break_after: Mapped[int | None]  # minutes; NULL: breaks are not offered
    rested_at: Mapped[datetime | None]  # when they came back from their latest pause
    reached_on: Mapped[str | None]  # the local day on which they were notified that it is reached


class ExampleRow(Base):
    """A row that shows what a class looks like, or that is asked before someone starts."""

    __tablename__ = "examples"

    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    row: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    label: Mapped[str]  # the class's name when it was marked
    purpose: Mapped[str]  # a word that the callers choose
    note: Mapped[str]
    marked_by: Mapped[int] = mapped_column(ForeignKey("people.id"))
    marked_at: Mapped[datetime]


class DisputeNoteRow(Base):
    """A reviewer's note on a disputed row; no answer of anyone's."""

    __tablename__ = "dispute_notes"
    __table_args__ = (Index("ix_dispute_notes_row", "project_id", "row", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"))
    row: Mapped[int]
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    at: Mapped[datetime]
    text: Mapped[str]


class QualificationRow(Base):
    """A person's attempt to answer known rows before they start, or their admission without one."""

    __tablename__ = "qualifications"

    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), primary_key=True)
    attempt: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)  # from 1
    rows: Mapped[list[int]]
    given: Mapped[list[str]]  # answers to the first of these rows
    n_right: Mapped[int]
    began_at: Mapped[datetime]
    passed_at: Mapped[datetime | None]
    let_in_by: Mapped[int | None] = mapped_column(ForeignKey("people.id"))
