"""The quality of each project at a glance, for the list of projects, without building a learner or waiting for one.

The figures of a learner in memory are stored next to the database, for when it is unloaded. They are a cache, rebuilt
when someone opens the project.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2s
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from db import answers
from winnow_labels import __version__
from workflow.files.stored import whole_file
from workflow.kinds import kind_of, stop_rules
from workflow.projects.figures import Glance

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.engine import Database
    from db.projects import Project
    from plcore import LabelTable
    from plcore.loop import Learner
    from workflow.server.home import Home

_log = logging.getLogger("winnow")

_known: WeakKeyDictionary[Database, dict[Path, Glance | None]] = WeakKeyDictionary()
_keeping = threading.Lock()


def glance_of(home: Home, project: Project, read_pace: Callable[[int], float | None]) -> Glance | None:
    """Return the glance of the learner if it is in memory and idle; else the stored one.

    read_pace : returns the pace in the project of this id; called only if the glance is new and has figures
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
    """Key of everything the figures depend on that is not in the log: the settings, and which fit of the model is in
    place. A fit that began before the latest answers may finish after them."""
    state = learner.settings, learner.has_model, learner.version_published
    return blake2s(repr(state).encode(), digest_size=8).hexdigest()


def _picture(home: Home, table: LabelTable) -> str:
    """Return what the first row shows or sounds like; "" if it has neither."""
    from workflow.files.media import small_sound_url, small_url  # heavy imports: only needed with a learner in memory
    from workflow.rows.row import row_view

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
        _log.warning("%s cannot be read; it is rebuilt when its project is opened.", path)
        return None


def _keep(home: Home, path: Path, glance: Glance) -> None:
    with _keeping:
        _known.setdefault(home.database, {})[path] = glance
    _write(path, vars(glance))


def _write(path: Path, document: object) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with whole_file(path) as file:
            file.write(json.dumps(document).encode())
    except OSError as error:  # the disk is full: it stays in memory
        _log.warning("%s cannot be stored: %s", path, error.strerror)


# How much of each project is answered, open and in dispute, for lists of projects; counted again when a log has grown.
# The counts are stored next to the glances, so a process that only lists projects, such as `winnow projects`, opens no
# table.


class ProjectCounts(NamedTuple):
    """answered, left : as `Pool.n_answered` and `n_open` of the project's learner      disputes : open ones
    by_row : whether these are rows, not labels of rows
    answers : by all annotators, if a row has several; else None"""

    answered: int
    left: int
    disputes: int
    by_row: bool
    answers: int | None


NOTHING_COUNTED = ProjectCounts(0, 0, 0, by_row=True, answers=None)


@dataclass
class _Count:
    """The counts of a project under these settings, up to the entry `seq`. kept : state that its kind reuses for the
    next count"""

    settings: Mapping[str, object] | None = None
    seq: int = -1
    counts: ProjectCounts = NOTHING_COUNTED
    kept: Any = None
    lock: threading.Lock = field(default_factory=threading.Lock)


_counting_known: WeakKeyDictionary[Database, dict[tuple[int, datetime], _Count]] = WeakKeyDictionary()


def counts(home: Home, session: Session, project: Project, now: int) -> ProjectCounts:
    """Return how much of the project is answered, open and in dispute, from its whole log.

    now : seq of its latest entry, read in this transaction
    """
    # A new project may have the id of a deleted one.
    known = _counting_known.setdefault(home.database, {})
    found = known.setdefault((project.id, project.created_at), _Count())
    with found.lock:
        if found.settings != project.settings:
            found.settings, found.seq, found.kept = dict(project.settings), -1, None
        if found.seq < 0 and (stored := _stored_counts(home, project, now)) is not None:
            found.counts, found.seq = stored, now
        if found.seq != now:
            kind = kind_of(project)
            settings = kind.read_settings(project.settings)
            answered, left, found.kept = kind.count(home, session, project, settings, found.kept)
            disputes = len(found.kept.disputed()) if kind.DISPUTES is not None and found.kept is not None else 0
            given = answers.count(session, project.id, kind.ANSWERS) if settings.several else None
            found.counts, found.seq = ProjectCounts(answered, left, disputes, settings.by_row, given), now
            _write(_counts_path(home, project), {"of": _counted(project, now), "counts": found.counts})
        if project.archived_at is not None or project.deleted_at is not None:
            found.kept = None  # its log does not grow: the counts are enough
        return found.counts


def _counts_path(home: Home, project: Project) -> Path:
    return home.cache_dir / "counts" / f"{project.id}-{project.table_hash[:16]}.json"


def _counted(project: Project, seq: int) -> list[object]:
    """Inputs of the counts: the project (its id may be that of a deleted one), its settings, the log up to `seq`, and
    the version that counted."""
    return [project.created_at.isoformat(), project.settings, seq, __version__]


def _stored_counts(home: Home, project: Project, seq: int) -> ProjectCounts | None:
    """Return the stored counts for this state of the project, if there are any."""
    path = _counts_path(home, project)
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return ProjectCounts(*stored["counts"]) if stored["of"] == _counted(project, seq) else None
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError):
        _log.warning("%s cannot be read; the project is counted again.", path)
        return None


def keep_only(home: Home, in_use: Collection[int]) -> None:
    """Free the cached counting state of projects no longer in use. in_use : ids of projects in use"""
    for (project_id, _), found in list(_counting_known.get(home.database, {}).items()):
        if project_id not in in_use:
            found.kept = None
