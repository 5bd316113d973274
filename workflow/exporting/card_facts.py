"""Facts about a project's labels for publication, from only its table, log and settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

from db import entries
from plcore.loop import EntryKind
from workflow import kinds
from workflow.answering.asked import batch_of
from workflow.answering.room_settings import RoomSettings
from workflow.kinds.adopting import read_adoptions
from workflow.models.encoders.consents import Consent, consents
from workflow.projects.figures import SIMULATED

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session

    from db.entries import LogEntry
    from plcore.loop import Learner
    from plcore.tables import ColumnVectors
    from workflow.exporting.snapshot import Described
    from workflow.opened import Opened


@dataclass(frozen=True)
class Annotator:
    """Contribution of one person. seconds : the median for an answer, None if none was measured"""

    name: str
    answers: int
    skips: int
    unsure: int
    seconds: float | None


@dataclass(frozen=True)
class CardFacts:
    """Everything a dataset card says by itself.

    task : of Hugging Face's tasks, the one that the table's items belong to
    sources : how many labels come from each source      per_row : {answers: rows that have so many}
    answers : that stand; simulated : how many of these the simulated oracle gave      withdrawn : withdrawn
    asked_by : {strategy: answers to its questions}      models : those in force one after the other
    head : the seal of the log's last entry (`workflow.log.lines`)
    encoders : which column each has read, and who has accepted its licence when
    """

    name: str
    description: str
    guidelines: str
    kind: str
    classes: str
    task: str
    created_at: datetime
    n_rows: int
    n_classes: int
    sources: Mapping[str, int]
    described: Described
    annotators: tuple[Annotator, ...]
    answers: int
    simulated: int
    withdrawn: int
    per_row: Mapping[int, int]
    seconds: float | None
    first: datetime | None
    last: datetime | None
    asked_by: Mapping[str, int]
    settings: Mapping[str, object]
    models: tuple[str, ...]
    model_version: int
    table_sha256: str
    entries: int
    head: str
    encoders: tuple[str, ...]


def without_names(session: Session, project_id: int) -> dict[int, str]:
    """{person: "Annotator 1" and so on}, in the order of their first entries: the log continues, and no one's number
    changes."""
    people = enumerate(entries.people_of(session, project_id), start=1)
    return {person: f"Annotator {number}" for number, person in people}


def take_facts(
    opened: Opened[Learner], names: Mapping[int, str], sources: Mapping[str, int]
) -> Callable[[Sequence[LogEntry], str], CardFacts]:
    """Take the current facts, except those from the log, which are computed later from its entries up to now, when no
    one waits for the learner. names : {person: their name}
    sources : how many labels come from each source
    """
    project, kind, table = opened.project, opened.kind, opened.learner.table
    words, described = kind.WORDS, kind.describe(opened, kinds.stop_rules(project))
    adopted = read_adoptions(opened.session, project)
    given = consents(opened.session, project.id)
    known = {
        "name": project.name,
        "description": project.description,
        "guidelines": RoomSettings.from_json(project.room).guidelines,
        "kind": words.title,
        "classes": words.classes,
        "task": _task(table.roles),
        "created_at": project.created_at,
        "n_rows": table.n_rows,
        "n_classes": len(opened.learner.classes),
        "sources": sources,
        "described": described,
        "settings": project.settings,
        "models": (*(one.before for one in adopted[:1]), *(one.model for one in adopted)) or (described.model,),
        "model_version": opened.learner.model_version,
        "table_sha256": project.table_hash,
        "encoders": tuple(_encoder(one, given.get(one.encoder), names) for one in table.encoded),
    }
    return partial(_with_log, known, kind.ANSWERS, names)


def _encoder(one: ColumnVectors, consent: Consent | None, names: Mapping[int, str]) -> str:
    asked = "" if consent is None else f", {consent.words(names.get(consent.person, 'an owner'))}"
    return f"{one.column} by {one.encoder}, SHA-256 {one.sha256}{asked}"


def _with_log(
    known: Mapping[str, Any], answers: Collection[str], names: Mapping[int, str], log: Sequence[LogEntry], head: str
) -> CardFacts:
    """known : what is taken of the learner      answers : the kinds of entries that are      head : of this log"""
    gone = {one.target_seq for one in log}
    standing = [one for one in log if one.kind in answers and one.seq not in gone]
    return CardFacts(
        **known,
        annotators=_annotators(log, standing, gone, names),
        answers=len(standing),
        simulated=sum(one.note == SIMULATED for one in standing),
        withdrawn=sum(one.row != entries.NO_ROW and one.target_seq is not None for one in log),
        per_row=dict(sorted(Counter(Counter(one.row for one in standing).values()).items())),
        seconds=_seconds(standing),
        first=min((one.at for one in standing), default=None),
        last=max((one.at for one in standing), default=None),
        asked_by=dict(Counter(one.strategy or "not recorded" for one in standing).most_common()),
        entries=len(log),
        head=head,
    )


def _annotators(
    log: Sequence[LogEntry], standing: Sequence[LogEntry], gone: Collection[int | None], names: Mapping[int, str]
) -> tuple[Annotator, ...]:
    """People with an entry about a row, in the order of these entries. Withdrawn answers do not count."""
    about_rows = [one for one in log if one.row != entries.NO_ROW]
    found = []
    for person in dict.fromkeys(one.person_id for one in about_rows):
        own = [one for one in standing if one.person_id == person]
        kinds_of = Counter(one.kind for one in about_rows if one.person_id == person and one.seq not in gone)
        found.append(
            Annotator(
                name=names[person],
                answers=len(own),
                skips=kinds_of[EntryKind.SKIP],
                unsure=kinds_of[EntryKind.UNSURE],
                seconds=_seconds(own),
            )
        )
    return tuple(found)


def _seconds(given: Sequence[LogEntry]) -> float | None:
    """The median seconds of people's answers; those of the simulated oracle, and rows confirmed together, do not
    count."""
    alone = [one for one in given if one.note != SIMULATED and batch_of(one.asked) is None]
    spent = [one.seconds for one in alone if one.seconds is not None]
    return median(spent) if spent else None


def _task(roles: object) -> str:
    for what in ("image", "audio", "text"):
        if getattr(roles, what) is not None:
            return f"{what}-classification"
    return "tabular-classification"
