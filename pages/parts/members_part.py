"""The people who may see a project, a part of its settings: each with a role, added by name or as a group."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from pages.parts import frame, role_choices, state
from pages.parts.frame import ProjectPage
from pages.parts.words import counted
from workflow.answering.room import RoomError
from workflow.people import members, qualification
from workflow.people.members import MemberError, MemberLine, Role
from workflow.people.qualification import QualificationRule


def members_part(page: ProjectPage) -> None:
    """Draw the members, then the two ways to add more."""
    key, view = f"{state.MEMBERS}-{page.project.id}", members.list_members(page.seat)
    st.caption("No one else can find the project or its files, not even by their address.")
    for one in view.members:
        _line(page, one, key)
    if len(view.members) == sum(one.everywhere for one in view.members):
        st.info("Only you see this project.", icon=":material/group_add:")
    if view.others:
        _add_people(page, view.others, key)
    if page.person.is_owner:
        st.page_link("people.py", label="Invite someone new", icon=":material/link:", query_params=page.here)
    if view.groups:
        _add_group(page, view.groups, key)


def _line(page: ProjectPage, one: MemberLine, key: str) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        you = " (you)" if one.person_id == page.person.id else ""
        ended = " · access ended" if one.ended else ""
        st.markdown(f"**{frame.escape(one.name)}**{you}{ended}")
        if one.everywhere:
            st.markdown("Owner of this Winnow: sees every project")
            return
        roles, box = list(role_choices.ROLES_IN_WORDS), f"{key}-role-{one.person_id}-{one.role}"
        st.selectbox(
            f"Role of {one.name}",
            roles,
            index=roles.index(one.role),
            format_func=role_choices.short,
            key=box,
            on_change=_change,
            args=(page, one, box),
            label_visibility="collapsed",
            width=150,
        )
        with st.popover("Remove", icon=":material/person_remove:"):
            st.markdown("They can no longer open this project. Their answers stay.")
            st.button(
                f"Remove {one.name}",
                key=f"{key}-remove-{one.person_id}",
                type="primary",
                on_click=_do,
                args=(lambda: members.remove_member(page.seat, one.person_id), f"{one.name} is removed"),
            )


def _change(page: ProjectPage, one: MemberLine, box: str) -> None:
    role: Role = st.session_state[box]
    _do(
        lambda: members.give_role(page.seat, [one.person_id], role),
        f"{one.name} is {role_choices.WITH_ARTICLE[role]} now",
    )


def _do(act: Callable[[], object], words: str) -> None:
    with frame.refusals_said_later(MemberError):
        act()
        st.session_state[state.FLASH] = words


def _add_people(page: ProjectPage, others: tuple[tuple[int, str], ...], key: str) -> None:
    names = dict(others)
    with st.form(f"{key}-add", border=True):
        # The options are part of the key: a browser keeps sending the options that a box was drawn with.
        box = f"{key}-people-{hash(others)}"
        left, right = st.columns(2)
        left.multiselect("Add people", list(names), format_func=names.__getitem__, key=box, placeholder="choose names")
        with right:
            role_choices.role_box("Role", f"{key}-as")
        st.form_submit_button(
            "Add them", type="primary", icon=":material/person_add:", on_click=_added, args=(page, box, f"{key}-as")
        )


def _added(page: ProjectPage, box: str, role: str) -> None:
    chosen = st.session_state[box]
    if chosen:
        _do(
            lambda: members.give_role(page.seat, chosen, st.session_state[role]),
            f"{counted(len(chosen), 'person', 'people')} added",
        )


def _add_group(page: ProjectPage, groups: tuple[tuple[int, str, int], ...], key: str) -> None:
    words = {number: f"{name}: {counted(free, 'person', 'people')} to add" for number, name, free in groups}
    with st.form(f"{key}-group", border=True):
        box = f"{key}-which-{hash(groups)}"
        left, right = st.columns(2)
        left.selectbox("Add a group", list(words), format_func=words.__getitem__, key=box)
        with right:
            role_choices.role_box("Role", f"{key}-group-as")
        st.form_submit_button(
            "Add the group", icon=":material/group_add:", on_click=_group_added, args=(page, box, f"{key}-group-as")
        )


def _group_added(page: ProjectPage, box: str, role: str) -> None:
    with frame.refusals_said_later(MemberError):
        number = members.invite_group(page.seat, st.session_state[box], st.session_state[role])
        st.session_state[state.FLASH] = f"{counted(number, 'person', 'people')} added"


# Qualification on the settings page: whether people answer known rows before they start, and who has passed.


def qualification_part(page: ProjectPage) -> None:
    """Draw the qualification settings."""
    now = qualification.overview(page.seat)
    if not now.possible:
        st.info(
            "A qualification needs rows with one right label. This project asks for several labels of a row, so people "
            "start at once.",
            icon=":material/info:",
        )
        return
    key, rule = f"{state.SETTINGS}-{page.project.id}-qualification", now.rule
    first = QualificationRule(min(5, max(1, now.marked)), 0.8)
    save = partial(qualification.change_rule, page.seat)
    frame.saved_field(
        f"{key}-on",
        rule is not None,
        partial(
            st.toggle,
            "Require a qualification",
            help="These answers are not part of the project, and no model learns from them. People who have answered "
            "here before skip it. Mark rows for it on the Review page, under *Example of its class*; held-out rows and "
            "blind checks cannot be marked.",
        ),
        lambda on: save(first if on else None),
        RoomError,
        hint="New annotators answer known rows first, and see after each whether they were right. "
        f"{counted(now.marked, 'row is', 'rows are')} marked for it.",
    )
    if rule is None:
        return
    frame.saved_field(
        f"{key}-rows",
        rule.rows,
        partial(st.number_input, "Rows", min_value=1, max_value=qualification.MOST_QUALIFYING),
        lambda rows: save(replace(rule, rows=rows)),
        RoomError,
        hint="How many known rows each new annotator answers.",
    )
    frame.saved_field(
        f"{key}-share",
        round(100 * rule.share),
        partial(st.number_input, "Required accuracy (%)", min_value=1, max_value=100, step=5),
        lambda share: save(replace(rule, share=share / 100)),
        RoomError,
        hint="They start once this share of their answers is right.",
    )
    _people(page, key, now.people)


def _people(page: ProjectPage, key: str, people: tuple[qualification.PersonQualified, ...]) -> None:
    if not people:
        st.info("No one is invited yet.", icon=":material/group:")
    for one in people:
        with st.container(border=True, horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(f"**{frame.escape(one.name)}** · {one.state}")
            if not one.may_start:
                st.button(
                    "Skip the qualification",
                    key=f"{key}-in-{one.person_id}",
                    on_click=_let_in,
                    args=(page, one.person_id, one.name),
                )


def _let_in(page: ProjectPage, person_id: int, name: str) -> None:
    with frame.refusals_said_later():
        qualification.admit_person(page.seat, person_id)
        st.session_state[state.FLASH] = f"{name} may start."
