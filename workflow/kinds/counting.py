"""How much of each project is answered, open and in dispute, for pages that list projects; counted anew once a log has
grown."""

from __future__ import annotations

import threading
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from db import entries
from db.engine import Database
from workflow.kinds import kind_of

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.projects import Project
    from workflow.home import Home


@dataclass
class _Count:
    """What was counted of a project under these settings, up to the entry `seq`. kept : what its kind keeps for the
    next count
    """

    settings: Any = None
    seq: int = -1
    counts: tuple[int, int, int] = (0, 0, 0)
    kept: Any = None
    lock: threading.Lock = field(default_factory=threading.Lock)


_known: WeakKeyDictionary[Database, dict[tuple[int, datetime], _Count]] = WeakKeyDictionary()


def counts(home: Home, session: Session, project: Project) -> tuple[int, int, int]:
    """(answered, open, in dispute) as `Pool.n_answered` and `n_open` of the project's learner are, and its disputes."""
    kind = kind_of(project)
    settings = kind.read_settings(project.settings)
    # A deleted project may leave its id to another.
    known = _known.setdefault(home.database, {})
    found = known.setdefault((project.id, project.created_at), _Count())
    with found.lock:
        if found.settings != settings:
            found.settings, found.seq, found.kept = settings, -1, None
        if found.seq != (now := entries.last_seq(session, project.id)):
            answered, left, found.kept = kind.count(home, session, project, settings, found.kept)
            disputes = len(found.kept.disputed()) if kind.HAS_DISPUTES and found.kept is not None else 0
            found.counts, found.seq = (answered, left, disputes), now
        if project.archived_at is not None or project.deleted_at is not None:
            found.kept = None  # its log does not grow: the counts are enough
        return found.counts


def keep_only(home: Home, in_use: Collection[int]) -> None:
    """Free what was kept for the next count of projects that are not in use any more. in_use : ids of those that are"""
    for (project_id, _), found in list(_known.get(home.database, {}).items()):
        if project_id not in in_use:
            found.kept = None
