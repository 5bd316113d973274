"""The files that a person has asked for: how far each is, and where to fetch it."""

from __future__ import annotations

import html

import streamlit as st

from pages.parts import frame, state
from pages.parts.frame import ProjectPage, escape
from pages.parts.words import counted, percent, size
from workflow import exporting
from workflow.exporting import PreparedFile


def draw_files(page: ProjectPage, seq: int) -> None:
    """Those of this project, the latest first. seq : of the log's latest entry

    While one is being written this part of the page looks again every second.
    """
    unfinished = any(file.unfinished for file in exporting.prepared(page.seat))

    @st.fragment(run_every=1.0 if unfinished else None)
    def files() -> None:
        found = exporting.prepared(page.seat)
        if unfinished and not any(file.unfinished for file in found):
            st.rerun()  # the whole page, which then looks no more
        for file in found:
            with st.container(key=f"{state.EXPORT}-{file.key}"):
                _draw(page, file, seq)

    files()


def _draw(page: ProjectPage, file: PreparedFile, seq: int) -> None:
    if file.state == exporting.READY:
        _link(page, file)
        if file.seq < seq and not file.of_then:
            st.caption(
                f"Without the latest {counted(seq - file.seq, 'entry', 'entries')} of the log: prepare it anew."
            )
        return
    if file.state == exporting.FAILED:
        st.error(f"{escape(file.file_name)}: {escape(file.fault)}", icon=":material/error:")
        return
    if file.state == exporting.WAITING:
        st.markdown(f"{escape(file.file_name)} waits until other files are written.")
    else:
        share = min(1.0, file.done / max(1, file.total))
        so_far = f"{file.done:,} of {file.total:,} rows" if file.counts_rows else percent(share)
        st.progress(share, f"{escape(file.file_name)}: {so_far}")
    if st.button("Cancel", icon=":material/close:", key=f"{state.EXPORT}-cancel-{file.key}"):
        with frame.refusals():
            exporting.remove(page.seat, file.key)
            st.rerun()


def _link(page: ProjectPage, file: PreparedFile) -> None:
    """A link that the browser itself follows: the file goes from the disk to it, and through no memory of the page."""
    address = f"{exporting.PATH.lstrip('/')}/{page.project.id}/{file.key}"
    name = html.escape(file.file_name)
    st.html(
        f'<a class="winnow-download" href="{html.escape(address)}" download="{name}">Download {name}</a>'
        f'<span class="winnow-download-size">{size(file.size)}</span>'
    )
