"""Which earlier state of a project is meant: by an entry of its log, by a moment, or by the name of a snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

from db import entries, projects, trained
from plcore.arrays import PluginError, untold
from plcore.loop import EntryKind, class_changes
from workflow import kinds
from workflow.access import Right
from workflow.answering.history import KeptLog
from workflow.exporting.snapshot import Past
from workflow.kinds.adopting import AUTOMATIC
from workflow.log.lines import first_table
from workflow.log.reading import learner_entry, take_in
from workflow.opened import Opened

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.projects import Project
    from plcore.loop import ClassChange, Learner
    from workflow.kinds import AnyKind
    from workflow.seat import Seat


AsOf = int | datetime | str
"""A log entry's number (the state after it; 0: before the first), a moment with its time zone, or a snapshot's name."""


class AsOfError(ValueError):
    """There is no such state of the project."""


def read_as_of(text: str, zone: tzinfo = UTC) -> AsOf:
    """Parse a state that a user typed: digits are an entry, ISO 8601 is a time, only a date is its beginning, and any
    other text a name. zone : of a time without a zone
    """
    text = text.strip()
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):  # the latter: by UTC it is before the first year, or after the last
        return text


def find_past(session: Session, project: Project, as_of: AsOf) -> Past:
    """The state that is meant. Raises AsOfError if there is none."""
    if isinstance(as_of, str):
        stored = projects.get_snapshot(session, project.id, as_of)
        if stored is None:
            raise AsOfError(
                f"There is no snapshot {as_of!r} of this project. Fix: name one of those on the Export page, a number "
                "of an entry, or a moment such as 2026-03-01T12:00."
            )
        return past_of(session, project, stored)
    until = as_of if isinstance(as_of, datetime) else None
    seq = _entry_before(session, project, as_of) if isinstance(as_of, datetime) else as_of
    last = entries.last_seq(session, project.id)
    if not 0 <= seq <= last:
        raise AsOfError(
            f"The log of this project has entries 1 to {last:,}; 0 is before the first. Got {seq:,}."
            if last
            else f"The log of this project has no entry yet. Fix: 0 is before the first. Got {seq:,}."
        )
    about = [one for one in entries.about_project(session, project.id) if one.seq <= seq]
    changes = class_changes(map(learner_entry, about))
    settings = _settings_then(session, project, seq, until)
    versions = _versions(session, project, settings, changes, seq)
    return _past(session, project, seq, settings, versions[-1] if versions else None)


def past_of(session: Session, project: Project, stored: projects.StoredSnapshot) -> Past:
    """The state of a snapshot. Raises AsOfError where the log does not reach so far any more."""
    if stored.seq > (last := entries.last_seq(session, project.id)):
        raise AsOfError(
            f"Snapshot {stored.name!r} is as of entry {stored.seq:,}, but the log has only {last:,}: entries are "
            "missing. Fix: restore a backup."
        )
    return _past(session, project, stored.seq, stored.settings, stored.model_version)


def past_now(session: Session, project: Project) -> Past:
    """The current state, with the newest published version of the model."""
    seq = entries.last_seq(session, project.id)
    about = entries.about_project(session, project.id)
    versions = _versions(session, project, project.settings, class_changes(map(learner_entry, about)), seq)
    return _past(session, project, seq, project.settings, versions[-1] if versions else None)


def _past(session: Session, project: Project, seq: int, settings: dict[str, object], version: int | None) -> Past:
    about = entries.about_project(session, project.id)
    until_then = [one for one in about if one.seq <= seq]
    added = [one for one in until_then if one.kind == EntryKind.ROWS]
    return Past(
        project_id=project.id,
        seq=seq,
        moment=(entries.time_of(session, project.id, seq) if seq else None) or project.created_at,
        settings=settings,
        table_hash=added[-1].after[0] if added else first_table(about, project.table_hash),
        changes=class_changes(map(learner_entry, until_then)),
        version=version,
    )


def _entry_before(session: Session, project: Project, moment: datetime) -> int:
    """The latest entry at that moment, 0 before the first."""
    if moment < project.created_at:
        raise AsOfError(f"The project was made at {_words(project.created_at)}; at {_words(moment)} there was none.")
    if moment > datetime.now(UTC):
        raise AsOfError(f"{_words(moment)} is in the future. Fix: name a moment up to now.")
    return entries.last_until(session, project.id, moment)


def _words(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _settings_then(session: Session, project: Project, seq: int, until: datetime | None) -> dict[str, object]:
    """The settings in force right after this entry, or, where a moment is meant, at that moment.

    Older versions did not record changes. The log has the model changes; other settings are assumed unchanged until the
    first recorded change.
    """
    later = (
        one.settings
        for one in projects.list_past_settings(session, project.id)
        if one.until_seq >= seq and (until is None or one.until > until)
    )
    settings = next(later, project.settings)
    then = replace(project, settings=settings)
    told = [one for one in entries.about_project(session, project.id) if one.kind == EntryKind.MODEL]
    before = [one for one in told if one.seq <= seq]
    if not told:
        return settings
    in_force = kinds.read_settings(then)
    name, automatic = told[0].before[0], in_force.is_automatic
    if before:
        name, automatic = before[-1].labels[0], AUTOMATIC in before[-1].labels[1:]
    if (in_force.model_in_force, in_force.is_automatic) == (name, automatic):
        return settings
    if not kinds.models(then):
        return {**settings, "model": name}
    found: dict[str, object] = kinds.with_model(then, name, None, automatic=automatic).to_json()
    return found


def _versions(
    session: Session, project: Project, settings: dict[str, object], changes: tuple[ClassChange, ...], seq: int
) -> list[int]:
    """The published versions of the model under these settings and classes that know no entry after `seq`."""
    then = replace(project, settings=settings)
    if kinds.worker_settings(then) is None:
        return []
    key = kinds.version_key(then, changes[-1].seq if changes else 0)
    return [one.version for one in trained.versions(session, project.id, key) if one.version <= seq]


# An earlier state, opened like the current one: its log up to an entry, folded again. Nothing of it is
# stored: table, log, and the settings of the time, from which it is folded, never change.


@contextmanager
def open_as_of(seat: Seat, as_of: AsOf | None) -> Iterator[Opened[Learner]]:
    """The project at that time, or now (None), with its learner; one thread uses it at a time. For owners.

    Raises
    AsOfError : There is no such state.
    ValueError : The model of that time cannot be fitted.
    NotAllowed, NotFound
    """
    if as_of is None:
        with seat.learner(Right.OWN) as opened:
            seat.home.shelf.slot(opened.project_id).past.let_go()
            yield opened
        return
    with seat.reading(Right.OWN) as reading:
        past = find_past(reading.session, reading.project, as_of)
    with open_past(seat, past) as opened:
        yield opened


@contextmanager
def open_past(seat: Seat, past: Past) -> Iterator[Opened[Learner]]:
    """Like `open_as_of`, for a state that was already found."""
    kept, kind = seat.home.shelf.slot(past.project_id).past, seat.kind
    state = past, seat.home.database.times_replaced
    with kept.lock:
        learner = kept.learner
        if learner is None or kept.state != state:
            kept.let_go()  # only one of them is kept in memory
            learner = _build(seat, kind, past)
            kept.state, kept.learner = state, learner
        with seat.reading(Right.OWN) as reading:
            project = replace(reading.project, settings=past.settings, table_hash=past.table_hash)
            known = reading.person, reading.role, seat.home, reading.session
            yield Opened(*known, project, kind, learner, KeptLog())


def _build(seat: Seat, kind: AnyKind, past: Past) -> Learner:
    settings = kind.read_settings(past.settings)
    learner: Learner = kind.build_learner(seat.home, past.table_hash, settings, past.changes)
    if learner.waits and kind.NEIGHBORS is not None:
        kind.NEIGHBORS.find(seat.home, past.table_hash, settings, past.changes, untold)
        learner = kind.build_learner(seat.home, past.table_hash, settings, past.changes)
    with seat.reading(Right.OWN) as reading:
        take_in(learner.pool, entries.each(reading.session, past.project_id, past.seq), learner.apply)
    try:
        kind.give_model(seat.home, learner, past)
    except PluginError as error:
        raise AsOfError(f"The model of that state cannot be trained again: {error}") from error
    return learner
