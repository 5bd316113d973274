"""Review: find answered rows, read the history of one, correct it."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.parts import charts, frame, kinds, state
from pages.parts.frame import ProjectPage
from pages.parts.rows import row_lists, row_table
from pages.parts.words import counted, percent
from workflow.access import NotFound, Right
from workflow.people import examples
from workflow.people.examples import EXAMPLE, QUALIFICATION, Marking
from workflow.rows import reviewing
from workflow.rows.reviewing import AnswerError, Precision, ScoreLine, ScoreReview

# Owners mark an answered row as an example of its class, on the Review page.

PURPOSES = {EXAMPLE: "Shown next to questions, on demand", QUALIFICATION: "Asked in the qualification"}
MARKED = {EXAMPLE: "an example of", QUALIFICATION: "asked in the qualification, as"}


def example_form(page: ProjectPage, row: int) -> None:
    """Draw the mark of an open row, and the form that sets it; nothing for people who are not reviewers."""
    if not page.project.may(Right.REVIEW):
        return
    now = examples.marking(page.seat, row)
    key = f"{state.EXAMPLE}-{page.project.id}-{row}"
    with st.expander("Example of its class", icon=":material/bookmark:", expanded=now.purpose is not None):
        if now.purpose is not None:
            st.markdown(f"This row is {MARKED[now.purpose]} **{frame.escape(now.label or '')}**.")
            if now.why_not or now.label not in now.labels:
                st.caption("It is hidden, because its answers disagree.")
        if now.why_not:
            st.markdown(now.why_not)
        else:
            _form(page, key, row, now)
        if now.purpose is not None:
            st.button("Remove the mark", key=f"{key}-away", on_click=_unmark, args=(page, row))


def _form(page: ProjectPage, key: str, row: int, now: Marking) -> None:
    with st.form(f"{key}-form", border=False):
        if len(now.labels) > 1:
            place = now.labels.index(now.label) if now.label in now.labels else 0
            st.selectbox("Label", now.labels, index=place, key=f"{key}-label")
        if len(now.purposes) > 1:
            st.radio(
                "What for",
                now.purposes,
                index=now.purposes.index(now.purpose) if now.purpose else 0,
                format_func=PURPOSES.__getitem__,
                key=f"{key}-purpose",
            )
        st.text_input(
            "Hint (optional)",
            value=now.note,
            max_chars=examples.NOTE_LENGTH,
            placeholder="look at the wing bar",
            key=f"{key}-note",
        )
        words = "Mark it" if now.purpose is None else "Change the mark"
        st.form_submit_button(words, on_click=_mark, args=(page, key, row, now))


def _mark(page: ProjectPage, key: str, row: int, now: Marking) -> None:
    said = st.session_state
    label = said.get(f"{key}-label", now.labels[0])
    purpose = said.get(f"{key}-purpose", EXAMPLE)
    with frame.refusals_said_later(AnswerError):
        examples.mark(page.seat, row, label, said[f"{key}-note"] or "", purpose)
        said[state.FLASH] = f"Saved: {MARKED[purpose]} {label}"


def _unmark(page: ProjectPage, row: int) -> None:
    with frame.refusals_said_later():
        examples.unmark(page.seat, row)
        st.session_state[state.FLASH] = "The mark is removed."


# Accuracy of the scores that came with a table: a part of the Review page, for reviewers and owners.

ALL = "all labels together"
FEWEST = 10
"""Minimum of reviewed rows for the share to be meaningful."""


def score_review(page: ProjectPage, scored_by: str | None = None) -> None:
    """Draw the review of scores if the table has any; counts are computed only on request. scored_by : the
    model that produced the scores since; None: they came with the file"""
    key = f"{state.SCORES}-{page.project.id}"
    whose = "your file" if scored_by is None else frame.escape(scored_by)
    if not st.toggle(f"Accuracy of the scores of {whose}", key=f"{key}-open"):
        return
    first = reviewing.scores(page.seat, 0.0)
    assert first is not None  # noqa: S101 - the table has scores
    with st.container(border=True):
        left, right = st.columns(2, vertical_alignment="bottom")
        threshold = left.number_input(
            "Scores from",
            min_value=0.0,
            max_value=first.highest,
            value=min(0.7, first.highest),
            step=0.05 if first.highest <= 1 else 1.0,
            key=f"{key}-from",
        )
        labels = [line.label for line in first.lines]
        chosen = right.selectbox("Label", ["", *labels], format_func=lambda name: name or ALL, key=f"{key}-label")
        view = reviewing.scores(page.seat, threshold, chosen or None)
        assert view is not None  # noqa: S101 - as above
        line = next((one for one in view.lines if one.label == chosen), view.total)
        _sentence(line, threshold)
        _ask(page, chosen, threshold, key)
        _by_score(view, chosen or ALL, key)
        _table(view, threshold, key)


def _sentence(line: ScoreLine, threshold: float) -> None:
    """State the result; its size shows how certain it is."""
    of = f" of {frame.escape(line.label)}" if line.label else ""
    seen = line.seen
    st.markdown(
        f"**{counted(seen.scored, 'candidate')}**{of} scored {threshold:g} or more. People have looked at "
        f"{seen.looked_at:,} of them, and **{seen.right:,}** {'is' if seen.right == 1 else 'are'} right"
        f"{_share(seen)}."
    )
    if seen.looked_at < FEWEST:
        st.caption(f"Too few to estimate: at least {FEWEST} must be checked by a person.")
    elif line.drawn.looked_at >= FEWEST:
        st.caption(f"From randomly drawn rows only, {line.drawn.looked_at:,} of them: right{_share(line.drawn)}.")
    else:
        how = "with the button below" if line.label else "once you have chosen a label"
        st.caption(
            "Uncertain rows are wrong more often than others, so the overall share may be higher. "
            f"Ask about some at random, {how}, for a better estimate."
        )


def _share(seen: Precision) -> str:
    if seen.looked_at < FEWEST:
        return ""
    return f" ({percent(seen.share)}, between {percent(seen.low)} and {percent(seen.high)})"


def _ask(page: ProjectPage, label: str, threshold: float, key: str) -> None:
    if not label:
        return
    if st.button(f"Ask about one of them, drawn at random: {label}", icon=":material/casino:", key=f"{key}-ask"):
        with frame.refusals(AnswerError):
            reviewing.ask_scored(page.seat, threshold, label)
            st.switch_page("annotate.py", query_params=page.here)


def _by_score(view: ScoreReview, name: str, key: str) -> None:
    """Draw the share of correct rows per score range, if enough rows of any range were reviewed."""
    if sum(one.looked_at for one in view.bins) < FEWEST:
        return
    data = {
        "from": view.edges[:-1],
        "to": view.edges[1:],
        "looked_at": [one.looked_at for one in view.bins],
        "right": [one.right for one in view.bins],
        "share": [one.share for one in view.bins],
        "low": [one.low for one in view.bins],
        "high": [one.high for one in view.bins],
    }
    st.markdown(f"###### Share correct by score: {frame.escape(name)}")
    charts.show(
        _figure(view),
        data,
        key=f"{key}-chart",
        alt=f"Share of the candidates that are right, by their score, of {name}",
    )


def _figure(view: ScoreReview) -> go.Figure:
    """Plot the share of correct rows per score range with its interval; ranges without reviewed rows are left
    out."""
    edges, seen = view.edges, view.bins
    known = [place for place, one in enumerate(seen) if one.looked_at]
    parts = [(seen[place].share, seen[place].low, seen[place].high) for place in known]
    shares, low, high = 100 * np.array(parts).reshape(-1, 3).T
    figure = go.Figure()
    figure.add_scatter(
        x=[(edges[place] + edges[place + 1]) / 2 for place in known],
        y=shares,
        mode="markers",
        marker={"color": charts.FIRST, "size": 9},
        error_y={"type": "data", "symmetric": False, "array": high - shares, "arrayminus": shares - low},
        customdata=[[edges[p], edges[p + 1], seen[p].right, seen[p].looked_at] for p in known],
        hovertemplate="%{customdata[0]:.2f} to %{customdata[1]:.2f}: %{customdata[2]} of %{customdata[3]} right"
        "<extra></extra>",
    )
    figure.update_xaxes(title_text="Score in the file", range=[edges[0], edges[-1]])
    figure.update_yaxes(title_text="Right", ticksuffix="%", range=[0, 102])
    return figure.update_layout(showlegend=False, height=260, margin={"t": 14, "b": 34})


def _table(view: ScoreReview, threshold: float, key: str) -> None:
    st.markdown("###### By label")
    st.dataframe(
        {
            "Label": [one.label for one in view.lines],
            f"Scored {threshold:g} or more": [one.seen.scored for one in view.lines],
            "Looked at": [one.seen.looked_at for one in view.lines],
            "Right": [one.seen.right for one in view.lines],
            "Share right": [_cell(one.seen) for one in view.lines],
        },
        hide_index=True,
        key=f"{key}-table",
    )


def _cell(seen: Precision) -> str:
    if seen.looked_at == 0:
        return "not looked at"
    return f"{percent(seen.share)}, between {percent(seen.low)} and {percent(seen.high)}"


page = frame.begin_project("Review", Right.ANSWER)
row_lists.head("Review", page)
parts = kinds.parts_of(page)
KEY = f"{state.REVIEW}-{page.project.id}"

frame.toast_from_last_page()
frame.say_refusal()
options = reviewing.options(page.seat)
if options.scored:
    score_review(page, options.scored_by)
if not options.anything:
    whose = "No answers yet." if options.everybody else "You have not answered a row in this project yet."
    st.info(f"{whose} Answered rows can be found, viewed and corrected here.", icon=":material/inbox:")
    st.page_link("annotate.py", label="Answer the first question", icon=":material/keyboard:", query_params=page.here)
    st.stop()
found = row_lists.search_form(page, KEY, options, parts.REVIEW.kinds)
lines = []
if found.rows:
    lines = row_lists.results(page, KEY, found, parts.REVIEW.unit)
else:
    st.info("No answer matches all of these filters. Remove one.", icon=":material/search_off:")
if (asked := row_table.opened_row(KEY)) is not None:
    try:
        row: Any = reviewing.open_row(page.seat, asked)
    except NotFound as missing:
        row_table.open_row(KEY, None)
        st.error(frame.escape(str(missing)), icon=":material/search_off:")
    else:
        with row_table.drawer(KEY, lines, row.view.row_id):
            parts.review_row(page, KEY, row)
            example_form(page, asked)
