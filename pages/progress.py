"""Progress: accuracy on rows that the model never learnt from, when to stop, settled and remaining rows."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame, kinds, progress_parts, state
from pages.parts.frame import ProjectPage
from pages.parts.tour import tour
from workflow.access import Right
from workflow.people import figures
from workflow.people.figures import PersonFigures

# Figures that annotators see about themselves: no other names, and nothing that reveals a blind check.

SHARED = f"Updated every {figures.OWN_STEP} comparable answers, so that no single answer is revealed as right or wrong."


def my_figures(page: ProjectPage) -> None:
    """Draw a box at the end of a page, for all annotators."""
    if not page.project.may(Right.ANSWER):
        return
    with st.expander("My figures", icon=":material/person:", key="my-figures"):
        found = _kept(page)
        if not found.answers:
            st.markdown("Your figures begin with your first answer.")
            return
        st.markdown(
            f"**{found.answers:,}** {'answer' if found.answers == 1 else 'answers'}, "
            f"half of them within **{progress_parts.seconds(found.seconds)}**. Last seen {progress_parts.seen(found)}."
        )
        if found.pace:
            st.caption(progress_parts.pace(found))
        st.markdown(
            f"Cannot tell {progress_parts.plain(found.unsure)} · none of these {progress_parts.plain(found.none)} · "
            f"bad item {progress_parts.plain(found.bad)}"
        )
        lines = (("Right on blind checks", found.checks), ("Same as the others", found.others))
        st.markdown(
            "\n".join(f"- {name}: {progress_parts.share(share)}" for name, share in lines)
            + f"\n- Same as the model's prediction: {progress_parts.share(found.model)}",
            help=SHARED,
        )
        if found.aside:
            st.info("The owner has excluded your answers for now.", icon=":material/info:")


def _kept(page: ProjectPage) -> PersonFigures:
    """Return the figures, recomputed only when the log has grown."""
    version = page.project.id, figures.log_seq(page.seat)
    kept = st.session_state.get(state.MY_FIGURES)
    if kept is None or kept[0] != version:
        kept = version, figures.mine(page.seat)
        st.session_state[state.MY_FIGURES] = kept
    found: PersonFigures = kept[1]
    return found


page = frame.begin_project("Progress")
frame.toast_from_last_page()
frame.project_title("Progress", page, answering=True)
tour(page, "progress.py")
kinds.parts_of(page).progress_page(page)
my_figures(page)
