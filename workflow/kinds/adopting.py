"""Changes of a project's model: its settings and an entry of its log, in one transaction.

Every change is logged, no matter who makes it, so the log shows which model was in force for each answer. Changes by a
comparison are logged under the person who created the project, with the reason as their `strategy`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from db import answers, entries, projects, trained
from plcore.loop import EntryKind
from workflow import kinds

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.projects import Project
    from workflow.kinds.kind import KindSettings

COMPARISON, CHECKS = "comparison", "comparison by blind checks"
"""`strategy` of the entries that a comparison makes: by kappa, or by blind checks first."""
AUTOMATIC = "automatic"
"""Second label of an entry after which comparisons choose the model; the first label is the model in force."""


@dataclass(frozen=True)
class Adoption:
    """A change of the model.

    answers : number given before      before, model : in force before and after
    automatic : whether comparisons choose the model from then on      by_comparison : whether a comparison made this
        change
    by_checks : whether it used blind checks      why : in words, None if a person chose the model
    """

    seq: int
    answers: int
    at: datetime
    before: str
    model: str
    automatic: bool
    by_comparison: bool
    by_checks: bool
    why: str | None


def change_settings(
    session: Session,
    project: Project,
    settings: KindSettings,
    *,
    person_id: int,
    why: str | None = None,
    score: float | None = None,
    strategy: str | None = None,
) -> entries.LogEntry | None:
    """Give the project these settings. Returns an entry of the log if they change the model or the way it is chosen, or
    if a comparison chose other features.

    why, score, strategy : of a change by a comparison: its reason, its figure, COMPARISON or CHECKS
    The entry's `after` is the model; for that of a plug-in also its distribution and version.
    """
    from plcore.loop import MODEL_ENTRIES  # loads the models, which a list of projects does not need

    entries.lock(session, project.id)
    kind = kinds.kind_of(project)
    earlier = kind.read_settings(project.settings)
    last, now = entries.last_seq(session, project.id), datetime.now(UTC)
    settings = settings.beginning(earlier, last)
    if settings.to_json() != project.settings:
        projects.add_past_setting(session, project.id, project.settings, last, now)
    projects.change(session, project.id, settings=settings.to_json())
    trained.forget_fault(session, project.id)
    before, after = earlier.model_in_force, settings.model_in_force
    automatic = settings.is_automatic
    other_features = (
        strategy is not None
        and (comparing := kind.COMPARING) is not None
        and comparing.features(earlier) != comparing.features(settings)
    )
    if not other_features and (before, earlier.is_automatic) == (after, automatic):
        return None
    entry = MODEL_ENTRIES.get(after)
    return entries.append(
        session,
        entries.NewEntry(
            project_id=project.id,
            kind=EntryKind.MODEL,
            row=entries.NO_ROW,
            labels=(after, AUTOMATIC) if automatic else (after,),
            person_id=person_id,
            token=f"model.{last + 1}",
            revision=entries.count_for(session, project.id, person_id, entries.NO_ROW),
            strategy=strategy,
            score=score,
            before=(before,),
            after=(after, entry.source) if entry is not None and entry.source else (after,),
            note=why,
            at=now,
        ),
    )


def left_to_comparisons(session: Session, project: Project) -> int:
    """Return the seq of the latest entry by which a person let comparisons choose the model; -1 if there is none."""
    by_hand = (
        one.seq
        for one in entries.about_project(session, project.id)
        if one.kind == EntryKind.MODEL and AUTOMATIC in one.labels[1:] and one.strategy is None
    )
    return max(by_hand, default=-1)


def read_adoptions(session: Session, project: Project) -> tuple[Adoption, ...]:
    """Return every change of the model in the project's log, in order."""
    given = kinds.kind_of(project).ANSWERS
    return tuple(
        Adoption(
            seq=one.seq,
            answers=answers.count(session, project.id, given, before=one.seq),
            at=one.at,
            before=one.before[0],
            model=one.after[0],
            automatic=AUTOMATIC in one.labels[1:],
            by_comparison=one.strategy is not None,
            by_checks=one.strategy == CHECKS,
            why=one.note,
        )
        for one in entries.about_project(session, project.id)
        if one.kind == EntryKind.MODEL
    )
