"""Groups of people: a part of the People page. A group is added to a project at once, in the project's settings."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.parts import frame, state
from pages.parts.frame import Page
from pages.parts.words import counted
from workflow.people import groups, team
from workflow.people.groups import Group, GroupError


def groups_part(page: Page) -> None:
    """Each group with its people, and the form that makes a new one. Nothing where there is nobody to be in one."""
    names = {one.id: one.name for one in team.list_people(page.seat) if not one.is_owner}
    if not names:
        return
    st.subheader("Groups")
    st.caption("People whom you add to projects together. A group by itself gives nobody any rights.")
    for group in groups.list_groups(page.seat):
        with st.expander(f"{frame.escape(group.name)} ({counted(len(group.people), 'person', 'people')})"):
            _change_form(page, group, names)
    with st.form(f"{state.GROUPS}-new", border=True):
        name, people = f"{state.GROUPS}-new-name", f"{state.GROUPS}-new-people-{hash(tuple(names.items()))}"
        st.text_input("Name of a new group", max_chars=groups.NAME_LENGTH, placeholder="Experts", key=name)
        _people_box(names, people)
        st.form_submit_button(
            "Make the group", icon=":material/group_add:", on_click=_make, args=(page, name, people)
        )


def _change_form(page: Page, group: Group, names: dict[int, str]) -> None:
    # What it was drawn with is part of the key, so that a change made elsewhere is a new box.
    key = f"{state.GROUPS}-{group.id}-{hash((group, tuple(names.items())))}"
    with st.form(f"{key}-form", border=False):
        st.text_input("Name", group.name, max_chars=groups.NAME_LENGTH, key=f"{key}-name")
        _people_box(names, f"{key}-people", [one for one in group.people if one in names])
        with st.container(horizontal=True):
            st.form_submit_button("Save", type="primary", on_click=_change, args=(page, group, key))
            st.form_submit_button(
                "Remove the group",
                on_click=_do,
                args=(lambda: groups.remove_group(page.seat, group.id), f"{group.name} is removed"),
            )


def _people_box(names: dict[int, str], key: str, chosen: list[int] | None = None) -> None:
    st.multiselect(
        "People in it",
        list(names),
        default=chosen,
        format_func=names.__getitem__,
        key=key,
        placeholder="choose names",
    )


def _make(page: Page, name: str, people: str) -> None:
    typed = st.session_state[name]
    with frame.refusals_said_later(GroupError):
        groups.make_group(page.seat, typed, st.session_state[people])
        st.session_state[name], st.session_state[people] = "", []
        st.session_state[state.FLASH] = f"{typed.strip()} is made"


def _change(page: Page, group: Group, key: str) -> None:
    name, people = st.session_state[f"{key}-name"], st.session_state[f"{key}-people"]
    _do(lambda: groups.change_group(page.seat, group.id, name, people), f"{name.strip()} is saved")


def _do(act: Callable[[], object], words: str) -> None:
    with frame.refusals_said_later(GroupError):
        act()
        st.session_state[state.FLASH] = words
