"""The audit as owners read it: filtered, in words, and as CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from datetime import datetime

from db import events, people, projects
from db.events import Event
from db.events import EventFilter as EventFilter
from workflow.access import Right
from workflow.people.audit import EventKind
from workflow.seat import Seat

MOST_SHOWN = 200
"""Lines that a page shows; the CSV has all."""
KIND_WORDS = {
    EventKind.SIGN_IN: "signed in",
    EventKind.SIGN_IN_REFUSED: "sign-in refused",
    EventKind.SIGN_OUT: "signed out",
    EventKind.LINK_MADE: "link created",
    EventKind.LINKS_ENDED: "links ended",
    EventKind.PERSON_ADDED: "person added",
    EventKind.PERSON_ENDED: "access ended",
    EventKind.PERSON_LET_IN: "access restored",
    EventKind.PASSWORD_SET: "password set",
    EventKind.PASSWORD_CLEARED: "password cleared",
    EventKind.KNOWN_AS_SET: "external name set",
    EventKind.BROWSERS_ENDED: "browsers signed out",
    EventKind.TOKEN_MADE: "token created",
    EventKind.TOKEN_ENDED: "token ended",
    EventKind.PROJECT_MADE: "project created",
    EventKind.PROJECT_RENAMED: "project renamed",
    EventKind.PROJECT_ARCHIVED: "project archived",
    EventKind.PROJECT_BINNED: "project moved to the bin",
    EventKind.PROJECT_RESTORED: "project restored",
    EventKind.SETTINGS_CHANGED: "settings changed",
    EventKind.EXPORT_TAKEN: "export created",
    EventKind.SNAPSHOT_MADE: "snapshot created",
    EventKind.BACKUP_TAKEN: "backup downloaded",
    EventKind.RESTORE_STAGED: "backup chosen to be restored",
    EventKind.BACKUP_RESTORED: "backup restored",
    EventKind.PROJECT_TAKEN: "project downloaded",
    EventKind.PROJECT_BROUGHT_IN: "project imported",
    EventKind.MEMBERS_CHANGED: "members changed",
    EventKind.ANSWERS_SET_ASIDE: "answers excluded",
    EventKind.ANSWERS_COUNT_AGAIN: "answers counted again",
    EventKind.TOUR_ENDED: "tour ended",
    EventKind.ENCODER_ASKED: "encoder asked for",
    EventKind.ENCODER_REMOVED: "encoder removed",
}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class AuditLine:
    """An event in words. who, whom, project : names, '' for none      details : *name: value; name: value*"""

    id: int
    at: datetime
    what: str
    who: str
    whom: str
    project: str
    details: str
    address: str


def audit_lines(seat: Seat, asked: EventFilter, limit: int | None = MOST_SHOWN) -> list[AuditLine]:
    """Return the matching events, latest first. limit : how many at most; None for all

    Raises NotAllowed unless the person of the seat is an owner.
    """
    with seat.everywhere.reading(Right.OWN) as reading:
        found = events.listed(reading.session, asked, limit)
        persons = {one.id: one.name for one in people.listed(reading.session)}
        named = {one.id: one.name for one in projects.everything(reading.session)}
    return [_in_words(one, persons, named) for one in found]


def audit_csv(seat: Seat, asked: EventFilter) -> str:
    """Return every matching event as CSV, latest first. Cells that a spreadsheet would run as formulas begin with an
    apostrophe.

    Raises as ``audit_lines``.
    """
    text = io.StringIO()
    writer = csv.writer(text)  # lines end in CR LF: a line break in a cell of either sort is then quoted
    writer.writerow(["number", "at", "what", "who", "whom", "project", "details", "address"])
    for one in audit_lines(seat, asked, None):
        cells = [one.what, one.who, one.whom, one.project, one.details, one.address]
        writer.writerow([one.id, one.at.isoformat(timespec="seconds"), *map(_harmless, cells)])
    return text.getvalue()


def names_for_filters(seat: Seat) -> tuple[dict[int, str], dict[int, str]]:
    """Return the names of all people and all projects, by id, for filters. Raises as ``audit_lines``."""
    with seat.everywhere.reading(Right.OWN) as reading:
        return (
            {one.id: one.name for one in people.listed(reading.session)},
            {one.id: one.name for one in projects.everything(reading.session)},
        )


def _in_words(event: Event, persons: dict[int, str], named: dict[int, str]) -> AuditLine:
    return AuditLine(
        id=event.id,
        at=event.at,
        what=KIND_WORDS[EventKind(event.what)],
        who=persons.get(event.person_id or 0, ""),
        whom=persons.get(event.about_id or 0, ""),
        project=named.get(event.project_id or 0, ""),
        details="; ".join(
            f"{name.replace('_', ' ')}: {f'{value:,}' if isinstance(value, int) else value}"
            for name, value in event.details.items()
            if value != ""
        ),
        address=event.address,
    )


def _harmless(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
