"""What the Import page has in common for tables of all kinds."""

from __future__ import annotations

import streamlit as st

from workflow.importing import LabelTable

HELD_OUT = {0.0: "none", 0.1: "10 %", 0.2: "20 %", 1 / 3: "a third", 0.5: "half"}
"""Shares of rows that can be held out."""


def kept_files(table: LabelTable) -> None:
    """How many files the rows name; nothing where they name none."""
    if files := table.media.kept_names():
        st.caption(
            f"{len(files):,} different files are named by the rows, each found in the zip and readable."
        )
