"""Bringing in a project that was taken along from another Winnow, on the Import page."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame, state
from pages.parts.file_box import file_box, let_go
from pages.parts.frame import Page
from pages.parts.words import percent
from workflow.importing import NAME_LENGTH
from workflow.importing.arrivals import Arrived
from workflow.outgoing.backups import one_project
from workflow.outgoing.backups.manifest import BackupError
from workflow.projects import ProjectNameError

BOX = "bring-in"


def bring_in_part(page: Page) -> None:
    """Folded, for few need it: the box for the file, the name that the project is to have, the button."""
    with st.expander("Bring in a project from another Winnow", icon=":material/luggage:"):
        st.markdown(
            "In that Winnow, *Take this project along* on the Export page gives the file. The project comes with its "
            "log and all: who answered what, and when. People are known again by their names. Others come as people "
            "who cannot sign in until you let them in, on the People page."
        )
        chosen = file_box(
            page.seat,
            "The file of a project",
            key=BOX,
            about="A larger one is brought in by whoever runs Winnow: winnow bring-in FILE.",
        )
        if chosen is None:
            return
        name = st.text_input(
            "Its name here (optional)",
            placeholder="As it was called",
            max_chars=NAME_LENGTH,
            key=f"{state.FILE}-name-{chosen.key}",
        )
        if st.button("Bring it in", type="primary", icon=":material/luggage:"):
            _bring_in(page, chosen, name.strip())


def _bring_in(page: Page, chosen: Arrived, name: str) -> None:
    place = st.empty()

    def tell(done: int, total: int) -> None:
        share = min(1.0, done / max(total, 1))
        place.progress(share, f"Checking every byte and every entry of the log … {percent(share)}")

    with frame.refusals(BackupError, ProjectNameError):
        tell(0, 1)
        try:
            done = one_project.bring_in(page.seat, chosen.path, name or None, tell, called=chosen.name)
        finally:
            place.empty()
        let_go(page.seat, BOX)
        more = f". New here, on the People page: {', '.join(done.new)}" if done.new else ""
        st.session_state[state.FLASH] = f"{done.name} is here{more}"
        st.switch_page("home.py")
