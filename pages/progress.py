"""Progress: how good the model is on rows it never saw, what is settled, what is left."""

from __future__ import annotations

import streamlit as st

from pages.parts import charts, frame
from pages.parts.words import span
from workflow import progress as use_case
from workflow.progress import ProgressView

page = frame.begin_project("Progress")
frame.toast_from_last_page()
frame.project_title("Progress", page.project)
SEEN = f"winnow_seen_{page.project.id}"


@st.fragment(run_every=2.0)
def watch() -> None:
    """Draw the page again when the log has grown, and only then."""
    version = use_case.version(page.home, page.person.id, page.project.id)
    if st.session_state.setdefault(SEEN, version) != version:
        st.session_state[SEEN] = version
        st.rerun()


def figures(view: ProgressView) -> None:
    """The five numbers on top."""
    accuracy, settled, answered, left, pace = st.columns(5)
    if view.accuracy is None or view.interval is None:
        accuracy.metric(
            "Accuracy", "unknown", help="The table has no true-label column, so there is no held-out truth."
        )
    else:
        low, high = view.interval
        accuracy.metric(
            "Accuracy",
            f"{view.accuracy:.1%}",
            help=f"Share of the {view.n_test:,} held-out rows whose label the model predicts right. "
            f"95 % interval {low:.1%} to {high:.1%}. These rows are never asked about and never trained on.",
        )
        accuracy.caption(f"{low:.1%} to {high:.1%}")
    settled.metric(
        "Settled",
        f"{view.settled:.0%}",
        help="Share of the predictions for rows that were ambiguous at the start which no further answer can change.",
    )
    answered.metric("Answered", f"{view.answered:,}")
    left.metric("Open rows", f"{view.left:,}", help="Rows that still have two or more candidates.")
    if view.seconds_per_answer is None or view.time_left is None:
        pace.metric("Pace", "–", help="Shown after the first answer.")
    else:
        pace.metric(
            "Pace",
            f"{view.seconds_per_answer:.1f} s",
            help="Median seconds from question to answer, over the last 20 answers.",
        )
        if view.left:
            pace.caption(f"at most {span(view.time_left)} left")


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
            "No accuracy curve: the table has no true-label column to hold out. "
            "The curves below need no truth.",
            icon=":material/info:",
        )
    left, right = st.columns(2)
    with left:
        st.markdown("###### Predictions settled")
        st.plotly_chart(
            charts.share_curve(curve.answers, curve.settled, "Settled"),
            key="settled",
            alt=f"Share of predictions settled, now {view.settled:.0%}",
        )
    with right:
        st.markdown("###### False candidates left")
        st.plotly_chart(
            charts.count_curve(curve.answers, curve.candidates_left, "Candidates beyond one per row"),
            key="candidates",
            alt=f"Candidates left beyond one per row, now {view.candidates_left}",
        )


view = use_case.progress(page.home, page.person.id, page.project.id)
figures(view)
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
watch()
