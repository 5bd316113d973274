"""How far people agree, on the Team page: a plain reading first, the names of the methods one step down."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.parts import figure_words, frame
from pages.parts.words import counted
from workflow.people.agreement import AgreementOf, Pair
from workflow.people.figures import Team

METHOD = (
    "Krippendorff's alpha: 0 is chance, 1 is always. Good enough for most uses from .80. An interval of 95 % from "
    "rows drawn anew."
)
BIASED = (
    "Rows that were chosen because they are hard make people differ more than they would on random ones: "
    "this figure is too low for the table as a whole."
)


def agreement_part(team: Team) -> None:
    """Below the people."""
    st.markdown("###### How far do they agree?")
    left, right = st.columns(2)
    with left:
        _of("On blind checks, which are random", team.agreement.checks)
    with right:
        _of("On all rows that several have answered", team.agreement.everywhere, BIASED)
    if team.agreement.pairs:
        st.markdown(
            "###### Who agrees with whom",
            help="How often both said the very same; Cohen's kappa is how far that is beyond chance.",
        )
        _pairs(team)


def _of(where: str, found: AgreementOf, warning: str = "") -> None:
    st.markdown(f"**{where}**")
    if found.alpha.reason:
        st.caption(found.alpha.reason)
        return
    st.markdown(f"{found.alpha.reading} {figure_words.figure(found.alpha)}", help=METHOD)
    st.caption(
        f"From {counted(found.alpha.n_rows, 'question')} that at least two people have answered. {warning}"
    )
    with st.expander("Other measures", key=f"measures-{where}"):
        lines = [("Counting what two sets share (alpha on sets)", found.on_sets), ("Gwet's AC1", found.ac1)]
        lines += [(f"{frame.escape(label)} (alpha)", one) for label, one in found.by_label]
        st.markdown(
            "\n".join(
                f"- {name}: {one.reason or (figure_words.figure(one) if one.low == one.low else f'{one.value:.2f}')}"
                for name, one in lines
            )
        )


def _pairs(team: Team) -> None:
    names = {one.person_id: one.name for one in team.people}

    def line(pair: Pair) -> dict[str, object]:
        return {
            "One": names[pair.one],
            "Other": names[pair.other],
            "Shared": pair.n_rows,
            "Same": figure_words.share(pair.share),
            "Beyond chance": pair.kappa.reason or f"{pair.kappa.value:.2f}",
        }

    st.dataframe(pd.DataFrame([line(one) for one in team.agreement.pairs]), hide_index=True, width="stretch")
