"""Which model answers, and since when, in words: for the Models page and for Progress."""

from __future__ import annotations

from datetime import timedelta

import streamlit as st

from pages.parts.frame import escape
from pages.parts.words import percent, span
from workflow.models.showing import Adoption, ModelStory, Running, short

OPTIMISM = (
    "The blind checks that chose a model also measure it: taken as the best of several by the same checks, it may look "
    "a little better than it is. Answers to later checks put that right."
)


def adoption_line(story: ModelStory, one: Adoption) -> str:
    """One change of the model as a line, such as "From answer 60 on: kernel ridge, 81 % by 26 blind checks ..."."""
    model = escape(short(story.models, one.model))
    since = f"From answer {one.answers:,} on:" if one.answers else "From the start:"
    if one.before == one.model:
        what = (
            "Winnow chooses the model again" if one.automatic else f"{model} stays, whatever comparisons say"
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
        st.info(
            "The comparison waits for a worker; nothing else waits for it.", icon=":material/hourglass_empty:"
        )
    elif not running.total:
        st.progress(0.0, text="Comparing the models: reading the rows …")
    else:
        share = running.done / running.total
        st.progress(share, text=f"Comparing the models: {escape(running.fitting)}, {percent(share)} done")


def seconds(length: float) -> str:
    """CPU time in words."""
    return "less than a second" if length < 1 else span(timedelta(seconds=length))
