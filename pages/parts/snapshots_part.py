"""Named snapshots of a project on the Export page: made, listed, and brought back by the box *As of*."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import streamlit as st

from pages.parts import frame, state
from pages.parts.frame import ProjectPage, escape
from pages.parts.words import counted
from workflow.outgoing import snapshots
from workflow.outgoing.snapshots import NamedSnapshot, SnapshotError

SHORT = 12
"""Letters of a hash that are enough to tell it from others of the same project."""
FEW = 4
"""Snapshots that the list shows at once; of more it scrolls."""
HEIGHT = 420


def draw_snapshots(page: ProjectPage, as_of: str) -> None:
    """The list, the latest first, and a way to make one. as_of : key of the box in which one of them is typed"""
    found = snapshots.list_snapshots(page.seat)
    with st.expander("Snapshots: names for states to come back to", icon=":material/bookmark:"):
        if not found:
            st.markdown(
                "There is none yet. Make one before you publish or cite the labels: whatever is answered afterwards, "
                "the same file can be taken away again later, and its SHA-256 shows that it is the same."
            )
        _make(page, len(found))
        with st.container(height=HEIGHT if len(found) > FEW else "content", border=False):
            for one in reversed(found):
                _draw(page, one, as_of)


def _make(page: ProjectPage, n_made: int) -> None:
    with (
        st.form(f"{state.EXPORT}-snapshot-{page.project.id}", border=False),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        name = st.text_input(
            "Name",
            placeholder="First release",
            max_chars=snapshots.NAME_LENGTH,
            key=f"{state.EXPORT}-snapshot-{page.project.id}-{n_made}",  # after one was made, an empty box
        )
        pressed = st.form_submit_button("Make a snapshot of now", icon=":material/bookmark_add:")
    if pressed:
        with (
            frame.refusals(SnapshotError, ValueError),
            st.spinner("Writing the table once for its SHA-256 ..."),
        ):
            snapshots.make_snapshot(page.seat, name)
            st.rerun()


def _draw(page: ProjectPage, one: NamedSnapshot, as_of: str) -> None:
    moment = one.made_at.astimezone(ZoneInfo(st.context.timezone or "UTC"))
    held = counted(one.seq, "entry", "entries") if one.seq else "before the first entry"
    key = f"{state.EXPORT}-snapshot-{page.project.id}-{one.name}"
    with st.container(border=True):
        st.markdown(f"**{escape(one.name)}**")
        by = f" by {escape(one.by)}" if one.by else ""
        st.caption(f"{held} · {moment:%Y-%m-%d %H:%M}{by}")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                "Export this",
                icon=":material/history:",
                key=f"{key}-show",
                help="Puts its name into the box “As of”: the page, and the files, are of that state then.",
                on_click=_show,
                args=(as_of, one.name),
            )
            with st.popover(f"SHA-256 {one.sha256[:SHORT]}…", key=f"{key}-hash"):
                st.markdown(
                    "SHA-256 of the table as CSV, all rows, which is the file that an export of it gives:"
                )
                st.code(one.sha256, language=None, wrap_lines=True)


def _show(as_of: str, name: str) -> None:
    st.session_state[as_of] = name
