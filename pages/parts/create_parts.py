"""Common parts of the Import page for tables of all kinds."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from pages.parts import frame
from pages.parts.words import counted, either, percent
from workflow.importing import LabelTable
from workflow.importing.crowd import EarlierVotes, Voter, earlier_votes, reliability

HELD_OUT = {0.0: "none", 0.1: "10%", 0.2: "20%", 1 / 3: "a third", 0.5: "half"}
"""Shares of rows that can be held out."""


def kept_files(table: LabelTable) -> None:
    """Say how many files the rows name; nothing if none."""
    if files := table.media.kept_names():
        st.caption(
            f"{counted(len(files), 'different file')} {either(len(files), 'is', 'are')} named by the rows, each found "
            "in the zip and readable."
        )


# Imported votes: the voters, inter-annotator agreement, and how often each voter is right.

NO_NAMES = (
    "The table of this project has no voters. Votes can be imported as a table of task, worker and label, "
    "with one column for each annotator, or from another tool's own export."
)


def votes_before(table: LabelTable) -> EarlierVotes | None:
    """Return facts about the imported votes of a table, before the import."""
    place = st.empty()
    found = reliability(table, lambda share: _looking(place, share))
    place.empty()
    return found


def _looking(place: st.delta_generator.DeltaGenerator, share: float) -> None:
    place.progress(share, text=f"Comparing the votes … {percent(share)}")


def earlier_votes_part(page: frame.Page) -> None:
    """Show the same for the project's table."""
    place = st.empty()
    found = earlier_votes(page.seat, lambda share: _looking(place, share))
    place.empty()
    if found is None:
        st.info(NO_NAMES, icon=":material/how_to_vote:")
    else:
        show_earlier_votes(found)


def show_earlier_votes(found: EarlierVotes) -> None:
    """Draw a summary, the voters who seem to guess, and a line for each voter."""
    st.markdown(in_words(found))
    warned = [one for one in found.voters if one.warning]
    if warned:
        lines = [f"- **{frame.escape(one.name)}**: {frame.escape(one.warning)}" for one in warned]
        many = "One voter seems" if len(warned) == 1 else f"{len(warned):,} voters seem"
        st.warning(f"{many} to guess.\n\n" + "\n".join(lines[:10]), icon=":material/casino:")
    st.dataframe(
        pd.DataFrame([_line(one) for one in found.voters]),
        hide_index=True,
        height=min(320, 38 + 35 * len(found.voters)),
        column_config={
            "Votes": st.column_config.NumberColumn(format="localized"),
            "Agrees with others": st.column_config.NumberColumn(
                format="%.0f%%", help="Share of other voters' votes on the same rows that match."
            ),
            "Estimated right": st.column_config.NumberColumn(
                format="%.0f%%",
                help="An estimate without any true label, from all votes together (Dawid-Skene). Voters "
                "with few votes are assumed to be about average.",
            ),
        },
    )


def in_words(found: EarlierVotes) -> str:
    """Return the number of voters and their inter-annotator agreement in words."""
    said = f"{len(found.voters):,} voters gave {counted(found.n_votes, 'vote')} on {counted(found.n_rows, 'row')}. "
    if math.isnan(found.alpha):
        said += f"Agreement cannot be computed: {found.why_no_alpha[:1].lower()}{found.why_no_alpha[1:]}"
    else:
        between = "" if math.isnan(found.low) else f", 95% confidence interval {found.low:.2f} to {found.high:.2f}"
        said += f"Inter-annotator agreement: {found.alpha:.2f}{between} (Krippendorff's alpha; 1 is full)."
    if found.share < 1:
        said += f" Figures are from {percent(found.share)} of the rows, drawn at random."
    return said


def _line(one: Voter) -> dict[str, object]:
    return {
        "Voter": one.name,
        "Votes": one.votes,
        "Agrees with others": 100 * one.agreement,
        "Estimated right": 100 * one.accuracy,
        "Seems to guess": "yes" if one.warning else "",
    }
