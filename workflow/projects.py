"""Projects: making one from a checked table, listing them with their counts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from db import entries, projects, questions, trained
from workflow import access, counting, kinds
from workflow.learner_entries import read_settings
from workflow.saving import saving, saving_files

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from plcore import LabelTable
    from workflow.home import Home

NAME_LENGTH = 80
DESCRIPTION_LENGTH = 2_000
CONTROL_SHARE = 0.08
"""Share of the questions that are blind checks by default, where no true labels are held out."""


class ProjectNameError(ValueError):
    """The name of a project is empty, too long or taken."""


class CannotLearn(ValueError):  # noqa: N818 - what a page says, not a fault
    """The learner cannot be built from this table with these settings."""


@dataclass(frozen=True)
class ProjectSummary:
    """One project as Home lists it.

    kind : as in `workflow.kinds`      n_to_ask : rows, or of label vectors cells, that were open at import
    answered, left : as `workflow.standing.counts` has them      by_row : whether they are rows, not labels of rows
    """

    id: int
    name: str
    description: str
    n_rows: int
    n_classes: int
    n_to_ask: int
    answered: int
    left: int
    last_answer: datetime | None
    created_at: datetime
    kind: str = kinds.CANDIDATES
    by_row: bool = True

    @property
    def vectors(self) -> bool:
        """Whether it is about label vectors, not about one true label among candidates."""
        return self.kind == kinds.VECTORS


def create_project(
    home: Home,
    person_id: int,
    name: str,
    table: LabelTable,
    settings: kinds.AnySettings | None = None,
    description: str = "",
) -> int:
    """Store the table as an immutable file and the project that points to it. Returns the project's number.

    Raises
    ------
    ProjectNameError
        The name is empty, longer than 80 characters or in use.
    CannotLearn
        No learner can be built from the table with these settings.
    NotAllowed
        The person is not an owner.
    NotSaved
        The disk is full, or the database cannot be written. No project was made.
    """
    name = _checked_name(name)
    with home.database.read() as session:
        access.require_owner(session, person_id)
        _check_free(session, name)  # before a table is written that nothing would name
    settings = settings or default_settings(table)
    # The learner before anything is stored: a table it cannot learn from leaves nothing behind.
    try:
        learner = kinds.first_learner(table, settings)
    except ValueError as error:
        raise CannotLearn(f"The model cannot be built from this table: {error}") from error
    # The file first: should the process die before the commit, an unnamed file is left, never a project
    # without its table.
    with saving_files():
        table_hash = home.store_table(table)
    with saving(home) as session:
        access.require_owner(session, person_id)
        _check_free(session, name)
        project_id = projects.add(
            session,
            name=name,
            description=description,
            table_hash=table_hash,
            roles=table.roles.to_json(),
            settings=kinds.as_json(settings),
            n_rows=table.n_rows,
            n_classes=len(table.classes),
            n_to_ask=kinds.open_at_first(learner),
            created_by=person_id,
            created_at=datetime.now(UTC),
        )
    kinds.keep_beside(home, table_hash, learner)
    home.learners.put(project_id, learner)
    return project_id


def default_settings(table: LabelTable) -> kinds.AnySettings:
    """How a project of this table learns and asks if nobody says more: blind checks where no truth can be held out."""
    return kinds.settings_for(table, CONTROL_SHARE)


def list_projects(home: Home, person_id: int) -> list[ProjectSummary]:
    """Every project, the one with the latest answer first. Reads the log's counts only, builds no learner."""
    with home.database.read() as session:
        access.require_person(session, person_id)
        in_use = projects.listed(session)
        counting.keep_only(home, {project.id for project in in_use})
        summaries = [_summary(home, session, project) for project in in_use]
    return sorted(summaries, key=lambda one: one.last_answer or one.created_at, reverse=True)


def get_project(home: Home, person_id: int, project_id: int) -> ProjectSummary:
    """One project with its counts.

    Raises
    ------
    NotFound
        There is no such project, or it is archived.
    NotAllowed
        The person is unknown or disabled.
    """
    with home.database.read() as session:
        access.require_person(session, person_id)
        return _summary(home, session, access.require_project(session, project_id))


def change_strategy(home: Home, person_id: int, project_id: int, strategy: str) -> None:
    """Ask by another strategy from the next question on. What the learner has learnt does not depend on it.

    Raises as ``change_learner``.
    """
    change_learner(home, person_id, project_id, strategy=strategy)


def change_learner(home: Home, person_id: int, project_id: int, **changes: Any) -> None:
    """Learn and ask by other settings from now on: fields of the project's settings with their new values.

    Raises
    ------
    ValueError
        A value is not allowed, or the setting belongs to the project for good: what was drawn when it was made.
    NotAllowed
        The person is not an owner.
    NotSaved, NotFound
    """
    with saving(home) as session:
        access.require_owner(session, person_id)
        project = access.require_project(session, project_id)
        settings = kinds.changed(project.settings, changes)
        projects.change_settings(session, project_id, kinds.as_json(settings))
        trained.forget_fault(session, project_id)
        if kinds.asks_otherwise(project.settings, kinds.as_json(settings)):
            # Whoever changes it sees it at once; what lies before the others stays theirs to answer.
            questions.delete(session, project_id, person_id)


def learner_settings(home: Home, person_id: int, project_id: int) -> dict[str, Any]:
    """How the project learns and asks: every field of ``LearnerSettings`` or ``LabelVectorSettings``.

    Raises
    ------
    NotAllowed
        The person is not an owner.
    NotFound
    """
    with home.database.read() as session:
        access.require_owner(session, person_id)
        project = access.require_project(session, project_id)
    return kinds.as_json(read_settings(project.settings))


def rename_project(home: Home, person_id: int, project_id: int, name: str, description: str) -> None:
    """Give a project another name and description.

    Raises
    ------
    ProjectNameError
        The name is empty, too long or another project's; or the description is too long.
    NotAllowed
        The person is not an owner.
    NotSaved, NotFound
    """
    name, description = _checked_name(name), description.strip()
    if len(description) > DESCRIPTION_LENGTH:
        raise ProjectNameError(
            f"A description has at most {DESCRIPTION_LENGTH:,} characters; this one has {len(description):,}. "
            "Fix: shorten it."
        )
    with saving(home) as session:
        access.require_owner(session, person_id)
        access.require_project(session, project_id)
        _check_free(session, name, except_for=project_id)
        projects.rename(session, project_id, name, description)


def archive_project(home: Home, person_id: int, project_id: int) -> None:
    """Put a finished project away: nobody is asked about it; table and log stay. Twice is harmless.

    Raises
    ------
    NotAllowed
        The person is not an owner.
    NotSaved, NotFound
    """
    with saving(home) as session:
        if _to_put_away(session, person_id, project_id).archived_at is None:
            projects.archive(session, project_id, datetime.now(UTC))


def bin_project(home: Home, person_id: int, project_id: int) -> None:
    """Put a project into the bin, in use or archived; table and log stay, and it can be restored.

    Raises as ``archive_project``.
    """
    with saving(home) as session:
        if _to_put_away(session, person_id, project_id).deleted_at is None:
            projects.bin_project(session, project_id, datetime.now(UTC))


def restore_project(home: Home, person_id: int, project_id: int) -> None:
    """Put a project from the bin or the archive back to use. Twice is harmless.

    Raises
    ------
    ProjectNameError
        Another project has its name meanwhile.
    NotAllowed
        The person is not an owner.
    NotSaved, NotFound
    """
    with saving(home) as session:
        project = _to_put_away(session, person_id, project_id)
        _check_free(session, project.name, except_for=project_id)
        projects.bin_project(session, project_id, None)
        projects.archive(session, project_id, None)


@dataclass(frozen=True)
class PutAway:
    """The projects not in use, the one put away last first."""

    archived: tuple[ProjectSummary, ...]
    binned: tuple[ProjectSummary, ...]


def put_away(home: Home, person_id: int) -> PutAway:
    """What is archived and what is in the bin. Raises NotAllowed unless the person is an owner."""
    with home.database.read() as session:
        access.require_owner(session, person_id)
        known = projects.everything(session)
        binned = [one for one in known if one.deleted_at is not None]
        archived = [one for one in known if one.archived_at is not None and one.deleted_at is None]
        binned.sort(key=lambda one: one.deleted_at or one.created_at, reverse=True)
        archived.sort(key=lambda one: one.archived_at or one.created_at, reverse=True)
        return PutAway(
            archived=tuple(_summary(home, session, one) for one in archived),
            binned=tuple(_summary(home, session, one) for one in binned),
        )


def _to_put_away(session: Session, person_id: int, project_id: int) -> projects.Project:
    """The project wherever it is; raises unless the person is an owner."""
    access.require_owner(session, person_id)
    try:
        return projects.get(session, project_id)
    except projects.NoSuchProjectError as error:
        raise access.NotFound(f"There is no project {project_id}.") from error


def _checked_name(name: str) -> str:
    name = name.strip()
    if not name:
        raise ProjectNameError("The project needs a name. Fix: type one, such as the file's subject.")
    if len(name) > NAME_LENGTH:
        raise ProjectNameError(
            f"A project's name has at most {NAME_LENGTH} characters; this one has {len(name)}. Fix: shorten it."
        )
    return name


def _check_free(session: Session, name: str, except_for: int | None = None) -> None:
    found = projects.by_name(session, name)
    if found is not None and found.id != except_for:
        raise ProjectNameError(f"A project named '{name}' exists already. Fix: choose another name.")


def _summary(home: Home, session: Session, project: projects.Project) -> ProjectSummary:
    last = entries.last(session, project.id)
    answered, left = counting.counts(home, session, project)
    return ProjectSummary(
        id=project.id,
        name=project.name,
        description=project.description,
        n_rows=project.n_rows,
        n_classes=project.n_classes,
        n_to_ask=project.n_to_ask,
        answered=answered,
        left=left,
        last_answer=last.at if last else None,
        created_at=project.created_at,
        kind=kinds.kind_of(project.settings),
        by_row=counting.asks_rows(project.settings),
    )
