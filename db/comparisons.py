"""Comparisons of the models of a project: asked for by a person or due by themselves, done by a worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from db.requests import CANCELLED, DONE, FAILED, RUNNING, WAITING, Request, Requests

__all__ = [
    "CANCELLED",
    "DONE",
    "FAILED",
    "RUNNING",
    "WAITING",
    "Comparison",
    "ask",
    "begin",
    "end",
    "get",
    "latest",
    "note",
]


@dataclass(frozen=True)
class Comparison(Request):
    """One comparison.

    seq, answers, checks : the log's latest seq, the answers and those to blind checks when it began; before it has
        begun, when it was asked for
    done, total, fitting : fits so far, fits in all (0: not known yet), the model that is fitted now
    report : what was found, JSON values of the callers'; None before it is done      seconds : it took
    fault : why it failed, or why what it chose was not adopted
    """

    seq: int
    answers: int
    checks: int
    fitting: str
    report: dict[str, Any] | None
    seconds: float | None


_REQUESTS = Requests("comparisons", Comparison)
latest, get = _REQUESTS.latest, _REQUESTS.get


def ask(
    session: Session,
    project_id: int,
    *,
    asked_by: int | None,
    asked_at: datetime,
    seq: int,
    answers: int,
    checks: int,
) -> int:
    """Ask for a comparison of the project's models; its id, or that of the one which is unfinished: none is doubled."""
    told = {"seq": seq, "answers": answers, "checks": checks, "fitting": ""}
    return _REQUESTS.ask(session, project_id, asked_by=asked_by, asked_at=asked_at, **told)


def begin(session: Session, comparison_id: int, *, seq: int, answers: int, checks: int) -> bool:
    """A worker begins it, or begins it anew after another has died of it. False where it is over."""
    seen = {"seq": seq, "answers": answers, "checks": checks}
    return _REQUESTS.change(
        session, comparison_id, {"state": RUNNING, "done": 0, "total": 0, "fitting": ""} | seen
    )


def note(session: Session, comparison_id: int, done: int, total: int, fitting: str) -> bool:
    """Say how far it is. False where it is over: somebody has cancelled it."""
    return _REQUESTS.change(session, comparison_id, {"done": done, "total": total, "fitting": fitting})


def end(
    session: Session,
    comparison_id: int,
    state: str,
    at: datetime,
    *,
    report: Mapping[str, Any] | None = None,
    seconds: float | None = None,
    fault: str | None = None,
) -> bool:
    """It is over, in this state: "done", "cancelled" or "failed". False where it was over before; nothing is changed
    then, so that of two who end it one does.
    """
    told = {"report": None if report is None else dict(report), "seconds": seconds, "fault": fault}
    return _REQUESTS.change(session, comparison_id, {"state": state, "ended_at": at} | told)
