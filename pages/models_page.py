"""Models: which one answers, how all of them compare on this project's own rows, one press to take another."""

from __future__ import annotations

import streamlit as st

from pages.parts import frame, state
from pages.parts.frame import escape
from pages.parts.learner_form import OPTIMISM, adoption_line, say_running, say_story, seconds
from pages.parts.words import counted
from workflow.access import Right
from workflow.models import choosing, showing
from workflow.models.showing import Done, ModelLine, ModelsView

KEY = "winnow_models"
HINT = (
    "Each row is held out once and predicted by a model that has not seen it. Consistency is how much more often than "
    "by chance the predictions are among the row's candidates: 0 % is chance, 100 % is always. It needs no true label."
)

page = frame.begin_project("Models", Right.OWN)
frame.toast_from_last_page()
frame.project_title("Models", page)
frame.say_refusal()


def done_saying(words: str) -> None:
    st.session_state[state.FLASH] = words
    st.rerun()


def lead(view: ModelsView) -> None:
    """Which model answers now, and who chooses it."""
    story = view.story
    name = escape(showing.short(story.models, story.model))
    who = "Winnow chooses the model." if story.automatic else "The model is chosen by hand."
    st.markdown(f"{who} Now **{name}** answers.")
    if story.automatic and story.adoptions and story.adoptions[-1].by_comparison:
        st.markdown(adoption_line(story, story.adoptions[-1]))
    elif story.automatic and view.done is None and view.failed is None and not story.adoptions:
        st.caption(
            "It answers at once. The first comparison begins by itself in the background; its best then takes over."
        )
    elif story.automatic:
        st.caption("It stays until a comparison brings a better one.")
    if story.gain is not None:
        st.markdown(escape(story.gain))


def why_it_stays(view: ModelsView) -> None:
    """Why the best of the latest comparison does not answer, where that was left to Winnow."""
    best = next((line for line in view.lines if line.best), None)
    changes, done = view.story.adoptions, view.done
    if best is None or done is None or done.fault or not view.story.automatic or best.in_force:
        return
    if not changes or changes[-1].at < done.at:  # nobody has chosen anything since
        stays = escape(showing.short(view.story.models, view.story.model))
        ahead = escape(showing.short(view.story.models, best.name))
        st.markdown(f"{ahead} came out best, but by no more than chance: {stays} stays.")


def actions(view: ModelsView) -> None:
    with st.container(horizontal=True):
        if not view.story.automatic and st.button(
            "Let Winnow choose", type="primary", icon=":material/autorenew:", key=f"{KEY}-automatic"
        ):
            with frame.refusals(ValueError):
                choosing.back_to_automatic(page.seat)
                done_saying("Winnow chooses the model from now on")
        if view.running is None and st.button("Compare now", icon=":material/balance:", key=f"{KEY}-compare"):
            with frame.refusals(ValueError):
                choosing.compare_now(page.seat)
                st.rerun()
        if view.running is not None and st.button("Cancel", icon=":material/close:", key=f"{KEY}-cancel"):
            with frame.refusals():
                choosing.cancel(page.seat)
                done_saying("The comparison is cancelled")


@st.fragment(run_every=1.0)
def progress() -> None:
    """How far the comparison is; the whole page again when it has ended, and only then."""
    if st.session_state[state.MODELS] != showing.watched(page.seat):
        st.rerun()
    running = showing.running_now(page.seat)
    if running is not None:
        say_running(running)


def how_it_ended(view: ModelsView) -> None:
    if view.running is not None:
        return
    if view.failed is not None:
        st.warning(f"The models could not be compared: {escape(view.failed)}", icon=":material/warning:")
    elif view.cancelled:
        st.info("The latest comparison was cancelled.", icon=":material/info:")
    if view.done is not None and view.done.fault is not None:
        st.warning(escape(view.done.fault), icon=":material/warning:")


def table(view: ModelsView) -> None:
    done = view.done
    if done is None and view.running is None:
        st.info(
            "Nothing is compared yet. A comparison fits every model on parts of the table and measures it on the rest; "
            "it takes seconds for a thousand rows, minutes for many thousands, and nobody waits for it.",
            icon=":material/balance:",
        )
    elif done is not None:
        st.caption(measured_on(done), help=HINT)
    for line in view.lines:
        row(line, done)
    if done is not None and done.checks:
        st.caption(OPTIMISM)


def measured_on(done: Done) -> str:
    by = f", the right ones by {counted(done.checks, 'blind check')}" if done.checks else ""
    return (
        f"Compared after {counted(done.answers, 'answer')} on {counted(done.rows, 'row')}, in {seconds(done.seconds)}: "
        f"consistency{by}."
    )


def row(line: ModelLine, done: Done | None) -> None:
    """One model: its name, its figures, the button that takes it."""
    short, _, about = line.words.partition(":")
    figures = line.figures
    with st.container(border=True, key=f"{KEY}-{line.name}"):
        name, consistency, accuracy, use = st.columns([4.6, 2, 2, 1.8], vertical_alignment="center")
        badges = " :green-badge[in use]" if line.in_force else ""
        badges += " :gray-badge[best]" if line.best else ""
        name.markdown(f"**{escape(short)}**{badges}  \n:small[{escape(about.strip() or short)}]")
        if figures.kappa is not None and figures.consistency is not None:
            consistency.markdown(
                f"{per_cent(figures.kappa)} consistent  \n:small[computed in {figures.seconds:.1f} s]",
                help=f"{per_cent(figures.consistency)} of its predictions are among the row's candidates.",
            )
        elif done is not None:
            consistency.markdown("not compared")
        if figures.accuracy is not None and line.interval is not None:
            low, high = line.interval
            accuracy.markdown(
                f"{per_cent(figures.accuracy)} right  \n:small[{per_cent(low)} to {per_cent(high)}]"
            )
        if figures.note:
            name.caption(escape(figures.note))
        if not line.in_force and use.button(f"Use {short}", key=f"{KEY}-use-{line.name}"):
            with frame.refusals(ValueError):
                choosing.adopt(page.seat, line.name)
                done_saying(f"From now on, answers come from {short}")


def per_cent(share: float) -> str:
    return f"{share * 100:.0f} %"


view = showing.models_view(page.seat)
if not view.story.models:
    st.info(
        "There is nothing to compare in projects of this kind: Progress says what predicts.",
        icon=":material/info:",
    )
    st.page_link("progress.py", label="Progress", query_params={"project": str(page.project.id)})
    st.stop()
st.session_state[state.MODELS] = showing.watched(page.seat)
lead(view)
why_it_stays(view)
actions(view)
progress()
how_it_ended(view)
table(view)
if view.story.adoptions:
    st.markdown("###### Changes of the model")
    say_story(view.story)
