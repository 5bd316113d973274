"""The classes of a project: a list with counts, and forms to add, rename, merge and withdraw classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from pages.parts import state
from pages.parts.class_box import LISTED, class_box, with_in_name
from pages.parts.frame import ProjectPage, escape, refusals, refusals_said_later
from pages.parts.importing.uploads import file_box, let_go, made_once
from pages.parts.words import counted
from workflow.answering import room
from workflow.answering.room import Groups, RoomError
from workflow.projects import classes as use_case
from workflow.projects.classes import ClassCount, ClassError, ClassesView

ADD, RENAME, MERGE = "Add", "Rename", "Merge"


def classes_part(page: ProjectPage) -> None:
    """Draw everything about classes."""
    view = use_case.classes_view(page.seat)
    key = f"{state.SETTINGS}-classes-{page.project.id}-{view.version}"
    shown = _found(key, view.classes)
    st.dataframe(
        {
            "Class": [one.name for one in shown],
            "Earlier names": [", ".join(one.earlier) for one in shown],
            "Rows with other candidates": [one.open for one in shown],
            "Rows with only this": [one.decided for one in shown],
        },
        hide_index=True,
        height=min(390, 38 + 35 * max(1, len(shown))),
    )
    what = st.radio("Change the classes", [ADD, RENAME, MERGE], horizontal=True, key=f"{key}-what")
    names = [one.name for one in view.classes]

    def change(kind: str, *given: str) -> None:
        _tried(lambda: use_case.change_classes(page.seat, view.version, kind, given), f"{kind}: {', '.join(given)}")

    if what == ADD:
        _add(key, change)
    elif what == RENAME:
        _rename(page, names, key, change)
    else:
        _merge(page, names, key, change)
    if view.latest is not None:
        _take_back(page, view, key)
    st.caption("The file you imported keeps its text. Every change, and every undo, is logged.")


def _found(key: str, classes: Sequence[ClassCount]) -> Sequence[ClassCount]:
    """Return the classes in the list: with thousands, the first whose name contains the search text."""
    if len(classes) <= LISTED:
        return classes
    words = st.text_input("Find a class", placeholder="part of the name", key=f"{key}-find", width=300)
    names = set(with_in_name([one.name for one in classes], words))
    found = [one for one in classes if one.name in names]
    st.caption(f"{min(len(found), LISTED):,} of {len(classes):,} classes are listed.")
    return found[:LISTED]


def _add(key: str, change: Callable[..., None]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input("New class", key=f"{key}-new", width=300)
        st.button(
            "Add the class",
            type="primary",
            disabled=not name.strip(),
            on_click=change,
            args=("add", name),
            key=f"{key}-add",
        )
    st.caption("No row has a new class yet: annotators assign it if no candidate is right.")


def _rename(page: ProjectPage, names: list[str], key: str, change: Callable[..., None]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        old = class_box("Class", names, placeholder="choose one", key=f"{key}-old", width=240)
        new = st.text_input("New name", key=f"{key}-name", width=240)
    if old and new.strip():
        st.markdown(f"{escape(old)} will be called {escape(new.strip())} in {_touched(page, old)}.")
        st.button("Rename it", type="primary", on_click=change, args=("rename", old, new), key=f"{key}-rename")


def _merge(page: ProjectPage, names: list[str], key: str, change: Callable[..., None]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        away = class_box("Merge", names, placeholder="choose one", key=f"{key}-from", width=240)
        others = [name for name in names if name != away]
        into = class_box("into", others, placeholder="choose one", key=f"{key}-into", width=240)
    if away and into:
        st.markdown(
            f"{escape(away)} will become {escape(into)} in {_touched(page, away)}. "
            "Rows that could be either get this label."
        )
        st.button("Merge them", type="primary", on_click=change, args=("merge", away, into), key=f"{key}-merge")


def _touched(page: ProjectPage, name: str) -> str:
    found = use_case.touched(page.seat, name)
    return (
        f"**{found.rows:,} {'row' if found.rows == 1 else 'rows'}** and "
        f"**{found.answers:,} {'answer' if found.answers == 1 else 'answers'}**"
    )


def _take_back(page: ProjectPage, view: ClassesView, key: str) -> None:
    kind, *given = view.latest or ("",)
    words = {"add": "added {0}", "rename": "renamed {0} to {1}", "merge": "merged {0} into {1}"}[kind].format(*given)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"Latest change: {escape(words)}.")
        st.button(
            "Undo",
            icon=":material/undo:",
            on_click=_tried,
            args=(lambda: use_case.take_back(page.seat, view.version), f"undone: {words}"),
            key=f"{key}-back",
        )


def _tried(change: Callable[[], object], words: str) -> None:
    """Make the change; the next redraw shows `words`, or why it was refused."""
    with refusals_said_later(ClassError):
        change()
        st.session_state[state.FLASH] = f"Saved: {words}"


# The groups of classes of a project: a list, a file that replaces them, and their removal.

KEY = f"{state.SETTINGS}-groups"


def groups_part(page: ProjectPage) -> None:
    """Draw everything about groups."""
    now = room.groups_of(page.seat)
    st.markdown("### Groups of classes")
    st.markdown(
        "A genus is a group of its species: **W** on the card answers that it is one of a group. Groups come with a "
        "taxonomy at import, or from a file with a class in its first column and its groups next to it, such as "
        "`class,genus,family`."
    )
    if now:
        _list(now)
        if st.button("Remove all groups", icon=":material/delete:", key=f"{KEY}-remove"):
            _set(page, {}, "Saved: no groups of classes")
    label, box = "A file of groups", f"groups-{page.project.id}"
    chosen = file_box(page.seat, f"{label}; its groups replace these" if now else label, key=box)
    if chosen is None:
        return
    found = made_once(
        f"{KEY}-read",
        (page.project.id, chosen.key, room.class_names(page.seat)),
        lambda: room.groups_in_file(page.seat, chosen.path, chosen.name),
        "these can be groups",
    )
    if found is None:
        return
    several = {name: classes for name, classes in found.items() if len(classes) > 1}
    _list(several)
    if alone := len(found) - len(several):
        st.caption(f"{counted(alone, 'group')} of one class, which adds nothing to the class itself.")
    if st.button(
        f"Use {'this group' if len(several) == 1 else 'these groups'}",
        type="primary",
        disabled=not several,
        key=f"{KEY}-use",
    ):
        let_go(page.seat, box)
        st.session_state.pop(f"{KEY}-read", None)
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
