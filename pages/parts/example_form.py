"""Marking an answered row as an example of its class, on the Review page: for the owner."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame, state
from pages.parts.frame import ProjectPage
from workflow.access import Right
from workflow.people import examples
from workflow.people.examples import EXAMPLE, QUALIFICATION, Marking
from workflow.reviewing import AnswerError

PURPOSES = {
    EXAMPLE: "Shown beside questions, on demand",
    QUALIFICATION: "Asked before somebody starts",
}
MARKED = {EXAMPLE: "an example of", QUALIFICATION: "asked before somebody starts, as"}


def example_form(page: ProjectPage, row: int) -> None:
    """The mark of an open row, and the form that sets it; nothing for who is no reviewer."""
    if not page.project.may(Right.REVIEW):
        return
    now = examples.marking(page.seat, row)
    key = f"{state.EXAMPLE}-{page.project.id}-{row}"
    with st.expander("Example of its class", icon=":material/bookmark:", expanded=now.purpose is not None):
        if now.purpose is not None:
            st.markdown(f"This row is {MARKED[now.purpose]} **{frame.escape(now.label or '')}**.")
            if now.why_not or now.label not in now.labels:
                st.caption("It is not shown now: its answers say otherwise.")
        if now.why_not:
            st.markdown(now.why_not)
        else:
            _form(page, key, row, now)
        if now.purpose is not None:
            st.button("Take the mark away", key=f"{key}-away", on_click=_unmark, args=(page, row))


def _form(page: ProjectPage, key: str, row: int, now: Marking) -> None:
    with st.form(f"{key}-form", border=False):
        if len(now.labels) > 1:
            place = now.labels.index(now.label) if now.label in now.labels else 0
            st.selectbox("Of which label", now.labels, index=place, key=f"{key}-label")
        if len(now.purposes) > 1:
            st.radio(
                "What for",
                now.purposes,
                index=now.purposes.index(now.purpose) if now.purpose else 0,
                format_func=PURPOSES.__getitem__,
                key=f"{key}-purpose",
            )
        st.text_input(
            "What to look at (optional)",
            value=now.note,
            max_chars=examples.NOTE_LENGTH,
            placeholder="look at the wing bar",
            key=f"{key}-note",
        )
        words = "Mark it" if now.purpose is None else "Change the mark"
        st.form_submit_button(words, on_click=_mark, args=(page, key, row, now))


def _mark(page: ProjectPage, key: str, row: int, now: Marking) -> None:
    said = st.session_state
    label = said.get(f"{key}-label", now.labels[0])
    purpose = said.get(f"{key}-purpose", EXAMPLE)
    with frame.refusals_said_later(AnswerError):
        examples.mark(page.seat, row, label, said[f"{key}-note"] or "", purpose)
        said[state.FLASH] = f"Saved: {MARKED[purpose]} {label}"


def _unmark(page: ProjectPage, row: int) -> None:
    with frame.refusals_said_later():
        examples.unmark(page.seat, row)
        st.session_state[state.FLASH] = "The mark is taken away."
