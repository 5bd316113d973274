"""`POST /presses/PROJECT`: what the question card sends, answered with what the card shows next.

No page runs for it: what stands around the card stays, and the card asks for its page where that has to change.
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

from web.guard import PERSON_HEADER
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
from workflow.server.home import home

logger = logging.getLogger("winnow")

ADDRESS = f"{pressing.PATH}/{{project:int}}"
TYPE = "application/json"
"""Content type of the body: no form of another site can, and its scripts would have to ask first."""
MOST = 200_000
"""Bytes of a press; one that names thousands of labels has half of it."""
PARTS = 5_000
"""Lists and objects in it, counted by their brackets, of which a note may have some thousands."""
SILENCE = 10.0
"""Seconds within which it has come whole."""
AT_ONCE = CapacityLimiter(16)
"""Presses that are dealt with take no thread from sign-in and files."""
BEHIND = CapacityLimiter(4)
"""The same of what is done after they were answered."""
_getting_ready: set[int] = set()
"""Projects of which this is done now."""
_lines: WeakValueDictionary[int, Lock] = WeakValueDictionary()
"""For each project that presses wait for: one at a time can be dealt with, and the others take no thread meanwhile, so
that a project whose log is being read keeps no one waiting at another."""

_STORED_AS_OTHERS = ("labels", "none")
"""Answers that are entries of other kinds in the log, one or two."""


@dataclass(frozen=True)
class Dealt:
    """The result of a press.

    status : 200, or 409 if it was refused and the card shows what stands      after : None: not known
    notice : said instead of what was saved      together : rows that are before the person together now
    """

    status: int
    after: Next | None
    notice: str | None = None
    together: bool = False


async def take_press(request: Request) -> Response:
    """Store a press: 200 with what the card shows next, null where that could not be had.

    Refused, and nothing stored: 409 with the card as it is now, where the press does not fit it; in words alone 400
    for what is no JSON, 401 for someone else than the page was drawn for, 403 for who may not answer there, 408, 413
    and 415 for a body that no card sends, 429 for more presses than hands make, 503 where the store fails.
    """
    seat = Seat(home(), int(request.headers.get(PERSON_HEADER, "0")), request.path_params["project"])
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
        return _words(408, f"Not saved: the press did not come whole in {SILENCE:.0f} s.", close=True)
    try:
        if has_too_many_parts(body, PARTS):
            raise ValueError
        said = json.loads(bytes(body))
    except (ValueError, RecursionError):
        return _words(400, "Not saved: what the page sent is no press. Fix: load the page again.")
    if _part(said, "person", int) not in (None, seat.person_id):
        return _words(401, "Someone else has signed in here meanwhile.")
    async with _lines.setdefault(seat.project_id or 0, Lock()):
        return await to_thread.run_sync(_answered, seat, said, limiter=AT_ONCE)


def _answered(seat: Seat, said: object) -> Response:
    try:
        dealt = _deal(seat, said, _part(said, "zone", str))
    except (NotAllowed, NotFound) as refusal:
        return _words(403, str(refusal))
    except NotSaved as fault:
        return _words(503, str(fault))
    except STORE_FAULTS as fault:
        return _words(503, words_for_fault(fault))
    # Streamlit's components want its runtime when they are made, and that begins with the server.
    from pages.parts.after_press import card_after

    after = dealt.after
    if after is None:
        if dealt.notice is not None:
            return _words(dealt.status, dealt.notice)
        return JSONResponse({"card": None, "together": dealt.together}, dealt.status)
    _note_goal(seat, after)
    behind = None if after.day.paused else BackgroundTask(afterwards, seat)
    card = card_after(after, dealt.notice)
    return JSONResponse({"card": card, "together": dealt.together}, dealt.status, background=behind)


def _deal(seat: Seat, said: object, zone: str | None) -> Dealt:
    try:
        press = Press.read(said)
        if press.kind in ("undo", "redo"):
            return _back(seat, press, zone)
        done = pressing.press(
            seat,
            press.token,
            press.kind,
            press.labels,
            note=press.note,
            flagged=press.flagged,
            shown=press.shown,
            zone=zone,
        )
    except TakenBack as refusal:
        if not _part(said, "again", bool):
            return Dealt(409, _now(seat, zone), f"Not saved: {refusal}")
        return Dealt(200, None, together=True) if refusal.together else Dealt(200, _now(seat, zone))
    except (StaleQuestion, AnswerError) as refusal:
        return Dealt(409, _now(seat, zone), f"Not saved: {refusal}")
    saved = done.saved
    if not saved.repeated or (_part(said, "again", bool) and _says(saved, press, done.after)):
        return Dealt(200, done.after)
    from pages.parts.after_press import answered_before

    return Dealt(409, done.after, answered_before(saved))


def _says(saved: Saved, press: Press, after: Next | None) -> bool:
    """Whether what was stored before is what this press says: the card sends it again where it heard nothing of it. It
    may be what another tab has answered instead. Of a class that has another name by now it is believed."""
    renamed = after is not None and not all(label in after.standing.classes for label in press.labels)
    return press.kind in _STORED_AS_OTHERS or saved.may_be(press.kind, () if renamed else press.labels)


def _back(seat: Seat, press: Press, zone: str | None) -> Dealt:
    back = undoing.undo if press.kind == "undo" else undoing.redo
    saved = back(seat, seq=press.seq)
    if saved is not None and saved.together:
        return Dealt(200, None, together=True)
    return Dealt(200, _now(seat, zone))


def _now(seat: Seat, zone: str | None) -> Next | None:
    """None if it cannot be had: what was stored or refused before must not be taken for a failure of it."""
    try:
        return pressing.now(seat, zone)
    except (NotSaved, StaleQuestion, NotAllowed, NotFound, *STORE_FAULTS):
        logger.warning("The next question could not be shown at once.", exc_info=True)
        return None


async def afterwards(seat: Seat) -> None:
    """Get ready for the next press, once where many people press at once: what it leaves, that press does itself."""
    project = seat.project_id or 0
    if project in _getting_ready:
        return
    _getting_ready.add(project)
    try:
        await to_thread.run_sync(_get_ready, seat, limiter=BEHIND)
    finally:
        _getting_ready.discard(project)


def _note_goal(seat: Seat, after: Next) -> None:
    """Before the reply that says it: the next press may come at once."""
    if after.day.reached and not after.day.told:
        with suppress(NotAllowed, NotFound, NotSaved, *STORE_FAULTS):  # then it is said once more
            goals.note_reached(seat, after.day.date)


def _get_ready(seat: Seat) -> None:
    """Work that would delay the next answer; whatever hinders it, that press will say so."""
    with suppress(NotAllowed, NotFound, NotSaved, *STORE_FAULTS):
        loop.get_ready(seat)


PartT = TypeVar("PartT")


def _part(said: object, name: str, kind: type[PartT]) -> PartT | None:
    """A part of what was sent next to the press; None if it is missing, or something else."""
    part = said.get(name) if isinstance(said, dict) else None
    return part if isinstance(part, kind) and type(part) is kind else None


def _words(status: int, words: str, *, close: bool = False) -> Response:
    return PlainTextResponse(words, status, headers={"connection": "close"} if close else None)
