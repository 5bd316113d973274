"""The table of annotators on the Team page, with its invites and the agreement of pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from pages.parts import role_choices
from pages.parts.components import component
from pages.parts.progress_parts import figure, seconds
from pages.parts.rows.row_table import time_zone
from pages.parts.words import counted
from workflow.people.figures import AgreementOf, CountedShare, Figure, Pair, PersonFigures, Team
from workflow.people.members import TeamMember
from workflow.projects.progress import FEWEST_MEASURED

# Names are sent as data and set as properties, never as HTML.
_TEAM = component("winnow_team", "measured/team.js", ("measured/measured.css", "measured/team.css"))

CHECKS = "On blind checks, which are random rows."
EVERYWHERE = (
    "On all rows that several annotators answered. Questions are chosen because they are hard, so this is lower than "
    "on random rows."
)
FOOT = (
    f"Agreement compares each answer with the other annotators on shared rows and needs {FEWEST_MEASURED} of them. "
    "Intervals are 95%. Pace is the median time per answer; more than five minutes counts as a break. Annotators see "
    "only their own figures, on Progress."
)


def show_team(
    key: str,
    team: Team,
    members: Sequence[TeamMember],
    *,
    disputes: int,
    owns: bool,
    links: bool,
    on_act: Callable[[str, int | None], None],
) -> None:
    """Draw the table.

    owns : the viewer may exclude answers and invite      links : the viewer may make sign-in links
    on_act : called before the next redraw with the action clicked and its person; see `TeamData` in
    `measured/types.d.ts`
    """
    roles = {one.person_id: role_choices.short(one.role) for one in members}
    names = {one.person_id: one.name for one in team.people}
    invited = [one for one in members if one.waits and one.person_id not in names]

    def act() -> None:
        sent = (st.session_state.get(key) or {}).get("act")
        if sent:
            on_act(sent["what"], sent["person"])

    _TEAM(
        key=key,
        data={
            "agreement": _agreement(team),
            "disputes": disputes,
            "people": [_person(one, roles.get(one.person_id, "no longer a member")) for one in team.people],
            "invites": [_invite(one, roles[one.person_id]) for one in invited] if owns else None,
            "pairs": [_pair(one, names) for one in team.agreement.pairs],
            "measures": [
                *_measures("blind checks", team.agreement.checks),
                *_measures("all shared rows", team.agreement.everywhere),
            ],
            "excludes": owns,
            "links": links,
            "foot": FOOT,
            "zone": time_zone(),
        },
        on_act_change=act,
    )


def _agreement(team: Team) -> dict[str, object]:
    """Return agreement on blind checks, which are random; on all rows while there are too few of them."""
    agreement = team.agreement
    of, about = (agreement.checks, CHECKS) if not agreement.checks.alpha.reason else (agreement.everywhere, EVERYWHERE)
    alpha = of.alpha
    known = not alpha.reason
    return {
        "value": round(alpha.value, 4) if known else None,
        "low": _number(alpha.low),
        "high": _number(alpha.high),
        "sofar": alpha.so_far,
        "about": "Krippendorff's alpha: 0 is chance, 1 is always.",
        "reading": f"{alpha.reading} {about}" if known else alpha.reason,
    }


def _person(one: PersonFigures, role: str) -> dict[str, object]:
    return {
        "id": one.person_id,
        "name": one.name,
        "role": role,
        "answers": one.answers,
        "pace": seconds(one.seconds),
        "seen": None if one.last_seen is None else one.last_seen.isoformat(),
        "agreement": measured(one.others),
        "warnings": [list(words.partition(". ")[::2]) for words in one.warnings],
        "excluded": one.aside,
    }


def measured(found: CountedShare) -> dict[str, object]:
    """Return a share as the table draws it; see `Measured` in `measured/types.d.ts`."""
    low, high = found.interval if found.enough else (None, None)
    return {
        "value": round(found.value, 4) if found.enough else None,
        "low": low,
        "high": high,
        "sofar": f"{found.of} of {FEWEST_MEASURED} rows",
    }


def _invite(one: TeamMember, role: str) -> dict[str, object]:
    at = one.link_at
    return {
        "id": one.person_id,
        "name": one.name,
        "role": role,
        "link": one.link,
        "at": None if at is None else at.isoformat(),
    }


def _pair(one: Pair, names: Mapping[int, str]) -> dict[str, object]:
    return {
        "one": names[one.one],
        "other": names[one.other],
        "agreement": measured(one.share),
        "shared": counted(one.n_rows, "shared row") if one.share.enough else "",
        "kappa": "" if one.kappa.reason else f"Cohen's kappa {one.kappa.value:.2f}",
    }


def _measures(where: str, found: AgreementOf) -> list[tuple[str, str]]:
    named = [
        ("Krippendorff's alpha", found.alpha),
        ("Alpha with partial agreement of sets", found.on_sets),
        ("Gwet's AC1", found.ac1),
        *((f"Alpha of {label}", one) for label, one in found.by_label),
    ]
    return [(f"{name}, {where}", _words(one)) for name, one in named if not one.reason]


def _words(one: Figure) -> str:
    return f"{one.value:.2f}" if _number(one.low) is None else figure(one)


def _number(value: float) -> float | None:
    """Return None for NaN, which JSON lacks."""
    return None if value != value else round(value, 4)
