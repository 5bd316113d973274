"""Progress: how good the model is on rows it never saw, what is settled, what is left."""

from __future__ import annotations

import streamlit as st

from pages.parts import charts, frame, state
from pages.parts.words import span
from workflow import progress as use_case
from workflow.progress import ProgressView

page = frame.begin_project("Progress")
frame.toast_from_last_page()
frame.project_title("Progress", page)


@st.fragment(run_every=2.0)
def watch() -> None:
    """Draw the page again when the log has grown, and only then."""
    drawn = (page.project.id, use_case.version(page.home, page.person.id, page.project.id))
    last = st.session_state.get(state.SEEN)
    st.session_state[state.SEEN] = drawn
    if last is not None and last[0] == drawn[0] and last != drawn:
        st.rerun()


def figures(view: ProgressView) -> None:
    """The five numbers on top; they wrap on a phone."""
    with st.container(horizontal=True, gap="small"):
        if view.accuracy is None or view.interval is None:
            _number(
                "Accuracy",
                "unknown",
                "",
                _no_accuracy(view),
            )
        else:
            low, high = view.interval
            _number(
                "Accuracy",
                f"{view.accuracy:.1%}",
                f"{low:.1%} to {high:.1%}",
                f"Share of the {view.n_test:,} held-out rows whose label the model predicts right, with its 95 % "
                "interval. These rows are never asked about and never trained on.",
            )
        _number(
            "Settled",
            f"{view.settled:.0%}",
            "of predictions",
            "Share of the predictions for rows that were ambiguous at the start which no further answer can change.",
        )
        _number("Answered", f"{view.answered:,}", "rows", "Rows with an answer that was not taken back.")
        _number("Open", f"{view.left:,}", "rows", "Rows that still have two or more candidates.")
        if view.seconds_per_answer is None or view.time_left is None:
            _number("Pace", "–", "", "Shown after the first answer.")
        else:
            left = f"about {span(view.time_left)} for all" if view.left else "nothing left"
            about = "Median seconds from question to answer, over the last 20 answers."
            _number("Pace", f"{view.seconds_per_answer:.1f} s", left, about)


def _no_accuracy(view: ProgressView) -> str:
    if view.has_truth:
        return "no rows were held out when the project was made."
    return "the table has no true-label column, so there is nothing to hold out."


def _number(label: str, value: str, note: str, about: str) -> None:
    st.metric(
        label,
        value,
        delta=note or None,
        delta_color="off",
        delta_arrow="off",
        help=about,
        width=150,
    )


def curves(view: ProgressView) -> None:
    """The curve of accuracy first; then what is settled and what is left."""
    curve = view.curve
    if view.accuracy is not None:
        st.markdown("###### Accuracy on held-out rows")
        st.plotly_chart(
            charts.accuracy_curve(curve.answers, curve.accuracy, curve.low, curve.high, curve.model_version),
            key="accuracy",
            alt=f"Accuracy on {view.n_test} held-out rows, now {view.accuracy:.1%}",
        )
        st.caption(
            f"Measured on {view.n_test:,} rows with known truth that are never asked about and never trained on. "
            "The band is the 95 % interval."
        )
    else:
        st.info(
            f"No accuracy curve: {_no_accuracy(view)} The curves below need no truth.",
            icon=":material/info:",
        )
    left, right = st.columns(2)
    with left:
        st.markdown("###### Predictions settled")
        st.plotly_chart(
            charts.share_curve(curve.answers, curve.settled),
            key="settled",
            alt=f"Share of predictions settled, now {view.settled:.0%}",
        )
    with right:
        st.markdown("###### False candidates left")
        st.plotly_chart(
            charts.count_curve(curve.answers, curve.candidates_left),
            key="candidates",
            alt=f"Candidates left beyond one per row, now {view.candidates_left}",
        )


view = use_case.progress(page.home, page.person.id, page.project.id)
figures(view)
if view.done:
    st.success(
        "No answer can change a decision any more: every prediction is settled.", icon=":material/verified:"
    )
if not view.answered:
    st.info("The curves begin with the first answer.", icon=":material/keyboard:")
    st.page_link(
        "annotate.py", label="Answer the first question", query_params={"project": str(page.project.id)}
    )
curves(view)
if view.answers_per_label:
    with st.expander("Answers per label"):
        names = list(view.answers_per_label)
        st.plotly_chart(
            charts.label_bars(names, list(view.answers_per_label.values())),
            key="labels",
            alt="Answers per label",
        )
st.caption(f"Model version {view.model_version}: the log entry the model has learnt from last.")
if view.recall is not None:
    st.caption(
        f"With this many rows the neighbours are found approximately: {view.recall:.1%} of the true ones, "
        "measured on a sample."
    )
watch()
