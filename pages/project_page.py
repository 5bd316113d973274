"""Project settings: six sections, from the name to the danger zone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from pages.parts import frame, kinds, state
from pages.parts.components import component
from pages.parts.create_parts import earlier_votes_part
from pages.parts.learner_form import Setting, learner_form, promise_box
from pages.parts.members_part import members_part, qualification_part
from pages.parts.project_parts import change_room, forms_part, more_rows_part, own_encoder_part
from pages.parts.words import counted, percent
from workflow.access import Right
from workflow.answering import room
from workflow.answering.room import RoomError
from workflow.importing import encoding_requests
from workflow.kinds import LATEST_OF_SEVERAL
from workflow.projects import linking, managing
from workflow.projects.managing import ProjectNameError
from workflow.seat import Seat

page = frame.begin_project("Project settings", Right.OWN)
frame.toast_from_last_page()
frame.project_title("Project settings", page)
frame.say_refusal()  # above all tabs: any of them may have been refused
parts = kinds.parts_of(page)
KEY = f"{state.SETTINGS}-{page.project.id}"
DELETING = f"{KEY}-deleting"
_SELECT = component(
    "winnow_sections",
    "head/sections.js",
    ("head/sections.css",),
    html='<div><select aria-label="Section"></select></div>',
)
ORDERS = {"probability": "Likeliest first", "fixed": "Always in the same order"}


def about_part() -> None:
    def rename(**new: str) -> None:
        stored = managing.get_project(page.seat)  # another tab may have changed the other settings
        managing.rename_project(page.seat, new.get("name", stored.name), new.get("description", stored.description))

    frame.saved_field(
        f"{KEY}-name",
        page.project.name,
        partial(st.text_input, "Name", max_chars=managing.NAME_LENGTH),
        lambda name: rename(name=name),
        ProjectNameError,
    )
    frame.saved_field(
        f"{KEY}-description",
        page.project.description,
        partial(st.text_area, "Description", max_chars=managing.DESCRIPTION_LENGTH, height=90),
        lambda description: rename(description=description),
        ProjectNameError,
        hint="Shown on Home and in the dataset card.",
    )


def settings_form(settings: Sequence[Setting]) -> Mapping[str, Any]:
    """Draw these settings and return the current values of all settings."""
    now = managing.learner_settings(page.seat)

    def save(name: str, value: Any) -> None:
        confirmed = doubt(now, name, value) is not None
        managing.change_learner(page.seat, keep_latest=confirmed, **{name: value})

    learner_form(now, KEY, settings, save, lambda name, value: doubt(now, name, value))
    return now


def doubt(now: Mapping[str, Any], name: str, value: Any) -> tuple[str, str] | None:
    """Return the confirmation for a change that cannot be undone, or that affects agreement between
    annotators."""
    if name == "fold" and value == "latest" and now["overlap"] > 1:
        return LATEST_OF_SEVERAL, "Use the latest answer"
    if several({**now, name: value}) and not several(now):
        return (
            "Annotators will answer independently from now on. You cannot switch back.",
            "Collect independent answers",
        )
    return None


def several(settings: Mapping[str, Any]) -> bool:
    """Return whether annotators answer independently, as defined by
    `plcore.loop.standings.OverlapSettings`."""
    return (
        settings["own_since"] is not None
        or settings["overlap"] > 1
        or settings["checks_by_all"]
        or settings["fold"] != "latest"
    )


def answering_part() -> None:
    if several(settings_form(parts.ANSWERING)):
        st.caption("In this project annotators answer independently. This cannot be changed.")
    else:
        st.caption(
            "With one annotator per row, each answer builds on the last. Once you collect independent "
            "answers, you cannot switch back."
        )


def learner_part() -> None:
    encoders = encoding_requests.encoders(page.seat)
    now = settings_form(
        [
            one
            for one in parts.LEARNING
            if (encoders.columns or not one.encoded) and (page.project.sourced or not one.sourced)
        ]
    )
    st.page_link("models_page.py", label="Compare models", icon=":material/arrow_forward:", query_params=page.here)
    if share := now.get("control_share"):
        st.caption(
            f"{percent(share)} of the questions are blind checks, drawn when the project was created; "
            "this cannot be changed."
        )
    own_encoder_part(page, encoders)


def room_part() -> None:
    now = room.room_of(page.seat)
    change = partial(change_room, page)
    frame.saved_field(
        f"{KEY}-guidelines",
        now.guidelines,
        partial(
            st.text_area,
            "Guidelines",
            height=160,
            max_chars=room.GUIDELINES_LENGTH,
            help="Markdown works: **bold**, lists, headings; images are not shown.",
        ),
        lambda guidelines: change(guidelines=guidelines),
        RoomError,
        hint="Shown above every question.",
    )
    frame.saved_field(
        f"{KEY}-order",
        now.order,
        partial(st.radio, "Order of the candidates", list(ORDERS), format_func=ORDERS.__getitem__, horizontal=True),
        lambda order: change(order=order),
        RoomError,
    )
    if (shortlists := room.shortlists_of(page.seat)) is not None:
        promise_box(shortlists, f"{KEY}-shortlist", lambda promise: change(shortlist=promise))
    further_part()
    descriptions_part(now.descriptions)
    forms_part(page)
    parts.groups_part(page)


def further_part() -> None:
    """Draw the choice of projects that ask about the same row; nothing if there are none."""
    now = linking.further_of(page.seat)
    names = {one.id: one.name for one in (*now, *linking.linkable(page.seat))}
    if not names:
        return
    frame.saved_field(
        f"{KEY}-further",
        [one.id for one in now],
        partial(
            st.multiselect,
            "Further questions about the same row",
            names,
            format_func=names.__getitem__,
            max_selections=room.MOST_FURTHER,
            placeholder="Choose projects",
            help="They are asked in this order. People need a role in each of them.",
        ),
        lambda further: linking.link(page.seat, further),
        RoomError,
        hint="After an answer here, these projects ask the same person about the same row.",
    )


def descriptions_part(stored: Mapping[str, str]) -> None:
    """Draw a table of all labels, saved after each line. Only changes made elsewhere reset it, so the cursor
    stays."""
    names, key = room.class_names(page.seat), f"{KEY}-descriptions"
    drawn, saved, number = st.session_state.get(key, ({}, None, 0))
    if saved != (names, stored):
        drawn, number = stored, number + 1
    st.markdown("### Descriptions of labels")
    st.caption("What each label means, in one line.")
    edited = st.data_editor(
        {"Label": list(names), "Description": [drawn.get(name, "") for name in names]},
        hide_index=True,
        disabled=["Label"],
        height=min(320, 38 + 35 * len(names)),
        column_config={"Description": st.column_config.TextColumn(width="large", max_chars=room.DESCRIPTION_LENGTH)},
        key=f"{key}-{number}",
    )
    meant = {
        name: text.strip()
        for name, text in zip(edited["Label"], edited["Description"], strict=True)
        if text and text.strip()
    }
    if meant != stored:
        with frame.refusals(RoomError):
            change_room(page, descriptions=meant)
            stored = meant
            st.caption(":material/check: Saved")
    st.session_state[key] = drawn, (names, stored), number


def put_away_part() -> None:
    if action_line("Archive project", "For a finished project.", "Archive"):
        put_away(managing.archive_project, "archived")
    if action_line("Delete project", "For a project you no longer need.", "Delete"):
        st.session_state[DELETING] = True
    if DELETING in st.session_state:
        deletion_part()


def action_line(name: str, hint: str, words: str) -> bool:
    """Draw a line with a button, and return whether it was clicked."""
    with st.container(
        key=f"winnow_line-{words}", horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    ):
        st.markdown(f"**{name}**  \n{hint}")
        return st.button(words, key=f"{KEY}-{words}")


def put_away(action: Callable[[Seat], None], what: str) -> None:
    """Archive or delete the project, and go Home; or show why that was refused."""
    with frame.refusals():
        action(page.seat)
        st.session_state[state.FLASH] = f"{page.project.name} is {what}; it can be restored here."
        for key in (state.PROJECT, DELETING):
            st.session_state.pop(key, None)
        st.switch_page("home.py")


def keep_project() -> None:
    st.session_state.pop(DELETING, None)


@st.dialog("Delete project", on_dismiss=keep_project)
def deletion_part() -> None:
    """Draw what is lost, and a field for the project's name, without which nothing is deleted."""
    name = page.project.name
    rows, answered = counted(page.project.n_rows, "row"), f"{page.project.answered:,}"
    st.markdown(
        f"**{frame.escape(name)}** has {rows}, {answered} answered. Once it is deleted, no one can open, answer or "
        "export it, and programs cannot read it. It moves to the bin on Home, from which an owner can restore it."
    )
    st.page_link("export.py", label="Download the project first", icon=":material/folder_zip:", query_params=page.here)
    typed = st.text_input("Type the project's name", key=f"{DELETING}-name", autocomplete="off")
    if st.button("Delete project", key=f"{DELETING}-now", icon=":material/delete:"):
        if typed.strip() == name:
            put_away(managing.bin_project, "in the bin")
        else:
            st.error(f"This is not the name. Type {frame.escape(name)}.", icon=":material/error:")


@dataclass(frozen=True)
class Section:
    """A section of the settings. hint : one sentence about it      parts : by heading, "" for none"""

    hint: str
    parts: Mapping[str, Callable[[], None]]


SECTIONS: Mapping[str, Section] = {
    "General": Section("Name and description.", {"": about_part}),
    "Team": Section(
        "Applies to answers from now on.",
        {
            "": answering_part,
            "Qualification": partial(qualification_part, page),
            "Who may see this project": partial(members_part, page),
        },
    ),
    "Questions": Section(
        "The question page as annotators see it.", {"": room_part, "Classes": partial(parts.classes_part, page)}
    ),
    "Model": Section("How Winnow learns from answers.", {"": learner_part}),
    "Data": Section(
        "Rows and imported votes.",
        {"More rows": partial(more_rows_part, page), "Imported votes": partial(earlier_votes_part, page)},
    ),
    "Danger zone": Section(
        "Both hide the project from everyone. You can restore it on Home; table, answers and log stay.",
        {"": put_away_part},
    ),
}
with st.container(key="winnow_settings"):
    _SELECT(key="winnow_sections", data={"names": list(SECTIONS)})
    linked = st.query_params.get("section")
    tabs = st.tabs(list(SECTIONS), default=linked if linked in SECTIONS else None)
for tab, (name, section) in zip(tabs, SECTIONS.items(), strict=True):
    with tab:
        st.markdown(f"## {name}")
        st.caption(section.hint)
        for heading, part in section.parts.items():
            if heading:
                st.markdown(f"### {heading}")
            part()
