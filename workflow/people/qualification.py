"""The owner's side of qualification: what is asked, who has passed, and who is let in without."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from db import members, people, projects, qualifications
from db.qualifications import Attempt
from workflow.access import RIGHTS, NotFound, Right, Role
from workflow.common.room import MOST_QUALIFYING, QualificationRule, RoomError, RoomSettings
from workflow.people import audit
from workflow.people.audit import EventKind
from workflow.people.examples import QUALIFICATION, standing_examples
from workflow.people.qualifying import rule_of

if TYPE_CHECKING:
    from workflow.seat import Seat

__all__ = [
    "MOST_QUALIFYING",
    "PersonQualified",
    "QualificationRule",
    "QualificationView",
    "change_rule",
    "let_in",
    "overview",
]


@dataclass(frozen=True)
class PersonQualified:
    """A person as the owner sees them. state : in words      may_start : without a qualification"""

    person_id: int
    name: str
    state: str
    may_start: bool


@dataclass(frozen=True)
class QualificationView:
    """What the owner sees. possible : whether projects of this kind have qualifications

    marked : rows marked for it that can be asked      rule : None where nobody needs to qualify
    """

    possible: bool
    rule: QualificationRule | None
    marked: int
    people: tuple[PersonQualified, ...]


def overview(seat: Seat) -> QualificationView:
    """Who has qualified, and what for, for the owner.

    Raises
    ------
    NotAllowed, NotFound
    """
    with seat.learner(Right.OWN) as opened:
        if not opened.kind.CAN_QUALIFY:
            return QualificationView(False, None, 0, ())
        attempts: dict[int, list[Attempt]] = {}
        for one in qualifications.of_project(opened.session, opened.project_id):
            attempts.setdefault(one.person_id, []).append(one)
        found = []
        for person, member in members.listed(opened.session, opened.project_id):
            rights = RIGHTS[Role(member.role)]
            if person.disabled_at is not None or Right.OWN in rights or Right.ANSWER not in rights:
                continue
            before = qualifications.has_entries(opened.session, opened.project_id, person.id)
            found.append(_told(person.id, person.name, attempts.get(person.id, []), answered=before))
        known = len(standing_examples(opened, QUALIFICATION))
        return QualificationView(True, rule_of(opened), known, tuple(found))


def change_rule(seat: Seat, rule: QualificationRule | None) -> None:
    """Want a qualification from everybody who has not answered here yet; None: from nobody.

    Raises
    ------
    RoomError
        Fewer rows are marked for it than it asks; or projects of this kind have none.
    NotSaved, NotAllowed, NotFound
    """
    with seat.learner(Right.OWN) as opened:
        if rule is not None and not opened.kind.CAN_QUALIFY:
            raise RoomError(
                "Several labels of a row may be right in this project, so it has no qualification."
            )
        known = len(standing_examples(opened, QUALIFICATION))
    if rule is not None and known < rule.rows:
        raise RoomError(
            f"The qualification asks {rule.rows} rows, and {known} are marked for it. Fix: mark more on the Review "
            "page, or ask fewer."
        )
    with seat.owning() as owning:
        room = replace(RoomSettings.from_json(owning.project.room), qualification=rule)
        projects.change_room(owning.session, owning.project.id, room.to_json())
        audit.note_at(owning, EventKind.SETTINGS_CHANGED, settings="qualification")


def let_in(seat: Seat, person_id: int) -> None:
    """Let a person start without a qualification; who may start already stays as they are.

    Raises
    ------
    NotSaved, NotAllowed, NotFound
    """
    with seat.owning() as owning:
        if people.find(owning.session, person_id) is None:
            raise NotFound(f"There is no person {person_id}. Fix: choose one from the list.")
        attempts = qualifications.of_person(owning.session, owning.project.id, person_id)
        if any(one.passed_at for one in attempts):
            return
        at = datetime.now(UTC)
        attempt = Attempt(
            person_id=person_id,
            attempt=len(attempts) + 1,
            rows=[],
            given=[],
            n_right=0,
            began_at=at,
            passed_at=at,
            let_in_by=owning.person.id,
        )
        qualifications.put(owning.session, owning.project.id, attempt)


def _told(person_id: int, name: str, attempts: list[Attempt], *, answered: bool) -> PersonQualified:
    passed = next((one for one in attempts if one.passed_at), None)
    if passed is not None and passed.let_in_by is not None:
        return PersonQualified(person_id, name, "let in by the owner", True)
    if passed is not None:
        which = f"attempt {passed.attempt}"
        return PersonQualified(
            person_id, name, f"passed: {passed.n_right} of {len(passed.rows)} right, {which}", True
        )
    if answered:
        return PersonQualified(person_id, name, "has answered here before", True)
    if not attempts:
        return PersonQualified(person_id, name, "has not begun", False)
    last = attempts[-1]
    if last.over:
        tried = f"{last.n_right} of {len(last.rows)} right, attempt {last.attempt}"
        return PersonQualified(person_id, name, f"not passed: {tried}", False)
    return PersonQualified(
        person_id,
        name,
        f"answers row {len(last.given) + 1} of {len(last.rows)}, attempt {last.attempt}",
        False,
    )
