"""Export: the table with its labels made exact, in the format and with the rows one wants, and the log behind it."""

from __future__ import annotations

import html
from dataclasses import replace
from typing import NoReturn
from zoneinfo import ZoneInfo

import streamlit as st

from pages.parts import frame, kinds, state
from pages.parts.frame import ProjectPage, escape
from pages.parts.words import counted, percent, size
from workflow.access import Right
from workflow.backups import one_project
from workflow.exporting import files as exporting
from workflow.exporting import snapshots
from workflow.exporting.files import (
    ABOVE,
    CHOICES,
    DATA_SET,
    SURE,
    AsOf,
    AsOfError,
    CardDetails,
    ExportChoice,
    ExportView,
    PreparedFile,
)
from workflow.exporting.snapshots import NamedSnapshot, SnapshotError

# The files that a person has asked for: how far each is, and where to fetch it.


def draw_files(page: ProjectPage, seq: int) -> None:
    """Those of this project, the latest first. seq : of the log's latest entry

    While one is being written this part of the page looks again every second.
    """
    unfinished = any(file.unfinished for file in exporting.prepared(page.seat))

    @st.fragment(run_every=1.0 if unfinished else None)
    def files() -> None:
        found = exporting.prepared(page.seat)
        if unfinished and not any(file.unfinished for file in found):
            st.rerun()  # the whole page, which then looks no more
        for file in found:
            with st.container(key=f"{state.EXPORT}-{file.key}"):
                _draw(page, file, seq)

    files()


def _draw(page: ProjectPage, file: PreparedFile, seq: int) -> None:
    if file.state == exporting.READY:
        _link(page, file)
        if file.seq < seq and not file.of_then:
            st.caption(
                f"Without the latest {counted(seq - file.seq, 'entry', 'entries')} of the log: prepare it anew."
            )
        return
    if file.state == exporting.FAILED:
        st.error(f"{escape(file.file_name)}: {escape(file.fault)}", icon=":material/error:")
        return
    if file.state == exporting.WAITING:
        st.markdown(f"{escape(file.file_name)} waits until other files are written.")
    else:
        share = min(1.0, file.done / max(1, file.total))
        so_far = f"{file.done:,} of {file.total:,} rows" if file.counts_rows else percent(share)
        st.progress(share, f"{escape(file.file_name)}: {so_far}")
    if st.button("Cancel", icon=":material/close:", key=f"{state.EXPORT}-cancel-{file.key}"):
        with frame.refusals():
            exporting.remove(page.seat, file.key)
            st.rerun()


def _link(page: ProjectPage, file: PreparedFile) -> None:
    """A link that the browser itself follows: the file goes from the disk to it, and through no memory of the page."""
    address = f"{exporting.PATH.lstrip('/')}/{page.project.id}/{file.key}"
    name = html.escape(file.file_name)
    st.html(
        f'<a class="winnow-download" href="{html.escape(address)}" download="{name}">Download {name}</a>'
        f'<span class="winnow-download-size">{size(file.size)}</span>'
    )


# Named snapshots of a project on the Export page: made, listed, and brought back by the box *As of*.

SHORT = 12
"""Letters of a hash that are enough to tell it from others of the same project."""
FEW = 4
"""Snapshots that the list shows at once; of more it scrolls."""
HEIGHT = 420


def draw_snapshots(page: ProjectPage, as_of: str) -> None:
    """The list, the latest first, and a way to make one. as_of : key of the box in which one of them is typed"""
    found = snapshots.list_snapshots(page.seat)
    with st.expander("Snapshots: names for states to come back to", icon=":material/bookmark:"):
        if not found:
            st.markdown(
                "There is none yet. Make one before you publish or cite the labels: whatever is answered afterwards, "
                "the same file can be taken away again later, and its SHA-256 shows that it is the same."
            )
        _make(page, len(found))
        with st.container(height=HEIGHT if len(found) > FEW else "content", border=False):
            for one in reversed(found):
                _snapshots_part_draw(page, one, as_of)


def _make(page: ProjectPage, n_made: int) -> None:
    with (
        st.form(f"{state.EXPORT}-snapshot-{page.project.id}", border=False),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        name = st.text_input(
            "Name",
            placeholder="First release",
            max_chars=snapshots.NAME_LENGTH,
            key=f"{state.EXPORT}-snapshot-{page.project.id}-{n_made}",  # after one was made, an empty box
        )
        pressed = st.form_submit_button("Make a snapshot of now", icon=":material/bookmark_add:")
    if pressed:
        with (
            frame.refusals(SnapshotError, ValueError),
            st.spinner("Writing the table once for its SHA-256 ..."),
        ):
            snapshots.make_snapshot(page.seat, name)
            st.rerun()


def _snapshots_part_draw(page: ProjectPage, one: NamedSnapshot, as_of: str) -> None:
    moment = one.made_at.astimezone(ZoneInfo(st.context.timezone or "UTC"))
    held = counted(one.seq, "entry", "entries") if one.seq else "before the first entry"
    key = f"{state.EXPORT}-snapshot-{page.project.id}-{one.name}"
    with st.container(border=True):
        st.markdown(f"**{escape(one.name)}**")
        by = f" by {escape(one.by)}" if one.by else ""
        st.caption(f"{held} · {moment:%Y-%m-%d %H:%M}{by}")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                "Export this",
                icon=":material/history:",
                key=f"{key}-show",
                help="Puts its name into the box “As of”: the page, and the files, are of that state then.",
                on_click=_show,
                args=(as_of, one.name),
            )
            with st.popover(f"SHA-256 {one.sha256[:SHORT]}…", key=f"{key}-hash"):
                st.markdown(
                    "SHA-256 of the table as CSV, all rows, which is the file that an export of it gives:"
                )
                st.code(one.sha256, language=None, wrap_lines=True)


def _show(as_of: str, name: str) -> None:
    st.session_state[as_of] = name


PREVIEW_ROWS = 20
AT_ONCE = 1.0
"""Seconds that a press waits for the file, so that a short one is there with the next drawing."""

KNOWN = {
    "license": ("Licence", "cc-by-4.0"),
    "languages": ("Languages", "en, de"),
    "url": ("Address of the data set", "https://..."),
    "origin": ("Where the items come from", "Recorded in ..."),
    "uses": ("What the labels are good for", "Training ..."),
    "annotators": ("Who the annotators are", "expert-generated, crowdsourced ..."),
    "demographics": ("About the annotators", "Two ornithologists"),
}
"""Fields of `CardDetails` that are text: how they are asked for, and an example."""

page = frame.begin_project("Export", Right.OWN)
frame.project_title("Export", page)
frame.say_refusal()
words = kinds.parts_of(page).EXPORT
FILE, ROWS, LEAST, AS_OF = (
    f"{state.EXPORT}-{name}-{page.project.id}" for name in ("file", "rows", "above", "as-of")
)


def least() -> float:
    """The probability from which on the model is sure enough."""
    return float(st.session_state.get(LEAST, round(100 * ABOVE))) / 100


def choose_state() -> AsOf | None:
    """The earlier state that the page is to show; None: the present one. What cannot be read ends the page."""
    zone = st.context.timezone or "UTC"
    typed = st.text_input(
        "As of",
        placeholder="Now. Or an entry of the log, such as 40, a moment, such as 2026-03-01 12:00, or a snapshot",
        help="Empty: as the project is now. A number: as it was right after that entry of the log, 0 before the first. "
        f"A date, or date and time ({zone}): as it was then. Classes, rows, settings and model are those of then.",
        key=AS_OF,
    )
    draw_snapshots(page, AS_OF)
    try:
        return read_state(typed)
    except AsOfError as error:
        say_and_stop(error)


def read_state(typed: str) -> AsOf | None:
    """What was typed. Raises AsOfError."""
    zone = ZoneInfo(st.context.timezone or "UTC")
    return exporting.read_as_of(typed, zone) if typed.strip() else None


def say_and_stop(error: ValueError) -> NoReturn:
    """Say why there is no such state, and draw no more."""
    st.error(escape(str(error)), icon=":material/error:")
    st.stop()


def look(as_of: AsOf | None) -> ExportView:
    """What there is to take away of that state."""
    if as_of is None:
        return exporting.export_view(page.seat, PREVIEW_ROWS, least())
    try:
        with st.spinner("Folding the log until then ..."):
            found = exporting.export_view(page.seat, PREVIEW_ROWS, least(), as_of)
    except ValueError as error:
        say_and_stop(error)
    moment = found.moment.astimezone(ZoneInfo(st.context.timezone or "UTC"))
    what = "before the first entry" if found.seq == 0 else f"after entry {found.seq:,} of {found.last:,}"
    st.info(
        f"The project as it was {what}, {moment:%Y-%m-%d %H:%M:%S}. Empty the box to come back to now.",
        icon=":material/history:",
    )
    return found


def choose_file(view: ExportView) -> str:
    st.markdown("###### Which file")
    name: str = st.radio(
        "Which file",
        list(view.files),
        format_func=lambda name: f"{view.files[name].form.title} ({view.files[name].form.suffix})",
        captions=[escape(file.form.about) for file in view.files.values()],
        label_visibility="collapsed",
        key=FILE,
    )
    return name


def choose_rows(view: ExportView) -> str:
    st.markdown("###### Which rows")
    rows: str = st.radio(
        "Which rows",
        CHOICES,
        format_func=words.rows.__getitem__,
        captions=[counted(view.counts[choice], "row") for choice in CHOICES],
        label_visibility="collapsed",
        key=ROWS,
    )
    if rows == SURE:
        st.slider(
            "The model's probability is at least",
            50,
            100,
            round(100 * ABOVE),
            format="%d %%",
            help=words.sure,
            key=LEAST,
        )
    return rows


def what_people_know() -> CardDetails:
    """What the card of a data set is to say that table and log do not."""
    with st.expander("What only you know, for the card (optional)"):
        said = {
            name: st.text_input(title, placeholder=hint, key=f"{state.EXPORT}-{name}-{page.project.id}")
            for name, (title, hint) in KNOWN.items()
        }
        named = st.checkbox(
            "Name the annotators",
            key=f"{state.EXPORT}-named-{page.project.id}",
            help="Else they are Annotator 1, 2, ... in all that is in the zip. Notes stay as they were written.",
        )
    return CardDetails.told(said, named=named)


def prepare(choice: ExportChoice) -> None:
    """Prepare what is chosen now: a press may come before the page has followed the choice."""
    name = st.session_state.get(FILE, choice.file)
    if name != choice.file:
        rows = st.session_state.get(ROWS, choice.rows) if view.files[name].by_rows else CHOICES[0]
        choice = replace(choice, file=name, rows=rows)
    with frame.refusals_said_later(ValueError):
        choice = replace(choice, as_of=read_state(st.session_state.get(AS_OF, "")))
        key = exporting.prepare(page.seat, choice, frame.file_stem(page))
        exporting.wait(page.seat, key, AT_ONCE)


def take_along() -> None:
    """Prepare all of the project, for another Winnow."""
    with frame.refusals_said_later():
        key = one_project.prepare(page.seat, frame.file_stem(page))
        exporting.wait(page.seat, key, AT_ONCE)


def sources(view: ExportView) -> None:
    st.markdown("###### Where the labels come from")
    st.dataframe(
        {
            "Source": list(view.sources),
            words.counted: list(view.sources.values()),
            "Meaning": [words.sources[source] for source in view.sources],
        },
        hide_index=True,
    )
    st.caption(words.about)


as_of = choose_state()
view = look(as_of)
left, right = st.columns([3, 2], gap="large")
with left:
    file = view.files[choose_file(view)]
with right:
    if file.by_rows:
        chosen = choose_rows(view)
        nothing = view.counts[chosen] == 0
        if nothing:
            st.info(words.nothing[chosen], icon=":material/info:")
    else:
        chosen, nothing = CHOICES[0], view.seq == 0
        st.markdown("###### Which lines")
        if nothing:
            st.info("Nobody has answered anything yet: there is no line.", icon=":material/info:")
        else:
            st.markdown(f"All {counted(view.seq, 'line')}, whatever became of their rows.")
    label_disputed = "disputed" in view.sources and st.checkbox(
        "Label disputed rows",
        key=f"{state.EXPORT}-disputed-{page.project.id}",
        help="Rows on which annotators differ get their most likely label. Their source stays “disputed”.",
    )
    details = what_people_know() if file.form.name == DATA_SET else CardDetails()
    files = exporting.prepared(page.seat)
    st.button(
        "Prepare file",
        type="secondary" if any(one.state == exporting.READY for one in files) else "primary",
        icon=":material/draft:",
        disabled=nothing,
        on_click=prepare,
        args=(ExportChoice(file.form.name, chosen, least(), details, as_of, label_disputed),),
    )
    st.button(
        "Take this project along",
        icon=":material/luggage:",
        on_click=take_along,
        help="All of it as it is now, in one sealed file: log, tables, images and recordings, settings, snapshots, and "
        "the names of people, but no passwords. Another Winnow takes it on its Import page.",
    )
    draw_files(page, view.last)

st.markdown("###### First rows")
st.dataframe(view.first, hide_index=True)
sources(view)
