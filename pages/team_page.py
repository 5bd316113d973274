"""Team: inter-annotator agreement, one row per person, links to their answers, exclusion, and invites."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

from pages.parts import account_parts, frame, progress_parts, state
from pages.parts.measured import team_table
from pages.parts.words import percent
from workflow.access import NotFound, Right
from workflow.answering.turn import StaleQuestion
from workflow.people import aside, disputes, figures, members, team
from workflow.people.figures import PersonFigures
from workflow.seat import Seat

page = frame.begin_project("Team", Right.REVIEW)
frame.toast_from_last_page()
frame.project_title("Team", page)
frame.say_refusal()
owns = page.project.may(Right.OWN)


def cached() -> figures.Team:
    """Return the figures, computed again only when the log has grown."""
    version = page.project.id, figures.log_seq(page.seat)
    held = st.session_state.get(state.TEAM)
    if held is None or held[0] != version:
        with st.spinner("Reading the log ...", show_time=True):
            held = version, figures.team(page.seat)
        st.session_state[state.TEAM] = held
    found: figures.Team = held[1]
    return found


def note_act(what: str, person: int | None) -> None:
    st.session_state[state.TEAM_ACT] = what, person


def act(use_case: Callable[[Seat, int], None], one: PersonFigures, done: str) -> None:
    with frame.refusals_said_later(NotFound, StaleQuestion):
        use_case(page.seat, one.person_id)
        st.session_state[state.FLASH] = done


def exclude(one: PersonFigures) -> None:
    """Exclude a person's answers, or include them again, after confirmation."""
    if one.aside:
        st.markdown(f"The answers of {frame.escape(one.name)} will count again; labels and the model follow.")
        label, use_case, done = "Include answers", aside.count_again, f"{one.name}'s answers count again."
    else:
        st.markdown(
            f"None of the answers of {frame.escape(one.name)} will count, including future ones; labels and the model "
            "follow. The answers stay in the log, and you can include them again at any time."
        )
        label, use_case, done = "Exclude answers", aside.set_aside, f"{one.name}'s answers are excluded."
    key = f"{state.TEAM_ACT}-exclude-{one.person_id}"
    if st.button(label, key=key, type="primary", on_click=act, args=(use_case, one, done)):
        st.rerun()


def details(one: PersonFigures) -> None:
    """Show all figures of a person, and the labels they confuse."""
    lines = {
        "Pace": progress_parts.pace(one) or "–",
        "Blind checks correct": progress_parts.share(one.checks),
        "Same as the others": progress_parts.share(one.others),
        "Same as the model": progress_parts.share(one.model),
        "Cannot tell": progress_parts.plain(one.unsure),
        "None of these": progress_parts.plain(one.none),
        "Bad item": progress_parts.plain(one.bad),
    }
    st.markdown("\n".join(f"- {name}: {words}" for name, words in lines.items()))
    st.caption(f"Blind checks are random rows that the model never learns from. {shown.against}")
    found = figures.confusion(page.seat, one.person_id)
    shared = 0 if found is None else found.n_shared
    if found is None or shared < figures.FEWEST_CONFUSED:
        st.caption(f"Confused labels: – {shared} of {figures.FEWEST_CONFUSED} shared answers")
        return
    st.markdown(
        "**Answers by true label**",
        help="A row of the table is the likely true label, estimated from all answers and how reliable each annotator "
        "is (Dawid and Skene's model); a column is what this person answered.",
    )
    st.dataframe(
        pd.DataFrame(found.shares, index=list(found.classes), columns=list(found.classes)).map(percent), width="stretch"
    )


def do(what: str, person: int | None) -> None:
    """Handle a click in the table."""
    by_id = {one.person_id: one for one in shown.people}
    if what == "invite":
        if page.person.is_owner:
            st.switch_page("people.py", query_params=page.here)
        st.switch_page("project_page.py", query_params=page.here | {"section": "Team"})
    elif what == "disputes":
        st.switch_page("disputes.py", query_params=page.here)
    elif what == "answers":
        st.session_state[f"{state.REVIEW}-{page.project.id}-person"] = person
        st.switch_page("review_page.py", query_params=page.here)
    elif person in by_id:
        one = by_id[person]
        title, show = {
            "exclude": ("Exclude answers", exclude),
            "include": ("Include answers", exclude),
            "details": (frame.escape(one.name), details),
        }[what]
        st.dialog(title, position="right" if show is details else "center")(show)(one)


def on_link(what: str, person: int) -> None:
    """Create sign-in link for a person, or revoke their open links."""
    name = next((one.name for one in members.list_team(page.seat) if one.person_id == person), "")
    with frame.refusals_said_later(team.PersonNameError, team.LinkError):
        if what == "link":
            st.session_state[state.LINK] = name, team.make_link_for(page.seat, person)
        else:
            team.end_links(page.seat, person)
            account_parts.forget_link(name)


def on_act(what: str, person: int | None) -> None:
    if what in ("link", "revoke") and person is not None:
        on_link(what, person)
    else:
        note_act(what, person)


shown = cached()
if not shown.people:
    st.info(
        "No one has answered yet. Answers, agreement and pace of each annotator appear here.", icon=":material/inbox:"
    )
account_parts.made_link(page)
team_table.show_team(
    f"{state.TEAM_TABLE}-{page.project.id}",
    shown,
    members.list_team(page.seat),
    disputes=disputes.count_open(page.seat),
    owns=owns,
    links=page.person.is_owner,
    on_act=on_act,
)
if (asked := st.session_state.pop(state.TEAM_ACT, None)) is not None:
    do(*asked)
