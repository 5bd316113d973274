"""What the Import page has in common for tables of all kinds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pandas as pd
import streamlit as st

from pages.parts import frame
from pages.parts.words import counted, percent
from workflow.files import media
from workflow.importing import LabelTable
from workflow.importing.crowd import EarlierVotes, Voter, earlier_votes, reliability
from workflow.seat import Seat

HELD_OUT = {0.0: "none", 0.1: "10 %", 0.2: "20 %", 1 / 3: "a third", 0.5: "half"}
"""Shares of rows that can be held out."""


def kept_files(table: LabelTable) -> None:
    """How many files the rows name; nothing where they name none."""
    if files := table.media.kept_names():
        st.caption(
            f"{len(files):,} different files are named by the rows, each found in the zip and readable."
        )


# Votes before: who voted before the import, how far they agree, and how often each is right.

NO_NAMES = (
    "The table of this project does not say who voted. Votes can be imported as a table of task, worker and label, "
    "with one column for each annotator, or from another tool's own export."
)


def votes_before(table: LabelTable) -> EarlierVotes | None:
    """What is told of the votes of a table that is looked at before the import."""
    place = st.empty()
    found = reliability(table, lambda share: _looking(place, share))
    place.empty()
    return found


def _looking(place: st.delta_generator.DeltaGenerator, share: float) -> None:
    place.progress(share, text=f"Comparing the votes … {percent(share)}")


def earlier_votes_part(page: frame.Page) -> None:
    """The same of the project's table."""
    place = st.empty()
    found = earlier_votes(page.seat, lambda share: _looking(place, share))
    place.empty()
    if found is None:
        st.info(NO_NAMES, icon=":material/how_to_vote:")
    else:
        show_earlier_votes(found)


def show_earlier_votes(found: EarlierVotes) -> None:
    """A sentence on all of them, those who seem to guess, and a line for each voter."""
    st.markdown("###### Who voted before")
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
                format="%.0f %%", help="How often somebody else said the same on the same row."
            ),
            "Estimated right": st.column_config.NumberColumn(
                format="%.0f %%",
                help="An estimate without any true label, from all votes together (Dawid-Skene). Who has few votes is "
                "taken to be about as good as the others.",
            ),
        },
    )


def in_words(found: EarlierVotes) -> str:
    """How many voted, and how far they agree."""
    said = f"{len(found.voters):,} voters gave {counted(found.n_votes, 'vote')} on {counted(found.n_rows, 'row')}. "
    if math.isnan(found.alpha):
        said += f"No figure of agreement: {found.why_no_alpha[:1].lower()}{found.why_no_alpha[1:]}"
    else:
        between = "" if math.isnan(found.low) else f", between {found.low:.2f} and {found.high:.2f} with 95 %"
        said += (
            f"Their agreement beyond chance is {found.alpha:.2f}{between} (Krippendorff's alpha; 1 is full)."
        )
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


# The first columns of lists of rows: a small picture, a mark that plays a recording, or the beginning of the text.

PICTURE, SOUND, TEXT = "Picture", "Sound", "Text"
ROW_HEIGHT = 56
"""Pixels of a line with a picture."""
LINE, HEADING, MOST_HEIGHT = 35, 38, 420
"""Pixels of any other line; of the names of the columns with the frame; of the whole, which is scrolled beyond."""
TEXT_WIDTH = 280
"""Pixels of the beginning of a text: what else there is of a row stands beside it."""

# Streamlit's tables show what a data URL holds and ask no server. The mark is seen in light and dark.
_PLAY = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' width='24' height='24'"
    "%3E%3Ccircle cx='12' cy='12' r='11' fill='%231b7d6c'/%3E%3Cpath d='M9.5 7v10l7-5z' fill='%23fff'/%3E%3C/svg%3E"
)


@dataclass(frozen=True)
class FirstColumns:
    """What a `st.dataframe` gets besides its own.

    cells : the columns, none where there is nothing to see      config : of them      options : further arguments
    """

    cells: dict[str, list[str | None]]
    config: dict[str, Any]
    options: dict[str, Any]


def first_columns(seat: Seat, rows: Sequence[int]) -> FirstColumns:
    """The columns for a table of these rows, its lines in this order."""
    with st.spinner("Making small pictures ...", show_time=True):
        pictures, texts = media.small_pictures(seat, rows), media.first_words(seat, rows)
    cells: dict[str, list[str | None]] = {}
    config: dict[str, Any] = {}
    if pictures is not None:
        name = SOUND if set(pictures) - {""} == {media.SOUND} else PICTURE
        cells[name] = [_PLAY if one == media.SOUND else one or None for one in pictures]
        config[name] = st.column_config.ImageColumn(width=72)
    if texts is not None:
        cells[TEXT] = list(texts)
        config[TEXT] = st.column_config.TextColumn(width=TEXT_WIDTH)
    if pictures is not None:
        return FirstColumns(
            cells, config, {"row_height": ROW_HEIGHT, "height": table_height(len(rows), ROW_HEIGHT)}
        )
    return FirstColumns(cells, config, {"height": table_height(len(rows))})


def table_height(lines: int, line: int = LINE) -> int:
    """Pixels of a table of so many lines, of so many pixels each: what stands in its place until its script has come is
    as high, so that nothing jumps."""
    return min(MOST_HEIGHT, HEADING + line * lines)


class Clicked(Protocol):
    """What is ticked and clicked in a `st.dataframe`."""

    @property
    def rows(self) -> Sequence[int]: ...
    @property
    def cells(self) -> Sequence[tuple[int, str]]: ...


def is_to_play(selection: Clicked) -> bool:
    """Whether what was clicked in such a table is where its pictures are, and its marks of recordings."""
    return any(column in (PICTURE, SOUND) for _, column in selection.cells)
