"""The Import page for tables of label vectors: a summary, and the question settings."""

from __future__ import annotations

import streamlit as st

from pages.parts.create_parts import HELD_OUT, kept_files
from pages.parts.frame import escape
from pages.parts.words import percent
from workflow.importing import LabelTable
from workflow.kinds.label_vectors.settings import (
    CRITERIA,
    FEWEST_HELD_OUT,
    MODELS,
    QUESTIONS,
    LabelVectorSettings,
    default_settings,
    vectors_of,
)

FIRST_QUESTION = "Which labels are right?"
PREPARING = "Preparing the questions …"


def summary(table: LabelTable) -> None:
    """Draw how the file is read with the chosen columns."""
    cells = vectors_of(table)
    known = cells >= 0
    rows, labels, share, full = st.columns(4)
    rows.metric("Rows", f"{table.n_rows:,}")
    labels.metric("Labels", f"{len(table.classes):,}", help=escape(", ".join(table.classes[:40])))
    share.metric("Known cells", percent(known.mean(), 1), help="Cells with 1 or 0; the empty ones were not asked.")
    full.metric("Rows fully known", f"{int(known.all(axis=1).sum()):,}")
    kept_files(table)
    if known.all():
        st.info("Every cell is known already, so there is nothing to ask.", icon=":material/info:")
    if not (cells == 0).any():
        st.warning(
            "No cell is “no”. The model needs some to learn from; until then its probabilities are too "
            "high. Fix: name a column of labels that are not right, or write 0 for known negatives.",
            icon=":material/warning:",
        )
    never = [name for name, right in zip(table.classes, (cells == 1).any(axis=0).tolist(), strict=True) if not right]
    if never:
        shown = escape(", ".join(never[:8])) + (f" and {len(never) - 8:,} more" if len(never) > 8 else "")
        st.caption(f"Not yet “yes” for any row: {shown}. The model cannot predict these until one is found.")


def settings(table: LabelTable, checks: int) -> LabelVectorSettings:
    """Draw the settings form. checks : per cent of blind checks by default, if too few rows can be held
    out"""
    usual = default_settings(table, checks / 100)
    full = bool((vectors_of(table) >= 0).all(axis=1).any())
    held_out = 0.0
    if full:
        held_out = st.select_slider(
            "Rows held out to measure precision and F1",
            options=list(HELD_OUT),
            value=usual.test_share,
            format_func=HELD_OUT.__getitem__,
            help="Drawn at random from the rows whose labels are all known. They are never asked and never trained on.",
        )
    left, right = st.columns(2)
    question = left.selectbox("Question type", list(QUESTIONS), format_func=QUESTIONS.__getitem__)
    criterion = right.selectbox(
        "Question order",
        list(CRITERIA),
        index=None,
        format_func=CRITERIA.__getitem__,
        placeholder="default of the question type",
    )
    model = st.selectbox(
        "Predicted by",
        list(MODELS),
        format_func=MODELS.__getitem__,
        help="BML-CS chooses the questions, no matter which model predicts. You can change this at any time.",
    )
    share = st.number_input(
        "Blind checks (% of the questions)",
        min_value=0,
        max_value=50,
        value=round(100 * usual.control_share),
        help="Some questions are drawn at random and look like all others. Their answers measure the "
        "model and never train it. Use them if fewer than"
        f" {FEWEST_HELD_OUT} rows are held out. Fixed once "
        "the project is created.",
    )
    return LabelVectorSettings(
        model=model, question=question, criterion=criterion, test_share=held_out, control_share=share / 100
    )
