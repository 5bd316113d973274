"""An encoder of the owner's own: a press has a worker give the rows embeddings by it; how far that is, how it ended."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from pages.parts import frame, state
from pages.parts.frame import escape
from pages.parts.words import span
from workflow.importing import encoding_requests, more_rows
from workflow.importing.encoding_requests import EncoderError, Encoders, EncodingNow

KEY = f"{state.SETTINGS}-encoder"


def own_encoder_part(page: frame.ProjectPage) -> None:
    """The heading, what there is to choose, and how the latest encoding goes or went."""
    st.markdown("###### Encoder of your own")
    found = encoding_requests.encoders(page.seat)
    _say_ended(found)
    if found.running is not None:
        _watch(page)
    elif found.names:
        _choose(page, found.names)
    else:
        st.caption(
            "An ONNX model of yours for images, texts or sounds can say what the rows are like. Put its folder into "
            f"{escape(found.folder)}; what belongs into it stands in docs/library.md, *Encoders of your own*."
        )


def _choose(page: frame.ProjectPage, names: tuple[str, ...]) -> None:
    name = st.selectbox("Encoder", names, key=f"{KEY}-name-{page.project.id}")
    said = "It runs on this server, beside its work, and may take long; answering goes on meanwhile."
    if more_rows.takes_vectors(page.seat):
        said += " Its vectors take the place of those that the rows have."
    st.caption(f"{said} Rows that are added later need vectors of the same encoder.")
    if st.button(
        f"Learn from what {escape(name)} sees",
        icon=":material/neurology:",
        key=f"{KEY}-ask-{page.project.id}-{name}",
    ):
        with frame.refusals(EncoderError):
            encoding_requests.ask(page.seat, name)
            st.rerun()


def _watch(page: frame.ProjectPage) -> None:
    """How far it is, looked at every second; the whole page again when it has ended, which then looks no more."""

    @st.fragment(run_every=1.0)
    def watch() -> None:
        running = encoding_requests.encoders(page.seat).running
        if running is None:
            st.rerun()
        else:
            _say_running(running)
        if st.button("Cancel", icon=":material/close:", key=f"{KEY}-cancel-{page.project.id}"):
            with frame.refusals():
                encoding_requests.cancel(page.seat)
                st.rerun()

    watch()


def _say_running(running: EncodingNow) -> None:
    name = escape(running.encoder)
    if running.fault is not None and not running.begun:
        st.warning(escape(running.fault), icon=":material/warning:")
    elif not running.begun:
        st.info(f"{name} waits for a worker; nothing else waits for it.", icon=":material/hourglass_empty:")
    elif not running.total:
        st.progress(0.0, text=f"{name}: reading the rows …")
    else:
        share = min(1.0, running.done / running.total)
        st.progress(share, text=f"{name}: {running.done:,} of {running.total:,}")


def _say_ended(found: Encoders) -> None:
    """The embeddings that the rows have by now, and why there are no others."""
    if found.stored is not None:
        when = span(datetime.now(UTC) - found.stored.at)
        st.markdown(f"The rows got embeddings of **{escape(found.stored.encoder)}** {when} ago.")
        for said in found.stored.notes:
            st.caption(escape(said))
    if found.failed is not None:
        st.warning(f"The rows could not be encoded: {escape(found.failed)}", icon=":material/warning:")
    elif found.cancelled:
        st.info("The latest encoding was cancelled.", icon=":material/info:")
