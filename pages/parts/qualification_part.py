"""Qualification on the settings page: whether people answer known rows before they start, and who has passed."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame, state
from pages.parts.frame import ProjectPage
from pages.parts.words import counted
from workflow.people import qualification
from workflow.people.qualification import QualificationRule
from workflow.room import RoomError


def qualification_part(page: ProjectPage) -> None:
    """Draw it."""
    now = qualification.overview(page.seat)
    if not now.possible:
        st.info(
            "A qualification needs rows with one right label. This project asks for several labels of a row, so people "
            "start at once.",
            icon=":material/info:",
        )
        return
    st.markdown(
        "Before their first question here people answer known rows and see after each whether they were right. What "
        "they say there is no answer of the project, and no model learns from it. Whoever has answered here before "
        "goes on."
    )
    st.caption(
        f"{counted(now.marked, 'row is', 'rows are')} marked for it. Mark more on the Review page, under *Example of "
        "its class*: test rows and blind checks cannot be."
    )
    key, rule = f"{state.SETTINGS}-{page.project.id}-qualification", now.rule
    with st.form(f"{key}-form", border=False):
        st.checkbox("Ask known rows before somebody starts", value=rule is not None, key=f"{key}-on")
        with st.container(horizontal=True):
            st.number_input(
                "Rows",
                min_value=1,
                max_value=qualification.MOST_QUALIFYING,
                value=rule.rows if rule else min(5, max(1, now.marked)),
                key=f"{key}-rows",
                width=160,
            )
            st.number_input(
                "Right, at least (%)",
                min_value=1,
                max_value=100,
                value=round(100 * rule.share) if rule else 80,
                step=5,
                key=f"{key}-share",
                width=160,
            )
        st.form_submit_button("Save the qualification", type="primary", on_click=_save, args=(page, key))
    if rule is not None:
        _people(page, key, now.people)


def _people(page: ProjectPage, key: str, people: tuple[qualification.PersonQualified, ...]) -> None:
    if not people:
        st.info("Nobody is invited yet.", icon=":material/group:")
    for one in people:
        with st.container(
            border=True, horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
        ):
            st.markdown(f"**{frame.escape(one.name)}** · {one.state}")
            if not one.may_start:
                st.button(
                    "Let them start",
                    key=f"{key}-in-{one.person_id}",
                    on_click=_let_in,
                    args=(page, one.person_id, one.name),
                )


def _save(page: ProjectPage, key: str) -> None:
    said = st.session_state
    with frame.refusals_said_later(RoomError):
        rule = (
            QualificationRule(said[f"{key}-rows"], said[f"{key}-share"] / 100) if said[f"{key}-on"] else None
        )
        qualification.change_rule(page.seat, rule)
        said[state.FLASH] = "Saved: the qualification"


def _let_in(page: ProjectPage, person_id: int, name: str) -> None:
    with frame.refusals_said_later():
        qualification.let_in(page.seat, person_id)
        st.session_state[state.FLASH] = f"{name} may start."
