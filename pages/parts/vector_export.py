"""The Export page of a project of label vectors."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.parts.frame import ProjectPage
from workflow import exporting, vector_exporting

SOURCES = {
    "given": "known in the file",
    "oracle": "a person answered",
    "model": "not asked: the cell stays empty, the model's probability stands beside it",
    "truth": "a held-out row of the file",
    "bad": "taken out as a bad item",
}


def draw(page: ProjectPage, stem: str) -> None:
    """The whole page below its heading. stem : of the names of the files"""
    ids = (page.home, page.person.id, page.project.id)
    summary = vector_exporting.summary(*ids)
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.markdown("###### Where the labels come from")
        st.dataframe(
            {
                "Source": list(summary),
                "Cells": list(summary.values()),
                "Meaning": [SOURCES[source] for source in summary],
            },
            hide_index=True,
        )
        st.caption(
            "1 is yes, 0 is no, an empty cell was not asked: it is never written as 0. Added for each label: "
            "winnow_probability and winnow_source."
        )
    with right:
        st.markdown("###### Download")
        for label, name, make, icon in (
            ("Label vectors (CSV)", "winnowed", vector_exporting.wide_csv, ":material/download:"),
            ("One line for each cell (CSV)", "cells", vector_exporting.long_csv, ":material/table_rows:"),
            ("Answer log (CSV)", "log", exporting.export_log, ":material/history:"),
        ):
            st.download_button(
                label,
                data=partial(make, *ids),
                file_name=f"{stem}-{name}.csv",
                mime="text/csv",
                icon=icon,
                type="primary" if name == "winnowed" else "secondary",
                on_click="ignore",
                width="stretch",
            )
        st.caption(
            "The log has one line per answer, skip and withdrawal: who, when, why it was asked, what it changed."
        )
    st.markdown("###### First rows")
    st.dataframe(vector_exporting.preview(*ids, 20), hide_index=True)
