"""The Progress page of one true label among candidates: accuracy on rows that the model never learnt from, when to
stop, settled and remaining rows."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.parts import charts, progress_parts, state
from pages.parts.frame import ProjectPage, escape
from pages.parts.learner_form import OPTIMISM, shortlist_figures, show_comparison_progress, show_model_history
from pages.parts.one_label.card import STOP
from pages.parts.progress_parts import number, rows_per_label, since, too_few, undecided_checks
from pages.parts.proof import control_rows, goal, lead, no_accuracy, random_order
from pages.parts.words import between, counted, either, percent, span
from workflow.access import Right
from workflow.kinds import FindingNeighbors
from workflow.kinds.one_label.progress import ProgressView
from workflow.models import neighbors, training
from workflow.models.showing import ModelStory, model_story, running_now, short
from workflow.people.disputes import count_open
from workflow.projects.progress import FEWEST_MEASURED, read_progress, watched


def progress_page(page: ProjectPage) -> None:
    """Draw the whole page below its heading."""
    progress_parts.watch(page)
    st.session_state[state.SEEN] = (page.project.id, watched(page.seat))
    with st.spinner("Reading the log ...", show_time=True):
        view = read_progress(page.seat)
    _watch(page, trained=view.trained, has_model=view.has_model)
    story = model_story(page.seat)
    lead(page, view)
    if not view.curve.answers[-1:].any():
        st.info("The curves begin with the first answer.", icon=":material/keyboard:")
        st.page_link("annotate.py", label="Answer the first question", query_params=page.here)
    _accuracy(view, story)  # above the fold
    undecided_checks(view.undecided_checks, "row")
    left, right = st.columns(2, gap="large") if view.weakest else (st.container(), None)
    with left:
        _left(view)
    if right is not None:
        with right:
            _weakest(view)
    progress_parts.announce(view.stop)
    _figures(view)
    _model(page, story)
    progress_parts.offer(page)
    progress_parts.panel(page, view.stop, STOP)
    with progress_parts.more_figures(page) as opened:
        if opened:
            _charts(view)
    shortlist_figures(view.shortlists)
    _file_scores(view)
    if page.project.may(Right.REVIEW) and (open_disputes := count_open(page.seat)):
        st.page_link(
            "disputes.py",
            label=f"{counted(open_disputes, 'dispute')} to resolve",
            icon=":material/gavel:",
            query_params=page.here,
        )
    st.page_link("map_page.py", label="Map of the rows", icon=":material/scatter_plot:", query_params=page.here)
    st.caption(f"The model has learnt from the log up to entry {view.model_version:,}.")
    if view.sources:
        st.caption(escape(view.sources))
    if view.recall is not None:
        st.caption(
            f"With this many rows the neighbours are found approximately: {percent(view.recall, 1)} of the true ones, "
            "measured on a sample."
        )
    progress_parts.play(page)


LABELS_BY = {
    "rounds": "the model, which learns from the scores",
    "pool": "the model and the scores, weighted by how well they agree",
    "scores": "the scores alone",
}
"""The rule that gives rows their labels, see `plcore.kernel.file_scores.ScoreRule`."""


def _file_scores(view: ProgressView) -> None:
    """Compare the table's scores and the model on the blind checks; nothing without scores."""
    found = view.file_scores
    if found is None:
        return
    st.markdown("###### Scores in your data")
    labels = f"Labels come from {LABELS_BY[found.rule]}."
    if found.right:
        right = {str(rule): count for rule, count in found.right.items()}
        st.caption(
            f"Of {counted(found.checks, 'blind check')}, the scores alone are right in {right['scores']:,}, the model "
            f"that learns from them in {right['rounds']:,}, both weighted in {right['pool']:,}. {labels}"
        )
        return
    accuracy = found.pool.accuracy
    estimate = "" if np.isnan(accuracy) else f"Estimated accuracy of the scores: {percent(accuracy)}. "
    st.caption(f"{estimate}{labels} After {counted(found.missing, 'more blind check')}, the checks decide.")


@st.fragment(run_every=2.0)
def _watch(page: ProjectPage, *, trained: bool, has_model: bool) -> None:
    """Show the state of the training; rerun the whole page when the log or the model has changed, and only
    then."""
    if st.session_state[state.SEEN] != (page.project.id, watched(page.seat)):
        st.rerun()
    running = running_now(page.seat)
    if running is not None:
        show_comparison_progress(running)
    if (finding := neighbors.read_finding(page.seat)) is not None:
        _say_finding(finding)
    if not trained:
        return
    training_now = training.training_state(page.seat)
    if training_now.fault is not None:
        again = "It is tried again after the next answers or when you change the settings."
        st.warning(
            f"The model could not be trained: {escape(training_now.fault)} "
            f"{'' if training_now.rests else again}".rstrip(),
            icon=":material/warning:",
        )
    elif training_now.running:
        st.info("The model is being trained ...", icon=":material/model_training:")
    elif not has_model:
        st.info("The model waits for its first training.", icon=":material/hourglass_empty:")


def _say_finding(finding: FindingNeighbors) -> None:
    """Show the progress of the search for neighbours."""
    at_random = "Until then, questions come at random."
    if finding.fault:
        st.warning(f"The neighbours could not be found: {escape(finding.fault)} {at_random}", icon=":material/warning:")
    elif finding.seconds_left is None:
        st.progress(0.0, text=f"Finding neighbours. {at_random}")
    else:
        left = span(timedelta(seconds=finding.seconds_left))
        st.progress(finding.share, text=f"Finding neighbours: {percent(finding.share)}, about {left} left. {at_random}")


def _model(page: ProjectPage, story: ModelStory) -> None:
    """Show which model answers since when, if that ever changed, and the link to choose another."""
    show_model_history(story, last=3)
    if story.gain is not None:
        st.markdown(escape(story.gain))
    if story.by_checks:
        st.caption(OPTIMISM)
    if story.adoptions and page.project.may(Right.OWN):
        st.page_link(
            "models_page.py", label="Compare or change models", icon=":material/balance:", query_params=page.here
        )


def _figures(view: ProgressView) -> None:
    """Draw the secondary figures; they wrap on a phone."""
    with st.container(horizontal=True, gap="small", key="winnow_follow"):
        if view.accuracy is not None and view.control is not None:
            _by_controls(view, view.control)
        number(
            "Settled",
            percent(np.floor(view.settled * 100) / 100),
            "of rows",
            "Share of the initially ambiguous rows whose prediction no further answer can change."
            if view.has_proof
            else "Share of the initially ambiguous rows that now have one label or are excluded.",
        )
        if view.seconds_per_answer is None or view.time_left is None:
            number("Pace", "–", "", "Shown after the first answer.")
        else:
            left = f"{span(view.time_left)} left" if view.left else "nothing left"
            about = (
                "Median time per answer over the last 20 answers, and the time for all open rows at this "
                "pace. Usually fewer are needed: see when to stop."
            )
            number("Pace", f"{view.seconds_per_answer:.1f} s", left, about)


def _left(view: ProgressView) -> None:
    """Draw how many rows are answered, disputed, waiting for others, sure, open and excluded."""
    parts = {"answered": ("answered", view.answered - view.bad - view.disputed)}
    about = "Answered rows have one label left. Open rows still have two or more candidates."
    if view.disputed:
        parts["disputed"] = ("disputed", view.disputed)
        about += " Disputed rows have all their answers, and these differ."
    if view.pending:
        parts["begun"] = ("waiting for another annotator", view.pending)
    if view.sure is not None:
        parts["sure"] = ("open, but sure without asking", view.sure)
        about += (
            " The model is sure of a row if its share for the best label is so high that it is right for 95% of the "
            "rows with a known label and such a share."
        )
    parts["open"] = ("open", view.left - view.pending - (view.sure or 0))
    if view.bad:
        parts["excluded"] = ("excluded as bad items", view.bad)
    progress_parts.what_is_left(parts, about)


def _weakest(view: ProgressView) -> None:
    """Draw the classes that the model predicts worst."""
    progress_parts.weakest(
        view.weakest,
        "class",
        "Share of a class's rows that the model predicts right, with its 95% interval, for classes with at least "
        f"{FEWEST_MEASURED} {'held-out rows' if view.n_test else 'blind checks'}.",
    )


def _by_controls(view: ProgressView, control: float) -> None:
    """Draw accuracy on blind checks if test rows come first. control : accuracy by blind checks"""
    if view.control_asked < FEWEST_MEASURED:
        too_few("By controls", view.control_asked, "answered blind check")
        return
    low, high = view.control_interval
    words = f"Accuracy over all rows, with its 95% interval, from {control_rows(view)}"
    number("By controls", percent(control), between(low, high), words)


def _accuracy(view: ProgressView, story: ModelStory) -> None:
    """Draw the honest curve: on held-out truth, by blind checks, or both, with changes of the model
    marked."""
    curve = view.curve
    lines, columns = [], {"answers": curve.answers, "model_version": curve.model_version}
    if view.accuracy is not None:
        lines.append(charts.Honest("on held-out rows", curve.accuracy, curve.low, curve.high))
        columns |= {"held_out": curve.accuracy, "held_out_low": curve.low, "held_out_high": curve.high}
    if view.control is not None:
        lines.append(charts.Honest("by blind checks", curve.control, curve.control_low, curve.control_high))
        columns |= {"controls": curve.control, "controls_low": curve.control_low, "controls_high": curve.control_high}
    if not lines:
        st.info(
            f"No accuracy curve yet. {no_accuracy(view)} The figures below need no true labels.", icon=":material/info:"
        )
        return
    st.markdown("###### Accuracy by answers")
    figure = charts.accuracy_curve(curve.answers, lines, curve.model_version, mark_versions=view.trained)
    columns |= _proof(figure, view)
    changes = {one.answers: short(story.models, one.model) for one in story.adoptions if one.before != one.model}
    said = []
    if view.accuracy is not None:
        said.append(
            f"Measured on {counted(view.n_test, 'row')} with known truth, never asked about and never trained on."
        )
    if view.control is not None:
        said.append(f"Measured on {control_rows(view)}")
    charts.show(
        charts.mark(figure, changes),
        columns,
        key="accuracy",
        alt="Accuracy against answers: "
        + ", ".join(f"{line.name} now {percent(line.value[-1], 1)}" for line in lines if len(line.value)),
        note=f"{' '.join(said)} Bands and bars are 95% intervals.{since(curve.answers)}",
    )


def _proof(figure: go.Figure, view: ProgressView) -> dict[str, np.ndarray]:
    """Draw random order and the goal next to the curve; return the columns that random order adds to the
    data."""
    proof, answers = view.proof, view.curve.answers
    columns: dict[str, np.ndarray] = {}
    if (random := proof.random) is not None:
        shown = random.answers <= max(random.at, answers[-1])
        parts = {"random": random.value, "random_low": random.low, "random_high": random.high}
        charts.with_legend(random_order(figure, random.answers[shown], *(part[shown] for part in parts.values())))
        columns = {name: np.interp(answers, random.answers, part, right=np.nan) for name, part in parts.items()}
    if proof.goal is not None:
        goal(figure, proof.goal, float(answers[-1]), None if proof.reached else proof.more)
    return columns


def _charts(view: ProgressView) -> None:
    """Draw all charts but the accuracy curve."""
    _curves(view)
    _progressive(view)
    left, right = st.columns(2) if view.confusion.total and view.labels else (st.container(), st.container())
    with left:
        _confusion(view)
    with right:
        rows_per_label(view.labels)


def _curves(view: ProgressView) -> None:
    """Draw settled and open rows."""
    curve = view.curve
    left, right = st.columns(2)
    with left:
        st.markdown(f"###### {'Predictions settled' if view.has_proof else 'Rows with one label'}")
        charts.show(
            charts.share_curve(curve.answers, curve.settled),
            {"answers": curve.answers, "settled": curve.settled},
            key="settled",
            alt=f"Share settled, now {percent(view.settled)}",
        )
    with right:
        st.markdown("###### False candidates left")
        charts.show(
            charts.count_curve(curve.answers, curve.candidates_left),
            {"answers": curve.answers, "candidates_left": curve.candidates_left},
            key="candidates",
            alt=f"Candidates left beyond one per row, now {view.candidates_left}",
        )


def _progressive(view: ProgressView) -> None:
    """Draw how often an online model was wrong before an answer: a chart of its own, since it says nothing
    about other rows."""
    curve = view.curve
    if np.isnan(curve.progressive).all():
        return
    st.markdown("###### Errors while learning")
    charts.show(
        charts.share_curve(curve.answers, curve.progressive),
        {"answers": curve.answers, "progressive_error": curve.progressive},
        key="progressive",
        alt=f"Share of answers the model had wrong before, now {percent(curve.progressive[-1])}",
        note="Share of answers that ruled out the model's prediction. These rows were chosen because they are hard, so "
        "this does not estimate other rows.",
    )


def _confusion(view: ProgressView) -> None:
    """Draw where the model errs, by answers to blind checks."""
    found = view.confusion
    if not found.total:
        return
    st.markdown("###### Model against answers, blind checks")
    cells = found.counts.tocoo()
    shown = found.counts[: charts.MOST_LABELS, : charts.MOST_LABELS].toarray()
    more = len(found.labels) - charts.MOST_LABELS
    rarer = f" {counted(more, 'rarer label')} {either(more, 'is', 'are')} in the data." if more > 0 else ""
    checks = counted(found.total, "blind check")
    charts.show(
        charts.confusion_map(found.labels, shown),
        {
            "answered": [found.labels[place] for place in cells.row],
            "model_said": [found.labels[place] for place in cells.col],
            "rows": cells.data,
        },
        key="confusion",
        alt=f"Confusion: of {checks} the model had said {found.agreed}",
        note=f"In {found.agreed:,} of {checks} the model had predicted the answer.{rarer}",
    )
