"""The groups of classes of a project: a list, a file that sets them anew, and their end."""

from __future__ import annotations

import streamlit as st

from pages.parts import state
from pages.parts.file_box import file_box, let_go
from pages.parts.frame import ProjectPage, refusals
from pages.parts.import_check import show_problems
from pages.parts.words import counted
from workflow import room
from workflow.importing.arrivals import Arrived
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
    if now:
        _list(now)
        if st.button("Remove all groups", icon=":material/delete:", key=f"{KEY}-remove"):
            _set(page, {}, "Saved: no groups of classes")
    label, box = "A file of groups", f"groups-{page.project.id}"
    chosen = file_box(page.seat, f"{label}; its groups take the place of these" if now else label, key=box)
    if chosen is None:
        return
    found = _read(page, chosen)
    if found is None:
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
        let_go(page.seat, box)
        st.session_state.pop(f"{KEY}-read", None)
        _set(page, found, f"Saved: {counted(len(several), 'group')} of classes")


def _read(page: ProjectPage, chosen: Arrived) -> Groups | None:
    """The groups of the file, read once: this page is drawn anew at every press. None where there are none, which is
    said."""
    key = (page.project.id, chosen.key, room.class_names(page.seat))
    known = st.session_state.get(f"{KEY}-read")
    if known is None or known[0] != key:
        try:
            known = key, room.groups_in_file(page.seat, chosen.path, chosen.name), ()
        except TableError as error:
            known = key, None, error.problems
        st.session_state[f"{KEY}-read"] = known
    if known[1] is None:
        show_problems(known[2], "these can be groups")
    found: Groups | None = known[1]
    return found


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
