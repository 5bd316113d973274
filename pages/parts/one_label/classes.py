"""The classes of a project: a list with counts, and forms that add, rename, merge and take back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from pages.parts import state
from pages.parts.class_box import LISTED, class_box, with_in_name
from pages.parts.frame import ProjectPage, escape, refusals_said_later
from workflow import classes as use_case
from workflow.classes import ClassCount, ClassError, ClassesView

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
            "Rows with it among others": [one.open for one in shown],
            "Rows with it alone": [one.decided for one in shown],
        },
        hide_index=True,
        height=min(390, 38 + 35 * max(1, len(shown))),
    )
    what = st.radio("Change the classes", [ADD, RENAME, MERGE], horizontal=True, key=f"{key}-what")
    names = [one.name for one in view.classes]

    def change(kind: str, *given: str) -> None:
        _tried(
            lambda: use_case.change_classes(page.seat, view.version, kind, given),
            f"{kind}: {', '.join(given)}",
        )

    if what == ADD:
        _add(key, change)
    elif what == RENAME:
        _rename(page, names, key, change)
    else:
        _merge(page, names, key, change)
    if view.latest is not None:
        _take_back(page, view, key)
    st.caption(
        "The file you imported keeps its text. Every change is a line of the log, and so is its taking back."
    )


def _found(key: str, classes: Sequence[ClassCount]) -> Sequence[ClassCount]:
    """Those that are listed: of thousands the first that have what is looked for in their name."""
    if len(classes) <= LISTED:
        return classes
    words = st.text_input("Find a class", placeholder="part of its name", key=f"{key}-find", width=300)
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
    st.caption("No row carries a new class by itself: people give it where none of the candidates is right.")


def _rename(page: ProjectPage, names: list[str], key: str, change: Callable[..., None]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        old = class_box("Class", names, placeholder="choose one", key=f"{key}-old", width=240)
        new = st.text_input("New name", key=f"{key}-name", width=240)
    if old and new.strip():
        st.markdown(f"{escape(old)} will be called {escape(new.strip())} in {_touched(page, old)}.")
        st.button(
            "Rename it", type="primary", on_click=change, args=("rename", old, new), key=f"{key}-rename"
        )


def _merge(page: ProjectPage, names: list[str], key: str, change: Callable[..., None]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        away = class_box("Merge", names, placeholder="choose one", key=f"{key}-from", width=240)
        others = [name for name in names if name != away]
        into = class_box("into", others, placeholder="choose one", key=f"{key}-into", width=240)
    if away and into:
        st.markdown(
            f"{escape(away)} will become {escape(into)} in {_touched(page, away)}. "
            "Rows that could be either will have this one label."
        )
        st.button(
            "Merge them", type="primary", on_click=change, args=("merge", away, into), key=f"{key}-merge"
        )


def _touched(page: ProjectPage, name: str) -> str:
    found = use_case.touched(page.seat, name)
    return (
        f"**{found.rows:,} {'row' if found.rows == 1 else 'rows'}** and "
        f"**{found.answers:,} {'answer' if found.answers == 1 else 'answers'}**"
    )


def _take_back(page: ProjectPage, view: ClassesView, key: str) -> None:
    kind, *given = view.latest or ("",)
    words = {
        "add": "added {0}",
        "rename": "renamed {0} to {1}",
        "merge": "merged {0} into {1}",
    }[kind].format(*given)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"Latest change: {escape(words)}.")
        st.button(
            "Take it back",
            icon=":material/undo:",
            on_click=_tried,
            args=(lambda: use_case.take_back(page.seat, view.version), f"taken back: {words}"),
            key=f"{key}-back",
        )


def _tried(change: Callable[[], object], words: str) -> None:
    """Make the change; at the next drawing the page says these words, or why it was refused."""
    with refusals_said_later(ClassError):
        change()
        st.session_state[state.FLASH] = f"Saved: {words}"
