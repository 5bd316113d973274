"""`POST /presses/PROJECT`: receives an answer from the question card and returns what the card shows next.

No page runs for it: the card's surroundings stay, and the card requests its page when they have to change.
"""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar
from weakref import WeakValueDictionary

from anyio import CapacityLimiter, Lock, to_thread
from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from web.guard import seat_of
from web.packed import has_too_many_parts
from workflow.access import NotAllowed, NotFound
from workflow.answering import loop, undoing
from workflow.answering import press as pressing
from workflow.answering.loop import AnswerError, NotSaved, Saved, StaleQuestion
from workflow.answering.press import TOO_MANY, Next, Press
from workflow.answering.undoing import TakenBack
from workflow.people import goals
from workflow.saving import STORE_FAULTS, words_for_fault
from workflow.seat import Seat

logger = logging.getLogger("winnow")

ADDRESS = f"{pressing.PATH}/{{project:int}}"
TYPE = "application/json"
"""Content type of the body: forms of other sites cannot send it, and their scripts would need permission
first."""
MOST = 200_000
"""Maximum bytes of a press; one that names thousands of labels has half of it."""
PARTS = 5_000
"""Maximum of lists and objects in it, counted by brackets, of which a note may have some thousands."""
SILENCE = 10.0
"""Seconds within which it must arrive completely."""
AT_ONCE = CapacityLimiter(16)
"""Limit of concurrent presses, so that they take no threads from sign-in and files."""
BEHIND = CapacityLimiter(4)
"""The same for the work after the reply."""
_getting_ready: set[int] = set()
"""Projects for which that work is running."""
_lines: WeakValueDictionary[int, Lock] = WeakValueDictionary()
"""For each project with waiting presses: one is handled at a time, and the others take no thread meanwhile,
so that a project whose log is being read does not block other projects."""

_STORED_AS_OTHERS = ("labels", "none")
"""Answers that the log stores as one or two entries of other kinds."""


@dataclass(frozen=True)
class Dealt:
    """The result of a press.

    status : 200, or 409 if it was refused and the card shows the current state      after : None: unknown
    notice : shown instead of what was saved      together : rows that the person confirms together now
    go : the project with the next question, if it is another one
    """

    status: int
    after: Next | None
    notice: str | None = None
    together: bool = False
    go: int | None = None


async def take_press(request: Request) -> Response:
    """Store a press: 200 with what the card shows next, null if that is not available, or `go`, the project to go to.

    If refused, nothing is stored. 409 with the current card if the press does not fit it. With only a
    message: 400 if it is not JSON, 401 for another person than the page was drawn for, 403 for people who may
    not answer there, 408, 413 and 415 for a body that no card sends, 429 for more presses than a person can
    make, 503 if the store fails.
    """
    seat = seat_of(request, request.path_params["project"])
    if not seat.home.attempts.may_press(seat.person_id):
        return _words(429, f"Not saved: {TOO_MANY}", close=True)
    if request.headers.get("content-type", "").partition(";")[0].strip() != TYPE:
        return _words(415, f"A press is sent as {TYPE}.")
    body = bytearray()
    try:
        async with asyncio.timeout(SILENCE):
            async for piece in request.stream():
                body += piece
                if len(body) > MOST:
                    return _words(413, f"A press has at most {MOST:,} bytes.", close=True)
    except (TimeoutError, ClientDisconnect):
        return _words(408, f"Not saved: the answer did not arrive within {SILENCE:.0f} s.", close=True)
    try:
        if has_too_many_parts(body, PARTS):
            raise ValueError
        said = json.loads(bytes(body))
    except (ValueError, RecursionError):
        return _words(400, "Not saved: the page sent an invalid answer. Fix: load the page again.")
    if _part(said, "person", int) not in (None, seat.person_id):
        return _words(401, "Someone else has signed in here in the meantime.")
    async with _lines.setdefault(seat.project_id or 0, Lock()):
        return await to_thread.run_sync(_answered, seat, said, limiter=AT_ONCE)


def _answered(seat: Seat, said: object) -> Response:
    try:
        dealt = _deal(seat, said, _part(said, "zone", str), _lead_of(said))
    except (NotAllowed, NotFound) as refusal:
        return _words(403, str(refusal))
    except NotSaved as fault:
        return _words(503, str(fault))
    except STORE_FAULTS as fault:
        return _words(503, words_for_fault(fault))
    # Streamlit's components need its runtime when they are created, and that starts with the server.
    from pages.parts.after_press import card_after

    after = dealt.after
    if after is None:
        if dealt.notice is not None:
            return _words(dealt.status, dealt.notice)
        go = {} if dealt.go is None else {"go": dealt.go}
        return JSONResponse({"card": None, "together": dealt.together} | go, dealt.status)
    _note_goal(seat, after)
    behind = None if after.day.paused else BackgroundTask(afterwards, seat)
    card = card_after(after, dealt.notice)
    return JSONResponse({"card": card, "together": dealt.together}, dealt.status, background=behind)


def _deal(seat: Seat, said: object, zone: str | None, lead: int | None) -> Dealt:
    try:
        press = Press.read(said)
        if press.kind in ("undo", "redo"):
            return _back(seat, press, zone, lead)
        done = pressing.press(
            seat,
            press.token,
            press.kind,
            press.labels,
            note=press.note,
            flagged=press.flagged,
            shown=press.shown,
            zone=zone,
            lead=lead,
        )
    except TakenBack as refusal:
        if not _part(said, "again", bool):
            return Dealt(409, _now(seat, zone, lead), f"Not saved: {refusal}")
        if press.at not in (None, seat.project_id):
            return Dealt(200, None, go=press.at)
        return Dealt(200, None, together=True) if refusal.together else Dealt(200, _now(seat, zone, lead))
    except (StaleQuestion, AnswerError) as refusal:
        return Dealt(409, _now(seat, zone, lead), f"Not saved: {refusal}")
    saved = done.saved
    if not saved.repeated or (_part(said, "again", bool) and _says(saved, press, done.after)):
        return Dealt(200, done.after, go=done.go)
    from pages.parts.after_press import answered_before

    after = done.after if done.go is None else _now(seat, zone, lead)
    return Dealt(409, after, answered_before(saved))


def _says(saved: Saved, press: Press, after: Next | None) -> bool:
    """Return whether this press is the one already stored, sent again because the reply was lost; another tab
    may have given a different answer. Labels that have since been renamed are assumed to match."""
    renamed = after is not None and not all(label in after.standing.classes for label in press.labels)
    return press.kind in _STORED_AS_OTHERS or saved.may_be(press.kind, () if renamed else press.labels)


def _back(seat: Seat, press: Press, zone: str | None, lead: int | None) -> Dealt:
    if press.at not in (None, seat.project_id):
        undoing.undo(seat.at(press.at), seq=press.seq)
        return Dealt(200, None, go=press.at)
    back = undoing.undo if press.kind == "undo" else undoing.redo
    saved = back(seat, seq=press.seq)
    if saved is not None and saved.together:
        return Dealt(200, None, together=True)
    return Dealt(200, _now(seat, zone, lead))


def _now(seat: Seat, zone: str | None, lead: int | None) -> Next | None:
    """Return None if it is not available: what was stored or refused before must not be reported as
    failed."""
    try:
        return pressing.now(seat, zone, lead)
    except (NotSaved, StaleQuestion, NotAllowed, NotFound, *STORE_FAULTS):
        logger.warning("The next question could not be shown at once.", exc_info=True)
        return None


async def afterwards(seat: Seat) -> None:
    """Prepare for the next press, once if many people press at once; the next press does any remaining work itself."""
    project = seat.project_id or 0
    if project in _getting_ready:
        return
    _getting_ready.add(project)
    try:
        await to_thread.run_sync(_get_ready, seat, limiter=BEHIND)
    finally:
        _getting_ready.discard(project)


def _note_goal(seat: Seat, after: Next) -> None:
    """Record the goal before the reply that announces it, because the next press may come at once."""
    if after.day.reached and not after.day.told:
        with suppress(NotAllowed, NotFound, NotSaved, *STORE_FAULTS):  # then it is announced once more
            goals.note_reached(seat, after.day.date)


def _get_ready(seat: Seat) -> None:
    """Do work that would delay the next answer; any problem is reported by the next press."""
    with suppress(NotAllowed, NotFound, NotSaved, *STORE_FAULTS):
        loop.get_ready(seat)


PartT = TypeVar("PartT")


def _part(said: object, name: str, kind: type[PartT]) -> PartT | None:
    """Return a field sent with the press; None if it is missing or of another type."""
    part = said.get(name) if isinstance(said, dict) else None
    return part if isinstance(part, kind) and type(part) is kind else None


def _lead_of(said: object) -> int | None:
    """Return the first of several projects that ask about the same rows, as the page names it."""
    lead = _part(said, "lead", int)
    return lead if lead is not None and 0 < lead <= pressing.MOST else None


def _words(status: int, words: str, *, close: bool = False) -> Response:
    return PlainTextResponse(words, status, headers={"connection": "close"} if close else None)
