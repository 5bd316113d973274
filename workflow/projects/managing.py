"""Projects: creating one from a checked table, and listing them with their counts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from db import answers, entries, people, projects, questions
from plcore.arrays import forbidden_in_name, forbidden_in_text
from workflow import kinds
from workflow.access import RIGHTS, Right, Rights, Role, visible_names, visible_projects
from workflow.kinds import glances
from workflow.people import audit
from workflow.people.audit import EventKind
from workflow.saving import raising_not_saved, saving_files

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.entries import LogEnd
    from db.projects import Project
    from plcore import LabelTable
    from workflow.answering.room_settings import Groups
    from workflow.opened import Reading
    from workflow.seat import Seat
    from workflow.server.home import Home

# A project as a line in a list of projects.


@dataclass(frozen=True)
class ProjectSummary:
    """One project as Home lists it.

    kind : the name of its kind in `workflow.kinds.KINDS`      words : the words for such projects on pages
    n_to_ask : rows, or labels if these are asked one by one, that were open at import
    answered, left : answered and open, as its learner's pool counts them
    disputes : disputed rows, for reviewers; 0 for others
    last_answer, last_by : time and person of the last answer, for reviewers; else None
    begun : whether the person who sees this ever answered here
    answers : number of answers by all people, in projects with several annotators per row; else None
    by_row : whether answered and left count rows, not labels of rows      role : the person's role in it
    pictured : whether its rows are "pictures", "recordings", "texts" or "numbers", by what their questions show
    sourced : whether its table names the source of each row
    """

    id: int
    name: str
    description: str
    n_rows: int
    n_classes: int
    n_to_ask: int
    answered: int
    left: int
    disputes: int
    last_answer: datetime | None
    last_by: str | None
    begun: bool
    answers: int | None
    created_at: datetime
    kind: str
    words: kinds.KindWords
    by_row: bool
    role: Role
    pictured: str
    sourced: bool

    def may(self, right: Right) -> bool:
        """Whether the person who sees this has this right in the project."""
        return right in RIGHTS[self.role]

    def to_json(self) -> dict[str, object]:
        """Return it for programs, in the words that the commands use."""
        return {
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "kind": self.kind,
            "rows": self.n_rows,
            "classes": self.n_classes,
            "answered": self.answered,
            "open": self.left,
            "created_at": self.created_at.isoformat(),
            "last_answer": self.last_answer and self.last_answer.isoformat(),
        }


def summarised(
    home: Home, session: Session, seen: Sequence[tuple[Project, Role]], person_id: int, ends: Mapping[int, LogEnd]
) -> list[ProjectSummary]:
    """Return the projects with their counts, from their logs only: no learner is built for them. The number of
    statements does not depend on the number of projects, unless a log has grown since it was counted.

    seen : the projects, with the role of the reader in each      person_id : of the reader      ends : of their logs
    """
    names = people.names(session, {end.person_id for end in ends.values() if end.person_id is not None})
    asked: dict[tuple[str, ...], list[int]] = {}
    for project, _ in seen:
        asked.setdefault(kinds.answers(project), []).append(project.id)
    begun: set[int] = set()
    for given, ids in asked.items():
        begun |= answers.begun(session, ids, given, person_id)
    return [_summary(project, role, ends[project.id], home, session, names, begun) for project, role in seen]


def _summary(
    project: Project,
    role: Role,
    end: LogEnd,
    home: Home,
    session: Session,
    names: Mapping[int, str],
    begun: Collection[int],
) -> ProjectSummary:
    counts = glances.counts(home, session, project, end.height)
    reviews = Right.REVIEW in RIGHTS[role]
    return ProjectSummary(
        id=project.id,
        name=project.name,
        description=project.description,
        n_rows=project.n_rows,
        n_classes=project.n_classes,
        n_to_ask=project.n_to_ask,
        answered=counts.answered,
        left=counts.left,
        disputes=counts.disputes if reviews else 0,
        last_answer=end.at,
        last_by=names.get(end.person_id) if reviews and end.person_id is not None else None,
        begun=project.id in begun,
        answers=counts.answers,
        created_at=project.created_at,
        kind=kinds.kind_name(project),
        words=kinds.words(project),
        by_row=counts.by_row,
        role=role,
        pictured=_pictured(project.roles),
        sourced=project.roles.get("source") is not None,
    )


def _pictured(roles: Mapping[str, object]) -> str:
    """Return the kind of content that rows show. roles : of the columns, as stored"""
    for role, words in (("image", "pictures"), ("audio", "recordings"), ("text", "texts")):
        if roles.get(role):
            return words
    return "numbers"


NAME_LENGTH = 80
DESCRIPTION_LENGTH = 2_000
CONTROL_SHARE = 0.08
"""Share of the questions that are blind checks by default, if no true labels are held out."""


class ProjectNameError(ValueError):
    """The name of a project is empty, too long or taken."""


class CannotLearn(ValueError):  # noqa: N818 - what a page says, not a fault
    """The learner cannot be built from this table with these settings."""


Also: TypeAlias = "Callable[[Reading, int], None]"
"""Called in the transaction that creates a project, with the project's id."""
AlsoOfAll: TypeAlias = "Callable[[Reading, list[int]], None]"
"""The same for several projects."""


@dataclass(frozen=True)
class NewProject:
    """A project to create.

    source_hash : of the file that the table was read from, to recognize it again
    groups : of classes, which may be answers if the kind of project allows it
    """

    name: str
    table: LabelTable
    settings: kinds.KindSettings | None = None
    description: str = ""
    source_hash: str | None = None
    groups: Groups | None = None


def create_project(
    seat: Seat,
    name: str,
    table: LabelTable,
    settings: kinds.KindSettings | None = None,
    description: str = "",
    source_hash: str | None = None,
    groups: Groups | None = None,
    also: Also | None = None,
) -> int:
    """Store the table as an immutable file and the project that points to it. Returns the project's number. Parameters
    are those of `NewProject`; all else as for `create_projects`."""
    new = NewProject(name, table, settings, description, source_hash, groups)
    return create_projects(seat, [new], lambda owning, ids: None if also is None else also(owning, ids[0]))[0]


def create_projects(seat: Seat, new: Sequence[NewProject], also: AlsoOfAll | None = None) -> list[int]:
    """Store all of these projects, or none. Returns their numbers.

    also : stores further data with the projects, in their transaction

    Raises
    ProjectNameError : A name is empty, longer than 80 characters or in use; or a description is too long.
    CannotLearn : No learner can be built from a table with its settings.
    NotAllowed : The person is not an owner.
    NotSaved : The disk is full, or the database cannot be written. No project is created.
    """
    new = [replace(one, name=checked_name(one.name), description=checked_description(one.description)) for one in new]
    with seat.everywhere.reading(Right.OWN) as reading:
        for one in new:
            check_free(reading, one.name)  # before a table is written that no project would use
    stored = [_store_table(seat.home, one) for one in new]
    with seat.everywhere.owning() as owning:
        ids = [_add(owning, one, made) for one, made in zip(new, stored, strict=True)]
        if also is not None:
            also(owning, ids)
    for project_id, made in zip(ids, stored, strict=True):
        if made.kind.CACHE is not None:
            made.kind.CACHE(seat.home, made.table_hash, made.learner)
        seat.home.shelf.put(project_id, made.learner)
    return ids


class _Stored(NamedTuple):
    """The table of a project that is being created, and its learner."""

    settings: kinds.KindSettings
    kind: kinds.AnyKind
    learner: Any
    table_hash: str


def _store_table(home: Home, new: NewProject) -> _Stored:
    settings = new.settings or default_settings(new.table)
    kind = kinds.of_settings(settings)
    # Build the learner before storing anything: a table it cannot learn from leaves nothing behind.
    try:
        with raising_not_saved():
            learner = kind.first_learner(new.table, settings)
    except ValueError as error:
        raise CannotLearn(f"The model cannot be built from this table: {error}") from error
    # The file first: if the process dies before the commit, it leaves an unused file, never a project without its
    # table.
    with saving_files():
        return _Stored(settings, kind, learner, home.store_table(new.table))


def _add(owning: Reading, new: NewProject, made: _Stored) -> int:
    from workflow.projects.class_names import limit_groups  # imports all table readers

    check_free(owning, new.name)
    table, takes_groups = new.table, new.groups and made.kind.TAKES_GROUPS
    project_id = projects.add(
        owning.session,
        name=new.name,
        description=new.description,
        table_hash=made.table_hash,
        roles=table.roles.to_json(),
        settings=made.settings.to_json(),
        n_rows=table.n_rows,
        n_classes=len(table.classes),
        n_to_ask=made.learner.pool.n_to_ask,
        created_by=owning.person.id,
        created_at=datetime.now(UTC),
        source_hash=new.source_hash,
        room={"groups": limit_groups(new.groups or {}, table.classes)} if takes_groups else {},
    )
    happened = EventKind.PROJECT_MADE
    audit.note(owning.session, happened, person_id=owning.person.id, project_id=project_id, rows=table.n_rows)
    return project_id


def default_settings(table: LabelTable) -> kinds.KindSettings:
    """Return the default settings of a project of this table, with blind checks if no true labels can be held out."""
    settings: kinds.KindSettings = kinds.default_settings(table, CONTROL_SHARE)
    return settings


class ListOrder(StrEnum):
    """Orders of a list of projects, in the words of Home."""

    LATEST = "Last answered"
    NAME = "Name"
    LEFT = "Most left"


@dataclass(frozen=True)
class FoundProjects:
    """The first projects of a list, and the number of all projects in it."""

    first: tuple[ProjectSummary, ...]
    total: int


def list_projects(seat: Seat) -> list[ProjectSummary]:
    """List every project in use that the person is a member of, the one with the latest answer first. Reads only the
    log's counts and builds no learner."""
    return list(find_projects(seat).first)


def find_projects(
    seat: Seat, words: str = "", order: ListOrder = ListOrder.LATEST, most: int | None = None
) -> FoundProjects:
    """List the same projects, or those whose names contain these words. Only the first are counted, unless the order
    needs the counts of all.

    most : number of the first ones that are wanted; None for all
    """
    wanted = words.casefold().split()
    with seat.reading() as reading:
        session = reading.session
        glances.keep_only(seat.home, projects.in_use(session))
        named = [one for one, _ in visible_names(session, reading)]
        # In Python: SQLite folds the case of ASCII letters only.
        found = [one for one in named if all(word in one.name.casefold() for word in wanted)]
        ends = entries.log_ends(session)
        found.sort(key=lambda one: ends[one.id].at or one.created_at, reverse=True)
        if order is ListOrder.NAME:
            found.sort(key=lambda one: one.name.casefold())
        ids = [one.id for one in found]
        counted = ids if order is ListOrder.LEFT else ids[:most]
        seen = visible_projects(session, reading, counted)
        summaries = {
            one.id: one
            for one in summarised(seat.home, session, seen, seat.person_id, {key: ends[key] for key in counted})
        }
    if order is ListOrder.LEFT:
        ids.sort(key=lambda one: -summaries[one].left)
    return FoundProjects(tuple(summaries[one] for one in ids[:most]), len(ids))


def project_names(seat: Seat) -> dict[int, str]:
    """Return the names of the same projects by id, in alphabetical order, without counting their logs. Raises
    NotAllowed."""
    with seat.reading() as reading:
        seen = [one for one, _ in visible_names(reading.session, reading)]
    return {one.id: one.name for one in sorted(seen, key=lambda one: (one.name.casefold(), one.id))}


def get_project(seat: Seat) -> ProjectSummary:
    """Return the project of the seat with its counts.

    Raises
    NotFound : There is no such project, or it is archived.
    NotAllowed : The person is unknown or disabled.
    """
    with seat.reading() as reading:
        assert reading.role is not None  # noqa: S101 - a member's, as they are at a project
        session, project = reading.session, reading.project
        ends = entries.log_ends(session, [project.id])
        (found,) = summarised(seat.home, session, [(project, reading.role)], seat.person_id, ends)
        return found


class LatestOfSeveral(ValueError):  # noqa: N818 - a question, not a fault
    """The latest of several people's answers would count, which the owner must confirm first."""


def change_learner(seat: Seat, *, keep_latest: bool = False, **changes: object) -> None:
    """Change settings of the project from now on, given as fields with their new values.

    keep_latest : whether the owner has confirmed that the latest of several people's answers counts

    Raises
    LatestOfSeveral : The change makes the latest of several people's answers count, and `keep_latest` is not set.
    ValueError : A value is not allowed, or the setting can never change, because rows were drawn by it at the start.
    NotAllowed : The person is not an owner.
    """
    from workflow.kinds.adopting import change_settings  # a list of projects does not need it

    with seat.owning() as owning:
        session, project = owning.session, owning.project
        settings = kinds.changed_settings(project, changes)
        asked = {"overlap", "fold"} & set(changes) and not keep_latest
        if asked and (found := kinds.latest_doubts(settings)):
            raise LatestOfSeveral(f"{found[0].message} Fix: {found[0].fix} To keep it, confirm it.")
        change_settings(session, project, settings, person_id=seat.person_id)
        audit.note_at(owning, EventKind.SETTINGS_CHANGED, settings=", ".join(sorted(changes)))
        if kinds.read_settings(project).by_row != settings.by_row:
            # Anyone who changes the settings sees the effect at once; others still answer the question on their screen.
            questions.delete_question(session, project.id, seat.person_id)


def learner_settings(seat: Seat) -> dict[str, object]:
    """Return every field of the project's settings.

    Raises NotAllowed if the person is not an owner.
    """
    with seat.reading(Right.OWN) as reading:
        found: dict[str, object] = kinds.read_settings(reading.project).to_json()
        return found


def checked_description(description: str) -> str:
    """Return the description without surrounding blanks. Raises ProjectNameError if it is too long or cannot be
    stored."""
    description = description.strip()
    if (found := forbidden_in_text(description)) is not None:
        raise ProjectNameError(f"A description cannot be stored with {found}. Fix: take it out.")
    if len(description) > DESCRIPTION_LENGTH:
        has = f"has at most {DESCRIPTION_LENGTH:,} characters; this one has {len(description):,}"
        raise ProjectNameError(f"A description {has}. Fix: shorten it.")
    return description


def rename_project(seat: Seat, name: str, description: str) -> None:
    """Give a project another name and description.

    Raises
    ProjectNameError : The name is empty, too long or another project's; or the description is too long.
    NotAllowed : The person is not an owner.
    """
    name, description = checked_name(name), checked_description(description)
    with seat.owning() as owning:
        if name != owning.project.name:
            check_free(owning, name, except_for=owning.project.id)
        projects.change(owning.session, owning.project.id, name=name, description=description)
        if name != owning.project.name:
            audit.note_at(owning, EventKind.PROJECT_RENAMED, before=owning.project.name, after=name)
        if description != owning.project.description:
            audit.note_at(owning, EventKind.SETTINGS_CHANGED, settings="description")


def archive_project(seat: Seat) -> None:
    """Archive a finished project: no one is asked about it any more; table and log stay. Idempotent.

    Raises NotAllowed if the person is not an owner.
    """
    with seat.owning(anywhere=True) as owning:
        if owning.project.archived_at is None:
            projects.change(owning.session, owning.project.id, archived_at=datetime.now(UTC))
            audit.note_at(owning, EventKind.PROJECT_ARCHIVED)


def bin_project(seat: Seat) -> None:
    """Move a project to the bin, whether in use or archived; table and log stay, and it can be restored.

    Raises as ``archive_project``.
    """
    with seat.owning(anywhere=True) as owning:
        if owning.project.deleted_at is None:
            projects.change(owning.session, owning.project.id, deleted_at=datetime.now(UTC))
            audit.note_at(owning, EventKind.PROJECT_BINNED)


def restore_project(seat: Seat) -> None:
    """Restore a project from the bin or the archive. Idempotent.

    Raises
    ProjectNameError : Another project has taken its name meanwhile.
    NotAllowed : The person is not an owner.
    """
    with seat.owning(anywhere=True) as owning:
        session, project = owning.session, owning.project
        check_free(owning, project.name, except_for=project.id)
        projects.change(session, project.id, deleted_at=None, archived_at=None)
        if project.deleted_at is not None or project.archived_at is not None:
            audit.note_at(owning, EventKind.PROJECT_RESTORED)


@dataclass(frozen=True)
class PutAway:
    """The projects not in use, most recently archived or deleted first."""

    archived: tuple[ProjectSummary, ...]
    binned: tuple[ProjectSummary, ...]


def put_away(seat: Seat) -> PutAway:
    """List the archived and deleted projects that this person owns."""
    with seat.reading() as reading:
        session = reading.session
        known = [one for one, role in visible_names(session, reading, in_use=False) if role is Role.OWNER]
        if not known:
            return PutAway((), ())
        known.sort(key=lambda one: one.deleted_at or one.archived_at or one.created_at, reverse=True)
        ids = [one.id for one in known]
        seen, ends = visible_projects(session, reading, ids), entries.log_ends(session, ids)
        summaries = {one.id: one for one in summarised(seat.home, session, seen, seat.person_id, ends)}
    return PutAway(
        archived=tuple(summaries[one.id] for one in known if one.deleted_at is None),
        binned=tuple(summaries[one.id] for one in known if one.deleted_at is not None),
    )


def checked_name(name: str) -> str:
    """Return the name without surrounding blanks. Raises ProjectNameError if it is not allowed."""
    name = name.strip()
    if not name:
        raise ProjectNameError("The project needs a name. Fix: type one, such as the file's subject.")
    if len(name) > NAME_LENGTH:
        raise ProjectNameError(
            f"A project's name has at most {NAME_LENGTH} characters; this one has {len(name)}. Fix: shorten it."
        )
    if (found := forbidden_in_name(name)) is not None:
        raise ProjectNameError(f"A project's name cannot be stored with {found}. Fix: take it out.")
    return name


def check_free(reading: Reading, name: str, except_for: int | None = None) -> None:
    """Raise ProjectNameError if a project in use, among those that this person may see, has the name. Other projects
    are not checked, so that the person does not learn of them."""
    seen = visible_names(reading.session, Rights(reading.person, reading.role))  # whatever their token is narrowed to
    if any(one.name == name and one.id != except_for for one, _ in seen):
        raise ProjectNameError(f"A project named '{name}' exists already. Fix: choose another name.")
