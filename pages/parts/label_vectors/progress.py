"""The Progress page of a project of label vectors: precision and F1 on rows never learnt from, and the remaining
work."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.parts import charts, progress_parts, state
from pages.parts.frame import ProjectPage, escape
from pages.parts.label_vectors.card import KNOWN_OR_SURE, PREDICTS, STOP, predicts
from pages.parts.progress_parts import number, rows_per_label, since, too_few, undecided_checks
from pages.parts.words import between, counted, either, percent, span
from workflow.kinds.label_vectors.progress import Band, Share, VectorProgress
from workflow.projects.progress import FEWEST_MEASURED, read_progress, watched

KINDS = {
    "yes": "labels answered yes",
    "no": "labels answered no",
    "bad": "rows excluded",
    "unsure": "cannot tell",
    "skip": "skipped",
    "right": "labels settled as right",
    "wrong": "labels settled as not right",
    "verdict": "rows settled as bad items",
}


def progress_page(page: ProjectPage) -> None:
    """Draw the whole page below its heading."""
    st.session_state[state.SEEN] = (page.project.id, watched(page.seat))
    with st.spinner("Reading the log ...", show_time=True):
        view = read_progress(page.seat)
    _watch(page)
    if view.fault is not None:
        st.warning(
            f"The model could not be fitted: {escape(view.fault)} It is tried again after the next "
            "answers or when you change the settings.",
            icon=":material/warning:",
        )
    elif view.waiting:
        st.info("The first model is being fitted ...", icon=":material/model_training:")
    _figures(view)
    if not sum(view.by_kind.values()):
        st.info("The curves begin with the first answer.", icon=":material/keyboard:")
        st.page_link("annotate.py", label="Answer the first question", query_params=page.here)
    _quality(view)  # above the fold
    undecided_checks(view.undecided_checks, "label")
    left, right = st.columns(2, gap="large") if view.weakest else (st.container(), None)
    with left:
        _left(view)
    if right is not None:
        with right:
            progress_parts.weakest(
                view.weakest,
                "label",
                f"F1 of a label on {'held-out rows' if view.n_test else 'blind checks'}, with its 95% interval, for "
                f"labels that are right, or predicted, in at least {FEWEST_MEASURED} of them.",
            )
    progress_parts.announce(view.stop)
    if view.predictor is not None:
        st.markdown(predicts(view.predictor), help=PREDICTS)
    progress_parts.panel(page, view.stop, STOP)
    with progress_parts.more_figures(page) as opened:
        if opened:
            _entropy_left(view)
            left, right = st.columns(2)
            with left:
                _entropy(view)
            with right:
                _kinds(view)
            rows_per_label(view.labels)
    st.caption(
        f"The model has learnt from the log up to entry {view.model_version:,}. Each answer "
        "updates the model at once. At times it is refitted, and the curves get a point."
    )


def _left(view: VectorProgress) -> None:
    """Draw how many rows or labels are answered, waiting for others, and open."""
    parts = {"answered": ("answered", view.answered - view.disputed), "open": ("open", view.left - view.pending)}
    if view.disputed:
        parts["disputed"] = ("disputed", view.disputed)
    if view.pending:
        parts["begun"] = ("waiting for another annotator", view.pending)
    progress_parts.what_is_left(
        parts,
        "Answered rows include those excluded as bad items. Open rows have labels that can still be asked about."
        if view.by_row
        else "Labels of rows: answered ones, and those that can still be asked about.",
    )


@st.fragment(run_every=2.0)
def _watch(page: ProjectPage) -> None:
    """Rerun the whole page when the log or the model has changed, and only then."""
    now = watched(page.seat)
    if st.session_state[state.SEEN] != (page.project.id, now):
        st.rerun()


def _figures(view: VectorProgress) -> None:
    with st.container(horizontal=True, gap="small"):
        if view.held_out is None:
            pass
        elif view.n_test < FEWEST_MEASURED:
            too_few("Precision and F1", view.n_test, "row")
        else:
            rows = f"the {view.n_test:,} held-out rows, with the 95% interval."
            for t, share in view.held_out.precision:
                number(
                    f"Precision at {t}",
                    percent(share.value, 1),
                    _range(share),
                    f"Share of the {counted(t, 'likeliest label')} of a row that {either(t, 'is', 'are')} right, "
                    f"over {rows} These rows are never asked about and never trained on.",
                )
            about = f"By {rows} “Yes” means that the model says yes. "
            micro, macro = view.held_out.micro_f1, view.held_out.macro_f1
            number("F1, micro", percent(micro.value, 1), _range(micro), f"{about}All labels counted together.")
            number("F1, macro", percent(macro.value, 1), _range(macro), f"{about}The mean over the labels.")
        if view.control.f1 is None:
            pass
        elif view.control.cells < FEWEST_MEASURED:
            too_few("F1 on blind checks", view.control.cells, "answered blind check")
        else:
            about = f"By {counted(view.control.cells, 'answer')} to blind checks, with the 95% interval."
            number("F1 on blind checks", percent(view.control.f1.value, 1), _range(view.control.f1), about)
        if view.held_out is None and view.control.f1 is None:
            number("Precision", "unknown", "", _unknown(view))
        number("Known or sure", percent(np.floor(view.settled * 100) / 100), "of the empty labels", f"{KNOWN_OR_SURE}.")
        if view.seconds_per_answer is not None and view.time_left is not None:
            left = f"{span(view.time_left)} left" if view.left else "nothing left"
            about = (
                "Median time per answer over the last 20 answers, and the time needed for everything "
                "open. The curves usually flatten long before that."
            )
            number("Pace", f"{view.seconds_per_answer:.1f} s", left, about)


def _entropy_left(view: VectorProgress) -> None:
    with st.container(horizontal=True, gap="small"):
        number(
            "Known",
            percent(np.floor(view.known * 100) / 100),
            "of the empty cells",
            "Share of the cells empty at import that are now answered or excluded.",
        )
        if view.entropy is not None:
            about = "Entropy of all unasked cells, by the model. 0 means that it is certain of each."
            number("Entropy left", f"{view.entropy:,.0f}", "bits", about)


def _range(share: Share) -> str:
    return between(share.low, share.high, 1)


def _unknown(view: VectorProgress) -> str:
    if view.waiting:
        return "The first model is still being fitted."
    if view.n_control:
        return "No blind check is answered yet."
    return "No rows were held out when the project was created, and no blind checks drawn."


def _quality(view: VectorProgress) -> None:
    curve = view.curve
    lines = [(f"precision at {t}", band) for t, band in curve.precision.items()]
    if view.held_out is not None:
        lines += [("micro F1", curve.micro_f1), ("macro F1", curve.macro_f1)]
    answers: dict[str, object] = {"answers": curve.answers, "model_version": curve.model_version}
    if lines:
        st.markdown("###### On held-out rows")
        charts.show(
            charts.share_curves(curve.answers, [_honest(*line) for line in lines]),
            answers | {name: column for line in lines for name, column in _columns(*line).items()},
            key="held-out",
            alt="Held-out rows against answers: "
            + ", ".join(f"{name} now {percent(band.value[-1], 1)}" for name, band in lines if len(band.value)),
            note=f"On {counted(view.n_test, 'row')} whose labels were all known at import; never asked about, never "
            f"trained on. Bands and bars are 95% intervals.{since(curve.answers)}",
        )
    if view.control.accuracy is not None:
        _controls(view)
    controlled = not np.isnan(curve.control.value).all()
    if controlled:
        st.markdown("###### F1 by blind checks")
        one = _honest("by blind checks", curve.control)
        charts.show(
            charts.accuracy_curve(curve.answers, [one], curve.model_version, mark_versions=False),
            answers | _columns("F1", curve.control),
            key="controls",
            alt="F1 by blind checks against answers",
            note=f"By {counted(view.control.cells, 'answered blind check')} of {view.n_control:,} drawn at random, "
            f"never trained on. The band or bar is the 95% interval.{since(curve.answers)}",
        )
    if not lines and not controlled:
        st.info(f"No curve of quality yet. {_unknown(view)}", icon=":material/info:")


def _honest(name: str, band: Band) -> charts.Honest:
    return charts.Honest(name, band.value, band.low, band.high)


def _columns(name: str, band: Band) -> dict[str, np.ndarray]:
    """Return {column of the downloaded file: values} of a figure and its interval."""
    name = name.lower().replace(" ", "_")
    return {name: band.value, f"{name}_low": band.low, f"{name}_high": band.high}


def _controls(view: VectorProgress) -> None:
    """Draw figures of the current model by control answers, each with its interval."""
    found = view.control
    shares = {"Right, yes or no": found.accuracy, "Precision": found.precision, "Recall": found.recall, "F1": found.f1}
    shares |= {f"Precision at {t}": share for t, share in found.at}
    known = {name: share for name, share in shares.items() if share is not None}
    st.markdown("###### The model on blind checks")
    st.dataframe(
        {
            "Figure": list(known),
            "Estimate": [100 * share.value for share in known.values()],
            "95%, from": [100 * share.low for share in known.values()],
            "to": [100 * share.high for share in known.values()],
        },
        hide_index=True,
        column_config={
            name: st.column_config.NumberColumn(format="%.1f%%") for name in ("Estimate", "95%, from", "to")
        },
    )
    among = " Precision at 1, 3, 5 is among the labels of a row that were empty at import." if found.at else ""
    st.caption(
        f"{counted(found.cells, 'blind check')} {'is' if found.cells == 1 else 'are'} answered, {found.yes:,} with "
        f"yes; the model says yes to {found.said_yes:,}.{among}"
    )


def _entropy(view: VectorProgress) -> None:
    curve = view.curve
    if not len(curve.answers):
        return
    st.markdown("###### Entropy left, bits")
    charts.show(
        charts.count_curve(curve.answers, curve.entropy),
        {"answers": curve.answers, "entropy_bits": curve.entropy, "unasked": curve.unasked},
        key="entropy",
        alt=f"Entropy of the cells not asked against answers, now {curve.entropy[-1]:,.0f} bits",
    )


def _kinds(view: VectorProgress) -> None:
    st.markdown("###### Answers by kind")
    st.dataframe(
        {"Answer": [KINDS.get(kind, kind) for kind in view.by_kind], "Count": list(view.by_kind.values())},
        hide_index=True,
    )
    st.caption(
        f"{counted(view.answered_cells, 'label')} answered, {view.unasked:,} open. Withdrawn answers are not counted."
    )
