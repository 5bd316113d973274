"""Export: the disambiguated table with the source of every label, and the log behind it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.parts import frame, kinds
from workflow import exporting

PREVIEW_ROWS = 20

page = frame.begin_project("Export", owner=True)
frame.project_title("Export", page)
stem = frame.file_stem(page)
words = kinds.parts_of(page).EXPORT

summary = exporting.sources(page.seat)
left, right = st.columns([3, 2], gap="large")
with left:
    st.markdown("###### Where the labels come from")
    st.dataframe(
        {
            "Source": list(summary),
            words.counted: list(summary.values()),
            "Meaning": [words.sources[source] for source in summary],
        },
        hide_index=True,
    )
    st.caption(words.about)
with right:
    st.markdown("###### Download")
    for file in words.files:
        st.download_button(
            file.title,
            data=partial(exporting.export_file, page.seat, file.name),
            file_name=f"{stem}-{file.end}.csv",
            mime="text/csv",
            icon=f":material/{file.icon}:",
            type="primary" if file is words.files[0] else "secondary",
            on_click="ignore",
            width="stretch",
        )
    st.caption(
        "The log has one line per answer, skip and withdrawal: who, when, why it was asked, what it changed."
    )

st.markdown("###### First rows")
st.dataframe(exporting.preview(page.seat, PREVIEW_ROWS), hide_index=True)
