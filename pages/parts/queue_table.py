"""What stands above and under the table of a queue, whatever the questions are about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts import frame
from pages.parts.frame import ProjectPage
from pages.parts.words import counted
from workflow.access import NotAllowed, Right
from workflow.answering import AnswerError
from workflow.queue import list_queue

Line = TypeVar("Line")


class Queue(Protocol):
    """What the views of the queue have in all kinds of project."""

    @property
    def rows(self) -> Sequence[Any]: ...
    @property
    def matching(self) -> int: ...
    @property
    def listed(self) -> int: ...
    @property
    def open(self) -> int: ...
    @property
    def blind(self) -> int: ...
    @property
    def begun(self) -> int: ...


def found(page: ProjectPage, placeholder: str, place: DeltaGenerator | None = None) -> Any:
    """The queue that the search box leaves; where the person may not see it, the page ends and says why.

    placeholder : what can be searched for      place : of the box, None: here
    """
    words = (place or st).text_input(
        "Search", placeholder=placeholder, icon=":material/search:", key=f"search-{page.project.id}"
    )
    try:
        return list_queue(page.seat, words)
    except NotAllowed as refusal:
        st.info(str(refusal), icon=":material/lock:")
        st.stop()


def below(
    page: ProjectPage,
    lines: Sequence[Line],
    ticked: Sequence[int],
    ask: Callable[[Line], object],
    ask_words: str,
    csv: Callable[[], bytes],
) -> None:
    """The button that asks the ticked line next, and the file of the whole queue.

    lines : of the table      ticked : positions of the ticked ones      ask : has this person asked about a line next
    """
    with st.container(horizontal=True, vertical_alignment="center"):
        picked = [place for place in ticked if place < len(lines)]
        if st.button(ask_words, type="primary", icon=":material/keyboard:", disabled=not picked):
            with frame.refusals(AnswerError):
                ask(lines[picked[0]])
                st.switch_page("annotate.py", query_params={"project": str(page.project.id)})
        if page.project.may(Right.OWN):
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


def stop_where_empty(view: Queue, unit: str, nothing_open: str) -> None:
    """Say why no row is to be shown, and end the page. unit : of what is open, "row" or "label"; see `counts`"""
    if not view.open:
        st.info(nothing_open, icon=":material/check_circle:")
    elif not view.listed:
        st.info(
            f"Every {unit} that is open is asked as a blind check; none is listed.", icon=":material/lock:"
        )
    elif not view.rows:
        st.info("No open row holds these words.", icon=":material/search_off:")
    else:
        return
    if view.open:
        st.caption(counts(view, unit))
    st.stop()


def counts(view: Queue, unit: str) -> str:
    """How many rows the table shows, of how many; and how many rows, or labels, are open, as every page has it."""
    shown = len(view.rows)
    first = f"The first {shown:,} of {view.matching:,}" if view.matching > shown else f"{shown:,}"
    words = f"{first} matching row{'' if view.matching == 1 else 's'}; {_are(view.open, unit)} open"
    if view.blind:
        blind = "is asked as a blind check" if view.blind == 1 else "are asked as blind checks"
        words += f", {view.blind:,} of which {blind} and not listed"
    if view.begun:
        wait = (
            "waits for another person's answer and comes"
            if view.begun == 1
            else "wait for another person's answer and come"
        )
        words += f"; {view.begun:,} {wait} before these"
    return f"{words}."


def _are(count: int, unit: str) -> str:
    return f"{counted(count, unit)} {'is' if count == 1 else 'are'}"
