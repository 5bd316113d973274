"""Export: the disambiguated table with the source of every label, and the log behind it."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame, vector_export
from workflow import exporting

page = frame.begin_project("Export", owner=True)
frame.project_title("Export", page)
stem = frame.file_stem(page)
if page.project.vectors:
    vector_export.draw(page, stem)
    st.stop()

SOURCES = {
    "given": "the file had one candidate",
    "oracle": "a person answered",
    "necessary": "every way to resolve the open rows gives this label",
    "model": "the model's best guess among the candidates left",
    "truth": "the file's true-label column",
    "open": "several candidates are left, and there is no model yet",
    "bad": "a person took it out as a bad item",
}

summary = exporting.summary(page.home, page.person.id, page.project.id)
left, right = st.columns([3, 2], gap="large")
with left:
    st.markdown("###### Where the labels come from")
    st.dataframe(
        {
            "Source": list(summary),
            "Rows": list(summary.values()),
            "Meaning": [SOURCES[source] for source in summary],
        },
        hide_index=True,
    )
    st.caption(
        "Every original column keeps its text exactly. Added: winnow_candidates, winnow_label, winnow_source, "
        "winnow_confidence, winnow_annotator, winnow_answered_at."
    )
with right:
    st.markdown("###### Download")
    st.download_button(
        "Labelled table (CSV)",
        data=lambda: exporting.export_csv(page.home, page.person.id, page.project.id),
        file_name=f"{stem}-winnowed.csv",
        mime="text/csv",
        icon=":material/download:",
        type="primary",
        on_click="ignore",
        width="stretch",
    )
    st.download_button(
        "Answer log (CSV)",
        data=lambda: exporting.export_log(page.home, page.person.id, page.project.id),
        file_name=f"{stem}-log.csv",
        mime="text/csv",
        icon=":material/history:",
        on_click="ignore",
        width="stretch",
    )
    st.caption(
        "The log has one line per answer, skip and withdrawal: who, when, why it was asked, what it changed."
    )

st.markdown("###### First rows")
st.dataframe(exporting.preview(page.home, page.person.id, page.project.id, 20), hide_index=True)
