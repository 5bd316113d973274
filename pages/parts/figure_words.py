"""Figures of people, as the Team page and each person's own box say them."""

from __future__ import annotations

from datetime import UTC, datetime

from pages.parts.words import between, counted, percent, span
from workflow.people.agreement import Figure
from workflow.people.person_figures import CountedShare, PersonFigures

KINDS = {
    "is": "one class",
    "among": "several left",
    "not": "ruled out",
    "none": "none of these",
    "yes": "yes",
    "no": "no",
    "bad": "bad item",
    "unsure": "cannot tell",
}
"""Kinds of answers, in the order of their keys."""


def share(found: CountedShare) -> str:
    """A measured share with its interval, or why there is none yet."""
    if not found.enough:
        return f"too few yet ({found.of:,})"
    low, high = found.interval
    return f"{percent(found.value)} ({between(low, high)})"


def plain(found: CountedShare) -> str:
    """A share that is only counted, so that it has no interval."""
    return percent(found.value) if found.of else "–"


def seconds(found: float | None) -> str:
    return "–" if found is None else f"{found:.1f} s"


def pace(found: PersonFigures) -> str:
    """The median seconds of each kind of answer, in a line."""
    return " · ".join(
        f"{KINDS.get(one.kind, one.kind)} {one.seconds:.1f} s ({counted(one.answers, 'answer')})"
        for one in found.pace
    )


def seen(found: PersonFigures) -> str:
    return "–" if found.last_seen is None else f"{span(datetime.now(UTC) - found.last_seen)} ago"


def figure(found: Figure) -> str:
    """A measure of agreement with its interval."""
    return f"{found.value:.2f} (between {found.low:.2f} and {found.high:.2f})"
