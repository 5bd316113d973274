"""More rows for a project: read a file, show what it would add, and add it on one click."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import streamlit as st

from pages.parts import frame, state
from pages.parts.encoder_offers import (
    accept_box,
    minutes_words,
    offer_name,
    offer_words,
    server_encoders_part,
    slow_words,
    warn_about_language,
)
from pages.parts.frame import ProjectPage, escape, refusals
from pages.parts.importing.uploads import (
    CHECKING,
    READING,
    ask_doubts,
    awaited,
    choose_ways,
    chosen_ways,
    file_box,
    let_go,
    made_once,
    show_doubts,
)
from pages.parts.words import counted, span
from workflow import importing
from workflow.answering import room
from workflow.answering.room import FormsNow, RoomError
from workflow.importing import encoding, encoding_requests, more_rows
from workflow.importing.arrivals import Arrived
from workflow.importing.encoding_requests import Encoders, EncodingNow
from workflow.models.encoders import offers
from workflow.models.encoders.offers import EncoderError

MORE_ROWS_KEY = "more-rows"
KEPT = state.MORE_ROWS
SHOWN = 5


def more_rows_part(page: frame.ProjectPage) -> None:
    """Draw the uploader, a preview of what the file would add, and the button."""
    st.markdown(
        "Import a file with the same columns as the project. Existing rows, answers, checks and the model stay "
        "unchanged. New rows get the same shares of held-out rows and blind checks."
    )
    box = f"{MORE_ROWS_KEY}-{page.project.id}"
    chosen = file_box(page.seat, "A table with more rows, or a zip of one and its files", key=box)
    if chosen is None:
        _forget()
        return
    toggle = f"{MORE_ROWS_KEY}-as-it-is-{chosen.key}"
    vectors = None
    if more_rows.needs_vectors(page.seat):
        vectors = file_box(
            page.seat,
            "Embeddings of these rows, if they are not in the table",
            key=f"{MORE_ROWS_KEY}-vectors-{chosen.key}",
        )
    ways = tuple(chosen_ways(chosen.key).items())
    mine = chosen.key, vectors and vectors.key, page.project.id, bool(st.session_state.get(toggle)), ways
    upload = _upload(page, chosen, vectors, toggle)
    if upload is None:
        return
    version = more_rows.version(page.seat)
    columns = made_once(f"{KEPT}-columns", (*mine, version), lambda: more_rows.columns(page.seat)) or ()
    labels = _label_columns(page, [str(name) for name in upload.cells.columns if name not in columns])
    asked = (*mine, version, tuple(labels))
    addition = made_once(
        f"{KEPT}-addition",
        asked,
        lambda: awaited(
            page.seat, chosen, CHECKING, asked, lambda job: more_rows.read_rows(page.seat, upload, labels, job.on_wait)
        ),
    )
    if addition is None:
        return
    _say(addition, labels)
    show_doubts([doubt for doubt in addition.doubts if not doubt.stops], upload.notes)
    accepted = ask_doubts(addition.doubts, chosen.key)
    rows = counted(addition.grown.n_new, "row")
    add = f"{MORE_ROWS_KEY}-add"
    if st.button(f"Add {rows}", type="primary", icon=":material/add:", key=add, disabled=not accepted):
        with frame.refusals(more_rows.RowsError, more_rows.CannotLearn):
            with st.spinner("Adding the rows …"):
                more_rows.add_rows(page.seat, addition)
            _forget()
            let_go(page.seat, f"{MORE_ROWS_KEY}-vectors-{chosen.key}")
            let_go(page.seat, box)
            st.session_state[state.FLASH] = f"Added: {rows}"
            st.rerun()


def _forget() -> None:
    """Free what was read, which may be large."""
    for name in ("upload", "columns", "addition"):
        st.session_state.pop(f"{KEPT}-{name}", None)


def _upload(page: frame.ProjectPage, chosen: Arrived, vectors: Arrived | None, toggle: str) -> importing.Upload | None:
    """Return the file in the shape that the person chose. toggle : key of the widget that sets it"""
    as_it_is = bool(st.session_state.get(toggle))
    beside = None if vectors is None else (vectors.path, vectors.name)
    ways = chosen_ways(chosen.key)
    asked = (chosen.key, vectors and vectors.key, as_it_is, *ways.items())
    upload = made_once(
        f"{KEPT}-upload",
        asked,
        lambda: awaited(
            page.seat,
            chosen,
            READING,
            asked,
            lambda job: importing.read_upload(
                chosen.path, chosen.name, vectors=beside, as_it_is=as_it_is, ways=ways, on_wait=job.on_wait
            ),
        ),
    )
    if upload is not None:
        choose_ways(upload.ways, chosen.key)
    if upload is not None and upload.shape is not None:
        st.toggle("Each row of the file is one item", key=toggle, help=f"It seems to be: {upload.shape}.")
    return upload


def _label_columns(page: frame.ProjectPage, new: list[str]) -> list[str]:
    """Return which of the file's own columns hold labels; asked only if the project's labels are in
    columns."""
    if not new or not more_rows.accepts_label_columns(page.seat):
        return []
    return st.multiselect(
        "New columns that hold labels",
        new,
        key=f"{MORE_ROWS_KEY}-labels",
        help="Read like the project's own label columns. They are empty in existing rows.",
    )


def _say(addition: more_rows.Addition, labels: list[str]) -> None:
    """Describe rows that would be added or left out, one sentence each."""
    grown = addition.grown
    said = [f"**{counted(grown.n_new, 'new row')}**"]
    if grown.known:
        said.append(
            f"{counted(len(grown.known), 'row')} of the file are already in the project, and stay unchanged: "
            f"{_names(grown.known)}."
        )
    if grown.new_classes:
        said.append(f"{counted(len(grown.new_classes), 'label')} new in the project: {_names(grown.new_classes)}.")
    if left := [name for name in grown.dropped if name not in labels]:
        said.append(f"Columns that the project does not have are left out: {_names(left)}.")
    if grown.empty:
        said.append(f"Columns that the file does not have are empty in the new rows: {_names(grown.empty)}.")
    st.markdown("\n".join(f"- {one}" for one in said))


def _names(names: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(frame.escape(name) for name in names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN:,} more"


# Question types, on the settings page: always as "which of these?", or as yes or no if that is cheaper.

FORMS_KEY = f"{state.SETTINGS}-forms"
FORMS = {
    "which": "Always “Which of these?”",
    "cheapest": "Most informative per second: “Which of these?”, “Is it this one?” or “Is it one of these?”",
}


def forms_part(page: ProjectPage) -> None:
    """Draw the choice; nothing if questions have one form only."""
    found = room.forms_of(page.seat)
    if found is None:
        return
    now, key = room.room_of(page.seat), f"{FORMS_KEY}-{page.project.id}"
    st.markdown("### Question types")
    frame.saved_field(
        f"{key}-ask",
        now.forms,
        partial(st.radio, "Ask", list(FORMS), format_func=FORMS.__getitem__),
        lambda forms: change_room(page, forms=forms),
        RoomError,
        hint=in_words(found),
    )
    frame.saved_field(
        f"{key}-drawn",
        now.drawn_forms,
        partial(
            st.toggle,
            "Ask one question in twenty in a random form",
            help="A form chosen for easy rows would look quick. The first 20 answers of each annotator are exempt. The "
            "log marks these questions.",
        ),
        lambda drawn: change_room(page, drawn_forms=drawn),
        RoomError,
        hint="Measures the seconds that each form takes.",
    )


def change_room(page: ProjectPage, **changes: Any) -> None:
    """Change some settings of the question page and keep the others as stored. Raises as
    ``room.change_room``; RoomError."""
    room.change_room(page.seat, replace(room.room_of(page.seat), **changes))


def in_words(found: FormsNow) -> str:
    """Return when forms are chosen, and what they cost."""
    costs = f"“Which of these four?” takes {found.which:.1f} s, yes or no {found.yes_no:.1f} s"
    learnt = (
        f"Measured on {counted(found.timed, 'answer')} here: {costs}."
        if found.timed
        else f"Assumed until measured: {costs}."
    )
    enough = counted(found.chosen_from, "answer")
    first = f"The second is recommended from {enough} on; this project has {found.answers:,}"
    waits = found.answers < found.chosen_from
    return f"{first}{': until then it asks “Which of these?” either way' if waits else ''}. {learnt}"


# Encoders: on a click a worker embeds the rows; this shows progress and result. Pretrained ones are
# downloaded first if necessary.

ENCODER_KEY = f"{state.SETTINGS}-encoder"


def own_encoder_part(page: frame.ProjectPage, found: Encoders) -> None:
    """Draw the heading, the choices, and the state of the latest encoding."""
    offered = offers.offers(page.seat)
    if offered:
        st.markdown("### Learn from meaning")
        _say_ended(page, found)
        _say_columns(page, found)
        read = {(one.column, one.encoder) for one in found.columns}
        left = [one for one in offered if (one.column, one.entry.key) not in read]
        if found.running is None and left:
            _offer(page, left, {one.column for one in found.columns})
    if found.running is not None:
        _watch(page)
        return
    if not found.readable:  # numbers and categories need no encoder
        return
    server_encoders_part(page.seat, ENCODER_KEY)
    st.markdown("### Encoder of your own")
    if not offered:
        _say_ended(page, found)
        _say_columns(page, found)
    own = tuple(name for name in found.names if name not in {one.entry.key for one in offered})
    if own:
        _choose(page, own, replaces=bool(found.columns) or more_rows.needs_vectors(page.seat))
    else:
        st.caption(
            "To use an ONNX model of your own for texts, images or sounds, put its folder into "
            f"{escape(found.folder)}. docs/library.md describes its files under *Encoders of your own*."
        )


def offer_part(page: frame.ProjectPage, found: Encoders) -> None:
    """Draw the encoders that can read the rows, with everything to consent to; for a dialog."""
    read = {(one.column, one.encoder) for one in found.columns}
    left = [one for one in offers.offers(page.seat) if (one.column, one.entry.key) not in read]
    if left:
        _offer(page, left, {one.column for one in found.columns}, dismiss=False)


def show_encoding_progress(page: frame.ProjectPage) -> None:
    """Show the progress of an encoding while one runs."""
    if encoding_requests.encoders(page.seat).running is not None:
        _watch(page)


def _offer(
    page: frame.ProjectPage, offered: Sequence[offers.EncoderOffer], encoded: set[str], *, dismiss: bool = True
) -> None:
    """Draw one encoder, the recommended one unless another was chosen, with everything to consent to. Others,
    unverified ones, and those of columns that are already `encoded` are shown only on request. dismiss : with
    a button that hides the offer"""
    key = f"{ENCODER_KEY}-offer-{page.project.id}"
    if dismiss and st.session_state.get(f"{key}-not-now"):
        return
    offered = sorted(offered, key=lambda one: (one.column in encoded, not one.is_verified))
    one = offered[0]
    if st.session_state.get(f"{key}-others"):
        one = st.selectbox("Other encoders", offered, format_func=offer_name, key=f"{key}-which")
    elif one.column in encoded or not one.is_verified:
        if one.column not in encoded:
            st.caption(f"Winnow's authors have verified no encoder for **{escape(one.column)}** yet.")
        st.button("Other encoders", key=f"{key}-more", on_click=_note, args=(f"{key}-others",))
        return
    entry, replaces = one.entry, one.column in encoded
    st.markdown(offer_words(one, replaces=replaces))
    warn_about_language(one)
    accepted = accept_box(entry, key)
    with st.container(horizontal=True):
        if one.can_be_asked and st.button(
            "Learn from meaning",
            type="primary",
            icon=":material/neurology:",
            disabled=not accepted,
            key=f"{key}-ask-{entry.key}",
            on_click=_ask,
            args=(page, entry),
        ):
            st.rerun()  # in a dialog, a click reruns nothing else
        if len(offered) > 1 and not st.session_state.get(f"{key}-others"):
            st.button("Other encoders", key=f"{key}-more", on_click=_note, args=(f"{key}-others",))
        if dismiss:
            st.button("Not now", key=f"{key}-later", on_click=_note, args=(f"{key}-not-now",))


def _ask(page: frame.ProjectPage, entry: offers.EncoderEntry) -> None:
    with frame.refusals_said_later(EncoderError):
        offers.ask(page.seat, entry.key, non_commercial=not entry.commercial)


def _note(key: str) -> None:
    st.session_state[key] = True


def _choose(page: frame.ProjectPage, names: tuple[str, ...], *, replaces: bool) -> None:
    called = {name: encoding.words_of(page.seat.home, name) for name in names}
    name = st.selectbox("Encoder", names, format_func=called.__getitem__, key=f"{ENCODER_KEY}-name-{page.project.id}")
    said = "It runs in the background and may take long. You can answer meanwhile."
    if replaces:
        said += " Its vectors replace the current ones."
    st.caption(f"{said} Rows that are added later are encoded, too.")
    if st.button(
        f"Learn from {escape(name)}", icon=":material/neurology:", key=f"{ENCODER_KEY}-ask-{page.project.id}-{name}"
    ):
        with frame.refusals(EncoderError):
            offers.ask(page.seat, name)
            st.rerun()


def _watch(page: frame.ProjectPage) -> None:
    """Poll the progress every second; rerun the whole page when it has ended, which stops the polling."""

    @st.fragment(run_every=1.0)
    def watch() -> None:
        running = encoding_requests.encoders(page.seat).running
        if running is None:
            st.rerun()
        else:
            _say_running(page, running)
        if st.button("Cancel", icon=":material/close:", key=f"{ENCODER_KEY}-cancel-{page.project.id}"):
            with frame.refusals():
                encoding_requests.cancel(page.seat)
                st.rerun()

    watch()


def _say_running(page: frame.ProjectPage, running: EncodingNow) -> None:
    name = escape(running.encoder)
    if running.fault is not None and not running.begun:
        st.warning(escape(running.fault), icon=":material/warning:")
    elif running.begun and running.downloading:
        share = min(1.0, running.done / running.total) if running.total else 0.0
        size = f"{running.done / 1e6:,.1f} of {running.total / 1e6:,.1f} MB" if running.total else "checking …"
        st.progress(share, text=f"Downloading: {size}")
    elif not running.begun:
        st.info(f"{name} is queued. You can answer meanwhile.", icon=":material/hourglass_empty:")
    elif not running.total:
        st.progress(0.0, text=f"{name}: reading the rows …")
    else:
        share = min(1.0, running.done / running.total)
        left = "" if running.minutes is None else f", about {minutes_words(running.minutes)} left"
        st.progress(share, text=f"{name}: {running.done:,} of {running.total:,}{left}")
        slow = offers.slow_encoding(page.seat, running.encoder)
        if slow is not None:
            st.warning(slow_words(slow), icon=":material/hourglass_bottom:")


def _say_columns(page: frame.ProjectPage, found: Encoders) -> None:
    """Show which columns are read by which encoder, and the way back."""
    for one in found.columns:
        asked = "" if one.consent is None else f", {escape(one.consent.words())}"
        st.markdown(f"**{escape(one.column)}** is read by **{escape(one.encoder)}** ({one.sha256[:6]}){asked}.")
    of_file = not found.columns and more_rows.needs_vectors(page.seat)
    label = "Remove the vectors that came with the rows" if of_file else "Back to words"
    key = f"{ENCODER_KEY}-back-{page.project.id}"
    if (found.columns or of_file) and st.button(label, icon=":material/undo:", key=key):
        with refusals(importing.TableError, more_rows.RowsError, importing.CannotLearn):
            encoding.back_to_words(page.seat)
            st.rerun()


def _say_ended(page: frame.ProjectPage, found: Encoders) -> None:
    """Show the current embeddings of the rows, and why there are no others."""
    if found.stored is not None and found.columns:
        when = span(datetime.now(UTC) - found.stored.at)
        st.markdown(f"**{escape(found.stored.encoder)}** encoded the rows {when} ago.")
        for said in found.stored.notes:
            st.caption(escape(said))
    if found.failed is not None:
        again = (
            " These are rows that were added later. Winnow tries them again in an hour, or as soon as an encoder is "
            "added to this server; until then they are asked about as average rows."
        )
        st.warning(
            f"The rows could not be encoded: {escape(found.failed)}{again if found.tried_again else ''}",
            icon=":material/warning:",
        )
    elif found.cancelled:
        st.info("The latest encoding was cancelled.", icon=":material/info:")
        if st.button("Resume", icon=":material/resume:", key=f"{ENCODER_KEY}-resume-{page.project.id}"):
            with refusals():
                encoding_requests.resume(page.seat)
                st.rerun()
