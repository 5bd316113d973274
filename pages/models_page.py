"""Models: the model in use, how all of them compare on this project's own rows, and a click to use
another."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from pages.parts import frame, state
from pages.parts.encoder_offers import minutes_words
from pages.parts.frame import escape
from pages.parts.learner_form import OPTIMISM, show_comparison_progress, show_model_history
from pages.parts.measured import model_table
from pages.parts.project_parts import offer_part, show_encoding_progress
from pages.parts.words import counted, span
from workflow.access import Right
from workflow.importing import encoding_requests
from workflow.models import choosing, plugins, showing
from workflow.models.encoders import offers
from workflow.models.showing import Done, ModelsView

KEY = "winnow_models"
READS = {"text": "texts", "image": "images", "sound": "recordings"}

page = frame.begin_project("Models", Right.OWN)
frame.toast_from_last_page()
frame.project_title("Models", page)
frame.say_refusal()


def lead(view: ModelsView) -> None:
    """Say in one sentence whether Winnow chooses the model, when the models were compared, and offer a new
    comparison."""
    story = view.story
    name = escape(showing.short(story.models, story.model))
    with st.container(horizontal=True, vertical_alignment="center", key=f"{KEY}_lead"):
        st.toggle(
            "Automatic",
            story.automatic,
            key=f"{KEY}-automatic-{page.project.id}-{story.automatic}",
            on_change=switch,
            args=(story.automatic, story.model),
            label_visibility="collapsed",
            width="content",
        )
        st.markdown(
            "**Automatic is on**  \nWinnow uses the model that does best on held-out rows, and switches only if the "
            f"gain is larger than chance. It now uses **{name}**."
            if story.automatic
            else f"**Automatic is off**  \nWinnow uses **{name}** until you choose another model."
        )
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            if view.done is not None:
                st.caption(compared(view.done), width="content")
            if view.running is None:
                again = "Compare now" if view.done is None else "Compare again"
                st.button(again, key=f"{KEY}-compare", on_click=compare)
    why_it_stays(view)
    if view.done is None and view.running is None and view.failed is None:
        starts = " The first comparison starts by itself, in the background." if story.automatic else ""
        st.caption(
            f"No comparison yet.{starts} A comparison fits every model on parts of the table and measures it on "
            "the rest. It runs in the background, for seconds to minutes."
        )


def compared(done: Done) -> str:
    return f"Compared {span(datetime.now(UTC) - done.at)} ago, after {counted(done.answers, 'answer')}"


def switch(was_automatic: bool, model: str) -> None:
    """Let comparisons choose the model again, or fix the current one."""
    with frame.refusals_said_later(ValueError):
        if was_automatic:
            choosing.adopt(page.seat, model)
        else:
            choosing.back_to_automatic(page.seat)


def compare() -> None:
    with frame.refusals_said_later(ValueError):
        choosing.compare_now(page.seat)


def cancel() -> None:
    with frame.refusals_said_later():
        choosing.cancel(page.seat)


def why_it_stays(view: ModelsView) -> None:
    """Explain why the best model of the latest comparison is not in use, when Winnow chooses the model."""
    best = next((line for line in view.lines if line.best), None)
    changes, done = view.story.adoptions, view.done
    if best is None or done is None or done.fault or not view.story.automatic or best.in_force:
        return
    if not changes or changes[-1].at < done.at:  # no person has chosen a model since
        stays = escape(showing.short(view.story.models, view.story.model))
        ahead = escape(showing.short(view.story.models, best.name))
        st.markdown(f"{ahead} is best, but within chance: {stays} stays.")


@st.fragment(run_every=1.0)
def progress() -> None:
    """Show the progress of the comparison, next to the button that stops it; rerun the whole page once it has
    ended."""
    if st.session_state[state.MODELS] != showing.watched(page.seat):
        st.rerun()
    running = showing.running_now(page.seat)
    if running is not None:
        with st.container(horizontal=True, vertical_alignment="center", key=f"{KEY}_running"):
            with st.container():
                show_comparison_progress(running)
            st.button("Cancel", icon=":material/close:", key=f"{KEY}-cancel", on_click=cancel)


def how_it_ended(view: ModelsView) -> None:
    if view.running is not None:
        return
    if view.failed is not None:
        st.warning(f"The models could not be compared: {escape(view.failed)}", icon=":material/warning:")
    elif view.cancelled:
        st.info("The latest comparison was cancelled.", icon=":material/info:")
    if view.done is not None and view.done.fault is not None:
        st.warning(escape(view.done.fault), icon=":material/warning:")


def meaning() -> model_table.MeaningOffer | None:
    """Return the encoder of meaning in use, else the recommended one; None if there is none for these
    rows."""
    found, offered = encoding_requests.encoders(page.seat), offers.offers(page.seat)
    used = {one.encoder for one in found.columns}
    one = next((one for one in offered if one.entry.key in used), offered[0] if offered else None)
    if one is None:
        return None
    entry, on = one.entry, one.entry.key in used
    size = f"{entry.bytes / 1e6:,.0f} MB"
    facts = [
        entry.title,
        f"{size} download" if one.state == "download" else size,
        entry.licence,
        "Your rows stay on this server",
    ]
    time = "" if one.minutes is None else f"about {minutes_words(one.minutes)}"
    action = "Change" if on else "Learn from meaning"
    about = f"Compares {READS[entry.kind]} by what they mean, not only by built-in features."
    return model_table.MeaningOffer(about, on, time, facts, "" if found.running is not None else action)


def on_act(what: str, model: str) -> None:
    """Handle a click in the table."""
    if what == "meaning":
        st.session_state[state.MEANING] = True
    else:
        with frame.refusals_said_later(ValueError):
            choosing.adopt(page.seat, model)
            name = showing.short(showing.model_story(page.seat).models, model)
            st.session_state[state.FLASH] = f"From now on, Winnow uses {name}"


@st.dialog("Learn from meaning")
def show_encoder_dialog() -> None:
    offer_part(page, encoding_requests.encoders(page.seat))


view = showing.models_view(page.seat)
if not view.story.models:
    st.info("Projects of this kind have no models to compare. Progress names the model in use.", icon=":material/info:")
    st.page_link("progress.py", label="Progress", query_params=page.here)
    st.stop()
st.session_state[state.MODELS] = showing.watched(page.seat)
lead(view)
progress()
how_it_ended(view)
learnt = meaning()
model_table.show_models(f"{KEY}-table-{page.project.id}", view, learnt, on_act=on_act)
for left in plugins.left_out():
    st.warning(escape(left), icon=":material/extension:")
show_encoding_progress(page)
if st.session_state.pop(state.MEANING, False):
    if learnt is not None and learnt.on:
        st.switch_page("project_page.py", query_params=page.here)
    show_encoder_dialog()
if view.done is not None and view.done.checks:
    st.caption(OPTIMISM)
if view.story.adoptions:
    st.markdown("###### Changes of the model")
    show_model_history(view.story)
