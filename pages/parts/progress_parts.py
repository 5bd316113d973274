"""What the Progress pages of all kinds of project show in the same way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from pages.parts import charts
from pages.parts.words import counted
from workflow.progress import LabelCount


def number(label: str, value: str, note: str, about: str) -> None:
    """A large figure with a note under it and, where it is pointed at, what it is about."""
    st.metric(label, value, delta=note or None, delta_color="off", delta_arrow="off", help=about, width=150)


def count(label: str, how_many: int, unit: str, about: str) -> None:
    """A number of rows or labels as a large figure. unit : of one of them"""
    number(label, f"{how_many:,}", unit if how_many == 1 else f"{unit}s", about)


def too_few(label: str, measured: int, unit: str) -> None:
    """In the place of a figure that would be measured on fewer than `workflow.progress.FEWEST_MEASURED`."""
    with st.container(width=150, gap="xxsmall"):
        st.caption(label)
        st.markdown(f"too few {unit}s ({measured:,}) to measure")


def undecided_checks(how_many: int, unit: str) -> None:
    """That some blind checks are left out of the figures, where there are some. unit : of one of them"""
    if how_many:
        st.caption(
            f"{counted(how_many, f'{unit} that is a blind check', f'{unit}s that are blind checks')} "
            f"{'is' if how_many == 1 else 'are'} not counted in the accuracy: people differ, and what they say leaves "
            "no one answer. A verdict decides."
        )


def since(answers: np.ndarray) -> str:
    """Where a curve begins, as the end of its caption; nothing where it begins with the first answer."""
    if not len(answers) or not answers[0]:
        return ""
    return (
        f" Measured since the model was changed or first trained, after {counted(int(answers[0]), 'answer')}."
    )


def rows_per_label(labels: Sequence[LabelCount]) -> None:
    """Rows that have each label: by answers, and as given at import."""
    if not labels:
        return
    st.markdown("###### Rows per label")
    names = [one.label for one in labels]
    answered, given = [one.answered for one in labels], [one.given for one in labels]
    charts.show(
        charts.label_bars(names, answered, given),
        {"label": names, "answered": answered, "given_at_import": given},
        key="labels",
        alt=f"Rows per label: {sum(answered):,} by answers, {sum(given):,} given at import",
    )
    if len(names) > charts.MOST_LABELS:
        st.caption(f"The first {charts.MOST_LABELS} of {len(names):,} labels; all are in the data.")
