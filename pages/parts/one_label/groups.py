"""The groups of classes of a project: a list, a file that sets them anew, and their end."""

from __future__ import annotations

import streamlit as st

from pages.parts import state
from pages.parts.frame import ProjectPage, refusals
from pages.parts.import_check import show_problems
from pages.parts.words import counted
from workflow import room
from workflow.room import Groups, RoomError, TableError

KEY = f"{state.SETTINGS}-groups"


def groups_part(page: ProjectPage) -> None:
    """Draw everything about groups."""
    now = room.groups_of(page.seat)
    st.markdown("##### Groups of classes")
    st.markdown(
        "A genus is a group of its species: **W** on the card answers that it is one of a group. Groups come with a "
        "taxonomy at import, or from a file with a class in its first column and its groups beside it, such as "
        "`class,genus,family`."
    )
    uses = st.session_state.setdefault(KEY, 0)  # another number is another, empty uploader
    if now:
        _list(now)
        if st.button("Remove all groups", icon=":material/delete:", key=f"{KEY}-remove"):
            _set(page, {}, "Saved: no groups of classes")
    chosen = st.file_uploader(
        "A file of groups" + ("; its groups take the place of these" if now else ""),
        key=f"{KEY}-{page.project.id}-{uses}",
    )
    if chosen is None:
        return
    try:
        found = room.groups_in_file(page.seat, chosen.getvalue(), chosen.name)
    except TableError as error:
        show_problems(error.problems, "these can be groups")
        return
    several = {name: classes for name, classes in found.items() if len(classes) > 1}
    _list(several)
    if alone := len(found) - len(several):
        st.caption(f"{counted(alone, 'group')} of one class: no other answer than the class itself.")
    if st.button(
        f"Use {'this group' if len(several) == 1 else f'these {len(several):,} groups'}",
        type="primary",
        disabled=not several,
        key=f"{KEY}-use",
    ):
        st.session_state[KEY] = uses + 1
        _set(page, found, f"Saved: {counted(len(several), 'group')} of classes")


def _list(groups: Groups) -> None:
    st.dataframe(
        {
            "Group": list(groups),
            "Classes": [len(classes) for classes in groups.values()],
            "Which": [", ".join(classes) for classes in groups.values()],
        },
        hide_index=True,
        height=min(250, 38 + 35 * len(groups)),
        column_config={"Classes": st.column_config.NumberColumn(width="small")},
    )


def _set(page: ProjectPage, groups: Groups, words: str) -> None:
    with refusals(RoomError):
        room.set_groups(page.seat, groups)
        st.session_state[state.FLASH] = words
        st.rerun()
