"""How good each project is at a glance, for the list of projects: nobody waits for it, and no learner is built.

What a learner in memory says is kept beside the database, for the time when it is not there: a cache, made anew when
somebody opens the project.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2s
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy.orm import Session

from db import entries
from db.engine import Database
from db.projects import Project
from plcore import LabelTable
from plcore.loop import Learner
from workflow.files.media import small_sound_url, small_url
from workflow.files.stored import whole_file
from workflow.kinds import kind_of, stop_rules
from workflow.kinds.kind import KindSettings
from workflow.projects.figures import Glance
from workflow.rows.row import row_view
from workflow.server.home import Home

_log = logging.getLogger("winnow")

_known: WeakKeyDictionary[Database, dict[Path, Glance | None]] = WeakKeyDictionary()
_keeping = threading.Lock()


def glance_of(home: Home, project: Project, read_pace: Callable[[int], float | None]) -> Glance | None:
    """What the learner says, where it is in memory and nobody is at it; else what it said last.

    read_pace : gives the pace in the project of this number; called only where that is new and says anything
    """
    path = home.cache_dir / "glances" / f"{project.id}-{project.table_hash[:16]}.json"
    kept = _kept(home, path)
    slot = home.shelf.peek(project.id)
    if slot is None or slot.learner is None or not slot.lock.acquire(blocking=False):
        return kept
    try:
        learner = slot.learner
        if learner is None:
            return kept
        rules, state = stop_rules(project), _state(learner)
        if kept is not None and (kept.seq, kept.version, kept.goal, kept.state) == (
            learner.seq,
            learner.model_version,
            rules.goal,
            state,
        ):
            return kept
        now, table = kind_of(project).glance(learner, rules), learner.table
    finally:
        slot.lock.release()
    now = replace(now, state=state, picture=(kept.picture if kept else "") or _picture(home, table))
    if now.more is not None:
        now = replace(now, pace=read_pace(project.id))
    _keep(home, path, now)
    return now


def _state(learner: Learner) -> str:
    """Names what else the figures follow from, that no entry of the log tells: the settings, and which fit of the model
    is in place. One that was begun before the latest answers may come after them."""
    return blake2s(repr((learner.settings, learner.version_published)).encode(), digest_size=8).hexdigest()


def _picture(home: Home, table: LabelTable) -> str:
    """Of the first row, what it shows or what it sounds like; "" where it has neither."""
    first = row_view(table, 0)
    if first.image:
        return small_url(home, first.image)
    return small_sound_url(home, first.audio, first.segment) if first.audio else ""


def _kept(home: Home, path: Path) -> Glance | None:
    with _keeping:
        known = _known.setdefault(home.database, {})
        if path not in known:
            known[path] = _read(path)
        return known[path]


def _read(path: Path) -> Glance | None:
    try:
        return Glance.from_json(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError):
        _log.warning("%s cannot be read; it is made anew when its project is opened.", path)
        return None


def _keep(home: Home, path: Path, glance: Glance) -> None:
    with _keeping:
        _known.setdefault(home.database, {})[path] = glance
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with whole_file(path) as file:
            file.write(json.dumps(vars(glance)).encode())
    except OSError as error:  # the disk is full: it is in memory
        _log.warning("%s cannot be kept: %s", path, error.strerror)


# How much of each project is answered, open and in dispute, for pages that list projects; counted anew once a log has
# grown.


@dataclass
class _Count:
    """What was counted of a project under these settings, up to the entry `seq`. kept : what its kind keeps for the
    next count"""

    settings: KindSettings | None = None
    seq: int = -1
    counts: tuple[int, int, int] = (0, 0, 0)
    kept: Any = None
    lock: threading.Lock = field(default_factory=threading.Lock)


_counting_known: WeakKeyDictionary[Database, dict[tuple[int, datetime], _Count]] = WeakKeyDictionary()


def counts(home: Home, session: Session, project: Project) -> tuple[int, int, int]:
    """(answered, open, in dispute) as `Pool.n_answered` and `n_open` of the project's learner are, and its disputes."""
    kind = kind_of(project)
    settings = kind.read_settings(project.settings)
    # A deleted project may leave its id to another.
    known = _counting_known.setdefault(home.database, {})
    found = known.setdefault((project.id, project.created_at), _Count())
    with found.lock:
        if found.settings != settings:
            found.settings, found.seq, found.kept = settings, -1, None
        if found.seq != (now := entries.last_seq(session, project.id)):
            answered, left, found.kept = kind.count(home, session, project, settings, found.kept)
            disputes = (
                len(found.kept.disputed()) if kind.DISPUTES is not None and found.kept is not None else 0
            )
            found.counts, found.seq = (answered, left, disputes), now
        if project.archived_at is not None or project.deleted_at is not None:
            found.kept = None  # its log does not grow: the counts are enough
        return found.counts


def keep_only(home: Home, in_use: Collection[int]) -> None:
    """Free what was kept for the next count of projects that are not in use any more. in_use : ids of those that are"""
    for (project_id, _), found in list(_counting_known.get(home.database, {}).items()):
        if project_id not in in_use:
            found.kept = None
