"""The head of the Progress page: the main figure, the distance to the goal, and savings against random
order."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Protocol

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.parts import charts, palette
from pages.parts.frame import ProjectPage, escape, refusals_said_later, say_refusal
from pages.parts.palette import GOAL, RANDOM
from pages.parts.progress_parts import too_few
from pages.parts.words import about, between, counted, percent, roughly, span
from workflow.access import Right
from workflow.models.random_order import LEAST_ANSWERS
from workflow.projects import progress
from workflow.projects.figures import StopView
from workflow.projects.progress import FEWEST_MEASURED, estimate_random_order
from workflow.projects.proving import Proof, RandomLine, is_rough

USUAL_GOAL = 90
"""Default goal in per cent."""
WORTH_SAYING = 5
"""Minimum of answers for "at least N" to be informative."""


class Seen(Protocol):
    """Fields needed by the head of a page, from the progress view of any kind."""

    @property
    def accuracy(self) -> float | None: ...
    @property
    def interval(self) -> tuple[float, float] | None: ...
    @property
    def n_test(self) -> int: ...
    @property
    def control(self) -> float | None: ...
    @property
    def control_interval(self) -> tuple[float, float]: ...
    @property
    def control_asked(self) -> int: ...
    @property
    def control_free(self) -> int: ...
    @property
    def n_control(self) -> int: ...
    @property
    def has_truth(self) -> bool: ...
    @property
    def trained(self) -> bool: ...
    @property
    def has_model(self) -> bool: ...
    @property
    def answered(self) -> int: ...
    @property
    def left(self) -> int: ...
    @property
    def seconds_per_answer(self) -> float | None: ...
    @property
    def stop(self) -> StopView: ...
    @property
    def proof(self) -> Proof: ...


def lead(page: ProjectPage, view: Seen) -> None:
    """Draw the figure with its interval and the goal; next to it, or below on a phone, the comparison with
    random order."""
    left, right = st.columns([3, 2], gap="large")
    with left, st.container(key="winnow_lead", gap="xsmall"):
        _leading(view)
        _goal(page, view)
    with right, st.container(key="winnow_saved", gap="xsmall"):
        _saved(page, view)


def _leading(view: Seen) -> None:
    """Draw the figure by test rows, else by blind checks; or explain why there is none."""
    if view.accuracy is not None and view.interval is not None:
        value, interval, measured = view.accuracy, view.interval, view.n_test
        words = (
            f"Share of the {measured:,} held-out rows whose label the model predicts right, with its 95% interval. "
            "These rows are never asked about and never trained on."
        )
    elif view.control is not None:
        value, interval, measured = view.control, view.control_interval, view.control_asked
        words = f"Accuracy over all rows, with its 95% interval, from {control_rows(view)}"
    else:
        st.metric("Accuracy", "unknown", help=no_accuracy(view))
        return
    if measured < FEWEST_MEASURED:
        too_few("Accuracy", measured, "row" if view.accuracy is not None else "answered blind check")
        return
    low, high = interval
    st.metric("Accuracy", percent(value), between(low, high), delta_color="off", delta_arrow="off", help=words)
    _bar(value, interval, view.proof.goal)


def control_rows(view: Seen) -> str:
    """Describe the rows that the control estimate is measured on."""
    free = f" and {view.control_free:,} with one candidate" if view.control_free else ""
    return (
        f"{counted(view.control_asked, 'answered blind check')}{free}: drawn at random, not chosen by the "
        "strategy, and never trained on."
    )


def no_accuracy(view: Seen) -> str:
    """Explain why there is no accuracy at all."""
    if not view.has_model:
        return "The model is not trained yet." if view.trained else "Neighbours are still being found."
    if view.n_control:
        return "No blind check with several candidates is answered yet."
    if view.has_truth:
        return "No rows were held out when the project was created, and no blind checks drawn."
    return "The table has no true-label column to hold rows out of, and no blind checks were drawn."


def _bar(value: float, interval: tuple[float, float], goal: float | None) -> None:
    """Draw the figure as a bar, its interval as a paler one, and the goal as a mark: only numbers, no user
    input."""
    low, high = interval
    mark = "" if goal is None else f'<u style="left:{goal:.2%}"></u>'
    words = percent(value) + ("" if goal is None else f" of a goal of {percent(goal)}")
    st.html(
        f'<div class="winnow-goal" role="img" aria-label="{words}"><i style="width:{value:.2%}"></i>'
        f'<em style="left:{low:.2%};width:{high - low:.2%}"></em>{mark}</div>'
    )


# The goal


def _goal(page: ProjectPage, view: Seen) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if view.proof.goal is not None:
            st.markdown(goal_words(view), help=_how_far(view), width="content")
        if page.project.may(Right.OWN):
            _goal_form(page, view)


def goal_words(view: Seen) -> str:
    """Return the distance to the goal in a line."""
    proof = view.proof
    goal = f"{(proof.goal or 0.0) * 100:g}%"
    if proof.reached:
        return f"**The goal of {goal} is reached.**"
    if proof.more is None:
        return f"**Goal {goal}.** It is too early for an estimate."
    value, low, high = proof.more
    if value > view.left:
        least = f" within {roughly(low, 'answer')}" if WORTH_SAYING <= low <= view.left else ""
        words = f"Judging by the answers so far, **{goal} is not reached**{least}"
        return f"{words}; {counted(view.left, 'row')} {'is' if view.left == 1 else 'are'} open."
    if is_rough(proof.more):
        least = f"At least {roughly(low, 'more answer')}" if low >= WORTH_SAYING else "A few or many more answers"
        return f"**{least} to {goal}**: too uncertain, because the curve hardly rises."
    pace = view.seconds_per_answer
    time = "" if pace is None else f", {span(timedelta(seconds=pace * value))} at this pace"
    sure = f"{about(low)} to {about(high)}" if np.isfinite(high) else f"{about(low)} or more"
    return f"**About {roughly(value, 'more answer')} to {goal}** ({sure}){time}"


def _how_far(view: Seen) -> str:
    """Say how the number of answers to the goal is estimated."""
    if view.proof.more is None:
        return (
            "The accuracy curve is extrapolated once it spans 20 answers and 30 measured rows. Earlier, "
            "the uncertainty is too large."
        )
    what = (
        "until the figure above, on the same held-out rows, reaches the goal"
        if view.proof.fixed
        else "until accuracy over all rows is the goal"
    )
    return (
        f"The accuracy curve is extrapolated, {what}. The range holds the true value in at least nine of "
        "ten simulated projects. Time uses the median of the latest 20 answers."
    )


def _goal_form(page: ProjectPage, view: Seen) -> None:
    goal, at = view.proof.goal, f"goal-{page.project.id}"
    with st.popover("Set a goal" if goal is None else "Change", icon=":material/flag:"):
        say_refusal()
        with st.form(f"{at}-form", border=False):
            now = USUAL_GOAL if goal is None else goal * 100
            help_text = "Winnow estimates the answers left and says when the goal is reached. You can always continue."
            st.number_input("Goal for the accuracy (%)", 1.0, 99.9, float(now), 1.0, "%g", key=at, help=help_text)
            with st.container(horizontal=True):
                st.form_submit_button("Set the goal", type="primary", on_click=_set_goal, args=(page, view, at))
                if goal is not None:
                    st.form_submit_button("No goal", on_click=_set_goal, args=(page, view, None))


def _set_goal(page: ProjectPage, view: Seen, at: str | None) -> None:
    goal = None if at is None else round(float(st.session_state[at]) / 100, 6)
    with refusals_said_later():
        progress.change_stop_rules(page.seat, replace(view.stop.rules, goal=goal))


# Random order


def _saved(page: ProjectPage, view: Seen) -> None:
    proof = view.proof
    title, words = saved_words(view)
    st.markdown(f"**{title}**", help=None if proof.random is None else _how_known(proof.random))
    st.caption(words)
    if not proof.running and page.project.may(Right.OWN) and view.answered:
        st.button(
            "Estimate now" if proof.random is None else "Re-estimate",
            icon=":material/shuffle:",
            type="tertiary",
            on_click=_estimate,
            args=(page,),
            help="Winnow does this whenever the number of answers has grown by a fifth.",
        )


def _estimate(page: ProjectPage) -> None:
    with refusals_said_later():
        estimate_random_order(page.seat)


def saved_words(view: Seen) -> tuple[str, str]:
    """Return the answers saved compared with random order: a title and a sentence."""
    proof, random = view.proof, view.proof.random
    if random is None:
        if proof.running and not proof.missing:
            return "Against random order", "Winnow is estimating what random order would have reached ..."
        if proof.missing:
            why = escape(proof.missing)
        elif view.answered < LEAST_ANSWERS:
            why = f"It is estimated after the first {LEAST_ANSWERS} answers."
        else:
            why = "It is estimated in the background, after other work on your projects."
        return "Against random order", f"Not known yet. {why}"
    saved, at = random.saved, random.at
    if not random.by_truth:
        return (
            "Blind checks cannot show a saving",
            "In tests, blind checks alone placed random order five points too low, so the saving may be "
            "zero. Projects with hidden true labels show savings.",
        )
    low = max(at + saved.low, 0.0)
    least, most = about(low), None
    if np.isfinite(saved.high):
        most = roughly(max(at + saved.high, 0.0), "answer")
    gave = f"for this accuracy; here it took {at:,}."
    if not random.surely_saved:
        if most == "0 answers":  # the model was as good before anyone had answered
            taken = "no answers"
        else:
            taken = f"{roughly(low, 'answer')} or more" if most is None else f"{least} to {most}"
        words = f"Random order would have needed {taken} {gave}"
        return "Too early to tell", f"So far the difference from random order is within chance. {words}"
    if not np.isfinite(saved.value):
        return (
            f"At least {roughly(saved.low, 'question')} saved",
            f"Random order would have needed {roughly(low, 'answer')} or more {gave}",
        )
    pace = view.seconds_per_answer
    time = "" if pace is None else f" That is {span(timedelta(seconds=pace * saved.value))}."
    between = f"at least {least}" if most is None else f"{least} to {most.removesuffix(' answers')}"
    taken = f"about {roughly(at + saved.value, 'answer')} ({between})"
    return (f"About {roughly(saved.value, 'question')} saved", f"Random order would have needed {taken} {gave}{time}")


def _how_known(random: RandomLine) -> str:
    found = random.found
    if random.by_truth:
        return (
            f"The project was replayed {counted(found.orders, 'time')} in random order: its own model, answered with "
            f"the true labels that the table hides, measured on the same {found.measured:,} held-out rows. The range "
            "is for one such order. The project's model never trains on this."
        )
    return (
        f"Only blind checks are a random sample of answers. Models learnt from four fifths of {found.measured:,} of "
        "them, in random order, and were measured on the other fifth, in turns; that curve is extrapolated to now. "
        "The project's model never trains on this."
    )


# Additions to an accuracy chart: the line of random order, and the goal with when it is reached.

RANDOM_BAND, GOAL_BAND = palette.band(RANDOM, 0.16), palette.band(GOAL, 0.35)
FARTHEST = 3.0
"""Length of the chart, as a multiple of the curve's, that may be added to show when the goal is reached."""


def random_order(
    figure: go.Figure, answers: np.ndarray, value: np.ndarray, low: np.ndarray, high: np.ndarray
) -> go.Figure:
    """Add a dashed line and its band to the chart; shares between 0 and 1, in arrays of one length."""
    value, low, high = 100 * value, 100 * low, 100 * high
    charts.draw_band(figure, answers, low, high, RANDOM_BAND)
    figure.add_scatter(
        x=answers,
        y=value,
        mode="lines",
        line={"color": RANDOM, "dash": "dash", "width": 2},
        name="random order, estimated",
        customdata=np.column_stack([low, high]),
        hovertemplate="random order: %{y:.1f}% (%{customdata[0]:.1f} to %{customdata[1]:.1f}%)"
        "<br>after %{x:.0f} answers<extra></extra>",
    )
    return figure


def goal(figure: go.Figure, share: float, now: float, more: tuple[float, float, float] | None) -> go.Figure:
    """Add a dotted line at the goal, and on it a bar over the answers after which it is reached.

    more : value, low, high of the answers from now on; None: unknown
    """
    height = 100 * share
    figure.add_hline(
        y=height,
        line={"color": GOAL, "dash": "dot", "width": 1.5},
        annotation={"text": f"goal {height:g}%", "font": {"color": GOAL, "size": 12}, "xanchor": "left", "x": 0.01},
        annotation_position="top left",
    )
    if more is None:
        return figure
    value, low, high = (now + part for part in more)
    if value > FARTHEST * now:
        return figure
    figure.add_scatter(
        x=[low, min(high, FARTHEST * now)],
        y=[height, height],
        mode="lines",
        line={"color": GOAL_BAND, "width": 11},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.add_scatter(
        x=[value],
        y=[height],
        mode="markers",
        marker={"color": GOAL, "size": 9},
        name="goal",
        showlegend=False,
        hovertemplate=f"goal: after about %{{x:.0f}} answers ({low:.0f} to {high:.0f})<extra></extra>",
    )
    return figure
