"""The classes of label vectors on the settings page."""

from __future__ import annotations

import streamlit as st

from pages.parts.frame import ProjectPage


def classes_part(page: ProjectPage) -> None:  # noqa: ARG001 - as in every kind
    """Say that they cannot be changed, unlike those of projects with candidates."""
    st.info(
        "The labels of a project with label vectors stay as the file has them. Describe them under Questions.",
        icon=":material/info:",
    )


# Groups of labels on the settings page.


def groups_part(page: ProjectPage) -> None:
    """Draw nothing: several labels of a row may be right, so "one of these" is not an answer."""
