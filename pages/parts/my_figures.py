"""What people are told of themselves: nobody else's name, and nothing that tells a blind check from other rows."""

from __future__ import annotations

import streamlit as st

from pages.parts import figure_words, state
from pages.parts.frame import ProjectPage
from workflow.access import Right
from workflow.people import figures
from workflow.people.person_figures import PersonFigures

SHARED = (
    f"Counted in steps of {figures.OWN_STEP} answers that can be compared, so that no single answer is told right or "
    "wrong. With fewer there is no figure yet."
)


def my_figures(page: ProjectPage) -> None:
    """A box at the end of a page, for whoever answers."""
    if not page.project.may(Right.ANSWER):
        return
    with st.expander("My figures", icon=":material/person:", key="my-figures"):
        found = _kept(page)
        if not found.answers:
            st.markdown("Your figures begin with your first answer.")
            return
        st.markdown(
            f"**{found.answers:,}** {'answer' if found.answers == 1 else 'answers'}, "
            f"half of them within **{figure_words.seconds(found.seconds)}**. Last seen {figure_words.seen(found)}."
        )
        if found.pace:
            st.caption(figure_words.pace(found))
        st.markdown(
            f"Cannot tell {figure_words.plain(found.unsure)} · none of these {figure_words.plain(found.none)} · "
            f"bad item {figure_words.plain(found.bad)}"
        )
        lines = (
            ("Right on blind checks", found.checks),
            ("Same as the others", found.others),
        )
        st.markdown(
            "\n".join(f"- {name}: {figure_words.share(share)}" for name, share in lines)
            + f"\n- Same as the model had said: {figure_words.share(found.model)}",
            help=SHARED,
        )
        if found.aside:
            st.info("The owner has set your answers aside for now.", icon=":material/info:")


def _kept(page: ProjectPage) -> PersonFigures:
    """The figures, counted anew only when the log has grown."""
    version = page.project.id, figures.log_seq(page.seat)
    kept = st.session_state.get(state.MY_FIGURES)
    if kept is None or kept[0] != version:
        kept = version, figures.mine(page.seat)
        st.session_state[state.MY_FIGURES] = kept
    found: PersonFigures = kept[1]
    return found
