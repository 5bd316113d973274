"""The middle of the Import page: problems to mend, doubts to look at, and the first question as it will look."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts.frame import escape
from pages.parts.instance import instance
from pages.parts.words import counted
from workflow.common.first_look import FirstLook
from workflow.importing import MAX_PROBLEMS, Doubt, Problem


def how_many(problems: Sequence[Problem]) -> str:
    """The number of problems, in words."""
    count = counted(len(problems), "problem")
    return f"The first {count} (there may be more)" if len(problems) >= MAX_PROBLEMS else count


def show_problems(problems: Sequence[Problem], before: str = "this can become a project") -> None:
    """Every problem with its place and its fix, as text, and the same as a file. before : what waits for them"""
    st.error(
        f"{how_many(problems)} to mend before {before}. Nothing was stored.",
        icon=":material/error:",
    )
    st.markdown("\n".join(f"1. {_in_words(problem)}" for problem in problems))
    st.download_button(
        "Download this list",
        "\n".join(map(str, problems)) + "\n",
        file_name="problems.txt",
        mime="text/plain",
        icon=":material/download:",
        on_click="ignore",
    )


def _in_words(problem: Problem) -> str:
    place, said = problem.place, f"{escape(problem.message)} *Fix:* {escape(problem.fix)}"
    return f"**{escape(place)}:** {said}" if place else said


def show_doubts(doubts: Sequence[Doubt], notes: Sequence[str] = ()) -> None:
    """What is odd about the table, and what was read in one of several ways."""
    if not doubts and not notes:
        return
    with st.container(border=True):
        st.markdown("###### Is this right?")
        for doubt in doubts:
            st.markdown(f":orange[:material/help:] {escape(doubt.message)}  \n*If not:* {escape(doubt.fix)}")
        for note in notes:
            st.markdown(f":material/info: {escape(note)}")


def show_first_question(look: FirstLook | None, question: str) -> None:
    """The first question, without its keys: there is nothing to answer yet. question : in the words of the card"""
    if look is None:
        return
    st.markdown("###### Your first question will look like this")
    with st.container(border=True):
        left, right = st.columns([3, 2], gap="large")
        with left:
            instance(look.view)
        with right:
            st.markdown(f"**{question}**")
            for label, weight in look.choices:
                st.markdown(escape(label) + (f" :small[:gray[{escape(weight)}]]" if weight else ""))
            if look.hidden:
                st.caption(f"and {look.hidden:,} more")
