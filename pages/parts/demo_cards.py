"""Home's demos, quiet below what leads: one press opens each, and has it made before where it is not there yet."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame
from pages.parts.import_line import await_job
from workflow import demos
from workflow.demos import Demo
from workflow.importing import CannotLearn, TableError
from workflow.projects import ProjectNameError

ICONS = {"digits": ":material/pin:", "calls": ":material/graphic_eq:", "remarks": ":material/chat_bubble:"}


def demo_cards(page: frame.Page) -> None:
    """A card for each."""
    st.markdown("Or answer a few questions of a demo first:")
    chosen = None
    with st.container(key="winnow_demos"):
        for column, demo in zip(st.columns(len(demos.ALL)), demos.ALL, strict=True):
            with column:
                if st.button(demo.title, key=f"demo-{demo.key}", icon=ICONS[demo.key], width="stretch"):
                    chosen = demo
                st.caption(demo.about)
    if chosen is not None:
        _open(page, chosen)


def _open(page: frame.Page, demo: Demo) -> None:
    with frame.refusals(ProjectNameError, CannotLearn, TableError):
        project = demos.find(page.seat, demo)
        if project is None:
            project = await_job("Making the demo …", lambda: demos.ask(page.seat, demo), "Made and read")
        st.switch_page("annotate.py", query_params={"project": str(project)})
