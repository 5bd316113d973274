"""What stands above, beside and under the table of a queue, whatever the questions are about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts import frame
from pages.parts.frame import ProjectPage
from pages.parts.instance import instance
from pages.parts.words import counted
from workflow import media
from workflow.access import NotAllowed, Right
from workflow.answering import AnswerError
from workflow.queue import list_queue

SCORE = (
    "By this number rows are put in order, the highest first: how much an answer to the row would tell, as the order "
    "that is chosen measures it. Only its order has a meaning."
)


class QueueLine(Protocol):
    """What the lines of all queues have."""

    @property
    def row(self) -> int: ...


Line = TypeVar("Line", bound=QueueLine)


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


def at_the_side(
    page: ProjectPage, chosen: Sequence[Line], ask: Callable[[Line], object], ask_words: str, *, play: bool
) -> None:
    """The row of the line that was clicked, and the button that asks it next; what to do where none is.

    chosen : that line, or none      ask : has this person asked about a line next      play : its recording begins
    """
    if not chosen:
        st.caption("Click a line to see its row and to ask it next.")
        return
    view = media.row_of(page.seat, chosen[0].row)
    st.markdown(f"##### Row {frame.escape(view.row_id)}")
    instance(view, play=play and not view.images)
    if st.button(ask_words, type="primary", icon=":material/keyboard:"):
        with frame.refusals(AnswerError):
            ask(chosen[0])
            st.switch_page("annotate.py", query_params={"project": str(page.project.id)})


def file_of(page: ProjectPage, csv: Callable[[], bytes]) -> None:
    """The file of the whole queue, for owners."""
    if page.project.may(Right.OWN):
        st.download_button(
            "Queue (CSV)",
            data=csv,
            file_name=f"{frame.file_stem(page)}-queue.csv",
            mime="text/csv",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
        )


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
