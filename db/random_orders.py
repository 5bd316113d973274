"""Estimates of what random order would have reached: due by themselves or asked for by a person, made by a worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from db.requests import DONE, FAILED, RUNNING, WAITING, Request, Requests

__all__ = [
    "DONE",
    "FAILED",
    "RUNNING",
    "TASK",
    "WAITING",
    "RandomOrderEstimate",
    "ask",
    "begin",
    "end",
    "get",
    "latest",
    "note",
    "unfinished",
]

TASK = "random order"
"""The task of the leases of estimates (`db.trained`): trainings go on meanwhile."""


@dataclass(frozen=True)
class RandomOrderEstimate(Request):
    """One estimate.

    seq, answers : the log's latest seq, and the answers, when it began; before that, when it was asked for
    done, total : fits so far, and in all      report : what was found, JSON values of the callers'; None before
    """

    seq: int
    answers: int
    report: dict[str, Any] | None


_REQUESTS = Requests("random_orders", RandomOrderEstimate)
latest, get, unfinished = _REQUESTS.latest, _REQUESTS.get, _REQUESTS.unfinished


def ask(
    session: Session, project_id: int, *, asked_by: int | None, asked_at: datetime, seq: int, answers: int
) -> int:
    """Ask for an estimate; its id, or that of the one which is unfinished: none is doubled."""
    return _REQUESTS.ask(session, project_id, asked_by=asked_by, asked_at=asked_at, seq=seq, answers=answers)


def begin(session: Session, estimate_id: int, *, seq: int, answers: int) -> bool:
    """A worker begins it, or begins it anew after another has died of it. False where it is over."""
    told = {"state": RUNNING, "done": 0, "total": 0, "seq": seq, "answers": answers}
    return _REQUESTS.change(session, estimate_id, told)


def note(session: Session, estimate_id: int, done: int, total: int) -> bool:
    """Say how far it is. False where it is over: another worker has ended it."""
    return _REQUESTS.change(session, estimate_id, {"done": done, "total": total})


def end(
    session: Session,
    estimate_id: int,
    state: str,
    at: datetime,
    *,
    report: Mapping[str, Any] | None = None,
    fault: str | None = None,
) -> bool:
    """It is over, in this state: "done" or "failed". False, and nothing is changed, where it was over
    before."""
    told = {"report": None if report is None else dict(report), "fault": fault}
    return _REQUESTS.change(session, estimate_id, {"state": state, "ended_at": at} | told)
