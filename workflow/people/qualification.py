"""Qualification: rules, questions and results, and who may start without it."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from db import members, people, projects
from db.members import Attempt
from plcore import AnswerError
from plcore.arrays import counted
from plcore.loop import Learner
from workflow.access import RIGHTS, NotAllowed, NotFound, Right, Role
from workflow.answering.room_settings import MOST_QUALIFYING as MOST_QUALIFYING
from workflow.answering.room_settings import QualificationRule as QualificationRule
from workflow.answering.room_settings import RoomError, RoomSettings
from workflow.answering.turn import StaleQuestion
from workflow.opened import Opened
from workflow.people import audit
from workflow.people.audit import EventKind
from workflow.people.examples import QUALIFICATION, ClassExample, standing_examples
from workflow.rows.row import RowView
from workflow.seat import Seat

# Qualification: if the owner requires it, annotators answer a few known rows before their first question.
#
# Their answers there are stored in a table of their own: they are not in the project's log, and never used for
# training. The rows are those that the owner has marked for it, whose labels come from answers; never test rows or
# blind checks.

MOST_CHOICES = 60
"""Limit of the classes that one question of a qualification offers."""


class NotQualified(NotAllowed):
    """This person must answer known rows before they may start."""


@dataclass(frozen=True)
class Qualifying:
    """Progress of a person who may not start yet.

    rows, needed : how many rows an attempt has, and how many must be right
    token, view, choices : of the row that is asked now; None and () before an attempt, and after a failed one
    number, right : its number, from 1; how many were right so far, or in the finished attempt
    tried : finished attempts
    """

    rows: int
    needed: int
    token: str | None
    view: RowView | None
    choices: tuple[str, ...]
    number: int
    right: int
    tried: int


@dataclass(frozen=True)
class Judged:
    """The result of one answer. said : the class that the person named      label, note : the row's label, and the
    owner's note

    over, passed : of the attempt      number, rows, n_right, needed : number of this row, rows, right answers so far,
        right answers needed
    """

    view: RowView
    choices: tuple[str, ...]
    said: str
    label: str
    note: str
    number: int
    rows: int
    n_right: int
    needed: int

    @property
    def right(self) -> bool:
        return self.said == self.label

    @property
    def over(self) -> bool:
        return self.number == self.rows

    @property
    def passed(self) -> bool:
        return self.over and self.n_right >= self.needed


def require_qualified(opened: Opened[Learner]) -> None:
    """Raise NotQualified if this person may not be asked yet."""
    if _needs(opened):
        raise NotQualified("Before you start here, you answer a few known rows on the Answer page.")


def now(seat: Seat) -> Qualifying | None:
    """Return this person's progress, None if they may start."""
    with seat.learner(Right.ANSWER) as opened:
        rule = rule_of(opened)
        if rule is None or not _needs(opened):
            return None
        known = standing_examples(opened, QUALIFICATION)
        attempts = members.of_person(opened.session, opened.project_id, opened.person_id)
        tried = sum(one.over for one in attempts)
        last = attempts[-1] if attempts else None
        rows = min(rule.rows, len(known))
        if last is None or last.over:
            right = last.n_right if last else 0
            return Qualifying(rows, _needed(rule, rows), None, None, (), 0, right, tried)
        asked = _asked(last, known)
        needed = _needed(rule, len(last.rows))
        if asked is None:  # its mark was removed: the attempt cannot continue
            return Qualifying(rows, _needed(rule, rows), None, None, (), 0, 0, tried)
        return Qualifying(
            rows=len(last.rows),
            needed=needed,
            token=_token(last),
            view=asked.view,
            choices=_choices(opened, asked),
            number=len(last.given) + 1,
            right=last.n_right,
            tried=tried,
        )


def begin(seat: Seat) -> None:
    """Begin an attempt, with rows not used in earlier ones as far as possible; a running attempt stays."""
    with seat.turn() as turn:
        opened, rule = turn.opened, rule_of(turn.opened)
        if rule is None or not _needs(opened):
            return
        known = standing_examples(opened, QUALIFICATION)
        attempts = members.of_person(turn.session, turn.project_id, turn.person_id)
        number = len(attempts) + 1
        if attempts and not attempts[-1].over:
            if _asked(attempts[-1], known) is not None:
                return
            number -= 1  # it cannot continue, so it begins again
        seen = {row: one.attempt for one in attempts for row in one.rows}
        rows = [one.view.row for one in known]
        random.Random(f"{turn.project_id}.{turn.person_id}.{number}").shuffle(rows)  # noqa: S311 - no secret
        rows.sort(key=lambda row: seen.get(row, 0))
        attempt = Attempt(
            person_id=turn.person_id, attempt=number, rows=rows[: rule.rows], given=[], n_right=0, began_at=turn.now
        )
        members.put_qualification(turn.session, turn.project_id, attempt)


def judge(seat: Seat, token: str, label: str) -> Judged:
    """Store an answer to a known row, and return whether it is right. token : `Qualifying.token`

    Raises
    StaleQuestion : The row is no longer asked: it was answered in another tab, or its mark was removed.
    AnswerError : The label is not among the choices.
    """
    with seat.turn() as turn:
        opened, rule = turn.opened, rule_of(turn.opened)
        attempts = members.of_person(turn.session, turn.project_id, turn.person_id)
        last = attempts[-1] if attempts else None
        stale = StaleQuestion("That row is no longer asked here. Nothing was stored.")
        if rule is None or last is None or last.over or _token(last) != token:
            raise stale
        asked = _asked(last, standing_examples(opened, QUALIFICATION))
        if asked is None:
            raise stale
        choices = _choices(opened, asked)
        if label not in choices:
            raise AnswerError(f"An answer is one of {', '.join(choices)}. Got {label!r}.")
        needed = _needed(rule, len(last.rows))
        after = replace(last, given=[*last.given, label], n_right=last.n_right + (label == asked.label))
        if after.over and after.n_right >= needed:
            after = replace(after, passed_at=turn.now)
        members.put_qualification(turn.session, turn.project_id, after)
        return Judged(
            view=asked.view,
            choices=choices,
            said=label,
            label=asked.label,
            note=asked.note,
            number=len(after.given),
            rows=len(after.rows),
            n_right=after.n_right,
            needed=needed,
        )


def rule_of(opened: Opened[Learner]) -> QualificationRule | None:
    """Return the qualification required before the first question; None if people start at once."""
    # Most projects have none, and it is checked at every click.
    return RoomSettings.from_json(room).qualification if (room := opened.project.room).get("qualification") else None


def _needs(opened: Opened[Learner]) -> bool:
    """Whether this person has to qualify first: not if they are the owner, have answered here, were let in or have
    passed."""
    if rule_of(opened) is None or opened.may(Right.OWN) or not opened.kind.CAN_QUALIFY:
        return False
    session, project_id, person_id = opened.session, opened.project_id, opened.person_id
    if members.has_entries(session, project_id, person_id):
        return False
    if any(one.passed_at for one in members.of_person(session, project_id, person_id)):
        return False
    return bool(standing_examples(opened, QUALIFICATION))  # without a row to ask, everyone may start


def _needed(rule: QualificationRule, rows: int) -> int:
    return math.ceil(rule.share * rows - 1e-9)


def _token(attempt: Attempt) -> str:
    return f"qualification.{attempt.attempt}.{len(attempt.given) + 1}"


def _asked(attempt: Attempt, known: list[ClassExample]) -> ClassExample | None:
    """Return the row that is asked now; None if it can no longer be asked."""
    row = attempt.rows[len(attempt.given)]
    return next((one for one in known if one.view.row == row), None)


def _choices(opened: Opened[Learner], asked: ClassExample) -> tuple[str, ...]:
    """Return the choices of a question about the row, including its class; all classes if there would be nothing to
    choose."""
    classes = opened.learner.classes
    offered = {*opened.learner.state(asked.view.row).original, asked.label}
    listed = [one for one in classes if one in offered or len(offered) < 2]
    first = [one for one in listed if one != asked.label][: MOST_CHOICES - 1]
    return tuple(one for one in listed if one == asked.label or one in first)


@dataclass(frozen=True)
class PersonQualified:
    """A person as the owner sees them. state : in words      may_start : whether they may start without a
    qualification"""

    person_id: int
    name: str
    state: str
    may_start: bool


@dataclass(frozen=True)
class QualificationView:
    """Qualification data for the owner. possible : whether projects of this kind have qualifications

    marked : rows marked for it that can be asked      rule : None if there is no qualification
    """

    possible: bool
    rule: QualificationRule | None
    marked: int
    people: tuple[PersonQualified, ...]


def overview(seat: Seat) -> QualificationView:
    """Return the people who have qualified, and for which version, for the owner."""
    with seat.learner(Right.OWN) as opened:
        if not opened.kind.CAN_QUALIFY:
            return QualificationView(False, None, 0, ())
        attempts: dict[int, list[Attempt]] = {}
        for one in members.of_project(opened.session, opened.project_id):
            attempts.setdefault(one.person_id, []).append(one)
        found = []
        for person, member in members.listed(opened.session, opened.project_id):
            rights = RIGHTS[Role(member.role)]
            if person.disabled_at is not None or Right.OWN in rights or Right.ANSWER not in rights:
                continue
            before = members.has_entries(opened.session, opened.project_id, person.id)
            found.append(_told(person.id, person.name, attempts.get(person.id, []), answered=before))
        known = len(standing_examples(opened, QUALIFICATION))
        return QualificationView(True, rule_of(opened), known, tuple(found))


def change_rule(seat: Seat, rule: QualificationRule | None) -> None:
    """Require a qualification from everyone who has not answered here yet; None: from no one.

    Raises RoomError if it asks more rows than are marked for it, or projects of this kind have none.
    """
    with seat.learner(Right.OWN) as opened:
        if rule is not None and not opened.kind.CAN_QUALIFY:
            raise RoomError("Several labels of a row may be right in this project, so it has no qualification.")
        known = len(standing_examples(opened, QUALIFICATION))
    if rule is not None and known < rule.rows:
        raise RoomError(
            f"The qualification asks {counted(rule.rows, 'row')}; marked for it: {known}. Fix: mark more on the Review "
            "page, or ask fewer."
        )
    with seat.owning() as owning:
        room = replace(RoomSettings.from_json(owning.project.room), qualification=rule)
        projects.change(owning.session, owning.project.id, room=room.to_json())
        audit.note_at(owning, EventKind.SETTINGS_CHANGED, settings="qualification")


def admit_person(seat: Seat, person_id: int) -> None:
    """Let a person start without a qualification; does nothing if they may start already."""
    with seat.owning() as owning:
        if people.find(owning.session, person_id) is None:
            raise NotFound(f"There is no person {person_id}. Fix: choose one from the list.")
        attempts = members.of_person(owning.session, owning.project.id, person_id)
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
        members.put_qualification(owning.session, owning.project.id, attempt)


def _told(person_id: int, name: str, attempts: list[Attempt], *, answered: bool) -> PersonQualified:
    passed = next((one for one in attempts if one.passed_at), None)
    if passed is not None and passed.let_in_by is not None:
        return PersonQualified(person_id, name, "let in by the owner", True)
    if passed is not None:
        which = f"attempt {passed.attempt}"
        return PersonQualified(person_id, name, f"passed: {passed.n_right} of {len(passed.rows)} right, {which}", True)
    if answered:
        return PersonQualified(person_id, name, "has answered here before", True)
    if not attempts:
        return PersonQualified(person_id, name, "has not begun", False)
    last = attempts[-1]
    if last.over:
        tried = f"{last.n_right} of {len(last.rows)} right, attempt {last.attempt}"
        return PersonQualified(person_id, name, f"not passed: {tried}", False)
    return PersonQualified(
        person_id, name, f"answers row {len(last.given) + 1} of {len(last.rows)}, attempt {last.attempt}", False
    )
