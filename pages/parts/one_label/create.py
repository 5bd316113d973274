"""The Import page for tables of candidates: a summary, and model and question settings."""

from __future__ import annotations

import streamlit as st

from pages.parts.create_parts import HELD_OUT, kept_files
from pages.parts.frame import escape
from workflow.importing import LabelTable
from workflow.kinds.one_label.settings import (
    AUTOMATIC,
    CHOICES,
    COVER_HELP,
    WEIGHING,
    LearnerSettings,
    first_strategy,
    first_truth_role,
    in_a_row,
    needs_neighbors,
    strategies_for,
)

FIRST_QUESTION = "Which one is it?"
PREPARING = "Finding each row's neighbours …"


def summary(table: LabelTable) -> None:
    """Draw how the file is read with the chosen columns."""
    per_row = table.candidates.sum(axis=1)
    rows, classes, ambiguous, average = st.columns(4)
    rows.metric("Rows", f"{table.n_rows:,}")
    classes.metric("Classes", f"{len(table.classes):,}", help=escape(", ".join(table.classes[:40])))
    ambiguous.metric("Ambiguous rows", f"{int((per_row > 1).sum()):,}", help="Rows with two or more candidates.")
    average.metric("Candidates per row", f"{per_row.mean():.2f}")
    kept_files(table)
    if table.candidate_weights is not None:
        st.caption(
            f"{in_a_row(WEIGHING)} also use the scores of the candidates, under *Automatic*, too. Other models use "
            "only the list of candidates."
        )
    if not (per_row > 1).any():
        st.info("Every row has one candidate already, so there is nothing to ask.", icon=":material/info:")


def settings(table: LabelTable, checks: int) -> LearnerSettings:
    """Draw the settings form. checks : per cent of blind checks by default, if no truth is held out"""
    truth_share, truth_role = 0.0, "given"
    if table.truth is not None:
        left, right = st.columns(2)
        truth_share = left.select_slider(
            "Rows held out to measure accuracy",
            options=list(HELD_OUT),
            value=1 / 3,
            format_func=HELD_OUT.__getitem__,
            help="Drawn at random from the rows with a true label. They are never asked and never trained on.",
        )
        roles = ["given", "hidden"]
        truth_role = right.selectbox(
            "The other true labels",
            roles,
            index=roles.index(first_truth_role(table)),
            format_func={"given": "are used: no one is asked", "hidden": "stay hidden: a dry run"}.__getitem__,
        )
        st.caption(
            "Used: the model learns from them, and these rows are done. Hidden: these rows are asked as "
            "if unknown, and Winnow can answer with the hidden labels in a dry run."
        )
    left, right = st.columns(2)
    model = left.selectbox(
        "Model",
        list(CHOICES),
        format_func=CHOICES.__getitem__,
        help="Automatic: starts with PL-KNN, then compares all models on this table, without true labels, "
        "and uses the best. Progress reports it; you can switch back on the Models page.",
    )
    strategies = strategies_for(model)
    proposed = first_strategy(table)
    strategy = right.selectbox(
        "Question order",
        list(strategies),
        index=list(strategies).index(proposed),
        format_func=strategies.__getitem__,
        help=COVER_HELP,
    )
    if proposed != AUTOMATIC:
        st.caption(
            "Nearly every row may be nearly every class, so Cover is proposed. It asks representative "
            "rows first, and later the rows that the model needs most."
        )
    neighbors = LearnerSettings.n_neighbors
    if needs_neighbors(model, strategy):
        neighbors = st.number_input(
            "Neighbours (K)",
            min_value=1,
            max_value=50,
            value=neighbors,
            help="How many similar rows vote for a row's label. Fewer follow fine detail, more smooth out noise.",
        )
    share = st.number_input(
        "Blind checks (% of the questions)",
        min_value=0,
        max_value=50,
        value=0 if truth_share else checks,
        help="Some questions are drawn at random and look like all others. Their answers measure the "
        "model and never train it. Use them if no true labels are held out."
        " Fixed once the project is created.",
    )
    return LearnerSettings(
        n_neighbors=int(neighbors),
        model=model,
        strategy=strategy,
        test_share=truth_share,
        truth_role=truth_role,
        control_share=share / 100,
    )
