"""Known rows before somebody starts: what the question card is told of them, and of what came of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from pages.parts.question_card import bare, keys_of, view_of
from pages.parts.words import counted
from workflow.people.qualifying import Judged, Qualifying


def known_row(
    now: Qualifying | Judged, descriptions: Mapping[str, str], notice: str | None
) -> dict[str, Any]:
    """The card's data, for where a person stands, or for what came of their latest answer.

    descriptions : of the classes      notice : why the latest press was refused
    """
    if isinstance(now, Judged):
        token, given, right, waiting = None, now.number, now.n_right, None
    else:
        token, given, right = now.token, max(0, now.number - 1), now.right
        waiting = now if now.token is None else None
    return bare("qualifying") | {
        "token": token,
        "question": _question(now, descriptions) if waiting is None else None,
        "empty": _offered(waiting) if waiting else None,
        "offer": {"kind": "begin", "text": _begin(waiting)} if waiting else None,
        "saved": {
            "tone": "bad" if notice else "quiet",
            "message": notice or "Before you start. Nothing here is stored as an answer.",
            "seq": None,
            "row": None,
        },
        "counts": {
            "answered": given,
            "left": now.rows - given,
            "share": f"{right:,} right",
            "about": f"Of {now.rows:,} at least {now.needed:,} must be right.",
            "of": "Known rows answered",
        },
    }


def _offered(now: Qualifying) -> dict[str, str]:
    rows = counted(now.rows, "row")
    enough = f"{now.needed:,} right" if now.needed < now.rows else "all of them right"
    if now.tried:
        return {
            "title": "Not yet",
            "message": f"{now.right:,} were right. {enough.capitalize()} of {rows} are needed. You may try again, with "
            "other rows as far as there are others; the guidelines above may help.",
        }
    return {
        "title": "A few known rows first",
        "message": f"You answer {rows} whose label is known, and see after each whether you were right. With {enough} "
        "you may start. These answers are not part of the project, and no model learns from them.",
    }


def _begin(now: Qualifying) -> str:
    return "Try again" if now.tried else "Begin"


def _question(now: Qualifying | Judged, descriptions: Mapping[str, str]) -> dict[str, Any]:
    view = now.view
    if view is None:
        raise ValueError("Without a row there is no question. Fix: show what is offered.")
    keys = keys_of(view, now.choices)[: len(now.choices)]
    return {
        "rows": [
            {"key": key, "label": label, "about": descriptions.get(label, ""), "probability": 0}
            for key, label in zip_longest(keys, now.choices)
        ],
        "model": "",
        "learnt": None,
        "why": "",
        "shown": "",
        "telling": None,
        "marks": [],
        "view": view_of(view),
        "coming": None,
        "about": f"Known row {now.number:,} of {now.rows:,}",
        "judged": _judged(now) if isinstance(now, Judged) else None,
    }


def _judged(now: Judged) -> dict[str, str]:
    words = "Right." if now.right else f"It is {now.label}."
    if now.passed:
        words += f" {now.n_right:,} of {now.rows:,} were right: you may start."
    elif now.over:
        words += f" {now.n_right:,} of {now.rows:,} were right; {now.needed:,} are needed."
    return {"said": now.said, "label": now.label, "words": words, "note": now.note}
