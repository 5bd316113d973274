"""Team: how everybody's answers are, who may be guessing, and how far people agree."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

from pages.parts import frame, progress_parts, state
from pages.parts.create_parts import table_height
from pages.parts.words import counted, percent
from workflow.access import NotFound, Right
from workflow.answering.turn import StaleQuestion
from workflow.people import aside, figures
from workflow.people.figures import AgreementOf, Pair, PersonFigures, Team
from workflow.seat import Seat

# How far people agree, on the Team page: a plain reading first, the names of the methods one step down.

METHOD = (
    "Krippendorff's alpha: 0 is chance, 1 is always. Good enough for most uses from .80. An interval of 95 % from "
    "rows drawn anew."
)
BIASED = (
    "Rows that were chosen because they are hard make people differ more than they would on random ones: "
    "this figure is too low for the table as a whole."
)


def agreement_part(team: Team) -> None:
    """Below the people."""
    st.markdown("###### How far do they agree?")
    left, right = st.columns(2)
    with left:
        _of("On blind checks, which are random", team.agreement.checks)
    with right:
        _of("On all rows that several have answered", team.agreement.everywhere, BIASED)
    if team.agreement.pairs:
        st.markdown(
            "###### Who agrees with whom",
            help="How often both said the very same; Cohen's kappa is how far that is beyond chance.",
        )
        _pairs(team)


def _of(where: str, found: AgreementOf, warning: str = "") -> None:
    st.markdown(f"**{where}**")
    if found.alpha.reason:
        st.caption(found.alpha.reason)
        return
    st.markdown(f"{found.alpha.reading} {progress_parts.figure(found.alpha)}", help=METHOD)
    st.caption(
        f"From {counted(found.alpha.n_rows, 'question')} that at least two people have answered. {warning}"
    )
    with st.expander("Other measures", key=f"measures-{where}"):
        lines = [("Counting what two sets share (alpha on sets)", found.on_sets), ("Gwet's AC1", found.ac1)]
        lines += [(f"{frame.escape(label)} (alpha)", one) for label, one in found.by_label]
        st.markdown(
            "\n".join(
                f"- {name}: {one.reason or (progress_parts.figure(one) if one.low == one.low else f'{one.value:.2f}')}"
                for name, one in lines
            )
        )


def _pairs(team: Team) -> None:
    names = {one.person_id: one.name for one in team.people}

    def line(pair: Pair) -> dict[str, object]:
        return {
            "One": names[pair.one],
            "Other": names[pair.other],
            "Shared": pair.n_rows,
            "Same": progress_parts.share(pair.share),
            "Beyond chance": pair.kappa.reason or f"{pair.kappa.value:.2f}",
        }

    st.dataframe(pd.DataFrame([line(one) for one in team.agreement.pairs]), hide_index=True, width="stretch")


page = frame.begin_project("Team", Right.REVIEW)
frame.toast_from_last_page()
frame.project_title("Team", page)
frame.say_refusal()
owns = page.project.may(Right.OWN)


def kept() -> figures.Team:
    """The figures, counted anew only when the log has grown."""
    version = page.project.id, figures.log_seq(page.seat)
    held = st.session_state.get(state.TEAM)
    if held is None or held[0] != version:
        with st.spinner("Reading the log ...", show_time=True):
            held = version, figures.team(page.seat)
        st.session_state[state.TEAM] = held
    found: figures.Team = held[1]
    return found


def act(use_case: Callable[[Seat, int], None], one: PersonFigures, said: str) -> None:
    with frame.refusals_said_later(NotFound, StaleQuestion):
        use_case(page.seat, one.person_id)
        st.session_state[state.FLASH] = said


def aside_button(one: PersonFigures, where: str) -> None:
    """Set a person's answers aside, or count them again; asked for once more, in a box that opens."""
    if not owns:
        return
    if one.aside:
        st.button(
            "Count them again",
            key=f"{where}-again-{one.person_id}",
            icon=":material/undo:",
            on_click=act,
            args=(aside.count_again, one, f"{one.name}'s answers count again."),
        )
        return
    with st.popover("Set them aside", key=f"{where}-box-{one.person_id}", icon=":material/block:"):
        st.markdown(
            f"None of the answers of {frame.escape(one.name)} will count, also those still to come; labels and the "
            "model follow. The answers stay in the log, and you can count them again at any time."
        )
        st.button(
            "Set them aside now",
            key=f"{where}-aside-{one.person_id}",
            type="primary",
            on_click=act,
            args=(aside.set_aside, one, f"{one.name}'s answers are set aside."),
        )


def warn(one: PersonFigures) -> None:
    """What speaks against a person's answers, with the evidence."""
    with st.container(border=True, key=f"warning-{one.person_id}"):
        sentences = "  \n".join(map(frame.escape, one.warnings))
        st.warning(
            f"**Look at {frame.escape(one.name)}'s answers.**  \n{sentences}", icon=":material/warning:"
        )
        with st.container(horizontal=True):
            st.page_link(
                "review_page.py",
                label="Look at the answers",
                icon=":material/rule:",
                query_params={"project": str(page.project.id)},
            )
            aside_button(one, "warned")


def table(people: tuple[PersonFigures, ...]) -> None:
    """One line a person; on a narrow screen it scrolls in its own box."""
    st.dataframe(
        pd.DataFrame(
            {
                "Person": [f"{one.name} (set aside)" if one.aside else one.name for one in people],
                "Answers": [one.answers for one in people],
                "Pace": [progress_parts.seconds(one.seconds) for one in people],
                "Right on blind checks": [progress_parts.share(one.checks) for one in people],
                "Same as others": [progress_parts.share(one.others) for one in people],
                "Same as model": [progress_parts.share(one.model) for one in people],
                "Cannot tell": [progress_parts.plain(one.unsure) for one in people],
                "None of these": [progress_parts.plain(one.none) for one in people],
                "Bad item": [progress_parts.plain(one.bad) for one in people],
                "Seen": [progress_parts.seen(one) for one in people],
            }
        ),
        hide_index=True,
        width="stretch",
        height=table_height(len(people)),
    )


def one_person(people: tuple[PersonFigures, ...]) -> None:
    """More about whoever is chosen: pace by kind of answer, and what they say by what the row is."""
    by_id = {one.person_id: one for one in people}
    chosen = st.selectbox(
        "More about",
        list(by_id),
        None,
        format_func=lambda one: by_id[one].name,
        placeholder="Choose a person",
        key=f"{state.TEAM}-chosen-{page.project.id}",
    )
    if chosen is None:
        return
    one = by_id[chosen]
    st.markdown(f"**Pace:** {progress_parts.pace(one) or 'no times yet'}")
    aside_button(one, "chosen")
    found = figures.confusion(page.seat, chosen)
    if found is None or found.n_shared < figures.FEWEST_CONFUSED:
        st.caption(
            "What they mix up is shown once they share "
            f"{figures.FEWEST_CONFUSED} answers with others; now {0 if found is None else found.n_shared}."
        )
        return
    st.markdown(
        "**What they say, by what the row is**",
        help="A row of the table is what the row is, by all answers to it weighed by how far each person can be "
        "believed (Dawid and Skene's model); a column is what this person says then.",
    )
    st.dataframe(
        pd.DataFrame(found.shares, index=list(found.classes), columns=list(found.classes)).map(percent),
        width="stretch",
    )


team = kept()
if not team.people:
    st.info(
        "Nobody has answered yet. Once people have, their figures stand here, and how far they agree.",
        icon=":material/inbox:",
    )
    st.stop()
for warned in team.people:
    if warned.warnings and not warned.aside:
        warn(warned)
table(team.people)
st.caption(
    f"Blind checks are random rows that the model never learns from. {team.against} Pace is the median of one answer; "
    "over five minutes is a break. Ranges are 95 % intervals. Each person sees their own line on *Progress*."
)
one_person(team.people)
agreement_part(team)
