"""How questions are put, on the settings page: always as "which of these?", or in yes and no where that is cheaper."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.parts import state
from pages.parts.frame import ProjectPage, refusals
from workflow import room
from workflow.room import FormsNow, RoomError

KEY = f"{state.SETTINGS}-forms"
FORMS = {
    "which": "always “Which of these?”",
    "cheapest": "what tells most for its seconds: “Which of these?”, “Is it this one?” or “Is it one of these?”",
}


def forms_part(page: ProjectPage) -> None:
    """Draw it; nothing where questions have one form only."""
    found = room.forms_of(page.seat)
    if found is None:
        return
    now = room.room_of(page.seat)
    st.markdown("##### How questions are put")
    with st.form(f"{KEY}-{page.project.id}", border=False):
        forms = st.radio(
            "Questions are put",
            list(FORMS),
            index=list(FORMS).index(now.forms),
            format_func=FORMS.__getitem__,
        )
        st.caption(in_words(found))
        drawn = st.checkbox(
            "Put one question in twenty in a form drawn at random",
            value=now.drawn_forms,
            help="Only so can the log tell what each form costs in seconds: a form that is chosen for easy rows looks "
            "quick. Nobody gets one among their first 20 answers. The log says which were drawn.",
        )
        if st.form_submit_button("Save how questions are put", type="primary"):
            with refusals(RoomError):
                room.change_room(page.seat, replace(now, forms=forms, drawn_forms=drawn))
                st.session_state[state.FLASH] = "Saved: how questions are put"
                st.rerun()


def in_words(found: FormsNow) -> str:
    """From when on forms are chosen, and what they cost."""
    costs = f"“Which of these four?” takes {found.which:.1f} s, yes or no {found.yes_no:.1f} s"
    learnt = (
        f"By the seconds of {found.timed:,} answers here: {costs}."
        if found.timed
        else f"Until answers tell, Winnow assumes: {costs}."
    )
    first = (
        f"The second is recommended from {found.chosen_from} answers on; this project has {found.answers:,}"
    )
    waits = found.answers < found.chosen_from
    return f"{first}{': until then it asks “Which of these?” either way' if waits else ''}. {learnt}"
