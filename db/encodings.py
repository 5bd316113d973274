"""Encodings: vectors of a project's rows by an encoder of the owner's own, asked for by a person, made by a worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from db.requests import CANCELLED, DONE, FAILED, RUNNING, UNFINISHED, WAITING, Request, Requests

__all__ = [
    "CANCELLED",
    "DONE",
    "FAILED",
    "RUNNING",
    "WAITING",
    "Encoding",
    "ask",
    "begin",
    "end",
    "end_done",
    "latest",
    "note",
    "unfinished",
]


@dataclass(frozen=True)
class Encoding(Request):
    """One encoding. encoder : its name      notes : of one that is done, a sentence each about rows left out

    done, total : images, texts or segments
    """

    asked_by: int
    encoder: str
    notes: list[str]


_REQUESTS = Requests("encodings", Encoding)
latest, unfinished = _REQUESTS.latest, _REQUESTS.unfinished


def ask(session: Session, project_id: int, *, asked_by: int, asked_at: datetime, encoder: str) -> int:
    """Ask for an encoding of the project's rows; its id, or that of the one which is unfinished: none is doubled."""
    return _REQUESTS.ask(session, project_id, asked_by=asked_by, asked_at=asked_at, encoder=encoder, notes=[])


def begin(session: Session, encoding_id: int) -> bool:
    """A worker begins it, or begins it anew after another has died of it. False where it is over."""
    return _REQUESTS.change(session, encoding_id, {"state": RUNNING, "done": 0, "total": 0})


def note(session: Session, encoding_id: int, done: int, total: int) -> bool:
    """Say how far it is. False where it is over: somebody has cancelled it."""
    return _REQUESTS.change(session, encoding_id, {"done": done, "total": total})


def end(session: Session, encoding_id: int, state: str, at: datetime, *, fault: str | None = None) -> bool:
    """It is over, "cancelled" or "failed". False, and nothing is changed, where it was over before."""
    return _REQUESTS.change(session, encoding_id, {"state": state, "ended_at": at, "fault": fault})


def end_done(session: Session, encoding_id: int, at: datetime, notes: Sequence[str]) -> bool:
    """Its vectors are stored, and so it is done: where somebody has cancelled it a moment too late, too. False where
    that was known before.
    """
    told = {"state": DONE, "ended_at": at, "fault": None, "notes": list(notes)}
    return _REQUESTS.change(session, encoding_id, told, (*UNFINISHED, CANCELLED, FAILED))
