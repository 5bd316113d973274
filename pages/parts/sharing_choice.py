"""Projects that are shared at once with a person who is invited: a choice in the form of the People page."""

from __future__ import annotations

import streamlit as st

from pages.parts import role_words, state
from pages.parts.frame import Page
from workflow import projects
from workflow.people import members

_PROJECTS, _ROLE = f"{state.INVITED_TO}-projects", f"{state.INVITED_TO}-role"


def choose(page: Page) -> None:
    """Which projects, and as what. Nothing is drawn where there is no project."""
    known = {one.id: one.name for one in projects.list_projects(page.seat)}
    if not known:
        return
    left, right = st.columns(2)
    with left:
        st.multiselect(
            "Share with them",
            list(known),
            format_func=known.__getitem__,
            placeholder="no project yet",
            key=_PROJECTS,
            help="People see only projects that are shared with them. You can share later, in a project's settings.",
        )
    with right:
        role_words.role_box("As", _ROLE)


def share_chosen(page: Page, name: str) -> None:
    """Share what was chosen with the person of this name, in a callback. Raises as `members.share`."""
    if chosen := st.session_state.get(_PROJECTS):
        members.share(page.seat, name, chosen, st.session_state[_ROLE])
        st.session_state[_PROJECTS] = []
