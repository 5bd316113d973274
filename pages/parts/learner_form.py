"""The form of a project's learner settings, drawn from one table: a new setting is one more line in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from pages.parts.frame import escape
from pages.parts.words import between, counted, percent
from workflow.answering.room import PROMISES
from workflow.kinds.shortlists import CERTAIN, ShortlistView
from workflow.models.showing import Adoption, ModelStory, Running, short


@dataclass(frozen=True)
class Setting:
    """One setting. choices : {value: words}, or these for a model; empty: it is a number between least and most, or
    yes or no where its value is

    models : for which it means something; empty: for all      whole : an integer
    unset : the words for None, where it may be None
    encoded : whether it means something only if an encoder has made vectors of the rows
    sourced : whether it means something only if the table names the source of its rows
    """

    name: str
    label: str
    hint: str
    choices: Mapping[str, str] | Callable[[str], Mapping[str, str]] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    least: float = 0
    most: float | None = None
    step: float = 1
    whole: bool = False
    unset: str | None = None
    encoded: bool = False
    sourced: bool = False


OVERLAP_SHARE = Setting(
    "overlap_share",
    "Share of the rows",
    "Share of rows, drawn at random, that this many annotators answer. One annotator answers each of the others.",
    least=0.01,
    most=1.0,
    step=0.05,
)
CHECKS_BY_ALL = Setting(
    "checks_by_all",
    "Ask everyone the blind checks",
    "Blind checks are drawn at random. Asked of everyone, they measure inter-annotator agreement and each "
    "annotator's accuracy.",
)
"""Settings that projects of every kind have."""


def learner_form(now: Mapping[str, Any], key: str, settings: Sequence[Setting]) -> dict[str, Any]:
    """Draw the settings that the chosen model has; the values chosen, of those drawn. `now` are the present ones."""
    chosen: dict[str, Any] = {}
    places: list[st.delta_generator.DeltaGenerator] = []
    for one in settings:
        model = chosen.get("model", now.get("model"))
        if one.name not in now or (one.models and model not in one.models):
            continue
        places = places or list(st.columns(2, gap="medium"))  # two by two, so that a phone keeps their order
        with places.pop(0):
            choices = one.choices(str(model)) if callable(one.choices) else one.choices
            chosen[one.name] = _box(one, choices, now[one.name], f"{key}-{one.name}")
    return chosen


def _box(one: Setting, choices: Mapping[str, str], value: Any, key: str) -> Any:
    if choices:
        # "" for None, whose words Streamlit would remove once it has been chosen
        options = list(dict.fromkeys([*([""] if one.unset else []), *choices, value or ""]))
        return (
            st.selectbox(
                one.label,
                options,
                index=options.index(value or ""),
                format_func=lambda name: choices.get(name, name) if name else str(one.unset),
                help=one.hint,
                key=key,
            )
            or None
        )
    if isinstance(value, bool):
        return st.toggle(one.label, value=value, help=one.hint, key=key)
    if one.whole and (value is None or value == int(value)):  # a share is left a number
        most = None if one.most is None else int(max(one.most, value or 0))
        return st.number_input(
            one.label,
            min_value=int(one.least),
            max_value=most,
            value=None if value is None else int(value),
            step=1,
            placeholder=one.unset,
            help=one.hint,
            key=key,
        )
    return st.number_input(
        one.label,
        min_value=min(float(one.least), float(value or one.least)),
        max_value=one.most,
        format="%g",
        value=None if value is None else float(value),
        step=float(one.step),
        placeholder=one.unset,
        help=one.hint,
        key=key,
    )


# Which model answers, and since when, in words: for the Models page and for Progress.

OPTIMISM = (
    "The blind checks that chose a model also measure it: so its accuracy may look slightly too high. "
    "Later checks correct this."
)


def adoption_line(story: ModelStory, one: Adoption) -> str:
    """One change of the model as a line, such as "From answer 60 on: kernel ridge, 81% by 26 blind checks ..."."""
    model = escape(short(story.models, one.model))
    since = f"From answer {one.answers:,} on:" if one.answers else "From the start:"
    if one.before == one.model and one.by_comparison and one.why:
        return f"{since} {escape(one.why)}."
    if one.before == one.model:
        what = (
            "Winnow chooses the model again"
            if one.automatic
            else f"{model} stays, no matter what comparisons show"
        )
        return f"{since} {what}."
    why = f", {escape(one.why)}" if one.why else ", chosen by a person"
    return f"{since} **{model}**{why}."


def say_story(story: ModelStory, last: int | None = None) -> None:
    """The changes of the model, the newest first. last : only so many"""
    shown = story.adoptions[::-1][:last]
    if shown:
        st.markdown("\n".join(f"- {adoption_line(story, one)}" for one in shown))


def say_running(running: Running) -> None:
    """How far a comparison is."""
    if running.fault is not None and not running.begun:
        st.warning(escape(running.fault), icon=":material/warning:")
    elif not running.begun:
        st.info("The comparison is queued. You can answer meanwhile.", icon=":material/hourglass_empty:")
    elif not running.total:
        st.progress(0.0, text="Comparing the models: reading the rows …")
    else:
        share = running.done / running.total
        st.progress(share, text=f"Comparing the models: {escape(running.fitting)}, {percent(share)} done")


# Which choices of a question are shown first: the setting, and what is measured of it.

ALL = "all of them"
NONE = 0.0
"""Stands for no promise in the box: the words of None Streamlit would remove once it has been chosen."""


def promise_box(view: ShortlistView, key: str) -> float | None:
    """Draw the setting; the promise chosen, None for none."""
    promises = (NONE, *PROMISES)
    chosen = st.selectbox(
        "Choices shown first",
        promises,
        index=promises.index(view.promise or NONE),
        format_func=lambda promise: (
            f"those that contain the true label with {percent(promise)}" if promise else ALL
        ),
        help="The fewest choices that contain the right one this often, measured on blind checks. One key "
        "shows the others. Blind checks and some ordinary questions show all choices.",
        key=key,
    )
    return chosen or None


def standing_in_words(view: ShortlistView) -> str:
    """State of the stored promise."""
    if view.promise is None:
        return "All choices are shown."
    everything = "All choices are shown until then."
    if not view.drawn:
        return "All choices are shown, because this project has no blind checks to measure with."
    if not view.leaves_out:
        return (
            "All choices are shown, because the current model was trained on the rows it is asked about. "
            "PL-KNN and Kernel ridge leave the row out."
        )
    if view.weighs_own:
        return (
            "All choices are shown, because the current model uses each row's imported weights, but not "
            "those of blind checks. PL-KNN does not use these weights."
        )
    if view.in_full == 1:
        return (
            "All choices are shown, because at least a third of the questions are blind checks. Other "
            "questions must look the same."
        )
    if missing := view.missing(view.promise):
        return f"{counted(missing, 'more blind check')} must be answered for {percent(view.promise)}. {everything}"
    if not view.in_force and view.outside.share > 1 - view.promise:
        return (
            f"In {view.outside.outside:,} of {counted(view.checks, 'blind check')} the truth was none of the choices. "
            "No shortlist reaches the promised share, so all choices are shown."
        )
    if not view.in_force:
        return f"The next model version includes the blind checks. {everything}"
    if view.checks < CERTAIN:
        return (
            f"From {counted(view.checks, 'blind check')}: below {CERTAIN} the promise is uncertain and "
            "may be missed by a few points."
        )
    return f"From {counted(view.checks, 'blind check')}."


def measured_in_words(view: ShortlistView) -> str:
    """The promise next to what was measured; empty while nothing was."""
    if not view.measured:
        return ""
    promised = "" if view.promise is None else f"promised {percent(view.promise)}, "
    share = f"{percent(view.held / view.measured)}, {between(*view.held_interval)}"
    return f"{promised}held in {view.held:,} of {counted(view.measured, 'check')} ({share})"


def answers_in_words(view: ShortlistView) -> str:
    """Answers to questions that showed a shortlist first; empty before the first answer."""
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
    """The lines on the Progress page; nothing if there is nothing to say."""
    outside = outside_in_words(view)
    if view.promise is not None or view.measured:
        st.markdown("###### Choices shown first")
        st.caption(f"{in_words(view)} {outside}".rstrip())
    elif view.outside.outside:
        st.caption(outside)
