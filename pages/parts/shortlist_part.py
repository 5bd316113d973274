"""Which choices of a question are shown first: the setting, and what is measured of it."""

from __future__ import annotations

import streamlit as st

from pages.parts.words import between, counted, percent
from workflow.common.shortlists import CERTAIN, ShortlistView
from workflow.room import PROMISES

ALL = "all of them"
NONE = 0.0
"""Stands for no promise in the box: the words of None Streamlit would take away once it has been chosen."""


def promise_box(view: ShortlistView, key: str) -> float | None:
    """Draw the setting; the promise chosen, None for none."""
    promises = (NONE, *PROMISES)
    chosen = st.selectbox(
        "Choices shown first",
        promises,
        index=promises.index(view.promise or NONE),
        format_func=lambda promise: f"those that hold the truth with {percent(promise)}" if promise else ALL,
        help="The fewest choices that hold the right one as often as you say here, by the model and the blind checks. "
        "The others stand behind one key. Blind checks, and some other questions, are always shown in full.",
        key=key,
    )
    return chosen or None


def standing_in_words(view: ShortlistView) -> str:
    """What holds now under the stored promise."""
    if view.promise is None:
        return "All choices are shown at once."
    everything = "Until then all choices are shown."
    if not view.drawn:
        return "This project has no blind checks to measure by: all choices are shown."
    if not view.leaves_out:
        return (
            "The model in force has learnt from the rows it is asked about, and what it says of them is no measure: "
            "all choices are shown. PL-KNN and Kernel ridge leave the row out."
        )
    if view.weighs_own:
        return (
            "What the model in force says of a row rests on the weights of its choices in the table too; of a blind "
            "check it does not. So the checks are no measure: all choices are shown. PL-KNN goes without these weights."
        )
    if view.in_full == 1:
        return (
            "A third of the questions or more are blind checks, and others must be shown in full beside them so that "
            "nobody can tell them: all choices are shown."
        )
    if missing := view.missing(view.promise):
        return f"{counted(missing, 'more blind check')} must be answered for {percent(view.promise)}. {everything}"
    if not view.in_force and view.outside.share > 1 - view.promise:
        return (
            f"In {view.outside.outside:,} of {counted(view.checks, 'blind check')} the truth was none of the choices. "
            "No list can hold it as often as promised: all choices are shown."
        )
    if not view.in_force:
        return f"The next version of the model takes the blind checks in. {everything}"
    if view.checks < CERTAIN:
        return (
            f"From {counted(view.checks, 'blind check')}: below {CERTAIN} the promise is uncertain, and may be missed "
            "by some points."
        )
    return f"From {counted(view.checks, 'blind check')}."


def measured_in_words(view: ShortlistView) -> str:
    """The promise beside what was measured; empty while nothing was."""
    if not view.measured:
        return ""
    promised = "" if view.promise is None else f"promised {percent(view.promise)}, "
    share = f"{percent(view.held / view.measured)}, {between(*view.held_interval)}"
    return f"{promised}held in {view.held:,} of {counted(view.measured, 'check')} ({share})"


def answers_in_words(view: ShortlistView) -> str:
    """What people said where a shortlist alone was shown first; empty before the first answer."""
    if not view.asked:
        return ""
    share = f"{percent(view.none / view.asked)}, {between(*view.none_interval)}"
    return (
        f"Of {counted(view.asked, 'answer')} to shortlisted questions {view.none:,} said “none of these” ({share}), "
        f"{view.others:,} named a choice behind the key."
    )


def outside_in_words(view: ShortlistView) -> str:
    """How often the truth was none of the choices; empty before the first check."""
    rate = view.outside
    if not rate.checks:
        return ""
    return (
        f"In {rate.outside:,} of {counted(rate.checks, 'blind check')} ({percent(rate.share)}, "
        f"{between(rate.low, rate.high)}) the truth was none of the row's choices."
    )


def in_words(view: ShortlistView) -> str:
    """How shortlists stand, with what was measured."""
    measured = measured_in_words(view)
    said = (
        standing_in_words(view),
        f"{measured[0].upper()}{measured[1:]}." if measured else "",
        answers_in_words(view),
    )
    return " ".join(part for part in said if part)


def shortlist_note(view: ShortlistView) -> None:
    """The lines under the setting."""
    st.caption(in_words(view))


def shortlist_figures(view: ShortlistView) -> None:
    """The lines on the Progress page; nothing where there is nothing to say."""
    outside = outside_in_words(view)
    if view.promise is not None or view.measured:
        st.markdown("###### Choices shown first")
        st.caption(f"{in_words(view)} {outside}".rstrip())
    elif view.outside.outside:
        st.caption(outside)
