"""Parts shared by the Progress pages of all kinds of project."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import streamlit as st

from pages.parts import charts, frame, state
from pages.parts.frame import ProjectPage, refusals_said_later, say_refusal
from pages.parts.words import between, counted, percent, span
from workflow.access import NotAllowed, NotFound, Right
from workflow.answering import loop, oracle
from workflow.people.figures import CountedShare, Figure, PersonFigures
from workflow.projects import progress
from workflow.projects.figures import ClassAccuracy
from workflow.projects.progress import FEWEST_MEASURED, LabelCount, StopRules, StopView


def number(label: str, value: str, note: str, about: str) -> None:
    """Draw a large figure with a note under it, and a help text on hover."""
    st.metric(label, value, delta=note or None, delta_color="off", delta_arrow="off", help=about, width=150)


LEFT = ("answered", "disputed", "begun", "sure", "open", "excluded")
"""Parts of what is left, by their names in style.css, in the order in which they are drawn."""


def what_is_left(parts: Mapping[str, tuple[str, int]], about: str) -> None:
    """Draw a bar of parts, and a line with the count of each.

    parts : {one of `LEFT`: (its name, count)}; the names are ours, never user input
    """
    st.markdown("###### What is left", help=about)
    drawn = [(part, *parts[part]) for part in LEFT if part in parts]
    words = ", ".join(f"{name} {number:,}" for _, name, number in drawn)
    bar = "".join(f'<i class="{part}" style="flex:{number}"></i>' for part, _, number in drawn if number)
    lines = "".join(f'<li class="{part}">{name}<b>{number:,}</b></li>' for part, name, number in drawn)
    st.html(f'<div class="winnow-left"><div role="img" aria-label="{words}">{bar}</div><ul>{lines}</ul></div>')


SHARES = ("share", "low", "high")
"""Fields of a class's accuracy."""


def weakest(found: Sequence[ClassAccuracy], unit: str, about: str) -> None:
    """Draw what the model predicts worst. unit : class or label"""
    st.markdown(
        "###### Where it is weakest", help=f"{about} The {unit} with the lowest upper end of the interval is first."
    )
    charts.show(
        charts.class_shares([one.label for one in found], *([getattr(one, part) for one in found] for part in SHARES)),
        {name: [getattr(one, name) for one in found] for name in ("label", "rows", *SHARES)},
        key="weakest",
        alt=f"{'Classes' if unit == 'class' else 'Labels'} predicted worst: "
        + ", ".join(f"{one.label} {percent(one.share)}" for one in found),
    )


def too_few(label: str, measured: int, unit: str) -> None:
    """Draw in place of a figure measured on fewer rows than `workflow.projects.progress.FEWEST_MEASURED`."""
    with st.container(width=260, gap="xxsmall"):
        st.caption(label)
        st.markdown(f"too few {unit}s to measure: {measured:,} of {FEWEST_MEASURED}")


def undecided_checks(how_many: int, unit: str) -> None:
    """Note that some blind checks are left out of the figures, if any. unit : its singular"""
    if how_many:
        st.caption(
            f"{counted(how_many, f'{unit} that is a blind check', f'{unit}s that are blind checks')} "
            f"{'is' if how_many == 1 else 'are'} not counted in the accuracy: annotators disagree and no "
            "single answer is left. A verdict resolves this."
        )


def since(answers: np.ndarray) -> str:
    """Say where a curve begins, to end its caption; nothing if it begins with the first answer."""
    if not len(answers) or not answers[0]:
        return ""
    return f" Measured since the model was changed or first trained, after {counted(int(answers[0]), 'answer')}."


@contextmanager
def more_figures(page: ProjectPage) -> Iterator[bool]:
    """Draw a box for the secondary charts. Yields whether it is open: its content is read and drawn only
    then, so that the main curve does not wait for it."""
    box = st.expander(
        "More figures", icon=":material/bar_chart:", key=f"more-figures-{page.project.id}", on_change="rerun"
    )
    with box:
        yield bool(box.open)


def rows_per_label(labels: Sequence[LabelCount]) -> None:
    """Draw the rows of each label: by answers, and as given at import."""
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
        st.caption(f"The first {charts.MOST_LABELS} of {counted(len(names), 'label')}; all are in the data.")


# A dry run: Winnow answers for the owner with the hidden true labels, to show how it works. It asks before it
# begins. Then it answers a few questions after each redraw of the page and reruns it, so that figures and
# curves move until it is done or stopped.

ANSWERS = 50
AT_ONCE = 5
"""Answers between two redraws of the page."""
PAUSE = 0.5
"""Seconds after each redraw, so that the browser keeps up and a person can follow."""


def watch(page: frame.ProjectPage) -> None:
    """Show progress and the stop button during a dry run: above everything that moves, so that the button
    stays in place."""
    begin, stop = _keys(page)
    # Streamlit forgets widgets that the last page did not draw, so a dry run has stopped for people who left
    # the page.
    if begin not in st.session_state and stop not in st.session_state:
        st.session_state.pop(state.PLAYED, None)
    played = st.session_state.get(state.PLAYED)
    with st.container(horizontal=True, vertical_alignment="center"):  # content below keeps its place
        if played is not None:
            st.progress(played / ANSWERS, text=f"Dry run: {played} of {ANSWERS} answered")
            st.button("Stop", icon=":material/stop:", key=stop, on_click=_stop)


def offer(page: frame.ProjectPage) -> None:
    """Offer a dry run if the project hides true labels and the person is an owner; else draw nothing."""
    if st.session_state.get(state.PLAYED) is None and oracle.can_answer(page.seat):
        _question(_keys(page)[0])


def _keys(page: frame.ProjectPage) -> tuple[str, str]:
    """Return the keys of the buttons that start and stop it."""
    return f"{state.PLAY}-{page.project.id}", f"{state.STOP_PLAY}-{page.project.id}"


def _question(begin: str) -> None:
    with st.popover(f"Dry run: let the hidden labels answer {ANSWERS}", icon=":material/smart_toy:"):
        st.markdown(
            "A dry run: this table hides its true labels, and Winnow answers the next questions with them "
            "to show how fast it learns. The log notes these answers as *simulated*. Undo them on Answer."
        )
        st.button(f"Let them answer {ANSWERS}", key=begin, type="primary", on_click=_begin)


def _begin() -> None:
    st.session_state[state.PLAYED] = 0


def _stop() -> None:
    _end(f"Stopped: {counted(st.session_state.get(state.PLAYED, 0), 'question')} answered with the hidden truth")


def play(page: frame.ProjectPage) -> None:
    """During a dry run, give the next few answers and rerun the page. Call it when everything is drawn."""
    played = st.session_state.get(state.PLAYED)
    if played is None:
        return
    time.sleep(PAUSE)
    # Counted first: a click may end this run at any moment, but no answer must be given twice.
    st.session_state[state.PLAYED] = played + AT_ONCE
    try:
        given = oracle.answer_for_me(page.seat, AT_ONCE)
    except (oracle.NoTruth, loop.StaleQuestion, loop.NotSaved, NotAllowed, NotFound) as refusal:
        _end(f"Stopped: {refusal}")
    else:
        if given < AT_ONCE or played + given >= ANSWERS:
            _end(f"{counted(played + given, 'question')} answered with the hidden truth")
    st.rerun()


def _end(words: str) -> None:
    st.session_state.pop(state.PLAYED, None)
    st.session_state[state.FLASH] = words


# Figures of people, in the words of the Team page and of each person's own box.

KINDS = {
    "is": "one class",
    "among": "several left",
    "not": "ruled out",
    "none": "none of these",
    "yes": "yes",
    "no": "no",
    "bad": "bad item",
    "unsure": "cannot tell",
}
"""Kinds of answers, in the order of their keys."""


def share(found: CountedShare) -> str:
    """Return a measured share with its interval; a dash and the count so far if it is unknown."""
    if not found.enough:
        return f"– ({found.of:,} of {FEWEST_MEASURED})"
    low, high = found.interval
    return f"{percent(found.value)} ({between(low, high)})"


def plain(found: CountedShare) -> str:
    """Return a share that is only counted and has no interval."""
    return percent(found.value) if found.of else "–"


def seconds(found: float | None) -> str:
    return "–" if found is None else f"{found:.1f} s"


def pace(found: PersonFigures) -> str:
    """Return the median seconds of each kind of answer, in a line."""
    return " · ".join(
        f"{KINDS.get(one.kind, one.kind)} {one.seconds:.1f} s ({counted(one.answers, 'answer')})" for one in found.pace
    )


def seen(found: PersonFigures) -> str:
    return "–" if found.last_seen is None else f"{span(datetime.now(UTC) - found.last_seen)} ago"


def figure(found: Figure) -> str:
    """Return a measure of agreement with its interval."""
    return f"{found.value:.2f} (between {found.low:.2f} and {found.high:.2f})"


# The stop panel: the state of each rule, and the owner's settings.

TITLES = {"goal": "Goal", "settled": "Settled", "flat": "Curve flat", "budget": "Budget"}
FIELDS = ("settled", "share", "flat", "within", "over", "budget", "answers")
"""Fields of the editor, by the ends of their widget keys."""


@dataclass(frozen=True)
class StopWords:
    """Labels of the editor."""

    settled: str
    settled_help: str
    flat_help: str
    within: str
    over: str
    budget: str


def announce(view: StopView) -> None:
    """Show one line on top if a rule says stop."""
    if view.reached:
        words = " ".join(one.words for one in view.reached)
        st.success(f"Time to stop: {words} You can continue if you want.", icon=":material/flag:")


def panel(page: ProjectPage, view: StopView, words: StopWords) -> None:
    """Draw the state of each rule, any one of which is enough. The owner changes them here."""
    with st.container(border=True):
        st.markdown("###### When to stop")
        if not view.verdicts:
            st.caption("No rule is set: questions continue until no row is open.")
        for one in view.verdicts:
            icon = ":green[:material/check_circle:]" if one.reached else ":material/hourglass_empty:"
            st.markdown(f"{icon} **{TITLES[one.rule]}** · {one.words}")
        if len(view.verdicts) > 1:
            st.caption("Any one of these is enough. The rules inform; they never stop anyone from answering.")
        if page.project.may(Right.OWN):
            _editor(page, view, words)


def _editor(page: ProjectPage, view: StopView, words: StopWords) -> None:
    rules, at = view.rules, f"stop-{page.project.id}"
    with st.popover("Change the rules", icon=":material/tune:"):
        say_refusal()
        with st.form(f"{at}-form", border=False):
            st.toggle(words.settled, rules.settled is not None, key=f"{at}-settled", help=words.settled_help)
            share = 100 * (rules.settled or 1.0)
            st.number_input("Share settled (%)", 1.0, 100.0, share, 1.0, format="%g", key=f"{at}-share")
            st.toggle("Curve flat", rules.flat_within is not None, key=f"{at}-flat", help=words.flat_help)
            within = 100 * (rules.flat_within or StopRules().flat_within or 0.01)
            st.number_input(words.within, 0.1, 100.0, within, 0.5, format="%g", key=f"{at}-within")
            st.number_input(words.over, 1, 1_000_000, rules.flat_over, key=f"{at}-over")
            st.toggle("Budget", rules.budget is not None, key=f"{at}-budget")
            budget = rules.budget or page.project.n_to_ask or 1
            st.number_input(words.budget, 1, 100_000_000, budget, key=f"{at}-answers")
            st.form_submit_button("Save", type="primary", on_click=_save, args=(page, view, at))


def _save(page: ProjectPage, view: StopView, at: str) -> None:
    """Save in a callback, before the page is drawn: a redraw is aborted when the model changes, and would
    lose the click."""
    chosen = {name: st.session_state[f"{at}-{name}"] for name in FIELDS}
    rules = StopRules(
        goal=view.rules.goal,
        settled=round(chosen["share"] / 100, 6) if chosen["settled"] else None,
        flat_within=round(chosen["within"] / 100, 6) if chosen["flat"] else None,
        flat_over=int(chosen["over"]),
        budget=int(chosen["answers"]) if chosen["budget"] else None,
    )
    with refusals_said_later():
        progress.change_stop_rules(page.seat, rules)
