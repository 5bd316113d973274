"""What stands under the table of a queue, whatever the questions are about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st

from pages.parts import frame
from pages.parts.frame import ProjectPage
from workflow.labeling import AnswerError

Line = TypeVar("Line")


def below(
    page: ProjectPage,
    lines: Sequence[Line],
    ticked: Sequence[int],
    ask: Callable[[Line], object],
    ask_words: str,
    csv: Callable[[], bytes],
) -> None:
    """The button that asks the ticked line next, and the file of the whole queue.

    lines, ticked : those of the table, and the places of those ticked      ask : puts a line before this person
    """
    with st.container(horizontal=True, vertical_alignment="center"):
        picked = [place for place in ticked if place < len(lines)]
        if st.button(ask_words, type="primary", icon=":material/keyboard:", disabled=not picked):
            with frame.refusals(AnswerError):
                ask(lines[picked[0]])
                st.switch_page("annotate.py", query_params={"project": str(page.project.id)})
        if page.person.is_owner:
            st.download_button(
                "Queue (CSV)",
                data=csv,
                file_name=f"{frame.file_stem(page)}-queue.csv",
                mime="text/csv",
                icon=":material/download:",
                on_click="ignore",
            )
        if not picked:
            st.caption("Tick a row to ask it next.")


def counts(shown: int, matching: int, open_rows: int) -> str:
    """How many rows the table shows, of how many."""
    first = f"The first {shown:,} of {matching:,}" if matching > shown else f"{matching:,}"
    return f"{first} matching rows; {open_rows:,} rows are open."
