"""Roles in a project, in the words of pages."""

from __future__ import annotations

import streamlit as st

from workflow.access import Role

ROLES = {
    Role.ANNOTATOR: "Annotator: answers, and sees their own answers",
    Role.REVIEWER: "Reviewer: answers, sees and corrects everybody's answers",
    Role.VIEWER: "Viewer: looks at rows and progress, and answers nothing",
    Role.OWNER: "Owner: does everything, also settings, export and sharing",
}
"""What each may do, the commonest first."""

WITH_ARTICLE = {
    Role.ANNOTATOR: "an annotator",
    Role.REVIEWER: "a reviewer",
    Role.VIEWER: "a viewer",
    Role.OWNER: "an owner",
}


def short(role: Role) -> str:
    """One word."""
    return role.value.capitalize()


def role_box(label: str, key: str) -> None:
    """A box to choose a role for somebody new."""
    st.selectbox(label, list(ROLES), format_func=ROLES.__getitem__, key=key)
