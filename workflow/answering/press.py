"""A press from a browser, and the only place where it is checked.

A user can make a browser send anything, so nothing that arrives is trusted. Malformed requests are refused with a
message, like answers that do not fit the question.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from plcore import AnswerError
from plcore.arrays import unstorable_in
from workflow.access import NotAllowed, NotFound
from workflow.answering import walking
from workflow.answering.asked import Given, Saved, checked_note
from workflow.answering.loop import answer_in
from workflow.answering.turn import StaleQuestion
from workflow.people.goals import Day, day_in
from workflow.people.qualification import require_qualified
from workflow.projects.standing import Standing, standing_in
from workflow.saving import STORE_FAULTS, NotSaved

if TYPE_CHECKING:
    from workflow.answering.room_settings import RoomSettings
    from workflow.seat import Seat

MOST_LABELS = 5_000
"""Labels of one request at most; a project has fewer classes."""
LONGEST = 10_000
"""Characters of a label, a token or a kind at most; those that our pages send are far shorter."""
MOST = 2**31 - 1
"""The highest number of a row or an entry that the database can store."""
SHOWN = 80
"""Characters of the received value that a message quotes at most."""
TOO_MANY = "There were more presses within a minute than a person can make. Fix: wait a minute."
_ROW = re.compile("[0-9]{1,10}")
_RELOAD = "Fix: load the page again."


@dataclass(frozen=True)
class Press:
    """Request of the browser: `kind` is an answer's kind, "undo", "redo" or one of `OtherPress` in `card/types.d.ts`.

    token : of the question on the screen      shown : stamp of its labels there
    seq : of the answer that undo, redo or open is about; else None
    at : the project of that answer, or the project to go to, if it is another one; else None
    """

    kind: str
    labels: tuple[str, ...]
    token: str
    shown: str | None
    seq: int | None
    note: str
    flagged: bool
    at: int | None = None

    @classmethod
    def read(cls, said: object) -> Press:
        """Read a request from the JSON that was sent. Raises AnswerError if it is malformed."""
        if not isinstance(said, dict):
            raise _malformed("it", "an object", said)
        labels = _of(said, "labels", list, "a list of texts")
        if len(labels) > MOST_LABELS:
            raise AnswerError(f"A press names at most {MOST_LABELS:,} labels. Got {len(labels):,}. {_RELOAD}")
        note = _perhaps(said, "note", str, "a text")
        token = _perhaps(said, "token", str, "a text")
        shown = _perhaps(said, "shown", str, "a text")
        return cls(
            kind=_text("kind", _of(said, "kind", str, "a text")),
            labels=tuple(_text("labels", label) for label in labels),
            token=_text("token", token or ""),
            shown=None if shown is None else _text("shown", shown),
            seq=_number(said, "seq"),
            note=checked_note(note) or "",
            flagged=_of(said, "flagged", bool, "true or false"),
            at=_number({"at": None, **said}, "at"),
        )

    @property
    def rows(self) -> set[int]:
        """The labels as row numbers. Raises AnswerError if one is not a number."""
        for label in self.labels:
            if not _ROW.fullmatch(label) or int(label) > MOST:
                raise _malformed("labels", "numbers of rows", label)
        return set(map(int, self.labels))


def wanted_of(said: object, part: str) -> str | None:
    """Return further content that the card requests, such as "history 7".

    None if it requests nothing, or the value is malformed: the card asks again when it is next opened."""
    wanted = said.get(part) if isinstance(said, dict) else None
    try:
        return None if wanted is None else _text(part, wanted)
    except AnswerError:
        return None


def _malformed(part: str, allowed: str, got: object) -> AnswerError:
    came = ascii(got)  # lone surrogates can be shown, too
    came = came if len(came) <= SHOWN else f"{came[:SHOWN]}…"
    return AnswerError(f"The page sent an invalid answer: {part} must be {allowed}. Got {came}. {_RELOAD}")


PartT = TypeVar("PartT")
ShownT = TypeVar("ShownT")


def _of(said: Mapping[str, object], part: str, kinds: type[PartT], allowed: str) -> PartT:
    if part not in said:
        raise _malformed(part, allowed, "nothing")
    value = said[part]
    if not isinstance(value, kinds):
        raise _malformed(part, allowed, value)
    return value


def _perhaps(said: Mapping[str, object], part: str, kinds: type[PartT], allowed: str) -> PartT | None:
    """Like `_of`; None if it is null."""
    return None if said.get(part, "") is None else _of(said, part, kinds, f"{allowed} or null")


def _number(said: Mapping[str, object], part: str) -> int | None:
    number = _perhaps(said, part, int, "a whole number")
    if isinstance(number, bool) or not 0 <= (number or 0) <= MOST:
        raise _malformed(part, f"a whole number from 0 to {MOST:,} or null", number)
    return number


def storable(text: str) -> str:
    """Return the text. Raises ValueError if a database cannot store it."""
    if (found := unstorable_in(text)) is not None:
        raise ValueError(f"It cannot be stored with {found}. Fix: take it out.")
    return text


def _text(part: str, text: object) -> str:
    if not isinstance(text, str) or len(text) > LONGEST or unstorable_in(text):
        allowed = f"text of at most {LONGEST:,} characters, without NUL and halves of characters"
        raise _malformed(part, allowed, text)
    return text


# One click on the card: the answer is stored, then the next question is shown with the state of the project.
#
# There are two transactions, so that a failure to show the next question cannot lose the answer. The first commits
# the answer, the learner follows it, and the second reserves the next row. No other thread has the learner in
# between, and nothing is read twice.

logger = logging.getLogger("winnow")

PATH = "/presses"
"""Path at which the server receives them; the project's number follows."""


@dataclass(frozen=True)
class Next:
    """Reply after an answer.

    kind : name of the project's kind
    question : as returned by `workflow.answering.loop.next_question`; None also during a pause
    standing : from `workflow.projects.standing.standing`      day : from `workflow.people.goals.day`
    """

    kind: str
    question: object
    standing: Standing
    day: Day


@dataclass(frozen=True)
class Pressed:
    """The stored answer, and what comes next; None if that failed, although the answer is stored.

    go : the project with the next question, if it is another one; `after` is then None
    """

    saved: Saved
    after: Next | None
    go: int | None = None


def press(
    seat: Seat,
    token: str,
    kind: str,
    labels: Sequence[str] = (),
    *,
    note: str | None = None,
    flagged: bool = False,
    shown: str | None = None,
    zone: str | None = None,
    lead: int | None = None,
) -> Pressed:
    """Store one answer, exactly once, and show this person their next question.

    zone : as for `workflow.people.goals.day`; all else, and what is raised, as for `submit_answer`
    lead : the first of several projects that ask about the same rows (`walking.steps_of`); None: this one
    """
    given = Given(kind, tuple(labels), checked_note(note), flagged, shown)
    with seat.alone():
        with seat.turn() as turn:
            saved, stays = answer_in(turn, token, given)
            is_alone = lead is None and not turn.room.further
        if is_alone:
            return Pressed(saved, _next(lambda: now(seat, zone)))
    if stays is not None:
        return Pressed(saved, _next(lambda: now(seat, zone, lead)))
    return _walked(seat, saved, zone, lead)


def _walked(seat: Seat, saved: Saved, zone: str | None, lead: int | None) -> Pressed:
    """Return what comes after this stored answer if several projects may ask about its row."""
    steps = _next(lambda: walking.steps_of(seat, lead))
    if steps:
        row = saved.row if walking.continues_walk(saved) else None
        go = _next(lambda: walking.walk_on(seat, steps, row))
        if go not in (None, seat.project_id):
            return Pressed(saved, None, go)
    return Pressed(saved, _next(lambda: now(seat, zone, lead)))


def now(seat: Seat, zone: str | None, lead: int | None = None) -> Next:
    """Current screen of this person, if their latest click stored nothing.

    zone : as for `workflow.people.goals.day`      lead : as for `press`
    """
    found, room = _now(seat, zone)
    if lead is None and not room.further:
        return found
    # After the project is released, because others wait for it; the linked projects are opened in turn.
    walk = walking.walk_of(seat, walking.steps_of(seat, lead))
    return replace(found, standing=replace(found.standing, walk=walk))


def _now(seat: Seat, zone: str | None) -> tuple[Next, RoomSettings]:
    with seat.alone():
        with seat.turn(lasting=False) as turn:
            opened = turn.opened
            require_qualified(opened)
            before = turn.open_now()
            paused = before is not None and before.paused_at is not None
            question = None if paused else turn.show_next()  # the same row, where it stays before the person
            day, reserved = day_in(opened, zone, paused=paused), turn.reserved
        # Needs only the learner and the cache next to it, so the project need not stay locked in the database.
        return Next(opened.kind.NAME, question, standing_in(opened, reserved), day), turn.room


def _next(show: Callable[[], ShownT]) -> ShownT | None:
    """Return what is shown after an answer. The answer is stored: a failure must not be reported as a failure to store
    it."""
    try:
        return show()
    except (NotSaved, StaleQuestion, NotFound, NotAllowed, *STORE_FAULTS):
        logger.warning("The next question could not be shown at once.", exc_info=True)
        return None
