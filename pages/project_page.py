"""Project settings: six sections, from the name to the danger zone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from pages.parts import frame, kinds, state
from pages.parts.create_parts import earlier_votes_part
from pages.parts.learner_form import Setting, learner_form, promise_box, shortlist_note
from pages.parts.members_part import members_part, qualification_part
from pages.parts.project_parts import forms_part, more_rows_part, own_encoder_part
from pages.parts.words import percent
from workflow.access import Right
from workflow.answering import room
from workflow.answering.room import RoomError
from workflow.importing import encoding_requests
from workflow.kinds import LATEST_OF_SEVERAL
from workflow.projects import managing
from workflow.projects.managing import ProjectNameError

page = frame.begin_project("Project settings", Right.OWN)
frame.toast_from_last_page()
frame.project_title("Project settings", page)
frame.say_refusal()  # above all tabs: the first to ask for it says it, whichever it is about
parts = kinds.parts_of(page)
KEY = f"{state.SETTINGS}-{page.project.id}"
ORDERS = {"probability": "the likeliest first", "fixed": "always in the same order"}


def saved(words: str) -> None:
    st.session_state[state.FLASH] = words
    st.rerun()


def about_part() -> None:
    with st.form(f"{KEY}-about", border=False):
        name = st.text_input("Name", value=page.project.name, max_chars=managing.NAME_LENGTH)
        description = st.text_area(
            "Description", value=page.project.description, max_chars=managing.DESCRIPTION_LENGTH, height=90
        )
        if st.form_submit_button("Save name and description", type="primary"):
            with frame.refusals(ProjectNameError):
                managing.rename_project(page.seat, name, description)
                saved("Saved: name and description")


def settings_form(name: str, settings: Sequence[Setting], button: str, words: str) -> Mapping[str, Any]:
    """Draw these settings and a button that saves them; all settings as they are now."""
    now = managing.learner_settings(page.seat)
    # For content drawn alone: a comparison that adopts another model meanwhile must not remove what was typed.
    drawn = {one.name: str(now[one.name]) for one in settings if one.name in now}
    key = f"{KEY}-{name}-{hash(tuple(drawn.items()))}"
    chosen = learner_form(now, key, settings)
    changed: dict[str, Any] = {name: value for name, value in chosen.items() if value != now[name]}
    # With more annotators a row and the rule untouched, the answers are combined by majority.
    doubtful = chosen.get("overlap", 1) > 1 and changed.get("fold", "") == "latest"
    keeps = doubtful and st.checkbox(
        "Use the latest answer, although several annotators answer a row",
        help=LATEST_OF_SEVERAL,
        key=f"{key}-latest",
    )
    if st.button(button, type="primary", disabled=not changed or (doubtful and not keeps), key=f"{key}-save"):
        with frame.refusals(ValueError):
            managing.change_learner(page.seat, keep_latest=keeps, **changed)
            saved(f"Saved: {words}")
    return now


def answering_part() -> None:
    now = settings_form(
        "answering",
        parts.ANSWERING,
        "Save team settings",
        "how many people answer a row, and how answers are combined",
    )
    if now["own_since"] is not None:
        st.caption("In this project annotators answer independently. This cannot be changed.")
    else:
        st.caption(
            "With one annotator per row, each answer builds on the last. Once you collect independent "
            "answers, you cannot switch back."
        )


def learner_part() -> None:
    encoders = encoding_requests.encoders(page.seat)
    settings = [
        one
        for one in parts.LEARNING
        if (encoders.columns or not one.encoded) and (page.project.sourced or not one.sourced)
    ]
    now = settings_form("learner", settings, "Save model settings", "model and question settings")
    if share := now.get("control_share"):
        st.caption(
            f"{percent(share)} of the questions are blind checks, drawn when the project was created; "
            "this cannot be changed."
        )
    own_encoder_part(page, encoders)


def room_part() -> None:
    now = room.room_of(page.seat)
    names = room.class_names(page.seat)
    shortlists = room.shortlists_of(page.seat)
    with st.form(f"{KEY}-room", border=False):
        guidelines = st.text_area(
            "Guidelines",
            value=now.guidelines,
            height=160,
            max_chars=room.GUIDELINES_LENGTH,
            help="Shown above every question. Markdown works: **bold**, lists, headings; images are not shown.",
        )
        order = st.radio(
            "Order of the candidates",
            list(ORDERS),
            index=list(ORDERS).index(now.order),
            format_func=ORDERS.__getitem__,
            horizontal=True,
        )
        promise = now.shortlist
        if shortlists is not None:
            promise = promise_box(shortlists, f"{KEY}-shortlist-{now.shortlist}")
            shortlist_note(shortlists)
        st.markdown("What each label means, in one line:")
        edited = st.data_editor(
            {"Label": list(names), "Description": [now.descriptions.get(name, "") for name in names]},
            hide_index=True,
            disabled=["Label"],
            height=min(320, 38 + 35 * len(names)),
            column_config={
                "Description": st.column_config.TextColumn(width="large", max_chars=room.DESCRIPTION_LENGTH)
            },
            key=f"{KEY}-descriptions-{hash((names, tuple(sorted(now.descriptions.items()))))}",
        )
        if st.form_submit_button("Save question page", type="primary"):
            meant = {
                name: text.strip()
                for name, text in zip(edited["Label"], edited["Description"], strict=True)
                if text and text.strip()
            }
            with frame.refusals(RoomError):
                room.change_room(
                    page.seat,
                    replace(now, guidelines=guidelines, order=order, descriptions=meant, shortlist=promise),
                )
                saved("Saved: question page")
    forms_part(page)
    parts.groups_part(page)


def put_away_part() -> None:
    st.markdown("You can undo both on the Home page. Table, answers and log stay.")
    with st.container(horizontal=True):
        for words, icon, action, what in (
            ("Archive this project", ":material/archive:", managing.archive_project, "archived"),
            ("Move it to the bin", ":material/delete:", managing.bin_project, "in the bin"),
        ):
            if st.button(words, icon=icon, key=f"{KEY}-{what}"):
                with frame.refusals():
                    action(page.seat)
                    st.session_state[state.FLASH] = f"{page.project.name} is {what}; it can be restored here."
                    st.session_state.pop(state.PROJECT, None)
                    st.switch_page("home.py")


SECTIONS: Mapping[str, Mapping[str, Callable[[], None]]] = {
    "General": {"": about_part},
    "Team": {
        "Annotators per row": answering_part,
        "Qualification": partial(qualification_part, page),
        "Sharing": partial(members_part, page),
    },
    "Questions": {"": room_part, "Classes": partial(parts.classes_part, page)},
    "Model": {"": learner_part},
    "Data": {"More rows": partial(more_rows_part, page), "Earlier votes": partial(earlier_votes_part, page)},
    "Danger zone": {"": put_away_part},
}
with st.container(key="winnow_settings"):
    tabs = st.tabs(list(SECTIONS))
for tab, section in zip(tabs, SECTIONS.values(), strict=True):
    with tab:
        for heading, part in section.items():
            if heading:
                st.markdown(f"##### {heading}")
            part()
