"""The tour of a demo: short texts above the page, while everything on it works; one click ends it for
good."""

from __future__ import annotations

import contextlib
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from pages.parts import frame, state
from workflow import demos
from workflow.access import NotAllowed, NotFound
from workflow.demos import making
from workflow.saving import STORE_FAULTS

QUESTIONS = "annotate.py"
"""The question page, whose choices a tour must not push out of sight."""
FROM = (0, 3, 8, 20)
"""Answers of this person from which the first to fourth steps are shown. The fourth step is on Progress; the fifth is
shown after returning from there."""
LOOK_EVERY = 2.0
"""Seconds between polls: answers reach the server without the page (`card/posting.js`)."""


class TourStep(NamedTuple):
    """words : Markdown      page, label : link to another page, '' if the step has none
    owners : whether that page is only for owners of this Winnow"""

    words: str
    page: str = ""
    label: str = ""
    owners: bool = False


_ANY_TIME = TourStep(
    "**C** means that you can't tell, **S** skips, **U** undoes your last answer. Every answer is saved at once, so "
    "you can stop at any time."
)
_WHY = TourStep("The line above the choices says why this row is asked. Confident rows are never asked.")
_PROGRESS = TourStep(
    "After about 20 answers, *Progress* shows the accuracy with a 95% confidence interval, measured on held-out rows. "
    "The dry run there lets the hidden labels answer 50 questions, so that you see the accuracy change.",
    "progress.py",
    "Progress",
)
_HOME_AGAIN = TourStep(
    "That is all. *Export* returns the table, with one label per row. To use your own table, choose *Import data* on "
    "Home.",
    "import_table.py",
    "Import data",
    owners=True,
)
STEPS = {
    demos.DIGITS.key: (
        TourStep("A scan, and the digits that it may be. Press the digit you see: one key is one answer."),
        _ANY_TIME,
        _WHY,
        _PROGRESS,
        _HOME_AGAIN,
    ),
    demos.CALLS.key: (
        TourStep(
            "A clip with up to three singers. **P** plays it; press the number of the loudest. Each has an example "
            "next to its name and in the guidelines."
        ),
        TourStep(
            "The list is a detector's, which is often wrong: its score is below each name, and the bar is the "
            "model's current probability. They diverge as you answer."
        ),
        _ANY_TIME,
        _PROGRESS,
        _HOME_AGAIN,
    ),
    demos.REMARKS.key: (
        TourStep(
            "Six people voted on the topic of this message, and did not agree. The choices are their votes; press "
            "the number of the right one."
        ),
        TourStep(
            "One of the six mostly guesses. *Data*, in the project's settings, shows how reliable each "
            "voter is, without using any true label.",
            "project_page.py",
            "Project settings",
            owners=True,
        ),
        _ANY_TIME,
        _PROGRESS,
        _HOME_AGAIN,
    ),
}


def tour(page: frame.ProjectPage, here: str) -> None:
    """Draw the person's current step with its buttons; nothing unless the project is a demo, or once the tour
    has ended.

    here : the current page; a step that links to it begins there
    """
    demo = demos.BY_NAME.get(page.project.name)
    if demo is None or making.ended(page.seat):
        return
    at = f"{state.TOUR}-{page.project.id}"
    found = [_place(page, STEPS[demo.key], at, here)]
    follows = here == QUESTIONS and found[0] < len(FROM)
    st.fragment(_draw, run_every=LOOK_EVERY if follows else None)(page, STEPS[demo.key], at, here, found)


def _place(page: frame.ProjectPage, steps: Sequence[TourStep], at: str, here: str) -> int:
    """Return the person's current step, from their answers, or further by *Next*."""
    sent = next((number for number, step in enumerate(steps) if step.page == here), 0)
    if sent:
        st.session_state[f"{at}-back"] = sent + 1
    done: int = sent if here != QUESTIONS else st.session_state.get(f"{at}-back", 0)
    with contextlib.suppress(NotAllowed, NotFound, *STORE_FAULTS):  # the page reports it at the next click
        done = max(done, bisect_right(FROM, making.answered(page.seat)) - 1)
    place: int = st.session_state.get(at, 0)
    return min(max(place, done), len(steps) - 1)


def _draw(page: frame.ProjectPage, steps: Sequence[TourStep], at: str, here: str, found: list[int]) -> None:
    """Draw a step. found : the place, only for the first drawing: later ones count again"""
    place = found.pop() if found else _place(page, steps, at, here)
    step, project = steps[place], {"project": str(page.project.id)}
    with st.container(key="winnow_tour", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":small[Tour, {place + 1} of {len(steps)}]  \n{step.words}")
        if here == QUESTIONS:
            _fold(at)
        if step.page not in ("", here) and (page.person.is_owner or not step.owners):
            st.page_link(step.page, label=step.label, query_params=project, width="content")
        if place < len(steps) - 1:
            st.button("Next", key=f"{at}-next", on_click=_go_to, args=(at, place + 1))
        if st.button("End the tour", key=f"{at}-end", type="tertiary"):
            with frame.refusals():
                making.end(page.seat)
                st.rerun()


def _fold(at: str) -> None:
    """Add the button that opens the tour on a phone, where it is one line above the question (`style.css`);
    elsewhere it is invisible."""
    opened = f"{at}-opened"
    if st.session_state.setdefault(opened, False):
        st.button("Fold", key=f"{at}-fold", type="tertiary", on_click=_open, args=(opened, False))
    else:
        st.button("Read", key=f"{at}-unfold", type="tertiary", on_click=_open, args=(opened, True))


def _open(opened: str, whether: bool) -> None:
    st.session_state[opened] = whether


def _go_to(at: str, place: int) -> None:
    st.session_state[at] = place
