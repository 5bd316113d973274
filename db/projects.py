"""Projects: the hash of a table, the roles of its columns and the settings of its learner."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import bindparam, func, insert, select, update
from sqlalchemy.orm import Session

from db.base import Base, columns_of
from db.entries import lock
from db.models import PastSettingsRow, ProjectRow, SnapshotRow


class NoSuchProjectError(LookupError):
    """No project has this id."""


@dataclass(frozen=True)
class Project:
    """`table_hash` names the table's file, `created_by` a person; `roles`, `settings`, `room` and `stop_rules` are JSON
    values; `stop_rules` is None if no one has set them."""

    id: int
    name: str
    table_hash: str
    roles: dict[str, object]
    settings: dict[str, object]
    description: str
    n_rows: int
    n_classes: int
    n_to_ask: int  # rows a person could be asked about when the project was made
    created_at: datetime
    created_by: int
    archived_at: datetime | None
    deleted_at: datetime | None
    room: dict[str, object]
    stop_rules: dict[str, object] | None
    source_hash: str | None

    @property
    def in_use(self) -> bool:
        """Neither archived nor in the bin."""
        return self.archived_at is None and self.deleted_at is None


@dataclass(frozen=True)
class NamedProject:
    """The columns of a project that lists of many are searched and sorted by: no JSON is read."""

    id: int
    name: str
    created_at: datetime
    archived_at: datetime | None
    deleted_at: datetime | None


_TABLE = Base.metadata.tables["projects"]
_NAMED = select(*columns_of("projects", NamedProject)).order_by(_TABLE.c.id)
_IN_USE = _TABLE.c.archived_at.is_(None) & _TABLE.c.deleted_at.is_(None)
_COLUMNS = select(*columns_of("projects", Project))
_BY_ID = _COLUMNS.where(_TABLE.c.id == bindparam("id"))


def add(
    session: Session,
    *,
    name: str,
    table_hash: str,
    roles: Mapping[str, object],
    settings: Mapping[str, object],
    n_rows: int,
    n_classes: int,
    n_to_ask: int,
    created_by: int,
    created_at: datetime,
    description: str = "",
    source_hash: str | None = None,
    room: Mapping[str, object] | None = None,
) -> int:
    """Add a project and return its id. room : None: all as by default"""
    values = {
        "name": name,
        "table_hash": table_hash,
        "roles": dict(roles),
        "settings": dict(settings),
        "description": description,
        "n_rows": n_rows,
        "n_classes": n_classes,
        "n_to_ask": n_to_ask,
        "created_at": created_at,
        "created_by": created_by,
        "archived_at": None,
        "deleted_at": None,
        "room": dict(room or {}),
        "stop_rules": None,
        "source_hash": source_hash,
    }
    return session.execute(insert(ProjectRow).values(values).returning(ProjectRow.id)).scalar_one()


LARGEST = 2**31 - 1
"""The greatest id that a column takes."""


def get(session: Session, project_id: int) -> Project:
    """The project with this id, also when it is archived or in the bin. Raises NoSuchProjectError."""
    found = None
    if 0 < project_id <= LARGEST:  # the database may refuse other numbers, which come from a URL or a shell
        found = session.execute(_BY_ID, {"id": project_id}).one_or_none()
    if found is None:
        raise NoSuchProjectError(f"There is no project {project_id}.")
    return Project(*found)


def by_source(session: Session, source_hash: str) -> Project | None:
    """The latest project, archived ones too, that was made from the file with this hash; none in the bin."""
    made = ProjectRow.source_hash == source_hash, ProjectRow.deleted_at.is_(None)
    found = session.execute(_COLUMNS.where(*made).order_by(ProjectRow.id.desc())).first()
    return None if found is None else Project(*found)


def listed(session: Session) -> list[Project]:
    """The projects in use, neither archived nor in the bin, in the order they were made."""
    return [Project(*row) for row in session.execute(_COLUMNS.where(_IN_USE).order_by(_TABLE.c.id))]


def in_use(session: Session) -> set[int]:
    """The ids of the projects in use."""
    return set(session.scalars(select(_TABLE.c.id).where(_IN_USE)))


def everything(session: Session, project_ids: Collection[int] | None = None) -> list[Project]:
    """Every project ever made, in that order. project_ids : only these"""
    query = _COLUMNS if project_ids is None else _COLUMNS.where(_TABLE.c.id.in_(project_ids))
    return [Project(*row) for row in session.execute(query.order_by(_TABLE.c.id))]


def named(session: Session, *, in_use: bool) -> list[NamedProject]:
    """The projects in use, or those that are archived or in the bin, in the order they were made."""
    return [NamedProject(*row) for row in session.execute(_NAMED.where(_IN_USE if in_use else ~_IN_USE))]


def count(session: Session) -> int:
    """How many projects were ever made, archived ones too."""
    return session.execute(select(func.count()).select_from(ProjectRow)).scalar_one()


def change(session: Session, project_id: int, **values: object) -> None:
    """Set fields of `Project`; the log stays."""
    session.execute(update(ProjectRow).where(ProjectRow.id == project_id).values(**values))


# Settings history. The log records model changes only.


@dataclass(frozen=True)
class PastSettings:
    """Settings that were in force until a moment, `until`, and the log's entry `until_seq`, the last before it."""

    until_seq: int
    until: datetime
    settings: dict[str, object]


def add_past_setting(
    session: Session, project_id: int, settings: Mapping[str, object], until_seq: int, until: datetime
) -> None:
    """Store the settings in force until now; call it before they change, with the project's log locked."""
    here = PastSettingsRow.project_id == project_id
    last = session.execute(select(func.max(PastSettingsRow.number)).where(here)).scalar_one()
    session.execute(
        insert(PastSettingsRow).values(
            project_id=project_id, number=(last or 0) + 1, until_seq=until_seq, until=until, settings=dict(settings)
        )
    )


def list_past_settings(session: Session, project_id: int) -> list[PastSettings]:
    """All of a project, the earliest first."""
    found = (
        select(*columns_of("past_settings", PastSettings))
        .where(PastSettingsRow.project_id == project_id)
        .order_by(PastSettingsRow.number)
    )
    return [PastSettings(*row) for row in session.execute(found)]


# Snapshots: named states of a project, each with what it was made from and its hashes.


class NameTakenError(ValueError):
    """The project has a snapshot of this name; nothing was written."""


@dataclass(frozen=True)
class StoredSnapshot:
    """seq : of the log's last entry in it      made_by : a person
    settings : of the project then      model_version : that was in place, None if there was none
    sha256, log_sha256 : of the labels, and of the log up to `seq`, 64 hex digits, as the callers make them"""

    name: str
    seq: int
    made_at: datetime
    made_by: int
    settings: dict[str, object]
    model_version: int | None
    sha256: str
    log_sha256: str


_SNAPSHOTS_TABLE = Base.metadata.tables["snapshots"]
_SNAPSHOTS_COLUMNS = select(*columns_of("snapshots", StoredSnapshot))


def add_snapshot(session: Session, project_id: int, new: StoredSnapshot) -> None:
    """Store it. Raises NameTakenError."""
    lock(session, project_id)  # so that no one stores one with the same name in between
    if get_snapshot(session, project_id, new.name) is not None:
        raise NameTakenError(f"There is a snapshot {new.name!r} already.")
    session.execute(insert(SnapshotRow).values(project_id=project_id, **asdict(new)))


def get_snapshot(session: Session, project_id: int, name: str) -> StoredSnapshot | None:
    """The snapshot of this name; None if there is none."""
    here = _SNAPSHOTS_TABLE.c.project_id == project_id, _SNAPSHOTS_TABLE.c.name == name
    found = session.execute(_SNAPSHOTS_COLUMNS.where(*here)).one_or_none()
    return None if found is None else StoredSnapshot(*found)


def list_snapshots(session: Session, project_id: int) -> list[StoredSnapshot]:
    """All of a project, in the order they were made."""
    found = _SNAPSHOTS_COLUMNS.where(_SNAPSHOTS_TABLE.c.project_id == project_id).order_by(
        _SNAPSHOTS_TABLE.c.made_at, _SNAPSHOTS_TABLE.c.name
    )
    return [StoredSnapshot(*row) for row in session.execute(found)]
