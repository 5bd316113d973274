"""The form of a project's learner settings, drawn from one table: a new setting is one more entry in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import streamlit as st

from pages.parts.frame import escape, saved_field
from pages.parts.words import between, counted, percent
from workflow.answering.room import PROMISES, RoomError
from workflow.kinds.shortlists import CERTAIN, ShortlistView
from workflow.models.showing import Adoption, ModelStory, Running, short


@dataclass(frozen=True)
class Setting:
    """One setting. hint : what it does, in one sentence      more : the rest, behind a question mark
    choices : {value: words}, or a function that returns these for a model; empty: a number between least and most, or
    a switch for a bool

    models : to which it applies; empty: for all      whole : integers only
    percent : stored as a share, shown in per cent, as are least, most and step
    unset : the words for None, if None is allowed
    encoded : whether it applies only if an encoder has embedded the rows
    sourced : whether it applies only if the table names the source of its rows
    """

    name: str
    label: str
    hint: str = ""
    more: str | None = None
    choices: Mapping[str, str] | Callable[[str], Mapping[str, str]] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    least: float = 0
    most: float | None = None
    step: float = 1
    whole: bool = False
    percent: bool = False
    unset: str | None = None
    encoded: bool = False
    sourced: bool = False


OVERLAP_SHARE = Setting(
    "overlap_share",
    "Share of rows with several annotators",
    "The other rows need one answer.",
    "The rows are drawn at random.",
    least=1,
    most=100,
    step=5,
    whole=True,
    percent=True,
)
CHECKS_BY_ALL = Setting(
    "checks_by_all",
    "Give blind checks to everyone",
    "Needed to compare annotators.",
    "Blind checks are drawn at random. Given to everyone, they measure inter-annotator agreement and each annotator's "
    "accuracy.",
)
"""Settings shared by projects of every kind."""


Doubt: TypeAlias = Callable[[str, Any], "tuple[str, str] | None"]
"""(question, button) for a new value of a setting, by its name, that must be confirmed."""


def learner_form(
    now: Mapping[str, Any],
    key: str,
    settings: Sequence[Setting],
    save: Callable[[str, Any], None],
    doubt: Doubt = lambda *_: None,
) -> None:
    """Draw the settings that apply to the current model; each change is saved at once.

    now : the stored settings      save : stores one by its name
    """
    for one in settings:
        if one.name in now and (not one.models or now.get("model") in one.models):
            _setting(one, now, f"{key}-{one.name}", save, doubt)


def _setting(one: Setting, now: Mapping[str, Any], key: str, save: Callable[[str, Any], None], doubt: Doubt) -> None:
    def stored(chosen: Any) -> Any:
        return chosen / 100 if one.percent else None if chosen == "" else chosen

    saved_field(
        key,
        *_box(one, now),
        lambda chosen: save(one.name, stored(chosen)),
        ValueError,
        hint=one.hint,
        doubt=lambda chosen: doubt(one.name, stored(chosen)),
    )


def _box(one: Setting, now: Mapping[str, Any]) -> tuple[Any, Callable[..., Any]]:
    """Return the value that the setting's box shows, and the widget that draws it. "" stands for None, which
    Streamlit would drop from a list once it has been chosen."""
    value = now[one.name]
    choices = one.choices(str(now.get("model"))) if callable(one.choices) else one.choices
    if choices:
        options = list(dict.fromkeys([*([""] if one.unset else []), *choices, value or ""]))
        words = lambda name: choices.get(name, name) if name else str(one.unset)  # noqa: E731
        return value or "", partial(st.selectbox, one.label, options, format_func=words, help=one.more)
    if isinstance(value, bool):
        return value, partial(st.toggle, one.label, help=one.more)
    if one.percent:
        value = round(100 * value, 2)
    whole = one.whole and (value is None or value == int(value))  # a stored share may be a third
    number, form = (int, "%d") if whole else (float, "%g")
    return None if value is None else number(value), partial(
        st.number_input,
        f"{one.label} (%)" if one.percent else one.label,
        min_value=number(min(one.least, value or one.least)),
        max_value=None if one.most is None else number(max(one.most, value or 0)),
        value="min" if one.unset is None else None,
        step=number(one.step),
        format=form,
        placeholder=one.unset,
        help=one.more,
    )


# The model in use and its history in words, for the Models and Progress pages.

OPTIMISM = (
    "The blind checks that chose a model also measure it: so its accuracy may look slightly too high. "
    "Later checks correct this."
)


def adoption_line(story: ModelStory, one: Adoption) -> str:
    """Describe one change of the model, such as "From answer 60 on: kernel ridge, 81% by 26 blind checks
    ..."."""
    model = escape(short(story.models, one.model))
    since = f"From answer {one.answers:,} on:" if one.answers else "From the start:"
    if one.before == one.model and one.by_comparison and one.why:
        return f"{since} {escape(one.why)}."
    if one.before == one.model:
        what = "Winnow chooses the model again" if one.automatic else f"{model} stays, no matter what comparisons show"
        return f"{since} {what}."
    why = f", {escape(one.why)}" if one.why else ", chosen by a person"
    return f"{since} **{model}**{why}."


def show_model_history(story: ModelStory, last: int | None = None) -> None:
    """Show the changes of the model, newest first. last : at most this many"""
    shown = story.adoptions[::-1][:last]
    if shown:
        st.markdown("\n".join(f"- {adoption_line(story, one)}" for one in shown))


def show_comparison_progress(running: Running) -> None:
    """Show the progress of a comparison."""
    if running.fault is not None and not running.begun:
        st.warning(escape(running.fault), icon=":material/warning:")
    elif not running.begun:
        st.info("The comparison is queued. You can answer meanwhile.", icon=":material/hourglass_empty:")
    elif not running.total:
        st.progress(0.0, text="Comparing the models: reading the rows …")
    else:
        share = running.done / running.total
        st.progress(share, text=f"Comparing the models: {escape(running.fitting)}, {percent(share)} done")


# Shortlists, the choices of a question that are shown first: the setting, and its measurements.

ALL = "all of them"
NONE = 0.0
"""Stands for no promise in the box: Streamlit would drop None once it has been chosen."""


def promise_box(view: ShortlistView, key: str, save: Callable[[float | None], None]) -> None:
    """Draw the setting with its measurements below. save : stores a promise, None for none"""
    saved_field(
        key,
        view.promise or NONE,
        partial(
            st.selectbox,
            "Choices shown first",
            (NONE, *PROMISES),
            format_func=lambda promise: (
                f"those that contain the true label with {percent(promise)}" if promise else ALL
            ),
            help="The fewest choices that contain the right one this often, measured on blind checks. One key "
            "shows the others. Blind checks and some ordinary questions show all choices.",
        ),
        lambda promise: save(promise or None),
        RoomError,
        hint=in_words(view),
    )


def standing_in_words(view: ShortlistView) -> str:
    """Describe the state of the stored promise."""
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
    """Compare the promise with the measurement; empty if nothing is measured yet."""
    if not view.measured:
        return ""
    promised = "" if view.promise is None else f"promised {percent(view.promise)}, "
    share = f"{percent(view.held / view.measured)}, {between(*view.held_interval)}"
    return f"{promised}held in {view.held:,} of {counted(view.measured, 'check')} ({share})"


def answers_in_words(view: ShortlistView) -> str:
    """Describe answers to questions that showed a shortlist first; empty before the first answer."""
    if not view.asked:
        return ""
    share = f"{percent(view.none / view.asked)}, {between(*view.none_interval)}"
    return (
        f"Of {counted(view.asked, 'answer')} to shortlisted questions {view.none:,} said “none of these” ({share}), "
        f"{view.others:,} named a hidden choice."
    )


def outside_in_words(view: ShortlistView) -> str:
    """Say how often none of the choices was right; empty before the first check."""
    rate = view.outside
    if not rate.checks:
        return ""
    return (
        f"In {rate.outside:,} of {counted(rate.checks, 'blind check')} ({percent(rate.share)}, "
        f"{between(rate.low, rate.high)}) the truth was none of the row's choices."
    )


def in_words(view: ShortlistView) -> str:
    """Describe the state of shortlists with their measurements."""
    measured = measured_in_words(view)
    said = (
        standing_in_words(view),
        f"{measured[0].upper()}{measured[1:]}." if measured else "",
        answers_in_words(view),
    )
    return " ".join(part for part in said if part)


def shortlist_figures(view: ShortlistView) -> None:
    """Draw the lines on the Progress page; nothing if there is nothing to say."""
    outside = outside_in_words(view)
    if view.promise is not None or view.measured:
        st.markdown("###### Choices shown first")
        st.caption(f"{in_words(view)} {outside}".rstrip())
    elif view.outside.outside:
        st.caption(outside)
